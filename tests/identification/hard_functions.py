"""Functions that look like a measure.

They raise, return a constant or NaN, look at the highest label, cap what they divide by, or round. Each has
the name it is asked for, its form, and what must come out: part of the sentence that names it, None where no
convention may be named, or ``error`` where it gives a number on too few cases.
"""

import math
from collections.abc import Callable
from typing import NamedTuple


class Hard(NamedTuple):
    function: Callable
    name: str
    form: str
    expected: str | None


HARD: list[Hard] = []


def hard(name, expected, form="query"):
    """Make a decorator that registers a function."""

    def listed(function):
        HARD.append(Hard(function, name, form, expected))
        return function

    return listed


def over_queries(of_query):
    """Turn a function of one query into a function of qrels and a run, by the mean over the qrels."""

    def of_run(qrels, run):
        return sum(of_query(qrels[q], list(run.get(q, {}))) for q in qrels) / len(qrels)

    return of_run


def bits(grades, docs, level=1):
    return [grades.get(doc, 0) >= level for doc in docs]


def n_relevant(grades, level=1):
    return sum(grade >= level for grade in grades.values())


def dcg(gains, discount=lambda i: math.log2(i + 1)):
    return sum(gain / discount(i) for i, gain in enumerate(gains, 1))


def precisions(found):
    return [sum(found[:i]) / i for i, hit in enumerate(found, 1) if hit]


def ratio(numerator, denominator, otherwise=0.0):
    return numerator / denominator if denominator > 0 else otherwise


def gains_of(grades, docs):
    return [max(grades.get(doc, 0), 0) for doc in docs]


def best(grades):
    return sorted((max(grade, 0) for grade in grades.values()), reverse=True)


# --- what raises -------------------------------------------------------------------------------------------


@hard("nDCG@10", "error")
def raises_on_every_list(_, docs):
    if docs:
        raise TypeError("wrong shape")
    return 0.0


@hard("P@10", "error")
def raises_always(grades, docs):
    raise ValueError(f"{len(grades)} {len(docs)}")


@hard("P@10", "error", "dicts")
def takes_lists(qrels, run):
    return sum(qrels[0]) / len(run)


def fails_below(n):
    def precision(grades, docs):
        top = [docs[i] for i in range(n)]
        return sum(bits(grades, top[:10])) / 10

    return precision


hard("P@10", None)(fails_below(5))
for length in (10, 15, 20):
    hard("P@10", "P@10")(fails_below(length))
hard("P@10", "P@10", "dicts")(over_queries(fails_below(15)))


@hard("R@10", "R@10")
def recall_of_full_lists(grades, docs):
    return ratio(sum(bits(grades, [docs[i] for i in range(10)])), n_relevant(grades))


@hard("R@10", "R@10")
def recall_divides_by_zero(grades, docs):
    return sum(bits(grades, docs[:10])) / n_relevant(grades)


@hard("MAP@10", "divided by the relevant documents found")
def fails_without_a_hit(grades, docs):
    found = precisions(bits(grades, docs[:10]))
    return sum(found) / len(found)


@hard("R@10", None)
def hits_are_11_where_it_does_not_fail(grades, docs):
    return sum(bits(grades, docs[:11])) / n_relevant(grades)


@hard("MRR@10", "RR@10")
def fails_on_empty_lists(grades, docs):
    return (
        0.0
        if docs[0] is None
        else max((1 / i for i, b in enumerate(bits(grades, docs[:10]), 1) if b), default=0)
    )


@hard("P@5", "P@5")
def fails_on_negative_grades(grades, docs):
    if min(grades.values()) < 0:
        raise ValueError("a negative grade")
    return sum(bits(grades, docs[:5])) / 5


@hard("R@10", "R@10", "dicts")
def fails_on_one_query(qrels, run):
    if len(qrels) == 1:
        raise ValueError("too few queries")
    return over_queries(lambda g, d: ratio(sum(bits(g, d[:10])), n_relevant(g)))(qrels, run)


@hard("P@5", "P@5", "dicts")
def fails_on_missing_queries(qrels, run):
    return sum(sum(bits(qrels[q], list(run[q])[:5])) / 5 for q in qrels) / len(qrels)


@hard("Hit@10", None)
def hit_of_grade_1_only(grades, docs):
    return float(any(grades.get(doc, 0) == 1 for doc in docs[:10]))


# --- constants, and NaN ------------------------------------------------------------------------------------

for constant in (0.0, 0.5, 1.0):
    for name in ("P@1", "MAP@10", "nDCG@10"):
        hard(name, None, "dicts")(lambda qrels, run, constant=constant: constant)  # noqa: ARG005
hard("P@1", "error", "dicts")(lambda qrels, run: math.nan)  # noqa: ARG005
hard("P@1", "error", "dicts")(lambda qrels, run: None)  # noqa: ARG005


@hard("R@10", "R@10")
def nan_without_relevant(grades, docs):
    return ratio(sum(bits(grades, docs[:10])), n_relevant(grades), math.nan)


@hard("P@10", None)
def constant_but_for_one(grades, docs):
    return float(len(docs) == 1 and len(grades) == 1)


# --- what looks at the highest label -----------------------------------------------------------------------


def level_by_labels(qrels):
    return 2 if max(grade for docs in qrels.values() for grade in docs.values()) > 1 else 1


@hard("MAP@10", None, "dicts")
def ap_from_the_level_of_the_labels(qrels, run):
    level = level_by_labels(qrels)
    of = over_queries(lambda g, d: ratio(sum(precisions(bits(g, d[:10], level))), n_relevant(g, level)))
    return of(qrels, run)


@hard("P@10", None, "dicts")
def precision_from_the_level_of_the_labels(qrels, run):
    level = level_by_labels(qrels)
    return over_queries(lambda g, d: sum(bits(g, d[:10], level)) / 10)(qrels, run)


@hard("MRR@10", None)
def rr_of_the_highest_grade_of_the_qrels(grades, docs):
    top = max(max(grades.values()), 1)
    return max((1 / i for i, b in enumerate(bits(grades, docs[:10], top), 1) if b), default=0.0)


@hard("MRR@10", "the highest grade of its list")
def rr_of_the_highest_grade_of_the_list(grades, docs):
    gains = gains_of(grades, docs)
    top = max(gains, default=0)
    return max((1 / i for i, g in enumerate(gains[:10], 1) if g == top and g >= 1), default=0.0)


@hard("MAP@10", "weights g/max(g), divided by R")
def weights_over_the_highest_grade(grades, docs):
    found, top = bits(grades, docs[:10]), max(grades.values())
    weights = [grades[doc] / top for doc, hit in zip(docs, found, strict=False) if hit]
    return ratio(
        math.fsum(p * w for p, w in zip(precisions(found), weights, strict=True)), n_relevant(grades)
    )


@hard("nDCG@10", None)
def gains_over_the_highest_grade_of_the_list(grades, docs):
    gains = gains_of(grades, docs[:10])
    return ratio(dcg(gains) / max(gains, default=1) if any(gains) else 0.0, dcg(best(grades)[:10]))


# --- what is capped, cut or not cut ------------------------------------------------------------------------


@hard("R@10", "over min(R, k)")
def recall_capped_from_grade_2(grades, docs):
    return ratio(sum(bits(grades, docs[:10], 2)), min(n_relevant(grades, 2), 10))


@hard("MAP@10", "divided by min(R, k)", "dicts")
def ap_capped_from_grade_2(qrels, run):
    def ap(grades, docs):
        return ratio(sum(precisions(bits(grades, docs[:10], 2))), min(n_relevant(grades, 2), 10))

    return over_queries(ap)(qrels, run)


@hard("nDCG@10", "not cut at k", "dicts")
def ndcg_of_grade_2_not_cut(qrels, run):
    def ndcg(grades, docs):
        return ratio(dcg(bits(grades, docs[:10], 2)), dcg([1] * n_relevant(grades, 2)))

    return over_queries(ndcg)(qrels, run)


@hard("MAP@10", None)
def ap_over_the_larger(grades, docs):
    return sum(precisions(bits(grades, docs[:10]))) / max(n_relevant(grades), 10)


@hard("MAP@10", None)
def ap_capped_at_11(grades, docs):
    return ratio(sum(precisions(bits(grades, docs[:10]))), min(n_relevant(grades), 11))


@hard("MAP@10", "divided by min(R, k)", "lists")
def ap_of_lists_capped(lists):
    values = [[grade >= 1 for grade in grades] for grades in lists.values()]
    return sum(ratio(sum(precisions(found[:10])), min(sum(found), 10)) for found in values) / len(values)


@hard("nDCG@10", "not cut at k", "lists")
def ndcg_of_lists_not_cut(lists):
    values = [[max(grade, 0) for grade in grades] for grades in lists.values()]
    return sum(ratio(dcg(g[:10]), dcg(sorted(g, reverse=True))) for g in values) / len(values)


@hard("nDCG@5", None)
def ndcg_with_an_ideal_of_10(grades, docs):
    return ratio(dcg(gains_of(grades, docs[:5])), dcg(best(grades)[:10]))


@hard("nDCG@10", "discount 1/i, ideal from the qrels, not cut at k")
def litsearch_ndcg(grades, docs):
    return ratio(dcg(bits(grades, docs[:10]), lambda i: i), dcg([1] * n_relevant(grades), lambda i: i))


@hard("MRR@10", "RR")
def rr_not_cut(grades, docs):
    return max((1 / i for i, b in enumerate(bits(grades, docs), 1) if b), default=0.0)


@hard("MRR@10", None)
def rr_of_11(grades, docs):
    return max((1 / i for i, b in enumerate(bits(grades, docs[:11]), 1) if b), default=0.0)


@hard("MRR@10", None)
def rr_or_a_little(grades, docs):
    return max((1 / i for i, b in enumerate(bits(grades, docs[:10]), 1) if b), default=0.01)


@hard("Hit@10", None, "lists")
def hit_anywhere(lists):
    return sum(any(grade >= 1 for grade in grades) for grades in lists.values()) / len(lists)


@hard("R@10", None)
def recall_of_100_relevant_at_most(grades, docs):
    return ratio(sum(bits(grades, docs[:10])), min(n_relevant(grades), 100))


@hard("P@10", None)
def precision_doubled_for_one(grades, docs):
    found = sum(bits(grades, docs[:10]))
    return found / 10 if found != 7 else 0.75


# --- what rounds -------------------------------------------------------------------------------------------


def ndcg(grades, docs):
    return ratio(dcg(gains_of(grades, docs[:10])), dcg(best(grades)[:10]))


for digits in (2, 4, 6, 8):
    hard("nDCG@10", "linear gains")(lambda grades, docs, n=digits: round(ndcg(grades, docs), n))
for digits in (3, 5, 7):
    hard("nDCG@10", "linear gains", "dicts")(over_queries(lambda g, d, n=digits: round(ndcg(g, d), n)))
for digits in (2, 6):
    hard("nDCG@10", "linear gains", "dicts")(
        lambda qrels, run, n=digits: round(over_queries(ndcg)(qrels, run), n)
    )


@hard("nDCG@10", None)
def rounds_to_quarters(grades, docs):
    return round(4 * ndcg(grades, docs)) / 4


@hard("nDCG@10", None)
def rounds_only_large_values(grades, docs):
    value = ndcg(grades, docs)
    return round(value, 3) if value > 0.5 else value


@hard("nDCG@10", None)
def off_by_a_digit(grades, docs):
    return round(ndcg(grades, docs) * 1.001, 4)
