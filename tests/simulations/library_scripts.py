"""Evaluators that the tests install, each a function of qrels and a run."""

import re

from evaluation_scripts import by_score, mean, script


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


def judged(qrels):
    return {q: {d: max(g, 0) for d, g in docs.items()} for q, docs in qrels.items()}


def nonempty(run):
    return {q: docs for q, docs in run.items() if docs}
