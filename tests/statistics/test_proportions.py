"""Intervals of proportions: against scipy's exact ones, and how often they hold the truth by clusters."""

import numpy as np
import pytest
from effort import effort
from ir_measures import P, nDCG
from scipy.stats import binomtest

import permed_measures as pm
from permed_measures.statistics.intervals import mean_intervals
from permed_measures.statistics.proportions import measure_intervals, proportion_interval


@pytest.mark.parametrize("n", [2, 5, 50])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_of_independent_queries_it_is_clopper_and_pearson_s(n, level):
    for hits in range(n + 1):
        expected = binomtest(hits, n).proportion_ci(level, "exact")
        values = np.array([1.0] * hits + [0.0] * (n - hits))
        assert proportion_interval(values, np.arange(n), level) == pytest.approx(expected, abs=1e-12)


def test_clusters_of_equal_values_count_once_at_most_and_others_as_their_queries_at_most():
    once = np.array([1.0, 0, 1, 1, 0, 1, 1, 0, 1, 1])
    repeated, cluster = np.repeat(once, 4), np.repeat(np.arange(10), 4)
    alone, copied = proportion_interval(once, np.arange(10)), proportion_interval(repeated, cluster)
    assert copied[0] < alone[0] < alone[1] < copied[1]
    assert proportion_interval(np.ones(40), cluster) == pytest.approx((0.025**0.1, 1))
    mixed = np.tile([1.0, 1, 0, 1], 10)  # no variance between clusters: as 40 queries, not more
    expected = binomtest(30, 40).proportion_ci(0.95, "exact")
    assert proportion_interval(mixed, cluster) == pytest.approx(expected)


@pytest.mark.parametrize("share", [0.05, 0.5, 0.98])
@pytest.mark.parametrize("icc", [0, 0.3, 1])
def test_it_holds_the_truth_as_often_as_it_says(share, icc):
    """Student's holds 0.98 in a third of the samples of 20 clusters."""
    rng, held = np.random.default_rng(1), []
    for _ in range(effort(200, 2000)):
        cluster = np.repeat(np.arange(20), rng.integers(1, 6, 20))
        if 0 < icc < 1:
            chance = rng.beta(share * (1 / icc - 1), (1 - share) * (1 / icc - 1), 20)
        else:
            chance = (rng.random(20) < share).astype(float) if icc else np.full(20, share)
        low, high = proportion_interval((rng.random(len(cluster)) < chance[cluster]).astype(float), cluster)
        held.append(low <= share <= high)
    assert np.mean(held) > 0.95 - 3 * (0.95 * 0.05 / len(held)) ** 0.5


def test_only_values_of_0_and_1_are_a_proportion():
    measures, cluster = [P @ 1, nDCG @ 10, pm.parse_measure("NumRel")], np.arange(8)
    values = np.array([[1, 0.5, 1]] * 6 + [[0, 1, 0]] * 2, float)
    hits, graded, counts = measure_intervals(measures, values, cluster)
    assert hits.value == proportion_interval(values[:, 0], cluster)
    assert graded.value == mean_intervals(values[:, 1:2], cluster, within=[(0, 1)])[0].value
    assert counts.value == mean_intervals(values[:, 2:], cluster)[0].value
    assert measure_intervals([P @ 1], np.ones((3, 1)), np.zeros(3, int))[0].value is None


def test_compare_has_them_for_its_means():
    qrels = {f"q{n}": {"a": 1} for n in range(20)}
    runs = {"all": {q: {"a": 1.0} for q in qrels}, "none": {q: {"x": 2.0, "a": 1.0} for q in qrels}}
    [row] = pm.compare(qrels, runs, "P@1", baseline="none").rows
    assert row.intervals["mean"] == pytest.approx((0.025 ** (1 / 20), 1))
    assert row.intervals["baseline_mean"] == pytest.approx((0, 1 - 0.025 ** (1 / 20)))
