"""Plot panels, one for each measure, with rows of points and intervals; plot the means of runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from ir_measures.measures import Measure

from permed_measures.arrays import Floats, Ints
from permed_measures.engine.groups import By
from permed_measures.errors import InputError
from permed_measures.experiment import Experiment
from permed_measures.inputs.columns import QrelsLike, RunLike
from permed_measures.intervals import check_level, measure_intervals, no_variance, percent
from permed_measures.measures.headings import headings_of
from permed_measures.measures.parsing import MeasuresLike
from permed_measures.plots.savefig import AS_WRITTEN, LOSS, WIN, axes_in, matplotlib, shown_name, wrapped
from permed_measures.wording import plural, pluralize

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Chosen = Measure | str | Iterable[Measure | str] | None
"""The measures to draw; None means all."""


class Point(NamedTuple):
    """A row of a panel.

    `outcome` is a key of `_LOOKS`; `marks` are the letters of the runs that this run is better than.
    """

    label: str
    letter: str
    value: float
    interval: tuple[float, float] | None
    outcome: str
    marks: str = ""


_LOOKS = {"better": (WIN, WIN), "worse": (LOSS, LOSS), "open": ("0.35", "white"), "mean": ("black", "black")}
"""The colours of the line and of the filling of each outcome."""

COLUMN, PAGE = 3.3, 7.0
"""The width in inches of a single panel (a column of a paper) and of several panels (a page)."""

_MOST_COLUMNS = 3
"""The largest number of panels side by side."""

_MIN_UNITS_FOR_BARS = 5
"""The smallest number of units with bars."""

_MANY = 35
"""With more rows, rows and letters are smaller, so that 60 rows fit on a page."""


def axes_of(ax: Any, n: int, height: float, **sharing: Any) -> list[Axes]:
    """Return an Axes for each of n measures: the given ones, or new ones side by side in a new figure.

    Parameters
    ----------
    ax : Axes, iterable of them, or None
    n : int
    height : float
        Height of a panel in inches.
    sharing : dict
        Arguments of ``Figure.subplots``.
    """
    if ax is None:
        n_columns = min(n, _MOST_COLUMNS)
        n_lines = -(-n // n_columns)
        size = COLUMN if n == 1 else PAGE, n_lines * height
        figure: Figure = matplotlib(".pyplot").figure(figsize=size, layout="constrained")
        axes = list(figure.subplots(n_lines, n_columns, squeeze=False, **sharing).flat)
        for unused in axes[n:]:
            unused.remove()
        for lowest in axes[n - n_columns : n]:  # the last panel of each column, also above a shorter line
            lowest.tick_params(labelbottom=True)
        return axes[:n]
    axes = axes_in(ax)
    if len(axes) != n:
        hint = f"figure.subplots({n}) has as many; or name one measure" if n > 1 else ""
        raise InputError(
            f"ax must be one Axes for each of {pluralize(n, 'measure')} (found {len(axes)})", hint=hint
        )
    return axes


def explain(axes: Sequence[Axes], ax: Any, lines: Iterable[str]) -> None:
    """Explain the panels in a title, over the whole of a new figure, or over the first given Axes."""
    look: dict[str, Any] = {"fontsize": "small", "color": "0.25", **AS_WRITTEN}
    if ax is not None:
        axes[0].set_title("\n".join(lines), loc="left", **look)
        return
    figure: Any = axes[0].figure
    figure.suptitle("\n".join(lines), x=0.01, ha="left", wrap=True, **look)


_LETTERS = 14
"""The approximate number of small letters per inch."""

_FEWEST_LETTERS = 14
"""The smallest width of a label in letters, however long the names beside it are."""


def labelled(axes: Sequence[Axes], ax: Any, text: str, beside: Iterable[str] = ()) -> str:
    """Break the label of a panel into lines that fit into the panel, beside the names of its rows."""
    if ax is not None:
        return wrapped(text)
    figure: Any = axes[0].figure
    letters = _LETTERS * figure.get_figwidth() / min(len(axes), _MOST_COLUMNS)
    names = max((len(shown_name(name)) for name in beside), default=0)
    return wrapped(text, max(int(letters) - names, _FEWEST_LETTERS))


def rows_axes(ax: Any, panels: Sequence[Sequence[Point]]) -> list[Axes]:
    """Return an Axes for each panel, with room for its rows."""
    n_rows = len(panels[0])
    height = (0.135 if n_rows > _MANY else 0.19) * n_rows + 1.2
    return axes_of(ax, len(panels), height, sharey=True, sharex=one_scale(panels))


def sorted_panels(panels: Sequence[Sequence[Point]], n_units: int) -> list[list[Point]]:
    """Sort the rows of all panels by the first panel, the highest on top; drop bars of few units."""
    rows = sorted(zip(*panels, strict=True), key=lambda points: -round(points[0].value, 12))
    if n_units < _MIN_UNITS_FOR_BARS:
        rows = [tuple(point._replace(interval=None) for point in points) for points in rows]
    return [*map(list, zip(*rows, strict=True))]


def about_bars(
    panels: Iterable[Iterable[Point]], bar: str, n_units: int, unit: str, missing: str
) -> list[str]:
    """Explain the bars, if there are any, and why points have no bar, if some have none."""
    has_bar = {point.interval is not None for point in chain(*panels)}
    bars = [f"bar: {bar}"] * (True in has_bar)
    why = f"fewer than {_MIN_UNITS_FOR_BARS} {plural(unit)}" if n_units < _MIN_UNITS_FOR_BARS else missing
    return [*bars, *[f"no {'bar' if bars else 'CI'}: {why}"] * (False in has_bar)]


def one_scale(panels: Iterable[Iterable[Point]]) -> bool:
    """Check whether panels can share one scale: all values are between -1 and 1."""
    return all(abs(x) <= 1 for point in chain(*panels) for x in (point.value, *(point.interval or ())))


def draw_panel(ax: Axes, panel: Sequence[Point], about: str) -> None:
    """Draw the points of a measure with their bars, each in a row."""
    many = len(panel) > _MANY
    letters = "x-small" if many else "small"
    for name, (colour, filling) in _LOOKS.items():
        points = [(y, point) for y, point in enumerate(panel) if point.outcome == name]
        bars = [(y, *point.interval) for y, point in points if point.interval]
        if bars:
            rows, low, high = zip(*bars, strict=True)
            ax.hlines(rows, low, high, colors=colour, linewidth=1.4)
        if points:
            look: dict[str, Any] = {
                "color": colour,
                "markerfacecolor": filling,
                "markersize": 4 if many else 5.5,
            }
            rows, x = zip(*((y, point.value) for y, point in points), strict=True)
            ax.plot(x, rows, "o", linestyle="none", label=name, zorder=3, **look)
    labels = [f"{shown_name(point.label)}  {point.letter}".rstrip() for point in panel]
    ax.set_yticks(range(len(panel)), labels, fontsize=letters, **AS_WRITTEN)
    ax.set_ylim(len(panel) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize="small")
    ax.grid(axis="y", color="0.92", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_xlabel(about, fontsize="small", **AS_WRITTEN)
    right = ax.get_yaxis_transform()
    for y, point in enumerate(panel):
        ax.text(1.01, y, point.marks, transform=right, va="center", fontsize=letters, **AS_WRITTEN)


def plot_means(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    measures: MeasuresLike,
    clusters: By | None = None,
    level: float = 0.95,
    rel: float | None = None,
    ax: Axes | Iterable[Axes] | None = None,
) -> list[Axes]:
    """Plot the mean of each run with its interval, the highest on top.

    Parameters
    ----------
    qrels : QrelsLike
        Judgments in any form. A data set of ir_datasets knows the conversation of each query.
    runs : mapping of str to RunLike
    measures : Measure or str, or an iterable of them, or a dict of name to measure
        Each has its own Axes; the first one orders the runs.
    clusters : str, mapping or callable, optional
        The cluster of each query, as in `compare`: by default its conversation, if the data set has them.
    level : float, between 0 and 1
        Level of the intervals.
    rel : number, optional
        The lowest relevant grade, for each measure that takes one and does not name its own.
    ax : matplotlib Axes, or an iterable of them, optional
        The Axes to draw on, one for each measure; a new Figure if left out, 3.3 inches wide for one measure
        and 7 for more.

    Returns
    -------
    list of matplotlib Axes
        One for each measure, of one figure.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation, with the name of the run; if there are more or fewer Axes than measures, or
        matplotlib is missing.

    Notes
    -----
    The intervals are the intervals of `uncertainty` for other topics, each of one run alone: two runs may
    differ significantly although their intervals overlap. `plot_forest` plots the differences.

    Examples
    --------
    >>> qrels = {f"q{i}": {"a": 1} for i in range(8)}
    >>> runs = {"half": {q: {"a": 1.0} for q in [*qrels][:4]}, "all": {q: {"a": 1.0} for q in qrels}}
    >>> [ax] = plot_means(qrels, runs, "RR")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['all', 'half']
    """
    check_level(level)
    experiment = Experiment.of(qrels, runs, measures, rel, by_name=True)
    experiment.check_nonempty("plot")
    values = {name: evaluation.values for name, evaluation in experiment.evaluate()}
    name, cluster, _ = experiment.clusters(clusters)
    return draw_means(experiment.measures, values, cluster, name, level, ax)


def draw_means(
    measures: Sequence[Measure],
    values: Mapping[str, Floats],
    cluster: Ints,
    clusters: str = "",
    level: float = 0.95,
    ax: Axes | Iterable[Axes] | None = None,
) -> list[Axes]:
    """Plot means of evaluated runs; see `plot_means`.

    Parameters
    ----------
    measures : sequence of Measure
    values : mapping of str to ndarray, shape (n_measures, n_queries)
        By name of the run.
    cluster : ndarray of int64, shape (n_queries,)
        The cluster of each query.
    clusters : str
        Name of the clusters; empty without clusters.
    level, ax
        As in `plot_means`.
    """
    n_units, unit = int(cluster.max()) + 1, "cluster" if clusters else "query"
    intervals = [measure_intervals(measures, of_run.T, cluster, level) for of_run in values.values()]
    points = [
        [
            Point(run, "", float(of_run[index].mean()), estimates[index].value, "mean")
            for (run, of_run), estimates in zip(values.items(), intervals, strict=True)
        ]
        for index in range(len(measures))
    ]
    panels = sorted_panels(points, n_units)
    axes = rows_axes(ax, panels)
    for panel_ax, panel, heading in zip(axes, panels, headings_of(measures), strict=True):
        draw_panel(panel_ax, panel, labelled(axes, ax, f"mean {heading}", values))
    bar = f"{percent(level)} CI of the mean{f', by {clusters}' * bool(clusters)}"
    explain(axes, ax, about_bars(panels, bar, n_units, unit, no_variance(n_units, unit)))
    return axes
