"""Rank the judged documents of a run; a measure needs to know nothing else about the run.

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
        The number of relevant documents of the query up to and including this rank.
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
        The judgments of the run.
    row : ndarray of int64, shape (n_rows,)
        The row of each document in the arrays of `judgments`.
    rank : ndarray of int32, shape (n_rows,)
        Its rank among all retrieved documents, from 1.
    retrieved : ndarray of int64, shape (n_queries,)
        The number of retrieved documents for each query.
    n_run_queries, n_shared : int
        The number of queries in the run, judged or not, and of queries in both run and qrels.
    scores_differ : bool
        Whether some query has two different scores; True if unknown.
    depth : int, optional
        The rank at which the rankings are cut.
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
        """Find and rank the judged documents of a run.

        Parameters
        ----------
        judgments : Judgments
        run : nested dicts, Table, or PySpark frame
        ties : TieBreak, default TieBreak.TREC
        depth : int, optional
            Cut the rankings at this rank, so that ties below it need no sorting.

        Returns
        -------
        JudgedRankings
            The arrays are the same for every form of the run.

        Raises
        ------
        InputError
            For a score that is not a number, an id that is neither a string nor an integer, or a document
            that is listed twice in its query; the message names query and document.

        Warns
        -----
        PermedWarning
            If the run is not empty, but has no query of the qrels, or no judged document; if qrels and run
            look swapped.
        """
        if isinstance(run, Mapping):
            matched = match_dict(judgments, run, ties, depth)
        elif isinstance(run, Table):
            matched = find_in_table(judgments, run, ties, depth)
        else:
            from permed_measures.engine.from_spark import find_in_spark

            matched = find_in_spark(judgments, run, ties)
        n_shared = sum(map(matched.query_ids.__contains__, judgments.query_ids))
        counts = matched.retrieved, len(matched.query_ids), n_shared, matched.scores_differ
        row, rank = matched.row, matched.rank
        if depth is not None:
            [within] = (rank <= depth).nonzero()
            row, rank = row[within], rank[within]
        rankings = cls.from_ranks(judgments, row, rank, *counts, depth)
        if matched.may_be_grades:
            _warn(SWAPPED, QRELS_FIRST, file_of(run))
        if not len(rankings.row):
            _warn_if_disjoint(rankings, matched, file_of(run))
        return rankings

    @classmethod
    def from_ranks(
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
        """Sort matched documents, whose ranks are known, by query and rank."""
        order = ((judgments.query[row].astype(np.int64) << 32) | rank).argsort()
        counts = n_run_queries, n_shared, scores_differ, depth
        return cls(judgments, row[order], rank[order].astype(np.int32), retrieved, *counts)

    @classmethod
    def ideal(cls, judgments: Judgments, gain: NDArray[np.float64]) -> JudgedRankings:
        """Rank all judged documents of each query by gain descending."""
        n, query = judgments.n_queries, judgments.query
        rises = (gain[1:] > gain[:-1]) & (query[1:] == query[:-1])  # seldom: the rows are sorted by grade
        row = np.lexsort((-gain, query)) if rises.any() else np.arange(len(gain))
        rank = position_in_query(query, n).astype(np.int32)
        return cls(judgments, row, rank, np.diff(judgments.offsets), n, n)

    @property
    def n_queries(self) -> int:
        """The number of queries in the qrels."""
        return self.judgments.n_queries

    @cached_property
    def query(self) -> NDArray[np.int32]:
        """The query of each row, as an index into ``judgments.query_ids``; shape (n_rows,)."""
        return self.judgments.query[self.row]

    @cached_property
    def grade(self) -> NDArray[np.float64]:
        """The grade of each row; shape (n_rows,)."""
        return self.judgments.grade[self.row]

    @cached_property
    def offsets(self) -> Ints:
        """The first row of each query, and the number of rows; shape (n_queries + 1,)."""
        return offsets_of(self.query, self.n_queries)

    @cached_property
    def judged_only(self) -> JudgedRankings:
        """The rankings without unjudged documents.

        A negative grade counts as unjudged here: trec_eval's ``-J`` removes these documents too (tested with
        pytrec-eval-terrier 0.5.11).
        """
        kept = self.take(self.grade >= 0)
        rank = position_in_query(kept.query, self.n_queries).astype(np.int32)
        return replace(kept, rank=rank, retrieved=np.diff(kept.offsets))

    def relevant(self, rel: float, cutoff: int | None = None, judged_only: bool = False) -> Relevant:
        """Select the documents within the cutoff with a grade of at least `rel`; cached for all measures."""
        if judged_only:
            return self.judged_only.relevant(rel, cutoff)
        cutoff = None if cutoff == self.depth else cutoff
        if (rel, cutoff) not in self._relevant:
            if cutoff is None:
                [rows] = (self.grade >= rel).nonzero()
                query = self.query[rows]
                n_relevant = position_in_query(query, self.n_queries)
                hits = Relevant(query, self.rank[rows], self.grade[rows], n_relevant)
            else:
                whole = self.relevant(rel)
                [rows] = (whole.rank <= cutoff).nonzero()
                hits = Relevant(whole.query[rows], whole.rank[rows], whole.grade[rows], whole.found[rows])
            self._relevant[rel, cutoff] = hits
        return self._relevant[rel, cutoff]

    def num_rel_ret(
        self, rel: float, cutoff: int | None = None, judged_only: bool = False
    ) -> NDArray[np.float64]:
        """Count the documents with a grade of at least `rel` within the cutoff, per query."""
        hits = self.relevant(rel, None, judged_only)
        query = hits.query if cutoff is None else hits.query[hits.rank <= cutoff]
        return sums(query, None, self.n_queries)

    def within(self, cutoff: int | None) -> JudgedRankings:
        """Cut the rankings at a rank; cached for all measures."""
        if cutoff in (None, self.depth):
            return self
        if cutoff not in self._within:
            self._within[cutoff] = self.take(self.rank <= cutoff)
        return self._within[cutoff]

    def take(self, rows: NDArray[np.bool_]) -> JudgedRankings:
        """Keep only these rows; their ranks do not change."""
        counts = self.retrieved, self.n_run_queries, self.n_shared
        return JudgedRankings(self.judgments, self.row[rows], self.rank[rows], *counts)


SWAPPED = "the qrels look like a run, and the run looks like qrels"


def _warn_if_disjoint(rankings: JudgedRankings, matched: MatchedDocs, path: Path | None) -> None:
    judgments, in_run = rankings.judgments, _first_two(matched.some_ids)
    if not rankings.n_run_queries or not len(judgments.query):
        return
    kind, hint, every = PermedWarning, "", "every value"
    if not rankings.n_shared:
        kind, in_qrels = NoSharedQueryWarning, _first_two(judgments.query_ids)
        problem = f"the run and the qrels share no query: the run has {in_run}, the qrels {in_qrels}"
        run_ids = matched.query_ids
        hint = suggestion(sorted(run_ids) if isinstance(run_ids, set) else list(run_ids), judgments.query_ids)
    elif not len(matched.row) and rankings.retrieved.any():
        in_qrels = _first_two(judgments.documents)
        problem = f"no retrieved document is judged: the run has {in_run}, the qrels judge {in_qrels}"
        every = "every value but NumRet"
        hint = _prefix_hint(matched.some_ids, judgments.documents)
    else:
        return
    _warn(f"{problem}; {every} is that of an empty run", hint, path, kind)


def _warn(problem: str, hint: str, path: Path | None, kind: type[PermedWarning] = PermedWarning) -> None:
    prefix, advice = f"{path}: " if path else "", f". {hint}" if hint else ""
    warn(f"{prefix}{problem}{advice}", kind, path)


def _prefix_hint(run_ids: Iterable[str], judged_ids: Iterable[str]) -> str:
    """Suggest that the ids of one side have a prefix before their digits; empty if that is not so."""
    in_run, in_qrels = set(run_ids), set(judged_ids)
    for ids, others in ((in_run, in_qrels), (in_qrels, in_run)):
        for doc_id in sorted(ids):
            bare = re.sub(r"^[^0-9]+", "", doc_id)
            if bare not in ("", doc_id) and bare in others:
                run_id, judged_id = (doc_id, bare) if ids is in_run else (bare, doc_id)
                return (
                    f"{short_repr(run_id)} of the run may be {short_repr(judged_id)} of the qrels: give both "
                    f"the same ids"
                )
    return ""


def _first_two(ids: Iterable[str]) -> str:
    return ", ".join(map(short_repr, islice(ids, 2)))
