"""The report of evaluations: which run is highest, and a table of means or of the values of each query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

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
from permed_measures.results.findings import grouped, highest
from permed_measures.results.report import Report, Section, how_made, titled
from permed_measures.results.table import Cell, Table


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
    if {_IN_RUN, _IGNORED} & {*table.headings}:
        return []
    return [note for run in found.evaluations for note in found.notes_on_queries(run)]


# --- the table -------------------------------------------------------------------------------------------


def _table(found: Evaluations, decimals: int) -> Table:
    """Build the table: a block for each group of queries, or for each run with all its queries."""
    columns, counts = found.shown, _counted(found)
    turned = -1 if found.groups else 1  # a group, then the runs
    blocks = {
        name: list(_lines(found, rows, counts, decimals))
        for name, rows in grouped((_block(found, row), row) for row in found.rows()).items()
    }
    for row in found.means(BEST, found.ideal, {}) if found.ceilings and not found.by_query else ():
        values = dict(zip(found.measures, row.values, strict=True))
        best = [found.text_of_best(measure, values.get(measure), decimals) for measure in columns]
        texts = [*row.labels[::turned], *best, *(_counts(row).get(each, Cell("")).text for each in counts)]
        blocks.setdefault(_block(found, row) or BEST, []).append([*map(Cell, texts)])
    return Table(
        [*found.labels[::turned], *found.headings(columns), *counts],
        [*blocks.values()],
        len(found.labels),
        f"{'Values by query' if found.by_query else 'Means'} over {found.about()}",
        list(found.explanations()),
        [*found.spare, *counts[::-1]],
        "evaluation",
    )


def _block(found: Evaluations, row: Row) -> str:
    """Return what a row stands together with: its group, or with values by query its run."""
    return row.labels[1] if found.groups else row.labels[0] if found.by_query else ""


def _lines(
    found: Evaluations, rows: Sequence[Row], counts: Sequence[str], decimals: int
) -> Iterator[list[Cell]]:
    """Yield the cells of a block."""
    by_column = dict(zip(found.columns, zip(*(row.values for row in rows), strict=True), strict=True))
    columns = [found.cells(measure, by_column[measure], decimals) for measure in found.shown]
    for row, *cells in zip(rows, *columns, strict=True):
        labels = row.labels[:: -1 if found.groups else 1]
        yield [*map(Cell, labels), *cells, *(_counts(row)[each] for each in counts)]


# --- counts of queries -----------------------------------------------------------------------------------


def _counted(found: Evaluations) -> list[str]:
    """Return the headings of the counts of queries that say something."""
    if found.groups or found.by_query:
        return [] if found.by_query else ["queries"]
    queries = [found.queries(run) for run in found.evaluations]
    says = {_IN_RUN: any(each["in_run"] < each["judged"] for each in queries)}
    says[_IGNORED] = any(each["ignored"] for each in queries)
    return [heading for heading in says if says[heading]]


def _counts(row: Row) -> dict[str, Cell]:
    """Return the counts of queries by heading."""
    queries = row.queries
    if "in_run" in queries:
        text = f"{queries['in_run']:,} of {queries['judged']:,}"
        ignored = Cell(f"{queries['ignored']:,}", value=queries["ignored"])
        return {_IN_RUN: Cell(text, value=queries["in_run"]), _IGNORED: ignored}
    return {"queries": Cell(f"{queries['judged']:,}", value=queries["judged"])} if queries else {}


_IN_RUN, _IGNORED = "queries in run", "ignored"
