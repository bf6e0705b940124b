"""Plot a comparison query by query: differences sorted by size, values as a distribution."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from ir_measures.measures import Measure
from rich.cells import cell_len

from permed_measures.markup import counted
from permed_measures.plots.arguments import measure_of, pair_of, runs_of
from permed_measures.plots.fonts import PlotText
from permed_measures.plots.style import GAIN, LOSS, add_legend, axes_for, set_title, styles_of, wrapped
from permed_measures.statistics.results import ComparisonResult
from permed_measures.statistics.significance import Floats, zero_rounding_noise

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_differences(
    comparison: ComparisonResult,
    measure: Measure | str | None = None,
    run: str | None = None,
    against: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the difference between two runs on each query, sorted from the greatest gain to the greatest loss.

    Parameters
    ----------
    comparison, measure, ax
        As in `plot_by_group`.
    run : str, optional
        If left out, the first run that the comparison compares with `against`.
    against : str, optional
        If left out, the baseline; without a baseline the first run, or the second for the first.

    Returns
    -------
    matplotlib Axes
        A step for each query; the title counts wins, ties and losses, and the dashed line is the mean.

    Raises
    ------
    InputError
        As in `plot_by_group`; also if the two runs are the same.

    Warns
    -----
    PermedWarning
        If no installed font has a character of a name.

    Notes
    -----
    Values that differ by no more than 1e-12 are equal, as in `compare`. The area is the mean difference times
    the number of queries.

    Examples
    --------
    >>> from permed_measures.comparisons.compare import compare
    >>> qrels = {f"q{i}": {"a": 1} for i in range(3)}
    >>> runs = {"old": {"q0": {"a": 1.0}}, "new": {"q1": {"a": 1.0}, "q2": {"b": 2.0, "a": 1.0}}}
    >>> ax = plot_differences(compare(qrels, runs, "RR", baseline="old", tests="bootstrap"))
    >>> print(ax.get_title(loc="left"))
    new minus old
    2 wins, 0 ties, 1 loss; mean +0.1667 (dashed)
    """
    (index, title), paired = measure_of(comparison, measure), comparison.paired
    run, against = pair_of(comparison, run, against)
    differences = zero_rounding_noise(paired.values[run][index] - paired.values[against][index])
    descending = np.sort(differences)[::-1]
    n, mean = len(descending), float(differences.mean())
    texts = PlotText.of([run, against, title])
    ax, _ = axes_for(ax)
    edges = np.arange(n + 1)
    for part, colour in ((np.maximum(descending, 0.0), GAIN), (np.minimum(descending, 0.0), LOSS)):
        ax.stairs(part, edges, fill=True, facecolor=colour, edgecolor=colour, linewidth=0.3)
    ax.axhline(0.0, color="black", linewidth=0.8)
    ax.axhline(mean, color="black", linewidth=1.2, linestyle=(0, (5, 2)))
    ax.set_xlim(0, n)
    ax.set_xlabel(f"queries, by difference (n={n:,})", **texts.style)
    ax.set_ylabel(wrapped(texts.shown(f"difference in {title}")), **texts.style)
    names = texts.names[run], texts.names[against]
    between = " " if cell_len("".join(names)) < 45 else "\n"
    about = f"{outcomes_of(differences)}; mean {mean + 0.0:+.4f} (dashed)"
    set_title(ax, texts, f"{names[0]}{between}minus {names[1]}\n{about}")
    return ax


def outcomes_of(differences: Floats) -> str:
    """Count wins, ties and losses."""
    outcomes = {"win": differences > 0, "tie": differences == 0, "loss": differences < 0}
    return ", ".join(counted(int(those.sum()), outcome) for outcome, those in outcomes.items())


def plot_distribution(
    comparison: ComparisonResult,
    measure: Measure | str | None = None,
    ax: Axes | None = None,
    *,
    runs: Iterable[str] | None = None,
) -> Axes:
    """Plot, for each value of the measure, the share of queries that reach it, by run.

    Parameters
    ----------
    comparison, measure, ax, runs
        As in `plot_by_group`.

    Returns
    -------
    matplotlib Axes
        A line for each run, in steps: at x, the percentage of queries with a value of at least x.

    Raises
    ------
    InputError
        As in `plot_by_group`.

    Warns
    -----
    PermedWarning
        If no installed font has a character of a name.

    Notes
    -----
    This is one minus the empirical distribution function. Nothing is binned or smoothed: the queries that
    score 0 are the drop at 0, those that score 1 the height that is left at 1 (both stand in the legend), and
    a higher line is a better run. For a measure between 0 and 1 the area under a line is the mean.

    Examples
    --------
    >>> from permed_measures.comparisons.compare import compare
    >>> qrels = {f"q{i}": {"a": 1} for i in range(4)}
    >>> runs = {"old": {"q0": {"a": 1.0}}, "new": {"q1": {"a": 1.0}, "q2": {"b": 2.0, "a": 1.0}}}
    >>> ax = plot_distribution(compare(qrels, runs, "RR", baseline="old", tests="bootstrap"))
    >>> ax.lines[1].get_xydata().tolist()  # at least 0: 100 %; at least 0.5: 50 %; at least 1: 25 %
    [[0.0, 100.0], [0.5, 50.0], [1.0, 25.0]]
    """
    (index, title), paired = measure_of(comparison, measure), comparison.paired
    names = runs_of(comparison, runs)
    values = {name: paired.values[name][index] for name in names}
    every = np.concatenate([*values.values()])
    low, high = min(0.0, float(every.min())), max(1.0, float(every.max()))
    texts = PlotText.of([*names, title])
    ax, own = axes_for(ax)
    styles = styles_of(paired.values)
    handles = {}
    for place, (name, scores) in enumerate(values.items()):
        x, y = _reaching(scores, low, high)
        marks = _marks(x, (place + 0.5) / len(values))
        drawn = ax.plot(x, y, drawstyle="steps-pre", markevery=marks, label=name, **styles[name])
        handles[name] = drawn[0]
    margin = 0.03 * (high - low)
    ax.set_xlim(low - margin, high + margin)
    ax.set_ylim(-2, 102)
    ax.set_xlabel(wrapped(texts.shown(f"{title} of a query")), **texts.style)
    ax.set_ylabel("queries with at least this value (%)", **texts.style)
    if low < 0 or high > 1:
        add_legend(ax, handles, texts, own)
        return ax
    ends = {
        name: f"{np.mean(scores == 0):.1%} | {np.mean(scores == 1):.1%}" for name, scores in values.items()
    }
    add_legend(ax, handles, texts, own, notes=ends, heading="queries at 0 | at 1")
    return ax


def _reaching(values: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Return the values that occur, and the percentage of queries with at least that; from low to high."""
    at, counts = np.unique(values, return_counts=True)
    share = 100 * counts[::-1].cumsum()[::-1] / len(values)
    start, end = [low] * bool(at[0] > low), [high] * bool(at[-1] < high)
    return np.array([*start, *at, *end]), np.array([*(100.0 for _ in start), *share, *(0.0 for _ in end)])


def _marks(x: Floats, shift: float) -> list[int]:
    """Choose the points with a marker: spread over the axis, shifted for each run, and the last."""
    targets = x[0] + (x[-1] - x[0]) * (np.arange(4) + shift) / 4
    nearest_to = np.abs(x - targets[:, None]).argmin(axis=1)
    return sorted({*nearest_to.tolist(), len(x) - 1} - {0})
