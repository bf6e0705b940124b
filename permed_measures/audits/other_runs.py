"""The numbers that other runs would have: means over the queries drawn again, with the steps they go in.

Over few queries a mean takes few values, and measures of one list depend on each other: P@1, RR and AP of a
query with one relevant document are all said by its rank. So how many numbers can be printed says too little.
The bootstrap has the same steps and the same dependence (Efron and Tibshirani 1993, An introduction to the
bootstrap, chapter 6). Over many queries its means would scatter less than the numbers of other runs do; then
queries are drawn from some that were drawn before, as few as make the scatter wide enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from permed_measures.audits.trials import Trial
from permed_measures.conventions.means import means_of
from permed_measures.conventions.options import Options
from permed_measures.conventions.query_sets import QuerySets, place
from permed_measures.conventions.runs import options_for, with_rounding
from permed_measures.conventions.values import Ranked

Floats = NDArray[np.float64]

N_DRAWN = 10_000
"""How many rows are drawn for a verdict."""
_PILOT = 200
"""How many are drawn to see how far they scatter."""
_CELLS = 2 * 10**6
"""How many queries are drawn at a time."""


def reaches_of(trials: Sequence[Trial]) -> Floats:
    """Return how far the numbers near each claim are from it."""
    windows = [trial.window for trial in trials]
    codes = [max(each.high - each.code, each.code - each.low) for each in windows]
    return np.array([code / 10**trial.claim.decimals for code, trial in zip(codes, trials, strict=True)])


def other_means(
    convention: Options, trials: Sequence[Trial], reaches: Floats, n_drawn: int = N_DRAWN
) -> Floats:
    """Return the means of other runs, which scatter as far as the numbers near the claims or further.

    Parameters
    ----------
    convention : mapping
    trials : sequence of Trial
    reaches : ndarray, shape (n_trials,)
        How far the numbers near each claim are from it.
    n_drawn : int
        How many runs.

    Returns
    -------
    ndarray, shape (n_drawn, n_trials)
    """
    drawing = _Drawing(convention, trials)
    if not drawing.n_queries:
        return np.full((n_drawn, len(trials)), np.nan)
    scatter = drawing.means(_PILOT, None).std(axis=0)
    wanted = reaches / np.sqrt(3)  # the standard deviation of a uniform distribution
    moves = scatter > 0
    times = float((wanted[moves] / scatter[moves]).min(initial=np.inf)) ** 2
    n_first = None if times <= 1 or np.isinf(times) else max(int(drawing.n_queries / (times - 1)), 1)
    return drawing.means(n_drawn, n_first)


class _Drawing:
    """Draws queries and takes their means by a convention; the first claim says which queries count."""

    def __init__(self, convention: Options, trials: Sequence[Trial]) -> None:
        self.convention, self._place = convention, place(trials[0].own(convention)["queries"])
        self.rng = np.random.default_rng(0)
        self.n_all = trials[0].run.judgments.n_queries
        _, sets = self._ranked(trials[0])
        self.counted = np.flatnonzero(sets.weights[self._place])
        self.n_queries = len(self.counted)
        self._means = [self._means_of(trial) for trial in trials]

    def _ranked(self, trial: Trial) -> tuple[Ranked, QuerySets]:
        cutoff = trial.cutoff(self.convention)
        own = trial.own(self.convention)
        ranked = trial.run.ranked(own)
        if ranked is None:
            raise ValueError(f"the claim {trial.claim.name} cannot be computed by this convention")
        return ranked, trial.run.sets(ranked, cutoff, own["averaged"])

    def means(self, n_drawn: int, n_first: int | None) -> Floats:
        """Return means of queries drawn with replacement: from all, or from `n_first` drawn before."""
        parts = [
            np.column_stack([means(counts) for means in self._means])
            for counts in self._drawn(n_drawn, n_first)
        ]
        return np.concatenate(parts)

    def _drawn(self, n_drawn: int, n_first: int | None) -> Iterator[Floats]:
        """Yield how often each query of the qrels is drawn, some draws at a time."""
        n, n_all = self.n_queries, self.n_all
        at_a_time = max(_CELLS // max(n_all, 1), 1)
        for start in range(0, n_drawn, at_a_time):
            n_rows = min(at_a_time, n_drawn - start)
            if n_first is None:
                first, times = self.rng.integers(n, size=(n_rows, n)), np.ones((n_rows, n), np.int64)
            else:
                first = self.rng.integers(n, size=(n_rows, n_first))
                times = self.rng.multinomial(n, np.full(n_first, 1 / n_first), size=n_rows)
            cells = np.arange(n_rows)[:, None] * n_all + self.counted[first]
            drawn = np.bincount(cells.ravel(), times.ravel(), minlength=n_rows * n_all)
            yield drawn.reshape(n_rows, n_all).astype(np.float64)

    def _means_of(self, trial: Trial) -> Callable[[Floats], Floats]:
        """Return what takes the means of a claim over queries that are drawn so often."""
        measure, cutoff, at = trial.claim.measure, trial.cutoff(self.convention), self._place
        options = with_rounding(options_for(measure, self.convention), trial.own(self.convention))
        ranked, usual = self._ranked(trial)

        def means(counts: Floats) -> Floats:
            sizes, added = (np.full(len(counts), each[at]) for each in (usual.sizes, usual.added))
            pooled = np.full(len(counts), usual.pooled[at])
            drawn = QuerySets(counts * usual.weights[at], sizes, added, pooled)
            return means_of(measure, cutoff, options, ranked, drawn)

        return means
