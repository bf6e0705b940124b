"""Leaderboards: the order, what is below the first, and what is said of the runs."""

import json
from dataclasses import replace

import pytest

import permed_measures as pm

QUERIES = [f"q{number}" for number in range(10)]
QRELS = {q: {"a": 1} for q in QUERIES}


def run_with(n_wrong):
    """Return a run that is wrong on the first queries."""
    return {q: {"a": 1.0, **({"b": 2.0} if number < n_wrong else {})} for number, q in enumerate(QUERIES)}


def test_it_says_what_is_below_the_first():
    runs = {"worst": run_with(10), "best": run_with(0), "near": run_with(1)}
    board = pm.leaderboard(QRELS, runs, ["RR", "P@1"])
    assert [(each.rank, each.run) for each in board.entries] == [(1, "best"), (2, "near"), (3, "worst")]
    assert board.finding == "significantly below best (p < 0.05): worst"
    assert board.entries[2].values == {"RR": 0.5, "P@1": 0.0}
    p = pm.compare(QRELS, runs, "RR", tests="randomization", correction="max-t").rows
    adjusted = {frozenset((row.run, row.baseline)): row.tests["randomization"].adjusted for row in p}
    expected = [None, *(adjusted[frozenset((run, "best"))] for run in ("near", "worst"))]
    assert [each.p for each in board.entries] == expected


def test_what_only_another_run_beats_is_not_said_to_be_below_the_first():
    def of(values):  # a run with these values of P@1
        return {q: {"a": 1.0 + value, "b": 1.5} for q, value in zip(QUERIES, values, strict=True)}

    noisy, steady, low = of([1] * 8 + [0] * 2), of([0] * 3 + [1] * 7), of([0] * 10)
    board = pm.leaderboard(QRELS, {"noisy": noisy, "steady": steady, "low": low}, "P@1")
    below = [each.run for each in board.entries if each.p is not None and each.p < 0.05]
    assert board.finding == f"significantly below noisy (p < 0.05): {', '.join(below)}"
    assert [each.run for each in board.entries if each.is_below] == below == ["low"]
    same = pm.leaderboard(QRELS, {"one": noisy, "two": noisy, "three": low}, "P@1")
    assert [each.rank for each in same.entries] == [1, 1, 3]
    none = pm.leaderboard(QRELS, {"one": noisy, "two": noisy}, "P@1")
    assert none.finding == "significantly below one (p < 0.05): no run"


def test_too_few_queries_cannot_differ_significantly():
    qrels = {q: QRELS[q] for q in QUERIES[:5]}
    board = pm.leaderboard(qrels, {"best": run_with(0), "worst": run_with(10)}, "RR")
    assert board.finding == "no difference can be significant here: the smallest possible p is 0.0625"
    assert board.entries[1].p == 0.0625
    one = pm.leaderboard(QRELS, {"only": run_with(2)}, "RR")
    assert (one.entries[0].rank, one.finding) == (1, "one run has nothing to be compared with")


def test_it_says_how_p_was_computed():
    qrels = {f"q{number}": {"a": 1} for number in range(20)}
    board = pm.leaderboard(qrels, {"a": {}, "b": {"q1": {"a": 1.0}}}, "RR", "none", seed=3)
    assert board.about.endswith("; 50,000 random sign patterns of 20 queries, seed 3")


def test_a_p_that_is_below_the_level_prints_so():
    board = pm.leaderboard(QRELS, {"best": run_with(0), "near": run_with(2)}, "RR")
    first, second = board.entries
    for p, printed in ((0.04996, " 0.04996 "), (0.05, " 0.0500 "), (1e-4, " 0.0001 "), (9e-5, " <0.0001 ")):
        assert printed in str(replace(board, entries=[first, second._replace(p=p)]))


def test_it_says_what_evaluate_says_of_runs():
    qrels = {f"q{n}": {f"d{n}{i}": 1 for i in range(4)} for n in range(4)}
    equal = {q: dict.fromkeys(docs, 1.0) for q, docs in qrels.items()}
    runs = {"equal": equal, "partly": {"q1": {"d10": 2.0, "x": 1.0}, "else": {"x": 1.0}}}
    board = pm.leaderboard(qrels, runs, "RR", clusters=lambda query: query)
    of_clusters = "clusters: no cluster has two queries; queries are treated as independent"
    assert board.notes == [of_clusters]
    assert json.loads(board.to("json"))["runs"][1]["notes"] == [
        "run 'partly' retrieves nothing for 3 of 4 queries (first: 'q0'); they score 0",
        "run 'partly' has 1 query without judgments (ignored)",
    ]
    report = board.report(digits=2)
    assert [row[3].text for row in report.sections[0].tables[0].rows[:2]] == ["1.00", "0.25"]
    assert report.notes == [of_clusters]
    [caution] = report.cautions
    assert caution.startswith("run 'equal': all scores of each judged query are equal")


@pytest.mark.parametrize(
    ("qrels", "measures", "message"),
    [
        (QRELS, {"p": "P@1"}, "two columns would be named 'p'"),
        (QRELS, {"rank": "P@1"}, "two columns would be named 'rank'"),
        ({}, "RR", "the qrels have no query"),
        (QRELS, [], "there is no measure to order by"),
    ],
)
def test_what_cannot_be_is_refused(qrels, measures, message):
    with pytest.raises(pm.InputError, match=message):
        pm.leaderboard(qrels, {"x": run_with(0)}, measures)
