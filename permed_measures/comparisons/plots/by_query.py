"""Plot the differences of each query to a baseline, sorted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from permed_measures.comparisons.plots.forest import measures_in
from permed_measures.comparisons.results import Comparison
from permed_measures.errors import InputError
from permed_measures.markup import counted
from permed_measures.plots.drawing import AS_WRITTEN, LOSS, WIN, shown_name
from permed_measures.plots.panels import Chosen, axes_of, explain, labelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_queries(
    comparison: Comparison, measures: Chosen = None, ax: Axes | Iterable[Axes] | None = None
) -> list[Axes]:
    """Plot the difference of each query to the baseline, sorted from the greatest gain to the greatest loss.

    Of one run they are areas above and below 0, with the numbers of queries; of several, a line for each run.
    Of more than seven the seven with the highest means have names, and the others are thin grey lines.

    Parameters
    ----------
    comparison : Comparison
        With a baseline, or of two runs.
    measures : Measure or str, or an iterable of them, optional
        Of the comparison's; all if left out. Each has its own Axes.
    ax : matplotlib Axes, or an iterable of them, optional
        Where to draw, one for each measure; a new Figure if left out, 3.3 inches wide for one measure and 7
        for more.

    Returns
    -------
    list of matplotlib Axes
        One for each measure, of one figure.

    Raises
    ------
    InputError
        If the comparison has no baseline or not the measure, there are more or fewer Axes than measures, or
        matplotlib is missing.

    Notes
    -----
    Each run and measure is sorted by itself: one place on the axis is not one query.

    Examples
    --------
    >>> from permed_measures.comparisons.compare import compare
    >>> qrels = {f"q{i}": {"a": 1} for i in range(8)}
    >>> runs = {"old": {q: {"b": 2.0, "a": 1.0} for q in qrels}, "new": {q: {"a": 1.0} for q in qrels}}
    >>> [ax] = plot_queries(compare(qrels, runs, "RR", baseline="old"))
    >>> [text.get_text() for text in ax.texts]
    ['8 above 0, 0 below']
    """
    found = measures_in(comparison, measures)
    check_baseline(comparison.baseline, len(comparison.paired.values))
    baseline = comparison.paired.pairs[0][1]
    differences = [np.sort(comparison.paired.differences(number), axis=0)[::-1] for number, _ in found]
    one = all(np.abs(each).max() <= 1 for each in differences)
    axes = axes_of(ax, len(found), _HEIGHT, sharex=True, sharey=one)
    runs = [run for run, _ in comparison.paired.pairs]
    for each, values, (_, heading) in zip(axes, differences, found, strict=True):
        _draw(each, runs, values, differences[0].mean(axis=0))
        each.set_title(labelled(axes, ax, heading), loc="left", fontsize="small", **AS_WRITTEN)
    _name_runs(axes, ax, runs)
    n = counted(comparison.n_queries, "query")
    what = f"{shown_name(runs[0])} minus" if len(runs) == 1 else "minus"
    about = f"{what} {shown_name(baseline)}, each of {n}, sorted"
    if ax is None:
        explain(axes, ax, [about])
    else:
        axes[0].set_xlabel(about, fontsize="small", **AS_WRITTEN)
    return axes


def check_baseline(baseline: str | None, n_runs: int) -> None:
    """Refuse a comparison of every pair of runs, unless there is one."""
    if baseline is None and n_runs > 2:
        raise InputError("a plot of queries has their differences to one run", hint="Name the baseline")


_HEIGHT = 1.9  # inches of a panel
_LINES: list[tuple[str, Any]] = [
    ("black", "-"),
    (WIN, (0, (5, 1.5))),
    (LOSS, (0, (1, 1))),
    ("0.6", "-"),
    ("black", (0, (6, 1.5, 1, 1.5))),
    (WIN, (0, (2, 1))),
    ("0.6", (0, (4, 2))),
]
"""The colour and the style of the lines of runs, which differ in grey too."""


def _draw(ax: Axes, runs: list[str], values: Any, order: Any) -> None:
    """Draw the sorted differences of a measure, an array of shape (n_queries, n_runs)."""
    edges = np.arange(len(values) + 1)
    if len(runs) == 1:
        column = values[:, 0]
        for colour, part in ((WIN, np.maximum(column, 0)), (LOSS, np.minimum(column, 0))):
            ax.stairs(part, edges, fill=True, color=colour)
        said = f"{(column > 0).sum():,} above 0, {(column < 0).sum():,} below"
        ax.text(0.98, 0.95, said, transform=ax.transAxes, ha="right", va="top", fontsize="small")
    named = np.argsort(-order.round(12), kind="stable")
    for place, run in reversed([*enumerate(named.tolist())] if len(runs) > 1 else []):
        colour, style = _LINES[place] if place < len(_LINES) else ("0.85", "-")
        width = 1.2 if place < len(_LINES) else 0.5
        look: dict[str, Any] = {"color": colour, "linestyle": style, "linewidth": width}
        ax.stairs(values[:, run], edges, baseline=None, label=shown_name(runs[run]), **look)
    ax.axhline(0.0, color="black", linewidth=0.8, zorder=1)
    ax.set_xlim(0, len(values))
    ax.tick_params(labelsize="small")
    ax.locator_params(nbins=5)


def _name_runs(axes: list[Axes], ax: Any, runs: list[str]) -> None:
    """Write the legend of several runs below a new figure, which grows by it, or into the first Axes."""
    if len(runs) == 1:
        return
    handles, labels = axes[0].get_legend_handles_labels()
    handles, labels = handles[::-1], labels[::-1]  # the first are drawn last
    if len(runs) > len(_LINES):
        handles, labels = handles[: len(_LINES) + 1], labels[: len(_LINES)]
        labels += [counted(len(runs) - len(_LINES), "other run")]
    look: dict[str, Any] = {"fontsize": "small", "frameon": False}
    if ax is None:
        figure: Any = axes[0].figure
        columns = (1 if len(axes) == 1 else 2) * (1 if max(map(len, labels)) > _SHORT else 2)
        figure.set_figheight(figure.get_figheight() + 0.17 * -(-len(labels) // columns) + 0.1)
        found = figure.legend(handles, labels, loc="outside lower left", ncols=columns, **look)
    else:
        found = axes[0].legend(handles, labels, **look)
    for text in found.get_texts():
        text.set(**AS_WRITTEN)


_SHORT = 14
"""Names of so many letters stand in twice as many columns."""
