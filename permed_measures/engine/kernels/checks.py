"""Refuse judgments on which a measure is not defined."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.judgments import Judgments
from permed_measures.engine.kernels.graded import ERR_MAX_GRADE
from permed_measures.engine.tables import QRELS_FIRST
from permed_measures.errors import MeasureError
from permed_measures.measures.parameters import Params
from permed_measures.tolerances import MAX_NUMBER

MAX_EXPONENT = 1000
"""The maximum grade with gain 2^grade - 1, so that sums of gains are finite."""


def _raise_at_first(judgments: Judgments, rows: NDArray[np.bool_], problem: str, hint: str) -> None:
    """Raise MeasureError for the first of these rows; fill in {grade} and {highest}."""
    refused = np.flatnonzero(rows)
    if len(refused):
        row = int(refused[0])
        facts = {"grade": f"{judgments.grade[row]:g}", "highest": f"{judgments.grade.max():g}"}
        if judgments.may_be_scores:
            hint = f"{QRELS_FIRST}; if these are grades, {hint[0].lower()}{hint[1:]}"
        raise MeasureError(problem.format(**facts), where=judgments.location(row), hint=hint.format(**facts))


def check_weights(judgments: Judgments, parameters: Params) -> None:
    """Check that relevant grades are at most `max_rel`, or all in `gains` (GradedAP)."""
    if parameters["gains"] is not None:
        check_gains(judgments, parameters)
        return
    max_rel = parameters["max_rel"]
    too_high = (judgments.grade >= parameters["rel"]) & (judgments.grade > max_rel)
    problem = f"GradedAP: no grade may be above max_rel={max_rel} (found {{grade}})"
    hint = "Set max_rel={highest}, or give each grade its weight with gains={{...}}"
    _raise_at_first(judgments, too_high, problem, hint)


def check_gains(judgments: Judgments, parameters: Params) -> None:
    """Check that each relevant grade is in `gains`; without `gains`, that grades are not too large."""
    gains = parameters["gains"]
    if gains is None:
        _check_size(judgments)
        return
    relevant = judgments.grade >= parameters.get("rel", 1)
    missing = relevant & ~np.isin(judgments.grade, list(gains))
    problem = f"gains must have every relevant grade (found {{grade}}, gains have {list(gains)})"
    _raise_at_first(judgments, missing, problem, "Add {grade} to gains")


def _check_size(judgments: Judgments) -> None:
    problem = f"a grade that is a gain must be at most {MAX_NUMBER:g} (found {{grade}})"
    _raise_at_first(
        judgments, np.abs(judgments.grade) > MAX_NUMBER, problem, "Map the grades to smaller ones"
    )


def check_exponent(judgments: Judgments, parameters: Params) -> None:
    """Check that no grade is too large for its gain: 2^g - 1, or the grade itself."""
    if is_exponential(parameters):
        problem = "the gain 2^g - 1 of a grade must be a number (found grade {grade})"
        hint = "Use a linear gain, or nDCG with gains={{...}}"
        _raise_at_first(judgments, judgments.grade > MAX_EXPONENT, problem, hint)
    _check_size(judgments)


def check_err(judgments: Judgments, parameters: Params) -> None:  # noqa: ARG001 - ERR uses none
    """Check that no grade is above gdeval's highest (ERR)."""
    problem = f"ERR: no grade may be above {ERR_MAX_GRADE}, as in gdeval (found {{grade}})"
    _raise_at_first(
        judgments, judgments.grade > ERR_MAX_GRADE, problem, "Map the grades to 0..4 before evaluating"
    )


def is_exponential(parameters: Params) -> bool:
    """Check whether a grade gains 2^grade - 1."""
    return parameters.get("gain") == "exp" or parameters.get("dcg") == "exp-log2"
