"""The mean of a measure by a convention, from what the values of its options compute."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from ir_measures.measures import SumAgg

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

# --- what is defined -----------------------------------------------------------------------------------


def is_possible(options: Options, labels: LabelPolicy) -> bool:
    """Return whether these options of a measure mean something on these labels, which no other ones do.

    What surely equals another convention here is of no use to an audit. It is defined all the same, as
    `is_computable` says.
    """
    level = options.get(LEVEL, 0)  # of nDCG there is none
    if level > labels.top or not is_computable(options, labels) or not is_defined(options, labels.policy):
        return False
    of_measure = {option: value for option, value in options.items() if option not in SHARED}
    return all(each.offered(labels) for each in value_records(of_measure))


def is_computable(options: Options, labels: LabelPolicy) -> bool:
    """Return whether these options of a measure are defined on these labels.

    A table must have a gain for each grade, and 2^g must be a number.
    """
    tables = [each for each in options.values() if isinstance(each, GainTable)]
    return all(each.gains.keys() >= {*labels.grades} for each in tables) and all(
        each.defined(labels) for each in value_records(options)
    )


def is_defined(options: Options, policy: str) -> bool:
    """Return whether these options of a measure mean something on any labels, which no other ones do."""
    records = [*value_records(options)]
    has_level = options.get(LEVEL, DEFAULT[LEVEL]) != DEFAULT[LEVEL]
    if not OPTIONS[LABELS].values[policy].has_grades and (
        has_level or any(each.needs_grades for each in records)
    ):
        return False
    if is_micro(options) and any(each.micro is Micro.NONE for each in records):
        return False
    return all(each.takes_ties for each in records) or not any(each.needs_ties for each in records)


def is_micro(options: Options) -> bool:
    """Return whether a mean is a micro average; that of hits in the list is none."""
    records = [*value_records(options)]
    return any(each.pools for each in records) and not any(each.micro is Micro.MEAN for each in records)


def sees_unjudged(measure: str) -> bool:
    """Return whether a measure tells unjudged documents from those of grade 0, by their ranks."""
    if measure in CONVENTION_MEASURES:
        return False
    values = values_of(parsed := parse_measure(measure))
    level = values.get("rel")
    may_be_0 = (level is not None and level <= 0) or values.get("gains") is not None
    return parsed.NAME == "Judged" or may_be_0


# --- of queries ----------------------------------------------------------------------------------------

HITS_BY = {"P": PRECISION, "R": RECALL, "RR": RANKS, "Success": SUCCESS}
"""By measure the option that says what is counted of the hits, and over what."""


def _of_hits(option: str, inputs: KernelInput) -> Ratio:
    over: Over = inputs.by[option]
    return over.ratio(inputs)


_RATIOS: dict[str, Callable[[KernelInput], Ratio]] = {
    "AP": average_precision_ratio,
    "nDCG": ndcg_ratio,
    **{measure: partial(_of_hits, option) for measure, option in HITS_BY.items()},
}


def ratio_of(measure: str, cutoff: Cutoff, options: Options, ranked: LabelledRanking) -> Ratio:
    """Return what a measure other than F1 sums for each query, and what it divides the sum by."""
    if isinstance(cutoff, tuple):
        raise ValueError(f"{measure} has one cutoff (found {cutoff})")
    by = {each: computed_by(each, options[each]) for each in OPTIONS_OF[measure] if each in options}
    return _RATIOS[measure](KernelInput(cutoff, by, ranked.labels, ranked))


def values_of_queries(measure: str, cutoff: Cutoff, options: Options, ranked: LabelledRanking) -> Floats:
    """Compute the value of each query, rounded if the option rounding says so."""
    if measure not in CONVENTION_MEASURES:
        parsed = parse_measure(measure)
        found = KERNELS[str(parsed.NAME)](ranked.rankings, **values_of(parsed))
    elif measure == "F1":
        found = _f1(lambda part, k, of: ratio_of(part, k, of, ranked).values, cutoff, options)
    else:
        found = ratio_of(measure, cutoff, options, ranked).values
    of_queries = rounding_of(options[ROUNDING]).of_queries if ROUNDING in options else None
    return found if of_queries is None else rounded(found, *of_queries)


def _f1(of: Callable[[str, Cutoff, Options], Floats], cutoff: Cutoff, options: Options) -> Floats:
    """Return the harmonic mean of precision and recall, each of which a function computes."""
    options = {each: options[each] for each in (LEVEL, AVERAGING, PRECISION, RECALL)}
    precision, recall = (
        of(name, k, options) for name, k in zip("PR", precision_recall_cutoffs(cutoff), strict=True)
    )
    total = precision + recall
    empty = np.where(np.isnan(total), np.nan, 0.0)
    found: Floats = np.divide(2 * precision * recall, total, out=empty, where=total > 0)
    return found


# --- means ---------------------------------------------------------------------------------------------


def means_of(
    measure: str, cutoff: Cutoff, options: Options, ranked: LabelledRanking, sets: QuerySets
) -> Floats:
    """Compute the mean of a measure over each query set, NaN where there is none.

    Parameters
    ----------
    measure : str
        One of MEASURES, or another as one would type it, which has no options.
    cutoff : int, pair of int or None
    options : mapping
        The value of each option of the measure.
    ranked : Ranked
    sets : QuerySets
    """

    def values() -> Floats:
        return values_of_queries(measure, cutoff, options, ranked)

    if measure not in CONVENTION_MEASURES:
        is_count = isinstance(parse_measure(measure).aggregator(), SumAgg)
        return sets.sums(values()) if is_count else sets.means(values())
    if measure == "F1":
        return np.asarray(
            computed_by(F1_FROM, options[F1_FROM])(
                is_micro(options),
                lambda: sets.means(values()),
                lambda: _f1(lambda part, k, of: means_of(part, k, of, ranked, sets), cutoff, options),
            )
        )
    [averaging] = [computed_by(each, options[each]) for each in _AVERAGING if each in options] or [macro]
    if any(each.micro is Micro.MEAN for each in value_records(options)):
        averaging = macro
    return np.asarray(averaging(sets, values, lambda: ratio_of(measure, cutoff, _pooled(options), ranked)))


_AVERAGING = (AVERAGING, POOLING)
"""The options that say how the values of queries become a mean; a measure has one of them or none."""


def _pooled(options: Options) -> dict[str, Any]:
    """Return the options by which a micro average is computed."""
    known = dict(options)
    for option, value in options.items():
        of_option = OPTIONS[option].values if option in OPTIONS else {}
        if value in of_option:
            known[option] = of_option[value].pooled_as or value
    return known
