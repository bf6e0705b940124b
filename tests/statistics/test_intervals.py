"""Intervals: against scipy and statsmodels, cut to what is possible, and holding in simulations."""

import math

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, NumRet, P, nDCG
from scipy import stats
from simulations import intervals as simulate
from statsmodels.regression.linear_model import OLS

import permed_measures as pm
from permed_measures.comparisons.compare import compare
from permed_measures.measures.definitions import GradedAP, VariantNDCG
from permed_measures.statistics.intervals import difference_range, mean_intervals, range_of


def test_independent_queries_have_students_interval():
    d = np.random.default_rng(0).exponential(size=(30, 3))
    expected = stats.t.interval(0.9, 29, d.mean(axis=0), stats.sem(d))
    found = [each.value for each in mean_intervals(d, np.arange(30), 0.9)]
    np.testing.assert_allclose(np.transpose(found), expected, rtol=1e-12)


def test_clusters_have_the_cluster_robust_interval_of_statsmodels():
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(12), rng.integers(1, 6, 12))
    d = rng.exponential(size=len(cluster)) + rng.normal(size=12)[cluster]
    fit = OLS(d, np.ones(len(d))).fit(
        cov_type="cluster", cov_kwds={"groups": cluster, "use_correction": False, "df_correction": True}
    )
    error = float(fit.bse[0]) * math.sqrt(12 / 11)
    [found] = mean_intervals(d[:, None], cluster)
    reach = stats.t.ppf(0.975, 11) * error
    assert found.value == pytest.approx((d.mean() - reach, d.mean() + reach), rel=1e-9)


@pytest.mark.parametrize("values", [np.ones((20, 1)), np.full((3, 1), 0.25), np.zeros((4, 1))])
def test_values_that_are_all_the_same_have_no_interval(values):
    [found] = mean_intervals(values, np.arange(len(values)))
    assert (found.value, found.reason) == (None, "an interval needs values that vary between queries")


def test_one_unit_has_no_interval():
    [found] = mean_intervals(np.arange(3.0)[:, None], np.zeros(3, int))
    assert (found.value, found.reason) == (None, "an interval needs at least two clusters")


@pytest.mark.parametrize(
    ("measure", "share"),
    [
        *((each @ 10, True) for each in (P, nDCG, AP, GradedAP, pm.Coverage, VariantNDCG)),
        *((each, False) for each in (NumRet, GradedAP(norm="none") @ 5, GradedAP(gains={1: 3, 2: 9}))),
        (VariantNDCG(negative="keep") @ 10, False),
        (ir_measures.NumRel, False),
    ],
    ids=str,
)
def test_shares_are_between_0_and_1_and_their_differences_between_minus_1_and_1(measure, share):
    assert range_of(measure) == ((0, 1) if share else (-math.inf, math.inf))
    assert difference_range(measure) == ((-1, 1) if share else (-math.inf, math.inf))


def runs_with_wins(n, wins):
    qrels = {f"q{i:02}": {"a": 1} for i in range(n)}
    return qrels, {"old": {}, "new": {q: {"a": 1.0, "b": 0.5} for q in list(qrels)[:wins]}}


def test_intervals_stay_within_what_the_measure_can_be():
    qrels, runs = runs_with_wins(6, 5)
    row, counts = compare(qrels, runs, ["P@1", "NumRet"], correction="none").rows
    assert row.interval[0] > 0
    assert row.interval[1] == 1.0
    reach = stats.t.ppf(0.975, 5) * stats.sem([2, 2, 2, 2, 2, 0])
    assert counts.interval == pytest.approx((10 / 6 - reach, 10 / 6 + reach))
    assert counts.interval[1] > 2


@pytest.mark.parametrize("interval", ["simultaneous", "t", "bootstrap"])
def test_differences_that_do_not_vary_have_no_interval_in_any_format(interval):
    qrels, runs = runs_with_wins(20, 20)
    how = {"correction": "max-t"} if interval == "simultaneous" else {"correction": "none"}
    tests = ("randomization", "bootstrap") if interval == "bootstrap" else "randomization"
    for baseline in ({}, runs["new"]):  # 20 wins, 20 ties
        given = {"old": baseline, "new": runs["new"], "other": runs_with_wins(20, 9)[1]["new"]}
        result = compare(qrels, given, "P@1", baseline="old", tests=tests, **how)
        assert result.interval == interval
        [row, other] = result.rows
        assert row.interval is None
        assert row.reasons["interval"] == "an interval needs differences that vary between queries"
        assert other.interval is not None
        said = "— interval: an interval needs differences that vary between queries (1 of 2 rows)"
        assert said in result.to("table")
        assert said in str(result)
        assert said in result.to("html")
        assert "[+0.0000, +0.0000]" not in "".join(map(result.to, ("table", "latex", "markdown", "html")))
        assert result.to_polars()["low"].null_count() == 1


def test_two_equal_differences_of_a_group_have_no_interval():
    qrels = {f"{i}_{turn}": {"a": 1} for i in range(12) for turn in ((1, 2) if i < 2 else (1,))}
    old = {q: {"a": 1.0} for q in qrels if q[-1] == "2" or int(q.split("_")[0]) % 3}
    result = compare(qrels, {"old": old, "new": {}}, "P@1", baseline="old", by="_(.)$")
    [row] = result.groups["2"].rows if "2" in result.groups else result.groups[2].rows
    assert (row.difference, row.interval) == (-1.0, None)
    assert "[-1.0000, +0.0000]" not in result.to("table")


def test_a_note_where_few_units_differ_or_there_are_few():
    qrels, runs = runs_with_wins(40, 4)
    [*_, note] = compare(qrels, runs, "P@1").notes
    assert note == (
        "interval: 1 of 1 difference is 0 but on fewer than 5 queries; there coverage may be below 95%"
    )
    assert not any("interval" in note for note in compare(qrels, runs_with_wins(40, 16)[1], "P@1").notes)
    in_ten = {q: str(i // 4) for i, q in enumerate(qrels)}
    notes = compare(qrels, runs_with_wins(40, 16)[1], "P@1", clusters=in_ten).notes
    assert "interval: with 10 clusters coverage may be below 95% where differences are skewed" in notes


@pytest.mark.thorough
@pytest.mark.parametrize("name", simulate.SHAPES)
def test_intervals_hold_in_simulations(name):
    for n in (50, 100):
        held, few = simulate.coverage(simulate.SHAPES[name], n, 2000)
        if few < 0.5 and "one of" not in name:
            assert 0.85 <= held <= 0.995, (n, few)  # the guide has the table


def test_normal_conversations_are_covered():
    held, _ = simulate.coverage(simulate.SHAPES["conversations of 2 to 6"], 30, 1000)
    assert 0.93 < held < 0.97


def test_the_simulation_prints_its_table(capsys, monkeypatch):
    monkeypatch.delenv("PERMED_DATA", raising=False)
    simulate.main(4)
    lines = capsys.readouterr().out.splitlines()
    assert lines[3].startswith("shape")
    assert len(lines) == 4 + len(simulate.SHAPES)
