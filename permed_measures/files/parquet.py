"""Qrels and runs in Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from permed_measures.engine.forks import check_not_forked
from permed_measures.engine.inputs import first_repeated, location, not_a_number
from permed_measures.engine.tables import checked_frame, columns_of
from permed_measures.errors import InputError
from permed_measures.files.formats import Header
from permed_measures.files.sources import Source
from permed_measures.files.streams import ScannedRun
from permed_measures.files.text import twice_error

if TYPE_CHECKING:
    import polars as pl

_ROWS = 1 << 19
"""Rows of a batch."""


def parquet_header(source: Source) -> Header:
    """Return the names of the columns of a Parquet file."""
    with _located(source):
        return Header(_lazy(source).collect_schema().names())


def read_parquet_qrels(source: Source, may_repeat: bool = False) -> pl.DataFrame:
    """Return query_id, doc_id and relevance, perhaps as integers, of each row of a Parquet file."""
    import polars as pl

    with _located(source):
        rows = _lazy(source).collect()
        frame = checked_frame(rows, "relevance")
        wrong = frame.filter(~pl.col("relevance").is_finite())
        if len(wrong):
            raise not_a_number(wrong["relevance"][0], "relevance", where=location(*wrong.row(0)[:2]))
        values = rows[columns_of(rows.columns, "relevance")["relevance"]]
        frame = frame.with_columns(relevance=values) if values.dtype.is_integer() else frame
    if not may_repeat and (pair := first_repeated(frame)) is not None:
        raise twice_error(*pair, "", str(source.path))
    return frame


@contextmanager
def _located(source: Source) -> Iterator[None]:
    """Name the file in what goes wrong with a Parquet file."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = str(error).partition("\n")[0]
        problem = f"cannot be read as Parquet ({reason:.200})"
        raise InputError(problem, where=str(source.path)) from None
    except InputError as error:
        error.where = f"{source.path}: {error.where}" if error.where else str(source.path)
        raise


def _lazy(source: Source) -> pl.LazyFrame:
    check_not_forked()
    import polars as pl

    return pl.scan_parquet(source.content, glob=False)


def parquet_run(source: Source) -> ScannedRun:
    """Return a run in a Parquet file with the columns query_id, doc_id and score."""

    def duplicate_error(query_id: str, doc_id: str) -> InputError:
        return twice_error(query_id, doc_id, "", str(source.path), is_run=True)

    return ScannedRun(source, lambda: _rows(source), duplicate_error)


def _rows(source: Source) -> Iterator[pl.DataFrame]:
    """Yield the rows in the order of the file, as frames that have a column rank too."""
    import polars as pl

    with _located(source):
        lazy = _lazy(source)
        schema = lazy.collect_schema()
        rank = pl.col("rank") if schema.get("rank", pl.String()).is_integer() else pl.lit(None)
        rank = rank.cast(pl.Int64, strict=False)
        lazy = lazy.select(*columns_of(schema.names(), "score").values(), rank.alias("rank"))
        n_rows = lazy.select(pl.len()).collect().item()
    for start in range(0, n_rows, _ROWS):
        with _located(source):
            rows = lazy.slice(start, _ROWS).collect()
            frame = checked_frame(rows, "score", first_row=start).with_columns(rows["rank"])
        yield frame
