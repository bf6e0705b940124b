"""The packaged sample, and a comparison of its runs."""

import ir_datasets
import pytest

import permed_measures as pm
from permed_measures.datasets import SAMPLES


@pytest.fixture(scope="session")
def dataset():
    return ir_datasets.load("permed-sample")


@pytest.fixture(scope="session")
def sample_runs():
    return {name: pm.read_run(path) for name, path in SAMPLES[0].runs.items()}


@pytest.fixture(scope="session")
def sample(dataset, sample_runs):
    """Return a comparison of every pair, by turn, with conversations as clusters."""
    how = {"resamples": 499, "by": "turn_number", "tests": ("t-test", "wilcoxon", "randomization")}
    return pm.compare(dataset, sample_runs, ["nDCG@10", "GradedAP@10", "P@1"], **how)
