"""Text in plots: names letter for letter, in fonts that have their characters."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

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
            "matplotlib is not installed, which plots need", hint="pip install 'permed-measures[plot]'"
        ) from None


def on_one_line(text: str) -> str:
    """Replace line breaks and control characters by blanks."""
    return " ".join(one_line(text).split())


def width_of(text: str) -> int:
    """Return the width of a text in letters; a Chinese character is as wide as two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def shortened(text: str) -> str:
    """Return the text, or its beginning and end."""
    if width_of(text) <= LONGEST:
        return text
    start, end = text, text
    while width_of(start) > LONGEST - 13:
        start = start[:-1]
    while width_of(end) > 12:
        end = end[1:]
    return f"{start}…{end}"


@dataclass(frozen=True)
class PlotText:
    """How texts from users are drawn.

    Attributes
    ----------
    style : dict
        Properties of a matplotlib Text: $ and backslash mean nothing, and the fonts have the characters.
    missing : frozenset of str
        Characters that no installed font has.
    names : dict of str to str
        What is shown for each text: on one line, shortened, no two the same.
    """

    style: dict[str, Any]
    missing: frozenset[str]
    names: dict[str, str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> PlotText:
        """Choose fonts for the texts, and warn of characters that cannot be drawn."""
        texts = list(dict.fromkeys(texts))
        style: dict[str, Any] = {"parse_math": False, "usetex": False}
        families = list(matplotlib().rcParams["font.family"])
        characters = frozenset("".join(map(on_one_line, texts)))
        if characters - _characters_of(families):  # matplotlib takes each glyph from the first that has it
            families += _chinese_fonts()
            style["fontfamily"] = families
        missing = characters - _characters_of(families)
        if missing:
            _warn_of(missing)
        plain = cls(style, missing, {})
        names: dict[str, str] = {}
        for text in texts:
            name = shown = shortened(plain.shown(on_one_line(text)))
            times = 1
            while shown in names.values():
                times += 1
                shown = f"{name} ({times})"
            names[text] = shown
        return cls(style, missing, names)

    def shown(self, text: str) -> str:
        """Replace missing characters by boxes; matplotlib would warn at every drawing."""
        return "".join("□" if letter in self.missing else letter for letter in text)


_CHINESE_FONTS = (
    *("Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "Source Han Sans CN"),
    *("PingFang SC", "Hiragino Sans GB", "Heiti SC", "STHeiti", "Microsoft YaHei", "SimHei"),
    *("WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Droid Sans Fallback", "Noto Sans CJK JP"),
    *("Noto Sans CJK TC", "Noto Sans TC", "PingFang TC", "Heiti TC", "Microsoft JhengHei"),
    *("Noto Serif CJK SC", "Noto Serif CJK JP", "Songti SC", "SimSun", "AR PL UMing CN", "Arial Unicode MS"),
)
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


def _characters_of(families: list[str]) -> frozenset[str]:
    """Return the characters that the fonts have between them."""
    fonts = matplotlib(".font_manager")
    paths = [fonts.findfont(fonts.FontProperties(family=[family])) for family in families]
    return frozenset(" ").union(*map(_characters_at, paths))


@cache
def _characters_at(path: str) -> frozenset[str]:
    return frozenset(map(chr, matplotlib(".font_manager").get_font(path).get_charmap()))


def _warn_of(missing: frozenset[str]) -> None:
    letters = "".join(sorted(missing)[:8])
    chinese = any(width_of(letter) == 2 and unicodedata.category(letter) != "So" for letter in missing)
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
