"""The table of an evaluation for a terminal: of its columns, those that say something and fit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import NamedTuple

from ir_measures.measures import Measure

from permed_measures.errors import InputError, MeasureError, nearest
from permed_measures.markup import counted
from permed_measures.measures.headings import explained, headings_of
from permed_measures.measures.parameters import cutoff_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.reports.evaluation import BEST, COUNTS, MACRO, Report, TextRow


class Column(NamedTuple):
    """A column; `need` is 0 where it says nothing, and the least needed is left out first.

    `kind` is ``measure``, ``count`` (a measure that counts documents), ``judged`` or ``queries``.
    """

    heading: str
    cells: list[str]
    need: int
    kind: str


def evaluation_table(report: Report) -> str:
    """Write the table for a terminal."""
    from permed_measures.terminal import paragraph, terminal_table  # they load rich

    rows = list(report.cells())
    columns, chosen = columns_of(report, rows)
    labels = ["run", "query"] if report.by_query else report.labels
    cells = zip(*(column.cells for column in chosen), strict=True) if chosen else [()] * len(rows)
    spare = sorted(chosen, key=lambda column: column.need)[:-1]
    table = terminal_table(
        [*labels, *(column.heading for column in chosen)],
        [[*row.labels, *values] for row, values in zip(rows, cells, strict=True)],
        len(labels),
        _block(report, rows),
        [] if report.only else [column.heading for column in spare],
        " (--columns chooses others)",
        goes_on=bool(report.only),
    )
    notes = [paragraph(f"note: {note}", 2) for note in report.notes_above()]
    above = [*notes, ""] if notes else []
    below = [paragraph(text, 2) for text in _sentences(report, columns, chosen)]
    return "\n".join([*above, table, *below, ""])


def columns_of(report: Report, rows: list[TextRow]) -> tuple[list[Column], list[Column]]:
    """Return all columns, and those that are asked for, or say something."""
    columns = list(_columns(report, rows))
    return columns, _chosen(columns, report) if report.only else [each for each in columns if each.need]


def _columns(report: Report, rows: list[TextRow]) -> Iterator[Column]:
    """Yield the measures, then Judged by cutoff, then the counts of queries."""
    n = len(report.columns)
    headings = headings_of(report.columns)
    for place, measure in enumerate(_in_order(report)):
        number = report.columns.index(measure)
        values = [each.aggregated[measure] for each in report.evaluations.values()]
        asked, whole = measure in report.measures, all(value >= 1 - 1e-12 for value in values)
        # Judged at the cutoff of the first measure is the most needed, wherever its column stands.
        need = 3 * n - place if asked else 0 if whole or report.all_relevant else n - number
        kind = "judged" if not asked else "count" if measure.NAME in COUNTS else "measure"
        yield Column(headings[number], [row.values[number] for row in rows], need, kind)
    if report.by_query:
        return
    queries = [report.queries(run) for run in report.evaluations]
    partly = any(each["in_run"] < each["judged"] for each in queries)
    counts = {"queries in run": partly, "ignored": any(each["ignored"] for each in queries)}
    for number, (heading, says) in enumerate(({"queries": True} if report.groups else counts).items()):
        yield Column(heading, [row.queries[number] for row in rows], 2 * n - number if says else 0, "queries")


def _in_order(report: Report) -> list[Measure]:
    """Return the measures as they were asked for, then Judged by cutoff."""
    asked = [measure for measure in report.columns if measure in report.measures]
    judged = [measure for measure in report.columns if measure not in asked]
    return [*asked, *sorted(judged, key=lambda measure: cutoff_of(measure) or math.inf)]


def _chosen(columns: list[Column], report: Report) -> list[Column]:
    if list(report.only) == ["all"]:
        return columns
    by_name = {str(measure).lower(): each for measure, each in zip(_in_order(report), columns, strict=False)}
    by_name |= {column.heading.lower(): column for column in columns}
    # A heading or a measure may have commas too.
    names = list(chain(*([text] if _found(text, by_name) else text.split(",") for text in report.only)))
    for name in names:
        if not _found(name, by_name):
            headings = [column.heading for column in columns]
            hint = nearest(name, headings) or f"It has {', '.join(headings)}"
            raise InputError(f"the table has no column {name!r}", hint=hint)
    return list(chain(*(_found(name, by_name) for name in names)))


def _found(text: str, by_name: dict[str, Column]) -> list[Column]:
    """Return the column with this heading, or that of the measure with this name."""
    if text.lower() not in by_name:
        with suppress(MeasureError):
            text = str(parse_measure(text))
    return [by_name[text.lower()]] if text.lower() in by_name else []


def _block(report: Report, rows: list[TextRow]) -> int:
    """Return the number of rows that stand together: those of a run, or all runs apart from the ideal."""
    if report.by_query:
        return 0
    if report.groups is None:
        return len(report.evaluations)
    return sum(row.labels[0] == rows[0].labels[0] for row in rows)


def _sentences(report: Report, columns: list[Column], chosen: list[Column]) -> Iterator[str]:
    queries = [report.queries(run) for run in report.evaluations]
    every = "every" if len(queries) > 1 else "the"
    partly = any((each.rankings.retrieved == 0).any() for each in report.evaluations.values())
    answered = "a query without results scores 0" if partly else f"all are in {every} run"
    yield f"{report.about()}; {answered}."
    judged = [column for column in columns if column.kind == "judged" and column not in chosen]
    if report.all_relevant and judged:
        yield "Judged@k is left out: all labels are relevant."
    elif judged and all(column.kind != "judged" or not column.need for column in columns):
        yield "Every document that counts is judged."
    if report.ceilings and not report.by_query:
        yield f"{BEST}: what an ideal ranking scores, where that is below 1"
    yield from explanations(report, chosen)


def explanations(report: Report, columns: Sequence[Column]) -> list[str]:
    """Say what the headings of these columns, and labels, stand for."""
    headings = {column.heading for column in columns}
    measures = zip(headings_of(report.columns), report.columns, strict=True)
    texts = explained(measure for heading, measure in measures if heading in headings)
    if report.groups is None or not report.macro:
        return texts
    of_groups = f"{counted(len(report.groups.values), 'group')} by {report.groups.name}"
    return [*texts, f"{MACRO}: the mean of the means of {of_groups}, each counting once"]
