"""Time of the randomization test beside scipy's, on the same arrays, in turns.

The data: normal differences of 3,440 queries in 860 clusters, 16 columns (4 runs against a baseline, 4
measures), 10,000 resamples. scipy resamples queries only, so ours is timed with and without clusters.

scipy holds all resamples of all columns at once if it is not told otherwise; here in batches of 100. Ours is
a product of a matrix of signs with the sums of the clusters: what is left is drawing them.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from measuring import in_turns
from scipy import stats

from permed_measures.comparisons.tests import randomization_test

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


def resampling(rounds: int, share: float) -> Iterator[dict[str, Any]]:
    """Yield the row of the test."""
    d = np.random.default_rng(0).normal(size=(max(8, int(N_QUERIES * share)), N_COLUMNS))
    test = partial(randomization_test, d, resamples=RESAMPLES, seed=0)
    calls = {
        "ours": partial(test, np.arange(len(d))),
        "clusters": partial(test, np.arange(len(d)) // 4),
        "scipy": partial(scipy_randomization, d),
    }
    yield {"table": "tests", "what": "randomization test", "seconds": in_turns(calls, rounds)}


ROWS = {"resampling": resampling}
