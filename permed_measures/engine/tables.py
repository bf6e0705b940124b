"""The engine's input: qrels and runs as nested dicts or tables, and the checks of their ids and numbers."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from permed_measures.errors import InputError, short_repr
from permed_measures.frames import check_not_forked, pl

Nested = Mapping[str, Mapping[str, float]]
"""``{query_id: {doc_id: number}}``."""

QRELS_FIRST = "The qrels come first, then the run"


class NamedDict(dict[str, Any]):
    """Qrels or a run as nested dicts, with the file or the data set that they come from.

    Parameters
    ----------
    rows : mapping, or iterable of pairs
        ``{query_id: {doc_id: number}}``.
    name : Path, optional
        The file, for warnings about all of it.
    dataset : optional
        The data set of ir_datasets that the qrels belong to; its queries have texts and fields.
    """

    def __init__(self, rows: Any = (), name: Path | None = None, dataset: Any = None) -> None:
        super().__init__(rows)
        self.name, self.dataset = name, dataset


class Table:
    """Qrels or a run as frames (parts) of query_id, doc_id (strings) and relevance or score (Float64).

    The parts need not be in memory together; an error in a row is raised when the row is read. A document
    that is listed twice in a query, judged or not, is an error during evaluation. If a query has rows in two
    parts, evaluation puts all parts together in memory.

    Parameters
    ----------
    parts : iterable of polars.DataFrame, or callable
        The parts, which can be iterated several times; a callable returns an iterator each time.
    column : {'relevance', 'score'}
        The column of numbers: relevance for qrels, score for a run.
    name : Path, optional
        The file, for warnings about all of it.
    twice : callable, optional
        Builds the error for a document that is listed twice, from query id and document id.
    """

    def __init__(
        self,
        parts: Iterable[pl.DataFrame] | Callable[[], Iterator[pl.DataFrame]],
        column: str,
        name: Path | None = None,
        twice: Callable[[str, str], InputError] | None = None,
    ) -> None:
        self._parts, self.column, self.name = parts, column, name
        self.twice = twice or _twice

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield the parts."""
        check_not_forked()
        return self._parts() if callable(self._parts) else iter(self._parts)

    def whole(self) -> pl.DataFrame:
        """Concatenate all parts to one frame."""
        schema = {"query_id": pl.String, "doc_id": pl.String, self.column: pl.Float64}
        parts = [part.cast({self.column: pl.Float64}) for part in self]
        return pl.concat(parts) if parts else pl.DataFrame(schema=schema)

    def nested(self) -> NamedDict:
        """Convert all rows to nested dicts."""
        nested = NamedDict(name=self.name)
        for part in self:
            for query_id, doc_id, value in zip(*(column.to_list() for column in part), strict=True):
                documents = nested.setdefault(query_id, {})
                if doc_id in documents:
                    raise self.twice(query_id, doc_id)
                documents[doc_id] = value
        return nested


def _twice(query_id: str, doc_id: str) -> InputError:
    return InputError(
        "the document is listed twice", where=location(query_id, doc_id), hint="Remove all rows but one"
    )


Rows = Nested | Table | Any
"""The engine's input: nested dicts, a table, or a run in a PySpark frame with the columns of a table."""


def file_of(rows: object) -> Path | None:
    """Return the file of qrels or of a run, if it is known."""
    return rows.name if isinstance(rows, (Table, NamedDict)) else None


def dataset_of(qrels: object) -> Any:
    """Return the data set that qrels belong to; None if there is none."""
    return qrels.dataset if isinstance(qrels, NamedDict) else None


def location(query_id: object, doc_id: object) -> str:
    """Name the query and the document of a row, for an error message."""
    return f"query {short_repr(query_id)}, document {short_repr(doc_id)}"


# --- ids -------------------------------------------------------------------------------------------


def string_id(value: object, *, where: str = "") -> str:
    """Convert an id to a string; raise InputError unless it is a string or an integer."""
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return str(int(value))
    raise InputError(
        f"an id must be a string or an integer (found {short_repr(value)})",
        where=where,
        hint="Convert ids to strings before evaluating, so that nothing is rounded",
    )


def stringify_keys(mapping: Mapping[Any, Any], ids: str, *, query_id: str | None = None) -> Mapping[str, Any]:
    """Convert the keys of a mapping to strings; if two become equal, raise InputError, which names `ids`."""
    if not {*map(type, mapping)} - {str}:
        return mapping
    where = "" if query_id is None else f"query {short_repr(query_id)}"
    named = {}
    for key, value in mapping.items():
        name = string_id(key, where=where if query_id is None else location(query_id, key))
        if name in named:
            problem = f"two {ids} are the same as strings (found {short_repr(name)})"
            raise InputError(problem, where=where, hint="Use strings as ids")
        named[name] = value
    return named


def text_series(name: str, ids: list[str]) -> pl.Series:
    """Convert ids to a series; an id with an unpaired surrogate, which polars cannot hold, becomes null."""
    try:
        return pl.Series(name, ids, dtype=pl.String)
    except UnicodeEncodeError:
        encodable = [text if is_encodable(text) else None for text in ids]
        return pl.Series(name, encodable, dtype=pl.String)


def is_encodable(value: str) -> bool:
    """Check that a string has no unpaired surrogate (half of a Unicode character)."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


# --- numbers ---------------------------------------------------------------------------------------


def check_number(value: Any, column: str, *, where: str) -> float | int:
    """Return the value if it is a finite relevance, or a score that is not NaN; else raise InputError."""
    try:
        if math.isfinite(value) or (column == "score" and not math.isnan(value)):
            return value  # type: ignore[no-any-return]
    except (TypeError, ValueError, OverflowError):  # not a number, or an integer beyond all floats
        pass
    raise not_a_number(value, column, where=where)


def not_a_number(value: object, column: str, *, where: str) -> InputError:
    """Build the error for a score or relevance that is not a number."""
    problem = f"a {column} must be a number (found {short_repr(value)})"
    return InputError(problem, where=where, hint="Correct or remove this row")


def missing_value(column: str, *, where: str) -> InputError:
    """Build the error for a row that lacks an id or a number."""
    return InputError(f"missing value in column {column}", where=where, hint="Correct or remove this row")


# --- rows of a frame -------------------------------------------------------------------------------


def first_duplicate(frame: pl.DataFrame) -> tuple[str, str] | None:
    """Find the first row that repeats an earlier pair of query and document; return the pair, or None."""
    import numpy as np  # here, since the package itself imports this module and must load fast

    hashes = np.sort(frame.select("query_id", "doc_id").hash_rows().to_numpy())
    if not (hashes[1:] == hashes[:-1]).any():
        return None
    repeated = repeated_rows(frame.select("query_id", "doc_id"))
    return repeated.row(0) if len(repeated) else None


def repeated_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Select the rows that repeat an earlier pair of query and document."""
    return frame.filter(~pl.struct("query_id", "doc_id").is_first_distinct())


def no_dict(query_id: str, docs: Any, column: str) -> InputError:
    """Build the error for a query whose documents are not a dict; the hint shows how to convert a list."""
    what, hint = "results", "For a ranked list write {doc: -rank for rank, doc in enumerate(documents, 1)}"
    if column == "relevance":
        what, hint = "judgments", "For relevant documents write dict.fromkeys(documents, 1)"
    problem = f"the {what} of a query must be a dict {{doc_id: {column}}} (found {type(docs).__name__})"
    return InputError(
        problem,
        where=f"query {short_repr(query_id)}",
        hint=hint if isinstance(docs, list | tuple | set | frozenset) else "",
    )
