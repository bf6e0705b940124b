"""Looks of runs, names letter for letter, and plots as files and on pages."""

import sys
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text
from matplotlib.ticker import ScalarFormatter
from plotting import CONVERSATION, HARD, QRELS, TURN, grouped, labels_of_x, made, made_runs, texts

import permed_measures as pm
from permed_measures.comparisons.compare import compare
from permed_measures.comparisons.plots import inline
from permed_measures.comparisons.plots.by_group import plot_by_group
from permed_measures.comparisons.plots.forest import plot_forest
from permed_measures.comparisons.plots.save import PLOT_ENDINGS, inline_svg, save_plot


def test_names_are_drawn_letter_for_letter(tmp_path):
    ax = grouped(lambda q: "$" + q[-1] + "$", [*HARD, "a" * 100 + "x" + "b" * 20])
    save_plot(ax, tmp_path / "plot.pdf")
    assert texts(ax) == [*HARD[:3], "two lines", HARD[4], "a" * 21 + "…" + "b" * 12]
    assert labels_of_x(ax)[0] == "$1$\nn=6"
    [ax] = plot_forest(made(HARD, ["RR"]))
    assert {text.get_text() for text in ax.get_yticklabels()} == {*HARD[1:3], "two lines", HARD[4]}


def test_the_legend_covers_no_data_and_nothing_is_cut():
    ax = grouped(names=[f"run {i}" for i in range(12)])
    ax.figure.draw_without_rendering()
    legend, axes, whole = ax.get_legend().get_window_extent(), ax.get_window_extent(), ax.figure.bbox
    assert legend.x0 >= axes.x1
    assert axes.width > 3 * ax.figure.dpi
    tight = ax.get_tightbbox()
    assert min(tight.x0, whole.x1 - tight.x1, tight.y0, whole.y1 - tight.y1) > -3  # pixels


@pytest.mark.parametrize("ending", PLOT_ENDINGS)
def test_the_same_plot_gives_the_same_bytes(ending, tmp_path):
    paths = [tmp_path / f"one{ending}", tmp_path / f"two{ending.upper()}"]
    before = dict(matplotlib.rcParams)
    for path in paths:
        save_plot(plot_forest(made())[0], path)
    one, two = (path.read_bytes() for path in paths)
    assert one == two
    assert one.startswith({".pdf": b"%PDF-", ".svg": b"<?xml", ".png": b"\x89PNG"}[ending])
    assert b"CreationDate" not in one
    assert b"dc:date" not in one
    assert dict(matplotlib.rcParams) == before


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(pm.InputError, match=r"a plot is saved as \.pdf, \.svg, \.png \(found the ending"):
        save_plot(grouped(), tmp_path / "plot.pdf.gz")
    assert not list(tmp_path.iterdir())


def test_a_plot_in_a_page_has_its_names_as_text_and_colours_that_can_be_dark():
    names = ['<b>& "x" id="a_1"', "url(#000000)", "-->"]
    svg = inline_svg(grouped(names=names).figure)
    root = ElementTree.fromstring(svg)
    assert {*names} <= {"".join(each.itertext()).partition("  ")[0] for each in root.iter()}
    assert "<style" not in svg
    assert "<b" not in svg
    styles = [each.get("style", "") for each in root.iter()]
    assert any("var(--run1, #d55e00)" in style for style in styles)
    assert not [style for style in styles if "#000000" in style.replace("var(--run0, #000000)", "")]
    used = {each.get("href") for each in root.iter() if each.get("href")}
    assert {f"#{each.get('id')}" for each in root.iter() if each.get("id")} >= used


PLOTS = [plot_by_group, plot_forest]


@pytest.mark.parametrize("plot", PLOTS)
def test_measures_are_found_by_name_or_refused(plot):
    compared = made(measures={"MAP": pm.GradedAP(max_rel=1), "AP": "P@1"}, by=TURN)
    for measure, heading in (("MAP", "MAP"), (pm.GradedAP(max_rel=1), "MAP"), ("AP", "AP"), ("p@1", "AP")):
        drawn = plot(compared, measure)
        [ax] = drawn if isinstance(drawn, list) else [drawn]
        assert f"{ax.get_xlabel()} {ax.get_ylabel()}".split()[-1 if plot is plot_by_group else 2] == heading
    with pytest.raises(
        pm.InputError, match=r"a measure of the comparison .* RR, P@1 \(found 'P@2'\)\. Did you mean 'P@1'"
    ):
        plot(made(by=TURN), "P@2")
    with pytest.raises(pm.InputError, match=r"must be the result of compare \(found str\)"):
        plot("bm25.trec", "P@1")


def test_matplotlib_is_missing(monkeypatch):
    compared = made(by=TURN)
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    for plot in PLOTS:
        with pytest.raises(pm.InputError, match=r"matplotlib is not installed.*pip install '\.\[plot\]'"):
            plot(compared)


# --- how plots look ------------------------------------------------------------------------------------

SEEN = Path(__file__).parents[2] / "golden" / "looks.txt"
"""How plots looked when somebody saw them; ``python tests/comparisons/plots/test_looks.py`` writes it."""


def looks(plot):
    """Yield what texts, lines and bars of a plot look like, and where they are."""
    for ax in plot.figure.axes:
        spines = [name for name, spine in ax.spines.items() if spine.get_visible()]
        limits = [round(float(end), 3) for end in (*ax.get_xlim(), *ax.get_ylim())]
        ticks = [axis.get_major_ticks()[0].tick1line.get_markersize() for axis in (ax.xaxis, ax.yaxis)]
        yield f"axes of {plot.figure.get_size_inches()} inches, {limits}, {spines}, ticks {ticks}"
        yield f"says {[ax.get_title(loc='left'), ax.get_xlabel(), ax.get_ylabel()]}"
        yield f"names {[text.get_text() for text in [*names_of(ax), *ax.texts]]}"
        for each in ax.lines:
            marker = [each.get_marker(), each.get_markersize(), each.get_markerfacecolor()]
            line = each.get_color(), each.get_linestyle(), each.get_linewidth()
            yield f"line {line}, {marker}, {each.get_markeredgewidth()}, above {each.get_zorder():g}"
            yield f"at {np.round(np.array(each.get_xydata(), float), 3).tolist()}"
        for each in ax.collections:
            yield f"bars {[to_hex(colour) for colour in each.get_colors()]} {each.get_linewidth()}"
            yield f"at {[np.round(segment, 3).tolist() for segment in each.get_segments()]}"
    for each in plot.figure.findobj(Text):
        if each.get_text() and each.get_visible():
            look = each.get_fontsize(), each.get_weight(), each.get_color(), each.get_rotation()
            yield f"text {look}, mathematics {each.get_parse_math()}, TeX {each.get_usetex()}"


def names_of(ax):
    """Return the labels of an axis that has names instead of numbers."""
    axes = [
        axis for axis in (ax.xaxis, ax.yaxis) if not isinstance(axis.get_major_formatter(), ScalarFormatter)
    ]
    return [label for axis in axes for label in axis.get_ticklabels()]


def forests():
    """Return differences and means of all kinds."""
    good = {query: {"a": 2.0, "b": 1.0} for query in QRELS}
    runs = {**made_runs(("old", "new", "other")), "good": good, "bad": {}}
    many = {f"run {i}": good if i < 2 else {} for i in range(27)}
    four = {query: QRELS[query] for query in list(QRELS)[:4]}
    every = {query: dict.fromkeys("abcdef", 1.0) for query in QRELS}
    naive = {"tests": "wilcoxon", "clusters": CONVERSATION}
    compared = {
        "level": compare(QRELS, runs, "P@1", "old", correction="none", level=0.8, resamples=300),
        "t-test": compare(QRELS, runs, "P@1", "old", tests="t-test"),
        "naive": compare(QRELS, runs, "P@1", "old", **naive),
        "no variance": compare(QRELS, {**runs, "copy": runs["old"]}, "P@1", "old", resamples=300),
        "few queries": compare(four, runs, "P@1", "old"),
        "all of groups": compare(QRELS, runs, "P@1", "old", by=TURN, resamples=300),
        "two scales": compare(QRELS, {"none": {}, "all": every}, ("NumRet", "P@1"), "none"),
        "26 runs": compare(QRELS, dict(list(many.items())[:26]), "RR", resamples=1000),
        "27 runs": compare(QRELS, many, "RR", resamples=1000),
        "no test": compare(QRELS, runs, "RR", tests=()),
    }
    return {name: plot_forest(result)[0] for name, result in compared.items()}


def groups():
    """Return means of groups of all kinds."""
    few = {q: 2 if q[-1] == "1" and q[0] in "uvwx" else 1 for q in QRELS}
    return {
        "groups": grouped(names=[f"run {number}" for number in range(1, 9)]),
        "labels": grouped(lambda query_id: f"{query_id[-1]} {'x' * 20}"),
        "no bars of many runs": grouped(names=[f"run {number}" for number in range(9)]),
        "a group of few": plot_by_group(made(by=few)),
        "a group of few clusters": plot_by_group(made(by=few, clusters=CONVERSATION)),
        "groups of one cluster": plot_by_group(made(by=CONVERSATION, clusters=CONVERSATION)),
        "numbers that do not follow": grouped(lambda query_id: {"1": 1, "2": 2, "3": 4}[query_id[-1]]),
        "names": grouped(lambda query_id: "first" if query_id.endswith("1") else "later"),
        "truth": grouped(lambda query_id: query_id[0] == "u"),
    }


@matplotlib.rc_context({"figure.max_open_warning": 0})
def seen():
    """Return the looks of each kind of plot."""
    plots = {
        "differences": plot_forest(made(("old", "new", "bad", "good"), ["P@1"], tests="randomization"))[0],
        "means": plot_forest(made(("old", "new"), baseline=None, tests="randomization"))[0],
        **forests(),
        **groups(),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inline, "inline_svg", lambda figure: figure.axes[0])
        compared = made(("old", "new", "other"), tests="randomization", by=TURN)
        small = [*inline.forest_plots(compared), *inline.group_plots(compared)]
        plots |= {f"inline {number}, {plot.about}": plot.svg() for number, plot in enumerate(small)}
    lines = [f"{name}: {look}" for name, plot in plots.items() for look in dict.fromkeys(looks(plot))]
    return "".join(f"{line}\n" for line in lines)


def test_plots_look_as_they_were_seen():
    assert seen() == SEEN.read_text(encoding="utf-8")
    assert not list(inline.group_plots(made([f"run {number}" for number in range(31)], by=TURN)))


if __name__ == "__main__":
    SEEN.write_text(seen(), encoding="utf-8")
