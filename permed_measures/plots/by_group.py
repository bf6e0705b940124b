"""Plot the means of groups of queries."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.engine.groups import By, Groups
from permed_measures.errors import InputError, PermedWarning
from permed_measures.markup import counted, plural
from permed_measures.plots.arguments import measure_of, runs_of
from permed_measures.plots.fonts import PlotText, on_one_line, shortened
from permed_measures.plots.style import (
    add_legend,
    axes_for,
    draw_estimates,
    label_categories,
    label_numbers,
    set_title,
    styles_of,
    wrapped,
)
from permed_measures.statistics.intervals import FEW
from permed_measures.statistics.proportions import measure_intervals
from permed_measures.statistics.results import ComparisonResult
from permed_measures.statistics.significance import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_by_group(
    comparison: ComparisonResult,
    by: By | None = None,
    qrels: Any = None,
    measure: Measure | str | None = None,
    ax: Axes | None = None,
    *,
    runs: Iterable[str] | None = None,
    intervals: bool | None = None,
) -> Axes:
    """Plot the mean of each group of queries, such as each turn, by run.

    Parameters
    ----------
    comparison : Comparison
    by : str, mapping or callable
        What the groups are, as in `evaluate_by`: a field of the data set's queries (``turn_number``), a
        pattern with one group that is searched for in the query ids (``'_([0-9]+)$'``),
        ``{query_id: group}``, or a function of the query id. If left out, the groups of the comparison.
    qrels : data set of ir_datasets, optional
        Only for a field of its queries.
    measure : Measure or str, optional
        One of the comparison's; the first if left out.
    ax : matplotlib Axes, optional
        Where to draw; a new Figure if left out.
    runs : iterable of str, optional
        Which runs to draw; all if left out. A run looks the same in every plot of a comparison.
    intervals : bool, optional
        Whether to draw the intervals. If left out, those of more than eight runs, which would hide the lines,
        are not drawn.

    Returns
    -------
    matplotlib Axes
        A point for each run and group, side by side, with a bar; where every group is a number, the points of
        a run are joined by a line. The number of queries stands below each group.

    Raises
    ------
    InputError
        If the comparison does not have the measure or a run, no query is in a group, the queries cannot be
        grouped by `by`, or matplotlib is missing.

    Warns
    -----
    PermedWarning
        If a group has no judged query, a judged query is in no group, or no installed font has a character.

    Notes
    -----
    The intervals are those of `measure_intervals`, computed in each group by itself from whole clusters, with
    the level of the comparison. They are of each run alone: that two of them overlap does not say that the
    paired difference of the runs may be 0. A group of fewer than five clusters (queries without clusters) has
    none, and says so: it would be wider than the measure, and would not hold where values are skewed.

    Examples
    --------
    >>> from permed_measures.comparisons.compare import compare
    >>> qrels = {"a_1": {"d": 1}, "a_2": {"d": 1}, "b_1": {"d": 1}, "b_2": {"d": 1}}
    >>> new = {query: {"d": 1.0} for query in qrels}
    >>> old = {**new, "a_2": {"d": 1.0, "e": 2.0}}
    >>> compared = compare(qrels, {"old": old, "new": new}, "RR", baseline="old", tests="bootstrap")
    >>> ax = plot_by_group(compared, "_([0-9]+)$")
    >>> ax.lines[0].get_ydata().tolist()
    [1.0, 0.75]
    """
    (index, title), paired = measure_of(comparison, measure), comparison.paired
    names = runs_of(comparison, runs)
    groups = _groups(comparison, by, qrels)
    values = {name: paired.values[name][index] for name in names}
    numbers = _numbers(groups.values)
    labels = [f"{x:.10g}" for x in numbers] or [on_one_line(str(value)) for value in groups.values]
    shown = not numbers or len(names) <= _MOST_BARS if intervals is None else intervals
    estimates = _group_estimates(comparison, groups, values, paired.measures[index] if shown else None)
    without = np.isnan([low for _, low, _ in estimates.values()])
    note = _interval_note(comparison, without) if shown else _NO_BARS * (intervals is None)
    bare = np.logical_and(without.all(axis=0), not without.all())  # that there are none at all stands above
    sizes = [[f"n={n:,}", *["no bar"] * none] for n, none in zip(groups.sizes, bare.tolist(), strict=True)]
    texts = PlotText.of([*names, *labels, title, note, about := _about(groups)])
    ax, own = axes_for(ax)
    styles = styles_of(paired.values)
    handles = draw_estimates(ax, numbers or range(len(labels)), estimates, styles, lines=bool(numbers))
    if not numbers:
        label_categories(ax, texts, labels, sizes, len(names), own)
    ax.set_xlabel(texts.shown(f"{about} (n: queries)"), **texts.style)
    ax.set_ylabel(wrapped(texts.shown(f"mean {title}")), **texts.style)
    set_title(ax, texts, note)
    add_legend(ax, handles, texts, own)
    if numbers:
        label_numbers(ax, own, numbers, ["\n".join([x, *n]) for x, n in zip(labels, sizes, strict=True)])
    return ax


def _groups(comparison: ComparisonResult, by: By | None, qrels: Any) -> Groups:
    """Group the queries, and warn of those without a group."""
    query_ids, name = comparison.paired.query_ids, ""
    if by is None:
        if not comparison.groups:
            raise InputError(
                "by is missing, and the comparison has no groups", hint="Give a field or a pattern"
            )
        parts, name = comparison.groups.items(), comparison.by
        by = {query_id: value for value, part in parts for query_id in part.paired.query_ids}
    groups = Groups.of(query_ids, by, qrels)
    if name:
        return replace(groups, name=name)  # the comparison has its notes
    if not groups.values:
        raise InputError(
            f"by groups none of {counted(len(query_ids), 'judged query')} (first: {query_ids[0]!r})"
        )
    for note in groups.notes():
        warnings.warn(note, PermedWarning, stacklevel=3)
    return groups


def _group_estimates(
    comparison: ComparisonResult, groups: Groups, values: dict[str, Floats], measure: Measure | None
) -> dict[str, Floats]:
    """Return means and bounds of each run by group; without a measure no bounds."""
    stacked = np.stack(list(values.values()), axis=1)
    found = np.full((3, len(groups.values), len(values)), np.nan)
    for index in range(len(groups.values)):
        here = groups.group == index
        found[0, index] = stacked[here].mean(axis=0)
        cluster = np.unique(comparison.paired.cluster[here], return_inverse=True)[1]
        if measure is not None and cluster.max() + 1 >= FEW:
            bounds = measure_intervals([measure] * len(values), stacked[here], cluster, comparison.level)
            ends = np.transpose([each.value or (np.nan, np.nan) for each in bounds])
            found[1:, index] = np.where(np.isfinite(ends).all(axis=0), ends, np.nan)
    return {name: found[:, :, column] for column, name in enumerate(values)}


def _numbers(values: Sequence[Any]) -> list[float]:
    """Return the groups as numbers, if all are numbers and no two are equal."""
    numeric = all(
        (isinstance(value, Real) and not isinstance(value, bool)) or _NUMBER.fullmatch(str(value))
        for value in values
    )
    numbers = [float(value) for value in values] if numeric else []
    # One group makes no line.
    return numbers if 1 < len(set(numbers)) == len(values) and np.isfinite(numbers).all() else []


_MOST_BARS = 8
_NO_BARS = f"no intervals: those of more than {_MOST_BARS} runs would hide the lines"
_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]+)?")


def _about(groups: Groups) -> str:
    """Name the groups on the axis: a field, or the pattern that found them."""
    name = on_one_line(groups.name)
    return name if re.fullmatch(r"\w+", name) else f"{shortened(name)} in the query id"


def _interval_note(comparison: ComparisonResult, without: NDArray[np.bool_]) -> str:
    """Explain the intervals."""
    if without.all():
        return f"no intervals: no group has {FEW} {plural(comparison.paired.unit)} whose values vary"
    clusters = comparison.paired.clusters
    named = f" ({shortened(on_one_line(clusters))})" if clusters not in ("", "clusters") else ""
    units = f"whole clusters{named}" if clusters else "queries"
    alone = f";\nno bar where they are fewer than {FEW} or do not vary" if without.any() else ""
    return f"bar: {comparison.level_in_percent} interval of the mean by {units}{alone}"
