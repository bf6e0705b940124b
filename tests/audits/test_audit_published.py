"""The published numbers of MedCorpus and LitSearch."""

import pytest
from audit_helpers import PUBLISHED, unwrapped

import permed_measures as pm


def test_medcorpus_numbers_are_made_by_the_standard_of_permed(medcorpus):
    assert medcorpus.ok
    assert medcorpus.conflicts == []
    answer = medcorpus.answers[0]
    assert (answer.name, answer.changes) == ("PerMed standard", [])
    assert [trial.measure(answer.options) for trial in answer.trials] == [
        "VariantNDCG(negative='keep')@10",
        "GradedAP@10",
        "P@1",
    ]
    assert [trial.shown(answer.options) for trial in answer.trials] == ["0.9044", "0.5357", "0.9279"]
    values = [trial.value(answer.options) for trial in answer.trials]
    assert values == pytest.approx([0.904408875772, 0.535731969113, 0.927906976744])
    assert " ".join(str(medcorpus).split()).startswith(
        "Certain: nDCG@10 with exponential gains (2^g - 1), log2 discount, ideal from the qrels, negative "
        "grades kept; AP@10 with weights g/2, divided by R; P@1; averaged over all 3,440 queries of the "
    )


def test_medcorpus_audit_says_what_makes_no_difference(medcorpus):
    equivalents = medcorpus.answers[0].equivalents()
    assert equivalents["denominator"] == ["num_rel", "min", "num_rel_ret"]
    assert equivalents["cutoff of MAP@10"] == [10, None]
    assert not {"negative", "gain"} & equivalents.keys()
    said = (
        "the number of relevant documents / the smaller of the number of relevant documents and the cutoff / "
        "the number of relevant documents found within the cutoff"
    )
    assert f"  denominator of AP: {said}\n" in unwrapped(medcorpus)


def test_litsearch_numbers_are_explained_by_the_default(litsearch):
    claims = {name: dict(zip(("P@10", "R@20"), texts, strict=True)) for name, texts in PUBLISHED.items()}
    qrels = litsearch["bm25"].qrels["grades"]
    result = pm.audit(qrels, {name: plain.run for name, plain in litsearch.items()}, claims)
    assert result.ok
    assert result.conflicts == []
    answer = result.answers[0]
    assert (answer.name, answer.changes) == ("ir_measures", [])
    assert "all 597 queries of the qrels" in answer.sentence()
    frame = result.to_polars()
    assert frame["measure"].to_list() == ["P@10", "R@20"] * 5
    assert frame["printed"].to_list() == frame["published"].to_list()
    assert str(result).startswith("Certain: P@10; R@20; averaged over all 597 queries of the qrels.\n")


@pytest.mark.thorough
def test_means_by_conversation_are_found_without_an_argument(data):
    qrels = pm.read_qrels(data / "medcorpus" / "query_to_texts.jsonl")
    run = {query: {doc: -rank for rank, doc in enumerate(docs)} for query, docs in qrels.items()}
    result = pm.audit(qrels, run, {"NDCG@10": "0.9054", "MAP@10": "0.5402", "P@1": "0.9290"})
    assert result.answers[0].named.name == "PerMed standard"
    [change] = result.answers[0].changes
    assert change.startswith("query set: conversations, each being the mean over its")
