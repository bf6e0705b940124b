"""Read judgments and runs from files of any known format, as dicts or tables; clean runs on request."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from permed_measures.engine.tables import (
    NamedDict,
    Nested,
    Table,
    check_number,
    first_duplicate,
    location,
    stringify_keys,
)
from permed_measures.errors import InputError, check_choice, short_repr, warn
from permed_measures.frames import pl
from permed_measures.inputs.formats import NO_RANK, NOT_A_RANK, Kind, medcorpus
from permed_measures.inputs.rank_check import contradicted, note_of, scores_by_order
from permed_measures.inputs.recognition import recognised
from permed_measures.inputs.scan import (
    as_one,
    parquet_header,
    parquet_rows,
    parquet_run,
    rank_in_parquet,
    read_parquet_qrels,
    text_frames,
    text_run,
    twice_in_parquet,
)
from permed_measures.inputs.sources import Source
from permed_measures.inputs.text_reader import TextFile, table_of
from permed_measures.measures.descriptions import ORDERS

QrelsDict = dict[str, dict[str, float | int]]
RunDict = dict[str, dict[str, float]]


DUPLICATES = ("refuse", "first", "best")


class RunOptions(NamedTuple):
    """Changes to a run during reading.

    Attributes
    ----------
    duplicates : {'refuse', 'first', 'best'}
        If a document is listed twice for a query, raise an error, keep the first row, or keep the best one.
    max_passage : str
        The text between document id and passage in passage ids, such as ``#`` (Pyserini's
        ``--max-passage-delimiter``); the best passage of each document is kept. Empty: ids do not change.
    ignore_self : bool
        Leave out a document whose id equals the query id, as BEIR does for ArguAna and Quora.
    subset : str
        The subset to read from an MTEB file with several, such as ``en`` or ``en/test``.
    """

    duplicates: str = "refuse"
    max_passage: str = ""
    ignore_self: bool = False
    subset: str = ""

    def __bool__(self) -> bool:
        """Whether any option changes the run; `subset` only selects a part of the file."""
        return self._replace(subset="") != RunOptions()


def from_relevance_lists(lists: Mapping[str, Sequence[float | int | None]]) -> tuple[QrelsDict, RunDict]:
    """Build qrels and a run from rankings of which only the grades are known.

    Parameters
    ----------
    lists : mapping of str to sequence of number or None
        For each query the grades of the retrieved documents, in ranked order; None for an unjudged document.
        Relevant documents that were not retrieved are unknown: measures that divide by the number of relevant
        documents (recall, AP) are computed as if there were none.

    Returns
    -------
    qrels : dict
        ``{query_id: {doc_id: relevance}}``; the documents of each list are ``d1``, ``d2``, …
    run : dict
        ``{query_id: {doc_id: score}}``; the scores are -1, -2, …

    Raises
    ------
    InputError
        For lists without query ids, ids that are equal as strings, or a grade that is not a finite number.

    Examples
    --------
    >>> from_relevance_lists({"q1": [1, 0, None]})
    ({'q1': {'d1': 1, 'd2': 0}}, {'q1': {'d1': -1.0, 'd2': -2.0, 'd3': -3.0}})
    """
    hint = "Give each list a query id: {'q1': [1, 0, 1]}"
    if not isinstance(lists, Mapping):
        raise InputError(
            f"lists must be a dict {{query_id: grades}} (found {type(lists).__name__})", hint=hint
        )
    qrels: QrelsDict = {}
    run: RunDict = {}
    for query_id, grades in stringify_keys(lists, "query ids").items():
        if not isinstance(grades, Iterable):
            problem = f"the grades of a query must be a list (found {short_repr(grades)})"
            raise InputError(problem, where=f"query {short_repr(query_id)}", hint=hint)
        named = {f"d{position}": grade for position, grade in enumerate(grades, start=1)}
        qrels[query_id] = {
            doc_id: check_number(grade, "relevance", where=location(query_id, doc_id))
            for doc_id, grade in named.items()
            if grade is not None
        }
        run[query_id] = scores_by_order(named)
    return qrels, run


_LARGE_FILE = 1 << 22
"""Minimum size in bytes of a file that is read as frames; smaller ones do not justify importing polars."""


def kind_of(source: Source, subset: str = "") -> Kind | None:
    """Determine the kind of a file; None if it can be read as both."""
    if source.is_parquet:
        kinds = {form.kind for form in parquet_header(source).formats()}
    else:
        file = recognised(source, subset=subset)
        kinds = set(file.kinds)
        if not file.format.in_order and _first_fraction(row[2] for row in file.rows()):
            return "run"
    return kinds.pop() if len(kinds) == 1 else None


def _first_fraction(values: Iterable[float | None]) -> float | None:
    """Find the first number that is not an integer: a grade in JSON is one, a score may not be."""
    return next((value for value in values if value is not None and not float(value).is_integer()), None)


def read_file(
    path: str | os.PathLike[str] | Source,
    kind: Kind,
    *,
    order: str = "score",
    labels: Nested | Table | None = None,
    cleaning: RunOptions = RunOptions(),  # noqa: B008 - it cannot be changed
    says_labels: bool = True,
) -> NamedDict | Table:
    """Read a file as qrels or a run; warnings describe assumptions about the file.

    `labels` is the same file already read as qrels: if the order of its labels is the run, the file is not
    read a second time. A warning says that the order is used, unless `says_labels` is False.

    Large TREC, CSV and TSV runs and runs in Parquet are read during evaluation.
    """
    check_choice("order", order, ORDERS)
    source = path if isinstance(path, Source) else Source(Path(path))
    if kind == "qrels":
        return _load_qrels(source)
    by_list = order == "list"
    if source.is_parquet:
        return _read_cleaned(source, None, cleaning, by_list) if cleaning or by_list else parquet_run(source)
    file = recognised(source, "run", by_list, cleaning.subset)
    if cleaning or (by_list and file.format.kind == "run" and not file.format.lists):
        run = _read_cleaned(source, file, cleaning, by_list or file.format.kind == "qrels")
        return _warn_of_notes(run, file.notes, source)
    if file.format.kind == "qrels":
        return _load_labels(file, labels, says_labels)
    return _load_run(file, by_list)


def _warn_of_notes(run: Table | dict[str, Any], notes: Iterable[str], source: Source) -> NamedDict | Table:
    """Issue the notes on a file as warnings; return its content with the file's name."""
    for note in notes:
        warn(note, path=source.path)
    return run if isinstance(run, Table) else NamedDict(run, source.path)


class Turn(NamedTuple):
    """A query in MedCorpus labels: a turn of a conversation."""

    query_id: str
    conversation_id: str
    turn_number: int


class Turns:
    """The queries of a MedCorpus file, known only by their ids; `Groups` uses them like a data set."""

    def __init__(self, query_ids: Iterable[str]) -> None:
        self.query_ids = list(query_ids)

    def queries_cls(self) -> type[Turn]:
        """Return the type of the queries, as data sets of ir_datasets do."""
        return Turn

    def queries_complete(self) -> Iterator[Turn]:
        """Yield the queries; each id consists of the conversation's id and the turn's number."""
        for query_id in self.query_ids:
            conversation_id, _, number = query_id.rpartition("_")
            yield Turn(query_id, conversation_id, int(number))


def _load_qrels(source: Source) -> NamedDict | Table:
    if source.is_parquet:
        return Table([read_parquet_qrels(source)], "relevance", source.path)
    file = recognised(source, "qrels")
    table, _ = file.table()
    # Without this check, a run in JSON could be read as qrels by mistake.
    values = (value for documents in table.values() for value in documents.values())
    if not file.format.in_order and (value := _first_fraction(values)) is not None:
        raise InputError(
            "expected qrels, but this file seems to hold a run: grades in JSON are integers "
            f"(found {short_repr(value)})",
            where=str(source.path),
            hint="The qrels come first, then the runs; qrels with such grades can be TREC, CSV or Parquet",
        )
    qrels = NamedDict(table, source.path)
    for note in file.notes:
        warn(note, path=source.path)
    if file.format.parse is medcorpus and all(re.search("_[0-9]+$", query_id) for query_id in table):
        qrels.dataset = Turns(table)
    return qrels


def _load_labels(file: TextFile, labels: Nested | Table | None, says_labels: bool) -> NamedDict | Table:
    """Read the order of labels as a run."""
    table = labels if isinstance(labels, Mapping) else file.table()[0]
    run = {query_id: scores_by_order(documents) for query_id, documents in table.items()}
    lines = "lists" if file.format.lists else "lines"
    note = f"{file.source.path} holds {file.format.name}: the order of its {lines} is taken as the run"
    return _warn_of_notes(run, [note] if says_labels else [], file.source)


def _load_run(file: TextFile, by_list: bool) -> NamedDict | Table:
    is_list = file.format.lists
    if not is_list and file.source.size > _LARGE_FILE:
        return _warn_of_notes(text_run(file), file.notes, file.source)
    table, ranks = file.table()
    scored = _score_by_order(table, ranks, file.source, by_list)
    note = ""
    if file.format.in_order:
        contradictions = contradicted(scored, None if is_list else ranks)
        note = note_of(file.source.path, contradictions, len(table), "list" if is_list else "rank column")
    return _warn_of_notes(table, filter(None, [*file.notes, note]), file.source)


def _score_by_order(table: RunDict, ranks: Mapping[str, list[float]], source: Source, force: bool) -> RunDict:
    """Score lists without scores by their order, in place; return the queries that have scores.

    With `force`, all queries are scored by their order.
    """
    scored = {}
    for query_id, documents in table.items():
        scores = documents.values()
        if None not in scores and not force:
            scored[query_id] = documents
            continue
        without = [doc_id for doc_id, score in documents.items() if score is None]
        if 0 < len(without) < len(documents):
            raise InputError(
                "no score, though other documents of this query have one",
                where=f"{source.path}: {location(query_id, without[0])}",
                hint="Add the missing score, or leave out all scores",
            )
        table[query_id] = scores_by_order(documents, ranks.get(query_id, ()))
    return scored


# --- duplicates, passages, and the query itself among the documents -------------------------------------


def _read_cleaned(source: Source, file: TextFile | None, options: RunOptions, by_list: bool) -> NamedDict:
    """Read a run (in Parquet without `file`) and clean it; keep the order of the rows."""
    check_choice("duplicates", options.duplicates, DUPLICATES)
    if not isinstance(options.max_passage, str):
        problem = f"max_passage must be a text, such as '#' (found {short_repr(options.max_passage)})"
        raise InputError(problem)
    frames = parquet_rows(source) if file is None else text_frames(file)
    twice = partial(twice_in_parquet, source) if file is None else file.duplicate_error
    rows = as_one(frames, "score")
    query_ids = rows["query_id"].unique(maintain_order=True).to_list()
    if by_list and len(wrong := (rows["rank"] == NOT_A_RANK).arg_true()):
        line, text = rank_in_parquet(source, wrong[0]) if file is None else file.place_of_row(wrong[0])
        raise _rank_error(f"{line}: {location(*rows.row(wrong[0])[:2])}", text)
    rows = rows.drop_nulls("doc_id")  # the rows of empty lists
    if options.duplicates == "refuse" and (duplicate := first_duplicate(rows)) is not None:
        raise twice(*duplicate)
    rows = _one_row_each(rows, options.duplicates == "best", by_list)
    if options.max_passage:
        document = pl.col("doc_id").str.splitn(options.max_passage, 2).struct.field("field_0")
        rows = _one_row_each(rows.with_columns(doc_id=document), True, by_list)
    if options.ignore_self:
        rows = rows.filter(pl.col("doc_id") != pl.col("query_id"))
    listed, ranks = table_of(enumerate(rows.iter_rows()), twice)
    table = {query_id: listed.get(query_id, {}) for query_id in query_ids}
    _score_by_order(table, ranks, source, by_list)
    return NamedDict(table, source.path)


def _rank_error(where: str, text: str) -> InputError:
    """Build the error for an invalid rank in a run that is ranked by its ranks."""
    return InputError(
        f"a rank must be a number from 0 or 1{text}",
        where=where,
        hint="Correct it, or write -1: where a document of a query has no rank, --order list takes the order "
        "of its lines",
    )


def _one_row_each(rows: pl.DataFrame, best: bool, by_list: bool) -> pl.DataFrame:
    """Keep one row for each document of a query, the first or the `best`, at the position of the first.

    The best row has the highest score. If the run is ranked by its list, or has no scores, it is the row of
    the lowest rank; if the first row has no rank, it is the first.
    """
    pair = ["query_id", "doc_id"]
    if not best:
        return rows.unique(pair, keep="first", maintain_order=True)
    score = pl.when(not by_list).then("score")
    has_rank = (pl.col("rank") > NO_RANK) & (pl.col("rank").first().over(pair) > NO_RANK)
    rank = pl.when(score.is_null() & has_rank).then("rank")
    indexed = rows.with_row_index("index").with_columns(pl.col("index").min().over(pair))
    ordered = indexed.sort(-score, rank, nulls_last=True, maintain_order=True)
    return ordered.unique(pair, keep="first", maintain_order=True).sort("index").drop("index")
