"""The randomized Tukey HSD test: all pairs of runs at once, by shuffling the runs within each cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from permed_measures.statistics.max_t import critical_value
from permed_measures.statistics.significance import Floats, Ints

_EQUAL = 1e-9
_BLOCK = 1 << 21
"""Number of shuffled places in memory at a time."""


class TukeyHSD(NamedTuple):
    """The outcome of `tukey_hsd`."""

    adjusted: list[Floats]
    half: list[float]


def tukey_hsd(
    sums: list[Floats], pairs: list[tuple[int, int]], resamples: int, seed: int, level: float = 0.95
) -> TukeyHSD:
    r"""Adjust the p-values of all pairs of runs by the range of the shuffled runs.

    .. math:: T_{ab} = |\sum_c (S_{ca} - S_{cb})| / s, \quad
        s^2 = \frac{1}{R - 1} \sum_c \sum_r (S_{cr} - \bar S_c)^2

    with S_cr the sum of the values of run r in cluster c, of R runs. Under the null hypothesis all runs are
    exchangeable, so that they may be shuffled in each cluster, all its queries alike; T* is the range of the
    shuffled runs' sums over s, which shuffling does not change, and p = (1 + #{T* >= T}) / (1 + resamples).
    Of several arrays of sums, as of several measures, the largest T* of a shuffle counts.

    It is for all pairs of runs. Its null hypothesis is that *all* runs are alike: where some are much worse
    than the others, it finds less than `max_t`; where some vary much more, it finds too much (see the guide).

    Parameters
    ----------
    sums : list of ndarray of float64, shape (n_clusters, n_runs)
    pairs : list of (int, int)
        The runs of each pair.
    resamples, seed : int
    level : float
        Of the intervals.

    Returns
    -------
    TukeyHSD
        For each array the adjusted p-values of the pairs; and half the length of an interval of a difference
        of sums, which hold for all pairs at once.

    References
    ----------
    Carterette, Multiple Testing in Statistical Analysis of Systems-Based Information Retrieval Experiments,
    ACM TOIS 30(1), 2012; Sakai, Laboratory Experiments in Information Retrieval, 2018.

    Examples
    --------
    >>> sums = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.5], [1.0, 0.5, 0.0], [1.0, 0.2, 0.1]] * 3)
    >>> [p] = tukey_hsd([sums], [(0, 1), (1, 2)], resamples=999, seed=0).adjusted
    >>> p.round(3)
    array([0.001, 0.99 ])
    """
    scale = [_scale(each) for each in sums]
    n_clusters, n_runs = sums[0].shape
    orders = _shuffles(n_clusters, n_runs, resamples, seed)
    drawn = np.sort(np.concatenate([_ranges(sums, scale, order) for order in orders]))
    first, second = np.array(pairs).T
    adjusted = []
    for each, s in zip(sums, scale, strict=True):
        total = each.sum(axis=0)
        observed = np.abs(total[first] - total[second]) / s if s else np.zeros(len(pairs))
        count = len(drawn) - np.searchsorted(drawn, observed * (1 - _EQUAL))
        adjusted.append(np.where(observed > 0, (1 + count) / (1 + resamples), 1.0))
    critical = critical_value(drawn, False, level)
    return TukeyHSD(adjusted, [critical * s for s in scale])


def _scale(sums: Floats) -> float:
    """Return s: the root of the squares of the runs' sums less those of their cluster."""
    centred = sums - sums.mean(axis=1, keepdims=True)
    return float(np.sqrt((centred**2).sum() / (sums.shape[1] - 1)))


def _shuffles(n_clusters: int, n_runs: int, resamples: int, seed: int) -> Iterator[Ints]:
    """Yield orders of the runs in each cluster, in blocks; shape (n_shuffles, n_clusters, n_runs)."""
    rng, step = np.random.default_rng(seed), max(_BLOCK // (n_clusters * n_runs), 1)
    for start in range(0, resamples, step):
        shape = min(step, resamples - start), n_clusters, n_runs
        yield rng.random(shape, np.float32).argsort(axis=2)


def _ranges(sums: list[Floats], scale: list[float], order: Ints) -> Floats:
    """Return the largest range of each shuffle."""
    rows = np.arange(order.shape[1])[:, None]
    largest = np.zeros(len(order))
    for each, s in zip(sums, scale, strict=True):
        if s:
            np.maximum(largest, np.ptp(each[rows, order].sum(axis=1), axis=1) / s, out=largest)
    return largest
