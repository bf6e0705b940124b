"""Our data sets in ir_datasets, PyTerrier and the command line."""

import json
import warnings

import ir_datasets
import pandas as pd
import pytest
from commands import run_main
from ir_datasets.datasets.base import FilteredQrels

import permed_measures as pm


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path_factory.mktemp("home")))


def test_pyterrier_loads_texts_and_its_data_set_is_taken_as_qrels():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pyterrier as pt
    dataset = pt.get_dataset("irds:permed-sample")
    texts = dataset.text_loader(["title", "text"])(pd.DataFrame({"docno": ["sample-001"]}))
    assert texts["title"][0].startswith("Teledermatology")
    run = pm.read_run(pm.datasets.SAMPLES[0].runs["bm25"])
    expected = pm.calc_aggregate(["AP"], ir_datasets.load("permed-sample"), run)
    assert pm.calc_aggregate(["AP"], dataset, run) == expected
    assert pm.evaluate_by("AP", dataset, run, "turn_number").keys() == {1, 2, 3, 4, 5}


def test_qrels_that_ir_datasets_filters_are_named_by_their_id(tmp_path):
    qrels = FilteredQrels(ir_datasets.load("permed-sample").qrels_handler(), lambda: {"sample_01_1"})
    ir_datasets.registry.register("a-filtered-set", ir_datasets.Dataset(qrels))
    (tmp_path / "run.trec").write_text("sample_01_1 Q0 sample-032 1 1 t\n")
    arguments = ("a-filtered-set", tmp_path / "run.trec", "-m", "P@1", "--format", "json")
    _, stdout, _ = run_main("evaluate", *arguments)
    ir_datasets.registry._registered.pop("a-filtered-set")
    content = json.loads(stdout)
    assert [*find(content, "P@1")] == [1.0]
    assert [*find(content, "dataset")] == ["a-filtered-set"]


def find(content, key):
    """Yield what stands under a key, wherever in JSON content."""
    for name, value in content.items() if isinstance(content, dict) else enumerate(content):
        if name == key:
            yield value
        elif isinstance(value, (dict, list)):
            yield from find(value, key)
