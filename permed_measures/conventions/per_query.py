"""What the values of options compute for each query: what is summed, and what the sum is divided by.

`options.py` says which value computes what.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.arrays import Floats, Ints
from permed_measures.engine.judgments import (
    Judgments,
    divide,
    map_gains,
    position_in_query,
    running_sum,
    sums,
)
from permed_measures.engine.kernels import graded
from permed_measures.engine.rankings import JudgedRankings, Relevant

# The names of the options that measures have.
LEVEL, WEIGHTS, DENOMINATOR, PER_HIT, TIED = "level", "weights", "denominator", "per_hit", "tied"
GAIN, DISCOUNT, IDEAL, NEGATIVE = "gain", "discount", "ideal", "negative"
PRECISION, RECALL, RANKS, SUCCESS = "precision", "recall", "ranks", "success"


@dataclass(frozen=True, eq=False)
class LabelPolicy:
    """Judgments under a label policy, and their relevant grades."""

    policy: str
    judgments: Judgments
    grades: tuple[float, ...]
    _cache: dict[object, Floats] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, policy: str, judgments: Judgments) -> LabelPolicy:
        """Find the relevant grades."""
        return cls(policy, judgments, tuple(np.unique(judgments.grade[judgments.grade > 0]).tolist()))

    def __reduce__(self) -> tuple[type[LabelPolicy], tuple[str, Judgments, tuple[float, ...]]]:
        """Write what it was made of: what was computed may be by functions that have no name."""
        return LabelPolicy, (self.policy, self.judgments, self.grades)

    def cached(self, compute: Callable[..., Floats], *options: object) -> Floats:
        """Compute what depends on the judgments and some options alone, whatever is ranked."""
        key = (compute, *options)
        if key not in self._cache:
            self._cache[key] = compute(self, *options)
        return self._cache[key]

    @cached_property
    def ideal(self) -> JudgedRankings:
        """All judged documents, by grade descending."""
        return JudgedRankings.ideal(self.judgments, self.judgments.grade)

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


def all_relevant(judgments: Judgments) -> Judgments:
    """Return judgments in which every judged document has grade 1."""
    return replace(judgments, grade=np.ones_like(judgments.grade))


def strict(judgments: Judgments) -> Judgments:
    """Return judgments in which grades from 2 on are 1, and others 0."""
    kept = np.where(judgments.grade >= _STRICT, 1, np.minimum(judgments.grade, 0))
    return replace(judgments, grade=kept.astype(np.float64))


def has_strict(judgments: Judgments) -> bool:
    """Return whether any document is relevant in strict judgments."""
    return bool(judgments.num_rel(_STRICT).any())


class TieRankRange(NamedTuple):
    """The first and the last rank that each hit could have among the documents with its score."""

    first: Ints
    last: Ints


class LabelledRanking(NamedTuple):
    """A ranking under a label policy; `tie_ranks` is None if it has no ties or they are unknown."""

    labels: LabelPolicy
    rankings: JudgedRankings
    tie_ranks: TieRankRange | None = None


class NeedsRunError(Exception):
    """What is computed depends on a run, and there is none."""


@dataclass(frozen=True, eq=False)
class KernelInput:
    """What a measure is computed from.

    Attributes
    ----------
    cutoff : int or None
    by : mapping
        What the value of each option computes; of a relevance level the grade itself.
    labels : Labels
    ranked : Ranked or None
        What is ranked; None if only the qrels are known.
    """

    cutoff: int | None
    by: Mapping[str, Any]
    labels: LabelPolicy
    ranked: LabelledRanking | None = None

    @property
    def rankings(self) -> JudgedRankings:
        """The judged documents that were retrieved.

        Raises
        ------
        NeedsRunError
            If only the qrels are known.
        """
        if self.ranked is None:
            raise NeedsRunError
        return self.ranked.rankings

    @property
    def tie_ranks(self) -> TieRankRange | None:
        """The ranks that tied hits could have, None without any."""
        return None if self.ranked is None else self.ranked.tie_ranks

    @property
    def level(self) -> float:
        """The lowest relevant grade."""
        return float(self.by[LEVEL])

    @property
    def hits(self) -> Relevant:
        """The relevant documents within the cutoff."""
        return self.rankings.relevant(self.level, self.cutoff)

    @property
    def num_rel_ret(self) -> Floats:
        """How many relevant documents each query has within the cutoff."""
        return self.rankings.num_rel_ret(self.level, self.cutoff)

    @property
    def num_rel(self) -> Ints:
        """How many relevant documents each query has."""
        return self.labels.judgments.num_rel(self.level)

    @property
    def returned(self) -> Ints:
        """How many documents each query has within the cutoff."""
        return self.capped(self.rankings.retrieved)

    @property
    def ranks(self) -> Ints:
        """How many ranks each query has: the cutoff, or as many as there are documents."""
        if self.cutoff is None:
            return self.rankings.retrieved
        return np.full(self.labels.judgments.n_queries, self.cutoff)

    @property
    def ones(self) -> Floats:
        """A one for each query."""
        return np.ones(self.labels.judgments.n_queries)

    def capped(self, numbers: Ints) -> Ints:
        """Return the smaller of a number and the cutoff."""
        return numbers if self.cutoff is None else np.minimum(numbers, self.cutoff)


class Ratio(NamedTuple):
    """What is summed for each query, and what the sum is divided by."""

    numerator: Floats
    denominator: Floats | Ints

    @property
    def values(self) -> Floats:
        """The value of each query: 0 where there is nothing to divide by."""
        return divide(self.numerator, self.denominator)


# --- average precision -----------------------------------------------------------------------------

Weight = Callable[[float, float], float]
"""The weight of a grade in AP, given the highest one."""


def exp_weight(grade: float, top: float) -> float:
    """Return what a grade gains exponentially, over that of the highest one."""
    return float((2**grade - 1) / (2**top - 1))


def weights_of(weight: Weight, labels: LabelPolicy) -> dict[float, float]:
    """Return the weight of each relevant grade in AP."""
    return {grade: weight(grade, labels.top) for grade in labels.grades}


def _to_the_end(hits: Relevant, ends: Ints) -> Floats:
    """Return the sum of 1/i from the rank of each hit to the end of its list."""
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, ends.max(initial=1) + 1))])
    found: Floats = harmonic[ends[hits.query]] - harmonic[hits.rank - 1]
    return found


Discount = Callable[[NDArray[np.int32]], Floats]
"""What gains are multiplied by at ranks."""


class Factor(Enum):
    """What the number of relevant documents above makes of the weight of a document."""

    ONE = auto()
    """Nothing: each document adds its weight."""
    FIRST = auto()
    """The first relevant document alone adds its weight."""
    FOUND = auto()
    """The number of relevant documents down to it multiplies the weight, as in precision."""


class Summand(NamedTuple):
    """What a document adds to a sum over ranks, besides its weight.

    Attributes
    ----------
    factor : Factor
    discount : callable, optional
        Of each rank, as an array; 1 if left out.
    to_num_rel : bool
        Whether nothing counts below rank R, the number of relevant documents of the query.
    """

    factor: Factor
    discount: Discount | None = None
    to_num_rel: bool = False


class PerHit(NamedTuple):
    """What hits add to AP, by their weights; and the same as a sum over ranks, if it is one at a cutoff."""

    compute: Callable[[Relevant, Floats, KernelInput], Floats]
    as_sum: Callable[[int | None], Summand | None] = lambda _: None


RECIPROCAL = graded.DISCOUNTS["zipf"]
"""One over the rank."""


@cache
def _reciprocals_to(cutoff: int) -> Discount:
    """Return what gives the sum of 1/i from each rank to the cutoff."""
    to_end = np.cumsum(1 / np.arange(cutoff, 0, -1))[::-1]

    def discount(ranks: NDArray[np.int32]) -> Floats:
        found: Floats = np.where(ranks <= cutoff, to_end[np.minimum(ranks, cutoff) - 1], 0.0)
        return found

    return discount


PRECISION_AT_HIT = PerHit(
    lambda hits, weight, _: hits.found / hits.rank * weight, lambda _: Summand(Factor.FOUND, RECIPROCAL)
)
RECIPROCAL_OF_HIT = PerHit(
    lambda hits, weight, _: 1 / hits.rank * weight, lambda _: Summand(Factor.ONE, RECIPROCAL)
)
SUMMED_WEIGHTS = PerHit(
    lambda hits, weight, inputs: running_sum(hits.query, weight, inputs.rankings.n_queries) / hits.rank
)
PRECISION_AT_EVERY_RANK = PerHit(
    lambda hits, weight, inputs: weight * _to_the_end(hits, inputs.ranks),
    lambda cutoff: None if cutoff is None else Summand(Factor.ONE, _reciprocals_to(cutoff)),
)
TRAPEZOIDS = PerHit(
    lambda hits, weight, _: (hits.found / hits.rank + _precision_above(hits)) / 2 * weight,
)
PRECISION_TO_NUM_REL = PerHit(
    lambda hits, weight, inputs: hits.found / hits.rank * weight * (hits.rank <= inputs.num_rel[hits.query])
)
PRECISION_AT_EVERY_DOCUMENT = PerHit(lambda hits, weight, inputs: weight * _to_the_end(hits, inputs.returned))


def _precision_above(hits: Relevant) -> Floats:
    """Return the precision just above each hit, which is 1 above the first rank."""
    above = hits.rank - 1
    found: Floats = np.divide(hits.found - 1, above, out=np.ones(len(above)), where=above > 0)
    return found


def _summed(labels: LabelPolicy, cutoff: int | None, level: float, weight: Weight | None) -> Floats:
    """Return the sum of the largest weights of the relevant documents, or of their largest grades."""
    judgments = labels.judgments
    rows = judgments.grade >= level
    query, grade = judgments.query[rows], judgments.grade[rows]
    weights = grade if weight is None else map_gains(grade, weights_of(weight, labels))
    order = np.lexsort((-weights, query))
    top = position_in_query(query, judgments.n_queries) <= (cutoff or len(query))
    return sums(query[top], weights[order][top], judgments.n_queries)


def all_weights(inputs: KernelInput) -> Floats:
    """Return the summed weight of the relevant documents."""
    return inputs.labels.cached(_summed, None, inputs.level, inputs.by[WEIGHTS])


def ideal_weights(inputs: KernelInput) -> Floats:
    """Return the summed weight of the ideal list."""
    return inputs.labels.cached(_summed, inputs.cutoff, inputs.level, inputs.by[WEIGHTS])


def ideal_grades(inputs: KernelInput) -> Floats:
    """Return the summed grades of the ideal list."""
    return inputs.labels.cached(_summed, inputs.cutoff, inputs.level, None)


def hits_in_order(inputs: KernelInput) -> Relevant:
    """Return the hits as they are ranked."""
    return inputs.hits


def hits_as_one_step(inputs: KernelInput) -> Relevant:
    """Return hits with the rank and the count at the end of the documents with their score."""
    hits, rankings, tie_ranks = inputs.hits, inputs.rankings, inputs.tie_ranks
    if tie_ranks is None:
        return hits
    cutoff = inputs.cutoff or tie_ranks.last.max()
    last = tie_ranks.last[(rankings.grade >= inputs.level) & (rankings.rank <= cutoff)]
    start = hits.query * (last.max(initial=0) + 1)
    every = np.sort(start + last)
    found = np.searchsorted(every, start + last, "right") - np.searchsorted(every, start)
    return hits._replace(rank=np.minimum(last, cutoff).astype(np.int32), found=found)


def average_precision_ratio(inputs: KernelInput) -> Ratio:
    """Return what the hits add, and what that is divided by."""
    hits = inputs.by[TIED].hits(inputs)
    weight = map_gains(hits.grade, weights_of(inputs.by[WEIGHTS], inputs.labels))
    added = inputs.by[PER_HIT].compute(hits, weight, inputs)
    return Ratio(sums(hits.query, added, inputs.rankings.n_queries), inputs.by[DENOMINATOR](inputs))


# --- discounted cumulated gain ---------------------------------------------------------------------


class Gain(NamedTuple):
    """What a grade gains in nDCG: each document, or the first of a list that gains anything."""

    of_grades: Callable[[Floats], Floats]
    of_first: bool = False


def _gain_of(grade: Floats, gain: Gain, negative: Callable[[Floats], Floats]) -> Floats:
    return gain.of_grades(negative(grade))


def is_relevant(grade: Floats) -> Floats:
    """Return 1 for each grade from 1 on, else 0."""
    return (grade >= 1).astype(np.float64)


def _of_dcg(inputs: KernelInput) -> tuple[Any, Any, Any]:
    return inputs.by[GAIN], inputs.by[NEGATIVE], inputs.by[DISCOUNT]


def _dcg(rows: JudgedRankings, gain: Gain, negative: Any, discount: Any) -> Floats:
    """Compute DCG."""
    gained = _gain_of(rows.grade, gain, negative)
    if gain.of_first:
        gained *= running_sum(rows.query, gained, rows.n_queries) == 1
    return graded.dcg(rows, gained, discount)


def dcg_in_order(inputs: KernelInput) -> Floats:
    """Compute DCG of the documents as they are ranked."""
    return _dcg(inputs.rankings.within(inputs.cutoff), *_of_dcg(inputs))


def _discounts_up_to(n: int, inputs: KernelInput) -> Floats:
    """Return the sum of the discounts of no rank, of rank 1, of ranks 1 and 2, … up to n."""
    discounts = inputs.by[DISCOUNT](np.arange(1, n + 1, dtype=np.int32))
    return np.concatenate([[0.0], np.cumsum(discounts)])


def averaged_dcg(inputs: KernelInput) -> Floats:
    """Compute DCG where each document gains the mean over the ranks that it could have."""
    rankings, tie_ranks = inputs.rankings, inputs.tie_ranks
    if tie_ranks is None:
        return dcg_in_order(inputs)
    before = _discounts_up_to(tie_ranks.last.max(), inputs)
    first, last = inputs.capped(tie_ranks.first - 1), inputs.capped(tie_ranks.last)
    share = (before[last] - before[first]) / (tie_ranks.last - tie_ranks.first + 1)
    gained = _gain_of(rankings.grade, inputs.by[GAIN], inputs.by[NEGATIVE])
    return sums(rankings.query, gained * share, rankings.n_queries)


class Tied(NamedTuple):
    """What tied scores do in AP and in nDCG."""

    hits: Callable[[KernelInput], Relevant] = hits_in_order
    dcg: Callable[[KernelInput], Floats] = dcg_in_order


def _of_qrels(labels: LabelPolicy, cutoff: int | None, *of_dcg: Any) -> Floats:
    return _dcg(labels.ideal.within(cutoff), *of_dcg)


def ideal_of_qrels(inputs: KernelInput) -> Floats:
    """Return the DCG of all judged documents, cut as the list is."""
    return inputs.labels.cached(_of_qrels, inputs.cutoff, *_of_dcg(inputs))


def ideal_uncut(inputs: KernelInput) -> Floats:
    """Return the DCG of all judged documents."""
    return inputs.labels.cached(_of_qrels, None, *_of_dcg(inputs))


def ideal_as_long_as_returned(inputs: KernelInput) -> Floats:
    """Return the DCG of the best judged documents, as many as were returned within the cutoff."""
    returned, best = inputs.returned, inputs.labels.ideal
    return _dcg(best.keep(best.rank <= returned[best.query]), *_of_dcg(inputs))


def ideal_of_run(inputs: KernelInput) -> Floats:
    """Return the DCG of the retrieved documents, sorted by grade."""
    return _dcg(graded.IDEALS["run"](inputs.rankings, inputs.cutoff), *_of_dcg(inputs))


def ideal_of_cutoff(inputs: KernelInput) -> Floats:
    """Return the DCG of the documents within the cutoff, sorted by grade."""
    return _dcg(graded.IDEALS["cutoff"](inputs.rankings, inputs.cutoff), *_of_dcg(inputs))


def ideal_of_ones(inputs: KernelInput) -> Floats:
    """Return the DCG of a list of ones, as long as the cutoff or else as the list."""
    return _discounts_up_to(inputs.ranks.max(initial=0), inputs)[inputs.ranks]


def ndcg_ratio(inputs: KernelInput) -> Ratio:
    """Return DCG, and that of the ideal list."""
    return Ratio(inputs.by[TIED].dcg(inputs), inputs.by[IDEAL](inputs))


# --- hits within the cutoff ------------------------------------------------------------------------


class Hits(NamedTuple):
    """What is counted of the hits of each query; and the same as a sum over ranks, if it is one."""

    compute: Callable[[KernelInput], Floats]
    as_sum: Summand | None = None


class Over(NamedTuple):
    """What is counted of the hits, and what that is divided by."""

    hits: Hits
    denominator: Callable[[KernelInput], Floats | Ints]

    def ratio(self, inputs: KernelInput) -> Ratio:
        """Compute both."""
        return Ratio(self.hits.compute(inputs), self.denominator(inputs))


def _all_found(inputs: KernelInput) -> Floats:
    are_all = (inputs.num_rel_ret == inputs.num_rel) & (inputs.num_rel > 0)
    return np.asarray(are_all, np.float64)


def _reciprocals(hits: Relevant, inputs: KernelInput) -> Floats:
    return sums(hits.query, 1 / hits.rank, inputs.rankings.n_queries)


def _reciprocal_of_first(inputs: KernelInput) -> Floats:
    hits = inputs.hits
    return _reciprocals(Relevant(*(each[hits.found == 1] for each in hits)), inputs)


def _middle_rank_of_first(inputs: KernelInput) -> Floats:
    """Return the middle rank of the documents with the score of the first relevant one; infinity for none."""
    rankings, tie_ranks = inputs.rankings, inputs.tie_ranks
    ranks = rankings.rank.astype(np.float64) if tie_ranks is None else (tie_ranks.first + tie_ranks.last) / 2
    first = np.full(rankings.n_queries, np.inf)
    relevant_rows = rankings.grade >= inputs.level
    np.minimum.at(first, rankings.query[relevant_rows], ranks[relevant_rows])
    return np.where(first <= (inputs.cutoff or np.inf), first, np.inf)


def _reciprocal_of_best(inputs: KernelInput) -> Floats:
    """Return one over the rank of the first document with the highest grade of its list."""
    rankings = inputs.rankings
    highest = np.zeros(rankings.n_queries)
    np.maximum.at(highest, rankings.query, rankings.grade)
    best = rankings.keep(rankings.grade == highest[rankings.query])
    return _reciprocal_of_first(replace(inputs, ranked=LabelledRanking(inputs.labels, best)))


NUMBER_FOUND = Hits(lambda inputs: inputs.num_rel_ret, Summand(Factor.ONE))
ANY_FOUND = Hits(lambda inputs: (inputs.num_rel_ret > 0).astype(np.float64), Summand(Factor.FIRST))
ALL_FOUND = Hits(_all_found)
RECIPROCALS = Hits(lambda inputs: _reciprocals(inputs.hits, inputs), Summand(Factor.ONE, RECIPROCAL))
RECIPROCAL_OF_FIRST = Hits(_reciprocal_of_first, Summand(Factor.FIRST, RECIPROCAL))
RECIPROCAL_OF_BEST = Hits(_reciprocal_of_best)
RECIPROCAL_OF_MIDDLE = Hits(lambda inputs: 1 / _middle_rank_of_first(inputs))
MIDDLE_FOUND = Hits(lambda inputs: np.isfinite(_middle_rank_of_first(inputs)).astype(np.float64))


def relevant(inputs: KernelInput) -> Ints:
    """Return the number of relevant documents."""
    return inputs.num_rel


def smaller(inputs: KernelInput) -> Ints:
    """Return the smaller of the number of relevant documents and the cutoff."""
    return inputs.capped(inputs.num_rel)


def smaller_at_each_rank(inputs: KernelInput) -> Floats:
    """Return the smaller of the number of relevant documents and the rank, summed over the list."""
    least = np.minimum(inputs.num_rel, inputs.returned)
    found: Floats = least * (least + 1) / 2 + (inputs.returned - least) * inputs.num_rel
    return found


def one(inputs: KernelInput) -> Floats:
    """Return a one for each query."""
    return inputs.ones
