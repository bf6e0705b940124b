"""Intervals of means over queries or clusters, and of what is made of means; arrays in, numbers out.

The arrays are those of `significance`. `mean_intervals` is what most need.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from permed_measures.markup import plural
from permed_measures.statistics.significance import (
    TIE,
    Estimate,
    Floats,
    Ints,
    blocks_of_columns,
    scipy_special,
    sums_of,
    units_of,
)

FEW = 5
"""Where fewer units differ than this, an interval may not hold, by simulation (see the guide)."""


class Spread(NamedTuple):
    """Estimates by column, and how they would vary over other queries (or clusters).

    Attributes
    ----------
    estimate, error, skewness : ndarray of float64, shape (n_columns,)
        The estimate, its standard error by clusters, and the skewness of what a cluster adds to it.
    n_units : int
        The number of clusters, or queries.
    effective : float
        How many clusters of one size would weigh as much: the square of the number of queries over the sum of
        the squares of the clusters' sizes.
    """

    estimate: Floats
    error: Floats
    skewness: Floats
    n_units: int
    effective: float


def mean_intervals(values: Floats, cluster: Ints, level: float = 0.95) -> list[Estimate]:
    """Compute an interval of the mean of each column, by whole clusters.

    It is for everyone who needs "this mean, and how sure": means of a measure as well as of differences.
    There is nothing random in it: no seed, and no error of its own.

    Parameters
    ----------
    values : ndarray of float64, shape (n_queries, n_columns)
    cluster : ndarray of int64, shape (n_queries,)
        The cluster of each query, from 0; where queries are independent, ``np.arange(n_queries)``.
    level : float
        Between 0 and 1.

    Returns
    -------
    list of Estimate
        ``value`` is (low, high), or None with a ``reason``: a single unit has no interval. A column whose
        values are all the same has that value twice.

    Notes
    -----
    The interval is Student's, by the cluster-robust standard error and one degree of freedom less than
    clusters, made longer on the side of the longer tail: see `bounds`. It is not cut at 0 or 1.

    Examples
    --------
    >>> [found] = mean_intervals(np.array([[0.0], [0.0], [1.0], [1.0]]), np.arange(4))
    >>> tuple(round(bound, 3) for bound in found.value)
    (-0.419, 1.419)
    """
    spread = mean_spread(values, cluster)
    unit = units_of(values, cluster)[1]
    if spread.n_units < 2:
        return [Estimate(None, f"an interval needs at least two {plural(unit)}")] * values.shape[1]
    low, high = bounds(spread, critical_of(level, spread.n_units))
    return [Estimate(each) for each in zip(low.tolist(), high.tolist(), strict=True)]


def mean_spread(values: Floats, cluster: Ints) -> Spread:
    """Return the means by column, and how they vary."""
    sizes, mean = np.bincount(cluster)[:, None], values.mean(axis=0)
    blocks, start = [], 0
    for block in blocks_of_columns(values):
        here = slice(start, start + block.shape[1])
        blocks.append(_spread(mean[here], cluster_sums(block, cluster) - sizes * mean[here], sizes))
        start = here.stop
    estimate, error, skewness = np.concatenate([each[:3] for each in blocks], axis=1)
    return Spread(estimate, error, skewness, *blocks[0][3:])


def contrast_spreads(differences: Floats, base: Floats, sums_of_base: Floats, cluster: Ints) -> list[Spread]:
    """Return the mean differences, these over the size of the mean of `base`, and Cohen's d_z, by column.

    How the second and third vary is known by their influence functions: what a query adds to a ratio of
    means, and to a mean over a standard deviation. The second is NaN where the mean of `base` is 0; the third
    0 where the differences do not vary.

    Parameters
    ----------
    differences : ndarray of float64, shape (n_queries, n_columns)
    base, sums_of_base : ndarray of float64, shapes (n_columns,) and (n_clusters, n_columns)
        The means of the baseline, and its sums by cluster.
    cluster : ndarray of int64, shape (n_queries,)
    """
    n, sizes = len(differences), np.bincount(cluster)[:, None]
    mean, sums = differences.mean(axis=0), cluster_sums(differences, cluster)
    centred = sums - sizes * mean
    size = np.where(base == 0, np.nan, np.abs(base))
    relative = mean / size
    of_ratio = (centred - relative * np.sign(base) * (sums_of_base - sizes * base)) / size
    squares = cluster_sums(differences * differences, cluster)
    variance = squares.sum(axis=0) / n - mean**2
    varies = variance > TIE**2 * np.maximum(mean**2, 1)
    variance = np.where(varies, variance, np.inf)
    effect = mean / np.sqrt(variance)
    z_squares = (
        squares - 2 * mean * sums + sizes * mean**2
    ) / variance  # of z, the centred over their deviation
    of_effect = centred / np.sqrt(variance) - effect / 2 * (z_squares - sizes * varies)
    factor = np.sqrt(1 - 1 / n)  # d_z has n - 1
    influences = (mean, centred), (relative, of_ratio), (effect * factor, of_effect)
    return [_spread(estimate, influence, sizes) for estimate, influence in influences]


def cluster_sums(values: Floats, cluster: Ints) -> Floats:
    """Sum the values of each cluster; where each query is its own, these are the values."""
    alone = len(values) == int(cluster.max()) + 1
    return values[np.argsort(cluster)] if alone else sums_of(values, cluster)


def _spread(estimate: Floats, influence: Floats, sizes: Ints) -> Spread:
    """Return how an estimate varies, by what each cluster adds; shape (n_clusters, n_columns)."""
    n_units, n = len(sizes), sizes.sum()
    squares = influence * influence
    mean_square, mean_cube = squares.mean(axis=0), np.einsum("ij,ij->j", squares, influence) / n_units
    error = np.sqrt(mean_square / max(n_units - 1, 1)) * n_units / n
    varies = error > TIE * np.maximum(np.abs(estimate), 1)
    skewness = np.where(varies, mean_cube / np.where(varies, mean_square, 1) ** 1.5, 0)
    error = np.where(varies | np.isnan(estimate), error, 0)
    return Spread(estimate, error, skewness, n_units, float(n**2 / (sizes**2).sum()))


# --- bounds ------------------------------------------------------------------------------------------


def bounds(spread: Spread, critical: Floats | float) -> tuple[Floats, Floats]:
    r"""Return low and high of an interval, so many standard errors long on each side, more on a long tail.

    .. math:: [\hat\theta - s \max(c, g(c)),\; \hat\theta + s \max(c, -g(-c))], \quad
        g(x) = \frac{\sqrt[3]{1 + 3a(x - a/2)} - 1}{a}, \quad a = \frac{\hat\gamma}{6 \sqrt{C}}

    with the standard error s, C clusters of skewness gamma, and the critical value c: of `critical_of`, or of
    `max_t`. Student's interval, ±cs, misses a skewed mean on the side of its long tail; g is Hall's
    transformation, with half of its correction, since the skewness of few queries is itself uncertain: the
    whole one is too long on one side and too short on the other (`tests/simulations/intervals.py`). The
    longer of both is taken on each side.

    Where clusters have different sizes, c grows by what the inverted test of `max_t` would need: the same T
    with the effective number of clusters instead of C. It is infinite where that test rejects nothing.

    References
    ----------
    Hall, On the Removal of Skewness by Transformation, JRSS B 54(1), 1992; Johnson, Modified t Tests and
    Confidence Intervals for Asymmetrical Populations, JASA 73, 1978. Cluster-robust: Cameron & Miller 2015.
    """
    times = _for_sizes(np.asarray(critical, np.float64), spread)
    a = np.where(np.abs(spread.skewness) < 1e-6, 1e-6, spread.skewness) / (6 * np.sqrt(spread.n_units))

    def transformed(x: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            moved: Floats = (np.cbrt(1 + 3 * a * (x - a / 2)) - 1) / a
        return moved

    finite = np.where(np.isfinite(times), times, 0.0)
    below, above = np.maximum(times, transformed(finite)), np.maximum(times, -transformed(-finite))
    with np.errstate(invalid="ignore"):  # 0 times infinity
        low, high = spread.estimate - spread.error * below, spread.estimate + spread.error * above
    fixed = spread.error == 0
    return np.where(fixed, spread.estimate, low), np.where(fixed, spread.estimate, high)


def _for_sizes(critical: Floats, spread: Spread) -> Floats:
    """Return the critical value for clusters of different sizes."""
    n, finite = spread.n_units, np.where(np.isfinite(critical), critical, 0.0)
    c2 = finite**2 * n / (n - 1 + finite**2) if n > 1 else finite
    left = 1 - c2 / spread.effective
    possible = np.isfinite(critical) & (left > 0)
    left = np.where(possible, left, 1)
    times: Floats = np.where(possible, np.sqrt(c2 * (n - 1) / n / left), np.inf)
    return times


def critical_of(level: float, n_units: int) -> float:
    """Return Student's critical value for an interval of so many units.

    >>> round(critical_of(0.95, 20), 4)
    2.093
    """
    return float(scipy_special().stdtrit(n_units - 1, (1 + level) / 2))


def agreeing(low: float, high: float, positive: bool, rejected: bool) -> tuple[float, float]:
    """Let an interval end at 0 where it would contradict its p-value.

    One that ends at 0 excludes it if the p-value is below 1 - level, and has it otherwise.
    """
    if not rejected:
        return min(low, 0.0), max(high, 0.0)
    return (max(low, 0.0), high) if positive else (low, min(high, 0.0))


def as_critical(times: Floats, spread: Spread) -> Floats:
    """Return the critical value at which `bounds` is so many standard errors below the estimate."""
    n = spread.n_units
    a = np.where(np.abs(spread.skewness) < 1e-6, 1e-6, spread.skewness) / (6 * np.sqrt(n))
    left = np.minimum(times, ((1 + a * times) ** 3 - 1) / (3 * a) + a / 2)
    size = np.abs(left)
    c2 = size**2 / ((n - 1) / n + size**2 / spread.effective)
    found: Floats = np.sign(left) * np.sqrt(c2 * (n - 1) / np.maximum(n - c2, 1e-12))
    return found
