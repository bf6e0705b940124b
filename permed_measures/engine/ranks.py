"""From scores to ranks, without building rankings: how many scores are above, which rule breaks a tie."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.arrays import Ints
from permed_measures.engine.judgments import Judgments, concat_ranges
from permed_measures.engine.tables import string_id


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


GradesOfDocs = Mapping[str, float]


def _by_grade(ids: list[str], grades: GradesOfDocs, sign: int) -> list[str]:
    by_id = sorted(ids, reverse=True)
    return sorted(by_id, key=lambda doc_id: sign * grades.get(doc_id, 0))


_ORDERED: dict[TieBreak, Callable[[list[str], GradesOfDocs], list[str]]] = {
    TieBreak.TREC: lambda ids, _: sorted(ids, reverse=True),
    TieBreak.TREC10: lambda ids, _: sorted(ids, reverse=True),
    TieBreak.DOCID_ASCENDING: lambda ids, _: sorted(ids),
    TieBreak.INPUT: lambda ids, _: ids,
    TieBreak.REVERSED: lambda ids, _: ids[::-1],
    TieBreak.OPTIMISTIC: partial(_by_grade, sign=-1),
    TieBreak.PESSIMISTIC: partial(_by_grade, sign=1),
}
"""The documents of a tie in order: each takes them in the order of the rows, and the grades of its hits."""


class ScoredHits(NamedTuple):
    """The scores of a run, or of some of its queries, and its hits: the judged documents among them.

    Attributes
    ----------
    score : ndarray of float64, shape (n_rows,)
        The rows of a query stand together.
    start, end : ndarray of int64, shape (n_queries,)
        Where the rows of each query of the judgments begin and end; there may be rows of other queries.
    ids : callable
        Returns the document ids of the rows at these positions.
    row : ndarray of int64, shape (n_hits,)
        Which judgment each hit is.
    hit_score : ndarray of float64, shape (n_hits,)
    """

    score: NDArray[np.float64]
    start: Ints
    end: Ints
    ids: Callable[[Ints], list[str]]
    row: Ints
    hit_score: NDArray[np.float64]


@np.errstate(over="ignore")
def scores_differ(rows: ScoredHits) -> bool:
    """Return whether some query has two scores that differ as float32."""
    n_rows = rows.end - rows.start
    start = rows.start[n_rows > 0]
    ends = rows.score[rows.end[n_rows > 0] - 1]
    first = rows.score[start].astype(np.float32)
    if (first != ends.astype(np.float32)).any():  # in nearly every run the last score is another
        return True
    score = rows.score[concat_ranges(start, n_rows[n_rows > 0])].astype(np.float32)
    return not np.array_equal(score, np.repeat(first, n_rows[n_rows > 0]))


@np.errstate(over="ignore")  # beyond float32 is infinite, as it is in C
def ranks_of(
    rows: ScoredHits,
    judgments: Judgments,
    ties: TieBreak,
    depth: int | None = None,
    mixed: NDArray[np.bool_] | None = None,
) -> Ints:
    """Return the rank of each hit: one plus the scores above its own, plus the tied rows before it.

    If there is a `depth`, a rank beyond it is any such rank. If only some hits are in `mixed` ties, the
    others stand first in theirs, whatever the rule.
    """
    kind: Any = np.float64 if ties is TieBreak.TREC10 else np.float32
    score, wanted = -rows.score.astype(kind), -rows.hit_score.astype(kind)
    query = judgments.query[rows.row]
    low, high = rows.start[query], rows.end[query]
    unsorted = _sort_queries(score, rows, query)
    if judgments.n_queries == 1:  # numpy searches in one list sooner
        first = low + score[rows.start[0] : rows.end[0]].searchsorted(wanted)
    else:
        last = high if depth is None else np.minimum(high, low + depth)
        first = _bisect(score, low, last, wanted, np.less)
    second: Ints = first + _STEPS[0]
    rank: Ints = second - low
    tied = (second < high) & (score.take(second, mode="clip") == wanted)
    if mixed is not None:
        alike = np.flatnonzero(tied & ~mixed)
        alike = alike[np.argsort(first[alike], kind="stable")]
        _, start, which = np.unique(first[alike], return_index=True, return_inverse=True)
        rank[alike] += np.arange(len(alike)) - start[which]
        tied &= mixed
    if not np.count_nonzero(tied):
        return rank
    near = np.flatnonzero(tied if depth is None else tied & (rank <= depth))
    if len(near):
        rank[near] += _before_in_ties(rows, score, unsorted, first[near], rows.row[near], judgments, ties)
    return rank


@np.errstate(over="ignore")
def tie_rank_ranges(
    rows: ScoredHits, judgments: Judgments, kind: type[np.floating[Any]]
) -> tuple[Ints, Ints]:
    """Return the first and the last rank that each hit could have among the rows with its score."""
    score, wanted = -rows.score.astype(kind), -rows.hit_score.astype(kind)
    query = judgments.query[rows.row]
    low, high = rows.start[query], rows.end[query]
    _sort_queries(score, rows, query)
    first, last = (_bisect(score, low, high, wanted, before) for before in (np.less, np.less_equal))
    return first - low + 1, last - low


_NO_ROWS_TIED = np.zeros(0, np.int64)


def _sort_queries(score: NDArray[Any], rows: ScoredHits, query: NDArray[np.int32]) -> Ints:
    """Sort the scores of each of these queries in place; return the queries that were not sorted.

    Most runs are sorted as they are written. To sort a query's scores takes numpy about as long as to compare
    them all with one or two of them, and then it does not matter how many are judged.
    """
    falls = np.zeros(len(score) + 1, np.bool_)
    np.less(score[1:], score[:-1], out=falls[1 : len(score)])
    falls[rows.start] = False  # the row before is of another query
    if not np.count_nonzero(falls):
        return _NO_ROWS_TIED
    queries, n_falls = np.unique(query), np.cumsum(falls)
    unsorted = queries[n_falls[rows.end[queries] - 1] > n_falls[rows.start[queries]]].astype(np.int64)
    for start, end in zip(rows.start[unsorted].tolist(), rows.end[unsorted].tolist(), strict=True):
        score[start:end].sort()
    return unsorted


def _bisect(score: NDArray[Any], low: Ints, high: Ints, wanted: NDArray[Any], before: np.ufunc) -> Ints:
    """Return, for each hit, the first position between `low` and `high` whose score is not before its own."""
    one = _STEPS[0]
    last_before: Ints = low - one
    end = high - one
    n_steps = int(np.maximum.reduce(high - low, initial=0)).bit_length()
    for step in reversed(_STEPS[:n_steps]):
        last = np.minimum(last_before + step, end)  # of the next rows: if it is before, all of them are
        np.copyto(last_before, last, where=before(score[last], wanted))
    last_before += one
    return last_before


_STEPS = [np.array(1 << power) for power in range(63)]
"""As arrays: to add Python's integers to a few numbers takes numpy twice as long."""


def _before_in_ties(
    rows: ScoredHits,
    score: NDArray[Any],
    unsorted: Ints,
    first: Ints,
    row: Ints,
    judgments: Judgments,
    ties: TieBreak,
) -> Ints:
    """Count, for each hit, the rows of its tie that the rule puts before it.

    Its tie begins at the position `first` in the sorted scores, and `row` is its judgment.
    """
    by_tie = np.argsort(first, kind="stable")
    row, query = row[by_tie], judgments.query[row[by_tie]]
    start, one, n_hits = np.unique(first[by_tie], return_index=True, return_counts=True)
    n_rows = _bisect(score, start, rows.end[query[one]], score[start], np.less_equal) - start
    position = np.arange(len(score))
    for each in np.intersect1d(query, unsorted).tolist():
        here = slice(rows.start[each], rows.end[each])
        position[here] = position[here][np.argsort(-rows.score[here].astype(score.dtype), kind="stable")]
    ids = iter(rows.ids(position[concat_ranges(start, n_rows)]))
    hits = zip(judgments.ids(row), judgments.grade[row].tolist(), strict=True)
    before: list[int] = []
    for rows_of_tie, hits_of_tie in zip(n_rows.tolist(), n_hits.tolist(), strict=True):
        before += _before(list(islice(ids, rows_of_tie)), dict(islice(hits, hits_of_tie)), ties)
    counts = np.empty(len(first), np.int64)
    counts[by_tie] = before
    return counts


def _before(ids: list[str], grades: GradesOfDocs, ties: TieBreak) -> list[int]:
    """Count the documents of a tie that are before each of its hits."""
    if {*map(type, ids)} - {str}:  # those of a dict whose first id is a string
        ids = list(map(string_id, ids))
    ordered = _ORDERED[ties](ids, grades)
    position = dict(zip(ordered, range(len(ordered)), strict=True))
    return [position[doc_id] for doc_id in grades]
