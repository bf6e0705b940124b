"""What means can be together, whatever a run may be: every bound is a certificate.

The means of a row over all runs lie in a convex set, if each class of queries may have any mixture of
rankings. A linear programme over some runs asks for the mixture that comes nearest to the numbers of a row;
its dual is the weighted sum of measures that keeps these runs most away from them. The best rankings for that
sum either show that no run comes near enough, or are a run with which the programme goes on (column
generation: Dantzig and Wolfe, 1960).

The best ranking for a weighted sum is found rank by rank, backwards. Of the documents above a rank, only how
many of each grade they are counts: the best that can follow is known for each such state below the last rank,
then at the last, and so on up to rank 1.
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
"""How many documents may be placed, over all ranks and states: more takes too long."""
_USUAL_DEPTH = 20
"""The ranks that are looked at one by one where several measures have no cutoff."""


class _Lists(NamedTuple):
    """The states of lists, of all classes of queries, short lists before longer ones.

    Attributes
    ----------
    of_class : ndarray, shape (n_states,)
    used : ndarray, shape (n_states, n_grades)
        How many documents of each grade stand in the list.
    after : ndarray, shape (n_grades, n_states)
        The state after one more of a grade; -1 if there is no more, or no place.
    start : ndarray, shape (n_classes,)
        The states of empty lists.
    n_within : ndarray, shape (depth,)
        How many states have up to so many documents, below the depth.
    """

    of_class: Ints
    used: Ints
    after: Ints
    start: Ints
    n_within: Ints


@dataclass(frozen=True, eq=False)
class Rankings:
    """All rankings of the queries of some qrels, by the measures of a row.

    Attributes
    ----------
    lists : _Lists
    values : list of ndarray, shape (n_measures, n_grades, n_states)
        What a document adds at each rank, in the states that are above it.
    beyond : ndarray, shape (n_measures, n_states)
        The most that ranks below the depth add; the least is nothing.
    shares : ndarray, shape (n_classes,)
        What each class counts in the mean at most.
    """

    lists: _Lists
    values: list[Floats]
    beyond: Floats
    shares: Floats

    def of_at_least(self, share: float) -> Rankings:
        """Return the rankings of some of the queries, at least a share of all."""
        return replace(self, shares=self.shares / share)

    @classmethod
    def of(cls, classes: QueryClasses, formulas: Sequence[Formula]) -> Rankings | None:
        """Prepare the measures; None if there are too many states."""
        depth, least = depth_of(formulas), _losing_to(formulas)
        while depth >= least:
            limits, like = _counted(classes, formulas, depth)
            if _n_states(limits, depth) * depth * len(classes.grades) <= MOST_STEPS:
                return _prepared(classes, formulas, limits, like, depth)
            depth -= 1 + depth // 10
        return None

    @property
    def n_steps(self) -> int:
        """How many documents are placed for a direction, over all ranks and states."""
        return sum(each[0].size for each in self.values)

    def best(self, directions: Floats) -> tuple[Floats, Floats]:
        """Find the largest weighted sums of means.

        Parameters
        ----------
        directions : ndarray, shape (n_directions, n_measures)
            The weight of each measure.

        Returns
        -------
        ndarray, shape (n_directions,)
            The largest sums.
        ndarray, shape (n_directions, n_measures)
            The means of rankings that have them.
        """
        best = self._backwards(directions)
        largest = best[0][self.lists.start].T
        shares = self._counted(largest)
        sums: Floats = (shares * largest).sum(axis=1)
        return sums, np.einsum("dc,dcm->dm", shares, self._followed(directions, best))

    def _counted(self, largest: Floats) -> Floats:
        """Return what each class counts in the largest means: the best ones as much as they can."""
        order = np.argsort(-largest, axis=1, kind="stable")
        before = np.cumsum(self.shares[order], axis=1) - self.shares[order]
        shares = np.empty_like(largest)
        np.put_along_axis(shares, order, np.clip(1 - before, 0, self.shares[order]), axis=1)
        return shares

    def _backwards(self, directions: Floats) -> list[Floats]:
        """Return the most that can follow each state, by rank: at the last what stands below all ranks.

        Each has a row for each state, and one of -inf for none.
        """
        best = [_with_none(self.beyond.T @ np.maximum(directions, 0).T)]
        for values in reversed(self.values):
            follows, n_states = best[-1], values.shape[2]
            most = follows[:n_states].copy()
            for g, after in enumerate(self.lists.after[:, :n_states]):
                np.maximum(most, values[:, g].T @ directions.T + follows[after], out=most)
            best.append(_with_none(most))
        return best[::-1]

    def _followed(self, directions: Floats, best: list[Floats]) -> Floats:
        """Return the measures of the best lists, by direction and class."""
        state = np.tile(self.lists.start, (len(directions), 1))
        total = np.zeros((*state.shape, directions.shape[1]))
        each = np.arange(len(directions))[:, None]
        for values, follows in zip(self.values, best[1:], strict=True):
            step = np.zeros_like(total)
            most, before = follows[state, each], state
            for g in range(values.shape[1]):
                after = self.lists.after[g, before]
                added = values[:, g][:, before].transpose(1, 2, 0)
                other = follows[after, each] + (added @ directions[:, :, None])[..., 0]
                better = other > most
                np.copyto(step, added, where=better[..., None])
                most, state = np.where(better, other, most), np.where(better, after, state)
            total += step
        total += np.where(directions[:, None, :] > 0, self.beyond.T[state], 0)
        return total


def depth_of(formulas: Sequence[Formula]) -> int:
    """Return how many ranks must be looked at one by one.

    One measure may go on below, unless documents lose: what it gains there, from 0 on, is no matter of the
    others.
    """
    ends = sorted(np.inf if each.cutoff is None else each.cutoff for each in formulas)
    deepest = max([*ends[-2:-1], _losing_to(formulas)])
    if deepest == np.inf:
        deepest = max([end for end in ends if end < np.inf], default=_USUAL_DEPTH)
    return int(deepest)


def _losing_to(formulas: Sequence[Formula]) -> int:
    """Return down to which rank documents may lose, at least the first."""
    return max([1, *(each.cutoff for each in formulas if each.loses and each.cutoff)])


# --- states --------------------------------------------------------------------------------


def _counted(classes: QueryClasses, formulas: Sequence[Formula], depth: int) -> tuple[Ints, Ints]:
    """Return how the documents of each class are counted.

    Grades that are relevant alike, and fill all ranks, count as one. Below these ranks they must weigh the
    same too.

    Returns
    -------
    ndarray, shape (n_classes, n_grades)
        How many documents there are of each grade, as far as they have a place; 0 of one that is counted as
        another.
    ndarray, shape (n_classes, n_grades)
        The grade that each is counted as.
    """
    kinds = [classes.grades >= each.level for each in formulas]
    kinds += [np.array(each.weights) for each in formulas if each.slots_below(depth)]
    alike = np.all([np.equal.outer(kind, kind) for kind in kinds], axis=0)
    idle = np.all([each.is_idle(classes.grades) for each in formulas], axis=0)
    limits = np.where(idle, 0, np.minimum(classes.counts, depth))
    full = limits == depth
    together = (alike & full[:, :, None] & full[:, None, :]) | np.eye(len(alike), dtype=np.bool_)
    like = together.argmax(axis=1)
    return np.where(like == np.arange(len(alike)), limits, 0), like


def _n_states(limits: Ints, depth: int) -> float:
    """Return how many states the lists have."""
    total = 0.0
    for row in limits.tolist():
        ways = np.ones(1)  # by the number of documents
        for limit in row:
            ways = np.convolve(ways, np.ones(limit + 1))[: depth + 1]
        total += ways.sum()
    return total


@lru_cache(maxsize=4096)
def _grid(limits: tuple[int, ...], most: int) -> tuple[Ints, Ints]:
    """Return all numbers of documents by grade up to their limits, `most` in all, and the one after each.

    -1 stands for those beyond a limit.
    """
    used = np.zeros((1, 0), np.int64)
    for limit in limits:
        used = np.concatenate(
            [np.column_stack([used, np.full(len(used), n)]) for n in range(min(limit, most) + 1)]
        )
        used = used[used.sum(axis=1) <= most]
    steps = np.cumprod([1, *(min(limit, most) + 2 for limit in limits[:-1])])
    codes = used @ steps  # ascending, as the last grade changes last
    wanted = codes[:, None] + steps
    place = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    return used, np.where(codes[place] == wanted, place, -1)


def _lists(limits: Ints, like: Ints, depth: int) -> _Lists:
    """Return the states of the lists of each class."""
    grids = [_grid(tuple(row), depth) for row in limits.tolist()]
    sizes = np.array([len(used) for used, _ in grids])
    first = np.cumsum(sizes) - sizes
    of_class = np.repeat(np.arange(len(grids)), sizes)
    used, after = (np.concatenate(each) for each in zip(*grids, strict=True))
    after = np.take_along_axis(
        np.where(after == -1, -1, after + first[of_class][:, None]), like[of_class], axis=1
    )
    order = np.argsort(used.sum(axis=1), kind="stable")
    number = np.append(np.argsort(order), -1)
    n_within = np.searchsorted(used.sum(axis=1)[order], np.arange(depth), "right")
    return _Lists(of_class[order], used[order], number[after[order]].T.copy(), number[first], n_within)


def _prepared(
    classes: QueryClasses, formulas: Sequence[Formula], limits: Ints, like: Ints, depth: int
) -> Rankings:
    """Bring everything into arrays."""
    lists = _lists(limits, like, depth)
    states = PrefixCounts(classes.grades, lists.used, classes.counts[lists.of_class] - lists.used)
    scale = np.stack([each.scale[lists.of_class] for each in formulas])
    return Rankings(
        lists=lists,
        values=[
            np.stack([_values(each, states, rank, n) for each in formulas]) * scale[:, None, :n]
            for rank, n in enumerate(lists.n_within.tolist(), start=1)
        ],
        beyond=np.stack([each.beyond(states, depth) for each in formulas]) * scale,
        shares=classes.sizes / classes.n_queries,
    )


def _values(formula: Formula, states: PrefixCounts, rank: int, n_states: int) -> Floats:
    """Return what a document adds at a rank, by grade and state, before any scale; 0 below the cutoff."""
    if formula.cutoff is not None and rank > formula.cutoff:
        return np.zeros((len(states.grades), n_states))
    above = PrefixCounts(states.grades, states.used[:n_states], states.left[:n_states])
    return formula.gains(above, rank).T


def _with_none(most: Floats) -> Floats:
    """Append a row for no state."""
    return np.vstack([most, np.full((1, most.shape[1]), -np.inf)])


# --- what follows of all runs ------------------------------------------------------------------------

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


class AttainableMeans:
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
    is_cut_short : bool
        Whether some end may be too far out, as the effort or the rounds were spent.
    """

    def __init__(self, rankings: Rankings, intervals: list[Interval]) -> None:
        self.rankings, self.n = rankings, len(intervals)
        self.effort, self.is_cut_short = np.inf, False
        self.low, self.high = np.array(intervals).T
        self.seen = np.empty((0, self.n))

    def refuted(self, effort: float = np.inf) -> bool | None:
        """Return whether no run has its means in the intervals; None if the effort was spent before."""
        self.effort, nothing = effort, np.zeros(self.n)
        self._most(np.vstack([np.eye(self.n), -np.eye(self.n)]))
        for nearest in self._rounds(nothing, 1.0):
            if nearest.missed < NEAREST_POINT:
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
        return [self.range_of(j, unit, effort / self.n) for j, unit in enumerate(units)]

    def range_of(self, j: int, unit: float, effort: float = np.inf) -> Interval:
        """Bound one mean given that the others lie in their intervals; see `ranges`."""
        low, high = (self._end(j, sign, unit, effort / 2) for sign in (-1, 1))
        return Interval(-low, high)

    def _end(self, j: int, sign: int, unit: float, effort: float) -> float:
        """Return the most that a mean, or its negative, is where the others lie in their intervals."""
        self.effort, wanted = effort, sign * np.eye(self.n)[j]
        mine = min(sign * np.array([self.low[j], self.high[j]]))
        least = float(self._most(wanted[None])[0])
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
                self.is_cut_short |= self.effort <= 0
                return
        self.is_cut_short = True

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
        most: Floats = sums + PROGRAMME * np.abs(weights).sum(axis=1)
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
        above, below = np.split(solved.ineqlin.marginals, 2)
        weights = wanted.copy()
        weights[given] = above - below
        return _Nearest(weights, -float(solved.fun), float(solved.x[len(self.seen) :].sum()))
