"""Measures as sums over the ranks of a list: what a document adds where it stands.

A document of grade g at rank i adds its weight times the discount of the rank, and a factor that the relevant
documents above it give; the sum is multiplied by a scale that the query has.

Queries with equal numbers of documents of each grade are one class: the same sums can be reached for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.arrays import Floats, Ints
from permed_measures.conventions.per_query import Discount, Factor
from permed_measures.engine.judgments import Judgments


@dataclass(frozen=True, eq=False)
class QueryClasses:
    """The classes of the queries of qrels.

    Attributes
    ----------
    grades : ndarray, shape (n_grades,)
        Those above 0, ascending: others change no measure where they are retrieved, unless negative ones are
        kept.
    counts : ndarray, shape (n_classes, n_grades)
        How many documents of each grade a query of each class has.
    sizes : ndarray, shape (n_classes,)
        How many queries each class has.
    examples : ndarray, shape (n_classes,)
        The number of a query of each class.
    """

    grades: Floats
    counts: Ints
    sizes: Ints
    examples: Ints

    @classmethod
    def of(
        cls, judgments: Judgments, counted: NDArray[np.bool_], *, keep_negative: bool = False
    ) -> QueryClasses:
        """Count the documents of each query.

        Parameters
        ----------
        judgments : Judgments
        counted : ndarray of bool
            Which queries count.
        keep_negative : bool
            Whether negative grades are kept; then also those of 0, which stand before them in an ideal list.
        """
        grades = np.unique(judgments.grade)
        if not keep_negative or not (grades < 0).any():
            grades = grades[grades > 0]
        queries = (judgments.query[judgments.grade == grade] for grade in grades.tolist())
        table = np.stack([np.bincount(each, minlength=judgments.n_queries) for each in queries], axis=1)
        rows, first, sizes = np.unique(table[counted], axis=0, return_index=True, return_counts=True)
        return cls(grades, rows, sizes, np.flatnonzero(counted)[first])

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return int(self.sizes.sum())

    def equals(self, other: QueryClasses) -> bool:
        """Return whether other classes are the same."""
        pairs = (self.grades, other.grades), (self.counts, other.counts), (self.sizes, other.sizes)
        return all(np.array_equal(*pair) for pair in pairs)


_FACTORS: dict[Factor, Callable[[Ints], NDArray[np.generic]]] = {
    Factor.ONE: np.ones_like,
    Factor.FIRST: lambda n_above: n_above == 0,
    Factor.FOUND: lambda n_above: n_above + 1,
}
"""What the number of relevant documents above makes of the weight of a document."""


class PrefixCounts(NamedTuple):
    """How far a list has come: the documents that are used, and those that are left, by grade."""

    grades: Floats
    used: Ints
    left: Ints


@dataclass(frozen=True, eq=False)
class Formula:
    """A measure as a sum over ranks.

    Attributes
    ----------
    cutoff : int or None
    weights : tuple of float
        Of the documents of each grade.
    factor : Factor
    discount : callable or None
        Of ranks; None if they do not matter.
    to_num_rel : bool
        Whether nothing counts below rank R, the number of relevant documents of the query.
    scale : ndarray, shape (n_classes,)
        What the sum is multiplied by for the queries of each class: 0 where there is nothing to divide by.
    level : float
        The lowest relevant grade, -inf if relevance does not matter.
    """

    cutoff: int | None
    weights: tuple[float, ...]
    scale: Floats
    factor: Factor = Factor.ONE
    discount: Discount | None = None
    to_num_rel: bool = False
    level: float = -np.inf

    @property
    def loses(self) -> bool:
        """Whether a document may lower the sum."""
        return min(self.weights, default=0.0) < 0

    def is_idle(self, grades: Floats) -> NDArray[np.bool_]:
        """Return of which grades documents change nothing, wherever they stand."""
        counts = (grades >= self.level) & (self.factor is not Factor.ONE)
        idle: NDArray[np.bool_] = (np.array(self.weights) == 0) & ~counts
        return idle

    def within(self, depth: int | None) -> Formula:
        """Return the same measure where no list has more documents than `depth`; None for any number."""
        if depth is None or (self.cutoff is not None and self.cutoff <= depth):
            return self
        return replace(self, cutoff=depth)

    def slots_below(self, depth: int) -> int:
        """Return how many ranks there are from `depth` to the cutoff."""
        return np.iinfo(np.int32).max if self.cutoff is None else max(self.cutoff - depth, 0)

    def essence(self, classes: QueryClasses) -> tuple[object, ...]:
        """Return what tells it from other formulas on the same queries; equal ones have equal values."""
        relevant = classes.grades >= self.level
        added = np.outer(self.scale, np.array(self.weights)).round(12)
        summand = self.factor, self.discount, self.to_num_rel
        return (self.cutoff, *summand, relevant.tobytes(), added.tobytes())

    def gains(self, states: PrefixCounts, rank: int) -> Floats:
        """Return what a document of each grade adds at a rank, by state and grade."""
        factor = np.asarray(_FACTORS[self.factor](self._n_relevant(states)), np.float64)
        added: Floats = np.outer(factor, np.array(self.weights)) * self._discounts(rank)[-1]
        return added * (self._slots(states, rank - 1) > 0)[:, None]

    def beyond(self, states: PrefixCounts, depth: int) -> Floats:
        """Return the most that ranks below `depth` add to the sum; the least is nothing.

        For the most, the heaviest documents have a place there: the heaviest first, or for precision, which
        rises, the heaviest last.
        """
        slots, above = self._slots(states, depth), self._n_relevant(states)
        falling = np.argsort(-np.array(self.weights), kind="stable").tolist()
        relevant = [g for g in falling if states.grades[g] >= self.level]
        taken = _taken(states.left, relevant, np.minimum(slots, 1) if self.factor is Factor.FIRST else slots)
        most = self._sum(taken, relevant[::-1] if self.factor is Factor.FOUND else relevant, depth, above)
        return most * (above == 0) if self.factor is Factor.FIRST else most

    def _sum(self, taken: Ints, order: Sequence[int], depth: int, above: Ints) -> Floats:
        """Return what documents add one after the other below a depth, those of each grade together."""
        place = np.arange(int(taken.sum(axis=1).max(initial=0)) + 1)
        discounts = np.append(0.0, self._discounts(depth + len(place) - 1)[depth:])
        plain, rising = np.cumsum(discounts), np.cumsum(discounts * place)
        total, end = np.zeros(len(taken)), np.zeros(len(taken), np.int64)
        for g in order:
            start, end = end, end + taken[:, g]
            added = plain[end] - plain[start]
            if self.factor is Factor.FOUND:
                added = above * added + rising[end] - rising[start]
            total += self.weights[g] * added
        return total

    def _discounts(self, n: int) -> Floats:
        ranks = np.arange(1, n + 1, dtype=np.int32)
        return self.discount(ranks) if self.discount else np.ones(n)

    def _slots(self, states: PrefixCounts, depth: int) -> Ints:
        """Return how many ranks there are from `depth` to the last that counts, by state."""
        slots: Ints = np.full(len(states.used), self.slots_below(depth))
        if self.to_num_rel:
            num_rel = (states.used + states.left)[:, states.grades >= self.level].sum(axis=1)
            slots = np.minimum(slots, np.maximum(num_rel - depth, 0))
        return slots

    def _n_relevant(self, states: PrefixCounts) -> Ints:
        found: Ints = states.used[:, states.grades >= self.level].sum(axis=1)
        return found


def _taken(left: Ints, order: Sequence[int], free: Ints) -> Ints:
    """Return how many documents of each grade have a place; the first in the order take theirs first."""
    taken = np.zeros_like(left)
    for g in order:
        taken[:, g] = np.minimum(left[:, g], free)
        free = free - taken[:, g]
    return taken


# --- means that are counts: most numbers that can be printed are none ------------------------------

_LARGEST_STEP = 10_000
"""The largest number of steps between 0 and 1 for a query: more are no help."""


def total_of(formula: Formula, classes: QueryClasses) -> int | None:
    """Return what the mean is a whole number of parts of; None if that is no help."""
    steps = _steps(formula)
    return None if steps is None else steps * classes.n_queries


def _steps(formula: Formula) -> int | None:
    """Return how many equal steps there are from 0 to 1 for each query."""
    if {*formula.weights} - {0.0, 1.0} or formula.factor is Factor.FOUND or formula.discount:
        return None
    denominators = np.unique((1 / formula.scale[formula.scale > 0]).round(9)).tolist()
    if not denominators or any(each % 1 for each in denominators):
        return None
    found = lcm(*map(int, denominators))
    return found if found <= _LARGEST_STEP else None
