"""Numbers at a wrong place: the measures and runs that have them, and columns or rows that are swapped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from permed_measures.audits.answers import Answer
from permed_measures.audits.trials import Trial
from permed_measures.conventions.named import COMMUNITY, NamedConvention
from permed_measures.conventions.names import with_cutoff
from permed_measures.conventions.options import DEFAULT, FIRST_DIGITS, MEASURES, Options, seen_by
from permed_measures.conventions.query_sets import place
from permed_measures.markup import listed

_CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 200, 500, 1000, None)
_CUT = ("P", "R", "Success", "F1")
"""Measures that have a cutoff."""


def has_number(trial: Trial, value: float, options: Options) -> bool:
    """Return whether a claim prints a value, rounded as a convention does."""
    return value in trial.claim.printed(FIRST_DIGITS[trial.own(options)["rounding"]])


def other_cells(trial: Trial, main: Answer) -> list[str]:
    """Return the cells in the row and column of a claim whose values by an answer are its number."""
    cells = [
        each
        for each in main.trials
        if (each.row == trial.row) + (each.claim.name == trial.claim.name) == 1
        and has_number(trial, each.value(main.options), main.options)
    ]
    several = len({each.row for each in main.trials}) > 1
    return [each.claim.name + (f" of {each.row}" if several else "") for each in cells]


def better_names(main: Answer) -> dict[str, list[str]]:
    """Return for claims that only changes explain other measures that have their numbers by default.

    Empty if any claim needs a change under each name: then other names say no less.
    """
    found: dict[str, list[str]] = {}
    if not main.changes:
        return found
    default = {**DEFAULT, **COMMUNITY.at({t.claim.name: t.claim.cutoffs[0] for t in main.trials})}
    for name in dict.fromkeys(trial.claim.name for trial in main.explained):
        trials = [trial for trial in main.explained if trial.claim.name == name]
        if not all(trial.prints(default) for trial in trials):
            fitting = [set(other_measures(trial, default, len(trials) > 1)) for trial in trials]
            if not (common := set.intersection(*fitting)):
                return {}
            found[name] = sorted(common)
    return found


def other_measures(trial: Trial, convention: Options, both: bool = False) -> Iterator[str]:
    """Yield the measures that have the number of a claim by a convention.

    They are another measure, or have another cutoff; perhaps `both`.
    """
    claim = trial.claim
    own = claim.cutoffs[0]
    if claim.is_fixed or isinstance(own, tuple):
        return
    for measure in MEASURES:
        for cutoff in dict.fromkeys([own, *_CUTOFFS]):
            if (measure == claim.measure) + (cutoff == own) == 1 or both:
                yield from _if_printed(trial, measure, cutoff, convention)


def _if_printed(trial: Trial, measure: str, cutoff: int | None, convention: Options) -> Iterator[str]:
    if cutoff is None and measure in _CUT:
        return
    rank = (cutoff, cutoff) if measure == "F1" and cutoff is not None else cutoff
    means = trial.run.means(measure, rank, convention)
    at = place(seen_by(measure, convention)["queries"])
    if means is not None and has_number(trial, float(means[at]), convention):
        yield with_cutoff(measure, rank)


# --- swapped columns and rows ------------------------------------------------------------------------

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
    values = np.array([[cells[line, at].value(options) for at in places] for line in lines])
    moved = {}
    for line in lines:
        trials = [cells[line, at] for at in places]
        printed = [each.claim.printed(FIRST_DIGITS[each.own(options)["rounding"]]) for each in trials]
        holds = [each.holds(column) for each, column in zip(printed, values.T, strict=True)]
        fits = [lines[place] for place in np.flatnonzero(np.logical_and.reduce(holds))]
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
        found[-1].cell = trial.cell
    return found
