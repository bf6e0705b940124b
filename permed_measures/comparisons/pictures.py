"""What the page of a comparison shows besides its tables: plots, and the queries one by one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from permed_measures.comparisons.judged import judged_notes
from permed_measures.comparisons.plots.forest import explained, panels_of
from permed_measures.comparisons.plots.inline import forest_plots
from permed_measures.comparisons.queries import query_details
from permed_measures.comparisons.results import ComparisonResult
from permed_measures.results.report import Report, Section

_MOST_RUNS = 50
"""The number of runs of which a forest plot can be read, at most."""


def with_pictures(report: Report, result: ComparisonResult) -> Report:
    """Add plots and queries to the report of a comparison; what weakens the finding stands below it."""
    cautions = [note for note in judged_notes(result.paired) if note in result.notes]
    return report._replace(
        sections=[*_forest(result), *report.sections],
        notes=[note for note in report.notes if note not in cautions],
        cautions=cautions,
        queries=partial(query_details, result),
    )


def _forest(result: ComparisonResult) -> Iterator[Section]:
    """Yield the forest plots, where they can be read."""
    if len(result.paired.values) <= _MOST_RUNS:
        shown = f"Differences to {result.baseline}" if result.baseline else "Means"
        said = explained(result, panels_of(result, range(len(result.measures))))
        note = " ".join(f"{each[0].upper()}{each[1:]}." for each in said)
        yield Section(shown, note, plots=forest_plots(result))
