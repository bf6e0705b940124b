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
    value: Callable[[float], float] | None = None


class Facts(NamedTuple):
    """What the choice of an identity depends on: the grades, and the longest list."""

    grades: list[float]
    longest: int


def _of_graded_ap(measure: Measure, facts: Facts) -> Comparison:
    """With every weight 1, GradedAP over the relevant documents is AP."""
    given = values_of(measure)
    ones = {grade: 1 for grade in facts.grades if grade >= given["rel"]} or {given["rel"]: 1}
    same = {"cutoff": given["cutoff"], "judged_only": given["judged_only"]}
    return Comparison(
        GradedAP(gains=ones, rel=given["rel"], **same), _standard("AP", rel=math.ceil(given["rel"]), **same)
    )


def _of_coverage(measure: Measure, facts: Facts) -> Comparison:
    """Coverage is success; without a cutoff that of the longest list."""
    given = values_of(measure)
    same = {"cutoff": given["cutoff"] or max(facts.longest, 1), "judged_only": given["judged_only"]}
    return Comparison(
        Coverage(rel=given["rel"], **same), _standard("Success", rel=math.ceil(given["rel"]), **same)
    )


def _of_variant_ndcg(measure: Measure, facts: Facts) -> Comparison | str:
    given = values_of(measure)
    if (given["discount"], given["ideal"], given["negative"]) != ("log2", "qrels", "zero"):
        return "pytrec_eval has no such discount, ideal list or use of negative grades"
    return _ndcg(measure, facts, exponential=given["gain"] == "exp")


def _of_ndcg(measure: Measure, facts: Facts) -> Comparison | str:
    given = values_of(measure)
    if given["gains"] and not all(isinstance(gain, int) for gain in given["gains"].values()):
        return "pytrec_eval takes ints"
    comparison = _ndcg(measure, facts, exponential=given["dcg"] == "exp-log2")
    if isinstance(comparison, Comparison) and given["gains"]:
        return comparison._replace(gains=given["gains"])
    return comparison


def _ndcg(measure: Measure, facts: Facts, exponential: bool) -> Comparison | str:
    """Exp-gain nDCG is pytrec_eval's nDCG on grades 2^g - 1; negative grades stay as they are."""
    given = values_of(measure)
    theirs = _standard("nDCG", cutoff=given["cutoff"], judged_only=given["judged_only"])
    if not exponential:
        return Comparison(measure, theirs)
    if max(facts.grades, default=0) > math.log2(HIGHEST_GRADE):
        return _too_high("2^g - 1 of the highest grade")
    gains = {int(grade): 2 ** int(grade) - 1 for grade in facts.grades if grade >= 0}
    return Comparison(measure, theirs, gains)


def _too_high(what: str) -> str:
    return f"pytrec_eval reserves memory up to the highest gain, here {what}"


def _of_reciprocal_rank(measure: Measure, _: Facts) -> Comparison:
    """RR@k is RR, but 0 where the first relevant document is below rank k."""
    given = values_of(measure)
    theirs = _standard("RR", rel=given["rel"], judged_only=given["judged_only"])
    cutoff = given["cutoff"] or math.inf
    return Comparison(measure, theirs, value=lambda value: value if value * cutoff >= 1 - 1e-12 else 0.0)


def _of_gap(measure: Measure, _: Facts) -> Comparison:
    """With the single threshold 1, GAP is AP."""
    cutoff = cutoff_of(measure)
    return Comparison(GAP(g={1: 1}, cutoff=cutoff), _standard("AP", cutoff=cutoff))


def _of_q_measure(_measure: Measure, _: Facts) -> Comparison:
    """With beta 0 and no cutoff, Q-measure is AP."""
    return Comparison(QMeasure(beta=0), _standard("AP"))


def _of_iprec(measure: Measure, _: Facts) -> Comparison | str:
    recall = values_of(measure)["recall"]
    return Comparison(measure, measure) if round(recall, 2) == recall else "pytrec_eval takes two digits"


_IDENTITIES: dict[str, Callable[[Measure, Facts], Comparison | str]] = {
    "GradedAP": _of_graded_ap,
    "Coverage": _of_coverage,
    "VariantNDCG": _of_variant_ndcg,
    "GAP": _of_gap,
    "QMeasure": _of_q_measure,
    "nDCG": _of_ndcg,
    "RR": _of_reciprocal_rank,
    "IPrec": _of_iprec,
}
"""The identity by which each measure that pytrec_eval lacks is compared."""


def _standard(name: str, **params: Any) -> Measure:
    plain: Measure = ir_measures.measures.registry[name]
    measure: Measure = plain(**{key: value for key, value in params.items() if value is not None})
    return measure


def comparison_of(measure: Measure, facts: Facts) -> Comparison | str:
    """Return how to compare a measure, or why it cannot be."""
    if any(grade != int(grade) for grade in facts.grades):
        return "pytrec_eval takes ints"
    if measure.NAME in _IDENTITIES:
        found = _IDENTITIES[str(measure.NAME)](measure, facts)
    else:
        known = ir_measures.pytrec_eval.supports(measure)
        found = Comparison(measure, measure) if known else "pytrec_eval does not have it in this form"
    if isinstance(found, str):
        return found
    highest = max([*facts.grades, *(found.gains or {}).values()], default=0)
    if highest > HIGHEST_GRADE:
        return _too_high(f"{highest:g}")
    level = values_of(found.theirs).get("rel")
    if level is not None and not 1 <= level <= HIGHEST_REL:
        return f"pytrec_eval takes a rel from 1 to {HIGHEST_REL}"
    return found
