"""The formula of a measure by its kernel and the kernel's parameters; what is not in the table has none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from permed_measures.conventions.options import CUTOFF, DEFAULT, OPTIONS_OF, SHARED, Options, describe
from permed_measures.conventions.values import WEIGHTS, Labels, kernel_of
from permed_measures.engine.kernels.graded import GAINS, weight_of_grade
from permed_measures.limits.formulas import DiscountedGains, FirstHit, Formula, HitCount, WeightedPrecisions
from permed_measures.limits.query_classes import QueryClasses
from permed_measures.measures.parameters import values_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.papers.claims import Claim

# --- by kernel ---------------------------------------------------------------------------------------

_Params = Mapping[str, Any]


class _Known(NamedTuple):
    """A formula, and the values that a parameter may have with it.

    What is no number and not named here makes another measure, of which nothing is known.
    """

    formula: Callable[[_Params, QueryClasses], Formula | None]
    values: Mapping[str, Collection[Any]] = {}


_NUMBERS = ("cutoff", "rel", "max_rel", "gains")


def _graded_ap(params: _Params, classes: QueryClasses) -> Formula | None:
    if params["cutoff"] is None and params["norm"] in ("cutoff", "num_rel_ret"):
        return None
    weights = weight_of_grade(classes.grades, max_rel=params["max_rel"], gains=params["gains"])
    return WeightedPrecisions(params["cutoff"], params["rel"], params["norm"], tuple(weights.tolist()))


def _ap(params: _Params, classes: QueryClasses) -> Formula:
    return WeightedPrecisions(params["cutoff"], params["rel"], "num_rel", (1.0,) * len(classes.grades))


def _variant_ndcg(params: _Params, classes: QueryClasses) -> Formula | None:
    """Return nDCG, unless the ideal list of a run has documents that lose, or no end.

    There are negative grades if another measure of the row keeps them.
    """
    kept = classes.grades if params["negative"] == "keep" else np.maximum(classes.grades, 0)
    gain = GAINS[params["gain"]](kept)
    if params["ideal"] in ("cutoff", "run") and (params["cutoff"] is None or (gain < 0).any()):
        return None
    return DiscountedGains(
        params["cutoff"], -np.inf, params["ideal"], tuple(gain.tolist()), params["discount"]
    )


def _ndcg(params: _Params, classes: QueryClasses) -> Formula | None:
    gain = {"log2": "linear", "exp-log2": "exp"}[params["dcg"]]
    plain = {"gain": gain, "discount": "log2", "ideal": "qrels", "negative": "zero"}
    return _variant_ndcg({**params, **plain}, classes)


def _hits(params: _Params, _: QueryClasses) -> Formula:
    return HitCount(params["cutoff"], params["rel"], params["over"])


def _recall(params: _Params, classes: QueryClasses) -> Formula:
    if params["over"] in ("any", "all"):
        return FirstHit(params["cutoff"], params["rel"], "all" if params["over"] == "all" else "")
    return _hits(params, classes)


def _first(params: _Params, _: QueryClasses) -> Formula:
    return FirstHit(params["cutoff"], params["rel"])


_WHOLE_LIST = {"judged_only": [False]}
_KNOWN = {
    "AP": _Known(_ap, _WHOLE_LIST),
    "GradedAP": _Known(
        _graded_ap,
        {
            **_WHOLE_LIST,
            "per_hit": ["precision"],
            "norm": ["num_rel", "min", "num_rel_ret", "gain", "ideal", "none", "cutoff"],
        },
    ),
    "nDCG": _Known(_ndcg, {**_WHOLE_LIST, "dcg": ["log2", "exp-log2"], "gains": [None]}),
    "VariantNDCG": _Known(
        _variant_ndcg,
        {
            **_WHOLE_LIST,
            "gain": ["linear", "exp", "binary"],
            "discount": ["log2", "jk", "zipf"],
            "ideal": ["qrels", "run", "cutoff", "uncut"],
            "negative": ["zero", "keep"],
        },
    ),
    "P": _Known(
        lambda params, classes: _hits({"over": "cutoff", **params}, classes),
        {**_WHOLE_LIST, "over": ["cutoff"]},
    ),
    "R": _Known(
        lambda params, classes: _recall({"over": "num_rel", **params}, classes),
        {**_WHOLE_LIST, "over": ["num_rel", "min", "any", "all"]},
    ),
    "RR": _Known(
        lambda params, _: FirstHit(params["cutoff"], params["rel"], reciprocal=True),
        {**_WHOLE_LIST, "ranks": ["first"]},
    ),
    "Success": _Known(_first, _WHOLE_LIST),
    "Coverage": _Known(_first, _WHOLE_LIST),
}
"""The kernels that are sums over ranks, and the values of their parameters for which they are."""


def formula_by(kernel: str, params: _Params, classes: QueryClasses) -> Formula | None:
    """Return the formula of a kernel with these parameters; None if none is known."""
    known = _KNOWN.get(kernel)
    if known is None or params.get("rel", 1) <= 0:
        return None
    for name, value in params.items():
        if value not in known.values[name] if name in known.values else name not in _NUMBERS:
            return None
    return known.formula(params, classes)


# --- by convention -----------------------------------------------------------------------------------

_SHARED = {
    "labels": ["grades", "pool", "strict"],
    "queries": ["qrels", "both", "with_relevant", "both_with_relevant"],
    "ties": ["trec", "trec10", "docid_ascending", "input", "reversed", "optimistic", "pessimistic"],
    "self_match": ["kept", "removed"],  # these and the next rank other documents, each once
    "documents": ["all", "judged", "positive", "first_k", "in_place", "last"],
    "rounding": ["exact", "five_digits"],
}
"""The values of options that all measures share and bounds allow for; any other is left out, not refuted."""
_OF_KERNELS = {
    *("denominator", "weights", "ap_level"),
    *("gain", "discount", "ideal", "negative"),
    *("level", "precision", "recall"),
}
"""Options that are parameters of a kernel; of any other one formulas are known for the default."""


def unknown_shared(convention: Options) -> list[str]:
    """Describe the values of options that all measures share for which there are no bounds."""
    return [
        describe(option, value)
        for option, value in ((option, convention[option]) for option in SHARED)
        if value != DEFAULT[option] and value not in _SHARED.get(option, [])
    ]


def formula_of(claim: Claim, convention: Options, labels: Labels, classes: QueryClasses) -> Formula | None:
    """Return the formula of a claim by a convention; None if none is known."""
    options = {option: convention[option] for option in OPTIONS_OF.get(claim.measure, ())}
    cutoff = convention[CUTOFF + claim.name]
    if isinstance(cutoff, tuple):  # of precision and recall
        if cutoff[0] != cutoff[1]:
            return None
        cutoff = cutoff[0]
    usual = all(options[each] == DEFAULT[each] for each in options.keys() - _OF_KERNELS)
    if claim.measure == "F1":
        return HitCount(cutoff, options["level"], "both") if usual and cutoff is not None else None
    if options.get("weights", "binary") not in WEIGHTS:
        return None
    formula = formula_by(*kernel_of(claim.measure, cutoff, options, labels), classes)
    micro = claim.measure == "R" and (options["averaging"], options["recall"]) == ("micro", "num_rel")
    if micro and isinstance(formula, HitCount):
        mean = float(classes.num_rel(formula.level) @ classes.sizes / classes.n_queries)
        return replace(formula, over="mean", mean=mean)
    return formula if usual else None


def in_the_way(claim: Claim, convention: Options, labels: Labels, classes: QueryClasses) -> list[str]:
    """Describe the values of options without which a claim would have a formula."""
    if formula_of(claim, convention, labels, classes) is not None:
        return []
    return [
        describe(option, convention[option])
        for option in OPTIONS_OF.get(claim.measure, ())
        if formula_of(claim, {**convention, option: DEFAULT[option]}, labels, classes) is not None
    ]


_NO_QUERY = QueryClasses(np.empty(0), *[np.empty((0, 0), np.int64)] * 3)


def can_be_bounded(claim: Claim) -> bool:
    """Return whether some convention has a formula for a claim."""
    if claim.is_fixed:
        measure = parse_measure(claim.measure)
        return formula_by(str(measure.NAME), values_of(measure), _NO_QUERY) is not None
    return claim.measure != "F1" or any(isinstance(k, tuple) and k[0] == k[1] for k in claim.cutoffs)


def keeps_negative(convention: Options, claims: list[Claim]) -> bool:
    """Return whether negative grades count in any measure."""
    written_out = (values_of(parse_measure(claim.measure)) for claim in claims if claim.is_fixed)
    return convention.get("negative") == "keep" or any(
        params.get("negative") == "keep" for params in written_out
    )
