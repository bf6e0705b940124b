"""Measures of binary relevance: a document is relevant if its grade is at least `rel`.

Semantics are those of trec_eval (version 9, as in pytrec_eval), except for `judged` and
`rank_biased_precision`. If the denominator is 0, the value is 0. In the formulas k is the cutoff, and R the
number of relevant documents in the qrels.
"""

from __future__ import annotations

import numpy as np

from permed_measures.arrays import Floats
from permed_measures.engine.judgments import divide, position_in_query, running_sum, sums
from permed_measures.engine.rankings import JudgedRankings

_INFAP_EPSILON = 1e-5
"""trec_eval's constant that smooths the share of relevant documents above a rank."""


# --- within the first k ----------------------------------------------------------------------------


def precision(rankings: JudgedRankings, *, cutoff: int, rel: float, judged_only: bool) -> Floats:
    """Divide the number of relevant documents within the first k by k, even if fewer were retrieved."""
    return rankings.num_rel_ret(rel, cutoff, judged_only) / cutoff


def recall(rankings: JudgedRankings, *, cutoff: int | None, rel: float, judged_only: bool) -> Floats:
    """Divide the number of relevant documents within the first k by R."""
    return divide(rankings.num_rel_ret(rel, cutoff, judged_only), rankings.judgments.num_rel(rel))


def f1(rankings: JudgedRankings, *, cutoff: int, rel: float, judged_only: bool) -> Floats:
    """Compute the harmonic mean of P@k and R@k: twice the relevant documents in the first k, over k + R."""
    num_rel_ret = rankings.num_rel_ret(rel, cutoff, judged_only)
    return divide(2 * num_rel_ret, rankings.judgments.num_rel(rel) + cutoff)


def success(rankings: JudgedRankings, *, cutoff: int | None, rel: float, judged_only: bool) -> Floats:
    """Return 1 if a relevant document is within the first k, else 0 (Success and Coverage)."""
    return (rankings.num_rel_ret(rel, cutoff, judged_only) > 0).astype(np.float64)


def reciprocal_rank(rankings: JudgedRankings, *, cutoff: int | None, rel: float, judged_only: bool) -> Floats:
    """Divide 1 by the rank of the first relevant document; 0 if there is none within the first k."""
    hits = rankings.relevant(rel, cutoff, judged_only)
    first = hits.found == 1
    return sums(hits.query[first], 1 / hits.rank[first], rankings.n_queries)


def average_precision(
    rankings: JudgedRankings, *, cutoff: int | None, rel: float, judged_only: bool
) -> Floats:
    """Sum the precision at each relevant document within the first k, and divide by R."""
    hits = rankings.relevant(rel, cutoff, judged_only)
    total = sums(hits.query, hits.found / hits.rank, rankings.n_queries)
    return divide(total, rankings.judgments.num_rel(rel))


def r_precision(rankings: JudgedRankings, *, rel: float, judged_only: bool) -> Floats:
    """Compute the precision at cutoff R."""
    hits = rankings.relevant(rel, None, judged_only)
    num_rel = rankings.judgments.num_rel(rel)
    return divide(sums(hits.query[hits.rank <= num_rel[hits.query]], None, rankings.n_queries), num_rel)


def interpolated_precision(
    rankings: JudgedRankings, *, recall: float, rel: float, judged_only: bool
) -> Floats:
    """Find the highest precision at or after the rank that reaches the recall.

    It is reached with int(recall * R + 0.9) relevant documents: trec_eval 9 truncates, trec_eval 10 rounds.
    If nothing was retrieved, the value is 0 (pytrec_eval computes 0/0 at recall 0).
    """
    hits = rankings.relevant(rel, None, judged_only)
    needed = (recall * rankings.judgments.num_rel(rel) + 0.9).astype(np.int64)
    reached = hits.found >= needed[hits.query]
    value = np.zeros(rankings.n_queries)
    np.maximum.at(value, hits.query[reached], (hits.found / hits.rank)[reached])
    return value


def rank_biased_precision(rankings: JudgedRankings, *, cutoff: int | None, p: float, rel: float) -> Floats:
    """Compute (1 - p) times the sum of p^(rank - 1) over the relevant documents in the first k (cwl_eval)."""
    hits = rankings.relevant(rel, cutoff)
    return (1 - p) * sums(hits.query, p ** (hits.rank - 1.0), rankings.n_queries)


def judged(rankings: JudgedRankings, *, cutoff: int | None) -> Floats:
    """Divide the judged documents in the first k (negative grades too) by all documents retrieved there."""
    limit = rankings.retrieved if cutoff is None else np.minimum(rankings.retrieved, cutoff)
    return divide(sums(rankings.within(cutoff).query, None, rankings.n_queries), limit)


# --- judged documents that are not relevant --------------------------------------------------------


def binary_preference(rankings: JudgedRankings, *, rel: float) -> Floats:
    """Compute bpref: the sum of 1 - min(n, R) / min(N, R) over the retrieved relevant documents, over R.

    n is the number of judged non-relevant documents above the relevant one, and N the number of all judged
    non-relevant documents. Both exclude negative grades: trec_eval treats them as pooled, but not judged.
    """
    hits = rankings.relevant(rel, None, judged_only=True)
    num_rel = rankings.judgments.num_rel(rel)
    num_nonrel = rankings.judgments.num_rel(0) - num_rel
    above = np.minimum(hits.rank - hits.found, num_rel[hits.query])
    lost = divide(above.astype(np.float64), np.minimum(num_nonrel, num_rel)[hits.query])
    return divide(sums(hits.query, 1 - lost, rankings.n_queries), num_rel)


def inferred_average_precision(rankings: JudgedRankings, *, rel: float) -> Floats:
    """Compute inferred AP (Yilmaz and Aslam, CIKM 2006) as trec_eval does.

    The value is the sum of the expected precision over the relevant documents, divided by R. The expected
    precision at rank i is 1/i + (i-1)/i * (pooled above / (i-1)) * (relevant above + e) / (judged above +
    2e), e = 0.00001. A negative grade is pooled, but not judged.
    """
    n_queries = rankings.n_queries
    pooled = position_in_query(rankings.query, n_queries) - 1.0
    judged_above = running_sum(rankings.query, (rankings.grade >= 0).astype(np.float64), n_queries) - 1
    rows = rankings.grade >= rel
    rank, query = rankings.rank[rows], rankings.query[rows]
    relevant_above = rankings.relevant(rel).found - 1.0
    share = (relevant_above + _INFAP_EPSILON) / (judged_above[rows] + 2 * _INFAP_EPSILON)
    expected = (1 + pooled[rows] * share) / rank
    return divide(sums(query, expected, n_queries), rankings.judgments.num_rel(rel))


# --- sets and counts -------------------------------------------------------------------------------


def set_precision(rankings: JudgedRankings, *, rel: float, relative: bool, judged_only: bool) -> Floats:
    """Divide the relevant documents retrieved by all retrieved; if `relative`, by min(all retrieved, R)."""
    retrieved = (rankings.judged_only if judged_only else rankings).retrieved
    limit = np.minimum(retrieved, rankings.judgments.num_rel(rel)) if relative else retrieved
    return divide(rankings.num_rel_ret(rel, None, judged_only), limit)


def set_recall(rankings: JudgedRankings, *, rel: float) -> Floats:
    """Divide the relevant documents retrieved by R."""
    return divide(rankings.num_rel_ret(rel), rankings.judgments.num_rel(rel))


def set_f(rankings: JudgedRankings, *, rel: float, beta: float, judged_only: bool) -> Floats:
    """Compute (b + 1) P R / (b P + R) of set precision P and set recall R; trec_eval does not square b."""
    p = set_precision(rankings, rel=rel, relative=False, judged_only=judged_only)
    r = set_recall(rankings, rel=rel)
    return divide((beta + 1) * p * r, beta * p + r)


def set_average_precision(rankings: JudgedRankings, *, rel: float, judged_only: bool) -> Floats:
    """Multiply set precision by set recall."""
    return set_precision(rankings, rel=rel, relative=False, judged_only=judged_only) * set_recall(
        rankings, rel=rel
    )


def num_q(rankings: JudgedRankings) -> Floats:
    """Return 1 for every query of the qrels, in the run or not."""
    return np.ones(rankings.n_queries)


def num_rel(rankings: JudgedRankings, *, rel: float) -> Floats:
    """Count the relevant documents of the qrels (R); queries that are not in the run count too."""
    return rankings.judgments.num_rel(rel).astype(np.float64)


def num_ret(rankings: JudgedRankings, *, rel: float | None) -> Floats:
    """Count the documents retrieved; with `rel`, only the relevant ones."""
    if rel is None:
        return rankings.retrieved.astype(np.float64)
    return rankings.num_rel_ret(rel)
