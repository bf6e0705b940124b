"""Evaluation scripts as papers' repositories have them, each a function of qrels and a run, which are dicts.

They are written from what libraries and repositories say that they compute, without the package.
"""

import math
from collections import defaultdict

import numpy as np

SCRIPTS = {}
"""By name: what returns the numbers of a table by the names that the script gives them."""


def script(name):
    """Return a decorator that lists a script under a name."""

    def listed(function):
        SCRIPTS[name] = function
        return function

    return listed


def mean(values):
    """Return the mean of numbers as a float."""
    return float(np.mean(list(values)))


def over(queries, **measures):
    """Return the mean of each measure over queries; `_` before a digit of a name stands for @."""
    return {name.replace("_", "@"): mean(map(measure, queries)) for name, measure in measures.items()}


def by_score(docs):
    """Return documents by score, tied ones as they stand."""
    return sorted(docs, key=docs.get, reverse=True)


class Lists:
    """Grades of ranked lists and relevant documents, for the scripts that need no more."""

    def __init__(self, qrels, run, level=1, order=by_score):
        self.relevant = {q: {d for d, g in docs.items() if g >= level} for q, docs in qrels.items()}
        self.ranked = {q: list(order(docs)) for q, docs in run.items()}
        self.both = [q for q in qrels if q in run]
        self.with_relevant = [q for q in self.both if self.relevant[q]]
        self.grades = {q: [qrels[q].get(d, 0) for d in self.ranked[q]] for q in self.both}
        self.ideal = {q: sorted(docs.values(), reverse=True) for q, docs in qrels.items()}

    def bits(self, q, k=None):
        """Return 1 for each relevant document of a list, 0 for each other."""
        return [int(d in self.relevant[q]) for d in self.ranked.get(q, ())[:k]]

    def p(self, k):
        return lambda q: sum(self.bits(q, k)) / k

    def r(self, k):
        return lambda q: sum(self.bits(q, k)) / max(len(self.relevant[q]), 1)

    def hit(self, k):
        return lambda q: float(any(self.bits(q, k)))

    def rr(self, k=None):
        return lambda q: next((1 / i for i, bit in enumerate(self.bits(q, k), 1) if bit), 0)

    def ap(self, k=None, divisor=lambda bits, n_relevant, k: n_relevant):  # noqa: ARG005
        def value(q):
            bits = self.bits(q, k)
            total = sum(sum(bits[:i]) / i for i, bit in enumerate(bits, 1) if bit)
            return total / max(divisor(bits, len(self.relevant[q]), k), 1)

        return value

    def ndcg(self, k, gain=lambda g: max(g, 0), discount=lambda i: math.log2(i + 1), ideal=None):
        def value(q):
            best = dcg(self.ideal[q] if ideal is None else ideal(q), k, gain, discount)
            return dcg(self.grades.get(q, []), k, gain, discount) / best if best > 0 else 0

        return value


def dcg(grades, k, gain, discount):
    """Return the discounted gain of the first k."""
    return sum(gain(g) / discount(i) for i, g in enumerate(grades[:k], 1))


def binary(grade):
    return int(grade >= 1)


def exponential(grade):
    return 2 ** max(grade, 0) - 1


def smaller(_, n_relevant, k):
    return min(n_relevant, k or n_relevant)


def found(bits, *_):
    return sum(bits)


@script("MS MARCO, dev")
def ms_marco(qrels, run):
    x = Lists(qrels, run)
    return over(qrels, MRR_10=x.rr(10), Recall_20=x.r(20))


@script("DPR, top-k accuracy")
def dpr(qrels, run):
    x = Lists(qrels, run)
    return over(x.both, **{f"Top-{k} accuracy": x.hit(k) for k in (1, 5, 20)})


@script("image-text retrieval, R@k")
def image_text(qrels, run):
    x = Lists(qrels, run)
    return over(x.both, R_1=x.hit(1), R_5=x.hit(5), R_10=x.hit(10))


@script("PerMed, core/evaluate.py")
def permed(qrels, run):
    x = Lists(qrels, run)

    def ap(q):
        hits = [(i, g) for i, g in enumerate(x.grades[q][:10], 1) if g > 0]
        total = sum(n / i * g / 2 for n, (i, g) in enumerate(hits, 1))
        return total / max(len(x.relevant[q]), 1)

    return over(x.both, **{"NDCG@10": x.ndcg(10, lambda g: 2**g - 1), "MAP@10": ap, "P@1": x.p(1)})


@script("PerMed, divided by the hits found")
def permed_found(qrels, run):
    x = Lists(qrels, run)

    def ap(q):
        hits = [(i, g) for i, g in enumerate(x.grades[q][:10], 1) if g > 0]
        return sum(n / i * g / 2 for n, (i, g) in enumerate(hits, 1)) / max(len(hits), 1)

    return over(x.both, **{"NDCG@10": x.ndcg(10, lambda g: 2**g - 1), "MAP@10": ap, "P@1": x.p(1)})


@script("CLPR, evaluate_ablation.py")
def ablation(qrels, run):
    x = Lists(qrels, run)

    def ap(q):
        hits = [(i, g) for i, g in enumerate(x.grades[q][:10], 1) if g > 0]
        return sum(n / i * min(g / 2, 1) for n, (i, g) in enumerate(hits, 1))

    measures = {"NDCG@10": x.ndcg(10, lambda g: 2**g - 1), "MAP@10": ap, "Recall@10": x.r(10), "P@1": x.p(1)}
    return over(x.both, **measures)


@script("LitSearch, utils.py")
def litsearch(qrels, run):
    x = Lists(qrels, run)
    return over(qrels, Recall_5=x.r(5), Recall_20=x.r(20), NDCG_10=x.ndcg(10, binary, lambda i: i))


@script("ScholarLoop, F1 of P@10 and R@20")
def scholarloop(qrels, run):
    x = Lists(qrels, run)

    def f1(q):
        p, r = x.p(10)(q), x.r(20)(q)
        return 2 * p * r / (p + r) if p + r else 0

    return over(x.both, **{"P@10": x.p(10), "R@20": x.r(20), "F1": f1})


@script("F1@10 per query")
def f1_queries(qrels, run):
    x = Lists(qrels, run)

    def f1(q):
        p, r = x.p(10)(q), x.r(10)(q)
        return 2 * p * r / (p + r) if p + r else 0

    return over(x.both, P_10=x.p(10), R_10=x.r(10), F1_10=f1)


@script("F1@10 of the means")
def f1_means(qrels, run):
    x = Lists(qrels, run)
    row = over(x.both, P_10=x.p(10), R_10=x.r(10))
    p, r = row.values()
    return {**row, "F1@10": 2 * p * r / (p + r)}


@script("micro P, R and F1")
def micro(qrels, run):
    x = Lists(qrels, run)
    hits = sum(sum(x.bits(q, 10)) for q in x.both)
    p = hits / sum(len(x.ranked[q][:10]) for q in x.both)
    r = hits / sum(len(x.relevant[q]) for q in x.both)
    return {"Precision@10": p, "Recall@10": r, "F1@10": 2 * p * r / (p + r)}


@script("means by conversation")
def conversations(qrels, run):
    x = Lists(qrels, run)
    groups = defaultdict(list)
    for q in qrels:
        groups[q.rpartition("_")[0]].append(q)
    rows = [over(g, nDCG_10=x.ndcg(10), MAP_10=x.ap(10), P_5=x.p(5)) for g in groups.values()]
    return {name: mean(row[name] for row in rows) for name in rows[0]}


@script("condensed lists")
def condensed(qrels, run):
    x = Lists(qrels, {q: {d: s for d, s in docs.items() if d in qrels.get(q, ())} for q, docs in run.items()})
    return over(x.both, nDCG_10=x.ndcg(10), MAP=x.ap(), P_5=x.p(5), MRR=x.rr())


@script("reranking: queries without a hit left out")
def reranking(qrels, run):
    x = Lists(qrels, run)
    queries = [q for q in x.both if any(x.bits(q))]
    return over(queries, MRR_10=x.rr(10), MAP=x.ap(), nDCG_10=x.ndcg(10))


@script("relevant from grade 2 on, for all")
def strict(qrels, run):
    x = Lists(qrels, run, level=2)
    ideal = lambda q: [2] * len(x.relevant[q])  # noqa: E731
    ndcg = x.ndcg(10, lambda g: int(g >= 2), ideal=ideal)
    return over(x.both, nDCG_10=ndcg, MAP_10=x.ap(10), P_5=x.p(5), R_20=x.r(20), MRR=x.rr())


@script("Elasticsearch, _rank_eval")
def elasticsearch(qrels, run):
    x = Lists(qrels, run)
    best = lambda q: x.ideal[q][: len(x.ranked[q][:10])]  # noqa: E731
    p = lambda q: sum(x.bits(q, 5)) / max(len(x.ranked[q][:5]), 1)  # noqa: E731
    ndcg = x.ndcg(10, exponential, ideal=best)
    return over(x.both, Precision_5=p, Recall_20=x.r(20), MRR_10=x.rr(10), nDCG_10=ndcg)


@script("gdeval.pl")
def gdeval(qrels, run):
    x = Lists(qrels, run, order=lambda docs: sorted(docs, key=lambda d: (docs[d], d), reverse=True))
    return over(x.with_relevant, **{f"nDCG@{k}": x.ndcg(k, exponential) for k in (5, 10, 20)})


@script("RecBole")
def recbole(qrels, run):
    x = Lists(qrels, run)
    users = [q for q in qrels if x.relevant[q]]
    measures = {"Recall@10": x.r(10), "MRR@10": x.rr(10), "NDCG@10": x.ndcg(10, binary), "Hit@10": x.hit(10)}
    return over(users, **measures, **{"Precision@10": x.p(10), "MAP@10": x.ap(10, smaller)})


@script("Multi-VAE")
def multi_vae(qrels, run):
    x = Lists(qrels, run)
    capped = lambda q: sum(x.bits(q, 20)) / min(20, len(x.relevant[q]))  # noqa: E731
    return over(x.with_relevant, **{"Recall@20": capped, "NDCG@100": x.ndcg(100, binary)})


@script("NGCF, test.py")
def ngcf(qrels, run):
    x = Lists(qrels, run)
    measures = {
        "Recall@20": x.r(20),
        "Precision@20": x.p(20),
        "NDCG@20": x.ndcg(20, binary),
        "Hit@20": x.hit(20),
    }
    return over(x.with_relevant, **measures)


@script("KGAT, ideal of the hits")
def kgat(qrels, run):
    x = Lists(qrels, run)
    ideal = lambda q: sorted(x.bits(q), reverse=True)  # noqa: E731
    measures = {"Recall@20": x.r(20), "NDCG@20": x.ndcg(20, binary, ideal=ideal), "Hit@20": x.hit(20)}
    return over(x.with_relevant, **measures)


@script("first hit only (leave-one-out)")
def first_hit(qrels, run):
    x = Lists(qrels, run)

    def ndcg(q):
        rank = next((i for i, bit in enumerate(x.bits(q, 10), 1) if bit), None)
        return 1 / math.log2(rank + 1) if rank else 0

    return over(x.both, **{"HR@10": x.hit(10), "NDCG@10": ndcg, "MRR": x.rr()})


@script("ideal list of k relevant documents")
def ideal_of_k(qrels, run):
    x = Lists(qrels, run)
    return over(x.both, **{"NDCG@10": x.ndcg(10, binary, ideal=lambda _: [1] * 10), "P@10": x.p(10)})


@script("rank_metrics.py (bwhite)")
def rank_metrics(qrels, run):
    x = Lists(qrels, run)
    ideal = lambda q: sorted(x.grades[q], reverse=True)  # noqa: E731
    jk = lambda i: max(math.log2(i), 1)  # noqa: E731
    return over(x.both, MAP=x.ap(None, found), MRR=x.rr(), NDCG_10=x.ndcg(10, discount=jk, ideal=ideal))


@script("rank_metrics.py, method=1")
def rank_metrics_1(qrels, run):
    x = Lists(qrels, run)
    ideal = lambda q: sorted(x.grades[q], reverse=True)  # noqa: E731
    return over(x.both, MAP=x.ap(None, found), P_5=x.p(5), NDCG_10=x.ndcg(10, ideal=ideal))


def backwards(docs):
    """Sort by numpy, without a stable sort, and turn it round."""
    ids = list(docs)
    return [ids[i] for i in np.argsort(list(docs.values()), kind="stable")[::-1]]


@script("ranking.py (Blondel)")
def blondel(qrels, run):
    x = Lists(qrels, run, order=backwards)
    listed = {q: sum(x.bits(q)) for q in x.both}
    kept = [q for q in x.both if listed[q]]
    p = lambda q: sum(x.bits(q, 10)) / min(listed[q], 10)  # noqa: E731
    ideal = lambda q: sorted(x.grades[q], reverse=True)  # noqa: E731
    return over(kept, **{"P@10": p, "NDCG@10": x.ndcg(10, exponential, ideal=ideal)})


@script("argsort()[::-1]")
def argsort(qrels, run):
    x = Lists(qrels, run, order=backwards)
    return over(x.both, nDCG_10=x.ndcg(10), MAP_10=x.ap(10), P_5=x.p(5), MRR=x.rr())


@script("scores of 0 or less dropped")
def positive(qrels, run):
    x = Lists(qrels, {q: {d: s for d, s in docs.items() if s > 0} for q, docs in run.items()})
    return over(x.both, nDCG_10=x.ndcg(10), MAP=x.ap(), R_20=x.r(20), MRR=x.rr())


@script("LETOR, Eval-Score.pl")
def letor(qrels, run):
    x = Lists(qrels, run)
    ideal = lambda q: sorted(x.grades[q], reverse=True)  # noqa: E731
    ndcg = x.ndcg(10, exponential, lambda i: max(math.log2(i), 1), ideal)
    return over(x.both, **{"P@5": x.p(5), "MAP": x.ap(None, found), "NDCG@10": ndcg})


@script("recall: all found (multi-hop)")
def all_found(qrels, run):
    x = Lists(qrels, run)
    every = lambda k: lambda q: float(sum(x.bits(q, k)) == len(x.relevant[q]) > 0)  # noqa: E731
    return over(x.both, R_5=every(5), R_20=every(20))


@script("KILT")
def kilt(qrels, run):
    x = Lists(qrels, run)
    rprec = lambda q: sum(x.bits(q, len(x.relevant[q]))) / max(len(x.relevant[q]), 1)  # noqa: E731
    return over(x.both, **{"R-Prec": rprec, "Recall@5": x.r(5)})


@script("cut at MRR@10 only by name")
def uncut(qrels, run):
    x = Lists(qrels, run)
    return over(x.both, **{"MRR@10": x.rr(), "Hit@10": x.hit(10), "MAP@10": x.ap()})


@script("AP over k")
def ap_over_k(qrels, run):
    x = Lists(qrels, run)
    return over(x.both, **{"MAP@10": x.ap(10, lambda b, n, k: k), "P@10": x.p(10), "MRR@10": x.rr(10)})  # noqa: ARG005


@script("mean of the precisions at each rank")
def average_p(qrels, run):
    x = Lists(qrels, run)
    ap = lambda q: mean(x.p(k)(q) for k in range(1, 11))  # noqa: E731
    return over(x.both, **{"AP@10": ap, "P@10": x.p(10)})


@script("MAP of the queries with a hit")
def map_with_hit(qrels, run):
    x = Lists(qrels, run)
    return {
        "MAP@10": mean(x.ap(10, found)(q) for q in x.both if any(x.bits(q, 10))),
        "Hit@10": mean(map(x.hit(10), x.both)),
    }
