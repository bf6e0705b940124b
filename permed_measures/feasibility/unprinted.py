"""Bound measures that a row does not print, given the numbers that it prints."""

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
from permed_measures.feasibility.bounds import AttainableMeans, Interval, Rankings
from permed_measures.feasibility.candidates import usual_conventions
from permed_measures.feasibility.formulas import Formula, total_of
from permed_measures.feasibility.rows import (
    BUDGET,
    MOST_TOGETHER,
    ClaimRange,
    Conventions,
    EquivalentConventions,
    RowBudget,
    RowLimits,
)
from permed_measures.measures.headings import name_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.measures.specs import range_of
from permed_measures.progress import step
from permed_measures.published_tables.claims import Claim
from permed_measures.results.report import Section
from permed_measures.results.table import NONE, Cell, Table
from permed_measures.tolerances import BOUND
from permed_measures.wording import grouped, join_names, pluralize

ABOVE, NOT_TOLD = "surely above", "cannot be told"
_FREE = Interval(-1e6, 1e6)
"""The interval of the measure to bound: it limits nothing."""
_UNIT = 2.5e-5
"""Bounds are at most four of these units too far out, unless the effort runs out."""
_WHOLE_BUDGET = 8 * BUDGET
"""Maximum number of documents to place for all rows together: about half a minute of processor time."""
_BUDGET = BUDGET
"""Maximum number of documents to place for one measure of a row."""
_MAX_NAMED_ROWS = 2
"""Maximum number of named rows that are surely below another."""


class Bound(NamedTuple):
    """The bounds of a measure that a row does not print.

    Attributes
    ----------
    row, measure : str
    low, high : float or None
        The minimum and the maximum of the mean; None if there are no bounds.
    why : str
        Why there are no bounds; empty if there are.
    """

    row: str
    measure: str
    low: float | None
    high: float | None
    why: str = ""

    def is_above(self, other: Bound) -> bool:
        """Check whether every mean within these bounds is above every mean within others."""
        return self.low is not None and other.high is not None and self.low > other.high + BOUND


class RowOrder(NamedTuple):
    """The order of two rows by a measure.

    Attributes
    ----------
    measure, row, other : str
        If the order is sure, `row` is the higher one.
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
        The bounds, by measure, then by row.
    parts : mapping of str to str
        The part of the file that each row is in: only rows of one part are compared.
    depth : int or None
        The maximum number of documents that a run returns for each query; None for any number.
    n_wide : int
        The number of bounds that may be wider than necessary.
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
        """Bound measures in each row, under the usual conventions that its numbers do not refute."""
        bounds: dict[tuple[str, str], Bound] = {}
        effort, n_wide = min(_BUDGET, _WHOLE_BUDGET / (len(rows) * len(measures))), 0
        by_columns = grouped(
            (tuple((claim.name, claim.measure) for claim in row.claims), row) for row in rows
        )
        with step("bounds of rows", len(rows) * len(measures)) as advance:
            for measure in measures:
                name = name_of(measure)
                for same in by_columns.values():
                    search = _BoundsOfColumns(same, target_of(measure), tried, depth, effort)
                    for row, hull in zip(same, search.hulls(), strict=True):
                        why = "" if hull else search.why(row)
                        low, high = hull or (None, None)
                        bounds[row.name, name] = Bound(row.name, name, low, high, why)
                    n_wide += len(search.wide)
                    advance(len(same))
        names = map(name_of, measures)
        return cls([bounds[row.name, name] for name in names for row in rows], parts, depth, n_wide)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield a record for each measure of each row."""
        return (bound._asdict() for bound in self.found)

    def orders(self) -> Iterator[RowOrder]:
        """Yield the order of each pair of rows of one part, by measure."""
        for measure, bounds in grouped((bound.measure, bound) for bound in self.found).items():
            for same_part in grouped((self.parts[bound.row], bound) for bound in bounds).values():
                for one, other in combinations(same_part, 2):
                    if other.is_above(one):
                        yield RowOrder(measure, other.row, one.row, ABOVE)
                    else:
                        verdict = ABOVE if one.is_above(other) else NOT_TOLD
                        yield RowOrder(measure, one.row, other.row, verdict)

    def section(self) -> Section:
        """Report the number of pairs whose order is sure, and the bounds of each row."""
        orders, texts = [*self.orders()], []
        for measure, pairs in grouped((order.measure, order) for order in orders).items():
            n_sure = sum(order.verdict == ABOVE for order in pairs)
            texts.append(f"{measure}: the order of {n_sure:,} of {pluralize(len(pairs), 'pair')} is sure.")
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
        """State the runs and conventions for which the bounds hold."""
        documents = "any number of documents"
        if self.depth is not None:
            documents = f"at most {pluralize(self.depth, 'document')}"
        yield (
            f"Bounds hold for every run that returns {documents} for each query and has the printed numbers "
            "under any usual convention that is not refuted. The bounded measure is computed as evaluate "
            "computes it."
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
                f"{pluralize(self.n_wide, 'bound')} may be wider than necessary, but never too narrow: "
                f"{_TOO_MANY}."
            )


_TOO_MANY = "there are too many rankings to search in some seconds"


def _line(bound: Bound, below: list[str], has_orders: bool) -> list[Cell]:
    """Write a row of the table: the rows surely below it, and its bounds, rounded outwards."""
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
    """Write an end of an interval with four digits, rounded outwards."""
    if value is None:
        return NONE
    scaled = value * 10_000
    return f"{(ceil(scaled - BOUND) if up else floor(scaled + BOUND)) / 10_000 + 0.0:.4f}"


# --- the bounds of one measure ---------------------------------------------------------------------


def target_of(measure: Measure) -> Claim:
    """Make a claim without a number of a measure; its name differs from all names of a row."""
    return Claim(f" {measure}", "", str(measure), (None,), Decimal(0), 0, False)


class _JointRankings(NamedTuple):
    """The rankings by the printed measures of a row and one measure that it does not print.

    Attributes
    ----------
    rankings : Rankings
    totals : list of (int, int or None)
        The index of each claim in the rankings, and its total if it is a count.
    alike : list of int
        The positions of claims with the same formula as the measure; if there are none, it comes last.
    is_exact : bool
        Whether all claims are included, and all ranks at which several measures count.
    """

    rankings: Rankings
    totals: list[tuple[int, int | None]]
    alike: list[int]
    is_exact: bool

    @classmethod
    def of(cls, group: EquivalentConventions, depth: int | None) -> _JointRankings | None:
        """Prepare the rankings of a group whose last measure is the one to bound; None if there are too many.

        If there are too many rankings or claims, the claims with the deepest cutoffs are left out; then the
        bounds are wider.
        """
        *printed, target = (formula.truncated_at(depth) for formula in group.formulas)
        target_key = target.equivalence_key(group.classes)
        shallow_first = sorted(range(len(printed)), key=lambda j: _last_rank(printed[j]))
        for n in range(min(len(printed), MOST_TOGETHER), -1, -1):
            chosen = [printed[j] for j in shallow_first[:n]]
            keys = [formula.equivalence_key(group.classes) for formula in chosen]
            alike = [position for position, key in enumerate(keys) if key == target_key]
            together = chosen if alike else [*chosen, target]
            rankings = Rankings.of(group.classes, together)
            if rankings is not None:
                deepest = max([1, *sorted(map(_last_rank, together))[-2:-1]])
                is_exact = n == len(printed) and len(rankings.values) >= deepest
                totals = [(j, total_of(printed[j], group.classes)) for j in shallow_first[:n]]
                return cls(rankings, totals, alike, is_exact)
        return None

    def bound(self, claims: Sequence[Claim], effort: float) -> tuple[Interval, bool]:
        """Bound the measure given claims (empty if they are impossible), and tell whether it is tight."""
        ranges = [ClaimRange(claims[j], "", total) for j, total in self.totals]
        if not all(claim_range.is_count for claim_range in ranges):
            return _NOTHING, True
        intervals = [claim_range.interval for claim_range in ranges]
        position = self.alike[0] if self.alike else len(intervals)
        search = AttainableMeans(self.rankings, [*intervals, *([] if self.alike else [_FREE])])
        bound = _intersection([search.range_of(position, _UNIT, effort), *(intervals[j] for j in self.alike)])
        return bound, self.is_exact and not search.is_cut_short


_NOTHING = Interval(1, 0)


def _intersection(intervals: Sequence[Interval]) -> Interval:
    return Interval(max(each.low for each in intervals), min(each.high for each in intervals))


def _last_rank(formula: Formula) -> float:
    """Return the last rank that counts."""
    return inf if formula.cutoff is None else formula.cutoff


class _BoundsOfColumns:
    """Bound a measure in rows with the same columns."""

    def __init__(
        self, rows: Sequence[RowLimits], target: Claim, tried: Conventions, depth: int | None, effort: float
    ) -> None:
        self.rows, self.target, self.tried, self.depth, self.effort = rows, target, tried, depth, effort
        self._judgments = tried.policies[DEFAULT[LABELS]].judgments
        self.possible = Interval(*range_of(parse_measure(target.measure)))
        self.wide: set[str] = set()
        self._unchecked: set[str] = set()

    def hulls(self) -> list[Interval | None]:
        """Bound each row over all usual conventions that are not refuted; None for a row without bounds."""
        bounds: list[list[Interval]] = [[] for _ in self.rows]
        for number, first in enumerate(self.rows[0].usual):  # the rows have the same conventions
            open_rows = [
                j
                for j, row in enumerate(self.rows)
                if not row.usual[number].refuted and self._is_over_all(row)
            ]
            joint = self._joint(first.convention) if open_rows else None
            for j in open_rows:
                bounds[j] += self._row_bounds(self.rows[j], joint)
        return [
            None
            if not intervals or row.name in self._unchecked
            else Interval(min(each.low for each in intervals), max(each.high for each in intervals))
            for row, intervals in zip(self.rows, bounds, strict=True)
        ]

    def _is_over_all(self, row: RowLimits) -> bool:
        """Check whether the means of a row may be over all queries of the qrels."""
        return row.topics in (None, self._judgments.n_queries)

    def _joint(self, convention: Convention) -> _JointRankings | None:
        """Prepare the rankings under a convention; None if there are too many."""
        measure = self.target.measure
        own = usual_conventions([self.target], self.tried.policies[DEFAULT[LABELS]])[0]
        options = {**own[measure], **convention.get(measure, {})}  # a row may name the same measure
        group = self.tried.group({**convention, measure: options}, [*self.rows[0].claims, self.target])
        return None if group is None else _JointRankings.of(group, self.depth)

    def _row_bounds(self, row: RowLimits, joint: _JointRankings | None) -> Iterator[Interval]:
        """Yield the bounds in every reading of the numbers of a row in which they are possible."""
        if joint is None:
            self._unchecked.add(row.name)
            return
        readings = RowBudget(row.claims).readings
        for claims in readings:
            bound, is_narrow = joint.bound(claims, self.effort / (len(row.usual) * len(readings)))
            if not bound.is_empty:
                yield _intersection([bound, self.possible])
                if not is_narrow:
                    self.wide.add(row.name)

    def why(self, row: RowLimits) -> str:
        """Explain why a row has no bounds."""
        if row.name in self._unchecked:
            return _TOO_MANY
        if not row.ok:
            return "no run has its numbers"
        if not self._is_over_all(row):
            n_all = self._judgments.n_queries
            return (
                f"its means are over {row.topics:,} queries, and the qrels have {n_all:,}; give their qrels"
            )
        if all(limits.refuted for limits in row.usual):
            return (
                "no run has its numbers if they are computed as usual, over all queries; name measures as "
                "they were computed, such as AP(rel=2)@10"
            )
        runs = (
            "" if self.depth is None else f" with at most {pluralize(self.depth, 'document')} for each query"
        )
        return f"no run{runs} has its numbers, computed as usual"


def check_asked(measures: Sequence[Measure], depth: int | None, tried: Conventions, hint: str) -> list[str]:
    """Refuse measures that cannot be bounded on these qrels, and an invalid depth; return notes."""
    if depth is not None:
        check_int("depth", depth, 1)
        if not measures:
            example = "Add --bound R@10, or bound='R@10' in Python"
            raise InputError("the depth of runs is only for bounds", hint=example)
    if not measures:
        return []
    unknown = [name_of(measure) for measure in measures if not tried.can_bound(target_of(measure))]
    if unknown:
        raise MeasureError(f"no bounds are known for {', '.join(unknown)}", hint=hint)
    return PermedEvaluator(measures, tried.policies[DEFAULT[LABELS]].judgments).notes()
