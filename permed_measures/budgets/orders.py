"""How sure the order of several runs is: pairs that keep it, the range of each run's rank, Kendall's tau.

Arrays in, numbers out. Draws are values of runs on resampled topics or redrawn labels, shape (n_draws,
n_runs): all runs share a draw. Ranges are what each run may have at least and at most, whatever others have.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from permed_measures.budgets.gradings import Floats

SAME = 1e-12
"""Values that differ by no more are the same."""

Ranks = list[tuple[int, int]]


def pairs_of(values: Floats) -> list[tuple[int, int]]:
    """Return all pairs of runs, the better one first; of equal ones the earlier.

    Examples
    --------
    >>> pairs_of(np.array([0.2, 0.5, 0.5]))
    [(1, 0), (2, 0), (1, 2)]
    """
    pairs = combinations(range(len(values)), 2)
    return [(a, b) if values[a] >= values[b] else (b, a) for a, b in pairs]


def kept_by_draws(draws: Floats, pairs: list[tuple[int, int]]) -> list[float]:
    """Return in what share of the draws the first run of each pair is above the second."""
    return [float((draws[:, a] - draws[:, b] > SAME).mean()) for a, b in pairs]


def kept_by_ranges(low: Floats, high: Floats, pairs: list[tuple[int, int]]) -> list[float | None]:
    """Return 1 for each pair whose ranges are apart; None where they meet, as nothing says how often."""
    return [1.0 if low[a] - high[b] > SAME else None for a, b in pairs]


def places(values: Floats) -> NDArray[np.int64]:
    """Return the place of each run, from 1; runs with the same value share the best; shape as `values`."""
    above = values[..., None, :] - values[..., :, None] > SAME
    found: NDArray[np.int64] = 1 + above.sum(axis=-1)
    return found


def ranks_by_draws(draws: Floats, level: float) -> Ranks:
    """Return the best and the worst place of each run, without the most extreme draws beyond the level."""
    bounds = np.quantile(
        places(draws), [(1 - level) / 2, (1 + level) / 2], axis=0, method="inverted_cdf"
    ).astype(int)
    return list(zip(*bounds.tolist(), strict=True))


def ranks_by_ranges(low: Floats, high: Floats) -> Ranks:
    """Return the best and the worst place that each run may have."""
    n = len(low)
    best = 1 + (low[None, :] - high[:, None] > SAME).sum(axis=1)
    worst = n - (low[:, None] - high[None, :] > SAME).sum(axis=1)
    return list(zip(best.tolist(), worst.tolist(), strict=True))


def tau_of_draws(values: Floats, draws: Floats) -> float:
    """Return the mean of Kendall's tau between the order of the values and that of each draw.

    It is the share of pairs in the same order less that of pairs in the reverse one; a tie is neither.

    References
    ----------
    Kendall, A New Measure of Rank Correlation, Biometrika 30, 1938.

    Examples
    --------
    >>> tau_of_draws(np.array([3.0, 2.0, 1.0]), np.array([[3.0, 2.0, 1.0], [3.0, 1.0, 2.0]])).__round__(4)
    0.6667
    """
    first, second = np.triu_indices(len(values), 1)
    agreed = _sign(values[first] - values[second]) * _sign(draws[:, first] - draws[:, second])
    return float(agreed.mean())


def least_tau(values: Floats, kept: Sequence[float | None]) -> float:
    """Return the tau if all pairs whose ranges meet were in the reverse order."""
    first, second = np.triu_indices(len(values), 1)
    apart = np.array([share == 1 for share in kept])
    agreed = np.where(apart, 1.0, -np.abs(_sign(values[first] - values[second])))
    return float(agreed.mean())


def _sign(difference: Floats) -> Floats:
    return np.where(np.abs(difference) <= SAME, 0.0, np.sign(difference))
