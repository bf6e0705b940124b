"""What a file holds: its format, counts, grades, ids, ties, duplicates, and lists against their scores."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from permed_measures.engine.inputs import location, repeated_rows
from permed_measures.files.formats import VALUE_COLUMNS, Kind
from permed_measures.files.order import FileOrder, disordered
from permed_measures.files.parquet import parquet_run, read_parquet_qrels
from permed_measures.files.read import before_reranking, kind_of
from permed_measures.files.sources import ProgressCallback, Source
from permed_measures.files.streams import text_frames
from permed_measures.files.text import TextFile
from permed_measures.markup import counted
from permed_measures.terminal import paragraph, section

if TYPE_CHECKING:
    import polars as pl

_GRADES = 20
"""The number of different grades that are counted one by one."""


@dataclass(frozen=True)
class Inspection:
    """The format and content of a file; ``print`` shows it."""

    path: Path
    format: str
    holds: str  # qrels, run, or both
    facts: dict[str, str]

    def __str__(self) -> str:
        """Return a line for each fact."""
        facts = {"format": self.format, "holds": self.holds, **self.facts}
        width = max(map(len, facts))
        lines = (paragraph(f"  {name:<{width}}  {fact}", hang=width + 4) for name, fact in facts.items())
        return section(str(self.path), ()) + "\n".join(lines)


def inspect_file(path: str | os.PathLike[str], progress: ProgressCallback | None = None) -> Inspection:
    """Describe a file of any known format: counts, ids, grades, ties and duplicates.

    Documents that are listed twice and rows without a score are counted, not refused; an unknown format, a
    line that does not fit the format of the file, and a query with two lists raise InputError.

    Examples
    --------
    >>> from permed_measures.datasets import SAMPLES
    >>> inspection = inspect_file(SAMPLES[0].qrels)
    >>> inspection.format, inspection.facts["grades"]
    ('MedCorpus labels', '2: 68, 1: 65, 0: 339, -1: 6')
    """
    source = Source(Path(path), progress)
    holds = kind_of(source)
    facts: dict[str, str] = {}
    for each in (holds,) if holds else VALUE_COLUMNS:
        name, lists, frame, queries = _rows_of(source, each)
        facts |= _counts(frame, queries)
        again = repeated_rows(frame)
        first = f" (first: {location(*again.row(0)[:2])})" if len(again) else ""
        facts["duplicates"] = f"{counted(len(again), 'row')}{first}"
        facts |= _grades(frame, queries) if each == "qrels" else _scores(frame, lists)
    if before_reranking(source):
        facts["before reranking"] = "other lists of the same queries: pre_reranked"
    return Inspection(Path(path), name, holds or "qrels or run", facts)


def _rows_of(source: Source, holds: Kind) -> tuple[str, bool, pl.DataFrame, list[str]]:
    """Return the format, whether it has lists, its rows, and all queries, in the order of the file."""
    import polars as pl

    schema = {"query_id": pl.String, "doc_id": pl.String, "value": pl.Float64, "rank": pl.Int64}
    file = None if source.is_parquet else TextFile.recognised(source, holds)
    if file is not None:
        frames = text_frames(file)
    else:
        is_run = holds == "run"
        frames = parquet_run(source).rows() if is_run else iter([read_parquet_qrels(source, may_repeat=True)])
    renamed = (frame.rename({VALUE_COLUMNS[holds]: "value"}) for frame in frames)
    frame = pl.concat([pl.DataFrame(schema=schema), *renamed], how="diagonal_relaxed")
    ids = frame["query_id"].unique(maintain_order=True).to_list()
    if file is None:
        return "Parquet", False, frame, ids
    if file.format.is_whole:  # some queries may have no documents
        ids = [entry[0] for _, entry in file.entries()]
    return file.format.name, file.format.lists, frame, ids


def _counts(frame: pl.DataFrame, queries: list[str]) -> dict[str, str]:
    lengths = frame["query_id"].value_counts()["count"].to_list()
    n_empty = len(queries) - len(lengths)
    facts = {"queries": f"{len(queries):,}", "rows": f"{len(frame):,}"}
    if queries:
        facts["query ids"] = _from_to(queries)
    if lengths:
        facts["document ids"] = _from_to(frame["doc_id"])
        facts["documents"] = f"{frame['doc_id'].n_unique():,} different"
        least, most = 0 if n_empty else min(lengths), max(lengths)
        several = f"{least} to {counted(most, 'document')}, {len(frame) / len(queries):.1f} on average"
        facts["per query"] = counted(most, "document") if least == most else several
    if n_empty:
        facts["empty"] = f"{counted(n_empty, 'query')} without documents"
    return facts


def _from_to(ids: list[str] | pl.Series) -> str:
    return repr(ids[0]) if len(ids) == 1 else f"{ids[0]!r} to {ids[-1]!r}"


def _grades(frame: pl.DataFrame, queries: list[str]) -> dict[str, str]:
    import polars as pl

    counts = frame["value"].value_counts().sort("value", descending=True).rows()
    some = ", ".join(f"{grade:g}: {count:,}" for grade, count in counts[:_GRADES])
    more = f" and {len(counts) - _GRADES:,} others" if len(counts) > _GRADES else ""
    n_relevant = frame.filter(pl.col("value") >= 1)["query_id"].n_unique()
    return {"grades": some + more, "without relevant": counted(len(queries) - n_relevant, "query")}


def _scores(frame: pl.DataFrame, lists: bool) -> dict[str, str]:
    import polars as pl

    scored = frame.drop_nulls("value")
    if scored.is_empty():
        return {"scores": "none: the order of the lists counts"}
    scores = scored["value"].sort()
    facts = {"scores": f"{scores[0]:.9g} to {scores[-1]:.9g}"}
    if len(scored) < len(frame):
        facts["no score"] = counted(len(frame) - len(scored), "row")
    exactly, tied = _tied(scored, pl.Float64), _tied(scored, pl.Float32)
    facts["ties"] = f"{counted(tied, 'query')} with equal scores"
    if tied > exactly:
        facts["ties"] += f", {tied - exactly:,} of them only as float32"
    order = FileOrder()
    if not lists:
        order.add_frame(scored.rename({"value": "score"}))
    found = disordered(_first_scores(scored)) if lists else order.by_line
    facts["order"] = (
        f"{counted(len(found), 'query')} whose documents stand in another order than their scores"
    )
    if order.by_rank:
        facts["ranks"] = f"{counted(len(order.by_rank), 'query')} whose ranks contradict their scores"
    return facts


def _tied(frame: pl.DataFrame, dtype: Any) -> int:
    """Count the queries that have two documents with equal scores."""
    import polars as pl

    scores = frame.select("query_id", pl.col("value").cast(dtype, strict=False)).drop_nulls()
    return scores.filter(scores.is_duplicated())["query_id"].n_unique()


def _first_scores(frame: pl.DataFrame) -> dict[str, dict[str, float]]:
    lists: dict[str, dict[str, float]] = {}
    for query_id, doc_id, score, _ in frame.iter_rows():
        lists.setdefault(query_id, {}).setdefault(doc_id, score)
    return lists
