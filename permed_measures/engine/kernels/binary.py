"""Measures that ask of a document only whether it is relevant: grade at least `rel`.

Semantics are trec_eval's (version 9, as in pytrec_eval), but for `judged` and `rank_biased_precision`. Where
there is nothing to divide by, the value is 0.
"""

from __future__ import annotations

import numpy as np

from permed_measures.arrays import Floats
from permed_measures.engine.judgments import divide, position_in_query, running_sum, sums
from permed_measures.engine.rankings import JudgedRankings

_INFAP_EPSILON = 1e-5
"""trec_eval's smoothing of the share of relevant documents above a rank."""


# --- within the first k ----------------------------------------------------------------------------


def precision(rankings: JudgedRankings, *, cutoff: int, rel: float, judged_only: bool) -> Floats:
    """Relevant documents within the first k, over k (also where fewer than k were retrieved)."""
    return rankings.num_rel_ret(rel, cutoff, judged_only) / cutoff


def recall(rankings: JudgedRankings, *, cutoff: int | None, rel: float, judged_only: bool) -> Floats:
    """Relevant documents within the first k, over all relevant documents of the qrels."""
    return divide(rankings.num_rel_ret(rel, cutoff, judged_only), rankings.judgments.num_rel(rel))


def f1(rankings: JudgedRankings, *, cutoff: int, rel: float, judged_only: bool) -> Floats:
    """Twice the relevant documents within the first k, over k + R: the harmonic mean of P@k and R@k."""
    found = rankings.num_rel_ret(rel, cutoff, judged_only)
    return divide(2 * found, rankings.judgments.num_rel(rel) + cutoff)


def success(rankings: JudgedRankings, *, cutoff: int | None, rel: float, judged_only: bool) -> Floats:
    """1 if a relevant document is within the first k, else 0: Success and Coverage."""
    return (rankings.num_rel_ret(rel, cutoff, judged_only) > 0).astype(np.float64)


def reciprocal_rank(rankings: JudgedRankings, *, cutoff: int | None, rel: float, judged_only: bool) -> Floats:
    """One over the rank of the first relevant document, 0 if there is none within the first k."""
    hits = rankings.relevant(rel, cutoff, judged_only)
    first = hits.found == 1
    return sums(hits.query[first], 1 / hits.rank[first], rankings.n_queries)


def average_precision(
    rankings: JudgedRankings, *, cutoff: int | None, rel: float, judged_only: bool
) -> Floats:
    """Sum of the precision at each relevant document within the first k, over all relevant documents."""
    hits = rankings.relevant(rel, cutoff, judged_only)
    total = sums(hits.query, hits.found / hits.rank, rankings.n_queries)
    return divide(total, rankings.judgments.num_rel(rel))


def r_precision(rankings: JudgedRankings, *, rel: float, judged_only: bool) -> Floats:
    """Precision at R, the number of relevant documents of the query."""
    hits = rankings.relevant(rel, None, judged_only)
    num_rel = rankings.judgments.num_rel(rel)
    return divide(sums(hits.query[hits.rank <= num_rel[hits.query]], None, rankings.n_queries), num_rel)


def interpolated_precision(
    rankings: JudgedRankings, *, recall: float, rel: float, judged_only: bool
) -> Floats:
    """Highest precision at or after the rank where the recall is reached.

    It is reached with int(recall * R + 0.9) relevant documents: trec_eval 9 truncates, trec_eval 10 rounds.
    Where nothing was retrieved the value is 0 (pytrec_eval has 0/0 there at recall 0).
    """
    hits = rankings.relevant(rel, None, judged_only)
    needed = (recall * rankings.judgments.num_rel(rel) + 0.9).astype(np.int64)
    reached = hits.found >= needed[hits.query]
    value = np.zeros(rankings.n_queries)
    np.maximum.at(value, hits.query[reached], (hits.found / hits.rank)[reached])
    return value


def rank_biased_precision(rankings: JudgedRankings, *, cutoff: int | None, p: float, rel: float) -> Floats:
    """(1 - p) times the sum of p^(rank - 1) over the relevant documents within the first k, as cwl_eval."""
    hits = rankings.relevant(rel, cutoff)
    return (1 - p) * sums(hits.query, p ** (hits.rank - 1.0), rankings.n_queries)


def judged(rankings: JudgedRankings, *, cutoff: int | None) -> Floats:
    """Judged documents (negative grades too) within the first k, over the documents retrieved there."""
    limit = rankings.retrieved if cutoff is None else np.minimum(rankings.retrieved, cutoff)
    return divide(sums(rankings.within(cutoff).query, None, rankings.n_queries), limit)


# --- against judged documents that are not relevant ------------------------------------------------


def binary_preference(rankings: JudgedRankings, *, rel: float) -> Floats:
    """Bpref: for each relevant document 1 - min(n, R) / min(N, R), n not relevant ones above it; over R.

    N is the number of all judged documents that are not relevant. Unjudged documents are left out of n and
    N, and so are negative grades: to trec_eval they are in the pool, but not judged.
    """
    hits = rankings.relevant(rel, None, judged_only=True)
    num_rel = rankings.judgments.num_rel(rel)
    num_nonrel = rankings.judgments.num_rel(0) - num_rel
    above = np.minimum(hits.rank - hits.found, num_rel[hits.query])
    lost = divide(above.astype(np.float64), np.minimum(num_nonrel, num_rel)[hits.query])
    return divide(sums(hits.query, 1 - lost, rankings.n_queries), num_rel)


def inferred_average_precision(rankings: JudgedRankings, *, rel: float) -> Floats:
    """Inferred AP (Yilmaz and Aslam, CIKM 2006) as trec_eval computes it; over R.

    The precision expected at a relevant document of rank i is 1/i + (i-1)/i * (pooled above / (i-1)) *
    (relevant above + e) / (judged above + 2e), e = 0.00001. A negative grade is pooled, but not judged.
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
    """Relevant documents retrieved, over all retrieved; `relative`: over the most possible, min(that, R)."""
    retrieved = (rankings.condensed if judged_only else rankings).retrieved
    limit = np.minimum(retrieved, rankings.judgments.num_rel(rel)) if relative else retrieved
    return divide(rankings.num_rel_ret(rel, None, judged_only), limit)


def set_recall(rankings: JudgedRankings, *, rel: float) -> Floats:
    """Relevant documents retrieved, over all relevant documents of the qrels."""
    return divide(rankings.num_rel_ret(rel), rankings.judgments.num_rel(rel))


def set_f(rankings: JudgedRankings, *, rel: float, beta: float, judged_only: bool) -> Floats:
    """(b + 1) P R / (b P + R) of set precision and recall: in trec_eval, b is not squared."""
    p = set_precision(rankings, rel=rel, relative=False, judged_only=judged_only)
    r = set_recall(rankings, rel=rel)
    return divide((beta + 1) * p * r, beta * p + r)


def set_average_precision(rankings: JudgedRankings, *, rel: float, judged_only: bool) -> Floats:
    """Set precision times set recall."""
    return set_precision(rankings, rel=rel, relative=False, judged_only=judged_only) * set_recall(
        rankings, rel=rel
    )


def num_q(rankings: JudgedRankings) -> Floats:
    """1 for every query of the qrels, in the run or not."""
    return np.ones(rankings.n_queries)


def num_rel(rankings: JudgedRankings, *, rel: float) -> Floats:
    """Return R, the relevant documents of the qrels; those of a query that is not in the run count too."""
    return rankings.judgments.num_rel(rel).astype(np.float64)


def num_ret(rankings: JudgedRankings, *, rel: float | None) -> Floats:
    """Documents retrieved; with `rel` the relevant ones."""
    if rel is None:
        return rankings.retrieved.astype(np.float64)
    return rankings.num_rel_ret(rel)
