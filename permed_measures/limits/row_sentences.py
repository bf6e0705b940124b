"""What is said of a published row: which conventions are refuted and why, what each number can be."""

from __future__ import annotations

from collections.abc import Container, Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from permed_measures.conventions.options import DEFAULT, Options, describe
from permed_measures.limits.bounds import Interval
from permed_measures.limits.rows import ClaimRange, ConventionLimits, RowLimits
from permed_measures.results.table import Cell, Table


def usual(row: RowLimits, only_refuted: bool = False) -> list[str]:
    """Say which of the usual conventions are refuted, and why, and which are not."""
    refuted, others = [], []
    for each in (each for each in row.conventions if each.usual):
        named = " · ".join(_telling(each, row))
        if each.possible:
            others.append(f"{named}: not refuted")
        else:
            refuted.append(f"not {named}: {_reason(each, row)}")
    return refuted if only_refuted else [*refuted, *others]


def _telling(limits: ConventionLimits, row: RowLimits) -> list[str]:
    """Return the measures that not all conventions share."""
    different = [name for place, name in enumerate(limits.measures) if len(_measures(row, place)) > 1]
    return different or limits.measures


def _measures(row: RowLimits, place: int) -> set[str]:
    return {each.measures[place] for each in row.conventions}


def _reason(limits: ConventionLimits, row: RowLimits) -> str:
    """Say why a convention is refuted, by the number that can be made in most ways."""
    told = max(
        (each for each in limits.ranges if not each.possible),
        key=lambda each: (not each.given.is_empty, len(_measures(row, limits.ranges.index(each)))),
    )
    claim = told.claim
    if told.counts is not None and not told.counts.anyhow:
        return f"{claim.name} {claim.text} is no whole number of {told.counts.total:,}"
    if told.given.is_empty:
        return "these numbers are not possible together"
    if not told.alone.meets(Interval(float(claim.value), float(claim.value))):
        return f"{claim.name} is {_shown(told, told.alone)} in any run, not {claim.text}"
    return f"given the others, {claim.name} is {_shown(told, told.given)}, not {claim.text}"


def otherwise(row: RowLimits) -> list[str]:
    """Say what is not refuted with other labels or of other queries, which the table leaves out."""
    found: dict[str, list[ConventionLimits]] = {}
    for limits in row.conventions:
        found.setdefault(", ".join(_setting(limits.convention)), []).append(limits)
    counts = {how: sum(each.possible for each in those) for how, those in found.items() if how}
    return [f"{how}: not refuted for {n} of {len(found[how])}" for how, n in counts.items()]


_CAPTION = "What each number can be if the others are as printed"


def by_measure(row: RowLimits) -> Table:
    """Return a line for each measure that a claim may be, with the range by the most usual convention."""
    cells = []
    for place, claim in enumerate(row.claims):
        found: dict[str, list[ConventionLimits]] = {}
        for limits in (each for each in row.conventions if not _setting(each.convention)):
            found.setdefault(limits.measures[place], []).append(limits)
        for measure, those in found.items():
            ranges = [limits.ranges[place] for limits in those]
            told = next((each for each in ranges if not each.given.is_empty), ranges[0])
            numbers = [claim.text, _end(told, told.alone.high, up=True), _shown(told, told.given)]
            n = sum(each.possible for each in those)
            cells.append([claim.name, measure, *numbers, f"{n} of {len(those)}"])
    headings = ["claim", "measure", "published", "at most", "given the others", "not refuted"]
    return Table.of(headings, cells, 2, caption=_CAPTION, spare=["at most"], label="possible")


def by_convention(rows: list[RowLimits], only_usual: bool) -> Table:
    """Return a line for each convention: what each number can be given the others."""
    names = list(dict.fromkeys(claim.name for row in rows for claim in row.claims))
    blocks = []
    for row in rows:
        cells = []
        for limits in (each for each in row.conventions if each.usual or not only_usual):
            of_claim = {each.claim.name: _shown(each, each.given) for each in limits.ranges}
            label = ", ".join([" · ".join(_telling(limits, row)), *_setting(limits.convention)])
            texts = [label, *(of_claim.get(name, "") for name in names), _said(limits)]
            cells.append([Cell(text) for text in ([row.name, *texts] if len(rows) > 1 else texts)])
        blocks.append(cells)
    labels = ["row", "convention"] if len(rows) > 1 else ["convention"]
    return Table([*labels, *names, "refuted"], blocks, len(labels), _CAPTION, label="possible")


def _said(limits: ConventionLimits) -> str:
    if not limits.possible:
        return "yes"
    return "no" if limits.rounded else "unless cut off"


def _setting(convention: Options) -> list[str]:
    """Describe the labels and the queries, where they are not as they are in the qrels."""
    return [
        describe(option, convention[option])
        for option in ("labels", "queries")
        if convention[option] != DEFAULT[option]
    ]


def _shown(told: ClaimRange, interval: Interval) -> str:
    if interval.is_empty:
        return "none"
    return f"{_end(told, interval.low, up=False)} to {_end(told, interval.high, up=True)}"


_NOISE = 1e-9


def _end(told: ClaimRange, value: float, up: bool) -> str:
    """Print the end of a range with the digits of the claim, rounded away from the middle."""
    claim = told.claim
    unit, rounding = Decimal(1).scaleb(-claim.decimals), ROUND_CEILING if up else ROUND_FLOOR
    inwards = Decimal(value + (-_NOISE if up else _NOISE))
    return claim.prints(float(inwards.quantize(unit, rounding, Context(prec=60))) + 0.0)


def counted_hits(row: RowLimits, named: bool, told: Container[str]) -> Iterator[str]:
    """Say which count each number is, where most that can be printed are none and its column is not told."""
    for place, claim in enumerate(row.claims):
        first = row.conventions[0].ranges[place]
        if claim.name in told or first.counts is None or first.counts.total >= 10**claim.decimals:
            continue
        start = f"{row.name}, {claim.name}" if named else claim.name
        total, found = first.counts.total, first.counts.rounded
        share = f"of the numbers that can be printed, {100 * total / 10**claim.decimals:.2g} % are counts"
        if found:
            between = f"{found[0]:,}" if len(found) == 1 else f"{found[0]:,} to {found[-1]:,}"
            yield f"{start} {claim.text} is {between} of {total:,}; {share}"
        else:
            below = int(Fraction(claim.value) * total)
            near = " and ".join(f"{n:,} is {claim.prints(n / total)}" for n in (below, below + 1))
            count = "rounded count" if first.counts.anyhow else "count"
            yield f"{start} {claim.text} is no {count} of {total:,}: {near}; {share}"
