"""No run exceeds `pm.ceiling`, and one reaches it: all runs of a few documents, by the plain loops."""

from itertools import chain, permutations

import ir_measures
import oracle
import pytest
from cases import GRADES, PARAMETERS, random_measure
from effort import effort
from hypothesis import assume, given
from strategies import RANDOMS

import permed_measures as pm
from permed_measures.measures.parameters import values_of


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
