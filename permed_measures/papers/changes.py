"""Columns of changes in a printed table: are they points or percent, and against which row."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from permed_measures.markup import counted
from permed_measures.papers.cells import printed_in
from permed_measures.papers.claims import Printed
from permed_measures.papers.names import heading_of, meaning_of
from permed_measures.papers.tables import ClaimRow

_SHOWN = 3
"""How many rows that fit are named."""


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
    cell = printed_in(change)
    try:
        wanted, a, b = map(_printed, (cell.number if cell else "", number, base))
    except InvalidOperation:
        return set()
    points = Printed(a.low - b.high, a.high - b.low)
    tried = [("points", points), ("points", _times_100(points))]  # the latter of fractions
    if b.low > 0:
        tried.append(("percent", _times_100(Printed(a.low / b.high - 1, a.high / b.low - 1))))
    ways = [wanted] if cell and cell.signed else [wanted, Printed(-wanted.high, -wanted.low)]
    return {way for way, ours in tried for each in ways if ours.low <= each.high and each.low <= ours.high}


def _printed(text: str) -> Printed:
    """Return the values that print as a text, in points where it is in percent."""
    number = Decimal(text.rstrip("%"))
    return Printed.rounded(number, -int(number.as_tuple().exponent))


def _times_100(values: Printed) -> Printed:
    return Printed(100 * values.low, 100 * values.high)
