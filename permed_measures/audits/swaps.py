"""Columns or rows of a table that have each other's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from permed_measures.audits.other_names import has_number
from permed_measures.audits.trials import Trial
from permed_measures.conventions.named import NamedConvention
from permed_measures.conventions.options import Options
from permed_measures.markup import listed

Cells = dict[tuple[str, str], Trial]
"""Trials by the line that they stand in, a column or a row, and their place in it."""


class Swap(NamedTuple):
    """What is swapped in a table, and its claims once that is exchanged."""

    text: str
    trials: list[Trial]


def swap_in(trials: Sequence[Trial], conventions: Sequence[NamedConvention]) -> Swap | None:
    """Return the columns, or else the rows, that a named convention explains if they are exchanged."""
    columns = {(trial.claim.name, trial.row): trial for trial in trials}
    rows = {(row, name): trial for (name, row), trial in columns.items()}
    if len(columns) < len({name for name, _ in columns}) * len({row for row, _ in rows}):
        return None
    cutoffs = {trial.claim.name: trial.claim.cutoffs[0] for trial in trials}
    for named in conventions:
        if all(named.has(trial.claim.measure) for trial in trials):
            for what, cells in (("columns", columns), ("rows", rows)):
                if moved := _moved(cells, named.at(cutoffs)):
                    text = f"the {what} {listed(list(moved))} are swapped"
                    return Swap(text, _exchanged(cells, moved))
    return None


def _moved(cells: Cells, options: Options) -> dict[str, str]:
    """Return which other line a line has the numbers of; empty if that is no permutation."""
    lines, places = (list(dict.fromkeys(each)) for each in zip(*cells, strict=True))
    moved = {}
    for line in lines:
        fits = [
            other
            for other in lines
            if all(has_number(cells[line, at], cells[other, at].value(options), options) for at in places)
        ]
        if len(fits) == 1 and fits != [line]:
            moved[line] = fits[0]
    return moved if {*moved} == {*moved.values()} else {}


def _exchanged(cells: Cells, moved: dict[str, str]) -> list[Trial]:
    """Return the trials in their order, each with the number that stands where its own should."""
    number_of = {other: line for line, other in moved.items()}
    found = []
    for (line, at), trial in cells.items():
        other = cells[number_of.get(line, line), at].claim
        numbers = {name: getattr(other, name) for name in ("text", "value", "decimals", "percent")}
        found.append(trial.about(trial.claim._replace(**numbers, other=None)))
    return found
