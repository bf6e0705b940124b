"""Intervals: against scipy and statsmodels, and cut to what is possible."""

import math

import numpy as np
import pytest
from cases import PARAMETERS
from ir_measures import P, nDCG
from scipy import stats
from scipy.stats import binomtest
from simulations.intervals import randomization_test
from statsmodels.regression.linear_model import OLS

import permed_measures as pm
from permed_measures.comparison.compare import compare
from permed_measures.comparison.tests import critical_t
from permed_measures.intervals import (
    difference_range,
    mean_intervals,
    measure_intervals,
    proportion_interval,
)
from permed_measures.measures.specs import range_of


def test_independent_queries_have_students_interval():
    d = np.random.default_rng(0).exponential(size=(30, 3))
    expected = stats.t.interval(0.9, 29, d.mean(axis=0), stats.sem(d))
    found = [each.value for each in mean_intervals(d, np.arange(30), 0.9)]
    np.testing.assert_allclose(np.transpose(found), expected, rtol=1e-12)


def test_two_units_are_enough():
    values = np.array([[0.0, 1.0], [0.5, 0.0]])
    expected = np.transpose(stats.t.interval(0.95, 1, values.mean(axis=0), stats.sem(values)))
    assert [each.value for each in mean_intervals(values, np.arange(2))] == list(map(pytest.approx, expected))
    _, hits = measure_intervals([nDCG, P @ 1], values, np.arange(2))
    assert hits.value == pytest.approx(binomtest(1, 2).proportion_ci(0.95, "exact"))


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


@pytest.mark.parametrize(
    ("values", "cluster", "reason"),
    [
        (np.full((3, 1), 0.25), np.arange(3), "no variance between queries"),
        (np.arange(3.0)[:, None], np.zeros(3, int), "a single cluster"),
    ],
)
def test_values_that_are_all_the_same_and_one_unit_have_no_interval(values, cluster, reason):
    [found] = mean_intervals(values, cluster)
    assert (found.value, found.reason) == (None, reason)


COUNTS = ["NumQ", "NumRet", "NumRel", "GradedAP(norm=none)@5", "GradedAP(gains={2:9})"]
SHARES = [*({*PARAMETERS} - {*COUNTS}), "GradedAP@10"]


@pytest.mark.parametrize("text", [*sorted(SHARES), *COUNTS, "VariantNDCG(negative=keep)"])
def test_shares_are_between_0_and_1_and_nothing_but_kept_negative_grades_is_below_0(text):
    measure, most = pm.parse_measure(text), 1 if text in SHARES else math.inf
    assert range_of(measure) == (-math.inf if "keep" in text else 0, most)
    assert difference_range(measure) == (-most, most)


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
    [turned] = compare(qrels, {"new": runs["new"], "old": {}}, "P@1", correction="none").rows
    assert turned.interval == (-1.0, -row.interval[0])


def test_simultaneous_intervals_have_the_critical_value_of_max_t():
    rng = np.random.default_rng(0)
    qrels = {f"q{i:02}": {"0": 1} for i in range(40)}
    runs = {name: {q: dict.fromkeys(range(rng.integers(1, 9)), 1.0) for q in qrels} for name in "abc"}
    result = compare(qrels, runs, "NumRet", resamples=999)
    d = result.paired.differences(0)
    reach = critical_t(randomization_test(d, np.arange(40), 999, 0).critical, 40)
    assert reach > stats.t.ppf(0.975, 39)
    for row, values in zip(result.rows, d.T, strict=True):
        half = reach * stats.sem(values)
        assert row.interval == pytest.approx((values.mean() - half, values.mean() + half))


@pytest.mark.parametrize("correction", ["max-t", "none"])
def test_differences_that_do_not_vary_have_no_interval(correction):
    qrels, runs = runs_with_wins(20, 20)
    for baseline in ({}, runs["new"]):  # 20 wins, 20 ties
        given = {"old": baseline, "new": runs["new"], "other": runs_with_wins(20, 9)[1]["new"]}
        result = compare(qrels, given, "P@1", baseline="old", correction=correction)
        assert (result.critical is None) == (correction == "none")
        [row, other] = result.rows
        assert (row.interval, row.reasons) == (None, {"interval": "no variance between queries"})
        assert other.interval is not None
        assert "interval: no variance between queries (1 of 2 rows)" in result.to("table")


@pytest.mark.parametrize("n", [19, 20])
def test_a_note_where_there_are_few_units(n):
    notes = compare(*runs_with_wins(n, n // 2), "P@1").notes
    assert any("coverage may be below 95%" in note for note in notes) == (n < 20)


# --- proportions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 5, 50])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_of_independent_queries_it_is_clopper_and_pearson_s(n, level):
    for hits in {0, 1, n // 2, n - 1, n}:
        expected = binomtest(hits, n).proportion_ci(level, "exact")
        values = np.array([1.0] * hits + [0.0] * (n - hits))
        assert proportion_interval(values, np.arange(n), level) == pytest.approx(expected, abs=1e-12)


def test_clusters_of_equal_values_count_once_at_most_and_others_as_their_queries_at_most():
    once = np.array([1.0, 0, 1, 1, 0, 1, 1, 0, 1, 1])
    repeated, cluster = np.repeat(once, 4), np.repeat(np.arange(10), 4)
    alone, copied = proportion_interval(once, np.arange(10)), proportion_interval(repeated, cluster)
    assert copied[0] < alone[0] < alone[1] < copied[1]
    assert proportion_interval(np.ones(40), cluster) == pytest.approx((0.025**0.1, 1))
    assert proportion_interval(np.zeros(40), cluster) == pytest.approx((0, 1 - 0.025**0.1))
    mixed = np.tile([1.0, 1, 0, 1], 10)  # no variance between clusters: as 40 queries, not more
    expected = binomtest(30, 40).proportion_ci(0.95, "exact")
    assert proportion_interval(mixed, cluster) == pytest.approx(expected)


def test_only_values_of_0_and_1_are_a_proportion():
    measures, cluster = [P @ 1, nDCG @ 10, pm.parse_measure("NumRel")], np.arange(8)
    values = np.array([[1, 0.5, 1]] * 6 + [[0, 1, 0]] * 2, float)
    hits, graded, counts = measure_intervals(measures, values, cluster)
    assert hits.value == proportion_interval(values[:, 0], cluster)
    assert graded.value == mean_intervals(values[:, 1:2], cluster, within=[(0, 1)])[0].value
    assert counts.value == mean_intervals(values[:, 2:], cluster)[0].value
    assert measure_intervals([P @ 1], np.ones((3, 1)), np.zeros(3, int))[0].value is None


def test_clusters_have_the_effective_sample_size_of_korn_and_graubard():
    values, cluster = np.array([1.0, 1, 1, 0, 1, 0, 0, 0, 1, 1]), np.array([0, 0, 0, 1, 2, 2, 3, 3, 4, 4])
    centred = np.bincount(cluster, values - 0.6)
    variance = 5 / 4 * (centred**2).sum() / 10**2
    ratio = stats.t.ppf(0.975, 9) / stats.t.ppf(0.975, 4)
    n = 0.6 * 0.4 / variance * 10 / 9 * ratio**2
    expected = stats.beta.ppf(0.025, 0.6 * n, 0.4 * n + 1), stats.beta.ppf(0.975, 0.6 * n + 1, 0.4 * n)
    assert proportion_interval(values, cluster) == pytest.approx(expected)
