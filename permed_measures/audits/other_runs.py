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
from ir_measures.measures import SumAgg
from numpy.typing import NDArray

from permed_measures.audits.choices import MeasureSpec
from permed_measures.audits.conventions import Convention
from permed_measures.audits.matches import ClaimAudit
from permed_measures.audits.tried import number_of
from permed_measures.conventions.query_sets import QuerySets, place
from permed_measures.measures.parsing import parse_measure

Floats = NDArray[np.float64]

N_DRAWN = 10_000
"""How many rows are drawn for a verdict."""
_PILOT = 200
"""How many are drawn to see how far they scatter."""
_CELLS = 2 * 10**6
"""How many queries are drawn at a time."""


def other_means(
    convention: Convention, claims: Sequence[ClaimAudit], reaches: Floats, n_drawn: int = N_DRAWN
) -> Floats:
    """Return the means of other runs, which scatter as far as the numbers near the claims or further.

    Parameters
    ----------
    convention : Convention
    claims : sequence of ClaimAudit
    reaches : ndarray, shape (n_claims,)
        How far the numbers near each claim are from it.
    n_drawn : int
        How many runs.

    Returns
    -------
    ndarray, shape (n_drawn, n_claims)
    """
    drawing = _Drawing(convention, claims)
    if not drawing.n_queries:
        return np.full((n_drawn, len(claims)), np.nan)
    scatter = drawing.means(_PILOT, None).std(axis=0)
    wanted = reaches / np.sqrt(3)  # the standard deviation of a uniform distribution
    moves = scatter > 0
    times = float((wanted[moves] / scatter[moves]).min(initial=np.inf)) ** 2
    n_first = None if times <= 1 or np.isinf(times) else max(int(drawing.n_queries / (times - 1)), 1)
    return drawing.means(n_drawn, n_first)


class _Drawing:
    """Draws queries and takes their means by a convention; the first claim says which queries count."""

    def __init__(self, convention: Convention, claims: Sequence[ClaimAudit]) -> None:
        self.convention, self.claims = convention, claims
        self.rng = np.random.default_rng(0)
        self.counted = np.flatnonzero(self._sets(claims[0]).weights[self._place])
        self.n_queries = len(self.counted)
        self._means = [self._means_of(claim) for claim in claims]

    @property
    def _place(self) -> int:
        return place(self.convention.setting.queries.value)

    def _sets(self, claim: ClaimAudit) -> QuerySets:
        number = int(claim.run.of_setting[number_of(self.convention.setting) or 0])
        return claim.run.sets_at(number, self.convention.cutoffs[claim.claim.name])

    def means(self, n_drawn: int, n_first: int | None) -> Floats:
        """Return means of queries drawn with replacement: from all, or from `n_first` drawn before."""
        parts = [
            np.column_stack([means(counts) for means in self._means])
            for counts in self._drawn(n_drawn, n_first)
        ]
        return np.concatenate(parts)

    def _drawn(self, n_drawn: int, n_first: int | None) -> Iterator[Floats]:
        """Yield how often each query of the qrels is drawn, some draws at a time."""
        n, n_all = self.n_queries, self.claims[0].run.judgments.n_queries
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

    def _means_of(self, claim: ClaimAudit) -> Callable[[Floats], Floats]:
        """Return what takes the means of a claim over queries that are drawn so often."""
        published, at = claim.claim, self._place
        ranked = claim.run.ranked[int(claim.run.of_setting[number_of(self.convention.setting) or 0])]
        cutoff, usual = self.convention.cutoffs[published.name], self._sets(claim)
        spec = MeasureSpec(published.measure, cutoff, ranked.labels, ranked.spans)
        choice, rankings = self.convention.choices[published.family], ranked.at(cutoff)
        values = choice.values(rankings, spec)
        if published.is_fixed and isinstance(parse_measure(published.measure).aggregator(), SumAgg):
            return lambda counts: counts @ (usual.weights[at] * values)
        if np.array_equal(usual.means(values), choice.means(rankings, spec, usual), equal_nan=True):
            return lambda counts: (counts @ (usual.weights[at] * values) + usual.added[at]) / usual.sizes[at]

        def means(counts: Floats) -> Floats:
            sizes, added = (np.full(len(counts), each[at]) for each in (usual.sizes, usual.added))
            return choice.means(rankings, spec, QuerySets(counts * usual.weights[at], sizes, added))

        return means
