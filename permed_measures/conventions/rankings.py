"""Rank lists by a tie rule, and leave documents out.

`records.py` says which value of an option uses which of these functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from permed_measures.arrays import Bools, Ints
from permed_measures.conventions.per_query import LabelPolicy, TieRankRange
from permed_measures.engine.judgments import Judgments, position_in_query
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import ScoredHits, TieBreak, ranks_of, tie_rank_ranges

QueryScores = Mapping[str, float]
Lists = Mapping[str, QueryScores]


class LeaveOut(NamedTuple):
    """A rule that leaves documents out.

    Attributes
    ----------
    keep : callable, optional
        Selects the rows that stay, before the lists are ranked.
    condense : callable, optional
        Removes documents from a ranking.
    """

    keep: Callable[[Lists, ScoredHits, list[str]], Bools] | None = None
    condense: Callable[[JudgedRankings], JudgedRankings] | None = None


def with_a_score_above_0(_: Lists, rows: ScoredHits, __: list[str]) -> Bools:
    """Select the documents with a score above 0."""
    return np.asarray(rows.score > 0)


def without_query(lists: Lists, rows: ScoredHits, query_ids: list[str]) -> Bools:
    """Select the documents whose id differs from the id of their query."""
    kept = np.ones(len(rows.score), bool)
    for query_id, start in zip(query_ids, rows.start.tolist(), strict=True):
        if query_id in lists.get(query_id, ()):
            kept[start + [*lists[query_id]].index(query_id)] = False
    return kept


def judged_only(rankings: JudgedRankings) -> JudgedRankings:
    """Remove unjudged documents from rankings, and documents with a negative grade."""
    return rankings.judged_only


def labelled_only(rankings: JudgedRankings) -> JudgedRankings:
    """Remove unjudged documents from rankings; documents with a negative grade stay."""
    rank = position_in_query(rankings.query, rankings.n_queries).astype(np.int32)
    return replace(rankings, rank=rank, retrieved=np.diff(rankings.offsets))


class RankedLists:
    """The scored lists of a run, ranked by any tie rule under any label policy.

    Parameters
    ----------
    judgments : Judgments
    rows : ScoredHits
        The rows of the lists of judged queries.
    counts : tuple of two ints
        The number of queries of the run, and how many of them the qrels have.
    all_ties : bool
        Whether to break every tie. If not, only ties between different grades are broken, which is faster.
    """

    def __init__(
        self, judgments: Judgments, rows: ScoredHits, counts: tuple[int, int], all_ties: bool = False
    ) -> None:
        self._judgments, self._rows, self._counts, self._all_ties = judgments, rows, counts, all_ties
        self._rankings: dict[tuple[TieBreak, LabelPolicy], JudgedRankings] = {}
        self._mixed: dict[LabelPolicy, Bools] = {}

    def rankings(self, labels: LabelPolicy, ties: TieBreak) -> JudgedRankings:
        """Rank the lists by a tie rule."""
        if (ties, labels) not in self._rankings:
            rows, judgments = self._rows, labels.judgments
            if self._has_ties_single:
                rank = ranks_of(rows, judgments, ties, mixed=None if self._all_ties else self.mixed(labels))
            else:  # no rule matters
                rank = self._tie_ranks_single.first
            retrieved = rows.end - rows.start
            rankings = JudgedRankings.from_ranks(judgments, rows.row, rank, retrieved, *self._counts)
            self._rankings[ties, labels] = rankings
        return self._rankings[ties, labels]

    def mixed(self, labels: LabelPolicy) -> Bools:
        """Select the hits that are tied with a document of another grade; unjudged documents have grade 0."""
        if labels not in self._mixed:
            self._mixed[labels] = self._tied_with_others(labels)
        return self._mixed[labels]

    def _tied_with_others(self, labels: LabelPolicy) -> Bools:
        first, last = self._tie_ranks_single
        if not self._has_ties_single:
            return np.zeros(len(first), bool)
        grade, query = labels.judgments.grade[self._rows.row], self._judgments.query[self._rows.row]
        tie = self._rows.start[query] + first
        _, example, inverse, n_hits = np.unique(tie, True, True, True)
        size = (last - first + 1)[example]
        lowest, highest = np.full((2, len(n_hits)), np.where(n_hits < size, 0.0, np.nan))
        np.fmin.at(lowest, inverse, grade)
        np.fmax.at(highest, inverse, grade)
        return np.asarray((lowest < highest)[inverse])

    @cached_property
    def _tie_ranks_single(self) -> TieRankRange:
        """The tie ranks of all hits by scores in single precision, in the order of the judgments."""
        return TieRankRange(*tie_rank_ranges(self._rows, self._judgments, np.float32))

    @cached_property
    def _has_ties_single(self) -> bool:
        first, last = self._tie_ranks_single
        return bool((first != last).any())

    @cached_property
    def has_ties(self) -> bool:
        """Whether any judged document has the same score as another document."""
        first, last = self._tie_ranks
        return self._has_ties_single and bool((first != last).any())

    def tie_ranks(self, rankings: JudgedRankings) -> TieRankRange:
        """Return the first and last rank of the documents with the score of each hit."""
        position = np.searchsorted(self._rows.row, rankings.row)
        return TieRankRange(*(ranks[position] for ranks in self._tie_ranks))

    @cached_property
    def _tie_ranks(self) -> TieRankRange:
        """The tie ranks of all hits, in the order of the judgments."""
        if not self._has_ties_single:  # then there are none in double precision, and the order is the same
            return self._tie_ranks_single
        return TieRankRange(*tie_rank_ranges(self._rows, self._judgments, np.float64))

    @cached_property
    def listed(self) -> tuple[LabelPolicy, Ints]:
        """The judgments of retrieved documents only, and the new row of each judgment."""
        judgments, listed = self._judgments, np.zeros(len(self._judgments.query), bool)
        listed[self._rows.row] = True
        kept = replace(
            judgments,
            query=judgments.query[listed],
            grade=judgments.grade[listed],
            source_position=np.arange(listed.sum()),
            source_documents=judgments.doc_ids(np.flatnonzero(listed)),
        )
        return LabelPolicy("listed", kept), np.cumsum(listed) - 1
