"""The values of a measure for every query, from the ranks and grades of the judged documents.

Each kernel takes the rankings and the parameters of its measure by their names (None: left out), and returns
a float64 array with a value per query of the judgments. No ids, no input or output, no averaging.
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

# --- judgments that a measure cannot be computed on -------------------------------------------------

MAX_EXPONENT = 1000
"""Gains up to 2^1000 - 1, so that their sum is finite too."""


def _raise_at_first(judgments: Judgments, rows: NDArray[np.bool_], problem: str, hint: str) -> None:
    """Raise MeasureError about the first of these rows; {grade} and {highest} are filled in."""
    found = np.flatnonzero(rows)
    if len(found):
        row = int(found[0])
        facts = {"grade": f"{judgments.grade[row]:g}", "highest": f"{judgments.grade.max():g}"}
        if judgments.may_be_scores:
            hint = f"{QRELS_FIRST}; if these are grades, {hint[0].lower()}{hint[1:]}"
        raise MeasureError(problem.format(**facts), where=judgments.location(row), hint=hint.format(**facts))


def check_weights(judgments: Judgments, given: dict[str, Any]) -> None:
    """GradedAP: no relevant grade above `max_rel`, or each one in `gains`."""
    if given["gains"] is not None:
        check_gains(judgments, given)
        return
    too_high = (judgments.grade >= given["rel"]) & (judgments.grade > given["max_rel"])
    problem = f"GradedAP: no grade may be above max_rel={given['max_rel']} (found {{grade}})"
    hint = "Set max_rel={highest}, or give each grade its weight with gains={{...}}"
    _raise_at_first(judgments, too_high, problem, hint)


def check_gains(judgments: Judgments, given: dict[str, Any]) -> None:
    """Each relevant grade is in `gains`, or where none are given the gain itself."""
    if given["gains"] is None:
        _check_size(judgments)
        return
    relevant = judgments.grade >= given.get("rel", 1)
    missing = relevant & ~np.isin(judgments.grade, list(given["gains"]))
    problem = f"gains must have every relevant grade (found {{grade}}, gains have {list(given['gains'])})"
    _raise_at_first(judgments, missing, problem, "Add {grade} to gains")


def _check_size(judgments: Judgments) -> None:
    problem = f"a grade that is a gain must be at most {MAX_NUMBER:g} (found {{grade}})"
    _raise_at_first(
        judgments, np.abs(judgments.grade) > MAX_NUMBER, problem, "Map the grades to smaller ones"
    )


def check_exponent(judgments: Judgments, given: dict[str, Any]) -> None:
    """No grade is too high for its gain: 2^g - 1, or the grade itself."""
    if _is_exponential(given):
        problem = "the gain 2^g - 1 of a grade must be a number (found grade {grade})"
        hint = "Use a linear gain, or nDCG with gains={{...}}"
        _raise_at_first(judgments, judgments.grade > MAX_EXPONENT, problem, hint)
    _check_size(judgments)


def check_err(judgments: Judgments, given: dict[str, Any]) -> None:  # noqa: ARG001 - ERR has no such parameter
    """ERR: no grade above gdeval's highest."""
    problem = f"ERR: no grade may be above {ERR_MAX_GRADE}, as in gdeval (found {{grade}})"
    _raise_at_first(
        judgments, judgments.grade > ERR_MAX_GRADE, problem, "Map the grades to 0..4 before evaluating"
    )


# --- all measures ------------------------------------------------------------------------------------

Kernel = Callable[..., NDArray[np.float64]]
Check = Callable[[Judgments, dict[str, Any]], None]
Expected = Callable[..., NDArray[np.float64] | None]


class Supported(NamedTuple):
    """A measure and how it is computed.

    `kernel` computes it from rankings, and `expected` its mean over all orders of equal scores, where that
    has a closed form. `check` refuses judgments that the measure is not defined on.
    """

    measure: Measure
    kernel: Kernel
    expected: Expected | None
    check: Check | None = None


def _of_set(measure: Measure, kernel: Kernel) -> Supported:
    """Return a measure that no order changes."""
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
"""Every measure that is computed here."""

KERNELS: dict[str, Kernel] = {str(each.measure.NAME): each.kernel for each in SUPPORTED}
CHECKS: dict[str, Check] = {str(each.measure.NAME): each.check for each in SUPPORTED if each.check}
EXPECTED: dict[str, Expected] = {str(each.measure.NAME): each.expected for each in SUPPORTED if each.expected}


# --- what one may not expect -------------------------------------------------------------------------


def notes_on(measures: Sequence[Measure], judgments: Judgments) -> list[str]:
    """Say what the measures do on these grades that one may not expect."""
    notes = [note for each in measures if (note := _on_binary_labels(each, judgments))]
    highest = judgments.grade.max(initial=-np.inf)
    levels = [each for each in measures if (rel := values_of(each).get("rel")) and rel > max(highest, 1)]
    if levels and len(judgments.grade):
        what = (
            f"no grade is as high as the rel of {join_names(map(str, levels), 3)} (the highest is "
            f"{highest:g})"
        )
        notes.append(f"{what}; nothing is relevant to {'it' if len(levels) == 1 else 'them'}")
    fractions = judgments.grade[(judgments.grade > 0) & (judgments.grade < 1)]
    if len(fractions) and (whole := [each for each in measures if values_of(each).get("rel") == 1]):
        notes.append(
            f"labels between 0 and 1 (such as {fractions[0]:g}) are not relevant to "
            f"{join_names(map(str, whole), 3)}, which count from 1 on; --rel {fractions.min():g} on "
            f"the command "
            f"line, rel={fractions.min():g} in Python, counts all of them"
        )
    unusual = judgments.grade[(judgments.grade > 0) & (judgments.grade != np.floor(judgments.grade))]
    if highest > max(USUAL_GRADES):
        unusual = judgments.grade.max(keepdims=True)
    exponential = [each for each in measures if _is_exponential(values_of(each))]
    if exponential and len(unusual):
        grade, gain = unusual[0], np.exp2(unusual[0]) - 1
        gains = (
            f"the gain of {join_names(map(str, exponential), 3)} is 2^grade - 1, for grades such as 0, 1, 2"
        )
        notes.append(f"{gains}; grade {grade:g} gains {gain:.3g}. nDCG takes the grades as gains")
    return notes


def _is_exponential(given: Mapping[str, Any]) -> bool:
    return given.get("gain") == "exp" or given.get("dcg") == "exp-log2"


def _on_binary_labels(measure: Measure, judgments: Judgments) -> str:
    """Say that GradedAP weighs every relevant document by less than 1, where all grades are 1."""
    if measure.NAME != "GradedAP" or measure["gains"] is not None or measure["max_rel"] <= 1:
        return ""
    relevant = judgments.grade[judgments.grade >= measure["rel"]]
    if measure["norm"] in ("gain", "ideal") or not len(relevant) or (relevant != 1).any():
        return ""
    share = "half" if measure["max_rel"] == 2 else f"1/{measure['max_rel']:g}"
    better = measure(max_rel=1)
    other = ir_measures.AP(**measure.params) if measure.params.keys() <= {"cutoff", "judged_only"} else better
    return f"the labels are binary, so {measure} is {share} of {other}; use {better}"
