"""Which measure of pytrec_eval each of ours must equal, and on which grades."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import ir_measures
from ir_measures.measures import Measure

from permed_measures.crosschecks.pytrec import HIGHEST_GRADE, HIGHEST_REL
from permed_measures.measures.definitions import GAP, Coverage, GradedAP, QMeasure
from permed_measures.measures.parameters import cutoff_of, values_of


class Comparison(NamedTuple):
    """A measure of ours, the measure of pytrec_eval that it must equal, and the maps of grades and values."""

    ours: Measure
    theirs: Measure
    gains: Mapping[int, int] | None = None
    value: Callable[[float], float] = float


_Identity = Callable[[Measure, list[float], int], Comparison | str]
"""From a measure, the grades of the qrels and the length of the longest list."""


def _of_graded_ap(measure: Measure, grades: list[float], _: int) -> Comparison:
    """With every weight 1, GradedAP over the relevant documents is AP."""
    given = values_of(measure)
    ones = {grade: 1 for grade in grades if grade >= given["rel"]} or {given["rel"]: 1}
    same = {"cutoff": given["cutoff"], "judged_only": given["judged_only"]}
    ours = GradedAP(gains=ones, rel=given["rel"], **same)
    return Comparison(ours, _standard("AP", rel=math.ceil(given["rel"]), **same))


def _of_coverage(measure: Measure, _: list[float], longest: int) -> Comparison:
    """Coverage is success; without a cutoff that of the longest list."""
    given = values_of(measure)
    same = {"cutoff": given["cutoff"] or max(longest, 1), "judged_only": given["judged_only"]}
    ours = Coverage(rel=given["rel"], **same)
    return Comparison(ours, _standard("Success", rel=math.ceil(given["rel"]), **same))


def _of_variant_ndcg(measure: Measure, grades: list[float], _: int) -> Comparison | str:
    given = values_of(measure)
    if (given["discount"], given["ideal"], given["negative"]) != ("log2", "qrels", "zero"):
        return "pytrec_eval has no such discount, ideal list or use of negative grades"
    return _ndcg(measure, grades, exponential=given["gain"] == "exp")


def _of_ndcg(measure: Measure, grades: list[float], _: int) -> Comparison | str:
    return _ndcg(measure, grades, exponential=values_of(measure)["dcg"] == "exp-log2")


def _ndcg(measure: Measure, grades: list[float], exponential: bool) -> Comparison | str:
    """Exp-gain nDCG is pytrec_eval's nDCG on grades 2^g - 1; negative grades stay as they are."""
    given = values_of(measure)
    gains = given.get("gains") or {}
    if not all(isinstance(gain, int) for gain in gains.values()):
        return "pytrec_eval takes ints"
    if exponential:
        if max(grades, default=0) > math.log2(HIGHEST_GRADE):
            return _too_high("2^g - 1 of the highest grade")
        gains = {int(grade): 2 ** int(grade) - 1 for grade in grades if grade >= 0}
    theirs = _standard("nDCG", cutoff=given["cutoff"], judged_only=given["judged_only"])
    return Comparison(measure, theirs, gains)


def _too_high(what: str) -> str:
    return f"pytrec_eval reserves memory up to the highest gain, here {what}"


def _of_reciprocal_rank(measure: Measure, *_: Any) -> Comparison:
    """RR@k is RR, but 0 where the first relevant document is below rank k."""
    given = values_of(measure)
    theirs = _standard("RR", rel=given["rel"], judged_only=given["judged_only"])
    cutoff = given["cutoff"] or math.inf
    return Comparison(measure, theirs, value=lambda value: value if value * cutoff >= 1 - 1e-12 else 0.0)


def _of_iprec(measure: Measure, *_: Any) -> Comparison | str:
    recall = values_of(measure)["recall"]
    return Comparison(measure, measure) if round(recall, 2) == recall else "pytrec_eval takes two digits"


_IDENTITIES: dict[str, _Identity] = {
    "GradedAP": _of_graded_ap,
    "Coverage": _of_coverage,
    "VariantNDCG": _of_variant_ndcg,
    # GAP with the single threshold 1 is AP; so is Q-measure with beta 0 and without a cutoff.
    "GAP": lambda measure, *_: Comparison(
        GAP(g={1: 1}, cutoff=cutoff_of(measure)), _standard("AP", cutoff=cutoff_of(measure))
    ),
    "QMeasure": lambda *_: Comparison(QMeasure(beta=0), _standard("AP")),
    "nDCG": _of_ndcg,
    "RR": _of_reciprocal_rank,
    "IPrec": _of_iprec,
}
"""The identity by which each measure that pytrec_eval lacks is compared."""


def _standard(name: str, **params: Any) -> Measure:
    given = {key: value for key, value in params.items() if value is not None}
    measure: Measure = ir_measures.measures.registry[name](**given)
    return measure


def comparison_of(measure: Measure, grades: list[float], longest: int) -> Comparison | str:
    """Return how to compare a measure on these grades and lists up to this length, or why it cannot be."""
    if any(grade != int(grade) for grade in grades):
        return "pytrec_eval takes ints"
    if measure.NAME in _IDENTITIES:
        found = _IDENTITIES[str(measure.NAME)](measure, grades, longest)
    else:
        known = ir_measures.pytrec_eval.supports(measure)
        found = Comparison(measure, measure) if known else "pytrec_eval does not have it in this form"
    if isinstance(found, str):
        return found
    highest = max([*grades, *(found.gains or {}).values()], default=0)
    if highest > HIGHEST_GRADE:
        return _too_high(f"{highest:g}")
    level = values_of(found.theirs).get("rel")
    if level is not None and not 1 <= level <= HIGHEST_REL:
        return f"pytrec_eval takes a rel from 1 to {HIGHEST_REL}"
    return found
