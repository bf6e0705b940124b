"""Means by group: what is drawn, against plain loops."""

from collections import defaultdict

import numpy as np
import pytest
from plotting import CONVERSATION, QRELS, TURN, labels_of_x, line, made, made_runs, per_query

import permed_measures as pm
from permed_measures.comparisons.plots.by_group import plot_by_group
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


def test_a_comparison_without_groups_is_refused():
    with pytest.raises(pm.InputError, match="the comparison has no groups"):
        plot_by_group(made())
