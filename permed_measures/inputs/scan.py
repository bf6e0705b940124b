"""Runs in files that are read as frames, one after the other: TREC, CSV and Parquet, in bounded memory.

Of large TREC runs, what is beyond doubt becomes a frame without a Python object per row: lines with one
blank or tab between columns, and numbers as scores. All else is read line by line, which finds what is wrong
and where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any

from permed_measures.engine.tables import Table, first_repeated, location, not_a_number
from permed_measures.errors import InputError, short_repr, warn
from permed_measures.frames import pl
from permed_measures.inputs.columns import (
    called,
    check_decimals,
    checked_frame,
    find_columns,
    has_long_decimals,
    whole_queries,
)
from permed_measures.inputs.formats import EMPTY_RANKS, NO_RANK, NOT_A_RANK, VALUE_COLUMNS, Header
from permed_measures.inputs.rank_check import contradicted_rows, note_of
from permed_measures.inputs.sources import MARK, Source
from permed_measures.inputs.text_reader import TextFile, twice_error

_ROWS_AS_OBJECTS = 1 << 17
"""Rows that are held as Python objects at a time."""


def text_run(file: TextFile) -> Table:
    """Return a run in a text file."""
    return _scanned(file.source, partial(text_frames, file), file.duplicate_error)


def _scanned(
    source: Source, rows: Callable[[], Iterator[pl.DataFrame]], twice: Callable[[str, str], InputError]
) -> Table:
    """Return a run in a file, which is read each time that one goes through its rows.

    The first time warns where ranks and scores disagree. `rows` returns frames that have a column rank too.
    """
    is_read = False

    def parts() -> Iterator[pl.DataFrame]:
        nonlocal is_read
        queries, found = set[str](), dict[str, str]()
        for frame in whole_queries(rows()):
            if not is_read:
                queries.update(frame["query_id"].rle().struct.field("value"))
                found |= contradicted_rows(frame)
            yield frame.drop("rank")
        is_read, was_read = True, is_read
        if not was_read and (note := note_of(source.path, found, len(queries), "rank column")):
            warn(note, path=source.path)

    return Table(parts, "score", source.path, twice)


def text_frames(file: TextFile) -> Iterator[pl.DataFrame]:
    """Yield the rows of a file as frames of query_id, doc_id, score or relevance, and rank.

    An empty list is a row without a document.
    """
    value = VALUE_COLUMNS[file.format.kind]
    if not file.format.columns:
        yield from _as_frames(file.rows(), value)
        return
    for first, n_lines, chunk in file.source.chunks():
        frame = _frame_of_lines(chunk, file.format.columns)
        if frame is None or frame.height != n_lines + (not chunk.endswith(b"\n")):  # there are empty lines
            yield from _as_frames(file.rows(file.source.lines_of(chunk, first)), value)
        else:
            yield frame


def _as_frames(rows: Iterable[tuple[object, ...]], value: str) -> Iterator[pl.DataFrame]:
    """Yield parsed lines as frames; lists without scores have none."""
    schema, listed = row_schema(value), iter(rows)
    while some := list(islice(listed, _ROWS_AS_OBJECTS)):
        columns = zip(*some, strict=True)
        yield pl.DataFrame(dict(zip(schema, columns, strict=True)), schema=schema, strict=False)


def row_schema(value: str) -> dict[str, Any]:
    """Return the columns of rows and their types."""
    return {"query_id": pl.String, "doc_id": pl.String, value: pl.Float64, "rank": pl.Float64}


def as_one(frames: Iterable[pl.DataFrame], value: str) -> pl.DataFrame:
    """Return all rows as one frame, in which the third column is called `value`."""
    named = (frame.rename({frame.columns[2]: value}) for frame in frames)
    return pl.concat([pl.DataFrame(schema=row_schema(value)), *named], how="diagonal_relaxed")


# --- large regular TREC runs -------------------------------------------------------------------------


def _frame_of_lines(data: bytes, columns: tuple[str, ...]) -> pl.DataFrame | None:
    """Return query_id, doc_id, score and rank of whole lines in their order; None if polars might err."""
    for found, wanted in ((b"\r\n", b"\n"), (b"\t", b" ")):
        data = data.replace(found, wanted) if found[:1] in data else data  # one byte is found much faster
    if data.startswith((b"#", MARK)) or (b"#" in data and b"\n#" in data):
        return None  # polars takes any mark away
    return None if any(odd in data for odd in (b"\r", b"\v", b"\f", b"\0")) else _of_csv(data, columns)


def _of_csv(data: bytes, columns: tuple[str, ...], has_ranks: bool = True) -> pl.DataFrame | None:
    """Return what is known of each row; None if a column is empty in one, or a number none."""
    types = {"score": pl.Float64} | ({"rank": pl.Int64} if has_ranks else {})
    schema = {name: types.get(name, pl.String) for name in columns}
    try:
        frame = pl.read_csv(data, separator=" ", has_header=False, quote_char=None, schema=schema)
    except pl.exceptions.PolarsError:  # perhaps of the ranks, which may be any text
        return _of_csv(data, columns, False) if has_ranks and "score" in columns else None
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
    """Return a column of this type as `rank_of` reads each of its values; without a type there is none."""
    column = pl.col(name)
    if dtype is None or dtype == pl.Null:
        return pl.lit(NO_RANK, pl.Float64)
    if dtype.is_numeric() and not has_long_decimals(dtype):
        rank = column.cast(pl.Float64)
    elif dtype in (pl.String, pl.Categorical, pl.Enum):
        text = column.cast(pl.String).str.strip_chars()
        read = text.cast(pl.Float64, strict=False).fill_null(NOT_A_RANK)
        rank = pl.when(text.is_in(EMPTY_RANKS)).then(NO_RANK).when(text.is_not_null()).then(read)
    else:
        rank = pl.lit(NOT_A_RANK, pl.Float64)
    rank = rank.fill_nan(None).fill_null(NO_RANK)
    is_known = (rank == NO_RANK) | ((rank >= 0) & rank.is_finite())
    return pl.when(is_known).then(rank).otherwise(NOT_A_RANK).cast(pl.Float64)


# --- Parquet ------------------------------------------------------------------------------------------

_ROWS_PER_BATCH = 1 << 19
"""Rows of a batch."""
_RANK = "rank of each row"
"""What the ranks are called where a column of the file may be called rank too."""


def parquet_header(source: Source) -> Header:
    """Return the names of the columns of a Parquet file."""
    with _located(source):
        return Header(_lazy(source).collect_schema().names())


def read_parquet_qrels(source: Source, may_repeat: bool = False) -> pl.DataFrame:
    """Return query_id, doc_id and relevance, perhaps as integers, of each row of a Parquet file."""
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
        values = rows[next(theirs for theirs, ours in names.items() if ours == "relevance")]
        frame = frame.with_columns(relevance=values) if values.dtype.is_integer() else frame
    source.check_unchanged()
    if not may_repeat and (pair := first_repeated(frame)) is not None:
        raise twice_error(*pair, "", str(source.path), is_run=False)
    return frame


@contextmanager
def _located(source: Source) -> Iterator[None]:
    """Name the file in what goes wrong with a Parquet file."""
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
    has_keys = source.content.is_dir() and bool(keys)  # of folders key=value, as Hive has them
    return pl.scan_parquet(
        source.parts, glob=False, hive_partitioning=has_keys, hive_schema=keys if has_keys else None
    )


def parquet_run(source: Source) -> Table:
    """Return a run in a Parquet file with the columns query_id, doc_id and score."""
    return _scanned(source, partial(parquet_rows, source), partial(twice_in_parquet, source))


def twice_in_parquet(source: Source, query_id: str, doc_id: str) -> InputError:
    """Return the error for a document that is listed twice in a run in a Parquet file."""
    return twice_error(query_id, doc_id, "", str(source.path), is_run=True)


def rank_in_parquet(source: Source, n: int) -> tuple[str, str]:
    """Return the file, and what stands in the column of ranks in the row with this index, from 0 on."""
    lazy = _lazy(source)
    schema = lazy.collect_schema()
    [name, *_] = called("rank", schema.names())
    with _located(source):
        check_decimals(schema, {name: "rank"})
    return str(source.path), f" (found {short_repr(lazy.select(name).slice(n, 1).collect().row(0)[0])})"


def parquet_rows(source: Source) -> Iterator[pl.DataFrame]:
    """Yield the rows in the order of the file, as frames that have a column rank too."""
    with _located(source):
        lazy = _lazy(source)
        schema = lazy.collect_schema()
        theirs = next(iter(called("rank", schema.names())), "")
        names = find_columns(schema.names(), "score")
        check_decimals(schema, names)
        lazy = lazy.select(*names, _ranks(theirs, schema.get(theirs)).alias(_RANK))
        n_rows = lazy.select(pl.len()).collect().item()
    for start in range(0, n_rows, _ROWS_PER_BATCH):
        with _located(source):
            rows = lazy.slice(start, _ROWS_PER_BATCH).collect()
            frame = checked_frame(rows.drop(_RANK), "score", first_row=start)
            frame = frame.with_columns(rows[_RANK].alias("rank"))
        yield frame
    source.check_unchanged()
