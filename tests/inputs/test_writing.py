"""What is written reads back equal, or is refused."""

import errno
import gzip
import math
import os
import warnings
from functools import partial
from pathlib import Path

import pytest
from commands import run_cli, run_main
from effort import effort
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import permed_measures as pm
from permed_measures.inputs.write import OUTPUT_FORMATS

WRITE = {"run": pm.write_run, "qrels": pm.write_qrels}
READ = {"run": pm.read_run, "qrels": pm.read_qrels}
ROWS = ("trec", "csv", "tsv")

PLAIN_IDS = ["q1", "t_1", "日本_3", "é", "7", "a-b", "x'y", "d#", "a\ufeff", "🜚_12"]
ODD_IDS = [
    *'"\\,;[-',
    'a"b',
    '""',
    "#x",
    "{x",
    "query_id",
    "query-id",
    "mteb_model_meta",
    "query_id,doc_id,score",
]
WILD_IDS = ["", " ", "a b", " a", *"\t\n\r\0\x1c\x85\u2028\ud800", "a\tb", "a\nb", "\r\n", "\ufeffx"]
FLOATS = [0.0, -0.0, 1 / 3, 5e-324, -2.5e-310, 1e-45, 3.5e38, 1.7976931348623157e308, 0.1 + 0.2, math.inf]
INTEGERS = [2**53 + 1, -(2**63), 2**63, 10**30, 10**400]

ids = st.sampled_from(
    [
        st.sampled_from(PLAIN_IDS),
        st.sampled_from([*PLAIN_IDS, *ODD_IDS]) | st.integers(-3, 10**20),
        st.sampled_from(WILD_IDS) | st.text(st.characters(), max_size=4),
    ]
)
NUMBERS = {
    "run": st.sampled_from(
        [st.floats(-1e9, 1e9), st.sampled_from([*FLOATS, *INTEGERS]) | st.integers(-5, 5)]
    ),
    "qrels": st.sampled_from([st.just(1), st.integers(-2, 4), st.sampled_from([*FLOATS, *INTEGERS, 0.5])]),
}


@st.composite
def nested(draw, kinds):
    names, numbers, least = draw(ids), draw(kinds), draw(st.sampled_from([0, 1, 1]))
    documents = st.dictionaries(names, numbers, min_size=least, max_size=4)
    return draw(st.dictionaries(names, documents, min_size=least, max_size=4))


def is_written(path, what, form, data):
    """Return whether the data were written, and so read back equal; otherwise nothing is changed."""
    path.write_bytes(b"before")
    with warnings.catch_warnings():  # of queries without documents, and of an order that is by chance
        warnings.simplefilter("ignore", pm.PermedWarning)
        try:
            WRITE[what](data, path, to=form)
        except pm.InputError:
            assert path.read_bytes() == b"before"
            return False
        found = READ[what](path)
    assert found == {
        str(query_id): {str(d): float(value) if what == "run" else value for d, value in docs.items()}
        for query_id, docs in data.items()
        if docs or what == "qrels" or form not in ROWS
    }
    assert list(path.parent.iterdir()) == [path]
    return True


@pytest.mark.parametrize("form", OUTPUT_FORMATS)
@pytest.mark.parametrize("what", ["run", "qrels"])
def test_what_is_written_reads_back_equal_or_is_refused(form, what, tmp_path):
    written, checks = [], list(HealthCheck)

    @settings(
        max_examples=effort(30, 90),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=checks,
    )
    @given(nested(NUMBERS[what]))
    @example({"a\rb": {"c": 1}})
    @example({"c": {"a\rb": 1}})
    @example({"q": {"\ud800": 1}})  # no format has it
    def check(data):
        written.append(is_written(tmp_path / "file", what, form, data))

    check()
    assert written.count(True) > effort(3, 20)
    assert written.count(False) > 0


# --- what the files look like ----------------------------------------------------------------------

RUN = {"q1": {"a": 0.5, 'b,"c"': 2}, "q2": {"é": -1e-300}}
RUN_TEXTS = {
    "trec": 'q1 Q0 b,"c" 1 2.0 mine\nq1 Q0 a 2 0.5 mine\nq2 Q0 é 1 -1e-300 mine\n',
    "jsonl": (
        '{"query_id": "q1", "ranked_results": '
        '[{"text_id": "b,\\"c\\"", "score": 2.0}, {"text_id": "a", "score": 0.5}]}\n'
        '{"query_id": "q2", "ranked_results": [{"text_id": "é", "score": -1e-300}]}\n'
    ),
    "json": '{"q1": {"a": 0.5, "b,\\"c\\"": 2.0}, "q2": {"é": -1e-300}}\n',
    "csv": 'query_id,doc_id,score\nq1,a,0.5\nq1,"b,""c""",2.0\nq2,é,-1e-300\n',
    "tsv": 'query_id\tdoc_id\tscore\nq1\ta\t0.5\nq1\tb,"c"\t2.0\nq2\té\t-1e-300\n',
}
LABELS = {"t_01_1": {"a": 2, "b": -1}, "t_01_0": {"文": 1.0}}
LABELS_TEXTS = {
    "trec": "t_01_1 0 a 2\nt_01_1 0 b -1\nt_01_0 0 文 1\n",
    "json": '{"t_01_1": {"a": 2, "b": -1}, "t_01_0": {"文": 1}}\n',
    "csv": "query_id,doc_id,relevance\nt_01_1,a,2\nt_01_1,b,-1\nt_01_0,文,1\n",
    "tsv": "query-id\tcorpus-id\tscore\nt_01_1\ta\t2\nt_01_1\tb\t-1\nt_01_0\t文\t1\n",
}


TRUTH = '{"query_id": "q", "relevant_texts": ["a", "b"]}\n{"query_id": "r", "relevant_texts": []}\n'


@pytest.mark.parametrize(
    ("write", "form", "text"),
    [
        *((partial(pm.write_run, RUN, tag="mine"), *each) for each in RUN_TEXTS.items()),
        *((partial(pm.write_qrels, LABELS), *each) for each in LABELS_TEXTS.items()),
        (partial(pm.write_qrels, {"q": {"a": 1, "b": 1.0}, "r": {}}), "jsonl", TRUTH),
    ],
)
def test_a_file_looks_as_written_down(write, form, text, tmp_path):
    write(path=tmp_path / f"file.{form}")
    assert (tmp_path / f"file.{form}").read_bytes() == text.encode()
    write(path=tmp_path / "file.gz", to=form)
    compressed = (tmp_path / "file.gz").read_bytes()
    assert (gzip.decompress(compressed), compressed[4:8]) == (text.encode(), bytes(4))  # has no time


def test_tag_and_comment_lines_of_a_run_are_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    head = "# ir_metadata.start\n# tag: mine\n"
    Path("in.run").write_text(f"{head}\nq1 Q0 a 1 2.0 mine\n# not at the head\nq1 Q0 b 2 1.0 mine\n")
    rows = "q1 Q0 a 1 2.0 {0}\nq1 Q0 b 2 1.0 {0}\n"
    for options, tag in (([], "mine"), (["--tag", "other"], "other")):
        run_cli("convert", "in.run", "out.run", *options)
        assert Path("out.run").read_text() == head + rows.format(tag)
    assert (
        "out.json: 2 comment lines left out, as only TREC files have"
        in run_cli("convert", "in.run", "out.json")[1]
    )
    run_cli("convert", "out.json", "out.run", "--as", "run")
    assert Path("out.run").read_text() == rows.format("permed-measures")
    Path("in.run").write_text("q1 Q0 a 1 2.0 a long tag\n")
    run_cli("convert", "in.run", "out.run")
    assert Path("out.run").read_text() == "q1 Q0 a 1 2.0 a_long_tag\n"
    Path("in.qrels").write_text("# by hand\nq1 0 a 1\n")
    run_cli("convert", "in.qrels", "out.qrels")
    assert Path("out.qrels").read_text() == "# by hand\nq1 0 a 1\n"
    for comment in ("words", "# a\nb", 5):
        with pytest.raises(pm.InputError, match="out: a comment line must begin with # "):
            pm.write_run({"q": {"a": 1}}, "out", comments=[comment])
    pm.write_run({"q": {"a": 1}}, "out", tag=5)
    assert Path("out").read_text() == "q Q0 a 1 1.0 5\n"
    with pytest.raises(pm.InputError, match=r"tag: an id must be a string or an integer \(found 1\.5\)"):
        pm.write_run({"q": {"a": 1}}, "out", tag=1.5)
    for tag in ("", "two words"):
        with pytest.raises(pm.InputError, match="a tag in a TREC file may not be empty or have white space"):
            pm.write_run({"q": {"a": 1}}, "out", tag=tag)


# --- what is refused -------------------------------------------------------------------------------


REFUSED = [
    (
        "qrels",
        "trec",
        {"q": {"a": 1}, "r": {}},
        "1 query without any would be lost (first: 'r'). Write them as .json",
    ),
    ("run", "trec", {"a b": {"a": 1}}, "query 'a b': a query id in a TREC file may not be empty or have whi"),
    ("qrels", "trec", {"q": {"a\u3000": 1}}, "document 'a\\u3000': a document id in a TREC file may not be"),
    (
        "qrels",
        "trec",
        {"#": {"a": 1}},
        "file: a line of a TREC file may not begin with '#' (found query '#')",
    ),
    ("run", "trec", {"\ufeffq": {"a": 1}}, "may not begin with '\\ufeff' (found query '\\ufeffq')"),
    ("run", "jsonl", {}, "file: without any query the file would be empty. Write .json or .csv"),
    ("run", "json", {"q": {"a": math.inf}}, "file: JSON has no infinite numbers. Write a TREC or CSV"),
    ("run", "json", {"mteb_model_meta": {"a": 1}}, "file: the query id 'mteb_model_meta' means something el"),
    ("run", "csv", {"q": {"\ud800": 1}}, "file: ids must be Unicode text (found '\\ud800')"),
    ("qrels", "json", {"q": {"a": 0.5}}, "document 'a': grades in a JSON file are integers (found 0.5)"),
    ("qrels", "jsonl", {"q": {"a": 1, "b": 2}}, "(found query 'q', grade 2). Write them as .tsv or .trec"),
    ("qrels", "csv", {"q": {"a": "1"}}, "query 'q', document 'a': a relevance must be a number (found '1')"),
    ("qrels", "json", {"q": {1: 1, "1": 2}}, "query 'q': two document ids are the same as strings"),
    ("run", "csv", {1.5: {"a": 1}}, "an id must be a string or an integer (found 1.5)"),
]


@pytest.mark.parametrize(("what", "form", "data", "message"), REFUSED)
def test_what_a_format_cannot_hold_is_refused_and_the_old_file_stays(what, form, data, message, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"before")
    with pytest.raises(pm.InputError) as error:
        WRITE[what](data, path, to=form)
    assert message in str(error.value)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_queries_without_documents_are_told_of_where_they_are_left_out(tmp_path):
    run = {"q": {"a": 1.0}, "r": {}, "s": {}}
    for form in ROWS:
        with pytest.warns(pm.PermedWarning, match=r"leaves out 2 queries without documents .first: 'r'"):
            pm.write_run(run, tmp_path / "run", to=form)
        assert pm.read_run(tmp_path / "run") == {"q": {"a": 1.0}}
    with pytest.warns(
        pm.PermedWarning, match=r"run: the file leaves out 1 query without documents .first: 's'"
    ):
        pm.write_run({"q": {"a": 1.0}, "s": {}}, tmp_path / "run")
    for form in ("json", "jsonl"):
        pm.write_run(run, tmp_path / "run", to=form)
        assert pm.read_run(tmp_path / "run") == run


@pytest.mark.parametrize("what", ["run", "qrels"])
def test_the_ending_means_a_format_or_is_refused(what, tmp_path):
    data = {"q": {"a": 1}}
    for name, to, message in (
        ("x", "xml", "a format must be one of trec, jsonl, json, csv, tsv (found 'xml')"),
        ("x.zst", None, "x.zst: files are compressed as .gz only. Choose another ending"),
        ("x.jsonl.zst", "json", "x.jsonl.zst: files are compressed as .gz only"),
        ("x.foo.gz", None, "x.foo.gz: the ending '.foo' means no format; known are .trec, .jsonl, .json, .c"),
        (
            "x.parquet",
            None,
            ".csv, .tsv, and for TREC .run, .res, .txt, .qrels, .qrel. Choose another, or na",
        ),
    ):
        with pytest.raises(pm.InputError) as error:
            WRITE[what](data, tmp_path / name, to=to)
        assert message in str(error.value)
    assert not list(tmp_path.iterdir())
    for name in ("out.foo", "run", "run.gz", "bm25.run", "bm25.TXT"):
        WRITE[what](data, tmp_path / name, to="trec" if name == "out.foo" else None)
        assert READ[what](tmp_path / name) == data


@pytest.mark.parametrize(
    "line",
    [
        *("evaluate qrels run -m RR --output a.md", "evaluate qrels run -m RR --record a.md"),
        *("compare qrels run other=run -m RR --output a.md", "convert run a.md --to trec"),
        *("gate qrels run --min RR=0 --output a.md", "identify --write-cases a.md MAP@10"),
    ],
)
def test_links_in_a_circle_are_refused_as_the_system_says_it(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("q 0 a 1\n")
    Path("run").write_text("q Q0 a 1 2.0 t\n")
    Path("a.md").symlink_to("b.md")
    Path("b.md").symlink_to("a.md")
    said = os.strerror(errno.ELOOP)
    assert run_main(*line.split()) == (2, "", f"error: a.md: {said}\n")
    with pytest.raises(OSError, match=said):
        pm.write_run({"q": {"a": 1.0}}, "a.md", to="trec")
    Path("b.md").unlink()
    Path("b.md").write_text("before")  # a link to a file stays one
    if "--write-cases" not in line:
        status, _, stderr = run_main(*line.split())
        assert (status, Path("a.md").is_symlink(), Path("b.md").read_text() != "before") == (0, True, True), (
            stderr
        )
