"""What "no difference" means: which difference would be found, with how many queries; and equivalence.

The arrays are those of `significance`.
"""

from __future__ import annotations

import numpy as np

from permed_measures.markup import counted, plural
from permed_measures.statistics.significance import (
    Floats,
    Ints,
    SignificanceTest,
    mean_and_error,
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
    from scipy import special

    degrees = np.asarray(n_units, np.float64) - 1
    critical = special.stdtrit(degrees, (1 + level) / 2)
    shift = np.asarray(noncentrality, np.float64)
    exact = 1 - special.nctdtr(degrees, np.minimum(shift, 30), critical)  # it fails far away
    found: Floats = np.where(degrees > 1e5, special.ndtr(shift - critical), np.where(shift > 30, 1.0, exact))
    return found


def equivalence_test(differences: Floats, cluster: Ints, margin: float) -> list[SignificanceTest]:
    """Compute the p-values of two one-sided tests: whether the mean difference is within ± `margin`.

    It is the larger p of the cluster-robust t-tests that the mean is above -margin and below margin: below
    alpha where Student's interval of level 1 - 2 alpha is within the range. Where the differences do not vary
    there is none: nothing is known of how others vary.

    References
    ----------
    Schuirmann, A comparison of the two one-sided tests procedure and the power approach, Journal of
    Pharmacokinetics and Biopharmaceutics 15, 1987.
    """
    from scipy.special import stdtr

    n_units, unit = units_of(differences, cluster)
    mean, error = mean_and_error(differences, cluster)
    t = np.divide(margin - np.abs(mean), error, out=np.zeros_like(mean), where=error > 0)
    p = stdtr(max(n_units - 1, 1), -t)
    method = f"two one-sided tests of ±{margin:g}, {counted(n_units - 1, 'degree')} of freedom"
    flat = SignificanceTest(
        method=method, reason=f"equivalence needs differences that vary between {plural(unit)}"
    )
    return [
        SignificanceTest(p=float(p[i]), statistic=float(mean[i]), method=method)
        if error[i] > 0 and n_units > 1
        else flat
        for i in range(len(mean))
    ]
