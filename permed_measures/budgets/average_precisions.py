"""The least and the most that AP and GradedAP can be where unjudged documents may have any grade.

A query has F(i) known relevant documents within the first i. A new document at rank a, the j-th of the new
ones that are relevant, has precision (F(a) + j) / a, and adds w(p) / p for each known relevant document at a
rank p behind it, whichever the others are. For each number m of new relevant documents, which m are the best?

- **One weight for all** (AP): moving a relevant document up past documents that are not relevant raises the
  numerator. With c relevant documents above it, from rank b to a with p_1..p_r between, it changes by
  (c+1)/a + sum 1/p_i - (c+r+1)/b >= (c+1)(1/a - 1/b) > 0, since p_i < b. So the most have the first m, the
  least the last m: m + 1 cases.
- **Several weights**: then that is not so, since a late document may profit from more relevant ones above it.
  But its part depends only on j, so dynamic programming over the ranks, with the best numerator for each j,
  finds the best of all subsets. The numerator grows with each weight, so where the denominator depends on m
  alone, all new relevant documents have the largest weight, or the smallest.
- **norm='gain'** divides by the weights too. The best of numerator / denominator is found by Dinkelbach's
  method (1967): numerator - x * denominator is a sum over documents, which the same programming makes the
  largest, and its quotient is the next x.
- **norm='ideal'** divides by the sum over levels t of d_t * min(k, R_t + n_t), with d_t the step from the
  level below, R_t known and n_t new documents of weight t or more. Each min is the smaller of two terms, and
  the second one at lower levels if at any, so the most is the largest over the choices of where that ends,
  each as for `gain`. For the least: the quotient is quasi-concave in the weights of the relevant documents,
  so each has the smallest or the largest, and the programming counts both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from permed_measures.budgets.gradings import Bools, Floats, Slots
from permed_measures.engine.judgments import Ints
from permed_measures.engine.kernels.shared import divide, running_sum, sums

MOST_NEW = 100
"""New documents of a query up to which dynamic programming is used."""

_BLOCK = 1 << 19
"""Numbers in a table at a time."""


@dataclass(frozen=True)
class Weights:
    """What a new document may be.

    Attributes
    ----------
    relevant : ndarray
        The weights of the relevant grades that it may have, ascending.
    may_be_other : bool
        Whether there is a grade that is not relevant.
    """

    relevant: Floats
    may_be_other: bool


@dataclass(frozen=True, eq=False)
class _New:
    """The new documents of some queries, as tables of queries and documents by rank, and what is known.

    Attributes
    ----------
    rank, above, behind : ndarray, shape (n_queries, n_most)
        The rank a of each (infinite where there is none), F(a), and the sum of w(p) / p behind it.
    number : ndarray of int64, shape (n_queries,)
        How many there are.
    numerator, found, num_rel : ndarray, shape (n_queries,)
        Without new ones: the numerator, the relevant documents within the cutoff, and R.
    levels, at_least : ndarray, shape (n_levels,) and (n_levels, n_queries)
        The weights above 0, ascending, and how many known relevant documents have that weight or more.
    """

    rank: Floats
    above: Floats
    behind: Floats
    number: Ints
    numerator: Floats
    found: Floats
    num_rel: Floats
    levels: Floats
    at_least: Floats

    def part(self, queries: slice) -> _New:
        """Return some of the queries."""
        names = ("rank", "above", "behind", "number", "numerator", "found", "num_rel")
        rest = {name: getattr(self, name)[queries] for name in names}
        return _New(**rest, levels=self.levels, at_least=self.at_least[:, queries])

    def blocks(self, size: int) -> Iterator[_New]:
        """Yield the queries in blocks, of which each query needs so many numbers."""
        step = max(_BLOCK // size, 1)
        for start in range(0, len(self.number), step):
            yield self.part(slice(start, start + step))

    @property
    def steps(self) -> Floats:
        """The difference of each level to the one below it."""
        return np.diff(self.levels, prepend=0.0)


def average_precision_bounds(
    slots: Slots,
    queries: Ints,
    weights: Weights,
    weight: Floats,
    known: Floats,
    rel: float,
    norm: str,
    k: float,
) -> tuple[Floats, Floats]:
    """Return the least and the most of GradedAP, or with all weights 1 of AP, for some queries.

    Parameters
    ----------
    slots : Slots
    queries : ndarray of int64
        Queries that have new documents: up to `MOST_NEW`, unless all weights are the same.
    weights : Weights
    weight, known : ndarray
        The weight of each slot, and that of each judgment; 0 where it is not relevant.
    rel : float
    norm : str
        As in `GradedAP`.
    k : float
        The cutoff; infinite without one.
    """
    new = _new(slots, queries, weights, weight, known, rel)
    alike = len({*weights.relevant.tolist(), *known[slots.judgments.grade >= rel].tolist()}) <= 1
    if not len(weights.relevant):
        fixed = divide(new.numerator, _by_number(new, norm, k, 1.0)[:, 0]) if norm in _BY_NUMBER else None
        return (fixed, fixed) if fixed is not None else _weighted(new, weights, norm, k)
    if norm in _BY_NUMBER or alike:
        return _of_numbers(new, weights, norm, k, alike)
    return _weighted(new, weights, norm, k)


def _new(slots: Slots, queries: Ints, weights: Weights, weight: Floats, known: Floats, rel: float) -> _New:
    judgments, n = slots.judgments, slots.n_queries
    fixed = ~slots.is_new & (slots.grade >= rel)
    found = running_sum(slots.query, fixed.astype(np.float64), n)
    part = np.where(fixed, weight / slots.rank, 0.0)
    behind = sums(slots.query, part, n)[slots.query] - running_sum(slots.query, part, n)
    levels = np.unique(np.concatenate([weights.relevant, known[judgments.grade >= rel]]))
    levels = levels[levels > 0]
    heavy = ((known >= level) & (judgments.grade >= rel) for level in levels)
    at_least = [sums(judgments.query[rows], None, n)[queries] for rows in heavy]
    return _New(
        slots.table(slots.rank.astype(np.float64), queries, np.inf),
        slots.table(found, queries),
        slots.table(behind, queries),
        slots.n_new[queries],
        sums(slots.query, part * found, n)[queries],
        sums(slots.query[fixed], None, n)[queries],
        judgments.num_rel(rel)[queries].astype(np.float64),
        levels,
        np.array(at_least).reshape(len(levels), len(queries)),
    )


# --- the denominator depends on the number of relevant documents ---------------------------------------

_BY_NUMBER = ("num_rel", "min", "num_rel_ret", "none")


def _by_number(new: _New, norm: str, k: float, weight: float) -> Floats:
    """Return the denominators with 0, 1, ... new relevant documents."""
    count = np.arange(new.rank.shape[1] + 1)
    num_rel = new.num_rel[:, None] + count
    return {
        "num_rel": num_rel,
        "min": np.minimum(num_rel, k),
        "num_rel_ret": new.found[:, None] + count,
        "none": np.ones_like(num_rel),
        "gain": weight * num_rel,
        "ideal": weight * np.minimum(num_rel, k),
    }[norm]


def _of_numbers(new: _New, weights: Weights, norm: str, k: float, alike: bool) -> tuple[Floats, Floats]:
    """Return the bounds over all numbers of new relevant documents."""
    count, number = np.arange(new.rank.shape[1] + 1), new.number[:, None]
    allowed = (count <= number) if weights.may_be_other else (count == number)
    found = []
    for sign, weight in ((-1, weights.relevant[0]), (1, weights.relevant[-1])):
        added = _first_or_last(new, weight, sign) if alike else _any_of_them(new, weight, sign)
        total, over = new.numerator[:, None] + added, _by_number(new, norm, k, weight)
        value = np.divide(total, over, out=np.zeros_like(total), where=over > 0)
        found.append(sign * np.where(allowed, sign * value, -np.inf).max(axis=1))
    return found[0], found[1]


def _first_or_last(new: _New, weight: float, sign: int) -> Floats:
    """Return what the first m new documents add to the numerator (sign 1), or the last m (sign -1)."""
    inverse, there = 1 / new.rank, np.isfinite(new.rank)
    before = np.arange(new.rank.shape[1]) if sign > 0 else 0
    later = 0.0 if sign > 0 else np.cumsum(inverse[:, ::-1], axis=1)[:, ::-1] - inverse
    each = np.where(there, weight * ((new.above + before + 1) * inverse + later) + new.behind, 0.0)
    if sign < 0:  # the last come first
        column = new.number[:, None] - 1 - np.arange(new.rank.shape[1])
        each = np.where(column >= 0, np.take_along_axis(each, np.maximum(column, 0), axis=1), 0.0)
    return np.concatenate([np.zeros((len(each), 1)), np.cumsum(each, axis=1)], axis=1)


def _any_of_them(new: _New, weight: float, sign: int) -> Floats:
    """Return the most (sign 1) or least (sign -1) that m new documents add to the numerator."""
    best = np.full((len(new.number), new.rank.shape[1] + 1), -np.inf)
    best[:, 0] = 0
    for number, (rank, above, behind, here) in enumerate(_documents(new)):
        taken = best[:, : number + 1] + sign * (weight * (above + np.arange(1, number + 2)) / rank + behind)
        known = best[:, 1 : number + 2]
        best[:, 1 : number + 2] = np.where(here & (taken > known), taken, known)
    return sign * best


def _documents(new: _New) -> Iterator[tuple[Floats, Floats, Floats, Bools]]:
    """Yield rank, documents above, sum behind of each new document, and which queries have it."""
    for number in range(new.rank.shape[1]):
        column = slice(number, number + 1)
        yield new.rank[:, column], new.above[:, column], new.behind[:, column], new.number[:, None] > number


# --- the denominator depends on the weights too ---------------------------------------------------------


def _weighted(new: _New, weights: Weights, norm: str, k: float) -> tuple[Floats, Floats]:
    if not len(weights.relevant):
        pieces = np.minimum(new.at_least, k) if norm == "ideal" else new.at_least
        fixed = divide(new.numerator, new.steps @ pieces)
        return fixed, fixed
    n = new.rank.shape[1] + 1
    find, size = (_bounds_of_gain, n) if norm == "gain" else (_bounds_of_ideal, n * n)
    found = [find(part, weights, k) for part in new.blocks(size)]
    low, high = (np.concatenate(each) for each in zip(*found, strict=True))
    return low, high


def _bounds_of_gain(new: _New, weights: Weights, _: float) -> tuple[Floats, Floats]:
    """Return the bounds: a quotient of sums is the least and the most at the ends of each weight."""
    ends = replace(weights, relevant=np.unique(weights.relevant[[0, -1]]))
    counted = np.ones(len(new.levels), np.bool_)
    start = np.zeros(len(new.number))  # no value is below, or above 1
    return (
        _quotient(new, ends, counted, np.inf, -1, start + 1),
        _quotient(new, ends, counted, np.inf, 1, start),
    )


def _bounds_of_ideal(new: _New, weights: Weights, k: float) -> tuple[Floats, Floats]:
    """Return the bounds; of the levels, only the lower ones can fill the ideal list."""
    high = np.zeros(len(new.number))
    n_levels = len(new.levels)
    for n_full in range(n_levels + 1 if np.isfinite(k) else 1):
        high = _quotient(new, weights, np.arange(n_levels) >= n_full, k, 1, high)
    return _least_of_ideal(new, weights, k), high


def _quotient(new: _New, weights: Weights, counted: Bools, k: float, sign: int, value: Floats) -> Floats:
    """Return the most (sign 1) or least of the numerator over the sum of d_t (R_t + n_t), or d_t k.

    The levels t that are `counted` have the first of these terms, the others the second. What is not better
    than the value stays.
    """
    known = new.steps[counted] @ new.at_least[counted]
    if not counted.all():
        known = known + k * new.steps[~counted].sum()
    costs = [new.steps[counted & (new.levels <= weight)].sum() for weight in weights.relevant]
    for _ in range(_MOST_ROUNDS):
        numerator, denominator = _best_difference(new, weights, costs, known, value, sign)
        better = np.divide(numerator, denominator, out=value.copy(), where=denominator > 0)
        moved = sign * (better - value) > 1e-15
        if not moved.any():
            break
        value = np.where(moved, better, value)
    if sign < 0:  # without anything to divide by the value is 0
        none = weights.may_be_other or weights.relevant[0] == 0
        value = np.where((known == 0) & none, 0.0, value)
    return value


_MOST_ROUNDS = 50
"""Of Dinkelbach's method; it takes three to six."""


def _best_difference(
    new: _New, weights: Weights, costs: list[float], known: Floats, value: Floats, sign: int
) -> tuple[Floats, Floats]:
    """Return numerator and denominator where numerator - value * denominator is the most, or the least."""
    shape = len(new.number), new.rank.shape[1] + 1
    best, over = np.full(shape, -np.inf), np.zeros(shape)
    best[:, 0] = 0
    for number, (rank, above, behind, here) in enumerate(_documents(new)):
        precision = (above + np.arange(1, number + 2)) / rank
        options = [
            sign * (weight * precision - value[:, None] * cost)
            for weight, cost in zip(weights.relevant, costs, strict=True)
        ]
        chosen = np.argmax(options, axis=0)
        taken = best[:, : number + 1] + np.max(options, axis=0) + sign * behind
        after = over[:, : number + 1] + np.array(costs)[chosen]
        better = here & ((taken > best[:, 1 : number + 2]) | (not weights.may_be_other))
        best[:, 1 : number + 2], over[:, 1 : number + 2] = (
            np.where(better, taken, best[:, 1 : number + 2]),
            np.where(better, after, over[:, 1 : number + 2]),
        )
        if not weights.may_be_other:
            best[:, : number + 1] = np.where(here, -np.inf, best[:, : number + 1])
    which = best.argmax(axis=1)[:, None]
    denominator = known + np.take_along_axis(over, which, axis=1)[:, 0]
    added = sign * np.take_along_axis(best, which, axis=1)[:, 0] + value * (denominator - known)
    return new.numerator + added, denominator


def _least_of_ideal(new: _New, weights: Weights, k: float) -> Floats:
    """Return the least with norm='ideal', by how many new documents are relevant and how many weigh most."""
    low, high = weights.relevant[0], weights.relevant[-1]
    n = new.rank.shape[1] + 1
    least = np.full((len(new.number), n, n), np.inf)
    least[:, 0, 0] = 0
    for number, columns in enumerate(_documents(new)):
        rank, above, behind, here = (each[:, :, None] for each in columns)
        precision = (above + np.arange(1, number + 2)[:, None]) / rank
        before = least[:, : number + 1, : number + 1] + behind
        now = least[:, : number + 2, : number + 2].copy() if weights.may_be_other else None
        after = np.full((len(new.number), number + 2, number + 2), np.inf) if now is None else now
        np.minimum(after[:, 1:, :-1], before + low * precision, out=after[:, 1:, :-1])
        np.minimum(after[:, 1:, 1:], before + high * precision, out=after[:, 1:, 1:])
        least[:, : number + 2, : number + 2] = np.where(here, after, least[:, : number + 2, : number + 2])
    relevant, most = np.arange(n)[:, None], np.arange(n)[None, :]
    over = np.zeros_like(least)
    for level, step, known in zip(new.levels, new.steps, new.at_least, strict=True):
        added = relevant if level <= low else most if level <= high else 0
        over += step * np.minimum(known[:, None, None] + added, k)
    total = new.numerator[:, None, None] + least
    value = np.divide(total, over, out=np.zeros_like(total), where=over > 0)
    found: Floats = np.where(np.isfinite(least), value, np.inf).min(axis=(1, 2))
    return found
