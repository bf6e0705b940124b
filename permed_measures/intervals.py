"""Standard errors and confidence intervals of means over queries, or over clusters of queries.

Values have the shape (n_queries, n_columns). `cluster` is the cluster of each query, as an index from 0; for
independent queries it is ``np.arange(n_queries)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import Measure

from permed_measures.arrays import Floats, Ints
from permed_measures.errors import InputError
from permed_measures.measures.specs import LowHigh, range_of
from permed_measures.tolerances import SUM_NOISE
from permed_measures.wording import plural, pluralize

FEW_UNITS = 20
"""With fewer units, Student's interval of skewed values may cover the truth less often than it says."""


class Estimate(NamedTuple):
    """An interval (low, high), or None with a reason; and whether it is an interval of a proportion."""

    value: Any
    reason: str = ""
    of_proportion: bool = False


def zero_rounding_noise(differences: Floats) -> Floats:
    """Set differences that are only rounding to 0."""
    return np.where(np.abs(differences) <= SUM_NOISE, 0.0, differences)


def check_level(level: float) -> None:
    """Raise InputError unless the level is between 0 and 1."""
    if not isinstance(level, (int, float)) or not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1 (found {level!r})", hint="95 percent is 0.95")


def percent(level: float) -> str:
    """Format a level, such as ``95%``."""
    return f"{100 * level:.10g}%"


def coverage_notes(n_units: int, unit: str, level: float, values: str) -> list[str]:
    """Note that coverage may be below the level, if there are few units."""
    if n_units >= FEW_UNITS:
        return []
    units = pluralize(n_units, unit)
    return [f"interval: with {units} coverage may be below {percent(level)} where {values} are skewed"]


def sums_of(values: Floats, cluster: Ints, n_clusters: int = 0) -> Floats:
    """Sum the values of each cluster; shape (n_clusters, n_columns), 0 for clusters without queries."""
    return np.stack([np.bincount(cluster, column, n_clusters) for column in values.T], axis=1)


def units_of(values: Floats, cluster: Ints) -> tuple[int, str]:
    """Return the number of independent units, and their name: query or cluster."""
    n = int(cluster.max()) + 1
    return n, "query" if n == len(values) else "cluster"


def mean_and_error(values: Floats, cluster: Ints) -> tuple[Floats, Floats]:
    r"""Compute the mean of each column and its cluster-robust standard error.

    .. math:: \sqrt{\frac{C}{C-1} \sum_c u_c^2} / n, \quad u_c = \sum_{i \in c} (d_i - \bar d)

    with C clusters and n queries. The error is 0 if the cluster sums do not vary, and for a single cluster.
    """
    mean, n_units = values.mean(axis=0), int(cluster.max()) + 1
    centred = sums_of(values - mean, cluster)
    error = np.sqrt((centred**2).sum(axis=0) * n_units / max(n_units - 1, 1)) / len(values)
    varies = np.abs(centred).max(axis=0) > SUM_NOISE * np.maximum(np.abs(values).max(axis=0), 1)
    return mean, np.where(varies, error, 0.0)


def mean_intervals(
    values: Floats,
    cluster: Ints,
    level: float = 0.95,
    within: Sequence[LowHigh] | None = None,
    critical: float | None = None,
) -> list[Estimate]:
    r"""Compute an interval of the mean of each column, by whole clusters.

    .. math:: \bar d \pm t_{C - 1} s

    with the cluster-robust standard error s of `mean_and_error` and Student's t for C clusters. The
    computation is not random.

    Parameters
    ----------
    values : ndarray of float64, shape (n_queries, n_columns)
    cluster : ndarray of int64, shape (n_queries,)
    level : float
        Between 0 and 1.
    within : sequence of (float, float), optional
        The range of each column (`range_of`), to which the interval is cut.
    critical : float, optional
        Number of standard errors on each side, instead of Student's t: for simultaneous intervals.

    Returns
    -------
    list of Estimate
        ``value`` is (low, high), or None with a ``reason``. A single unit has no interval, and neither have
        values that are all the same: they do not show how other values vary.

    References
    ----------
    Cameron & Miller, A Practitioner's Guide to Cluster-Robust Inference, Journal of Human Resources 50(2),
    2015.

    Examples
    --------
    >>> [estimate] = mean_intervals(np.array([[0.0], [0.0], [1.0], [1.0]]), np.arange(4))
    >>> tuple(round(bound, 3) for bound in estimate.value)
    (-0.419, 1.419)
    >>> [estimate] = mean_intervals(np.array([[0.0], [0.0], [1.0], [1.0]]), np.arange(4), within=[(0, 1)])
    >>> estimate.value
    (0.0, 1.0)
    """
    n_units, unit = units_of(values, cluster)
    if n_units < 2:
        return [Estimate(None, no_variance(n_units, unit))] * values.shape[1]
    mean, error = mean_and_error(values, cluster)
    n_errors = critical_of(level, n_units) if critical is None else critical
    minimum, maximum = np.array(within or [(-np.inf, np.inf)] * len(mean)).T
    varies = error > 0
    half = np.where(varies, error, np.nan) * n_errors  # infinity times 0 would warn
    low, high = np.maximum(mean - half, minimum), np.minimum(mean + half, maximum)
    flat = Estimate(None, no_variance(n_units, unit))
    too_few = Estimate(None, f"too few {plural(unit)} or resamples for a simultaneous interval")
    return [
        (Estimate((a, b)) if np.isfinite(n_errors) else too_few) if column_varies else flat
        for a, b, column_varies in zip(low.tolist(), high.tolist(), varies, strict=True)
    ]


def queries_in_clusters(n_queries: int, n_clusters: int, clusters: str) -> str:
    """Write the numbers of queries and clusters, with the name of the clusters."""
    named = f" ({clusters})" if clusters != "clusters" else ""  # a mapping or a function has no name
    within = f" in {pluralize(n_clusters, 'cluster')}{named}" if clusters else ""
    return f"{pluralize(n_queries, 'query')}{within}"


def no_variance(n_units: int, unit: str) -> str:
    """Explain why there is no standard error."""
    return f"no variance between {plural(unit)}" if n_units > 1 else f"a single {unit}"


def critical_of(level: float, n_units: int) -> float:
    """Compute Student's critical value for an interval of `n_units`.

    >>> round(critical_of(0.95, 20), 4)
    2.093
    """
    from scipy.special import stdtrit

    return float(stdtrit(n_units - 1, (1 + level) / 2))


# --- proportions -----------------------------------------------------------------------------------------


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
        Student's interval, cut to the range of the measure; `proportion_interval` if all values are 0 or 1.
    """
    ranges = [range_of(measure) for measure in measures]
    students = mean_intervals(values, cluster, level, ranges)
    if units_of(values, cluster)[0] < 2:  # a single unit has no interval
        return students
    return [
        Estimate(proportion_interval(column, cluster, level), of_proportion=True)
        if within == (0, 1) and np.isin(column, (0, 1)).all()
        else student
        for student, within, column in zip(students, ranges, values.T, strict=True)
    ]


def proportion_interval(values: Floats, cluster: Ints, level: float = 0.95) -> tuple[float, float]:
    r"""Compute an interval of a proportion.

    The interval is Clopper and Pearson's for x = pn successes in n trials,

    .. math:: B^{-1}_{\alpha / 2}(x, n - x + 1), \quad B^{-1}_{1 - \alpha / 2}(x + 1, n - x)

    with Beta quantiles. With clusters, n is Korn and Graubard's effective sample size: p (1 - p) over the
    cluster-robust variance of p, times the squared ratio of Student's t with n - 1 and with C - 1 degrees of
    freedom, and at most the number of queries. If all values are the same, that variance is not informative,
    and each of the C clusters counts once.

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
    For 50 successes in 50 queries the lower end is 0.025^(1/50):

    >>> low, high = proportion_interval(np.ones(50), np.arange(50))
    >>> round(low, 4), high
    (0.9289, 1.0)
    """
    from scipy.special import betaincinv

    n = _effective_size(values, cluster, level)
    successes, tail = float(values.mean()) * n, (1 - level) / 2
    low = float(betaincinv(successes, n - successes + 1, tail)) if successes > 0 else 0.0
    high = float(betaincinv(successes + 1, n - successes, 1 - tail)) if values.mean() < 1 else 1.0
    return low, high


def _effective_size(values: Floats, cluster: Ints, level: float) -> float:
    """Compute the effective sample size: the number of independent queries with the same information."""
    n, n_clusters = len(values), int(cluster.max()) + 1
    [mean], [error] = mean_and_error(values[:, None], cluster)
    if mean in (0, 1):
        return n_clusters
    if n == n_clusters:
        return n
    variance = mean * (1 - mean) / (n - 1)  # of independent queries
    ratio = critical_of(level, n) / critical_of(level, n_clusters)
    return min(n * variance / error**2 * ratio**2, n) if error else n


def difference_range(measure: Measure) -> LowHigh:
    """Return the minimum and the maximum of a difference of two values of a measure."""
    low, high = range_of(measure)
    return low - high, high - low
