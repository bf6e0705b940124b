"""What the order of equal scores can make of a value."""

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

_OTHERWISE = {"GradedAP", "Judged", "infAP"}
"""Measures that may fall where neighbours of a ranking are exchanged so that the better one is first."""

_BY_GRADE = (TieBreak.PESSIMISTIC, TieBreak.OPTIMISTIC)


class OverTies(NamedTuple):
    """What the orders of equal scores make of the values of some measures, query by query.

    Attributes
    ----------
    least, most : ndarray of float64, shape (n_measures, n_queries)
        Over the order that evaluations have, the lowest and the highest grade first, and for GradedAP those
        of its weights: some order gives these values.
    exact : list of bool
        Of each measure, whether no order gives others beyond them.
    expected : list of (ndarray of float64, shape (n_queries,), or None)
        Of each measure the mean over all orders, each as likely; None where it has no closed form.
    """

    least: Floats
    most: Floats
    exact: list[bool]
    expected: list[Floats | None]


def over_ties(measures: Sequence[Measure], judgments: Judgments, run: Rows, values: Floats) -> OverTies:
    """Return the least, the most and the mean over the orders of equal scores.

    Parameters
    ----------
    measures : sequence of Measure
        Checked on the judgments.
    judgments : Judgments
    run : nested dicts or Table
        Read several times.
    values : ndarray of float64, shape (n_measures, n_queries)
        With the order that evaluations have.
    """
    least = most = values
    with warnings_about(None):  # of this run they were given
        ties = TiedRankings.of(judgments, run)
        changed = ties.changed_by_order()
        if not changed.any():
            return OverTies(values, values, [True] * len(measures), list(values))
        by_grade = [JudgedRankings.of(judgments, run, ties) for ties in _BY_GRADE]
        for rankings in by_grade:
            found = evaluated(list(measures), rankings).values
            least, most = np.minimum(least, found), np.maximum(most, found)
        exact = [best_first_is_most(measure) for measure in measures]
        for i, measure in enumerate(measures):
            if measure.NAME == "GradedAP":
                by_weight = _by_weight(measure, judgments, run)
                found = np.concatenate([evaluated([measure], rankings).values for rankings in by_weight])
                least[i], most[i] = np.minimum(least[i], found.min(0)), np.maximum(most[i], found.max(0))
                exact[i] = _same_hits(measure, [*by_grade, *by_weight])
    expected = [_expected(measure, ties, changed, row) for measure, row in zip(measures, values, strict=True)]
    return OverTies(least, most, exact, expected)


def _expected(
    measure: Measure, ties: TiedRankings, changed: NDArray[np.bool_], values: Floats
) -> Floats | None:
    """Return the mean over all orders; of queries that no order changes, the values themselves."""
    expected = EXPECTED.get(str(measure.NAME))
    mean = expected(ties, **values_of(measure)) if expected else None
    return None if mean is None else np.where(changed, mean, values)


def _by_weight(measure: Measure, judgments: Judgments, run: Rows) -> list[JudgedRankings]:
    """Return the orders that give GradedAP its least and its most, unless a tie goes on below the cutoff.

    Precision rises within a tie, so that it is the most with the relevant documents first, the lightest of
    them before the others, and the least with these last, the heaviest first.
    """
    given = values_of(measure)
    weight = np.abs(weight_of_grade(judgments.grade, max_rel=given["max_rel"], gains=given["gains"]))
    lightest_first = np.where(judgments.grade >= given["rel"], 1 / (1 + weight), 0.0)
    keyed = replace(judgments, grade=lightest_first)
    return [replace(JudgedRankings.of(keyed, run, ties), judgments=judgments) for ties in _BY_GRADE]


def _same_hits(measure: Measure, orders: list[JudgedRankings]) -> bool:
    """Return whether all orders have the same relevant documents within the cutoff."""
    given = values_of(measure)
    found = []
    for each in orders:
        within = (each.condensed if given["judged_only"] else each).within(given["cutoff"])
        found.append(np.sort(within.row[within.grade >= given["rel"]]))
    return all(np.array_equal(found[0], each) for each in found)


def best_first_is_most(measure: Measure) -> bool:
    """Return whether the highest grade first gives the most of all orders, and the lowest first the least.

    It does where a ranking never loses by the exchange of two neighbours that puts the better one first.
    GradedAP is no such measure: it weighs precision, which rises within a tie, so that the better document
    gains more behind the other (`_by_weight`). Nor are measures of grades that gain in another order, of an
    ideal list within the cutoff, and those that tell unjudged documents from others that are not relevant.
    """
    given = values_of(measure)
    graded = given.get("gains") is None and given.get("ideal") != "cutoff"
    return measure.NAME not in _OTHERWISE and graded and given.get("rel") != 0


ALL_ORDERS = "the least and the most over the orders of equal scores"
THREE_ORDERS = "*: as ranked, lowest and highest grade first; other orders may go beyond"
"""What is said of ranges, and of those that are not exact."""
EXPECTED_VALUE = "the mean over all orders of equal scores, each as likely"
NO_CLOSED_FORM = "there is no closed form"
"""What is said of means, and of those that are left out."""
