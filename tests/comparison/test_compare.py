"""Comparisons of runs: hand-made cases, clusters, families, notes and errors."""

import csv
import json

import numpy as np
import pytest
from simulations.intervals import randomization_test

import permed_measures as pm
from permed_measures.comparison.compare import compare
from permed_measures.comparison.queries import query_details
from permed_measures.comparison.tests import EQUIVALENCE
from permed_measures.corrections import CORRECTIONS
from permed_measures.datasets import SAMPLES

RESAMPLES = 1000
QRELS, RUNS = pm.read_qrels(SAMPLES[0].qrels), SAMPLES[0].runs
EVERY_TEST = ("t-test", "wilcoxon", "randomization")


def runs_of(differences):
    """Return qrels and two runs whose values of NumRet differ by these whole numbers."""
    qrels = {f"q{i:03}": {"d0": 1} for i in range(len(differences))}

    def run(counts):
        return {q: {f"d{i}": 1.0 for i in range(20 + n)} for q, n in zip(qrels, counts, strict=True)}

    return qrels, {"old": run([0] * len(qrels)), "new": run(differences)}


def test_four_wins_by_one_have_an_exact_p_of_two_in_sixteen():
    qrels, runs = runs_of([1, 1, 1, 1])
    [row] = compare(qrels, runs, "NumRet", baseline="old", clusters="none", tests=EVERY_TEST).rows
    assert row.tests["randomization"].p == 2 / 16
    assert row.tests["randomization"].method == "all 16 sign patterns of 4 queries"
    assert row.tests["wilcoxon"].p == 0.125
    assert (row.wins, row.ties, row.losses, row.difference, row.interval) == (4, 0, 0, 1.0, None)
    assert (row.mean, row.baseline_mean, row.relative) == (21.0, 20.0, 0.05)
    assert row.tests["t-test"].p is None
    assert row.tests["t-test"].reason == "no variance between queries"
    assert row.effect_size is None
    assert row.reasons == {"interval": "no variance between queries"}


def test_whole_clusters_change_sign():
    # Ten queries in two clusters: four patterns of signs, of which two are as far from 0.
    qrels, runs = runs_of([1] * 10)
    result = compare(qrels, runs, "NumRet", clusters=lambda query_id: query_id < "q005", tests=EVERY_TEST)
    [row] = result.rows
    assert row.tests["randomization"].p == 0.5
    naive = {"t-test": False, "wilcoxon": True, "randomization": False}
    assert {name: test.naive for name, test in row.tests.items()} == naive
    assert result.n_clusters == 2
    assert result.notes == ["randomization: with 2 clusters no p-value is below 0.05, whatever the runs"]


def test_conversations_of_a_data_set_are_the_clusters():
    how = {"baseline": "bm25", "resamples": RESAMPLES, "tests": EVERY_TEST}
    by_default = compare("permed-sample", RUNS, pm.MEDCORPUS, **how)
    by_pattern = compare("permed-sample", RUNS, pm.MEDCORPUS, clusters="^(.*)_", **how)
    assert by_default.paired.clusters == "conversation_id"
    assert (by_default.n_clusters, by_default.n_queries) == (12, 48)
    assert by_default.rows == by_pattern.rows
    none = compare("permed-sample", RUNS, pm.MEDCORPUS, clusters="none", **how)
    assert none.paired.clusters == ""
    assert set(none.rows[0].tests) == {"t-test", "wilcoxon", "randomization"}
    for clustered_row, row in zip(by_default.rows, none.rows, strict=True):
        assert clustered_row.tests["wilcoxon"].p == row.tests["wilcoxon"].p
        assert clustered_row.tests["t-test"].p != row.tests["t-test"].p


def test_rows_are_means_and_counts_of_the_engine():
    result = compare(QRELS, RUNS, pm.MEDCORPUS, resamples=99)
    assert [(row.run, row.baseline) for row in result.rows[:3]] == [
        ("tfidf", "bm25"),
        ("lsa", "bm25"),
        ("lsa", "tfidf"),
    ]
    means = {name: pm.calc_aggregate(pm.MEDCORPUS, QRELS, run) for name, run in RUNS.items()}
    for row in result.rows:
        values = {name: dict.fromkeys(QRELS, 0.0) for name in (row.run, row.baseline)}
        for name, by_query in values.items():
            for metric in pm.iter_calc([row.measure], QRELS, RUNS[name]):
                by_query[metric.query_id] = metric.value
        d = [values[row.run][q] - values[row.baseline][q] for q in QRELS]
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
def test_the_family_is_all_pairs_and_measures_of_a_test(correction):
    how = {"correction": correction, "resamples": 99, "tests": EVERY_TEST}
    result = compare(QRELS, RUNS, pm.MEDCORPUS, **how)
    assert result.families == {"t-test": 12, "wilcoxon": 12, "randomization": 12}
    for name in result.families:
        p = np.array([row.tests[name].p for row in result.rows])
        adjusted = [row.tests[name].adjusted for row in result.rows]
        np.testing.assert_array_equal(adjusted, CORRECTIONS[correction](p))
    assert ("over 12 p-values" in str(result)) == (correction != "none")


def test_a_test_without_an_answer_is_not_in_the_family():
    qrels, runs = runs_of([1, 1, 1, 1])
    runs["other"] = runs_of([3, 2, 5, 1])[1]["new"]
    result = compare(qrels, runs, "NumRet", baseline="old", tests=EVERY_TEST)
    assert result.families == {"t-test": 1, "wilcoxon": 2, "randomization": 2}
    assert result.rows[0].tests["t-test"].adjusted is None
    assert result.rows[1].tests["t-test"].adjusted == result.rows[1].tests["t-test"].p


def test_one_query():
    qrels = {"q": {"a": 1}}
    runs = {"old": {"q": {"b": 2.0, "a": 1.0}}, "new": {"q": {"a": 1.0}}, "same": {"q": {"a": 1.0}}}
    result = compare(qrels, runs, "RR", clusters=lambda _: "c", tests=EVERY_TEST)
    row = result.rows[0]
    assert row.tests["randomization"].p == row.tests["wilcoxon"].p == 1
    assert row.tests["t-test"].reason == "a single query"
    assert (row.reasons, row.effect_size) == ({"interval": "a single query"}, None)
    assert result.rows[2].tests["t-test"].p == 1
    assert "— t-test: a single query (2 of 3 rows)" in str(result)


def test_queries_that_a_run_has_nothing_for_are_counted_and_said():
    qrels = {f"q{i}": {"a": 1} for i in range(4)}
    full = {q: {"a": 1.0} for q in qrels}
    result = compare(qrels, {"full": full, "part": {"q0": {"a": 1.0}, "q1": {}, "z": {"a": 1.0}}}, "P@1")
    assert result.rows[0].difference == -0.75
    assert result.notes == [
        "run 'part' retrieves nothing for 3 of 4 queries (first: 'q1'); they score 0",
        "run 'part' has 1 query without judgments (ignored)",
        "randomization: with 4 queries no p-value is below 0.05, whatever the runs",
        "interval: with 4 queries coverage may be below 95% where differences are skewed",
    ]
    assert all(note in str(result) for note in result.notes)


def test_max_t_of_groups_is_over_all_groups():
    how = {"clusters": "^(.*)_", "resamples": 999, "correction": "max-t", "tests": "randomization"}
    result = compare(QRELS, RUNS, ["nDCG@10", "P@1"], by="_([0-9])$", **how)
    alone = compare(QRELS, RUNS, ["nDCG@10", "P@1"], **how)
    for row, other in zip(result.rows, alone.rows, strict=True):
        assert (row.tests["randomization"], row.interval) == (other.tests["randomization"], other.interval)
    assert {part.families["randomization"] for part in result.groups.values()} == {6 * len(result.groups)}
    # The groups are the columns of one family: as if those of other groups were 0.
    paired = result.paired
    differences = np.concatenate([paired.differences(number) for number in range(2)], axis=1)
    labels = [query_id[-1] for query_id in result.paired.query_ids]
    wide = np.concatenate(
        [differences * np.array([each == group for each in labels])[:, None] for group in result.groups],
        axis=1,
    )
    expected = randomization_test(wide, paired.cluster, 999, 0).adjusted
    found = [row.tests["randomization"] for part in result.groups.values() for row in part.rows]
    raw = [test.p for test in found]
    np.testing.assert_allclose([test.adjusted for test in found], np.maximum(expected, raw), rtol=1e-12)


def test_errors_and_warnings_name_the_run_or_its_file(tmp_path):
    qrels = {"q": {"a": 1}}
    good = {"q": {"a": 1.0}}
    with pytest.raises(pm.InputError, match=r"^run 'bad', query 'q', document 'a': a score must be a number"):
        compare(qrels, {"good": good, "bad": {"q": {"a": "x"}}}, "P@1")
    with pytest.warns(pm.NoSharedQueryWarning, match="^run 'far': the run and the qrels share no query"):
        compare(qrels, {"good": good, "far": {"z": {"a": 1.0}}}, "P@1")
    (tmp_path / "far.trec").write_text("z Q0 a 1 1 t\n")
    with pytest.warns(pm.NoSharedQueryWarning, match=r"^\S*far\.trec: the run and the qrels share no query"):
        compare(qrels, {"good": good, "far": tmp_path / "far.trec"}, "P@1")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"runs": {"a": {}}}, r"a comparison needs at least two runs \(found 1\)"),
        ({"runs": [{}, {}]}, r"runs must be a dict \{name: run\} \(found list"),
        ({"baseline": "bm52"}, r"one of the runs 'bm25', 'new' \(found 'bm52'\). Did you mean 'bm25'\?"),
        ({"correction": "holms"}, r"correction must be one of holm, .* Did you mean 'holm'\?"),
        (
            {"correction": "max-t", "tests": "t-test"},
            r"correction 'max-t' needs the randomization test. Ask for both, or for neither",
        ),
        ({"baseline": ["bm25"]}, r"one of the runs 'bm25', 'new' \(found \['bm25'\]\)"),
        ({"tests": None}, r"tests must be names of tests \(found None\)"),
        ({"tests": "ttest"}, r"a test must be one of randomization, .* Did you mean 't-test'\?"),
        ({"resamples": 0}, r"resamples must be a whole number of at least 1 \(found 0\)"),
        ({"seed": -1}, r"seed must be a whole number of at least 0 \(found -1\)"),
        ({"equivalence_margin": 0}, "equivalence_margin must be a number above 0"),
        ({"equivalence_margin": -1.0}, "equivalence_margin must be a number above 0"),
        ({"detect": "x"}, "detect must be a number above 0"),
        ({"detect": True}, "detect must be a number above 0"),
        ({"level": 95}, r"level must be between 0 and 1 \(found 95\). 95 percent is 0.95"),
        ({"qrels": {}}, "the qrels have no query"),
        ({"measures": []}, "there is no measure to compare by"),
        ({"clusters": "conversation_id"}, r"a pattern with one group for the query ids"),
        ({"by": lambda _: None}, "by puts no query of the qrels into a group. None and NaN are no groups"),
    ],
)
def test_what_is_refused(change, message):
    given = {"qrels": {"q": {"a": 1}}, "runs": {"bm25": {"q": {"a": 1.0}}, "new": {}}, "measures": ["P@1"]}
    with pytest.raises(pm.InputError, match=message):
        compare(**{**given, **change})


def test_judged_is_over_the_queries_that_a_run_answers():
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(8)}
    half = {q: {"a": 1.0} for q in list(qrels)[:7]}  # all that it retrieves is judged
    other = {q: {"x": 2.0, "a": 1.0} for q in qrels}
    result = compare(qrels, {"half": half, "other": other}, "P@1", baseline="other")
    shares = json.loads(result.to("json"))["judged"]
    assert shares == {"half": {"Judged@1": 1.0}, "other": {"Judged@1": 0.0}}
    assert "not relevant; over the queries for which a run retrieves something" in result.to("markdown")
    assert "Judged@1: 'half' 1.00, 'other' 0.00; differences may be due to unjudged documents" in result.notes
    by_cutoff = json.loads(compare(qrels, {"half": half, "other": other}, ["P@2", "P@1"]).to("json"))
    assert [*by_cutoff["judged"]["half"]] == ["Judged@1", "Judged@2"]
    full = compare(qrels, {"half": {q: {"a": 1.0} for q in qrels}, "other": other}, "P@1")
    assert "Judged: over" not in full.to("markdown")
    asked = compare(qrels, {"half": half, "other": other}, ["P@1", "Judged@1"])
    assert asked.to("markdown").splitlines()[2].count("Judged@1") == 1


@pytest.mark.parametrize(
    ("n", "options", "said"),
    [
        *((5, {}, True), (5, {"tests": "t-test"}, False), (6, {}, False)),
        *((6, {"resamples": 19}, True), (5, {"resamples": 20}, False)),
    ],
)
def test_too_few_queries_for_any_p_value_are_said(n, options, said):
    result = compare(*runs_of(range(1, n + 1)), "NumRet", **options)
    few = "19 random sign patterns" if "resamples" in options else f"{n} queries"
    note = f"randomization: with {few} no p-value is below 0.05, whatever the runs"
    assert (note in result.notes) == said
    assert options or (result.rows[0].tests["randomization"].p < 0.05) != said


def test_a_note_of_several_groups_is_said_once():
    qrels, runs = runs_of(range(21))
    result = compare(qrels, runs, "NumRet", by=lambda query: int(query[1:]) // 3)
    few = "randomization: with 3 queries no p-value is below 0.05, whatever the runs"
    assert f"group 0, 1, 2, 3, 4 and 2 more: {few}" in result.notes
    alone = compare(qrels, runs, "NumRet", by=lambda query: int(query[1:]) // 20)
    assert [note for note in alone.notes if "of a p-value" in note or "group" in note] == [
        "group 1: randomization: with 1 query no p-value is below 0.05, whatever the runs"
    ]


@pytest.mark.parametrize(("judged", "said"), [(95, True), (96, False), (100, False)])
def test_unequally_judged_runs_are_named_from_a_difference_of_5_percent(judged, said):
    qrels = {f"q{i:03}": {"a": 1, "b": 0} for i in range(100)}
    full, other = ({q: {"a" if i < n else "x": 1.0} for i, q in enumerate(qrels)} for n in (100, judged))
    runs = {"full": full, "other": other, "same": full}
    result = compare(qrels, runs, "P@1")
    expected = f"Judged@1: 'same' 1.00, 'other' 0.{judged} (the widest of 3 pairs); differences may be due to"
    assert result.report().cautions == [f"{expected} unjudged documents"] * said
    assert [note for note in result.notes if "Judged" in note] == result.report().cautions
    assert not [note for note in result.report().notes if "Judged" in note]


def test_a_page_has_the_highest_eight_grades():
    qrels = {"q": {f"d{grade}": grade for grade in range(10)}}
    result = compare(qrels, {"a": {"q": {"d1": 1.0}}, "b": {"q": {"d2": 1.0}}}, "P@1")
    assert query_details(result)["grades"] == [*range(9, 1, -1)]


def test_equivalence_and_the_queries_of_a_difference_are_reported_when_they_are_asked_for():
    qrels = {f"c{i:02}_{turn}": {"a": 1} for i in range(60) for turn in (1, 2)}
    old = {q: {"a": 1.0} for i, q in enumerate(qrels) if i % 5 == 0}
    new = {**old, **{q: {"a": 1.0} for i, q in enumerate(qrels) if q[-1] == "1" and i % 3}}
    how = {"clusters": "^(.*)_", "by": "_(.)$", "equivalence_margin": 0.5, "detect": 0.02}
    result = compare(qrels, {"old": old, "new": new}, ["P@1", "RR"], "old", **how)
    row = result.rows[0]
    assert row.tests["randomization"].method == "50,000 random sign patterns of 60 clusters"
    assert row.tests["equivalence"].adjusted < 0.05
    assert row.needed > 60
    text = " ".join(result.to("table").split())
    for part in (
        "non-inferiority p: that Δ is -0.5 or below, by a one-sided t-test; non-inferiority p (adj.): "
        "Holm over 2 p-values of all _(.)$ groups, and over 2 p-values of all queries.",
        "non-superiority p: that Δ is +0.5 or above, by a one-sided t-test; ",
        "equivalence p: that Δ is beyond the equivalence margin ±0.5, by two one-sided t-tests; "
        "equivalence p (adj.): Holm over 2 p-values of all _(.)$ groups, and over 2 p-values of all queries.",
        "clusters needed for a difference of 0.02 (80% power), for one uncorrected t-test: "
        f"{row.needed:,} (P@1), {result.rows[1].needed:,} (RR).",
    ):
        assert part in text
    columns = set(result.to_polars().columns)
    assert {"needed", "std_error", "randomization statistic"} <= columns
    assert {f"{name} {of}" for name in EQUIVALENCE for of in ("p", "adjusted", "statistic")} <= columns
    plain = compare(qrels, {"old": old, "new": new}, "P@1", "old")
    assert plain.rows[0].needed is None
    assert "80%" not in plain.to("table")


def test_frame_csv_and_json_have_the_same_fields_of_a_row():
    """Every field of a row is in each, whatever the options; a pair of numbers as two columns."""
    how = {"by": "_(.)$", "equivalence_margin": 0.1, "detect": 0.1, "human": QRELS, "resamples": 99}
    result = compare(QRELS, RUNS, "P@1", "bm25", **how)
    row = json.loads(result.to("json"))["rows"][0]
    expected = {"_(.)$", "clusters", "correction", "level", "resamples", "seed"}
    for name, value in row.items():
        if name in ("interval", "intervals", "people"):
            values = {"": value} if name == "interval" else value
            prefix = "people_" if name == "people" else ""
            for key, each in values.items():
                dash = f"{key}_" if key else ""
                pair = [f"{prefix}{dash}{end}" for end in ("low", "high")]
                expected |= set(pair if isinstance(each, list) else [f"{prefix}{key}"])
        elif name == "tests":
            expected |= {f"{test} {of}" for test in value for of in ("p", "adjusted", "statistic")}
        else:
            expected.add(name)
    frame = result.to_polars()
    assert set(frame.columns) == expected
    lines = result.to("csv").splitlines()
    assert lines[0].split(",") == frame.columns
    assert {len(line) for line in csv.reader(lines)} == {len(frame.columns)}
    first = frame.rows(named=True)[-2]
    assert [first[name] for name in ("std_error", "difference", "wins")] == [
        row[name] for name in ("std_error", "difference", "wins")
    ]
    assert first["randomization statistic"] == row["tests"]["randomization"]["statistic"]


@pytest.mark.parametrize(("detect", "known"), [(1e-300, False), (5e-324, False), (1e-3, True)])
def test_a_difference_that_no_collection_could_find_needs_no_number(detect, known):
    [row] = compare(*runs_of([1, 2, 0, 3]), "NumRet", detect=detect).rows
    assert (row.needed is not None) == known
    more = {"needed": "more than 1,000,000,000,000,000 queries"}
    assert row.reasons == ({} if known else more)
    [row] = compare(*runs_of([1, 1, 1, 1]), "NumRet", detect=0.1).rows
    assert row.reasons["needed"] == "no variance between queries"


def test_the_standard_error_and_the_statistics_are_those_of_the_tests():
    result = compare(QRELS, RUNS, "P@1", "bm25", tests=EVERY_TEST, resamples=99)
    for row, (d,) in zip(result.rows, result.paired.differences(0).T[:, None], strict=True):
        sums = np.bincount(result.paired.cluster, d)
        t = row.tests["t-test"].statistic
        assert row.difference / row.std_error == pytest.approx(t)
        assert row.tests["randomization"].statistic == pytest.approx(sums.sum() / np.sqrt((sums**2).sum()))
        for name in EVERY_TEST:
            assert row.tests[name].direction == np.sign(t)


@pytest.mark.parametrize(
    ("groups", "written"), [([2, 10], [2, 10]), (["b", "a"], ["a", "b"]), ([1.5, 2.5], ["1.5", "2.5"])]
)
def test_groups_are_numbers_or_texts_in_json(groups, written):
    qrels = {f"q{n}": {"a": 1} for n in range(8)}
    runs = {"old": {q: {"b": 2.0, "a": 1.0} for q in qrels}, "new": {q: {"a": 1.0} for q in qrels}}
    by = {q: groups[n % 2] for n, q in enumerate(qrels)}
    found = json.loads(compare(qrels, runs, "RR", by=by, resamples=9).to("json"))
    assert [each["group"] for each in found["groups"]] == written


def test_no_measure_has_the_name_of_the_column_of_groups():
    by = dict.fromkeys(QRELS, "a")
    with pytest.raises(pm.InputError, match="two columns would be named 'group'"):
        compare(QRELS, RUNS, {"group": "P@1"}, by=by, resamples=9)
