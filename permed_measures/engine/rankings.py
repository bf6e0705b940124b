"""Where the judged documents stand in a run: the only view of a run that a measure needs.

The rank of a judged document is one plus the number of scores above its own, plus the tied documents that
come first. So a run is never sorted as a whole, and the ids of unjudged documents matter only within a tie.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.arrays import Ints
from permed_measures.engine.judgments import Judgments, offsets_of, position_in_query, sums
from permed_measures.engine.matching import MatchedDocs, find_in_table, match_dict
from permed_measures.engine.query_ids import suggestion
from permed_measures.engine.ranks import TieBreak
from permed_measures.engine.tables import QRELS_FIRST, Rows, Table, file_of
from permed_measures.errors import NoSharedQueryWarning, PermedWarning, short_repr, warn


class Relevant(NamedTuple):
    """The relevant documents of a ranking, sorted by query and rank.

    Attributes
    ----------
    query, rank, grade : ndarray
        As in `JudgedRankings`.
    found : ndarray of int64
        How many relevant documents the query has up to this rank.
    """

    query: NDArray[np.int32]
    rank: NDArray[np.int32]
    grade: NDArray[np.float64]
    found: Ints


@dataclass(frozen=True, eq=False)
class JudgedRankings:
    """The judged documents of a run, sorted by query and rank.

    Attributes
    ----------
    judgments : Judgments
        What the run is judged by.
    row : ndarray of int64, shape (n_rows,)
        Which judgment each hit is: its row in the arrays of `judgments`.
    rank : ndarray of int32, shape (n_rows,)
        Its rank among all retrieved documents, from 1.
    retrieved : ndarray of int64, shape (n_queries,)
        How many documents were retrieved for each query.
    n_run_queries, n_shared : int
        Queries of the run, judged or not; those that run and qrels have in common.
    scores_differ : bool
        Whether some query has two scores that differ; True where it is not known.
    depth : int, optional
        The rank that they are cut at, if they are.
    """

    judgments: Judgments
    row: Ints
    rank: NDArray[np.int32]
    retrieved: Ints
    n_run_queries: int
    n_shared: int
    scores_differ: bool = True
    depth: int | None = None
    _relevant: dict[tuple[float, int | None], Relevant] = field(default_factory=dict, init=False, repr=False)
    _within: dict[int, JudgedRankings] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls,
        judgments: Judgments,
        run: Rows,
        ties: TieBreak = TieBreak.TREC,
        depth: int | None = None,
    ) -> JudgedRankings:
        """Find the judged documents of a run.

        Parameters
        ----------
        judgments : Judgments
        run : nested dicts, Table, or PySpark frame
        ties : TieBreak, default TieBreak.TREC
        depth : int, optional
            Cut the rankings at this rank: ties below it need not be sorted.

        Returns
        -------
        JudgedRankings
            The same arrays for every form.

        Raises
        ------
        InputError
            For a score that is no number, an id that is no string or integer, a document that is listed twice
            in its query; the message names query and document.

        Warns
        -----
        PermedWarning
            If the run is not empty, but has no query of the qrels, or no judged document; if qrels and run
            look as if they were swapped.
        """
        if isinstance(run, Mapping):
            found = match_dict(judgments, run, ties, depth)
        elif isinstance(run, Table):
            found = find_in_table(judgments, run, ties, depth)
        else:
            from permed_measures.engine.from_spark import find_in_spark

            found = find_in_spark(judgments, run, ties)
        n_shared = sum(map(found.query_ids.__contains__, judgments.query_ids))
        counts = found.retrieved, len(found.query_ids), n_shared, found.scores_differ
        row, rank = found.row, found.rank
        if depth is not None:
            [near] = (rank <= depth).nonzero()
            row, rank = row[near], rank[near]
        rankings = cls.of_hits(judgments, row, rank, *counts, depth)
        if found.may_be_grades:
            _warn(SWAPPED, QRELS_FIRST, file_of(run))
        if not len(rankings.row):
            _warn_if_disjoint(rankings, found, file_of(run))
        return rankings

    @classmethod
    def of_hits(
        cls,
        judgments: Judgments,
        row: Ints,
        rank: Ints,
        retrieved: Ints,
        n_run_queries: int,
        n_shared: int,
        scores_differ: bool = True,
        depth: int | None = None,
    ) -> JudgedRankings:
        """Sort hits that have ranks already."""
        order = ((judgments.query[row].astype(np.int64) << 32) | rank).argsort()
        counts = n_run_queries, n_shared, scores_differ, depth
        return cls(judgments, row[order], rank[order].astype(np.int32), retrieved, *counts)

    @classmethod
    def ideal(cls, judgments: Judgments, gain: NDArray[np.float64]) -> JudgedRankings:
        """Return the rankings that retrieve all judged documents, by their gain descending."""
        n, query = judgments.n_queries, judgments.query
        rises = (gain[1:] > gain[:-1]) & (query[1:] == query[:-1])  # seldom: they are sorted by grade
        row = np.lexsort((-gain, query)) if rises.any() else np.arange(len(gain))
        rank = position_in_query(query, n).astype(np.int32)
        return cls(judgments, row, rank, np.diff(judgments.offsets), n, n)

    @property
    def n_queries(self) -> int:
        """The number of queries in the qrels."""
        return self.judgments.n_queries

    @cached_property
    def query(self) -> NDArray[np.int32]:
        """The query of each hit, as an index into ``judgments.query_ids``; shape (n_rows,)."""
        return self.judgments.query[self.row]

    @cached_property
    def grade(self) -> NDArray[np.float64]:
        """The grade of each hit; shape (n_rows,)."""
        return self.judgments.grade[self.row]

    @cached_property
    def offsets(self) -> Ints:
        """Where the rows of each query begin; shape (n_queries + 1,)."""
        return offsets_of(self.query, self.n_queries)

    @cached_property
    def condensed(self) -> JudgedRankings:
        """The rankings without unjudged documents.

        A negative grade counts as unjudged here: trec_eval's ``-J`` takes these documents out as well
        (seen with pytrec-eval-terrier 0.5.11).
        """
        kept = self.keep(self.grade >= 0)
        rank = position_in_query(kept.query, self.n_queries).astype(np.int32)
        return replace(kept, rank=rank, retrieved=np.diff(kept.offsets))

    def relevant(self, rel: float, cutoff: int | None = None, judged_only: bool = False) -> Relevant:
        """Return the documents within the cutoff with a grade of at least `rel`; many measures share them."""
        if judged_only:
            return self.condensed.relevant(rel, cutoff)
        cutoff = None if cutoff == self.depth else cutoff
        if (rel, cutoff) not in self._relevant:
            if cutoff is None:
                [rows] = (self.grade >= rel).nonzero()
                query = self.query[rows]
                found = position_in_query(query, self.n_queries)
                hits = Relevant(query, self.rank[rows], self.grade[rows], found)
            else:
                whole = self.relevant(rel)
                [rows] = (whole.rank <= cutoff).nonzero()
                hits = Relevant(whole.query[rows], whole.rank[rows], whole.grade[rows], whole.found[rows])
            self._relevant[rel, cutoff] = hits
        return self._relevant[rel, cutoff]

    def num_rel_ret(
        self, rel: float, cutoff: int | None = None, judged_only: bool = False
    ) -> NDArray[np.float64]:
        """Return how many documents with a grade of at least `rel` each query has within the cutoff."""
        hits = self.relevant(rel, None, judged_only)
        query = hits.query if cutoff is None else hits.query[hits.rank <= cutoff]
        return sums(query, None, self.n_queries)

    def within(self, cutoff: int | None) -> JudgedRankings:
        """Return the rankings cut at rank k; many measures share them."""
        if cutoff in (None, self.depth):
            return self
        if cutoff not in self._within:
            self._within[cutoff] = self.keep(self.rank <= cutoff)
        return self._within[cutoff]

    def keep(self, rows: NDArray[np.bool_]) -> JudgedRankings:
        """Return the rankings with only these rows, ranks unchanged."""
        counts = self.retrieved, self.n_run_queries, self.n_shared
        return JudgedRankings(self.judgments, self.row[rows], self.rank[rows], *counts)


SWAPPED = "the qrels look like a run, and the run looks like qrels"


def _warn_if_disjoint(rankings: JudgedRankings, found: MatchedDocs, path: Path | None) -> None:
    judgments, some_ids = rankings.judgments, found.some_ids
    if not rankings.n_run_queries or not len(judgments.query):
        return
    kind, hint, every = PermedWarning, "", "every value"
    if not rankings.n_shared:
        kind, theirs = NoSharedQueryWarning, _two(judgments.query_ids)
        problem = f"the run and the qrels share no query: the run has {_two(some_ids)}, the qrels {theirs}"
        run_ids = found.query_ids
        hint = suggestion(sorted(run_ids) if isinstance(run_ids, set) else list(run_ids), judgments.query_ids)
    elif not len(found.row) and rankings.retrieved.any():
        theirs = _two(judgments.documents)
        problem = f"no retrieved document is judged: the run has {_two(some_ids)}, the qrels judge {theirs}"
        every = "every value but NumRet"
        hint = _prefixed(some_ids, judgments.documents)
    else:
        return
    _warn(f"{problem}; {every} is that of an empty run", hint, path, kind)


def _warn(problem: str, hint: str, path: Path | None, kind: type[PermedWarning] = PermedWarning) -> None:
    prefix, advice = f"{path}: " if path else "", f". {hint}" if hint else ""
    warn(f"{prefix}{problem}{advice}", kind, path)


def _prefixed(run_ids: Iterable[str], judged: Iterable[str]) -> str:
    """Return a hint for ids that meet without what stands before their digits; empty if they do not."""
    ours, theirs = set(run_ids), set(judged)
    for ids, others in ((ours, theirs), (theirs, ours)):
        for each in sorted(ids):
            bare = re.sub(r"^[^0-9]+", "", each)
            if bare not in ("", each) and bare in others:
                first, second = (each, bare) if ids is ours else (bare, each)
                return (
                    f"{short_repr(first)} of the run may be {short_repr(second)} of the qrels: give both "
                    f"the same ids"
                )
    return ""


def _two(ids: Iterable[str]) -> str:
    return ", ".join(map(short_repr, islice(ids, 2)))
