"""What the order of equal scores can make of a value."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.engine.evaluator import evaluated
from permed_measures.engine.inputs import RunLike
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import TieBreak
from permed_measures.measures.headings import name_of
from permed_measures.measures.parameters import values_of

Floats = NDArray[np.float64]

_BEST_FIRST = {
    *(
        "P",
        "R",
        "RR",
        "AP",
        "Success",
        "Coverage",
        "Rprec",
        "IPrec",
        "RBP",
        "ERR",
        "Bpref",
        "GAP",
        "QMeasure",
    ),
    *("nDCG", "VariantNDCG", "SetP", "SetR", "SetF", "SetAP", "NumQ", "NumRet", "NumRel"),
}
"""Measures that never fall where neighbours of a ranking are exchanged so that the better one is first."""


def over_ties(
    measures: Sequence[Measure], judgments: Judgments, run: RunLike, values: Floats
) -> tuple[Floats, Floats]:
    """Return the least and the most of three orders of equal scores, query by query.

    Parameters
    ----------
    measures : sequence of Measure
        Checked on the judgments.
    judgments : Judgments
    run : RunLike
        Read twice.
    values : ndarray of float64, shape (n_measures, n_queries)
        With the order that evaluations have.

    Returns
    -------
    (ndarray, ndarray), each of shape (n_measures, n_queries)
        Over that order, the lowest and the highest grade first: some order gives these values. No order gives
        others beyond them where `all_orders` says so.
    """
    orders = [values]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of this run they were given
        for ties in (TieBreak.PESSIMISTIC, TieBreak.OPTIMISTIC):
            orders.append(evaluated(list(measures), JudgedRankings.of(judgments, run, ties)).values)
    return np.min(orders, axis=0), np.max(orders, axis=0)


def all_orders(measure: Measure) -> bool:
    """Return whether the highest grade first gives the most of all orders, and the lowest first the least.

    It does where a ranking never loses by the exchange of two neighbours that puts the better one first.
    GradedAP is no such measure: it weighs precision, which rises within a tie, so that the better document
    may gain more behind the other. Nor are measures of grades that gain in another order, of an ideal list
    within the cutoff, and those that tell unjudged documents from others that are not relevant.
    """
    given = values_of(measure)
    graded = given.get("gains") is None and given.get("ideal") != "cutoff"
    return measure.NAME in _BEST_FIRST and graded and given.get("rel") != 0


def about_ties(measures: Sequence[Measure]) -> str:
    """Say what the ranges of `over_ties` are.

    Examples
    --------
    >>> import permed_measures as pm
    >>> about_ties([pm.parse_measure("AP@10")])
    'the least and the most over the orders of equal scores'
    """
    others = ", ".join(name_of(measure) for measure in measures if not all_orders(measure))
    of_three = "three of them (as ranked, lowest grade first, highest grade first): others may go beyond"
    return "the least and the most over the orders of equal scores" + (
        f"; for {others} over {of_three}" if others else ""
    )
