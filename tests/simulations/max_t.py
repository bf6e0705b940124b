"""How often max-T finds a difference that is none, and how often its intervals hold, all of them at once.

20 runs, 190 pairs, on 60 conversations of 2 to 6 turns. The value of a run on a turn is the difficulty of the
turn, shared by all runs, plus what is the run's own: half of it, by its variance, on the whole conversation.
``normal`` values are as they are; of ``sparse`` ones the run's own part is left only in some 10 of 100 turns.
None, or half, of the runs are better than the others.

    python tests/simulations/max_t.py [trials]
"""

import sys
from itertools import combinations

import numpy as np

from permed_measures.comparison.tests import critical_t, randomize, t_test
from permed_measures.corrections import CORRECTIONS
from permed_measures.intervals import mean_intervals, sums_of

LEVEL = 0.05
N_RUNS = 20
FIRST, SECOND = map(np.array, zip(*combinations(range(N_RUNS), 2), strict=True))
CASES = (("normal", 0), ("normal", 10), ("sparse", 0), ("sparse", 10))
"""The kind of values, and how many runs are better."""
BETTER = {"normal": 0.8, "sparse": 0.35}
"""By how much these are better, in the mean."""


def values_of(rng, kind, n_better):
    """Return the values of the runs, the cluster of each query, and the true difference of each pair."""
    cluster = np.repeat(np.arange(60), rng.integers(2, 7, 60))
    own = rng.normal(size=(60, N_RUNS))[cluster] + rng.normal(size=(len(cluster), N_RUNS))
    shift = np.where(np.arange(N_RUNS) < n_better, BETTER[kind], 0.0)
    if kind == "sparse":
        here = rng.random((len(cluster), N_RUNS)) < 0.1
        own = np.where(here, own + 10 * shift, 0.0)
    else:
        own = own + shift
    return rng.normal(size=(len(cluster), 1)) + own, cluster, shift[FIRST] - shift[SECOND]


def trial(rng, kind, n_better):
    """Return for max-T and Holm false rejections and the share of true ones; whether all intervals hold."""
    values, cluster, truth = values_of(rng, kind, n_better)
    differences = values[:, FIRST] - values[:, SECOND]
    sums, pairs = sums_of(values, cluster), np.stack([FIRST, SECOND], axis=1)
    outcome = randomize(sums, pairs, 1000, int(rng.integers(2**31)), 1 - LEVEL)
    intervals = mean_intervals(differences, cluster, critical=critical_t(outcome.critical, 60))
    low, high = np.transpose([each.value for each in intervals])
    holm = CORRECTIONS["holm"](np.array([each.p for each in t_test(differences, cluster)]))
    found = []
    for adjusted in (outcome.adjusted, holm):
        rejected = adjusted < LEVEL
        share = rejected[truth != 0].mean() if n_better else np.nan
        found += [float(rejected[truth == 0].any()), share]
    return [*found, float(((low <= truth + 1e-12) & (truth <= high + 1e-12)).all())]


def main(trials=1000):
    """Print the table."""
    chance = 1.96 * np.sqrt(LEVEL * (1 - LEVEL) / trials)
    print(
        f"190 pairs of 20 runs, 1,000 resamples, {trials:,} trials. False: trials with a false rejection at"
    )
    print(
        f"{LEVEL}, by chance within {LEVEL} ± {chance:.4f}. Found: of the true differences. Held: trials in"
    )
    print("which all intervals hold. Holm: of the clustered t-test.\n")
    print("values  better runs  max-T false  found  Holm false  found  intervals held")
    for kind, n_better in CASES:
        rng = np.random.default_rng([0, n_better, kind == "sparse"])
        means = np.mean([trial(rng, kind, n_better) for _ in range(trials)], axis=0)
        false, found, holm_false, holm_found, held = means
        shares = [f"{false:11.4f}", f"{found:5.3f}", f"{holm_false:10.4f}", f"{holm_found:5.3f}"]
        print("  ".join([kind, f"{n_better:11}", *shares, f"{held:14.4f}"]))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
