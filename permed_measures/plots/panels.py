"""Panels, one for each measure: rows of points with intervals; the means of runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from ir_measures.measures import Measure

from permed_measures.arrays import Floats, Ints
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.groups import By, clusters_of
from permed_measures.engine.tables import dataset_of
from permed_measures.errors import InputError
from permed_measures.escaping import plural, pluralize
from permed_measures.inputs.columns import QrelsLike, RunLike
from permed_measures.inputs.door import read
from permed_measures.intervals import check_level, measure_intervals, no_variance, percent
from permed_measures.measures.headings import headings_of
from permed_measures.measures.parsing import MeasuresLike, measures_of
from permed_measures.plots.savefig import AS_WRITTEN, LOSS, WIN, axes_in, matplotlib, shown_name, wrapped
from permed_measures.run_notes import check_named, check_nonempty, errors_name_run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Chosen = Measure | str | Iterable[Measure | str] | None
"""The measures that are drawn; None is all."""


class Point(NamedTuple):
    """A row of a panel.

    `outcome` is one of `_LOOKS`, `marks` the letters of the runs that it is better than.
    """

    label: str
    letter: str
    value: float
    interval: tuple[float, float] | None
    outcome: str
    marks: str = ""


_LOOKS = {"better": (WIN, WIN), "worse": (LOSS, LOSS), "open": ("0.35", "white"), "mean": ("black", "black")}
"""The colour of each outcome, and what fills its point."""

COLUMN, PAGE = 3.3, 7.0
"""Inches: a panel is as wide as a column of a paper, several are as wide as its page."""

_MOST_COLUMNS = 3
"""So many measures stand side by side; more make further lines of panels."""

_MIN_UNITS_FOR_BARS = 5
"""Fewer units than this have no bar."""

_MANY = 35
"""More rows than this are lower, and have smaller letters, so that 60 of them fit on a page."""


def axes_of(ax: Any, n: int, height: float, **sharing: Any) -> list[Axes]:
    """Return an Axes for each of n measures, those that are given or side by side in a new figure.

    Parameters
    ----------
    ax : Axes, iterable of them, or None
    n : int
    height : float
        Of a panel in inches.
    sharing : dict
        For ``Figure.subplots``.
    """
    if ax is None:
        n_columns = min(n, _MOST_COLUMNS)
        n_lines = -(-n // n_columns)
        size = COLUMN if n == 1 else PAGE, n_lines * height
        figure: Figure = matplotlib(".pyplot").figure(figsize=size, layout="constrained")
        axes = list(figure.subplots(n_lines, n_columns, squeeze=False, **sharing).flat)
        for each in axes[n:]:
            each.remove()
        for each in axes[n - n_columns : n]:  # also where the line below has fewer panels
            each.tick_params(labelbottom=True)
        return axes[:n]
    given = axes_in(ax)
    if len(given) != n:
        hint = f"figure.subplots({n}) has as many; or name one measure" if n > 1 else ""
        raise InputError(
            f"ax must be one Axes for each of {pluralize(n, 'measure')} (found {len(given)})", hint=hint
        )
    return given


def explain(axes: Sequence[Axes], ax: Any, lines: Iterable[str]) -> None:
    """Say above the panels what they show: over the whole of a new figure, else over the first Axes."""
    look: dict[str, Any] = {"fontsize": "small", "color": "0.25", **AS_WRITTEN}
    if ax is not None:
        axes[0].set_title("\n".join(lines), loc="left", **look)
        return
    figure: Any = axes[0].figure
    figure.suptitle("\n".join(lines), x=0.01, ha="left", wrap=True, **look)


_LETTERS = 14
"""Small letters to an inch, about."""

_FEWEST_LETTERS = 14
"""A label has lines of so many letters, however long the names beside it are."""


def labelled(axes: Sequence[Axes], ax: Any, text: str, beside: Iterable[str] = ()) -> str:
    """Break the label of a panel into lines that are no wider than the panel, with names beside it."""
    if ax is not None:
        return wrapped(text)
    figure: Any = axes[0].figure
    letters = _LETTERS * figure.get_figwidth() / min(len(axes), _MOST_COLUMNS)
    names = max((len(shown_name(each)) for each in beside), default=0)
    return wrapped(text, max(int(letters) - names, _FEWEST_LETTERS))


def rows_axes(ax: Any, panels: Sequence[Sequence[Point]]) -> list[Axes]:
    """Return an Axes for each panel, with room for its rows."""
    n_rows = len(panels[0])
    height = (0.135 if n_rows > _MANY else 0.19) * n_rows + 1.2
    return axes_of(ax, len(panels), height, sharey=True, sharex=one_scale(panels))


def sorted_panels(panels: Sequence[Sequence[Point]], n_units: int) -> list[list[Point]]:
    """Return panels with the rows in the order of the first, the highest on top, and no bars of few units."""
    rows = sorted(zip(*panels, strict=True), key=lambda points: -round(points[0].value, 12))
    if n_units < _MIN_UNITS_FOR_BARS:
        rows = [tuple(point._replace(interval=None) for point in points) for points in rows]
    return [*map(list, zip(*rows, strict=True))]


def about_bars(
    panels: Iterable[Iterable[Point]], bar: str, n_units: int, unit: str, missing: str
) -> list[str]:
    """Say what bars are, where there are any, and why points have none, where they have not."""
    bars = {point.interval is not None for point in chain(*panels)}
    said = [f"bar: {bar}"] * (True in bars)
    why = f"fewer than {_MIN_UNITS_FOR_BARS} {plural(unit)}" if n_units < _MIN_UNITS_FOR_BARS else missing
    return [*said, *[f"no {'bar' if said else 'CI'}: {why}"] * (False in bars)]


def one_scale(panels: Iterable[Iterable[Point]]) -> bool:
    """Return whether measures can have one scale: all values are between -1 and 1."""
    return all(abs(x) <= 1 for point in chain(*panels) for x in (point.value, *(point.interval or ())))


def draw_panel(ax: Axes, panel: Sequence[Point], about: str) -> None:
    """Draw the points of a measure with their bars, a row for each."""
    many = len(panel) > _MANY
    letters = "x-small" if many else "small"
    for name, (colour, filling) in _LOOKS.items():
        here = [(y, point) for y, point in enumerate(panel) if point.outcome == name]
        bars = [(y, *point.interval) for y, point in here if point.interval]
        if bars:
            at, low, high = zip(*bars, strict=True)
            ax.hlines(at, low, high, colors=colour, linewidth=1.4)
        if here:
            look: dict[str, Any] = {
                "color": colour,
                "markerfacecolor": filling,
                "markersize": 4 if many else 5.5,
            }
            places, x = zip(*((place, point.value) for place, point in here), strict=True)
            ax.plot(x, places, "o", linestyle="none", label=name, zorder=3, **look)
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
        Each has its own Axes; the runs are in the order of the first.
    clusters : str, mapping or callable, optional
        Which queries belong together, as in `compare`: by default the conversations of a data set that has
        them.
    level : float, between 0 and 1
        Of the intervals.
    rel : number, optional
        The lowest relevant grade, for each measure that takes one and does not name its own.
    ax : matplotlib Axes, or an iterable of them, optional
        Where to draw, one for each measure; a new Figure if left out, 3.3 inches wide for one measure and 7
        for more.

    Returns
    -------
    list of matplotlib Axes
        One for each measure, of one figure.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation, naming the run; if there are more or fewer Axes than measures, or matplotlib is
        missing.

    Notes
    -----
    The intervals are those of `uncertainty` for other topics, each of one run alone: that two of them overlap
    does not say that the runs do not differ. `plot_forest` has the differences.

    Examples
    --------
    >>> qrels = {f"q{i}": {"a": 1} for i in range(8)}
    >>> runs = {"half": {q: {"a": 1.0} for q in [*qrels][:4]}, "all": {q: {"a": 1.0} for q in qrels}}
    >>> [ax] = plot_means(qrels, runs, "RR")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['all', 'half']
    """
    check_level(level)
    check_named(runs)
    values, table = {}, read(qrels, "relevance")
    evaluator = PermedEvaluator(measures_of(measures, rel), table)
    check_nonempty(evaluator.judgments, evaluator.measures, "plot", runs)
    for name in runs:
        with errors_name_run(name):
            values[name] = evaluator.evaluate(read(runs[name], "score")).values
    name, cluster, _ = clusters_of(evaluator.judgments.query_ids, clusters, dataset_of(table))
    return draw_means(list(evaluator.measures), values, cluster, name, level, ax)


def draw_means(
    measures: Sequence[Measure],
    values: Mapping[str, Floats],
    cluster: Ints,
    clusters: str = "",
    level: float = 0.95,
    ax: Axes | Iterable[Axes] | None = None,
) -> list[Axes]:
    """Plot means; see `plot_means`.

    Parameters
    ----------
    measures : sequence of Measure
    values : mapping of str to ndarray, shape (n_measures, n_queries)
        Of each run.
    cluster : ndarray of int64, shape (n_queries,)
        The cluster of each query.
    clusters : str
        What the clusters are; empty without any.
    level, ax
        As in `plot_means`.
    """
    n_units, unit = int(cluster.max()) + 1, "cluster" if clusters else "query"
    intervals = [measure_intervals(measures, each.T, cluster, level) for each in values.values()]
    points = [
        [
            Point(run, "", float(each[number].mean()), found[number].value, "mean")
            for (run, each), found in zip(values.items(), intervals, strict=True)
        ]
        for number in range(len(measures))
    ]
    panels = sorted_panels(points, n_units)
    axes = rows_axes(ax, panels)
    for each_ax, panel, heading in zip(axes, panels, headings_of(measures), strict=True):
        draw_panel(each_ax, panel, labelled(axes, ax, f"mean {heading}", values))
    bar = f"{percent(level)} CI of the mean{f', by {clusters}' * bool(clusters)}"
    explain(axes, ax, about_bars(panels, bar, n_units, unit, no_variance(n_units, unit)))
    return axes
