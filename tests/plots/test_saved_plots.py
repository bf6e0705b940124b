"""Plots in files and on pages."""

import re
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure
from plotting import HARD, PLOTS, made

import permed_measures as pm
from permed_measures.plots.by_group import plot_by_group
from permed_measures.plots.by_query import plot_differences, plot_distribution
from permed_measures.plots.forest import plot_forest
from permed_measures.plots.save import PLOT_ENDINGS as ENDINGS
from permed_measures.plots.save import as_svg, save_plot
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
