"""What one looks at query by query: texts, values, and the documents that the runs rank first."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.datasets.titles import titles_of
from permed_measures.engine.first_documents import first_documents
from permed_measures.engine.forms import is_spark_frame
from permed_measures.engine.groups import Groups
from permed_measures.engine.inputs import STDIN, SparkRun
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.errors import InputError, PermedError
from permed_measures.markup import one_line
from permed_measures.measures.headings import headings_of
from permed_measures.statistics.results import ComparisonResult
from permed_measures.statistics.significance import zero_rounding_noise

DEPTH = 10
"""Documents of each ranking that are shown."""


def query_details(result: ComparisonResult, depth: int = DEPTH) -> dict[str, Any]:
    """Return what JSON can hold of the queries of a comparison.

    Runs that can be read again are read for the ids of their unjudged documents; the others are known by
    their judged documents alone.

    Returns
    -------
    dict
        - ``ids``, ``texts``: of the queries, then of turns without judgments; a text may be None.
        - ``n``: how many of them are the queries of the comparison, in the order of ``paired.query_ids``.
        - ``turns``: for each query the places, in ``ids``, of the turns before it.
        - ``fields``: name to a label for each query.
        - ``runs``, ``measures``, ``baseline``: names, and the place of the first baseline (perhaps None).
        - ``values``: for each run, measure and query; ``digits``: how many decimals are shown.
        - ``depth``; ``rankings``: for each run and query places in ``documents``; -1 is an unjudged document
          that is not known.
        - ``deeper``: for each run and query the judged documents of other rankings that it has further down:
          [document, rank].
        - ``documents``: ``ids``, and ``texts`` (None where the data set has none here).
        - ``grades``: for each query its judged documents among these: [document, grade].
        - ``all_grades``: the grades of the qrels, descending, at most eight of them.
        - ``missed``: for each query its best-graded documents that are in none of the rankings:
          [document, grade, the best rank in any run or None]; and ``n_missed``, how many there are.
        - ``unread``: run to why it was not read again: ``once``, ``spark``, ``changed`` or ``failed``.
    """
    rankings = result.paired.rankings
    judgments = next(iter(rankings.values())).judgments
    documents = _Documents()
    unread: dict[str, str] = {}
    placed = []
    for run, ranked in rankings.items():
        read, reason = _read(result, run, depth)
        shown = None if read is None else _with_judged(ranked, read, depth)
        if shown is None:
            unread[one_line(run)] = reason or "changed"
            shown = _judged_only(ranked, depth)
        placed.append([documents.places(each) for each in shown])
    graded = _graded(judgments, rankings, documents, depth)
    texts = titles_of(result.qrels, documents.ids.keys())
    return {
        **_queries(result),
        "runs": list(map(one_line, rankings)),
        "measures": headings_of(result.measures),
        "baseline": list(rankings).index(result.baselines[0]) if result.baselines else None,
        "digits": 4 if result.digits is None else result.digits,
        "values": _rounded(np.array(list(result.paired.values.values()))),
        "depth": depth,
        "rankings": placed,
        "documents": {
            "ids": list(documents.ids),
            "texts": [texts.get(doc_id) for doc_id in documents.ids] if texts else None,
        },
        **graded,
        "all_grades": _whole(np.unique(judgments.grade)[::-1][:_FEW_GRADES]),
        "unread": unread,
    }


# --- documents ---------------------------------------------------------------------------------------


class _Documents:
    """Documents in the order in which they were first seen."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}

    def places(self, doc_ids: list[str | None]) -> list[int]:
        """Return the place of each; -1 for one that is not known."""
        ids = self.ids
        return [-1 if each is None else ids.setdefault(each, len(ids)) for each in doc_ids]


def _read(result: ComparisonResult, run: str, depth: int) -> tuple[list[list[str]] | None, str]:
    """Return the first documents of each query, or why they are not known."""
    path = result.origin.runs.get(run) if result.origin else None
    if run not in result.runs or (path is not None and (path in _PIPES or not path.is_file())):
        return None, "once"
    with warnings.catch_warnings():  # they were shown when the run was evaluated
        warnings.simplefilter("ignore")
        try:
            given = result.runs[run]
            if isinstance(given, Iterator):
                return None, "once"
            if isinstance(given, SparkRun) or is_spark_frame(given):
                return None, "spark"
            return first_documents(given, result.paired.query_ids, depth), ""
        except (PermedError, OSError):
            return None, "failed"


_PIPES = (STDIN, Path("-"))


def _judged_only(ranked: JudgedRankings, depth: int) -> list[list[str | None]]:
    """Return the first documents of each query, those that are judged with their ids."""
    shown: list[list[str | None]] = [[None] * min(depth, n) for n in ranked.retrieved.tolist()]
    near = ranked.within(depth)
    doc_ids = ranked.judgments.ids(near.row) if len(near.row) else []
    for query, rank, doc_id in zip(near.query.tolist(), near.rank.tolist(), doc_ids, strict=True):
        shown[query][rank - 1] = doc_id
    return shown


def _with_judged(ranked: JudgedRankings, read: list[list[str]], depth: int) -> list[list[str | None]] | None:
    """Return what was read, if its judged documents are where they were when the run was evaluated."""
    for known, found in zip(_judged_only(ranked, depth), read, strict=True):
        if len(known) != len(found) or any(
            a is not None and a != b for a, b in zip(known, found, strict=True)
        ):
            return None
    return [list(each) for each in read]


_LISTED = 10
"""Documents of a query that are listed besides the rankings: the best."""

_FEW_GRADES = 8
_Graded = list[list[list[Any]]]


def _graded(
    judgments: Judgments, rankings: Mapping[str, JudgedRankings], documents: _Documents, depth: int
) -> dict[str, Any]:
    """Return grades of what is shown, what runs have further down, and what all of them miss."""
    best = np.full(len(judgments.query), _NOWHERE)
    for ranked in rankings.values():
        np.minimum.at(best, ranked.row, ranked.rank)
    rows = np.flatnonzero(best <= depth)
    places = np.full(len(best), -1)
    places[rows] = documents.places(list(judgments.ids(rows)) if len(rows) else [])
    grades = _by_query(judgments, rows, [places[rows].tolist(), _whole(judgments.grade[rows])])
    deeper = []
    for ranked in rankings.values():
        here = ranked.keep((ranked.rank > depth) & (places[ranked.row] >= 0))
        deeper.append(_by_query(judgments, here.row, [places[here.row].tolist(), here.rank.tolist()]))
    return {"grades": grades, "deeper": deeper, **_missed(judgments, best, documents, depth)}


def _missed(
    judgments: Judgments, best: NDArray[np.int64], documents: _Documents, depth: int
) -> dict[str, Any]:
    """List the relevant documents that no run has within the depth; their number, and the best of them."""
    rows = np.flatnonzero((best > depth) & (judgments.grade > 0))  # by query, the best grades first
    numbers = np.bincount(judgments.query[rows], minlength=judgments.n_queries)
    position = np.arange(len(rows)) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    rows = rows[position < _LISTED]
    places = documents.places(list(judgments.ids(rows)) if len(rows) else [])
    ranks = [None if rank == _NOWHERE else rank for rank in best[rows].tolist()]
    missed = _by_query(judgments, rows, [places, _whole(judgments.grade[rows]), ranks])
    return {"missed": missed, "n_missed": numbers.tolist()}


def _by_query(judgments: Judgments, rows: NDArray[np.int64], columns: list[list[Any]]) -> _Graded:
    """Return for each query the cells of its rows."""
    found: _Graded = [[] for _ in judgments.query_ids]
    for query, *cells in zip(judgments.query[rows].tolist(), *columns, strict=True):
        found[query].append(cells)
    return found


def _whole(numbers: NDArray[np.float64]) -> list[float]:
    """Return Python numbers, whole ones as such."""
    return [int(number) if number == int(number) else number for number in numbers.tolist()]


_NOWHERE = np.iinfo(np.int32).max
"""The best rank of a document that no run has."""


# --- values ------------------------------------------------------------------------------------------


def _rounded(values: NDArray[np.float64]) -> list[Any]:
    """Round values of shape (n_runs, ...) to as few decimals as leave every win, tie and loss what it is.

    Values that differ by rounding noise only become equal.
    """
    order = np.argsort(values, axis=0)
    ranked = np.take_along_axis(values, order, axis=0)
    for number in range(1, len(ranked)):
        is_tie = zero_rounding_noise(ranked[number] - ranked[number - 1]) == 0
        ranked[number] = np.where(is_tie, ranked[number - 1], ranked[number])
    steps = np.diff(ranked, axis=0) > 0
    for decimals in (6, 8, 10, 12, 17):
        rounded = ranked.round(decimals)
        if ((np.diff(rounded, axis=0) > 0) == steps).all():
            break
    np.put_along_axis(ranked, order, rounded + 0.0, axis=0)
    listed: list[Any] = ranked.tolist()
    return listed


# --- queries -----------------------------------------------------------------------------------------


class _Turn(NamedTuple):
    """A query of a data set."""

    id: str
    text: str | None


def _queries(result: ComparisonResult) -> dict[str, Any]:
    """Return ids, texts, fields of the queries, and the turns before each."""
    query_ids = result.paired.query_ids
    asked = _of_dataset(result.qrels)
    by_id = {query.query_id: query for query in asked}
    seen = {_Turn(each, _text(by_id.get(each))): place for place, each in enumerate(query_ids)}
    before = _turns_before(asked)
    turns = [
        [seen.setdefault(turn, len(seen)) for turn in before.get(query_id, ())] for query_id in query_ids
    ]
    return {
        "n": len(query_ids),
        "ids": [turn.id for turn in seen],
        "texts": [turn.text for turn in seen] if asked else None,
        "turns": turns if any(turns) else None,
        "fields": _fields(result, [by_id.get(each) for each in query_ids]),
    }


def _of_dataset(qrels: Any) -> list[Any]:
    """Return the queries of a data set; none if it has none, or they cannot be read."""
    dataset = qrels.irds_ref() if hasattr(qrels, "irds_ref") else qrels
    try:
        return list(dataset.queries_iter()) if hasattr(dataset, "queries_iter") else []
    except (PermedError, OSError, RuntimeError):
        return []


def _text(query: Any) -> str | None:
    """Return the text of a query of ir_datasets, some of which have several fields of text."""
    if query is None:
        return None
    text = query.default_text() if hasattr(query, "default_text") else getattr(query, "text", "")
    return " ".join(str(text or "").split()) or None


_CONVERSATIONS = ("conversation_id", "topic_number")
"""What a query with a turn_number may call its conversation: ours, and TREC CAsT."""


def _turns_before(queries: list[Any]) -> dict[str, list[_Turn]]:
    """Return the turns before each query of a conversation; without ids if only their texts are known."""
    name = next((each for each in _CONVERSATIONS if queries and hasattr(queries[0], each)), "")
    if not name or not hasattr(queries[0], "turn_number"):
        return {}
    of_conversation: dict[Any, list[Any]] = {}
    for query in queries:
        of_conversation.setdefault(getattr(query, name), []).append(query)
    found = {}
    for turns in of_conversation.values():
        turns.sort(key=lambda query: int(query.turn_number))
        for query in turns:
            earlier = [each for each in turns if int(each.turn_number) < int(query.turn_number)]
            before = [_Turn(each.query_id, _text(each)) for each in earlier]
            told = [_Turn("", " ".join(text.split())) for text in getattr(query, "history", ())]
            found[query.query_id] = told if len(told) > len(before) else before
    return found


_LONGEST_LABEL = 40


def _fields(result: ComparisonResult, queries: list[Any]) -> dict[str, list[str]]:
    """Return what queries can be chosen by: groups, clusters and the short fields of the data set."""
    paired, fields = result.paired, {}
    if result.by and paired.group is not None:
        labels = [*map(str, result.groups), ""]  # the last is -1: in no group
        fields[result.by] = [labels[group] for group in paired.group.tolist()]
    names = queries[0]._fields if queries and hasattr(queries[0], "_fields") else ()
    for name in names:
        values = [getattr(query, name, None) for query in queries]
        labels = ["" if value is None else str(value) for value in values]
        short = all(isinstance(value, (str, int, type(None))) for value in values)
        if name not in _NO_LABELS and short and max(map(len, labels)) <= _LONGEST_LABEL:
            fields.setdefault(name, labels)
    if paired.clusters and paired.clusters not in fields:
        try:
            groups = Groups.of(paired.query_ids, paired.clusters, result.qrels)
        except InputError:  # a mapping or a function, which is not known by its name
            pass
        else:
            labels = [*map(str, groups.values), ""]
            fields[paired.clusters] = [labels[group] for group in groups.group.tolist()]
    return {name: labels for name, labels in fields.items() if 1 < len(set(labels)) < len(labels)}


_NO_LABELS = ("query_id", "text", "history")
