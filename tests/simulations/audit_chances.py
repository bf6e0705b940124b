"""How often an audit calls an explanation certain, or likely, of numbers that have nothing to do with a run.

Rows of three to six numbers over few queries of LitSearch: those of other runs, of the run over fewer
queries, arbitrary ones near the run's own, and with one other digit; and the run's own numbers.

    PERMED_DATA=... python tests/simulations/audit_chances.py [subsets of each size [sizes]]
"""

import os
import random
import sys
import warnings
from collections import Counter
from pathlib import Path

import permed_measures as pm
from permed_measures.auditing.audit import audit_of

NEAR = 0.03
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


def main(subsets=150, *sizes):
    """Print for each size how many rows of each kind there are, and how many are certain and likely."""
    folder = Path(os.environ["PERMED_DATA"]) / "litsearch"
    qrels = pm.read_qrels(folder / "query_to_texts.jsonl")
    runs = {path.stem: pm.read_run(path) for path in sorted((folder / "runs").iterdir())}
    print("certain + likely of the rows\nqueries  " + "  ".join(f"{kind:>22}" for kind in KINDS))
    for size in sizes or SIZES:
        rng, found = random.Random(size), Counter()
        for _ in range(subsets):
            chosen = rng.sample(sorted(qrels), size)
            found.update(kinds(rng, {query: qrels[query] for query in chosen}, runs))
        rows = {kind: sum(n for (of, _), n in found.items() if of == kind) for kind in KINDS}
        cells = (f"{found[k, 'certain']:6} + {found[k, 'likely']:4} of {rows[k]:6}" for k in KINDS)
        print(f"{size:7}  " + "  ".join(cells), flush=True)


def kinds(rng, qrels, runs):
    """Yield the kind of each row, and what an audit says of it, as numbers of one of the runs."""
    names, digits, own = rng.choice(FEW), rng.choice((3, 4)), rng.choice(list(runs))
    values = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, run in runs.items():
            part = {query: run[query] for query in qrels if query in run}
            values[name] = means(names, qrels, part)
        part = {query: runs[own][query] for query in qrels if query in runs[own]}
        result = pm.audit(qrels, part, dict(zip(names, texts_of(values[own], digits), strict=True)))
    trials = result.trials
    yield "own", result.verdict
    for name in runs:
        if name != own:
            yield "other run", verdict_of(trials, texts_of(values[name], digits))
    fewer = rng.sample(sorted(part), round(0.8 * len(part)))
    values["fewer"] = means(names, {query: qrels[query] for query in fewer}, part)
    yield "fewer queries", verdict_of(trials, texts_of(values["fewer"], digits))
    moved = [min(max(value + rng.uniform(-NEAR, NEAR), 0), 1) for value in values[own]]
    yield "arbitrary", verdict_of(trials, texts_of(moved, digits))
    texts, place = texts_of(values[own], digits), rng.randrange(len(names))
    digit = rng.randrange(2, len(texts[place]))
    other = rng.choice(sorted(set("0123456789") - {texts[place][digit]}))
    texts[place] = texts[place][:digit] + other + texts[place][digit + 1 :]
    result = audit_of(printed(trials, texts))
    status = result.to_polars()["status"][place]  # the others are true, and may be called certain
    verdicts = {"made differently": "certain", "explained": result.verdict}
    yield "typo", verdicts.get(status, "none")


def means(names, qrels, run):
    """Return the means of the measures of a row."""
    return list(pm.calc_aggregate(list(names.values()), qrels, run).values())


def texts_of(values, digits):
    """Return numbers as they are printed."""
    return [f"{value:.{digits}f}" for value in values]


def verdict_of(trials, texts):
    """Return what is said of a row with other numbers."""
    return audit_of(printed(trials, texts)).verdict


def printed(trials, texts):
    """Return the trials of a row with other numbers."""
    return [trial.with_claim(trial.claim.printed_as(text)) for trial, text in zip(trials, texts, strict=True)]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
