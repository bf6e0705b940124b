"""The published numbers of MedCorpus and LitSearch."""

import subprocess
import sys

import pytest

import permed_measures as pm

PUBLISHED = {
    "keyword": ("0.0112", "0.1583"),
    "bm25": ("0.0534", "0.5683"),
    "neural_embedding": ("0.0529", "0.5844"),
    "single_llm": ("0.0570", "0.5456"),
    "scholarloop_a": ("0.0625", "0.6592"),
}


@pytest.mark.thorough
def test_medcorpus_numbers_are_made_by_the_standard_of_permed(data):
    labels = data / "medcorpus" / "query_to_texts.jsonl"
    claims = {"NDCG@10": 0.9044, "MAP@10": 0.5357, "P@1": 0.9279}
    result = pm.audit(pm.read_qrels(labels), pm.read_run(labels), claims)
    assert (result.ok, result.conflicts) == (True, [])
    answer = result.answers[0]
    assert (answer.name, answer.changes) == ("PerMed standard", [])
    measures = ["VariantNDCG(negative='keep')@10", "GradedAP@10", "P@1"]
    assert [trial.measure_string(answer.convention) for trial in answer.trials] == measures
    values = [trial.value(answer.convention) for trial in answer.trials]
    assert values == pytest.approx([0.904408875772, 0.535731969113, 0.927906976744])
    assert " ".join(str(result).split()).startswith(
        "Certain: nDCG@10 with exponential gains (2^g - 1), log2 discount, ideal from the qrels, negative "
        "grades kept; AP@10 with weights g/2, divided by R; P@1; averaged over all 3,440 queries of the "
    )
    equivalents = {str(setting): values for setting, values in answer.equivalents.items()}
    assert equivalents["denominator"] == ["num_rel", "min", "num_rel_ret", "min_returned"]
    assert equivalents["cutoff of MAP@10"] == [10, None]
    assert not {"negative", "gain"} & equivalents.keys()
    alike = result.report().data()["makes_no_difference"]["denominator of AP"]
    assert alike == [
        "the number of relevant documents",
        "the smaller of the number of relevant documents and the cutoff",
        "the number of relevant documents found within the cutoff",
        "the smaller of the number of relevant documents and of those returned",
    ]


def test_litsearch_numbers_are_explained_by_the_default(data):
    folder = data / "litsearch"
    runs = {name: pm.read_run(folder / "runs" / f"{name}.jsonl") for name in PUBLISHED}
    claims = {name: dict(zip(("P@10", "R@20"), texts, strict=True)) for name, texts in PUBLISHED.items()}
    result = pm.audit(folder / "query_to_texts.jsonl", runs, claims)
    assert (result.ok, result.conflicts) == (True, [])
    assert (result.answers[0].name, result.answers[0].changes) == ("ir_measures", [])
    frame = result.to_polars()
    assert frame["measure"].to_list() == ["P@10", "R@20"] * 5
    assert frame["printed"].to_list() == frame["published"].to_list()
    assert str(result).startswith("Certain: P@10; R@20; averaged over all 597 queries of the qrels.\n")


SIX = """
import resource, sys, time
import permed_measures as pm
from permed_measures.auditing.audit import audit
def used():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before, start = used(), time.process_time()
claims = {"NDCG@10": "0.3783", "NDCG@20": "0.3931", "NDCG@30": "0.3931", "P@5": "0.1189", "P@10": "0.0595"}
str(audit(*sys.argv[1:], {**claims, "MAP": "0.5796"}))
print(used() - before, time.process_time() - start)
"""


@pytest.mark.thorough
def test_six_claims_take_seconds_and_little_memory(data):
    """Run in its own process: 0.1 GB, and 2 s of CPU time on a quiet machine."""
    files = (data / "litsearch" / each for each in ("query_to_texts.jsonl", "runs/bm25.jsonl"))
    command = [sys.executable, "-c", SIX, *map(str, files)]
    megabytes, seconds = map(float, subprocess.check_output(command, text=True).split())
    assert megabytes < 500
    assert seconds < 15


@pytest.mark.thorough
def test_means_by_conversation_are_found_without_an_argument(data):
    qrels = pm.read_qrels(data / "medcorpus" / "query_to_texts.jsonl")
    run = {query: {doc: -rank for rank, doc in enumerate(docs)} for query, docs in qrels.items()}
    result = pm.audit(qrels, run, {"NDCG@10": "0.9054", "MAP@10": "0.5402", "P@1": "0.9290"})
    assert result.answers[0].named.name == "PerMed standard"
    [change] = result.answers[0].changes
    assert change.startswith("what is averaged: each conversation counts once")
