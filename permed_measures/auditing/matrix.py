"""Keep which claims each convention prints, as one matrix: an audit's answers are counts over its rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.arrays import Bools, Floats
from permed_measures.auditing.measured_claims import MeasuredClaim
from permed_measures.conventions.options import rounding_of
from permed_measures.conventions.records import AVERAGED, OPTIONS, ROUNDING
from permed_measures.conventions.search_space import Codes, ConventionSpace


class ClaimColumn(NamedTuple):
    """A claim computed by many conventions. Those that do not differ for it share an entry.

    Attributes
    ----------
    entry : ndarray of int, shape (n_conventions,)
        The entry of each convention in the other arrays.
    entry_values : ndarray, shape (n_entries,)
        The mean; NaN where it is not defined.
    entry_units : ndarray, shape (n_entries, 2 times the number of readings)
        The mean as it would be printed, in units of the last digit, as `MeasuredClaim.printed_units`.
    entry_prints : ndarray of bool, shape (n_entries,)
        Whether it explains the claim.
    """

    entry: NDArray[np.integer[Any]]
    entry_values: Floats
    entry_units: Floats
    entry_prints: Bools

    @classmethod
    def of(cls, space: ConventionSpace[MeasuredClaim], trial: MeasuredClaim, codes: Codes) -> ClaimColumn:
        """Compute a claim by conventions; those that do not differ for it are computed once."""
        keys = space.measure_keys(trial, trial.options, codes)
        _, first, entry = np.unique(keys, return_index=True, return_inverse=True)
        codes = codes[first]
        values = space.compute(trial, codes)
        units = trial.printed_units(values, None)
        for rounding in OPTIONS[ROUNDING].values:
            if (digits := rounding_of(rounding).of_mean) is not None:
                rows = space.has(trial, ROUNDING, rounding, codes)
                units[rows] = trial.printed_units(values[rows], digits)
        prints = trial.include_claim(units)
        printing = np.flatnonzero(prints)
        has_one_value = space.in_own_sets(trial, codes[printing], {}, trial.sets_with_one_value, (AVERAGED,))
        for row in printing[has_one_value.astype(bool)]:
            options = space.options_of(trial.measure, codes[row])
            prints[row] = not trial.is_of_any_run({trial.measure: options})
        return cls(entry.astype(np.int32), values, units, prints)

    @property
    def prints(self) -> Bools:
        """Whether each convention explains the claim."""
        return np.asarray(self.entry_prints[self.entry])

    @property
    def units(self) -> Floats:
        """The printed value of each convention, in units of the last digit."""
        return np.asarray(self.entry_units[self.entry])

    @property
    def is_undefined(self) -> Bools:
        """Whether the claim is not defined by each convention."""
        return np.asarray(np.isnan(self.entry_values)[self.entry])


def count_explained(columns: Sequence[ClaimColumn]) -> Floats:
    """Count the claims that each convention explains; -inf if it is not defined for one of them."""
    counts = np.zeros(len(columns[0].entry))
    for column in columns:
        counts += column.prints
        counts[column.is_undefined] = -np.inf
    return counts


class MatrixRows:
    """Rows of a matrix: conventions with the same number of changes from a base.

    Attributes
    ----------
    codes : ndarray of int, shape (n_rows, number of columns of the space)
        The conventions.
    base : ndarray of int, shape (n_rows,)
        The index of the base of each convention, ascending.
    """

    def __init__(self, space: ConventionSpace[MeasuredClaim], codes: Codes, base: Codes) -> None:
        self._space, self.codes, self.base = space, codes, base
        self._columns: dict[MeasuredClaim, ClaimColumn] = {}

    def column(self, trial: MeasuredClaim) -> ClaimColumn:
        """Return a claim by each convention; it is computed once, and kept."""
        if trial not in self._columns:
            self._columns[trial] = ClaimColumn.of(self._space, trial, self.codes)
        return self._columns[trial]

    def count_explained(self, trials: Sequence[MeasuredClaim]) -> Floats:
        """Count the claims that each convention explains; -inf if it is not defined for one of them."""
        return count_explained([self.column(trial) for trial in trials])

    def first_of_bases(self, is_wanted: Bools) -> tuple[Codes, Codes]:
        """Select the first wanted convention of each base; return the conventions and their bases."""
        rows = np.flatnonzero(is_wanted)
        rows = rows[np.unique(self.base[rows], return_index=True)[1]]
        return self.codes[rows], self.base[rows]


class ClaimMatrix(ConventionSpace[MeasuredClaim]):
    """Conventions near the named ones, with the claims that each prints.

    A row is a convention, a column a claim. Rows are enumerated, and columns computed, when they are first
    needed; both are kept. The parameters are those of `ConventionSpace`.
    """

    @cached_property
    def _rows(self) -> dict[int, list[MatrixRows]]:
        return {}

    def rows(self, n_changes: int) -> list[MatrixRows]:
        """Return the conventions with `n_changes` changes from a base, some at a time."""
        if n_changes not in self._rows:
            neighbours = self.neighbours(n_changes)
            self._rows[n_changes] = [MatrixRows(self, codes, base) for codes, base in neighbours]
        return self._rows[n_changes]

    def columns(self, codes: Codes) -> list[ClaimColumn]:
        """Compute all claims by some conventions; these are not kept."""
        return [ClaimColumn.of(self, trial, codes) for trial in self.measurements]
