"""Conventions as plain loops over dicts, and random data on which they differ."""

import math

import cases
import oracle

from permed_measures.conventions.options import DEFAULT as COMMUNITY_OPTIONS

DEFAULT = {}
"""The community's convention: tests write conventions as what differs from it."""


class Plain:
    """Qrels, a run and the others of a table, and the mean of a measure by any convention."""

    def __init__(self, qrels, run, others=()):
        listed = {q: {d: g for d, g in docs.items() if d in run.get(q, {})} for q, docs in qrels.items()}
        self.qrels = {
            "grades": qrels,
            "pool": {query: dict.fromkeys(docs, 1) for query, docs in qrels.items()},
            "strict": {
                query: {doc: 1 if grade >= 2 else min(grade, 0) for doc, grade in docs.items()}
                for query, docs in qrels.items()
            },
            "listed": listed,
        }
        self.run, self.others = run, others
        self.rankings = {}

    def top(self, labels):
        grades = [grade for docs in self.qrels[labels].values() for grade in docs.values() if grade > 0]
        return max(grades, default=1)

    def scores(self, query, how):
        """Return the documents that are ranked."""
        docs = self.run.get(query, {})
        if how["self_match"] == "removed":
            docs = {doc: score for doc, score in docs.items() if doc != query}
        if how["documents"] == "positive":
            docs = {doc: score for doc, score in docs.items() if score > 0}
        return docs

    def ranking(self, query, how):
        how = {**COMMUNITY_OPTIONS, **how}
        key = (query, how["ties"], how["labels"], how["self_match"], how["documents"])
        if key not in self.rankings:
            judgments = self.qrels[how["labels"]].get(query, {})
            order = oracle.rank(self.scores(query, how), how["ties"], judgments)
            ranking = [(doc, judgments.get(doc)) for doc in order]
            if how["documents"] == "judged":
                ranking = [(doc, grade) for doc, grade in ranking if grade is not None and grade >= 0]
            self.rankings[key] = ranking
        return self.rankings[key]

    def queries(self, how, cutoff):
        """Return the groups of queries that means are taken over, and then of these."""
        queries, groups = self.counted(how, cutoff), {}
        if how["averaged"] == "queries":
            return [queries]
        for query in queries:
            parts = query.rpartition("_")
            groups.setdefault(parts[0 if how["averaged"] == "conversations" else 2], []).append(query)
        return list(groups.values())

    def counted(self, how, cutoff):
        """Return the queries that count."""
        qrels, of = self.qrels[how["labels"]], how["queries"]
        relevant = [query for query in qrels if max(qrels[query].values(), default=0) >= 1]
        lists = {query: self.ranking(query, how) for query in qrels}
        return {
            "qrels": list(qrels),
            "both": [query for query in qrels if query in self.run],
            "nothing_is_one": [query for query in qrels if query in self.run],
            "with_relevant": relevant,
            "both_with_relevant": [query for query in relevant if query in self.run],
            "run": list(self.run),
            "all_runs": [q for q in qrels if all(q in each for each in (self.run, *self.others))],
            "with_hit": [q for q, docs in lists.items() if any((g or 0) >= 1 for _, g in docs[:cutoff])],
            "with_list": [q for q, docs in lists.items() if docs],
            "with_found": [q for q, docs in lists.items() if any((g or 0) >= 1 for _, g in docs)],
        }[of]

    def mean(self, measure, how, cutoff, hits_within=None):
        """Return the mean of a measure by a convention, or its micro average."""
        how = {**COMMUNITY_OPTIONS, **how}
        for option in COMMUNITY_OPTIONS:  # "ties of RR" is what RR has
            how[option] = how.get(f"{option} of {measure}", how[option])
        if measure == "F1":
            return self.mean_f1(how, cutoff)
        groups = self.queries(how, hits_within or cutoff)
        if measure in "PR" and how["averaging"] == "micro":
            return self.micro(measure, how, cutoff, groups[0])
        values = ([rounded(self.value(measure, how, cutoff, q), how) for q in group] for group in groups)
        return mean_of(map(mean_of, values))

    def mean_f1(self, how, cutoff):
        p, r = cutoff if isinstance(cutoff, tuple) else (cutoff, cutoff)
        plain = {**how, "precision": "cutoff", "recall": "num_rel"}
        plain["rounding"] = "exact"
        parts = [("P", p), ("R", r)]
        if how["averaging"] != "macro":
            return f1(*(self.mean(name, plain, k, hits_within=p) for name, k in parts))
        values = (
            [rounded(f1(*(self.value(name, plain, k, q) for name, k in parts)), how) for q in group]
            for group in self.queries(how, p)
        )
        return mean_of(map(mean_of, values))

    def value(self, measure, how, cutoff, query):
        qrels = self.qrels[how["labels"]]
        judgments = qrels.get(query, {})
        nothing = max(judgments.values(), default=0) < 1
        if how["queries"] == "nothing_is_one" and nothing:
            return 1.0
        ranking = self.ranking(query, how)
        if measure == "nDCG" and how["tied"] == "averaged":
            exact = self.ranking(query, {**how, "ties": "trec10"})
            scores = [self.run[query][doc] for doc, _ in exact]
            gains = [gain_of(grade or 0, how) for _, grade in exact]
            tied = [[gains[j] for j, other in enumerate(scores) if other == score] for score in scores]
            return ndcg(how, cutoff, ranking, judgments, [sum(each) / len(each) for each in tied])
        return value_of(measure, how, cutoff, ranking, judgments, self.top(how["labels"]))

    def micro(self, measure, how, cutoff, queries):
        if any(query not in self.qrels[how["labels"]] for query in queries):
            return math.nan
        found, of = 0, 0
        for query in queries:
            ranking = self.ranking(query, how)
            judgments = self.qrels[how["labels"]].get(query, {})
            found += oracle.found(ranking, cutoff, how["level"], judged_only=False)
            num_rel = oracle.num_relevant(judgments, how["level"])
            usual = num_rel if measure == "R" else len(ranking[:cutoff])
            of += min(num_rel, cutoff or num_rel) if how[DENOMINATORS[measure]] == "min" else usual
        return oracle.ratio(found, of) if queries else math.nan


DENOMINATORS = {"P": "precision", "R": "recall"}


def rounded(value, how):
    return math.floor(value * 100 + 0.5) / 100 if how["rounding"] == "query_values" else value


def mean_of(values):
    values = list(values)
    return math.fsum(values) / len(values) if values else math.nan


def f1(p, r):
    return p + r if math.isnan(p + r) else oracle.ratio(2 * p * r, p + r)


def value_of(measure, how, cutoff, ranking, judgments, top):
    """Return the value of one query."""
    if measure == "AP":
        return average_precision(how, cutoff, ranking, judgments, top)
    if measure == "nDCG":
        return ndcg(how, cutoff, ranking, judgments)
    found = oracle.found(ranking, cutoff, how["level"], judged_only=False)
    num_rel = oracle.num_relevant(judgments, how["level"])
    ranks = [i for i, (_, g) in enumerate(ranking[:cutoff], 1) if g is not None and g >= how["level"]]
    reciprocal = math.fsum(1 / rank for rank in ranks)
    special = {
        ("RR", "found"): oracle.ratio(reciprocal, len(ranks)),
        ("RR", "relevant"): oracle.ratio(reciprocal, num_rel),
        ("Success", "num_rel"): oracle.ratio(found, num_rel),
        ("R", "any"): float(found > 0),
        ("R", "all"): float(found == num_rel > 0),
        ("R", "min"): oracle.ratio(found, min(num_rel, cutoff)) if cutoff else None,
        ("P", "min"): oracle.ratio(found, min(num_rel, cutoff)) if cutoff else None,
        ("P", "returned"): oracle.ratio(found, len(ranking[:cutoff])),
    }
    options = {**DENOMINATORS, "RR": "ranks", "Success": "success"}
    option = how[options[measure]] if measure in options else None
    if (measure, option) in special:
        return special[measure, option]
    return oracle.MEASURES[measure](ranking, judgments, cutoff=cutoff, rel=how["level"])


def average_precision(how, cutoff, ranking, judgments, top):
    grades = {grade for grade in judgments.values() if grade >= how["level"] and grade > 0}
    weight = {
        "binary": lambda _: 1,
        "linear": lambda grade: grade / top,
        "half": lambda grade: grade / 2,
        "capped": lambda grade: grade / 2 if grade <= 2 else 1,
        "exp": lambda grade: (2**grade - 1) / (2**top - 1),
    }[how["weights"]]
    gains = {grade: weight(grade) for grade in grades}
    over_k = how["denominator"] == "cutoff"
    norm = "none" if over_k else how["denominator"]
    given = {"cutoff": cutoff, "rel": how["level"], "gains": gains, "norm": norm}
    value = oracle.graded_average_precision(ranking, judgments, **given)
    if how["per_hit"] == "reciprocal_rank":
        value = weighted_reciprocal_ranks(how, cutoff, ranking, judgments, gains)
    return oracle.ratio(value, cutoff or len(ranking)) if over_k else value


def weighted_reciprocal_ranks(how, cutoff, ranking, judgments, gains):
    """Return the weights over the ranks, divided as AP is."""
    hits = [(i, gains[g]) for i, (_, g) in enumerate(ranking[:cutoff], 1) if g is not None and g in gains]
    weights = sorted((gains[g] for g in judgments.values() if g in gains), reverse=True)
    n = {
        **{"num_rel": len(weights), "min": min(len(weights), cutoff or len(weights))},
        **{"num_rel_ret": len(hits), "none": 1, "cutoff": 1},
        **{"gain": math.fsum(weights), "ideal": math.fsum(weights[:cutoff])},
    }[how["denominator"]]
    return oracle.ratio(math.fsum(weight / i for i, weight in hits), n)


def gain_of(grade, how):
    """Return what a grade gains in nDCG."""
    if how["negative"] == "zero":
        grade = max(grade, 0)
    return {"exp": 2**grade - 1, "linear": grade, "binary": int(grade >= 1)}[how["gain"]]


def ndcg(how, cutoff, ranking, judgments, gains=None):
    """Return nDCG from its definition; `gains` may be those of the ranks, averaged over ties."""
    if gains is None:
        gains = [gain_of(grade or 0, how) for _, grade in ranking]
    best = {
        "run": lambda: [grade or 0 for _, grade in ranking],
        "cutoff": lambda: [grade or 0 for _, grade in ranking[:cutoff]],
        "full": lambda: [1] * (cutoff or len(ranking)),
    }.get(how["ideal"], lambda: list(judgments.values()))()
    best = sorted((gain_of(grade, how) for grade in best), reverse=True)
    if how["ideal"] == "full":
        best = [1] * len(best)
    if how["ideal"] != "uncut":
        best = best[:cutoff]
    if how["ideal"] == "returned":
        best = best[: len(ranking)]
    dcg, ideal = (oracle.cumulated_gain(each, "linear", how["discount"]) for each in (gains[:cutoff], best))
    return dcg / ideal if ideal > 0 else 0.0


def means_something(how, plain):
    """Return whether there is such a ranking, query set or gain; an audit leaves out the others."""
    how = {**COMMUNITY_OPTIONS, **how}
    averaged = how["tied"] == "averaged"
    alike = how["labels"] in ("pool", "strict") and how["level"] != 1
    usual = how["precision"] != "returned" and how["recall"] in ("num_rel", "min")
    grouped = how["averaged"] in ("conversations", "turns")
    micro = how["averaging"] == "micro" and (grouped or not usual)
    top = plain.top(how["labels"])
    return not (
        alike
        or micro
        or how["level"] > top
        or (how["labels"] == "strict" and plain.top("grades") < 2)
        or (grouped and not all("_" in query for query in plain.qrels["grades"]))
        or (how["queries"] == "all_runs" and not plain.others)
        or (averaged and (how["documents"] == "judged" or how["labels"] in ("pool", "strict")))
        or (how["weights"] == "half" and top > 3)
        or (how["weights"] == "capped" and top <= 2)
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
