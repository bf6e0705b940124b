"""Plot the means of groups of queries."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures import Measure

from permed_measures.comparisons.plots.arguments import measure_of, runs_of
from permed_measures.comparisons.plots.style import (
    AS_WRITTEN,
    add_legend,
    axes_for,
    label_numbers,
    set_title,
    shown_name,
    styles_of,
    wrapped,
)
from permed_measures.comparisons.results import ComparisonResult
from permed_measures.engine.groups import By, Groups
from permed_measures.errors import InputError, PermedWarning
from permed_measures.intervals import FEW, Floats, measure_intervals
from permed_measures.markup import counted, plural

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
        If a group has no judged query, or a judged query is in no group.

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
    >>> compared = compare(qrels, {"old": old, "new": new}, "RR", baseline="old")
    >>> ax = plot_by_group(compared, "_([0-9]+)$")
    >>> ax.lines[0].get_ydata().tolist()
    [1.0, 0.75]
    """
    (index, title), names = measure_of(comparison, measure), runs_of(comparison, runs)
    groups, about = groups_of(comparison, by, qrels)
    numbers = _numbers(groups.values)
    shown = not numbers or len(names) <= _MOST_BARS if intervals is None else intervals
    estimates = group_estimates(comparison, groups, index, names, shown)
    bars: list[bool] = np.isfinite([low for _, low, _ in estimates.values()]).any(axis=0).tolist()  # type: ignore[assignment]
    note = _interval_note(comparison, bars) if shown else _NO_BARS * (intervals is None)
    sizes = [
        f"n={n:,}" + "\nno bar" * (any(bars) and not bar) for n, bar in zip(groups.sizes, bars, strict=True)
    ]
    labels = [f"{x:.10g}" for x in numbers] or [shown_name(str(value)) for value in groups.values]
    ax = axes_for(ax)
    handles = draw_means(ax, comparison, numbers or range(len(labels)), estimates, lines=bool(numbers))
    if numbers:
        label_numbers(ax, numbers, [f"{label}\n{n}" for label, n in zip(labels, sizes, strict=True)])
    else:
        _label_categories(ax, labels, sizes)
    ax.set_xlabel(f"{about} (n: queries)", **AS_WRITTEN)
    ax.set_ylabel(wrapped(f"mean {title}"), **AS_WRITTEN)
    set_title(ax, note)
    add_legend(ax, handles, {})
    return ax


def groups_of(comparison: ComparisonResult, by: By | None, qrels: Any) -> tuple[Groups, str]:
    """Group the queries, warn of those without a group, and name what the groups are."""
    query_ids = comparison.paired.query_ids
    if by is None:
        if not comparison.groups:
            raise InputError(
                "by is missing, and the comparison has no groups", hint="Give a field or a pattern"
            )
        parts = comparison.groups.items()  # whose notes the comparison has
        found = Groups.of(query_ids, {each: value for value, part in parts for each in part.paired.query_ids})
        return found, _about(comparison.by)
    groups = Groups.of(query_ids, by, qrels)
    if not groups.values:
        raise InputError(
            f"by groups none of {counted(len(query_ids), 'judged query')} (first: {query_ids[0]!r})"
        )
    for note in groups.notes():
        warnings.warn(note, PermedWarning, stacklevel=3)
    return groups, _about(groups.name)


def _about(name: str) -> str:
    """Name the groups on the axis: a field, or the pattern that found them."""
    return name if re.fullmatch(r"\w+", name) else f"{shown_name(name)} in the query id"


def group_estimates(
    comparison: ComparisonResult, groups: Groups, index: int, runs: Sequence[str], bars: bool
) -> dict[str, Floats]:
    """Return the mean of each run by group, with lower and upper bounds where there are any: shape (3, n)."""
    paired, n = comparison.paired, len(groups.values)
    stacked = np.stack([paired.values[run][index] for run in runs], axis=1)
    found = np.full((3, n, len(runs)), np.nan)
    for number in range(n):
        here = groups.group == number
        found[0, number] = stacked[here].mean(axis=0)
        cluster = np.unique(paired.cluster[here], return_inverse=True)[1]
        if bars and cluster.max() + 1 >= FEW:
            of = [paired.measures[index]] * len(runs)
            bounds = measure_intervals(of, stacked[here], cluster, comparison.level)
            found[1:, number] = np.transpose([each.value or (np.nan, np.nan) for each in bounds])
    return {run: found[:, :, column] for column, run in enumerate(runs)}


def draw_means(
    ax: Axes, comparison: ComparisonResult, x: Sequence[float], estimates: dict[str, Floats], lines: bool
) -> dict[str, Any]:
    """Draw points with bars for each run, beside those of the others, or a line; return what was drawn."""
    styles, handles = styles_of(comparison.paired.values), {}
    # Points of a line stay near their number. Bands instead of bars would hide each other.
    width = 0.35 * float(np.diff(x).min()) if lines else 0.8
    for place, (name, (mean, low, high)) in enumerate(estimates.items()):
        at = np.asarray(x) + width * ((place + 0.5) / len(estimates) - 0.5)
        look = {**styles[name], "linewidth": 1.0, **({} if lines else {"linestyle": "none"})}
        if np.isfinite(low).any():
            ax.vlines(at, low, high, colors=look["color"], linewidth=1.2)
        handles[name] = ax.plot(at, mean, label=name, **look)[0]
    return handles


def _label_categories(ax: Axes, labels: Sequence[str], sizes: Sequence[str]) -> None:
    """Put a label and its size below each category, upright where they are long."""
    upright = sum(map(len, labels)) > _MOST_LETTERS
    shown = [f"{label}\n{n}" for label, n in zip(labels, sizes, strict=True)]
    shown = [text.replace("\n", " ") for text in shown] if upright else shown
    ax.set_xticks(range(len(labels)), shown, rotation=90 if upright else 0, **AS_WRITTEN)
    ax.set_xlim(-0.6, len(labels) - 0.4)


_MOST_LETTERS = 50
_MOST_BARS = 8
_NO_BARS = f"no CI: those of more than {_MOST_BARS} runs would hide the lines"
_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]+)?")


def _numbers(values: Sequence[Any]) -> list[float]:
    """Return the groups as numbers, if all are numbers and no two are equal."""
    numeric = all(
        (isinstance(value, Real) and not isinstance(value, bool)) or _NUMBER.fullmatch(str(value))
        for value in values
    )
    numbers = [float(value) for value in values] if numeric else []
    # One group makes no line.
    return numbers if 1 < len(set(numbers)) == len(values) and np.isfinite(numbers).all() else []


def _interval_note(comparison: ComparisonResult, bars: list[bool]) -> str:
    """Explain the intervals."""
    units = plural(comparison.paired.unit)
    if not any(bars):
        return f"no CI: no group has {FEW} {units} whose values vary"
    alone = f"\nno bar: fewer than {FEW} {units}, or no variance" if not all(bars) else ""
    return f"bar: {comparison.level_in_percent} CI of the mean, by {units}{alone}"
