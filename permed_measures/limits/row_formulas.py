"""The formula of each measure of a row, by convention."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from permed_measures.audits.choices import WEIGHTS, APChoice, Choice, FixedChoice, Labels, NDCGChoice
from permed_measures.audits.conventions import Convention, Setting
from permed_measures.audits.levels import FChoice, LevelChoice
from permed_measures.audits.options import (
    Denominator,
    Discount,
    Documents,
    FMean,
    Gain,
    Ideal,
    LabelPolicy,
    Negative,
    Option,
    PrecisionBase,
    QuerySet,
    RecallBase,
    Rounding,
    SelfMatch,
    TiedGains,
    Weights,
    describe,
)
from permed_measures.engine.kernels.graded import GAINS, weight_of_grade
from permed_measures.limits.formulas import (
    DiscountedGains,
    FirstHit,
    Formula,
    HitCount,
    Over,
    WeightedPrecisions,
)
from permed_measures.limits.query_classes import Floats, QueryClasses
from permed_measures.measures.parameters import values_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.papers.claims import Claim

_KNOWN: frozenset[Option] = frozenset(
    {
        *(LabelPolicy.GRADES, LabelPolicy.POOL, LabelPolicy.STRICT),
        *(QuerySet.QRELS, QuerySet.BOTH, QuerySet.WITH_RELEVANT, QuerySet.BOTH_WITH_RELEVANT),
        *(SelfMatch.KEPT, SelfMatch.REMOVED),  # these and the next rank other documents, each once
        *(Documents.ALL, Documents.JUDGED, Documents.POSITIVE, Documents.FIRST_K),
        *(Documents.IN_PLACE, Documents.LAST),
        *(Rounding.EXACT, Rounding.FIVE_DIGITS),
        *(Denominator.NUM_REL, Denominator.MIN, Denominator.NUM_REL_RET, Denominator.GAIN),
        *(Denominator.IDEAL, Denominator.NONE, Denominator.CUTOFF),
        *(Weights.BINARY, Weights.LINEAR, Weights.HALF, Weights.EXP, Weights.CAPPED),
        *(Gain.BINARY, Gain.LINEAR, Gain.EXP),
        *(Discount.LOG2, Discount.JK, Discount.ZIPF),
        *(Ideal.QRELS, Ideal.RUN, Ideal.CUTOFF, Ideal.UNCUT),
        *(Negative.ZERO, Negative.KEEP),
        TiedGains.IN_ORDER,
        *(RecallBase.NUM_REL, RecallBase.MIN, RecallBase.ANY, RecallBase.ALL, RecallBase.MICRO),
        PrecisionBase.CUTOFF,
        FMean.QUERIES,
    }
)
"""The values of options that formulas and printed numbers allow for; any other is left out, not refuted."""
_MATTERS = {"P": ("level", "over"), "R": ("level", "base"), "RR": ("level",), "Success": ("level",)}
"""The options of a measure, where it has not all those of its family."""


def unknown_values(part: Setting | Choice, measure: str = "") -> list[str]:
    """Describe the values of a setting or a choice that no formula allows for."""
    names = _MATTERS.get(measure, tuple(each.name for each in fields(part)))
    values = ((name, getattr(part, name)) for name in names)
    return [describe(name, v) for name, v in values if isinstance(v, Option) and v not in _KNOWN]


class _Spec(NamedTuple):
    """What a formula is for: a name within its family, the cutoff, labels and queries."""

    name: str
    cutoff: int | None
    labels: Labels
    classes: QueryClasses


def formulas_of(
    convention: Convention, claims: list[Claim], labels: Labels, classes: QueryClasses
) -> list[Formula] | None:
    """Return the formula of each claim; None if one has none, or a value of an option is not known."""
    found = []
    for claim in claims:
        choice, cutoff = convention.choices[claim.family], convention.cutoffs[claim.name]
        if unknown_values(choice, claim.measure):
            return None
        if isinstance(cutoff, tuple) and cutoff[0] != cutoff[1]:
            return None
        rank = cutoff[0] if isinstance(cutoff, tuple) else cutoff
        formula = _FORMULAS[type(choice)](choice, _Spec(claim.measure, rank, labels, classes))
        if formula is None:
            return None
        found.append(formula)
    return found


def can_be_bounded(claim: Claim) -> bool:
    """Return whether some convention has a formula for a claim."""
    if claim.is_fixed:
        measure = parse_measure(claim.measure)
        return str(measure.NAME) in _WRITTEN_OUT and not values_of(measure).get("judged_only")
    return claim.measure != "F1" or any(isinstance(k, tuple) and k[0] == k[1] for k in claim.cutoffs)


def keeps_negative(convention: Convention) -> bool:
    """Return whether negative grades count in any measure."""
    kept = []
    for each in convention.choices.values():
        if isinstance(each, FixedChoice):
            kept.append(values_of(parse_measure(each.fixed)).get("negative") == Negative.KEEP.value)
        kept.append(isinstance(each, NDCGChoice) and each.negative is Negative.KEEP)
    return any(kept)


# --- by family ---------------------------------------------------------------------------------------


def _ap(choice: APChoice, spec: _Spec) -> Formula | None:
    if spec.cutoff is None and choice.denominator in (Denominator.CUTOFF, Denominator.NUM_REL_RET):
        return None
    weights = tuple(WEIGHTS[choice.weights](grade, spec.labels.top) for grade in spec.classes.grades.tolist())
    return WeightedPrecisions(spec.cutoff, choice.ap_level, weights, choice.denominator)


def _ndcg(choice: NDCGChoice, spec: _Spec) -> Formula | None:
    grades = spec.classes.grades
    if choice.gain is Gain.BINARY:
        gain = (grades >= 1).astype(np.float64)
    else:
        gain = _gain(choice.gain.value, choice.negative.value, grades)
    return _discounted(spec.cutoff, gain, choice.discount, choice.ideal)


def _gain(gain: str, negative: str, grades: Floats) -> Floats:
    """Return the gain of each grade; there are negative ones if another measure of the row keeps them."""
    kept = grades if negative == Negative.KEEP.value else np.maximum(grades, 0)
    return GAINS[gain](kept)


def _discounted(cutoff: int | None, gain: Floats, discount: Discount, ideal: Ideal) -> Formula | None:
    """Return nDCG, unless the ideal list of a run has documents that lose, or no end."""
    of_run = ideal in (Ideal.CUTOFF, Ideal.RUN)
    if of_run and (cutoff is None or (gain < 0).any()):
        return None
    return DiscountedGains(cutoff, tuple(gain.tolist()), discount, ideal)


def _level(choice: LevelChoice, spec: _Spec) -> Formula:
    return _recall(choice, spec) if spec.name == "R" else _OF_LEVEL[spec.name](spec.cutoff, choice.level)


_OF_LEVEL: dict[str, Callable[[int | None, float], Formula]] = {
    "P": lambda cutoff, level: HitCount(cutoff, level, Over.CUTOFF),
    "RR": lambda cutoff, level: FirstHit(cutoff, level, reciprocal=True),
    "Success": FirstHit,
}


def _recall(choice: LevelChoice, spec: _Spec) -> Formula:
    k, level, classes = spec.cutoff, choice.level, spec.classes
    mean = float(classes.num_rel(level) @ classes.sizes / classes.n_queries)
    of_base = {
        RecallBase.NUM_REL: HitCount(k, level, Over.NUM_REL),
        RecallBase.MIN: HitCount(k, level, Over.MIN),
        RecallBase.MICRO: HitCount(k, level, Over.MEAN, mean),
        RecallBase.ANY: FirstHit(k, level),
        RecallBase.ALL: FirstHit(k, level, if_all=True),
    }
    return of_base[choice.base]


def _f(choice: FChoice, spec: _Spec) -> Formula | None:
    return None if spec.cutoff is None else HitCount(spec.cutoff, choice.f_level, Over.BOTH)


def _fixed(choice: FixedChoice, spec: _Spec) -> Formula | None:
    measure = parse_measure(choice.fixed)
    params = values_of(measure)
    usable = str(measure.NAME) in _WRITTEN_OUT and params.get("rel", 1) > 0
    return _WRITTEN_OUT[str(measure.NAME)](params, spec.classes) if usable else None


_FORMULAS: dict[type[Choice], Callable[[Any, _Spec], Formula | None]] = {
    APChoice: _ap,
    NDCGChoice: _ndcg,
    LevelChoice: _level,
    FChoice: _f,
    FixedChoice: _fixed,
}


# --- measures that are written out -------------------------------------------------------------------

_Params = dict[str, Any]


def _graded_ap(params: _Params, classes: QueryClasses) -> Formula | None:
    norm, k = Denominator(params["norm"]), params["cutoff"]
    if k is None and norm is Denominator.NUM_REL_RET:
        return None
    weights = weight_of_grade(classes.grades, max_rel=params["max_rel"], gains=params["gains"])
    return WeightedPrecisions(k, params["rel"], tuple(weights.tolist()), norm)


def _plain_ap(params: _Params, classes: QueryClasses) -> Formula:
    ones = (1.0,) * len(classes.grades)
    return WeightedPrecisions(params["cutoff"], params["rel"], ones, Denominator.NUM_REL)


def _plain_ndcg(params: _Params, classes: QueryClasses) -> Formula | None:
    if params["gains"] is not None:
        return None
    gain = {"log2": "linear", "exp-log2": "exp"}[params["dcg"]]
    gains = _gain(gain, Negative.ZERO.value, classes.grades)
    return _discounted(params["cutoff"], gains, Discount.LOG2, Ideal.QRELS)


def _variant_ndcg(params: _Params, classes: QueryClasses) -> Formula | None:
    gain = _gain(params["gain"], params["negative"], classes.grades)
    return _discounted(params["cutoff"], gain, Discount(params["discount"]), Ideal(params["ideal"]))


_WRITTEN_OUT: dict[str, Callable[[_Params, QueryClasses], Formula | None]] = {
    "AP": _plain_ap,
    "GradedAP": _graded_ap,
    "nDCG": _plain_ndcg,
    "VariantNDCG": _variant_ndcg,
    "P": lambda params, _: HitCount(params["cutoff"], params["rel"], Over.CUTOFF),
    "R": lambda params, _: HitCount(params["cutoff"], params["rel"], Over.NUM_REL),
    "RR": lambda params, _: FirstHit(params["cutoff"], params["rel"], reciprocal=True),
    "Success": lambda params, _: FirstHit(params["cutoff"], params["rel"]),
    "Coverage": lambda params, _: FirstHit(params["cutoff"], params["rel"]),
}
