"""The least and the most over all grades of unjudged documents, against every assignment on random cases."""

import itertools
import warnings

import numpy as np
import pytest
from brute_force import bounds, bounds_of_difference, random_case
from cwl.ruler.measures.cwl_rbp import RBPCWLMetric
from cwl.ruler.ranking import Ranking
from effort import effort

import permed_measures as pm
from permed_measures.budgets import average_precisions
from permed_measures.budgets.gradings import Unjudged
from permed_measures.budgets.unjudged import joint_bounds, scale_of, unjudged_bounds
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.measures.parameters import cutoff_of

SCALES = [[0, 1, 2, 3], [0, 1], [0, 2], [1, 2, 3], [0, 1, 2]]

NORMS = ["num_rel", "min", "num_rel_ret", "gain", "ideal", "none"]
FAMILIES = {
    "of one grade for all": """P@3 P@10 R@3 RR RR@4 Success@3 Coverage@4 ERR ERR@4 RBP(rel=1)@4
        RBP(rel=2,p=0.5) SetP SetP(relative=True) SetR SetF SetAP NumRel NumRet NumRet(rel=1)
        P(judged_only=True)@3""",
    "AP": "AP AP@3 AP@5 AP(rel=2)@5 AP(rel=0)@4 AP(judged_only=True)@4 GradedAP(gains={1:1,2:1,3:1})@4",
    "nDCG": """nDCG nDCG@3 nDCG@10 nDCG(dcg='exp-log2')@4 nDCG(gains={0:0,1:3,2:1,3:5})@4
        nDCG(judged_only=True)@3 nDCG(gains={1:-1},judged_only=True)@3""",
    "VariantNDCG": " ".join(
        [f"VariantNDCG(ideal='{ideal}',negative='{negative}',discount='{discount}')@4"
         for ideal, negative, discount in itertools.product(
             ("qrels", "run", "cutoff"), ("zero", "keep"), ("log2", "jk", "zipf"))]
        + [f"VariantNDCG(ideal='{ideal}',negative='keep',judged_only=True)@4" for ideal in ("qrels", "run")]
        + ["VariantNDCG(gain='linear',ideal='run')"]
    ),
    "GradedAP by number": " ".join(
        f"GradedAP(max_rel=3,norm='{norm}'){at}" for norm in ("num_rel", "min", "num_rel_ret", "none")
        for at in ("@3", "@5", "")),
    "GradedAP by weight": " ".join(
        f"GradedAP({which},norm='{norm}'){at}" for norm in ("gain", "ideal") for at in ("@3", "@5", "")
        for which in ("max_rel=3", "gains={1:0.1,2:0.5,3:1}", "rel=2,gains={2:0,3:1}")),
    "GradedAP of judged documents": " ".join(
        f"GradedAP(max_rel=3,norm='{norm}',judged_only=True)@4" for norm in NORMS),
    "bounds only": "Rprec Bpref infAP QMeasure@5 GAP(max_rel=3)@4 IPrec@0.5",
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pm.PermedWarning)  # a case may have no judged document
        yield


def rankings_of(judgments, scores):
    return JudgedRankings.of(Judgments.of({"q": judgments, "z": {"a": 1}}), {"q": scores})


@pytest.mark.parametrize("family", FAMILIES)
def test_no_assignment_is_beyond_the_bounds_and_exact_ones_are_reached(family):
    measures = list(map(pm.parse_measure, FAMILIES[family].split()))
    n_wide = 0
    for seed in range(effort(12, 150)):
        rng = np.random.default_rng(seed)
        scale = SCALES[seed % len(SCALES)]
        judgments, scores = random_case(rng, longest=effort(6, 7))
        rankings = rankings_of(judgments, scores)
        for measure in measures:
            low, high, n_unjudged = bounds(measure, judgments, scores, scale, most=5)
            if n_unjudged > 5:
                continue
            found = unjudged_bounds(measure, rankings, np.array(scale, float))
            if found.exact[0]:
                assert (found.low[0], found.high[0]) == pytest.approx((low, high), abs=1e-9), (measure, seed)
            else:
                assert found.low[0] - 1e-9 <= low <= high <= found.high[0] + 1e-9, (measure, seed)
            assert found.exact[0] or family in ("bounds only", "nDCG")
            n_wide += high - low > 1e-9
    assert n_wide > 10


def test_without_unjudged_documents_both_are_the_value():
    rankings = rankings_of({"a": 1, "b": 0}, {"b": 2.0, "a": 1.0})
    for text in ("AP", "Bpref", "nDCG", "QMeasure"):
        found = unjudged_bounds(pm.parse_measure(text), rankings, np.arange(2.0))
        [value] = pm.calc_aggregate(text, {"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}).values()
        assert (found.low[0], found.high[0], found.exact[0]) == (value, value, True)


def test_of_deep_rankings_graded_ap_has_bounds_that_hold(monkeypatch):
    measures = [pm.parse_measure(f"GradedAP(max_rel=3,norm='{norm}')@5") for norm in NORMS]
    cases = [rankings_of(*random_case(np.random.default_rng(seed))) for seed in range(20)]
    exact = {
        (m, i): unjudged_bounds(m, case, np.arange(4.0)) for m in measures for i, case in enumerate(cases)
    }
    monkeypatch.setattr("permed_measures.budgets.unjudged.MOST_NEW", 1)
    n_bounds = 0
    for (measure, number), inside in exact.items():
        outside = unjudged_bounds(measure, cases[number], np.arange(4.0))
        assert (outside.low <= inside.low + 1e-12).all(), (measure, number)
        assert (outside.high >= inside.high - 1e-12).all(), (measure, number)
        n_bounds += not outside.exact[0]
    assert n_bounds > 25


def test_in_blocks_the_least_of_the_ideal_norm_is_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    cases = [random_case(rng) for _ in range(20)]
    qrels = {f"q{n}": judgments for n, (judgments, _) in enumerate(cases)}
    run = {f"q{n}": scores for n, (_, scores) in enumerate(cases)}
    rankings = JudgedRankings.of(Judgments.of(qrels), run)
    measure = pm.GradedAP(max_rel=3, norm="ideal") @ 4
    whole = unjudged_bounds(measure, rankings, np.arange(4.0))
    monkeypatch.setattr(average_precisions, "_BLOCK", 1)
    assert np.array_equal(unjudged_bounds(measure, rankings, np.arange(4.0)).low, whole.low)


@pytest.mark.parametrize("p", [0.5, 0.8])
def test_of_rbp_the_length_is_the_residual(p):
    """As in cwl_eval: what the documents without a label could add, here within the cutoff."""
    judgments, scores = {"a": 1, "b": 0, "c": 1}, {"x": 5.0, "a": 4.0, "y": 3.0, "b": 2.0, "z": 1.0}
    found = unjudged_bounds(
        pm.parse_measure(f"RBP(rel=1,p={p})"), rankings_of(judgments, scores), np.arange(2.0)
    )
    assert found.high[0] - found.low[0] == pytest.approx((1 - p) * (1 + p**2 + p**4))


def test_of_rbp_the_length_is_the_residual_of_cwl_eval():
    gains = np.random.default_rng(0).choice([0.0, 1.0, np.nan], 200)
    theirs = RBPCWLMetric(0.8)
    theirs.residuals = True
    theirs.measure(Ranking("q", gains.copy(), np.ones(200), max_n=200))
    scores = {f"d{n}": -float(n) for n in range(200)}
    judgments = {f"d{n}": int(gain) for n, gain in enumerate(gains) if not np.isnan(gain)}
    rankings = rankings_of(judgments, scores)
    found = unjudged_bounds(pm.parse_measure("RBP(rel=1,p=0.8)"), rankings, np.arange(2.0))
    assert found.low[0] == pytest.approx(theirs.expected_utility)
    assert found.high[0] - found.low[0] == pytest.approx(theirs.residual_expected_utility)


def test_the_scale_is_that_of_the_collection_or_what_is_given():
    judgments = Judgments.of({"q": {"a": 2.5, "b": -1}})
    assert scale_of(judgments).tolist() == [0, 1, 2]
    assert scale_of(judgments, (2, 0.5, 2)).tolist() == [0.5, 2]
    for wrong in ([], [-1, 1], ["a"], [np.nan], 3):
        with pytest.raises(pm.InputError, match="grades must be numbers of at least 0"):
            scale_of(judgments, wrong)
    with pytest.raises(pm.InputError, match="grades must be given where the highest grade is above 100"):
        scale_of(Judgments.of({"q": {"a": 101}}))


def test_deep_queries_take_few_cases():
    """The exchange arguments leave few cases: this would be 3^60 for each query."""
    qrels = {f"q{n}": {f"d{n % 7}": 2, f"d{n % 11 + 20}": 1} for n in range(150)}
    run = {query: {f"d{i}": -float(i) for i in range(60)} for query in qrels}
    rankings = JudgedRankings.of(Judgments.of(qrels), run)
    for text in ("nDCG(dcg='exp-log2')@60", "AP@60", "GradedAP@60", "GradedAP(norm='gain')@60"):
        found = unjudged_bounds(pm.parse_measure(text), rankings, np.arange(3.0))
        assert found.exact.all()
        assert (found.low < found.high).all()


_OF_TWO = """nDCG(dcg='exp-log2')@4 AP@4 P@4 R@4 GradedAP(max_rel=3,norm='ideal')@4 Rprec
    VariantNDCG(negative='keep')@4"""


@pytest.mark.parametrize("text", _OF_TWO.split())
def test_bounds_of_two_runs_hold_for_all_grades_of_all_documents_of_both(text):
    measure, scale = pm.parse_measure(text), [0, 1, 3]
    n_tighter = 0
    for seed in range(effort(12, 150)):
        rng = np.random.default_rng(seed)
        judgments, scores = random_case(rng, longest=5)
        other = {f"{'d' if rng.random() < 0.5 else 'n'}{n}": float(rng.integers(0, 5)) for n in range(4)}
        rankings = [rankings_of(judgments, each) for each in (scores, other)]
        number = [Unjudged.numbers(each, cutoff_of(measure)) for each in rankings]
        ours, theirs = (
            joint_bounds(measure, each, others, np.array(scale, float))
            for each, others in zip(rankings, reversed(number), strict=True)
        )
        low, high, n_unjudged = bounds_of_difference(measure, judgments, (scores, other), scale, most=5)
        if n_unjudged <= 5:
            assert ours.low[0] - theirs.high[0] <= low + 1e-9, seed
            assert ours.high[0] - theirs.low[0] >= high - 1e-9, seed
            n_tighter += ours.high[0] - theirs.low[0] < 0.9
    assert n_tighter > 0


@pytest.mark.parametrize("text", ["VariantNDCG(ideal='run')@2", "AP(judged_only=True)@2"])
def test_what_another_run_has_within_its_cutoff_may_stand_beyond_that_of_this_one(text):
    rankings = rankings_of({"a": 1}, {"a": 3.0, "b": -1.0})
    for number in (0, 1):
        found = joint_bounds(pm.parse_measure(text), rankings, np.array([number, 0]), np.arange(2.0))
        assert np.isnan(found.low[0]) == np.isnan(found.high[0]) == bool(number)
