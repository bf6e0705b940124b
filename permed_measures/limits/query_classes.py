"""Queries with equal numbers of documents of each grade: the same numbers can be reached for all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.judgments import Ints, Judgments

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class QueryClasses:
    """The classes of the queries of qrels.

    Attributes
    ----------
    grades : ndarray, shape (n_grades,)
        Those that change a measure where they are retrieved, ascending: the relevant ones, and negative ones
        where these count.
    counts : ndarray, shape (n_classes, n_grades)
        How many documents of each grade a query of each class has.
    zeros : ndarray, shape (n_classes,)
        How many documents of grade 0 it has; an ideal list has them before the negative ones.
    sizes : ndarray, shape (n_classes,)
        How many queries each class has.
    """

    grades: Floats
    counts: Ints
    zeros: Ints
    sizes: Ints

    @classmethod
    def of(cls, judgments: Judgments, *, only_relevant: bool, negative: bool) -> QueryClasses:
        """Count the documents of each query.

        Parameters
        ----------
        judgments : Judgments
        only_relevant : bool
            Whether queries without a relevant document are left out.
        negative : bool
            Whether negative grades count; if not, documents of grade 0 are as good as unjudged ones.
        """
        every = np.unique(judgments.grade)
        grades = every[(every > 0) | ((every < 0) & negative)]
        queries = (judgments.query[judgments.grade == grade] for grade in (*grades.tolist(), 0.0))
        table = np.stack([np.bincount(each, minlength=judgments.n_queries) for each in queries], axis=1)
        table[:, -1] *= negative
        counted = judgments.num_rel(1) > 0 if only_relevant else np.ones(len(table), np.bool_)
        rows, sizes = np.unique(table[counted], axis=0, return_counts=True)
        return cls(grades, rows[:, :-1], rows[:, -1], sizes)

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return int(self.sizes.sum())

    def equals(self, other: QueryClasses) -> bool:
        """Return whether other classes are the same."""
        pairs = ((self.grades, other.grades), (self.counts, other.counts), (self.zeros, other.zeros))
        return all(np.array_equal(*pair) for pair in (*pairs, (self.sizes, other.sizes)))

    def num_rel(self, level: float) -> Ints:
        """Return the number of relevant documents of a query of each class."""
        found: Ints = self.counts[:, self.grades >= level].sum(axis=1)
        return found
