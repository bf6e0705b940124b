"""What holds for every data set: ids, records, documentation, counts; and the packaged sample."""

import json
import re
from collections import defaultdict
from types import SimpleNamespace

import ir_datasets
import pytest
from data_files import evaluate, kept
from ir_datasets.datasets.base import FilteredQrels

import permed_measures as pm
from permed_measures.datasets import DATASET_IDS, SAMPLE_FOLDER, SAMPLES, catalogue, load
from permed_measures.datasets.readers import ConversationQuery, LitSearchDoc, LitSearchQuery, TitledDoc
from permed_measures.identification.user_function import load_function


def nested(qrels):
    found = defaultdict(dict)
    for query_id, doc_id, relevance in qrels:
        found[query_id][doc_id] = relevance
    return dict(found)


@pytest.mark.usefixtures("offline")
def test_the_sample_is_a_data_set(home):
    medical, literature = ir_datasets.load("permed-sample"), ir_datasets.load("permed-sample/literature")
    for dataset, sample in ((medical, SAMPLES[0]), (literature, SAMPLES[1])):
        assert nested(dataset.qrels_iter()) == pm.read_qrels(sample.qrels)
        assert {query.query_id for query in dataset.queries_iter()} == set(pm.read_qrels(sample.qrels))
        documents = list(dataset.docs_iter())
        assert len(documents) == dataset.docs_count() == 157
        assert dataset.docs_store().get(documents[9].doc_id) == documents[9]
        assert {qrel.doc_id for qrel in dataset.qrels_iter()} <= {document.doc_id for document in documents}
    assert (medical.queries_count(), medical.qrels_count()) == (48, 478)
    assert literature.queries_count() == 20
    assert len({query.conversation_id for query in medical.queries_iter()}) == 12
    assert ir_datasets.docs_parent_id("permed-sample/literature") == "permed-sample"
    assert kept(home)


@pytest.mark.usefixtures("offline")
def test_types_of_records_and_meanings_of_grades_are_told():
    medcorpus, litsearch = ir_datasets.load("medcorpus/turn/3"), ir_datasets.load("litsearch/broad")
    assert (medcorpus.queries_cls(), litsearch.queries_cls()) == (ConversationQuery, LitSearchQuery)
    assert (medcorpus.docs_cls(), litsearch.docs_cls()) == (TitledDoc, LitSearchDoc)
    assert litsearch.docs_count() == 64_183  # as it is published
    assert set(medcorpus.qrels_defs()) == {2, 1, 0, -1}
    assert "failed" in medcorpus.qrels_defs()[-1]
    assert set(litsearch.qrels_defs()) == {1}


@pytest.mark.parametrize("name", sorted({*DATASET_IDS, *catalogue.DATASETS}))
@pytest.mark.usefixtures("offline")
def test_each_data_set_is_documented(name):
    dataset = ir_datasets.load(name)
    assert name in DATASET_IDS
    assert dataset.dataset_id() == name
    assert {"pretty_name", "desc", "citation", "license", "data_access"} <= dataset.documentation().keys()
    assert all(isinstance(text, str) and text for text in dataset.documentation().values())
    assert dataset.queries_lang() == "en"
    assert dataset.docs_lang() in ("en", None)
    assert dataset.has_docs()
    assert dataset.has_queries()
    assert dataset.has_qrels()
    assert dataset.docs_namespace() == name.partition("/")[0]


def test_the_packaged_script_computes_map_with_weights_over_the_smaller_of_r_and_10():
    mean_ap = load_function(f"{SAMPLE_FOLDER / 'script.py'}:mean_ap")
    many = {"q": {f"d{number}": 1 + number % 2 for number in range(12)}, "none": {"d": 0}}
    ranked = {"q": {"d1": 9.0, "x": 8.0, "d2": 7.0}, "none": {"d": 1.0}}
    sample = pm.read_qrels(SAMPLES[0].qrels), pm.read_run(SAMPLES[0].runs["bm25"])
    for qrels, run in (sample, (many, ranked)):
        [value] = pm.calc_aggregate("GradedAP(norm='min')@10", qrels, run).values()
        assert mean_ap(qrels, run) == pytest.approx(value)


def test_what_is_no_data_set_with_qrels_is_refused():
    for name in ("msmarco-passage", "argsme/1.0"):
        with pytest.raises(pm.InputError, match=f"'{name}' of ir_datasets has no qrels"):
            pm.read_qrels(name)
    with pytest.raises(pm.InputError, match=r"'medcorpsu' is not the id .* Did you mean 'medcorpus'"):
        load("medcorpsu")


def test_ids_that_ir_datasets_has_to_download_are_an_error_without_network(monkeypatch):
    def fail(_):
        raise ConnectionError("no network")

    monkeypatch.setattr(ir_datasets, "load", fail)
    with pytest.raises(pm.InputError, match=r"qrels of 'clirmatrix/af' cannot be loaded .*\(no network\)"):
        pm.read_qrels("clirmatrix/af")


@pytest.mark.parametrize("reason", [OSError(5, "gone"), RuntimeError("All sources failed")])
def test_qrels_that_ir_datasets_cannot_load_are_one_clear_error(reason):
    def fail():
        raise reason

    with pytest.raises(
        pm.InputError, match=rf"the qrels of 'x' cannot be loaded .* \({re.escape(str(reason))}"
    ):
        pm.calc_aggregate("P@1", SimpleNamespace(qrels_iter=fail, dataset_id=lambda: "x"), {})


def test_qrels_that_ir_datasets_filters_are_named_by_their_id(tmp_path):
    qrels = FilteredQrels(ir_datasets.load("permed-sample").qrels_handler(), lambda: {"sample_01_1"})
    ir_datasets.registry.register("a-filtered-set", ir_datasets.Dataset(qrels))
    (tmp_path / "run.trec").write_text("sample_01_1 Q0 sample-032 1 1 t\n")
    content, _ = evaluate("a-filtered-set", tmp_path / "run.trec", "-m", "P@1")
    ir_datasets.registry._registered.pop("a-filtered-set")
    assert content["metrics"] == {"P@1": 1}
    assert '"a-filtered-set"' in json.dumps(content["provenance"])
