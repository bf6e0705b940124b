"""The judged documents of a run that comes in parts, such as batches: they are joined with the judgments.

It needs memory for one part and for what was found. Parts are read once if the rows of each query stand in
one of them, and otherwise a second time, to compare what was found with the rows of the other parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.forks import refuse_after_fork
from permed_measures.engine.inputs import Batches, block_starts
from permed_measures.engine.judgments import Ints, Judgments, segments
from permed_measures.engine.ranks import Hits, Rows, RunHits, TieBreak, count_ranked_above
from permed_measures.errors import RepeatedDocumentError

if TYPE_CHECKING:
    import polars as pl


def find_in_batches(judgments: Judgments, run: Batches, ties: TieBreak) -> RunHits:
    """Find the judged documents of a run that comes as frames of query_id, doc_id and score."""
    refuse_after_fork()
    by_hash = run.reads_ahead
    parts = (PartHits.of(judgments, frame, ties, number, by_hash) for number, frame in enumerate(run))
    hits = PartHits.merged(parts)
    hits.refuse_duplicates(judgments)
    before = np.zeros_like(hits.before)
    if hits.scattered.any():
        for number, frame in enumerate(run):
            # Rows that come in another order may now be in another batch: -1 is none of the first time.
            place = number if run.keeps_order or ties.by_position else -1
            before += hits.count_before_in(judgments, frame, ties, place)
        if ties.by_position:
            run.refuse_other_order()
    return hits.of_run(judgments, before)


@dataclass(frozen=True, eq=False)
class PartHits:
    """The hits of one part of a run, or of several: what parts know of the rankings of the whole.

    Parts are merged in any order, with the same result: `merged` is associative and commutative, and so is
    the sum of what `count_before_in` returns. A run may be divided anywhere.

    Attributes
    ----------
    row, score, part, before : ndarray, shape (n_hits,)
        Of each hit its judgment, its score, the number of its part, and how many rows of this part are ranked
        before it.
    query, retrieved : ndarray of int64, shape (n_answered,)
        The judged queries of these parts, ascending, and how many rows each has.
    scattered : ndarray of bool, shape (n_answered,)
        Whether there are rows of the query in several parts: then all parts must be asked for its hits.
    query_ids : set of str
        All queries of these parts.
    some_ids : tuple of (int, list of str)
        Two document ids of the first of these parts that has a judged query, and its number.

    Examples
    --------
    >>> import polars as pl
    >>> judgments = Judgments.of({"q": {"a": 1}})
    >>> first = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["x", "a"], "score": [3.0, 2.0]})
    >>> second = pl.DataFrame({"query_id": ["q"], "doc_id": ["y"], "score": [2.5]})
    >>> ties, frames = TieBreak.TREC, list(enumerate([first, second]))
    >>> hits = PartHits.merged(PartHits.of(judgments, frame, ties, number) for number, frame in frames)
    >>> hits.scattered.tolist()
    [True]
    >>> before = sum(hits.count_before_in(judgments, frame, ties, number) for number, frame in frames)
    >>> hits.of_run(judgments, before).rank.tolist()
    [3]
    """

    row: Ints
    score: NDArray[np.float64]
    part: Ints
    before: Ints
    query: Ints
    retrieved: Ints
    scattered: NDArray[np.bool_]
    query_ids: set[str]
    some_ids: tuple[int, list[str]]

    @classmethod
    def of(
        cls,
        judgments: Judgments,
        frame: pl.DataFrame,
        ties: TieBreak,
        number: int = 0,
        by_hash: bool = False,
    ) -> PartHits:
        """Find the hits of a part.

        Parameters
        ----------
        judgments : Judgments
        frame : polars.DataFrame
            query_id, doc_id (strings) and score (Float64) of the rows.
        ties : TieBreak
        number : int, default 0
            Another one for each part; where ties go by position it matters which part has the lower.
        by_hash : bool, default False
            Whether to find hits by hashes: a join would wait for the threads of polars, if these read on.
        """
        starts = block_starts(frame["query_id"])
        rows, names = _grouped(judgments, frame, starts)
        lengths = rows.end - rows.start
        query = np.flatnonzero(lengths)
        found = _found_by_hash(judgments, frame, starts) if by_hash else _joined(judgments, frame)
        before = count_ranked_above(rows, found, judgments, ties)
        some_ids = frame["doc_id"].head(2).to_list() if len(query) else []
        part = np.full(len(found.row), number, np.int64)
        scattered = np.zeros(len(query), np.bool_)
        counts = query, lengths[query], scattered
        return cls(found.row, found.score, part, before, *counts, set(names), (number, some_ids))

    @classmethod
    def merged(cls, parts: Iterable[PartHits]) -> PartHits:
        """Return the hits of all these parts, which no two of them may share."""
        total, parts = _NO_HITS, iter(parts)
        while some := list(islice(parts, _TOGETHER)):
            total = _merged([total, *some])
        return total

    def count_before_in(self, judgments: Judgments, frame: pl.DataFrame, ties: TieBreak, number: int) -> Ints:
        """Count, for each hit of a scattered query, the rows of this part that are ranked before it.

        Parameters
        ----------
        judgments, frame, ties, number
            As in `of`. Unless ties go by the order of the input, the run may be divided otherwise than it was
            when the hits were found, under numbers that were not used then.

        Returns
        -------
        ndarray of int64, shape (n_hits,)
            0 for the hits of other queries.
        """
        before = np.zeros(len(self.row), np.int64)
        rows, _ = _grouped(judgments, frame, block_starts(frame["query_id"]))
        wanted = rows.end > rows.start
        wanted[self.query[~self.scattered]] = False
        query = judgments.query[self.row].astype(np.int64)
        near = np.flatnonzero(wanted[query])
        if len(near):
            side = np.sign(self.part[near] - number)
            asked = Hits(query[near], self.row[near], self.score[near], side)
            before[near] = count_ranked_above(rows, asked, judgments, ties)
        return before

    def of_run(self, judgments: Judgments, before: Ints) -> RunHits:
        """Return the hits with their ranks, if these are all parts of a run.

        Parameters
        ----------
        judgments : Judgments
        before : ndarray of int64, shape (n_hits,)
            The sum of `count_before_in` over all parts; zeros if no query is scattered.
        """
        retrieved = np.zeros(judgments.n_queries, np.int64)
        retrieved[self.query] = self.retrieved
        counted_again = np.isin(judgments.query[self.row], self.query[self.scattered])
        rank = np.where(counted_again, before, self.before) + 1
        some_ids = self.some_ids[1] or sorted(self.query_ids)[:2]
        return RunHits(self.row, rank, retrieved, len(self.query), self.query_ids, some_ids)

    def refuse_duplicates(self, judgments: Judgments) -> None:
        """Raise InputError if a judged document is listed twice in its query."""
        refuse_repeated(judgments, *np.unique(self.row, return_counts=True))


def refuse_repeated(judgments: Judgments, row: Ints, times: Ints) -> None:
    """Raise InputError if one of these judged documents is listed more than once in its query."""
    if times.max(initial=0) > 1:
        most = int(times.argmax())
        raise RepeatedDocumentError(
            f"the document is listed {times[most]} times",
            where=judgments.where(int(row[most])),
            hint="Remove all rows but one",
        )


_NONE = np.zeros(0, np.int64)
_NO_HITS = PartHits(_NONE, np.zeros(0), _NONE, _NONE, _NONE, _NONE, np.zeros(0, np.bool_), set(), (0, []))
_TOGETHER = 64
"""Parts that are merged at a time: merging each with all before would take quadratic time."""


def _merged(parts: list[PartHits]) -> PartHits:
    row, score, part, before = (
        np.concatenate([getattr(each, name) for each in parts]) for name in ("row", "score", "part", "before")
    )
    place = np.concatenate([each.query for each in parts])
    query, place, times = np.unique(place, return_inverse=True, return_counts=True)
    retrieved = np.zeros(len(query), np.int64)
    np.add.at(retrieved, place, np.concatenate([each.retrieved for each in parts]))
    scattered = times > 1
    scattered[place[np.concatenate([each.scattered for each in parts])]] = True
    query_ids = set().union(*(each.query_ids for each in parts))
    named = (each.some_ids for each in parts if each.some_ids[1])
    some_ids = min(named, default=(0, []))
    return PartHits(row, score, part, before, query, retrieved, scattered, query_ids, some_ids)


def _grouped(judgments: Judgments, frame: pl.DataFrame, blocks: Ints) -> tuple[Rows, list[str]]:
    """Group the rows of a frame by the query of the judgments; return its query ids too."""
    query, start, length, query_ids = _blocks(judgments, frame["query_id"], blocks)
    lengths = np.bincount(query, length, judgments.n_queries).astype(np.int64)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    if (query[1:] > query[:-1]).all():  # the rows of each query stand together: they stay where they are
        starts[query] = start
        scores = frame["score"].to_numpy()
        return Rows(scores, starts, starts + lengths, lambda rows: [frame["doc_id"].gather(rows)]), query_ids
    rows = segments(start, length)
    scores = frame["score"].to_numpy()[rows]
    return Rows(scores, starts, ends, lambda positions: [frame["doc_id"].gather(rows[positions])]), query_ids


def _blocks(judgments: Judgments, query_id: pl.Series, start: Ints) -> tuple[Ints, Ints, Ints, list[str]]:
    """Return query, first row and length of the blocks of judged queries, by query; and all query ids."""
    named = query_id.gather(start)
    query = judgments.queries_of(named)
    order = np.argsort(query, kind="stable")[np.count_nonzero(query < 0) :]
    length = np.diff(start, append=len(query_id))
    return query[order], start[order], length[order], named.unique().to_list()


def _found_by_hash(judgments: Judgments, frame: pl.DataFrame, starts: Ints) -> Hits:
    """Return the judged documents of a frame."""
    row, judgment = judgments.rows_of(frame, starts)
    query = judgments.query[judgment].astype(np.int64)
    return Hits(query, judgment, frame["score"].gather(row).to_numpy(), np.zeros_like(query))


def _joined(judgments: Judgments, frame: pl.DataFrame) -> Hits:
    """Return the judged documents of a frame; joined by document first, which leaves few rows."""
    judged = judgments.frame.lazy()
    candidates = frame.lazy().join(judgments.judged_documents.lazy(), on="doc_id", how="semi")
    found = candidates.join(judged, on=["query_id", "doc_id"], how="inner").collect()
    query = found["query"].to_numpy().astype(np.int64)
    return Hits(query, found["row"].to_numpy(), found["score"].to_numpy(), np.zeros_like(query))
