"""What a measure is by a convention: its value for each query and its mean, all by the kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
from ir_measures.measures import SumAgg
from numpy.typing import NDArray

from permed_measures.conventions.options import MEASURES, Options
from permed_measures.conventions.query_sets import QuerySets
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.kernels import KERNELS
from permed_measures.engine.kernels.checks import MAX_EXPONENT
from permed_measures.engine.kernels.graded import Spans
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.measures.parameters import values_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.papers.names import Rank

Floats = NDArray[np.float64]


# --- labels ------------------------------------------------------------------------------------------


class Labels(NamedTuple):
    """Judgments under a label policy, and their relevant grades."""

    policy: str
    judgments: Judgments
    grades: tuple[float, ...]

    @classmethod
    def of(cls, policy: str, judgments: Judgments) -> Labels:
        """Find the relevant grades."""
        return cls(policy, judgments, tuple(np.unique(judgments.grade[judgments.grade > 0]).tolist()))

    @property
    def top(self) -> float:
        """The highest relevant grade."""
        return max(self.grades, default=1.0)

    @property
    def levels(self) -> tuple[float, ...]:
        """The relevance levels to try, 1 first."""
        return (1.0, *(grade for grade in self.grades if grade != 1))[:_LEVELS]


_LEVELS = 20
_STRICT = 2
"""The lowest grade that is relevant where partly relevant documents are not."""


def label_policies(judgments: Judgments) -> list[Labels]:
    """Return the judgments under each label policy that needs no run, as they are first."""
    pool = replace(judgments, grade=np.ones_like(judgments.grade))
    policies = {"grades": judgments, "pool": pool}
    if judgments.num_rel(_STRICT).any():
        kept = np.where(judgments.grade >= _STRICT, 1, np.minimum(judgments.grade, 0))
        policies["strict"] = replace(judgments, grade=kept.astype(np.float64))
    return [Labels.of(policy, each) for policy, each in policies.items()]


# --- values ------------------------------------------------------------------------------------------


class Ranked(NamedTuple):
    """A ranking under a label policy; `spans` are the ranks that tied hits could have, None without any."""

    labels: Labels
    rankings: JudgedRankings
    spans: Spans | None = None


WEIGHTS: dict[str, Callable[[float, float], float]] = {
    "binary": lambda _, __: 1.0,
    "linear": lambda grade, top: grade / top,
    "half": lambda grade, _: grade / 2,
    "capped": lambda grade, _: min(grade / 2, 1.0),
    "exp": lambda grade, top: float((2**grade - 1) / (2**top - 1)),
}
"""The weight of a grade in AP, given the highest one."""
_HIGHEST_HALF = 3
"""The highest grade that scripts for grades 0/1/2 are run on, with weights up to 1.5."""
_CAPPED_FROM = 2


def is_possible(options: Options, labels: Labels) -> bool:
    """Return whether these options of a measure mean something on these labels."""
    level = options.get("level", 1)
    if labels.policy in ("pool", "strict") and level != 1:
        return False  # where all that are relevant are alike, there is one grade
    if level > labels.top:
        return False
    if options.get("averaging") == "micro" and not _has_micro_average(options):
        return False
    weights = options.get("weights")
    if weights == "half":
        return labels.top <= _HIGHEST_HALF
    if weights == "capped":
        return labels.top > _CAPPED_FROM  # else it is g/2
    return "exp" not in (weights, options.get("gain")) or labels.top <= MAX_EXPONENT


def _has_micro_average(options: Options) -> bool:
    return options.get("precision", "cutoff") != "returned" and options.get("recall", "num_rel") in (
        "num_rel",
        "min",
    )


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
    averaging = options.get("averaging", "macro")
    if averaging == "macro":
        values = values_of_queries(measure, cutoff, options, ranked)
        return sets.sums(values) if is_sum(measure) else sets.means(values)
    if measure == "F1":
        parts = _precision_and_recall(cutoff, options)
        return _harmonic(*(means_of(*part, ranked, sets) for part in parts))
    rankings, rank = ranked.rankings, cast(int | None, cutoff)
    num_rel = rankings.judgments.num_rel(options["level"])
    total = num_rel if measure == "R" else _returned(rankings, rank)
    if "min" in (options.get("precision"), options.get("recall")):
        total = num_rel if rank is None else np.minimum(num_rel, rank)
    return sets.ratios(rankings.num_rel_ret(options["level"], rank), total.astype(np.float64))


def is_sum(measure: str) -> bool:
    """Return whether a measure that is written out counts, instead of being averaged."""
    return measure not in MEASURES and isinstance(parse_measure(measure).aggregator(), SumAgg)


def values_of_queries(measure: str, cutoff: Rank, options: Options, ranked: Ranked) -> Floats:
    """Compute the value of each query, rounded to two digits if the option rounding says so."""
    found = _values_of_queries(measure, cutoff, options, ranked)
    if options.get("rounding") != "query_values":
        return found
    rounded: Floats = np.floor(found * 100 + 0.5) / 100
    return rounded


def _values_of_queries(measure: str, cutoff: Rank, options: Options, ranked: Ranked) -> Floats:
    if measure == "F1":
        parts = _precision_and_recall(cutoff, {**options, "averaging": "macro"})
        return _harmonic(*(_values_of_queries(*part, ranked) for part in parts))
    kernel, params = kernel_of(measure, cutoff, options, ranked.labels)
    if options.get("tied") == "averaged":
        params["spans"] = ranked.spans
    return KERNELS[kernel](ranked.rankings, **params)


def kernel_of(measure: str, cutoff: Rank, options: Options, labels: Labels) -> tuple[str, dict[str, Any]]:
    """Return the kernel of a measure that is computed by one, and its parameters but for the rankings'."""
    if measure not in MEASURES:
        parsed = parse_measure(measure)
        return str(parsed.NAME), values_of(parsed)
    params = {"cutoff": cutoff, "judged_only": False, **_PARAMETERS[measure](options, labels)}
    return _KERNEL_OF.get(measure, measure), params


_KERNEL_OF = {"AP": "GradedAP", "nDCG": "VariantNDCG", "Success": "R"}
_PARAMETERS: dict[str, Callable[[Options, Labels], dict[str, Any]]] = {
    "AP": lambda options, labels: {
        "rel": options["level"],
        "norm": options["denominator"],
        "per_hit": options["per_hit"],
        "max_rel": labels.top,
        "gains": {grade: WEIGHTS[options["weights"]](grade, labels.top) for grade in labels.grades},
    },
    "nDCG": lambda options, _: {each: options[each] for each in ("gain", "discount", "ideal", "negative")},
    "P": lambda options, _: {"rel": options["level"], "over": options["precision"]},
    "R": lambda options, _: {"rel": options["level"], "over": options["recall"]},
    "RR": lambda options, _: {"rel": options["level"], "ranks": options["ranks"]},
    "Success": lambda options, _: {"rel": options["level"], "over": options["success"]},
}
"""The parameters of the kernel of each measure."""


def _returned(rankings: JudgedRankings, rank: int | None) -> NDArray[np.int64]:
    """Return how many documents each query has within the cutoff."""
    return rankings.retrieved if rank is None else np.minimum(rankings.retrieved, rank)


def _precision_and_recall(cutoff: Rank, options: Options) -> list[tuple[str, Rank, Options]]:
    ranks = cutoff if isinstance(cutoff, tuple) else (cutoff, cutoff)
    averaging = "micro" if options["averaging"] == "micro" else "macro"
    of = {"level": options["level"], "averaging": averaging, "precision": "cutoff", "recall": "num_rel"}
    return [("P", ranks[0], of), ("R", ranks[1], of)]


def _harmonic(precision: Floats, recall: Floats) -> Floats:
    total = precision + recall
    empty = np.where(np.isnan(total), np.nan, 0.0)
    found: Floats = np.divide(2 * precision * recall, total, out=empty, where=total > 0)
    return found
