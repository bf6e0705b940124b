"""PyTerrier finds the data sets, with and without an import of this package."""

import warnings

import pandas as pd
import pytest
from commands import run_python

import permed_measures as pm
from permed_measures.datasets import DATASET_IDS, SAMPLES

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pt = pytest.importorskip("pyterrier", reason="PyTerrier (extra 'terrier') is not installed")

from permed_measures.datasets.pyterrier import PermedDatasetProvider

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.mark.parametrize("provider", ["irds", "permed"])
def test_topics_qrels_and_documents_are_frames(provider):
    dataset = pt.get_dataset(f"{provider}:permed-sample")
    topics, qrels = dataset.get_topics("text"), dataset.get_qrels()
    assert len(topics) == 48
    assert topics["qid"].tolist()[:2] == ["sample_01_1", "sample_01_2"]
    assert topics["query"].str.len().gt(0).all()
    found = {}
    for row in qrels.itertuples():
        found.setdefault(row.qid, {})[row.docno] = row.label
    assert found == pm.read_qrels(SAMPLES[0].qrels)
    documents = list(dataset.get_corpus_iter(verbose=False))
    assert (len(documents), {*documents[0]}) == (157, {"docno", "title", "text"})
    assert list(dataset.get_corpus_iter(verbose=False, start=3, count=2)) == documents[3:5]
    texts = dataset.text_loader(["title", "text"])(pd.DataFrame({"docno": ["sample-001"]}))
    assert texts["title"][0].startswith("Teledermatology")


def test_the_provider_lists_its_data_sets():
    assert PermedDatasetProvider().list_dataset_names() == list(DATASET_IDS)


def test_its_data_set_is_taken_as_qrels():
    dataset, run = pt.get_dataset("irds:permed-sample"), pm.read_run(SAMPLES[0].runs["bm25"])
    assert pm.calc_aggregate(["AP"], dataset, run) == pm.calc_aggregate(["AP"], "permed-sample", run)
    assert pm.evaluate_by("AP", dataset, run, "turn_number").keys() == {1, 2, 3, 4, 5}


@pytest.mark.thorough
def test_the_entry_point_needs_no_import_of_the_package():
    code = """
import sys, warnings
warnings.simplefilter('ignore')
import pyterrier as pt
assert 'permed_measures' not in sys.modules
dataset = pt.get_dataset('permed:permed-sample')
print(len(dataset.get_qrels()), len(dataset.get_topics('text')), sum(1 for _ in dataset.get_corpus_iter()))
print(len(pt.get_dataset('permed:permed-sample/literature').get_topics('text')))
"""
    assert run_python(code) == "478 48 157\n20\n"


@pytest.mark.parametrize("name", ["permed:unknown", "permed:vaswani", "permed:"])
def test_an_unknown_name_is_a_key_error(name):
    with pytest.raises(KeyError, match="not found in provider 'permed'"):
        pt.get_dataset(name)
