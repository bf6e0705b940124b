"""How many numbers of libraries and evaluation scripts the audit names.

Each script evaluates runs of the packaged sample, of noisy rankings of MedCorpus labels (ties, unjudged
documents, short lists, queries without an answer) and of LitSearch. A claim is named if the answer to it
alone gives the number of this run with all its digits, not only those printed; a row if one answer does so
for all of it, a table if one does so for all runs.

    PERMED_DATA=... python tests/simulations/audit_libraries.py
"""

import os
import random
import warnings
from collections import Counter
from pathlib import Path

import evaluation_scripts  # noqa: F401 (which lists its scripts)
import further_scripts  # noqa: F401
import library_scripts  # noqa: F401
from evaluation_scripts import SCRIPTS

import permed_measures as pm
from permed_measures.auditing.measured_claims import MeasuredClaim
from permed_measures.auditing.search import answers_to
from permed_measures.conventions.ranking_variants import RunVariants, label_policies
from permed_measures.datasets import SAMPLES
from permed_measures.engine.judgments import Judgments
from permed_measures.published_tables.claims import parse_claims

SAME = 6e-6
"""What single precision, or five digits, may be off by."""
CONVERSATIONS = 25
KEYS = ("claims", "named", "rows", "rows named")


def noisy(qrels, rng, depth, step=None, missing=0.0):
    """Return a ranking of judged and unjudged documents by grade and noise, scores in steps, perhaps tied."""
    run = {}
    for query, docs in qrels.items():
        pool = {**{d: g for d, g in docs.items() if rng.random() < 0.8}, **{f"u{i}": 0 for i in range(20)}}
        scores = {doc: grade + rng.gauss(-0.2, 1.2) for doc, grade in pool.items()}
        if step:
            scores = {doc: round(score / step) * step for doc, score in scores.items()}
        ranked = sorted(rng.sample(sorted(scores), len(scores)), key=scores.get, reverse=True)
        if rng.random() >= missing:
            run[query] = {doc: scores[doc] for doc in ranked[: rng.randint(*depth)]}
    return run


def data_sets():
    """Yield the name, qrels and runs of each set of data that is there."""
    sample = SAMPLES[0]
    yield "sample", pm.read_qrels(sample.qrels), {name: pm.read_run(run) for name, run in sample.runs.items()}
    if "PERMED_DATA" in os.environ:
        data = Path(os.environ["PERMED_DATA"])
        labels = pm.read_qrels(data / "medcorpus" / "query_to_texts.jsonl")
        first = sorted({query.rpartition("_")[0] for query in labels})[:CONVERSATIONS]
        qrels = {query: docs for query, docs in labels.items() if query.rpartition("_")[0] in first}
        rng = random.Random(1)
        runs = {
            "noisy": noisy(qrels, rng, (30, 30)),
            "tied": noisy(qrels, rng, (25, 30), 0.5, missing=0.02),
            "short": noisy(qrels, rng, (2, 15), 0.25),
        }
        yield "MedCorpus", qrels, runs
        folder = data / "litsearch"
        files = sorted((folder / "runs").iterdir())
        yield (
            "LitSearch",
            pm.read_qrels(folder / "query_to_texts.jsonl"),
            {file.stem: pm.read_run(file) for file in files},
        )


def audits_of(qrels, run, rows):
    """Audit the numbers of all scripts for a run; return the trials of each script by name.

    A claim is tried with the same conventions for all of them, except for F1, which depends on its row.
    """
    alone = {name: row for name, row in rows.items() if any(each.startswith("F1") for each in row)}
    others = {each: 0.5 for name, row in rows.items() if name not in alone for each in row}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shared = trials_of(qrels, run, others)
        return {
            name: trials_of(qrels, run, row) if name in alone else {each: shared[each] for each in row}
            for name, row in rows.items()
        }


def trials_of(qrels, run, row):
    """Return the trials of a row by the names of its claims."""
    [claims] = parse_claims([dict.fromkeys(row, "0.5000")])
    policies = label_policies(Judgments.of(qrels))
    variants = RunVariants(policies, run)
    return {claim.name: MeasuredClaim("", claim, variants) for claim in claims}


def printed(trial, value):
    """Return the trial of a number of a script."""
    return trial.with_claim(trial.claim.printed_as(f"{value:.4f}"))


def named(trials, values):
    """Return whether an answer gives the numbers with all their digits."""
    return any(
        all(
            abs(trial.value(answer.convention) - value) <= SAME
            for trial, value in zip(trials, values, strict=True)
        )
        for answer in answers_to(trials)
    )


def counts(rows, audited):
    """Count what is named of a script on a data set: its rows and audits by run."""
    found, left = Counter(), []
    for run, row in rows.items():
        trials = [printed(audited[run][name], value) for name, value in row.items()]
        values = list(row.values())
        alone = [named([each], [value]) for each, value in zip(trials, values, strict=True)]
        left += [name for name, is_named in zip(row, alone, strict=True) if not is_named]
        found += Counter(dict(zip(KEYS, (len(row), sum(alone), 1, named(trials, values)), strict=True)))
    return found, list(dict.fromkeys(left))


def rows_of(data):
    """Return the numbers of each script by data set, run and name, and which scripts are missing."""
    found, missing = {}, []
    for name, function in SCRIPTS.items():
        try:
            found[name] = {
                title: {run: function(qrels, ranked) for run, ranked in runs.items()}
                for title, (qrels, runs) in data.items()
            }
        except ImportError:
            missing.append(name)
    return found, missing


def main():
    """Print the table."""
    data = {title: (qrels, runs) for title, qrels, runs in data_sets()}
    numbers, missing = rows_of(data)
    print(f"{'script':54}", *(f"{key:>12}" for key in KEYS), "  not named", flush=True)
    audited = {
        title: {
            run: audits_of(qrels, ranked, {name: by_data[title][run] for name, by_data in numbers.items()})
            for run, ranked in runs.items()
        }
        for title, (qrels, runs) in data.items()
    }
    total = Counter()
    for name, by_data in numbers.items():
        found, unknown = Counter(), []
        for title, rows in by_data.items():
            counted, left = counts(rows, {run: audited[title][run][name] for run in rows})
            found += counted
            unknown += [f"{title} {each}" for each in left]
        total += found
        print_row(name, found, ", ".join(unknown))
    print_row("all", total, "")
    print("not installed:", ", ".join(missing) or "none")


def print_row(name, found, left):
    """Print a row of the table."""
    print(f"{name:54}", *(f"{found[key]:12}" for key in KEYS), f"  {left}", flush=True)


if __name__ == "__main__":
    main()
