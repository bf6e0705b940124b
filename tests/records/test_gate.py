"""Gates: floors, drops below a run or a record, significance, rules in files, summaries."""

import json

import numpy as np
import pytest
from commands import run_main

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
    with pytest.raises(
        pm.MeasureError, match=r"the record of the baseline has no RR \(it has nDCG@10, P@1\)"
    ):
        pm.gate("qrels.jsonl", "lsa.jsonl", None, "base.json", {"RR": 0.1})
    qrels = pm.read_qrels("qrels.jsonl")
    qrels.pop("sample_01_1")
    with pytest.raises(pm.InputError, match="other queries than the qrels"):
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


@pytest.mark.parametrize(("depth", "rope"), [(1, 0.0), (2, 0.0), (2, 0.1), (4, 0.0), (4, 0.2)])
def test_a_drop_counts_with_a_small_p_only(depth, rope):
    queries = [f"c{c}_{t}" for c in range(8) for t in range(2)]
    qrels = {q: {"a": 1} for q in queries}
    before = {q: {"a": 9.0} for q in queries}
    worse = queries[: 4 * depth]
    after = {q: {"a": 9.0, **({"b": 10.0} if q in worse else {})} for q in queries}
    change = np.array([-0.5 if q in worse else 0.0 for q in queries])
    p = exact_p(change + rope, [q[:2] for q in queries])
    how = {"significant": True, "rope": rope, "clusters": CONVERSATION}
    [rule] = pm.gate(qrels, after, None, before, {"RR": 0.01}, **how).rules
    assert rule.ok == (p >= 0.05 or -change.mean() <= rope)
    if -change.mean() > rope:
        assert rule.note.endswith(f"p = {p:.4f}")
    assert not pm.gate(qrels, after, None, before, {"RR": 0.01}).ok


@pytest.mark.usefixtures("folder")
def test_a_test_of_any_framework_can_hold_it():
    pm.assert_no_regression("qrels.jsonl", "bm25.jsonl", "lsa.jsonl", {"nDCG@10": 0.01})
    with pytest.raises(AssertionError) as caught:
        pm.assert_no_regression("qrels.jsonl", "lsa.jsonl", "bm25.jsonl", {"nDCG@10": 0.01}, {"P@1": 0.1})
    assert "nDCG@10  drop of at most 0.01  0.0530  FAILED" in str(caught.value)
    assert "P@1      at least 0.1          0.5000  ok" in str(caught.value)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "there is no rule"),
        ({"max_drop": {"RR": 0.1}}, "max_drop needs a baseline"),
        ({"minimum": {"RR": 0.1}, "baseline": "lsa.jsonl"}, "a baseline needs max_drop"),
        ({"minimum": {"RR": "high"}}, "minimum of RR must be a number (found 'high')"),
        ({"baseline": "lsa.jsonl", "max_drop": {"RR": -1}}, "max_drop of RR must be at least 0 (found -1)"),
        ({"minimum": {"RR": 0.1}, "rope": 0.1}, "rope needs significant"),
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
    assert "drop of at most 0.1  0.1458  FAILED" in out
    assert out.endswith("48 queries; failed: P@1\n")
    assert (folder / "step.md").read_text() == "before\n" + (folder / "mine.md").read_text()
    assert "| P@1 | drop of at most 0.1 | 0.1458 | ❌ |" in (folder / "mine.md").read_text()
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
        "mim = 1": "'mim' is no rule. Did you mean 'min'?",
        "min = 1": "min must be a table",
        "min =": "this is no TOML file",
    }.items():
        (folder / "bad.toml").write_text(text)
        status, _, err = run_main("gate", "qrels.jsonl", "lsa.jsonl", "--rules", "bad.toml")
        assert (status, message in err) == (2, True)
    (folder / "pyproject.toml").write_text("[tool.other]\n")
    assert "there is no table [tool.permed-measures.gate]" in run_main("gate", "qrels.jsonl", "lsa.jsonl")[2]
