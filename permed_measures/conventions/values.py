"""What a measure is by a convention: its value for each query and its mean, all by the kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, cast

import ir_measures
import numpy as np
from ir_measures.measures import Measure, SumAgg
from numpy.typing import NDArray

from permed_measures.conventions.options import MEASURES, OPTIONS, OPTIONS_OF, Options, value_of
from permed_measures.conventions.query_sets import QuerySets
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.kernels import KERNELS
from permed_measures.engine.kernels.checks import MAX_EXPONENT
from permed_measures.engine.kernels.graded import Spans
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.measures.definitions import Coverage, GradedAP, VariantNDCG
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
    level = max(options.get("ap_level", 1), options.get("level", 1))
    if labels.policy in ("pool", "strict") and {options.get("ap_level", 1), options.get("level", 1)} != {1}:
        return False  # where all that are relevant are alike, there is one grade
    if level > labels.top:
        return False
    if options.get("averaging") == "micro" and not _usual_denominators(options):
        return False
    weights = options.get("weights")
    if weights == "half":
        return labels.top <= _HIGHEST_HALF
    if weights == "capped":
        return labels.top > _CAPPED_FROM  # else it is g/2
    return "exp" not in (weights, options.get("gain")) or labels.top <= MAX_EXPONENT


def _usual_denominators(options: Options) -> bool:
    return (options.get("precision", "cutoff"), options.get("recall", "num_rel")) == ("cutoff", "num_rel")


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
    total = rankings.judgments.num_rel(options["level"]) if measure == "R" else _returned(rankings, rank)
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


_KERNEL_OF = {"AP": "GradedAP", "nDCG": "VariantNDCG"}
_PARAMETERS: dict[str, Callable[[Options, Labels], dict[str, Any]]] = {
    "AP": lambda options, labels: {
        "rel": options["ap_level"],
        "norm": options["denominator"],
        "max_rel": labels.top,
        "gains": {grade: WEIGHTS[options["weights"]](grade, labels.top) for grade in labels.grades},
    },
    "nDCG": lambda options, _: {each: options[each] for each in ("gain", "discount", "ideal", "negative")},
    "P": lambda options, _: {"rel": options["level"], "over": options["precision"]},
    "R": lambda options, _: {"rel": options["level"], "over": options["recall"]},
    "RR": lambda options, _: {"rel": options["level"]},
    "Success": lambda options, _: {"rel": options["level"]},
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


# --- names -------------------------------------------------------------------------------------------


def measure_of(measure: str, cutoff: Rank, options: Options, labels: Labels) -> Measure | None:
    """Return the measure as one would type it; None if ir_measures and we have none."""
    if measure not in MEASURES:
        return parse_measure(measure)
    found = _TYPED[measure](options, labels) if measure in _TYPED else _level(measure, options)
    if found is None:
        return None
    base, params = found
    typed = cast(Measure, base(**params)) if params else base
    return typed if cutoff is None else typed @ cutoff


def typed(measure: str, cutoff: Rank, options: Options, labels: Labels) -> str:
    """Write a measure as one would type it, or what is unusual of it in words."""
    found = measure_of(measure, cutoff, options, labels) if is_possible(options, labels) else None
    return str(found) if found is not None else in_a_paper([with_cutoff(measure, cutoff)], measure, options)


_Typed = tuple[Measure, dict[str, Any]] | None


def _ap(options: Options, labels: Labels) -> _Typed:
    """Return AP where it is that, GradedAP otherwise; AP over the cutoff has none."""
    level, weights, norm = _plain(options["ap_level"]), options["weights"], options["denominator"]
    if norm == "cutoff":
        return None
    params: dict[str, Any] = {} if level == 1 else {"rel": level}
    if weights == "binary" and norm == "num_rel" and isinstance(level, int):  # AP takes no other
        return ir_measures.AP, params
    if norm != "num_rel":
        params["norm"] = norm
    top = _plain(labels.top)
    weight = {_plain(g): WEIGHTS[weights](g, top) for g in labels.grades if g >= level}
    scales = (s for s in (2, top) if all(w == g / s and g <= s for g, w in weight.items()))
    scale = next(scales, None)
    if scale is None:
        params["gains"] = {grade: _plain(each) for grade, each in weight.items()}
    elif scale != 2:
        params["max_rel"] = scale
    return GradedAP, params


def _ndcg(options: Options, labels: Labels) -> _Typed:
    """Return nDCG where it is that, VariantNDCG otherwise; what few compute has neither."""
    gain, grades = options["gain"], [_plain(grade) for grade in labels.grades]
    plain = (options["discount"], options["ideal"]) == ("log2", "qrels")
    if options["tied"] != "in_order" or options["ideal"] not in ("qrels", "run", "cutoff"):
        return None
    if gain == "binary" and grades == [1]:
        gain = "linear"
    if gain == "binary":
        if not plain or not all(isinstance(grade, int) for grade in grades):
            return None
        gains = {grade: 1 for grade in grades if grade != 1}  # a grade that is left out is its own gain
        return ir_measures.nDCG, {"gains": gains} if gains else {}
    if plain and options["negative"] == "zero":
        return ir_measures.nDCG, {"dcg": "exp-log2"} if gain == "exp" else {}
    given = {**{each: options[each] for each in ("discount", "ideal", "negative")}, "gain": gain}
    params = {name: given.get(name) for name in VariantNDCG.SUPPORTED_PARAMS if name in given}
    default = {name: info.default for name, info in VariantNDCG.SUPPORTED_PARAMS.items()}
    return VariantNDCG, {name: value for name, value in params.items() if value != default[name]}


_TYPED = {"AP": _ap, "nDCG": _ndcg}
_BASES = {"P": ir_measures.P, "R": ir_measures.R, "RR": ir_measures.RR, "Success": Coverage}


def _level(measure: str, options: Options) -> _Typed:
    """Return P, R, RR or Coverage; other denominators have none, nor have levels between whole grades."""
    level = _plain(options["level"])
    usual = {"precision": "cutoff", "recall": "num_rel", "averaging": "macro"}
    unusual = any(options[each] != usual[each] for each in OPTIONS_OF[measure] if each in usual)
    if measure == "F1" or unusual or (measure != "Success" and not isinstance(level, int)):
        return None
    return _BASES[measure], {} if level == 1 else {"rel": level}


def _plain(value: float) -> float | int:
    """Return a whole number as an integer."""
    return int(value) if value == int(value) else value


def with_cutoff(measure: str, rank: Rank) -> str:
    """Write the name of a measure with its cutoff, or with both that it has."""
    if isinstance(rank, tuple):
        if rank[0] != rank[1]:
            return f"F1 of P@{rank[0]} and R@{rank[1]}"
        rank = rank[0]
    return measure + ("" if rank is None else f"@{rank}")


def in_a_paper(names: list[str], measure: str, options: Options) -> str:
    """Write measures as a paper says how they are computed: nDCG@10 with linear gains, log2 discount."""
    phrases = [
        value_of(option, value).phrase
        or (f"relevant from grade {value:g} on" if _is_level(option, value) else "")
        for option, value in options.items()
    ]
    said = [each for each in phrases if each]
    what = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return f"{what} {_JOINED.get(measure, '')}{', '.join(said)}" if said else what


_JOINED = {"AP": "with ", "nDCG": "with "}


def _is_level(option: str, value: Any) -> bool:
    return not OPTIONS[option].values and value != 1
