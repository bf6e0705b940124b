"""Plot the differences of runs to a baseline, or their means, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from ir_measures.measures import Measure

from permed_measures.comparisons.plots.arguments import group_word, measure_of, runs_of
from permed_measures.comparisons.plots.style import (
    AS_WRITTEN,
    LOSS,
    WIN,
    checked_axes,
    matplotlib,
    set_title,
    shown_name,
    wrapped,
)
from permed_measures.comparisons.results import (
    LEVELS,
    ComparisonResult,
    ComparisonRow,
    better_pairs,
    deciding,
    letters_of,
    outcome,
)
from permed_measures.errors import InputError
from permed_measures.intervals import FEW
from permed_measures.markup import counted, plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_forest(
    comparison: ComparisonResult,
    measures: Measure | str | Iterable[Measure | str] | None = None,
    ax: Axes | Iterable[Axes] | None = None,
    *,
    runs: Iterable[str] | None = None,
    groups: bool = False,
) -> list[Axes]:
    """Plot the difference of each run to the baseline with its interval, the greatest on top.

    Without a baseline it is the mean of each run, and beside it the letters of the runs that it is
    significantly better than.

    Parameters
    ----------
    comparison : Comparison
    measures : Measure or str, or an iterable of them, optional
        Of the comparison's; all if left out. Each has its own Axes; the runs are in the order of the first.
    ax : matplotlib Axes, or an iterable of them, optional
        Where to draw, one for each measure, with 0.15 inches and more for each row; a new Figure if left out.
    runs : iterable of str, optional
        Which runs to draw; all if left out.
    groups : bool, default False
        Whether to draw each group of the comparison as well, above all queries. Several baselines have a
        section each too.

    Returns
    -------
    list of matplotlib Axes
        One for each measure, of one figure. A filled point is a difference that is significant, as marked in
        the table of the comparison; a hollow one is not, or was not tested.

    Raises
    ------
    InputError
        As in `plot_by_group`; also if there are more or fewer Axes than measures, or `groups` is asked for
        and the comparison has none.

    Notes
    -----
    The intervals are those of the comparison's rows: ``interval`` of a difference, ``intervals["mean"]`` of a
    mean. With max-T those of the differences hold for all differences at once. Those of means are of each run
    alone: that two of them overlap does not say that the runs do not differ.

    References
    ----------
    Lewis & Clarke, Forest plots: trying to see the wood and the trees, BMJ 322, 2001.

    Examples
    --------
    >>> from permed_measures.comparisons.compare import compare
    >>> qrels = {f"q{i}": {"a": 1} for i in range(8)}
    >>> runs = {"old": {q: {"b": 2.0, "a": 1.0} for q in qrels}, "new": {q: {"a": 1.0} for q in qrels}}
    >>> [ax] = plot_forest(compare(qrels, {**runs, "none": {}}, "RR", baseline="old"))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['new', 'none']
    """
    chosen, names = _measures_of(comparison, measures), runs_of(comparison, runs)
    if groups and not comparison.groups:
        raise InputError(
            "groups=True, but the comparison has no groups", hint="Compare with by=, or leave it out"
        )
    panels = panels_of(comparison, [index for index, _ in chosen], names, groups)
    if not panels[0]:
        raise InputError("no run to draw is compared with a baseline", hint="Name others in runs=")
    axes = _axes_of(ax, panels)
    for each, panel, (_, title) in zip(axes, panels, chosen, strict=True):
        draw_panel(each, panel, f"{'difference in' if comparison.baselines else 'mean'} {title}")
        if comparison.baselines:
            each.axvline(0.0, color="black", linewidth=0.8, zorder=1)
    set_title(axes[0], _note(comparison, panels))
    return axes


class Point(NamedTuple):
    """A row of a panel; without an outcome it is the heading of a section.

    `outcome` is one of `_LOOKS`, `marks` the letters of the runs that it is better than.
    """

    label: str
    letter: str = ""
    value: float = float("nan")
    interval: tuple[float, float] | None = None
    outcome: str = ""
    marks: str = ""


_LOOKS = {"better": (WIN, WIN), "worse": (LOSS, LOSS), "open": ("0.35", "white"), "mean": ("black", "black")}
"""The colour of each outcome, and what fills its point."""


# --- what is drawn -----------------------------------------------------------------------------------


def _measures_of(comparison: ComparisonResult, measures: Any) -> list[tuple[int, str]]:
    """Return the index and the heading of each measure to draw."""
    measure_of(comparison, None)
    if measures is None:
        measures = comparison.measures
    chosen = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    if not chosen:
        raise InputError("measures is empty: there is nothing to draw", hint="Leave it out to draw all")
    return list(dict.fromkeys(measure_of(comparison, each) for each in chosen))


def panels_of(
    comparison: ComparisonResult, measures: Sequence[int], runs: Sequence[str], groups: bool = False
) -> list[list[Point]]:
    """Return the rows of each measure, section by section; of each section in the order of the first."""
    panels: list[list[Point]] = [[] for _ in measures]
    for heading, section, baseline in _sections(comparison, groups):
        of_measures = [
            {point.label: point for point in _points(section, index, baseline, runs)} for index in measures
        ]
        order = sorted(of_measures[0].values(), key=lambda point: -point.value)
        for panel, points in zip(panels, of_measures, strict=True):
            panel += [Point(heading)] * bool(heading and order)
            panel += [points[first.label] for first in order]
    return panels


def _sections(comparison: ComparisonResult, groups: bool) -> Iterator[tuple[str, ComparisonResult, str]]:
    """Yield what is drawn apart: a heading, the comparison on some queries, and the baseline, if any."""
    for label, section in comparison.sections() if groups else [("", comparison)]:
        none = ", no bars" * (section.n_clusters < FEW)
        name = "all queries" if section is comparison else f"{group_word(comparison)} {shown_name(label)}"
        for baseline in comparison.baselines or [""]:
            group = [f"{name} (n={section.n_queries:,}{none})"] * groups
            minus = [f"minus {shown_name(baseline)}"] * (len(comparison.baselines) > 1)
            yield ": ".join([*group, *minus]), section, baseline


def _points(section: ComparisonResult, index: int, baseline: str, runs: Sequence[str]) -> Iterator[Point]:
    """Yield the difference of each run to a baseline, or its mean where there is none."""
    rows = section.rows_of(index)
    points = _differences(rows, baseline) if baseline else _means(section, rows, index, runs)
    for point in points:
        if point.label in runs:
            yield point._replace(interval=None) if section.n_clusters < FEW else point


def _differences(rows: Sequence[ComparisonRow], baseline: str) -> Iterator[Point]:
    for row in rows:
        if row.baseline == baseline:
            looks = {1: "better", -1: "worse", 0: "open"}[outcome(row, deciding(row.tests))]
            yield Point(row.run, "", row.difference, row.interval, looks)


def _means(
    section: ComparisonResult, rows: Sequence[ComparisonRow], index: int, runs: Sequence[str]
) -> Iterator[Point]:
    """Yield the mean of each run, and the runs that it is significantly better than."""
    values, test = section.paired.values, deciding(rows[0].tests)
    better, many = better_pairs(rows, test), len(values) > _MOST_LETTERS
    intervals = {row.baseline: row.intervals["baseline_mean"] for row in rows}
    intervals |= {row.run: row.intervals["mean"] for row in rows}
    letters = dict(zip(values, letters_of(len(values)), strict=True))
    for run in runs:
        worse = [letters[other] for other in runs if (run, other) in better]
        marks = f"> {len(worse)}" * bool(worse) if many else "".join(worse)
        letter = letters[run] if test and not many else ""
        yield Point(run, letter, float(values[run][index].mean()), intervals[run], "mean", marks)


_MOST_LETTERS = 26
"""Of more runs, how many a run is better than stands beside it instead of their letters."""


def _note(comparison: ComparisonResult, panels: list[list[Point]]) -> str:
    """Explain bars, points and letters."""
    test, of = deciding(comparison.rows[0].tests), " of the mean"
    n_rows = sum(len(section.rows) for _, section in comparison.sections())
    adjusted = f"p < {LEVELS[0]} ({test}{', adjusted' * (comparison.correction != 'none')})"
    many = len(comparison.paired.values) > _MOST_LETTERS
    lettered, these = ("> n", "n runs") if many else ("letters", "these runs")
    marks = f"{lettered}: significantly better than {these},\n{adjusted}"
    if comparison.baselines:
        each = " of each measure" * (comparison.family == "measure")
        at_once = comparison.interval == "simultaneous" and n_rows > 1
        of = f", for all differences{each} at once" * at_once
        marks = f"filled: {adjusted}"
    bar = f"bar: {comparison.level_in_percent} CI{of}"
    bars = {point.interval is not None for point in chain(*panels) if point.outcome}
    if False in bars:
        few = f"fewer than {FEW} {plural(comparison.paired.unit)}, or no variance"
        bar = f"{bar}\nno bar: {few}" if True in bars else f"no CI: {few}"
    minus = [f"minus {shown_name(each)}" for each in comparison.baselines]
    tested = marks if test else "no significance test was run that is valid here"
    return "\n".join([*(minus if len(minus) == 1 else []), bar, tested])


# --- drawing -----------------------------------------------------------------------------------------


def _axes_of(ax: Any, panels: list[list[Point]]) -> list[Axes]:
    """Return an Axes for each panel, side by side in a new figure if none are given."""
    n = len(panels)
    if ax is None:
        figure: Figure = matplotlib(".pyplot").figure(
            figsize=(1.6 + 2.3 * n, 0.19 * len(panels[0]) + 1.2), layout="constrained"
        )
        return list(figure.subplots(1, n, sharey=True, sharex=one_scale(panels), squeeze=False)[0])
    given = list(ax.flat if hasattr(ax, "flat") else ax if isinstance(ax, Iterable) else [ax])
    given = [checked_axes(each) for each in ([ax] if isinstance(ax, str) else given)]
    if len(given) != n:
        hint = f"figure.subplots({n}) has as many; or name one measure" if n > 1 else ""
        raise InputError(
            f"ax must be one Axes for each of {counted(n, 'measure')} (found {len(given)})", hint=hint
        )
    return given


def one_scale(panels: Iterable[Iterable[Point]]) -> bool:
    """Return whether measures can have one scale: all values are between -1 and 1."""
    points = chain.from_iterable(panels)
    return all(
        abs(x) <= 1 for point in points if point.outcome for x in (point.value, *(point.interval or ()))
    )


def draw_panel(ax: Axes, panel: Sequence[Point], about: str) -> None:
    """Draw the points of a measure with their bars, a row for each."""
    for name, (colour, filling) in _LOOKS.items():
        here = [(y, point) for y, point in enumerate(panel) if point.outcome == name]
        bars = [(y, *point.interval) for y, point in here if point.interval]
        if bars:
            at, low, high = zip(*bars, strict=True)
            ax.hlines(at, low, high, colors=colour, linewidth=1.4)
        if here:
            look: dict[str, Any] = {"color": colour, "markerfacecolor": filling, "markersize": 5.5}
            places, x = zip(*((place, point.value) for place, point in here), strict=True)
            ax.plot(x, places, "o", linestyle="none", label=name, zorder=3, **look)
    names = [shown_name(point.label) if point.outcome else point.label for point in panel]
    labels = [f"{name}  {point.letter}".rstrip() for name, point in zip(names, panel, strict=True)]
    ax.set_yticks(range(len(panel)), labels, fontsize="small", **AS_WRITTEN)
    ax.set_ylim(len(panel) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize="small")
    ax.locator_params(axis="x", nbins=5)
    ax.grid(axis="y", color="0.92", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_xlabel(wrapped(about), **AS_WRITTEN)
    right = ax.get_yaxis_transform()
    for y, point in enumerate(panel):
        ax.text(1.01, y, point.marks, transform=right, va="center", fontsize="small", **AS_WRITTEN)
    for point, label in zip(panel, ax.get_yticklabels(), strict=False):  # the first of a row of Axes has them
        label.set_fontweight("normal" if point.outcome else "bold")
