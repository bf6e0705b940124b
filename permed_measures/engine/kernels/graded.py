"""Measures that weigh a document by its grade."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permed_measures.arrays import Floats
from permed_measures.engine.judgments import (
    Gains,
    Judgments,
    divide,
    map_gains,
    position_in_query,
    running_sum,
    sums,
)
from permed_measures.engine.rankings import JudgedRankings

# --- average precision with weights ----------------------------------------------------------------


def weight_of_grade(grade: Floats, *, max_rel: float, gains: Gains | None) -> Floats:
    """Compute the weight of relevant grades in GradedAP: grade / max_rel, or ``gains[grade]``."""
    return grade / max_rel if gains is None else map_gains(grade, gains)


def relevance_weighted_average_precision(
    rankings: JudgedRankings,
    *,
    cutoff: int | None,
    rel: float,
    max_rel: float,
    gains: Gains | None,
    norm: str,
    judged_only: bool,
    total: Floats | None = None,
) -> Floats:
    """Compute average precision with a weight for each grade; see `GradedAP` for the formula.

    `total` replaces the sum of weighted precisions.
    """
    hits = rankings.relevant(rel, cutoff, judged_only)
    judgments, n_queries = rankings.judgments, rankings.n_queries
    if total is None:
        weight = weight_of_grade(hits.grade, max_rel=max_rel, gains=gains)
        total = sums(hits.query, hits.found / hits.rank * weight, n_queries)
    num_rel = judgments.num_rel(rel)
    counts = {
        "num_rel": num_rel,
        "min": num_rel if cutoff is None else np.minimum(num_rel, cutoff),
        "num_rel_ret": sums(hits.query, None, n_queries),
        "none": np.ones(n_queries),
    }
    if norm in counts:
        return divide(total, counts[norm])
    rows = judgments.grade >= rel
    query, weight = judgments.query[rows], judgments.grade[rows]
    weight = weight_of_grade(weight, max_rel=max_rel, gains=gains)
    if norm == "ideal":  # the k largest weights: in an ideal ranking each precision is 1
        order = np.lexsort((-weight, query))
        top = position_in_query(query, n_queries) <= (cutoff or len(query))
        query, weight = query[top], weight[order][top]
    return divide(total, sums(query, weight, n_queries))


# --- discounted cumulated gain ---------------------------------------------------------------------

GAINS: dict[str, Callable[[Floats], Floats]] = {
    "exp": lambda grade: np.exp2(grade) - 1,
    "linear": lambda grade: grade,
}

DISCOUNTS: dict[str, Callable[[NDArray[np.signedinteger[Any]]], Floats]] = {
    "log2": lambda rank: 1 / np.log2(rank + 1.0),
    "jk": lambda rank: 1 / np.log2(np.maximum(rank, 2.0)),
    "zipf": lambda rank: 1 / rank,
}


def ndcg(
    rankings: JudgedRankings, *, cutoff: int | None, dcg: str, gains: Gains | None, judged_only: bool
) -> Floats:
    """Compute nDCG; with ``log2`` the gain is the grade or ``gains[grade]`` (trec_eval), else 2^grade - 1."""
    if gains is not None:
        rankings = with_gains(rankings, gains)
    return variant_ndcg(rankings, cutoff=cutoff, judged_only=judged_only, **NDCG_CHOICES[dcg])


NDCG_CHOICES: dict[str, dict[str, Any]] = {
    dcg: {"gain": gain, "discount": "log2", "ideal": "qrels", "negative": "zero"}
    for dcg, gain in (("log2", "linear"), ("exp-log2", "exp"))
}
"""The parameters of `VariantNDCG` that equal nDCG, by nDCG's parameter `dcg`."""


def with_gains(rankings: JudgedRankings, gains: Gains) -> JudgedRankings:
    """Replace the grades of the qrels by gains, as ir_measures does."""
    judgments = rankings.judgments
    return replace(rankings, judgments=replace(judgments, grade=map_gains(judgments.grade, gains)))


def variant_ndcg(
    rankings: JudgedRankings,
    *,
    cutoff: int | None,
    gain: str,
    discount: str,
    ideal: str,
    negative: str,
    judged_only: bool,
    total: Floats | None = None,
) -> Floats:
    """Compute nDCG with a choice of gain, discount, ideal list and negative grades; see `VariantNDCG`.

    `total` replaces the DCG.
    """
    ranked, options = rankings.judged_only if judged_only else rankings, (gain, discount, negative)
    if ideal == "qrels":
        best: Floats = rankings.judgments.cached(_dcg_of_qrels, cutoff, *options)
    else:
        best = _dcg(IDEALS[ideal](ranked, cutoff), *options)
    return divide(_dcg(ranked.within(cutoff), *options) if total is None else total, best)


def _dcg_of_qrels(judgments: Judgments, cutoff: int | None, *options: str) -> Floats:
    return _dcg(JudgedRankings.ideal(judgments, judgments.grade).within(cutoff), *options)


def _dcg(rows: JudgedRankings, gain: str, discount: str, negative: str) -> Floats:
    return dcg(rows, rows.judgments.cached(gain_of_judgments, gain, negative)[rows.row], DISCOUNTS[discount])


def gain_of_judgments(judgments: Judgments, gain: str, negative: str) -> Floats:
    """Compute the gain of each judged document."""
    grade = np.maximum(judgments.grade, 0) if negative == "zero" else judgments.grade
    return GAINS[gain](grade)


def dcg(
    rows: JudgedRankings, gain: Floats, discount: Callable[[NDArray[np.signedinteger[Any]]], Floats]
) -> Floats:
    """Compute DCG from the gain of each row."""
    return sums(rows.query, gain * discount(rows.rank), rows.n_queries)


def _ideal_of_run(rankings: JudgedRankings) -> JudgedRankings:
    """Sort the retrieved list by grade; unjudged documents count as 0, so negative grades come after them."""
    query, n = rankings.query, rankings.n_queries
    order = np.lexsort((-rankings.grade, query))
    grade = rankings.grade[order]
    unjudged = rankings.retrieved - np.bincount(query, minlength=n)
    rank = position_in_query(query, n) + np.where(grade < 0, unjudged[query], 0)
    return replace(rankings, row=rankings.row[order], rank=rank.astype(np.int32), depth=None)


def _ideal_of_cutoff(rankings: JudgedRankings, cutoff: int | None) -> JudgedRankings:
    """Sort the first k of the retrieved list by grade."""
    if cutoff is None:
        return _ideal_of_run(rankings)
    top = replace(rankings.within(cutoff), retrieved=np.minimum(rankings.retrieved, cutoff))
    return _ideal_of_run(top).within(cutoff)


IDEALS: dict[str, Callable[[JudgedRankings, int | None], JudgedRankings]] = {
    "run": lambda rankings, cutoff: _ideal_of_run(rankings).within(cutoff),
    "cutoff": _ideal_of_cutoff,
}
"""The ideal lists that depend on the run."""


# --- other user models -----------------------------------------------------------------------------

ERR_MAX_GRADE = 4
"""The highest grade that gdeval allows; such a document satisfies the user with probability 15/16."""


def thresholds(g: Mapping[float, float] | None, max_rel: int) -> Mapping[float, float]:
    """Return the probability of each threshold of GAP: the lowest grade that the user considers relevant."""
    return g or dict.fromkeys(range(1, max_rel + 1), 1 / max_rel)


def graded_average_precision(
    rankings: JudgedRankings, *, cutoff: int | None, g: Mapping[float, float] | None, max_rel: int
) -> Floats:
    """Compute GAP: AP at each threshold, weighted by its probability and its number of relevant documents."""
    total, norm = np.zeros(rankings.n_queries), np.zeros(rankings.n_queries)
    for rel, probability in thresholds(g, max_rel).items():
        hits = rankings.relevant(rel, cutoff)
        total += probability * sums(hits.query, hits.found / hits.rank, rankings.n_queries)
        norm += probability * rankings.judgments.num_rel(rel)
    return divide(total, norm)


def q_measure(rankings: JudgedRankings, *, cutoff: int | None, beta: float, gains: Gains | None) -> Floats:
    """Average the blended ratio (C + beta cg) / (i + beta cg*) of relevant documents over R or min(R, k)."""
    hits = rankings.relevant(1, cutoff)
    judgments, n_queries = rankings.judgments, rankings.n_queries
    num_rel = judgments.num_rel(1)
    gain = hits.grade if gains is None else map_gains(hits.grade, gains)
    ideal = ideal_cumulated_gain(judgments, gains)
    # The ideal list has R documents: beyond rank R its cumulated gain is constant.
    last = np.minimum(hits.rank, num_rel[hits.query])
    ideal_gain = ideal[(np.cumsum(num_rel) - num_rel)[hits.query] + last - 1]
    blended = (hits.found + beta * running_sum(hits.query, gain, n_queries)) / (hits.rank + beta * ideal_gain)
    return divide(
        sums(hits.query, blended, n_queries), num_rel if cutoff is None else np.minimum(num_rel, cutoff)
    )


def ideal_cumulated_gain(judgments: Judgments, gains: Gains | None) -> Floats:
    """Compute cg* at each relevant document of the judgments, by query and gain descending."""
    rows = judgments.grade >= 1
    query, grade = judgments.query[rows], judgments.grade[rows]
    gain = grade if gains is None else map_gains(grade, gains)
    order = np.lexsort((-gain, query))
    return running_sum(query, gain[order], judgments.n_queries)


def stop_probability(grade: Floats) -> Floats:
    """Compute the probability that the user of ERR stops at a document of this grade."""
    gain = np.exp2(np.maximum(grade, 0)) - 1
    return gain / 2.0**ERR_MAX_GRADE


def expected_reciprocal_rank(rankings: JudgedRankings, *, cutoff: int | None) -> Floats:
    """Compute ERR (Chapelle et al., CIKM 2009) as gdeval does, but without rounding.

    The user stops at a document with probability (2^g - 1) / 16: gdeval fixes the highest grade at 4.
    Unjudged documents and negative grades never satisfy the user.
    """
    hits = rankings.take(rankings.grade > 0).within(cutoff)
    stops = stop_probability(hits.grade)
    position = position_in_query(hits.query, rankings.n_queries)
    value, reached = np.zeros(rankings.n_queries), np.ones(rankings.n_queries)
    order = np.argsort(position, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(position)[1:])[:-1]):  # all firsts, then all seconds
        query = hits.query[rows]
        value[query] += reached[query] * stops[rows] / hits.rank[rows]
        reached[query] *= 1 - stops[rows]
    return value
