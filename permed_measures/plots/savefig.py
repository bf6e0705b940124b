"""Helpers of all plots: names as written, files, and SVG for a page."""

from __future__ import annotations

import io
import os
import re
import textwrap
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from permed_measures.errors import InputError, warn
from permed_measures.escaping import one_line
from permed_measures.inputs.write import write_whole
from permed_measures.wording import join_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


WIN, LOSS = "#0b57a4", "#b3440b"
"""The colours of gains and losses, in plots and on pages."""

AS_WRITTEN: dict[str, Any] = {"parse_math": False, "usetex": False}
"""Properties of a matplotlib Text that draws $ and backslash as they are."""

_LONGEST_TICK = 34


def matplotlib(name: str = "") -> Any:
    """Import matplotlib or one of its modules, or raise an error with the command to install it."""
    try:
        return import_module(f"matplotlib{name}")
    except ImportError:
        raise InputError(
            "matplotlib is not installed, which plots need",
            hint="pip install matplotlib (in a checkout of permed-measures: pip install '.[plot]')",
        ) from None


def shown_name(text: str) -> str:
    """Shorten a name for a plot to one line; a long name keeps its beginning and its end."""
    line = " ".join(one_line(text).split())
    return line if len(line) <= _LONGEST_TICK else f"{line[: _LONGEST_TICK - 13]}…{line[-12:]}"


def wrapped(text: str, width: int | None = None) -> str:
    """Break the heading of a measure with many parameters into lines."""
    after_commas = re.sub(r",(?=\S)", ", ", one_line(text))
    return "\n".join(textwrap.wrap(after_commas, width or _LONGEST_TICK))


PLOT_ENDINGS = (".pdf", ".svg", ".png")
"""The endings of the file formats of plots."""


def save_plot(ax: Axes | Iterable[Axes], path: str | os.PathLike[str]) -> None:
    """Save the figure of a plot as a file, whole or not at all.

    Parameters
    ----------
    ax : matplotlib Axes, or an iterable of them
        The Axes that a plot function returns, or any Axes of one figure; the whole figure is saved.
    path : str or path-like
        Its ending is ``.pdf``, ``.svg`` or ``.png`` (200 dots per inch).

    Raises
    ------
    InputError
        For another ending, an object that is not an Axes, or Axes of several figures.
    OSError
        If the file cannot be written.

    Notes
    -----
    The same plot gives the same bytes: files have no date. A PDF embeds letters as TrueType fonts if the font
    allows it, as publishers ask; an SVG has outlines of letters. Several threads may save plots; each waits
    for the other. matplotlib's settings are the same afterwards.

    Examples
    --------
    >>> import tempfile
    >>> from permed_measures import compare, plot_forest
    >>> qrels, runs = {"q": {"a": 1}}, {"old": {}, "new": {"q": {"a": 1.0}}}
    >>> axes = plot_forest(compare(qrels, runs, "P@1", baseline="old"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_plot(axes, f"{folder}/precision.pdf")
    ...     Path(f"{folder}/precision.pdf").read_bytes()[:5]
    b'%PDF-'
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in PLOT_ENDINGS:
        raise InputError(
            f"a plot is saved as {', '.join(PLOT_ENDINGS)} (found the ending {ending!r})", where=str(path)
        )
    figures: set[Any] = {axes.figure.figure for axes in axes_in(ax)}  # the whole figure of a subfigure
    if len(figures) != 1:
        raise InputError(f"a plot is saved from the Axes of one figure (found {len(figures)} figures)")
    [figure] = figures
    with _MATPLOTLIB_LOCK, _last_resort(figure) as missing:
        if missing:
            letters = join_names(map(repr, missing), 5)
            hint = "Set matplotlib's font.family to one that has them"
            warn(f"{path}: no font of the plot has {letters}. {hint}", path=path)
        content = _drawn(figure, ending[1:])
    write_whole(path, content)


def axes_in(ax: Any) -> list[Axes]:
    """List the given Axes: one, or all of an iterable, such as the rows of ``plt.subplots``."""
    axes: list[Axes] = np.array([*ax] if isinstance(ax, Iterable) else [ax], object).ravel().tolist()
    for element in axes:
        if not isinstance(element, matplotlib(".axes").Axes):
            raise InputError(f"ax must be a matplotlib Axes (found {type(element).__name__})")
    return axes


@contextmanager
def _last_resort(figure: Figure) -> Iterator[list[str]]:
    """Yield the letters that no font of a figure has; inside the block they are drawn as boxes.

    The boxes come from a font with a box for each letter, so that matplotlib does not warn.
    """
    for ax in figure.axes:
        ax.get_xticklabels(), ax.get_yticklabels()  # matplotlib writes their texts only now
    fonts, missing, before = matplotlib(".font_manager"), set(), []
    for text in figure.findobj(matplotlib(".text").Text):
        letters = {letter for letter in text.get_text() if not letter.isascii()}
        for family in text.get_fontfamily() if letters else ():
            properties = text.get_fontproperties().copy()
            properties.set_family(family)
            letters -= set(map(chr, fonts.get_font(fonts.findfont(properties)).get_charmap()))
        if letters:
            before.append((text, text.get_fontfamily()))
            text.set_fontfamily([*text.get_fontfamily(), _LAST_RESORT])
            missing |= letters
    try:
        yield sorted(missing)
    finally:
        for text, families in before:
            text.set_fontfamily(families)


_LAST_RESORT = "Last Resort High-Efficiency"
"""A font that comes with matplotlib."""


_TIGHT = {"bbox_inches": "tight", "pad_inches": 0.05}
_KEYWORDS: dict[str, dict[str, Any]] = {
    "pdf": {"metadata": {"CreationDate": None}, **_TIGHT},
    "svg": {"metadata": {"Date": None, "Creator": None, "Format": None, "Type": None}, **_TIGHT},
    "png": {"dpi": 200, **_TIGHT},
}
_SETTINGS = {"svg.hashsalt": "permed-measures", "pdf.fonttype": 42}
_MATPLOTLIB_LOCK = RLock()
"""The lock for drawing a figure: all threads share matplotlib's settings."""


def _drawn(figure: Figure, ending: str, **settings: Any) -> bytes:
    """Draw a figure into the bytes of a file; the caller holds `_MATPLOTLIB_LOCK`."""
    content, rc_params = io.BytesIO(), matplotlib().rcParams
    settings = {**_SETTINGS, **settings}
    before = {name: rc_params[name] for name in settings}  # rc_context would reset all other settings too
    rc_params.update(settings)
    try:
        figure.savefig(content, format=ending, **_KEYWORDS[ending])
    finally:
        rc_params.update(before)
    return content.getvalue()


# --- in pages ----------------------------------------------------------------------------------------


_INK_COLOUR, _PAPER_COLOUR = "var(--ink, currentColor)", "var(--paper, transparent)"
_ON_PAGES = {
    "#000000": _INK_COLOUR,
    "#262626": _INK_COLOUR,
    "#404040": _INK_COLOUR,
    "#595959": _INK_COLOUR,
    "#999999": _INK_COLOUR,
    "#ebebeb": "var(--grid, #8884)",
    "#ffffff": _PAPER_COLOUR,
    WIN: f"var(--win, {WIN})",
    LOSS: f"var(--loss, {LOSS})",
}
"""The page's colour for each colour of a plot; a page may be dark."""
_SVG, _LINK = "http://www.w3.org/2000/svg", "{http://www.w3.org/1999/xlink}href"


def inline_svg(figure: Figure) -> str:
    """Draw a figure as SVG for a page, with the page's colours and fonts, and without a fixed size."""
    from xml.etree import ElementTree

    with _MATPLOTLIB_LOCK, _last_resort(figure):  # the browser has fonts of its own
        drawn = _drawn(figure, "svg", **{"svg.fonttype": "none"})
    root, prefix = ElementTree.fromstring(drawn), f"p{zlib.crc32(drawn):08x}"
    for parent in list(root.iter()):
        parent.tag = parent.tag.removeprefix(f"{{{_SVG}}}")  # HTML has no namespaces
        for child in list(parent):
            if child.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"):
                parent.remove(child)  # a style would apply to the whole page
    for element in root.iter():
        attributes = element.attrib
        links = {"href": attributes.pop(_LINK, ""), "clip-path": attributes.pop("clip-path", "")}
        attributes |= {name: link.replace("#", f"#{prefix}") for name, link in links.items() if link}
        if "id" in attributes and element.tag in ("path", "clipPath"):
            attributes["id"] = prefix + attributes["id"]  # ids are unique on a page with several plots
        else:
            attributes.pop("id", None)
        style = re.sub(
            r"#[0-9a-f]{6}", lambda colour: _ON_PAGES.get(colour[0], colour[0]), attributes.get("style", "")
        )
        if style:
            attributes["style"] = re.sub(r"(font: [^;']*?px )[^;]*", r"\1system-ui, sans-serif", style)
    root.set("xmlns", _SVG)
    root.set("style", f"fill: {_INK_COLOUR}")  # black elements have no colour of their own
    del root.attrib["width"], root.attrib["height"]
    return ElementTree.tostring(root, encoding="unicode")
