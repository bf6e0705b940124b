"""Conventions as plain loops over dicts, and random data on which they differ."""

import math
from dataclasses import fields

import cases
import oracle

from permed_measures.audits.choices import APChoice, LevelChoice, NDCGChoice
from permed_measures.audits.conventions import Setting
from permed_measures.audits.options import (
    Denominator,
    Discount,
    Gain,
    Ideal,
    LabelPolicy,
    Negative,
    QuerySet,
    RecallBase,
    Rounding,
    SelfMatch,
    Weights,
)
from permed_measures.engine.ranks import TieBreak


class Plain:
    """Qrels and a run, and the mean of a measure by any convention."""

    def __init__(self, qrels, run):
        self.qrels = {
            LabelPolicy.GRADES: qrels,
            LabelPolicy.POOL: {query: dict.fromkeys(docs, 1) for query, docs in qrels.items()},
        }
        self.run = run
        self.rankings = {}

    def top(self, labels):
        grades = [grade for docs in self.qrels[labels].values() for grade in docs.values() if grade > 0]
        return max(grades, default=1)

    def levels(self):
        grades = {grade for docs in self.qrels[LabelPolicy.GRADES].values() for grade in docs.values()}
        return sorted({1.0, *(float(grade) for grade in grades if grade > 0)})

    def ranking(self, query, setting):
        key = (query, setting.ties, setting.labels, setting.self_match)
        if key not in self.rankings:
            judgments = self.qrels[setting.labels].get(query, {})
            docs = self.run.get(query, {})
            if setting.self_match is SelfMatch.REMOVED:
                docs = {doc: score for doc, score in docs.items() if doc != query}
            order = oracle.rank(docs, setting.ties.value, judgments)
            self.rankings[key] = [(doc, judgments.get(doc)) for doc in order]
        return self.rankings[key]

    def queries(self, setting):
        qrels = self.qrels[setting.labels]
        return {
            QuerySet.QRELS: list(qrels),
            QuerySet.BOTH: [query for query in qrels if query in self.run],
            QuerySet.WITH_RELEVANT: [query for query in qrels if max(qrels[query].values(), default=0) >= 1],
            QuerySet.BOTH_WITH_RELEVANT: [
                q for q in qrels if q in self.run and max(qrels[q].values(), default=0) >= 1
            ],
            QuerySet.RUN: list(self.run),
        }[setting.queries]

    def mean(self, measure, setting, choice, cutoff):
        qrels, top = self.qrels[setting.labels], self.top(setting.labels)
        values = []
        for query in self.queries(setting):
            ranking, judgments = self.ranking(query, setting), qrels.get(query, {})
            values.append(value_of(measure, choice, cutoff, ranking, judgments, top))
        return math.fsum(values) / len(values) if values else math.nan


def value_of(measure, choice, cutoff, ranking, judgments, top):
    """Return the value of one query."""
    if measure == "AP":
        grades = {grade for grade in judgments.values() if grade >= choice.ap_level and grade > 0}
        weight = {
            "binary": lambda _: 1,
            "linear": lambda grade: grade / top,
            "half": lambda grade: grade / 2,
            "exp": lambda grade: (2**grade - 1) / (2**top - 1),
        }[choice.weights.value]
        gains = {grade: weight(grade) for grade in grades}
        norm = choice.denominator.value
        given = {"cutoff": cutoff, "rel": choice.ap_level, "gains": gains, "norm": norm}
        return oracle.graded_average_precision(ranking, judgments, **given)
    if measure == "nDCG":
        params = {each.name: getattr(choice, each.name).value for each in fields(choice)}
        if choice.gain is Gain.BINARY:
            ranking = [(doc, None if grade is None else int(grade >= 1)) for doc, grade in ranking]
            judgments = {doc: int(grade >= 1) for doc, grade in judgments.items()}
            params["gain"] = "linear"
        return oracle.variant_ndcg(ranking, judgments, cutoff=cutoff, **params)
    if measure == "R" and choice.base is RecallBase.MIN:
        found = oracle.found(ranking, cutoff, choice.level, judged_only=False)
        return oracle.ratio(found, min(oracle.num_relevant(judgments, choice.level), cutoff))
    name = {"P": "P", "R": "R", "RR": "RR", "Success": "Success"}[measure]
    return oracle.MEASURES[name](ranking, judgments, cutoff=cutoff, rel=choice.level)


def choices_for(measure, plain, labels=LabelPolicy.GRADES):
    """Return all choices that mean something on these labels."""
    levels = plain.levels() if labels is LabelPolicy.GRADES else [1.0]  # where all are relevant, there is one
    if measure == "AP":
        found = [APChoice(d, Weights.BINARY, level) for d in Denominator for level in levels]
        found += [APChoice(d, w, 1.0) for d in Denominator for w in Weights if w is not Weights.BINARY]
        return [c for c in found if c.weights is not Weights.HALF or plain.top(labels) <= 2]
    if measure == "nDCG":
        return [
            NDCGChoice(gain, discount, ideal, negative)
            for gain in Gain
            for discount in Discount
            for ideal in Ideal
            for negative in Negative
            if (gain, negative) != (Gain.BINARY, Negative.KEEP)  # gain 1 has no negative grades
        ]
    bases = RecallBase if measure == "R" else [RecallBase.NUM_REL]
    return [LevelChoice(level, base) for level in levels for base in bases]


ALL_SETTINGS = [
    Setting(ties, queries, labels, self_match)
    for ties in TieBreak
    for queries in QuerySet
    for labels in LabelPolicy
    for self_match in SelfMatch
]


def small_case(rng):
    """Return qrels and a run that have whatever tells conventions apart."""
    queries = ["q1", "q10", "q2", "9", "ü"]
    grades = rng.choice([[0, 1], [-1, 0, 1, 2], [0, 1, 2, 3], [-2, -1, 0], [0, 0.5, 1, 1.5], [-1, 0, 1, 2]])
    score = rng.choice(cases.SCORES)
    qrels, run = {}, {}
    for query in queries:
        pool = [*cases.DOCUMENTS, query]
        if rng.random() < 0.8:
            judged = rng.sample(pool, rng.randint(1, len(pool)))
            qrels[query] = {doc: rng.choice(grades) for doc in judged}
        if rng.random() < 0.8:
            run[query] = {doc: score(rng) for doc in rng.sample(pool, rng.randint(1, len(pool)))}
    both = rng.choice(queries)
    qrels.setdefault(both, {"d1": rng.choice(grades), both: 1})
    run.setdefault(both, {"d1": 1.0, both: 1.0, "d2": 1.0})
    run["extra"] = {"d1": 1.0}
    if rng.random() < 0.5:
        qrels["none"] = {"d1": 0, "d2": -1 if min(grades) < 0 else 0}
    return qrels, run


CLAIMS = {"MAP@5": "AP", "nDCG@5": "nDCG", "P@3": "P", "R@4": "R", "RR@5": "RR", "hit@2": "Success"}


def computed(audited, setting, choice, cutoff):
    """Return what the audit has for a convention."""
    return audited.at(setting, choice, cutoff)


FAMILY = {"AP": "ap", "nDCG": "ndcg", **dict.fromkeys(("P", "R", "RR", "Success"), "level")}


def n_changes(a, b):
    """Return in how many options two values differ."""
    return sum(getattr(a, each.name) != getattr(b, each.name) for each in fields(a))


def prints_as(value, text, rounding):
    """Return whether a value prints as a text with three or four digits, a tie by either rounding."""
    firsts = [value]
    if rounding is Rounding.FIVE_DIGITS and not math.isnan(value):
        firsts = [math.floor(value * 1e5 + 0.5 - 1e-6) / 1e5, math.floor(value * 1e5 + 0.5 + 1e-6) / 1e5]
    half = 0.5 * 10.0 ** -len(text.partition(".")[2])
    return any(abs(first - float(text)) <= half + 1e-9 for first in firsts)
