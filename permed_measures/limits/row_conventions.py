"""The conventions that a row without a run may have, and the formulas of its measures by these.

A formula is told by a measure's kernel and the kernel's parameters; what is not in the table has none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from permed_measures.conventions.means import is_possible
from permed_measures.conventions.named import NAMED, NamedConvention
from permed_measures.conventions.options import (
    CUTOFF,
    DEFAULT,
    MEASURES,
    OF_ALL,
    OPTIONS,
    OPTIONS_OF,
    OWN,
    SHARED,
    Options,
    differing,
    seen_by,
)
from permed_measures.conventions.runs import DEPTHS, options_for
from permed_measures.conventions.values import GAINS, WEIGHTS, Labels, weights_of
from permed_measures.engine.kernels.graded import weight_of_grade
from permed_measures.limits.formulas import Formula, QueryClasses
from permed_measures.measures.parameters import values_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.papers.claims import Claim
from permed_measures.papers.names import Rank

# --- what has a formula ----------------------------------------------------------------------------

_Params = Mapping[str, Any]


class _Known(NamedTuple):
    """A formula, and the values that a parameter may have with it, the usual one first.

    What is no number and not named here makes another measure, of which nothing is known.
    """

    formula: Callable[[_Params, QueryClasses], Formula]
    values: Mapping[str, Collection[Any]] = {}


_NUMBERS = ("cutoff", "rel", "max_rel", "gains")


def _ap(params: _Params, classes: QueryClasses) -> Formula:
    ones = dict.fromkeys(classes.grades.tolist(), 1.0)
    return _graded_ap({**params, "norm": "num_rel", "max_rel": 1, "gains": ones}, classes)


def _graded_ap(params: _Params, classes: QueryClasses) -> Formula:
    weights = weight_of_grade(classes.grades, max_rel=params["max_rel"], gains=params["gains"])
    weights = np.where(classes.grades >= params["rel"], weights, 0.0)
    over = "ideal of qrels" if params["norm"] == "ideal" else params["norm"]
    return Formula(params["cutoff"], tuple(weights.tolist()), "precision", "zipf", over, params["rel"])


def _variant_ndcg(params: _Params, classes: QueryClasses) -> Formula:
    keeps = params.get("negative") == "keep"
    gain = GAINS[params["gain"]](classes.grades if keeps else np.maximum(classes.grades, 0))
    ideal = f"ideal of {params['ideal']}"
    return Formula(params["cutoff"], tuple(gain.tolist()), "each", params["discount"], ideal)


def _ndcg(params: _Params, classes: QueryClasses) -> Formula:
    gain = {"log2": "linear", "exp-log2": "exp"}[params["dcg"]]
    plain = {"gain": gain, "discount": "log2", "ideal": "qrels"}
    return _variant_ndcg({**params, **plain}, classes)


def _hits(params: _Params, classes: QueryClasses) -> Formula:
    """Return precision or recall, or what the first hit alone counts."""
    relevant = tuple((classes.grades >= params["rel"]).astype(float).tolist())
    factor, over = ("first", "none") if params["over"] == "any" else ("each", params["over"])
    return Formula(params["cutoff"], relevant, factor, params["discount"], over, params["rel"])


_WHOLE_LIST: dict[str, list[Any]] = {"judged_only": [False]}
_PLAIN = {**_WHOLE_LIST, "discount": [""]}
_NORMS = ["num_rel", "min", "gain", "ideal", "none", "cutoff"]
_KNOWN = {
    "AP": _Known(_ap, _WHOLE_LIST),
    "GradedAP": _Known(_graded_ap, {**_WHOLE_LIST, "norm": _NORMS}),
    "nDCG": _Known(_ndcg, {**_WHOLE_LIST, "dcg": ["log2", "exp-log2"], "gains": [None]}),
    "VariantNDCG": _Known(
        _variant_ndcg,
        {
            **_WHOLE_LIST,
            "gain": ["exp", "linear", "binary"],
            "discount": ["log2", "jk", "zipf"],
            "ideal": ["qrels", "uncut"],
            "negative": ["zero", "keep"],
        },
    ),
    "P": _Known(_hits, {**_PLAIN, "over": ["cutoff"]}),
    "R": _Known(_hits, {**_PLAIN, "over": ["num_rel", "min", "any"]}),
    "RR": _Known(_hits, {**_WHOLE_LIST, "discount": ["zipf"], "over": ["any"]}),
    "Success": _Known(_hits, {**_PLAIN, "over": ["any"]}),
    "Coverage": _Known(_hits, {**_PLAIN, "over": ["any"]}),
}
"""The kernels that are sums over ranks, and the values of their parameters for which they are."""


def formula_by(kernel: str, params: _Params, classes: QueryClasses) -> Formula | None:
    """Return the formula of a kernel with these parameters; None if none is known.

    Documents may lose only within a cutoff.
    """
    known = _KNOWN.get(kernel)
    if known is None or params.get("rel", 1) <= 0:
        return None
    if any(
        value not in known.values.get(name, [value] * (name in _NUMBERS)) for name, value in params.items()
    ):
        return None
    usual = {name: next(iter(values)) for name, values in known.values.items()}
    formula = known.formula({**usual, **params}, classes)
    needs_cutoff = formula.loses or formula.over == "cutoff"
    return None if needs_cutoff and formula.cutoff is None else formula


OF_RUN = {
    "both": "qrels",
    "both_with_relevant": "with_relevant",
    "with_relevant_and_list": "with_relevant",
}
"""The sets of judged queries that leave out what a run lacks, and which they are where it lacks none."""
_SHARED = {
    "labels": {"grades": "grades", "pool": "pool", "strict": "strict"},
    "queries": {each: each for pair in OF_RUN.items() for each in pair},
    "ties": dict.fromkeys(
        ["trec", "trec10", "docid_ascending", "input", "reversed", "optimistic", "pessimistic"], "trec"
    ),
    "self_match": dict.fromkeys(["kept", "removed"], "kept"),  # these and the next rank other documents
    "documents": dict.fromkeys(["all", "judged", "labelled", "positive"], "all"),
    "depth": dict.fromkeys(DEPTHS, "whole"),
    "rounding": dict.fromkeys(["exact", "five_digits"], "exact"),
}
"""The values of options that all measures share and bounds allow for, and what they are where any run may be.

Any other is left out, not refuted.
"""
_OF_KERNELS = {
    *("denominator", "weights", "level"),
    *("gain", "discount", "ideal", "negative"),
    *("precision", "recall", "success"),
}
"""Options that are parameters of a kernel; of any other one formulas are known for the default."""


def allows(convention: Options) -> bool:
    """Return whether bounds allow for the options of a convention that all measures share.

    They do not for a measure that has one for itself: it may see other documents, or other queries.
    """
    if any(OF_ALL.get(option) in SHARED for option in convention):
        return False
    return all(convention[option] in _SHARED.get(option, [DEFAULT[option]]) for option in SHARED)


def _as_seen(measures: Collection[str], convention: Options) -> Options:
    """Return the options by which a convention computes some measures.

    What one measure has for itself stays only where another one sees something else.
    """
    seen = {measure: _rounded_anyhow(seen_by(measure, convention)) for measure in measures}
    found = {option: value for option, value in convention.items() if option not in OF_ALL}
    for option, known in OPTIONS.items():
        values = {each: seen[each][option] for each in seen if option in SHARED or each in known.measures}
        if len({*values.values()}) > 1:
            own = ((each, name) for each in values for name in OWN.get(each, {}) if OF_ALL[name] == option)
            found |= {name: values[each] for each, name in own}
        elif values:
            found[option] = next(iter(values.values()))
    return found


def _rounded_anyhow(convention: Options) -> Options:
    """Return a convention without a rounding of means: bounds allow for each."""
    rounding = convention["rounding"]
    return {**convention, "rounding": _SHARED["rounding"].get(rounding, rounding)}


def _for_any_run(convention: Options) -> Options:
    """Return a convention as it is where any run may be; values that bounds do not allow for stay."""
    return {option: _SHARED.get(option, {}).get(value, value) for option, value in convention.items()}


def formula_of(claim: Claim, convention: Options, labels: Labels, classes: QueryClasses) -> Formula | None:
    """Return the formula of a claim by a convention; None if none is known."""
    options = options_for(claim.measure, convention)
    others = any(options[each] != DEFAULT[each] for each in options.keys() - _OF_KERNELS)
    if others or claim.measure == "F1" or options.get("weights", "binary") not in WEIGHTS:
        return None
    return formula_by(*_kernel_of(claim.measure, convention[CUTOFF + claim.name], options, labels), classes)


def keeps_negative(claims: Sequence[Claim], convention: Options) -> bool:
    """Return whether negative grades are used as they stand, by a convention or a measure written out."""
    written = [values_of(parse_measure(claim.measure)) for claim in claims if claim.is_fixed]
    return any(params.get("negative") == "keep" for params in (convention, *written))


def _kernel_of(measure: str, cutoff: Rank, options: Options, labels: Labels) -> tuple[str, _Params]:
    """Return the kernel of a measure, and its parameters and options by the names in the table."""
    if measure not in MEASURES:
        parsed = parse_measure(measure)
        return str(parsed.NAME), values_of(parsed)
    params = {"cutoff": cutoff, "judged_only": False, **_PARAMETERS[measure](options, labels)}
    return {"AP": "GradedAP", "nDCG": "VariantNDCG", "Success": "R"}.get(measure, measure), params


_PARAMETERS: dict[str, Callable[[Options, Labels], _Params]] = {
    "AP": lambda options, labels: {
        "rel": options["level"],
        "norm": options["denominator"],
        "max_rel": labels.top,
        "gains": weights_of(options["weights"], labels),
    },
    "nDCG": lambda options, _: {each: options[each] for each in ("gain", "discount", "ideal", "negative")},
    "P": lambda options, _: {"rel": options["level"], "over": options["precision"]},
    "R": lambda options, _: {"rel": options["level"], "over": options["recall"]},
    "RR": lambda options, _: {"rel": options["level"]},
    "Success": lambda options, _: {"rel": options["level"], "over": options["success"]},
}
"""The parameters of the kernel of each measure."""


# --- which are tried -------------------------------------------------------------------------------

_USUAL = {"AP": ("weights", ("binary", "half")), "nDCG": ("gain", ("linear", "exp"))}
"""How measures are computed nearly always, apart from the default."""
_GROUPS = ((("AP",), 2), (("nDCG",), 1), (("P", "R", "RR", "Success"), 2))
"""The measures that share options, and in how many of these a convention may differ from a usual one."""
_LEVELS = 4
"""How many relevance levels are tried."""


def usual_conventions(claims: list[Claim], labels: Labels) -> list[Options]:
    """Return how measures are computed nearly always: of all queries, within the cutoffs of the names."""
    measures = {claim.measure for claim in claims}
    options = [
        each for each in OPTIONS if each in SHARED or any(each in OPTIONS_OF.get(m, ()) for m in measures)
    ]
    default = {option: DEFAULT[option] for option in options} | {"labels": labels.policy}
    cutoffs = {CUTOFF + claim.name: claim.cutoffs[0] for claim in claims}
    ways = [
        [(option, value) for value in values] for each, (option, values) in _USUAL.items() if each in measures
    ]
    every = [{**default, **dict(chosen), **cutoffs} for chosen in product(*ways)]
    return [each for each in every if is_possible(each, labels)]


def conventions_of(
    claims: list[Claim], policies: list[Labels], named: Sequence[NamedConvention] = NAMED
) -> list[Options]:
    """Return the conventions to try, the community's first.

    Those are the conventions with a name, and all in which the measures of one group are computed in any way
    that the audit knows while the others are computed as usual. The name of a measure of ours fixes all: the
    grades are those of the qrels, and all their queries count.
    """
    found: dict[object, Options] = {}
    as_named = any(claim.is_ours for claim in claims)
    for labels in policies:
        for each in _by_labels(claims, labels, named):
            shared = all(each[option] == DEFAULT[option] for option in SHARED)
            if is_possible(each, labels) and (shared or not as_named):
                found.setdefault(tuple(each.items()), each)
    return list(found.values())


def _by_labels(claims: list[Claim], labels: Labels, named: Sequence[NamedConvention]) -> Iterator[Options]:
    usual = usual_conventions(claims, labels)
    yield from usual
    for base in usual:
        yield from _changed(base, {claim.measure for claim in claims}, labels)
    yield from (convention for _, convention in named_of(claims, labels, named))
    if labels.policy == "grades":
        for base in usual:
            yield {**base, "queries": "with_relevant"}
            for claim in claims:
                yield from ({**base, CUTOFF + claim.name: cutoff} for cutoff in claim.cutoffs[1:])


def named_of(
    claims: list[Claim], labels: Labels, named: Sequence[NamedConvention]
) -> Iterator[tuple[str, Options]]:
    """Yield the conventions with a name that have all claims, as they are where any run may be."""
    measures = dict.fromkeys(claim.measure for claim in claims)
    for usual in usual_conventions(claims, labels)[:1]:
        for each in named:
            if all(each.has(measure) for measure in measures):
                seen = _for_any_run(_as_seen(measures, each.options))
                if seen["labels"] == labels.policy or not allows(seen):
                    known = {option: seen[option] for option in seen if option in usual or option in OF_ALL}
                    yield each.name, {**usual, **known}


def _changed(base: Options, measures: set[str], labels: Labels) -> Iterator[Options]:
    """Yield what differs from a convention in the options of one group of measures.

    nDCG, which has the most options, has one change, and none where grades are changed.
    """
    levels = tuple(dict.fromkeys([1.0, *labels.grades]))[:_LEVELS]
    for group, most in _GROUPS:
        options = [each for each in base if any(each in OPTIONS_OF[m] for m in {*group} & measures)]
        values = {option: OPTIONS[option].values_for(measures, levels) for option in options}
        for n in range(1, most + 1) if group != ("nDCG",) or labels.policy == "grades" else ():
            yield from differing(base, values, n)
