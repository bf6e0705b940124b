"""Tables that are computed when they are read: lazy frames of polars and relations of DuckDB, in batches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from permed_measures.engine.forks import refuse_after_fork
from permed_measures.engine.inputs import Batches
from permed_measures.errors import InputError

if TYPE_CHECKING:
    import polars as pl

_ROWS = 1 << 20
"""Rows of a batch; of one query there may be twice as many before it is divided."""


class LazyTable(NamedTuple):
    """A table that is computed each time it is read.

    Attributes
    ----------
    columns : list of str
        The names of its columns.
    read : callable
        Returns the frames of these columns, one after the other.
    """

    columns: list[str]
    read: Callable[[list[str]], Iterator[pl.DataFrame]]


def lazy_table(data: Any) -> LazyTable | None:
    """Return a lazy frame or a relation as a table; None if it is something else."""
    if "polars" in sys.modules and isinstance(data, sys.modules["polars"].LazyFrame):
        refuse_after_fork()
        return LazyTable(data.collect_schema().names(), partial(_of_lazy_frame, data))
    if "duckdb" in sys.modules and isinstance(data, sys.modules["duckdb"].DuckDBPyRelation):
        refuse_after_fork()
        return LazyTable(data.columns, partial(_of_relation, data))
    return None


def _of_lazy_frame(frame: pl.LazyFrame, columns: list[str]) -> Iterator[pl.DataFrame]:
    return frame.select(columns).collect_batches(chunk_size=_ROWS, maintain_order=True)


def _of_relation(relation: Any, columns: list[str]) -> Iterator[pl.DataFrame]:
    try:
        import pyarrow  # noqa: F401 - DuckDB hands its rows to it
    except ImportError:
        raise InputError("the rows of a DuckDB relation need pyarrow", hint="pip install pyarrow") from None
    import polars as pl

    # A relation that was executed before gives what is left of its rows; one that is derived from it is new.
    rows = relation.project(", ".join(f'"{name}"' for name in columns))
    read = getattr(rows, "to_arrow_reader", None) or rows.fetch_arrow_reader  # the name before DuckDB 1.5
    with closing(read(_ROWS)) as batches:
        for batch in batches:
            yield pl.DataFrame(batch)


class LazyRun(Batches):
    """A run that is computed each time it is read, and that must give the same rows each time.

    They may come in another order: then `refuse_other_order` raises.

    Parameters
    ----------
    read : callable
        Returns frames of query_id, doc_id (strings) and score (Float64).
    """

    keeps_order = False

    def __init__(self, read: Callable[[], Iterator[pl.DataFrame]]) -> None:
        super().__init__()
        self._read = read
        self._first: list[_Digest] | None = None
        self._is_moved = False

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield frames that are cut between queries; after the last, compare all with the first iteration."""
        digests = []
        for frame in whole_queries(self._read(), 2 * _ROWS):
            digests.append(_digest(frame))
            yield frame
        self._first = digests if self._first is None else self._first
        if _sum(digests) != _sum(self._first):
            raise InputError(
                "the run gives other rows when it is read again",
                hint=f"{_STORE} (random numbers, samples and sums of floats may differ each time)",
            )
        self._is_moved = self._is_moved or digests != self._first

    def refuse_other_order(self) -> None:
        """Raise InputError if the rows came in another order when they were read again."""
        if self._is_moved:
            problem = "the run gives its rows in another order when it is read again, and ties go by it"
            raise InputError(problem, hint=_STORE)


_STORE = "Collect it, or write it to a file or a table, and evaluate that"


class _Digest(NamedTuple):
    """What does not depend on the order of rows: their number, and the sum of their hashes."""

    n_rows: int
    hash: int


def _digest(frame: pl.DataFrame) -> _Digest:
    return _Digest(len(frame), int(frame.hash_rows().to_numpy().sum(dtype=np.uint64)))


def _sum(digests: list[_Digest]) -> _Digest:
    return _Digest(sum(each.n_rows for each in digests), sum(each.hash for each in digests) % 2**64)


def whole_queries(frames: Iterable[pl.DataFrame], n_rows: int) -> Iterator[pl.DataFrame]:
    """Yield the rows cut between queries, so that the rows of a query that stand together stay together.

    Of more than `n_rows` rows of one query it yields those that it has.
    """
    import polars as pl

    held = None
    for frame in frames:
        rows = frame if held is None else pl.concat([held, frame])
        rows = rows.with_columns(rows["query_id"].rechunk())  # to copy all columns would take much longer
        query_id = rows["query_id"]
        changes = (query_id != query_id[-1]).arg_true()
        last = int(changes[-1]) + 1 if len(changes) else 0
        if not last and len(rows) > n_rows:
            last = len(rows)
        if last:
            yield rows[:last]
        held = rows[np.arange(last, len(rows))] if last < len(rows) else None  # a copy: the rest is freed
    if held is not None:
        yield held
