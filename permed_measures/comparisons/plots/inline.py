"""The plots of a page: a small one for each measure, with one order of the runs and one scale."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from permed_measures.comparisons.plots.forest import Point, draw_panel, one_scale, panels_of
from permed_measures.comparisons.plots.save import inline_svg
from permed_measures.comparisons.plots.style import AS_WRITTEN, matplotlib, wrapped
from permed_measures.comparisons.results import ComparisonResult
from permed_measures.measures.headings import headings_of
from permed_measures.results.report import Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH = 3.4  # inches: letters of ten points then have the size of a page's


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


def _small(height: float) -> Axes:
    """Return the Axes of a figure that pyplot does not know."""
    make: Callable[..., Any] = matplotlib(".figure").Figure
    return make(figsize=(_WIDTH, height), layout="constrained").subplots()  # type: ignore[no-any-return]


def _drawn(ax: Axes, heading: str) -> str:
    ax.set_title(wrapped(heading), loc="left", fontweight="bold", fontsize="medium", **AS_WRITTEN)
    ax.spines[["top", "right", "left"]].set_visible(False)
    figure: Any = ax.figure
    return inline_svg(figure)
