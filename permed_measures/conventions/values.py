"""A measure by its options: for each query what is summed, and what the sum is divided by.

A new value of an option is a function in its table here, and its texts in `conventions.toml`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.conventions.options import GainTable, Options
from permed_measures.engine.judgments import (
    Ints,
    Judgments,
    divide,
    look_up,
    position_in_query,
    running_sum,
    sums,
)
from permed_measures.engine.kernels import graded
from permed_measures.engine.rankings import JudgedRankings, Relevant
from permed_measures.papers.names import Rank

Floats = NDArray[np.float64]
Cutoff = int | None


@dataclass(frozen=True, eq=False)
class Labels:
    """Judgments under a label policy, and their relevant grades."""

    policy: str
    judgments: Judgments
    grades: tuple[float, ...]
    _known: dict[object, Floats] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, policy: str, judgments: Judgments) -> Labels:
        """Find the relevant grades."""
        return cls(policy, judgments, tuple(np.unique(judgments.grade[judgments.grade > 0]).tolist()))

    def once(self, compute: Callable[..., Floats], *options: object) -> Floats:
        """Compute what depends on the judgments and some options alone, whatever is ranked."""
        key = (compute, *options)
        if key not in self._known:
            self._known[key] = compute(self, *options)
        return self._known[key]

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


def _strict(judgments: Judgments) -> Judgments | None:
    if not judgments.num_rel(_STRICT).any():
        return None
    kept = np.where(judgments.grade >= _STRICT, 1, np.minimum(judgments.grade, 0))
    return replace(judgments, grade=kept.astype(np.float64))


POLICIES: dict[str, Callable[[Judgments], Judgments | None]] = {
    "grades": lambda judgments: judgments,
    "pool": lambda judgments: replace(judgments, grade=np.ones_like(judgments.grade)),
    "strict": _strict,
}
"""The judgments by each label policy that needs no run; None if there are none."""


def label_policies(judgments: Judgments) -> list[Labels]:
    """Return the judgments under each label policy that needs no run, as they are first."""
    found = {policy: of(judgments) for policy, of in POLICIES.items()}
    return [Labels.of(policy, each) for policy, each in found.items() if each is not None]


class Spans(NamedTuple):
    """The first and the last rank that each hit could have among the documents with its score."""

    first: Ints
    last: Ints


class Ranked(NamedTuple):
    """A ranking under a label policy; `spans` are the ranks that tied hits could have, None without any.

    Whether there are any is known if it `tells_ties`.
    """

    labels: Labels
    rankings: JudgedRankings
    spans: Spans | None = None
    tells_ties: bool = True

    def returned(self, cutoff: Cutoff) -> Ints:
        """Return how many documents each query has within the cutoff."""
        retrieved = self.rankings.retrieved
        return retrieved if cutoff is None else np.minimum(retrieved, cutoff)

    def num_rel(self, options: Options, cutoff: Cutoff = None) -> Ints:
        """Return how many relevant documents each query has, at most the cutoff."""
        found: Ints = self.rankings.judgments.num_rel(options["level"])
        return found if cutoff is None else np.minimum(found, cutoff)

    @property
    def upside_down(self) -> Ranked:
        """The same lists, the last document first."""
        found = self.rankings
        rank = (found.retrieved[found.query] + 1 - found.rank).astype(np.int32)
        order = np.lexsort((rank, found.query))
        return Ranked(self.labels, replace(found, row=found.row[order], rank=rank[order]))


class Ratio(NamedTuple):
    """What is summed for each query, and what the sum is divided by."""

    numerator: Floats
    denominator: Floats

    @property
    def values(self) -> Floats:
        """The value of each query: 0 where there is nothing to divide by."""
        return divide(self.numerator, self.denominator)


def _ratio(numerator: Floats, denominator: Floats | Ints) -> Ratio:
    return Ratio(numerator, np.asarray(denominator, np.float64))


# --- average precision -----------------------------------------------------------------------------

WEIGHTS: dict[str, Callable[[float, float], float]] = {
    "binary": lambda _, __: 1.0,
    "linear": lambda grade, top: grade / top,
    "half": lambda grade, _: grade / 2,
    "capped": lambda grade, _: min(grade / 2, 1.0),
    "exp": lambda grade, top: float((2**grade - 1) / (2**top - 1)),
}
"""The weight of a grade in AP, given the highest one."""


def weights_of(weights: str, labels: Labels) -> dict[float, float]:
    """Return the weight of each relevant grade in AP, by the value of the option."""
    if isinstance(weights, GainTable):
        return weights.gains
    return {grade: WEIGHTS[weights](grade, labels.top) for grade in labels.grades}


class _Hits(NamedTuple):
    """The relevant documents of a ranking within the cutoff, their weights, and the length of each list."""

    hits: Relevant
    weight: Floats
    lengths: Ints

    def to_the_end(self, ends: Ints) -> Floats:
        """Return the sum of 1/i from the rank of each hit to the end of its list."""
        harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, ends.max(initial=1) + 1))])
        last = np.maximum(ends[self.hits.query], self.hits.rank)
        found: Floats = harmonic[last] - harmonic[self.hits.rank - 1]
        return found


PER_HIT: dict[str, Callable[[_Hits, Cutoff], Floats]] = {
    "precision": lambda of, _: of.hits.found / of.hits.rank * of.weight,
    "reciprocal_rank": lambda of, _: 1 / of.hits.rank * of.weight,
    "summed_weights": lambda of, _: running_sum(of.hits.query, of.weight, len(of.lengths)) / of.hits.rank,
    "every_rank": lambda of, k: of.weight * of.to_the_end(np.full_like(of.lengths, k) if k else of.lengths),
    "every_document": lambda of, _: of.weight * of.to_the_end(of.lengths),
}
"""What each hit adds to AP: its part of the precision at every rank from its own on, where that is summed."""


def _summed(labels: Labels, cutoff: Cutoff, level: float, weights: str | None) -> Floats:
    """Return the sum of the largest weights of the relevant documents, or of their largest grades."""
    judgments = labels.judgments
    rows = judgments.grade >= level
    query, grade = judgments.query[rows], judgments.grade[rows]
    weight = grade if weights is None else look_up(grade, weights_of(weights, labels))
    order = np.lexsort((-weight, query))
    top = position_in_query(query, judgments.n_queries) <= (cutoff or len(query))
    return sums(query[top], weight[order][top], judgments.n_queries)


_Denominator = Callable[[Cutoff, Options, Ranked], Floats | Ints]
DENOMINATORS: dict[str, _Denominator] = {
    "num_rel": lambda _, options, ranked: ranked.num_rel(options),
    "min": lambda cutoff, options, ranked: ranked.num_rel(options, cutoff),
    "num_rel_ret": lambda cutoff, options, ranked: ranked.rankings.num_rel_ret(options["level"], cutoff),
    "gain": lambda _, options, ranked: ranked.labels.once(
        _summed, None, options["level"], options["weights"]
    ),
    "ideal": lambda cutoff, options, ranked: ranked.labels.once(
        _summed, cutoff, options["level"], options["weights"]
    ),
    "ideal_grades": lambda cutoff, options, ranked: ranked.labels.once(
        _summed, cutoff, options["level"], None
    ),
    "none": lambda _, __, ranked: np.ones(ranked.rankings.n_queries),
    "cutoff": lambda cutoff, _, ranked: (
        np.full(ranked.rankings.n_queries, cutoff) if cutoff else np.maximum(ranked.returned(None), 1)
    ),
    "returned": lambda cutoff, _, ranked: ranked.returned(cutoff),
    "min_returned": lambda cutoff, options, ranked: np.minimum(
        ranked.num_rel(options), ranked.returned(cutoff)
    ),
}
"""What AP is divided by."""


def _in_order(cutoff: Cutoff, options: Options, ranked: Ranked) -> Relevant:
    return ranked.rankings.relevant(options["level"], cutoff)


def _as_one_step(cutoff: Cutoff, options: Options, ranked: Ranked) -> Relevant:
    """Return hits with the rank and the count at the end of the documents with their score."""
    hits, rankings = _in_order(cutoff, options, ranked), ranked.rankings
    if ranked.spans is None:
        return hits
    last = ranked.spans.last[(rankings.grade >= options["level"]) & (rankings.rank <= (cutoff or np.inf))]
    start = hits.query * (last.max(initial=0) + 1)
    every = np.sort(start + last)
    found = np.searchsorted(every, start + last, "right") - np.searchsorted(every, start)
    return hits._replace(rank=np.minimum(last, cutoff or last.max(initial=0)).astype(np.int32), found=found)


HITS = {"in_order": _in_order, "one_step": _as_one_step}
"""The hits of AP, by what tied scores do."""


def _ap(cutoff: Cutoff, options: Options, ranked: Ranked) -> Ratio:
    hits = HITS[options["tied"]](cutoff, options, ranked)
    weight = look_up(hits.grade, weights_of(options["weights"], ranked.labels))
    added = PER_HIT[options["per_hit"]](_Hits(hits, weight, ranked.returned(cutoff)), cutoff)
    total = sums(hits.query, added, ranked.rankings.n_queries)
    return _ratio(total, DENOMINATORS[options["denominator"]](cutoff, options, ranked))


# --- discounted cumulated gain ---------------------------------------------------------------------

GAINS: dict[str, Callable[[Floats], Floats]] = {
    **graded.GAINS,
    "binary": lambda grade: (grade >= 1).astype(np.float64),
    "first": lambda grade: (grade >= 1).astype(np.float64),
}
"""What a grade gains in nDCG; of ``first``, the first relevant document only."""
DISCOUNTS = {**graded.DISCOUNTS}
"""The discount of each rank."""


NEGATIVE: dict[str, Callable[[Floats], Floats]] = {
    "zero": lambda grade: np.maximum(grade, 0),
    "keep": lambda grade: grade,
}
"""What becomes of negative grades."""


def gain_of(grade: Floats, gain: str, negative: str) -> Floats:
    """Return what grades gain in nDCG."""
    grade = NEGATIVE[negative](grade)
    return look_up(grade, gain.gains) if isinstance(gain, GainTable) else GAINS[gain](grade)


def _of_dcg(options: Options) -> tuple[str, str, str]:
    return options["gain"], options["negative"], options["discount"]


def _dcg(rows: JudgedRankings, gain: str, negative: str, discount: str) -> Floats:
    """Compute DCG."""
    gained = gain_of(rows.grade, gain, negative)
    if gain == "first":
        gained *= running_sum(rows.query, gained, rows.n_queries) == 1
    return graded.dcg(rows, gained, DISCOUNTS[discount])


def _dcg_in_order(cutoff: Cutoff, options: Options, ranked: Ranked) -> Floats:
    return _dcg(ranked.rankings.within(cutoff), *_of_dcg(options))


def _averaged_dcg(cutoff: Cutoff, options: Options, ranked: Ranked) -> Floats:
    """Compute DCG where each document gains the mean over the ranks that it could have."""
    rankings, spans = ranked.rankings, ranked.spans
    if spans is None:
        return _dcg_in_order(cutoff, options, ranked)
    discounts = DISCOUNTS[options["discount"]](np.arange(1, spans.last.max(initial=0) + 1, dtype=np.int32))
    if cutoff is not None:
        discounts[cutoff:] = 0
    before = np.concatenate([[0.0], np.cumsum(discounts)])
    share = (before[spans.last] - before[spans.first - 1]) / (spans.last - spans.first + 1)
    gained = gain_of(rankings.grade, options["gain"], options["negative"])
    return sums(rankings.query, gained * share, rankings.n_queries)


DCGS = {"in_order": _dcg_in_order, "averaged": _averaged_dcg}
"""DCG, by what tied scores do."""


def _of_ones(cutoff: Cutoff, options: Options, ranked: Ranked) -> Floats:
    """Return the DCG of a list of ones, as long as the cutoff or else as the list."""
    rankings = ranked.rankings
    length = rankings.retrieved if cutoff is None else np.full(rankings.n_queries, cutoff)
    ranks = np.arange(1, int(length.max(initial=0)) + 1, dtype=np.int32)
    total: Floats = np.concatenate([[0.0], np.cumsum(DISCOUNTS[options["discount"]](ranks))])[length]
    return total


def _of_qrels(labels: Labels, cutoff: Cutoff, *options: str) -> Floats:
    """Return the DCG of all judged documents."""
    return _dcg(labels.ideal.within(cutoff), *options)


def _as_long_as_returned(cutoff: Cutoff, options: Options, ranked: Ranked) -> Floats:
    """Return the DCG of the best judged documents, as many as were returned within the cutoff."""
    best = ranked.labels.ideal.within(cutoff)
    return _dcg(best.keep(best.rank <= ranked.rankings.retrieved[best.query]), *_of_dcg(options))


def _ideal(of: Callable[[JudgedRankings, Cutoff], JudgedRankings]) -> _Denominator:
    """Return what computes the DCG of an ideal list that depends on what is ranked."""
    return lambda cutoff, options, ranked: _dcg(of(ranked.rankings, cutoff), *_of_dcg(options))


IDEALS: dict[str, _Denominator] = {
    **{name: _ideal(of) for name, of in graded.IDEALS.items()},
    "qrels": lambda cutoff, options, ranked: ranked.labels.once(_of_qrels, cutoff, *_of_dcg(options)),
    "uncut": lambda _, options, ranked: ranked.labels.once(_of_qrels, None, *_of_dcg(options)),
    "returned": _as_long_as_returned,
    "full": _of_ones,
    "none": lambda _, __, ranked: np.ones(ranked.rankings.n_queries),
}
"""What DCG is divided by."""


def _ndcg(cutoff: Cutoff, options: Options, ranked: Ranked) -> Ratio:
    gained = DCGS[options["tied"]](cutoff, options, ranked)
    return _ratio(gained, IDEALS[options["ideal"]](cutoff, options, ranked))


# --- hits within the cutoff ------------------------------------------------------------------------


def _found(cutoff: Cutoff, options: Options, ranked: Ranked) -> Floats:
    return ranked.rankings.num_rel_ret(options["level"], cutoff)


def _yes(which: NDArray[np.bool_]) -> Ratio:
    return _ratio(which.astype(np.float64), np.ones(len(which)))


_Kind = Callable[[Cutoff, Options, Ranked], Ratio]
PRECISION: dict[str, _Kind] = {
    "cutoff": lambda cutoff, options, ranked: _ratio(
        _found(cutoff, options, ranked), np.full(ranked.rankings.n_queries, cutoff)
    ),
    "returned": lambda cutoff, options, ranked: _ratio(
        _found(cutoff, options, ranked), ranked.returned(cutoff)
    ),
    "min": lambda cutoff, options, ranked: _ratio(
        _found(cutoff, options, ranked), ranked.num_rel(options, cutoff)
    ),
}
RECALL: dict[str, _Kind] = {
    "num_rel": lambda cutoff, options, ranked: _ratio(
        _found(cutoff, options, ranked), ranked.num_rel(options)
    ),
    "min": PRECISION["min"],
    "any": lambda cutoff, options, ranked: _yes(_found(cutoff, options, ranked) > 0),
    "all": lambda cutoff, options, ranked: _yes(
        (_found(cutoff, options, ranked) == ranked.num_rel(options)) & (ranked.num_rel(options) > 0)
    ),
}
SUCCESS: dict[str, _Kind] = {"any": RECALL["any"], "num_rel": RECALL["num_rel"]}


def _reciprocal(hits: Relevant, n: Floats | Ints) -> Ratio:
    return _ratio(sums(hits.query, 1 / hits.rank, len(n)), n)


def _first(cutoff: Cutoff, options: Options, ranked: Ranked) -> Ratio:
    hits = ranked.rankings.relevant(options["level"], cutoff)
    first = Relevant(*(each[hits.found == 1] for each in hits))
    return _reciprocal(first, np.ones(ranked.rankings.n_queries))


def _best(cutoff: Cutoff, options: Options, ranked: Ranked) -> Ratio:
    """Return RR of the first document with the highest grade of its list."""
    rankings = ranked.rankings
    highest = np.zeros(rankings.n_queries)
    np.maximum.at(highest, rankings.query, rankings.grade)
    best = rankings.keep((rankings.grade >= options["level"]) & (rankings.grade == highest[rankings.query]))
    return _first(cutoff, options, Ranked(ranked.labels, best))


def _of_hits(cutoff: Cutoff, options: Options, ranked: Ranked) -> Ratio:
    hits = ranked.rankings.relevant(options["level"], cutoff)
    return _reciprocal(hits, _found(cutoff, options, ranked))


def _of_relevant(cutoff: Cutoff, options: Options, ranked: Ranked) -> Ratio:
    return _reciprocal(ranked.rankings.relevant(options["level"], cutoff), ranked.num_rel(options))


RANKS: dict[str, _Kind] = {
    "first": _first,
    "found": _of_hits,
    "relevant": _of_relevant,
    "best": _best,
}

# --- all -------------------------------------------------------------------------------------------

_RATIOS: dict[str, _Kind] = {
    "AP": _ap,
    "nDCG": _ndcg,
    "P": lambda cutoff, options, ranked: PRECISION[options["precision"]](cutoff, options, ranked),
    "R": lambda cutoff, options, ranked: RECALL[options["recall"]](cutoff, options, ranked),
    "RR": lambda cutoff, options, ranked: RANKS[options["ranks"]](cutoff, options, ranked),
    "Success": lambda cutoff, options, ranked: SUCCESS[options["success"]](cutoff, options, ranked),
}


def ratio_of(measure: str, cutoff: Rank, options: Options, ranked: Ranked) -> Ratio:
    """Return what a measure other than F1 sums for each query, and what it divides the sum by."""
    if isinstance(cutoff, tuple):
        raise ValueError(f"{measure} has one cutoff (found {cutoff})")
    return _RATIOS[measure](cutoff, options, ranked)
