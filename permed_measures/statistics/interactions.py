"""Whether a difference is another one in other groups of queries; arrays in, p-values out."""

from __future__ import annotations

import numpy as np

from permed_measures.markup import counted
from permed_measures.statistics.significance import (
    Floats,
    Ints,
    SignificanceTest,
    blocks_of_columns,
    for_columns,
    scipy_special,
)

LEAST = 20
"""The least number of clusters of a group that is tested, by simulation (see the guide)."""

NEEDED = f"since it needs two groups of {LEAST} clusters or queries at least"
"""Why nothing is tested."""


def interaction_test(differences: Floats, cluster: Ints, group: Ints) -> list[SignificanceTest]:
    r"""Compute the p-values of the hypothesis that the mean difference is the same in all groups.

    .. math:: W = (Lm)' (L V L')^{-1} L m, \quad V = \frac{C}{C - 1} \sum_c u_c u_c', \quad
        u_{cg} = \frac{1}{n_g} \sum_{i \in c \cap g} (d_i - m_g)

    with the means m of the groups, the differences Lm of all to the first, and C clusters, which may have
    queries in several groups, as conversations have turns. W (C - K + 1) / ((C - 1) (K - 1)) is compared with
    F of K - 1 and C - K + 1 degrees of freedom, K groups. Groups of fewer than twenty clusters are left out.

    "Significant at turn 3, not at turn 4" is no test of it: Gelman & Stern, The Difference Between
    "Significant" and "Not Significant" is not Itself Statistically Significant, The American Statistician
    60(4), 2006.

    Parameters
    ----------
    differences : ndarray of float64, shape (n_queries, n_columns)
    cluster : ndarray of int64, shape (n_queries,)
    group : ndarray of int64, shape (n_queries,)
        From 0; -1 is in none.

    References
    ----------
    Hotelling's T² of cluster-robust moments: Pustejovsky & Tipton, Small-Sample Methods for Cluster-Robust
    Variance Estimation and Hypothesis Testing in Fixed Effects Models, JBES 36(4), 2018.
    """
    here, group = _large(cluster, group)
    n_groups = int(group.max(initial=-1)) + 1
    kept, cluster = differences[here], np.unique(cluster[here], return_inverse=True)[1]
    if n_groups < 2:
        return [SignificanceTest(method="", reason=NEEDED)] * differences.shape[1]
    n_units = int(cluster.max()) + 1
    degrees = n_groups - 1, n_units - n_groups + 1
    method = f"Wald test of {counted(n_groups, 'group')}, F({degrees[0]:,}, {degrees[1]:,})"
    values = np.concatenate([_wald(block, cluster, group) for block in blocks_of_columns(kept)])
    statistic = values * degrees[1] / ((n_units - 1) * degrees[0])
    p = scipy_special().fdtrc(*degrees, np.nan_to_num(statistic))

    def outcome(column: int) -> SignificanceTest:
        if np.isnan(statistic[column]):
            reason = "an interaction needs differences that vary in each group"
            return SignificanceTest(method=method, reason=reason)
        return SignificanceTest(p=float(p[column]), statistic=float(statistic[column]), method=method)

    return for_columns(kept, outcome, method)


def _large(cluster: Ints, group: Ints) -> tuple[np.ndarray, Ints]:
    """Return which queries are in groups of enough clusters, and these groups from 0."""
    large = [
        each
        for each in range(int(group.max(initial=-1)) + 1)
        if len(np.unique(cluster[group == each])) >= LEAST
    ]
    here = np.isin(group, large)
    return here, np.searchsorted(large, group[here])


def _wald(differences: Floats, cluster: Ints, group: Ints) -> Floats:
    """Return W by column; NaN where the groups' means have no variance."""
    n_groups, n_units = int(group.max()) + 1, int(cluster.max()) + 1
    cell = cluster * n_groups + group
    n_cells = n_groups * n_units
    sizes = np.bincount(cell, minlength=n_cells).reshape(n_units, n_groups, 1)
    sums = np.stack([np.bincount(cell, each, n_cells) for each in differences.T], axis=1)
    sums = sums.reshape(n_units, n_groups, -1)
    mean = sums.sum(axis=0) / sizes.sum(axis=0)
    influence = (sums - sizes * mean) / sizes.sum(axis=0)
    contrast = influence[:, 1:] - influence[:, :1]
    variance = np.einsum("cki,cli->ikl", contrast, contrast) * n_units / (n_units - 1)
    apart = (mean[1:] - mean[:1]).T
    found = np.full(differences.shape[1], np.nan)
    possible = np.linalg.matrix_rank(variance, hermitian=True) == n_groups - 1
    solved = np.linalg.solve(variance[possible], apart[possible][..., None])[..., 0]
    found[possible] = (apart[possible] * solved).sum(axis=1)
    return found
