"""The rankings of a run under each setting: tie rule, label policy, query set, removal of the query."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.audits.choices import Labels
from permed_measures.audits.conventions import Setting
from permed_measures.audits.options import LabelPolicy, QuerySet, SelfMatch
from permed_measures.engine.forms import as_mapping_or_frame
from permed_measures.engine.inputs import Batches, RunLike, path_of, with_text_ids
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import TieBreak

Bools = NDArray[np.bool_]


SETTINGS = [
    Setting(ties, QuerySet.QRELS, labels, self_match)
    for ties, labels, self_match in product(TieBreak, LabelPolicy, SelfMatch)
]
"""All settings except for query set and rounding, which do not change a ranking."""
_RANKING_OF = {(setting.ties, setting.labels, setting.self_match): s for s, setting in enumerate(SETTINGS)}
_QUERY_SETS = list(QuerySet)


class RankedRun(NamedTuple):
    """A ranking, with the queries that each query set sums up and their number."""

    labels: Labels
    rankings: JudgedRankings
    sets: list[tuple[Bools, int]]


class RunVariants:
    """The different rankings of a run under all settings.

    Parameters
    ----------
    policies : list of Labels
    run : any form of a run
    all_ties : bool
        Whether ties of judged and unjudged documents matter that are both not relevant, as for Judged@k.

    Attributes
    ----------
    judgments : Judgments
        With the grades as they are.
    ranked : list of RankedRun
    of_setting : list of int
        Which of them belongs to each of SETTINGS.
    """

    def __init__(self, policies: list[Labels], run: RunLike, *, all_ties: bool = False) -> None:
        table = as_mapping_or_frame(_in_memory(run), "score")
        if isinstance(table, Mapping):
            table = with_text_ids(table, "query ids")
        ids = set(table) if isinstance(table, Mapping) else set(table["query_id"].unique().to_list())
        self.judgments = policies[0].judgments
        self._in_run = np.array([query_id in ids for query_id in self.judgments.query_ids], bool)
        self._n_run_queries = len(ids)
        self._policies, self._all_ties = policies, all_ties
        self.ranked: list[RankedRun] = []
        self._known: dict[tuple[object, ...], int] = {}
        named = table if isinstance(table, Mapping) else Batches([table], path_of(run))
        trec = JudgedRankings.of(self.judgments, named)  # which warns if nothing meets
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kept = self._rank(table, {TieBreak.TREC: trec})
            without = _without_self(table)
            removed = kept if without is None else self._rank(without, {})
        numbers = {SelfMatch.KEPT: kept, SelfMatch.REMOVED: removed}
        self.of_setting = [numbers[s.self_match][s.labels, s.ties] for s in SETTINGS]

    def locate(self, setting: Setting) -> tuple[int, int]:
        """Return the numbers of the ranking and of the query set of a setting."""
        s = _RANKING_OF[setting.ties, setting.labels, setting.self_match]
        return self.of_setting[s], _QUERY_SETS.index(setting.queries)

    def _rank(
        self, table: Any, graded: dict[TieBreak, JudgedRankings]
    ) -> dict[tuple[LabelPolicy, TieBreak], int]:
        """Rank the run by each tie rule; return the number of the ranking by label policy and tie rule.

        Rules that do not look at grades rank all label policies alike; `graded` has such rankings already.
        """
        found = {}
        for labels in self._policies:
            bounds = {ties: JudgedRankings.of(labels.judgments, table, ties) for ties in _BOUNDS}
            first, last = (self._add(labels, rankings) for rankings in bounds.values())
            for ties in TieBreak:
                if first == last and not self._all_ties:  # no tie matters, so no rule does
                    found[labels.policy, ties] = first
                    continue
                if ties not in _BOUNDS and ties not in graded:
                    graded[ties] = JudgedRankings.of(self.judgments, table, ties)
                rankings = bounds.get(ties) or replace(graded[ties], judgments=labels.judgments)
                found[labels.policy, ties] = self._add(labels, rankings)
        return found

    def _add(self, labels: Labels, rankings: JudgedRankings) -> int:
        """Return the number of a ranking: an old one if that has the same grades at the same ranks."""
        arrays = (rankings.query, rankings.rank, rankings.grade, rankings.retrieved)
        key = (labels.policy, *(array.tobytes() for array in arrays))
        if key not in self._known:
            self._known[key] = len(self.ranked)
            self.ranked.append(RankedRun(labels, rankings, self._sets(labels.judgments)))
        return self._known[key]

    def _sets(self, judgments: Judgments) -> list[tuple[Bools, int]]:
        """Return for each query set the queries to sum up, and the number to divide the sum by."""
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
"""The rules that look at grades; the others rank every tie between these two."""


def _in_memory(run: RunLike) -> Any:
    if not isinstance(run, Batches):
        return run
    import polars as pl

    frames = list(run)
    return pl.concat(frames) if frames else {}


def _without_self(table: Any) -> Any:
    """Remove documents with the id of their query; None if there are none."""
    if isinstance(table, Mapping):
        found = {query: key for query, docs in table.items() if (key := _key_of(query, docs)) is not None}
        changed = {q: {d: s for d, s in table[q].items() if d != key} for q, key in found.items()}
        return {**table, **changed} if found else None
    import polars as pl

    kept = table.filter(pl.col("query_id") != pl.col("doc_id"))
    return kept if len(kept) < len(table) else None


def _key_of(text: str, docs: Mapping[Any, float]) -> Any:
    """Return the document id equal to this text, as a string or an integer; None without one."""
    if text in docs:
        return text
    try:
        return int(text) if str(int(text)) == text and int(text) in docs else None
    except ValueError:
        return None
