"""What the values of options do to rankings: ties, documents that are left out, lists that are cut.

`options.py` says which value does what.
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
    """Which documents are left out.

    Attributes
    ----------
    keep : callable, optional
        Which rows stay in their lists, before these are ranked.
    condense : callable, optional
        What becomes of rankings.
    """

    keep: Callable[[Lists, ScoredHits, list[str]], Bools] | None = None
    condense: Callable[[JudgedRankings], JudgedRankings] | None = None


def with_a_score_above_0(_: Lists, rows: ScoredHits, __: list[str]) -> Bools:
    """Return which documents have a score above 0."""
    return np.asarray(rows.score > 0)


def without_query(lists: Lists, rows: ScoredHits, query_ids: list[str]) -> Bools:
    """Return which documents have another id than their query."""
    kept = np.ones(len(rows.score), bool)
    for query_id, start in zip(query_ids, rows.start.tolist(), strict=True):
        if query_id in lists.get(query_id, ()):
            kept[start + [*lists[query_id]].index(query_id)] = False
    return kept


def judged_only(rankings: JudgedRankings) -> JudgedRankings:
    """Return rankings without unjudged documents; those with a negative grade are unjudged."""
    return rankings.condensed


def labelled_only(rankings: JudgedRankings) -> JudgedRankings:
    """Return rankings without unjudged documents; those with a negative grade stay."""
    rank = position_in_query(rankings.query, rankings.n_queries).astype(np.int32)
    return replace(rankings, rank=rank, retrieved=np.diff(rankings.offsets))


class RankedLists:
    """Lists of scores, and their rankings.

    Unless `all_ties` matter, a rule breaks only those ties whose documents have different grades. How many
    queries the run has, and how many of them the qrels, is in `counts`.
    """

    def __init__(
        self, judgments: Judgments, rows: ScoredHits, counts: tuple[int, int], all_ties: bool = False
    ) -> None:
        self._judgments, self._rows, self._counts, self._all_ties = judgments, rows, counts, all_ties
        self._found: dict[tuple[TieBreak, LabelPolicy], JudgedRankings] = {}
        self._mixed: dict[LabelPolicy, Bools] = {}

    def rankings(self, labels: LabelPolicy, ties: TieBreak) -> JudgedRankings:
        """Rank the lists by a rule."""
        if (ties, labels) not in self._found:
            rows, judgments = self._rows, labels.judgments
            rank = ranks_of(rows, judgments, ties, mixed=None if self._all_ties else self.mixed(labels))
            retrieved = rows.end - rows.start
            found = JudgedRankings.of_hits(judgments, rows.row, rank, retrieved, *self._counts)
            self._found[ties, labels] = found
        return self._found[ties, labels]

    def mixed(self, labels: LabelPolicy) -> Bools:
        """Return which hits are tied with documents of another grade, that of unjudged ones being 0."""
        if labels not in self._mixed:
            grade, query = labels.judgments.grade[self._rows.row], self._judgments.query[self._rows.row]
            first, last = tie_rank_ranges(self._rows, self._judgments, np.float32)
            tie = self._rows.start[query] + first
            _, one, which, n_hits = np.unique(tie, True, True, True)
            size = (last - first + 1)[one]
            lowest, highest = np.full((2, len(n_hits)), np.where(n_hits < size, 0.0, np.nan))
            np.fmin.at(lowest, which, grade)
            np.fmax.at(highest, which, grade)
            self._mixed[labels] = (lowest < highest)[which]
        return self._mixed[labels]

    @property
    def has_ties(self) -> bool:
        """Whether any judged document has the score of another one."""
        first, last = self._tie_ranks
        return bool((first != last).any())

    def tie_ranks(self, rankings: JudgedRankings) -> TieRankRange:
        """Return the ranks that each hit could have among the documents with its score."""
        place_of = np.searchsorted(self._rows.row, rankings.row)
        return TieRankRange(*(each[place_of] for each in self._tie_ranks))

    @cached_property
    def _tie_ranks(self) -> TieRankRange:
        """Those of all hits, in the order of the judgments."""
        return TieRankRange(*tie_rank_ranges(self._rows, self._judgments, np.float64))

    @cached_property
    def listed(self) -> tuple[LabelPolicy, Ints]:
        """Labels as if only the documents were judged that the lists have, and the new row of each."""
        judgments, listed = self._judgments, np.zeros(len(self._judgments.query), bool)
        listed[self._rows.row] = True
        kept = replace(
            judgments,
            query=judgments.query[listed],
            grade=judgments.grade[listed],
            order=np.arange(listed.sum()),
            given=judgments.ids(np.flatnonzero(listed)),
        )
        return LabelPolicy.of("listed", kept), np.cumsum(listed) - 1
