"""Write measures as sums over ranks: weight times discount times factor, scaled for each query.

The weight depends on the grade of the document, the discount on its rank, and the factor on the relevant
documents above it. The scale divides the sum, for example by the ideal DCG.

Queries with the same number of documents of each grade are one class: they can reach the same sums.
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
        The grades above 0, ascending. Documents of grade 0 or less cannot change any of these measures,
        except with negative='keep': then all grades are here.
    counts : ndarray, shape (n_classes, n_grades)
        The number of documents of each grade that a query of the class has.
    sizes : ndarray, shape (n_classes,)
        The number of queries of each class.
    examples : ndarray, shape (n_classes,)
        The index of one query of each class.
    """

    grades: Floats
    counts: Ints
    sizes: Ints
    examples: Ints

    @classmethod
    def of(
        cls, judgments: Judgments, counted: NDArray[np.bool_], *, keep_negative: bool = False
    ) -> QueryClasses:
        """Group the queries by their number of documents of each grade.

        Parameters
        ----------
        judgments : Judgments
        counted : ndarray of bool
            The queries that count.
        keep_negative : bool
            Whether negative grades are kept. Then grade 0 is kept too: it precedes them in an ideal list.
        """
        grades = np.unique(judgments.grade)
        if not keep_negative or not (grades < 0).any():
            grades = grades[grades > 0]
        by_grade = (judgments.query[judgments.grade == grade] for grade in grades.tolist())
        columns = [np.bincount(queries, minlength=judgments.n_queries) for queries in by_grade]
        table = np.stack(columns, axis=1)
        rows, first, sizes = np.unique(table[counted], axis=0, return_index=True, return_counts=True)
        return cls(grades, rows, sizes, np.flatnonzero(counted)[first])

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return int(self.sizes.sum())

    def equals(self, other: QueryClasses) -> bool:
        """Check whether other classes are the same."""
        pairs = (self.grades, other.grades), (self.counts, other.counts), (self.sizes, other.sizes)
        return all(np.array_equal(*pair) for pair in pairs)


_FACTORS: dict[Factor, Callable[[Ints], NDArray[np.generic]]] = {
    Factor.ONE: np.ones_like,
    Factor.FIRST: lambda n_above: n_above == 0,
    Factor.FOUND: lambda n_above: n_above + 1,
}
"""The factor of a document, from the number of relevant documents above it."""


class PrefixCounts(NamedTuple):
    """The documents of a list down to some rank, and the documents that are left, by grade."""

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
        The weight of a document, for each grade.
    scale : ndarray, shape (n_classes,)
        The multiplier of the sum for the queries of each class: 0 if the denominator is 0.
    factor : Factor
    discount : callable or None
        Maps ranks to their discounts; None if ranks are not discounted.
    to_num_rel : bool
        Whether only ranks down to R count, the number of relevant documents of the query.
    level : float
        The lowest relevant grade; -inf if the measure does not use relevance.
    """

    cutoff: int | None
    weights: tuple[float, ...]
    scale: Floats
    factor: Factor = Factor.ONE
    discount: Discount | None = None
    to_num_rel: bool = False
    level: float = -np.inf

    @property
    def has_negative_weights(self) -> bool:
        """Whether a document may lower the sum."""
        return min(self.weights, default=0.0) < 0

    def grades_without_effect(self, grades: Floats) -> NDArray[np.bool_]:
        """Mark the grades whose documents change nothing at any rank."""
        counts = (grades >= self.level) & (self.factor is not Factor.ONE)
        no_effect: NDArray[np.bool_] = (np.array(self.weights) == 0) & ~counts
        return no_effect

    def truncated_at(self, depth: int | None) -> Formula:
        """Limit the measure to lists of at most `depth` documents; None for any length."""
        if depth is None or (self.cutoff is not None and self.cutoff <= depth):
            return self
        return replace(self, cutoff=depth)

    def slots_below(self, depth: int) -> int:
        """Count the ranks below `depth` that are within the cutoff."""
        return np.iinfo(np.int32).max if self.cutoff is None else max(self.cutoff - depth, 0)

    def equivalence_key(self, classes: QueryClasses) -> tuple[object, ...]:
        """Return a key that is equal for formulas with equal values on these queries."""
        relevant = classes.grades >= self.level
        added = np.outer(self.scale, np.array(self.weights)).round(12)
        summand = self.factor, self.discount, self.to_num_rel
        return (self.cutoff, *summand, relevant.tobytes(), added.tobytes())

    def gains(self, states: PrefixCounts, rank: int) -> Floats:
        """Compute what a document adds at a rank, by state and grade."""
        factor = np.asarray(_FACTORS[self.factor](self._n_relevant(states)), np.float64)
        added: Floats = np.outer(factor, np.array(self.weights)) * self._discounts(rank)[-1]
        return added * (self._slots(states, rank - 1) > 0)[:, None]

    def tail_upper_bound(self, states: PrefixCounts, depth: int) -> Floats:
        """Compute the maximum that ranks below `depth` add to the sum; the minimum is 0.

        The documents with the largest weights take these ranks, the heaviest first. For AP the heaviest comes
        last: its factor rises with each relevant document.
        """
        slots, above = self._slots(states, depth), self._n_relevant(states)
        falling = np.argsort(-np.array(self.weights), kind="stable").tolist()
        relevant = [g for g in falling if states.grades[g] >= self.level]
        taken = _taken(states.left, relevant, np.minimum(slots, 1) if self.factor is Factor.FIRST else slots)
        total = self._sum(taken, relevant[::-1] if self.factor is Factor.FOUND else relevant, depth, above)
        return total * (above == 0) if self.factor is Factor.FIRST else total

    def _sum(self, taken: Ints, order: Sequence[int], depth: int, above: Ints) -> Floats:
        """Sum what documents add below a depth, grade by grade in the given order."""
        position = np.arange(int(taken.sum(axis=1).max(initial=0)) + 1)
        discounts = np.append(0.0, self._discounts(depth + len(position) - 1)[depth:])
        plain, rising = np.cumsum(discounts), np.cumsum(discounts * position)
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
        """Count the ranks below `depth` down to the last one that counts, by state."""
        slots: Ints = np.full(len(states.used), self.slots_below(depth))
        if self.to_num_rel:
            num_rel = (states.used + states.left)[:, states.grades >= self.level].sum(axis=1)
            slots = np.minimum(slots, np.maximum(num_rel - depth, 0))
        return slots

    def _n_relevant(self, states: PrefixCounts) -> Ints:
        n_relevant: Ints = states.used[:, states.grades >= self.level].sum(axis=1)
        return n_relevant


def _taken(left: Ints, order: Sequence[int], free: Ints) -> Ints:
    """Count the documents of each grade that fit into the free ranks, in the order of the grades."""
    taken = np.zeros_like(left)
    for g in order:
        taken[:, g] = np.minimum(left[:, g], free)
        free = free - taken[:, g]
    return taken


# --- means that are counts, divided by a total -----------------------------------------------------

_LARGEST_STEP = 10_000
"""The maximum number of steps between 0 and 1 for a query: with more, nearly every number is a count."""


def total_of(formula: Formula, classes: QueryClasses) -> int | None:
    """Return the total such that the mean is a whole number divided by it; None if no useful one exists."""
    steps = _steps(formula)
    return None if steps is None else steps * classes.n_queries


def _steps(formula: Formula) -> int | None:
    """Count the equal steps from 0 to 1 that the value of each query can take."""
    if {*formula.weights} - {0.0, 1.0} or formula.factor is Factor.FOUND or formula.discount:
        return None
    denominators = np.unique((1 / formula.scale[formula.scale > 0]).round(9)).tolist()
    if not denominators or any(denominator % 1 for denominator in denominators):
        return None
    n_steps = lcm(*map(int, denominators))
    return n_steps if n_steps <= _LARGEST_STEP else None
