"""Which conventions are refuted without any run, and what is said of it."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from permed_measures.conventions.options import DEFAULT, Options, describe
from permed_measures.files.provenance import Origin, provenance
from permed_measures.limits.bounds import Interval
from permed_measures.limits.rows import ClaimRange, ConventionLimits, RowLimits
from permed_measures.markup import counted
from permed_measures.papers.whole_numbers import wholes_in
from permed_measures.results.findings import grouped
from permed_measures.results.how import how_made
from permed_measures.results.report import Report, Result, Section
from permed_measures.results.table import NONE, Cell, Table


@dataclass(frozen=True)
class Possible(Result):
    """Which conventions of published rows the qrels refute; ``print`` shows it.

    ``to_polars`` and ``to_pandas`` give a row for each claim of each convention: ``row``, ``convention`` (its
    number in the row, from 1), ``claim``, ``published``, ``measure``, ``labels`` and ``queries`` (of the
    convention), ``ceiling``, ``low`` and ``high`` (the range given the others, of the usual conventions; null
    if these are not possible together), and ``convention_possible`` (null if not checked).

    Attributes
    ----------
    rows : list of RowLimits
    n_queries : int
        How many queries the means are taken over.
    n_judged : int
        How many queries the qrels have.
    skipped : list of str
        The claims that cannot be bounded.
    notes : list of str
        What was left out of a printed table.
    origin : Origin or None
        The command and its files.
    """

    rows: list[RowLimits]
    n_queries: int
    n_judged: int
    skipped: list[str]
    notes: list[str]
    origin: Origin | None = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        """Whether for every row some convention is not refuted."""
        return all(row.ok for row in self.rows)

    @property
    def possible(self) -> list[ConventionLimits]:
        """The conventions that are not refuted: the bounds let a run have the numbers of its row."""
        return [each for row in self.rows for each in row.possible]

    @property
    def impossible(self) -> list[ConventionLimits]:
        """The conventions by which no run can have them, which is proved."""
        return [each for row in self.rows for each in row.impossible]

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
        return f"<Possible: {len(self.possible):,} of {counted(n, 'convention')} not refuted>"

    def report(self, every: bool = False) -> Report:
        """Return what is refuted and why, with every convention in a line if asked for."""
        qrels = f"{Path(self.origin.qrels).name}: " if self.origin and self.origin.qrels else ""
        skipped = [f"No bounds are known for {', '.join(self.skipped)}."] if self.skipped else []
        return Report(
            f"{qrels}{counted(len(self.rows), 'row')} without a run",
            _finding(self.rows),
            [*_tables(self.rows, every), *_below(self)],
            [*skipped, *self.notes],
            data=partial(_content, self),
            rows=partial(_lines, self.rows),
            how=lambda: {
                **how_made([], self.origin, packages=["scipy"]),
                "conventions": _assumed(self),
            },
        )


# --- findings ----------------------------------------------------------------------------------------


def _finding(rows: list[RowLimits]) -> list[str]:
    """Say for how many rows, or by how many conventions of the only one, the numbers are not refuted."""
    if len(rows) > 1:
        n = sum(row.ok for row in rows)
        return [f"{n} of {counted(len(rows), 'row')} not refuted for some convention."]
    lines = [f"{_verdict(rows[0])}.", *(f"{line}." for line in _usual(rows[0]))]
    return [line[0].upper() + line[1:] if line.startswith(("not ", "refuted ")) else line for line in lines]


def _verdict(row: RowLimits) -> str:
    n, of, left = len(row.possible), counted(len(row.conventions), "convention"), len(row.not_checked)
    verdict = f"not refuted for {n:,} of {of}" if n else f"refuted for {len(row.impossible):,} of {of}"
    return f"{verdict}, {left:,} not checked" if left else verdict


def _usual(row: RowLimits, only_refuted: bool = False) -> list[str]:
    """Say which of the usual conventions are refuted, and why, and which are not."""
    refuted, others = [], []
    for each in (each for each in row.conventions if each.usual):
        named = " · ".join(_telling(each, row))
        if each.refuted:
            refuted.append(f"not {named}: {_reason(each)}")
        else:
            others.append(f"{named}: {'not checked' if each.refuted is None else 'not refuted'}")
    return refuted if only_refuted else [*refuted, *others]


def _is_refuted(limits: ConventionLimits) -> str:
    if limits.refuted is None:
        return "not checked"
    if limits.refuted:
        return "yes"
    return "no" if limits.rounded else "unless cut off"


def _telling(limits: ConventionLimits, row: RowLimits) -> list[str]:
    """Return the measures that not all conventions share."""
    return [
        name
        for place, name in enumerate(limits.measures)
        if any(each.measures[place] != name for each in row.conventions)
    ] or limits.measures


def _reason(limits: ConventionLimits) -> str:
    """Say why a convention is refuted: a number that is no count, that no run has, or not with the others."""
    for told in limits.ranges:
        if told.counts is not None and not told.is_count:
            return f"{told.claim.name} {told.claim.text} is no whole number of {told.counts.total:,}"
    for told in limits.ranges:
        if told.alone is not None and not told.alone.meets(told.interval):
            return f"{told.claim.name} is {_shown(told, told.alone)} in any run, not {told.claim.text}"
    apart = (each for each in limits.ranges if each.given and not each.given.is_empty and not each.possible)
    told_last = max(apart, key=lambda each: each.claim.measure in ("AP", "nDCG"), default=None)
    if told_last is None or told_last.given is None:
        return "these numbers are not possible together"
    claim, given = told_last.claim, _shown(told_last, told_last.given)
    return f"given the others, {claim.name} is {given}, not {claim.text}"


# --- tables ------------------------------------------------------------------------------------------

_CAPTION = "What each number can be if the others are as printed"


def _tables(rows: list[RowLimits], every: bool) -> Iterator[Section]:
    """Yield a table of the measures of the only row, of the usual conventions of several, or of each row."""
    if every:
        for row in rows:
            heading, texts = (f"{row.name}: {_verdict(row)}", _usual(row)) if len(rows) > 1 else ("", [])
            yield Section(heading, tables=[_by_convention([row], only_usual=False)], texts=texts)
    elif len(rows) > 1:
        yield Section(tables=[_by_convention(rows, only_usual=True)])
        refuted = [f"{row.name}: {line}" for row in rows for line in _usual(row, only_refuted=True)]
        yield from [Section("Why", texts=refuted)] if refuted else []
    else:
        yield _by_measure(rows[0])


def _by_measure(row: RowLimits) -> Section:
    """Return a line for each usual measure that a claim may be, and which others are not refuted."""
    cells, also = [], []
    plain = [limits for limits in row.conventions if not _setting(limits.convention)]
    for place, claim in enumerate(row.claims):
        others = []
        for measure, those in grouped((limits.measures[place], limits) for limits in plain).items():
            n, usual = sum(each.possible for each in those), [each for each in those if each.usual]
            if usual:
                first = next((each for each in usual if each.possible), usual[0])
                ends = _ends(first.ranges[place])
                cells.append([claim.name, measure, claim.text, *ends, f"{n} of {len(those)}"])
            elif n:
                others.append(measure)
        also += [f"Not refuted for {claim.name} either: {', '.join(others)}"] if others else []
    headings = ["claim", "measure", "published", "at most", "given the others", "not refuted"]
    table = Table.of(headings, cells, 2, caption=_CAPTION, spare=["at most"], label="possible")
    return Section(tables=[table], texts=[*also, *_otherwise(row)])


def _ends(told: ClaimRange) -> list[str]:
    """Print the ceiling and the range, if they are known."""
    return [NONE, NONE] if told.alone is None else [_end(told, told.alone.high), _shown(told, told.given)]


def _by_convention(rows: list[RowLimits], only_usual: bool) -> Table:
    """Return a line for each convention: what each number can be given the others."""
    names = list(dict.fromkeys(claim.name for row in rows for claim in row.claims))
    blocks = []
    for row in rows:
        cells = []
        for limits in (each for each in row.conventions if each.usual or not only_usual):
            of_claim = {each.claim.name: _shown(each, each.given) for each in limits.ranges}
            label = ", ".join([" · ".join(_telling(limits, row)), *_setting(limits.convention)])
            texts = [label, *(of_claim.get(name, "") for name in names), _is_refuted(limits)]
            cells.append([Cell(text) for text in ([row.name, *texts] if len(rows) > 1 else texts)])
        blocks.append(cells)
    labels = ["row", "convention"] if len(rows) > 1 else ["convention"]
    return Table([*labels, *names, "refuted"], blocks, len(labels), _CAPTION, label="possible")


def _setting(convention: Options) -> list[str]:
    """Describe the labels and the queries, where they are not as they are in the qrels."""
    return [
        describe(option, convention[option])
        for option in ("labels", "queries")
        if convention[option] != DEFAULT[option]
    ]


def _otherwise(row: RowLimits) -> list[str]:
    """Say what is not refuted with other labels or of other queries, which the table leaves out."""
    found = grouped((", ".join(_setting(each.convention)), each) for each in row.conventions)
    return [
        f"{how}: not refuted for {sum(each.possible for each in those)} of {len(those)}"
        for how, those in found.items()
        if how
    ]


def _shown(told: ClaimRange, interval: Interval | None) -> str:
    if interval is None:
        return NONE
    if interval.is_empty:
        return "none"
    return f"{_end(told, interval.low, up=False)} to {_end(told, interval.high)}"


_NOISE = 1e-9


def _end(told: ClaimRange, value: float, up: bool = True) -> str:
    """Print the end of a range with the digits of the claim, rounded away from the middle."""
    claim = told.claim
    unit, rounding = Decimal(1).scaleb(-claim.decimals), ROUND_CEILING if up else ROUND_FLOOR
    inwards = Decimal(value + (-_NOISE if up else _NOISE))
    return claim.prints(float(inwards.quantize(unit, rounding, Context(prec=60))) + 0.0)


# --- below the tables --------------------------------------------------------------------------------


def _below(result: Possible) -> Iterator[Section]:
    """Yield what stands below the tables: counts, what is assumed."""
    wholes = list(wholes_in((row.claims for row in result.rows), result.n_queries))
    told, several = {whole.name for whole in wholes}, len(result.rows) > 1
    counts = [line for row in result.rows for line in _counted_hits(row, several, told)]
    if counts or wholes:
        yield Section("Counts", texts=[*map(str, wholes), *dict.fromkeys(counts)])
    yield Section("What this says", texts=_assumed(result))


def _counted_hits(row: RowLimits, named: bool, told: Container[str]) -> Iterator[str]:
    """Say which count each number is, where most that can be printed are none and its column is not told."""
    for place, claim in enumerate(row.claims):
        counts = row.conventions[0].ranges[place].counts
        if claim.name in told or counts is None or counts.total >= 10**claim.decimals:
            continue
        start = f"{row.name}, {claim.name}" if named else claim.name
        total, found = counts.total, counts.rounded
        share = f"of the numbers that can be printed, {100 * total / 10**claim.decimals:.2g} % are counts"
        if found:
            between = f"{found[0]:,}" if len(found) == 1 else f"{found[0]:,} to {found[-1]:,}"
            yield f"{start} {claim.text} is {between} of {total:,}; {share}"
        else:
            below = int(Fraction(claim.value) * total)
            near = " and ".join(f"{n:,} is {claim.prints(n / total)}" for n in (below, below + 1))
            count = "rounded count" if counts.anyhow else "count"
            yield f"{start} {claim.text} is no {count} of {total:,}: {near}; {share}"


def _assumed(result: Possible) -> list[str]:
    n, of = result.n_queries, result.n_judged
    over = f"all {n:,} queries of the qrels" if n == of else f"{n:,} of their {of:,} queries"
    lines = [
        f"The mean is taken over {over}; one that the run lacks scores 0. A run may rank any documents, and "
        "return as few as it likes.",
        "What is refuted is proved: no run has these numbers. What is not refuted may be possible, or not.",
    ]
    if any(row.not_checked for row in result.rows):
        lines.append("What was not checked has more lists than can be looked at in some seconds.")
    if n_skipped := max(row.n_skipped for row in result.rows):
        values = dict.fromkeys(text for row in result.rows for text in row.not_known)
        among = f", among them: {'; '.join(values)}" if values else ""
        lines.append(f"Left out, without bounds: {counted(n_skipped, 'further convention')}{among}.")
    return lines


# --- other programs ----------------------------------------------------------------------------------


def _lines(rows: list[RowLimits]) -> Iterator[dict[str, Any]]:
    """Yield the numbers of each claim by each convention."""
    for row in rows:
        for number, limits in enumerate(row.conventions, start=1):
            for each in limits.ranges:
                low, high = each.given if each.given and not each.given.is_empty else (None, None)
                yield {
                    "row": row.name,
                    "convention": number,
                    "claim": each.claim.name,
                    "published": each.claim.text,
                    "measure": each.measure,
                    "labels": limits.convention["labels"],
                    "queries": limits.convention["queries"],
                    "ceiling": each.alone and each.alone.high,
                    "low": low,
                    "high": high,
                    "convention_possible": _not_refuted(limits),
                }


def _not_refuted(limits: ConventionLimits) -> bool | None:
    return None if limits.refuted is None else not limits.refuted


def _content(result: Possible) -> dict[str, Any]:
    """Return what the JSON holds."""
    origin = provenance([], result.origin, packages=["scipy"])
    return {
        "ok": result.ok,
        "n_queries": result.n_queries,
        "skipped": result.skipped,
        "notes": result.notes,
        "rows": [
            {
                "row": row.name,
                "ok": row.ok,
                "n_possible": len(row.possible),
                "n_conventions": len(row.conventions),
                "n_not_checked": len(row.not_checked),
                "n_left_out": row.n_skipped,
                "not_known": row.not_known,
                "conventions": [_convention_json(each) for each in row.conventions],
            }
            for row in result.rows
        ],
        "provenance": {**origin, "conventions": [*_assumed(result), *result.notes]},
    }


def _convention_json(limits: ConventionLimits) -> dict[str, Any]:
    return {
        "possible": _not_refuted(limits),
        "only_if_cut_off": limits.possible and not limits.rounded,
        "usual": limits.usual,
        "claims": [_claim_json(each) for each in limits.ranges],
        "convention": dict(limits.convention),
        "n_alike": len(limits.alike),
    }


def _claim_json(told: ClaimRange) -> dict[str, Any]:
    counts = told.counts
    rounded = None if counts is None or not counts.rounded else [counts.rounded[0], counts.rounded[-1]]
    return {
        "claim": told.claim.name,
        "published": told.claim.text,
        "measure": told.measure,
        "alone": told.alone and list(told.alone),
        "given_the_others": list(told.given) if told.given and not told.given.is_empty else None,
        "counts": None if counts is None else {"of": counts.total, "rounded": rounded},
    }
