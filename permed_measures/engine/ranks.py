"""Compute ranks from scores without sorting whole rankings: count the scores above, break ties by a rule."""

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
    """The rule for the order of documents with equal scores.

    Scores are compared as float32, except with ``TREC10``.
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
"""For each rule, order the documents of a tie, given in row order with the grades of the judged ones."""


class ScoredHits(NamedTuple):
    """The scores of a run, or of some of its queries, and the scores of its matched (judged) documents.

    Attributes
    ----------
    score : ndarray of float64, shape (n_rows,)
        All scores; the rows of a query stand together.
    start, end : ndarray of int64, shape (n_queries,)
        The first row of each query of the judgments, and the row after its last; other rows belong to queries
        that are not judged.
    ids : callable
        Returns the document ids at given row positions.
    row : ndarray of int64, shape (n_hits,)
        The row of each matched document in the judgments.
    hit_score : ndarray of float64, shape (n_hits,)
        The score of each matched document.
    """

    score: NDArray[np.float64]
    start: Ints
    end: Ints
    ids: Callable[[Ints], list[str]]
    row: Ints
    hit_score: NDArray[np.float64]


@np.errstate(over="ignore")
def scores_differ(rows: ScoredHits) -> bool:
    """Check whether some query has two scores that differ as float32."""
    n_rows = rows.end - rows.start
    start = rows.start[n_rows > 0]
    last = rows.score[rows.end[n_rows > 0] - 1]
    first = rows.score[start].astype(np.float32)
    if (first != last.astype(np.float32)).any():  # fast, and true of nearly every run
        return True
    score = rows.score[concat_ranges(start, n_rows[n_rows > 0])].astype(np.float32)
    return not np.array_equal(score, np.repeat(first, n_rows[n_rows > 0]))


@np.errstate(over="ignore")  # a score beyond float32 becomes infinite, as in C
def ranks_of(
    rows: ScoredHits,
    judgments: Judgments,
    ties: TieBreak,
    depth: int | None = None,
    mixed: NDArray[np.bool_] | None = None,
) -> Ints:
    """Rank each matched document: one, plus the scores above its own, plus the tied rows before it.

    With `depth`, ranks beyond it are not exact, only beyond it. With `mixed` (a mask), matched documents not
    in the mask are placed first in their tie, whatever the rule.
    """
    kind: Any = np.float64 if ties is TieBreak.TREC10 else np.float32
    score, wanted = -rows.score.astype(kind), -rows.hit_score.astype(kind)
    query = judgments.query[rows.row]
    low, high = rows.start[query], rows.end[query]
    unsorted = _sort_queries(score, rows, query)
    if judgments.n_queries == 1:  # numpy's own search is faster in a single list
        first = low + score[rows.start[0] : rows.end[0]].searchsorted(wanted)
    else:
        last = high if depth is None else np.minimum(high, low + depth)
        first = _bisect(score, low, last, wanted, np.less)
    second: Ints = first + _STEPS[0]
    rank: Ints = second - low
    tied = (second < high) & (score.take(second, mode="clip") == wanted)
    if mixed is not None:
        unmixed = np.flatnonzero(tied & ~mixed)
        unmixed = unmixed[np.argsort(first[unmixed], kind="stable")]
        _, start, which = np.unique(first[unmixed], return_index=True, return_inverse=True)
        rank[unmixed] += np.arange(len(unmixed)) - start[which]
        tied &= mixed
    if not np.count_nonzero(tied):
        return rank
    ambiguous = np.flatnonzero(tied if depth is None else tied & (rank <= depth))
    if len(ambiguous):
        tie, row = first[ambiguous], rows.row[ambiguous]
        rank[ambiguous] += _n_before_in_ties(rows, score, unsorted, tie, row, judgments, ties)
    return rank


@np.errstate(over="ignore")
def tie_rank_ranges(
    rows: ScoredHits, judgments: Judgments, kind: type[np.floating[Any]]
) -> tuple[Ints, Ints]:
    """Return the first and the last rank that each matched document can have within its tie."""
    score, wanted = -rows.score.astype(kind), -rows.hit_score.astype(kind)
    query = judgments.query[rows.row]
    low, high = rows.start[query], rows.end[query]
    _sort_queries(score, rows, query)
    first, last = (_bisect(score, low, high, wanted, before) for before in (np.less, np.less_equal))
    return first - low + 1, last - low


_NO_ROWS_TIED = np.zeros(0, np.int64)


def _sort_queries(score: NDArray[Any], rows: ScoredHits, query: NDArray[np.int32]) -> Ints:
    """Sort the scores of each of these queries in place; return the queries that were not sorted.

    Most runs are sorted already. Sorting a query's scores takes numpy about as long as comparing them all
    with one or two scores, and makes the time independent of the number of judged documents.
    """
    falls = np.zeros(len(score) + 1, np.bool_)
    np.less(score[1:], score[:-1], out=falls[1 : len(score)])
    falls[rows.start] = False  # the row before belongs to another query
    if not np.count_nonzero(falls):
        return _NO_ROWS_TIED
    queries, n_falls = np.unique(query), np.cumsum(falls)
    unsorted = queries[n_falls[rows.end[queries] - 1] > n_falls[rows.start[queries]]].astype(np.int64)
    for start, end in zip(rows.start[unsorted].tolist(), rows.end[unsorted].tolist(), strict=True):
        score[start:end].sort()
    return unsorted


def _bisect(score: NDArray[Any], low: Ints, high: Ints, wanted: NDArray[Any], before: np.ufunc) -> Ints:
    """Find, for each wanted score, the first position from `low` to `high` whose score is not before it."""
    one = _STEPS[0]
    last_before: Ints = low - one
    end = high - one
    n_steps = int(np.maximum.reduce(high - low, initial=0)).bit_length()
    for step in reversed(_STEPS[:n_steps]):
        last = np.minimum(last_before + step, end)  # if this row is before, so are all rows up to it
        np.copyto(last_before, last, where=before(score[last], wanted))
    last_before += one
    return last_before


_STEPS = [np.array(1 << power) for power in range(63)]
"""Powers of 2 as arrays: adding Python integers takes numpy twice as long for a few numbers."""


def _n_before_in_ties(
    rows: ScoredHits,
    score: NDArray[Any],
    unsorted: Ints,
    first: Ints,
    row: Ints,
    judgments: Judgments,
    ties: TieBreak,
) -> Ints:
    """Count, for each matched document, the rows of its tie that the rule puts before it.

    Its tie begins at the position `first` in the sorted scores; `row` is its row in the judgments.
    """
    by_tie = np.argsort(first, kind="stable")
    row, query = row[by_tie], judgments.query[row[by_tie]]
    start, one, n_hits = np.unique(first[by_tie], return_index=True, return_counts=True)
    n_rows = _bisect(score, start, rows.end[query[one]], score[start], np.less_equal) - start
    position = np.arange(len(score))
    for index in np.intersect1d(query, unsorted).tolist():
        block = slice(rows.start[index], rows.end[index])
        position[block] = position[block][np.argsort(-rows.score[block].astype(score.dtype), kind="stable")]
    ids = iter(rows.ids(position[concat_ranges(start, n_rows)]))
    hits = zip(judgments.doc_ids(row), judgments.grade[row].tolist(), strict=True)
    n_before: list[int] = []
    for rows_of_tie, hits_of_tie in zip(n_rows.tolist(), n_hits.tolist(), strict=True):
        n_before += _n_before(list(islice(ids, rows_of_tie)), dict(islice(hits, hits_of_tie)), ties)
    counts = np.empty(len(first), np.int64)
    counts[by_tie] = n_before
    return counts


def _n_before(ids: list[str], grades: GradesOfDocs, ties: TieBreak) -> list[int]:
    """Count the documents of a tie that stand before each of its judged documents."""
    if {*map(type, ids)} - {str}:  # a dict whose sampled ids were strings may hold others
        ids = list(map(string_id, ids))
    ordered = _ORDERED[ties](ids, grades)
    position = dict(zip(ordered, range(len(ordered)), strict=True))
    return [position[doc_id] for doc_id in grades]
