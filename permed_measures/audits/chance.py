"""What a match is worth: how easily conventions print numbers that have nothing to do with the run."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.audits.trials import NOISE, Trial, Tried
from permed_measures.conventions.spaces import Space

Floats = NDArray[np.float64]


class Chance(NamedTuple):
    """How often arbitrary numbers near the claims, and those of other runs, would be explained as these are.

    Attributes
    ----------
    n_values : int
        How many different numbers, or rows of numbers, conventions print near the claims.
    n_printable : int
        How many can be printed there.
    most_changes : int
        Conventions with more changes are not counted.
    n_selections : int
        In how many ways as many of the claims can be chosen as are explained.
    n_others : int
        Of how many of `n_drawn` rows that other runs would have at least as many numbers are explained.
    n_drawn : int
    """

    n_values: int
    n_printable: int
    most_changes: int
    n_selections: int = 1
    n_others: int = 0
    n_drawn: int = 0

    @property
    def of_numbers(self) -> float:
        """The chance of arbitrary numbers, from 0 to 1."""
        return min(self.n_values / self.n_printable * self.n_selections, 1.0)

    @property
    def of_other_runs(self) -> float:
        """The chance of the numbers of other runs, from 0 to 1; 0 if none were drawn."""
        return self.n_others / self.n_drawn if self.n_drawn else 0.0

    @property
    def value(self) -> float:
        """The higher of both."""
        return max(self.of_numbers, self.of_other_runs)


class NearRows:
    """The numbers near claims that one convention prints, with so many changes from a base.

    Parameters
    ----------
    space : Space
    trials : sequence of Trial
        Those of the space that are counted together.
    most : int
        How many changes at most.

    Attributes
    ----------
    rows : set of tuple
        A number for each trial.
    of_trial : list of set
        The numbers of each trial, whatever the others are.
    """

    def __init__(self, space: Space[Trial], trials: Sequence[Trial], most: int) -> None:
        self.trials, self.most = trials, most
        self.rows: set[tuple[float, ...]] = set()
        self.of_trial: list[set[float]] = [set() for _ in trials]
        low, high = np.array([(trial.window.low, trial.window.high) for trial in trials]).T
        for _, near in space.within(most):
            codes = [Tried.of(space, trial, near).codes for trial in trials]
            for way in range(max((each.shape[1] for each in codes), default=0)):
                rows = np.column_stack([each[:, way % each.shape[1]] for each in codes])
                are_near = (low <= rows) & (rows <= high)
                self.rows.update(map(tuple, rows[are_near.all(axis=1)].tolist()))
                for column, is_near, found in zip(rows.T, are_near.T, self.of_trial, strict=True):
                    found.update(column[is_near].tolist())

    def chance(self, n_selections: int = 1) -> Chance:
        """Return the chance of arbitrary numbers; so many claims can be chosen in `n_selections` ways."""
        n_printable = prod(trial.window.size for trial in self.trials)
        return Chance(len(self.rows), n_printable, self.most, n_selections)

    def explain(self, drawn: Floats, n_explained: int) -> int:
        """Count the rows of other numbers of which as many are explained, by one convention if it is all."""
        units = 10.0 ** np.array([trial.claim.decimals for trial in self.trials])
        codes = np.floor(drawn * units + 0.5 + NOISE * units)
        if n_explained == len(self.trials):
            return sum(map(self.rows.__contains__, map(tuple, codes.tolist())))
        known = [np.isin(column, list(found)) for column, found in zip(codes.T, self.of_trial, strict=True)]
        return int((np.sum(known, axis=0) >= n_explained).sum())
