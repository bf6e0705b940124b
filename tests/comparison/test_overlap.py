"""Rank-biased overlap: against its definition as a plain loop, and a number that others print."""

import json
import random

import pytest
from commands import run_cli, run_main

import permed_measures as pm
from permed_measures.comparison.overlap import rank_biased_overlap


def by_loop(first, second, p, deepest=3000):
    """Sum the agreement of both at each depth; below the end of a list it goes on as it was."""
    shorter, longer = sorted((first, second), key=len)
    s, l = len(shorter), len(longer)  # noqa: E741
    agreements = []
    for depth in range(1, deepest):
        at = min(depth, l)
        found = len({*shorter[:at]} & {*longer[:at]})
        if at > s:
            found += len({*shorter} & {*longer[:s]}) / s * (at - s)
        agreements.append(found / at)
    return sum((1 - p) * p ** (d - 1) * agreement for d, agreement in enumerate(agreements, start=1))


@pytest.mark.parametrize("p", [0.5, 0.9, 0.98])
def test_it_is_that_of_the_definition(p):
    rng = random.Random(p)
    for _ in range(60):
        pool = [f"d{n}" for n in range(rng.choice((3, 8, 30)))]
        first, second = (rng.sample(pool, rng.randint(1, len(pool))) for _ in range(2))
        expected = by_loop(first, second, p)
        assert rank_biased_overlap(first, second, p) == pytest.approx(expected, abs=1e-9)
        assert rank_biased_overlap(second, first, p) == pytest.approx(expected, abs=1e-9)


def test_it_is_1_for_the_same_ranking_0_for_others_and_none_without_documents():
    assert rank_biased_overlap("abcd", "abcd") == pytest.approx(1)
    assert rank_biased_overlap("abcd", "wxyz") == rank_biased_overlap("", "a") == 0
    assert rank_biased_overlap("", "") is None
    assert rank_biased_overlap("12345", "23415", 0.9) == pytest.approx(0.828, abs=5e-5)  # as others print it


QRELS = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}


def test_a_reranking_has_that_of_each_query_in_the_order_of_evaluation_and_the_mean():
    """Ties are broken by id, descending; what is not judged counts too."""
    before = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0, "b": 1.0}}
    after = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"b": 2.0, "a": 1.0}}
    result = pm.reranking(QRELS, before, after, "RR", persistence=0.5)
    assert result.overlaps == [pytest.approx(0.5), pytest.approx(1), None]
    assert result.overlap == pytest.approx(0.75)
    assert "rank-biased overlap: 0.7500 on average (p = 0.5)" in str(result)
    assert result.to_polars()["overlap"].to_list() == [pytest.approx(0.5), pytest.approx(1), None]
    with pytest.warns(pm.NoSharedQueryWarning):
        none = pm.reranking(QRELS, {"x": {"a": 1.0}}, {"x": {"a": 1.0}}, "RR", judged_only=True)
    assert (none.overlap, "overlap" in str(none)) == (None, False)


@pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")
@pytest.mark.parametrize("p", [0, 1, -0.1, 1.5, True, "0.9", float("nan")])
def test_p_is_a_number_between_0_and_1(p):
    with pytest.raises(pm.InputError, match="must be above 0 and below 1"):
        pm.reranking(QRELS, {"q1": {"a": 1.0}}, {"q1": {"a": 1.0}}, "RR", persistence=p)


def test_p_is_an_option_of_the_command():
    line = ("reranking", "permed-sample", "permed-sample/runs/bm25", "permed-sample/runs/lsa", "-m", "P@1")
    usual, deep = (
        json.loads(run_cli(*line, *words, "--format", "json")[0])["rank_biased_overlap"]
        for words in ((), ("--rbo-p", "0.98"))
    )
    assert (usual["p"], deep["p"]) == (0.9, 0.98)
    assert usual["mean"] != deep["mean"]
    status, _, stderr = run_main(*line, "--rbo-p", "1")
    assert (status, "must be above 0 and below 1 (found 1.0)" in stderr) == (2, True)
