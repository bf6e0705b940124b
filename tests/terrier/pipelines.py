"""PyTerrier systems on the packaged sample, and the measures that are asked for."""

import warnings

import bm25s
import numpy as np
import pandas as pd
import pytest
from ir_measures import (
    AP,
    RR,
    Bpref,
    IPrec,
    NumQ,
    NumRel,
    P,
    R,
    Rprec,
    SetAP,
    SetF,
    SetP,
    SetR,
    Success,
    infAP,
    nDCG,
)

import permed_measures as pm

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pt = pytest.importorskip("pyterrier", reason="PyTerrier (extra 'terrier') is not installed")

MEASURES = [*pm.MEDCORPUS, pm.GradedAP(norm="ideal") @ 10]

ALL_MEASURES = [
    *dict.fromkeys([*pm.MEDCORPUS, *pm.LITSEARCH]),
    *(pm.GradedAP(norm=norm) @ 10 for norm in ("min", "num_rel_ret", "gain", "ideal", "none")),
    *(pm.GradedAP, pm.GradedAP(rel=2) @ 5, pm.GradedAP(gains={1: 1, 2: 3}) @ 10),
    *(pm.GradedAP(judged_only=True), pm.Coverage, pm.Coverage(rel=2) @ 3),
    *(pm.GAP @ 10, pm.GAP(g={1: 0.3, 2: 0.7})),
    *(pm.QMeasure @ 10, pm.QMeasure(beta=10.0), pm.QMeasure(gains={1: 1, 2: 3}) @ 10),
    *(pm.VariantNDCG @ 10, pm.VariantNDCG(negative="keep") @ 10),
    *(pm.VariantNDCG(gain="linear", discount="jk"), pm.VariantNDCG(discount="zipf", ideal="run") @ 10),
    *(pm.VariantNDCG(ideal="cutoff") @ 5, nDCG, nDCG @ 10, nDCG(judged_only=True) @ 10),
    *(AP, AP(rel=2) @ 10, RR, Rprec, Bpref, infAP, IPrec @ 0.1),
    *(R(rel=2) @ 10, P(judged_only=True) @ 5, Success @ 5, SetP, SetR, SetF, SetAP),
    *(NumQ, NumRel),
]
"""All that `pm.provider` has but ERR, RBP, Judged and RR@k, which other providers do, and NumRet.

ir_measures counts the judged documents only in NumRet where a measure with judged_only happens to come first,
and PyTerrier asks for measures in the order of their hashes, which differs by process.
"""


def frame(nested, doc_id, value):
    rows = [(q, d, v) for q, docs in nested.items() for d, v in docs.items()]
    return pd.DataFrame(rows, columns=["qid", doc_id, value])


def words(texts):
    return bm25s.tokenize(list(texts), stopwords="en", return_ids=False, show_progress=False)


class BM25(pt.Transformer):
    def __init__(self, documents):
        self.documents = documents
        self.index = bm25s.BM25()
        self.index.index(words(documents["text"]), show_progress=False)

    def transform(self, topics):
        pt.validate.query_frame(topics, ["query"])
        found = [self.search(tokens) for tokens in words(topics["query"])]
        rows = [(turn, *hit) for turn, hits in zip(topics.index, found, strict=True) for hit in hits]
        hits = pd.DataFrame(rows, columns=["turn", "docno", "text", "score"]).set_index("turn")
        return pt.model.add_ranks(topics.join(hits, how="inner").reset_index(drop=True))

    def search(self, tokens):
        scores = self.index.get_scores(tokens)
        found = self.documents[scores > 0]
        return list(zip(found["doc_id"], found["text"], scores[scores > 0], strict=True))


class History(pt.Transformer):
    def __init__(self, weight):
        self.weight = weight

    def transform(self, results):
        pt.validate.result_frame(results, ["history", "text", "score"])
        earlier = map(set, words(map(" ".join, results["history"])))
        texts = map(set, words(results["text"]))
        share = [len(of & text) / max(len(of), 1) for of, text in zip(earlier, texts, strict=True)]
        return pt.model.add_ranks(results.assign(score=results["score"] + self.weight * np.array(share)))
