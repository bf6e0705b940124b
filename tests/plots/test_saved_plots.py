"""Plots in files and on pages."""

from itertools import product
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from plotting import PLOTS, made

import permed_measures as pm
from permed_measures.plots.by_query import plot_differences, plot_distribution
from permed_measures.plots.forest import plot_forest
from permed_measures.plots.save import PLOT_ENDINGS as ENDINGS
from permed_measures.plots.save import save_plot
from permed_measures.plots.scatter import plot_scatter


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("plot", "ending"),
    [
        *product([*PLOTS.values(), plot_differences], ENDINGS),
        (plot_scatter, ".svg"),
        (plot_forest, ".svg"),
    ],
)
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
    save_plot(ax, tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_text().count("axes_") == 2
