"""Validate what a plot of a comparison is asked to show."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ir_measures.measures import Measure

from permed_measures.comparisons.results import ComparisonResult
from permed_measures.errors import InputError, check_choice
from permed_measures.measures.headings import headings_of
from permed_measures.measures.parsing import parse_measure


def measure_of(comparison: Any, measure: Measure | str | None) -> tuple[int, str]:
    """Return the index and the heading of a measure of the comparison; the first if none is named."""
    if not isinstance(comparison, ComparisonResult):
        raise InputError(
            f"the first argument must be the result of compare (found {type(comparison).__name__})",
            hint="Pass compare(qrels, runs, measures)",
        )
    known = comparison.paired.measures
    headings, names = headings_of(known), [*map(str, known)]
    if measure in headings:  # as the user named it
        return headings.index(str(measure)), str(measure)
    name = names[0] if measure is None else str(parse_measure(measure))
    check_choice("a measure of the comparison", name, names)
    return names.index(name), headings[names.index(name)]


def runs_of(comparison: ComparisonResult, runs: Iterable[str] | None) -> list[str]:
    """Return the runs to draw, in their order in the comparison."""
    known = list(comparison.paired.values)
    if runs is None:
        return known
    chosen = [runs] if isinstance(runs, str) else list(runs)
    if not chosen:
        raise InputError("runs is empty: there is no run to draw", hint="Leave it out to draw all")
    for name in chosen:
        check_choice("a run of the comparison", name, known)
    return [name for name in known if name in chosen]


def group_word(comparison: ComparisonResult) -> str:
    """Name what a group is: the field, or ``group`` where a pattern or a function finds it."""
    return comparison.by if re.fullmatch(r"\w+", comparison.by) else "group"


def pair_of(comparison: ComparisonResult, run: str | None, against: str | None) -> tuple[str, str]:
    """Return the two runs whose difference to draw."""
    names = list(comparison.paired.values)
    for name in (run, against):
        if name is not None:
            check_choice("a run of the comparison", name, names)
    if against is None:
        against = comparison.baseline or next(name for name in names if name != run)
    if run is None:
        run = next(name for name in names if name != against)
    if run == against:
        raise InputError(f"a difference needs two runs (found {run!r} against itself)")
    return run, against
