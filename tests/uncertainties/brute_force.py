"""The least and the most of a measure by trying all grades of unjudged documents, with the plain loops."""

from itertools import product

import numpy as np
import oracle

from permed_measures.measures.parameters import values_of


def random_case(rng, longest=7, highest=3):
    """Return judgments and scores for a query: with ties, negative grades, relevant ones not found."""
    documents = [f"d{n}" for n in range(int(rng.integers(1, longest + 1)))]
    grades = rng.choice([-1, *range(highest + 1)], p=[0.1, *[0.9 / (highest + 1)] * (highest + 1)], size=99)
    judged = rng.random(len(documents)) < rng.choice([0.3, 0.6, 0.9])
    judgments = {
        doc: int(grade) for doc, grade, is_judged in zip(documents, grades, judged, strict=False) if is_judged
    }
    for number in range(int(rng.integers(0, 5))):
        judgments[f"x{number}"] = int(grades[50 + number])
    scores = {
        doc: float(score) for doc, score in zip(documents, rng.integers(0, 6, len(documents)), strict=True)
    }
    return judgments or {"x": 0}, scores


def bounds(measure, judgments, scores, scale, most):
    """Return the least and the most value, and the number of unjudged documents: up to `most` are tried."""
    params = values_of(measure)
    order = oracle.rank(scores, "trec", judgments)
    unjudged = [doc for doc in order[: params.get("cutoff")] if doc not in judgments]
    if len(unjudged) > most:
        return 0, 0, len(unjudged)
    values = []
    for grades in product(scale, repeat=len(unjudged)):
        known = {**judgments, **dict(zip(unjudged, grades, strict=True))}
        ranking = [(doc, known.get(doc)) for doc in order]
        values.append(oracle.MEASURES[measure.NAME](ranking, known, **params))
    return np.min(values), np.max(values), len(unjudged)
