"""What further libraries compute, written from their sources."""

from itertools import groupby

import numpy as np
from evaluation_scripts import QUERIES, Lists, ap, hit, mean, means, ndcg, over, p, r, rprec, rr, script

# vespa-engine/pyvespa, vespa/evaluation/_base.py: VespaEvaluator, a set of relevant documents for each query
of_vespa = {"accuracy@3": hit(3), "precision@5": p(5), "recall@10": r(10), "mrr@10": rr(10)}
of_vespa |= {"ndcg@10": ndcg(10, "binary"), "map@100": ap(100, "smaller")}
means("pyvespa", "relevant", of_vespa)


# the same, with graded relevance: all queries that have some, and nDCG only
means("pyvespa, graded", "qrels", {"ndcg@10": ndcg(10)})


# its code for MAP there, which is not reached: the summed relevance over the rank, divided by min(R, k)
def graded_ap(x, q):
    top = max(max(docs.values()) for docs in x.qrels.values())
    total = sum(max(g, 0) / top / i for i, g in enumerate(x.grades.get(q, [])[:10], 1))
    return total / min(10, len(x.relevant[q]))


means("graded MAP of 1/rank", "relevant", {"map@10": graded_ap})


# run-llama/llama_index, core/evaluation/retrieval/metrics.py: use_granular_hit_rate, use_granular_mrr
def granular_rr(x, q):
    ranks = [1 / i for i, bit in enumerate(x.bits(q, 10), 1) if bit]
    return sum(ranks) / max(len(ranks), 1)


of_llama = {"HitRate@10": r(10), "mrr@10": granular_rr, "precision@10": p(10, "returned")}
means("LlamaIndex, granular", "both, relevant, with list", of_llama)


def listed(qrels, run):
    """Yield scores and grades of each list, which is all that rerankers see; no grade is negative."""
    for q in (q for q in qrels if run.get(q)):
        yield np.array(list(run[q].values()), float), np.array([max(qrels[q].get(d, 0), 0) for d in run[q]])


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


# UKPLab/sentence-transformers, evaluation/RerankingEvaluator.py: positives and negatives are both needed, and
# stand in this order; scores are single precision
@script("sentence-transformers, RerankingEvaluator")
def reranking_evaluator(qrels, run):
    rows = []
    for scores, grades in listed(qrels, run):
        relevant = (grades > 0).astype(int)
        if 0 < relevant.sum() < len(relevant):
            order = np.lexsort((-relevant, -scores.astype(np.float32)))
            rows.append(reranking_scores(scores, relevant, order))
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
def rank_of_best(x, q):
    grades = [max(g, 0) for g in x.grades[q]]
    first = grades.index(max(grades))
    return 1 / (first + 1) if first < 10 else 0  # where all are 0, the first has the highest label


of_allrank = {f"ndcg@{k}": ndcg(k, "exp", ideal="list", of_nothing=1) for k in (5, 10)}
of_allrank |= {"mrr@10": rank_of_best}
means("allRank", "both, with list", of_allrank)


# catboost/catboost, libs/metrics/dcg.cpp, precision_recall_at_k.cpp: ties with the lower target first
def lower_first(docs, judged):
    return dict(sorted(docs.items(), key=lambda each: judged.get(each[0], 0)))


@script("CatBoost")
def catboost(qrels, run):
    x = Lists(qrels, run, kept=lower_first)
    gains = ndcg(10, ideal="list")
    row = {
        "NDCG@10": lambda x, q: gains(x, q) if max(x.grades[q]) > 0 else 1,
        "MAP@10": ap(10, "smaller in list"),
        "Recall@10": lambda x, q: sum(x.bits(q, 10)) / sum(x.bits(q)) if sum(x.bits(q)) else 1,
    }
    return over(x, QUERIES["both, with list"](x), row)


# benfred/implicit, implicit/evaluation.pyx: precision is all hits over the sum of min(K, likes)
@script("implicit")
def implicit(qrels, run):
    x = Lists(qrels, run)
    users = QUERIES["relevant"](x)
    precision = sum(sum(x.bits(q, 10)) for q in users) / sum(min(len(x.relevant[q]), 10) for q in users)
    return {
        "precision@10": precision,
        **over(x, users, {"map@10": ap(10, "smaller"), "ndcg@10": ndcg(10, "binary")}),
    }


# tensorflow/ranking, tensorflow_ranking/python/metrics_impl.py: lists, exp gains, P over min(topn, list size)
of_tf = {"ndcg@10": ndcg(10, "exp", ideal="list"), "MAP@10": ap(10, "in list"), "mrr@10": rr(10)}
of_tf |= {"precision@5": p(5, "returned"), "recall@10": r(10, "in list")}
means("TF-Ranking", "both, with list", of_tf)


# evidentlyai/evidently, metrics/recsys: users without a click in their list are left out
of_evidently = {"Precision@5": p(5, "returned"), "Recall@10": r(10, "in list"), "MAP@10": ap(10, "in list")}
of_evidently |= {"NDCG@10": ndcg(10, ideal="list"), "MRR@10": rr(10), "HitRate@5": hit(5)}
means("Evidently", "with hit", of_evidently)
of_evidently |= {"NDCG@10": ndcg(10, ideal="first 10")}
means("Evidently of October 2023", "with hit", of_evidently)


# recommenders-team/recommenders, evaluation/python_evaluation.py: common users, but nDCG over all users
@script("Microsoft recommenders")
def recommenders(qrels, run):
    x = Lists(qrels, run)
    row = over(
        x,
        QUERIES["both, relevant, with list"](x),
        {"MAP@10": ap(10, "smaller"), "Precision@10": p(10), "Recall@10": r(10)},
    )
    return row | over(x, QUERIES["relevant"](x), {"nDCG@10": ndcg(10, "binary")})


# the same file's `map`, which divides by all relevant items
@script("Microsoft recommenders, map")
def recommenders_map(qrels, run):
    x = Lists(qrels, run)
    return over(x, QUERIES["both, relevant, with list"](x), {"MAP@10": ap(10), "Precision@10": p(10)})


def single_lower_first(docs, judged):
    return lower_first({d: np.float32(score) for d, score in docs.items()}, judged)


# lyst/lightfm, lightfm/evaluation.py: users with interactions in the test set; ties count against an item
of_lightfm = {"precision@10": p(10), "recall@10": r(10), "MRR": rr()}
means("LightFM", "relevant", of_lightfm, kept=single_lower_first)


# lenskit/lkpy, src/lenskit/metrics/ranking: recall over min(R, n), AP over min(R, list), ranks clipped at 2;
# a list for which a measure is not defined is left out
@script("LensKit")
def lenskit(qrels, run):
    x = Lists(qrels, run)
    row = over(x, QUERIES["both, with list"](x), {"Precision@10": p(10, "returned")})
    row |= over(x, QUERIES["both, relevant, with list"](x), {"MAP@10": ap(10, "smaller or returned")})
    of_all = {"Recall@10": r(10, "smaller"), "NDCG@10": ndcg(10, "binary", "jk")}
    return row | over(x, QUERIES["both, relevant"](x), of_all)


# KevinMusgrave/pytorch-metric-learning, utils/accuracy_calculator.py: AP of the hits found
of_metric_learning = {"P@1": p(1), "R-Precision": rprec, "MAP": ap(None, "found")}
means("pytorch-metric-learning", "both, relevant", of_metric_learning)
