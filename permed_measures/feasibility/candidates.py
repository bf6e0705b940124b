"""List the conventions that may have made a published row, and write its measures as formulas."""

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
from permed_measures.conventions.evaluate import HITS_BY, is_micro, is_worth_trying
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
    STRICT_LEVEL,
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

# --- formulas of measures --------------------------------------------------------------------------


def formula_of(
    claim: Claim, convention: Convention, labels: LabelPolicy, classes: QueryClasses
) -> Formula | None:
    """Write a claim's measure under a convention as a formula; None if no formula is known.

    The denominator must follow from the qrels alone: if it needs a run, there is no formula. Negative weights
    are allowed only with a cutoff.
    """
    cutoff: Cutoff = convention[claim.measure][CUTOFF_OF + claim.name]
    measure, options = claim.measure, options_for(claim.measure, convention[claim.measure])
    if claim.is_fully_specified:
        if (written := _options_of(parse_measure(claim.measure), labels)) is None:
            return None
        measure, cutoff, options = written
    if isinstance(cutoff, tuple) or measure not in _SUM_OF_MEASURE:
        return None
    if is_micro(options) or any(record.needs_ties for record in value_records(options)):
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
    return None if formula.has_negative_weights and formula.cutoff is None else formula


class _Sum(NamedTuple):
    """A measure as a sum over ranks: the weights of the grades, factor and discount, and the denominator."""

    weights: Floats
    summand: Summand
    level: float
    denominator: Callable[[KernelInput], Any]


def _ap(data: KernelInput, grades: Floats) -> _Sum | None:
    per_hit: PerHit = data.by[PER_HIT]
    summand = per_hit.as_sum(data.cutoff)
    if summand is None:
        return None
    weight = weights_of(data.by[WEIGHTS], data.labels)
    weights = np.array([weight[grade] if grade >= data.level else 0.0 for grade in grades.tolist()])
    return _Sum(weights, summand, data.level, data.by[DENOMINATOR])


def _ndcg(data: KernelInput, grades: Floats) -> _Sum | None:
    """Write nDCG as a sum; None if a document outside the classes has a gain."""
    gain, negative = data.by[GAIN], data.by[NEGATIVE]
    others = np.append(np.setdiff1d(data.labels.judgments.grade, grades), 0.0)
    if gain.of_grades(negative(others)).any():
        return None
    factor, level = (Factor.FIRST, 1.0) if gain.of_first else (Factor.ONE, -np.inf)
    summand = Summand(factor, data.by[DISCOUNT])
    return _Sum(gain.of_grades(negative(grades)), summand, level, data.by[IDEAL])


def _hits(option: str, data: KernelInput, grades: Floats) -> _Sum | None:
    """Write P, R, RR or Success as a sum over relevant documents."""
    over: Over = data.by[option]
    relevant = (grades >= data.level).astype(np.float64)
    return over.hits.as_sum and _Sum(relevant, over.hits.as_sum, data.level, over.denominator)


def _r_precision(data: KernelInput, grades: Floats) -> _Sum:
    relevant = (grades >= data.level).astype(np.float64)
    return _Sum(relevant, Summand(Factor.ONE, to_num_rel=True), data.level, lambda data: data.num_rel)


_SUM_OF_MEASURE: dict[str, Callable[[KernelInput, Floats], _Sum | None]] = {
    "AP": _ap,
    "nDCG": _ndcg,
    "Rprec": _r_precision,
    **{measure: partial(_hits, option) for measure, option in HITS_BY.items()},
}
"""The measures that can be sums over ranks."""


_Written = tuple[str, Cutoff, Options]


def _options_of(measure: Measure, labels: LabelPolicy) -> _Written | None:
    """Translate a fully specified measure to its family, cutoff and options; None if no options fit."""
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


def _level_of_r_precision(params: Mapping[str, Any], labels: LabelPolicy) -> Options | None:
    """Read the level; None if a paper may mean another one by the name, as grades go above 2.

    Up to grade 2 the other level is tried too, by binarised labels.
    """
    return None if params["rel"] == 1 and labels.top > STRICT_LEVEL else _level(params, labels)


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
    "Rprec": ("Rprec", _level_of_r_precision),
}
"""For each measure that specifies its computation: its family, and the options that its parameters mean."""


def keeps_negative(claims: Sequence[Claim], convention: Convention) -> bool:
    """Check whether a convention, or a fully specified measure, uses negative grades as they stand."""
    written = [values_of(parse_measure(claim.measure)) for claim in claims if claim.is_fully_specified]
    default = DEFAULT[NEGATIVE]
    return any(params.get(NEGATIVE, default) != default for params in (*convention.values(), *written))


# --- options that all measures share ---------------------------------------------------------------


def shared_by_all(convention: Convention) -> Options | None:
    """Return the shared options of all measures; None if the measures have different values of one.

    Then they may count different documents or queries.
    """
    first, *others = ({option: options[option] for option in SHARED} for options in convention.values())
    return first if all(shared == first for shared in others) else None


def allows(shared: Options) -> bool:
    """Check whether bounds exist for these values of the shared options."""
    return all(shared[option] == DEFAULT[option] or _for_any(option, shared[option]) for option in SHARED)


def _for_any(option: str, value: Any) -> str:
    """Return the equivalent value if the run is unknown; empty if no bounds exist for the value."""
    record = value_record(option, value)
    return "" if record is None else record.any_run


def leaves_out_what_a_run_lacks(queries: str) -> bool:
    """Check whether a query set leaves out the judged queries that a run lacks."""
    return _for_any(QUERY_SET, queries) not in ("", queries)


def where_none_is_lacking(queries: str) -> str:
    """Return the query set that is equivalent for a run with all queries."""
    return _for_any(QUERY_SET, queries) or queries


def counted_by(queries: str, judgments: Judgments) -> Bools:
    """Mark the judged queries that a query set counts for a run with all queries."""
    every = np.ones(judgments.n_queries, np.bool_)
    facts = QueryFacts(*[every] * len(QueryFacts._fields))._replace(relevant=judgments.num_rel(1) > 0)
    counted: Bools = computed_by(QUERY_SET, where_none_is_lacking(queries)).counted(facts)
    return counted


def _for_any_run(convention: Convention) -> Convention:
    """Replace the values of shared options by equivalent ones that need no run; others stay.

    Query sets stay, because a run may lack queries. If the measures differ in a shared option, only roundings
    are replaced: two runs may have the same rankings under one value and different ones under the other.
    """
    rounded = _with_any_run(convention, [ROUNDING])
    if shared_by_all(rounded) is None:
        return rounded
    return _with_any_run(rounded, [option for option in SHARED if option != QUERY_SET])


def _with_any_run(convention: Convention, shared: list[str]) -> Convention:
    """Replace the values of some shared options by equivalent ones that need no run."""
    return {
        measure: {
            **options,
            **{option: _for_any(option, options[option]) or options[option] for option in shared},
        }
        for measure, options in convention.items()
    }


# --- conventions to try ----------------------------------------------------------------------------

_GROUPS = ((("AP",), 2), (("nDCG",), 1), (("P", "R", "RR", "Success"), 2))
"""The measures that share options, and the number of these that may differ from a usual convention."""
_MAX_LEVELS = 4
"""Maximum number of relevance levels to try."""


def usual_conventions(claims: list[Claim], labels: LabelPolicy) -> list[Convention]:
    """List the usual ways to compute the measures: over all queries, with the cutoffs of their names."""
    default = with_value(COMMUNITY.with_cutoffs(claims), LABELS, labels.policy)
    own = dict.fromkeys(option for measure in default for option in OPTIONS_OF.get(measure, ()))
    usual = {
        option: [value for value, record in OPTIONS[option].values.items() if record.usual] for option in own
    }
    ways = [[(option, value) for value in values] for option, values in usual.items() if values]
    every = [
        reduce(lambda changed, change: with_value(changed, *change), chosen, default)
        for chosen in product(*ways)
    ]
    known: dict[object, bool] = {}
    return [convention for convention in every if _all_worth_trying(convention, labels, known)]


def _all_worth_trying(convention: Convention, labels: LabelPolicy, known: dict[object, bool]) -> bool:
    """Check whether the options of all measures are; `known` keeps results that many conventions share."""
    for options in convention.values():
        own = tuple(item for item in options.items() if item[0] in OPTIONS)  # without cutoffs
        if own not in known:
            known[own] = is_worth_trying(options, labels)
        if not known[own]:
            return False
    return True


def candidate_conventions(
    claims: list[Claim], policies: list[LabelPolicy], named: Sequence[NamedConvention] = NAMED
) -> list[Convention]:
    """List the conventions to try, the community's first.

    These are the named conventions, and those that compute one group of measures in any way that an audit
    knows and the others as usual. If a claim has the full name of a measure of this package, shared options
    keep their defaults: the grades of the qrels, and all their queries.
    """
    conventions: dict[object, Convention] = {}
    as_named = any(claim.is_package_measure for claim in claims)
    defaults = {option: DEFAULT[option] for option in SHARED}
    for labels in policies:
        known: dict[object, bool] = {}  # many conventions compute some measures in the same way
        for convention in _by_labels(claims, labels, named):
            may_be_tried = not as_named or shared_by_all(convention) == defaults
            if may_be_tried and _all_worth_trying(convention, labels, known):
                conventions.setdefault(key_of(convention), convention)
    return list(conventions.values())


def key_of(convention: Convention) -> object:
    """Return a key that is equal for equal conventions."""
    return tuple((measure, *options.items()) for measure, options in convention.items())


def _by_labels(
    claims: list[Claim], labels: LabelPolicy, named: Sequence[NamedConvention]
) -> Iterator[Convention]:
    usual = usual_conventions(claims, labels)
    yield from usual
    # Named conventions come before the many others: the effort may run out on a long row.
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
    """Yield the named conventions that define all claimed measures, with values that need no run."""
    for candidate in named if usual_conventions(claims, labels) else ():
        if all(candidate.has(claim.measure) for claim in claims):
            convention = _for_any_run(candidate.with_cutoffs(claims))
            shared = shared_by_all(convention)
            if shared is None or shared[LABELS] == labels.policy or not allows(shared):
                yield candidate.name, convention


def _changed(base: Convention, labels: LabelPolicy) -> Iterator[Convention]:
    """Yield the conventions that differ from `base` in options of one group of measures.

    nDCG has the most options: it gets one change, and none if the labels policy is not the default.
    """
    levels = tuple(dict.fromkeys([1.0, *labels.grades]))[:_MAX_LEVELS]
    for group, max_changes in _GROUPS:
        own = {option for measure in {*group} & {*base} for option in OPTIONS_OF[measure]}
        options = [option for option in OPTIONS if option in own]
        values = {option: OPTIONS[option].values_for(base, levels) for option in options}
        may_change = group != ("nDCG",) or labels.policy == DEFAULT[LABELS]
        for n in range(1, max_changes + 1) if may_change else ():
            yield from with_n_changes(base, values, n)
