"""How many queries a difference needs."""

from __future__ import annotations

import math

POWER = 0.8
"""How often a difference is to be found, as Sakai and most textbooks have it."""

MOST_UNITS = 10**15
"""Of more there is no number: they are as good as infinitely many."""

_LARGE = 100_000
"""Student's t of so many units is normal."""


def needed(error: float, n_units: int, difference: float, level: float) -> int | None:
    """Return how many units a t-test needs to find a difference with a power of 0.8.

    The standard deviation of a unit is that of these: the standard error times the root of their number.
    None where there is no variance, and where it would be more than `MOST_UNITS`.

    References
    ----------
    Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988; in retrieval: Sakai, Topic Set Size
    Design, Information Retrieval Journal 19, 2016: the t-test's method, by the noncentral t distribution
    rather than its approximation.

    Examples
    --------
    >>> needed(0.02, 100, 0.1, 0.95)  # an effect size of 0.5
    34
    """
    from scipy.special import ndtri

    if not error > 0:
        return None
    deviation = error * math.sqrt(n_units)
    of_normal = float(ndtri((1 + level) / 2) + ndtri(POWER)) * (deviation / difference)
    effect = difference / deviation
    if of_normal > math.sqrt(MOST_UNITS):
        return None
    n = max(math.ceil(of_normal**2), 2)
    while n < _LARGE and _power(effect, n, level) < POWER:
        n += 1
    return n


def _power(effect: float, n_units: int, level: float) -> float:
    """Return how often t of so many units is beyond its critical value."""
    from scipy.special import nctdtr, stdtrit

    degrees, shift = n_units - 1, min(effect * math.sqrt(n_units), 30)  # nctdtr fails far away
    return float(1 - nctdtr(degrees, shift, stdtrit(degrees, (1 + level) / 2)))
