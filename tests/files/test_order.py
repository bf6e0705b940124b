"""Files whose order contradicts their scores: what is said, when nothing is, and what the order gives."""

import warnings

import polars as pl
import pytest
from commands import run_cli

import permed_measures as pm
from permed_measures.files import read as reading
from permed_measures.files import sources
from permed_measures.files.inspection import inspect_file

QUERIES = ("q1", "q2", "q3")
DISTANCES = [(q, d, rank, rank / 10) for q in QUERIES for rank, d in enumerate("abc", start=1)]
SIMILARITIES = [(q, d, rank, 1 - rank / 10) for q, d, rank, _ in DISTANCES]
QRELS = {query_id: {"a": 1} for query_id in QUERIES}


def written(path, rows, ranks=True):
    """Write query, document, rank and score as the kind of file that its name says; return it."""
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "rank", "score"], orient="row")
    if path.suffix == ".trec":
        lines = (f"{q} Q0 {d} {rank if ranks else 0} {score!r} t\n" for q, d, rank, score in rows)
        path.write_text("".join(lines))
        return path
    frame = frame if ranks else frame.drop("rank")
    (frame.write_csv if path.suffix == ".csv" else frame.write_parquet)(path)
    return path


def notes_of(read, path):
    with warnings.catch_warnings(record=True, action="always") as notes:
        read(path)
    return [str(note.message) for note in notes]


READERS = {
    "whole": pm.read_run,
    "scan": lambda path: pm.calc_aggregate(["RR"], QRELS | {"q": {"a": 1}}, pm.scan_run(path)),
}
ENDINGS = ("trec", "csv", "parquet")


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_scores_that_contradict_the_ranks_are_said_and_the_ranks_can_be_taken(ending, read, tmp_path):
    path = written(tmp_path / f"run.{ending}", [*DISTANCES[:6], *SIMILARITIES[6:]][::-1])
    assert notes_of(read, path) == [
        f"{path}: in 2 of 3 queries the scores rank documents in another order than the rank column does "
        "(first: query 'q2', document 'b'); the scores are used; --order list takes the rank column on the "
        "command line, permed_measures.read_run(path, order='list') in Python"
    ]
    run = pm.read_run(path, order="list")
    assert pm.calc_aggregate(["RR"], QRELS, run) == {pm.parse_measure("RR"): 1.0}
    assert inspect_file(path).facts["ranks"] == "2 queries whose ranks contradict their scores"


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_scores_that_rise_from_line_to_line_are_said(ending, read, tmp_path):
    path = written(tmp_path / f"run.{ending}", DISTANCES, ranks=False)
    lines = "rows" if ending == "parquet" else "lines"
    assert notes_of(read, path) == [
        f"{path}: in 3 of 3 queries the scores rank documents in another order than the {lines} do (first: "
        f"query 'q1', document 'b'); the scores are used; --order list takes the {lines} on the command "
        "line, permed_measures.read_run(path, order='list') in Python"
    ]
    run = pm.read_run(path, order="list")
    assert pm.calc_aggregate(["RR"], QRELS, run) == {pm.parse_measure("RR"): 1.0}


TIED = [("q", d, rank, 1.0) for rank, d in enumerate("bacd", start=1)]
FLOAT32 = [("q", d, rank, 1 + rank * 1e-9) for rank, d in enumerate("abcdefg", start=1)]
SAYS_NOTHING = {
    "shuffled lines": SIMILARITIES[::-1],
    "ties and others": [*TIED, ("q", "e", 5, 0.5), ("q", "f", 6, 0.5)],
    "equal as float32": FLOAT32,
    "numbers of all rows": [("q", "a", 0, 0.2), ("q1", "a", 1, 0.2), ("q", "b", 2, 0.3), ("q", "c", 3, 0.1)][
        1:
    ],
    "constant": [(q, d, 1, s) for q, d, _, s in [*SIMILARITIES[::2], *SIMILARITIES[1::2]]],
    "twice": [("q", "a", 1, 0.5), ("q", "b", 1, 0.7), ("q", "c", 2, 0.9), ("q", "d", 2, 0.1)],
    "from 5 on": [("q", "a", 5, 0.5), ("q", "b", 6, 0.7), ("q", "c", 7, 0.9), ("q", "d", 8, 0.1)],
    "few scores that rise": DISTANCES[:3],
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("case", SAYS_NOTHING)
def test_what_says_nothing_about_the_order_is_not_said(case, read, ending, tmp_path):
    path = written(tmp_path / f"run.{ending}", SAYS_NOTHING[case], ranks=case != "few scores that rise")
    assert notes_of(read, path) == []


def test_a_large_run_on_the_command_line_is_read_once_and_said(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_LARGE", 0)
    path = written(tmp_path / "run.trec", DISTANCES)
    pm.write_qrels(QRELS, tmp_path / "qrels")
    stdout, stderr = run_cli("evaluate", tmp_path / "qrels", path, "-m", "RR", "--format", "tsv")
    assert stderr.count("the rank column does") == 1
    assert "0.3333" in stdout
    stdout, stderr = run_cli("evaluate", tmp_path / "qrels", path, "-m", "RR", "--order", "list")
    assert "1.0000" in stdout
    assert "another order" not in stderr


# --- qrels as runs ---------------------------------------------------------------------------------

LABELS = {
    "qrels.trec": "q1 0 b 0\nq2 0 c 1\nq1 0 a 2\n",
    "beir.tsv": "query-id\tcorpus-id\tscore\nq1\tb\t0\nq2\tc\t1\nq1\ta\t2\n",
    "qrels.csv": "qid,docno,label\nq1,b,0\nq2,c,1\nq1,a,2\n",
    "truth.jsonl": '{"query_id": "q1", "relevant_texts": ["b", "a"]}\n'
    '{"query_id": "q2", "relevant_texts": ["c"]}\n',
}


@pytest.mark.parametrize("name", [*LABELS, "qrels.parquet"])
def test_the_order_of_qrels_is_a_run(name, tmp_path):
    path = tmp_path / name
    if name in LABELS:
        path.write_text(LABELS[name])
    else:
        pm.write_qrels({"q1": {"b": 0, "a": 2}, "q2": {"c": 1}}, path)
    assert pm.read_run(path) == {"q1": {"b": -1.0, "a": -2.0}, "q2": {"c": -1.0}}
    pm.write_qrels({"q1": {"b": 0, "a": 2}, "q2": {"c": 1}}, tmp_path / "qrels")
    for arguments in (
        ("evaluate", tmp_path / "qrels", path, "-m", "P@1"),
        ("convert", path, tmp_path / "out", "--as", "run"),
    ):
        _, stderr = run_cli(*arguments)
        lines = {".parquet": "rows", ".jsonl": "lists"}.get(path.suffix, "lines")
        assert f"the order of its {lines} is taken as the run" in stderr
    assert pm.read_run(tmp_path / "out") == pm.read_run(path)


@pytest.mark.parametrize(
    ("content", "times"),
    [
        *((LABELS[name], 1) for name in ("qrels.trec", "truth.jsonl")),
        *((LABELS[name], 2) for name in ("beir.tsv", "qrels.csv")),  # fractions are refused in the run alone
        ('{"query_id": "q1", "relevance": [null, 1]}\n', 2),  # what is not judged has ranks all the same
    ],
)
def test_qrels_that_are_the_run_too_are_read_once(content, times, tmp_path, monkeypatch):
    read, whole = [], sources.Source.lines
    monkeypatch.setattr(
        sources.Source, "lines", lambda self, *args: (read.append(not args), whole(self, *args))[1]
    )
    path, copy = tmp_path / "qrels", tmp_path / "run" / "qrels"
    copy.parent.mkdir()
    for each in (path, copy):
        each.write_text(content)
    same, other = (run_cli("evaluate", path, run, "-m", "RR", "--format", "csv") for run in (path, copy))
    assert [sum(read)] == [times + 2]
    assert same[0] == other[0]
    assert ("0.5" in same[0]) == ("null" in content)


def test_a_run_that_looks_like_beir_qrels_is_refused(tmp_path):
    path = tmp_path / "run.tsv"
    path.write_text("query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t0.93\n")
    with pytest.raises(
        pm.InputError, match=r"run\.tsv:3: .*must be an integer where qrels are read as a run"
    ):
        pm.read_run(path)
