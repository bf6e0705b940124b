"""What one looks at query by query: texts, values, and the documents that the runs rank first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import nlargest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permed_measures.comparison.overlap import depth_looked_at, rank_biased_overlap
from permed_measures.comparison.results import Comparison
from permed_measures.comparison.tables import why_no_differences
from permed_measures.engine.groups import Groups
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.tables import Table, text_series, with_string_ids
from permed_measures.errors import InputError, warnings_about
from permed_measures.escaping import one_line, shortened
from permed_measures.frames import pl
from permed_measures.inputs.columns import RunLike
from permed_measures.inputs.conversion import in_memory, is_spark_frame
from permed_measures.inputs.door import read
from permed_measures.provenance import STDIN

MAX_SHOWN_DOCUMENTS = 10
"""Documents of each ranking that are shown, and documents of each query that are listed as missed."""
DECIMALS = 12
"""Of the values of queries: differences up to 1e-12 are ties."""
_LENGTH = 200
"""Characters of a text that are kept."""

Documents = dict[str, int]
"""The place of each document, in the order in which they were first seen."""


Ranked = list[list[Any]]
"""The documents of each query in ranked order; None is one that is not known."""
_DIGITS_OF_OVERLAP = 6


def query_details(result: Comparison, depth: int = MAX_SHOWN_DOCUMENTS) -> dict[str, Any]:
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
        - ``runs``, ``measures``, ``baseline``: names, and the place of the baseline (or of the first run).
        - ``values``: for each run, measure and query; ``digits``: how many decimals are shown.
        - ``depth``; ``rankings``: for each run and query places in ``documents``; -1 is an unjudged document
          that is not known.
        - ``documents``: ``ids``, and ``texts`` (None where the data set has none here).
        - ``judged``: for each query [document, grade, rank in each run or None] of what is judged and shown:
          within the depth of a run, or relevant and among the ten best that no run has there.
        - ``missed``: for each query the number of the latter that are not shown.
        - ``grades``: those of the qrels, descending, at most eight of them.
        - ``unread``: for each run why its unjudged documents are not known; empty if they are.
        - ``persistence``; ``overlaps``: for each pair that is compared and known the places of both runs in
          ``runs``, the mean of their rank-biased overlap, and that of each query (None where both are empty).
    """
    rankings, documents = result.paired.rankings, Documents()
    pairs = _pairs_to_overlap(result)
    placed, unread, whole = [], [], {}
    for run in rankings:
        ranked, reason = _shown_rankings(
            result, run, max(depth, depth_looked_at(result.persistence) * bool(pairs))
        )
        unread.append(f"{one_line(run)} {reason}: of its documents the judged ones are known." * bool(reason))
        placed.append([_places(each[:depth], documents) for each in ranked])
        if pairs and not reason:
            whole[run] = ranked
    judgments = next(iter(rankings.values())).judgments
    judged, missed = _judged(judgments, rankings, documents, depth)
    texts = titles_of(result.dataset, documents.keys())
    return {
        **_queries(result),
        "runs": list(map(one_line, rankings)),
        "measures": [*result.headings.values()],
        "baseline": list(rankings).index(result.baseline) if result.baseline else 0,
        "digits": 4 if result.digits is None or result.in_percent else result.digits,
        "values": np.array(list(result.paired.values.values())).round(DECIMALS).tolist(),
        "depth": depth,
        "rankings": placed,
        "documents": {
            "ids": list(map(one_line, documents)),
            "texts": [texts.get(doc_id) for doc_id in documents] if texts else None,
        },
        "judged": judged,
        "missed": missed,
        "grades": _whole(np.unique(judgments.grade)[::-1][:8]),
        "unread": unread,
        "persistence": result.persistence,
        "overlaps": [
            _overlaps(places, whole[run], whole[baseline], result.persistence)
            for (run, baseline), places in pairs.items()
            if run in whole and baseline in whole
        ],
    }


def _pairs_to_overlap(result: Comparison) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the pairs of which a page has the overlap, with their places; of too many pairs none."""
    if why_no_differences(replace(result, all_pairs=False)):
        return {}
    place = {run: n for n, run in enumerate(result.paired.rankings)}
    return {pair: (place[pair[0]], place[pair[1]]) for pair in result.paired.pairs}


def _overlaps(places: tuple[int, int], first: Ranked, second: Ranked, p: float) -> list[Any]:
    """Return the places of two runs, the mean of their overlap and that of each query."""
    found = [rank_biased_overlap(*both, p) for both in zip(first, second, strict=True)]
    known = [each for each in found if each is not None]
    mean = sum(known) / len(known) if known else None
    return [*places, mean, [None if each is None else round(each, _DIGITS_OF_OVERLAP) for each in found]]


# --- queries -----------------------------------------------------------------------------------------


def _queries(result: Comparison) -> dict[str, Any]:
    """Return ids, texts, fields of the queries, and the turns before each."""
    query_ids, asked = result.paired.query_ids, _of_dataset(result.dataset)
    by_id = {query.query_id: query for query in asked}
    seen = {(each, _text(by_id.get(each))): place for place, each in enumerate(query_ids)}
    before = _turns_before(asked)
    turns = [
        [seen.setdefault(turn, len(seen)) for turn in before.get(query_id, ())] for query_id in query_ids
    ]
    return {
        "n": len(query_ids),
        "ids": [one_line(query_id) for query_id, _ in seen],
        "texts": [text for _, text in seen] if asked else None,
        "turns": turns if any(turns) else None,
        "fields": _fields(result, [by_id.get(each) for each in query_ids]),
    }


def _of_dataset(dataset: Any) -> list[Any]:
    """Return the queries of a data set; none if it has none, or they cannot be read."""
    try:
        return list(dataset.queries_iter()) if hasattr(dataset, "queries_iter") else []
    except Exception:  # of any data set of ir_datasets: the page is worth having without
        return []


def texts_of(dataset: Any, query_ids: Collection[str]) -> dict[str, str | None]:
    """Return the texts of these queries, of a data set that has them."""
    wanted = {*query_ids}
    return {each.query_id: _text(each) for each in _of_dataset(dataset) if each.query_id in wanted}


def _text(query: Any) -> str | None:
    """Return the text of a query of ir_datasets, some of which have several fields of text."""
    if query is None:
        return None
    text = query.default_text() if hasattr(query, "default_text") else getattr(query, "text", "")
    return " ".join(str(text or "").split()) or None


def _turns_before(queries: list[Any]) -> dict[str, list[tuple[str, str | None]]]:
    """Return id and text of the turns before each query; without ids if only their texts are known."""
    name = next((each for each in _CONVERSATIONS if queries and hasattr(queries[0], each)), "")
    if not name or not hasattr(queries[0], "turn_number"):
        return {}
    of_conversation: dict[Any, list[Any]] = {}
    for query in sorted(queries, key=lambda query: int(query.turn_number)):
        of_conversation.setdefault(getattr(query, name), []).append(query)
    found: dict[str, list[tuple[str, str | None]]] = {}
    for query in queries:
        turns = of_conversation[getattr(query, name)]
        before = [turn for turn in turns if int(turn.turn_number) < int(query.turn_number)]
        found[query.query_id] = [(turn.query_id, _text(turn)) for turn in before]
        texts = [" ".join(text.split()) for text in getattr(query, "history", ())]
        if len(texts) > len(before):
            found[query.query_id] = [("", text) for text in texts]
    return found


_CONVERSATIONS = ("conversation_id", "topic_number")
"""What a query with a turn_number may call its conversation: ours, and TREC CAsT."""


def _fields(result: Comparison, queries: list[Any]) -> dict[str, list[str]]:
    """Return what queries can be chosen by: groups, clusters and the short fields of the data set."""
    paired, fields = result.paired, {}
    if paired.group is not None:
        labels = [*map(str, result.groups), ""]  # the last is -1: in no group
        fields[result.by] = [labels[group] for group in paired.group.tolist()]
    names = queries[0]._fields if queries and hasattr(queries[0], "_fields") else ()
    for name in (name for name in names if name not in ("query_id", "text", "history")):
        values = [getattr(query, name, None) for query in queries]
        labels = ["" if value is None else str(value) for value in values]
        short = all(isinstance(value, (str, int, type(None))) for value in values)
        if short and max(map(len, labels)) <= _LONGEST_LABEL:
            fields.setdefault(name, labels)
    if paired.clusters and paired.clusters not in fields:
        try:
            groups = Groups.of(paired.query_ids, paired.clusters, result.dataset)
        except InputError:  # a mapping or a function, which is not known by its name
            pass
        else:
            labels = [*map(str, groups.values), ""]
            fields[paired.clusters] = [labels[group] for group in groups.group.tolist()]
    return {name: labels for name, labels in fields.items() if 1 < len(set(labels)) < len(labels)}


_LONGEST_LABEL = 40


# --- documents ---------------------------------------------------------------------------------------


def _places(doc_ids: list[str | None], documents: Documents) -> list[int]:
    """Return the place of each document; -1 for one that is not known."""
    return [-1 if each is None else documents.setdefault(each, len(documents)) for each in doc_ids]


def _shown_rankings(result: Comparison, run: str, depth: int) -> tuple[list[list[str | None]], str]:
    """Return the first documents of each query, and why those that are not judged are not known, if so."""
    judged = _judged_only(result.paired.rankings[run], depth)
    read, reason = _read(result, run, depth)
    if read is None:
        return judged, reason
    for known, found in zip(judged, read, strict=True):
        pairs = zip(known, found, strict=False)
        if len(known) != len(found) or any(a not in (None, b) for a, b in pairs):
            return judged, "has changed since it was evaluated"
    return [list(each) for each in read], ""


def _read(result: Comparison, run: str, depth: int) -> tuple[list[list[str]] | None, str]:
    """Return the first documents of each query, or why they are not known."""
    path = result.origin.runs.get(run) if result.origin else None
    is_pipe = path is not None and (path in _PIPES or (path.exists() and not path.is_file()))
    if is_pipe:
        return None, _ONCE
    with warnings_about(None):  # they were shown when the run was evaluated
        try:
            given = result.runs[run]  # a file is read only now
            if isinstance(given, Iterator):
                return None, _ONCE
            if is_spark_frame(given):
                return None, "is a Spark frame, which is not read again"
            return first_documents(given, result.paired.query_ids, depth), ""
        except Exception:  # of any library that reads it: the page is worth having without
            return None, "could not be read again"


_ONCE = "was read from a pipe or an iterator, which is possible only once"
_PIPES = (STDIN, Path("-"))


def _judged_only(ranked: JudgedRankings, depth: int) -> list[list[str | None]]:
    """Return the first documents of each query, those that are judged with their ids."""
    shown: list[list[str | None]] = [[None] * min(depth, n) for n in ranked.retrieved.tolist()]
    near = ranked.within(depth)
    doc_ids = ranked.judgments.ids(near.row) if len(near.row) else []
    for query, rank, doc_id in zip(near.query.tolist(), near.rank.tolist(), doc_ids, strict=True):
        shown[query][rank - 1] = doc_id
    return shown


def _judged(
    judgments: Judgments, rankings: Mapping[str, JudgedRankings], documents: Documents, depth: int
) -> tuple[list[list[list[Any]]], list[int]]:
    """Return grade and ranks of the judged documents that are shown, and how many missed ones are not."""
    ranks = np.full((len(rankings), len(judgments.query)), _NOWHERE)
    for run, ranked in enumerate(rankings.values()):
        ranks[run, ranked.row] = ranked.rank
    near: NDArray[np.bool_] = np.any(ranks <= depth, axis=0)
    missed = np.flatnonzero(~near & (judgments.grade > 0))  # by query, the best grades first
    numbers = np.bincount(judgments.query[missed], minlength=judgments.n_queries)
    position = np.arange(len(missed)) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    near[missed[position < MAX_SHOWN_DOCUMENTS]] = True
    rows = np.flatnonzero(near)
    places = _places(list(judgments.ids(rows)) if len(rows) else [], documents)
    found: list[list[list[Any]]] = [[] for _ in judgments.query_ids]
    columns = judgments.query[rows].tolist(), places, _whole(judgments.grade[rows]), ranks[:, rows].T.tolist()
    for query, place, grade, of_runs in zip(*columns, strict=True):
        found[query].append([place, grade, *(None if rank == _NOWHERE else rank for rank in of_runs)])
    return found, np.maximum(numbers - MAX_SHOWN_DOCUMENTS, 0).tolist()


def _whole(numbers: NDArray[np.float64]) -> list[float]:
    """Return Python numbers, whole ones as such."""
    return [int(number) if number == int(number) else number for number in numbers.tolist()]


_NOWHERE = np.iinfo(np.int32).max
"""The rank of a document that a run does not have."""


# --- titles ------------------------------------------------------------


def titles_of(dataset: Any, doc_ids: Collection[str]) -> dict[str, str]:
    """Return the titles of those of these documents that are known; of one without a title, how it begins.

    Nothing is downloaded.

    Examples
    --------
    >>> from permed_measures.datasets import load
    >>> titles_of(load("permed-sample"), ["sample-001", "another"])["sample-001"]
    'Teledermatology for suspected melanoma: agreement of image-based and in-person triage'
    """
    if not hasattr(dataset, "titles"):
        return {}
    try:
        found = [(doc_id, title or text) for doc_id, title, text in dataset.titles() if doc_id in doc_ids]
    except Exception:  # the corpus is not here, or cannot be read
        return {}
    return {doc_id: _cut(text) for doc_id, text in found if text}


def _cut(text: str) -> str:
    """Return a text in one line, cut where it is long."""
    return shortened(" ".join(text.split()), _LENGTH)


def first_documents(run: RunLike, query_ids: Sequence[str], depth: int) -> list[list[str]]:
    """Return the first documents of each query, in the order in which the run is evaluated.

    Parameters
    ----------
    run : RunLike
        Any form but a PySpark frame. It is not kept in memory.
    query_ids : sequence of str
    depth : int, at least 1
        How many documents of each query.

    Returns
    -------
    list of list of str
        By score (as float32) descending, then id descending; nothing for a query that the run lacks.

    Examples
    --------
    >>> first_documents({"q": {"a": 1.0, "b": 2.0, "c": 1.0}}, ["q", "r"], 2)
    [['b', 'c'], []]
    """
    rows = in_memory(read(run, "score"))
    if isinstance(rows, Mapping):
        named = with_string_ids(rows, "query ids of the run")
        return [_of_query(query_id, named.get(query_id, {}), depth) for query_id in query_ids]
    found = _of_table(rows, query_ids, depth)
    return [found.get(query_id, []) for query_id in query_ids]


def _of_query(query_id: str, documents: Mapping[str, float], depth: int) -> list[str]:
    documents = with_string_ids(documents, "document ids", query_id=query_id)
    with np.errstate(over="ignore"):  # beyond float32 is infinite, as in an evaluation
        scores = np.fromiter(documents.values(), np.float64, len(documents)).astype(np.float32)
    return [doc_id for _, doc_id in nlargest(depth, zip(scores.tolist(), documents, strict=True))]


def _of_table(table: Table, query_ids: Sequence[str], depth: int) -> dict[str, list[str]]:
    """Return the first documents of each query that has any; its rows may stand in several parts."""
    wanted = pl.LazyFrame([text_series("query_id", list(query_ids))])
    score = pl.col("score").cast(pl.Float32, strict=False) + 0.0  # -0.0 and 0.0 are one score
    first = None
    for frame in table:
        rows = frame.lazy().join(wanted, on="query_id", how="semi").with_columns(score=score).collect()
        first = _first(rows if first is None else pl.concat([first, rows]), depth)
    if first is None:
        return {}
    by_query = first.group_by("query_id", maintain_order=True).agg("doc_id")
    return dict(by_query.iter_rows())


def _first(rows: pl.DataFrame, depth: int) -> pl.DataFrame:
    """Return the first rows of each query, sorted."""
    lasts = rows.lazy().group_by("query_id").agg(last=pl.col("score").top_k(depth).min())
    near = rows.lazy().join(lasts, on="query_id").filter(pl.col("score") >= pl.col("last")).drop("last")
    ranked = near.sort("query_id", "score", "doc_id", descending=[False, True, True])
    return ranked.group_by("query_id", maintain_order=True).head(depth).collect()
