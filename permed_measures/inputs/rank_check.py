"""The order that a file gives to the documents of a query, compared with their scores.

The order is that of a list; in other files the column of ranks, if all documents of the query have one. It
contradicts the scores where a document has a higher score (as float32) than the one before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from permed_measures.arrays import Floats, Ints
from permed_measures.engine.tables import location
from permed_measures.escaping import pluralize
from permed_measures.frames import pl


def scores_by_order(documents: Iterable[str], ranks: Sequence[float] = ()) -> dict[str, float]:
    """Return documents with scores that rank them by their ranks, if all have one, or as they stand."""
    scores = dict(zip(documents, count(-1.0, -1.0), strict=False))
    if len(ranks) < len(scores):
        return scores
    in_order = sorted(range(len(ranks)), key=ranks.__getitem__)
    by_rank = dict(zip(in_order, scores.values(), strict=True))
    return {doc_id: by_rank[place] for place, doc_id in enumerate(scores)}


def sort_by_score(documents: Mapping[str, float]) -> list[str]:
    """Return the ids by score (as float32) descending, then id descending: trec_eval's order."""
    scores = _as_float32(documents.values()).tolist()
    return [doc_id for _, doc_id in sorted(zip(scores, documents, strict=True), reverse=True)]


def contradicted(
    table: Mapping[str, Mapping[str, float]], ranks: Mapping[str, Sequence[float]] | None
) -> dict[str, str]:
    """Return the queries whose order contradicts the scores, each with the first document that does.

    Without `ranks` their documents are lists.
    """
    if ranks is None:
        ranks = {query_id: range(len(documents)) for query_id, documents in table.items()}
    known = [query_id for query_id in table if len(ranks.get(query_id, ())) == len(table[query_id])]
    lists = [table[query_id] for query_id in known]
    query = np.repeat(np.arange(len(known)), list(map(len, lists)))
    score = np.fromiter(chain.from_iterable(docs.values() for docs in lists), np.float64, len(query))
    rank = np.fromiter(chain.from_iterable(map(ranks.__getitem__, known)), np.float64, len(query))
    rows, ids = _first_rises(query, score, rank), list(chain.from_iterable(lists))
    return {known[query[row]]: ids[row] for row in rows.tolist()}


def contradicted_rows(frame: pl.DataFrame) -> dict[str, str]:
    """Return what `contradicted` does, of rows with query_id, doc_id, score and rank."""
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
    """Return the rows that contradict their scores, the first by rank of each query."""
    same = query[1:] == query[:-1]
    order = np.arange(len(query))
    if not ((query[1:] > query[:-1]) | (same & (rank[1:] >= rank[:-1]))).all():  # as in most files
        order = np.lexsort((rank, query))
        query, score, rank = query[order], score[order], rank[order]
        same = query[1:] == query[:-1]
    narrow = _as_float32(score)
    [rises] = (same & (narrow[1:] > narrow[:-1]) & (rank[1:] > rank[:-1])).nonzero()
    _, first = np.unique(query[rises], return_index=True)
    rows: Ints = order[rises[first] + 1]
    return rows


def note_of(path: Path, found: Mapping[str, str], n_queries: int, order: str) -> str:
    """Return a note for the user on the queries whose order contradicts the scores; empty for none."""
    if not found:
        return ""
    one = location(*min(found.items()))
    return (
        f"{path}: in {len(found):,} of {pluralize(n_queries, 'query')} the scores rank documents "
        f"in another order than the {order} does (such as {one}); the scores are used; --order list takes "
        f"the {order} on the command line, permed_measures.read_run(path, order='list') in Python"
    )


def _as_float32(scores: Collection[float] | NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the scores as trec_eval compares them."""
    if not isinstance(scores, np.ndarray):
        scores = np.fromiter(scores, np.float64, len(scores))
    with np.errstate(over="ignore"):
        return scores.astype(np.float32)
