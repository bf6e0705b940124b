"""Comparisons for a terminal, a paper, a browser and other programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from importlib.util import find_spec
from typing import Any

from permed_measures.comparisons.results import EQUIVALENCE, INTERACTION, ComparisonResult, ComparisonRow
from permed_measures.files.provenance import provenance
from permed_measures.markup import as_cell, as_html, as_json, finite
from permed_measures.measures.headings import name_of
from permed_measures.pages.bundle import drawn
from permed_measures.pages.words import page_words
from permed_measures.reports.comparison_page import (
    comparison_page,
    forest_charts,
    forest_note,
    html_differences,
)
from permed_measures.reports.differences import differences_table, legend
from permed_measures.reports.html import html_means
from permed_measures.reports.judged import judged_shares
from permed_measures.reports.latex import latex
from permed_measures.reports.paper_table import deciding_test, deciding_tests, paper_table, sentences
from permed_measures.reports.tables import markdown, separated, styled_rows
from permed_measures.reports.wording import interval_method
from permed_measures.terminal import paragraph, terminal_table

# --- terminal and paper ----------------------------------------------------------------------------


def _as_table(result: ComparisonResult) -> str:
    """Write the means, the differences with the deciding test, and how they were computed."""
    table = paper_table(result)
    headings = [*table.labels, *table.headings]
    n_labels, n_runs = len(table.labels), len(table.blocks[0])
    means = terminal_table(headings, styled_rows(table), n_labels, n_runs, goes_on=True)
    caption = paragraph(table.caption(styled="\x1b[" in means))  # a file has no bold or underlined cells
    differences, lines = _differences(result)
    return "\n".join([means, caption, "", differences, *(paragraph(line, 2) for line in lines), ""])


def _differences(result: ComparisonResult) -> tuple[str, list[str]]:
    """Return the table of differences with the deciding test, and its legend."""
    tests, others = deciding_tests(result)
    if not deciding_test(result):
        return terminal_table(*differences_table(result)), legend(result)
    headings = dict(zip(tests, ("p",), strict=True))  # short, so that more has room
    answered = {name for row in result.rows for name, test in row.tests.items() if test.p is not None}
    asked = [name for name in others if name in (EQUIVALENCE, INTERACTION) and name in answered]
    headings.update(zip(asked, asked, strict=True))
    others = [name for name in others if name not in asked]
    short = [f"{heading}: {name}" for name, heading in headings.items() if name not in asked]
    lines = ["; ".join(short), *legend(result, [*tests, *asked])]
    if others:
        lines.append(f"{', '.join(others)}: in the formats html, csv and json")
    return terminal_table(*differences_table(result, headings)), lines


# --- browser ---------------------------------------------------------------------------------------


def for_notebook(result: ComparisonResult) -> str:
    """Write the table of means, the forest plot, and folded the differences and how they were computed."""
    folded = f"<details><summary>differences and tests</summary>{html_differences(result)}</details>"
    return "\n".join([html_means(paper_table(result)), *_forest(result), folded])


_MOST_DRAWN = 50
"""The number of runs whose forest plot a notebook shows, at most."""

_COLOURS = (
    "--ink: currentColor; --grid: #8886; --accent: #2b7fd4; "
    "--paper: var(--jp-layout-color0, var(--vscode-editor-background, Canvas))"
)
"""Of a plot, on the white or the black of a notebook."""


def _forest(result: ComparisonResult) -> list[str]:
    """Draw the forest plot where vl-convert is installed and there are not too many runs."""
    if len(result.paired.values) > _MOST_DRAWN or not find_spec("vl_convert"):
        return []
    words = page_words()
    table = paper_table(result)
    specs = forest_charts(result, table, words)
    plots = (
        f'<div role="img" aria-label="{as_html(spec["description"])}">{drawn(spec)}</div>' for spec in specs
    )
    return [
        f'<div style="display: flex; flex-wrap: wrap; gap: 1em; {_COLOURS}">{"".join(plots)}</div>',
        f"<p>{as_html(forest_note(result, table))}</p>",
    ]


# --- other programs --------------------------------------------------------------------------------


_MEANS = ("mean", "baseline_mean", "difference", "relative")
_COUNTS = ("wins", "ties", "losses", "effect_size")
_HOW = ("correction", "family", "level", "resamples", "seed")
_BOUNDS = ("low", "high")
_OTHERS = ("measure", "run", "baseline", "needed", "clusters", "reasons")


def comparison_records(result: ComparisonResult) -> list[dict[str, Any]]:
    """Return the numbers of each pair and measure, by group if there are groups, and how they were made."""
    by = f"{result.by} (group)" if result.by in {*_MEANS, *_BOUNDS, *_COUNTS, *_OTHERS, *_HOW} else result.by
    return [
        {
            **({by: label} if by else {}),
            "measure": name_of(row.measure),
            "run": row.run,
            "baseline": row.baseline,
            **{name: getattr(row, name) for name in _MEANS},
            **dict(zip(_BOUNDS, row.interval or (None, None), strict=True)),
            **{name: getattr(row, name) for name in _COUNTS},
            **{
                f"{name}_{bound}": (row.intervals.get(name) or (None, None))[i]
                for name in _MEANS[:2]
                for i, bound in enumerate(_BOUNDS)
            },
            **{
                f"{name} {column}": getattr(row.tests.get(name), column, None)
                for name in result.rows[0].tests
                for column in ("p", "adjusted")
            },
            "needed": row.needed,
            "clusters": result.paired.clusters or None,
            **{name: getattr(result, name) for name in _HOW},
            "reasons": _reasons(row),
        }
        for label, section in result.sections()
        for row in section.rows
    ]


def _reasons(row: ComparisonRow) -> str | None:
    """Say why values of a row are missing."""
    reasons = {**row.reasons, **{name: test.reason for name, test in row.tests.items() if test.reason}}
    return "; ".join(f"{name}: {reason}" for name, reason in reasons.items()) or None


def _as_csv(result: ComparisonResult) -> str:
    def cell(name: str, value: Any) -> Any:
        if isinstance(value, str):
            return as_cell(value)
        number = name in {*_MEANS, *_BOUNDS, *_COUNTS} or name.endswith(("_low", "_high"))
        rounded = number and value is not None and result.digits is not None
        return round(value, result.digits) if rounded else value

    records = comparison_records(result)
    lines = [[cell(name, value) for name, value in record.items()] for record in records]
    return separated([list(map(as_cell, records[0])), *lines])


def comparison_content(result: ComparisonResult) -> dict[str, Any]:
    """Return what the JSON has, apart from the provenance."""
    content = {
        "baseline": result.baseline or result.baselines or None,
        "clusters": result.paired.clusters or None,
        "correction": result.correction,
        "family": result.family,
        "resamples": result.resamples,
        "seed": result.seed,
        "level": result.level,
        "equivalence_margin": result.equivalence_margin,
        "detect": result.detect,
        "interval_method": interval_method(result) or None,
        "deciding_test": deciding_test(result) or None,
        **_part(result),
        "by": result.by or None,
        "groups": [
            {"group": value if type(value) in (int, str) else str(value), **_part(group)}
            for value, group in result.groups.items()
        ],
        "sentences": sentences(result),
        "notes": result.notes,
    }
    known: dict[str, Any] = finite(content)
    return known


def _as_json(result: ComparisonResult) -> str:
    origin = provenance(result.measures, result.origin, result.seed, ["scipy"])
    return as_json({**comparison_content(result), "provenance": origin}, indent=2, allow_nan=False) + "\n"


def _part(result: ComparisonResult) -> dict[str, Any]:
    """Return the part of the JSON that a group and the whole have alike."""
    return {
        "queries": result.n_queries,
        "n_clusters": result.n_clusters,
        "families": result.families,
        "means": {
            run: {name_of(m): float(each.mean()) for m, each in zip(result.measures, values, strict=True)}
            for run, values in result.paired.values.items()
        },
        "judged": judged_shares(result),
        "rows": [{**asdict(row), "measure": name_of(row.measure)} for row in result.rows],
    }


COMPARISON_FORMATS: dict[str, Callable[[ComparisonResult], str]] = {
    "table": _as_table,
    "markdown": lambda result: markdown(paper_table(result), [*sentences(result), *result.notes]),
    "latex": lambda result: latex(paper_table(result), "comparison", result.notes, sentences(result)),
    "html": comparison_page,
    "csv": _as_csv,
    "json": _as_json,
}
"""The formats of a comparison."""
