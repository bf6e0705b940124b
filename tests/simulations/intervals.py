"""How often 95% intervals hold the truth, and by how much the shape of the data matters.

A row is a shape of differences, a column a number of queries, or of conversations; of each are drawn so many
samples, with replacement. A cell is the share of samples whose interval has the true mean; one without an
interval has not. Real differences are those of LitSearch runs by R@20: the folder PERMED_DATA has them.

    python tests/simulations/intervals.py [trials]
"""

import os
import sys
from itertools import combinations
from pathlib import Path

import numpy as np

from permed_measures.intervals import mean_intervals

LEVEL = 0.95
SIZES = (10, 20, 30, 50, 100)


def alone(draw, truth):
    """Return a shape of independent queries: a function of (rng, n, trials)."""
    return lambda rng, n, trials: (draw(rng, (n, trials)), np.arange(n), truth)


def wins(share, losses=0.0):
    """Draw differences of 1, of -1, and else of 0."""
    return lambda rng, size: ((u := rng.random(size)) < share).astype(float) - (u > 1 - losses)


def normal_conversations(rng, n, trials):
    """Return normal differences of conversations of 2 to 6 turns, of icc 0.3."""
    cluster = np.repeat(np.arange(n), rng.integers(2, 7, n))
    own = rng.normal(size=(len(cluster), trials))
    return np.sqrt(0.3) * rng.normal(size=(n, trials))[cluster] + np.sqrt(0.7) * own, cluster, 0.0


def sparse_conversations(rng, n, trials):
    """Return wins on 3 of 10 turns of 3 of 10 conversations, which have 2 to 16 turns, most of them few."""
    cluster = np.repeat(np.arange(n), 1 + np.minimum(rng.geometric(0.3, n), 15))
    here = (rng.random((n, trials)) < 0.3)[cluster]
    return here * (rng.random((len(cluster), trials)) < 0.3).astype(float), cluster, 0.09


def one_long_conversation(rng, n, trials):
    """Return normal differences of conversations of 2 turns but for one of 20, of icc 0.6."""
    cluster = np.repeat(np.arange(n), [20, *[2] * (n - 1)])
    own = rng.normal(size=(len(cluster), trials))
    return np.sqrt(0.6) * rng.normal(size=(n, trials))[cluster] + np.sqrt(0.4) * own, cluster, 0.0


SHAPES = {
    "normal": alone(lambda rng, size: rng.normal(size=size), 0.0),
    "exponential": alone(lambda rng, size: rng.exponential(size=size), 1.0),
    "5 % wins": alone(wins(0.05), 0.05),
    "10 % wins": alone(wins(0.1), 0.1),
    "10 % wins, 2 % losses": alone(wins(0.1, 0.02), 0.08),
    "conversations of 2 to 6": normal_conversations,
    "conversations, sparse": sparse_conversations,
    "conversations, one of 20": one_long_conversation,
}


def real_shapes(folder):
    """Return the differences of each pair of LitSearch runs by R@20, as shapes."""
    import permed_measures as pm

    root = Path(folder) / "litsearch"
    qrels = pm.read_qrels(root / "query_to_texts.jsonl")
    runs = {path.stem: pm.read_run(path) for path in sorted((root / "runs").iterdir())}
    by_run = {
        name: np.array([value.value for value in pm.iter_calc(["R@20"], qrels, run)])
        for name, run in runs.items()
    }
    return {
        f"{b} - {a}": alone(
            lambda rng, size, d=by_run[b] - by_run[a]: rng.choice(d, size), (by_run[b] - by_run[a]).mean()
        )
        for a, b in combinations(by_run, 2)
    }


def coverage(shape, n, trials, seed=0):
    """Return the share of samples whose interval holds."""
    rng = np.random.default_rng([seed, n])
    values, cluster, truth = shape(rng, n, trials)
    ends = [each.value or (np.nan, np.nan) for each in mean_intervals(values, cluster, LEVEL)]
    low, high = np.transpose(ends)
    return ((low <= truth + 1e-12) & (truth - 1e-12 <= high)).mean()


def main(trials=4000):
    """Print the table."""
    folder = os.environ.get("PERMED_DATA")
    shapes = {**SHAPES, **(real_shapes(folder) if folder else {})}
    print(f"Share of 95% intervals that hold, {trials:,} samples each; by chance within 0.95 ± 0.007.\n")
    print("  ".join(["shape".ljust(32), *(f"{f'n = {n}':8}" for n in SIZES)]).rstrip())
    for name, shape in shapes.items():
        cells = (f"{coverage(shape, n, trials):.3f}   " for n in SIZES)
        print("  ".join([name.ljust(32), *cells]).rstrip())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
