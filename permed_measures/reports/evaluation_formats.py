"""Evaluations for a terminal, a paper, a browser and other programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from permed_measures.errors import InputError
from permed_measures.files.provenance import provenance
from permed_measures.markup import as_cell, as_json
from permed_measures.measures.headings import name_of
from permed_measures.reports.evaluation import Report
from permed_measures.reports.evaluation_page import evaluation_page, means_table
from permed_measures.reports.evaluation_table import evaluation_table
from permed_measures.reports.latex import latex
from permed_measures.reports.tables import markdown, separated


def _json(report: Report) -> str:
    """Write an object per run, with the provenance of its values."""
    origin, objects = provenance(report.columns, report.origin), []
    for content in _with_notes(report):
        of_run = [
            each for each in origin.get("inputs", []) if each.get("name", content["run"]) == content["run"]
        ]
        content["provenance"] = {**origin, "inputs": of_run} if of_run else origin
        objects.append(content)
    return as_json(objects, indent=2) + "\n"


def _jsonl(report: Report) -> str:
    objects: Iterable[dict[str, Any]] = _with_notes(report)
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


def _with_notes(report: Report) -> Iterator[dict[str, Any]]:
    """Yield the object of each run, with what is to be known about it."""
    for content in report.objects():
        yield {**content, "notes": report.notes_on(content["run"])}


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


EVALUATION_FORMATS: dict[str, Callable[[Report], str]] = {
    "table": evaluation_table,
    "markdown": lambda report: markdown(means_table(report), report.all_notes()),
    "latex": lambda report: latex(means_table(report), "evaluation", report.all_notes()),
    "html": evaluation_page,
    "csv": lambda report: _separated(report, ","),
    "tsv": lambda report: _separated(report, "\t"),
    "jsonl": _jsonl,
    "json": _json,
}
"""The formats of an evaluation."""
