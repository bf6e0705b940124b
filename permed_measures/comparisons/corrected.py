"""Differences as they would be by people's labels of a sample: `compare` with ``human``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from permed_measures.comparisons.results import ComparisonResult, ComparisonRow, deciding, outcome
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
    digits = 4 if result.digits is None else result.digits
    return [section_of(result.agreement, DIFFERENCES, headings, lines, interval, digits)]


def what_changes(result: ComparisonResult) -> Iterator[str]:
    """Say which differences people's labels turn round, and which significant ones they leave open."""
    test = deciding(result.rows[0].tests)
    known = [row for row in result.rows if row.people and row.people.interval]
    significant = [row for row in known if outcome(row, test)]
    opposite = [row for row in known if _side(row) * row.difference < 0]
    open_ = [row for row in significant if _side(row) == 0]
    said = []
    if opposite:
        said += [f"{_share(result, opposite, known, 'difference')} the opposite sign"]
    if open_:
        of = _share(result, open_, significant, "significant difference")
        said += [f"{of} 0 inside the {interval_heading(result)}"]
    if said:
        yield f"Corrected by people's labels, {', and '.join(said)}."


def _side(row: ComparisonRow) -> int:
    """Return on which side of 0 the interval by people's labels is; 0 where 0 is inside."""
    low, high = row.people.interval if row.people and row.people.interval else (0.0, 0.0)
    return (low > 0) - (high < 0)


def _share(result: ComparisonResult, rows: list[ComparisonRow], of: list[ComparisonRow], noun: str) -> str:
    short = dict(zip(result.measures, headings_of(result.measures), strict=True))
    named = listed((f"{row.run} against {row.baseline} on {short[row.measure]}" for row in rows), _NAMED)
    return f"{len(rows):,} of {counted(len(of), noun)} ({named}) {'has' if len(rows) == 1 else 'have'}"
