"""The least and the most of a value, over orders of equal scores and over all runs, by the plain loops."""

from itertools import chain, groupby, permutations, product

import ir_measures
import numpy as np
import oracle
import pytest
from cases import GRADES, PARAMETERS, random_measure
from effort import effort
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import RANDOMS

import permed_measures as pm
from permed_measures.engine.kernels import KERNELS
from permed_measures.engine.ties import over_ties
from permed_measures.measures.parameters import values_of

DOCUMENTS = "abcdefg"


def ranges(measure, qrels, run):
    """Return our least and most for the query, and whether no order goes beyond."""
    evaluator = pm.evaluator([measure], qrels)
    low, high, [exact] = over_ties([measure], evaluator.judgments, run, evaluator.evaluate(run).values)
    return (low[0, 0], high[0, 0]), exact


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
