"""Uncertainty: what each pair is, and what is refused."""

import csv
import io
import json
import re

import numpy as np
import pytest
from commands import run_cli

import permed_measures as pm
from permed_measures.engine.judgments import Judgments
from permed_measures.intervals import measure_intervals
from permed_measures.uncertainty_sources.labels import LabelErrors

MEASURES = ["nDCG@3", "AP@3", "P@1"]


def made(n_queries=30, seed=0, name="d"):
    """Return graded qrels and a run with ties and unjudged documents."""
    rng = np.random.default_rng(seed)
    qrels = {f"q{n:02}": {f"d{i}": int(rng.integers(0, 3)) for i in range(4)} for n in range(n_queries)}
    run = {q: {f"{'d' if i < 4 else name}{i}": float(rng.integers(0, 4)) for i in range(6)} for q in qrels}
    return qrels, run


def test_a_row_has_the_value_and_four_pairs():
    qrels, run = made()
    result = pm.uncertainty(qrels, run, MEASURES, label_error=0.2, draws=300, seed=3)
    means = pm.calc_aggregate(MEASURES, qrels, run)
    ties = {row.measure: row.ties for row in pm.crosscheck(qrels, run, MEASURES).rows}
    values = pm.evaluator(MEASURES, qrels).evaluate(run).values.T
    intervals = measure_intervals(list(means), values, np.arange(30))
    for row, interval in zip(result.rows, intervals, strict=True):
        assert row.value == pytest.approx(means[row.measure])
        assert row.ties == pytest.approx(ties[row.measure])
        assert row.interval == interval.value
        assert row.unjudged[0] <= row.value <= row.unjudged[1]
        assert row.labels[0] < row.labels[1]
        assert row.exact == {"ties": True, "unjudged": True}


QRELS = {"q1": {"a": 1}, "q2": {"a": 1}}
RUN = {"q1": {"x": 2.0, "a": 1.0}, "q2": {"a": 1.0}}


def test_unjudged_is_the_mean_of_the_least_and_the_most_of_each_query():
    [row] = pm.uncertainty(QRELS, RUN, "AP@2").rows
    assert (row.value, row.unjudged, row.judged) == (0.75, (0.75, 1.0), 0.75)
    [row] = pm.uncertainty(QRELS, RUN, "AP@2", grades=[0]).rows
    assert row.unjudged == (0.75, 0.75)
    [row] = pm.uncertainty(QRELS, {"q2": {"a": 1.0}}, "P@1").rows
    assert row.judged == 1  # over the queries with an answer
    [row] = pm.uncertainty(QRELS, {"q2": {"a": 1.0}}, "GradedAP@2", grades=[0, 1, 2]).rows
    assert row.exact["unjudged"]  # nothing is unjudged
    assert pm.uncertainty(QRELS, {}, "P@1").rows[0].judged is None


@pytest.mark.parametrize(
    ("measure", "grades", "star"),
    [("AP@2", None, ""), ("GradedAP@2", None, ""), ("GradedAP@2", [0, 1, 2], "*")],
)
def test_a_star_says_that_others_may_go_beyond(measure, grades, star):
    [section] = pm.uncertainty(QRELS, RUN, measure, grades=grades).report().sections
    [[[*_, ties, unjudged]]] = section.tables[0].blocks
    assert (ties.text, ties.mark, unjudged.mark) == ("same", "", star)
    beyond = "*: only some orders or gradings were tried, and others may go beyond"
    assert (beyond in section.tables[0].notes) == bool(star)


def test_the_mean_over_ties_has_a_column_where_an_order_changes_a_mean():
    tied = {"q1": {"x": 1.0, "a": 1.0}, "q2": {"a": 1.0}}
    result = pm.uncertainty(QRELS, {"tied": tied, "plain": RUN}, ["AP@2", "P@1", "infAP"])
    assert [row.ties_expected for row in result.rows] == [0.875, 0.75, None, 0.75, 0.5, 0.75]
    [section] = result.report().sections
    [table] = section.tables
    at = table.headings.index("expected")
    assert table.headings[at - 1] == "ties"
    assert [row[at].text for row in table.rows] == ["0.8750", "0.7500", "—", "same", "same", "same"]
    assert "Expected: the mean over all orders of equal scores, each as likely." in str(result)
    assert "— in expected: there is no closed form." in str(result)
    frame, content = result.to_polars(), json.loads(result.to("json"))
    assert frame["ties_expected"].to_list() == [row["ties_expected"] for row in content["rows"]]
    without = pm.uncertainty(QRELS, RUN, ["AP@2", "infAP"])
    assert "xpected" not in str(without)
    assert [row.ties_expected for row in without.rows] == [row.value for row in without.rows]


def test_what_is_undefined_says_why():
    result = pm.uncertainty({"q": {"a": 1}}, {"q": {"a": 1.0, "x": 2.0}}, "Judged@5")
    [row] = result.rows
    assert row.unjudged is row.interval is None
    assert (result.draws, result.seed, result.level) == (1000, 0, 0.95)
    assert json.loads(result.to("json"))["rows"][0]["exact"] == {"ties": True}
    assert "— in topics: a single query." in str(result)
    assert "— in unjudged: Judged says itself what is judged." in str(result)
    qrels = {f"q{n}": {"a": 1} for n in range(50)}
    [row] = pm.uncertainty(qrels, {q: {"x": 3.0, "a": 2.0} for q in qrels}, "RR").rows
    assert (row.value, row.interval, row.reasons) == (0.5, None, {"interval": "no variance between queries"})


def test_labels_are_drawn_from_the_seed_and_shared_by_the_runs():
    qrels, run = made()
    how = {"measures": "nDCG@3", "label_error": 0.3, "draws": 50}
    first, again, other = (
        pm.uncertainty(qrels, {"a": run, "b": run}, seed=seed, **how) for seed in (1, 1, 2)
    )
    assert len({row.labels for row in first.rows + again.rows}) == 1
    assert first.rows[0].labels != other.rows[0].labels


def test_labels_of_two_grades_all_wrong_are_reversed():
    qrels = {"q": {"a": 1, "b": 0, "c": -1}}
    run = {"q": {"b": 3.0, "c": 2.0, "a": 1.0}}
    [row] = pm.uncertainty(qrels, run, "P@1", label_error=1, draws=9, grades=[1]).rows
    assert (row.value, row.labels) == (0, (1, 1))
    [row] = pm.uncertainty(qrels, {"q": {"c": 3.0}}, "P@1", label_error=1, draws=9).rows
    assert row.labels == (0, 0)  # a negative grade stays


def test_labels_are_drawn_as_often_as_the_rates_say():
    judgments = Judgments.of({"q": {f"d{i}": i % 3 for i in range(3000)}})
    errors = LabelErrors.to_neighbours(0.3, np.arange(3.0))
    [grade] = errors.draws(judgments, 1, 0)
    for level in range(3):
        drawn = np.bincount(grade[judgments.grade == level].astype(int), minlength=3) / 1000
        assert drawn == pytest.approx(errors.rates[level], abs=0.04)


def test_whole_conversations_are_the_units():
    qrels = {f"{c}_{t}": {"a": 1} for c in range(6) for t in range(5)}
    run = {q: {"a": 1.0, "x": 2.0 * (int(q[0]) % 2)} for q in qrels}
    alone, together = (pm.uncertainty(qrels, run, "RR", clusters=by) for by in ("none", "^(.)_"))
    width = [np.diff(each.rows[0].interval)[0] for each in (alone, together)]
    assert width[1] > 1.7 * width[0]
    assert "30 queries in 6 clusters (^(.)_)" in str(together)
    assert together.notes == ["interval: with 6 clusters coverage may be below 95% where values are skewed"]
    assert alone.notes == []
    mapped = pm.uncertainty(qrels, run, "RR", clusters=lambda query: query[0])
    assert "Means over 30 queries in 6 clusters." in str(mapped)
    same = pm.uncertainty(qrels, {}, "NumRet", clusters="^(.)_")  # there is no interval to be doubted
    assert [note for note in same.notes if "coverage" in note] == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label_error": 1.5}, "label_error must be a number from 0 to 1 (found 1.5)"),
        ({"label_error": True}, "label_error must be a number from 0 to 1 (found True)"),
        ({"label_error": {"q": {"a": 1}}}, "(found {'q': {'a': 1}}). Labels that people gave to a sample"),
        ({"grades": [-1]}, "grades must be numbers of at least 0 (found [-1])"),
        ({"level": 1}, "level must be between 0 and 1 (found 1)"),
        ({"level": 0}, "level must be between 0 and 1 (found 0)"),
        ({"draws": 0}, "draws must be a whole number of at least 1 (found 0)"),
        ({"measures": []}, "there is no measure"),
        ({"measures": "GradedAP@3", "grades": [0, 3]}, "the scale: GradedAP: no grade may be above"),
        ({"measures": "AP@3", "run": {"b": {"q00": {"d0": "x"}}}}, "run 'b', query 'q00'"),
    ],
)  # fmt: skip
def test_errors(options, message):
    qrels, run = made(3)
    given = {"qrels": qrels, "run": run, "measures": "AP@3", "draws": 9, **options}
    with pytest.raises(pm.PermedError, match=re.escape(message)):
        pm.uncertainty(**given)


@pytest.mark.parametrize(("runs", "headings"), [("a", ["measure", "value"]), ("ab", ["run", "measure"])])
def test_people_s_labels_have_a_line_for_each_run(runs, headings):
    result = pm.uncertainty(QRELS, dict.fromkeys(runs, RUN), "P@1", human=QRELS)
    first, *_, last = result.report().sections
    table = last.tables[-1]
    assert table.headings[:2] == headings
    assert first.tables[0].headings[0] == headings[0]
    assert len(table.blocks[0]) == len(runs)


def test_what_prints_as_0_has_no_sign():
    qrels = {f"q{n}": {"a": -1, "b": 1} for n in range(9)}
    result = pm.uncertainty(qrels, {"q1": {"a": 2.0, "b": 1.0}}, "VariantNDCG(negative='keep')@1")
    assert -0.1 < result.rows[0].value < 0
    assert "-0.0 " not in f"{result.report(digits=1).to()} "


def unjudged_first(n_queries=60):
    """Return qrels and a run with an unjudged document at rank 1 and a relevant one at rank 2, not of two."""
    qrels = {f"q{i:02}": {"a": 1, "b": 0} for i in range(n_queries)}
    run = {q: {"x": 3.0, "ab"[i % 20 == 0]: 2.0} for i, q in enumerate(qrels)}
    return qrels, run


@pytest.mark.parametrize(
    ("measure", "options", "value", "unjudged"),
    [
        ("P@1", {}, 0, (0, 1)),
        ("P@1", {"grades": [1]}, 0, (1, 1)),
        ("P(rel=0)@1", {}, 0, (1, 1)),
        ("P(judged_only=True)@1", {"grades": [0]}, 0.95, (0, 0)),
        ("nDCG(gains={0:1})@1", {}, 0, (1, 1)),
        ("P(judged_only=True)@1", {"grades": [0, 1]}, 0.95, (0, 1)),
        ("P@2", {"grades": [1, 2]}, 0.475, (0.975, 0.975)),
    ],
)
def test_a_range_by_unjudged_documents_need_not_hold_the_value(measure, options, value, unjudged):
    [row] = pm.uncertainty(*unjudged_first(), measure, **options).rows
    assert (row.value, row.unjudged) == (pytest.approx(value), pytest.approx(unjudged))


def test_only_a_correction_by_people_is_a_finding():
    qrels, run = made()
    assert pm.uncertainty(qrels, run, "P@1").report().finding == []


@pytest.mark.parametrize("measure", ["P@1", "nDCG@1"])
def test_judged_is_left_out_where_every_label_is_relevant(measure):
    for grade, left_out in ((1, True), (0, False)):
        result = pm.uncertainty({"q": {"a": 1, "b": grade}}, {"q": {"a": 1.0}}, measure)
        [section] = result.report().sections
        assert ("judged" not in section.tables[0].headings) == left_out
        assert ("Judged@k is left out: all labels are relevant." in str(result)) == left_out
        assert "judged" in result.to("csv")


def test_every_line_has_the_same_fields():
    line = ("uncertainty", "permed-sample", "permed-sample/runs", "-m", "Judged@10", "-m", "P@10")
    rows = list(csv.reader(io.StringIO(run_cli(*line, "--format", "csv")[0])))
    assert len({len(row) for row in rows}) == 1
    records = [json.loads(each) for each in run_cli(*line, "--format", "jsonl")[0].splitlines()]
    assert {tuple(each) for each in records} == {tuple(rows[0])}
    assert [each["unjudged_exact"] for each in records] == [None, True] * 3
    assert pm.uncertainty(*made(), ["Judged@10", "P@10"]).to_polars().shape == (2, len(rows[0]))


def test_formats_have_the_same_numbers():
    qrels, first = made()
    runs = {"first": first, "second": made(seed=1)[1], "third": made(seed=2)[1]}
    several = pm.uncertainty(qrels, runs, MEASURES, label_error=0.1, draws=150)
    content, frame = json.loads(several.to("json")), several.to_polars()
    rows = list(csv.DictReader(io.StringIO(several.to("csv"))))
    assert len(rows) == len(frame) == len(content["rows"]) == 9
    for row, read, line in zip(several.rows, content["rows"], rows, strict=True):
        assert read["unjudged"] == list(row.unjudged)
        assert (float(line["labels_low"]), float(line["ties_high"])) == (row.labels[0], row.ties[1])
        assert read["exact"] == {"ties": True, "unjudged": True}
    assert content["label_errors"]["rates"][0] == [0.9, 0.1, 0]
    assert content["provenance"]["seed"] == 0
    assert re.search(r"\| first \| nDCG@3 \| 0\.\d\d \| 0\.\d\d \|", several.report(digits=2).to("markdown"))
    assert repr(several) == "<Uncertainty of first, second, third: nDCG@3, AP@3, P@1>"


def test_the_command_writes_the_numbers_of_the_data_set(tmp_path):
    arguments = ("uncertainty", "permed-sample", "permed-sample/runs", "-m", "P@10")
    content = json.loads(run_cli(*arguments, "--format", "json")[0])
    assert [row["run"] for row in content["rows"]] == ["bm25", "tfidf", "lsa"]
    assert content["clusters"] == "conversation_id"
    _, stderr = run_cli(*arguments, "--output", str(tmp_path / "found.csv"))
    assert f"note: {content['notes'][0]}" in stderr
    assert (tmp_path / "found.csv").read_text().startswith("run,measure,value,interval_low")


def test_headings_that_are_not_the_measure_are_explained():
    qrels, run = made()
    said = "nDCG-exp@5 is nDCG(dcg='exp-log2')@5"
    for measures, is_said in ((["nDCG@5", "nDCG(dcg='exp-log2')@5"], True), (["nDCG@5"], False)):
        assert (said in " ".join(str(pm.uncertainty(qrels, run, measures)).split())) == is_said
