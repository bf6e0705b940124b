"""All plots of a comparison, for a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from permed_measures.measures.headings import headings_of
from permed_measures.plots.by_group import plot_by_group
from permed_measures.plots.by_query import plot_differences, plot_distribution
from permed_measures.plots.style import unshown
from permed_measures.statistics.results import ComparisonResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def figures(comparison: ComparisonResult) -> Iterator[tuple[str, Axes]]:
    """Yield the plots of a comparison for a page, each with a title.

    For each measure, the means by group if the comparison has groups, and the distribution, unless there are
    two values only, of which the means say all; for the first measure also the differences of each pair, of
    six pairs at most.

    Raises
    ------
    InputError
        If matplotlib is missing.

    Examples
    --------
    >>> from permed_measures.comparisons.compare import compare
    >>> qrels = {"a_1": {"d": 1}, "a_2": {"d": 1}}
    >>> runs = {"old": {"a_1": {"e": 2.0, "d": 1.0}}, "new": {query: {"d": 1.0} for query in qrels}}
    >>> for title, ax in figures(compare(qrels, runs, "RR", "old", tests="bootstrap", by="_([0-9]+)$")):
    ...     print(title)
    RR by _([0-9]+)$
    RR: how many queries reach each value
    RR: new minus old, query by query
    """
    measures, pairs = comparison.paired.measures, comparison.paired.pairs[:_MOST_PAIRS]
    headings = headings_of(measures)
    for number, (measure, heading) in enumerate(zip(measures, headings, strict=True)):
        if comparison.groups:
            yield f"{heading} by {comparison.by}", unshown(plot_by_group(comparison, measure=measure))
        if np.unique([each[number] for each in comparison.paired.values.values()]).size > 2:
            title = f"{heading}: how many queries reach each value"
            yield title, unshown(plot_distribution(comparison, measure))
    for run, against in pairs:
        title = f"{headings[0]}: {run} minus {against}, query by query"
        yield title, unshown(plot_differences(comparison, measures[0], run, against))


_MOST_PAIRS = 6
"""Number of pairs with a plot on a page, at most."""
