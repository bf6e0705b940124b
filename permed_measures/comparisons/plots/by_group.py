"""Plot the means of groups of queries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures import Measure

from permed_measures.comparisons.plots.style import (
    AS_WRITTEN,
    add_legend,
    matplotlib,
    measure_of,
    set_title,
    shown_name,
    styles_of,
    wrapped,
)
from permed_measures.comparisons.results import ComparisonResult
from permed_measures.errors import InputError
from permed_measures.intervals import FEW, Floats, measure_intervals
from permed_measures.markup import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_by_group(
    comparison: ComparisonResult, measure: Measure | str | None = None, ax: Axes | None = None
) -> Axes:
    """Plot the mean of each group of queries of a comparison, such as each turn, by run.

    Parameters
    ----------
    comparison : Comparison
        With groups: of ``compare(..., by="turn_number")``.
    measure : Measure or str, optional
        One of the comparison's; the first if left out.
    ax : matplotlib Axes, optional
        Where to draw; a new Figure if left out.

    Returns
    -------
    matplotlib Axes
        A point for each run and group, side by side, with a bar; where the groups are whole numbers that
        follow one another, as turns do, the points of a run are joined by a line. The number of queries
        stands below each group. The bars of more than eight runs would hide the lines, and are not drawn.

    Raises
    ------
    InputError
        If the comparison does not have the measure, it has no groups, or matplotlib is missing.

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
    >>> compared = compare(qrels, {"old": old, "new": new}, "RR", baseline="old", by="_([0-9]+)$")
    >>> ax = plot_by_group(compared)
    >>> ax.lines[0].get_ydata().tolist()
    [1.0, 0.75]
    """
    index, title = measure_of(comparison, measure)
    if not comparison.groups:
        raise InputError("the comparison has no groups", hint="Compare with by=, such as by='turn_number'")
    groups = comparison.groups
    shown = len(comparison.paired.values) <= MOST_BARS
    estimates = _estimates(comparison, index, shown)
    bars = [any(np.isfinite(each[1, n]) for each in estimates.values()) for n in range(len(groups))]
    below = [
        f"{shown_name(str(label))}\nn={each.n_queries:,}" + "\nno bar" * (any(bars) and not bar)
        for (label, each), bar in zip(groups.items(), bars, strict=True)
    ]
    if ax is None:
        ax = matplotlib(".pyplot").figure(figsize=(6.4, 3.6), layout="constrained").subplots()
    handles = _draw_means(ax, comparison, estimates, lines=_follow(list(map(str, groups))))
    _label_groups(ax, below)
    by = comparison.by
    about = by if re.fullmatch(r"\w+", by) else f"{shown_name(by)} in the query id"
    ax.set_xlabel(f"{about} (n: queries)", **AS_WRITTEN)
    ax.set_ylabel(wrapped(f"mean {title}"), **AS_WRITTEN)
    set_title(ax, _interval_note(comparison, bars) if shown else _NO_BARS)
    add_legend(ax, handles)
    return ax


def _estimates(comparison: ComparisonResult, index: int, bars: bool) -> dict[str, Floats]:
    """Return the mean of each run by group, with lower and upper bounds where there are any: shape (3, n)."""
    runs = list(comparison.paired.values)
    found = np.full((3, len(comparison.groups), len(runs)), np.nan)
    for number, group in enumerate(comparison.groups.values()):
        values = np.stack([group.paired.values[run][index] for run in runs], axis=1)
        found[0, number] = values.mean(axis=0)
        if bars and group.n_clusters >= FEW:
            of = [comparison.measures[index]] * len(runs)
            bounds = measure_intervals(of, values, group.paired.cluster, comparison.level)
            found[1:, number] = np.transpose([each.value or (np.nan, np.nan) for each in bounds])
    return {run: found[:, :, column] for column, run in enumerate(runs)}


def _draw_means(
    ax: Axes, comparison: ComparisonResult, estimates: dict[str, Floats], lines: bool
) -> dict[str, Any]:
    """Draw points with bars for each run, beside those of the others, or a line; return what was drawn."""
    styles, handles = styles_of(comparison.paired.values), {}
    # Points of a line stay near their number. Bands instead of bars would hide each other.
    width, x = 0.35 if lines else 0.8, np.arange(len(comparison.groups))
    for place, (name, (mean, low, high)) in enumerate(estimates.items()):
        at = x + width * ((place + 0.5) / len(estimates) - 0.5)
        look = {**styles[name], "linewidth": 1.0, **({} if lines else {"linestyle": "none"})}
        if np.isfinite(low).any():
            ax.vlines(at, low, high, colors=look["color"], linewidth=1.2)
        handles[name] = ax.plot(at, mean, label=name, **look)[0]
    return handles


def _label_groups(ax: Axes, labels: Sequence[str]) -> None:
    """Put a label below each group, upright where they are long."""
    upright = sum(max(map(len, label.split("\n"))) for label in labels) > _MOST_LETTERS
    shown = [label.replace("\n", " ") if upright else label for label in labels]
    ax.set_xticks(range(len(labels)), shown, rotation=90 if upright else 0, **AS_WRITTEN)
    ax.set_xlim(-0.6, len(labels) - 0.4)


_MOST_LETTERS = 50
MOST_BARS = 8
_NO_BARS = f"no CI: those of more than {MOST_BARS} runs would hide the lines"


def _follow(labels: Sequence[str]) -> bool:
    """Return whether the groups are whole numbers, each one more than the one before."""
    numbers = [int(label) for label in labels if re.fullmatch("[0-9]{1,9}", label)]
    return len(numbers) == len(labels) and bool((np.diff(numbers) == 1).all())


def _interval_note(comparison: ComparisonResult, bars: list[bool]) -> str:
    """Explain the intervals."""
    units = plural(comparison.paired.unit)
    if not any(bars):
        return f"no CI: no group has {FEW} {units} whose values vary"
    alone = f"\nno bar: fewer than {FEW} {units}, or no variance" if not all(bars) else ""
    return f"bar: {comparison.level_in_percent} CI of the mean, by {units}{alone}"
