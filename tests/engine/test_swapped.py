"""Qrels and run in the wrong order, and columns in the wrong order: said, where the data tell."""

import ir_datasets
import ir_measures
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import permed_measures as pm

QRELS = {"t_1": {"a": 2, "b": 1, "c": 0}, "t_2": {"d": 1, "e": 0}}
RUN = {"t_1": {"a": 2.5, "x": 1.5, "b": 1.25}, "t_2": {"e": 0.5, "d": 0.25}}
FIRST = r"The qrels come first, then the run"


def rows(nested):
    return [(query_id, doc_id, value) for query_id, docs in nested.items() for doc_id, value in docs.items()]


def frame(nested, column):
    return pl.DataFrame(rows(nested), schema=["query_id", "doc_id", column], orient="row")


PAIRS = {
    "polars": (frame(QRELS, "relevance"), frame(RUN, "score")),
    "lazy": (frame(QRELS, "relevance").lazy(), frame(RUN, "score").lazy()),
    "pandas": (frame(QRELS, "relevance").to_pandas(), frame(RUN, "score").to_pandas()),
    "PyTerrier": (
        pd.DataFrame(rows(QRELS), columns=["qid", "docno", "label"]),
        pd.DataFrame(rows(RUN), columns=["qid", "docno", "score"]),
    ),
    "pyarrow": (frame(QRELS, "relevance").to_arrow(), pa.table(frame(RUN, "score").to_arrow())),
    "namedtuples": (
        [ir_measures.Qrel(*row) for row in rows(QRELS)],
        [ir_measures.ScoredDoc(*row) for row in rows(RUN)],
    ),
}


@pytest.mark.parametrize(("qrels", "run"), PAIRS.values(), ids=PAIRS)
def test_forms_that_tell_what_they_are_are_refused_in_each_others_place(qrels, run):
    refused_in_each_others_place(qrels, run)


@pytest.mark.thorough  # ranx takes six seconds to import
def test_what_ranx_reads_is_refused_in_each_others_place():
    ranx = pytest.importorskip("ranx")
    refused_in_each_others_place(ranx.Qrels(QRELS), ranx.Run(RUN))


def refused_in_each_others_place(qrels, run):
    expected = pm.calc_aggregate("P@1", QRELS, RUN)
    assert pm.calc_aggregate("P@1", qrels, run) == expected
    for first, second in ((run, qrels), (run, RUN), (QRELS, qrels)):
        with pytest.raises(pm.InputError, match=FIRST):
            pm.calc_aggregate("P@1", first, second)


def test_a_data_set_is_no_run_and_a_scanned_run_no_qrels(tmp_path):
    pm.write_run(RUN, tmp_path / "run.trec")
    for qrels, run in [
        (QRELS, ir_datasets.load("permed-sample")),
        (QRELS, "permed-sample"),
        (pm.scan_run(tmp_path / "run.trec"), QRELS),
    ]:
        with pytest.raises(pm.InputError, match=r"come first, then the run|only qrels can be one"):
            pm.calc_aggregate("P@1", qrels, run)


SWAPPED = rf"^the qrels look like a run, and the run looks like qrels\. {FIRST}$"


@pytest.mark.parametrize(
    "scores",
    [
        RUN,
        {"t_1": {"a": -1, "x": -2}, "t_2": {"e": -1, "d": -2}},
        {"t_1": {"a": 100, "x": 99}, "t_2": {"e": 100, "d": 98}},
    ],
    ids=["floats", "ranks", "integers"],
)
@pytest.mark.parametrize("function", [pm.calc_aggregate, pm.calc, lambda *args: list(pm.iter_calc(*args))])
def test_dicts_that_look_swapped_are_warned_about(function, scores):
    with pytest.warns(pm.PermedWarning, match=SWAPPED) as caught:
        function(["P@1"], scores, QRELS)
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        (QRELS, RUN),
        (QRELS, QRELS),  # a ranking by integers
        (RUN, RUN),  # grades that are no integers
        (RUN, {"t_1": {"a": 3.0, "b": 0.25}}),
        (RUN, {"t_1": {}}),
        (RUN, {}),
        ({"t_1": {"a": 0.5, "b": 2, "c": 1}}, QRELS),  # too few to tell
        ({}, QRELS),
    ],
)
def test_dicts_that_may_be_right_are_not_warned_about(recwarn, qrels, run):
    pm.calc_aggregate("P@1", qrels, run)
    assert not recwarn.list


@pytest.mark.parametrize("query_ids", [("t_1", "t_2"), ("1", "2")])
def test_ids_of_documents_in_the_column_of_queries_get_no_hint_of_a_prefix(query_ids):
    qrels = {query_id: {"d1": 1, "d2": 0} for query_id in query_ids}
    with pytest.warns(pm.NoSharedQueryWarning) as caught:
        pm.calc_aggregate("P@1", qrels, {"d1": {query_ids[0]: 2.0}, "d2": {query_ids[0]: 1.0}})
    message = str(caught[0].message)
    assert message.endswith("These are ids of documents: the columns of the run may be swapped")
    assert "prefix" not in message


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


@pytest.mark.parametrize("form", [dict, lambda run: frame(run, "score")])
def test_swapped_columns_are_said_where_some_documents_are_named_as_queries(form):
    qrels = {"1": {"d1": 1, "2": 1}, "2": {"d2": 1}}
    with pytest.warns(pm.PermedWarning) as caught:
        pm.calc_aggregate("P@1", qrels, form({"2": {"1": 2.0}, "d1": {"1": 2.0}, "d2": {"2": 1.0}}))
    message = str(caught[0].message)
    assert message.endswith("These are ids of queries: the columns of the run may be swapped")
    with pytest.warns(pm.PermedWarning, match="no retrieved document is judged") as caught:
        pm.calc_aggregate("P@1", qrels, form({"1": {"x": 2.0}, "d1": {"1": 2.0}}))
    assert "swapped" not in str(caught[0].message)


@pytest.mark.parametrize("function", [pm.compare, pm.uncertainty, pm.audit])
def test_a_measure_in_the_place_of_the_qrels_is_said(function):
    with pytest.raises(pm.InputError, match=r"found the measure P@1\).*compare\(qrels, runs, measures\)"):
        function("P@1", QRELS, RUN)
