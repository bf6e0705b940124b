"""Means by group of queries."""

import math
import random
import re
import warnings
from collections import defaultdict

import ir_datasets
import oracle
import pandas as pd
import pytest
from cases import random_case
from commands import run_cli

import permed_measures as pm
from permed_measures.datasets import SAMPLES
from permed_measures.engine.groups import Groups

GROUPED = {
    "GradedAP(max_rel=4)@5": ("GradedAP", {"cutoff": 5, "max_rel": 4}),
    "P@3": ("P", {"cutoff": 3}),
    "RR": ("RR", {}),
    "NumQ": ("NumQ", {}),
    "NumRet": ("NumRet", {}),
}


def plain_means(qrels, run, group_of):
    """Return the means by group, by plain loops over the independent implementation."""
    groups = defaultdict(list)
    for query_id in qrels:
        if group_of(query_id) is not None:
            groups[group_of(query_id)].append(query_id)
    means = {}
    for group, query_ids in groups.items():
        part = {query_id: qrels[query_id] for query_id in query_ids}
        means[group] = {
            pm.parse_measure(text): oracle.aggregate(name, params, part, run)
            for text, (name, params) in GROUPED.items()
        }
    return means


def first_letter(query_id):
    return query_id[0]


def length(query_id):
    return len(query_id) if len(query_id) < 4 else None


@pytest.mark.parametrize(
    ("group_of", "forms"),
    [
        (first_letter, [first_letter, "^(.)"]),
        (length, [length]),
        (lambda query_id: (re.findall("[0-9]", query_id) or [None])[0], ["([0-9])"]),
    ],
)
@pytest.mark.parametrize("seed", range(25))
def test_means_by_group_are_those_of_plain_loops(seed, group_of, forms):
    rng = random.Random(seed)
    qrels, run = random_case(rng)
    expected = plain_means(qrels, run, group_of)
    for by in [*forms, {query_id: group_of(query_id) for query_id in qrels}]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pm.PermedWarning)
            if isinstance(by, str) and qrels and not expected:
                with pytest.raises(pm.InputError, match="finds nothing in any query id"):
                    pm.evaluate_by(list(GROUPED), qrels, run, by=by)
                continue
            found = pm.evaluate_by(list(GROUPED), qrels, run, by=by)
        assert list(found) == sorted(expected)
        for group, means in expected.items():
            assert found[group] == pytest.approx(means, abs=1e-9)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pm.PermedWarning)
            macro = pm.evaluate_by(list(GROUPED), qrels, run, by=by, macro=True)
        for measure, value in macro.items():
            values = [means[measure] for means in expected.values()]
            assert value == pytest.approx(sum(values) / len(values) if values else math.nan, nan_ok=True)


def test_by_conversation_medcorpus_scores_higher_than_by_turn(data):
    labels = data / "medcorpus" / "query_to_texts.jsonl"
    qrels, run = pm.read_qrels(labels), pm.read_run(labels)
    by_conversation = pm.evaluate_by("GradedAP@10", qrels, run, "^(.*)_[0-9]+$", macro=True)
    assert by_conversation == {pm.GradedAP @ 10: pytest.approx(0.54024827526, abs=1e-11)}
    [value] = pm.calc_aggregate(["GradedAP@10"], qrels, run).values()
    assert value == pytest.approx(0.535731969113, abs=1e-12)


def test_counts_are_added_up_in_a_group_and_absent_queries_score_0():
    qrels = {"a_1": {"d": 1}, "a_2": {"d": 1}, "b_1": {"e": 0}}
    run = {"a_1": {"d": 2.0, "x": 1.0}, "b_1": {"e": 1.0}}
    found = pm.evaluate_by(["NumQ", "NumRet", "NumRel", "P@1"], qrels, run, by="^(.)")
    values = {group: list(means.values()) for group, means in found.items()}
    assert values == {"a": [2, 2, 2, 0.5], "b": [1, 1, 0, 0]}


def test_groups_without_judged_queries_are_left_out_with_a_warning():
    qrels, run = {"q1": {"d": 1}}, {"q1": {"d": 1.0}}
    by = {"q1": "x", **{f"q{n}": f"g{n}" for n in range(2, 9)}}
    with pytest.warns(
        pm.PermedWarning, match=r"^group: no query of 7 groups is judged \(g2, g3, g4, g5, g6, …\); left out$"
    ):
        assert pm.evaluate_by("RR", qrels, run, by=by) == {"x": {pm.parse_measure("RR"): 1}}


def test_queries_in_no_group_are_warned_about():
    qrels = {"a_1": {"d": 1}, "b": {"d": 1}, "c": {"d": 1}}
    with pytest.warns(
        pm.PermedWarning, match=r"^_\(1\): 2 judged queries are in no group, and count in none$"
    ):
        found = pm.evaluate_by("RR", qrels, {"a_1": {"d": 1.0}}, by="_(1)")
    assert list(found) == ["1"]
    with pytest.warns(pm.PermedWarning, match="^group: 1 judged query is in no group"):
        pm.evaluate_by("RR", qrels, {"a_1": {"d": 1.0}}, by={"a_1": 1, "b": 1, "c": None})


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("turn_numbr", "Did you mean 'turn_number'?"),
        (
            "turn_numbr",
            "queries can be grouped by one of conversation_id, turn_number, or a pattern with one",
        ),
        ("turn_numbr", "(found 'turn_numbr', a pattern with 0 groups)"),
        ("text", "(found 'text', a pattern with 0 groups)"),
        ("(a)(b)", "(found '(a)(b)', a pattern with 2 groups)"),
        ("(a", "(found '(a', not a pattern: "),
        ("(nowhere)", "the pattern '(nowhere)' finds nothing in any query id (such as 'sample_01_1')"),
    ],
)
def test_what_queries_cannot_be_grouped_by_is_said(by, message):
    dataset = ir_datasets.load("permed-sample")
    with pytest.raises(pm.InputError) as error:
        pm.evaluate_by("RR", dataset, {"sample_01_1": {"sample-032": 1.0}}, by=by)
    assert message in str(error.value)


def test_without_a_data_set_the_message_says_that_fields_need_one():
    with pytest.raises(pm.InputError) as error:
        pm.evaluate_by("RR", {"q": {"d": 1}}, {"q": {"d": 1.0}}, by="turn_number")
    assert "Fields such as turn_number need a data set as qrels" in str(error.value)
    run = SAMPLES[0].runs["bm25"]
    with pytest.raises(pm.InputError):
        run_cli("evaluate", SAMPLES[0].qrels, run, "--by", "turn_number")


@pytest.mark.parametrize(
    "values",
    [
        ["1", "2", "10"],
        ["t2", "t10", "t10b", "u1"],
        [1, 2, 10],
        [-1, 0.5, 2],
        ["a", "b", 1, 2],
        [False, True],
        ["", "0", "a"],
        ["1", "a²", "²"],
        ["x①", "①"],
        [(1, 2), (1, 10)],
    ],
)
def test_groups_stand_in_natural_order(values):
    ids = [f"q{n}" for n in range(len(values))]
    by = dict(zip(ids, values, strict=True))
    shuffled = random.Random(1).sample(ids, len(ids))
    groups = Groups.of(shuffled, by)
    expected = values if "²" not in values and "①" not in values else groups.values
    assert groups.values == expected
    assert sorted(map(str, groups.values)) == sorted(map(str, values))
    assert groups.sizes == [1] * len(values)
    assert groups.n_outside == 0
    assert [groups.values[group] for group in groups.group] == [by[query_id] for query_id in shuffled]


def test_a_missing_group_is_none():
    qrels = {"a": {"d": 1}, "b": {"d": 1}, "c": {"d": 1}}
    by = pd.Series({"a": 1.0, "b": float("nan"), "c": float("nan")})
    with pytest.warns(pm.PermedWarning, match="2 judged queries are in no group"):
        assert list(pm.evaluate_by("RR", qrels, {"a": {"d": 1.0}}, by)) == [1.0]


@pytest.mark.parametrize("by", ["(a){99999999999}", "(" * 5000, 5, lambda _: []])
def test_what_cannot_be_a_group_is_refused(by):
    with pytest.raises(pm.InputError):
        pm.evaluate_by("RR", {"a": {"d": 1}}, {"a": {"d": 1.0}}, by)
