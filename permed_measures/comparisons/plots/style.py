"""What the plots have in common: names as they are written, looks of runs, axes and legends."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from permed_measures.errors import InputError
from permed_measures.markup import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIN, LOSS = "#0b57a4", "#b3440b"
"""The colours of gains and losses, in plots and on pages."""

# Of colours that the colour-blind tell apart (Okabe & Ito; Tol), eight whose lightness differs by 6 and more,
# neighbours by more than that. With nine markers, 72 runs differ in the pair of them.
COLOURS = ("#000000", "#d55e00", "#332288", "#e69f00", "#882255", "#44aa99", "#0072b2", "#106a2e")
_DASHES = (
    "solid",
    (0, (5, 1.5)),
    (0, (1, 1.2)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (9, 3)),
    (0, (3, 1.2, 1, 1.2, 1, 1.2)),
    (0, (2.5, 2.5)),
    (0, (9, 1.5, 3, 1.5)),
)
_MARKERS = ("o", "s", "^", "D", "v", "X", "P", "<", ">")

AS_WRITTEN: dict[str, Any] = {"parse_math": False, "usetex": False}
"""Properties of a matplotlib Text in which $ and backslash mean nothing."""

_LONGEST = 34
_MOST_TICKS = 14


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


def axes_for(ax: Axes | None, size: tuple[float, float] = (6.4, 3.6)) -> Axes:
    """Return the Axes to draw on; if none are given those of a new figure of pyplot."""
    if ax is not None:
        return checked_axes(ax)
    figure: Figure = matplotlib(".pyplot").figure(figsize=size, layout="constrained")
    return figure.subplots()


def checked_axes(ax: Any) -> Axes:
    """Return an Axes of matplotlib unchanged; raise InputError for what is none."""
    if not isinstance(ax, matplotlib(".axes").Axes):
        figures = isinstance(ax, matplotlib(".figure").FigureBase)
        raise InputError(
            f"ax must be an Axes of matplotlib, as every plot function returns (found {type(ax).__name__})",
            hint="Those of a figure are in figure.axes" if figures else "",
        )
    return ax  # type: ignore[no-any-return]


def set_title(ax: Axes, text: str) -> None:
    """Put lines of small letters above the axes."""
    ax.set_title(text, loc="left", fontsize="small", color="0.25", **AS_WRITTEN)


def label_numbers(ax: Axes, x: Sequence[float], labels: Sequence[str], place: Any = None) -> None:
    """Put a tick at each number, and a label unless it is near the one before."""
    at = np.asarray(x if place is None else place, float)
    room, last, shown = float(np.ptp(at)) / _MOST_TICKS, -np.inf, []
    for position, label in zip(at, labels, strict=True):
        fits = position - last >= room
        shown.append(label if fits else "")
        last = position if fits else last
    ax.set_xticks(x, shown, **AS_WRITTEN)


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
