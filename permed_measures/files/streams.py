"""Runs in files that are read as frames, one after the other: TREC, CSV and Parquet, in bounded memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from permed_measures.engine.forks import check_not_forked
from permed_measures.engine.inputs import Batches, whole_queries
from permed_measures.errors import InputError, PermedWarning
from permed_measures.files.formats import VALUE_COLUMNS
from permed_measures.files.order import FileOrder
from permed_measures.files.sources import Source
from permed_measures.files.text import Rows, TextFile
from permed_measures.files.trec import frame_of_lines

if TYPE_CHECKING:
    import polars as pl

_LINES = 1 << 17
"""Rows that are held as Python objects at a time."""


class ScannedRun(Batches):
    """A run in a file as frames of query_id, doc_id and score; each iteration reads the file.

    Parameters
    ----------
    source : Source
    rows : callable
        Returns all rows in the order of the file, as frames that have a column rank too.
    duplicate_error : callable
        Returns the error for a query and a document that is listed twice.
    """

    def __init__(
        self,
        source: Source,
        rows: Callable[[], Iterator[pl.DataFrame]],
        duplicate_error: Callable[[str, str], InputError],
    ) -> None:
        super().__init__()
        self.source, self.rows = source, rows
        self._error = duplicate_error
        self._is_read = False

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield frames that are cut between queries; the first iteration warns of another order."""
        check_not_forked()
        batches = whole_queries(self.rows())
        frames = batches if self._is_read else self._noted(batches)
        return (frame.drop("rank") for frame in frames)

    def duplicate_error(self, query_id: str, doc_id: str) -> InputError:
        """Return the error for a document that is listed twice, with its lines."""
        return self._error(query_id, doc_id)

    def _noted(self, frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Yield the frames; warn if order and scores disagree."""
        order, seen = FileOrder(), set[str]()
        for frame in frames:
            seen.update(order.add_frame(frame))
            yield frame
        self._is_read = True
        if note := order.note(self.source.path, len(seen), "rows" if self.source.is_parquet else "lines"):
            warning = PermedWarning(note)
            warning.where = str(self.source.path)
            warnings.warn(warning, stacklevel=2)


class RepeatingRun(Batches):
    """A run with documents that are listed twice, as audits read it: one frame, rows as they stand."""


def with_repeats(run: ScannedRun, by_list: bool = False) -> RepeatingRun:
    """Return all rows of a run; where scores are missing or not wanted, the order gives them."""
    import polars as pl

    frame = pl.concat([frame.drop("rank") for frame in run.rows()])
    in_order = pl.lit(by_list) | pl.col("score").is_null().any().over("query_id")
    position = pl.int_range(1, pl.len() + 1).over("query_id").cast(pl.Float64)
    frame = frame.with_columns(score=pl.when(in_order).then(-position).otherwise("score"))
    return RepeatingRun([frame], run.path)


def text_run(file: TextFile) -> ScannedRun:
    """Return a run in a text file."""
    return ScannedRun(file.source, lambda: text_frames(file), file.duplicate_error)


def text_frames(file: TextFile) -> Iterator[pl.DataFrame]:
    """Yield the rows of a file as frames of query_id, doc_id, score or relevance, and rank."""
    check_not_forked()
    value, first = VALUE_COLUMNS[file.kind], 1
    if not file.format.columns:
        yield from _as_frames(file.rows(), value)
        return
    for chunk in file.source.chunks():
        frame = frame_of_lines(chunk, file.format.columns)
        if frame is None:
            yield from _as_frames(file.rows(file.source.lines_of(chunk, first)), value)
        elif len(frame):
            yield frame
        first += chunk.count(b"\n") if frame is None else len(frame)


def _as_frames(rows: Rows, value: str) -> Iterator[pl.DataFrame]:
    """Yield parsed lines as frames; lists without scores have none."""
    import polars as pl

    schema = {"query_id": pl.String, "doc_id": pl.String, value: pl.Float64, "rank": pl.Int64}
    listed = (row for row in rows if row[2] is not None)
    while some := list(islice(listed, _LINES)):
        _, *columns = zip(*some, strict=True)
        yield pl.DataFrame(dict(zip(schema, columns, strict=True)), schema=schema, strict=False)
