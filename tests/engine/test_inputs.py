"""Bad judgments and runs in memory: each is an error that names query and document."""

import math
import pickle
from decimal import Decimal
from fractions import Fraction
from itertools import permutations

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import permed_measures as pm
from permed_measures.engine.judgments import Judgments
from permed_measures.inputs.conversion import INPUT_FORMS

QRELS = {"q1": {"a": 1, "b": 0, "1.0": 1}, "q2": {"c": 2}, "1.0": {"a": 1}}
RUN = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"c": 1.0}}
NAN = float("nan")
A, X = "query 'q1', document 'a'", "query 'q1', document 'x'"
SAME = "are the same as strings"


def frame(kind=pl.DataFrame, column="score", **columns):
    return kind({"query_id": ["q1", "q1"], "doc_id": ["a", "x"], column: [2.0, 1.0], **columns})


def mixed(*values):
    return pd.Series(list(values), dtype=object)


BAD_RUNS = [
    ({"q1": {"a": NAN, "x": 1.0}}, f"{A}: a score must be a number (found nan)"),
    ({"q1": {"a": 1.0, "x": NAN}}, f"{X}: a score must be a number (found nan)"),
    ({"q1": {"a": None}}, f"{A}: a score must be a number (found None)"),
    ({"q1": {"a": 10**5000}}, f"{A}: a score must be a number (found one of"),
    ({"q1": {1.0: 1.0}}, "query 'q1', document 1.0: an id must be a string or an integer"),
    ({1.0: {"a": 1.0}}, "an id must be a string or an integer (found 1.0)"),
    ({"q1": {1: 1.0, "1": 2.0}}, f"query 'q1': two document ids {SAME}"),
    ({1: {"a": 1.0}, "1": {}}, f"two query ids of the run {SAME}"),
    ({"q1": ["a", "b"]}, "query 'q1': the results of a query must be a dict"),
    ("run.trec", "run.trec: No such file or directory"),
    (b"run.trec", "Read a file with permed_measures.read_qrels or read_run"),
    (3, "expected a dict {query_id: {doc_id: number}}"),
    (frame(pd.DataFrame)["score"], "expected a dict {query_id: {doc_id: number}}"),
    (pa.chunked_array([[1, 2]]), "expected a dict {query_id: {doc_id: number}}"),
    ([("q1", "a", 1.0)], "an item needs query_id, doc_id and score (found tuple ('q1', 'a', 1.0))"),
    (
        [ir_measures.ScoredDoc("q1", "x", 1.0), ir_measures.ScoredDoc("q1", "x", 2.0)],
        f"{X}: the document is listed twice, with 1.0 and 2.0",
    ),
    (frame(pd.DataFrame, score=[2.0, NAN]), f"{X}: a score must be a number (found nan)"),
    (frame(score=[2.0, NAN]), f"{X}: a score must be a number (found nan)"),
    (frame(score=[2.0, None]), f"row 1: {X}: missing value in column score"),
    (frame(score=["2", "1"]), "column score must hold numbers (found String)"),
    (frame(doc_id=[1.0, 2.0]), "ids must be strings or integers (found Float64"),
    (frame(pd.DataFrame, doc_id=mixed("a", 2.0)), "row 1, column doc_id: an id must be a"),
    (frame(pd.DataFrame, score=mixed(1.0, "b")), "row 1: a score must be a number (found 'b')"),
    (
        pd.DataFrame({"query_id": ["q1"], "document": ["a"], "score": [1.0]}),
        "a frame needs the columns query_id, doc_id and score (or PyTerrier's qid, docno and score); "
        "doc_id is missing (found ['query_id', 'document', 'score'])",
    ),
]
BAD_QRELS = [
    ({"q1": {"a": math.inf}}, f"{A}: a relevance must be a number (found inf)"),
    ({"q1": {"a": "2"}}, f"{A}: a relevance must be a number (found '2')"),
    ({"q1": {2.0: 1}}, "query 'q1', document 2.0: an id must be a string or an integer"),
    ({"q1": ["a"]}, "query 'q1': the judgments of a query must be a dict"),
    ({"q1": {"1": 1, 1: 2}}, f"query 'q1': two document ids {SAME}"),
    ({"1": {"a": 1}, 1: {"a": 2}}, f"two query ids of the qrels {SAME}"),
    (frame(column="relevance", relevance=[1.0, NAN]), f"{X}: a relevance must be a number (found nan)"),
    (frame(column="relevance", doc_id=["a", "a"]), f"{A}: the document is judged twice"),
]
BAD = [(QRELS, run, message) for run, message in BAD_RUNS]
BAD += [(qrels, RUN, message) for qrels, message in BAD_QRELS]


@pytest.mark.parametrize(("qrels", "run", "message"), BAD, ids=[message[:60] for *_, message in BAD])
def test_bad_qrels_and_runs_are_an_error_that_says_where(qrels, run, message):
    with pytest.raises(pm.InputError) as error:
        pm.calc_aggregate("RR", qrels, run)
    assert message in str(error.value)


def test_an_empty_run_is_no_reason_to_warn():
    for empty in ({}, [], frame(pd.DataFrame)[:0], {"q1": {}}):
        assert list(pm.calc_aggregate("RR", QRELS, empty).values()) == [0]
    with pytest.warns(pm.PermedWarning, match="the qrels have no query"):
        assert math.isnan(*pm.calc_aggregate("RR", {}, RUN).values())


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
            pm.calc_aggregate("RR", qrels, run)
        assert len(str(error.value)) < 500
    with pytest.warns(pm.PermedWarning, match="share no query") as warned:
        pm.calc_aggregate("RR", {"9" * 5_000_000: {"a": 1}}, RUN)
    assert len(str(warned[0].message)) < 500


@pytest.mark.parametrize(
    "call",
    [
        lambda run: pm.calc_aggregate("RR", QRELS, run),
        lambda run: list(pm.evaluator("RR", QRELS).iter_calc(run)),
        lambda run: pm.evaluate_by("RR", QRELS, run, by=str),
        lambda run: pm.crosscheck(QRELS, run, "RR"),
        lambda run: pm.compare(QRELS, {"one": RUN, "other": run}, "RR"),
        lambda run: pm.reranking(QRELS, RUN, run, "RR"),
        lambda run: pm.uncertainty(QRELS, run, "RR"),
        lambda run: pm.audit(QRELS, run, {"RR": "0.5"}),
        lambda run: pm.gate(QRELS, run, {"RR": 0.5}),
    ],
)
def test_a_warning_is_of_the_line_that_called_the_package(call):
    with pytest.warns(pm.NoSharedQueryWarning) as warned:
        call({"other": {"a": 1.0}})
    assert [each.filename for each in warned] == [__file__]


def test_errors_keep_their_parts_across_processes():
    error = pickle.loads(pickle.dumps(pm.InputError("wrong", where="here", hint="Do that")))
    assert (str(error), error.where, error.hint) == ("here: wrong. Do that", "here", "Do that")


NUMBERS = [True, False, 3, 2**53 + 1, -(2**70), 2.5, math.inf, -math.inf, np.float32(0.1), np.int8(3)]
NUMBERS += [np.float64(1.5), np.bool_(True), Decimal("0.1"), Fraction(1, 3)]


@pytest.mark.parametrize("score", NUMBERS, ids=lambda score: repr(score)[:24])
def test_every_number_is_the_double_that_python_makes_of_it(score):
    documents = {f"d{n}": 0.25 for n in range(2501)} | {"d1000": score}
    above = sum(np.float32(value) > np.float32(0.25) for value in documents.values())
    [found] = pm.calc_aggregate("RR", {"q": {"x": 1}}, {"q": {**documents, "x": 0.25}}).values()
    assert found == 1 / (above + 1)
    [found] = pm.calc_aggregate("P@1", {"q": {"d1000": 1}}, {"q": documents}).values()
    assert found == (np.float32(score) > np.float32(0.25))


@pytest.mark.parametrize("score", ["1.5", b"1", 1j, [1.0], 10**400, Decimal("nan"), np.float32("nan")])
def test_what_is_no_number_is_named_wherever_it_stands(score):
    run = {"q1": {"a": 1.0}, "q2": {f"d{n}": 1.0 for n in range(2501)} | {"d1000": score}, "q3": {"a": 1.0}}
    with pytest.raises(pm.InputError, match="query 'q2', document 'd1000': a score must be a number"):
        pm.calc_aggregate("RR", {query_id: {"a": 1} for query_id in run}, run)


def test_the_path_of_a_file_is_told_from_records_by_ir_measures_too():
    with pytest.raises(pm.InputError, match=r"found str r\)\. Read a file with permed_measures\.read_qrels"):
        ir_measures.calc_aggregate([pm.GradedAP @ 10], "run.trec", {"q": {"a": 1.0}})


MIXED = {"a": 3.0, 1: 2.0, 2: 1.0, "b": 1.0, 30: 1.0}
EQUAL = dict.fromkeys([9, 10, "91", "c"], 1.0)


BELOW_ZERO = {"a": 2.0, -1: 3.0}


@pytest.mark.parametrize(
    ("docs", "judged"), [(MIXED, "a12"), (EQUAL, ["9", "10", "c"]), (BELOW_ZERO, ["a", "-1"])]
)
def test_ids_of_several_types_give_one_result_whatever_their_order(docs, judged):
    qrels = {"q": dict.fromkeys(judged, 1), "other": {"z": 1}}
    as_strings = {"q": {str(doc): score for doc, score in docs.items()}}
    expected = pm.calc_aggregate(["P@2", "P@3", "RR", "AP"], qrels, as_strings)
    for order in permutations(docs):
        found = pm.calc_aggregate(["P@2", "P@3", "RR", "AP"], qrels, {"q": {doc: docs[doc] for doc in order}})
        assert found == expected


def test_an_integer_beside_its_text_is_one_document_listed_twice():
    for order in permutations(["1", 1, "b"]):
        with pytest.raises(pm.InputError, match=r"two document ids are the same as strings \(found '1'\)"):
            pm.calc_aggregate("RR", {"q": {"1": 1}}, {"q": dict.fromkeys(order, 1.0)})


def long_run(docs, n_queries=400, place=201):
    """Return qrels and a run: of a query in the middle these documents, of the others three."""
    run = {f"q{n:03}": {"a": 3.0, "b": 2.0, "c": 1.0} for n in range(n_queries)}
    run[f"q{place:03}"] = docs
    return {query_id: {"7": 1, "b": 1} for query_id in run}, run


OTHER_IDS = [
    ({"c": 3.0, 7: 2.5, "7": 2.0, "a": 1.0}, r"two document ids are the same as strings \(found '7'\)"),
    ({"c": 3.0, "7": 2.5, 7: 2.0, "a": 1.0}, r"two document ids are the same as strings \(found '7'\)"),
    ({"c": 3.0, -12: 2.5, "-12": 2.0, "a": 1.0}, "two document ids are the same as strings"),
    ({"c": 3.0, 7.0: 2.5, "a": 1.0}, r"query 'q', document 7\.0: an id must be a string or an integer"),
    ({"c": 3.0, None: 2.5, "a": 1.0}, "query 'q', document None: an id must be a string or an integer"),
    ({"c": 3.0, b"7": 2.5, "a": 1.0}, "query 'q', document b'7': an id must be a string or an integer"),
    ({"c": 3.0, True: 2.5, "a": 1.0}, "query 'q', document True: an id must be a string or an integer"),
    ({"c": 3.0, ("a", 1): 2.5, "a": 1.0}, "an id must be a string or an integer"),
]


@pytest.mark.parametrize(("docs", "message"), OTHER_IDS)
@pytest.mark.parametrize("n_queries", [1, 2, 19])
def test_an_id_among_strings_is_refused_in_a_dict_too(docs, message, n_queries):
    others = {f"q{n}": {"a": 1.0} for n in range(n_queries - 1)}
    qrels = {query_id: {"a": 1} for query_id in ["q", *others]}
    for run in ({"q": docs, **others}, {**others, "q": docs}):
        with pytest.raises(pm.InputError, match=message):
            pm.calc_aggregate("RR", qrels, run)


@pytest.mark.parametrize("docs", [docs for docs, _ in OTHER_IDS[:3]])
def test_an_integer_beside_its_text_is_refused_in_a_frame_as_in_a_dict(docs):
    data = pd.DataFrame({"query_id": "q", "doc_id": mixed(*docs), "score": [*docs.values()]})
    with pytest.raises(pm.InputError, match="listed twice"):
        pm.calc_aggregate("RR", {"q": {"a": 1}}, data)


@pytest.mark.parametrize(
    ("docs", "place", "expected"),
    [
        ({7: 3.0, "a": 2.0}, 201, 1.0),  # the first
        ({"a": 3.0, "c": 2.0, 7: 1.0}, 201, 1 / 3),  # the last
        ({"a": 3.0, 7: 2.0, "c": 1.0}, 0, 1 / 2),  # of a query of which all are looked at
        ({"a": 3.0, 7: 2.0, "c": 1.0}, 360, 1 / 2),
        ({"a": 3.0, 7: 2.0, "c": 1.0}, 201, 1 / 2),  # the 7 that is judged
        ({"a": 3.0, 8: 2.5, "8": 2.0, 7: 1.0, "c": 0.5}, 201, None),  # twice, and all are looked at for the 7
        ({"a": 3.0, 8: 2.5, "8": 2.0, "7": 1.0, "c": 0.5}, 201, 1 / 4),  # twice, and not looked at
    ],
)
def test_of_many_queries_those_ids_are_looked_at_that_are_said_to_be(docs, place, expected):
    qrels, run = long_run(docs, place=place)
    if expected is None:
        with pytest.raises(pm.InputError, match="two document ids are the same as strings"):
            pm.calc_aggregate("RR", qrels, run)
        return
    values = {metric.query_id: metric.value for metric in pm.iter_calc(["RR"], qrels, run)}
    assert values.pop(f"q{place:03}") == pytest.approx(expected)
    assert set(values.values()) == {0.5}


@pytest.mark.parametrize("judged", [-5, 7, 0])
@pytest.mark.parametrize("others", [(), ("-x",), ("9" * 5000,), ("-x", "9" * 5000), ("",)])
def test_a_judged_integer_is_seen_beside_ids_of_any_kind(judged, others):
    """Ids with a minus, and those of more digits than Python converts, take another way."""
    qrels, run = long_run({"c": 3.0, judged: 2.0, "a": 1.0})
    qrels = {query_id: {**dict.fromkeys(others, 0), str(judged): 1} for query_id in qrels}
    values = {metric.query_id: metric.value for metric in pm.iter_calc(["RR"], qrels, run)}
    assert values == {**dict.fromkeys(qrels, 0.0), "q201": 0.5}


def test_all_ids_are_looked_at_where_no_document_is_judged():
    qrels, run = long_run({"a": 3.0, 7.5: 2.0, "c": 1.0})
    assert pm.calc_aggregate("P@1", qrels, run) == {pm.parse_measure("P@1"): 0.0}
    strangers = {query_id: {"x": 1} for query_id in qrels}
    with pytest.raises(pm.InputError, match=r"query 'q201', document 7\.5: an id must be a string"):
        pm.calc_aggregate("P@1", strangers, run)


@pytest.mark.parametrize("order", [("c", 7, "d"), ("c", "d", 7), (7, "c", "d"), (7, 8, 9)])
def test_a_hint_about_ids_takes_integers(order):
    run = {"q": {doc_id: -float(place) for place, doc_id in enumerate(order)}}
    with pytest.warns(pm.PermedWarning, match="no retrieved document is judged: the run has '") as caught:
        assert pm.calc_aggregate("P@1", {"q": {"a": 1}}, run) == {pm.parse_measure("P@1"): 0.0}
    assert "of the qrels" not in str(caught[0].message)
    with pytest.warns(pm.PermedWarning, match="'7' of the run may be 'd7' of the qrels: give both the same"):
        pm.calc_aggregate("P@1", {"q": {"d7": 1}}, run)
    same = {"q": {f"d{doc_id}" if doc_id == 7 else str(doc_id): score for doc_id, score in run["q"].items()}}
    found = pm.calc_aggregate("RR", {"q": {"d7": 1}}, same)  # as the hint says
    assert list(found.values()) == [1 / (order.index(7) + 1)]


@pytest.mark.parametrize(
    "grades",
    [[2, 0, 1], [2.0, 0.0, 1.0], [2, 0.0, 1], [True, False, 1], np.array([2, 0, 1]), np.array([2.0, 0, 1])],
)
def test_grades_of_any_type_of_number_are_read(grades):
    qrels = {"q": dict(zip("abc", grades, strict=True)), "r": {"a": 1}}
    judgments = Judgments.of(qrels)
    assert judgments.grade.tolist() == [*sorted(map(float, grades), reverse=True), 1.0]


@pytest.mark.parametrize("grade", [2**53 + 1, 2**63, -(2**70)])
def test_integers_beyond_exact_doubles_are_rounded_as_python_does(grade):
    assert Judgments.of({"q": {"a": grade}}).grade.tolist() == [float(grade)]


@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
@pytest.mark.parametrize("twice", ["query_id", "doc_id", "score"])
def test_a_column_that_a_frame_has_twice_is_an_error(kind, twice):
    data = frame(pd.DataFrame)
    data = pd.concat([data, data[[twice]]], axis=1)
    if kind == "pyarrow":
        arrays = [data.iloc[:, n].tolist() for n in range(4)]
        data = pa.Table.from_arrays(list(map(pa.array, arrays)), names=[*data.columns])
    with pytest.raises(
        pm.InputError, match=f"the frame has two columns {twice}. Select the one that is meant"
    ):
        pm.calc_aggregate("RR", QRELS, data)


HALF = "d\ud800"


def test_half_of_a_character_meets_nothing_in_a_frame_and_is_named_in_one():
    qrels = {"q1": {"a": 1, HALF: 1}, f"q{HALF}": {"a": 1}}
    for run in (frame(), frame(pd.DataFrame), [frame()], frame().lazy()):
        assert list(pm.calc_aggregate(["RR", "R@5"], qrels, run).values()) == [0.5, 0.25]
    data = frame(pd.DataFrame, doc_id=mixed("a", HALF))
    message = r"row 1, column doc_id: an id contains an unpaired surrogate \(found 'd\\ud800'\)"
    with pytest.raises(pm.InputError, match=message):
        pm.calc_aggregate("RR", QRELS, data)


def test_forms_are_one_list_and_each_is_looked_for_in_its_order():
    assert len({(form.library, form.kind) for form in INPUT_FORMS}) == len(INPUT_FORMS)
    with pytest.raises(pm.InputError, match="expected a frame like the one before"):
        pm.calc_aggregate("RR", QRELS, [frame(), [("q1", "a", 1.0)]])
