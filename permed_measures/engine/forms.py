"""Any form of qrels or of a run, brought to one of two: a mapping of mappings, or frames."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from permed_measures.engine.forks import refuse_after_fork
from permed_measures.engine.inputs import (
    BEIR_COLUMNS,
    COLUMNS,
    Batches,
    Nested,
    QrelsLike,
    RunLike,
    not_a_number,
    number,
    text_id,
    where,
    whole_queries,
)
from permed_measures.errors import InputError, shown, unloadable

if TYPE_CHECKING:
    import polars as pl

_FORMS = (
    "a dict {query_id: {doc_id: number}}, an iterable of ir_measures namedtuples, "
    "a pandas, polars, pyarrow or PySpark frame, a DuckDB relation, a ranx.Run or Qrels"
)


openers: dict[str, Callable[[Any], Any]] = {}
"""What reads qrels (``relevance``) or a run (``score``) by path or id: the package above sets it."""


def opened(data: QrelsLike | RunLike, column: str) -> Any:
    """Return what a path or an id stands for; data in another form as they are."""
    named = isinstance(data, (str, os.PathLike)) and column in openers
    return openers[column](data) if named else data


def as_mapping_or_frame(data: QrelsLike | RunLike, column: str) -> Nested | pl.DataFrame:
    """Bring any accepted form to one of two: a mapping of mappings, or a polars frame with all rows.

    Parameters
    ----------
    data : QrelsLike or RunLike
    column : {'relevance', 'score'}
        The column of numbers: that of qrels, or that of a run.

    Returns
    -------
    Mapping or polars.DataFrame
        A mapping is returned as it is. A frame has the columns query_id and doc_id (strings) and `column`
        (Float64); documents may be listed twice in it.

    Raises
    ------
    InputError
        For another form, a missing column, a float id, a missing value.
    """
    table = _as_mapping_or_batches(data, column)
    if isinstance(table, Mapping):
        return table
    import polars as pl

    frames = list(table)
    return pl.concat(frames) if frames else _empty(column)


def as_run(run: RunLike) -> Nested | Batches:
    """Bring any form of a run to one of two: a mapping of mappings, or frames one after the other.

    As `as_mapping_or_frame`, but what is read in batches need not be in memory as a whole. Errors in its rows
    are raised when they are read.
    """
    return _as_mapping_or_batches(run, "score")


def as_mapping(data: QrelsLike | RunLike, column: str) -> Nested:
    """Bring any accepted form to a mapping of mappings, in the order of its rows."""
    table = _as_mapping_or_batches(data, column)
    return table if isinstance(table, Mapping) else table.nested()


def _as_mapping_or_batches(data: Any, column: str) -> Nested | Batches:
    if isinstance(data, Mapping):
        return data
    if is_spark_frame(data):  # first: those of Connect have any attribute
        return Batches([_of_spark(data, column)])
    _refuse_swapped(data, column)
    if isinstance(data, Batches):
        return data
    if "ranx" in sys.modules and type(data).__module__.startswith("ranx."):
        return data.to_dict()  # type: ignore[no-any-return]
    if column == "relevance" and hasattr(data, "irds_ref"):
        data = data.irds_ref()
    if column == "relevance" and hasattr(data, "qrels_iter"):
        return _of_dataset(data)
    if _table(data) is not None:
        return _batches_of(data, column)
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        return _of_items(data, column)
    is_text = isinstance(data, (str, bytes))
    hint = _READ if is_text else _SELECT if type(data).__name__ == "DuckDBPyConnection" else ""
    raise InputError(f"expected {_FORMS} (found {type(data).__name__} {shown(data)})", hint=hint)


_READ = "Read a file with permed_measures.read_qrels or read_run"
_SELECT = "The relation of a query is connection.sql(query); execute(query) returns the connection"


def is_spark_frame(data: object) -> bool:
    """Return whether this is a frame of PySpark, classic or Connect."""
    return "pyspark.sql" in sys.modules and isinstance(data, sys.modules["pyspark.sql"].DataFrame)


def _of_spark(data: Any, column: str) -> pl.DataFrame:
    """Return the qrels of a PySpark frame; a run of this form is too large for what needs all of its rows."""
    if column == "score":
        raise InputError(
            "this function needs all rows of the run in memory (found a PySpark frame)",
            hint="Give it frame.toArrow() if that fits",
        )
    refuse_after_fork()
    import polars as pl

    columns = columns_of(data.columns, column).values()
    return checked_frame(pl.DataFrame(data.select(*columns).toArrow()), column)


QRELS_FIRST = "The qrels come first, then the run"


def _refuse_swapped(data: Any, column: str) -> None:
    """Raise an error for what can only be a run where qrels are expected, or the other way round."""
    is_ranx = type(data).__module__.startswith("ranx.")
    kind = type(data).__name__ if is_ranx else ""
    is_run = isinstance(data, Batches) or kind == "Run"
    is_qrels = kind == "Qrels" or hasattr(data, "qrels_iter") or hasattr(data, "irds_ref")
    if column == "relevance" and is_run:
        raise InputError("expected qrels (found a run)", hint=QRELS_FIRST)
    if column == "score" and is_qrels:
        raise InputError("expected a run (found qrels)", hint=QRELS_FIRST)


def _of_dataset(dataset: Any) -> Nested:
    try:
        nested = getattr(dataset, "qrels_nested", None)
        return nested() if nested else _records(dataset.qrels_iter(), "relevance")
    except (RuntimeError, OSError) as error:  # a download failed
        name = dataset.dataset_id() if hasattr(dataset, "dataset_id") else "a data set"
        raise unloadable(name, error) from error


def _of_items(data: Iterable[Any], column: str) -> Nested | Batches:
    """Return namedtuples as a mapping, and frames one after the other."""
    items = iter(data)
    first = next(items, None)
    if not hasattr(first, "columns"):
        return _records(items if first is None else chain([first], items), column)
    frames = [first, *items] if items is data else data  # an iterator cannot be gone through again
    return Batches(lambda: chain.from_iterable(_batches_of(frame, column) for frame in frames))


def _batches_of(frame: Any, column: str) -> Batches:
    if (table := _table(frame)) is None:
        raise InputError(
            f"expected a frame like the one before (found {type(frame).__name__} {shown(frame)})"
        )
    return Batches(partial(_checked_frames, table, columns_of(table.columns, column)))


def _records(data: Iterable[Any], column: str) -> Nested:
    """Collect namedtuples (ir_measures.Qrel, ScoredDoc or any with these fields) into a mapping."""
    nested: dict[str, dict[str, Any]] = {}
    for record in data:
        try:
            query_id, doc_id, value = record.query_id, record.doc_id, getattr(record, column)
        except AttributeError:
            raise _no_record(record, column) from None
        place = where(query_id, doc_id)
        documents = nested.setdefault(text_id(query_id, place=place), {})
        doc_id = text_id(doc_id, place=place)
        if doc_id in documents:
            problem = f"the document is listed twice, with {shown(documents[doc_id])} and {shown(value)}"
            raise InputError(problem, where=place, hint="Remove one of the two rows")
        documents[doc_id] = value
    return nested


_OTHER = {"relevance": "score", "score": "relevance"}
"""The column of numbers that a table has if qrels and run were swapped."""


def _no_record(record: object, column: str) -> InputError:
    hint = QRELS_FIRST if hasattr(record, _OTHER[column]) else ""
    if isinstance(record, str):  # ir_measures goes through the letters of a path
        hint = _READ
    if type(record).__module__.partition(".")[0] in ("polars", "pyarrow"):
        # ir_measures turns a frame it does not know into an iterator of its columns before we see it.
        hint = (
            "The functions of ir_measures itself take no polars or pyarrow frame: "
            "call permed_measures.calc_aggregate, or convert the frame to pandas"
        )
    return InputError(
        f"expected {_FORMS}; an item needs query_id, doc_id and {column} "
        f"(found {type(record).__name__} {' '.join(str(record).split()):.80})",
        hint=hint,
    )


def columns_of(names: Iterable[str], column: str) -> dict[str, str]:
    """Return what the frame calls query_id, doc_id and `column`."""
    names = list(map(str, names))
    if column == "relevance" and set(BEIR_COLUMNS.values()) <= set(names):
        return BEIR_COLUMNS
    found = {}
    for ours in ("query_id", "doc_id", column):
        theirs = next((name for name in COLUMNS[ours] if name in names), None)
        if theirs is None:
            raise InputError(
                f"a frame needs the columns query_id, doc_id and {column} "
                f"(or PyTerrier's qid, docno and {COLUMNS[column][-1]}); {ours} is missing (found {names})",
                hint=QRELS_FIRST if set(COLUMNS[_OTHER[column]]) & set(names) else "",
            )
        found[ours] = theirs
    return found


def checked_frame(data: pl.DataFrame, column: str, first_row: int | None = 0) -> pl.DataFrame:
    """Return query_id and doc_id (strings) and `column` (Float64) of a polars frame, or raise an error.

    The error has the number of the row, unless `first_row` is None.
    """
    refuse_after_fork()
    series = {ours: data[theirs] for ours, theirs in columns_of(data.columns, column).items()}
    return _checked(series, first_row)


# --- frames of all libraries -----------------------------------------------------------------------


_Parts = Generator[Any, None, None]


class _Table(NamedTuple):
    """A frame of any library: the names of its columns, and what reads some of them, a part at a time.

    What reads takes the names of the columns by ours, and yields series of polars by the names of the frame.
    """

    columns: list[str]
    read: Callable[[dict[str, str]], _Parts]


def _table(data: Any) -> _Table | None:
    """Return a frame of any library; None if it is something else."""
    read: Callable[[Any, dict[str, str]], _Parts]
    if "pandas" in sys.modules and isinstance(data, sys.modules["pandas"].DataFrame):
        columns, read = data.columns, _of_pandas
    elif "polars" in sys.modules and isinstance(data, sys.modules["polars"].LazyFrame):
        refuse_after_fork()
        columns, read = data.collect_schema().names(), _of_lazy_frame
    elif "duckdb" in sys.modules and isinstance(data, sys.modules["duckdb"].DuckDBPyRelation):
        columns, read = data.columns, _of_relation
    elif hasattr(data, "__arrow_c_stream__"):
        refuse_after_fork()
        import polars as pl

        data = pl.DataFrame(data)
        columns, read = data.columns, _of_polars
    else:
        return None
    return _Table(list(map(str, columns)), partial(read, data))


_ROWS = 1 << 20
"""Rows of a batch."""


def _of_polars(frame: pl.DataFrame, columns: dict[str, str]) -> _Parts:
    yield frame.select(*columns.values())


def _of_pandas(frame: Any, columns: dict[str, str]) -> _Parts:
    yield {theirs: _from_pandas(frame[theirs], ours) for ours, theirs in columns.items()}


def _of_lazy_frame(frame: pl.LazyFrame, columns: dict[str, str]) -> _Parts:
    yield from frame.select(*columns.values()).collect_batches(chunk_size=_ROWS, maintain_order=True)


def _of_relation(relation: Any, columns: dict[str, str]) -> _Parts:
    try:
        import pyarrow  # noqa: F401 - DuckDB hands its rows to it
    except ImportError:
        raise InputError("the rows of a DuckDB relation need pyarrow", hint="pip install pyarrow") from None
    import polars as pl

    # A relation that was executed before gives what is left of its rows; one that is derived from it is new.
    rows = relation.project(", ".join(f'"{name}"' for name in columns.values()))
    read = getattr(rows, "to_arrow_reader", None) or rows.fetch_arrow_reader  # the name before DuckDB 1.5
    with closing(read(_ROWS)) as batches:
        for batch in batches:
            yield pl.DataFrame(batch)


def _checked_frames(table: _Table, columns: dict[str, str]) -> Iterator[pl.DataFrame]:
    """Yield the rows of a table under our names, or raise an error with the number of the row."""
    refuse_after_fork()
    return whole_queries(_checked_parts(table, columns))


def _checked_parts(table: _Table, columns: dict[str, str]) -> Iterator[pl.DataFrame]:
    first_row = 0
    with closing(table.read(columns)) as parts:  # an error would keep a connection busy
        for part in parts:
            frame = _checked({ours: part[theirs] for ours, theirs in columns.items()}, first_row)
            first_row += len(frame)
            if len(frame):
                yield frame


def _empty(column: str) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(schema={"query_id": pl.String, "doc_id": pl.String, column: pl.Float64})


def _from_pandas(series: Any, column: str) -> pl.Series:
    """Return a pandas series as a polars one, without Python objects where pandas has none either."""
    import polars as pl

    if hasattr(series, "cat"):
        categories = _from_pandas(series.cat.categories.to_series(), column)
        codes = pl.Series(series.cat.codes.to_numpy()).cast(pl.Int64)
        return categories.gather(codes.replace(-1, None))
    if getattr(series.dtype, "kind", "O") in "iufb" and hasattr(series.dtype, "byteorder"):
        return pl.Series(series.to_numpy())
    if hasattr(series.array, "__arrow_array__") and "pyarrow" in sys.modules:
        import pyarrow as pa

        return pl.Series(pa.array(series.array))
    values = series.tolist()
    if column in ("score", "relevance"):
        found = [float(number(item, column, place=f"row {row}")) for row, item in enumerate(values)]
        return pl.Series(found, dtype=pl.Float64)
    if not set(map(type, values)) <= {str}:
        values = [text_id(item, place=f"row {row}, column {column}") for row, item in enumerate(values)]
    return pl.Series(values)


def _checked(columns: dict[str, pl.Series], first_row: int | None = 0) -> pl.DataFrame:
    """Return the frame with string ids and float values, or raise for what cannot be made so."""
    import polars as pl

    frame = pl.DataFrame([_typed(series.alias(column), column) for column, series in columns.items()])

    def place(wrong: pl.Series) -> str:
        row = wrong.arg_true()[0]
        number = "" if first_row is None else f"row {first_row + row}: "
        return f"{number}{where(*frame.row(row)[:2])}"

    for series in frame:
        if series.null_count():
            problem = f"missing value in column {series.name}"
            raise InputError(problem, where=place(series.is_null()), hint="Correct or remove this row")
    if "score" in columns and frame["score"].is_nan().any():
        raise not_a_number(math.nan, "score", place=place(frame["score"].is_nan()))
    return frame


def _typed(series: pl.Series, column: str) -> pl.Series:
    import polars as pl

    is_id, dtype = column in ("query_id", "doc_id"), series.dtype
    if is_id and len(series) and not (dtype.is_integer() or dtype in (pl.String, pl.Categorical, pl.Enum)):
        raise InputError(
            f"ids must be strings or integers (found {dtype} in column {column})",
            where=f"row 0, {column} {shown(series[0])}",
            hint="Convert ids to strings before evaluating, so that nothing is rounded",
        )
    if not is_id and len(series) and not (dtype.is_numeric() or dtype == pl.Boolean):
        raise InputError(f"column {column} must hold numbers (found {dtype})", hint="Convert it to floats")
    wanted = pl.String if is_id else pl.Float64
    return series.cast(wanted) if len(series) else pl.Series(column, [], dtype=wanted)
