"""Compute the expected value of a measure if ties are ordered at random, where it has a closed form.

Every order of the documents of a tie is equally likely. So in a tie of n documents, each has each rank with
probability 1/n, and two documents have two given ranks with probability 1/(n (n - 1)). This gives the mean
over all orders without sampling. McSherry and Najork (ECIR 2008, "Computing information retrieval performance
measures efficiently in the presence of tied scores") have the formulas for P, R, F1, AP, RR and nDCG.
``tests/engine/test_ties.py`` compares all functions with the mean over all orders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from permed_measures.arrays import Floats, Ints
from permed_measures.engine.judgments import (
    Gains,
    concat_ranges,
    divide,
    map_gains,
    position_in_query,
    running_product,
    running_sum,
    sums,
)
from permed_measures.engine.kernels import graded
from permed_measures.engine.tied_rankings import TiedRankings, TieRanks

WeightOfRank = Callable[[Ints], Floats]
"""A function that computes the weights of ranks."""


def _ties(ties: TiedRankings, judged_only: bool) -> TiedRankings:
    return ties.judged if judged_only else ties


def _is_relevant(ties: TiedRankings, rel: float) -> Floats:
    return (ties.rankings.grade >= rel).astype(np.float64)


# --- gains with a weight for the rank --------------------------------------------------------------


def _weighted(ties: TiedRankings, gain: Floats, cutoff: int | Ints | None, weight: WeightOfRank) -> Floats:
    """Sum the gains of the documents, each times the mean weight of the ranks of its tie."""
    ranks = ties.ranks(cutoff)
    mean = np.bincount(ranks.tie, weight(ranks.rank), minlength=len(ties.size)) / ties.size
    return sums(ties.rankings.query, gain * mean[ties.tie], ties.rankings.n_queries)


def _within(ties: TiedRankings, gain: Floats, cutoff: int | Ints | None) -> Floats:
    return _weighted(ties, gain, cutoff, lambda rank: np.ones(len(rank)))


def precision(ties: TiedRankings, *, cutoff: int, rel: float, judged_only: bool) -> Floats:
    """Divide the expected number of relevant documents within the first k by k."""
    ties = _ties(ties, judged_only)
    return _within(ties, _is_relevant(ties, rel), cutoff) / cutoff


def recall(ties: TiedRankings, *, cutoff: int | None, rel: float, judged_only: bool) -> Floats:
    """Divide the expected number of relevant documents within the first k by R."""
    ties = _ties(ties, judged_only)
    return divide(_within(ties, _is_relevant(ties, rel), cutoff), ties.rankings.judgments.num_rel(rel))


def f1(ties: TiedRankings, *, cutoff: int, rel: float, judged_only: bool) -> Floats:
    """Divide twice the expected number of relevant documents within the first k by k + R."""
    ties = _ties(ties, judged_only)
    num_rel_ret = _within(ties, _is_relevant(ties, rel), cutoff)
    return divide(2 * num_rel_ret, ties.rankings.judgments.num_rel(rel) + cutoff)


def r_precision(ties: TiedRankings, *, rel: float, judged_only: bool) -> Floats:
    """Divide the expected number of relevant documents within the first R by R."""
    ties = _ties(ties, judged_only)
    num_rel = ties.rankings.judgments.num_rel(rel)
    return divide(_within(ties, _is_relevant(ties, rel), num_rel), num_rel)


def judged(ties: TiedRankings, *, cutoff: int | None) -> Floats:
    """Divide the expected number of judged documents within the first k by the documents retrieved there."""
    retrieved = ties.rankings.retrieved
    limit = retrieved if cutoff is None else np.minimum(retrieved, cutoff)
    return divide(_within(ties, np.ones(len(ties.tie)), cutoff), limit)


def rank_biased_precision(ties: TiedRankings, *, cutoff: int | None, p: float, rel: float) -> Floats:
    """Sum the mean p^(rank - 1) of the relevant documents, and multiply by 1 - p."""
    return (1 - p) * _weighted(ties, _is_relevant(ties, rel), cutoff, lambda rank: np.power(p, rank - 1.0))


def variant_ndcg(
    ties: TiedRankings, *, cutoff: int | None, discount: str, ideal: str, judged_only: bool, **others: str
) -> Floats | None:
    """Divide the expected DCG by the ideal one; None if the ideal list depends on the order (``cutoff``)."""
    if ideal == "cutoff" and cutoff is not None:
        return None
    gain = graded.gain_of_judgments(ties.rankings.judgments, others["gain"], others["negative"])
    tied = _ties(ties, judged_only)
    total = _weighted(tied, gain[tied.rankings.row], cutoff, graded.DISCOUNTS[discount])
    others |= {"discount": discount, "ideal": ideal}
    return graded.variant_ndcg(ties.rankings, cutoff=cutoff, judged_only=judged_only, total=total, **others)


def ndcg(
    ties: TiedRankings, *, cutoff: int | None, dcg: str, gains: Gains | None, judged_only: bool
) -> Floats | None:
    """Divide the expected DCG by the ideal one."""
    if gains is not None:
        ties = replace(ties, rankings=graded.with_gains(ties.rankings, gains))
    return variant_ndcg(ties, cutoff=cutoff, judged_only=judged_only, **graded.NDCG_CHOICES[dcg])


# --- measures that count the relevant documents above ----------------------------------------------


class _Above(NamedTuple):
    """The ranks of ties, each with the probability that another document of the tie is above it (`share`)."""

    ranks: TieRanks
    share: Floats

    @classmethod
    def of(cls, ties: TiedRankings, cutoff: int | None) -> _Above:
        ranks = ties.ranks(cutoff)
        return cls(ranks, ranks.before / np.maximum(ties.size[ranks.tie] - 1, 1))


def _precisions(ties: TiedRankings, rel: float, cutoff: int | None, weight: Floats) -> Floats:
    """Sum the expected precision at the relevant documents within the cutoff, times their weights.

    A tie has n documents, r of them relevant, and F relevant documents are ahead of it. A relevant document
    at rank i, below j documents of the tie, has expected precision (F + 1 + j (r - 1) / (n - 1)) / i.
    """
    is_relevant, n_queries = _is_relevant(ties, rel), ties.rankings.n_queries
    relevant = ties.totals(is_relevant)
    behind = running_sum(ties.query, relevant, n_queries) - relevant
    mean_weight = ties.totals(is_relevant * weight) / ties.size
    above, share = _Above.of(ties, cutoff)
    n_relevant = behind[above.tie] + 1 + share * (relevant[above.tie] - 1)
    return sums(ties.query[above.tie], mean_weight[above.tie] * n_relevant / above.rank, n_queries)


def average_precision(ties: TiedRankings, *, cutoff: int | None, rel: float, judged_only: bool) -> Floats:
    """Sum the expected precision at the relevant documents within the first k, and divide by R."""
    ties = _ties(ties, judged_only)
    total = _precisions(ties, rel, cutoff, np.ones(len(ties.tie)))
    return divide(total, ties.rankings.judgments.num_rel(rel))


def relevance_weighted_average_precision(
    ties: TiedRankings,
    *,
    cutoff: int | None,
    rel: float,
    norm: str,
    judged_only: bool,
    **weights: Any,
) -> Floats | None:
    """Compute the expected GradedAP; None if `norm` divides by the number of documents found within k."""
    if norm == "num_rel_ret" and cutoff is not None:
        return None
    tied = _ties(ties, judged_only)
    total = _precisions(tied, rel, cutoff, graded.weight_of_grade(tied.rankings.grade, **weights))
    parameters = {"cutoff": cutoff, "rel": rel, "norm": norm, "judged_only": judged_only, **weights}
    return graded.relevance_weighted_average_precision(ties.rankings, total=total, **parameters)


def graded_average_precision(
    ties: TiedRankings, *, cutoff: int | None, g: Mapping[float, float] | None, max_rel: int
) -> Floats:
    """Weight the expected AP at each threshold by its probability and its number of relevant documents."""
    n_queries = ties.rankings.n_queries
    total, norm = np.zeros(n_queries), np.zeros(n_queries)
    for rel, probability in graded.thresholds(g, max_rel).items():
        total += probability * _precisions(ties, rel, cutoff, np.ones(len(ties.tie)))
        norm += probability * ties.rankings.judgments.num_rel(rel)
    return divide(total, norm)


def q_measure(ties: TiedRankings, *, cutoff: int | None, beta: float, gains: Gains | None) -> Floats:
    """Sum the expected blended ratio at the relevant documents within the first k; divide by R or min(R, k).

    The r relevant documents of a tie have the total gain W. Each of the others is above a given one with the
    probability `share` of `_Above`; so over all r, the gains above sum to share * (r - 1) W.
    """
    rankings = ties.rankings
    judgments, n_queries = rankings.judgments, rankings.n_queries
    is_relevant, num_rel = _is_relevant(ties, 1), judgments.num_rel(1)
    relevant = ties.totals(is_relevant)
    gain = ties.totals(is_relevant * (rankings.grade if gains is None else map_gains(rankings.grade, gains)))
    behind, gain_behind = (running_sum(ties.query, total, n_queries) - total for total in (relevant, gain))
    above, share = _Above.of(ties, cutoff)
    has_relevant = relevant[above.tie] > 0
    tie, rank, share = above.tie[has_relevant], above.rank[has_relevant], share[has_relevant]
    query = ties.query[tie]
    ideal = graded.ideal_cumulated_gain(judgments, gains)
    ideal_gain = ideal[(np.cumsum(num_rel) - num_rel)[query] + np.minimum(rank, num_rel[query]) - 1]
    others = 1 + share * (relevant[tie] - 1)
    count = relevant[tie] * (behind[tie] + others)
    cumulated = relevant[tie] * gain_behind[tie] + gain[tie] * others
    blended = (count + beta * cumulated) / ties.size[tie] / (rank + beta * ideal_gain)
    return divide(sums(query, blended, n_queries), num_rel if cutoff is None else np.minimum(num_rel, cutoff))


def binary_preference(ties: TiedRankings, *, rel: float) -> Floats:
    """Compute the expected bpref: of s non-relevant documents in a tie, 0 to s are above, equally likely."""
    ties = ties.judged
    rankings = ties.rankings
    num_rel = rankings.judgments.num_rel(rel)
    limit = np.minimum(rankings.judgments.num_rel(0) - num_rel, num_rel)
    relevant = ties.totals(_is_relevant(ties, rel))
    others = (ties.size - relevant).astype(np.int64)
    behind = running_sum(ties.query, others.astype(np.float64), rankings.n_queries) - others
    tie = np.repeat(np.arange(len(others)), others + 1)
    above = behind[tie] + concat_ranges(np.zeros_like(others), others + 1)
    query = ties.query[tie]
    kept = 1 - divide(np.minimum(above, num_rel[query]), limit[query])
    return divide(sums(query, (relevant / (others + 1))[tie] * kept, rankings.n_queries), num_rel)


# --- measures with a user who stops ----------------------------------------------------------------


def _stopped(ties: TiedRankings, stop: Floats, cutoff: int | None, weight: WeightOfRank) -> Floats:
    """Sum the probability that the user stops at each rank within the cutoff, times the weight of the rank.

    The user stops at each judged document with a probability of its own, and otherwise goes on. Let g(n, j)
    be the probability of going on after j of the n documents of a tie: the mean, over all sets of j of them,
    of the product of 1 - stop. A further document changes it to the sum of (j/n) (1 - stop) g(n - 1, j - 1),
    for the sets with this document, and (1 - j/n) g(n - 1, j), for the sets without it.
    """
    n_ties, n_queries = len(ties.size), ties.rankings.n_queries
    ranks = ties.ranks(cutoff)
    rows = np.flatnonzero(stop > 0)
    row_tie, go_on = ties.tie[rows], 1 - stop[rows]
    n_stops = np.bincount(row_tie, minlength=n_ties)
    first = np.cumsum(n_stops) - n_stops
    going_on = np.ones(len(ranks.tie))
    for added in range(int(n_stops.max(initial=0))):
        changed = np.flatnonzero(n_stops[ranks.tie] > added)
        tie = ranks.tie[changed]
        n = (ties.size - n_stops)[tie] + added + 1
        share = np.minimum((ranks.before[changed] + 1) / n, 1)
        with_it = go_on[first[tie] + added] * _shifted(ranks.before[changed], going_on[changed])
        going_on[changed] = share * with_it + (1 - share) * going_on[changed]
    stopped = _shifted(ranks.before, going_on) - going_on
    past_tie = np.ones(n_ties)
    np.multiply.at(past_tie, row_tie, go_on)
    index = position_in_query(ties.query, n_queries) - 1
    reached = _shifted(index, running_product(ties.query, past_tie, n_queries))
    return sums(ties.query[ranks.tie], reached[ranks.tie] * stopped * weight(ranks.rank), n_queries)


def _shifted(index: Ints, values: Floats) -> Floats:
    """Return the value of the previous row; 1 where the index within the group is 0."""
    return np.where(index == 0, 1.0, np.concatenate([[1.0], values[:-1]])[: len(values)])


def reciprocal_rank(ties: TiedRankings, *, cutoff: int | None, rel: float, judged_only: bool) -> Floats:
    """Compute the expected reciprocal rank of the first relevant document."""
    ties = _ties(ties, judged_only)
    return _stopped(ties, _is_relevant(ties, rel), cutoff, lambda rank: 1 / rank)


def success(ties: TiedRankings, *, cutoff: int | None, rel: float, judged_only: bool) -> Floats:
    """Compute the probability of a relevant document within the first k (Success and Coverage)."""
    ties = _ties(ties, judged_only)
    return _stopped(ties, _is_relevant(ties, rel), cutoff, lambda rank: np.ones(len(rank)))


def expected_reciprocal_rank(ties: TiedRankings, *, cutoff: int | None) -> Floats:
    """Compute the expected reciprocal of the rank at which the user of ERR stops."""
    return _stopped(ties, graded.stop_probability(ties.rankings.grade), cutoff, lambda rank: 1 / rank)


# --- measures that no order changes ----------------------------------------------------------------


def same_in_any_order(kernel: Callable[..., Floats]) -> Callable[..., Floats]:
    """Wrap the kernel of a set measure: it computes the value from any of the orders."""

    def expected(ties: TiedRankings, **parameters: Any) -> Floats:
        return kernel(ties.rankings, **parameters)

    return expected
