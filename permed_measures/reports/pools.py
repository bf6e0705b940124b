"""What is judged of runs beside their means, and what unjudged documents may have to do with differences."""

from __future__ import annotations

from typing import Any

import numpy as np
from ir_measures import Judged

from permed_measures.markup import as_html, as_markdown, counted
from permed_measures.measures.headings import headings_of, name_of
from permed_measures.measures.parameters import cutoff_of
from permed_measures.reports.html import html_table
from permed_measures.reports.tables import Cell
from permed_measures.reports.wording import NONE, p_or_dash, shown
from permed_measures.statistics.pools import UNEQUAL, PoolRow
from permed_measures.statistics.results import ComparisonResult

# --- beside the means ----------------------------------------------------------------------------------


def _columns(result: ComparisonResult) -> dict[str, int]:
    """Return the heading of Judged by cutoff, and a measure that has this cutoff; none if all is judged."""
    if not any((each < 1).any() for each in result.paired.judged.values()):
        return {}
    columns: dict[int | None, int] = {}
    for number, measure in enumerate(result.measures):
        if "cutoff" in measure.SUPPORTED_PARAMS and measure.NAME != "Judged":
            columns.setdefault(cutoff_of(measure), number)
    ascending = sorted(columns, key=lambda cutoff: cutoff or np.inf)
    return {str(Judged @ cutoff if cutoff else Judged): columns[cutoff] for cutoff in ascending}


def judged_headings(result: ComparisonResult) -> list[str]:
    """Return Judged@k for each cutoff, where not all is judged."""
    return list(_columns(result))


def judged_cells(whole: ComparisonResult, part: ComparisonResult, run: str) -> list[Cell]:
    """Return the share that is judged of a run, on the queries of a part."""
    return [
        Cell(shown(part, float(part.paired.judged[run][number].mean())))
        for number in _columns(whole).values()
    ]


def judged_shares(result: ComparisonResult) -> dict[str, dict[str, float]]:
    """Return the share that is judged of each run, by cutoff."""
    columns = _columns(result).items()
    return {
        run: {heading: float(values[number].mean()) for heading, number in columns}
        for run, values in result.paired.judged.items()
    }


# --- the comparison again ------------------------------------------------------------------------------

POOL = (
    f"Runs that differ by {UNEQUAL:g} or more in Judged@k, again: on condensed lists, which leave unjudged "
    "documents out (p not adjusted), and the least and the most that bound Δ, whatever grades they have."
)


def pool_table(result: ComparisonResult) -> tuple[list[str], list[list[str]], int]:
    """Return headings, rows, and the number of labels at the left."""
    short = dict(zip(result.measures, headings_of(result.measures), strict=True))
    several = result.baseline is None
    headings = ["measure", "run", *(["baseline"] if several else []), "judged", "base", "Δ", "condensed", "p"]
    rows = [
        [
            short[row.measure],
            row.run,
            *([row.baseline] if several else []),
            f"{row.judged:.2f}",
            f"{row.baseline_judged:.2f}",
            shown(result, row.difference, "+"),
            shown(result, row.condensed, "+"),
            p_or_dash(row.condensed_p),
            *(NONE if bound is None else shown(result, bound, "+") for bound in (row.low, row.high)),
        ]
        for row in result.pool
    ]
    return [*headings, "least", "most"], rows, 2 + several


def pool_html(result: ComparisonResult) -> str:
    """Write the table in HTML."""
    headings, rows, n = pool_table(result)
    cells = [(row[:n], [as_html(cell) for cell in row[n:]]) for row in rows]
    return html_table(headings[:n], 1, headings[n:], [cells])


def pool_markdown(result: ComparisonResult) -> str:
    """Write the table and what it says in Markdown; nothing where there are no such pairs."""
    if not result.pool:
        return ""
    headings, rows, n_labels = pool_table(result)
    rule = ["---"] * n_labels + ["---:"] * (len(headings) - n_labels)
    lines = [headings, rule, *([*map(as_markdown, row)] for row in rows)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"\n{as_markdown(POOL)}\n\n{table}\n"


_SOME = 5
"""Pairs that have a note each."""


def pool_notes(rows: list[PoolRow]) -> list[str]:
    """Say of each pair which differences could be the pool's, and which cannot."""
    pairs = list(dict.fromkeys((row.run, row.baseline) for row in rows))
    notes = [_note([row for row in rows if (row.run, row.baseline) == pair]) for pair in pairs[:_SOME]]
    if len(pairs) > _SOME:
        more = counted(len(pairs) - _SOME, "more pair")
        notes.append(f"{more} differ by {UNEQUAL:g} or more in Judged@k: a difference could be the pool's")
    return notes


def _note(rows: list[PoolRow]) -> str:
    """Say it of a pair."""
    most = max(rows, key=lambda row: abs(row.judged - row.baseline_judged))
    cutoff = cutoff_of(most.measure)
    share = f"Judged{f'@{cutoff}' if cutoff else ''}"
    texts = [
        f"{share} is {most.judged:.2f} of {most.run!r} and {most.baseline_judged:.2f} of {most.baseline!r}"
    ]
    for could_be, verdict in (
        (True, "could be the pool's"),
        (False, "is not the pool's, whatever grades the unjudged documents have"),
        (None, "was not bounded"),
    ):
        if some := [row.measure for row in rows if row.could_be_the_pools is could_be]:
            texts.append(f"the difference in {', '.join(headings_of(some))} {verdict}")
    return "; ".join(texts)


def pool_json(result: ComparisonResult) -> list[dict[str, Any]]:
    """Return the rows for JSON."""
    return [
        {**vars(row), "measure": name_of(row.measure), "could_be_the_pools": row.could_be_the_pools}
        for row in result.pool
    ]
