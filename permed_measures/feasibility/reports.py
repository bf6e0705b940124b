"""The result of `possible`, and its report, records and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import partial
from pathlib import Path
from typing import Any

from permed_measures.conventions.options import DEFAULT, describe
from permed_measures.conventions.records import LABELS, QUERY_SET
from permed_measures.errors import InputError
from permed_measures.feasibility.bounds import Interval
from permed_measures.feasibility.candidates import where_none_is_lacking
from permed_measures.feasibility.differences import Differences
from permed_measures.feasibility.rows import ClaimRange, ConventionLimits, RowLimits
from permed_measures.feasibility.unprinted import Bounds
from permed_measures.provenance import Origin, provenance
from permed_measures.published_tables.claims import EXACT
from permed_measures.results.report import Report, Result, Section, how_made
from permed_measures.results.table import NONE, Cell, Table
from permed_measures.tolerances import BOUND
from permed_measures.wording import grouped, join_names, pluralize


@dataclass(frozen=True)
class Possible(Result):
    """The conventions of published rows that the qrels refute and do not refute; ``print`` shows a report.

    ``to_polars`` and ``to_pandas`` give a row for each claim of each convention: ``row``, ``convention`` (its
    number in the row, from 1), ``claim``, ``published``, ``measure``, ``labels`` and ``queries`` (of the
    convention), ``usual`` (whether it computes every measure in a usual way), ``low`` and ``high`` (the range
    given the others, for usual conventions; null if the numbers are not possible together),
    ``convention_possible`` (null if not checked), and ``lacks_queries`` (whether only a run that lacks
    queries may have the numbers). With differences they give a row for each pair of rows instead:
    ``measure``, ``row``, ``other``, ``difference``, ``verdict``, ``p_at_most`` and ``why``. With bounds they
    give a row for each row and measure: ``row``, ``measure``, ``low``, ``high`` and ``why``.

    Attributes
    ----------
    rows : list of RowLimits
    n_queries : int
        The number of queries of the qrels, over which the means are taken.
    skipped : list of str
        The claims that cannot be bounded.
    notes : list of str
        Notes on the printed table, such as the parts that were left out.
    counts : list of str
        For columns that count hits, one sentence each: the total, the cutoff and the number of topics.
    unlike : list of str
        The sentences of `counts` that contradict the heading or the qrels.
    differences : Differences or None
        The significance of the differences between rows, if asked for.
    bounds : Bounds or None
        The bounds of measures that rows do not print, if asked for.
    origin : Origin or None
        The command and its files.
    """

    rows: list[RowLimits]
    n_queries: int
    skipped: list[str]
    notes: list[str]
    counts: list[str]
    unlike: list[str]
    differences: Differences | None = None
    bounds: Bounds | None = None
    origin: Origin | None = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        """Whether every row has a convention that is not refuted, be it only for a run that lacks queries."""
        return all(row.ok for row in self.rows)

    @property
    def possible(self) -> list[ConventionLimits]:
        """The conventions that are not refuted."""
        return [limits for row in self.rows for limits in row.with_status(False)]

    @property
    def impossible(self) -> list[ConventionLimits]:
        """The refuted conventions: it is proved that no run has the numbers."""
        return [limits for row in self.rows for limits in row.with_status(True)]

    @property
    def ranges(self) -> dict[str, dict[str, Interval]]:
        """The range of each number given the others, by row and claim, under the first convention.

        The first convention is the default of ir_measures, if it has all measures.
        """
        return {
            row.name: {
                claim_range.claim.name: claim_range.given
                for claim_range in row.conventions[0].ranges
                if claim_range.given
            }
            for row in self.rows
        }

    def __repr__(self) -> str:
        """Show the number of conventions that are not refuted."""
        n = sum(len(row.conventions) for row in self.rows)
        return f"<Possible: {len(self.possible):,} of {pluralize(n, 'convention')} not refuted>"

    def report(self) -> Report:
        """Report what is refuted and why, then what is not; for a single row also the ranges."""
        qrels = f"{Path(self.origin.qrels).name}: " if self.origin and self.origin.qrels else ""
        skipped = [f"No bounds are known for {', '.join(self.skipped)}."] if self.skipped else []
        counts = [text for text in self.counts if text not in self.unlike]
        if len(self.rows) == 1:
            findings, main = _findings(self.rows[0]), _row_sections(self.rows[0])
            counts = [*counts, *_hit_counts(self.rows[0])]
        else:
            findings, main = _findings_of_rows(self.rows), _table_sections(self.rows)
        return Report(
            f"{qrels}{pluralize(len(self.rows), 'row')} without a run",
            [*(f"{text}." for text in self.unlike), *findings, *_read_in_percent(self.rows)],
            [
                *main,
                *(part.section() for part in (self.bounds, self.differences) if part),
                *([Section("Counts", texts=counts)] if counts else []),
                Section("What this says", texts=_assumptions(self)),
            ],
            [*skipped, *self.notes],
            data=partial(_json_content, self),
            rows=partial(_records, self),
            provenance=lambda: how_made([], self.origin, packages=["scipy"]),
        )


# --- findings ----------------------------------------------------------------------------------------


_MOST_NAMED = 6


def _findings(row: RowLimits) -> list[str]:
    """State what the numbers of a row cannot be and why, what they can be, and under which conventions."""
    n_possible, n_unchecked = len(row.with_status(False)), len(row.with_status(None))
    n_all = pluralize(len(row.conventions), "convention")
    lines = [f"{line}." for line in [*_impossible_measures(row)] or _refutations(row)]
    for refuted, status in ((False, "not refuted"), (None, "not checked")):
        names = [_name(limits, row.usual) for limits in row.usual if limits.refuted is refuted]
        lines += [f"{'; '.join(names)}: {status}."] if names else []
    verdict = f"Refuted for {len(row.with_status(True)):,} of {n_all}"
    if n_possible:
        verdict = f"Not refuted for {n_possible:,} of {n_all}"
    if n_lacking := len(row.lacking):
        verdict += f", {'all' if n_lacking == n_possible else f'{n_lacking:,}'} of them {_IF_LACKING}"
    lines.append(f"{verdict}, {n_unchecked:,} not checked." if n_unchecked else f"{verdict}.")
    n_others = len(row.named(True))
    others = f" ({n_others} refuted)" if n_others else ""
    for names, where in ((_names_for_all_runs(row), ""), (_names_if_lacking(row), f", {_IF_LACKING}")):
        if names:
            lines.append(f"Named conventions not refuted{where}{others}: {_join_first(names, _MOST_NAMED)}.")
            others = ""
    return lines


_IF_LACKING = "only if the run lacks queries"


def _names_for_all_runs(row: RowLimits) -> list[str]:
    """Name the conventions that are not refuted for runs with all queries."""
    return [name for limits in row.with_status(False) for name in limits.names if not limits.lacks_queries]


def _names_if_lacking(row: RowLimits) -> list[str]:
    """Name the conventions that are not refuted only for runs that lack queries."""
    return [name for limits in row.lacking for name in limits.names]


def _join_first(names: list[str], maximum: int) -> str:
    """Join the first names, which may contain commas, and count the rest."""
    more = [f"{len(names) - maximum:,} more"] if len(names) > maximum else []
    return "; ".join([*names[:maximum], *more])


def _impossible_measures(row: RowLimits, with_why: bool = True) -> Iterator[str]:
    """State which measures a number cannot be under usual conventions, perhaps why, and which it can be."""
    for j, claim in enumerate(row.claims):
        by_measure: dict[str, list[ConventionLimits]] = {}
        for limits in row.usual:
            by_measure.setdefault(limits.measures[j], []).append(limits)
        never = {name: group for name, group in by_measure.items() if all(each.refuted for each in group)}
        can = [name for name, group in by_measure.items() if any(each.refuted is False for each in group)]
        if can and never:
            but = f"{' or '.join(_half_note(name, never, row) for name in can)} can be"
            why = {_why(group, j) for group in never.values() if with_why} - {""}
            because = f" ({why.pop()})" if len(why) == 1 else ""
            yield f"{claim.name} cannot be {' or '.join(never)}{because}; {but}"


def _half_note(name: str, never: Collection[str], row: RowLimits) -> str:
    """Name a measure, and note if it is half of a refuted one: on binary labels GradedAP is half of AP."""
    is_half = row.is_binary and name.startswith("GradedAP") and name.removeprefix("Graded") in never
    return f"half of it, {name}," if is_half else name


def _why(limits: list[ConventionLimits], j: int) -> str:
    """State the range of a number under refuted conventions; empty unless the number misses all ranges."""
    claim_ranges = [each.ranges[j] for each in limits]
    ranges = [missed for each in claim_ranges if (missed := _violated_range(each)) is not None]
    if len(ranges) < len(claim_ranges):
        return ""
    hull = Interval(min(each.low for each in ranges), max(each.high for each in ranges))
    condition = "given the others it is" if len(limits[0].ranges) > 1 else "it is"
    return f"{condition} {_range_text(claim_ranges[0], hull)}, not {claim_ranges[0].claim.text}"


def _violated_range(claim_range: ClaimRange) -> Interval | None:
    """Return the range that a number misses; None if it lies within, or the range is empty or unknown."""
    given = claim_range.given
    return given if given and not given.is_empty and not claim_range.possible else None


def _findings_of_rows(rows: list[RowLimits]) -> list[str]:
    """Count the rows in which a number cannot be a usual measure; name what no row refutes."""
    n_ok = sum(bool(row.with_status(False)) for row in rows)
    n_open = sum(row.ok for row in rows) - n_ok
    n_by_line = Counter(line for row in rows for line in _impossible_measures(row, with_why=False))
    lines = [f"In {n:,} of {len(rows):,} rows {line}." for line, n in n_by_line.items()]
    verdict = f"{n_ok} of {len(rows)} rows not refuted for some convention"
    n_lacking = sum(0 < len(row.with_status(False)) == len(row.lacking) for row in rows)
    verdict += f", {n_lacking} of them {_IF_LACKING}" if n_lacking else ""
    open_text = f"{verdict}; {n_open} not refuted, as not all conventions were checked."
    lines.append(open_text if n_open else f"{verdict}.")
    everywhere = [name for name in rows[0].named(False) if all(name in row.named(False) for row in rows[1:])]
    lacking = {name for row in rows for name in _names_if_lacking(row)}
    for_all_runs = [name for name in everywhere if name not in lacking]
    if_lacking = [name for name in everywhere if name in lacking]
    for names, where in ((for_all_runs, ""), (if_lacking, f", in some {_IF_LACKING}")):
        if names:
            joined = _join_first(names, _MOST_NAMED)
            lines.append(f"Named conventions not refuted in any row{where}: {joined}.")
    return lines


def _read_in_percent(rows: list[RowLimits]) -> list[str]:
    """Name the numbers that are read as percent without a percent sign."""
    claims = [claim for row in rows for claim in row.claims if claim.percent and not claim.says_percent]
    if not claims:
        return []
    shown = join_names(dict.fromkeys(f"{claim.name} {claim.text}" for claim in claims), _MOST_NAMED)
    return [f"Above 1, so read as percent: {shown}."]


def _refutations(row: RowLimits) -> list[str]:
    """State why usual conventions are refuted; name them unless one reason holds for all."""
    names = grouped((_reason(limits), _name(limits, row.usual)) for limits in row.usual if limits.refuted)
    return [
        reason if len(conventions) == len(row.usual) else f"{reason} (as {' or '.join(conventions)})"
        for reason, conventions in names.items()
    ]


def _name(limits: ConventionLimits, among: list[ConventionLimits]) -> str:
    """Name a convention by the measures in which some others differ, and by unusual labels and queries."""
    columns = zip(*(each.measures for each in among), strict=True)
    differing = [name for name, column in zip(limits.measures, columns, strict=True) if len({*column}) > 1]
    queries = limits.shared[QUERY_SET]
    queries = queries if limits.lacks_queries else where_none_is_lacking(queries)
    settings = {LABELS: limits.shared[LABELS], QUERY_SET: queries}
    unusual = [describe(option, value) for option, value in settings.items() if value != DEFAULT[option]]
    return ", ".join([" · ".join(differing or limits.measures), *unusual])


def _reason(limits: ConventionLimits) -> str:
    """State why a convention is refuted: a number is not a count, or lies outside its range."""
    for claim_range in limits.ranges:
        claim = claim_range.claim
        if not claim_range.is_count:
            return f"{claim.name} {claim.text} is not a multiple of 1/{claim_range.total:,}"
    outside = [(each, missed) for each in limits.ranges if (missed := _violated_range(each)) is not None]
    if not outside:
        return "these numbers are not possible together"
    claim_range, missed = max(outside, key=lambda pair: pair[0].claim.measure in ("AP", "nDCG"))
    claim, condition = claim_range.claim, "given the others it is" if len(limits.ranges) > 1 else "it is"
    return f"{claim.name} cannot be {claim.text}: {condition} {_range_text(claim_range, missed)}"


def _hit_counts(row: RowLimits) -> Iterator[str]:
    """State the count behind each number, if most numbers with its digits are not counts."""
    for claim_range in row.conventions[0].ranges:
        claim, total = claim_range.claim, claim_range.total
        if total is not None and claim_range.counts and total < 10**claim.decimals:
            hits = " or ".join(f"{n:,}" for n in claim_range.counts)
            yield f"{claim.name} {claim.text} is {hits} of {total:,}"


# --- tables ------------------------------------------------------------------------------------------


def _row_sections(row: RowLimits) -> list[Section]:
    """Tabulate the ranges of the numbers under usual conventions, and name others that are not refuted."""
    blocks = [
        [
            [
                Cell(claim_range.claim.name),
                Cell(claim_range.measure),
                Cell(claim_range.claim.text, value=float(claim_range.claim.value)),
                Cell(_range_text(claim_range, given), value=given.low),
            ]
            for claim_range in limits.ranges
            if (given := _informative_range(claim_range)) is not None
        ]
        for limits in row.usual
        if not limits.refuted
    ]
    has_others = len(row.claims) > 1
    headings = ["claim", "measure", "published", "given the others" if has_others else "can be"]
    caption = f"What numbers can be{' if the others are as printed' if has_others else ''}"
    usual = {_name(limits, row.conventions) for limits in row.usual}
    names = (_name(limits, row.conventions) for limits in row.with_status(False) if not limits.lacks_queries)
    others = [name for name in dict.fromkeys(names) if name not in usual]
    also = [f"Also not refuted: {_join_first(others, _NAMED_IN_A_ROW)}."] if others else []
    blocks = [block for block in blocks if block]
    tables = [Table(headings, blocks, 2, caption, label="possible")] if blocks else []
    return [Section(tables=tables, texts=also)] if tables or also else []


_WIDE = 0.9


def _informative_range(claim_range: ClaimRange) -> Interval | None:
    """Return a range that excludes a tenth of the numbers between 0 and 1; None if it does not."""
    given = claim_range.given
    return given if given and not given.is_empty and given.high - given.low <= _WIDE else None


def _table_sections(rows: list[RowLimits]) -> list[Section]:
    """Tabulate what each row cannot be and why, and what it can be."""
    lines: list[dict[str, str | Cell]] = [
        {
            "row": row.name,
            "why not": "; ".join(_refutations(row)) or NONE,
            "can be": _feasible_names(row),
            "not refuted": _count_cell(row),
        }
        for row in rows
    ]
    caption = "Usual conventions that are refuted and not refuted, and how many of all are not refuted"
    return [Section(tables=[Table.by_heading(lines, 3, caption=caption, label="possible")])]


def _count_cell(row: RowLimits) -> Cell:
    """Count the conventions that are not refuted, and those that were not checked."""
    n, left = len(row.with_status(False)), len(row.with_status(None))
    text = f"{n} of {len(row.conventions)}" + (f", {left} not checked" if left else "")
    return Cell(text, value=n)


_NAMED_IN_A_ROW = 3


def _feasible_names(row: RowLimits) -> str:
    """Name the usual and the named conventions that are not refuted; if there are none, name others."""
    usual = [_name(limits, row.usual) for limits in row.usual if limits.refuted is False]
    named = [f"as {_join_first(names, _NAMED_IN_A_ROW)}"] if (names := _names_for_all_runs(row)) else []
    lacking = [_join_first(names, _NAMED_IN_A_ROW)] if (names := _names_if_lacking(row)) else []
    lacking = [f"{_IF_LACKING}, as {names}" for names in lacking]
    others = dict.fromkeys(_name(limits, row.conventions) for limits in row.with_status(False))
    return "; ".join(usual + named + lacking) or _join_first(list(others), _NAMED_IN_A_ROW) or NONE


def _range_text(claim_range: ClaimRange, given: Interval) -> str:
    return f"{_end_text(claim_range, given.low, up=False)} to {_end_text(claim_range, given.high)}"


def _end_text(claim_range: ClaimRange, value: float, up: bool = True) -> str:
    """Print an end of a range with the digits of the claim, rounded outwards."""
    claim, rounding = claim_range.claim, ROUND_CEILING if up else ROUND_FLOOR
    unit = EXACT.scaleb(Decimal(1), -claim.decimals)
    inwards = Decimal(value + (-BOUND if up else BOUND))
    return claim.prints(float(inwards.quantize(unit, rounding, EXACT)) + 0.0)


def _assumptions(result: Possible) -> list[str]:
    """State what is assumed about runs and queries, what is proved, and what was left out."""
    n = result.n_queries
    queries = f"all {n:,} queries" if n > 1 else "the one query"
    if any(row.topics is not None and row.topics < n for row in result.rows):
        queries += ", or any as many as the table says,"
    lines = [
        f"The mean is taken over {queries} of the qrels; a query that the run lacks scores 0, or is left out "
        "under some conventions. A run may rank any documents, and return as few as it likes.",
        "Refuted means proved: no run has these numbers. A convention that is not refuted may be possible or "
        "not.",
    ]
    if any(row.lacking for row in result.rows):
        lines.append(
            "A convention that is not refuted only if the run lacks queries is refuted for every run with "
            "results for all queries."
        )
    if any(row.with_status(None) for row in result.rows):
        lines.append("Not checked: there are too many rankings or numbers to search in some seconds.")
    if n_skipped := max(row.n_skipped for row in result.rows):
        lines.append(
            f"Left out, without bounds: {pluralize(n_skipped, 'further convention')}; JSON says why."
        )
    if names := dict.fromkeys(name for row in result.rows for name in row.skipped):
        lines.append(f"Named conventions left out: {_join_first(list(names), _MOST_NAMED)}.")
    return lines


# --- records and JSON --------------------------------------------------------------------------------


def _claim_records(rows: list[RowLimits]) -> Iterator[dict[str, Any]]:
    """Yield a record for each claim under each convention."""
    for row in rows:
        for number, limits in enumerate(row.conventions, start=1):
            for claim_range in limits.ranges:
                given = claim_range.given
                low, high = given if given and not given.is_empty else (None, None)
                low = 0.0 if low is not None and -BOUND < low < 0 else low
                yield {
                    "row": row.name,
                    "convention": number,
                    "claim": claim_range.claim.name,
                    "published": claim_range.claim.text,
                    "measure": claim_range.measure,
                    "labels": limits.shared[LABELS],
                    "queries": limits.shared[QUERY_SET],
                    "usual": limits.usual,
                    "low": low,
                    "high": high,
                    "convention_possible": None if limits.refuted is None else not limits.refuted,
                    "lacks_queries": limits.lacks_queries,
                }


def _records(result: Possible) -> Iterator[dict[str, Any]]:
    """Yield the rows of CSV and frames: bounds or pairs of rows if they were asked for, otherwise claims."""
    if result.bounds and result.differences:
        problem = "bounds and differences are two tables, and CSV, TSV, JSONL and frames have one"
        raise InputError(problem, hint="Ask for one of them, or write JSON, which has both")
    asked = result.bounds or result.differences
    return asked.records() if asked else _claim_records(result.rows)


_STATUS = {"not_refuted": False, "refuted": True, "not_checked": None}


def _json_content(result: Possible) -> dict[str, Any]:
    """Build the JSON object."""
    origin = provenance([], result.origin, packages=["scipy"])
    assumptions = [result.differences.assumed()] if result.differences else []
    assumptions += result.bounds.assumed() if result.bounds else []
    return {
        "ok": result.ok,
        "n_queries": result.n_queries,
        "skipped": result.skipped,
        "notes": result.notes,
        "counts": result.counts,
        "rows": [
            {
                "row": row.name,
                "ok": row.ok,
                "n_left_out": row.n_skipped,
                "not_known": row.not_known,
                "named": {status: row.named(refuted) for status, refuted in _STATUS.items()},
                "named_only_if_the_run_lacks_queries": _names_if_lacking(row),
                "named_left_out": row.skipped,
            }
            for row in result.rows
        ],
        "claims": [*_claim_records(result.rows)],
        **({"differences": [*result.differences.records()]} if result.differences else {}),
        **_bounds_content(result.bounds),
        "provenance": {**origin, "conventions": [*_assumptions(result), *assumptions, *result.notes]},
    }


def _bounds_content(bounds: Bounds | None) -> dict[str, Any]:
    """Build the JSON entries of the bounds, and of the order of each pair of rows."""
    if bounds is None:
        return {}
    orders = [order._asdict() for order in bounds.orders()]
    return {"bounds": [*bounds.records()], "depth": bounds.depth, "orders": orders}
