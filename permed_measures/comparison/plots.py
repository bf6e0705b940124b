"""Plots of comparisons for papers and pages: differences and means with intervals, and single queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures import Measure

from permed_measures.comparison.results import (
    MARK_LEVEL,
    ComparedRuns,
    ComparisonRow,
    better_pairs,
)
from permed_measures.comparison.tables import compact_letters
from permed_measures.errors import InputError, check_choice
from permed_measures.intervals import no_variance
from permed_measures.measures.headings import headings_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.plots.panels import (
    COLUMN,
    Chosen,
    Point,
    about_bars,
    axes_of,
    draw_panel,
    explain,
    labelled,
    one_scale,
    rows_axes,
    sorted_panels,
)
from permed_measures.plots.savefig import AS_WRITTEN, LOSS, WIN, inline_svg, matplotlib, shown_name, wrapped
from permed_measures.results.report import Plot
from permed_measures.wording import pluralize

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_forest(
    comparison: ComparedRuns,
    measures: Chosen = None,
    ax: Axes | Iterable[Axes] | None = None,
) -> list[Axes]:
    """Plot the difference of each run to the baseline with its interval, the largest on top.

    Without a baseline, plot the mean of each run, and beside it the letters of the runs that it is
    significantly better than, if the alphabet is long enough for all runs.

    Parameters
    ----------
    comparison : Comparison
    measures : Measure or str, or an iterable of them, optional
        Measures of the comparison; all if left out. Each has its own Axes; the first one orders the runs.
    ax : matplotlib Axes, or an iterable of them, optional
        The Axes to draw on, one for each measure, with at least 0.15 inches for each row; a new Figure if
        left out.

    Returns
    -------
    list of matplotlib Axes
        One for each measure, of one figure. A filled point is a significant difference, as marked in the
        table of the comparison; a hollow point is not significant, or not tested.

    Raises
    ------
    InputError
        If the comparison does not have the measure, there are more or fewer Axes than measures, or matplotlib
        is missing.

    Notes
    -----
    The intervals come from the comparison's rows: ``interval`` for a difference, ``intervals["mean"]`` for a
    mean. With max-T the intervals of differences are simultaneous. The intervals of means are of each run
    alone: two runs may differ significantly although their intervals overlap.

    References
    ----------
    Lewis & Clarke, Forest plots: trying to see the wood and the trees, BMJ 322, 2001.

    Examples
    --------
    >>> from permed_measures.comparison.compare import compare
    >>> qrels = {f"q{i}": {"a": 1} for i in range(8)}
    >>> runs = {"old": {q: {"b": 2.0, "a": 1.0} for q in qrels}, "new": {q: {"a": 1.0} for q in qrels}}
    >>> [ax] = plot_forest(compare(qrels, {**runs, "none": {}}, "RR", baseline="old"))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['new', 'none']
    """
    chosen = measures_in(comparison, measures)
    panels = panels_of(comparison, [index for index, _ in chosen])
    axes = rows_axes(ax, panels)
    for panel_ax, panel, (_, heading) in zip(axes, panels, chosen, strict=True):
        label = f"{'difference in' if comparison.baseline else 'mean'} {heading}"
        draw_panel(panel_ax, panel, labelled(axes, ax, label, comparison.paired.values))
        if comparison.baseline:
            panel_ax.axvline(0.0, color="black", linewidth=0.8, zorder=1)
    minus = [f"minus {shown_name(comparison.baseline)}"] if comparison.baseline else []
    explain(axes, ax, [*minus, *about_marks(comparison, panels)])
    return axes


def measures_in(comparison: ComparedRuns, asked: Chosen) -> list[tuple[int, str]]:
    """Find measures of the comparison, as index and heading; all of them if none are named."""
    if not isinstance(comparison, ComparedRuns):
        raise InputError(
            f"the first argument must be the result of compare (found {type(comparison).__name__})",
            hint="Pass compare(qrels, runs, measures)",
        )
    headings, names = headings_of(comparison.measures), [*map(str, comparison.measures)]
    is_one = isinstance(asked, (str, Measure)) or not isinstance(asked, Iterable | None)
    chosen: Any = [asked] if is_one else asked
    indices = []
    for measure in chosen or comparison.measures:
        if measure in headings:  # the user's own name of it
            indices.append(headings.index(str(measure)))
        else:
            name = str(parse_measure(measure))
            check_choice("a measure of the comparison", name, names)
            indices.append(names.index(name))
    return [(index, headings[index]) for index in indices]


# --- points and marks --------------------------------------------------------------------------------


def panels_of(comparison: ComparedRuns, measures: Sequence[int]) -> list[list[Point]]:
    """Build the rows of each measure, in the order of the first measure."""
    points = _differences if comparison.baseline else _means
    return sorted_panels([[*points(comparison, index)] for index in measures], comparison.n_clusters)


def _differences(comparison: ComparedRuns, index: int) -> Iterator[Point]:
    """Yield the difference of each run to the baseline."""
    for row in comparison.rows_of(index):
        looks = {1: "better", -1: "worse", 0: "open"}[row.outcome]
        yield Point(row.run, "", row.difference, row.interval, looks)


def _means(comparison: ComparedRuns, index: int) -> Iterator[Point]:
    """Yield the mean of each run, and the runs that it is significantly better than."""
    rows: list[ComparisonRow] = comparison.rows_of(index)
    values, better = comparison.paired.values, better_pairs(rows)
    intervals = {row.baseline: row.intervals["baseline_mean"] for row in rows}
    intervals |= {row.run: row.intervals["mean"] for row in rows}
    letters = dict(zip(values, compact_letters(comparison), strict=False))
    for run in values:
        worse = "".join(letter for other, letter in letters.items() if (run, other) in better)
        mean = float(values[run][index].mean())
        yield Point(run, letters.get(run, ""), mean, intervals[run], "mean", worse)


def about_marks(comparison: ComparedRuns, panels: list[list[Point]]) -> list[str]:
    """Explain the bars, points and letters in these panels."""
    n_units, unit = comparison.n_clusters, comparison.paired.unit
    if comparison.baseline:
        is_simultaneous = comparison.critical is not None and len(comparison.every_row) > 1
        of_what = ", for all differences at once" * is_simultaneous
        reasons = (row.reasons["interval"] for row in comparison.rows if not row.interval)
        missing = " or ".join(dict.fromkeys(reasons))
    else:
        of_what, missing = " of the mean", no_variance(n_units, unit)
    bars = about_bars(panels, f"{comparison.level_in_percent} CI{of_what}", n_units, unit, missing)
    test = comparison.test
    adjusted = f"p < {MARK_LEVEL} ({test}{', adjusted' * (comparison.options.correction != 'none')})"
    if not test:
        return [*bars, "no significance test was run that is valid here"]
    if comparison.baseline:
        return [*bars, f"filled: {adjusted}"]
    letters = f"letters: significantly better than these runs, {adjusted}"
    return [*bars, *[letters] * bool(compact_letters(comparison))]


# --- drawing -----------------------------------------------------------------------------------------


def forest_plots(comparison: ComparedRuns) -> list[Plot]:
    """Build a forest plot of each measure."""
    panels = panels_of(comparison, range(len(comparison.measures)))
    drawn = [x for point in chain(*panels) for x in (point.value, *(point.interval or ()))]
    low, high = min(drawn), max(drawn)
    if comparison.baseline:
        low, high = min(low, 0.0), max(high, 0.0)
    margin = 0.05 * ((high - low) or 1.0)
    limits = (low - margin, high + margin) if one_scale(panels) else None
    return [
        Plot(_text_version(heading, panel), partial(_forest, comparison, heading, panel, limits))
        for heading, panel in zip(comparison.headings.values(), panels, strict=True)
    ]


def _text_version(heading: str, panel: list[Point]) -> str:
    """Describe a forest plot in words, with the numbers of its first runs."""
    rows = []
    for point in panel[:_MAX_RUNS_IN_TEXT]:
        interval = " [{:+.4f}, {:+.4f}]".format(*point.interval) if point.interval else ""
        rows.append(f"{point.label} {point.value:+.4f}{interval}")
    if len(panel) > _MAX_RUNS_IN_TEXT:
        rows.append(pluralize(len(panel) - _MAX_RUNS_IN_TEXT, "other run"))
    return f"{heading}: {'; '.join(rows)}"


_MAX_RUNS_IN_TEXT = 10
"""The number of runs whose values are in the text version of a plot."""


def _forest(
    comparison: ComparedRuns, heading: str, panel: list[Point], limits: tuple[float, float] | None
) -> str:
    """Draw a forest plot for a page, in a figure outside pyplot."""
    size = COLUMN, 0.24 * len(panel) + 0.8  # text of ten points then has the size of the page's text
    figure = matplotlib(".figure").Figure(figsize=size, layout="constrained")
    ax = figure.subplots()
    draw_panel(ax, panel, "difference" if comparison.baseline else "mean")
    if comparison.baseline:
        ax.axvline(0.0, color="black", linewidth=0.8, linestyle=(0, (3, 3)), zorder=1)
    if limits:
        ax.set_xlim(*limits)
    ax.set_title(wrapped(heading), loc="left", fontweight="bold", fontsize="medium", **AS_WRITTEN)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return inline_svg(figure)


# --- query by query ----------------------------------------------------------------------------------


def plot_queries(
    comparison: ComparedRuns, measures: Chosen = None, ax: Axes | Iterable[Axes] | None = None
) -> list[Axes]:
    """Plot the difference of each query to the baseline, sorted from the largest gain to the largest loss.

    One run is drawn as areas above and below 0, with the numbers of queries; several runs are lines. With
    more than seven runs, the seven with the highest means have names, and the others are thin grey lines.

    Parameters
    ----------
    comparison : Comparison
        With a baseline, or of two runs.
    measures : Measure or str, or an iterable of them, optional
        Measures of the comparison; all if left out. Each has its own Axes.
    ax : matplotlib Axes, or an iterable of them, optional
        As in `plot_means`.

    Returns
    -------
    list of matplotlib Axes
        One for each measure, of one figure.

    Raises
    ------
    InputError
        If the comparison has no baseline or does not have the measure, there are more or fewer Axes than
        measures, or matplotlib is missing.

    Notes
    -----
    Each run and measure is sorted by itself: the same position on the axis may be different queries.

    Examples
    --------
    >>> from permed_measures.comparison.compare import compare
    >>> qrels = {f"q{i}": {"a": 1} for i in range(8)}
    >>> runs = {"old": {q: {"b": 2.0, "a": 1.0} for q in qrels}, "new": {q: {"a": 1.0} for q in qrels}}
    >>> [ax] = plot_queries(compare(qrels, runs, "RR", baseline="old"))
    >>> [text.get_text() for text in ax.texts]
    ['8 above 0, 0 below']
    """
    chosen = measures_in(comparison, measures)
    check_baseline(comparison.baseline, len(comparison.paired.values))
    baseline = comparison.paired.pairs[0][1]
    differences = [np.sort(comparison.paired.differences(index), axis=0)[::-1] for index, _ in chosen]
    is_one_scale = all(np.abs(values).max() <= 1 for values in differences)
    axes = axes_of(ax, len(chosen), _HEIGHT, sharex=True, sharey=is_one_scale)
    runs = [run for run, _ in comparison.paired.pairs]
    for panel_ax, values, (_, heading) in zip(axes, differences, chosen, strict=True):
        _draw(panel_ax, runs, values, differences[0].mean(axis=0))
        panel_ax.set_title(labelled(axes, ax, heading), loc="left", fontsize="small", **AS_WRITTEN)
    _name_runs(axes, ax, runs)
    n = pluralize(comparison.n_queries, "query")
    what = f"{shown_name(runs[0])} minus" if len(runs) == 1 else "minus"
    about = f"{what} {shown_name(baseline)}, each of {n}, sorted"
    if ax is None:
        explain(axes, ax, [about])
    else:
        axes[0].set_xlabel(about, fontsize="small", **AS_WRITTEN)
    return axes


def check_baseline(baseline: str | None, n_runs: int) -> None:
    """Raise InputError for a comparison of every pair, unless there is only one pair."""
    if baseline is None and n_runs > 2:
        raise InputError("a plot of queries has their differences to one run", hint="Name the baseline")


_HEIGHT = 1.9  # inches of a panel
_LINE_STYLES: list[tuple[str, Any]] = [
    ("black", "-"),
    (WIN, (0, (5, 1.5))),
    (LOSS, (0, (1, 1))),
    ("0.6", "-"),
    ("black", (0, (6, 1.5, 1, 1.5))),
    (WIN, (0, (2, 1))),
    ("0.6", (0, (4, 2))),
]
"""The colour and the style of each run's line; they also differ in greyscale."""


def _draw(ax: Axes, runs: list[str], values: Any, order: Any) -> None:
    """Draw the sorted differences of a measure, an array of shape (n_queries, n_runs)."""
    edges = np.arange(len(values) + 1)
    if len(runs) == 1:
        column = values[:, 0]
        for colour, part in ((WIN, np.maximum(column, 0)), (LOSS, np.minimum(column, 0))):
            ax.stairs(part, edges, fill=True, color=colour)
        counts = f"{(column > 0).sum():,} above 0, {(column < 0).sum():,} below"
        ax.text(0.98, 0.95, counts, transform=ax.transAxes, ha="right", va="top", fontsize="small")
    best_first = np.argsort(-order.round(12), kind="stable")
    for position, run in reversed([*enumerate(best_first.tolist())] if len(runs) > 1 else []):
        has_name = position < len(_LINE_STYLES)
        colour, style = _LINE_STYLES[position] if has_name else ("0.85", "-")
        width = 1.2 if has_name else 0.5
        look: dict[str, Any] = {"color": colour, "linestyle": style, "linewidth": width}
        ax.stairs(values[:, run], edges, baseline=None, label=shown_name(runs[run]), **look)
    ax.axhline(0.0, color="black", linewidth=0.8, zorder=1)
    ax.set_xlim(0, len(values))
    ax.tick_params(labelsize="small")
    ax.locator_params(axis="x", integer=True)


def _name_runs(axes: list[Axes], ax: Any, runs: list[str]) -> None:
    """Add a legend of several runs below a new figure, which becomes taller, or into the first Axes."""
    if len(runs) == 1:
        return
    handles, labels = axes[0].get_legend_handles_labels()
    handles, labels = handles[::-1], labels[::-1]  # the best run is drawn last
    if len(runs) > len(_LINE_STYLES):
        handles, labels = handles[: len(_LINE_STYLES) + 1], labels[: len(_LINE_STYLES)]
        labels += [pluralize(len(runs) - len(_LINE_STYLES), "other run")]
    look: dict[str, Any] = {"fontsize": "small", "frameon": False}
    if ax is None:
        figure: Any = axes[0].figure
        columns = (1 if len(axes) == 1 else 2) * (1 if max(map(len, labels)) > _SHORT_NAME else 2)
        figure.set_figheight(figure.get_figheight() + 0.17 * -(-len(labels) // columns) + 0.1)
        legend = figure.legend(handles, labels, loc="outside lower left", ncols=columns, **look)
    else:
        legend = axes[0].legend(handles, labels, **look)
    for text in legend.get_texts():
        text.set(**AS_WRITTEN)


_SHORT_NAME = 14
"""The length of a run's name up to which the legend has twice as many columns."""
