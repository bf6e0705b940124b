"""Between which numbers a measure lies that a row does not print, given those that it prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from math import ceil, floor, inf
from typing import Any, NamedTuple

from ir_measures.measures import Measure

from permed_measures.conventions.options import DEFAULT, Convention
from permed_measures.conventions.records import LABELS
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.errors import InputError, MeasureError, check_int
from permed_measures.escaping import grouped, join_names, pluralize
from permed_measures.feasibility.bounds import AttainableMeans, Interval, Rankings
from permed_measures.feasibility.candidates import usual_conventions
from permed_measures.feasibility.formulas import Formula, total_of
from permed_measures.feasibility.rows import (
    MOST_EFFORT,
    ClaimRange,
    Conventions,
    EquivalentConventions,
    RowBudget,
    RowLimits,
)
from permed_measures.intervals import range_of
from permed_measures.measures.headings import name_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.progress import step
from permed_measures.published_tables.claims import Claim
from permed_measures.results.report import Section
from permed_measures.results.table import NONE, Cell, Table
from permed_measures.tolerances import BOUND

ABOVE, NOT_TOLD = "surely above", "cannot be told"
_FREE = Interval(-1e6, 1e6)
"""Where the mean of the measure that is bounded may lie: it limits nothing."""
_UNIT = 2.5e-5
"""The ends of bounds are at most four of these too far out, unless the work is cut short."""
_MOST_EFFORT = 8 * MOST_EFFORT
"""The documents that are placed for all rows together: about half a minute of a processor."""
_EFFORT = MOST_EFFORT
"""And those for a measure of a row at most."""
_MAX_NAMED_ROWS = 2
"""How many rows are named that are surely below another."""


class Bound(NamedTuple):
    """What a row says of a measure that it does not print.

    Attributes
    ----------
    row, measure : str
    low, high : float or None
        The least and the most that the mean can be; None where there are no bounds.
    why : str
        Why there are none; empty if there are.
    """

    row: str
    measure: str
    low: float | None
    high: float | None
    why: str = ""

    def is_above(self, other: Bound) -> bool:
        """Return whether every mean within these bounds is above every one within others."""
        return self.low is not None and other.high is not None and self.low > other.high + BOUND


class RowOrder(NamedTuple):
    """The order of two rows by a measure.

    Attributes
    ----------
    measure, row, other : str
        Where it is sure, `row` is the higher one.
    verdict : {'surely above', 'cannot be told'}
    """

    measure: str
    row: str
    other: str
    verdict: str


@dataclass(frozen=True)
class Bounds:
    """The bounds of measures, row by row.

    Attributes
    ----------
    found : list of Bound
        By measure, then by row.
    parts : mapping of str to str
        In which part of a file each row stands: only rows of one part are compared.
    depth : int or None
        How many documents a run may return for each query; None for any number.
    n_wide : int
        How many bounds may be wider than they have to be.
    """

    found: list[Bound]
    parts: Mapping[str, str]
    depth: int | None
    n_wide: int

    @classmethod
    def of(
        cls,
        rows: Sequence[RowLimits],
        parts: Mapping[str, str],
        measures: Sequence[Measure],
        tried: Conventions,
        depth: int | None,
    ) -> Bounds:
        """Bound measures in each row by the usual conventions of what it prints that are not refuted."""
        found: dict[tuple[str, str], Bound] = {}
        effort, n_wide = min(_EFFORT, _MOST_EFFORT / (len(rows) * len(measures))), 0
        columns = grouped((tuple((each.name, each.measure) for each in row.claims), row) for row in rows)
        with step("bounds of rows", len(rows) * len(measures)) as advance:
            for measure in measures:
                for some in columns.values():
                    search = _OfColumns(some, target_of(measure), tried, depth, effort)
                    for row, hull in zip(some, search.hulls(), strict=True):
                        why = "" if hull else search.why(row)
                        low, high = hull or (None, None)
                        found[row.name, name_of(measure)] = Bound(row.name, name_of(measure), low, high, why)
                    n_wide += len(search.wide)
                    advance(len(some))
        names = map(name_of, measures)
        return cls([found[row.name, name] for name in names for row in rows], parts, depth, n_wide)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield a record for each measure of each row."""
        return (bound._asdict() for bound in self.found)

    def orders(self) -> Iterator[RowOrder]:
        """Yield each pair of rows of a part, by measure, and whether one is surely above the other."""
        for measure, bounds in grouped((bound.measure, bound) for bound in self.found).items():
            for of_part in grouped((self.parts[bound.row], bound) for bound in bounds).values():
                for one, other in combinations(of_part, 2):
                    if other.is_above(one):
                        yield RowOrder(measure, other.row, one.row, ABOVE)
                    else:
                        verdict = ABOVE if one.is_above(other) else NOT_TOLD
                        yield RowOrder(measure, one.row, other.row, verdict)

    def section(self) -> Section:
        """Return how many pairs are surely in order, and the bounds of each row."""
        orders, texts = [*self.orders()], []
        for measure, of_measure in grouped((order.measure, order) for order in orders).items():
            n_sure = sum(order.verdict == ABOVE for order in of_measure)
            texts.append(
                f"{measure}: the order of {n_sure:,} of {pluralize(len(of_measure), 'pair')} is sure."
            )
        below = grouped(
            ((order.measure, order.row), order.other) for order in orders if order.verdict == ABOVE
        )
        has_orders = bool(orders)
        blocks = [
            [_line(bound, below.get((measure, bound.row), []), has_orders) for bound in bounds]
            for measure, bounds in grouped((bound.measure, bound) for bound in self.found).items()
        ]
        labels = ["measure", "row", *([ABOVE] if has_orders else [])]
        caption = "What the row does not print, if the others are as printed"
        table = Table([*labels, "at least", "at most"], blocks, len(labels), caption, label="bounds")
        rows_without = grouped((bound.why, bound.row) for bound in self.found if bound.why)
        texts += [
            f"No bounds of {join_names(dict.fromkeys(rows), _MAX_NAMED_ROWS)}: {why}."
            for why, rows in rows_without.items()
        ]
        return Section("Bounds", tables=[table], texts=[*texts, *self.assumed()])

    def assumed(self) -> Iterator[str]:
        """Say of which runs and conventions the bounds are true."""
        documents = "any number of documents"
        if self.depth is not None:
            documents = f"at most {pluralize(self.depth, 'document')}"
        yield (
            f"Bounds hold for every run with the printed numbers that returns {documents} for each query, "
            "where these are computed as usual: by each usual convention that is not refuted. The measure "
            "that is bounded is computed as evaluate does."
        )
        if any(order.verdict == ABOVE for order in self.orders()):
            yield f"{ABOVE.capitalize()}: the bounds of two rows do not meet."
        known = {(bound.measure, bound.row) for bound in self.found if not bound.why}
        if any(
            order.verdict == NOT_TOLD and {(order.measure, order.row), (order.measure, order.other)} <= known
            for order in self.orders()
        ):
            yield "Where the bounds of two rows meet, their order cannot be told."
        if self.n_wide:
            yield (
                f"{pluralize(self.n_wide, 'bound')} may be wider than need be, never too narrow: there are "
                "more lists than can be looked at in some seconds."
            )


def _line(bound: Bound, below: list[str], has_orders: bool) -> list[Cell]:
    """Return the row of a table: what it is surely above, and its bounds, rounded outwards."""
    low, high = _rounded(bound.low, up=False), _rounded(bound.high, up=True)
    names = [Cell(join_names(below, _MAX_NAMED_ROWS) if below else NONE)] if has_orders else []
    return [
        Cell(bound.measure),
        Cell(bound.row),
        *names,
        Cell(low, value=bound.low),
        Cell(high, value=bound.high),
    ]


def _rounded(value: float | None, up: bool) -> str:
    """Write an end with four digits, rounded away from the middle."""
    if value is None:
        return NONE
    scaled = value * 10_000
    return f"{(ceil(scaled - BOUND) if up else floor(scaled + BOUND)) / 10_000 + 0.0:.4f}"


# --- the bounds of one measure ---------------------------------------------------------------------


def target_of(measure: Measure) -> Claim:
    """Return a measure as a claim without a number, which is none of a row."""
    return Claim(f" {measure}", "", str(measure), (None,), Decimal(0), 0, False)


class _Joint(NamedTuple):
    """The rankings by what a row prints and by a measure that it does not print.

    Attributes
    ----------
    rankings : Rankings
    totals : list of (int, int or None)
        Which claims are in the rankings, and what each is a whole number of.
    alike : list of int
        The places of the claims that are the measure itself; if there are none, it stands behind them.
    is_exact : bool
        Whether no claim is left out, nor a rank at which several measures count.
    """

    rankings: Rankings
    totals: list[tuple[int, int | None]]
    alike: list[int]
    is_exact: bool

    @classmethod
    def of(cls, group: EquivalentConventions, depth: int | None) -> _Joint | None:
        """Prepare the rankings of a group whose last measure is the one to bound; None if there are too many.

        Where there are too many lists, the claims that count down to the deepest rank are left out: bounds
        are wider then.
        """
        *printed, target = (each.within(depth) for each in group.formulas)
        essence = target.essence(group.classes)
        shallow_first = sorted(range(len(printed)), key=lambda j: _end_of(printed[j]))
        for n in range(len(printed), -1, -1):
            chosen = [printed[j] for j in shallow_first[:n]]
            alike = [place for place, each in enumerate(chosen) if each.essence(group.classes) == essence]
            together = chosen if alike else [*chosen, target]
            rankings = Rankings.of(group.classes, together)
            if rankings is not None:
                deepest = max([1, *sorted(map(_end_of, together))[-2:-1]])
                is_exact = n == len(printed) and len(rankings.values) >= deepest
                totals = [(j, total_of(printed[j], group.classes)) for j in shallow_first[:n]]
                return cls(rankings, totals, alike, is_exact)
        return None

    def bound(self, claims: Sequence[Claim], effort: float) -> tuple[Interval, bool]:
        """Bound the measure given claims, empty if these are not possible; say whether it is narrow."""
        ranges = [ClaimRange(claims[j], "", total) for j, total in self.totals]
        if not all(each.is_count for each in ranges):
            return _NOTHING, True
        intervals = [each.interval for each in ranges]
        place = self.alike[0] if self.alike else len(intervals)
        search = AttainableMeans(self.rankings, [*intervals, *([] if self.alike else [_FREE])])
        found = _common([search.range_of(place, _UNIT, effort), *(intervals[j] for j in self.alike)])
        return found, self.is_exact and not search.is_cut_short


_NOTHING = Interval(1, 0)


def _common(intervals: Sequence[Interval]) -> Interval:
    """Return what is in all intervals."""
    return Interval(max(each.low for each in intervals), min(each.high for each in intervals))


def _end_of(formula: Formula) -> float:
    """Return the last rank that counts."""
    return inf if formula.cutoff is None else formula.cutoff


class _OfColumns:
    """The bounds of a measure in rows with the same columns."""

    def __init__(
        self, rows: Sequence[RowLimits], target: Claim, tried: Conventions, depth: int | None, effort: float
    ) -> None:
        self.rows, self.target, self.tried, self.depth, self.effort = rows, target, tried, depth, effort
        self._judgments = tried.policies[DEFAULT[LABELS]].judgments
        self.possible = Interval(*range_of(parse_measure(target.measure)))
        self.wide: set[str] = set()
        self._unchecked: set[str] = set()

    def hulls(self) -> list[Interval | None]:
        """Return the least and the most by any usual convention that is not refuted, for each row."""
        found: list[list[Interval]] = [[] for _ in self.rows]
        for number, first in enumerate(self.rows[0].usual):  # the rows have the same conventions
            still = [
                j for j, row in enumerate(self.rows) if not row.usual[number].refuted and self._is_of_all(row)
            ]
            joint = self._joint(first.convention) if still else None
            for j in still:
                found[j] += self._of_row(self.rows[j], joint)
        return [
            None
            if not some or row.name in self._unchecked
            else Interval(min(each.low for each in some), max(each.high for each in some))
            for row, some in zip(self.rows, found, strict=True)
        ]

    def _is_of_all(self, row: RowLimits) -> bool:
        """Return whether the means of a row are over all queries of the qrels, as far as it says."""
        return row.topics in (None, self._judgments.n_queries)

    def _joint(self, convention: Convention) -> _Joint | None:
        """Return the rankings by a convention; None if there are too many."""
        measure = self.target.measure
        own = usual_conventions([self.target], self.tried.policies[DEFAULT[LABELS]])[0]
        options = {**own[measure], **convention.get(measure, {})}  # a row may name the same measure
        group = self.tried.group({**convention, measure: options}, [*self.rows[0].claims, self.target])
        return None if group is None else _Joint.of(group, self.depth)

    def _of_row(self, row: RowLimits, joint: _Joint | None) -> Iterator[Interval]:
        """Yield the bounds by every reading of the numbers of a row by which they are possible."""
        if joint is None:
            self._unchecked.add(row.name)
            return
        readings = RowBudget(row.claims).readings
        for claims in readings:
            bound, is_narrow = joint.bound(claims, self.effort / (len(row.usual) * len(readings)))
            if not bound.is_empty:
                yield _common([bound, self.possible])
                if not is_narrow:
                    self.wide.add(row.name)

    def why(self, row: RowLimits) -> str:
        """Say why a row has no bounds."""
        if row.name in self._unchecked:
            return "there are more lists than can be looked at in some seconds"
        if not row.ok:
            return "no run has its numbers"
        if not self._is_of_all(row):
            n_all = self._judgments.n_queries
            return (
                f"its means are over {row.topics:,} queries, and the qrels have {n_all:,}; give their qrels"
            )
        if all(each.refuted for each in row.usual):
            return (
                "no run has its numbers where they are computed as usual, over all queries; name measures "
                "as they are, such as AP(rel=2)@10"
            )
        runs = (
            "" if self.depth is None else f" with at most {pluralize(self.depth, 'document')} for each query"
        )
        return f"no run{runs} has its numbers, computed as usual"


def check_asked(measures: Sequence[Measure], depth: int | None, tried: Conventions, hint: str) -> list[str]:
    """Refuse measures that cannot be bounded on these qrels, and a depth that is none; return notes."""
    if depth is not None:
        check_int("depth", depth, 1)
        if not measures:
            example = "Add --bound R@10, or bound='R@10' in Python"
            raise InputError("the depth of runs is that of bounds", hint=example)
    if not measures:
        return []
    unknown = [name_of(measure) for measure in measures if not tried.can_bound(target_of(measure))]
    if unknown:
        raise MeasureError(f"no bounds are known for {', '.join(unknown)}", hint=hint)
    return PermedEvaluator(measures, tried.policies[DEFAULT[LABELS]].judgments).notes()
