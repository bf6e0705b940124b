"""The error budget as a table for a terminal, Markdown, CSV, JSON and a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from permed_measures.budgets.results import SOURCES, BudgetResult, BudgetRow
from permed_measures.engine.ties import ALL_ORDERS
from permed_measures.files.provenance import provenance
from permed_measures.markup import as_cell, as_json, as_markdown, counted, finite
from permed_measures.measures.headings import explained, headings_of, name_of
from permed_measures.pages.words import page_words
from permed_measures.reports.result_page import Part, how_made, result_page, text_table, titled
from permed_measures.reports.tables import separated
from permed_measures.reports.wording import NONE
from permed_measures.terminal import paragraph, terminal_table

Table = tuple[list[str], list[list[str]], int]
"""Headings, rows, and the number of labels at the left."""

INTERVAL = "Student's t; where all values are 0 or 1, Clopper-Pearson"
"""How the intervals of the means are computed, and with clusters."""
BY_CLUSTERS = "cluster-robust Student's t; where all values are 0 or 1, Korn-Graubard"


def budget_table(result: BudgetResult) -> Table:
    """Return the rows of the budget."""
    several = len(result.runs) > 1
    short = dict(zip(result.measures, headings_of(result.measures), strict=True))
    headings = [*(["run"] if several else []), "measure", "judged", "value", *result.sources]
    rows = [
        [
            *([row.run] if several else []),
            short[row.measure],
            NONE if row.judged is None else f"{row.judged:.2f}",
            _number(result, row.value),
            *(_range(result, row, name) for name in result.sources),
        ]
        for row in result.rows
    ]
    return headings, rows, 1 + several


def _number(result: BudgetResult, value: float) -> str:
    return f"{value + 0.0:.{4 if result.digits is None else result.digits}f}"


def _range(result: BudgetResult, row: BudgetRow, name: str) -> str:
    found = getattr(row, name)
    if found is None:
        return NONE
    low, high = (_number(result, bound) for bound in found)
    more = "" if row.exact.get(name, True) else "*"
    return f"same{more}" if low == high == _number(result, row.value) else f"{low} {high}{more}"


# --- how it was computed -----------------------------------------------------------------------------


def legend(result: BudgetResult) -> Iterator[str]:
    """Explain the columns, then what was noted."""
    level, scale = f"{100 * result.level:.10g}%", ", ".join(f"{grade:g}" for grade in result.scale)
    units = f"{counted(result.n_queries, 'query')}"
    if result.clusters:
        units += f" in {counted(result.n_clusters, 'cluster')} ({result.clusters})"
    yield from explained(result.measures)
    yield f"interval: other topics; {level}, {_method(result)}, over {units}"
    yield f"ties: {ALL_ORDERS}"
    yield f"unjudged: the least and the most over grades ({scale}) of unjudged documents within the cutoff"
    if not all(exact for row in result.rows for exact in row.exact.values()):
        yield "*: only some orders or gradings were tried, and others may go beyond"
    if result.label_errors:
        errors = result.label_errors
        kappa = "" if errors.kappa is None else f"; Cohen's kappa {errors.kappa:.3f}"
        yield f"labels: {errors.about}{kappa}; {level} of {counted(result.draws, 'draw')}, seed {result.seed}"
    yield "judged: Judged@k, over queries with an answer"
    yield from sorted({f"{NONE} {name}: {why}" for row in result.rows for name, why in row.reasons.items()})
    yield from result.notes


def _method(result: BudgetResult) -> str:
    return BY_CLUSTERS if result.clusters else INTERVAL


# --- the formats -------------------------------------------------------------------------------------


def _as_table(result: BudgetResult) -> str:
    headings, rows, n_labels = budget_table(result)
    text = terminal_table(headings, rows, n_labels, spare=["judged"], goes_on=True)
    return "\n".join([text, *(paragraph(line, 2) for line in legend(result))]) + "\n"


def _as_markdown(result: BudgetResult) -> str:
    headings, rows, n_labels = budget_table(result)
    rule = ["---"] * n_labels + ["---:"] * (len(headings) - n_labels)
    lines = [[*map(as_markdown, headings)], rule, *([*map(as_markdown, row)] for row in rows)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return "\n\n".join([table, *map(as_markdown, legend(result))]) + "\n"


def budget_records(result: BudgetResult) -> list[dict[str, Any]]:
    """Return the numbers of each row."""
    errors = result.label_errors
    return [
        {
            "run": row.run,
            "measure": name_of(row.measure),
            "value": row.value,
            **{
                f"{name}_{end}": None if (found := getattr(row, name)) is None else found[place]
                for name in SOURCES
                for place, end in enumerate(("low", "high"))
            },
            **{f"{name}_exact": exact for name, exact in row.exact.items()},
            "judged": row.judged,
            "level": result.level,
            "draws": result.draws,
            "seed": result.seed,
            "clusters": result.clusters or None,
            "label_error": errors.about if errors else None,
            "kappa": errors.kappa if errors else None,
            "reasons": "; ".join(f"{name}: {why}" for name, why in row.reasons.items()) or None,
        }
        for row in result.rows
    ]


def _as_csv(result: BudgetResult) -> str:
    def cell(value: Any, name: str) -> Any:
        rounded = result.digits is not None and isinstance(value, float) and name not in ("level", "kappa")
        return as_cell(value) if isinstance(value, str) else round(value, result.digits) if rounded else value

    records = budget_records(result)
    rows = [[cell(value, name) for name, value in record.items()] for record in records]
    return separated([list(records[0]), *rows])


def _as_json(result: BudgetResult) -> str:
    errors = result.label_errors
    content = {
        "queries": result.n_queries,
        "clusters": result.clusters or None,
        "n_clusters": result.n_clusters,
        "level": result.level,
        "interval_method": _method(result),
        "draws": result.draws,
        "seed": result.seed,
        "grades": result.scale.tolist(),
        "label_errors": None
        if errors is None
        else {
            "about": errors.about,
            "grades": errors.levels.tolist(),
            "rates": errors.rates.tolist(),
            "kappa": errors.kappa,
            "compared": errors.compared,
        },
        "rows": [
            {
                "run": row.run,
                "measure": name_of(row.measure),
                "value": row.value,
                **{name: getattr(row, name) for name in SOURCES},
                "exact": dict(row.exact),
                "judged": row.judged,
                "reasons": dict(row.reasons),
            }
            for row in result.rows
        ],
        "notes": result.notes,
        "provenance": provenance(result.measures, result.origin, result.seed),
    }
    return as_json(finite(content), indent=2, allow_nan=False) + "\n"


def _as_page(result: BudgetResult) -> str:
    words = page_words()
    part = Part(words["table"], tables=[text_table(*budget_table(result))], lines=list(legend(result)))
    title = titled(result.origin, len(result.runs), result.n_queries, words)
    return result_page(title, [], [part], how_made(result.measures, result.origin, result.seed))


BUDGET_FORMATS: dict[str, Callable[[BudgetResult], str]] = {
    "table": _as_table,
    "markdown": _as_markdown,
    "csv": _as_csv,
    "json": _as_json,
    "html": _as_page,
}
"""The formats of an error budget."""
