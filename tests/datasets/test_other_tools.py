"""Our data sets in ir_datasets, PyTerrier and the command line."""

import json
import subprocess
import sys
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


@pytest.mark.thorough
def test_ir_datasets_exports_and_looks_up_the_sample():
    code = "import permed_measures, ir_datasets; ir_datasets.main_cli()"

    def output(*arguments):
        return subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
        ).stdout

    first = json.loads(output("export", "permed-sample", "queries", "--format", "jsonl").splitlines()[0])
    assert first["query_id"] == "sample_01_1"
    assert first["text"].startswith("Do SGLT2 inhibitors")
    assert output("lookup", "permed-sample", "sample-001").startswith("sample-001\tTeledermatology")


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


@pytest.mark.parametrize("labels_file", [True, False])
def test_a_query_without_judgments_counts_in_a_data_set_as_in_its_file(tmp_path, labels_file):
    lines = [
        {"query_id": f"t_turn_{n}", "query": "?", **({} if labels_file else {"ground_truth": documents})}
        for n, documents in ((1, ["a"]), (2, []))
    ]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, lines)))
    if labels_file:
        (tmp_path / "query_to_texts.jsonl").write_text(
            '{"query_id": "t_turn_1", "relevant_texts": ["a"]}\n'
            '{"query_id": "t_turn_2", "relevant_texts": []}\n'
        )
    dataset = pm.datasets.from_folder(tmp_path, f"edge-{labels_file}")
    run = {"t_turn_1": {"a": 1.0}, "t_turn_2": {"a": 1.0}}
    [value] = pm.calc_aggregate(["AP"], dataset, run).values()
    assert value == 0.5
    [one, two] = pm.evaluate_by("AP", dataset, run, "turn_number").values()
    assert (*one.values(), *two.values()) == (1.0, 0.0)
    (tmp_path / "run.jsonl").write_text(
        "".join(json.dumps({"query_id": q, "results": [{"text_id": "a"}]}) + "\n" for q in run)
    )
    _, stdout, _ = run_main("evaluate", tmp_path, tmp_path / "run.jsonl", "-m", "AP", "--format", "json")
    assert json.loads(stdout)[0]["metrics"]["AP"] == 0.5


def test_qrels_that_ir_datasets_filters_have_no_file_in_the_provenance(tmp_path):
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
