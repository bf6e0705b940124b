"""A comparison as a page for a browser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from permed_measures.comparisons.findings import findings, outcome, rows_of
from permed_measures.comparisons.results import INTERACTION, ComparisonResult, ComparisonRow, deciding
from permed_measures.comparisons.wording import (
    LEVELS,
    interval_method,
    interval_of,
    p_of_sentences,
    p_or_dash,
    shown,
)
from permed_measures.intervals import FEW
from permed_measures.markup import as_html, one_line
from permed_measures.measures.headings import headings_of
from permed_measures.pages import charts
from permed_measures.pages.bundle import as_markup, page
from permed_measures.pages.words import page_words
from permed_measures.reports.differences import differences_table, headings_of_tests, legend
from permed_measures.reports.html import html_means, html_table
from permed_measures.reports.paper_table import deciding_tests, paper_table
from permed_measures.reports.query_details import query_details
from permed_measures.reports.result_page import copies_of, how_made, titled
from permed_measures.reports.tables import PaperTable
from permed_measures.results.table import NONE

_SCRIPTS = ("queries.js", "scatter.js", "details.js", "comparison.js")
Words = dict[str, str]
Interval = tuple[float, float] | None


def comparison_page(result: ComparisonResult) -> str:
    """Write the page: finding, plots, tables, queries, and how it was made."""
    words = page_words()
    table = paper_table(replace(result, by="", groups={}))
    against = "differences_pairs" if result.baseline is None else "differences"
    first = words["means_with_intervals"] if not result.baselines else words[against]
    by_group = _by_group(result, words) if result.groups else None
    sections = [
        ("forest", first.format(baseline=result.baseline)),
        ("table", words["table"]),
        *([("by-group", by_group["heading"])] if by_group else []),
        ("queries", words["queries"]),
        *([("notes", words["notes"])] if result.notes else []),
        ("how", words["how"]),
    ]
    content = {
        "finding": findings(result),
        "sections": sections,
        "forest_note": forest_note(result, table),
        "means": as_markup(html_means(table)),
        "sentences": findings(result),
        "differences": as_markup(html_differences(replace(result, notes=[]))),
        "by_group": by_group,
        "notes": result.notes,
        "how": how_made(result.measures, result.origin, result.seed, ["scipy"]),
    }
    data = {
        "copies": copies_of(table, "comparison"),
        "forest": list(forest_charts(result, table, words)),
        "groups": list(_group_charts(result, words)),
        "styles": charts.line_styles([one_line(run) for run in result.paired.values]),
        "queries": query_details(result),
        "scatter": charts.scatter(),
    }
    title = titled(result.origin, len(result.paired.values), result.n_queries, words)
    return page("comparison.html", title, content, data, _SCRIPTS)


# --- tables ------------------------------------------------------------------------------------------


def html_differences(result: ComparisonResult) -> str:
    """Write the table of differences, and how they were computed."""
    first, others = deciding_tests(result)
    names = headings_of_tests(result)
    shown = {name: names[name] for name in (*first, *others)}
    headings, rows, n, size, _ = differences_table(result, shown)
    cells = [(row[:n], [as_html(cell) for cell in row[n:]]) for row in rows]
    blocks = [cells[start : start + size] for start in range(0, len(cells), size)]
    run = n - 1 if result.baseline is not None else n - 2
    lines = "".join(f"<li>{as_html(line)}</li>" for line in legend(result))
    return f'{html_table(headings[:n], run, headings[n:], blocks)}\n<ul class="legend">{lines}</ul>'


# --- the forest plot -----------------------------------------------------------------------------------


def forest_note(result: ComparisonResult, table: PaperTable) -> str:
    """Explain what points, lines, filling and letters mean, those that there are."""
    line = f"Line: {result.level_in_percent} interval"
    if not result.baselines:
        of_means = any(row.intervals.get("mean") for row in result.rows)
        said = [
            "Point: mean, sorted.",
            *([f"{line} of the mean, of each run by itself."] if of_means else []),
        ]
        marks = "Letters or numbers after > name the runs that a run is significantly better than."
        return " ".join([*said, *([marks] if table.lettered else [])])
    said = ["Point: mean difference to the baseline, sorted."]
    if method := interval_method(result):
        said.append(f"{line} ({method}).")
    test = deciding(result.rows[0].tests)
    if test and any(row.tests[test].adjusted is not None for row in result.rows):
        said.append(f"Filled: significant, {p_of_sentences(result, test)} < {LEVELS['†']}.")
    return " ".join(said)


def forest_charts(result: ComparisonResult, table: PaperTable, words: Words) -> Iterator[charts.Spec]:
    """Return a plot for each measure: differences to the baselines, or means where there is none."""
    rows = _differences if result.baselines else _means
    axis = words["difference"] if result.baselines else words["mean"]
    for number, heading in enumerate(headings_of(result.measures)):
        found = sorted(rows(result, table, number), key=lambda row: -row["value"])
        about = "; ".join(row["shown"] for row in found[:10])
        yield charts.forest(heading, about, found, axis, zero=bool(result.baselines))


def _differences(result: ComparisonResult, _: PaperTable, number: int) -> Iterator[dict[str, Any]]:
    test = deciding(result.rows[0].tests)
    several = len(result.baselines) > 1
    for row in rows_of(result, number):
        label = f"{row.run} - {row.baseline}" if several else row.run
        p = row.tests[test].adjusted if test else None
        texts = [shown(result, row.difference, "+"), interval_of(result, row)]
        texts += [f"p {p_or_dash(p)}"] if p is not None else []
        yield {
            **_placed(row.difference, row.interval),
            "label": one_line(label),
            "filled": outcome(row, test) != 0,
            "shown": one_line(f"{label}: {' '.join(text for text in texts if text != NONE)}"),
        }


def _means(result: ComparisonResult, table: PaperTable, number: int) -> Iterator[dict[str, Any]]:
    letter = table.labels.index("run") - 1 if table.lettered else None
    for row, (run, mean, interval) in zip(table.blocks[-1], means_of(result, number), strict=True):
        mark = row.cells[number].mark
        name = run if letter is None else f"{row.labels[letter]} {run}"
        label = f"{name}  > {mark}" if mark else name
        bounds = "" if interval is None else f" [{', '.join(shown(result, bound) for bound in interval)}]"
        yield {
            **_placed(mean, interval),
            "label": one_line(label),
            "filled": True,
            "shown": one_line(f"{run}: {shown(result, mean)}{bounds}"),
        }


def _placed(value: float, interval: Interval) -> dict[str, Any]:
    low, high = interval or (None, None)
    return {"value": value, "low": low, "high": high}


def means_of(result: ComparisonResult, number: int) -> list[tuple[str, float, Interval]]:
    """Return each run with its mean on a measure, and the interval of the mean by itself."""
    found: dict[str, Interval] = {}
    for row in rows_of(result, number):
        found.setdefault(row.run, row.intervals.get("mean"))
        found.setdefault(row.baseline, row.intervals.get("baseline_mean"))
    return [(run, float(each[number].mean()), found.get(run)) for run, each in result.paired.values.items()]


# --- groups ----------------------------------------------------------------------------------------------


def _by_group(result: ComparisonResult, words: Words) -> dict[str, Any]:
    """Return heading, note and tests of the section on groups."""
    few = [f"{label} (n = {part.n_queries:,})" for label, part in _parts(result) if part.n_clusters < FEW]
    note = words["by_group_note"].format(level=result.level_in_percent)
    note += f" {words['by_group_few'].format(groups=words['f_comma'].join(few))}" if few else ""
    made = [row for row in result.rows if INTERACTION in row.tests and row.tests[INTERACTION].p is not None]
    short = dict(zip(result.measures, headings_of(result.measures), strict=True))
    rows = [([short[row.measure], row.run, row.baseline], [_interaction(row)]) for row in made]
    labels = [words["measure"], words["run"], words["baseline"]]
    tests = as_markup(html_table(labels, 1, [words["interaction_p"]], [rows])) if rows else ""
    by = one_line(result.by)
    return {
        "heading": words["by_group"].format(by=by),
        "note": note,
        "question": words["interaction"].format(by=by),
        "interactions": tests,
        "means": as_markup(html_means(paper_table(result))),
    }


def _interaction(row: ComparisonRow) -> str:
    return as_html(p_or_dash(row.tests[INTERACTION].adjusted))


def _parts(result: ComparisonResult) -> list[tuple[str, ComparisonResult]]:
    return [(one_line(str(value)), part) for value, part in result.groups.items()]


def _group_charts(result: ComparisonResult, words: Words) -> Iterator[charts.Spec]:
    """Return a plot for each measure, where there are groups."""
    parts = _parts(result)
    styles = charts.line_styles([one_line(run) for run in result.paired.values])
    groups = [f"{label}\nn = {part.n_queries:,}" for label, part in parts]
    for number, heading in enumerate(headings_of(result.measures) if parts else []):
        rows = [
            {
                **_placed(mean, interval if part.n_clusters >= FEW else None),
                "run": one_line(run),
                "group": group,
                "shown": one_line(f"{run}, {label}: {shown(result, mean)}"),
            }
            for group, (label, part) in zip(groups, parts, strict=True)
            for run, mean, interval in means_of(part, number)
        ]
        about = words["by_group"].format(by=one_line(result.by))
        yield charts.by_group(heading, f"{heading}: {about}", rows, styles, groups, one_line(result.by))
