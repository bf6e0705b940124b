"""Columns of changes in a printed table: are they points or percent, and against which row."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from permed_measures.markup import counted
from permed_measures.papers.cells import printed_in
from permed_measures.papers.names import heading_of, meaning_of
from permed_measures.papers.tables import ClaimRow

_NOISE = 1e-9
_SHOWN = 3
"""How many rows that fit are named."""


class Printed(NamedTuple):
    """A printed number, and how far the value may be from it."""

    value: float
    half: float

    @classmethod
    def of(cls, text: str) -> Printed:
        """Read a number."""
        number = Decimal(text.rstrip("%"))
        return cls(float(number), float(Decimal(1).scaleb(int(number.as_tuple().exponent))) / 2)


def changes_in(rows: list[ClaimRow]) -> Iterator[str]:
    """Say of each column of changes whether all its numbers are points or percent of one row of the table."""
    columns: dict[tuple[str, str, str], list[tuple[str, ClaimRow]]] = {}
    for row in rows:
        for title, name, text in row.changes:
            columns.setdefault((row.part, title, name), []).append((text, row))
    for (part, title, about), cells in columns.items():
        names = {name for row in rows for name in row.claims if _same(name, about)}
        found: dict[str, list[str]] = {"points": [], "percent": []}
        for name in sorted(names):
            for base in (row for row in rows if row.part == part and name in row.claims):
                for way in _fitting(cells, name, base.claims[name]):
                    found[way].append(f"{name} against {base.label}")
        ways = [f"{way} of {' or '.join(of[:_SHOWN])}" for way, of in found.items() if of]
        start = f"{part}: " if part else ""
        what = ", or ".join(ways) or "neither points nor percent of one row of the table"
        yield f"{start}{title} ({counted(len(cells), 'number')}): {what}"


def _same(name: str, about: str) -> bool:
    """Return whether a column is about a measure; one that names none may be about any."""
    return not about or meaning_of(heading_of(name)[0]) == meaning_of(heading_of(about)[0])


def _fitting(cells: list[tuple[str, ClaimRow]], name: str, base: str) -> Iterator[str]:
    """Yield what all changes of a measure from a number can be, to the digits that are printed."""
    fits = [_fits(text, row.claims.get(name, ""), base) for text, row in cells]
    for way in ("points", "percent"):
        if fits and all(way in each for each in fits):
            yield way


def _fits(change: str, number: str, base: str) -> set[str]:
    printed = printed_in(change)
    try:
        wanted, a, b = (Printed.of(each) for each in (printed.number if printed else "", number, base))
    except InvalidOperation:
        return set()
    difference, off = a.value - b.value, a.half + b.half
    tried = [("points", difference, off), ("points", 100 * difference, 100 * off)]  # the latter of fractions
    if b.value > 0:
        reach = (a.half + b.half * a.value / b.value) / b.value
        tried.append(("percent", 100 * difference / b.value, 100 * reach))
    found = set()
    for way, ours, reach in tried:
        away = ours - wanted.value if printed and printed.signed else abs(ours) - abs(wanted.value)
        if abs(away) <= reach + wanted.half + _NOISE:
            found.add(way)
    return found
