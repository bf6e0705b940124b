"""How often a gate with evidence fails and passes: runs that are equal, at the limit, and twice as far below.

Equal runs are held against a limit of 0, which fails most often. Values are 0 or 1, and the runs differ on a
share of the queries only. In conversations half of the queries have the difference that the first one has.
Theory is that of the cluster-robust t-test of the limit, with the variance that the changes have over all
trials.

    python tests/simulations/gates.py [trials] [limit]
"""

import sys

import numpy as np
from ir_measures import P
from scipy.stats import nct, t

from permed_measures.records.limit_intervals import GATE_LEVEL, intervals_of_changes

QUERIES = (60, 200, 600)
SHARES = (0.06, 0.2, 0.5)
TURNS = (1, 4)
ALIKE = 0.5
RESAMPLES = 2_000


def changes(rng, n, turns, share, drop):
    """Return the difference of each query and its cluster; `drop` is what is expected."""
    cluster = np.arange(n) // turns
    own, shared = (rng.random(n) for _ in range(2))
    common = rng.random(n)[cluster * turns]
    place = np.where(shared < ALIKE, common, own) if turns > 1 else own
    falls = (share + drop) / 2  # the others rise
    return np.where(place < falls, -1.0, np.where(place < share, 1.0, 0.0)), cluster


def trials_of(rng, number, n, turns, share, drop, limit):
    """Return the shares of trials that fail and that pass, and the changes."""
    failed = passed = 0
    means = []
    for _ in range(number):
        differences, cluster = changes(rng, n, turns, share, drop)
        [found] = intervals_of_changes([P @ 1], differences[:, None], cluster, RESAMPLES)
        low, high = found.value or (-np.inf, np.inf)
        failed += high < -limit
        passed += low >= -limit
        means.append(differences.mean())
    return failed / number, passed / number, np.std(means)


def theory(n_units, distance, deviation):
    """Return how often the t-test finds a change so far below the limit."""
    critical = t.ppf((1 + GATE_LEVEL) / 2, n_units - 1)
    return nct.cdf(-critical, n_units - 1, -distance / deviation)


def main(number=1000, limit=0.03):
    """Print the table."""
    print(f"{number:,} trials, a limit of {limit:g}")
    print(
        "queries | clusters | differ | equal: fail | at the limit: fail | pass | twice: fail | theory | pass"
    )
    worst = [0.0, 0.0, 0.0]
    for n in QUERIES:
        for turns in TURNS:
            for share in SHARES:
                rng = np.random.default_rng([n, turns, round(100 * share)])
                equal, _, _ = trials_of(rng, number, n, turns, share, 0, 0)
                fails, passes, _ = trials_of(rng, number, n, turns, share, limit, limit)
                far, wrong, deviation = trials_of(rng, number, n, turns, share, 2 * limit, limit)
                power = theory(n // turns, limit, deviation)
                worst = [*map(max, worst, (equal, passes, wrong))]
                cells = (equal, fails, passes, far, power, wrong)
                row = n, n // turns, f"{share:.0%}", *(f"{cell:.1%}" for cell in cells)
                print(*row, sep=" | ", flush=True)
    print("at most: equal fail {:.1%}, pass at the limit {:.1%}, pass at twice {:.1%}".format(*worst))


if __name__ == "__main__":
    main(*(kind(word) for kind, word in zip((int, float), sys.argv[1:], strict=False)))
