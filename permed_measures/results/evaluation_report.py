"""The report of evaluations: which run is highest, and a table of means or of the values of each query."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from permed_measures.markup import listed
from permed_measures.measures.headings import headings_of
from permed_measures.results.evaluations import (
    BEST,
    COUNTS,
    MACRO,
    Evaluations,
    Row,
    content_of,
    records_of,
    text_of,
)
from permed_measures.results.findings import highest
from permed_measures.results.report import Report, Section, how_made, titled
from permed_measures.results.table import Cell, Table, ranked


def evaluation_report(found: Evaluations, digits: int | None = None) -> Report:
    """Report evaluations.

    Parameters
    ----------
    found : Evaluations
    digits : int, optional
        Number of decimals in tables, four if left out.
    """
    decimals = 4 if digits is None else digits
    n_queries = found.queries(next(iter(found.evaluations)))["judged"]
    table = _table(found, decimals)
    return Report(
        titled(found.origin, len(found.evaluations), n_queries),
        _finding(found, decimals),
        [Section(tables=[table])],
        _notes(found, table),
        partial(content_of, found),
        partial(records_of, found),
        partial(how_made, found.columns, found.origin),
        cautions=found.all_notes(),
    )


def _finding(found: Evaluations, decimals: int) -> list[str]:
    """Say which run is highest on each measure, or what the only one scores."""
    runs = {name: _overall(found, name) for name in found.evaluations}
    headings = headings_of(found.measures)
    if found.macro:
        headings = [f"{heading} {MACRO}" for heading in headings]
    if len(runs) == 1:
        [(run, values)] = runs.items()
        texts = [text_of(*each, decimals) for each in zip(found.measures, values, strict=True)]
        return [f"{run} has {listed(map(' '.join, zip(headings, texts, strict=True)))}."]
    counts = [text for text, each in zip(headings, found.measures, strict=True) if each.NAME in COUNTS]
    said = highest(headings, runs, decimals, counts)
    return [*said, "No significance test was run."] if said else []


def _overall(found: Evaluations, run: str) -> list[float]:
    """Return the values of a run as a whole: its means, or the means of the groups' means."""
    rows = list(found.means(run, found.evaluations[run], {}))
    values = dict(zip(found.columns, rows[0 if found.macro else -1].values, strict=True))
    return [values[measure] for measure in found.measures]


def _notes(found: Evaluations, table: Table) -> list[str]:
    """Return what runs lack and have besides, where no columns count it."""
    if {"queries in run", "ignored"} & {*table.headings}:
        return []
    return [note for run in found.evaluations for note in found.notes_on_queries(run)]


# --- the table -------------------------------------------------------------------------------------------


class _Column(NamedTuple):
    """A column that says something; the one with the least `need` is left out first.

    `kind` is ``measure``, ``count`` (a measure that counts documents), ``judged`` or ``queries``.
    """

    heading: str
    cells: list[Cell]
    need: int
    kind: str


class _TextRow(NamedTuple):
    labels: list[str]
    values: list[Cell]
    queries: list[Cell]
    block: str


def _table(found: Evaluations, decimals: int) -> Table:
    """Build the table: a block for each group of queries, or for each run with all its queries."""
    rows = list(_rows(found, decimals))
    chosen = list(_columns(found, rows))
    turned = -1 if found.groups else 1  # a group, then the runs
    blocks: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        blocks.setdefault(row.block, []).append(number)
    others = sorted(chosen, key=lambda column: column.need)
    return Table(
        [*found.labels[::turned], *(column.heading for column in chosen)],
        [
            [
                [*map(Cell, rows[number].labels[::turned]), *cells]
                for number, *cells in zip(numbers, *_cells(found, numbers, chosen), strict=True)
            ]
            for numbers in blocks.values()
        ],
        len(found.labels),
        f"{'Values by query' if found.by_query else 'Means'} over {found.about()}",
        list(found.explanations()),
        [column.heading for column in others if column.kind in ("judged", "queries")],
        "evaluation",
    )


def _cells(found: Evaluations, numbers: list[int], columns: list[_Column]) -> Iterator[list[Cell]]:
    """Yield the cells of a block by column; the best means are marked, among the runs."""
    for column in columns:
        cells = [column.cells[number] for number in numbers]
        if column.kind == "measure" and not found.by_query:
            runs = [(cell, cell.value) for cell in cells if cell.value is not None]
            ranks = ranked([value for _, value in runs])
            cells[: len(runs)] = [
                cell._replace(rank=rank) for (cell, _), rank in zip(runs, ranks, strict=True)
            ]
        yield cells


def _rows(found: Evaluations, decimals: int) -> Iterator[_TextRow]:
    """Yield the rows; the last are those of an ideal ranking, where that is below 1."""
    for row in found.rows():
        values = zip(found.columns, row.values, strict=True)
        cells = [Cell(text_of(measure, value, decimals), value=value) for measure, value in values]
        block = row.labels[1] if found.groups else row.labels[0] if found.by_query else ""
        yield _TextRow(row.labels, cells, _counts(row), block)
    if not found.ceilings or found.by_query:
        return
    for row in found.means(BEST, found.ideal, {}):
        best = dict(zip(found.measures, row.values, strict=True))
        cells = [Cell(found.text_of_best(measure, best.get(measure), decimals)) for measure in found.columns]
        counts = [Cell(cell.text) for cell in _counts(row)] or [Cell(""), Cell("")]
        yield _TextRow(row.labels, cells, counts, row.labels[1] if found.groups else BEST)


def _counts(row: Row) -> list[Cell]:
    queries = row.queries
    if "in_run" in queries:
        in_run = Cell(f"{queries['in_run']:,} of {queries['judged']:,}", value=queries["in_run"])
        return [in_run, Cell(f"{queries['ignored']:,}", value=queries["ignored"])]
    return [Cell(f"{count:,}", value=count) for count in queries.values()]


# --- columns ---------------------------------------------------------------------------------------------


def _columns(found: Evaluations, rows: list[_TextRow]) -> Iterator[_Column]:
    """Yield the measures, then Judged by cutoff, then the counts of queries, those that say something."""
    n = len(found.columns)
    headings = headings_of(found.columns)
    for place, measure in enumerate(found.shown):
        number, asked = found.columns.index(measure), measure in found.measures
        # Judged at the cutoff of the first measure is the most needed, wherever its column stands.
        need = 3 * n - place if asked else n - number
        kind = "judged" if not asked else "count" if measure.NAME in COUNTS else "measure"
        yield _Column(headings[number], [row.values[number] for row in rows], need, kind)
    if found.by_query:
        return
    queries = [found.queries(run) for run in found.evaluations]
    partly = any(each["in_run"] < each["judged"] for each in queries)
    counts = {"queries in run": partly, "ignored": any(each["ignored"] for each in queries)}
    for number, (heading, says) in enumerate(({"queries": True} if found.groups else counts).items()):
        if says:
            yield _Column(heading, [row.queries[number] for row in rows], 2 * n - number, "queries")
