"""The rankings that make a weighted sum of measures as large as it can be: found rank by rank, backwards.

Of the documents above a rank, only how many of each grade they are counts. So the best that can follow is
known for each such state below the last rank, then at the last, and so on up to rank 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.judgments import Ints
from permed_measures.limits.formulas import DiscountedGains, Formula, States, slots_below
from permed_measures.limits.query_classes import Cases, QueryClasses

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

MOST_STEPS = 500_000
"""How many documents may be placed, over all ranks and states: more takes too long."""
_TOGETHER = 6_000_000
"""How many are placed at a time, in several directions."""
_USUAL_DEPTH = 20
"""The ranks that are looked at one by one where several measures have no cutoff."""


class Best(NamedTuple):
    """The best means in some directions.

    Attributes
    ----------
    sums : ndarray, shape (n_directions,)
        The largest weighted sums of the means.
    means : ndarray, shape (n_directions, n_measures)
        The means of rankings that have them.
    """

    sums: Floats
    means: Floats


class _Lists(NamedTuple):
    """The states of lists, of all cases, short lists before longer ones.

    Attributes
    ----------
    case : ndarray, shape (n_states,)
    used : ndarray, shape (n_states, n_grades)
        How many documents of each grade stand in the list.
    after : ndarray, shape (n_grades, n_states)
        The state after one more of a grade; -1 if there is no more, or no place.
    start : ndarray, shape (n_cases,)
        The states of empty lists.
    n_within : ndarray, shape (depth + 1,)
        How many states have up to so many documents.
    """

    case: Ints
    used: Ints
    after: Ints
    start: Ints
    n_within: Ints


@dataclass(frozen=True, eq=False)
class BestRankings:
    """All rankings of the queries of some qrels, by the measures of a row.

    Attributes
    ----------
    lists : _Lists
    values : list of ndarray, shape (n_measures, n_grades, n_states)
        What a document adds at each rank, in the states that are above it.
    beyond : ndarray, shape (2, n_measures, n_states)
        The least and the most that ranks below the depth add.
    required : ndarray of bool, shape (n_states,)
        Which states a list may have at rank `required_at`.
    required_at : int
    members, first : ndarray
        The cases of each class of queries, one class after the other, and where those of each begin.
    sizes : ndarray, shape (n_classes,)
        How many queries each class has.
    n_queries : int
        How many queries the means are taken over: those where the sum is largest, if there are more.
    """

    lists: _Lists
    values: list[Floats]
    beyond: Floats
    required: Bools
    required_at: int
    members: Ints
    first: Ints
    sizes: Ints
    n_queries: int

    @classmethod
    def of(
        cls, classes: QueryClasses, formulas: Sequence[Formula], n_queries: int | None = None
    ) -> BestRankings | None:
        """Prepare the measures; None if there are too many states."""
        cuts = {each.cutoff for each in formulas if each.needs_found}
        if len(cuts) > 1 or None in cuts:
            return None
        within = next(iter(cuts), None)
        depth = _depth(formulas, within)
        while _n_steps(counted := _counted(classes, formulas, depth), depth, within) > MOST_STEPS:
            depth -= 1 + depth // 10
            if depth < (within or 1):
                return None
        return _assembled(classes, formulas, counted, within, depth, n_queries)

    @cached_property
    def n_steps(self) -> int:
        """How many documents are placed for a direction, over all ranks and states."""
        return sum(each[0].size for each in self.values)

    def best(self, directions: Floats) -> Best:
        """Find the largest weighted sums of means; a row of `directions` has the weight of each measure."""
        n = max(_TOGETHER // self.lists.n_within.sum(), 1)
        parts = [self._best(directions[start : start + n]) for start in range(0, len(directions), n)]
        return Best(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def _best(self, directions: Floats) -> Best:
        best = self._backwards(directions)
        of_member = best[0][self.lists.start[self.members]].T
        largest = np.maximum.reduceat(of_member, self.first, axis=1)
        is_largest = of_member == np.repeat(largest, np.diff([*self.first, len(self.members)]), axis=1)
        place = np.where(is_largest, np.arange(len(self.members)), len(self.members))
        case = self.members[np.minimum.reduceat(place, self.first, axis=1)]
        share = self._shares(largest)
        found = self._followed(directions, best, self.lists.start[case])
        return Best((share * largest).sum(axis=1), np.einsum("dc,dcm->dm", share, found))

    def _backwards(self, directions: Floats) -> list[Floats]:
        """Return the most that can follow each state, by rank: at the last what stands below all ranks.

        Each has a row for each state, and one of -inf for none.
        """
        low, high = self.beyond
        below = low.T @ np.minimum(directions, 0).T + high.T @ np.maximum(directions, 0).T
        best = [_with_none(below)]
        for rank in range(len(self.values), 0, -1):
            follows = best[-1]
            if rank == self.required_at:
                follows[:-1][~self.required[: len(follows) - 1]] = -np.inf
            values = self.values[rank - 1]
            n_states = values.shape[2]
            most = follows[:n_states].copy()
            for g, after in enumerate(self.lists.after[:, :n_states]):
                step = values[:, g].T @ directions.T
                step += follows[after]
                np.maximum(most, step, out=most)
            best.append(_with_none(most))
        return best[::-1]

    def _followed(self, directions: Floats, best: list[Floats], state: Ints) -> Floats:
        """Return the measures of the best lists, by direction and class."""
        total = np.zeros((*state.shape, directions.shape[1]))
        each = np.arange(len(directions))[:, None]
        for rank, values in enumerate(self.values):
            step = np.zeros_like(total)
            most, before = best[rank + 1][state, each], state
            for g in range(values.shape[1]):
                after = self.lists.after[g, before]
                added = values[:, g][:, before].transpose(1, 2, 0)
                other = best[rank + 1][after, each] + (added @ directions[:, :, None])[..., 0]
                better = other > most
                np.copyto(step, added, where=better[..., None])
                most, state = np.where(better, other, most), np.where(better, after, state)
            total += step
        low, high = (end.T[state] for end in self.beyond)
        total += np.where(directions[:, None, :] > 0, high, low)
        return total

    def _shares(self, largest: Floats) -> Floats:
        """Return what each class counts in the mean, by direction."""
        if self.n_queries == self.sizes.sum():
            return np.broadcast_to(self.sizes / self.n_queries, largest.shape)
        order = np.argsort(-largest, axis=1, kind="stable")
        before = np.cumsum(self.sizes[order], axis=1) - self.sizes[order]
        taken = np.clip(self.n_queries - before, 0, self.sizes[order])
        share = np.empty(largest.shape)
        np.put_along_axis(share, order, taken / self.n_queries, axis=1)
        return share


def _depth(formulas: Sequence[Formula], within: int | None) -> int:
    """Return how many ranks must be looked at one by one.

    One measure may go on below: what it gains there, from 0 on, is no matter of the others.
    """
    ends = sorted(np.inf if each.cutoff is None else each.cutoff for each in formulas)
    deepest = ends[-2] if len(ends) > 1 else 1
    if deepest == np.inf:
        deepest = max([end for end in ends if end < np.inf], default=_USUAL_DEPTH)
    return int(max(deepest, within or 1))


# --- cases and states --------------------------------------------------------------------------------


_Row = tuple[int, ...]


class _Counted(NamedTuple):
    """How the documents of each class are counted.

    Attributes
    ----------
    limits : ndarray, shape (n_classes, n_grades)
        How many there are of each grade, as far as they have a place.
    like : ndarray, shape (n_classes, n_grades)
        The grade that each is counted as: itself, or a lower one of its kind, if there are enough of both.
    """

    limits: Ints
    like: Ints

    def of(self, number: int) -> tuple[_Row, _Row]:
        """Return both of a class, to look up."""
        return tuple(self.limits[number].tolist()), tuple(self.like[number].tolist())


def _counted(classes: QueryClasses, formulas: Sequence[Formula], depth: int) -> _Counted:
    """Return how each class is counted: grades that are relevant alike, and fill all ranks, count as one.

    Below these ranks they must weigh the same too.
    """
    apart = any(isinstance(each, DiscountedGains) and each.needs_found for each in formulas)
    levels = sorted({0.0, *(each.level for each in formulas)})
    kinds = [np.searchsorted(levels, classes.grades, "right").tolist()]
    kinds += [each.weights for each in formulas if each.weights and slots_below(depth, each.cutoff)]
    kind = list(zip(*kinds, strict=True))
    limits = np.minimum(classes.counts, depth)
    like = np.tile(np.arange(len(kind)), (len(limits), 1))
    for g, h in combinations(range(len(kind)), 2):
        if kind[g] == kind[h] and not apart:
            both = (limits[:, g] == depth) & (limits[:, h] == depth)
            like[:, h] = np.where(both, np.minimum(like[:, h], g), like[:, h])
    return _Counted(limits, like)


@lru_cache(maxsize=4096)
def _grid(limits: _Row, like: _Row, most: int) -> tuple[Ints, Ints]:
    """Return all numbers of documents by grade up to their limits, `most` in all, and the one after each.

    -1 stands for those beyond a limit.
    """
    ends = [min(limit, most) if like[g] == g else 0 for g, limit in enumerate(limits)]
    axes = [np.arange(end + 1) for end in ends]
    every = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    inside = every.sum(axis=1) <= most
    number = np.where(inside, np.cumsum(inside) - 1, -1)
    shape = np.array([len(axis) for axis in axes])
    used = every[inside]
    after = np.full(used.shape, -1)
    steps = np.concatenate([np.cumprod(shape[:0:-1])[::-1], [1]]).astype(np.int64)
    for g, step in enumerate(steps.tolist()):
        room = used[:, g] + 1 < shape[g]
        after[room, g] = number[used[room] @ steps + step]
    return used, after[:, list(like)]


def _n_steps(counted: _Counted, depth: int, within: int | None) -> int:
    """Return how many documents are placed, over all ranks and states; at least as many if too many."""
    n_grades: int = counted.limits.shape[1]
    rows, times = np.unique(np.hstack(counted), axis=0, return_counts=True)
    n_states = 0
    for row, n in zip(map(tuple, rows.tolist()), times.tolist(), strict=True):
        n_states += n * _n_lists(row[:n_grades], row[n_grades:], depth, within)
        if n_states * depth * n_grades > MOST_STEPS:
            break
    return n_states * depth * n_grades


@lru_cache(maxsize=4096)
def _n_lists(limits: _Row, like: _Row, depth: int, within: int | None) -> int:
    """Return how many states the lists of a class have, those of each number within a rank apart."""
    box: int = prod(min(limit, depth) + 1 for g, limit in enumerate(limits) if like[g] == g)
    if box > MOST_STEPS:  # do not even count them
        return box
    n_states = len(_grid(limits, like, depth)[0])
    if within is None or n_states > MOST_STEPS // depth:
        return n_states
    found = _grid(limits, like, within)[0]
    return int(np.prod(found + 1.0, axis=1).sum())


def _cases(classes: QueryClasses, counted: _Counted, within: int | None) -> tuple[Cases, Ints]:
    """Return the classes as they are, or with each number of documents that a list may have within a rank."""
    if within is None:
        return classes.cases, np.arange(len(classes.counts))
    found = [_grid(*counted.of(number), within)[0] for number in range(len(counted.limits))]
    class_of_case = np.repeat(np.arange(len(found)), [len(each) for each in found])
    counts, zeros = classes.counts[class_of_case], classes.zeros[class_of_case]
    return Cases(classes.grades, counts, zeros, np.concatenate(found)), class_of_case


def _lists(counted: _Counted, depth: int) -> _Lists:
    """Return the states of the lists of each case."""
    grids = [_grid(*counted.of(number), depth) for number in range(len(counted.limits))]
    sizes = np.array([len(used) for used, _ in grids])
    first = np.cumsum(sizes) - sizes
    used = np.concatenate([used for used, _ in grids])
    order = np.argsort(used.sum(axis=1), kind="stable")
    number = np.full(len(used) + 1, -1)
    number[order] = np.arange(len(used))
    after = np.concatenate(
        [np.where(each < 0, -1, each + start) for (_, each), start in zip(grids, first, strict=True)]
    )
    n_within = np.searchsorted(used.sum(axis=1)[order], np.arange(depth + 1), "right")
    case = np.repeat(np.arange(len(grids)), sizes)[order]
    return _Lists(case, used[order], number[after[order]].T.copy(), number[first], n_within)


def _assembled(
    classes: QueryClasses,
    formulas: Sequence[Formula],
    counted: _Counted,
    within: int | None,
    depth: int,
    n_queries: int | None,
) -> BestRankings:
    """Bring everything into arrays: a case for each pair of scales that an ideal list may have."""
    cases, class_of_case = _cases(classes, counted, within)
    choices = list(product(*(each.scales(cases) for each in formulas)))
    scales = np.concatenate([np.stack(choice, axis=1) for choice in choices])
    cases = Cases(cases.grades, *(np.concatenate([each] * len(choices)) for each in cases[1:]))
    class_of_case = np.concatenate([class_of_case] * len(choices))
    limits, like = counted.limits[class_of_case], counted.like[class_of_case]
    if within == depth and all(each.cutoff is not None and each.cutoff <= depth for each in formulas):
        limits = cases.found  # nothing stands below, so cases with equal scales are one
        _, kept, number = np.unique(
            np.column_stack([limits, like, scales]), axis=0, return_index=True, return_inverse=True
        )
    else:
        kept = number = np.arange(len(limits))
    order = np.argsort(class_of_case, kind="stable")
    lists = _lists(_Counted(limits[kept], like[kept]), depth)
    states = States(classes.grades, lists.used, cases.counts[kept][lists.case] - lists.used)
    scale = scales[kept][lists.case].T
    return BestRankings(
        lists=lists,
        values=[
            np.stack([_values(each, states, rank, n) for each in formulas]) * scale[:, None, :n]
            for rank, n in enumerate(lists.n_within[:depth].tolist(), start=1)
        ],
        beyond=np.stack([each.beyond(states, depth) for each in formulas], axis=1) * scale,
        required=(lists.used == cases.found[kept][lists.case]).all(axis=1),
        required_at=within or 0,
        members=number.ravel()[order],
        first=np.searchsorted(class_of_case[order], np.arange(len(classes.sizes))),
        sizes=classes.sizes,
        n_queries=n_queries or classes.n_queries,
    )


def _values(formula: Formula, states: States, rank: int, n_states: int) -> Floats:
    """Return what a document adds at a rank, by grade and state, before any scale; 0 below the cutoff."""
    if formula.cutoff is not None and rank > formula.cutoff:
        return np.zeros((len(states.grades), n_states))
    above = States(states.grades, states.used[:n_states], states.left[:n_states])
    return formula.gains(above, rank).T


def _with_none(most: Floats) -> Floats:
    """Append a row for no state."""
    return np.vstack([most, np.full((1, most.shape[1]), -np.inf)])
