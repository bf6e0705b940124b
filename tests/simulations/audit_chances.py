"""How often the audit explains numbers that have nothing to do with a run, against the chance it says.

Arbitrary numbers within 0.03 of the true ones, one to three of a row, in three and four digits. Said: the
mean of the chance that any convention would explain such a row. Seen: the share of rows that one convention
explains. Then the shares of rows of which all was called certain or likely. At last typos: one other digit in
one of three numbers, how many of these are explained, and how many as made differently, for a fact.

    PERMED_DATA=... python tests/simulations/audit_chances.py [trials]
"""

import os
import random
import sys
from pathlib import Path

import permed_measures as pm
from permed_measures.audits.answers import RowAudit
from permed_measures.audits.audit import audit_of
from permed_measures.audits.chances import joint_chance
from permed_measures.datasets import SAMPLES

NEAR = 0.03
MANY = 99
"""More changes than any convention has."""
ROWS = {
    "graded": {"nDCG@10": "VariantNDCG(negative='keep')@10", "MAP@10": "GradedAP@10", "P@1": "P@1"},
    "binary": {"nDCG@10": "nDCG@10", "MAP@10": "AP@10", "R@20": "R@20"},
}


def data_sets():
    """Yield the name, the kind of labels, qrels and a run of each set of data that is there."""
    sample = SAMPLES[0]
    yield "sample", "graded", pm.read_qrels(sample.qrels), pm.read_run(sample.runs["bm25"])
    if "PERMED_DATA" in os.environ:
        data = Path(os.environ["PERMED_DATA"])
        labels = data / "medcorpus" / "query_to_texts.jsonl"
        yield "MedCorpus", "graded", pm.read_qrels(labels), pm.read_run(labels)
        folder = data / "litsearch"
        run = pm.read_run(folder / "runs" / "bm25.jsonl")
        yield "LitSearch", "binary", pm.read_qrels(folder / "query_to_texts.jsonl"), run


def row_of(kind, qrels, run, digits):
    """Return the true row, audited, and its values."""
    measures = ROWS[kind]
    values = list(pm.calc_aggregate(measures.values(), qrels, run).values())
    row = {name: f"{value:.{digits}f}" for name, value in zip(measures, values, strict=True)}
    return pm.audit(qrels, run, row).rows[0].claims, values


def shares(claims, values, digits, trials, rng):
    """Return the mean chance, the share of rows explained, and the shares called certain and likely."""
    said = seen = certain = likely = 0
    for _ in range(trials):
        texts = (f"{max(value + rng.uniform(-NEAR, NEAR), 0):.{digits}f}" for value in values)
        row = [claim.printed_as(text) for claim, text in zip(claims, texts, strict=True)]
        said += joint_chance(row, MANY).value / trials
        result = audit_of([RowAudit("run", row, [])])
        seen += result.ok / trials
        certain += (result.ok and result.verdict == "certain") / trials
        likely += (result.ok and result.verdict == "likely") / trials
    return said, seen, certain, likely


def typos(claims):
    """Return how many typos there are, how many are explained, and how many as made differently."""
    n, explained, different = 0, 0, 0
    for place, claim in enumerate(claims):
        text = claim.claim.text
        for digit in range(2, len(text)):
            for other in set("0123456789") - {text[digit]}:
                typo = claim.printed_as(text[:digit] + other + text[digit + 1 :])
                result = audit_of([RowAudit("run", [*claims[:place], typo, *claims[place + 1 :]], [])])
                status = result.to_polars()["status"][place]
                n, explained = n + 1, explained + (status != "unexplained")
                different += status in ("made differently", "explained")
    return n, explained, different


def main(trials=300):
    """Print the tables."""
    print("data       claims  digits   said   seen  certain  likely")
    rng = random.Random(0)
    found = []
    for name, kind, qrels, run in data_sets():
        for digits in (3, 4):
            claims, values = row_of(kind, qrels, run, digits)
            for n in (1, 2, 3):
                said, *others = shares(claims[:n], values[:n], digits, trials, rng)
                seen, certain, likely = (f"{share:.3f}" for share in others)
                print(f"{name:10} {n:6}  {digits:6}  {said:5.3f}  {seen}    {certain}   {likely}", flush=True)
            found.append((name, digits, *typos(claims)))
    print("\ndata       digits  typos  explained  called made differently")
    for name, digits, n, explained, different in found:
        print(f"{name:10} {digits:6}  {n:5}  {explained:9}  {different:23}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
