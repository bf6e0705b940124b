"""Tables whose rows or claims were computed differently, and numbers that nothing explains."""

import json
from decimal import Decimal

import pytest
from audit_helpers import AP, HALF, binary, graded, row_made, unwrapped
from audit_loops import Plain
from effort import effort

import permed_measures as pm
from permed_measures.auditing.messages import unexplained


@pytest.mark.parametrize(
    ("made", "change"),
    [
        (HALF, "weights of AP: its grade over 2 (not: 1 for each relevant document)"),
        pytest.param(
            {"queries": "both"},
            "query set: the intersection of qrels and run (not: all queries of the qrels)",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_rows_that_were_made_differently_are_found(made, change):
    qrels, runs = binary()
    first, second = (Plain(qrels, run) for run in runs.values())
    result = pm.audit(qrels, runs, {"first": row_made(first, AP), "second": row_made(second, made)})
    assert (result.ok, result.answers) == (False, [])
    [answer] = result.exceptions
    assert answer.changes == [change]
    names = ", ".join(trial.claim.name for trial in answer.explained)
    head, conflict = result.conflicts
    assert head == "The rows were made differently: no single convention fits all of them"
    assert conflict == f"second, {names}, with {change}"
    assert f"{head}\n  {conflict}\n" in unwrapped(result)
    assert json.loads(result.to("json"))["conflicts"] == result.conflicts


@pytest.mark.parametrize(
    ("text", "ours", "slip"),
    [
        ("35.8%", "35.7%", "; rounded twice, this gives 35.8%"),
        ("0.3574", "0.3575", "; cut off, not rounded, this gives 0.3574"),
        ("0.3620", "0.3575", ""),
    ],
)
def test_an_open_number_has_its_value_by_the_other_claims_and_a_slip_of_rounding(text, ours, slip):
    """P@1 is 79/221, which is 0.3575 with four digits, 0.35747 with five; 80/221 is 0.3620."""
    qrels = {f"q{i}": {"a": 1} for i in range(221)}
    run = {query: {"a" if i < 79 else "b": 1.0} for i, query in enumerate(qrels)}
    result = pm.audit(qrels, run, {"P@1": text, "R@1": "0.3575"})
    said = f"  P@1: published {text}, expected {ours}: P@1 by the convention of the other claims{slip}"
    assert said in unwrapped(result).splitlines()
    assert pm.audit(qrels, run, {"P@1": "0.35747", "R@1": "0.3575"}).ok


def test_a_count_with_many_digits_may_be_unexplained():
    result = pm.audit({"q": {"a": 1}}, {"q": {"a": 1.0}}, {"NumRet": "999999999999." + "1" * 15})
    assert ": NumRet by default" in str(result)


def test_a_run_without_claims_is_left_out_and_claims_without_a_run_are_an_error():
    qrels, runs = binary()
    claims = {"first": row_made(Plain(qrels, runs["first"]), AP)}
    assert {trial.row for trial in pm.audit(qrels, runs, claims).trials} == {"first"}
    unknown = "no run has the name of the row of claims 'third'; the runs are 'first', 'second'"
    with pytest.raises(pm.InputError, match=unknown):
        pm.audit(qrels, runs, {**claims, "third": {"P@10": 0.5}})
    many = {f"q{i}": {"a": 1.0} for i in range(11)}
    with pytest.raises(
        pm.InputError, match=r"no run has the name of the row of claims 'first'; .* 'q0', .*'q9', \.\.\.$"
    ):
        pm.audit(qrels, many, claims)
    with pytest.raises(pm.InputError, match=r"need a mapping of runs by name \(found list\)"):
        pm.audit(qrels, list(runs.values()), claims)


@pytest.mark.parametrize("measure", effort(["MAP@10"], ["MAP@10", "P@10", "nDCG@10"]))
@pytest.mark.parametrize("ap", effort([AP], [AP, {"denominator": "min", "weights": "binary"}]))
def test_one_altered_digit_in_a_table_is_no_conflict(measure, ap):
    qrels, runs = binary()
    claims = {each: row_made(Plain(qrels, run), {"queries": "both", **ap}, 7) for each, run in runs.items()}
    true = claims["second"][measure]
    claims["second"][measure] = str(Decimal(true) + Decimal("0.0000001"))
    result = pm.audit(qrels, runs, claims)
    assert (result.ok, result.conflicts) == (False, [])
    [exception] = result.exceptions
    assert exception.explained == []
    assert [(told.row, told.claim.name) for told in exception.trials] == [("second", measure)]
    assert len(result.best[0].explained) == 5
    found = result.best[0].options
    assert (found["queries"], found["denominator"]) == ("both", ap.get("denominator", "num_rel"))
    text = " ".join(str(result).split())
    assert text.startswith("5 of 6 claims, certain: ")
    assert "made differently" not in text
    assert (
        f"Not explained second, {measure}: published {claims['second'][measure]}, expected {true}: " in text
    )


@pytest.mark.thorough
def test_a_row_that_mixes_conventions_names_the_option():
    qrels, run = graded(2)
    plain = Plain(qrels, run)
    claims = {
        "MAP@5": plain.mean("AP", AP, 5),
        "MAP@20": plain.mean("AP", HALF, 20),
        "P@5": plain.mean("P", {}, 5),
        "P@10": plain.mean("P", {"labels": "pool"}, 10),
        "nDCG@10": plain.mean("nDCG", {"gain": "exp"}, 10),
        "nDCG@5": plain.mean("nDCG", {}, 5),
    }
    result = pm.audit(qrels, run, {name: f"{value:.6f}" for name, value in claims.items()})
    assert not result.ok
    assert all(each.explained for each in result.exceptions)
    assert (result.best[0].name, len(result.best[0].explained)) == ("ir_measures", 3)
    assert result.conflicts[:2] == [
        "The numbers were made differently: no single convention fits all of them",
        "MAP@20, nDCG@10, with weights of AP: its grade over the highest grade (not: 1 for "
        "each relevant document); gain of nDCG: gain 2^g - 1 (not: gain g)",
    ]
    assert result.conflicts[2].startswith(  # a P@10 over 37 queries, which other runs may have
        "P@10: a typo, another run's number, or made with relevance labels: every judged document "
        "counts as relevant (not: grades as they are, negative ones not relevant)"
    )
    assert "\n  P@10 alone: conventions would also explain " in unwrapped(result)  # at the end


def test_a_row_has_what_was_made_differently_and_what_nothing_explains_apart():
    qrels, run = graded(2)
    plain = Plain(qrels, run)
    row = row_made(plain, AP, 7, {"MRR@3": "RR", "MRR@10": "RR"}) | {"MRR@2": "0.98765"}
    row |= row_made(plain, {"ranks": "found"}, 7, {"MRR@5": "RR"})
    result = pm.audit(qrels, run, row)
    made, left = result.exceptions
    assert (made.is_clear, [trial.claim.name for trial in result.unclear]) == (True, ["MRR@2"])
    assert [trial.claim.name for trial in made.trials] == ["MRR@5"]
    assert (made.options["ranks"], made.complete) == ("found", True)
    assert ([trial.claim.name for trial in left.trials], left.explained) == (["MRR@2"], [])


def test_ten_open_claims_have_a_line_of_their_own():
    claims = {f"P@{k}": f"{1 / k:.4f}" for k in range(1, 12)}
    main = pm.audit({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, claims).best[0]
    for n, more in ((10, []), (11, ["1 more"])):
        lines = unexplained(main, dict.fromkeys(main.trials[:n], main.convention))
        assert [line.partition(": published")[0] for line in lines] == [*[*claims][:10], *more]


@pytest.mark.parametrize(("n", "said"), [(3, "P@2, P@3, P@4."), (4, "P@2, P@3, P@4 and 1 more.")])
def test_claims_that_are_not_explained_are_named_and_the_rest_counted(n, said):
    claims = {"P@1": "1.0"} | {f"P@{k}": "0.98765" for k in range(2, 2 + n)}
    result = pm.audit({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, claims)
    assert f"Not explained by it: {said}" in unwrapped(result)
