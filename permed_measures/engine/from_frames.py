"""The judged documents of a run that is a frame, or comes in batches: they are joined with the judgments.

It needs memory for one batch and for what was found. Batches are read once if the rows of each query stand
together, and otherwise a second time, to compare what was found with the rows of the other batches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from permed_measures.engine.forks import refuse_after_fork
from permed_measures.engine.inputs import Batches
from permed_measures.engine.judgments import Ints, Judgments, segments
from permed_measures.engine.ranks import Hits, Rows, RunHits, TieBreak, count_ranked_above
from permed_measures.errors import InputError

if TYPE_CHECKING:
    import polars as pl


def find_in_batches(judgments: Judgments, run: Batches, ties: TieBreak) -> RunHits:
    """Find the judged documents of a run that comes as frames of query_id, doc_id and score."""
    refuse_after_fork()
    hits, before = [_NO_HITS], [_NONE]
    query_ids: set[str] = set()
    retrieved = np.zeros(judgments.n_queries, dtype=np.int64)
    some_ids: list[str] = []
    scattered = False
    for frame in run:
        rows, names = _grouped(judgments, frame)
        lengths = rows.end - rows.start
        scattered = scattered or not query_ids.isdisjoint(names)
        query_ids.update(names)
        retrieved += lengths
        hits.append(_joined(judgments, frame))
        before.append(count_ranked_above(rows, hits[-1], judgments, ties))
        some_ids = some_ids or (frame["doc_id"].head(2).to_list() if lengths.any() else [])
    row = np.concatenate([part.row for part in hits])
    rank = np.concatenate(before) + 1
    _refuse_duplicates(judgments, row)
    if scattered:
        rank += _before_in_other_batches(judgments, run, hits, ties)
    answered = int(np.count_nonzero(retrieved))
    return RunHits(row, rank, retrieved, answered, query_ids, some_ids or sorted(query_ids)[:2])


_NONE = np.zeros(0, np.int64)
_NO_HITS = Hits(_NONE, _NONE, np.zeros(0, np.float64), _NONE)


def _before_in_other_batches(judgments: Judgments, run: Batches, hits: list[Hits], ties: TieBreak) -> Ints:
    """Count, for each hit, the rows ranked before it in the batches other than its own."""
    number = np.repeat(np.arange(len(hits)), [len(part.row) for part in hits])
    group, row, score, _ = (np.concatenate(column) for column in zip(*hits, strict=True))
    before = np.zeros(len(row), np.int64)
    for here, frame in enumerate(run, start=1):  # the hits begin with none
        rows, _ = _grouped(judgments, frame)
        near = np.flatnonzero((rows.end - rows.start)[group] > 0)
        asked = Hits(group[near], row[near], score[near], np.sign(number[near] - here))
        counts = count_ranked_above(rows, asked, judgments, ties)
        before[near] += np.where(asked.part == 0, 0, counts)  # those of its own batch are counted already
    return before


def _grouped(judgments: Judgments, frame: pl.DataFrame) -> tuple[Rows, list[str]]:
    """Group the rows of a frame by the query of the judgments; return its query ids too."""
    query, start, length, query_ids = _blocks(judgments, frame["query_id"])
    lengths = np.bincount(query, length, judgments.n_queries).astype(np.int64)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    if (query[1:] > query[:-1]).all():  # the rows of each query stand together: they stay where they are
        starts[query] = start
        return Rows(frame["score"].to_numpy(), starts, starts + lengths, frame["doc_id"].gather), query_ids
    rows = segments(start, length)
    scores = frame["score"].to_numpy()[rows]
    return Rows(scores, starts, ends, lambda positions: frame["doc_id"].gather(rows[positions])), query_ids


def _blocks(judgments: Judgments, query_id: pl.Series) -> tuple[Ints, Ints, Ints, list[str]]:
    """Return query, first row and length of the blocks of judged queries, by query; and all query ids.

    A block is adjacent rows with one query id: ids are compared with their neighbours, and only those of
    blocks are looked up.
    """
    import polars as pl

    n = len(query_id)
    changes = (query_id.slice(1) != query_id.slice(0, max(n - 1, 0))).arg_true().to_numpy()
    start = np.concatenate([np.zeros(min(n, 1), np.int64), changes.astype(np.int64) + 1])
    named = pl.DataFrame({"query_id": query_id.gather(start)})
    index = named.join(judgments.queries, on="query_id", how="left", maintain_order="left")["query"]
    query = index.fill_null(-1).to_numpy().astype(np.int64)
    order = np.argsort(query, kind="stable")[np.count_nonzero(query < 0) :]
    length = np.diff(start, append=n)
    return query[order], start[order], length[order], named["query_id"].unique().to_list()


def _joined(judgments: Judgments, frame: pl.DataFrame) -> Hits:
    """Return the judged documents of a frame; joined by document first, which leaves few rows."""
    judged = judgments.frame.lazy()
    candidates = frame.lazy().join(judgments.judged_documents.lazy(), on="doc_id", how="semi")
    found = candidates.join(judged, on=["query_id", "doc_id"], how="inner").collect()
    query = found["query"].to_numpy().astype(np.int64)
    return Hits(query, found["row"].to_numpy(), found["score"].to_numpy(), np.zeros_like(query))


def _refuse_duplicates(judgments: Judgments, row: Ints) -> None:
    times = np.bincount(row, minlength=1)
    if times.max() > 1:
        raise InputError(
            f"the document is listed {times.max()} times",
            where=judgments.where(int(times.argmax())),
            hint="Remove all rows but one",
        )
