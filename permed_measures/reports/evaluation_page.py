"""Evaluations as a table of a paper, and as a page."""

from __future__ import annotations

from collections.abc import Iterator

from ir_measures.measures import Measure

from permed_measures.markup import listed, one_line
from permed_measures.measures.headings import headings_of
from permed_measures.pages import charts
from permed_measures.pages.words import page_words
from permed_measures.reports.evaluation import BEST, MACRO, Report, TextRow
from permed_measures.reports.evaluation_table import Column, columns_of, explanations
from permed_measures.reports.findings import highest
from permed_measures.reports.html import html_means
from permed_measures.reports.result_page import PageTable, Part, copies_of, how_made, result_page, titled
from permed_measures.reports.tables import Cell, PaperTable, TableRow, placed

Words = dict[str, str]


def means_table(report: Report) -> PaperTable:
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


# --- the page ----------------------------------------------------------------------------------------


def evaluation_page(report: Report) -> str:
    """Write the page: which run is best, plots by group, the table, and how it was made."""
    words, table, notes = page_words(), means_table(report), report.all_notes()
    shown = PageTable(html_means(table), copies=copies_of(table, "evaluation", notes))
    plots = list(_by_group(report, words))
    parts = [Part(words["by_group"].format(by=report.labels[1]), words["e_lines"], plots)] if plots else []
    n_queries = report.queries(next(iter(report.evaluations)))["judged"]
    return result_page(
        titled(report.origin, len(report.evaluations), n_queries, words),
        [*_finding(report), *(f"Note: {note}." for note in report.notes_above())],
        [*parts, Part(words["table"], tables=[shown])],
        how_made(_shown_measures(report, table), report.origin),
        notes,
    )


def _finding(report: Report) -> list[str]:
    """Say which run is highest on each measure, or what the only one scores."""
    runs = {name: _overall(report, name) for name in report.evaluations}
    headings = headings_of(report.measures)
    if report.macro:
        headings = [f"{heading} {MACRO}" for heading in headings]
    if len(runs) == 1:
        [(run, values)] = runs.items()
        return [f"{run} has {listed(map(' '.join, zip(headings, values, strict=True)))}."]
    if not report.queries(next(iter(runs)))["judged"]:
        return []
    best = [_best(runs, place) for place in range(len(headings))]
    return [*highest(headings, best, runs[best[0][0]][0]), "No significance test was run."]


def _shown_measures(report: Report, table: PaperTable) -> list[Measure]:
    """Return the measures that were asked for, and those of the table besides."""
    headings = zip(headings_of(report.columns), report.columns, strict=True)
    return [each for heading, each in headings if each in report.measures or heading in table.headings]


def _overall(report: Report, run: str) -> list[str]:
    """Return what is printed for a run as a whole: its means, or the means of the groups' means."""
    rows = list(report.means(run, report.evaluations[run], {}))
    values = dict(zip(report.columns, rows[0 if report.macro else -1].values, strict=True))
    return [report.shown(measure, values[measure]) for measure in report.measures]


def _best(runs: dict[str, list[str]], place: int) -> list[str]:
    """Return the runs with the highest number, as it is printed."""
    values = {run: float(texts[place].replace(",", "")) for run, texts in runs.items()}
    return [run for run, value in values.items() if value == max(values.values())]


_MOST_GROUPS, _MOST_LINES = 30, 16


def _by_group(report: Report, words: Words) -> Iterator[charts.Spec]:
    """Yield a plot of each measure over the groups, where they can be told apart."""
    names, found = list(map(one_line, report.evaluations)), report.groups
    if found is None or report.macro or len(names) > _MOST_LINES or not 1 < len(found.sizes) <= _MOST_GROUPS:
        return
    means = {name: list(report.means(name, each, {}))[:-1] for name, each in report.evaluations.items()}
    rows = next(iter(means.values()))
    styles = charts.line_styles(names)
    groups = [f"{one_line(row.labels[1])}\nn = {row.queries['judged']:,}" for row in rows]
    by = one_line(found.name)
    for heading, measure in zip(map(one_line, headings_of(report.measures)), report.measures, strict=True):
        place = report.columns.index(measure)
        points = [
            {
                "run": one_line(run),
                "group": group,
                "value": row.values[place],
                "low": None,
                "high": None,
                "shown": one_line(f"{run}, {row.labels[1]}: {report.shown(measure, row.values[place])}"),
            }
            for run, rows in means.items()
            for group, row in zip(groups, rows, strict=True)
        ]
        about = f"{heading}: {words['by_group'].format(by=by)}"
        yield charts.by_group(heading, about, points, styles, groups, by, legend=True)
