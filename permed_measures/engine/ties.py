"""Bound the values of measures over the orders of documents with equal scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.arrays import Floats
from permed_measures.engine.evaluator import evaluated
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.kernels import EXPECTED
from permed_measures.engine.kernels.graded import weight_of_grade
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import TieBreak
from permed_measures.engine.tables import Rows
from permed_measures.engine.tied_rankings import TiedRankings
from permed_measures.errors import warnings_about
from permed_measures.measures.parameters import values_of
from permed_measures.measures.specs import spec_of

_BY_GRADE = (TieBreak.PESSIMISTIC, TieBreak.OPTIMISTIC)


class OverTies(NamedTuple):
    """The values of some measures over the orders of documents with equal scores, query by query.

    Attributes
    ----------
    minimum, maximum : ndarray of float64, shape (n_measures, n_queries)
        The minimum and the maximum over these orders: the standard one, the lowest and the highest grade
        first, and for GradedAP two by its weights. So some order reaches each value.
    exact : list of bool
        Whether the bounds are exact, for each measure: no other order gives a value beyond them.
    expected : list of (ndarray of float64, shape (n_queries,), or None)
        The mean over all orders, each equally likely, for each measure; None if it has no closed form.
    """

    minimum: Floats
    maximum: Floats
    exact: list[bool]
    expected: list[Floats | None]


def over_ties(measures: Sequence[Measure], judgments: Judgments, run: Rows, values: Floats) -> OverTies:
    """Compute the minimum, the maximum and the mean over orders of documents with equal scores.

    Parameters
    ----------
    measures : sequence of Measure
        Checked on the judgments.
    judgments : Judgments
    run : nested dicts or Table
        Read several times.
    values : ndarray of float64, shape (n_measures, n_queries)
        The values with the standard order of ties.
    """
    minimum = maximum = values
    with warnings_about(None):  # the user has seen the warnings about this run
        ties = TiedRankings.of(judgments, run)
        changed = ties.changed_by_order()
        if not changed.any():
            return OverTies(values, values, [True] * len(measures), list(values))
        by_grade = [JudgedRankings.of(judgments, run, ties) for ties in _BY_GRADE]
        for rankings in by_grade:
            reached = evaluated(list(measures), rankings).values
            minimum, maximum = np.minimum(minimum, reached), np.maximum(maximum, reached)
        exact = [best_first_is_most(measure) for measure in measures]
        for i, measure in enumerate(measures):
            if measure.NAME == "GradedAP":
                by_weight = _by_weight(measure, judgments, run)
                reached = np.concatenate([evaluated([measure], rankings).values for rankings in by_weight])
                minimum[i] = np.minimum(minimum[i], reached.min(0))
                maximum[i] = np.maximum(maximum[i], reached.max(0))
                exact[i] = _same_relevant(measure, [*by_grade, *by_weight])
    expected = [_expected(measure, ties, changed, row) for measure, row in zip(measures, values, strict=True)]
    return OverTies(minimum, maximum, exact, expected)


def _expected(
    measure: Measure, ties: TiedRankings, changed: NDArray[np.bool_], values: Floats
) -> Floats | None:
    """Compute the mean over all orders; queries that no order changes keep their values."""
    expected = EXPECTED.get(str(measure.NAME))
    mean = expected(ties, **values_of(measure)) if expected else None
    return None if mean is None else np.where(changed, mean, values)


def _by_weight(measure: Measure, judgments: Judgments, run: Rows) -> list[JudgedRankings]:
    """Build the orders that minimize and maximize GradedAP, unless a tie extends below the cutoff.

    Precision rises within a tie of relevant documents. So the maximum has the relevant documents first, the
    smallest weight before the others; the minimum has them last, the largest weight first.
    """
    parameters = values_of(measure)
    max_rel, gains, rel = (parameters[name] for name in ("max_rel", "gains", "rel"))
    weight = np.abs(weight_of_grade(judgments.grade, max_rel=max_rel, gains=gains))
    lightest_first = np.where(judgments.grade >= rel, 1 / (1 + weight), 0.0)
    keyed = replace(judgments, grade=lightest_first)
    return [replace(JudgedRankings.of(keyed, run, ties), judgments=judgments) for ties in _BY_GRADE]


def _same_relevant(measure: Measure, orders: list[JudgedRankings]) -> bool:
    """Check whether all orders have the same relevant documents within the cutoff."""
    parameters = values_of(measure)
    relevant = []
    for rankings in orders:
        counted = (rankings.judged_only if parameters["judged_only"] else rankings).within(
            parameters["cutoff"]
        )
        relevant.append(np.sort(counted.row[counted.grade >= parameters["rel"]]))
    return all(np.array_equal(relevant[0], rows) for rows in relevant)


def best_first_is_most(measure: Measure) -> bool:
    """Check whether the highest grade first maximizes a measure over all orders, and the lowest minimizes it.

    This holds if the value never falls when two neighbours are swapped so that the better one comes first. It
    does not hold for GradedAP: it weighs precision, which rises within a tie, so that the better document
    gains more behind the other (`_by_weight`). Nor does it hold for gains in another order than the grades,
    an ideal list within the cutoff, or measures that treat unjudged and other non-relevant documents
    differently.
    """
    parameters = values_of(measure)
    graded = parameters.get("gains") is None and parameters.get("ideal") != "cutoff"
    return spec_of(measure).best_first and graded and parameters.get("rel") != 0


ALL_ORDERS = "the least and the most over the orders of equal scores"
THREE_ORDERS = "*: as ranked, lowest and highest grade first; other orders may go beyond"
"""Descriptions of ranges that are exact, and of those that are not."""
EXPECTED_VALUE = "the mean over all orders of equal scores, each as likely"
NO_CLOSED_FORM = "there is no closed form"
"""Descriptions of means, and of means that are left out."""
