"""The least and the most of each measure over all grades that unjudged documents in the cutoff may have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import Measure

from permed_measures.budgets.average_precisions import MOST_NEW, Weights, average_precision_bounds
from permed_measures.budgets.discounted_gains import Ideal, ndcg_bounds
from permed_measures.budgets.gradings import Bools, Floats, Graded, Slots, Unjudged
from permed_measures.engine.judgments import Ints, Judgments
from permed_measures.engine.kernels import CHECKS, KERNELS
from permed_measures.engine.kernels.graded import DISCOUNTS, GAINS, weight_of_grade
from permed_measures.engine.kernels.shared import look_up
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.errors import InputError, MeasureError
from permed_measures.measures.parameters import cutoff_of, values_of

_HIGHEST = 100
"""The highest grade of a scale of whole numbers that is not given."""


class Bounds(NamedTuple):
    """The least and the most of a measure for each query.

    Attributes
    ----------
    low, high : ndarray of float64, shape (n_queries,)
    exact : ndarray of bool, shape (n_queries,)
        Whether they are reached; otherwise no value lies beyond them.
    """

    low: Floats
    high: Floats
    exact: Bools


def scale_of(judgments: Judgments, grades: Any = None) -> Floats:
    """Return the grades that an unjudged document may have, ascending.

    Parameters
    ----------
    judgments : Judgments
    grades : iterable of number, optional
        If left out, the whole numbers from 0 to the highest grade.

    Raises
    ------
    InputError
        If a grade is no number of at least 0, or the highest of the judgments is too large for a scale.

    Examples
    --------
    >>> scale_of(Judgments.of({"q": {"a": 2, "b": -1}})).tolist()
    [0.0, 1.0, 2.0]
    """
    if grades is None:
        highest = float(judgments.grade.max(initial=0))
        if highest > _HIGHEST:
            problem = f"grades must be given where the highest grade is above {_HIGHEST} (found {highest:g})"
            raise InputError(problem)
        return np.arange(np.floor(highest) + 1)
    try:
        scale = np.unique(np.array(list(grades), np.float64))
    except (TypeError, ValueError):
        scale = np.zeros(0)
    if not len(scale) or not np.isfinite(scale).all() or scale[0] < 0:
        raise InputError(f"grades must be numbers of at least 0 (found {grades!r})", hint="Such as [0, 1, 2]")
    return scale


def check_scale(measure: Measure, scale: Floats) -> None:
    """Raise MeasureError where a measure cannot be computed with these grades."""
    check = CHECKS.get(str(measure.NAME))
    if check is None:
        return
    try:
        check(
            Judgments.of({"-": {str(n): float(grade) for n, grade in enumerate(scale)}}), values_of(measure)
        )
    except MeasureError as error:
        hint = "Give the grades that an unjudged document may have: grades"
        raise MeasureError(
            f"an unjudged document may have each grade of the scale: {error.problem}", hint=hint
        ) from None


def unjudged_bounds(measure: Measure, rankings: JudgedRankings, scale: Floats) -> Bounds:
    """Return the least and the most over all ways to grade the unjudged documents within the cutoff.

    Parameters
    ----------
    measure : Measure
    rankings : JudgedRankings
    scale : ndarray
        The grades that they may have, ascending.

    Returns
    -------
    Bounds
        A document that becomes relevant counts in R and in the ideal list too. Unjudged documents beyond the
        cutoff stay as they are; without a cutoff all that were retrieved count. Exact for all measures but
        Rprec, IPrec, Bpref, infAP, QMeasure and GAP, whose bounds are 0 and 1, and GradedAP where a query has
        more than 100 unjudged documents. NaN for Judged, which says itself what is judged.
    """
    values = _values(measure, rankings)
    if measure.NAME == "Judged":
        missing = np.full(len(values), np.nan)
        return Bounds(missing, missing, np.ones(len(values), np.bool_))
    return _bounds_of(measure, rankings, scale, values, np.zeros(len(values), np.int64))


def _bounds_of(
    measure: Measure, rankings: JudgedRankings, scale: Floats, values: Floats, others: Ints
) -> Bounds:
    """Return the bounds; `others` counts only where `ndcg_bounds` tries all numbers per grade."""
    given = values_of(measure)
    unjudged = Unjudged.of(rankings, cutoff_of(measure))
    affected = np.flatnonzero(np.bincount(unjudged.query, minlength=len(values)) + others)
    found = Bounds(values, values.copy(), np.ones(len(values), np.bool_))
    if not len(affected):
        return found
    case = _Case(measure, rankings, unjudged, affected, scale, given, others)
    low, high, exact = _BOUNDS.get(str(measure.NAME), _of_extremes)(case)
    for whole, part in zip(found, (low, high, exact), strict=True):
        whole[affected] = part
    return found


def joint_bounds(measure: Measure, rankings: JudgedRankings, others: Ints, scale: Floats) -> Bounds:
    """Return bounds where unjudged documents that other runs retrieved may have any grade as well.

    Such a document is relevant at worst, and then one more in R and in the ideal list that this run lacks.

    Parameters
    ----------
    measure, rankings, scale
        As in `unjudged_bounds`.
    others : ndarray of int64, shape (n_queries,)
        How many unjudged documents of other runs there are at most.

    Returns
    -------
    Bounds
        No value lies beyond. NaN where that is not known: with ``judged_only`` or ``ideal='run'``.
    """
    alone = unjudged_bounds(measure, rankings, scale)
    if values_of(measure).get("negative") == "keep":
        alone = _bounds_of(measure, rankings, scale, _values(measure, rankings), others)
    gains = values_of(measure).get("gains")
    worst = max(scale.tolist(), key=lambda grade: (gains or {}).get(grade, grade))
    known = rankings.judgments
    query = np.concatenate([known.query, np.repeat(np.arange(len(others), dtype=np.int32), others)])
    grade = np.concatenate([known.grade, np.full(int(others.sum()), worst)])
    order = np.lexsort((-grade, query))
    row_of = np.empty_like(order)
    row_of[order] = np.arange(len(order))
    judgments = Judgments(known.query_ids, query[order], grade[order], np.arange(len(order)), [])
    more = unjudged_bounds(measure, replace(rankings, judgments=judgments, row=row_of[rankings.row]), scale)
    low, high = np.minimum(alone.low, more.low), np.maximum(alone.high, more.high)
    if _BOUNDS.get(str(measure.NAME)) is _from_0_to_1:
        low, high = np.where(others > 0, 0.0, low), np.where(others > 0, 1.0, high)
    given = values_of(measure)
    # With these, this run may have such a document beyond the cutoff, and then it is not only lacking.
    unknown = (others > 0) & (given.get("ideal") == "run" or bool(given.get("judged_only")))
    low, high = (np.where(unknown | ~np.isfinite(each), np.nan, each) for each in (low, high))
    return Bounds(low, high, np.zeros(len(low), np.bool_))


def _values(measure: Measure, rankings: JudgedRankings) -> Floats:
    return KERNELS[str(measure.NAME)](rankings, **values_of(measure))


@dataclass(frozen=True, eq=False)
class _Case:
    """A measure on rankings whose `affected` queries have unjudged documents within the cutoff."""

    measure: Measure
    rankings: JudgedRankings
    unjudged: Unjudged
    affected: Ints
    scale: Floats
    given: dict[str, Any]
    others: Ints

    @property
    def slots(self) -> Slots:
        """What stands at the ranks that count."""
        return Slots.of(
            self.rankings, self.unjudged, cutoff_of(self.measure), self.given.get("judged_only", False)
        )

    def with_all(self, grade: float, measure: Measure | None = None) -> Floats:
        """Return the values where all unjudged documents have one grade."""
        graded = Graded.of(self.rankings, self.unjudged, grade).rankings
        return _values(measure or self.measure, graded)[self.affected]

    def certain(self, value: bool) -> Bools:
        """Return an array that says the same of each query."""
        return np.full(len(self.affected), value)


# --- measures that no document lowers by a higher grade --------------------------------------------------


def _of_extremes(case: _Case) -> tuple[Floats, Floats, Bools]:
    """Return the values with all of the lowest and all of the highest grade.

    P, Success, Coverage, RR, RBP and the like grow with each grade. So does recall, since f <= R makes
    (f + 1) / (R + 1) >= f / R. So does ERR: to stop at rank i gives 1/i, to go on at most 1/(i+1).
    """
    return case.with_all(case.scale[0]), case.with_all(case.scale[-1]), case.certain(True)


def _from_0_to_1(case: _Case) -> tuple[Floats, Floats, Bools]:
    """Return what no value lies beyond."""
    return np.zeros(len(case.affected)), np.ones(len(case.affected)), case.certain(False)


# --- average precision -----------------------------------------------------------------------------------


def _of_ap(case: _Case) -> tuple[Floats, Floats, Bools]:
    return _of_weights(case, lambda grade: np.ones_like(grade), "num_rel")


def _of_graded_ap(case: _Case) -> tuple[Floats, Floats, Bools]:
    how = {name: case.given[name] for name in ("max_rel", "gains")}
    return _of_weights(case, lambda grade: weight_of_grade(grade, **how), case.given["norm"])


def _of_weights(case: _Case, weigh: Callable[[Floats], Floats], norm: str) -> tuple[Floats, Floats, Bools]:
    rel, slots, judgments = case.given["rel"], case.slots, case.rankings.judgments
    relevant = case.scale >= rel
    weights = Weights(np.unique(weigh(case.scale[relevant])), bool((~relevant).any()))
    known = np.where(judgments.grade >= rel, weigh(judgments.grade), 0.0)
    weight = np.where(slots.grade >= rel, weigh(slots.grade), 0.0)
    low, high, exact = np.zeros(len(case.affected)), np.zeros(len(case.affected)), case.certain(True)
    alike = len(np.unique([*weights.relevant, *known[judgments.grade >= rel]])) <= 1
    many = (slots.n_new[case.affected] > MOST_NEW) & (not alike)
    k = float(case.given["cutoff"] or np.inf)
    if not many.all():
        how = weights, weight, known, rel, norm, k
        low[~many], high[~many] = average_precision_bounds(slots, case.affected[~many], *how)
    if many.any():
        low[many], high[many] = (each[many] for each in _beyond(case, weights, norm, known))
        exact[many] = norm == "none"
    return low, high, exact


def _beyond(case: _Case, weights: Weights, norm: str, known: Floats) -> tuple[Floats, Floats]:
    """Return bounds of GradedAP: the least numerator over the largest denominator, and the reverse."""
    by_weight = case.scale[np.argsort([*_weight_or_less(case)], kind="stable")]
    plain = case.measure(norm="none")
    least, most = case.with_all(by_weight[0], plain), case.with_all(by_weight[-1], plain)
    if norm == "none":
        return least, most
    if norm in ("gain", "ideal"):
        high = np.ones_like(most)
    else:  # the denominator is 1 or more, and no precision is above 1
        high = np.minimum(most, max(weights.relevant.max(initial=0), known.max(initial=0)))
    whole = case.with_all(by_weight[-1])  # its denominator is the largest, if any is
    over = np.divide(most, whole, out=np.full_like(most, np.inf), where=whole > 0)
    return np.divide(least, over, out=np.zeros_like(least), where=over > 0), high


def _weight_or_less(case: _Case) -> Floats:
    grade = case.scale
    weight = weight_of_grade(grade, max_rel=case.given["max_rel"], gains=case.given["gains"])
    return np.where(grade >= case.given["rel"], weight, -1.0)


# --- nDCG ------------------------------------------------------------------------------------------------


def _of_ndcg(case: _Case) -> tuple[Floats, Floats, Bools]:
    gains = case.given["gains"]
    kind = {"log2": "linear", "exp-log2": "exp"}[case.given["dcg"]]
    how = {"gain": kind, "discount": "log2", "ideal": "qrels", "negative": "zero"}
    if gains is not None:  # they take the place of the grades
        judgments = case.rankings.judgments
        judgments = replace(judgments, grade=look_up(judgments.grade, gains))
        scale = np.unique(look_up(case.scale, gains))
        if scale[0] < 0 and case.given["judged_only"]:  # a document may leave the ranking
            return _from_0_to_1(case)
        case = replace(case, rankings=replace(case.rankings, judgments=judgments), scale=scale)
    return _of_variant(replace(case, given={**case.given, **how}))


def _of_variant(case: _Case) -> tuple[Floats, Floats, Bools]:
    given, slots = case.given, case.slots
    discount = DISCOUNTS[given["discount"]]

    def gain(grade: Floats) -> Floats:
        return GAINS[given["gain"]](np.maximum(grade, 0) if given["negative"] == "zero" else grade)

    ideal = _IDEALS[given["ideal"]](case, slots)
    new = slots.n_new.max(initial=0) + case.others.max(initial=0)
    longest = int(np.bincount(ideal.query, minlength=1).max() + ideal.zeros.max(initial=0) + new)
    ranks = np.arange(1, min(longest, given["cutoff"] or longest) + 1, dtype=np.int32)
    ideal = replace(ideal, gain=gain(ideal.gain))
    slot_gains = gain(slots.grade), discount(slots.rank)
    scale = np.unique(gain(case.scale))
    others = case.others[case.affected]
    return ndcg_bounds(slots, case.affected, *slot_gains, scale, ideal, discount(ranks), others)


def _ideal_of_qrels(case: _Case, slots: Slots) -> Ideal:
    judgments = case.rankings.judgments
    return Ideal(judgments.query, judgments.grade, np.zeros(slots.n_queries, np.int64))


def _ideal_of_run(case: _Case, _: Slots) -> Ideal:
    """Return all that was retrieved; documents beyond the cutoff that stay unjudged gain 0."""
    ranked = case.rankings.condensed if case.given["judged_only"] else case.rankings
    new = np.bincount(case.unjudged.query, minlength=ranked.n_queries)
    unjudged = case.rankings.retrieved - np.bincount(case.rankings.query, minlength=ranked.n_queries)
    zeros = np.zeros_like(new) if case.given["judged_only"] else unjudged - new
    return Ideal(ranked.query, ranked.grade, zeros)


def _ideal_of_cutoff(_: _Case, slots: Slots) -> Ideal:
    known = ~slots.is_new
    return Ideal(slots.query[known], slots.grade[known], np.zeros(slots.n_queries, np.int64))


_IDEALS: dict[str, Callable[[_Case, Slots], Ideal]] = {
    "qrels": _ideal_of_qrels,
    "run": _ideal_of_run,
    "cutoff": _ideal_of_cutoff,
}

_BOUNDS: dict[str, Callable[[_Case], tuple[Floats, Floats, Bools]]] = {
    "AP": _of_ap,
    "GradedAP": _of_graded_ap,
    "nDCG": _of_ndcg,
    "VariantNDCG": _of_variant,
    **dict.fromkeys(("Rprec", "IPrec", "Bpref", "infAP", "QMeasure", "GAP"), _from_0_to_1),
}
"""How the bounds of a measure are found; of all others by the lowest and the highest grade."""
