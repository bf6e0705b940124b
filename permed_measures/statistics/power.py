"""What "no difference" means: which difference would be found, with how many queries; and equivalence.

The arrays are those of `significance`. All of it needs scipy.
"""

from __future__ import annotations

import numpy as np

from permed_measures.markup import counted, plural
from permed_measures.statistics.intervals import Spread, as_critical, mean_spread
from permed_measures.statistics.significance import (
    Floats,
    Ints,
    SignificanceTest,
    for_columns,
    scipy_special,
    units_of,
)

POWER = 0.8
"""How often a difference is to be found, as Sakai and most textbooks have it."""

_MOST_UNITS = 1 << 40


def detectable(error: Floats, n_units: int, level: float) -> Floats:
    """Return the differences that a t-test on so many units finds with a power of 0.8.

    `error` has the standard errors. It is exact for normal differences: the noncentrality at which Student's
    t is beyond its critical value in 80 of 100 cases, times the standard error.

    References
    ----------
    Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988; in retrieval: Webber, Moffat & Zobel,
    Statistical Power in Retrieval Experimentation, CIKM 2008.

    Examples
    --------
    >>> detectable(np.array([0.01]), 50, 0.95).round(4)  # a little more than (1.96 + 0.84) standard errors
    array([0.0286])
    """
    low, high = 0.0, 1e4
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _power(middle, float(n_units), level) < POWER else (low, middle)
    return high * error


def needed(error: Floats, n_units: int, difference: float, level: float) -> list[int | None]:
    """Return how many units a t-test needs to find a difference with a power of 0.8; None if too many.

    The standard deviation of a unit is that of these: the standard error times the root of their number.

    References
    ----------
    Sakai, Topic Set Size Design, Information Retrieval Journal 19, 2016: the t-test's method, by the
    noncentral t distribution rather than its approximation.

    Examples
    --------
    >>> needed(np.array([0.02]), 100, 0.1, 0.95)  # an effect size of 0.5
    [34]
    """
    scale = np.where(error > 0, error, np.nan) * np.sqrt(n_units)
    low, high = np.ones(len(error)), np.full(len(error), float(_MOST_UNITS))
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        enough = _power(difference / scale * np.sqrt(middle), middle, level) >= POWER
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return [
        None if n >= _MOST_UNITS or np.isnan(each) else int(n) for n, each in zip(high, scale, strict=True)
    ]


def _power(noncentrality: Floats | float, n_units: Floats | float, level: float) -> Floats:
    """Return how often t of so many units is beyond its critical value."""
    special = scipy_special()
    degrees = np.asarray(n_units, np.float64) - 1
    critical = special.stdtrit(degrees, (1 + level) / 2)
    shift = np.asarray(noncentrality, np.float64)
    exact = 1 - special.nctdtr(degrees, np.minimum(shift, 30), critical)  # it fails far away
    found: Floats = np.where(degrees > 1e5, special.ndtr(shift - critical), np.where(shift > 30, 1.0, exact))
    return found


def equivalence_test(differences: Floats, cluster: Ints, rope: float) -> list[SignificanceTest]:
    """Compute the p-values of two one-sided tests: whether the mean difference is within ±`rope`.

    p is below alpha where the interval of level 1 - 2 alpha (`intervals.bounds`) is within the range: it is
    the larger p of the tests that the mean is above -rope and below rope. Where all differences are equal,
    none is computed: nothing is known of how others vary.

    References
    ----------
    Schuirmann, A comparison of the two one-sided tests procedure and the power approach, Journal of
    Pharmacokinetics and Biopharmaceutics 15, 1987.
    """
    n_units, unit = units_of(differences, cluster)
    method = f"two one-sided tests of ±{rope:g}, {counted(n_units - 1, 'degree')} of freedom"
    spread = mean_spread(differences, cluster)
    if n_units < 2 or not (spread.error > 0).any():
        p = np.full(differences.shape[1], np.nan)
    else:
        p = _outside(spread, rope)
    reason = f"equivalence needs differences that vary between {plural(unit)}"

    def outcome(column: int) -> SignificanceTest:
        statistic = float(spread.estimate[column])
        if spread.error[column] > 0 and n_units > 1:
            return SignificanceTest(p=float(p[column]), statistic=statistic, method=method)
        return SignificanceTest(method=method, reason=reason)

    found = for_columns(differences, outcome, method)
    equal = SignificanceTest(method=method, reason=reason)
    return [each if spread.error[i] > 0 else equal for i, each in enumerate(found)]


def _outside(spread: Spread, rope: float) -> Floats:
    """Return the larger p of both one-sided tests."""
    scale = np.where(spread.error > 0, spread.error, 1)
    above, below = (rope + spread.estimate) / scale, (rope - spread.estimate) / scale
    mirrored = spread._replace(skewness=-spread.skewness)
    critical = np.minimum(as_critical(above, spread), as_critical(below, mirrored))
    p: Floats = scipy_special().stdtr(spread.n_units - 1, -critical)
    return p
