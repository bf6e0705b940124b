"""How often the audit explains numbers that have nothing to do with a run, against the chance it says.

Arbitrary numbers of those that count as near the true ones, one to three of a row, in three and four digits.
Said: the chance that a convention explains such a row. Seen: the share of rows that one explains. Then the
shares of rows of which all was called certain or likely. At last typos: one other digit in one of three
numbers, how many of these are explained, and how many as made differently, for a fact.

With `few`, the same over few queries of LitSearch: what is called certain of the numbers of other runs, of
arbitrary numbers and of typos, and of the run's own numbers.

    PERMED_DATA=... python tests/simulations/audit_chances.py [trials]
    PERMED_DATA=... python tests/simulations/audit_chances.py few [subsets of each size]
"""

import os
import random
import sys
import warnings
from collections import Counter
from pathlib import Path

import permed_measures as pm
from permed_measures.audits.answers import MOST_CHANGES
from permed_measures.audits.audit import audit_of
from permed_measures.audits.chance import NearRows
from permed_measures.audits.trials import Space
from permed_measures.conventions.named import NAMED
from permed_measures.datasets import SAMPLES

NEAR = 0.03
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
    """Return the true row, audited."""
    measures = ROWS[kind]
    values = means(measures, qrels, run)
    row = {name: f"{value:.{digits}f}" for name, value in zip(measures, values, strict=True)}
    return pm.audit(qrels, run, row).trials


def shares(claims, digits, trials, rng):
    """Return the chance that is said, and the shares of rows explained, called certain and likely."""
    said = NearRows(Space(claims, NAMED), claims, MOST_CHANGES).chance().value
    seen = certain = likely = 0
    for _ in range(trials):
        codes = (rng.randint(claim.window.low, claim.window.high) for claim in claims)
        row = [
            claim.printed_as(f"{code / 10**digits:.{digits}f}")
            for claim, code in zip(claims, codes, strict=True)
        ]
        result = audit_of(row)
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
                result = audit_of([*claims[:place], typo, *claims[place + 1 :]])
                status = result.to_polars()["status"][place]
                n, explained = n + 1, explained + (status != "unexplained")
                different += status in ("made differently", "explained")
    return n, explained, different


SIZES = (10, 20, 50, 100)
KINDS = ("other run", "fewer queries", "arbitrary", "typo", "own")
FEW = (
    {"nDCG@10": "nDCG@10", "MAP@10": "AP@10", "P@1": "P@1"},
    {"nDCG@10": "nDCG@10", "MAP@10": "AP@10", "R@20": "R@20"},
    {"P@1": "P@1", "P@5": "P@5", "R@10": "R@10"},
    {
        **{"nDCG@10": "nDCG@10", "MAP@10": "AP@10", "R@5": "R@5"},
        **{"R@20": "R@20", "P@1": "P@1", "hit@10": "Success@10"},
    },
)


def few(subsets=150):
    """Print for each size how many rows of each kind there are, and how many are called certain."""
    folder = Path(os.environ["PERMED_DATA"]) / "litsearch"
    qrels = pm.read_qrels(folder / "query_to_texts.jsonl")
    runs = {path.stem: pm.read_run(path) for path in sorted((folder / "runs").iterdir())}
    print("queries  " + "  ".join(f"{kind:>22}" for kind in KINDS))
    for size in SIZES:
        rng, certain, rows = random.Random(size), Counter(), Counter()
        for _ in range(subsets):
            chosen = rng.sample(sorted(qrels), size)
            for kind, is_certain in kinds(rng, {query: qrels[query] for query in chosen}, runs):
                rows[kind] += 1
                certain[kind] += is_certain
        cells = (f"{certain[kind]:5} of {rows[kind]:5} certain" for kind in KINDS)
        print(f"{size:7}  " + "  ".join(cells), flush=True)


def kinds(rng, qrels, runs):
    """Yield for rows of each kind whether they are called certain, as numbers of one of the runs."""
    names, digits, own = rng.choice(FEW), rng.choice((3, 4)), rng.choice(list(runs))
    values = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, run in runs.items():
            part = {query: run[query] for query in qrels if query in run}
            values[name] = means(names, qrels, part)
        part = {query: runs[own][query] for query in qrels if query in runs[own]}
        result = pm.audit(qrels, part, dict(zip(names, texts_of(values[own], digits), strict=True)))
    claims = result.trials
    yield "own", result.verdict == "certain"
    for name in runs:
        if name != own:
            yield "other run", verdict_of(claims, texts_of(values[name], digits)) == "certain"
    fewer = rng.sample(sorted(part), round(0.8 * len(part)))
    values["fewer"] = means(names, {query: qrels[query] for query in fewer}, part)
    yield "fewer queries", verdict_of(claims, texts_of(values["fewer"], digits)) == "certain"
    moved = [min(max(value + rng.uniform(-NEAR, NEAR), 0), 1) for value in values[own]]
    yield "arbitrary", verdict_of(claims, texts_of(moved, digits)) == "certain"
    texts, place = texts_of(values[own], digits), rng.randrange(len(names))
    digit = rng.randrange(2, len(texts[place]))
    other = rng.choice(sorted(set("0123456789") - {texts[place][digit]}))
    texts[place] = texts[place][:digit] + other + texts[place][digit + 1 :]
    mistyped = [claim.printed_as(text) for claim, text in zip(claims, texts, strict=True)]
    result = audit_of(mistyped)
    status = result.to_polars()["status"][place]  # the others are true, and may be called certain
    yield "typo", status == "made differently" or (status == "explained" and result.verdict == "certain")


def means(names, qrels, run):
    """Return the means of the measures of a row."""
    return list(pm.calc_aggregate(list(names.values()), qrels, run).values())


def texts_of(values, digits):
    """Return numbers as they are printed."""
    return [f"{value:.{digits}f}" for value in values]


def verdict_of(claims, texts):
    """Return what is said of a row with other numbers."""
    row = [claim.printed_as(text) for claim, text in zip(claims, texts, strict=True)]
    return audit_of(row).verdict


def main(trials=300):
    """Print the tables."""
    print("data       claims  digits   said   seen  certain  likely")
    rng = random.Random(0)
    found = []
    for name, kind, qrels, run in data_sets():
        for digits in (3, 4):
            claims = row_of(kind, qrels, run, digits)
            for n in (1, 2, 3):
                said, *others = shares(claims[:n], digits, trials, rng)
                seen, certain, likely = (f"{share:.3f}" for share in others)
                print(f"{name:10} {n:6}  {digits:6}  {said:5.3f}  {seen}    {certain}   {likely}", flush=True)
            found.append((name, digits, *typos(claims)))
    print("\ndata       digits  typos  explained  called made differently")
    for name, digits, n, explained, different in found:
        print(f"{name:10} {digits:6}  {n:5}  {explained:9}  {different:23}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["few"]:
        few(*map(int, sys.argv[2:]))
    else:
        main(*map(int, sys.argv[1:]))
