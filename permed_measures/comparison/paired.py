"""Values of several runs on the same queries, and the differences of pairs of runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from ir_measures import Judged
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.engine.groups import By, factorized
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.errors import InputError, did_you_mean
from permed_measures.experiment import Experiment
from permed_measures.intervals import sums_of, zero_rounding_noise
from permed_measures.measures.parameters import cutoff_of
from permed_measures.run_notes import (
    every_label_is_relevant,
    judged_within,
    notes_of,
)


@dataclass(frozen=True, eq=False)
class PairedRuns:
    """Values of several runs on the same queries, and the pairs to compare.

    Attributes
    ----------
    measures : list of Measure
    query_ids : list of str
        All queries of the qrels.
    values : dict of str to ndarray of float64, shape (n_measures, n_queries)
        By name of the run.
    pairs : list of (str, str)
        Run and baseline.
    clusters : str
        Name of the clusters; empty without clusters.
    cluster : ndarray of int64, shape (n_queries,)
        The cluster of each query, from 0; without clusters each query is its own.
    notes : list of str
        Notes on the runs and the clusters.
    among : ndarray of int64, optional
        After a selection of queries: the cluster of each query in the numbering of all queries.
    judged : dict of str to dict of str to ndarray of float64, shape (n_queries,)
        Judged@k of each run, by heading; NaN where the run retrieves nothing. Empty if all documents within
        the cutoffs are judged, or if every label is relevant: then Judged@k equals P@k.
    rankings : dict of str to JudgedRankings
        By name of the run; empty after a selection of queries.
    group : ndarray of int64, optional
        The group of each query, from 0, if groups are compared too; -1 for a query in no group.
    """

    measures: list[Measure]
    query_ids: list[str]
    values: dict[str, NDArray[np.float64]] = field(repr=False)
    pairs: list[tuple[str, str]]
    clusters: str
    cluster: NDArray[np.int64] = field(repr=False)
    notes: list[str]
    among: NDArray[np.int64] | None = field(default=None, repr=False)
    judged: dict[str, dict[str, NDArray[np.float64]]] = field(default_factory=dict, repr=False)
    rankings: dict[str, JudgedRankings] = field(default_factory=dict, repr=False)
    group: NDArray[np.int64] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, experiment: Experiment, baseline: str | None, clusters: By | None) -> PairedRuns:
        """Evaluate the runs; see `compare`."""
        pairs, asked = _pairs(experiment.runs, baseline), experiment.measures
        experiment.check_nonempty("compare by")
        name, cluster, notes = experiment.clusters(clusters)
        notes = [*notes, *experiment.evaluator.notes()]

        values, rankings = {}, {}
        for run_name, evaluation in experiment.evaluate():
            values[run_name], rankings[run_name] = evaluation.values, evaluation.rankings
            notes += notes_of(run_name, evaluation.rankings, asked)
        judged = {} if every_label_is_relevant(asked, experiment.judgments) else _judged(rankings, asked)
        parts = asked, experiment.judgments.query_ids, values, pairs, name, cluster, notes
        return cls(*parts, judged=judged, rankings=rankings)

    @property
    def n_clusters(self) -> int:
        """The number of clusters, or of queries where there are no clusters."""
        return int(self.cluster.max()) + 1

    @property
    def unit(self) -> str:
        """The independent unit: a cluster, or a query where there are no clusters."""
        return "cluster" if self.clusters else "query"

    @property
    def shared_cluster(self) -> NDArray[np.int64]:
        """The cluster of each query, with the same numbers in all groups of queries."""
        return self.cluster if self.among is None else self.among

    def of_queries(self, chosen: NDArray[np.bool_]) -> PairedRuns:
        """Select queries by a mask; the clusters keep their name, even if each has one query left."""
        query_ids = [query_id for query_id, kept in zip(self.query_ids, chosen, strict=True) if kept]
        values = {name: of_run[:, chosen] for name, of_run in self.values.items()}
        cluster = factorized(self.cluster[chosen])
        return replace(
            self,
            query_ids=query_ids,
            values=values,
            cluster=cluster,
            notes=[],
            among=self.shared_cluster[chosen],
            judged={
                heading: {name: shares[chosen] for name, shares in of_runs.items()}
                for heading, of_runs in self.judged.items()
            },
            rankings={},
            group=None,
        )

    def differences(self, measure: int) -> NDArray[np.float64]:
        """Compute run - baseline on a measure, by its number; shape (n_queries, n_pairs)."""
        columns = [self.values[run][measure] - self.values[baseline][measure] for run, baseline in self.pairs]
        return zero_rounding_noise(np.stack(columns, axis=1))

    def sums(self, n_clusters: int) -> NDArray[np.float64]:
        """Sum the values of each cluster; shape (n_clusters, n_measures * n_runs), by measure."""
        values = np.concatenate(np.stack(list(self.values.values()), axis=1))
        return sums_of(values.T, self.shared_cluster, n_clusters)

    def pair_columns(self) -> NDArray[np.int64]:
        """Return the two columns of `sums` for each difference; shape (n_measures * n_pairs, 2)."""
        index = {run: number for number, run in enumerate(self.values)}
        pairs = np.array([[index[run], index[baseline]] for run, baseline in self.pairs])
        return np.concatenate([pairs + len(index) * measure for measure in range(len(self.measures))])


def _judged(
    rankings: Mapping[str, JudgedRankings], measures: list[Measure]
) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Compute Judged@k for each cutoff of the measures, unless it is a measure; empty if all is judged."""
    cutoffs = {cutoff_of(measure) for measure in measures if "cutoff" in measure.SUPPORTED_PARAMS}
    names = {cutoff: Judged @ cutoff if cutoff else Judged for cutoff in cutoffs}
    shares = {
        str(names[cutoff]): {run: judged_within(ranked, cutoff) for run, ranked in rankings.items()}
        for cutoff in sorted(cutoffs, key=lambda cutoff: cutoff or np.inf)
        if names[cutoff] not in measures
    }
    is_partly = any((of_run < 1).any() for of_runs in shares.values() for of_run in of_runs.values())
    return shares if is_partly else {}


def _pairs(runs: Mapping[str, Any], baseline: str | None) -> list[tuple[str, str]]:
    """List the run and the baseline of each comparison."""
    if len(runs) < 2:
        raise InputError(f"a comparison needs at least two runs (found {len(runs)})")
    if baseline is None:
        return [(later, earlier) for earlier, later in combinations(runs, 2)]
    if not isinstance(baseline, str) or baseline not in runs:
        raise InputError(
            f"the baseline must be one of the runs {', '.join(map(repr, runs))} (found {baseline!r})",
            hint=did_you_mean(str(baseline), runs),
        )
    return [(name, baseline) for name in runs if name != baseline]
