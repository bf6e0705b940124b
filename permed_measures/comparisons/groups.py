"""Whether a difference is another one in other groups of queries; arrays in, p-values out."""

from __future__ import annotations

import numpy as np

from permed_measures.comparisons.tests import SignificanceTest
from permed_measures.intervals import Floats, Ints, sums_of
from permed_measures.markup import counted

_MOST = 10_000
"""No more permutations than this are drawn: a p near 0.05 then has an error of 0.002."""

_BLOCK = 1 << 21
_EQUAL = 1e-9


def interaction_test(
    differences: Floats, cluster: Ints, group: Ints, resamples: int, seed: int
) -> list[SignificanceTest]:
    r"""Compute the p-values of the hypothesis that the differences do not depend on the group.

    .. math:: Q = \sum_g n_g (m_g - m)^2

    with the means m_g of groups of n_g queries. Where each cluster is in one group, the labels of the groups
    are shuffled over whole clusters; where clusters have queries in several, as conversations have turns, the
    labels within each cluster, and each difference is first reduced by the mean of its cluster. Then
    p = (1 + #{Q* >= Q}) / (1 + permutations).

    "Significant at turn 3, not at turn 4" is no test of it: Gelman & Stern, The Difference Between
    "Significant" and "Not Significant" is not Itself Statistically Significant, The American Statistician
    60(4), 2006.

    Parameters
    ----------
    differences : ndarray of float64, shape (n_queries, n_columns)
    cluster : ndarray of int64, shape (n_queries,)
    group : ndarray of int64, shape (n_queries,)
        From 0; -1 is in none.
    resamples, seed : int

    References
    ----------
    Good, Permutation, Parametric and Bootstrap Tests of Hypotheses, 3rd edition, 2005, chapters 3 and 7:
    one-way designs, and blocks.

    Examples
    --------
    >>> d = np.zeros((220, 1))
    >>> d[20:36] = 1
    >>> [found] = interaction_test(d, np.arange(220), np.repeat([0, 1], [20, 200]), 10_000, seed=0)
    >>> round(found.p, 2)  # of Fisher's exact test 0.37
    0.37
    """
    here = group >= 0
    values, cluster, group = (
        differences[here],
        np.unique(cluster[here], return_inverse=True)[1],
        np.unique(group[here], return_inverse=True)[1],
    )
    if not here.any() or group.max() == 0:
        return [SignificanceTest(method="", reason="an interaction needs two groups")] * differences.shape[1]
    order = np.argsort(cluster, kind="stable")
    values, cluster, group = values[order], cluster[order], group[order]
    sizes = np.bincount(cluster).astype(np.float64)
    first = np.flatnonzero(np.diff(cluster, prepend=-1))  # the first query of each cluster
    draws = min(resamples, _MOST)
    if (group == group[first][cluster]).all():
        how = "over whole clusters" if len(sizes) < len(cluster) else "over queries"
        sums, block = sums_of(values - values.mean(axis=0), cluster), np.zeros(len(sizes), np.int64)
        p = _permuted(sums, sizes, group[first], block, draws, seed)
    else:
        how = "within clusters"
        centred = values - (sums_of(values, cluster) / sizes[:, None])[cluster]
        p = _permuted(centred, np.ones(len(cluster)), group, cluster, draws, seed)
    method = f"{counted(draws, 'permutation')} of the groups {how}"
    return [SignificanceTest(p=each, method=method, draws=draws) for each in p.tolist()]


def _permuted(sums: Floats, sizes: Floats, label: Ints, block: Ints, draws: int, seed: int) -> Floats:
    """Return p by column, of labels shuffled within blocks; the units are sorted by block."""
    rng = np.random.default_rng(seed)
    observed = _between(sums, sizes, label[None])[0]
    least = observed - _EQUAL * (np.abs(sums).sum(axis=0) + 1)
    extreme = np.zeros(sums.shape[1], np.int64)
    step = max(_BLOCK // max(sums.shape), 1)
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        orders = np.argsort(block + rng.random((rows, len(label))), axis=1)
        extreme += (_between(sums, sizes, label[orders]) >= least).sum(axis=0)
    shares: Floats = (1 + extreme) / (1 + draws)
    return shares


def _between(sums: Floats, sizes: Floats, labels: Ints) -> Floats:
    """Return Q of centred sums for each row of labels; shape (n_rows, n_columns)."""
    total = np.zeros((len(labels), sums.shape[1]))
    for each in range(int(labels.max()) + 1):
        chosen = (labels == each).astype(np.float64)
        total += (chosen @ sums) ** 2 / (chosen @ sizes)[:, None]
    return total
