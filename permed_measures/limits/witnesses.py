"""Runs with the numbers of a row: where one is found, the row is possible, whatever the bounds say.

A mixture of the best rankings, which the bounds come from, is divided among the queries. Then documents are
moved in the lists of a few queries at a time, until every mean lies where it prints as its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.audits.claims import Claim
from permed_measures.engine.judgments import Ints
from permed_measures.limits.best_rankings import BestRankings
from permed_measures.limits.bounds import Seen
from permed_measures.limits.counts import Counts, Printed
from permed_measures.limits.formulas import Formula, slots_below
from permed_measures.limits.lists import UNJUDGED, Lists, measured, used_by
from permed_measures.limits.query_classes import QueryClasses

Floats = NDArray[np.float64]

_ROUNDS = 40
_MOVES = 8_000
"""How many moves of a list are looked at in a round."""
_TOGETHER = 2_000
"""How many of them, or of pairs of them, are tried with another one."""
_PAIRS = 60_000
_CLOSE = 50.0
"""From how many widths of an interval on pairs of moves are tried with other pairs."""
_NEIGHBOURS = 4
_GOLDEN = (5**0.5 - 1) / 2
_INSIDE = 1 - 1e-9
_PART_OF_STEP = Fraction(9, 20)
"""How far off a sum of whole steps may be, for numerical noise alone."""
_LEAST_SHARE = 1e-9
_BELOW = 20
"""How many more ranks are filled where documents below all cutoffs count."""


class Target(NamedTuple):
    """Where the sums of the measures over all queries must lie: around `middle`, no further than `reach`."""

    middle: Floats
    reach: Floats

    @classmethod
    def of(cls, claims: Sequence[Claim], counts: Sequence[Counts | None], n_queries: int) -> list[Target]:
        """Return where the sums are rounded to claims, and where they may be cut off too."""
        found = (cls._printed(claims, counts, n_queries, cut=cut) for cut in (False, True))
        return [target for target in found if target is not None]

    @classmethod
    def _printed(
        cls, claims: Sequence[Claim], counts: Sequence[Counts | None], n_queries: int, *, cut: bool
    ) -> Target | None:
        ends = []
        for claim, of_claim in zip(claims, counts, strict=True):
            low, high = Printed.rounded(claim)
            if cut:
                low, high = min(low, Fraction(claim.value)), Printed.anyhow(claim).high
            if of_claim is not None:
                total = of_claim.total
                steps = of_claim.rounded or [n for n in of_claim.anyhow if cut and n < high * total]
                if not steps:
                    return None
                low, high = (steps[0] - _PART_OF_STEP) / total, (steps[-1] + _PART_OF_STEP) / total
            ends.append([float(n_queries * (low + high) / 2), float(n_queries * (high - low) / 2)])
        return cls(*np.array(ends).T)


class RunSearch(NamedTuple):
    """What a run with the numbers of a row is looked for with.

    Attributes
    ----------
    classes : QueryClasses
    formulas : sequence of Formula
    rankings : BestRankings
    seen : Seen
        The runs that the bounds come from.
    targets : list of Target
        Where the sums must lie, the usual way to print them first.
    """

    classes: QueryClasses
    formulas: Sequence[Formula]
    rankings: BestRankings
    seen: Seen
    targets: list[Target]

    @property
    def queries(self) -> Ints:
        """The queries of the qrels that count."""
        return np.flatnonzero(self.classes.of_query >= 0)

    def lists(self) -> Lists | None:
        """Return a list for each of these queries, with the numbers of the row; None if none is found."""
        if self.rankings.n_queries != self.classes.n_queries:
            return None
        return next((found for target in self.targets if (found := self._lists(target)) is not None), None)

    def _lists(self, target: Target) -> Lists | None:
        shares = self._shares(target)
        used = np.flatnonzero(shares > _LEAST_SHARE)
        runs = self._runs(self.seen.weights[used])
        walk = _Walk(self, target, runs, shares[used])
        for _ in range(_ROUNDS):
            if walk.arrived:
                return walk.lists
            walk.go_on()
        return None

    def _runs(self, weights: Floats) -> Lists:
        """Return the best lists of each class, with ranks below if these change a measure."""
        lists = self.rankings.best(weights).lists
        depth = lists.shape[2]
        ends = [slots_below(depth, None if each.looks_below else each.cutoff) for each in self.formulas]
        below = min(_BELOW, max(ends), int(self.classes.counts.sum(axis=1).max()))
        longer = np.pad(lists, ((0, 0), (0, 0), (0, below)), constant_values=UNJUDGED)
        deeper = [j for j, each in enumerate(self.formulas) if slots_below(depth, each.cutoff)]
        for run in np.flatnonzero((weights[:, deeper] > 0).any(axis=1)):
            left = self.classes.counts - used_by(lists[run], len(self.classes.grades))
            for places, of_class in zip(longer[run, :, depth:], left, strict=True):
                rest = np.repeat(np.arange(len(of_class)), of_class)[::-1][:below]
                places[: len(rest)] = rest
        return longer

    def _shares(self, target: Target) -> Floats:
        """Return the mixture of the runs seen that comes closest to the target."""
        from scipy.optimize import linprog

        n_runs, n = self.seen.means.shape
        sums = (self.seen.means * self.classes.n_queries / target.reach).T
        solved = linprog(
            np.concatenate([np.zeros(n_runs), np.ones(2 * n)]),
            A_eq=np.vstack(
                [
                    np.hstack([sums, np.eye(n), -np.eye(n)]),
                    np.concatenate([np.ones(n_runs), np.zeros(2 * n)]),
                ]
            ),
            b_eq=[*(target.middle / target.reach), 1],
            method="highs",
        )
        shares: Floats = solved.x[:n_runs]
        return shares


class _Moves(NamedTuple):
    """Other lists of queries: the first is no move, of no query.

    Attributes
    ----------
    query : ndarray, shape (n_moves,)
    lists : ndarray, shape (n_moves, depth)
    values : ndarray, shape (n_moves, n_measures)
        The measures of these lists.
    steps : ndarray, shape (n_moves, n_measures)
        What a move adds to the sums, in units of the reach.
    """

    query: Ints
    lists: Lists
    values: Floats
    steps: Floats


class _Walk:
    """Lists of all queries, which change by a few moves at a time."""

    def __init__(self, search: RunSearch, target: Target, runs: Lists, shares: Floats) -> None:
        self.formulas, self.classes, self.target = search.formulas, search.classes, target
        self.runs, self.rng = runs, np.random.default_rng(0)
        self.class_of = self.classes.of_query[search.queries]
        place = (np.arange(len(self.class_of)) * _GOLDEN) % 1  # spread evenly over each class
        run = np.minimum(np.searchsorted(np.cumsum(shares), place), len(shares) - 1)
        self.lists = runs[run, self.class_of]
        self.values = self._measured(self.lists, np.arange(len(self.lists)))

    def _measured(self, lists: Lists, query: Ints) -> Floats:
        return measured(lists, self.formulas, self.classes.cases.of(self.class_of[query]))

    @property
    def off(self) -> Floats:
        """How far the sums are off, in units of the reach."""
        off: Floats = (self.target.middle - self.values.sum(axis=0)) / self.target.reach
        return off

    @property
    def arrived(self) -> bool:
        """Whether every sum is where it must be."""
        return bool(np.abs(self.off).max() < _INSIDE)

    def go_on(self) -> None:
        """Make the two or four moves that come closest; any other one if none come closer."""
        moves = self._moves()
        each = np.arange(len(moves.query))[:, None]
        off = float(np.abs(self.off).max())
        reached, chosen = self._closest(moves, each)
        if _INSIDE < reached < _CLOSE:
            pairs = self.rng.integers(len(each), size=(_PAIRS, 2))
            pairs = pairs[moves.query[pairs[:, 0]] != moves.query[pairs[:, 1]]]
            reached, chosen = min((reached, chosen), self._closest(moves, pairs), key=lambda found: found[0])
        if reached >= off:
            chosen = self.rng.integers(len(each), size=1)
        chosen = chosen[moves.query[chosen] >= 0]
        self.lists[moves.query[chosen]] = moves.lists[chosen]
        self.values[moves.query[chosen]] = moves.values[chosen]

    def _closest(self, moves: _Moves, sets: Ints) -> tuple[float, Ints]:
        """Return how close two of these sets of moves come, and their moves; all are of different queries."""
        from scipy.spatial import cKDTree

        steps = moves.steps[sets].sum(axis=1)
        some = np.append(0, self.rng.integers(len(sets), size=_TOGETHER))
        off, other = cKDTree(steps).query(self.off - steps[some], k=_NEIGHBOURS, p=np.inf)
        mine, theirs = moves.query[sets[some]], moves.query[sets[other]]
        off[(mine[:, None, :, None] == theirs[:, :, None, :]).any(axis=(2, 3))] = np.inf
        i, j = np.unravel_index(off.argmin(), off.shape)
        return float(off[i, j]), np.append(sets[some[i]], sets[other[i, j]])

    def _moves(self) -> _Moves:
        """Return moves: another document at a rank, two ranks exchanged, or the list of another run."""
        rng, n, n_grades = self.rng, _MOVES, len(self.classes.grades)
        query = rng.integers(len(self.lists), size=n)
        lists, each = self.lists[query], np.arange(n)
        first, second = rng.integers(lists.shape[1], size=(2, n))
        placed, exchanged, taken = np.split(each, [n // 3, 2 * n // 3])
        lists[placed, first[placed]] = rng.integers(UNJUDGED, n_grades, size=len(placed))
        lists[exchanged, first[exchanged]] = self.lists[query[exchanged], second[exchanged]]
        lists[exchanged, second[exchanged]] = self.lists[query[exchanged], first[exchanged]]
        lists[taken] = self.runs[rng.integers(len(self.runs), size=len(taken)), self.class_of[query[taken]]]
        there = used_by(lists, n_grades) <= self.classes.counts[self.class_of[query]]
        kept = there.all(axis=1) & (lists != self.lists[query]).any(axis=1)
        query, lists = query[kept], lists[kept]
        values = self._measured(lists, query)
        steps = (values - self.values[query]) / self.target.reach
        none = np.zeros((1, steps.shape[1]))
        return _Moves(
            np.append(-1, query),
            np.vstack([self.lists[:1], lists]),
            np.vstack([none, values]),
            np.vstack([none, steps]),
        )
