"""What a match is worth: how easily conventions print numbers that have nothing to do with the run.

Over few queries a mean takes few values, and measures of one list depend on each other: P@1, RR and AP of a
query with one relevant document are all said by its rank. So how many numbers can be printed says too little,
and the numbers are looked at that other runs would have: means over the queries drawn again. The bootstrap
has the same steps and the same dependence (Efron and Tibshirani 1993, An introduction to the bootstrap,
chapter 6). Over many queries its means would scatter less than the numbers of other runs do; then queries are
drawn from some that were drawn before, as few as make the scatter wide enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import prod
from typing import NamedTuple

import numpy as np

from permed_measures.arrays import Floats
from permed_measures.auditing.measured_claims import ClaimValues, MeasuredClaim
from permed_measures.conventions.aggregate import QuerySets
from permed_measures.conventions.evaluate import means_of
from permed_measures.conventions.options import Convention, place
from permed_measures.conventions.ranking_variants import of_queries
from permed_measures.conventions.records import AVERAGED, QUERY_SET
from permed_measures.conventions.search_space import ConventionSpace
from permed_measures.tolerances import SUM_NOISE

N_DRAWN = 10_000
"""How many rows are drawn for a verdict."""
_PILOT = 200
"""How many are drawn to see how far they scatter."""
_CELLS = 2_000_000
"""How many queries are drawn at a time."""
_MOST_FIRST = 4
"""From so many times the queries are they drawn at most; from more they would scatter hardly less."""


class FalseMatchRate(NamedTuple):
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
        n_explained = self.n_values * self.n_selections  # whole numbers, which may be larger than any float
        return min(n_explained, self.n_printable) / self.n_printable

    @property
    def of_other_runs(self) -> float:
        """The chance of the numbers of other runs, from 0 to 1; 0 if none were drawn."""
        return self.n_others / self.n_drawn if self.n_drawn else 0.0

    @property
    def value(self) -> float:
        """The higher of both."""
        return max(self.of_numbers, self.of_other_runs)


class PrintableRows:
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
    numbers_of_claim : list of set
        The numbers of each trial, whatever the others are.
    """

    def __init__(
        self, space: ConventionSpace[MeasuredClaim], trials: Sequence[MeasuredClaim], max_changes: int
    ) -> None:
        self.trials, self.max_changes = trials, max_changes
        self.rows: set[tuple[float, ...]] = set()
        self.numbers_of_claim: list[set[float]] = [set() for _ in trials]
        low, high = np.array([(trial.nearby.low, trial.nearby.high) for trial in trials]).T
        for near in space.neighbours(max_changes):
            codes = [ClaimValues.of(space, trial, near.codes).printed for trial in trials]
            for way in range(max(each.shape[1] for each in codes)):
                rows = np.column_stack([each[:, way % each.shape[1]] for each in codes])
                are_near = (low <= rows) & (rows <= high)
                self.rows.update(map(tuple, rows[are_near.all(axis=1)].tolist()))
                for column, is_near, found in zip(rows.T, are_near.T, self.numbers_of_claim, strict=True):
                    found.update(column[is_near].tolist())

    def chance(self, n_selections: int = 1) -> FalseMatchRate:
        """Return the chance of arbitrary numbers; so many claims can be chosen in `n_selections` ways."""
        n_printable = prod(trial.nearby.size for trial in self.trials)
        return FalseMatchRate(len(self.rows), n_printable, self.max_changes, n_selections)

    def count_explained(self, drawn: Floats, n_explained: int) -> int:
        """Count the rows of other numbers of which as many are explained, by one convention if it is all."""
        units = 10.0 ** np.array([trial.claim.decimals for trial in self.trials])
        codes = np.floor(drawn * units + 0.5 + SUM_NOISE * units)
        if n_explained == len(self.trials):
            return sum(map(self.rows.__contains__, map(tuple, codes.tolist())))
        known = [
            np.isin(column, list(found)) for column, found in zip(codes.T, self.numbers_of_claim, strict=True)
        ]
        return int((np.sum(known, axis=0) >= n_explained).sum())


# --- the numbers of other runs -----------------------------------------------------------------------


def window_radii(trials: Sequence[MeasuredClaim]) -> Floats:
    """Return how far the numbers near each claim are from it."""
    windows = [trial.nearby for trial in trials]
    codes = [max(each.high - each.code, each.code - each.low) for each in windows]
    return np.array([code / 10**trial.claim.decimals for code, trial in zip(codes, trials, strict=True)])


def bootstrap_means(
    convention: Convention, trials: Sequence[MeasuredClaim], radii: Floats, n_drawn: int = N_DRAWN
) -> Floats:
    """Return the means of other runs, which scatter as far as the numbers near the claims or further.

    Parameters
    ----------
    convention : mapping
    trials : sequence of Trial
    radii : ndarray, shape (n_trials,)
        How far the numbers near each claim are from it.
    n_drawn : int
        How many runs.

    Returns
    -------
    ndarray, shape (n_drawn, n_trials)
    """
    drawing = _Drawing(convention, trials)
    scatter = _spread(drawing.means(_PILOT, None))
    wanted = radii / np.sqrt(3)  # the standard deviation of a uniform distribution
    moves = scatter > 0
    times = float((wanted[moves] / scatter[moves]).min(initial=np.inf)) ** 2
    n_first = None if times <= 1 or np.isinf(times) else max(int(len(drawing.counted) / (times - 1)), 1)
    return drawing.means(n_drawn, n_first)


def _spread(drawn: Floats) -> Floats:
    """Return the standard deviation of each column, of the means that could be taken."""
    columns = [column[~np.isnan(column)] for column in drawn.T]
    return np.array([column.std() if len(column) else 0.0 for column in columns])


class _Drawing:
    """Draws the queries that count for any claim, and takes the mean of each claim over its own.

    Attributes
    ----------
    counted : ndarray
        The numbers of these queries.
    """

    def __init__(self, convention: Convention, trials: Sequence[MeasuredClaim]) -> None:
        self._rng = np.random.default_rng(0)
        self._n_all = trials[0].run.judgments.n_queries
        counted = np.zeros(self._n_all, bool)
        self._claims = [_DrawnClaim.of(trial, convention) for trial in trials]
        for each in self._claims:
            counted |= each.sets.weights[each.set_index] > 0
        self.counted = np.flatnonzero(counted)

    def means(self, n_drawn: int, n_first: int | None) -> Floats:
        """Return means of queries drawn with replacement: from all, or from `n_first` drawn before."""
        return np.concatenate([self._means_over(counts) for counts in self._drawn(n_drawn, n_first)])

    def _means_over(self, counts: Floats) -> Floats:
        """Return the means of each claim over queries that are drawn so often."""
        over = {
            (each.sets, each.set_index): each.sets.resampled(each.set_index, counts) for each in self._claims
        }
        return np.column_stack([each.means(over[each.sets, each.set_index]) for each in self._claims])

    def _drawn(self, n_drawn: int, n_first: int | None) -> Iterator[Floats]:
        """Yield how often each query of the qrels is drawn, some draws at a time."""
        n, n_all = len(self.counted), self._n_all
        n_before = n if n_first is None else min(n_first, _MOST_FIRST * n)
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
    """A claim by a convention: the query sets of its ranking, which is its own, and its means over some."""

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
        return cls(sets, place(own[QUERY_SET]), means)
