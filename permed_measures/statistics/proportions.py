"""Intervals of the means of measures: of those that are 0 or 1 for each query, of a proportion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from ir_measures.measures import Measure

from permed_measures.statistics.intervals import critical_of, mean_intervals, range_of
from permed_measures.statistics.significance import Estimate, Floats, Ints, mean_and_error


def measure_intervals(
    measures: Sequence[Measure], values: Floats, cluster: Ints, level: float = 0.95
) -> list[Estimate]:
    """Compute an interval of the mean of each measure, by whole clusters.

    Parameters
    ----------
    measures : sequence of Measure
    values : ndarray of float64, shape (n_queries, n_measures)
    cluster, level
        As in `mean_intervals`.

    Returns
    -------
    list of Estimate
        Student's, cut to what the measure can be; where all values are 0 or 1, that of `proportion_interval`.
    """
    ranges = [range_of(measure) for measure in measures]
    found = mean_intervals(values, cluster, level, ranges)
    if cluster.max(initial=-1) < 1:  # a single unit has no interval
        return found
    return [
        Estimate(proportion_interval(column, cluster, level))
        if within == (0, 1) and np.isin(column, (0, 1)).all()
        else each
        for each, within, column in zip(found, ranges, values.T, strict=True)
    ]


def proportion_interval(values: Floats, cluster: Ints, level: float = 0.95) -> tuple[float, float]:
    r"""Compute an interval of a proportion.

    Clopper and Pearson's, of x = pn successes in n trials,

    .. math:: B^{-1}_{\alpha / 2}(x, n - x + 1), \quad B^{-1}_{1 - \alpha / 2}(x + 1, n - x)

    with Beta quantiles. With clusters n is Korn and Graubard's effective sample size, p (1 - p) over the
    cluster-robust variance of p, times the squared ratio of Student's t of n - 1 and of C - 1 degrees of
    freedom; at most the number of queries. Where all values are the same that variance says nothing, and
    each of the C clusters counts once.

    Parameters
    ----------
    values : ndarray of float64, shape (n_queries,)
        0 or 1.
    cluster : ndarray of int64, shape (n_queries,)
        The cluster of each query, from 0; at least two.
    level : float

    References
    ----------
    Clopper & Pearson, The Use of Confidence or Fiducial Limits, Biometrika 26, 1934;
    Korn & Graubard, Confidence Intervals for Proportions with Small Expected Number of Positive Counts,
    Survey Methodology 24(2), 1998.

    Examples
    --------
    Of 50 hits of 50 the lower end is 0.025^(1/50):

    >>> low, high = proportion_interval(np.ones(50), np.arange(50))
    >>> round(low, 4), high
    (0.9289, 1.0)
    """
    from scipy.special import betaincinv

    n = _effective_size(values, cluster, level)
    hits, tail = float(values.mean()) * n, (1 - level) / 2
    low = float(betaincinv(hits, n - hits + 1, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, n - hits, 1 - tail)) if values.mean() < 1 else 1.0
    return low, high


def _effective_size(values: Floats, cluster: Ints, level: float) -> float:
    """Return the number of independent queries that tell as much."""
    n, n_clusters = len(values), int(cluster.max()) + 1
    [mean], [error] = mean_and_error(values[:, None], cluster)
    if mean in (0, 1):
        return n_clusters
    if n == n_clusters:
        return n
    alone = mean * (1 - mean) / (n - 1)  # the variance of independent queries
    ratio = critical_of(level, n) / critical_of(level, n_clusters)
    return min(n * alone / error**2 * ratio**2, n) if error else n
