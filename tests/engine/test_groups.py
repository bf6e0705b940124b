"""Means by group of queries."""

import math
import random
import re
import time
from collections import defaultdict
from types import SimpleNamespace

import ir_datasets
import ir_measures
import numpy as np
import oracle
import pandas as pd
import pytest
from hypothesis import given
from strategies import CASES

import permed_measures as pm
from permed_measures.engine.groups import Groups, clusters_of

GROUPED = {
    "GradedAP(max_rel=4)@5": ("GradedAP", {"cutoff": 5, "max_rel": 4}),
    "RR": ("RR", {}),
    "NumQ": ("NumQ", {}),
    "NumRet": ("NumRet", {}),
}


def plain_means(qrels, run, group_of):
    """Return the means by group, by plain loops over the independent implementation."""
    groups = defaultdict(dict)
    for query_id in qrels:
        if group_of(query_id) is not None:
            groups[group_of(query_id)][query_id] = qrels[query_id]
    return {
        group: {
            pm.parse_measure(text): oracle.aggregate(name, params, part, run)
            for text, (name, params) in GROUPED.items()
        }
        for group, part in groups.items()
    }


def length(query_id):
    return len(query_id) if len(query_id) < 4 else None


@pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")
@pytest.mark.parametrize(
    ("group_of", "form"),
    [
        (lambda query_id: query_id[0], "^(.)"),
        (length, length),
        (lambda q: (re.findall("[0-9]", q) or [None])[0], "([0-9])"),
    ],
)
@given(case=CASES)
def test_means_by_group_are_those_of_plain_loops(case, group_of, form):
    qrels, run = case
    expected = plain_means(qrels, run, group_of)
    for by in (form, {query_id: group_of(query_id) for query_id in qrels}):
        if isinstance(by, str) and qrels and not expected:
            with pytest.raises(pm.InputError, match="finds nothing in any query id"):
                pm.evaluate_by(list(GROUPED), qrels, run, by=by)
            continue
        found = pm.evaluate_by(list(GROUPED), qrels, run, by=by)
        assert list(found) == sorted(expected)
        for group, means in expected.items():
            assert found[group] == pytest.approx(means, abs=1e-9)
        macro = pm.evaluate_by(list(GROUPED), qrels, run, by=by, macro=True)
        for measure, value in macro.items():
            values = [means[measure] for means in expected.values()]
            assert value == pytest.approx(sum(values) / len(values) if values else math.nan, nan_ok=True)


def test_means_of_a_group_are_to_the_last_bit_those_of_its_queries_alone():
    rng = np.random.default_rng(0)
    qrels = {f"q{n}": {f"d{d}": int(rng.integers(0, 3)) for d in range(5)} for n in range(400)}
    run = {query_id: {f"d{d}": rng.random() for d in range(8)} for query_id in qrels}
    by = {query_id: rng.choice(["a", "b", "c"], p=[0.6, 0.3, 0.1]) for query_id in list(qrels)[:350]}
    measures = ["nDCG@5", "GradedAP", "NumRet"]
    with pytest.warns(pm.PermedWarning, match="50 judged queries belong to no group"):
        found = pm.evaluate_by(measures, qrels, run, by=by)
    for group, means in found.items():
        alone = {query_id: qrels[query_id] for query_id in qrels if by.get(query_id) == group}
        assert means == pm.calc_aggregate(measures, alone, run)
    assert pm.evaluate_by(measures, qrels, run, by=lambda _: "all")["all"] == pm.calc_aggregate(
        measures, qrels, run
    )


def test_the_time_grows_with_the_number_of_groups_and_not_faster():
    def seconds(n_groups):
        group = np.tile(np.arange(n_groups), 40)
        groups = Groups("group", list(range(n_groups)), group, [])
        evaluation = SimpleNamespace(measures=[ir_measures.P @ 1], values=np.ones((1, len(group))))
        times = []
        for _ in range(3):
            start = time.process_time()
            groups.means(evaluation)
            times.append(time.process_time() - start)
        return min(times)

    assert seconds(8_000) / seconds(500) < 50  # 16 times as many: 100 times as long, were all queries masked


QUERIES = {"a_1": {"d": 1}, "b": {"d": 1}, "c": {"d": 1}}
ONE_IN_NO_GROUP = "group: 1 judged query belongs to no group and is left out"


@pytest.mark.parametrize(
    ("by", "found", "warning"),
    [
        (
            {**dict.fromkeys(QUERIES, "x"), **{f"q{n}": n for n in range(7)}},
            ["x"],
            "group: 7 groups have no judged query and are left out: 0, 1, 2, 3, 4 and 2 more",
        ),
        ("_(1)", ["1"], "_(1): 2 judged queries belong to no group and are left out"),
        ({"a_1": 1, "b": 1, "c": None}, [1], ONE_IN_NO_GROUP),
        (pd.Series({"a_1": 1.0, "b": math.nan, "c": 1.0}), [1.0], ONE_IN_NO_GROUP),
    ],
)
def test_groups_without_queries_and_queries_without_a_group_are_warned_about(by, found, warning):
    with pytest.warns(pm.PermedWarning, match=f"^{re.escape(warning)}$"):
        assert list(pm.evaluate_by("RR", QUERIES, {"a_1": {"d": 1.0}}, by=by)) == found


@pytest.mark.parametrize(
    ("qrels", "by", "message"),
    [
        ("permed-sample", "turn_numbr", "grouped by one of conversation_id, turn_number, or a pattern"),
        ("permed-sample", "turn_numbr", "a pattern with 0 groups). Did you mean 'turn_number'?"),
        ("permed-sample", "text", "(found 'text', a pattern with 0 groups)"),
        (QUERIES, "turn_number", "Fields such as turn_number need a data set as qrels"),
        (QUERIES, "(a", "(found '(a', not a pattern: "),
        (QUERIES, "(a){99999999999}", "not a pattern: "),
        (QUERIES, "(" * 5000, "not a pattern: "),
        (QUERIES, "(nowhere)", "the pattern '(nowhere)' finds nothing in any query id (such as 'a_1')"),
        (
            QUERIES,
            pd.Series([1, 2], ["b", "b"]),
            "query 'b': a query can be in one group only (found 1 and 2)",
        ),
        (QUERIES, {1: "x", "1": "y"}, "query '1': a query can be in one group only (found 'x' and 'y')"),
        (QUERIES, {"b": 1, 1.5: 1}, "an id must be a string or an integer (found 1.5)"),
        (QUERIES, 5, "by must be a field, a pattern, a mapping or a function (found 5)"),
        (QUERIES, lambda _: [], "a group must be a string or a number (found [])"),
        (QUERIES, lambda _: np.zeros(2), "a group must be a string or a number (found array([0., 0.]))"),
        (QUERIES, lambda _: pd.Series([1, 2]), "a group must be a string or a number (found 0    1"),
    ],
)
def test_what_queries_cannot_be_grouped_by_is_said(qrels, by, message):
    with pytest.raises(pm.InputError) as error:
        pm.evaluate_by("RR", qrels, {"sample_01_1": {"sample-032": 1.0}, "b": {"d": 1.0}}, by=by)
    assert message in str(error.value)


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_what_is_missing_is_no_group(missing):
    groups = Groups.of(["q1", "q2"], {"q1": "a", "q2": missing})
    assert (groups.values, groups.n_outside) == (["a"], 1)


def test_a_query_may_stand_several_times_in_its_group():
    """As in a column of a run."""
    by = pd.Series(["x", "x", math.nan, math.nan, "y"], ["q1", "q1", "q2", "q2", "q3"])
    groups = Groups.of(["q1", "q2", "q3"], by)
    assert (groups.values, groups.group.tolist()) == (["x", "y"], [0, -1, 1])


ORDERED = [["1", "2", "10"], ["t2", "t10", "t10b", "u1"], [-1, 0.5, 2], ["a", "b", 1, 2], ["", "0", "a"]]


@pytest.mark.parametrize("values", [*ORDERED, [False, True], ["1", "a²", "²"], [(1, 2), (1, 10)]], ids=str)
def test_groups_stand_in_natural_order(values):
    by = {f"q{n}": value for n, value in enumerate(values)}
    shuffled = random.Random(1).sample(list(by), len(by))
    groups = Groups.of(shuffled, by)
    assert groups.values == values
    assert groups.sizes == [1] * len(values)
    assert groups.n_outside == 0
    assert [groups.values[group] for group in groups.group] == [by[query_id] for query_id in shuffled]


@pytest.mark.parametrize(
    ("query_ids", "said"),
    [
        (["31_1", "31_2", "32_1"], "'31_1' and '31_2' are turns of one conversation"),
        (["32_1", "31_2", "31_10"], "'31_2' and '31_10' are turns of one conversation"),
        (["31_1", "32_1"], None),  # of no conversation there are two turns
        (["litsearch_1", "litsearch_2"], None),  # all would be one conversation
        (["31_1", "31_2", "32_1", "33"], None),
        (["31_1", "31_2", "32_a"], None),
        ([], None),
    ],
    ids=str,
)
def test_ids_that_look_like_turns_are_said_where_queries_count_as_independent(query_ids, said):
    name, cluster, notes = clusters_of(query_ids, None, None)
    assert (name, cluster.tolist()) == ("", [*range(len(query_ids))])
    assert [said in note for note in notes] == ([True] if said else [])
    assert clusters_of(query_ids, "none", None)[2] == []


def test_the_clusters_that_are_told_are_the_conversations_of_medcorpus(dataset_cache, monkeypatch):
    monkeypatch.setenv("IR_DATASETS_HOME", str(dataset_cache))
    dataset = ir_datasets.load("medcorpus")
    judged = [*dataset.qrels.asdict()]
    [note] = clusters_of(judged, None, None)[2]
    told = re.search("set clusters to '(.*)'", note)[1]
    by_id, by_pattern = (clusters_of(judged, by, dataset)[1] for by in (None, told))
    assert np.array_equal(by_id, by_pattern)


def test_queries_in_no_cluster_count_as_one_each_which_is_said():
    for known, said in ((["a", "a"], "2 of 4 queries are"), (["a", "a", "a"], "1 of 4 queries is")):
        clusters = dict(zip("wxy", known, strict=False))
        name, cluster, notes = clusters_of(list("wxyz"), clusters, None)
        assert (name, len({*cluster.tolist()})) == ("clusters", 5 - len(known))
        assert notes == [f"clusters: {said} in no cluster; each forms its own cluster"]


def test_groups_with_equal_texts_keep_the_order_of_the_queries():
    class Named:
        def __init__(self, place):
            self.place = place

        def __hash__(self):
            return self.place

        def __str__(self):
            return "the same"

    last, first, unused, other = (Named(place) for place in (3, 1, 9, 7))  # a set would sort them by place
    groups = Groups.of(["a", "b"], {"a": last, "b": first, "x": unused, "y": other})
    assert (groups.values, groups.empty) == ([last, first], [unused, other])
