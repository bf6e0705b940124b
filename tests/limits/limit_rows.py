"""Rows made from runs under known conventions, and what is called possible of them."""

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import NamedTuple

from permed_measures.conventions.options import CUTOFF, DEFAULT
from permed_measures.conventions.values import Ranked, label_policies, values_of_queries
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.limits.row_conventions import conventions_of
from permed_measures.limits.rows import Conventions, Row
from permed_measures.papers.claims import parse_claims


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


def printed(rng, value, digits=4):
    """Print a mean in one of the ways that are in use."""
    unit, exact = Decimal(1).scaleb(-digits), Decimal(repr(value))
    way = rng.randrange(4)
    if way == 3:  # first to five digits, as some tools do
        exact, way = Decimal(repr(round(value, 5))), 0
    return str(exact.quantize(unit, (ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_DOWN)[way]))


def convention_of(claims, **options):
    """Return the community's convention with other values of some options."""
    return {**DEFAULT, **options, **{CUTOFF + claim.name: claim.cutoffs[0] for claim in claims}}


class Rows:
    """Makes rows on some qrels."""

    def __init__(self, qrels):
        self.qrels, self.judgments = qrels, Judgments.of(qrels)
        self.labels, *_ = policies = label_policies(self.judgments)
        self.conventions = Conventions(policies)


def verdict(limits):
    """Return what is said of a convention."""
    return {True: "refuted", False: "not refuted", None: "not checked"}[limits.refuted]


# --- true rows by any convention ---

NAMES = [
    *("P@1", "P@5", "P@10", "P@20", "R@5", "R@20", "MRR", "MRR@10", "hit@5"),
    *("MAP", "MAP@10", "MAP@20", "nDCG", "nDCG@5", "nDCG@10"),
]


class TrueRow(NamedTuple):
    verdict: str
    texts: dict
    convention: dict


def true_row(rng, rows, run):
    """Return what is said of a run's row by the convention it was made by; None if that is left out."""
    [claims] = parse_claims([dict.fromkeys(rng.sample(NAMES, rng.randint(1, 6)), "0.5")])
    convention = rng.choice(conventions_of(claims, list(rows.conventions.policies.values())))
    group = rows.conventions.group(convention, claims)
    if group is None:
        return None
    ranked = Ranked(group.labels, JudgedRankings.of(group.labels.judgments, run))
    texts, digits = {}, rng.randint(2, 4)
    for claim in claims:
        texts[claim.name] = printed(rng, mean_of(claim, convention, ranked), digits)
    [claims] = parse_claims([texts])
    limits = Row(claims).limits(group)
    return TrueRow(verdict(limits), texts, convention)


def mean_of(claim, convention, ranked):
    """Return the mean over the queries that a convention counts."""
    cutoff, judgments = convention[CUTOFF + claim.name], ranked.rankings.judgments
    counted = judgments.num_rel(1) > 0 if convention["queries"] == "with_relevant" else slice(None)
    return float(values_of_queries(claim.measure, cutoff, convention, ranked)[counted].mean())
