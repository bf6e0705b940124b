"""Names are drawn letter for letter, Chinese ones too."""

import re
import warnings
from pathlib import Path

import matplotlib
import pytest
from matplotlib import font_manager
from plotting import HARD, QRELS, labels_of_x, made, made_runs, texts

import permed_measures as pm
from permed_measures.plots import fonts
from permed_measures.plots.by_group import plot_by_group
from permed_measures.plots.by_query import plot_differences, plot_distribution
from permed_measures.plots.cutoffs import plot_cutoffs
from permed_measures.plots.save import PLOT_ENDINGS as ENDINGS
from permed_measures.plots.save import save_plot


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
    [warning] = caught
    assert re.search("no installed font has '.+', drawn as boxes.*apt install fonts", str(warning.message))
    assert warning.category is pm.PermedWarning
    assert Path(warning.filename).name == "test_fonts.py"
    assert texts(ax) == ["□□□□□□", "□□□□", "□□□□ (2)", "plain"]


def test_letters_that_no_font_is_known_for():
    with pytest.warns(pm.PermedWarning, match=r"'\U0001F9EC'.*rcParams\['font.family'\]"):
        ax = plot_cutoffs(QRELS, made_runs(["emoji \U0001f9ec"]))
    assert texts(ax) == ["emoji □"]


def test_a_heading_of_the_users_own_is_drawn_letter_for_letter():
    own = "MAP $10$"
    compared = made(measures={own: "RR", "P@1": "P@1"})
    labels = {
        plot_by_group(compared, lambda query_id: "turn " + query_id[-1]).yaxis.label: f"mean {own}",
        plot_distribution(compared, "RR").xaxis.label: f"{own} of a query",
        plot_differences(compared).yaxis.label: f"difference in {own}",
    }
    for label, text in labels.items():
        assert (label.get_text(), label.get_parse_math()) == (text, False)


@pytest.mark.usefixtures("no_chinese_font")
def test_letters_of_a_heading_that_no_font_has_are_boxes():
    with pytest.warns(pm.PermedWarning, match="no installed font has"):
        ax = plot_distribution(made(measures={"平均精度": "RR"}))
    assert ax.get_xlabel() == "□□□□ of a query"
