"""Gates: floors, and drops below a run."""

import json

import pytest
from commands import run_main

import permed_measures as pm


def labelled(n):
    """Return qrels of n queries with one relevant document."""
    return {f"q{number}": {"a": 1} for number in range(n)}


def ranked(n, n_wrong=0):
    """Return a run that has the relevant document second in the first queries."""
    return {f"q{i}": {"a": 1.0, **({"b": 2.0} if i < n_wrong else {})} for i in range(n)}


def test_numbers_are_compared_as_they_are_printed():
    """A floor is met by a mean that is printed like it; no message has two equal numbers and FAILED."""
    for n in range(1, 100, 7):
        mean = 1 - 0.5 * n / 99
        qrels, run = labelled(99), ranked(99, n)
        for digits in (1, 2, 3, 4, 6, 17):
            floor = round(mean, digits)
            [rule] = pm.gate(qrels, run, {"RR": floor}).rules
            assert rule.ok == (mean >= floor - 1e-9 or round(mean, max(4, digits)) >= floor)
            assert rule.ok or float(rule.said) < floor
    floors = (0.6667, 0.66667, 0.66668, 0.6668)
    met = [pm.gate(labelled(3), ranked(2), {"RR": floor}).ok for floor in floors]
    assert met == [True, True, False, False]


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
    assert (rule.ok, rule.said, rule.found) == (ok, said, 0.125 * (n_wrong - n_before))


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
        ({"minimum": {"RR": "high"}}, "minimum of RR must be a number (found 'high')"),
        ({"minimum": {"RR": float("nan")}}, "minimum of RR must be a number (found nan)"),
        (
            {"baseline": "lsa.jsonl", "max_drop": {"RR": -1}},
            "max_drop of RR must be a number of at least 0 (found -1)",
        ),
        ({"minimum": {"RRR": 0.1}}, "RRR"),
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
    assert "drop of at most 0.1  fell by 0.1458  FAILED" in out
    status, out, _ = run_main(*line.replace("P@1=0.1", "P@1=0.2").split(), "--format", "json")
    assert (status, json.loads(out)["passed"]) == (0, True)
    of_rule = "a rule is MEASURE=X, such as nDCG@10=0.8 (found {!r})"
    for options, message in {
        "": "there is no rule to check. Give --min MEASURE=X, or --baseline FILE with --max-drop",
        "--max-drop P@1=0.1": "--max-drop needs --baseline. Name a run",
        "--min nDCG@10": of_rule.format("nDCG@10"),
        "--min =0.5": of_rule.format("=0.5"),
        "--min nDCG@10=high": of_rule.format("nDCG@10=high"),
    }.items():
        status, _, err = run_main("gate", "qrels.jsonl", "lsa.jsonl", *options.split())
        assert (status, err.startswith(f"error: {message}")) == (2, True), err
