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


def _strict(judgments: Judgments) -> Judgments:
    kept = np.where(judgments.grade >= _STRICT, 1, np.minimum(judgments.grade, 0))
    return replace(judgments, grade=kept.astype(np.float64))


POLICIES: dict[str, Callable[[Judgments], Judgments]] = {
    "grades": lambda judgments: judgments,
    "pool": lambda judgments: replace(judgments, grade=np.ones_like(judgments.grade)),
    "strict": _strict,
}
"""The judgments by each label policy that needs no run."""


def label_policies(judgments: Judgments, complete: bool = False) -> list[Labels]:
    """Return the judgments under each label policy that needs no run, as they are first.

    Strict ones without a relevant document are left out, unless the policies are to be `complete`.
    """
    kept = {*POLICIES} - (set() if complete or judgments.num_rel(_STRICT).any() else {"strict"})
    return [Labels.of(policy, of(judgments)) for policy, of in POLICIES.items() if policy in kept]


class Spans(NamedTuple):
    """The first and the last rank that each hit could have among the documents with its score."""

    first: Ints
    last: Ints


class Ranked(NamedTuple):
    """A ranking under a label policy; `spans` are the ranks that tied hits could have, None without any."""

    labels: Labels
    rankings: JudgedRankings
    spans: Spans | None = None


class Given(NamedTuple):
    """What a measure is computed from: its cutoff, the value of each of its options, and what is ranked."""

    cutoff: Cutoff
    options: Options
    ranked: Ranked

    @property
    def labels(self) -> Labels:
        """The judgments under the label policy."""
        return self.ranked.labels

    @property
    def rankings(self) -> JudgedRankings:
        """The judged documents that were retrieved."""
        return self.ranked.rankings

    @property
    def hits(self) -> Relevant:
        """The relevant documents within the cutoff."""
        return self.rankings.relevant(self.options["level"], self.cutoff)

    @property
    def found(self) -> Floats:
        """How many relevant documents each query has within the cutoff."""
        return self.rankings.num_rel_ret(self.options["level"], self.cutoff)

    @property
    def num_rel(self) -> Ints:
        """How many relevant documents each query has."""
        return self.labels.judgments.num_rel(self.options["level"])

    @property
    def returned(self) -> Ints:
        """How many documents each query has within the cutoff."""
        return self.at_most(self.rankings.retrieved)

    @property
    def ranks(self) -> Ints:
        """How many ranks each query has: the cutoff, or as many as there are documents."""
        retrieved = self.rankings.retrieved
        return retrieved if self.cutoff is None else np.full_like(retrieved, self.cutoff)

    @property
    def ones(self) -> Floats:
        """A one for each query."""
        return np.ones(self.rankings.n_queries)

    def at_most(self, numbers: Ints) -> Ints:
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


def _to_the_end(hits: Relevant, ends: Ints) -> Floats:
    """Return the sum of 1/i from the rank of each hit to the end of its list."""
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, ends.max(initial=1) + 1))])
    found: Floats = harmonic[ends[hits.query]] - harmonic[hits.rank - 1]
    return found


PER_HIT: dict[str, Callable[[Relevant, Floats, Given], Floats]] = {
    "precision": lambda hits, weight, _: hits.found / hits.rank * weight,
    "reciprocal_rank": lambda hits, weight, _: 1 / hits.rank * weight,
    "summed_weights": lambda hits, weight, of: (
        running_sum(hits.query, weight, of.rankings.n_queries) / hits.rank
    ),
    "every_rank": lambda hits, weight, of: weight * _to_the_end(hits, of.ranks),
    "every_document": lambda hits, weight, of: weight * _to_the_end(hits, of.returned),
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


_Denominator = Callable[[Given], Floats | Ints]
DENOMINATORS: dict[str, _Denominator] = {
    "num_rel": lambda of: of.num_rel,
    "min": lambda of: of.at_most(of.num_rel),
    "num_rel_ret": lambda of: of.found,
    "gain": lambda of: of.labels.once(_summed, None, of.options["level"], of.options["weights"]),
    "ideal": lambda of: of.labels.once(_summed, of.cutoff, of.options["level"], of.options["weights"]),
    "ideal_grades": lambda of: of.labels.once(_summed, of.cutoff, of.options["level"], None),
    "none": lambda of: of.ones,
    "cutoff": lambda of: of.ranks,
    "returned": lambda of: of.returned,
    "min_returned": lambda of: np.minimum(of.num_rel, of.returned),
}
"""What AP is divided by."""


def _as_one_step(of: Given) -> Relevant:
    """Return hits with the rank and the count at the end of the documents with their score."""
    hits, rankings, spans = of.hits, of.rankings, of.ranked.spans
    if spans is None:
        return hits
    cutoff = of.cutoff or spans.last.max()
    last = spans.last[(rankings.grade >= of.options["level"]) & (rankings.rank <= cutoff)]
    start = hits.query * (last.max(initial=0) + 1)
    every = np.sort(start + last)
    found = np.searchsorted(every, start + last, "right") - np.searchsorted(every, start)
    return hits._replace(rank=np.minimum(last, cutoff).astype(np.int32), found=found)


HITS: dict[str, Callable[[Given], Relevant]] = {"in_order": lambda of: of.hits, "one_step": _as_one_step}
"""The hits of AP, by what tied scores do."""


def _ap(of: Given) -> Ratio:
    hits = HITS[of.options["tied"]](of)
    weight = look_up(hits.grade, weights_of(of.options["weights"], of.labels))
    added = PER_HIT[of.options["per_hit"]](hits, weight, of)
    total = sums(hits.query, added, of.rankings.n_queries)
    return Ratio(total, DENOMINATORS[of.options["denominator"]](of))


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


def _gain_of(grade: Floats, gain: str, negative: str) -> Floats:
    grade = NEGATIVE[negative](grade)
    return look_up(grade, gain.gains) if isinstance(gain, GainTable) else GAINS[gain](grade)


def _of_dcg(options: Options) -> tuple[str, str, str]:
    return options["gain"], options["negative"], options["discount"]


def _dcg(rows: JudgedRankings, gain: str, negative: str, discount: str) -> Floats:
    """Compute DCG."""
    gained = _gain_of(rows.grade, gain, negative)
    if gain == "first":
        gained *= running_sum(rows.query, gained, rows.n_queries) == 1
    return graded.dcg(rows, gained, DISCOUNTS[discount])


def _dcg_in_order(of: Given) -> Floats:
    return _dcg(of.rankings.within(of.cutoff), *_of_dcg(of.options))


def _discounts_up_to(n: int, discount: str) -> Floats:
    """Return the sum of the discounts of no rank, of rank 1, of ranks 1 and 2, … up to n."""
    discounts = DISCOUNTS[discount](np.arange(1, n + 1, dtype=np.int32))
    return np.concatenate([[0.0], np.cumsum(discounts)])


def _averaged_dcg(of: Given) -> Floats:
    """Compute DCG where each document gains the mean over the ranks that it could have."""
    rankings, spans = of.rankings, of.ranked.spans
    if spans is None:
        return _dcg_in_order(of)
    before = _discounts_up_to(spans.last.max(), of.options["discount"])
    first, last = of.at_most(spans.first - 1), of.at_most(spans.last)
    share = (before[last] - before[first]) / (spans.last - spans.first + 1)
    gained = _gain_of(rankings.grade, of.options["gain"], of.options["negative"])
    return sums(rankings.query, gained * share, rankings.n_queries)


DCGS = {"in_order": _dcg_in_order, "averaged": _averaged_dcg}
"""DCG, by what tied scores do."""


def _of_ones(of: Given) -> Floats:
    """Return the DCG of a list of ones, as long as the cutoff or else as the list."""
    return _discounts_up_to(of.ranks.max(initial=0), of.options["discount"])[of.ranks]


def _of_qrels(labels: Labels, cutoff: Cutoff, *options: str) -> Floats:
    """Return the DCG of all judged documents."""
    return _dcg(labels.ideal.within(cutoff), *options)


def _as_long_as_returned(of: Given) -> Floats:
    """Return the DCG of the best judged documents, as many as were returned within the cutoff."""
    best = of.labels.ideal
    return _dcg(best.keep(best.rank <= of.returned[best.query]), *_of_dcg(of.options))


def _ideal(best: Callable[[JudgedRankings, Cutoff], JudgedRankings]) -> _Denominator:
    """Return what computes the DCG of an ideal list that depends on what is ranked."""
    return lambda of: _dcg(best(of.rankings, of.cutoff), *_of_dcg(of.options))


IDEALS: dict[str, _Denominator] = {
    **{name: _ideal(best) for name, best in graded.IDEALS.items()},
    "qrels": lambda of: of.labels.once(_of_qrels, of.cutoff, *_of_dcg(of.options)),
    "uncut": lambda of: of.labels.once(_of_qrels, None, *_of_dcg(of.options)),
    "returned": _as_long_as_returned,
    "full": _of_ones,
    "none": lambda of: of.ones,
}
"""What DCG is divided by."""


def _ndcg(of: Given) -> Ratio:
    return Ratio(DCGS[of.options["tied"]](of), IDEALS[of.options["ideal"]](of))


# --- hits within the cutoff ------------------------------------------------------------------------

_Kind = Callable[[Given], Ratio]
PRECISION: dict[str, _Kind] = {
    "cutoff": lambda of: Ratio(of.found, of.ranks),
    "returned": lambda of: Ratio(of.found, of.returned),
    "min": lambda of: Ratio(of.found, of.at_most(of.num_rel)),
}
RECALL: dict[str, _Kind] = {
    "num_rel": lambda of: Ratio(of.found, of.num_rel),
    "min": PRECISION["min"],
    "any": lambda of: Ratio((of.found > 0).astype(np.float64), of.ones),
    "all": lambda of: Ratio(((of.found == of.num_rel) & (of.num_rel > 0)).astype(np.float64), of.ones),
}
SUCCESS: dict[str, _Kind] = {"any": RECALL["any"], "num_rel": RECALL["num_rel"]}


def _reciprocal(hits: Relevant, n: Floats | Ints) -> Ratio:
    return Ratio(sums(hits.query, 1 / hits.rank, len(n)), n)


def _first(of: Given) -> Ratio:
    hits = of.hits
    return _reciprocal(Relevant(*(each[hits.found == 1] for each in hits)), of.ones)


def _best(of: Given) -> Ratio:
    """Return RR of the first document with the highest grade of its list."""
    rankings = of.rankings
    highest = np.zeros(rankings.n_queries)
    np.maximum.at(highest, rankings.query, rankings.grade)
    best = rankings.keep(rankings.grade == highest[rankings.query])
    return _first(of._replace(ranked=of.ranked._replace(rankings=best)))


RANKS: dict[str, _Kind] = {
    "first": _first,
    "found": lambda of: _reciprocal(of.hits, of.found),
    "relevant": lambda of: _reciprocal(of.hits, of.num_rel),
    "best": _best,
}

# --- all -------------------------------------------------------------------------------------------

_RATIOS: dict[str, _Kind] = {
    "AP": _ap,
    "nDCG": _ndcg,
    "P": lambda of: PRECISION[of.options["precision"]](of),
    "R": lambda of: RECALL[of.options["recall"]](of),
    "RR": lambda of: RANKS[of.options["ranks"]](of),
    "Success": lambda of: SUCCESS[of.options["success"]](of),
}


def ratio_of(measure: str, cutoff: Rank, options: Options, ranked: Ranked) -> Ratio:
    """Return what a measure other than F1 sums for each query, and what it divides the sum by."""
    if isinstance(cutoff, tuple):
        raise ValueError(f"{measure} has one cutoff (found {cutoff})")
    return _RATIOS[measure](Given(cutoff, options, ranked))
