"""Compute the value of a measure for every query, from the ranks and grades of the judged documents.

Each kernel takes the rankings and the parameters of its measure by name (None: not set), and returns a
float64 array with one value per query of the judgments. Kernels use no ids, read and write nothing, and do
not average.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import ir_measures
import numpy as np
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.engine.judgments import USUAL_GRADES, Judgments
from permed_measures.engine.kernels import binary, expected, graded
from permed_measures.engine.kernels.graded import ERR_MAX_GRADE
from permed_measures.engine.tables import QRELS_FIRST
from permed_measures.errors import MeasureError
from permed_measures.escaping import join_names
from permed_measures.measures.definitions import F1, GAP, Coverage, GradedAP, QMeasure, VariantNDCG
from permed_measures.measures.parameters import values_of
from permed_measures.tolerances import MAX_NUMBER

# --- judgments that a measure refuses ----------------------------------------------------------------

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


def check_weights(judgments: Judgments, parameters: dict[str, Any]) -> None:
    """Check that relevant grades are at most `max_rel`, or all in `gains` (GradedAP)."""
    if parameters["gains"] is not None:
        check_gains(judgments, parameters)
        return
    max_rel = parameters["max_rel"]
    too_high = (judgments.grade >= parameters["rel"]) & (judgments.grade > max_rel)
    problem = f"GradedAP: no grade may be above max_rel={max_rel} (found {{grade}})"
    hint = "Set max_rel={highest}, or give each grade its weight with gains={{...}}"
    _raise_at_first(judgments, too_high, problem, hint)


def check_gains(judgments: Judgments, parameters: dict[str, Any]) -> None:
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


def check_exponent(judgments: Judgments, parameters: dict[str, Any]) -> None:
    """Check that no grade is too large for its gain: 2^g - 1, or the grade itself."""
    if _is_exponential(parameters):
        problem = "the gain 2^g - 1 of a grade must be a number (found grade {grade})"
        hint = "Use a linear gain, or nDCG with gains={{...}}"
        _raise_at_first(judgments, judgments.grade > MAX_EXPONENT, problem, hint)
    _check_size(judgments)


def check_err(judgments: Judgments, parameters: dict[str, Any]) -> None:  # noqa: ARG001 - ERR uses none
    """Check that no grade is above gdeval's highest (ERR)."""
    problem = f"ERR: no grade may be above {ERR_MAX_GRADE}, as in gdeval (found {{grade}})"
    _raise_at_first(
        judgments, judgments.grade > ERR_MAX_GRADE, problem, "Map the grades to 0..4 before evaluating"
    )


# --- all measures ------------------------------------------------------------------------------------

Kernel = Callable[..., NDArray[np.float64]]
Check = Callable[[Judgments, dict[str, Any]], None]
Expected = Callable[..., NDArray[np.float64] | None]


class Supported(NamedTuple):
    """A measure and its computation.

    `kernel` computes it from rankings, and `expected` its mean over all orders of equal scores, if that has a
    closed form. `check` refuses judgments on which the measure is not defined.
    """

    measure: Measure
    kernel: Kernel
    expected: Expected | None
    check: Check | None = None


def _of_set(measure: Measure, kernel: Kernel) -> Supported:
    """Build the entry of a set measure, which no order changes."""
    return Supported(measure, kernel, expected.same_in_any_order(kernel))


SUPPORTED = [
    Supported(
        GradedAP,
        graded.relevance_weighted_average_precision,
        expected.relevance_weighted_average_precision,
        check_weights,
    ),
    Supported(Coverage, binary.success, expected.success),
    Supported(VariantNDCG, graded.variant_ndcg, expected.variant_ndcg, check_exponent),
    Supported(GAP, graded.graded_average_precision, expected.graded_average_precision),
    Supported(QMeasure, graded.q_measure, expected.q_measure, check_gains),
    Supported(F1, binary.f1, expected.f1),
    Supported(ir_measures.nDCG, graded.ndcg, expected.ndcg, check_exponent),
    Supported(ir_measures.ERR, graded.expected_reciprocal_rank, expected.expected_reciprocal_rank, check_err),
    Supported(ir_measures.RBP, binary.rank_biased_precision, expected.rank_biased_precision),
    Supported(ir_measures.P, binary.precision, expected.precision),
    Supported(ir_measures.R, binary.recall, expected.recall),
    Supported(ir_measures.RR, binary.reciprocal_rank, expected.reciprocal_rank),
    Supported(ir_measures.AP, binary.average_precision, expected.average_precision),
    Supported(ir_measures.Success, binary.success, expected.success),
    Supported(ir_measures.Judged, binary.judged, expected.judged),
    Supported(ir_measures.Rprec, binary.r_precision, expected.r_precision),
    Supported(ir_measures.IPrec, binary.interpolated_precision, None),
    Supported(ir_measures.Bpref, binary.binary_preference, expected.binary_preference),
    Supported(ir_measures.infAP, binary.inferred_average_precision, None),
    _of_set(ir_measures.SetP, binary.set_precision),
    _of_set(ir_measures.SetR, binary.set_recall),
    _of_set(ir_measures.SetF, binary.set_f),
    _of_set(ir_measures.SetAP, binary.set_average_precision),
    _of_set(ir_measures.NumQ, binary.num_q),
    _of_set(ir_measures.NumRet, binary.num_ret),
    _of_set(ir_measures.NumRel, binary.num_rel),
]
"""All supported measures."""

KERNELS: dict[str, Kernel] = {str(each.measure.NAME): each.kernel for each in SUPPORTED}
CHECKS: dict[str, Check] = {str(each.measure.NAME): each.check for each in SUPPORTED if each.check}
EXPECTED: dict[str, Expected] = {str(each.measure.NAME): each.expected for each in SUPPORTED if each.expected}


# --- notes on surprising values ----------------------------------------------------------------------


def notes_on(measures: Sequence[Measure], judgments: Judgments) -> list[str]:
    """Describe what may surprise a user about the measures on these grades."""
    notes = [note for measure in measures if (note := _note_on_binary_labels(measure, judgments))]
    highest = judgments.grade.max(initial=-np.inf)
    with_rel = [(measure, rel) for measure in measures if (rel := values_of(measure).get("rel"))]
    above = [measure for measure, rel in with_rel if rel > max(highest, 1)]
    if above and len(judgments.grade):
        what = (
            f"no grade is as high as the rel of {join_names(map(str, above), 3)} (the highest is {highest:g})"
        )
        notes.append(f"{what}; nothing is relevant to {'it' if len(above) == 1 else 'them'}")
    fractions = judgments.grade[(judgments.grade > 0) & (judgments.grade < 1)]
    if len(fractions) and (from_1 := [measure for measure, rel in with_rel if rel == 1]):
        notes.append(
            f"labels between 0 and 1 (such as {fractions[0]:g}) are not relevant to "
            f"{join_names(map(str, from_1), 3)}, which count from 1 on; --rel {fractions.min():g} on "
            f"the command "
            f"line, rel={fractions.min():g} in Python, counts all of them"
        )
    unusual = judgments.grade[(judgments.grade > 0) & (judgments.grade != np.floor(judgments.grade))]
    if highest > max(USUAL_GRADES):
        unusual = judgments.grade.max(keepdims=True)
    exponential = [measure for measure in measures if _is_exponential(values_of(measure))]
    if exponential and len(unusual):
        grade, gain = unusual[0], np.exp2(unusual[0]) - 1
        gains = (
            f"the gain of {join_names(map(str, exponential), 3)} is 2^grade - 1, for grades such as 0, 1, 2"
        )
        notes.append(f"{gains}; grade {grade:g} gains {gain:.3g}. nDCG takes the grades as gains")
    return notes


def _is_exponential(parameters: Mapping[str, Any]) -> bool:
    return parameters.get("gain") == "exp" or parameters.get("dcg") == "exp-log2"


def _note_on_binary_labels(measure: Measure, judgments: Judgments) -> str:
    """Note that GradedAP weighs every relevant document by less than 1, if all relevant grades are 1."""
    if measure.NAME != "GradedAP" or measure["gains"] is not None or measure["max_rel"] <= 1:
        return ""
    relevant = judgments.grade[judgments.grade >= measure["rel"]]
    if measure["norm"] in ("gain", "ideal") or not len(relevant) or (relevant != 1).any():
        return ""
    share = "half" if measure["max_rel"] == 2 else f"1/{measure['max_rel']:g}"
    better = measure(max_rel=1)
    other = ir_measures.AP(**measure.params) if measure.params.keys() <= {"cutoff", "judged_only"} else better
    return f"the labels are binary, so {measure} is {share} of {other}; use {better}"
