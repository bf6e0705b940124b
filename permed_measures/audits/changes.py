"""Numbers that are differences of others in a printed table: from which row, in points or in percent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation
from itertools import permutations
from typing import NamedTuple

from permed_measures.audits.claim_columns import Kind, is_change_row
from permed_measures.audits.claim_names import heading_of, meaning_of
from permed_measures.audits.claim_runs import Assigned
from permed_measures.audits.claim_tables import ClaimRow, Derived
from permed_measures.audits.run_names import run_named
from permed_measures.markup import counted
from permed_measures.papers.cells import printed_in

_NOISE = 1e-9
_MOST_ROWS = 20
"""How many rows above a row of changes are tried as what it compares."""
_FEW = 3
"""How many numbers that do not fit are shown."""


class Range(NamedTuple):
    """The numbers that print as a text."""

    low: float
    high: float

    @classmethod
    def of(cls, text: str) -> Range:
        """Return the range of a printed number."""
        number = Decimal(text.rstrip("%"))
        half = float(Decimal(1).scaleb(int(number.as_tuple().exponent))) / 2
        return cls(float(number) - half, float(number) + half)

    def meets(self, other: Range) -> bool:
        """Return whether two ranges have a number in common."""
        return self.low <= other.high + _NOISE and other.low <= self.high + _NOISE

    @property
    def middle(self) -> float:
        """The number as printed."""
        return (self.low + self.high) / 2


class Way(NamedTuple):
    """How a change is computed from a number and that of the other row."""

    text: str
    of: Callable[[float, float], float]
    unit: str


_POINTS = Way("difference", lambda a, b: a - b, "")
_PERCENT_POINTS = Way("difference in percentage points", lambda a, b: 100 * (a - b), " points")
_RELATIVE = Way("relative change in percent", lambda a, b: 100 * (a - b) / b, "%")
_FRACTION = Way("relative change as a fraction", lambda a, b: (a - b) / b, "")
_OF_ITSELF = Way("change in percent of the number itself", lambda a, b: 100 * (a - b) / a, "%")


def _ways(in_percent: bool, of_percents: bool) -> list[Way]:
    """Return the ways, the usual first: for changes with a percent sign, and for numbers in percent."""
    points = (
        [_POINTS._replace(text=_PERCENT_POINTS.text, unit=" points")]
        if of_percents
        else [_POINTS, _PERCENT_POINTS]
    )
    relative = [_RELATIVE, *([] if in_percent else [_FRACTION]), _OF_ITSELF]
    return [_RELATIVE, *points, *relative[1:]] if in_percent else [*points, *relative]


class Change(NamedTuple):
    """A printed change, the row that it is of, and the rows that it may be from (all if there are none)."""

    row: ClaimRow
    run: str | None
    versus: str | None
    derived: Derived


class Base(NamedTuple):
    """The row that changes are from; for a row of changes also the one above it that they are of."""

    label: str
    row: ClaimRow
    of: ClaimRow | None = None


def same_measure(one: str, other: str) -> bool:
    """Return whether two names mean the same measure."""
    return one == other or meaning_of(heading_of(one)[0]) == meaning_of(heading_of(other)[0])


class Changes:
    """All changes of a file; `bases` has, by part of the file and measure, the row that they are from."""

    def __init__(self, rows: list[ClaimRow], printed: Assigned, runs: dict[str, ClaimRow]) -> None:
        self.rows, self.runs = [row for row in rows if row.claims], runs
        self.bases: dict[tuple[str, str], Base] = {}
        self.columns: dict[tuple[str, str, bool], list[Change]] = {}
        for row, run, versus in printed.derived:
            for derived in row.derived:
                if derived.kind is Kind.CHANGE:
                    title = row.label if is_change_row(row.label) else derived.title
                    key = (row.part, title, versus is not None)
                    self.columns.setdefault(key, []).append(Change(row, run, versus, derived))

    def run_of(self, base: Base) -> str | None:
        """Return the run of the row that changes are from."""
        return next((run for run, row in self.runs.items() if row is base.row), None)

    def lines(self) -> Iterator[str]:
        """Say of each column what its numbers are, and which of them are not."""
        for (part, title, _), changes in self.columns.items():
            told = self._column(title, changes)
            yield f"{part}: {told}" if part else told

    def _column(self, title: str, changes: list[Change]) -> str:
        tried = [
            (name, way, base, [each for each in changes if self._fits(each, name, way, base)])
            for name in self._names(changes)
            for base in self._bases(title, changes)
            for way in _ways(
                any("%" in each.derived.text for each in changes) or "%" in title,
                self._of_percents({name or each.derived.name for each in changes}),
            )
        ]
        name, way, base, fitting = max(tried, key=lambda each: len(each[3]), default=("", _POINTS, None, []))
        n = counted(len(changes), "number")
        if 2 * len(fitting) < len(changes) or not fitting:
            return f"{title} ({n}): no {'change' if way is _POINTS else way.text} from any row of the table"
        if base is not None:
            self.bases[changes[0].row.part, name] = base
        against = f" against {base.label}" if base is not None else ""
        of = base.of.label if base is not None and base.of is not None else name
        line = f"{title} ({n}): {way.text} of {of}{against}"
        if way.unit == " points" and any(each.derived.text.endswith("%") for each in changes):
            line += ", not relative"
        wrong = [self._told(each, name, base) for each in changes if each not in fitting]
        return "; but ".join([line, ", ".join(wrong[:_FEW])]) if wrong else line

    def _names(self, changes: list[Change]) -> list[str]:
        """Return the measures that changes may be of, as the table writes them."""
        if is_change_row(changes[0].row.label):
            return [""]  # each is of the measure above it
        names = list(dict.fromkeys(name for row in self.rows for name in row.claims))
        about = changes[0].derived.name
        return [name for name in names if about and same_measure(name, about)] or ([] if about else names)

    def _bases(self, title: str, changes: list[Change]) -> list[Base | None]:
        """Return the rows that changes may be from: the one in their title, or all of this part."""
        if changes[0].versus is not None:
            return [None]
        part = changes[0].row.part
        found = [Base(row.label, row) for row in self.rows if row.part == part]
        if is_change_row(changes[0].row.label):
            pairs = permutations(reversed(found[-_MOST_ROWS:]), 2)
            return [base._replace(of=other.row) for other, base in pairs]
        words = title.replace("(", " ").replace(")", " ").split()
        named = run_named(words, [each.label for each in found])
        return [*(each for each in found if named in (None, each.label))]

    def _of_percents(self, names: set[str]) -> bool:
        return any(
            Range.of(text).low > 1 or text.endswith("%")
            for row in self.rows
            for n, text in row.claims.items()
            if n in names
        )

    def _pair(self, change: Change, name: str, base: Base | None) -> tuple[str, str] | None:
        """Return the two printed numbers; None if one is not there."""
        row = self.runs.get(change.run or "") if change.versus is not None else change.row
        other = self.runs.get(change.versus or "") if base is None else base.row
        if row is None or other is None:
            return None
        if base is not None and base.of is not None:
            row, name = base.of, change.derived.name
        if name not in row.claims or name not in other.claims:
            return None
        return row.claims[name], other.claims[name]

    def _fits(self, change: Change, name: str, way: Way, base: Base | None) -> bool:
        pair = self._pair(change, name, base)
        printed = printed_in(change.derived.text)
        if pair is None or printed is None or not printed.number:
            return False
        try:
            wanted, (a, b) = Range.of(printed.number), map(Range.of, pair)
        except InvalidOperation:
            return False
        if min(a.low, b.low) <= 0 and way not in (_POINTS, _PERCENT_POINTS):
            return False
        corners = [way.of(x, y) for x in a for y in b]
        found = Range(min(corners), max(corners))
        return found.meets(wanted) or (not printed.signed and found.meets(Range(-wanted.high, -wanted.low)))

    def _told(self, change: Change, name: str, base: Base | None) -> str:
        """Say what a number should be."""
        start = f"{change.row.label} has {change.derived.text}"
        pair = self._pair(change, name, base)
        if pair is None:
            return start
        a, b = (Range.of(text).middle for text in pair)
        points = _POINTS if self._of_percents({name or change.derived.name}) else _PERCENT_POINTS
        relative = f", {_RELATIVE.of(a, b):+.2f}% relative" if b else ""
        return f"{start} ({points.of(a, b):+.2f} points{relative})"
