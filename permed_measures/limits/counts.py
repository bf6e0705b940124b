"""Means that are counts: most numbers that can be printed are none."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np

from permed_measures.limits.bounds import Interval
from permed_measures.limits.formulas import FirstHit, Formula, HitCount
from permed_measures.limits.query_classes import QueryClasses
from permed_measures.papers.claims import Claim
from permed_measures.papers.printed import Printed

_LARGEST_STEP = 10_000
"""The largest number of steps between 0 and 1 for a query: more are no help."""


class Counts(NamedTuple):
    """The counts that print as a claim.

    Attributes
    ----------
    total : int
        What the count is divided by.
    rounded : range
        Those that are rounded to it.
    anyhow : range
        Those that may have become it in any way.
    """

    total: int
    rounded: range
    anyhow: range

    @classmethod
    def of(cls, claim: Claim, total: int) -> Counts:
        """Find the counts."""
        return cls(total, claim.printed().counts(total), claim.anyhow.counts(total))

    @property
    def interval(self) -> Interval:
        """Return the means from the least of the counts to the most."""
        ends = (Fraction(self.anyhow[0], self.total), Fraction(self.anyhow[-1], self.total))
        return Interval(*Printed(*ends).ends)


def total_of(formula: Formula, classes: QueryClasses, n_queries: int | None) -> int | None:
    """Return what the mean is a whole number of parts of; None if that is no help.

    Parameters
    ----------
    formula : Formula
    classes : QueryClasses
    n_queries : int or None
        How many queries the mean is taken over, if not over all.
    """
    if isinstance(formula, HitCount) and formula.over == "mean":
        return None if n_queries else int(classes.num_rel(formula.level) @ classes.sizes)
    steps = _steps(formula, classes)
    return None if steps is None or steps > _LARGEST_STEP else steps * (n_queries or classes.n_queries)


def _steps(formula: Formula, classes: QueryClasses) -> int | None:
    """Return how many equal steps there are from 0 to 1 for each query."""
    if isinstance(formula, FirstHit):
        if not formula.reciprocal:
            return 1
        return None if formula.cutoff is None else _multiple(range(1, formula.cutoff + 1))
    if not isinstance(formula, HitCount):
        return None
    if formula.over == "cutoff":
        return formula.cutoff
    num_rel = np.unique(classes.num_rel(formula.level)).tolist()
    if formula.over == "both":
        return _multiple(each + (formula.cutoff or 0) for each in num_rel)
    most = formula.cutoff if formula.over == "min" and formula.cutoff else max(num_rel)
    return _multiple(min(each, most) for each in num_rel if each)


def _multiple(numbers: Iterable[int]) -> int | None:
    """Return the least common multiple; None if it is too large."""
    found = 1
    for number in numbers:
        found = lcm(found, number)
        if found > _LARGEST_STEP:
            return None
    return found
