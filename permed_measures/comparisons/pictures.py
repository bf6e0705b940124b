"""What the page of a comparison shows besides its tables: plots, and the queries one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from permed_measures.comparisons.judged import judged_notes
from permed_measures.comparisons.plots.inline import forest_plots, group_plots
from permed_measures.comparisons.queries import query_details
from permed_measures.comparisons.results import ComparisonResult, deciding
from permed_measures.comparisons.wording import LEVELS, interval_method, p_of_sentences
from permed_measures.intervals import FEW
from permed_measures.markup import listed, plural
from permed_measures.measures.headings import headings_of
from permed_measures.results.report import Report, Section

_MOST_RUNS = 50
"""The number of runs of which a forest plot can be read, at most."""


def with_pictures(report: Report, result: ComparisonResult) -> Report:
    """Add plots and queries to the report of a comparison; what weakens the finding stands below it."""
    cautions = [note for note in judged_notes(result.paired) if note in result.notes]
    return replace(
        report,
        sections=[*_forest(result), *report.sections, *_by_group(result)],
        notes=[note for note in report.notes if note not in cautions],
        cautions=cautions,
        queries=partial(query_details, result),
    )


def _forest(result: ComparisonResult) -> Iterator[Section]:
    """Yield the forest plots, where they can be read."""
    if len(result.paired.values) <= _MOST_RUNS:
        against = f"Differences to {listed(result.baselines)}" if result.baselines else "Means"
        yield Section(against, forest_note(result), plots=forest_plots(result))


def forest_note(result: ComparisonResult) -> str:
    """Explain what points, lines, filling and letters mean, those that there are."""
    bars = any(row.interval if result.baselines else row.intervals.get("mean") for row in result.rows)
    test = deciding(result.rows[0].tests)
    tested = bool(test) and any(row.tests[test].adjusted is not None for row in result.rows)
    line = f"Line: {result.level_in_percent} CI"
    if not result.baselines:
        said = ["Point: mean.", *[f"{line} of the mean, of each run by itself."] * bars]
        letters = "Letters, or how many, at the right: the runs that a run is significantly better than."
        return " ".join([*said, *[letters] * tested])
    method = interval_method(result)
    said = ["Point: mean difference to the baseline.", *[f"{line} ({method})."] * (bars and bool(method))]
    filled = f"Filled: significant, {p_of_sentences(result, test)} < {LEVELS['†']}." if tested else ""
    order = f"Order: by {headings_of(result.measures)[0]}." if len(result.measures) > 1 else ""
    return " ".join(text for text in [*said, filled, order] if text)


def _by_group(result: ComparisonResult) -> Iterator[Section]:
    """Yield the plots of the means by group, where there are any."""
    if plots := list(group_plots(result)):
        bars = f"Bar: {result.level_in_percent} CI of the mean, of each run by itself"
        few = f"none for fewer than {FEW} {plural(result.paired.unit)}"
        yield Section(f"By {result.by}", f"{bars}; {few}.", plots=plots)
