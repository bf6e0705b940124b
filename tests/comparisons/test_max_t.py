"""Max-T and its intervals: against loops, by their meaning, and in simulations."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from effort import effort
from simulations.intervals import randomization_test

from permed_measures.comparisons.tests import as_student, randomize
from permed_measures.intervals import mean_intervals

PATTERNS = 10_000


def sums_by_loop(d, cluster):
    return [[math.fsum(d[cluster == c, i]) for c in range(cluster.max() + 1)] for i in range(d.shape[1])]


def statistic(sums):
    squares = math.fsum(x * x for x in sums)
    return abs(math.fsum(sums)) / math.sqrt(squares) if squares else 0.0


def loop_max_t(d, cluster):
    """Return the adjusted p of each column from all signs of all clusters, step by step."""
    sums = sums_by_loop(d, cluster)
    observed = [statistic(each) for each in sums]
    left = sorted((i for i, each in enumerate(sums) if any(each)), key=lambda i: -observed[i])
    signs = list(itertools.product([1, -1], repeat=cluster.max() + 1))
    adjusted, previous = [1.0] * len(sums), 0.0
    while left:
        count = sum(
            max(statistic([s * x for s, x in zip(pattern, sums[i], strict=True)]) for i in left)
            >= observed[left[0]] * (1 - 1e-9)
            for pattern in signs
        )
        previous = adjusted[left[0]] = max(previous, count / len(signs))
        left = left[1:]
    return adjusted


@pytest.mark.parametrize("seed", range(effort(6, 40)))
def test_all_patterns_by_loop(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 12))
    cluster = np.unique(rng.integers(0, 6, n), return_inverse=True)[1]
    d = rng.choice([-1.0, -0.5, 0, 0, 0.5, 1, 1], (n, 5))
    d[:, 4] = d[:, 3]  # counts once
    d[:, 0] *= seed % 2  # all 0
    found = randomization_test(d, cluster, PATTERNS, 0)
    np.testing.assert_allclose(found.adjusted, loop_max_t(d, cluster), rtol=1e-12)


def test_an_interval_has_the_differences_that_the_test_would_not_reject():
    d = np.random.default_rng(4).normal(0.2, size=(50, 1))
    c = randomization_test(d, np.arange(50), 999, 0).critical
    [interval] = mean_intervals(d, np.arange(50), critical=as_student(c, 50))
    for bound in interval.value:
        moved = d[:, 0] - bound
        assert statistic(moved) == pytest.approx(c, rel=1e-6)


def test_too_few_clusters_have_no_critical_value():
    d = np.ones((3, 2))
    d[:, 1] = 0
    outcome = randomization_test(d, np.arange(3), PATTERNS, 0)
    assert outcome.adjusted.tolist() == [0.25, 1.0]
    assert as_student(outcome.critical, 3) == math.inf
    few = randomization_test(np.random.default_rng(0).normal(size=(50, 1)), np.arange(50), 10, 0)
    assert few.critical == as_student(few.critical, 50) == math.inf


def test_memory_does_not_grow_with_the_draws():
    sums = np.random.default_rng(0).normal(size=(30, 60))
    pairs = np.array(list(itertools.combinations(range(60), 2)))
    tracemalloc.start()
    randomize(sums, pairs, resamples=10_000, seed=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000 * len(pairs) * 8 / 1.5  # as many statistics are drawn: 142 MB
