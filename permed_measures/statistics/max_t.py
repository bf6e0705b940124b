"""Step-down max-T: p-values corrected for many tests, and how long their intervals are, from the same signs.

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
    total, squares : ndarray of float64, shape (n_columns,)
        Of the sums of the clusters: their sum, and that of their squares.
    parts : ndarray of float64, shape (n_clusters, n_values)
        The sums of the clusters of what a column is the difference of.
    first, second : ndarray of int64, shape (n_columns,)
        Column i is ``parts[:, first[i]] - parts[:, second[i]]``; ``parts[:, first[i]]`` where second is -1.
    """

    total: Floats
    squares: Floats
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
        n_clusters = max(n_clusters, int(cluster.max()) + 1)
        moments = []
        for block in blocks_of_columns(differences):
            sums = sums_of(block, cluster, n_clusters)
            moments.append(np.stack([sums.sum(axis=0), (sums * sums).sum(axis=0)]))
        total, squares = np.concatenate(moments, axis=1)
        n = differences.shape[1]
        values = differences if operands is None else operands.values
        return cls(
            total,
            np.where(squares <= TIE**2 * len(differences), 0.0, squares),
            sums_of(values, cluster, n_clusters),
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
    """The outcome of `max_t`: adjusted p-values, the critical value of intervals, if all signs are used."""

    adjusted: Floats
    critical: float
    exact: bool


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

    The critical value is that of the largest T* of all columns, at the level: intervals of so many standard
    errors (`as_student`, `intervals.bounds`) hold for all columns at once (Westfall & Young, section 2.2).

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
    exact = number is not None
    return MaxT(adjusted, critical_value(np.concatenate(largest), exact, level), exact)


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


def critical_value(largest: Floats, exact: bool, level: float) -> float:
    """Return the value that T exceeds where its p, by the largest T* of all columns, is below 1 - level."""
    alpha = round(1 - level, 12)
    patterns = len(largest) if exact else len(largest) + 1
    allowed = math.ceil(alpha * patterns - TIE) - (1 if exact else 2)
    return math.inf if allowed < 0 else float(np.sort(largest)[::-1][allowed]) / (1 - _EQUAL)


def as_student(critical: float, n_units: int) -> float:
    """Return the t of so many units that a critical value of T stands for.

    Without clusters, T = c where t = c * sqrt((n - 1) / (n - c²)); no t is as large where c² is n or more.

    >>> round(as_student(2.0, 50), 4)
    2.0642
    """
    left = n_units - critical**2
    return critical * math.sqrt((n_units - 1) / left) if left > 0 else math.inf
