"""Evaluation scripts as people write them; each computes another convention."""

import math

import numpy as np


def relevant(grades, level=1):
    return {doc for doc, grade in grades.items() if grade >= level}


def graded_map(qrels, run, half=0.5):
    """Weigh by 1 and 0.5, divide by the relevant documents; raise on a query without any."""
    values = []
    for query in qrels:
        if query in run:
            found, total = 0, 0.0
            for rank, doc in enumerate(list(run[query])[:10], 1):
                grade = qrels[query].get(doc, 0)
                if grade >= 1:
                    found += 1
                    total += found / rank * grade * half
            values.append(total / len(relevant(qrels[query])))
    return sum(values) / len(values)


def graded_map_off(qrels, run):
    """Return the same function with one wrong digit in a constant."""
    return graded_map(qrels, run, 0.51)


def trec_map(qrels, run):
    """Compute AP as trec_eval does, a value for each query of the qrels."""
    values = {}
    for query, grades in qrels.items():
        scores = {doc: np.float32(score) for doc, score in run.get(query, {}).items()}
        ranked = sorted(scores, key=lambda doc: (scores[doc], doc), reverse=True)
        hits = [rank for rank, doc in enumerate(ranked, 1) if grades.get(doc, 0) >= 1]
        precisions = [n / rank for n, rank in enumerate(hits, 1)]
        values[query] = sum(precisions) / max(len(relevant(grades)), 1)
    return values


def precision_of_query(grades, documents):
    return sum(grades.get(doc, 0) >= 1 for doc in documents[:5]) / 5


def hits_of_lists(lists):
    return {query: float(any(grade >= 1 for grade in grades[:5])) for query, grades in lists.items()}


def binary_ndcg(qrels, ranked):
    """Compute gains of 0 and 1; any grade above 0 is relevant."""
    values = []
    for query, grades in qrels.items():
        best = sum(1 / math.log2(i + 1) for i, g in enumerate([g for g in grades.values() if g > 0][:10], 1))
        gains = [grades.get(doc, 0) > 0 for doc in ranked.get(query, [])[:10]]
        values.append(sum(g / math.log2(i + 1) for i, g in enumerate(gains, 1)) / best if best else 0.0)
    return sum(values) / len(values)


def recall(qrels, run, k=10):
    values = []
    for query, grades in qrels.items():
        found = relevant(grades) & {*list(run.get(query, {}))[:k]}
        values.append(len(found) / max(len(relevant(grades)), 1))
    return sum(values) / len(values)
