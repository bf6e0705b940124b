"""Tables and JSON on people's labels: their agreement with the qrels, and corrected numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from permed_measures.human_labels.agreement import Agreement, Orders
from permed_measures.human_labels.corrected import FEW_CHANGED, Corrected
from permed_measures.results.report import Section, low_high_fields
from permed_measures.results.table import NONE, Cell, Style, Table, as_text
from permed_measures.wording import plural, pluralize


class CorrectedRow(NamedTuple):
    """A mean or a difference: names by heading, its value by the labels of the qrels, and its correction."""

    names: dict[str, str]
    value: float
    corrected: Corrected


class TableTexts(NamedTuple):
    """Texts for a table of means or differences: caption, noun, heading and sign of the value, units."""

    caption: str
    noun: str
    heading: str
    sign: str
    documents: str


MEANS_TEXTS = TableTexts("Means", "the mean", "value", "", "documents within the cutoff")
DIFFERENCES_TEXTS = TableTexts(
    "Differences", "Δ", "Δ", "+", "documents that one run alone has within the cutoff"
)


def section_of(
    agreement: Agreement,
    texts: TableTexts,
    rows: Sequence[CorrectedRow],
    interval: Sequence[str],
    style: Style,
) -> Section:
    """Build the section on people's labels: their agreement with the qrels, and the corrected numbers.

    Parameters
    ----------
    agreement : Agreement
    texts : TableTexts
    rows : sequence of CorrectedRow
    interval : sequence of str
        The heading of the intervals, then notes on them.
    style : Style
    """
    same, higher, lower = (
        f"{100 * share:.0f} %" for share in (agreement.agreed, agreement.higher, agreement.lower)
    )
    named = {
        "Cohen's kappa": agreement.kappa,
        "with quadratic weights": agreement.quadratic_kappa,
        "Krippendorff's alpha (ordinal)": agreement.alpha,
    }
    values = (f"{name} {as_text(value, '.3f')}" for name, value in named.items())
    n_left, every = agreement.left_out, agreement.n + agreement.left_out
    left = f"{n_left:,} {'has' if n_left == 1 else 'have'} a grade below 0, which is left out; of the others "
    sentences = [
        f"Of {pluralize(every, 'document')} that people judged too, {left if n_left else ''}{same} have the "
        f"same grade in the qrels, {higher} a higher one and {lower} a lower one.",
        f"{', '.join(values)}.",
    ]
    corrected = _corrections(texts, rows, interval, style)
    return Section("People's labels", tables=[_grades(agreement), corrected], texts=sentences)


def _grades(agreement: Agreement) -> Table:
    """Build the table of documents by their grade in the qrels (rows) and by people (columns)."""
    grades = [f"{level:g}" for level in agreement.levels]
    rows = [
        [Cell(grade), *(Cell(f"{n:,.0f}", value=n) for n in counts.tolist())]
        for grade, counts in zip(grades, agreement.counts, strict=True)
    ]
    caption = "Documents by their grade in the qrels and by people"
    return Table.of(
        ["qrels", *(f"people: {grade}" for grade in grades)], rows, caption=caption, label="grades"
    )


def _share(k: int, n: int) -> Cell:
    """Write a count and its total; a dash if the total is 0."""
    return Cell(f"{k:,} of {n:,}" if n else NONE, value=k if n else None)


def _corrections(
    texts: TableTexts, rows: Sequence[CorrectedRow], interval: Sequence[str], style: Style
) -> Table:
    """Build the table of corrected numbers: by both sets of labels, with intervals and the labels needed."""

    def number(value: float | None) -> Cell:
        return Cell(style.text(value, texts.sign), value=value)

    def low_high(interval: tuple[float, float] | None, mark: str = "") -> Cell:
        low, high = interval or (None, None)
        return Cell(f"{number(low).text} {number(high).text}" if interval else NONE, mark=mark, value=low)

    cells: list[list[str | Cell]] = [
        [
            *names.values(),
            number(value),
            number(estimate.value),
            low_high(estimate.interval, "*" * estimate.few_changed),
            low_high(estimate.alone),
            _share(estimate.sampled, estimate.units),
            Cell(NONE if estimate.more is None else f"{estimate.more:,}", value=estimate.more),
        ]
        for names, value, estimate in rows
    ]
    estimates = [row.corrected for row in rows]
    units = sorted({estimate.unit for estimate in estimates if estimate.units})
    sampled = {"query": "queries", "document": texts.documents}
    notes = [
        f"Corrected: {texts.noun} over the same queries if people had judged all that the qrels judge "
        "(prediction-powered inference)",
        *(f"Assumption: people judged a simple random sample of the {sampled[unit]}" for unit in units),
        *interval[1:],
        "People alone: the interval without the labels of the qrels",
        f"To halve: how many more {' or '.join(map(plural, units))} people must judge to halve the interval",
        *([_FEW_QUERIES_NOTE] if any(estimate.few_changed for estimate in estimates) else []),
        *sorted({f"{NONE}: {estimate.reason}" for estimate in estimates if estimate.reason}),
    ]
    return Table.of(
        [*rows[0].names, texts.heading, "corrected", interval[0], "people alone", "judged", "to halve"],
        cells,
        len(rows[0].names),
        caption=f"{texts.caption}{style.unit} by the labels of the qrels, and corrected by people's labels",
        notes=notes,
        droppable=["people alone"],
        label="people",
    )


_FEW_QUERIES_NOTE = (
    f"*: people's labels change the values of fewer than {FEW_CHANGED} sampled queries; such an interval "
    "contains the true value less often than its level says"
)


def orders_section(orders: Orders | None, headings: Sequence[str]) -> list[Section]:
    """Build the section that compares the orders of the runs by both sets of labels, if there is one."""
    if orders is None:
        return []
    heading = "Order of the runs"
    if orders.reason:
        return [Section(heading, texts=[orders.reason])]
    rows: list[dict[str, str | Cell]] = [
        {
            "measure": name,
            "tau-b": Cell(as_text(order.tau_b, ".3f"), value=order.tau_b),
            "tau AP": Cell(as_text(order.tau_ap, ".3f"), value=order.tau_ap),
            "pairs exchanged": _share(len(order.exchanged), order.pairs),
            "verdicts changed": _share(len(order.changed), order.verdicts),
        }
        for name, order in zip(headings, orders.of_measures, strict=True)
    ]
    table = Table.by_heading(
        rows,
        caption=f"The order of {orders.runs:,} runs by the labels of the qrels and by people's labels, on "
        f"{pluralize(orders.queries, 'query')} of which people judged all documents",
        notes=[
            "tau-b: Kendall's; tau AP: Yilmaz, Aslam & Robertson's (2008), with people's order as the truth; "
            "changes at the top count more",
            "Verdict: better, worse or open, by the test on these queries alone",
        ],
        label="orders",
    )
    return [Section(heading, tables=[table])]


def agreement_json(agreement: Agreement) -> dict[str, Any]:
    """Return the agreement in a form for JSON."""
    return {
        "grades": agreement.levels.tolist(),
        "counts": agreement.counts.tolist(),
        "left_out": agreement.left_out,
        "kappa": agreement.kappa,
        "quadratic_kappa": agreement.quadratic_kappa,
        "alpha": agreement.alpha,
    }


def flatten(corrected: Corrected | None) -> dict[str, Any]:
    """Return the fields of a corrected value, with two fields for each interval; None without a value."""
    fields = asdict(corrected or Corrected())
    for name in ("interval", "alone"):
        fields |= low_high_fields(f"{name}_", fields.pop(name))
    return fields if corrected else dict.fromkeys(fields)
