"""Measures as objects and as text: parameters, equality, parsing, errors."""

import ast
import inspect
import pickle
import random
import re

import ir_measures
import numpy as np
import pytest
from cases import random_case, random_measure
from effort import IR_MEASURES_PARSES

import permed_measures as pm
from permed_measures.engine.kernels import KERNELS
from permed_measures.measures import definitions
from permed_measures.measures.parameters import values_of
from permed_measures.measures.specs import MEASURES, range_of

MOST = 2**31 - 1


HOSTILE = [
    "P@" + "-" * 3000 + "1",
    "P@" + "9" * 5000,
    "GradedAP(rel=" + "9" * 400 + ")",
    "GradedAP(rel='" + "9" * 500_000 + "')",
    "nDCG(gains={[]:1})@5",
    "nDCG(gains={1:" + "9" * 400 + "})@5",
    "x" * 1_000_000,
    "P@2147483648",
    "AP(rel=1e999)",
    "GAP(max_rel=1001)",
    *("(" * 100_000, "P" + "@" * 100_000, "", "10and", "P(rel=1or 2)"),  # Python warns of some
    "P\0@5",
    "P@\ud800",
    5,
]


def test_arguments_in_another_order_are_said():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    for call in (lambda: pm.calc_aggregate(qrels, run, "P@1"), lambda: pm.compare("permed-sample", run, run)):
        with pytest.raises(
            pm.MeasureError, match=r"or a string \(found {'a': 1.*calc_aggregate takes measures, "
        ):
            call()


@pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")
@pytest.mark.parametrize(
    "name",
    [
        each if each == "VariantNDCG" else pytest.param(each, marks=pytest.mark.thorough)
        for each in sorted({*MEASURES} - {"GradedMAP"})
    ],
)
def test_help_says_which_values_are_beyond_0_and_1(name):
    """Random parameters on random cases give values below 0 and above 1 where the text says so alone."""
    rng, beyond = random.Random(7), set()
    for _ in range(1500):
        measure, (qrels, run) = random_measure(rng, name), random_case(rng)
        try:
            values = [found.value for found in pm.iter_calc([measure], qrels, run)]
        except pm.MeasureError:  # a grade that the parameters do not have
            continue
        low, high = range_of(measure)
        assert all(low - 1e-12 <= value <= high + 1e-12 for value in values), measure
        beyond |= {"below 0" if value < 0 else "above 1" for value in values if not 0 <= value <= 1 + 1e-12}
    text = inspect.getdoc(type(MEASURES[name])).partition("Returns")[2].partition("Notes")[0]
    assert {each for each in ("below 0", "above 1") if each in " ".join(text.split())} == beyond


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_measure_is_one_short_error(text):
    with pytest.raises(pm.MeasureError) as error:
        pm.parse_measure(text)
    assert len(str(error.value)) < 400


@pytest.mark.parametrize("measures", [None, 5, type(pm.GradedAP)], ids=["None", "5", "a class"])
def test_what_is_no_measure_and_no_list_of_them_is_an_error(measures):
    with pytest.raises(pm.MeasureError, match="an object of ir_measures or a string"):
        pm.calc_aggregate(measures, {"q": {"a": 1}}, {"q": {"a": 1.0}})


def test_the_highest_cutoff_is_that_of_a_rank():
    measures = [ir_measures.P @ MOST, pm.GradedAP @ MOST, ir_measures.nDCG @ MOST, pm.F1 @ MOST]
    values = pm.calc_aggregate(measures, {"q": {"a": 2}}, {"q": {"a": 1.0}})
    assert list(values.values()) == [1 / MOST, 1, 1, 2 / (MOST + 1)]


def test_a_value_that_is_no_number_is_an_error(monkeypatch):
    monkeypatch.setitem(KERNELS, "AP", lambda *_, **__: np.array([0.0, np.nan]))
    with pytest.raises(pm.MeasureError, match=r"^query 'q': AP@5 is beyond all floating-point numbers"):
        pm.calc_aggregate("AP@5", {"p": {"a": 0}, "q": {"a": 2}}, {"q": {"a": 1.0, "b": 2.0}})


@IR_MEASURES_PARSES
def test_ir_measures_itself_parses_our_names_and_the_alias():
    assert ir_measures.parse_measure("GradedAP@10") == pm.GradedAP @ 10
    assert ir_measures.parse_measure("GradedMAP(norm='min')@10") == pm.GradedAP(norm="min") @ 10


def test_the_order_of_parameters_and_the_type_of_numbers_make_no_difference():
    assert pm.GradedAP(rel=2, norm="min") @ 5 == pm.GradedAP(norm="min")(
        cutoff=np.int64(5), rel=np.float32(2)
    )
    assert hash(pm.GradedAP(max_rel=2.0) @ 5) == hash(pm.GradedAP @ 5)
    assert pm.GradedAP(gains=None, cutoff=None) == pm.GradedAP
    assert pm.GradedAP(gains={2: 1, 1: 0.5}) == pm.GradedAP(gains={1: 0.5, 2: 1})
    assert pm.GradedAP(gains={1: 1, 2: 1}) != pm.GradedAP(gains={2: 1})
    assert pickle.loads(pickle.dumps(pm.GradedAP(norm="min") @ 5)) == pm.GradedAP(norm="min") @ 5


def test_a_list_of_probabilities_is_that_of_the_grades_from_1():
    assert pm.GAP(g=[0.25, 0.75]) == pm.GAP(g={1: 0.25, 2: 0.75 + 1e-10 - 1e-10})
    assert pm.GAP(g={0.5: 0.5, 2: 0.5 + 1e-10}) != pm.GAP


def test_whole_numbers_are_written_as_such_up_to_those_that_doubles_tell_apart():
    written = [str(pm.GradedAP(max_rel=float(n))) for n in (3, 2**53 - 1, 2**53)]
    assert written == [f"GradedAP(max_rel={n})" for n in ("3", "9007199254740991", "9007199254740992.0")]


def test_an_error_of_ours_is_that_of_ir_measures_methods_too():
    with pytest.raises(pm.MeasureError, match="F1 needs a cutoff"):
        list(pm.F1.iter_calc({"q": {"a": 1}}, {"q": {"a": 1.0}}))


WHOLE = f"cutoff must be a whole number from 1 to {MOST}"
NAME = "a measure is written Name(parameter=value,...)@cutoff"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("GradedAP@0", f"GradedAP: {WHOLE} (found 0)"),
        ("Coverage@1.5", f"Coverage: {WHOLE} (found 1.5)"),
        ("Coverage@True", f"Coverage: {WHOLE} (found True)"),
        ("P@0", f"P: {WHOLE} (found 0)"),
        (
            "GradedAP(norm=R)",
            "must be one of 'num_rel', 'min', 'num_rel_ret', 'gain', 'ideal', 'none' (",
        ),
        ("GradedAP(norm=min())", "'none' (found 'min()')"),
        ("GradedAP(max_rel=0)", "GradedAP: max_rel must be a number above 0 (found 0)"),
        (
            "GradedAP(rel=-1)",
            "at least 0 (negative grades are never relevant) (found -1)",
        ),
        ("GradedAP(gains={1:-1})", "GradedAP: gains must be a mapping from each relevant grade"),
        ("GradedAP(gains={})", "GradedAP: gains must be a mapping from each relevant grade"),
        ("GAP(g={0:1})", "GAP: g must be a mapping from thresholds above 0 to probabilities that sum to 1"),
        ("GAP(g={1:0.5,2:0.50000001})", "probabilities that sum to 1 (found"),
        ("GAP(g={1:0.5,2:0.25})", "probabilities that sum to 1 (found"),
        ("IPrec@1.5", "IPrec: recall must be a number from 0 to 1 (found 1.5)"),
        ("RBP(p=1.5,rel=1)", "RBP: p must be a number from 0 to 1 (found 1.5)"),
        ("F1@2147483648", f"F1: {WHOLE} (found 2147483648)"),
        ("GradedAP(judged_only='yes')", "GradedAP: judged_only must be True or False (found 'yes')"),
        (
            "GradedAP(nrom=min)",
            "'nrom' (it has: cutoff, rel, max_rel, gains, norm, judged_only). Did you",
        ),
        ("nDCG(dcg='exp')@5", "nDCG: dcg must be one of 'log2', 'exp-log2' (found 'exp')"),
        ("nDCG(dgc=log2)", "nDCG has no parameter 'dgc' (it has: "),
        ("GradedPA@10", "there is no measure 'GradedPA'. Did you mean 'GradedAP'?"),
        ("SetF(beta=1e101)", "beta must be a number from 0 to 1e100"),
        ("nDCG(gains={1:9e307,2:1e308})", "numbers up to 1e100 (found"),
        ("GradedAP(10)", NAME),
        ("P(rel=2)", "P needs a cutoff. Write P(rel=2)@10"),
        ("F1", "F1 needs a cutoff. Write F1@10"),
        ("f1", "F1 needs a cutoff. Write F1@10"),
        ("IPrec(rel=2)", "IPrec needs a recall. Write IPrec(rel=2)@0.5"),
        ("rbp(p=0.9)@10", "for grades. The nearest is RBP(p=0.9,rel=1)@10"),
        (
            "SDCG(min_rel=1,max_rel=2)@5",
            "The nearest is nDCG@10; ir_measures.calc_aggregate may have",
        ),
        ("nDCG(dcg='exp-log2',gains={1:2})@5", "nDCG takes gains with dcg='log2' only"),
    ],
)
def test_a_bad_measure_is_an_error_that_says_what_is_allowed(text, message):
    with pytest.raises(pm.MeasureError) as error:
        pm.evaluator(text, {})
    assert message in str(error.value)


def test_parameters_without_a_name_are_an_error_that_says_how_to_write_them():
    with pytest.raises(pm.MeasureError, match=r"found 10\). Write GradedAP @ 10$"):
        pm.GradedAP(10)
    with pytest.raises(pm.MeasureError, match=r"found 'ideal'\). Write name=value$"):
        pm.GradedAP("ideal")


@pytest.mark.parametrize(
    ("measures", "grades", "note"),
    [
        (
            ["P(rel=9)@10", "AP(rel=3)"],
            [0, 1, 2],
            "no grade is as high as the rel of P(rel=9)@10 and AP(rel=3) (the highest is 2); nothing is "
            "relevant to them",
        ),
        (["P(rel=9)@10"], [0, 9], ""),
        (["P@10"], [0, 0], ""),
        (
            ["nDCG-exp@10"],
            [0, 0.5, 1],
            "the gain of nDCG(dcg='exp-log2')@10 is 2^grade - 1, for grades such as 0, 1, 2; grade 0.5 gains "
            "0.414. nDCG takes the grades as gains",
        ),
        (["VariantNDCG"], [0, 50, 100], "grade 100 gains 1.27e+30"),
        (["nDCG", "VariantNDCG(gain=linear)"], [0, 50, 100], ""),
        (["VariantNDCG"], [-1.5, 0, 1, 2, 10], ""),
    ],
)
def test_grades_that_a_measure_is_not_meant_for_are_noted(measures, grades, note):
    qrels = {"q": {f"d{number}": grade for number, grade in enumerate(grades)}}
    notes = pm.evaluator(measures, qrels).notes()
    assert len(notes) == bool(note)
    assert note in "".join(notes)


@pytest.mark.parametrize(
    ("measure", "grades", "message"),
    [
        (
            "GradedAP(rel=3)@5",
            {"d": 3, "e": 1},
            "GradedAP: no grade may be above max_rel=2 (found 3). Set",
        ),
        ("GradedAP(gains={1:1})@5", {"d": 2}, "gains must have every relevant grade (found 2,"),
        ("VariantNDCG@5", {"d": 2000}, "the gain 2^g - 1 of a grade must be a number (found grade 2000)"),
        ("VariantNDCG(gain=linear)@2", {"d": 1e101}, "a grade that is a gain must be at most"),
        ("QMeasure", {"e": 1, "d": 1e101}, "a grade that is a gain must be at most"),
        ("nDCG", {"e": 1, "d": -1e101}, "a grade that is a gain must be at most"),
    ],
)
def test_grades_that_a_measure_cannot_take_are_named(measure, grades, message):
    with pytest.raises(pm.MeasureError) as error:
        pm.evaluator(measure, {"p": {"a": 0}, "q": grades})
    assert str(error.value).startswith(f"query 'q', document 'd': {message}")


def test_every_measure_of_ours_has_a_docstring_with_defaults_conventions_sources_and_example():
    for measure in MEASURES.values():
        for part in ("described for all measures", "Notes\n", "References\n", "Examples\n", ">>> "):
            assert part in type(measure).__doc__, (measure, part)
        parameters = f"{definitions.__doc__}{type(measure).__doc__}"
        for name, default in re.findall(r"^ *(\w+) : .*, default (\S+)$", parameters, re.MULTILINE):
            assert values_of(measure).get(name) in (None, ast.literal_eval(default)), (measure, name)
