"""Frames of polars, pandas, pyarrow and DuckDB, as checked frames of polars."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import Any

from permed_measures.engine.inputs import (
    BEIR_COLUMNS,
    COLUMNS,
    OTHER,
    QRELS_FIRST,
    Batches,
    location,
    not_a_number,
    number,
    string_id,
    whole_queries,
)
from permed_measures.errors import InputError, shown
from permed_measures.frames import check_not_forked, pl


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
                hint=QRELS_FIRST if set(COLUMNS[OTHER[column]]) & set(names) else "",
            )
        found[ours] = theirs
    return found


def checked_frame(data: pl.DataFrame, column: str, first_row: int | None = 0) -> pl.DataFrame:
    """Return query_id and doc_id (strings) and `column` (Float64) of a polars frame, or raise an error.

    The error has the number of the row, unless `first_row` is None.
    """
    series = {ours: data[theirs] for ours, theirs in columns_of(data.columns, column).items()}
    return _checked(series, first_row)


def batches_of(data: Any, column: str) -> Batches | None:
    """Return the rows of a frame of any library, checked when they are read; None if it is something else."""
    read: Callable[[Any, dict[str, str]], _Parts]
    if "pandas" in sys.modules and isinstance(data, sys.modules["pandas"].DataFrame):
        names, read = data.columns, _of_pandas
    elif "polars" in sys.modules and isinstance(data, sys.modules["polars"].LazyFrame):
        check_not_forked()
        names, read = data.collect_schema().names(), _of_lazy_frame
    elif "duckdb" in sys.modules and isinstance(data, sys.modules["duckdb"].DuckDBPyRelation):
        names, read = data.columns, _of_relation
    elif hasattr(data, "__arrow_c_stream__"):
        data = pl.DataFrame(data)
        names, read = data.columns, _of_polars
    else:
        return None
    columns = columns_of(names, column)
    return Batches(lambda: whole_queries(_checked_parts(read(data, columns), columns)))


_ROWS = 1 << 20
"""Rows of a batch."""

_Parts = Generator[Any, None, None]
"""Parts of a frame, one after the other: columns of polars by the names that the frame has for them."""


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
    # A relation that was executed before gives what is left of its rows; one that is derived from it is new.
    rows = relation.project(", ".join(f'"{name}"' for name in columns.values()))
    read = getattr(rows, "to_arrow_reader", None) or rows.fetch_arrow_reader  # the name before DuckDB 1.5
    with closing(read(_ROWS)) as batches:
        for batch in batches:
            yield pl.DataFrame(batch)


def _checked_parts(parts: _Parts, columns: dict[str, str]) -> Iterator[pl.DataFrame]:
    """Yield parts of a frame under our names, or raise an error with the number of the row."""
    first_row = 0
    with closing(parts):  # an error would keep a connection busy
        for part in parts:
            frame = _checked({ours: part[theirs] for ours, theirs in columns.items()}, first_row)
            first_row += len(frame)
            if len(frame):
                yield frame


def _from_pandas(series: Any, column: str) -> pl.Series:
    """Return a pandas series as a polars one, without Python objects where pandas has none either."""
    if getattr(series.dtype, "kind", "O") in "iufb" and hasattr(series.dtype, "byteorder"):
        return pl.Series(series.to_numpy())
    if hasattr(series.array, "__arrow_array__") and "pyarrow" in sys.modules:
        import pyarrow as pa

        return pl.Series(pa.array(series.array))
    values = series.tolist()
    if column in ("score", "relevance"):
        found = [float(number(item, column, where=f"row {row}")) for row, item in enumerate(values)]
        return pl.Series(found, dtype=pl.Float64)
    if not set(map(type, values)) <= {str}:
        values = [string_id(item, where=f"row {row}, column {column}") for row, item in enumerate(values)]
    return pl.Series(values)


def _checked(columns: dict[str, pl.Series], first_row: int | None = 0) -> pl.DataFrame:
    """Return the frame with string ids and float values, or raise for what cannot be made so."""
    frame = pl.DataFrame([_typed(series.alias(column), column) for column, series in columns.items()])

    def where(wrong: pl.Series) -> str:
        row = wrong.arg_true()[0]
        number = "" if first_row is None else f"row {first_row + row}: "
        return f"{number}{location(*frame.row(row)[:2])}"

    for series in frame:
        if series.null_count():
            problem = f"missing value in column {series.name}"
            raise InputError(problem, where=where(series.is_null()), hint="Correct or remove this row")
    if "score" in columns and frame["score"].is_nan().any():
        raise not_a_number(math.nan, "score", where=where(frame["score"].is_nan()))
    return frame


def _typed(series: pl.Series, column: str) -> pl.Series:
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
