"""The randomized Tukey HSD test: against a loop over all shuffles, and in simulations."""

import itertools
import math

import numpy as np
import pytest
from effort import effort
from simulations import max_t as simulate
from test_max_t import sums_by_loop

from permed_measures.statistics.resampling import randomization_test
from permed_measures.statistics.tukey import tukey_hsd


def loop_tukey(arrays, pairs):
    """Return the p of each pair from all shuffles of the runs in all clusters."""
    n_clusters, n_runs = arrays[0].shape

    def scale(sums):
        squares = [(x - math.fsum(row) / n_runs) ** 2 for row in sums.tolist() for x in row]
        return math.sqrt(math.fsum(squares) / (n_runs - 1))

    largest = []
    for orders in itertools.product(itertools.permutations(range(n_runs)), repeat=n_clusters):
        ranges = []
        for sums in arrays:
            totals = [math.fsum(sums[c, order[r]] for c, order in enumerate(orders)) for r in range(n_runs)]
            ranges.append((max(totals) - min(totals)) / scale(sums))
        largest.append(max(ranges))
    found = []
    for sums in arrays:
        totals = sums.sum(axis=0)
        least = [abs(totals[a] - totals[b]) / scale(sums) * (1 - 1e-9) for a, b in pairs]
        found.append([sum(each >= t for each in largest) / len(largest) for t in least])
    return found


@pytest.mark.parametrize("seed", range(effort(2, 8)))
def test_all_shuffles_by_loop(seed):
    rng = np.random.default_rng(seed)
    arrays = [rng.normal(rng.choice([0, 1.0], 3), size=(4, 3)) for _ in range(2)]
    pairs = [(0, 1), (0, 2), (1, 2)]
    found = tukey_hsd(arrays, pairs, 20_000, seed).adjusted
    np.testing.assert_allclose(found, loop_tukey(arrays, pairs), atol=0.015)


def test_two_runs_have_the_p_of_the_randomization_test():
    rng = np.random.default_rng(0)
    values, cluster = rng.normal([0.0, 0.25], size=(60, 2)), np.arange(60) // 2
    sums = np.array(sums_by_loop(values, cluster)).T
    [[found]] = tukey_hsd([sums], [(0, 1)], 20_000, 0).adjusted
    [alone] = randomization_test(values[:, :1] - values[:, 1:], cluster, 20_000, 1)
    assert found == pytest.approx(alone.p, abs=0.01)


def test_half_an_interval_is_where_p_gets_small():
    rng = np.random.default_rng(1)
    sums = rng.normal(np.arange(6) / 4, size=(40, 6))
    pairs = list(itertools.combinations(range(6), 2))
    outcome = tukey_hsd([sums], pairs, 999, 0)
    total = sums.sum(axis=0)
    for (a, b), p in zip(pairs, outcome.adjusted[0], strict=True):
        assert (p < 0.05) == (abs(total[a] - total[b]) > outcome.half[0])


def test_runs_that_are_alike_differ_nowhere():
    assert tukey_hsd([np.ones((5, 3))], [(0, 1)], 99, 0).adjusted[0].tolist() == [1.0]


def test_its_error_rate_holds_where_all_runs_are_alike():
    for kind in ("normal", "sparse"):
        false, _ = simulate.tukey_rates(kind, 0, 60, resamples=199)
        assert false <= 0.17
