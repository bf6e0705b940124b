"""The documents that a run ranks first: what is looked at, where measures need the judged documents only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest

import numpy as np

from permed_measures.engine.forms import as_mapping_or_frames, with_string_ids
from permed_measures.engine.inputs import RunLike, text_series
from permed_measures.frames import pl


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
    table = as_mapping_or_frames(run, "score")
    if isinstance(table, Mapping):
        named = with_string_ids(table, "query ids of the run")
        return [_of_query(query_id, named.get(query_id, {}), depth) for query_id in query_ids]
    found = _of_frames(table, query_ids, depth)
    return [found.get(query_id, []) for query_id in query_ids]


def _of_query(query_id: str, documents: Mapping[str, float], depth: int) -> list[str]:
    documents = with_string_ids(documents, "document ids", query_id=query_id)
    with np.errstate(over="ignore"):  # beyond float32 is infinite, as in an evaluation
        scores = np.fromiter(documents.values(), np.float64, len(documents)).astype(np.float32)
    return [doc_id for _, doc_id in nlargest(depth, zip(scores.tolist(), documents, strict=True))]


def _of_frames(frames: Iterable[pl.DataFrame], query_ids: Sequence[str], depth: int) -> dict[str, list[str]]:
    """Return the first documents of each query that has any; its rows may stand in several frames."""
    wanted = pl.LazyFrame([text_series("query_id", list(query_ids))])
    score = pl.col("score").cast(pl.Float32, strict=False) + 0.0  # -0.0 and 0.0 are one score
    first = None
    for frame in frames:
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
