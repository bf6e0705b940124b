"""Answers are certain: each pair of conventions differs on a case, hard functions get no wrong name."""

import random
from functools import cache

import hard_functions
import numpy as np
import pytest
from audit_loops import convention_of
from effort import effort
from hard_functions import HARD
from simulations.pairs import Alike, different, random_cases

import permed_measures as pm
from permed_measures.conventions.named import NAMED
from permed_measures.conventions.ranking_variants import is_consistent_for
from permed_measures.errors import InputError
from permed_measures.identification.cases import Case, cases, fresh_cases
from permed_measures.identification.elimination import FunctionSearch, TargetMeasure, convention_value
from permed_measures.identification.forms import SIGNATURES
from permed_measures.published_tables.measure_names import meaning_of

# --- functions that are easily taken for a measure ------------------------------------------------------


def by_name(name):
    return next(each for each in HARD if each.function.__name__ == name)


QUICK = ["raises_on_every_list", "hit_of_grade_1_only"]


def check(each):
    """Identify a hard function; the answer must hold on random collections of another kind."""
    if each.expected == "error":
        with pytest.raises(InputError):
            pm.identify(each.function, each.name, form=each.form)
        return
    result = pm.identify(each.function, each.name, form=each.form)
    assert result.ok == (each.expected is not None), str(result)
    if result.ok:
        assert each.expected in result.nearest.sentence()
        assert result.n_agree == result.n_cases > 200
    else:
        assert result.measure is None
        assert result.n_agree < result.n_cases


@pytest.mark.parametrize("name", QUICK)
def test_functions_that_are_easily_taken_for_a_measure_are_not_named_falsely(name):
    check(by_name(name))


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(0, len(HARD), 8))
def test_no_hard_function_is_named_falsely(number):
    check(HARD[number])


def test_a_function_that_raises_on_most_cases_is_an_error_that_says_where_and_how_it_was_called():
    with pytest.raises(InputError) as caught:
        pm.identify(hard_functions.raises_on_every_list, "nDCG@10", form="query")
    text = str(caught.value)
    assert "hard_functions.py:" in text
    assert "TypeError: wrong shape" in text
    assert "the function gives no number on " in text
    assert "It was called as raises_on_every_list({'d" in text


def test_the_remedy_for_a_function_of_another_form_is_its_form_or_a_function_of_three_lines():
    def takes_pairs(pairs):
        return sum(grade >= 1 for _, grade in sorted(pairs, key=lambda pair: -pair[0])[:5]) / 5

    remedy = (
        r"If it takes something else, name its form \(dicts, ranked, .*\), or call it in a function of three"
    )
    with pytest.raises(InputError, match=remedy):
        pm.identify(takes_pairs, "P@5")

    def wrapped(grades, scores):
        return takes_pairs([*zip(scores, grades, strict=True)])

    assert pm.identify(wrapped, "P@5").measure == "P@5"
    assert of_precision().measure == "P@5"


def test_errors_of_many_lines_are_counted():
    """Raise on a line of its own for each length of a list."""
    lines = "".join(f"    if len(documents) == {n}:\n        raise ValueError('{n}')\n" for n in range(3, 11))
    namespace = {"precision": precision}
    exec(f"def fails(grades, documents):\n{lines}    return precision(grades, documents)\n", namespace)
    result = pm.identify(namespace["fails"], "P@5", form="query")
    assert (result.measure, len(result.left_out)) == ("P@5", 5)
    [note] = result.notes
    assert note.endswith(" further cases left out raise other errors")
    assert 0 < int(note.partition(" ")[0]) < 60


def test_a_constant_is_no_evidence():
    result = pm.identify(lambda grades, documents: 1.0, "P@1", form="query")  # noqa: ARG005
    assert (result.ok, result.measure) == (False, None)
    assert result.notes == ["the function gives 1 on every case, which is not evidence for a measure"]
    assert not any("no evidence" in note for note in of_precision().notes)


def precision(grades, documents):
    return sum(grades.get(doc, 0) >= 1 for doc in documents[:5]) / 5


@cache
def of_precision():
    return pm.identify(precision, "P@5", form="query")


def test_what_is_named_is_checked_on_random_cases_and_one_difference_is_said():
    """Only random cases have the length of list on which the function differs."""
    form = SIGNATURES["query"]
    known, others = (
        {len(docs) for case in some for docs in case.run.values()}
        for some in (cases(form, (5,)), fresh_cases(form, (5,)))
    )
    length = min(others - known)

    def almost(grades, documents):
        return precision(grades, documents) + 0.01 * (len(documents) == length)

    result = pm.identify(almost, "P@5", form="query")
    assert (result.ok, result.measure, result.nearest.measure) == (False, None, "P@5")
    assert result.counterexample.value == pytest.approx(result.counterexample.nearest + 0.01)
    assert [len(docs) for docs in result.counterexample.run.values()] == [length]
    assert 0 < result.n_cases - result.n_agree < 100


@pytest.mark.thorough
def test_cases_with_ties_are_left_out_where_only_these_differ():
    """No convention has this tie rule: by the length of the id, then its end."""

    def odd_order(qrels, run):
        values = []
        for query, grades in qrels.items():
            docs = run.get(query, {})
            ranked = sorted(docs, key=lambda doc: (-docs[doc], len(doc), doc[::-1]))
            values.append(precision(grades, ranked))
        return sum(values) / len(values)

    result = pm.identify(odd_order, "P@5")
    assert (result.ok, result.measure) == (True, "P@5")
    [note] = result.notes
    assert note.startswith("left out: ")
    assert note.endswith(" cases with tied scores; no convention that fits the others agrees there")
    assert result.open["ties"] == "no known value; the cases on which the values differ are left out"
    assert "ties" not in result.nearest.sentence()
    assert any(name.startswith("ir_measures (") for name in result.names)  # it is so but for ties


# --- a case for each pair --------------------------------------------------------------------------------

WHY_ALIKE = {
    "ties": "no tied documents have different grades: unjudged ones are removed, or the judged are alike",
    "tied": "no tied documents have different grades, or they are in the order of a rule without ties",
    "queries": "the queries of one set only add nothing: to a micro average, or as the labels leave none",
    "averaged": "micro averages, or groups that all have one query",
    "labels": "the measure sees the grades of retrieved documents alone, or labels of one grade",
    "self_match": "the query's own document is removed as an unjudged one",
    "documents": "no documents are without a grade, or the lists are cut so",
    "depth": "the lists are cut behind the last rank that the measure sees",
    "level": "labels of one grade are relevant from any level, or from none",
    "weights": "labels of one grade, or grades from a level on that all weigh 1",
    "gain": "labels of one grade",
    "negative": "gains of 0 and 1 have no negative ones, and pooled labels no negative grades",
    "denominator": "weights of 1 make sums of weights numbers of documents, and known labels are found ones",
    "per_hit": "weights of 1 make sums of weights numbers of documents",
    "ideal": "the lists that are compared hold the same documents: labels of what was retrieved, or one gain",
    "discount": "one document gains, and it is the first",
    "pooling": "the denominators of all queries are the same",
    "averaging": "the denominators of all queries are the same",
    "ranks": "labels of one grade, or one relevant document",
    "precision": "numbers of documents that are the same where the lists are cut",
    "recall": "numbers of documents that are the same where the labels are those of the list",
    "success": "one relevant document",
    "f1": "one number",
}
"""For each option, the reason why two of its values may give the same number for any ranking."""


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["MAP@10", "nDCG@10", "P@10", "R@10", "MRR@10", "Hit@10", "F1@10"])
def test_each_pair_of_conventions_has_a_case_that_tells_them_apart_or_a_reason(name):
    """Conventions within two changes of a named one that differ on a random collection differ on a case.

    The simulation takes twenty times as many random collections.
    """
    alike = Alike(name, different(name), [*random_cases(random.Random(name), 20)])
    assert alike.told_apart() == []
    assert alike.n_near > alike.n_same > 500
    for option in alike.differing:
        assert option.startswith("cutoff of ") or option in WHY_ALIKE


def test_relevance_levels_gains_and_cutoffs_are_told_apart():
    """Pairs that once had no case: a cap, a list and an ideal without a cut, for each relevance level."""
    pairs = [
        ("R@10", {"level": level, "recall": "num_rel"}, {"level": level, "recall": "min"})
        for level in (1.0, 2.0, 3.0)
    ]
    pairs += [
        ("MAP@10", {"level": level, "denominator": "num_rel"}, {"level": level, "denominator": "min"})
        for level in (1.0, 2.0, 3.0)
    ]
    pairs += [
        (
            "nDCG@10",
            {"gain": gain, "ideal": one, "labels": labels},
            {"gain": gain, "ideal": other, "labels": labels},
        )
        for gain in ("linear", "binary", "exp")
        for labels in effort(("strict",), ("grades", "strict"))
        for one, other in (("qrels", "uncut"), ("run", "cutoff"), ("qrels", "returned"), ("full", "uncut"))
    ]
    for name, one, other in pairs:
        target = TargetMeasure(name, *meaning_of(name))
        quantities = [
            target.of(case) for case in cases(SIGNATURES["query"], target.cutoffs) if not case.traits
        ]
        ways = [convention_of([target], options) for options in (one, other)]
        assert any(np.ptp([each.value(way) for way in ways]) > 1e-6 for each in quantities), (
            name,
            one,
            other,
        )


def test_what_the_engine_computes_is_defined():
    """Levels above the highest grade, strict labels without grade 2, and single turns give a number."""
    for name, changed, value in [
        ("MAP@10", {"level": 2.0}, 0.0),
        ("MAP@10", {"labels": "strict"}, 0.0),
        ("MAP@10", {"weights": "capped"}, 0.5),
        ("P@1", {"averaged": "conversations"}, 1.0),
        ("P@1", {"queries": "with_hit"}, 1.0),
    ]:
        target = TargetMeasure(name, *meaning_of(name))
        quantity = target.of(Case({"c_1": {"a": 1}}, {"c_1": {"a": 1.0}}))
        assert convention_value(quantity, convention_of([target], changed)) == value
    target = TargetMeasure("P@1", *meaning_of("P@1"))
    nothing = target.of(Case({"c_1": {"a": 1}}, {"c_1": {"x": 1.0}}))
    assert convention_value(nothing, convention_of([target], {"queries": "with_hit"})) == 0.0


@pytest.mark.parametrize("name", ["MAP@10", "nDCG@10", "F1@10", "hit@10", "MRR@10", "Bpref"])
def test_what_a_case_is_not_said_to_show_changes_no_number_whatever_the_other_options(name):
    """Conventions are computed with the defaults of the options that a case does not show."""
    rng, target = random.Random(name), TargetMeasure(name, *meaning_of(name))
    search = FunctionSearch(lambda qrels, run: 0.5, SIGNATURES["dicts"], target, NAMED)  # noqa: ARG005
    space, n_changed = search.space, 0
    sizes = [len(space.coded_values(option)) for option in space.options]
    for call in rng.sample(search.calls, effort(12, 60)):
        drawn = np.array([[rng.randrange(size) for size in sizes] for _ in range(60)])
        codes = drawn[
            [is_consistent_for(target.measure, space.options_of(target.measure, row)) for row in drawn]
        ]
        values = space.compute(call.measurement, codes)
        shown = search._as_shown_by(call.case, codes)
        n_changed += (shown != codes).any(axis=1).sum()
        expected = space.compute(call.measurement, shown)
        same = np.isclose(values, expected, rtol=0, atol=1e-9) | np.isnan(values)
        assert same.all(), [space.convention(row) for row in codes[~same][:1]]
        with_undefined = space.compute(
            call.measurement, search._as_shown_by(call.case, codes, are_defined=False)
        )
        np.testing.assert_allclose(with_undefined, values, rtol=0, atol=1e-9)
    assert n_changed > 100
