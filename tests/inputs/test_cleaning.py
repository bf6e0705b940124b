"""Documents listed twice, parts of documents, and the query itself: what is kept of each form of a run."""

import json
import math
import random
from itertools import product

import polars as pl
import pytest
from commands import run_cli, run_main
from effort import effort

import permed_measures as pm

ROWS = [("q1", "d1", 3.0), ("q1", "d2", 2.0), ("q1", "d1", 5.0), ("q1", "q1", 9.0), ("q2", "d1", 1.0)]
PARTS = [("q1", "d1#0", 1.0), ("q1", "d2#7", 2.0), ("q1", "d1#1", 5.0), ("q1", "d3", 4.0)]


def written(rows, path):
    """Write rows as the kind of file that its name says; return it."""
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".csv":
        frame.write_csv(path)
    elif path.suffix == ".trec":
        path.write_text("".join(f"{q} Q0 {d} {i} {s} t\n" for i, (q, d, s) in enumerate(rows)))
    else:
        queries = {q: [{"text_id": d, "score": s} for each, d, s in rows if each == q] for q, *_ in rows}
        lines = [json.dumps({"query_id": q, "ranked_results": results}) for q, results in queries.items()]
        path.write_text("\n".join(lines))
    return path


@pytest.fixture(params=["run.trec", "run.csv", "run.parquet", "run.jsonl"])
def path(request, tmp_path):
    return tmp_path / request.param


def test_a_document_that_is_listed_twice_is_refused_by_default(path):
    written(ROWS, path)
    twice = "'d1' of query 'q1' is listed twice"
    with pytest.raises(pm.InputError, match=f"{twice}.*or keep one: --duplicates first or best"):
        pm.evaluator(["RR"], {"q1": {"d1": 1}}).calc_aggregate(str(path))
    with pytest.raises(pm.InputError, match=twice):
        pm.read_run(path, ignore_self=True)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"duplicates": "first"}, {"q1": {"d1": 3, "d2": 2, "q1": 9}, "q2": {"d1": 1}}),
        ({"duplicates": "best"}, {"q1": {"d1": 5, "d2": 2, "q1": 9}, "q2": {"d1": 1}}),
        ({"duplicates": "best", "ignore_self": True}, {"q1": {"d1": 5, "d2": 2}, "q2": {"d1": 1}}),
    ],
)
def test_one_of_two_is_kept_and_the_query_itself_is_left_out(path, how, expected):
    assert pm.read_run(written(ROWS, path), **how) == expected


def test_the_best_part_of_a_document_is_its_score(path):
    assert pm.read_run(written(PARTS, path), max_passage="#") == {"q1": {"d1": 5, "d2": 2, "d3": 4}}
    written([*PARTS, ("q1", "d2#7", 8.0)], path)
    with pytest.raises(pm.InputError, match="'d2#7' of query 'q1' is listed twice"):
        pm.read_run(path, max_passage="#")
    assert pm.read_run(path, max_passage="#", duplicates="first")["q1"]["d2"] == 2
    assert pm.read_run(path, max_passage="#", duplicates="best")["q1"]["d2"] == 8


def test_of_lists_without_scores_the_first_is_the_best(tmp_path):
    (tmp_path / "run.jsonl").write_text(
        '{"query_id": "a", "retrieved": ["x#1","a","y#1","z","x#2"]}\n{"query_id": "b", "retrieved": []}\n'
    )
    run = pm.read_run(tmp_path / "run.jsonl", max_passage="#", ignore_self=True)
    assert (list(run["a"]), run["b"]) == (["x", "y", "z"], {})
    assert run["a"]["x"] > run["a"]["y"] > run["a"]["z"]
    label = '{{"conversation_id": "t", "turn_id": 1, "doc_id": "{}", "rel": {}}}\n'
    (tmp_path / "labels.jsonl").write_text(label.format("a", 0) + label.format("b", 2))
    run = pm.read_run(tmp_path / "labels.jsonl", ignore_self=True)
    assert run["t_1"]["a"] > run["t_1"]["b"]


def test_by_ranks_the_smallest_is_the_best(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("query_id,doc_id,score,rank\nq,d,9,3\nq,e,5,2\nq,d,1,1\n", encoding="utf-8")
    assert pm.read_run(path, duplicates="best") == {"q": {"d": 9, "e": 5}}
    by_rank = pm.read_run(path, order="list", duplicates="best")["q"]
    assert by_rank["d"] > by_rank["e"]


def test_the_commands_take_the_options(tmp_path, monkeypatch):
    """A part of a document is in the way before the cut, and the query is retrieved first."""
    monkeypatch.chdir(tmp_path)
    parts = [("q1", "q1#0", 9.0), ("q1", "d1#0", 8.0), ("q1", "d1#1", 7.0), ("q1", "d2#0", 6.0)]
    run, qrels = written(parts, tmp_path / "run.trec"), tmp_path / "qrels"
    pm.write_qrels({"q1": {"d2": 1}}, qrels)
    options = ["--max-passage", "#", "--ignore-self"]
    stdout, _ = run_cli("evaluate", qrels, run, "-m", "RR@2", *options, "--format", "json")
    assert json.loads(stdout)[0]["metrics"] == {"RR@2": 0.5}
    run_cli("convert", run, "out.trec", *options)
    assert pm.read_run("out.trec") == {"q1": {"d1": 8, "d2": 6}}
    stdout, _ = run_cli("compare", qrels, run, "out.trec", "-m", "RR@2", *options, "--format", "csv")
    assert ",0.0," in stdout  # both runs are the same then
    for line, problem in (
        ("evaluate qrels run.trec --record r.json", "a record needs runs as they are in their files"),
        ("convert qrels q.tsv", "--ignore-self need a run"),
    ):
        status, _, stderr = run_main(*line.split(), "--ignore-self")
        assert (status, problem in stderr) == (2, True), stderr
    for how, message in (
        ({"duplicates": "last"}, "duplicates must be one of refuse, first, best"),
        ({"max_passage": 5}, r"max_passage must be a text, such as '#' \(found 5\)"),
    ):
        with pytest.raises(pm.InputError, match=message):
            pm.read_run(run, **how)


# --- the same by loops -------------------------------------------------------------------------------


def is_better(new, old, by_list):
    """Tell whether a row of rank and score ranks above another; a rank below 0 is none."""
    return 0 <= new[0] < old[0] if by_list else new[1] > old[1]


def cleaned(rows, duplicates, max_passage, ignore_self, by_list):
    """Return the run as dicts; None if a document is listed twice, and that is refused."""
    listed = {}
    for query_id, doc_id, *row in rows:
        kept = listed.setdefault(query_id, {})
        if doc_id in kept and duplicates == "refuse":
            return None
        if doc_id not in kept or (duplicates == "best" and is_better(row, kept[doc_id], by_list)):
            kept[doc_id] = row
    run = {}
    for query_id, passages in listed.items():
        found = {}
        for passage, row in passages.items():
            doc_id = passage.split(max_passage)[0] if max_passage else passage
            if not (ignore_self and doc_id == query_id) and (
                doc_id not in found or is_better(row, found[doc_id], by_list)
            ):
                found[doc_id] = row
        run[query_id] = {doc_id: score for doc_id, (_, score) in found.items()}
        if by_list:
            ranks = [rank for rank, _ in found.values()]
            place = sorted(range(len(found)), key=ranks.__getitem__ if min(ranks, default=0) >= 0 else None)
            run[query_id] = {doc_id: -1.0 - place.index(number) for number, doc_id in enumerate(found)}
    return run


IDS = ("a", "a#1", "a#2", "b", "b#1", "q", "q#1", "#", "c#d#e")
_ALL_HOWS = 15
"""The number of files that are read in all ways; the others in some."""
HOWS = list(product(("refuse", "first", "best"), ("", "#"), (False, True), ("score", "list")))


@pytest.mark.parametrize("ending", ["trec", "csv", "parquet"])
def test_columns_are_cleaned_as_loops_would(ending, tmp_path):
    rng = random.Random(1)
    scores = (1.0, 2.0, 2.0, 3.0, -0.0, 0.0, 1e39, math.inf)
    for number in range(effort(15, 60)):
        made = [(rng.choice("qr"), rng.choice(IDS), rng.randint(-1, 6), rng.choice(scores)) for _ in range(8)]
        rows = made if number % 3 else [*{row[:2]: row for row in made}.values()]
        path = tmp_path / f"run.{ending}"
        frame = pl.DataFrame(rows, ["query_id", "doc_id", "rank", "score"], orient="row")
        if ending == "trec":
            path.write_text("".join(f"{q} Q0 {d} {rank} {score!r} t\n" for q, d, rank, score in rows))
        else:
            (frame.write_csv if ending == "csv" else frame.write_parquet)(path)
        for duplicates, max_passage, ignore_self, order in (
            HOWS if number < _ALL_HOWS else rng.sample(HOWS, 6)
        ):
            how = {"duplicates": duplicates, "max_passage": max_passage, "ignore_self": ignore_self}
            expected = cleaned(rows, *how.values(), order == "list")
            if duplicates == "refuse" and not max_passage and not ignore_self:
                continue  # nothing is cleaned
            if expected is None:
                with pytest.raises(pm.InputError, match="is listed twice"):
                    pm.read_run(path, order, **how)
                continue
            found = pm.read_run(path, order, **how)
            assert [(q, [*docs.items()]) for q, docs in found.items()] == [
                (q, [*docs.items()]) for q, docs in expected.items()
            ], (rows, how, order)
