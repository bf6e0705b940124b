"""The plots of a page: a small one for each measure, with one order of the runs and one scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from permed_measures.comparisons.plots.by_group import plot_by_group
from permed_measures.comparisons.plots.forest import Point, draw_panel, one_scale, panels_of
from permed_measures.comparisons.plots.save import inline_svg
from permed_measures.comparisons.plots.style import AS_WRITTEN, add_legend, matplotlib, styles_of, wrapped
from permed_measures.comparisons.results import ComparisonResult
from permed_measures.measures.headings import headings_of
from permed_measures.results.report import Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 3.4  # inches: letters of ten points then have the size of a page's
_MOST_RUNS = 30
"""The number of runs whose lines over groups can be told apart."""


def forest_plots(comparison: ComparisonResult) -> list[Plot]:
    """Return a forest plot of each measure."""
    headings = headings_of(comparison.measures)
    panels = panels_of(comparison, range(len(headings)))
    shown = [x for point in chain(*panels) for x in (point.value, *(point.interval or ()))]
    low, high = min(shown), max(shown)
    if comparison.baseline:
        low, high = min(low, 0.0), max(high, 0.0)
    room = 0.05 * ((high - low) or 1.0)
    limits = (low - room, high + room) if one_scale(panels) else None
    return [
        Plot(_about(heading, panel), partial(_forest, comparison, heading, panel, limits))
        for heading, panel in zip(headings, panels, strict=True)
    ]


def _about(heading: str, panel: list[Point]) -> str:
    """Say in words what a forest plot shows."""
    rows = []
    for point in panel[:10]:
        ends = " [{:+.4f}, {:+.4f}]".format(*point.interval) if point.interval else ""
        rows.append(f"{point.label} {point.value:+.4f}{ends}")
    return f"{heading}: {'; '.join(rows)}"


def _forest(
    comparison: ComparisonResult, heading: str, panel: list[Point], limits: tuple[float, float] | None
) -> str:
    ax = _small(0.24 * len(panel) + 0.8)
    draw_panel(ax, panel, "difference" if comparison.baseline else "mean")
    if comparison.baseline:
        ax.axvline(0.0, color="black", linewidth=0.8, linestyle=(0, (3, 3)), zorder=1)
    if limits:
        ax.set_xlim(*limits)
    return _drawn(ax, heading)


def group_plots(comparison: ComparisonResult) -> Iterator[Plot]:
    """Yield the means of each measure by group, and the legend; none where runs cannot be told apart."""
    runs = list(comparison.paired.values)
    if not comparison.groups or len(runs) > _MOST_RUNS:
        return
    for heading in headings_of(comparison.measures):
        yield Plot(f"{heading} by {comparison.by}", partial(_means, comparison, heading))
    yield Plot(f"Legend: {', '.join(runs)}", partial(_legend, runs))


def _means(comparison: ComparisonResult, heading: str) -> str:
    ax = plot_by_group(comparison, measure=heading, ax=_small(2.8))
    ax.legend_ = None  # one for all panels stands after them
    ax.set_ylabel("")
    low, high = ax.dataLim.intervaly
    if low >= 0 and high <= 1:
        ax.set_ylim(-0.03, 1.03)  # the same for all such measures
    return _drawn(ax, heading)


def _legend(runs: list[str]) -> str:
    ax = _small(0.25 * len(runs) + 0.1)
    lines = {name: ax.plot([], [], label=name, **style)[0] for name, style in styles_of(runs).items()}
    add_legend(ax, lines, left=0.0)
    ax.set_axis_off()
    return inline_svg(_figure(ax))


def _small(height: float) -> Axes:
    """Return the Axes of a figure that pyplot does not know."""
    make: Callable[..., Any] = matplotlib(".figure").Figure
    return make(figsize=(_WIDTH, height), layout="constrained").subplots()  # type: ignore[no-any-return]


def _drawn(ax: Axes, heading: str) -> str:
    ax.set_title(wrapped(heading), loc="left", fontweight="bold", fontsize="medium", **AS_WRITTEN)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return inline_svg(_figure(ax))


def _figure(ax: Axes) -> Figure:
    figure: Any = ax.figure
    return figure  # type: ignore[no-any-return]
