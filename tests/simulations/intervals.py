"""How often 95% intervals hold the truth, and tests reject a null hypothesis that is true.

In the first table a row is a shape of differences, a column a number of queries, or of conversations; of each
are drawn so many samples. A cell is the share of samples whose interval has the true mean; one without an
interval has not. Real differences are those of LitSearch runs by R@20: the folder PERMED_DATA has them.

The second has conversations whose turns are alike: the difference of two equally good runs on turn i of
conversation c is sqrt(icc) * a_c + sqrt(1 - icc) * e_ci, with independent normal a and e, so that icc is the
intra-cluster correlation. A test at level 0.05 should reject in 5 of 100 samples; the t-test rejects where
its interval does not hold.

    python tests/simulations/intervals.py [samples]
"""

import os
import sys
from itertools import combinations
from pathlib import Path

import numpy as np

from permed_measures.comparison.tests import randomize
from permed_measures.intervals import mean_intervals, sums_of

LEVEL = 0.95
SIZES = (10, 20, 30, 50, 100)


def randomization_test(differences, cluster, resamples, seed, level=LEVEL):
    """Test differences of shape (n_queries, n_columns): each less a column of zeros."""
    n = differences.shape[1]
    sums = np.pad(sums_of(differences, cluster), ((0, 0), (0, 1)))
    return randomize(sums, np.stack([np.arange(n), np.full(n, n)], axis=1), resamples, seed, level)


def alone(draw, truth):
    """Return a shape of independent queries: a function of (rng, n, samples)."""
    return lambda rng, n, samples: (draw(rng, (n, samples)), np.arange(n), truth)


def wins(share, losses=0.0):
    """Draw differences of 1, of -1, and else of 0."""
    return lambda rng, size: ((u := rng.random(size)) < share).astype(float) - (u > 1 - losses)


def conversations(icc, longest=None):
    """Return a shape of conversations of 2 to 6 turns; with a `longest`, of 2 but for this one."""

    def draw(rng, n, samples):
        turns = [longest, *[2] * (n - 1)] if longest else rng.integers(2, 7, n)
        cluster = np.repeat(np.arange(n), turns)
        own = rng.normal(size=(len(cluster), samples))
        return np.sqrt(icc) * rng.normal(size=(n, samples))[cluster] + np.sqrt(1 - icc) * own, cluster, 0.0

    return draw


def sparse_conversations(rng, n, samples):
    """Return wins on 3 of 10 turns of 3 of 10 conversations, which have 2 to 16 turns, most of them few."""
    cluster = np.repeat(np.arange(n), 1 + np.minimum(rng.geometric(0.3, n), 15))
    here = (rng.random((n, samples)) < 0.3)[cluster]
    return here * (rng.random((len(cluster), samples)) < 0.3).astype(float), cluster, 0.09


SHAPES = {
    "normal": alone(lambda rng, size: rng.normal(size=size), 0.0),
    "exponential": alone(lambda rng, size: rng.exponential(size=size), 1.0),
    "5 % wins": alone(wins(0.05), 0.05),
    "10 % wins": alone(wins(0.1), 0.1),
    "10 % wins, 2 % losses": alone(wins(0.1, 0.02), 0.08),
    "conversations of 2 to 6": conversations(0.3),
    "conversations, sparse": sparse_conversations,
    "conversations, one of 20": conversations(0.6, 20),
}
NULLS = {
    **{f"60 of 2 to 6 turns, icc {icc}": (conversations(icc), 60) for icc in (0.0, 0.1, 0.3, 0.6)},
    **{f"30 of 2, one of {long}, icc 0.6": (conversations(0.6, long), 31) for long in (2, 10, 40)},
    **{f"{n} of 2, one of 40, icc 0.6": (conversations(0.6, 40), n + 1) for n in (10, 100, 400)},
}


def real_shapes(folder):
    """Return the differences of each pair of LitSearch runs by R@20, as shapes."""
    import permed_measures as pm

    root = Path(folder) / "litsearch"
    qrels = pm.read_qrels(root / "query_to_texts.jsonl")
    values = {
        path.stem: np.array([value.value for value in pm.iter_calc("R@20", qrels, path)])
        for path in sorted((root / "runs").iterdir())
    }
    pairs = {f"{b} - {a}": values[b] - values[a] for a, b in combinations(values, 2)}
    return {name: alone(lambda rng, size, d=d: rng.choice(d, size), d.mean()) for name, d in pairs.items()}


def coverage(shape, n, samples):
    """Return the share of samples whose interval holds."""
    values, cluster, truth = shape(np.random.default_rng([0, n]), n, samples)
    ends = [each.value or (np.nan, np.nan) for each in mean_intervals(values, cluster, LEVEL)]
    low, high = np.transpose(ends)
    return ((low <= truth + 1e-12) & (truth - 1e-12 <= high)).mean()


def rejections(shape, n, samples):
    """Return the shares that are rejected: by randomization and t-test, of queries and of conversations."""
    rng, shares = np.random.default_rng([1, n]), []
    for _ in range(samples // 100):  # those of a hundred share the turns and the random signs
        d, cluster, _ = shape(rng, n, 100)
        for units in (np.arange(len(d)), cluster):
            shares.append(
                (randomization_test(d, units, 2000, int(rng.integers(2**31))).p <= 1 - LEVEL).mean()
            )
            ends = np.array([each.value for each in mean_intervals(d, units, LEVEL)])
            shares.append((ends[:, 0] * ends[:, 1] > 0).mean())
    return np.reshape(shares, (-1, 4)).mean(axis=0)


def main(samples=4000):
    """Print the tables."""
    folder = os.environ.get("PERMED_DATA")
    shapes = {**SHAPES, **(real_shapes(folder) if folder else {})}
    print(f"Share of 95% intervals that hold, {samples:,} samples each; by chance within 0.95 ± 0.007.\n")
    print("  ".join(["shape".ljust(32), *(f"{f'n = {n}':8}" for n in SIZES)]).rstrip())
    for name, shape in shapes.items():
        cells = (f"{coverage(shape, n, samples):.3f}   " for n in SIZES)
        print("  ".join([name.ljust(32), *cells]).rstrip())
    print("\nRejections at 0.05 where the null hypothesis is true.\n")
    print("conversations                   randomization  t-test  by conversations  t-test")
    for name, null in NULLS.items():
        print("{:32}{:13.4f}{:8.4f}{:18.4f}{:8.4f}".format(name, *rejections(*null, samples)), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
