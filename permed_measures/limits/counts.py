"""Means that are counts: most numbers that can be printed are none."""

from __future__ import annotations

from collections.abc import Iterable
from math import lcm

import numpy as np

from permed_measures.limits.formulas import Formula
from permed_measures.limits.query_classes import QueryClasses

_LARGEST_STEP = 10_000
"""The largest number of steps between 0 and 1 for a query: more are no help."""


def total_of(formula: Formula, classes: QueryClasses) -> int | None:
    """Return what the mean is a whole number of parts of; None if that is no help."""
    steps = _steps(formula, classes)
    return None if steps is None else steps * classes.n_queries


def _steps(formula: Formula, classes: QueryClasses) -> int | None:
    """Return how many equal steps there are from 0 to 1 for each query."""
    if formula.factor == "first" and not formula.discount:
        return 1
    if {*formula.weights} - {0.0, 1.0} or formula.factor == "precision" or formula.discount:
        return None
    if formula.over == "cutoff":
        return formula.cutoff
    num_rel = np.unique(classes.num_rel(formula.level)).tolist()
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
