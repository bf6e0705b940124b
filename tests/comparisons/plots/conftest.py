"""Fixtures of the plots."""

import sys

import pytest
from plotting import CONVERSATION, TURN

import permed_measures as pm
from permed_measures.comparisons.compare import compare
from permed_measures.datasets import SAMPLES


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="module")
def sample():
    """Return qrels, runs, and a comparison of the packaged sample."""
    qrels = pm.read_qrels(SAMPLES[0].qrels)
    runs = {name: pm.read_run(path) for name, path in SAMPLES[0].runs.items()}
    compared = compare(qrels, runs, pm.MEDCORPUS, baseline="bm25", clusters=CONVERSATION, tests=(), by=TURN)
    return qrels, runs, compared
