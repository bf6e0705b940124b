"""Plot two runs query by query: sorted differences, and one against the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from ir_measures.measures import Measure

from permed_measures.comparisons.plots.arguments import measure_of, pair_of
from permed_measures.comparisons.plots.style import (
    AS_WRITTEN,
    LOSS,
    WIN,
    axes_for,
    set_title,
    shown_name,
    wrapped,
)
from permed_measures.comparisons.results import ComparisonResult
from permed_measures.intervals import Floats, zero_rounding_noise
from permed_measures.markup import counted

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

    Notes
    -----
    Values that differ by no more than 1e-12 are equal, as in `compare`. The area is the mean difference times
    the number of queries.

    Examples
    --------
    >>> from permed_measures.comparisons.compare import compare
    >>> qrels = {f"q{i}": {"a": 1} for i in range(3)}
    >>> runs = {"old": {"q0": {"a": 1.0}}, "new": {"q1": {"a": 1.0}, "q2": {"b": 2.0, "a": 1.0}}}
    >>> ax = plot_differences(compare(qrels, runs, "RR", baseline="old"))
    >>> print(ax.get_title(loc="left"))
    new minus old
    2 wins, 0 ties, 1 loss; mean +0.1667 (dashed)
    """
    (index, title), paired = measure_of(comparison, measure), comparison.paired
    run, against = pair_of(comparison, run, against)
    differences = zero_rounding_noise(paired.values[run][index] - paired.values[against][index])
    descending = np.sort(differences)[::-1]
    n, mean = len(descending), float(differences.mean())
    ax = axes_for(ax)
    edges = np.arange(n + 1)
    for part, colour in ((np.maximum(descending, 0.0), WIN), (np.minimum(descending, 0.0), LOSS)):
        ax.stairs(part, edges, fill=True, facecolor=colour, edgecolor=colour, linewidth=0.3)
    ax.axhline(0.0, color="black", linewidth=0.8)
    ax.axhline(mean, color="black", linewidth=1.2, linestyle=(0, (5, 2)))
    ax.set_xlim(0, n)
    ax.set_xlabel(f"queries, by difference (n={n:,})")
    ax.set_ylabel(wrapped(f"difference in {title}"), **AS_WRITTEN)
    about = f"{outcomes_of(differences)}; mean {mean + 0.0:+.4f} (dashed)"
    set_title(ax, f"{shown_name(run)} minus {shown_name(against)}\n{about}")
    return ax


def outcomes_of(differences: Floats) -> str:
    """Count wins, ties and losses."""
    outcomes = {"win": differences > 0, "tie": differences == 0, "loss": differences < 0}
    return ", ".join(counted(int(those.sum()), outcome) for outcome, those in outcomes.items())


def plot_scatter(
    comparison: ComparisonResult,
    measure: Measure | str | None = None,
    run: str | None = None,
    against: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the value of one run against that of another on each query.

    Parameters
    ----------
    comparison, measure, run, against, ax
        As in `plot_differences`.

    Returns
    -------
    matplotlib Axes
        A circle for each pair of values, its area by the number of queries that have them: those above the
        diagonal are wins of `run`. The title counts wins, ties and losses.

    Raises
    ------
    InputError
        As in `plot_differences`.

    Notes
    -----
    Values that differ by no more than 1e-12 are equal, as in `compare`. A circle is never smaller than can be
    seen, so that the area of one query among very many is too large.

    Examples
    --------
    >>> from permed_measures.comparisons.compare import compare
    >>> qrels = {f"q{i}": {"a": 1} for i in range(3)}
    >>> runs = {"old": {"q0": {"a": 1.0}}, "new": {"q1": {"a": 1.0}, "q2": {"a": 1.0}}}
    >>> ax = plot_scatter(compare(qrels, runs, "RR", baseline="old", tests=()))
    >>> ax.get_title(loc="left"), ax.get_xlabel(), ax.get_ylabel()
    ('2 wins, 0 ties, 1 loss', 'RR of old', 'RR of new')
    """
    (index, title), paired = measure_of(comparison, measure), comparison.paired
    run, against = pair_of(comparison, run, against)
    x, y = paired.values[against][index], paired.values[run][index]
    differences = zero_rounding_noise(y - x)
    places = np.column_stack([x, y, np.sign(differences)]).round(10)
    at, counts = np.unique(places, axis=0, return_counts=True)
    colours = np.array(["0.45", WIN, LOSS])[at[:, 2].astype(int)]  # of 0, 1 and -1
    sizes = np.maximum(counts * min(16.0, _LARGEST / counts.max()), _SMALLEST)
    ax = axes_for(ax, (4.0, 4.0))
    low, high = min(0.0, x.min(), y.min()), max(x.max(), y.max())
    high = high if high > low else low + 1.0
    ax.plot([low, high], [low, high], color="0.6", linewidth=0.8, zorder=1)
    ax.scatter(at[:, 0], at[:, 1], sizes, c=colours, alpha=0.65, linewidth=0, clip_on=False, zorder=2)
    ax.set_aspect("equal")
    margin = 0.04 * (high - low)
    ax.set(xlim=(low - margin, high + margin), ylim=(low - margin, high + margin))
    ax.set_xlabel(wrapped(f"{title} of {shown_name(against)}"), **AS_WRITTEN)
    ax.set_ylabel(wrapped(f"{title} of {shown_name(run)}"), **AS_WRITTEN)
    set_title(ax, outcomes_of(differences))
    return ax


_LARGEST, _SMALLEST = 600.0, 8.0
"""Square points of the largest circle, and of one that can be seen."""
