"""The one way in: any form of qrels or of a run becomes one of two, a mapping of mappings or frames."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from itertools import chain
from typing import Any, NamedTuple

from permed_measures.engine.inputs import (
    OTHER,
    QRELS_FIRST,
    Frames,
    Nested,
    Parts,
    QrelsLike,
    RunLike,
    checked_frame,
    checked_frames,
    columns_of,
    is_text,
    location,
    number,
    openers,
    string_id,
)
from permed_measures.errors import InputError, shown, unloadable
from permed_measures.frames import check_not_forked, pl

_EXPECTED = (
    "a dict {query_id: {doc_id: number}}, an iterable of ir_measures namedtuples, "
    "a pandas, polars, pyarrow or PySpark frame, a DuckDB relation, a ranx.Run or Qrels"
)
_READ = "Read a file with permed_measures.read_qrels or read_run"


def as_mapping_or_frames(data: QrelsLike | RunLike, column: str) -> Nested | Frames:
    """Return qrels or a run of any form as one of two: a mapping of mappings, or frames one after the other.

    Parameters
    ----------
    data : QrelsLike or RunLike
    column : {'relevance', 'score'}
        The column of numbers: that of qrels, or that of a run.

    Returns
    -------
    Mapping or Frames
        A mapping is returned as it is. In frames, documents may be listed twice; errors in rows are raised
        when these are read.

    Raises
    ------
    InputError
        For another form, a missing column, a float id, a missing value.
    """
    if not isinstance(data, Mapping):
        data = opened(data, column)
    if isinstance(data, Mapping):
        return data
    for form in FORMS:
        if form.has(data):
            if form.column not in ("", column):
                expected, found = ("a run", "qrels") if column == "score" else ("qrels", "a run")
                raise InputError(f"expected {expected} (found {found})", hint=QRELS_FIRST)
            table: Nested | Frames = form.read(data, column)
            return table
    raise _unknown(data)


def _unknown(data: object) -> InputError:
    hint = _READ if isinstance(data, (str, bytes)) else ""
    return InputError(f"expected {_EXPECTED} (found {type(data).__name__} {shown(data)})", hint=hint)


def as_mapping(data: QrelsLike | RunLike, column: str) -> Nested:
    """Return any accepted form as a mapping of mappings, in the order of its rows."""
    table = as_mapping_or_frames(data, column)
    return table if isinstance(table, Mapping) else table.nested()


def opened(data: QrelsLike | RunLike, column: str) -> Any:
    """Return what a path or an id stands for; data in another form as they are."""
    named = isinstance(data, (str, os.PathLike)) and column in openers
    return openers[column](data) if named else data


def with_string_ids(
    mapping: Mapping[Any, Any], ids: str, *, query_id: str | None = None
) -> Mapping[str, Any]:
    """Return the mapping with ids that are strings; two that become one are an error, which names `ids`."""
    if not {*map(type, mapping)} - {str}:
        return mapping
    where = "" if query_id is None else f"query {shown(query_id)}"
    named = {}
    for key, value in mapping.items():
        name = string_id(key, where=where if query_id is None else location(query_id, key))
        if name in named:
            problem = f"two {ids} are the same as strings (found {shown(name)})"
            raise InputError(problem, where=where, hint="Use strings as ids")
        named[name] = value
    return named


# --- frames of libraries ---------------------------------------------------------------------------


def _of_spark(data: Any, column: str) -> Frames:
    """Return the qrels of a PySpark frame; a run of this form is too large for what needs all of its rows."""
    if column == "score":
        raise InputError(
            "this function needs all rows of the run in memory (found a PySpark frame)",
            hint="Give it frame.toArrow() if that fits",
        )
    columns = columns_of(data.columns, column)
    return Frames([checked_frame(pl.DataFrame(data.select(*columns).toArrow()), column)])


_ROWS = 1 << 20
"""Rows of a part."""


def _of_pandas(data: Any, column: str) -> Frames:
    def parts(columns: dict[str, str]) -> Parts:
        yield {theirs: _series(data[theirs], ours) for theirs, ours in columns.items()}

    return checked_frames(data.columns, column, parts)


def _series(series: Any, column: str) -> pl.Series:
    """Return a pandas series as a polars one, without Python objects where pandas has none either."""
    if getattr(series.dtype, "kind", "O") in "iufb" and hasattr(series.dtype, "byteorder"):
        return pl.Series(series.to_numpy())
    if hasattr(series.array, "__arrow_array__") and "pyarrow" in sys.modules:
        import pyarrow as pa

        return pl.Series(pa.array(series.array))
    values = series.tolist()
    if column in ("score", "relevance", "rank"):
        found = [float(number(item, column, where=f"row {row}")) for row, item in enumerate(values)]
        return pl.Series(found, dtype=pl.Float64)
    if {*map(type, values)} - {str}:
        values = [string_id(item, where=f"row {row}, column {column}") for row, item in enumerate(values)]
    try:
        return pl.Series(values, dtype=pl.String)
    except UnicodeEncodeError:
        row = [is_text(each) for each in values].index(False)
        problem = f"half of a Unicode character in an id (found {shown(values[row])})"
        raise InputError(problem, where=f"row {row}, column {column}", hint="Correct the id") from None


def _of_lazy_frame(data: pl.LazyFrame, column: str) -> Frames:
    check_not_forked()

    def parts(columns: dict[str, str]) -> Parts:
        yield from data.select(*columns).collect_batches(chunk_size=_ROWS, maintain_order=True)

    return checked_frames(data.collect_schema().names(), column, parts)


def _of_relation(data: Any, column: str) -> Frames:
    def parts(columns: dict[str, str]) -> Parts:
        try:
            import pyarrow  # noqa: F401 - DuckDB hands its rows to it
        except ImportError:
            hint = "pip install pyarrow"
            raise InputError("the rows of a DuckDB relation need pyarrow", hint=hint) from None
        # One that was executed before gives what is left of its rows; one that is derived from it is new.
        rows = data.project(", ".join(f'"{name}"' for name in columns))
        read = getattr(rows, "to_arrow_reader", None) or rows.fetch_arrow_reader  # before DuckDB 1.5
        with closing(read(_ROWS)) as batches:
            for batch in batches:
                yield pl.DataFrame(batch)

    return checked_frames(data.columns, column, parts)


def _of_arrow(data: Any, column: str) -> Frames:
    """Return the rows of a frame of polars, or of any library that gives them as Arrow does."""
    names = getattr(data, "column_names", None) or getattr(data, "columns", None)
    if names is not None:  # polars knows no two columns of one name
        columns_of(names, column)
    try:
        frame = pl.DataFrame(data)
    except pl.exceptions.SchemaError:  # of one column, as a series of pandas is
        raise _unknown(data) from None

    def parts(columns: dict[str, str]) -> Parts:
        yield frame.select(*columns)

    return checked_frames(frame.columns, column, parts)


# --- what else holds rows --------------------------------------------------------------------------


def _of_dataset(data: Any, _: str) -> Nested:
    if (dataset := dataset_of(data)) is None:
        raise _unknown(data)
    try:
        nested = getattr(dataset, "qrels_nested", None)
        return nested() if nested else _records(dataset.qrels_iter(), "relevance")
    except (RuntimeError, OSError) as error:  # a download failed
        name = dataset.dataset_id() if hasattr(dataset, "dataset_id") else "a data set"
        raise unloadable(name, error) from error


def dataset_of(data: Any) -> Any:
    """Return the data set of ir_datasets with qrels that this is or holds; None for all else."""
    if is_spark_frame(data):  # those of Connect have any attribute
        return None
    dataset = irds_of(data)
    return dataset if hasattr(dataset, "qrels_iter") else None


def irds_of(data: Any) -> Any:
    """Return the data set of ir_datasets that one of PyTerrier's holds; all else as it is."""
    return data.irds_ref() if hasattr(data, "irds_ref") else data


def _of_items(data: Iterable[Any], column: str) -> Nested | Frames:
    """Return namedtuples as a mapping, and frames one after the other."""
    items = iter(data)
    first = next(items, None)
    if not hasattr(type(first), "columns"):  # that of a lazy frame itself warns
        return _records(items if first is None else chain([first], items), column)
    frames = [first, *items] if items is data else data  # an iterator cannot be gone through again
    return Frames(lambda: chain.from_iterable(_of_item(frame, column) for frame in frames))


def _of_item(frame: Any, column: str) -> Frames:
    read = next((form.read for form in FORMS if form.is_frame and form.has(frame)), None)
    if read is None:
        found = f"found {type(frame).__name__} {shown(frame)}"
        raise InputError(f"expected a frame like the one before ({found})")
    frames: Frames = read(frame, column)
    return frames


def _records(data: Iterable[Any], column: str) -> Nested:
    """Collect namedtuples (ir_measures.Qrel, ScoredDoc or any with these fields) into a mapping."""
    nested: dict[str, dict[str, Any]] = {}
    for record in data:
        try:
            query_id, doc_id, value = record.query_id, record.doc_id, getattr(record, column)
        except AttributeError:
            raise _no_record(record, column) from None
        where = location(query_id, doc_id)
        documents = nested.setdefault(string_id(query_id, where=where), {})
        doc_id = string_id(doc_id, where=where)
        if doc_id in documents:
            problem = f"the document is listed twice, with {shown(documents[doc_id])} and {shown(value)}"
            raise InputError(problem, where=where, hint="Remove one of the two rows")
        documents[doc_id] = value
    return nested


def _no_record(record: object, column: str) -> InputError:
    hint = QRELS_FIRST if hasattr(record, OTHER[column]) else ""
    if isinstance(record, str):  # ir_measures goes through the letters of a path
        hint = _READ
    if type(record).__module__.partition(".")[0] in ("polars", "pyarrow"):
        # ir_measures turns a frame it does not know into an iterator of its columns before we see it.
        hint = (
            "The functions of ir_measures itself take no polars or pyarrow frame: "
            "call permed_measures.calc_aggregate, or convert the frame to pandas"
        )
    return InputError(
        f"expected {_EXPECTED}; an item needs query_id, doc_id and {column} "
        f"(found {type(record).__name__} {' '.join(str(record).split()):.80})",
        hint=hint,
    )


# --- all forms -------------------------------------------------------------------------------------


class Form(NamedTuple):
    """A form of qrels or of a run.

    Attributes
    ----------
    library, kind : str
        A module, which whoever has such data has loaded, and a type of it; without a module, what such data
        have as an attribute, of whatever library they are.
    read : callable
        Takes the data and the column of numbers.
    is_frame : bool
        Whether an iterable of such data is one of frames.
    column : {'', 'relevance', 'score'}
        The column that all such data have; empty where they may be qrels or a run.
    """

    library: str
    kind: str
    read: Callable[[Any, str], Any]
    is_frame: bool = True
    column: str = ""

    def has(self, data: Any) -> bool:
        """Return whether the data are of this form."""
        if not self.library:
            return hasattr(data, self.kind) and not isinstance(data, (str, bytes))
        kind = getattr(sys.modules.get(self.library), self.kind, None)
        return isinstance(kind, type) and isinstance(data, kind)


FORMS = [
    Form("pyspark.sql", "DataFrame", _of_spark, is_frame=False),  # first: those of Connect have any attribute
    Form(Frames.__module__, Frames.__name__, lambda frames, _: frames, is_frame=False, column="score"),
    Form("pandas", "DataFrame", _of_pandas),
    Form("polars", "LazyFrame", _of_lazy_frame),
    Form("duckdb", "DuckDBPyRelation", _of_relation),
    Form("", "__arrow_c_stream__", _of_arrow),
    Form("ranx", "Run", lambda run, _: run.to_dict(), is_frame=False, column="score"),
    Form("ranx", "Qrels", lambda qrels, _: qrels.to_dict(), is_frame=False, column="relevance"),
    Form("", "qrels_iter", _of_dataset, is_frame=False, column="relevance"),
    Form("", "irds_ref", _of_dataset, is_frame=False, column="relevance"),
    Form("", "__iter__", _of_items, is_frame=False),
]
"""All forms but a mapping. To add one is to add a row."""


def is_spark_frame(data: object) -> bool:
    """Return whether this is a frame of PySpark, classic or Connect."""
    return FORMS[0].has(data)
