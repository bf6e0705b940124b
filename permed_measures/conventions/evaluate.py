"""Compute a measure by the values of its options, for each query and as a mean."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from permed_measures.arrays import Floats
from permed_measures.conventions.aggregate import QuerySets, macro, rounded
from permed_measures.conventions.options import (
    CONVENTION_MEASURES,
    DEFAULT,
    OPTIONS_OF,
    SHARED,
    Options,
    computed_by,
    rounding_of,
    value_records,
)
from permed_measures.conventions.per_query import (
    LEVEL,
    PRECISION,
    RANKS,
    RECALL,
    SUCCESS,
    KernelInput,
    LabelledRanking,
    LabelPolicy,
    Over,
    Ratio,
    average_precision_ratio,
    ndcg_ratio,
)
from permed_measures.conventions.records import (
    AVERAGING,
    F1_FROM,
    LABELS,
    OPTIONS,
    POOLING,
    ROUNDING,
    GainTable,
    Micro,
)
from permed_measures.engine.kernels import KERNELS
from permed_measures.measures.parameters import Cutoff, precision_recall_cutoffs, values_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.measures.specs import is_count, spec_of

# --- which options are defined ------------------------------------------------------------------------


def is_worth_trying(options: Options, labels: LabelPolicy) -> bool:
    """Check whether an audit should try these options on these labels.

    They must be defined and consistent. Options that give the same numbers as others on these labels are not
    worth trying.
    """
    level = options.get(LEVEL, 0)  # nDCG has no level
    if level > labels.top or not is_defined(options, labels) or not is_consistent(options, labels.policy):
        return False
    of_measure = {option: value for option, value in options.items() if option not in SHARED}
    return all(each.offered(labels) for each in value_records(of_measure))


def is_defined(options: Options, labels: LabelPolicy) -> bool:
    """Check whether a measure can be computed by these options on these labels.

    A table must have a gain for each grade, and 2^g must be finite.
    """
    tables = [value for value in options.values() if isinstance(value, GainTable)]
    return all(table.gains.keys() >= {*labels.grades} for table in tables) and all(
        record.defined(labels) for record in value_records(options)
    )


def is_consistent(options: Options, policy: str) -> bool:
    """Check whether these options fit together and add anything new, whatever the labels are."""
    records = [*value_records(options)]
    has_level = options.get(LEVEL, DEFAULT[LEVEL]) != DEFAULT[LEVEL]
    if not OPTIONS[LABELS].values[policy].has_grades and (
        has_level or any(each.needs_grades for each in records)
    ):
        return False
    if any(each.micro is Micro.NONE for each in records) and is_micro(options):
        return False
    return all(each.takes_ties for each in records) or not any(each.needs_ties for each in records)


def is_micro(options: Options) -> bool:
    """Check whether a mean is a micro average; Success of any hit always has an ordinary mean."""
    records = [*value_records(options)]
    return any(each.pools for each in records) and not any(each.micro is Micro.MEAN for each in records)


def sees_unjudged(measure: str) -> bool:
    """Check whether a measure distinguishes unjudged documents from documents of grade 0."""
    if measure in CONVENTION_MEASURES:
        return False
    values = values_of(parsed := parse_measure(measure))
    level = values.get("rel")
    may_be_0 = (level is not None and level <= 0) or values.get("gains") is not None
    return spec_of(parsed).about_labels or may_be_0


# --- values of queries ---------------------------------------------------------------------------------

HITS_BY = {"P": PRECISION, "R": RECALL, "RR": RANKS, "Success": SUCCESS}
"""The option of each measure that selects what is counted, and the denominator."""


def _of_hits(option: str, inputs: KernelInput) -> Ratio:
    over: Over = inputs.by[option]
    return over.ratio(inputs)


_RATIOS: dict[str, Callable[[KernelInput], Ratio]] = {
    "AP": average_precision_ratio,
    "nDCG": ndcg_ratio,
    **{measure: partial(_of_hits, option) for measure, option in HITS_BY.items()},
}


def ratio_of(measure: str, cutoff: Cutoff, options: Options, ranked: LabelledRanking) -> Ratio:
    """Compute numerator and denominator of each query, for a measure other than F1."""
    if isinstance(cutoff, tuple):
        raise ValueError(f"{measure} has one cutoff (found {cutoff})")
    by = {each: computed_by(each, options[each]) for each in OPTIONS_OF[measure] if each in options}
    return _RATIOS[measure](KernelInput(cutoff, by, ranked.labels, ranked))


def values_of_queries(measure: str, cutoff: Cutoff, options: Options, ranked: LabelledRanking) -> Floats:
    """Compute the value of each query, and round it if the option rounding says so."""
    if measure not in CONVENTION_MEASURES:
        parsed = parse_measure(measure)
        values = KERNELS[str(parsed.NAME)](ranked.rankings, **values_of(parsed))
    elif measure == "F1":
        values = _f1(lambda part, k, own: ratio_of(part, k, own, ranked).values, cutoff, options)
    else:
        values = ratio_of(measure, cutoff, options, ranked).values
    rounding = rounding_of(options[ROUNDING]).of_queries if ROUNDING in options else None
    return values if rounding is None else rounded(values, *rounding)


def _f1(compute: Callable[[str, Cutoff, Options], Floats], cutoff: Cutoff, options: Options) -> Floats:
    """Compute the harmonic mean of precision and recall; `compute` gives each of the two."""
    options = {each: options[each] for each in (LEVEL, AVERAGING, PRECISION, RECALL)}
    precision, recall = (
        compute(name, k, options) for name, k in zip("PR", precision_recall_cutoffs(cutoff), strict=True)
    )
    total = precision + recall
    empty = np.where(np.isnan(total), np.nan, 0.0)
    f1: Floats = np.divide(2 * precision * recall, total, out=empty, where=total > 0)
    return f1


# --- means ---------------------------------------------------------------------------------------------


def means_of(
    measure: str, cutoff: Cutoff, options: Options, ranked: LabelledRanking, sets: QuerySets
) -> Floats:
    """Compute the mean of a measure over each query set; NaN where it is not defined.

    Parameters
    ----------
    measure : str
        One of CONVENTION_MEASURES, or another measure as one would type it, which has no options.
    cutoff : int, pair of int or None
    options : mapping
        The value of each option of the measure.
    ranked : LabelledRanking
    sets : QuerySets
    """

    def values() -> Floats:
        return values_of_queries(measure, cutoff, options, ranked)

    if measure not in CONVENTION_MEASURES:
        return sets.sums(values()) if is_count(parse_measure(measure)) else sets.means(values())
    if measure == "F1":
        return np.asarray(
            computed_by(F1_FROM, options[F1_FROM])(
                is_micro(options),
                lambda: sets.means(values()),
                lambda: _f1(lambda part, k, own: means_of(part, k, own, ranked, sets), cutoff, options),
            )
        )
    [averaging] = [computed_by(each, options[each]) for each in _AVERAGING if each in options] or [macro]
    if averaging is not macro and any(each.micro is Micro.MEAN for each in value_records(options)):
        averaging = macro
    return np.asarray(averaging(sets, values, lambda: ratio_of(measure, cutoff, _pooled(options), ranked)))


_AVERAGING = (AVERAGING, POOLING)
"""The options that choose a macro or micro average; a measure has at most one of them."""


def _pooled(options: Options) -> dict[str, Any]:
    """Replace the values that a micro average computes in another way."""
    pooled = dict(options)
    for option, value in options.items():
        records = OPTIONS[option].values if option in OPTIONS else {}
        if value in records:
            pooled[option] = records[value].pooled_as or value
    return pooled
