"""Power and equivalence: against statsmodels."""

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import DescrStatsW

import permed_measures as pm
from permed_measures.comparisons.compare import compare
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


def runs_that_win_early(n=60):
    qrels = {f"c{i:02}_{turn}": {"a": 1} for i in range(n) for turn in (1, 2)}
    old = {q: {"a": 1.0} for i, q in enumerate(qrels) if i % 5 == 0}
    new = {q: {"a": 1.0} for i, q in enumerate(qrels) if i % 5 == 0 or (q[-1] == "1" and i % 3)}
    return qrels, {"old": old, "new": new}


def test_a_comparison_has_power_and_equivalence():
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
    assert row.tests["equivalence"].adjusted < 0.05
    assert row.needed > 60
    text = " ".join(result.to("table").split())
    for part in (
        "equivalence p: that Δ is beyond the equivalence margin ±0.5, by two one-sided t-tests; "
        "equivalence p (adj.): Holm over 2 p-values of all _(.)$ groups, and over 2 p-values of all queries.",
        "clusters needed for a difference of 0.02 (80% power), for one uncorrected t-test: "
        f"{row.needed:,} (P@1), {result.rows[1].needed:,} (RR).",
    ):
        assert part in text
    records = result.to_polars()
    assert {"needed", "equivalence p"} <= set(records.columns)


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
