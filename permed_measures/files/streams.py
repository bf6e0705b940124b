"""Runs in files that are read in batches of rows: TREC, CSV and Parquet, in bounded memory."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import TYPE_CHECKING, Generic, TypeVar, cast

import numpy as np

from permed_measures.engine.batches import whole_queries
from permed_measures.engine.forks import refuse_after_fork
from permed_measures.engine.inputs import Batches, block_starts, first_repeated, repeated_values, row_hashes
from permed_measures.engine.judgments import Ints
from permed_measures.errors import InputError, PermedWarning
from permed_measures.files.fast_rows import frame_of_lines, frame_of_rows, single_blanks
from permed_measures.files.formats import Header
from permed_measures.files.order import FileOrder, rank_of
from permed_measures.files.sources import MARK, Chunk, Source
from permed_measures.files.text import TextFile, header_of

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")
R = TypeVar("R")

_ROWS = 1 << 20
"""Rows of a batch; of one query there may be twice as many before it is divided."""
_LINES = 1 << 17
"""Rows that are held as Python objects at a time."""
_HASHES = 1 << 26
"""Hashes of rows that are compared at a time."""
_CHUNKS_AHEAD = 3
"""Chunks that are read or parsed before they are asked for."""


class ScannedRun(Batches, ABC):
    """A run in a file as frames of query_id, doc_id and score; each iteration reads the file.

    Unlike frames in memory it may not have any document twice in a query, judged or not.
    """

    reads_ahead = True

    def __init__(self, source: Source, format_name: str) -> None:
        super().__init__()
        self.source, self.format_name = source, format_name
        self._is_checked = False

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield frames that are cut between queries; the first iteration checks them."""
        refuse_after_fork()
        frames = self._batches() if self._is_checked else self._checked_frames()
        return (frame.drop("rank") for frame in frames)

    def _batches(self) -> Iterator[pl.DataFrame]:
        return whole_queries(_Ahead(_itself, self.rows(), 1), 2 * _ROWS)

    @abstractmethod
    def rows(self) -> Iterator[pl.DataFrame]:
        """Yield the rows in the order of the file, as frames that have a column rank too."""

    def _checked_frames(self) -> Iterator[pl.DataFrame]:
        """Yield the frames; refuse a document that is listed twice, warn if order and scores disagree."""
        order = FileOrder()
        seen: set[str] = set()
        scattered, n_rows = False, 0
        for frame in self._batches():
            starts = block_starts(frame["query_id"])
            self._compare(frame, starts)
            query_ids = order.add_frame(frame, starts)
            scattered = scattered or not seen.isdisjoint(query_ids)
            seen.update(query_ids)
            n_rows += len(frame)
            yield frame
        if scattered:
            self._compare_batches(n_rows)
        self._is_checked = True
        if note := order.note(self.source.path, len(seen), "rows" if self.source.is_parquet else "lines"):
            warning = PermedWarning(note)
            warning.where = str(self.source.path)
            warnings.warn(warning, stacklevel=2)

    def _compare_batches(self, n_rows: int) -> None:
        """Compare all rows by hashes, as many at a time as fit into memory."""
        import polars as pl

        parts = -(-n_rows // _HASHES)
        for part in range(parts):
            hashes = np.concatenate([h[h % parts == part] for h in map(row_hashes, self._batches())])
            repeated = repeated_values(hashes)
            for some in np.split(repeated, range(_ROWS, len(repeated), _ROWS)):
                if len(some):
                    self._compare(
                        pl.concat([f.filter(np.isin(row_hashes(f), some)) for f in self._batches()])
                    )

    def _compare(self, frame: pl.DataFrame, starts: Ints | None = None) -> None:
        """Raise the error if a document is listed twice for a query in this frame."""
        if (pair := first_repeated(frame, starts)) is not None:
            raise self.duplicate_error(*pair)


class _Ahead(Iterator[R], Generic[T, R]):
    """What a function returns for items, in their order: made in other threads before it is asked for.

    One thread gets the items, one after the other; two call the function, so that one may wait for polars.
    """

    def __init__(self, function: Callable[[T], R], items: Iterator[T], n_ahead: int) -> None:
        self._function, self._items = function, items
        self._getter, self._workers = ThreadPoolExecutor(1), ThreadPoolExecutor(min(n_ahead, 2))
        self._coming = deque(self._getter.submit(self._begin) for _ in range(n_ahead))

    def _begin(self) -> Future[R] | None:
        """Get the next item and give it to a worker; None after the last."""
        item = next(self._items, None)
        return None if item is None else self._workers.submit(self._function, item)

    def __next__(self) -> R:
        begun = self._coming.popleft().result() if self._coming else None
        if begun is None:
            self._coming.clear()
            raise StopIteration
        result = begun.result()
        self._coming.append(self._getter.submit(self._begin))
        return result


def _itself(item: T) -> T:
    return item


class TextRun(ScannedRun):
    """A run in a text file with a row per line; see `ScannedRun`."""

    def __init__(self, file: TextFile) -> None:
        super().__init__(file.source, file.format.name)
        self.file = file

    def _line_by_line(self, lines: Iterable[tuple[int, str]]) -> Iterator[pl.DataFrame]:
        """Yield the parsed lines as frames, or raise the error for the one that is wrong."""
        import polars as pl

        parsed = self.file.parse(lines)
        rows = ((line.query_id, *line.documents[0], rank_of(line.rank)) for _, line in parsed)
        schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64, "rank": pl.Int64}
        while some := list(islice(rows, _LINES)):
            yield pl.DataFrame(some, schema=schema, orient="row")

    def duplicate_error(self, query_id: str, doc_id: str) -> InputError:
        """Return the error for a document that is listed twice, with its lines."""
        return self.file.duplicate_error(query_id, doc_id)


class TrecRun(TextRun):
    """A TREC or MS MARCO run; see `ScannedRun`."""

    def rows(self) -> Iterator[pl.DataFrame]:
        """Yield the rows in the order of the file, as frames."""
        source, n_lines = self.file.source, 0
        for chunk, frame, n_chunk in _Ahead(self._parsed, source.chunks(), _CHUNKS_AHEAD):
            if frame is None:
                yield from self._line_by_line(source.lines_of(chunk, n_lines))
            elif len(frame):
                yield frame
            n_lines += n_chunk

    def _parsed(self, chunk: Chunk) -> tuple[Chunk, pl.DataFrame | None, int]:
        return chunk, *_trec_rows(chunk, self.format_name)


def _trec_rows(chunk: Chunk, format_name: str) -> tuple[pl.DataFrame | None, int]:
    """Return the rows of a chunk of a TREC file, None if it must be read line by line; and its lines."""
    data = chunk.data if chunk.start else chunk.data.removeprefix(MARK)
    frame = frame_of_lines(data, format_name)
    if frame is not None:
        return frame, len(frame)
    return frame_of_lines(single_blanks(data), format_name), chunk.data.count(b"\n")


class TableRun(TextRun):
    """A CSV or TSV run with a header; see `ScannedRun`."""

    def rows(self) -> Iterator[pl.DataFrame]:
        """Yield the rows in the order of the file, as frames."""
        source, first_row, first_line = self.file.source, self.file.first_row, self.file.first_line
        header = cast(Header, header_of(first_line))  # the format was recognised by it
        chunks, n_lines = source.chunks(), 0
        for chunk in chunks:
            n_chunk = chunk.data.count(b"\n")
            n_before = min(max(first_row + 1 - n_lines, 0), n_chunk)
            data = chunk.data.split(b"\n", n_before)[-1] if n_before else chunk.data
            frame = frame_of_rows(data, header) if data else None
            if frame is None:
                lines = source.lines_of(chunk, n_lines)
                if b'"' in data:  # a cell may go on in the next chunk
                    lines = chain(lines, source.lines_of_all(chunks, n_lines + n_chunk))
                rows = (line for line in lines if line[0] > first_row)
                yield from self._line_by_line(chain([(first_row, first_line)], rows))
            elif len(frame):
                yield frame
            n_lines += n_chunk


SCANNED: dict[str, type[TextRun]] = {"TREC run": TrecRun, "MS MARCO run": TrecRun, "CSV or TSV run": TableRun}
"""The text formats that can be read in batches, by the name of the format."""


def read_trec_qrels(file: TextFile) -> pl.DataFrame | None:
    """Return the judgments of a TREC file, or None if its lines must be read one by one."""
    refuse_after_fork()
    import polars as pl

    frames = []
    for chunk in file.source.chunks():
        rows, _ = _trec_rows(chunk, "TREC qrels")
        if rows is None:
            return None
        frames.append(rows)
    frame = pl.concat(frames).drop("rank")
    if (pair := first_repeated(frame)) is not None:
        raise file.duplicate_error(*pair)
    return frame
