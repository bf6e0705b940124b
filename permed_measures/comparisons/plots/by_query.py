"""Plot a comparison query by query: sorted differences, values as a distribution, run against run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from ir_measures.measures import Measure

from permed_measures.comparisons.plots.arguments import group_word, measure_of, pair_of, runs_of
from permed_measures.comparisons.plots.style import (
    AS_WRITTEN,
    COLOURS,
    LOSS,
    WIN,
    add_legend,
    axes_for,
    set_title,
    shown_name,
    styles_of,
    wrapped,
)
from permed_measures.comparisons.results import ComparisonResult
from permed_measures.errors import InputError
from permed_measures.intervals import Floats, Ints, zero_rounding_noise
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
    >>> ax = plot_distribution(compare(qrels, runs, "RR", baseline="old"))
    >>> ax.lines[1].get_xydata().tolist()  # at least 0: 100 %; at least 0.5: 50 %; at least 1: 25 %
    [[0.0, 100.0], [0.5, 50.0], [1.0, 25.0]]
    """
    (index, title), paired = measure_of(comparison, measure), comparison.paired
    names = runs_of(comparison, runs)
    values = {name: paired.values[name][index] for name in names}
    every = np.concatenate([*values.values()])
    low, high = min(0.0, float(every.min())), max(1.0, float(every.max()))
    ax = axes_for(ax)
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
    ax.set_xlabel(wrapped(f"{title} of a query"), **AS_WRITTEN)
    ax.set_ylabel("queries with at least this value (%)")
    ends = {
        name: f"{np.mean(scores == 0):.1%} | {np.mean(scores == 1):.1%}" for name, scores in values.items()
    }
    counts = low < 0 or high > 1
    add_legend(ax, handles, {} if counts else ends, "" if counts else "queries at 0 | at 1")
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


def plot_scatter(
    comparison: ComparisonResult,
    measure: Measure | str | None = None,
    run: str | None = None,
    against: str | None = None,
    ax: Axes | None = None,
    *,
    groups: bool = False,
) -> Axes:
    """Plot the value of one run against that of another on each query.

    Parameters
    ----------
    comparison, measure, run, against, ax
        As in `plot_differences`.
    groups : bool, default False
        Whether to colour the queries by the groups of the comparison, of which there may be eight.

    Returns
    -------
    matplotlib Axes
        A circle for each pair of values, its area by the number of queries that have them: those above the
        diagonal are wins of `run`. The title counts wins, ties and losses. With groups there is a circle for
        each pair of values and group, the smaller ones on top.

    Raises
    ------
    InputError
        As in `plot_differences`; also if `groups` is asked for and the comparison has none, or more than
        eight.

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
    colours, part = _group_colours(comparison) if groups else _outcome_colours(differences)
    ax = axes_for(ax, (5.2, 4.0) if groups else (4.0, 4.0))
    places = np.column_stack([x, y, part]).round(10)
    at, counts = np.unique(places, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    drawn = np.array(list(colours.values()))[at[order, 2].astype(int)]
    sizes = np.maximum(counts[order] * min(16.0, _LARGEST / counts.max()), _SMALLEST)
    low, high = min(0.0, x.min(), y.min()), max(x.max(), y.max())
    high = high if high > low else low + 1.0
    ax.plot([low, high], [low, high], color="0.6", linewidth=0.8, zorder=1)
    ax.scatter(at[order, 0], at[order, 1], sizes, c=drawn, alpha=0.65, linewidth=0, clip_on=False, zorder=2)
    ax.set_aspect("equal")
    margin = 0.04 * (high - low)
    ax.set(xlim=(low - margin, high + margin), ylim=(low - margin, high + margin))
    ax.set_xlabel(wrapped(f"{title} of {shown_name(against)}"), **AS_WRITTEN)
    ax.set_ylabel(wrapped(f"{title} of {shown_name(run)}"), **AS_WRITTEN)
    set_title(ax, outcomes_of(differences))
    if groups:
        key = {name: ax.plot([], [], "o", color=colour)[0] for name, colour in colours.items()}
        add_legend(ax, key, {}, group_word(comparison))
    return ax


_LARGEST, _SMALLEST = 600.0, 8.0
"""Square points of the largest circle, and of one that can be seen."""


def _outcome_colours(differences: Floats) -> tuple[dict[str, str], Ints]:
    """Return the colour of each outcome, and the number of that of each query."""
    return {"win": WIN, "tie": "0.45", "loss": LOSS}, 1 - np.sign(differences).astype(np.int64)


def _group_colours(comparison: ComparisonResult) -> tuple[dict[str, str], Ints]:
    """Return the colour of each group, and the number of that of each query."""
    part, n = comparison.paired.group, len(comparison.groups)
    if part is None or not 0 < n <= len(COLOURS):
        raise InputError(
            f"groups=True needs a comparison with 1 to {len(COLOURS)} groups (found {n})",
            hint="Leave it out, or compare with by= and so many groups",
        )
    colours = dict(zip(map(str, comparison.groups), COLOURS, strict=False))
    if (part < 0).any():
        colours["in no group"] = "0.6"
    return colours, np.where(part < 0, n, part)
