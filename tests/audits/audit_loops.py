"""Conventions as plain loops over dicts, and random data on which they differ."""

import math
from dataclasses import fields, replace

import cases
import oracle

from permed_measures.audits.choices import APChoice, NDCGChoice
from permed_measures.audits.conventions import NAMED, Setting
from permed_measures.audits.levels import FChoice, LevelChoice
from permed_measures.audits.options import (
    Denominator,
    Discount,
    Documents,
    FMean,
    Gain,
    Ideal,
    LabelPolicy,
    Negative,
    PrecisionBase,
    QuerySet,
    RecallBase,
    Rounding,
    SelfMatch,
    TiedGains,
    Weights,
)
from permed_measures.engine.ranks import TieBreak


class Plain:
    """Qrels and a run, and the mean of a measure by any convention.

    `others` are the other runs of a table, `groups` the group of each query.
    """

    def __init__(self, qrels, run, others=(), groups=None):
        listed = {q: {d: g for d, g in docs.items() if d in run.get(q, {})} for q, docs in qrels.items()}
        self.qrels = {
            LabelPolicy.GRADES: qrels,
            LabelPolicy.POOL: {query: dict.fromkeys(docs, 1) for query, docs in qrels.items()},
            LabelPolicy.STRICT: {
                query: {doc: 1 if grade >= 2 else min(grade, 0) for doc, grade in docs.items()}
                for query, docs in qrels.items()
            },
            LabelPolicy.LISTED: listed,
        }
        self.run, self.others, self.groups = run, others, groups
        self.rankings = {}

    def top(self, labels):
        grades = [grade for docs in self.qrels[labels].values() for grade in docs.values() if grade > 0]
        return max(grades, default=1)

    def levels(self):
        grades = {grade for docs in self.qrels[LabelPolicy.GRADES].values() for grade in docs.values()}
        return sorted({1.0, *(float(grade) for grade in grades if grade > 0)})

    def scores(self, query, setting, cutoff):
        """Return the documents that are ranked."""
        docs = self.run.get(query, {})
        if setting.self_match is SelfMatch.REMOVED:
            docs = {doc: score for doc, score in docs.items() if doc != query}
        if setting.documents is Documents.POSITIVE:
            docs = {doc: score for doc, score in docs.items() if score > 0}
        if setting.documents is Documents.FIRST_K and cutoff is not None:
            docs = dict(sorted(docs.items(), key=lambda item: -item[1])[:cutoff])
        return docs

    def ranking(self, query, setting, cutoff=None):
        cut = cutoff if setting.documents is Documents.FIRST_K else None
        key = (query, setting.ties, setting.labels, setting.self_match, setting.documents, cut)
        if key not in self.rankings:
            judgments = self.qrels[setting.labels].get(query, {})
            order = oracle.rank(self.scores(query, setting, cut), setting.ties.value, judgments)
            ranking = [(doc, judgments.get(doc)) for doc in order]
            if setting.documents is Documents.JUDGED:
                ranking = [(doc, grade) for doc, grade in ranking if grade is not None and grade >= 0]
            self.rankings[key] = ranking
        return self.rankings[key]

    def queries(self, setting, cutoff, cut=None):
        """Return the groups of queries that means are taken over, and then of these."""
        qrels, of = self.qrels[setting.labels], setting.queries
        relevant = [query for query in qrels if max(qrels[query].values(), default=0) >= 1]
        if of in (QuerySet.CONVERSATIONS, QuerySet.TURNS, QuerySet.GROUPS):
            groups = {}
            for query in qrels:
                parts = query.rpartition("_")
                group = {QuerySet.CONVERSATIONS: parts[0], QuerySet.TURNS: parts[2]}.get(of)
                group = self.groups.get(query) if of is QuerySet.GROUPS else group
                if group is not None:
                    groups.setdefault(group, []).append(query)
            return list(groups.values())
        return [
            {
                QuerySet.QRELS: list(qrels),
                QuerySet.BOTH: [query for query in qrels if query in self.run],
                QuerySet.NOTHING_IS_ONE: [query for query in qrels if query in self.run],
                QuerySet.WITH_RELEVANT: relevant,
                QuerySet.BOTH_WITH_RELEVANT: [query for query in relevant if query in self.run],
                QuerySet.RUN: list(self.run),
                QuerySet.ALL_RUNS: [
                    q for q in qrels if q in self.run and all(q in other for other in self.others)
                ],
                QuerySet.WITH_HIT: [
                    query
                    for query in qrels
                    if any((g or 0) >= 1 for _, g in self.ranking(query, setting, cut or cutoff)[:cutoff])
                ],
                QuerySet.WITH_LIST: [q for q in qrels if self.ranking(q, setting, cut or cutoff)],
                QuerySet.WITH_FOUND: [
                    query
                    for query in qrels
                    if any((g or 0) >= 1 for _, g in self.ranking(query, setting, cut or cutoff))
                ],
            }[of]
        ]

    def mean(self, measure, setting, choice, cutoff, cut=None, hits_within=None):
        """Return the mean of a measure by a convention, or its micro average."""
        if measure == "F1":
            return self.mean_f1(setting, choice, cutoff)
        groups = self.queries(setting, hits_within or cutoff, cut)
        micro = {"R": RecallBase.MICRO, "P": PrecisionBase.MICRO}.get(measure)
        if micro is not None and micro in vars(choice).values():
            return self.micro(measure, setting, choice, cutoff, groups[0])
        values = ([self.value(measure, setting, choice, cutoff, q, cut) for q in group] for group in groups)
        return mean_of(map(mean_of, values))

    def mean_f1(self, setting, choice, cutoff):
        p, r = cutoff if isinstance(cutoff, tuple) else (cutoff, cutoff)
        level = LevelChoice(choice.f_level)
        if choice.f_mean is FMean.MICRO:
            level = LevelChoice(choice.f_level, RecallBase.MICRO, PrecisionBase.MICRO)
        parts, cut = [("P", p), ("R", r)], max(p, r)
        if choice.f_mean is not FMean.QUERIES:
            return f1(*(self.mean(name, setting, level, k, cut, hits_within=p) for name, k in parts))
        values = (
            [f1(*(self.value(name, setting, level, k, q, cut) for name, k in parts)) for q in group]
            for group in self.queries(setting, p, cut)
        )
        return mean_of(map(mean_of, values))

    def value(self, measure, setting, choice, cutoff, query, cut=None):
        qrels = self.qrels[setting.labels]
        judgments = qrels.get(query, {})
        nothing = max(judgments.values(), default=0) < 1
        if setting.queries is QuerySet.NOTHING_IS_ONE and nothing:
            return 1.0
        ranking = self.ranking(query, setting, cut or cutoff)
        if getattr(choice, "tied", None) is TiedGains.AVERAGED:
            ranking = self.ranking(query, replace(setting, ties=TieBreak.TREC10), cutoff)
            scores = [self.run[query][doc] for doc, _ in ranking]
            return averaged_ndcg(choice, cutoff, ranking, judgments, scores)
        return value_of(measure, choice, cutoff, ranking, judgments, self.top(setting.labels))

    def micro(self, measure, setting, choice, cutoff, queries):
        if any(query not in self.qrels[setting.labels] for query in queries):
            return math.nan
        found, of = 0, 0
        for query in queries:
            ranking = self.ranking(query, setting, cutoff)
            judgments = self.qrels[setting.labels].get(query, {})
            found += oracle.found(ranking, cutoff, choice.level, judged_only=False)
            of += oracle.num_relevant(judgments, choice.level) if measure == "R" else len(ranking[:cutoff])
        return oracle.ratio(found, of) if queries else math.nan


def mean_of(values):
    values = list(values)
    return math.fsum(values) / len(values) if values else math.nan


def f1(p, r):
    return p + r if math.isnan(p + r) else oracle.ratio(2 * p * r, p + r)


def as_binary(ranking, judgments):
    ranking = [(doc, None if grade is None else int(grade >= 1)) for doc, grade in ranking]
    return ranking, {doc: int(grade >= 1) for doc, grade in judgments.items()}


def averaged_ndcg(choice, cutoff, ranking, judgments, scores):
    """Return nDCG with the mean gain of a tie at each of its ranks, as scikit-learn's ndcg_score."""
    gain = "exp" if choice.gain is Gain.EXP else "linear"
    if choice.gain is Gain.BINARY:
        ranking, judgments = as_binary(ranking, judgments)
    gains = [max(grade or 0, 0) for _, grade in ranking]
    best = gains if choice.ideal is Ideal.RUN else [max(grade, 0) for grade in judgments.values()]
    if gain == "exp":
        gains, best = ([2**grade - 1 for grade in each] for each in (gains, best))
    tied = [[gains[j] for j, other in enumerate(scores) if other == score] for score in scores]
    averaged = [sum(each) / len(each) for each in tied][:cutoff]
    ideal = oracle.cumulated_gain(sorted(best, reverse=True)[:cutoff], "linear", "log2")
    return oracle.ratio(oracle.cumulated_gain(averaged, "linear", "log2"), ideal)


def value_of(measure, choice, cutoff, ranking, judgments, top):
    """Return the value of one query."""
    if measure == "AP":
        return average_precision(choice, cutoff, ranking, judgments, top)
    if measure == "nDCG":
        return ndcg(choice, cutoff, ranking, judgments)
    found = oracle.found(ranking, cutoff, getattr(choice, "level", 1), judged_only=False)
    num_rel = oracle.num_relevant(judgments, choice.level)
    if measure == "R" and choice.base is RecallBase.ANY:
        return float(found > 0)
    if measure == "R" and choice.base is RecallBase.ALL:
        return float(found == num_rel > 0)
    if measure == "R" and choice.base is RecallBase.MIN:
        return oracle.ratio(found, min(num_rel, cutoff))
    if measure == "P" and choice.over is PrecisionBase.MIN:
        return oracle.ratio(found, min(num_rel, cutoff))
    if measure == "P" and choice.over is PrecisionBase.RETURNED:
        return oracle.ratio(found, len(ranking[:cutoff]))
    return oracle.MEASURES[measure](ranking, judgments, cutoff=cutoff, rel=choice.level)


def average_precision(choice, cutoff, ranking, judgments, top):
    grades = {grade for grade in judgments.values() if grade >= choice.ap_level and grade > 0}
    weight = {
        "binary": lambda _: 1,
        "linear": lambda grade: grade / top,
        "half": lambda grade: grade / 2,
        "capped": lambda grade: grade / 2 if grade <= 2 else 1,
        "exp": lambda grade: (2**grade - 1) / (2**top - 1),
    }[choice.weights.value]
    gains = {grade: weight(grade) for grade in grades}
    over_k = choice.denominator is Denominator.CUTOFF
    norm = "none" if over_k else choice.denominator.value
    given = {"cutoff": cutoff, "rel": choice.ap_level, "gains": gains, "norm": norm}
    value = oracle.graded_average_precision(ranking, judgments, **given)
    return oracle.ratio(value, cutoff or len(ranking)) if over_k else value


def ndcg(choice, cutoff, ranking, judgments):
    params = {each.name: getattr(choice, each.name).value for each in fields(choice)}
    del params["tied"]
    if choice.gain is Gain.BINARY:
        ranking, judgments = as_binary(ranking, judgments)
        params["gain"] = "linear"
    if choice.ideal not in (Ideal.UNCUT, Ideal.RETURNED, Ideal.FULL):
        return oracle.variant_ndcg(ranking, judgments, cutoff=cutoff, **params)
    floor = 0 if choice.negative is Negative.ZERO else -math.inf
    within = [max(grade or 0, floor) for _, grade in ranking[:cutoff]]
    best = sorted((max(grade, floor) for grade in judgments.values()), reverse=True)
    if choice.ideal is Ideal.RETURNED:
        best = best[: len(within)]
    if choice.ideal is Ideal.FULL:
        best = [1] * (cutoff or len(ranking))
    dcg, ideal = (oracle.cumulated_gain(g, params["gain"], params["discount"]) for g in (within, best))
    return dcg / ideal if ideal > 0 else 0.0


# --- what is tried -------------------------------------------------------------------------------------


def common_choices(measure, plain, labels=LabelPolicy.GRADES):
    """Return the choices that go with all common settings, if they mean something on these labels."""
    alike = labels in (LabelPolicy.POOL, LabelPolicy.STRICT)
    levels = [1.0] if alike else [level for level in plain.levels() if level <= plain.top(labels)]
    if measure == "AP":
        denominators = [d for d in Denominator if d is not Denominator.CUTOFF]
        weighted = [w for w in Weights if w not in (Weights.BINARY, Weights.CAPPED)]
        found = [APChoice(d, Weights.BINARY, level) for d in denominators for level in levels]
        found += [APChoice(d, w, 1.0) for d in denominators for w in weighted]
        return [c for c in found if c.weights is not Weights.HALF or plain.top(labels) <= 3]
    if measure == "nDCG":
        return [
            NDCGChoice(gain, discount, ideal, negative)
            for gain in Gain
            for discount in Discount
            for ideal in (Ideal.QRELS, Ideal.RUN, Ideal.CUTOFF)
            for negative in Negative
            if (gain, negative) != (Gain.BINARY, Negative.KEEP)  # gain 1 has no negative grades
        ]
    if measure == "F1":
        return [FChoice(level, mean) for level in levels for mean in (FMean.QUERIES, FMean.MEANS)]
    bases = (RecallBase.NUM_REL, RecallBase.MIN) if measure == "R" else [RecallBase.NUM_REL]
    return [LevelChoice(level, base) for level in levels for base in bases]


def rare_choices(measure, plain):
    """Return the choices that are tried with plain settings only."""
    if measure == "AP":
        over_k = [APChoice(Denominator.CUTOFF, w) for w in (Weights.BINARY, Weights.LINEAR, Weights.HALF)]
        capped = [APChoice(d, Weights.CAPPED) for d in (Denominator.NUM_REL, Denominator.NONE)]
        top = plain.top(LabelPolicy.GRADES)
        return [c for c in over_k if c.weights is not Weights.HALF or top <= 3] + capped * (top > 2)
    if measure == "nDCG":
        return [
            *(NDCGChoice(gain, ideal=ideal) for ideal in (Ideal.UNCUT, Ideal.RETURNED) for gain in Gain),
            *(NDCGChoice(gain, ideal=Ideal.FULL) for gain in (Gain.LINEAR, Gain.BINARY)),
            *(
                NDCGChoice(gain, ideal=ideal, tied=TiedGains.AVERAGED)
                for ideal in (Ideal.QRELS, Ideal.RUN)
                for gain in Gain
            ),
        ]
    if measure == "R":
        bases = (RecallBase.ANY, RecallBase.ALL, RecallBase.MICRO)
        return [LevelChoice(level, base) for level in plain.levels() for base in bases]
    if measure == "P":
        overs = (PrecisionBase.RETURNED, PrecisionBase.MIN, PrecisionBase.MICRO)
        return [LevelChoice(level, over=over) for level in plain.levels() for over in overs]
    if measure == "F1":
        return [FChoice(level, FMean.MICRO) for level in plain.levels()]
    return []


def named_choices(measure):
    """Return the choices that conventions with a name have, but for rare ones."""
    chosen = [named.choices[FAMILY[measure]] for named in NAMED if FAMILY[measure] in named.choices]
    rare = (Ideal.RETURNED, TiedGains.AVERAGED, PrecisionBase.RETURNED, PrecisionBase.MIN, RecallBase.ANY)
    return [choice for choice in dict.fromkeys(chosen) if not set(rare) & {*vars(choice).values()}]


DEFAULT = Setting()
COMMON_QUERIES = (
    *(QuerySet.QRELS, QuerySet.BOTH, QuerySet.WITH_RELEVANT),
    *(QuerySet.BOTH_WITH_RELEVANT, QuerySet.RUN),
)
ALL_SETTINGS = [
    Setting(ties, queries, labels, self_match)
    for ties in TieBreak
    if ties is not TieBreak.REVERSED
    for queries in COMMON_QUERIES
    for labels in (LabelPolicy.GRADES, LabelPolicy.POOL)
    for self_match in SelfMatch
]
"""The settings that are crossed with all common choices."""
PLAIN_SETTINGS = [
    Setting(ties, queries) for ties in (TieBreak.TREC, TieBreak.INPUT) for queries in COMMON_QUERIES
]
"""The settings that rare choices are tried with."""
RARE_SETTINGS = [
    replace(setting, **change)
    for setting in PLAIN_SETTINGS
    for change in [
        *({"labels": labels} for labels in (LabelPolicy.STRICT, LabelPolicy.LISTED)),
        *({"documents": kept} for kept in Documents if kept is not Documents.ALL),
        {"ties": TieBreak.REVERSED},
        *({"queries": queries} for queries in QuerySet if queries not in COMMON_QUERIES),
    ]
]
"""The settings that are tried with the choices of named conventions."""


def choices_for(measure, plain, labels=LabelPolicy.GRADES):
    """Return the common choices that mean something on these labels."""
    return common_choices(measure, plain, labels)


def is_off(measure, cutoffs, cutoff):
    """Return whether a cutoff is rare: none, in spite of the name."""
    return measure in ("nDCG", "RR") and cutoffs[0] is not None and cutoff != cutoffs[0]


def rarely_tried(measure, plain, cutoffs):
    """Yield setting, choice and cutoff of what is not crossed."""
    allowed = {labels: common_choices(measure, plain, labels) for labels in LabelPolicy}
    usual = [cutoff for cutoff in cutoffs if not is_off(measure, cutoffs, cutoff)]
    for setting in RARE_SETTINGS:
        for choice in named_choices(measure):
            if choice in allowed[setting.labels]:
                yield from ((setting, choice, cutoff) for cutoff in usual)
    for setting in PLAIN_SETTINGS:
        for choice in rare_choices(measure, plain):
            yield from ((setting, choice, cutoff) for cutoff in usual)
        for cutoff in set(cutoffs) - set(usual):
            yield from ((setting, choice, cutoff) for choice in allowed[LabelPolicy.GRADES])


def every_convention(measure, plain, cutoffs):
    """Yield setting, choice and cutoff of all that is tried; rare settings only where they mean something."""
    for setting in ALL_SETTINGS:
        for choice in choices_for(measure, plain, setting.labels):
            usual = (cutoff for cutoff in cutoffs if not is_off(measure, cutoffs, cutoff))
            yield from ((setting, choice, cutoff) for cutoff in usual)
    named = (
        (replace(each.setting, rounding=Rounding.EXACT), each.choices[FAMILY[measure]], cutoffs[0])
        for each in NAMED
        if FAMILY[measure] in each.choices
    )
    seen = set()
    for setting, choice, cutoff in [*rarely_tried(measure, plain, cutoffs), *named]:
        level = max(vars(choice).get(option, 1) for option in ("ap_level", "level", "f_level"))
        known = means_something(setting, plain) and level <= plain.top(setting.labels)
        if known and (setting, choice, cutoff) not in seen and setting not in ALL_SETTINGS:
            seen.add((setting, choice, cutoff))
            yield setting, choice, cutoff
    for setting, choice, cutoff in rarely_tried(measure, plain, cutoffs):
        if setting in ALL_SETTINGS:
            yield setting, choice, cutoff


def means_something(setting, plain):
    """Return whether there is such a ranking or query set at all; an audit leaves out the others."""
    if setting.documents is Documents.FIRST_K:
        best, worst = (replace(DEFAULT, ties=ties) for ties in (TieBreak.OPTIMISTIC, TieBreak.PESSIMISTIC))
        return any(
            [grade for _, grade in plain.ranking(query, best)] != [g for _, g in plain.ranking(query, worst)]
            for query in plain.qrels[LabelPolicy.GRADES]
        )
    if setting.documents in (Documents.IN_PLACE, Documents.LAST):
        return False  # a dict holds no document twice
    if setting.labels is LabelPolicy.STRICT:
        return plain.top(LabelPolicy.GRADES) >= 2
    if setting.queries in (QuerySet.CONVERSATIONS, QuerySet.TURNS):
        return all("_" in query for query in plain.qrels[LabelPolicy.GRADES])
    return {QuerySet.ALL_RUNS: bool(plain.others), QuerySet.GROUPS: plain.groups is not None}.get(
        setting.queries, True
    )


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


def conversations(qrels, run):
    """Return qrels and a run with ids of conversations and turns, of different lengths."""
    turns = {query: f"topic_{i // 2}_{i % 2 + 1}" for i, query in enumerate(dict.fromkeys([*qrels, *run]))}
    turns |= {query: f"topic_0_{i + 3}" for i, query in enumerate(list(turns)[-2:])}
    return tuple({turns[query]: docs for query, docs in each.items()} for each in (qrels, run))


CLAIMS = {
    "MAP@5": "AP",
    "nDCG@5": "nDCG",
    "P@3": "P",
    "R@4": "R",
    "RR@5": "RR",
    "hit@2": "Success",
    "F1@3": "F1",
}


def computed(audited, setting, choice, cutoff):
    """Return what the audit has for a convention."""
    return audited.at(setting, choice, cutoff)


FAMILY = {"AP": "ap", "nDCG": "ndcg", "F1": "f", **dict.fromkeys(("P", "R", "RR", "Success"), "level")}


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
