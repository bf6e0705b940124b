"""The least and the most that nDCG can be where unjudged documents may have any grade.

With levels of gain t, d_t the difference to the level below, and D(n) the sum of the first n discounts, the
ideal list at k gains the sum over t of d_t * D(min(k, R_t + n_t)): R_t known and n_t new documents gain t or
more. The same n_t give the ranking most where higher grades stand higher, and least where they stand lower.

- **Most.** DCG - x * ideal is then a sum over the levels, and for each the best n_t is found by itself: the
  smaller R_t, the more a new document adds to the ideal list, so the best n_t fall as the levels rise: they
  fit together. Dinkelbach's method (1967) takes the quotient as the next x, until it stays.
- **Least.** The ideal list's gain is convex in the gains of the documents, so the quotient is quasi-concave:
  it is least where each new document has the lowest or the highest grade. So there are as many cases as new
  documents, and one.

A quotient below 0 (``negative='keep'``) is least where both are; where an ideal list may gain nothing, and
there are negative grades that count, all numbers of documents per grade are tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise
from math import comb

import numpy as np
from numpy.typing import NDArray

from permed_measures.budgets.gradings import Bools, Floats, Slots
from permed_measures.engine.judgments import Ints
from permed_measures.engine.kernels.shared import sums

_MOST_TRIED = 200_000
"""Cases that are tried one by one."""


@dataclass(frozen=True, eq=False)
class Ideal:
    """The documents that the ideal list is made of, but for the new ones.

    Attributes
    ----------
    query, gain : ndarray, shape (n_documents,)
    zeros : ndarray of int64, shape (n_queries,)
        How many documents there are besides that gain 0.
    """

    query: NDArray[np.int32]
    gain: Floats
    zeros: Ints


@dataclass(frozen=True, eq=False)
class _Queries:
    """Some queries, as tables of queries and new documents by rank.

    Attributes
    ----------
    discount : ndarray, shape (n_queries, n_most)
        That of each new document's rank; 0 where there is none.
    number : ndarray of int64, shape (n_queries,)
    known : ndarray, shape (n_queries,)
        What the known documents gain in the ranking.
    levels : ndarray, shape (n_levels,)
        All gains, ascending.
    at_least : ndarray of int64, shape (n_levels, n_queries)
        How many known documents of the ideal list gain that or more.
    total : ndarray, shape (n,)
        D(0), D(1), ..., which stays the same from the cutoff on.
    """

    discount: Floats
    number: Ints
    known: Floats
    levels: Floats
    at_least: Ints
    total: Floats

    def ideal(self, added: list[Ints]) -> Floats:
        """Return the gain of the ideal list with so many new documents of each level or more."""
        gain: Floats = self.levels[0] * self.total[(self.at_least[0] + self.number)]
        if added[0].ndim > 1:
            gain = gain[:, None]
        for step, known, new in zip(np.diff(self.levels), self.at_least[1:], added[1:], strict=True):
            gain = gain + step * self.total[(known if new.ndim == 1 else known[:, None]) + new]
        return gain


def ndcg_bounds(
    slots: Slots,
    queries: Ints,
    gain: Floats,
    discount: Floats,
    scale: Floats,
    ideal: Ideal,
    discounts: Floats,
    others: Ints,
) -> tuple[Floats, Floats, Bools]:
    """Return the least and the most for some queries, and where that is exact.

    Parameters
    ----------
    slots : Slots
    queries : ndarray of int64
        Queries that have new documents.
    gain, discount : ndarray, shape (n_slots,)
        Of each slot.
    scale : ndarray
        The gains that a new document may have, ascending.
    ideal : Ideal
    discounts : ndarray
        Of the ranks 1, 2, ... up to the cutoff, or the longest list.
    others : ndarray of int64, shape (len(queries),)
        How many new documents only others have. They count where an ideal list may gain nothing; elsewhere
        it is known what is the worst.
    """
    here = _queries(slots, queries, gain, discount, scale, ideal, discounts)
    shape, lowest, highest = here.discount.shape, scale[0], scale[-1]
    all_lowest = [np.where(level <= lowest, here.number, 0) for level in here.levels]
    bottom, over = here.known + lowest * here.discount.sum(axis=1), here.ideal(all_lowest)
    start = np.divide(bottom, over, out=np.zeros_like(bottom), where=over > 0)
    high = _most(here, scale, start)
    low = _least(here, lowest, highest, bottom) if shape[1] else start
    low = np.where((bottom < 0) & (over > 0), start, low)
    odd = (here.levels[0] < 0) & (over <= 0)
    exact = np.ones(len(queries), np.bool_)
    for query in np.flatnonzero(odd & (here.number + others > 0)):
        low[query], high[query], exact[query] = _tried(here, int(query), scale, int(others[query]))
    return low, high, exact


def _queries(
    slots: Slots,
    queries: Ints,
    gain: Floats,
    discount: Floats,
    scale: Floats,
    ideal: Ideal,
    discounts: Floats,
) -> _Queries:
    n = slots.n_queries
    known = sums(slots.query, np.where(slots.is_new, 0.0, gain * discount), n)[queries]
    levels = np.unique(np.concatenate([ideal.gain, scale, [0.0]]))
    at_least = np.array([np.bincount(ideal.query[ideal.gain >= level], minlength=n) for level in levels])
    at_least[levels <= 0] += ideal.zeros
    number = slots.n_new[queries]
    longest = int((at_least[0][queries] + number).max(initial=0))
    total = np.concatenate([[0.0], np.cumsum(discounts)])
    total = np.concatenate([total, np.full(max(longest + 1 - len(total), 0), total[-1])])
    return _Queries(slots.table(discount, queries), number, known, levels, at_least[:, queries], total)


def _most(here: _Queries, scale: Floats, value: Floats) -> Floats:
    """Return the most, by Dinkelbach's method from the values with all new documents of the lowest gain."""
    n = here.discount.shape[1]
    count, there = np.arange(1, n + 1), np.arange(n) < here.number[:, None]
    groups = [(here.levels > below) & (here.levels <= above) for below, above in pairwise(scale)]
    steps = np.diff(here.levels, prepend=here.levels[0])
    adds = []  # by step of the scale, what the n-th document of this gain or more adds to the ideal list
    for group in groups:
        parts = zip(steps[group], here.at_least[group], strict=True)
        adds.append(
            sum(
                d * (here.total[r[:, None] + count * there] - here.total[r[:, None] + (count - 1) * there])
                for d, r in parts
            )
        )
    for _ in range(_MOST_ROUNDS):
        added = []
        for below, above, more in zip(scale, scale[1:], adds, strict=False):
            each = np.where(there, (above - below) * here.discount - value[:, None] * more, 0.0)
            totals = np.concatenate([np.zeros((len(each), 1)), np.cumsum(each, axis=1)], axis=1)
            totals = np.where(np.arange(n + 1) <= here.number[:, None], totals, -np.inf)
            added.append(n - totals[:, ::-1].argmax(axis=1))  # the largest of the best
        gained, over = _gained(here, scale, added), here.ideal(_of_levels(here, scale, added))
        better = np.divide(gained, over, out=value.copy(), where=over > 0)
        moved = better - value > 1e-15
        if not moved.any():
            break
        value = np.where(moved, better, value)
    return value


_MOST_ROUNDS = 50
"""Of Dinkelbach's method; it takes three to six."""


def _gained(here: _Queries, scale: Floats, added: list[Ints]) -> Floats:
    """Return the gain of the rankings in which so many documents gain each step of the scale, or more."""
    n = here.discount.shape[1]
    first = np.concatenate([np.zeros((len(here.known), 1)), np.cumsum(here.discount, axis=1)], axis=1)
    gained: Floats = here.known + scale[0] * first[:, n]
    for step, number in zip(np.diff(scale), added, strict=True):
        gained = gained + step * np.take_along_axis(first, number[:, None], axis=1)[:, 0]
    return gained


def _of_levels(here: _Queries, scale: Floats, added: list[Ints]) -> list[Ints]:
    """Return how many new documents gain each level or more."""
    numbers = [here.number, *added, np.zeros_like(here.number)]
    return [numbers[int(np.searchsorted(scale, level))] for level in here.levels]


def _least(here: _Queries, lowest: float, highest: float, bottom: Floats) -> Floats:
    """Return the least where no quotient is below 0: the last m new documents gain most, the others least."""
    n, number = here.discount.shape[1], here.number[:, None]
    column = number - 1 - np.arange(n)
    last = np.where(column >= 0, np.take_along_axis(here.discount, np.maximum(column, 0), axis=1), 0.0)
    suffix = np.concatenate([np.zeros((len(last), 1)), np.cumsum(last, axis=1)], axis=1)
    gained = bottom[:, None] + (highest - lowest) * suffix
    count = np.minimum(np.arange(n + 1), number)
    whole, none = np.broadcast_to(number, count.shape), np.zeros_like(count)
    added = [whole if level <= lowest else count if level <= highest else none for level in here.levels]
    over = here.ideal(added)
    least: Floats = np.divide(gained, over, out=np.zeros_like(gained), where=over > 0).min(axis=1)
    return least


def _tried(here: _Queries, query: int, scale: Floats, others: int) -> tuple[float, float, bool]:
    """Return the least and the most of a query by trying all numbers of documents per gain."""
    number = int(here.number[query])
    if comb(number + len(scale) - 1, number) * comb(others + len(scale) - 1, others) > _MOST_TRIED:
        return -np.inf, np.inf, False
    gains, lacking = (np.array(list(combinations_with_replacement(scale, n))) for n in (number, others))
    discount, known = here.discount[query, :number], here.at_least[:, query]
    longest = int(known[0]) + number + others
    total = np.concatenate([here.total, np.full(max(longest + 1 - len(here.total), 0), here.total[-1])])
    over = np.full((len(gains), len(lacking)), here.levels[0] * total[longest])
    for step, level, count in zip(np.diff(here.levels), here.levels[1:], known[1:], strict=True):
        new = np.add.outer((gains >= level).sum(axis=1), (lacking >= level).sum(axis=1))
        over += step * total[count + new]
    gained = np.array([gains @ discount, gains[:, ::-1] @ discount])[:, :, None] + here.known[query]
    quotients = np.divide(gained, over, out=np.zeros((2, *over.shape)), where=over > 0)
    return float(quotients.min()), float(quotients.max()), True
