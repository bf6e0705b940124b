"""What several kernels need: sums per query, running sums, safe division, gains of grades."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.judgments import offsets_of

Floats = NDArray[np.float64]
Gains = Mapping[float, float]


def sums(query: NDArray[np.int32], values: NDArray[np.floating[Any]] | None, n_queries: int) -> Floats:
    """Return the sum of the values (without values: the number of rows) per query."""
    return np.bincount(query, values, minlength=n_queries).astype(np.float64)


def running_sum(query: NDArray[np.int32], values: Floats, n_queries: int) -> Floats:
    """Return the sum of the values within the query up to each row; `query` is ascending.

    Each query is added up by itself: what stands in another one changes no digit of it.
    """
    running, offsets = np.empty(len(values)), offsets_of(query, n_queries)
    lengths = np.diff(offsets)
    for length in np.unique(lengths).tolist():  # of n rows, at most the root of 2 n
        rows = offsets[:-1][lengths == length, None] + np.arange(length)
        running[rows] = np.cumsum(values[rows], axis=1)
    return running


def divide(numerator: Floats, denominator: Floats | NDArray[np.int64]) -> Floats:
    """Return the quotient, and 0 where the denominator is not above 0."""
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator > 0)


def look_up(grade: Floats, gains: Gains) -> Floats:
    """Return the gain of each grade; a grade without one keeps its own value."""
    gain = grade.copy()
    for of_grade, value in gains.items():
        gain[grade == of_grade] = value
    return gain
