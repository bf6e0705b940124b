"""The formula of each measure of a row, by convention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from permed_measures.conventions.options import CUTOFF, OPTIONS, OPTIONS_OF, Options, describe
from permed_measures.conventions.values import WEIGHTS, Labels
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

_KNOWN = {
    "labels": {"grades", "pool", "strict"},
    "queries": {"qrels", "both", "with_relevant", "both_with_relevant"},
    "ties": {"trec", "trec10", "docid_ascending", "input", "reversed", "optimistic", "pessimistic"},
    "self_match": {"kept", "removed"},  # these and the next rank other documents, each once
    "documents": {"all", "judged", "positive", "first_k", "in_place", "last"},
    "rounding": {"exact", "five_digits"},
    "denominator": {"num_rel", "min", "num_rel_ret", "gain", "ideal", "none", "cutoff"},
    "weights": {"binary", "linear", "half", "exp", "capped"},
    "gain": {"binary", "linear", "exp"},
    "discount": {"log2", "jk", "zipf"},
    "ideal": {"qrels", "run", "cutoff", "uncut"},
    "negative": {"zero", "keep"},
    "tied": {"in_order"},
    "precision": {"cutoff"},
    "recall": {"num_rel", "min", "any", "all"},
}
"""The values of options that formulas and printed numbers allow for; any other is left out, not refuted."""
_KNOWN_AVERAGING = {"P": {"macro"}, "R": {"macro", "micro"}, "F1": {"macro"}}


def unknown_values(options: Options, measure: str = "") -> list[str]:
    """Describe the values of options that no formula allows for."""
    return [
        describe(option, value)
        for option, value in options.items()
        if option in OPTIONS and OPTIONS[option].values and value not in _known(option, measure)
    ]


def _known(option: str, measure: str) -> set[str]:
    return _KNOWN_AVERAGING[measure] if option == "averaging" else _KNOWN.get(option, set())


class _Spec(NamedTuple):
    """What a formula is for: a name within its family, the cutoff, labels and queries."""

    name: str
    cutoff: int | None
    labels: Labels
    classes: QueryClasses


def formulas_of(
    convention: Options, claims: list[Claim], labels: Labels, classes: QueryClasses
) -> list[Formula] | None:
    """Return the formula of each claim; None if one has none, or a value of an option is not known."""
    found = []
    for claim in claims:
        options = options_for(convention, claim)
        if unknown_values(options, claim.measure):
            return None
        cutoff = convention[CUTOFF + claim.name]
        if isinstance(cutoff, tuple) and cutoff[0] != cutoff[1]:
            return None
        rank = cutoff[0] if isinstance(cutoff, tuple) else cutoff
        formula = _FORMULAS.get(claim.measure, _fixed)(options, _Spec(claim.measure, rank, labels, classes))
        if formula is None:
            return None
        found.append(formula)
    return found


def options_for(convention: Options, claim: Claim) -> Options:
    """Return the options that the measure of a claim has."""
    return {option: convention[option] for option in OPTIONS_OF.get(claim.measure, ())}


def can_be_bounded(claim: Claim) -> bool:
    """Return whether some convention has a formula for a claim."""
    if claim.is_fixed:
        measure = parse_measure(claim.measure)
        return str(measure.NAME) in _WRITTEN_OUT and not values_of(measure).get("judged_only")
    return claim.measure != "F1" or any(isinstance(k, tuple) and k[0] == k[1] for k in claim.cutoffs)


def keeps_negative(convention: Options, claims: list[Claim]) -> bool:
    """Return whether negative grades count in any measure."""
    written_out = (values_of(parse_measure(claim.measure)) for claim in claims if claim.is_fixed)
    kept = any(params.get("negative") == "keep" for params in written_out)
    return kept or convention.get("negative") == "keep"


# --- by measure --------------------------------------------------------------------------------------


def _ap(options: Options, spec: _Spec) -> Formula | None:
    denominator = options["denominator"]
    if spec.cutoff is None and denominator in ("cutoff", "num_rel_ret"):
        return None
    weigh, top = WEIGHTS[options["weights"]], spec.labels.top
    weights = tuple(weigh(grade, top) for grade in spec.classes.grades.tolist())
    return WeightedPrecisions(spec.cutoff, options["ap_level"], weights, denominator)


def _ndcg(options: Options, spec: _Spec) -> Formula | None:
    gain = _gain(options["gain"], options["negative"], spec.classes.grades)
    return _discounted(spec.cutoff, gain, options["discount"], options["ideal"])


def _gain(gain: str, negative: str, grades: Floats) -> Floats:
    """Return the gain of each grade; there are negative ones if another measure of the row keeps them."""
    kept = grades if negative == "keep" else np.maximum(grades, 0)
    return GAINS[gain](kept)


def _discounted(cutoff: int | None, gain: Floats, discount: str, ideal: str) -> Formula | None:
    """Return nDCG, unless the ideal list of a run has documents that lose, or no end."""
    of_run = ideal in ("cutoff", "run")
    if of_run and (cutoff is None or (gain < 0).any()):
        return None
    return DiscountedGains(cutoff, tuple(gain.tolist()), discount, ideal)


def _recall(options: Options, spec: _Spec) -> Formula:
    k, level, classes = spec.cutoff, options["level"], spec.classes
    mean = float(classes.num_rel(level) @ classes.sizes / classes.n_queries)
    of_base = {
        "num_rel": HitCount(k, level, Over.NUM_REL),
        "min": HitCount(k, level, Over.MIN),
        "micro": HitCount(k, level, Over.MEAN, mean),
        "any": FirstHit(k, level),
        "all": FirstHit(k, level, if_all=True),
    }
    return of_base["micro" if options["averaging"] == "micro" else options["recall"]]


def _f(options: Options, spec: _Spec) -> Formula | None:
    return None if spec.cutoff is None else HitCount(spec.cutoff, options["level"], Over.BOTH)


def _fixed(_: Options, spec: _Spec) -> Formula | None:
    measure = parse_measure(spec.name)
    params = values_of(measure)
    usable = str(measure.NAME) in _WRITTEN_OUT and params.get("rel", 1) > 0
    return _WRITTEN_OUT[str(measure.NAME)](params, spec.classes) if usable else None


_FORMULAS: dict[str, Callable[[Options, _Spec], Formula | None]] = {
    "AP": _ap,
    "nDCG": _ndcg,
    "P": lambda options, spec: HitCount(spec.cutoff, options["level"], Over.CUTOFF),
    "R": _recall,
    "RR": lambda options, spec: FirstHit(spec.cutoff, options["level"], reciprocal=True),
    "Success": lambda options, spec: FirstHit(spec.cutoff, options["level"]),
    "F1": _f,
}


# --- measures that are written out -------------------------------------------------------------------

_Params = dict[str, Any]


def _graded_ap(params: _Params, classes: QueryClasses) -> Formula | None:
    norm, k = params["norm"], params["cutoff"]
    if k is None and norm == "num_rel_ret":
        return None
    weights = weight_of_grade(classes.grades, max_rel=params["max_rel"], gains=params["gains"])
    return WeightedPrecisions(k, params["rel"], tuple(weights.tolist()), norm)


def _plain_ap(params: _Params, classes: QueryClasses) -> Formula:
    ones = (1.0,) * len(classes.grades)
    return WeightedPrecisions(params["cutoff"], params["rel"], ones, "num_rel")


def _plain_ndcg(params: _Params, classes: QueryClasses) -> Formula | None:
    if params["gains"] is not None:
        return None
    gain = {"log2": "linear", "exp-log2": "exp"}[params["dcg"]]
    gains = _gain(gain, "zero", classes.grades)
    return _discounted(params["cutoff"], gains, "log2", "qrels")


def _variant_ndcg(params: _Params, classes: QueryClasses) -> Formula | None:
    gain = _gain(params["gain"], params["negative"], classes.grades)
    return _discounted(params["cutoff"], gain, params["discount"], params["ideal"])


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
