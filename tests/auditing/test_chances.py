"""The reported chance is the share of random numbers that match, and typos are not findings."""

import random
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from audit_helpers import AP, HALF, graded, printed_as, row_made, unwrapped
from audit_loops import Plain
from effort import effort
from ir_measures import P

import permed_measures as pm
from permed_measures.auditing.audit import audit_of
from permed_measures.auditing.false_matches import FalseMatchRate, PrintableRows
from permed_measures.auditing.matrix import ClaimMatrix
from permed_measures.auditing.measured_claims import NearbyNumbers
from permed_measures.auditing.messages import in_two_lines, odds
from permed_measures.auditing.search import SimplerAlternative, answers_to
from permed_measures.conventions.named import NAMED
from permed_measures.datasets import SAMPLES
from permed_measures.published_tables.claims import parse_claims

SOME = NAMED[::8]


@pytest.fixture(scope="module")
def sample():
    """Read qrels and a run of the packaged sample, with grades -1 to 2."""
    return pm.read_qrels(SAMPLES[0].qrels), pm.read_run(SAMPLES[0].runs["bm25"])


def near(trial):
    """List the claim with each number near it."""
    digits, window = trial.claim.decimals, trial.nearby
    return [printed_as(trial, f"{n / 10**digits:.{digits}f}") for n in range(window.low, window.high + 1)]


def n_changes(trials, bases):
    """Return the number of changes that explain all claims; 99 if none do."""
    answer = answers_to(trials, bases)[0]
    return answer.n_changes if answer.complete else 99


def chance(trials, most, bases):
    return PrintableRows(ClaimMatrix(trials, bases), trials, most).chance()


@pytest.mark.parametrize(
    "claims",
    [
        {"MAP@10": "0.47"},
        {"P@5": "0.32"},
        {"F1@5": "0.4"},
        pytest.param({"nDCG@10": "0.68", "MAP@10": "0.47"}, marks=pytest.mark.thorough),
    ],
)
def test_rows_near_claims_are_counted_as_they_would_be_explained(sample, claims):
    """The claims have so few digits that each row can be tried."""
    trials = pm.audit(*sample, claims).trials
    changes = [n_changes(row, SOME) for row in product(*map(near, trials))]
    for most in (0, 1, 2):
        found = chance(trials, most, SOME)
        assert (found.n_values, found.n_printable) == (sum(n <= most for n in changes), len(changes))


def test_a_number_halfway_between_two_is_counted_as_both():
    data = {f"q{i}": {"a": 1} for i in range(8)}, {f"q{i}": {"a" if i == 0 else "x": 1.0} for i in range(8)}
    [trial] = pm.audit(*data, {"P@1": "0.12"}).trials  # 0.125
    explained = [each for each in near(trial) if n_changes([each], SOME) == 0]
    assert chance([trial], 0, SOME).n_values == len(explained) == 2  # up, and to even


@pytest.mark.parametrize(
    ("claims", "verdict"),
    [
        ({"nDCG@10": "0.68"}, "may be chance"),
        ({"nDCG@10": "0.6788", "MAP@10": "0.4665", "P@1": "0.6458"}, "certain"),
        ({"MAP@10": "0.4665"}, "likely"),
        ({"P@1": "0.98765"}, "none"),
    ],
)
def test_the_verdict_is_the_first_word(sample, claims, verdict):
    result = pm.audit(*sample, claims)
    assert result.verdict == verdict
    if verdict in ("may be chance", "none"):  # no rows are resampled
        assert result.chance[2:] == (0, 1, 0, 0)
    else:
        assert " of 10,000 rows of resampled queries." in unwrapped(result)
    start = "No convention explains any claim." if verdict == "none" else f"{verdict.capitalize()}: "
    assert str(result).startswith(start)
    assert ("Give another claim, or more digits." in unwrapped(result)) == (verdict == "may be chance")


def typos(text):
    """Change one digit of a number in each way."""
    for place in range(2, len(text)):
        for digit in "0123456789":
            if digit != text[place]:
                yield text[:place] + digit + text[place + 1 :]


@pytest.mark.thorough
def test_no_typo_of_three_digits_is_called_made_differently(sample):
    rng = random.Random(1)
    names, measures = ("nDCG@10", "MAP@10", "P@1"), ["VariantNDCG(negative='keep')@10", "GradedAP@10", "P@1"]
    values = pm.calc_aggregate(measures, *sample).values()
    row = dict(zip(names, (f"{value:.3f}" for value in values), strict=True))
    claims = pm.audit(*sample, row).trials
    n_explained = 0
    for place, name in enumerate(names):
        for text in rng.sample(list(typos(row[name])), effort(1, 3)):
            mistyped = [*claims[:place], printed_as(claims[place], text), *claims[place + 1 :]]
            result = audit_of(mistyped)
            status = dict(zip(names, result.to_polars()["status"], strict=True))
            assert status[name] in ("unclear", "unexplained"), (name, text)
            if status[name] == "unclear":
                n_explained += 1
                assert f"{name}: a typo, another run's number, or made with " in str(result)
                assert result.verdict != "certain" or not result.ok
    assert n_explained


@pytest.mark.parametrize(
    ("n_values", "clear", "verdict"),
    [
        *((10, True, "certain"), (11, True, "likely"), (100, True, "likely"), (101, False, "likely")),
        *((500, False, "likely"), (501, False, "may be chance")),
    ],
)
def test_what_is_likelier_than_1_in_100_by_chance_may_be_a_typo(n_values, clear, verdict, monkeypatch):
    qrels, run = graded(2)
    answer = pm.audit(qrels, run, {"P@1": f"{pm.calc_aggregate('P@1', qrels, run)[P @ 1]:.6f}"}).best[0]
    monkeypatch.setitem(answer.__dict__, "chance", FalseMatchRate(n_values, 10_000, 0))
    assert (answer.is_clear, answer.verdict) == (clear, verdict)
    sure = replace(answer)
    monkeypatch.setitem(sure.__dict__, "chance", FalseMatchRate(1, 10_000, 0))
    assert SimplerAlternative([sure], answer).is_typo == (verdict != "certain")  # an answer to another claim
    assert not SimplerAlternative([sure], sure).is_typo
    assert SimplerAlternative([answer], answer).is_typo == (verdict == "likely")


@pytest.mark.parametrize(
    ("n", "of", "verdict"), [(1, 2, "likely"), (1, 3, "may be chance"), (2, 3, "likely")]
)
def test_what_explains_the_minority_of_a_row_is_not_likely(n, of, verdict, monkeypatch):
    row = {f"P@{k}": f"{1 / k:.5f}" if k <= n else "0.98765" for k in range(1, of + 1)}
    answer = pm.audit({"q": {"a": 1}}, {"q": {"a": 1.0}}, row).best[0]
    monkeypatch.setitem(answer.__dict__, "chance", FalseMatchRate(10, 1000, 0))
    assert (len(answer.explained), answer.verdict) == (n, verdict)


def test_rows_of_other_runs_are_counted_by_what_they_print_as():
    answer = pm.audit({"q": {"a": 1}}, {"q": {"a": 1.0}}, {"P@2": "0.500", "P@4": "0.250"}).best[0]
    near = PrintableRows(answer.matrix, answer.trials, 0)
    near.rows, near.numbers_of_claim = {(500.0, 250.0)}, [{500.0}, {250.0}]
    drawn = np.array([(0.50049, 0.2495), (0.5005, 0.25), (0.5, 0.24949), (0.5005, 0.24949), (0.5, np.nan)])
    assert [near.count_explained(drawn, n) for n in (2, 1)] == [1, 4]


@pytest.mark.parametrize(
    ("name", "text", "window"),
    [
        ("P@1", "0.5000", (5000, 4700, 5300)),
        ("P@1", "0.0100", (100, 50, 150)),
        ("P@1", "0.0003", (3, 0, 6)),
        ("P@1", "0.9900", (9900, 9600, 10_000)),
        ("P@1", "1.0000", (10_000, 9700, 10_000)),
        ("P@1", "-0.50", (-50, -50, -47)),
        ("NumRet", "250", (250, 243, 257)),
        ("NumRet", "2", (2, 0, 5)),
    ],
)
def test_numbers_near_a_claim_are_within_3_hundredths_or_half_of_it_and_three_digits_at_least(
    name, text, window
):
    [[claim]] = parse_claims([{name: text}])
    found = NearbyNumbers.of(claim)
    assert (tuple(found), found.size) == (window, window[2] - window[1] + 1)


def test_a_claim_that_only_more_changes_explain_may_be_a_typo():
    """The others need no change. With three digits the claim of AP may be a typo; with seven it is not."""
    qrels, run = graded(2)
    plain = Plain(qrels, run)
    row, other = row_made(plain, AP, 3), row_made(plain, HALF, 3)
    result = pm.audit(qrels, run, {**row, "MAP@10": other["MAP@10"]})
    assert (result.ok, result.doubtful) == (False, [])
    said = "MAP@10: a typo, another run's number, or made with weights of AP: its grade over"
    assert f"of the qrels. {said}" in " ".join(str(result).split())
    [shown] = [each for each in result.to_polars().to_dicts() if each["status"] == "unclear"]
    assert (shown["claim"], shown["published"]) == ("MAP@10", other["MAP@10"])
    row, other = row_made(plain, AP, 7), row_made(plain, HALF, 7)
    result = pm.audit(qrels, run, {**row, "MAP@10": other["MAP@10"]})
    assert (result.ok, result.doubtful, result.verdict) == (True, [], "certain")


def test_a_claim_without_which_fewer_changes_explain_the_others_is_said_to_be_in_doubt():
    qrels, run = graded(2)
    plain = Plain(qrels, run)
    claims = {
        **row_made(plain, AP, 1, {"P@5": "P", "R@5": "R"}),
        **row_made(plain, HALF, 3, {"MAP@10": "AP"}),
    }
    result = pm.audit(qrels, run, claims)
    [doubt] = result.doubtful
    assert (result.ok, [trial.claim.name for trial in doubt.trials]) == (True, ["MAP@10"])
    text = unwrapped(result)
    assert "Fewer changes explain all claims but one\n  MAP@10: a typo, another run's number, or " in text
    assert ". ir_measures explains the others.\n" in text
    assert [each["status"] for each in result.to_polars().to_dicts()] == [*["explained"] * 2, "unclear"]
    assert "MAP@10 alone: conventions would also explain 1 in 9 random numbers near these." in text


@pytest.mark.parametrize(
    ("share", "said"),
    [
        *((0.47, "5 of 10"), (0.26, "3 of 10"), (0.25, "1 in 4"), (0.2, "1 in 5"), (0.00123, "1 in 810")),
        *((1.2e-6, "1 in 830,000"), (1e-6, "1 in 1,000,000"), (9e-7, "fewer than 1 in 1,000,000")),
    ],
)
def test_a_chance_is_written_as_people_say_it(share, said):
    assert odds(share) == said


@pytest.mark.parametrize(("n", "said"), [(65, "b" * 65), (66, "1 more")])
def test_two_lines_hold_135_characters(n, said):
    assert in_two_lines(["a" * 66, "b" * n]) == [f"{'a' * 66}; {said}"]
