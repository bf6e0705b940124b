"""What people's labels say of the qrels and of means, as tables and for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from permed_measures.markup import counted, plural
from permed_measures.results.report import Section
from permed_measures.results.table import MEASURE, NONE, Table
from permed_measures.uncertainties.agreement import Agreement
from permed_measures.uncertainties.people import Corrected

Mean = tuple[list[str], float, Corrected]
"""The run, if there are several, and the measure; a mean by the labels of the qrels; the corrected one."""


def section_of(agreement: Agreement, means: Sequence[Mean], level: float, digits: int) -> Section:
    """Return how people's labels agree with the qrels, and the means that they correct."""
    same, higher, lower = (
        f"{100 * share:.0f} %" for share in (agreement.agreed, agreement.higher, agreement.lower)
    )
    named = {
        "Cohen's kappa": agreement.kappa,
        "with quadratic weights": agreement.quadratic_kappa,
        "Krippendorff's alpha (ordinal)": agreement.alpha,
    }
    values = (f"{name} {NONE if value is None else f'{value:.3f}'}" for name, value in named.items())
    texts = [
        f"Of {counted(agreement.n, 'document')} that people judged too, {same} have the same grade in the "
        f"qrels, {higher} a higher one and {lower} a lower one.",
        f"{', '.join(values)}.",
    ]
    return Section("People's labels", tables=[_grades(agreement), _means(means, level, digits)], texts=texts)


def _grades(agreement: Agreement) -> Table:
    """Return how many documents have a grade in the qrels (a line each) and one by people."""
    grades = [f"{level:g}" for level in agreement.levels]
    rows = [
        [grade, *(f"{n:,.0f}" for n in counts)]
        for grade, counts in zip(grades, agreement.counts, strict=True)
    ]
    caption = "Documents by their grade in the qrels and by people"
    return Table.of(
        ["qrels", *(f"people: {grade}" for grade in grades)], rows, caption=caption, label="grades"
    )


def _means(means: Sequence[Mean], level: float, digits: int) -> Table:
    """Return a line for each mean: as it is, as people would have it, and what more labels would do."""

    def pair(ends: tuple[float, float] | None) -> str:
        return " ".join(f"{end + 0.0:.{digits}f}" for end in ends) if ends else NONE

    rows = [
        [
            *names,
            f"{value + 0.0:.{digits}f}",
            NONE if found.value is None else f"{found.value + 0.0:.{digits}f}",
            pair(found.interval),
            pair(found.alone),
            f"{found.sampled:,} of {found.units:,}" if found.units else NONE,
            NONE if found.more is None else f"{found.more:,}",
        ]
        for names, value, found in means
    ]
    interval, units = f"{100 * level:.10g}% CI", {found.unit for _, _, found in means if found.units}
    notes = [
        "Corrected: the mean over the same queries if people had judged all that the qrels judge "
        "(prediction-powered inference)",
        *(
            f"It is assumed that people judged a simple random sample of the {_UNITS[unit]}"
            for unit in sorted(units)
        ),
        "People alone: the interval without the labels of the qrels",
        f"To halve: how many more {' or '.join(plural(unit) for unit in sorted(units))} people must judge to "
        "halve the interval",
        *sorted({f"{NONE}: {found.reason}" for _, _, found in means if found.reason}),
    ]
    headings = ["value", "corrected", interval, "people alone", "judged", "to halve"]
    n_labels = len(means[0][0])
    return Table.of(
        [*["run", MEASURE][-n_labels:], *headings],
        rows,
        n_labels,
        caption="Means by the labels of the qrels, and corrected by those of people",
        notes=notes,
        spare=["people alone"],
        label="people",
    )


_UNITS = {"query": "queries", "document": "documents within the cutoff"}


def agreement_json(agreement: Agreement) -> dict[str, Any]:
    """Return what the JSON holds of the agreement."""
    return {
        "grades": agreement.levels.tolist(),
        "counts": agreement.counts.tolist(),
        "kappa": agreement.kappa,
        "quadratic_kappa": agreement.quadratic_kappa,
        "alpha": agreement.alpha,
    }


def flat(found: Corrected) -> dict[str, Any]:
    """Return the fields of a corrected mean, a pair as two, as lines of a table have them."""
    fields = asdict(found)
    for name in ("interval", "alone"):
        low, high = fields.pop(name) or (None, None)
        fields |= {f"{name}_low": low, f"{name}_high": high}
    return fields
