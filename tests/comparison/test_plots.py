"""Plots of comparisons: what is drawn, against rows, tables and values; how it looks; files and pages."""

import random
import re
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from effort import effort
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

import permed_measures as pm
from permed_measures.comparison import plots
from permed_measures.comparison.compare import compare
from permed_measures.comparison.plots import plot_forest, plot_queries
from permed_measures.comparison.tables import means_table
from permed_measures.plots.savefig import LOSS, PLOT_ENDINGS, WIN, inline_svg, save_plot

MEASURES = ("RR", "P@1")
QRELS = {f"{c}_{turn}": {"a": 1, "b": 1} for c in "uvwxyz" for turn in (1, 2, 3)}
GOOD = {query: {"a": 2.0, "b": 1.0} for query in QRELS}
HARD = ["cost $5$ and $x^2$", "\\alpha_{1} $", "_hidden", "two\nlines", "100% & <b>"]


def random_runs(*names):
    """Return runs whose scores are drawn."""
    rng = random.Random(0)
    return {name: {q: {d: rng.random() for d in "abcdef"} for q in QRELS} for name in names}


RUNS = {**random_runs("old", "new", "other"), "good": GOOD, "bad": {}}
"""Runs that are better than the first, worse, and neither."""


def made(runs=RUNS, measures=MEASURES, baseline="old", **options):
    return compare(QRELS, runs, measures, baseline, **{"resamples": 300, **options})


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="module")
def against_old():
    return made()


def figure_of(comparison):
    """Return a figure that pyplot does not know, which is for one thread only."""
    figure = Figure(figsize=(7, 3), layout="constrained")
    plot_forest(comparison, ax=figure.subplots(1, len(comparison.measures), squeeze=False))
    return figure


# --- what is drawn -----------------------------------------------------------------------------------


def drawn(ax):
    """Return label, value, bar, and whether it is filled, of each row from the top."""
    labels = ax.figure.axes[0].get_yticklabels()  # which a row of Axes shares
    rows = [[text.get_text(), None, None, None] for text in labels]
    for points in ax.lines:
        if points.get_marker() == "o":
            filled = to_hex(points.get_markerfacecolor()) == to_hex(points.get_color())
            for value, y in points.get_xydata().tolist():
                rows[int(y)][1], rows[int(y)][3] = value, filled
    for bars in ax.collections:
        for (low, y), (high, _) in bars.get_segments():
            rows[int(y)][2] = (low, high)
    return rows


def expected(rows):
    """Return the same of the rows of a measure and a baseline, by plain sorting."""
    found = [
        [row.run, row.difference, row.interval, row.tests["randomization"].adjusted < 0.05] for row in rows
    ]
    return sorted(found, key=lambda row: -row[1])


def test_the_rows_of_each_measure_are_drawn_sorted(against_old):
    axes = plot_forest(against_old)
    order = [row[0] for row in expected(against_old.rows[:4])]  # of the first measure
    assert len(axes) == len(axes[0].figure.axes) == 2
    for ax, measure in zip(axes, against_old.measures, strict=True):
        rows = [row for row in against_old.rows if row.measure == measure]
        assert drawn(ax) == sorted(expected(rows), key=lambda row: order.index(row[0]))
        assert ax.get_xlabel() == f"difference in {measure}"
        assert ax.get_ylim()[0] > 3 > 0 > ax.get_ylim()[1]  # the first row is on top
        low, high = ax.get_xlim()
        intervals = [row.interval for row in rows if row.interval]
        assert low < min(ends[0] for ends in intervals) <= max(ends[1] for ends in intervals) < high
        assert [0, 0] in [list(each.get_xdata()) for each in ax.lines]
        assert {each.get_label() for each in ax.lines} >= {"better", "worse", "open"}


def test_means_have_their_intervals_and_the_letters_of_the_table():
    result = made(baseline=None)
    [block] = means_table(result).blocks
    values = result.paired.values
    order = sorted(values, key=lambda name: -values[name][0].mean())
    for number, ax in enumerate(plot_forest(result)):
        table = {row[1].text: (row[0].text, row[2 + number].mark) for row in block}
        rows = result.rows_of(number)
        intervals = {row.baseline: row.intervals["baseline_mean"] for row in rows}
        intervals |= {row.run: row.intervals["mean"] for row in rows}
        assert drawn(ax) == [
            [f"{name}  {table[name][0]}", values[name][number].mean(), intervals[name], True]
            for name in order
        ]
        assert [text.get_text() for text in ax.texts] == [table[name][1] for name in order]
        assert any(text.get_text() for text in ax.texts)
        assert ax.get_xlabel() == f"mean {MEASURES[number]}"


def test_measures_share_a_scale_where_they_can(against_old):
    left, right = plot_forest(against_old)
    assert left.get_xlim() == right.get_xlim()
    left, right = plot_forest(made({"old": {}, "two": GOOD}, ("NumRet", "P@1")))
    assert left.get_xlim() != right.get_xlim()


FILLED = "filled: p < 0.05 (randomization, adjusted)"
FIVE = ["bar: 95% CI", "filled: p < 0.05 (randomization)"]
FEW_DRAWS = "no CI: too few queries or resamples for a simultaneous interval"
LETTERS = "letters: significantly better than these runs, p < 0.05 (randomization, adjusted)"
INVALID = "no significance test was run that is valid here"
AT_ONCE = "bar: 95% CI, for all differences at once"
MANY = {f"run {i}": GOOD if i < 2 else {} for i in range(27)}


@pytest.mark.parametrize(
    ("runs", "options", "said"),
    [
        (RUNS, {}, [AT_ONCE, FILLED]),
        ({"old": RUNS["old"], "new": RUNS["new"]}, {}, ["bar: 95% CI", FILLED]),
        ({"old": RUNS["old"], "new": RUNS["new"]}, {"by": "_(.)$"}, [AT_ONCE, FILLED]),
        (RUNS, {"correction": "none", "level": 0.8}, ["bar: 80% CI", "filled: p < 0.05 (randomization)"]),
        (RUNS, {"tests": "t-test"}, ["bar: 95% CI", "filled: p < 0.05 (t-test, adjusted)"]),
        (RUNS, {"tests": "wilcoxon", "clusters": "^(.*)_"}, ["bar: 95% CI", INVALID]),
        ({**RUNS, "copy": RUNS["old"]}, {}, [AT_ONCE, "no bar: no variance between queries", FILLED]),
        (RUNS, {"clusters": "_(.)$"}, ["no CI: fewer than 5 clusters", FILLED]),
        (RUNS, {"clusters": lambda query: min(query[0], "y"), "correction": "none"}, FIVE),
        (RUNS, {"resamples": 10}, [FEW_DRAWS, FILLED]),
        (MANY, {"baseline": None, "resamples": 1000}, ["bar: 95% CI of the mean"]),
        (dict([*MANY.items()][:26]), {"baseline": None}, ["bar: 95% CI of the mean", LETTERS]),
        (RUNS, {"baseline": None, "tests": ()}, ["bar: 95% CI of the mean", INVALID]),
        (
            {"old": {}, "good": GOOD},
            {"baseline": None, "tests": "t-test"},
            ["bar: 95% CI of the mean"],
        ),  # there is no p
    ],
)
def test_bars_points_and_letters_are_explained_where_there_are_any(runs, options, said):
    [ax] = plot_forest(made(runs, "P@1", **options))
    minus = ["minus old"] * ("baseline" not in options)
    assert ax.figure.get_suptitle().replace("\n", " ") == " ".join([*minus, *said])
    assert bool(ax.collections) == ("bar" in said[0])
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert ("run 3  d" in names) == (LETTERS in said)


@pytest.mark.parametrize(("n", "lines"), [(3, [3]), (4, [3, 1]), (6, [3, 3])])
def test_more_than_three_measures_stand_in_lines_of_three(n, lines):
    measures = ["RR", "P@1", "P@2", "nDCG@3", "AP", "R@2"][:n]
    axes = plot_forest(made(measures=measures))
    assert axes[0].figure.axes == axes
    width, height = axes[0].figure.get_size_inches()
    assert width / height < 4.6
    places = [(ax.get_subplotspec().rowspan.start, ax.get_subplotspec().colspan.start) for ax in axes]
    assert places == [(line, column) for line, many in enumerate(lines) for column in range(many)]
    assert [ax.get_xlabel().split()[-1] for ax in axes] == measures
    ticks = [ax.xaxis.get_tick_params()["labelbottom"] for ax in axes]
    assert ticks == [False] * (n - 3) + [True] * 3


@pytest.mark.parametrize(("n", "inches", "letters"), [(35, 7.85, "small"), (36, 6.06, "x-small")])
def test_many_rows_are_lower_and_have_smaller_letters(n, inches, letters):
    result = made({"old": {}, **{f"run {number}": GOOD for number in range(n)}}, "RR", resamples=9)
    [ax] = plot_forest(result)
    assert ax.figure.get_figheight() == pytest.approx(inches)
    sizes = {text.get_fontsize() for text in (*ax.get_yticklabels(), *ax.texts)}
    assert sizes == {Text(fontsize=letters).get_fontsize()}


# --- differences of queries ---------------------------------------------------------------------------


def values_of(result, run, number):
    """Return the differences of the queries to the baseline, from the greatest to the least, by a loop."""
    runs = zip(result.paired.values[run][number], result.paired.values["old"][number], strict=True)
    return sorted((a - b if abs(a - b) > 1e-12 else 0.0 for a, b in runs), reverse=True)


def test_of_one_run_gains_and_losses_of_queries_are_areas_and_are_counted():
    result = made({"old": RUNS["old"], "new": RUNS["new"]})
    for number, ax in enumerate(plot_queries(result)):
        values = values_of(result, "new", number)
        gains, losses = (each.get_data().values.tolist() for each in ax.patches)
        assert (gains, losses) == ([max(v, 0) for v in values], [min(v, 0) for v in values])
        assert [to_hex(each.get_facecolor()) for each in ax.patches] == [WIN, LOSS]
        n_above, n_below = sum(v > 0 for v in values), sum(v < 0 for v in values)
        assert n_above > 0 < n_below
        assert [text.get_text() for text in ax.texts] == [f"{n_above} above 0, {n_below} below"]
        assert ax.get_title(loc="left") == MEASURES[number]
    assert ax.figure.get_suptitle() == "new minus old, each of 18 queries, sorted"
    assert not ax.figure.legends


@pytest.mark.parametrize("baseline", ["old", None])
def test_two_runs_need_no_baseline(baseline):
    [ax] = plot_queries(made({"old": RUNS["old"], "new": RUNS["new"]}, "RR", baseline))
    assert ax.figure.get_suptitle().startswith("new minus old")


def test_of_several_runs_each_has_a_line_and_a_name(against_old):
    axes = plot_queries(against_old)
    names = [text.get_text() for text in axes[0].figure.legends[0].get_texts()]
    means = {run: round(np.mean(values_of(against_old, run, 0)), 12) for run in RUNS if run != "old"}
    assert names == sorted(means, key=means.get, reverse=True)
    for number, ax in enumerate(axes):
        lines = {each.get_label(): each.get_data().values.tolist() for each in ax.patches}
        assert lines == {run: values_of(against_old, run, number) for run in means}
        assert not ax.texts
    assert axes[0].figure.get_suptitle() == "minus old, each of 18 queries, sorted"


def test_of_more_runs_seven_are_named_and_differ_in_grey():
    result = made({"old": {}, **random_runs(*(f"run {i}" for i in range(10)))}, "RR")
    [ax] = plot_queries(result)
    means = {run: round(values[0].mean(), 12) for run, values in result.paired.values.items() if run != "old"}
    best = sorted(means, key=means.get, reverse=True)[:7]
    names = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert names == [*best, "3 other runs"]
    looks = [
        (round(sum(to_rgb(each.get_edgecolor())) / 3, 1), each.get_linestyle(), each.get_linewidth())
        for each in ax.patches
    ]
    assert len(set(map(str, looks))) == 8
    assert {width for *_, width in looks[:3]} == {0.5}  # the others, below


def test_a_legend_stands_within_the_axes_that_are_given(against_old):
    figure = Figure()
    [ax] = plot_queries(against_old, "RR", figure.subplots())
    assert (bool(ax.get_legend()), figure.legends, figure.get_suptitle()) == (True, [], "")
    assert ax.get_xlabel() == "minus old, each of 18 queries, sorted"


def test_queries_of_every_pair_are_refused():
    with pytest.raises(pm.InputError, match=r"has their differences to one run\. Name the baseline"):
        plot_queries(made(baseline=None))


THOROUGH = pytest.mark.thorough
LONG, THREE = "a-very-long-name-of-a-retriever-", ("RR", "AP", "P@1")


@pytest.mark.parametrize(
    ("plot", "measures", "inches", "name"),
    [
        (plot_forest, THREE, 7, LONG),
        (plot_queries, "RR", 3.3, LONG),
        pytest.param(plot_forest, "RR", 3.3, LONG, marks=THOROUGH),
        pytest.param(plot_queries, THREE, 7, LONG, marks=THOROUGH),
        *(
            pytest.param(plot, measures, inches, "a", marks=THOROUGH)
            for plot in (plot_forest, plot_queries)
            for measures, inches in (("RR", 3.3), (("RR", "P@1"), 7), (THREE, 7))
        ),
    ],
)
def test_figures_are_as_wide_as_a_column_or_a_page(plot, measures, inches, name, tmp_path):
    result = made(random_runs(*(f"{name}{i}" for i in range(5))), measures, f"{name}0")
    before = dict(matplotlib.rcParams)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of a layout that has no room
        save_plot(plot(result)[0], tmp_path / "plot.pdf")
    [width] = re.findall(rb"MediaBox \[ 0 0 (\S+) ", (tmp_path / "plot.pdf").read_bytes())
    assert float(width) / 72 == pytest.approx(inches, abs=0.15)
    assert dict(matplotlib.rcParams) == before


# --- which, and where --------------------------------------------------------------------------------


def test_measures_are_found_by_name_or_refused(against_old):
    result = made(measures={"MAP": pm.GradedAP(max_rel=1), "AP": "P@1"})
    for measure, heading in (("MAP", "MAP"), (pm.GradedAP(max_rel=1), "MAP"), ("AP", "AP"), ("p@1", "AP")):
        [ax] = plot_forest(result, measure)
        assert ax.get_xlabel() == f"difference in {heading}"
    unknown = r"a measure of the comparison .* RR, P@1 \(found 'P@2'\)\. Did you mean 'P@1'"
    with pytest.raises(pm.InputError, match=unknown):
        plot_forest(against_old, "P@2")
    with pytest.raises(pm.InputError, match=r"must be the result of compare \(found str\)"):
        plot_forest("bm25.trec", "P@1")
    with pytest.raises(pm.PermedError, match="5"):
        plot_forest(against_old, 5)
    with pytest.raises(pm.InputError, match=r"must be a matplotlib Axes \(found str\)"):
        plot_forest(against_old, "RR", ax="plot.pdf")
    with pytest.raises(pm.InputError, match=r"one Axes for each of 2 measures \(found 1\).*subplots\(2\)"):
        plot_forest(against_old, ax=Figure().subplots())


def test_names_are_drawn_letter_for_letter(tmp_path):
    names = [*HARD, "a" * 100 + "x" + "b" * 20]
    [ax] = plot_forest(made(random_runs(*names), "RR", HARD[0]))
    save_plot(ax, tmp_path / "plot.svg")
    shown = {*HARD[1:3], "two lines", HARD[4], "a" * 21 + "…" + "b" * 12}
    assert {text.get_text() for text in ax.get_yticklabels()} == shown
    assert ax.figure.get_suptitle().startswith(f"minus {HARD[0]}\n")


@pytest.mark.thorough
@pytest.mark.parametrize("ending", PLOT_ENDINGS)
def test_the_same_plot_gives_the_same_bytes(ending, against_old, tmp_path):
    paths = [tmp_path / f"one{ending}", tmp_path / f"two{ending.upper()}"]
    before = dict(matplotlib.rcParams)
    for path in paths:
        save_plot(plot_forest(against_old)[0], path)
    one, two = (path.read_bytes() for path in paths)
    assert one == two
    assert one.startswith({".pdf": b"%PDF-", ".svg": b"<?xml", ".png": b"\x89PNG"}[ending])
    assert b"CreationDate" not in one
    assert b"dc:date" not in one
    assert dict(matplotlib.rcParams) == before


def test_plots_in_threads_are_the_same_bytes_and_change_no_settings(tmp_path):
    comparison = made(measures=["RR"])

    def draw(ending):
        if not ending:
            return inline_svg(figure_of(comparison))
        path = tmp_path / f"{threading.get_ident()}{ending}"
        save_plot(figure_of(comparison).axes, path)
        return path.read_bytes()

    endings = ["", *PLOT_ENDINGS]
    expected, before = [draw(ending) for ending in endings], dict(matplotlib.rcParams)
    times, interval = effort(1, 4), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(draw, endings * times))
    finally:
        sys.setswitchinterval(interval)
    assert found == expected * times
    assert dict(matplotlib.rcParams) == before


def test_what_another_thread_sets_while_a_plot_is_drawn_stays(against_old, tmp_path, monkeypatch):
    save = Figure.savefig
    monkeypatch.setitem(matplotlib.rcParams, "lines.linewidth", 1.5)

    def save_and_set(*arguments, **options):
        matplotlib.rcParams["lines.linewidth"] = 3.0
        return save(*arguments, **options)

    monkeypatch.setattr(Figure, "savefig", save_and_set)
    save_plot(figure_of(against_old).axes, tmp_path / "plot.svg")
    inline_svg(figure_of(against_old))
    assert matplotlib.rcParams["lines.linewidth"] == 3.0


def test_settings_are_put_back_where_a_plot_cannot_be_drawn(against_old, tmp_path):
    def fail(_):
        raise RuntimeError("no drawing")

    before, figure = dict(matplotlib.rcParams), figure_of(against_old)
    figure.draw = fail
    with pytest.raises(RuntimeError, match="no drawing"):
        save_plot(figure.axes, tmp_path / "plot.pdf")
    assert dict(matplotlib.rcParams) == before
    save_plot(figure_of(against_old).axes, tmp_path / "plot.pdf")  # which waits for no other


def test_what_a_plot_returns_is_saved_or_one_of_its_axes_or_all_of_a_figure(against_old, tmp_path):
    axes = plot_forest(against_old)
    parts, rows = Figure().subfigures(1, 2), Figure().subplots(2, 1, squeeze=False)
    assert plot_forest(against_old, ax=rows) == rows.ravel().tolist()
    for same in ((axes, axes[1]), (rows, rows[1, 0]), (parts[0].subplots(), parts[1].subplots())):
        files = [tmp_path / f"{number}.svg" for number in range(2)]
        for ax, file in zip(same, files, strict=True):
            save_plot(ax, file)
        assert files[0].read_bytes() == files[1].read_bytes()
    for given, n in (([axes[0], rows[0, 0]], 2), ([], 0)):
        with pytest.raises(pm.InputError, match=rf"the Axes of one figure \(found {n} figures\)"):
            save_plot(given, tmp_path / "none.svg")
    with pytest.raises(pm.InputError, match=r"must be a matplotlib Axes \(found Figure\)"):
        save_plot(axes[0].figure, tmp_path / "none.svg")


def test_other_endings_are_refused(against_old, tmp_path):
    with pytest.raises(pm.InputError, match=r"a plot is saved as \.pdf, \.svg, \.png \(found the ending"):
        save_plot(plot_forest(against_old)[0], tmp_path / "plot.pdf.gz")
    assert not list(tmp_path.iterdir())


def test_a_plot_in_a_page_has_its_names_as_text_and_colours_that_can_be_dark():
    before = ElementTree.tostring(ElementTree.Element("{http://www.w3.org/2000/svg}svg"))
    names = ['<b>& "x" id="a_1"', "url(#000000)", "-->"]
    runs = {"old": RUNS["old"], **dict(zip(names, [GOOD, {}, RUNS["new"]], strict=True))}
    svg = inline_svg(plot_forest(made(runs))[0].figure)
    assert ElementTree.tostring(ElementTree.Element("{http://www.w3.org/2000/svg}svg")) == before
    root = ElementTree.fromstring(svg)
    assert {*names} <= {"".join(each.itertext()) for each in root.iter()}
    assert "<style" not in svg
    assert "<b" not in svg
    styles = " ".join(each.get("style", "") for each in root.iter())
    assert {"var(--win, #0b57a4)", "var(--loss, #b3440b)", "var(--ink, currentColor)"} <= {
        f"var({each.partition(')')[0]})" for each in styles.split("var(")
    }
    assert "#000000" not in styles
    used = {each.get("href") for each in root.iter() if each.get("href")}
    assert {f"#{each.get('id')}" for each in root.iter() if each.get("id")} >= used


@pytest.mark.filterwarnings("error::UserWarning")
def test_letters_that_no_font_has_are_said_once_and_are_text_in_a_page(tmp_path):
    [ax] = plot_forest(made({"old": RUNS["old"], "模型 é": GOOD}, "RR"))
    said = r"plot.png: no font of the plot has '型' and '模'\. Set matplotlib's font\.family to one"
    for _ in range(2):  # the figure is as it was
        with pytest.warns(pm.PermedWarning, match=said) as caught:
            save_plot(ax, tmp_path / "plot.png")
        assert len(caught) == 1
    assert "模型 é" in inline_svg(ax.figure)
    save_plot(*plot_forest(made({"old": RUNS["old"], "é Ω": GOOD}, "RR")), tmp_path / "plot.png")


# --- how plots look ------------------------------------------------------------------------------------

SEEN = Path(__file__).parents[1] / "golden" / "looks.txt"
"""How plots looked when somebody saw them; ``python tests/comparison/test_plots.py`` writes it."""


def looks(figure):
    """Yield what texts, lines and bars of a plot look like, and how large it is."""
    yield f"{figure.get_size_inches()} inches"
    for ax in figure.axes:
        spines = [name for name, spine in ax.spines.items() if spine.get_visible()]
        limits = [round(float(end), 3) for end in (*ax.get_xlim(), *ax.get_ylim())]
        ticks = [axis.get_major_ticks()[0].tick1line.get_markersize() for axis in (ax.xaxis, ax.yaxis)]
        labels = [axis.get_major_ticks()[0].label1.get_fontsize() for axis in (ax.xaxis, ax.yaxis)]
        yield f"axes {limits}, {spines}, ticks {ticks}, letters {labels}"
        for each in ax.lines:
            marker = [each.get_marker(), each.get_markersize(), each.get_markerfacecolor()]
            line = each.get_color(), each.get_linestyle(), each.get_linewidth()
            yield f"line {line}, {marker}, {each.get_markeredgewidth()}, above {each.get_zorder():g}"
        for each in ax.patches:
            yield f"steps {to_hex(each.get_edgecolor())} {each.get_linestyle()} {each.get_linewidth()}"
        for each in ax.collections:
            yield f"bars {[to_hex(colour) for colour in each.get_colors()]} {each.get_linewidth()}"
    for each in figure.findobj(Text):
        if each.get_text() and each.get_visible():
            look = each.get_fontsize(), each.get_weight(), each.get_color(), each.get_rotation()
            yield f"text {look}, mathematics {each.get_parse_math()}, TeX {each.get_usetex()}"


def seen():
    """Return the looks of differences, of means, of queries, and of the first on a page."""
    figures = {"differences": plot_forest(made())[0].figure}
    figures["means"] = plot_forest(made(baseline=None))[0].figure
    figures["queries"] = plot_queries(made())[0].figure
    plot, _ = plots.forest_plots(made())
    [equal] = plots.forest_plots(made({"old": {}, "copy": {}}, "P@1"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plots, "inline_svg", lambda figure: figure)
        figures |= {"on a page": plot.svg(), "of equal runs": equal.svg()}
    lines = [f"{name}: {look}" for name, figure in figures.items() for look in dict.fromkeys(looks(figure))]
    return "".join(f"{line}\n" for line in [*lines, f"on a page: {plot.about}"])


def test_plots_look_as_they_were_seen():
    assert seen() == SEEN.read_text(encoding="utf-8")


if __name__ == "__main__":
    SEEN.write_text(seen(), encoding="utf-8")


def test_differences_up_to_1_have_one_scale():
    for measures, is_shared in ((("P@1", "RR"), True), (("P@1", "NumRet"), False)):
        left, right = plot_queries(made({"old": {}, "two": GOOD}, measures))
        assert (left.get_ylim() == right.get_ylim()) == is_shared


def test_what_a_plot_on_a_page_refers_to_is_its_own(against_old):
    pages = [inline_svg(plot(against_old)[0].figure) for plot in (plot_forest, plot_queries)]
    known = [{*re.findall(r'\bid="([^"]+)"', svg)} for svg in pages]
    used = [{*re.findall(r'(?:href="|url\()#([^")]+)', svg)} for svg in pages]
    assert all(used)
    assert all(links <= ids for links, ids in zip(used, known, strict=True))
    assert not known[0] & known[1]
