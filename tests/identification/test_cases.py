"""The cases are the same each time and have their traits, and each option shows on some."""

import random
from hashlib import blake2b
from itertools import product

import numpy as np
import pytest
from audit_loops import convention_of
from effort import effort

from permed_measures.conventions.options import OPTIONS_OF, SHARED
from permed_measures.conventions.ranking_variants import is_consistent_for
from permed_measures.conventions.records import OPTIONS
from permed_measures.identification.cases import (
    NOT_FOUND,
    PLAIN_CASE,
    TRAITS,
    Case,
    case_text,
    cases,
    fraction,
    minimised,
)
from permed_measures.identification.elimination import TargetMeasure
from permed_measures.identification.forms import SIGNATURES
from permed_measures.published_tables.measure_names import meaning_of


def one(grades, scores, *traits):
    """Make a case of one query."""
    return Case({"c_1": grades}, {"c_1": scores}, traits)


@pytest.mark.parametrize("form", SIGNATURES)
def test_cases_are_the_same_each_time_and_suit_the_form(form):
    every = list(cases(SIGNATURES[form], (10, None)))
    assert every == list(cases(SIGNATURES[form], (10, None)))
    assert all(SIGNATURES[form].takes(*case[:2]) for case in every)
    assert all(all(case.qrels.values()) for case in every)
    traits = {trait for case in every for trait in case.traits}
    assert (traits == {*TRAITS, PLAIN_CASE}) == (form in ("dicts", "frames"))
    lengths = {len(docs) for case in every for docs in case.run.values()}
    assert min(lengths) == 0
    assert {1, 10} < {min(length, 11) for length in lengths} | {11}
    falling = [[*docs.values()] for case in every for docs in case.run.values()]
    assert all(scores == sorted(scores, reverse=True) for scores in falling)
    plain = all(scores == [float(n) for n in range(len(scores), 0, -1)] for scores in falling)
    assert plain == (not SIGNATURES[form].scores)


def test_the_cases_are_those_that_the_simulation_was_run_on():
    """If the cases or Python's generator change, run tests/simulations/identities.py again."""
    every = [list(cases(SIGNATURES[form], (10, None))) for form in ("dicts", "ranked", "lists", "query")]
    assert list(map(len, every)) == [337, 257, 226, 220]
    assert blake2b(repr(every).encode()).hexdigest()[:16] == "7d4f48d42bac80ce"


TEN = {f"d{n}": float(n) for n in range(1, 11)}


@pytest.mark.parametrize(
    ("option", "shown", "hidden"),
    [
        ("documents", one({"a": 1}, {"a": 0.0}), one({"a": 1}, {"a": 0.5})),
        ("documents", one({}, {"a": 1.0}), one({"b": 1}, {})),
        ("depth", one({}, TEN | {"d": 0.5}), one({}, TEN)),
        ("queries", one({"a": 1}, {"a": 1.0}), one({"a": 1, "b": 0}, {"a": 2.0, "b": 1.0})),
        ("queries", one({}, TEN), one({"d1": 1}, TEN)),
        ("queries", one({"a": 1}, {"a": 2.0, "b": 1.0}, NOT_FOUND), one({"a": 1}, {"a": 2.0, "b": 1.0})),
        ("averaged", Case({"c_1": {}}, {"c_2": {}}), one({}, {})),
        ("ties", one({}, {"a": 1.0, "b": 1.0}), one({}, {"a": 1.0, "b": 0.5})),
        ("self_match", one({}, {"c_1": 1.0}), one({"c_1": 1}, {})),
        ("negative", one({"a": -1}, {}), one({"a": 0}, {})),
    ],
)
def test_which_cases_show_an_option(option, shown, hidden):
    assert (OPTIONS[option].shown_by(shown), OPTIONS[option].shown_by(hidden)) == (True, False)


SHOWN = {option for option, each in OPTIONS.items() if not each.shown_by(Case({}, {}))}


def test_options_make_no_difference_on_cases_that_are_not_said_to_show_them():
    claims = [TargetMeasure("MAP@10", "AP", (10, None)), TargetMeasure("nDCG@10", "nDCG", (10, None))]
    for target, case in product(claims, [*cases(SIGNATURES["dicts"], (10, None))][:: effort(3, 1)]):
        quantity = target.of(case)
        for option in SHOWN - ({"negative"} if target.measure == "AP" else set()):
            values = [
                quantity.value(convention_of([target], {"labels": labels, option: value}))
                for labels in ("grades", "listed")
                for value in OPTIONS[option].values_for([target.measure], ())
                if not OPTIONS[option].shown_by(case) and value != "all_runs"
            ]
            half = len(values) // 2
            for each in (values[:half], values[half:]):
                assert np.ptp([v for v in each if not np.isnan(v)] or [0]) < 1e-9, (option, case)


@pytest.mark.parametrize("name", ["MAP@10", "nDCG@10", "F1@10", "hit@10"])
def test_what_is_left_out_of_the_crossing_is_0_or_another_convention(name):
    """Skip tied documents that count as one or as their mean, where the tied documents are unknown."""
    rng, target = random.Random(name), TargetMeasure(name, *meaning_of(name))
    names = [*SHARED, *OPTIONS_OF[target.measure]]
    quantities = [target.of(case) for case in [*cases(SIGNATURES["dicts"], (10,))][::29]]
    left_out = 0
    for _ in range(effort(60, 300)):
        values = {each: rng.choice(OPTIONS[each].values_for([target.measure], (1, 2, 3))) for each in names}
        values |= {"tied": "in_order"} if "tied" in values else {}
        if is_consistent_for(target.measure, values):
            continue
        left_out += 1
        convention = convention_of([target], values)
        others = [
            convention_of([target], {**values, **changed})
            for changed in (
                {"level": 1.0},
                {"weights": "half"},
                {"averaging": "macro"},
                {"pooling": "macro"},
                {"precision": "cutoff"},
                {"level": 1.0, "averaging": "macro"},
                {"level": 1.0, "weights": "half"},
                {"averaging": "macro", "averaged": "queries"},
            )
        ]
        theirs = np.array([each.value(convention) for each in quantities])
        known = [np.array([each.value(other) for each in quantities]) for other in others]
        assert (
            np.isnan(theirs).any()
            or not np.any(theirs * (theirs != 1))
            or any(np.allclose(theirs, each) for each in known)
        ), convention
    assert effort(6, 30) < left_out < effort(54, 270)


def test_every_trait_is_what_it_says():
    texts = [(case.traits, case_text(case)) for case in cases(SIGNATURES["dicts"], (10,))]
    assert {*(traits[0] for traits, _ in texts if len(traits) == 1)} == {*TRAITS, PLAIN_CASE}
    for trait, sign in {
        "negative grades": "-1",
        "tied scores": " = ",
        "queries that the run lacks": "not in the run",
        "queries without judgments": "not judged",
        "queries without results": "nothing retrieved",
        "documents with the id of their query": "the id of the query",
        "scores of 0 or less": "(score ",
        "grades that are not whole numbers": "1.5",
    }.items():
        assert any(sign in text for traits, text in texts if traits == (trait,)), trait
        assert not any(sign in text for traits, text in texts if not traits), trait


@pytest.mark.parametrize(
    ("grades", "scores", "said"),
    [
        ({"a": 2, "b": 1, "c": 1}, {"x": 2.0, "a": 1.0}, "ranked: unjudged, 2; not retrieved: 1, 1"),
        ({"a": 1, "b": 1, "c": 1}, {}, "nothing retrieved; not retrieved: 3 times 1"),
        ({"a": 1.5}, {"a": 1.0, "b": 1.0, "c": 0.5}, "ranked: 1.5 = unjudged, unjudged"),
        ({"a": 1}, {"a": 0.0, "c_1": -1.0}, "ranked: 1 (score 0), unjudged (the id of the query, score -1)"),
    ],
)
def test_a_case_is_said_in_words(grades, scores, said):
    assert case_text(one(grades, scores)) == said
    assert case_text(Case({}, {"c_1": {"a": 1.0}})) == "not judged; ranked: unjudged"
    both = case_text(Case({"c_1": grades}, {"c_1": scores, "c_2": {}}))
    assert both == f"c_1: {said} · c_2: not judged; nothing retrieved"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "1/10"),
        (1 / 3, "1/3"),
        (1.0, "1"),
        (0.01, "1/100"),
        (1 / 101, "0.009901"),
        (0.63093, "0.630930"),
    ],
)
def test_numbers_of_small_cases_are_fractions(value, text):
    assert fraction(value) == text


def test_a_case_is_made_as_small_as_it_can_be():
    case = max(cases(SIGNATURES["dicts"], (10,)), key=lambda case: case.size)
    smallest = minimised(case, lambda case: sum(map(len, case.run.values())) >= 2)
    assert sum(map(len, smallest.run.values())) == 2
    assert sum(map(len, smallest.qrels.values())) == 1
    one = Case({"c_1": {"a": 1}}, {"c_1": {"a": 1.0}})
    assert minimised(one, lambda case: case == one) == one
