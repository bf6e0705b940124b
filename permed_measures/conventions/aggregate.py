"""Aggregate over queries: which queries count, how they are grouped, how means are taken and rounded.

`records.py` says which value of an option uses which of these functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from permed_measures.arrays import Bools, Floats, Ints
from permed_measures.conventions.per_query import Ratio

_TURN_ID = re.compile(r"(.+)_(?:turn_)?([0-9]+)")


def groups_of(judged: Sequence[str], others: Sequence[str] = (), complete: bool = False) -> list[Ints]:
    """Parse the conversation and the turn of each query from its id, such as ``topic_001_2``.

    Parameters
    ----------
    judged : sequence of str
        The ids of the queries of the qrels.
    others : sequence of str
        The ids of the other queries of the run. An id without a turn is a group of its own.
    complete : bool
        Whether groups of one query each are returned too.

    Returns
    -------
    list of ndarray
        The number of the conversation of each query, and the number of its turn. Empty if the id of a judged
        query has no turn, or if no two judged queries share a conversation or a turn.
    """
    query_ids = (*judged, *others)
    parts = [match.groups() if (match := _TURN_ID.fullmatch(query_id)) else None for query_id in query_ids]
    if not judged or None in parts[: len(judged)]:
        return []
    texts = [part or (query_id, query_id) for part, query_id in zip(parts, query_ids, strict=True)]
    columns = [np.unique(np.array(column), return_inverse=True)[1] for column in zip(*texts, strict=True)]
    n_groups = [len(np.unique(column[: len(judged)])) for column in columns]
    return [] if max(n_groups) == len(judged) and not complete else columns


class QueryFacts(NamedTuple):
    """Properties of each query that decide whether it counts: queries of the qrels first, then the others.

    Attributes
    ----------
    judged : ndarray of bool
        Whether the qrels have the query.
    in_run, in_all_runs : ndarray of bool
        Whether the run has it, and whether all runs of the table have it.
    relevant : ndarray of bool
        Whether the qrels have a relevant document for it.
    hit : ndarray of bool
        Whether a relevant document was retrieved within the cutoff.
    found : ndarray of bool
        Whether a relevant document was retrieved at any rank.
    listed : ndarray of bool
        Whether any document was retrieved.
    other : ndarray of bool
        Whether a document was retrieved that is not relevant.
    """

    judged: Bools
    in_run: Bools
    in_all_runs: Bools
    relevant: Bools
    hit: Bools
    relevant_retrieved: Bools
    any_retrieved: Bools
    other: Bools


class QuerySet(NamedTuple):
    """A rule for which queries count, and whether queries without relevant documents get the value 1."""

    counted: Callable[[QueryFacts], Bools]
    nothing_is_one: bool = False


@dataclass(frozen=True, eq=False)
class QuerySets:
    """The weight of each query in the mean over each query set.

    Attributes
    ----------
    weights : ndarray, shape (number of query sets, number of queries of the qrels)
    sizes : ndarray, shape (number of query sets,)
        The divisor of each mean; 0 for an empty query set.
    added : ndarray, shape (number of query sets, number of queries of the qrels)
        The amount that each query adds to the sum beside its value: 1 for a query without relevant documents,
        where the rule says so.
    pooled : ndarray of bool, shape (number of query sets,)
        Whether a micro average is defined. It is not over groups, nor over queries without judgments, whose
        number of retrieved documents is unknown.
    empty : float
        The mean over an empty query set.
    """

    weights: Floats
    sizes: Floats
    added: Floats
    pooled: Bools
    empty: float = np.nan

    @classmethod
    def of(
        cls, rules: Sequence[QuerySet], facts: QueryFacts, group: Ints | None, empty: float = np.nan
    ) -> QuerySets:
        """Weight the queries by the rule of each query set; with groups, each group counts once."""
        counted = np.array([rule.counted(facts) for rule in rules])
        n_judged = int(facts.judged.sum())
        weights, sizes = counted.astype(np.float64), counted.sum(axis=1).astype(np.float64)
        if group is not None:
            group_sizes = np.array([np.bincount(group, row, minlength=group.max() + 1) for row in weights])
            weights /= np.maximum(group_sizes, 1)[:, group]
            sizes = (group_sizes > 0).sum(axis=1).astype(np.float64)
        added = np.zeros_like(weights)
        for index, rule in enumerate(rules):
            if rule.nothing_is_one:
                added[index] = weights[index] * ~facts.relevant
        pooled = ~counted[:, n_judged:].any(axis=1) & (sizes > 0) & (group is None)
        return cls(weights[:, :n_judged], sizes, added[:, :n_judged], pooled, empty)

    def resampled(self, index: int, counts: Floats) -> QuerySets:
        """Resample one of the query sets.

        Parameters
        ----------
        index : int
            The query set.
        counts : ndarray, shape (number of samples, number of queries of the qrels)
            How often each sample has each query. The divisor of a mean grows with the weights in the sample.

        Returns
        -------
        QuerySets
            One query set for each sample.
        """
        weights = counts * self.weights[index]
        sizes = weights.sum(axis=1) * (self.sizes[index] / max(self.weights[index].sum(), 1e-9))
        added = (counts @ self.added[index])[:, None]
        return QuerySets(weights, sizes, added, np.repeat(self.pooled[index], len(counts)))

    @cached_property
    def _added_in_all(self) -> Floats:
        total: Floats = self.added.sum(axis=1)
        return total

    def means(self, values: Floats) -> Floats:
        """Average the values over each query set; an empty one gets `empty`."""
        total = self.weights @ values + self._added_in_all
        empty = np.full(len(total), self.empty)
        means: Floats = np.divide(total, self.sizes, out=empty, where=self.sizes > 0)
        return means

    def sums(self, values: Floats) -> Floats:
        """Add up the values over each query set, for measures that count."""
        totals: Floats = np.where(self.sizes > 0, (self.weights > 0) @ values, self.empty)
        return totals

    def ratios(self, numerator: Floats, denominator: Floats | Ints) -> Floats:
        """Compute micro averages: the summed numerators over the summed denominators."""
        total = self.weights @ denominator
        empty = np.where(self.pooled, 0.0, np.where(self.sizes > 0, np.nan, self.empty))
        shares: Floats = np.divide(
            self.weights @ numerator, total, out=empty, where=self.pooled & (total > 0)
        )
        return shares


# --- means -----------------------------------------------------------------------------------------


class Rounding(NamedTuple):
    """The digits to which numbers are rounded before they are printed; None for no rounding.

    Attributes
    ----------
    of_mean : int or None
        The digits of the mean.
    of_queries : tuple of int and float, or None
        The digits of the value of each query, and the fraction of a unit from which it is rounded up.
    """

    of_mean: int | None = None
    of_queries: tuple[int, float] | None = None


def rounded(values: Floats, digits: int, half: float = 0.5) -> Floats:
    """Round values to `digits` after the point: floor after adding `half` of a unit."""
    result: Floats = np.floor(values * 10.0**digits + half) / 10.0**digits
    return result


HALVES = {"down": 0.5 - 1e-7, "up": 0.5 + 1e-7}
"""The `half` of `rounded` that rounds a half down or up; the margin covers floating-point errors."""
ROUNDED_DIGITS = range(2, 9)
"""The digits to which scripts round the values of queries."""


def macro(sets: QuerySets, values: Callable[[], Floats], _: Callable[[], Ratio]) -> Floats:
    """Average the values of the queries."""
    return sets.means(values())


def micro(sets: QuerySets, _: Callable[[], Floats], ratio: Callable[[], Ratio]) -> Floats:
    """Divide the sum of all numerators by the sum of all denominators."""
    return sets.ratios(*ratio())


def f1_of_queries(is_micro: bool, of_queries: Callable[[], Floats], of_means: Callable[[], Floats]) -> Floats:
    """Average F1 over the queries; from micro averages, compute one F1."""
    return of_means() if is_micro else of_queries()


def f1_of_means(_: bool, __: Callable[[], Floats], of_means: Callable[[], Floats]) -> Floats:
    """Compute F1 from the mean precision and the mean recall."""
    return of_means()
