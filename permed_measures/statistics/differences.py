"""From runs to paired differences: the pairs of runs, their queries, and the clusters of queries."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.groups import By, Groups
from permed_measures.engine.inputs import QrelsLike, RunLike
from permed_measures.engine.kernels.binary import judged as judged_share
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.errors import InputError, PermedWarning, nearest
from permed_measures.markup import counted
from permed_measures.measures.parameters import cutoff_of
from permed_measures.measures.parsing import MeasuresLike
from permed_measures.statistics.columns import Columns
from permed_measures.statistics.significance import zero_rounding_noise


@dataclass(frozen=True, eq=False)
class PairedRuns:
    """Runs on the same queries, and which of them are compared.

    Attributes
    ----------
    measures : list of Measure
    query_ids : list of str
        All queries of the qrels.
    values : dict of str to ndarray of float64, shape (n_measures, n_queries)
        Of each run.
    pairs : list of (str, str)
        Run and baseline.
    clusters : str
        What the clusters are; empty without any.
    cluster : ndarray of int64, shape (n_queries,)
        The cluster of each query, from 0; without clusters each has its own.
    notes : list of str
        Notes on the runs and the clusters.
    among : ndarray of int64, optional
        Of some of the queries, the cluster of each among those of all queries.
    judged : dict of str to ndarray of float64, shape (n_measures, n_queries)
        Of each run the share of documents within the measure's cutoff that are judged; NaN where it retrieves
        nothing.
    rankings : dict of str to JudgedRankings
        Of each run; empty for some of the queries.
    group : ndarray of int64, optional
        The group of each query, from 0, where groups are compared too; -1 is in none.
    """

    measures: list[Measure]
    query_ids: list[str]
    values: dict[str, NDArray[np.float64]] = field(repr=False)
    pairs: list[tuple[str, str]]
    clusters: str
    cluster: NDArray[np.int64] = field(repr=False)
    notes: list[str]
    among: NDArray[np.int64] | None = field(default=None, repr=False)
    judged: dict[str, NDArray[np.float64]] = field(default_factory=dict, repr=False)
    rankings: dict[str, JudgedRankings] = field(default_factory=dict, repr=False)
    group: NDArray[np.int64] | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        qrels: QrelsLike,
        runs: Mapping[str, RunLike],
        measures: MeasuresLike,
        baselines: Sequence[str],
        clusters: By | None,
    ) -> PairedRuns:
        """Evaluate the runs; see `compare`."""
        pairs = _pairs(runs, baselines)
        evaluator = PermedEvaluator(measures, qrels)
        query_ids = evaluator.judgments.query_ids
        if not query_ids:
            raise InputError("the qrels have no query")
        if not evaluator.measures:
            raise InputError("there is no measure to compare by", hint="Name one, such as 'nDCG@10'")
        name, cluster, notes = clusters_of(query_ids, clusters, qrels)
        notes = [*notes, *evaluator.notes()]

        def evaluated(run_name: str) -> tuple[NDArray[np.float64], JudgedRankings, list[str]]:
            run = runs[run_name]
            with naming(run_name, calls=4):
                evaluation = evaluator.evaluate(run)
            rankings = replace(evaluation.rankings)  # without what was kept to compute the measures
            return evaluation.values, rankings, notes_of(run_name, rankings)

        values, rankings = {}, {}
        for run_name in runs:
            values[run_name], rankings[run_name], told = evaluated(run_name)
            notes += told
        asked = list(evaluator.measures)
        judged = {name: _judged(ranked, asked) for name, ranked in rankings.items()}
        parts = asked, query_ids, values, pairs, name, cluster, notes
        return cls(*parts, judged=judged, rankings=rankings)

    @property
    def n_clusters(self) -> int:
        """The number of clusters, or of queries where there are no clusters."""
        return int(self.cluster.max()) + 1

    @property
    def unit(self) -> str:
        """What is independent: a cluster, or a query where there are no clusters."""
        return "cluster" if self.clusters else "query"

    @property
    def shared_cluster(self) -> NDArray[np.int64]:
        """The cluster of each query, by numbers that groups of queries share."""
        return self.cluster if self.among is None else self.among

    def of_queries(self, chosen: NDArray[np.bool_]) -> PairedRuns:
        """Select some of the queries; the clusters keep their name, even if each has one query left."""
        query_ids = [query_id for query_id, here in zip(self.query_ids, chosen, strict=True) if here]
        values = {name: each[:, chosen] for name, each in self.values.items()}
        cluster = _numbered(self.cluster[chosen])
        return replace(
            self,
            query_ids=query_ids,
            values=values,
            cluster=cluster,
            notes=[],
            among=self.shared_cluster[chosen],
            judged={name: each[:, chosen] for name, each in self.judged.items()},
            rankings={},
            group=None,
        )

    def by_measure(self) -> list[PairedRuns]:
        """Divide the values by measure: all differences at once may be larger than everything else."""
        return [
            replace(
                self, measures=[measure], values={run: each[n : n + 1] for run, each in self.values.items()}
            )
            for n, measure in enumerate(self.measures)
        ]

    def differences(self) -> NDArray[np.float64]:
        """Return run - baseline; shape (n_queries, n_measures * n_pairs), the pairs of a measure together."""
        found = np.empty((len(self.measures), len(self.pairs), len(self.query_ids)))
        for number, (run, baseline) in enumerate(self.pairs):
            found[:, number] = zero_rounding_noise(self.values[run] - self.values[baseline])
        return found.reshape(-1, len(self.query_ids)).T

    def columns(self, cluster: NDArray[np.int64], n_clusters: int = 0) -> Columns:
        """Return the columns of `differences` for tests over these clusters."""
        runs = list(self.values)
        values = np.stack(list(self.values.values()), axis=1).reshape(-1, len(self.query_ids))
        start = len(runs) * np.arange(len(self.measures))[:, None]
        places = [[runs.index(run) for run in each] for each in zip(*self.pairs, strict=True)]
        first, second = ((start + np.array(each)).ravel() for each in places)
        return Columns.of_pairs(values.T, first, second, cluster, n_clusters)


def _judged(rankings: JudgedRankings, measures: list[Measure]) -> NDArray[np.float64]:
    """Return the share of documents that are judged within the cutoff of each measure, by query."""
    shares = np.array([judged_share(replace(rankings), cutoff=cutoff_of(each)) for each in measures])
    return np.where(rankings.retrieved > 0, shares, np.nan)


def _pairs(runs: Any, baselines: Sequence[str]) -> list[tuple[str, str]]:
    """List run and baseline of each comparison."""
    if not isinstance(runs, Mapping) or not all(isinstance(name, str) for name in runs):
        raise InputError(
            f"runs must be a dict {{name: run}} (found {type(runs).__name__} {str(runs)[:80]!r})",
            hint="Give each run a name: {'bm25': 'bm25.trec', ...}",
        )
    if len(runs) < 2:
        raise InputError(f"a comparison needs at least two runs (found {len(runs)})")
    if not baselines:
        return [(later, earlier) for earlier, later in combinations(runs, 2)]
    for baseline in baselines:
        if baseline not in runs:
            raise InputError(
                f"the baseline must be one of the runs {', '.join(map(repr, runs))} (found {baseline!r})",
                hint=nearest(str(baseline), runs),
            )
    return [
        (name, baseline)
        for number, baseline in enumerate(baselines)
        for name in runs
        if name not in baselines[: number + 1]  # each pair once
    ]


@contextmanager
def naming(name: str, calls: int = 2) -> Iterator[None]:
    """Name the run in errors and warnings about it; so many calls above this block is the user's line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except InputError as error:
            where = f"run {name!r}" + (f", {error.where}" if error.where else "")
            raise InputError(error.problem, where=where, hint=error.hint) from error
    for each in caught:
        unnamed = isinstance(each.message, PermedWarning) and not each.message.where
        message = f"run {name!r}: {each.message}" if unnamed else str(each.message)
        warnings.warn(message, each.category, stacklevel=3 + calls)


def notes_of(name: str, rankings: JudgedRankings) -> list[str]:
    """Note how many queries a run retrieves nothing for, and how many have no judgments."""
    query_ids, notes = rankings.judgments.query_ids, []
    lacking = np.flatnonzero(rankings.retrieved == 0)
    if len(lacking):
        notes.append(
            f"run {name!r} retrieves nothing for {len(lacking):,} of {counted(len(query_ids), 'query')} "
            f"(first: {query_ids[lacking[0]]!r}); {'it scores' if len(lacking) == 1 else 'they score'} 0"
        )
    beyond = rankings.n_run_queries - rankings.n_shared
    if beyond:
        notes.append(f"run {name!r} has {counted(beyond, 'query')} without judgments (ignored)")
    return notes


def clusters_of(query_ids: list[str], by: By | None, qrels: Any) -> tuple[str, NDArray[np.int64], list[str]]:
    """Return the name of the clusters, the cluster of each query, and notes."""
    if by is None:
        dataset = qrels.irds_ref() if hasattr(qrels, "irds_ref") else qrels  # PyTerrier holds a data set
        queries = dataset.queries_cls() if hasattr(dataset, "queries_cls") else None
        by = "conversation_id" if "conversation_id" in getattr(queries, "_fields", ()) else "none"
    n = len(query_ids)
    if isinstance(by, str) and by == "none":
        return "", np.arange(n), []
    groups = Groups.of(query_ids, by, qrels)
    name = "clusters" if groups.name == "group" else groups.name
    notes = []
    if groups.n_outside:
        outside = f"{groups.n_outside:,} of {counted(n, 'query')} {'is' if groups.n_outside == 1 else 'are'}"
        notes.append(f"{name}: {outside} in no cluster; each counts as its own")
    cluster = _numbered(np.where(groups.group < 0, len(groups.values) + np.arange(n), groups.group))
    if cluster.max() + 1 == n:
        notes.append(f"{name}: no cluster has two queries; queries are treated as independent")
        return "", np.arange(n), notes
    return name, cluster, notes


def _numbered(label: NDArray[np.int64]) -> NDArray[np.int64]:
    """Renumber the labels from 0 by first appearance, so that clusters of one are in query order."""
    numbers: dict[int, int] = {}
    return np.array([numbers.setdefault(each, len(numbers)) for each in label.tolist()], np.int64)
