"""How runs look in a plot, its axes, labels and legend."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.cells import cell_len

from permed_measures.errors import InputError
from permed_measures.plots.fonts import LONGEST, PlotText, matplotlib
from permed_measures.statistics.significance import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


GAIN, LOSS = "#0072B2", "#E69F00"

# Of colours that the colour-blind tell apart (Okabe & Ito; Tol), eight whose lightness differs by 6 and more,
# neighbours by more than that. With nine markers, 72 runs differ in the pair of them.
_COLOURS = ("#000000", "#D55E00", "#332288", "#E69F00", "#882255", "#44AA99", "#0072B2", "#106A2E")
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


def styles_of(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return how the line of each run is drawn."""
    looks = zip(names, cycle(_COLOURS), cycle(_DASHES), cycle(_MARKERS), strict=False)
    scale = font_scale()
    return {
        name: {
            "color": colour,
            "linestyle": dashes,
            "marker": marker,
            "markersize": scale * (7.0 if marker in "XP" else 5.8),
            "markeredgecolor": "white",  # a marker stands out from lines that cross it
            "markeredgewidth": 0.6,
            "linewidth": 1.5,
        }
        for name, colour, dashes, marker in looks
    }


def draw_estimates(
    ax: Axes, x: Sequence[float], estimates: dict[str, Floats], styles: dict[str, dict[str, Any]], lines: bool
) -> dict[str, Any]:
    """Draw points with bars for each run, beside those of the others, or a line; return what was drawn.

    The estimates of a run have shape (3, n_groups): means, lower and upper bounds, NaN where there is none.
    """
    handles = {}
    # Points of a line stay near their number. Bands instead of bars would hide each other.
    width = 0.35 * float(np.diff(x).min()) if lines else 0.8
    for place, (name, (mean, low, high)) in enumerate(estimates.items()):
        at = np.asarray(x) + width * ((place + 0.5) / len(estimates) - 0.5)
        style = styles[name]
        look = {"linewidth": 1.0} if lines else {"linestyle": "none", "markersize": style["markersize"] + 1}
        if np.isfinite(low).any():
            ax.vlines(at, low, high, colors=style["color"], linewidth=1.2)
        handles[name] = ax.plot(at, mean, label=name, **{**style, **look})[0]
    return handles


# --- axes, labels and legend ---------------------------------------------------------------------------

SIZE = (5.0, 3.6)
"""Size of a figure without its legend, in inches."""
LETTER = 0.085
"""Width of a letter in inches, a little above the average, where the font has ten points."""


def font_scale() -> float:
    """Return the size of the font over the one that plots are made for."""
    return float(matplotlib().rcParams["font.size"]) / 10


def axes_for(ax: Axes | None) -> tuple[Axes, bool]:
    """Return the Axes to draw on, and whether the figure is new; pyplot shows it where it is in use."""
    if ax is not None:
        return checked_axes(ax), False
    return new_figure(SIZE).subplots(), True


def new_figure(size: tuple[float, float]) -> Figure:
    """Make a figure, one of pyplot's where that is in use."""
    matplotlib()
    pyplot = sys.modules.get("matplotlib.pyplot")
    make = pyplot.figure if pyplot is not None else matplotlib(".figure").Figure
    figure: Figure = make(figsize=size, layout="constrained")
    return figure


def checked_axes(ax: Any) -> Axes:
    """Validate an Axes of matplotlib and return it unchanged."""
    if not isinstance(ax, matplotlib(".axes").Axes):
        figure = isinstance(ax, matplotlib(".figure").FigureBase)
        raise InputError(
            f"ax must be an Axes of matplotlib, as every plot function returns (found {type(ax).__name__})",
            hint="Those of a figure are in figure.axes" if figure else "",
        )
    return ax  # type: ignore[no-any-return]


def unshown(ax: Axes) -> Axes:
    """Close the figure of a plot in pyplot."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close(ax.figure)
    return ax


def wrapped(text: str) -> str:
    """Break the heading of a measure with many parameters into lines."""
    after_commas = re.sub(r",(?=\S)", ", ", text)  # where the parameters of a measure may be broken
    return "\n".join(textwrap.wrap(after_commas, LONGEST))


def set_title(ax: Axes, texts: PlotText, text: str) -> None:
    """Put a line of small letters above the axes."""
    if text:
        ax.set_title(texts.shown(text), loc="left", fontsize="small", color="0.25", **texts.style)


def label_numbers(ax: Axes, own: bool, x: Sequence[float], labels: list[str], place: Any = None) -> None:
    """Put a tick at each number, and a label where there is room for it; the legend is there already."""
    figure: Any = ax.figure
    if not own:
        figure.figure.draw_without_rendering()  # only now the axes have their width
    width = 0.8 * SIZE[0] if own else ax.get_window_extent().width / figure.dpi
    place = np.asarray(x if place is None else place, float)
    span = float(np.ptp(place)) or 1.0
    widest = max(len(line) for label in labels for line in label.split("\n")) + 1
    room = span * widest * LETTER * font_scale() / width
    shown, last = [], -np.inf
    for at, label in zip(place, labels, strict=True):
        fits = at - last >= room
        shown.append(label if fits else "")
        last = at if fits else last
    ax.set_xticks(x, shown, parse_math=False)


def label_categories(
    ax: Axes, texts: PlotText, labels: list[str], sizes: list[list[str]], n_runs: int, own: bool
) -> None:
    """Put a label and its size below each category, upright where they are too wide side by side."""
    names = [texts.names[label] for label in labels]
    width = max(SIZE[0], 0.9 + len(labels) * (0.12 * n_runs + 0.15))
    slot = 0.8 * width / len(labels) / LETTER
    upright = max(cell_len(text) for text in [*names, *chain(*sizes)]) > slot
    if own:
        longest = max(map(cell_len, names)) + 6 * max(map(len, sizes)) if upright else 0
        ax.figure.set_size_inches(width, SIZE[1] + longest * LETTER)  # type: ignore[union-attr]
    between = " " if upright else "\n"
    shown = [between.join([name, *each]) for name, each in zip(names, sizes, strict=True)]
    ax.set_xticks(range(len(labels)), shown, rotation=90 if upright else 0, **texts.style)
    ax.set_xlim(-0.6, len(labels) - 0.4)


def add_legend(
    ax: Axes,
    handles: dict[str, Any],
    texts: PlotText,
    own: bool,
    notes: Mapping[str, str] | None = None,
    heading: str = "",
) -> None:
    """Put the legend beside the data, and make room for it if the figure is ours."""
    legend = ax.legend(
        list(handles.values()),
        [str(place) for place in range(len(handles))],  # matplotlib leaves out names such as '_run'
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        borderaxespad=0.8,  # a share of the width of the axes would move them a little at each drawing
        handlelength=3.6,
        fontsize="small",
        title=heading or None,
        title_fontsize="small",
        alignment="left",
        frameon=False,
        ncols=-(-len(handles) // 30),
    )
    legend.get_title().set(**texts.style)
    for text, name in zip(legend.get_texts(), handles, strict=True):
        note = f"  {notes[name]}" if notes else ""
        text.set(text=texts.names[name] + note, **texts.style)
    if own:
        figure: Any = ax.figure
        box, dpi = legend.get_window_extent(), figure.dpi
        width, height = figure.get_size_inches()
        figure.set_size_inches(width + box.width / dpi, max(height, box.height / dpi + 0.8))
