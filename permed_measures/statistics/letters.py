"""Which runs are significantly better than which, and the letters that name them."""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_lowercase

from permed_measures.statistics.results import ComparisonRow
from permed_measures.statistics.significance import LEVELS


def letters_of(n: int) -> list[str]:
    """Return a letter for each of n runs; numbers where there are more runs than letters."""
    return list(ascii_lowercase[:n]) if n <= len(ascii_lowercase) else [str(i) for i in range(1, n + 1)]


def is_significant(row: ComparisonRow, test: str) -> bool:
    """Tell whether the adjusted p-value of a test is below the first level; not if there is no test."""
    p = row.tests[test].adjusted if test else None
    return p is not None and p < LEVELS[0]


def better_pairs(rows: Iterable[ComparisonRow], test: str) -> set[tuple[str, str]]:
    """Return the pairs of a run and one that it is significantly better than, of the rows of a measure."""
    return {
        (row.run, row.baseline) if row.difference > 0 else (row.baseline, row.run)
        for row in rows
        if is_significant(row, test)
    }
