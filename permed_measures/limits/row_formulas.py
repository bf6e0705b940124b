"""The formula of each measure of a row, by convention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from permed_measures.audits.choices import WEIGHTS, APChoice, Choice, FixedChoice, Labels, NDCGChoice
from permed_measures.audits.claims import Claim
from permed_measures.audits.conventions import Convention
from permed_measures.audits.levels import FChoice, LevelChoice
from permed_measures.audits.options import (
    Denominator,
    Discount,
    FMean,
    Gain,
    Ideal,
    Negative,
    PrecisionBase,
    RecallBase,
    TiedGains,
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


class _Spec(NamedTuple):
    """What a formula is for: a name within its family, the cutoff, labels and queries."""

    name: str
    cutoff: int | None
    labels: Labels
    classes: QueryClasses


def formulas_of(
    convention: Convention, claims: list[Claim], labels: Labels, classes: QueryClasses
) -> list[Formula] | None:
    """Return the formula of each claim; None if one has none."""
    found = []
    for claim in claims:
        choice, cutoff = convention.choices[claim.family], convention.cutoffs[claim.name]
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
    """Return whether negative grades count."""
    ndcg = convention.choices.get("ndcg")
    if isinstance(ndcg, NDCGChoice):
        return ndcg.negative is Negative.KEEP
    fixed = [each.fixed for each in convention.choices.values() if isinstance(each, FixedChoice)]
    return any(values_of(parse_measure(text)).get("negative") == "keep" for text in fixed)


# --- by family ---------------------------------------------------------------------------------------


def _ap(choice: APChoice, spec: _Spec) -> Formula | None:
    if spec.cutoff is None and choice.denominator in (Denominator.CUTOFF, Denominator.NUM_REL_RET):
        return None
    weights = tuple(WEIGHTS[choice.weights](grade, spec.labels.top) for grade in spec.classes.grades.tolist())
    return WeightedPrecisions(spec.cutoff, choice.ap_level, weights, choice.denominator)


def _ndcg(choice: NDCGChoice, spec: _Spec) -> Formula | None:
    if choice.tied is TiedGains.AVERAGED or choice.ideal in (Ideal.RETURNED, Ideal.FULL):
        return None
    grades = spec.classes.grades
    binary = choice.gain is Gain.BINARY
    gain = (grades >= 1).astype(np.float64) if binary else GAINS[choice.gain.value](grades)
    return _discounted(spec.cutoff, gain, choice.discount, choice.ideal)


def _discounted(cutoff: int | None, gain: Floats, discount: Discount, ideal: Ideal) -> Formula | None:
    """Return nDCG, unless the ideal list of a run has documents that lose, or no end."""
    of_run = ideal in (Ideal.CUTOFF, Ideal.RUN)
    if of_run and (cutoff is None or (gain < 0).any()):
        return None
    return DiscountedGains(cutoff, tuple(gain.tolist()), discount, ideal)


_BASES = {
    RecallBase.NUM_REL: Over.NUM_REL,
    RecallBase.MIN: Over.MIN,
    RecallBase.MICRO: Over.MEAN,
}


def _level(choice: LevelChoice, spec: _Spec) -> Formula | None:
    k, level, classes = spec.cutoff, choice.level, spec.classes
    if spec.name == "P":
        return HitCount(k, level, Over.CUTOFF) if choice.over is PrecisionBase.CUTOFF else None
    if spec.name == "R" and choice.base in _BASES:
        mean = float(classes.num_rel(level) @ classes.sizes / classes.n_queries)
        return HitCount(k, level, _BASES[choice.base], mean)
    if_all = spec.name == "R" and choice.base is RecallBase.ALL
    return FirstHit(k, level, reciprocal=spec.name == "RR", if_all=if_all)


def _f(choice: FChoice, spec: _Spec) -> Formula | None:
    by_query = choice.f_mean is FMean.QUERIES and spec.cutoff is not None
    return HitCount(spec.cutoff, choice.f_level, Over.BOTH) if by_query else None


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
    gain = GAINS["linear" if params["dcg"] == "log2" else "exp"](classes.grades)
    return _discounted(params["cutoff"], gain, Discount.LOG2, Ideal.QRELS)


def _variant_ndcg(params: _Params, classes: QueryClasses) -> Formula | None:
    gain = GAINS[params["gain"]](classes.grades)
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
