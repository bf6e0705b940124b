"""Differences as they would be by people's labels of a sample: `compare` with ``human``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from permed_measures.comparisons.results import ComparisonResult, ComparisonRow, outcome
from permed_measures.comparisons.tests import direction_of
from permed_measures.comparisons.wording import interval_heading
from permed_measures.markup import counted, listed
from permed_measures.measures.headings import headings_of
from permed_measures.people.corrected import People
from permed_measures.people.tables import DIFFERENCES, Line, section_of
from permed_measures.results.report import Section

_NAMED = 5
"""So many differences are named in the sentence, and others counted."""


def corrected_rows(result: ComparisonResult, people: People) -> Iterator[ComparisonRow]:
    """Yield the rows with corrected differences, with simultaneous intervals if p-values are corrected.

    These are Bonferroni's: each has the level 1 - (1 - level) / number of rows.
    """
    paired, n = result.paired, 1 if result.correction == "none" else len(result.rows)
    level = 1 - (1 - result.level) / n
    runs = {
        run: people.on(result.measures, paired.rankings[run], values) for run, values in paired.values.items()
    }
    found = {pair: list(people.corrected(runs[pair[0]], level, runs[pair[1]])) for pair in paired.pairs}
    for number in range(len(result.measures)):
        for row in result.rows_of(number):
            yield replace(row, people=found[row.run, row.baseline][number])


def corrected_section(result: ComparisonResult) -> list[Section]:
    """Return the differences as they are and corrected, if people's labels were given."""
    if result.agreement is None:
        return []
    short = dict(zip(result.measures, headings_of(result.measures), strict=True))
    headings = ["measure", "run", *(["against"] if result.baseline is None else [])]
    lines = [
        Line([short[row.measure], row.run, row.baseline][: len(headings)], row.difference, row.people)
        for row in result.rows
        if row.people
    ]
    heading, n = interval_heading(result), len(lines)
    of_all = result.correction != "none" and n > 1
    interval = [heading, *([f"{heading}: simultaneous (Bonferroni) for {n:,} differences"] if of_all else [])]
    return [section_of(result.agreement, DIFFERENCES, headings, lines, interval, result.decimals)]


def what_changes(result: ComparisonResult) -> Iterator[str]:
    """Say which differences people's labels turn round, and which significant ones they leave open."""
    known = [row for row in result.rows if row.people and row.people.value is not None]
    significant = [row for row in known if row.people and row.people.interval and outcome(row)]
    opposite = [row for row in known if _direction(row) * direction_of(row.difference) < 0]
    open_, interval = [row for row in significant if _side(row) == 0], interval_heading(result)
    said = []
    if opposite:
        n = sum(_side(row) * row.difference < 0 for row in opposite)
        surely = f", {n:,} of them surely (0 is outside the {interval})" if n else ""
        said += [f"{named_rows(result, opposite, known, 'difference')} the opposite sign{surely}"]
    if open_:
        of = named_rows(result, open_, significant, "significant difference")
        said += [f"{of} 0 inside the {interval}"]
    if said:
        yield f"Corrected by people's labels, {', and '.join(said)}."


def _direction(row: ComparisonRow) -> int:
    """Return the sign of the difference by people's labels."""
    return direction_of(row.people.value or 0.0) if row.people else 0


def _side(row: ComparisonRow) -> int:
    """Return on which side of 0 the interval by people's labels is; 0 where 0 is inside."""
    low, high = row.people.interval if row.people and row.people.interval else (0.0, 0.0)
    return (low > 0) - (high < 0)


def named_rows(
    result: ComparisonResult,
    rows: Sequence[ComparisonRow],
    of: Sequence[ComparisonRow],
    noun: str,
    verb: tuple[str, str] = ("has", "have"),
) -> str:
    """Count rows and name them, such as ``1 of 2 differences (a against b on RR) has``."""
    short = dict(zip(result.measures, headings_of(result.measures), strict=True))
    named = listed((f"{row.run} against {row.baseline} on {short[row.measure]}" for row in rows), _NAMED)
    return f"{len(rows):,} of {counted(len(of), noun)} ({named}) {verb[len(rows) > 1]}"
