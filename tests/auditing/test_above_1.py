"""Numbers above 1: a DCG as it stands, or anything in percent."""

import json
import math
import random

import pytest
from audit_helpers import trials_of

import permed_measures as pm
from permed_measures.conventions.named import COMMUNITY
from permed_measures.conventions.options import CONVENTION_MEASURES, OPTIONS_OF, SHARED, with_value
from permed_measures.conventions.records import OPTIONS
from permed_measures.published_tables.claims import parse_claims
from permed_measures.published_tables.measure_names import ABOVE_1


def data(seed=1):
    """Make grades from -1 to 3, and a run of all judged documents."""
    rng = random.Random(seed)
    qrels = {f"q{i}": {f"d{j}": rng.choice([-1, 0, 0, 1, 2, 3]) for j in range(25)} for i in range(30)}
    run = {q: {doc: grade + rng.gauss(0, 1.5) for doc, grade in docs.items()} for q, docs in qrels.items()}
    return qrels, run


def mean_dcg(qrels, run, k, gain=lambda grade: grade):
    total = 0
    for query, docs in run.items():
        best = sorted(docs, key=docs.get, reverse=True)[:k]
        total += sum(gain(max(qrels[query][doc], 0)) / math.log2(i + 2) for i, doc in enumerate(best))
    return total / len(run)


def test_the_measures_that_options_take_above_1_are_these():
    """Try every two values of options on lists with and without relevant, negative and unjudged documents."""
    found = set()
    for grades in ("3210", "3x", "1-", "-1", "x"):
        docs = dict(zip("abcd", grades, strict=False))
        judged = {doc: -1 if grade == "-" else int(grade) for doc, grade in docs.items() if grade != "x"}
        qrels = {"q": {**judged, "e": 1, "f": -1}, "p": {**judged, "a": 1}}
        run = {query: {doc: 9.0 - n for n, doc in enumerate(docs)} for query in qrels}
        names = ("MAP@2", "nDCG@2", "P@2", "R@2", "MRR", "hit@2", "F1@2")
        for trial in trials_of(qrels, run, dict.fromkeys(names, "0.5")):
            default = COMMUNITY.with_cutoffs([trial])
            options = [*SHARED, *OPTIONS_OF[trial.measure]]
            values = [(o, v) for o in options for v in OPTIONS[o].values_for([trial.measure], [1.0, 2.0])]
            for first in values:
                for second in values:
                    if trial.value(with_value(with_value(default, *first), *second)) > 1 + 1e-9:
                        found.add(trial.measure)
    assert found == set(ABOVE_1) < set(CONVENTION_MEASURES)


@pytest.mark.parametrize("gain", ["linear", "exp"])
@pytest.mark.parametrize("with_p", ["", "0.{:04d}", "{:.2f}"])
def test_a_dcg_above_1_is_explained_whatever_else_is_printed(gain, with_p):
    qrels, run = data()
    value = mean_dcg(qrels, run, 10, {"linear": lambda g: g, "exp": lambda g: 2**g - 1}[gain])
    assert value > 4
    p = pm.calc_aggregate(["P@10"], qrels, run).popitem()[1]
    claims = {"nDCG@10": f"{value:.4f}"}
    if with_p:
        claims["P@10"] = f"{p:.4f}" if with_p.startswith("0") else f"{100 * p:.2f}"
    result = pm.audit(qrels, run, claims)
    assert (result.ok, result.verdict) == (True, "certain")
    assert any(change.startswith("ideal list of nDCG: no ideal list") for change in result.best[0].changes)
    assert (
        f"nDCG@10 with {'linear' if gain == 'linear' else 'exponential'} gains" in result.best[0].sentence()
    )
    [found, *_] = json.loads(result.to("json"))["claims"]
    assert (found["value"], found["printed"]) == (pytest.approx(value), f"{value:.4f}")
    wrong = pm.audit(qrels, run, {"nDCG@10": f"{value + 0.0007:.4f}"})
    assert not wrong.ok


def test_the_small_case():
    qrels = {f"q{i}": {"a": 1, "b": 1, "c": 0} for i in range(4)}
    qrels["q3"]["a"] = 2
    run = {query: {"a": 3.0, "b": 2.0, "c": 1.0} for query in qrels}
    result = pm.audit(qrels, run, {"nDCG@10": "1.8809"})
    assert (result.ok, result.verdict) == (True, "may be chance")
    with pytest.raises(pm.MeasureError, match="an nDCG that is not divided by an ideal") as caught:
        pm.audit(qrels, run, {"DCG@10": "1.8809"})
    assert "DCG@10" in str(caught.value)  # and named so, as advised, it is explained


def test_other_runs_are_counted_as_the_claim_is_read_by_the_convention():
    """A DCG of 7.0 to 11.4 is nearer to nDCG if read as percent; resampled means are often equal."""
    qrels = {f"q{i}": {"a": 3, "b": 3, "c": 0} for i in range(4)}
    qrels["q3"]["b"] = 0
    run = {query: {"a": 3.0, "b": 2.0, "c": 1.0} for query in qrels}
    value = mean_dcg(qrels, run, 10, lambda grade: 2**grade - 1)
    result = pm.audit(qrels, run, {"nDCG@10": f"{value:.4f}"})
    assert (result.ok, result.verdict) == (True, "may be chance")
    assert [trial.claim.percent for trial in result.trials] == [True]
    assert result.chance.n_values > 0
    assert result.chance.n_others > result.chance.n_drawn / 3
    assert result.to_polars()["printed"].to_list() == [f"{value:.4f}"]


def test_a_dcg_may_be_above_100():
    qrels = {f"q{i}": {f"d{j}": (i + j) % 7 for j in range(40)} for i in range(20)}
    run = {query: {doc: (doc < "d3") + len(doc) / 9 for doc in docs} for query, docs in qrels.items()}
    run = {query: {doc: -n / 8 for n, doc in enumerate(docs)} for query, docs in run.items()}
    value = mean_dcg(qrels, run, 20, lambda grade: 2**grade - 1)
    assert value > 100
    result = pm.audit(qrels, run, {"nDCG@20": f"{value:.3f}"})
    assert (result.ok, result.verdict) == (True, "certain")
    for name in ("P@20", "MAP@20", "nDCG@20 (%)"):
        with pytest.raises(pm.InputError, match="a value is at most 1, or 100 percent"):
            pm.audit(qrels, run, {name: f"{value:.3f}"})


@pytest.mark.parametrize("off", [0, 0.01, -0.01])
def test_percent_stays_percent(off):
    """The claims are an explained number and typos of one unit."""
    qrels, run = data(2)
    ndcg, ap = pm.calc_aggregate(
        [pm.parse_measure(each) for each in ("nDCG@10", "AP@10")], qrels, run
    ).values()
    claims = {"nDCG@10": f"{100 * ndcg + off:.2f}", "MAP@10": f"{100 * ap:.2f}"}
    result = pm.audit(qrels, run, claims)
    assert result.ok == (off == 0)
    assert [trial.claim.percent for trial in result.trials] == [True, True]
    printed = [each["printed"] for each in result.to_polars().to_dicts()]
    assert printed == [f"{100 * ndcg:.2f}", f"{100 * ap:.2f}"]
    [limits] = pm.possible(qrels, {"nDCG@10": f"{100 * ndcg:.2f}"}).rows
    assert limits.ok


@pytest.mark.parametrize(("text", "percent"), [("1.9", False), ("19.4", True), ("50", True), ("2", False)])
def test_of_points_and_percent_the_nearer_is_read_where_nothing_explains_a_number(text, percent):
    """A value ten times as large is as far away as one ten times smaller."""
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    result = pm.audit(qrels, run, {"nDCG@2": text})
    assert [trial.claim.percent for trial in result.trials] == [percent]
    [[claim]] = parse_claims([{"nDCG@2": text}])
    assert (claim.percent, claim.other.percent) == (True, False)
