"""The randomization test by random signs of whole clusters, shared by all columns, and step-down max-T.

Only the sums of the clusters are needed: a block of sign patterns is a matrix product with them, so that
memory is bounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.markup import counted
from permed_measures.statistics.columns import Columns, chunks
from permed_measures.statistics.significance import (
    TIE,
    Floats,
    Ints,
    SignificanceTest,
    units_of,
)

_EQUAL = 1e-9
"""Two statistics T that differ by no more count as equal: the difference is rounding."""


class Randomized(NamedTuple):
    """The outcome of `randomize`.

    Attributes
    ----------
    p, adjusted : ndarray of float64, shape (n_columns,)
    differ : ndarray of int64, shape (n_columns,)
        How many clusters differ, where p is of all of their sign patterns; 0 where it is of random ones.
    critical : float
        What the largest T* of all columns does not exceed, at the level.
    exact : bool
        Whether `adjusted` and `critical` are of all sign patterns.
    """

    p: Floats
    adjusted: Floats
    differ: Ints
    critical: float
    exact: bool

    def chosen(self, columns: NDArray[np.bool_]) -> Randomized:
        """Select columns."""
        return self._replace(p=self.p[columns], adjusted=self.adjusted[columns], differ=self.differ[columns])


def randomize(columns: Columns, resamples: int, seed: int, level: float = 0.95) -> Randomized:
    r"""Compute the two-sided p-values of the paired randomization test, and adjust them by step-down max-T.

    .. math:: T_i = \frac{|\sum_c S_{ic}|}{\sqrt{\sum_c S_{ic}^2}}

    with S_ic the sum of the differences of column i in cluster c. Under the null hypothesis the two runs are
    exchangeable, so that the differences of a whole cluster may change sign. Random signs give T* to all
    columns at once, and p = (1 + #{T* >= T}) / (1 + resamples). If there are no more than `resamples`
    patterns of signs, all are used, and p is the share of those with T* >= T: it is exact. So it is for a
    column with few clusters that differ, since the sign of a 0 changes nothing.

    The adjusted p of the column with the largest T is the share of patterns in which the largest T* of all
    columns is as large; that of the second, in which the largest T* of all but the first is; and so on, none
    smaller than the one before, nor than its p. It holds the probability of any false rejection (the
    family-wise error rate), as Holm's does, but knows how the columns depend on each other, and its smallest
    p is not multiplied by their number. Intervals of `as_student` of the critical value are simultaneous.

    References
    ----------
    Smucker, Allan & Carterette, A Comparison of Statistical Significance Tests for Information Retrieval
    Evaluation, CIKM 2007. Adding 1: Phipson & Smyth 2010. Max-T: Westfall & Young, Resampling-Based Multiple
    Testing, 1993, algorithm 2.8; in retrieval: Boytsov, Belova & Westfall, Deciding on an Adjustment for
    Multiplicity in IR Experiments, SIGIR 2013.

    Examples
    --------
    >>> d = np.array([[1.0, 2.0], [1.0, 1.0], [2.0, -1.0], [1.0, 3.0], [2.0, 0.0]])
    >>> found = randomize(Columns.of(d, np.arange(5)), resamples=10_000, seed=0)
    >>> found.p, found.adjusted
    (array([0.0625, 0.375 ]), array([0.0625, 0.375 ]))
    """
    total, scale = _moments(columns)
    observed = np.divide(np.abs(total), scale, out=np.zeros_like(total), where=scale > 0)
    order = np.argsort(observed, kind="stable")
    order = order[scale[order] > 0]
    alone, together = np.zeros(len(total), np.int64), np.zeros(len(total), np.int64)
    largest = []
    for signs in _signs(len(columns.sums), resamples, seed):
        products = np.ascontiguousarray((signs @ columns.sums).T)
        least = observed - _EQUAL
        largest.append(_count(columns, products, order, scale, least, alone, together))
    exact = n_patterns(len(columns.sums), resamples) is not None
    drawn = np.concatenate(largest)
    extra = 0 if exact else 1
    p, adjusted = (
        np.where(scale > 0, (extra + each) / (extra + len(drawn)), 1.0) for each in (alone, together)
    )
    adjusted[order[::-1]] = np.maximum.accumulate(adjusted[order[::-1]])
    of_few, differ = _exact(columns, scale, resamples)
    p = np.where(differ > 0, of_few, p)
    return Randomized(p, np.maximum(adjusted, p), differ, critical_value(drawn, exact, level), exact)


def _moments(columns: Columns) -> tuple[Floats, Floats]:
    """Return sum and root of the sum of squares of the clusters' sums; 0 where these are only rounding."""
    parts = [(d.sum(axis=0), np.sqrt((d * d).sum(axis=0))) for _, d in columns.blocks(columns.sums)]
    total, scale = np.concatenate(parts, axis=1)
    return total, np.where(scale > TIE * np.sqrt(columns.sizes.sum()), scale, 0.0)


def _count(
    columns: Columns,
    products: Floats,
    order: Ints,
    scale: Floats,
    least: Floats,
    alone: Ints,
    together: Ints,
) -> Floats:
    """Count the patterns in which a column, or one of a smaller T, is extreme; return the largest T*."""
    highest = np.zeros(products.shape[1])
    drawn = np.empty_like(highest)
    for column in order.tolist():  # rows of products are contiguous and small: so this is quick
        np.subtract(products[columns.first[column]], products[columns.second[column]], out=drawn)
        np.abs(drawn, out=drawn)
        drawn /= scale[column]
        alone[column] += np.count_nonzero(drawn >= least[column])
        np.maximum(highest, drawn, out=highest)
        together[column] += np.count_nonzero(highest >= least[column])
    return highest


def _exact(columns: Columns, scale: Floats, resamples: int) -> tuple[Floats, Ints]:
    """Return the exact p of columns with few clusters that differ, and how many these are; 0 for others."""
    p, n_differ = np.zeros(len(scale)), np.zeros(len(scale), np.int64)
    for here, sums in columns.blocks(columns.sums):
        differ = np.abs(sums) > TIE * np.abs(sums).sum(axis=0)
        few = [n_patterns(n, resamples) is not None for n in differ.sum(axis=0).tolist()]
        for column in np.flatnonzero(few & (scale[here] > 0)):
            parts, place = sums[differ[:, column], column], here.start + column
            totals = np.zeros(1)
            for each in parts:
                totals = np.concatenate([totals + each, totals - each])
            p[place] = (np.abs(totals) >= abs(parts.sum()) - _EQUAL * scale[place]).mean()
            n_differ[place] = len(parts)
    return p, n_differ


def critical_value(largest: Floats, exact: bool, level: float) -> float:
    """Return the value that T exceeds where its p, by the largest T* of all columns, is below 1 - level.

    It is infinite where no p can be as small.
    """
    alpha = round(1 - level, 12)
    patterns = len(largest) if exact else len(largest) + 1
    allowed = math.ceil(alpha * patterns - TIE) - (1 if exact else 2)
    return math.inf if allowed < 0 else float(np.sort(largest)[::-1][allowed])


def as_student(critical: float, n_units: int) -> float:
    """Return the t of so many units that a critical value of T stands for.

    Without clusters, T = c where t = c * sqrt((n - 1) / (n - c²)); no t is as large where c² is n or more.

    >>> round(as_student(2.0, 50), 4)
    2.0642
    """
    left = n_units - critical**2
    return critical * math.sqrt((n_units - 1) / left) if left > TIE else math.inf


def randomization_test(
    differences: Floats, cluster: Ints, resamples: int, seed: int
) -> list[SignificanceTest]:
    """Compute the two-sided p-values of the paired randomization test, by `randomize`.

    Examples
    --------
    >>> [outcome] = randomization_test(np.ones((4, 1)), np.arange(4), resamples=10_000, seed=0)
    >>> outcome.p, outcome.method
    (0.125, 'all 16 sign patterns of 4 queries')
    """
    outcome = randomize(Columns.of(differences, cluster), resamples, seed)
    return sign_tests(outcome, differences.mean(axis=0), *units_of(differences, cluster), resamples)


def sign_tests(
    outcome: Randomized, means: Floats, n_units: int, unit: str, resamples: int, max_t: bool = False
) -> list[SignificanceTest]:
    """Say how each p-value was computed; with `max_t` they are adjusted too."""
    number = n_patterns(n_units, resamples)
    tried = f"all {counted(number, 'sign pattern')}" if number else counted(resamples, "random sign pattern")

    def test(p: float, adjusted: float, mean: float, differ: int) -> SignificanceTest:
        if differ and not number:
            how = f"all {2**differ:,} sign patterns of the {counted(differ, unit)} that differ"
        else:
            how = f"{tried} of {counted(n_units, unit)}"
        exact = outcome.exact if max_t else bool(differ or number)
        draws = None if exact else resamples
        return SignificanceTest(
            p=p, adjusted=adjusted if max_t else None, statistic=mean, method=how, draws=draws
        )

    columns = outcome.p, outcome.adjusted, means, outcome.differ
    return [test(*row) for row in zip(*(each.tolist() for each in columns), strict=True)]


def n_patterns(n_units: int, resamples: int) -> int | None:
    """Count the sign patterns if there are no more than `resamples`; all of them are then used."""
    return 2**n_units if n_units < resamples.bit_length() else None


def _signs(n_units: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield all sign patterns if there are no more than `resamples`, otherwise random ones, in blocks."""
    number, rng = n_patterns(n_units, resamples), np.random.default_rng(seed)
    for start, rows in chunks(number or resamples, n_units):
        if number:
            bits = ((np.arange(start, start + rows)[:, None] >> np.arange(n_units)) & 1).astype(np.int8)
        else:
            packed = rng.integers(0, 256, size=(rows, -(-n_units // 8)), dtype=np.uint8)
            bits = np.unpackbits(packed, axis=1, count=n_units).view(np.int8)
        yield (1 - 2 * bits).astype(np.float64)
