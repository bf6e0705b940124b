"""Relevance judgments as arrays: built once, they serve any number of runs and measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.forms import as_mapping_or_frame
from permed_measures.engine.inputs import (
    Nested,
    QrelsLike,
    first_repeated,
    floats,
    not_a_number,
    number,
    row_hashes,
    where,
    with_text_ids,
)
from permed_measures.errors import InputError, shown

if TYPE_CHECKING:
    import polars as pl


Ints = NDArray[np.int64]


USUAL_GRADES = frozenset(range(-2, 11))


def offsets_of(query: NDArray[np.int32], n_queries: int) -> Ints:
    """Return where the rows of each query begin, and where the last end; `query` is ascending."""
    offsets = np.zeros(n_queries + 1, dtype=np.int64)
    np.cumsum(np.bincount(query, minlength=n_queries), out=offsets[1:])
    return offsets


def position_in_query(query: NDArray[np.int32], n_queries: int) -> Ints:
    """Return the position of each row among the rows of its query, from 1; `query` is ascending."""
    return np.arange(1, len(query) + 1) - offsets_of(query, n_queries)[query]


def segments(starts: Ints, lengths: Ints) -> Ints:
    """Return the indices start, start + 1, … of each segment, one segment after the other.

    Examples
    --------
    >>> segments(np.array([10, 20]), np.array([2, 3])).tolist()
    [10, 11, 20, 21, 22]
    """
    before = np.cumsum(lengths) - lengths
    indices: Ints = np.arange(lengths.sum()) + np.repeat(starts - before, lengths)
    return indices


@dataclass(frozen=True, eq=False)
class Judgments:
    """Qrels as arrays, sorted by query id, within a query by grade descending: the ideal order.

    Attributes
    ----------
    query_ids : list of str, length n_queries
        All queries of the qrels, ascending.
    query : ndarray of int32, shape (n_judged,)
        The query of each judged document, as an index into `query_ids`.
    grade : ndarray of float64, shape (n_judged,)
        Its grade; negative grades are kept.
    order : ndarray of int64, shape (n_judged,)
        Where its id stands in `documents`.
    documents : list of str or polars.Series, length n_judged
        The ids by query, as they were given.
    """

    query_ids: list[str]
    query: NDArray[np.int32]
    grade: NDArray[np.float64]
    order: Ints
    documents: Sequence[str] | pl.Series
    _num_rel: dict[float, Ints] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, qrels: QrelsLike | Judgments) -> Judgments:
        """Build judgments from any form of qrels (see ``inputs``); judgments are returned as they are.

        Raises
        ------
        InputError
            For a relevance that is no finite number, an id that is no string or integer, a document judged
            twice for one query; the message names query and document.
        """
        if isinstance(qrels, Judgments):
            return qrels
        table = as_mapping_or_frame(qrels, "relevance")
        return _from_mapping(table) if isinstance(table, Mapping) else _from_frame(table)

    @cached_property
    def may_be_scores(self) -> bool:
        """Whether the grades look like the scores of a run: not whole, below 0, or above all usual grades."""
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
        """Where the rows of each query begin; shape (n_queries + 1,)."""
        return offsets_of(self.query, self.n_queries)

    @cached_property
    def row_at(self) -> Ints:
        """The row of each place in `documents`: the inverse of `order`."""
        row = np.empty_like(self.order)
        row[self.order] = np.arange(len(row))
        return row

    @cached_property
    def document_list(self) -> list[str]:
        """The documents as Python strings."""
        return list(self.documents)

    def ids(self, rows: Ints) -> list[str]:
        """Return the document ids of these rows."""
        if hasattr(self.documents, "gather"):
            return self.documents.gather(self.order[rows]).to_list()
        place, documents = self.order[rows].tolist(), self.document_list
        return list(itemgetter(*place)(documents)) if len(place) > 1 else [documents[i] for i in place]

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The judged documents as a frame of query_id, doc_id, query and row, to join a run with."""
        import polars as pl

        documents = pl.Series("doc_id", self.documents, dtype=pl.String).gather(self.order)
        query_id = self.queries["query_id"].gather(self.query)
        row = np.arange(len(self.query))
        return pl.DataFrame([query_id, documents, pl.Series("query", self.query), pl.Series("row", row)])

    @cached_property
    def judged_documents(self) -> pl.DataFrame:
        """The ids of the judged documents, each once."""
        return self.frame.select("doc_id").unique()

    def rows_of(self, frame: pl.DataFrame, starts: Ints) -> tuple[Ints, Ints]:
        """Return the rows of a frame that are judged, and the judgment of each.

        `starts` are the first rows of its blocks, as `block_starts` returns them.
        """
        return self._hashed.find(frame, starts)

    @cached_property
    def _hashed(self) -> _Hashed:
        return _Hashed(self.frame.select("query_id", "doc_id"))

    @cached_property
    def queries(self) -> pl.DataFrame:
        """The queries as a frame of query_id and query."""
        import polars as pl

        query_ids = pl.Series("query_id", self.query_ids, dtype=pl.String)
        return pl.DataFrame([query_ids, pl.Series("query", np.arange(self.n_queries, dtype=np.int32))])

    def queries_of(self, query_ids: pl.Series) -> Ints:
        """Return the query that each of these ids is; -1 if it is not judged."""
        if len(query_ids) < _FEW:
            find = self._numbers.get
            return np.array([find(query_id, -1) for query_id in query_ids.to_list()], np.int64)
        named = query_ids.to_frame("query_id")
        found = named.join(self.queries, on="query_id", how="left", maintain_order="left")["query"]
        return found.fill_null(-1).to_numpy().astype(np.int64)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return dict(zip(self.query_ids, range(self.n_queries), strict=True))

    def num_rel(self, rel: float) -> Ints:
        """Return the number of documents with a grade of at least `rel`, per query."""
        if rel not in self._num_rel:
            self._num_rel[rel] = np.bincount(self.query[self.grade >= rel], minlength=self.n_queries)
        return self._num_rel[rel]

    def where(self, row: int) -> str:
        """Return query and document of a row, for an error message."""
        return where(self.query_ids[self.query[row]], self.documents[int(self.order[row])])


_FEW = 1 << 10
"""Query ids that Python looks up as fast as polars, which may have to wait for its threads."""


class _Hashed:
    """Queries and documents, to be found in frames by their hashes: few rows are compared."""

    def __init__(self, ids: pl.DataFrame) -> None:
        self._ids = ids
        hashes = row_hashes(ids)
        self._order = np.argsort(hashes)
        self._sorted = hashes[self._order]
        size = min(1 << (_SPARSE * len(hashes)).bit_length(), _LARGEST)
        self._mask = np.uint64(size - 1)
        self._marked = np.zeros(size, np.bool_)
        self._marked[hashes & self._mask] = True

    def find(self, frame: pl.DataFrame, starts: Ints) -> tuple[Ints, Ints]:
        """Return the rows of a frame that are among these, and which each is."""
        hashes = row_hashes(frame, starts)
        row = np.flatnonzero(self._marked[hashes & self._mask])
        first, after = (np.searchsorted(self._sorted, hashes[row], side) for side in ("left", "right"))
        row, which = np.repeat(row, after - first), self._order[segments(first, after - first)]
        same = np.ones(len(row), np.bool_)
        for name in self._ids.columns:  # different ids may have the same hash
            same &= (frame[name].gather(row) == self._ids[name].gather(which)).to_numpy()
        return row[same], which[same]


_SPARSE = 64
"""Places for each judgment, of which its own is marked: one other row in so many is looked at in vain."""
_LARGEST = 1 << 22
"""Most places: they should stay in the cache."""


def _from_mapping(qrels: Nested) -> Judgments:
    named = with_text_ids(qrels, "query ids of the qrels")
    query_ids = sorted(named)
    per_query = [named[query_id] for query_id in query_ids]
    for query_id, docs in zip(query_ids, per_query, strict=True):
        if not isinstance(docs, (dict, Mapping)):  # a dict is told at once
            found = f"found {type(docs).__name__}"
            problem = f"the judgments of a query must be a dict {{doc_id: relevance}} ({found})"
            raise InputError(problem, where=f"query {shown(query_id)}")
    documents: list[str] = []
    for docs in per_query:
        documents += docs
    some = (documents[first : first + _TOGETHER] for first in range(0, len(documents), _TOGETHER))
    kinds = set(map(type, chain.from_iterable(some)))
    grade = floats(docs.values() for docs in per_query)
    if not kinds <= {str} or not np.isfinite(grade).all():
        checked = map(_checked, query_ids, per_query)
        documents = list(chain.from_iterable(checked))
    query = np.repeat(np.arange(len(query_ids), dtype=np.int32), list(map(len, per_query)))
    ideal = np.lexsort((_compact(-grade), _compact(query)))
    return Judgments(query_ids, query, grade[ideal], ideal, documents)


_TOGETHER = 1000
"""Ids that are looked at together: a copy of a part of the list brings them into the cache."""


def _compact(values: NDArray[Any]) -> NDArray[Any]:
    """Return the values as 16-bit integers where they are such: numpy sorts these by radix, much faster."""
    with np.errstate(invalid="ignore"):
        small = values.astype(np.int16)
    return small if np.array_equal(small, values) else values


def _checked(query_id: str, docs: Mapping[str, float]) -> Mapping[str, float]:
    """Check each judgment of a query, and return them with string ids."""
    for doc_id, relevance in docs.items():
        number(relevance, "relevance", place=where(query_id, doc_id))
    return with_text_ids(docs, "document ids", query_id=query_id)


def _from_frame(frame: pl.DataFrame) -> Judgments:
    import polars as pl

    wrong = frame.filter(~pl.col("relevance").is_finite())
    if len(wrong):
        query_id, doc_id, relevance = wrong.row(0)
        raise not_a_number(relevance, "relevance", place=where(query_id, doc_id))
    if (pair := first_repeated(frame)) is not None:
        raise InputError("the document is judged twice", where=where(*pair), hint="Remove all rows but one")
    query_ids, query = _numbered(frame["query_id"])
    if (query[1:] < query[:-1]).any():
        by_query = np.argsort(_compact(query), kind="stable")
        frame, query = frame[by_query], query[by_query]
    grade = frame["relevance"].to_numpy()
    ideal = np.lexsort((_compact(-grade), _compact(query)))
    return Judgments(query_ids, query[ideal], grade[ideal], ideal, frame["doc_id"])


def _numbered(query_id: pl.Series) -> tuple[list[str], NDArray[np.int32]]:
    """Return the query ids, ascending, and the index of each row's, looked up once per block of equal ids."""
    blocks = query_id.rle().struct.unnest()
    query_ids = sorted(blocks["value"].unique().to_list())
    numbers = {query_id: number for number, query_id in enumerate(query_ids)}
    of_block = np.fromiter(map(numbers.__getitem__, blocks["value"].to_list()), np.int32, len(blocks))
    return query_ids, np.repeat(of_block, blocks["len"].to_numpy())
