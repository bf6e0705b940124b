"""Names, numbers and methods as the report of a comparison writes them."""

from __future__ import annotations

from permed_measures.comparisons.corrections import MAX_T, correction_of
from permed_measures.comparisons.results import MARKS, ComparisonResult, ComparisonRow
from permed_measures.markup import counted
from permed_measures.results.table import NONE, number

CORRECTION_NAMES = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "benjamini-hochberg": "Benjamini-Hochberg",
    MAX_T: "max-T",
}
_TEST_NAMES = {
    "randomization": "randomization test",
    "wilcoxon": "Wilcoxon's test",
}
_LEAST_P = 1e-4
"""Of a smaller p a table says that it is smaller."""


def test_name(test: str) -> str:
    """Return the name of a test as a sentence has it."""
    return _TEST_NAMES.get(test, test)


def families(result: ComparisonResult) -> dict[str, dict[str, int]]:
    """Return how many p-values of each test were corrected together; those of groups are a family apart."""
    if not result.groups:
        return {"": result.families}
    return {"groups": next(iter(result.groups.values())).families, "all queries": result.families}


def p_or_dash(value: float | None) -> str:
    """Format a p-value for a table."""
    return NONE if value is None else f"<{_LEAST_P:.4f}" if value < _LEAST_P else shown_p(value)


def shown_p(value: float) -> str:
    """Format a p-value with four decimals, or more where rounding would lift it to a level it is below.

    Examples
    --------
    >>> shown_p(0.04994), shown_p(0.04996), shown_p(0.05004)
    ('0.0499', '0.04996', '0.0500')
    """
    enough = (
        decimals
        for decimals in range(4, 13)
        if all((round(value, decimals) < level) == (value < level) for level in MARKS.values())
    )
    return f"{value:.{next(enough, 4)}f}"


def shown(result: ComparisonResult, value: float, sign: str = "") -> str:
    """Format a mean, or with ``+`` as its sign a difference."""
    return number(value, f"{sign}.{result.decimals}f")


def not_zero(value: float, decimals: int) -> str:
    """Format a value, with more decimals where it would print as 0 and is not.

    >>> not_zero(0.5, 1), not_zero(0.0061, 1), not_zero(0.0, 1)
    ('0.5', '0.01', '0.0')
    """
    tried = (number(value, f".{places}f") for places in range(decimals, 13))
    return next((text for text in tried if float(text)), number(value, f".{decimals}f"))


def p_of_sentences(result: ComparisonResult, name: str) -> str:
    """Name the p-values of a test as they are reported: those that were adjusted say how."""
    adjusted = result.correction != "none" and result.families.get(name, 0) > 1
    return f"{CORRECTION_NAMES[correction_of(result.correction, name)]}-adjusted p" if adjusted else "p"


def interval_method(result: ComparisonResult) -> str:
    """Say how the intervals were computed; nothing where there are none."""
    if all(row.interval is None for _, each in result.sections() for row in each.rows):
        return ""
    return _INTERVALS[result.interval]


_INTERVALS = {
    "t": "Student's t",
    "simultaneous": "simultaneous, max-T",
}


def interval_heading(result: ComparisonResult) -> str:
    """Return the heading of intervals, such as ``95% CI``."""
    return f"{result.level_in_percent} CI"


def interval_of(result: ComparisonResult, row: ComparisonRow) -> str:
    """Write the interval; a dash where there is none."""
    if row.interval is None:
        return NONE
    return f"[{', '.join(shown(result, bound, '+') for bound in row.interval)}]"


def in_clusters(result: ComparisonResult) -> str:
    """Say how many clusters the queries are in; nothing without clusters."""
    name = result.paired.clusters
    named = f" ({name})" if name != "clusters" else ""  # those of a mapping or a function have no name
    return f" in {counted(result.n_clusters, 'cluster')}{named}" if name else ""


def method_of(result: ComparisonResult, name: str) -> str:
    """Say how a test was computed, for all rows and groups; of what differs between them, less."""
    parts = (part for _, part in result.sections())
    methods = {row.tests[name].method for part in parts for row in part.rows}
    if len(methods) > 1 and name == "wilcoxon":
        return f"signed ranks, {' or '.join(sorted({each.rpartition(', ')[2] for each in methods}))}"
    return methods.pop() if len(methods) == 1 else methods.pop().partition(",")[0]


def is_random(result: ComparisonResult, name: str) -> bool:
    """Say whether the p-values of a test, or those adjusted by the same draws, depend on the seed."""
    rows = (row for _, part in result.sections() for row in part.rows)
    return any(row.tests[name].draws for row in rows)
