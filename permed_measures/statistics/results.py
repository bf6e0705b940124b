"""The result of a comparison, as data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from ir_measures.measures import Measure

from permed_measures.statistics.contrasts import ComparisonRow
from permed_measures.statistics.differences import PairedRuns


@dataclass(frozen=True, eq=False)
class ComparisonResult:
    """The outcome of a comparison.

    Attributes
    ----------
    rows : list of ComparisonRow
        One for each pair of runs and measure: measures in their order, then pairs.
    measures : list of Measure
    baseline : str or None
        None where every pair was compared.
    correction : str
    families : dict of str to int
        For each test, how many p-values were corrected together.
    resamples, seed : int
    level : float
        Of the intervals.
    notes : list of str
        Notes on the runs, the clusters and the tests.
    paired : PairedRuns
        The values of each query by each run, and the cluster of each query.
    by : str
        What the groups of queries are; empty without.
    groups : dict of group to the same
        The comparison on each group of queries, the p-values of all groups corrected together.
    """

    rows: list[ComparisonRow]
    measures: list[Measure]
    baseline: str | None
    correction: str
    families: dict[str, int]
    resamples: int
    seed: int
    level: float
    notes: list[str]
    paired: PairedRuns = field(repr=False)
    by: str = ""
    groups: dict[Any, Self] = field(default_factory=dict, repr=False)

    @property
    def n_queries(self) -> int:
        """Number of queries in the qrels."""
        return len(self.paired.query_ids)

    @property
    def n_clusters(self) -> int:
        """Number of independent units: clusters, or queries without clusters."""
        return int(self.paired.cluster.max()) + 1

    @property
    def level_in_percent(self) -> str:
        """The level of the intervals, such as ``95%``."""
        return f"{100 * self.level:.10g}%"

    def sections(self) -> Iterator[tuple[str, Self]]:
        """Yield the groups, then the whole, each with its label."""
        yield from ((str(value), group) for value, group in self.groups.items())
        yield ("(all)" if self.by else "", self)
