"""Lists of scores, and their rankings by each tie rule and label policy."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from permed_measures.conventions.values import Labels
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.kernels.graded import Spans
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import TieBreak

Lists = Mapping[str, Mapping[str, float]]
_BOUNDS = (TieBreak.OPTIMISTIC, TieBreak.PESSIMISTIC)
"""The rules that look at grades; the others rank every tie between these two."""


class RankedLists:
    """Lists of scores, and their rankings.

    Rules that do not look at grades rank all label policies alike.
    """

    def __init__(self, judgments: Judgments, lists: Lists) -> None:
        self.lists = lists
        self._judgments = judgments
        self._found: dict[tuple[TieBreak, str | None], JudgedRankings] = {}
        self._spans: Spans | None = None

    def rankings(self, labels: Labels, ties: TieBreak) -> JudgedRankings:
        """Rank the lists by a rule."""
        if ties in _BOUNDS:
            return self._ranked(labels.judgments, ties, labels.policy)
        return replace(self._ranked(self._judgments, ties, None), judgments=labels.judgments)

    def ties_matter(self, labels: Labels) -> bool:
        """Return whether any two tied documents have different grades."""
        first, last = (self.rankings(labels, ties) for ties in _BOUNDS)
        return bool((first.rank != last.rank).any() or (first.grade != last.grade).any())

    def spans(self, labels: Labels, rankings: JudgedRankings) -> Spans:
        """Return the ranks that each hit could have among the documents with its score.

        Only ties of documents with different grades are looked at; others gain the same in any order.
        """
        if self._spans is None:
            self._spans = self._find_spans(*(self.rankings(labels, ties) for ties in _BOUNDS))
        return Spans(*(each[rankings.row] for each in self._spans))

    def _find_spans(self, best: JudgedRankings, worst: JudgedRankings) -> Spans:
        """Return the first and the last rank by row of the judgments."""
        judgments = best.judgments
        first, last = np.ones(len(judgments.query), np.int64), np.ones(len(judgments.query), np.int64)
        first[best.row] = last[best.row] = best.rank
        for number in np.unique(worst.query[first[worst.row] != worst.rank]).tolist():
            scores = self.lists[judgments.query_ids[number]]
            rising = np.sort(np.fromiter(scores.values(), np.float64, len(scores)))
            rows = best.row[best.offsets[number] : best.offsets[number + 1]]
            ours = np.array([scores[doc] for doc in judgments.ids(rows)], np.float64)
            first[rows] = 1 + len(rising) - np.searchsorted(rising, ours, "right")
            last[rows] = len(rising) - np.searchsorted(rising, ours, "left")
        return Spans(first, last)

    def _ranked(self, judgments: Judgments, ties: TieBreak, policy: str | None) -> JudgedRankings:
        if (ties, policy) not in self._found:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # which come once for the run
                self._found[ties, policy] = JudgedRankings.of(judgments, self.lists, ties)
        return self._found[ties, policy]


def judged_by_list(rankings: JudgedRankings, whole: JudgedRankings) -> JudgedRankings:
    """Return rankings as if only the documents were judged that the whole lists have."""
    judgments = rankings.judgments
    listed = np.zeros(len(judgments.query), bool)
    listed[whole.row] = True
    number = np.cumsum(listed) - 1
    kept = replace(
        judgments,
        query=judgments.query[listed],
        grade=judgments.grade[listed],
        order=judgments.order[listed],
        documents=judgments.ids(np.flatnonzero(listed)),
    )
    return replace(rankings, judgments=kept, row=number[rankings.row])
