"""Plot the differences of runs to a baseline, or their means, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from ir_measures.measures import Measure
from rich.cells import cell_len

from permed_measures.errors import InputError
from permed_measures.markup import counted, plural
from permed_measures.plots.arguments import group_word, measure_of, runs_of
from permed_measures.plots.fonts import PlotText, on_one_line, shortened
from permed_measures.plots.style import (
    GAIN,
    LETTER,
    LOSS,
    checked_axes,
    font_scale,
    new_figure,
    set_title,
    wrapped,
)
from permed_measures.statistics.intervals import FEW
from permed_measures.statistics.letters import better_pairs, is_significant, letters_of
from permed_measures.statistics.results import ComparisonResult, ComparisonRow, deciding
from permed_measures.statistics.significance import LEVELS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        Of the comparison's; all if left out. Each has its own Axes and its own order.
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

    Warns
    -----
    PermedWarning
        If no installed font has a character of a name.

    Notes
    -----
    The intervals are those of the comparison's rows: ``interval`` of a difference, ``intervals["mean"]`` of a
    mean. With max-T those of the differences hold for all differences at once, and a point is filled where
    Those of means are of each run alone: that two of them overlap does
    not say that the runs do not differ.

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
    panels = [_panel(comparison, index, names, groups) for index, _ in chosen]
    if not panels[0]:
        raise InputError("no run to draw is compared with a baseline", hint="Name others in runs=")
    note, titles = _note(comparison, panels), [title for _, title in chosen]
    labels = dict.fromkeys(point.label for point in panels[0])
    texts = PlotText.of([*labels, *titles, note])
    longest = max(cell_len(_label(point, texts) + point.marks) for point in chain(*panels))
    axes = _axes_of(ax, panels, longest)
    what = "difference in" if comparison.baselines else "mean"
    for panel, title, each in zip(panels, titles, axes, strict=True):
        _draw(each, panel, texts)
        if comparison.baselines:
            each.axvline(0.0, color="black", linewidth=0.8, zorder=1)
        each.set_xlabel(wrapped(texts.shown(f"{what} {title}")), **texts.style)
    set_title(axes[0], texts, note)
    return axes


class _Point(NamedTuple):
    """A row of a panel; without a value it is the heading of a section.

    `outcome` is one of `_LOOKS`, `marks` the letters of the runs that it is better than.
    """

    label: str
    letter: str = ""
    value: float = float("nan")
    interval: tuple[float, float] | None = None
    outcome: str = ""
    marks: str = ""


_LOOKS = {
    "better": (GAIN, GAIN),
    "worse": (LOSS, LOSS),
    "open": ("0.35", "white"),
    "mean": ("black", "black"),
}
"""The colour of each outcome, and what fills its point."""
_ROW, _HIGHEST = 0.19, 11.0  # inches


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


def _panel(comparison: ComparisonResult, index: int, runs: list[str], groups: bool) -> list[_Point]:
    """Return the rows of a measure, section by section, each from the greatest value to the least."""
    rows: list[_Point] = []
    for heading, section, baseline in _sections(comparison, groups):
        points = _differences(section, index, baseline) if baseline else _means(section, index, runs)
        points = [point for point in points if point.label in runs]
        if section.n_clusters < FEW:
            points = [point._replace(interval=None) for point in points]
        rows += [_Point(heading)] * bool(heading and points)
        rows += sorted(points, key=lambda point: -point.value)
    return rows


def _sections(comparison: ComparisonResult, groups: bool) -> Iterator[tuple[str, ComparisonResult, str]]:
    """Yield what is drawn apart: a heading, the comparison on some queries, and the baseline, if any."""
    for label, section in comparison.sections() if groups else [("", comparison)]:
        none = ", no bars" * (section.n_clusters < FEW)
        value = shortened(on_one_line(label))
        name = "all queries" if section is comparison else f"{group_word(comparison)} {value}"
        for baseline in comparison.baselines or [""]:
            group = [f"{name} (n={section.n_queries:,}{none})"] * groups
            minus = [f"minus {shortened(on_one_line(baseline))}"] * (len(comparison.baselines) > 1)
            yield ": ".join([*group, *minus]), section, baseline


def _rows_of(section: ComparisonResult, index: int) -> list[ComparisonRow]:
    """Return the rows of a measure."""
    n_pairs = len(section.paired.pairs)
    return section.rows[index * n_pairs : (index + 1) * n_pairs]


def _differences(section: ComparisonResult, index: int, baseline: str) -> list[_Point]:
    """Return the difference of each run to a baseline."""
    rows = [row for row in _rows_of(section, index) if row.baseline == baseline]
    points = []
    for row in rows:
        significant = is_significant(row, deciding(row.tests))
        outcome = ("better" if row.difference > 0 else "worse") if significant else "open"
        points.append(_Point(row.run, "", row.difference, row.interval, outcome))
    return points


def _means(section: ComparisonResult, index: int, runs: list[str]) -> list[_Point]:
    """Return the mean of each run, and the runs that it is significantly better than."""
    rows, values = _rows_of(section, index), section.paired.values
    test = deciding(rows[0].tests)
    better, numbered = better_pairs(rows, test), len(values) > _MOST_LETTERS
    intervals = {row.baseline: row.intervals["baseline_mean"] for row in rows}
    intervals |= {row.run: row.intervals["mean"] for row in rows}
    letters = dict(zip(values, letters_of(len(values)), strict=True))
    points = []
    for run in runs:
        beaten = [letters[other] for other in runs if (run, other) in better]
        marks = f"> {len(beaten)}" * bool(beaten) if numbered else "".join(beaten)
        letter = "" if numbered or not test else letters[run]
        points.append(_Point(run, letter, float(values[run][index].mean()), intervals[run], "mean", marks))
    return points


_MOST_LETTERS = 26
"""Of more runs, how many a run is better than stands beside it instead of their letters."""


def _note(comparison: ComparisonResult, panels: list[list[_Point]]) -> str:
    """Explain bars, points and letters."""
    test, of = deciding(comparison.rows[0].tests), " of the mean"
    n_rows = sum(len(section.rows) for _, section in comparison.sections())
    adjusted = f"p < {LEVELS[0]} ({test}{', adjusted' * (comparison.correction != 'none')})"
    lettered = "> n" if len(comparison.paired.values) > _MOST_LETTERS else "letters"
    these = "n runs" if lettered == "> n" else "these runs"
    marks = f"{lettered}: significantly better than {these},\n{adjusted}"
    if comparison.baselines:
        each = " of each measure" * (comparison.family == "measure")
        all_of_them = comparison.interval == "simultaneous" and n_rows > 1
        of = f", for all differences{each} at once" * all_of_them
        marks = f"filled: {adjusted}"
    minus = [f"minus {shortened(on_one_line(each))}" for each in comparison.baselines]
    bar = f"bar: {comparison.level_in_percent} interval{of}"
    bars = {point.interval is not None for point in chain(*panels) if point.outcome}
    if False in bars:
        few = f"fewer than {FEW} {plural(comparison.paired.unit)}, or no variance"
        bar = f"{bar}\nno bar: {few}" if True in bars else f"no intervals: {few}"
    return "\n".join(
        [
            *(minus if len(minus) == 1 else []),
            bar,
            marks if test else "no significance test was run that is valid here",
        ]
    )


# --- drawing -----------------------------------------------------------------------------------------


def _axes_of(ax: Any, panels: list[list[_Point]], longest: int) -> list[Axes]:
    """Return an Axes for each panel, of a new figure if none are given."""
    n, n_rows = len(panels), len(panels[0])
    if ax is not None:
        given = [checked_axes(each) for each in np.array(ax, dtype=object).ravel()]
        if len(given) != n:
            hint = f"figure.subplots({n}) has as many; or name one measure" if n > 1 else ""
            raise InputError(
                f"ax must be one Axes for each of {counted(n, 'measure')} (found {len(given)})", hint=hint
            )
        return given
    height = _ROW * n_rows + 0.6
    columns = next(c for c in range(1, n + 1) if -(-n // c) * height <= _HIGHEST or c == n)
    lines = -(-n // columns)
    figure = new_figure((columns * (3.1 + longest * 0.8 * LETTER), lines * height + 0.5))
    return [figure.add_subplot(lines, columns, place + 1) for place in range(n)]


def _label(point: _Point, texts: PlotText) -> str:
    """Return what stands beside a row; a heading is not shortened."""
    name = texts.names[point.label] if point.outcome else texts.shown(point.label)
    return f"{name}  {point.letter}".rstrip()


def _draw(ax: Axes, panel: list[_Point], texts: PlotText) -> None:
    """Draw the points of a measure with their bars, a row for each."""
    for outcome, (colour, filling) in _LOOKS.items():
        here = [(y, point) for y, point in enumerate(panel) if point.outcome == outcome]
        bars = [(y, *point.interval) for y, point in here if point.interval]
        if bars:
            at, low, high = zip(*bars, strict=True)
            ax.hlines(at, low, high, colors=colour, linewidth=1.4)
        if here:
            look: dict[str, Any] = {
                "marker": "o",
                "markersize": 5.5 * font_scale(),
                "color": colour,
                "markerfacecolor": filling,
            }
            x = [point.value for _, point in here]
            ax.plot(x, [y for y, _ in here], linestyle="none", label=outcome, zorder=3, **look)
    ax.set_yticks(
        range(len(panel)), [_label(point, texts) for point in panel], fontsize="small", **texts.style
    )
    ax.set_ylim(len(panel) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize="small")
    ax.locator_params(axis="x", nbins=5)
    ax.grid(axis="y", color="0.92", linewidth=0.6)
    ax.set_axisbelow(True)
    right = ax.get_yaxis_transform()
    for y, (point, label) in enumerate(zip(panel, ax.get_yticklabels(), strict=True)):
        label.set_fontweight("normal" if point.outcome else "bold")
        ax.text(1.01, y, point.marks, transform=right, va="center", fontsize="small", **texts.style)
