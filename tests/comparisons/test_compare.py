"""Comparisons of runs: hand-made cases, clusters, families, notes and errors."""

import math
import random

import ir_datasets
import ir_measures
import numpy as np
import pytest

import permed_measures as pm
from permed_measures.comparisons.compare import compare
from permed_measures.markup import counted
from permed_measures.statistics.max_t import Columns, max_t
from permed_measures.statistics.significance import (
    CORRECTIONS,
)

RESAMPLES = 1000


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


def test_four_wins_by_one_have_an_exact_p_of_two_in_sixteen():
    qrels, runs = runs_of([1, 1, 1, 1])
    [row] = compare(qrels, runs, "NumRet", baseline="old", clusters="none").rows
    assert row.tests["randomization"].p == 2 / 16
    assert row.tests["randomization"].method == "all 16 sign patterns of 4 queries"
    assert row.tests["wilcoxon"].p == 0.125
    assert (row.wins, row.ties, row.losses, row.difference, row.interval) == (4, 0, 0, 1.0, (0.0, 1.0))
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


def test_clusters_of_one_are_no_clusters(sample_qrels, sample_runs):
    plain = compare(sample_qrels, sample_runs, pm.MEDCORPUS, resamples=RESAMPLES)
    ones = compare(sample_qrels, sample_runs, pm.MEDCORPUS, clusters="(.*)", resamples=RESAMPLES)
    mapped = compare(
        sample_qrels, sample_runs, pm.MEDCORPUS, clusters={"sample_01_1": "a"}, resamples=RESAMPLES
    )
    assert plain.rows == ones.rows == mapped.rows
    assert ones.notes == [
        "(.*): no cluster has two queries; queries are treated as independent",
        *plain.notes,
    ]
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
        assert (naive.p, naive.method) == (same.p, same.method)
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


def test_many_runs_have_the_p_values_that_two_of_them_have(sample_qrels, sample_runs):
    rng = random.Random(1)
    runs = {
        f"run{i}": {q: {d: rng.random() for d in docs} for q, docs in sample_runs["bm25"].items()}
        for i in range(5)
    }
    clusters = "^(.*)_"
    how = {"clusters": clusters, "resamples": 499, "correction": "none"}
    every = compare(sample_qrels, runs, pm.MEDCORPUS, **how)
    assert every.paired.operands() is not None
    for (later, earlier), row in zip(every.paired.pairs, every.rows[:10], strict=True):
        two = {earlier: runs[earlier], later: runs[later]}
        alone = compare(sample_qrels, two, every.measures[0], **how)
        assert alone.paired.operands() is None
        for name, test in row.tests.items():
            p = alone.rows[0].tests[name].p
            assert test.p == (pytest.approx(p, rel=1e-12) if "t-test" in name else p), name
        assert row.interval == pytest.approx(alone.rows[0].interval, abs=1e-12)


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
        "interval": "an interval needs at least two queries",
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
    assert row.reasons == {"interval": "an interval needs at least two clusters"}


def test_nothing_but_zeros():
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(5)}
    runs = {name: {q: {"b": 1.0} for q in qrels} for name in ("x", "y")}
    result = compare(qrels, runs, ["P@1", "RR"])
    for row in result.rows:
        assert (row.mean, row.baseline_mean, row.difference, row.relative) == (0, 0, 0, None)
        assert row.reasons == {"relative": "the mean of the baseline is 0"}
        assert {test.p for test in row.tests.values()} == {1.0}
    assert "nan" not in str(result).lower()


def test_queries_that_a_run_has_nothing_for_are_counted_and_said():
    qrels = {f"q{i}": {"a": 1} for i in range(4)}
    full = {q: {"a": 1.0} for q in qrels}
    result = compare(qrels, {"full": full, "part": {"q0": {"a": 1.0}, "q1": {}, "z": {"a": 1.0}}}, "P@1")
    assert result.rows[0].difference == -0.75
    assert result.notes == [
        "run 'part' retrieves nothing for 3 of 4 queries (first: 'q1'); they score 0",
        "run 'part' has 1 query without judgments (ignored)",
        "randomization: with 4 queries no p-value is below 0.125, whatever the runs",
        "interval: with 4 queries it holds less often than 95% where differences are skewed",
    ]
    assert all(note in str(result) for note in result.notes)


def test_too_few_resamples_are_said(monkeypatch, sample_qrels, sample_runs):
    how = {"resamples": 99, "tests": ("randomization", "bootstrap")}
    notes = compare(sample_qrels, sample_runs, pm.MEDCORPUS, **how, correction="holm").notes
    assert [note for note in notes if not note.startswith("Judged@")] == [
        "randomization: with 99 resamples no p-value, corrected for 12 tests, is below 0.12, "
        "whatever the runs"
    ]
    monkeypatch.setattr("permed_measures.statistics.precision._MOST", 0)  # no more draws
    notes = compare(sample_qrels, sample_runs, pm.MEDCORPUS, **how, correction="none").notes
    assert [note.partition(" 4 of 12 p-values")[0] for note in notes][:1] == [
        "randomization: with another seed"
    ]
    notes = compare(sample_qrels, sample_runs, "P@1", tests="bootstrap", resamples=9).notes
    assert all(note.startswith("Judged@1 is") for note in notes)


@pytest.mark.parametrize(
    ("resamples", "correction", "least"),
    # p is below 0.05 or 0.01 where it is marked so: a p that can reach a level only is not
    [(19, "none", "0.05"), (20, "none", "0.04762"), (99, "none", "0.01"), (100, "none", None)],
)
def test_too_few_resamples_for_either_level_are_said(resamples, correction, least):
    qrels, runs = runs_of([1, -1] * 20)
    how = {"baseline": "old", "tests": "randomization", "resamples": resamples, "correction": correction}
    said = f"with {counted(resamples, 'resample')} no p-value is below {least}, whatever the runs"
    assert compare(qrels, runs, "NumRet", **how).notes == ([f"randomization: {said}"] if least else [])


def test_p_values_that_another_seed_would_move_over_a_level_are_said(monkeypatch):
    monkeypatch.setattr("permed_measures.statistics.precision._MOST", 0)  # no more draws
    qrels, runs = runs_of([1] * 27 + [-1] * 13)  # p is 0.0385
    how = {"baseline": "old", "tests": "randomization", "clusters": "none"}
    said = "randomization: with another seed 1 of 1 p-value might be on the other side of 0.05 or 0.01 ("
    notes = compare(qrels, runs, "NumRet", resamples=200, **how).notes
    assert [note[: len(said)] for note in notes] == [said]
    assert compare(qrels, runs, "NumRet", resamples=10_000, **how).notes == []
    seeds = [compare(qrels, runs, "NumRet", resamples=200, seed=seed, **how).rows[0] for seed in range(40)]
    assert len({row.tests["randomization"].adjusted < 0.05 for row in seeds}) == 2
    assert len({row.tests["randomization"].p for row in seeds}) > 1
    exact, few = runs_of([1] * 9 + [-1] * 2)  # p is 0.0654, of all patterns
    assert not any("seed" in note for note in compare(exact, few, "NumRet", **how).notes)


@pytest.mark.parametrize("correction", ["max-t", "holm", "none"])
def test_more_is_drawn_where_a_p_value_is_near_a_level(correction):
    qrels, runs = runs_of([1] * 27 + [-1] * 13)  # p is 0.0385
    how = {"baseline": "old", "tests": "randomization", "clusters": "none", "correction": correction}
    test = compare(qrels, runs, "NumRet", resamples=400, **how).rows[0].tests["randomization"]
    assert (test.draws, test.method) == (4000, "4,000 random sign patterns of 40 queries")
    assert test.p == test.adjusted == pytest.approx(0.0385, abs=0.01)
    assert test.error == pytest.approx(math.sqrt(test.p * (1 - test.p) / 4000))
    far = compare(qrels, runs, "NumRet", resamples=10_000, **how).rows[0].tests["randomization"]
    assert (far.draws, far.method) == (10_000, "10,000 random sign patterns of 40 queries")


@pytest.mark.parametrize("correction", ["max-t", "holm"])
def test_p_values_do_not_depend_on_the_order_of_the_runs(correction):
    rng = random.Random(3)
    qrels = {f"q{i}": {f"d{j}": 1 for j in range(5)} for i in range(60)}
    runs = {
        f"r{k}": {
            q: {d: rng.random() for d in docs if rng.random() < 0.3 + 0.05 * k} for q, docs in qrels.items()
        }
        for k in range(5)
    }
    found = []
    for names in (list(runs), list(reversed(runs)), ["r3", "r0", "r4", "r2", "r1"]):
        result = compare(
            qrels,
            {name: runs[name] for name in names},
            ["R@5", "P@1"],
            correction=correction,
            tests="randomization",
            resamples=200,
        )
        tests = {
            (frozenset({row.run, row.baseline}), row.measure): row.tests["randomization"]
            for row in result.rows
        }
        found.append({key: (test.p, test.adjusted, test.draws) for key, test in tests.items()})
    assert found[0] == found[1] == found[2]
    assert correction == "holm" or {draws for _, _, draws in found[0].values()} == {2000}


def test_101_tests_at_10000_resamples_have_no_double_dagger():
    rng = random.Random(0)
    qrels = {f"q{i}": {f"d{j}": rng.randint(0, 1) for j in range(101)} for i in range(40)}
    runs = {name: {q: {d: rng.random() for d in qrels[q]} for q in qrels} for name in ("old", "new")}
    measures = [f"P@{k}" for k in range(1, 102)]
    for n, expected in ((100, []), (101, ["below 0.0101"])):
        notes = compare(
            qrels, runs, measures[:n], baseline="old", tests="randomization", correction="holm"
        ).notes
        found = [each for each in notes if "no p-value" in each]
        assert [each.partition(", is ")[2].partition(",")[0] for each in found] == expected
    every = compare(qrels, runs, measures[:40], tests="randomization", correction="holm").notes
    assert not any("no p-value" in each for each in every)  # letters have the level 0.05 only


def test_differences_that_are_there_twice_count_once_and_are_said(sample_qrels, sample_runs):
    same = {"P@1": "P@1", "first": "Success@1", "nDCG@10": "nDCG@10"}
    for correction in CORRECTIONS:
        result = compare(sample_qrels, sample_runs, same, resamples=999, correction=correction)
        alone = compare(sample_qrels, sample_runs, ["P@1", "nDCG@10"], resamples=999, correction=correction)
        rows = {(str(row.measure), row.run, row.baseline): row for row in alone.rows}
        for row in result.rows:
            name = str(row.measure).replace("Success", "P")
            assert row.tests == rows[name, row.run, row.baseline].tests
        once = correction != "none"
        assert set(result.families.values()) == {6 if once else 9}
        said = "3 of 9 rows have the differences of another and count once (first: 'tfidf' against 'bm25' on "
        assert [note for note in result.notes if "count once" in note] == [
            f"{said}first, as 'tfidf' against 'bm25' on P@1)"
        ] * once


def test_runs_that_are_there_twice_count_once(sample_qrels, sample_runs):
    runs = {"a": sample_runs["bm25"], "b": sample_runs["bm25"], "c": sample_runs["lsa"]}
    result = compare(sample_qrels, runs, "nDCG@10", resamples=99)
    assert result.families == {"t-test": 2, "wilcoxon": 2, "randomization": 2}
    assert result.rows[1].tests == result.rows[2].tests
    assert any("1 of 3 rows has the differences of another" in note for note in result.notes)


def test_a_family_may_be_a_measure(sample_qrels, sample_runs):
    measures, how = ["nDCG@10", "P@1", "Success@1"], {"resamples": 999, "clusters": "^(.*)_"}
    for correction in ("holm", "bonferroni", "benjamini-hochberg", "max-t"):
        whole = compare(sample_qrels, sample_runs, measures, correction=correction, family="measure", **how)
        assert set(whole.families.values()) == {3}
        for number, measure in enumerate(measures):
            alone = compare(sample_qrels, sample_runs, measure, correction=correction, **how)
            for row, other in zip(whole.rows[3 * number :], alone.rows, strict=False):
                for name, test in row.tests.items():
                    assert test.adjusted == pytest.approx(other.tests[name].adjusted, rel=1e-12)
                assert row.interval == pytest.approx(other.interval)
        assert "over 3 p-values of each measure" in str(whole)


def test_max_t_has_marks_and_intervals_that_agree(sample_qrels, sample_runs):
    how = {"clusters": "^(.*)_", "resamples": 999, "correction": "max-t"}
    for options in ({}, {"baseline": "bm25"}, {"by": "_([0-9])$"}, {"family": "measure"}):
        result = compare(sample_qrels, sample_runs, pm.MEDCORPUS, **how, **options)
        for _, part in result.sections():
            for row in part.rows:
                test = row.tests["randomization"]
                assert test.adjusted >= test.p
                assert row.interval is not None or "interval" in row.reasons
                if row.interval and any(row.interval):
                    low, high = row.interval
                    assert low >= 0 or high <= 0 if test.adjusted < 0.05 else low <= 0 <= high
                    assert low <= row.difference <= high
                naive = row.tests["naive randomization"]
                assert naive.adjusted is None or naive.adjusted >= naive.p


def test_a_comparison_by_tukey(sample_qrels, sample_runs):
    how = {"correction": "tukey", "resamples": 499, "clusters": "^(.*)_"}
    result = compare(sample_qrels, sample_runs, ["nDCG@10", "P@1"], by="_([0-9])$", **how)
    text = result.to("table")
    assert "Tukey HSD: p adjusted by Tukey HSD over" in text
    assert "interval: for all 6 differences at once, by the draws of Tukey HSD" in " ".join(text.split())
    alone = compare(sample_qrels, sample_runs, ["nDCG@10"], **how)
    each = compare(sample_qrels, sample_runs, ["nDCG@10", "P@1"], family="measure", **how)
    assert [row.tests["randomization"] for row in alone.rows] == [
        row.tests["randomization"] for row in each.rows[:3]
    ]
    for part in (*result.groups.values(), result):
        for row in part.rows:
            assert row.tests["randomization"].adjusted >= row.tests["randomization"].p


def test_max_t_of_groups_is_over_all_groups(sample_qrels, sample_runs):
    how = {"clusters": "^(.*)_", "resamples": 999, "correction": "max-t", "tests": "randomization"}
    result = compare(sample_qrels, sample_runs, ["nDCG@10", "P@1"], by="_([0-9])$", **how)
    alone = compare(sample_qrels, sample_runs, ["nDCG@10", "P@1"], **how)
    assert result.rows == alone.rows
    assert {part.families["randomization"] for part in result.groups.values()} == {6 * len(result.groups)}
    # The groups are the columns of one family: as if those of other groups were 0.
    paired, labels = result.paired, [query_id[-1] for query_id in result.paired.query_ids]
    wide = np.concatenate(
        [
            paired.differences() * np.array([each == group for each in labels])[:, None]
            for group in result.groups
        ],
        axis=1,
    )
    expected = max_t(Columns.of(wide, paired.cluster), 999, 0).adjusted
    found = [row.tests["randomization"] for part in result.groups.values() for row in part.rows]
    raw = [test.p for test in found]
    np.testing.assert_allclose([test.adjusted for test in found], np.maximum(expected, raw), rtol=1e-12)


def test_max_t_leaves_marks_where_holm_leaves_none():
    rng = random.Random(0)
    qrels = {f"q{i}": {"d": 1} for i in range(60)}
    runs = {
        f"run{j}": {q: {"d": 0.5, **{f"x{k}": 1.0 for k in range(rng.randint(0, 2) + j // 6)}} for q in qrels}
        for j in range(12)
    }
    n_marked = {
        correction: sum(
            row.tests["randomization"].adjusted < 0.05
            for row in compare(
                qrels, runs, ["RR", "R@2"], tests="randomization", resamples=999, correction=correction
            ).rows
        )
        for correction in ("holm", "max-t")
    }
    assert n_marked["holm"] == 0
    assert n_marked["max-t"] >= 40


def test_several_baselines(sample_qrels, sample_runs):
    runs = {**sample_runs, "none": {}}
    every = {(row.run, row.baseline): row for row in compare(sample_qrels, runs, "P@1", resamples=99).rows}
    result = compare(sample_qrels, runs, "P@1", baseline=["bm25", "lsa"], resamples=99)
    expected = [*((run, "bm25") for run in ("tfidf", "lsa", "none")), ("tfidf", "lsa"), ("none", "lsa")]
    assert [(row.run, row.baseline) for row in result.rows] == expected
    assert result.families["randomization"] == 5
    assert result.rows[0].tests["randomization"].p == every["tfidf", "bm25"].tests["randomization"].p
    assert "Δ: run - against, baselines bm25, lsa; " in str(result)
    assert "(baselines bm25, lsa)" in repr(result)
    assert "Letters name the runs" in result.to("markdown")
    one, same = (compare(sample_qrels, runs, "P@1", each, resamples=99) for each in ("lsa", ["lsa"]))
    assert (one.rows, one.baseline, str(one)) == (same.rows, same.baseline, str(same))
    with pytest.raises(pm.InputError, match=r"the baseline must be one of the runs .* \(found 'lsi'\)"):
        compare(sample_qrels, runs, "P@1", baseline=["bm25", "lsi"])


def test_clusters_of_very_different_sizes_are_said():
    qrels, runs = runs_of([1, -1] * 50)
    sizes = [40, *[2] * 30]
    label = dict(zip(qrels, np.repeat(range(31), sizes).tolist(), strict=True))
    notes = compare(qrels, runs, "NumRet", clusters=label, resamples=200, baseline="old").notes
    assert notes[-1] == (
        "clustered t-test: 31 clusters of very different sizes count as 1.2 of one size, so that its p is "
        "too small; the randomization test holds"
    )
    alike = dict(zip(qrels, np.arange(100) // 3, strict=True))
    for options in ({"clusters": alike}, {"clusters": label, "tests": "randomization"}, {"clusters": "none"}):
        assert "clustered" not in str(compare(qrels, runs, "NumRet", resamples=200, **options).notes)


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
    assert notes[3:] == [
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
        ({"family": "both"}, r"family must be one of all, measure"),
        (
            {"correction": "max-t", "tests": "t-test"},
            r"correction 'max-t' needs the randomization test. Ask for both, or for neither",
        ),
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

    monkeypatch.setattr("permed_measures.statistics.significance.import_module", missing)
    with pytest.raises(pm.InputError, match=r"pip install '\.\[stats\]'"):
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
    *lines, pool = str(result).splitlines()
    assert pool.startswith("Judged@10 is 0.70 of 'tfidf' and 0.48 of 'bm25'; ")
    assert lines[0].split("  ")[0] == "measure"
    assert [line.split()[:4] for line in lines[1:3]] == [
        ["P@1", "tfidf", "0.4792", "0.6458"],
        ["Coverage@10", "tfidf", "0.9583", "0.8750"],
    ]
    assert "t-test (naive)" in lines[0]
    assert "[-0.4" in lines[1]
    assert "4/32/12" in lines[1]
    assert lines[3:] == [
        "",
        "Δ: run - bm25; 48 queries in 12 clusters (conversation_id); seed 0",
        "interval: for all 2 differences at once, by the draws of max-T",
        "randomization: all 4,096 sign patterns of 12 clusters",
        "naive randomization: all sign patterns of the queries that differ, or 5,000 random ones "
        "where there are more",
        "Holm: p adjusted by Holm over 2 p-values",
        "max-T: p adjusted by max-T over 2 p-values",
        "naive: treats the queries of a cluster as independent; do not report it",
        "detected with 80% power: differences of 0.3150 (P@1), 0.1451 (Coverage@10)",
        "interval: with 12 clusters it holds less often than 95% where differences are skewed",
    ]
    assert len({len(line) for line in lines[:3]}) == 1
