"""Numbers of other runs: over few queries they take few values, so a match is not proof."""

import random
from functools import cache

import numpy as np
import pytest
from audit_helpers import printed_as

import permed_measures as pm
from permed_measures.auditing.audit import audit_of
from permed_measures.auditing.false_matches import N_DRAWN, bootstrap_means, window_radii

NAMES = {"nDCG@10": "nDCG@10", "MAP@10": "AP@10", "P@1": "P@1", "hit@10": "Success@10"}


@cache
def systems(n_queries, n_runs=12):
    """Make qrels with one or two relevant documents each, and runs of about the same quality."""
    rng = random.Random(n_queries)
    qrels = {f"q{i}": {f"d{j}": 1 for j in range(rng.choice([1, 1, 1, 2]))} for i in range(n_queries)}
    runs = []
    for _ in range(n_runs):
        run = {}
        for query, docs in qrels.items():
            order = [f"x{j}" for j in range(20)]
            for doc in docs:
                if rng.random() < 0.6:
                    order.insert(min(int(rng.expovariate(0.4)), 19), doc)
            run[query] = {doc: -rank for rank, doc in enumerate(order)}
        runs.append(run)
    return qrels, runs


def row(qrels, run, names=NAMES):
    values = pm.calc_aggregate(list(names.values()), qrels, run).values()
    return {name: f"{value:.4f}" for name, value in zip(names, values, strict=True)}


@pytest.mark.thorough
@pytest.mark.parametrize("n_queries", [10, 50])
def test_numbers_of_another_run_are_not_certain(n_queries):
    qrels, runs = systems(n_queries)
    claims, n_misled = pm.audit(qrels, runs[0], row(qrels, runs[0])).trials, 0
    for other in runs[1:]:
        texts = row(qrels, other)
        result = audit_of([printed_as(claim, texts[claim.claim.name]) for claim in claims])
        assert result.verdict != "certain"
        n_misled += result.best[0].explained != [] and result.chance.of_numbers <= 0.001
    assert n_misled or n_queries > 10  # so many would have been, if all that can be printed were as likely


def test_numbers_of_the_run_itself_are_certain_over_enough_queries():
    qrels, runs = systems(50)
    assert pm.audit(qrels, runs[0], row(qrels, runs[0])).verdict == "certain"
    few, runs = systems(10)
    assert pm.audit(few, runs[0], row(few, runs[0], {"P@1": "P@1", "hit@10": "Success@10"})).verdict in (
        "may be chance",
        "likely",
    )


def test_they_go_in_the_steps_of_the_measure_and_scatter_as_numbers_nearby():
    qrels, runs = systems(400, 1)
    names = {"P@1": "P@1", "hit@1": "Success@1", "MAP@10": "AP@10", "R@5": "R@5"}
    result = pm.audit(qrels, runs[0], row(qrels, runs[0], names))
    main = result.best[0]
    reaches = window_radii(main.trials)
    drawn = bootstrap_means(main.convention, main.trials, reaches)
    assert drawn.shape == (N_DRAWN, 4)
    assert np.abs(drawn[:, 0] * 400 - np.round(drawn[:, 0] * 400)).max() < 1e-9
    assert (drawn[:, 0] == drawn[:, 1]).all()
    ours = [trial.value(main.convention) for trial in main.trials]
    assert np.abs(drawn.mean(axis=0) - ours).max() < 0.002
    wide = drawn.std(axis=0) / (reaches / 3**0.5)
    assert wide.min() == pytest.approx(1, abs=0.15)
    few, runs = systems(20)
    main = pm.audit(few, runs[0], row(few, runs[0])).best[0]
    drawn = bootstrap_means(main.convention, main.trials[:1], np.array([1e-9]))
    values = np.array([v.value for v in pm.iter_calc(["nDCG@10"], few, runs[0])])
    scatter = values.std() / 20**0.5  # that of the bootstrap
    assert drawn.std() == pytest.approx(scatter, rel=0.03)
    wider = bootstrap_means(main.convention, main.trials[:1], np.array([scatter * (3 * 1.7) ** 0.5]))
    assert wider.std() == pytest.approx(scatter * 1.7**0.5, rel=0.1)


@pytest.mark.thorough
def test_a_large_table_is_certain_though_many_selections_of_its_claims_could_be_explained():
    """For each run, three claims are explained and two are not: 12 of 20."""
    qrels, runs = systems(40)
    names = {f"P@{k}": f"P@{k}" for k in (1, 3, 5)}
    table = {
        str(n): {**row(qrels, run, names), "P@2": "0.98765", "P@4": "0.98765"}
        for n, run in enumerate(runs[:4])
    }
    result = pm.audit(qrels, dict(zip(table, runs, strict=False)), table)
    assert str(result).startswith("12 of 20 claims, certain: P@1, P@3 and P@5; averaged")
    assert result.chance.value < 1e-6
    assert "Not explained by it: 0, P@2; 0, P@4; 1, P@2 and 5 more" in str(result)
