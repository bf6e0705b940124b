"""Rankings whose unjudged documents within the cutoff have a grade."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.judgments import Ints, Judgments, position_in_query
from permed_measures.engine.rankings import JudgedRankings

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Unjudged:
    """The unjudged documents within a cutoff, sorted by query and rank.

    Attributes
    ----------
    query : ndarray of int32, shape (n_unjudged,)
    rank : ndarray of int32, shape (n_unjudged,)
        Its rank among all retrieved documents, from 1.
    """

    query: NDArray[np.int32]
    rank: NDArray[np.int32]

    @classmethod
    def of(cls, rankings: JudgedRankings, cutoff: int | None) -> Unjudged:
        """Find the ranks that no judged document has."""
        seen = rankings.retrieved if cutoff is None else np.minimum(rankings.retrieved, cutoff)
        starts = np.cumsum(seen) - seen
        unjudged = np.ones(int(seen.sum()), np.bool_)
        within = rankings.within(cutoff)
        unjudged[starts[within.query] + within.rank - 1] = False
        place = np.flatnonzero(unjudged)
        query = np.repeat(np.arange(len(seen), dtype=np.int32), seen)[place]
        return cls(query, (place - starts[query] + 1).astype(np.int32))

    @classmethod
    def numbers(cls, rankings: JudgedRankings, cutoff: int | None) -> Ints:
        """Return how many there are of each query; shape (n_queries,)."""
        seen = rankings.retrieved if cutoff is None else np.minimum(rankings.retrieved, cutoff)
        number: Ints = seen - np.bincount(rankings.within(cutoff).query, minlength=len(seen))
        return number


@dataclass(frozen=True, eq=False)
class Graded:
    """Rankings in which all documents within the cutoff have a grade.

    Attributes
    ----------
    rankings : JudgedRankings
        Its judgments have the documents that were unjudged too.
    is_new : ndarray of bool, shape (n_judgments,)
        Which rows of these judgments they are.
    """

    rankings: JudgedRankings
    is_new: Bools

    @classmethod
    def of(cls, rankings: JudgedRankings, unjudged: Unjudged, grade: float | Floats) -> Graded:
        """Give the unjudged documents a grade, or one each."""
        known, n_new = rankings.judgments, len(unjudged.query)
        query = np.concatenate([known.query, unjudged.query])
        grades = np.concatenate([known.grade, np.broadcast_to(np.float64(grade), n_new)])
        order = np.lexsort((-grades, query))
        row_of = np.empty_like(order)
        row_of[order] = np.arange(len(order))
        judgments = Judgments(known.query_ids, query[order], grades[order], np.arange(len(order)), [])
        row = row_of[np.concatenate([rankings.row, len(known.query) + np.arange(n_new)])]
        rank = np.concatenate([rankings.rank, unjudged.rank])
        by_rank = np.argsort((judgments.query[row].astype(np.int64) << 32) | rank)
        counts = rankings.retrieved, rankings.n_run_queries, rankings.n_answered
        graded = JudgedRankings(judgments, row[by_rank], rank[by_rank], *counts)
        return cls(graded, order >= len(known.query))


@dataclass(frozen=True, eq=False)
class Slots:
    """The ranks that count of each query, each with a document of a known or of any grade.

    Attributes
    ----------
    judgments : Judgments
        The judgments that are known.
    query, rank, grade : ndarray, shape (n_slots,)
        As in `JudgedRankings`, by query and rank; the grade of a new document means nothing.
    is_new : ndarray of bool, shape (n_slots,)
        Whether the document is unjudged and may have any grade.
    """

    judgments: Judgments
    query: NDArray[np.int32]
    rank: NDArray[np.int32]
    grade: Floats
    is_new: Bools

    @classmethod
    def of(
        cls, rankings: JudgedRankings, unjudged: Unjudged, cutoff: int | None, judged_only: bool = False
    ) -> Slots:
        """Return the slots within the cutoff; `judged_only` takes negative grades out of the ranking first.

        Documents that were unjudged within the cutoff are judged now, so that none of them leaves.
        """
        graded = Graded.of(rankings, unjudged, 0.0)
        rows = (graded.rankings.condensed if judged_only else graded.rankings).within(cutoff)
        return cls(rankings.judgments, rows.query, rows.rank, rows.grade, graded.is_new[rows.row])

    @property
    def n_queries(self) -> int:
        """The number of queries in the qrels."""
        return self.judgments.n_queries

    @property
    def n_new(self) -> Ints:
        """How many unjudged documents each query has; shape (n_queries,)."""
        return np.bincount(self.query[self.is_new], minlength=self.n_queries)

    def table(self, values: Floats, queries: Ints, fill: float = 0.0) -> Floats:
        """Return the values of new documents as a table of queries and their new documents by rank."""
        n_new, query = self.n_new, self.query[self.is_new]
        found = np.full((self.n_queries, int(n_new.max(initial=0))), fill)
        found[query, position_in_query(query, self.n_queries) - 1] = values[self.is_new]
        return found[queries, : int(n_new[queries].max(initial=0))]
