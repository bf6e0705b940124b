"""Where the judged documents stand in a run: found in each form a run comes in, and nowhere else.

A mapping is asked for each judged document; a frame is joined with the judgments. Both then count scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.errors import InputError
from permed_measures.inputs import Nested, not_a_number, text_id, where, with_text_ids
from permed_measures.judgments import Judgments, segments
from permed_measures.ranks import Hits, Ints, Rows, TieBreak, ranks

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Found", "find_in_frame", "find_in_mapping"]

_BATCH = 1 << 18
"""Rows of a mapping that are looked at together: enough for numpy, small enough for the cache."""


class Found(NamedTuple):
    """What reading a run gives: a rank for each judgment that was retrieved, in any order."""

    row: Ints
    rank: Ints
    retrieved: Ints
    n_run_queries: int
    n_answered: int
    some_ids: list[str]


# --- runs as mappings ------------------------------------------------------------------------------


def find_in_mapping(judgments: Judgments, run: Nested, ties: TieBreak) -> Found:
    """Find the judged documents of a run that is a mapping."""
    named = with_text_ids(run, "query ids of the run")
    index = [query for query, query_id in enumerate(judgments.query_ids) if query_id in named]
    docs = [_scored(judgments.query_ids[query], named[judgments.query_ids[query]]) for query in index]
    retrieved = np.zeros(judgments.n_queries, dtype=np.int64)
    retrieved[index] = lengths = np.fromiter(map(len, docs), np.int64, len(docs))
    parts = [
        _place_batch(judgments, index[batch], docs[batch], lengths[batch], ties)
        for batch in _batches(lengths)
    ]
    row, rank = (np.concatenate([_NONE, *(part[i] for part in parts)]) for i in (0, 1))
    some_ids = list(islice(named if not index else chain.from_iterable(docs), 2))
    return Found(row, rank, retrieved, len(run), len(index), some_ids)


_NONE = np.zeros(0, dtype=np.int64)


def _scored(query_id: str, docs: Any) -> Mapping[str, float]:
    """Return the retrieved documents of one query with string ids.

    Only the first id and score are looked at: checking the type of each would cost as much as reading them.
    """
    if not isinstance(docs, (dict, Mapping)):  # a dict is told at once
        raise InputError(
            f"the results of a query must be a dict {{doc_id: score}} (found {type(docs).__name__})",
            where=f"query {query_id!r}",
        )
    first, score = next(iter(docs.items()), ("", 0.0))
    if score is None or isinstance(score, (str, bytes)):
        raise not_a_number(score, "score", place=where(query_id, first))
    if isinstance(first, str):
        return docs
    return with_text_ids(docs, "document ids", query_id=query_id)


def _batches(lengths: Ints) -> Iterator[slice]:
    """Split the queries into slices of about _BATCH rows."""
    if not len(lengths):
        return
    number = np.cumsum(lengths) // _BATCH
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(lengths)], strict=True):
        yield slice(start, stop)


def _place_batch(
    judgments: Judgments, index: list[int], docs: list[Mapping[str, float]], lengths: Ints, ties: TieBreak
) -> tuple[Ints, Ints]:
    """Return judgment row and rank of each judged document in these queries."""
    scores = _scores(judgments, index, docs, int(lengths.sum()))
    first = judgments.offsets[index]
    judged = judgments.offsets[1:][index] - first
    row = segments(first, judged)
    documents = judgments.document_list
    looked_up = (
        map(retrieved.get, documents[start:end])
        for retrieved, start, end in zip(docs, first.tolist(), (first + judged).tolist(), strict=True)
    )
    # A document that was not retrieved is None, which numpy reads as NaN; no score is.
    score = np.fromiter(chain.from_iterable(looked_up), np.float64, len(row))
    hit = ~np.isnan(score)
    hits = Hits(np.repeat(np.arange(len(index)), judged)[hit], row[hit], score[hit])
    starts = np.concatenate([[0], np.cumsum(lengths)])

    def ids(i: int, positions: Ints) -> list[str]:
        names = list(docs[i])
        return [text_id(names[position]) for position in positions.tolist()]

    return hits.row, ranks(Rows(scores, starts, ids), hits, judgments, ties)


def _scores(
    judgments: Judgments, index: list[int], docs: list[Mapping[str, float]], n: int
) -> NDArray[np.float64]:
    try:
        scores = np.fromiter(chain.from_iterable(retrieved.values() for retrieved in docs), np.float64, n)
    except (TypeError, ValueError, OverflowError):
        scores = np.full(1, np.nan)
    if np.isnan(scores).any():
        raise next(_wrong_scores(judgments, index, docs))
    return scores


def _wrong_scores(
    judgments: Judgments, index: list[int], docs: list[Mapping[str, float]]
) -> Iterator[InputError]:
    for query, retrieved in zip(index, docs, strict=True):
        for doc_id, score in retrieved.items():
            try:
                wrong = bool(np.isnan(np.fromiter([score], np.float64)[0]))
            except (TypeError, ValueError, OverflowError):
                wrong = True
            if wrong:
                yield not_a_number(score, "score", place=where(judgments.query_ids[query], doc_id))


# --- runs as frames --------------------------------------------------------------------------------


class _Blocks(NamedTuple):
    """The rows of the judged queries, by query: blocks of adjacent rows with one query id.

    Attributes
    ----------
    query, start, length : ndarray, shape (n_blocks,)
        The query of each block, ascending; its first row, and how many rows it has.
    """

    query: Ints
    start: Ints
    length: Ints

    @property
    def rows(self) -> Ints | slice:
        """The rows by query; a slice where they stand so already."""
        adjacent = self.start[1:] == (self.start + self.length)[:-1]
        if len(self.start) and adjacent.all():
            return slice(int(self.start[0]), int(self.start[-1] + self.length[-1]))
        return segments(self.start, self.length)


def find_in_frame(judgments: Judgments, run: pl.DataFrame, ties: TieBreak) -> Found:
    """Find the judged documents of a run that is a frame of query_id, doc_id and score."""
    blocks, n_run_queries = _blocks(judgments, run["query_id"])
    rows = blocks.rows
    score = run["score"].to_numpy()[rows]
    if np.isnan(score).any():
        row = int(np.arange(len(run))[rows][np.isnan(score)][0])
        query_id, doc_id, value = run.row(row)
        raise not_a_number(value, "score", place=where(query_id, doc_id))
    hit = _joined(judgments, run)
    _refuse_duplicates(judgments, hit["row"].to_numpy())
    retrieved = np.bincount(blocks.query, blocks.length, judgments.n_queries).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(retrieved)])
    hits = Hits(hit["query"].to_numpy().astype(np.int64), hit["row"].to_numpy(), hit["score"].to_numpy())
    doc_ids = run["doc_id"]

    def ids(i: int, positions: Ints) -> list[str]:
        place = starts[i] + positions
        return doc_ids.gather(place + rows.start if isinstance(rows, slice) else rows[place]).to_list()

    rank = ranks(Rows(score, starts, ids), hits, judgments, ties)
    answered = int(np.count_nonzero(retrieved))
    some_ids = (doc_ids if answered else run["query_id"].unique(maintain_order=True)).head(2).to_list()
    return Found(hits.row, rank, retrieved, n_run_queries, answered, some_ids)


def _blocks(judgments: Judgments, query_id: pl.Series) -> tuple[_Blocks, int]:
    """Return the blocks of the judged queries, and the number of queries of the run."""
    import polars as pl

    n = len(query_id)
    changes = (query_id.slice(1) != query_id.slice(0, max(n - 1, 0))).arg_true().to_numpy().astype(
        np.int64
    ) + 1
    start = np.concatenate([np.zeros(min(n, 1), np.int64), changes])
    length = np.diff(start, append=n)
    named = pl.DataFrame({"query_id": query_id.gather(start)})
    query = named.join(judgments.queries, on="query_id", how="left", maintain_order="left")["query"]
    index = query.fill_null(-1).to_numpy().astype(np.int64)
    order = np.argsort(index, kind="stable")[np.count_nonzero(index < 0) :]
    return _Blocks(index[order], start[order], length[order]), named["query_id"].n_unique()


def _joined(judgments: Judgments, run: pl.DataFrame) -> pl.DataFrame:
    """Return score, query and judgment row of each judged document; joined by document first: few stay."""
    judged = judgments.frame.lazy()
    documents = judged.select("doc_id").unique()
    candidates = run.lazy().join(documents, on="doc_id", how="semi")
    return candidates.join(judged, on=["query_id", "doc_id"], how="inner").collect()


def _refuse_duplicates(judgments: Judgments, row: Ints) -> None:
    times = np.bincount(row, minlength=1)
    if times.max() > 1:
        raise InputError(
            f"a document may stand once per query (found {times.max()} times)",
            where=judgments.where(int(times.argmax())),
            hint="Remove all rows but one",
        )
