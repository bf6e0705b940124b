"""Rows with a stated number of queries: they may be any subset of this size, and no other."""

import random

import pytest
from effort import effort

import permed_measures as pm
from permed_measures.conventions.ranking_variants import label_policies
from permed_measures.engine.judgments import Judgments
from permed_measures.feasibility.rows import Conventions
from permed_measures.published_tables.claims import parse_claims

TEN = {f"q{i}": {"a": 1, "b": 1} for i in range(10)}
ONE_LARGE = {f"q{i}": {f"d{j}": 1 for j in range(4 if i == 0 else 1)} for i in range(10)}
MEASURES = ["P@1", "AP@5", "nDCG@5", "R@5"]


def limits_of(qrels, claims, topics):
    """Return the limits of a row."""
    [row] = parse_claims([claims])
    conventions = Conventions(label_policies(Judgments.of(qrels)))
    [limits] = conventions.limits({"row": row}, {"row": topics})
    return limits


@pytest.mark.parametrize(
    ("qrels", "claims", "refuted", "not_refuted"),
    [
        (TEN, {"P@1": "0.3333"}, [1, 2, 4, 5, 7, 8, 10], [3, 6, 9, None]),
        (TEN, {"P@1": "0.2857"}, [3, 6, 8, 9, 10], [7, None]),
        (TEN, {"P@1": "0.3333", "hit@5": "0.5000"}, [3, 4, 9, 10], [6, None]),
        (TEN, {"P@1": "0.5000"}, [1, 3, 9], [2, 8, 10, None]),
        (ONE_LARGE, {"P@1": "0.75", "MAP@10": "0.56"}, [8, 10], [4, None]),
        (ONE_LARGE, {"P@1": "0.75", "MAP@10": "0.54"}, [4, 8, None], []),
    ],
)
def test_a_row_is_refuted_if_no_such_number_of_queries_has_it(qrels, claims, refuted, not_refuted):
    """0.3333 is a third of 3, 6 or 9 queries; without a stated number any of these is possible."""
    for topics in refuted + not_refuted:
        limits = limits_of(qrels, claims, topics)
        assert ("trec_eval, pytrec_eval" in limits.named(False)) is (topics in not_refuted), topics
        assert ("trec_eval, pytrec_eval" in limits.named(True)) is (topics in refuted), topics


def test_whether_the_run_lacks_queries_does_not_matter_then():
    assert limits_of(TEN, {"P@1": "0.3333"}, None).lacking
    assert not limits_of(TEN, {"P@1": "0.3333"}, 9).lacking
    assert not limits_of(TEN, {"P@1": "0.3333"}, 10).lacking


def test_counts_are_those_of_as_many_queries():
    limits = limits_of(TEN, {"P@1": "0.3333"}, 9)
    assert {each.ranges[0].total for each in limits.usual} == {9}
    assert [list(each.ranges[0].counts) for each in limits.usual] == [[3]] * len(limits.usual)


def test_means_over_some_of_the_queries_of_a_run_are_never_refuted():
    for seed in range(effort(4, 20)):
        rng = random.Random(seed)
        qrels = {
            f"q{i}": {f"d{j}": rng.choice([0, 1, 1]) for j in range(rng.randint(2, 6))} for i in range(9)
        }
        run = {query: {f"d{j}": rng.random() for j in range(8)} for query in qrels}
        some = rng.sample(sorted(qrels), rng.randint(1, 9))
        if not any(any(qrels[query].values()) for query in some):
            continue
        means = pm.calc_aggregate(
            [pm.parse_measure(each) for each in rng.sample(MEASURES, 2)],
            {query: qrels[query] for query in some},
            {query: run[query] for query in some},
        )
        claims = {str(measure): f"{value:.4f}" for measure, value in means.items()}
        limits = limits_of(qrels, claims, len(some))
        assert "ir_measures" not in limits.named(True), (seed, claims)
