"""The function identify names the right convention or none, and its report says so."""

import math
import re
import sys
from dataclasses import replace
from functools import cache, partial
from itertools import cycle

import numpy as np
import pytest
import scripts
from audit_loops import convention_of

import permed_measures as pm
from permed_measures.conventions.named import NAMED
from permed_measures.conventions.options import DEFAULT, with_value
from permed_measures.datasets.sample.script import mean_ap
from permed_measures.errors import PACKAGE, InputError
from permed_measures.identification.cases import (
    NOTHING_RELEVANT,
    Case,
    case_text,
    cases,
    fraction,
)
from permed_measures.identification.elimination import (
    FunctionCall,
    FunctionSearch,
    TargetMeasure,
    convention_value,
    output_scales,
)
from permed_measures.identification.forms import SIGNATURES
from permed_measures.identification.identify import IdentifiedConvention
from permed_measures.published_tables.measure_names import meaning_of
from permed_measures.results.report import FORMATS


def found(name, measure, form="dicts"):
    """Identify a script."""
    return asked(name, measure, form)


@cache
def asked(name, measure, form):
    return pm.identify(getattr(scripts, name), measure, form=form)


# --- what is named -----------------------------------------------------------------------------------


def test_a_script_is_named_as_one_types_it():
    result = found("graded_map", "MAP@10")
    assert (result.ok, result.measure, result.answers[0].name) == (True, "GradedAP@10", "PerMed standard")
    assert result.nearest.sentence() == (
        "AP@10 with weights g/2, divided by R; averaged over the intersection of qrels and run; "
        "ties are broken by a stable sort (input order)"
    )
    assert result.counterexample is None
    text = " ".join(str(result).split())
    words = f"In words: {result.nearest.sentence()}"
    assert text.startswith(f"MAP@10 is GradedAP@10. {words}. The function agrees on all ")
    assert "Conventions that compute it in this way PerMed standard (github.com/kcisgroup/CLPR" in text


@pytest.mark.parametrize(
    ("name", "measure", "form", "typed", "known"),
    [
        pytest.param("trec_map", "map", "dicts", "AP", "ir_measures", marks=pytest.mark.thorough),
        ("precision_of_query", "P@5", "query", "P@5", "ir_measures"),
        pytest.param(
            "hits_of_lists", "hit@5", "lists", "Coverage@5", "ir_measures", marks=pytest.mark.thorough
        ),
        pytest.param(
            "binary_ndcg",
            "nDCG@10",
            "ranked",
            "nDCG(gains={2:1})@10",
            "ir_measures with 1 change",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            "recall",
            "Recall@10",
            "dicts",
            "R@10",
            "LitSearch repository",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_functions_of_all_forms_are_named(name, measure, form, typed, known):
    result = found(name, measure, form)
    assert (result.ok, result.measure) == (True, typed)
    assert any(name.startswith(known) for name in [*result.names, result.answers[0].name])


@pytest.mark.thorough
def test_a_constant_that_is_off_is_not_named():
    result = found("graded_map_off", "MAP@10")
    assert (result.ok, result.measure, result.answers) == (False, None, [])
    assert repr(result) == "<Identified MAP@10: no convention>"
    assert 0 < result.n_agree < result.n_cases
    qrels, run, value, nearest = result.counterexample
    assert scripts.graded_map_off(qrels, run) == value
    assert abs(value - nearest) > 1e-3
    assert [len(docs) for lists in (qrels, run) for docs in lists.values()] == [1, 1]  # it cannot be smaller
    text = " ".join(str(result).split())
    assert text.startswith("No convention gives the numbers of the function for MAP@10.")
    assert f"The nearest agrees on {result.n_agree} of {result.n_cases} cases: AP@10 with" in text
    assert f"qrels = {qrels} run = {run}" in text
    shown = f"the function {fraction(value)} the nearest convention {fraction(nearest)} "
    assert f"{case_text(Case(qrels, run))} {shown}" in text
    assert all(result.to(form).strip() for form in FORMATS)


def test_the_nearest_convention_agrees_on_the_most_cases():
    def off(grades, documents):
        found = documents[:5]
        precision = sum(grades.get(doc, 0) >= 1 for doc in found) / max(len(found), 1)
        return precision + (len(documents) > 7) / 7

    result = pm.identify(off, "P@5", form="query")
    short = [max(map(len, case.run.values()), default=0) <= 7 for case in cases(SIGNATURES["query"], (5,))]
    assert (result.ok, result.nearest.options["precision"]) == (False, "returned")
    assert (result.n_agree, result.n_cases) == (sum(short), len(short))
    [documents] = result.counterexample.run.values()
    assert len(documents) == 8
    assert result.counterexample.value == pytest.approx(result.counterexample.nearest + 1 / 7)


OF = TargetMeasure.of
"""The method that computes the measure on a case, without the cache."""


@pytest.mark.thorough
def test_what_an_earlier_test_computed_changes_no_answer(computed_once, monkeypatch):
    def third(grades, documents):
        return sum(grades.get(doc, 0) >= 1 for doc in documents[2:3])

    for function in (scripts.precision_of_query, third):
        kept = [str(pm.identify(function, "P@5", form="query")) for _ in range(2)]
        with monkeypatch.context() as anew:
            anew.setattr(TargetMeasure, "of", OF)
            assert kept == [str(pm.identify(function, "P@5", form="query"))] * 2
    assert len(computed_once) > 700


@pytest.mark.thorough
def test_the_last_digits_count():
    assert not pm.identify(partial(scripts.graded_map, half=0.49999999), "MAP@10").ok


@pytest.mark.thorough
def test_the_cutoff_is_the_names_or_none():
    assert found("recall", "Recall@10").nearest.sentence().startswith("R@10")
    assert not pm.identify(partial(scripts.recall, k=9), "Recall@10").ok
    assert found("trec_map", "MAP@10").measure == "AP"
    assert "cutoff of MAP@10, on ranked: " in str(found("trec_map", "MAP@10"))
    assert "cutoff of" not in str(found("trec_map", "map"))
    assert "Different from" not in str(found("trec_map", "map"))
    assert not found("trec_map", "map").differences


@pytest.mark.thorough
def test_a_cutoff_that_no_name_has_is_named_rather_than_lists_that_are_cut():
    def reciprocal_rank(grades, documents):
        return max(
            [1 / rank for rank, doc in enumerate(documents[:10], 1) if grades.get(doc, 0) >= 1], default=0
        )

    result = pm.identify(reciprocal_rank, "mrr", form="query")
    assert (result.measure, result.nearest.options["depth"]) == ("RR@10", "whole")
    assert result.open["depth"] == "any; the same number on every case"


def test_no_measure_of_ours_says_that_lists_are_cut():
    target = TargetMeasure("map", "AP", (None,))
    whole, cut = (
        IdentifiedConvention(NAMED[0], convention_of([target], {"depth": depth}), [], target, True)
        for depth in ("whole", "first_100")
    )
    assert (whole.measure, cut.measure) == ("AP", None)
    assert cut.sentence().startswith("AP with binary relevance, divided by R; averaged over all queries of ")


@pytest.mark.thorough
def test_a_named_convention_is_found_again():
    """No case rules out the convention that a function computes; this does not test the engine.

    The simulation asks all of them, for seven measures.
    """
    names = ["nDCG@10", "P@5", "R@20", "mrr", "hit@10", "MAP@10"]
    pairs = [(named, name) for named in NAMED for name in names if named.has(meaning_of(name)[0])]
    named, name = pairs[82 % len(pairs)]
    target = TargetMeasure(name, *meaning_of(name))
    options = named.with_cutoffs([target])

    def function(qrels, run):
        return convention_value(target.of(Case(qrels, run)), options)

    result = pm.identify(function, name)
    assert named.name in [each.partition(" (")[0] for each in result.names] or any(
        named.name == answer.named.name and not answer.changes for answer in result.answers
    ), (named.name, name)


def test_a_mean_over_conversations_is_not_the_measure():
    """With one query, the mean over conversations is its value."""

    def by_conversation(qrels, run):
        groups = {}
        for query, grades in qrels.items():
            hits = [grades.get(doc, 0) >= 1 for doc in [*run.get(query, {})][:5]]
            groups.setdefault(query.partition("_")[0], []).append(sum(hits) / 5)
        return np.mean([np.mean(values) for values in groups.values()])

    result = pm.identify(by_conversation, "P@5")
    assert (result.ok, result.nearest.options["averaged"], result.measure) == (True, "conversations", None)
    assert result.n_agree == result.n_cases
    text = " ".join(str(result).split())
    assert text.startswith("P@5 is P@5. Averaged over all queries of the qrels; ties")
    assert "the mean is that of conversations" in text
    assert found("precision_of_query", "P@5", "query").measure == "P@5"


@pytest.mark.thorough
def test_what_means_nothing_on_any_case_is_no_answer(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('[[convention]]\nname = "lab"\nsource = "notes"\nAP = { weights = { 5 = 1 } }\n')
    result = pm.identify(scripts.trec_map, "map", conventions=file)
    assert result.measure == "AP"
    assert not any("5" in str(answer.options["weights"]) for answer in result.answers)


@pytest.mark.thorough
def test_ones_own_convention_is_named(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('[[convention]]\nname = "lab"\nsource = "notes"\noptions = { ties = "input" }\n')
    result = pm.identify(scripts.recall, "R@10", conventions=file)
    assert result.names[0] == "lab (notes)"
    assert not any("lab" in name for name in found("recall", "Recall@10").names)


# --- how numbers are read ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "notes"),
    [
        ([1 / 3, 0.5], {"": 1e-9}),
        ([0.25, 0.5], {"": 1e-6, "rounded to 2 digits": 1e-9}),  # the first as if in single precision
        ([0.33], {"": 1e-9, "rounded to 2 digits": 1e-9}),
        ([0.333, 0.25], {"": 1e-9, "rounded to 3 digits": 1e-9}),
        ([0.3333, 0.333], {"": 1e-9, "rounded to 4 digits": 1e-9}),
        ([0.33333333], {"": 1e-9, "rounded to 8 digits": 1e-9}),
        ([0.333333333], {"": 1e-9}),
        (
            [33.33],
            {
                "": 1e-9,
                "rounded to 2 digits": 1e-9,
                "in percent": 1e-9,
                "in percent, rounded to 2 digits": 1e-9,
            },
        ),
    ],
    ids=str,
)
def test_numbers_are_read_as_they_may_have_been_written(values, notes):
    case, target = Case({"c_1": {"a": 1}}, {"c_1": {"a": 1.0}}), TargetMeasure("P@1", "P", (1,))
    for one_query in (True, False):
        found = list(output_scales([FunctionCall(case, target, value) for value in values], one_query))
        assert {each.note: each.tolerance for each in found} == pytest.approx(notes, rel=1e-3)
        assert [each.divisor for each in found] == [100 if "percent" in note else 1 for note in notes]
        assert all(each.per_query == (one_query and each.digits is not None) for each in found)
    several = FunctionCall(case._replace(run={"c_1": {}, "c_2": {}}), target, 1 / 3)
    exact, by_query = output_scales([several, FunctionCall(case, target, 0.25)])
    assert exact.tolerance == 1e-6  # a mean of single numbers may be a double
    assert (by_query.note, by_query.digits) == ("rounded to 2 digits, query by query", 2)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("how", "note"),
    [
        (lambda value: round(value, 7), "rounded to 7 digits"),
        (lambda value: round(value * 100, 2), "in percent, rounded to 2 digits"),
        (lambda value: float(np.float32(value)), ""),
    ],
)
def test_numbers_may_be_in_percent_or_rounded(how, note):
    result = pm.identify(lambda qrels, run: how(scripts.recall(qrels, run)), "R@10")
    assert (result.ok, result.measure) == (True, "R@10")
    assert result.notes == ([f"the numbers of the function are read as {note}"] if note else [])
    assert f"on all {result.n_cases} cases{', read as ' + note if note else ''}." in " ".join(
        str(result).split()
    )


@pytest.mark.thorough
def test_five_digits_are_those_of_a_convention():
    result = pm.identify(lambda qrels, run: round(scripts.recall(qrels, run), 5), "R@10")
    assert "means are rounded to five digits before they are printed" in result.nearest.sentence()
    assert not result.notes
    assert "five digits" not in found("recall", "Recall@10").nearest.sentence()


@pytest.mark.thorough
def test_values_of_queries_may_be_rounded():
    def precision(grades, documents):
        return round(sum(grades.get(doc, 0) >= 1 for doc in documents[:3]) / 3, 2)

    result = pm.identify(precision, "P@3", form="query")
    assert (result.ok, result.nearest.options["rounding"]) == (True, "query_values")


@pytest.mark.thorough
def test_a_function_that_raises_on_every_plain_case_is_named():
    def of_several(qrels, run):
        if len(qrels) == 1:
            raise ValueError("too few queries")
        return scripts.recall(qrels, run)

    result = pm.identify(of_several, "R@10")
    assert (result.measure, result.n_agree) == ("R@10", result.n_cases)


@pytest.mark.parametrize("others", [{"P@1": 0.5}, {}])
def test_a_function_may_return_several_measures_by_name_or_one_by_any(others):
    name = "R@10" if others else "recall"
    target = TargetMeasure("R@10", "R", (10,))
    asked = FunctionSearch(
        lambda _, ranked: {name: len(ranked), **others}, SIGNATURES["query"], target, NAMED
    ).calls
    assert [[each.value] for each in asked] == [[len(d) for d in each.case.run.values()] for each in asked]


# --- what cannot be told -------------------------------------------------------------------------------


@pytest.mark.thorough
def test_queries_without_results_or_without_relevant_documents_may_both_be_left_out():
    def precision(qrels, run):
        relevant = {q: {d for d, grade in docs.items() if grade >= 1} for q, docs in qrels.items()}
        counted = [q for q, docs in run.items() if docs and relevant.get(q)]
        return math.fsum(len(relevant[q].intersection([*run[q]][:5])) for q in counted) / 5 / len(counted)

    over = "queries with a relevant document and at least one document retrieved"
    assert f"P@5; averaged over {over}; " in pm.identify(precision, "P@5").nearest.sentence()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("leaves_out", "over"),
    [
        (True, "queries with at least one document retrieved, with 1 for those without relevant documents"),
        (False, "the intersection of qrels and run, with 1 for queries without relevant documents"),
    ],
)
def test_queries_without_relevant_documents_may_count_1(leaves_out, over):
    def recall(qrels, run):
        values = []
        for q in [q for q, docs in run.items() if q in qrels and (docs or not leaves_out)]:
            relevant = {d for d, grade in qrels[q].items() if grade >= 1}
            values.append(len(relevant & {*[*run[q]][:5]}) / len(relevant) if relevant else 1)
        return math.fsum(values) / len(values)

    assert f"averaged over {over}; " in pm.identify(recall, "R@5").nearest.sentence()


def test_what_no_case_tells_apart_is_said_with_the_reason():
    hidden = "the function does not see scores, and which queries are averaged"
    of_query = found("precision_of_query", "P@5", "query").open
    assert of_query["ties"] == f"any; {hidden}"
    assert of_query["queries"].endswith(hidden)
    assert not of_query["queries"].startswith("any")  # there is no other run
    raising = found("graded_map", "MAP@10").open
    assert raising["queries"].endswith("; the function gives no number where they differ")
    assert "with 1 for queries without relevant documents" in raising["queries"]
    assert raising["depth"] == "any; the same number on every case"
    assert "ties" not in raising


@pytest.mark.thorough
def test_what_no_case_tells_apart_is_said_of_other_forms_too():
    seen = found("recall", "Recall@10").open
    assert "ties" not in seen
    unseen = found("binary_ndcg", "nDCG@10", "ranked").open
    assert unseen["ties"] == "any; the function does not see scores"
    assert "averaged" not in unseen
    assert seen["labels"].endswith("the same number on every case") if "labels" in seen else True


@pytest.mark.thorough
def test_fractional_grades_that_no_convention_defines_are_left_out_and_said():
    def whole(qrels, run):
        return scripts.recall({q: {d: int(g) for d, g in docs.items()} for q, docs in qrels.items()}, run)

    def whole_map(qrels, run):
        return scripts.graded_map({q: {d: int(g) for d, g in docs.items()} for q, docs in qrels.items()}, run)

    assert not pm.identify(whole, "R@10").notes
    result = pm.identify(whole_map, "MAP@10")
    [note] = result.notes
    assert (result.measure, note.partition(" ")[0]) == ("GradedAP@10", "left")
    assert "with grades that are not whole numbers; no convention that fits the others agrees there" in note
    assert result.n_agree == result.n_cases < found("graded_map", "MAP@10").n_cases


def test_each_difference_from_the_default_has_its_smallest_case():
    result = found("graded_map", "MAP@10")
    assert [each.option for each in result.differences] == ["ties", "queries", "weights"]
    ours = result.nearest.convention
    for each in result.differences:
        assert scripts.graded_map(*each.case[:2]) == pytest.approx(each.value)
        quantity = TargetMeasure("MAP@10", "AP", (10, None)).of(each.case)
        assert convention_value(
            quantity, with_value(ours, each.option, DEFAULT[each.option])
        ) == pytest.approx(each.default)
        assert each.value != pytest.approx(each.default)
    text = " ".join(str(result).split())
    choices = "the function: its grade over 2 1/2 ir_measures: 1 for each relevant document 1 "
    assert f"weights of AP, on ranked: 1 {choices}" in text
    assert "No difference from ir_measures' default" not in text


@pytest.mark.thorough
def test_a_smaller_denominator_is_worked_out():
    result = pm.identify(mean_ap, "MAP@10")
    [each] = [each for each in result.differences if each.option == "denominator"]
    assert case_text(each.case) == "ranked: 1; not retrieved: 10 times 1"
    assert (each.value, each.default) == (pytest.approx(1 / 20), pytest.approx(1 / 22))
    lines = [line.rstrip() for line in str(result).split("\n")]
    at = lines.index("denominator of AP, on ranked: 1; not retrieved: 10 times 1")
    assert [line.split()[-1] for line in lines[at + 1 : at + 3]] == ["1/20", "1/22"]
    assert "tied" not in result.open  # other values of ties mean something only where there are none


# --- functions that raise ------------------------------------------------------------------------------


def test_cases_on_which_a_function_raises_are_left_out_and_said():
    [left] = found("graded_map", "MAP@10").left_out
    assert left.error.endswith("division by zero")
    assert left.traits == [NOTHING_RELEVANT]
    assert left.where.rpartition(":")[0] in scripts.__file__
    with pytest.raises(ZeroDivisionError):
        scripts.graded_map(*left.case[:2])
    text = " ".join(str(found("graded_map", "MAP@10")).split())
    which = "among them all with queries without relevant documents and nothing else unusual"
    assert f"{left.n} cases, {which}: {left.error}" in text
    assert not found("precision_of_query", "P@5", "query").left_out
    assert "Left out" not in str(found("precision_of_query", "P@5", "query"))


def test_values_may_be_those_of_queries_that_only_the_qrels_or_only_the_run_has():
    names = ["any"]
    search = FunctionSearch(
        lambda *_: dict.fromkeys(names, 0.25), SIGNATURES["dicts"], TargetMeasure("P@1", "P", (1,)), NAMED[:1]
    )
    case = Case({"q1": {"a": 1}, "q2": {"a": 1}}, {"q2": {"a": 1.0}, "q3": {"a": 1.0}})
    for names[:] in (["q1", "q2"], ["q2", "q3"], ["q1", "q2", "q3"]):
        assert search.call(case).error is None
    names[:] = ["q1", "MAP"]
    assert "the function returns no number for 'P@1' (found 'q1', 'MAP')" in str(search.call(case).error)


@pytest.mark.thorough
def test_what_is_no_number_is_no_error():
    def precision(grades, ranked):
        return sum(grades.get(each, 0) > 0 for each in ranked[:1]) if ranked else math.nan

    result = pm.identify(precision, "P@1", form="query")
    [left] = result.left_out
    assert left.error == "the function returns nan"
    assert str(result).startswith("P@1 is P@1.\n")
    assert "Left out, without a number\n" in str(result)


def test_a_function_may_return_numbers_of_numpy():
    kinds = cycle([np.mean, np.array, lambda values: np.float32(np.mean(values)), list])

    def shares(_, run):
        return next(kinds)([len(docs) / 16 for docs in run.values()])

    asked = FunctionSearch(shares, SIGNATURES["dicts"], TargetMeasure("P@1", "P", (1,)), NAMED).calls
    expected = [np.mean([len(docs) / 16 for docs in each.case.run.values()]) for each in asked]
    assert [each.value for each in asked] == pytest.approx(expected, rel=1e-6)


def test_a_function_without_any_number_is_an_error_with_its_line():
    def fails(qrels, _):
        return qrels["nothing"]

    with pytest.raises(InputError, match=r"identify.py:\d+: .* gives no number on .*: KeyError"):
        pm.identify(fails, "P@1")
    for wrong in (None, "0.5x", (None, 3.0)):
        first = wrong[0] if isinstance(wrong, tuple) else wrong
        said = re.escape(f"must return a number, or {{query: number}} (found {first!r}")
        with pytest.raises(InputError, match=said):
            pm.identify(lambda qrels, run, value=wrong: value, "P@1")  # noqa: ARG005
    with pytest.raises(InputError, match=r"identify.py:\d+: .* gives no number on .*: SystemExit: 0"):
        pm.identify(lambda qrels, run: sys.exit(0), "P@1")  # noqa: ARG005
    beside = f"{PACKAGE[:-1]}_of_mine/script.py"
    with pytest.raises(InputError, match=r"_of_mine/script.py:1: .* no number on .*: NameError"):
        pm.identify(eval(compile("lambda qrels, run: nothing", beside, "eval")), "P@1")
    with pytest.raises(
        InputError, match=r"returns no number for 'R@10' .found 'MAP@10', 'P@1'.\. Ask for one of"
    ):
        pm.identify(lambda qrels, run: {"MAP@10": 0.5, "P@1": 0.25}, "R@10")  # noqa: ARG005
    with pytest.raises(
        InputError, match=r"more than one number for 'map@10' .found 'MAP@10', 'map_cut_10'.\. Ask"
    ):
        pm.identify(lambda qrels, run: {"MAP@10": 0.5, "map_cut_10": 0.25}, "map@10")  # noqa: ARG005
    with pytest.raises(InputError, match="gives no number on any case: the function returns nan"):
        pm.identify(lambda qrels, run: math.nan, "P@1")  # noqa: ARG005


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"function": "script.py:f"}, "identify needs a function .found str"),
        (
            {"form": "list"},
            "form must be one of dicts, ranked, sets, .*, frames .found 'list'.. Did you mean",
        ),
        ({"measure": "MAP at ten"}, "no measure is known by the name 'MAP at ten'"),
        ({"measure": "P"}, "P needs a cutoff"),
        *(
            ({"measure": name}, re.escape(f"permed-measures does not compute {name}. "))
            for name in ("alpha_nDCG@10", "INST", "NERR9@10", "SDCG@10")
        ),
    ],
)
def test_what_is_asked_wrongly_is_refused(given, message):
    with pytest.raises(pm.PermedError, match=message):
        pm.identify(**{"function": scripts.recall, "measure": "R@10", **given})


@pytest.mark.thorough
def test_the_function_may_change_what_it_is_given():
    def popping(qrels, run):
        value = scripts.recall(qrels, run)
        qrels.clear()
        run.clear()
        return value

    assert pm.identify(popping, "R@10").measure == "R@10"


# --- reports -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
def test_results_are_written_in_every_format(form):
    assert found("graded_map", "MAP@10").to(form).strip()


def test_results_are_frames():
    frame = found("graded_map", "MAP@10").to_polars()
    rows = {row["option"]: row for row in frame.to_dicts()}
    assert rows["weights"]["value"] == "half"
    assert rows["weights"]["default"] == "binary"
    assert (rows["weights"]["function"], rows["weights"]["by_default"]) == (0.5, 1.0)
    assert rows["denominator"]["function"] is None
    assert repr(found("graded_map", "MAP@10")) == "<Identified MAP@10: PerMed standard>"


def test_a_report_begins_with_the_measure_and_its_differences_come_before_all_else():
    text = found("graded_map", "MAP@10").to("markdown")
    headings = re.findall(r"^\*\*(.*?)\*\*$", text, re.MULTILINE)
    assert text.startswith("MAP@10 is GradedAP@10. In words: AP@10 with weights g/2")
    assert headings == [
        "Different from ir\\_measures' default",
        "Left open",
        "Conventions that compute it in this way",
        "Called with",
        "Left out, without a number",
    ]
    rows = [line for line in text.split("\n") if line.startswith("| ir")]
    assert len(rows) == len(found("graded_map", "MAP@10").differences)
    of_query = str(found("precision_of_query", "P@5", "query"))
    assert of_query.startswith("P@5 is P@5.\nThe function agrees on all ")
    assert "\nNo difference from ir_measures' default was found.\n" in of_query
    assert "Different from" not in of_query


def test_a_convention_without_a_name_has_its_changes_from_the_nearest_that_has_one():
    known = found("graded_map", "MAP@10")
    near = replace(known.nearest, changes=["tie rule: one (not: another)"])
    text = str(replace(known, names=[], nearest=near))
    assert "The nearest with a name\n  PerMed standard with 1 change: tie rule: one (not: another)\n" in text
    assert "Conventions that compute it in this way" not in text
    assert "The nearest with a name" not in str(known)


def test_sources_are_cut_so_that_a_convention_stands_in_one_line():
    known = found("graded_map", "MAP@10")
    names = ["a (x.org: b (since 2))", "a, b (x.org (since 2))", "c"]
    text = str(replace(known, names=names))
    assert "Conventions that compute it in this way\n  a (x.org)\n  a, b (x.org)\n  c\n" in text
    assert replace(known, names=names).report().data()["names"] == names


def test_what_is_left_open_is_said_in_few_lines():
    known = replace(found("graded_map", "MAP@10"), who="the program")
    same = "the same number on every case"
    lines = {
        "ties": "any; the program does not see scores",
        "depth": f"any; {same}",
        "averaged": f"any; {same}",
        "tied": "a / b; the program does not see scores",
        "labels": f"a / b / c / d / e; {same}",
        "queries": "a / b; the program gives no number where they differ",
        "negative": "no known value; the cases on which the values differ are left out",
    }
    text = str(replace(known, open=lines))
    assert text.partition("Left open\n")[2].partition("\n\n")[0].split("\n") == [
        "  The program does not see scores; open: tie rule, tied scores in AP and nDCG",
        "  No case is affected by: length of the lists, what is averaged",
        f"  relevance labels: a / b / c and 2 others; {same}",
        "  query set: a / b; the program gives no number where they differ",
        "  negative grades in nDCG: no known value; the cases on which the values differ are left out",
    ]


def test_of_a_program_it_is_said_that_it_prints():
    known = found("graded_map", "MAP@10")
    assert f"The function agrees on all {known.n_cases} cases on which it returns a number." in str(known)
    text = str(replace(known, who="the program", read_as="rounded to 4 digits", open={}))
    agrees = f"The program agrees on all {known.n_cases} cases on which it prints a number"
    assert f"{agrees}, read as rounded to 4 digits." in text
    assert "the program: its grade over 2" in text
    assert "function" not in text.partition("Called with")[0]
