"""The rankings of a run under each setting: tie rule, query set, label policy, removal of the query."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.audits.conventions import Setting
from permed_measures.audits.options import Labels, QuerySet, SelfMatch
from permed_measures.engine.inputs import Batches, as_mapping_or_frame, path_of, with_text_ids
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import TieBreak

__all__ = ["SETTINGS", "Labelled", "RankedRun", "TriedRun", "label_policies", "place_of"]

Bools = NDArray[np.bool_]


class Labelled(NamedTuple):
    """Judgments under a label policy, with what the measures need to know of their grades."""

    judgments: Judgments
    top: float
    grades: tuple[float, ...]


def _labelled(judgments: Judgments) -> Labelled:
    grades = np.unique(judgments.grade[judgments.grade > 0])
    return Labelled(judgments, float(grades[-1]) if len(grades) else 1.0, tuple(grades.tolist()))


def label_policies(judgments: Judgments) -> dict[Labels, Labelled]:
    """Return the judgments under each label policy."""
    pool = replace(judgments, grade=np.ones_like(judgments.grade))
    return {Labels.GRADES: _labelled(judgments), Labels.POOL: _labelled(pool)}


SETTINGS = [
    Setting(ties, QuerySet.QRELS, labels, self_match)
    for ties, labels, self_match in product(TieBreak, Labels, SelfMatch)
]
"""The settings but for the query set."""


class RankedRun(NamedTuple):
    """A ranking, and which of its queries count in each query set, and for how many."""

    labels: Labels
    labelled: Labelled
    rankings: JudgedRankings
    sets: list[tuple[Bools, int]]


class TriedRun:
    """The rankings of a run under each setting, each different one once.

    Parameters
    ----------
    policies : dict of Labels to Labelled
    run : any form of a run
    all_ties : bool
        Whether ties of judged and unjudged documents matter that are both not relevant, as for Judged@k.

    Attributes
    ----------
    ranked : list of RankedRun
    of_setting : list of int
        Which of them belongs to each of SETTINGS.
    """

    def __init__(self, policies: dict[Labels, Labelled], run: Any, *, all_ties: bool = False) -> None:
        table = as_mapping_or_frame(_in_memory(run), "score")
        if isinstance(table, Mapping):
            table = with_text_ids(table, "query ids")
        ids = set(table) if isinstance(table, Mapping) else set(table["query_id"].unique().to_list())
        judgments = policies[Labels.GRADES].judgments
        self._in_run = np.array([query_id in ids for query_id in judgments.query_ids], bool)
        self._n_run_queries = len(ids)
        self._policies, self._all_ties = policies, all_ties
        self.ranked: list[RankedRun] = []
        self._places: dict[tuple[object, ...], int] = {}
        named = table if isinstance(table, Mapping) else Batches([table], path_of(run))
        JudgedRankings.of(judgments, named)  # which warns if nothing meets
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kept = self._places_of(table)
            without = _without_self(table)
            places = {
                SelfMatch.KEPT: kept,
                SelfMatch.REMOVED: kept if without is None else self._places_of(without),
            }
        self.of_setting = [places[s.self_match][s.labels, s.ties] for s in SETTINGS]

    def _places_of(self, table: Any) -> dict[tuple[Labels, TieBreak], int]:
        """Return which ranking each label policy and tie rule gives."""
        found = {}
        graded: dict[TieBreak, JudgedRankings] = {}
        for labels, labelled in self._policies.items():
            bounds = {ties: JudgedRankings.of(labelled.judgments, table, ties) for ties in _BOUNDS}
            first, last = (self._place(labels, rankings) for rankings in bounds.values())
            for ties in TieBreak:
                if first == last and not self._all_ties:  # no tie matters, so no rule does
                    found[labels, ties] = first
                    continue
                if ties not in _BOUNDS and ties not in graded:
                    graded[ties] = JudgedRankings.of(self._policies[Labels.GRADES].judgments, table, ties)
                rankings = bounds.get(ties) or _relabelled(graded[ties], labels, labelled)
                found[labels, ties] = self._place(labels, rankings)
        return found

    def _place(self, labels: Labels, rankings: JudgedRankings) -> int:
        arrays = (rankings.query, rankings.rank, rankings.grade, rankings.retrieved)
        key = (labels, *(array.tobytes() for array in arrays))
        if key not in self._places:
            self._places[key] = len(self.ranked)
            labelled = self._policies[labels]
            self.ranked.append(RankedRun(labels, labelled, rankings, self._sets(labelled.judgments)))
        return self._places[key]

    def _sets(self, judgments: Judgments) -> list[tuple[Bools, int]]:
        """Return for each query set which queries are summed up, and what the sum is divided by."""
        relevant = judgments.num_rel(1) > 0
        both = self._in_run & relevant
        counted = {
            QuerySet.QRELS: (np.ones_like(self._in_run), judgments.n_queries),
            QuerySet.BOTH: (self._in_run, int(self._in_run.sum())),
            QuerySet.WITH_RELEVANT: (relevant, int(relevant.sum())),
            QuerySet.BOTH_WITH_RELEVANT: (both, int(both.sum())),
            QuerySet.RUN: (self._in_run, self._n_run_queries),
        }
        return [counted[queries] for queries in QuerySet]


_BOUNDS = (TieBreak.OPTIMISTIC, TieBreak.PESSIMISTIC)
"""The rules that look at grades, and between which all others are."""


def _relabelled(rankings: JudgedRankings, labels: Labels, labelled: Labelled) -> JudgedRankings:
    """Return rankings by a rule that does not look at grades, under another label policy."""
    if labels is Labels.GRADES:
        return rankings
    return replace(rankings, judgments=labelled.judgments)


def _in_memory(run: Any) -> Any:
    if not isinstance(run, Batches):
        return run
    import polars as pl

    frames = list(run)
    return pl.concat(frames) if frames else {}


def _without_self(table: Any) -> Any:
    """Return the run without documents whose id is the query's; None if there are none."""
    if isinstance(table, Mapping):
        kept = {q: {d: score for d, score in docs.items() if str(d) != q} for q, docs in table.items()}
        return kept if any(len(docs) < len(table[q]) for q, docs in kept.items()) else None
    import polars as pl

    kept = table.filter(pl.col("query_id") != pl.col("doc_id"))
    return kept if len(kept) < len(table) else None


_QUERY_SETS = list(QuerySet)
_SETTING_PLACE = {setting: s for s, setting in enumerate(SETTINGS)}


def place_of(run: TriedRun, setting: Setting) -> tuple[int, int]:
    """Return the ranking and the query set of a setting."""
    s = _SETTING_PLACE[replace(setting, queries=QuerySet.QRELS)]
    return run.of_setting[s], _QUERY_SETS.index(setting.queries)
