"""Rerankings against plain loops, their text and errors."""

import json
import random
import warnings
from dataclasses import astuple, replace

import cases
import numpy as np
import pytest
from effort import seeds

import permed_measures as pm
from permed_measures.comparison.reranking import PairCounts, QueryChange, RankMoves, reranking, with_unjudged
from permed_measures.datasets import SAMPLES
from permed_measures.engine.judgments import Judgments
from permed_measures.provenance import provenance


def ranks_by_sorting(docs):
    order = sorted(docs, key=lambda d: (np.float32(docs[d]), d), reverse=True)
    return {doc_id: rank for rank, doc_id in enumerate(order, start=1)}


def loop_reranking(qrels, before, after, rel, judged_only, k):
    """Return the counts of moves, the ranks up, the pairs of each query, and those put right within k."""
    early = [0, 0]
    moves, up, pairs = dict.fromkeys(["up", "down", "unchanged", "entered", "left", "absent"], 0), [], []
    for query_id in sorted(qrels):
        labels = qrels[query_id]
        one, two = (ranks_by_sorting(run.get(query_id, {})) for run in (before, after))
        for doc_id, grade in labels.items():
            if grade < rel:
                continue
            if doc_id in one and doc_id in two:
                change = one[doc_id] - two[doc_id]
                up.append(change)
                moves["up" if change > 0 else "down" if change < 0 else "unchanged"] += 1
            else:
                moves["left" if doc_id in one else "entered" if doc_id in two else "absent"] += 1
        counts = [0, 0, 0, 0]
        both = [d for d in one if d in two and (d in labels or not judged_only)]
        grade = {d: max(labels.get(d, 0), 0) for d in both}
        for high in both:
            for low in both:
                if grade[high] > grade[low]:
                    right = one[high] < one[low], two[high] < two[low]
                    counts[[(False, True), (True, False), (True, True), (False, False)].index(right)] += 1
                    if max(one[high], two[high], one[low], two[low]) <= k:
                        early = [early[0] + (right == (False, True)), early[1] + 1]
        pairs.append(PairCounts(*counts))
    return moves, up, pairs, early


@pytest.mark.parametrize("seed", seeds(50, 150))
def test_reranking_against_loops(seed, monkeypatch):
    if seed % 2:
        monkeypatch.setattr("permed_measures.comparison.reranking._PAIRS_PER_BLOCK", 7)
    rng = random.Random(seed)
    with np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", pm.PermedWarning)
        qrels, before = cases.random_case(rng)
        qrels.setdefault("q1", {"d1": 1, "d2": 0})
        after = {
            q: {
                d: rng.choice([0, 1, 2, 3.5])
                for d in [*docs, *rng.sample(cases.DOCUMENTS, 3)]
                if rng.random() < 0.8
            }
            for q, docs in before.items()
        }
        rel = rng.choice([1, 2])
        judged_only = rng.random() < 0.5
        k = rng.choice([3, 5, 7, 100])
        moves, up, pairs, early = loop_reranking(qrels, before, after, rel, judged_only, k)
        form = cases.FORMS[rng.choice(list(cases.FORMS))]
        runs = [form(cases.rows_of(run), "score") for run in (before, after)]
        ours = reranking(qrels, *runs, f"RR@{k}", rel=rel, top=2, judged_only=judged_only)
        values = [
            {m.query_id: m.value for m in pm.iter_calc(f"RR@{k}", qrels, run, rel)} for run in (before, after)
        ]
    ranks_up = (float(np.mean(up)), float(np.median(up))) if up else (None, None)
    assert ours.moves == RankMoves(*moves.values(), *ranks_up)
    assert [ours.early.put_right, ours.early.total] == early
    assert [query.pairs for query in ours.queries] == pairs
    assert astuple(ours.pairs) == tuple(map(sum, zip(*map(astuple, pairs), strict=True)))
    assert ours.pairs.total == sum(astuple(ours.pairs))
    change = {q: round(values[1][q] - values[0][q], 12) for q in qrels}
    best = sorted((q for q in change if change[q] > 0), key=lambda q: (-change[q], q))
    worst = sorted((q for q in change if change[q] < 0), key=lambda q: (change[q], q))
    assert [each.query_id for each in ours.gained] == best[:2]
    assert [each.query_id for each in ours.lost] == worst[:2]
    assert (ours.n_gained, ours.n_lost) == (len(best), len(worst))
    assert ours.n_unchanged == len(qrels) - len(best) - len(worst)
    assert [(e.before, e.after) for e in ours.gained] == [(values[0][q], values[1][q]) for q in best[:2]]


def test_nothing_reranked_and_nothing_to_rerank():
    same = reranking({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0}}, {"q": {"a": 2.0}}, "RR")
    assert (same.pairs.improvement, same.notes) == (None, [])
    empty = reranking({"q": {"a": 1, "b": 0}}, {}, {}, "RR")
    assert empty.notes == [
        f"run {name!r} retrieves nothing for 1 of 1 query (first: 'q'); it scores 0"
        for name in ("before", "after")
    ]
    assert all(f"Note: {note}." in str(empty).splitlines() for note in empty.notes)
    assert "ranks:" not in str(empty)
    worse = reranking({"q": {"a": 1}}, {"q": {"a": 1.0}}, {"q": {"b": 3.0, "c": 2.0, "a": 1.0}}, "RR")
    assert "  ranks: 2.00 down on average, 2 down in the median" in str(worse).splitlines()


def changed(query_id, text, before, after):
    return QueryChange(query_id, text, before, after, PairCounts(0, 0, 0, 0), None)


def test_texts_of_queries_are_on_one_line_without_controls():
    change = changed("q1", "a\x1b[31m\n question", 0.0, 1.0)
    given = {"q1": {"a": 1}}, {"q1": {"b": 2.0, "a": 1.0}}, {"q1": {"a": 1.0}}
    result = replace(reranking(*given, "RR"), queries=[change, replace(change, query_id="q2", text=None)])
    assert "q1  a [31m question\n" in str(result)
    assert "q2\n" in f"{result}\n"
    assert "<script>" not in replace(result, queries=[replace(change, text="<script>")])._repr_html_()


def test_rounding_is_no_change_and_orders_nothing():
    result = reranking({"q": {"a": 1}}, {"q": {"a": 1.0}}, {"q": {"a": 1.0}}, "RR")
    after = {"q1": 0.3, "q2": 0.1 + 0.2, "q3": 1e-13, "q4": 0.4}
    result = replace(result, queries=[changed(query, None, 0.0, value) for query, value in after.items()])
    assert [each.query_id for each in result.gained] == ["q4", "q1", "q2"]
    assert (result.n_gained, result.n_lost, result.n_unchanged) == (3, 0, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"top": -1}, r"top must be a whole number of at least 0 \(found -1\)"),
        ({"qrels": {}}, "the qrels have no query"),
        ({"names": ("a", "a")}, r"the two runs need different names \(found 'a' twice\)"),
        ({"names": "ab"}, r"names must be two names \(found 'ab'\)"),
        ({"names": (["a"], "b")}, r"names must be two names \(found \(\['a'\], 'b'\)\)"),
        ({"rel": "1"}, r"rel must be a number \(found '1'\)"),
        ({"after": {"q": {"a": None}}}, "^run 'after', query 'q', document 'a': a score must be a number"),
    ],
)
def test_what_a_reranking_refuses(change, message):
    given = {"qrels": {"q": {"a": 1}}, "before": {"q": {"a": 1.0}}, "after": {"q": {"a": 1.0}}}
    with pytest.raises(pm.InputError, match=message):
        reranking(**{**given, **change})


@pytest.mark.parametrize("text", ["how old are patients " * 20, "老年患者的获益是否相同" * 20])
def test_long_questions_are_cut_where_they_are_printed_and_whole_elsewhere(text):
    result = reranking({"q1": {"a": 1}}, {"q1": {"b": 2.0, "a": 1.0}}, {"q1": {"a": 1.0}}, "RR")
    result = replace(result, queries=[changed("q1", text, 0.5, 1.0)])
    for printed in (str(result), result.to("html")):
        shown = " ".join(printed.split())
        assert f"{text[:40].strip()}" in shown
        assert "…" in shown
        assert text[:120].strip() not in shown
    assert text in json.loads(result.to("json"))["by_query"][0]["text"]
    short = replace(result, queries=[changed("q1", "old?", 0.5, 1.0)])
    assert "q1 old?" in " ".join(str(short).split())
    assert "…" not in str(short)


def test_json_and_frames_have_names_and_the_texts_of_a_data_set():
    runs = SAMPLES[0].runs["bm25"], SAMPLES[0].runs["lsa"]
    found = reranking("permed-sample", *runs, EXPONENTIAL, top=1, names=("bm25", "<lsa>"))
    content, frame = json.loads(found.to("json")), found.to_polars()
    assert (content["measure"], content["names"]) == (EXPONENTIAL, ["bm25", "<lsa>"])
    assert content["by_query"] == frame.to_dicts()
    assert content["provenance"] == provenance([found.measure], found.origin)
    assert (frame["before"].mean(), frame["after"].mean()) == pytest.approx((found.before, found.after))
    assert found.gained[0].text == "Is the benefit the same in very old or frail patients?"
    assert repr(found) == "<Reranking: nDCG-exp@10: 0.6788 bm25, 0.6060 <lsa> (-0.0728), 48 queries>"


EXPONENTIAL = "nDCG(dcg='exp-log2')@10"


def test_unjudged_documents_of_both_runs_are_judged_in_the_order_of_the_first():
    before, after = ({f"d{i}": float(i) for i in order} for order in (range(20), range(19, 2, -1)))
    judgments = with_unjudged(Judgments.of({"q": {"a": 1}}), {"q": before}, {"q": after})
    assert list(judgments.documents) == ["a", *(f"d{i}" for i in range(3, 20))]
