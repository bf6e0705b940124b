"""Read large runs (TREC, CSV, Parquet) as frames, one after the other, in bounded memory.

Regular parts of a TREC run (one blank or tab between columns, numbers as scores) become a frame without a
Python object per row. All other parts are read line by line, which finds errors and their lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any

from permed_measures.engine.tables import Table, first_duplicate, location, not_a_number
from permed_measures.errors import InputError, short_repr, warn
from permed_measures.frames import pl
from permed_measures.inputs.columns import (
    called,
    check_decimals,
    checked_frame,
    find_columns,
    has_long_decimals,
    rechunk_by_query,
)
from permed_measures.inputs.formats import EMPTY_RANKS, NO_RANK, NOT_A_RANK, VALUE_COLUMNS, Header
from permed_measures.inputs.rank_check import contradicted_rows, note_of
from permed_measures.inputs.sources import MARK, Source
from permed_measures.inputs.text_reader import TextFile, twice_error

_ROWS_AS_OBJECTS = 1 << 17
"""Maximum number of rows that are Python objects at the same time."""


def text_run(file: TextFile) -> Table:
    """Build the table of a run in a text file, which is read on each iteration."""
    return _scanned(file.source, partial(text_frames, file), file.duplicate_error)


def _scanned(
    source: Source, rows: Callable[[], Iterator[pl.DataFrame]], twice: Callable[[str, str], InputError]
) -> Table:
    """Build the table of a run in a file, which is read on each iteration.

    The first iteration warns if ranks and scores disagree. `rows` yields frames that also have a column rank.
    """
    is_read = False

    def parts() -> Iterator[pl.DataFrame]:
        nonlocal is_read
        queries, contradictions = set[str](), dict[str, str]()
        for frame in rechunk_by_query(rows()):
            if not is_read:
                queries.update(frame["query_id"].rle().struct.field("value"))
                contradictions |= contradicted_rows(frame)
            yield frame.drop("rank")
        is_read, was_read = True, is_read
        if not was_read and (note := note_of(source.path, contradictions, len(queries), "rank column")):
            warn(note, path=source.path)

    return Table(parts, "score", source.path, twice)


def text_frames(file: TextFile) -> Iterator[pl.DataFrame]:
    """Yield the rows of a file as frames of query_id, doc_id, score or relevance, and rank.

    An empty list becomes a row without a document.
    """
    value = VALUE_COLUMNS[file.format.kind]
    if not file.format.columns:
        yield from _as_frames(file.rows(), value)
        return
    for first, n_lines, chunk in file.source.chunks():
        frame = _frame_of_lines(chunk, file.format.columns)
        if frame is None or frame.height != n_lines + (not chunk.endswith(b"\n")):  # it has empty lines
            yield from _as_frames(file.rows(file.source.lines_of(chunk, first)), value)
        else:
            yield frame


def _as_frames(rows: Iterable[tuple[object, ...]], value: str) -> Iterator[pl.DataFrame]:
    """Convert parsed lines to frames; missing scores become null."""
    schema, remaining = row_schema(value), iter(rows)
    while batch := list(islice(remaining, _ROWS_AS_OBJECTS)):
        columns = zip(*batch, strict=True)
        yield pl.DataFrame(dict(zip(schema, columns, strict=True)), schema=schema, strict=False)


def row_schema(value: str) -> dict[str, Any]:
    """Return the columns of parsed rows with their types."""
    return {"query_id": pl.String, "doc_id": pl.String, value: pl.Float64, "rank": pl.Float64}


def as_one(frames: Iterable[pl.DataFrame], value: str) -> pl.DataFrame:
    """Concatenate frames; rename their third column to `value`."""
    named = (frame.rename({frame.columns[2]: value}) for frame in frames)
    return pl.concat([pl.DataFrame(schema=row_schema(value)), *named], how="diagonal_relaxed")


# --- large regular TREC runs -------------------------------------------------------------------------


def _frame_of_lines(data: bytes, columns: tuple[str, ...]) -> pl.DataFrame | None:
    """Parse whole lines to query_id, doc_id, score and rank; None if polars might misread them."""
    for old, new in ((b"\r\n", b"\n"), (b"\t", b" ")):
        data = data.replace(old, new) if old[:1] in data else data  # a search for one byte is much faster
    if data.startswith((b"#", MARK)) or (b"#" in data and b"\n#" in data):
        return None  # a comment, or a byte order mark, which polars would remove
    is_irregular = any(character in data for character in (b"\r", b"\v", b"\f", b"\0"))
    return None if is_irregular else _parse_csv(data, columns)


def _parse_csv(data: bytes, columns: tuple[str, ...], has_ranks: bool = True) -> pl.DataFrame | None:
    """Parse lines with one blank between columns; None if a cell is empty, or a number is invalid."""
    types = {"score": pl.Float64} | ({"rank": pl.Int64} if has_ranks else {})
    schema = {name: types.get(name, pl.String) for name in columns}
    try:
        frame = pl.read_csv(data, separator=" ", has_header=False, quote_char=None, schema=schema)
    except pl.exceptions.PolarsError:  # perhaps because of the ranks, which may be any text
        return _parse_csv(data, columns, False) if has_ranks and "score" in columns else None
    if any(column.null_count() for column in frame):
        return None
    rank = _ranks("rank", frame.schema.get("rank"))
    if "score" not in columns:
        if (frame["rank"] < 0).any():
            return None
        return frame.select("query_id", "doc_id", (-rank).alias("score"), rank.alias("rank"))
    if frame["score"].is_nan().any():
        return None
    return frame.select("query_id", "doc_id", "score", rank.alias("rank"))


def _ranks(name: str, dtype: Any) -> pl.Expr:
    """Convert a column of ranks as `formats.parse_rank` does; a dtype of None means that there is none."""
    column = pl.col(name)
    if dtype is None or dtype == pl.Null:
        return pl.lit(NO_RANK, pl.Float64)
    if dtype.is_numeric() and not has_long_decimals(dtype):
        rank = column.cast(pl.Float64)
    elif dtype in (pl.String, pl.Categorical, pl.Enum):
        text = column.cast(pl.String).str.strip_chars()
        number = text.cast(pl.Float64, strict=False).fill_null(NOT_A_RANK)
        rank = pl.when(text.is_in(EMPTY_RANKS)).then(NO_RANK).when(text.is_not_null()).then(number)
    else:
        rank = pl.lit(NOT_A_RANK, pl.Float64)
    rank = rank.fill_nan(None).fill_null(NO_RANK)
    is_valid = (rank == NO_RANK) | ((rank >= 0) & rank.is_finite())
    return pl.when(is_valid).then(rank).otherwise(NOT_A_RANK).cast(pl.Float64)


# --- Parquet ------------------------------------------------------------------------------------------

_ROWS_PER_BATCH = 1 << 19
"""The number of rows in a batch."""
_RANK = "rank of each row"
"""A temporary name of the ranks, since the file may have a column of the name rank."""


def parquet_header(source: Source) -> Header:
    """Read the column names of a Parquet file."""
    with _located(source):
        return Header(_lazy(source).collect_schema().names())


def read_parquet_qrels(source: Source, may_repeat: bool = False) -> pl.DataFrame:
    """Read query_id, doc_id and relevance of each row of a Parquet file; integer grades stay integers."""
    with _located(source):
        lazy = _lazy(source)
        schema = lazy.collect_schema()
        names = find_columns(schema.names(), "relevance")
        check_decimals(schema, names)
        rows = lazy.select(*names).collect()
        frame = checked_frame(rows, "relevance")
        wrong = frame.filter(~pl.col("relevance").is_finite())
        if len(wrong):
            raise not_a_number(wrong["relevance"][0], "relevance", where=location(*wrong.row(0)[:2]))
        values = rows[next(name for name, meaning in names.items() if meaning == "relevance")]
        frame = frame.with_columns(relevance=values) if values.dtype.is_integer() else frame
    source.check_unchanged()
    if not may_repeat and (duplicate := first_duplicate(frame)) is not None:
        raise twice_error(*duplicate, "", str(source.path), is_run=False)
    return frame


@contextmanager
def _located(source: Source) -> Iterator[None]:
    """Name the file in errors about a Parquet file."""
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
    keys = {part.partition("=")[0]: pl.String for part in source.parts[-1].parts if "=" in part}
    has_keys = source.content.is_dir() and bool(keys)  # Hive's folders key=value
    return pl.scan_parquet(
        source.parts, glob=False, hive_partitioning=has_keys, hive_schema=keys if has_keys else None
    )


def parquet_run(source: Source) -> Table:
    """Build the table of a run in a Parquet file, which is read on each iteration."""
    return _scanned(source, partial(parquet_rows, source), partial(twice_in_parquet, source))


def twice_in_parquet(source: Source, query_id: str, doc_id: str) -> InputError:
    """Build the error for a document that is listed twice in a run in Parquet."""
    return twice_error(query_id, doc_id, "", str(source.path), is_run=True)


def rank_in_parquet(source: Source, n: int) -> tuple[str, str]:
    """Return the file, and the value of the column of ranks in row `n` (from 0), for an error message."""
    lazy = _lazy(source)
    schema = lazy.collect_schema()
    [name, *_] = called("rank", schema.names())
    with _located(source):
        check_decimals(schema, {name: "rank"})
    return str(source.path), f" (found {short_repr(lazy.select(name).slice(n, 1).collect().row(0)[0])})"


def parquet_rows(source: Source) -> Iterator[pl.DataFrame]:
    """Read the rows in the order of the file, as frames that also have a column rank."""
    with _located(source):
        lazy = _lazy(source)
        schema = lazy.collect_schema()
        rank_name = next(iter(called("rank", schema.names())), "")
        names = find_columns(schema.names(), "score")
        check_decimals(schema, names)
        lazy = lazy.select(*names, _ranks(rank_name, schema.get(rank_name)).alias(_RANK))
        n_rows = lazy.select(pl.len()).collect().item()
    for start in range(0, n_rows, _ROWS_PER_BATCH):
        with _located(source):
            rows = lazy.slice(start, _ROWS_PER_BATCH).collect()
            frame = checked_frame(rows.drop(_RANK), "score", first_row=start)
            frame = frame.with_columns(rows[_RANK].alias("rank"))
        yield frame
    source.check_unchanged()
