"""What the values of options compute of all queries: which count, in which groups, how means are rounded.

`options.py` says which value computes what.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from permed_measures.arrays import Bools, Floats, Ints
from permed_measures.conventions.per_query import Ratio

_NUMBER_OF_TURN = re.compile(r"(.+)_(?:turn_)?([0-9]+)")


def groups_of(judged: Sequence[str], others: Sequence[str] = (), complete: bool = False) -> list[Ints]:
    """Return the number of the conversation of each query, and that of its turn; none if these are not told.

    Ids such as ``topic_001_2`` tell both; they do only if some judged queries share each, or if the groups
    are to be `complete`. Of `others`, one whose id does not tell it is a group of its own.
    """
    parts = [
        match.groups() if (match := _NUMBER_OF_TURN.fullmatch(each)) else None for each in (*judged, *others)
    ]
    if not judged or None in parts[: len(judged)]:
        return []
    texts = [each or (query, query) for each, query in zip(parts, (*judged, *others), strict=True)]
    columns = [np.unique(np.array(column), return_inverse=True)[1] for column in zip(*texts, strict=True)]
    numbers = [len(np.unique(column[: len(judged)])) for column in columns]
    return [] if max(numbers) == len(judged) and not complete else columns


class QueryFacts(NamedTuple):
    """What is known of each query of the qrels, and then of each other one of the run.

    Attributes
    ----------
    judged, in_run, in_all_runs : ndarray of bool
    relevant : ndarray of bool
        Whether it has a relevant document.
    hit, found, listed, other : ndarray of bool
        Whether the run has a relevant document within the cutoff, or any, or any document, or one that is not
        relevant.
    """

    judged: Bools
    in_run: Bools
    in_all_runs: Bools
    relevant: Bools
    hit: Bools
    found: Bools
    listed: Bools
    other: Bools


class QuerySet(NamedTuple):
    """Which queries count, and whether one without relevant documents counts 1."""

    counted: Callable[[QueryFacts], Bools]
    nothing_is_one: bool = False


@dataclass(frozen=True, eq=False)
class QuerySets:
    """What each query counts in the mean of each query set.

    Attributes
    ----------
    weights : ndarray, shape (number of query sets, number of queries of the qrels)
    sizes : ndarray, shape (number of query sets,)
        What the sum is divided by; 0 for a mean that cannot be taken.
    added : ndarray, shape (number of query sets, number of queries of the qrels)
        What queries without relevant documents add to the sum.
    pooled : ndarray of bool, shape (number of query sets,)
        Which have a micro average: there is none over queries without judgments, as how much was retrieved
        for them is not known, and none of groups.
    empty : float
        The mean over a query set without queries.
    """

    weights: Floats
    sizes: Floats
    added: Floats
    pooled: Bools
    empty: float = np.nan

    @classmethod
    def of(
        cls, rules: Sequence[QuerySet], known: QueryFacts, group: Ints | None, empty: float = np.nan
    ) -> QuerySets:
        """Find them by their rules; means are those of groups where each query has one."""
        counted = np.array([rule.counted(known) for rule in rules])
        n_judged = int(known.judged.sum())
        weights, sizes = counted.astype(np.float64), counted.sum(axis=1).astype(np.float64)
        if group is not None:
            n_of = np.array([np.bincount(group, each, minlength=group.max() + 1) for each in weights])
            weights /= np.maximum(n_of, 1)[:, group]
            sizes = (n_of > 0).sum(axis=1).astype(np.float64)
        added = np.zeros_like(weights)
        for at in (at for at, rule in enumerate(rules) if rule.nothing_is_one):
            added[at] = weights[at] * ~known.relevant
        pooled = ~counted[:, n_judged:].any(axis=1) & (sizes > 0) & (group is None)
        return cls(weights[:, :n_judged], sizes, added[:, :n_judged], pooled, empty)

    def resampled(self, index: int, counts: Floats) -> QuerySets:
        """Return one of the query sets for each row of how often queries are drawn.

        What the sum is divided by is as much more or less as are the queries of the set that were drawn.
        """
        weights = counts * self.weights[index]
        sizes = weights.sum(axis=1) * (self.sizes[index] / max(self.weights[index].sum(), 1e-9))
        added = (counts @ self.added[index])[:, None]
        return QuerySets(weights, sizes, added, np.repeat(self.pooled[index], len(counts)))

    def means(self, values: Floats) -> Floats:
        """Return the mean over each query set; `empty` for one without queries."""
        total = self.weights @ values + self.added.sum(axis=1)
        empty = np.full(len(total), self.empty)
        found: Floats = np.divide(total, self.sizes, out=empty, where=self.sizes > 0)
        return found

    def sums(self, values: Floats) -> Floats:
        """Return the sum over each query set, for measures that count."""
        found: Floats = np.where(self.sizes > 0, (self.weights > 0) @ values, self.empty)
        return found

    def ratios(self, numerator: Floats, denominator: Floats | Ints) -> Floats:
        """Return a micro average: the sum of all numerators over that of all denominators."""
        total = self.weights @ denominator
        empty = np.where(self.pooled, 0.0, np.where(self.sizes > 0, np.nan, self.empty))
        found: Floats = np.divide(self.weights @ numerator, total, out=empty, where=self.pooled & (total > 0))
        return found


# --- means -----------------------------------------------------------------------------------------


class Rounding(NamedTuple):
    """To how many digits numbers are rounded before they are printed.

    Attributes
    ----------
    of_mean : int or None
    of_queries : tuple of int and float, or None
        Of the value of each query, and the part of a unit from which it is rounded up.
    """

    of_mean: int | None = None
    of_queries: tuple[int, float] | None = None


def rounded(values: Floats, digits: int, half: float = 0.5) -> Floats:
    """Round numbers to some digits after the point; up from this part of a unit on."""
    found: Floats = np.floor(values * 10.0**digits + half) / 10.0**digits
    return found


HALVES = {"down": 0.5 - 1e-7, "up": 0.5 + 1e-7}
"""The part of a unit from which numbers are rounded up, if the middle of a unit is rounded down or up."""
ROUNDED_DIGITS = range(2, 9)
"""To how many digits the values of queries are rounded by scripts."""


def macro(sets: QuerySets, values: Callable[[], Floats], _: Callable[[], Ratio]) -> Floats:
    """Return the mean of the values of queries."""
    return sets.means(values())


def micro(sets: QuerySets, _: Callable[[], Floats], ratio: Callable[[], Ratio]) -> Floats:
    """Return the sum of all numerators over that of all denominators."""
    return sets.ratios(*ratio())


def f1_of_queries(is_micro: bool, of_queries: Callable[[], Floats], of_means: Callable[[], Floats]) -> Floats:
    """Return the mean of F1 of each query; of micro averages there is one F1."""
    return of_means() if is_micro else of_queries()


def f1_of_means(_: bool, __: Callable[[], Floats], of_means: Callable[[], Floats]) -> Floats:
    """Return F1 of the mean precision and the mean recall."""
    return of_means()
