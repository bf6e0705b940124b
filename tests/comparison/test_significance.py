"""Tests, max-T and power on arrays, against scipy, statsmodels, loops and hand-made cases."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from effort import effort, seeds
from scipy import stats
from simulations.intervals import randomization_test
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import DescrStatsW

from permed_measures.comparison.tests import (
    critical_t,
    critical_value,
    effect_sizes,
    equivalence_tests,
    min_attainable_p,
    randomize,
    sample_size,
    sign_patterns,
    t_test,
    wilcoxon_test,
)
from permed_measures.corrections import CORRECTIONS
from permed_measures.intervals import mean_intervals, zero_rounding_noise

PATTERNS = 10_000


def column(values):
    return np.asarray(values, float)[:, None]


def p_of(values, cluster, resamples=PATTERNS, seed=0):
    [p] = randomization_test(column(values), np.array(cluster), resamples, seed).p
    return p


# --- randomization and max-T -------------------------------------------------------------------------


def statistic(sums):
    squares = math.fsum(x * x for x in sums)
    return abs(math.fsum(sums)) / math.sqrt(squares) if squares else 0.0


def loop_max_t(d, cluster):
    """Return p and the adjusted p of each column from all signs of all clusters, step by step."""
    columns, n = range(d.shape[1]), cluster.max() + 1
    sums = [[math.fsum(d[cluster == c, i]) for c in range(n)] for i in columns]
    signs = list(itertools.product([1, -1], repeat=n))
    drawn = [
        [statistic([s * x for s, x in zip(pattern, each, strict=True)]) for each in sums] for pattern in signs
    ]
    least = [statistic(each) * (1 - 1e-9) for each in sums]
    p = [sum(row[i] >= least[i] for row in drawn) / len(signs) for i in columns]
    left = sorted((i for i in columns if any(sums[i])), key=lambda i: -least[i])
    adjusted, previous = [1.0] * len(sums), 0.0
    while left:
        count = sum(max(row[i] for i in left) >= least[left[0]] for row in drawn)
        previous = adjusted[left[0]] = max(previous, count / len(signs))
        left = left[1:]
    return p, adjusted


@pytest.mark.parametrize("seed", seeds(10, 40))
def test_all_patterns_by_loop(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 12))
    cluster = np.unique(rng.integers(0, 6, n), return_inverse=True)[1]
    d = rng.choice([-1.0, -0.5, 0, 0, 0.1, 0.5, 1, 1], (n, 5))
    d[:, 4] = d[:, 3]  # counts once
    d[:, 0] *= seed % 2  # all 0
    found = randomization_test(d, cluster, PATTERNS, 0)
    np.testing.assert_allclose([found.p, found.adjusted], loop_max_t(d, cluster), rtol=1e-12)


def test_a_pattern_as_far_from_zero_but_for_rounding_counts():
    # 0.1 + 0.2 - 0.3 is 5.6e-17: with the signs of the last one or the first two turned it is as far from 0.
    assert p_of([0.1, 0.2, -0.3], range(3)) == 1
    assert p_of([0.3, 0.1, 0.2], range(3)) == 0.25


@pytest.mark.parametrize("seed", range(4))
def test_exact_randomization_is_scipys(seed):
    a, b = np.random.default_rng(seed).random((2, 9))
    theirs = stats.permutation_test(
        (a, b), lambda x, y: (x - y).mean(), permutation_type="samples", n_resamples=np.inf
    )
    assert p_of(a - b, range(9)) == pytest.approx(theirs.pvalue, abs=1e-12)


def test_random_signs_are_near_the_exact_p():
    d = np.random.default_rng(3).normal(0.3, size=(12, 5))
    exact, drawn = (randomization_test(d, np.arange(12), n, 0) for n in (2**12, 2**12 - 1))
    assert (exact.p * 2**12 % 1 == 0).all()
    np.testing.assert_allclose(drawn.p * 2**12 % 1, 0, atol=1e-9)  # 1 + a count, of 1 + 4,095
    np.testing.assert_allclose(exact.p, drawn.p, atol=0.03)
    assert (exact.p != drawn.p).any()
    assert sign_patterns(12, "query", 2**12) == "all 4,096 sign patterns of 12 queries"
    assert sign_patterns(12, "cluster", 2**12 - 1) == "4,095 random sign patterns of 12 clusters"
    for n, resamples in ((5, 50_000), (12, 50_000), (40, 99)):
        assert p_of([1.0] * n, range(n), resamples) == min_attainable_p(n, resamples)
    few = {p_of([1.0] * 5, range(5), 20, seed) for seed in range(12)}  # no draw need be as far from 0
    assert min(few) == min_attainable_p(5, 20) < 0.05


def test_an_interval_has_the_differences_that_the_test_would_not_reject():
    d = np.random.default_rng(4).normal(0.2, size=(50, 1))
    c = randomization_test(d, np.arange(50), 999, 0).critical
    [interval] = mean_intervals(d, np.arange(50), critical=critical_t(c, 50))
    for bound in interval.value:
        assert statistic(d[:, 0] - bound) == pytest.approx(c, rel=1e-6)


@pytest.mark.parametrize(("level", "expected"), [(0.75, 6), (0.74, 5), (0.9, 7), (0.5, 4), (0.86, 6)])
def test_what_is_beyond_the_critical_value_has_a_smaller_p(level, expected):
    """Also where the level is a whole number of the 8 patterns."""
    largest = np.arange(8.0)
    found = critical_value(np.random.default_rng(0).permutation(largest), 0, level)
    assert found == expected
    for t in np.arange(0, 8, 0.25):
        assert (t > found) == ((largest >= t).mean() < 1 - level - 1e-9)


def test_too_few_clusters_or_draws_have_no_critical_value():
    assert critical_t(randomization_test(np.ones((3, 1)), np.arange(3), PATTERNS, 0).critical, 3) == math.inf
    few = randomization_test(np.random.default_rng(0).normal(size=(50, 1)), np.arange(50), 10, 0)
    assert few.critical == critical_t(few.critical, 50) == math.inf


def test_what_is_drawn_does_not_depend_on_how_much_is_drawn_at_a_time(monkeypatch):
    d = np.random.default_rng(1).normal(size=(20, 3))
    whole = randomization_test(d, np.arange(20), 999, 0)
    for name, block in (
        ("_NUMBERS_PER_BLOCK", 20),
        ("_NUMBERS_PER_BLOCK", 160),
        ("_COLUMNS", 2),
        ("_COLUMNS", 1),
        ("_DRAWS", 4),
    ):
        monkeypatch.setattr(f"permed_measures.comparison.tests.{name}", block)
        parts = randomization_test(d, np.arange(20), 999, 0)
        np.testing.assert_array_equal(parts.p, whole.p)
        assert parts.critical == whole.critical


def test_memory_does_not_grow_with_the_draws(monkeypatch):
    monkeypatch.setattr("permed_measures.comparison.tests._NUMBERS_PER_BLOCK", 1 << 15)
    sums = np.random.default_rng(0).normal(size=(30, 20))
    pairs = np.array(list(itertools.combinations(range(20), 2)))
    tracemalloc.start()
    randomize(sums, pairs, resamples=2000, seed=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2000 * len(pairs) * 8 / 1.5  # as many statistics are drawn: 3 MB


# --- Wilcoxon ----------------------------------------------------------------------------------------


def loop_wilcoxon(values):
    """Return p from all ways to give the ranks signs, ties sharing the mean of their ranks."""
    sizes = sorted(map(abs, values))
    ranks = [2 * sizes.index(abs(x)) + sizes.count(abs(x)) + 1 for x in values]  # doubled
    above = sum(rank for rank, x in zip(ranks, values, strict=True) if x > 0)
    observed = min(above, sum(ranks) - above)
    signs = itertools.product((0, 1), repeat=len(ranks))
    sums = [sum(itertools.compress(ranks, chosen)) for chosen in signs]
    return min(2 * sum(total <= observed for total in sums) / len(sums), 1.0)


@pytest.mark.parametrize("n", [1, 2, 5, effort(9, 12)])
@pytest.mark.parametrize("levels", [1, 2, 3, 5, 20])
def test_wilcoxon_with_ties_by_all_signs(n, levels):
    rng = np.random.default_rng([n, levels])
    d = rng.integers(1, levels + 1, (n, 3)) * rng.choice([-1.0, 1.0], (n, 3)) / 10
    expected = [loop_wilcoxon(np.rint(10 * values).tolist()) for values in d.T]
    np.testing.assert_allclose([o.p for o in wilcoxon_test(d)], expected, rtol=1e-12)


@pytest.mark.parametrize("n", [12, 50, 100, 301])
def test_wilcoxon_is_scipys_exact_without_ties_and_near_its_approximation_of_many(n):
    rng = np.random.default_rng(n)
    how = "exact" if n <= 300 else "normal approximation"
    for sizes in (np.arange(n), rng.integers(1, 6, n), 1 / rng.integers(1, 11, n)):
        values = (1 + sizes) * np.where(rng.random(n) < 0.42, -1, 1)
        [outcome] = wilcoxon_test(column([*values, 0.0]))
        if n >= 100:
            expected = stats.wilcoxon(values, method="approx").pvalue
            assert outcome.p == pytest.approx(expected, abs=0.002 if n <= 300 else 1e-12)
        elif len({*sizes}) == n:
            assert outcome.p == pytest.approx(stats.wilcoxon(values, method="exact").pvalue, rel=1e-9)
        assert outcome.method == f"signed ranks of {n} non-zero differences, {how}"


def test_wilcoxon_of_equal_sizes_is_the_sign_test():
    [outcome] = wilcoxon_test(column([1.0] * 14 + [-1.0] * 5 + [0.0] * 41))
    assert outcome.p == pytest.approx(stats.binomtest(14, 19).pvalue, rel=1e-12)
    assert (round(outcome.p, 4), outcome.statistic) == (0.0636, 50.0)
    [many] = wilcoxon_test(column([0.5] * 160 + [-0.5] * 140))
    assert many.p == pytest.approx(stats.binomtest(160, 300).pvalue, rel=1e-9)


def test_wilcoxon_ties_what_differs_by_rounding():
    expected = stats.wilcoxon([0.1, 0.1, 0.2, -0.4, 0.5, 0.6]).pvalue
    for same in (0.3 - 0.2, 0.1 + 3e-13):  # the first is 0.09999999999999998
        [outcome] = wilcoxon_test(column([0.1, same, 0.2, -0.4, 0.5, 0.6]))
        assert outcome.p == expected
    assert wilcoxon_test(column([-0.1, 0.1 + 3e-12, 0.2, 0.4]))[0].statistic == 1


# --- t, equivalence, power ---------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "n_clusters"), [(12, 3), (60, 11), (400, 60), (25, 25)])
def test_the_clustered_t_test_is_that_of_statsmodels(n, n_clusters):
    rng = np.random.default_rng(n)
    cluster = rng.permutation(np.arange(n) % n_clusters)
    d = rng.normal(0.2, size=n) + rng.normal(size=n_clusters)[cluster]
    # Its factor is C / (C - 1) * (n - 1) / (n - k) with k = 1 coefficient: ours.
    fitted = OLS(d, np.ones(n)).fit(cov_type="cluster", cov_kwds={"groups": cluster}, use_t=True)
    [ours] = t_test(column(d), cluster)
    assert ours.statistic == pytest.approx(fitted.tvalues[0], rel=1e-9)
    assert ours.p == pytest.approx(fitted.pvalues[0], rel=1e-9)
    assert ours.method.endswith(f", {n_clusters - 1} degrees of freedom")
    if n == n_clusters:
        assert ours.p == pytest.approx(stats.ttest_1samp(d, 0).pvalue, rel=1e-9)


@pytest.mark.parametrize("shift", [-0.09, -0.11])
def test_equivalence_and_its_two_sides_are_statsmodels(shift):
    d = np.random.default_rng(0).exponential(0.1, size=60) + shift
    found = equivalence_tests(d[:, None], np.arange(60), 0.03)
    p, (t_above, p_above, _), (t_below, p_below, _) = DescrStatsW(d).ttost_mean(-0.03, 0.03)
    ours = {name: (each.p, each.statistic) for name, [each] in found.items()}
    assert ours["non-inferiority"] == pytest.approx((p_above, t_above), rel=1e-9)
    assert ours["non-superiority"] == pytest.approx((p_below, -t_below), rel=1e-9)
    assert ours["equivalence"] == pytest.approx((p, min(t_above, -t_below)), rel=1e-9)
    for same in (np.zeros((5, 1)), np.ones((5, 1))):
        for [none] in equivalence_tests(same, np.arange(len(same)), 0.02).values():
            assert (none.p, none.reason) == (None, "no variance between queries")


def test_equal_differences_of_rounded_values_have_no_variance():
    d = column([0.3 - 0.2, 0.1, 0.4 - 0.3, 0.1])
    [outcome] = t_test(d, np.arange(4))
    assert (outcome.p, outcome.direction) == (None, 0)
    assert effect_sizes(d) == [None]
    assert not zero_rounding_noise(column([1e-17, -1e-13])).any()


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize("effect", [0.1, 0.2, 0.5, 1.0, 2.0])
def test_the_number_of_queries_is_that_of_statsmodels(effect, level):
    theirs = TTestPower().solve_power(effect_size=effect, alpha=1 - level, power=0.8)
    assert sample_size(0.1, 100, effect, level) == np.ceil(theirs)


def test_the_number_of_queries_of_any_difference():
    assert sample_size(0.1, 100, 0.5, 0.95) == 34  # Sakai 2016: 34 topics
    assert sample_size(1.0, 100, 0.001, 0.95) == pytest.approx(7.849e8, rel=1e-3)
    assert sample_size(0.1, 100, 1000, 0.95) == 2


# --- all tests ---------------------------------------------------------------------------------------

STATSMODELS = {"holm": "holm", "bonferroni": "bonferroni", "benjamini-hochberg": "fdr_bh"}


@pytest.mark.parametrize("correction", STATSMODELS)
@pytest.mark.parametrize("n", [1, 2, 7, 300])
def test_corrections_are_those_of_statsmodels(correction, n):
    p = np.random.default_rng(n).random(n) ** 3
    p[::5] = p[0]  # ties
    theirs = multipletests(p, method=STATSMODELS[correction])[1]
    np.testing.assert_allclose(CORRECTIONS[correction](p), theirs, rtol=1e-12)
