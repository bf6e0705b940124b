"""What qrels and runs are made of, and what must hold of it: columns, ids, numbers, frames."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from permed_measures.errors import InputError, shown
from permed_measures.frames import check_not_forked, pl

STDIN = Path("/dev/stdin")
"""What the path ``-`` stands for, on any system."""

Nested = Mapping[str, Mapping[str, float]]
"""``{query_id: {doc_id: number}}``."""

QrelsLike = Nested | Iterable[Any] | str | os.PathLike[str] | Any
"""Qrels: ``{query_id: {doc_id: relevance}}``, namedtuples such as ``ir_measures.Qrel``, a frame of
pandas, polars, pyarrow or PySpark, a relation of DuckDB, a ``ranx.Qrels``, or a data set of ir_datasets or
PyTerrier. Functions of the package read the path of a file, and the id of a data set of ir_datasets.

A frame has the columns query_id, doc_id and relevance, or other names of `NAMES`; an iterable is
consumed. What libraries call their frames and data sets has no type in common.
"""

RunLike = Nested | Iterable[Any] | str | os.PathLike[str] | Any
"""A run: ``{query_id: {doc_id: score}}``, namedtuples such as ``ir_measures.ScoredDoc``, a frame of
pandas, polars, pyarrow or PySpark, or a ``ranx.Run``. Functions of the package read the path of a file. A
large file, a ``polars.LazyFrame``, a relation of DuckDB and an iterable of frames are read in parts.

A frame has the columns query_id, doc_id and score (or a rank), or other names of `NAMES`, its rows in
any order; an iterable is consumed.

Ids are strings, or integers, which become strings. Another id is an error, and so are two ids of one query
that become the same string. In every form but a dict all ids are checked. In a dict all query ids are, and
the document ids of judged queries: all of them where fewer than twenty queries are judged. Where more are,
that would take half as long again as the evaluation, and fewer are looked at: the first and the last of each
query, all of at least ten queries, and those of judged documents. If one of these is not a string, or no
retrieved document is judged, all are checked. Another integer takes up a rank of its own, beside its text.
"""

openers: dict[str, Callable[[Any], Any]] = {}
"""What reads qrels (``relevance``) or a run (``score``) by path or id: the package above sets it."""

NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
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

QRELS_FIRST = "The qrels come first, then the run"


class FileRun(dict[str, Any]):
    """A run as nested dicts, and its file, which warnings about the run as a whole name."""

    path: Path | None = None


def location(query_id: object, doc_id: object) -> str:
    """Return where a row is, for an error message."""
    return f"query {shown(query_id)}, document {shown(doc_id)}"


# --- ids -------------------------------------------------------------------------------------------


def string_id(value: object, *, where: str = "") -> str:
    """Return an id as a string; anything but a string or an integer is an error."""
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return str(int(value))
    raise InputError(
        f"an id must be a string or an integer (found {shown(value)})",
        where=where,
        hint="Convert ids to strings before evaluating, so that nothing is rounded",
    )


# --- numbers ---------------------------------------------------------------------------------------


def number(value: Any, column: str, *, where: str) -> float | int:
    """Return a finite relevance, or a score that is not NaN; anything else is an error."""
    try:
        if math.isfinite(value) or (column == "score" and not math.isnan(value)):
            return value  # type: ignore[no-any-return]
    except (TypeError, ValueError, OverflowError):  # no number, or an integer beyond all floats
        pass
    raise not_a_number(value, column, where=where)


def not_a_number(value: object, column: str, *, where: str) -> InputError:
    """Return the error for a score or relevance that is no number."""
    problem = f"a {column} must be a number (found {shown(value)})"
    return InputError(problem, where=where, hint="Correct or remove this row")


# --- frames ----------------------------------------------------------------------------------------


class Frames:
    """Frames of query_id, doc_id (strings) and score or relevance (Float64), one after the other.

    They need not be in memory together; what is wrong in a row is raised when it is read. A document that is
    listed twice in a query, judged or not, is an error when they are evaluated. If a query has rows in two
    frames, all of them are put together in memory.

    Parameters
    ----------
    frames : iterable of polars.DataFrame, or callable
        Can be gone through again; a callable returns an iterator each time.
    path : Path, optional
        The file of the run, which warnings about the run as a whole name.
    """

    def __init__(
        self,
        frames: Iterable[pl.DataFrame] | Callable[[], Iterator[pl.DataFrame]] = (),
        path: Path | None = None,
    ) -> None:
        self._frames, self.path = frames, path

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield the frames."""
        check_not_forked()
        return self._frames() if callable(self._frames) else iter(self._frames)

    def whole(self, column: str) -> pl.DataFrame:
        """Return all rows as one frame; `column` is that of the numbers."""
        frames = list(self)
        schema = {"query_id": pl.String, "doc_id": pl.String, column: pl.Float64}
        return pl.concat(frames) if frames else pl.DataFrame(schema=schema)

    def nested(self) -> dict[str, dict[str, float]]:
        """Return all rows as nested dicts."""
        nested = FileRun()
        nested.path = self.path
        for frame in self:
            for query_id, doc_id, value in zip(*(column.to_list() for column in frame), strict=True):
                documents = nested.setdefault(query_id, {})
                if doc_id in documents:
                    raise self.duplicate_error(query_id, doc_id)
                documents[doc_id] = value
        return nested

    def duplicate_error(self, query_id: str, doc_id: str) -> InputError:
        """Return the error for a document that is listed twice in a query."""
        where = location(query_id, doc_id)
        return InputError("the document is listed twice", where=where, hint="Remove all rows but one")


def path_of(run: object) -> Path | None:
    """Return the file of a run, if it is known."""
    return run.path if isinstance(run, (Frames, FileRun)) else None


# --- rows of a frame -------------------------------------------------------------------------------


def first_repeated(frame: pl.DataFrame) -> tuple[str, str] | None:
    """Return query and document of the first row whose query and document have stood before."""
    import numpy as np  # not where this is imported: by the package itself

    hashes = np.sort(frame.select("query_id", "doc_id").hash_rows().to_numpy())
    if not (hashes[1:] == hashes[:-1]).any():
        return None
    again = repeated_rows(frame.select("query_id", "doc_id"))
    return again.row(0) if len(again) else None


def repeated_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows whose query and document have stood before."""
    return frame.filter(~pl.struct("query_id", "doc_id").is_first_distinct())


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


def text_series(name: str, ids: list[str]) -> pl.Series:
    """Return ids as a series; one with half of a character, which no frame can hold, is missing in it."""
    try:
        return pl.Series(name, ids, dtype=pl.String)
    except UnicodeEncodeError:
        return pl.Series(name, [each if is_text(each) else None for each in ids], dtype=pl.String)


def is_text(value: str) -> bool:
    """Return whether this has no half of a Unicode character."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


# --- checked ---------------------------------------------------------------------------------------


def called(column: str, names: Iterable[str]) -> list[str]:
    """Return those of the names that this column has, of the first group of `NAMES` that has any."""
    by_name: dict[str, list[str]] = {}
    for name in names:
        by_name.setdefault(name.strip().lower(), []).append(name)
    groups = ([each for name in group for each in by_name.get(name, ())] for group in NAMES[column])
    return next(filter(None, groups), [])


def columns_of(names: Iterable[str], column: str) -> dict[str, str]:
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
                f"(or PyTerrier's qid, docno and {NAMES[column][0][-1]}); {ours} is missing (found {names})",
                hint=QRELS_FIRST if called(OTHER[column], names) else "",
            )
        found |= dict.fromkeys(theirs, ours) | dict.fromkeys(ranks, "rank")
    for name in found:
        if names.count(name) > 1:
            raise InputError(f"the frame has two columns {name}", hint="Select the one that is meant")
    return found


Parts = Generator[Any, None, None]
"""Parts of a frame, one after the other: columns of polars by the names that the frame has for them."""


def checked_frames(names: Iterable[str], column: str, parts: Callable[[dict[str, str]], Parts]) -> Frames:
    """Return frames under our names; an error has the number of the row in all parts.

    Parameters
    ----------
    names : iterable of str
        The columns of the frame.
    column : {'relevance', 'score'}
    parts : callable
        Returns the parts, of what `columns_of` found.
    """
    columns = columns_of(names, column)
    return Frames(lambda: whole_queries(_checked_parts(parts(columns), columns)))


def _checked_parts(parts: Parts, columns: dict[str, str]) -> Iterator[pl.DataFrame]:
    first_row = 0
    with closing(parts):  # an error would keep a connection busy
        for part in parts:
            frame = _checked(part, columns, first_row)
            first_row += len(frame)
            if len(frame):
                yield frame


def checked_frame(data: pl.DataFrame, column: str, first_row: int | None = 0) -> pl.DataFrame:
    """Return query_id and doc_id (strings) and `column` (Float64) of a polars frame, or raise an error.

    The error has the number of the row, unless `first_row` is None.
    """
    return _checked(data, columns_of(data.columns, column), first_row)


def _checked(data: Any, columns: dict[str, str], first_row: int | None) -> pl.DataFrame:
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
        number = "" if first_row is None else f"row {first_row + row}: "
        return f"{number}{location(*frame.row(row)[:2])}"

    for series in frame:
        if series.null_count():
            problem = f"missing value in column {series.name}"
            raise InputError(problem, where=where(series.is_null()), hint="Correct or remove this row")
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
        f"{used} and {other} may both be meant, and differ (found {shown(value)} and {shown(differs)})",
        where=where,
        hint="Leave one of the two out",
    )


def not_a_rank(value: object, *, where: str) -> InputError:
    """Return the error for what stands in a column of ranks without scores, and ranks nothing."""
    problem = f"a rank must be a number from 0 or 1 (found {shown(value)})"
    return InputError(problem, where=where, hint="Give the documents scores or ranks")


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
