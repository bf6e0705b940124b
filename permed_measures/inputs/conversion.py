"""Convert qrels and runs in memory, in the forms of many libraries, to nested dicts or tables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from itertools import chain
from typing import Any, NamedTuple

from permed_measures.engine.tables import (
    QRELS_FIRST,
    NamedDict,
    Nested,
    Table,
    check_number,
    is_encodable,
    location,
    string_id,
)
from permed_measures.errors import InputError, dataset_load_error, short_repr
from permed_measures.frames import check_not_forked, pl
from permed_measures.inputs.columns import (
    OTHER,
    Parts,
    check_decimals,
    checked_frame,
    checked_table,
    find_columns,
)

_EXPECTED = (
    "a dict {query_id: {doc_id: number}}, an iterable of ir_measures namedtuples, "
    "a pandas, polars, pyarrow or PySpark frame, a DuckDB relation, a ranx.Run or Qrels"
)
_READ = "Read a file with permed_measures.read_qrels or read_run"


def convert_rows(data: Any, column: str) -> Any:
    """Convert qrels or a run to nested dicts or a table; a PySpark run to a frame of typed columns.

    Raises
    ------
    InputError
        For an unknown form, a missing column, a float id or a missing value.
    """
    for form in INPUT_FORMS:
        if form.has(data):
            own_column = data.column if isinstance(data, Table) else form.column
            if own_column not in ("", column):
                expected, actual = ("a run", "qrels") if column == "score" else ("qrels", "a run")
                raise InputError(f"expected {expected} (found {actual})", hint=QRELS_FIRST)
            return form.read(data, column)
    raise _unknown(data)


def in_memory(rows: Any) -> Nested | Table:
    """Return nested dicts and tables unchanged; refuse a PySpark frame, which may not fit into memory."""
    if isinstance(rows, (Mapping, Table)):
        return rows
    raise InputError(
        "this function needs all rows of the run in memory (found a PySpark frame)",
        hint="Give it frame.toArrow() if that fits",
    )


def _unknown(data: object) -> InputError:
    hint = _READ if isinstance(data, (str, bytes)) else ""
    return InputError(f"expected {_EXPECTED} (found {type(data).__name__} {short_repr(data)})", hint=hint)


# --- frames of libraries ---------------------------------------------------------------------------


def _of_spark(data: Any, column: str) -> Any:
    """Collect the qrels of a PySpark frame to a table; leave the rows of a run in Spark."""
    if column == "score":
        return _typed_rows(data, column)
    columns = find_columns(data.columns, column)
    return Table([checked_frame(pl.DataFrame(data.select(*columns).toArrow()), column)], column)


_ID_TYPES = {"string", "char", "varchar", "byte", "short", "integer", "long"}
_NUMBER_TYPES = {"byte", "short", "integer", "long", "float", "double", "decimal", "boolean"}


def _typed_rows(frame: Any, column: str) -> Any:
    """Select query_id, doc_id (strings) and `column` (double) of a PySpark frame."""
    columns: dict[str, Any] = {}
    for name, meaning in find_columns(frame.columns, column).items():
        kind = frame.schema[name].dataType
        is_number = meaning in (column, "rank")
        if is_number and kind.typeName() not in _NUMBER_TYPES:
            problem = f"column {name} must hold numbers (found {kind.simpleString()})"
            raise InputError(problem, hint="Cast it to double")
        if not is_number and kind.typeName() not in _ID_TYPES:
            raise InputError(
                f"ids must be strings or integers (found {kind.simpleString()} in column {name})",
                hint="Convert ids to strings before evaluating, so that nothing is rounded",
            )
        if meaning in columns:
            problem = f"two columns may both be the {meaning} (found {name} and another)"
            raise InputError(problem, hint="Leave one of the two out")
        columns[meaning] = frame[name].cast("double" if is_number else "string")
    if "rank" in columns:
        columns["score"] = -columns.pop("rank")
    return frame.select(*(value.alias(meaning) for meaning, value in columns.items()))


_ROWS_PER_PART = 1 << 20
"""The number of rows in a part."""


def _of_pandas(data: Any, column: str) -> Table:
    def parts(columns: dict[str, str]) -> Parts:
        yield {name: _series(data[name], meaning) for name, meaning in columns.items()}

    return checked_table(data.columns, column, parts)


def _series(series: Any, column: str) -> pl.Series:
    """Convert a pandas series to polars, without Python objects if pandas has none either."""
    if getattr(series.dtype, "kind", "O") in "iufb" and hasattr(series.dtype, "byteorder"):
        return pl.Series(series.to_numpy())
    if hasattr(series.array, "__arrow_array__") and "pyarrow" in sys.modules:
        import pyarrow as pa

        return pl.Series(pa.array(series.array))
    values = series.tolist()
    if column in ("score", "relevance", "rank"):
        numbers = [float(check_number(item, column, where=f"row {row}")) for row, item in enumerate(values)]
        return pl.Series(numbers, dtype=pl.Float64)
    if {*map(type, values)} - {str}:
        values = [string_id(item, where=f"row {row}, column {column}") for row, item in enumerate(values)]
    try:
        return pl.Series(values, dtype=pl.String)
    except UnicodeEncodeError:
        row = [is_encodable(text) for text in values].index(False)
        problem = f"an id contains an unpaired surrogate (found {short_repr(values[row])})"
        raise InputError(problem, where=f"row {row}, column {column}", hint="Correct the id") from None


def _of_lazy_frame(data: pl.LazyFrame, column: str) -> Table:
    check_not_forked()

    def parts(columns: dict[str, str]) -> Parts:
        check_decimals(schema, columns)
        yield from data.select(*columns).collect_batches(chunk_size=_ROWS_PER_PART, maintain_order=True)

    schema = data.collect_schema()
    return checked_table(schema.names(), column, parts)


def _of_relation(data: Any, column: str) -> Table:
    def parts(columns: dict[str, str]) -> Parts:
        try:
            import pyarrow  # noqa: F401 - DuckDB returns rows as pyarrow batches
        except ImportError:
            hint = "pip install pyarrow"
            raise InputError("the rows of a DuckDB relation need pyarrow", hint=hint) from None
        # A relation that was executed before returns only its remaining rows; a projection of it starts anew.
        rows = data.project(", ".join(f'"{name}"' for name in columns))
        read = getattr(rows, "to_arrow_reader", None) or rows.fetch_arrow_reader  # its name before DuckDB 1.5
        with closing(read(_ROWS_PER_PART)) as batches:
            for batch in batches:
                yield pl.DataFrame(batch)

    return checked_table(data.columns, column, parts)


def _of_arrow(data: Any, column: str) -> Table:
    """Convert a polars frame, or a frame of any library that supports the Arrow interface."""
    names = getattr(data, "column_names", None) or getattr(data, "columns", None)
    if names is not None:  # checked before polars, which refuses two columns of one name
        find_columns(names, column)
    try:
        frame = pl.DataFrame(data)
    except pl.exceptions.SchemaError:  # a single column, such as a pandas series
        raise _unknown(data) from None
    except pl.exceptions.PanicException as error:  # a type that polars does not have
        hint = "Cast it, such as decimals of more than 38 digits to float64"
        raise InputError(f"a column has a type that cannot be read ({error})", hint=hint) from None

    def parts(columns: dict[str, str]) -> Parts:
        yield frame.select(*columns)

    return checked_table(frame.columns, column, parts)


# --- data sets and iterables -----------------------------------------------------------------------


def _of_dataset(data: Any, _: str) -> Nested:
    """Read the qrels of a data set of ir_datasets, or of PyTerrier, which wraps one of ir_datasets."""
    dataset = data.irds_ref() if hasattr(data, "irds_ref") else data
    if not hasattr(dataset, "qrels_iter"):
        raise _unknown(data)
    try:
        nested = getattr(dataset, "qrels_nested", None)
        qrels = nested() if nested else _records(dataset.qrels_iter(), "relevance")
    except (RuntimeError, OSError) as error:  # a download failed
        name = dataset.dataset_id() if hasattr(dataset, "dataset_id") else "a data set"
        raise dataset_load_error(name, error) from error
    return NamedDict(qrels, dataset=dataset)


def _of_items(data: Iterable[Any], column: str) -> Nested | Table:
    """Convert an iterable: namedtuples to nested dicts, frames to a table of parts."""
    items = iter(data)
    first = next(items, None)
    if not hasattr(type(first), "columns"):  # the type's attribute: a lazy frame's own would warn
        return _records(items if first is None else chain([first], items), column)
    frames = [first, *items] if items is data else data  # an iterator can be consumed only once
    return Table(lambda: chain.from_iterable(_frame_to_table(frame, column) for frame in frames), column)


def _frame_to_table(frame: Any, column: str) -> Table:
    read = next((form.read for form in INPUT_FORMS if form.is_frame and form.has(frame)), None)
    if read is None:
        problem = f"expected a frame like the one before (found {type(frame).__name__} {short_repr(frame)})"
        raise InputError(problem)
    table: Table = read(frame, column)
    return table


def _records(data: Iterable[Any], column: str) -> Nested:
    """Collect namedtuples (ir_measures.Qrel, ScoredDoc or any with these fields) into nested dicts."""
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
            problem = (
                f"the document is listed twice, with {short_repr(documents[doc_id])} and {short_repr(value)}"
            )
            raise InputError(problem, where=where, hint="Remove one of the two rows")
        documents[doc_id] = value
    return nested


def _no_record(record: object, column: str) -> InputError:
    hint = QRELS_FIRST if hasattr(record, OTHER[column]) else ""
    if isinstance(record, str):  # ir_measures iterates over the characters of a path
        hint = _READ
    if type(record).__module__.partition(".")[0] in ("polars", "pyarrow"):
        # ir_measures turns an unknown frame into an iterator over its columns before this function sees it.
        hint = (
            "The functions of ir_measures itself do not accept polars or pyarrow frames: "
            "call permed_measures.calc_aggregate, or convert the frame to pandas"
        )
    return InputError(
        f"expected {_EXPECTED}; an item needs query_id, doc_id and {column} "
        f"(found {type(record).__name__} {' '.join(str(record).split()):.80})",
        hint=hint,
    )


# --- all forms -------------------------------------------------------------------------------------


class InputForm(NamedTuple):
    """A form of qrels or of a run.

    Attributes
    ----------
    library, kind : str
        A module (loaded, if the user has such data) and a type in it. Without a module, `kind` is an
        attribute that such data have, in any library.
    read : callable
        Converts the data; the second argument is the column of numbers.
    is_frame : bool
        Whether such data can be parts in an iterable of frames.
    column : {'', 'relevance', 'score'}
        The column of numbers of all such data; empty if they may be qrels or a run.
    """

    library: str
    kind: str
    read: Callable[[Any, str], Any]
    is_frame: bool = True
    column: str = ""

    def has(self, data: Any) -> bool:
        """Check whether the data have this form."""
        if not self.library:
            return hasattr(data, self.kind) and not isinstance(data, (str, bytes))
        kind = getattr(sys.modules.get(self.library), self.kind, None)
        return isinstance(kind, type) and isinstance(data, kind)


INPUT_FORMS = [
    # PySpark comes first: its Connect frames have every attribute.
    InputForm("pyspark.sql", "DataFrame", _of_spark, is_frame=False),
    InputForm(Table.__module__, Table.__name__, lambda table, _: table, is_frame=False),
    InputForm("pandas", "DataFrame", _of_pandas),
    InputForm("polars", "LazyFrame", _of_lazy_frame),
    InputForm("duckdb", "DuckDBPyRelation", _of_relation),
    InputForm("", "__arrow_c_stream__", _of_arrow),
    InputForm("ranx", "Run", lambda run, _: run.to_dict(), is_frame=False, column="score"),
    InputForm("ranx", "Qrels", lambda qrels, _: qrels.to_dict(), is_frame=False, column="relevance"),
    InputForm("", "qrels_iter", _of_dataset, is_frame=False, column="relevance"),
    InputForm("", "irds_ref", _of_dataset, is_frame=False, column="relevance"),
    InputForm("", "__iter__", _of_items, is_frame=False),
]
"""All forms except mappings. A new form needs one row here."""


def is_spark_frame(data: object) -> bool:
    """Check for a PySpark frame, classic or Connect."""
    return INPUT_FORMS[0].has(data)
