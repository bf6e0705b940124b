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

from permed_measures.engine.inputs import location
from permed_measures.frames import pl
from permed_measures.markup import counted


def scores_by_order(documents: Iterable[str], ranks: Sequence[int] = ()) -> dict[str, float]:
    """Return documents with scores that rank them by their ranks, if all have one, or as they stand."""
    ids, falling = list(documents), count(-1.0, -1.0)
    if len(ranks) < len(ids):
        return dict(zip(ids, falling, strict=False))
    scores = dict(zip(_in_order(ranks), falling, strict=False))
    return {doc_id: scores[place] for place, doc_id in enumerate(ids)}


def _in_order(ranks: Sequence[int]) -> list[int]:
    """Return the places of documents in the order of their ranks."""
    return sorted(range(len(ranks)), key=ranks.__getitem__)


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
        ids, scores = list(documents), list(documents.values())
        known: Sequence[int] = range(len(ids)) if ranks is None else ranks.get(query_id, ())
        if len(known) < len(ids):
            continue
        if ranks is not None:
            order = _in_order(known)
            ids, scores = [ids[place] for place in order], [scores[place] for place in order]
            known = [known[place] for place in order]
        if scores == sorted(scores, reverse=True):  # as in most files
            continue
        narrow = _as_float32(scores)
        rises = (narrow[1:] > narrow[:-1]) & (np.diff(known) > 0)
        if rises.any():
            found[query_id] = ids[rises.argmax() + 1]
    return found


def contradicted_rows(frame: pl.DataFrame) -> dict[str, str]:
    """Return what `contradicted` does, of rows with query_id, doc_id, score and rank."""
    if frame["rank"].null_count() == len(frame) or _falls(frame):
        return {}
    rank, same = pl.col("rank"), pl.col("query_id") == pl.col("query_id").shift()
    has_rank = pl.col("rank").fill_null(-1) >= 0
    if not frame.select(has_rank.all()).item():
        frame = frame.filter(has_rank.all().over("query_id"))
    starts = frame.filter(~same.fill_null(False))["query_id"]
    if starts.n_unique() < len(starts) or frame.select((same & (rank < rank.shift())).any()).item():
        frame = frame.sort("query_id", "rank", maintain_order=True)
    score = pl.col("score").cast(pl.Float32)
    rises = frame.filter(same & (rank > rank.shift()) & (score > score.shift()))
    first = rises.unique("query_id", keep="first", maintain_order=True)
    return dict(first.select("query_id", "doc_id").iter_rows())


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
