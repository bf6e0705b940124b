"""What the plots have in common: measures by name, and names as they are written."""

from __future__ import annotations

import re
import textwrap
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ir_measures.measures import Measure

from permed_measures.comparisons.results import ComparisonResult
from permed_measures.errors import InputError, check_choice
from permed_measures.markup import one_line
from permed_measures.measures.headings import headings_of
from permed_measures.measures.parsing import parse_measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIN, LOSS = "#0b57a4", "#b3440b"
"""The colours of gains and losses, in plots and on pages."""

AS_WRITTEN: dict[str, Any] = {"parse_math": False, "usetex": False}
"""Properties of a matplotlib Text in which $ and backslash mean nothing."""

_LONGEST = 34


def matplotlib(name: str = "") -> Any:
    """Import matplotlib or a module of it, or raise an error that says how to install it."""
    try:
        return import_module(f"matplotlib{name}")
    except ImportError:
        raise InputError(
            "matplotlib is not installed, which plots need",
            hint="pip install matplotlib (in a checkout of permed-measures: pip install '.[plot]')",
        ) from None


def shown_name(text: str) -> str:
    """Return a name as plots show it: on one line; of a long one the beginning and the end."""
    line = " ".join(one_line(text).split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 13]}…{line[-12:]}"


def wrapped(text: str) -> str:
    """Break the heading of a measure with many parameters into lines."""
    after_commas = re.sub(r",(?=\S)", ", ", one_line(text))
    return "\n".join(textwrap.wrap(after_commas, _LONGEST))


def measure_of(comparison: ComparisonResult, measure: Measure | str | None) -> tuple[int, str]:
    """Return the index and the heading of a measure of the comparison; the first if none is named."""
    if not isinstance(comparison, ComparisonResult):
        raise InputError(
            f"the first argument must be the result of compare (found {type(comparison).__name__})",
            hint="Pass compare(qrels, runs, measures)",
        )
    known = comparison.measures
    headings, names = headings_of(known), [*map(str, known)]
    if measure in headings:  # as the user named it
        return headings.index(str(measure)), str(measure)
    name = names[0] if measure is None else str(parse_measure(measure))
    check_choice("a measure of the comparison", name, names)
    return names.index(name), headings[names.index(name)]


def set_title(ax: Axes, text: str) -> None:
    """Put lines of small letters above the axes."""
    ax.set_title(text, loc="left", fontsize="small", color="0.25", **AS_WRITTEN)
