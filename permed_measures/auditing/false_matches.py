"""Estimate how often a match is false: how easily conventions print numbers that are not about the run.

Counting the numbers that can be printed is not enough. Over few queries a mean takes few values, and the
measures of one list depend on each other: the rank of an only relevant document fixes P@1, RR and AP. So the
numbers of other runs are simulated too, as means over resampled queries. These have the same steps and the
same dependence (Efron and Tibshirani 1993, An introduction to the bootstrap, chapter 6). Over many queries
their spread is narrower than that of other runs. The queries are then drawn from a first sample: the smaller
it is, the wider the spread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from math import prod
from typing import NamedTuple

import numpy as np

from permed_measures.arrays import Floats
from permed_measures.auditing.matrix import ClaimMatrix
from permed_measures.auditing.measured_claims import MeasuredClaim
from permed_measures.conventions.aggregate import QuerySets
from permed_measures.conventions.evaluate import means_of
from permed_measures.conventions.options import Convention, query_set_index
from permed_measures.conventions.ranking_variants import of_queries
from permed_measures.conventions.records import AVERAGED, QUERY_SET
from permed_measures.tolerances import SUM_NOISE

N_DRAWN = 10_000
"""The number of resampled rows for a verdict."""
_PILOT = 200
"""The number of resampled rows from which the spread is estimated."""
_CELLS = 2_000_000
"""The number of queries to draw at a time, which limits memory."""
_MAX_FIRST_SAMPLE = 4
"""The largest first sample, in multiples of the queries; larger ones hardly change the spread."""


class FalseMatchRate(NamedTuple):
    """How often conventions also explain random numbers near the claims, and rows of other runs.

    Attributes
    ----------
    n_values : int
        The number of different numbers, or rows of numbers, that conventions print near the claims.
    n_printable : int
        The number of numbers, or rows of numbers, that can be printed there.
    most_changes : int
        Conventions with more changes are not counted.
    n_selections : int
        The number of ways to choose as many of the claims as are explained.
    n_others : int
        The number of resampled rows of which at least as many numbers are explained.
    n_drawn : int
        The number of resampled rows.
    """

    n_values: int
    n_printable: int
    most_changes: int
    n_selections: int = 1
    n_others: int = 0
    n_drawn: int = 0

    @property
    def of_numbers(self) -> float:
        """The share of random numbers that are explained, from 0 to 1."""
        n_explained = self.n_values * self.n_selections  # as integers, which may exceed every float
        return min(n_explained, self.n_printable) / self.n_printable

    @property
    def of_other_runs(self) -> float:
        """The share of resampled rows that are explained, from 0 to 1; 0 if none were drawn."""
        return self.n_others / self.n_drawn if self.n_drawn else 0.0

    @property
    def value(self) -> float:
        """The higher of both shares."""
        return max(self.of_numbers, self.of_other_runs)


class PrintableRows:
    """The numbers near claims that conventions print.

    Parameters
    ----------
    matrix : ClaimMatrix
    trials : sequence of MeasuredClaim
        The claims of the matrix that are counted together.
    max_changes : int
        The maximum number of changes from a base of the matrix.

    Attributes
    ----------
    rows : set of tuple
        The rows of numbers that one convention prints, with a number for each claim.
    numbers_of_claim : list of set
        The numbers of each claim that any convention prints.
    """

    def __init__(self, matrix: ClaimMatrix, trials: Sequence[MeasuredClaim], max_changes: int) -> None:
        self.trials, self.max_changes = trials, max_changes
        self.rows: set[tuple[float, ...]] = set()
        self.numbers_of_claim: list[set[float]] = [set() for _ in trials]
        low, high = np.array([(trial.nearby.low, trial.nearby.high) for trial in trials]).T
        for conventions in chain.from_iterable(map(matrix.rows, range(max_changes + 1))):
            printed = [conventions.column(trial).units for trial in trials]
            for column in range(max(units.shape[1] for units in printed)):
                rows = np.column_stack([units[:, column % units.shape[1]] for units in printed])
                are_near = (low <= rows) & (rows <= high)
                self.rows.update(map(tuple, rows[are_near.all(axis=1)].tolist()))
                for units, is_near, numbers in zip(rows.T, are_near.T, self.numbers_of_claim, strict=True):
                    numbers.update(units[is_near].tolist())

    def chance(self, n_selections: int = 1) -> FalseMatchRate:
        """Count the rows that are printed, and that can be printed, for `n_selections` choices of claims."""
        n_printable = prod(trial.nearby.size for trial in self.trials)
        return FalseMatchRate(len(self.rows), n_printable, self.max_changes, n_selections)

    def count_explained(self, drawn: Floats, n_explained: int) -> int:
        """Count the resampled rows of which at least `n_explained` numbers are printed by a convention.

        If `n_explained` is all claims, one convention must print the whole row.
        """
        units_per_1 = 10.0 ** np.array([trial.claim.decimals for trial in self.trials])
        units = np.floor(drawn * units_per_1 + 0.5 + SUM_NOISE * units_per_1)
        if n_explained == len(self.trials):
            return sum(map(self.rows.__contains__, map(tuple, units.tolist())))
        are_printed = [
            np.isin(column, list(numbers))
            for column, numbers in zip(units.T, self.numbers_of_claim, strict=True)
        ]
        return int((np.sum(are_printed, axis=0) >= n_explained).sum())


# --- resampled rows ----------------------------------------------------------------------------------


def window_radii(trials: Sequence[MeasuredClaim]) -> Floats:
    """Return the distance from each claim to the farther end of the range of numbers near it."""
    ranges = [trial.nearby for trial in trials]
    units = [max(each.high - each.claimed, each.claimed - each.low) for each in ranges]
    return np.array([n / 10**trial.claim.decimals for n, trial in zip(units, trials, strict=True)])


def bootstrap_means(
    convention: Convention, trials: Sequence[MeasuredClaim], radii: Floats, n_drawn: int = N_DRAWN
) -> Floats:
    """Simulate the numbers of other runs as means over resampled queries.

    Their spread is at least that of the numbers near the claims.

    Parameters
    ----------
    convention : mapping
    trials : sequence of MeasuredClaim
    radii : ndarray, shape (n_trials,)
        The distance from each claim within which random numbers are compared with it.
    n_drawn : int
        The number of rows.

    Returns
    -------
    ndarray, shape (n_drawn, n_trials)
    """
    drawing = _Drawing(convention, trials)
    spread = _spread(drawing.means(_PILOT, None))
    wanted = radii / np.sqrt(3)  # the standard deviation of a uniform distribution
    varies = spread > 0
    ratio = float((wanted[varies] / spread[varies]).min(initial=np.inf)) ** 2  # of the variances
    n_first = None if ratio <= 1 or np.isinf(ratio) else max(int(len(drawing.counted) / (ratio - 1)), 1)
    return drawing.means(n_drawn, n_first)


def _spread(drawn: Floats) -> Floats:
    """Compute the standard deviation of each column, without NaN."""
    columns = [column[~np.isnan(column)] for column in drawn.T]
    return np.array([column.std() if len(column) else 0.0 for column in columns])


class _Drawing:
    """A bootstrap of the queries that count for any claim.

    Attributes
    ----------
    counted : ndarray
        The indices of these queries.
    """

    def __init__(self, convention: Convention, trials: Sequence[MeasuredClaim]) -> None:
        self._rng = np.random.default_rng(0)
        self._n_all = trials[0].run.judgments.n_queries
        counted = np.zeros(self._n_all, bool)
        self._claims = [_DrawnClaim.of(trial, convention) for trial in trials]
        for claim in self._claims:
            counted |= claim.sets.weights[claim.set_index] > 0
        self.counted = np.flatnonzero(counted)

    def means(self, n_drawn: int, n_first: int | None) -> Floats:
        """Draw rows of means over queries drawn with replacement, from all or from a first sample."""
        return np.concatenate([self._means_over(counts) for counts in self._draw(n_drawn, n_first)])

    def _means_over(self, counts: Floats) -> Floats:
        """Compute the mean of each claim over resampled queries; `counts` says how often each was drawn."""
        over = {
            (each.sets, each.set_index): each.sets.resampled(each.set_index, counts) for each in self._claims
        }
        return np.column_stack([each.means(over[each.sets, each.set_index]) for each in self._claims])

    def _draw(self, n_drawn: int, n_first: int | None) -> Iterator[Floats]:
        """Yield how often each query is drawn, for some rows at a time."""
        n, n_all = len(self.counted), self._n_all
        n_before = n if n_first is None else min(n_first, _MAX_FIRST_SAMPLE * n)
        at_a_time = max(_CELLS // max(n_all, n_before), 1)
        for start in range(0, n_drawn, at_a_time):
            n_rows = min(at_a_time, n_drawn - start)
            first = self._rng.integers(n, size=(n_rows, n_before))
            times = None
            if n_first is not None:
                times = self._rng.multinomial(n, np.full(n_before, 1 / n_before), size=n_rows).ravel()
            cells = np.arange(n_rows)[:, None] * n_all + self.counted[first]
            drawn = np.bincount(cells.ravel(), times, minlength=n_rows * n_all)
            yield drawn.reshape(n_rows, n_all).astype(np.float64)


class _DrawnClaim(NamedTuple):
    """A claim by a convention: its query sets, and the function that computes its means over others."""

    sets: QuerySets
    set_index: int
    means: Callable[[QuerySets], Floats]

    @classmethod
    def of(cls, trial: MeasuredClaim, convention: Convention) -> _DrawnClaim:
        own, cutoff = convention[trial.measure], trial.cutoff(convention)
        ranked = trial.run.ranked(own)
        if ranked is None:
            raise ValueError(f"the claim {trial.claim.name} cannot be computed by this convention")
        options = of_queries(trial.measure, own)
        sets = trial.run.query_sets_of(ranked, cutoff, own[AVERAGED])
        means = partial(means_of, trial.measure, cutoff, options, ranked)
        return cls(sets, query_set_index(own[QUERY_SET]), means)
