"""Compute measures query by query, as a numerator and a denominator.

`records.py` says which value of an option uses which of these functions.
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
    """Judgments under a label policy, such as strict labels."""

    policy: str
    judgments: Judgments
    _cache: dict[object, Floats] = field(default_factory=dict, init=False, repr=False)

    def __reduce__(self) -> tuple[type[LabelPolicy], tuple[str, Judgments]]:
        """Pickle without the cache: its keys may be lambdas, which cannot be pickled."""
        return LabelPolicy, (self.policy, self.judgments)

    def cached(self, compute: Callable[..., Floats], *options: object) -> Floats:
        """Compute an array that depends on the judgments and these options alone, once for all rankings."""
        key = (compute, *options)
        if key not in self._cache:
            self._cache[key] = compute(self, *options)
        return self._cache[key]

    @cached_property
    def grades(self) -> tuple[float, ...]:
        """The relevant grades, ascending."""
        return tuple(np.unique(self.judgments.grade[self.judgments.grade > 0]).tolist())

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
STRICT_LEVEL = 2
"""The lowest relevant grade of strict labels."""


def all_relevant(judgments: Judgments) -> Judgments:
    """Give every judged document grade 1."""
    return replace(judgments, grade=np.ones_like(judgments.grade))


def strict(judgments: Judgments) -> Judgments:
    """Binarise grades: those from 2 on become 1, lower ones 0; negative grades stay."""
    grade = np.where(judgments.grade >= STRICT_LEVEL, 1, np.minimum(judgments.grade, 0))
    return replace(judgments, grade=grade.astype(np.float64))


def has_strict(judgments: Judgments) -> bool:
    """Check whether any document is relevant under strict labels."""
    return bool(judgments.num_rel(STRICT_LEVEL).any())


class TieRankRange(NamedTuple):
    """The first and the last rank that each hit could have, by the order of its tie."""

    first: Ints
    last: Ints


class LabelledRanking(NamedTuple):
    """A ranking under a label policy; `tie_ranks` is None if there are no ties or they are unknown."""

    labels: LabelPolicy
    rankings: JudgedRankings
    tie_ranks: TieRankRange | None = None


class NeedsRunError(Exception):
    """A computation needs a run, but only the qrels are known."""


@dataclass(frozen=True, eq=False)
class KernelInput:
    """The inputs of a measure.

    Attributes
    ----------
    cutoff : int or None
    by : mapping
        The function behind the value of each option; for a relevance level, the grade itself.
    labels : LabelPolicy
    ranked : LabelledRanking or None
        None if only the qrels are known.
    """

    cutoff: int | None
    by: Mapping[str, Any]
    labels: LabelPolicy
    ranked: LabelledRanking | None = None

    @property
    def rankings(self) -> JudgedRankings:
        """The ranks of the retrieved judged documents.

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
        """The ranks that tied hits could have; None if there are no ties or they are unknown."""
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
        """The number of relevant documents of each query within the cutoff."""
        return self.rankings.num_rel_ret(self.level, self.cutoff)

    @property
    def num_rel(self) -> Ints:
        """The number of relevant documents of each query."""
        return self.labels.judgments.num_rel(self.level)

    @property
    def returned(self) -> Ints:
        """The number of retrieved documents of each query within the cutoff."""
        return self.capped(self.rankings.retrieved)

    @property
    def ranks(self) -> Ints:
        """The number of ranks of each query: the cutoff, or without one the length of its list."""
        if self.cutoff is None:
            return self.rankings.retrieved
        return np.full(self.labels.judgments.n_queries, self.cutoff)

    @property
    def ones(self) -> Floats:
        """A one for each query."""
        return np.ones(self.labels.judgments.n_queries)

    def capped(self, numbers: Ints) -> Ints:
        """Limit numbers to the cutoff, if there is one."""
        return numbers if self.cutoff is None else np.minimum(numbers, self.cutoff)


class Ratio(NamedTuple):
    """The numerator and the denominator of each query."""

    numerator: Floats
    denominator: Floats | Ints

    @property
    def values(self) -> Floats:
        """The value of each query; 0 where the denominator is 0."""
        return divide(self.numerator, self.denominator)


# --- average precision -----------------------------------------------------------------------------

Weight = Callable[[float, float], float]
"""The weight of a grade in AP, given the highest one."""


def exp_weight(grade: float, top: float) -> float:
    """Compute (2^g - 1) of a grade over (2^g - 1) of the highest grade."""
    return float((2**grade - 1) / (2**top - 1))


def weights_of(weight: Weight, labels: LabelPolicy) -> dict[float, float]:
    """Compute the weight of each relevant grade in AP."""
    return {grade: weight(grade, labels.top) for grade in labels.grades}


def _to_the_end(hits: Relevant, ends: Ints) -> Floats:
    """Sum 1/i over the ranks i from each hit to the end of its list."""
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, ends.max(initial=1) + 1))])
    total: Floats = harmonic[ends[hits.query]] - harmonic[hits.rank - 1]
    return total


Discount = Callable[[NDArray[np.int32]], Floats]
"""The discount of gains by rank."""


class Factor(Enum):
    """How the relevant documents above change what a document adds."""

    ONE = auto()
    """Not at all: each document adds its weight."""
    FIRST = auto()
    """Only the first relevant document adds its weight."""
    FOUND = auto()
    """The weight is multiplied by the number of relevant documents down to this rank, as in precision."""


class Summand(NamedTuple):
    """The factors of the weight of a document in a sum over ranks.

    Attributes
    ----------
    factor : Factor
    discount : callable, optional
        The discount of an array of ranks; 1 if left out.
    to_num_rel : bool
        Whether documents below rank R, the number of relevant documents of the query, count nothing.
    """

    factor: Factor
    discount: Discount | None = None
    to_num_rel: bool = False


class PerHit(NamedTuple):
    """The amount that each hit adds to AP; `as_sum` describes it as a sum over ranks, if it is one."""

    compute: Callable[[Relevant, Floats, KernelInput], Floats]
    as_sum: Callable[[int | None], Summand | None] = lambda _: None


RECIPROCAL = graded.DISCOUNTS["zipf"]
"""One over the rank."""


@cache
def _reciprocals_to(cutoff: int) -> Discount:
    """Make a discount: the sum of 1/i from a rank to the cutoff."""
    to_end = np.cumsum(1 / np.arange(cutoff, 0, -1))[::-1]

    def discount(ranks: NDArray[np.int32]) -> Floats:
        total: Floats = np.where(ranks <= cutoff, to_end[np.minimum(ranks, cutoff) - 1], 0.0)
        return total

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
    """Compute the precision just above each hit; above the first rank it is 1."""
    above = hits.rank - 1
    precision: Floats = np.divide(hits.found - 1, above, out=np.ones(len(above)), where=above > 0)
    return precision


def _summed(labels: LabelPolicy, cutoff: int | None, level: float, weight: Weight | None) -> Floats:
    """Sum the largest weights of the relevant documents up to the cutoff; without `weight`, their grades."""
    judgments = labels.judgments
    rows = judgments.grade >= level
    query, grade = judgments.query[rows], judgments.grade[rows]
    weights = grade if weight is None else map_gains(grade, weights_of(weight, labels))
    order = np.lexsort((-weights, query))
    top = position_in_query(query, judgments.n_queries) <= (cutoff or len(query))
    return sums(query[top], weights[order][top], judgments.n_queries)


def all_weights(inputs: KernelInput) -> Floats:
    """Sum the weights of all relevant documents."""
    return inputs.labels.cached(_summed, None, inputs.level, inputs.by[WEIGHTS])


def ideal_weights(inputs: KernelInput) -> Floats:
    """Sum the weights of the ideal list, cut at k."""
    return inputs.labels.cached(_summed, inputs.cutoff, inputs.level, inputs.by[WEIGHTS])


def ideal_grades(inputs: KernelInput) -> Floats:
    """Sum the grades of the ideal list, cut at k."""
    return inputs.labels.cached(_summed, inputs.cutoff, inputs.level, None)


def hits_in_order(inputs: KernelInput) -> Relevant:
    """Return the hits in their order."""
    return inputs.hits


def hits_as_one_step(inputs: KernelInput) -> Relevant:
    """Move each hit to the end of its tie, where all hits of the tie are counted."""
    hits, rankings, tie_ranks = inputs.hits, inputs.rankings, inputs.tie_ranks
    if tie_ranks is None:
        return hits
    cutoff = inputs.cutoff or tie_ranks.last.max()
    last = tie_ranks.last[(rankings.grade >= inputs.level) & (rankings.rank <= cutoff)]
    start = hits.query * (last.max(initial=0) + 1)
    in_order = np.sort(start + last)
    n_found = np.searchsorted(in_order, start + last, "right") - np.searchsorted(in_order, start)
    return hits._replace(rank=np.minimum(last, cutoff).astype(np.int32), found=n_found)


def average_precision_ratio(inputs: KernelInput) -> Ratio:
    """Compute numerator and denominator of AP."""
    hits = inputs.by[TIED].hits(inputs)
    weight = map_gains(hits.grade, weights_of(inputs.by[WEIGHTS], inputs.labels))
    added = inputs.by[PER_HIT].compute(hits, weight, inputs)
    return Ratio(sums(hits.query, added, inputs.rankings.n_queries), inputs.by[DENOMINATOR](inputs))


# --- discounted cumulated gain ---------------------------------------------------------------------


class Gain(NamedTuple):
    """The gain of each grade in nDCG; with `of_first`, only the first document with a gain counts."""

    of_grades: Callable[[Floats], Floats]
    of_first: bool = False


def _gain_of(grade: Floats, gain: Gain, negative: Callable[[Floats], Floats]) -> Floats:
    return gain.of_grades(negative(grade))


def is_relevant(grade: Floats) -> Floats:
    """Map grades from 1 on to 1, others to 0."""
    return (grade >= 1).astype(np.float64)


def _of_dcg(inputs: KernelInput) -> tuple[Any, Any, Any]:
    return inputs.by[GAIN], inputs.by[NEGATIVE], inputs.by[DISCOUNT]


def _dcg(rankings: JudgedRankings, gain: Gain, negative: Any, discount: Any) -> Floats:
    """Compute DCG."""
    gains = _gain_of(rankings.grade, gain, negative)
    if gain.of_first:
        gains *= running_sum(rankings.query, gains, rankings.n_queries) == 1
    return graded.dcg(rankings, gains, discount)


def dcg_in_order(inputs: KernelInput) -> Floats:
    """Compute DCG of the documents in their order."""
    return _dcg(inputs.rankings.within(inputs.cutoff), *_of_dcg(inputs))


def _discounts_up_to(n: int, inputs: KernelInput) -> Floats:
    """Sum the discounts up to each rank from 0 to n."""
    discounts = inputs.by[DISCOUNT](np.arange(1, n + 1, dtype=np.int32))
    return np.concatenate([[0.0], np.cumsum(discounts)])


def averaged_dcg(inputs: KernelInput) -> Floats:
    """Compute DCG with the mean discount over the ranks that each tied document could have."""
    rankings, tie_ranks = inputs.rankings, inputs.tie_ranks
    if tie_ranks is None:
        return dcg_in_order(inputs)
    total = _discounts_up_to(tie_ranks.last.max(), inputs)
    before, last = inputs.capped(tie_ranks.first - 1), inputs.capped(tie_ranks.last)
    mean_discount = (total[last] - total[before]) / (tie_ranks.last - tie_ranks.first + 1)
    gains = _gain_of(rankings.grade, inputs.by[GAIN], inputs.by[NEGATIVE])
    return sums(rankings.query, gains * mean_discount, rankings.n_queries)


class Tied(NamedTuple):
    """The treatment of tied scores in AP and in nDCG."""

    hits: Callable[[KernelInput], Relevant] = hits_in_order
    dcg: Callable[[KernelInput], Floats] = dcg_in_order


def _of_qrels(labels: LabelPolicy, cutoff: int | None, *of_dcg: Any) -> Floats:
    return _dcg(labels.ideal.within(cutoff), *of_dcg)


def ideal_of_qrels(inputs: KernelInput) -> Floats:
    """Compute the DCG of all judged documents in ideal order, cut at the cutoff."""
    return inputs.labels.cached(_of_qrels, inputs.cutoff, *_of_dcg(inputs))


def ideal_uncut(inputs: KernelInput) -> Floats:
    """Compute the DCG of all judged documents in ideal order, not cut."""
    return inputs.labels.cached(_of_qrels, None, *_of_dcg(inputs))


def ideal_as_long_as_returned(inputs: KernelInput) -> Floats:
    """Compute the DCG of the best judged documents, as many as were returned within the cutoff."""
    returned, best = inputs.returned, inputs.labels.ideal
    return _dcg(best.take(best.rank <= returned[best.query]), *_of_dcg(inputs))


def ideal_of_run(inputs: KernelInput) -> Floats:
    """Compute the DCG of the retrieved documents, sorted by grade."""
    return _dcg(graded.IDEALS["run"](inputs.rankings, inputs.cutoff), *_of_dcg(inputs))


def ideal_of_cutoff(inputs: KernelInput) -> Floats:
    """Compute the DCG of the documents within the cutoff, sorted by grade."""
    return _dcg(graded.IDEALS["cutoff"](inputs.rankings, inputs.cutoff), *_of_dcg(inputs))


def ideal_of_ones(inputs: KernelInput) -> Floats:
    """Compute the DCG of a list of ones, with the length of the cutoff or else of the list."""
    return _discounts_up_to(inputs.ranks.max(initial=0), inputs)[inputs.ranks]


def ndcg_ratio(inputs: KernelInput) -> Ratio:
    """Compute DCG and the DCG of the ideal list."""
    return Ratio(inputs.by[TIED].dcg(inputs), inputs.by[IDEAL](inputs))


# --- hits within the cutoff ------------------------------------------------------------------------


class Hits(NamedTuple):
    """A numerator from the hits of each query; `as_sum` describes it as a sum over ranks, if it is one."""

    compute: Callable[[KernelInput], Floats]
    as_sum: Summand | None = None


class Over(NamedTuple):
    """A numerator from the hits, and a denominator."""

    hits: Hits
    denominator: Callable[[KernelInput], Floats | Ints]

    def ratio(self, inputs: KernelInput) -> Ratio:
        """Compute both for each query."""
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
    """Compute the middle rank of the tie of the first relevant document; infinity if none is found."""
    rankings, tie_ranks = inputs.rankings, inputs.tie_ranks
    ranks = rankings.rank.astype(np.float64) if tie_ranks is None else (tie_ranks.first + tie_ranks.last) / 2
    first = np.full(rankings.n_queries, np.inf)
    relevant_rows = rankings.grade >= inputs.level
    np.minimum.at(first, rankings.query[relevant_rows], ranks[relevant_rows])
    return np.where(first <= (inputs.cutoff or np.inf), first, np.inf)


def _reciprocal_of_best(inputs: KernelInput) -> Floats:
    """Compute the reciprocal rank of the first document with the highest grade of its list."""
    rankings = inputs.rankings
    highest = np.zeros(rankings.n_queries)
    np.maximum.at(highest, rankings.query, rankings.grade)
    best = rankings.take(rankings.grade == highest[rankings.query])
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
    """Sum, over the ranks of the list, the smaller of the number of relevant documents and the rank."""
    minimum = np.minimum(inputs.num_rel, inputs.returned)
    total: Floats = minimum * (minimum + 1) / 2 + (inputs.returned - minimum) * inputs.num_rel
    return total


def one(inputs: KernelInput) -> Floats:
    """Return a one for each query."""
    return inputs.ones
