"""The forms that qrels and runs come in, and the ids and numbers in them."""

from __future__ import annotations

import math
import numbers
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from permed_measures.errors import InputError, RepeatedDocumentError, shown

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

STDIN = Path("/dev/stdin")
"""What the path ``-`` stands for, on any system."""

Nested = Mapping[str, Mapping[str, float]]
"""``{query_id: {doc_id: number}}``."""

COLUMNS = {
    "query_id": ("query_id", "qid", "q_id"),
    "doc_id": ("doc_id", "docno"),
    "score": ("score",),
    "relevance": ("relevance", "label"),
}
"""The names a column may have: ir_measures' own first, then PyTerrier's and ranx's."""

BEIR_COLUMNS = {"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score"}
"""The names of the columns in BEIR's qrels, where the relevance is called score."""


class Batches:
    """A run as frames of query_id, doc_id (strings) and score (Float64) that can be gone through again.

    Parameters
    ----------
    frames : iterable of polars.DataFrame, optional
        Frames in memory, of which only judged documents are checked for duplicates.
    path : Path, optional
        The file of the run, which warnings about the run as a whole name.
    """

    keeps_order = True
    """Whether the rows come in the same order each time."""

    reads_ahead = False
    """Whether the threads of polars read the next frames while one is looked at."""

    def __init__(self, frames: Iterable[pl.DataFrame] = (), path: Path | None = None) -> None:
        self._frames, self.path = frames, path

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield the frames."""
        return iter(self._frames)

    def refuse_other_order(self) -> None:
        """Raise InputError if the rows came in another order when they were gone through again."""

    def nested(self) -> dict[str, dict[str, float]]:
        """Return all rows as nested dicts."""
        nested: dict[str, dict[str, float]] = FileRun({}, self.path) if self.path else {}
        for frame in self:
            for query_id, doc_id, value in zip(*(column.to_list() for column in frame), strict=True):
                documents = nested.setdefault(query_id, {})
                if doc_id in documents:
                    raise self.duplicate_error(query_id, doc_id)
                documents[doc_id] = value
        return nested

    def duplicate_error(self, query_id: str, doc_id: str) -> InputError:
        """Return the error for a document that is listed twice in a query."""
        place = where(query_id, doc_id)
        return RepeatedDocumentError(
            "the document is listed twice", where=place, hint="Remove all rows but one"
        )


class FileRun(dict[str, Any]):
    """A run as nested dicts, and its file, which warnings about the run as a whole name."""

    def __init__(self, run: Mapping[str, Any], path: Path | None) -> None:
        super().__init__(run)
        self.path = path


def path_of(run: object) -> Path | None:
    """Return the file of a run, if it is known."""
    return run.path if isinstance(run, (Batches, FileRun)) else None


class _Frame(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class _LazyFrame(Protocol):
    def collect_schema(self) -> Any: ...


class _SparkFrame(Protocol):
    def mapInArrow(self, func: Any, schema: Any) -> Any: ...  # noqa: N802 - Spark's name


class _Relation(Protocol):
    def project(self, *args: Any, groups: str = "") -> Any: ...


class _Ranx(Protocol):
    def to_dict(self) -> Any: ...


class _Dataset(Protocol):
    def qrels_iter(self) -> Any: ...


class _PyTerrierDataset(Protocol):
    def irds_ref(self) -> Any: ...


_Table = (
    Mapping[Any, Mapping[Any, float]]
    | Iterable[tuple[Any, ...]]
    | _Frame
    | _LazyFrame
    | _Relation
    | _SparkFrame
    | _Ranx
)

QrelsLike = _Table | _Dataset | _PyTerrierDataset | str | PathLike[str]
"""Qrels: ``{query_id: {doc_id: relevance}}``, namedtuples such as ``ir_measures.Qrel``, a frame of
pandas, polars, pyarrow or PySpark, a relation of DuckDB, a ``ranx.Qrels``, or a data set of ir_datasets or
PyTerrier. Functions of the package read the path of a file, the id of a data set of ir_datasets, and the
folder of a data set.

A frame has the columns query_id, doc_id and relevance, or PyTerrier's names of these; an iterable is
consumed.
"""

RunLike = _Table | Batches | str | PathLike[str]
"""A run: ``{query_id: {doc_id: score}}``, namedtuples such as ``ir_measures.ScoredDoc``, a frame of
pandas, polars, pyarrow or PySpark, a ``ranx.Run``, or the batches of ``permed_measures.scan_run``. Functions
of the package read the path of a file. A ``polars.LazyFrame`` or a relation of DuckDB is read in batches too.

A frame has the columns query_id, doc_id and score, or PyTerrier's names of these, its rows in any order; an
iterable is consumed.
"""


def block_starts(query_id: pl.Series) -> NDArray[np.int64]:
    """Return the first rows of blocks: adjacent rows with one query id, which is compared with the next."""
    n = len(query_id)
    changes = (query_id.slice(1) != query_id.slice(0, max(n - 1, 0))).arg_true().to_numpy()
    return np.concatenate([np.zeros(min(n, 1), np.int64), changes.astype(np.int64) + 1])


def first_repeated(frame: pl.DataFrame, starts: NDArray[np.int64] | None = None) -> tuple[str, str] | None:
    """Return query and document of the first row whose query and document have stood before.

    `starts` are the first rows of its blocks, where they are known.
    """
    starts = block_starts(frame["query_id"]) if starts is None else starts
    hashes = row_hashes(frame, starts)
    together = frame["query_id"].gather(starts).n_unique() == len(starts)
    repeated = repeated_values(hashes, starts if together else ())
    if not len(repeated):
        return None
    again = repeated_rows(frame.filter(np.isin(hashes, repeated)).select("query_id", "doc_id"))
    return again.row(0) if len(again) else None


def row_hashes(frame: pl.DataFrame, starts: NDArray[np.int64] | None = None) -> NDArray[np.uint64]:
    """Return a hash of query and document of each row; that of the query is made once per block."""
    starts = block_starts(frame["query_id"]) if starts is None else starts
    of_query = frame["query_id"].gather(starts).hash(seed=1).to_numpy()
    of_document = frame["doc_id"].hash(seed=2).to_numpy()
    hashes: NDArray[np.uint64] = of_document + np.repeat(of_query, np.diff(starts, append=len(frame)))
    return hashes


_SORTED_TOGETHER = 1 << 12


def repeated_values(
    hashes: NDArray[np.uint64], starts: Sequence[int] | NDArray[np.int64] = ()
) -> NDArray[np.uint64]:
    """Return the hashes that occur more than once; equal ones stand between the same two of `starts`.

    A few thousand are sorted together: they stay in the cache, and there are fewer to compare each with.
    """
    hashes = hashes.copy()
    starts = np.asarray(starts, np.int64)
    bounds = starts[np.diff(starts // _SORTED_TOGETHER, prepend=0) > 0]
    for part in np.split(hashes, bounds):
        part.sort()
    is_repeated = hashes[1:] == hashes[:-1]
    return np.unique(hashes[1:][is_repeated]) if is_repeated.any() else hashes[:0]


def repeated_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows whose query and document have stood before."""
    import polars as pl

    return frame.filter(~pl.struct("query_id", "doc_id").is_first_distinct())


def where(query_id: object, doc_id: object) -> str:
    """Return the place of a row, for an error message."""
    return f"query {shown(query_id)}, document {shown(doc_id)}"


def text_id(value: object, *, place: str = "") -> str:
    """Return an id as text; anything but a string or an integer is an error."""
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return str(int(value))
    raise InputError(
        f"an id must be a string or an integer (found {shown(value)})",
        where=place,
        hint="Convert ids to strings before evaluating, so that nothing is rounded",
    )


def with_text_ids(mapping: Mapping[Any, Any], ids: str, *, query_id: str | None = None) -> Mapping[str, Any]:
    """Return the mapping with its ids as text; two that are the same text are an error, which names `ids`."""
    if set(map(type, mapping)) <= {str}:
        return mapping
    place = "" if query_id is None else f"query {shown(query_id)}"
    named = {}
    for key, value in mapping.items():
        name = text_id(key, place=place if query_id is None else where(query_id, key))
        if name in named:
            problem = f"two {ids} are the same as text (found {shown(name)})"
            raise InputError(problem, where=place, hint="Use strings as ids")
        named[name] = value
    return named


def number(value: Any, column: str, *, place: str) -> float | int:
    """Return a finite relevance, or a score that is not NaN; anything else is an error."""
    try:
        if math.isfinite(value) or (column == "score" and not math.isnan(value)):
            return value  # type: ignore[no-any-return]
    except (TypeError, ValueError, OverflowError):  # no number, or an integer beyond all floats
        pass
    raise not_a_number(value, column, place=place)


class Floats:
    """Python numbers that become an array; a NaN stands for numbers of which one is none. A string is none.

    They are packed while they are in the cache: packing all of them at once takes more than twice as long,
    and so does numpy.
    """

    def __init__(self) -> None:
        self._packed: list[bytes] = []
        self._values: list[Any] = []

    def extend(self, values: Iterable[Any]) -> None:
        """Add numbers."""
        self._values.extend(values)
        if len(self._values) >= _TOGETHER:
            self._pack()

    def array(self) -> NDArray[np.float64]:
        """Return all numbers."""
        self._pack()
        return np.frombuffer(b"".join(self._packed))

    def _pack(self) -> None:
        try:
            packed = _doubles(len(self._values)).pack(*self._values)
        except (struct.error, TypeError, ValueError, OverflowError):
            packed = struct.pack("d", math.nan)
        self._packed.append(packed)
        self._values.clear()


def floats(parts: Iterable[Iterable[Any]]) -> NDArray[np.float64]:
    """Return the numbers of all parts, with a NaN if one is no number."""
    found = Floats()
    for part in parts:
        found.extend(part)
    return found.array()


@lru_cache
def _doubles(n: int) -> struct.Struct:
    return struct.Struct(f"{n}d")


_TOGETHER = 1000
"""Numbers that are packed together."""


def not_a_number(value: object, column: str, *, place: str) -> InputError:
    """Return the error for a score or relevance that is no number."""
    problem = f"a {column} must be a number (found {shown(value)})"
    return InputError(problem, where=place, hint="Correct or remove this row")
