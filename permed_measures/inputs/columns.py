"""The columns of a table: what they are called, and what must hold of their values, checked once."""

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
consumed. What libraries call their frames and data sets has no type in common.
"""

RunLike = Nested | Iterable[Any] | str | os.PathLike[str] | Any
"""A run: ``{query_id: {doc_id: score}}``, namedtuples such as ``ir_measures.ScoredDoc``, a frame of
pandas, polars, pyarrow or PySpark, or a ``ranx.Run``. Functions of the package read the path of a file. A
large file, a ``polars.LazyFrame``, a relation of DuckDB and an iterable of frames are read in parts.

A frame has the columns query_id, doc_id and score (or a rank), or other names of `COLUMN_NAMES`, its rows in
any order; an iterable is consumed.

Ids are strings, or integers, which become strings. Another id is an error, and so are two ids of one query
that become the same string. In every form but a dict all ids are checked. In a dict all query ids are, and
the document ids of judged queries: all of them where fewer than twenty queries are judged. Where more are,
that would take half as long again as the evaluation, and fewer are looked at: the first and the last of each
query, all of at least ten queries, and those of judged documents. If one of these is not a string, or no
retrieved document is judged, all are checked. Another integer takes up a rank of its own, beside its text.
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
"""What columns and keys are called, in small letters: the first group that has one of them counts.

The first of each has the names of ir_measures, PyTerrier and ranx. Two names of one group that are both there
must say the same of each row.
"""

BEIR_COLUMNS = {"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score"}
"""The names of the columns in BEIR's qrels, where the relevance is called score."""

OTHER = {"relevance": "score", "score": "relevance"}
"""The column of numbers that a table has if qrels and run were swapped."""


def called(column: str, names: Iterable[str]) -> list[str]:
    """Return those of the names that this column has, of the first group of `COLUMN_NAMES` that has any."""
    by_name: dict[str, list[str]] = {}
    for name in names:
        by_name.setdefault(name.strip().lower(), []).append(name)
    groups = ([each for name in group for each in by_name.get(name, ())] for group in COLUMN_NAMES[column])
    return next(filter(None, groups), [])


def find_columns(names: Iterable[str], column: str) -> dict[str, str]:
    """Return which columns of a table are query_id, doc_id and `column`; or a rank in place of a score.

    Several of them may be one of ours: they must hold the same.
    """
    names = list(map(str, names))
    is_beir = set(BEIR_COLUMNS.values()) <= set(names) and not called("relevance", names)
    if is_beir and column == "score" and "rank" not in names:
        raise InputError(
            f"these are the names of BEIR's qrels (found {names})",
            hint=f"{QRELS_FIRST}; of a run, call the column corpus-id doc_id",
        )
    found: dict[str, str] = {}
    for ours in ("doc_id", "query_id", column):
        theirs = called(ours, [name for name in names if name not in found])
        if is_beir and ours == "relevance":
            theirs = ["score"]
        ranks = called("rank", names) if ours == "score" and not theirs else []
        if not theirs and not ranks:
            raise InputError(
                f"a frame needs the columns query_id, doc_id and {column} "
                f"(or PyTerrier's qid, docno and {COLUMN_NAMES[column][0][-1]}); {ours} is missing "
                f"(found {names})",
                hint=QRELS_FIRST if called(OTHER[column], names) else "",
            )
        found |= dict.fromkeys(theirs, ours) | dict.fromkeys(ranks, "rank")
    for name in found:
        if names.count(name) > 1:
            raise InputError(f"the frame has two columns {name}", hint="Select the one that is meant")
    return found


MAX_DECIMAL_DIGITS = 38
"""What a decimal of polars may have."""


def has_long_decimals(dtype: Any) -> bool:
    """Return whether a type of polars is one of decimals with more digits than it can read."""
    return isinstance(dtype, pl.Decimal) and (dtype.precision or 0) > MAX_DECIMAL_DIGITS


def check_decimals(schema: Mapping[str, Any], columns: Mapping[str, str]) -> None:
    """Raise InputError if one of these columns holds decimals that cannot be read."""
    for theirs, ours in columns.items():
        if has_long_decimals(schema[theirs]):
            place, kind = list(schema).index(theirs), "string" if ours.endswith("_id") else "float64"
            cast = f"table.set_column({place}, {theirs!r}, table[{theirs!r}].cast({kind!r}))"
            found = f"column {theirs} holds decimals of {schema[theirs].precision} digits"
            raise InputError(
                f"{found}; at most {MAX_DECIMAL_DIGITS} can be read", hint=f"Cast it, in pyarrow by {cast}"
            )


Parts = Generator[Any, None, None]
"""Parts of a frame, one after the other: columns of polars by the names that the frame has for them."""


def checked_table(names: Iterable[str], column: str, parts: Callable[[dict[str, str]], Parts]) -> Table:
    """Return a table under our names; an error has the number of the row in all parts.

    Parameters
    ----------
    names : iterable of str
        The columns of the frame.
    column : {'relevance', 'score'}
    parts : callable
        Returns the parts, of what `find_columns` found.
    """
    columns = find_columns(names, column)
    return Table(lambda: whole_queries(_checked_parts(parts(columns), columns)), column)


def _checked_parts(parts: Parts, columns: dict[str, str]) -> Iterator[pl.DataFrame]:
    first_row = 0
    with closing(parts):  # an error would keep a connection busy
        for part in parts:
            frame = _checked(part, columns, first_row)
            first_row += len(frame)
            if len(frame):
                yield frame


def checked_frame(data: pl.DataFrame, column: str, first_row: int = 0) -> pl.DataFrame:
    """Return query_id and doc_id (strings) and `column` (Float64) of a polars frame, or raise an error.

    The error has the number of the row, from `first_row` on.
    """
    return _checked(data, find_columns(data.columns, column), first_row)


def _checked(data: Any, columns: dict[str, str], first_row: int) -> pl.DataFrame:
    """Return the frame with string ids and float values, or raise for what cannot be made so."""
    typed: dict[str, pl.Series] = {}
    others = []
    for theirs, ours in columns.items():
        series = _typed(data[theirs].alias(ours), ours)
        if typed.setdefault(ours, series) is not series:
            others.append((theirs, series))
    value = next(name for name in ("relevance", "score", "rank") if name in typed)
    frame = pl.DataFrame([typed["query_id"], typed["doc_id"], typed[value]])

    def where(wrong: pl.Series) -> str:
        row = wrong.arg_true()[0]
        return f"row {first_row + row}: {location(*frame.row(row)[:2])}"

    for series in frame:
        if series.null_count():
            raise missing_value(series.name, where=where(series.is_null()))
    for theirs, series in others:
        differs = series.ne_missing(frame[series.name])
        if differs.any():
            row, used = differs.arg_true()[0], next(k for k, v in columns.items() if v == series.name)
            raise two_names(used, theirs, frame[series.name][row], series[row], where=where(differs))
    if value == "rank":
        wrong = ~(frame["rank"] >= 0)
        if wrong.any():
            raise not_a_rank(frame["rank"].filter(wrong)[0], where=where(wrong))
        frame = frame.select("query_id", "doc_id", score=-pl.col("rank"))
    if value == "score" and frame["score"].is_nan().any():
        raise not_a_number(math.nan, "score", where=where(frame["score"].is_nan()))
    return frame


def two_names(used: str, other: str, value: object, differs: object, *, where: str) -> InputError:
    """Return the error for a row in which two names that mean the same have two values."""
    return InputError(
        f"{used} and {other} may both be meant, and differ (found {short_repr(value)} and "
        f"{short_repr(differs)})",
        where=where,
        hint="Leave one of the two out",
    )


def not_a_rank(value: object, *, where: str) -> InputError:
    """Return the error for what stands in a column of ranks without scores, and ranks nothing."""
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


def whole_queries(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield the rows cut between queries, so that the rows of a query that stand together stay together."""
    held = None
    for frame in frames:
        if held is not None:
            changes = (held["query_id"] != held["query_id"][-1]).arg_true()
            last = int(changes[-1]) + 1 if len(changes) else 0
            if last:
                yield held[:last]
            frame = pl.concat(
                [held[pl.int_range(last, len(held), eager=True)], frame]
            )  # a copy: the rest is freed
        held = frame
    if held is not None:
        yield held
