"""Bound the means that any run can have together; every bound is a proof.

The means of all runs form a convex set, if each class of queries may have any mixture of rankings. A linear
programme over the runs seen so far finds the mixture that is nearest to the numbers of a row. Its dual is the
weighted sum of measures that best separates these runs from the numbers. The best rankings for that sum
either prove that no run reaches the numbers, or they are a new run for the next programme (column generation:
Dantzig and Wolfe, 1960).

The best ranking for a weighted sum is found by dynamic programming, from the last rank up to rank 1. A state
is the number of documents of each grade above a rank: the order of these does not change what can follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from permed_measures.arrays import Floats, Ints
from permed_measures.feasibility.formulas import Formula, PrefixCounts, QueryClasses
from permed_measures.tolerances import NEAREST_POINT, PROGRAMME

MOST_STEPS = 500_000
"""Maximum number of transitions (documents placed, over all ranks and states): more take too long."""
_USUAL_DEPTH = 20
"""Number of ranks that are searched one by one if several measures have no cutoff."""


class _Lists(NamedTuple):
    """The states of lists for all classes of queries, short lists before longer ones.

    Attributes
    ----------
    of_class : ndarray, shape (n_states,)
        The class of queries of each state.
    used : ndarray, shape (n_states, n_grades)
        The number of documents of each grade in the list.
    after : ndarray, shape (n_grades, n_states)
        The state after one more document of a grade; -1 if none is left, or the list is full.
    start : ndarray, shape (n_classes,)
        The states of empty lists.
    n_within : ndarray, shape (depth,)
        For each length below the depth, the number of states with at most that many documents.
    """

    of_class: Ints
    used: Ints
    after: Ints
    start: Ints
    n_within: Ints


@dataclass(frozen=True, eq=False)
class Rankings:
    """All rankings of the judged queries, scored by the measures of a row.

    Attributes
    ----------
    lists : _Lists
    values : list of ndarray, shape (n_measures, n_grades, n_states)
        For each rank, what a document there adds to the measures after each state.
    tails : ndarray, shape (n_measures, n_states)
        The maximum that ranks below the depth add; the minimum is 0.
    shares : ndarray, shape (n_classes,)
        The maximum weight of each class in the mean.
    """

    lists: _Lists
    values: list[Floats]
    tails: Floats
    shares: Floats

    def with_share(self, share: float) -> Rankings:
        """Allow means over a subset of the queries that has at least a share of them."""
        return replace(self, shares=self.shares / share)

    @classmethod
    def of(cls, classes: QueryClasses, formulas: Sequence[Formula]) -> Rankings | None:
        """Prepare the rankings for some measures; None if there are too many states."""
        depth, minimum = depth_of(formulas), _last_negative_rank(formulas)
        while depth >= minimum:
            limits, like = _merge_grades(classes, formulas, depth)
            if _n_states(limits, depth) * depth * len(classes.grades) <= MOST_STEPS:
                return _build_rankings(classes, formulas, limits, like, depth)
            depth -= 1 + depth // 10
        return None

    @property
    def n_steps(self) -> int:
        """The number of transitions for one direction, over all ranks and states."""
        return sum(values[0].size for values in self.values)

    def best(self, directions: Floats) -> tuple[Floats, Floats]:
        """Maximize weighted sums of means over all rankings.

        Parameters
        ----------
        directions : ndarray, shape (n_directions, n_measures)
            The weight of each measure.

        Returns
        -------
        ndarray, shape (n_directions,)
            The largest sums.
        ndarray, shape (n_directions, n_measures)
            The means of rankings that reach them.
        """
        best = self._search_backwards(directions)
        largest = best[0][self.lists.start].T
        shares = self._best_shares(largest)
        sums: Floats = (shares * largest).sum(axis=1)
        return sums, np.einsum("dc,dcm->dm", shares, self._trace_best(directions, best))

    def _best_shares(self, largest: Floats) -> Floats:
        """Weigh the classes for the largest mean: the best classes get their maximum share first."""
        order = np.argsort(-largest, axis=1, kind="stable")
        before = np.cumsum(self.shares[order], axis=1) - self.shares[order]
        shares = np.empty_like(largest)
        np.put_along_axis(shares, order, np.clip(1 - before, 0, self.shares[order]), axis=1)
        return shares

    def _search_backwards(self, directions: Floats) -> list[Floats]:
        """Compute the maximum that can follow each state, from the last rank to the first.

        Returns
        -------
        list of ndarray, shape (n_states + 1, n_directions)
            One for each rank, from the first, and one for the ranks below the depth. The last row is -inf: it
            stands for "no such state".
        """
        best = [_with_impossible_state(self.tails.T @ np.maximum(directions, 0).T)]
        for values in reversed(self.values):
            follows, n_states = best[-1], values.shape[2]
            maximum = follows[:n_states].copy()
            for g, after in enumerate(self.lists.after[:, :n_states]):
                np.maximum(maximum, values[:, g].T @ directions.T + follows[after], out=maximum)
            best.append(_with_impossible_state(maximum))
        return best[::-1]

    def _trace_best(self, directions: Floats, best: list[Floats]) -> Floats:
        """Follow the best lists and sum their measures, by direction and class."""
        state = np.tile(self.lists.start, (len(directions), 1))
        total = np.zeros((*state.shape, directions.shape[1]))
        rows = np.arange(len(directions))[:, None]
        for values, follows in zip(self.values, best[1:], strict=True):
            step = np.zeros_like(total)
            maximum, before = follows[state, rows], state
            for g in range(values.shape[1]):
                after = self.lists.after[g, before]
                added = values[:, g][:, before].transpose(1, 2, 0)
                other = follows[after, rows] + (added @ directions[:, :, None])[..., 0]
                better = other > maximum
                np.copyto(step, added, where=better[..., None])
                maximum, state = np.where(better, other, maximum), np.where(better, after, state)
            total += step
        total += np.where(directions[:, None, :] > 0, self.tails.T[state], 0)
        return total


class RankRange(NamedTuple):
    """The ranks at which a measure counts documents, and whether one may lower it."""

    cutoff: int | None
    has_negative_weights: bool

    @classmethod
    def of(cls, formula: Formula) -> RankRange:
        """Return the ranks of a formula."""
        return cls(formula.cutoff, formula.has_negative_weights)


def depth_of(formulas: Sequence[Formula | RankRange]) -> int:
    """Count the ranks that must be searched one by one.

    Below them only one measure may still grow, and no document may lower it: that part is bounded by itself.
    """
    ends = sorted(np.inf if formula.cutoff is None else formula.cutoff for formula in formulas)
    deepest = max([*ends[-2:-1], _last_negative_rank(formulas)])
    if deepest == np.inf:
        deepest = max([end for end in ends if end < np.inf], default=_USUAL_DEPTH)
    return int(deepest)


def _last_negative_rank(formulas: Sequence[Formula | RankRange]) -> int:
    """Return the last rank at which a document may lower a measure, at least 1."""
    cutoffs = (formula.cutoff for formula in formulas if formula.has_negative_weights and formula.cutoff)
    return max([1, *cutoffs])


# --- states --------------------------------------------------------------------------------


def _merge_grades(classes: QueryClasses, formulas: Sequence[Formula], depth: int) -> tuple[Ints, Ints]:
    """Count the documents of each class, with grades merged where they need no states of their own.

    Two grades are merged if both are relevant to the same measures and each has enough documents to fill all
    ranks. If a measure goes on below these ranks, both must also have the same weight in it.

    Returns
    -------
    ndarray, shape (n_classes, n_grades)
        The number of documents of each grade, at most the depth; 0 for a grade merged into another.
    ndarray, shape (n_classes, n_grades)
        The grade that each grade is merged into.
    """
    properties = [classes.grades >= formula.level for formula in formulas]
    properties += [np.array(formula.weights) for formula in formulas if formula.slots_below(depth)]
    alike = np.all([np.equal.outer(values, values) for values in properties], axis=0)
    no_effect = np.all([formula.grades_without_effect(classes.grades) for formula in formulas], axis=0)
    limits = np.where(no_effect, 0, np.minimum(classes.counts, depth))
    full = limits == depth
    together = (alike & full[:, :, None] & full[:, None, :]) | np.eye(len(alike), dtype=np.bool_)
    like = together.argmax(axis=1)
    return np.where(like == np.arange(len(alike)), limits, 0), like


def _n_states(limits: Ints, depth: int) -> float:
    """Count the states of the lists."""
    total = 0.0
    for row in limits.tolist():
        ways = np.ones(1)  # by the number of documents
        for limit in row:
            ways = np.convolve(ways, np.ones(limit + 1))[: depth + 1]
        total += ways.sum()
    return total


@lru_cache(maxsize=4096)
def _grid(limits: tuple[int, ...], maximum: int) -> tuple[Ints, Ints]:
    """Enumerate the states of one class: counts by grade up to their limits, `maximum` in all.

    The second array has the state after one more document of each grade; -1 if that is beyond a limit.
    """
    used = np.zeros((1, 0), np.int64)
    for limit in limits:
        used = np.concatenate(
            [np.column_stack([used, np.full(len(used), n)]) for n in range(min(limit, maximum) + 1)]
        )
        used = used[used.sum(axis=1) <= maximum]
    steps = np.cumprod([1, *(min(limit, maximum) + 2 for limit in limits[:-1])])
    codes = used @ steps  # ascending, as the last grade changes last
    wanted = codes[:, None] + steps
    index = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    return used, np.where(codes[index] == wanted, index, -1)


def _lists(limits: Ints, like: Ints, depth: int) -> _Lists:
    """Enumerate the states of the lists of all classes."""
    grids = [_grid(tuple(row), depth) for row in limits.tolist()]
    sizes = np.array([len(used) for used, _ in grids])
    first = np.cumsum(sizes) - sizes
    of_class = np.repeat(np.arange(len(grids)), sizes)
    used, after = (np.concatenate(arrays) for arrays in zip(*grids, strict=True))
    after = np.take_along_axis(
        np.where(after == -1, -1, after + first[of_class][:, None]), like[of_class], axis=1
    )
    order = np.argsort(used.sum(axis=1), kind="stable")
    number = np.append(np.argsort(order), -1)
    n_within = np.searchsorted(used.sum(axis=1)[order], np.arange(depth), "right")
    return _Lists(of_class[order], used[order], number[after[order]].T.copy(), number[first], n_within)


def _build_rankings(
    classes: QueryClasses, formulas: Sequence[Formula], limits: Ints, like: Ints, depth: int
) -> Rankings:
    """Compute the arrays of the rankings."""
    lists = _lists(limits, like, depth)
    states = PrefixCounts(classes.grades, lists.used, classes.counts[lists.of_class] - lists.used)
    scale = np.stack([formula.scale[lists.of_class] for formula in formulas])
    return Rankings(
        lists=lists,
        values=[
            np.stack([_values(each, states, rank, n) for each in formulas]) * scale[:, None, :n]
            for rank, n in enumerate(lists.n_within.tolist(), start=1)
        ],
        tails=np.stack([each.tail_upper_bound(states, depth) for each in formulas]) * scale,
        shares=classes.sizes / classes.n_queries,
    )


def _values(formula: Formula, states: PrefixCounts, rank: int, n_states: int) -> Floats:
    """Compute what a document adds at a rank, by grade and state, before scaling; 0 below the cutoff."""
    if formula.cutoff is not None and rank > formula.cutoff:
        return np.zeros((len(states.grades), n_states))
    above = PrefixCounts(states.grades, states.used[:n_states], states.left[:n_states])
    return formula.gains(above, rank).T


def _with_impossible_state(maximum: Floats) -> Floats:
    """Append a row of -inf, which index -1 (no such state) reads."""
    return np.vstack([maximum, np.full((1, maximum.shape[1]), -np.inf)])


# --- bounds for all runs -----------------------------------------------------------------------------

_PENALTY = 100.0
"""Cost of a mean outside its interval, per unit, in a programme; it also limits the weights of the dual."""
_ROUNDS = 40
"""Maximum number of linear programmes for one end of a range."""
_COARSE, _FINE = 4.0, 0.02
"""Tolerance of an end of a range, in units of the last printed digit: coarse, but fine near the claim."""
_PROGRAMME = 300_000
"""Effort of one linear programme: as long as placing this many documents."""


class Interval(NamedTuple):
    """A closed interval; it is empty if `low` is above `high`."""

    low: float
    high: float

    @property
    def is_empty(self) -> bool:
        """Whether no number is in the interval."""
        return self.low > self.high

    def meets(self, other: Interval) -> bool:
        """Check whether any number is in both intervals."""
        return not self.is_empty and self.low <= other.high and other.low <= self.high


class _Nearest(NamedTuple):
    """The solution of a programme: the weights of its dual, its value, and the total miss."""

    weights: Floats
    value: float
    missed: float


class KnownMeans:
    """What is known of the means of all runs, for all rows that search the same rankings.

    Parameters
    ----------
    rankings : Rankings

    Attributes
    ----------
    seen : ndarray, shape (n_runs, n_measures)
        The means of some runs.
    weights : ndarray, shape (n_sums, n_measures)
        Weights of some sums of the means.
    bounds : ndarray, shape (n_sums,)
        Upper bounds of these sums over all runs.
    """

    def __init__(self, rankings: Rankings) -> None:
        self.rankings, n = rankings, len(rankings.tails)
        self.seen, self.weights, self.bounds = np.empty((0, n)), np.empty((0, n)), np.empty(0)

    def upper_bounds(self, weights: Floats) -> Floats:
        """Bound weighted sums of means over all runs, and keep the means of the best runs."""
        sums, means = self.rankings.best(weights)
        bounds: Floats = sums + PROGRAMME * np.abs(weights).sum(axis=1)
        self.seen = np.unique(np.vstack([self.seen, means]), axis=0)
        self.weights = np.vstack([self.weights, weights])
        self.bounds = np.append(self.bounds, bounds)
        return bounds

    def refuted(self, low: Floats, high: Floats) -> bool | None:
        """Check without a programme whether a run has its means in intervals; None if this does not tell."""
        largest_miss = self.bounds + np.maximum(-self.weights * low, -self.weights * high).sum(axis=1)
        if (largest_miss < 0).any():
            return True
        return False if self._is_a_mixture((low + high) / 2) else None

    def _is_a_mixture(self, means: Floats) -> bool:
        """Check whether a mixture of the runs seen has these means."""
        from scipy.optimize import nnls

        rows = np.vstack([self.seen.T, np.ones(len(self.seen))])
        try:
            return bool(nnls(rows, np.append(means, 1.0))[1] < NEAREST_POINT)
        except RuntimeError:  # too many iterations
            return False


class AttainableMeans:
    """Bound the means of all runs by column generation.

    Parameters
    ----------
    rankings : Rankings
    intervals : list of Interval
        The interval claimed for the mean of each measure.
    known : KnownMeans, optional
        What other rows found out of these rankings: it is used, and added to.

    Attributes
    ----------
    effort : float
        The effort that is left, counted in documents to place: this is the same on every machine.
    is_cut_short : bool
        Whether some end may be too far out because the effort or the rounds ran out.
    """

    def __init__(
        self, rankings: Rankings, intervals: list[Interval], known: KnownMeans | None = None
    ) -> None:
        self.rankings, self.n = rankings, len(intervals)
        self.known = known or KnownMeans(rankings)
        self.effort, self.is_cut_short = np.inf, False
        self.low, self.high = np.array(intervals).T

    def refuted(self, effort: float = np.inf) -> bool | None:
        """Prove that no run has its means in the intervals; None if the effort ran out first.

        What other rows found out costs as much as a round: the effort of a row depends little on other rows.
        """
        self.effort, no_goal = effort, np.zeros(self.n)
        ends = np.vstack([np.eye(self.n), -np.eye(self.n)])
        if not len(self.known.seen):
            self._upper_bounds(ends)
        else:
            self.effort -= self.rankings.n_steps * len(ends)
            if self.effort > 0 and (refuted := self.known.refuted(self.low, self.high)) is not None:
                self.effort -= _PROGRAMME + self.rankings.n_steps * refuted
                return refuted
        for nearest in self._rounds(no_goal, 1.0):
            if nearest.missed < NEAREST_POINT:
                return False
            if self._conditional_bound(nearest.weights, no_goal) < 0:
                return True
        return None if self.effort <= 0 else False

    def ranges(self, units: list[float], effort: float = np.inf) -> list[Interval]:
        """Bound each mean given that the others lie in their intervals.

        Parameters
        ----------
        units : list of float
            The unit of the last printed digit of each mean. The ends of ranges may be a few units too far
            out, unless that decides whether the mean may lie in its interval.
        effort : float
            Each end gets an equal part; a range that needs more is wider.
        """
        return [self.range_of(j, unit, effort / self.n) for j, unit in enumerate(units)]

    def range_of(self, j: int, unit: float, effort: float = np.inf) -> Interval:
        """Bound one mean given that the others lie in their intervals; see `ranges`."""
        low, high = (self._end(j, sign, unit, effort / 2) for sign in (-1, 1))
        return Interval(-low, high)

    def _end(self, j: int, sign: int, unit: float, effort: float) -> float:
        """Bound a mean, or its negative, from above given that the others lie in their intervals."""
        self.effort, goal = effort, sign * np.eye(self.n)[j]
        nearest_end = min(sign * np.array([self.low[j], self.high[j]]))
        bound = float(self._upper_bounds(goal[None])[0])
        for nearest in self._rounds(goal, _PENALTY):
            bound = min(bound, self._conditional_bound(nearest.weights, goal))
            gap, matters = bound - nearest.value, nearest.value < nearest_end <= bound
            if gap <= _COARSE * unit and (gap <= _FINE * unit or not matters):
                break
        return bound

    def _rounds(self, goal: Floats, penalty: float) -> Iterator[_Nearest]:
        """Yield solutions of programmes, each over more runs, until the effort or the new runs end."""
        for _ in range(_ROUNDS):
            n_seen = len(self.known.seen)
            if self.effort > 0:
                yield self._programme(goal, penalty)
            if n_seen == len(self.known.seen):
                self.is_cut_short |= self.effort <= 0
                return
        self.is_cut_short = True

    def _conditional_bound(self, weights: Floats, goal: Floats) -> float:
        """Bound the sum `goal` given that the other means lie in their intervals, by a weighted sum.

        If `goal` is 0, a bound below 0 is a contradiction: no run has its means in the intervals.
        """
        others = weights - goal
        [maximum] = self._upper_bounds(weights[None]).tolist()
        return float(maximum + np.maximum(-others * self.low, -others * self.high).sum())

    def _upper_bounds(self, weights: Floats) -> Floats:
        """Bound weighted sums of means over all runs."""
        self.effort -= self.rankings.n_steps * len(weights)
        return self.known.upper_bounds(weights)

    def _programme(self, goal: Floats, penalty: float) -> _Nearest:
        """Find the mixture of the runs seen that has the largest sum and misses the intervals least.

        Parameters
        ----------
        goal : ndarray, shape (n_measures,)
            The weights of the sum; the intervals of measures in it do not count.
        penalty : float
            The cost of missing an interval, per unit.
        """
        from scipy.optimize import linprog

        self.effort -= _PROGRAMME
        others = np.flatnonzero(goal == 0)
        if not len(others):
            return _Nearest(goal, float((self.known.seen @ goal).max()), 0.0)
        inside, outside = self.known.seen[:, others].T, np.eye(2 * len(others))
        cost = np.concatenate([-self.known.seen @ goal, np.full(len(outside), penalty)])
        solved = linprog(
            cost,
            A_ub=np.hstack([np.vstack([inside, -inside]), -outside]),
            b_ub=np.concatenate([self.high[others], -self.low[others]]),
            A_eq=np.concatenate([np.ones(len(self.known.seen)), np.zeros(len(outside))])[None],
            b_eq=[1.0],
            method="highs-ds",
        )
        above, below = np.split(solved.ineqlin.marginals, 2)
        weights = goal.copy()
        weights[others] = above - below
        return _Nearest(weights, -float(solved.fun), float(solved.x[len(self.known.seen) :].sum()))
