"""Over which queries a mean is taken, and what each of them counts in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from permed_measures.conventions.options import OPTIONS
from permed_measures.engine.judgments import Ints

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Groupings = Mapping[str, Ints]

GROUPED = ("conversations", "turns")
"""The query sets whose means are those of groups."""
_TURN = re.compile(r"(.+)_(?:turn_)?([0-9]+)")


def groupings_of(query_ids: list[str]) -> Groupings:
    """Return the group of each query by the means of groups that can be taken.

    Ids such as ``topic_001_2`` tell the conversation and the turn; there are both only if each differs.
    """
    parts = [match.groups() for each in query_ids if (match := _TURN.fullmatch(each))]
    if parts and len(parts) == len(query_ids):
        columns = [np.unique(np.array(column), return_inverse=True)[1] for column in zip(*parts, strict=True)]
        if all(0 < column.max() < len(column) - 1 for column in columns):
            return dict(zip(GROUPED, columns, strict=True))
    return {}


@dataclass(frozen=True, eq=False)
class QuerySets:
    """What each query counts in the mean of each query set.

    Attributes
    ----------
    weights : ndarray, shape (number of query sets, number of queries)
    sizes : ndarray, shape (number of query sets,)
        What the sum is divided by; 0 for a mean that cannot be taken.
    added : ndarray, shape (number of query sets,)
        What queries without relevant documents add to the sum.
    """

    weights: Floats
    sizes: Floats
    added: Floats

    @classmethod
    def of(
        cls,
        relevant: Bools,
        in_run: Bools,
        n_run_queries: int,
        in_all_runs: Bools | None,
        groupings: Groupings,
    ) -> QuerySets:
        """Find them from the queries that have relevant documents, and those that runs have."""
        counted = {
            "qrels": np.ones_like(in_run),
            "both": in_run,
            "with_relevant": relevant,
            "both_with_relevant": in_run & relevant,
            "run": in_run,
            "nothing_is_one": in_run,
        }
        if in_all_runs is not None:
            counted["all_runs"] = in_all_runs
        n_sets = len(_PLACES)
        sets = cls(np.zeros((n_sets, len(in_run))), np.zeros(n_sets), np.zeros(n_sets))
        for queries, mask in counted.items():
            sets.weights[place(queries)] = mask
            sets.sizes[place(queries)] = n_run_queries if queries == "run" else mask.sum()
        sets.added[place("nothing_is_one")] = (in_run & ~relevant).sum()
        for queries, group in groupings.items():
            sizes = np.bincount(group)
            sets.weights[place(queries)] = 1 / sizes[group]
            sets.sizes[place(queries)] = len(sizes)
        return sets

    def with_lists(self, hit: Bools, found: Bools, retrieved: Bools) -> QuerySets:
        """Return the same with the queries that have a hit within the cutoff, any hit, or any document."""
        weights, sizes = self.weights.copy(), self.sizes.copy()
        masks = {"with_hit": hit, "with_found": found, "with_list": retrieved}
        for queries, mask in masks.items():
            weights[place(queries)] = mask
            sizes[place(queries)] = mask.sum()
        return replace(self, weights=weights, sizes=sizes)

    def means(self, values: Floats) -> Floats:
        """Return the mean over each query set; NaN for one without queries."""
        return self._divided(self.weights @ values + self.added)

    def sums(self, values: Floats) -> Floats:
        """Return the sum over each query set, for measures that count."""
        found: Floats = np.where(self.sizes > 0, (self.weights > 0) @ values, np.nan)
        return found

    def ratios(self, numerator: Floats, denominator: Floats) -> Floats:
        """Return a micro average: the sum of all numerators over that of all denominators.

        There is none over queries without judgments, as how much was retrieved for them is not known, and
        none of groups.
        """
        total = self.weights @ denominator
        known = np.isclose(self.weights.sum(axis=1), self.sizes) & (self.sizes > 0)
        known[[place(queries) for queries in GROUPED]] = False
        empty = np.where(known, 0.0, np.nan)
        found: Floats = np.divide(self.weights @ numerator, total, out=empty, where=known & (total > 0))
        return found

    def _divided(self, total: Floats) -> Floats:
        found: Floats = np.divide(total, self.sizes, out=np.full(len(total), np.nan), where=self.sizes > 0)
        return found


def place(queries: str) -> int:
    """Return the place of a query set among all."""
    return _PLACES[queries]


_PLACES = {queries: place for place, queries in enumerate(OPTIONS["queries"].values)}
