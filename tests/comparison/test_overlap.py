"""Rank-biased overlap: against its definition as a plain loop, and a number that others print."""

import base64
import json
import random
import re
import zlib

import ir_measures
import pytest
from commands import run_cli, run_main

import permed_measures as pm
from permed_measures.comparison.overlap import rank_biased_overlap
from permed_measures.datasets import SAMPLES


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
    assert [query.overlap for query in result.queries] == [pytest.approx(0.5), pytest.approx(1), None]
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


# --- on the page of a comparison -----------------------------------------------------------------------


def queries_of(page):
    """Return what a page knows of the queries."""
    packed = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))["queries"]


def overlaps_of(page):
    """Return the mean overlap of each pair of runs, and that of each query."""
    queries = queries_of(page)
    names = queries["runs"]
    return {(names[first], names[second]): rest for first, second, *rest in queries["overlaps"]}


def ranked(run, query_id):
    scores = run.get(query_id, {})
    return sorted(scores, key=lambda doc: (scores[doc], doc), reverse=True)


@pytest.mark.parametrize(("p", "baseline"), [(0.9, None), (0.5, "lsa")])
def test_a_page_of_compare_has_the_overlap_of_each_pair_by_query_and_the_mean(p, baseline):
    comparison = pm.compare("permed-sample", SAMPLES[0].runs, "P@1", baseline, resamples=9, persistence=p)
    found, runs = overlaps_of(comparison.to("html")), {n: pm.read_run(f) for n, f in SAMPLES[0].runs.items()}
    assert [*found] == comparison.paired.pairs
    for (run, other), (mean, values) in found.items():
        expected = [
            by_loop(ranked(runs[run], query_id), ranked(runs[other], query_id), p, deepest=400)
            for query_id in comparison.paired.query_ids
        ]
        assert values == pytest.approx(expected, abs=1e-6)
        assert mean == pytest.approx(sum(expected) / len(expected), abs=1e-9)
        by_reranking = pm.reranking("permed-sample", runs[other], runs[run], "P@1", persistence=p).overlap
        assert mean == pytest.approx(by_reranking, abs=1e-12)


def test_a_page_has_the_overlap_of_documents_below_those_that_it_shows():
    deep = {"q1": {f"d{n}": -float(n) for n in range(40)}}
    other = {"q1": {f"d{n}": -float(n + 40 * (n == 20)) for n in range(40)}}
    page = pm.compare({"q1": {"d1": 1}, "q2": {"d1": 1}}, {"a": deep, "b": other}, "P@1").to("html")
    [(mean, [of_query, none])] = overlaps_of(page).values()
    assert none is None  # no run has a document
    assert of_query == pytest.approx(by_loop(*(ranked(run, "q1") for run in (deep, other)), 0.9), abs=1e-6)
    assert mean == pytest.approx(of_query, abs=1e-6)
    assert 0.9 < of_query < 1


def test_a_page_has_no_overlap_of_a_run_that_is_not_known_or_of_too_many_pairs():
    run = {"q1": {"a": 1.0}}
    once = iter([scored("q1", "b"), scored("q1", "a")])
    page = pm.compare(QRELS, {"one": run, "two": run, "once": once}, "P@1").to("html")
    assert overlaps_of(page) == {("two", "one"): [1.0, [1.0, None, None]]}
    many = {f"run{n}": run for n in range(7)}
    assert overlaps_of(pm.compare(QRELS, many, "P@1", resamples=9).to("html")) == {}
    against = pm.compare(QRELS, many, "P@1", "run3", resamples=9)
    assert [*overlaps_of(against.to("html"))] == against.paired.pairs


def scored(query_id, doc_id):
    return ir_measures.ScoredDoc(query_id, doc_id, 1.0)


def test_p_is_an_option_of_the_page(tmp_path):
    line = ["compare", "permed-sample", "permed-sample/runs", "-m", "P@1", "--resamples", "9"]
    means = {}
    for p in ("0.5", "0.98"):
        run_cli(*line, "--rbo-p", p, "--output", tmp_path / "page.html")
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert queries_of(page)["persistence"] == float(p)
        means[p] = overlaps_of(page)["tfidf", "bm25"][0]
    assert means["0.5"] != means["0.98"]
    status, _, stderr = run_main(*line, "--rbo-p", "1", "--format", "html")
    assert (status, "must be above 0 and below 1 (found 1.0)" in stderr) == (2, True)
    status, _, stderr = run_main(*line, "--rbo-p", "0.5")
    assert (status, "--rbo-p needs a page. Such as --output page.html" in stderr) == (2, True)
    with pytest.raises(pm.InputError, match="must be above 0 and below 1"):
        pm.compare(QRELS, {"a": {}, "b": {}}, "P@1", persistence=2)
