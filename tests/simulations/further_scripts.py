"""What further libraries compute, written from their sources: each a function of qrels and a run."""

from itertools import groupby

import numpy as np
from evaluation_scripts import Lists, binary, exponential, found, mean, over, script, smaller


def listed(qrels, run):
    """Return scores and grades of each list, which is all that many libraries see; no grade is negative."""
    both = [q for q in qrels if run.get(q)]
    scores = [np.array(list(run[q].values()), float) for q in both]
    grades = [np.array([max(qrels[q].get(d, 0), 0) for d in run[q]]) for q in both]
    return list(zip(scores, grades, strict=True))


def returned(x, k):
    """Return precision over the documents returned within k."""
    return lambda q: sum(x.bits(q, k)) / max(len(x.ranked.get(q, [])[:k]), 1)


def listed_ideal(x):
    """Return what sorts the grades of a list."""
    return lambda q: sorted(x.grades.get(q, []), reverse=True)


# vespa-engine/pyvespa, vespa/evaluation/_base.py: VespaEvaluator, a set of relevant documents for each query
@script("pyvespa")
def pyvespa(qrels, run):
    x = Lists(qrels, run)
    queries = [q for q in qrels if x.relevant[q]]
    measures = {"accuracy@3": x.hit(3), "precision@5": x.p(5), "recall@10": x.r(10), "mrr@10": x.rr(10)}
    return over(queries, **measures, **{"ndcg@10": x.ndcg(10, binary), "map@100": x.ap(100, smaller)})


# the same, with graded relevance: MAP sums the relevance over the rank, divided by min(R, k)
@script("pyvespa, graded MAP")
def pyvespa_graded(qrels, run):
    x = Lists(qrels, run)
    top = max(max(docs.values()) for docs in qrels.values())

    def ap(q):
        total = sum(max(g, 0) / top / i for i, g in enumerate(x.grades.get(q, [])[:10], 1))
        return total / min(10, len(x.relevant[q]))

    return over([q for q in qrels if x.relevant[q]], **{"ndcg@10": x.ndcg(10), "map@10": ap})


# run-llama/llama_index, core/evaluation/retrieval/metrics.py: use_granular_hit_rate, use_granular_mrr
@script("LlamaIndex, granular")
def llama_granular(qrels, run):
    x = Lists(qrels, run)

    def rr(q):
        ranks = [1 / i for i, bit in enumerate(x.bits(q, 10), 1) if bit]
        return sum(ranks) / max(len(ranks), 1)

    queries = [q for q in x.with_relevant if x.ranked[q]]
    return over(queries, **{"HitRate@10": x.r(10), "mrr@10": rr, "precision@10": returned(x, 10)})


def average_of_ties(scores, relevant):
    """Return AP as scikit-learn has it: a step for each score, not for each document."""
    pairs = sorted(zip(scores, relevant, strict=True), reverse=True)
    total, hits, n = 0.0, 0, 0
    for _, tied in groupby(pairs, key=lambda pair: pair[0]):
        bits = [bit for _, bit in tied]
        hits, n = hits + sum(bits), n + len(bits)
        total += sum(bits) * hits / n
    return total / max(sum(relevant), 1)


def ndcg_of_ties(scores, relevant, k):
    """Return nDCG as scikit-learn has it: tied documents gain their mean."""
    pairs = sorted(zip(scores, relevant, strict=True), reverse=True)
    discounts = [1 / np.log2(i + 2) if i < k else 0 for i in range(len(pairs))]
    total, first = 0.0, 0
    for _, tied in groupby(pairs, key=lambda pair: pair[0]):
        bits = [bit for _, bit in tied]
        total += np.mean(bits) * sum(discounts[first : first + len(bits)])
        first += len(bits)
    return total / sum(discounts[: sum(relevant)])


def reranking_scores(scores, relevant, order):
    """Return MAP, MRR@10 and NDCG@10 of a list."""
    rr = next((1 / i for i, at in enumerate(order[:10], 1) if relevant[at]), 0)
    return average_of_ties(scores, relevant), rr, ndcg_of_ties(scores, relevant, 10)


# UKPLab/sentence-transformers, evaluation/RerankingEvaluator.py: positives and negatives are both needed
@script("sentence-transformers, RerankingEvaluator")
def reranking_evaluator(qrels, run):
    rows = []
    for scores, grades in listed(qrels, run):
        relevant = (grades > 0).astype(int)
        if 0 < relevant.sum() < len(relevant):
            rows.append(reranking_scores(scores, relevant, np.argsort(-scores, kind="stable")))
    return dict(zip(("MAP", "MRR@10", "NDCG@10"), map(mean, zip(*rows, strict=True)), strict=True))


# cross_encoder/evaluation/CrossEncoderRerankingEvaluator: documents, always_rerank_positives=False
@script("sentence-transformers, CrossEncoderRerankingEvaluator")
def cross_encoder_evaluator(qrels, run):
    rows = []
    for scores, grades in listed(qrels, run):
        relevant = (grades > 0).astype(int)
        order = np.argsort(scores, kind="stable")[::-1]
        rows.append(reranking_scores(scores, relevant, order) if relevant.any() else (0, 0, 0))
    return dict(zip(("MAP", "MRR@10", "NDCG@10"), map(mean, zip(*rows, strict=True)), strict=True))


# allegro/allRank, allrank/models/metrics.py: ndcg of slates, mrr of the first document of the highest label
@script("allRank")
def allrank(qrels, run):
    x = Lists(qrels, run)
    slates = [q for q in x.both if x.ranked[q]]

    def mrr(q):
        grades = [max(g, 0) for g in x.grades[q]]
        first = grades.index(max(grades))
        return 1 / (first + 1) if first < 10 and max(grades) > 0 else 0

    ndcg = {f"ndcg_{k}": x.ndcg(k, exponential, ideal=listed_ideal(x)) for k in (5, 10)}
    return over(slates, **ndcg, mrr_10=mrr)


# catboost/catboost, libs/metrics/dcg.cpp, precision_recall_at_k.cpp: ties with the lower target first
@script("CatBoost")
def catboost(qrels, run):
    def order(q):
        return lambda docs: sorted(docs, key=lambda d: (-docs[d], qrels.get(q, {}).get(d, 0)))

    x = Lists(qrels, run)
    x.ranked = {q: order(q)(docs) for q, docs in run.items()}
    x.grades = {q: [max(qrels[q].get(d, 0), 0) for d in x.ranked[q]] for q in x.both}
    groups = [q for q in x.both if x.ranked[q]]
    ideal = listed_ideal(x)
    ndcg = lambda q: x.ndcg(10, ideal=ideal)(q) if any(ideal(q)) else 1  # noqa: E731
    ap = lambda q: x.ap(10, lambda *_: max(min(sum(x.bits(q)), 10, len(x.ranked[q])), 1))(q)  # noqa: E731
    recall = lambda q: sum(x.bits(q, 10)) / sum(x.bits(q)) if any(x.bits(q)) else 1  # noqa: E731
    return over(groups, **{"NDCG@10": ndcg, "MAP@10": ap, "Recall@10": recall})


# benfred/implicit, implicit/evaluation.pyx: precision is all hits over the sum of min(K, likes)
@script("implicit")
def implicit(qrels, run):
    x = Lists(qrels, run)
    users = [q for q in qrels if x.relevant[q]]
    p = sum(sum(x.bits(q, 10)) for q in users) / sum(min(10, len(x.relevant[q])) for q in users)
    return {"precision@10": p, **over(users, **{"map@10": x.ap(10, smaller), "ndcg@10": x.ndcg(10, binary)})}


# tensorflow/ranking, tensorflow_ranking/python/metrics_impl.py: lists, exp gains, P over min(topn, list size)
@script("TF-Ranking")
def tf_ranking(qrels, run):
    x = Lists(qrels, run)
    lists = [q for q in x.both if x.ranked[q]]
    in_list = lambda q: sum(x.bits(q))  # noqa: E731
    ndcg = x.ndcg(10, exponential, ideal=listed_ideal(x))
    recall = lambda q: sum(x.bits(q, 10)) / max(in_list(q), 1)  # noqa: E731
    ap = lambda q: x.ap(10, lambda *_: in_list(q))(q)  # noqa: E731
    row = {"ndcg_10": ndcg, "MAP_10": ap, "mrr_10": x.rr(10), "precision_5": returned(x, 5)}
    return over(lists, **row, recall_10=recall)


# evidentlyai/evidently, metrics/recsys: users without a click in their list are left out
@script("Evidently")
def evidently(qrels, run):
    x = Lists(qrels, run)
    users = [q for q in x.both if any(x.bits(q))]
    first = lambda q: sorted((max(g, 0) for g in x.grades[q][:10]), reverse=True)  # noqa: E731
    recall = lambda q: sum(x.bits(q, 10)) / sum(x.bits(q))  # noqa: E731
    ap = x.ap(10, lambda *_: 1)
    row = {"Precision@5": returned(x, 5), "Recall@10": recall, "MAP@10": lambda q: ap(q) / sum(x.bits(q))}
    return over(
        users, **row, **{"NDCG@10": x.ndcg(10, ideal=first), "MRR@10": x.rr(10), "HitRate@5": x.hit(5)}
    )


# recommenders-team/recommenders, evaluation/python_evaluation.py: common users, but nDCG over all users
@script("Microsoft recommenders")
def recommenders(qrels, run):
    x = Lists(qrels, run)
    users = [q for q in qrels if x.relevant[q]]
    common = [q for q in x.with_relevant if x.ranked[q]]
    row = over(common, **{"MAP@10": x.ap(10, smaller), "Precision@10": x.p(10), "Recall@10": x.r(10)})
    return row | over(users, **{"nDCG@10": x.ndcg(10, binary)})


# lyst/lightfm, lightfm/evaluation.py: users with interactions in the test set
@script("LightFM")
def lightfm(qrels, run):
    x = Lists(qrels, run)
    users = [q for q in qrels if x.relevant[q]]
    return over(users, **{"precision@10": x.p(10), "recall@10": x.r(10), "MRR": x.rr()})


# lenskit/lkpy, src/lenskit/metrics/ranking: recall over min(R, n), AP over min(R, list), ranks clipped at 2
@script("LensKit")
def lenskit(qrels, run):
    x = Lists(qrels, run)
    users = [q for q in x.with_relevant if x.ranked[q]]
    recall = lambda q: sum(x.bits(q, 10)) / min(10, len(x.relevant[q]))  # noqa: E731
    ap = lambda q: x.ap(10, lambda _, n, k: min(n, len(x.ranked[q][:k])))(q)  # noqa: E731
    ndcg = x.ndcg(10, binary, lambda i: max(np.log2(i), 1))
    return over(
        users, **{"Precision@10": returned(x, 10), "Recall@10": recall, "MAP@10": ap, "NDCG@10": ndcg}
    )


# KevinMusgrave/pytorch-metric-learning, utils/accuracy_calculator.py: AP of the hits found
@script("pytorch-metric-learning")
def metric_learning(qrels, run):
    x = Lists(qrels, run)
    rprec = lambda q: sum(x.bits(q, len(x.relevant[q]))) / len(x.relevant[q])  # noqa: E731
    return over(x.with_relevant, **{"P@1": x.p(1), "R-Precision": rprec, "MAP": x.ap(None, found)})
