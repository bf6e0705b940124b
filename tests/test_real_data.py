"""The published numbers of MedCorpus and LitSearch, from their own files, by every way to ask for them."""

import json

import ir_measures
import pytest
from commands import run_cli

import permed_measures as pm

MEDCORPUS = {
    "VariantNDCG(negative='keep')@10": 0.904408875772,
    "nDCG(dcg='exp-log2')@10": 0.904480022705,
    "GradedAP@10": 0.535731969113,
    "P@1": 0.927906976744,
    "Coverage@10": 0.992151162791,
    "GradedAP(norm='ideal')@10": 0.870289924365,
    "AP@10": 0.859530358141,
    "AP(rel=2)@10": 0.622167166452,
    "nDCG@10": 0.912389639717,
}
LITSEARCH = {
    "keyword": (0.0112, 0.1583),
    "bm25": (0.0534, 0.5683),
    "neural_embedding": (0.0529, 0.5844),
    "single_llm": (0.0570, 0.5456),
    "scholarloop_a": (0.0625, 0.6592),
}


@pytest.fixture(scope="module")
def labels(data):
    return data / "medcorpus" / "query_to_texts.jsonl"


@pytest.mark.parametrize("calc_aggregate", [ir_measures.calc_aggregate, pm.calc_aggregate])
def test_medcorpus_labels_in_file_order_have_the_published_numbers(labels, calc_aggregate):
    qrels, run = pm.read_qrels(labels), pm.read_run(labels)
    assert len(qrels) == 3440
    assert sum(grade == -1 for docs in qrels.values() for grade in docs.values()) == 18
    values = calc_aggregate([pm.parse_measure(text) for text in MEDCORPUS], qrels, run)
    for text, expected in MEDCORPUS.items():
        assert values[pm.parse_measure(text)] == pytest.approx(expected, abs=1e-9)


def test_medcorpus_by_the_command_line(labels):
    options = [part for text in MEDCORPUS for part in ("-m", text)]
    stdout, _ = run_cli("evaluate", labels, f"Retrieved={labels}", *options, "--format", "json")
    [content] = json.loads(stdout)
    assert content["run"] == "Retrieved"
    assert content["metrics"] == pytest.approx(MEDCORPUS, abs=1e-9)
    assert content["judged"] == {"Judged@10": 1, "Judged@1": 1}
    assert content["ceilings"]["GradedAP@10"] == pytest.approx(0.6076, abs=5e-5)
    assert content["queries"] == {"judged": 3440, "in_run": 3440, "without_relevant": 27, "ignored": 0}


@pytest.mark.parametrize("calc_aggregate", [ir_measures.calc_aggregate, pm.calc_aggregate])
def test_litsearch_runs_have_the_published_numbers(data, calc_aggregate):
    folder = data / "litsearch"
    qrels = pm.read_qrels(folder / "query_to_texts.jsonl")
    assert len(qrels) == 597
    for name, (precision, recall) in LITSEARCH.items():
        run = pm.read_run(folder / "runs" / f"{name}.jsonl")
        values = calc_aggregate([ir_measures.P @ 10, ir_measures.R @ 20], qrels, run)
        assert round(values[ir_measures.P @ 10], 4) == precision
        assert round(values[ir_measures.R @ 20], 4) == recall


def test_trec_eval_s_own_files_are_read(data):
    folder = data / "trec_eval"
    qrels = pm.read_qrels(folder / "qrels.test")
    assert list(qrels) == ["301", "302", "303"]
    assert len(pm.read_qrels(folder / "qrels.test.with-comments")["301"]) == len(qrels["301"])
    truncated = pm.read_run(folder / "results.trunc")
    assert {query_id: len(docs) for query_id, docs in truncated.items()} == {"301": 500, "303": 84}
