"""How documents moved between two runs: relevant ones by ranks, and pairs of them that changed places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.inputs import Nested
from permed_measures.engine.judgments import Judgments, offsets_of, segments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.errors import warnings_about

Ints = NDArray[np.int64]

_BLOCK = 1 << 20
"""Number of pairs of documents in memory at a time."""


@dataclass(frozen=True)
class Moves:
    """How far relevant documents moved.

    Attributes
    ----------
    up, down, unchanged : int
        Documents that both runs retrieve.
    entered, left : int
        Documents that only the run after, or only the run before retrieves.
    absent : int
        Documents that neither retrieves.
    mean, median : float or None
        Of the rank before minus the rank after (above 0 is up) of the documents that both retrieve; None
        where there are none.
    """

    up: int
    down: int
    unchanged: int
    entered: int
    left: int
    absent: int
    mean: float | None
    median: float | None


@dataclass(frozen=True)
class Pairs:
    """Pairs of a document with a higher and one with a lower grade, retrieved by both runs.

    A pair is right if the higher grade has the better rank.

    Attributes
    ----------
    put_right, broken : int
        Wrong before and right after; right before and wrong after.
    still_right, still_wrong : int
    """

    put_right: int
    broken: int
    still_right: int
    still_wrong: int

    @property
    def total(self) -> int:
        """Number of pairs."""
        return self.put_right + self.broken + self.still_right + self.still_wrong

    @property
    def improvement(self) -> float | None:
        """Put right minus broken, as a share of all pairs; None without pairs."""
        return (self.put_right - self.broken) / self.total if self.total else None

    @property
    def share_put_right(self) -> float | None:
        """Put right, as a share of all pairs; None without pairs."""
        return self.put_right / self.total if self.total else None


def rank_of_judgments(rankings: JudgedRankings) -> Ints:
    """Return the rank of each judgment; 0 if its document was not retrieved."""
    rank = np.zeros(len(rankings.judgments.grade), np.int64)
    rank[rankings.row] = rankings.rank
    return rank


def moves_of(before: Ints, after: Ints, relevant: NDArray[np.bool_]) -> Moves:
    """Count how the ranks of relevant documents changed; rank 0 is not retrieved."""
    before, after = before[relevant], after[relevant]
    both = (before > 0) & (after > 0)
    up = (before - after)[both]
    return Moves(
        up=int((up > 0).sum()),
        down=int((up < 0).sum()),
        unchanged=int((up == 0).sum()),
        entered=int(((before == 0) & (after > 0)).sum()),
        left=int(((before > 0) & (after == 0)).sum()),
        absent=int(((before == 0) & (after == 0)).sum()),
        mean=float(up.mean()) if len(up) else None,
        median=float(np.median(up)) if len(up) else None,
    )


def count_pairs(judgments: Judgments, before: Ints, after: Ints) -> Ints:
    """Count the pairs of each query: put right, broken, still right, still wrong."""
    both = np.flatnonzero((before > 0) & (after > 0))
    query, grade = judgments.query[both], np.maximum(judgments.grade[both], 0)
    counts = np.zeros((judgments.n_queries, 4), np.int64)
    for higher, lower in _unequal(query, grade, judgments.n_queries):
        right_before = before[both[higher]] < before[both[lower]]
        right_after = after[both[higher]] < after[both[lower]]
        kind = np.where(right_after, np.where(right_before, 2, 0), np.where(right_before, 1, 3))
        cell = query[higher].astype(np.int64) * 4 + kind
        counts += np.bincount(cell, minlength=counts.size).reshape(counts.shape)
    return counts


def _unequal(
    query: NDArray[np.int32], grade: NDArray[np.float64], n_queries: int
) -> Iterator[tuple[Ints, Ints]]:
    """Yield the pairs of rows of one query, the first with a higher grade, in blocks.

    Rows are sorted by query and grade descending: those with a lower grade are the rest of the query, after
    the rows with the same.
    """
    n = len(query)
    changes = np.flatnonzero((np.diff(query) != 0) | (np.diff(grade) != 0)) + 1
    bounds = np.concatenate([[0], changes, [n]]).astype(np.int64)
    lower = np.repeat(bounds[1:], np.diff(bounds))
    number = offsets_of(query, n_queries)[1:][query] - lower
    block = np.cumsum(number) // _BLOCK
    starts = [*np.flatnonzero(np.diff(block, prepend=-1)).tolist(), n]
    for start, stop in pairwise(starts):
        rows = np.arange(start, stop)
        yield np.repeat(rows, number[rows]), segments(lower[rows], number[rows])


def ranks_of_all(judgments: Judgments, before: Nested, after: Nested) -> tuple[Judgments, Ints, Ints]:
    """Return the judgments with unjudged documents as grade 0, and the rank of each in both runs."""
    documents, grades = judgments.ids(np.arange(len(judgments.grade))), judgments.grade.tolist()
    rows = [slice(*bounds) for bounds in pairwise(judgments.offsets.tolist())]
    judged_by_query = [dict(zip(documents[here], grades[here], strict=True)) for here in rows]
    qrels = dict(zip(judgments.query_ids, judged_by_query, strict=True))
    for query_id, judged in qrels.items():
        if max(judged.values(), default=0) > 0:
            found = map(str, before.get(query_id, {}).keys() & after.get(query_id, {}).keys())
            qrels[query_id] = {**dict.fromkeys(found, 0.0), **judged}
    extended = Judgments.of(qrels)
    with warnings_about(None):  # the user has seen it
        first, second = (rank_of_judgments(JudgedRankings.of(extended, run)) for run in (before, after))
    return extended, first, second


def within(cutoff: int | None, rank: Ints) -> Ints:
    """Return the ranks, 0 (not retrieved) for those beyond the cutoff."""
    return rank if cutoff is None else np.where(rank <= cutoff, rank, 0)
