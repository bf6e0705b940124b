"""Cells of a printed table: the number, and what stands around it.

Readers of all formats write raised text as ``^{...}`` and lowered text as ``_{...}``.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

NO_CLAIM = frozenset(("", "-", "--", "---", "−", "–", "—", "/", "\\", "n/a", "n.a.", "na", "nan", "none"))
"""Cells that say that there is no number."""

_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?"
_UP, _DOWN = "↑▲△⬆↗", "↓▼▽⬇↘"
_MARKS = " *_†‡§¶⋆★☆✱∗•◦∙'\"′″\u200b\ufeff~≈🥇🥈🥉🏅🏆🔥⭐🌟✅✔✓\ufe0f"
_SCRIPTS = re.compile(r"[\^_]\{[^{}]*\}")
_RAISED = re.compile(r"\^\{[^{}]*\}")
_LOWERED = re.compile(r"_\{([^{}]*)\}")
_MINUS = str.maketrans(dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\uff0d", "-"))
_THOUSANDS = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?:,[0-9]{3})+(?![0-9,])")
_DECIMAL_COMMA = re.compile(r"(?<![0-9.,])(?:0?,[0-9]+|[0-9]{1,3},(?:[0-9]{1,2}|[0-9]{4,}))(?![0-9,])")
_FIRST = re.compile(rf"(?P<sign>[+-]?) *(?P<number>{_NUMBER})(?P<percent> *%)?")
_INTERVAL = rf"[\[(] *[+-]?{_NUMBER}(?: *%)? *(?:,|;|--?| to ) *[+-]?{_NUMBER}(?: *%)? *[\])]"
_SPREAD = r"(?:±|\+/-|\+-|sd ?=?|std ?=?|Δ ?=?)"
_REST = re.compile(
    rf"(?:[{re.escape(_MARKS + _UP + _DOWN)}]|{_INTERVAL}|(?:{_SPREAD}|[{_UP}{_DOWN}+-]) *{_NUMBER}(?: *%)?"
    rf"|[(\[] *{_SPREAD}? *[{_UP}{_DOWN}+-]? *{_NUMBER}(?: *%)? *[)\]]|\(\)|\[\])*"
)
"""What may stand behind a number: marks, an interval, a deviation, a change."""
_LONGEST = 200


class Number(NamedTuple):
    """What a cell holds.

    Attributes
    ----------
    number : str
        The number, with its percent sign; empty for an interval alone.
    signed : bool
        Whether it has a sign, or an arrow, as differences have.
    """

    number: str
    signed: bool = False


def plain(text: str) -> str:
    """Return a text in one width of letters and digits, raised digits as ``^{...}``, in one line.

    Examples
    --------
    >>> plain("0.53²")
    '0.53^{2}'
    """
    parts = []
    for character in text:
        if unicodedata.decomposition(character).startswith("<super>"):
            parts.append(f"^{{{unicodedata.normalize('NFKC', character)}}}")
        else:
            parts.append(character)
    return " ".join(unicodedata.normalize("NFKC", "".join(parts)).split())


def is_blank(text: str) -> bool:
    """Return whether a cell says that there is no number."""
    return plain(text).strip(_MARKS).lower() in NO_CLAIM or not text.strip(_MARKS)


def title_of(text: str) -> str:
    """Return a title without raised text, lowered text in line: ``nDCG_{10}`` as ``nDCG_10``."""
    return " ".join(_LOWERED.sub(r"_\1", _RAISED.sub("", plain(text))).split())


def label_of(text: str) -> str:
    """Return the name of a row without marks and raised text."""
    return title_of(text).strip(_MARKS + "↑↓")


def letters_of(name: str) -> str:
    """Return the letters and digits of a name, in lower case."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", name).casefold()))


def printed_in(text: str) -> Number | None:
    """Return the number in a cell; None if it holds no number, or more than a table has beside one.

    Examples
    --------
    >>> printed_in("**0.5357**^{†} ± 0.012").number, printed_in("53.57 %*").number, printed_in("5 of 7")
    ('0.5357', '53.57%', None)
    >>> printed_in("0.5357 (+1.2%)").number, printed_in("0.53 [0.51, 0.55]").number, printed_in("↓1.2%")
    ('0.5357', '0.53', Number(number='-1.2%', signed=True))
    """
    cell = _simplified(text)
    if re.fullmatch(_INTERVAL, cell):
        return Number("")
    found = _FIRST.match(cell.lstrip(_UP + _DOWN + _MARKS))
    if found is None or not _REST.fullmatch(found.string, found.end()):
        return None
    sign = "-" if cell[0] in _DOWN else found["sign"]
    number = sign.replace("+", "") + found["number"] + ("%" if found["percent"] else "")
    return Number(number, bool(sign) or cell[0] in _UP)


def _simplified(text: str) -> str:
    """Return a cell without marks, raised and lowered text, with decimal points and plain minus signs."""
    cell = _SCRIPTS.sub("", plain(text[:_LONGEST])).translate(_MINUS)
    cell = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), cell)
    if "[" not in cell and "(" not in cell:
        cell = _DECIMAL_COMMA.sub(lambda found: found[0].replace(",", "."), cell)
    return cell.strip(_MARKS)
