"""Leaderboards: the order, the runs below the first, and the notes on runs."""

import json
import pickle
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from effort import effort
from matplotlib.figure import Figure
from reporting import Page, run_of
from simulations import ranks as simulation

import permed_measures as pm
from permed_measures.datasets import SAMPLES
from permed_measures.records.leaderboard import rank_ranges

QUERIES = [f"q{number}" for number in range(10)]
QRELS = {q: {"a": 1} for q in QUERIES}


def run_with(n_wrong):
    """Make a run that is wrong on the first queries."""
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
    assert (one.entries[0].rank, one.finding) == (1, "there is only one run, so nothing to compare")


def test_runs_that_differ_by_rounding_stay_in_their_order():
    runs = {name: run_of(ranks) for name, ranks in {"a": (1, 1, 1, 6, 1), "b": (1, 6, 1, 1, 1)}.items()}
    qrels = {query: {"d": 1} for query in runs["a"]}
    board = pm.leaderboard(qrels, runs, "RR")
    first, second = (each.values["RR"] for each in board.entries)
    assert first < second < first + 1e-12
    assert [(each.rank, each.run) for each in board.entries] == [(1, "a"), (1, "b")]
    assert [row[1] for row in Page(board.to("html")).rows if row and row[0].isdigit()] == ["a", "b"]
    [ax] = pm.plot_means(qrels, runs, "RR", ax=Figure().subplots())
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]


def test_it_says_how_p_was_computed():
    qrels = {f"q{number}": {"a": 1} for number in range(20)}
    for how, seed in (({"seed": 3}, 3), ({}, 0)):
        board = pm.leaderboard(qrels, {"a": {}, "b": {"q1": {"a": 1.0}}}, "RR", "none", **how)
        assert board.about.endswith(f"; 50,000 random sign patterns of 20 queries, seed {seed}")


def test_a_p_that_is_below_the_level_prints_so():
    board = pm.leaderboard(QRELS, {"best": run_with(0), "near": run_with(2)}, "RR")
    first, second = board.entries
    for p, printed in ((0.04996, " 0.04996 "), (0.05, " 0.0500 "), (1e-4, " 0.0001 "), (9e-5, " <0.0001 ")):
        assert printed in str(replace(board, entries=[first, second._replace(p=p)]))


FIRST_OR_SECOND = "1\N{EN DASH}2"


def test_ranks_are_those_that_the_tests_of_all_pairs_leave_open():
    runs = {"worst": run_with(10), "best": run_with(0), "near": run_with(1)}
    board = pm.leaderboard(QRELS, runs, "P@1")
    rows = pm.compare(QRELS, runs, "P@1").rows
    better = {
        (r.run, r.baseline) for r in rows if r.tests["randomization"].adjusted < 0.05 and r.difference > 0
    }
    better |= {
        (r.baseline, r.run) for r in rows if r.tests["randomization"].adjusted < 0.05 and r.difference < 0
    }
    assert better == {("best", "worst"), ("near", "worst")}
    expected = {"best": (FIRST_OR_SECOND, 1, 2), "near": (FIRST_OR_SECOND, 1, 2), "worst": ("3", 3, 3)}
    assert {each.run: (each.ranks, each.rank_least, each.rank_most) for each in board.entries} == expected
    for row in (*json.loads(board.to("json"))["runs"], *board.to_polars().rows(named=True)):
        assert (row["ranks"], row["rank_least"], row["rank_most"]) == expected[row["run"]]
    [table] = board.report().sections[0].tables
    assert [row[3].text for row in table.rows[:3]] == [FIRST_OR_SECOND, FIRST_OR_SECOND, "3"]
    assert any(note.startswith("Ranks: ") for note in table.notes)
    one = pm.leaderboard(QRELS, {"only": run_with(2)}, "P@1")
    assert one.entries[0].ranks == "1"
    assert "Ranks: " not in str(one)


def test_it_is_a_comparison_of_every_pair_of_runs_best_first():
    runs = {"worst": run_with(10), "best": run_with(0), "near": run_with(1)}
    board = pm.leaderboard(QRELS, runs, ["RR", "P@1"], seed=3)
    in_order = {name: runs[name] for name in ("best", "near", "worst")}
    assert board.comparison.rows == pm.compare(QRELS, in_order, "RR", seed=3).rows
    assert str(board.comparison) == str(pm.compare(QRELS, in_order, "RR", seed=3))
    found = json.loads(board.to("json"))["provenance"]
    assert (found["seed"], "scipy" in found["versions"]) == (3, True)
    assert pm.leaderboard(QRELS, {"only": run_with(2)}, "RR").comparison is None


def test_a_run_may_have_every_rank_where_nothing_is_decided():
    assert rank_ranges(3, np.empty((0, 2), int)) == [(1, 3)] * 3
    assert rank_ranges(3, np.array([[0, 1], [0, 2], [1, 2]])) == [(1, 1), (2, 2), (3, 3)]


def of_20_queries():
    """Make qrels, and runs that rank the relevant document first or not, at random."""
    rng, queries = np.random.default_rng(0), [f"q{number}" for number in range(20)]
    runs = {
        f"run {number}": {q: {"a": 1.0, "b": 2 * float(rng.random() < number / 9)} for q in queries}
        for number in range(8)
    }
    return {q: {"a": 1} for q in queries}, runs


def test_the_table_has_the_p_values_and_decisions_of_the_comparison():
    qrels, runs = of_20_queries()
    board = pm.leaderboard(qrels, runs, "RR", resamples=2000)
    names = [each.run for each in board.entries]
    rows = {(row.baseline, row.run): row.tests["randomization"] for row in board.comparison.rows}
    assert [each.p for each in board.entries[1:]] == [rows[names[0], name].adjusted for name in names[1:]]
    worse = [pair for pair, test in rows.items() if test.adjusted < 0.05 and test.direction == -1]
    assert 3 < len(worse) < len(rows)
    above, below = (Counter(pair[place] for pair in worse) for place in (1, 0))
    expected = [(1 + above[name], len(names) - below[name]) for name in names]
    assert [(each.rank_least, each.rank_most) for each in board.entries] == expected


def test_many_runs_have_fewer_sign_patterns_unless_more_are_asked_for(monkeypatch):
    qrels, runs = of_20_queries()
    few = pm.leaderboard(qrels, runs, "RR")
    assert (few.notes, "; 50,000 random sign patterns of 20 queries" in few.about) == ([], True)
    monkeypatch.setattr("permed_measures.records.leaderboard._STATISTICS", 28 * 2000)
    many = pm.leaderboard(qrels, runs, "RR")
    assert "; 2,000 random sign patterns of 20 queries" in many.about
    assert many.notes == [
        "p: each of 28 pairs of runs is tested with 2,000 random sign patterns; for more, which take longer, "
        "add --resamples 50000, or resamples=50000 in Python"
    ]
    assert many.entries == pm.leaderboard(qrels, runs, "RR", resamples=2000).entries != few.entries
    as_asked = pm.leaderboard(qrels, runs, "RR", resamples=50000)
    assert (as_asked.entries, as_asked.about, as_asked.notes) == (few.entries, few.about, [])
    in_all = {q: qrels[q] for q in list(qrels)[:8]}
    monkeypatch.setattr("permed_measures.records.leaderboard._FEWEST", 300)
    monkeypatch.setattr("permed_measures.records.leaderboard._STATISTICS", 1)
    assert pm.leaderboard(in_all, runs, "RR").notes == []  # all patterns are tried


def test_a_comparison_is_made_when_it_is_asked_for():
    qrels, runs = of_20_queries()
    board = pm.leaderboard(qrels, runs, "RR", resamples=200)
    _ = board.to("html"), board.to("json")
    assert "comparison" not in vars(board)
    assert len(board.comparison.rows) == 28
    assert pickle.loads(pickle.dumps(board)).comparison.rows == board.comparison.rows


@pytest.mark.parametrize("tiers", [[0] * 6, [0, 0, 1, 1, 2, 2]])
def test_ranks_hold_all_at_once(tiers):
    rng, n = np.random.default_rng(0), effort(100, 400)
    held = [simulation.trial(rng, "sparse", 0.5, tiers, True, 500)[0] for _ in range(n)]
    assert np.mean(held) > 0.95 - 4 * (0.95 * 0.05 / n) ** 0.5


def test_a_page_has_the_runs_by_rank():
    page = pm.leaderboard("permed-sample", SAMPLES[0].runs, pm.MEDCORPUS).to("html")
    rows = [row for row in Page(page).rows if row and row[0].isdigit()]
    assert [row[:2] for row in rows] == [["1", "bm25"], ["2", "tfidf"], ["3", "lsa"]]


def test_a_run_may_be_called_like_the_row_of_an_ideal_ranking():
    board = pm.leaderboard(QRELS, {"best possible": run_with(3), "b": {}}, "GradedAP@10")
    [table] = board.report().sections[0].tables
    assert [[cell.text for cell in row[:2]] for row in table.rows] == [
        ["1", "best possible"],
        ["2", "b"],
        ["", "best possible"],
    ]


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
    assert [row[4].text for row in report.sections[0].tables[0].rows[:2]] == ["1.00", "0.25"]
    said = json.loads(board.to("json"))["runs"][1]["notes"]
    assert report.notes == [*said, of_clusters]
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


def test_runs_are_a_mapping_or_have_names_of_their_own():
    board = pm.leaderboard("permed-sample", "permed-sample/runs", "RR")
    assert sorted(each.run for each in board.entries) == ["bm25", "lsa", "tfidf"]
    assert [each.run for each in pm.leaderboard(QRELS, {"a": {}, "b": {}}, "RR").entries] == ["a", "b"]
    assert [each.run for each in pm.leaderboard(QRELS, run_with(0), "RR").entries] == ["run"]
    for runs, message in (({}, "there is no run"), ([run_with(0)], "run 'run': expected a dict")):
        with pytest.raises(pm.InputError, match=message):
            pm.leaderboard(QRELS, runs, "RR")
    with pytest.raises(pm.InputError, match="resamples must be a whole number of at least 1"):
        pm.leaderboard(QRELS, run_with(0), "RR", resamples=0)
