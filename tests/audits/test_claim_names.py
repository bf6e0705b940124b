"""Names of claims: loose ones, and measures that are written out."""

import pytest
from audit_helpers import graded

import permed_measures as pm
from permed_measures.papers.claims import parse_claims

ANY_DEPTH = (None, 10, 100, 1000)


LOOSE = [
    ("ndcg", "nDCG", ANY_DEPTH),
    ("NDCG_cut_10", "nDCG", (10, None)),
    ("nDCG@10", "nDCG", (10, None)),
    ("MAP@10", "AP", (10, None)),
    (" p@5 ", "P", (5,)),
    ("recall_20", "R", (20,)),
    ("mrr", "RR", ANY_DEPTH),
    ("MRR@10", "RR", (10, None)),
    ("coverage 10", "Success", (10,)),
    ("nDCG (10)", "nDCG", (10, None)),
    ("MAP@all", "AP", (None,)),
    ("NDCG@10 (%)", "nDCG", (10, None)),
    ("P@1 (%) ↑", "P", (1,)),
    ("hit@10%", "Success", (10,)),
    ("Accuracy@1", "Success", (1,)),
    ("cosine_accuracy@1", "Success", (1,)),
    ("ndcg_burges@10", "nDCG", (10, None)),
    ("R_cap@10", "R", (10,)),
    ("nDCG\uff20\uff11\uff10", "nDCG", (10, None)),
    ("P@1\uff08%\uff09", "P", (1,)),
    ("**MAP@10**", "AP", (10, None)),
    ("Top-5 accuracy", "Success", (5,)),
    ("NDCG@1k", "nDCG", (1000, None)),
    ("MRR@10(dev)", "RR", (10, None)),
    ("Precision (k=10)", "P", (10,)),
    ("准确率\uff2010", "P", (10,)),
    ("精确率@5\uff08%\uff09", "P", (5,)),
    ("归一化折损累计增益@10 ↑", "nDCG", (10, None)),
    ("前10命中率", "Success", (10,)),
    ("F1@10", "F1", ((10, 10),)),
    ("F-measure (20)", "F1", ((20, 20),)),
    ("F1", "F1", tuple((k, k) for k in (10, 1, 3, 5, 20, 50, 100))),
]


@pytest.mark.parametrize(("name", "measure", "cutoffs"), LOOSE)
def test_loose_names_are_read(name, measure, cutoffs):
    [[claim]] = parse_claims([{name: "0.5"}])
    assert (claim.name, claim.measure, claim.cutoffs, claim.is_fixed) == (name, measure, cutoffs, False)


@pytest.mark.parametrize(
    "name",
    [
        "VariantNDCG(negative='keep')@10",
        "VariantNDCG(discount='zipf')",
        "GradedAP(norm='ideal')@10",
        "AP(rel=2)@10",
        "P(judged_only=True)@5",
        "Rprec",
        "QMeasure@10",
        "RBP(rel=1,p=0.5)@20",
        "IPrec@0.1",
        "Judged@10",
        "NumRet",
        ("bpref", "Bpref"),
        ("R-Prec", "Rprec"),
        ("qmeasure@10", "QMeasure@10"),
        ("gradedap(norm='ideal')@10", "GradedAP(norm='ideal')@10"),
        ("Q度量@10", "QMeasure@10"),
    ],
)
def test_measures_that_are_written_out_are_taken_as_they_are(name):
    qrels, run = graded(2)
    name, typed = name if isinstance(name, tuple) else (name, name)
    measure = pm.parse_measure(typed)
    [value] = pm.calc_aggregate([measure], qrels, run).values()
    text = f"{value:.0f}" if typed.startswith("Num") else f"{value:.4f}"
    result = pm.audit(qrels, run, {name: text})
    [trial] = result.trials
    assert trial.claim.is_fixed
    assert result.answers[0].changes == []
    assert trial.value(result.answers[0].options) == pytest.approx(value, abs=1e-12)
    assert trial.measure(result.answers[0].options) == str(measure)
