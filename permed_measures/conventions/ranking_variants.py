"""Rank one run by each tie rule, label policy and choice of documents, and compute means."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from hashlib import blake2b
from itertools import count, islice

import numpy as np
from numpy.typing import NDArray

from permed_measures.arrays import Bools, Floats, Ints
from permed_measures.conventions.aggregate import QueryFacts, QuerySets, groups_of
from permed_measures.conventions.evaluate import (
    is_consistent,
    is_defined,
    is_micro,
    is_worth_trying,
    means_of,
)
from permed_measures.conventions.options import (
    DEFAULT,
    OF_RANKINGS,
    OPTIONS_OF,
    Options,
    computed_by,
    query_sets,
    rounding_of,
    value_records,
)
from permed_measures.conventions.per_query import LabelledRanking, LabelPolicy
from permed_measures.conventions.rankings import RankedLists
from permed_measures.conventions.records import (
    AVERAGED,
    DEPTH,
    DOCUMENTS,
    LABELS,
    OPTIONS,
    ROUNDING,
    SELF_MATCH,
    TIES,
)
from permed_measures.engine.judgments import Judgments, concat_ranges
from permed_measures.engine.matching import scores_of
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import ScoredHits, TieBreak
from permed_measures.engine.tables import stringify_keys
from permed_measures.inputs.columns import RunLike
from permed_measures.inputs.door import read_nested
from permed_measures.measures.parameters import Cutoff, precision_recall_cutoffs

_ORDERS, _MANY_LISTS, _ORDERS_OF_MANY = 10, 50, 2
"""The number of random orders of a run with few lists; from 50 lists on, the last number is enough."""


def label_policies(judgments: Judgments, complete: bool = False) -> list[LabelPolicy]:
    """Apply each label policy that does not need a run; the grades as they are come first.

    A policy that makes no sense on these judgments is left out, such as strict labels without a relevant
    document. With `complete` it stays.
    """
    return [
        LabelPolicy(policy, value.compute(judgments))
        for policy, value in OPTIONS[LABELS].values.items()
        if not value.only_found and (complete or value.offered(judgments))
    ]


class RunVariants:
    """The different rankings of a run, each made when it is first asked for.

    Parameters
    ----------
    policies : list of LabelPolicy
        The label policies that do not need a run; the grades as they are come first.
    run : any form of a run
    all_ties : bool
        Whether to break ties of judged and unjudged documents that are both not relevant, as Judged@k needs.
    complete : bool
        Whether to compute every convention that is defined, also one that surely equals another here. The
        mean over no queries is then 0, as in scripts.
    warns : bool
        Whether to warn of a run that shares no query or document with the judgments, or is swapped with them.

    Attributes
    ----------
    judgments : Judgments
        The judgments with the grades as they are.
    labels : LabelPolicy
        The first policy: the grades as they are.
    in_run : ndarray of bool
        Whether the run has each query of the qrels.
    in_all_runs : ndarray of bool or None
        Whether all runs of a table have it.
    """

    def __init__(
        self,
        policies: list[LabelPolicy],
        run: RunLike,
        *,
        all_ties: bool = False,
        complete: bool = False,
        warns: bool = True,
    ) -> None:
        self.labels, self._complete = policies[0], complete
        self.judgments = self.labels.judgments
        table = read_nested(run, "score")
        if warns:
            JudgedRankings.of(self.judgments, table, depth=1)
        lists = {
            query: stringify_keys(docs, "document ids", query_id=query)
            for query, docs in stringify_keys(table, "query ids").items()
        }
        self._lists = lists
        self.in_run = np.array([query_id in lists for query_id in self.judgments.query_ids], bool)
        self.in_all_runs: Bools | None = None
        self._all_ties = all_ties
        judged = {*self.judgments.query_ids}
        self._others = [query for query in lists if query not in judged]
        self._policies = {labels.policy: labels for labels in policies}
        self._by_options: dict[object, LabelledRanking | None] = {}
        self._by_content: dict[object, LabelledRanking] = {}
        self._numbers: dict[int, int] = {}
        self._sets: dict[object, QuerySets] = {}
        self._sets_by_facts: dict[object, QuerySets] = {}
        self._means: dict[object, Floats] = {}
        self._checked: dict[object, tuple[bool, bool]] = {}
        self._parts: dict[tuple[tuple[str, str], ...], RankedLists] = {}
        self._parts_by_rows: dict[bytes, RankedLists] = {}
        self._kept: dict[tuple[str, str], Bools | None] = {}
        queries = np.flatnonzero(self.in_run).tolist()
        self._rows = scores_of(
            self.judgments, queries, [lists[self.judgments.query_ids[query]] for query in queries]
        )
        self._whole = self._ranked_lists(self._rows)

    @property
    def longest_list(self) -> int:
        """The length of the longest list."""
        return max(map(len, self._lists.values()), default=0)

    @cached_property
    def _groups(self) -> list[Ints]:
        """The group of each query by each part of the query ids."""
        return groups_of(self.judgments.query_ids, self._others, self._complete)

    @property
    def has_groups(self) -> bool:
        """Whether the query ids name conversations and turns."""
        return bool(self._groups)

    @cached_property
    def has_negative(self) -> bool:
        """Whether any grade is below 0."""
        return bool((self.judgments.grade < 0).any())

    @property
    def list_lengths(self) -> NDArray[np.int64]:
        """The length of each list."""
        return np.array([len(docs) for docs in self._lists.values()], np.int64)

    def with_shuffled_scores(self) -> Iterator[RunVariants]:
        """Yield the run, then copies in which the scores of each list are shuffled."""
        yield self
        yield from self._shuffled

    @cached_property
    def _shuffled(self) -> list[RunVariants]:
        rng, shuffled = random.Random(0), list[RunVariants]()
        for _ in range(_ORDERS if len(self._lists) < _MANY_LISTS else _ORDERS_OF_MANY):
            lists = {
                query: dict(zip(docs, rng.sample([*docs.values()], len(docs)), strict=True))
                for query, docs in self._lists.items()
            }
            policies = [*self._policies.values()]  # the user has seen the warnings about the run
            shuffled.append(RunVariants(policies, lists, all_ties=self._all_ties, warns=False))
            shuffled[-1].in_all_runs = self.in_all_runs
        return shuffled

    # --- values to try ---------------------------------------------------------------------------------

    def applicable_values(self, option: str) -> list[str]:
        """List the values of an option that are worth trying on this run."""
        records = OPTIONS[option].values
        if option == LABELS:
            return [value for value, each in records.items() if each.only_found or value in self._policies]
        return [value for value, each in records.items() if each.offered(self)]

    # --- rankings --------------------------------------------------------------------------------------

    def ranked(self, options: Options) -> LabelledRanking | None:
        """Rank the run by the options of a measure; None if their label policy does not apply."""
        key = tuple(options[option] for option in OF_RANKINGS)
        if key not in self._by_options:
            ranked = self._ranked(options)
            self._by_options[key] = ranked and self._interned(ranked)
        return self._by_options[key]

    def ranking_number(self, options: Options) -> int:
        """Assign a number to the ranking by the options of a measure: the same to equal ones, 0 to none."""
        ranked = self.ranked(options)
        return 0 if ranked is None else self._numbers.setdefault(id(ranked), len(self._numbers) + 1)

    def _ranked(self, options: Options) -> LabelledRanking | None:
        policy = OPTIONS[LABELS].values[options[LABELS]]
        labels = self._policies.get(DEFAULT[LABELS] if policy.only_found else options[LABELS])
        if labels is None:
            return None
        part = self._part(options)
        rule_matters = self._all_ties or part.mixed(labels).any()
        ties: TieBreak = computed_by(TIES, options[TIES])
        rankings = part.rankings(labels, ties if rule_matters else TieBreak.OPTIMISTIC)
        for option in _LEAVING_OUT:
            if condense := computed_by(option, options[option]).condense:
                rankings = condense(rankings)
        tie_ranks = part.tie_ranks(rankings) if part.has_ties and _tells_ties(options) else None
        if policy.only_found:
            labels, number = self._part({**options, **_NOTHING_LEFT_OUT}).listed
            rankings = replace(rankings, judgments=labels.judgments, row=number[rankings.row])
        return LabelledRanking(labels, rankings, tie_ranks)

    def _interned(self, ranked: LabelledRanking) -> LabelledRanking:
        """Return an earlier ranking with the same grades at the same ranks, or else this one."""
        rankings, judgments = ranked.rankings, ranked.rankings.judgments
        hits = judgments.query[rankings.row], judgments.grade[rankings.row]
        arrays = (*hits, rankings.rank, rankings.retrieved, *(ranked.tie_ranks or ()))
        digests = (blake2b(array.tobytes()).digest() for array in arrays)  # the arrays need not be kept
        return self._by_content.setdefault((ranked.labels, *digests), ranked)

    def _part(self, options: Options) -> RankedLists:
        """Select the part of the run that is ranked; the whole run if nothing is left out."""
        rules = (*((option, options[option]) for option in (DEPTH, *_LEAVING_OUT)),)
        if rules not in self._parts:
            kept = [rows for rule in rules if (rows := self._rows_kept(*rule)) is not None and not rows.all()]
            self._parts[rules] = self._part_of(np.logical_and.reduce(kept)) if kept else self._whole
        return self._parts[rules]

    def _part_of(self, kept: Bools) -> RankedLists:
        """Select the rows of the lists that are kept; the same ones make one part."""
        key = kept.tobytes()
        if key not in self._parts_by_rows:
            self._parts_by_rows[key] = self._ranked_lists(self._rows_of(kept))
        return self._parts_by_rows[key]

    def _ranked_lists(self, rows: ScoredHits) -> RankedLists:
        counts = len(self._lists), int(self.in_run.sum())
        return RankedLists(self.judgments, rows, counts, self._all_ties)

    def _rows_kept(self, option: str, value: str) -> Bools | None:
        """Select the rows that a value of an option keeps; None if it keeps all of them."""
        if (option, value) not in self._kept:
            compute, rows = computed_by(option, value), None
            if option == DEPTH and compute is not None:
                rows = self._row_ranks < compute
            elif option != DEPTH and compute.keep is not None:
                rows = compute.keep(self._lists, self._rows, self.judgments.query_ids)
            self._kept[option, value] = rows
        return self._kept[option, value]

    @cached_property
    def _row_ranks(self) -> Ints:
        """The rank of each row, from 0, after a stable sort of its list by score."""
        length = self._rows.end - self._rows.start
        in_order = np.lexsort((-self._rows.score, np.repeat(np.arange(len(length)), length)))
        rank = np.empty(len(in_order), np.int64)
        rank[in_order] = concat_ranges(np.zeros_like(length), length)
        return rank

    def _rows_of(self, kept: Bools) -> ScoredHits:
        """Select rows of the lists."""
        rows, position = self._rows, np.flatnonzero(kept)
        before = np.concatenate([[0], np.cumsum(kept)])
        hits = kept[self._hits]
        return ScoredHits(
            rows.score[kept],
            before[rows.start],
            before[rows.end],
            partial(_ids_of_kept, rows, position),
            rows.row[hits],
            rows.hit_score[hits],
        )

    @cached_property
    def _hits(self) -> Ints:
        """The row of each hit."""
        rows, judgments = self._rows, self.judgments
        ids, hit_rows = iter(judgments.doc_ids(rows.row)), list[int]()
        n_hits = np.bincount(judgments.query[rows.row], minlength=judgments.n_queries)
        for query_id, start, n in zip(judgments.query_ids, rows.start.tolist(), n_hits.tolist(), strict=True):
            row_of = dict(zip(self._lists[query_id], count(start))) if n else {}
            hit_rows += map(row_of.__getitem__, islice(ids, n))
        return np.array(hit_rows, np.int64)

    # --- means -----------------------------------------------------------------------------------------

    def query_sets_of(self, ranked: LabelledRanking, cutoff: Cutoff, averaged: str) -> QuerySets:
        """Weight the queries of a ranking for each query set; the cutoff decides which queries have a hit."""
        key = (id(ranked), cutoff, averaged)
        if key not in self._sets:
            facts = self.query_facts(ranked, cutoff)
            content = (averaged, *(each.tobytes() for each in facts))  # many rankings have the same hits
            if content not in self._sets_by_facts:
                empty = 0.0 if self._complete else np.nan
                self._sets_by_facts[content] = QuerySets.of(query_sets(), facts, self._group(averaged), empty)
            self._sets[key] = self._sets_by_facts[content]
        return self._sets[key]

    def _group(self, averaged: str) -> Ints | None:
        """Return the group of each query if groups are averaged; None if each query counts once."""
        part = computed_by(AVERAGED, averaged)
        return None if part is None else self._groups[part]

    def query_facts(self, ranked: LabelledRanking, cutoff: Cutoff) -> QueryFacts:
        """Collect what decides whether queries count; those without judgments come last."""
        rankings, n = ranked.rankings, self.judgments.n_queries
        relevant_hits = rankings.relevant(1)
        within = relevant_hits.query[relevant_hits.rank <= (precision_recall_cutoffs(cutoff)[0] or np.inf)]
        hit, relevant_retrieved = (
            np.bincount(queries, minlength=n) > 0 for queries in (within, relevant_hits.query)
        )
        in_all_runs = np.zeros(n, bool) if self.in_all_runs is None else self.in_all_runs
        relevant, any_retrieved = ranked.labels.judgments.num_rel(1) > 0, rankings.retrieved > 0
        other = rankings.retrieved > rankings.num_rel_ret(1)
        of_qrels = (
            np.ones(n, bool),
            self.in_run,
            in_all_runs,
            relevant,
            hit,
            relevant_retrieved,
            any_retrieved,
            other,
        )
        facts = QueryFacts(*(np.concatenate([each, np.zeros(len(self._others), bool)]) for each in of_qrels))
        facts.in_run[n:] = True
        return facts

    def means(self, measure: str, cutoff: Cutoff, options: Options) -> Floats | None:
        """Compute the mean of a measure over each query set; None if its options are not defined here."""
        ranked, averaged = self.ranked(options), options[AVERAGED]
        if ranked is None or not (averaged == DEFAULT[AVERAGED] or self.has_groups):
            return None
        own = of_queries(measure, options)
        is_tried, needs_ties = self._check(measure, own, ranked.labels)
        if not is_tried or (needs_ties and not _tells_ties(options)):
            return None
        key = (id(ranked), measure, cutoff, averaged, *own.values())
        if key not in self._means:
            sets = self.query_sets_of(ranked, cutoff, averaged)
            self._means[key] = means_of(measure, cutoff, own, ranked, sets)
        return self._means[key]

    def _check(self, measure: str, own: Options, labels: LabelPolicy) -> tuple[bool, bool]:
        """Check whether the options of a measure are computed on these labels, and need to know ties."""
        key = (labels, measure, *own.values())
        if key not in self._checked:
            is_tried = (is_defined if self._complete else is_worth_trying)(own, labels)
            self._checked[key] = is_tried, _needs_ties(own)
        return self._checked[key]


def _ids_of_kept(rows: ScoredHits, position: Ints, kept_rows: Ints) -> list[str]:
    """Return the document ids of kept rows; `position` is the row of each kept row among all."""
    return rows.ids(position[kept_rows])


_LEAVING_OUT = (DOCUMENTS, SELF_MATCH)
"""The options that leave documents out."""
_NOTHING_LEFT_OUT = {option: DEFAULT[option] for option in _LEAVING_OUT}


def _tells_ties(options: Options) -> bool:
    """Check whether the ranking says which documents are tied."""
    of_rankings = {option: options[option] for option in OF_RANKINGS}
    return all(each.tells_ties for each in value_records(of_rankings))


def _needs_ties(own: Options) -> bool:
    """Check whether an option of a measure needs to know which documents are tied."""
    return any(each.needs_ties for each in value_records(own))


def is_consistent_for(measure: str, options: Options) -> bool:
    """Check whether the options of a measure fit together and add anything new, whatever the run is."""
    own = options_for(measure, options)
    if _needs_ties(own) and not _tells_ties(options):
        return False
    if is_micro(own) and options[AVERAGED] != DEFAULT[AVERAGED]:
        return False
    return is_consistent(own, options[LABELS])


def options_for(measure: str, options: Options) -> Options:
    """Select the options that only some measures have, without those that all have."""
    return {option: options[option] for option in OPTIONS_OF.get(measure, ())}


def of_queries(measure: str, options: Options) -> Options:
    """Select the options that change the value of a query, apart from its ranking."""
    own = options_for(measure, options)
    rounding = options[ROUNDING]
    return own if rounding_of(rounding).of_queries is None else {**own, ROUNDING: rounding}
