"""How often the interaction test finds that groups differ where they do not, and where they do.

The groups are the turns of conversations. The difference of two runs on a turn is normal with an
intra-cluster correlation of 0.3, or ``sparse``: 1 where that is above 1.2, -1 where it is below -1.5, else 0;
or ``wins``: 1 where it is above 1.645, on 5 of 100 turns, else 0.
Or queries are alone, in groups of two sizes. ``found`` is how often a difference of 0.5 in one is found.

    python tests/simulations/interactions.py [trials]
"""

import sys

import numpy as np

from permed_measures.comparisons.groups import interaction_test

LEVEL = 0.05
COLUMNS = 200
"""Trials that share the conversations' lengths."""
LAYOUTS = {
    "30 conversations, 2 turns and more": (30, 3),
    "60 conversations, 3 turns and more": (60, 4),
    "200 conversations, 4 turns and more": (200, 5),
    "100 and 100 queries": (100, 100),
    "20 and 200 queries": (20, 200),
}


def layout(rng, name):
    """Return the cluster and the group of each query."""
    first, second = LAYOUTS[name]
    if "queries" in name:
        return np.arange(first + second), np.repeat([0, 1], [first, second])
    turns = rng.integers(2, second + 3, first)
    group = np.concatenate([np.arange(n) for n in turns])
    return np.repeat(np.arange(first), turns), np.minimum(group, second)


def rate(name, kind, shift, trials, seed=0, resamples=999):
    """Return how often a difference between the groups is found."""
    rng, found = np.random.default_rng([seed, len(name)]), []
    for _ in range(-(-trials // COLUMNS)):
        cluster, group = layout(rng, name)
        shared = rng.normal(size=(cluster.max() + 1, COLUMNS))[cluster]
        d = np.sqrt(0.3) * shared + np.sqrt(0.7) * rng.normal(size=(len(cluster), COLUMNS))
        d = {"normal": d, "sparse": (d > 1.2) * 1.0 - (d < -1.5), "wins": (d > 1.645) * 1.0}[kind]
        d = d + shift * (group == 0)[:, None]
        found += [each.p < LEVEL for each in interaction_test(d, cluster, group, resamples, seed)]
    return np.mean(found)


def main(trials=2000):
    """Print the table."""
    chance = 1.96 * np.sqrt(LEVEL * (1 - LEVEL) / trials)
    print(f"Interactions found at {LEVEL}; {trials:,} trials, by chance within {LEVEL} ± {chance:.4f}.\n")
    print("groups                               normal  sparse    wins  found (normal)")
    for name in LAYOUTS:
        rates = "  ".join(f"{rate(name, kind, 0.0, trials):6.4f}" for kind in ("normal", "sparse", "wins"))
        print(f"{name:35}  {rates}  {rate(name, 'normal', 0.5, trials):14.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
