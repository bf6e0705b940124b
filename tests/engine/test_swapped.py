"""Qrels and run in the wrong order: refused where their form tells, else a warning where the numbers do."""

import ir_datasets
import ir_measures
import polars as pl
import pytest
from cases import rows_of

import permed_measures as pm

QRELS = {"t_1": {"a": 2, "b": 1, "c": 0}, "t_2": {"d": 1, "e": 0}}
RUN = {"t_1": {"a": 2.5, "x": 1.5, "b": 1.25}, "t_2": {"e": 0.5, "d": 0.25}}
FIRST = "The qrels come first, then the run"


def frame(nested, column):
    return pl.DataFrame(rows_of(nested), schema=["query_id", "doc_id", column], orient="row")


LABELS, SCORES = frame(QRELS, "relevance"), frame(RUN, "score")
PAIRS = {
    "polars": (LABELS, SCORES),
    "lazy": (LABELS.lazy(), SCORES.lazy()),
    "PyTerrier": (LABELS.rename({"relevance": "label"}).to_pandas(), SCORES.to_pandas()),
    "namedtuples": (
        [ir_measures.Qrel(*row) for row in rows_of(QRELS)],
        [ir_measures.ScoredDoc(*row) for row in rows_of(RUN)],
    ),
}


def assert_they_are_told_apart(qrels, run):
    assert pm.calc_aggregate("P@1", qrels, run) == pm.calc_aggregate("P@1", QRELS, RUN)
    for first, second in ((run, qrels), (run, RUN), (QRELS, qrels)):
        with pytest.raises(pm.InputError, match=FIRST):
            pm.calc_aggregate("P@1", first, second)


@pytest.mark.parametrize("name", PAIRS)
def test_forms_that_tell_what_they_are_are_refused_in_each_others_place(name):
    assert_they_are_told_apart(*PAIRS[name])


@pytest.mark.thorough  # ranx takes six seconds to import
def test_so_are_those_of_ranx():
    ranx = pytest.importorskip("ranx")
    assert_they_are_told_apart(ranx.Qrels(QRELS), ranx.Run(RUN))


def test_a_data_set_is_no_run():
    with pytest.raises(pm.InputError, match=FIRST):
        pm.calc_aggregate("P@1", QRELS, ir_datasets.load("permed-sample"))


@pytest.mark.parametrize(
    ("qrels", "run", "looks_swapped"),
    [
        (RUN, QRELS, True),
        ({"t_1": {"a": -1, "x": -2}, "t_2": {"e": -1, "d": -2}}, QRELS, True),
        ({"t_1": {"a": 100, "x": 99}, "t_2": {"e": 100, "d": 98}}, QRELS, True),
        (QRELS, RUN, False),
        (QRELS, QRELS, False),  # a ranking by integers
        (RUN, {"t_1": {"a": 3.0, "b": 0.25}}, False),  # grades that are no integers
        (RUN, {}, False),
        ({"t_1": {"a": 0.5, "b": 2, "c": 1}}, QRELS, False),  # too few to tell
        ({}, QRELS, False),
    ],
)
def test_dicts_that_look_swapped_are_warned_about(recwarn, qrels, run, looks_swapped):
    pm.calc_aggregate(["P@1"], qrels, run)
    said = f"the qrels look like a run, and the run looks like qrels. {FIRST}"
    assert [str(each.message) for each in recwarn if qrels] == [said] * looks_swapped


def test_scores_that_gradedap_cannot_weigh_may_be_a_run():
    with pytest.raises(pm.MeasureError) as error:
        pm.calc_aggregate([pm.GradedAP @ 10], RUN | {"t_3": {"a": 12.5}}, QRELS)
    assert str(error.value).endswith(
        f"(found 2.5). {FIRST}; if these are grades, set max_rel=12.5, or give each grade its weight with "
        "gains={...}"
    )
    with pytest.raises(pm.MeasureError) as error:
        pm.calc_aggregate([pm.GradedAP @ 10], {"q": {f"d{grade}": grade for grade in range(5)}}, QRELS)
    assert "first" not in str(error.value)


@pytest.mark.parametrize("function", [pm.compare, pm.uncertainty, pm.audit])
def test_a_measure_in_the_place_of_the_qrels_is_said(function):
    with pytest.raises(pm.InputError, match=r"found the measure P@1\).*compare\(qrels, runs, measures\)"):
        function("P@1", QRELS, RUN)


def test_a_column_that_is_missing_alone_is_no_sign_of_swapped_arguments():
    with pytest.raises(pm.InputError, match="doc_id is missing") as error:
        pm.calc_aggregate("P@1", QRELS, SCORES.drop("doc_id"))
    assert error.value.hint == ""
