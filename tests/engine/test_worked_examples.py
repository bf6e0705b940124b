"""Cases worked by hand, on the engine and on the oracle."""

import json
from pathlib import Path

import oracle
import pytest

import permed_measures as pm

CASES = json.loads((Path(__file__).parents[1] / "worked_examples.json").read_text())
VALUES = [
    pytest.param(case, text, expected, id=f"{case['name']}: {text}")
    for case in CASES
    for text, expected in case["expect"].items()
]


def scored(run):
    """Return a run with scores: a list of documents gets -1, -2, ..."""
    return {
        query_id: docs if isinstance(docs, dict) else {doc_id: -i for i, doc_id in enumerate(docs, start=1)}
        for query_id, docs in run.items()
    }


@pytest.mark.parametrize(("case", "text", "expected"), VALUES)
def test_engine_and_oracle_give_the_value_worked_by_hand(case, text, expected):
    measure, qrels, run = pm.parse_measure(text), case["qrels"], scored(case["run"])
    [value] = pm.calc_aggregate(measure, qrels, run).values()
    by_oracle = oracle.aggregate(measure.NAME, measure.params, qrels, run)
    assert (value, by_oracle) == pytest.approx((expected, expected), abs=1e-12), case["arithmetic"]
