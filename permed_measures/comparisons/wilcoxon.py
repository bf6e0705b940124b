"""Wilcoxon's signed-rank test, exact with ties too."""

from __future__ import annotations

import numpy as np

from permed_measures.comparisons.tests import SignificanceTest, direction_of
from permed_measures.intervals import Floats, Ints
from permed_measures.markup import counted

_MOST = 300
"""The p of more differences is approximated: exact, it would take more than a few hundredths of a second."""


def wilcoxon_test(differences: Floats) -> list[SignificanceTest]:
    """Compute the two-sided p-values of Wilcoxon's signed-rank test.

    Differences of 0 are dropped (scipy's ``zero_method="wilcox"``, its default). Differences are rounded to
    12 decimals before they are ranked, so that those that differ by rounding share a rank.

    The p-value is exact, ties or not, of up to 300 differences, and scipy's normal approximation beyond.

    Notes
    -----
    scipy is exact without ties up to 50 differences, and with ties up to 13; beyond, its normal approximation
    is too small: 14 gains and 5 losses of the same size have p = 0.0389 by it, and 0.0636 in truth.

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
    """Test differences that are not 0."""
    from scipy import stats

    n = len(values)
    ranks = np.rint(2 * stats.rankdata(np.abs(values))).astype(np.int64)  # doubled, so that all are whole
    positive = int(ranks[values > 0].sum())
    smaller = min(positive, n * (n + 1) - positive)
    is_exact = n <= _MOST
    p = _exact(ranks, smaller) if is_exact else stats.wilcoxon(values, method="asymptotic").pvalue
    how = "exact" if is_exact else "normal approximation"
    method = f"signed ranks of {counted(n, 'non-zero difference')}, {how}"
    direction = direction_of(2 * positive - n * (n + 1))
    return SignificanceTest(p=float(p), statistic=smaller / 2, direction=direction, method=method)


def _exact(ranks: Ints, smaller: int) -> float:
    """Return p of the smaller sum of doubled ranks: the chance of each sum up to it, rank by rank."""
    chance = np.zeros(smaller + 1)
    chance[0] = 1.0
    for rank in ranks.tolist():
        moved = np.zeros_like(chance)
        moved[rank:] = chance[: len(moved[rank:])]
        chance = (chance + moved) / 2
    return min(2 * float(chance.sum()), 1.0)
