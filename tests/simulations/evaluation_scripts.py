"""Evaluation scripts as papers' repositories have them: what they average over which queries.

They are written from what libraries and repositories say that they compute, without the package.
"""

import math
from collections import defaultdict

import numpy as np

SCRIPTS = {}
"""By name: what returns the numbers of a table, by the names that the script gives them, from qrels and a run
as dicts."""


def script(name):
    """Return a decorator that lists a script under a name."""

    def listed(function):
        SCRIPTS[name] = function
        return function

    return listed


def means(name, queries, measures, **lists):
    """List the script that averages measures, functions of the lists and a query, over some of QUERIES."""

    @script(name)
    def row(qrels, run):
        x = Lists(qrels, run, **lists)
        return over(x, QUERIES[queries](x), measures)


def over(x, queries, measures):
    """Return the mean of each measure over queries."""
    return {name: mean(measure(x, q) for q in queries) for name, measure in measures.items()}


def mean(values):
    """Return the mean of numbers as a float."""
    return float(np.mean(list(values)))


# --- lists and queries ---------------------------------------------------------------------------------


def by_score(docs):
    """Return documents by score, tied ones as they stand."""
    return sorted(docs, key=docs.get, reverse=True)


def by_score_and_id(docs):
    """Return documents as trec_eval ranks them."""
    return sorted(docs, key=lambda d: (docs[d], d), reverse=True)


def backwards(docs):
    """Sort by numpy and turn it round."""
    ids = list(docs)
    return [ids[i] for i in np.argsort(list(docs.values()), kind="stable")[::-1]]


class Lists:
    """Grades of ranked lists and relevant documents."""

    def __init__(self, qrels, run, level=1, order=by_score, kept=lambda docs, judged: docs):  # noqa: ARG005
        run = {q: kept(docs, qrels.get(q, {})) for q, docs in run.items()}
        self.qrels = qrels
        self.relevant = {q: {d for d, g in docs.items() if g >= level} for q, docs in qrels.items()}
        self.ranked = {q: list(order(docs)) for q, docs in run.items()}
        self.grades = {q: [qrels[q].get(d, 0) for d in self.ranked[q]] for q in qrels if q in run}
        self.ideal = {q: sorted(docs.values(), reverse=True) for q, docs in qrels.items()}

    def bits(self, q, k=None):
        """Return 1 for each relevant document of a list, 0 for each other."""
        return [int(d in self.relevant[q]) for d in self.ranked.get(q, ())[:k]]


QUERIES = {
    "qrels": lambda x: list(x.qrels),
    "both": lambda x: list(x.grades),
    "relevant": lambda x: [q for q in x.qrels if x.relevant[q]],
    "both, relevant": lambda x: [q for q in x.grades if x.relevant[q]],
    "both, with list": lambda x: [q for q in x.grades if x.ranked[q]],
    "both, relevant, with list": lambda x: [q for q in x.grades if x.relevant[q] and x.ranked[q]],
    "with hit": lambda x: [q for q in x.grades if any(x.bits(q))],
    "with hit in 10": lambda x: [q for q in x.grades if any(x.bits(q, 10))],
}


# --- measures ------------------------------------------------------------------------------------------


DIVISORS = {
    "k": lambda x, q, k: k,  # noqa: ARG005
    "one": lambda *_: 1,
    "relevant": lambda x, q, _: len(x.relevant[q]),
    "smaller": lambda x, q, k: min(len(x.relevant[q]), k or math.inf),
    "found": lambda x, q, k: sum(x.bits(q, k)),
    "in list": lambda x, q, _: sum(x.bits(q)),
    "smaller in list": lambda x, q, k: min(sum(x.bits(q)), k),
    "returned": lambda x, q, k: len(x.ranked.get(q, [])[:k]),
    "smaller or returned": lambda x, q, k: min(len(x.relevant[q]), len(x.ranked.get(q, [])[:k])),
}
GAINS = {
    "linear": lambda g: max(g, 0),
    "binary": lambda g: int(g >= 1),
    "strict": lambda g: int(g >= 2),
    "exp": lambda g: 2 ** max(g, 0) - 1,
    "exp, negative too": lambda g: 2**g - 1,
}
DISCOUNTS = {"log2": lambda i: math.log2(i + 1), "jk": lambda i: max(math.log2(i), 1), "zipf": lambda i: i}
IDEALS = {
    "qrels": lambda x, q: x.ideal[q],
    "list": lambda x, q: sorted(x.grades.get(q, []), reverse=True),
    "first 10": lambda x, q: sorted(x.grades[q][:10], reverse=True),
    "as long as returned": lambda x, q: x.ideal[q][: len(x.ranked[q][:10])],
    "ten ones": lambda *_: [1] * 10,
}


def p(k, divisor="k"):
    return lambda x, q: sum(x.bits(q, k)) / max(DIVISORS[divisor](x, q, k), 1)


def r(k, divisor="relevant"):
    return p(k, divisor)


def rprec(x, q):
    return r(len(x.relevant[q]))(x, q)


def hit(k):
    return lambda x, q: float(any(x.bits(q, k)))


def rr(k=None):
    return lambda x, q: next((1 / i for i, bit in enumerate(x.bits(q, k), 1) if bit), 0)


def f1(k, k_of_recall):
    def value(x, q):
        precision, recall = p(k)(x, q), r(k_of_recall)(x, q)
        return 2 * precision * recall / max(precision + recall, 1e-9)

    return value


def ap(k=None, divisor="relevant", weight=lambda _: 1):
    """Return the precision at each hit by its weight, over a divisor."""

    def value(x, q):
        bits, grades = x.bits(q, k), x.grades.get(q, [])
        total = sum(sum(bits[:i]) / i * weight(grades[i - 1]) for i, bit in enumerate(bits, 1) if bit)
        return total / max(DIVISORS[divisor](x, q, k), 1)

    return value


def ndcg(k, gain="linear", discount="log2", ideal="qrels", *, ideal_k=None, of_nothing=0):
    """Return nDCG, `ideal_k` being where the ideal list is cut if not at k."""

    def dcg(grades):
        return sum(GAINS[gain](g) / DISCOUNTS[discount](i) for i, g in enumerate(grades, 1))

    def value(x, q):
        best = dcg(IDEALS[ideal](x, q)[: ideal_k or k])
        return dcg(x.grades.get(q, [])[:k]) / best if best > 0 else of_nothing

    return value


# --- scripts -------------------------------------------------------------------------------------------

means("MS MARCO, dev", "qrels", {"MRR@10": rr(10), "Recall@20": r(20)})
means("DPR, top-k accuracy", "both", {f"Top-{k} accuracy": hit(k) for k in (1, 5, 20)})
means("image-text retrieval, R@k", "both", {"R@1": hit(1), "R@5": hit(5), "R@10": hit(10)})

PERMED = {"NDCG@10": ndcg(10, "exp, negative too"), "MAP@10": ap(10, weight=lambda g: g / 2), "P@1": p(1)}
means("PerMed, core/evaluate.py", "both", PERMED)
divided_by_found = ap(10, "found", lambda g: g / 2)
means("PerMed, divided by the hits found", "both", PERMED | {"MAP@10": divided_by_found})
undivided = ap(10, "one", lambda g: min(g / 2, 1))
of_ablation = {"NDCG@10": PERMED["NDCG@10"], "MAP@10": undivided, "Recall@10": r(10), "P@1": p(1)}
means("CLPR, evaluate_ablation.py", "both, with list", of_ablation)

of_litsearch = {"Recall@5": r(5), "Recall@20": r(20), "NDCG@10": ndcg(10, "binary", "zipf", ideal_k=10**6)}
means("LitSearch, utils.py", "qrels", of_litsearch)
means("ScholarLoop, F1 of P@10 and R@20", "both", {"P@10": p(10), "R@20": r(20), "F1": f1(10, 20)})
means("F1@10 per query", "both", {"P@10": p(10), "R@10": r(10), "F1@10": f1(10, 10)})


@script("F1@10 of the means")
def f1_means(qrels, run):
    x = Lists(qrels, run)
    row = over(x, QUERIES["both"](x), {"P@10": p(10), "R@10": r(10)})
    precision, recall = row.values()
    return {**row, "F1@10": 2 * precision * recall / (precision + recall)}


@script("micro P, R and F1")
def micro(qrels, run):
    x = Lists(qrels, run)
    hits = sum(sum(x.bits(q, 10)) for q in x.grades)
    precision = hits / sum(len(x.ranked[q][:10]) for q in x.grades)
    recall = hits / sum(len(x.relevant[q]) for q in x.grades)
    f = 2 * precision * recall / (precision + recall)
    return {"Precision@10": precision, "Recall@10": recall, "F1@10": f}


@script("means by conversation")
def conversations(qrels, run):
    x, groups = Lists(qrels, run), defaultdict(list)
    for q in qrels:
        groups[q.rpartition("_")[0]].append(q)
    rows = [over(x, g, {"nDCG@10": ndcg(10), "MAP@10": ap(10), "P@5": p(5)}) for g in groups.values()]
    return {name: mean(row[name] for row in rows) for name in rows[0]}


USUAL = {"nDCG@10": ndcg(10), "MAP": ap(), "P@5": p(5), "MRR": rr()}


def judged(docs, grades):
    return {d: s for d, s in docs.items() if d in grades}


means("condensed lists", "both", USUAL, kept=judged)
of_reranking = {"MRR@10": rr(10), "MAP": ap(), "nDCG@10": ndcg(10)}
means("reranking: queries without a hit left out", "with hit", of_reranking)
of_strict = {"nDCG@10": ndcg(10, "strict"), "MAP@10": ap(10), "P@5": p(5), "R@20": r(20), "MRR": rr()}
means("relevant from grade 2 on, for all", "both", of_strict, level=2)
of_elastic = {"Precision@5": p(5, "returned"), "Recall@20": r(20), "MRR@10": rr(10)}
of_elastic["nDCG@10"] = ndcg(10, "exp", ideal="as long as returned")
means("Elasticsearch, _rank_eval", "both", of_elastic)
of_gdeval = {f"nDCG@{k}": ndcg(k, "exp") for k in (5, 10, 20)}
means("gdeval.pl", "both, relevant, with list", of_gdeval, order=by_score_and_id)
of_recbole = {"Recall@10": r(10), "MRR@10": rr(10), "NDCG@10": ndcg(10, "binary"), "Hit@10": hit(10)}
of_recbole |= {"Precision@10": p(10), "MAP@10": ap(10, "smaller")}
means("RecBole", "relevant", of_recbole)
means("Multi-VAE", "both, relevant", {"Recall@20": r(20, "smaller"), "NDCG@100": ndcg(100, "binary")})
of_ngcf = {"Recall@20": r(20), "Precision@20": p(20), "NDCG@20": ndcg(20, "binary"), "Hit@20": hit(20)}
means("NGCF, test.py", "both, relevant", of_ngcf)
of_kgat = {"Recall@20": r(20), "NDCG@20": ndcg(20, "binary", ideal="list"), "Hit@20": hit(20)}
means("KGAT, ideal of the hits", "both, relevant", of_kgat)


def gain_of_first(x, q):
    """Return nDCG of the first hit only, as for leave-one-out."""
    rank = next((i for i, bit in enumerate(x.bits(q, 10), 1) if bit), None)
    return 1 / math.log2(rank + 1) if rank else 0


of_first = {"HR@10": hit(10), "NDCG@10": gain_of_first, "MRR": rr()}
means("first hit only (leave-one-out)", "both", of_first)
of_ones = {"NDCG@10": ndcg(10, "binary", ideal="ten ones"), "P@10": p(10)}
means("ideal list of k relevant documents", "both", of_ones)
of_bwhite = {"MAP": ap(None, "found"), "MRR": rr(), "NDCG@10": ndcg(10, discount="jk", ideal="list")}
means("rank_metrics.py (bwhite)", "both", of_bwhite)
of_method_1 = {"MAP": ap(None, "found"), "P@5": p(5), "NDCG@10": ndcg(10, ideal="list")}
means("rank_metrics.py, method=1", "both", of_method_1)
of_blondel = {"P@10": p(10, "smaller in list"), "NDCG@10": ndcg(10, "exp", ideal="list")}
means("ranking.py (Blondel)", "with hit", of_blondel, order=backwards)
of_argsort = {"nDCG@10": ndcg(10), "MAP@10": ap(10), "P@5": p(5), "MRR": rr()}
means("argsort()[::-1]", "both", of_argsort, order=backwards)


def above_0(docs, _):
    return {d: s for d, s in docs.items() if s > 0}


of_positive = {"nDCG@10": ndcg(10), "MAP": ap(), "R@20": r(20), "MRR": rr()}
means("scores of 0 or less dropped", "both", of_positive, kept=above_0)
of_letor = {"P@5": p(5), "MAP": ap(None, "found"), "NDCG@10": ndcg(10, "exp", "jk", "list")}
means("LETOR, Eval-Score.pl", "both", of_letor)


def all_found(k):
    return lambda x, q: float(sum(x.bits(q, k)) == len(x.relevant[q]) > 0)


means("recall: all found (multi-hop)", "both", {"R@5": all_found(5), "R@20": all_found(20)})
means("KILT", "both", {"R-Prec": rprec, "Recall@5": r(5)})
means("cut at MRR@10 only by name", "both", {"MRR@10": rr(), "Hit@10": hit(10), "MAP@10": ap()})
means("AP over k", "both", {"MAP@10": ap(10, "k"), "P@10": p(10), "MRR@10": rr(10)})
of_ranks = {"AP@10": lambda x, q: mean(p(k)(x, q) for k in range(1, 11)), "P@10": p(10)}
means("mean of the precisions at each rank", "both", of_ranks)


@script("MAP of the queries with a hit")
def map_with_hit(qrels, run):
    x = Lists(qrels, run)
    row = over(x, QUERIES["with hit in 10"](x), {"MAP@10": ap(10, "found")})
    return row | over(x, QUERIES["both"](x), {"Hit@10": hit(10)})
