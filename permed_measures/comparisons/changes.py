"""What a reranking changed: as data, and as text, HTML and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from ir_measures.measures import Measure

from permed_measures.comparisons.moves import Moves, Pairs
from permed_measures.errors import check_choice
from permed_measures.files.provenance import Origin, provenance
from permed_measures.frames import Tabular
from permed_measures.markup import as_html, as_json, counted, html_table
from permed_measures.measures.headings import explained, headings_of, name_of
from permed_measures.terminal import section


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
class Reranking(Tabular):
    """What a reranking changed; ``print`` shows it.

    ``to_polars`` and ``to_pandas`` give a row for each query of the qrels.

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

    def to(self, form: str) -> str:
        """Write it in a form for a terminal or another program.

        Parameters
        ----------
        form : {'table', 'json'}

        Raises
        ------
        InputError
            For another form.
        """
        check_choice("form", form, RERANKING_FORMATS)
        return RERANKING_FORMATS[form](self)

    def __str__(self) -> str:
        """Describe the changes, in lines that fit the terminal."""
        return _as_text(self).rstrip("\n")

    def __repr__(self) -> str:
        """Name the measure and its values."""
        return f"<Reranking: {_means(self)}, {counted(len(self.queries), 'query')}>"

    def _repr_html_(self) -> str:
        """Describe the changes for a notebook."""
        parts = []
        for heading, texts in _summary(self):
            parts.append(f"<p><strong>{as_html(heading)}</strong></p>")
            parts += [f"<p>{as_html(text)}</p>" for text in texts]
        for heading, changes in _most(self):
            labels = ["query", "text"] if any(each.text for each in changes) else ["query"]
            rows = [[*(each.query_id, each.text or "")[: len(labels)], *_numbers(each)] for each in changes]
            table = html_table([*labels, *self.names, "Δ"], rows, len(labels))
            parts += [f"<p><strong>{as_html(heading)}</strong></p>", table]
        return "\n".join(parts)

    def _records(self) -> list[dict[str, Any]]:
        return [
            {**asdict(change), "difference": change.difference, **asdict(pairs)}
            for change, pairs in zip(self.queries, self.by_query, strict=True)
        ]


def _means(result: Reranking) -> str:
    [heading], (before, after) = headings_of([result.measure]), result.names
    difference = f"{result.after - result.before:+.4f}"
    return f"{heading}: {result.before:.4f} {before}, {result.after:.4f} {after} ({difference})"


def _summary(result: Reranking) -> Iterator[tuple[str, list[str]]]:
    """Yield headings and what stands below them."""
    moves, pairs = result.moves, result.pairs
    gained = counted(result.n_gained, "query")
    queries = f"{gained} gained, {result.n_lost:,} lost, {result.n_unchanged:,} unchanged"
    yield _means(result), [queries, *explained([result.measure])]
    ranks_up = "no relevant document is in both runs"
    if moves.mean is not None:
        mean, median = _direction(moves.mean, ".2f"), _direction(moves.median or 0, "g")
        ranks_up = f"ranks: {mean} on average, {median} in the median"
    documents = (
        f"{moves.up:,} up, {moves.down:,} down, {moves.unchanged:,} unchanged, {moves.entered:,} entered, "
        f"{moves.left:,} left, {moves.absent:,} in neither"
    )
    yield "relevant documents", [documents, ranks_up]
    share = "" if pairs.improvement is None else f"; net {pairs.improvement:+.1%} of {pairs.total:,}"
    put_right = (
        f"{pairs.put_right:,} put right, {pairs.broken:,} broken, {pairs.still_right:,} still right, "
        f"{pairs.still_wrong:,} still wrong{share}"
    )
    yield "pairs of documents with different grades", [put_right, *_p_imp(result)]
    if result.notes:
        yield "notes", result.notes


def _p_imp(result: Reranking) -> list[str]:
    """Give P-imp@k, where there is a k."""
    early, k = result.early, result.cutoff
    if k is None or early.share_put_right is None:
        return []
    pairs = (
        f"{early.put_right:,} of {counted(early.total, 'pair')} within the first {k:,} of both runs put right"
    )
    return [f"P-imp@{k}: {early.share_put_right:.4f} ({pairs})"]


def _direction(ranks_up: float, form: str) -> str:
    if not float(f"{ranks_up:{form}}"):  # no direction for what is shown as 0
        return "0"
    return f"{abs(ranks_up):{form}} {'up' if ranks_up > 0 else 'down'}"


def _most(result: Reranking) -> Iterator[tuple[str, list[QueryChange]]]:
    """Yield the queries that changed most, if there are any."""
    lists = {"queries that gained most": result.gained, "queries that lost most": result.lost}
    yield from ((heading, changes) for heading, changes in lists.items() if changes)


def _numbers(change: QueryChange) -> tuple[str, str, str]:
    return f"{change.before:.4f}", f"{change.after:.4f}", f"{change.difference:+.4f}"


def _as_text(result: Reranking) -> str:
    sections = [section(heading, texts) for heading, texts in _summary(result)]
    sections += [section(heading, map(_line, changes)) for heading, changes in _most(result)]
    return "\n".join(sections)


def _line(change: QueryChange) -> str:
    before, after, difference = _numbers(change)
    text = "" if change.text is None else f"  {' '.join(change.text.split())}"
    return f"{difference} ({before} to {after})  {change.query_id}{text}"


def _as_json(result: Reranking) -> str:
    content = {
        "measure": name_of(result.measure),
        "names": result.names,
        "before": result.before,
        "after": result.after,
        "gained": result.n_gained,
        "lost": result.n_lost,
        "unchanged": result.n_unchanged,
        "moves": asdict(result.moves),
        "pairs": asdict(result.pairs) | {"improvement": result.pairs.improvement},
        "p_imp": {
            "cutoff": result.cutoff,
            "put_right": result.early.put_right,
            "pairs": result.early.total,
            "share": result.early.share_put_right,
        },
        "by_query": result._records(),
        "notes": result.notes,
        "provenance": provenance([result.measure], result.origin),
    }
    return as_json(content, indent=2) + "\n"


RERANKING_FORMATS = {"table": _as_text, "json": _as_json}
"""The formats of a reranking."""
