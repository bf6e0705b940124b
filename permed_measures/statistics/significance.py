"""Tests on paired differences: arrays in, p-values and intervals out; no ids, no measures.

All take differences of shape (n_queries, n_columns), with a column for each pair of runs and measure, and the
cluster of each query, as an index from 0; where queries are independent, each is its own cluster. All return
a list with an entry for each column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.markup import counted, plural

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TIE = 1e-12
"""Values of a query that differ by no more than this count as equal: the difference is rounding."""

LEVELS = (0.05, 0.01)
"""The levels of significance that papers use: a result is significant where p is below."""


@dataclass(frozen=True, kw_only=True)
class SignificanceTest:
    """The result of a significance test on a pair of runs.

    Attributes
    ----------
    p : float or None
        Two-sided, uncorrected; None where the test is undefined.
    adjusted : float or None
        Corrected for the number of p-values of the same test.
    statistic : float or None
        t; Wilcoxon's smaller rank sum; for the randomization test the mean difference.
    naive : bool
        Whether queries of one cluster were treated as independent: the p-value is too small where they are
        correlated.
    method : str
        How it was computed, such as ``10,000 random sign patterns of 843 clusters``.
    reason : str
        Why there is no p-value, where there is none.
    draws : int or None
        The number of random draws that `adjusted` was computed from; None where it is exact.
    """

    p: float | None = None
    adjusted: float | None = None
    statistic: float | None = None
    naive: bool = False
    method: str
    reason: str = ""
    draws: int | None = None


class Estimate(NamedTuple):
    """A number or an interval (low, high) for a column, or None and why there is none."""

    value: Any
    reason: str = ""


def zero_rounding_noise(differences: Floats) -> Floats:
    """Set differences that are only rounding to 0."""
    return np.where(np.abs(differences) <= TIE, 0.0, differences)


_COLUMNS = 256


def blocks_of_columns(differences: Floats) -> list[Floats]:
    """Split the columns into blocks, so that temporary arrays stay small."""
    return np.array_split(differences, -(-differences.shape[1] // _COLUMNS), axis=1)


def sums_of(differences: Floats, cluster: Ints, n_clusters: int = 0) -> Floats:
    """Sum the differences of each cluster; shape (n_clusters, n_columns), more if `n_clusters` is more."""
    columns = [np.bincount(cluster, column, n_clusters) for column in differences.T]
    return np.stack(columns, axis=1)


def units_of(differences: Floats, cluster: Ints) -> tuple[int, str]:
    """Return the number of independent units, and what a unit is."""
    n = int(cluster.max()) + 1
    return n, "query" if n == len(differences) else "cluster"


def for_columns(
    differences: Floats, outcome: Callable[[int], SignificanceTest], method: str
) -> list[SignificanceTest]:
    """Compute the outcome of each column; p is 1 where all differences are 0."""
    same = SignificanceTest(p=1.0, statistic=0.0, method=method)
    return [outcome(column) if values.any() else same for column, values in enumerate(differences.T)]


def mean_and_error(values: Floats, cluster: Ints) -> tuple[Floats, Floats]:
    r"""Return the mean of each column and its cluster-robust standard error.

    .. math:: \sqrt{\frac{C}{C-1} \sum_c u_c^2} / n, \quad u_c = \sum_{i \in c} (d_i - \bar d)

    with C clusters and n queries. It is 0 where what is added up does not vary, and for a single cluster.
    """
    mean, n_units = values.mean(axis=0), int(cluster.max()) + 1
    centred = sums_of(values - mean, cluster)
    error = np.sqrt((centred**2).sum(axis=0) * n_units / max(n_units - 1, 1)) / len(values)
    varies = np.abs(centred).max(axis=0) > TIE * np.maximum(np.abs(values).max(axis=0), 1)
    return mean, np.where(varies, error, 0.0)


# --- the t-test ------------------------------------------------------------------------------------


def t_test(differences: Floats, cluster: Ints) -> list[SignificanceTest]:
    r"""Compute the two-sided p-values of the cluster-robust t-test.

    .. math:: t = \frac{\bar d}{\sqrt{\frac{C}{C-1} \sum_c u_c^2 / n^2}}, \quad
        u_c = \sum_{i \in c} (d_i - \bar d)

    with C - 1 degrees of freedom, C clusters and n queries. Where each query is its own cluster, this is the
    paired t-test. There is no p for a single unit, and where the units have no variance; it is 1 where all
    differences are 0.

    References
    ----------
    Cameron & Miller, A Practitioner's Guide to Cluster-Robust Inference, Journal of Human Resources 50(2),
    2015: the sandwich estimator for an intercept alone, with the factor C / (C - 1). It needs many clusters:
    with fewer than some 30, the randomization test is the one to trust.

    Examples
    --------
    >>> [outcome] = t_test(np.array([[1.0], [2.0], [3.0]]), np.arange(3))
    >>> round(outcome.statistic, 4), round(outcome.p, 4)
    (3.4641, 0.0742)
    """
    from scipy import stats

    n_units, unit = units_of(differences, cluster)
    mean, error = mean_and_error(differences, cluster)
    varies = error > 0
    kind = "paired" if unit == "query" else "cluster-robust"
    method = f"{kind}, {counted(n_units - 1, 'degree')} of freedom"
    t = np.divide(mean, error, out=np.zeros_like(mean), where=varies)
    p = 2 * stats.t.sf(np.abs(t), n_units - 1)

    def outcome(column: int) -> SignificanceTest:
        if n_units >= 2 and varies[column]:
            return SignificanceTest(p=float(p[column]), statistic=float(t[column]), method=method)
        needed = "at least two" if n_units < 2 else "differences that vary between"
        return SignificanceTest(method=method, reason=f"a t-test needs {needed} {plural(unit)}")

    return for_columns(differences, outcome, method)


def effective_clusters(cluster: Ints) -> float:
    r"""Compute the effective number of clusters: how many of one size would give as sure a variance.

    .. math:: G^* = \frac{(\sum_c n_c^2)^2}{\sum_c n_c^4}

    with clusters of n_c queries. It is the number of clusters where all have one size.

    References
    ----------
    Carter, Schnepel & Steigerwald, Asymptotic Behavior of a t-Test Robust to Cluster Heterogeneity, Review of
    Economics and Statistics 99(4), 2017: for a mean, with queries that are perfectly alike in their cluster.

    Examples
    --------
    >>> effective_clusters(np.array([0, 0, 1, 1, 2, 2])), effective_clusters(np.array([0, 0, 0, 1]))
    (3.0, 1.2195121951219512)
    """
    squares = np.bincount(cluster).astype(np.float64) ** 2
    return float(squares.sum() ** 2 / (squares**2).sum())


def effect_sizes(differences: Floats) -> list[Estimate]:
    """Compute Cohen's d_z: the mean difference over the standard deviation of the differences.

    The standard deviation is that over queries, with n - 1. It is 0 where all differences are 0, and has no
    value where they are all equal to something else, or there is one alone.

    Examples
    --------
    >>> effect_sizes(np.array([[1.0, 0.0, 1.0], [2.0, 0.0, 1.0], [3.0, 0.0, 1.0]]))[0].value
    2.0
    """
    mean = differences.mean(axis=0)
    deviation = differences.std(axis=0, ddof=1) if len(differences) > 1 else np.zeros_like(mean)
    found = []
    for column, values in enumerate(differences.T):
        if not values.any():
            found.append(Estimate(0.0))
        elif len(values) < 2:
            found.append(Estimate(None, "an effect size needs at least two queries"))
        elif np.ptp(values) <= TIE * max(np.abs(values).max(), 1):
            found.append(Estimate(None, "an effect size needs differences that vary between queries"))
        else:
            found.append(Estimate(float(mean[column] / deviation[column])))
    return found


# --- many tests at once ------------------------------------------------------------------------------


def _holm(p: Floats) -> Floats:
    order = np.argsort(p, kind="stable")
    adjusted = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(adjusted, 1)[np.argsort(order)]


def _benjamini_hochberg(p: Floats) -> Floats:
    order = np.argsort(-p, kind="stable")
    adjusted = np.minimum.accumulate(p[order] * len(p) / np.arange(len(p), 0, -1))
    return np.minimum(adjusted, 1)[np.argsort(order)]


CORRECTIONS: dict[str, Callable[[Floats], Floats]] = {
    "holm": _holm,
    "bonferroni": lambda p: np.minimum(p * len(p), 1),
    "benjamini-hochberg": _benjamini_hochberg,
    "none": lambda p: p,
}
"""How the p-values of a family are adjusted. Holm 1979 and Bonferroni control the probability of any false
rejection, Benjamini & Hochberg 1995 the expected share of false rejections."""
