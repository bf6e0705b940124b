"""The report of an audit as a page, for those who review a paper."""

from __future__ import annotations

from pathlib import Path

from permed_measures.audits.reports import Audit, measures_of, sections_of, table_of, verdict_of
from permed_measures.audits.sentences import by_chance
from permed_measures.markup import counted
from permed_measures.pages.words import page_words
from permed_measures.reports.result_page import Part, how_made, result_page, text_table


def audit_page(result: Audit, explain: bool = True, with_formulas: bool = True) -> str:  # noqa: ARG001 (all is there)
    """Write an audit as a page: the verdict, the table, and all that the report can say."""
    words, main = page_words(), result.best[0]
    headings, cells = table_of(result)
    verdict, *others = sections_of(result, explain=True, with_formulas=True)
    finding = [f"{verdict_of(result)}."]
    if main.explained:
        finding.append(by_chance(result.chance))
    conventions = f"{result.n_tried:,} conventions were computed."
    tables = [text_table(headings, cells, len(headings) - 3)]
    parts = [Part(words["claims"], conventions, tables=tables, lines=verdict.lines[:-1])]
    parts += [
        Part(heading, lines=lines, code=[f"${each}$" for each in formulas])
        for heading, lines, formulas in others
    ]
    how = how_made(measures_of(result), result.origin)
    if main.explained:  # not those of the package
        how["conventions"] = [main.sentence()]
    qrels = Path(result.origin.qrels).name if result.origin else ""
    title = (f"{qrels}: " if qrels else "") + counted(len(main.claims), "claim")
    return result_page(title, finding, parts, how)
