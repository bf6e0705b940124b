"""Tests and intervals on arrays, against scipy, statsmodels, loops and hand-made cases."""

import itertools
import math

import numpy as np
import pytest
from effort import effort
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from simulations.intervals import randomization_test
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.multitest import multipletests

from permed_measures.comparisons.corrections import CORRECTIONS
from permed_measures.comparisons.tests import (
    effect_sizes,
    equivalence_test,
    least_p,
    sign_patterns,
    t_test,
)
from permed_measures.comparisons.wilcoxon import wilcoxon_test
from permed_measures.intervals import zero_rounding_noise

RESAMPLES = 1000


def column(values):
    return np.asarray(values, float)[:, None]


def alone(values):
    return np.arange(len(values))


def p_of(values, cluster, resamples=RESAMPLES, seed=0):
    [p] = randomization_test(column(values), np.array(cluster), resamples, seed).p
    return p


def test_a_pattern_as_far_from_zero_but_for_rounding_counts():
    # 0.1 + 0.2 - 0.3 is 5.6e-17: with the signs of the last one or the first two turned it is as far from 0.
    assert p_of([0.1, 0.2, -0.3], range(3)) == 1
    assert p_of([0.3, 0.1, 0.2], range(3)) == 0.25


@pytest.mark.parametrize("n", [3, 12, 50, 500])
def test_t_test_and_wilcoxon_are_scipys(n):
    rng = np.random.default_rng(n)
    a, b = rng.random((n, 6)), rng.random((n, 6))
    a[:, 3] = np.where(rng.random(n) < 0.3, b[:, 3], a[:, 3])  # ties
    wilcoxon_of = {"method": "exact"} if n <= 50 else {}
    d = a - b
    theirs = stats.ttest_rel(a, b)
    ours = t_test(d, np.arange(n))
    np.testing.assert_allclose([o.p for o in ours], theirs.pvalue, rtol=1e-9)
    np.testing.assert_allclose([o.statistic for o in ours], theirs.statistic, rtol=1e-9)
    expected = [stats.wilcoxon(x[x != 0], **wilcoxon_of).pvalue for x in d.T]
    np.testing.assert_allclose([o.p for o in wilcoxon_test(d)], expected, rtol=1e-9)


def loop_wilcoxon(values):
    """Return p from all ways to give the ranks signs, ties sharing the mean of their ranks."""
    sizes = sorted(map(abs, values))
    ranks = [2 * sizes.index(abs(x)) + sizes.count(abs(x)) + 1 for x in values]  # doubled
    above = sum(rank for rank, x in zip(ranks, values, strict=True) if x > 0)
    observed = min(above, sum(ranks) - above)
    signs = itertools.product((0, 1), repeat=len(ranks))
    sums = [sum(itertools.compress(ranks, chosen)) for chosen in signs]
    return min(2 * sum(total <= observed for total in sums) / len(sums), 1.0)


@pytest.mark.parametrize("n", [1, 2, 5, 8, effort(10, 12)])
@pytest.mark.parametrize("levels", [1, 2, 3, 5, 20])
def test_wilcoxon_with_ties_by_all_signs(n, levels):
    rng = np.random.default_rng([n, levels])
    d = rng.integers(1, levels + 1, (n, 3)) * rng.choice([-1.0, 1.0], (n, 3)) / 10
    expected = [loop_wilcoxon(np.rint(10 * values).tolist()) for values in d.T]
    np.testing.assert_allclose([o.p for o in wilcoxon_test(d)], expected, rtol=1e-12)


def test_wilcoxon_of_equal_sizes_is_the_sign_test():
    [outcome] = wilcoxon_test(column([1.0] * 14 + [-1.0] * 5 + [0.0] * 41))
    assert outcome.p == pytest.approx(stats.binomtest(14, 19).pvalue, rel=1e-12)
    assert (round(outcome.p, 4), outcome.statistic) == (0.0636, 50.0)
    assert outcome.method == "signed ranks of 19 non-zero differences, exact"
    [many] = wilcoxon_test(column([0.5] * 160 + [-0.5] * 140))
    assert many.p == pytest.approx(stats.binomtest(160, 300).pvalue, rel=1e-9)


@pytest.mark.parametrize("n", [100, 150, 301])
def test_wilcoxon_of_many_is_near_its_normal_approximation(n):
    rng = np.random.default_rng(n)
    for sizes in (np.arange(n), rng.integers(1, 6, n), 1 / rng.integers(1, 11, n)):
        values = (1 + sizes) * np.where(rng.random(n) < 0.42, -1, 1)
        [outcome] = wilcoxon_test(column(values))
        expected = stats.wilcoxon(values, method="approx").pvalue
        assert outcome.p == pytest.approx(expected, abs=0.002 if n <= 300 else 1e-12)
        how = "exact" if n <= 300 else "normal approximation"
        assert outcome.method == f"signed ranks of {n} non-zero differences, {how}"


def test_wilcoxon_ties_what_differs_by_rounding():
    expected = stats.wilcoxon([0.1, 0.1, 0.2, -0.4, 0.5, 0.6]).pvalue
    for same in (0.3 - 0.2, 0.1 + 3e-13):  # the first is 0.09999999999999998
        [outcome] = wilcoxon_test(column([0.1, same, 0.2, -0.4, 0.5, 0.6]))
        assert outcome.p == expected
    assert wilcoxon_test(column([-0.1, 0.1 + 3e-12, 0.2, 0.4]))[0].statistic == 1


@pytest.mark.parametrize("seed", range(8))
def test_exact_randomization_is_scipys(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.random(9), rng.random(9)
    theirs = stats.permutation_test(
        (a, b), lambda x, y: (x - y).mean(), permutation_type="samples", n_resamples=np.inf
    )
    assert p_of(a - b, alone(a)) == pytest.approx(theirs.pvalue, abs=1e-12)


def test_random_signs_are_near_the_exact_p():
    d = np.random.default_rng(3).normal(0.3, size=(12, 5))
    exact, drawn = (randomization_test(d, np.arange(12), n, 0) for n in (2**12, 2**12 - 1))
    assert (exact.p * 2**12 % 1 == 0).all()
    np.testing.assert_allclose(drawn.p * 2**12 % 1, 0, atol=1e-9)  # 1 + a count, of 1 + 4,095
    np.testing.assert_allclose(exact.p, drawn.p, atol=0.03)
    assert (exact.p != drawn.p).any()
    assert sign_patterns(12, "query", 2**12) == "all 4,096 sign patterns of 12 queries"
    assert sign_patterns(12, "cluster", 2**12 - 1) == "4,095 random sign patterns of 12 clusters"


def test_the_smallest_p_is_that_of_two_patterns_or_of_one_draw():
    for n, resamples in ((5, 50_000), (12, 50_000), (40, 99)):
        assert p_of([1.0] * n, range(n), resamples) == least_p(n, resamples)


STATSMODELS = {"holm": "holm", "bonferroni": "bonferroni", "benjamini-hochberg": "fdr_bh"}


@pytest.mark.parametrize("correction", STATSMODELS)
@pytest.mark.parametrize("n", [1, 2, 7, 300])
def test_corrections_are_those_of_statsmodels(correction, n):
    p = np.random.default_rng(n).random(n) ** 3
    p[::5] = p[0]  # ties
    theirs = multipletests(p, method=STATSMODELS[correction])[1]
    np.testing.assert_allclose(CORRECTIONS[correction](p), theirs, rtol=1e-12)


@pytest.mark.parametrize(("n", "n_clusters"), [(12, 3), (60, 11), (400, 60), (25, 25)])
def test_the_clustered_t_test_is_that_of_statsmodels(n, n_clusters):
    rng = np.random.default_rng(n)
    cluster = rng.permutation(np.arange(n) % n_clusters)
    d = rng.normal(0.2, size=n) + rng.normal(size=n_clusters)[cluster]
    model = OLS(d, np.ones(n))
    # Its factor is C / (C - 1) * (n - 1) / (n - k) with k = 1 coefficient: ours.
    fitted = model.fit(cov_type="cluster", cov_kwds={"groups": cluster}, use_t=True)
    [ours] = t_test(column(d), cluster)
    assert ours.statistic == pytest.approx(fitted.tvalues[0], rel=1e-9)
    assert ours.p == pytest.approx(fitted.pvalues[0], rel=1e-9)
    assert fitted.df_resid_inference == n_clusters - 1


def members_of(cluster):
    return [[i for i, c in enumerate(cluster) if c == k] for k in range(max(cluster) + 1)]


def loop_randomization(d, cluster):
    members, count = members_of(cluster), 0
    observed = abs(math.fsum(d))
    for signs in itertools.product([1, -1], repeat=len(members)):
        total = math.fsum(sign * d[i] for sign, group in zip(signs, members, strict=True) for i in group)
        count += abs(total) >= observed - 1e-12
    return count / 2 ** len(members)


@pytest.mark.parametrize("seed", range(10))
def test_clusters_against_loops(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 25))
    cluster = np.concatenate([np.arange(6), rng.integers(0, 6, n - 6)])
    d = np.round(rng.normal(size=n), 1)
    assert p_of(d, cluster, 64) == loop_randomization(d.tolist(), cluster.tolist())


DIFFERENCES = st.lists(st.sampled_from([-1, -0.5, -0.1, 0, 0, 0.1, 0.2, 0.3, 1]), min_size=1, max_size=30)


@st.composite
def clustered(draw):
    d = draw(DIFFERENCES)
    label = draw(st.lists(st.integers(0, 5), min_size=len(d), max_size=len(d)))
    return np.array(d), np.unique(label, return_inverse=True)[1]


def outcomes_of(d, cluster):
    d = column(d)
    return [t_test(d, cluster)[0], wilcoxon_test(d)[0], equivalence_test(d, cluster, 0.2)[0]]


@settings(max_examples=effort(25, 60), deadline=None)
@given(clustered())
def test_swapping_the_runs_negates_and_keeps_p(case):
    d, cluster = case
    for one, other in zip(outcomes_of(d, cluster), outcomes_of(-d, cluster), strict=True):
        assert one.p == pytest.approx(other.p)
        assert one.reason == other.reason
    assert p_of(d, cluster, 99) == p_of(-d, cluster, 99)
    [one], [other] = (effect_sizes(column(x)) for x in (d, -d))
    assert (one is None) == (other is None)
    assert one is None or one == pytest.approx(-other)


def test_equal_differences_of_rounded_values_have_no_variance():
    d = column([0.3 - 0.2, 0.1, 0.4 - 0.3, 0.1])
    assert t_test(d, np.arange(4))[0].p is None
    assert effect_sizes(d) == [None]
    assert not zero_rounding_noise(column([1e-17, -1e-13])).any()
