"""What numbers show of other queries: intervals of means and changes, and how many queries would decide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from ir_measures.measures import Measure

from permed_measures.comparisons.tests import (
    as_student,
    least_p,
    n_patterns,
    needed,
    randomize,
    sign_patterns,
)
from permed_measures.intervals import (
    TIE,
    Estimate,
    Floats,
    Ints,
    Range,
    critical_of,
    difference_range,
    mean_and_error,
    mean_intervals,
    measure_intervals,
    proportion_interval,
    sums_of,
    units_of,
    zero_rounding_noise,
)
from permed_measures.markup import counted

LEVEL, RESAMPLES, SEED = 0.95, 50_000, 0
"""Of the intervals: those of `compare` by default."""


class Evidence(NamedTuple):
    """What the mean of a measure, or its change, may be on other queries.

    Attributes
    ----------
    low, high : float or None
        A confidence interval; where all units have the same value, and are enough, that value.
    reason : str
        Why there is none.
    needed : int or None
        About how many queries decide whether it is below a limit, if mean and variance stay as they are;
        None if it is at the limit.
    """

    low: float | None
    high: float | None
    reason: str
    needed: int | None


def of_means(
    measures: Sequence[Measure], values: Floats, cluster: Ints, limits: Sequence[float]
) -> list[Evidence]:
    """Return the evidence on means, each by itself.

    Parameters
    ----------
    measures : sequence of Measure
    values : ndarray of float64, shape (n_queries, n_measures)
    cluster : ndarray of int64, shape (n_queries,)
    limits : sequence of float
        Of the mean of each measure.
    """
    estimates = measure_intervals(measures, values, cluster, LEVEL)
    n_units, _ = units_of(values, cluster)
    reach = critical_of(LEVEL, n_units) if n_units > 1 else math.inf
    return _evidence(estimates, values, cluster, limits, reach)


def of_changes(
    measures: Sequence[Measure],
    differences: Floats,
    cluster: Ints,
    limits: Sequence[float],
    resamples: int = RESAMPLES,
) -> list[Evidence]:
    """Return the evidence on changes, by the intervals of `compare`: simultaneous for all of them.

    Parameters are those of `of_means`, with the differences from the baseline as values. Where fewer than
    `ENOUGH` units differ, their variance says little of how many others would: the interval is then at least
    as wide as Clopper and Pearson's of the share that differ allows, each by as much as it can.
    """
    differences = zero_rounding_noise(differences)
    n, number = differences.shape
    sums = sums_of(np.concatenate([differences, np.zeros((n, 1))], axis=1), cluster)
    pairs = np.stack([np.arange(number), np.full(number, number)], axis=1)  # each less nothing
    critical = randomize(sums, pairs, resamples, SEED, LEVEL).critical
    reach, within = as_student(critical, len(sums)), [difference_range(each) for each in measures]
    estimates = mean_intervals(differences, cluster, LEVEL, within, reach)
    widened = [
        _widened(*each, number) for each in zip(estimates, differences.T, sums.T, within, strict=False)
    ]
    return _evidence(widened, differences, cluster, limits, reach)


def _widened(estimate: Estimate, differences: Floats, sums: Floats, within: Range, number: int) -> Estimate:
    """Return the interval of a change that rests on few units, as wide as these allow; any other as it is."""
    differ = (np.abs(sums) > TIE).astype(float)
    if estimate.value is None or differ.sum() >= ENOUGH:
        return estimate
    level = 1 - (1 - LEVEL) / number
    _, share = proportion_interval(differ, np.arange(len(differ)), level)
    most = share * (within[1] if np.isfinite(within[1]) else float(np.abs(differences).max()))
    low, high = estimate.value
    return Estimate((min(low, -most), max(high, most)))


def _evidence(
    estimates: list[Estimate], values: Floats, cluster: Ints, limits: Sequence[float], reach: float
) -> list[Evidence]:
    n_units, unit = units_of(values, cluster)
    means, errors = mean_and_error(values, cluster)
    found = []
    for estimate, mean, error, limit in zip(estimates, means.tolist(), errors.tolist(), limits, strict=True):
        low, high = estimate.value or ((mean, mean) if not error and n_units >= ENOUGH else (None, None))
        reason = estimate.reason if error else f"too little is known of {counted(n_units, unit)}"
        units = _units_that_decide(error, n_units, abs(mean - limit), reach)
        queries = None if units is None else math.ceil(units * len(values) / n_units)
        found.append(Evidence(low, high, "" if low is not None else reason, queries))
    return found


ENOUGH = next(n for n in range(1, 64) if least_p(n, RESAMPLES) < 1 - LEVEL)
"""Of so many units the same change of all is no chance: of 2^n patterns of signs two are as extreme."""


def _units_that_decide(error: float, n_units: int, distance: float, reach: float) -> int | None:
    """Return how many units find with a power of 0.8 that a mean so far from a limit is not beyond it."""
    from scipy.special import stdtr

    if not error:  # all are the same: enough of them decide
        return ENOUGH
    if distance <= TIE:
        return None
    of_all = 2 * float(stdtr(n_units - 1, reach)) - 1 if math.isfinite(reach) else LEVEL
    level = min(max(of_all, LEVEL), 1 - 1e-9)  # that of the simultaneous interval
    units = needed(error, n_units, distance, level)
    return None if units is None else max(units, ENOUGH)


def is_random(cluster: Ints) -> bool:
    """Return whether not all sign patterns are tried."""
    return n_patterns(int(cluster.max()) + 1, RESAMPLES) is None


def method(cluster: Ints, clusters: str, has_means: bool, has_changes: bool) -> list[str]:
    """Say how the intervals are computed."""
    n_units, unit = int(cluster.max()) + 1, "cluster" if clusters else "query"
    by, share = "Student's t", "Clopper-Pearson"
    if clusters:
        by, share = f"cluster-robust {by}", "Korn-Graubard"
    percent, where = f"{100 * LEVEL:g}% CI", f" by {clusters}" if clusters else ""
    said = []
    if has_means:
        units = f"{counted(n_units, unit)}{where}"
        said.append(f"{percent} of a mean: {by}, of values that are 0 or 1 {share}; {units}")
    if has_changes:
        patterns = f"{sign_patterns(n_units, unit, RESAMPLES)}{where}"
        drawn = f", seed {SEED}" if is_random(cluster) else ""
        said.append(
            f"{percent} of a change (below 0: a drop), for all changes at once: max-T, {patterns}{drawn}"
        )
    return [*said, "What is shown has its whole interval on one side of the limit"]
