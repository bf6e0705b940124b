"""Numbers that stand in the wrong place of a table: swapped rows, columns and cells, and copied cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from permed_measures.audits.answers import Answer, RowAudit
from permed_measures.audits.claims import parse_claims
from permed_measures.audits.conventions import NAMED, Convention
from permed_measures.audits.fits import printed_by
from permed_measures.audits.matches import ClaimAudit, reread
from permed_measures.audits.options import Rank, Rounding
from permed_measures.audits.searches import row_of

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Cell = tuple[int, int]
"""A row and a column."""

_MOST_CELLS = 400
"""Larger tables are not searched: each number is compared with the value of each cell."""
_ENOUGH_DIGITS = 4
"""A number with fewer may be that of another cell by chance."""


@dataclass(frozen=True)
class Corrected:
    """The rows with each number in its place, and what was moved, each in a line.

    `copied` are the claims, by row and name, that have the number of another.
    """

    rows: list[RowAudit]
    moves: list[str]
    copied: list[tuple[str, str]]


def corrected(rows: list[RowAudit], main: Answer) -> Corrected | None:
    """Find the numbers that stand in the wrong place, if that explains more claims than `main` does."""
    table = _Table(rows)
    if not 1 < len(table.cells) <= _MOST_CELLS:
        return None
    prints = table.prints(_conventions(main))
    places = [table.places(prints[..., k]) for k in range(prints.shape[-1])]
    scores = [table.score(prints[..., k], place) for k, place in enumerate(places)]
    best = max(range(len(places)), key=lambda k: (scores[k], -table.n_moved(places[k])))
    if scores[best] <= len(main.explained) or not table.n_moved(places[best]):
        best, place = len(places) - 1, table.home
    else:
        place = places[best]
    copies = table.copies(prints[..., best], place)
    if place is table.home and not copies:
        return None
    copied = [(rows[r].name, table.names[c]) for r, c in copies]
    return Corrected(table.put(place), [*table.moves(place), *table.told(copies)], copied)


def _conventions(main: Answer) -> list[tuple[Convention, bool]]:
    """Return the conventions with a name, with several cutoffs, and the one that explains the most claims.

    The second value says whether they round their means first.
    """
    claims = {audited.claim.name: audited.claim for audited in main.claims}
    cutoffs: list[dict[str, Rank]] = [
        {name: claim.cutoffs[0] for name, claim in claims.items()},
        main.cutoffs,
        {
            name: claim.cutoffs[-1] if claim.measure == "F1" else claim.cutoffs[0]
            for name, claim in claims.items()
        },
    ]
    distinct = [each for number, each in enumerate(cutoffs) if each not in cutoffs[:number]]
    able = [named for named in NAMED if all(named.has(claim.family) for claim in claims.values())]
    found: list[Convention] = [named.of(claims.values(), each) for named in able for each in distinct]
    return [(each, each.setting.rounding is not Rounding.EXACT) for each in [*found, main]]


class _Table:
    """The claims by row and column; a row may lack some."""

    def __init__(self, rows: list[RowAudit]) -> None:
        self.rows = rows
        self.names = list(dict.fromkeys(each.claim.name for row in rows for each in row.claims))
        self.cells: dict[Cell, ClaimAudit] = {
            (r, self.names.index(each.claim.name)): each for r, row in enumerate(rows) for each in row.claims
        }
        shape = (len(rows), len(self.names))
        self.home: Ints = np.arange(shape[0] * shape[1]).reshape(shape)

    def prints(self, conventions: list[tuple[Convention, bool]]) -> Bools:
        """Return whether the number of a cell is the value of another: by both cells and convention."""
        n_rows, n_columns = self.home.shape
        values = np.full((n_rows, n_columns, len(conventions)), np.nan)
        for (r, c), audited in self.cells.items():
            claim = audited.claim
            for k, (each, _) in enumerate(conventions):
                choice, cutoff = each.choices[claim.family], each.cutoffs[claim.name]
                values[r, c, k] = audited.at(each.setting, choice, cutoff).value
        rounded = np.broadcast_to(np.array([first for _, first in conventions]), values.shape).ravel()
        found = np.zeros((n_rows, n_columns, *values.shape), bool)
        for (r, c), audited in self.cells.items():
            found[r, c] = printed_by(audited.claim, values.ravel(), rounded).reshape(values.shape)
        return found

    def places(self, prints: Bools) -> Ints:
        """Return the cell that each number belongs to, by one convention."""
        by_row, by_column = np.einsum("rcsc->rs", 1 * prints), np.einsum("rcrd->cd", 1 * prints)
        place = self.home[_permutation(by_row)][:, _permutation(by_column)]
        open_cells = [cell for cell in self.cells if not self._at(prints, cell, place)]
        for cell in open_cells:
            partners = [each for each in open_cells if each != cell and self._swapped(prints, cell, each)]
            if (
                len(partners) == 1
                and place[cell] == self.home[cell]
                and place[partners[0]] == self.home[partners[0]]
            ):
                place[cell], place[partners[0]] = self.home[partners[0]], self.home[cell]
        return place

    def _at(self, prints: Bools, cell: Cell, place: Ints) -> bool:
        return bool(prints[cell][self._cell(place[cell])])

    def _swapped(self, prints: Bools, one: Cell, other: Cell) -> bool:
        return bool(prints[one][other] and prints[other][one])

    def _cell(self, number: int) -> Cell:
        row, column = divmod(int(number), len(self.names))
        return row, column

    def score(self, prints: Bools, place: Ints) -> int:
        """Count the numbers that are the values of their places."""
        return sum(self._at(prints, cell, place) for cell in self.cells)

    def n_moved(self, place: Ints) -> int:
        """Count the numbers that are moved."""
        return int((place != self.home).sum())

    def copies(self, prints: Bools, place: Ints) -> dict[Cell, Cell]:
        """Return the numbers that nothing explains in their place, and that another cell beside them has."""
        found = {}
        for cell, audited in self.cells.items():
            unexplained = place[cell] == self.home[cell] and not audited.explained
            if unexplained and audited.claim.decimals >= _ENOUGH_DIGITS:
                r, c = cell
                beside = [
                    other
                    for other in self.cells
                    if prints[cell][other] and prints[other][other] and (other[0] == r) != (other[1] == c)
                ]
                if len(beside) == 1:
                    found[cell] = beside[0]
        return found

    def put(self, place: Ints) -> list[RowAudit]:
        """Return the rows with each number in its place."""
        texts = {self._cell(place[cell]): audited.claim.text for cell, audited in self.cells.items()}
        table = [
            {
                name: texts[r, c]
                for c, name in enumerate(self.names)
                if (r, c) in texts and (r, c) in self.cells
            }
            for r in range(len(self.rows))
        ]
        found = []
        for r, claims in enumerate(parse_claims(table)):
            here = {each.claim.name: each for each in self.rows[r].claims}
            found.append(row_of(self.rows[r].name, [reread(here[each.name], each) for each in claims]))
        return found

    def moves(self, place: Ints) -> list[str]:
        """Say what was swapped: whole rows and columns first."""
        rows = [
            _common({place[r, c] // len(self.names) for c in self._columns_of(r)})
            for r in range(len(self.rows))
        ]
        columns = [
            _common({place[r, c] % len(self.names) for r in self._rows_of(c)}) for c in range(len(self.names))
        ]
        names = [row.name for row in self.rows]
        lines = [*_cycles("rows", rows, names), *_cycles("columns", columns, self.names)]
        return lines or [
            self._pair(cell, self._cell(place[cell])) for cell in self.cells if place[cell] > self.home[cell]
        ]

    def _columns_of(self, row: int) -> list[int]:
        return [c for r, c in self.cells if r == row]

    def _rows_of(self, column: int) -> list[int]:
        return [r for r, c in self.cells if c == column]

    def _pair(self, one: Cell, other: Cell) -> str:
        (r, c), (s, d) = one, other
        first, second = self.rows[r].name, self.rows[s].name
        if r == s:
            start = f"{first}: " if len(self.rows) > 1 else ""
            return f"{start}{self.names[c]} and {self.names[d]} are swapped"
        if c == d:
            return f"{self.names[c]}: {first} and {second} are swapped"
        return f"{first}, {self.names[c]} and {second}, {self.names[d]} are swapped"

    def told(self, copies: dict[Cell, Cell]) -> Iterator[str]:
        """Say which numbers are those of another cell."""
        for (r, c), (s, d) in copies.items():
            of = self.names[d] if r == s else f"{self.rows[s].name}"
            text = self.cells[r, c].claim.text
            yield f"{self.rows[r].name}, {self.names[c]} has the number of {of} ({text})"


def _permutation(found: Ints) -> Ints:
    """Return the row (or column) that the numbers of each belong to: itself, or another one of a cycle."""
    own, others = np.diag(found), found - np.diag(np.diag(found))
    to = np.where(
        (others.max(axis=1) > own) & (others.max(axis=1) > 1), others.argmax(axis=1), np.arange(len(own))
    )
    place = np.arange(len(own))
    for start in range(len(own)):
        cycle = [start]
        while to[cycle[-1]] not in cycle:
            cycle.append(int(to[cycle[-1]]))
        if to[cycle[-1]] == start:
            place[start] = to[start]
    return place


def _common(numbers: set[int]) -> int | None:
    return numbers.pop() if len(numbers) == 1 else None


def _cycles(what: str, to: list[int | None], names: list[str]) -> Iterator[str]:
    """Say which rows or columns are swapped; each is in one line."""
    seen: set[int] = set()
    for start, first in enumerate(to):
        if first is None or first == start or start in seen:
            continue
        cycle: list[int] = [start]
        while (place := to[cycle[-1]]) is not None and place not in cycle:
            cycle.append(place)
        if place != start:
            continue
        seen |= {*cycle}
        shown = [names[number] for number in cycle]
        if len(cycle) == 2:
            yield f"the {what} {shown[0]} and {shown[1]} are swapped"
        else:
            yield f"the {what} {', '.join(shown)} hold the numbers of {', '.join([*shown[1:], shown[0]])}"
