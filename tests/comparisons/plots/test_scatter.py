"""Scatter plots of two runs: places, areas and counts, against plain loops."""

from collections import Counter

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from plotting import HARD, QRELS, made, made_runs, per_query

import permed_measures as pm
from permed_measures.comparisons.compare import compare
from permed_measures.comparisons.plots.by_query import plot_scatter
from permed_measures.comparisons.plots.style import LOSS, WIN


def pairs_of(measure, *names):
    """Return the values of two runs by query, from the measure itself."""
    values = [per_query(QRELS, made_runs(("old", "new"))[name], pm.parse_measure(measure)) for name in names]
    return {query: tuple(round(each[query], 10) for each in values) for query in QRELS}


def circles(ax):
    """Return the area of each circle by its colour and place."""
    found = {}
    for circle in ax.collections:
        colours = map(to_hex, circle.get_facecolor())
        rows = zip(colours, circle.get_offsets().tolist(), circle.get_sizes().tolist(), strict=True)
        found |= {(colour, tuple(place)): area for colour, place, area in rows}
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
        assert colour == (WIN if y > x else LOSS if y < x else to_hex("0.45")).lower()
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


def test_values_of_0_only_and_above_1():
    qrels, runs = (
        {"u": {"a": 1, "b": 0}},
        {"x": {"u": {"b": 1.0}}, "y": {"u": {"b": 1.0, "c": 1.0, "d": 1.0}}},
    )
    compared = compare(qrels, runs, ["RR", "NumRet"], tests=())
    for measure, end in (("RR", 1), ("NumRet", 3)):
        ax = plot_scatter(compared, measure, ax=Figure().subplots())
        assert ax.lines[0].get_xydata().tolist() == [[0, 0], [end, end]]


def test_rounding_is_a_tie():
    qrels = {"u": {"a": 1, "b": 1}, "v": {"a": 1}}
    runs = {"x": {"u": {"a": 2.0, "b": 1.0}}, "y": {"u": {"a": 2.0, "b": 1.0}}}
    compared = compare(qrels, runs, "RR", tests=())
    compared.paired.values["y"][0, 0] += 1e-13
    ax = plot_scatter(compared, ax=Figure().subplots())
    assert ax.get_title(loc="left") == "0 wins, 2 ties, 0 losses"
    assert {colour for colour, _ in circles(ax)} == {to_hex("0.45")}


def test_names_are_drawn_letter_for_letter():
    ax = plot_scatter(made(HARD[:2], {"MAP $1$ $": "RR"}))
    assert ax.get_xlabel() == f"MAP $1$ $ of {HARD[0]}"
