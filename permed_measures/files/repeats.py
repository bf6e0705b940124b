"""Runs that list a document twice in a query, as audits read them; elsewhere they are an error."""

from __future__ import annotations

from permed_measures.engine.forks import refuse_after_fork
from permed_measures.engine.inputs import Batches
from permed_measures.files.streams import ScannedRun
from permed_measures.files.text import TextFile


class RepeatingRun(Batches):
    """A run with documents that are listed twice, as one frame, its rows as they stand in the file."""


def read_repeating(file: TextFile, by_list: bool) -> RepeatingRun:
    """Read all rows of a text file; where scores are missing or not wanted, the order gives them."""
    refuse_after_fork()
    import polars as pl

    rows: list[tuple[str, str, float]] = []
    places: dict[str, int] = {}
    for _, line in file.parse(file.lines()):
        if file.format.lists and line.query_id in places:
            raise file.duplicate_error(line.query_id, None)
        start, documents = places.get(line.query_id, 0) + 1, list(line.documents)
        in_order = by_list or any(value is None for _, value in documents)
        for place, (doc_id, value) in enumerate(documents, start):
            rows.append((line.query_id, doc_id, -float(place) if in_order else float(value or 0)))
        places[line.query_id] = start + len(documents) - 1
    schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    return RepeatingRun([pl.DataFrame(rows, schema=schema, orient="row")])


def with_repeats(run: ScannedRun) -> RepeatingRun:
    """Return all rows of a run that would be read in batches."""
    import polars as pl

    return RepeatingRun([pl.concat([frame.drop("rank") for frame in run.rows()])], run.path)
