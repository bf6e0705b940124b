"""Before and after reranking: how relevant documents moved, which pairs were put right, who gained."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.comparisons.differences import naming, notes_of
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.inputs import Batches, Nested, as_mapping, with_text_ids
from permed_measures.engine.judgments import Judgments, offsets_of, segments
from permed_measures.engine.kernels import KERNELS
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.errors import InputError, PermedWarning
from permed_measures.markup import counted, one_line
from permed_measures.measures.parameters import values_of

__all__ = ["Moves", "Pairs", "QueryChange", "Reranking", "reranking"]

Ints = NDArray[np.int64]

_BLOCK = 1 << 20
"""Pairs of documents that are held at a time."""


@dataclass(frozen=True)
class Moves:
    """By how many ranks relevant documents moved.

    Attributes
    ----------
    up, down, unchanged : int
        Documents that both runs retrieve.
    entered, left : int
        Documents that only the run after, or only the run before retrieves.
    absent : int
        Documents that neither retrieves.
    mean, median : float or None
        Of the rank before minus the rank after (above 0 is up) of the documents that both retrieve; None
        where there are none.
    """

    up: int
    down: int
    unchanged: int
    entered: int
    left: int
    absent: int
    mean: float | None
    median: float | None


@dataclass(frozen=True)
class Pairs:
    """Pairs of a document with a higher and one with a lower grade, retrieved by both runs.

    A pair is right if the higher grade has the better rank.

    Attributes
    ----------
    put_right, broken : int
        Wrong before and right after; right before and wrong after.
    still_right, still_wrong : int
    """

    put_right: int
    broken: int
    still_right: int
    still_wrong: int

    @property
    def total(self) -> int:
        """How many pairs there are."""
        return self.put_right + self.broken + self.still_right + self.still_wrong

    @property
    def improvement(self) -> float | None:
        """Put right minus broken, as a share of all pairs; None without pairs."""
        return (self.put_right - self.broken) / self.total if self.total else None


@dataclass(frozen=True)
class QueryChange:
    """What the reranking did to a query.

    Attributes
    ----------
    query_id : str
    text : str or None
        None where no texts were given, or none for this query.
    before, after : float
        The measure.
    """

    query_id: str
    text: str | None
    before: float
    after: float

    @property
    def difference(self) -> float:
        """After minus before."""
        return self.after - self.before


@dataclass(frozen=True)
class Reranking:
    """What a reranking changed; ``print`` shows it.

    Attributes
    ----------
    measure : Measure
    before, after : float
        Its mean over all queries of the qrels.
    n_gained, n_lost, n_unchanged : int
        Queries on which it rose, fell, or changed by no more than 1e-12.
    moves : Moves
    pairs : Pairs
    gained, lost : list of QueryChange
        The queries that changed most, the largest change first.
    by_query : list of Pairs
        The pairs of each query of the qrels, in ascending order of the ids.
    notes : list of str
        What to know of the runs: queries that they lack, or that have no judgments.
    """

    measure: Measure
    before: float
    after: float
    n_gained: int
    n_lost: int
    n_unchanged: int
    moves: Moves
    pairs: Pairs
    gained: list[QueryChange]
    lost: list[QueryChange]
    by_query: list[Pairs] = field(repr=False)
    notes: list[str]

    def __str__(self) -> str:
        """Return the changes as lines of text."""
        return "\n".join(_lines(self))


def reranking(
    qrels: Any,
    before: Any,
    after: Any,
    measure: Measure | str = "nDCG@10",
    queries: Any = None,
    top: int = 5,
    rel: float = 1,
    judged_only: bool = False,
) -> Reranking:
    """Say what a reranking changed: ranks of relevant documents, pairs of documents, queries.

    Parameters
    ----------
    qrels : any form of qrels
    before, after : any form of a run
        The run that was reranked, and the result.
    measure : Measure or str
        What queries gain and lose in.
    queries : mapping of str to str, or data set of ir_datasets or PyTerrier, optional
        The texts of the queries; if left out, those of the qrels where these are a data set.
    top : int, at least 0
        How many queries to list that gained most, and that lost most.
    rel : float
        The grade from which a document is relevant.
    judged_only : bool
        Whether pairs are of judged documents only. Otherwise unjudged ones, which no measure takes as
        relevant, are the lower ones of pairs too: where only relevant documents are judged, as in LitSearch,
        there are no others.

    Returns
    -------
    Reranking

    Raises
    ------
    MeasureError, InputError
        As for an evaluation; also if the qrels have no query, `top` is no whole number from 0 on, or `rel` is
        nan.

    Notes
    -----
    Ranks are those among all documents retrieved, ties as in every evaluation. A grade below 0 is that of a
    document without relevance: in pairs it counts as 0. Queries with equal changes are in ascending order of
    their ids. A query that a run lacks scores 0, and its relevant documents are not retrieved; the notes
    say how many there are.

    Examples
    --------
    >>> from permed_measures.comparisons.reranking import reranking
    >>> first = {"q": {"c": 3.0, "b": 2.0, "a": 1.0}}
    >>> second = {"q": {"a": 3.0, "c": 2.0, "b": 1.0}}
    >>> result = reranking({"q": {"a": 2, "b": 1, "c": 0}}, first, second, "RR")
    >>> result.moves.up, result.moves.down, result.moves.mean
    (1, 1, 0.5)
    >>> result.pairs
    Pairs(put_right=2, broken=0, still_right=0, still_wrong=1)
    """
    if queries is None and any(hasattr(qrels, each) for each in ("queries_iter", "irds_ref")):
        queries = qrels
    if not isinstance(top, int) or isinstance(top, bool) or top < 0:
        raise InputError(f"top must be a whole number from 0 on (found {top!r})")
    if math.isnan(rel):
        raise InputError(f"rel must be a number (found {rel!r})")
    evaluator = PermedEvaluator([measure], qrels)
    [checked] = evaluator.measures
    judgments = evaluator.judgments
    if not judgments.n_queries:
        raise InputError("there must be a query in the qrels (found none)")
    runs = {"before": before, "after": after}
    if not judged_only:
        runs = {name: _nested(name, run) for name, run in runs.items()}
    first, second = (_Ranked.of(judgments, name, run, checked) for name, run in runs.items())
    change = np.round(second.values - first.values, 12)  # so that rounding does not order equal changes
    gained, lost = np.flatnonzero(change > 0), np.flatnonzero(change < 0)
    best = gained[np.argsort(-change[gained], kind="stable")[:top]]
    worst = lost[np.argsort(change[lost], kind="stable")[:top]]
    texts = _texts(queries, {judgments.query_ids[q] for q in (*best, *worst)})
    pairs = (
        _pairs(judgments, first.rank, second.rank)
        if judged_only
        else _pairs_of_all(judgments, *runs.values())
    )
    return Reranking(
        checked,
        float(first.values.mean()),
        float(second.values.mean()),
        len(gained),
        len(lost),
        len(change) - len(gained) - len(lost),
        _moves(first.rank, second.rank, judgments.grade >= rel),
        Pairs(*pairs.sum(axis=0).tolist()),
        [_changed(q, judgments, texts, first, second) for q in best],
        [_changed(q, judgments, texts, first, second) for q in worst],
        [Pairs(*counts) for counts in pairs.tolist()],
        [*first.notes, *second.notes],
    )


class _Ranked(NamedTuple):
    """A run: its values, and the rank of each judged document.

    Attributes
    ----------
    values : ndarray of float64, shape (n_queries,)
    rank : ndarray of int64, shape (n_judged,)
        By the rows of the judgments; 0 if it was not retrieved.
    notes : list of str
    """

    values: NDArray[np.float64]
    rank: Ints
    notes: list[str]

    @classmethod
    def of(cls, judgments: Judgments, name: str, run: Any, measure: Measure) -> _Ranked:
        """Rank a run once for both."""
        with naming(name):
            rankings, _, rank = _ranked(judgments, run)
        values = KERNELS[str(measure.NAME)](rankings, **values_of(measure))
        return cls(values, rank, notes_of(name, rankings))


def _ranked(judgments: Judgments, run: Any) -> tuple[JudgedRankings, Ints, Ints]:
    """Return the rankings, their rows in the judgments, and the rank by row: 0 if it was not retrieved."""
    found = JudgedRankings.of(judgments, run)
    rank = np.zeros(len(judgments.grade), np.int64)
    rank[found.row] = found.rank
    return found, found.row, rank


def _nested(name: str, run: Any) -> Nested:
    """Return a run as a mapping, which can be gone through twice."""
    with naming(name):
        if isinstance(run, Batches):
            return run.nested()
        return with_text_ids(as_mapping(run, "score"), "query ids")


def _pairs_of_all(judgments: Judgments, before: Nested, after: Nested) -> Ints:
    """Return the pairs of each query; documents that are not judged have grade 0."""
    qrels: dict[str, dict[str, float]] = {query_id: {} for query_id in judgments.query_ids}
    documents = judgments.ids(np.arange(len(judgments.grade)))
    for query, doc_id, grade in zip(
        judgments.query.tolist(), documents, judgments.grade.tolist(), strict=True
    ):
        qrels[judgments.query_ids[query]][doc_id] = grade
    for query_id, judged in qrels.items():
        if max(judged.values(), default=0) > 0:
            found = map(str, before.get(query_id, {}).keys() & after.get(query_id, {}).keys())
            qrels[query_id] = {**dict.fromkeys(found, 0.0), **judged}
    extended = Judgments.of(qrels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PermedWarning)  # which the user has had
        ranks = [_ranked(extended, run)[2] for run in (before, after)]
    return _pairs(extended, *ranks)


def _changed(
    query: int, judgments: Judgments, texts: Mapping[str, str], before: _Ranked, after: _Ranked
) -> QueryChange:
    query_id = judgments.query_ids[query]
    return QueryChange(query_id, texts.get(query_id), float(before.values[query]), float(after.values[query]))


def _moves(before: Ints, after: Ints, relevant: NDArray[np.bool_]) -> Moves:
    """Count how the ranks of relevant documents changed; rank 0 is not retrieved."""
    before, after = before[relevant], after[relevant]
    both = (before > 0) & (after > 0)
    up = (before - after)[both]
    return Moves(
        up=int((up > 0).sum()),
        down=int((up < 0).sum()),
        unchanged=int((up == 0).sum()),
        entered=int(((before == 0) & (after > 0)).sum()),
        left=int(((before > 0) & (after == 0)).sum()),
        absent=int(((before == 0) & (after == 0)).sum()),
        mean=float(up.mean()) if len(up) else None,
        median=float(np.median(up)) if len(up) else None,
    )


def _pairs(judgments: Judgments, before: Ints, after: Ints) -> Ints:
    """Return how many pairs of each query were put right, broken, are still right and still wrong."""
    both = np.flatnonzero((before > 0) & (after > 0))
    query, grade = judgments.query[both], np.maximum(judgments.grade[both], 0)
    counts = np.zeros((judgments.n_queries, 4), np.int64)
    for higher, lower in _unequal(query, grade, judgments.n_queries):
        right_before = before[both[higher]] < before[both[lower]]
        right_after = after[both[higher]] < after[both[lower]]
        kind = np.where(right_after, np.where(right_before, 2, 0), np.where(right_before, 1, 3))
        place = query[higher].astype(np.int64) * 4 + kind
        counts += np.bincount(place, minlength=counts.size).reshape(counts.shape)
    return counts


def _unequal(
    query: NDArray[np.int32], grade: NDArray[np.float64], n_queries: int
) -> Iterator[tuple[Ints, Ints]]:
    """Yield the pairs of rows of one query, the first with a higher grade, in blocks.

    Rows are sorted by query and grade descending: those with a lower grade are the rest of the query, after
    the rows with the same.
    """
    n = len(query)
    changes = np.flatnonzero((np.diff(query) != 0) | (np.diff(grade) != 0)) + 1
    bounds = np.concatenate([[0], changes, [n]]).astype(np.int64)
    lower = np.repeat(bounds[1:], np.diff(bounds))
    number = offsets_of(query, n_queries)[1:][query] - lower
    block = np.cumsum(number) // _BLOCK
    starts = [*np.flatnonzero(np.diff(block, prepend=-1)).tolist(), n]
    for start, stop in pairwise(starts):
        rows = np.arange(start, stop)
        yield np.repeat(rows, number[rows]), segments(lower[rows], number[rows])


def _texts(queries: Any, wanted: set[str]) -> dict[str, str]:
    """Return the texts of these queries, where there are such."""
    if queries is None:
        return {}
    if hasattr(queries, "irds_ref"):  # PyTerrier holds a data set of ir_datasets
        queries = queries.irds_ref()
    if isinstance(queries, Mapping):
        return {str(query_id): str(text) for query_id, text in queries.items() if str(query_id) in wanted}
    if not hasattr(queries, "queries_iter"):
        raise InputError(
            f"queries must be a dict {{query_id: text}} or a data set (found {type(queries).__name__})"
        )
    return {
        query.query_id: query.default_text() if hasattr(query, "default_text") else query.text
        for query in queries.queries_iter()
        if query.query_id in wanted
    }


# --- the report ------------------------------------------------------------------------------------


def _lines(result: Reranking) -> list[str]:
    """Return what a terminal shows."""
    moves, pairs = result.moves, result.pairs
    lines = [
        f"{result.measure}: {result.before:.4f} before, {result.after:.4f} after "
        f"({result.after - result.before:+.4f}); {counted(result.n_gained, 'query')} gained, "
        f"{result.n_lost:,} lost, {result.n_unchanged:,} unchanged",
        f"relevant documents: {moves.up:,} up, {moves.down:,} down, {moves.unchanged:,} unchanged, "
        f"{moves.entered:,} entered, {moves.left:,} left, {moves.absent:,} in neither",
    ]
    if moves.mean is not None and moves.median is not None:
        lines.append(f"ranks up: {moves.mean:+.2f} on average, {moves.median:+g} in the median")
    else:
        lines.append("no relevant document is in both runs")
    share = "" if pairs.improvement is None else f"; net {pairs.improvement:+.1%} of {pairs.total:,}"
    lines.append(
        f"pairs: {pairs.put_right:,} put right, {pairs.broken:,} broken, {pairs.still_right:,} still right, "
        f"{pairs.still_wrong:,} still wrong{share}"
    )
    lines += map(one_line, result.notes)
    for title, changes in (("gained most", result.gained), ("lost most", result.lost)):
        lines += ["", title, *map(_line, changes)] if changes else []
    return lines


def _line(change: QueryChange) -> str:
    text = "" if change.text is None else f"  {' '.join(one_line(change.text).split())}"
    numbers = f"{change.difference:+.4f} ({change.before:.4f} to {change.after:.4f})"
    return f"  {numbers}  {one_line(change.query_id)}{text}"
