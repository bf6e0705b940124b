"""Tables in the way of BEIR, MTEB and sentence-transformers are explained by the name of the tool."""

import random
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest
import pytrec_eval
from audit_helpers import graded
from effort import effort

import permed_measures as pm
from permed_measures.auditing.measured_claims import _rounded_units
from permed_measures.published_tables.claims import parse_claims


def beir(qrels, run):
    """Compute as BEIR's `EvaluateRetrieval.evaluate` does: means of pytrec_eval, rounded to five digits."""
    run = {query: {doc: s for doc, s in docs.items() if doc != query} for query, docs in run.items()}
    names = {"NDCG@10": "ndcg_cut_10", "MAP@10": "map_cut_10", "Recall@10": "recall_10", "P@10": "P_10"}
    measures = {"ndcg_cut.10", "map_cut.10", "recall.10", "P.10"}
    scores = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    means = {name: sum(each[key] for each in scores.values()) / len(scores) for name, key in names.items()}
    return {name: round(mean, 5) for name, mean in means.items()}


def half_up(value, digits):
    return str(Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP))


PRINTED = {
    "four digits": lambda value: f"{value:.4f}",
    "four digits, half up": lambda value: half_up(value, 4),
    "percent, two digits": lambda value: f"{100 * value:.2f}%",
    "percent, two digits, half up": lambda value: f"{half_up(round(100 * value, 3), 2)}%",
    "six digits": lambda value: f"{value:.6f}",
}


def without_changes(result):
    """List the named conventions that explain all claims without changes."""
    return {answer.name for answer in result.answers if not answer.changes}


@pytest.mark.parametrize("way", PRINTED)
def test_tables_made_by_beir_are_explained_by_its_name(way):
    for top in effort([2], [1, 2, 3]):
        qrels, run = graded(top)
        claims = {name: PRINTED[way](value) for name, value in beir(qrels, run).items()}
        assert "BEIR" in without_changes(pm.audit(qrels, run, claims)), claims


def test_a_mean_that_is_rounded_twice_is_explained_by_the_rounding_of_beir():
    """P@1 is 4/27: 0.14815 with five digits, which prints as 0.1482, while 0.1481 is nearer."""
    qrels = {f"q{i}": {"a": 1} for i in range(27)}
    run = {query: {"a" if i < 4 else "b": 1.0} for i, query in enumerate(qrels)}
    result = pm.audit(qrels, run, {"P@1": "14.82%", "R@1": "0.1481"})
    assert without_changes(result) == {"BEIR", "MTEB", "MTEB before 2.18.19"}
    [answer] = [answer for answer in result.answers if answer.name == "MTEB"]
    assert answer.sentence().endswith("; means are rounded to five digits before they are printed")
    [p, _] = result.trials
    assert (p.printed_value(answer.convention), p.value(answer.convention)) == (
        "14.82%",
        pytest.approx(4 / 27, abs=1e-12),
    )
    exact = pm.audit(qrels, run, {"P@1": "0.1481"}).answers
    assert "ir_measures" in [each.name for each in exact]
    assert all("rounded" not in each.sentence() for each in exact)


@pytest.mark.parametrize("first_to", [None, 5])
@pytest.mark.parametrize("decimals", range(8))
def test_what_prints_as_a_claim_after_rounding(first_to, decimals):
    """Each way of rounding is computed digit by digit; a half is rounded both ways."""
    rng = random.Random(decimals)
    [[claim]] = parse_claims([{"AP(rel=1)@10": f"{rng.random():.{decimals}f}"}])
    unit = Decimal(1).scaleb(-decimals)
    ends = [claim.value + unit * Decimal(k) / 2 for k in (-3, -1, 0, 1, 3)]
    steps = [Decimal(k).scaleb(-7) for k in (-100, -55, -50, -49, -45, -1, 0, 1, 45, 49, 50, 51, 55, 100)]
    for value in [end + step for end in ends for step in steps]:
        firsts = {value}
        if first_to is not None:
            scaled = value.scaleb(first_to)
            low = scaled.to_integral_value(rounding="ROUND_FLOOR")
            both = {n.scaleb(-first_to) for n in (low, low + 1) if abs(scaled - n) <= Decimal("0.5")}
            firsts = both if decimals <= first_to else both | firsts
        expected = any(abs(first - claim.value) <= unit / 2 for first in firsts)
        if first_to is not None and decimals > first_to and expected:
            expected = any(first == claim.value for first in both) or abs(value - claim.value) <= unit / 2
        assert (float(value) in claim.printed(first_to)) == expected, (claim.text, value)
        [low], [high] = _rounded_units(np.array([float(value)]), decimals, first_to)
        rounded = {value} if first_to is None else both
        is_one = any(abs(each - claim.value) <= unit / 2 for each in rounded)
        assert (low <= int(claim.value / unit) <= high) == is_one, (claim.text, value)


def test_a_mean_may_be_off_by_what_a_sum_may_be():
    values = np.array([0.35 - 1e-9, 0.35 - 1e-13, 0.35 + 1e-13, 0.35 + 1e-9])
    assert [each.tolist() for each in _rounded_units(values, 1, None)] == [[3, 3, 3, 4], [3, 4, 4, 4]]
    values = np.array([0.148145 - 1e-9, 0.148145 - 1e-13])
    assert [each.tolist() for each in _rounded_units(values, 4, 5)] == [[1481, 1481], [1481, 1482]]
