"""From scores to ranks, without sorting a run: how many scores are above, and which rule breaks a tie."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.judgments import Judgments, position_in_query, segments

__all__ = ["Hits", "Ints", "Rows", "TieBreak", "ranks"]

Ints = NDArray[np.int64]

_DENSE = 4
"""From so many judged documents per query on, sorting a query's scores is cheaper than counting for each."""


class TieBreak(Enum):
    """Which document comes first where scores are equal.

    Scores are compared as float32, but for ``TREC10``.
    """

    TREC = "trec"
    """Document id descending: trec_eval 9 and pytrec_eval."""
    TREC10 = "trec10"
    """Document id descending, scores compared as float64: trec_eval 10."""
    DOCID_ASCENDING = "docid_ascending"
    """Document id ascending: the msmarco and judged providers of ir_measures."""
    INPUT = "input"
    """The order of the rows."""
    OPTIMISTIC = "optimistic"
    """The highest grade first (an unjudged document counts as 0), then document id descending."""
    PESSIMISTIC = "pessimistic"
    """The lowest grade first (an unjudged document counts as 0), then document id descending."""


class _Tied(NamedTuple):
    doc_id: str
    position: int
    grade: float


_ORDERS: dict[TieBreak, Callable[[_Tied], Any]] = {
    TieBreak.DOCID_ASCENDING: lambda tied: tied.doc_id,
    TieBreak.INPUT: lambda tied: tied.position,
    TieBreak.OPTIMISTIC: lambda tied: -tied.grade,
    TieBreak.PESSIMISTIC: lambda tied: tied.grade,
}
"""The order within a tie; what it leaves equal, and the rules that are not here, go by id descending."""


class Rows(NamedTuple):
    """The scores of a run, grouped by query, and the ids on demand."""

    score: NDArray[Any]
    starts: Ints
    ids: Callable[[int, Ints], Sequence[str]]


class Hits(NamedTuple):
    """The judged documents among them: group, judgment row and score of each."""

    group: Ints
    row: Ints
    score: NDArray[Any]


def ranks(rows: Rows, hits: Hits, judgments: Judgments, ties: TieBreak) -> Ints:
    """Return the rank of each hit, from 1."""
    if ties is not TieBreak.TREC10:
        with np.errstate(over="ignore"):  # beyond float32 is infinite, as it is in C
            rows = rows._replace(score=rows.score.astype(np.float32))
            hits = hits._replace(score=hits.score.astype(np.float32))
    order = np.argsort(hits.group, kind="stable")
    layer = np.empty_like(order)
    layer[order] = position_in_query(hits.group[order].astype(np.int32), len(rows.starts) - 1) - 1
    dense = layer.max(initial=0) >= _DENSE
    above, tied = _count_by_sorting(rows, hits) if dense else _count_by_layer(rows, hits, layer)
    rank = above + 1
    if (tied > 1).any():
        _break_ties(rank, np.flatnonzero(tied > 1), rows, hits, judgments, ties)
    return rank


def _count_by_layer(rows: Rows, hits: Hits, layer: Ints) -> tuple[Ints, Ints]:
    """Count the scores above and equal to each hit: one pass for the first hits of all queries, and so on."""
    above, tied = np.zeros(len(layer), np.int64), np.zeros(len(layer), np.int64)
    for number in range(layer.max(initial=-1) + 1):
        chosen = np.flatnonzero(layer == number)
        group = hits.group[chosen]
        lengths = rows.starts[group + 1] - rows.starts[group]
        score = _scores_of(rows, group, lengths)
        threshold = np.repeat(hits.score[chosen], lengths)
        first = np.cumsum(lengths) - lengths
        above[chosen] = np.add.reduceat(score > threshold, first, dtype=np.int64)
        tied[chosen] = np.add.reduceat(score == threshold, first, dtype=np.int64)
    return above, tied


def _scores_of(rows: Rows, group: Ints, lengths: Ints) -> NDArray[Any]:
    """Return the scores of these groups one after the other, without a copy where that is all of them."""
    if lengths.sum() == len(rows.score) and (np.diff(group) > 0).all():
        return rows.score
    scores: NDArray[Any] = rows.score[segments(rows.starts[group], lengths)]
    return scores


def _count_by_sorting(rows: Rows, hits: Hits) -> tuple[Ints, Ints]:
    """Count the scores above and equal to each hit by bisection in all scores, sorted by query and score."""
    lengths = np.diff(rows.starts)
    n = len(rows.score)
    level = _levels(np.concatenate([rows.score, hits.score]))
    keys = np.repeat(np.arange(len(lengths), dtype=np.uint64) << np.uint64(32), lengths) | level[:n]
    keys.sort()
    wanted = (hits.group.astype(np.uint64) << np.uint64(32)) | level[n:]
    order = np.argsort(wanted)  # bisection is several times faster in order
    start, end = np.empty_like(order), np.empty_like(order)
    start[order] = np.searchsorted(keys, wanted[order], side="left")
    end[order] = np.searchsorted(keys, wanted[order], side="right")
    return rows.starts[hits.group + 1] - end, end - start


def _levels(score: NDArray[Any]) -> NDArray[np.uint64]:
    """Return integers below 2^32 in the order of the scores."""
    if score.dtype != np.float32:
        return np.unique(score, return_inverse=True)[1].astype(np.uint64)
    bits = (score + np.float32(0)).view(np.uint32)  # + 0 makes -0 a 0
    negative = bits >> 31 == 1
    return np.where(negative, ~bits, bits | np.uint32(1 << 31)).astype(np.uint64)


def _break_ties(rank: Ints, tied: Ints, rows: Rows, hits: Hits, judgments: Judgments, ties: TieBreak) -> None:
    """Add to the rank of each tied hit how many of the tied documents come before it."""
    members = defaultdict(list)
    for hit in tied.tolist():
        members[hits.group[hit], hits.score[hit]].append(hit)
    for (group, score), some in members.items():
        positions = np.flatnonzero(rows.score[rows.starts[group] : rows.starts[group + 1]] == score)
        row_of = {judgments.documents[int(hits.row[hit])]: hit for hit in some}
        order = _tie_order(rows.ids(group, positions), row_of, hits, judgments, ties)
        for before, doc_id in enumerate(order):
            if doc_id in row_of:
                rank[row_of[doc_id]] += before


def _tie_order(
    ids: Sequence[str], hit_of: Mapping[str, int], hits: Hits, judgments: Judgments, ties: TieBreak
) -> list[str]:
    """Return the ids of a tie in their order."""

    def grade(doc_id: str) -> float:
        return float(judgments.grade[hits.row[hit_of[doc_id]]]) if doc_id in hit_of else 0.0

    tied = [_Tied(doc_id, position, grade(doc_id)) for position, doc_id in enumerate(ids)]
    tied.sort(key=lambda document: document.doc_id, reverse=True)
    if ties in _ORDERS:
        tied.sort(key=_ORDERS[ties])
    return [document.doc_id for document in tied]
