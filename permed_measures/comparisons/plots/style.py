"""What the plots have in common: measures by name, names as they are written, looks of runs, legends."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from importlib import import_module
from itertools import cycle
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

# Of colours that the colour-blind tell apart (Okabe & Ito; Tol), eight whose lightness differs by 6 and more,
# neighbours by more than that. With nine markers, 72 runs differ in the pair of them.
COLOURS = ("#000000", "#d55e00", "#332288", "#e69f00", "#882255", "#44aa99", "#0072b2", "#106a2e")
_DASHES = ("solid", "dashed", "dotted", "dashdot")
_MARKERS = ("o", "s", "^", "D", "v", "X", "P", "<", ">")

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


def styles_of(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return how the line of each run is drawn: runs differ by colour, lightness, dashes and marker."""
    looks = zip(names, cycle(COLOURS), cycle(_DASHES), cycle(_MARKERS), strict=False)
    return {
        name: {
            "color": colour,
            "linestyle": dashes,
            "marker": marker,
            "markersize": 5.8,
            "markeredgecolor": "white",  # a marker stands out from lines that cross it
            "markeredgewidth": 0.6,
            "linewidth": 1.5,
        }
        for name, colour, dashes, marker in looks
    }


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


def add_legend(ax: Axes, lines: Mapping[str, Any], left: float = 1.0) -> None:
    """Put the legend beside the data."""
    legend = ax.legend(
        list(lines.values()),
        list(map(shown_name, lines)),
        loc="upper left",
        bbox_to_anchor=(left, 1.0),
        handlelength=3.6,
        fontsize="small",
        frameon=False,
        ncols=-(-len(lines) // 30),
    )
    for text in legend.get_texts():
        text.set(**AS_WRITTEN)
