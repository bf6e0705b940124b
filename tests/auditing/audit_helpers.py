"""Data, claims and the command for the tests of audits."""

import random
import re
from functools import cache

from audit_loops import DEFAULT, Plain

from permed_measures.auditing.measured_claims import MeasuredClaim
from permed_measures.conventions.ranking_variants import RunVariants, label_policies
from permed_measures.engine.judgments import Judgments
from permed_measures.published_tables.claims import parse_claims

AP, HALF = DEFAULT, {"weights": "half"}


@cache
def graded(top):
    """Make graded data of depth 50, with ties, missing queries, documents with the id of the query."""
    rng = random.Random(top)
    qrels, run = {}, {}
    for i in range(37):
        query = f"q{i}"
        pool = [query, *(f"d{j}" for j in range(119))]
        judged = rng.sample(pool, rng.randint(5, 60))
        grades = [-1, 0] if i in (3, 17) else [-1, 0, 0, 1, 1, *range(2, top + 1)]
        qrels[query] = {doc: rng.choice(grades) for doc in judged}
        if i % 9 != 4:
            docs = rng.sample(pool, 50)
            run[query] = {doc: rng.randrange(25) / 10 + qrels[query].get(doc, 0) / 2 for doc in docs}
    run["extra1"] = run["extra2"] = {"d1": 1.0}
    return qrels, run


@cache
def plain_graded(top):
    return Plain(*graded(top))


@cache
def binary():
    """Make binary labels, some of them 0, and two runs that lack queries."""
    rng = random.Random(5)
    qrels, runs = {}, {"first": {}, "second": {}}
    for i in range(41):
        query = f"q{i}"
        qrels[query] = {f"d{j}": int(rng.random() < 0.4) for j in rng.sample(range(40), 12)}
        for missing, run in enumerate(runs.values(), start=2):
            if i % 7 != missing:
                run[query] = {f"d{j}": rng.random() for j in rng.sample(range(40), 20)}
    return qrels, runs


NAMES = {"MAP@10": "AP", "P@10": "P", "nDCG@10": "nDCG"}


def row_made(plain, how, digits=4, names=NAMES):
    """Compute a row of claims by a convention; `names` maps the name of each claim to its measure."""
    values = {name: plain.mean(measure, how, int(name.split("@")[1])) for name, measure in names.items()}
    return {name: f"{value:.{digits}f}" for name, value in values.items()}


def trials_of(qrels, run, row):
    """Parse a row of claims about a run."""
    variants = RunVariants(label_policies(Judgments.of(qrels)), run)
    return [MeasuredClaim("run", claim, variants) for claim in parse_claims([row])[0]]


def printed_as(trial, text):
    """Make the claim with another printed number."""
    return trial.with_claim(trial.claim.printed_as(text))


def unwrapped(text):
    """Join each paragraph of a report to one line."""
    return re.sub(r"\n {4}(?=\S)", " ", str(text))
