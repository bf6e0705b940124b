"""The judged documents of a run that is a mapping: it is asked for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.inputs import Nested, floats, not_a_number, text_id, where, with_text_ids
from permed_measures.engine.judgments import Ints, Judgments, segments
from permed_measures.engine.ranks import Hits, Rows, RunHits, TieBreak, count_ranked_above
from permed_measures.errors import InputError, shown

_BATCH = 1 << 18
"""Rows that are looked at together: enough for numpy, small enough for the cache."""


def find_in_mapping(judgments: Judgments, run: Nested, ties: TieBreak) -> RunHits:
    """Find the judged documents of a run that is a mapping."""
    named = with_text_ids(run, "query ids of the run")
    index = [query for query, query_id in enumerate(judgments.query_ids) if query_id in named]
    docs = _with_text_ids(judgments, index, [named[judgments.query_ids[query]] for query in index])
    retrieved = np.zeros(judgments.n_queries, dtype=np.int64)
    retrieved[index] = lengths = np.fromiter(map(len, docs), np.int64, len(docs))
    parts = [
        _place_batch(judgments, index[batch], docs[batch], lengths[batch], ties)
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
    judgments: Judgments, index: list[int], docs: list[Mapping[str, float]], lengths: Ints, ties: TieBreak
) -> tuple[Ints, Ints]:
    """Return judgment row and rank of each judged document in these queries."""
    starts = np.concatenate([[0], np.cumsum(lengths)])
    scores = _scores(judgments, index, docs)
    first = judgments.offsets[index]
    judged = judgments.offsets[1:][index] - first
    place = segments(first, judged)
    documents = judgments.document_list
    looked_up = (
        map(retrieved.get, documents[start:end], repeat(np.nan))
        for retrieved, start, end in zip(docs, first.tolist(), (first + judged).tolist(), strict=True)
    )
    score = floats(looked_up)
    hit = ~np.isnan(score)
    group = np.repeat(np.arange(len(index)), judged)[hit]
    hits = Hits(group, judgments.row_at[place[hit]], score[hit], np.zeros_like(group))

    def ids(positions: Ints) -> list[str]:
        return _ids(docs, starts, positions)

    return hits.row, count_ranked_above(Rows(scores, starts[:-1], starts[1:], ids), hits, judgments, ties) + 1


def _ids(docs: Sequence[Mapping[str, float]], starts: Ints, positions: Ints) -> list[str]:
    """Return the document ids at these positions of all documents, one query after the other."""
    query = np.searchsorted(starts, positions, side="right") - 1
    queries = np.unique(query)
    names = list(chain.from_iterable(docs[i] for i in queries.tolist()))
    lengths = np.diff(starts)[queries]
    before = np.cumsum(lengths) - lengths
    places = before[np.searchsorted(queries, query)] + positions - starts[query]
    found = list(map(names.__getitem__, places.tolist()))
    return found if set(map(type, found)) <= {str} else list(map(text_id, found))


def _scores(judgments: Judgments, index: list[int], docs: list[Mapping[str, float]]) -> NDArray[np.float64]:
    scores = floats(retrieved.values() for retrieved in docs)
    if not np.isnan(scores).any():
        return scores
    query, doc_id, score = next(
        (query, doc_id, score)
        for query, retrieved in zip(index, docs, strict=True)
        for doc_id, score in retrieved.items()
        if np.isnan(floats([[score]])[0])
    )
    raise not_a_number(score, "score", place=where(judgments.query_ids[query], doc_id))
