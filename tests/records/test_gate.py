"""Gates: floors, drops below a run or a record, significance, rules in files, summaries."""

import json

import numpy as np
import pytest
from commands import run_main
from scipy import stats

import permed_measures as pm

CONVERSATION = "^(.*)_"


@pytest.mark.usefixtures("folder")
def test_floors_and_drops():
    means = {name: pm.calc_aggregate(["nDCG@10"], "qrels.jsonl", f"{name}.jsonl") for name in ("bm25", "lsa")}
    [before], [after] = (list(each.values()) for each in means.values())
    for floor, drop, expected in ((after, before - after, True), (after + 1e-9, 1, False), (0, 0.05, False)):
        found = pm.gate("qrels.jsonl", "lsa.jsonl", {"nDCG@10": floor}, "bm25.jsonl", {"nDCG@10": drop})
        assert found.ok is expected
        assert [rule.found for rule in found.rules] == [after, pytest.approx(before - after, abs=1e-15)]
    assert pm.gate("qrels.jsonl", "bm25.jsonl", None, "lsa.jsonl", {"nDCG@10": 0.0}).ok


@pytest.mark.usefixtures("folder")
def test_a_record_is_as_good_as_the_run():
    pm.record("qrels.jsonl", "bm25.jsonl", ["nDCG@10", "P@1"]).write("base.json")
    rules = {"nDCG@10": 0.01, "P@1": 0.2}
    how = {"significant": True, "clusters": CONVERSATION, "resamples": 999}
    by_run, by_record = (
        pm.gate("qrels.jsonl", "lsa.jsonl", None, baseline, rules, **how)
        for baseline in ("bm25.jsonl", "base.json")
    )
    assert by_run == by_record
    with pytest.raises(pm.MeasureError, match=r"base.json: this record has no RR \(it has nDCG@10, P@1\)"):
        pm.gate("qrels.jsonl", "lsa.jsonl", None, "base.json", {"RR": 0.1})
    qrels = pm.read_qrels("qrels.jsonl")
    qrels.pop("sample_01_1")
    with pytest.raises(
        pm.InputError, match=r"base.json: this record cannot be compared: query_ids: it was made"
    ):
        pm.gate(qrels, "lsa.jsonl", None, "base.json", {"P@1": 0.1})
    pm.record("qrels.jsonl", {"a": "bm25.jsonl", "b": "lsa.jsonl"}, "P@1").write("two.json")
    with pytest.raises(pm.InputError, match=r"must have one run \(found 2\)"):
        pm.gate("qrels.jsonl", "lsa.jsonl", None, "two.json", {"P@1": 0.1})


def exact_p(change, cluster):
    """Return the two-sided p-value over all signs of whole clusters."""
    sums = [change[np.array(cluster) == each].sum() for each in sorted(set(cluster))]
    means = [
        abs(sum(s if number >> k & 1 else -s for k, s in enumerate(sums))) for number in range(2 ** len(sums))
    ]
    return np.mean([each >= abs(sum(sums)) - 1e-12 for each in means])


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_a_drop_counts_with_a_small_p_only(depth):
    queries = [f"c{c}_{t}" for c in range(8) for t in range(2)]
    qrels = {q: {"a": 1} for q in queries}
    before = {q: {"a": 9.0} for q in queries}
    worse = queries[: 4 * depth]
    after = {q: {"a": 9.0, **({"b": 10.0} if q in worse else {})} for q in queries}
    change = np.array([-0.5 if q in worse else 0.0 for q in queries])
    p = exact_p(change, [q[:2] for q in queries])
    how = {"significant": True, "clusters": CONVERSATION}
    found = pm.gate(qrels, after, None, before, {"RR": 0.01}, **how)
    [rule] = found.rules
    assert rule.ok == (p >= 0.05)
    few = "" if depth > 2 else ", those that differ give none below 0.05"
    assert rule.note == f"p = {p:.4f}{few}"
    assert ("does not show that it is small" in found.about) == rule.ok
    assert not pm.gate(qrels, after, None, before, {"RR": 0.01}).ok


def labelled(n, document="a"):
    """Return qrels of n queries with one relevant document."""
    return {f"q{number}": {document: 1} for number in range(n)}


def ranked(n, n_wrong=0):
    """Return a run that has the relevant document second in the first queries."""
    return {f"q{i}": {"a": 1.0, **({"b": 2.0} if i < n_wrong else {})} for i in range(n)}


@pytest.mark.parametrize("n", [2, 5, 6, 7])
def test_a_test_that_no_drop_can_fail_is_refused(n):
    how = {"baseline": ranked(n), "max_drop": {"RR": 0.0}, "significant": True}
    if 2 / 2**n >= 0.05:
        with pytest.raises(
            pm.InputError, match=rf"no drop can be significant: the smallest p.* is {2 / 2**n:.4f}"
        ):
            pm.gate(labelled(n), ranked(n, n), **how)
    else:
        assert not pm.gate(labelled(n), ranked(n, n), **how).ok
    with pytest.raises(pm.InputError, match=r"of \d+ independent units and 19 resamples is"):
        pm.gate(labelled(n), ranked(n, n), resamples=19, **how)


@pytest.mark.parametrize(("n_wrong", "margin"), [(0, 0.0), (1, 0.02), (1, 0.15), (10, 0.13), (10, 0.25)])
def test_non_inferior_needs_an_interval_within_the_margin(n_wrong, margin):
    n = 40
    change = np.array([-0.5] * n_wrong + [0.0] * (n - n_wrong))
    [rule] = pm.gate(
        labelled(n), ranked(n, n_wrong), None, ranked(n), {"RR": margin}, non_inferior=True
    ).rules
    if n_wrong == 0:
        assert (rule.ok, rule.note) == (True, "every query is as before")
        return
    half = stats.t.ppf(0.975, n - 1) * change.std(ddof=1) / np.sqrt(n)
    assert rule.ok == (change.mean() - half >= -margin) == (margin in (0.15, 0.25))
    assert rule.note == f"[{change.mean() - half:+.4f}, {change.mean() + half:+.4f}]"
    assert pm.gate(labelled(n), ranked(n, n_wrong), None, ranked(n), {"RR": 0.13}).ok


def test_a_record_that_cannot_be_compared_is_refused():
    qrels, run = labelled(8), ranked(8, 4)
    rules = {"max_drop": {"RR": 0.5}}
    made = pm.record(qrels, {"base": ranked(8)}, "RR")
    assert pm.gate(qrels, run, baseline=made, **rules).ok
    edited = json.loads(json.dumps(made))
    edited["runs"][0]["values"]["RR"] = [0.1] * 8
    others = {
        "it was edited": type(made)(edited),
        "it was made with other labels": pm.record(
            {q: {**docs, "b": 1} for q, docs in qrels.items()}, {"base": ranked(8)}, "RR"
        ),
        "it was made with other queries": pm.record(labelled(9), {"base": ranked(9)}, "RR"),
        "options.order: recorded 'list', computed 'score'": pm.record(qrels, {"x": run}, "RR", order="list"),
    }
    for message, other in others.items():
        with pytest.raises(pm.InputError, match=message):
            pm.gate(qrels, run, baseline=other, **rules)
        with pytest.raises(pm.InputError, match=message):
            pm.leaderboard(qrels, {"x": other}, "RR")
    listed = others["options.order: recorded 'list', computed 'score'"]
    assert pm.gate(qrels, run, baseline=listed, order="list", **rules).ok


def test_numbers_are_compared_as_they_are_printed():
    """A floor is met by a mean that is printed like it; no message has two equal numbers and FAILED."""
    for n in range(1, 100, 4):
        mean = 1 - 0.5 * n / 99
        qrels, run = labelled(99), ranked(99, n)
        for digits in (1, 2, 3, 4, 6, 17):
            floor = round(mean, digits)
            [rule] = pm.gate(qrels, run, {"RR": floor}).rules
            expected = mean >= floor - 1e-9 or round(mean, max(4, digits)) >= floor
            assert rule.ok == expected
            assert rule.ok or float(rule.said) < floor
    assert pm.gate(labelled(3), ranked(2), {"RR": 0.6667}).ok
    assert pm.gate(labelled(3), ranked(2), {"RR": 0.66667}).ok
    assert not pm.gate(labelled(3), ranked(2), {"RR": 0.66668}).ok
    assert not pm.gate(labelled(3), ranked(2), {"RR": 0.6668}).ok


def test_a_rise_is_no_drop():
    found = pm.gate(labelled(4), ranked(4), None, ranked(4, 2), {"RR": 0.0})
    assert (found.ok, found.rules[0].said, found.rules[0].found) == (True, "rose by 0.2500", -0.25)
    found = pm.gate(labelled(4), ranked(4, 2), None, ranked(4), {"RR": 0.0})
    assert (found.ok, found.rules[0].said) == (False, "fell by 0.2500")
    assert pm.gate(labelled(4), ranked(4), None, ranked(4), {"RR": 0.0}).rules[0].said == "changed by 0.0000"


@pytest.mark.usefixtures("folder")
def test_a_test_of_any_framework_can_hold_it():
    pm.assert_no_regression("qrels.jsonl", "bm25.jsonl", "lsa.jsonl", {"nDCG@10": 0.01})
    with pytest.raises(AssertionError) as caught:
        pm.assert_no_regression("qrels.jsonl", "lsa.jsonl", "bm25.jsonl", {"nDCG@10": 0.01}, {"P@1": 0.1})
    assert "nDCG@10  drop of at most 0.01  fell by 0.0530  FAILED" in str(caught.value)
    assert "P@1      at least 0.1          0.5000          ok" in str(caught.value)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "there is no rule"),
        ({"max_drop": {"RR": 0.1}}, "max_drop needs a baseline"),
        ({"minimum": {"RR": 0.1}, "baseline": "lsa.jsonl"}, "a baseline needs max_drop"),
        ({"minimum": {"RR": "high"}}, "min.RR must be a number (found 'high')"),
        ({"minimum": {"RR": 0.1}, "seed": -1}, "seed must be at least 0 (found -1)"),
        ({"baseline": "lsa.jsonl", "max_drop": {"RR": -1}}, "max-drop.RR must be at least 0 (found -1)"),
        ({"minimum": {"RR": 0.1}, "significant": True}, "a test is of a drop below a baseline"),
        (
            {"baseline": "lsa.jsonl", "max_drop": {"RR": 1}, "significant": True, "non_inferior": True},
            "significant and non_inferior exclude each other",
        ),
        ({"minimum": {"RRR": 0.1}}, "RRR"),
    ],
)
def test_rules_that_cannot_be(options, message):
    with pytest.raises(pm.PermedError) as caught:
        pm.gate("qrels.jsonl", "bm25.jsonl", **options)
    assert message in str(caught.value)


def test_the_command(folder, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "step.md"))
    (folder / "step.md").write_text("before\n")
    line = "gate qrels.jsonl lsa.jsonl --min nDCG@10=0.5 --baseline bm25.jsonl --max-drop P@1=0.1"
    status, out, err = run_main(*line.split(), "--summary", "mine.md")
    assert (status, err) == (1, "")
    assert out.startswith("Retrieval quality failed: P@1.\n")
    assert "drop of at most 0.1  fell by 0.1458  FAILED" in out
    assert (folder / "step.md").read_text() == "before\n" + (folder / "mine.md").read_text()
    assert "| P@1 | drop of at most 0.1 | fell by 0.1458 | FAILED |" in (folder / "mine.md").read_text()
    status, out, _ = run_main(*line.replace("P@1=0.1", "P@1=0.2").split(), "--format", "json")
    assert (status, json.loads(out)["passed"]) == (0, True)
    for wrong in ("nDCG@10", "=0.5", "nDCG@10=high"):
        status, _, err = run_main("gate", "qrels.jsonl", "lsa.jsonl", "--min", wrong)
        assert (status, f"a rule is MEASURE=X, such as nDCG@10=0.8 (found {wrong!r})" in err) == (2, True)


def test_rules_in_a_file(folder):
    rules = 'baseline = "bm25.jsonl"\nmin = {"nDCG@10" = 0.7}\nmax-drop = {"P@1" = 0.2}\n'
    (folder / "rules.toml").write_text(rules)
    (folder / "pyproject.toml").write_text(f"[tool.permed-measures.gate]\n{rules}")
    by_file = run_main("gate", "qrels.jsonl", "lsa.jsonl", "--rules", "rules.toml")
    by_project = run_main("gate", "qrels.jsonl", "lsa.jsonl")
    assert by_file[:2] == by_project[:2]
    assert by_file[0] == 1
    assert by_project[2] == "note: rules of [tool.permed-measures.gate] in pyproject.toml\n"
    assert run_main("gate", "qrels.jsonl", "lsa.jsonl", "--rules", "rules.toml", "--min", "P@1=0.1")[0] == 0
    for text, message in {
        "mim = 1": "mim is no field that is known here. Did you mean 'min'?",
        "min = 1": "min must be an object (found 1)",
        "min = {RR = nan}": "min.RR must be a number (found nan)",
        "max-drop = {RR = true}": "max-drop.RR must be a number (found True)",
        'significant = "false"': "significant must be true or false (found 'false')",
        "clusters = 5": "clusters must be a text (found 5)",
        "tool = 5": "tool must be an object (found 5)",
        "[tool]\npermed-measures = []": "permed-measures must be an object (found [])",
        "min =": "this is no TOML file",
    }.items():
        (folder / "bad.toml").write_text(text)
        status, _, err = run_main("gate", "qrels.jsonl", "lsa.jsonl", "--rules", "bad.toml")
        assert (status, f"bad.toml: {message}" in err) == (2, True)
    (folder / "pyproject.toml").write_text("[tool.other]\n")
    assert "there is no table [tool.permed-measures.gate]" in run_main("gate", "qrels.jsonl", "lsa.jsonl")[2]
