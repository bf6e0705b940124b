"""From scores to ranks, without building rankings: how many scores are above, which rule breaks a tie."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.id_order import LARGEST, Ids
from permed_measures.engine.judgments import Ints, Judgments, segments

if TYPE_CHECKING:
    import polars as pl


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
    REVERSED = "reversed"
    """The order of the rows from the last to the first: ``argsort(scores)[::-1]``."""
    OPTIMISTIC = "optimistic"
    """The highest grade first (an unjudged document counts as 0), then document id descending."""
    PESSIMISTIC = "pessimistic"
    """The lowest grade first (an unjudged document counts as 0), then document id descending."""

    @property
    def by_position(self) -> bool:
        """Whether the order of the rows matters."""
        return self in (TieBreak.INPUT, TieBreak.REVERSED)


class Rows(NamedTuple):
    """The scores of a run, or of a part of it, grouped by query.

    Attributes
    ----------
    score : ndarray, shape (n_rows,)
    start, end : ndarray of int64, shape (n_groups,)
        Where each group begins and ends; there may be rows of no group.
    ids : callable
        Returns the document ids of the rows at these positions (ascending), in any number of parts.
    """

    score: NDArray[Any]
    start: Ints
    end: Ints
    ids: Callable[[Ints], Iterable[list[str] | pl.Series]]


class Hits(NamedTuple):
    """Judged documents that were retrieved.

    Attributes
    ----------
    group, row : ndarray of int64, shape (n_hits,)
        The group of rows that each belongs to, and its judgment.
    score : ndarray, shape (n_hits,)
    part : ndarray of int64, shape (n_hits,)
        0 if the document is among the rows; -1 or 1 if it stands in a part of the run before or after them.
    """

    group: Ints
    row: Ints
    score: NDArray[Any]
    part: Ints


class RunHits(NamedTuple):
    """The hits of a whole run, in any order.

    Attributes
    ----------
    row, rank : ndarray of int64, shape (n_hits,)
        The judgment that each is, and its rank.
    retrieved, n_answered
        As in `JudgedRankings`.
    query_ids : collection of str
        The queries of the run.
    some_ids : list of str
        Two ids of the run for a warning: of documents, or of queries where none is judged.
    """

    row: Ints
    rank: Ints
    retrieved: Ints
    n_answered: int
    query_ids: Collection[str]
    some_ids: list[str]


class _Tied(NamedTuple):
    """Hits and rows that share a score, the hits first."""

    id_number: Ints
    position: Ints
    grade: NDArray[np.float64]


_BY_ID = {TieBreak.TREC: True, TieBreak.TREC10: True, TieBreak.DOCID_ASCENDING: False}
"""Where a tie is sorted by the ids alone, whether they descend."""

_BY_MORE: dict[TieBreak, Callable[[_Tied], Ints]] = {
    TieBreak.INPUT: lambda tied: tied.position,
    TieBreak.REVERSED: lambda tied: ~tied.position,
    TieBreak.OPTIMISTIC: lambda tied: _keys(_numbered(-tied.grade), ~tied.id_number),
    TieBreak.PESSIMISTIC: lambda tied: _keys(_numbered(tied.grade), ~tied.id_number),
}
"""What a tie is sorted by where a hit must know the row that it is."""


def count_ranked_above(
    rows: Rows, hits: Hits, judgments: Judgments, ties: TieBreak, depth: int | None = None
) -> Ints:
    """Count, for each hit, the rows of its group that are ranked before it.

    If the hits are among the rows, that is the rank minus 1. The counts for parts of a run add up. If there
    is a `depth`, counts from there on may be any others from there on.
    """
    if ties is not TieBreak.TREC10:
        with np.errstate(over="ignore"):  # beyond float32 is infinite, as it is in C
            rows = rows._replace(score=rows.score.astype(np.float32))
            hits = hits._replace(score=hits.score.astype(np.float32))
    score = -rows.score  # ascending is the order of a ranking
    unsorted = _sort_groups(rows, score, hits.group)
    if depth is None:
        return _count(rows, score, unsorted, hits, judgments, ties)
    last, high = rows.start[hits.group] + (depth - 1), rows.end[hits.group]
    near = np.flatnonzero((last >= high) | (score.take(last, mode="clip") >= -hits.score))
    before = np.full(len(hits.row), depth)
    before[near] = _count(rows, score, unsorted, _some(hits, near), judgments, ties, depth)
    return before


def _some(hits: Hits, which: Ints) -> Hits:
    return Hits(*(each[which] for each in hits))


def _count(
    rows: Rows,
    score: NDArray[Any],
    unsorted: Ints,
    hits: Hits,
    judgments: Judgments,
    ties: TieBreak,
    depth: int | None = None,
) -> Ints:
    """Count as `count_ranked_above` does, with scores that ascend.

    With `depth`, each hit has fewer scores above its own.
    """
    low, high, wanted = rows.start[hits.group], rows.end[hits.group], -hits.score
    last = high if depth is None else np.minimum(low + depth, high)
    first = _bisect(score, low, last, wanted, np.less)
    before = first - low
    unsettled = _is_at(score, first + (hits.part == 0), high, wanted)
    if unsettled.any():
        if hits.part.any():  # a hit that is alone here may be tied with one in another part of the run
            unsettled = np.isin(first, first[unsettled]) & _is_at(score, first, high, wanted)
        which = np.flatnonzero(unsettled)
        tied = _some(hits, which)
        tie, position = _tied_rows(rows, score, tied.group, first[which], unsorted)
        before[which] += _before_in_ties(rows, tied, tie, position, judgments, ties)
    return before


def _sort_groups(rows: Rows, score: NDArray[Any], group: Ints) -> Ints:
    """Sort the scores of each of these groups in place; return the groups that were not sorted.

    Most runs are sorted as they are written. To sort a query's scores takes numpy about as long as to compare
    them all with one or two of them, and then it does not matter how many are judged.
    """
    falls = np.zeros(len(score) + 1, np.bool_)
    np.less(score[1:], score[:-1], out=falls[1 : len(score)])
    falls[rows.start[rows.end > rows.start]] = False  # the row before is of another query
    groups = np.flatnonzero(np.bincount(group)) if falls.any() else _NONE
    if not len(groups):
        return _NONE
    groups = groups[np.argsort(rows.start[groups])]
    start, end = rows.start[groups], rows.end[groups]
    unsorted = np.logical_or.reduceat(falls, np.stack([start, end], axis=1).ravel())[::2]
    for first, last in zip(start[unsorted].tolist(), end[unsorted].tolist(), strict=True):
        score[first:last].sort()
    return groups[unsorted]


_NONE = np.zeros(0, np.int64)

_TOGETHER = 1000
"""Ids of hits that are read together."""

_BLOCK = 1 << 14
"""Hits that are looked at together: they stay in the cache."""


def _bisect(score: NDArray[Any], low: Ints, high: Ints, wanted: NDArray[Any], before: np.ufunc) -> Ints:
    """Return, for each hit, the first place between `low` and `high` whose score is not before its own."""
    place = low.copy()
    n_steps = int((high - low).max(initial=0)).bit_length()
    for block in (slice(first, first + _BLOCK) for first in range(0, len(place), _BLOCK)):
        here = place[block]
        for step in (1 << power for power in reversed(range(n_steps))):
            last = here + (step - 1)  # of the next `step` rows: if it is before, all of them are
            here += step * ((last < high[block]) & before(score.take(last, mode="clip"), wanted[block]))
    return place


def _is_at(score: NDArray[Any], place: Ints, high: Ints, wanted: NDArray[Any]) -> NDArray[np.bool_]:
    """Return, for each hit, whether the score at its place is the one wanted."""
    equal: NDArray[np.bool_] = score.take(place, mode="clip") == wanted
    return (place < high) & equal


def _tied_rows(
    rows: Rows, score: NDArray[Any], group: Ints, first: Ints, unsorted: Ints
) -> tuple[Ints, Ints]:
    """Return the number of the tie of each hit and then of each row in these ties, and the rows' positions.

    A tie begins at the place `first` in the sorted scores. The positions ascend.
    """
    begins = np.zeros(len(score), np.bool_)
    begins[first] = True
    start = np.flatnonzero(begins)
    number = np.empty(len(score), np.int64)  # of the tie that begins here
    number[start] = np.arange(len(start))
    tie = number[first]
    end = np.empty_like(start)
    end[tie] = rows.end[group]
    length = _bisect(score, start, end, score[start], np.less_equal) - start
    position, tie_of_row = segments(start, length), np.repeat(np.arange(len(start)), length)
    mixed = unsorted[np.isin(unsorted, group)] if len(unsorted) else unsorted
    if len(mixed):
        tie_at = np.full(len(score), -1)
        tie_at[position] = tie_of_row
        for first_row, end_row in zip(rows.start[mixed].tolist(), rows.end[mixed].tolist(), strict=True):
            here = slice(first_row, end_row)
            tie_at[here][np.argsort(-rows.score[here])] = tie_at[here].copy()
        position = np.flatnonzero(tie_at >= 0)
        tie_of_row = tie_at[position]
    return np.concatenate([tie, tie_of_row]), position


def _before_in_ties(
    rows: Rows, hits: Hits, tie: Ints, position: Ints, judgments: Judgments, ties: TieBreak
) -> Ints:
    """Count, for each tied hit, the rows of its tie that the rule puts before it."""
    n = len(hits.row)

    def parts() -> Iterator[list[str] | pl.Series]:
        for first in range(0, n, _TOGETHER):
            yield judgments.ids(hits.row[first : first + _TOGETHER])
        yield from rows.ids(position)

    ids = Ids.of(parts, len(tie))
    if ties in _BY_ID:
        return ids.count_before(tie, hits.part == 0, descending=_BY_ID[ties])
    number = ids.numbers(tie)
    # A row counts as unjudged (grade 0) until it is paired with its hit. A hit in a part of the run before or
    # after these rows has no row here: it is placed before or behind all of them.
    grade = np.concatenate([judgments.grade[hits.row], np.zeros(len(position))])
    place = np.concatenate([np.where(hits.part < 0, -1, len(rows.score)), position])
    hit, row = _pairs(_keys(tie, number), n)
    place[hit], grade[row] = place[row], grade[hit]
    return _count_before(tie, _BY_MORE[ties](_Tied(number, place, grade)), n)


def _pairs(key: Ints, n_hits: int) -> tuple[Ints, Ints]:
    """Return the hits that are among the rows, and the row that each is: that of the same key."""
    order = n_hits + np.argsort(key[n_hits:])
    row = order.take(np.searchsorted(key[order], key[:n_hits]), mode="clip")
    hit = np.flatnonzero(key[row] == key[:n_hits])
    return hit, row[hit]


def _count_before(tie: Ints, by: Ints, n_hits: int) -> Ints:
    """Count, for each hit, the rows of its tie that are before it."""
    key = _keys(tie, by)
    rows_of_tie = np.bincount(tie[n_hits:])
    before = rows_of_tie[tie[:n_hits]] - np.cumsum(rows_of_tie)[tie[:n_hits]]  # less the rows of earlier ties
    order = np.argsort(key[:n_hits])  # what is searched for in its order is found several times as fast
    before[order] += np.searchsorted(np.sort(key[n_hits:]), key[order])
    return before


def _keys(number: Ints, by: Ints) -> Ints:
    """Return integers that sort by the first and then by the second; the first is not negative."""
    lowest, highest = int(by.min()), int(by.max())
    if (highest - lowest + 1) * (int(number.max()) + 1) > LARGEST:
        return _keys(number, _numbered(by))
    return number * (highest - lowest + 1) + (by - lowest)


def _numbered(values: NDArray[Any]) -> Ints:
    """Return numbers in the order of the values."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)
