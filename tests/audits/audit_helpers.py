"""Data, claims and the command for the tests of audits."""

import random
import re
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from functools import cache

from audit_loops import ALL_SETTINGS, DEFAULT, Plain, choices_for, is_off
from commands import run_cli

import permed_measures as pm
from permed_measures.audits.choices import APChoice
from permed_measures.audits.conventions import COMMUNITY
from permed_measures.audits.levels import LevelChoice
from permed_measures.audits.options import Denominator, Weights
from permed_measures.papers.claims import parse_claims

PUBLISHED = {
    "keyword": ("0.0112", "0.1583"),
    "bm25": ("0.0534", "0.5683"),
    "neural_embedding": ("0.0529", "0.5844"),
    "single_llm": ("0.0570", "0.5456"),
    "scholarloop_a": ("0.0625", "0.6592"),
}


AP, HALF = APChoice(Denominator.NUM_REL, Weights.BINARY), APChoice(Denominator.NUM_REL, Weights.HALF)


@cache
def graded(top):
    """Return graded data of depth 50: ties, missing queries, documents with the id of the query."""
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


def plain_litsearch(data):
    folder = data / "litsearch"
    qrels = pm.read_qrels(folder / "query_to_texts.jsonl")
    return {name: Plain(qrels, pm.read_run(folder / "runs" / f"{name}.jsonl")) for name in PUBLISHED}


NAMES = {
    "AP": ["MAP@10", "map@20", "MAP", "gradedmap@10", "AP@5"],
    "nDCG": ["nDCG@10", "ndcg_cut_5", "NDCG@20", "ndcg"],
    "P": ["P@10", "P_5", "precision@1"],
    "R": ["R@20", "recall_5", "recall@10"],
    "RR": ["MRR@10", "recip_rank"],
    "Success": ["hit@5", "coverage@10"],
}


def random_claim(rng, plain, measure, setting, choice=None):
    """Return a name, the choice and the cutoff of a number between -1 and 1, and the number."""
    for _ in range(100):
        name = rng.choice(NAMES[measure])
        chosen = choice or rng.choice(choices_for(measure, plain, setting.labels))
        cutoffs = parse_claims([{name: "0.5"}])[0][0].cutoffs
        cutoff = rng.choice([each for each in cutoffs if not is_off(measure, cutoffs, each)])
        value = plain.mean(measure, setting, chosen, cutoff)
        if abs(value) <= 1:
            return name, chosen, cutoff, value
        choice = None
    raise AssertionError("all values are above 1")


def printed(rng, value):
    """Return a number as somebody might print it."""
    way = rng.randrange(5)
    if way == 0:
        return f"{value:.4f}"
    if way == 1:
        return str(Decimal(str(value)).quantize(Decimal("1.0000"), rounding=ROUND_HALF_UP))
    if way == 2:
        return str(Decimal(str(value)).quantize(Decimal("1.0000"), rounding=ROUND_HALF_EVEN))
    text = f"{value * 100:.2f}"
    return text if way == 3 and abs(float(text)) > 1 else f"{text}%"


def random_setting(rng):
    return rng.choice(ALL_SETTINGS)


ROW = {
    "MAP@10": ("AP", "ap"),
    "nDCG@10": ("nDCG", "ndcg"),
    "P@5": ("P", "level"),
    "R@20": ("R", "level"),
    "MRR@10": ("RR", "level"),
    "hit@1": ("Success", "level"),
}


def row_by(named, plain):
    """Return a row of claims as a convention with a name makes it."""
    return {
        name: f"{plain.mean(m, named.setting, named.choice(family), int(name.split('@')[1])):.4f}"
        for name, (m, family) in ROW.items()
        if named.has(family)
    }


@cache
def binary():
    """Return binary labels, some of them 0, and two runs that lack queries."""
    rng = random.Random(5)
    qrels, runs = {}, {"first": {}, "second": {}}
    for i in range(41):
        query = f"q{i}"
        qrels[query] = {f"d{j}": int(rng.random() < 0.4) for j in rng.sample(range(40), 12)}
        for missing, run in enumerate(runs.values(), start=2):
            if i % 7 != missing:
                run[query] = {f"d{j}": rng.random() for j in rng.sample(range(40), 20)}
    return qrels, runs


def row_made(plain, setting, ap, digits=4):
    return {
        "MAP@10": f"{plain.mean('AP', setting, ap, 10):.{digits}f}",
        "P@10": f"{plain.mean('P', setting, LevelChoice(1.0), 10):.{digits}f}",
        "nDCG@10": f"{plain.mean('nDCG', setting, COMMUNITY.choice('ndcg'), 10):.{digits}f}",
    }


def row_of_ap(qrels, run, name, cutoff, choice=AP):
    return {name: f"{Plain(qrels, run).mean('AP', DEFAULT, choice, cutoff):.6f}"}


def audit_cli(*arguments, status=0):
    """Return stdout of the command in this process."""
    return run_cli("audit", *arguments, status=status)[0]


def unwrapped(text):
    """Return a report with each paragraph in one line."""
    return re.sub(r"\n {4}(?=\S)", " ", str(text))
