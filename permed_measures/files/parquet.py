"""Qrels and runs in Parquet files.

A damaged file is an error that names it: files whose parts do not agree are decoded in another process first,
as they can end the process that decodes them.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from permed_measures.engine.forks import refuse_after_fork
from permed_measures.engine.forms import checked_frame, columns_of
from permed_measures.engine.inputs import first_repeated, not_a_number, where
from permed_measures.errors import InputError
from permed_measures.files.parquet_pages import is_sound
from permed_measures.files.sources import Source
from permed_measures.files.streams import ScannedRun
from permed_measures.files.text import twice_error

if TYPE_CHECKING:
    import polars as pl

_ROWS = 1 << 19
"""Rows of a batch."""
_DECODE = """
import sys
import polars as pl
try:
    pl.read_parquet(sys.stdin.buffer.read())
except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
    print(error)
    sys.exit(1)
"""


def parquet_columns(source: Source) -> list[str]:
    """Return the names of the columns of a Parquet file."""
    with _named(source):
        return _lazy(source).collect_schema().names()


def read_parquet_qrels(source: Source, may_repeat: bool = False) -> pl.DataFrame:
    """Return query_id, doc_id and relevance, perhaps as integers, of each row of a Parquet file."""
    import polars as pl

    with _named(source):
        rows = _lazy(source).collect()
        frame = checked_frame(rows, "relevance")
        wrong = frame.filter(~pl.col("relevance").is_finite())
        if len(wrong):
            raise not_a_number(wrong["relevance"][0], "relevance", place=where(*wrong.row(0)[:2]))
        values = rows[columns_of(rows.columns, "relevance")["relevance"]]
        frame = frame.with_columns(relevance=values) if values.dtype.is_integer() else frame
    if not may_repeat and (pair := first_repeated(frame)) is not None:
        raise twice_error(*pair, "", str(source.path))
    return frame


@contextmanager
def _named(source: Source) -> Iterator[None]:
    """Name the file in what goes wrong with a Parquet file."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _damaged(source, str(error)) from None
    except InputError as error:
        error.where = f"{source.path}: {error.where}" if error.where else str(source.path)
        raise


def _damaged(source: Source, error: str) -> InputError:
    reason = error.partition("\n")[0]
    return InputError(f"cannot be read as Parquet ({reason:.200})", where=str(source.path))


def _lazy(source: Source) -> pl.LazyFrame:
    """Return the rows of a Parquet file, which can be decoded without harm."""
    refuse_after_fork()
    import polars as pl

    _refuse_harmful(source)
    return pl.scan_parquet(source.for_polars(), glob=False)


def _refuse_harmful(source: Source) -> None:
    """Decode a file whose parts do not agree in another process; raise an error if that fails."""
    content = source.for_polars()
    with content.open("rb") if isinstance(content, Path) else content as file:
        if is_sound(file):
            return
        file.seek(0)
        done = subprocess.run(
            [sys.executable, "-c", _DECODE], input=file.read(), capture_output=True, check=False
        )
    if done.returncode:
        reason = done.stdout.decode(errors="replace") if done.returncode == 1 else ""
        raise _damaged(source, reason or "its pages are damaged")


class ParquetRun(ScannedRun):
    """A run in a Parquet file with the columns query_id, doc_id and score; see `ScannedRun`."""

    def __init__(self, source: Source) -> None:
        super().__init__(source, "Parquet")

    def rows(self) -> Iterator[pl.DataFrame]:
        """Yield the rows in the order of the file, as frames."""
        import polars as pl

        with _named(self.source):
            lazy = _lazy(self.source)
            schema = lazy.collect_schema()
            rank = pl.col("rank") if schema.get("rank", pl.String()).is_integer() else pl.lit(None)
            rank = rank.cast(pl.Int64, strict=False)
            lazy = lazy.select(*columns_of(schema.names(), "score").values(), rank.alias("rank"))
            n_rows = lazy.select(pl.len()).collect().item()
        for start in range(0, n_rows, _ROWS):
            with _named(self.source):
                rows = lazy.slice(start, _ROWS).collect()
                frame = checked_frame(rows, "score", first_row=start).with_columns(rows["rank"])
            yield frame
            self.source.progress(min((start + _ROWS) / n_rows, 1))

    def duplicate_error(self, query_id: str, doc_id: str) -> InputError:
        """Return the error for a document that is listed twice, with its rows."""
        rows: list[int] = []
        start = 0
        for frame in self.rows():
            same = (frame["query_id"] == query_id) & (frame["doc_id"] == doc_id)
            rows += [start + row for row in same.arg_true()]
            start += frame.height
        return twice_error(query_id, doc_id, f"in row {rows[0]}", f"{self.source.path}: row {rows[1]}")
