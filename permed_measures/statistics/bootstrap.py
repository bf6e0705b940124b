"""Intervals by resampling whole clusters."""

from __future__ import annotations

import numpy as np

from permed_measures.markup import plural
from permed_measures.statistics.columns import Columns, chunks
from permed_measures.statistics.significance import Estimate, Floats, Ints, sums_of

_SAME = 1e-9
"""Bounds that are no further apart are those of differences that do not vary."""


def resampled_means(values: Floats, cluster: Ints, resamples: int, seed: int) -> Floats:
    """Return the means of the columns in each resample of clusters; shape (resamples, n_columns)."""
    sizes = np.bincount(cluster).astype(np.float64)
    return _resampled(sums_of(values, cluster), sizes, resamples, seed)


def _resampled(sums: Floats, sizes: Floats, resamples: int, seed: int) -> Floats:
    n_units = len(sizes)
    means = np.empty((resamples, sums.shape[1]))
    rng = np.random.default_rng(seed)
    for start, rows in chunks(resamples, n_units):
        drawn = rng.integers(0, n_units, size=(rows, n_units)) + np.arange(rows)[:, None] * n_units
        times = np.bincount(drawn.ravel(), minlength=rows * n_units).reshape(rows, n_units).astype(np.float64)
        means[start : start + rows] = times @ sums / (times @ sizes)[:, None]
    return means


def bootstrap_intervals(columns: Columns, resamples: int, seed: int, level: float) -> list[Estimate]:
    """Compute the percentile bootstrap interval of the mean difference.

    A resample draws as many clusters as there are, with replacement, each with all its queries; its mean is
    the sum over the queries drawn, over their number. The bounds are the (1 - level) / 2 and (1 + level) / 2
    quantiles of these means, interpolated linearly. A single unit has no interval, nor have differences that
    do not vary. All columns share the draws.

    Notes
    -----
    With few clusters it is too short: of normal differences, a 95% interval covers the mean in 93 of 100
    cases with 20, in 84 with 5, and in 50 with 2.

    References
    ----------
    Efron & Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13; for clusters, Field & Welsh,
    Bootstrapping clustered data, JRSS B 69(3), 2007.

    Examples
    --------
    >>> d = np.array([[0.0], [1.0], [1.0], [2.0]])
    >>> bootstrap_intervals(Columns.of(d, np.arange(4)), resamples=1000, seed=0, level=0.95)[0].value
    (0.25, 1.75)
    """
    n_queries, n_units = int(columns.sizes.sum()), len(columns.sizes)
    units = plural("query" if n_units == n_queries else "cluster")
    if n_units < 2:
        return [Estimate(None, f"an interval needs at least two {units}")] * len(columns.first)
    means = _resampled(columns.sums, columns.sizes, resamples, seed)
    bounds = [(1 - level) / 2, (1 + level) / 2]
    ends = [np.quantile(each, bounds, axis=0) for _, each in columns.blocks(means)]
    flat = Estimate(None, f"an interval needs differences that vary between {units}")
    return [
        Estimate((low, high)) if high - low > _SAME else flat
        for low, high in np.concatenate(ends, axis=1).T.tolist()
    ]
