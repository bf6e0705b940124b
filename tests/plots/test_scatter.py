"""Scatter plots of two runs: places, areas, rings and counts, against plain loops."""

from collections import Counter

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from plotting import HARD, QRELS, TURN, made, made_runs, per_query, texts

import permed_measures as pm
from permed_measures.comparisons.compare import compare
from permed_measures.plots.scatter import plot_scatter
from permed_measures.plots.style import GAIN, LOSS


def pairs_of(measure, *names):
    """Return the values of two runs by query, from the measure itself."""
    values = [per_query(QRELS, made_runs(("old", "new"))[name], pm.parse_measure(measure)) for name in names]
    return {query: tuple(round(each[query], 10) for each in values) for query in QRELS}


def circles(ax):
    """Return the area of each circle by its colour and place."""
    found = {}
    for circle in ax.collections:
        for place, area in zip(circle.get_offsets().tolist(), circle.get_sizes().tolist(), strict=True):
            found[to_hex(circle.get_facecolor()[0]), tuple(place)] = area
    return found


@pytest.mark.parametrize("measure", ["RR", "P@1"])
def test_the_area_is_the_number_of_queries(measure):
    compared = made(tests="randomization")
    ax = plot_scatter(compared, measure, ax=Figure().subplots())
    expected = Counter(pairs_of(measure, "old", "new").values())
    drawn = circles(ax)
    assert {place for _, place in drawn} == {*expected}
    assert len(drawn) == len(expected)
    smallest = min(drawn.values()) / min(expected.values())
    for (colour, (x, y)), area in drawn.items():
        assert area / smallest == pytest.approx(expected[x, y])
        assert colour == (GAIN if y > x else LOSS if y < x else to_hex("0.45")).lower()
    [row] = [row for row in compared.rows if row.measure == pm.parse_measure(measure)]
    found = [int(text.split()[0]) for text in ax.get_title(loc="left").split(", ")]
    assert found == [row.wins, row.ties, row.losses]
    assert (ax.get_xlabel(), ax.get_ylabel()) == (f"{measure} of old", f"{measure} of new")


def test_both_axes_are_the_same_and_have_the_diagonal():
    ax = plot_scatter(made(), run="old", against="new")
    ax.figure.draw_without_rendering()
    box = ax.get_window_extent()
    assert box.width == pytest.approx(box.height)
    assert ax.get_xlim() == ax.get_ylim()
    assert ax.lines[0].get_xydata().tolist() == [[0, 0], [1, 1]]
    assert ax.get_xlabel() == "RR of new"
    radius = np.sqrt(max(circles(ax).values())) / 2 * ax.figure.dpi / 72
    assert radius < -ax.get_xlim()[0] / np.ptp(ax.get_xlim()) * box.width  # a circle at 0 is inside the axes


def test_values_of_0_only_and_above_1():
    qrels, runs = (
        {"u": {"a": 1, "b": 0}},
        {"x": {"u": {"b": 1.0}}, "y": {"u": {"b": 1.0, "c": 1.0, "d": 1.0}}},
    )
    compared = compare(qrels, runs, ["RR", "NumRet"], tests="bootstrap")
    for measure, end in (("RR", 1), ("NumRet", 3)):
        ax = plot_scatter(compared, measure, ax=Figure().subplots())
        assert ax.lines[0].get_xydata().tolist() == [[0, 0], [end, end]]
        assert texts(ax) == ["win", "tie", "loss"]  # no circle of several queries to explain


def test_rounding_is_a_tie():
    qrels = {"u": {"a": 1, "b": 1}, "v": {"a": 1}}
    runs = {"x": {"u": {"a": 2.0, "b": 1.0}}, "y": {"u": {"a": 2.0, "b": 1.0}}}
    compared = compare(qrels, runs, "RR", tests="bootstrap")
    compared.paired.values["y"][0, 0] += 1e-13
    ax = plot_scatter(compared, ax=Figure().subplots())
    assert ax.get_title(loc="left") == "0 wins, 2 ties, 0 losses"
    assert {colour for colour, _ in circles(ax)} == {to_hex("0.45")}


def test_the_legend_explains_an_area():
    runs = {"x": {}, "y": {query: {"a": 1.0} for query in QRELS}}
    ax = plot_scatter(compare(QRELS, runs, "P@1", tests="bootstrap"), ax=Figure().subplots())
    [area] = circles(ax).values()
    assert texts(ax) == ["win", "tie", "loss", "5 queries"]
    assert ax.get_legend().legend_handles[-1].get_markersize() ** 2 == pytest.approx(area * 5 / 18)


def test_groups_are_rings_with_the_area_of_their_queries():
    compared = made(by=TURN)
    ax = plot_scatter(compared, "P@1", groups=True)
    counts = Counter((place, query[-1]) for query, place in pairs_of("P@1", "old", "new").items())
    drawn, total = circles(ax), Counter(pairs_of("P@1", "old", "new").values())
    colours = dict(
        zip("123", [to_hex(line.get_color()) for line in ax.get_legend().legend_handles], strict=False)
    )
    [unit] = {
        round(max(a for (_, at), a in drawn.items() if at == place) / n, 9) for place, n in total.items()
    }
    assert {(colours[turn], place) for place, turn in counts} == {*drawn}
    order = [colours[turn] for turn in "123"]
    assert [
        to_hex(each.get_facecolor()[0]) for each in sorted(ax.collections, key=lambda c: c.zorder)
    ] == order
    for (colour, place), area in drawn.items():
        turn = "123"[order.index(colour)]
        rest = sum(n for (at, other), n in counts.items() if at == place and other >= turn)
        assert area == pytest.approx(unit * rest)
    assert texts(ax)[:3] == ["1", "2", "3"]
    assert ax.get_legend().get_title().get_text() == "group"
    assert {each.get_alpha() for each in ax.collections} == {None}  # a ring hides the circle below it


def test_queries_in_no_group_are_drawn_too():
    compared = made(by={query: query[-1] for query in QRELS if query[-1] != "3"})
    ax = plot_scatter(compared, groups=True, ax=Figure().subplots())
    assert texts(ax)[:3] == ["1", "2", "in no group"]
    assert {place for _, place in circles(ax)} == {*pairs_of("RR", "old", "new").values()}


def test_groups_that_cannot_be_drawn():
    with pytest.raises(pm.InputError, match=r"groups=True needs a comparison with 1 to 8 groups \(found 0\)"):
        plot_scatter(made(), groups=True)
    with pytest.raises(pm.InputError, match=r"1 to 8 groups \(found 18\)"):
        plot_scatter(made(by="(.*)", resamples=10), groups=True)
    with pytest.raises(pm.InputError, match=r"a difference needs two runs \(found 'old' against itself\)"):
        plot_scatter(made(), run="old")


def test_names_are_drawn_letter_for_letter():
    ax = plot_scatter(made(HARD[:2], {"MAP $1$ $": "RR"}, by=lambda query: "$x$" + query[-1]), groups=True)
    assert ax.get_xlabel() == f"MAP $1$ $ of {HARD[0]}"
    assert texts(ax)[0] == "$x$1"
