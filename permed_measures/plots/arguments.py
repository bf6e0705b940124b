"""Validate what a plot of a comparison is asked to show."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ir_measures.measures import Measure

from permed_measures.errors import InputError, nearest
from permed_measures.measures.headings import headings_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.statistics.results import ComparisonResult


def measure_of(comparison: Any, measure: Measure | str | None) -> tuple[int, str]:
    """Return the index and the heading of a measure of the comparison; the first if none is named."""
    if not isinstance(comparison, ComparisonResult):
        raise InputError(
            f"the first argument must be the result of compare (found {type(comparison).__name__})",
            hint="Pass compare(qrels, runs, measures)",
        )
    known = comparison.paired.measures
    measure = known[0] if measure is None else parse_measure(measure)
    if measure not in known:
        names = [str(each) for each in known]
        raise InputError(
            f"measure must be one of the comparison's {', '.join(names)} (found {measure})",
            hint=nearest(str(measure), names),
        )
    index = known.index(measure)
    return index, headings_of(known)[index]


def _run(comparison: ComparisonResult, name: str) -> str:
    known = comparison.paired.values
    if name not in known:
        raise InputError(
            f"a run must be one of the comparison's {', '.join(map(repr, known))} (found {name!r})",
            hint=nearest(str(name), known),
        )
    return name


def runs_of(comparison: ComparisonResult, runs: Iterable[str] | None) -> list[str]:
    """Return the runs to draw, in their order in the comparison."""
    if runs is None:
        return list(comparison.paired.values)
    chosen = {_run(comparison, name) for name in ([runs] if isinstance(runs, str) else runs)}
    if not chosen:
        raise InputError("runs is empty: there is no run to draw", hint="Leave it out to draw all")
    return [name for name in comparison.paired.values if name in chosen]


def pair_of(comparison: ComparisonResult, run: str | None, against: str | None) -> tuple[str, str]:
    """Return the two runs whose difference to draw."""
    for name in (run, against):
        if name is not None:
            _run(comparison, name)
    names = list(comparison.paired.values)
    if against is None:
        against = comparison.baseline or next(name for name in names if name != run)
    if run is None:
        run = next(name for name in names if name != against)
    if run == against:
        raise InputError(f"a difference needs two runs (found {run!r} against itself)")
    return run, against
