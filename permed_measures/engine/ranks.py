"""From scores to ranks, without building rankings: how many scores are above, which rule breaks a tie."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from operator import eq
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.judgments import Ints, Judgments, position_in_query, segments

if TYPE_CHECKING:
    import polars as pl

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


class Rows(NamedTuple):
    """The scores of a run, or of a part of it, grouped by query.

    Attributes
    ----------
    score : ndarray, shape (n_rows,)
    starts : ndarray of int64, shape (n_groups + 1,)
        Where each group begins.
    ids : callable
        Returns the document ids of the rows at these positions.
    """

    score: NDArray[Any]
    starts: Ints
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
    retrieved, n_run_queries, n_answered
        As in `JudgedRankings`.
    some_ids : list of str
        Two ids of the run for a warning: of documents, or of queries where none is judged.
    """

    row: Ints
    rank: Ints
    retrieved: Ints
    n_run_queries: int
    n_answered: int
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
    dense = np.bincount(hits.group, minlength=1).max() > _DENSE
    before, tied = _count_by_sorting(rows, hits) if dense else _count_by_layer(rows, hits)
    unsettled = tied > (hits.part == 0)
    if unsettled.any():
        before += _before_in_ties(rows, hits, unsettled, judgments, ties)
    return before


def _count_by_layer(rows: Rows, hits: Hits) -> tuple[Ints, Ints]:
    """Count the scores above and equal to each hit: one pass for the first hits of all groups, and so on."""
    order = np.argsort(hits.group, kind="stable")
    layer = np.empty_like(order)
    layer[order] = position_in_query(hits.group[order].astype(np.int32), len(rows.starts) - 1) - 1
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
    """Count the scores above and equal to each hit by bisection in all scores, sorted by group and score."""
    keys, wanted = _keys(rows, hits)
    keys.sort()
    order = np.argsort(wanted)  # bisection is several times faster in order
    end = np.empty_like(order)
    end[order] = np.searchsorted(keys, wanted[order], side="right")
    tied = ((end > 0) & (keys[end - 1] == wanted)).astype(np.int64)
    several = np.flatnonzero((tied > 0) & (end > 1) & (keys[np.maximum(end - 2, 0)] == wanted))
    tied[several] = end[several] - np.searchsorted(keys, wanted[several], side="left")
    return rows.starts[hits.group + 1] - end, tied


def _keys(rows: Rows, hits: Hits) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return integers for the rows and for the hits, in the order of groups, and of scores within a group."""
    n = len(rows.score)
    level = _levels(np.concatenate([rows.score, hits.score]))
    group = np.arange(len(rows.starts) - 1, dtype=np.uint64) << np.uint64(32)
    return np.repeat(group, np.diff(rows.starts)) | level[:n], group[hits.group] | level[n:]


def _levels(score: NDArray[Any]) -> NDArray[np.uint64]:
    """Return integers below 2^32 in the order of the scores."""
    if score.dtype != np.float32:
        return np.unique(score, return_inverse=True)[1].astype(np.uint64)
    bits = (score + np.float32(0)).view(np.uint32)  # + 0 makes -0 a 0
    negative = bits >> 31 == 1
    return np.where(negative, ~bits, bits | np.uint32(1 << 31)).astype(np.uint64)


def _before_in_ties(
    rows: Rows, hits: Hits, unsettled: NDArray[np.bool_], judgments: Judgments, ties: TieBreak
) -> Ints:
    """Count, for each hit, the rows with its score that the rule puts before it.

    Hits and rows are sorted together, so that one pass over all ties gives every count: a hit stands just
    before the row that it is, after the rows of its tie that the rule puts before it.
    """
    # Only the rows in a tie with a hit are looked at, since reading ids is what costs.
    which, tie, position = _tied_rows(rows, hits, unsettled)
    n = len(which)
    row, part = hits.row[which], hits.part[which]
    # A row counts as unjudged (grade 0) until it is paired with its hit. A hit in a part of the run before or
    # after these rows has no row here: it is placed before or behind all of them.
    grade = np.concatenate([judgments.grade[row], np.zeros(len(position))])
    place = np.concatenate([np.where(part < 0, -1, len(rows.score)), position])
    order, same_id = _by_id(tie, judgments.ids(row), rows.ids(position))
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
    before = np.zeros(len(hits.row), np.int64)
    before[which[order[is_hit]]] = (np.cumsum(~is_hit) - before_tie[tie[order]])[is_hit]
    return before


def _tied_rows(rows: Rows, hits: Hits, unsettled: NDArray[np.bool_]) -> tuple[Ints, Ints, Ints]:
    """Return the hits that share a score with an unsettled one, and the rows that do.

    Returns which hits, the number of the tie of each hit and then of each row, and the position of each row.
    """
    has_tie = np.zeros(len(rows.starts) - 1, np.bool_)
    has_tie[hits.group[unsettled]] = True
    groups, near = np.flatnonzero(has_tie), np.flatnonzero(has_tie[hits.group])
    lengths = np.diff(rows.starts)[groups]
    position = segments(rows.starts[groups], lengths)
    part = Rows(rows.score[position], np.concatenate([[0], np.cumsum(lengths)]), rows.ids)
    group = np.searchsorted(groups, hits.group[near])
    row_key, hit_key = _keys(part, Hits(group, hits.row[near], hits.score[near], hits.part[near]))
    keys = np.unique(hit_key[unsettled[near]])
    tied_hits, hit_tie = _members(hit_key, keys)
    tied_rows, row_tie = _members(row_key, keys)
    return near[tied_hits], np.concatenate([hit_tie, row_tie]), position[tied_rows]


def _members(keys: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> tuple[Ints, Ints]:
    """Return which of the keys are wanted, and the number of each in `wanted`, which is sorted."""
    number = np.minimum(np.searchsorted(wanted, keys), len(wanted) - 1)
    which = np.flatnonzero(wanted[number] == keys)
    return which, number[which]


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
