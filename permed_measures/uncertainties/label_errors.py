"""What wrong labels may do to a number: how often each grade is another, and values on labels drawn so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.judgments import Judgments
from permed_measures.errors import InputError, shown
from permed_measures.markup import counted
from permed_measures.people.agreement import Agreement, grades_by

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
    kappa : float or None
        Cohen's kappa of both qrels; None without a second, or where it is undefined.
    compared : int
        How many documents both judge.
    notes : list of str
    """

    levels: Floats
    rates: Floats
    about: str
    kappa: float | None
    compared: int
    notes: list[str]

    @classmethod
    def of(cls, error: Any, judgments: Judgments, scale: Floats) -> LabelErrors:
        """Take a probability, or compare with other qrels."""
        levels = np.unique([*scale, *judgments.grade[judgments.grade >= 0]])
        if isinstance(error, Real) and not isinstance(error, bool):
            return cls.to_neighbours(float(error), levels)
        return cls.between(judgments, Judgments.of(error), levels)

    @classmethod
    def to_neighbours(cls, probability: float, levels: Floats) -> LabelErrors:
        """Move a label to a neighbouring grade with a probability, half of it to each where there are two.

        Examples
        --------
        >>> LabelErrors.to_neighbours(0.1, np.arange(3.0)).rates.tolist()
        [[0.9, 0.1, 0.0], [0.05, 0.9, 0.05], [0.0, 0.1, 0.9]]
        """
        if not 0 <= probability <= 1:
            raise InputError(f"label_error must be from 0 to 1, or qrels (found {probability!r})")
        n = len(levels)
        near = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) == 1
        moved = near / np.maximum(near.sum(axis=1, keepdims=True), 1)
        kept = np.eye(n) * (1 - probability * near.any(axis=1))
        about = f"each label is another with probability {probability:g}, moved to a neighbouring grade"
        return cls(levels, probability * moved + kept, about, None, 0, [])

    @classmethod
    def between(cls, first: Judgments, second: Judgments, levels: Floats) -> LabelErrors:
        """Count what the second qrels say of the documents that both judge; negative grades are left out.

        Raises
        ------
        InputError
            If they share no document.
        """
        theirs = grades_by(first, second)
        both = (first.grade >= 0) & (theirs >= 0)
        if not both.any():
            problem = (
                "the qrels of label_error judge no document that the qrels judge with a grade of 0 or more"
            )
            raise InputError(problem, hint="Check the ids of queries and documents")
        levels = np.unique([*levels, *theirs[both]])
        n = len(levels)
        row, column = (np.searchsorted(levels, each[both]) for each in (first.grade, theirs))
        counts = np.bincount(row * n + column, minlength=n * n).reshape(n, n).astype(np.float64)
        seen = counts.sum(axis=1, keepdims=True)
        rates = np.where(seen > 0, counts / np.maximum(seen, 1), np.eye(n))
        here = set(first.grade[first.grade >= 0].tolist())
        unseen = [
            f"{level:g}"
            for level, count in zip(levels, seen[:, 0], strict=True)
            if not count and level in here
        ]
        notes = (
            [f"labels: the second qrels have no document of grade {', '.join(unseen)}; it stays"]
            if unseen
            else []
        )
        about = f"as often wrong as {counted(int(both.sum()), 'document')} that both qrels judge"
        kappa = Agreement.of(first.grade, theirs).kappa
        return cls(levels, rates, about, kappa, int(both.sum()), notes)

    def draws(self, judgments: Judgments, number: int, seed: int) -> Iterator[Floats]:
        """Yield grades of all judgments, drawn by the rates; a negative grade stays."""
        rng = np.random.default_rng(seed)
        place = np.searchsorted(self.levels, judgments.grade)  # 0 of a negative grade
        kept, other = np.diag(self.rates), self.rates * (1 - np.eye(len(self.levels)))
        shares = np.cumsum(other, axis=1) / np.maximum(other.sum(axis=1, keepdims=True), 1e-300)
        sure = judgments.grade < 0
        for _ in range(number):
            wrong = np.flatnonzero((rng.random(len(place)) >= kept[place]) & ~sure)
            drawn = (rng.random(len(wrong))[:, None] >= shares[place[wrong]]).sum(axis=1)
            grade = judgments.grade.copy()
            grade[wrong] = self.levels[np.minimum(drawn, len(self.levels) - 1)]
            yield grade


def is_label_error(value: object) -> bool:
    """Return whether this is a probability, or something that may be qrels."""
    if isinstance(value, bool):
        raise InputError(f"label_error must be from 0 to 1, or qrels (found {shown(value)})")
    return value is not None
