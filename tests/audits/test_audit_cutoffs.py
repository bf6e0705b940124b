"""Claims whose cutoff is not the one that their name says."""

import pytest
from audit_helpers import binary, row_of_ap

import permed_measures as pm


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
    assert answer.sentence().startswith(said)
    assert f"cutoff of {name}" not in answer.equivalents()
    assert f"  change: {change}\n" in str(result)
    usual = pm.audit(
        qrels, runs, {row: row_of_ap(qrels, run, name, 30 - (cutoff or 20)) for row, run in runs.items()}
    )
    assert usual.answers[0].changes == []


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
