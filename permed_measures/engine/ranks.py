"""From scores to ranks, without building rankings: how many scores are above, which rule breaks a tie."""

from __future__ import annotations

from collections.abc import Callable, Collection
from enum import Enum
from operator import eq
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    OPTIMISTIC = "optimistic"
    """The highest grade first (an unjudged document counts as 0), then document id descending."""
    PESSIMISTIC = "pessimistic"
    """The lowest grade first (an unjudged document counts as 0), then document id descending."""


class Rows(NamedTuple):
    """The scores of a run, or of a part of it, grouped by query.

    Attributes
    ----------
    score : ndarray, shape (n_rows,)
    start, end : ndarray of int64, shape (n_groups,)
        Where each group begins and ends; there may be rows of no group.
    ids : callable
        Returns the document ids of the rows at these positions.
    """

    score: NDArray[Any]
    start: Ints
    end: Ints
    ids: Callable[[Ints], list[str] | pl.Series]


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


_ORDERS: dict[TieBreak, Callable[[_Tied], Ints]] = {
    TieBreak.TREC: lambda tied: -tied.id_number,
    TieBreak.TREC10: lambda tied: -tied.id_number,
    TieBreak.DOCID_ASCENDING: lambda tied: tied.id_number,
    TieBreak.INPUT: lambda tied: tied.position,
    TieBreak.OPTIMISTIC: lambda tied: _numbered(-tied.grade) * len(tied.grade) - tied.id_number,
    TieBreak.PESSIMISTIC: lambda tied: _numbered(tied.grade) * len(tied.grade) - tied.id_number,
}
"""What a tie is sorted by."""


def count_ranked_above(rows: Rows, hits: Hits, judgments: Judgments, ties: TieBreak) -> Ints:
    """Count, for each hit, the rows of its group that are ranked before it.

    If the hits are among the rows, that is the rank minus 1. The counts for parts of a run add up.
    """
    if ties is not TieBreak.TREC10:
        with np.errstate(over="ignore"):  # beyond float32 is infinite, as it is in C
            rows = rows._replace(score=rows.score.astype(np.float32))
            hits = hits._replace(score=hits.score.astype(np.float32))
    score, wanted = -rows.score, -hits.score  # ascending is the order of a ranking
    unsorted = _sort_groups(rows, score, hits.group)
    low, high = rows.start[hits.group], rows.end[hits.group]
    first = _bisect(score, low, high, wanted, np.less)
    last = first + _is_at(score, first, high, wanted)
    several = np.flatnonzero((last > first) & _is_at(score, last, high, wanted))
    last[several] = _bisect(score, last[several], high[several], wanted[several], np.less_equal)
    before = first - low
    unsettled = last - first > (hits.part == 0)
    if unsettled.any():
        which = np.flatnonzero(np.isin(first, first[unsettled]) & (last > first))
        tied = Hits(*(each[which] for each in hits))
        tie, position = _tied_rows(rows, tied.group, first[which], last[which], unsorted)
        before[which] += _before_in_ties(rows, tied, tie, position, judgments, ties)
    return before


def _sort_groups(rows: Rows, score: NDArray[Any], group: Ints) -> Ints:
    """Sort the scores of each of these groups in place; return the groups that were not sorted.

    Most runs are sorted as they are written. To sort a query's scores takes numpy about as long as to compare
    them all with one or two of them, and then it does not matter how many are judged.
    """
    groups = np.flatnonzero(np.bincount(group))
    groups = groups[np.argsort(rows.start[groups])]
    start, end = rows.start[groups], rows.end[groups]
    falls = np.zeros(len(score) + 1, np.bool_)
    np.less(score[1:], score[:-1], out=falls[1 : len(score)])
    falls[start] = False  # the row before is of another query
    bounds = np.stack([start, end], axis=1).ravel()
    unsorted = np.logical_or.reduceat(falls, bounds)[::2] if len(groups) else np.zeros(0, np.bool_)
    for first, last in zip(start[unsorted].tolist(), end[unsorted].tolist(), strict=True):
        score[first:last].sort()
    return groups[unsorted]


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


def _tied_rows(rows: Rows, group: Ints, first: Ints, last: Ints, unsorted: Ints) -> tuple[Ints, Ints]:
    """Return the number of the tie of each hit and then of each row in these ties, and the rows' positions.

    A tie is a range of places in the sorted scores.
    """
    start, index, tie = np.unique(first, return_index=True, return_inverse=True)
    length = (last - first)[index]
    position = segments(start, length)
    for number in np.intersect1d(group, unsorted).tolist():
        begin, end = rows.start[number], rows.end[number]
        here = slice(*np.searchsorted(position, [begin, end]))
        order = np.argsort(-rows.score[begin:end], kind="stable")
        position[here] = begin + order[position[here] - begin]
    return np.concatenate([tie, np.repeat(np.arange(len(start)), length)]), position


def _before_in_ties(
    rows: Rows, hits: Hits, tie: Ints, position: Ints, judgments: Judgments, ties: TieBreak
) -> Ints:
    """Count, for each tied hit, the rows of its tie that the rule puts before it.

    Hits and rows are sorted together, so that one pass over all ties gives every count: a hit stands just
    before the row that it is, after the rows of its tie that the rule puts before it.
    """
    n = len(hits.row)
    # A row counts as unjudged (grade 0) until it is paired with its hit. A hit in a part of the run before or
    # after these rows has no row here: it is placed before or behind all of them.
    grade = np.concatenate([judgments.grade[hits.row], np.zeros(len(position))])
    place = np.concatenate([np.where(hits.part < 0, -1, len(rows.score)), position])
    order, same_id = _by_id(tie, judgments.ids(hits.row), rows.ids(position))
    # A hit and the row that it is have one tie and one id, and are neighbours in the order of both: the hit
    # takes its place from the row (for the order of the input), the row its grade from the hit.
    pair = np.flatnonzero(same_id & (order[:-1] < n) & (order[1:] >= n))
    place[order[pair]], grade[order[pair + 1]] = place[order[pair + 1]], grade[order[pair]]
    # Ids become numbers in their order, equal for a hit and its row, so that a rule is arithmetic on arrays.
    id_number = np.empty_like(order)
    id_number[order] = np.cumsum(np.append(0, ~same_id))
    # Sorted by tie and rule, the count of rows so far, less the rows of earlier ties, is what stands before.
    order = _by_key(tie, _ORDERS[ties](_Tied(id_number, place, grade)), n)
    is_hit = order < n
    rows_of_tie = np.bincount(tie[n:], minlength=int(tie.max()) + 1)
    before_tie = np.cumsum(rows_of_tie) - rows_of_tie
    before = np.empty(n, np.int64)
    before[order[is_hit]] = (np.cumsum(~is_hit) - before_tie[tie[order]])[is_hit]
    return before


def _by_id(tie: Ints, hit_ids: list[str], row_ids: list[str] | pl.Series) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the order by tie and document id, and whether the next has the same of both.

    Ids go by code point, which is the order of their UTF-8 bytes; where they are equal, hits come first.
    """
    if isinstance(row_ids, list):
        order = np.argsort(tie, kind="stable")
        all_ids = hit_ids + row_ids
        ids = list(map(all_ids.__getitem__, order.tolist()))
        starts = np.flatnonzero(np.diff(tie[order], prepend=-1)).tolist()
        within = [
            i
            for start, end in zip(starts, [*starts[1:], len(ids)], strict=True)
            for i in sorted(range(start, end), key=ids.__getitem__)
        ]
        order = order[within]
        ids = list(map(ids.__getitem__, within))
        same = np.fromiter(map(eq, ids, ids[1:]), np.bool_, len(ids) - 1)
    else:
        import polars as pl

        both = pl.concat([pl.Series("id", hit_ids, dtype=pl.String), row_ids.rename("id")])
        frame = pl.DataFrame({"tie": tie, "id": both, "index": np.arange(len(tie))}).sort(
            "tie", "id", "index"
        )
        order = frame["index"].to_numpy()
        same = (frame["id"].slice(1) == frame["id"].head(-1)).to_numpy()
    return order, same & (np.diff(tie[order]) == 0)


def _by_key(tie: Ints, key: Ints, n_hits: int) -> Ints:
    """Return the order by tie and key, hits first.

    All three are parts of one integer: below 2^63, for there are at most as many ties, documents and grades
    as documents that are tied.
    """
    key = key - key.min()
    return np.argsort(((tie * (int(key.max()) + 1) + key) << 1) | (np.arange(len(tie)) >= n_hits))


def _numbered(values: NDArray[np.float64]) -> Ints:
    """Return numbers in the order of the values."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)
