"""Plots as files."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from permed_measures.errors import InputError
from permed_measures.files.whole import write_whole
from permed_measures.plots.fonts import matplotlib
from permed_measures.plots.style import checked_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOT_ENDINGS = (".pdf", ".svg", ".png")
"""The kinds of files that a plot can be saved as."""


def save_plot(ax: Axes | list[Axes], path: str | os.PathLike[str]) -> None:
    """Save the figure of a plot as a file; the file is written whole or not at all.

    Parameters
    ----------
    ax : matplotlib Axes, or the list of them that `plot_forest` returns
        Of any figure: it is saved with all it holds.
    path : str or path-like
        Its ending is ``.pdf``, ``.svg`` or ``.png`` (200 dots per inch).

    Raises
    ------
    InputError
        For another ending.
    OSError
        If the file cannot be written.

    Notes
    -----
    The same plot gives the same bytes: no file has a date in it. Letters are embedded in a PDF as TrueType
    fonts where the font allows it, as publishers ask, and are outlines in an SVG.

    Examples
    --------
    >>> import tempfile
    >>> from permed_measures import plot_cutoffs
    >>> ax = plot_cutoffs({"q": {"a": 1}}, {"mine": {"q": {"a": 1.0}}}, "P", cutoffs=(1, 10))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_plot(ax, f"{folder}/precision.pdf")
    ...     Path(f"{folder}/precision.pdf").read_bytes()[:5]
    b'%PDF-'
    """
    figure = _figure_of(ax)
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in PLOT_ENDINGS:
        raise InputError(
            f"a plot is saved as {', '.join(PLOT_ENDINGS)} (found the ending {ending!r})", where=str(path)
        )
    write_whole(path, _drawn(figure, ending[1:]))


_KEYWORDS: dict[str, dict[str, Any]] = {
    "pdf": {"metadata": {"CreationDate": None}},
    "svg": {"metadata": {"Date": None, "Creator": None, "Format": None, "Type": None}},
    "png": {"dpi": 200},
}

_SAVING = {
    "svg.hashsalt": "permed-measures",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "savefig.bbox": "tight",
    "savefig.pad_inches": 0.05,
}


def _figure_of(ax: Axes | list[Axes]) -> Figure:
    """Return the whole figure, also where the axes are in a part of it."""
    ax = ax[0] if isinstance(ax, list) and ax else ax
    figure: Any = checked_axes(ax).figure
    if figure is None:
        raise InputError("ax is no longer in a figure: it was removed or its figure cleared")
    whole: Figure = figure.figure
    return whole


def _drawn(figure: Figure, ending: str) -> bytes:
    """Draw a figure into the bytes of a file."""
    content = io.BytesIO()
    _start_again(figure)
    with matplotlib().rc_context(_SAVING):
        figure.savefig(content, format=ending, **_KEYWORDS[ending])
    return content.getvalue()


def _start_again(figure: Figure) -> None:
    """Put axes back where the layout began: the last digits of a layout depend on the one before."""
    if not isinstance(figure.get_layout_engine(), matplotlib(".layout_engine").ConstrainedLayoutEngine):
        return
    for ax in figure.get_axes():
        spec = ax.get_subplotspec()
        if spec is not None and ax.get_in_layout():
            ax.set_position(spec.get_position(figure))
            ax.set_in_layout(True)  # which set_position ends
