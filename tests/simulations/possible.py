"""Rows that runs have are never refuted by the convention they were made by.

Rows of up to six measures are made from random runs and from those of ``data/outside``, by any convention
that `possible` tries, and printed with two to four digits: rounded, rounded twice or cut off.

    python tests/simulations/possible.py [rows]

With PERMED_DATA, rows are also made on real qrels.
"""

import os
import random
import sys
from collections import Counter
from pathlib import Path

sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("", "limits")]

from limit_rows import Rows, random_qrels, random_run, true_row

import permed_measures as pm

DATA = Path(os.environ["PERMED_DATA"]) if "PERMED_DATA" in os.environ else None
OUTSIDE = {
    "dl19": ["BM25.trec.gz", "BM25_RM3.trec.gz"],
    "dl21": ["BM25.trec.gz", "BM25_RM3.trec.gz"],
    "tar17": ["ecnu.run2.trec.gz", "waterloo.A-thresh-normal.trec.gz"],
    "trec8": [],
}
"""Folders of ``data/outside``, and their runs; random ones where there are none."""


def plain(qrels):
    return {query: dict(docs) for query, docs in qrels.items()}


def main(n_rows=500):
    """Say what is said of rows of random runs, and of those of ``data/outside``."""
    rng, counts = random.Random(7), Counter()
    while counts.total() < n_rows:
        qrels = random_qrels(
            rng, rng.choice([1, 5, 20, 60, 150]), rng.choice([1, 2, 3]), rng.choice([3, 8, 20])
        )
        rows = Rows(qrels)
        count(counts, rng, rows, [random_run(rng, qrels) for _ in range(5)])
    print("true rows of random runs", dict(counts), flush=True)
    for name, runs in OUTSIDE.items() if DATA else ():
        qrels, counts = plain(pm.read_qrels(DATA / "outside" / name / "qrels.txt.gz")), Counter()
        read = [pm.read_run(DATA / "outside" / name / run) for run in runs]
        rows = Rows(qrels)
        count(counts, rng, rows, 10 * (read or [random_run(rng, qrels), random_run(rng, qrels)]))
        print("true rows of", name, dict(counts), flush=True)


def count(counts, rng, rows, runs):
    for run in runs:
        found = true_row(rng, rows, run)
        if found is not None:
            counts[found.verdict] += 1
            if found.verdict == "refuted":
                print(found)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
