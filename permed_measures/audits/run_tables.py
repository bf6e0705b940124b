"""A run as a table, its parts that are ranked, and the rankings of each by tie rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from heapq import nlargest
from operator import itemgetter
from typing import Any

import numpy as np

from permed_measures.conventions.values import Labels
from permed_measures.engine.forms import as_mapping_or_batches, with_string_ids
from permed_measures.engine.inputs import Batches, RunLike, first_repeated
from permed_measures.engine.judgments import Ints, Judgments
from permed_measures.engine.kernels.graded import Spans
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import TieBreak
from permed_measures.files.streams import ScannedRun, with_repeats

_BOUNDS = (TieBreak.OPTIMISTIC, TieBreak.PESSIMISTIC)
"""The rules that look at grades; the others rank every tie between these two."""


class RankedTable:
    """A table of scores, a mapping or a frame, and its rankings.

    Rules that do not look at grades rank all label policies alike.
    """

    def __init__(self, judgments: Judgments, table: Any, trec: JudgedRankings | None = None) -> None:
        self.table = table
        self._judgments = judgments
        self._found: dict[tuple[TieBreak, str | None], JudgedRankings] = {}
        if trec is not None:
            self._found[TieBreak.TREC, None] = trec
        self._spans: Spans | None = None
        self._cut: dict[int, Any] = {}

    def rankings(self, labels: Labels, ties: TieBreak) -> JudgedRankings:
        """Rank the table by a rule."""
        if ties in _BOUNDS:
            return self._ranked(labels.judgments, ties, labels.policy)
        return replace(self._ranked(self._judgments, ties, None), judgments=labels.judgments)

    def ties_matter(self, labels: Labels) -> bool:
        """Return whether any two tied documents have different grades."""
        first, last = (self.rankings(labels, ties) for ties in _BOUNDS)
        if len(first.row) != len(last.row) or (first.query != last.query).any():
            return True
        return bool((first.rank != last.rank).any() or (first.grade != last.grade).any())

    def spans(self, labels: Labels, rankings: JudgedRankings) -> Spans:
        """Return the ranks that each hit could have among the documents with its score.

        Only ties of documents with different grades are looked at; others gain the same in any order.
        """
        if self._spans is None:
            self._spans = self._find_spans(*(self.rankings(labels, ties) for ties in _BOUNDS))
        return Spans(*(each[rankings.row] for each in self._spans))

    def _find_spans(self, best: JudgedRankings, worst: JudgedRankings) -> Spans:
        """Return the first and the last rank by row of the judgments."""
        judgments = best.judgments
        first, last = np.ones(len(judgments.query), np.int64), np.ones(len(judgments.query), np.int64)
        first[best.row] = last[best.row] = best.rank
        differ = first[worst.row] != worst.rank
        numbers = np.unique(worst.query[differ]).tolist()
        lists = lists_of(self.table, [judgments.query_ids[number] for number in numbers])
        for number in numbers:
            scores = lists[judgments.query_ids[number]]
            rising = np.sort(np.fromiter(scores.values(), np.float64, len(scores)))
            rows = best.row[best.offsets[number] : best.offsets[number + 1]]
            ours = np.array([scores[doc] for doc in judgments.ids(rows)], np.float64)
            first[rows] = 1 + len(rising) - np.searchsorted(rising, ours, "right")
            last[rows] = len(rising) - np.searchsorted(rising, ours, "left")
        return Spans(first, last)

    def first_k(self, k: int) -> Any:
        """Return the table cut at rank k; a short list is cut from a longer one."""
        if k not in self._cut:
            longer = min((each for each in self._cut if each > k), default=None)
            self._cut[k] = first_k(self.table if longer is None else self._cut[longer], k)
        return self._cut[k]

    def _ranked(self, judgments: Judgments, ties: TieBreak, policy: str | None) -> JudgedRankings:
        if (ties, policy) not in self._found:
            self._found[ties, policy] = JudgedRankings.of(judgments, self.table, ties)
        return self._found[ties, policy]


class PositivePart(RankedTable):
    """The documents of a table with a score above 0: they are ranked as in the whole, before all others."""

    def __init__(self, whole: RankedTable, counts: Ints) -> None:
        super().__init__(whole._judgments, whole.table)
        self._whole, self._counts = whole, counts

    def spans(self, labels: Labels, rankings: JudgedRankings) -> Spans:
        """Return the ranks that each hit could have among the documents with its score."""
        return self._whole.spans(labels, rankings)

    def _ranked(self, judgments: Judgments, ties: TieBreak, policy: str | None) -> JudgedRankings:
        whole = self._whole._ranked(judgments, ties, policy)
        kept = whole.keep(whole.rank <= self._counts[whole.query])
        return replace(kept, retrieved=self._counts)


def read_once(run: RunLike) -> RunLike:
    """Return a run that is read in batches as one frame, perhaps with documents that are listed twice."""
    if not isinstance(run, ScannedRun):
        return run
    import polars as pl

    frames = list(run)
    frame = pl.concat(frames) if frames else None
    if frame is not None and first_repeated(frame) is not None:
        return with_repeats(run)
    return Batches([] if frame is None else [frame], run.path)


def table_of(run: RunLike) -> Any:
    """Return a run as a mapping with query ids that are texts, or as a frame."""
    table = as_mapping_or_batches(_in_memory(run), "score")
    return with_string_ids(table, "query ids") if isinstance(table, Mapping) else table.whole("score")


def _in_memory(run: RunLike) -> Any:
    if not isinstance(run, Batches):
        return run
    import polars as pl

    frames = list(run)
    return pl.concat(frames) if frames else {}


def query_ids_of(table: Any) -> set[str]:
    """Return the queries of a table."""
    return set(table) if isinstance(table, Mapping) else set(table["query_id"].unique().to_list())


def lists_of(table: Any, query_ids: list[str]) -> dict[str, Mapping[str, float]]:
    """Return the scores of the documents of some queries, by ids that are texts."""
    if isinstance(table, Mapping):
        return {query: _with_string_ids(table[query]) for query in query_ids}
    import polars as pl

    parts = table.filter(pl.col("query_id").is_in(query_ids)).partition_by("query_id", as_dict=True)
    return {
        query: dict(zip(part["doc_id"].to_list(), part["score"].to_list(), strict=True))
        for (query,), part in parts.items()
    }


def _with_string_ids(docs: Mapping[Any, float]) -> Mapping[str, float]:
    return docs if set(map(type, docs)) == {str} else {str(doc): score for doc, score in docs.items()}


def once(table: Any) -> dict[str, Any]:
    """Return a frame with each document once, at its first place; and as others count what is listed again.

    The first place is the one with the highest score.
    """
    import polars as pl

    ids = ["query_id", "doc_id"]
    rows = table.with_row_index("row")
    best = rows.sort("score", descending=True, maintain_order=True).unique(ids, keep="first")
    again = ~pl.col("row").is_in(best["row"].implode())
    other_name = pl.col("doc_id") + "\0" + pl.col("row").cast(pl.String)  # which nobody judges
    return {
        "all": best.sort("row").drop("row"),
        "in_place": rows.with_columns(
            doc_id=pl.when(again).then(other_name).otherwise(pl.col("doc_id"))
        ).drop("row"),
        "last": table.group_by(ids, maintain_order=True).agg(pl.col("score").last()),
    }


# --- parts of a run ----------------------------------------------------------------------------------


def without_self(table: Any) -> Any:
    """Remove documents with the id of their query; None if there are none."""
    if isinstance(table, Mapping):
        found = {query: key for query, docs in table.items() if (key := _key_of(query, docs)) is not None}
        changed = {q: {d: s for d, s in table[q].items() if d != key} for q, key in found.items()}
        return {**table, **changed} if found else None
    import polars as pl

    kept = table.filter(pl.col("query_id") != pl.col("doc_id"))
    return kept if len(kept) < len(table) else None


def positive(whole: RankedTable, judgments: Judgments) -> RankedTable:
    """Return the part of a table with scores above 0; the whole if all are."""
    if isinstance(whole.table, Mapping):
        lists = (whole.table.get(query, {}) for query in judgments.query_ids)
        scores = [np.fromiter(docs.values(), np.float64, len(docs)) for docs in lists]
        above = [each[each > 0] for each in scores]
        counts = list(map(len, above))
        if counts == list(map(len, scores)):
            return whole
        if min(each.min(initial=1) for each in above) > _SMALLEST:
            return PositivePart(whole, np.array(counts, np.int64))
        kept = {query: {d: s for d, s in docs.items() if s > 0} for query, docs in whole.table.items()}
        return RankedTable(judgments, kept)
    import polars as pl

    rows = whole.table.filter(pl.col("score") > 0)
    if len(rows) == len(whole.table):
        return whole
    if len(rows) and rows["score"].min() <= _SMALLEST:
        return RankedTable(judgments, rows)
    sizes = dict(rows.group_by("query_id").len().iter_rows())
    return PositivePart(whole, np.array([sizes.get(query, 0) for query in judgments.query_ids], np.int64))


_SMALLEST = 2.0**-150
"""The largest score that is 0 as a float32, and tied with 0 where scores are compared so."""


def first_k(table: Any, k: int) -> Any:
    """Cut each list at rank k, tied documents in the order of the rows."""
    if not isinstance(table, Mapping):
        ranked = table.sort("score", descending=True, maintain_order=True)
        return ranked.group_by("query_id", maintain_order=True).head(k)
    return {query: dict(nlargest(k, docs.items(), key=_score)) for query, docs in table.items()}


_score = itemgetter(1)


def _key_of(text: str, docs: Mapping[Any, float]) -> Any:
    """Return the document id equal to this text, as a string or an integer; None without one."""
    if text in docs:
        return text
    try:
        return int(text) if str(int(text)) == text and int(text) in docs else None
    except ValueError:
        return None


def judged_by_list(rankings: JudgedRankings, whole: JudgedRankings) -> JudgedRankings:
    """Return rankings as if only the documents were judged that the whole lists have."""
    judgments = rankings.judgments
    listed = np.zeros(len(judgments.query), bool)
    listed[whole.row] = True
    number = np.cumsum(listed) - 1
    kept = replace(
        judgments,
        query=judgments.query[listed],
        grade=judgments.grade[listed],
        order=judgments.order[listed],
        documents=judgments.ids(np.flatnonzero(listed)),
    )
    return replace(rankings, judgments=kept, row=number[rankings.row])
