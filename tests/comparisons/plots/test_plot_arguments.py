"""What cannot be drawn or saved."""

import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from plotting import QRELS, TURN, made, made_runs

import permed_measures as pm
from permed_measures.comparisons.plots.arguments import measure_of
from permed_measures.comparisons.plots.by_group import plot_by_group
from permed_measures.comparisons.plots.by_query import plot_differences, plot_scatter
from permed_measures.comparisons.plots.cutoffs import plot_cutoffs
from permed_measures.comparisons.plots.forest import plot_forest
from permed_measures.comparisons.plots.save import save_plot

OF_A_COMPARISON = [plot_by_group, plot_differences, plot_forest, plot_scatter]


@pytest.mark.parametrize("plot", OF_A_COMPARISON)
def test_a_measure_that_was_not_compared(plot):
    with pytest.raises(
        pm.InputError,
        match=r"a measure of the comparison .* RR, P@1 \(found 'P@2'\)\. Did you mean 'P@1'",
    ):
        plot(made(), "P@2")


def test_a_measure_is_drawn_by_the_name_that_it_was_given():
    runs = {"a": {"q": {"d": 1.0}}, "b": {}}
    compared = pm.compare({"q": {"d": 1}}, runs, {"MAP": pm.GradedAP(max_rel=1), "AP": "P@1"}, tests=())
    assert measure_of(compared, None) == measure_of(compared, "MAP") == (0, "MAP")
    assert measure_of(compared, pm.GradedAP(max_rel=1)) == (0, "MAP")
    assert measure_of(compared, "AP") == measure_of(compared, "p@1") == (1, "AP")


def test_a_run_that_was_not_compared():
    for plot in (
        lambda c: plot_differences(c, run="nwe"),
        lambda c: plot_differences(c, against="nwe"),
        lambda c: plot_scatter(c, run="nwe"),
        lambda c: plot_forest(c, runs="nwe"),
        lambda c: plot_by_group(c, runs=["old", "nwe"]),
    ):
        with pytest.raises(
            pm.InputError,
            match=r"a run of the comparison .* old, new \(found 'nwe'\)\. Did you mean 'new'",
        ):
            plot(made(by=TURN))
    with pytest.raises(pm.InputError, match="runs is empty: there is no run to draw"):
        plot_forest(made(), runs=[])
    with pytest.raises(pm.InputError, match=r"a difference needs two runs \(found 'old' against itself\)"):
        plot_differences(made(), run="old")


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
    with pytest.raises(pm.InputError, match=rf"ax must be an Axes .*found {type(given).__name__}\)"):
        save_plot(given, tmp_path / "plot.pdf")
    ax = plot_differences(made())
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
    for name in ("matplotlib", "matplotlib.pyplot", "matplotlib.axes"):
        monkeypatch.setitem(sys.modules, name, None)
    for plot in (*OF_A_COMPARISON, lambda _: plot_cutoffs(QRELS, made_runs("a"))):
        with pytest.raises(pm.InputError, match=r"matplotlib is not installed.*pip install '\.\[plot\]'"):
            plot(compared)
