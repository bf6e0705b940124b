"""The conventions that a row without a run may have, and the formulas of its measures by these."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.conventions.aggregate import Known
from permed_measures.conventions.evaluate import HITS_BY, is_micro, is_possible
from permed_measures.conventions.named import NAMED, NamedConvention
from permed_measures.conventions.options import (
    CUTOFF,
    DEFAULT,
    OF_ALL,
    OPTIONS_OF,
    OWN,
    SHARED,
    Options,
    computed_by,
    differing,
    record_of,
    records_of,
    seen_by,
)
from permed_measures.conventions.per_query import (
    Given,
    Labels,
    NeedsRunError,
    Over,
    PerHit,
    Summand,
    weights_of,
)
from permed_measures.conventions.records import OPTIONS, GainTable
from permed_measures.conventions.runs import options_for
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.kernels.graded import weight_of_grade
from permed_measures.limits.formulas import Formula, QueryClasses
from permed_measures.measures.parameters import Cutoff, values_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.papers.claims import Claim

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# --- what has a formula ----------------------------------------------------------------------------


def formula_of(claim: Claim, convention: Options, labels: Labels, classes: QueryClasses) -> Formula | None:
    """Return the formula of a claim by a convention; None if none is known.

    What the sum is divided by is what the convention computes of the qrels alone; where that needs a run,
    there is no formula. Documents may lose only within a cutoff.
    """
    cutoff: Cutoff = convention[CUTOFF + claim.name]
    measure, options = claim.measure, options_for(claim.measure, convention)
    if claim.is_fixed:
        if (written := _options_of(parse_measure(claim.measure), labels)) is None:
            return None
        measure, cutoff, options = written
    if isinstance(cutoff, tuple) or measure not in _SUMS:
        return None
    if is_micro(options) or any(each.needs_ties for each in records_of(options)):
        return None
    by = {option: computed_by(option, value) for option, value in options.items()}
    summed = _SUMS[measure](Given(cutoff, by, labels), classes.grades)
    if summed is None:
        return None
    weights, summand, level, denominator = summed
    try:
        divided_by = np.asarray(denominator(Given(cutoff, by, labels)), np.float64)[classes.examples]
    except NeedsRunError:
        return None
    scale = np.divide(1.0, divided_by, out=np.zeros(len(divided_by)), where=divided_by > 0)
    formula = Formula(cutoff, tuple(weights.tolist()), scale, *summand, level)
    return None if formula.loses and formula.cutoff is None else formula


class _Sum(NamedTuple):
    """A measure as a sum over ranks: the weight of each grade, and what a document adds besides."""

    weights: Floats
    summand: Summand
    level: float
    denominator: Callable[[Given], Any]


def _ap(of: Given, grades: Floats) -> _Sum | None:
    per_hit: PerHit = of.by["per_hit"]
    summand = per_hit.as_sum(of.cutoff)
    if summand is None:
        return None
    weight = weights_of(of.by["weights"], of.labels)
    weights = np.array([weight[grade] if grade >= of.level else 0.0 for grade in grades.tolist()])
    return _Sum(weights, summand, of.level, of.by["denominator"])


def _ndcg(of: Given, grades: Floats) -> _Sum | None:
    """Return nDCG, unless documents that are not in the classes gain anything."""
    gain, negative = of.by["gain"], of.by["negative"]
    others = np.append(np.setdiff1d(of.labels.judgments.grade, grades), 0.0)
    if gain.of_grades(negative(others)).any():
        return None
    factor, level = ("first", 1.0) if gain.of_first else ("each", -np.inf)
    summand = Summand(factor, of.by["discount"])
    return _Sum(gain.of_grades(negative(grades)), summand, level, of.by["ideal"])


def _hits(option: str, of: Given, grades: Floats) -> _Sum | None:
    """Return what counts hits."""
    over: Over = of.by[option]
    relevant = (grades >= of.level).astype(np.float64)
    return over.hits.as_sum and _Sum(relevant, over.hits.as_sum, of.level, over.denominator)


_SUMS: dict[str, Callable[[Given, Floats], _Sum | None]] = {
    "AP": _ap,
    "nDCG": _ndcg,
    **{measure: partial(_hits, option) for measure, option in HITS_BY.items()},
}
"""The measures that may be sums over ranks."""


_Written = tuple[str, Cutoff, Options]


def _options_of(measure: Measure, labels: Labels) -> _Written | None:
    """Return the measure that is written out, its cutoff and its options; None where no option says it."""
    params = dict(values_of(measure))
    cutoff, judged_only = params.pop("cutoff", None), params.pop("judged_only", False)
    known = _WRITTEN.get(str(measure.NAME))
    if judged_only or known is None or params.get("rel", 1) <= 0:
        return None
    name, options_by = known
    options = options_by(params, labels)
    if options is None:
        return None
    default = {option: DEFAULT[option] for option in OPTIONS_OF[name]}
    return name, cutoff, {**default, **options}


def _graded_ap(params: Mapping[str, Any], labels: Labels) -> Options | None:
    grades = np.array(labels.grades)
    weights = weight_of_grade(grades, max_rel=params["max_rel"], gains=params["gains"])
    table = GainTable.of(dict(zip(labels.grades, weights.tolist(), strict=True)))
    known = params["norm"] in OPTIONS["denominator"].values
    return {"level": params["rel"], "weights": table, "denominator": params["norm"]} if known else None


def _written_ndcg(params: Mapping[str, Any], _: Labels) -> Options | None:
    gain = {"log2": "linear", "exp-log2": "exp"}.get(params["dcg"])
    return None if gain is None or params["gains"] is not None else {"gain": gain}


def _variant_ndcg(params: Mapping[str, Any], _: Labels) -> Options | None:
    return params if all(value in OPTIONS[option].values for option, value in params.items()) else None


def _level(params: Mapping[str, Any], _: Labels) -> Options | None:
    return {"level": params["rel"]}


_WRITTEN: dict[str, tuple[str, Callable[[Mapping[str, Any], Labels], Options | None]]] = {
    "AP": ("AP", _level),
    "GradedAP": ("AP", _graded_ap),
    "nDCG": ("nDCG", _written_ndcg),
    "VariantNDCG": ("nDCG", _variant_ndcg),
    "P": ("P", _level),
    "R": ("R", _level),
    "RR": ("RR", _level),
    "Success": ("Success", _level),
    "Coverage": ("Success", _level),
}
"""The measures that are written out, as those whose options say how they are computed."""


def keeps_negative(claims: Sequence[Claim], convention: Options) -> bool:
    """Return whether negative grades are used as they stand, by a convention or a measure written out."""
    written = [values_of(parse_measure(claim.measure)) for claim in claims if claim.is_fixed]
    default = DEFAULT["negative"]
    return any(params.get("negative", default) != default for params in (convention, *written))


# --- what all measures share -----------------------------------------------------------------------


def allows(convention: Options) -> bool:
    """Return whether bounds allow for the options of a convention that all measures share.

    They do not for a measure that has one for itself: it may see other documents, or other queries.
    """
    if any(OF_ALL.get(option) in SHARED for option in convention):
        return False
    return all(convention[each] == DEFAULT[each] or _for_any(each, convention[each]) for each in SHARED)


def _for_any(option: str, value: Any) -> str:
    """Return what the value of an option is where any run may be; empty if bounds do not allow for it."""
    record = record_of(option, value)
    return "" if record is None else record.any_run


def leaves_out_what_a_run_lacks(queries: str) -> bool:
    """Return whether a set of judged queries leaves out what a run lacks."""
    return _for_any("queries", queries) not in ("", queries)


def where_none_is_lacking(queries: str) -> str:
    """Return which set of queries another one is for a run that lacks none."""
    return _for_any("queries", queries) or queries


def counted_by(queries: str, judgments: Judgments) -> Bools:
    """Return which judged queries count in a query set for a run that lacks none."""
    every = np.ones(judgments.n_queries, np.bool_)
    known = Known(*[every] * len(Known._fields))._replace(relevant=judgments.num_rel(1) > 0)
    found: Bools = computed_by("queries", where_none_is_lacking(queries)).counted(known)
    return found


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
    return {**convention, "rounding": _for_any("rounding", convention["rounding"]) or convention["rounding"]}


def _for_any_run(convention: Options) -> Options:
    """Return a convention as it is where any run may be; values that bounds do not allow for stay.

    Query sets stay too: a run may lack queries.
    """
    shared = {each: _for_any(each, convention[each]) for each in SHARED if each != "queries"}
    return {**convention, **{option: value for option, value in shared.items() if value}}


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
    # Those with a name come before the many others: a long row may take more than can be computed for it.
    yield from (convention for _, convention in named_of(claims, labels, named))
    for base in usual:
        yield from _changed(base, {claim.measure for claim in claims}, labels)
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
