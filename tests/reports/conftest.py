"""Comparisons of the sample and of hostile names."""

import ir_datasets
import pytest
from browsing import chromium

import permed_measures as pm
from permed_measures.comparisons.compare import compare
from permed_measures.datasets import SAMPLES

MEDICAL = SAMPLES[0]


@pytest.fixture(scope="session")
def dataset():
    return ir_datasets.load("permed-sample")


@pytest.fixture(scope="session")
def sample_runs():
    return {name: pm.read_run(path) for name, path in MEDICAL.runs.items()}


@pytest.fixture(scope="session")
def sample(dataset, sample_runs):
    """Return a comparison of every pair, by turn, with conversations as clusters."""
    tests = ("t-test", "wilcoxon", "randomization")
    how = {"resamples": 499, "by": "turn_number", "tests": tests}
    return compare(dataset, sample_runs, ["nDCG@10", "GradedAP@10", "P@1"], **how)


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return what saves a page of a comparison, once for each name."""
    folder, paths = tmp_path_factory.mktemp("pages"), {}

    def save(name, result):
        if name not in paths:
            paths[name] = folder / f"{name}.html"
            paths[name].write_text(result.to("html"), encoding="utf-8")
        return paths[name]

    return save
