"""Power, equivalence and interactions: against statsmodels and scipy, by their intervals, and simulated."""

import itertools

import numpy as np
import pytest
from scipy import stats
from simulations import interactions as simulate
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import DescrStatsW

import permed_measures as pm
from permed_measures.comparisons.compare import compare
from permed_measures.comparisons.groups import interaction_test
from permed_measures.comparisons.power import needed
from permed_measures.comparisons.tests import equivalence_test


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize("effect", [0.1, 0.2, 0.5, 1.0, 2.0])
def test_the_number_of_queries_is_that_of_statsmodels(effect, level):
    theirs = TTestPower().solve_power(effect_size=effect, alpha=1 - level, power=0.8)
    assert needed(0.1, 100, effect, level) == np.ceil(theirs)


def test_the_number_of_queries_of_any_difference():
    assert needed(0.1, 100, 0.5, 0.95) == 34  # Sakai 2016: 34 topics
    assert needed(0.0, 100, 0.5, 0.95) is None
    assert needed(1.0, 100, 0.001, 0.95) == pytest.approx(7.849e8, rel=1e-3)
    assert needed(0.1, 100, 1000, 0.95) == 2


def test_equivalence_is_statsmodels():
    d = np.random.default_rng(0).exponential(0.1, size=60) - 0.09
    [found] = equivalence_test(d[:, None], np.arange(60), 0.03)
    theirs, *_ = DescrStatsW(d).ttost_mean(-0.03, 0.03)
    assert found.p == pytest.approx(theirs, rel=1e-9)
    for same in (np.zeros((5, 1)), np.ones((5, 1))):
        [none] = equivalence_test(same, np.arange(len(same)), 0.02)
        assert (none.p, none.reason) == (None, "no variance between queries")


@pytest.mark.parametrize("wins", [(0, 16), (3, 8), (6, 10), (1, 30)])
def test_an_interaction_of_two_groups_of_wins_is_fishers_exact_test(wins):
    d = np.zeros((220, 1))
    d[: wins[0]] = d[20 : 20 + wins[1]] = 1
    [found] = interaction_test(d, np.arange(220), np.repeat([0, 1], [20, 200]), 10_000, 0)
    table = [[wins[0], 20 - wins[0]], [wins[1], 200 - wins[1]]]
    assert found.p == pytest.approx(stats.fisher_exact(table).pvalue, abs=0.015)
    assert found.method == "10,000 permutations of the groups over queries"


def test_an_interaction_of_whole_clusters_and_of_turns_by_all_permutations():
    d = np.array([0.9, 0.1, 0.5, -0.2, 0.4, 0.3])
    for cluster, group in (
        ([0, 0, 1, 2, 3, 3], [0, 0, 0, 1, 1, 1]),
        ([0, 1, 1, 1, 2, 3], [0, 1, 1, 1, 2, 2]),
        ([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 1, 0]),
        ([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]),
    ):
        [found] = interaction_test(d[:, None], np.array(cluster), np.array(group), 10_000, 0)
        assert found.p == pytest.approx(loop_interaction(d, cluster, group), abs=0.02)


def loop_interaction(d, cluster, group):
    """Return p from all orders of the labels of clusters, or of the labels within clusters."""
    members = [[i for i, c in enumerate(cluster) if c == k] for k in range(max(cluster) + 1)]
    whole = all(len({group[i] for i in each}) == 1 for each in members)
    if whole:
        labels = [group[each[0]] for each in members]
        orders = [[order[c] for c in cluster] for order in itertools.permutations(labels)]
        centred = d - d.mean()
    else:
        by_cluster = [itertools.permutations([group[i] for i in each]) for each in members]
        orders = [list(itertools.chain(*each)) for each in itertools.product(*by_cluster)]
        centred = np.concatenate([d[each] - d[each].mean() for each in members])

    def between(order):
        parts = [centred[np.array(order) == g] for g in range(max(group) + 1)]
        return sum(part.sum() ** 2 / len(part) for part in parts)

    observed = between(group)
    return np.mean([between(order) >= observed - 1e-9 for order in orders])


def test_queries_in_no_group_are_left_out_and_one_group_has_no_interaction():
    rng = np.random.default_rng(0)
    d, cluster, group = rng.normal(size=(60, 1)), np.arange(60), np.repeat([0, 1, -1], [25, 30, 5])
    assert interaction_test(d, cluster, group, 99, 0) == interaction_test(
        d[:55], cluster[:55], group[:55], 99, 0
    )
    [one] = interaction_test(d, cluster, np.zeros(60, int), 99, 0)
    assert (one.p, one.reason) == (None, "an interaction needs two groups")


@pytest.mark.parametrize("name", ["30 conversations, 2 turns and more", "20 and 200 queries"])
def test_the_interaction_test_holds_its_level(name):
    trials = 600
    low, high = stats.binom.ppf([0.001, 0.999], trials, 0.05) / trials
    for kind in ("normal", "sparse"):
        assert low <= simulate.rate(name, kind, 0.0, trials, resamples=199) <= high, kind
    assert simulate.rate(name, "wins", 0.0, trials, resamples=199) <= high  # as discrete as Fisher's test


def test_the_interaction_test_finds_what_is_there():
    assert simulate.rate("60 conversations, 3 turns and more", "normal", 0.8, 200) > 0.7


def runs_that_win_early(n=60):
    qrels = {f"c{i:02}_{turn}": {"a": 1} for i in range(n) for turn in (1, 2)}
    old = {q: {"a": 1.0} for i, q in enumerate(qrels) if i % 5 == 0}
    new = {q: {"a": 1.0} for i, q in enumerate(qrels) if i % 5 == 0 or (q[-1] == "1" and i % 3)}
    return qrels, {"old": old, "new": new}


def test_a_comparison_has_power_equivalence_and_interaction():
    qrels, runs = runs_that_win_early()
    result = compare(
        qrels,
        runs,
        ["P@1", "RR"],
        clusters="^(.*)_",
        by="_(.)$",
        equivalence_margin=0.5,
        detect=0.02,
        baseline="old",
    )
    row = result.rows[0]
    assert row.tests["interaction"].adjusted < 0.001
    assert "interaction" not in next(iter(result.groups.values())).rows[0].tests
    assert row.tests["equivalence"].adjusted < 0.05
    assert row.needed > 60
    text = " ".join(result.to("table").split())
    for part in (
        "equivalence p: that Δ is beyond the equivalence margin ±0.5, by two one-sided t-tests; "
        "equivalence p (adj.): Holm over 2 p-values of all _(.)$ groups, and over 2 p-values of all queries.",
        "interaction p: that the differences do not depend on _(.)$, by 10,000 permutations of the groups "
        "within clusters; interaction p (adj.): Holm over 2 p-values of all queries.",
        "clusters needed for a difference of 0.02 (80% power), for one uncorrected t-test: "
        f"{row.needed:,} (P@1), {result.rows[1].needed:,} (RR).",
    ):
        assert part in text
    records = result.to_polars()
    assert {"needed", "equivalence p", "interaction adjusted"} <= set(records.columns)
    assert records["interaction p"].null_count() == records.height - 2


def test_power_is_reported_only_when_it_is_asked_for():
    result = compare(*runs_that_win_early(), "P@1", baseline="old")
    assert all(row.needed is None for row in result.rows)
    assert not any("80%" in result.to(form) for form in ("table", "latex", "markdown", "html"))


@pytest.mark.parametrize(
    ("name", "value"),
    [("equivalence_margin", 0), ("equivalence_margin", -1.0), ("detect", "x"), ("detect", True)],
)
def test_a_difference_asked_for_is_a_number_above_0(name, value):
    qrels, runs = runs_that_win_early(4)
    with pytest.raises(pm.InputError, match=f"{name} must be a number above 0"):
        compare(qrels, runs, "P@1", **{name: value})
