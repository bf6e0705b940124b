"""Evaluations for a terminal, a paper, a browser and other programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from permed_measures.errors import InputError
from permed_measures.files.provenance import provenance
from permed_measures.markup import as_cell, as_html, as_json, counted
from permed_measures.measures.headings import name_of
from permed_measures.reports.evaluation import BEST, Report, TextRow
from permed_measures.reports.evaluation_table import Column, columns_of, evaluation_table, explanations
from permed_measures.reports.html import html_means, page
from permed_measures.reports.latex import latex
from permed_measures.reports.tables import Cell, PaperTable, TableRow, markdown, placed, separated
from permed_measures.statistics.differences import notes_of


def _json(report: Report) -> str:
    """Write an object per run, with the provenance of its values."""
    origin, objects = provenance(report.columns, report.origin), []
    for content in report.objects():
        of_run = [
            each for each in origin.get("inputs", []) if each.get("name", content["run"]) == content["run"]
        ]
        content["provenance"] = {**origin, "inputs": of_run} if of_run else origin
        objects.append(content)
    return as_json(objects, indent=2) + "\n"


def _jsonl(report: Report) -> str:
    objects: Iterable[dict[str, Any]] = report.objects()
    if report.by_query:
        objects = (
            {"run": name, "query_id": query_id, "metrics": report.named(report.columns, values)}
            for (name, query_id), values, _ in report.rows()
        )
    elif report.groups is not None:
        objects = (
            {"run": name, "by": report.groups.name, **content}
            for name in report.evaluations
            for content in report.objects_of_groups(report.groups, name)
        )
    return "".join(as_json(content) + "\n" for content in objects)


def _separated(report: Report, delimiter: str) -> str:
    """Write a line for each row; a measure is named as it prints, or by the user's own heading."""
    rows = list(report.rows())
    counts = [f"queries_{key}" for key in rows[0].queries] if rows else []
    header = [*map(as_cell, [*report.labels, *map(name_of, report.columns)]), *counts]
    for name in header:
        if header.count(name) > 1:
            hint = "Give the measure another name: NAME=MEASURE"
            raise InputError(f"two columns would be named {name!r}", hint=hint)
    lines: list[list[Any]] = [header]
    for row in rows:
        values = (
            row.values if report.digits is None else [round(value, report.digits) for value in row.values]
        )
        lines.append([*map(as_cell, row.labels), *values, *row.queries.values()])
    return separated(lines, delimiter)


# --- terminal, paper and browser ---------------------------------------------------------------------


def _means(report: Report) -> PaperTable:
    """Build the table of a paper, a block for each group of queries."""
    rows = list(report.cells())
    columns = [each for each in columns_of(report, rows)[1] if report.only or each.kind != "queries"]
    blocks: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        of_all = BEST if row.ideal else ""
        key = row.labels[1] if report.groups else row.labels[0] if report.by_query else of_all
        blocks.setdefault(key, []).append(number)
    ideal = [f"{BEST.capitalize()}: what an ideal ranking scores, where that is below 1"]
    footnote = "; ".join(explanations(report, columns))
    return PaperTable(
        report.labels[:: -1 if report.groups else 1],
        [column.heading for column in columns],
        [_block(report, rows, columns, numbers) for numbers in blocks.values()],
        f"{'Values by query' if report.by_query else 'Means'} over {report.about()}",
        [*(ideal if report.ceilings and not report.by_query else []), *([footnote] if footnote else [])],
        title=report.caption,
        spare=[] if report.only else [column.heading for column in columns if column.kind == "judged"],
    )


def _block(report: Report, rows: list[TextRow], columns: list[Column], numbers: list[int]) -> list[TableRow]:
    """Return the rows of a block; the best mean of each measure is marked, among the runs."""
    n_runs = sum(not rows[number].ideal for number in numbers)  # the ideal ranking stands below them
    cells = []
    for column in columns:
        texts = [column.cells[number] for number in numbers]
        marked = column.kind == "measure" and not report.by_query
        places = placed(texts[:n_runs]) if marked else []
        cells.append([*map(Cell, texts, [*places, *[0] * (len(texts) - len(places))])])
    labels = [rows[number].labels[:: -1 if report.groups else 1] for number in numbers]
    return [TableRow(label, list(each)) for label, *each in zip(labels, *cells, strict=True)]


def _notes(report: Report) -> list[str]:
    return [note for name, each in report.evaluations.items() for note in notes_of(name, each.rankings)]


def _html(report: Report) -> str:
    notes = [f"<p>{as_html(note)}</p>" for note in _notes(report)]
    runs = counted(len(report.evaluations), "run")
    return page(f"{runs}, {report.about()}", [html_means(_means(report)), *notes])


EVALUATION_FORMATS: dict[str, Callable[[Report], str]] = {
    "table": evaluation_table,
    "markdown": lambda report: markdown(_means(report), _notes(report)),
    "latex": lambda report: latex(_means(report), "evaluation", _notes(report)),
    "html": _html,
    "csv": lambda report: _separated(report, ","),
    "tsv": lambda report: _separated(report, "\t"),
    "jsonl": _jsonl,
    "json": _json,
}
"""The formats of an evaluation."""
