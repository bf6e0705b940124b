"""Means by group: what is drawn, against plain loops."""

from collections import defaultdict

import numpy as np
import pytest
from plotting import CONVERSATION, QRELS, TURN, grouped, labels_of_x, line, made, made_runs, per_query

import permed_measures as pm
from permed_measures.comparisons.compare import compare
from permed_measures.comparisons.plots.by_group import plot_by_group
from permed_measures.datasets import SAMPLES
from permed_measures.intervals import measure_intervals


def test_means_by_turn_are_those_of_a_loop(sample):
    qrels, runs, compared = sample
    measure = pm.parse_measure("GradedAP@10")
    ax = plot_by_group(compared, measure=measure)
    assert len(ax.lines) == len(ax.collections) == len(runs)
    for name, run in runs.items():
        by_turn = defaultdict(list)
        for query_id, value in per_query(qrels, run, measure).items():
            by_turn[int(query_id.rpartition("_")[2])].append(value)
        expected = [(turn, sum(values) / len(values)) for turn, values in sorted(by_turn.items())]
        assert line(ax, name).get_ydata() == pytest.approx([mean for _, mean in expected], abs=1e-12)
        assert np.round(line(ax, name).get_xdata() + 1).tolist() == [turn for turn, _ in expected]
    assert labels_of_x(ax) == ["1\nn=12", "2\nn=12", "3\nn=12", "4\nn=10", "5\nn=2\nno bar"]
    assert ax.get_ylabel() == "mean GradedAP@10"


@pytest.mark.parametrize("clusters", [CONVERSATION, "none"])
def test_bars_are_intervals_of_the_means_of_the_group_by_whole_clusters(clusters):
    groups = {query_id: int(query_id[-1] == "1") for query_id in QRELS}
    compared = made(clusters=clusters, seed=7, level=0.8, by=groups)
    ax = plot_by_group(compared)
    label = dict(zip(compared.paired.query_ids, compared.paired.cluster.tolist(), strict=True))
    for name, bars in zip(compared.paired.values, ax.collections, strict=True):
        for group in (0, 1):
            here = [query_id for query_id in compared.paired.query_ids if groups[query_id] == group]
            scores = per_query(QRELS, made_runs(("old", "new"))[name], pm.parse_measure("RR"))
            values, of = [scores[q] for q in here], [label[q] for q in here]
            drawn = bars.get_segments()[group]
            assert drawn[:, 0].tolist() == [line(ax, name).get_xdata()[group]] * 2
            cluster = np.unique(of, return_inverse=True)[1]
            [expected] = measure_intervals(compared.measures[:1], np.array(values)[:, None], cluster, 0.8)
            assert drawn[:, 1].tolist() == pytest.approx(expected.value, abs=1e-12)
    units = "clusters" if clusters != "none" else "queries"
    assert f"80% CI of the mean, by {units}" in ax.get_title(loc="left")


@pytest.mark.parametrize(("n_runs", "has_bars"), [(8, True), (9, False)])
def test_a_page_explains_bars_where_they_are_drawn(n_runs, has_bars):
    found = made([f"run{number}" for number in range(n_runs)], by=TURN)
    [section] = [each for each in found.report().sections if each.heading == f"By {TURN}"]
    assert ("Bar: 95% CI of the mean, of each run by itself" in section.note) == has_bars
    assert bool(plot_by_group(found).collections) == has_bars


@pytest.mark.parametrize("clusters", ["none", CONVERSATION])
def test_a_group_of_few_has_no_bar_and_says_so(clusters):
    few = {q: 2 for q in QRELS if q[-1] == "1" and q[0] in "uvwx"}
    one_more = {**few, "y_1": 2}
    for groups, label in ((few, "2\nn=4\nno bar"), (one_more, "2\nn=5")):
        ax = plot_by_group(made(clusters=clusters, by={q: groups.get(q, 1) for q in QRELS}))
        assert labels_of_x(ax)[1] == label
        assert ("no bar: fewer than 5" in ax.get_title(loc="left")) == (groups is few)
        for bars in ax.collections:
            first, second = bars.get_segments()
            assert len(first) == 2
            assert len(second) == (2 if groups is one_more else 0)  # points
    alone = plot_by_group(made(clusters=CONVERSATION, by=CONVERSATION))
    assert alone.get_title(loc="left") == "no CI: no group has 5 clusters whose values vary"
    assert not alone.collections


def test_points_of_runs_stand_side_by_side_and_are_joined_where_numbers_follow():
    ax = grouped(names="abc")
    places = np.array([line(ax, name).get_xdata() for name in "abc"])
    assert places[1].tolist() == [0, 1, 2]
    assert (np.diff(places, axis=0) > 0.1).all()
    assert np.ptp(places, axis=0).max() < 0.35
    for names, joined in (("123", True), ("124", False), ("1a3", False), ("789", True), ("321", True)):
        of_group = dict(zip("123", names, strict=True))
        ax = grouped(lambda query_id, of_group=of_group: of_group[query_id[-1]])
        assert (line(ax, "old").get_linestyle() != "None") == joined


def test_bars_of_many_runs_are_left_out():
    names = [f"run {i}" for i in range(9)]
    ax = grouped(names=names)
    assert not ax.collections
    assert ax.get_title(loc="left") == "no CI: those of more than 8 runs would hide the lines"
    assert len(grouped(names=names[1:]).collections) == 8


def test_categories_stand_side_by_side():
    ax = grouped(lambda query_id: "first" if query_id.endswith("1") else "later")
    assert labels_of_x(ax) == ["first\nn=6", "later\nn=12"]
    assert line(ax, "old").get_xdata() == pytest.approx([-0.2, 0.8])
    assert line(ax, "new").get_xdata() == pytest.approx([0.2, 1.2])
    values = per_query(QRELS, made_runs(("old", "new"))["new"], pm.parse_measure("RR"))
    first = [value for query_id, value in values.items() if query_id.endswith("1")]
    assert line(ax, "new").get_ydata()[0] == pytest.approx(sum(first) / len(first))
    assert labels_of_x(grouped(lambda _: 5)) == ["5\nn=18"]
    assert labels_of_x(grouped(lambda q: q[0] == "u")) == ["False\nn=15", "True\nn=3\nno bar"]


def test_a_field_or_a_pattern_is_named():
    ax = grouped()
    assert labels_of_x(ax) == ["1\nn=6", "2\nn=6", "3\nn=6"]
    assert ax.get_xlabel() == r"_(\d+)$ in the query id (n: queries)"
    runs = {name: pm.read_run(path) for name, path in SAMPLES[0].runs.items()}
    ax = plot_by_group(compare("permed-sample", runs, "P@1", tests=(), by="turn_number"))
    assert ax.get_xlabel() == "turn_number (n: queries)"
    assert "by clusters" in ax.get_title(loc="left")
    with pytest.raises(pm.InputError, match="the comparison has no groups"):
        plot_by_group(made())
