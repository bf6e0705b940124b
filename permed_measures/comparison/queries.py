"""Details of each query for a page: texts, values, and the first documents of each run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import nlargest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permed_measures.comparison.overlap import depth_looked_at, rank_biased_overlap
from permed_measures.comparison.results import ComparedRuns, Display
from permed_measures.comparison.tables import why_no_differences
from permed_measures.engine.groups import Groups
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.tables import Table, stringify_keys, text_series
from permed_measures.errors import InputError, warnings_about
from permed_measures.escaping import one_line
from permed_measures.frames import pl
from permed_measures.inputs.columns import RunLike
from permed_measures.inputs.conversion import in_memory, is_spark_frame
from permed_measures.inputs.door import read
from permed_measures.provenance import STDIN
from permed_measures.wording import shortened

MAX_SHOWN_DOCUMENTS = 10
"""The number of documents shown of each ranking, and of missed documents listed for each query."""
DECIMALS = 12
"""Decimals of the values of queries: differences up to 1e-12 are ties."""
_MAX_TITLE_LENGTH = 200
"""The number of characters kept of a title, or of a text in its place."""

Documents = dict[str, int]
"""The index of each document, in the order of their first occurrence."""


Ranked = list[list[Any]]
"""The documents of each query in ranked order; None is an unknown document."""
_DECIMALS_OF_OVERLAP = 6


def query_details(result: ComparedRuns, depth: int = MAX_SHOWN_DOCUMENTS) -> dict[str, Any]:
    """Collect the details of each query of a comparison, in a form for JSON.

    Read runs again, where possible, for the ids of their unjudged documents; of other runs only the judged
    documents are known.

    Returns
    -------
    dict
        - ``ids``, ``texts``: the queries, then turns without judgments; a text may be None.
        - ``n``: the number of queries of the comparison, which come first in the order of
          ``paired.query_ids``.
        - ``turns``: for each query, the indices in ``ids`` of the turns before it.
        - ``fields``: name to a label for each query.
        - ``runs``, ``measures``, ``baseline``: names, and the index of the baseline (or of the first run).
        - ``values``: for each run, measure and query; ``digits``: the number of decimals to show.
        - ``depth``; ``rankings``: for each run and query, indices in ``documents``; -1 is an unknown unjudged
          document.
        - ``documents``: ``ids``, and ``texts`` (None if the texts of the data set are not on this machine).
        - ``judged``: for each query, [document, grade, rank in each run or None] of the judged documents that
          are shown: those within the depth of a run, and the ten best relevant ones that no run has there.
        - ``missed``: for each query, the number of such relevant documents that are not shown.
        - ``grades``: the grades of the qrels, descending, at most eight.
        - ``unread``: for each run, why its unjudged documents are unknown; empty if they are known.
        - ``persistence``; ``overlaps``: for each compared pair of known runs, their indices in ``runs``, the
          mean of their rank-biased overlap, and the overlap on each query (None if both are empty).
    """
    rankings, documents = result.paired.rankings, Documents()
    pairs = _pairs_to_overlap(result)
    shown, unread, whole = [], [], {}
    for run in rankings:
        ranked, reason = _shown_rankings(
            result, run, max(depth, depth_looked_at(result.persistence) * bool(pairs))
        )
        unread.append(f"{one_line(run)} {reason}: of its documents the judged ones are known." * bool(reason))
        shown.append([_indices(doc_ids[:depth], documents) for doc_ids in ranked])
        if pairs and not reason:
            whole[run] = ranked
    judgments = next(iter(rankings.values())).judgments
    judged, missed = _judged(judgments, rankings, documents, depth)
    texts = titles_of(result.experiment.dataset, documents.keys())
    return {
        **_queries(result),
        "runs": list(map(one_line, rankings)),
        "measures": [*result.headings.values()],
        "baseline": list(rankings).index(result.baseline) if result.baseline else 0,
        "digits": 4 if result.style.in_percent else result.style.decimals,
        "values": np.array(list(result.paired.values.values())).round(DECIMALS).tolist(),
        "depth": depth,
        "rankings": shown,
        "documents": {
            "ids": list(map(one_line, documents)),
            "texts": [texts.get(doc_id) for doc_id in documents] if texts else None,
        },
        "judged": judged,
        "missed": missed,
        "grades": _int_if_whole(np.unique(judgments.grade)[::-1][:8]),
        "unread": unread,
        "persistence": result.persistence,
        "overlaps": [
            _overlaps(indices, whole[run], whole[baseline], result.persistence)
            for (run, baseline), indices in pairs.items()
            if run in whole and baseline in whole
        ],
    }


def _pairs_to_overlap(result: ComparedRuns) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the pairs whose overlap a page shows, with the indices of both runs; none if they are many."""
    if why_no_differences(replace(result, display=Display())):
        return {}
    index = {run: n for n, run in enumerate(result.paired.rankings)}
    return {pair: (index[pair[0]], index[pair[1]]) for pair in result.paired.pairs}


def _overlaps(indices: tuple[int, int], first: Ranked, second: Ranked, p: float) -> list[Any]:
    """Return the indices of two runs, the mean of their overlap, and the overlap on each query."""
    overlaps = [rank_biased_overlap(*both, p) for both in zip(first, second, strict=True)]
    known = [overlap for overlap in overlaps if overlap is not None]
    mean = sum(known) / len(known) if known else None
    rounded = [None if overlap is None else round(overlap, _DECIMALS_OF_OVERLAP) for overlap in overlaps]
    return [*indices, mean, rounded]


# --- queries -----------------------------------------------------------------------------------------


def _queries(result: ComparedRuns) -> dict[str, Any]:
    """Collect ids, texts and fields of the queries, and the turns before each query."""
    query_ids, queries = result.paired.query_ids, _dataset_queries(result.experiment.dataset)
    by_id = {query.query_id: query for query in queries}
    index = {(query_id, _text(by_id.get(query_id))): n for n, query_id in enumerate(query_ids)}
    before = _turns_before(queries)
    turns = [
        [index.setdefault(turn, len(index)) for turn in before.get(query_id, ())] for query_id in query_ids
    ]
    return {
        "n": len(query_ids),
        "ids": [one_line(query_id) for query_id, _ in index],
        "texts": [text for _, text in index] if queries else None,
        "turns": turns if any(turns) else None,
        "fields": _fields(result, [by_id.get(query_id) for query_id in query_ids]),
    }


def _dataset_queries(dataset: Any) -> list[Any]:
    """Load the queries of a data set; an empty list if it has none, or they cannot be read."""
    try:
        return list(dataset.queries_iter()) if hasattr(dataset, "queries_iter") else []
    except Exception:  # any data set of ir_datasets may fail; the page is useful without texts
        return []


def texts_of(dataset: Any, query_ids: Collection[str]) -> dict[str, str | None]:
    """Return the texts of these queries, as far as the data set has them."""
    wanted = {*query_ids}
    queries = _dataset_queries(dataset)
    return {query.query_id: _text(query) for query in queries if query.query_id in wanted}


def _text(query: Any) -> str | None:
    """Return the text of a query of ir_datasets; some queries have several fields of text."""
    if query is None:
        return None
    text = query.default_text() if hasattr(query, "default_text") else getattr(query, "text", "")
    return " ".join(str(text or "").split()) or None


def _turns_before(queries: list[Any]) -> dict[str, list[tuple[str, str | None]]]:
    """Return id and text of the turns before each query; with empty ids if only the texts are known."""
    name = next((name for name in _CONVERSATIONS if queries and hasattr(queries[0], name)), "")
    if not name or not hasattr(queries[0], "turn_number"):
        return {}
    of_conversation: dict[Any, list[Any]] = {}
    for query in sorted(queries, key=lambda query: int(query.turn_number)):
        of_conversation.setdefault(getattr(query, name), []).append(query)
    turns_before: dict[str, list[tuple[str, str | None]]] = {}
    for query in queries:
        turns = of_conversation[getattr(query, name)]
        before = [turn for turn in turns if int(turn.turn_number) < int(query.turn_number)]
        turns_before[query.query_id] = [(turn.query_id, _text(turn)) for turn in before]
        texts = [" ".join(text.split()) for text in getattr(query, "history", ())]
        if len(texts) > len(before):
            turns_before[query.query_id] = [("", text) for text in texts]
    return turns_before


_CONVERSATIONS = ("conversation_id", "topic_number")
"""The field for the conversation of a query with a turn_number: in our data sets, and in TREC CAsT."""


def _fields(result: ComparedRuns, queries: list[Any]) -> dict[str, list[str]]:
    """Collect the labels to filter queries by: groups, clusters and the short fields of the data set."""
    paired, fields = result.paired, {}
    if paired.group is not None:
        labels = [*map(str, result.groups), ""]  # group -1 is no group
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
            groups = Groups.of(paired.query_ids, paired.clusters, result.experiment.dataset)
        except InputError:  # the clusters came from a mapping or a function, not from a field
            pass
        else:
            labels = [*map(str, groups.values), ""]
            fields[paired.clusters] = [labels[group] for group in groups.group.tolist()]
    return {name: labels for name, labels in fields.items() if 1 < len(set(labels)) < len(labels)}


_LONGEST_LABEL = 40


# --- documents ---------------------------------------------------------------------------------------


def _indices(doc_ids: list[str | None], documents: Documents) -> list[int]:
    """Return the index of each document; -1 for an unknown one."""
    return [-1 if doc is None else documents.setdefault(doc, len(documents)) for doc in doc_ids]


def _shown_rankings(result: ComparedRuns, run: str, depth: int) -> tuple[list[list[str | None]], str]:
    """Return the first documents of each query, and why unjudged documents are unknown, if they are."""
    judged = _judged_only(result.paired.rankings[run], depth)
    rankings, reason = _read_again(result, run, depth)
    if rankings is None:
        return judged, reason
    for evaluated, doc_ids in zip(judged, rankings, strict=True):
        pairs = zip(evaluated, doc_ids, strict=False)
        if len(evaluated) != len(doc_ids) or any(a not in (None, b) for a, b in pairs):
            return judged, "has changed since it was evaluated"
    return [list(doc_ids) for doc_ids in rankings], ""


def _read_again(result: ComparedRuns, run: str, depth: int) -> tuple[list[list[str]] | None, str]:
    """Read the first documents of each query again, or return the reason why this is not possible."""
    path = result.origin.runs.get(run) if result.origin else None
    is_pipe = path is not None and (path in _PIPES or (path.exists() and not path.is_file()))
    if is_pipe:
        return None, _ONCE
    with warnings_about(None):  # the user saw them when the run was evaluated
        try:
            rows = result.experiment.runs[run]  # reads a file
            if isinstance(rows, Iterator):
                return None, _ONCE
            if is_spark_frame(rows):
                return None, "is a Spark frame, which is not read again"
            return first_documents(rows, result.paired.query_ids, depth), ""
        except Exception:  # any library may fail to read it; the page is useful without it
            return None, "could not be read again"


_ONCE = "was read from a pipe or an iterator, which is possible only once"
_PIPES = (STDIN, Path("-"))


def _judged_only(ranked: JudgedRankings, depth: int) -> list[list[str | None]]:
    """Return the first documents of each query, with ids only for judged documents."""
    shown: list[list[str | None]] = [[None] * min(depth, n) for n in ranked.retrieved.tolist()]
    near = ranked.within(depth)
    doc_ids = ranked.judgments.doc_ids(near.row) if len(near.row) else []
    for query, rank, doc_id in zip(near.query.tolist(), near.rank.tolist(), doc_ids, strict=True):
        shown[query][rank - 1] = doc_id
    return shown


def _judged(
    judgments: Judgments, rankings: Mapping[str, JudgedRankings], documents: Documents, depth: int
) -> tuple[list[list[list[Any]]], list[int]]:
    """Return grade and ranks of the judged documents to show, and the number of missed ones not shown."""
    ranks = np.full((len(rankings), len(judgments.query)), _NOWHERE)
    for run, ranked in enumerate(rankings.values()):
        ranks[run, ranked.row] = ranked.rank
    near: NDArray[np.bool_] = np.any(ranks <= depth, axis=0)
    missed = np.flatnonzero(~near & (judgments.grade > 0))  # by query, the best grades first
    n_missed = np.bincount(judgments.query[missed], minlength=judgments.n_queries)
    position = np.arange(len(missed)) - np.repeat(np.cumsum(n_missed) - n_missed, n_missed)
    near[missed[position < MAX_SHOWN_DOCUMENTS]] = True
    rows = np.flatnonzero(near)
    indices = _indices(list(judgments.doc_ids(rows)) if len(rows) else [], documents)
    grades = _int_if_whole(judgments.grade[rows])
    shown: list[list[list[Any]]] = [[] for _ in judgments.query_ids]
    columns = judgments.query[rows].tolist(), indices, grades, ranks[:, rows].T.tolist()
    for query, index, grade, of_runs in zip(*columns, strict=True):
        shown[query].append([index, grade, *(None if rank == _NOWHERE else rank for rank in of_runs)])
    return shown, np.maximum(n_missed - MAX_SHOWN_DOCUMENTS, 0).tolist()


def _int_if_whole(numbers: NDArray[np.float64]) -> list[float]:
    """Convert an array to Python numbers, whole ones to int."""
    return [int(number) if number == int(number) else number for number in numbers.tolist()]


_NOWHERE = np.iinfo(np.int32).max
"""The rank of a document that a run does not retrieve."""


# --- titles ------------------------------------------------------------


def titles_of(dataset: Any, doc_ids: Collection[str]) -> dict[str, str]:
    """Return the titles of these documents, or the start of the text of a document without a title.

    Only documents on this machine have a title here: nothing is downloaded.

    Examples
    --------
    >>> from permed_measures.datasets import load
    >>> titles_of(load("permed-sample"), ["sample-001", "another"])["sample-001"]
    'Teledermatology for suspected melanoma: agreement of image-based and in-person triage'
    """
    if not hasattr(dataset, "titles"):
        return {}
    try:
        rows = [(doc_id, title or text) for doc_id, title, text in dataset.titles() if doc_id in doc_ids]
    except Exception:  # the corpus is not here, or cannot be read
        return {}
    return {doc_id: _one_short_line(text) for doc_id, text in rows if text}


def _one_short_line(text: str) -> str:
    """Put a text on one line, and shorten it if it is long."""
    return shortened(" ".join(text.split()), _MAX_TITLE_LENGTH)


def first_documents(run: RunLike, query_ids: Sequence[str], depth: int) -> list[list[str]]:
    """Rank the first documents of each query, in the same order as an evaluation.

    Parameters
    ----------
    run : RunLike
        In any form but a PySpark frame; a file is not kept in memory.
    query_ids : sequence of str
    depth : int, at least 1
        Number of documents for each query.

    Returns
    -------
    list of list of str
        By score (as float32) descending, then id descending; empty for a query that the run lacks.

    Examples
    --------
    >>> first_documents({"q": {"a": 1.0, "b": 2.0, "c": 1.0}}, ["q", "r"], 2)
    [['b', 'c'], []]
    """
    rows = in_memory(read(run, "score"))
    if isinstance(rows, Mapping):
        named = stringify_keys(rows, "query ids of the run")
        return [_top_of_query(query_id, named.get(query_id, {}), depth) for query_id in query_ids]
    by_query = _top_of_table(rows, query_ids, depth)
    return [by_query.get(query_id, []) for query_id in query_ids]


def _top_of_query(query_id: str, documents: Mapping[str, float], depth: int) -> list[str]:
    documents = stringify_keys(documents, "document ids", query_id=query_id)
    with np.errstate(over="ignore"):  # scores beyond float32 become infinite, as in an evaluation
        scores = np.fromiter(documents.values(), np.float64, len(documents)).astype(np.float32)
    return [doc_id for _, doc_id in nlargest(depth, zip(scores.tolist(), documents, strict=True))]


def _top_of_table(table: Table, query_ids: Sequence[str], depth: int) -> dict[str, list[str]]:
    """Rank the first documents of each query of a table; the rows of a query may be in several frames."""
    wanted = pl.LazyFrame([text_series("query_id", list(query_ids))])
    score = pl.col("score").cast(pl.Float32, strict=False) + 0.0  # -0.0 and 0.0 are one score
    first = None
    for frame in table:
        rows = frame.lazy().join(wanted, on="query_id", how="semi").with_columns(score=score).collect()
        first = _first_rows(rows if first is None else pl.concat([first, rows]), depth)
    if first is None:
        return {}
    by_query = first.group_by("query_id", maintain_order=True).agg("doc_id")
    return dict(by_query.iter_rows())


def _first_rows(rows: pl.DataFrame, depth: int) -> pl.DataFrame:
    """Keep the first rows of each query, sorted."""
    lasts = rows.lazy().group_by("query_id").agg(last=pl.col("score").top_k(depth).min())
    near = rows.lazy().join(lasts, on="query_id").filter(pl.col("score") >= pl.col("last")).drop("last")
    ranked = near.sort("query_id", "score", "doc_id", descending=[False, True, True])
    return ranked.group_by("query_id", maintain_order=True).head(depth).collect()
