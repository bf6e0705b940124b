"""Rows of random runs: a true convention is never refuted, and of wrong ones many are."""

import random
from collections import Counter

import pytest
from effort import effort
from limit_rows import COLUMNS, outcomes, random_qrels

import permed_measures as pm
from permed_measures.datasets.samples import SAMPLES

QRELS = {
    "binary": lambda: random_qrels(random.Random(1), 60, 1, 20),
    "graded": lambda: random_qrels(random.Random(2), effort(8, 20), 2, 6),
    **{sample.name: lambda sample=sample: pm.read_qrels(sample.qrels) for sample in SAMPLES},
}


def check(counts, at_least):
    true, wrong = Counter(), Counter()
    for (made, taken, verdict), n in counts.items():
        (true if made == taken else wrong)[verdict] += n
    assert not true["refuted"]
    assert true["not refuted"], true
    assert wrong["refuted"] >= at_least * sum(wrong.values()), wrong


@pytest.mark.parametrize("name", QRELS)
def test_a_true_convention_is_not_refuted_and_wrong_ones_mostly_are(name):
    check(outcomes(QRELS[name](), effort(2, 3), COLUMNS[3], 3), 0.4 if name == "binary" else 0)


@pytest.mark.thorough
def test_with_more_columns_more_is_refuted():
    check(outcomes(QRELS["binary"](), 2, COLUMNS[6], 5), 0.8)
