"""Group the judged documents of a run into ties: documents with equal scores, whose order is open."""

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
    """Ranks within ties: the tie, the rank, and the number of ranks of the same tie before it."""

    tie: Ints
    rank: Ints
    before: Ints


@dataclass(frozen=True, eq=False)
class TiedRankings:
    """The judged documents of a run, grouped into ties without an order.

    A document with a unique score is a tie of one. Ties without judged documents are left out.

    Attributes
    ----------
    rankings : JudgedRankings
        The rankings in one of the possible orders.
    tie : ndarray of int64, shape (n_rows,)
        The tie of each judged document, ascending.
    ahead, size : ndarray of int64, shape (n_ties,)
        The number of documents of the query with a higher score, and the number with the score of the tie.
    """

    rankings: JudgedRankings
    tie: Ints
    ahead: Ints
    size: Ints

    @classmethod
    def of(cls, judgments: Judgments, run: Rows) -> TiedRankings:
        """Find the ties of a run by ranking it twice, with the judged documents of a tie in reverse order.

        They come first in the one ranking and last in the other. The sum of a document's two ranks is the
        first plus the last rank of its tie, and differs between the ties of a query.
        """
        distinct = replace(judgments, grade=np.arange(1.0, len(judgments.grade) + 1))
        orders = TieBreak.OPTIMISTIC, TieBreak.PESSIMISTIC
        first, last = (JudgedRankings.of(distinct, run, ties) for ties in orders)
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
        """The ties without unjudged documents, as in `JudgedRankings.judged_only`."""
        _, tie = np.unique(self.tie[self.rankings.grade >= 0], return_inverse=True)
        size = np.bincount(tie).astype(np.int64)
        judged = replace(self, rankings=self.rankings.judged_only, tie=tie, size=size)
        up_to = running_sum(judged.query, size.astype(np.float64), self.rankings.n_queries)
        return replace(judged, ahead=up_to.astype(np.int64) - size)

    def changed_by_order(self) -> NDArray[np.bool_]:
        """Find the queries with a tie whose documents differ in grade, or of which some are unjudged."""
        grade, n = self.rankings.grade, len(self.size)
        same = grade == grade[np.searchsorted(self.tie, self.tie)]
        mixed = np.bincount(self.tie[same], minlength=n) < self.size
        changed = np.zeros(self.rankings.n_queries, np.bool_)
        changed[self.query[mixed]] = True
        return changed

    def totals(self, values: Floats) -> Floats:
        """Sum a value of the judged documents over each tie."""
        return np.bincount(self.tie, values, minlength=len(self.size)).astype(np.float64, copy=False)

    def ranks(self, cutoff: int | Ints | None) -> TieRanks:
        """List all ranks of the ties within a cutoff, which may differ between queries."""
        length = self.size
        if cutoff is not None:
            limit = np.broadcast_to(cutoff, self.rankings.n_queries)[self.query]
            length = np.clip(limit - self.ahead, 0, self.size)
        tie = np.repeat(np.arange(len(length)), length)
        before = concat_ranges(np.zeros_like(length), length)
        return TieRanks(tie, self.ahead[tie] + 1 + before, before)
