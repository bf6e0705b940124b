"""Any form of qrels or of a run as one of two: a mapping of mappings, or frames."""

from __future__ import annotations

import math
import os
import struct
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from itertools import chain
from typing import Any

from permed_measures.engine.inputs import (
    OTHER,
    QRELS_FIRST,
    Batches,
    Nested,
    QrelsLike,
    RunLike,
    location,
    number,
    string_id,
)
from permed_measures.engine.tables import batches_of, checked_frame, columns_of
from permed_measures.errors import InputError, shown, unloadable
from permed_measures.frames import pl

_FORMS = (
    "a dict {query_id: {doc_id: number}}, an iterable of ir_measures namedtuples, "
    "a pandas, polars, pyarrow or PySpark frame, a DuckDB relation, a ranx.Run or Qrels"
)

openers: dict[str, Callable[[Any], Any]] = {}
"""What reads qrels (``relevance``) or a run (``score``) by path or id: the package above sets it."""


def opened(data: QrelsLike | RunLike, column: str) -> Any:
    """Return what a path or an id stands for; data in another form as they are."""
    named = isinstance(data, (str, os.PathLike)) and column in openers
    return openers[column](data) if named else data


def as_mapping_or_batches(data: QrelsLike | RunLike, column: str) -> Nested | Batches:
    """Return qrels or a run of any form as one of two: a mapping of mappings, or frames one after the other.

    Parameters
    ----------
    data : QrelsLike or RunLike
    column : {'relevance', 'score'}
        The column of numbers: that of qrels, or that of a run.

    Returns
    -------
    Mapping or Batches
        A mapping is returned as it is. Frames have the columns query_id and doc_id (strings) and `column`
        (Float64); documents may be listed twice in them. What is read in batches need not be in memory as a
        whole; errors in its rows are raised when they are read.

    Raises
    ------
    InputError
        For another form, a missing column, a float id, a missing value.
    """
    if not isinstance(data, Mapping):
        data = opened(data, column)
    if isinstance(data, Mapping):
        return data
    if is_spark_frame(data):  # first: those of Connect have any attribute
        return Batches([_of_spark(data, column)])
    _check_not_swapped(data, column)
    if isinstance(data, Batches):
        return data
    if "ranx" in sys.modules and type(data).__module__.startswith("ranx."):
        return data.to_dict()  # type: ignore[no-any-return]
    if column == "relevance" and (dataset := dataset_of(data)) is not None:
        return _of_dataset(dataset)
    if (batches := batches_of(data, column)) is not None:
        return batches
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        return _of_items(data, column)
    hint = _READ if isinstance(data, (str, bytes)) else ""
    raise InputError(f"expected {_FORMS} (found {type(data).__name__} {shown(data)})", hint=hint)


def as_mapping(data: QrelsLike | RunLike, column: str) -> Nested:
    """Return any accepted form as a mapping of mappings, in the order of its rows."""
    table = as_mapping_or_batches(data, column)
    return table if isinstance(table, Mapping) else table.nested()


_READ = "Read a file with permed_measures.read_qrels or read_run"


def is_spark_frame(data: object) -> bool:
    """Return whether this is a frame of PySpark, classic or Connect."""
    return "pyspark.sql" in sys.modules and isinstance(data, sys.modules["pyspark.sql"].DataFrame)


def dataset_of(data: Any) -> Any:
    """Return the data set of ir_datasets with qrels that this is or holds; None for all else."""
    if is_spark_frame(data):  # those of Connect have any attribute
        return None
    dataset = irds_of(data)
    return dataset if hasattr(dataset, "qrels_iter") else None


def irds_of(data: Any) -> Any:
    """Return the data set of ir_datasets that one of PyTerrier's holds; all else as it is."""
    return data.irds_ref() if hasattr(data, "irds_ref") else data


def _of_spark(data: Any, column: str) -> pl.DataFrame:
    """Return the qrels of a PySpark frame; a run of this form is too large for what needs all of its rows."""
    if column == "score":
        raise InputError(
            "this function needs all rows of the run in memory (found a PySpark frame)",
            hint="Give it frame.toArrow() if that fits",
        )
    columns = columns_of(data.columns, column).values()
    return checked_frame(pl.DataFrame(data.select(*columns).toArrow()), column)


def _check_not_swapped(data: Any, column: str) -> None:
    """Raise an error for what can only be a run where qrels are expected, or the other way round."""
    is_ranx = type(data).__module__.startswith("ranx.")
    kind = type(data).__name__ if is_ranx else ""
    is_run = isinstance(data, Batches) or kind == "Run"
    is_qrels = kind == "Qrels" or dataset_of(data) is not None
    if column == "relevance" and is_run:
        raise InputError("expected qrels (found a run)", hint=QRELS_FIRST)
    if column == "score" and is_qrels:
        raise InputError("expected a run (found qrels)", hint=QRELS_FIRST)


def _of_dataset(dataset: Any) -> Nested:
    try:
        nested = getattr(dataset, "qrels_nested", None)
        return nested() if nested else _records(dataset.qrels_iter(), "relevance")
    except (RuntimeError, OSError) as error:  # a download failed
        name = dataset.dataset_id() if hasattr(dataset, "dataset_id") else "a data set"
        raise unloadable(name, error) from error


def _of_items(data: Iterable[Any], column: str) -> Nested | Batches:
    """Return namedtuples as a mapping, and frames one after the other."""
    items = iter(data)
    first = next(items, None)
    if not hasattr(first, "columns"):
        return _records(items if first is None else chain([first], items), column)
    frames = [first, *items] if items is data else data  # an iterator cannot be gone through again
    return Batches(lambda: chain.from_iterable(_batches_of(frame, column) for frame in frames))


def _batches_of(frame: Any, column: str) -> Batches:
    if (batches := batches_of(frame, column)) is None:
        found = f"found {type(frame).__name__} {shown(frame)}"
        raise InputError(f"expected a frame like the one before ({found})")
    return batches


def _records(data: Iterable[Any], column: str) -> Nested:
    """Collect namedtuples (ir_measures.Qrel, ScoredDoc or any with these fields) into a mapping."""
    nested: dict[str, dict[str, Any]] = {}
    for record in data:
        try:
            query_id, doc_id, value = record.query_id, record.doc_id, getattr(record, column)
        except AttributeError:
            raise _no_record(record, column) from None
        where = location(query_id, doc_id)
        documents = nested.setdefault(string_id(query_id, where=where), {})
        doc_id = string_id(doc_id, where=where)
        if doc_id in documents:
            problem = f"the document is listed twice, with {shown(documents[doc_id])} and {shown(value)}"
            raise InputError(problem, where=where, hint="Remove one of the two rows")
        documents[doc_id] = value
    return nested


def _no_record(record: object, column: str) -> InputError:
    hint = QRELS_FIRST if hasattr(record, OTHER[column]) else ""
    if isinstance(record, str):  # ir_measures goes through the letters of a path
        hint = _READ
    if type(record).__module__.partition(".")[0] in ("polars", "pyarrow"):
        # ir_measures turns a frame it does not know into an iterator of its columns before we see it.
        hint = (
            "The functions of ir_measures itself take no polars or pyarrow frame: "
            "call permed_measures.calc_aggregate, or convert the frame to pandas"
        )
    return InputError(
        f"expected {_FORMS}; an item needs query_id, doc_id and {column} "
        f"(found {type(record).__name__} {' '.join(str(record).split()):.80})",
        hint=hint,
    )


def with_string_ids(
    mapping: Mapping[Any, Any], ids: str, *, query_id: str | None = None
) -> Mapping[str, Any]:
    """Return the mapping with ids that are strings; two that become one are an error, which names `ids`."""
    if set(map(type, mapping)) <= {str}:
        return mapping
    where = "" if query_id is None else f"query {shown(query_id)}"
    named = {}
    for key, value in mapping.items():
        name = string_id(key, where=where if query_id is None else location(query_id, key))
        if name in named:
            problem = f"two {ids} are the same as strings (found {shown(name)})"
            raise InputError(problem, where=where, hint="Use strings as ids")
        named[name] = value
    return named


def check_numbers(query_id: str, docs: Mapping[str, Any], column: str) -> None:
    """Raise InputError for the first document of a query whose relevance or score is no number."""
    for doc_id, value in docs.items():
        number(value, column, where=location(query_id, doc_id))


def doubles(values: Collection[Any]) -> bytes:
    """Return numbers as the bytes of doubles, or those of a NaN if one is none.

    The text of a number is no number to struct, as it is to numpy; and both are as fast.
    """
    try:
        return _pack(len(values))(*values)
    except (struct.error, TypeError, ValueError, OverflowError):
        return struct.pack("d", math.nan)


@cache
def _pack(n: int) -> Callable[..., bytes]:
    """Return what packs so many doubles: most queries have as many documents as others."""
    return struct.Struct(f"{n}d").pack
