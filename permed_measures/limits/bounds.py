"""Bounds on means, given what others are: each is a certificate, which holds whatever a run may be.

The means of a row over all runs lie in a convex set, if each class of queries may have any mixture of
rankings. A linear programme over some runs finds the weighted sum of measures that says most about a bound;
the best rankings for that sum give a bound that holds, and a run with which the programme goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.limits.best_rankings import BestRankings

Floats = NDArray[np.float64]

_DEAREST = 100.0
"""What it costs in the programme if a mean lies outside its interval; as much as weights can be."""
_NOISE = 1e-11
"""What sums of products may be off by, for each unit of their weights."""
_ROUNDS = 60
_TOGETHER = 100
"""How many problems share a programme."""
_COARSE, _FINE = 4.0, 0.02
"""How many units of the last digit an end of a range may be off, and where it matters."""


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


class Bounds(NamedTuple):
    """What the means of the measures of a row can be.

    Attributes
    ----------
    alone : list of Interval
        The range of each measure, whatever the others are.
    given : list of Interval
        The range of each, where the others lie in their intervals.
    """

    alone: list[Interval]
    given: list[Interval]


class Problem(NamedTuple):
    """The measures of a row, and what is said of them.

    Attributes
    ----------
    rankings : BestRankings
    intervals : list of Interval
        Where the mean of each measure is said to lie.
    units : list of float
        The last digit of each mean as it is printed: the ends of ranges may be a few units too far out, but
        not where that matters to whether the mean may lie in its interval.
    """

    rankings: BestRankings
    intervals: list[Interval]
    units: list[float]


def bounds_of(problems: Sequence[Problem]) -> list[Bounds]:
    """Bound each mean, alone and given the others, of several rows or conventions at a time."""
    searches = [_Search(problem) for problem in problems]
    for _ in range(_ROUNDS):
        active = [search for search in searches if search.open]
        for start in range(0, len(active), _TOGETHER):
            some = active[start : start + _TOGETHER]
            for search, answers in zip(some, _mixtures(some), strict=True):
                search.go_on(*answers)
    return [search.bounds for search in searches]


class _Question(NamedTuple):
    """The most (sign 1) or the least (sign -1) that a measure can be."""

    measure: int
    sign: int


class _Search:
    """The bounds of a problem, and the means of runs that were seen; each round makes the bounds tighter."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.n = problem, len(problem.intervals)
        directions = np.vstack([np.eye(self.n), -np.eye(self.n)])
        first = problem.rankings.best(directions)
        self.seen = np.unique(first.means, axis=0)
        questions = [_Question(j, sign) for sign in (1, -1) for j in range(self.n)]
        self.best = dict(zip(questions, (first.sums + _NOISE).tolist(), strict=True))
        self._alone = self._intervals()
        self.open = sorted(self.best) if self.n > 1 else []

    @property
    def bounds(self) -> Bounds:
        """What is known."""
        return Bounds(self._alone, self._intervals())

    def _intervals(self) -> list[Interval]:
        ends = ((self.best[_Question(j, -1)], self.best[_Question(j, 1)]) for j in range(self.n))
        return [Interval(-low, high) for low, high in ends]

    def go_on(self, weights: Floats, reached: list[float]) -> None:
        """Bound the open questions by the weights that mixtures of the runs seen ask for."""
        found = self.problem.rankings.best(weights)
        for question, of_question, total in zip(self.open, weights, found.sums.tolist(), strict=True):
            self.best[question] = min(self.best[question], self._bound(question, of_question, total))
        self.open = [
            question
            for question, value in zip(self.open, reached, strict=True)
            if self._in_doubt(question, Interval(value, self.best[question]))
        ]
        self.seen = np.unique(np.vstack([self.seen, found.means]), axis=0)

    def _bound(self, question: _Question, weights: Floats, total: float) -> float:
        """Return the bound by these weights: the others are worth no less than at the worse end of each."""
        for j, (weight, interval) in enumerate(zip(weights.tolist(), self.problem.intervals, strict=True)):
            if j != question.measure:
                total += max(-weight * interval.low, -weight * interval.high)
        return total + _NOISE * float(1 + np.abs(weights).sum())

    def _in_doubt(self, question: _Question, answer: Interval) -> bool:
        """Return whether an answer, known to lie between two ends, must be known better."""
        unit, interval = self.problem.units[question.measure], self.problem.intervals[question.measure]
        doubt = answer.high - answer.low
        end = interval.low if question.sign > 0 else -interval.high
        return doubt > _COARSE * unit or (doubt > _FINE * unit and answer.low < end <= answer.high)


def _mixtures(searches: list[_Search]) -> list[tuple[Floats, list[float]]]:
    """Answer the open questions as well as mixtures of the runs seen can, by one linear programme.

    Returns the prices of the other measures as weights, and the answers, for each search.
    """
    from scipy.optimize import linprog
    from scipy.sparse import block_diag, coo_array

    rows, limits, costs, sums = [], [], [], []
    for search in searches:
        n_others = 2 * (search.n - 1)
        for measure, sign in search.open:
            others = [j for j in range(search.n) if j != measure]
            inside = search.seen[:, others].T
            rows.append(np.hstack([np.vstack([inside, -inside]), -np.eye(n_others)]))
            limits += [search.problem.intervals[j].high for j in others]
            limits += [-search.problem.intervals[j].low for j in others]
            costs.append(np.concatenate([-sign * search.seen[:, measure], np.full(n_others, _DEAREST)]))
            sums.append(np.concatenate([np.ones(len(search.seen)), np.zeros(n_others)])[None])
    solved = linprog(
        np.concatenate(costs),
        A_ub=block_diag([*map(coo_array, rows)], format="csc"),
        b_ub=limits,
        A_eq=block_diag([*map(coo_array, sums)], format="csc"),
        b_eq=np.ones(len(sums)),
        method="highs-ds",
    )
    prices, shares = iter(solved.ineqlin.marginals), iter(solved.x)
    cost = iter(costs)
    return [_weights_and_answers(search, prices, shares, cost) for search in searches]


def _weights_and_answers(
    search: _Search, prices: Iterator[float], shares: Iterator[float], costs: Iterator[Floats]
) -> tuple[Floats, list[float]]:
    """Take what belongs to a search from the solution."""
    weights, answers = np.empty((len(search.open), search.n)), []
    for question, row in zip(search.open, weights, strict=True):
        price = np.fromiter(islice(prices, 2 * (search.n - 1)), np.float64).reshape(2, -1)
        row[[j for j in range(search.n) if j != question.measure]] = price[0] - price[1]
        row[question.measure] = question.sign
        cost = next(costs)
        answers.append(-float(cost @ np.fromiter(islice(shares, len(cost)), np.float64)))
    return weights, answers
