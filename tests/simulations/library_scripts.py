"""Libraries that papers use, each a function of qrels and a run; a missing one raises ImportError."""

import logging
import re
import warnings
from collections import defaultdict

import numpy as np
from evaluation_scripts import by_score, mean, script


def listed(qrels, run):
    """Return scores and grades of each list, which is all that many libraries see; no grade is negative."""
    both = [q for q in qrels if run.get(q)]
    scores = [np.array(list(run[q].values()), float) for q in both]
    grades = [np.array([max(qrels[q].get(d, 0), 0) for d in run[q]]) for q in both]
    return list(zip(scores, grades, strict=True))


@script("ir_measures")
def ir_measures(qrels, run):
    import ir_measures as ir

    names = {"nDCG@10": ir.nDCG @ 10, "MAP@10": ir.AP @ 10, "MRR@10": ir.RR @ 10, "P@5": ir.P @ 5}
    values = ir.calc_aggregate(names.values(), qrels, run)
    return {name: values[measure] for name, measure in names.items()}


def pytrec(qrels, run, measures, level=1):
    """Return the means of pytrec_eval over the queries that both have."""
    import pytrec_eval

    keys = {re.sub(r"_(?=[0-9]+$)", ".", each) for each in measures}
    values = pytrec_eval.RelevanceEvaluator(qrels, keys, relevance_level=level).evaluate(run).values()
    return {name: mean(value[key] for value in values) for key, name in measures.items()}


FIVE = {"ndcg_cut_10": "nDCG@10", "map": "MAP", "recip_rank": "MRR", "P_5": "P@5", "recall_20": "R@20"}


@script("pytrec_eval")
def pytrec_eval(qrels, run):
    return pytrec(qrels, run, FIVE)


@script("TREC Deep Learning, -l 2")
def trec_dl(qrels, run):
    return pytrec(qrels, run, {"map": "MAP", "recip_rank": "MRR", "recall_100": "R@100"}, 2) | pytrec(
        qrels, run, {"ndcg_cut_10": "nDCG@10"}
    )


@script("pytrec_eval of lists cut at 10")
def cut_first(qrels, run):
    cut = {q: {d: docs[d] for d in by_score(docs)[:10]} for q, docs in run.items()}
    return pytrec(qrels, cut, {"ndcg_cut_10": "nDCG@10", "map_cut_10": "MAP@10", "P_5": "P@5"})


@script("ranx")
def ranx(qrels, run):
    from ranx import Qrels, Run, evaluate

    names = {
        "ndcg@10": "nDCG@10",
        "map@10": "MAP@10",
        "mrr": "MRR",
        "recall@20": "R@20",
        "hit_rate@5": "Hit@5",
    }
    values = evaluate(Qrels(judged(qrels)), Run(nonempty(run)), list(names), make_comparable=True)
    return {name: float(values[key]) for key, name in names.items()}


@script("ranx, ndcg_burges and f1")
def ranx_burges(qrels, run):
    from ranx import Qrels, Run, evaluate

    names = {"ndcg_burges@10": "nDCG@10", "f1@10": "F1@10", "precision@10": "P@10"}
    values = evaluate(Qrels(judged(qrels)), Run(nonempty(run)), list(names), make_comparable=True)
    return {name: float(values[key]) for key, name in names.items()}


@script("rank_eval")
def rank_eval(qrels, run):
    from rank_eval import Qrels, Run, evaluate

    kept = {q: docs for q, docs in nonempty(run).items() if q in qrels}
    theirs = {q: docs for q, docs in judged(qrels).items() if q in kept}
    names = {"ndcg@10": "nDCG@10", "map@10": "MAP@10", "mrr": "MRR", "recall@20": "R@20"}
    values = evaluate(Qrels.from_dict(theirs), Run.from_dict(kept), list(names))
    return {name: float(values[key]) for key, name in names.items()}


def judged(qrels):
    return {q: {d: max(g, 0) for d, g in docs.items()} for q, docs in qrels.items()}


def nonempty(run):
    return {q: docs for q, docs in run.items() if docs}


@script("scikit-learn, ndcg_score")
def sklearn_ndcg(qrels, run):
    from sklearn.metrics import ndcg_score

    lists = [(s, g) for s, g in listed(qrels, run) if len(s) > 1]
    return {f"nDCG@{k}": mean(ndcg_score([g], [s], k=k) for s, g in lists) for k in (5, 10)}


@script("scikit-learn, average_precision_score")
def sklearn_ap(qrels, run):
    from sklearn.metrics import average_precision_score

    lists = [(s, g > 0) for s, g in listed(qrels, run) if (g > 0).any()]
    return {"MAP": mean(average_precision_score(g, s) for s, g in lists)}


@script("scikit-learn, label_ranking_average_precision_score")
def sklearn_lrap(qrels, run):
    from sklearn.metrics import label_ranking_average_precision_score

    lists = [(s, g > 0) for s, g in listed(qrels, run) if (g > 0).any()]
    return {"MAP": mean(label_ranking_average_precision_score([g], [s]) for s, g in lists)}


def torchmetrics_row(qrels, run, action):
    import torch
    from torchmetrics import retrieval as r

    measures = {
        "nDCG@10": r.RetrievalNormalizedDCG(action, top_k=10),
        "MAP@10": r.RetrievalMAP(action, top_k=10),
        "MRR": r.RetrievalMRR(action),
        "P@5": r.RetrievalPrecision(action, top_k=5),
        "R@20": r.RetrievalRecall(action, top_k=20),
        "Hit@5": r.RetrievalHitRate(action, top_k=5),
    }
    lists = listed(qrels, run)
    scores, grades = (torch.tensor(np.concatenate(each)) for each in zip(*lists, strict=True))
    index = torch.tensor(np.repeat(np.arange(len(lists)), [len(s) for s, _ in lists]))
    return {
        name: float(each(scores, grades if "nDCG" in name else grades > 0, indexes=index))
        for name, each in measures.items()
    }


@script("torchmetrics, 'neg'")
def torchmetrics_neg(qrels, run):
    return torchmetrics_row(qrels, run, "neg")


@script("torchmetrics, 'skip'")
def torchmetrics_skip(qrels, run):
    return torchmetrics_row(qrels, run, "skip")


@script("pytorch-ignite")
def ignite(qrels, run):
    import torch
    from ignite.metrics.rec_sys import NDCG, HitRate

    metrics = {"HR": HitRate(top_k=[5, 10]), "NDCG": NDCG(top_k=[5, 10])}
    for scores, grades in listed(qrels, run):
        for name, metric in metrics.items():
            y = grades if name == "NDCG" else grades > 0
            filled = np.pad(scores, (0, 10), constant_values=-1e9), np.pad(y.astype(float), (0, 10))
            metric.update(tuple(torch.tensor(each)[None] for each in filled))
    values = {name: metric.compute() for name, metric in metrics.items()}
    return {f"{name}@{k}": float(v[i]) for name, v in values.items() for i, k in enumerate((5, 10))}


@script("LightGBM")
def lightgbm(qrels, run):
    import lightgbm as lgb

    lists = listed(qrels, run)
    scores, grades = (np.concatenate(each) for each in zip(*lists, strict=True))
    sizes = [len(s) for s, _ in lists]
    data = lgb.Dataset(np.zeros((len(scores), 1)), grades, group=sizes, init_score=scores)
    params = {"objective": "lambdarank", "metric": ["ndcg", "map"], "eval_at": [10], "verbosity": -1}
    seen = {}
    lgb.train(
        {**params, "feature_pre_filter": False, "min_data_in_leaf": len(scores)},
        data,
        1,
        valid_sets=[data],
        callbacks=[lgb.record_evaluation(seen)],
    )
    values = next(iter(seen.values()))
    return {"nDCG@10": values["ndcg@10"][0], "MAP@10": values["map@10"][0]}


@script("XGBoost")
def xgboost(qrels, run):
    import xgboost as xgb

    lists = listed(qrels, run)
    scores, grades = (np.concatenate(each) for each in zip(*lists, strict=True))
    sizes = [len(s) for s, _ in lists]
    names = {"ndcg@10": "nDCG@10", "map@10": "MAP@10", "pre@5": "P@5"}

    def value(labels, metric):
        data = xgb.DMatrix(np.zeros((len(scores), 1)), labels)
        data.set_group(sizes)
        data.set_base_margin(scores)
        booster = xgb.Booster({"objective": "rank:pairwise", "eval_metric": metric}, [data])
        return float(booster.eval(data).rsplit(":", 1)[1])

    return {n: value(grades if "ndcg" in key else (grades > 0).astype(int), key) for key, n in names.items()}


@script("BEIR")
def beir(qrels, run):
    from beir.retrieval.evaluation import EvaluateRetrieval

    logging.disable(logging.WARNING)
    run = {q: dict(docs) for q, docs in run.items() if q in qrels}
    values = {}
    for each in EvaluateRetrieval.evaluate(qrels, run, [5, 10, 20]):
        values |= each
    for metric in ("mrr", "acc"):
        values |= EvaluateRetrieval.evaluate_custom(qrels, run, [10], metric)
    names = ("NDCG@10", "MAP@10", "Recall@20", "P@5", "MRR@10", "Accuracy@10")
    return {name: float(values[name]) for name in names}


@script("BEIR, capped recall")
def beir_capped(qrels, run):
    from beir.retrieval.evaluation import EvaluateRetrieval

    kept = {q: docs for q, docs in qrels.items() if q in run and max(docs.values(), default=0) > 0}
    run = {q: run[q] for q in kept}
    return dict(EvaluateRetrieval.evaluate_custom(kept, run, [5, 10], "r_cap"))


@script("MTEB")
def mteb(qrels, run):
    from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores

    kept = {q: docs for q, docs in run.items() if q in qrels}
    found = calculate_retrieval_scores(kept, qrels, [5, 10, 20])
    values = {**found.ndcg, **found.map, **found.recall, **found.precision, **found.mrr}
    return {name: float(values[name]) for name in ("NDCG@10", "MAP@10", "Recall@20", "P@5", "MRR@10")}


@script("sentence-transformers")
def sentence_transformers(qrels, run):
    from sentence_transformers.evaluation import InformationRetrievalEvaluator

    relevant = {q: {d for d, g in docs.items() if g > 0} for q, docs in qrels.items()}
    each = InformationRetrievalEvaluator(
        dict.fromkeys(qrels, ""), {"d": ""}, relevant, map_at_k=[10], write_csv=False
    )
    lists = [[{"corpus_id": d, "score": s} for d, s in run.get(q, {}).items()] for q in each.queries_ids]
    v = each.compute_metrics(lists)
    row = {"NDCG@10": v["ndcg@k"][10], "MAP@10": v["map@k"][10], "MRR@10": v["mrr@k"][10]}
    return row | {"Recall@10": v["recall@k"][10], "Accuracy@5": v["accuracy@k"][5]}


@script("Haystack")
def haystack(qrels, run):
    from haystack import Document
    from haystack.components import evaluators as e

    both = [q for q in qrels if run.get(q) and max(qrels[q].values(), default=0) > 0]
    truth = [[Document(content=d) for d, g in qrels[q].items() if g > 0] for q in both]
    found = [[Document(content=d) for d in by_score(run[q])[:10]] for q in both]
    recall = e.DocumentRecallEvaluator
    measures = {
        "MAP": e.DocumentMAPEvaluator(),
        "MRR": e.DocumentMRREvaluator(),
        "nDCG@10": e.DocumentNDCGEvaluator(),
        "Recall@10": recall(mode="multi_hit"),
    }
    return {name: each.run(truth, found)["score"] for name, each in measures.items()}


@script("Haystack, single hit")
def haystack_single(qrels, run):
    row = haystack(qrels, run)
    from haystack import Document
    from haystack.components.evaluators import DocumentRecallEvaluator

    both = [q for q in qrels if run.get(q) and max(qrels[q].values(), default=0) > 0]
    truth = [[Document(content=d) for d, g in qrels[q].items() if g > 0] for q in both]
    found = [[Document(content=d) for d in by_score(run[q])[:10]] for q in both]
    value = DocumentRecallEvaluator(mode="single_hit").run(truth, found)["score"]
    return {"MRR": row["MRR"], "Recall@10": value}


@script("LlamaIndex")
def llama_index(qrels, run):
    from llama_index.core.evaluation import resolve_metrics

    names = {
        "hit_rate": "Hit@10",
        "mrr": "MRR@10",
        "precision": "P@10",
        "recall": "R@10",
        "ap": "AP@10",
        "ndcg": "nDCG@10",
    }
    metrics = {names[key]: metric() for key, metric in zip(names, resolve_metrics(list(names)), strict=True)}
    values = defaultdict(list)
    for q in qrels:
        truth, found = [d for d, g in qrels[q].items() if g > 0], by_score(run.get(q, {}))[:10]
        if truth and found:
            for name, metric in metrics.items():
                values[name].append(metric.compute(expected_ids=truth, retrieved_ids=found).score)
    return {name: mean(each) for name, each in values.items()}


@script("Spark MLlib")
def mllib(qrels, run):
    from pyspark import SparkContext
    from pyspark.mllib.evaluation import RankingMetrics

    warnings.simplefilter("ignore")
    context = SparkContext.getOrCreate()
    context.setLogLevel("OFF")
    pairs = [(by_score(run[q]), [d for d, g in qrels[q].items() if g > 0]) for q in qrels if q in run]
    metrics = RankingMetrics(context.parallelize(pairs, 2))
    row = {"MAP": metrics.meanAveragePrecision, "MAP@10": metrics.meanAveragePrecisionAt(10)}
    row |= {"P@5": metrics.precisionAt(5), "R@20": metrics.recallAt(20), "nDCG@10": metrics.ndcgAt(10)}
    return row
