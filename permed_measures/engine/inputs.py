"""What qrels and runs are made of: the names of their columns, ids, numbers."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from permed_measures.errors import InputError, shown

STDIN = Path("/dev/stdin")
"""What the path ``-`` stands for, on any system."""

Nested = Mapping[str, Mapping[str, float]]
"""``{query_id: {doc_id: number}}``."""

QrelsLike = Nested | Iterable[Any] | str | os.PathLike[str] | Any
"""Qrels: ``{query_id: {doc_id: relevance}}``, namedtuples such as ``ir_measures.Qrel``, a frame of
pandas, polars, pyarrow or PySpark, a relation of DuckDB, a ``ranx.Qrels``, or a data set of ir_datasets or
PyTerrier. Functions of the package read the path of a file, and the id of a data set of ir_datasets.

A frame has the columns query_id, doc_id and relevance, or PyTerrier's names of these; an iterable is
consumed. What libraries call their frames and data sets has no type in common.
"""

RunLike = Nested | Iterable[Any] | str | os.PathLike[str] | Any
"""A run: ``{query_id: {doc_id: score}}``, namedtuples such as ``ir_measures.ScoredDoc``, a frame of
pandas, polars, pyarrow or PySpark, or a ``ranx.Run``. Functions of the package read the path of a file. A
large file, a ``polars.LazyFrame``, a relation of DuckDB and an iterable of frames are read in parts.

A frame has the columns query_id, doc_id and score, or PyTerrier's names of these, its rows in any order; an
iterable is consumed.
"""

openers: dict[str, Callable[[Any], Any]] = {}
"""What reads qrels (``relevance``) or a run (``score``) by path or id: the package above sets it."""

COLUMNS = {
    "query_id": ("query_id", "qid", "q_id"),
    "doc_id": ("doc_id", "docno"),
    "score": ("score",),
    "relevance": ("relevance", "label"),
}
"""The names a column may have: ir_measures' own first, then PyTerrier's and ranx's."""

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
