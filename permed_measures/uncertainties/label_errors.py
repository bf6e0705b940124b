"""What wrong labels may do to a number: how often each grade is another, and values on labels drawn so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.judgments import Judgments
from permed_measures.errors import InputError, shown
from permed_measures.progress import tracked

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LabelErrors:
    """How often a document with a grade would have another one.

    Attributes
    ----------
    levels : ndarray, shape (n_levels,)
        The grades, ascending.
    rates : ndarray, shape (n_levels, n_levels)
        The probability of each grade (column), given the label (row).
    about : str
        Where they come from.
    """

    levels: Floats
    rates: Floats
    about: str

    @classmethod
    def of(cls, error: object, judgments: Judgments, scale: Floats) -> LabelErrors:
        """Return the errors of a probability, on all grades of the judgments and of a scale."""
        if not isinstance(error, Real) or isinstance(error, bool) or not 0 <= float(error) <= 1:
            raise InputError(
                f"label_error must be a number from 0 to 1 (found {shown(error)})",
                hint="Labels that people gave to a sample are human: --human on the command line",
            )
        return cls.to_neighbours(float(error), np.unique([*scale, *judgments.grade[judgments.grade >= 0]]))

    @classmethod
    def to_neighbours(cls, probability: float, levels: Floats) -> LabelErrors:
        """Move a label to a neighbouring grade with a probability, half of it to each where there are two.

        Examples
        --------
        >>> LabelErrors.to_neighbours(0.1, np.arange(3.0)).rates.tolist()
        [[0.9, 0.1, 0.0], [0.05, 0.9, 0.05], [0.0, 0.1, 0.9]]
        """
        n = len(levels)
        near = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) == 1
        moved = near / np.maximum(near.sum(axis=1, keepdims=True), 1)
        kept = np.eye(n) * (1 - probability * near.any(axis=1))
        about = f"each label is another with probability {probability:g}, moved to a neighbouring grade"
        return cls(levels, probability * moved + kept, about)

    def draws(self, judgments: Judgments, number: int, seed: int) -> Iterator[Floats]:
        """Yield grades of all judgments, drawn by the rates; a negative grade stays."""
        rng = np.random.default_rng(seed)
        place = np.searchsorted(self.levels, judgments.grade)  # 0 of a negative grade
        kept, other = np.diag(self.rates), self.rates * (1 - np.eye(len(self.levels)))
        shares = np.cumsum(other, axis=1) / np.maximum(other.sum(axis=1, keepdims=True), 1e-300)
        sure = judgments.grade < 0
        for _ in tracked(range(number), "draws of labels"):
            wrong = np.flatnonzero((rng.random(len(place)) >= kept[place]) & ~sure)
            drawn = (rng.random(len(wrong))[:, None] >= shares[place[wrong]]).sum(axis=1)
            grade = judgments.grade.copy()
            grade[wrong] = self.levels[np.minimum(drawn, len(self.levels) - 1)]
            yield grade
