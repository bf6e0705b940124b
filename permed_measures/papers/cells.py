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
_SIGNED = rf"[+-]?{_NUMBER}"
_ARROWS = {"↑": "+", "▲": "+", "△": "+", "⬆": "+", "↗": "+", "↓": "-", "▼": "-", "▽": "-", "⬇": "-", "↘": "-"}
_MARKS = " *_†‡§¶⋆★☆✱∗•◦∙'\"′″\u200b\ufeff~≈"
_RAISED = re.compile(r"\^\{[^{}]*\}")
_LOWERED = re.compile(r"_\{([^{}]*)\}")
_POWER = re.compile(r" *[×x·*] *10 *\^\{?([+-]?[0-9]+)\}?")
_MINUS = str.maketrans(dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\uff0d", "-"))
_THOUSANDS = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?:,[0-9]{3})+(?![0-9,])")
_DECIMAL_COMMA = re.compile(r"(?<![0-9.,])(?:0?,[0-9]+|[0-9]{1,3},(?:[0-9]{1,2}|[0-9]{4,}))(?![0-9,])")
_FIRST = re.compile(rf"(?P<sign>[+-]?) *(?P<number>{_NUMBER})(?P<percent> *%)?")
_SPREAD = re.compile(rf"(?:±|\+/-|\+-) *({_NUMBER})( *%)?")
_INTERVAL = re.compile(rf"[\[(] *{_SIGNED}(?: *%)? *(?:,|;|--?| to ) *{_SIGNED}(?: *%)? *[\])]")
_IN_BRACKETS = re.compile(rf"[(\[] *(?:±|sd ?=?|std ?=?|Δ ?=?)? *([+-]?) *({_NUMBER})( *%)? *[)\]]")
_CHANGE = re.compile(rf"([+-]) *({_NUMBER})( *%)?")
_LONGEST = 200


class Printed(NamedTuple):
    """What a cell holds.

    Attributes
    ----------
    number : str
        The number, with its percent sign; empty for an interval alone.
    signed : bool
        Whether it has a sign, or an arrow, as differences have.
    change : str
        A signed number behind it, as in ``0.5357 (+1.2%)``; else empty.
    """

    number: str
    signed: bool = False
    change: str = ""


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


def printed_in(text: str) -> Printed | None:
    """Return the number in a cell, with what stands around it; None if it holds no number, or more.

    Examples
    --------
    >>> printed_in("**0.5357**^{†} ± 0.012").number, printed_in("53.57 %*").number, printed_in("5 of 7")
    ('0.5357', '53.57%', None)
    >>> printed_in("0.5357 (+1.2%)").change, printed_in("0.53 [0.51, 0.55]").number
    ('+1.2%', '0.53')
    """
    cell = _simplified(text)
    if _INTERVAL.fullmatch(cell):
        return Printed("")
    arrow = _ARROWS.get(cell[:1], "")
    found = _FIRST.match(cell.lstrip("".join(_ARROWS) + _MARKS) if arrow else cell)
    if found is None:
        return None
    sign = "-" if "-" in (arrow, found["sign"]) else found["sign"] or arrow
    number = sign.replace("+", "") + found["number"] + ("%" if found["percent"] else "")
    return _with_the_rest(Printed(number, bool(sign)), found.string[found.end() :])


def _with_the_rest(printed: Printed, rest: str) -> Printed | None:
    """Add what stands behind the number; None if it is more than a table has there."""
    while rest := rest.lstrip(_MARKS):
        if found := _INTERVAL.match(rest) or _SPREAD.match(rest):
            pass
        elif found := _IN_BRACKETS.match(_signed(rest)):
            if found[1]:
                printed = printed._replace(change="".join(each or "" for each in found.groups()))
        elif found := _CHANGE.match(_signed(rest)):
            printed = printed._replace(change="".join(each or "" for each in found.groups()))
        elif rest[0] in _ARROWS or rest in ("()", "[]"):
            rest = rest[1:]
            continue
        else:
            return None
        rest = (rest if found.re in (_INTERVAL, _SPREAD) else _signed(rest))[found.end() :]
    return printed


def _signed(text: str) -> str:
    """Write an arrow before a number as its sign."""
    start = text[:2]
    for arrow, sign in _ARROWS.items():
        start = start.replace(arrow, sign)
    return start + text[2:]


def _simplified(text: str) -> str:
    """Return a cell without marks and raised text, with decimal points and plain minus signs."""
    cell = plain(text[:_LONGEST])
    cell = _RAISED.sub("", _POWER.sub(r"e\1", cell))
    cell = _LOWERED.sub(_as_remark, cell).translate(_MINUS)
    cell = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), cell)
    if "[" not in cell and "(" not in cell:
        cell = _DECIMAL_COMMA.sub(lambda found: found[0].replace(",", "."), cell)
    return cell.strip(_MARKS)


def _as_remark(found: re.Match[str]) -> str:
    inside = found[1].strip()
    return f" ({inside})" if re.fullmatch(rf"(?:±|\+/-|[+-])? *{_NUMBER} *%?", inside) else ""
