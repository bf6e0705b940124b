"""Evaluate runs with other labels: grades of unjudged documents, and wrong labels."""

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
from permed_measures.measures.specs import spec_of
from permed_measures.progress import tracked

_HIGHEST = 100
"""The highest grade of a default scale of whole numbers."""

_MAX_GRADINGS = 300
"""The largest number of gradings of a kind (falling with the rank, or rising) that are all tried."""


@dataclass(frozen=True, eq=False)
class Unjudged:
    """The unjudged documents within a cutoff, sorted by query and rank.

    Attributes
    ----------
    query, rank : ndarray of int32, shape (n_unjudged,)
        The rank is among all retrieved documents, from 1.
    position : ndarray of int64, shape (n_unjudged,)
        The number of unjudged documents before it in its query.
    count : ndarray of int64, shape (n_queries,)
        The number of unjudged documents of each query.
    """

    query: NDArray[np.int32]
    rank: NDArray[np.int32]
    position: NDArray[np.int64]
    count: NDArray[np.int64]

    @classmethod
    def of(cls, rankings: JudgedRankings, cutoff: int | None) -> Unjudged:
        """Find the ranks without a judged document."""
        depth = rankings.retrieved if cutoff is None else np.minimum(rankings.retrieved, cutoff)
        starts = np.cumsum(depth) - depth
        unjudged = np.ones(int(depth.sum()), np.bool_)
        within = rankings.within(cutoff)
        unjudged[starts[within.query] + within.rank - 1] = False
        row, n = np.flatnonzero(unjudged), len(depth)
        query = np.repeat(np.arange(n, dtype=np.int32), depth)[row]
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
        If a grade is not a number of at least 0, or the highest grade of the judgments is too large for a
        default scale.

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
    """Bound the values of a measure over the gradings of the unjudged documents within the cutoff.

    Parameters
    ----------
    measure : Measure
        Not Judged, whose value is about the missing labels themselves.
    rankings : JudgedRankings
    scale : ndarray
        The possible grades of an unjudged document, ascending.

    Returns
    -------
    (ndarray, ndarray), each of shape (n_queries,)
        The minimum and the maximum; some grading gives each of them. A document that becomes relevant counts
        in R and in the ideal list too. Unjudged documents beyond the cutoff stay unjudged; without a cutoff
        all retrieved documents count.
    bool
        Whether the bounds are exact: no grading gives a value beyond them.

    Notes
    -----
    The function tries gradings that fall with the rank, and gradings that rise. If two documents exchange
    their grades, R and the ideal list stay the same. Consider a measure that never falls if an exchange puts
    the higher grade first. Among all gradings with the same number of documents per grade, the falling one
    then gives the maximum, and the rising one the minimum. With all numbers of documents per grade the bounds
    are exact. QMeasure is not such a measure: a document of low grade may gain more behind one of high grade.
    GradedAP is one only if all relevant grades have the same weight.
    """
    unjudged = Unjudged.of(rankings, cutoff_of(measure))
    largest = int(unjudged.count.max(initial=0))
    if not largest:
        values = _values(measure, rankings)
        return values, values, True
    grades = np.union1d(scale, rankings.judgments.grade)
    sets, complete = _grade_sets(measure, scale, largest, _is_ap(measure, grades))
    low, high = np.full(rankings.n_queries, np.inf), np.full(rankings.n_queries, -np.inf)
    for levels in sets:
        for grade in _gradings(unjudged, levels, largest):
            values = _values(measure, _with_grades(rankings, unjudged, grade))
            low, high = np.minimum(low, values), np.maximum(high, values)
    return low, high, complete


def _is_ap(measure: Measure, grades: Floats) -> bool:
    """Check whether a measure is a multiple of AP: GradedAP with one weight for all relevant grades."""
    params = values_of(measure)
    if measure.NAME != "GradedAP":
        return False
    weights = weight_of_grade(grades, max_rel=params["max_rel"], gains=params["gains"])
    return len(np.unique(weights[grades >= params["rel"]])) <= 1


def _grade_sets(measure: Measure, scale: Floats, largest: int, is_ap: bool) -> tuple[list[Floats], bool]:
    """Choose the sets of grades to combine in gradings; tell whether they give exact bounds.

    `largest` is the largest number of unjudged documents of a query.
    """
    levels = scale[np.argsort(gains_of(measure, scale), kind="stable")]
    if spec_of(measure).rises_with_grades:
        return [levels[:1], levels[-1:]], True
    if "rel" in measure.SUPPORTED_PARAMS and (is_ap or measure.NAME != "GradedAP"):
        levels = levels[[0, -1]]  # only relevant or not matters
    exact = is_ap or (best_first_is_most(measure) and spec_of(measure).exchange_raises)
    if comb(largest + len(levels) - 1, largest) <= _MAX_GRADINGS:
        return [levels], exact
    pairs = [levels[[0, index]] for index in range(1, len(levels))]
    return pairs, exact and len(levels) == 2 and largest < _MAX_GRADINGS


def _gradings(unjudged: Unjudged, levels: Floats, largest: int) -> Iterator[Floats]:
    """Yield gradings that fall with the rank, each followed by one that rises."""
    ends = np.arange(largest + 1)
    if largest >= _MAX_GRADINGS:
        ends = np.unique(np.geomspace(1, largest + 1, _MAX_GRADINGS // 2).round().astype(int)) - 1
    last = unjudged.count[unjudged.query] - 1
    for bounds in combinations_with_replacement(ends, len(levels) - 1):
        for position in (unjudged.position, last - unjudged.position):
            yield levels[::-1][np.searchsorted(bounds, position, "right")]


def _with_grades(rankings: JudgedRankings, unjudged: Unjudged, grade: Floats) -> JudgedRankings:
    """Add the unjudged documents with these grades to the judgments and the rankings."""
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
    """The probabilities of wrong labels.

    Attributes
    ----------
    levels : ndarray, shape (n_levels,)
        The grades, ascending.
    rates : ndarray, shape (n_levels, n_levels)
        The probability of each true grade (column), given the label (row).
    about : str
        A description of the rates.
    """

    levels: Floats
    rates: Floats
    about: str

    @classmethod
    def of(cls, error: object, judgments: Judgments, scale: Floats) -> LabelErrors:
        """Build label errors from a probability, on all grades of the judgments and of a scale."""
        if not isinstance(error, Real) or isinstance(error, bool) or not 0 <= float(error) <= 1:
            raise InputError(
                f"label_error must be a number from 0 to 1 (found {short_repr(error)})",
                hint="Labels that people gave to a sample are human: --human on the command line",
            )
        return cls.to_neighbours(float(error), np.unique([*scale, *judgments.grade[judgments.grade >= 0]]))

    @classmethod
    def to_neighbours(cls, probability: float, levels: Floats) -> LabelErrors:
        """Move a label to a neighbouring grade with a probability, shared equally by two neighbours.

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
        """Draw grades of all judgments by the rates; a negative grade stays."""
        rng = np.random.default_rng(seed)
        level = np.searchsorted(self.levels, judgments.grade)  # 0 for a negative grade
        kept, other = np.diag(self.rates), self.rates * (1 - np.eye(len(self.levels)))
        shares = np.cumsum(other, axis=1)
        shares /= np.maximum(shares[:, -1:], 1e-300)  # the last share is 1, or all are 0 without errors
        is_fixed = judgments.grade < 0
        for _ in tracked(range(number), "draws of labels"):
            wrong = np.flatnonzero((rng.random(len(level)) >= kept[level]) & ~is_fixed)
            drawn = (rng.random(len(wrong))[:, None] >= shares[level[wrong]]).sum(axis=1)
            grade = judgments.grade.copy()
            grade[wrong] = self.levels[drawn]
            yield grade
