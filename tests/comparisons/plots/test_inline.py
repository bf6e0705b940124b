"""The small plots of a page: their numbers are the comparison's, their scales the same."""

import pytest
from plotting import TURN, line, made

from permed_measures.comparisons.plots import inline


@pytest.fixture
def drawn(monkeypatch):
    """Return what gives the Axes of plots instead of their SVG."""
    axes = []
    monkeypatch.setattr(inline, "inline_svg", lambda figure: axes.append(figure.axes[0]))

    def draw(plots):
        for plot in plots:
            plot.svg()
        return axes

    return draw


def test_forest_plots_have_the_differences_in_one_order_and_on_one_scale(drawn):
    result = made(("old", "new", "other"), tests="randomization")
    plots = inline.forest_plots(result)
    axes = drawn(plots)
    order = [row.run for row in sorted(result.rows[:2], key=lambda row: -row.difference)]
    [(left, right)] = {ax.get_xlim() for ax in axes}
    ends = [end for row in result.rows for end in row.interval]
    assert left < min(*ends, 0) < max(*ends, 0) < right
    assert right - left < 1.2 * (max(*ends, 0) - min(*ends, 0))
    for number, (ax, plot) in enumerate(zip(axes, plots, strict=True)):
        rows = {row.run: row for row in result.rows[2 * number : 2 * number + 2]}
        assert [text.get_text() for text in ax.get_yticklabels()] == order
        points = {int(y): x for each in ax.lines if each.get_marker() == "o" for x, y in each.get_xydata()}
        bars = {
            int(start[1]): (start[0], end[0]) for each in ax.collections for start, end in each.get_segments()
        }
        for place, run in enumerate(order):
            assert points[place] == rows[run].difference
            assert bars[place] == rows[run].interval
            assert f"{run} {rows[run].difference:+.4f} [{rows[run].interval[0]:+.4f}, " in plot.about


def test_plots_by_group_have_its_means_and_one_legend(drawn):
    result = made(by=TURN)
    *panels, legend = drawn(inline.group_plots(result))
    assert len(panels) == 2
    assert len({ax.get_ylim() for ax in panels}) == 1
    for number, ax in enumerate(panels):
        for run in ("old", "new"):
            means = [part.paired.values[run][number].mean() for part in result.groups.values()]
            assert line(ax, run).get_ydata() == pytest.approx(means)
        assert ax.get_legend() is None
    assert [text.get_text() for text in legend.get_legend().get_texts()] == ["old", "new"]
    assert not list(inline.group_plots(made([f"run {number}" for number in range(31)], by=TURN)))
