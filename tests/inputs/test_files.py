"""Files of every format that are wrong, and what is said of them."""

import decimal
import json

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import permed_measures as pm

TREC_RUN = "q1 Q0 d1 1 2.5 bm25\nq1\tQ0  d2\t2 1.5 bm25\r\n\n# a comment\nq2 Q0 d1 1 -1e3 bm25 more junk\n"
LABELS = [
    {"conversation_id": "topic_001", "turn_id": 1, "doc_id": "permed-1", "rel": 2},
    {"conversation_id": "topic_001", "turn_id": 1, "doc_id": "permed-2", "rel": -1},
    {"conversation_id": "topic_001", "turn_id": 2, "doc_id": 7, "rel": 1},
]


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="file"):
        path = tmp_path / name
        if not isinstance(content, str | bytes):
            content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


BAD_QRELS = [
    ("q1 0 d1 2\nq1 0 d2\n", ":2: not a line of TREC qrels: 3 columns in 'q1 0 d2'. Expected query iterati"),
    ("q1 0 d1 2\nq1\n", ":2: not a line of TREC qrels: 1 column in 'q1'. Expected query iteration document "),
    (
        "query_id,doc_id,label\nq\n",
        ":2: not a line of CSV or TSV qrels: 1 column instead of 3 in 'q'. Expected",
    ),
    ("q1 0 d1 2\nq1 0 d2 x\n", ":2: not a line of TREC qrels: a relevance must be a number (found 'x') in "),
    ("q1 0 d1 1_0\n", "a relevance must be a number (found '1_0')"),
    ("q1 0 d1 1\n\nq1 0 d1 0\n", ":3: document 'd1' of query 'q1' is listed twice, first on line 1. Remove"),
    ([*LABELS, {"conversation_id": "t", "turn_id": 1, "doc_id": "a"}], ": 'rel' is missing in '{"),
    ([*LABELS, {**LABELS[0], "rel": True}], "a relevance must be a number (found True)"),
    ([*LABELS, {**LABELS[0], "doc_id": 1.5}], "an id must be a string or an integer (found 1.5)"),
    ([{"query_id": 1, "relevant_texts": "12"}], ":1: not a line of PerMed ground truth or LitSearch labels"),
    ([{"query_id": 1, "relevant_texts": [1, 1]}], ":1: document '1' of query '1' is listed twice, first on"),
    ([{"query_id": 1, "relevant_texts": [1]}] * 2, ":2: query '1' is listed twice, first on line 1. Remove"),
    ('{"query_id": 1, "relevant_texts": [1]}\n{"query_id": 2} x', ": not valid JSON (Extra data: "),
    ('{"query_id": 1, "relevant_texts": [1]}\n[3]\n', ": not a JSON object in '[3]'"),
    ('{"a": 1}\n', ":1: unknown format: expected qrels (found '{\"a\": 1}'). Known with a JSON object per "),
    ('{"query_id": 1, "relevants": []}\n', " or PerMed ground truth or LitSearch labels ("),
    ("q1 d1 x\n", "without a header: TREC qrels (query iteration document relevance) or relevant pairs ("),
    ("q1,d1,x\n", "under a header: CSV or TSV qrels (query_id, doc_id, relevance (or qid, docno, label; que"),
    ("query,document,relevance\n", ":1: unknown format: expected qrels (found 'query,document,relevance')"),
    ("", "the file is empty"),
    ("# a comment\n\n", "the file has no rows"),
    (b"\xef\xbb\xbfq1 0 d1 1\n\xffq1 0 d 1\n", ":2: not UTF-8 text (invalid start byte)"),
    ('{"q": {"a": 1},\n"r": {"b": 2}\n"s": {}}\n', ":3: not BEIR or MTEB JSON: not valid JSON (Expecting ',"),
    (b"\x28\xb5\x2f\xfdnothing", "cannot be decompressed as zstd"),
    (TREC_RUN, "expected qrels, but this file holds a TREC run (query Q0 document rank score tag). The qre"),
]
BAD_RUNS = [
    ('{"q\\ud800": {"d\\ud800": 1.5, "e": 2.5}}\n', "an unpaired surrogate"),
    ('{"query_id": "q\\ud800", "retrieved": ["a"]}\n', "an unpaired surrogate"),
    ("query_id,doc_id,doc_id,score\nq,a,b,1\n", ":1: unknown format: expected a run (found 'query_id,doc_id"),
    ('{"q": {"d": 1},\n"r": []}\n', "not BEIR or MTEB JSON: query 'r' must have an object of documents"),
    (
        '{"mteb_model_meta": {}, "a": {"x": {"q": {}}, "y": {}}}',
        "by subsets and splits of MTEB, of which one can be read: a/x, a/y",
    ),
    ("q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 2.5\n", ":2: not a line of a TREC run: 5 columns in 'q1 Q0 d2 2 2.5'. E"),
    ("query_id,doc_id,score\nq,d,1\nq,e,2,x\n", ":3: not a line of a CSV or TSV run: 4 columns instead of 3"),
    ("q1 Q0 d1 1 1_0 t\n", "a score must be a number (found '1_0')"),
    ("q1 Q0 d1 1 high t\n", ":1: not a line of a TREC run: a score must be a number (found 'high') in 'q1 "),
    ("q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\n", ":2: document 'd1' of query 'q1' is listed twice, first on line 1"),
    (
        [{"query_id": "q", "results": [{"text_id": "a", "score": 1}, {"text_id": "b"}]}],
        "query 'q', document 'b': no score, though other",
    ),
    ('{"query_id": "q", "results": [{"text_id": "a", "score": NaN}]}\n', "a score must be a number (found "),
    (
        [{"query_id": "q", "results": [{"doc": "a"}]}],
        "a document has no id (found the keys doc; known are doc_id, ",
    ),
    ([{"query_id": "q", "results": {"a": 1}}], "results must be a list (found {'a': 1})"),
    ('{"retrieved": ["a"]}\n\n{"retrieved": ["b"]}\n', ", and an empty line above (line numbers are the que"),
    ([{"retrieved": [1, 2, 1]}], ":1: document '1' of query '1' is listed twice, first on line 1. Remove"),
]


@pytest.mark.parametrize(
    ("read", "content", "message"),
    [*((pm.read_qrels, *case) for case in BAD_QRELS), *((pm.read_run, *case) for case in BAD_RUNS)],
)
def test_a_bad_file_is_an_error_that_names_file_and_line(write, read, content, message):
    path = write(content)
    with pytest.raises(pm.InputError) as error:
        read(path)
    assert str(error.value).startswith(str(path))
    assert message in str(error.value)


def test_a_missing_file_and_an_unknown_order_are_errors(tmp_path, write):
    with pytest.raises(FileNotFoundError):
        pm.read_run(tmp_path / "none")
    with pytest.raises(pm.InputError, match=r"order must be one of score, list \(found 'rank'\)"):
        pm.read_run(write(TREC_RUN), order="rank")


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"q": [1, "x"]}, "query 'q', document 'd2': a relevance must be a number"),
        ([[1, 0, 1]], r"\(found list\)\. Give each list a query id"),
        ({"q": 5}, r"query 'q': the grades of a query must be a list \(found 5\)"),
        ({1: [1], "1": [0]}, "two query ids are the same as strings"),
    ],
)
def test_lists_of_grades_are_checked(lists, message):
    with pytest.raises(pm.InputError, match=message):
        pm.from_relevance_lists(lists)


@pytest.mark.parametrize("text", [r'"a\": b"', '"a:b"', '"\x7f"'])
@pytest.mark.parametrize("twice", [False, True])
def test_a_key_that_stands_twice_is_found_whatever_texts_have_in_them(write, text, twice):
    again = '"score" : 1, ' if twice else ""
    path = write(f'{{"query_id": {text}, "results": [{{{again}"text_id": {text}, "score": 2.0}}]}}\n')
    if twice:
        with pytest.raises(pm.InputError, match=r":1: .*'score' is listed twice"):
            pm.read_run(path)
    else:
        assert pm.read_run(path) == {json.loads(text): {json.loads(text): 2.0}}


LONG = "x" * 1_000_000


@pytest.mark.parametrize(
    "content",
    [
        f"q Q0 d 1 {LONG} t\n",
        f"query_id,doc_id,score\nq,d,{LONG[:100_000]}\n",
        json.dumps({LONG: {"a": LONG}}),
        [{"query_id": "q", "results": [{"text_id": [LONG]}]}],
        [{"query_id": LONG, "relevant_texts": ["a"]}] * 2,
        f'{{"query_id": "q", "results": [], "{LONG}": 1, "{LONG}": 2}}\n',
    ],
    ids=range(6),
)
def test_long_values_are_cut_in_messages(write, content):
    path = write(content)
    for read in (pm.read_run, pm.read_qrels):
        with pytest.raises(pm.InputError) as error:
            read(path)
        assert len(str(error.value)) < 1500


def test_a_key_that_stands_twice_is_found_in_linear_time(write):
    keys = ",".join(f'"{number}":1' for number in range(30_000))
    for text, what in (('{{"query_id":"q","results":[],{}}}', ""), ('{{"q":{{{}}}}}', "document ")):
        path = write(text.format(f'{keys},"29999":1') + "\n")
        with pytest.raises(pm.InputError, match=f"{what}'29999' .*is listed twice"):
            pm.read_run(path)


def read_in_memory(data, kind):
    qrels = {"301": {"7": 1}}
    return pm.calc_aggregate("RR", *((data, qrels) if kind == "qrels" else (qrels, data)))


def is_refused_by_polars(path, read):
    """Return whether this polars reads no schema with such decimals: its own error names their type then."""
    try:
        pl.read_parquet_schema(path)
    except pl.exceptions.PanicException:
        with pytest.raises(pm.InputError, match="Decimal256"):
            read(path)
        return True
    return False


@pytest.mark.parametrize(
    ("name", "kind", "values"),
    [("score", "run", [1.5, 0.5]), ("relevance", "qrels", [2, 1]), ("qid", "run", ["301", "301"])],
)
def test_decimals_of_more_than_38_digits_are_refused_with_their_column_and_read_after_a_cast(
    name, kind, values, tmp_path
):
    path, read = tmp_path / "file.parquet", pm.read_run if kind == "run" else pm.read_qrels
    columns = {
        "qid": ["301", "301"],
        "docno": ["7", "5"],
        "score" if kind == "run" else "relevance": [1.5, 0.5],
    }
    table = pa.table(columns | {name: values, "other": [1, 2]})
    cast = {each: table[each] for each in table.column_names}
    for each in (name, "other"):  # what is not read may be anything
        wide = pa.decimal256(50, 0 if name == "qid" else 10)
        cast[each] = pa.array(map(decimal.Decimal, map(str, table[each].to_pylist())), wide)
    table = pa.table(cast)
    pq.write_table(table, path)
    if is_refused_by_polars(path, read):
        return
    with pytest.raises(
        pm.InputError, match=rf"file.parquet: column {name} holds decimals of 50 digits; at most 38"
    ) as error:
        read(path)
    if kind == "run":
        with pytest.raises(pm.InputError, match=f"column {name} holds decimals of 50 digits"):
            read_in_memory(pl.scan_parquet(path), kind)
    with pytest.raises(
        pm.InputError, match=r"a column has a type that cannot be read \(.*Cast it, such as decim"
    ):
        read_in_memory(table, kind)
    remedy = str(error.value).partition("in pyarrow by ")[2]
    pq.write_table(eval(remedy, {"table": table}), path)
    expected = [float(each) for each in cast["score" if kind == "run" else "relevance"].to_pylist()]
    assert read(path) == {"301": dict(zip(("7", "5"), expected, strict=True))}


def test_ranks_in_decimals_of_more_than_38_digits_are_refused_where_they_are_asked_for(tmp_path):
    path = tmp_path / "run.parquet"
    table = pa.table({"qid": ["q", "q"], "docno": ["a", "b"], "score": [1.5, 0.5]})
    ranks = pa.array([decimal.Decimal(2), decimal.Decimal(1)], pa.decimal256(40, 0))
    table = table.append_column("rank", ranks)
    pq.write_table(table, path)
    if is_refused_by_polars(path, pm.read_run):
        return
    assert pm.read_run(path) == {"q": {"a": 1.5, "b": 0.5}}
    with pytest.raises(pm.InputError, match=r"run.parquet: column rank holds decimals of 40 digits") as error:
        pm.read_run(path, order="list")
    remedy = str(error.value).partition("in pyarrow by ")[2]
    pq.write_table(eval(remedy, {"table": table}), path)
    assert pm.read_run(path, order="list") == {"q": {"a": -2.0, "b": -1.0}}
