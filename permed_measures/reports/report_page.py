"""A report as a page."""

from __future__ import annotations

from permed_measures.reports.result_page import PageTable, Part, result_page
from permed_measures.results.report import Report
from permed_measures.results.table import Table


def report_page(report: Report) -> str:
    """Write the page of a report: finding, sections, notes, and how it was made."""
    parts = [
        Part(
            each.heading or "Table",
            each.note,
            tables=[PageTable(table.to("html"), copies=copies_of(table)) for table in each.tables],
            lines=each.texts,
            code=each.code,
        )
        for each in report.sections
    ]
    return result_page(report.title, report.finding, parts, report.how(), report.notes)


def copies_of(table: Table) -> dict[str, str]:
    """Return a table as one pastes it elsewhere."""
    return {form: table.to(form) for form in ("latex", "markdown", "csv")}
