"""The error budget as a page: what is sure and what is not, plots, and the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from permed_measures.budgets.reports import (
    SURE,
    TEXT_FORMATS,
    about_order,
    budget_table,
    legend,
    number_of,
    pairs_table,
    pairs_text,
    places_table,
)
from permed_measures.budgets.results import BudgetResult, BudgetRow, Order
from permed_measures.markup import listed, one_line
from permed_measures.measures.headings import headings_of
from permed_measures.pages import charts
from permed_measures.pages.words import page_words
from permed_measures.reports.result_page import Part, how_made, result_page, text_table, titled

Words = dict[str, str]


def budget_page(result: BudgetResult) -> str:
    """Write the page."""
    words = page_words()
    note = words["u_plots_note"].format(level=_level(result))
    parts = [
        Part(words["u_plots"], note, list(_plots(result, words))),
        Part(words["table"], tables=[text_table(*budget_table(result))], lines=list(legend(result))),
    ]
    if result.order is None:
        finding = _finding(result, result.rows[0], words)
    else:
        finding = _order_finding(result, result.order, words)
        pairs, n_sure = pairs_table(result)
        about = pairs_text(n_sure, len(pairs[1]))
        tables = [text_table(*places_table(result), run=1)]
        tables += [text_table(*pairs, run=1, about=about, folded=True)] if pairs[1] else []
        lines = [] if pairs[1] else [about]
        parts.append(Part(words["u_order"], about_order(result), tables=tables, lines=lines))
    return result_page(
        titled(result.origin, len(result.runs), result.n_queries, words),
        list(finding),
        parts,
        how_made(result.measures, result.origin, result.seed),
    )


def _level(result: BudgetResult) -> str:
    return f"{100 * result.level:.10g}%"


def _finding(result: BudgetResult, row: BudgetRow, words: Words) -> Iterator[str]:
    """Say what the only run has on the first measure, and how far each source moves it."""
    value = number_of(result, row.value)
    yield words["u_value"].format(run=row.run, measure=headings_of(result.measures)[0], value=value)
    still = []
    for name in result.sources:
        if (found := getattr(row, name)) is None:
            continue
        low, high = (number_of(result, bound) for bound in found)
        if low == high == value:
            still.append(words[f"u_{name}"])
        else:
            yield words[f"u_moved_{name}"].format(low=low, high=high, level=_level(result))
    if still:
        yield words["u_still"].format(sources=listed(still))


def _order_finding(result: BudgetResult, order: Order, words: Words) -> Iterator[str]:
    """Say which run is first on the first measure, whether it stays so, and how sure all pairs are."""
    measure, heading = result.measures[0], headings_of(result.measures)[0]
    [first, *others] = [each for each in order.places if each.measure == measure and each.place == 1]
    if others:
        runs = listed([first.run, *(each.run for each in others)], 3)
        yield words["u_tied"].format(runs=runs, measure=heading)
    else:
        yield words["f_best"].format(
            run=first.run,
            measure=heading,
            mean=next(
                number_of(result, row.value)
                for row in result.rows
                if (row.run, row.measure) == (first.run, measure)
            ),
        )
        falls = [
            words["u_falls_to"].format(place=first.ranges[name][1], source=words[f"u_{name}"])
            for name in result.sources
            if first.ranges[name][1] > 1
        ]
        yield words["u_falls"].format(falls=listed(falls)) if falls else words["u_stays"]
    counts = [
        f"{sum((each.kept[name] or 0) >= SURE for each in order.pairs):,} ({words[f'u_{name}']})"
        for name in result.sources
    ]
    n, sure = f"{len(order.pairs):,}", listed(counts)
    yield words["u_pairs"].format(n=n, counts=sure, share=f"{SURE:.0%}")


def _plots(result: BudgetResult, words: Words) -> Iterator[charts.Spec]:
    """Yield a plot of each measure: its values, and what each source could make of them."""
    several, kinds = len(result.runs) > 1, [words[f"u_{name}"] for name in result.sources]
    for measure, heading in zip(result.measures, map(one_line, headings_of(result.measures)), strict=True):
        rows = [
            {
                "value": row.value,
                "low": found[0],
                "high": found[1],
                "label": one_line(row.run) if several else words[f"u_{name}"],
                "kind": words[f"u_{name}"],
                "filled": True,
                "shown": one_line(
                    f"{row.run}, {name}: {' '.join(number_of(result, each) for each in found)}"
                ),
            }
            for name in result.sources
            for row in result.rows
            if row.measure == measure and (found := getattr(row, name)) is not None
        ]
        about = f"{heading}: {'; '.join(each['shown'] for each in rows)}"
        if several:
            yield charts.ranges(heading, about, rows, kinds, words["mean"])
        else:
            yield charts.forest(heading, about, rows, words["mean"], zero=False)


BUDGET_FORMATS: dict[str, Callable[[BudgetResult], str]] = {**TEXT_FORMATS, "html": budget_page}
"""The formats of an error budget."""
