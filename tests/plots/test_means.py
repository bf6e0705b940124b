"""Plots of means: against `uncertainty`, whose intervals they have; and the command."""

import ir_datasets
import matplotlib
import pytest
from commands import run_cli
from matplotlib.figure import Figure

import permed_measures as pm
from permed_measures.plots.panels import plot_means

QRELS = {f"{c}_{turn}": {"a": 1, "b": 1} for c in "uvwxyz" for turn in (1, 2, 3)}
HALF = {q: {"a": 2.0, "x": 1.0} for q in QRELS if q[0] in "uvw"}
RUNS = {"half": HALF, "most": {q: {"x": 2.0, "b": 1.0} for q in [*QRELS][1:]}, "none": {}}
SAME = {q: {"x": 2.0, "a": 1.0} for q in QRELS}
MEASURES = ("RR", "P@1", "nDCG@3", "P@2")


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    yield
    matplotlib.pyplot.close("all")


def drawn(ax, names):
    """Return value and bar of each row by name."""
    [points] = [each for each in ax.lines if each.get_marker() == "o"]
    values = {names[int(y)]: x for x, y in points.get_xydata().tolist()}
    bars = {
        names[int(low[1])]: (low[0], high[0]) for bar in ax.collections for low, high in bar.get_segments()
    }
    return {name: (values[name], bars.get(name)) for name in names}


@pytest.mark.parametrize("clusters", [None, "^(.)"])
@pytest.mark.parametrize("measures", ["RR", MEASURES])
def test_the_means_and_intervals_are_those_of_uncertainty(measures, clusters):
    axes = plot_means(QRELS, RUNS, measures, clusters=clusters, level=0.9)
    names = [label.get_text() for label in axes[0].get_yticklabels()]
    assert names == ["half", "most", "none"]
    rows = pm.uncertainty(QRELS, RUNS, measures, clusters=clusters, level=0.9).rows
    for ax in axes:
        of_measure = [row for row in rows if ax.get_xlabel() == f"mean {row.measure}"]
        assert drawn(ax, names) == {row.run: (row.value, row.interval) for row in of_measure}
    inches = axes[0].figure.get_figwidth()
    assert inches == (3.3 if measures == "RR" else 7)


@pytest.mark.parametrize(
    ("runs", "options", "said"),
    [
        ({"half": HALF}, {}, "bar: 95% CI of the mean"),
        ({"half": HALF}, {"clusters": "^(.)", "level": 0.8}, "bar: 80% CI of the mean, by ^(.)"),
        ({"half": HALF}, {"clusters": "_(.)$"}, "no CI: fewer than 5 clusters"),
        ({**RUNS, "same": SAME}, {}, "bar: 95% CI of the mean\nno bar: no variance between queries"),
        ({"same": SAME}, {}, "no CI: no variance between queries"),
    ],
)
def test_bars_are_explained_where_there_are_any(runs, options, said):
    [ax] = plot_means(QRELS, runs, "nDCG@3", **options)
    assert ax.figure.get_suptitle() == said
    assert bool(ax.collections) == said.startswith("bar")


def test_axes_that_are_given_are_drawn_on():
    given = Figure().subplots(2)
    assert plot_means(QRELS, RUNS, ["RR", "P@1"], ax=given) == list(given)
    assert given[0].get_title(loc="left").startswith("bar: 95% CI")
    with pytest.raises(pm.InputError, match=r"one Axes for each of 4 measures \(found 2\)"):
        plot_means(QRELS, RUNS, MEASURES, ax=given)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({}, RUNS, "RR"), "the qrels have no query"),
        ((QRELS, {}, "RR"), "there is no run"),
        ((QRELS, "bm25.trec", "RR"), r"runs must be a dict \{name: run\} \(found str 'bm25.trec'\)"),
        ((QRELS, RUNS, []), "there is no measure"),
        ((QRELS, RUNS, "RR", None, 2), "level must be between 0 and 1"),
        ((QRELS, {"bad": {"u_1": {"a": float("nan")}}}, "RR"), "run 'bad'"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(pm.InputError, match=message):
        plot_means(*arguments)


SAMPLE = ("evaluate", "permed-sample", "permed-sample/runs")


@pytest.mark.parametrize(
    "name",
    ["plot.svg", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("plot.pdf", "plot.PNG"))],
)
def test_evaluate_writes_a_figure(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out, err = run_cli(*SAMPLE, "-m", "P@1", "--output", name)
    assert (out, err.splitlines()[-1]) == ("", f"{name}: figure of 3 runs")
    assert (tmp_path / name).stat().st_size > 5000


def test_the_figure_of_a_data_set_is_by_its_conversations(tmp_path):
    run_cli(*SAMPLE, "-m", "AP@10", "--output", str(tmp_path / "plot.svg"))
    [ax] = plot_means(pm.read_qrels("permed-sample"), {"bm25": "permed-sample/runs/bm25"}, "AP@10")
    assert ax.figure.get_suptitle() == "bar: 95% CI of the mean"
    dataset = ir_datasets.load("permed-sample")
    axes = plot_means(dataset, {n: f"permed-sample/runs/{n}" for n in ("bm25", "lsa", "tfidf")}, "AP@10")
    assert axes[0].figure.get_suptitle() == "bar: 95% CI of the mean, by conversation_id"
    pm.save_plot(axes[0], tmp_path / "same.svg")
    assert (tmp_path / "same.svg").read_bytes() == (tmp_path / "plot.svg").read_bytes()


@pytest.mark.parametrize("option", [["--by", "turn_number"], ["--by-query"]])
def test_a_figure_of_groups_or_queries_is_refused(option, tmp_path):
    output = tmp_path / "plot.pdf"
    with pytest.raises(pm.InputError, match=r"has the means over all queries\. Leave out --by"):
        run_cli(*SAMPLE, *option, "--output", output)
    assert not output.exists()
