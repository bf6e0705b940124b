"""The order that a file gives to the documents of a query, compared with their scores.

An order contradicts the scores of a query where a score is above the one before it; in a list also where two
are equal and evaluation ranks the second first, by their ids. A list is an order, and so is a column of ranks
where the ranks of a query all differ and begin with 0 or 1. Lines may stand in any order: only if the scores
rise from line to line and never fall, they look like distances, or like ranks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.inputs import block_starts, location
from permed_measures.files.entries import NO_RANK
from permed_measures.markup import counted

if TYPE_CHECKING:
    import polars as pl

_CHANCE = 3
"""As many scores may rise, and none fall, by chance."""


def scores_by_order(documents: Iterable[str], ranks: Sequence[int] = ()) -> dict[str, float]:
    """Return documents with scores that rank them by their ranks, if these are an order, or as they stand."""
    falling = count(-1.0, -1.0)
    ids = list(documents)
    if len(set(ranks)) != len(ids) or min(ranks, default=NO_RANK) not in (0, 1):
        return dict(zip(ids, falling, strict=False))
    scores = dict(zip(sorted(ranks), falling, strict=False))
    return {doc_id: scores[rank] for doc_id, rank in zip(ids, ranks, strict=True)}


def ranked(documents: Mapping[str, float]) -> list[str]:
    """Return the ids by score (as float32) descending, then id descending: trec_eval's order."""
    scores = _as_float32(np.fromiter(documents.values(), np.float64)).tolist()
    return [doc_id for _, doc_id in sorted(zip(scores, documents, strict=True), reverse=True)]


class _Rows(NamedTuple):
    """Rows of a run; those of a query stand together, from each of `starts` on."""

    query_ids: Sequence[str]  # of the queries
    starts: NDArray[np.int64]
    doc_ids: Sequence[str] | pl.Series
    scores: NDArray[np.float32]
    ranks: NDArray[np.int64]

    def above_last(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which values are above the one before them in their query."""
        above = np.ones(len(values), np.bool_)
        above[1:] = values[1:] > values[:-1]
        above[self.starts] = False
        return above

    def firsts(self, rows: NDArray[np.int64]) -> dict[str, str]:
        """Return the queries of some of the rows, in their order, with the document of the first of each."""
        queries = np.searchsorted(self.starts, rows, side="right") - 1
        found, first = np.unique(queries, return_index=True)
        return {
            self.query_ids[query]: self.doc_ids[row]
            for query, row in zip(found.tolist(), rows[first].tolist(), strict=True)
        }


def disordered(lists: Mapping[str, Mapping[str, float]]) -> dict[str, str]:
    """Return the queries whose lists are not in the order of evaluation, each with the first document."""
    found = {}
    for query_id, documents in lists.items():
        scores = _as_float32(np.fromiter(documents.values(), np.float64)).tolist()
        rises = (after for before, after in pairwise(zip(scores, documents, strict=True)) if after > before)
        if first := next(rises, None):
            found[query_id] = first[1]
    return found


class FileOrder:
    """Finds the queries in which the ranks or the lines of a file contradict the scores.

    Attributes
    ----------
    by_rank, by_line : dict of str to str
        These queries, each with the first document whose score is above the one before it.
    """

    def __init__(self) -> None:
        self.by_rank: dict[str, str] = {}
        self.by_line: dict[str, str] = {}
        self._is_ranked = self._falls = False
        self._n_rises = 0

    def add_frame(self, frame: pl.DataFrame) -> list[str]:
        """Look at query_id, doc_id, score and rank of rows; return the queries of the blocks of rows."""
        starts = block_starts(frame["query_id"])
        query_ids = queries = frame["query_id"].gather(starts).to_list()
        if len(set(query_ids)) < len(query_ids):  # their rows do not stand together
            frame = frame.sort("query_id", maintain_order=True)
            starts = block_starts(frame["query_id"])
            query_ids = frame["query_id"].gather(starts).to_list()
        ranks = frame["rank"].fill_null(NO_RANK).to_numpy()
        self._add(_Rows(query_ids, starts, frame["doc_id"], _as_float32(frame["score"].to_numpy()), ranks))
        return queries

    def add_table(self, table: Mapping[str, Mapping[str, float]], ranks: Mapping[str, Sequence[int]]) -> None:
        """Look at a run, and the ranks of those of its queries that have them."""
        filled = {query_id: documents for query_id, documents in table.items() if documents}
        if not filled:
            return
        starts = np.cumsum([0, *map(len, filled.values())])[:-1]
        doc_ids = [doc_id for documents in filled.values() for doc_id in documents]
        scores = np.array([score for documents in filled.values() for score in documents.values()], float)
        all_ranks: list[int] = []
        for query_id, documents in filled.items():
            known = ranks.get(query_id, ())
            all_ranks += known if len(known) == len(documents) else [NO_RANK] * len(documents)
        self._add(_Rows(list(filled), starts, doc_ids, _as_float32(scores), np.array(all_ranks, np.int64)))

    def _add(self, rows: _Rows) -> None:
        rises = rows.above_last(rows.scores)
        self._falls = self._falls or bool(rows.above_last(-rows.scores).any())
        self._n_rises += int(np.count_nonzero(rises))
        self.by_line |= rows.firsts(np.flatnonzero(rises))
        if (rows.ranks != rows.ranks[0]).any():
            self._add_ranked(rows, rises)

    def _add_ranked(self, rows: _Rows, rises: NDArray[np.bool_]) -> None:
        sizes = np.diff(rows.starts, append=len(rises))
        order, ranks = np.arange(len(rises)), rows.ranks
        if np.count_nonzero(rows.above_last(ranks)) < len(rises) - len(sizes):  # the lines are in disorder
            order = np.lexsort((ranks, np.repeat(rows.starts, sizes)))
            ranks, rises = ranks[order], rows.above_last(rows.scores[order])
        n_above = np.add.reduceat(rows.above_last(ranks), rows.starts, dtype=np.int64)
        is_ranked = (n_above == sizes - 1) & (sizes > 1) & (ranks[rows.starts] >> 1 == 0)
        self._is_ranked = self._is_ranked or bool(is_ranked.any())
        self.by_rank |= rows.firsts(order[rises & np.repeat(is_ranked, sizes)])

    def note(self, path: Path, n_queries: int, lines: str = "lines") -> str:
        """Return a note for the user; empty if nothing contradicts the scores."""
        if not self._is_ranked and not self._falls and self._n_rises > _CHANCE:
            return note_of(path, self.by_line, n_queries, f"the {lines}")
        return note_of(path, self.by_rank, n_queries, "the rank column")


def note_of(path: Path, found: Mapping[str, str], n_queries: int, order: str) -> str:
    """Return a note for the user on the queries in which an order contradicts the scores; empty for none."""
    if not found:
        return ""
    verb = "do" if order.endswith("s") else "does"
    first = location(*next(iter(found.items())))
    return (
        f"{path}: in {len(found):,} of {counted(n_queries, 'query')} the scores rank documents "
        f"in another order than {order} {verb} (first: {first}); the scores are used; --order list takes "
        f"{order} on the command line, permed_measures.read_run(path, order='list') in Python"
    )


def _as_float32(scores: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the scores as trec_eval compares them."""
    with np.errstate(over="ignore"):
        return scores.astype(np.float32)
