"""Runs that several tests of comparisons use."""

import pytest

import permed_measures as pm
from permed_measures.datasets import SAMPLES

MEDICAL, _ = SAMPLES


@pytest.fixture(scope="module")
def sample_runs():
    return {name: pm.read_run(path) for name, path in MEDICAL.runs.items()}


@pytest.fixture(scope="module")
def sample_qrels():
    return pm.read_qrels(MEDICAL.qrels)
