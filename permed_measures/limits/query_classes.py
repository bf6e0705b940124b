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
        Those above 0, ascending: others change no measure where they are retrieved, unless negative ones are
        kept.
    counts : ndarray, shape (n_classes, n_grades)
        How many documents of each grade a query of each class has.
    sizes : ndarray, shape (n_classes,)
        How many queries each class has.
    """

    grades: Floats
    counts: Ints
    sizes: Ints

    @classmethod
    def of(cls, judgments: Judgments, *, only_relevant: bool, keep_negative: bool = False) -> QueryClasses:
        """Count the documents of each query.

        Parameters
        ----------
        judgments : Judgments
        only_relevant : bool
            Whether queries without a relevant document are left out.
        keep_negative : bool
            Whether negative grades are kept; then also those of 0, which stand before them in an ideal list.
        """
        grades = np.unique(judgments.grade)
        if not keep_negative or not (grades < 0).any():
            grades = grades[grades > 0]
        queries = (judgments.query[judgments.grade == grade] for grade in grades.tolist())
        table = np.stack([np.bincount(each, minlength=judgments.n_queries) for each in queries], axis=1)
        counted = judgments.num_rel(1) > 0 if only_relevant else np.ones(len(table), np.bool_)
        rows, sizes = np.unique(table[counted], axis=0, return_counts=True)
        return cls(grades, rows, sizes)

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return int(self.sizes.sum())

    def equals(self, other: QueryClasses) -> bool:
        """Return whether other classes are the same."""
        pairs = (self.grades, other.grades), (self.counts, other.counts), (self.sizes, other.sizes)
        return all(np.array_equal(*pair) for pair in pairs)

    def num_rel(self, level: float) -> Ints:
        """Return the number of relevant documents of a query of each class."""
        found: Ints = self.counts[:, self.grades >= level].sum(axis=1)
        return found
