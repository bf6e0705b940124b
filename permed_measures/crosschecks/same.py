"""Which measure of pytrec_eval is the same as one of ours."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import ir_measures
from ir_measures.measures import Measure

from permed_measures.crosschecks.pytrec import HIGHEST_GRADE, HIGHEST_REL
from permed_measures.measures.parameters import values_of

ABSENT = "pytrec_eval does not have it"


class Same(NamedTuple):
    """A measure of pytrec_eval, and what makes it the same as one of ours.

    Attributes
    ----------
    measure : Measure
        That ir_measures asks pytrec_eval for.
    gains : mapping of int to int
        Grades that take the place of others.
    lowest : float
        Values below this are 0.
    """

    measure: Measure
    gains: Mapping[int, int] = {}
    lowest: float = 0.0


def same_measure(measure: Measure, grades: list[float], longest: int) -> Same | str:
    """Return the measure of pytrec_eval that has the same values, or why there is none.

    Parameters
    ----------
    measure : Measure
    grades : list of float
        Of the qrels.
    longest : int
        The length of the longest list.
    """
    if any(grade != int(grade) for grade in grades):
        return "pytrec_eval takes whole grades only"
    given = values_of(measure)
    found = (
        _SAME[str(measure.NAME)](measure, given, grades, longest)
        if measure.NAME in _SAME
        else _itself(measure)
    )
    if isinstance(found, str):
        return found
    if max([*grades, *found.gains.values()], default=0) > HIGHEST_GRADE:
        return f"pytrec_eval reserves memory up to the highest gain, here above {HIGHEST_GRADE:,}"
    if not 1 <= (values_of(found.measure).get("rel") or 1) <= HIGHEST_REL or given.get("rel") == 0:
        return f"pytrec_eval takes a rel from 1 to {HIGHEST_REL}"
    return found


def _itself(measure: Measure) -> Same | str:
    return Same(measure) if ir_measures.pytrec_eval.supports(measure) else ABSENT


def _success(_: Measure, given: dict[str, Any], __: list[float], longest: int) -> Same | str:
    """Coverage is success; without a cutoff, that of the longest list."""
    if given["rel"] != int(given["rel"]):
        return ABSENT
    return Same(ir_measures.Success(**{**given, "cutoff": given["cutoff"] or max(longest, 1)}))


def _reciprocal_rank(_: Measure, given: dict[str, Any], *__: Any) -> Same:
    """RR@k is RR, but 0 where the first relevant document is below rank k."""
    cutoff = given.pop("cutoff")
    return Same(ir_measures.RR(**given), lowest=(1 - 1e-12) / cutoff if cutoff else 0.0)


def _iprec(measure: Measure, given: dict[str, Any], *_: Any) -> Same | str:
    return Same(measure) if round(given["recall"], 2) == given["recall"] else "pytrec_eval takes two digits"


def _ndcg(_: Measure, given: dict[str, Any], grades: list[float], __: int) -> Same | str:
    """Exp-gain nDCG is nDCG on grades 2^g - 1; negative grades stay as they are."""
    gains = given.get("gains") or {}
    if not all(isinstance(gain, int) for gain in gains.values()):
        return "pytrec_eval takes whole gains only"
    if given["dcg"] == "exp-log2":
        if max(grades, default=0) > math.log2(HIGHEST_GRADE):
            return f"pytrec_eval reserves memory up to the highest gain, here above {HIGHEST_GRADE:,}"
        gains = {int(grade): 2 ** int(grade) - 1 for grade in grades if grade >= 0}
    same = {"judged_only": given["judged_only"], **({"cutoff": given["cutoff"]} if given["cutoff"] else {})}
    return Same(ir_measures.nDCG(**same), gains)


def _variant_ndcg(measure: Measure, given: dict[str, Any], grades: list[float], longest: int) -> Same | str:
    if (given["discount"], given["ideal"], given["negative"]) != ("log2", "qrels", "zero"):
        return ABSENT
    dcg = {"exp": "exp-log2", "linear": "log2"}[given["gain"]]
    return _ndcg(measure, {**given, "dcg": dcg}, grades, longest)


_SAME: dict[str, Callable[[Measure, dict[str, Any], list[float], int], Same | str]] = {
    "Coverage": _success,
    "RR": _reciprocal_rank,
    "IPrec": _iprec,
    "nDCG": _ndcg,
    "VariantNDCG": _variant_ndcg,
}
"""Measures that pytrec_eval has under another name, or not in every form."""
