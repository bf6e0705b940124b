"""The mean of a measure by a convention: over which queries, of queries or groups, and micro averages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import SumAgg
from numpy.typing import NDArray

from permed_measures.conventions.options import MEASURES, GainTable, Options
from permed_measures.conventions.values import Labels, Ranked, ratio_of
from permed_measures.engine.judgments import Ints
from permed_measures.engine.kernels import KERNELS, MAX_EXPONENT
from permed_measures.measures.parameters import values_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.papers.names import Rank, both_of

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Groupings = Mapping[str, Ints]

_TURN = re.compile(r"(.+)_(?:turn_)?([0-9]+)")
GROUPS = {"conversations": 0, "turns": 1}
"""Which part of the id of a query says its group, where means are those of groups."""


def groupings_of(judged: Sequence[str], others: Sequence[str] = (), complete: bool = False) -> Groupings:
    """Return the group of each query by the means of groups that can be taken.

    Ids such as ``topic_001_2`` tell the conversation and the turn; there are both only if some judged queries
    share each, or if the groupings are to be `complete`. Of `others`, one whose id does not tell it is a
    group of its own.
    """
    parts = [match.groups() if (match := _TURN.fullmatch(each)) else None for each in (*judged, *others)]
    if not judged or None in parts[: len(judged)]:
        return {}
    texts = [each or (query, query) for each, query in zip(parts, (*judged, *others), strict=True)]
    columns = [np.unique(np.array(column), return_inverse=True)[1] for column in zip(*texts, strict=True)]
    numbers = [len(np.unique(column[: len(judged)])) for column in columns]
    if max(numbers) == len(judged) and not complete:
        return {}
    return {averaged: columns[part] for averaged, part in GROUPS.items()}


class Known(NamedTuple):
    """What is known of each query of the qrels, and then of each other one of the run.

    Attributes
    ----------
    judged, in_run, in_all_runs : ndarray of bool
    relevant : ndarray of bool
        Whether it has a relevant document.
    hit, found, listed, other : ndarray of bool
        Whether the run has a relevant document within the cutoff, or any, or any document, or one that is not
        relevant.
    """

    judged: Bools
    in_run: Bools
    in_all_runs: Bools
    relevant: Bools
    hit: Bools
    found: Bools
    listed: Bools
    other: Bools


QUERIES: dict[str, Callable[[Known], Bools]] = {
    "qrels": lambda of: of.judged,
    "both": lambda of: of.judged & of.in_run,
    "with_relevant": lambda of: of.relevant,
    "both_with_relevant": lambda of: of.relevant & of.in_run,
    "run": lambda of: of.in_run,
    "all_runs": lambda of: of.in_all_runs,
    "with_hit": lambda of: of.hit,
    "with_found": lambda of: of.found,
    "with_list": lambda of: of.listed,
    "with_relevant_and_list": lambda of: of.relevant & of.listed,
    "with_both_kinds": lambda of: of.found & of.other,
    "nothing_is_one": lambda of: of.judged & of.in_run,
    "with_list_nothing_is_one": lambda of: of.judged & of.listed,
}
"""Which queries count, by query set."""
NOTHING_IS_ONE = ("nothing_is_one", "with_list_nothing_is_one")
"""The query sets in which a query without relevant documents counts 1."""


@dataclass(frozen=True, eq=False)
class QuerySets:
    """What each query counts in the mean of each query set.

    Attributes
    ----------
    weights : ndarray, shape (number of query sets, number of queries of the qrels)
    sizes : ndarray, shape (number of query sets,)
        What the sum is divided by; 0 for a mean that cannot be taken.
    added : ndarray, shape (number of query sets, number of queries of the qrels)
        What queries without relevant documents add to the sum.
    pooled : ndarray of bool, shape (number of query sets,)
        Which have a micro average: there is none over queries without judgments, as how much was retrieved
        for them is not known, and none of groups.
    empty : float
        The mean over a query set without queries.
    """

    weights: Floats
    sizes: Floats
    added: Floats
    pooled: Bools
    empty: float = np.nan

    @classmethod
    def of(cls, known: Known, group: Ints | None, empty: float = np.nan) -> QuerySets:
        """Find them; means are those of groups where each query has one."""
        counted = np.array([rule(known) for rule in QUERIES.values()])
        n_judged = int(known.judged.sum())
        weights, sizes = counted.astype(np.float64), counted.sum(axis=1).astype(np.float64)
        if group is not None:
            n_of = np.array([np.bincount(group, each, minlength=group.max() + 1) for each in weights])
            weights /= np.maximum(n_of, 1)[:, group]
            sizes = (n_of > 0).sum(axis=1).astype(np.float64)
        added = np.zeros_like(weights)
        for at in map(place, NOTHING_IS_ONE):
            added[at] = weights[at] * ~known.relevant
        pooled = ~counted[:, n_judged:].any(axis=1) & (sizes > 0) & (group is None)
        return cls(weights[:, :n_judged], sizes, added[:, :n_judged], pooled, empty)

    def drawn(self, at: int, counts: Floats) -> QuerySets:
        """Return one of the query sets for each row of how often queries are drawn.

        What the sum is divided by is as much more or less as are the queries of the set that were drawn.
        """
        weights = counts * self.weights[at]
        sizes = weights.sum(axis=1) * (self.sizes[at] / max(self.weights[at].sum(), 1e-9))
        added = (counts @ self.added[at])[:, None]
        return QuerySets(weights, sizes, added, np.repeat(self.pooled[at], len(counts)))

    def means(self, values: Floats) -> Floats:
        """Return the mean over each query set; `empty` for one without queries."""
        total = self.weights @ values + self.added.sum(axis=1)
        empty = np.full(len(total), self.empty)
        found: Floats = np.divide(total, self.sizes, out=empty, where=self.sizes > 0)
        return found

    def sums(self, values: Floats) -> Floats:
        """Return the sum over each query set, for measures that count."""
        found: Floats = np.where(self.sizes > 0, (self.weights > 0) @ values, self.empty)
        return found

    def ratios(self, numerator: Floats, denominator: Floats | Ints) -> Floats:
        """Return a micro average: the sum of all numerators over that of all denominators."""
        total = self.weights @ denominator
        empty = np.where(self.pooled, 0.0, np.where(self.sizes > 0, np.nan, self.empty))
        found: Floats = np.divide(self.weights @ numerator, total, out=empty, where=self.pooled & (total > 0))
        return found


def place(queries: str) -> int:
    """Return the place of a query set among all."""
    return list(QUERIES).index(queries)


# --- means -----------------------------------------------------------------------------------------

_HIGHEST_HALF = 3
"""The highest grade that scripts for grades 0/1/2 are run on, with weights up to 1.5."""
_CAPPED_FROM = 2


def is_possible(options: Options, labels: Labels) -> bool:
    """Return whether these options of a measure mean something on these labels, which no other ones do.

    What surely equals another convention here is of no use to an audit. It is defined all the same, as
    `is_computable` says.
    """
    level = options.get("level", 0)  # of nDCG there is none
    if level > labels.top or not is_computable(options, labels) or not is_defined(options, labels.policy):
        return False
    weights = options.get("weights")
    if weights == "half":
        return labels.top <= _HIGHEST_HALF
    return weights != "capped" or labels.top > _CAPPED_FROM  # else it is g/2


def is_computable(options: Options, labels: Labels) -> bool:
    """Return whether these options of a measure are defined on these labels.

    A table must have a gain for each grade, and 2^g must be a number.
    """
    tables = [each for each in options.values() if isinstance(each, GainTable)]
    if not all(each.gains.keys() >= {*labels.grades} for each in tables):
        return False
    return "exp" not in (options.get("weights"), options.get("gain")) or labels.top <= MAX_EXPONENT


def is_defined(options: Options, policy: str) -> bool:
    """Return whether these options of a measure mean something on any labels, which no other ones do."""
    has_grades = options.get("level", 1) != 1 or options.get("weights") == "capped"
    if has_grades and policy in ("pool", "strict"):
        return False  # where all that are relevant are alike, there is one grade
    if any(options.get(option) == value for option, value in _AS_MACRO if is_micro(options)):
        return False
    may_be_tied = options.get("gain") != "first" and options.get("per_hit", "precision") == "precision"
    return options.get("tied", "in_order") == "in_order" or may_be_tied


_AS_MACRO = (
    *(("precision", "returned"), ("recall", "any"), ("recall", "all")),
    *(("ranks", "first"), ("ranks", "best"), ("ideal", "none")),
)
"""Values of options by which a micro average is no other than the mean."""


def is_micro(options: Options) -> bool:
    """Return whether a mean is a micro average; that of hits in the list is none."""
    return "micro" in (options.get("averaging"), options.get("pooling")) and options.get("success") != "any"


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
        is_count = isinstance(parse_measure(measure).aggregator(), SumAgg)
        return sets.sums(values) if is_count else sets.means(values)
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
        found = _f1(lambda part, k, of: ratio_of(part, k, of, ranked).values, cutoff, options)
    else:
        found = ratio_of(measure, cutoff, options, ranked).values
    return rounded(found, *ROUNDED[options["rounding"]]) if options.get("rounding") in ROUNDED else found


def rounded(values: Floats, digits: int, half: float = 0.5) -> Floats:
    """Round numbers to some digits after the point; up from this part of a unit on."""
    found: Floats = np.floor(values * 10.0**digits + half) / 10.0**digits
    return found


HALVES = {"down": 0.5 - 1e-7, "up": 0.5 + 1e-7}
"""The part of a unit from which numbers are rounded up, if the middle of a unit is rounded down or up."""
DIGITS = range(2, 9)
"""To how many digits the values of queries are rounded by scripts."""
ROUNDED: dict[Any, tuple[int, float]] = {
    "query_values": (2, 0.5),
    **{(n, way): (n, half) for n in DIGITS for way, half in HALVES.items()},
}
"""The roundings of the values of queries, by the option rounding; those of means are `FIRST_DIGITS`.

Those of `identify` to any number of digits are pairs of digits and a key of `HALVES`.
"""


# --- F1 ----------------------------------------------------------------------------------------------


def _f1(of: Callable[[str, Rank, Options], Floats], cutoff: Rank, options: Options) -> Floats:
    """Return the harmonic mean of precision and recall, each of which a function computes."""
    options = {each: options[each] for each in ("level", "averaging", "precision", "recall")}
    precision, recall = (of(name, k, options) for name, k in zip("PR", both_of(cutoff), strict=True))
    total = precision + recall
    empty = np.where(np.isnan(total), np.nan, 0.0)
    found: Floats = np.divide(2 * precision * recall, total, out=empty, where=total > 0)
    return found


def _f1_of_queries(cutoff: Rank, options: Options, ranked: Ranked, sets: QuerySets) -> Floats:
    if options["averaging"] != "macro":
        return _f1_of_means(cutoff, options, ranked, sets)
    return _macro("F1", cutoff, options, ranked, sets)


def _f1_of_means(cutoff: Rank, options: Options, ranked: Ranked, sets: QuerySets) -> Floats:
    return _f1(lambda part, k, of: means_of(part, k, of, ranked, sets), cutoff, options)


F1: dict[str, Callable[[Rank, Options, Ranked, QuerySets], Floats]] = {
    "queries": _f1_of_queries,
    "means": _f1_of_means,
}
"""The mean of F1."""
