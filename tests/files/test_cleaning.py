"""Documents listed twice, parts of documents, and the query itself: what is kept of each form of a run."""

import json

import polars as pl
import pytest
from commands import run_cli, run_main

import permed_measures as pm

ROWS = [("q1", "d1", 3.0), ("q1", "d2", 2.0), ("q1", "d1", 5.0), ("q1", "q1", 9.0), ("q2", "d1", 1.0)]
PARTS = [("q1", "d1#0", 1.0), ("q1", "d2#7", 2.0), ("q1", "d1#1", 5.0), ("q1", "d3", 4.0)]


def as_trec(rows, path):
    path.write_text("".join(f"{q} Q0 {d} {i} {s} t\n" for i, (q, d, s) in enumerate(rows)), encoding="utf-8")


def as_csv(rows, path):
    path.write_text(
        "query_id,doc_id,score\n" + "".join(f"{q},{d},{s}\n" for q, d, s in rows), encoding="utf-8"
    )


def as_parquet(rows, path):
    pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row").write_parquet(path)


def as_jsonl(rows, path):
    queries = {q: [{"text_id": d, "score": s} for each, d, s in rows if each == q] for q, _, _ in rows}
    lines = [json.dumps({"query_id": q, "ranked_results": results}) for q, results in queries.items()]
    path.write_text("\n".join(lines), encoding="utf-8")


FORMS = [(as_trec, "run.trec"), (as_csv, "run.csv"), (as_parquet, "run.parquet"), (as_jsonl, "run.jsonl")]


@pytest.fixture(params=FORMS, ids=[name for _, name in FORMS])
def written(request, tmp_path):
    """Return what writes rows to a file of each form."""
    write, name = request.param

    def path_of(rows):
        write(rows, tmp_path / name)
        return tmp_path / name

    return path_of


def test_a_document_that_is_listed_twice_is_refused_by_default(written):
    path = written(ROWS)
    with pytest.raises(
        pm.InputError, match=r"'d1' of query 'q1' is listed twice.*or keep one: --duplicates first or best"
    ):
        pm.evaluator(["RR"], {"q1": {"d1": 1}}).calc_aggregate(str(path))
    with pytest.raises(pm.InputError, match="'d1' of query 'q1' is listed twice"):
        pm.read_run(path, ignore_self=True)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"duplicates": "first"}, {"q1": {"d1": 3, "d2": 2, "q1": 9}, "q2": {"d1": 1}}),
        ({"duplicates": "best"}, {"q1": {"d1": 5, "d2": 2, "q1": 9}, "q2": {"d1": 1}}),
        ({"duplicates": "best", "ignore_self": True}, {"q1": {"d1": 5, "d2": 2}, "q2": {"d1": 1}}),
    ],
)
def test_one_of_two_is_kept_and_the_query_itself_is_left_out(written, how, expected):
    assert pm.read_run(written(ROWS), **how) == expected


def test_the_best_part_of_a_document_is_its_score(written):
    assert pm.read_run(written(PARTS), max_passage="#") == {"q1": {"d1": 5, "d2": 2, "d3": 4}}


def test_a_passage_that_is_listed_twice_is_refused_too_unless_one_is_to_be_kept(written):
    path = written([*PARTS, ("q1", "d2#7", 8.0)])
    with pytest.raises(pm.InputError, match="'d2#7' of query 'q1' is listed twice"):
        pm.read_run(path, max_passage="#")
    assert pm.read_run(path, max_passage="#", duplicates="first")["q1"]["d2"] == 2
    assert pm.read_run(path, max_passage="#", duplicates="best")["q1"]["d2"] == 8


def test_of_lists_without_scores_the_first_is_the_best(tmp_path):
    path = tmp_path / "run.jsonl"
    lists = [{"query_id": "a", "retrieved": ["x#1", "a", "y#1", "x#2"]}, {"query_id": "b", "retrieved": []}]
    path.write_text("\n".join(map(json.dumps, lists)), encoding="utf-8")
    run = pm.read_run(path, max_passage="#", ignore_self=True)
    assert {
        query: sorted(documents, key=documents.get, reverse=True) for query, documents in run.items()
    } == {
        "a": ["x", "y"],
        "b": [],
    }


def test_by_ranks_the_smallest_is_the_best(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("query_id,doc_id,score,rank\nq,d,9,3\nq,e,5,2\nq,d,1,1\n", encoding="utf-8")
    assert pm.read_run(path, duplicates="best") == {"q": {"d": 9, "e": 5}}
    by_rank = pm.read_run(path, order="list", duplicates="best")["q"]
    assert by_rank["d"] > by_rank["e"]


def test_the_commands_take_the_options(tmp_path):
    """A part of a document is in the way before the cut, and the query is retrieved first."""
    parts = [("q1", "q1#0", 9.0), ("q1", "d1#0", 8.0), ("q1", "d1#1", 7.0), ("q1", "d2#0", 6.0)]
    as_trec(parts, tmp_path / "run.trec")
    pm.write_qrels({"q1": {"d2": 1}}, tmp_path / "qrels")
    options = ["--max-passage", "#", "--ignore-self"]
    stdout, _ = run_cli(
        "evaluate", tmp_path / "qrels", tmp_path / "run.trec", "-m", "RR@2", *options, "--format", "json"
    )
    assert json.loads(stdout)[0]["metrics"] == {"RR@2": 0.5}
    run_cli("convert", tmp_path / "run.trec", tmp_path / "out.trec", *options)
    assert pm.read_run(tmp_path / "out.trec") == {"q1": {"d1": 8, "d2": 6}}
    pair = [f"a={tmp_path / 'run.trec'}", f"b={tmp_path / 'out.trec'}"]
    stdout, _ = run_cli("compare", tmp_path / "qrels", *pair, "-m", "RR@2", *options, "--format", "csv")
    assert ",0.0," in stdout  # both runs are the same then


def test_what_does_not_go_together_is_refused(tmp_path):
    as_trec(ROWS, tmp_path / "run.trec")
    pm.write_qrels({"q1": {"d2": 1}}, tmp_path / "qrels")
    for arguments, problem in (
        (
            [
                "evaluate",
                tmp_path / "qrels",
                tmp_path / "run.trec",
                "--ignore-self",
                "--record",
                tmp_path / "r.json",
            ],
            "a record is of runs as they stand in their files",
        ),
        (["convert", tmp_path / "qrels", tmp_path / "q.tsv", "--ignore-self"], "are about runs"),
    ):
        status, _, stderr = run_main(*arguments)
        assert (status, problem in " ".join(stderr.split())) == (2, True), stderr
    with pytest.raises(pm.InputError, match="duplicates must be one of refuse, first, best"):
        pm.read_run(tmp_path / "run.trec", duplicates="last")
