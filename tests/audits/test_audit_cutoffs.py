"""Claims whose cutoff is not the one that their name says."""

import pytest
from audit_helpers import HALF, binary, row_of_ap

import permed_measures as pm
from permed_measures.conventions.named import COMMUNITY


@pytest.mark.parametrize(
    ("name", "cutoff", "change", "said"),
    [
        ("MAP", 10, "cutoff of MAP: 10 (not: none)", "AP@10 with binary relevance"),
        ("MAP@10", None, "cutoff of MAP@10: none (not: 10)", "AP with binary relevance"),
    ],
)
def test_a_cutoff_that_the_name_does_not_say_is_a_change(name, cutoff, change, said):
    qrels, runs = binary()
    result = pm.audit(qrels, runs, {row: row_of_ap(qrels, run, name, cutoff) for row, run in runs.items()})
    assert result.ok
    answer = result.answers[0]
    assert (answer.name, answer.changes) == ("ir_measures with 1 change", [change])
    assert answer.options[f"cutoff of {name}"] == cutoff
    assert answer.differences_from_default() == [change]
    assert answer.sentence().startswith(said)
    assert f"cutoff of {name}" not in answer.equivalents()
    assert f"  change: {change}\n" in str(result)
    usual = pm.audit(
        qrels, runs, {row: row_of_ap(qrels, run, name, 30 - (cutoff or 20)) for row, run in runs.items()}
    )
    assert usual.answers[0].changes == []


def test_a_column_whose_rows_have_different_cutoffs_is_found():
    qrels, runs = binary()
    claims = {
        "first": row_of_ap(qrels, runs["first"], "MAP", 10),
        "second": row_of_ap(qrels, runs["second"], "MAP", None),
    }
    result = pm.audit(qrels, runs, claims)
    assert [row.ok for row in result.rows] == [True, True]
    assert not result.ok
    assert (result.best[0].changes, [told.row for told in result.best[0].explained]) == ([], ["second"])
    assert result.conflicts[1:] == ["first, MAP, with cutoff of MAP: 10 (not: none)"]
    claims["third"] = claims["first"]
    claims = {name: {"MAP@10": row["MAP"]} for name, row in claims.items()}
    result = pm.audit(qrels, {**runs, "third": runs["first"]}, claims)
    assert result.conflicts[1:] == ["second, MAP@10, with cutoff of MAP@10: none (not: 10)"]


@pytest.mark.parametrize(
    "names", [("MAP", "MAP@10"), ("MAP@10", "MAP"), ("MRR", "P@5"), ("P@5", "mrr", "R@5")]
)
def test_names_of_one_family_may_have_several_cutoffs_to_try(names):
    qrels, runs = binary()
    measures = {"MAP": "AP@10", "MAP@10": "AP@10", "MRR": "RR@10", "mrr": "RR@10", "P@5": "P@5", "R@5": "R@5"}
    values = pm.calc_aggregate([measures[name] for name in names], qrels, runs["first"])
    claims = {name: f"{values[pm.parse_measure(measures[name])]:.6f}" for name in names}
    answer = pm.audit(qrels, runs["first"], claims).answers[0]
    assert answer.named is COMMUNITY
    loose = [name for name in names if name in ("MAP", "MRR", "mrr")]
    assert answer.changes == [f"cutoff of {name}: 10 (not: none)" for name in loose]


def test_an_exception_is_told_against_the_cutoff_of_the_others():
    qrels, runs = binary()
    runs = {**runs, "third": {query: dict(sorted(docs.items())) for query, docs in runs["first"].items()}}
    for docs in runs["third"].values():
        docs.update({doc: -score for doc, score in docs.items()})
    claims = {name: row_of_ap(qrels, run, "MAP@10", None) for name, run in runs.items()}
    assert pm.audit(qrels, runs, claims).conflicts == []
    claims["third"] = row_of_ap(qrels, runs["third"], "MAP@10", 10)
    result = pm.audit(qrels, runs, claims)
    assert result.best[0].changes == ["cutoff of MAP@10: none (not: 10)"]
    assert result.conflicts[1:] == ["third, MAP@10, with cutoff of MAP@10: 10 (not: none)"]


def test_an_exception_keeps_the_cutoff_of_the_others_where_it_makes_no_difference():
    qrels, runs = binary()
    short = {query: dict(list(docs.items())[:8]) for query, docs in runs["first"].items()}
    claims = {name: row_of_ap(qrels, run, "MAP@10", None) for name, run in runs.items()}
    claims["short"] = row_of_ap(qrels, short, "MAP@10", None, HALF)
    result = pm.audit(qrels, {**runs, "short": short}, claims)
    [exception] = result.exceptions
    assert exception.changes == ["weights of AP: its grade over 2 (not: 1 for each relevant document)"]
    assert exception.options["cutoff of MAP@10"] is None


def test_a_change_of_cutoff_counts_as_much_as_another():
    """MAP@1 is 1 without its cutoff, or divided by min(R, 1), but a half as ir_measures has it."""
    qrels, run = {"q1": {"a": 1, "b": 1}}, {"q1": {"a": 2.0, "b": 1.0}}
    result = pm.audit(qrels, run, {"MAP@1": "1.0000"})
    assert [answer.changes for answer in result.best] == [[] for _ in result.best]
    names = [answer.name for answer in result.best]
    assert "sentence-transformers" in names
    assert "ir_measures" not in names
    result = pm.audit(qrels, run, {"MAP@1": "1.0000", "nDCG@1": "1.0000", "MAP": "1.0000", "MAP@2": "1.0000"})
    assert result.best[0].complete
