"""Bad judgments and runs in memory: each is an error that names query and document."""

import math
from decimal import Decimal
from fractions import Fraction

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pytest

import permed_measures as pm

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
RUN = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"c": 1.0}}
MEASURES = [pm.GradedAP @ 10]


def frame(**columns):
    return {"query_id": ["q1", "q1"], "doc_id": ["a", "x"], "score": [2.0, 1.0], **columns}


def labels(**columns):
    return {"query_id": ["q1", "q1"], "doc_id": ["a", "x"], "relevance": [2, 1], **columns}


def mixed(*values):
    return pd.Series(list(values), dtype=object)


NAN = float("nan")
A, X = "query 'q1', document 'a'", "query 'q1', document 'x'"

BAD_RUNS = [
    ("a NaN score, judged", {"q1": {"a": NAN, "x": 1.0}}, f"{A}: a score must be a number (found nan)"),
    ("a NaN score, unjudged", {"q1": {"a": 1.0, "x": NAN}}, f"{X}: a score must be a number (found nan)"),
    ("no score", {"q1": {"a": None}}, f"{A}: a score must be a number (found None)"),
    ("a text as score", {"q1": {"a": "1.5"}}, f"{A}: a score must be a number (found '1.5')"),
    (
        "a score of 5,000 digits",
        {"q1": {"a": 10**5000}},
        f"{A}: a score must be a number (found one of",
    ),
    ("a float id", {"q1": {1.0: 1.0}}, "query 'q1', document 1.0: an id must be a string or an integer"),
    ("a float query id", {1.0: {"a": 1.0}}, "an id must be a string or an integer (found 1.0)"),
    (
        "ids that meet as strings",
        {"q1": {1: 1.0, "1": 2.0}},
        "query 'q1': two document ids are the same as strings",
    ),
    (
        "query ids that meet as strings",
        {1: {"a": 1.0}, "1": {}},
        "two query ids of the run are the same as strings",
    ),
    ("a list per query", {"q1": ["a", "b"]}, "query 'q1': the results of a query must be a dict"),
    ("no path", "run.trec", "run.trec: No such file or directory"),
    ("bytes", b"run.trec", "Read a file with permed_measures.read_qrels or read_run"),
    ("a number", 3, "expected a dict {query_id: {doc_id: number}}"),
    ("tuples", [("q1", "a", 1.0)], "an item needs query_id, doc_id and score (found tuple ('q1', 'a', 1.0))"),
    (
        "a duplicate namedtuple",
        [ir_measures.ScoredDoc("q1", "x", 1.0), ir_measures.ScoredDoc("q1", "x", 2.0)],
        f"{X}: the document is listed twice, with 1.0 and 2.0",
    ),
    ("pandas, NaN", pd.DataFrame(frame(score=[2.0, NAN])), f"{X}: a score must be a number (found nan)"),
    ("polars, NaN", pl.DataFrame(frame(score=[2.0, NAN])), f"{X}: a score must be a number (found nan)"),
    ("polars, null", pl.DataFrame(frame(score=[2.0, None])), f"row 1: {X}: missing value in column score"),
    ("polars, text", pl.DataFrame(frame(score=["2", "1"])), "column score must hold numbers (found String)"),
    (
        "polars, float ids",
        pl.DataFrame(frame(doc_id=[1.0, 2.0])),
        "ids must be strings or integers (found Float64",
    ),
    (
        "pandas, mixed ids",
        pd.DataFrame(frame(doc_id=mixed("a", 2.0))),
        "row 1, column doc_id: an id must be a",
    ),
    (
        "pandas, text",
        pd.DataFrame(frame(score=mixed(1.0, "b"))),
        "row 1: a score must be a number (found 'b')",
    ),
    (
        "pandas, missing category",
        pd.DataFrame(frame(doc_id=pd.Categorical(["a", None]))),
        "missing value in column doc_id",
    ),
    (
        "a missing column",
        pd.DataFrame({"query_id": ["q1"], "document": ["a"], "score": [1.0]}),
        "a frame needs the columns query_id, doc_id and score (or PyTerrier's qid, docno and score); "
        "doc_id is missing (found ['query_id', 'document', 'score'])",
    ),
]

BAD_QRELS = [
    ("NaN", {"q1": {"a": NAN}}, f"{A}: a relevance must be a number (found nan)"),
    ("infinite", {"q1": {"a": math.inf}}, f"{A}: a relevance must be a number (found inf)"),
    ("text", {"q1": {"a": "2"}}, f"{A}: a relevance must be a number (found '2')"),
    ("none", {"q1": {"a": None}}, f"{A}: a relevance must be a number (found None)"),
    ("a float id", {"q1": {2.0: 1}}, "query 'q1', document 2.0: an id must be a string or an integer"),
    ("a list per query", {"q1": ["a"]}, "query 'q1': the judgments of a query must be a dict"),
    (
        "ids that meet as strings",
        {"q1": {"1": 1, 1: 2}},
        "query 'q1': two document ids are the same as strings",
    ),
    (
        "query ids that meet as strings",
        {"1": {"a": 1}, 1: {"a": 2}},
        "two query ids of the qrels are the same",
    ),
    (
        "a duplicate namedtuple",
        [ir_measures.Qrel("q1", "a", 1), ir_measures.Qrel("q1", "a", 2)],
        f"{A}: the document is listed twice, with 1 and 2",
    ),
    (
        "polars, NaN",
        pl.DataFrame(labels(relevance=[1.0, NAN])),
        f"{X}: a relevance must be a number (found nan)",
    ),
    (
        "pandas, twice",
        pd.DataFrame(labels(doc_id=["a", "a"])),
        f"{A}: the document is judged twice",
    ),
    ("pandas, text", pd.DataFrame(labels(relevance=mixed("a", 1))), "row 0: a relevance must be a number"),
]


@pytest.mark.parametrize(
    ("run", "message"), [pytest.param(run, text, id=name) for name, run, text in BAD_RUNS]
)
def test_a_bad_run_is_an_error_that_says_where(run, message):
    qrels = {"q1": {**QRELS["q1"], "1.0": 1}, "1.0": {"a": 1}}
    with pytest.raises(pm.InputError) as error:
        pm.calc_aggregate(MEASURES, qrels, run)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("qrels", "message"), [pytest.param(q, text, id=name) for name, q, text in BAD_QRELS]
)
def test_bad_qrels_are_an_error_that_says_where(qrels, message):
    with pytest.raises(pm.InputError) as error:
        pm.calc_aggregate(MEASURES, qrels, RUN)
    assert message in str(error.value)


def test_an_empty_run_is_no_reason_to_warn():
    for empty in ({}, [], pd.DataFrame([], columns=["query_id", "doc_id", "score"]), {"q1": {}}):
        assert pm.calc_aggregate(MEASURES, QRELS, empty) == {MEASURES[0]: 0}


@pytest.mark.parametrize("long", ["9" * 1_000_000, ["9"] * 100_000])
def test_a_value_of_megabytes_is_cut_in_a_message(long):
    cases = [
        (QRELS, {"q1": {"a": long}}),
        ({"q1": {"a": long}}, RUN),
        (QRELS, [ir_measures.ScoredDoc("q1", "a", 1.0), ir_measures.ScoredDoc("q1", "a", long)]),
        (QRELS, long),
    ]
    if isinstance(long, str):
        cases += [(QRELS, {"q1": {long: None}}), ({long: {"a": None}}, RUN), ({long: 5}, RUN)]
    for qrels, run in cases:
        with pytest.raises(pm.InputError) as error:
            pm.calc_aggregate(MEASURES, qrels, run)
        assert len(str(error.value)) < 500
    with pytest.warns(pm.PermedWarning, match="share no query") as warned:
        pm.calc_aggregate(MEASURES, {"9" * 5_000_000: {"a": 1}}, RUN)
    assert len(str(warned[0].message)) < 500


def test_errors_keep_their_parts_across_processes():
    import pickle

    error = pickle.loads(pickle.dumps(pm.InputError("wrong", where="here", hint="Do that")))
    assert (str(error), error.where, error.hint) == ("here: wrong. Do that", "here", "Do that")


NUMBERS = [True, False, 3, 2**53 + 1, -(2**70), 2.5, math.inf, -math.inf, np.float32(0.1), np.int8(3)]
NUMBERS += [np.float64(1.5), np.bool_(True), Decimal("0.1"), Fraction(1, 3)]


@pytest.mark.parametrize("place", [0, 1000])
@pytest.mark.parametrize("score", NUMBERS, ids=repr)
def test_every_number_is_the_double_that_python_makes_of_it(score, place):
    documents = {f"d{n}": 0.25 for n in range(2501)}
    documents[f"d{place}"] = score
    above = sum(1 for value in documents.values() if np.float32(value) > np.float32(0.25))
    [found] = pm.calc_aggregate(["RR"], {"q": {"x": 1}}, {"q": {**documents, "x": 0.25}}).values()
    assert found == 1 / (above + 1)
    [found] = pm.calc_aggregate(["P@1"], {"q": {f"d{place}": 1}}, {"q": documents}).values()
    assert found == (np.float32(score) > np.float32(0.25))


@pytest.mark.parametrize("place", [0, 1000])
@pytest.mark.parametrize(
    "score", ["1.5", b"1", None, 1j, [1.0], 10**400, NAN, Decimal("nan"), np.float32("nan")]
)
def test_what_is_no_number_is_named_wherever_it_stands(score, place):
    run = {"q1": {"a": 1.0}, "q2": {f"d{n}": 1.0 for n in range(2501)}, "q3": {"a": 1.0}}
    run["q2"][f"d{place}"] = score
    qrels = {query_id: {"a": 1} for query_id in run}
    with pytest.raises(pm.InputError, match=f"query 'q2', document 'd{place}': a score must be a number"):
        pm.calc_aggregate(["RR"], qrels, run)


def test_the_path_of_a_file_is_told_from_records_by_ir_measures_too():
    import ir_measures

    with pytest.raises(
        pm.InputError, match=r"\(found str r\)\. Read a file with permed_measures\.read_qrels"
    ):
        ir_measures.calc_aggregate([pm.GradedAP @ 10], "run.trec", {"q": {"a": 1.0}})
