"""The words and numbers that every report of a comparison uses."""

from __future__ import annotations

from collections.abc import Sequence

from ir_measures.measures import Measure

from permed_measures.comparisons.results import ComparisonResult
from permed_measures.markup import counted, plural
from permed_measures.measures.parameters import cutoff_of

NONE = "—"
LEVELS = {"‡": 0.01, "†": 0.05}
"""The marks of significance, and below which p they are set."""
CORRECTION_NAMES = {"holm": "Holm", "bonferroni": "Bonferroni", "benjamini-hochberg": "Benjamini-Hochberg"}
_SMALL = 1e-4


def short_names(measures: Sequence[Measure]) -> dict[str, str]:
    """Return a heading for each measure, by that its name as it prints: short if no other has the same."""
    short = [_short(measure) for measure in measures]
    return {
        name if short.count(name) == 1 else str(measure): str(measure)
        for name, measure in zip(short, measures, strict=True)
    }


def long_names(result: ComparisonResult) -> list[str]:
    """Return what each short heading stands for."""
    return [f"{short} is {whole}" for short, whole in short_names(result.measures).items() if short != whole]


def _short(measure: Measure) -> str:
    cutoff = cutoff_of(measure)
    return f"{measure.NAME}@{cutoff}" if cutoff is not None else str(measure.NAME)


def p_or_dash(value: float | None) -> str:
    """Return a p-value for a table."""
    return NONE if value is None else f"<{_SMALL:.4f}" if value < _SMALL else shown_p(value)


def shown_p(value: float) -> str:
    """Return a p-value with four decimals, or more where it would be rounded up to a level that it is below.

    Examples
    --------
    >>> shown_p(0.04994), shown_p(0.04996), shown_p(0.05004)
    ('0.0499', '0.04996', '0.0500')
    """
    enough = (
        decimals
        for decimals in range(4, 13)
        if all((round(value, decimals) < level) == (value < level) for level in LEVELS.values())
    )
    return f"{value:.{next(enough, 4)}f}"


def signed(value: float | None, form: str = "+.4f") -> str:
    """Return a number with its sign; a dash for none."""
    return NONE if value is None else format(value + 0.0, form)


def in_clusters(result: ComparisonResult) -> str:
    """Return how many clusters the queries are in; nothing without clusters."""
    name = result.paired.clusters
    named = f" ({name})" if name != "clusters" else ""  # those of a mapping or a function have no name
    return f" in {counted(result.n_clusters, 'cluster')}{named}" if name else ""


def method_of(result: ComparisonResult, name: str) -> str:
    """Return how a test was computed, so that it is true of all rows and all groups."""
    rows = [row for _, each in result.sections() for row in each.rows]
    methods = {row.tests[name].method for row in rows}
    if len(methods) == 1:
        return methods.pop()
    if "randomization" in name:
        units = plural("query" if rows[0].tests[name].naive else result.paired.unit)
        return f"all sign patterns of the {units}, or {result.resamples:,} random ones where there are more"
    return {"t-test": "paired", "clustered t-test": "cluster-robust", "wilcoxon": "signed ranks"}[name]


def is_random(result: ComparisonResult, name: str) -> bool:
    """Return whether the p-values of a test depend on the seed."""
    rows = [row for _, each in result.sections() for row in each.rows]
    return any(" random sign pattern" in row.tests[name].method for row in rows)
