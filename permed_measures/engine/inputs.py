"""The forms that judgments and runs come in: a mapping, or a frame of any library with named columns."""

from __future__ import annotations

import math
import numbers
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from permed_measures.engine.forks import refuse_after_fork
from permed_measures.errors import InputError, shown

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

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

    def __init__(self, frames: Iterable[pl.DataFrame] = (), path: Path | None = None) -> None:
        self._frames, self.path = frames, path

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield the frames."""
        return iter(self._frames)

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
        return InputError(
            "the document is listed twice",
            where=where(query_id, doc_id),
            hint="Remove all rows but one",
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
    """A frame of pandas, polars or pyarrow."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class _LazyFrame(Protocol):
    """A polars.LazyFrame."""

    def collect_schema(self) -> Any: ...


class _Ranx(Protocol):
    """A ranx.Run or ranx.Qrels."""

    def to_dict(self) -> Any: ...


class _Dataset(Protocol):
    """A data set of ir_datasets."""

    def qrels_iter(self) -> Any: ...


class _PyTerrierDataset(Protocol):
    """A data set of PyTerrier, which holds one of ir_datasets."""

    def irds_ref(self) -> Any: ...


_Table = Mapping[Any, Mapping[Any, float]] | Iterable[tuple[Any, ...]] | _Frame | _LazyFrame | _Ranx

QrelsLike = _Table | _Dataset | _PyTerrierDataset
"""Qrels: ``{query_id: {doc_id: relevance}}``, namedtuples such as ``ir_measures.Qrel``, a frame of
pandas, polars or pyarrow, a ``ranx.Qrels``, or a data set of ir_datasets or PyTerrier.

A frame has the columns query_id, doc_id and relevance, or PyTerrier's names of these; an iterable is
consumed.
"""

RunLike = _Table | Batches
"""A run: ``{query_id: {doc_id: score}}``, namedtuples such as ``ir_measures.ScoredDoc``, a frame of
pandas, polars or pyarrow, a ``ranx.Run``, or the batches of ``permed_measures.scan_run``.

A frame has the columns query_id, doc_id and score, or PyTerrier's names of these, its rows in any order; an
iterable is consumed.
"""


def first_repeated(frame: pl.DataFrame) -> tuple[str, str] | None:
    """Return query and document of the first row whose query and document have stood before."""
    hashes = row_hashes(frame)
    repeated = repeated_values(hashes)
    if len(repeated):
        again = repeated_rows(frame.filter(np.isin(hashes, repeated)))
        if len(again):
            query_id, doc_id = again.row(0)[:2]
            return query_id, doc_id
    return None


def row_hashes(frame: pl.DataFrame) -> NDArray[np.uint64]:
    """Return a hash of query and document of each row."""
    return frame.select("query_id", "doc_id").hash_rows().to_numpy()


def repeated_values(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the hashes that occur more than once."""
    hashes = np.sort(hashes)
    return np.unique(hashes[1:][hashes[1:] == hashes[:-1]])


def repeated_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows whose query and document have stood before."""
    import polars as pl

    return frame.filter(~pl.struct("query_id", "doc_id").is_first_distinct())


_FORMS = (
    "a dict {query_id: {doc_id: number}}, an iterable of ir_measures namedtuples, "
    "a pandas, polars or pyarrow frame, a ranx.Run or Qrels"
)


def where(query_id: object, doc_id: object) -> str:
    """Return the place of a row, for an error message."""
    return f"query {shown(query_id)}, document {shown(doc_id)}"


def text_id(value: object, *, place: str = "") -> str:
    """Return an id as text: strings as they are, integers in decimal; anything else is an error."""
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return str(int(value))
    raise InputError(
        f"an id must be a string or an integer (found {shown(value)})",
        where=place,
        hint="Convert ids to strings before evaluating, so that nothing is rounded",
    )


def with_text_ids(mapping: Mapping[Any, Any], what: str, *, query_id: str | None = None) -> Mapping[str, Any]:
    """Return the mapping with its ids as text; two ids that are one text are an error."""
    if set(map(type, mapping)) <= {str}:
        return mapping
    place = "" if query_id is None else f"query {shown(query_id)}"
    named = {}
    for key, value in mapping.items():
        name = text_id(key, place=place if query_id is None else where(query_id, key))
        if name in named:
            raise InputError(
                f"two {what} are the same as text (found {shown(name)})",
                where=place,
                hint="Use strings as ids",
            )
        named[name] = value
    return named


def number(value: object, what: str, *, place: str) -> float | int:
    """Return a finite relevance, or a score that is not NaN; anything else is an error."""
    real = isinstance(value, (float, int, numbers.Real))  # the first two are told at once
    if real and (_is_finite(value) or (what == "score" and value in (math.inf, -math.inf))):
        return value  # type: ignore[return-value]
    raise not_a_number(value, what, place=place)


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond all floats
        return False


def packed(parts: Iterable[Iterable[Any]]) -> bytes:
    """Return the numbers of all parts as the bytes of doubles: twice as fast as numpy reads Python floats.

    Raises one of NO_NUMBER if an item is no number; a string is none.
    """
    values: list[Any] = []
    for part in parts:
        values.extend(part)
    return struct.pack(f"{len(values)}d", *values)


NO_NUMBER = (struct.error, TypeError, ValueError, OverflowError)
"""What `packed` raises."""


def not_a_number(value: object, what: str, *, place: str) -> InputError:
    """Return the error for a score or relevance that is no number."""
    return InputError(
        f"a {what} must be a number (found {shown(value)})", where=place, hint="Correct or remove this row"
    )


def as_mapping_or_frame(data: QrelsLike | RunLike, value: str) -> Nested | pl.DataFrame:
    """Bring any accepted form to one of two: a mapping of mappings, or a polars frame.

    Parameters
    ----------
    data : QrelsLike or RunLike
    value : {'relevance', 'score'}
        What the numbers are.

    Returns
    -------
    Mapping or polars.DataFrame
        A mapping is returned as it is. A frame has the columns query_id and doc_id (strings) and `value`
        (Float64).

    Raises
    ------
    InputError
        For another form, a missing column, a float id, a missing value.
    """
    if isinstance(data, Mapping):
        return data
    if isinstance(data, Batches):
        return data.nested()
    if "ranx" in sys.modules and type(data).__module__.startswith("ranx."):
        return cast(_Ranx, data).to_dict()  # type: ignore[no-any-return]
    if value == "relevance" and hasattr(data, "irds_ref"):
        data = data.irds_ref()
    if value == "relevance" and hasattr(data, "qrels_iter"):
        nested = getattr(data, "qrels_nested", None)
        return nested() if nested else _records(data.qrels_iter(), value)
    frame = _frame(data, value)
    if frame is not None:
        return frame
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        return _records(data, value)
    hint = "Read a file with permed_measures.read_qrels or read_run" if isinstance(data, (str, bytes)) else ""
    raise InputError(f"expected {_FORMS} (found {type(data).__name__} {shown(data)})", hint=hint)


def as_mapping(data: QrelsLike | RunLike, value: str) -> Nested:
    """Bring any accepted form to a mapping of mappings with string ids, in the order of its rows."""
    table = as_mapping_or_frame(data, value)
    if isinstance(table, Mapping):
        return table
    return Batches([table]).nested()


def _add(nested: dict[str, dict[str, Any]], query_id: str, doc_id: str, value: Any) -> None:
    docs = nested.setdefault(query_id, {})
    if doc_id in docs:
        raise InputError(
            f"the document is listed twice, with {shown(docs[doc_id])} and {shown(value)}",
            where=where(query_id, doc_id),
            hint="Remove one of the two rows",
        )
    docs[doc_id] = value


def _records(data: Iterable[Any], value: str) -> Nested:
    """Collect namedtuples (ir_measures.Qrel, ScoredDoc or any with these fields) into a mapping."""
    nested: dict[str, dict[str, Any]] = {}
    for record in data:
        try:
            query_id, doc_id, item = record.query_id, record.doc_id, getattr(record, value)
        except AttributeError:
            raise _no_record(record, value) from None
        place = where(query_id, doc_id)
        _add(nested, text_id(query_id, place=place), text_id(doc_id, place=place), item)
    return nested


def _no_record(record: object, value: str) -> InputError:
    library = type(record).__module__.partition(".")[0]
    hint = ""
    if library in ("polars", "pyarrow"):
        # ir_measures turns a frame it does not know into an iterator of its columns before we see it.
        hint = (
            "The functions of ir_measures itself take no polars or pyarrow frame: "
            "call permed_measures.calc_aggregate, or convert the frame to pandas"
        )
    return InputError(
        f"expected {_FORMS}; an item needs query_id, doc_id and {value} "
        f"(found {type(record).__name__} {' '.join(str(record).split()):.80})",
        hint=hint,
    )


def columns_of(names: Iterable[str], value: str) -> dict[str, str]:
    """Return which of the frame's columns is which of ours."""
    names = list(map(str, names))
    if value == "relevance" and set(BEIR_COLUMNS.values()) <= set(names):
        return BEIR_COLUMNS
    found = {}
    for column in ("query_id", "doc_id", value):
        source = next((name for name in COLUMNS[column] if name in names), None)
        if source is None:
            raise InputError(
                f"a frame needs the columns query_id, doc_id and {value} "
                f"(or PyTerrier's qid, docno and {COLUMNS[value][-1]}); {column} is missing (found {names})"
            )
        found[column] = source
    return found


def checked_frame(data: pl.DataFrame, value: str, first_row: int = 0) -> pl.DataFrame:
    """Return query_id and doc_id (strings) and `value` (Float64) of a polars frame, or raise an error."""
    refuse_after_fork()
    columns = {ours: data[theirs] for ours, theirs in columns_of(data.columns, value).items()}
    return _checked(columns, first_row)


def _frame(data: Any, value: str) -> pl.DataFrame | None:
    """Return a checked polars frame of a frame of any library; None if it is something else."""
    if "pandas" in sys.modules and isinstance(data, sys.modules["pandas"].DataFrame):
        refuse_after_fork()
        columns = columns_of(data.columns, value)
        return _checked({ours: _from_pandas(data[theirs], ours) for ours, theirs in columns.items()})
    if "polars" in sys.modules and isinstance(data, sys.modules["polars"].LazyFrame):
        refuse_after_fork()
        columns = columns_of(data.collect_schema().names(), value)
        data = data.select(list(columns.values())).collect()
    if not hasattr(data, "__arrow_c_stream__"):
        return None
    refuse_after_fork()
    import polars as pl

    return checked_frame(pl.DataFrame(data), value)


def _from_pandas(column: Any, name: str) -> pl.Series:
    """Return a pandas column as a polars one, without Python objects where pandas has none either."""
    import polars as pl

    if hasattr(column, "cat"):
        categories = _from_pandas(column.cat.categories.to_series(), name)
        codes = pl.Series(column.cat.codes.to_numpy()).cast(pl.Int64)
        return categories.gather(codes.replace(-1, None))
    if getattr(column.dtype, "kind", "O") in "iufb" and hasattr(column.dtype, "byteorder"):
        return pl.Series(column.to_numpy())
    if hasattr(column.array, "__arrow_array__") and "pyarrow" in sys.modules:
        import pyarrow as pa

        return pl.Series(pa.array(column.array))
    values = column.tolist()
    if name in ("score", "relevance"):
        return pl.Series([number(item, name, place=f"row {row}") for row, item in enumerate(values)])
    if not set(map(type, values)) <= {str}:
        values = [text_id(item, place=f"row {row}, column {name}") for row, item in enumerate(values)]
    return pl.Series(values)


def _checked(columns: dict[str, pl.Series], first_row: int = 0) -> pl.DataFrame:
    """Return the frame with string ids and float values, or raise for what cannot be made so."""
    import polars as pl

    frame = pl.DataFrame([_typed(column.alias(name), name) for name, column in columns.items()])
    for name in frame.columns:
        if frame[name].null_count():
            row = frame[name].is_null().arg_true()[0]
            raise InputError(
                f"missing value in column {name}",
                where=f"row {first_row + row}: {where(*frame.row(row)[:2])}",
                hint="Correct or remove this row",
            )
    if "score" in frame.columns and frame["score"].is_nan().any():
        row = frame["score"].is_nan().arg_true()[0]
        query_id, doc_id, score = frame.row(row)
        raise not_a_number(score, "score", place=f"row {first_row + row}: {where(query_id, doc_id)}")
    return frame


def _typed(column: pl.Series, name: str) -> pl.Series:
    import polars as pl

    wanted = pl.String if name in ("query_id", "doc_id") else pl.Float64
    dtype = column.dtype
    if not len(column):
        return pl.Series(name, [], dtype=wanted)
    if wanted is pl.String:
        if not (dtype.is_integer() or dtype in (pl.String, pl.Categorical, pl.Enum)):
            raise InputError(
                f"ids must be strings or integers (found {dtype} in column {name})",
                where=f"row 0, {name} {shown(column[0])}",
                hint="Convert ids to strings before evaluating, so that nothing is rounded",
            )
    elif not (dtype.is_numeric() or dtype == pl.Boolean):
        raise InputError(f"column {name} must hold numbers (found {dtype})", hint="Convert it to floats")
    return column.cast(wanted)
