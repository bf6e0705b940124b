"""The least and the most over grades of unjudged documents, against every assignment on random cases."""

from itertools import product

import numpy as np
import oracle
import pytest
from cwl.ruler.measures.cwl_rbp import RBPCWLMetric
from cwl.ruler.ranking import Ranking
from effort import effort

import permed_measures as pm
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.measures.parameters import values_of
from permed_measures.uncertainty_sources.labels import over_gradings, scale_of

SCALES = [[0, 1, 2, 3], [0, 1], [0, 2], [1, 2, 3], [0, 1, 2]]

EXACT = {
    "that no higher grade lowers": """P@3 P@10 R@3 RR RR@4 Success@3 Coverage@4 ERR ERR@4 RBP(rel=1)@4
        RBP(rel=2,p=0.5) SetP SetP(relative=True) SetR SetF SetAP NumRel NumRet NumRet(rel=1)
        P(judged_only=True)@3""",
    "of what is relevant": "AP AP@3 AP(rel=2)@5 AP(judged_only=True)@4 Rprec IPrec@0.5 Bpref Bpref(rel=2)",
    "GradedAP of one weight": " ".join(
        f"GradedAP({which},norm='{norm}')@4"
        for norm in ("num_rel", "min", "num_rel_ret", "gain", "ideal", "none")
        for which in ("rel=3,max_rel=3", "gains={1:0.5,2:0.5,3:0.5}")),
    "of grades": """nDCG nDCG@3 nDCG@10 nDCG(dcg='exp-log2')@4 nDCG(judged_only=True)@3 GAP(max_rel=3)@4
        VariantNDCG(gain='linear',ideal='run')""",
    "VariantNDCG": " ".join(
        f"VariantNDCG(ideal='{ideal}',negative='{negative}',discount='{discount}')@4"
        for ideal, negative, discount in product(
            ("qrels", "run"), ("zero", "keep"), ("log2", "jk", "zipf"))),
}  # fmt: skip
REACHED = {
    "GradedAP": " ".join(
        f"GradedAP({which},norm='{norm}')@4"
        for norm in ("num_rel", "min", "num_rel_ret", "gain", "ideal", "none")
        for which in ("max_rel=3", "gains={1:0.1,2:0.5,3:1}", "max_rel=3,judged_only=True")),
    "others": """infAP QMeasure@5 VariantNDCG(ideal='cutoff')@4 nDCG(gains={0:0,1:3,2:1,3:5})@4
        nDCG(gains={1:-1},judged_only=True)@3""",
}  # fmt: skip


pytestmark = pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")  # no judged document


def rankings_of(judgments, scores):
    return JudgedRankings.of(Judgments.of({"q": judgments, "z": {"a": 1}}), {"q": scores})


def random_case(rng, longest, highest=3):
    """Return judgments and scores for a query: with ties, negative grades, relevant ones not found."""
    documents = [f"d{n}" for n in range(int(rng.integers(1, longest + 1)))]
    shares = [0.1, *[0.9 / (highest + 1)] * (highest + 1)]
    grades = iter(rng.choice([-1, *range(highest + 1)], p=shares, size=99).tolist())
    judged = rng.random(len(documents)) < rng.choice([0.3, 0.6, 0.9])
    judgments = {doc: next(grades) for doc, is_judged in zip(documents, judged, strict=True) if is_judged}
    judgments |= {f"x{number}": next(grades) for number in range(int(rng.integers(0, 5)))}
    return judgments or {"x": 0}, {doc: float(rng.integers(0, 6)) for doc in documents}


def bounds(measure, judgments, scores, scale, most=5):
    """Return the least and the most value by all grades of the unjudged documents, and how many these are."""
    params = values_of(measure)
    order = oracle.rank(scores, "trec", judgments)
    unjudged = [doc for doc in order[: params.get("cutoff")] if doc not in judgments]
    values = [0]
    if len(unjudged) <= most:
        known = [
            {**judgments, **dict(zip(unjudged, grades, strict=True))}
            for grades in product(scale, repeat=len(unjudged))
        ]
        compute = oracle.MEASURES[measure.NAME]
        values = [compute([(doc, each.get(doc)) for doc in order], each, **params) for each in known]
    return (min(values), max(values)), len(unjudged)


def found_and_possible(text):
    """Yield what is found of random cases and what all assignments give."""
    measure, rng = pm.parse_measure(text), np.random.default_rng(0)
    for number in range(effort(4, 40)):
        scale = SCALES[number % len(SCALES)]
        judgments, scores = random_case(rng, longest=effort(6, 7))
        possible, n_unjudged = bounds(measure, judgments, scores, scale)
        if n_unjudged <= 5:
            rankings = rankings_of(judgments, scores)
            least, most, exact = over_gradings(measure, rankings, np.array(scale, float))
            yield (least[0], most[0]), possible, exact or not n_unjudged


@pytest.mark.parametrize("family", EXACT)
def test_exact_ranges_are_those_of_all_assignments(family):
    n_wide = 0
    for measure in EXACT[family].split():
        for found, possible, exact in found_and_possible(measure):
            assert exact, measure
            assert found == pytest.approx(possible, abs=1e-9), measure
            n_wide += possible[1] - possible[0] > 1e-9
    assert n_wide > 10


@pytest.mark.parametrize("family", REACHED)
def test_other_ranges_are_reached_and_not_called_exact(family):
    n_inexact = 0
    for measure in REACHED[family].split():
        for (least, most), (low, high), exact in found_and_possible(measure):
            assert low - 1e-9 <= least <= most <= high + 1e-9, measure
            n_inexact += not exact
    assert n_inexact > 10


@pytest.mark.parametrize(
    ("measure", "judgments", "ranking", "possible"),
    [
        ("GradedAP(norm='ideal')@10", {"a": 0, "b": 0}, "axybz", (0, 11 / 18)),
        ("QMeasure", {"a": 3}, "xyzau", (0.5178571428571428, 1)),
    ],
)
def test_an_assignment_may_go_beyond_what_is_not_exact(measure, judgments, ranking, possible):
    scores = {doc: -float(rank) for rank, doc in enumerate(ranking)}
    measure, scale = pm.parse_measure(measure), np.arange(1.0 + max(2, judgments["a"]))
    assert bounds(measure, judgments, scores, scale)[0] == pytest.approx(possible)
    least, most, exact = over_gradings(measure, rankings_of(judgments, scores), scale)
    assert possible[0] < least[0] - 1e-6 or possible[1] > most[0] + 1e-6
    assert not exact


def test_with_too_many_gradings_some_are_tried_and_it_is_not_exact():
    qrels, run = {"q": {"a": 2, "b": 1}}, {"q": {f"x{i}": -float(i) for i in range(40)} | {"a": -20.5}}
    rankings = JudgedRankings.of(Judgments.of(qrels), run)
    for measure, exact in (("nDCG@24", True), ("nDCG@25", False), ("AP@40", True), ("P@40", True)):
        assert over_gradings(pm.parse_measure(measure), rankings, np.arange(3.0))[2] is exact
    long = JudgedRankings.of(
        Judgments.of(qrels), {"q": {f"x{i}": -float(i) for i in range(400)} | {"a": 1.0}}
    )
    least, most, exact = over_gradings(pm.parse_measure("AP"), long, np.arange(3.0))
    assert not exact
    assert 0 < least[0] < 0.5 < most[0] < 1
    none = JudgedRankings.of(Judgments.of({"q": {"a": 0}}), {"q": {f"x{i}": -float(i) for i in range(400)}})
    least, most, _ = over_gradings(pm.parse_measure("AP"), none, np.arange(2.0))
    assert (least[0], most[0]) == (0, 1)  # no document is relevant, or all are
    least, most, _ = over_gradings(pm.parse_measure("P@401"), long, np.arange(3.0))
    assert (least[0], most[0]) == pytest.approx((1 / 401, 1))  # none of the others is relevant, or all are


def test_of_rbp_the_length_is_the_residual_of_cwl_eval():
    gains = np.random.default_rng(0).choice([0.0, 1.0, np.nan], 200)
    theirs = RBPCWLMetric(0.8)
    theirs.residuals = True
    theirs.measure(Ranking("q", gains.copy(), np.ones(200), max_n=200))
    scores = {f"d{n}": -float(n) for n in range(200)}
    judgments = {f"d{n}": int(gain) for n, gain in enumerate(gains) if not np.isnan(gain)}
    rankings = rankings_of(judgments, scores)
    least, most, _ = over_gradings(pm.parse_measure("RBP(rel=1,p=0.8)"), rankings, np.arange(2.0))
    assert least[0] == pytest.approx(theirs.expected_utility)
    assert most[0] - least[0] == pytest.approx(theirs.residual_expected_utility)


def test_the_scale_is_that_of_the_collection_or_what_is_given():
    judgments = Judgments.of({"q": {"a": 2.5, "b": -1}})
    assert scale_of(judgments).tolist() == [0, 1, 2]
    assert scale_of(judgments, (2, 0.5, 2)).tolist() == [0.5, 2]
    assert len(scale_of(Judgments.of({"q": {"a": 100}}))) == 101
    for wrong in ([], [-1, 1], ["a"], [np.nan], 3):
        with pytest.raises(pm.InputError, match="grades must be numbers of at least 0"):
            scale_of(judgments, wrong)
    with pytest.raises(pm.InputError, match="grades must be given where the highest grade is above 100"):
        scale_of(Judgments.of({"q": {"a": 101}}))


def test_of_very_many_unjudged_documents_all_and_none_are_among_the_gradings():
    run = {"q": {f"d{n:03}": -float(n) for n in range(320)} | {"a": -999.0}}
    [row] = pm.uncertainty({"q": {"a": 1}}, run, "AP@400").rows
    assert row.unjudged == pytest.approx((1 / 321, 1.0))
    assert not row.exact["unjudged"]
