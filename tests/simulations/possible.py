"""Rows that runs have are never refuted by the convention they were made by.

Rows of up to six measures are made from random runs and from those of ``data/outside``, by any convention
that `possible` tries, and printed with two to four digits: rounded, rounded twice or cut off. Others are made
by each convention with a name, as an audit computes it, from runs that may lack queries. The counts that a
report names for a number are compared with all that are printed so.

    python tests/simulations/possible.py [rows]

With PERMED_DATA, rows are also made on real qrels.
"""

import os
import random
import sys
from collections import Counter
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import numpy as np

import permed_measures as pm
from permed_measures.conventions.evaluate import values_of_queries
from permed_measures.conventions.named import NAMED
from permed_measures.conventions.options import CUTOFF_OF, query_set_index
from permed_measures.conventions.per_query import LabelledRanking
from permed_measures.conventions.ranking_variants import RunVariants, label_policies
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.feasibility.candidates import candidate_conventions, named_of, shared_by_all
from permed_measures.feasibility.rows import Conventions, RowBudget
from permed_measures.published_tables.claims import parse_claims

sys.path.append(str(Path(__file__).parents[1]))  # where this is not imported by a test
from printing import texts_of

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


def printed(rng, value, digits, five_digits=False):
    """Print a mean in one of the ways that are in use, without what its sum is off by."""
    unit, exact = Decimal(1).scaleb(-digits), Decimal(repr(round(value, 12)))
    way = rng.randrange(4)
    if way == 3 or five_digits:  # first to five digits, as some tools do
        exact, way = Decimal(repr(round(value, 5))), way % 3
    return str(exact.quantize(unit, (ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_DOWN)[way]))


class TrueRow(NamedTuple):
    """A row as it is printed, what it was made by, and whether that is refuted.

    `lacks_queries` is whether it is for every run with results for all queries.
    """

    refuted: bool | None
    lacks_queries: bool
    texts: dict
    made_by: dict


def true_row(rng, conventions, run):
    """Return a run's row by some convention; None if that has no bounds."""
    [claims] = parse_claims([dict.fromkeys(rng.sample(NAMES, rng.randint(1, 6)), "0.5")])
    convention = rng.choice(candidate_conventions(claims, list(conventions.policies.values())))
    group = conventions.group(convention, claims)
    if group is None:
        return None
    judgments = group.labels.judgments
    ranked = LabelledRanking(group.labels, JudgedRankings.of(judgments, run))
    counted = (
        judgments.num_rel(1) > 0
        if shared_by_all(convention)["queries"].endswith("with_relevant")
        else slice(None)
    )
    texts, digits = {}, rng.randint(2, 4)
    for claim in claims:
        options = convention[claim.measure]
        values = values_of_queries(claim.measure, options[CUTOFF_OF + claim.name], options, ranked)
        texts[claim.name] = printed(rng, float(values[counted].mean()), digits)
    [claims] = parse_claims([texts])
    [limits] = RowBudget(claims).limits(group)
    return TrueRow(limits.refuted, limits.lacks_queries, texts, convention)


def true_rows(rng, qrels, runs):
    """Yield rows of the runs."""
    conventions = Conventions(label_policies(Judgments.of(qrels)))
    return filter(None, (true_row(rng, conventions, run) for run in runs))


# --- by conventions with a name, of runs that lack queries ------------------------------------------


def small_qrels(rng):
    """Return qrels of one to twelve queries with few documents each, some with none that is relevant."""
    grades = rng.choice([(0, 1), (0, 1, 2), (-1, 0, 1, 2), (0, 1, 2, 3), (0, 0.5, 1, 2)])
    n_queries = rng.choice((1, 2, 3, 5, 8, 12))
    qrels = {
        f"q{i}": {f"d{j}": rng.choice(grades) for j in range(rng.randint(1, 7))} for i in range(n_queries)
    }
    qrels["q0"]["d0"] = grades[-1]
    return qrels


def small_run(rng, qrels):
    """Return a run with ties, short and empty lists, that may lack queries or have others."""
    lacking, strength, digits = rng.choice((0, 0, 0.2, 0.6, 0.9)), rng.choice((0, 1, 3)), rng.choice((0, 3))
    run = {}
    for query, docs in qrels.items():
        if rng.random() >= lacking:
            pool = [*docs, *(f"x{i}" for i in range(6)), query]
            rng.shuffle(pool)
            score = {d: round(rng.gauss(0, 1) + strength * max(docs.get(d, 0), 0), digits) for d in pool}
            best = sorted(pool, key=lambda doc, of=score: -of[doc])[: rng.choice((0, 1, 3, 8, 99))]
            run[query] = {doc: score[doc] for doc in pool if doc in best}
    return run | ({"other": {"d0": 1.0}} if rng.random() < 0.3 else {})


def texts_by(rng, named, run, claims):
    """Print the row of a run by a convention with a name, as an audit computes it; {} if it has none."""
    texts, digits, percent = {}, rng.randint(2, 4), rng.random() < 0.2
    for claim in claims:
        seen = named.of(claim.measure)
        means = run.means(claim.measure, claim.cutoffs[0], seen)
        value = np.nan if means is None else float(means[query_set_index(seen["queries"])])
        if -1 <= value <= 1 or (claim.measure == "AP" and not percent and value > 1):
            text = printed(rng, value, digits, five_digits=seen["rounding"] == "five_digits")
            texts[claim.name] = f"{Decimal(text).scaleb(2):f}%" if percent else text
    return texts


def true_row_by(rng, named, most=6):
    """Return a small run's row by a convention with a name; None if that has no bounds, or no row here."""
    qrels = small_qrels(rng)
    run, policies = small_run(rng, qrels), label_policies(Judgments.of(qrels))
    variants = RunVariants(policies, run)
    [claims] = parse_claims([dict.fromkeys(rng.sample(NAMES, rng.randint(1, most)), "0.5")])
    texts = texts_by(rng, named, variants, [claim for claim in claims if named.has(claim.measure)])
    if not texts:
        return None
    [claims], conventions = parse_claims([texts]), Conventions(policies, [named])
    claims = [claim for claim in claims if conventions.can_bound(claim)]
    for labels in policies if claims else ():
        for _, convention in named_of(claims, labels, [named]):
            if group := conventions.group(convention, claims):
                [limits] = RowBudget(claims).limits(group)
                made_by = {"named": named, "qrels": qrels, "run": run}
                return TrueRow(limits.refuted, limits.lacks_queries, texts, made_by)
    return None


def true_rows_by(rng, named, n_rows, most=6):
    """Yield so many rows, by one convention after the other."""
    for each in cycle(named):
        if n_rows <= 0:
            return
        if row := true_row_by(rng, each, most):
            n_rows -= 1
            yield row


# --- counts that are printed as a number --------------------------------------------------------------


def printed_counts(rng, n_rows):
    """Yield what a report must say of a count, "" for nothing, and whether it says just that."""
    for _ in range(n_rows):
        n_queries, digits = rng.randint(2, 60), rng.randint(2, 4)
        qrels = {f"q{i}": {f"d{j}": 1 for j in range(rng.choice((1, 2, 3)))} for i in range(n_queries)}
        totals = {"P@1": n_queries, "P@5": 5 * n_queries, "hit@5": n_queries, "P@10": 10 * n_queries}
        name = rng.choice(list(totals))
        total = totals[name]
        text = rng.choice(sorted(texts_of(rng.randint(0, total // 2), total, digits)))
        if rng.random() < 0.2:
            text = f"{rng.random():.{digits}f}"
        hits = [n for n in range(total + 1) if text in texts_of(n, total, digits)]
        said, claim = f" {' '.join(str(pm.possible(qrels, {name: text})).split())} ", f"{name} {text}"
        wanted = ""
        if not hits:
            wanted = f"{claim} is not a multiple of 1/{total:,}."
        elif total < 10**digits:
            wanted = f" {claim} is {' or '.join(f'{each:,}' for each in hits)} of {total:,} "
        yield wanted, wanted in said if wanted else f" {claim} is " not in said


def main(n_rows=500):
    """Count what is said of rows of random runs, and of those of ``data/outside``: None is not checked."""
    rng, counts, data = random.Random(7), Counter(), os.environ.get("PERMED_DATA")
    while counts.total() < n_rows:
        size = rng.choice([1, 5, 20, 60, 150]), rng.choice([1, 2, 3]), rng.choice([3, 8, 20])
        qrels = random_qrels(rng, *size)
        counts.update(row.refuted for row in true_rows(rng, qrels, [random_run(rng, qrels)] * 5))
    print("refuted of random runs", dict(counts), flush=True)
    counts = Counter(row.refuted for row in true_rows_by(rng, NAMED, 4 * n_rows))
    print("refuted by a name, of runs that may lack queries", dict(counts), flush=True)
    counts = Counter(is_right for _, is_right in printed_counts(rng, n_rows))
    print("counts named rightly", dict(counts), flush=True)
    for name, runs in OUTSIDE.items() if data else ():
        folder = Path(data, "outside", name)
        qrels = pm.read_qrels(folder / "qrels.txt.gz")
        read = [pm.read_run(folder / run) for run in runs] or [random_run(rng, qrels)]
        counts = Counter(row.refuted for row in true_rows(rng, qrels, 20 // len(read) * read))
        print(f"refuted of {name}", dict(counts), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
