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
def test_engine_gives_the_value_worked_by_hand(case, text, expected):
    [value] = pm.calc_aggregate([text], case["qrels"], scored(case["run"])).values()
    assert value == pytest.approx(expected, abs=1e-12), case["arithmetic"]


@pytest.mark.parametrize(("case", "text", "expected"), VALUES)
def test_oracle_gives_the_value_worked_by_hand(case, text, expected):
    measure = pm.parse_measure(text)
    value = oracle.aggregate(measure.NAME, measure.params, case["qrels"], scored(case["run"]))
    assert value == pytest.approx(expected, abs=1e-12), case["arithmetic"]
