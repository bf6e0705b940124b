"""The engine against the oracle, on random cases and in every form of input."""

import math
import random
from functools import cache
from itertools import chain, groupby, pairwise, product
from operator import itemgetter

import numpy as np
import oracle
import polars as pl
import pytest
from cases import FORMS, random_case, random_measure, rows_of
from effort import effort
from hypothesis import given
from hypothesis import strategies as st
from strategies import GRADES, RANDOMS, SCORES, nested

import permed_measures as pm
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import ScoredHits, TieBreak, _sort_queries, scores_differ
from permed_measures.engine.tables import Table
from permed_measures.inputs import conversion
from permed_measures.inputs.door import read

pytestmark = pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")

CASES = effort(120, 480)
CHUNKS = effort(4, 8)


def values_of(measures, qrels, run, ties=TieBreak.TREC):
    """Return {query: [values]} by the engine."""
    return dict(PermedEvaluator(measures, qrels, ties, read=read).evaluate(run).per_query())


def shuffled(rows, rng):
    """Return the rows in another order; those of a query keep theirs, which ties may go by."""
    order = [row[0] for row in rows]
    rng.shuffle(order)
    of_query = {query: iter(list(same)) for query, same in groupby(rows, key=itemgetter(0))}
    return [next(of_query[query]) for query in order]


def expected_of(measures, qrels, run, ties):
    """Return {query: [values]} by the oracle."""
    columns = [oracle.evaluate(each.NAME, dict(each.params), qrels, run, ties.value) for each in measures]
    return {query: [column[query] for column in columns] for query in qrels}


def assert_equal(values, expected, measures):
    assert list(values) == sorted(expected)
    for query, row in expected.items():
        for measure, found, value in zip(measures, values[query], row, strict=True):
            assert abs(found - value) <= 1e-9, (measure, query)


@cache
def many_cases(chunk):
    """Return a tie rule, measures, and the qrels, run and expected values of many cases."""
    rng = random.Random(chunk + 1)
    ties = list(TieBreak)[chunk % len(TieBreak)]
    qrels, run = {}, {}
    for number in range(CASES // CHUNKS):
        for whole, part in zip((qrels, run), random_case(rng), strict=True):
            whole.update({f"{number} {query}": docs for query, docs in part.items()})
    measures = list(dict.fromkeys(random_measure(rng) for _ in range(40)))
    return ties, measures, qrels, run, expected_of(measures, qrels, run, ties)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_many_random_cases_in_one_table_agree_with_the_oracle(form, chunk):
    rng = random.Random(chunk)
    ties, measures, qrels, run, expected = many_cases(chunk)
    given_qrels = FORMS[form](shuffled(rows_of(qrels), rng), "relevance")
    given_run = FORMS[form](shuffled(rows_of(run), rng), "score")
    assert_equal(values_of(measures, given_qrels, given_run, ties), expected, measures)


@given(
    qrels=nested(GRADES),
    run=nested(SCORES),
    measure=RANDOMS.map(random_measure),
    ties=st.sampled_from(TieBreak),
)
def test_generated_cases_agree_with_the_oracle(qrels, run, measure, ties):
    measures = [measure]
    assert_equal(values_of(measures, qrels, run, ties), expected_of(measures, qrels, run, ties), measures)


DEPTH = effort(100, 150)
KINDS = {
    "distinct": lambda rng: [rng.random() for _ in range(DEPTH)],
    "31": lambda rng: [rng.randrange(31) / 2 for _ in range(DEPTH)],
    "equal": lambda _: [1.5] * DEPTH,
    "beyond float32": lambda rng: rng.choices([1e39, math.inf, -1e39, 2.0, 0.0, -0.0], k=DEPTH),
    "equal as float32": lambda rng: [1 + rng.randrange(40) * 1e-9 for _ in range(DEPTH)],
}
ORDERS = {"falling": lambda scores, _: sorted(scores, reverse=True), "mixed": lambda scores, _: scores}
ORDERS["rising"] = lambda scores, _: sorted(scores)
ORDERS["one out of place"] = lambda scores, rng: [rng.choice(scores), *sorted(scores, reverse=True)[1:]]


def queries_of_all_kinds(rng):
    """Return qrels and a run whose queries differ in all that ranking goes by, side by side."""
    qrels, run = {}, {}
    kinds = list(product(KINDS, ORDERS, (0, 1, 5, DEPTH // 2, DEPTH)))
    for number, (scores, order, n_judged) in enumerate(rng.sample(kinds, len(kinds))):
        documents = [f"d{each}" for each in rng.sample(range(1000), DEPTH)]
        query_id = f"q{number}"
        run[query_id] = dict(zip(documents, ORDERS[order](KINDS[scores](rng), rng), strict=True))
        if number % 7:  # some queries of the run are not judged
            qrels[query_id] = {each: rng.randrange(-1, 3) for each in [*rng.sample(documents, n_judged), "x"]}
    return qrels, run


def forms_of(run, rng):
    """Return the run as a dict and in frames: queries together, in any order, in batches that cut them."""
    frame = pl.DataFrame(rows_of(run), schema=["query_id", "doc_id", "score"], orient="row")
    cut = sorted(rng.sample(range(len(frame)), 9))
    batches = [frame[start:end] for start, end in pairwise([0, *cut, len(frame)])]
    mixed = pl.DataFrame(shuffled(rows_of(run), rng), schema=frame.columns, orient="row")
    return {
        "dict": run,
        "together": frame,
        "in any order": mixed,
        "batches": Table(batches, "score"),
        "lazy": frame.lazy(),
        "lazy, in any order": mixed.lazy(),
    }


_SOME = [TieBreak.INPUT, TieBreak.PESSIMISTIC]


@pytest.mark.parametrize("ties", effort(_SOME, list(TieBreak)))
def test_ranks_are_those_of_a_full_sort_whatever_the_queries_beside(ties, monkeypatch):
    monkeypatch.setattr(conversion, "_ROWS_PER_PART", 1000)  # of a batch of the lazy frame
    rng = random.Random(5)
    qrels, run = queries_of_all_kinds(rng)
    judgments = Judgments.of(qrels)
    expected = [
        (query_id, position, doc_id)
        for query_id in sorted(qrels)
        for position, doc_id in enumerate(oracle.rank(run[query_id], ties.value, qrels[query_id]), start=1)
        if doc_id in qrels[query_id]
    ]
    for form, run_as_given in forms_of(run, rng).items():
        given_run = read(run_as_given, "score")
        whole = JudgedRankings.of(judgments, given_run, ties)
        query_ids = [judgments.query_ids[query] for query in whole.query]
        found = list(zip(query_ids, whole.rank.tolist(), judgments.doc_ids(whole.row), strict=True))
        assert found == expected, form
        for depth in effort([10], [1, 10, 999]):
            cut, first = JudgedRankings.of(judgments, given_run, ties, depth), whole.within(depth)
            for name in ("row", "rank", "retrieved", "n_run_queries", "n_shared"):
                np.testing.assert_array_equal(getattr(cut, name), getattr(first, name), f"{form}: {name}")


def test_only_queries_whose_scores_fall_are_sorted():
    """Of those with judged documents, whatever stands beside them; they come with their signs turned."""
    lists = [[-3, -2, -2], [-3, -2, -3], [], [-1], [-2, -3], [-9, -1]]
    end = np.cumsum(list(map(len, lists)))
    start, judged = end - list(map(len, lists)), np.array([0, 1, 1, 3, 5], np.int32)
    for scores in (lists, [[*docs] for docs in lists[:-1]] + [[-9, -10]]):
        score = np.concatenate(scores).astype(np.float32)
        rows = ScoredHits(-score, start, end, list, np.arange(5), np.zeros(5))
        unsorted = _sort_queries(score, rows, judged)
        assert unsorted.tolist() == [1] + [5] * (scores is not lists)
        expected = [sorted(docs) if n in unsorted else docs for n, docs in enumerate(scores)]
        assert score.tolist() == list(chain(*expected))


@pytest.mark.parametrize(
    ("lists", "differ"),
    [
        ([[1.0, 1.0], [], [2.0]], False),
        ([[1.0, 2.0]], True),
        ([[1.0], [1.0, 2.0, 1.0]], True),
        ([[1.0, 1 + 1e-9], [1e39, math.inf]], False),  # equal as float32
        ([[]], False),
    ],
)
def test_scores_differ_if_those_of_one_query_do(lists, differ):
    end = np.cumsum(list(map(len, lists)))
    hits = np.zeros(0, np.int64), np.zeros(0)
    rows = ScoredHits(np.concatenate(lists), end - list(map(len, lists)), end, list, *hits)
    assert scores_differ(rows) == differ


def test_what_is_below_the_cutoff_makes_no_difference():
    """Measures one at a time: where all have a cutoff, the rankings are cut at the deepest."""
    rng = random.Random(7)
    cut = 0
    for _ in range(effort(60, 400)):
        (qrels, run), measure = random_case(rng), random_measure(rng)
        evaluator = PermedEvaluator([measure], qrels)
        cut += evaluator._depth is not None
        found, whole = list(evaluator.iter_calc(run)), evaluator.evaluate(run)
        assert found == list(whole.metrics()), (measure, qrels, run)
    assert cut > 20


def test_an_evaluator_gives_the_same_each_time_and_whatever_is_asked_beside():
    """What depends on the qrels alone is kept: it must be that of the same parameters."""
    rng = random.Random(11)
    n_compared = 0
    for _ in range(effort(15, 150)):
        (qrels, run), other = random_case(rng), random_case(rng)[1]
        measures = [random_measure(rng, name) for name in ["VariantNDCG", "nDCG"] * 4]
        measures = list(dict.fromkeys([*measures, "P@1", "P(rel=2)@1", "AP(rel=2)@3", "AP@3", "Rprec"]))
        try:
            evaluator = pm.evaluator(measures, qrels)
        except pm.MeasureError:
            continue
        alone = [pm.calc_aggregate(measure, qrels, run) for measure in measures]
        values = {name: value for each in alone for name, value in each.items()}
        expected = pytest.approx(values, rel=0, abs=0, nan_ok=True)  # some have no query to average
        assert evaluator.calc_aggregate(run) == expected
        evaluator.calc_aggregate(other)
        assert evaluator.calc_aggregate(run) == expected
        assert evaluator.evaluate(run).aggregated == expected
        n_compared += 1
    assert n_compared > 5


def test_of_a_run_with_few_queries_the_others_have_no_results():
    qrels = {f"q{n}": {"a": 1, "b": n % 3} for n in range(9)}
    for some in (["q0"], ["q8"], ["q3", "q7"], ["q1", "q2", "q4"]):
        run = {query_id: {"x": 2.0, "b": 1.0, "a": 0.5} for query_id in some}
        frame = pl.DataFrame(rows_of(run), schema=["query_id", "doc_id", "score"], orient="row")
        values = values_of(["AP", "RR", "NumRet", "nDCG@2"], qrels, run)
        assert values == values_of(["AP", "RR", "NumRet", "nDCG@2"], qrels, frame)
        assert {query_id for query_id, value in values.items() if any(value)} == set(some)


def test_integer_ids_meet_string_ids():
    frame = pl.DataFrame({"query_id": [7, 7], "doc_id": [11, 12], "score": [2, 1]})
    for run in (frame.to_pandas(), frame, frame.to_arrow(), {7: {11: 2.0, 12: 1.0}}):
        assert list(pm.calc_aggregate(["RR"], {"7": {"12": 1}}, run).values()) == [0.5]


def test_a_query_has_the_same_value_whatever_stands_in_others():
    qrels = {"a": {"x": 1e15}, "b": {"y": 1.1, "z": 1.2, "w": 1.3}}
    run = {"a": {"x": 1.0}, "b": {"y": 3.0, "z": 2.0, "w": 1.0}}
    alone = values_of([pm.QMeasure], {"b": qrels["b"]}, run)
    assert values_of([pm.QMeasure], qrels, run)["b"] == alone["b"] == [pytest.approx(0.9562, abs=5e-5)]
    rng = random.Random(9)
    for _ in range(effort(20, 200)):
        qrels, run = random_case(rng)
        qrels = {
            query: {doc: grade * 10.0 ** rng.randrange(8) for doc, grade in docs.items()}
            for query, docs in qrels.items()
        }
        measures = [
            random_measure(rng, "QMeasure")(gains=None),
            pm.VariantNDCG(gain="linear"),
            pm.parse_measure("infAP"),
        ]
        values = values_of(measures, qrels, run)
        for query, docs in qrels.items():
            assert values_of(measures, {query: docs}, run)[query] == values[query]


@pytest.mark.filterwarnings("error")
def test_qrels_without_a_query_are_warned_about():
    for calculate in (pm.calc_aggregate, pm.calc):
        with pytest.warns(pm.PermedWarning, match=r"^the qrels have no query; every mean is NaN$"):
            calculate(["P@1"], {}, {"q": {"a": 1.0}})
    pm.calc_aggregate(["P@1"], {"q": {}}, {})


@pytest.mark.parametrize(
    ("ours", "theirs", "hint"),
    [
        ("d-12", "12", "'d-12' of the run may be '12' of the qrels: give both the same ids"),
        ("12", "MED-12", "'12' of the run may be 'MED-12' of the qrels: give both the same ids"),
        ("d-12", "13", ""),
        ("d-12", "e-12", ""),
        ("d", "", ""),
    ],
)
def test_ids_that_differ_by_what_stands_before_them_are_said(ours, theirs, hint):
    nested = {"q": {"0": 2.0, ours: 1.0}}
    frame = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["0", ours], "score": [2.0, 1.0]})
    for run in (nested, frame, [frame]):
        with pytest.warns(pm.PermedWarning, match="no retrieved document is judged") as caught:
            pm.calc_aggregate(["P@1"], {"q": {theirs: 1}}, run)
        said = f"every value but NumRet is that of an empty run{'. ' * bool(hint)}{hint}"
        assert str(caught[0].message).endswith(said)
