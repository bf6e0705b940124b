"""Headings: short, and never the same for two measures."""

import contextlib
import random

import ir_measures
import pytest
from cases import random_measure
from effort import effort

import permed_measures as pm
from permed_measures.engine.kernels import KERNELS
from permed_measures.measures.headings import explained, heading, headings_of
from permed_measures.measures.parameters import CheckedMeasure, check_given, named, values_of
from permed_measures.measures.parsing import named_measure, parse_measure

EXP = "nDCG(dcg='exp-log2')@10"


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("nDCG@10", "nDCG@10"),
        ("nDCG(dcg='log2')@10", "nDCG@10"),
        (EXP, "nDCG-exp@10"),
        ("nDCG(judged_only=True,dcg='exp-log2')", "nDCG-exp-judged_only"),
        ("nDCG(gains={0:0,1:1,2:3})@5", "nDCG-gains=2:3@5"),
        ("nDCG(gains={1:1})@5", "nDCG@5"),
        ("nDCG(gains={2:-2,1:-1})", "nDCG-gains=1:-1,2:-2"),
        ("AP(rel=2)@10", "AP-rel2@10"),
        ("IPrec(rel=2)@0.1", "IPrec-rel2@0.1"),
        ("RBP(p=0.9)", "RBP-p0.9"),
        ("Compat(normalize=False)", "Compat-normalize=False"),
        ("GradedAP@10", "GradedAP@10"),
        ("GradedMAP(max_rel=2)@10", "GradedAP@10"),
        ("GradedAP(max_rel=1)@10", "GradedAP-max_rel1@10"),
        ("GradedAP(norm='ideal',rel=0.5)@10", "GradedAP-rel0.5-ideal@10"),
        ("GradedAP(norm='none')", "GradedAP-norm=none"),
        ("GradedAP(gains={1:1,2:1},max_rel=3)@10", "GradedAP-max_rel3-gains=1:1,2:1@10"),
        ("GAP(g=[0.25,0.75])", "GAP-g=1:0.25,2:0.75"),
        (
            "VariantNDCG(gain='linear',discount='zipf',ideal='run',negative='keep')@10",
            "VariantNDCG-linear-zipf-ideal=run-negative=keep@10",
        ),
    ],
)
def test_a_heading_is_the_measure_or_a_short_form_of_it(measure, expected):
    assert heading(parse_measure(measure)) == expected


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


def test_no_two_measures_have_the_same_heading():
    rng, meanings = random.Random(3), {}
    for _ in range(effort(5_000, 20_000)):
        measure = drawn(rng)
        assert meanings.setdefault(heading(measure), meaning(measure)) == meaning(measure)
    assert len({*meanings.values()}) == len(meanings) > 500


def test_the_names_of_measures_have_no_hyphen():
    assert not [name for name in ir_measures.measures.registry if "-" in name]


def test_a_heading_of_the_users_own_wins_and_is_explained():
    measures = [pm.GradedAP @ 10, parse_measure(EXP), ir_measures.P @ 1]
    measures[0] = named(measures[0], "MAP@10")
    assert headings_of(measures) == ["MAP@10", "nDCG-exp@10", "P@1"]
    assert explained(measures) == ["MAP@10 is GradedAP@10", f"nDCG-exp@10 is {EXP}"]


def test_two_measures_cannot_share_a_heading():
    measures = [ir_measures.nDCG @ 10, parse_measure(EXP)]
    message = r"two measures are headed 'nDCG@10': nDCG@10 and nDCG\(dcg='exp-log2'\)@10\. Give one"
    with pytest.raises(pm.InputError, match=message):
        headings_of([measures[0], named(measures[1], "nDCG@10")])
    same = [ir_measures.nDCG @ 10, ir_measures.nDCG(dcg="log2") @ 10]
    assert headings_of(same) == ["nDCG@10"] * 2


def test_a_heading_is_read_back():
    rng, seen = random.Random(5), set()
    for _ in range(effort(3_000, 10_000)):
        measure = drawn(rng)
        short = heading(measure)
        with contextlib.suppress(pm.MeasureError):  # one that ir_measures makes, and nobody can compute
            check_given(measure)
            seen.add(short)
    for short in seen:
        assert heading(parse_measure(short)) == short
        assert heading(named_measure(short)) == short
        assert headings_of([named_measure(f"mine={short}")]) == ["mine"]
    assert len(seen) > 500


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("ndcg-exp@10", EXP),
        (" GradedAP-min@10 ", "GradedAP(norm='min')@10"),
        ("P-rel2@1", "P(rel=2)@1"),
        ("MAP-rel2@10", "AP(rel=2)@10"),
        ("GradedMAP-norm=none", "GradedAP(norm='none')"),
        ("hit-rate@5", "Success@5"),
    ],
)
def test_a_heading_may_have_another_name_of_the_measure(text, measure):
    assert named_measure(text) == parse_measure(measure)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nDCG-foo@10", "there is no measure 'nDCG-foo@10'. Write nDCG(parameter=value,...); "),
        ("AP-rel2@x", "there is no measure 'AP-rel2@x'. Write AP(parameter=value,...); "),
        ("AP-2-rel2@10", "there is no measure 'AP-2-rel2@10'. "),
        ("AP-rel1-rel2", "there is no measure 'AP-rel1-rel2'. "),
        ("AP-relx", "there is no measure 'AP-relx'. "),
        ("nDCG-gains=1:x", "nDCG: gains must be a mapping from grades to gains"),
        ("GradedAP-norm=foo@10", "GradedAP: norm must be one of 'num_rel', 'min', "),
        ("P-rel-1@5", "P: rel must be a number of at least 0"),
    ],
)
def test_what_is_not_quite_a_heading_is_an_error_about_its_measure(text, message):
    with pytest.raises(pm.MeasureError) as error:
        named_measure(text)
    assert str(error.value).startswith(message)
