"""Conventions as plain loops over dicts, and random data on which they differ."""

import math

import cases
import oracle

from permed_measures.conventions.options import CUTOFF_OF, default_of, meant
from permed_measures.conventions.options import DEFAULT as COMMUNITY_OPTIONS

DEFAULT = {}
"""The community's convention: tests write conventions as what differs from it."""


class Plain:
    """Qrels, a run and the others of a table, and the mean of a measure by any convention."""

    def __init__(self, qrels, run, others=()):
        self.qrels = {
            "grades": qrels,
            "pool": {query: dict.fromkeys(docs, 1) for query, docs in qrels.items()},
            "strict": {
                query: {doc: 1 if grade >= 2 else min(grade, 0) for doc, grade in docs.items()}
                for query, docs in qrels.items()
            },
        }
        self.run, self.others = run, others
        self.rankings, self.first = {}, {}

    def judgments(self, query, how):
        """Return the grades of the documents of a query; perhaps only of those that its list has."""
        how = {**COMMUNITY_OPTIONS, **how}
        if how["labels"] != "listed":
            return self.qrels[how["labels"]].get(query, {})
        grades, listed = self.qrels["grades"].get(query, {}), self.candidates(query, how)
        return {doc: grade for doc, grade in grades.items() if doc in listed}

    def candidates(self, query, how):
        """Return the first documents of a list as they stand."""
        key, docs = (query, how["depth"]), self.run.get(query, {})
        if key not in self.first:
            self.first[key] = {*sorted(docs, key=lambda doc: -docs[doc])[: DEPTHS[how["depth"]]]}
        return self.first[key]

    def top(self, how):
        grades = [grade for query in self.qrels["grades"] for grade in self.judgments(query, how).values()]
        return max((grade for grade in grades if grade > 0), default=1)

    def scores(self, query, how):
        """Return the documents that are ranked."""
        kept = self.candidates(query, how)
        docs = {doc: score for doc, score in self.run.get(query, {}).items() if doc in kept}
        if how["self_match"] == "removed":
            docs = {doc: score for doc, score in docs.items() if doc != query}
        if how["documents"] == "positive":
            docs = {doc: score for doc, score in docs.items() if score > 0}
        return docs

    def ranking(self, query, how):
        how = {**COMMUNITY_OPTIONS, **how}
        key = (query, *(how[each] for each in ("ties", "labels", "self_match", "documents", "depth")))
        if key not in self.rankings:
            judgments = self.qrels["grades" if how["labels"] == "listed" else how["labels"]].get(query, {})
            order = oracle.rank(self.scores(query, how), how["ties"], judgments)
            ranking = [(doc, judgments.get(doc)) for doc in order]
            if how["documents"] == "labelled":
                ranking = [(doc, grade) for doc, grade in ranking if grade is not None]
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
        qrels, of = self.qrels["grades"], how["queries"]
        relevant = [query for query in qrels if max(self.judgments(query, how).values(), default=0) >= 1]
        lists = {query: self.ranking(query, how) for query in qrels}
        return {
            "qrels": list(qrels),
            "both": [query for query in qrels if query in self.run],
            "nothing_is_one": [query for query in qrels if query in self.run],
            "with_list_nothing_is_one": [query for query, docs in lists.items() if docs],
            "with_relevant": relevant,
            "both_with_relevant": [query for query in relevant if query in self.run],
            "run": list(self.run),
            "all_runs": [q for q in qrels if all(q in each for each in (self.run, *self.others))],
            "with_hit": [q for q, docs in lists.items() if any((g or 0) >= 1 for _, g in docs[:cutoff])],
            "with_list": [q for q, docs in lists.items() if docs],
            "with_relevant_and_list": [q for q in relevant if lists[q]],
            "with_both_kinds": [
                q
                for q, docs in lists.items()
                if any((g or 0) >= 1 for _, g in docs) and any((g or 0) < 1 for _, g in docs)
            ],
            "with_found": [q for q, docs in lists.items() if any((g or 0) >= 1 for _, g in docs)],
        }[of]

    def mean(self, measure, how, cutoff, hits_within=None):
        """Return the mean of a measure by a convention, or its micro average."""
        how = own_of(measure, how)
        if measure == "F1":
            return self.mean_f1(how, cutoff)
        groups = self.queries(how, hits_within or cutoff)
        averaging = how["pooling" if measure in ("nDCG", "RR") else "averaging"]
        if measure != "AP" and averaging == "micro" and not micro_of_hits(measure, how):
            return self.micro(measure, how, cutoff, groups[0])
        values = ([rounded(self.value(measure, how, cutoff, q), how) for q in group] for group in groups)
        return mean_of(map(mean_of, values))

    def mean_f1(self, how, cutoff):
        p, r = cutoff if isinstance(cutoff, tuple) else (cutoff, cutoff)
        plain = {**how, "rounding": "exact"}
        parts = [("P", p), ("R", r)]
        if "micro" in how["averaging"] or how["f1"] == "means":
            alike = {option: value for option, value in plain.items() if " of " not in option}
            return f1(*(self.mean(name, alike, k, hits_within=p) for name, k in parts))
        values = (
            [rounded(f1(*(self.value(name, plain, k, q) for name, k in parts)), how) for q in group]
            for group in self.queries(how, p)
        )
        return mean_of(map(mean_of, values))

    def value(self, measure, how, cutoff, query):
        return over(*self.parts(measure, how, cutoff, query))

    def parts(self, measure, how, cutoff, query):
        """Return what is summed for a query, and what it is divided by."""
        judgments = self.judgments(query, how)
        if "nothing_is_one" in how["queries"] and max(judgments.values(), default=0) < 1:
            return 1.0, 1
        ranking, scores = self.ranking(query, how), self.run.get(query, {})
        if measure == "nDCG" and how["tied"] == "averaged":
            exact = self.ranking(query, {**how, "ties": "trec10"})
            gains = [gain_of(grade or 0, how) for _, grade in exact]
            tied = [
                [gains[j] for j, (d, _) in enumerate(exact) if scores[d] == scores[doc]] for doc, _ in exact
            ]
            return ndcg(how, cutoff, ranking, judgments, [sum(each) / len(each) for each in tied])
        if measure == "AP":
            return average_precision(how, cutoff, ranking, judgments, self.top(how), scores)
        if measure == "nDCG":
            return ndcg(how, cutoff, ranking, judgments)
        return hits_over(measure, how, cutoff, ranking, judgments, scores)

    def micro(self, measure, how, cutoff, queries):
        if any(query not in self.qrels["grades"] for query in queries):
            return math.nan
        if measure == "P" and how["precision"] == "cutoff":
            how = {**how, "precision": "returned"}
        how = {**how, "queries": "qrels"}  # what has nothing relevant adds nothing
        parts = [self.parts(measure, how, cutoff, query) for query in queries]
        return over(*(math.fsum(each) for each in zip(*parts, strict=True))) if queries else math.nan


DEPTHS = {"whole": None} | {f"first_{n}": n for n in (10, 20, 50, 100, 1000)}


def over(value, of):
    return value / of if of > 0 else 0.0


def rounded(value, how):
    return math.floor(value * 100 + 0.5) / 100 if how["rounding"] == "query_values" else value


def mean_of(values):
    values = list(values)
    return math.fsum(values) / len(values) if values else math.nan


def f1(p, r):
    return p + r if math.isnan(p + r) else oracle.ratio(2 * p * r, p + r)


def micro_of_hits(measure, how):
    """Return whether a micro average is the mean of queries, each of which counts 0 or 1."""
    return measure == "Success" and how["success"] in ("any", "middle")


def middle_rank(how, ranking, scores):
    """Return the least of the middle ranks that relevant documents share with those of their score."""
    exact = sorted((scores[doc] for doc, _ in ranking), reverse=True)
    ranks = {doc: [i for i, each in enumerate(exact, 1) if each == scores[doc]] for doc, _ in ranking}
    middle = [sum(ranks[doc]) / len(ranks[doc]) for doc, g in ranking if g is not None and g >= how["level"]]
    return min(middle, default=math.inf)


def hits_over(measure, how, cutoff, ranking, judgments, scores):
    """Return hits, or the sum of one over their ranks, and what that is divided by."""
    middle = middle_rank(how, ranking, scores)
    is_within = middle <= (cutoff or math.inf) and middle < math.inf
    grades = [grade or 0 for _, grade in ranking[:cutoff]]
    ranks = [i for i, grade in enumerate(grades, 1) if grade >= how["level"]]
    found, num_rel = len(ranks), oracle.num_relevant(judgments, how["level"])
    best = max([0, *(grade or 0 for _, grade in ranking)])
    first = [i for i, grade in enumerate(grades, 1) if grade == best >= how["level"]]
    reciprocal = [1 / rank for rank in ranks]
    smaller = num_rel if cutoff is None else min(num_rel, cutoff)
    option = how[{"P": "precision", "R": "recall", "RR": "ranks", "Success": "success"}[measure]]
    return {
        ("P", "cutoff"): (found, cutoff),
        ("P", "returned"): (found, len(grades)),
        ("P", "min"): (found, smaller),
        ("R", "num_rel"): (found, num_rel),
        ("R", "min"): (found, smaller),
        ("R", "any"): (float(found > 0), 1),
        ("R", "all"): (float(found == num_rel > 0), 1),
        ("Success", "any"): (float(found > 0), 1),
        ("Success", "num_rel"): (found, num_rel),
        ("Success", "middle"): (float(is_within), 1),
        ("RR", "middle"): (1 / middle if is_within else 0, 1),
        ("RR", "first"): (reciprocal[0] if ranks else 0, 1),
        ("RR", "found"): (math.fsum(reciprocal), found),
        ("RR", "relevant"): (math.fsum(reciprocal), num_rel),
        ("RR", "best"): (1 / first[0] if first else 0, 1),
    }[measure, option]


def average_precision(how, cutoff, ranking, judgments, top, scores):
    """Return the summed precisions, and what they are divided by."""
    weight = {
        "binary": lambda _: 1,
        "linear": lambda grade: grade / top,
        "half": lambda grade: grade / 2,
        "capped": lambda grade: grade / 2 if grade <= 2 else 1,
        "exp": lambda grade: (2**grade - 1) / (2**top - 1),
    }.get(how["weights"]) or how["weights"].gains.get
    level = max(how["level"], 1e-9)
    weights = [weight(g) if g is not None and g >= level else None for _, g in ranking[:cutoff]]
    total = 0.0
    for i in range(1, (cutoff or len(ranking)) + 1):
        hits, summed = (sum(w is not None for w in weights[:i]), sum(w or 0 for w in weights[:i]))
        own = weights[i - 1] if i <= len(weights) else None
        if how["tied"] == "one_step" and own is not None:  # all with this score are seen at once
            score = scores[ranking[i - 1][0]]
            seen = [at for at, (doc, _) in enumerate(ranking) if scores[doc] >= score]
            hits = sum(weights[at] is not None for at in seen if at < len(weights))
            total += hits / min(len(seen), cutoff or len(ranking)) * own
        elif own is not None and how["per_hit"] in ("precision", "reciprocal_rank", "summed_weights"):
            each = {"precision": hits * own, "reciprocal_rank": own, "summed_weights": summed}
            total += each[how["per_hit"]] / i
        elif own is not None and how["per_hit"] == "trapezoids":
            above = (hits - 1) / (i - 1) if i > 1 else 1
            total += own * (hits / i + above) / 2
        elif own is not None and how["per_hit"] == "to_num_rel":
            is_above = i <= oracle.num_relevant(judgments, level)
            total += own * hits / i if is_above else 0
        elif how["per_hit"] == "every_rank" or (how["per_hit"] == "every_document" and i <= len(ranking)):
            total += summed / i
    relevant = [grade for grade in judgments.values() if grade >= level]
    ideal = sorted(map(weight, relevant), reverse=True)
    n, returned = len(relevant), len(weights)
    return total, {
        **{"num_rel": n, "min": min(n, cutoff or n), "num_rel_ret": sum(w is not None for w in weights)},
        **{"none": 1, "cutoff": cutoff or max(len(ranking), 1), "returned": returned},
        **{"gain": math.fsum(ideal), "ideal": math.fsum(ideal[:cutoff]), "min_returned": min(n, returned)},
        "ideal_grades": math.fsum(sorted(relevant, reverse=True)[:cutoff]),
        "smaller_at_each_rank": sum(min(n, i) for i in range(1, returned + 1)),
    }[how["denominator"]]


def gain_of(grade, how):
    """Return what a grade gains in nDCG."""
    if how["negative"] == "zero":
        grade = max(grade, 0)
    gains = {"exp": 2**grade - 1, "linear": grade, "binary": int(grade >= 1), "first": int(grade >= 1)}
    return gains[how["gain"]] if how["gain"] in gains else how["gain"].gains.get(grade, grade)


def ndcg(how, cutoff, ranking, judgments, gains=None):
    """Return DCG from its definition, and what it is divided by; `gains` may be averaged over ties."""
    if gains is None:
        gains = [gain_of(grade or 0, how) for _, grade in ranking]
    best = {
        "run": lambda: [grade or 0 for _, grade in ranking],
        "cutoff": lambda: [grade or 0 for _, grade in ranking[:cutoff]],
        "full": lambda: [1] * (cutoff or len(ranking)),
    }.get(how["ideal"], lambda: list(judgments.values()))()
    best = sorted(best, reverse=True)
    best = [1] * len(best) if how["ideal"] == "full" else [gain_of(grade, how) for grade in best]
    if how["gain"] == "first":
        gains = [gain if not any(gains[:i]) else 0 for i, gain in enumerate(gains)]
        if how["ideal"] != "full":
            best = [gain if not any(best[:i]) else 0 for i, gain in enumerate(best)]
    if how["ideal"] != "uncut":
        best = best[:cutoff]
    if how["ideal"] == "returned":
        best = best[: len(ranking)]
    dcg, ideal = (oracle.cumulated_gain(each, "linear", how["discount"]) for each in (gains[:cutoff], best))
    return dcg, 1 if how["ideal"] == "none" else ideal


def flat(convention):
    """Return a convention of several measures as one table: "ties of RR" is what RR has."""
    return {
        f"{option} of {measure}": value
        for measure, options in convention.items()
        for option, value in options.items()
    }


def convention_of(claims, how=(), **cutoffs):
    """Return a convention for claims: the community's with other values, of one measure as "ties of RR"."""
    found = {}
    for claim in claims:
        own = own_of(claim.measure, dict(how))
        options = {each: meant(claim.measure, each, own[each]) for each in default_of(claim.measure)}
        cutoff = cutoffs.get(claim.name, claim.cutoffs[0])
        found.setdefault(claim.measure, options)[CUTOFF_OF + claim.name] = cutoff
    return found


def own_of(measure, how):
    """Return a convention as a measure has it: "ties of RR" is what RR has."""
    how = {**COMMUNITY_OPTIONS, **how}
    return how | {
        option: how[own] for option in COMMUNITY_OPTIONS if (own := f"{option} of {measure}") in how
    }


def means_something(measure, how, plain):
    """Return whether there is such a ranking, query set or gain; an audit leaves out the others."""
    how = own_of(measure, how)
    at_once = how["tied"] != "in_order" and measure in ("AP", "nDCG")
    at_once &= (how["tied"] == "averaged") == (measure == "nDCG")
    by_middle = (measure, how["ranks"]) == ("RR", "middle")
    by_middle |= (measure, how["success"]) == ("Success", "middle")
    alike = how["labels"] in ("pool", "strict") and how["level"] != 1
    grouped = how["averaged"] in ("conversations", "turns")
    micro = [how["averaging"] == "micro" and measure in ("P", "R", "F1", "Success")]
    micro += [how["pooling"] == "micro" and measure in ("nDCG", "RR")]
    nothing_new = {
        "P": how["precision"] == "returned",
        "R": how["recall"] in ("any", "all"),
        "F1": how["precision"] == "returned" or how["recall"] in ("any", "all"),
        "RR": how["ranks"] in ("first", "best", "middle"),
        "nDCG": how["ideal"] == "none",
        "Success": False,
    }
    top = plain.top(how)
    return not (
        alike
        or (any(micro) and ((grouped and not micro_of_hits(measure, how)) or nothing_new[measure]))
        or how["level"] > top
        or (how["labels"] == "strict" and plain.top({**how, "labels": "grades"}) < 2)
        or (grouped and not all("_" in query for query in plain.qrels["grades"]))
        or (how["queries"] == "all_runs" and not plain.others)
        or (
            (at_once or by_middle)
            and (how["documents"] in ("judged", "labelled") or how["labels"] in ("pool", "strict"))
        )
        or (at_once and (how["gain"] == "first" if measure == "nDCG" else how["per_hit"] != "precision"))
        or (measure == "AP" and how["weights"] == "half" and top > 3)
        or (measure == "AP" and how["weights"] == "capped" and top <= 2)
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
