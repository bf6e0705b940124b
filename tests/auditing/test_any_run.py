"""A number that a convention prints for every order of the lists is not evidence for it."""

import math
import random
from functools import cache

import pytest
from audit_helpers import trials_of, unwrapped

import permed_measures as pm
from permed_measures.auditing.messages import unexplained
from permed_measures.conventions.named import COMMUNITY
from permed_measures.conventions.options import OPTIONS_OF, SHARED, with_value
from permed_measures.conventions.records import OPTIONS

pytestmark = pytest.mark.filterwarnings("ignore:no retrieved document is judged")

MEASURES = (
    "MAP@1",
    "MAP@2",
    "nDCG@1",
    "nDCG@2",
    "P@1",
    "P@2",
    "R@2",
    "R@20",
    "MRR",
    "hit@2",
    "hit@20",
    "F1@2",
)
LISTS = {
    **{"x11": "", "xx1": "2", "xx1-": "-", "110": "", "1100": "2", "1122": "", "x1-": "1", "1xxx": "1"},
    **{"q1": "1", "11111x": "", "xxx": "1", "2220": "0", "123": "", "x00": "", "1" * 200 + "x": ""},
}
"""The documents of a list (grades, x if unjudged, q with the id of the query), and those that it lacks."""


def collection(listed, missed, rng, n_queries=4):
    """Make qrels and a run with these documents in random order."""
    qrels, run = {}, {}
    for query in (f"c{i // 2}_{i % 2 + 1}" for i in range(n_queries)):
        docs = {query if kind == "q" else f"d{j}": kind for j, kind in enumerate(listed)}
        judged = {**docs, **{f"m{j}": kind for j, kind in enumerate(missed)}}
        grades = {doc: -1 if kind == "-" else int(kind) for doc, kind in judged.items() if kind not in "qx"}
        qrels[query], run[query] = grades or {"other": 0}, dict(zip(docs, range(len(docs)), strict=True))
    return qrels, shuffled(run, rng)


def shuffled(run, rng):
    """Shuffle the lists of a run."""
    return {
        query: {doc: float(-rank) for rank, doc in enumerate(rng.sample(list(docs), len(docs)))}
        for query, docs in run.items()
    }


@cache
def conventions_that_make_numbers_trivial():
    """Find, for each value of an option, numbers that are the same in all orders only by this value.

    Each is the name of the measure, its number, the qrels and the run. The audit must recognise
    these numbers, and no others.
    """
    found = {}
    for listed, missed in LISTS.items():
        rng = random.Random(1)
        qrels, run = collection(listed, missed, rng)
        in_orders = [trials_of(qrels, each, dict.fromkeys(MEASURES, "0.5")) for each in orders(run, rng)]
        for trials in zip(*in_orders, strict=True):
            first, default = trials[0], COMMUNITY.with_cutoffs([trials[0]])
            needs_no_order = same(trials, default)
            for option in (*SHARED, *OPTIONS_OF[first.measure]):
                for value in OPTIONS[option].values_for([first.measure], first.run.labels.levels):
                    convention = with_value(default, option, value)
                    number = first.value(convention)
                    if not math.isnan(number):
                        is_one = same(trials, convention)
                        is_trivial = is_one and not needs_no_order
                        known = first.is_of_any_run(convention)
                        assert known or not is_trivial, (option, value, first.name, listed, missed)
                        assert is_one or not known, (option, value, first.name, listed, missed)
                        if is_trivial:
                            found.setdefault((option, value), []).append((first.name, number, qrels, run))
    return found


def same(trials, convention):
    """Check whether a number is the same in all orders in which it is defined."""
    first = trials[0].value(convention)
    others = (trial.value(convention) for trial in trials[1:])
    return all(math.isnan(value) or abs(value - first) < 1e-9 for value in others)


def orders(run, rng):
    return [run, *(shuffled(run, rng) for _ in range(6))]


@pytest.mark.thorough
def test_every_value_of_every_option_that_makes_a_number_trivial_is_known():
    found = conventions_that_make_numbers_trivial()
    assert found.keys() == {
        *(("documents", "judged"), ("documents", "labelled"), ("documents", "positive")),
        ("self_match", "removed"),
        *(("labels", "pool"), ("labels", "strict"), ("level", 2.0), ("queries", "with_hit")),
        *(("recall", "any"), ("recall", "all"), ("ideal", "cutoff"), ("gain", "binary"), ("gain", "first")),
        *(("discount", "jk"), ("rounding", "query_values")),
    }


def test_values_that_are_one_only_after_rounding_are_so_whatever_was_asked_before():
    qrels = {"q1": {f"d{n}": 1 for n in range(3)}, "q2": {f"d{n}": 1 for n in range(100)}}
    run = {"q1": {"d0": 1.0}, "q2": {f"d{n}": float(-n) for n in range(33)}}  # 0.3333 and 0.33
    with_hit = with_value(
        COMMUNITY.with_cutoffs(trials_of(qrels, run, {"R@100": "0.33"})), "queries", "with_hit"
    )
    rounded = with_value(with_hit, "rounding", "query_values")
    for conventions in ((with_hit, rounded), (rounded, with_hit)):
        [trial] = trials_of(qrels, run, {"R@100": "0.33"})
        assert [trial.is_of_any_run(each) for each in conventions] == [
            each is rounded for each in conventions
        ]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("documents", "judged"), ("documents", "labelled"), ("labels", "pool"), ("labels", "strict")),
        *(("self_match", "removed"), ("queries", "with_hit"), ("ideal", "cutoff"), ("gain", "binary")),
        *(("recall", "any"), ("recall", "all")),
    ],
)
@pytest.mark.thorough
def test_a_trivial_number_is_not_explained_by_what_makes_it_so(option, value):
    name, number, qrels, run = conventions_that_make_numbers_trivial()[option, value][0]
    result = pm.audit(qrels, run, {name: f"{number:.4f}"})
    assert result.verdict in ("none", "may be chance")
    assert not any(
        trial.is_of_any_run(answer.convention) for answer in result.answers for trial in answer.trials
    )


@pytest.mark.parametrize(
    "beside", [{}, {"bad": -1}, {"bad": -1, "worse": -2}, {"other": 0}, {"bad": -1, "other": 0}]
)
@pytest.mark.parametrize(
    "listed", ["xya", *(pytest.param(each, marks=pytest.mark.thorough) for each in ("xay", "xa", "xyzabc"))]
)
def test_where_unjudged_documents_are_removed_those_that_are_left_are_no_evidence(beside, listed):
    """Judged documents that no list has do not matter."""
    qrels = {f"q{i}": dict.fromkeys("abc" if "b" in listed else "a", 1) for i in range(8)}
    run = {query: {doc: 9.0 - rank for rank, doc in enumerate(listed)} for query in qrels}
    qrels["q0"] |= beside
    result = pm.audit(qrels, run, {"P@1": "1.0000", "MRR": "1.0000"})
    assert (result.ok, result.verdict) == (False, "none")


def test_a_negative_document_that_lists_have_makes_the_order_matter():
    """The numbers then depend on the documents that are removed, so the claim is evidence again."""
    rng = random.Random(2)
    qrels = {f"q{i}": {"a": 1, "b": -1, "c": 0, "d": -1, "e": 1} for i in range(30)}
    run = {query: {doc: rng.random() for doc in "abcdeuvwxyz"} for query in qrels}
    [value] = pm.calc_aggregate(
        ["AP@10"], qrels, {q: {d: s for d, s in docs.items() if d in qrels[q]} for q, docs in run.items()}
    ).values()
    result = pm.audit(qrels, run, {"MAP@10": f"{value:.6f}"})
    assert result.ok
    assert any("those with a negative grade too" in change for change in result.best[0].changes)


def test_a_number_of_any_order_beside_others_is_said_to_be_that():
    """R@2 by DPR is 1, as any two of the documents include a relevant one; the other numbers are evidence."""
    rng = random.Random(3)
    qrels = {f"q{i}": {"a": 1, "b": 1, "c": 1, "e": 0} for i in range(40)}
    run = {query: {doc: rng.random() for doc in "abce"} for query in qrels}
    names = {"P@2": "P@2", "MRR": "RR", "P@1": "P@1"}
    values = pm.calc_aggregate(list(names.values()), qrels, run)
    row = {n: f"{values[pm.parse_measure(m)]:.5f}" for n, m in names.items()}
    result = pm.audit(qrels, run, {**row, "R@2": "1.0000"})
    said = unwrapped(result)
    assert not result.ok
    assert "R@2: published 1.0000, " in said
    assert "any order" not in said  # R@2 is explained by nothing
    dpr = next(named for named in result.main.matrix.conventions if named.name == "DPR")
    nearest = {trial: dpr.with_cutoffs([trial]) for trial in result.trials if trial.claim.name == "R@2"}
    [line] = unexplained(result.main, nearest)
    assert line == (
        "R@2: published 1.0000, expected 1.0000: R@2 1 with any relevant document found "
        "by the convention of the other claims; any order of these lists gives it"
    )
