"""The error budget as a table for a terminal, Markdown, CSV and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from permed_measures.budgets.results import SOURCES, BudgetResult, BudgetRow, Order, Pair
from permed_measures.errors import InputError
from permed_measures.files.provenance import provenance
from permed_measures.markup import as_cell, as_json, as_markdown, counted, finite
from permed_measures.measures.headings import explained, headings_of, name_of
from permed_measures.reports.tables import separated
from permed_measures.reports.wording import NONE
from permed_measures.terminal import paragraph, terminal_table

# --- the tables --------------------------------------------------------------------------------------


Table = tuple[list[str], list[list[str]], int]
"""Headings, rows, and the number of labels at the left."""


def budget_table(result: BudgetResult) -> Table:
    """Return the rows of the budget."""
    several = len(result.runs) > 1
    short = dict(zip(result.measures, headings_of(result.measures), strict=True))
    sources, digits = result.sources, 4 if result.digits is None else result.digits
    headings = [*(["run"] if several else []), "measure", "judged", "value", *sources]
    rows = [
        [
            *([row.run] if several else []),
            short[row.measure],
            f"{row.judged:.2f}",
            _number(row.value, digits),
            *(_range(row, name, digits) for name in sources),
        ]
        for row in result.rows
    ]
    return headings, rows, 1 + several


def number_of(result: BudgetResult, value: float) -> str:
    """Write a number with the digits that were asked for."""
    return _number(value, 4 if result.digits is None else result.digits)


def _number(value: float, digits: int) -> str:
    return f"{value + 0.0:.{digits}f}"


def _range(row: BudgetRow, name: str, digits: int) -> str:
    found = getattr(row, name)
    if found is None:
        return NONE
    low, high = (_number(bound, digits) for bound in found)
    if low == high == _number(row.value, digits):
        return "same"
    return f"{low} {high}" + ("*" if name == "unjudged" and not row.exact else "")


def _order_of(result: BudgetResult) -> Order:
    """Return how sure the order of the runs is."""
    if result.order is None:
        raise InputError("one run has no order", hint="Give several runs")
    return result.order


def places_table(result: BudgetResult) -> Table:
    """Return the place of each run, and the places that it may have."""
    order = _order_of(result)
    short = dict(zip(result.measures, headings_of(result.measures), strict=True))
    rows = []
    for number, each in enumerate(order.places):
        ranges = (each.ranges[name] for name in result.sources)
        cells = [f"{best}" if best == worst else f"{best} to {worst}" for best, worst in ranges]
        rows.append([short[each.measure], each.run, f"{each.place}", *cells])
        if (number + 1) % len(result.runs) == 0:
            tau = order.tau[each.measure]
            rows.append(
                [short[each.measure], "Kendall's tau", "", *(f"{tau[name]:.2f}" for name in result.sources)]
            )
    return ["measure", "run", "place", *result.sources], rows, 2


SURE = 0.95
"""A pair that keeps its order this often under all sources is not listed."""


def pairs_table(result: BudgetResult) -> tuple[Table, int]:
    """Return the pairs whose order is not sure, and how many others there are."""
    order = _order_of(result)
    short = dict(zip(result.measures, headings_of(result.measures), strict=True))
    digits = 4 if result.digits is None else result.digits
    unsure = [each for each in order.pairs if not _is_sure(each, result.sources)]
    rows = [
        [
            short[each.measure],
            f"{each.better} > {each.worse}",
            _number(each.difference, digits),
            *(_kept(each.kept[name]) for name in result.sources),
        ]
        for each in unsure
    ]
    return (["measure", "pair", "Δ", *result.sources], rows, 2), len(order.pairs) - len(unsure)


def _is_sure(pair: Pair, sources: Iterable[str]) -> bool:
    return all((pair.kept[name] or 0) >= SURE for name in sources)


def _kept(share: float | None) -> str:
    return "may change" if share is None else f"{share:.3f}"


# --- how it was computed -----------------------------------------------------------------------------


def legend(result: BudgetResult) -> Iterator[str]:
    """Explain the columns, then what was noted."""
    level = f"{100 * result.level:.10g}%"
    units = f"{counted(result.n_queries, 'query')}"
    if result.clusters:
        units += f" in {counted(result.n_clusters, 'cluster')} ({result.clusters})"
    yield from explained(result.measures)
    yield f"interval: other topics; {level}, {INTERVAL}, over {units}"
    yield "ties: the least and the most over the orders of equal scores"
    scale = ", ".join(f"{grade:g}" for grade in result.scale)
    yield (
        "unjudged: the least and the most over all grades that unjudged documents within the cutoff may have "
        f"({scale}), in R and in the ideal list too"
    )
    if any(not row.exact for row in result.rows):
        yield "*: a bound, no value lies beyond; all others are reached"
    if result.label_errors:
        errors = result.label_errors
        kappa = "" if errors.kappa is None else f"; Cohen's kappa {errors.kappa:.3f}"
        drawn = f"{level} of {counted(result.label_draws, 'draw')}, seed {result.seed}"
        yield f"labels: {errors.about}{kappa}; {drawn}"
    yield "judged: the share of the retrieved documents within the cutoff that are judged"
    reasons = {f"{NONE} {name}: {why}" for row in result.rows for name, why in row.reasons.items()}
    yield from sorted(reasons)
    yield from result.notes


INTERVAL = "Student's t with a correction for skewness"
"""How the intervals of the means are computed."""

_ORDER = (
    "How sure the order of the runs is: the places that a run may have, and Kendall's tau with the order of "
    "the values (for ties and unjudged the least that it can be); {} of topics, seed {}."
)


def about_order(result: BudgetResult) -> str:
    """Explain the table of places."""
    return _ORDER.format(counted(result.resamples, "resample"), result.seed)


def pairs_text(n_sure: int, n_unsure: int) -> str:
    """Say what the table of pairs has."""
    if not n_unsure:
        return f"All {counted(n_sure, 'pair')} keep their order in {SURE:.0%} of the cases or more."
    others = f"; the other {n_sure:,} keep it" if n_sure else ""
    often = f"{others} in {SURE:.0%} of the cases or more" if others else ""
    return f"Pairs that may not keep their order, and how often they do{often}:"


# --- the formats -------------------------------------------------------------------------------------


def _as_table(result: BudgetResult) -> str:
    headings, rows, n_labels = budget_table(result)
    text = terminal_table(headings, rows, n_labels, len(result.measures), goes_on=True)
    lines = [text, "\n", *(f"{paragraph(line, 2)}\n" for line in legend(result))]
    if result.order is not None:
        lines += ["\n", paragraph(about_order(result)), "\n\n"]
        places = places_table(result)
        lines.append(terminal_table(*places, len(result.runs) + 1, goes_on=True))
        (headings, rows, n_labels), n_sure = pairs_table(result)
        lines += ["\n", paragraph(pairs_text(n_sure, len(rows))), "\n"]
        if rows:
            lines += ["\n", terminal_table(headings, rows, n_labels, goes_on=True)]
    return "".join(lines)


def _as_markdown(result: BudgetResult) -> str:
    parts = [_markdown(*budget_table(result)), *(as_markdown(line) for line in legend(result))]
    if result.order is not None:
        table, n_sure = pairs_table(result)
        parts += [as_markdown(about_order(result)), _markdown(*places_table(result))]
        parts += [as_markdown(pairs_text(n_sure, len(table[1]))), *([_markdown(*table)] if table[1] else [])]
    return "\n\n".join(parts) + "\n"


def _markdown(headings: Sequence[str], rows: Sequence[Sequence[str]], n_labels: int) -> str:
    rule = ["---"] * n_labels + ["---:"] * (len(headings) - n_labels)
    lines = [[*map(as_markdown, headings)], rule, *([*map(as_markdown, row)] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


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
            "unjudged_exact": None if row.unjudged is None else row.exact,
            "judged": row.judged,
            "level": result.level,
            "resamples": result.resamples,
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
        "interval_method": INTERVAL,
        "resamples": result.resamples,
        "seed": result.seed,
        "grades": result.scale.tolist(),
        "label_errors": None
        if errors is None
        else {
            "about": errors.about,
            "draws": result.label_draws,
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
                "unjudged_is": None if row.unjudged is None else "exact" if row.exact else "bound",
                "judged": row.judged,
                "reasons": dict(row.reasons),
            }
            for row in result.rows
        ],
        "order": _order(result),
        "notes": result.notes,
        "provenance": provenance(result.measures, result.origin, result.seed),
    }
    return as_json(finite(content), indent=2, allow_nan=False) + "\n"


def _order(result: BudgetResult) -> dict[str, Any] | None:
    if result.order is None:
        return None
    return {
        "places": [{**vars(each), "measure": name_of(each.measure)} for each in result.order.places],
        "pairs": [{**vars(each), "measure": name_of(each.measure)} for each in result.order.pairs],
        "tau": [{"measure": name_of(measure), **taus} for measure, taus in result.order.tau.items()],
    }


TEXT_FORMATS: dict[str, Callable[[BudgetResult], str]] = {
    "table": _as_table,
    "markdown": _as_markdown,
    "csv": _as_csv,
    "json": _as_json,
}
"""The formats of an error budget that are text."""
