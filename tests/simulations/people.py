"""How often the interval of a number corrected by people's labels holds what people would have found.

Queries have 20 documents with a grade of 0, 1 or 2 by people. A run scores them by that and noise, and
another one by that and more noise: the numbers are means of the first, and differences of both. The model's
labels are those of people, more or less often changed, mostly upwards; or drawn without looking. People judge
a random sample of documents, or whole queries, or of some queries all that the runs have among their first
ten. The truth is the number by people's labels of everything.
Printed are, for each measure, the share of intervals that hold it, and their width over that of the interval
by people's labels alone. Then, of collections in which the model's labels are people's in 90%, 70% or none of
the queries, the share of intervals that hold the truth by how many sampled queries have another value by
people's labels: the limit below which a note says that it is lower.

    python tests/simulations/people.py [experiments]

With PERMED_DATA, samples are also drawn of ``data/outside/rag25``, where people and a model judged the same.
"""

import itertools
import os
import sys
from collections import defaultdict
from functools import partial
from pathlib import Path

import numpy as np

import permed_measures as pm
from permed_measures.engine.evaluator import evaluated
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.human_labels.agreement import Agreement
from permed_measures.human_labels.corrected import People, estimate
from permed_measures.intervals import difference_range
from permed_measures.measures.specs import range_of
from permed_measures.tolerances import SUM_NOISE

LABELS = {"good": (0.03, 0.06), "biased": (0.05, 0.3), "bad": (0.4, 0.6), "blind": None}
"""How often the model lowers and raises a grade."""


def made(rng, kind, n_queries=200, n_documents=20, share=1.0):
    """Return people's grades, the model's, and scores of a run: of each query and document.

    The labels of a `share` of the queries are the model's; those of the others are people's.
    """
    latent = rng.normal(size=(n_queries, n_documents)) - 0.8 + 0.6 * rng.normal(size=(n_queries, 1))
    people = (latent > 0).astype(int) + (latent > 0.8)
    if LABELS[kind] is None:
        model = rng.permutation(people.ravel()).reshape(people.shape)
    else:
        low, high = (rng.random(people.shape) < rate for rate in LABELS[kind])
        model = np.clip(people + high.astype(int) - low, 0, 2)
    if share < 1:
        model = np.where(rng.random((n_queries, 1)) < share, model, people)
    return people, model, people + rng.normal(scale=1.2, size=people.shape)


def as_qrels(grades):
    return {f"q{q:04}": {f"d{d}": int(g) for d, g in enumerate(row)} for q, row in enumerate(grades)}


class Collection:
    """Labels of a model and of people of the same documents, and a run, or two of which one is a baseline."""

    def __init__(self, people, model, runs, measures):
        self.measures = [*map(pm.parse_measure, measures)]
        self.judgments = Judgments.of(model)
        self.rankings = [JudgedRankings.of(self.judgments, run) for run in runs]
        self.values = [evaluated(self.measures, each).values for each in self.rankings]
        theirs = [JudgedRankings.of(Judgments.of(people), run) for run in runs]
        self.by_people = [evaluated(self.measures, each).values for each in theirs]
        means = [each.mean(axis=1) for each in self.by_people]
        self.truth = means[0] if len(runs) == 1 else means[0] - means[1]
        self.people = People.of(people, self.judgments)

    def both_values(self):
        """Return the values of the queries, or their differences, by the model's labels and by people's."""
        both = [self.values, self.by_people]
        return [each[0] if len(each) == 1 else each[0] - each[1] for each in both]

    def sample(self, rng, n, whole):
        """Return what is found of a sample of n documents, of n whole queries, or of their first ten."""
        query = self.judgments.query
        if whole:
            taken = np.isin(query, rng.choice(self.judgments.n_queries, n, replace=False))
            if whole == "first ten":
                first = [each.within(10).row for each in self.rankings]
                taken &= np.isin(np.arange(len(query)), np.concatenate(first))
        else:
            taken = np.isin(np.arange(len(query)), rng.choice(len(query), n, replace=False))
        grades = np.where(taken, self.people.grades, np.nan)
        queries = np.bincount(query[taken], minlength=self.judgments.n_queries) > 0
        agreement = Agreement.of(self.judgments.grade, grades)
        people = People(grades, agreement, whole is True, queries, [])
        run, *baseline = map(partial(people.evaluate_both, self.measures), self.rankings, self.values)
        return [*people.ppi_estimates(run, 0.95, *baseline)]

    def held(self, rng, n, whole, experiments):
        """Return how often each interval holds the truth, and how wide it is against that of people alone."""
        held, width = [], []
        for _ in range(experiments):
            for found, truth in zip(self.sample(rng, n, whole), self.truth, strict=True):
                low, high = found.interval or (np.nan, np.nan)
                held.append(low <= truth <= high if found.interval else np.nan)
                width.append(np.ptp(found.interval or (np.nan,)) / np.ptp(found.alone or (0, np.nan)))
        shape = (experiments, len(self.truth))
        return np.nanmean(np.reshape(held, shape), axis=0), np.nanmedian(np.reshape(width, shape), axis=0)


def as_run(scores):
    return {f"q{q:04}": {f"d{d}": float(s) for d, s in enumerate(row)} for q, row in enumerate(scores)}


def synthetic(rng, kind, measures, pair=False, share=1.0):
    people, model, scores = made(rng, kind, share=share)
    others = [people + rng.normal(scale=1.8, size=people.shape)] if pair else []
    return Collection(as_qrels(people), as_qrels(model), [*map(as_run, [scores, *others])], measures)


def rag25(rng, pair=False):
    """Return the labels of TREC RAG 2025 and runs that rank by people's grades and noise."""
    folder = Path(os.environ["PERMED_DATA"]) / "outside" / "rag25"
    people, model = (pm.read_qrels(folder / f"{name}.qrels.gz") for name in ("human", "llm"))
    runs = [
        {q: {d: grade + noise * rng.normal() for d, grade in docs.items()} for q, docs in people.items()}
        for noise in ((2, 4) if pair else (2,))
    ]
    return Collection(people, model, runs, ["P(rel=2)@100", "P(rel=1)@100", "P(rel=3)@100"])


SIZES = 5, 10, 15, 20, 30, 40, 60, 100
"""How many whole queries people judge, where the number of values that they change is looked at."""
OTHER_THAN_0_OR_1 = "nDCG@10", "AP@10", "P@10", "GradedAP@10"


def held_by_changed(rng, populations, samples=25, shares=(0.1, 0.3, 1.0)):
    """Return how many intervals hold the truth and how many there are, by the number of changed values."""
    counts = defaultdict(lambda: np.zeros(2, int))
    for _, pair, kind, share in itertools.product(
        range(populations), (False, True), ("biased", "good"), shares
    ):
        collection = synthetic(rng, kind, OTHER_THAN_0_OR_1, pair, share)
        ranges = difference_range if pair else range_of
        for n, _, number in itertools.product(SIZES, range(samples), range(len(OTHER_THAN_0_OR_1))):
            ours, people = (values[number] for values in collection.both_values())
            sampled = np.isin(np.arange(len(ours)), rng.choice(len(ours), n, replace=False))
            found = estimate(ours, people, sampled, 0.95, *ranges(collection.measures[number]))
            if found.interval:
                low, high = found.interval
                changed = int((np.abs(ours - people)[sampled] > SUM_NOISE).sum())
                counts[changed] += (low - SUM_NOISE <= people.mean() <= high + SUM_NOISE, 1)
    return counts


def main(experiments=1000):
    rng, kinds = np.random.default_rng(0), [*LABELS, *["rag25"] * ("PERMED_DATA" in os.environ)]
    for pair, kind, whole in itertools.product((False, True), kinds, (False, True, "first ten")):
        if kind == "rag25":
            collection = None if whole else rag25(rng, pair)
        elif whole == "first ten":
            collection = synthetic(rng, kind, ["P@10", "P(rel=2)@10", "P@5"], pair)
        elif whole:
            collection = synthetic(rng, kind, ["nDCG@10", "AP@10", "P@1", "GradedAP@10"], pair)
        else:
            collection = synthetic(rng, kind, ["P@10", "P(rel=2)@10", "P@5" if pair else "P@20"], pair)
        for n in ((20, 50, 100) if whole else (50, 200, 1000)) if collection else ():
            found = collection.held(rng, n, whole, max(experiments // 3, 20) if whole else experiments)
            units = {False: "documents", True: "queries", "first ten": "queries, first ten"}[whole]
            name = f"{'differences' if pair else 'means'}: {kind}, {n} {units}"
            shares = (f"{held:.3f} {width:.2f}" for held, width in zip(*found, strict=True))
            print(f"{name:44}", *shares, sep="  ", flush=True)
    counts = held_by_changed(rng, max(experiments // 100, 1))
    for least, most in ((1, 1), (2, 4), (5, 9), (10, 14), (15, 29), (30, 200)):
        held, n = sum(each for changed, each in counts.items() if least <= changed <= most)
        print(f"{least} to {most} changed values of a sample: {held / n:.3f} of {n}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
