"""What other labels make of a value: grades of unjudged documents, and labels that may be wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb
from numbers import Real
from typing import Any

import numpy as np
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.arrays import Floats
from permed_measures.engine.evaluator import gains_of
from permed_measures.engine.judgments import Judgments, position_in_query
from permed_measures.engine.kernels import CHECKS, KERNELS
from permed_measures.engine.kernels.graded import weight_of_grade
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ties import best_first_is_most
from permed_measures.errors import InputError, MeasureError, short_repr
from permed_measures.measures.parameters import cutoff_of, values_of
from permed_measures.progress import tracked

_HIGHEST = 100
"""The highest grade of a scale of whole numbers that is not given."""

_MAX_GRADINGS = 300
"""Most gradings that fall with the rank, and as many that rise; otherwise some of them."""

_NEVER_LOWERED = {
    *("P", "R", "RR", "Success", "Coverage", "RBP", "ERR", "SetP", "SetR", "SetF", "SetAP"),
    *("NumQ", "NumRet", "NumRel"),
}
"""Measures that no document lowers by a higher grade.

Of recall, f of R documents found make (f + 1) / (R + 1) >= f / R. Of ERR, to stop at rank i gives 1/i, and
to go on 1/(i + 1) at most.
"""


@dataclass(frozen=True, eq=False)
class Unjudged:
    """The unjudged documents within a cutoff, sorted by query and rank.

    Attributes
    ----------
    query, rank : ndarray of int32, shape (n_unjudged,)
        The rank is that among all retrieved documents, from 1.
    place : ndarray of int64, shape (n_unjudged,)
        How many stand before it in its query.
    number : ndarray of int64, shape (n_queries,)
        How many each query has.
    """

    query: NDArray[np.int32]
    rank: NDArray[np.int32]
    place: NDArray[np.int64]
    number: NDArray[np.int64]

    @classmethod
    def of(cls, rankings: JudgedRankings, cutoff: int | None) -> Unjudged:
        """Find the ranks that no judged document has."""
        seen = rankings.retrieved if cutoff is None else np.minimum(rankings.retrieved, cutoff)
        starts = np.cumsum(seen) - seen
        unjudged = np.ones(int(seen.sum()), np.bool_)
        within = rankings.within(cutoff)
        unjudged[starts[within.query] + within.rank - 1] = False
        row, n = np.flatnonzero(unjudged), len(seen)
        query = np.repeat(np.arange(n, dtype=np.int32), seen)[row]
        rank = (row - starts[query] + 1).astype(np.int32)
        return cls(query, rank, position_in_query(query, n) - 1, np.bincount(query, minlength=n))


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
    judgments = Judgments.of({"-": {str(n): float(grade) for n, grade in enumerate(scale)}})
    try:
        check(judgments, values_of(measure))
    except MeasureError as error:
        hint = "Give the grades that an unjudged document may have: grades"
        raise MeasureError(
            f"an unjudged document may have each grade of the scale: {error.problem}", hint=hint
        ) from None


def over_gradings(measure: Measure, rankings: JudgedRankings, scale: Floats) -> tuple[Floats, Floats, bool]:
    """Return the least and the most over ways to grade the unjudged documents within the cutoff.

    Parameters
    ----------
    measure : Measure
        Not Judged, which says itself what is judged.
    rankings : JudgedRankings
    scale : ndarray
        The grades that they may have, ascending.

    Returns
    -------
    (ndarray, ndarray), each of shape (n_queries,)
        Some grading gives these values. A document that becomes relevant counts in R and in the ideal list
        too. Unjudged documents beyond the cutoff stay as they are; without a cutoff all that were retrieved
        count.
    bool
        Whether no grading gives others beyond them.

    Notes
    -----
    Tried are gradings that fall with the rank, and those that rise. Where two of the documents
    exchange their grades, R and the ideal list stay; so of all gradings with equally many documents per
    grade the falling one is the most, and the rising one the least, for a measure that never falls by an
    exchange that puts the higher grade first. With all numbers of documents per grade that is exact.
    QMeasure is no such measure: a document of low grade may gain more behind one of high grade. Nor is
    GradedAP, unless what is relevant has one weight.
    """
    unjudged = Unjudged.of(rankings, cutoff_of(measure))
    most = int(unjudged.number.max(initial=0))
    if not most:
        values = _values(measure, rankings)
        return values, values, True
    grades = np.union1d(scale, rankings.judgments.grade)
    sets, complete = _sets(measure, scale, most, _is_ap(measure, grades))
    low, high = np.full(rankings.n_queries, np.inf), np.full(rankings.n_queries, -np.inf)
    for levels in sets:
        for grade in _gradings(unjudged, levels, most):
            values = _values(measure, _graded(rankings, unjudged, grade))
            low, high = np.minimum(low, values), np.maximum(high, values)
    return low, high, complete


def _is_ap(measure: Measure, grades: Floats) -> bool:
    """Return whether a measure is a multiple of AP, as what is relevant has one weight."""
    given = values_of(measure)
    if measure.NAME != "GradedAP":
        return False
    weights = weight_of_grade(grades, max_rel=given["max_rel"], gains=given["gains"])
    return len(np.unique(weights[grades >= given["rel"]])) <= 1


def _sets(measure: Measure, scale: Floats, most: int, is_ap: bool) -> tuple[list[Floats], bool]:
    """Return the sets of grades that are tried together, and whether they are exact."""
    levels = scale[np.argsort(gains_of(measure, scale), kind="stable")]
    if measure.NAME in _NEVER_LOWERED:
        return [levels[:1], levels[-1:]], True
    if "rel" in measure.SUPPORTED_PARAMS and (is_ap or measure.NAME != "GradedAP"):
        levels = levels[[0, -1]]  # it matters only what is relevant
    exact = is_ap or (best_first_is_most(measure) and measure.NAME != "QMeasure")
    if comb(most + len(levels) - 1, most) <= _MAX_GRADINGS:
        return [levels], exact
    return [levels[[0, each]] for each in range(1, len(levels))], exact and len(
        levels
    ) == 2 and most < _MAX_GRADINGS


def _gradings(unjudged: Unjudged, levels: Floats, most: int) -> Iterator[Floats]:
    """Yield gradings that fall with the rank, each followed by one that rises."""
    ends = np.arange(most + 1)
    if most >= _MAX_GRADINGS:
        ends = np.unique(np.geomspace(1, most + 1, _MAX_GRADINGS // 2).round().astype(int)) - 1
    last = unjudged.number[unjudged.query] - 1
    for numbers in combinations_with_replacement(ends, len(levels) - 1):
        for place in (unjudged.place, last - unjudged.place):
            yield levels[::-1][np.searchsorted(numbers, place, "right")]


def _graded(rankings: JudgedRankings, unjudged: Unjudged, grade: Floats) -> JudgedRankings:
    """Return rankings and judgments in which these documents have a grade."""
    known = rankings.judgments
    query = np.concatenate([known.query, unjudged.query])
    grades = np.concatenate([known.grade, grade])
    order = np.lexsort((-grades, query))
    row_of = np.empty_like(order)
    row_of[order] = np.arange(len(order))
    judgments = Judgments(known.query_ids, query[order], grades[order], np.arange(len(order)), [])
    row = row_of[np.concatenate([rankings.row, len(known.query) + np.arange(len(grade))])]
    rank = np.concatenate([rankings.rank, unjudged.rank])
    by_rank = np.lexsort((rank, judgments.query[row]))
    counts = rankings.retrieved, rankings.n_run_queries, rankings.n_shared
    return JudgedRankings(judgments, row[by_rank], rank[by_rank], *counts)


def _values(measure: Measure, rankings: JudgedRankings) -> Floats:
    return KERNELS[str(measure.NAME)](rankings, **values_of(measure))


@dataclass(frozen=True, eq=False)
class LabelErrors:
    """How often a document with a grade would have another one.

    Attributes
    ----------
    levels : ndarray, shape (n_levels,)
        The grades, ascending.
    rates : ndarray, shape (n_levels, n_levels)
        The probability of each grade (column), given the label (row).
    about : str
        Where they come from.
    """

    levels: Floats
    rates: Floats
    about: str

    @classmethod
    def of(cls, error: object, judgments: Judgments, scale: Floats) -> LabelErrors:
        """Return the errors of a probability, on all grades of the judgments and of a scale."""
        if not isinstance(error, Real) or isinstance(error, bool) or not 0 <= float(error) <= 1:
            raise InputError(
                f"label_error must be a number from 0 to 1 (found {short_repr(error)})",
                hint="Labels that people gave to a sample are human: --human on the command line",
            )
        return cls.to_neighbours(float(error), np.unique([*scale, *judgments.grade[judgments.grade >= 0]]))

    @classmethod
    def to_neighbours(cls, probability: float, levels: Floats) -> LabelErrors:
        """Move a label to a neighbouring grade with a probability, half of it to each where there are two.

        Examples
        --------
        >>> LabelErrors.to_neighbours(0.1, np.arange(3.0)).rates.tolist()
        [[0.9, 0.1, 0.0], [0.05, 0.9, 0.05], [0.0, 0.1, 0.9]]
        """
        n = len(levels)
        near = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) == 1
        moved = near / np.maximum(near.sum(axis=1, keepdims=True), 1)
        kept = np.eye(n) * (1 - probability * near.any(axis=1))
        about = f"each label is another with probability {probability:g}, moved to a neighbouring grade"
        return cls(levels, probability * moved + kept, about)

    def draws(self, judgments: Judgments, number: int, seed: int) -> Iterator[Floats]:
        """Yield grades of all judgments, drawn by the rates; a negative grade stays."""
        rng = np.random.default_rng(seed)
        place = np.searchsorted(self.levels, judgments.grade)  # 0 of a negative grade
        kept, other = np.diag(self.rates), self.rates * (1 - np.eye(len(self.levels)))
        shares = np.cumsum(other, axis=1)
        shares /= np.maximum(shares[:, -1:], 1e-300)  # the last is 1, or all are 0 where none is wrong
        sure = judgments.grade < 0
        for _ in tracked(range(number), "draws of labels"):
            wrong = np.flatnonzero((rng.random(len(place)) >= kept[place]) & ~sure)
            drawn = (rng.random(len(wrong))[:, None] >= shares[place[wrong]]).sum(axis=1)
            grade = judgments.grade.copy()
            grade[wrong] = self.levels[drawn]
            yield grade
