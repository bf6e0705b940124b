"""Means over queries or clusters of them: standard errors and intervals; arrays in, numbers out.

Values have the shape (n_queries, n_columns). `cluster` has the cluster of each query, as an index from 0;
where queries are independent, it is ``np.arange(n_queries)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import Measure

from permed_measures.arrays import Floats, Ints
from permed_measures.errors import InputError
from permed_measures.escaping import plural, pluralize
from permed_measures.measures.parameters import values_of
from permed_measures.tolerances import SUM_NOISE

FEW_UNITS = 20
"""Of fewer units Student's interval of skewed values may have the truth less often than it says."""

LowHigh = tuple[float, float]


class Estimate(NamedTuple):
    """An interval (low, high), or None and why there is none; whether it is that of a proportion."""

    value: Any
    reason: str = ""
    of_proportion: bool = False


def zero_rounding_noise(differences: Floats) -> Floats:
    """Set differences that are only rounding to 0."""
    return np.where(np.abs(differences) <= SUM_NOISE, 0.0, differences)


def check_level(level: float) -> None:
    """Raise InputError unless it is between 0 and 1."""
    if not isinstance(level, (int, float)) or not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1 (found {level!r})", hint="95 percent is 0.95")


def percent(level: float) -> str:
    """Write a level, such as ``95%``."""
    return f"{100 * level:.10g}%"


def coverage_notes(n_units: int, unit: str, level: float, values: str) -> list[str]:
    """Note that intervals of so few units may hold the truth less often than they say, if so."""
    if n_units >= FEW_UNITS:
        return []
    units = pluralize(n_units, unit)
    return [f"interval: with {units} coverage may be below {percent(level)} where {values} are skewed"]


def sums_of(values: Floats, cluster: Ints, n_clusters: int = 0) -> Floats:
    """Sum the values of each cluster; shape (n_clusters, n_columns), more if `n_clusters` is more."""
    return np.stack([np.bincount(cluster, column, n_clusters) for column in values.T], axis=1)


def units_of(values: Floats, cluster: Ints) -> tuple[int, str]:
    """Return the number of independent units, and what a unit is."""
    n = int(cluster.max()) + 1
    return n, "query" if n == len(values) else "cluster"


def mean_and_error(values: Floats, cluster: Ints) -> tuple[Floats, Floats]:
    r"""Return the mean of each column and its cluster-robust standard error.

    .. math:: \sqrt{\frac{C}{C-1} \sum_c u_c^2} / n, \quad u_c = \sum_{i \in c} (d_i - \bar d)

    with C clusters and n queries. It is 0 where what is added up does not vary, and for a single cluster.
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

    with the cluster-robust standard error s of `mean_and_error` and Student's t of C clusters. There is
    nothing random in it.

    Parameters
    ----------
    values : ndarray of float64, shape (n_queries, n_columns)
    cluster : ndarray of int64, shape (n_queries,)
    level : float
        Between 0 and 1.
    within : sequence of (float, float), optional
        What is possible for each column (`range_of`), to which the interval is cut.
    critical : float, optional
        So many standard errors on each side, instead of Student's: for simultaneous intervals.

    Returns
    -------
    list of Estimate
        ``value`` is (low, high), or None with a ``reason``: a single unit has no interval, nor have values
        that are all the same, which tell nothing of how others vary.

    References
    ----------
    Cameron & Miller, A Practitioner's Guide to Cluster-Robust Inference, Journal of Human Resources 50(2),
    2015.

    Examples
    --------
    >>> [found] = mean_intervals(np.array([[0.0], [0.0], [1.0], [1.0]]), np.arange(4))
    >>> tuple(round(bound, 3) for bound in found.value)
    (-0.419, 1.419)
    >>> [found] = mean_intervals(np.array([[0.0], [0.0], [1.0], [1.0]]), np.arange(4), within=[(0, 1)])
    >>> found.value
    (0.0, 1.0)
    """
    n_units, unit = units_of(values, cluster)
    if n_units < 2:
        return [Estimate(None, no_variance(n_units, unit))] * values.shape[1]
    mean, error = mean_and_error(values, cluster)
    reach = critical_of(level, n_units) if critical is None else critical
    least, most = np.array(within or [(-np.inf, np.inf)] * len(mean)).T
    varies = error > 0
    half = np.where(varies, error, np.nan) * reach  # Infinity times 0 would warn.
    low, high = np.maximum(mean - half, least), np.minimum(mean + half, most)
    flat = Estimate(None, no_variance(n_units, unit))
    too_few = Estimate(None, f"too few {plural(unit)} or resamples for a simultaneous interval")
    return [
        (Estimate((a, b)) if np.isfinite(reach) else too_few) if is_random else flat
        for a, b, is_random in zip(low.tolist(), high.tolist(), varies, strict=True)
    ]


def queries_in_clusters(n_queries: int, n_clusters: int, clusters: str) -> str:
    """Say how many queries there are, and in how many clusters of what name, if in any."""
    named = (
        f" ({clusters})" if clusters != "clusters" else ""
    )  # those of a mapping or a function have no name
    within = f" in {pluralize(n_clusters, 'cluster')}{named}" if clusters else ""
    return f"{pluralize(n_queries, 'query')}{within}"


def no_variance(n_units: int, unit: str) -> str:
    """Say why there is no standard error."""
    return f"no variance between {plural(unit)}" if n_units > 1 else f"a single {unit}"


def critical_of(level: float, n_units: int) -> float:
    """Return Student's critical value for an interval of so many units.

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
        Student's, cut to what the measure can be; where all values are 0 or 1, that of `proportion_interval`.
    """
    ranges = [range_of(measure) for measure in measures]
    found = mean_intervals(values, cluster, level, ranges)
    if units_of(values, cluster)[0] < 2:  # a single unit has no interval
        return found
    return [
        Estimate(proportion_interval(column, cluster, level), of_proportion=True)
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


# --- what a measure can be -----------------------------------------------------------------------------

_SHARES = {
    *("P", "R", "RR", "AP", "nDCG", "Success", "Judged", "Rprec", "SetP", "SetR", "SetF", "SetAP", "IPrec"),
    *("Bpref", "infAP", "ERR", "RBP", "Coverage", "GAP", "QMeasure", "F1"),
}
"""Measures between 0 and 1, whatever their parameters."""

_SOMETIMES: dict[str, Callable[[dict[str, Any]], bool]] = {
    "GradedAP": lambda given: given["norm"] != "none" and given["gains"] is None,
    "VariantNDCG": lambda given: given["negative"] == "zero",
}
"""Measures between 0 and 1 with some of their parameters; with others VariantNDCG may also be below 0."""


def range_of(measure: Measure) -> LowHigh:
    """Return the least and the most that a measure can be; infinite where that is not known.

    Examples
    --------
    >>> from ir_measures import P
    >>> from permed_measures.measures.definitions import GradedAP
    >>> range_of(P @ 10), range_of(GradedAP @ 10), range_of(GradedAP(norm="none") @ 10)[1]
    ((0.0, 1.0), (0.0, 1.0), inf)
    """
    name = str(measure.NAME)
    share = name in _SHARES or (name in _SOMETIMES and _SOMETIMES[name](values_of(measure)))
    if share:
        return 0.0, 1.0
    return (-np.inf if name == "VariantNDCG" else 0.0), np.inf


def difference_range(measure: Measure) -> LowHigh:
    """Return the least and the most that a difference of two values of a measure can be."""
    low, high = range_of(measure)
    return low - high, high - low
