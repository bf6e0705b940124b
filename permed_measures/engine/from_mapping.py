"""The judged documents of a run that is a mapping: it is asked for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, compress, islice, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.inputs import Floats, Nested, floats, not_a_number, where, with_text_ids
from permed_measures.engine.judgments import Ints, Judgments, segments
from permed_measures.engine.ranks import Hits, Rows, RunHits, TieBreak, count_ranked_above
from permed_measures.errors import InputError, shown

_BATCH = 1 << 18
"""Rows that are looked at together: enough for numpy, small enough for the cache."""


_KEPT = 4_000_000
"""The length of an array that is freed before it is touched: advice to the malloc of glibc, and no memory.

When 32 MB are freed, glibc takes it that as much will be wanted again, and keeps up to 64 MB for the next
arrays. Else it returns the memory of each to the system, which clears every page of the next one. Without
this line, 50 queries of 1,000 documents, 500 judged, take 1.35 times as long; 1,000 such queries with ties
and a measure without cutoff 1.2 times; 3,440 of 100 documents 1.1 times. Another malloc ignores it.
"""


def find_in_mapping(judgments: Judgments, run: Nested, ties: TieBreak, depth: int | None = None) -> RunHits:
    """Find the judged documents of a run that is a mapping; a rank beyond `depth` is any such rank."""
    np.empty(_KEPT)
    named = with_text_ids(run, "query ids of the run")
    found = list(map(named.get, judgments.query_ids, repeat(_NONE)))
    index = [query for query, docs in enumerate(found) if docs is not _NONE]
    docs = _with_text_ids(judgments, index, [found[query] for query in index])
    retrieved = np.zeros(judgments.n_queries, dtype=np.int64)
    retrieved[index] = lengths = np.fromiter(map(len, docs), np.int64, len(docs))
    parts = [
        _place_batch(judgments, index[batch], docs[batch], lengths[batch], ties, depth)
        for batch in _batches(lengths)
    ]
    row, rank = (np.concatenate([_NONE, *(part[i] for part in parts)]) for i in (0, 1))
    some_ids = list(islice(named if not index else chain.from_iterable(docs), 2))
    return RunHits(row, rank, retrieved, len(index), named, some_ids)


_NONE = np.zeros(0, dtype=np.int64)


def _with_text_ids(judgments: Judgments, index: list[int], docs: list[Any]) -> list[Mapping[str, float]]:
    """Return the documents of each query with string ids.

    Only the first id of a query is looked at: checking the type of each would cost as much as reading them.
    """
    if set(map(type, docs)) <= {dict} and {type(next(iter(retrieved), "")) for retrieved in docs} <= {str}:
        return docs
    named = []
    for query, retrieved in zip(index, docs, strict=True):
        query_id = judgments.query_ids[query]
        if not isinstance(retrieved, Mapping):
            raise InputError(
                f"the results of a query must be a dict {{doc_id: score}} (found {type(retrieved).__name__})",
                where=f"query {shown(query_id)}",
            )
        plain = isinstance(next(iter(retrieved), ""), str)
        named.append(retrieved if plain else with_text_ids(retrieved, "document ids", query_id=query_id))
    return named


def _batches(lengths: Ints) -> Iterator[slice]:
    """Split the queries into slices of about _BATCH rows."""
    if not len(lengths):
        return
    number = np.cumsum(lengths) // _BATCH
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(lengths)], strict=True):
        yield slice(start, stop)


def _place_batch(
    judgments: Judgments,
    index: list[int],
    docs: list[Mapping[str, float]],
    lengths: Ints,
    ties: TieBreak,
    depth: int | None,
) -> tuple[Ints, Ints]:
    """Return judgment row and rank of each judged document in these queries."""
    starts = np.concatenate([[0], np.cumsum(lengths)])
    first = judgments.offsets[index]
    judged = judgments.offsets[1:][index] - first
    place = segments(first, judged)
    scores, score = _scores(docs, judgments.document_list, first.tolist(), (first + judged).tolist())
    if np.isnan(scores).any():
        raise _no_score(judgments, index, docs)
    hit = ~np.isnan(score)
    group = np.repeat(np.arange(len(index)), judged)[hit]
    hits = Hits(group, judgments.row_at[place[hit]], score[hit], np.zeros_like(group))

    def ids(positions: Ints) -> Iterator[list[str]]:
        return _ids(docs, starts, positions)

    rows = Rows(scores, starts[:-1], starts[1:], ids)
    return hits.row, count_ranked_above(rows, hits, judgments, ties, depth) + 1


def _ids(docs: Sequence[Mapping[str, float]], starts: Ints, positions: Ints) -> Iterator[list[str]]:
    """Yield the document ids at these positions (ascending) of all documents, one query after the other."""
    queries = np.flatnonzero(np.diff(np.searchsorted(positions, starts)))
    chosen = np.zeros(starts[-1], np.bool_)
    chosen[positions] = True
    bounds, selectors = starts.tolist(), chosen.tobytes()
    for query in queries.tolist():
        yield list(compress(docs[query], selectors[bounds[query] : bounds[query + 1]]))


def _scores(
    docs: list[Mapping[str, float]], documents: list[str], first: list[int], last: list[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return all scores of each query, and those of its judged documents: NaN if one was not retrieved.

    A judged document is looked up when the scores of its query have just been read: they are in the cache.
    """
    scores, found = Floats(), Floats()
    for retrieved, start, end in zip(docs, first, last, strict=True):
        scores.extend(retrieved.values())
        found.extend(map(retrieved.get, documents[start:end], _NAN))
    return scores.array(), found.array()


_NAN = repeat(np.nan)


def _no_score(judgments: Judgments, index: list[int], docs: list[Mapping[str, float]]) -> InputError:
    query, doc_id, score = next(
        (query, doc_id, score)
        for query, retrieved in zip(index, docs, strict=True)
        for doc_id, score in retrieved.items()
        if np.isnan(floats([[score]])[0])
    )
    return not_a_number(score, "score", place=where(judgments.query_ids[query], doc_id))
