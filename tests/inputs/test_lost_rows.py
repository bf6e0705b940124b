"""No row is lost in silence: joined lines, bounds, files that change, folders of parts, ranked qrels."""

import gzip
import os
import random
import re
from pathlib import Path

import polars as pl
import pytest
from commands import run_cli, run_main
from effort import THOROUGH, effort

import permed_measures as pm
from permed_measures.cli.collections import collections_of
from permed_measures.inputs import read as reading
from permed_measures.inputs import scan, sources

RUN = "q1 Q0 a 1 2.0 t\n"
JOINED = "two lines in one, as a line end is missing, in"
RETURN = "a carriage return (\\r) within the line. If \\r alone ends the lines, write them with \\n: tr"
UTF_8 = "Save it as UTF-8, such as by iconv -f UTF-16 -t UTF-8 IN > OUT"
LATIN1 = UTF_8.replace("UTF-16", "LATIN1")


@pytest.fixture(autouse=True, params=[reading._LARGE_FILE, 0], ids=["whole", "in batches"])
def folder(request, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_LARGE_FILE", request.param)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(content, read=pm.read_run):
    Path("file").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(pm.InputError) as error:
        read("file")
    return str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"{RUN}q1 Q0 b 2 1.0 tq2 Q0 c 1 3.0 u\n", f":2: not a line of a TREC run: {JOINED} 'q1 Q0 b 2 1.0 "),
        (f"{RUN}q1 Q0 b 2 1.0 t q2 0 c 1 3.0 u\n", f":2: not a line of a TREC run: {JOINED} 'q1 Q0 b 2 1.0 "),
        (f"{RUN}q1 x b - 1.0 tq2 x c - 3.0 u\n", f":2: not a line of a TREC run: {JOINED} 'q1 x b - 1.0 tq2"),
        ("q1 Q0 a 1 2.0 t\u0085q1 Q0 b 2 1.0 t\n", f":1: not a line of a TREC run: {JOINED} 'q1 Q0 a 1 2.0"),
        ("q1 Q0 a 1 2.0 t\rq1 Q0 b 2 1.0 t\r", f":1: {RETURN}"),
        (f"{RUN}# words\rq1 Q0 b 2 1.0 t\n", f":2: {RETURN}"),
        (f"# words\r{RUN}", f":1: {RETURN}"),
        (
            b"\0\0\0q1 Q0 a 1 2.0 t\n",
            f":1: a NUL, which no text has. The file is damaged, or in UTF-16. {UTF_8}",
        ),
        (f"{RUN}\0\0q1 Q0 b 2 1.0 t\n", ":2: a NUL, which no text has."),
        ("query_id,doc_id,score\nq,a,1\nq,\0b,2\n", ":3: a NUL, which no text has."),
        (RUN.encode("utf-16"), f":1: UTF-16 in place of UTF-8. {UTF_8}"),
        (b"\xfe\xff" + RUN.encode("utf-16-be"), f":1: UTF-16 in place of UTF-8. {UTF_8}"),
        (b"ARROW1\0\0", ":1: an Arrow file, which is not read. Write it as Parquet"),
        (
            b"q1 Q0 a 1 2.0 t\nq1 Q0 \xe9 1 2.0 t\n",
            f":2: not UTF-8 text (invalid continuation byte). {LATIN1}",
        ),
        (f"query_id,doc_id,score,text\nq,a,1,{'x' * 140_000}\n", "limit (131072). Expected query_id, doc_id"),
    ],
)
def test_a_line_that_is_two_or_no_text_is_refused_with_its_number(content, message):
    assert message in refusal(content)
    assert refusal(content).startswith("file:")


@pytest.mark.parametrize(
    "line", ["q1 Q0 a 1 2.0 my 1 long 3 0.9 tag", "q1 Q0 a 1 2.0 t\r\r", "q1 Q0 a 1 2.0 t\u0085"]
)
def test_a_long_tag_is_one(line):
    Path("file").write_text(f"{line}\n", newline="")
    assert pm.read_run("file") == {"q1": {"a": 2.0}}


def run_of(n, q0="Q0", tag="t", letters=False):
    """Return lines of a run, in which ids are numbers or begin with a letter."""
    rng = random.Random(n)
    query, doc = ("q", "D") if letters else ("", "")
    return [
        f"{query}{300 + place // 6} {q0} {doc}{rng.randrange(1000)} {place % 6 + 1} {9.5 - place % 6} {tag}"
        for place in range(n)
    ]


@pytest.mark.parametrize(
    ("text", "line", "second"),
    [
        ("301 Q0 7 1 9.5 t\n301 Q0 5 2 301 Q0 6 3 7.5 t\n", 2, "Q0 6 3 7.5 t"),
        ("301 Q0 7 1 9.5 t\n301 301 Q0 6 3 7.5 t\n", 2, "Q0 6 3 7.5 t"),
        ("301 Q0 7 1 9.5 t\n301 Q0 301 Q0 6 3 7.5 t\n", 2, "Q0 6 3 7.5 t"),
        ("301 Q0 7 1 9.5 t\n301 Q0 5 301 Q0 6 3 7.5 t\n", 2, "Q0 6 3 7.5 t"),
        ("301 Q0 7 1 9.5 t\n301 Q0 5 2 9.301 Q0 6 3 7.5 t\n", 2, "Q0 6 3 7.5 t"),
        ("301 Q0 7 1 9.5 a\n301 Q0 5 2 301 Q0 6 3 7.5 b\n", 2, "Q0 6 3 7.5 b"),  # two runs in one file
        ("301 Q0 7 1 9.5 t\n301 Q0 5 2 301 q0 6 - -1e-3 t\n", 2, "q0 6 - -1e-3 t"),
        ("301 Q0 7 1 9.5 t\n301 Q0 5 2 301 Q0 6 3 nan t\n", 2, "Q0 6 3 nan t"),
        ("301 Q0 7 1 9.5 my tag\n301 Q0 5 2 301 Q0 6 3 7.5 my tag\n", 2, "Q0 6 3 7.5 my tag"),
        ("301 Q0 7 1 9.5 t\n301 Q0 5 2 301 Q0 6 3 301 Q0 8 4 7.5 t\n", 2, "Q0 6 3 301 Q0 8 4 7.5 t"),
        ("301 Q0 7 1 9.5 t\n301 Q0 5 2 301 Q0 6 3\n", 2, "Q0 6 3"),  # both of them cut
        ("301 Q0 5 2 301 Q0 6 3 7.5 t\n301 Q0 7 1 9.5 t\n", 1, "Q0 6 3 7.5 t"),
        ("301 301 Q0 6 3 7.5 t\n", 1, "Q0 6 3 7.5 t"),
        ("301 0 7 1 9.5 t\n301 0 301 0 6 3 7.5 t\n", 2, "0 6 3 7.5 t"),
        ("301 301 x 6 3 7.5 t\n301 x 7 1 9.5 t\n", 1, "x 6 3 7.5 t"),
        ("# words\n301\tQ0\t7\t1\t9.5\tt\r\n301\tQ0\t5\t2\t301\tQ0\t6\t3\t7.5\tt\r\n", 3, "Q0 6 3 7.5 t"),
    ],
)
def test_a_line_that_was_cut_and_the_next_one_are_no_row(text, line, second):
    Path("qrels").write_text("301 0 7 1\n301 0 6 1\n")
    Path("run").write_text(text, newline="")
    status, _, stderr = run_main("evaluate", "qrels", "run", "-m", "P@3")
    assert (status, f"run:{line}: not a line of a TREC run: two lines in one" in stderr) == (2, True)
    assert f"Begin a new line at the query id before '{second}'" in stderr


def test_where_a_new_line_is_begun_and_the_one_above_completed_or_removed_all_rows_are_read():
    content = "301 Q0 7 1 9.5 t\n301 Q0 5 2 301 Q0 6 3 7.5 t\n"
    second = re.search("query id before '(.*?)'; complete or remove the line above it", refusal(content))[1]
    above, query_id = content.partition(second)[0].rstrip().rsplit(" ", 1)
    Path("file").write_text(f"{above} 8.5 t\n{query_id} {second}\n")
    assert pm.read_run("file") == {"301": {"7": 9.5, "5": 8.5, "6": 7.5}}
    Path("file").write_text(f"{above.rpartition(chr(10))[0]}\n{query_id} {second}\n")
    assert pm.read_run("file") == {"301": {"7": 9.5, "6": 7.5}}


@pytest.mark.parametrize("letters", [True, False])
@pytest.mark.parametrize(("q0", "tag"), [("Q0", "t"), ("0", "t"), ("Q0", "my tag"), ("x", "bm25 0.9 0.4")])
def test_no_cut_behind_a_query_id_is_read(letters, q0, tag):
    lines = run_of(8, q0, tag, letters)
    for place in range(effort(2, 6)):
        line, after = lines[place : place + 2]
        for end in range(line.index(" ") + 1, len(line) + 1):
            for above in (lines[:place], lines[:0]):
                content = "\n".join([*above, line[:end] + after, *lines[place + 2 :]])
                assert f"file:{len(above) + 1}: not a line of a TREC run: two lines" in refusal(content)


@pytest.mark.parametrize(
    "tag",
    ["my tag", "Q0 7 x", "Q0", "x Q0", "0 7 x", "bm25 0.9 0.4", "2 stages", "0 1 2.5 x", "Q0 7 1 9.5 x"],
)
@pytest.mark.parametrize("q0", ["Q0", "0", "x"])
def test_a_tag_of_several_words_is_a_tag(q0, tag):
    Path("file").write_text("\n".join(run_of(8, q0, tag)))
    assert {query_id: len(docs) for query_id, docs in pm.read_run("file").items()} == {"300": 6, "301": 2}


@pytest.mark.parametrize("tag", ["my tag", "Q0 7 x", "Q0", "bm25 0.9 0.4", "2 stages"])
def test_the_tag_of_a_single_row_is_one_too(tag):
    for document in ("d", "0", "q0"):
        Path("file").write_text(f"301 Q0 {document} 1 9.5 {tag}\n")
        if (document, tag) != ("q0", "2 stages"):
            assert pm.read_run("file") == {"301": {document: 9.5}}


@pytest.mark.skipif("PERMED_DATA" not in os.environ, reason="needs PERMED_DATA")
@pytest.mark.skipif(not THOROUGH, reason="a thorough test")
def test_all_rows_of_real_runs_are_read():
    data = Path(os.environ["PERMED_DATA"])
    paths = [*data.rglob("*.trec.gz"), *data.rglob("results.t*")]
    assert len(paths) == 9
    for path in paths:
        content = path.read_bytes()
        n_rows = (gzip.decompress(content) if path.suffix == ".gz" else content).count(b"\n")
        file = reading.recognised(sources.Source(path), "run")
        assert sum(map(len, scan.text_frames(file))) == n_rows
        assert sum(1 for _ in file.rows()) == n_rows


# --- a header among the rows -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ("query_id,doc_id\n301,7\n", "query_id,doc_id\n301,6\n", True),
        ("query_id,doc_id\n301,7\n", "\ufeffquery_id,doc_id\n301,6\n", True),
        ("query_id,doc_id\n301,7\n", "qid,docno\n301,6\n", False),
        ("qid\tpid\n301\t7\n", "qid\tpid\n301\t6\n", True),
        ("qid docno\n301 7\n", "qid docno\n301 6\n", True),
        ("query_id,doc_id,relevance\n301,7,1\n", "query_id,doc_id,relevance\n301,6,1\n", True),
        ("query_id;doc_id;relevance\n301;7;1\n", "Query_ID;doc_id;relevance\n301;6;1\n", False),
        ('"query_id","doc_id","label"\n"301","7",1\n', '"query_id","doc_id","label"\n"301","6",1\n', True),
        ("query-id\tcorpus-id\tscore\n301\t7\t1\n", "query-id\tcorpus-id\tscore\n301\t6\t1\n", True),
        ("query_id,doc_id,relevance\n301,7,1\n", "doc_id,query_id,relevance\n6,301,1\n", False),
        ("query_id,doc_id,relevance\n301,7,1\n", "doc_id,relevance,text,query_id\n6,1,x,301\n", False),
    ],
)
@pytest.mark.filterwarnings("ignore:.*pairs of query and document")
def test_a_header_among_the_rows_is_refused_and_the_remedy_reads_them(first, second, is_same):
    message = refusal(first + second, pm.read_qrels)
    said = (
        "the header is repeated here. Remove" if is_same else "there is another header among the rows. Write"
    )
    assert message.startswith(f"file:3: {said}")
    row = second.splitlines()[1]
    if "order of the first header" in message and row.startswith("6,"):
        row = "301,6,1"
    Path("file").write_text(f"{first}{row}\n")
    assert pm.read_qrels("file") == {"301": {"7": 1, "6": 1}}


def test_the_header_of_a_run_and_of_pairs_below_their_rows_is_refused():
    table = "qid,docno,score\n301,7,1\n"
    assert refusal(table * 2) == "file:3: the header is repeated here. Remove this line"
    assert "file:2: not a line of relevant pairs: a header among the rows" in refusal(
        "301,7\nquery_id,doc_id\n301,6\n", pm.read_qrels
    )


def test_qrels_with_carriage_returns_are_refused():
    assert f":1: {RETURN}" in refusal("q1 0 a 1\rq2 0 b 1\r", pm.read_qrels)
    Path("file").write_bytes(b"q1 0 a 1\r\n\r\nq2 0 b 1\r\n")
    assert pm.read_qrels("file") == {"q1": {"a": 1}, "q2": {"b": 1}}


def test_a_carriage_return_is_a_blank_within_a_json_object_but_ends_no_line():
    Path("file").write_bytes(b'{"q1": {"a":\r1.5}}\n')
    assert pm.read_run("file") == {"q1": {"a": 1.5}}
    line = '{"query_id": "q1",\r"results": ["a"]}'
    Path("file").write_bytes(f"{line}\n".encode())
    assert pm.read_run("file") == {"q1": {"a": -1.0}}
    assert f":1: {RETURN}" in refusal(f"{line}\r{line.replace('q1', 'q2')}")


# --- other things than qrels and runs ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('<!DOCTYPE html> <html lang="en">\n<p>404', "but this is an HTML or XML page ('<!DOCTYPE html> <ht"),
        ("<html> <head> <title> 404 not found </title>\n", "It may be an error page in place of a file: loo"),
        (
            '["a", "b", "c", "d", "e", "f"]',
            ":1: a JSON array without queries (found 'a'). Write an ob",
        ),
        ("[\n1]", ":1: a JSON array without queries (found 1)"),
        ('{"query_id": "q", "results": [{"text_id": "a", "sco', ":1: not a line of PerMed results: not vali"),
        ('{"query_id": "q", "resul', "The line is not valid JSON (Unterminated string starting at: line 1 c"),
        ('{"q": {"a": 1.0, "b', ":1: not BEIR or MTEB JSON: not valid JSON"),
        ("q1,x,a,2.0\n", "Name the columns in a first line, such as query_id,doc_id,rank,score"),
        ("q1,x,a,1,2.0\n", "Name its 5 columns in a first line, such as query_id,doc_id,score. Known with"),
    ],
)
def test_what_is_no_run_is_said_with_what_to_do(content, message):
    assert message in refusal(content)


def test_what_lacks_in_a_header_is_named():
    assert "doc_id and score are missing in the header" in refusal("query,title,points\nq,a,1\n")
    assert ". score is missing in the header" in refusal("query,docno,points\nq,a,1\n")
    assert "relevance is missing" in refusal("query,docno,points\nq,a,1\n", pm.read_qrels)
    assert "missing in the header" not in refusal("some,other,words\nq,a,1\n")


def test_an_id_that_begins_like_an_array_or_a_page_is_one():
    for query_id in ("[", "<q>", '["q"'):
        Path("file").write_text(f"{query_id} Q0 a 1 2.0 t\n")
        assert pm.read_run("file") == {query_id: {"a": 2.0}}


# --- bounds, and files that change -------------------------------------------------------------------


def test_a_line_and_empty_lines_have_a_bound(monkeypatch):
    for name in ("_LONGEST_LINE", "_EMPTY", "_TEXT", "_CHUNK"):
        monkeypatch.setattr(sources, name, 1 << 10)
    monkeypatch.setattr(sources, "_JSON_LINE", 1 << 12)
    for compress in (bytes, gzip.compress):
        assert "file:2: a line of more than" in refusal(compress(RUN.encode() + b"x" * 5000))
        assert "file:1: a line of more than" in refusal(compress(b'{"q": ' + b" " * 9000))
        assert "MB of empty lines" in refusal(compress(b"\n" * 5000 + RUN.encode()))
        assert "MB of empty lines" in refusal(compress(RUN.encode() + b" \n" * 5000))
    Path("file").write_text("{" + ", ".join(f'"q{n}": {{"a": 1.5}}' for n in range(90)) + "}")
    assert len(pm.read_run("file")) == 90  # a JSON file may be one line


@pytest.mark.parametrize("last", ["q,b,1,", "q\xff,b,1"])
def test_what_is_wrong_far_below_the_header_of_a_table_has_its_line(last, monkeypatch):
    monkeypatch.setattr(sources, "_TEXT", 30)
    said = "not UTF-8 text" if "\xff" in last else "not a line of a CSV or TSV run: 4 columns instead of 3"
    content = f"query_id,doc_id,score\n{'q,a,1' + chr(10)}{'p,a,1' + chr(10)}{last}\n"
    assert refusal(content.encode("latin-1")).startswith(f"file:4: {said}")


def grow(path):
    path.write_bytes(path.read_bytes() + RUN.encode())


def cut(path):
    path.write_bytes(path.read_bytes()[:-9])


@pytest.mark.parametrize("change", [grow, cut])
def test_a_file_that_grows_or_is_cut_while_it_is_read_is_refused(change):
    path = Path("run.trec")
    path.write_text(RUN * 3)
    reading = sources.Source(path).chunks(5)
    assert [next(reading)[0], next(reading)[0]] == [1, 2]
    change(path)
    with pytest.raises(pm.InputError, match=r"run\.trec: the file changed while it was read. Read it again"):
        list(reading)
    path = Path("run.parquet")
    pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]}).write_parquet(path)
    rows = scan.parquet_rows(sources.Source(path))
    next(rows)
    change(path)
    with pytest.raises(pm.InputError, match=r"run\.parquet: the file changed"):
        list(rows)


# --- folders of parts --------------------------------------------------------------------------------


def parts(folder, *names):
    """Write two rows into each part of a folder."""
    for number, name in enumerate(names):
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = {"query_id": [f"q{number}"] * 2, "doc_id": ["a", "b"], "score": [2.0, 1.0]}
        pl.DataFrame(rows).write_parquet(path)
    return Path(folder)


SPARK = ("part-00000-c000.snappy.parquet", "part-00001-c000.snappy.parquet")


@pytest.mark.parametrize("names", [SPARK, ("000000_0", "000001_0"), ("k=1/part-0.parquet", "k=2/x.parquet")])
def test_a_folder_of_parquet_parts_is_one_run(names):
    folder = parts("bm25", *names)
    for extra in ("_SUCCESS", ".part-00000.crc"):
        (folder / extra).touch()
    assert pm.read_run(folder) == {q: {"a": 2.0, "b": 1.0} for q in ("q0", "q1")}
    Path("qrels").write_text("q0 0 a 1\nq1 0 b 1\n")
    stdout, _ = run_cli("evaluate", "qrels", "bm25", "-m", "RR", "--format", "csv")
    assert stdout.splitlines()[1].startswith("bm25,0.75,")
    assert run_cli("evaluate", "qrels", "bm25=bm25", "-m", "RR", "--format", "csv")[0] == stdout
    parts("runs/lsa", *names)
    parts("runs", "tfidf.parquet")
    stdout, _ = run_cli("evaluate", "qrels", "runs", "-m", "RR", "--format", "csv")
    assert [line.split(",")[0] for line in stdout.splitlines()[1:]] == ["lsa", "tfidf"]


def test_the_values_of_folders_are_text():
    for query_id in ("007", "a%20b"):
        path = Path("run", f"query_id={query_id}", "part-0.parquet")
        path.parent.mkdir(parents=True)
        pl.DataFrame({"doc_id": ["a"], "score": [1.0]}).write_parquet(path)
    assert pm.read_run("run") == {"007": {"a": 1.0}, "a b": {"a": 1.0}}


def test_other_folders_are_no_run_and_parts_that_are_not_complete_are_refused():
    with pytest.raises(IsADirectoryError):
        pm.read_run(parts("runs", "bm25.parquet", "lsa.parquet"))
    Path(parts("job", *SPARK), "_temporary").mkdir()
    with pytest.raises(pm.InputError, match=r"job: the parts of this folder are still being written"):
        pm.read_run("job")


# --- ranked qrels, paths, TOML -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "content", ["q1 0 b 0\nq1 0 a 2\n", "query-id\tcorpus-id\tscore\nq1\tb\t0\nq1\ta\t2\n"]
)
def test_qrels_whose_rows_are_ranked_are_a_run_where_that_is_asked_for(content):
    Path("qrels").write_text(content)
    assert pm.read_run("qrels", order="list") == {"q1": {"b": -1.0, "a": -2.0}}
    stdout, stderr = run_cli("evaluate", "qrels", "qrels", "-m", "RR", "--format", "csv", "--order", "list")
    assert stdout.splitlines()[1].startswith("qrels,0.5,")
    assert "qrels: the order of its lines is taken as the run" in stderr
    status, _, stderr = run_main("evaluate", "qrels", "qrels", "-m", "RR")
    assert (status, "--order list takes their order as the run on the command line" in stderr) == (2, True)
    assert pm.read_run("qrels", order="list", ignore_self=True) == {"q1": {"b": -1.0, "a": -2.0}}


def test_a_path_with_a_nul_is_our_error():
    qrels, name = {"q": {"a": 1}}, "a\0b"
    for function in (
        lambda: pm.read_qrels(name),
        lambda: pm.read_run(name),
        lambda: pm.calc_aggregate("P@1", qrels, name),
        lambda: pm.calc_aggregate("P@1", name, qrels),
        lambda: pm.write_run(qrels, name),
        lambda: pm.audit(qrels, qrels, name),
    ):
        with pytest.raises(pm.InputError, match=r"a\\x00b"):
            function()


def test_brackets_without_end_in_a_toml_file_are_our_error():
    Path("deep.toml").write_text("a = " + "[" * 5000)
    with pytest.raises(pm.InputError, match=r"deep\.toml: this is not a TOML file"):
        collections_of(Path("deep.toml"))
    options = ["--claim", "P@1=0.5", "--conventions", "deep.toml"]
    status, _, stderr = run_main("audit", "permed-sample", "permed-sample/runs/bm25", *options)
    assert (status, "deep.toml: is not TOML" in stderr) == (2, True)


def test_what_is_wrong_with_json_is_shown_with_its_own_line(tmp_path):
    path = tmp_path / "qrels.json"
    path.write_text('{"q1": {"a": 1},\n "q2": {"b": 1},\n "q3": {"c": oops}\n}\n')
    with pytest.raises(pm.InputError, match=r"qrels.json:3: .* in '\"q3\": \{\"c\": oops\}'"):
        pm.read_qrels(path)


def test_a_query_with_two_lists_and_two_lines_in_one_are_refused(tmp_path):
    path = tmp_path / "file"
    for text, message in (
        (
            '{"query_id": "q", "relevant_texts": ["a"]}\n{"query_id": "q", "relevant_texts": ["b"]}\n',
            "query 'q' is",
        ),
        (
            '{"query_id": "q", "relevant_texts": []}\n{"query_id": "q", "relevant_texts": []}\n',
            "query 'q' is listed",
        ),
        ("q Q0 a 1 0.5 xr Q0 b 1 0.4\n", "two lines in one"),
    ):
        path.write_text(text)
        with pytest.raises(pm.InputError, match=message):
            (pm.read_run if "Q0" in text else pm.read_qrels)(path)
