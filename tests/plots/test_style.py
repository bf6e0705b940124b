"""Lines, labels, legends and figures."""

import subprocess
import sys
from itertools import pairwise

import matplotlib
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from plotting import PLOTS, QRELS, TURN, labels_of_x, line, made, made_runs, texts

from permed_measures.plots.by_group import plot_by_group
from permed_measures.plots.by_query import plot_differences, plot_distribution
from permed_measures.plots.cutoffs import plot_cutoffs
from permed_measures.plots.save import save_plot


def lightness(colour):
    """Return L* of CIELAB."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    y = sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return 116 * (y ** (1 / 3) if y > 0.008856 else 7.787 * y + 16 / 116) - 16


def test_runs_can_be_told_apart_in_grey():
    names = [f"run {i}" for i in range(20)]
    drawn = plot_distribution(made(names)).lines
    first = drawn[:8]
    assert len({each.get_marker() for each in first}) == 8
    assert len({str(each._unscaled_dash_pattern) for each in first}) == 8
    shades = [lightness(each.get_color()) for each in first]
    assert min(abs(a - b) for i, a in enumerate(shades) for b in shades[:i]) > 6
    assert max(shades) < 75  # dark enough for white paper
    looks = {(each.get_marker(), each.get_color(), str(each._unscaled_dash_pattern)) for each in drawn}
    assert len(looks) == 20


def test_a_run_looks_the_same_in_every_plot():
    compared = made("abc")
    every, one = plot_distribution(compared), plot_by_group(compared, TURN, runs="c")
    assert line(every, "c").get_color() == line(one, "c").get_color()
    assert line(every, "c").get_marker() == line(one, "c").get_marker()


@pytest.mark.parametrize("plot", PLOTS.values(), ids=PLOTS)
@pytest.mark.parametrize("names", [["a", "b"], [f"run {i}" for i in range(20)], ["x" * 300, "y" * 300]])
def test_the_legend_covers_no_data_and_nothing_is_cut(plot, names):
    ax = plot(made(names))
    ax.figure.draw_without_rendering()
    legend, axes, whole = ax.get_legend().get_window_extent(), ax.get_window_extent(), ax.figure.bbox
    assert legend.x0 >= axes.x1
    assert axes.width > 3.4 * ax.figure.dpi
    assert axes.height > 2 * ax.figure.dpi
    tight = ax.get_tightbbox()
    for low, high in ((whole.x0 - tight.x0, tight.x1 - whole.x1), (whole.y0 - tight.y0, tight.y1 - whole.y1)):
        assert max(low, high) < 3  # pixels


@pytest.mark.parametrize("plot", PLOTS.values(), ids=PLOTS)
def test_labels_below_the_axis_do_not_overlap(plot):
    ax = plot(made())
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.get_xticklabels() if text.get_text()]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_labels_have_room_in_the_column_of_a_paper():
    groups = {query: 2000001 + index % 9 for index, query in enumerate(QRELS)}
    with matplotlib.rc_context({"font.size": 7}):
        ax = plot_by_group(made(), groups, ax=Figure(figsize=(3.3, 2), layout="constrained").subplots())
        ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.get_xticklabels() if text.get_text()]
    assert 2 < len(boxes) < 9
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    assert line(ax, "old").get_markersize() == pytest.approx(5.8 * 0.7)


def test_many_long_categories_stand_upright():
    ax = plot_by_group(
        made(), lambda query_id: f"a group with a rather long and wordy and dull and winded name, {query_id}"
    )
    assert {text.get_rotation() for text in ax.get_xticklabels()} == {90}
    assert labels_of_x(ax)[0] == "a group with a rather…ed name, u_1 n=1"


def test_long_names_are_shortened_and_stay_different():
    names = ["a" * 100 + "x" + "b" * 20, "a" * 100 + "y" + "b" * 20]
    short = "a" * 21 + "…" + "b" * 12
    assert texts(plot_cutoffs(QRELS, made_runs(names))) == [short, f"{short} (2)"]


def test_a_measure_with_many_parameters_is_written_in_lines():
    measure = "VariantNDCG(gain='linear',discount='zipf',ideal='run',negative='keep')@10"
    ax = plot_distribution(made(measures=[measure]))
    lines = ["VariantNDCG(gain='linear',", "discount='zipf', ideal='run',", "negative='keep')@10 of a query"]
    assert ax.get_xlabel().split("\n") == lines


def test_a_given_axes_is_drawn_on():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    size = figure.get_size_inches().tolist()
    assert plot_distribution(made(), ax=left) is left
    assert plot_differences(made(), ax=right) is right
    assert plot_by_group(made(), lambda _: "a", ax=left) is left
    assert figure.get_size_inches().tolist() == size


def test_nothing_global_changes(tmp_path):
    before = dict(matplotlib.rcParams)
    save_plot(plot_distribution(made()), tmp_path / "plot.svg")
    assert dict(matplotlib.rcParams) == before


NO_PYPLOT = """
import sys
from permed_measures.comparisons.compare import compare
from permed_measures.plots.by_query import plot_distribution
qrels = {"q": {"a": 1}, "r": {"a": 1}}
plot_distribution(compare(qrels, {"x": {"q": {"a": 1.0}}, "y": {}}, "RR", tests="randomization"))
print("matplotlib.pyplot" in sys.modules)
"""


def test_pyplot_is_not_loaded():
    result = subprocess.run([sys.executable, "-c", NO_PYPLOT], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"


def test_pyplot_shows_the_plots_where_it_is_in_use():
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    opened = pyplot.get_fignums()
    ax = plot_distribution(made())
    assert pyplot.get_fignums() == [*opened, ax.figure.number]
    pyplot.close(ax.figure)
    assert made(tests="randomization")._repr_html_()
    assert pyplot.get_fignums() == opened
