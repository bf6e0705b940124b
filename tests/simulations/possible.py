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
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import NamedTuple

import permed_measures as pm
from permed_measures.conventions.means import values_of_queries
from permed_measures.conventions.options import CUTOFF
from permed_measures.conventions.values import Ranked, label_policies
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.limits.row_conventions import conventions_of
from permed_measures.limits.rows import Conventions, Row
from permed_measures.papers.claims import parse_claims

OUTSIDE = {
    "dl19": ["BM25.trec.gz", "BM25_RM3.trec.gz"],
    "dl21": ["BM25.trec.gz", "BM25_RM3.trec.gz"],
    "tar17": ["ecnu.run2.trec.gz", "waterloo.A-thresh-normal.trec.gz"],
    "trec8": [],
}
"""Folders of ``data/outside``, and their runs; random ones where there are none."""
NAMES = [
    *("P@1", "P@5", "P@10", "P@20", "R@5", "R@20", "MRR", "MRR@10", "hit@5"),
    *("MAP", "MAP@10", "MAP@20", "nDCG", "nDCG@5", "nDCG@10"),
]


def random_qrels(rng, n_queries, top, mean):
    """Return qrels with numbers of judged documents that differ much, as in pooled collections."""
    qrels = {}
    for i in range(n_queries):
        n = int(rng.expovariate(1 / mean)) + 1
        qrels[f"q{i}"] = {f"d{j}": rng.choice([0, *range(1, top + 1), *range(1, top + 1)]) for j in range(n)}
        qrels[f"q{i}"]["first"] = 1
    return qrels


def random_run(rng, qrels):
    """Return a run that is better or worse, with lists of 5 to 20 documents."""
    strength, run = rng.choice((0.2, 0.5, 1, 1.5, 2, 3)), {}
    for query, docs in qrels.items():
        pool = [*docs, *(f"x{i}" for i in range(20))]
        score = {doc: rng.gauss(0, 1) + strength * max(docs.get(doc, 0), 0) for doc in pool}
        best = sorted(score, key=score.get, reverse=True)[: rng.choice((5, 10, 20))]
        run[query] = {doc: -float(place) for place, doc in enumerate(best)}
    return run


def printed(rng, value, digits):
    """Print a mean in one of the ways that are in use."""
    unit, exact = Decimal(1).scaleb(-digits), Decimal(repr(value))
    way = rng.randrange(4)
    if way == 3:  # first to five digits, as some tools do
        exact, way = Decimal(repr(round(value, 5))), 0
    return str(exact.quantize(unit, (ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_DOWN)[way]))


class TrueRow(NamedTuple):
    """A row as it is printed, the convention that it was made by, and whether that is refuted."""

    refuted: bool | None
    texts: dict
    convention: dict


def true_row(rng, conventions, run):
    """Return a run's row by some convention; None if that has no bounds."""
    [claims] = parse_claims([dict.fromkeys(rng.sample(NAMES, rng.randint(1, 6)), "0.5")])
    convention = rng.choice(conventions_of(claims, list(conventions.policies.values())))
    group = conventions.group(convention, claims)
    if group is None:
        return None
    judgments = group.labels.judgments
    ranked = Ranked(group.labels, JudgedRankings.of(judgments, run))
    counted = judgments.num_rel(1) > 0 if convention["queries"] == "with_relevant" else slice(None)
    texts, digits = {}, rng.randint(2, 4)
    for claim in claims:
        values = values_of_queries(claim.measure, convention[CUTOFF + claim.name], convention, ranked)
        texts[claim.name] = printed(rng, float(values[counted].mean()), digits)
    [claims] = parse_claims([texts])
    return TrueRow(Row(claims).limits(group).refuted, texts, convention)


def true_rows(rng, qrels, runs):
    """Yield rows of the runs."""
    conventions = Conventions(label_policies(Judgments.of(qrels)))
    return filter(None, (true_row(rng, conventions, run) for run in runs))


def main(n_rows=500):
    """Count what is said of rows of random runs, and of those of ``data/outside``: None is not checked."""
    rng, counts, data = random.Random(7), Counter(), os.environ.get("PERMED_DATA")
    while counts.total() < n_rows:
        size = rng.choice([1, 5, 20, 60, 150]), rng.choice([1, 2, 3]), rng.choice([3, 8, 20])
        qrels = random_qrels(rng, *size)
        counts.update(row.refuted for row in true_rows(rng, qrels, [random_run(rng, qrels)] * 5))
    print("refuted of random runs", dict(counts), flush=True)
    for name, runs in OUTSIDE.items() if data else ():
        folder = Path(data, "outside", name)
        qrels = pm.read_qrels(folder / "qrels.txt.gz")
        read = [pm.read_run(folder / run) for run in runs] or [random_run(rng, qrels)]
        counts = Counter(row.refuted for row in true_rows(rng, qrels, 20 // len(read) * read))
        print(f"refuted of {name}", dict(counts), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
