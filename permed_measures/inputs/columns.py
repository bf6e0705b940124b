"""Find the columns of a table by their names, and check their values once."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any

from permed_measures.engine.tables import QRELS_FIRST, Nested, Table, location, missing_value, not_a_number
from permed_measures.errors import InputError, short_repr
from permed_measures.frames import pl

QrelsLike = Nested | Iterable[Any] | str | os.PathLike[str] | Any
"""Qrels: ``{query_id: {doc_id: relevance}}``, namedtuples such as ``ir_measures.Qrel``, a frame of
pandas, polars, pyarrow or PySpark, a relation of DuckDB, a ``ranx.Qrels``, or a data set of ir_datasets or
PyTerrier. Functions of the package read the path of a file, and the id of a data set of ir_datasets.

A frame has the columns query_id, doc_id and relevance, or other names of `COLUMN_NAMES`; an iterable is
consumed. The type is Any, since frames and data sets of libraries have no common base class.
"""

RunLike = Nested | Iterable[Any] | str | os.PathLike[str] | Any
"""A run: ``{query_id: {doc_id: score}}``, namedtuples such as ``ir_measures.ScoredDoc``, a frame of
pandas, polars, pyarrow or PySpark, or a ``ranx.Run``. Functions of the package read the path of a file. A
large file, a ``polars.LazyFrame``, a relation of DuckDB and an iterable of frames are read in parts.

A frame has the columns query_id, doc_id and score (or a rank), or other names of `COLUMN_NAMES`, its rows in
any order; an iterable is consumed.

Ids are strings, or integers, which become strings. Other ids are an error, and so are two ids of one query
that become the same string. In every form but a dict all ids are checked.

In a dict all query ids are checked. If fewer than twenty queries are judged, so are all document ids of
judged queries. With more queries that would add half of the evaluation's time, so a sample is checked: the
first and the last document of each query, all documents of at least ten queries, and the judged documents. If
one of these ids is not a string, or no retrieved document is judged, all ids are checked. An integer outside
the sample counts as another document than its text, and takes a rank of its own.
"""

COLUMN_NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "query_id": (
        ("query_id", "qid", "q_id"),
        ("query-id", "queryid", "topic_id", "question_id", "caseid"),
        ("topic", "id", "_id"),
        ("query",),
    ),
    "doc_id": (
        ("doc_id", "docno"),
        *(
            (
                "doc-id",
                "docid",
                "corpus_id",
                "corpus-id",
                "corpusid",
                "text_id",
                "pid",
                "passage_id",
                "document_id",
            ),
        ),
        ("id", "_id"),
    ),
    "relevance": (("relevance", "label"), ("rel", "rating", "grade")),
    "score": (("score",),),
    "rank": (("rank",),),
}
"""The accepted names of columns and keys, in lower case, in groups: the first group with a match is used.

The first group has the names of ir_measures, PyTerrier and ranx. If a table has two names of one group, they
must have the same value in each row.
"""

BEIR_COLUMNS = {"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score"}
"""The column names of BEIR's qrels; they call the relevance "score"."""

OTHER = {"relevance": "score", "score": "relevance"}
"""The column of numbers in a table if qrels and run were swapped."""


def called(column: str, names: Iterable[str]) -> list[str]:
    """Select the names that mean a column, from the first group of `COLUMN_NAMES` with a match."""
    by_name: dict[str, list[str]] = {}
    for name in names:
        by_name.setdefault(name.strip().lower(), []).append(name)
    groups = (
        [original for name in group for original in by_name.get(name, ())] for group in COLUMN_NAMES[column]
    )
    return next(filter(None, groups), [])


def find_columns(names: Iterable[str], column: str) -> dict[str, str]:
    """Map the columns of a table to query_id, doc_id and `column` (a rank may replace a score).

    Several columns may have one meaning; then their values must be equal, which is checked later.
    """
    names = list(map(str, names))
    is_beir = set(BEIR_COLUMNS.values()) <= set(names) and not called("relevance", names)
    if is_beir and column == "score" and "rank" not in names:
        raise InputError(
            f"these are the names of BEIR's qrels (found {names})",
            hint=f"{QRELS_FIRST}; in a run, rename the column corpus-id to doc_id",
        )
    meaning_of: dict[str, str] = {}
    for meaning in ("doc_id", "query_id", column):
        matches = called(meaning, [name for name in names if name not in meaning_of])
        if is_beir and meaning == "relevance":
            matches = ["score"]
        ranks = called("rank", names) if meaning == "score" and not matches else []
        if not matches and not ranks:
            raise InputError(
                f"a frame needs the columns query_id, doc_id and {column} "
                f"(or PyTerrier's qid, docno and {COLUMN_NAMES[column][0][-1]}); {meaning} is missing "
                f"(found {names})",
                hint=QRELS_FIRST if called(OTHER[column], names) else "",
            )
        meaning_of |= dict.fromkeys(matches, meaning) | dict.fromkeys(ranks, "rank")
    for name in meaning_of:
        if names.count(name) > 1:
            raise InputError(f"the frame has two columns {name}", hint="Select the one that is meant")
    return meaning_of


MAX_DECIMAL_DIGITS = 38
"""The maximum number of digits of polars' decimals."""


def has_long_decimals(dtype: Any) -> bool:
    """Check whether a polars type has decimals with more digits than polars can read."""
    return isinstance(dtype, pl.Decimal) and (dtype.precision or 0) > MAX_DECIMAL_DIGITS


def check_decimals(schema: Mapping[str, Any], columns: Mapping[str, str]) -> None:
    """Raise InputError if one of these columns has decimals that polars cannot read."""
    for name, meaning in columns.items():
        if has_long_decimals(schema[name]):
            index, kind = list(schema).index(name), "string" if meaning.endswith("_id") else "float64"
            cast = f"table.set_column({index}, {name!r}, table[{name!r}].cast({kind!r}))"
            problem = f"column {name} holds decimals of {schema[name].precision} digits"
            raise InputError(
                f"{problem}; at most {MAX_DECIMAL_DIGITS} can be read", hint=f"Cast it, in pyarrow by {cast}"
            )


Parts = Generator[Any, None, None]
"""The parts of a frame, one after the other; each maps the frame's column names to polars columns."""


def checked_table(names: Iterable[str], column: str, parts: Callable[[dict[str, str]], Parts]) -> Table:
    """Build a table with standard column names; errors name the row, counted over all parts.

    Parameters
    ----------
    names : iterable of str
        The columns of the frame.
    column : {'relevance', 'score'}
    parts : callable
        Yields the parts, with the columns that `find_columns` has found.
    """
    columns = find_columns(names, column)
    return Table(lambda: rechunk_by_query(_checked_parts(parts(columns), columns)), column)


def _checked_parts(parts: Parts, columns: dict[str, str]) -> Iterator[pl.DataFrame]:
    first_row = 0
    with closing(parts):  # after an error, an open generator would keep a database connection busy
        for part in parts:
            frame = _checked(part, columns, first_row)
            first_row += len(frame)
            if len(frame):
                yield frame


def checked_frame(data: pl.DataFrame, column: str, first_row: int = 0) -> pl.DataFrame:
    """Convert a polars frame to query_id and doc_id (strings) and `column` (Float64), and check it.

    Errors name the row, counted from `first_row`.
    """
    return _checked(data, find_columns(data.columns, column), first_row)


def _checked(data: Any, columns: dict[str, str], first_row: int) -> pl.DataFrame:
    """Convert ids to strings and values to floats; raise InputError for other ids or values."""
    typed: dict[str, pl.Series] = {}
    others = []
    for name, meaning in columns.items():
        series = _typed(data[name].alias(meaning), meaning)
        if typed.setdefault(meaning, series) is not series:
            others.append((name, series))
    value = next(name for name in ("relevance", "score", "rank") if name in typed)
    frame = pl.DataFrame([typed["query_id"], typed["doc_id"], typed[value]])

    def where(wrong: pl.Series) -> str:
        row = wrong.arg_true()[0]
        return f"row {first_row + row}: {location(*frame.row(row)[:2])}"

    for series in frame:
        if series.null_count():
            raise missing_value(series.name, where=where(series.is_null()))
    for name, series in others:
        differs = series.ne_missing(frame[series.name])
        if differs.any():
            row, used = differs.arg_true()[0], next(k for k, v in columns.items() if v == series.name)
            raise two_names(used, name, frame[series.name][row], series[row], where=where(differs))
    if value == "rank":
        wrong = ~(frame["rank"] >= 0)
        if wrong.any():
            raise not_a_rank(frame["rank"].filter(wrong)[0], where=where(wrong))
        frame = frame.select("query_id", "doc_id", score=-pl.col("rank"))
    if value == "score" and frame["score"].is_nan().any():
        raise not_a_number(math.nan, "score", where=where(frame["score"].is_nan()))
    return frame


def two_names(used: str, other: str, value: object, differs: object, *, where: str) -> InputError:
    """Build the error for a row in which two columns of the same meaning have different values."""
    return InputError(
        f"{used} and {other} may both be meant, and differ (found {short_repr(value)} and "
        f"{short_repr(differs)})",
        where=where,
        hint="Leave one of the two out",
    )


def not_a_rank(value: object, *, where: str) -> InputError:
    """Build the error for an invalid rank in a table without scores."""
    problem = f"a rank must be a number from 0 or 1 (found {short_repr(value)})"
    return InputError(problem, where=where, hint="Give the documents scores or ranks")


def _typed(series: pl.Series, column: str) -> pl.Series:
    is_id, dtype = column in ("query_id", "doc_id"), series.dtype
    if is_id and len(series) and not (dtype.is_integer() or dtype in (pl.String, pl.Categorical, pl.Enum)):
        raise InputError(
            f"ids must be strings or integers (found {dtype} in column {column})",
            where=f"row 0, {column} {short_repr(series[0])}",
            hint="Convert ids to strings before evaluating, so that nothing is rounded",
        )
    if not is_id and len(series) and not (dtype.is_numeric() or dtype == pl.Boolean):
        raise InputError(f"column {column} must hold numbers (found {dtype})", hint="Convert it to floats")
    wanted = pl.String if is_id else pl.Float64
    return series.cast(wanted) if len(series) else pl.Series(column, [], dtype=wanted)


def rechunk_by_query(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Divide frames anew at the ends of queries, so that consecutive rows of a query stay together."""
    held = None
    for frame in frames:
        if held is not None:
            changes = (held["query_id"] != held["query_id"][-1]).arg_true()
            last = int(changes[-1]) + 1 if len(changes) else 0
            if last:
                yield held[:last]
            # Indices make a copy, so that the other rows of `held` are freed.
            frame = pl.concat([held[pl.int_range(last, len(held), eager=True)], frame])
        held = frame
    if held is not None:
        yield held
