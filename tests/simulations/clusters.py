"""How often each test rejects a null hypothesis that is true, where turns of a conversation are alike.

The difference of two equally good runs on turn i of conversation c is sqrt(icc) * a_c + sqrt(1 - icc) * e_ci,
with independent normal a and e, so that icc is the intra-cluster correlation. A test at level 0.05 should
reject in 5 of 100 trials.

    python tests/simulations/clusters.py [trials]
"""

import sys

import numpy as np

from permed_measures.comparisons.tests import randomize, t_test
from permed_measures.intervals import sums_of

LEVEL = 0.05
CORRELATIONS = (0.0, 0.1, 0.3, 0.6)
TESTS = ("randomization, naive", "randomization, clustered", "t-test, naive", "t-test, clustered")
COLUMNS = 100
"""Trials that share the conversations' lengths and the random signs."""


def randomization_test(differences, cluster, resamples, seed, level=0.95):
    """Test differences of shape (n_queries, n_columns): each less a column of zeros."""
    n = differences.shape[1]
    sums = np.pad(sums_of(differences, cluster), ((0, 0), (0, 1)))
    return randomize(sums, np.stack([np.arange(n), np.full(n, n)], axis=1), resamples, seed, level)


def differences(rng, cluster, correlation, n_trials):
    """Return the differences of so many trials; shape (n_queries, n_trials)."""
    shared = rng.normal(size=(cluster.max() + 1, n_trials))[cluster]
    own = rng.normal(size=(len(cluster), n_trials))
    return np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own


def rejections(correlation, trials, n_clusters=60, resamples=2000, seed=0):
    """Return for each test in how many of the trials it rejects."""
    rng = np.random.default_rng([seed, round(100 * correlation)])
    counts = dict.fromkeys(TESTS, 0)
    for start in range(0, trials, COLUMNS):
        cluster = np.repeat(np.arange(n_clusters), rng.integers(2, 7, n_clusters))  # 2 to 6 turns
        d = differences(rng, cluster, correlation, min(COLUMNS, trials - start))
        alone, signs = np.arange(len(cluster)), int(rng.integers(2**31))
        outcomes = (
            randomization_test(d, alone, resamples, signs).p,
            randomization_test(d, cluster, resamples, signs).p,
            [each.p for each in t_test(d, alone)],
            [each.p for each in t_test(d, cluster)],
        )
        for name, columns in zip(TESTS, outcomes, strict=True):
            counts[name] += sum(p <= LEVEL for p in columns)
    return counts


LAYOUTS = ((30, 2), (30, 6), (30, 10), (30, 20), (30, 40), (10, 40), (100, 40), (400, 40))
"""The number of conversations of 2 turns, and the turns of one more."""


def rejections_with_one_of(turns, n_clusters, trials, icc=0.6, resamples=999):
    """Return in how many trials each clustered test rejects."""
    rng = np.random.default_rng([n_clusters, turns])
    cluster = np.repeat(np.arange(n_clusters + 1), [turns, *[2] * n_clusters])
    counts = dict.fromkeys(TESTS[1::2], 0)
    for start in range(0, trials, COLUMNS):
        d = differences(rng, cluster, icc, min(COLUMNS, trials - start))
        randomized = randomization_test(d, cluster, resamples, int(rng.integers(2**31)))
        for name, p in zip(counts, (randomized.p, [each.p for each in t_test(d, cluster)]), strict=True):
            counts[name] += sum(each <= LEVEL for each in p)
    return counts


def main(trials=5000):
    """Print the tables."""
    print(f"Rejections at {LEVEL} where the null hypothesis is true; {trials:,} trials, 60 conversations of")
    print(f"2 to 6 turns. By chance within {LEVEL} ± {1.96 * np.sqrt(LEVEL * (1 - LEVEL) / trials):.4f}.\n")
    print("  ".join(["icc ", *TESTS]))
    for correlation in CORRELATIONS:
        counts = rejections(correlation, trials)
        shares = [f"{counts[name] / trials:.4f}".rjust(len(name)) for name in TESTS]
        print("  ".join([f"{correlation:.2f}", *shares]))
    print("\nThe same with icc 0.6, and conversations of 2 turns but for one.\n")
    print("  ".join(["conversations       ", *TESTS[1::2]]))
    for n_clusters, turns in LAYOUTS:
        counts = rejections_with_one_of(turns, n_clusters, trials)
        shares = [f"{count / trials:.4f}".rjust(len(name)) for name, count in counts.items()]
        print("  ".join([f"{n_clusters:3} of 2 and 1 of {turns:<2}", *shares]))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
