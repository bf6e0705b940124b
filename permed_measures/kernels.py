"""The values of a measure for every query, from the ranks and grades of the judged documents.

Each kernel takes the rankings and the parameters of its measure by their names (None: left out), and returns
a float64 array with a value per query of the judgments. No ids, no input or output, no averaging.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.errors import MeasureError
from permed_measures.judgments import Judgments, position_in_query
from permed_measures.rankings import JudgedRankings

__all__ = [
    "average_precision",
    "check_exponent",
    "check_grades",
    "graded_average_precision",
    "judged",
    "look_up",
    "ndcg",
    "precision",
    "recall",
    "reciprocal_rank",
    "success",
    "variant_ndcg",
    "weight_of_grade",
]

Floats = NDArray[np.float64]
Gains = Mapping[float, float]


# --- what several kernels need ---------------------------------------------------------------------


class _Relevant(NamedTuple):
    """The relevant documents within the cutoff: query, rank, grade, and how many are found up to there."""

    query: NDArray[np.int32]
    rank: NDArray[np.int32]
    grade: Floats
    found: NDArray[np.int64]


def _relevant(rankings: JudgedRankings, cutoff: int | None, rel: float, judged_only: bool) -> _Relevant:
    ranked = rankings.condensed if judged_only else rankings
    ranked = _within(ranked.keep(ranked.grade >= rel), cutoff)
    found = position_in_query(ranked.query, ranked.n_queries)
    return _Relevant(ranked.query, ranked.rank, ranked.grade, found)


def _within(rankings: JudgedRankings, cutoff: int | None) -> JudgedRankings:
    return rankings if cutoff is None else rankings.keep(rankings.rank <= cutoff)


def _per_query(rankings: JudgedRankings, query: NDArray[np.int32], values: Floats | None = None) -> Floats:
    """Return the sum of the values (without values: the number of rows) per query."""
    return _sums(query, values, rankings.n_queries)


def _sums(query: NDArray[np.int32], values: Floats | None, n_queries: int) -> Floats:
    return np.bincount(query, values, minlength=n_queries).astype(np.float64)


def _divide(numerator: Floats, denominator: Floats | NDArray[np.int64]) -> Floats:
    """Return the quotient, and 0 where the denominator is not above 0."""
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator > 0)


def look_up(grade: Floats, gains: Gains) -> Floats:
    """Return the gain of each grade; a grade without one keeps its own value."""
    gain = grade.copy()
    for of_grade, value in gains.items():
        gain[grade == of_grade] = value
    return gain


# --- relevant or not -------------------------------------------------------------------------------


def precision(rankings: JudgedRankings, *, cutoff: int, rel: float, judged_only: bool) -> Floats:
    """Relevant documents within the first k, over k (also where fewer than k were retrieved)."""
    return _per_query(rankings, _relevant(rankings, cutoff, rel, judged_only).query) / cutoff


def recall(rankings: JudgedRankings, *, cutoff: int, rel: float, judged_only: bool) -> Floats:
    """Relevant documents within the first k, over all relevant documents of the qrels."""
    hits = _relevant(rankings, cutoff, rel, judged_only)
    return _divide(_per_query(rankings, hits.query), rankings.judgments.num_rel(rel))


def success(rankings: JudgedRankings, *, cutoff: int | None, rel: float, judged_only: bool) -> Floats:
    """1 if a relevant document is within the first k, else 0: Success and Coverage."""
    return (_per_query(rankings, _relevant(rankings, cutoff, rel, judged_only).query) > 0).astype(np.float64)


def reciprocal_rank(rankings: JudgedRankings, *, cutoff: int | None, rel: float, judged_only: bool) -> Floats:
    """One over the rank of the first relevant document, 0 if there is none within the first k."""
    hits = _relevant(rankings, cutoff, rel, judged_only)
    first = hits.found == 1
    return _per_query(rankings, hits.query[first], 1 / hits.rank[first])


def average_precision(
    rankings: JudgedRankings, *, cutoff: int | None, rel: float, judged_only: bool
) -> Floats:
    """Sum of the precision at each relevant document within the first k, over all relevant documents."""
    hits = _relevant(rankings, cutoff, rel, judged_only)
    return _divide(_per_query(rankings, hits.query, hits.found / hits.rank), rankings.judgments.num_rel(rel))


def judged(rankings: JudgedRankings, *, cutoff: int | None) -> Floats:
    """Judged documents (negative grades too) within the first k, over the documents retrieved there."""
    limit = rankings.retrieved if cutoff is None else np.minimum(rankings.retrieved, cutoff)
    return _divide(_per_query(rankings, _within(rankings, cutoff).query), limit)


# --- average precision with weights ----------------------------------------------------------------


def weight_of_grade(grade: Floats, *, max_rel: float, gains: Gains | None) -> Floats:
    """Return the weight of relevant grades in GradedAP."""
    return grade / max_rel if gains is None else look_up(grade, gains)


def graded_average_precision(
    rankings: JudgedRankings,
    *,
    cutoff: int | None,
    rel: float,
    max_rel: float,
    gains: Gains | None,
    norm: str,
    judged_only: bool,
) -> Floats:
    """Average precision with a weight for each grade; see `GradedAP` for the formula."""
    hits = _relevant(rankings, cutoff, rel, judged_only)
    weight = weight_of_grade(hits.grade, max_rel=max_rel, gains=gains)
    total = _per_query(rankings, hits.query, hits.found / hits.rank * weight)
    judgments = rankings.judgments
    relevant = judgments.grade >= rel
    all_weights = weight_of_grade(judgments.grade[relevant], max_rel=max_rel, gains=gains)
    facts = _Facts(
        cutoff=cutoff,
        num_rel=judgments.num_rel(rel).astype(np.float64),
        num_rel_ret=_per_query(rankings, hits.query),
        query=judgments.query[relevant],
        weight=all_weights,
    )
    return _divide(total, _NORMS[norm](facts))


class _Facts(NamedTuple):
    """What a denominator of GradedAP may be made of."""

    cutoff: int | None
    num_rel: Floats
    num_rel_ret: Floats
    query: NDArray[np.int32]
    weight: Floats

    @property
    def n_queries(self) -> int:
        return len(self.num_rel)


def _capped(facts: _Facts) -> Floats:
    return facts.num_rel if facts.cutoff is None else np.minimum(facts.num_rel, facts.cutoff)


def _ideal_weight(facts: _Facts) -> Floats:
    """Return the sum of the k largest weights: with only relevant documents ahead each precision is 1."""
    order = np.lexsort((-facts.weight, facts.query))
    query, weight = facts.query[order], facts.weight[order]
    within = position_in_query(query, facts.n_queries) <= (facts.cutoff or len(query))
    return _sums(query[within], weight[within], facts.n_queries)


_NORMS: dict[str, Callable[[_Facts], Floats]] = {
    "num_rel": lambda facts: facts.num_rel,
    "min": _capped,
    "num_rel_ret": lambda facts: facts.num_rel_ret,
    "gain": lambda facts: _sums(facts.query, facts.weight, facts.n_queries),
    "ideal": _ideal_weight,
    "none": lambda facts: np.ones(facts.n_queries),
}


def check_grades(judgments: Judgments, *, rel: float, max_rel: float, gains: Gains | None) -> None:
    """Raise MeasureError if a relevant grade has no weight in GradedAP."""
    known = judgments.grade <= max_rel if gains is None else np.isin(judgments.grade, list(gains))
    wrong = np.flatnonzero((judgments.grade >= rel) & ~known)
    if not len(wrong):
        return
    row = int(wrong[0])
    grade = f"{judgments.grade[row]:g}"
    if gains is None:
        problem = f"GradedAP: no grade may be above max_rel={max_rel} (found {grade})"
        hint = f"Set max_rel={judgments.grade.max():g}, or give each grade its weight with gains={{...}}"
    else:
        problem = f"GradedAP: gains must have every relevant grade (found {grade}, gains have {list(gains)})"
        hint = f"Add {grade} to gains, or raise rel"
    raise MeasureError(problem, where=judgments.where(row), hint=hint)


def check_exponent(judgments: Judgments) -> None:
    """Raise MeasureError if a grade is too high for a gain of 2^g - 1."""
    wrong = np.flatnonzero(judgments.grade > _MAX_EXPONENT)
    if len(wrong):
        row = int(wrong[0])
        raise MeasureError(
            f"the gain 2^g - 1 of a grade must be a number (found grade {judgments.grade[row]:g})",
            where=judgments.where(row),
            hint="Use a linear gain, or nDCG with gains={...}",
        )


_MAX_EXPONENT = 1000
"""Gains up to 2^1000 - 1, so that their sum is finite too."""


# --- discounted cumulated gain ---------------------------------------------------------------------

_GAINS: dict[str, Callable[[Floats], Floats]] = {
    "exp": lambda grade: np.exp2(grade) - 1,
    "linear": lambda grade: grade,
}

_DISCOUNTS: dict[str, Callable[[NDArray[np.int32]], Floats]] = {
    "log2": lambda rank: 1 / np.log2(rank + 1.0),
    "jk": lambda rank: 1 / np.log2(np.maximum(rank, 2.0)),
    "zipf": lambda rank: 1 / rank,
}


def ndcg(
    rankings: JudgedRankings, *, cutoff: int | None, dcg: str, gains: Gains | None, judged_only: bool
) -> Floats:
    """Compute trec_eval's nDCG (``log2``: a grade gains itself, or ``gains[grade]``), or that of 2^g - 1."""
    if gains is not None:
        rankings = _regraded(rankings, gains)
    gain = {"log2": "linear", "exp-log2": "exp"}[dcg]
    return variant_ndcg(
        rankings,
        cutoff=cutoff,
        gain=gain,
        discount="log2",
        ideal="qrels",
        negative="zero",
        judged_only=judged_only,
    )


def variant_ndcg(
    rankings: JudgedRankings,
    *,
    cutoff: int | None,
    gain: str,
    discount: str,
    ideal: str,
    negative: str,
    judged_only: bool,
) -> Floats:
    """Compute nDCG with the given gain, discount, ideal list and negative grades; see `VariantNDCG`."""
    ranked = rankings.condensed if judged_only else rankings

    def discounted(rows: JudgedRankings) -> Floats:
        rows = _within(rows, cutoff)
        grade = np.maximum(rows.grade, 0) if negative == "zero" else rows.grade
        return _per_query(rows, rows.query, _GAINS[gain](grade) * _DISCOUNTS[discount](rows.rank))

    return _divide(discounted(ranked), discounted(_IDEALS[ideal](ranked, cutoff)))


def _ideal_of_run(rankings: JudgedRankings) -> JudgedRankings:
    """Return the retrieved list sorted by grade; unjudged documents are 0, so negative ones stand behind."""
    query, n = rankings.query, rankings.n_queries
    order = np.lexsort((-rankings.grade, query))
    grade = rankings.grade[order]
    unjudged = rankings.retrieved - np.bincount(query, minlength=n)
    rank = position_in_query(query, n) + np.where(grade < 0, unjudged[query], 0)
    return replace(rankings, rank=rank.astype(np.int32), grade=grade)


def _ideal_of_cutoff(rankings: JudgedRankings, cutoff: int | None) -> JudgedRankings:
    """Return the first k of the retrieved list, sorted by grade."""
    if cutoff is None:
        return _ideal_of_run(rankings)
    top = replace(_within(rankings, cutoff), retrieved=np.minimum(rankings.retrieved, cutoff))
    return _ideal_of_run(top)


_IDEALS: dict[str, Callable[[JudgedRankings, int | None], JudgedRankings]] = {
    "qrels": lambda rankings, _: JudgedRankings.ideal(rankings.judgments),
    "run": lambda rankings, _: _ideal_of_run(rankings),
    "cutoff": _ideal_of_cutoff,
}


def _regraded(rankings: JudgedRankings, gains: Gains) -> JudgedRankings:
    """Return the rankings as if each grade were its gain in the qrels, as ir_measures does for `gains`."""
    judgments = rankings.judgments
    gain = look_up(judgments.grade, gains)
    order = np.lexsort((-gain, judgments.query))
    regraded = Judgments(judgments.query_ids, judgments.query, gain[order], ())
    return replace(rankings, judgments=regraded, grade=look_up(rankings.grade, gains))
