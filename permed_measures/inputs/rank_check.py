"""Compare the order of a query's documents in a file with their scores.

The order is that of the list, or in other files the column of ranks, if all documents of the query have one.
It contradicts the scores if a document has a higher score (as float32) than the one before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from permed_measures.arrays import Floats, Ints
from permed_measures.engine.tables import location
from permed_measures.frames import pl
from permed_measures.wording import pluralize


def scores_by_order(documents: Iterable[str], ranks: Sequence[float] = ()) -> dict[str, float]:
    """Score documents so that they are ranked by their ranks if all have one, else by their order."""
    scores = dict(zip(documents, count(-1.0, -1.0), strict=False))
    if len(ranks) < len(scores):
        return scores
    in_order = sorted(range(len(ranks)), key=ranks.__getitem__)
    by_rank = dict(zip(in_order, scores.values(), strict=True))
    return {doc_id: by_rank[index] for index, doc_id in enumerate(scores)}


def sort_by_score(documents: Mapping[str, float]) -> list[str]:
    """Sort ids by score (as float32) descending, then by id descending: trec_eval's order."""
    scores = _as_float32(documents.values()).tolist()
    return [doc_id for _, doc_id in sorted(zip(scores, documents, strict=True), reverse=True)]


def contradicted(
    table: Mapping[str, Mapping[str, float]], ranks: Mapping[str, Sequence[float]] | None
) -> dict[str, str]:
    """Find the queries whose order contradicts the scores, each with its first document that does.

    Without `ranks`, the order is that of the dicts.
    """
    if ranks is None:
        ranks = {query_id: range(len(documents)) for query_id, documents in table.items()}
    ranked = [query_id for query_id in table if len(ranks.get(query_id, ())) == len(table[query_id])]
    lists = [table[query_id] for query_id in ranked]
    query = np.repeat(np.arange(len(ranked)), list(map(len, lists)))
    score = np.fromiter(chain.from_iterable(docs.values() for docs in lists), np.float64, len(query))
    rank = np.fromiter(chain.from_iterable(map(ranks.__getitem__, ranked)), np.float64, len(query))
    rows, ids = _first_rises(query, score, rank), list(chain.from_iterable(lists))
    return {ranked[query[row]]: ids[row] for row in rows.tolist()}


def contradicted_rows(frame: pl.DataFrame) -> dict[str, str]:
    """Find the same as `contradicted`, in a frame of query_id, doc_id, score and rank."""
    has_rank = (frame["rank"] >= 0).fill_null(False)
    if not has_rank.any():
        return {}
    if not has_rank.all():
        frame = frame.filter((pl.col("rank").fill_null(-1) >= 0).all().over("query_id"))
    blocks = frame["query_id"].rle().struct.unnest()
    if blocks["value"].n_unique() == len(blocks):
        query = np.repeat(np.arange(len(blocks)), blocks["len"].to_numpy())
    else:
        query = frame["query_id"].cast(pl.Categorical).to_physical().to_numpy().astype(np.int64)
    score, rank = frame["score"].to_numpy(), frame["rank"].to_numpy()
    rows = _first_rises(query, score, rank)
    return dict(frame[rows].select("query_id", "doc_id").iter_rows())


def _first_rises(query: Ints, score: Floats, rank: Floats) -> Ints:
    """Find, in each query, the first row by rank with a higher score than the row before it."""
    same = query[1:] == query[:-1]
    order = np.arange(len(query))
    if not ((query[1:] > query[:-1]) | (same & (rank[1:] >= rank[:-1]))).all():  # most files are sorted
        order = np.lexsort((rank, query))
        query, score, rank = query[order], score[order], rank[order]
        same = query[1:] == query[:-1]
    narrow = _as_float32(score)
    [rises] = (same & (narrow[1:] > narrow[:-1]) & (rank[1:] > rank[:-1])).nonzero()
    _, first = np.unique(query[rises], return_index=True)
    rows: Ints = order[rises[first] + 1]
    return rows


def note_of(path: Path, contradictions: Mapping[str, str], n_queries: int, order: str) -> str:
    """Describe the queries whose order contradicts the scores; empty without any."""
    if not contradictions:
        return ""
    example = location(*min(contradictions.items()))
    return (
        f"{path}: in {len(contradictions):,} of {pluralize(n_queries, 'query')} the scores rank documents "
        f"in another order than the {order} does (such as {example}); the scores are used; --order list "
        f"takes the {order} on the command line, permed_measures.read_run(path, order='list') in Python"
    )


def _as_float32(scores: Collection[float] | NDArray[np.float64]) -> NDArray[np.float32]:
    """Convert scores to float32, as trec_eval compares them."""
    if not isinstance(scores, np.ndarray):
        scores = np.fromiter(scores, np.float64, len(scores))
    with np.errstate(over="ignore"):
        return scores.astype(np.float32)
