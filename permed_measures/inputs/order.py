"""The order that a file gives to the documents of a query, compared with their scores.

The order is that of a list; in other files the column of ranks, if all documents of the query have one. It
contradicts the scores where a document has a higher score (as float32) than the one before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.tables import location
from permed_measures.frames import pl
from permed_measures.markup import counted


def scores_by_order(documents: Iterable[str], ranks: Sequence[int] = ()) -> dict[str, float]:
    """Return documents with scores that rank them by their ranks, if all have one, or as they stand."""
    scores = dict(zip(documents, count(-1.0, -1.0), strict=False))
    if len(ranks) < len(scores):
        return scores
    in_order = sorted(range(len(ranks)), key=ranks.__getitem__)
    by_rank = dict(zip(in_order, scores.values(), strict=True))
    return {doc_id: by_rank[place] for place, doc_id in enumerate(scores)}


def ranked(documents: Mapping[str, float]) -> list[str]:
    """Return the ids by score (as float32) descending, then id descending: trec_eval's order."""
    scores = _as_float32(documents.values()).tolist()
    return [doc_id for _, doc_id in sorted(zip(scores, documents, strict=True), reverse=True)]


def contradicted(
    table: Mapping[str, Mapping[str, float]], ranks: Mapping[str, Sequence[int]] | None
) -> dict[str, str]:
    """Return the queries whose order contradicts the scores, each with the first document that does.

    Without `ranks` their documents are lists.
    """
    found = {}
    for query_id, documents in table.items():
        scores = list(documents.values())
        if ranks is None and scores == sorted(scores, reverse=True):  # as in most files
            continue
        known = range(len(scores)) if ranks is None else ranks.get(query_id, ())
        if (first := _first_rise(list(documents), scores, known)) is not None:
            found[query_id] = first
    return found


def contradicted_rows(frame: pl.DataFrame) -> dict[str, str]:
    """Return what `contradicted` does, of rows with query_id, doc_id, score and rank."""
    if frame["rank"].null_count() == len(frame) or _falls(frame):
        return {}
    queries = frame.group_by("query_id", maintain_order=True).agg("doc_id", "score", "rank").iter_rows()
    firsts = ((query_id, _first_rise(*documents)) for query_id, *documents in queries)
    return {query_id: doc_id for query_id, doc_id in firsts if doc_id is not None}


def _first_rise(ids: Sequence[str], scores: Sequence[float], ranks: Sequence[int | None]) -> str | None:
    """Return the first document by rank that contradicts its score; none where not all have a rank."""
    known = np.array(ranks, float)
    if len(known) < len(ids) or not (known >= 0).all():
        return None
    order = known.argsort(kind="stable")
    narrow = _as_float32(scores)[order]
    rises = (narrow[1:] > narrow[:-1]) & (np.diff(known[order]) > 0)
    return ids[order[rises.argmax() + 1]] if rises.any() else None


def _falls(frame: pl.DataFrame) -> bool:
    """Return whether each query stands together, and scores fall where ranks rise, as in most files."""
    runs = frame["query_id"].rle().struct.unnest()
    if frame["rank"].null_count() or runs["value"].n_unique() < len(runs):
        return False
    score, rank = _as_float32(frame["score"].to_numpy()), frame["rank"].to_numpy()
    is_wrong = (rank[1:] < rank[:-1]) | ((score[1:] > score[:-1]) & (rank[1:] > rank[:-1]))
    is_wrong[runs["len"].to_numpy().cumsum()[:-1] - 1] = False  # between two queries
    return not is_wrong.any()


def note_of(path: Path, found: Mapping[str, str], n_queries: int, order: str) -> str:
    """Return a note for the user on the queries whose order contradicts the scores; empty for none."""
    if not found:
        return ""
    one = location(*min(found.items()))
    return (
        f"{path}: in {len(found):,} of {counted(n_queries, 'query')} the scores rank documents "
        f"in another order than the {order} does (such as {one}); the scores are used; --order list takes "
        f"the {order} on the command line, permed_measures.read_run(path, order='list') in Python"
    )


def _as_float32(scores: Collection[float] | NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the scores as trec_eval compares them."""
    if not isinstance(scores, np.ndarray):
        scores = np.fromiter(scores, np.float64, len(scores))
    with np.errstate(over="ignore"):
        return scores.astype(np.float32)
