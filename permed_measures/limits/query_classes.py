"""Queries with equal numbers of documents of each grade: the same numbers can be reached for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.judgments import Ints, Judgments

Floats = NDArray[np.float64]


class Cases(NamedTuple):
    """Queries, and perhaps what their runs have within the cutoff.

    Attributes
    ----------
    grades : ndarray, shape (n_grades,)
    counts : ndarray, shape (n_cases, n_grades)
        How many documents of each grade the query has.
    zeros : ndarray, shape (n_cases,)
        How many of grade 0.
    found : ndarray, shape (n_cases, n_grades)
        How many of each grade stand within the cutoff, where that is given.
    """

    grades: Floats
    counts: Ints
    zeros: Ints
    found: Ints


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
    def of(cls, judgments: Judgments, *, only_relevant: bool = False, negative: bool = False) -> QueryClasses:
        """Count the documents of each query.

        Parameters
        ----------
        judgments : Judgments
        only_relevant : bool
            Whether queries without a relevant document are left out.
        negative : bool
            Whether negative grades count.
        """
        every = np.unique(judgments.grade)
        grades = every[(every > 0) | ((every < 0) & negative)]
        columns = [_count(judgments, grade) for grade in (*grades.tolist(), 0.0)]
        if not negative:  # documents of grade 0 are as good as unjudged ones
            columns[-1] = np.zeros_like(columns[-1])
        table = np.stack(columns, axis=1)
        counted = judgments.num_rel(1) > 0 if only_relevant else np.ones(len(table), np.bool_)
        rows, sizes = np.unique(table[counted], axis=0, return_counts=True)
        return cls(grades, rows[:, :-1], rows[:, -1], sizes)

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return int(self.sizes.sum())

    @property
    def cases(self) -> Cases:
        """The classes, whatever their runs have within a cutoff."""
        return Cases(self.grades, self.counts, self.zeros, np.zeros_like(self.counts))

    @property
    def essence(self) -> tuple[bytes, ...]:
        """What tells these classes from others."""
        return tuple(each.tobytes() for each in (self.grades, self.counts, self.zeros, self.sizes))

    def num_rel(self, level: float) -> Ints:
        """Return the number of relevant documents of a query of each class."""
        found: Ints = self.counts[:, self.grades >= level].sum(axis=1)
        return found


def _count(judgments: Judgments, grade: float) -> Ints:
    return np.bincount(judgments.query[judgments.grade == grade], minlength=judgments.n_queries)
