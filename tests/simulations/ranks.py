"""How often the ranks that a leaderboard says runs may have hold all of their true ranks at once.

Runs stand in tiers of three equal ones, or all are equal. ``normal`` values have a difficulty of the query
and the run's own part; the tiers are apart by 0.15 to 0.6 of its standard deviation. ``sparse`` values are 0
or 1: that of the query, but for losses in 5 of 100, and more the lower the tier, and wins in 5 of 100. There
are 60 queries, or 30 conversations of 1 to 5 turns, which share half of the variance. Printed are the share
of trials in which the ranks of every run hold all that it shares with its equals, and how many ranks a run
may have.

    python tests/simulations/ranks.py [trials]
"""

import sys
from itertools import combinations, product

import numpy as np

from permed_measures.comparison.results import MARK_LEVEL
from permed_measures.comparison.tests import randomize
from permed_measures.intervals import sums_of
from permed_measures.records.leaderboard import rank_ranges

RUNS = (2, 5, 10, 20, 40)
TIERS = {"all equal": lambda n: [0] * n, "tiers of equal ones": lambda n: [i // 3 for i in range(n)]}


def values_of(rng, kind, step, tiers, clustered):
    """Return the values of the runs, shape (n_queries, n_runs), and the cluster of each query."""
    tiers = np.array(tiers)
    sizes = rng.integers(1, 6, 30) if clustered else np.ones(60, int)
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    shape = (len(sizes), len(tiers))
    if kind == "normal":
        own = rng.normal(size=shape)[cluster] * clustered + rng.normal(size=(len(cluster), len(tiers)))
        return rng.normal(size=(len(cluster), 1)) + own - step * tiers, cluster
    base = rng.random((len(sizes), 1))[cluster] < 0.5
    lost = rng.random((len(cluster), len(tiers))) < 0.05 + step * tiers / (1 + tiers.max())
    won = rng.random((len(cluster), len(tiers))) < 0.05
    return np.where(lost, 0.0, np.where(won, 1.0, base)), cluster


def trial(rng, kind, step, tiers, clustered, resamples=1000):
    """Return whether the ranks of all runs hold at once, and how many ranks a run may have."""
    values, cluster = values_of(rng, kind, step, tiers, clustered)
    pairs = np.array(list(combinations(range(len(tiers)), 2)))
    found = randomize(sums_of(values, cluster), pairs, resamples, int(rng.integers(2**31)), 1 - MARK_LEVEL)
    better = [
        pair if statistic > 0 else pair[::-1]
        for pair, statistic, p in zip(pairs.tolist(), found.statistic, found.adjusted, strict=True)
        if p < MARK_LEVEL
    ]
    ranks = np.array(rank_ranges(len(tiers), np.array(better, int).reshape(-1, 2)))
    first = np.array([1 + sum(other < tier for other in tiers) for tier in tiers])
    last = np.array([sum(other <= tier for other in tiers) for tier in tiers])
    held = (ranks[:, 0] <= first) & (last <= ranks[:, 1])
    return bool(held.all()), float((ranks[:, 1] - ranks[:, 0] + 1).mean())


def main(trials=1000):
    """Print the table."""
    print(f"{trials:,} trials; by chance 0.95 ± {1.96 * (0.95 * 0.05 / trials) ** 0.5:.3f}\n")
    print(f"{'values':8}{'units':15}{'runs':>5}  {'true means':20}{'held':>6}{'ranks':>7}")
    for kind, clustered, n, name in product(("normal", "sparse"), (False, True), RUNS, TIERS):
        rng = np.random.default_rng([n, clustered, kind == "sparse", name == "all equal"])
        steps = rng.uniform(0.15, 0.6, trials)
        trials_ = [trial(rng, kind, step, TIERS[name](n), clustered) for step in steps]
        held, ranks = np.mean(trials_, axis=0)
        units = "conversations" if clustered else "queries"
        print(f"{kind:8}{units:15}{n:5}  {name:20}{held:6.3f}{ranks:7.1f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
