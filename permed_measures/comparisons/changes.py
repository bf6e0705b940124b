"""What a reranking changed: numbers, and their report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from ir_measures.measures import Measure

from permed_measures.comparisons.moves import Moves, Pairs
from permed_measures.files.provenance import Origin, provenance
from permed_measures.markup import counted
from permed_measures.measures.headings import explained, headings_of, name_of
from permed_measures.results.report import Report, Result, Section, titled


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


@dataclass(frozen=True, repr=False)
class Reranking(Result):
    """What a reranking changed; ``print`` shows it.

    ``to_polars`` and ``to_pandas`` give a row for each query of the qrels, as do CSV and JSONL.

    Attributes
    ----------
    measure : Measure
    before, after : float
        Its mean over all queries of the qrels.
    n_gained, n_lost, n_unchanged : int
        Number of queries on which it rose, fell, or changed by no more than 1e-12.
    moves : Moves
    pairs : Pairs
    early : Pairs
        Those whose documents are both within the cutoff in both runs.
    cutoff : int or None
    gained, lost : list of QueryChange
        The queries that changed most, the largest change first.
    by_query : list of Pairs
        The pairs of each query of the qrels, in ascending order of the ids.
    notes : list of str
        Notes on the runs: queries that they lack, or that have no judgments.
    queries : list of QueryChange
        All queries of the qrels, in ascending order of the ids.
    names : (str, str)
        What the two runs are called.
    origin : Origin or None
        Where the qrels and the runs come from.
    """

    measure: Measure
    before: float
    after: float
    n_gained: int
    n_lost: int
    n_unchanged: int
    moves: Moves
    pairs: Pairs
    early: Pairs
    cutoff: int | None
    gained: list[QueryChange]
    lost: list[QueryChange]
    by_query: list[Pairs]
    notes: list[str]
    queries: list[QueryChange]
    names: tuple[str, str] = ("before", "after")
    origin: Origin | None = field(default=None)

    def __repr__(self) -> str:
        """Name the measure and its values."""
        return f"<Reranking: {_means(self)}, {counted(len(self.queries), 'query')}>"

    def report(self) -> Report:
        """Return what the reranking changed."""
        return Report(
            titled(self.origin, 2, len(self.queries)),
            [f"{_means(self)}; {_queries(self)}.", *(f"{each}." for each in explained([self.measure]))],
            [
                Section("relevant documents", texts=_documents(self.moves)),
                Section("pairs of documents with different grades", texts=[*_pairs(self)]),
                *_most(self),
            ],
            self.notes,
            self._content,
            self._rows,
        )

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {**asdict(change), "difference": change.difference, **asdict(pairs)}
            for change, pairs in zip(self.queries, self.by_query, strict=True)
        ]

    def _content(self) -> dict[str, Any]:
        return {
            "measure": name_of(self.measure),
            "names": self.names,
            "before": self.before,
            "after": self.after,
            "gained": self.n_gained,
            "lost": self.n_lost,
            "unchanged": self.n_unchanged,
            "moves": asdict(self.moves),
            "pairs": asdict(self.pairs) | {"improvement": self.pairs.improvement},
            "p_imp": {
                "cutoff": self.cutoff,
                "put_right": self.early.put_right,
                "pairs": self.early.total,
                "share": self.early.share_put_right,
            },
            "by_query": self._rows(),
            "notes": self.notes,
            "provenance": provenance([self.measure], self.origin),
        }


def _means(result: Reranking) -> str:
    [heading], (before, after) = headings_of([result.measure]), result.names
    difference = f"{result.after - result.before:+.4f}"
    return f"{heading}: {result.before:.4f} {before}, {result.after:.4f} {after} ({difference})"


def _queries(result: Reranking) -> str:
    gained = counted(result.n_gained, "query")
    return f"{gained} gained, {result.n_lost:,} lost, {result.n_unchanged:,} unchanged"


def _documents(moves: Moves) -> list[str]:
    counts = (
        f"{moves.up:,} up, {moves.down:,} down, {moves.unchanged:,} unchanged, {moves.entered:,} entered, "
        f"{moves.left:,} left, {moves.absent:,} in neither"
    )
    if moves.mean is None:
        return [counts, "no relevant document is in both runs"]
    mean, median = _direction(moves.mean, ".2f"), _direction(moves.median or 0, "g")
    return [counts, f"ranks: {mean} on average, {median} in the median"]


def _direction(ranks_up: float, form: str) -> str:
    if not float(f"{ranks_up:{form}}"):  # no direction for what is shown as 0
        return "0"
    return f"{abs(ranks_up):{form}} {'up' if ranks_up > 0 else 'down'}"


def _pairs(result: Reranking) -> Iterator[str]:
    """Count the pairs, and give P-imp@k where there is a k."""
    pairs, early, k = result.pairs, result.early, result.cutoff
    share = "" if pairs.improvement is None else f"; net {pairs.improvement:+.1%} of {pairs.total:,}"
    yield (
        f"{pairs.put_right:,} put right, {pairs.broken:,} broken, {pairs.still_right:,} still right, "
        f"{pairs.still_wrong:,} still wrong{share}"
    )
    if k is not None and early.share_put_right is not None:
        of = f"{early.put_right:,} of {counted(early.total, 'pair')} within the first {k:,} of both runs"
        yield f"P-imp@{k}: {early.share_put_right:.4f} ({of} put right)"


def _most(result: Reranking) -> Iterator[Section]:
    """Yield the queries that changed most, if there are any."""
    lists = {"queries that gained most": result.gained, "queries that lost most": result.lost}
    for heading, changes in lists.items():
        if changes:
            yield Section(heading, texts=[*map(_line, changes)])


def _line(change: QueryChange) -> str:
    text = "" if change.text is None else f"  {' '.join(change.text.split())}"
    return f"{change.difference:+.4f} ({change.before:.4f} to {change.after:.4f})  {change.query_id}{text}"
