"""The rankings of a run by each tie rule, label policy and choice of documents, and means over them."""

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
from permed_measures.conventions.evaluate import is_computable, is_defined, is_micro, is_possible, means_of
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
from permed_measures.engine.tables import with_string_ids
from permed_measures.errors import warnings_about
from permed_measures.inputs.columns import RunLike
from permed_measures.inputs.door import read_nested
from permed_measures.measures.parameters import Cutoff, precision_recall_cutoffs

_ORDERS, _MANY_LISTS, _ORDERS_OF_MANY = 10, 50, 2
"""In how many other orders a run is looked at; of many lists some differ in a few."""


def label_policies(judgments: Judgments, complete: bool = False) -> list[LabelPolicy]:
    """Return the judgments under each label policy that needs no run, as they are first.

    Those that are not offered on them, as strict ones without a relevant document, are left out, unless the
    policies are to be `complete`.
    """
    return [
        LabelPolicy.of(policy, each.compute(judgments))
        for policy, each in OPTIONS[LABELS].values.items()
        if not each.only_found and (complete or each.offered(judgments))
    ]


class RunVariants:
    """The different rankings of a run, each made when it is first asked for.

    Parameters
    ----------
    policies : list of Labels
        Those that need no run, the grades as they are first.
    run : any form of a run
    all_ties : bool
        Whether ties of judged and unjudged documents matter that are both not relevant, as for Judged@k.
    complete : bool
        Whether each convention has a mean that is defined, also one that surely equals another here; the mean
        over no queries is 0 then, as scripts have it.

    Attributes
    ----------
    judgments : Judgments
        With the grades as they are.
    labels : Labels
        The grades as they are.
    in_run : ndarray of bool
        Which queries of the qrels the run has.
    in_all_runs : ndarray of bool or None
        Which of them all runs of a table have.
    """

    def __init__(
        self,
        policies: list[LabelPolicy],
        run: RunLike,
        *,
        all_ties: bool = False,
        complete: bool = False,
    ) -> None:
        self.labels, self._complete = policies[0], complete
        self.judgments = self.labels.judgments
        table = read_nested(run, "score")
        JudgedRankings.of(self.judgments, table, depth=1)  # which says what is wrong with it
        lists = {
            query: with_string_ids(docs, "document ids", query_id=query)
            for query, docs in with_string_ids(table, "query ids").items()
        }
        self._lists = lists
        self.in_run = np.array([query_id in lists for query_id in self.judgments.query_ids], bool)
        self.in_all_runs: Bools | None = None
        self._all_ties = all_ties
        known = {*self.judgments.query_ids}
        others = [query for query in lists if query not in known]
        self._n_others, self._groups = len(others), groups_of(self.judgments.query_ids, others, complete)
        self._policies = {labels.policy: labels for labels in policies}
        self._found: dict[object, LabelledRanking | None] = {}
        self._known: dict[object, LabelledRanking] = {}
        self._numbers: dict[int, int] = {}
        self._sets: dict[object, QuerySets] = {}
        self._sets_of: dict[object, QuerySets] = {}
        self._means: dict[object, Floats | None] = {}
        self._parts: dict[tuple[tuple[str, str], ...], RankedLists] = {}
        query = np.flatnonzero(self.in_run).tolist()
        self._rows = scores_of(
            self.judgments, query, [lists[self.judgments.query_ids[each]] for each in query]
        )
        self._whole = self._ranked_lists(self._rows)

    @property
    def longest_list(self) -> int:
        """How many documents the longest list has."""
        return max(map(len, self._lists.values()), default=0)

    @property
    def has_groups(self) -> bool:
        """Whether the ids of queries tell conversations and turns."""
        return bool(self._groups)

    @cached_property
    def has_negative(self) -> bool:
        """Whether a grade is below 0."""
        return bool((self.judgments.grade < 0).any())

    @property
    def list_lengths(self) -> NDArray[np.int64]:
        """How many documents the list of each query has."""
        return np.array([len(docs) for docs in self._lists.values()], np.int64)

    def with_shuffled_scores(self) -> Iterator[RunVariants]:
        """Yield the run, and then with the scores of each list exchanged among its documents."""
        yield self
        yield from self._shuffled

    @cached_property
    def _shuffled(self) -> list[RunVariants]:
        rng, found = random.Random(0), list[RunVariants]()
        for _ in range(_ORDERS if len(self._lists) < _MANY_LISTS else _ORDERS_OF_MANY):
            lists = {
                query: dict(zip(docs, rng.sample([*docs.values()], len(docs)), strict=True))
                for query, docs in self._lists.items()
            }
            with warnings_about(None):  # what is wrong with the run was said
                found.append(RunVariants([*self._policies.values()], lists, all_ties=self._all_ties))
            found[-1].in_all_runs = self.in_all_runs
        return found

    # --- what can be told apart ------------------------------------------------------------------------

    def applicable_values(self, option: str) -> list[str]:
        """Return the values of an option of the run that mean something for it."""
        known = OPTIONS[option].values
        if option == LABELS:
            return [value for value, each in known.items() if each.only_found or value in self._policies]
        return [value for value, each in known.items() if each.offered(self)]

    # --- rankings --------------------------------------------------------------------------------------

    def ranked(self, options: Options) -> LabelledRanking | None:
        """Return the ranking by the options of a measure; None if there is none."""
        key = tuple(options[option] for option in OF_RANKINGS)
        if key not in self._found:
            found = self._ranked(options)
            self._found[key] = found and self._interned(found)
        return self._found[key]

    def ranking_number(self, options: Options) -> int:
        """Return the number of the ranking by the options of a measure, 0 if there is none."""
        ranked = self.ranked(options)
        return 0 if ranked is None else self._numbers.setdefault(id(ranked), len(self._numbers) + 1)

    def _ranked(self, options: Options) -> LabelledRanking | None:
        policy = OPTIONS[LABELS].values[options[LABELS]]
        labels = self._policies.get(DEFAULT[LABELS] if policy.only_found else options[LABELS])
        if labels is None:
            return None
        part = self._part(options)
        told = self._all_ties or part.mixed(labels).any()
        ties: TieBreak = computed_by(TIES, options[TIES])
        rankings = part.rankings(labels, ties if told else TieBreak.OPTIMISTIC)
        for option in _LEAVING_OUT:
            if condense := computed_by(option, options[option]).condense:
                rankings = condense(rankings)
        tie_ranks = part.tie_ranks(rankings) if part.has_ties and _tells_ties(options) else None
        if policy.only_found:
            labels, number = self._part({**options, **_NOTHING_LEFT_OUT}).listed
            rankings = replace(rankings, judgments=labels.judgments, row=number[rankings.row])
        return LabelledRanking(labels, rankings, tie_ranks)

    def _interned(self, ranked: LabelledRanking) -> LabelledRanking:
        """Return a ranking, or an old one that has the same grades at the same ranks."""
        each, judgments = ranked.rankings, ranked.rankings.judgments
        of_hits = judgments.query[each.row], judgments.grade[each.row]  # not kept, as an old one may be
        arrays = (*of_hits, each.rank, each.retrieved, *(ranked.tie_ranks or ()))
        digests = (blake2b(array.tobytes()).digest() for array in arrays)
        return self._known.setdefault((ranked.labels, *digests), ranked)

    def _part(self, options: Options) -> RankedLists:
        """Return the part of the run that is ranked; the whole where nothing is left out."""
        rules = (*((option, options[option]) for option in (DEPTH, *_LEAVING_OUT)),)
        if rules not in self._parts:
            kept = np.logical_and.reduce([self._kept[rule] for rule in rules if rule in self._kept])
            self._parts[rules] = self._whole if kept.all() else self._ranked_lists(self._rows_of(kept))
        return self._parts[rules]

    def _ranked_lists(self, rows: ScoredHits) -> RankedLists:
        counts = len(self._lists), int(self.in_run.sum())
        return RankedLists(self.judgments, rows, counts, self._all_ties)

    @cached_property
    def _kept(self) -> dict[tuple[str, str], Bools]:
        """Which rows stay, by the options and values that leave some out, and by the length of the lists.

        Of documents with the same score those that stand first are the first.
        """
        rows, query_ids = self._rows, self.judgments.query_ids
        length = rows.end - rows.start
        in_order = np.lexsort((-rows.score, np.repeat(np.arange(len(length)), length)))
        rank = np.empty(len(in_order), np.int64)
        rank[in_order] = concat_ranges(np.zeros_like(length), length)
        found = {
            (DEPTH, value): np.asarray(rank < (each.compute or np.inf))
            for value, each in OPTIONS[DEPTH].values.items()
        }
        for option in _LEAVING_OUT:
            for value, each in OPTIONS[option].values.items():
                if each.compute.keep is not None:
                    found[option, value] = each.compute.keep(self._lists, rows, query_ids)
        return found

    def _rows_of(self, kept: Bools) -> ScoredHits:
        """Return the rows that are kept."""
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
        """Which row each hit is."""
        rows, judgments = self._rows, self.judgments
        ids, found = iter(judgments.ids(rows.row)), list[int]()
        n_hits = np.bincount(judgments.query[rows.row], minlength=judgments.n_queries)
        for query_id, start, n in zip(judgments.query_ids, rows.start.tolist(), n_hits.tolist(), strict=True):
            row_of = dict(zip(self._lists[query_id], count(start))) if n else {}
            found += map(row_of.__getitem__, islice(ids, n))
        return np.array(found, np.int64)

    # --- means -----------------------------------------------------------------------------------------

    def query_sets_of(self, ranked: LabelledRanking, cutoff: Cutoff, averaged: str) -> QuerySets:
        """Return the query sets of a ranking; a cutoff says which queries have a hit."""
        key = (id(ranked), cutoff, averaged)
        if key not in self._sets:
            known = self.query_facts(ranked, cutoff)
            ours = (averaged, *(each.tobytes() for each in known))  # many rankings have the same hits
            if ours not in self._sets_of:
                empty = 0.0 if self._complete else np.nan
                self._sets_of[ours] = QuerySets.of(query_sets(), known, self._group(averaged), empty)
            self._sets[key] = self._sets_of[ours]
        return self._sets[key]

    def _group(self, averaged: str) -> Ints | None:
        """Return the group of each query whose means are averaged; None if each query counts once."""
        part = computed_by(AVERAGED, averaged)
        return None if part is None else self._groups[part]

    def query_facts(self, ranked: LabelledRanking, cutoff: Cutoff) -> QueryFacts:
        """Return what is known of the queries, those without judgments last."""
        rankings, n = ranked.rankings, self.judgments.n_queries
        every = rankings.relevant(1)
        first = every.query[every.rank <= (precision_recall_cutoffs(cutoff)[0] or np.inf)]
        hit, found = (np.bincount(each, minlength=n) > 0 for each in (first, every.query))
        in_all_runs = np.zeros(n, bool) if self.in_all_runs is None else self.in_all_runs
        relevant, listed = ranked.labels.judgments.num_rel(1) > 0, rankings.retrieved > 0
        other = rankings.retrieved > rankings.num_rel_ret(1)
        of_qrels = (np.ones(n, bool), self.in_run, in_all_runs, relevant, hit, found, listed, other)
        known = QueryFacts(*(np.concatenate([each, np.zeros(self._n_others, bool)]) for each in of_qrels))
        known.in_run[n:] = True
        return known

    def means(self, measure: str, cutoff: Cutoff, options: Options) -> Floats | None:
        """Return the mean of a measure by its options over each query set; None if they mean nothing here."""
        ranked, averaged = self.ranked(options), options[AVERAGED]
        if ranked is None or not (averaged == DEFAULT[AVERAGED] or self.has_groups):
            return None
        own = of_queries(measure, options)
        if not _knows_ties_for(own, options):
            return None
        key = (id(ranked), measure, cutoff, averaged, *own.values())
        if key not in self._means:
            possible = (is_computable if self._complete else is_possible)(own, ranked.labels)
            sets = self.query_sets_of(ranked, cutoff, averaged)
            self._means[key] = means_of(measure, cutoff, own, ranked, sets) if possible else None
        return self._means[key]


def _ids_of_kept(rows: ScoredHits, position: Ints, places: Ints) -> list[str]:
    """Return the documents at places among those that are kept, which stand at these positions of all."""
    return rows.ids(position[places])


_LEAVING_OUT = (DOCUMENTS, SELF_MATCH)
"""The options that leave documents out."""
_NOTHING_LEFT_OUT = {option: DEFAULT[option] for option in _LEAVING_OUT}


def _tells_ties(options: Options) -> bool:
    """Return whether it is known which documents of the rankings are tied."""
    of_rankings = {option: options[option] for option in OF_RANKINGS}
    return all(each.tells_ties for each in value_records(of_rankings))


def _knows_ties_for(own: Options, options: Options) -> bool:
    """Return whether it is known which documents are tied, if options of a measure's own ask for that."""
    return not any(each.needs_ties for each in value_records(own)) or _tells_ties(options)


def may_be(measure: str, options: Options) -> bool:
    """Return whether options of a measure mean something on any run, which no other ones do."""
    own = options_for(measure, options)
    if not _knows_ties_for(own, options):
        return False
    if is_micro(own) and options[AVERAGED] != DEFAULT[AVERAGED]:
        return False
    return is_defined(own, options[LABELS])


def options_for(measure: str, options: Options) -> Options:
    """Return the options that a measure has for itself, without those that all have."""
    return {option: options[option] for option in OPTIONS_OF.get(measure, ())}


def of_queries(measure: str, options: Options) -> Options:
    """Return the options that the value of a query depends on beside its ranking."""
    own = options_for(measure, options)
    rounding = options[ROUNDING]
    return own if rounding_of(rounding).of_queries is None else {**own, ROUNDING: rounding}
