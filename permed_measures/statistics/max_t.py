"""Step-down max-T: p-values corrected for many tests, and simultaneous intervals, from the same random signs.

The arrays are those of `significance`; see `max_t`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np

from permed_measures.statistics.resampling import Operands, n_patterns, signs_of, totals_of
from permed_measures.statistics.significance import (
    TIE,
    Estimate,
    Floats,
    Ints,
    blocks_of_columns,
    sums_of,
)

_EQUAL = 1e-9
"""Two statistics that differ by no more than this share count as equal: the difference is rounding."""


class Columns(NamedTuple):
    """What max-T needs of the differences.

    Attributes
    ----------
    total, squares, cross : ndarray of float64, shape (n_columns,)
        Of the sums of the clusters: their sum, that of their squares, that of their products with the sizes.
    n_queries : ndarray of float64, shape (n_columns,)
        The sizes of the clusters, added up.
    sizes : ndarray of float64, shape (n_columns,)
        The squares of the sizes, added up.
    parts : ndarray of float64, shape (n_clusters, n_values)
        The sums of the clusters of what a column is the difference of.
    first, second : ndarray of int64, shape (n_columns,)
        Column i is ``parts[:, first[i]] - parts[:, second[i]]``; ``parts[:, first[i]]`` where second is -1.
    """

    total: Floats
    squares: Floats
    cross: Floats
    n_queries: Floats
    sizes: Floats
    parts: Floats
    first: Ints
    second: Ints

    @classmethod
    def of(
        cls,
        differences: Floats,
        cluster: Ints,
        operands: Operands | None = None,
        n_clusters: int = 0,
    ) -> Self:
        """Sum the differences of each cluster; of `n_clusters` some may have no query here."""
        sizes = np.bincount(cluster, minlength=n_clusters).astype(np.float64)
        moments = []
        for block in blocks_of_columns(differences):
            sums = sums_of(block, cluster, len(sizes))
            moments.append(np.stack([sums.sum(axis=0), (sums**2).sum(axis=0), sizes @ sums]))
        total, squares, cross = np.concatenate(moments, axis=1)
        n = differences.shape[1]
        values = differences if operands is None else operands.values
        return cls(
            total,
            np.where(squares <= TIE**2 * len(differences), 0.0, squares),
            cross,
            np.full(n, sizes.sum()),
            np.full(n, (sizes**2).sum()),
            sums_of(values, cluster, len(sizes)),
            np.arange(n) if operands is None else operands.first,
            np.full(n, -1) if operands is None else operands.second,
        )

    @classmethod
    def joined(cls, several: list[Self]) -> Self:
        """Put the columns of several sets of queries, with the same clusters, beside each other."""
        starts = np.cumsum([0, *(each.parts.shape[1] for each in several)])
        moved = [
            each._replace(first=each.first + start, second=np.where(each.second < 0, -1, each.second + start))
            for each, start in zip(several, starts, strict=False)
        ]
        return cls(*(np.concatenate(arrays, axis=-1) for arrays in zip(*moved, strict=True)))

    def chosen(self, columns: Ints) -> Self:
        """Return some of the columns."""
        return self._replace(
            **{name: each[columns] for name, each in self._asdict().items() if name != "parts"}
        )

    @property
    def statistic(self) -> Floats:
        """The sum over the root of the sum of squares, without sign; it grows with that of the t-test."""
        scale = np.sqrt(self.squares)
        return np.divide(np.abs(self.total), scale, out=np.zeros_like(scale), where=scale > 0)


class MaxT(NamedTuple):
    """The outcome of `max_t`: the adjusted p of each column, and the critical value of the intervals."""

    adjusted: Floats
    critical: float


def max_t(columns: Columns, resamples: int, seed: int, level: float = 0.95) -> MaxT:
    r"""Adjust the p-values of the randomization test by step-down max-T.

    .. math:: T_i = \frac{|\sum_c S_{ic}|}{\sqrt{\sum_c S_{ic}^2}}

    with S_ic the sum of the differences of column i in cluster c. Random signs of whole clusters give T* to
    all columns at once; the adjusted p of the column with the largest T is the share of patterns in which
    the largest T* of all columns is as large; that of the second, in which the largest T* of all but the
    first is; and so on, none smaller than the one before. All patterns are used where there are no more than
    `resamples`; otherwise p = (1 + count) / (1 + resamples).

    It holds the probability of any false rejection (the family-wise error rate), as Holm's does, but knows
    how the columns depend on each other, and its smallest p is not multiplied by their number.

    The critical value is that of the largest T* of all columns, at the level: `simultaneous_intervals`.

    References
    ----------
    Westfall & Young, Resampling-Based Multiple Testing, 1993, algorithm 2.8; in retrieval: Boytsov, Belova &
    Westfall, Deciding on an Adjustment for Multiplicity in IR Experiments, SIGIR 2013.

    Examples
    --------
    >>> d = np.array([[1.0, 2.0], [1.0, 1.0], [2.0, -1.0], [1.0, 3.0], [2.0, 0.0]])
    >>> max_t(Columns.of(d, np.arange(5)), resamples=10_000, seed=0).adjusted
    array([0.0625, 0.375 ])
    """
    statistic = columns.statistic
    number = n_patterns(len(columns.parts), resamples)
    extreme = np.zeros(len(statistic), np.int64)
    order = np.argsort(statistic, kind="stable")
    order = order[columns.squares[order] > 0]
    largest = [
        _count_extreme(columns, order, products, statistic * (1 - _EQUAL), extreme)
        for products in _products(columns.parts, resamples, seed)
    ]
    p = extreme / number if number else (1 + extreme) / (1 + resamples)
    adjusted = np.ones(len(statistic))
    adjusted[order[::-1]] = np.maximum.accumulate(p[order[::-1]])
    return MaxT(adjusted, _critical(np.concatenate(largest), number is not None, level))


def _products(parts: Floats, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield what random signs give for the parts, in blocks of patterns; shape (n_values, n_patterns)."""
    for signs in signs_of(len(parts), resamples, seed):
        yield np.ascontiguousarray(totals_of(signs, parts).T)


def _count_extreme(columns: Columns, order: Ints, products: Floats, least: Floats, extreme: Ints) -> Floats:
    """Count the patterns in which a column, or one of a smaller T, is extreme; return the largest T*."""
    highest = np.zeros(products.shape[1])
    drawn, scale = np.empty_like(highest), np.sqrt(columns.squares)
    for column in order.tolist():  # rows of products are contiguous and small: so this is quick
        first, second = products[columns.first[column]], columns.second[column]
        np.subtract(first, products[second] if second >= 0 else 0.0, out=drawn)
        np.abs(drawn, out=drawn)
        drawn /= scale[column]
        np.maximum(highest, drawn, out=highest)
        extreme[column] += np.count_nonzero(highest >= least[column])
    return highest


def _critical(largest: Floats, exact: bool, level: float) -> float:
    """Return the value that T exceeds where its p, by the largest T* of all columns, is below 1 - level."""
    alpha = round(1 - level, 12)
    patterns = len(largest) if exact else len(largest) + 1
    allowed = math.ceil(alpha * patterns - TIE) - (1 if exact else 2)
    return math.inf if allowed < 0 else float(np.sort(largest)[::-1][allowed]) / (1 - _EQUAL)


def simultaneous_intervals(columns: Columns, outcome: MaxT, level: float = 0.95) -> list[Estimate]:
    """Compute intervals of the mean differences that hold for all columns at once.

    They hold the values that the test would not reject: a difference δ is in the interval where T, of the
    differences less δ, is the critical value c of `max_t` at most. So an interval excludes 0 where the
    largest T* of all columns makes the column significant at the level. Where only a later step of max-T
    does, it ends at 0, so that interval and p never contradict each other.

    There is none where c² is as large as the effective number of clusters, (Σ n)² / Σ n² of their sizes.

    References
    ----------
    Westfall & Young 1993, section 2.2; the interval of a ratio by solving for it: Fieller 1954.
    """
    c2 = outcome.critical**2
    needed = "more, and more equal, clusters or more resamples"
    missing = Estimate(None, f"a simultaneous interval of so many differences needs {needed}")
    if not math.isfinite(c2):
        return [Estimate((0.0, 0.0)) if not squares else missing for squares in columns.squares]
    # (total - n δ)² <= c² Σ (S - size δ)²: a δ² - 2 b δ + e <= 0
    a = columns.n_queries**2 - c2 * columns.sizes
    b = columns.total * columns.n_queries - c2 * columns.cross
    e = columns.total**2 - c2 * columns.squares
    root = np.sqrt(np.maximum(b**2 - a * e, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (b - root) / a, (b + root) / a
    rejected = outcome.adjusted < round(1 - level, 12)
    found = []
    for column, squares in enumerate(columns.squares):
        if not squares:
            found.append(Estimate((0.0, 0.0)))
        elif a[column] <= 0:
            found.append(missing)
        else:
            bounds = float(low[column]), float(high[column])
            found.append(Estimate(_agreeing(bounds, columns.total[column] > 0, bool(rejected[column]))))
    return found


def _agreeing(bounds: tuple[float, float], positive: bool, rejected: bool) -> tuple[float, float]:
    """Let an interval end at 0 where it would contradict its p-value."""
    low, high = bounds
    if not rejected:
        return min(low, 0.0), max(high, 0.0)
    return (max(low, 0.0), high) if positive else (low, min(high, 0.0))
