"""Where the judged documents stand in a run: the only view of a run that a measure needs.

The rank of a judged document is one plus the number of scores above its own, plus the tied documents that
come first. So a run is never sorted as a whole, and the ids of unjudged documents matter only within a tie.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.errors import InputError, NoSharedQueryWarning, PermedWarning
from permed_measures.inputs import Nested, as_mapping_or_frame, not_a_number, text_id, where, with_text_ids
from permed_measures.judgments import Judgments, offsets_of, position_in_query, segments
from permed_measures.ranks import Hits, Ints, Rows, TieBreak, ranks

if TYPE_CHECKING:
    import polars as pl

__all__ = ["JudgedRankings", "Relevant"]

_BATCH = 1 << 18
"""Rows of a mapping that are looked at together: enough for numpy, small enough for the cache."""


class Relevant(NamedTuple):
    """The relevant documents of a ranking, sorted by query and rank.

    Attributes
    ----------
    query, rank, grade : ndarray
        As in `JudgedRankings`.
    found : ndarray of int64
        How many relevant documents the query has up to this rank.
    """

    query: NDArray[np.int32]
    rank: NDArray[np.int32]
    grade: NDArray[np.float64]
    found: Ints


@dataclass(frozen=True, eq=False)
class JudgedRankings:
    """The judged documents of a run, sorted by query and rank.

    Attributes
    ----------
    judgments : Judgments
        What the run is judged by.
    query : ndarray of int32, shape (n_rows,)
        The query of each judged document that was retrieved, as an index into ``judgments.query_ids``.
    rank : ndarray of int32, shape (n_rows,)
        Its rank among all retrieved documents, from 1.
    grade : ndarray of float64, shape (n_rows,)
        Its grade.
    retrieved : ndarray of int64, shape (n_queries,)
        How many documents were retrieved for each query.
    n_run_queries : int
        Queries of the run, judged or not.
    n_answered : int
        Queries of the qrels that the run has.
    """

    judgments: Judgments
    query: NDArray[np.int32]
    rank: NDArray[np.int32]
    grade: NDArray[np.float64]
    retrieved: Ints
    n_run_queries: int
    n_answered: int
    _relevant: dict[float, Relevant] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, judgments: Judgments, run: Any, ties: TieBreak = TieBreak.TREC) -> JudgedRankings:
        """Find the judged documents of a run in any form (see ``inputs``).

        Parameters
        ----------
        judgments : Judgments
        run : mapping, iterable of namedtuples, or pandas, polars or pyarrow frame
            Rows in any order; an iterable is consumed once.
        ties : TieBreak, default TieBreak.TREC
            The order of documents with equal scores.

        Returns
        -------
        JudgedRankings
            The same arrays for every form.

        Raises
        ------
        InputError
            For a score that is no number, an id that is no string or integer, a judged document that
            stands twice under its query; the message names query and document.

        Warns
        -----
        PermedWarning
            If the run is not empty, but has no query of the qrels, or no judged document.
        """
        table = as_mapping_or_frame(run, "score")
        if isinstance(table, Mapping):
            found = _read_mapping(judgments, table, ties)
        else:
            found = _read_frame(judgments, table, ties)
        rankings = cls(judgments, *_in_order(judgments, found), *found.counts)
        _warn_if_disjoint(rankings, found.some_ids)
        return rankings

    @classmethod
    def ideal(cls, judgments: Judgments, gain: NDArray[np.float64] | None = None) -> JudgedRankings:
        """Return the rankings that retrieve all judged documents, by grade (or `gain`) descending."""
        order = slice(None) if gain is None else np.lexsort((-gain, judgments.query))
        rank = position_in_query(judgments.query, judgments.n_queries).astype(np.int32)
        retrieved = np.diff(judgments.offsets)
        n = judgments.n_queries
        return cls(judgments, judgments.query, rank, judgments.grade[order], retrieved, n, n)

    @property
    def n_queries(self) -> int:
        """The number of queries in the qrels."""
        return self.judgments.n_queries

    @cached_property
    def offsets(self) -> Ints:
        """Where the rows of each query begin; shape (n_queries + 1,)."""
        return offsets_of(self.query, self.n_queries)

    @cached_property
    def condensed(self) -> JudgedRankings:
        """The rankings without unjudged documents.

        A negative grade counts as unjudged here: trec_eval's ``-J`` takes these documents out as well
        (seen with pytrec-eval-terrier 0.5.11).
        """
        kept = self.keep(self.grade >= 0)
        rank = position_in_query(kept.query, self.n_queries).astype(np.int32)
        return replace(kept, rank=rank, retrieved=np.diff(kept.offsets))

    @cached_property
    def ideal_of_qrels(self) -> JudgedRankings:
        """The rankings that retrieve all judged documents, by grade descending."""
        return JudgedRankings.ideal(self.judgments)

    def relevant(self, rel: float) -> Relevant:
        """Return the documents with a grade of at least `rel`; many measures share them."""
        if rel not in self._relevant:
            rows = self.keep(self.grade >= rel)
            found = position_in_query(rows.query, self.n_queries)
            self._relevant[rel] = Relevant(rows.query, rows.rank, rows.grade, found)
        return self._relevant[rel]

    def keep(self, rows: NDArray[np.bool_]) -> JudgedRankings:
        """Return the rankings with only these rows, ranks unchanged."""
        return replace(self, query=self.query[rows], rank=self.rank[rows], grade=self.grade[rows])


class _Found(NamedTuple):
    """What reading a run gives: a rank for each judgment that was retrieved, in any order."""

    row: Ints
    rank: Ints
    retrieved: Ints
    n_run_queries: int
    n_answered: int
    some_ids: list[str]

    @property
    def counts(self) -> tuple[Ints, int, int]:
        return self.retrieved, self.n_run_queries, self.n_answered


def _in_order(judgments: Judgments, found: _Found) -> tuple[Any, Any, Any]:
    """Return query, rank and grade, sorted by query and rank."""
    query = judgments.query[found.row]
    order = np.lexsort((found.rank, query))
    return query[order], found.rank[order].astype(np.int32), judgments.grade[found.row[order]]


def _warn_if_disjoint(rankings: JudgedRankings, some_ids: list[str]) -> None:
    judgments = rankings.judgments
    if not rankings.n_run_queries or not len(judgments.query):
        return
    kind = PermedWarning
    if not rankings.n_answered:
        kind = NoSharedQueryWarning
        problem = (
            f"the run and the qrels share no query: the run has {_some(some_ids)}, "
            f"the qrels {_some(judgments.query_ids)}"
        )
    elif not len(rankings.query) and rankings.retrieved.any():
        judged = list(islice(judgments.documents, 2))
        problem = (
            f"no retrieved document is judged: the run has {_some(some_ids)}, the qrels judge {_some(judged)}"
        )
    else:
        return
    warnings.warn(f"{problem}; every value is that of an empty run", kind, stacklevel=6)


def _some(ids: Iterable[str]) -> str:
    return ", ".join(map(repr, islice(ids, 2)))


# --- runs as mappings ------------------------------------------------------------------------------


def _read_mapping(judgments: Judgments, run: Nested, ties: TieBreak) -> _Found:
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
    return _Found(row, rank, retrieved, len(run), len(index), some_ids)


_NONE = np.zeros(0, dtype=np.int64)


def _scored(query_id: str, docs: Any) -> Mapping[str, float]:
    """Return the retrieved documents of one query with string ids.

    Only the first id and score are looked at: checking the type of each would cost as much as reading them.
    """
    if not isinstance(docs, Mapping):
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


def _read_frame(judgments: Judgments, run: pl.DataFrame, ties: TieBreak) -> _Found:
    import polars as pl

    queries = pl.DataFrame(
        {
            "query_id": pl.Series(judgments.query_ids, dtype=pl.String),
            "query": np.arange(judgments.n_queries, dtype=np.int32),
        }
    )
    n_run_queries = run["query_id"].n_unique()
    rows = run.join(queries, on="query_id", how="inner", maintain_order="left")
    wrong = rows.filter(pl.col("score").is_nan())
    if len(wrong):
        query_id, doc_id, score, _ = wrong.row(0)
        raise not_a_number(score, "score", place=where(query_id, doc_id))
    if not rows["query"].is_sorted():
        rows = rows.sort("query", maintain_order=True)
    query, doc_ids = rows["query"].to_numpy(), rows["doc_id"]
    hit = rows.select("query", "doc_id", "score").join(judgments.frame, on=["query", "doc_id"], how="inner")
    hits = Hits(hit["query"].to_numpy().astype(np.int64), hit["row"].to_numpy(), hit["score"].to_numpy())
    _refuse_duplicates(judgments, hits.row)
    starts = offsets_of(query, judgments.n_queries)

    def ids(i: int, positions: Ints) -> list[str]:
        return doc_ids.gather(starts[i] + positions).to_list()

    rank = ranks(Rows(rows["score"].to_numpy(), starts, ids), hits, judgments, ties)
    retrieved = np.diff(starts)
    answered = int(np.count_nonzero(retrieved))
    some_ids = (doc_ids if answered else run["query_id"].unique(maintain_order=True)).head(2).to_list()
    return _Found(hits.row, rank, retrieved, n_run_queries, answered, some_ids)


def _refuse_duplicates(judgments: Judgments, row: Ints) -> None:
    times = np.bincount(row, minlength=1)
    if times.max() > 1:
        raise InputError(
            f"a document may stand once per query (found {times.max()} times)",
            where=judgments.where(int(times.argmax())),
            hint="Remove all rows but one",
        )
