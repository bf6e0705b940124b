"""Rows that runs have are never refuted by the convention they were made by; how many others are.

Rows of up to six measures are made from random runs and from those of ``data/outside``, by any convention
that `possible` tries, and printed with two to four digits: rounded, rounded twice or cut off. Then rows with
AP made in one of three ways are asked for by each of the three; of a wrong one, only where it would print
another number.

    python tests/simulations/possible.py [rows] [columns of the second part]

With PERMED_DATA, rows are also made on real qrels.
"""

import os
import random
import sys
from collections import Counter
from pathlib import Path

sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("", "limits")]

from limit_rows import Rows, convention_of, printed, random_qrels, random_run, true_row, verdict

import permed_measures as pm
from permed_measures.conventions.values import Ranked, values_of_queries
from permed_measures.datasets.samples import SAMPLES
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.limits.rows import Row
from permed_measures.papers.claims import parse_claims

AP_CHOICES = {
    "AP": {},
    "half of AP": {"weights": "half"},
    "min(R, k)": {"denominator": "min"},
}
COLUMNS = {
    3: ("P@1", "MAP@10", "nDCG@10"),
    6: ("P@1", "P@10", "R@10", "MRR@10", "MAP@10", "nDCG@10"),
}

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


QRELS = {
    "100 queries, binary, 20 documents": random_qrels(random.Random(1), 100, 1, 20),
    "300 queries, binary, 8 documents": random_qrels(random.Random(2), 300, 1, 8),
    "40 queries, grades 1 and 2, 8 documents": random_qrels(random.Random(3), 40, 2, 8),
    **{f"permed-sample, {sample.name}": pm.read_qrels(sample.qrels) for sample in SAMPLES},
}
for folder in ("litsearch", "medcorpus") if DATA else ():
    QRELS[folder] = plain(pm.read_qrels(DATA / folder / "query_to_texts.jsonl"))


def true_rows(n_rows):
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


def made(rng, rows, columns):
    """Return the claims of a row, how its AP was made, and what each way to make it is called."""
    rankings = JudgedRankings.of(rows.judgments, random_run(rng, rows.qrels))
    true = rng.choice(list(AP_CHOICES))
    gain = rng.choice(("linear", "exp"))
    [claims] = parse_claims([dict.fromkeys(columns, "0.5")])
    ranked = Ranked(rows.labels, rankings)
    made = convention_of(claims, **AP_CHOICES[true], gain=gain)
    row = {
        claim.name: float(values_of_queries(claim.measure, claim.cutoffs[0], made, ranked).mean())
        for claim in claims
    }
    [claims] = parse_claims([{name: printed(rng, value) for name, value in row.items()}])
    found = {}
    for name, options in AP_CHOICES.items():
        convention = convention_of(claims, **options, gain=gain)
        group = rows.conventions.group(convention, claims)
        value = float(values_of_queries("AP", 10, convention, ranked).mean())
        same = abs(value - row["MAP@10"]) < 1e-4
        if name == true or not same:
            found[name] = group and Row(claims).limits(group)
    return claims, true, found


def outcomes(qrels, n_rows, columns, seed):
    """Count by how AP was made, how it is taken, and what is said of that."""
    rng, rows, counts = random.Random(seed), Rows(qrels), Counter()
    for _ in range(n_rows):
        _, true, found = made(rng, rows, columns)
        for name, limits in found.items():
            if limits:
                counts[true, name, verdict(limits)] += 1
    return counts


def wrong_rows(n_rows, n_columns):
    """Say how many of three ways to make AP are refuted where another one is true."""
    total = Counter()
    for number, (name, qrels) in enumerate(QRELS.items()):
        counts = outcomes(qrels, n_rows // (len(QRELS) * len(COLUMNS)), COLUMNS[n_columns], number)
        table = Counter()
        for (way, taken, said), n in counts.items():
            table["true" if way == taken else "wrong", said] += n
            total[way, "taken for", taken, said] += n
        print(n_columns, "columns", name, dict(table), flush=True)
    print(n_columns, "columns", *total.items(), sep="\n  ", flush=True)


if __name__ == "__main__":
    n_rows, *chosen = map(int, sys.argv[1:] or [500])
    true_rows(n_rows)
    for n_columns in chosen or COLUMNS:
        wrong_rows(n_rows, n_columns)
