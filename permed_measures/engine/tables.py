"""Qrels and runs as the engine takes them, nested dicts or a table; what must hold of ids and numbers."""

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
    """Qrels or a run as nested dicts, of a file or of a data set.

    Parameters
    ----------
    rows : mapping, or iterable of pairs
        ``{query_id: {doc_id: number}}``.
    name : Path, optional
        The file, which warnings about the whole name.
    dataset : optional
        The data set of ir_datasets that qrels are of: its queries have texts and fields.
    """

    def __init__(self, rows: Any = (), name: Path | None = None, dataset: Any = None) -> None:
        super().__init__(rows)
        self.name, self.dataset = name, dataset


class Table:
    """Qrels or a run as frames of query_id, doc_id (strings) and relevance or score (Float64), its parts.

    They need not be in memory together; what is wrong in a row is raised when it is read. A document that is
    listed twice in a query, judged or not, is an error when they are evaluated. If a query has rows in two
    parts, all of them are put together in memory.

    Parameters
    ----------
    parts : iterable of polars.DataFrame, or callable
        Can be gone through again; a callable returns an iterator each time.
    column : {'relevance', 'score'}
        The column of numbers: that of qrels, or that of a run.
    name : Path, optional
        The file, which warnings about the whole name.
    twice : callable, optional
        Returns the error for a query and a document that is listed twice.
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
        """Return all rows as one frame."""
        schema = {"query_id": pl.String, "doc_id": pl.String, self.column: pl.Float64}
        parts = [part.cast({self.column: pl.Float64}) for part in self]
        return pl.concat(parts) if parts else pl.DataFrame(schema=schema)

    def nested(self) -> NamedDict:
        """Return all rows as nested dicts."""
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
"""What the engine takes: nested dicts, a table, or a run in a PySpark frame with the columns of a table."""


def file_of(rows: object) -> Path | None:
    """Return the file of qrels or of a run, if it is known."""
    return rows.name if isinstance(rows, (Table, NamedDict)) else None


def dataset_of(qrels: object) -> Any:
    """Return the data set that qrels are of; None if there is none."""
    return qrels.dataset if isinstance(qrels, NamedDict) else None


def location(query_id: object, doc_id: object) -> str:
    """Return where a row is, for an error message."""
    return f"query {short_repr(query_id)}, document {short_repr(doc_id)}"


# --- ids -------------------------------------------------------------------------------------------


def string_id(value: object, *, where: str = "") -> str:
    """Return an id as a string; anything but a string or an integer is an error."""
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return str(int(value))
    raise InputError(
        f"an id must be a string or an integer (found {short_repr(value)})",
        where=where,
        hint="Convert ids to strings before evaluating, so that nothing is rounded",
    )


def with_string_ids(
    mapping: Mapping[Any, Any], ids: str, *, query_id: str | None = None
) -> Mapping[str, Any]:
    """Return the mapping with ids that are strings; two that become one are an error, which names `ids`."""
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
    """Return ids as a series; one with half of a character, which no frame can hold, is missing in it."""
    try:
        return pl.Series(name, ids, dtype=pl.String)
    except UnicodeEncodeError:
        return pl.Series(name, [each if is_encodable(each) else None for each in ids], dtype=pl.String)


def is_encodable(value: str) -> bool:
    """Return whether this has no half of a Unicode character."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


# --- numbers ---------------------------------------------------------------------------------------


def check_number(value: Any, column: str, *, where: str) -> float | int:
    """Return a finite relevance, or a score that is not NaN; anything else is an error."""
    try:
        if math.isfinite(value) or (column == "score" and not math.isnan(value)):
            return value  # type: ignore[no-any-return]
    except (TypeError, ValueError, OverflowError):  # no number, or an integer beyond all floats
        pass
    raise not_a_number(value, column, where=where)


def not_a_number(value: object, column: str, *, where: str) -> InputError:
    """Return the error for a score or relevance that is no number."""
    problem = f"a {column} must be a number (found {short_repr(value)})"
    return InputError(problem, where=where, hint="Correct or remove this row")


def missing_value(column: str, *, where: str) -> InputError:
    """Return the error for a row that lacks an id or a number."""
    return InputError(f"missing value in column {column}", where=where, hint="Correct or remove this row")


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


def no_dict(query_id: str, docs: Any, column: str) -> InputError:
    """Return the error for a query whose documents are no dict; of a list it says how to write one."""
    what, hint = "results", "Of a ranked list write {doc: -rank for rank, doc in enumerate(documents, 1)}"
    if column == "relevance":
        what, hint = "judgments", "Of relevant documents write dict.fromkeys(documents, 1)"
    problem = f"the {what} of a query must be a dict {{doc_id: {column}}} (found {type(docs).__name__})"
    return InputError(
        problem,
        where=f"query {short_repr(query_id)}",
        hint=hint if isinstance(docs, list | tuple | set | frozenset) else "",
    )
