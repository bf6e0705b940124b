"""Gates: floors, and drops below a run."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml  # which ir_datasets brings
from commands import run_main

import permed_measures as pm
from permed_measures.datasets import SAMPLES
from permed_measures.intervals import proportion_interval
from permed_measures.records.limit_intervals import intervals_of_changes


def labelled(n):
    """Make qrels of n queries with one relevant document each."""
    return {f"q{number}": {"a": 1} for number in range(n)}


def ranked(n, n_wrong=0):
    """Make a run that ranks the relevant document second in its first queries."""
    return {f"q{i}": {"a": 1.0, **({"b": 2.0} if i < n_wrong else {})} for i in range(n)}


def test_numbers_are_compared_as_they_are_printed():
    """A mean that is printed like the floor passes; no message has two equal numbers and FAILED."""
    for n in range(1, 100, 7):
        mean = 1 - 0.5 * n / 99
        qrels, run = labelled(99), ranked(99, n)
        for digits in (1, 2, 3, 4, 6, 17):
            floor = round(mean, digits)
            [rule] = pm.gate(qrels, run, {"RR": floor}).rules
            assert rule.ok == (mean >= floor - 1e-9 or round(mean, max(4, digits)) >= floor)
            assert rule.ok or float(rule.said) < floor
    floors = (0.6667, 0.66667, 0.6666666669, 0.66668, 0.6668)
    met = [pm.gate(labelled(3), ranked(2), {"RR": floor}).ok for floor in floors]
    assert met == [True, True, True, False, False]  # by nine decimals at most


@pytest.mark.parametrize(
    ("n_wrong", "n_before", "most", "ok", "said"),
    [
        (0, 2, 0, True, "rose by 0.2500"),
        (2, 0, 0, False, "fell by 0.2500"),
        (2, 0, 0.2499, False, "fell by 0.2500"),
        (2, 0, 0.25, True, "fell by 0.2500"),
        (0, 0, 0, True, "changed by 0.0000"),
    ],
)
def test_a_rise_is_no_drop(n_wrong, n_before, most, ok, said):
    [rule] = pm.gate(labelled(4), ranked(4, n_wrong), None, ranked(4, n_before), {"RR": most}).rules
    assert (rule.outcome == "passed") == ok
    assert (rule.ok, rule.said, rule.found) == (ok, said, 0.125 * (n_wrong - n_before))


@pytest.mark.usefixtures("folder")
def test_a_test_of_any_framework_can_hold_it():
    pm.assert_no_regression("qrels.jsonl", "bm25.jsonl", "lsa.jsonl", {"nDCG@10": 0.01})
    with pytest.raises(AssertionError) as caught:
        pm.assert_no_regression("qrels.jsonl", "lsa.jsonl", "bm25.jsonl", {"nDCG@10": 0.01}, {"P@1": 0.1})
    assert "FAILED   nDCG@10  drop of at most 0.01  fell by 0.0530" in str(caught.value)
    assert "ok       P@1      at least 0.1          0.5000" in str(caught.value)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "there is no rule"),
        ({"max_drop": {"RR": 0.1}}, "max_drop needs a baseline"),
        ({"minimum": {"RR": 0.1}, "baseline": "lsa.jsonl"}, "a baseline needs max_drop"),
        ({"minimum": {"RR": "high"}}, "minimum of RR must be a number (found 'high')"),
        ({"minimum": {"RR": float("nan")}}, "minimum of RR must be a number (found nan)"),
        ({"minimum": {"RR": 10**400}}, "minimum of RR must be a number (found 1000"),
        ({"minimum": {"RR": float("-inf")}}, "minimum of RR must be a number (found -inf)"),
        ({"minimum": 0.8}, "minimum must be a mapping of measures to numbers (found 0.8). Give it as {'nDCG"),
        ({"minimum": "RR"}, "minimum must be a mapping of measures to numbers (found 'RR')"),
        ({"minimum": {5: 0.8}}, "a measure is written Name(parameter=value,...)@cutoff (found '5')"),
        ({"minimum": {"RR": 0.1}, "run": {"q": {}}, "order": "x"}, "order must be one of score, list (found"),
        ({"baseline": "lsa.jsonl", "max_drop": {"RR": -1}}, "max_drop of RR must be a number of at least 0 "),
        ({"minimum": {"RRR": 0.1}}, "RRR"),
        ({"minimum": {"RR": 0}, "significant": True, "non_inferior": True}, "or non_inferior, not both"),
        ({"minimum": {"RR": 0.1}, "qrels": {}, "run": {"q": {"a": 1.0}}}, "the qrels have no query"),
    ],
)
def test_rules_that_cannot_be(options, message):
    with pytest.raises(pm.PermedError) as caught:
        pm.gate(**{"qrels": "qrels.jsonl", "run": "bm25.jsonl", **options})
    assert message in str(caught.value)


@pytest.mark.usefixtures("folder")
def test_the_command():
    line = "gate qrels.jsonl lsa.jsonl --min nDCG@10=0.5 --baseline bm25.jsonl --max-drop P@1=0.1"
    status, out, err = run_main(*line.split())
    assert (status, err) == (1, "")
    assert out.startswith("Retrieval quality failed: P@1.\n")
    assert "FAILED   P@1      drop of at most 0.1  fell by 0.1458" in out
    status, out, _ = run_main(*line.replace("P@1=0.1", "P@1=0.2").split(), "--format", "json")
    assert (status, json.loads(out)["passed"]) == (0, True)
    of_rule = "a rule is MEASURE=X, such as nDCG@10=0.8 (found {!r})"
    for options, message in {
        "": "there is no rule to check. Give --min MEASURE=X, or --baseline FILE with --max-drop",
        "--max-drop P@1=0.1": "--max-drop needs --baseline. Name a run",
        "--min nDCG@10": of_rule.format("nDCG@10"),
        "--min =0.5": of_rule.format("=0.5"),
        "--min nDCG@10=high": of_rule.format("nDCG@10=high"),
        "--min RR=0.9 --min RR=0.1": "RR has two limits: minimum 0.9 and 0.1. Give one of them",
        "--min RR=0.9 --min mrr=0.1": "RR has two limits: minimum 0.9 and 0.1",
        "--min RR=0.9 --min RR=0.9": "RR has two limits: minimum 0.9 and 0.9",
        "--baseline bm25.jsonl --max-drop P@1=0.2 --max-drop precision@1=0": "P@1 has two limits: max_drop",
    }.items():
        status, _, err = run_main("gate", "qrels.jsonl", "lsa.jsonl", *options.split())
        assert (status, err.startswith(f"error: {message}")) == (2, True), err


def test_a_measure_has_one_limit_of_a_kind():
    given = labelled(4), ranked(4, 2)
    for limits in ({"RR": 0.9, "MRR": 0.1}, [("RR", 0.9), ("RR", 0.1)], {"a=RR": 0.9, "RR": 0.1}):
        with pytest.raises(pm.InputError, match=r"RR has two limits: minimum 0\.9 and 0\.1"):
            pm.gate(*given, limits)
    found = pm.gate(*given, {"RR": 0.75, "RR@1": 0.5}, ranked(4), {"RR": 0.25})
    assert [(rule.measure, rule.kind, rule.ok) for rule in found.rules] == [
        ("RR", "minimum", True),
        ("RR@1", "minimum", True),
        ("RR", "max_drop", True),
    ]


def test_counts_are_the_sums_of_evaluate():
    """The command evaluate prints the sum of NumRet, and a limit is on this sum."""
    qrels, run, before = labelled(700), ranked(700, 500), ranked(700, 505)
    for least, ok in ((1200, True), (1200.5, False), (1201, False)):
        [rule] = pm.gate(qrels, run, {"NumRet": least}).rules
        assert (rule.ok, rule.found) == (ok, 1200)
        assert rule.said == ("1,200.0" if least == 1200.5 else "1,200")
    [rule] = pm.gate(qrels, run, None, before, {"NumRet": 5}).rules
    assert (rule.ok, rule.said, rule.found) == (True, "fell by 5", 5)
    qrels, run, before = labelled(90), ranked(90, 30), ranked(90, 50)
    [rule] = pm.gate(qrels, run, None, before, {"NumRet": 5}, significant=True).rules
    low, high = (-each for each in pm.compare(qrels, {"b": before, "r": run}, "NumRet", "b").rows[0].interval)
    assert (rule.low, rule.high) == pytest.approx((90 * high, 90 * low))


def test_limits_may_be_numbers_of_numpy():
    for kind in (np.float64, np.float32):
        [rule] = pm.gate(labelled(3), ranked(3), {"RR": kind(0.125)}).rules
        assert (rule.asked, rule.limit) == ("at least 0.125", 0.125)
        assert "np." not in str(pm.gate(labelled(3), ranked(3), {"RR": kind(0.123456789)}))
    assert pm.gate(labelled(3), ranked(3), {"RR": np.int64(1)}).ok


def test_limits_are_written_with_all_digits():
    for limit, asked in ((1000000, "1,000,000"), (1234567, "1,234,567"), (1e-5, "0.00001"), (0, "0")):
        [rule] = pm.gate(labelled(3), ranked(3), {"NumRet": limit}).rules
        assert rule.asked == f"at least {asked}"


@pytest.mark.usefixtures("folder")
def test_names_are_explained_and_results_go_to_files():
    line = "gate qrels.jsonl lsa.jsonl --min AP@10=P@1=0.4"
    assert "AP@10 is P@1" in run_main(*line.split())[1]
    assert " is P@1" not in run_main(*line.replace("AP@10=", "").split())[1]
    status, out, err = run_main(*line.split(), "--output", "found.html")
    assert (status, out, err) == (0, "", "found.html: html of 1 rule\n")
    page = Path("found.html").read_text()
    assert "Retrieval quality passed" in page
    again = re.sub("</?span[^>]*>|&#x27;", "", page)
    assert f"permed-measures {line}" in again  # how it is made again
    status, _, err = run_main(*line.split(), "--output", "lsa.jsonl")
    assert (status, "would overwrite" in err) == (2, True)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_record_in_another_encoding_is_verified_and_is_a_baseline(encoding):
    line = "evaluate qrels.jsonl bm25.jsonl lsa.jsonl -m P@1 --record record.json"
    run_main(*line.split())
    text = Path("record.json").read_text("utf-8")
    Path("record.json").write_bytes(text.encode(encoding))
    status, out, _ = run_main("verify", "record.json")
    assert (status, "none differs" in out) == (0, True)
    line = "gate qrels.jsonl lsa.jsonl --max-drop P@1=0.01 --format json --baseline"
    found = [run_main(*line.split(), baseline) for baseline in ("bm25=record.json", "bm25.jsonl")]
    [(_, of_record, err), (_, of_run, _)] = found
    rules = [json.loads(out)["rules"] for out in (of_record, of_run)]
    assert rules[0] == rules[1], err


# --- evidence --------------------------------------------------------------------------------------------


def drawn(n, share, seed, n_turns=1):
    """Make qrels and two runs; the second is worse on a share of the queries."""
    rng = np.random.default_rng(seed)
    worse = rng.random(n) < share
    names = [f"c{i // n_turns}_{i % n_turns}" for i in range(n)]
    qrels = {name: {"a": 1, "b": 0} for name in names}
    before = {name: {"a": 1.0} for name in names}
    return qrels, before, {name: {"b" if bad else "a": 1.0} for name, bad in zip(names, worse, strict=True)}


@pytest.mark.parametrize(
    ("n", "share", "most", "outcome"),
    [
        (200, 0.3, 0.1, "failed"),
        (200, 0.03, 0.1, "passed"),
        (200, 0.1, 0.1, "inconclusive"),
        (20, 0.3, 0.2, "inconclusive"),
        (200, 0, 0, "passed"),  # no query differs
        (200, 1, 0.5, "failed"),  # all differ alike
        (5, 0, 0.1, "inconclusive"),
        (5, 0, 0, "inconclusive"),
        (1, 1, 0.1, "inconclusive"),
    ],
)
def test_a_drop_is_shown_or_shown_not_to_be_or_inconclusive(n, share, most, outcome):
    qrels, before, run = drawn(n, share, 2)
    given = qrels, run, None, before, {"P@1": most, "RR": 1}
    found, strict = pm.gate(*given, significant=True), pm.gate(*given, non_inferior=True)
    rule = found.rules[0]
    assert (rule.outcome, strict.rules[0].outcome) == (outcome, outcome)
    assert (found.ok, strict.ok) == (outcome != "failed", outcome == "passed")
    assert found.outcome == outcome
    assert strict.outcome == ("passed" if outcome == "passed" else "failed")
    if n > 5 and 0 < share < 1:
        row = pm.compare(qrels, {"b": before, "r": run}, ["P@1", "RR"], "b").rows[0]
        assert (-rule.high, -rule.low) == pytest.approx(row.interval, abs=1e-12)
        assert rule.interval == "{:.4f} {:.4f}".format(*row.interval)
    elif n > 5:
        assert rule.low == rule.high == share
    else:
        assert (rule.low, rule.interval) == (
            None,
            f"too little is known of {'1 query' if n == 1 else '5 queries'}",
        )


@pytest.mark.parametrize(
    ("n", "n_wrong", "least", "outcome"),
    [
        (100, 50, 0.81, "failed"),  # the RR is 0.75, and the interval 0.70 to 0.80
        (100, 50, 0.69, "passed"),
        (100, 50, 0.71, "inconclusive"),
        (100, 50, 0.79, "inconclusive"),
        (9, 0, 0.6, "passed"),  # Clopper-Pearson: 9 of 9 show 0.66
        (9, 0, 0.7, "inconclusive"),
    ],
)
def test_floors_go_by_the_interval_of_the_mean(n, n_wrong, least, outcome):
    measure = "RR"
    found = pm.gate(labelled(n), ranked(n, n_wrong), {measure: least}, significant=True)
    [rule], [row] = found.rules, pm.uncertainty(labelled(n), ranked(n, n_wrong), measure).rows
    assert (rule.outcome, found.ok) == (outcome, outcome != "failed")
    assert (rule.low, rule.high) == row.interval
    assert pm.gate(labelled(n), ranked(n, n_wrong), {measure: least}, non_inferior=True).ok == (
        outcome == "passed"
    )


def test_few_queries_that_differ_show_little():
    """One drop among 60 queries does not show that fewer than 3 % drop; one among 250 does."""
    for n, outcome in ((60, "inconclusive"), (250, "passed")):
        qrels, before, run = drawn(n, 0, 0)
        run = {**run, "c0_0": {"b": 1.0}}
        [rule] = pm.gate(qrels, run, None, before, {"P@1": 0.03}, significant=True).rules
        assert rule.outcome == outcome
        expected = proportion_interval(np.array([1.0] + [0.0] * (n - 1)), np.arange(n))[1]
        assert (rule.low, rule.high) == pytest.approx((-expected, expected))
    found = pm.gate(qrels, run, None, before, {"NumRet(rel=1)": 3}, significant=True)
    assert found.rules[0].high == pytest.approx(250 * expected)


def test_whole_conversations_count_as_one():
    qrels, before, run = drawn(300, 0, 0)
    for name in qrels:
        if int(name[1:-2]) % 4 == 0:
            run[name] = {"b": 1.0}
    names = {name: f"c{int(name[1:-2]) // 10}_{int(name[1:-2]) % 10}" for name in qrels}
    qrels, before, run = ({names[q]: docs for q, docs in each.items()} for each in (qrels, before, run))
    given = qrels, run, None, before, {"P@1": 0.2}
    alone = pm.gate(*given, significant=True)
    together = pm.gate(*given, significant=True, clusters=lambda q: f"t{q[-1]}")
    assert alone.rules[0].low > together.rules[0].low
    assert "50,000 random sign patterns of 300 queries, seed 0." in " ".join(str(alone).split())
    assert "all 1,024 sign patterns of 10 clusters by clusters." in " ".join(str(together).split())
    assert (alone.seed, together.seed) == (0, None)
    assert alone.evidence[-1] == "Passed or failed: the whole interval is on one side of the limit"
    assert pm.gate(*given).evidence == []
    line = "gate permed-sample permed-sample/runs/lsa --min P@1=0.4 --significant"
    assert "cluster-robust" in run_main(*line.split())[1]
    assert "cluster-robust" not in run_main(*line.split(), "--clusters", "none")[1]


@pytest.mark.usefixtures("folder")
def test_the_first_line_says_what_is_open():
    line = ["gate", "qrels.jsonl", "lsa.jsonl", "--baseline", "bm25.jsonl", "--clusters", "none"]
    line += ["--max-drop", "nDCG@10=0.01"]
    status, out, _ = run_main(*line, "--significant")
    first = " ".join(out.split("\n\n")[0].split())
    content = json.loads(run_main(*line, "--significant", "--format", "json")[1])
    [rule] = content["rules"]
    said = f"nDCG@10 may have fallen by {rule['high']:.4f}"
    assert (status, first) == (0, f"Retrieval quality inconclusive: {said}.")
    assert (content["passed"], content["outcome"], rule["outcome"]) == (True, "inconclusive", "inconclusive")
    status, out, _ = run_main(*line, "--non-inferior")
    assert (status, " ".join(out.split())[:40]) == (1, "Retrieval quality failed; inconclusive: ")
    assert "FAILED (inconclusive)" in out
    status, out, _ = run_main(*line, "--min", "P@1=0.9", "--significant")
    assert (status, " ".join(out.split())[:53]) == (
        1,
        "Retrieval quality failed: P@1; inconclusive: nDCG@10 ",
    )
    status, out, _ = run_main(*line[:-1], "nDCG@10=0.5", "--significant")
    assert (status, out.split("\n")[0]) == (0, "Retrieval quality passed: 1 rule.")
    with pytest.raises(AssertionError, match="FAILED \\(inconclusive\\)"):
        pm.assert_no_regression(
            "qrels.jsonl", "lsa.jsonl", "bm25.jsonl", {"nDCG@10": 0.01}, non_inferior=True
        )
    pm.assert_no_regression("qrels.jsonl", "lsa.jsonl", "bm25.jsonl", {"nDCG@10": 0.01}, significant=True)


# --- a record as a baseline ------------------------------------------------------------------------------


@pytest.mark.usefixtures("folder")
def test_a_record_is_a_baseline_like_its_run(made):
    made.write("base.json")
    pm.record("qrels.jsonl", "bm25.jsonl", ["nDCG@10", "P@1"]).write("one.json")
    drop = {"nDCG@10": 0.01}
    expected = pm.gate("qrels.jsonl", "lsa.jsonl", None, "bm25.jsonl", drop, significant=True).rules
    for baseline in (
        "one.json",
        {"bm25": "base.json"},
        {"bm25": made},
        pm.record("qrels.jsonl", "bm25.jsonl", "nDCG@10"),
    ):
        found = pm.gate("qrels.jsonl", "lsa.jsonl", None, baseline, drop, significant=True)
        assert found.rules == expected
    assert pm.gate("qrels.jsonl", "lsa.jsonl", None, "base.json", drop).rules[0].found == 0  # of this name
    line = "gate qrels.jsonl lsa.jsonl --max-drop nDCG@10=0.01 --baseline"
    for baseline in ("one.json", "bm25=base.json", "bm25.jsonl"):
        status, out, err = run_main(*line.split(), baseline)
        assert (status, "fell by 0.0530" in out, err) == (1, True, "")
    inputs = json.loads(run_main(*line.split(), "one.json", "--format", "json")[1])["provenance"]["inputs"]
    assert [(each["role"], each["path"]) for each in inputs][-1] == ("baseline", "one.json")
    status, _, err = run_main(*line.replace("lsa", "tfidf").split(), "base.json")
    known = "error: base.json: the record has the runs 'bm25', 'lsa'. Name one: NAME=FILE"
    assert (status, err.startswith(known)) == (2, True)
    qrels, run = {"record": {"a": 1}}, {"record": {"a": 1.0}}  # a query of that name is none
    assert pm.gate(qrels, run, None, run, {"RR": 0}).ok


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda it: it.update(created="now"), "", ""),
        (lambda it: it["runs"]["bm25"]["values"]["P@1"].__setitem__(0, 0.5), "", "record: it was edited aft"),
        (lambda it: it["versions"].update({"permed-measures": "0.0.1"}), "", "versions: made by version 0.0"),
        (
            lambda it: it["qrels"].update(judgments="0"),
            "",
            "qrels: the labels differ from those of the record",
        ),
        (
            lambda it: it["query_ids"].__setitem__(0, "other"),
            "",
            "queries: missing ['other'], new ['sample_01_",
        ),
        (dict, "--order list", "options: order was score, now it is list"),
        (dict, "--max-drop RR=0", "measures: it lacks RR, and has P@1, AP@10 (nDCG@10)"),
        (dict, "--max-drop AP@10=0", "measures: it lacks AP@10, and has P@1, AP@10 (nDCG@10)"),
        (dict, "--max-drop nDCG@10=1", ""),
    ],
)
def test_a_record_that_is_no_baseline_here_says_why(change, options, message, folder):  # noqa: ARG001
    content = pm.record("qrels.jsonl", "bm25.jsonl", {"P@1": "P@1", "AP@10": "nDCG@10"})
    change(content)
    if "edited" not in message:
        content["sha256"] = content.content_hash
    content.write("base.json")
    line = f"gate qrels.jsonl lsa.jsonl --max-drop P@1=0.5 --baseline base.json {options}"
    status, _, err = run_main(*line.split())
    assert (status, message in err) == (2 if message else 0, True), err
    assert not message or err.startswith("error: base.json: this cannot be the baseline: ")


@pytest.mark.parametrize(("n", "outcome"), [(5, "inconclusive"), (6, "failed")])
def test_the_same_change_of_6_queries_shows_that_it_is_one(n, outcome):
    """By chance 6 differences all have the same sign once in 32 times, and 5 once in 16."""
    found = pm.gate(labelled(n), ranked(n, n), None, ranked(n), {"RR": 0.1}, significant=True)
    assert [rule.outcome for rule in found.rules] == [outcome]
    found = pm.gate(labelled(n), ranked(n, n), {"RR": 0.6}, significant=True)
    assert [rule.outcome for rule in found.rules] == [outcome]


def test_an_interval_of_few_that_differ_is_wider_where_there_are_more_changes():
    differences, measures = np.zeros((40, 2)), list(map(pm.parse_measure, ["P@1", "RR"]))
    differences[:3] = 0.5
    reached = []
    for n in (1, 2):
        found = intervals_of_changes(measures[:n], differences[:, :n], np.arange(40))
        _, share = proportion_interval(np.repeat([1.0, 0.0], [3, 37]), np.arange(40), 1 - 0.05 / n)
        assert found[0].value == pytest.approx((-share, share))
        reached.append(share)
    assert reached == sorted(reached)


# --- the workflow of the guide ---------------------------------------------------------------------------

GUIDE = Path(__file__).parents[2] / "notebooks" / "guide" / "records.md"


def workflow():
    """Read the workflow of the guide, as GitHub does."""
    [text] = re.findall(r"^```yaml\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return yaml.safe_load(text)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Make a folder with the inputs of the workflow, where `permed-measures` is this package."""
    sample = SAMPLES[0]
    shutil.copy(sample.qrels, tmp_path / "labels.qrels")
    pm.record(tmp_path / "labels.qrels", {"run.trec": sample.runs["bm25"]}, "nDCG@10").write(
        tmp_path / "base.json"
    )
    shutil.copy(sample.runs["bm25"], tmp_path / "run.trec")
    program = tmp_path / "bin" / "permed-measures"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m permed_measures "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(program.parent), os.environ["PATH"]]))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    return tmp_path


def statuses(checkout):
    """Run the steps of the job after the installation as GitHub does; return their statuses."""
    [job] = workflow()["jobs"].values()
    [install, *steps] = [step for step in job["steps"] if "run" in step]
    assert install["run"].startswith("pip install ")
    found = {}
    for step in steps:
        if not any(found.values()) or step.get("if") == "always()":
            environment = os.environ | job["env"]
            command = ["bash", "-e", "-c", step["run"]]  # as GitHub runs a step
            found[step["name"]] = subprocess.run(
                command, cwd=checkout, env=environment, check=False
            ).returncode
    [upload] = [step for step in job["steps"] if "upload-artifact" in step.get("uses", "")]
    assert (upload["if"], (checkout / upload["with"]["path"]).exists()) == ("always()", found["Page"] == 0)
    return found


def test_the_rules_of_the_workflow_are_a_gate(checkout, monkeypatch):
    monkeypatch.chdir(checkout)
    [job] = workflow()["jobs"].values()
    status, out, _ = run_main("gate", *job["env"]["RULES"].split(), "--format", "markdown")
    assert status == 0
    assert out.startswith("Retrieval quality passed: 2 rules.\n")
    assert re.search(r"^\| ok \| nDCG@10 \| drop of at most 0.02 \| changed by 0.0000 \|", out, re.MULTILINE)


@pytest.mark.thorough
def test_the_workflow_of_the_guide_writes_a_summary_and_a_page_that_say_why(checkout):
    assert workflow()[True] == ["push", "pull_request"]  # what YAML 1.1 makes of the key `on`
    worse = {q: {"x": 1.0} for q in pm.read_run(SAMPLES[0].runs["bm25"])}
    pm.write_run(worse, checkout / "run.trec")
    assert statuses(checkout) == {"Gate": 1, "Page": 0}
    for name in ("summary.md", "gate.html"):
        assert "Retrieval quality failed: P@1, nDCG@10" in (checkout / name).read_text(encoding="utf-8")
    (checkout / "gate.html").unlink()
    (checkout / "labels.qrels").unlink()
    assert statuses(checkout) == {"Gate": 2, "Page": 1}
