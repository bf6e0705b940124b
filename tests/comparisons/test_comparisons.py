"""Comparisons: tests and intervals against scipy, loops and hand-made cases; reranking against loops."""

import itertools
import math
import random
import warnings

import cases
import ir_datasets
import ir_measures
import numpy as np
import pytest
from effort import effort
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from simulations import clusters as simulate_clusters

import permed_measures as pm
from permed_measures.comparisons.compare import compare
from permed_measures.comparisons.reranking import Moves, Pairs, reranking
from permed_measures.comparisons.resampling import bootstrap_intervals, randomization_test
from permed_measures.comparisons.significance import (
    CORRECTIONS,
    effect_sizes,
    t_test,
    wilcoxon_test,
    zero_rounding_noise,
)
from permed_measures.datasets import SAMPLES

MEDICAL, _ = SAMPLES
RESAMPLES = 1000


def column(values):
    return np.asarray(values, float)[:, None]


def alone(values):
    return np.arange(len(values))


def runs_of(differences):
    """Return qrels and two runs whose values of NumRet differ by these whole numbers."""
    qrels = {f"q{i:03}": {"d": 1} for i in range(len(differences))}
    documents = [f"d{i}" for i in range(100)]
    low = 20
    old = {q: dict.fromkeys(["d", *documents[: low - 1]], 1.0) for q in qrels}
    new = {
        q: dict.fromkeys(["d", *documents[: low - 1 + d]], 1.0)
        for q, d in zip(qrels, differences, strict=True)
    }
    return qrels, {"old": old, "new": new}


@pytest.fixture(scope="module")
def sample_runs():
    return {name: pm.read_run(path) for name, path in MEDICAL.runs.items()}


@pytest.fixture(scope="module")
def sample_qrels():
    return pm.read_qrels(MEDICAL.qrels)


# --- hand-made cases ---------------------------------------------------------------------------------


def test_four_wins_by_one_have_an_exact_p_of_two_in_sixteen():
    qrels, runs = runs_of([1, 1, 1, 1])
    [row] = compare(qrels, runs, "NumRet", baseline="old", clusters="none").rows
    assert row.tests["randomization"].p == 2 / 16
    assert row.tests["randomization"].method == "all 16 sign patterns of 4 queries"
    assert row.tests["wilcoxon"].p == 0.125
    assert (row.wins, row.ties, row.losses, row.difference, row.interval) == (4, 0, 0, 1.0, (1.0, 1.0))
    assert (row.mean, row.baseline_mean, row.relative) == (21.0, 20.0, 0.05)
    assert row.tests["t-test"].p is None
    assert row.tests["t-test"].reason == "a t-test needs differences that vary between queries"
    assert row.effect_size is None
    assert row.reasons == {"effect_size": "an effect size needs differences that vary between queries"}


def test_known_p_values_of_one_two_three():
    # t = 2 / (1 / sqrt(3)) = 3.4641 with 2 degrees of freedom; 2 of 8 sign patterns are as far from 0.
    qrels, runs = runs_of([1, 2, 3])
    [row] = compare(qrels, runs, "NumRet").rows
    assert row.tests["t-test"].statistic == pytest.approx(2 * math.sqrt(3))
    assert row.tests["t-test"].p == pytest.approx(0.0741799, abs=1e-7)
    assert row.tests["randomization"].p == 0.25
    assert row.tests["wilcoxon"].p == 0.25
    assert row.effect_size == pytest.approx(2.0)
    assert (row.run, row.baseline) == ("new", "old")


def test_a_pattern_as_far_from_zero_but_for_rounding_counts():
    # 0.1 + 0.2 - 0.3 is 5.6e-17: with the signs of the last one or the first two turned it is as far from 0.
    [outcome] = randomization_test(column([0.1, 0.2, -0.3]), np.arange(3), RESAMPLES, 0)
    assert outcome.p == 1
    [outcome] = randomization_test(column([0.3, 0.1, 0.2]), np.arange(3), RESAMPLES, 0)
    assert outcome.p == 0.25


def test_whole_clusters_change_sign():
    # Ten queries in two clusters: four patterns of signs, of which two are as far from 0.
    qrels, runs = runs_of([1] * 10)
    result = compare(qrels, runs, "NumRet", clusters=lambda query_id: query_id < "q005")
    [row] = result.rows
    assert row.tests["randomization"].p == 0.5
    assert row.tests["naive randomization"].p == 2 / 2**10
    assert {name: test.naive for name, test in row.tests.items()} == {
        "clustered t-test": False,
        "t-test": True,
        "wilcoxon": True,
        "randomization": False,
        "naive randomization": True,
    }
    assert result.n_clusters == 2
    assert any(
        note.startswith("randomization: with 2 clusters no p-value is below 0.5") for note in result.notes
    )


# --- against scipy -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 12, 200])
def test_t_test_and_wilcoxon_are_scipys(n):
    rng = np.random.default_rng(n)
    a, b = rng.random((n, 6)), rng.random((n, 6))
    a[:, 3] = np.where(rng.random(n) < 0.3, b[:, 3], a[:, 3])  # ties
    d = a - b
    theirs = stats.ttest_rel(a, b)
    ours = t_test(d, np.arange(n))
    np.testing.assert_allclose([o.p for o in ours], theirs.pvalue, rtol=1e-9)
    np.testing.assert_allclose([o.statistic for o in ours], theirs.statistic, rtol=1e-9)
    expected = [stats.wilcoxon(a[:, i], b[:, i]).pvalue for i in range(6)]
    np.testing.assert_allclose([o.p for o in wilcoxon_test(d)], expected, rtol=1e-9)


def test_wilcoxon_ties_what_differs_by_rounding():
    values = [0.1, 0.3 - 0.2, 0.2, -0.4, 0.5, 0.6]  # 0.3 - 0.2 is 0.09999999999999998
    [outcome] = wilcoxon_test(column(values))
    assert outcome.p == stats.wilcoxon([0.1, 0.1, 0.2, -0.4, 0.5, 0.6]).pvalue


@pytest.mark.parametrize("seed", range(8))
def test_exact_randomization_is_scipys(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.random(9), rng.random(9)
    theirs = stats.permutation_test(
        (a, b), lambda x, y: (x - y).mean(), permutation_type="samples", n_resamples=np.inf
    )
    [ours] = randomization_test(column(a - b), alone(a), RESAMPLES, 0)
    assert ours.p == pytest.approx(theirs.pvalue, abs=1e-12)


def test_the_bootstrap_is_scipys_within_chance():
    d = np.random.default_rng(5).exponential(size=80) - 0.7
    theirs = stats.bootstrap(
        (d,), np.mean, n_resamples=20_000, method="percentile", rng=1
    ).confidence_interval
    [ours] = bootstrap_intervals(column(d), alone(d), 20_000, 2, 0.95)
    assert ours.value == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_random_signs_are_near_the_exact_p():
    d = np.random.default_rng(3).normal(0.3, size=(12, 5))
    exact = randomization_test(d, np.arange(12), 2**12, 0)
    drawn = randomization_test(d, np.arange(12), 2**12 - 1, 0)
    assert exact[0].method == "all 4,096 sign patterns of 12 queries"
    assert drawn[0].method == "4,095 random sign patterns of 12 queries"
    np.testing.assert_allclose([o.p for o in exact], [o.p for o in drawn], atol=0.03)


def test_benjamini_hochberg_is_scipys():
    p = np.random.default_rng(0).random(30)
    np.testing.assert_allclose(
        CORRECTIONS["benjamini-hochberg"](p), stats.false_discovery_control(p), rtol=1e-12
    )


# --- against plain loops ---------------------------------------------------------------------------------


def members_of(cluster):
    return [[i for i, c in enumerate(cluster) if c == k] for k in range(max(cluster) + 1)]


def loop_randomization(d, cluster):
    members, count = members_of(cluster), 0
    observed = abs(math.fsum(d))
    for signs in itertools.product([1, -1], repeat=len(members)):
        total = math.fsum(sign * d[i] for sign, group in zip(signs, members, strict=True) for i in group)
        count += abs(total) >= observed - 1e-12
    return count / 2 ** len(members)


def test_random_signs_by_loop():
    d, cluster, resamples = [0.5, -0.1, 1.0, 0.25, -0.3, 0.5, -0.2], [0, 0, 1, 2, 3, 4, 5], 50
    bits = np.random.default_rng(4).integers(0, 256, size=(resamples, 1), dtype=np.uint8)  # the same draws
    count = 0
    for byte in bits[:, 0].tolist():
        signs = [-1 if byte >> (7 - c) & 1 else 1 for c in range(6)]
        count += abs(math.fsum(signs[c] * x for x, c in zip(d, cluster, strict=True))) >= math.fsum(d) - 1e-12
    [ours] = randomization_test(column(d), np.array(cluster), resamples, 4)
    assert 0 < count < resamples
    assert ours.p == (1 + count) / (1 + resamples)


def loop_cluster_t(d, cluster):
    n, members = len(d), members_of(cluster)
    mean = math.fsum(d) / n
    meat = math.fsum(math.fsum(d[i] - mean for i in group) ** 2 for group in members)
    c = len(members)
    return mean / math.sqrt(meat / n**2 * c / (c - 1))


@pytest.mark.parametrize("seed", range(10))
def test_clusters_against_loops(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 25))
    cluster = np.concatenate([np.arange(6), rng.integers(0, 6, n - 6)])
    d = np.round(rng.normal(size=n), 1)
    [randomized], [t] = randomization_test(column(d), cluster, 64, 0), t_test(column(d), cluster)
    assert randomized.p == loop_randomization(d.tolist(), cluster.tolist())
    expected = loop_cluster_t(d.tolist(), cluster.tolist())
    assert t.statistic == pytest.approx(expected, rel=1e-9)
    assert t.p == pytest.approx(2 * stats.t.sf(abs(expected), 5), rel=1e-9)


def test_the_bootstrap_draws_whole_clusters_and_divides_by_the_queries_drawn():
    d, cluster, resamples = [0.5, -1.0, 2.0, 0.25, 3.0, 1.0], [0, 0, 0, 1, 2, 2], 200
    draws = np.random.default_rng(7).integers(0, 3, size=(resamples, 3))  # the same draws
    members = members_of(cluster)
    means = []
    for draw in draws.tolist():
        values = [d[i] for c in draw for i in members[c]]
        means.append(math.fsum(values) / len(values))
    [ours] = bootstrap_intervals(column(d), np.array(cluster), resamples, 7, 0.9)
    assert ours.value == pytest.approx(tuple(np.percentile(means, [5, 95])), abs=1e-12)


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    d, cluster = rng.normal(0.1, size=(60, 3)), np.arange(60) // 2
    whole = bootstrap_intervals(d, cluster, 500, 1, 0.95)
    exact = randomization_test(d[:9], np.arange(9), 512, 1)
    monkeypatch.setattr("permed_measures.comparisons.resampling._BLOCK", 100)
    for ours, one in zip(bootstrap_intervals(d, cluster, 500, 1, 0.95), whole, strict=True):
        assert ours.value == pytest.approx(one.value, abs=0.1)
    assert [o.p for o in randomization_test(d[:9], np.arange(9), 512, 1)] == [o.p for o in exact]


def loop_holm(p):
    adjusted, largest = {}, 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        largest = max(largest, min(1.0, p[i] * (len(p) - rank)))
        adjusted[i] = largest
    return [adjusted[i] for i in range(len(p))]


def test_corrections_by_hand():
    p = np.array([0.01, 0.04, 0.03, 0.005])
    by_hand = {
        "holm": [0.03, 0.06, 0.06, 0.02],
        "bonferroni": [0.04, 0.16, 0.12, 0.02],
        "benjamini-hochberg": [0.02, 0.04, 0.04, 0.02],
        "none": [0.01, 0.04, 0.03, 0.005],
    }
    assert set(by_hand) == set(CORRECTIONS)
    for name, expected in by_hand.items():
        np.testing.assert_allclose(CORRECTIONS[name](p), expected, rtol=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_adjusted_p_values_are_monotone_and_between_p_and_one(p):
    for name, correct in CORRECTIONS.items():
        adjusted = correct(np.array(p))
        order = np.argsort(p, kind="stable")
        assert (np.diff(adjusted[order]) >= 0).all(), name
        assert (adjusted >= np.array(p) * (1 - 1e-12)).all(), name
        assert (adjusted <= 1).all(), name
    np.testing.assert_allclose(CORRECTIONS["holm"](np.array(p)), loop_holm(p), rtol=1e-12)


# --- properties -------------------------------------------------------------------------------------------

DIFFERENCES = st.lists(st.sampled_from([-1, -0.5, -0.1, 0, 0, 0.1, 0.2, 0.3, 1]), min_size=1, max_size=30)


@st.composite
def clustered(draw):
    d = draw(DIFFERENCES)
    label = draw(st.lists(st.integers(0, 5), min_size=len(d), max_size=len(d)))
    return np.array(d), np.unique(label, return_inverse=True)[1]


def outcomes_of(d, cluster):
    d = column(d)
    return [t_test(d, cluster)[0], wilcoxon_test(d)[0], randomization_test(d, cluster, 99, 0)[0]]


@settings(max_examples=effort(25, 60), deadline=None)
@given(clustered())
def test_swapping_the_runs_negates_and_keeps_p(case):
    d, cluster = case
    for one, other in zip(outcomes_of(d, cluster), outcomes_of(-d, cluster), strict=True):
        assert one.p == pytest.approx(other.p)
        assert one.reason == other.reason
    one, other = (bootstrap_intervals(column(x), cluster, 99, 0, 0.9)[0].value for x in (d, -d))
    assert (one is None) == (other is None)
    assert one is None or one == pytest.approx((-other[1], -other[0]), abs=1e-12)
    one, other = (effect_sizes(column(x))[0].value for x in (d, -d))
    assert (one is None) == (other is None)
    assert one is None or one == pytest.approx(-other)


@settings(max_examples=effort(25, 60), deadline=None)
@given(clustered(), st.randoms(use_true_random=False))
def test_the_order_of_queries_changes_nothing_exact(case, rng):
    d, cluster = case
    order = list(range(len(d)))
    rng.shuffle(order)
    for one, other in zip(outcomes_of(d, cluster), outcomes_of(d[order], cluster[order]), strict=True):
        assert one.reason == other.reason
        assert one.p == pytest.approx(other.p)


@settings(max_examples=effort(25, 60), deadline=None)
@given(clustered())
def test_every_answer_is_a_number_or_has_a_reason(case):
    d, cluster = case
    for outcome in outcomes_of(d, cluster):
        assert (outcome.p is None) == bool(outcome.reason)
        assert outcome.p is None or 0 <= outcome.p <= 1
    for estimate in (*bootstrap_intervals(column(d), cluster, 99, 0, 0.9), *effect_sizes(column(d))):
        assert (estimate.value is None) == bool(estimate.reason)
        assert estimate.value is None or np.isfinite(estimate.value).all()


def test_clusters_of_one_are_no_clusters(sample_qrels, sample_runs):
    plain = compare(sample_qrels, sample_runs, pm.MEDCORPUS, resamples=RESAMPLES)
    ones = compare(sample_qrels, sample_runs, pm.MEDCORPUS, clusters="(.*)", resamples=RESAMPLES)
    mapped = compare(
        sample_qrels, sample_runs, pm.MEDCORPUS, clusters={"sample_01_1": "a"}, resamples=RESAMPLES
    )
    assert plain.rows == ones.rows == mapped.rows
    assert ones.notes == ["(.*): no cluster has two queries; queries are treated as independent"]
    assert mapped.notes[0] == "clusters: 47 of 48 queries are in no cluster; each counts as its own"


def test_the_order_of_the_rows_of_the_qrels_changes_nothing(sample_qrels, sample_runs):
    turned = dict(reversed(sample_qrels.items()))
    by = r"^(.*)_[0-9]+$"
    one = compare(sample_qrels, sample_runs, "nDCG@10", clusters=by, resamples=RESAMPLES)
    other = compare(turned, sample_runs, "nDCG@10", clusters=by, resamples=RESAMPLES)
    assert one.rows == other.rows


def test_the_seed_decides(sample_qrels, sample_runs):
    one, same, other = (
        compare(sample_qrels, sample_runs, "nDCG@10", resamples=RESAMPLES, seed=seed).rows
        for seed in (1, 1, 2)
    )
    assert one == same != other


# --- runs and results --------------------------------------------------------------------------------------


def test_conversations_of_a_data_set_are_the_clusters(sample_runs):
    dataset = ir_datasets.load("permed-sample")
    by_default = compare(dataset, sample_runs, pm.MEDCORPUS, baseline="bm25", resamples=RESAMPLES)
    by_pattern = compare(
        dataset, sample_runs, pm.MEDCORPUS, baseline="bm25", clusters="^(.*)_", resamples=RESAMPLES
    )
    assert by_default.paired.clusters == "conversation_id"
    assert (by_default.n_clusters, by_default.n_queries) == (12, 48)
    assert by_default.rows == by_pattern.rows
    none = compare(dataset, sample_runs, pm.MEDCORPUS, baseline="bm25", clusters="none", resamples=RESAMPLES)
    assert none.paired.clusters == ""
    assert set(none.rows[0].tests) == {"t-test", "wilcoxon", "randomization"}
    for clustered_row, row in zip(by_default.rows, none.rows, strict=True):
        naive, same = clustered_row.tests["naive randomization"], row.tests["randomization"]
        assert (naive.p, naive.adjusted, naive.method) == (same.p, same.adjusted, same.method)
        assert clustered_row.tests["t-test"].p == row.tests["t-test"].p


def test_a_pyterrier_data_set_has_its_conversations_too(sample_runs):
    class Terrier:
        def irds_ref(self):
            return ir_datasets.load("permed-sample")

    assert compare(Terrier(), sample_runs, "P@1", resamples=99).paired.clusters == "conversation_id"


def test_rows_are_means_and_counts_of_the_engine(sample_qrels, sample_runs):
    result = compare(sample_qrels, sample_runs, pm.MEDCORPUS, resamples=99)
    assert [(row.run, row.baseline) for row in result.rows[:3]] == [
        ("tfidf", "bm25"),
        ("lsa", "bm25"),
        ("lsa", "tfidf"),
    ]
    means = {name: pm.calc_aggregate(pm.MEDCORPUS, sample_qrels, run) for name, run in sample_runs.items()}
    for row in result.rows:
        values = {name: dict.fromkeys(sample_qrels, 0.0) for name in (row.run, row.baseline)}
        for name, by_query in values.items():
            for metric in pm.iter_calc([row.measure], sample_qrels, sample_runs[name]):
                by_query[metric.query_id] = metric.value
        d = [values[row.run][q] - values[row.baseline][q] for q in sample_qrels]
        assert row.mean == pytest.approx(means[row.run][row.measure], abs=1e-12)
        assert row.baseline_mean == pytest.approx(means[row.baseline][row.measure], abs=1e-12)
        assert row.difference == pytest.approx(row.mean - row.baseline_mean, abs=1e-12)
        assert row.relative == pytest.approx(row.difference / row.baseline_mean)
        assert row.wins == sum(x > 1e-12 for x in d)
        assert row.losses == sum(x < -1e-12 for x in d)
        assert row.wins + row.ties + row.losses == len(d)
        assert row.effect_size == pytest.approx(np.mean(d) / np.std(d, ddof=1))
        assert row.interval[0] < row.difference < row.interval[1]


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_the_family_is_all_pairs_and_measures_of_a_test(correction, sample_qrels, sample_runs):
    result = compare(sample_qrels, sample_runs, pm.MEDCORPUS, correction=correction, resamples=99)
    assert result.families == {"t-test": 12, "wilcoxon": 12, "randomization": 12}
    for name in result.families:
        p = np.array([row.tests[name].p for row in result.rows])
        adjusted = [row.tests[name].adjusted for row in result.rows]
        np.testing.assert_array_equal(adjusted, CORRECTIONS[correction](p))
    assert ("over 12 p-values" in str(result)) == (correction != "none")


def test_a_test_without_an_answer_is_not_in_the_family():
    qrels, runs = runs_of([1, 1, 1, 1])
    runs["other"] = runs_of([3, 2, 5, 1])[1]["new"]
    result = compare(qrels, runs, "NumRet", baseline="old")
    assert result.families == {"t-test": 1, "wilcoxon": 2, "randomization": 2}
    assert result.rows[0].tests["t-test"].adjusted is None
    assert result.rows[1].tests["t-test"].adjusted == result.rows[1].tests["t-test"].p


def test_identical_runs(sample_qrels, sample_runs):
    runs = {"a": sample_runs["bm25"], "b": sample_runs["bm25"], "c": sample_runs["lsa"]}
    for clusters in ("none", "^(.*)_"):
        rows = compare(sample_qrels, runs, pm.MEDCORPUS, baseline="a", clusters=clusters, resamples=99).rows
        for row in rows:
            same = row.run == "b"
            assert all((test.p == test.adjusted == 1) == same for test in row.tests.values() if test.p == 1)
            if same:
                assert {test.p for test in row.tests.values()} == {1.0}
                assert (row.difference, row.interval, row.effect_size, row.relative) == (0, (0, 0), 0, 0)
                assert (row.wins, row.ties, row.losses) == (0, 48, 0)


def test_one_query():
    qrels = {"q": {"a": 1}}
    runs = {"old": {"q": {"b": 2.0, "a": 1.0}}, "new": {"q": {"a": 1.0}}, "same": {"q": {"a": 1.0}}}
    result = compare(qrels, runs, "RR", clusters=lambda _: "c")
    row = result.rows[0]
    assert row.tests["randomization"].p == row.tests["wilcoxon"].p == 1
    assert row.tests["t-test"].reason == "a t-test needs at least two queries"
    assert row.reasons == {
        "interval": "a bootstrap needs at least two queries",
        "effect_size": "an effect size needs at least two queries",
    }
    assert result.rows[2].tests["t-test"].p == 1
    assert "— t-test: a t-test needs at least two queries (2 of 3 rows)" in str(result)


def test_one_cluster():
    qrels, runs = runs_of([1, 2, 3, 4])
    [row] = compare(qrels, runs, "NumRet", clusters=lambda _: "c").rows
    assert row.tests["randomization"].p == 1
    assert row.tests["naive randomization"].p == 2 / 16
    assert row.tests["clustered t-test"].reason == "a t-test needs at least two clusters"
    assert row.tests["t-test"].p is not None
    assert row.reasons == {"interval": "a bootstrap needs at least two clusters"}


def test_nothing_but_zeros():
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(5)}
    runs = {name: {q: {"b": 1.0} for q in qrels} for name in ("x", "y")}
    result = compare(qrels, runs, ["P@1", "RR"])
    for row in result.rows:
        assert (row.mean, row.baseline_mean, row.difference, row.relative) == (0, 0, 0, None)
        assert row.reasons == {"relative": "the mean of the baseline is 0"}
        assert {test.p for test in row.tests.values()} == {1.0}
    assert "nan" not in str(result).lower()


def test_equal_differences_of_rounded_values_have_no_variance():
    d = column([0.3 - 0.2, 0.1, 0.4 - 0.3, 0.1])
    assert t_test(d, np.arange(4))[0].p is None
    assert effect_sizes(d)[0].value is None
    assert not zero_rounding_noise(column([1e-17, -1e-13])).any()


def test_queries_that_a_run_has_nothing_for_are_counted_and_said():
    qrels = {f"q{i}": {"a": 1} for i in range(4)}
    full = {q: {"a": 1.0} for q in qrels}
    result = compare(qrels, {"full": full, "part": {"q0": {"a": 1.0}, "q1": {}, "z": {"a": 1.0}}}, "P@1")
    assert result.rows[0].difference == -0.75
    assert result.notes == [
        "run 'part' retrieves nothing for 3 of 4 queries (first: 'q1'); they score 0",
        "run 'part' has 1 query without judgments (ignored)",
        "randomization: with 4 queries no p-value is below 0.125, whatever the runs",
        "interval: with 4 queries percentile bootstrap intervals are too short",
    ]
    assert all(note in str(result) for note in result.notes)


def test_too_few_resamples_are_said(sample_qrels, sample_runs):
    notes = compare(sample_qrels, sample_runs, pm.MEDCORPUS, resamples=99).notes
    assert notes == [
        "randomization: with 99 resamples no p-value, corrected for 12 tests, is below 0.12, "
        "whatever the runs"
    ]
    assert compare(sample_qrels, sample_runs, pm.MEDCORPUS, resamples=99, correction="none").notes == []
    assert compare(sample_qrels, sample_runs, "P@1", tests="bootstrap", resamples=9).notes == []


@pytest.mark.parametrize(("n", "short"), [(1, False), (2, True), (9, True), (10, False)])
@pytest.mark.parametrize("tests", ["bootstrap", "wilcoxon"])
def test_intervals_of_few_clusters_are_said_to_be_too_short(n, short, tests):
    qrels = {f"{i}_{turn}": {"a": 1} for i in range(n) for turn in range(2)}
    runs = {"old": {}, "new": {q: {"a": 1.0} for q in qrels}}
    notes = compare(qrels, runs, "RR", tests=tests, clusters="^([0-9]+)_").notes
    said = f"interval: with {n} clusters percentile bootstrap intervals are too short" in notes
    assert said == (short and tests == "bootstrap")


def test_groups_with_the_same_note_share_it():
    qrels = {f"{i}_{turn}": {"a": 1} for i in range(3) for turn in range(1, 8)}
    runs = {"old": {}, "new": {q: {"a": 1.0} for q in qrels}}
    notes = compare(qrels, runs, "RR", by="_([0-9])$", tests="bootstrap").notes
    assert notes[1:] == [
        "_([0-9])$ 1, 2, 3, 4, 5 and 2 more: interval: with 3 queries percentile bootstrap intervals are too "
        "short"
    ]


def test_errors_and_warnings_name_the_run():
    qrels = {"q": {"a": 1}}
    good = {"q": {"a": 1.0}}
    with pytest.raises(pm.InputError, match=r"^run 'bad', query 'q', document 'a': a score must be a number"):
        compare(qrels, {"good": good, "bad": {"q": {"a": "x"}}}, "P@1")
    with pytest.warns(pm.NoSharedQueryWarning, match="^run 'far': the run and the qrels share no query"):
        compare(qrels, {"good": good, "far": {"z": {"a": 1.0}}}, "P@1")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"runs": {"a": {}}}, r"a comparison needs at least two runs \(found 1\)"),
        ({"runs": [{}, {}]}, r"runs must be a dict \{name: run\} \(found list"),
        ({"runs": {1: {}, 2: {}}}, r"runs must be a dict \{name: run\} \(found dict"),
        ({"baseline": "bm52"}, r"one of the runs 'bm25', 'new' \(found 'bm52'\). Did you mean 'bm25'\?"),
        ({"correction": "holms"}, r"correction must be one of holm, .* Did you mean 'holm'\?"),
        ({"tests": "ttest"}, r"a test must be one of t-test, .* Did you mean 't-test'\?"),
        ({"resamples": 0}, r"resamples must be a whole number of at least 1 \(found 0\)"),
        ({"resamples": 1e4}, r"resamples must be a whole number of at least 1 \(found 10000.0\)"),
        ({"seed": -1}, r"seed must be a whole number of at least 0 \(found -1\)"),
        ({"level": 95}, r"level must be between 0 and 1 \(found 95\). 95 percent is 0.95"),
        (
            {"qrels": {}},
            "the qrels have no query",
        ),
        (
            {"measures": []},
            "there is no measure to compare by",
        ),
        ({"clusters": "conversation_id"}, r"a pattern with one group for the query ids"),
    ],
)
def test_what_is_refused(change, message):
    given = {"qrels": {"q": {"a": 1}}, "runs": {"bm25": {"q": {"a": 1.0}}, "new": {}}, "measures": ["P@1"]}
    with pytest.raises(pm.InputError, match=message):
        compare(**{**given, **change})


def test_without_scipy_it_says_what_to_install(monkeypatch, sample_qrels, sample_runs):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr("permed_measures.comparisons.significance.import_module", missing)
    with pytest.raises(pm.InputError, match=r"pip install 'permed-measures\[stats\]'"):
        compare(sample_qrels, sample_runs, "P@1", resamples=99)
    tests = ("randomization", "bootstrap")
    assert compare(sample_qrels, sample_runs, "P@1", tests=tests, resamples=99).rows[0].interval


def test_one_pass_over_runs_that_are_iterators(sample_qrels, sample_runs):
    records = {name: iter(_scored(run)) for name, run in sample_runs.items()}
    one = compare(sample_qrels, records, "nDCG@10", resamples=99)
    assert one.rows == compare(sample_qrels, sample_runs, "nDCG@10", resamples=99).rows


def _scored(run):
    nested = run if isinstance(run, dict) else run.nested()
    return [ir_measures.ScoredDoc(q, d, s) for q, docs in nested.items() for d, s in docs.items()]


def test_the_table_with_clusters(sample_runs):
    result = compare(
        ir_datasets.load("permed-sample"),
        {name: sample_runs[name] for name in ("bm25", "tfidf")},
        ["P@1", "Coverage@10"],
        baseline="bm25",
        resamples=5000,
    )
    lines = str(result).splitlines()
    assert lines[0].split("  ")[0] == "measure"
    assert [line.split()[:4] for line in lines[1:3]] == [
        ["P@1", "tfidf", "0.4792", "0.6458"],
        ["Coverage@10", "tfidf", "0.9583", "0.8750"],
    ]
    assert "t-test (naive)" in lines[0]
    assert "[-0.3" in lines[1]
    assert "4/32/12" in lines[1]
    assert lines[3:] == [
        "",
        "Δ: run - bm25; 48 queries in 12 clusters (conversation_id); seed 0",
        "interval: percentile bootstrap, 5,000 resamples of 12 clusters; not adjusted for multiple testing",
        "randomization: all 4,096 sign patterns of 12 clusters",
        "naive randomization: 5,000 random sign patterns of 48 queries",
        "Holm: p adjusted by Holm over 2 p-values",
        "naive: treats the queries of a cluster as independent; do not report it",
    ]
    assert len({len(line) for line in lines[:3]}) == 1


# --- the nominal level ----------------------------------------------------------------------------------


def test_the_clustered_tests_hold_their_level_and_the_naive_ones_do_not():
    trials, level = 600, simulate_clusters.LEVEL
    counts = simulate_clusters.rejections(0.5, trials, resamples=999)
    low, high = stats.binom.ppf([0.0005, 0.9995], trials, level)
    assert low <= counts["randomization, clustered"] <= high
    assert low <= counts["t-test, clustered"] <= high + 0.01 * trials  # liberal with 60 clusters
    assert counts["randomization, naive"] > 3 * level * trials
    assert counts["t-test, naive"] > 3 * level * trials


def test_without_correlation_all_hold_their_level():
    trials, level = 600, simulate_clusters.LEVEL
    low, high = stats.binom.ppf([0.0005, 0.9995], trials, level)
    counts = simulate_clusters.rejections(0.0, trials, resamples=999)
    assert all(low <= count <= high + 0.01 * trials for count in counts.values()), counts


def test_the_simulation_prints_its_table(capsys):
    simulate_clusters.main(40)
    lines = capsys.readouterr().out.splitlines()
    assert lines[3].startswith("icc   randomization, naive")
    assert len(lines) == 4 + len(simulate_clusters.CORRELATIONS)


# --- before and after reranking --------------------------------------------------------------------------


def ranks_by_sorting(docs):
    order = sorted(docs, key=lambda d: (np.float32(docs[d]), d), reverse=True)
    return {doc_id: rank for rank, doc_id in enumerate(order, start=1)}


def loop_reranking(qrels, before, after, rel, judged_only):
    """Return the counts of moves, the ranks up, and the pairs of each query."""
    moves, up, pairs = dict.fromkeys(["up", "down", "unchanged", "entered", "left", "absent"], 0), [], []
    for query_id in sorted(qrels):
        labels = qrels[query_id]
        one, two = (ranks_by_sorting(run.get(query_id, {})) for run in (before, after))
        for doc_id, grade in labels.items():
            if grade < rel:
                continue
            if doc_id in one and doc_id in two:
                change = one[doc_id] - two[doc_id]
                up.append(change)
                moves["up" if change > 0 else "down" if change < 0 else "unchanged"] += 1
            else:
                moves["left" if doc_id in one else "entered" if doc_id in two else "absent"] += 1
        counts = [0, 0, 0, 0]
        both = [d for d in one if d in two and (d in labels or not judged_only)]
        grade = {d: max(labels.get(d, 0), 0) for d in both}
        for high in both:
            for low in both:
                if grade[high] > grade[low]:
                    right = one[high] < one[low], two[high] < two[low]
                    counts[[(False, True), (True, False), (True, True), (False, False)].index(right)] += 1
        pairs.append(Pairs(*counts))
    return moves, up, pairs


@pytest.mark.parametrize("seed", range(effort(50, 150)))
def test_reranking_against_loops(seed, monkeypatch):
    if seed % 2:
        monkeypatch.setattr("permed_measures.comparisons.moves._BLOCK", 7)
    rng = random.Random(seed)
    with np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", pm.PermedWarning)
        qrels, before = cases.random_case(rng)
        qrels.setdefault("q1", {"d1": 1, "d2": 0})
        after = {
            q: {
                d: rng.choice([0, 1, 2, 3.5])
                for d in [*docs, *rng.sample(cases.DOCUMENTS, 3)]
                if rng.random() < 0.8
            }
            for q, docs in before.items()
        }
        rel = rng.choice([1, 2])
        judged_only = rng.random() < 0.5
        moves, up, pairs = loop_reranking(qrels, before, after, rel, judged_only)
        form = cases.FORMS[rng.choice(list(cases.FORMS))]
        runs = [form(cases.rows_of(run), "score") for run in (before, after)]
        ours = reranking(qrels, *runs, "RR", rel=rel, top=2, judged_only=judged_only)
        values = [{m.query_id: m.value for m in pm.iter_calc(["RR"], qrels, run)} for run in (before, after)]
    expected = (
        {"mean": float(np.mean(up)), "median": float(np.median(up))} if up else {"mean": None, "median": None}
    )
    assert ours.moves == Moves(**moves, **expected)
    assert ours.by_query == pairs
    totals = [sum(each) for each in zip(*map(tuple_of, pairs), strict=True)]
    assert tuple_of(ours.pairs) == tuple(totals)
    assert ours.pairs.total == sum(totals)
    change = {q: round(values[1][q] - values[0][q], 12) for q in qrels}
    best = sorted((q for q in change if change[q] > 0), key=lambda q: (-change[q], q))
    worst = sorted((q for q in change if change[q] < 0), key=lambda q: (change[q], q))
    assert [each.query_id for each in ours.gained] == best[:2]
    assert [each.query_id for each in ours.lost] == worst[:2]
    assert (ours.n_gained, ours.n_lost) == (len(best), len(worst))
    assert ours.n_gained + ours.n_lost + ours.n_unchanged == len(qrels)
    assert [(e.before, e.after) for e in ours.gained] == [(values[0][q], values[1][q]) for q in best[:2]]


def tuple_of(pairs):
    return pairs.put_right, pairs.broken, pairs.still_right, pairs.still_wrong


def test_reranking_of_the_sample_with_texts(sample_runs):
    dataset = ir_datasets.load("permed-sample")
    result = reranking(dataset, sample_runs["bm25"], sample_runs["lsa"], top=1, judged_only=True)
    assert result.before == pytest.approx(
        pm.calc_aggregate(["nDCG@10"], dataset, sample_runs["bm25"])[result.measure]
    )
    assert result.gained[0].text == "Is the benefit the same in very old or frail patients?"
    assert str(result).splitlines() == [
        "nDCG@10: 0.6707 before, 0.6178 after (-0.0530); 21 queries gained, 24 lost, 3 unchanged",
        "relevant documents: 37 up, 47 down, 23 unchanged, 23 entered, 0 left, 3 in neither",
        "ranks up: +0.15 on average, +0 in the median",
        "pairs: 61 put right, 48 broken, 271 still right, 46 still wrong; net +3.1% of 426",
        "",
        "gained most",
        "  +0.4337 (0.0000 to 0.4337)  sample_01_2  Is the benefit the same in very old or frail patients?",
        "",
        "lost most",
        "  -0.7359 (1.0000 to 0.2641)  sample_03_2  How can nurses on the ward screen for it?",
    ]
    result = reranking(
        dataset, sample_runs["bm25"], sample_runs["lsa"], queries={"sample_01_2": "a\x1b[31m b"}
    )
    assert "pairs: 110 put right, 54 broken, 656 still right, 57 still wrong; net +6.4% of 877" in str(result)
    assert "sample_01_2  a [31m b\n" in str(result)


def test_a_reranking_turned_around_is_its_opposite(sample_qrels, sample_runs):
    there = reranking(sample_qrels, sample_runs["bm25"], sample_runs["lsa"])
    back = reranking(sample_qrels, sample_runs["lsa"], sample_runs["bm25"])
    assert there.pairs.improvement == -back.pairs.improvement
    assert (there.moves.up, there.moves.entered) == (back.moves.down, back.moves.left)
    assert [each.query_id for each in there.gained] == [each.query_id for each in back.lost]


def test_nothing_reranked_and_nothing_to_rerank():
    same = reranking({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0}}, {"q": {"a": 2.0}}, "RR")
    assert same.moves == Moves(0, 0, 1, 0, 0, 0, 0.0, 0.0)
    assert same.pairs == Pairs(0, 0, 0, 0)
    assert same.pairs.improvement is None
    assert same.gained == same.lost == []
    assert same.notes == []
    empty = reranking({"q": {"a": 1, "b": 0}}, {}, {}, "RR")
    assert empty.notes == [
        f"run {name!r} retrieves nothing for 1 of 1 query (first: 'q'); it scores 0"
        for name in ("before", "after")
    ]
    assert all(note in str(empty).splitlines() for note in empty.notes)
    assert empty.moves == Moves(0, 0, 0, 0, 0, 1, None, None)
    assert "ranks up" not in str(empty)


def test_texts_of_queries_from_a_mapping():
    qrels = {q: {"a": 1} for q in ("q1", "q2")}
    before = {q: {"b": 2.0, "a": 1.0} for q in qrels}
    after = {q: {"a": 2.0, "b": 1.0} for q in qrels}
    result = reranking(qrels, before, after, "RR", queries={"q1": "a\n question"})
    assert [(each.query_id, each.text) for each in result.gained] == [("q1", "a\n question"), ("q2", None)]
    assert "q1  a question" in str(result)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"top": -1}, r"top must be a whole number of at least 0 \(found -1\)"),
        ({"qrels": {}}, "the qrels have no query"),
        ({"queries": 5}, r"queries must be a dict \{query_id: text\} or a data set \(found int\)"),
        ({"after": {"q": {"a": None}}}, "^run 'after', query 'q', document 'a': a score must be a number"),
    ],
)
def test_what_a_reranking_refuses(change, message):
    given = {"qrels": {"q": {"a": 1}}, "before": {"q": {"a": 1.0}}, "after": {"q": {"a": 1.0}}}
    with pytest.raises(pm.InputError, match=message):
        reranking(**{**given, **change})
