"""Numbers under a wrong heading: columns or rows that are swapped, and names that fit better."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from permed_measures.audits.answers import Answer
from permed_measures.audits.trials import Trial
from permed_measures.conventions.named import COMMUNITY, NamedConvention
from permed_measures.conventions.names import with_cutoff
from permed_measures.conventions.options import DEFAULT, FIRST_DIGITS, MEASURES, Options
from permed_measures.conventions.query_sets import place
from permed_measures.markup import listed

_CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 200, 500, 1000, None)
_CUT = ("P", "R", "Success", "F1")
"""Measures that have a cutoff."""


class Swap(NamedTuple):
    """Columns or rows of a table that have each other's numbers, and the claims once they are exchanged."""

    text: str
    trials: list[Trial]


def swap_in(trials: Sequence[Trial], conventions: Sequence[NamedConvention]) -> Swap | None:
    """Return the columns, or else the rows, that a named convention explains if they are exchanged."""
    cells = {(trial.row, trial.claim.name): trial for trial in trials}
    rows, names = (list(dict.fromkeys(each)) for each in zip(*cells, strict=True))
    if len(cells) < len(rows) * len(names):
        return None
    usual = {trial.claim.name: trial.claim.cutoffs[0] for trial in trials}
    able = [each for each in conventions if all(each.has(trial.claim.measure) for trial in trials)]
    for options in (named.at(usual) for named in able):
        for what, lines, across in (("columns", names, rows), ("rows", rows, names)):

            def cell(line: str, other: str, by_column: bool = what == "columns") -> Trial:
                return cells[(other, line) if by_column else (line, other)]

            moved = _moved(lines, across, cell, options)
            if moved:
                exchanged = [
                    _with_number_of(cell(moved.get(line, line), each), cell(line, each))
                    for line in lines
                    for each in across
                ]
                exchanged.sort(key=lambda trial: list(cells).index((trial.row, trial.claim.name)))
                return Swap(f"the {what} {listed(list(moved))} are swapped", exchanged)
    return None


def _moved(
    lines: list[str], across: list[str], cell: Callable[[str, str], Trial], options: Options
) -> dict[str, str]:
    """Return for each line that has the numbers of another which one; empty if they are no permutation."""
    found = {}
    for line in lines:
        fits = [
            other
            for other in lines
            if all(_has(cell(line, each), cell(other, each).value(options), options) for each in across)
        ]
        if len(fits) == 1:
            found[line] = fits[0]
    moved = {line: other for line, other in found.items() if line != other}
    return moved if {*moved} == {*moved.values()} else {}


def _with_number_of(trial: Trial, other: Trial) -> Trial:
    number = {name: getattr(other.claim, name) for name in ("text", "value", "decimals", "percent")}
    return trial.about(trial.claim._replace(**number, other=None))


def _has(trial: Trial, value: float, options: Options) -> bool:
    return value in trial.claim.printed(FIRST_DIGITS[options["rounding"]])


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
    if means is not None and _has(trial, float(means[place(convention["queries"])]), convention):
        yield with_cutoff(measure, rank)
