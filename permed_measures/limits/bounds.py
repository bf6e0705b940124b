"""What means can be together, whatever a run may be: every bound is a certificate.

The means of a row over all runs lie in a convex set, if each class of queries may have any mixture of
rankings. A linear programme over some runs asks for the mixture that comes nearest to the numbers of a row;
its dual is the weighted sum of measures that keeps these runs most away from them. The best rankings for that
sum either show that no run comes near enough, or are a run with which the programme goes on (column
generation: Dantzig and Wolfe, 1960).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.limits.rankings import Rankings

Floats = NDArray[np.float64]

_NOISE = 1e-11
"""What sums of products may be off by, for each unit of their weights."""
_NEAR = 1e-10
"""A mixture that misses the numbers by less has them."""
_DEAREST = 100.0
"""What it costs in a programme if a mean lies outside its interval; as much as weights can be."""
_ROUNDS = 40
_COARSE, _FINE = 4.0, 0.02
"""How many units of the last digit an end of a range may be off, and where it matters."""
_PROGRAMME = 300_000
"""As many documents could be placed in the time that a linear programme takes."""


class Interval(NamedTuple):
    """From the least to the most; with the least above the most there is nothing between."""

    low: float
    high: float

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing between."""
        return self.low > self.high

    def meets(self, other: Interval) -> bool:
        """Return whether any number is in both."""
        return not self.is_empty and self.low <= other.high and other.low <= self.high


class _Nearest(NamedTuple):
    """The answer of a programme: the weights of its dual, the value, and by how much intervals are missed."""

    weights: Floats
    value: float
    missed: float


class Search:
    """The means of some runs, and what follows from them of all runs.

    Parameters
    ----------
    rankings : Rankings
    intervals : list of Interval
        Where the mean of each measure is said to lie.

    Attributes
    ----------
    effort : float
        How much may still be computed: documents to place, which says it on every machine alike.
    """

    def __init__(self, rankings: Rankings, intervals: list[Interval]) -> None:
        self.rankings, self.n = rankings, len(intervals)
        self.effort = np.inf
        self.low, self.high = np.array(intervals).T
        self.seen = np.empty((0, self.n))

    def refuted(self, effort: float = np.inf) -> bool | None:
        """Return whether no run has its means in the intervals; None if the effort was spent before."""
        self.effort, nothing = effort, np.zeros(self.n)
        self._most(np.vstack([np.eye(self.n), -np.eye(self.n)]))
        for nearest in self._rounds(nothing, 1.0):
            if nearest.missed < _NEAR:
                return False
            if self._beyond(nearest.weights, nothing) < 0:
                return True
        return None if self.effort <= 0 else False

    def ranges(self, units: list[float], effort: float = np.inf) -> list[Interval]:
        """Bound each mean given that the others lie in their intervals.

        Parameters
        ----------
        units : list of float
            The last digit of each mean as it is printed: the ends of ranges may be a few units too far out,
            but not where that matters to whether the mean may lie in its interval.
        effort : float
            Each end may take an equal part of it; what takes more is wider.
        """
        share, found = effort / (2 * self.n), []
        for j, unit in enumerate(units):
            low, high = (self._end(j, sign, unit, share) for sign in (-1, 1))
            found.append(Interval(-low, high))
        return found

    def _end(self, j: int, sign: int, unit: float, effort: float) -> float:
        """Return the most that a mean, or its negative, is where the others lie in their intervals."""
        self.effort, wanted = effort, sign * np.eye(self.n)[j]
        mine, least = self.low[j] if sign > 0 else -self.high[j], float(self._most(wanted[None])[0])
        for nearest in self._rounds(wanted, _DEAREST):
            least = min(least, self._beyond(nearest.weights, wanted))
            in_doubt, matters = least - nearest.value, nearest.value < mine <= least
            if in_doubt <= _COARSE * unit and (in_doubt <= _FINE * unit or not matters):
                break
        return least

    def _rounds(self, wanted: Floats, dearest: float) -> Iterator[_Nearest]:
        """Yield the answers of programmes, each over more runs, while there is effort and any new one."""
        for _ in range(_ROUNDS):
            n_seen = len(self.seen)
            if self.effort > 0:
                yield self._programme(wanted, dearest)
            if n_seen == len(self.seen):
                return

    def _beyond(self, weights: Floats, wanted: Floats) -> float:
        """Return the most of a sum where the others lie in their intervals, as a weighted sum proves it.

        For a sum of nothing less than 0 is a contradiction: no run has its means in the intervals.
        """
        others = weights - wanted
        [most] = self._most(weights[None]).tolist()
        return float(most + np.maximum(-others * self.low, -others * self.high).sum())

    def _most(self, weights: Floats) -> Floats:
        """Return the largest weighted sums of means of any run, and keep the means of these runs."""
        sums, found = self.rankings.best(weights)
        self.effort -= self.rankings.n_steps * len(weights)
        self.seen = np.unique(np.vstack([self.seen, found]), axis=0)
        most: Floats = sums + _NOISE * (1 + np.abs(weights).sum(axis=1))
        return most

    def _programme(self, wanted: Floats, dearest: float) -> _Nearest:
        """Find the mixture of the runs seen that has the largest sum and misses the intervals least.

        Parameters
        ----------
        wanted : ndarray, shape (n_measures,)
            The weights of the sum; the intervals of measures in it do not count.
        dearest : float
            What it costs to miss an interval.
        """
        from scipy.optimize import linprog

        self.effort -= _PROGRAMME
        given = np.flatnonzero(wanted == 0)
        inside, outside = self.seen[:, given].T, np.eye(2 * len(given))
        cost = np.concatenate([-self.seen @ wanted, np.full(len(outside), dearest)])
        solved = linprog(
            cost,
            A_ub=np.hstack([np.vstack([inside, -inside]), -outside]),
            b_ub=np.concatenate([self.high[given], -self.low[given]]),
            A_eq=np.concatenate([np.ones(len(self.seen)), np.zeros(len(outside))])[None],
            b_eq=[1.0],
            method="highs-ds",
        )
        above, below = solved.ineqlin.marginals.reshape(2, -1)
        weights = wanted.copy()
        weights[given] = above - below
        return _Nearest(weights, -float(solved.fun), float(solved.x[len(self.seen) :].sum()))
