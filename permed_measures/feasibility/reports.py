"""Which conventions are refuted without any run, and what is said of it."""

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
from permed_measures.escaping import grouped, join_names, pluralize
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


@dataclass(frozen=True)
class Possible(Result):
    """Which conventions of published rows the qrels refute; ``print`` shows it.

    ``to_polars`` and ``to_pandas`` give a row for each claim of each convention: ``row``, ``convention`` (its
    number in the row, from 1), ``claim``, ``published``, ``measure``, ``labels`` and ``queries`` (of the
    convention), ``usual`` (whether it computes every measure as it nearly always is), ``low`` and ``high``
    (the range given the others, of the usual conventions; null if these are not possible together),
    ``convention_possible`` (null if not checked), and ``lacks_queries`` (whether only a run that lacks
    queries may have the numbers). With differences they give a row for each pair of rows instead:
    ``measure``, ``row``, ``other``, ``difference``, ``verdict``, ``p_at_most`` and ``why``. With bounds they
    give a row for each row and measure: ``row``, ``measure``, ``low``, ``high`` and ``why``.

    Attributes
    ----------
    rows : list of RowLimits
    n_queries : int
        How many queries the means are taken over: those of the qrels.
    skipped : list of str
        The claims that cannot be bounded.
    notes : list of str
        What was left out of a printed table.
    counts : list of str
        Of what columns of hits are whole numbers: of which cutoff, over how many topics.
    unlike : list of str
        Those of `counts` that are not as the heading and the qrels say.
    differences : Differences or None
        The pairs of rows, if asked: whether their difference is significant.
    bounds : Bounds or None
        Between which numbers measures lie that rows do not print, if asked.
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
        """Whether for every row some convention is not refuted, be it only for a run that lacks queries."""
        return all(row.ok for row in self.rows)

    @property
    def possible(self) -> list[ConventionLimits]:
        """The conventions that are not refuted: the bounds let a run have the numbers of its row."""
        return [each for row in self.rows for each in row.said(False)]

    @property
    def impossible(self) -> list[ConventionLimits]:
        """The conventions by which no run can have them, which is proved."""
        return [each for row in self.rows for each in row.said(True)]

    @property
    def ranges(self) -> dict[str, dict[str, Interval]]:
        """By row and claim, what the number can be given the others, by the first convention.

        That is ir_measures' default, where it has all measures.
        """
        return {
            row.name: {each.claim.name: each.given for each in row.conventions[0].ranges if each.given}
            for row in self.rows
        }

    def __repr__(self) -> str:
        """Say how many conventions are not refuted."""
        n = sum(len(row.conventions) for row in self.rows)
        return f"<Possible: {len(self.possible):,} of {pluralize(n, 'convention')} not refuted>"

    def report(self) -> Report:
        """Return what is refuted and why, then what is not; of one row the ranges by usual conventions."""
        qrels = f"{Path(self.origin.qrels).name}: " if self.origin and self.origin.qrels else ""
        skipped = [f"No bounds are known for {', '.join(self.skipped)}."] if self.skipped else []
        counts = [each for each in self.counts if each not in self.unlike]
        if len(self.rows) == 1:
            finding, main = _finding(self.rows[0]), _of_row(self.rows[0])
            counts = [*counts, *_hits(self.rows[0])]
        else:
            finding, main = _finding_of_rows(self.rows), _of_rows(self.rows)
        return Report(
            f"{qrels}{pluralize(len(self.rows), 'row')} without a run",
            [*(f"{each}." for each in self.unlike), *finding, *_read_in_percent(self.rows)],
            [
                *main,
                *(each.section() for each in (self.bounds, self.differences) if each),
                *([Section("Counts", texts=counts)] if counts else []),
                Section("What this says", texts=_assumed(self)),
            ],
            [*skipped, *self.notes],
            data=partial(_content, self),
            rows=partial(_records, self),
            how=lambda: how_made([], self.origin, packages=["scipy"]),
        )


# --- what is said of a row ---------------------------------------------------------------------------


_MOST_NAMED = 6


def _finding(row: RowLimits) -> list[str]:
    """Say what the numbers cannot be and why, what they can be, and by which conventions with a name."""
    n, of, left = len(row.said(False)), pluralize(len(row.conventions), "convention"), len(row.said(None))
    lines = [f"{line}." for line in [*_cannot(row)] or _refuted(row)]
    for refuted, said in ((False, "not refuted"), (None, "not checked")):
        those = [_name(each, row.usual) for each in row.usual if each.refuted is refuted]
        lines += [f"{'; '.join(those)}: {said}."] if those else []
    verdict = f"Not refuted for {n:,} of {of}" if n else f"Refuted for {len(row.said(True)):,} of {of}"
    if n_lacking := len(row.lacking):
        verdict += f", {'all' if n_lacking == n else f'{n_lacking:,}'} of them {_IF_LACKING}"
    lines.append(f"{verdict}, {left:,} not checked." if left else f"{verdict}.")
    n_others = len(row.named(True))
    others = f" ({n_others} refuted)" if n_others else ""
    for names, where in ((_named_anyhow(row), ""), (_named_if_lacking(row), f", {_IF_LACKING}")):
        if names:
            lines.append(f"Not refuted with a name{where}{others}: {_some(names, _MOST_NAMED)}.")
            others = ""
    return lines


_IF_LACKING = "only if the run lacks queries"


def _named_anyhow(row: RowLimits) -> list[str]:
    """Return the names of conventions by which a run with all queries is not refuted."""
    return [name for each in row.said(False) for name in each.names if not each.lacks_queries]


def _named_if_lacking(row: RowLimits) -> list[str]:
    """Return the names of conventions by which only a run that lacks queries is not refuted."""
    return [name for each in row.lacking for name in each.names]


def _some(names: list[str], most: int) -> str:
    """Return the first names, which may have commas, and how many more there are."""
    more = [f"{len(names) - most:,} more"] if len(names) > most else []
    return "; ".join([*names[:most], *more])


def _cannot(row: RowLimits, with_why: bool = True) -> Iterator[str]:
    """Say what a number cannot be, however the others are usually computed, perhaps why, and what can be."""
    for j, claim in enumerate(row.claims):
        found: dict[str, list[ConventionLimits]] = {}
        for each in row.usual:
            found.setdefault(each.measures[j], []).append(each)
        never = {name: those for name, those in found.items() if all(each.refuted for each in those)}
        can = [name for name, those in found.items() if any(each.refuted is False for each in those)]
        if can and never:
            but = f"{' or '.join(_as_half(name, never, row) for name in can)} can be"
            why = {_why(those, j) for those in never.values() if with_why} - {""}
            because = f" ({why.pop()})" if len(why) == 1 else ""
            yield f"{claim.name} cannot be {' or '.join(never)}{because}; {but}"


def _as_half(name: str, never: Collection[str], row: RowLimits) -> str:
    """Name a measure; GradedAP of labels without grades is half of AP."""
    is_half = row.is_binary and name.startswith("GradedAP") and name.removeprefix("Graded") in never
    return f"half of it, {name}," if is_half else name


def _why(limits: list[ConventionLimits], j: int) -> str:
    """Say between which numbers one is by refuted conventions, where it is not among them by any."""
    told = [each.ranges[j] for each in limits]
    ranges = [missed for each in told if (missed := _missed(each)) is not None]
    if len(ranges) < len(told):
        return ""
    hull = Interval(min(each.low for each in ranges), max(each.high for each in ranges))
    given = "given the others it is" if len(limits[0].ranges) > 1 else "it is"
    return f"{given} {_shown(told[0], hull)}, not {told[0].claim.text}"


def _missed(told: ClaimRange) -> Interval | None:
    """Return the range that a number misses; None if it does not, or if there is none."""
    return told.given if told.given and not told.given.is_empty and not told.possible else None


def _finding_of_rows(rows: list[RowLimits]) -> list[str]:
    """Say in how many rows a number cannot be what it is usually, and what all rows can be."""
    n_ok = sum(bool(row.said(False)) for row in rows)
    n_open = sum(row.ok for row in rows) - n_ok
    said = Counter(line for row in rows for line in _cannot(row, with_why=False))
    lines = [f"In {n:,} of {len(rows):,} rows {line}." for line, n in said.items()]
    verdict = f"{n_ok} of {len(rows)} rows not refuted for some convention"
    n_lacking = sum(bool(row.said(False)) and len(row.said(False)) == len(row.lacking) for row in rows)
    verdict += f", {n_lacking} of them {_IF_LACKING}" if n_lacking else ""
    lines.append(f"{verdict}; {n_open} not refuted, as not all was checked." if n_open else f"{verdict}.")
    everywhere = [name for name in rows[0].named(False) if all(name in row.named(False) for row in rows[1:])]
    lacking = {name for row in rows for name in _named_if_lacking(row)}
    anyhow = [name for name in everywhere if name not in lacking]
    some = [name for name in everywhere if name in lacking]
    for names, where in ((anyhow, ""), (some, f", in some {_IF_LACKING}")):
        if names:
            lines.append(f"Not refuted with a name, in any row{where}: {_some(names, _MOST_NAMED)}.")
    return lines


def _read_in_percent(rows: list[RowLimits]) -> list[str]:
    """Say which numbers are read as percent though they do not say so."""
    claims = [each for row in rows for each in row.claims if each.percent and not each.says_percent]
    if not claims:
        return []
    shown = join_names(dict.fromkeys(f"{each.name} {each.text}" for each in claims), _MOST_NAMED)
    return [f"Read as percent, being above 1: {shown}."]


def _refuted(row: RowLimits) -> list[str]:
    """Say why usual conventions are refuted, and which, unless one reason is that of all."""
    names = grouped((_reason(each), _name(each, row.usual)) for each in row.usual if each.refuted)
    return [
        reason if len(those) == len(row.usual) else f"{reason} (as {' or '.join(those)})"
        for reason, those in names.items()
    ]


def _name(limits: ConventionLimits, among: list[ConventionLimits]) -> str:
    """Name a convention by the measures that not all of some share, and what else is unusual."""
    columns = zip(*(each.measures for each in among), strict=True)
    telling = [name for name, column in zip(limits.measures, columns, strict=True) if len({*column}) > 1]
    queries = limits.shared[QUERY_SET]  # where the run lacks none, if that is possible
    queries = queries if limits.lacks_queries else where_none_is_lacking(queries)
    settings = {LABELS: limits.shared[LABELS], QUERY_SET: queries}
    unusual = [describe(*each) for each in settings.items() if each[1] != DEFAULT[each[0]]]
    return ", ".join([" · ".join(telling or limits.measures), *unusual])


def _reason(limits: ConventionLimits) -> str:
    """Say why a convention is refuted: a number that is no count, or not what it can be given the others."""
    for each in limits.ranges:
        if not each.is_count:
            return f"{each.claim.name} {each.claim.text} is not a multiple of 1/{each.total:,}"
    apart = [(each, missed) for each in limits.ranges if (missed := _missed(each)) is not None]
    if not apart:
        return "these numbers are not possible together"
    told, missed = max(apart, key=lambda each: each[0].claim.measure in ("AP", "nDCG"))
    given = "given the others it is" if len(limits.ranges) > 1 else "it is"
    return f"{told.claim.name} cannot be {told.claim.text}: {given} {_shown(told, missed)}"


def _hits(row: RowLimits) -> Iterator[str]:
    """Say which count each number is, where most that can be printed are none."""
    for each in row.conventions[0].ranges:
        if each.total is not None and each.counts and each.total < 10**each.claim.decimals:
            hits = " or ".join(f"{n:,}" for n in each.counts)
            yield f"{each.claim.name} {each.claim.text} is {hits} of {each.total:,}"


# --- tables ------------------------------------------------------------------------------------------


def _of_row(row: RowLimits) -> list[Section]:
    """Return what numbers can be by the usual conventions that are not refuted, and which others are not."""
    blocks = [
        [
            [
                Cell(each.claim.name),
                Cell(each.measure),
                Cell(each.claim.text, value=float(each.claim.value)),
                Cell(_shown(each, given), value=given.low),
            ]
            for each in limits.ranges
            if (given := _telling(each)) is not None
        ]
        for limits in row.usual
        if not limits.refuted
    ]
    has_others = len(row.claims) > 1
    headings = ["claim", "measure", "published", "given the others" if has_others else "can be"]
    caption = f"What numbers can be{' if the others are as printed' if has_others else ''}"
    usual = {_name(each, row.conventions) for each in row.usual}
    names = (_name(each, row.conventions) for each in row.said(False) if not each.lacks_queries)
    others = [name for name in dict.fromkeys(names) if name not in usual]
    also = [f"Not refuted either: {_some(others, _NAMED_IN_A_ROW)}."] if others else []
    blocks = [block for block in blocks if block]
    tables = [Table(headings, blocks, 2, caption, label="possible")] if blocks else []
    return [Section(tables=tables, texts=also)] if tables or also else []


_WIDE = 0.9


def _telling(told: ClaimRange) -> Interval | None:
    """Return a range that leaves out a tenth of all numbers between 0 and 1; None if it does not."""
    given = told.given
    return given if given and not given.is_empty and given.high - given.low <= _WIDE else None


def _of_rows(rows: list[RowLimits]) -> list[Section]:
    """Return a line for each row: what it cannot be and why, and what it can be."""
    lines: list[list[str | Cell]] = [
        [
            row.name,
            "; ".join(_refuted(row)) or NONE,
            _survivors(row),
            _n_left(row),
        ]
        for row in rows
    ]
    caption = "What the usual conventions cannot be, what they can be, and how many of all conventions can"
    headings = ["row", "why not", "can be", "not refuted"]
    return [Section(tables=[Table.of(headings, lines, 3, caption=caption, label="possible")])]


def _n_left(row: RowLimits) -> Cell:
    """Say how many conventions are not refuted, and how many were not checked."""
    n, left = len(row.said(False)), len(row.said(None))
    text = f"{n} of {len(row.conventions)}" + (f", {left} not checked" if left else "")
    return Cell(text, value=n)


_NAMED_IN_A_ROW = 3


def _survivors(row: RowLimits) -> str:
    """Name the usual conventions that are not refuted, and those with a name; if there are none, others."""
    usual = [_name(each, row.usual) for each in row.usual if each.refuted is False]
    named = [f"as {_some(names, _NAMED_IN_A_ROW)}"] if (names := _named_anyhow(row)) else []
    lacking = (
        [f"{_IF_LACKING}, as {_some(names, _NAMED_IN_A_ROW)}"] if (names := _named_if_lacking(row)) else []
    )
    others = dict.fromkeys(_name(each, row.conventions) for each in row.said(False))
    return "; ".join(usual + named + lacking) or _some(list(others), _NAMED_IN_A_ROW) or NONE


def _shown(told: ClaimRange, given: Interval) -> str:
    return f"{_end(told, given.low, up=False)} to {_end(told, given.high)}"


def _end(told: ClaimRange, value: float, up: bool = True) -> str:
    """Print the end of a range with the digits of the claim, rounded away from the middle."""
    unit, rounding = EXACT.scaleb(Decimal(1), -told.claim.decimals), ROUND_CEILING if up else ROUND_FLOOR
    inwards = Decimal(value + (-BOUND if up else BOUND))
    return told.claim.prints(float(inwards.quantize(unit, rounding, EXACT)) + 0.0)


def _assumed(result: Possible) -> list[str]:
    n = result.n_queries
    queries = f"all {n:,} queries" if n > 1 else "the one query"
    if any(row.topics is not None and row.topics < n for row in result.rows):
        queries += ", or any as many as the table says,"
    lines = [
        f"The mean is taken over {queries} of the qrels; one that the run lacks scores 0, or by some "
        "conventions is left out. A run may rank any documents, and return as few as it likes.",
        "What is refuted is proved: no run has these numbers. What is not refuted may be possible, or not.",
    ]
    if any(row.lacking for row in result.rows):
        lines.append(
            "What is not refuted only if the run lacks queries is refuted for every run with results for all."
        )
    if any(row.said(None) for row in result.rows):
        lines.append("What was not checked has more lists than can be looked at in some seconds.")
    if n_skipped := max(row.n_skipped for row in result.rows):
        lines.append(
            f"Left out, without bounds: {pluralize(n_skipped, 'further convention')}; JSON says why."
        )
    if names := dict.fromkeys(name for row in result.rows for name in row.skipped):
        lines.append(f"Left out with a name: {_some(list(names), _MOST_NAMED)}.")
    return lines


# --- other programs ----------------------------------------------------------------------------------


def _lines(rows: list[RowLimits]) -> Iterator[dict[str, Any]]:
    """Yield the numbers of each claim by each convention."""
    for row in rows:
        for number, limits in enumerate(row.conventions, start=1):
            for each in limits.ranges:
                low, high = each.given if each.given and not each.given.is_empty else (None, None)
                low = 0.0 if low is not None and -BOUND < low < 0 else low
                yield {
                    "row": row.name,
                    "convention": number,
                    "claim": each.claim.name,
                    "published": each.claim.text,
                    "measure": each.measure,
                    "labels": limits.shared[LABELS],
                    "queries": limits.shared[QUERY_SET],
                    "usual": limits.usual,
                    "low": low,
                    "high": high,
                    "convention_possible": None if limits.refuted is None else not limits.refuted,
                    "lacks_queries": limits.lacks_queries,
                }


def _records(result: Possible) -> Iterator[dict[str, Any]]:
    """Return the rows of CSV and frames: bounds or pairs of rows, if asked, otherwise claims."""
    if result.bounds and result.differences:
        problem = "bounds and differences are two tables, and CSV, TSV, JSONL and frames have one"
        raise InputError(problem, hint="Ask for one of them, or write JSON, which has both")
    asked = result.bounds or result.differences
    return asked.records() if asked else _lines(result.rows)


_SAID = {"not_refuted": False, "refuted": True, "not_checked": None}


def _content(result: Possible) -> dict[str, Any]:
    """Return what the JSON holds."""
    origin = provenance([], result.origin, packages=["scipy"])
    assumed = [result.differences.assumed()] if result.differences else []
    assumed += result.bounds.assumed() if result.bounds else []
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
                "named": {said: row.named(refuted) for said, refuted in _SAID.items()},
                "named_only_if_the_run_lacks_queries": _named_if_lacking(row),
                "named_left_out": row.skipped,
            }
            for row in result.rows
        ],
        "claims": [*_lines(result.rows)],
        **({"differences": [*result.differences.records()]} if result.differences else {}),
        **_of_bounds(result.bounds),
        "provenance": {**origin, "conventions": [*_assumed(result), *assumed, *result.notes]},
    }


def _of_bounds(bounds: Bounds | None) -> dict[str, Any]:
    """Return the bounds and the order of each pair of rows."""
    if bounds is None:
        return {}
    orders = [order._asdict() for order in bounds.orders()]
    return {"bounds": [*bounds.records()], "depth": bounds.depth, "orders": orders}
