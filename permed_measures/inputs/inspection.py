"""Describe a file: its format, counts, grades, ids, duplicates, and ranks that contradict scores."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from permed_measures.engine.tables import location, repeated_rows
from permed_measures.frames import pl
from permed_measures.inputs.door import read_nested
from permed_measures.inputs.formats import VALUE_COLUMNS, Kind
from permed_measures.inputs.rank_check import contradicted_rows
from permed_measures.inputs.read import kind_of
from permed_measures.inputs.recognition import recognised
from permed_measures.inputs.scan import as_one, parquet_rows, read_parquet_qrels, row_schema, text_frames
from permed_measures.inputs.sources import Source
from permed_measures.terminal import paragraph, section
from permed_measures.wording import pluralize

_GRADES = 20
"""The maximum number of different grades that are counted one by one."""


@dataclass(frozen=True)
class Inspection:
    """The format and content of a file; ``print`` shows it."""

    path: Path | str
    format: str
    holds: str  # qrels, run, or both
    facts: dict[str, str]

    def __str__(self) -> str:
        """Format one line for each fact."""
        facts = {"format": self.format, "holds": self.holds, **self.facts}
        width = max(map(len, facts))
        lines = (paragraph(f"  {name:<{width}}  {fact}", hang=width + 4) for name, fact in facts.items())
        return section(str(self.path), ()) + "\n".join(lines)


def inspect_file(path: str | os.PathLike[str]) -> Inspection:
    """Describe a file of any known format: counts, ids, grades, duplicates, ranks that contradict scores.

    Documents that are listed twice and rows without a score are counted, not refused. An unknown format, a
    line in another format than the file, and a query with two lists raise InputError.

    Examples
    --------
    >>> from permed_measures.datasets import SAMPLES
    >>> inspection = inspect_file(SAMPLES[0].qrels)
    >>> inspection.format, inspection.facts["grades"]
    ('MedCorpus labels', '2: 68, 1: 65, 0: 339, -1: 6')
    """
    source = Source(Path(path))
    holds = kind_of(source)
    facts: dict[str, str] = {}
    for kind in (holds,) if holds else VALUE_COLUMNS:
        facts |= _facts(_rows_of(source, kind), kind)
    name = "Parquet" if source.is_parquet else recognised(source, holds).format.name
    return Inspection(Path(path), name, holds or "qrels or run", facts)


def inspect_qrels(name: str, qrels: Any) -> Inspection:
    """Describe the qrels of a data set of ir_datasets.

    Examples
    --------
    >>> from permed_measures.datasets import load
    >>> inspect_qrels("permed-sample", load("permed-sample")).facts["rows"]
    '478'
    """
    nested: Mapping[str, Mapping[Any, Any]] = read_nested(qrels, "relevance")
    rows = [
        (query_id, doc_id, grade, None)
        for query_id, documents in nested.items()
        for doc_id, grade in (documents or {None: None}).items()
    ]
    facts = _facts(pl.DataFrame(rows, schema=row_schema("value"), strict=False, orient="row"), "qrels")
    return Inspection(name, "data set of ir_datasets", "qrels", facts)


def _facts(frame: pl.DataFrame, kind: Kind) -> dict[str, str]:
    return _counts(frame) | (_grades(frame) if kind == "qrels" else _depth(frame) | _scores(frame))


def _rows_of(source: Source, holds: Kind) -> pl.DataFrame:
    """Read query_id, doc_id, value and rank of all rows; an empty list becomes a row without a document."""
    if not source.is_parquet:
        frames = text_frames(recognised(source, holds))
    elif holds == "run":
        frames = parquet_rows(source)
    else:
        frames = iter([read_parquet_qrels(source, may_repeat=True)])
    return as_one(frames, "value")


def _counts(frame: pl.DataFrame) -> dict[str, str]:
    rows = frame.drop_nulls("doc_id")
    facts = {"queries": f"{frame['query_id'].n_unique():,}", "rows": f"{len(rows):,}"}
    for name, ids in (("query ids", frame["query_id"]), ("document ids", rows["doc_id"])):
        if len(ids):
            facts[name] = f"the first {ids[0]!r}, the last {ids[-1]!r}"
    facts["documents"] = f"{rows['doc_id'].n_unique():,} different"
    repeated = repeated_rows(rows)
    first = f" (first: {location(*repeated.row(0)[:2])})" if len(repeated) else ""
    return {**facts, "duplicates": f"{pluralize(len(repeated), 'row')}{first}"}


def _grades(frame: pl.DataFrame) -> dict[str, str]:
    counts = frame.drop_nulls("doc_id")["value"].value_counts().sort("value", descending=True).rows()
    listed = ", ".join(f"{grade:g}: {count:,}" for grade, count in counts[:_GRADES])
    more = f" and {pluralize(len(counts) - _GRADES, 'other')}" if len(counts) > _GRADES else ""
    return {"grades": listed + more}


def _depth(frame: pl.DataFrame) -> dict[str, str]:
    """Describe the maximum number of documents per query, and how many queries have it."""
    lengths = frame.group_by("query_id").agg(pl.col("doc_id").count())["doc_id"].to_list()
    longest = max(lengths, default=0)
    n = lengths.count(longest)
    text = f"{pluralize(longest, 'document')} for {f'{n:,} of ' if n < len(lengths) else ''}"
    more = ", others fewer" if n < len(lengths) else ""
    return {"depth": f"{text}{pluralize(len(lengths), 'query')}{more}"} if lengths else {}


def _scores(frame: pl.DataFrame) -> dict[str, str]:
    scored = frame.drop_nulls("value")
    if scored.is_empty():
        return {"scores": "none: the order of the lists counts"}
    scores = scored["value"].sort()
    facts = {"scores": f"{scores[0]:.9g} to {scores[-1]:.9g}"}
    if n_without := frame["doc_id"].count() - len(scored):
        facts["no score"] = pluralize(n_without, "row")
    contradictions = contradicted_rows(scored.rename({"value": "score"}))
    if contradictions:
        facts["ranks"] = f"{pluralize(len(contradictions), 'query')} whose ranks contradict their scores"
    return facts
