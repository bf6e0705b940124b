"""Plots: what is drawn against plain loops, and files, letters, styles and errors."""

import random
import re
import subprocess
import sys
import warnings
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib import font_manager
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import permed_measures as pm
from permed_measures.comparisons.compare import compare
from permed_measures.datasets import SAMPLES
from permed_measures.plots import fonts
from permed_measures.plots.by_group import plot_by_group
from permed_measures.plots.by_query import plot_differences, plot_distribution
from permed_measures.plots.cutoffs import plot_cutoffs
from permed_measures.plots.figures import figures
from permed_measures.plots.save import PLOT_ENDINGS as ENDINGS
from permed_measures.plots.save import as_svg, save_plot


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


TURN, CONVERSATION = r"_(\d+)$", r"^(.*)_"
QRELS = {f"{c}_{turn}": {"a": 1, "b": 1} for c in "uvwxyz" for turn in (1, 2, 3)}


def made_runs(names, seed=0):
    """Return runs whose scores are drawn."""
    rng = random.Random(seed)
    return {name: {q: {d: rng.random() for d in "abcdef"} for q in QRELS} for name in names}


def made(names=("old", "new"), measures=("RR", "P@1"), **options):
    options = {"baseline": names[0], "tests": "bootstrap", "resamples": 200, **options}
    return compare(QRELS, made_runs(names), list(measures), **options)


@pytest.fixture(scope="module")
def sample():
    """Return qrels, runs, and a comparison of the packaged sample."""
    qrels = pm.read_qrels(SAMPLES[0].qrels)
    runs = {name: pm.read_run(path) for name, path in SAMPLES[0].runs.items()}
    compared = compare(
        qrels, runs, pm.MEDCORPUS, baseline="bm25", clusters=CONVERSATION, tests="bootstrap", resamples=500
    )
    return qrels, runs, compared


def per_query(qrels, run, measure):
    """Return the value of each query of the qrels."""
    return {metric.query_id: metric.value for metric in pm.iter_calc([measure], qrels, run)}


def texts(ax):
    """Return what a legend says."""
    return [text.get_text() for text in ax.get_legend().get_texts()]


def labels_of_x(ax):
    return [text.get_text() for text in ax.get_xticklabels()]


def line(ax, name):
    [found] = [each for each in ax.lines if each.get_label() == name]
    return found


# --- numbers -------------------------------------------------------------------------------------------


def test_means_by_turn_are_those_of_a_loop(sample):
    qrels, runs, compared = sample
    measure = pm.parse_measure("GradedAP@10")
    ax = plot_by_group(compared, TURN, measure=measure)
    assert len(ax.lines) == len(ax.collections) == len(runs)
    for name, run in runs.items():
        by_turn = defaultdict(list)
        for query_id, value in per_query(qrels, run, measure).items():
            by_turn[int(query_id.rpartition("_")[2])].append(value)
        expected = [(turn, sum(values) / len(values)) for turn, values in sorted(by_turn.items())]
        assert line(ax, name).get_xydata() == pytest.approx(np.array(expected), abs=1e-12)
    assert labels_of_x(ax) == [f"{turn}\nn={len(values)}" for turn, values in sorted(by_turn.items())]
    assert ax.get_ylabel() == "mean GradedAP@10"


def loop_bounds(values, clusters, resamples, seed, level):
    """Return a percentile bootstrap of whole clusters, query by query."""
    members = [
        [v for v, c in zip(values, clusters, strict=True) if c == each] for each in sorted({*clusters})
    ]
    draws = np.random.default_rng(seed).integers(0, len(members), size=(resamples, len(members)))
    means = []
    for draw in draws:
        drawn = [value for index in draw for value in members[index]]
        means.append(sum(drawn) / len(drawn))
    means.sort()

    def quantile(share):
        place = share * (resamples - 1)
        low = int(place)
        return means[low] + (place - low) * (means[min(low + 1, resamples - 1)] - means[low])

    return quantile((1 - level) / 2), quantile((1 + level) / 2)


@pytest.mark.parametrize("clusters", [CONVERSATION, "none", {"u_1": "ours", "v_1": "ours"}])
def test_bands_are_a_bootstrap_of_whole_clusters_within_the_group(clusters):
    groups = {query_id: int(query_id[0] in "uvw") for query_id in QRELS}
    compared = made(clusters=clusters, seed=7, level=0.8)
    ax = plot_by_group(compared, groups)
    label = dict(zip(compared.paired.query_ids, compared.paired.cluster.tolist(), strict=True))
    for name, band in zip(compared.paired.values, ax.collections, strict=True):
        [path] = band.get_paths()
        for group in (0, 1):
            here = [query_id for query_id in compared.paired.query_ids if groups[query_id] == group]
            scores = per_query(QRELS, made_runs(("old", "new"))[name], pm.parse_measure("RR"))
            values, of = [scores[q] for q in here], [label[q] for q in here]
            drawn = path.vertices[path.vertices[:, 0] == group, 1]
            expected = loop_bounds(values, of, 200, 7, 0.8)
            assert (drawn.min(), drawn.max()) == pytest.approx(expected, abs=1e-12)
    assert "80% interval by percentile bootstrap" in ax.get_title(loc="left")
    assert "seed 7" in ax.get_title(loc="left")


def test_a_group_of_one_cluster_has_no_interval():
    compared = made(clusters=CONVERSATION)
    ax = plot_by_group(compared, CONVERSATION)
    assert ax.get_title(loc="left") == "no intervals: no group has two clusters"
    assert not ax.collections
    alone = plot_by_group(made(), "(.*)")
    assert alone.get_title(loc="left") == "no intervals: no group has two queries"
    ax = plot_by_group(compared, lambda query_id: query_id[0] == "u")
    assert "none for one cluster" in ax.get_title(loc="left")
    [first, _] = ax.collections
    low, high = next(segment[:, 1] for segment in first.get_segments() if np.isfinite(segment).all())
    assert low < line(ax, "old").get_ydata()[0] < high


def test_categories_stand_side_by_side():
    ax = plot_by_group(made(), lambda query_id: "first" if query_id.endswith("1") else "later")
    assert labels_of_x(ax) == ["first\nn=6", "later\nn=12"]
    assert line(ax, "old").get_xdata() == pytest.approx([-0.2, 0.8])
    assert line(ax, "new").get_xdata() == pytest.approx([0.2, 1.2])
    values = per_query(QRELS, made_runs(("old", "new"))["new"], pm.parse_measure("RR"))
    first = [value for query_id, value in values.items() if query_id.endswith("1")]
    assert line(ax, "new").get_ydata()[0] == pytest.approx(sum(first) / len(first))


def test_one_numbered_group_and_truth_values_are_categories():
    ax = plot_by_group(made(), lambda _: 5)
    assert labels_of_x(ax) == ["5\nn=18"]
    assert labels_of_x(plot_by_group(made(), lambda q: q[0] == "u")) == ["False\nn=15", "True\nn=3"]


def test_numbers_are_far_apart_as_their_values_are():
    place = {"1": 1, "2": 2.5, "3": 1000}
    ax = plot_by_group(made(), lambda query_id: place[query_id[-1]])
    assert line(ax, "old").get_xdata().tolist() == [1, 2.5, 1000]
    assert labels_of_x(ax) == ["1\nn=6", "", "1000\nn=6"]  # no room for the second


def test_the_groups_of_the_comparison_are_the_default():
    ax = plot_by_group(made(by=TURN))
    assert labels_of_x(ax) == ["1\nn=6", "2\nn=6", "3\nn=6"]
    assert ax.get_xlabel() == r"_(\d+)$ in the query id (n: queries)"
    with pytest.raises(pm.InputError, match="by is missing, and the comparison has no groups"):
        plot_by_group(made())


def test_a_field_of_a_data_set():
    import ir_datasets

    dataset = ir_datasets.load("permed-sample")
    runs = {name: pm.read_run(path) for name, path in SAMPLES[0].runs.items()}
    ax = plot_by_group(compare(dataset, runs, "P@1", tests="bootstrap"), "turn_number", dataset)
    assert ax.get_xlabel() == "turn_number (n: queries)"
    assert "whole clusters (conversation_id)" in ax.get_title(loc="left")


def test_groups_that_are_not_whole_are_said():
    with pytest.warns(pm.PermedWarning, match="12 judged queries are in no group"):
        plot_by_group(made(), {q: q[-1] for q in QRELS if q[0] in "uv"})
    with pytest.raises(pm.InputError, match=r"by groups none of 18 judged queries \(first: 'u_1'\)"):
        plot_by_group(made(), {"other": 1})


def test_bands_of_many_runs_are_left_out_unless_asked_for():
    compared = made([f"run {i}" for i in range(7)])
    ax = plot_by_group(compared, TURN)
    assert not ax.collections
    assert ax.get_title(loc="left") == "no intervals: bands of more than 6 runs would hide each other"
    assert len(plot_by_group(compared, TURN, intervals=True).collections) == 7
    assert len(plot_by_group(compared, TURN, runs=["run 3", "run 1"]).collections) == 2
    ax = plot_by_group(made(), TURN, intervals=False)
    assert (ax.get_title(loc="left"), len(ax.collections)) == ("", 0)


def test_differences_are_sorted_and_counted(sample):
    qrels, runs, compared = sample
    ax = plot_differences(compared, "P@1", "lsa", "tfidf")
    lsa, tfidf = (per_query(qrels, runs[name], pm.parse_measure("P@1")) for name in ("lsa", "tfidf"))
    expected = sorted((lsa[q] - tfidf[q] for q in qrels), reverse=True)
    gains, losses = (patch.get_data() for patch in ax.patches)
    assert (gains.values + losses.values).tolist() == expected
    assert gains.values.min() == 0 == losses.values.max()
    assert gains.edges.tolist() == list(range(len(qrels) + 1))
    zero, mean = ax.lines
    assert zero.get_ydata() == [0, 0]
    assert mean.get_ydata()[0] == pytest.approx(sum(expected) / len(expected))
    counts = [sum(d > 0 for d in expected), sum(d == 0 for d in expected), sum(d < 0 for d in expected)]
    found = re.findall(r"([0-9]+) (?:win|tie|loss)", ax.get_title(loc="left"))
    assert list(map(int, found)) == counts
    assert f"mean {sum(expected) / len(expected):+.4f}" in ax.get_title(loc="left")


@pytest.mark.parametrize(
    ("baseline", "run", "against", "title"),
    [
        ("b", None, None, "a minus b"),
        ("b", "c", None, "c minus b"),
        ("b", "b", "c", "b minus c"),
        (None, None, None, "b minus a"),
        (None, "c", None, "c minus a"),
        (None, "a", None, "a minus b"),
        (None, None, "a", "b minus a"),
    ],
)
def test_which_runs_are_compared(baseline, run, against, title):
    ax = plot_differences(made("abc", baseline=baseline), run=run, against=against)
    assert ax.get_title(loc="left").startswith(title + "\n")


def test_rounding_is_a_tie():
    compared = made()
    compared.paired.values["new"][0] = compared.paired.values["old"][0] + 1e-15
    title = plot_differences(compared).get_title(loc="left")
    assert title.endswith("0 wins, 18 ties, 0 losses; mean +0.0000 (dashed)")


def test_distribution_is_that_of_a_loop(sample):
    qrels, runs, compared = sample
    ax = plot_distribution(compared, "GradedAP@10")
    for name, run in runs.items():
        values = list(per_query(qrels, run, pm.parse_measure("GradedAP@10")).values())
        drawn = line(ax, name)
        assert drawn.get_drawstyle() == "steps-pre"
        x, y = drawn.get_data()
        assert x[0] == 0
        assert x[-1] == 1
        assert {*values} <= {*x.tolist()}
        for at, share in zip(x, y, strict=True):
            assert share == pytest.approx(100 * sum(value >= at for value in values) / len(values))
        # The area under the steps is the mean.
        area = sum((right - left) * share for left, right, share in zip(x, x[1:], y[1:], strict=False))
        assert area / 100 == pytest.approx(sum(values) / len(values))
        zero, one = (100 * sum(value == end for value in values) / len(values) for end in (0, 1))
        assert f"{name}  {zero:.1f}% | {one:.1f}%" in texts(ax)


def test_distribution_of_a_count_goes_to_its_maximum():
    runs = {"short": {"u_1": {"a": 1.0}}, "long": {"u_1": dict.fromkeys("abcd", 1.0)}}
    ax = plot_distribution(compare({"u_1": {"a": 1}}, runs, "NumRet", tests="bootstrap"))
    assert line(ax, "short").get_xydata().tolist() == [[0, 100], [1, 100], [4, 0]]
    assert line(ax, "long").get_xydata().tolist() == [[0, 100], [4, 100]]
    assert texts(ax) == ["short", "long"]


def test_cutoffs_are_evaluated_one_by_one(sample):
    qrels, runs, _ = sample
    ax = plot_cutoffs(qrels, runs, "nDCG(dcg='exp-log2')", cutoffs=(20, 1, 5, 5))
    for name, run in runs.items():
        measures = [pm.parse_measure(f"nDCG(dcg='exp-log2')@{k}") for k in (1, 5, 20)]
        expected = [sum(per_query(qrels, run, m).values()) / len(qrels) for m in measures]
        assert line(ax, name).get_xdata().tolist() == [1, 5, 20]
        assert line(ax, name).get_ydata() == pytest.approx(expected, abs=1e-12)
    assert ax.get_xscale() == "log"
    assert labels_of_x(ax) == ["1", "5", "20"]
    assert ax.get_ylabel() == "mean nDCG(dcg='exp-log2')@k"


def test_the_published_litsearch_runs(data):
    folder = data / "litsearch"
    runs = {path.stem: pm.read_run(path) for path in sorted((folder / "runs").glob("*.jsonl"))}
    ax = plot_cutoffs(pm.read_qrels(folder / "query_to_texts.jsonl"), runs, "R", cutoffs=(5, 20))
    published = {
        "keyword": 0.1583,
        "bm25": 0.5683,
        "neural_embedding": 0.5844,
        "single_llm": 0.5456,
        "scholarloop_a": 0.6592,
    }
    assert {name: round(line(ax, name).get_ydata()[1], 4) for name in runs} == published


def test_a_page_has_each_measure_and_each_pair():
    titles = [title for title, _ in figures(made("abc", by=TURN))]
    assert len(titles) == 2 * 2 + 2
    assert titles[0] == rf"RR by {TURN}"
    assert titles[-1] == "RR: c minus a, query by query"
    assert len(list(figures(made("abcde", baseline=None)))) == 2 + 6


# --- what cannot be drawn ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "plot", [plot_differences, plot_distribution, lambda c, m: plot_by_group(c, TURN, measure=m)]
)
def test_a_measure_that_was_not_compared(plot):
    with pytest.raises(
        pm.InputError, match=r"one of the comparison's RR, P@1 \(found P@2\)\. Did you mean 'P@1'"
    ):
        plot(made(), "P@2")


def test_a_run_that_was_not_compared():
    for plot in (
        lambda c: plot_differences(c, run="nwe"),
        lambda c: plot_differences(c, against="nwe"),
        lambda c: plot_distribution(c, runs="nwe"),
        lambda c: plot_by_group(c, TURN, runs=["old", "nwe"]),
    ):
        with pytest.raises(
            pm.InputError, match=r"comparison's 'old', 'new' \(found 'nwe'\). Did you mean 'new'"
        ):
            plot(made())
    with pytest.raises(pm.InputError, match="runs is empty: there is no run to draw"):
        plot_distribution(made(), runs=[])
    with pytest.raises(pm.InputError, match=r"a difference needs two runs \(found 'old' against itself\)"):
        plot_differences(made(), run="old")


OF_A_COMPARISON = [plot_by_group, plot_differences, plot_distribution]


@pytest.mark.parametrize("plot", OF_A_COMPARISON)
@pytest.mark.parametrize("given", [QRELS, None, "bm25.trec", ["RR"]])
def test_a_first_argument_that_is_no_comparison(plot, given):
    message = rf"the first argument must be the result of compare \(found {type(given).__name__}\)"
    with pytest.raises(pm.InputError, match=message):
        plot(given)


def test_cutoffs_of_a_comparison():
    with pytest.raises(pm.InputError, match=r"the first argument must be qrels \(found a comparison\)"):
        plot_cutoffs(made(), made_runs("ab"))


@pytest.mark.parametrize("plot", [*OF_A_COMPARISON, lambda _, ax: plot_cutoffs(QRELS, made_runs("a"), ax=ax)])
@pytest.mark.parametrize(
    ("ax", "found"), [(Figure(), r"Figure\)\. Those of a figure are in figure\.axes"), ("x.pdf", r"str\)$")]
)
def test_axes_that_are_none(plot, ax, found):
    with pytest.raises(pm.InputError, match=f"ax must be an Axes of matplotlib, .*found {found}"):
        plot(made(by=TURN), ax=ax)


@pytest.mark.parametrize("given", [Figure(), "plot.pdf", None, np.array([])])
def test_only_axes_are_saved(given, tmp_path):
    for write in (as_svg, lambda ax: save_plot(ax, tmp_path / "plot.pdf")):
        with pytest.raises(pm.InputError, match=rf"ax must be an Axes .*found {type(given).__name__}\)"):
            write(given)
    ax = plot_distribution(made())
    ax.remove()
    with pytest.raises(pm.InputError, match="ax is no longer in a figure"):
        save_plot(ax, tmp_path / "plot.pdf")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "nDCG@10"}, r"measure must have no cutoff.*\(found nDCG@10\)"),
        ({"measure": "Rprec"}, r"measure must take a cutoff \(found Rprec, which takes none\)"),
        ({"cutoffs": ()}, r"cutoffs must be whole numbers of at least 1 \(found \[\]\)"),
        ({"cutoffs": (0, 1)}, r"cutoffs must be whole numbers of at least 1 \(found \[0, 1\]\)"),
        ({"cutoffs": ("1",)}, r"whole numbers of at least 1 \(found \['1'\]\)"),
        ({"runs": {}}, "runs must be a dict"),
        ({"runs": [1]}, r"runs must be a dict .*found list '\[1\]'"),
        ({"qrels": {}}, "the qrels have no query"),
        ({"runs": {"bad": {"u_1": {"a": float("nan")}}}}, "run 'bad'"),
    ],
)
def test_cutoffs_that_cannot_be_drawn(options, message):
    with pytest.raises(pm.InputError, match=message):
        plot_cutoffs(**{"qrels": QRELS, "runs": made_runs("a"), **options})


def test_matplotlib_is_missing(monkeypatch):
    compared = made(by=TURN)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for plot in (
        plot_by_group,
        plot_differences,
        plot_distribution,
        lambda _: plot_cutoffs(QRELS, made_runs("a")),
    ):
        with pytest.raises(
            pm.InputError, match=r"matplotlib is not installed.*pip install 'permed-measures\[plot\]'"
        ):
            plot(compared)


# --- looks ---------------------------------------------------------------------------------------------


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


PLOTS = {
    "turn": lambda c: plot_by_group(c, TURN),
    "category": lambda c: plot_by_group(c, lambda query_id: f"turn {query_id[-1]}"),
    "distribution": plot_distribution,
    "cutoffs": lambda c: plot_cutoffs(QRELS, made_runs(list(c.paired.values))),
}


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
    assert ax.get_xlabel().count("\n") == 2
    assert ax.get_xlabel().replace("\n", "") == f"{made(measures=[measure]).measures[0]} of a query"


def test_a_given_axes_is_drawn_on():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    size = figure.get_size_inches().tolist()
    assert plot_distribution(made(), ax=left) is left
    assert plot_differences(made(), ax=right) is right
    assert plot_by_group(made(), lambda _: "a", ax=left) is left
    assert figure.get_size_inches().tolist() == size


def test_nothing_global_changes():
    before = dict(matplotlib.rcParams)
    as_svg(plot_distribution(made()))
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
    assert len(list(figures(made()))) > 1
    assert pyplot.get_fignums() == opened


# --- letters -------------------------------------------------------------------------------------------

HARD = ["cost $5$ and $x^2$", "\\alpha_{1} $", "_hidden", "two\nlines", "100% & <b>"]


def test_names_are_drawn_letter_for_letter(tmp_path):
    compared = made(HARD)
    for plot in (plot_distribution, lambda c: plot_by_group(c, lambda q: "$" + q[-1]), plot_differences):
        ax = plot(compared)
        save_plot(ax, tmp_path / "plot.pdf")
        if ax.get_legend():
            assert [text.partition("  ")[0] for text in texts(ax)] == [*HARD[:3], "two lines", HARD[4]]
        for text in [ax.title, ax.xaxis.label, ax._left_title, *ax.get_xticklabels()]:
            assert not text.get_parse_math() or "$" not in text.get_text()
    assert labels_of_x(plot_by_group(compared, lambda q: "$" + q[-1] + "$"))[0] == "$1$\nn=6"


def chinese_fonts():
    """Return the names of the installed fonts with Chinese characters, as plots would find them."""
    return fonts._chinese_fonts()


CHINESE = ["配置一、基线", "记忆消融"]


def test_chinese_names_with_a_font(tmp_path):
    installed = chinese_fonts()
    if not installed:
        pytest.skip("no font with Chinese characters is installed")
    ax = plot_by_group(made(CHINESE), lambda q: "门诊" if q[-1] == "1" else "住院")
    assert texts(ax) == CHINESE
    assert labels_of_x(ax) == ["住院\nn=12", "门诊\nn=6"]
    for text in [*ax.get_legend().get_texts(), *ax.get_xticklabels()]:
        assert text.get_fontfamily() == [*matplotlib.rcParams["font.family"], *installed]
    for ending in ENDINGS:  # a missing letter would be a warning of matplotlib, and an error here
        save_plot(ax, tmp_path / f"plot{ending}")
    assert matplotlib.rcParams["font.family"] == ["sans-serif"]


def test_a_font_that_the_stored_list_lacks_is_found(monkeypatch):
    installed = chinese_fonts()
    if not installed:
        pytest.skip("no font with Chinese characters is installed")
    manager = font_manager.fontManager
    files = {each.fname for each in manager.ttflist if each.name in fonts._CHINESE_FONTS}
    monkeypatch.setattr(manager, "ttflist", [each for each in manager.ttflist if each.fname not in files])
    fonts._add_new_fonts.cache_clear()
    assert texts(plot_cutoffs(QRELS, made_runs(CHINESE))) == CHINESE


@pytest.fixture
def no_chinese_font(monkeypatch):
    manager = font_manager.fontManager
    monkeypatch.setattr(
        manager, "ttflist", [f for f in manager.ttflist if f.name not in fonts._CHINESE_FONTS]
    )
    monkeypatch.setattr(font_manager, "findSystemFonts", list)


@pytest.mark.usefixtures("no_chinese_font")
def test_chinese_names_without_a_font(tmp_path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ax = plot_cutoffs(QRELS, made_runs([*CHINESE, "基忆消融", "plain"]))
        for ending in ENDINGS:
            save_plot(ax, tmp_path / f"plot{ending}")
        as_svg(ax)
    [warning] = caught
    assert re.search("no installed font has '.+', drawn as boxes.*apt install fonts", str(warning.message))
    assert warning.category is pm.PermedWarning
    assert Path(warning.filename).name == "test_plots.py"
    assert texts(ax) == ["□□□□□□", "□□□□", "□□□□ (2)", "plain"]


def test_letters_that_no_font_is_known_for():
    with pytest.warns(pm.PermedWarning, match=r"'\U0001F9EC'.*rcParams\['font.family'\]"):
        ax = plot_cutoffs(QRELS, made_runs(["emoji \U0001f9ec"]))
    assert texts(ax) == ["emoji □"]


# --- files and pages -----------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("plot", [*PLOTS.values(), plot_differences], ids=[*PLOTS, "differences"])
def test_the_same_plot_gives_the_same_bytes(plot, ending, tmp_path):
    ax = plot(made())
    paths = [tmp_path / f"one{ending}", tmp_path / f"two{ending.upper()}", tmp_path / f"three{ending}"]
    for path, each in zip(paths, (ax, ax, plot(made())), strict=True):
        save_plot(each, path)
    one, two, three = (path.read_bytes() for path in paths)
    assert one == two == three
    assert one.startswith({".pdf": b"%PDF-", ".svg": b"<?xml", ".png": b"\x89PNG"}[ending])
    assert b"CreationDate" not in one
    assert b"dc:date" not in one


@pytest.mark.parametrize("name", ["plot.jpeg", "plot", "plot.pdf.gz"])
def test_other_endings_are_refused(name, tmp_path):
    with pytest.raises(pm.InputError, match=r"a plot is saved as \.pdf, \.svg, \.png \(found the ending"):
        save_plot(plot_distribution(made()), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "plot.svg"
    ax = plot_distribution(made())
    save_plot(ax, path)
    before = path.read_bytes()

    def fail(*_, **__):
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", fail)
        with pytest.raises(OSError, match="no space left"):
            save_plot(plot_differences(made()), path)
    with monkeypatch.context() as patch:
        patch.setattr(Figure, "savefig", fail)
        with pytest.raises(OSError, match="no space left"):
            save_plot(ax, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_part_of_a_figure_is_saved_with_the_whole(tmp_path):
    figure = Figure(figsize=(6, 3))
    left, right = figure.subfigures(1, 2)
    plot_differences(made(), ax=left.subplots())
    ax = plot_differences(made(), ax=right.subplots())
    save_plot(ax, tmp_path / "plot.png")
    assert as_svg(ax).count("2 wins") == 0
    assert as_svg(ax).count("axes_") == 2


def test_svg_of_several_plots_stands_on_one_page():
    compared = made([*HARD, 'id="x" href="#y"'])
    parts = [as_svg(plot(compared)) for plot in (*PLOTS.values(), plot_differences)]
    ids = []
    for part in parts:
        assert part.startswith('<svg role="img" aria-label=')
        root = ElementTree.fromstring(part.encode())
        own = [element.get("id") for element in root.iter() if element.get("id")]
        links = re.findall(r'(?:href="#|url\(#)([^")]+)', re.sub("aria-label='[^']*'", "", part))
        assert links
        assert {*links} <= {*own}
        ids += own
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert not tags & {"style", "metadata", "text", "script"}
        assert "<!--" not in part
        assert "DOCTYPE" not in part
        assert "hidden" not in part  # names are outlines
    assert len(ids) == len({*ids})
    assert parts[0] == as_svg(PLOTS["turn"](compared))


def test_svg_says_what_the_axes_are():
    root = ElementTree.fromstring(as_svg(plot_by_group(made(), lambda _: "a")))
    assert root.get("aria-label") == "mean RR, by group (n: queries)"
    assert (
        ElementTree.fromstring(as_svg(plot_by_group(made(), "([\"'<&]?_)")))
        .get("aria-label")
        .endswith("([\"'<&]?_) in the query id (n: queries)")
    )
