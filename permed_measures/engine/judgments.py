"""Store relevance judgments as arrays, built once for any number of runs and measures."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permed_measures.arrays import Floats, Ints
from permed_measures.engine.tables import (
    Nested,
    Rows,
    check_number,
    first_duplicate,
    location,
    no_dict,
    not_a_number,
    stringify_keys,
    text_series,
)
from permed_measures.errors import InputError
from permed_measures.frames import pl

Gains = Mapping[float, float]

USUAL_GRADES = frozenset(range(-2, 11))
"""Common grades. The scores of a run are seldom all among these; grades seldom lie outside."""


def check_numbers(query_id: str, docs: Mapping[str, Any], column: str) -> None:
    """Raise InputError for the first document of a query whose relevance or score is not a number."""
    for doc_id, value in docs.items():
        check_number(value, column, where=location(query_id, doc_id))


def pack_float64(values: Collection[Any]) -> Floats:
    """Pack numbers as float64, with a NaN if any is not a number; try integers first, which is faster."""
    integers, array = np.empty(len(values), np.int64), np.empty(len(values))
    try:
        _packer(len(values), "q")(integers, 0, *values)
    except _NOT_NUMBERS:
        write_doubles(array, 0, values)
        return array
    return integers.astype(np.float64)


def write_doubles(array: Floats, first: int, values: Collection[Any]) -> None:
    """Write numbers into an array from index `first` on; write one NaN there if any is not a number.

    Unlike numpy, struct rejects numeric strings, and it is faster.
    """
    try:
        _packer(len(values), "d")(array, array.itemsize * first, *values)
    except _NOT_NUMBERS:
        array[first] = math.nan


_NOT_NUMBERS = (struct.error, TypeError, ValueError, OverflowError)


@cache
def _packer(n: int, kind: str) -> Callable[..., None]:
    """Build the function that writes n numbers; cached, since many queries have equally many documents."""
    return struct.Struct(f"{n}{kind}").pack_into


def offsets_of(query: NDArray[np.int32], n_queries: int) -> Ints:
    """Find the first row of each query, and the end of the last one; `query` is ascending."""
    offsets: Ints = query.searchsorted(np.arange(n_queries + 1, dtype=query.dtype))
    return offsets


def position_in_query(query: NDArray[np.int32], n_queries: int) -> Ints:
    """Count the rows of a query up to each row (1 for its first); `query` is ascending."""
    return np.arange(1, len(query) + 1) - offsets_of(query, n_queries)[query]


def concat_ranges(starts: Ints, lengths: Ints) -> Ints:
    """Concatenate the ranges start, start + 1, …, of these lengths.

    Examples
    --------
    >>> concat_ranges(np.array([10, 20]), np.array([2, 3])).tolist()
    [10, 11, 20, 21, 22]
    """
    n_before = np.cumsum(lengths) - lengths
    indices: Ints = np.arange(lengths.sum()) + np.repeat(starts - n_before, lengths)
    return indices


def sums(query: NDArray[np.int32], values: NDArray[np.floating[Any]] | None, n_queries: int) -> Floats:
    """Sum the values per query; without values, count the rows."""
    return np.bincount(query, values, minlength=n_queries).astype(np.float64, copy=False)


def running_sum(query: NDArray[np.int32], values: Floats, n_queries: int) -> Floats:
    """Compute the cumulative sum of the values within each query; `query` is ascending.

    Each query is summed by itself, so that other queries cannot change the rounding.
    """
    return _running(np.cumsum, query, values, n_queries)


def running_product(query: NDArray[np.int32], values: Floats, n_queries: int) -> Floats:
    """Compute the cumulative product of the values within each query; `query` is ascending."""
    return _running(np.cumprod, query, values, n_queries)


def _running(
    accumulate: Callable[..., Floats], query: NDArray[np.int32], values: Floats, n_queries: int
) -> Floats:
    running, offsets = np.empty(len(values)), offsets_of(query, n_queries)
    lengths = np.diff(offsets)
    for length in np.unique(lengths).tolist():  # n rows have at most sqrt(2 n) different lengths
        rows = offsets[:-1][lengths == length, None] + np.arange(length)
        running[rows] = accumulate(values[rows], axis=1)
    return running


def divide(numerator: Floats, denominator: Floats | NDArray[np.int64]) -> Floats:
    """Divide; the result is 0 where the denominator is not above 0."""
    return np.divide(numerator, denominator, np.zeros(len(numerator)), where=denominator > 0)


def map_gains(grade: Floats, gains: Gains) -> Floats:
    """Map each grade to its gain; a grade without one keeps its own value."""
    gain = grade.copy()
    for mapped_grade, value in gains.items():
        gain[grade == mapped_grade] = value
    return gain


# --- qrels -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Judgments:
    """Qrels as arrays, in the ideal order: by query id, within a query by grade descending.

    Attributes
    ----------
    query_ids : list of str, length n_queries
        All queries of the qrels, ascending.
    query : ndarray of int32, shape (n_judged,)
        The query of each judged document, as an index into `query_ids`.
    grade : ndarray of float64, shape (n_judged,)
        The grade of each judged document; negative grades are kept.
    source_position : ndarray of int64, shape (n_judged,)
        The index of each judged document in `source_documents`.
    source_documents : list of str, length n_judged
        The ids of the judged documents, one query after the other, within a query in the order of the qrels.
    lowest : str
        The lowest of these ids as a string; it shows whether any id can be a numeral.
    """

    query_ids: list[str]
    query: NDArray[np.int32]
    grade: NDArray[np.float64]
    source_position: Ints
    source_documents: list[str]
    lowest: str = ""
    _known: dict[object, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, qrels: Rows | Judgments) -> Judgments:
        """Build judgments from nested dicts or a table; return judgments unchanged.

        Raises
        ------
        InputError
            For a relevance that is not a finite number, an id that is neither a string nor an integer, or a
            document judged twice for one query; the message names query and document.
        """
        if isinstance(qrels, Judgments):
            return qrels
        return _from_mapping(qrels) if isinstance(qrels, Mapping) else _from_frame(qrels.whole())

    @cached_property
    def may_be_scores(self) -> bool:
        """Whether the grades look like scores: some are fractions, all are below 0, or one is above 10."""
        grade = self.grade
        return bool(
            len(grade) > 3
            and ((grade != np.floor(grade)).any() or grade.max() < 0 or grade.max() > max(USUAL_GRADES))
        )

    @property
    def n_queries(self) -> int:
        """The number of queries in the qrels."""
        return len(self.query_ids)

    @cached_property
    def offsets(self) -> Ints:
        """The first row of each query, and the number of rows; shape (n_queries + 1,)."""
        return offsets_of(self.query, self.n_queries)

    def doc_ids(self, rows: Ints | slice) -> list[str]:
        """Return the document ids of these rows."""
        return list(map(self.source_documents.__getitem__, self.source_position[rows].tolist()))

    @cached_property
    def documents(self) -> list[str]:
        """The document id of each row."""
        return self.doc_ids(slice(None))

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The judged documents as a frame of query_id, doc_id and row, which a run is joined with."""
        documents = text_series("doc_id", self.documents)
        query_id = text_series("query_id", self.query_ids).gather(self.query)
        row = np.arange(len(self.query))
        return pl.DataFrame([query_id, documents, pl.Series("row", row)])

    def of_queries(self, query: Ints) -> pl.DataFrame:
        """Return the rows of `frame` that belong to these queries."""
        return self.frame[concat_ranges(self.offsets[query], np.diff(self.offsets)[query])]

    def queries_of(self, query_ids: Iterable[str]) -> Ints:
        """Look up the index of each query id in `query_ids`; -1 if it is not judged."""
        return np.array([self._index_of.get(query_id, -1) for query_id in query_ids], np.int64)

    @cached_property
    def _index_of(self) -> dict[str, int]:
        return {query_id: index for index, query_id in enumerate(self.query_ids)}

    def cached(self, compute: Callable[..., Any], *options: Hashable) -> Any:
        """Call ``compute(self, *options)``, and cache the result for all runs."""
        key = (compute, *options)
        if key not in self._known:
            self._known[key] = compute(self, *options)
        return self._known[key]

    def num_rel(self, rel: float) -> Ints:
        """Count the documents with a grade of at least `rel`, per query."""
        counts: Ints = self.cached(_num_rel, rel)
        return counts

    def location(self, row: int) -> str:
        """Name the query and the document of a row, for an error message."""
        return location(self.query_ids[self.query[row]], self.documents[row])


def _num_rel(judgments: Judgments, rel: float) -> Ints:
    return np.bincount(judgments.query[judgments.grade >= rel], minlength=judgments.n_queries)


def _from_mapping(qrels: Nested) -> Judgments:
    named = stringify_keys(qrels, "query ids of the qrels")
    query_ids = sorted(named)
    per_query = [named[query_id] for query_id in query_ids]
    for query_id, docs in zip(query_ids, per_query, strict=True):
        if not isinstance(docs, (dict, Mapping)):  # dict first: the test for Mapping is slow
            raise no_dict(query_id, docs, "relevance")
    documents = list(chain.from_iterable(per_query))
    grade = pack_float64(list(chain.from_iterable(docs.values() for docs in per_query)))
    lowest = _lowest_of(documents)
    if lowest is None or not np.isfinite(grade).all():
        documents = []
        for query_id, docs in zip(query_ids, per_query, strict=True):
            check_numbers(query_id, docs, "relevance")
            documents += stringify_keys(docs, "document ids", query_id=query_id)
        lowest = min(documents, default="")
    query = np.repeat(np.arange(len(query_ids), dtype=np.int32), list(map(len, per_query)))
    return _sorted(query_ids, query, grade, documents, lowest)


def _lowest_of(ids: list[Any]) -> str | None:
    """Find the lowest id; return None if not all are strings (other types cannot be compared with strings).

    One pass does both: reading many ids from memory takes most of the time.
    """
    try:
        lowest = min(ids, default="")
    except TypeError:
        return None
    return lowest if isinstance(lowest, str) else None


def _from_frame(frame: pl.DataFrame) -> Judgments:
    wrong = frame.filter(~pl.col("relevance").is_finite())
    if len(wrong):
        query_id, doc_id, relevance = wrong.row(0)
        raise not_a_number(relevance, "relevance", where=location(query_id, doc_id))
    if (duplicate := first_duplicate(frame)) is not None:
        raise InputError(
            "the document is judged twice", where=location(*duplicate), hint="Remove all rows but one"
        )
    query_ids = frame["query_id"].unique().sort()
    query = query_ids.search_sorted(frame["query_id"]).to_numpy().astype(np.int32)
    by_query = np.argsort(query, kind="stable")
    grade, documents = (frame[name].gather(by_query) for name in ("relevance", "doc_id"))
    ids, lowest = documents.to_list(), str(documents.min() or "")
    return _sorted(query_ids.to_list(), query[by_query], grade.to_numpy(), ids, lowest)


def _sorted(
    query_ids: list[str],
    query: NDArray[np.int32],
    grade: NDArray[np.float64],
    documents: list[str],
    lowest: str,
) -> Judgments:
    """Sort judgments into the ideal order."""
    ideal = np.lexsort((-grade, query))
    return Judgments(query_ids, query[ideal], grade[ideal], ideal, documents, lowest)
