"""The rankings of a run under each setting: tie rule, label policy, which documents are ranked."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.audits.choices import Labels
from permed_measures.audits.conventions import Setting
from permed_measures.audits.options import Documents, LabelPolicy, Rank, SelfMatch
from permed_measures.audits.run_tables import (
    RankedTable,
    judged_by_list,
    once,
    positive,
    query_ids_of,
    read_once,
    table_of,
    without_self,
)
from permed_measures.audits.tried import SETTINGS
from permed_measures.conventions.query_sets import Groupings, QuerySets
from permed_measures.engine.inputs import Batches, RunLike, path_of
from permed_measures.engine.kernels.graded import Spans
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import TieBreak
from permed_measures.errors import PermedWarning, RepeatedDocumentError
from permed_measures.files.streams import RepeatingRun
from permed_measures.markup import counted

Bools = NDArray[np.bool_]
_Cut = dict[int, JudgedRankings]
_OF_REPEATS = (Documents.IN_PLACE, Documents.LAST)
_GRADED = (LabelPolicy.GRADES, LabelPolicy.LISTED)


class RankedRun(NamedTuple):
    """A ranking.

    Attributes
    ----------
    labels : Labels
    rankings : JudgedRankings
    spans : Spans or None
        The ranks that each hit could have among the documents with its score; None if no tie matters.
    cut : dict of int to JudgedRankings
        By cutoff, the rankings of lists that were cut there before they were sorted.
    """

    labels: Labels
    rankings: JudgedRankings
    spans: Spans | None
    cut: Mapping[int, JudgedRankings]

    def at(self, cutoff: Rank) -> JudgedRankings:
        """Return the rankings for a cutoff, of two the larger."""
        rank = max(cutoff) if isinstance(cutoff, tuple) else cutoff
        return self.rankings if rank is None else self.cut.get(rank, self.rankings)


class RunVariants:
    """The different rankings of a run under all settings.

    Parameters
    ----------
    policies : list of Labels
        Those that need no run, the grades as they are first.
    run : any form of a run
    cutoffs : iterable of int
        Those of the claims, at which a list may be cut before it is sorted.
    groupings : dict of QuerySet to ndarray
        The group of each query.
    all_ties : bool
        Whether ties of judged and unjudged documents matter that are both not relevant, as for Judged@k.

    Attributes
    ----------
    judgments : Judgments
        With the grades as they are.
    ranked : list of RankedRun
    of_setting : ndarray of int
        Which of them belongs to each of SETTINGS.
    available : ndarray of bool
        Whether each of SETTINGS means something for this run.
    in_run : ndarray of bool
        Which queries of the qrels the run has.
    in_all_runs : ndarray of bool or None
        Which of them all runs of a table have.
    """

    def __init__(
        self,
        policies: list[Labels],
        run: RunLike,
        *,
        cutoffs: Iterable[int] = (),
        groupings: Groupings | None = None,
        all_ties: bool = False,
    ) -> None:
        run = read_once(run)
        table = table_of(run)
        ids = query_ids_of(table)
        self.judgments = policies[0].judgments
        self.in_run = np.array([query_id in ids for query_id in self.judgments.query_ids], bool)
        self.in_all_runs: Bools | None = None
        self._n_run_queries, self._groupings, self._all_ties = len(ids), groupings or {}, all_ties
        self._policies = {labels.policy: labels for labels in policies}
        self.ranked: list[RankedRun] = []
        self._known: dict[tuple[object, ...], int] = {}
        self._sets: dict[tuple[int, Rank], QuerySets] = {}
        table, trec = self._ranked_once(table, run)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tables = self._tables(RankedTable(self.judgments, table, trec))
            numbers = [self._number(setting, tables, cutoffs) for setting in SETTINGS]
        self.of_setting = np.array([number or 0 for number in numbers])
        self.available = np.array([number is not None for number in numbers])

    def sets_at(self, number: int, cutoff: Rank) -> QuerySets:
        """Return the query sets of a ranking; a cutoff says which queries have a hit."""
        ranked, rank = self.ranked[number], cutoff[0] if isinstance(cutoff, tuple) else cutoff
        if (number, cutoff) not in self._sets:
            relevant = ranked.labels.judgments.num_rel(1) > 0
            sets = QuerySets.of(relevant, self.in_run, self._n_run_queries, self.in_all_runs, self._groupings)
            found = (ranked.at(cutoff).relevant(1, each).query for each in (rank, None))
            hit, any_hit = (np.bincount(each, minlength=self.judgments.n_queries) > 0 for each in found)
            self._sets[number, cutoff] = sets.with_lists(hit, any_hit, ranked.rankings.retrieved > 0)
        return self._sets[number, cutoff]

    def _ranked_once(self, table: Any, run: RunLike) -> tuple[Any, JudgedRankings]:
        """Return the rows of the run, each document once, and their rankings; warn if nothing meets."""
        self._repeats: dict[Documents, Any] = {}
        path = path_of(run)
        if not isinstance(run, RepeatingRun):
            try:
                named = table if isinstance(table, Mapping) else Batches([table], path)
                return table, JudgedRankings.of(self.judgments, named)
            except RepeatedDocumentError:
                if isinstance(table, Mapping):
                    raise
        self._repeats = once(table)
        first = self._repeats.pop(Documents.ALL)
        n = counted(len(table) - len(first), "row")
        problem = (
            f"{n} of documents that are listed again in their query; each counts once, at its first place"
        )
        warning = PermedWarning(f"{path}: {problem}" if path else f"the run has {problem}")
        warning.where = str(path or "")
        warnings.warn(warning, stacklevel=4)
        return first, JudgedRankings.of(self.judgments, Batches([first], path))

    def _tables(self, whole: RankedTable) -> dict[object, RankedTable]:
        """Return the parts of the run that are ranked."""
        others = without_self(whole.table)
        return {
            SelfMatch.KEPT: whole,
            SelfMatch.REMOVED: whole if others is None else RankedTable(self.judgments, others),
            Documents.POSITIVE: positive(whole, self.judgments),
            **{option: RankedTable(self.judgments, rows) for option, rows in self._repeats.items()},
        }

    def _number(
        self, setting: Setting, tables: dict[object, RankedTable], cutoffs: Iterable[int]
    ) -> int | None:
        """Return the number of the ranking by a setting; None if there is none."""
        listed = setting.labels is LabelPolicy.LISTED
        labels = self._policies.get(LabelPolicy.GRADES if listed else setting.labels)
        table = tables.get(setting.documents, tables[setting.self_match])
        if labels is None or (setting.documents in _OF_REPEATS and not self._repeats):
            return None
        matter = table.ties_matter(labels)
        ties = setting.ties if matter or self._all_ties else TieBreak.OPTIMISTIC
        rankings, cut = table.rankings(labels, ties), _Cut()
        if setting.documents is Documents.FIRST_K:
            if not matter:
                return None
            for k in sorted(cutoffs, reverse=True):
                cut[k] = JudgedRankings.of(labels.judgments, table.first_k(k), ties)
        if setting.documents is Documents.JUDGED:
            rankings, matter = rankings.condensed, False
        spans = table.spans(labels, rankings) if matter and setting.labels in _GRADED else None
        if listed:
            rankings = judged_by_list(rankings, tables[SelfMatch.KEPT].rankings(labels, TieBreak.TREC))
            labels = Labels.of(LabelPolicy.LISTED, rankings.judgments)
        return self._add(RankedRun(labels, rankings, spans, cut))

    def _add(self, ranked: RankedRun) -> int:
        """Return the number of a ranking: an old one if that has the same grades at the same ranks."""
        arrays = [
            array.tobytes()
            for each in (ranked.rankings, *ranked.cut.values())
            for array in (each.query, each.rank, each.grade, each.retrieved)
        ]
        key = (ranked.labels.policy, *arrays)
        if key not in self._known:
            self._known[key] = len(self.ranked)
            self.ranked.append(ranked)
        return self._known[key]
