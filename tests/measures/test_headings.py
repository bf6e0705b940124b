"""Headings: short, and never the same for two measures."""

import contextlib
import random
import re

import ir_measures
import pytest
from cases import random_measure
from effort import effort

import permed_measures as pm
from permed_measures.engine.kernels import KERNELS
from permed_measures.measures.headings import check_headings, column_title, heading_notes, headings_of
from permed_measures.measures.parameters import CheckedMeasure, check_parameters, values_of, with_alias
from permed_measures.measures.parsing import deduplicate, parse_measure, parse_named_measure

EXP = "nDCG(dcg='exp-log2')@10"


def meaning(measure):
    """Return what makes a measure what it is, as text: without gains that change nothing."""
    values = values_of(measure)
    if not isinstance(measure, CheckedMeasure) and values.get("gains"):
        values["gains"] = {grade: gain for grade, gain in values["gains"].items() if grade != gain}
    found = {
        name: sorted(v.items()) if isinstance(v, dict) else v
        for name, v in values.items()
        if v not in (None, {})
    }
    return f"{measure.NAME} {found}"


def drawn(rng):
    """Return a measure with random values, also for parameters that few use."""
    measure = rng.choice([*map(parse_measure, KERNELS), *ir_measures.measures.registry.values()])
    if isinstance(measure, CheckedMeasure) or rng.random() < 0.3:
        return random_measure(rng)
    params = {}
    for name, param in measure.SUPPORTED_PARAMS.items():
        numbers = [-0.5, 0.5, 1.0, 1e-7, 10.0] if param.dtype is float else [0, 1, 2, 5, 10]
        choices = {
            bool: [True, False],
            str: param.choices,
            dict: [{}, {1: 1}, {1: 2}, {1: -2, 2: 2}, {1: 2, 2: -2}, {11: 2}, {1: 12}],
        }.get(param.dtype, numbers)
        if rng.random() < 0.5:
            params[name] = rng.choice(choices)
    return measure(**params)


def test_no_two_measures_have_the_same_heading_and_each_is_read_back():
    rng, meanings, n_read = random.Random(3), {}, 0
    for _ in range(effort(600, 1_200)):
        measure = drawn(rng)
        short = column_title(measure)
        assert meanings.setdefault(short, meaning(measure)) == meaning(measure)
        with contextlib.suppress(pm.MeasureError):  # one that ir_measures makes, and nobody can compute
            check_parameters(measure)
            for text in (short, str(measure)):
                assert parse_measure(text) == measure
                assert isinstance(measure, CheckedMeasure) <= (parse_measure(text).params == measure.params)
            assert headings_of([parse_named_measure(f"mine={short}")]) == ["mine"]
            n_read += 1
    assert min(len(meanings), n_read) > 300


def test_a_heading_of_the_users_own_wins_and_is_explained():
    measures = [pm.GradedAP @ 10, parse_measure(EXP), ir_measures.P @ 1]
    measures[0] = with_alias(measures[0], "MAP@10")
    assert headings_of(measures) == ["MAP@10", "nDCG-exp@10", "P@1"]
    assert heading_notes(measures) == ["MAP@10 is GradedAP@10", f"nDCG-exp@10 is {EXP}"]


def test_two_measures_cannot_share_a_heading():
    plain, exp = ir_measures.nDCG @ 10, parse_measure(EXP)
    for name, first, second in [("nDCG@10", plain, exp), ("nDCG-exp@10", exp, plain), (EXP, exp, plain)]:
        message = f"two measures are named {name!r}: {first} and {second}. Give one of them another name"
        with pytest.raises(pm.MeasureError, match=re.escape(message)):
            deduplicate([first, with_alias(second, name)])
    with pytest.raises(pm.InputError, match="two columns would be named 'run'"):
        check_headings(["run"], [exp, with_alias(plain, "run")])
    same = [plain, ir_measures.nDCG(dcg="log2") @ 10, with_alias(plain, "mine")]
    assert [headings_of(deduplicate(each)) for each in (same, same[::-1])] == [["mine"]] * 2
