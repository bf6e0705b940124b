"""The report of an audit as a page, for those who review a paper."""

from __future__ import annotations

from permed_measures.audits.reports import Audit, sections_of, table_of
from permed_measures.markup import as_html
from permed_measures.reports.html import html_table, page


def audit_page(result: Audit, explain: bool = True, with_formulas: bool = True) -> str:  # noqa: ARG001 (all is there)
    """Write an audit as a page: the verdict, the table, and all that the report can say."""
    headings, cells = table_of(result)
    verdict, *others = sections_of(result, explain=True, with_formulas=True)
    n_labels = len(headings) - 3
    rows = [(row[:n_labels], [as_html(cell) for cell in row[n_labels:]]) for row in cells]
    parts = [_paragraphs(verdict.lines)]
    parts.append(html_table(headings[:n_labels], 0, headings[n_labels:], [rows]))
    for heading, lines, formulas in others:
        below = _paragraphs([*lines, *(f"${formula}$" for formula in formulas)])
        parts.append(f"<h2>{as_html(heading)}</h2>{below}")
    parts.append(_paragraphs([f"{result.n_tried:,} conventions were computed."]))
    return page(verdict.heading, parts)


def _paragraphs(lines: list[str]) -> str:
    return "".join(f"<p>{as_html(line)}</p>" for line in lines)
