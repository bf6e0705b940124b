"""Which queries count in a mean, and whether it is that of queries, conversations or turns."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.judgments import Ints

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Groupings = Mapping[str, Ints]

_TURN = re.compile(r"(.+)_(?:turn_)?([0-9]+)")
GROUPS = {"conversations": 0, "turns": 1}
"""Which part of the id of a query says its group, where means are those of groups."""


def groupings_of(judged: Sequence[str], others: Sequence[str] = ()) -> Groupings:
    """Return the group of each query by the means of groups that can be taken.

    Ids such as ``topic_001_2`` tell the conversation and the turn; there are both only if each differs among
    the judged queries. Of `others`, one whose id does not tell it is a group of its own.
    """
    parts = [match.groups() if (match := _TURN.fullmatch(each)) else None for each in (*judged, *others)]
    if not judged or None in parts[: len(judged)]:
        return {}
    texts = [each or (query, query) for each, query in zip(parts, (*judged, *others), strict=True)]
    columns = [np.unique(np.array(column), return_inverse=True)[1] for column in zip(*texts, strict=True)]
    numbers = [len(np.unique(column[: len(judged)])) for column in columns]
    if not all(1 < n < len(judged) for n in numbers):
        return {}
    return {averaged: columns[part] for averaged, part in GROUPS.items()}


class Known(NamedTuple):
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


QUERIES: dict[str, Callable[[Known], Bools]] = {
    "qrels": lambda of: of.judged,
    "both": lambda of: of.judged & of.in_run,
    "with_relevant": lambda of: of.relevant,
    "both_with_relevant": lambda of: of.relevant & of.in_run,
    "run": lambda of: of.in_run,
    "all_runs": lambda of: of.in_all_runs,
    "with_hit": lambda of: of.hit,
    "with_found": lambda of: of.found,
    "with_list": lambda of: of.listed,
    "with_relevant_and_list": lambda of: of.relevant & of.listed,
    "with_both_kinds": lambda of: of.found & of.other,
    "nothing_is_one": lambda of: of.judged & of.in_run,
    "with_list_nothing_is_one": lambda of: of.judged & of.listed,
}
"""Which queries count, by query set."""
_NOTHING_IS_ONE = ("nothing_is_one", "with_list_nothing_is_one")
"""The query sets in which a query without relevant documents counts 1."""


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
    """

    weights: Floats
    sizes: Floats
    added: Floats
    pooled: Bools

    @classmethod
    def of(cls, known: Known, group: Ints | None) -> QuerySets:
        """Find them; means are those of groups where each query has one."""
        counted = np.array([rule(known) for rule in QUERIES.values()])
        n_judged = int(known.judged.sum())
        weights, sizes = counted.astype(np.float64), counted.sum(axis=1).astype(np.float64)
        if group is not None:
            n_of = np.array([np.bincount(group, each, minlength=group.max() + 1) for each in weights])
            weights /= np.maximum(n_of, 1)[:, group]
            sizes = (n_of > 0).sum(axis=1).astype(np.float64)
        added = np.zeros_like(weights)
        for at in map(place, _NOTHING_IS_ONE):
            added[at] = weights[at] * ~known.relevant
        pooled = ~counted[:, n_judged:].any(axis=1) & (sizes > 0) & (group is None)
        return cls(weights[:, :n_judged], sizes, added[:, :n_judged], pooled)

    def drawn(self, at: int, counts: Floats) -> QuerySets:
        """Return one of the query sets for each row of how often queries are drawn.

        What the sum is divided by is as much more or less as are the queries of the set that were drawn.
        """
        weights = counts * self.weights[at]
        sizes = weights.sum(axis=1) * (self.sizes[at] / max(self.weights[at].sum(), 1e-9))
        added = (counts @ self.added[at])[:, None]
        return QuerySets(weights, sizes, added, np.repeat(self.pooled[at], len(counts)))

    def means(self, values: Floats) -> Floats:
        """Return the mean over each query set; NaN for one without queries."""
        total = self.weights @ values + self.added.sum(axis=1)
        found: Floats = np.divide(total, self.sizes, out=np.full(len(total), np.nan), where=self.sizes > 0)
        return found

    def sums(self, values: Floats) -> Floats:
        """Return the sum over each query set, for measures that count."""
        found: Floats = np.where(self.sizes > 0, (self.weights > 0) @ values, np.nan)
        return found

    def ratios(self, numerator: Floats, denominator: Floats) -> Floats:
        """Return a micro average: the sum of all numerators over that of all denominators."""
        total = self.weights @ denominator
        empty = np.where(self.pooled, 0.0, np.nan)
        found: Floats = np.divide(self.weights @ numerator, total, out=empty, where=self.pooled & (total > 0))
        return found


def place(queries: str) -> int:
    """Return the place of a query set among all."""
    return list(QUERIES).index(queries)
