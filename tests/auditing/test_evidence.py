"""Each claim is evidence by its own queries, in any order of the claims, if not every run has its number."""

import random

import pytest
from audit_helpers import unwrapped
from effort import effort

import permed_measures as pm
from permed_measures.auditing import answers
from permed_measures.auditing.audit import audit_of
from permed_measures.auditing.measured_claims import MeasuredClaim


def random_data(seed, n_queries=40):
    """Make qrels, some without relevant documents, and a run that lacks queries and has short lists."""
    rng = random.Random(seed)
    grades = {f"q{i}": {f"d{j}": int(rng.random() < 0.2) for j in range(12)} for i in range(n_queries)}
    run = {
        query: {f"d{j}": rng.random() for j in rng.sample(range(30), rng.randint(1, 20))}
        for query in grades
        if rng.random() < 0.9
    }
    return grades, run


@pytest.mark.parametrize("names", [("Success@1", "Success@5"), ("Success@5", "Success@1"), ("P@1", "RR@1")])
def test_what_any_run_has_is_no_explanation(names):
    """Success@k over the queries with a relevant document in the top k is 1 for every run."""
    data = random_data(1)
    result = pm.audit(*data, dict.fromkeys(names, "1.0000"))
    assert result.verdict in ("none", "may be chance")


@pytest.mark.parametrize(("measure", "explained"), [("Success@3", False), ("P@3", True)])
def test_what_runs_differ_in_is_one_where_the_queries_with_a_hit_count(measure, explained):
    qrels, run = random_data(1)
    values = [each.value for each in pm.iter_calc([pm.parse_measure(measure)], qrels, run) if each.value]
    result = pm.audit(qrels, run, {measure: f"{sum(values) / len(values):.5f}"})
    assert result.ok == explained


@pytest.mark.parametrize("seed", range(effort(1, 2)))
def test_no_verdict_depends_on_the_order_of_the_claims(seed):
    """Each claim is a mean over its own queries: those with a hit within the cutoff."""
    qrels, run = random_data(seed, 20)
    rng = random.Random(seed)
    names = {"P@1": "P@1", "P@5": "P@5", "hit@2": "Success@2", "R@5": "R@5", "MRR": "RR"}
    values = {}
    for name, measure in names.items():
        found = [each.value for each in pm.iter_calc([pm.parse_measure(measure)], qrels, run)]
        counted = [value for value in found if value or seed % 2]
        values[name] = f"{sum(counted) / len(counted):.3f}"
    values["MRR"] = rng.choice(["0.123", values["MRR"]])
    found = set()
    for _ in range(2):
        row = dict(rng.sample(list(values.items()), len(values)))
        result = pm.audit(qrels, run, row)
        explained = frozenset(trial.claim.name for trial in result.best[0].explained)
        found.add(
            (result.verdict, result.ok, result.chance, explained, result.best[0].sentence().count("P@"))
        )
    assert len(found) == 1


@pytest.mark.thorough
def test_a_typo_is_not_explained_away(data):
    labels = data / "medcorpus" / "query_to_texts.jsonl"
    qrels, run = pm.read_qrels(labels), pm.read_run(labels)
    result = pm.audit(qrels, run, {"NDCG@10": "0.9044", "MAP@10": "0.5358", "P@1": "0.9279"})
    text = " ".join(str(result).split())
    assert text.startswith("2 of 3 claims, certain: nDCG@10 with exponential gains")
    assert "of the qrels. MAP@10: a typo, another run's number, or made with rounding: " in text
    assert not result.ok
    assert "MAP@10   GradedAP@10                         0.5358    0.5357" in str(result)


def test_the_minority_of_a_row_is_chance_unless_it_is_certain():
    qrels, run = random_data(7, 60)
    value = pm.calc_aggregate(["AP@10"], qrels, run).popitem()[1]
    row = {"MAP@10": f"{value:.3f}", "P@1": "0.98765", "P@2": "0.98765", "P@3": "0.98765"}
    result = pm.audit(qrels, run, row)
    assert len(result.best[0].explained) == 1
    assert result.verdict == "may be chance"
    row["MAP@10"] = f"{value:.9f}"
    assert pm.audit(qrels, run, row).verdict == "certain"


def test_a_repr_computes_nothing(monkeypatch):
    qrels, run = random_data(3)
    result = pm.audit(qrels, run, {"P@5": "0.1234"})
    monkeypatch.setattr(answers, "PrintableRows", None)
    monkeypatch.setattr(answers, "bootstrap_means", None)
    assert repr(result).startswith("<Audit: ")


@pytest.mark.thorough
def test_the_evidence_of_a_large_table_is_that_of_some_rows():
    """Half of 1,040 claims are explained: the number of ways to choose them is not too large for the code."""
    qrels, run = random_data(5, 30)
    measures = {"P@5": "P@5", "MAP@10": "AP@10"}
    values = {
        n: pm.calc_aggregate([pm.parse_measure(m)], qrels, run).popitem()[1] for n, m in measures.items()
    }
    row = {name: f"{value:.4f}" for name, value in values.items()} | {"P@2": "0.98765", "R@2": "0.98765"}
    claims = pm.audit(qrels, run, row).trials
    table = [MeasuredClaim(f"run {n}", each.claim, each.run) for n in range(260) for each in claims]
    result = audit_of(table)
    assert (len(table), len(result.best[0].explained), result.verdict) == (1040, 520, "certain")
    assert result.chance.of_numbers < 1e-6
    assert "510 more" in unwrapped(result)
