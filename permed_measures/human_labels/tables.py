"""What people's labels say of the qrels and of means, as tables and for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from permed_measures.escaping import plural, pluralize
from permed_measures.human_labels.agreement import Agreement, Orders
from permed_measures.human_labels.corrected import FEW_CHANGED, Corrected
from permed_measures.results.report import Section, low_high_fields
from permed_measures.results.table import NONE, Cell, Style, Table, as_text


class Line(NamedTuple):
    """A mean or a difference: its names by their headings, by the labels of the qrels, and corrected."""

    names: dict[str, str]
    value: float
    corrected: Corrected


class TableTexts(NamedTuple):
    """What the lines are: in a caption, in a sentence, the heading of the value, its sign, and the units."""

    caption: str
    said: str
    heading: str
    sign: str
    documents: str


MEANS_TEXTS = TableTexts("Means", "the mean", "value", "", "documents within the cutoff")
DIFFERENCES_TEXTS = TableTexts(
    "Differences", "Δ", "Δ", "+", "documents that one run alone has within the cutoff"
)


def section_of(
    agreement: Agreement, kind: TableTexts, lines: Sequence[Line], interval: Sequence[str], style: Style
) -> Section:
    """Return how people's labels agree with the qrels, and the means or differences that they correct.

    Parameters
    ----------
    agreement : Agreement
    kind : Kind
    lines : sequence of Line
    interval : sequence of str
        The heading of the intervals, and what else is to be said of them.
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
    texts = [
        f"Of {pluralize(every, 'document')} that people judged too, {left if n_left else ''}{same} have the "
        f"same grade in the qrels, {higher} a higher one and {lower} a lower one.",
        f"{', '.join(values)}.",
    ]
    corrected = _corrections(kind, lines, interval, style)
    return Section("People's labels", tables=[_grades(agreement), corrected], texts=texts)


def _grades(agreement: Agreement) -> Table:
    """Return how many documents have a grade in the qrels (a line each) and one by people."""
    grades = [f"{level:g}" for level in agreement.levels]
    rows = [
        [Cell(grade), *(Cell(f"{n:,.0f}", value=n) for n in counts.tolist())]
        for grade, counts in zip(grades, agreement.counts, strict=True)
    ]
    caption = "Documents by their grade in the qrels and by people"
    return Table.of(
        ["qrels", *(f"people: {grade}" for grade in grades)], rows, caption=caption, label="grades"
    )


def _corrections(kind: TableTexts, lines: Sequence[Line], interval: Sequence[str], style: Style) -> Table:
    """Return a line for each number: as it is, as people would have it, and what more labels would do."""

    def shown(value: float | None) -> Cell:
        return Cell(style.text(value, kind.sign), value=value)

    def ends(interval: tuple[float, float] | None, mark: str = "") -> Cell:
        low, high = interval or (None, None)
        return Cell(f"{shown(low).text} {shown(high).text}" if interval else NONE, mark=mark, value=low)

    rows: list[list[str | Cell]] = [
        [
            *names.values(),
            shown(value),
            shown(found.value),
            ends(found.interval, "*" * found.few_changed),
            ends(found.alone),
            Cell(f"{found.sampled:,} of {found.units:,}", value=found.sampled) if found.units else NONE,
            Cell(NONE if found.more is None else f"{found.more:,}", value=found.more),
        ]
        for names, value, found in lines
    ]
    units = sorted({found.unit for _, _, found in lines if found.units})
    sampled = {"query": "queries", "document": kind.documents}
    notes = [
        f"Corrected: {kind.said} over the same queries if people had judged all that the qrels judge "
        "(prediction-powered inference)",
        *(
            f"It is assumed that people judged a simple random sample of the {sampled[each]}"
            for each in units
        ),
        *interval[1:],
        "People alone: the interval without the labels of the qrels",
        f"To halve: how many more {' or '.join(map(plural, units))} people must judge to halve the interval",
        *([_FEW_QUERIES_NOTE] if any(found.few_changed for _, _, found in lines) else []),
        *sorted({f"{NONE}: {found.reason}" for _, _, found in lines if found.reason}),
    ]
    return Table.of(
        [*lines[0].names, kind.heading, "corrected", interval[0], "people alone", "judged", "to halve"],
        rows,
        len(lines[0].names),
        caption=f"{kind.caption}{style.unit} by the labels of the qrels, and corrected by those of people",
        notes=notes,
        spare=["people alone"],
        label="people",
    )


_FEW_QUERIES_NOTE = (
    f"*: people's labels change the values of fewer than {FEW_CHANGED} sampled queries; such an interval has "
    "the truth less often than it says"
)


def orders_section(orders: Orders | None, headings: Sequence[str]) -> list[Section]:
    """Return how the order of the runs by people's labels agrees with that by the qrels, if known."""
    if orders is None:
        return []
    heading = "Order of the runs"
    if orders.reason:
        return [Section(heading, texts=[orders.reason])]

    def share(k: int, n: int) -> Cell:
        return Cell(f"{k:,} of {n:,}" if n else NONE, value=k if n else None)

    rows: list[list[str | Cell]] = [
        [
            name,
            *(Cell(as_text(tau, ".3f"), value=tau) for tau in (each.tau_b, each.tau_ap)),
            share(len(each.exchanged), each.pairs),
            share(len(each.changed), each.verdicts),
        ]
        for name, each in zip(headings, orders.of_measures, strict=True)
    ]
    table = Table.of(
        ["measure", "tau-b", "tau AP", "pairs exchanged", "verdicts changed"],
        rows,
        caption=f"The order of {orders.runs:,} runs by the labels of the qrels and by those of people, on "
        f"{pluralize(orders.queries, 'query')} of which people judged all documents",
        notes=[
            "tau-b: Kendall's; tau AP: Yilmaz, Aslam & Robertson's (2008), in which changes at the top count "
            "more, and people's order is the truth",
            "Verdict: better, worse or open, by the test on these queries alone",
        ],
        label="orders",
    )
    return [Section(heading, tables=[table])]


def agreement_json(agreement: Agreement) -> dict[str, Any]:
    """Return what the JSON holds of the agreement."""
    return {
        "grades": agreement.levels.tolist(),
        "counts": agreement.counts.tolist(),
        "left_out": agreement.left_out,
        "kappa": agreement.kappa,
        "quadratic_kappa": agreement.quadratic_kappa,
        "alpha": agreement.alpha,
    }


def flat(found: Corrected | None) -> dict[str, Any]:
    """Return the fields of a corrected mean, a pair as two, as lines of a table have them."""
    fields = asdict(found or Corrected())
    for name in ("interval", "alone"):
        fields |= low_high_fields(f"{name}_", fields.pop(name))
    return fields if found else dict.fromkeys(fields)
