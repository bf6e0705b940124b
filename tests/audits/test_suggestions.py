"""What to try next for claims that nothing explains."""

import pytest

import permed_measures as pm
from permed_measures.datasets import SAMPLES

RUN = pm.read_run(SAMPLES[0].runs["bm25"])
QRELS = pm.read_qrels(SAMPLES[0].qrels)


def row(run, *measures):
    values = pm.calc_aggregate(measures, QRELS, run).items()
    return {str(measure): f"{value:.4f}" for measure, value in values}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"R@5": "R@20"}, "R@5: {} is the value of R@20"),
        ({"P@5": "RR@5"}, "P@5: {} is the value of RR@5"),
    ],
)
def test_another_column_measure_or_cutoff_is_named(changed, said):
    run = RUN
    [(name, measure)] = changed.items()
    [text] = row(run, measure).values()
    result = pm.audit(QRELS, run, {**row(run, "nDCG@10", "AP@10", "P@1"), name: text})
    assert not result.ok
    first, *_, last = result.suggestions
    assert first.startswith(said.format(text))
    assert last.startswith("Or else another run")
    assert f"What to try next\n  {first}\n" in str(result)


def test_where_nothing_fits_the_data_may_be_others():
    nothing = pm.audit(QRELS, RUN, {"nDCG@10": "0.98765"})
    [line] = nothing.suggestions
    assert line.startswith("Try another run, labels of another version")
