"""Fixtures: the packaged sample as PyTerrier has it, and the runs of three systems."""

import warnings

import ir_datasets
import pandas as pd
import pytest

import permed_measures as pm
from permed_measures.datasets import SAMPLES

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pt = pytest.importorskip("pyterrier", reason="PyTerrier (extra 'terrier') is not installed")
from pipelines import BM25, History


@pytest.fixture(scope="module")
def sample():
    qrels = pm.read_qrels(SAMPLES[0].qrels)
    runs = {name: pm.read_run(path) for name, path in SAMPLES[0].runs.items()}
    topics = pd.DataFrame({"qid": list(qrels), "query": "x"})
    return qrels, runs, topics


@pytest.fixture(scope="module")
def dataset():
    return ir_datasets.load("permed-sample")


@pytest.fixture(scope="module")
def topics(dataset):
    return pd.DataFrame(dataset.queries_iter()).rename(columns={"query_id": "qid", "text": "query"})


@pytest.fixture(scope="module")
def qrels():
    return pt.get_dataset("irds:permed-sample").get_qrels()


@pytest.fixture(scope="module")
def systems(dataset):
    documents = pd.DataFrame(dataset.docs_iter())
    bm25 = BM25(documents.assign(text=documents["title"] + " " + documents["text"])) % 20
    with_history = pt.apply.query(lambda turn: " ".join([*turn["history"], turn["query"]]))
    return {"bm25": bm25, "rewrite": with_history >> bm25, "rerank": bm25 >> History(3.0)}


@pytest.fixture(scope="module")
def runs(systems, topics):
    return {name: system(topics) for name, system in systems.items()}
