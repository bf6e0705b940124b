"""How surely: the chance that is said is that of arbitrary numbers, and typos are no findings."""

import json
import random
from collections import Counter
from itertools import product

import pytest
from audit_helpers import AP, DEFAULT, HALF, audit_cli, binary, graded, row_made, unwrapped
from audit_loops import Plain
from effort import effort

import permed_measures as pm
from permed_measures.audits.answers import RowAudit
from permed_measures.audits.audit import audit_of
from permed_measures.audits.chances import chance_of_claim, joint_chance
from permed_measures.audits.conventions import NAMED, NamedConvention
from permed_measures.audits.near_numbers import Window, n_values_near
from permed_measures.audits.searches import answers_to
from permed_measures.datasets import SAMPLES


@pytest.fixture(scope="module")
def sample():
    """Return qrels and a run of the packaged sample, with grades -1 to 2."""
    return pm.read_qrels(SAMPLES[0].qrels), pm.read_run(SAMPLES[0].runs["bm25"])


def audited(data, **claims):
    """Return the claims of a row as they were audited."""
    return pm.audit(*data, {name.replace("_", "@"): text for name, text in claims.items()}).rows[0].claims


def near(claim):
    """Return the claim as any number near it."""
    window = Window.of(claim.claim)
    digits = claim.claim.decimals
    return [claim.printed_as(f"{n / 10**digits:.{digits}f}") for n in range(window.low, window.high + 1)]


def n_changes(claims, bases=NAMED):
    """Return by how many changes claims are explained together; many if they are not."""
    answer = answers_to(claims, bases)[0]
    return len(answer.changes) if answer.complete else 99


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nDCG_10", "0.679"),
        ("MAP_10", "0.47"),
        ("P_5", "0.320"),
        *effort([], [("R_5", "0.31"), ("F1_5", "0.4")]),
    ],
)
def test_numbers_near_a_claim_are_counted_as_they_would_be_explained(sample, name, text):
    [claim] = audited(sample, **{name: text})
    changes = [n_changes([each]) for each in near(claim)]
    assert len(changes) == Window.of(claim.claim).size
    assert n_values_near(claim) == sum(n < 99 for n in changes)
    for most in (0, 1, 2):
        chance = chance_of_claim(claim, most)
        assert (chance.n_values, chance.n_printable) == (sum(n <= most for n in changes), len(changes))
    least = n_changes([claim])
    assert least == 99 or chance_of_claim(claim) == chance_of_claim(claim, least)


@pytest.mark.parametrize("bases", [NAMED, NAMED[8:9]], ids=["all", "one"])
def test_rows_near_claims_are_counted_as_they_would_be_explained(sample, bases):
    """Here in two digits, so that each of 49 rows can be tried."""
    claims = audited(sample, nDCG_10="0.68", MAP_10="0.47")
    changes = [n_changes(row, bases) for row in product(*map(near, claims))]
    assert len(changes) == 49
    for most in (0, 1, 2, 3):
        chance = joint_chance(claims, most, bases)
        assert (chance.n_values, chance.n_printable) == (sum(n <= most for n in changes), 49)


def test_claims_of_one_family_are_computed_in_one_way(sample):
    claims = audited(sample, P_1="0.65", P_5="0.33", R_5="0.62")
    changes = [n_changes(row) for row in product(*(near(claim)[::3] for claim in claims))]
    joint = joint_chance(claims, 0)
    alone = [chance_of_claim(claim, 0).n_values for claim in claims]
    assert max(alone) <= joint.n_values < alone[0] * alone[1] * alone[2]
    assert joint.n_values >= sum(n == 0 for n in changes) > 0


def test_more_rows_than_can_be_looked_at_are_bounded(sample, monkeypatch):
    claims = audited(sample, nDCG_10="0.679", MAP_10="0.467")
    exact = joint_chance(claims, 2)
    monkeypatch.setattr("permed_measures.audits.chances._MOST_CELLS", 100)
    assert joint_chance(claims, 2).n_values >= exact.n_values
    monkeypatch.setattr("permed_measures.audits.chances._MOST_ROWS", 100)
    assert joint_chance(claims, 2).n_printable == chance_of_claim(claims[0]).n_printable


@pytest.mark.parametrize("digits", [3, *effort([], [4])])
def test_random_claims_are_explained_as_often_as_is_said(sample, digits):
    rng, trials = random.Random(digits), 1000
    [claim] = audited(sample, nDCG_10="0." + "6788"[:digits])
    said = seen = clear = 0.0
    texts = Counter(f"{0.6788 + rng.uniform(-0.03, 0.03):.{digits}f}" for _ in range(trials))
    for text, n in texts.items():
        trial = claim.printed_as(text)
        said += n / trials * n_values_near(trial) / Window.of(trial.claim).size
        seen += n / trials * trial.explained
        clear += n / trials * (trial.explained and chance_of_claim(trial).value <= 0.05)
    spread = 2.6 * (said * (1 - said) / trials) ** 0.5
    assert abs(said - seen) <= spread + 0.1 * said  # what is beyond the numbers near the truth is less dense
    assert spread < 0.4 * said  # so that a chance that is wrong by a factor is found
    assert clear <= 0.05 + 2.6 * (0.05 * 0.95 / trials) ** 0.5


@pytest.mark.parametrize(
    ("claims", "verdict"),
    [
        ({"nDCG@10": "0.68"}, "may be chance"),
        ({"nDCG@10": "0.6788", "MAP@10": "0.4665", "P@1": "0.6458"}, "certain"),
        ({"MAP@10": "0.4665"}, "likely"),
        ({"MAP@10": "0.98765"}, "none"),
    ],
)
def test_the_verdict_is_the_first_word(sample, claims, verdict):
    result = pm.audit(*sample, claims)
    assert result.verdict == verdict
    start = (
        "No convention explains any claim" if verdict == "none" else f"{verdict.capitalize()}: one convention"
    )
    assert str(result).startswith(start)
    assert ("Give another claim, or more digits." in unwrapped(result)) == (verdict == "may be chance")


def test_what_a_match_is_worth_is_in_json_and_explained(files):  # noqa: ARG001
    arguments = ["qrels", "one.trec", "--claim", "P@1=0.3333", "--claim", "MAP@10=0.2778"]
    content = json.loads(audit_cli(*arguments, "--format", "json"))
    assert content["verdict"] == "may be chance"  # of three queries, many runs have P@1 = 1/3
    chance = content["chance"]
    assert chance["n_printable"] == 601**2
    assert chance["value"] == max(chance["n_values"] / 601**2, chance["n_others"] / chance["n_drawn"])
    for claim in content["rows"][0]["claims"]:
        assert 0 < claim["chance"]["n_values"] <= claim["n_values_near"] < 601
    text = audit_cli(*arguments, "--explain")
    assert "How surely\n  P@1: of the 601 numbers from 0.3033 to 0.3633, " in text
    assert "$" in text
    assert "How surely" not in audit_cli(*arguments)


def typos(text):
    """Yield a number with one other digit."""
    for place in range(2, len(text)):
        for digit in "0123456789":
            if digit != text[place]:
                yield text[:place] + digit + text[place + 1 :]


def test_no_typo_of_three_digits_is_called_made_differently(sample):
    rng = random.Random(1)
    names, measures = ("nDCG@10", "MAP@10", "P@1"), ["VariantNDCG(negative='keep')@10", "GradedAP@10", "P@1"]
    values = pm.calc_aggregate(measures, *sample).values()
    row = dict(zip(names, (f"{value:.3f}" for value in values), strict=True))
    claims = pm.audit(*sample, row).rows[0].claims
    n_explained = 0
    for place, name in enumerate(names):
        for text in rng.sample(list(typos(row[name])), effort(8, 27)):
            mistyped = [*claims[:place], claims[place].printed_as(text), *claims[place + 1 :]]
            result = audit_of([RowAudit("run", mistyped, [])])
            status = dict(zip(names, result.to_polars()["status"], strict=True))
            assert status[name] in ("unclear", "unexplained"), (name, text)
            if status[name] == "unclear":
                n_explained += 1
                assert f"{name}: a typo, another run's number, or made with " in str(result)
                assert result.verdict != "certain" or not result.ok
    assert n_explained


def test_a_claim_that_only_more_changes_explain_is_doubtful():
    """The others need no change; in three digits, that of AP may as well be a typo."""
    qrels, run = graded(2)
    plain = Plain(qrels, run)
    row, other = row_made(plain, DEFAULT, AP, 3), row_made(plain, DEFAULT, HALF, 3)
    result = pm.audit(qrels, run, {**row, "MAP@10": other["MAP@10"]})
    assert result.ok
    [doubt] = result.doubtful
    assert [told.claim.name for told in doubt.claims] == ["MAP@10"]
    assert result.verdict == "likely"
    said = "MAP@10: a typo, another run's number, or made with weights of AP: its grade over"
    assert said in unwrapped(result)
    row, other = row_made(plain, DEFAULT, AP, 5), row_made(plain, DEFAULT, HALF, 5)
    result = pm.audit(qrels, run, {**row, "MAP@10": other["MAP@10"]})
    assert (result.ok, result.doubtful, result.verdict) == (True, [], "certain")


def test_a_page_for_reviewers_has_all_and_escapes_it():
    qrels, runs = binary()
    name = "<script>&"
    made = {name: row_made(Plain(qrels, runs["first"]), DEFAULT, AP), "b": {"P@1": "0.98765"}}
    result = pm.audit(qrels, {name: runs["first"], "b": runs["first"]}, made)
    html = result.report(explain=True).to("html")
    assert html.startswith("<!DOCTYPE html>")
    assert name not in html
    assert "&lt;script&gt;&amp;" in html
    for part in (
        "one convention explains",
        "The mean is taken over",
        "Formulas",
        "How surely",
        "Makes no difference",
        "$\\mathrm",
    ):
        assert part in html


def test_a_base_may_be_any_convention(sample):
    claims = audited(sample, nDCG_10="0.67", MAP_10="0.56")
    base = NamedConvention("the others", "", NAMED[0].setting, NAMED[0].choices)
    assert joint_chance(claims, 0, [base]).n_values == 1
