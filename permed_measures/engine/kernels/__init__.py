"""Compute the value of a measure for every query, from the ranks and grades of the judged documents.

Each kernel takes the rankings and the parameters of its measure by name (None: not set), and returns a
float64 array with one value per query of the judgments. Kernels use no ids, read and write nothing, and do
not average.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ir_measures
import numpy as np
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.engine.judgments import USUAL_GRADES, Judgments
from permed_measures.engine.kernels import binary, checks, expected, graded
from permed_measures.engine.kernels.checks import is_exponential
from permed_measures.measures.parameters import Params, values_of
from permed_measures.measures.specs import SPECS, MeasureSpec
from permed_measures.wording import join_names

# --- all measures ------------------------------------------------------------------------------------

Kernel = Callable[..., NDArray[np.float64]]
Check = Callable[[Judgments, Params], None]
Expected = Callable[..., NDArray[np.float64] | None]


_FILES = {"binary": binary, "checks": checks, "graded": graded}


def _function(path: str) -> Any:
    """Return the function that a row of `SPECS` names, such as ``graded.ndcg``."""
    file, _, name = path.partition(".")
    return getattr(_FILES[file], name)


def _expected(spec: MeasureSpec) -> Expected | None:
    """Return the function for the mean over all orders of equal scores; None without a closed form."""
    if spec.ignores_order:
        return expected.same_in_any_order(_function(spec.kernel))
    function: Expected | None = getattr(expected, spec.kernel.partition(".")[2], None)
    return function


KERNELS: dict[str, Kernel] = {name: _function(spec.kernel) for name, spec in SPECS.items()}
"""The functions that compute the measures from rankings, by the names of the measures."""
CHECKS: dict[str, Check] = {name: _function(spec.check) for name, spec in SPECS.items() if spec.check}
"""The functions that refuse judgments on which a measure is not defined."""
EXPECTED: dict[str, Expected] = {
    name: function for name, spec in SPECS.items() if (function := _expected(spec)) is not None
}
"""The functions that compute the mean over all orders of equal scores, if that has a closed form."""


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
    exponential = [measure for measure in measures if is_exponential(values_of(measure))]
    if exponential and len(unusual):
        grade, gain = unusual[0], np.exp2(unusual[0]) - 1
        gains = (
            f"the gain of {join_names(map(str, exponential), 3)} is 2^grade - 1, for grades such as 0, 1, 2"
        )
        notes.append(f"{gains}; grade {grade:g} gains {gain:.3g}. nDCG takes the grades as gains")
    return notes


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
