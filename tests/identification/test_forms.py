"""Trial finds the arguments of functions in usual shapes, also if their numbers are not exact."""

import inspect
import math
import sys
from functools import cache, partial
from types import SimpleNamespace

import numpy as np
import pytest

import permed_measures as pm
from permed_measures.conventions.named import NAMED
from permed_measures.identification.detection import form_taken
from permed_measures.identification.elimination import TargetMeasure
from permed_measures.identification.forms import SIGNATURES
from permed_measures.identification.user_function import likeness, meaning_asked
from permed_measures.published_tables.measure_names import meaning_of


@pytest.fixture(autouse=True)
def few_random_cases(monkeypatch):
    """Check answers on a tenth of the random cases: these tests are of what functions take."""
    monkeypatch.setattr("permed_measures.identification.cases.N_FRESH", 50)


@cache
def identified(function, name):
    """Identify a function that several tests ask for."""
    return pm.identify(function, name)


def mean(values):
    values = [*values]
    return sum(values) / len(values) if values else 0.0


def turned_dicts(run, qrels):
    ranked = {q: sorted(docs, key=lambda doc, docs=docs: -docs[doc]) for q, docs in run.items()}
    return mean(sum(qrels[q].get(doc, 0) >= 1 for doc in ranked.get(q, [])[:10]) / 10 for q in qrels)


def ap_of_sets(actual, predicted, k=10):
    hits, total = 0, 0.0
    for rank, doc in enumerate(predicted[:k], 1):
        if doc in actual:
            hits += 1
            total += hits / rank
    return total / min(len(actual), k) if actual else 0.0


def mapk(actual, predicted, k=10):
    return np.mean([ap_of_sets(*pair, k) for pair in zip(actual, predicted, strict=True)])


def recall_at_k(ranked, relevant, k):
    return len({*ranked[:k]} & relevant) / len(relevant) if relevant else 0.0


def recall_of_lists(relevant, ranked, k=None):
    return sum(ranked[:k].count(doc) for doc in relevant[:]) / max(len(relevant), 1)


def dcg(grades, k):
    grades = np.asarray(grades, float)[:k]
    return float((grades / np.log2(np.arange(2, grades.size + 2))).sum())


def ndcg_of_grades(r, k):
    best = dcg(sorted(r, reverse=True), k)
    return dcg(r, k) / best if best else 0.0


def rr_of_lists(rs):
    found = [np.asarray(r).nonzero()[0] for r in rs]
    return np.mean([1 / (each[0] + 1) if each.size else 0.0 for each in found])


def rr_of_grades(r):
    return next((1 / rank for rank, grade in enumerate(r, 1) if grade > 0), 0.0)


def ndcg_of_scores(y_true, y_score, k=10):
    order = np.argsort(-np.asarray(y_score), kind="stable")
    gains = 2.0 ** np.asarray(y_true) - 1
    best = dcg(-np.sort(-gains), k)
    return dcg(gains[order], k) / best if best else 0.0


def ndcg_of_2d(y_true, y_score):
    return mean(ndcg_of_scores(*pair) for pair in zip(np.array(y_true), np.array(y_score), strict=True))


def ndcg_of_judgments(ranked, rel, k=10):
    def of(grades):
        return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades[:k], 1))

    best = of(sorted(rel.values(), reverse=True))
    return of([rel.get(doc, 0) for doc in ranked]) / best if best > 0 else 0.0


def of_frames(qrels, run):
    both = run.merge(qrels, how="left", on=["qid", "docno"]).fillna(0)
    both["rank"] = both.groupby("qid").score.rank(ascending=False, method="first")
    hits = both[(both["rank"] <= 5) & (both.label >= 1)].groupby("qid").size()
    return (hits / 5).reindex(qrels.qid.unique()).fillna(0).mean()


def of_our_frames(run, qrels):
    names = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
    return of_frames(qrels.rename(columns=names), run.rename(columns=names))


def of_sets(run, relevant):
    return {q: sum(doc in relevant[q] for doc in run.get(q, [])[:5]) / 5 for q in relevant}


def of_arrays(labels, scores):
    return labels[(-scores).argsort(kind="stable")][:5].astype(bool).sum() / 5


def keyword_only(y_true, y_score, *, k=None):
    return float(
        ndcg_of_2d(y_true, y_score) if k is None else mean(map(partial(ndcg_of_scores, k=k), y_true, y_score))
    )


def evaluate(qrels, results, k_values):
    found = {f"Recall@{k}": 0.0 for k in k_values}
    for query, grades in qrels.items():
        ranked = sorted(results.get(query, {}), key=lambda doc: -results[query][doc])
        relevant = {doc for doc in grades if grades[doc] >= 1}
        for k in k_values:
            found[f"Recall@{k}"] += len({*ranked[:k]} & relevant) / max(len(relevant), 1) / len(qrels)
    return {f"NDCG@{k}": 0.1 for k in k_values}, found


def binary_ap(y_true, y_score):
    if not {*y_true} <= {0, 1}:
        raise ValueError("multiclass format is not supported")
    hits, total = 0, 0.0
    for rank, place in enumerate(sorted(range(len(y_true)), key=lambda at: -y_score[at]), 1):
        if y_true[place]:
            hits += 1
            total += hits / rank
    return total / hits if hits else 0.0


def hit_of_array(labels):
    return float((labels[:10] > 0).any())


SHAPES = [
    (turned_dicts, "P@10", "dicts", {"turned": True}, "P@10"),
    (ap_of_sets, "MAP@10", "relevant", {}, "AP@10 with binary relevance, divided by min(R, k)"),
    (mapk, "MAP@10", "parallel", {}, "AP@10 with binary relevance, divided by min(R, k)"),
    (recall_at_k, "R@10", "relevant", {"turned": True, "k": 10}, "R@10"),
    (recall_of_lists, "R@10", "relevant", {"k": 10}, "R@10"),
    (ndcg_of_grades, "nDCG@10", "grades", {"k": 10}, "nDCG@10 with linear gains, log2 discount"),
    (rr_of_lists, "MRR", "lists", {}, "RR"),
    (rr_of_grades, "MRR", "grades", {}, "RR"),
    (ndcg_of_scores, "nDCG@10", "scores", {}, "nDCG@10 with exponential gains (2^g - 1), log2 discount"),
    (ndcg_of_2d, "nDCG@10", "scores", {}, "nDCG@10 with exponential gains (2^g - 1), log2 discount"),
    (ndcg_of_judgments, "nDCG@10", "query", {"turned": True}, "nDCG@10 with linear gains, log2 discount"),
    (of_frames, "P@5", "frames", {}, "P@5"),
    (of_our_frames, "P@5", "frames", {"turned": True}, "P@5"),
    (of_sets, "P@5", "sets", {"turned": True}, "P@5"),
    (of_arrays, "P@5", "scores", {"lists_as": "arrays"}, "P@5"),
    (
        keyword_only,
        "nDCG@5",
        "scores",
        {"k": 5, "k_name": "k"},
        "nDCG@5 with exponential gains (2^g - 1), log2",
    ),
    (evaluate, "R@10", "dicts", {"k": [10]}, "R@10"),
    (binary_ap, "MAP", "scores", {"grades": False}, "AP with binary relevance"),
    (hit_of_array, "Hit@10", "grades", {"lists_as": "arrays"}, "Success@10"),
]
"""For each function: its target, its form, the special part of the form, and the measure it computes."""


def off(function):
    """Return a function of the same shape whose number is not a measure."""

    def near(*given, **named):
        found = function(*given, **named)
        if isinstance(found, tuple):
            return tuple({name: 0.97 * each for name, each in numbers.items()} for numbers in found)
        return {q: 0.97 * each for q, each in found.items()} if isinstance(found, dict) else 0.97 * found

    near.__signature__ = inspect.signature(function)
    return near


@pytest.mark.parametrize(("function", "name", "form", "special", "_"), SHAPES)
def test_the_form_is_found_also_of_functions_that_compute_no_measure(function, name, form, special, _):
    target = TargetMeasure(name, *meaning_of(name))
    for each in (function, off(function)):
        taken = form_taken(each, target, NAMED)
        assert taken.hidden.endswith(SIGNATURES[form].hidden)
        assert taken.grades == special.get("grades", SIGNATURES[form].grades)
        assert {field: getattr(taken, field) for field in special} == special
        assert (taken.k is None) == ("k" not in special)
        assert taken.turned == special.get("turned", False)


@pytest.mark.parametrize(
    ("function", "name", "form", "special", "sentence"),
    [
        pytest.param(*shape, marks=() if shape[0] in (recall_at_k, ndcg_of_grades) else pytest.mark.thorough)
        for shape in SHAPES
        if shape[0] not in (of_our_frames, mapk, ndcg_of_2d)  # as the others, and slower
    ],
)
def test_a_function_is_identified_as_it_is(function, name, form, special, sentence):  # noqa: ARG001
    found = identified(function, name)
    assert found.nearest.sentence().startswith(sentence)
    assert found.ok
    assert found.called.startswith(f"{function.__name__}(")
    assert found.called.endswith((", 10)", ", k=5)", ", [10])")) == ("k" in special)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "shape", [SHAPES[0], SHAPES[3], SHAPES[5], SHAPES[8]], ids=lambda shape: shape[0].__name__
)
def test_a_function_that_computes_no_measure_is_not_named_in_any_form(shape):
    function, name, *_ = shape
    assert not pm.identify(off(function), name).ok


@pytest.mark.parametrize(
    ("name", "signature", "k"),
    [
        ("MAP", "grades, ranked, k=None", None),  # which has no cutoff
        ("MAP@7", "grades, ranked, k=None", 7),
        ("MAP@7", "grades, ranked, k=3", None),  # which the function has itself
        ("MAP", "grades, ranked, k", 10),  # which must be one
        ("MAP@7", "grades, ranked, depth", 7),
        ("MAP@7", "grades, ranked, verbose=None", None),
        ("MAP@7", "grades, ranked, *, k", 7),
        ("MAP@7", "grades, ranked, k_values", [7]),
        ("F1@5", "grades, ranked, k", 5),
    ],
)
def test_a_cutoff_is_given_where_the_function_takes_one(name, signature, k):
    target = TargetMeasure(name, *meaning_of(name))
    assert form_taken(eval(f"lambda {signature}: 0.5"), target, NAMED, "query").k == k


def test_a_function_that_raises_in_each_form_is_asked_in_the_first_that_it_may_take():
    def strict(qrels, ranked, k):
        return mean(1 / len({d for d in qrels[q] if qrels[q][d] > 3}) for q in ranked) / k

    target = TargetMeasure("P@5", *meaning_of("P@5"))
    taken = form_taken(strict, target, NAMED)
    assert (taken.texts, taken.k) == (SIGNATURES["dicts"].texts, 5)
    taken = form_taken(strict, target, NAMED, "ranked")
    assert (taken.texts, taken.k) == (SIGNATURES["ranked"].texts, 5)


def test_what_is_not_seen_is_said():
    found = identified(recall_at_k, "R@10")
    unseen = "the function does not see scores, grades, what is judged not relevant, and which queries are"
    assert unseen in found.open["level"]
    assert found.takes == (
        "its ranked documents [document, ...], the relevant documents of a query {document, ...}, k = 10"
    )
    assert found.called == "recall_at_k(['b', 'a'], {'a'}, 10)"
    assert "Called with\n  its ranked documents" in str(found)


# --- what functions return ---------------------------------------------------------------------------


def p_5_of(qrels, run):
    return {q: sum(qrels[q].get(doc, 0) >= 1 for doc in list(run.get(q, {}))[:5]) / 5 for q in qrels}


@pytest.mark.parametrize(
    ("returned", "note"),
    [
        (lambda values: (mean(values.values()), values), "the function returns a tuple, of which the first"),
        (lambda values: {q: {"P_5": value, "map": 0.1} for q, value in values.items()}, "'P_5' counts"),
        (lambda values: {"precision@5": mean(values.values()), "P@1": 0.5}, "'precision@5' counts"),
        (lambda values: [*values.values()], ""),
        (lambda values: {"score": mean(values.values())}, ""),
    ],
)
def test_the_number_is_found_in_what_is_returned(returned, note):
    found = pm.identify(lambda qrels, run: returned(p_5_of(qrels, run)), "P@5")
    assert (found.ok, found.measure) == (True, "P@5")
    assert [each for each in found.notes if note in each] == found.notes
    assert len(found.notes) == bool(note)


def test_warnings_of_numpy_are_counted_and_not_shown(recwarn):
    def precision(grades, ranked):
        hits = np.array([grades.get(doc, 0) >= 1 for doc in ranked[:5]])
        return np.float64(hits.sum()) / np.float64(5) + 0 * (np.float64(0) / np.float64(bool(len(hits))))

    def warns(grades, ranked):
        np.float64(1) / np.float64(len(ranked))
        return precision(grades, ranked) if ranked else 0.0

    found = pm.identify(warns, "P@5", form="query")
    assert found.measure == "P@5"
    [note] = [each for each in found.notes if "warns" in each]
    assert note.startswith("NumPy warns on ")
    assert note.endswith(" cases: divide by zero")
    assert not recwarn.list
    assert not pm.identify(precision, "P@5", form="query").notes


# --- scripts -----------------------------------------------------------------------------------------


def test_a_method_of_a_class_is_called_on_an_object_that_is_made(tmp_path):
    from permed_measures.identification.user_function import load_function

    (tmp_path / "mine.py").write_text(
        "class Evaluator:\n"
        "    def __init__(self, k=5):\n        self.k = k\n"
        "    def recall(self, ranked, relevant):\n"
        "        return len({*ranked[: self.k]} & {*relevant}) / max(len(relevant), 1)\n"
        "    @staticmethod\n    def cutoff():\n        return 7\n"
        "class Needs:\n    def __init__(self, qrels):\n        pass\n    def recall(self):\n        pass\n"
    )
    path = tmp_path / "mine.py"
    recall = load_function(f"{path}:Evaluator.recall")
    assert recall(["a", "b"], ["a", "c"]) == 0.5
    assert load_function(f"{path}:Evaluator.cutoff")() == 7
    with pytest.raises(pm.InputError, match=r"Needs cannot be made without arguments .*Add a function to"):
        load_function(f"{path}:Needs.recall")
    with pytest.raises(pm.InputError, match=r"no function 'Evaluator.recal'.*It has .*Evaluator.recall"):
        load_function(f"{path}:Evaluator.recal")


class Tensor:
    """A stand-in for PyTorch's tensors, with the methods that the function below calls."""

    def __init__(self, values):
        self.values = np.array(values, np.float32)

    def argsort(self, descending):
        return np.argsort(-self.values if descending else self.values, kind="stable")

    def float(self):
        return self

    def take(self, places):
        return self.values[places]

    def __repr__(self):
        return f"tensor({self.values.tolist()})"


def precision_of_tensors(preds, target):
    return (target.float().take(preds.argsort(descending=True)[:5]) >= 1).sum() / 5


def test_lists_are_tensors_where_the_script_imports_pytorch(monkeypatch):
    target = TargetMeasure("P@5", *meaning_of("P@5"))
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert form_taken(precision_of_tensors, target, NAMED).lists_as == ""
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(tensor=Tensor))
    taken = form_taken(precision_of_tensors, target, NAMED)
    assert (taken.lists_as, taken.turned) == ("tensors", True)
    assert taken.taken.endswith("[grade, ...] as tensors")
    found = pm.identify(precision_of_tensors, "P@5")
    assert (found.ok, found.measure) == (True, "P@5")
    assert found.called == "precision_of_tensors(tensor([2.0, 1.0]), tensor([0.0, 1.0]))"
    assert form_taken(of_arrays, target, NAMED).lists_as == "arrays"  # rather, where both would do


def test_options_that_a_function_does_not_see_stand_in_one_line():
    text = " ".join(str(identified(recall_at_k, "R@10")).split())
    hidden = "scores, grades, what is judged not relevant, and which queries are averaged"
    assert text.count("does not see") == 1
    line = text.partition(f"Left open The function does not see {hidden}; open: ")[2]
    line = line.partition(" No case is affected by: ")[0]
    assert {"tie rule", "query set", "relevance level"} <= {*line.split(", ")}
    seen = " ".join(str(pm.identify(p_5_of, "P@5")).split())
    assert "does not see" not in seen


def test_the_order_of_dicts_is_told_where_grades_below_3_are_not_relevant():
    """On grades 1 and 2 the function is constant, and it reads the scores of a run as grades."""

    def precision(qrels, run):
        values = []
        for query, grades in qrels.items():
            docs = run.get(query, {})
            top = sorted(docs, key=lambda doc: -docs[doc])[:5]
            values.append(sum(grades.get(doc, 0) >= 3 for doc in top) / 5)
        return sum(values) / len(values)

    result = pm.identify(precision, "P@5")
    assert result.measure == "P(rel=3)@5"
    assert result.takes.startswith("qrels ")


def dcg_at_k(r, k):
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(r[:k], start=1))


def dcg_of_dicts(qrels, run):
    return sum(dcg_at_k([max(qrels[q].get(d, 0), 0) for d in run.get(q, {})], 10) for q in qrels) / len(qrels)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (dcg_at_k, "DCG@10"),
        pytest.param(dcg_of_dicts, "nDCG@10", marks=pytest.mark.thorough),
    ],
)
def test_dcg_is_asked_by_its_name_or_by_that_of_ndcg(function, name):
    result = pm.identify(function, name)
    assert result.ok
    assert result.nearest.sentence().startswith("DCG@10 with linear gains, log2 discount")
    assert str(result).startswith(f"{name} is DCG@10 with linear gains, log2 discount")
    assert "ideal list of nDCG, on " in str(result)


def test_a_function_that_finds_nothing_or_something_is_no_constant():
    result = pm.identify(lambda grades: float(any(each >= 1 for each in grades[:10])), "Hit@10")
    assert result.ok
    assert result.takes.startswith("the grades of the ranked documents of a query")
    assert result.nearest.sentence() == "Success@10"


def to_num_rel(relevant, ranked):
    found = [doc in relevant for doc in ranked[: len(relevant)]]
    precisions = [sum(found[:n]) / n for n, is_hit in enumerate(found, 1) if is_hit]
    return sum(precisions) / max(len(relevant), 1)


def smaller_at_each_rank(relevant, ranked):
    found = [doc in relevant for doc in ranked[:10]]
    precisions = sum(sum(found[:n]) / n for n, is_hit in enumerate(found, 1) if is_hit)
    total = sum(min(len(relevant), n) for n in range(1, len(found) + 1))
    return precisions / total if total else 0.0


def middle_rank(labels, scores):
    found = [score for label, score in zip(labels, scores, strict=True) if label >= 1]
    best = max(found, default=math.inf)
    return sum(each > best for each in scores) + (scores.count(best) + 1) / 2 if found else math.inf


def reciprocal_of_middle(labels, scores, off=0):
    rank = middle_rank(labels, scores) + off
    return 1 / rank if rank <= 20 else 0.0


@pytest.mark.parametrize(
    ("function", "name", "form"),
    [
        (dcg_of_dicts, "nDCG@10", "dicts"),
        (to_num_rel, "MAP@R", "relevant"),
        (smaller_at_each_rank, "MAP@10", "relevant"),
        (reciprocal_of_middle, "MRR@20", "scores"),
    ],
)
def test_the_form_is_found_of_functions_with_one_change_from_the_default(function, name, form):
    taken = form_taken(function, TargetMeasure(name, *meaning_asked(name)), NAMED)
    assert taken == SIGNATURES[form]._replace(k=taken.k)


@pytest.mark.parametrize(
    ("function", "name", "sentence"),
    [
        (reciprocal_of_middle, "MRR@20", "RR@20 of the middle rank of tied documents; "),
        pytest.param(
            to_num_rel,
            "MAP@R",
            "AP with binary relevance, divided by R, of the hits down to rank R only",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            lambda labels, scores: reciprocal_of_middle(labels, scores, 0.01),
            "MRR@20",
            None,
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_what_more_than_one_library_computes_is_told(function, name, sentence):
    result = pm.identify(function, name)
    assert result.ok == bool(sentence)
    if sentence:
        assert result.nearest.sentence().startswith(sentence)
        assert result.notes == []


def test_a_number_is_that_of_dcg_or_of_ndcg_by_its_name():
    assert likeness("dcg@10", "DCG@10") == likeness("ndcg@10", "nDCG@10") == 2
    assert likeness("dcg@10", "nDCG@10") == likeness("ndcg@10", "DCG@10") == 0
    assert likeness("dcg", "DCG@10") == likeness("map@r", "MAP@R") - 1 == 1
