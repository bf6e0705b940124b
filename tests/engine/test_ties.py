"""The least, the most and the mean of a value over orders of equal scores, and the most over all runs.

All of them are compared with the plain loops.
"""

from itertools import chain, groupby, permutations, product

import ir_measures
import numpy as np
import oracle
import polars as pl
import pytest
from cases import GRADES, PARAMETERS, random_measure
from effort import effort
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import RANDOMS

import permed_measures as pm
from permed_measures.engine.kernels import KERNELS
from permed_measures.engine.tables import Table
from permed_measures.engine.ties import over_ties
from permed_measures.measures.parameters import values_of

DOCUMENTS = "abcdefg"


def ranges(measure, qrels, run):
    """Return our least and most for the query, and whether no order goes beyond."""
    found = found_over_ties(measure, qrels, run)
    return (found.minimum[0, 0], found.maximum[0, 0]), found.exact[0]


def found_over_ties(measure, qrels, run):
    evaluator = pm.evaluator([measure], qrels)
    return over_ties([measure], evaluator.judgments, run, evaluator.evaluate(run).values)


def expected(measure, qrels, run):
    """Return our mean over all orders for each query, or None where it has no closed form."""
    [found] = found_over_ties(measure, qrels, run).expected
    return None if found is None else found.tolist()


def values_of_all_orders(measure, judgments, scores):
    """Return the values of each order of the documents that have the same score."""
    falling = sorted(scores, key=lambda doc: -scores[doc])
    tied = [list(permutations(docs)) for _, docs in groupby(falling, scores.__getitem__)]
    compute, params = oracle.MEASURES[measure.NAME], values_of(measure)
    for order in product(*tied):
        ranking = [(doc, judgments.get(doc)) for doc in chain(*order)]
        yield compute(ranking, judgments, **params)


JUDGMENTS = st.sampled_from(GRADES).flatmap(
    lambda grades: st.dictionaries(
        st.sampled_from(DOCUMENTS), st.sampled_from(grades), min_size=1, max_size=6
    )
)
SCORES = st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=5).map(
    lambda scores: dict(zip(DOCUMENTS, scores, strict=False))
)


def test_every_measure_is_tried():
    assert PARAMETERS.keys() == KERNELS.keys()


@pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")
@pytest.mark.parametrize("name", PARAMETERS)
@given(judgments=JUDGMENTS, scores=SCORES, rng=RANDOMS)
def test_some_order_gives_them_and_none_goes_beyond_where_that_is_said(name, judgments, scores, rng):
    measure = random_measure(rng, name)
    values = list(values_of_all_orders(measure, judgments, scores))
    found, exact = ranges(measure, {"q": judgments}, {"q": scores})
    for value in found:
        assert np.abs(np.array(values) - value).min() < 1e-12
    if exact:
        assert found == pytest.approx((min(values), max(values)), abs=1e-12)


@pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")
@pytest.mark.parametrize(
    ("measure", "judgments", "tied"),
    [
        ("GradedAP@3", {"a": 1, "b": 2, "c": 2}, "abcx"),
        ("VariantNDCG(ideal='cutoff')@2", {"a": 1, "b": 1, "c": 2}, "abc"),
        ("Judged@1", {"a": 0, "z": -1}, "ab"),
        ("Coverage(rel=0)@1", {"a": 0}, "ab"),
    ],
)
def test_where_another_order_goes_beyond_that_is_said(measure, judgments, tied):
    measure, scores = pm.parse_measure(measure), dict.fromkeys(tied, 1.0)
    values = list(values_of_all_orders(measure, judgments, scores))
    (low, high), exact = ranges(measure, {"q": judgments}, {"q": scores})
    assert min(values) < low - 1e-9 or max(values) > high + 1e-9
    assert not exact
    without = {doc: -float(place) for place, doc in enumerate(tied)}
    assert ranges(measure, {"q": judgments}, {"q": without})[1]


def test_graded_ap_is_the_least_with_the_heaviest_first_behind_all_that_is_not_relevant():
    qrels, run = {"q": {"a": 2, "b": 1}}, {"q": {"a": 1.0, "b": 1.0, "x": 1.0}}
    (low, high), exact = ranges(pm.GradedAP, qrels, run)  # as ranked, and lowest first: 11/24
    assert (low, high, exact) == (pytest.approx(5 / 12), pytest.approx(3 / 4), True)


# --- the mean over all orders ---


def has_no_closed_form(measure):
    given = values_of(measure)
    by_what_is_found = given.get("norm") == "num_rel_ret" or given.get("ideal") == "cutoff"
    return measure.NAME in ("IPrec", "infAP") or (by_what_is_found and given["cutoff"] is not None)


@pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")
@pytest.mark.parametrize("name", PARAMETERS)
@given(judgments=JUDGMENTS, scores=SCORES, rng=RANDOMS)
def test_the_expected_value_is_the_mean_over_all_orders(name, judgments, scores, rng):
    measure = random_measure(rng, name)
    values = list(values_of_all_orders(measure, judgments, scores))
    found = expected(measure, {"q": judgments}, {"q": scores})
    if max(values) > min(values) and has_no_closed_form(measure):
        assert found is None
    elif found is not None:
        assert found == [pytest.approx(sum(values) / len(values), abs=1e-12)]
    else:
        assert has_no_closed_form(measure)


def test_the_expected_value_of_a_query_is_its_own():
    qrels = {
        "p": {"a": 1, "b": 2, "c": 1, "d": 0},
        "q": {"a": 2, "b": 1, "c": -1, "e": 1},
        "r": {"a": 1},
        "s": {"a": 0},
    }
    run = {
        "p": {"x": 9.0, "a": 2.0, "b": 2.0, "y": 2.0, "c": 1.0, "z": 1.0, "d": 1.0},
        "q": {"a": 1.0, "c": 1.0, "b": 0.5, "e": 0.5, "x": 0.5},
        "s": {"a": 1.0, "b": 1.0},
    }
    names = "nDCG AP RR ERR P@2 R@3 Bpref Rprec GradedAP@3 Coverage@1 Judged@2 QMeasure GAP@4 RBP(rel=1)"
    for measure in map(pm.parse_measure, [*names.split(), "AP(judged_only=True)@2", "Success(rel=2)@1"]):
        of_each = [
            [*values_of_all_orders(measure, judgments, run.get(query_id, {}))]
            for query_id, judgments in qrels.items()
        ]
        means = [sum(values) / len(values) for values in of_each]
        assert expected(measure, qrels, run) == pytest.approx(means, abs=1e-12), str(measure)


def test_a_tie_of_more_documents_than_one_could_put_into_all_orders():
    n, qrels = 1000, {"q": {"a": 1}, "p": {"a": 2, "b": 1, "c": 1}}
    run = {
        query_id: {**dict.fromkeys("abc", 0.5), **{f"x{i}": 0.5 for i in range(n - 3)}} for query_id in qrels
    }
    of_one = sum(1 / rank for rank in range(1, n + 1)) / n
    assert expected(ir_measures.RR, qrels, run)[1] == pytest.approx(of_one, rel=1e-12)
    assert expected(ir_measures.AP, qrels, run)[1] == pytest.approx(of_one, rel=1e-12)
    assert expected(ir_measures.P @ 10, qrels, run) == pytest.approx([3 / n, 1 / n], rel=1e-12)
    none = 990 * 989 * 988 / (1000 * 999 * 998)
    assert expected(ir_measures.Success @ 10, qrels, run) == pytest.approx([1 - none, 10 / n], rel=1e-12)
    pairs = [(i, j) for i in range(1, n + 1) for j in range(1, n + 1) if i != j]
    at_one, with_another = of_one, sum(1 / i for i, j in pairs if j < i) / len(pairs)
    assert expected(ir_measures.AP, qrels, run)[0] == pytest.approx(at_one + 2 * with_another, rel=1e-12)


def test_every_form_of_a_run_has_the_same_expected_values():
    qrels = {"q": {"a": 1, "b": 2, "c": 0}, "p": {"a": 1}}
    run = {"q": {"x": 1.0, "c": 1.0, "b": 1.0, "a": 1.0}, "p": {"a": 0.25, "x": 0.25}}
    frame = pl.DataFrame(
        [(q, d, score) for q, docs in run.items() for d, score in docs.items()],
        ["query_id", "doc_id", "score"],
        orient="row",
    )
    for measure in (ir_measures.nDCG @ 2, pm.GradedAP, ir_measures.RR):
        assert expected(measure, qrels, Table([frame], "score")) == expected(measure, qrels, run)


# --- the ceiling ---


def best_of_all_runs(measure, judgments):
    """Return the highest value of any ranking of some of the judged documents and one that is unjudged."""
    compute, params = oracle.MEASURES[measure.NAME], values_of(measure)
    documents = [*judgments, "unjudged"]
    runs = chain.from_iterable(permutations(documents, n) for n in range(len(documents) + 1))
    return max(compute([(doc, judgments.get(doc)) for doc in run], judgments, **params) for run in runs)


@pytest.mark.parametrize("name", PARAMETERS)
@given(rng=RANDOMS)
def test_the_ceiling_is_the_highest_value_of_all_runs(name, rng):
    documents, grades = "abcd"[: rng.randint(1, effort(3, 4))], rng.choice(GRADES)
    judgments, measure = {doc: rng.choice(grades) for doc in documents}, random_measure(rng, name)
    assume(measure.NAME != "NumRet" or "rel" in measure.params)
    expected = best_of_all_runs(measure, judgments)
    assert pm.ceiling(measure, {"q": judgments}) == pytest.approx(expected, abs=1e-12)


def test_the_number_of_retrieved_documents_has_no_ceiling():
    with pytest.raises(pm.MeasureError, match="NumRet has no ceiling: a run can retrieve any number"):
        pm.ceiling("NumRet", {"q": {"a": 1}})
    with pytest.raises(pm.MeasureError, match="there is no measure 'beir'"):
        pm.ceiling("beir", {"q": {"a": 1}})
    assert pm.ceiling(ir_measures.NumRet(rel=1), {"q": {"a": 1, "b": 0}, "p": {"a": 2}}) == 2
