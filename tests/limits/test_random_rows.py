"""Rows of random runs: a true convention is never refuted."""

import random
from collections import Counter

import pytest
from effort import effort
from simulations.possible import random_qrels, random_run, true_rows

import permed_measures as pm


@pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")
def test_a_row_that_a_run_has_is_never_refuted_by_the_convention_it_was_made_by():
    rng, counts = random.Random(11), Counter()
    while counts.total() < effort(3, 25):
        qrels = random_qrels(rng, rng.choice((1, 5, 20)), rng.choice((1, 2, 3)), rng.choice((3, 8)))
        for row in true_rows(rng, qrels, [random_run(rng, qrels)]):
            assert not row.refuted, row
            counts[row.refuted] += 1
    assert counts[False] > 0.9 * counts.total()


def test_a_row_with_a_sum_above_1_is_read_as_it_stands():
    """The sum of precisions is 3 where three relevant documents are first: no percentage, as P@1 is none."""
    qrels = {f"q{i}": {"a": 1, "b": 1, "c": 1} for i in range(4)}
    [row] = pm.possible(qrels, {"P@1": "1.0000", "MAP@10": "3.0000"}).rows
    assert {each.convention["denominator"] for each in row.said(False)} == {"none"}
