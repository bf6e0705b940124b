"""A number is called cut off or rounded twice only if it is; a typo of one unit is not a rounding error."""

import random
from collections import Counter
from fractions import Fraction

import pytest
from audit_helpers import trials_of, unwrapped

import permed_measures as pm
from permed_measures.conventions.named import COMMUNITY

MOST = {"P@10": 10, "Success@5": 1, "R@10": 2}


def counting(name, hits, queries):
    """Make qrels, a run with `hits` hits, a claim about it, and the share of hits that the claim is about."""
    most, num_rel = MOST[name], {"P@10": 20}.get(name, MOST[name])
    judged = {**{f"x{j}": 0 for j in range(10)}, **{f"d{j}": 1 for j in range(num_rel)}}
    qrels, run = {f"q{i}": judged for i in range(queries)}, {}
    found_by = Counter(place // most for place in random.Random(hits).sample(range(most * queries), hits))
    for i, query in enumerate(qrels):
        found = found_by[i]
        run[query] = {f"d{j}" if j < found else f"x{j}": 10.0 - j for j in range(10)}
    [trial] = trials_of(qrels, run, {name: "0.000"})
    return qrels, run, trial, Fraction(hits, most * queries)


@pytest.mark.parametrize("name", ["P@10", "Success@5", "R@10"])
@pytest.mark.parametrize("queries", [40, 50, 125, 250])
def test_a_typo_of_one_unit_of_a_number_with_all_its_digits_is_no_slip(name, queries):
    for hits in range(1, MOST[name] * queries, MOST[name] * queries // 12):
        *_, trial, share = counting(name, hits, queries)
        digits = next(d for d in range(2, 9) if (share * 10**d).denominator == 1)
        value = trial.value(COMMUNITY.with_cutoffs([trial]))
        assert value == pytest.approx(float(share), abs=1e-12)
        for units in (-1, 1):
            typo = trial.claim._replace(decimals=digits).printed_as(
                f"{float(share) + units / 10**digits:.{digits}f}"
            )
            assert typo.rounding_error_kind(value) == "", (typo.text, share)


def test_a_sum_just_below_its_number_is_not_cut_off():
    """P@10 is 301/1000, and 0.3009999999999999 as a mean of floats."""
    qrels, run, trial, share = counting("P@10", 1505, 500)
    assert share == Fraction(301, 1000)
    assert trial.value(COMMUNITY.with_cutoffs([trial])) < 0.301
    for text, ok in [("0.301", True), ("0.300", False), ("0.302", False)]:
        result = pm.audit(qrels, run, {"P@10": text, "R@10": "0.1505"})
        assert result.ok == ok
        said = unwrapped(result)
        assert ("P@10: published 0.30" in said, "cut off" in said, "rounded twice" in said) == (
            not ok,
            False,
            False,
        )


@pytest.mark.parametrize(
    ("text", "ok"),
    [
        *(("0.302", True), ("0.303", True), ("0.301", False), ("0.304", False), ("0.3", True)),
        *(("0.30", True), ("0.31", False), ("30.2%", True), ("30.3%", True), ("30.1%", False)),
    ],
)
def test_half_a_unit_is_rounded_either_way(text, ok):
    """P@10 is 605/2000, which is 0.3025."""
    qrels, run, *_ = counting("P@10", 605, 200)
    result = pm.audit(qrels, run, {"P@10": text, "R@10": "0.15125"})
    assert (result.ok, "this gives" in unwrapped(result)) == (ok, False)


@pytest.mark.parametrize(
    ("hits", "text", "slip"),
    [
        (6095, "0.304", "cut off, not rounded, this gives 0.304"),  # 0.30475
        (6095, "0.303", ""),
        (6095, "0.306", ""),
        (6089, "0.305", "rounded twice, this gives 0.305"),  # 0.30445
        (6089, "0.303", ""),
        (6087, "0.305", ""),  # 0.30435
    ],
)
def test_what_is_cut_off_or_rounded_twice_is_said_to_be(hits, text, slip):
    qrels, run, *_ = counting("P@10", hits, 2000)
    said = unwrapped(pm.audit(qrels, run, {"P@10": text, "R@10": f"{hits / 40000:.6f}"}))
    assert f"P@10: published {text}, expected {hits / 20000:.3f}: P@10 by" in said
    assert ("this gives" in said, slip in said) == (bool(slip), True)
