"""The conventions that a row without a run may have, and the formulas of its measures by these."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import Measure

from permed_measures.arrays import Bools, Floats
from permed_measures.conventions.aggregate import QueryFacts
from permed_measures.conventions.describe import GAIN_OF_DCG
from permed_measures.conventions.evaluate import HITS_BY, is_micro, is_possible
from permed_measures.conventions.named import COMMUNITY, NAMED, NamedConvention
from permed_measures.conventions.options import (
    CUTOFF_OF,
    DEFAULT,
    OPTIONS_OF,
    SHARED,
    Convention,
    Options,
    computed_by,
    default_of,
    measures_by_value,
    value_record,
    value_records,
    with_n_changes,
    with_value,
)
from permed_measures.conventions.per_query import (
    DENOMINATOR,
    DISCOUNT,
    GAIN,
    IDEAL,
    LEVEL,
    NEGATIVE,
    PER_HIT,
    WEIGHTS,
    Factor,
    KernelInput,
    LabelPolicy,
    NeedsRunError,
    Over,
    PerHit,
    Summand,
    weights_of,
)
from permed_measures.conventions.ranking_variants import options_for
from permed_measures.conventions.records import LABELS, OPTIONS, QUERY_SET, ROUNDING, GainTable
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.kernels.graded import weight_of_grade
from permed_measures.feasibility.formulas import Formula, QueryClasses
from permed_measures.measures.parameters import Cutoff, values_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.published_tables.claims import Claim

# --- what has a formula ----------------------------------------------------------------------------


def formula_of(
    claim: Claim, convention: Convention, labels: LabelPolicy, classes: QueryClasses
) -> Formula | None:
    """Return the formula of a claim by a convention; None if none is known.

    What the sum is divided by is what the convention computes of the qrels alone; where that needs a run,
    there is no formula. Documents may lose only within a cutoff.
    """
    cutoff: Cutoff = convention[claim.measure][CUTOFF_OF + claim.name]
    measure, options = claim.measure, options_for(claim.measure, convention[claim.measure])
    if claim.is_fixed:
        if (written := _options_of(parse_measure(claim.measure), labels)) is None:
            return None
        measure, cutoff, options = written
    if isinstance(cutoff, tuple) or measure not in _SUM_OF_MEASURE:
        return None
    if is_micro(options) or any(each.needs_ties for each in value_records(options)):
        return None
    by = {option: computed_by(option, value) for option, value in options.items()}
    summed = _SUM_OF_MEASURE[measure](KernelInput(cutoff, by, labels), classes.grades)
    if summed is None:
        return None
    weights, summand, level, denominator = summed
    if summand.to_num_rel:
        num_rel = classes.counts[:, classes.grades >= level].sum(axis=1)
        last = max(1, int(num_rel.max(initial=0)))
        cutoff = last if cutoff is None else min(cutoff, last)
    try:
        divided_by = np.asarray(denominator(KernelInput(cutoff, by, labels)), np.float64)[classes.examples]
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
    denominator: Callable[[KernelInput], Any]


def _ap(of: KernelInput, grades: Floats) -> _Sum | None:
    per_hit: PerHit = of.by[PER_HIT]
    summand = per_hit.as_sum(of.cutoff)
    if summand is None:
        return None
    weight = weights_of(of.by[WEIGHTS], of.labels)
    weights = np.array([weight[grade] if grade >= of.level else 0.0 for grade in grades.tolist()])
    return _Sum(weights, summand, of.level, of.by[DENOMINATOR])


def _ndcg(of: KernelInput, grades: Floats) -> _Sum | None:
    """Return nDCG, unless documents that are not in the classes gain anything."""
    gain, negative = of.by[GAIN], of.by[NEGATIVE]
    others = np.append(np.setdiff1d(of.labels.judgments.grade, grades), 0.0)
    if gain.of_grades(negative(others)).any():
        return None
    factor, level = (Factor.FIRST, 1.0) if gain.of_first else (Factor.ONE, -np.inf)
    summand = Summand(factor, of.by[DISCOUNT])
    return _Sum(gain.of_grades(negative(grades)), summand, level, of.by[IDEAL])


def _hits(option: str, of: KernelInput, grades: Floats) -> _Sum | None:
    """Return what counts hits."""
    over: Over = of.by[option]
    relevant = (grades >= of.level).astype(np.float64)
    return over.hits.as_sum and _Sum(relevant, over.hits.as_sum, of.level, over.denominator)


def _r_precision(of: KernelInput, grades: Floats) -> _Sum:
    relevant = (grades >= of.level).astype(np.float64)
    return _Sum(relevant, Summand(Factor.ONE, to_num_rel=True), of.level, lambda of: of.num_rel)


_SUM_OF_MEASURE: dict[str, Callable[[KernelInput, Floats], _Sum | None]] = {
    "AP": _ap,
    "nDCG": _ndcg,
    "Rprec": _r_precision,
    **{measure: partial(_hits, option) for measure, option in HITS_BY.items()},
}
"""The measures that may be sums over ranks."""


_Written = tuple[str, Cutoff, Options]


def _options_of(measure: Measure, labels: LabelPolicy) -> _Written | None:
    """Return the measure that is written out, its cutoff and its options; None where no option says it."""
    params = dict(values_of(measure))
    cutoff, judged_only = params.pop("cutoff", None), params.pop("judged_only", False)
    known = _OPTIONS_OF_WRITTEN.get(str(measure.NAME))
    if judged_only or known is None or params.get("rel", 1) <= 0:
        return None
    name, options_by = known
    options = options_by(params, labels)
    if options is None:
        return None
    return name, cutoff, {**options_for(name, default_of(name)), **options}


def _graded_ap(params: Mapping[str, Any], labels: LabelPolicy) -> Options | None:
    grades = np.array(labels.grades)
    weights = weight_of_grade(grades, max_rel=params["max_rel"], gains=params["gains"])
    table = GainTable.of(dict(zip(labels.grades, weights.tolist(), strict=True)))
    known = params["norm"] in OPTIONS[DENOMINATOR].values
    return {LEVEL: params["rel"], WEIGHTS: table, DENOMINATOR: params["norm"]} if known else None


def _written_ndcg(params: Mapping[str, Any], _: LabelPolicy) -> Options | None:
    gain = GAIN_OF_DCG.get(params["dcg"])
    return None if gain is None or params["gains"] is not None else {GAIN: gain}


def _variant_ndcg(params: Mapping[str, Any], _: LabelPolicy) -> Options | None:
    return params if all(value in OPTIONS[option].values for option, value in params.items()) else None


def _level(params: Mapping[str, Any], _: LabelPolicy) -> Options | None:
    return {LEVEL: params["rel"]}


_OPTIONS_OF_WRITTEN: dict[str, tuple[str, Callable[[Mapping[str, Any], LabelPolicy], Options | None]]] = {
    "AP": ("AP", _level),
    "GradedAP": ("AP", _graded_ap),
    "nDCG": ("nDCG", _written_ndcg),
    "VariantNDCG": ("nDCG", _variant_ndcg),
    "P": ("P", _level),
    "R": ("R", _level),
    "RR": ("RR", _level),
    "Success": ("Success", _level),
    "Coverage": ("Success", _level),
    "Rprec": ("Rprec", _level),
}
"""The measures that are written out, as those whose options say how they are computed."""


def keeps_negative(claims: Sequence[Claim], convention: Convention) -> bool:
    """Return whether negative grades are used as they stand, by a convention or a measure written out."""
    written = [values_of(parse_measure(claim.measure)) for claim in claims if claim.is_fixed]
    default = DEFAULT[NEGATIVE]
    return any(params.get(NEGATIVE, default) != default for params in (*convention.values(), *written))


# --- what all measures share -----------------------------------------------------------------------


def shared_by_all(convention: Convention) -> Options | None:
    """Return the options that measures have in common; None if one has another value of these than others.

    It may see other documents then, or other queries.
    """
    values = {option: measures_by_value(convention, option) for option in SHARED}
    if any(len(each) > 1 for each in values.values()):
        return None
    return {option: next(iter(each)) for option, each in values.items()}


def allows(shared: Options) -> bool:
    """Return whether bounds allow for the options that all measures have."""
    return all(shared[each] == DEFAULT[each] or _for_any(each, shared[each]) for each in SHARED)


def _for_any(option: str, value: Any) -> str:
    """Return what the value of an option is where any run may be; empty if bounds do not allow for it."""
    record = value_record(option, value)
    return "" if record is None else record.any_run


def leaves_out_what_a_run_lacks(queries: str) -> bool:
    """Return whether a set of judged queries leaves out what a run lacks."""
    return _for_any(QUERY_SET, queries) not in ("", queries)


def where_none_is_lacking(queries: str) -> str:
    """Return which set of queries another one is for a run that lacks none."""
    return _for_any(QUERY_SET, queries) or queries


def counted_by(queries: str, judgments: Judgments) -> Bools:
    """Return which judged queries count in a query set for a run that lacks none."""
    every = np.ones(judgments.n_queries, np.bool_)
    known = QueryFacts(*[every] * len(QueryFacts._fields))._replace(relevant=judgments.num_rel(1) > 0)
    found: Bools = computed_by(QUERY_SET, where_none_is_lacking(queries)).counted(known)
    return found


def _for_any_run(convention: Convention) -> Convention:
    """Return a convention as it is where any run may be; values that bounds do not allow for stay.

    Query sets stay too, as a run may lack queries, and all but roundings where measures differ in one of the
    others: a run with the same rankings and queries by one of the values may have others by the other.
    """
    rounded = _with_any_run(convention, ROUNDING)
    if shared_by_all(rounded) is None:
        return rounded
    return reduce(_with_any_run, [each for each in SHARED if each != QUERY_SET], rounded)


def _with_any_run(convention: Convention, option: str) -> Convention:
    """Return a convention with the value of an option that it is where any run may be."""
    for value, measures in measures_by_value(convention, option).items():
        convention = with_value(convention, option, _for_any(option, value) or value, measures)
    return convention


# --- which are tried -------------------------------------------------------------------------------

_GROUPS = ((("AP",), 2), (("nDCG",), 1), (("P", "R", "RR", "Success"), 2))
"""The measures that share options, and in how many of these a convention may differ from a usual one."""
_MAX_LEVELS = 4
"""How many relevance levels are tried."""


def usual_conventions(claims: list[Claim], labels: LabelPolicy) -> list[Convention]:
    """Return how measures are computed nearly always: of all queries, within the cutoffs of the names."""
    default = with_value(COMMUNITY.at(claims), LABELS, labels.policy)
    own = dict.fromkeys(option for measure in default for option in OPTIONS_OF.get(measure, ()))
    usual = {
        option: [value for value, record in OPTIONS[option].values.items() if record.usual] for option in own
    }
    ways = [[(option, value) for value in values] for option, values in usual.items() if values]
    every = [
        reduce(lambda found, change: with_value(found, *change), chosen, default) for chosen in product(*ways)
    ]
    return [each for each in every if _is_possible(each, labels)]


def _is_possible(convention: Convention, labels: LabelPolicy) -> bool:
    return all(is_possible(options, labels) for options in convention.values())


def candidate_conventions(
    claims: list[Claim], policies: list[LabelPolicy], named: Sequence[NamedConvention] = NAMED
) -> list[Convention]:
    """Return the conventions to try, the community's first.

    Those are the conventions with a name, and all in which the measures of one group are computed in any way
    that the audit knows while the others are computed as usual. The name of a measure of ours fixes all: the
    grades are those of the qrels, and all their queries count.
    """
    found: dict[object, Convention] = {}
    as_named = any(claim.is_ours for claim in claims)
    for labels in policies:
        for each in _by_labels(claims, labels, named):
            shared = all({*measures_by_value(each, option)} == {DEFAULT[option]} for option in SHARED)
            if _is_possible(each, labels) and (shared or not as_named):
                found.setdefault(key_of(each), each)
    return list(found.values())


def key_of(convention: Convention) -> object:
    """Return what is the same for equal conventions."""
    return tuple((measure, *options.items()) for measure, options in convention.items())


def _by_labels(
    claims: list[Claim], labels: LabelPolicy, named: Sequence[NamedConvention]
) -> Iterator[Convention]:
    usual = usual_conventions(claims, labels)
    yield from usual
    # Those with a name come before the many others: a long row may take more than can be computed for it.
    yield from (convention for _, convention in named_of(claims, labels, named))
    for base in usual:
        yield from _changed(base, labels)
    if labels.policy == DEFAULT[LABELS]:
        for base in usual:
            yield with_value(base, QUERY_SET, "with_relevant")
            for claim in claims:
                for cutoff in claim.cutoffs[1:]:
                    yield with_value(base, CUTOFF_OF + claim.name, cutoff)


def named_of(
    claims: list[Claim], labels: LabelPolicy, named: Sequence[NamedConvention]
) -> Iterator[tuple[str, Convention]]:
    """Yield the conventions with a name that have all claims, as they are where any run may be."""
    for each in named if usual_conventions(claims, labels) else ():
        if all(each.has(claim.measure) for claim in claims):
            convention = _for_any_run(each.at(claims))
            shared = shared_by_all(convention)
            if shared is None or shared[LABELS] == labels.policy or not allows(shared):
                yield each.name, convention


def _changed(base: Convention, labels: LabelPolicy) -> Iterator[Convention]:
    """Yield what differs from a convention in the options of one group of measures.

    nDCG, which has the most options, has one change, and none where grades are changed.
    """
    levels = tuple(dict.fromkeys([1.0, *labels.grades]))[:_MAX_LEVELS]
    for group, most in _GROUPS:
        own = {each for measure in {*group} & {*base} for each in OPTIONS_OF[measure]}
        options = [each for each in OPTIONS if each in own]
        values = {option: OPTIONS[option].values_for(base, levels) for option in options}
        for n in range(1, most + 1) if group != ("nDCG",) or labels.policy == DEFAULT[LABELS] else ():
            yield from with_n_changes(base, values, n)
