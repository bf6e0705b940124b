"""Time of the tests on paired differences beside scipy's, on the same arrays, in turns.

Run it with ``python tests/benchmarks/resampling.py [rounds]``. The data: normal differences of 3,440 queries
in 860 clusters, 16 columns (4 runs against a baseline, 4 measures), 10,000 resamples. scipy resamples
queries only, so ours is timed with and without clusters. Medians; the ratio is of the medians.

scipy holds all resamples of all columns at once if it is not told otherwise; here in batches of 100. Ours is
a product of a matrix of signs, or of counts, with the sums of the clusters: what is left is drawing them.
"""

import statistics
import sys
import time

import numpy as np
from scipy import stats

from permed_measures.statistics.resampling import bootstrap_intervals, randomization_test

N_QUERIES, N_COLUMNS, RESAMPLES = 3440, 16, 10_000


def scipy_randomization(d):
    """Return scipy's p-values of random changes of signs."""
    stats.permutation_test(
        (d,),
        lambda x, axis: x.mean(axis=axis),
        permutation_type="samples",
        n_resamples=RESAMPLES,
        batch=100,
        vectorized=True,
        axis=0,
        rng=np.random.default_rng(0),
    )


def scipy_bootstrap(d):
    """Return scipy's percentile intervals."""
    stats.bootstrap(
        (d,),
        lambda x, axis: x.mean(axis=axis),
        n_resamples=RESAMPLES,
        batch=100,
        vectorized=True,
        axis=0,
        method="percentile",
        rng=np.random.default_rng(0),
    )


def main(rounds=3):
    """Print the table."""
    d = np.random.default_rng(0).normal(size=(N_QUERIES, N_COLUMNS))
    alone, cluster = np.arange(N_QUERIES), np.arange(N_QUERIES) // 4
    calls = {
        "randomization, ours": lambda: randomization_test(d, alone, RESAMPLES, 0),
        "randomization, ours, clusters": lambda: randomization_test(d, cluster, RESAMPLES, 0),
        "randomization, scipy": lambda: scipy_randomization(d),
        "bootstrap, ours": lambda: bootstrap_intervals(d, alone, RESAMPLES, 0, 0.95),
        "bootstrap, ours, clusters": lambda: bootstrap_intervals(d, cluster, RESAMPLES, 0, 0.95),
        "bootstrap, scipy": lambda: scipy_bootstrap(d),
    }
    seconds = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(each) for name, each in seconds.items()}
    for name, median in medians.items():
        ratio = medians[f"{name.partition(',')[0]}, scipy"] / median
        print(f"{name:30} {median:8.3f} s  {ratio:6.1f} x")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
