"""Power, equivalence and interactions: against statsmodels, by their intervals, and in simulations."""

import numpy as np
import pytest
from simulations import interactions as simulate
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import DescrStatsW

import permed_measures as pm
from permed_measures.comparisons.compare import compare
from permed_measures.statistics.interactions import interaction_test
from permed_measures.statistics.intervals import bounds, critical_of, mean_spread
from permed_measures.statistics.power import detectable, equivalence_test, needed


@pytest.mark.parametrize("n", [5, 20, 50, 600, 6980])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_detectable_difference_is_statsmodels(n, level):
    [found] = detectable(np.array([1 / np.sqrt(n)]), n, level)
    theirs = TTestPower().solve_power(nobs=n, alpha=1 - level, power=0.8)
    assert found == pytest.approx(theirs, rel=1e-4)


def test_the_number_of_queries_is_statsmodels_and_that_of_topic_set_size_design():
    for effect in (0.1, 0.2, 0.5, 1.0):
        theirs = np.ceil(TTestPower().solve_power(effect_size=effect, alpha=0.05, power=0.8))
        assert needed(np.array([0.1]), 100, effect, 0.95) == [theirs]
    assert needed(np.array([0.1, 0.0]), 100, 0.5, 0.95) == [34, None]  # Sakai 2016: 34 topics


@pytest.mark.parametrize("seed", range(4))
def test_equivalence_is_an_interval_within_the_range(seed):
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(25), rng.integers(1, 6, 25))
    d = rng.exponential(0.05, size=(len(cluster), 12)) - 0.05
    for rope in (0.005, 0.01, 0.02):
        low, high = bounds(mean_spread(d, cluster), critical_of(0.9, 25))
        within = (-rope < low) & (high < rope)
        found = [each.p < 0.05 for each in equivalence_test(d, cluster, rope)]
        assert found == within.tolist()


def test_equivalence_of_symmetric_differences_is_statsmodels():
    d = np.random.default_rng(0).normal(0.01, 0.1, size=60)
    d = np.concatenate([d, 2 * d.mean() - d])
    [found] = equivalence_test(d[:, None], np.arange(120), 0.03)
    theirs, *_ = DescrStatsW(d).ttost_mean(-0.03, 0.03)
    assert found.p == pytest.approx(theirs, rel=1e-5)
    same = equivalence_test(np.zeros((5, 1)), np.arange(5), 0.02)[0]
    assert (same.p, same.reason) == (None, "equivalence needs differences that vary between queries")


def test_an_interaction_is_statsmodels_clustered_wald_test():
    rng = np.random.default_rng(3)
    cluster = np.repeat(np.arange(40), 3)
    group = np.tile(np.arange(3), 40)
    d = rng.normal(size=120) + 0.5 * (group == 1)
    [found] = interaction_test(d[:, None], cluster, group)
    dummies = np.stack([group == 0, group == 1, group == 2], axis=1).astype(float)
    fitted = OLS(d, dummies).fit(cov_type="cluster", cov_kwds={"groups": cluster, "use_correction": False})
    contrast = np.array([[-1, 1, 0], [-1, 0, 1]])
    wald = float(np.squeeze(fitted.wald_test(contrast, use_f=False, scalar=True).statistic)) * 39 / 40
    assert found.statistic == pytest.approx(wald * 38 / (39 * 2))
    assert found.method == "Wald test of 3 groups, F(2, 38)"


def test_small_groups_are_left_out_and_one_group_has_no_interaction():
    rng = np.random.default_rng(0)
    d, cluster, group = rng.normal(size=(60, 1)), np.arange(60), np.repeat([0, 1, -1], [25, 30, 5])
    [two] = interaction_test(d, cluster, group)
    group[-5:] = 2
    assert interaction_test(d, cluster, group) == [two]
    [one] = interaction_test(d, cluster, np.zeros(60, int))
    assert (one.p, one.reason) == (None, "since it needs two groups of 20 clusters or queries at least")


def test_the_interaction_test_holds_its_level_and_finds():
    for kind in ("normal", "sparse"):
        assert 0.02 < simulate.rate("60 conversations, 3 turns and more", kind, 0.0, 800) < 0.09
    assert simulate.rate("60 conversations, 3 turns and more", "normal", 0.8, 200) > 0.7


def test_the_simulation_prints_its_table(capsys):
    simulate.main(200)
    assert len(capsys.readouterr().out.splitlines()) == 3 + len(simulate.LAYOUTS)


def runs_that_win_early(n=60):
    qrels = {f"c{i:02}_{turn}": {"a": 1} for i in range(n) for turn in (1, 2)}
    old = {q: {"a": 1.0} for i, q in enumerate(qrels) if i % 5 == 0}
    new = {q: {"a": 1.0} for i, q in enumerate(qrels) if i % 5 == 0 or (q[-1] == "1" and i % 3)}
    return qrels, {"old": old, "new": new}


def test_a_comparison_has_power_equivalence_and_interaction():
    qrels, runs = runs_that_win_early()
    result = compare(
        qrels, runs, ["P@1", "RR"], clusters="^(.*)_", by="_(.)$", rope=0.5, detect=0.02, baseline="old"
    )
    row = result.rows[0]
    assert row.tests["interaction"].adjusted < 0.001
    assert "interaction" not in next(iter(result.groups.values())).rows[0].tests
    assert row.tests["equivalence"].adjusted < 0.05
    assert 0 < row.detectable < row.difference
    assert row.needed > 60
    text = result.to("table")
    for part in (
        "equivalence",
        "interaction",
        "detected with 80% power: differences of",
        "to detect 0.02 with",
    ):
        assert part in text
    assert "RR: a reciprocal rank" in text
    records = result.to_polars()
    assert {"detectable", "needed", "equivalence p", "interaction adjusted"} <= set(records.columns)
    assert records["interaction p"].null_count() == records.height - 2


@pytest.mark.parametrize(("name", "value"), [("rope", 0), ("rope", -1.0), ("detect", "x"), ("detect", True)])
def test_a_difference_asked_for_is_a_number_above_0(name, value):
    qrels, runs = runs_that_win_early(4)
    with pytest.raises(pm.InputError, match=f"{name} must be a number above 0"):
        compare(qrels, runs, "P@1", **{name: value})
