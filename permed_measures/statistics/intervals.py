"""Student's intervals of means over queries or clusters; arrays in, numbers out.

The arrays are those of `significance`. `mean_intervals` is what most need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from permed_measures.markup import plural
from permed_measures.measures.parameters import values_of
from permed_measures.statistics.significance import Estimate, Floats, Ints, mean_and_error, units_of

FEW = 5
"""Where fewer units differ than this, the coverage may be lower, by simulation (see the guide)."""

Range = tuple[float, float]


def mean_intervals(
    values: Floats, cluster: Ints, level: float = 0.95, within: Sequence[Range] | None = None
) -> list[Estimate]:
    r"""Compute an interval of the mean of each column, by whole clusters.

    .. math:: \bar d \pm t_{C - 1} s

    with the cluster-robust standard error s of `mean_and_error` and Student's t of C clusters. There is
    nothing random in it.

    Parameters
    ----------
    values : ndarray of float64, shape (n_queries, n_columns)
    cluster : ndarray of int64, shape (n_queries,)
        The cluster of each query, from 0; where queries are independent, ``np.arange(n_queries)``.
    level : float
        Between 0 and 1.
    within : sequence of (float, float), optional
        What is possible for each column (`range_of`), to which the interval is cut.

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
        return [Estimate(None, f"an interval needs at least two {plural(unit)}")] * values.shape[1]
    mean, error = mean_and_error(values, cluster)
    low, high = bounds(mean, error, critical_of(level, n_units), within)
    flat = Estimate(None, f"an interval needs values that vary between {plural(unit)}")
    return [
        Estimate((a, b)) if varies else flat
        for a, b, varies in zip(low.tolist(), high.tolist(), error > 0, strict=True)
    ]


def bounds(
    mean: Floats, error: Floats, critical: Floats | float, within: Sequence[Range] | None = None
) -> tuple[Floats, Floats]:
    """Return low and high, so many standard errors from the mean, cut to what is possible."""
    with np.errstate(invalid="ignore"):  # 0 times infinity
        low, high = mean - critical * error, mean + critical * error
    if within is None:
        return low, high
    least, most = np.array(within, np.float64).T
    return np.maximum(low, least), np.minimum(high, most)


def critical_of(level: float, n_units: int) -> float:
    """Return Student's critical value for an interval of so many units.

    >>> round(critical_of(0.95, 20), 4)
    2.093
    """
    from scipy.special import stdtrit

    return float(stdtrit(n_units - 1, (1 + level) / 2))


# --- what a measure can be -----------------------------------------------------------------------------

_SHARES = {
    *("P", "R", "RR", "AP", "nDCG", "Success", "Judged", "Rprec", "SetP", "SetR", "SetF", "SetAP", "IPrec"),
    *("Bpref", "infAP", "ERR", "RBP", "Coverage", "GAP", "QMeasure"),
}
"""Measures between 0 and 1, whatever their parameters."""

_SOMETIMES: dict[str, Callable[[dict[str, Any]], bool]] = {
    "GradedAP": lambda given: given["norm"] != "none" and given["gains"] is None,
    "VariantNDCG": lambda given: given["negative"] == "zero",
}
"""Measures between 0 and 1 with some of their parameters."""


def range_of(measure: Measure) -> Range:
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
    return (0.0, 1.0) if share else (-np.inf, np.inf)


def difference_range(measure: Measure) -> Range:
    """Return the least and the most that a difference of two values of a measure can be."""
    low, high = range_of(measure)
    return low - high, high - low
