"""Significance tests of differences, by query or by cluster, and the sample sizes that they need.

The arrays have the same form as in `intervals`, with a column for each pair of runs and measure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from permed_measures.arrays import Bools, Floats, Ints
from permed_measures.intervals import mean_and_error, no_variance, units_of
from permed_measures.progress import tracked
from permed_measures.tolerances import STATISTIC, SUM_NOISE
from permed_measures.wording import pluralize


@dataclass(frozen=True, kw_only=True)
class SignificanceTest:
    """The result of a significance test on a pair of runs.

    Attributes
    ----------
    p : float or None
        Two-sided, uncorrected; None if the test is undefined.
    adjusted : float or None
        Corrected for the number of p-values of the same test.
    statistic : float or None
        t; Wilcoxon's smaller rank sum; T of the randomization test, with its sign.
    direction : {1, 0, -1}
        The sign of T, t, or W+ - W-. It can differ from the sign of the mean difference: many small
        differences may outweigh a few large ones by their ranks.
    naive : bool
        Whether queries of one cluster were treated as independent: the p-value is too small if they are
        correlated.
    method : str
        How the p-value was computed, such as ``50,000 random sign patterns of 843 clusters``.
    reason : str
        Why there is no p-value; empty if there is one.
    draws : int or None
        The number of random draws; None if nothing is random.
    """

    p: float | None = None
    adjusted: float | None = None
    statistic: float | None = None
    direction: int = 0
    naive: bool = False
    method: str
    reason: str = ""
    draws: int | None = None


# --- randomization -------------------------------------------------------------------------------------

_NUMBERS_PER_BLOCK = 2_000_000
"""The number of signs in memory at a time: 16 MB."""

_DRAWS, _COLUMNS = 2048, 32
"""The draws and columns of a block: a block that fits the processor's cache is several times as fast."""


class Randomized(NamedTuple):
    """The outcome of `randomize`.

    Attributes
    ----------
    p, adjusted : ndarray of float64, shape (n_columns,)
    statistic : ndarray of float64, shape (n_columns,)
        T with the sign of the sum.
    critical : float
        The quantile of the largest T* of all columns at the level.
    """

    p: Floats
    adjusted: Floats
    statistic: Floats
    critical: float


def randomize(sums: Floats, pairs: Ints, resamples: int, seed: int, level: float = 0.95) -> Randomized:
    r"""Compute the two-sided p-values of the paired randomization test, and adjust them by step-down max-T.

    .. math:: T_i = \frac{|\sum_c S_{ic}|}{\sqrt{\sum_c S_{ic}^2}}

    with S_ic the sum of the differences of column i in cluster c. Under the null hypothesis the two runs are
    exchangeable, so that the differences of a whole cluster may change sign. One pattern of random signs
    gives the T* of all columns, and p = (1 + #{T* >= T}) / (1 + resamples). If there are no more than
    `resamples` patterns of signs, the test uses all of them, and p is the share with T* >= T: it is exact.

    Step-down max-T sorts the columns by T, the largest first. The adjusted p of the first column is the share
    of patterns in which the largest T* of all columns is at least T. The second column uses the largest T* of
    all columns but the first, and so on; no adjusted p is smaller than the one before. Like Holm's, this
    correction controls the probability of any false rejection (the family-wise error rate), but it uses the
    dependence of the columns. The critical value gives simultaneous intervals through `critical_t`.

    Parameters
    ----------
    sums : ndarray of float64, shape (n_clusters, n_values)
        The sums of the values in each cluster, one column for each run and measure; pairs are many more.
    pairs : ndarray of int64, shape (n_columns, 2)
        The differences are ``sums[:, pairs[i, 0]] - sums[:, pairs[i, 1]]``.
    resamples, seed : int
    level : float
        Level of the critical value.

    References
    ----------
    Smucker, Allan & Carterette, A Comparison of Statistical Significance Tests for Information Retrieval
    Evaluation, CIKM 2007. Adding 1: Phipson & Smyth 2010. Max-T: Westfall & Young, Resampling-Based Multiple
    Testing, 1993, algorithm 2.8; in retrieval: Boytsov, Belova & Westfall, Deciding on an Adjustment for
    Multiplicity in IR Experiments, SIGIR 2013.

    Examples
    --------
    >>> sums = np.array([[1.0, 2.0, 0.0], [1.0, 1.0, 0.0], [2.0, -1.0, 0.0], [1.0, 3.0, 0.0]])
    >>> outcome = randomize(sums, np.array([[0, 2], [1, 2]]), resamples=10_000, seed=0)
    >>> outcome.p, outcome.adjusted, round(outcome.critical, 4)
    (array([0.125, 0.375]), array([0.125, 0.375]), 1.8898)
    """
    scale, statistic = _observed(sums, pairs)
    observed = np.abs(statistic)
    order = np.argsort(observed, kind="stable")  # the most extreme is last
    first, second = pairs[order].T
    columns = _Columns(first, second, scale[order], observed[order] - STATISTIC)
    alone, together, largest = np.zeros(len(order), int), np.zeros(len(order), int), []
    draws = min(_DRAWS * max(_COLUMNS // len(order), 1), _NUMBERS_PER_BLOCK // max(sums.shape))
    for signs in _signs(len(sums), draws, resamples, seed):
        largest.append(_count(np.ascontiguousarray((signs @ sums).T), columns, alone, together))
    added = 0 if n_patterns(len(sums), resamples) else 1
    n = sum(map(len, largest)) + added
    p, adjusted = (added + alone) / n, np.maximum.accumulate(((added + together) / n)[::-1])[::-1]
    back = np.argsort(order)
    critical = critical_value(np.concatenate(largest), added, level)
    return Randomized(p[back], adjusted[back], statistic, critical)


def _observed(sums: Floats, pairs: Ints) -> tuple[Floats, Floats]:
    """Compute the denominator of T, and T with its sign, for each column."""
    scale, total = np.empty(len(pairs)), np.empty(len(pairs))
    step = max(_NUMBERS_PER_BLOCK // len(sums), 1)
    for start in range(0, len(pairs), step):
        block = slice(start, start + step)
        differences = sums[:, pairs[block, 0]] - sums[:, pairs[block, 1]]
        scale[block], total[block] = np.sqrt((differences**2).sum(axis=0)), differences.sum(axis=0)
    scale[scale <= SUM_NOISE * len(sums)] = np.inf  # all differences are rounding: T is 0, and p is 1
    return scale, total / scale


class _Columns(NamedTuple):
    """Columns in the order of their T: two values, the denominator of T, and the T* that counts as equal."""

    first: Ints
    second: Ints
    scale: Floats
    threshold: Floats


def _count(totals: Floats, columns: _Columns, alone: Ints, together: Ints) -> Floats:
    """Count the draws in which T* is at least T, and add them to `alone` and `together`.

    `alone` counts the T* of the column itself, `together` the largest T* of this column and those before it.
    `totals` has the shape (n_values, n_draws). Return the largest T* of all columns in each draw.
    """
    largest = np.zeros(totals.shape[1])
    for start in range(0, len(columns.first), _COLUMNS):
        block = slice(start, start + _COLUMNS)
        drawn, threshold = totals[columns.first[block]], columns.threshold[block, None]
        drawn -= totals[columns.second[block]]
        np.abs(drawn, out=drawn)
        drawn /= columns.scale[block, None]
        alone[block] += _count_true(drawn >= threshold)
        for row in drawn:  # many times as fast as np.maximum.accumulate
            largest = np.maximum(row, largest, out=row)
        together[block] += _count_true(drawn >= threshold)
        largest = largest.copy()  # a view would keep the whole block
    return largest


def _count_true(is_as_large: Bools) -> Ints:
    """Count the true values of each row; sums of bytes are several times as fast as sums of booleans."""
    counts: Ints = is_as_large.view(np.uint8).sum(axis=1, dtype=np.int64)
    return counts


def sign_of(statistic: float) -> int:
    """Return the sign of a statistic; 0 where there is nothing but rounding.

    >>> sign_of(-2.5), sign_of(1e-12), sign_of(1e-9)
    (-1, 0, 0)
    """
    return 0 if abs(statistic) <= STATISTIC else int(math.copysign(1, statistic))


def n_patterns(n_units: int, resamples: int) -> int | None:
    """Count the sign patterns if the test uses all of them: if there are no more than `resamples`."""
    return 2**n_units if n_units < resamples.bit_length() else None


def _signs(n_units: int, draws: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield all sign patterns if there are no more than `resamples`, otherwise random ones, in blocks."""
    number, rng = n_patterns(n_units, resamples), np.random.default_rng(seed)
    total = number or resamples
    step = 4 * max(draws // 4, 1)  # the generator draws 32 bits at a time
    for start in tracked(range(0, total, step), "sign patterns"):
        rows = min(step, total - start)
        if number:
            bits = ((np.arange(start, start + rows)[:, None] >> np.arange(n_units)) & 1).astype(np.int8)
        else:
            packed = rng.integers(0, 256, size=(rows, -(-n_units // 8)), dtype=np.uint8)
            bits = np.unpackbits(packed, axis=1, count=n_units).view(np.int8)
        yield (1 - 2 * bits).astype(np.float64)


def critical_value(largest: Floats, added: int, level: float) -> float:
    """Compute the critical value of T: above it, the p-value by the largest T* is below 1 - level.

    It is infinite if no p-value can be that small; `added` is 1 with random patterns, and 0 otherwise.
    """
    allowed = math.ceil(round(1 - level, 12) * (len(largest) + added) - SUM_NOISE) - 1 - added
    return math.inf if allowed < 0 else float(np.sort(largest)[::-1][allowed])


def critical_t(critical: float, n_units: int) -> float:
    """Convert a critical value of T into one of Student's t for `n_units`.

    Without clusters T equals c where t equals c * sqrt((n - 1) / (n - c²)). If c² is n or more, the result is
    infinite.

    >>> round(critical_t(2.0, 50), 4)
    2.0642
    """
    left = n_units - critical**2
    return critical * math.sqrt((n_units - 1) / left) if left > SUM_NOISE else math.inf


def min_attainable_p(n_units: int, resamples: int) -> float:
    """Compute the smallest two-sided p-value that the randomization test can give for `n_units`.

    It is 2 / 2^n if all patterns of signs are used, and 1 / (1 + `resamples`) with random patterns.

    Examples
    --------
    >>> min_attainable_p(5, 50_000), min_attainable_p(6, 50_000), min_attainable_p(100, 9)
    (0.0625, 0.03125, 0.1)
    """
    number = n_patterns(n_units, resamples)
    return 2 / number if number else 1 / (1 + resamples)


def sign_patterns(n_units: int, unit: str, resamples: int) -> str:
    """Describe the sign patterns of a test.

    >>> sign_patterns(4, "query", 50_000)
    'all 16 sign patterns of 4 queries'
    """
    number = n_patterns(n_units, resamples)
    patterns = (
        f"all {pluralize(number, 'sign pattern')}" if number else pluralize(resamples, "random sign pattern")
    )
    return f"{patterns} of {pluralize(n_units, unit)}"


# --- Student's t ---------------------------------------------------------------------------------------


def t_test(differences: Floats, cluster: Ints) -> list[SignificanceTest]:
    r"""Compute the two-sided p-values of the cluster-robust t-test.

    .. math:: t = \frac{\bar d}{\sqrt{\frac{C}{C-1} \sum_c u_c^2 / n^2}}, \quad
        u_c = \sum_{i \in c} (d_i - \bar d)

    with C - 1 degrees of freedom, C clusters and n queries. If each query is its own cluster, this is the
    paired t-test. A single unit, or units without variance, have no p-value; p is 1 if all differences are 0.

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
    from scipy.special import stdtr

    n_units, unit = units_of(differences, cluster)
    mean, error = mean_and_error(differences, cluster)
    kind = "paired" if unit == "query" else "cluster-robust"
    method = f"{kind}, {pluralize(n_units - 1, 'degree')} of freedom"
    t = np.divide(mean, error, out=np.zeros_like(mean), where=error > 0)
    p = 2 * stdtr(max(n_units - 1, 1), -np.abs(t))
    is_known = (error > 0) | ~differences.any(axis=0)
    outcomes = _outcomes(t, p, is_known, method, no_variance(n_units, unit))
    return [replace(outcome, direction=sign_of(outcome.statistic or 0.0)) for outcome in outcomes]


def _outcomes(t: Floats, p: Floats, is_known: Bools, method: str, reason: str) -> list[SignificanceTest]:
    """Build the outcome of a test for each column; a column that is not known gets the reason."""
    return [
        SignificanceTest(p=each_p, statistic=each_t, method=method)
        if known
        else SignificanceTest(method=method, reason=reason)
        for each_t, each_p, known in zip(t.tolist(), p.tolist(), is_known.tolist(), strict=True)
    ]


EQUIVALENCE = {
    "non-inferiority": "that Δ is -{0} or below, by a one-sided t-test",
    "non-superiority": "that Δ is +{0} or above, by a one-sided t-test",
    "equivalence": "that Δ is beyond the equivalence margin ±{0}, by two one-sided t-tests",
}
"""The equivalence tests, and the null hypothesis that a small p-value rejects."""


def equivalence_tests(differences: Floats, cluster: Ints, margin: float) -> dict[str, list[SignificanceTest]]:
    """Compute the p-values of two one-sided tests: whether the mean difference is within ± `margin`.

    They are cluster-robust t-tests that the mean is above -margin (non-inferiority) and below margin
    (non-superiority). Equivalence has the larger of both p-values; it is below alpha exactly if Student's
    interval of level 1 - 2 alpha is within the range. Differences that do not vary have no p-value.

    References
    ----------
    Schuirmann, A comparison of the two one-sided tests procedure and the power approach, Journal of
    Pharmacokinetics and Biopharmaceutics 15, 1987.
    """
    from scipy.special import stdtr

    n_units, unit = units_of(differences, cluster)
    mean, error = mean_and_error(differences, cluster)
    above, below = (
        np.divide(each, error, out=np.zeros_like(mean), where=error > 0)
        for each in (margin + mean, margin - mean)
    )
    degrees = f"{pluralize(n_units - 1, 'degree')} of freedom"
    one, two = f"a one-sided test, {degrees}", f"two one-sided tests of ±{margin:g}, {degrees}"
    statistics = above, below, np.minimum(above, below)
    return {
        name: _outcomes(t, stdtr(n_units - 1, -t), error > 0, method, no_variance(n_units, unit))
        for name, t, method in zip(EQUIVALENCE, statistics, (one, one, two), strict=True)
    }


def effect_sizes(differences: Floats) -> list[float | None]:
    """Compute Cohen's d_z: the mean difference over the standard deviation of the differences.

    The standard deviation is over queries, with n - 1. The effect size is 0 if all differences are 0, and
    None if all have the same other value.

    Examples
    --------
    >>> effect_sizes(np.array([[1.0, 0.0, 1.0], [3.0, 0.0, 1.0]]))
    [1.414213562373095, 0.0, None]
    """
    mean, error = mean_and_error(differences, np.arange(len(differences)))
    deviation = error * math.sqrt(len(differences))
    return [
        float(m / s) if s > 0 else None if is_nonzero else 0.0
        for m, s, is_nonzero in zip(mean, deviation, (differences != 0).any(axis=0), strict=True)
    ]


# --- Wilcoxon ------------------------------------------------------------------------------------------


MOST_EXACT = 300
"""The largest number of differences with an exact p-value, which takes a few hundredths of a second."""


def wilcoxon_test(differences: Floats) -> list[SignificanceTest]:
    """Compute the two-sided p-values of Wilcoxon's signed-rank test.

    The test drops differences of 0 (scipy's ``zero_method="wilcox"``, its default). It rounds differences to
    12 decimals before it ranks them, so that differences that are equal up to rounding share a rank.

    The p-value is exact for up to 300 differences, with or without ties; beyond, it is scipy's normal
    approximation.

    Notes
    -----
    scipy is exact without ties up to 50 differences, and with ties up to 13. Beyond, the p-value of its
    normal approximation is too small: 14 gains and 5 losses of the same size have p = 0.0389 by scipy, and
    0.0636 exactly.

    References
    ----------
    Wilcoxon, Individual Comparisons by Ranking Methods, Biometrics Bulletin 1(6), 1945. The exact
    distribution with ties: Streitberg & Röhmel, Exact Distributions for Permutation and Rank Tests,
    Statistical Software Newsletter 12(1), 1986.

    Examples
    --------
    >>> wilcoxon_test(np.array([[1.0], [2.0], [3.0], [0.0]]))[0].p
    0.25
    """
    return [_wilcoxon(values[values != 0]) for values in np.round(differences, 12).T]


def _wilcoxon(values: Floats) -> SignificanceTest:
    """Test differences, all of them other than 0."""
    from scipy import stats

    n = len(values)
    ranks = np.rint(2 * stats.rankdata(np.abs(values))).astype(np.int64)  # doubled: mean ranks may end in .5
    positive = int(ranks[values > 0].sum())
    smaller = min(positive, n * (n + 1) - positive)
    is_exact = n <= MOST_EXACT
    p = _exact(ranks, smaller) if is_exact else stats.wilcoxon(values, method="asymptotic").pvalue
    how = "exact" if is_exact else "normal approximation"
    method = f"signed ranks of {pluralize(n, 'non-zero difference')}, {how}"
    direction = sign_of(2 * positive - n * (n + 1))
    return SignificanceTest(p=float(p), statistic=smaller / 2, direction=direction, method=method)


def _exact(ranks: Ints, smaller: int) -> float:
    """Compute the two-sided p-value of the smaller sum of doubled ranks, by convolution rank by rank."""
    chance = np.zeros(smaller + 1)
    chance[0] = 1.0
    for rank in ranks.tolist():
        moved = np.zeros_like(chance)
        moved[rank:] = chance[: len(moved[rank:])]
        chance = (chance + moved) / 2
    return min(2 * float(chance.sum()), 1.0)


# --- which correction ----------------------------------------------------------------------------------

MAX_T = "max-t"
"""The correction that only the randomization test can have."""


def correction_of(correction: str, test: str) -> str:
    """Return the correction of a test's p-values: Holm's where max-T is not possible."""
    return "holm" if correction == MAX_T and test != "randomization" else correction


# --- sample size ---------------------------------------------------------------------------------------

POWER = 0.8
"""The probability of finding the difference, as in Sakai and most textbooks."""

MOST_UNITS = 10**15
"""The largest sample size that is reported as a number."""

_LARGE_SAMPLE = 100_000
"""From this number of units on, the normal distribution replaces Student's t."""


def sample_size(error: float, n_units: int, difference: float, level: float) -> int | None:
    """Compute the number of units that a t-test needs to find a difference with a power of 0.8.

    The standard deviation of a unit is estimated from these units: the standard error, above 0, times the
    square root of their number. The result is None if it would be above `MOST_UNITS`.

    References
    ----------
    Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988; in retrieval: Sakai, Topic Set Size
    Design, Information Retrieval Journal 19, 2016: the t-test's method, by the noncentral t distribution
    rather than its approximation.

    Examples
    --------
    >>> sample_size(0.02, 100, 0.1, 0.95)  # an effect size of 0.5
    34
    """
    from scipy.special import ndtri

    deviation = error * math.sqrt(n_units)
    of_normal = float(ndtri((1 + level) / 2) + ndtri(POWER)) * (deviation / difference)
    effect = difference / deviation
    if of_normal > math.sqrt(MOST_UNITS):
        return None
    n = max(math.ceil(of_normal**2), 2)
    while n < _LARGE_SAMPLE and _power(effect, n, level) < POWER:
        n += 1
    return n


def _power(effect: float, n_units: int, level: float) -> float:
    """Compute the probability that t of `n_units` is above its critical value."""
    from scipy.special import nctdtr, stdtrit

    degrees, shift = n_units - 1, min(effect * math.sqrt(n_units), 30)  # nctdtr fails far away
    return float(1 - nctdtr(degrees, shift, stdtrit(degrees, (1 + level) / 2)))
