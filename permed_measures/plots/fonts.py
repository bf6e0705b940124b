"""Text in plots: names letter for letter, in fonts that have their characters."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.resources import files
from itertools import chain, count
from typing import Any

from rich.cells import cell_len, chop_cells

from permed_measures.errors import InputError, PermedWarning
from permed_measures.markup import one_line

LONGEST = 34
"""Names longer than this are shortened."""


def matplotlib(name: str = "") -> Any:
    """Import matplotlib or a module of it, or raise an error that says how to install it."""
    try:
        import_module("matplotlib")
        return import_module(f"matplotlib{name}")
    except ImportError:
        raise InputError(
            "matplotlib is not installed, which plots need",
            hint="pip install matplotlib (in a checkout of permed-measures: pip install '.[plot]')",
        ) from None


def on_one_line(text: str) -> str:
    """Replace line breaks and control characters by blanks."""
    return " ".join(one_line(text).split())


def shortened(text: str) -> str:
    """Return the text, or its beginning and end."""
    if cell_len(text) <= LONGEST:
        return text
    end = next(text[at:] for at in range(len(text)) if cell_len(text[at:]) <= 12)
    return f"{chop_cells(text, LONGEST - 13)[0]}…{end}"


@dataclass(frozen=True)
class PlotText:
    """How texts from users are drawn.

    Attributes
    ----------
    style : dict
        Properties of a matplotlib Text: $ and backslash mean nothing, and the fonts have the characters.
    missing : set of str
        Characters that no installed font has.
    names : dict of str to str
        What is shown for each text: on one line, shortened, no two the same.
    """

    style: dict[str, Any]
    missing: set[str]
    names: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Iterable[str]) -> PlotText:
        """Choose fonts for the texts, and warn of characters that cannot be drawn."""
        texts = list(dict.fromkeys(texts))
        style: dict[str, Any] = {"parse_math": False, "usetex": False}
        families = list(matplotlib().rcParams["font.family"])
        missing = _missing("".join(map(on_one_line, texts)), families)
        if missing:  # matplotlib takes each glyph from the first font that has it
            style["fontfamily"] = families = [*families, *_chinese_fonts()]
            missing = _missing("".join(missing), families)
        if missing:
            _warn_of(missing)
        made = cls(style, missing)
        for text in texts:
            name = shortened(made.shown(on_one_line(text)))
            others = (f"{name} ({times})" for times in count(2))
            made.names[text] = next(each for each in chain([name], others) if each not in made.names.values())
        return made

    def shown(self, text: str) -> str:
        """Replace missing characters by boxes; matplotlib would warn at every drawing."""
        return "".join("□" if letter in self.missing else letter for letter in text)


_CHINESE_FONTS = files(__package__).joinpath("chinese_fonts.txt").read_text(encoding="utf-8").splitlines()
"""Fonts of Linux, macOS and Windows that have Chinese characters, the best match for DejaVu Sans first."""


def _chinese_fonts() -> list[str]:
    """Return the installed fonts with Chinese characters."""
    manager = matplotlib(".font_manager").fontManager
    if not {*manager.get_font_names()} & {*_CHINESE_FONTS}:
        _add_new_fonts()
    installed = {*manager.get_font_names()}
    return [name for name in _CHINESE_FONTS if name in installed]


@cache
def _add_new_fonts() -> None:
    """Add the fonts installed since matplotlib stored its list."""
    fonts = matplotlib(".font_manager")
    for path in {*fonts.findSystemFonts()} - {font.fname for font in fonts.fontManager.ttflist}:
        with suppress(Exception):  # some fonts cannot be read; matplotlib's own list lacks them too
            fonts.fontManager.addfont(path)


def _missing(text: str, families: list[str]) -> set[str]:
    """Return the characters that none of the fonts has."""
    manager = matplotlib(".font_manager")
    paths = [manager.findfont(manager.FontProperties(family=[family])) for family in families]
    fonts = [manager.get_font(path) for path in paths]
    return {letter for letter in text if not any(font.get_char_index(ord(letter)) for font in fonts)}


def _warn_of(missing: set[str]) -> None:
    letters = "".join(sorted(missing)[:8])
    chinese = any(cell_len(letter) == 2 and unicodedata.category(letter) != "So" for letter in missing)
    install = (
        "such as Noto Sans CJK (apt install fonts-noto-cjk, dnf install google-noto-sans-cjk-fonts)"
        if chinese
        else "and name it in matplotlib.rcParams['font.family']"
    )
    warnings.warn(
        f"no installed font has {letters!r}, drawn as boxes; install one that does, {install}",
        PermedWarning,
        stacklevel=4,
    )
