"""Intervals: by formulas, agreeing with p-values, and holding what they say in simulations."""

import dataclasses
import math

import numpy as np
import pytest
from effort import effort
from scipy import stats
from simulations import intervals as simulate

from permed_measures.comparisons.compare import compare
from permed_measures.statistics.intervals import (
    Spread,
    bounds,
    contrast_spreads,
    critical_of,
    mean_intervals,
    mean_spread,
)
from permed_measures.statistics.results import deciding


def symmetric(n, columns=1, seed=0):
    d = np.random.default_rng(seed).normal(0.3, size=(n // 2, columns))
    return np.concatenate([d, 2 * d.mean(axis=0) - d])


def test_a_symmetric_column_has_students_interval():
    d = symmetric(30)
    [found] = mean_intervals(d, np.arange(30), 0.9)
    low, high = stats.t.interval(0.9, 29, d.mean(), stats.sem(d[:, 0]))
    assert found.value == pytest.approx((low, high), rel=1e-6)


def test_a_skewed_column_is_longer_on_its_long_tail_by_half_of_halls_correction():
    d = np.array([0.0] * 17 + [1.0] * 3)[:, None]
    [found] = mean_intervals(d, np.arange(20))
    t, error, gamma = stats.t.ppf(0.975, 19), stats.sem(d[:, 0]), 0.7 / math.sqrt(0.15 * 0.85)
    a = gamma / math.sqrt(20) / 6
    moved = (np.cbrt(1 + 3 * a * (-t - a / 2)) - 1) / a
    assert found.value == pytest.approx((0.15 - t * error, 0.15 - moved * error), rel=1e-9)
    [mirrored] = mean_intervals(-d, np.arange(20))
    assert mirrored.value == pytest.approx((-found.value[1], -found.value[0]))


def test_error_and_skewness_are_those_of_the_clusters():
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(12), rng.integers(1, 6, 12))
    d = rng.exponential(size=(len(cluster), 2))
    found = mean_spread(d, cluster)
    for column in range(2):
        u = [math.fsum(d[cluster == c, column] - d[:, column].mean()) for c in range(12)]
        assert found.error[column] == pytest.approx(math.sqrt(12 / 11 * sum(x * x for x in u)) / len(d))
        assert found.skewness[column] == pytest.approx(stats.skew(u), abs=1e-9)
    sizes = np.bincount(cluster)
    assert found.effective == pytest.approx(sizes.sum() ** 2 / (sizes**2).sum())


def test_one_unit_and_equal_values():
    assert mean_intervals(np.ones((3, 1)), np.zeros(3, int))[0].reason == (
        "an interval needs at least two clusters"
    )
    assert mean_intervals(np.full((3, 1), 0.25), np.arange(3))[0].value == (0.25, 0.25)


def test_one_long_cluster_makes_intervals_longer_and_then_infinite():
    same = Spread(np.zeros(1), np.ones(1), np.zeros(1), 30, 30.0)
    t = critical_of(0.95, 30)
    assert bounds(same, t)[1] == pytest.approx(t)
    assert bounds(same._replace(effective=10.0), t)[1] > 1.1 * t
    assert bounds(same._replace(effective=3.0), t)[1] == math.inf
    assert bounds(same, math.inf)[1] == math.inf


@pytest.mark.parametrize("kind", ["relative", "effect size"])
def test_influences_are_those_of_leaving_one_out(kind):
    rng = np.random.default_rng(2)
    base = rng.random((200, 1))
    d = rng.normal(0.1, size=(200, 1))

    def estimate(keep):
        mean = d[keep].mean()
        return mean / base[keep].mean() if kind == "relative" else mean / d[keep].std(ddof=1)

    left = np.array([estimate(np.arange(200) != i) for i in range(200)])
    jackknife = math.sqrt(199 / 200 * ((left - left.mean()) ** 2).sum())
    _, relative, effect = contrast_spreads(d, base.mean(axis=0), base, np.arange(200))
    spread = relative if kind == "relative" else effect
    assert spread.estimate[0] == pytest.approx(estimate(slice(None)))
    assert spread.error[0] == pytest.approx(jackknife, rel=0.02)


@pytest.mark.parametrize("seed", range(effort(3, 20)))
@pytest.mark.parametrize("correction", ["max-t", "tukey", "holm", "none"])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_intervals_never_contradict_the_p_value_that_decides(seed, correction, level):
    rng = np.random.default_rng(seed)
    qrels = {f"q{i:02}": {"a": 1, "b": 1} for i in range(40)}
    runs = {
        f"r{j}": {q: {"a": 1.0} if rng.random() < share else {} for q in qrels}
        for j, share in enumerate((0.05, 0.1, 0.3, 0.5))
    }
    clusters = "q(.)" if seed % 2 else "none"
    result = compare(
        qrels, runs, ["P@1", "R@5"], clusters=clusters, correction=correction, level=level, resamples=499
    )
    for row in result.rows:
        test = row.tests[deciding(row.tests)]
        p = test.adjusted if correction in ("max-t", "tukey") else test.p
        for low, high in filter(
            None, (row.interval, *(row.intervals[n] for n in ("relative", "effect_size")))
        ):
            if p < round(1 - level, 12):
                assert low >= 0 or high <= 0
                assert low < high
            else:
                assert low <= 0 <= high


def test_an_end_at_0_that_is_excluded_has_a_round_bracket():
    qrels = {f"q{i:02}": {"a": 1} for i in range(20)}

    def interval(wins):
        new = {q: {"a": 1.0} for q in list(qrels)[:wins]}
        result = compare(qrels, {"old": {}, "new": new}, "P@1", tests="randomization")
        odd = [dataclasses.replace(row, interval=(0.0, 0.5)) for row in result.rows]
        return str(dataclasses.replace(result, rows=odd))

    assert "(+0.0000, +0.5000]" in interval(6)  # p = 0.03125
    assert "[+0.0000, +0.5000]" in interval(5)  # p = 0.0625


def test_a_note_where_few_units_differ_or_there_are_few():
    qrels = {f"q{i:02}": {"a": 1} for i in range(40)}
    runs = {"old": {}, "new": {q: {"a": 1.0} for q in list(qrels)[:4]}}
    [*_, note] = compare(qrels, runs, "P@1").notes
    assert note == (
        "interval: 1 of 1 difference is 0 but on fewer than 5 queries; there it may hold less often than 95%"
    )
    in_two = {q: str(min(i // 4, 30)) for i, q in enumerate(qrels)}
    runs["new"] = {q: {"a": 1.0} for q in list(qrels)[:16]}
    notes = compare(qrels, runs, "P@1", clusters=in_two).notes
    assert "interval: with 10 clusters it holds less often than 95% where differences are skewed" in notes


@pytest.mark.thorough
@pytest.mark.parametrize("name", simulate.SHAPES)
def test_intervals_hold_in_simulations(name):
    for n in (30, 50, 100):
        found, few = simulate.coverage(simulate.SHAPES[name], n, 2000)
        if few < 0.5:
            assert 0.92 <= found["ours"][0] <= 0.995, (n, few)


def test_the_intervals_hold_where_percentile_intervals_do_not():
    found, _ = simulate.coverage(
        simulate.SHAPES["conversations, one of 20"], 20, 1000, methods=("ours", "percentile")
    )
    assert found["ours"][0] > 0.94
    assert found["percentile"][0] < 0.92


def test_the_simulation_prints_its_table(capsys, monkeypatch):
    monkeypatch.delenv("PERMED_DATA", raising=False)
    simulate.main(4)
    lines = capsys.readouterr().out.splitlines()
    assert lines[3].startswith("shape")
    assert len(lines) == 4 + len(simulate.SHAPES)
