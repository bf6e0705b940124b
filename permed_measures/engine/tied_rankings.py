"""Rankings without an order of equal scores: the documents of each, and their ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.arrays import Floats, Ints
from permed_measures.engine.judgments import Judgments, concat_ranges, running_sum
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import TieBreak
from permed_measures.engine.tables import Rows


class TieRanks(NamedTuple):
    """Ranks of ties: the tie of each, the rank, and how many ranks of the tie are before it."""

    tie: Ints
    rank: Ints
    before: Ints


@dataclass(frozen=True, eq=False)
class TiedRankings:
    """Judged documents of a run, of which those with equal scores stand in no order.

    A document whose score no other document has is a tie of one. Ties without a judged document are not here.

    Attributes
    ----------
    rankings : JudgedRankings
        In one of the orders.
    tie : ndarray of int64, shape (n_rows,)
        The tie of each judged document, ascending.
    ahead, size : ndarray of int64, shape (n_ties,)
        How many documents have a higher score in the query, and how many have this one.
    """

    rankings: JudgedRankings
    tie: Ints
    ahead: Ints
    size: Ints

    @classmethod
    def of(cls, judgments: Judgments, run: Rows) -> TiedRankings:
        """Find the ties of a run by two orders, in which the judged documents of a tie are reversed.

        They stand first in the one and last in the other. The two ranks of a document add up to the first
        and the last rank of its tie, which no other tie of the query has as its sum.
        """
        each_another = replace(judgments, grade=np.arange(1.0, len(judgments.grade) + 1))
        orders = TieBreak.OPTIMISTIC, TieBreak.PESSIMISTIC
        first, last = (JudgedRankings.of(each_another, run, ties) for ties in orders)
        rank_if_last = np.empty(len(judgments.grade), np.int64)
        rank_if_last[last.row] = last.rank
        reverse = rank_if_last[first.row]
        both = np.stack([first.query, first.rank + reverse])
        starts = np.ones(len(first.row), np.bool_)
        starts[1:] = (both[:, 1:] != both[:, :-1]).any(axis=0)
        ahead = first.rank[starts].astype(np.int64) - 1
        return cls(replace(first, judgments=judgments), np.cumsum(starts) - 1, ahead, reverse[starts] - ahead)

    @cached_property
    def query(self) -> NDArray[np.int32]:
        """The query of each tie; shape (n_ties,)."""
        first = np.flatnonzero(np.diff(self.tie, prepend=-1))
        return self.rankings.query[first]

    @cached_property
    def judged(self) -> TiedRankings:
        """The ties without unjudged documents, as `JudgedRankings.condensed`."""
        _, tie = np.unique(self.tie[self.rankings.grade >= 0], return_inverse=True)
        size = np.bincount(tie).astype(np.int64)
        condensed = replace(self, rankings=self.rankings.condensed, tie=tie, size=size)
        up_to = running_sum(condensed.query, size.astype(np.float64), self.rankings.n_queries)
        return replace(condensed, ahead=up_to.astype(np.int64) - size)

    def changed_by_order(self) -> NDArray[np.bool_]:
        """Return the queries with a tie of documents that differ: in their grades, or in being judged."""
        grade, n = self.rankings.grade, len(self.size)
        same = grade == grade[np.searchsorted(self.tie, self.tie)]
        mixed = np.bincount(self.tie[same], minlength=n) < self.size
        changed = np.zeros(self.rankings.n_queries, np.bool_)
        changed[self.query[mixed]] = True
        return changed

    def totals(self, values: Floats) -> Floats:
        """Return the sum of a value of the judged documents of each tie."""
        return np.bincount(self.tie, values, minlength=len(self.size)).astype(np.float64, copy=False)

    def ranks(self, cutoff: int | Ints | None) -> TieRanks:
        """Return all ranks of the ties that are within a cutoff, which may be one for each query."""
        length = self.size
        if cutoff is not None:
            limit = np.broadcast_to(cutoff, self.rankings.n_queries)[self.query]
            length = np.clip(limit - self.ahead, 0, self.size)
        tie = np.repeat(np.arange(len(length)), length)
        before = concat_ranges(np.zeros_like(length), length)
        return TieRanks(tie, self.ahead[tie] + 1 + before, before)
