"""Letters in plots: which font has them, and what is shown of a name."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from permed_measures.errors import InputError, PermedWarning
from permed_measures.markup import one_line

__all__ = ["LONGEST", "Lettering", "matplotlib", "on_one_line", "shortened", "width_of"]

LONGEST = 34
"""How many letters of a name are shown."""


def matplotlib(name: str = "") -> Any:
    """Return matplotlib or a module of it, or raise an error that says how to get it."""
    try:
        import_module("matplotlib")
        return import_module(f"matplotlib{name}")
    except ImportError:
        raise InputError(
            "plots need matplotlib (found none)", hint="pip install 'permed-measures[plot]'"
        ) from None


def on_one_line(text: str) -> str:
    """Return the text on one line, without what controls a terminal."""
    return " ".join(one_line(text).split())


def width_of(text: str) -> int:
    """Return how wide a text is: Chinese characters are as wide as two letters."""
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
class Lettering:
    """How texts from users are drawn: letter for letter, in a font that has them.

    Attributes
    ----------
    style : dict
        Properties of a matplotlib Text: no $ or backslash means anything; a font is added if one is needed.
    missing : frozenset of str
        Characters that no installed font has.
    names : dict of str to str
        What is shown for each text: on one line, shortened, no two the same.
    """

    style: dict[str, Any]
    missing: frozenset[str]
    names: dict[str, str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Lettering:
        """Look at the texts, and warn if letters of them cannot be drawn."""
        texts = list(dict.fromkeys(texts))
        style: dict[str, Any] = {"parse_math": False, "usetex": False}
        families = list(matplotlib().rcParams["font.family"])
        missing = frozenset("".join(on_one_line(text) for text in texts)) - _letters_of(families)
        if missing:
            fallback = _fallback(missing)
            style |= {"fontfamily": [*families, fallback]} if fallback else {}
            missing -= _letters_of([fallback]) if fallback else set()
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
        """Return the text with a box for what cannot be drawn; matplotlib would warn of each."""
        return "".join("□" if letter in self.missing else letter for letter in text)

    def name(self, text: str) -> str:
        """Return what is shown for one of the texts."""
        return self.names[text]


_CHINESE_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "PingFang SC",
    "Hiragino Sans GB",
    "Heiti SC",
    "STHeiti",
    "Microsoft YaHei",
    "SimHei",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "Noto Sans CJK JP",
    "Noto Sans CJK TC",
    "Noto Sans TC",
    "PingFang TC",
    "Heiti TC",
    "Microsoft JhengHei",
    "Noto Serif CJK SC",
    "Noto Serif CJK JP",
    "Songti SC",
    "SimSun",
    "AR PL UMing CN",
    "Arial Unicode MS",
)
"""Fonts of Linux, macOS and Windows that have Chinese characters, the best match for DejaVu Sans first."""


def _fallback(missing: frozenset[str]) -> str:
    """Return the installed font that has most of the missing letters; empty if none has any."""
    installed = _installed()
    best = max(
        (name for name in _CHINESE_FONTS if name in installed),
        key=lambda name: len(missing & _letters_of([name])),
        default="",
    )
    return best if best and missing & _letters_of([best]) else ""


def _installed() -> set[str]:
    """Return the names of the fonts; matplotlib's stored list lacks those installed after it was made."""
    fonts = matplotlib(".font_manager")
    manager = fonts.fontManager
    names = {font.name for font in manager.ttflist}
    if names.isdisjoint(_CHINESE_FONTS):
        known = {font.fname for font in manager.ttflist}
        for path in set(fonts.findSystemFonts()) - known:
            _add_font(manager, path)
        names = {font.name for font in manager.ttflist}
    return names


@cache
def _add_font(manager: Any, path: str) -> None:
    try:
        manager.addfont(path)
    except Exception:  # a font that matplotlib cannot read is none, as in its own list
        return


@cache
def _letters_at(path: str) -> frozenset[str]:
    charmap = matplotlib(".font_manager").get_font(path).get_charmap()
    return frozenset(map(chr, charmap))


def _letters_of(families: list[str]) -> frozenset[str]:
    """Return the characters that the fonts have between them."""
    fonts = matplotlib(".font_manager")
    found = [fonts.findfont(fonts.FontProperties(family=[family])) for family in families]
    return frozenset().union(*map(_letters_at, found), " ")


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
