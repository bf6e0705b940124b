"""Comparisons for a terminal, a paper and other programs."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from permed_measures.markup import as_cell, as_json, as_latex, as_markdown, one_line
from permed_measures.reports.differences import differences_table, legend
from permed_measures.reports.html import page
from permed_measures.reports.paper_table import (
    Cell,
    PaperTable,
    TableRow,
    deciding_test,
    deciding_tests,
    paper_table,
    sentences,
)
from permed_measures.statistics.results import ComparisonResult, ComparisonRow
from permed_measures.terminal import Styled, paragraph, terminal_table

# --- terminal --------------------------------------------------------------------------------------


def _as_table(result: ComparisonResult) -> str:
    """Write the means, the differences with the deciding test, and how they were computed."""
    table = paper_table(result)
    means = terminal_table(
        [*table.labels, *table.measures], _styled_rows(table), len(table.labels), len(table.blocks[0])
    )
    caption = paragraph(table.caption(styled="\x1b[" in means))  # a file has no bold or underlined cells
    differences, lines = _differences(result)
    return "\n".join([means, caption, "", differences, *map(paragraph, lines), ""])


def _differences(result: ComparisonResult) -> tuple[str, list[str]]:
    """Return the table of differences with the deciding test, and its legend."""
    tests, others = deciding_tests(result)
    if not deciding_test(result):
        return terminal_table(*differences_table(result)), legend(result)
    headings = dict(zip(tests, ("p", "naive p"), strict=False))  # short, so that more has room
    lines = ["; ".join(f"{heading}: {name}" for name, heading in headings.items()), *legend(result, tests)]
    if others:
        lines.append(f"{', '.join(others)}: in the formats html, csv and json")
    return terminal_table(*differences_table(result, headings)), lines


def _styled_rows(table: PaperTable) -> list[list[str | Styled]]:
    """Return the rows of means, with digits aligned whatever the marks."""
    apart = " " if table.lettered else ""
    marks = [max(len(row.cells[number].mark) for row in _all(table)) for number in range(len(table.measures))]
    styles = {0: "", 1: "bold", 2: "underline"}
    return [
        [
            *row.labels,
            *(
                Styled(cell.text, styles[cell.place], (apart + cell.mark.ljust(width)) if width else "")
                for cell, width in zip(row.cells, marks, strict=True)
            ),
        ]
        for row in _all(table)
    ]


def _all(table: PaperTable) -> list[TableRow]:
    return [row for block in table.blocks for row in block]


# --- paper -----------------------------------------------------------------------------------------


def _as_markdown(result: ComparisonResult) -> str:
    table = paper_table(result)
    forms = {0: "{}", 1: "**{}**", 2: "<u>{}</u>"}
    mark = "<sup>{}</sup>" if table.lettered else "{}"
    lines = [[*map(as_markdown, [*table.labels, *table.measures])]]
    lines += [["---"] * len(table.labels) + ["---:"] * len(table.measures)]
    for row in _all(table):
        cells = [
            forms[cell.place].format(cell.text) + (mark.format(cell.mark) if cell.mark else "")
            for cell in row.cells
        ]
        lines.append([*map(as_markdown, row.labels), *cells])
    rows = [f"| {' | '.join(line)} |" for line in lines]
    texts = [table.caption(), *sentences(result), *result.notes]
    return "\n".join([*rows, *(f"\n{as_markdown(text)}" for text in texts), ""])


def _as_latex(result: ComparisonResult) -> str:
    """Write a table for the LaTeX package booktabs."""
    table = paper_table(result)
    column, heading = ("r@{ }l", r"\multicolumn{{2}}{{c}}{{{}}}") if table.lettered else ("r", "{}")
    headings = [*map(as_latex, table.labels), *(heading.format(as_latex(each)) for each in table.measures)]
    lines = [
        f"% needs \\usepackage{{booktabs}}{_encoding_packages(table)}",
        r"\begin{table}[t]",
        r"\centering",
        rf"\caption{{{as_latex(table.caption())}}}",
        rf"\begin{{tabular}}{{{'l' * len(table.labels)}{column * len(table.measures)}}}",
        r"\toprule",
        rf"{' & '.join(headings)} \\",
    ]
    for block in table.blocks:
        lines.append(r"\midrule")
        for row in block:
            cells = [_latex_cell(cell, table.lettered) for cell in row.cells]
            lines.append(rf"{' & '.join([*map(as_latex, row.labels), *cells])} \\")
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    lines += [f"% {one_line(note)}" for note in result.notes]
    lines += [f"% {as_latex(sentence)}" for sentence in sentences(result)]
    return "\n".join([*lines, ""])


def _latex_cell(cell: Cell, lettered: bool) -> str:
    """Write a mean and its mark so that the digits of a column are aligned."""
    forms = {0: "{}", 1: r"\textbf{{{}}}", 2: r"\underline{{{}}}"}
    text = forms[cell.place].format(as_latex(cell.text))
    if lettered:
        return rf"{text} & \textsuperscript{{{cell.mark}}}" if cell.mark else f"{text} &"
    return rf"{text}\rlap{{{as_latex(cell.mark)}}}" if cell.mark else text


def _encoding_packages(table: PaperTable) -> str:
    """Say what LaTeX needs for letters beyond ASCII: T1 fonts have all of Latin-1."""
    texts = [table.caption(), *table.labels, *(label for row in _all(table) for label in row.labels)]
    last = max({*one_line("".join(texts))} - {*"†‡—Δ"}, default="")
    if last > "\xff":
        return ", and xelatex or lualatex with a font that has the letters (such as ctex for Chinese)"
    return r", \usepackage[T1]{fontenc}" if last > "\x7f" else ""


# --- other programs --------------------------------------------------------------------------------


def _rows(result: ComparisonResult) -> Iterator[tuple[str, ComparisonRow]]:
    """Yield the rows of each group and of all queries, with the group."""
    for label, comparison in result.sections():
        for row in comparison.rows:
            yield label, row


def _as_csv(result: ComparisonResult) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    tests = list(result.rows[0].tests)
    header = [as_cell(result.by)] if result.by else []
    header += ["measure", "run", "baseline", "mean", "baseline_mean", "difference"]
    header += ["relative", "low", "high", "wins", "ties", "losses", "effect_size"]
    header += [f"{name} {column}" for name in tests for column in ("p", "adjusted")]
    writer.writerow(header)
    for label, row in _rows(result):
        labels = [*([label] if result.by else []), str(row.measure), row.run, row.baseline]
        cells: list[Any] = [*map(as_cell, labels), row.mean, row.baseline_mean, row.difference, row.relative]
        cells += [*(row.interval or (None, None)), row.wins, row.ties, row.losses, row.effect_size]
        for name in tests:
            cells += [row.tests[name].p, row.tests[name].adjusted]
        writer.writerow(cells)
    return text.getvalue()


def _as_json(result: ComparisonResult) -> str:
    content = {
        "baseline": result.baseline,
        "clusters": result.paired.clusters or None,
        "correction": result.correction,
        "resamples": result.resamples,
        "seed": result.seed,
        "level": result.level,
        **_part(result),
        "by": result.by or None,
        "groups": [
            {"group": value if type(value) in (int, str) else str(value), **_part(group)}
            for value, group in result.groups.items()
        ],
        "sentences": sentences(result),
        "notes": result.notes,
    }
    return as_json(_finite(content), indent=2, allow_nan=False) + "\n"


def _part(result: ComparisonResult) -> dict[str, Any]:
    """Return the part of the JSON that a group and the whole have alike."""
    return {
        "queries": result.n_queries,
        "n_clusters": result.n_clusters,
        "families": result.families,
        "means": {
            run: {str(m): float(each.mean()) for m, each in zip(result.measures, values, strict=True)}
            for run, values in result.paired.values.items()
        },
        "rows": [{**asdict(row), "measure": str(row.measure)} for row in result.rows],
    }


def _finite(value: Any) -> Any:
    """Replace infinities and NaN, which JSON does not have, by texts."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


COMPARISON_FORMATS: dict[str, Callable[[ComparisonResult], str]] = {
    "table": _as_table,
    "markdown": _as_markdown,
    "latex": _as_latex,
    "html": page,
    "csv": _as_csv,
    "json": _as_json,
}
"""The formats of a comparison."""

COMPARISON_ENDINGS = {
    ".txt": "table",
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".csv": "csv",
    ".json": "json",
}
"""The format by the ending of a file."""
