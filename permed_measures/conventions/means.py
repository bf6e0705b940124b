"""The mean of a measure by a convention: over each query set, and micro averages."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from ir_measures.measures import SumAgg
from numpy.typing import NDArray

from permed_measures.conventions.options import MEASURES, GainTable, Options
from permed_measures.conventions.query_sets import QuerySets
from permed_measures.conventions.values import Labels, Ranked, ratio_of
from permed_measures.engine.kernels import KERNELS, MAX_EXPONENT
from permed_measures.measures.parameters import values_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.papers.names import Rank

Floats = NDArray[np.float64]

_HIGHEST_HALF = 3
"""The highest grade that scripts for grades 0/1/2 are run on, with weights up to 1.5."""
_CAPPED_FROM = 2


def is_possible(options: Options, labels: Labels) -> bool:
    """Return whether these options of a measure mean something on these labels, which no other ones do."""
    level = options.get("level", min(1, labels.top))  # of nDCG there is none
    if labels.policy in ("pool", "strict") and level != 1:
        return False  # where all that are relevant are alike, there is one grade
    tables = [each for each in options.values() if isinstance(each, GainTable)]
    if level > labels.top or not all(each.gains.keys() >= {*labels.grades} for each in tables):
        return False
    if any(options.get(option) == value for option, value in _AS_MACRO if _is_micro(options)):
        return False
    if options.get("tied", "in_order") != "in_order" and not _may_be_tied(options):
        return False
    weights = options.get("weights")
    if weights == "half":
        return labels.top <= _HIGHEST_HALF
    if weights == "capped":
        return labels.top > _CAPPED_FROM  # else it is g/2
    return "exp" not in (weights, options.get("gain")) or labels.top <= MAX_EXPONENT


def _may_be_tied(options: Options) -> bool:
    """Return whether there is a value of tied documents with these options of AP or nDCG."""
    return options.get("gain") != "first" and options.get("per_hit", "precision") == "precision"


_AS_MACRO = (
    *(("precision", "returned"), ("recall", "any"), ("recall", "all")),
    *(("ranks", "first"), ("ranks", "best"), ("ideal", "none")),
)
"""Values of options by which a micro average is no other than the mean."""


def _is_micro(options: Options) -> bool:
    return "micro" in (options.get("averaging"), options.get("pooling"))


def means_of(measure: str, cutoff: Rank, options: Options, ranked: Ranked, sets: QuerySets) -> Floats:
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
    if measure not in MEASURES:
        values = values_of_queries(measure, cutoff, options, ranked)
        return sets.sums(values) if is_sum(measure) else sets.means(values)
    if measure == "F1":
        return F1[options["f1"]](cutoff, options, ranked, sets)
    averaging = options.get("averaging", options.get("pooling", "macro"))
    return AVERAGES[averaging](measure, cutoff, options, ranked, sets)


def _macro(measure: str, cutoff: Rank, options: Options, ranked: Ranked, sets: QuerySets) -> Floats:
    return sets.means(values_of_queries(measure, cutoff, options, ranked))


def _micro(measure: str, cutoff: Rank, options: Options, ranked: Ranked, sets: QuerySets) -> Floats:
    if options.get("success") == "any":
        return _macro(measure, cutoff, options, ranked, sets)
    if options.get("precision") == "cutoff":  # over k it would be no other than the mean
        options = {**options, "precision": "returned"}
    return sets.ratios(*ratio_of(measure, cutoff, options, ranked))


AVERAGES = {"macro": _macro, "micro": _micro}
"""The mean of a measure other than F1 over each query set."""


def is_sum(measure: str) -> bool:
    """Return whether a measure that is written out counts, instead of being averaged."""
    return measure not in MEASURES and isinstance(parse_measure(measure).aggregator(), SumAgg)


def sees_unjudged(measure: str) -> bool:
    """Return whether a measure tells unjudged documents from those of grade 0, by their ranks."""
    if measure in MEASURES:
        return False
    values = values_of(parsed := parse_measure(measure))
    level = values.get("rel")
    may_be_0 = (level is not None and level <= 0) or values.get("gains") is not None
    return parsed.NAME == "Judged" or may_be_0


def values_of_queries(measure: str, cutoff: Rank, options: Options, ranked: Ranked) -> Floats:
    """Compute the value of each query, rounded if the option rounding says so."""
    if measure not in MEASURES:
        parsed = parse_measure(measure)
        found = KERNELS[str(parsed.NAME)](ranked.rankings, **values_of(parsed))
    elif measure == "F1":
        found = _harmonic(
            *(ratio_of(*part, ranked).values for part in _precision_and_recall(cutoff, options))
        )
    else:
        found = ratio_of(measure, cutoff, options, ranked).values
    return ROUNDED[options["rounding"]](found) if options.get("rounding") in ROUNDED else found


ROUNDED: dict[str, Callable[[Floats], Floats]] = {
    "query_values": lambda found: np.floor(found * 100 + 0.5) / 100
}
"""The roundings of the values of queries; those of means are `FIRST_DIGITS`."""


# --- F1 ----------------------------------------------------------------------------------------------


def _precision_and_recall(cutoff: Rank, options: Options) -> list[tuple[str, Rank, Options]]:
    ranks = cutoff if isinstance(cutoff, tuple) else (cutoff, cutoff)
    of = {each: options[each] for each in ("level", "averaging", "precision", "recall")}
    return [("P", ranks[0], of), ("R", ranks[1], of)]


def _f1_of_queries(cutoff: Rank, options: Options, ranked: Ranked, sets: QuerySets) -> Floats:
    if options["averaging"] != "macro":
        return _f1_of_means(cutoff, options, ranked, sets)
    return sets.means(values_of_queries("F1", cutoff, options, ranked))


def _f1_of_means(cutoff: Rank, options: Options, ranked: Ranked, sets: QuerySets) -> Floats:
    return _harmonic(*(means_of(*part, ranked, sets) for part in _precision_and_recall(cutoff, options)))


F1: dict[str, Callable[[Rank, Options, Ranked, QuerySets], Floats]] = {
    "queries": _f1_of_queries,
    "means": _f1_of_means,
}
"""The mean of F1."""


def _harmonic(precision: Floats, recall: Floats) -> Floats:
    total = precision + recall
    empty = np.where(np.isnan(total), np.nan, 0.0)
    found: Floats = np.divide(2 * precision * recall, total, out=empty, where=total > 0)
    return found
