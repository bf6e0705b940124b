"""The rankings of a run by each tie rule, label policy and choice of documents, and means over them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property, partial
from hashlib import blake2b
from itertools import count, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permed_measures.conventions.means import (
    ROUNDED,
    Known,
    QuerySets,
    groupings_of,
    is_computable,
    is_defined,
    is_micro,
    is_possible,
    means_of,
)
from permed_measures.conventions.options import DEFAULT, OPTIONS, OPTIONS_OF, Options, seen_by, value_of
from permed_measures.conventions.values import Labels, Ranked, Spans
from permed_measures.engine.hits import scores_of
from permed_measures.engine.judgments import Ints, Judgments, position_in_query, segments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import ScoredHits, TieBreak, ranks_of, spans_of
from permed_measures.engine.tables import with_string_ids
from permed_measures.errors import warnings_about
from permed_measures.inputs.columns import RunLike
from permed_measures.inputs.door import read_nested
from permed_measures.papers.names import Rank, both_of

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Scores = Mapping[str, float]
Lists = Mapping[str, Scores]
_GRADED = ("grades", "listed")
"""The labels under which tied documents may gain differently."""
TIES = {each.value: each for each in TieBreak}
"""The tie rules."""


def _without_query(lists: Lists, rows: ScoredHits, query_ids: list[str]) -> Bools:
    kept = np.ones(len(rows.score), bool)
    for query_id, start in zip(query_ids, rows.start.tolist(), strict=True):
        if query_id in lists.get(query_id, ()):
            kept[start + [*lists[query_id]].index(query_id)] = False
    return kept


KEPT: dict[str, Callable[[Lists, ScoredHits, list[str]], Bools]] = {
    "positive": lambda _, rows, __: rows.score > 0,
    "removed": _without_query,
}
"""Which rows stay in their list, by the values of options that leave some out."""
DEPTHS: dict[str, int | None] = {
    "whole": None,
    **{f"first_{n}": n for n in (10, 20, 50, 100, 1000)},
}
"""To how many documents lists are cut."""
OF_RANKINGS = ("ties", "labels", "self_match", "documents", "depth")
"""The options that rankings depend on."""


_ORDERS, _MANY_LISTS, _ORDERS_OF_MANY = 10, 50, 2
"""In how many other orders a run is looked at; of many lists some differ in a few."""


class RankedLists:
    """Lists of scores, and their rankings.

    Unless `all_ties` matter, a rule breaks only those ties whose documents have different grades. How many
    queries the run has, and how many of them the qrels, is in `counts`.
    """

    def __init__(
        self, judgments: Judgments, rows: ScoredHits, counts: tuple[int, int], all_ties: bool = False
    ) -> None:
        self._judgments, self._rows, self._counts, self._all_ties = judgments, rows, counts, all_ties
        self._found: dict[tuple[TieBreak, Labels], JudgedRankings] = {}
        self._mixed: dict[Labels, Bools] = {}

    def rankings(self, labels: Labels, ties: TieBreak) -> JudgedRankings:
        """Rank the lists by a rule."""
        if (ties, labels) not in self._found:
            rows, judgments = self._rows, labels.judgments
            rank = ranks_of(rows, judgments, ties, mixed=None if self._all_ties else self.mixed(labels))
            retrieved = rows.end - rows.start
            found = JudgedRankings.of_hits(judgments, rows.row, rank, retrieved, *self._counts)
            self._found[ties, labels] = found
        return self._found[ties, labels]

    def mixed(self, labels: Labels) -> Bools:
        """Return which hits are tied with documents of another grade, that of unjudged ones being 0."""
        if labels not in self._mixed:
            grade, query = labels.judgments.grade[self._rows.row], self._judgments.query[self._rows.row]
            first, last = spans_of(self._rows, self._judgments, np.float32)
            tie = self._rows.start[query] + first
            _, one, which, n_hits = np.unique(tie, True, True, True)
            size = (last - first + 1)[one]
            lowest, highest = np.full((2, len(n_hits)), np.where(n_hits < size, 0.0, np.nan))
            np.fmin.at(lowest, which, grade)
            np.fmax.at(highest, which, grade)
            self._mixed[labels] = (lowest < highest)[which]
        return self._mixed[labels]

    @property
    def has_ties(self) -> bool:
        """Whether any judged document has the score of another one."""
        first, last = self._spans
        return bool((first != last).any())

    def spans(self, rankings: JudgedRankings) -> Spans:
        """Return the ranks that each hit could have among the documents with its score."""
        place_of = np.searchsorted(self._rows.row, rankings.row)
        return Spans(*(each[place_of] for each in self._spans))

    @cached_property
    def _spans(self) -> Spans:
        """Those of all hits, in the order of the judgments."""
        return Spans(*spans_of(self._rows, self._judgments, np.float64))

    @cached_property
    def listed(self) -> tuple[Labels, Ints]:
        """Labels as if only the documents were judged that the lists have, and the new row of each."""
        judgments, listed = self._judgments, np.zeros(len(self._judgments.query), bool)
        listed[self._rows.row] = True
        kept = replace(
            judgments,
            query=judgments.query[listed],
            grade=judgments.grade[listed],
            order=np.arange(listed.sum()),
            given=judgments.ids(np.flatnonzero(listed)),
        )
        return Labels.of("listed", kept), np.cumsum(listed) - 1


def condensed(rankings: JudgedRankings) -> JudgedRankings:
    """Return rankings without unjudged documents; those with a negative grade stay."""
    rank = position_in_query(rankings.query, rankings.n_queries).astype(np.int32)
    return replace(rankings, rank=rank, retrieved=np.diff(rankings.offsets))


CONDENSED: dict[str, Callable[[JudgedRankings], JudgedRankings]] = {
    "judged": lambda rankings: rankings.condensed,
    "labelled": condensed,
}
"""Rankings without unjudged documents, by the values of an option."""


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
        policies: list[Labels],
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
        self._all_ties, self._longest = all_ties, max(map(len, lists.values()), default=0)
        known = {*self.judgments.query_ids}
        others = [query for query in lists if query not in known]
        groupings = groupings_of(self.judgments.query_ids, others, complete)
        self._n_others, self._groupings = len(others), {DEFAULT["averaged"]: None, **groupings}
        self._policies = {labels.policy: labels for labels in policies}
        self._found: dict[object, Ranked | None] = {}
        self._known: dict[object, Ranked] = {}
        self._numbers: dict[int, int] = {}
        self._sets: dict[object, QuerySets] = {}
        self._sets_of: dict[object, QuerySets] = {}
        self._means: dict[object, Floats | None] = {}
        self._parts: dict[tuple[str, ...], RankedLists] = {}
        query = np.flatnonzero(self.in_run).tolist()
        self._rows = scores_of(
            self.judgments, query, [lists[self.judgments.query_ids[each]] for each in query]
        )
        self._whole = self._ranked_lists(self._rows)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many documents the list of each query has."""
        return np.array([len(docs) for docs in self._lists.values()], np.int64)

    def in_any_order(self) -> Iterator[RunVariants]:
        """Yield the run, and then with the scores of each list exchanged among its documents."""
        yield self
        yield from self._in_other_orders

    @cached_property
    def _in_other_orders(self) -> list[RunVariants]:
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

    def offers(self, option: str) -> list[str]:
        """Return the values of an option of the run that mean something for it."""
        left_out = {
            "labels": {*OPTIONS["labels"].values} - {*self._policies, "listed"},
            "documents": set() if (self.judgments.grade < 0).any() else {"labelled"},
            "depth": {value for value, depth in DEPTHS.items() if depth and depth >= self._longest},
            "averaged": {*OPTIONS["averaged"].values} - {*self._groupings},
            "queries": {"all_runs"} if self.in_all_runs is None else set(),
        }
        return [value for value in OPTIONS[option].values if value not in left_out.get(option, ())]

    def alike(self, option: str) -> tuple[str, ...]:
        """Return the values of an option that surely give the same numbers on these data."""
        return self._alike.get(option, ())

    @cached_property
    def _alike(self) -> dict[str, tuple[str, ...]]:
        binary = set(self.labels.grades) == {1}
        ties = any(self._whole.mixed(each).any() for each in self._policies.values())
        are_alike = {
            "ties": not (ties or self._all_ties),
            "tied": not (ties or self._whole.has_ties),
            "self_match": self._kept["removed"].all(),
            "negative": not (self.judgments.grade < 0).any(),
            "gain": binary,
        }
        found = {option: tuple(OPTIONS[option].values) for option, alike in are_alike.items() if alike}
        if binary:
            found["weights"] = ("binary", "linear", "exp")
        if self._kept["positive"].all():
            found["documents"] = ("all", "positive")
        return found

    # --- rankings --------------------------------------------------------------------------------------

    def ranked(self, convention: Options) -> Ranked | None:
        """Return the ranking by a convention as a measure sees it; None if there is none."""
        key = tuple(convention[option] for option in OF_RANKINGS)
        if key not in self._found:
            found = self._ranked(convention)
            self._found[key] = found and self._known_as(found)
        return self._found[key]

    def number_of(self, convention: Options) -> int:
        """Return the number of the ranking by a convention as a measure sees it, 0 if there is none."""
        ranked = self.ranked(convention)
        return 0 if ranked is None else self._numbers.setdefault(id(ranked), len(self._numbers) + 1)

    def _ranked(self, convention: Options) -> Ranked | None:
        policy, documents, depth = (convention[option] for option in ("labels", "documents", "depth"))
        labels = self._policies.get("grades" if policy == "listed" else policy)
        if labels is None:
            return None
        part = self._part(depth, documents, convention["self_match"])
        told = self._all_ties or part.mixed(labels).any()
        rankings = part.rankings(labels, TIES[convention["ties"]] if told else TieBreak.OPTIMISTIC)
        if documents in CONDENSED:
            rankings = CONDENSED[documents](rankings)
        spans = part.spans(rankings) if part.has_ties and _tells_ties(convention) else None
        if policy == "listed":
            labels, number = self._part(depth).listed
            rankings = replace(rankings, judgments=labels.judgments, row=number[rankings.row])
        return Ranked(labels, rankings, spans)

    def _known_as(self, ranked: Ranked) -> Ranked:
        """Return a ranking, or an old one that has the same grades at the same ranks."""
        each, judgments = ranked.rankings, ranked.rankings.judgments
        of_hits = judgments.query[each.row], judgments.grade[each.row]  # not kept, as an old one may be
        arrays = (*of_hits, each.rank, each.retrieved, *(ranked.spans or ()))
        digests = (blake2b(array.tobytes()).digest() for array in arrays)
        return self._known.setdefault((ranked.labels, *digests), ranked)

    def _part(self, depth: str, *left_out: str) -> RankedLists:
        """Return the part of the run that is ranked; the whole where nothing is left out."""
        rules = (depth, *(value for value in left_out if value in KEPT))
        if rules not in self._parts:
            kept = np.logical_and.reduce([self._kept[rule] for rule in rules])
            self._parts[rules] = self._whole if kept.all() else self._ranked_lists(self._rows_of(kept))
        return self._parts[rules]

    def _ranked_lists(self, rows: ScoredHits) -> RankedLists:
        counts = len(self._lists), int(self.in_run.sum())
        return RankedLists(self.judgments, rows, counts, self._all_ties)

    @cached_property
    def _kept(self) -> dict[str, Bools]:
        """Which rows stay, by the options that leave some out.

        Of documents with the same score those that stand first are the first.
        """
        rows, query_ids = self._rows, self.judgments.query_ids
        length = rows.end - rows.start
        in_order = np.lexsort((-rows.score, np.repeat(np.arange(len(length)), length)))
        rank = np.empty(len(in_order), np.int64)
        rank[in_order] = segments(np.zeros_like(length), length)
        return {
            **{rule: rule_kept(self._lists, rows, query_ids) for rule, rule_kept in KEPT.items()},
            **{value: rank < (n or np.inf) for value, n in DEPTHS.items()},
        }

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

    def sets(self, ranked: Ranked, cutoff: Rank, averaged: str = "queries") -> QuerySets:
        """Return the query sets of a ranking; a cutoff says which queries have a hit."""
        key = (id(ranked), cutoff, averaged)
        if key not in self._sets:
            known = self.known_queries(ranked, cutoff)
            ours = (averaged, *(each.tobytes() for each in known))  # many rankings have the same hits
            if ours not in self._sets_of:
                empty = 0.0 if self._complete else np.nan
                self._sets_of[ours] = QuerySets.of(known, self._groupings[averaged], empty)
            self._sets[key] = self._sets_of[ours]
        return self._sets[key]

    def known_queries(self, ranked: Ranked, cutoff: Rank) -> Known:
        """Return what is known of the queries, those without judgments last."""
        rankings, n = ranked.rankings, self.judgments.n_queries
        every = rankings.relevant(1)
        first = every.query[every.rank <= (both_of(cutoff)[0] or np.inf)]
        hit, found = (np.bincount(each, minlength=n) > 0 for each in (first, every.query))
        in_all_runs = np.zeros(n, bool) if self.in_all_runs is None else self.in_all_runs
        relevant, listed = ranked.labels.judgments.num_rel(1) > 0, rankings.retrieved > 0
        other = rankings.retrieved > rankings.num_rel_ret(1)
        of_qrels = (np.ones(n, bool), self.in_run, in_all_runs, relevant, hit, found, listed, other)
        known = Known(*(np.concatenate([each, np.zeros(self._n_others, bool)]) for each in of_qrels))
        known.in_run[n:] = True
        return known

    def means(self, measure: str, cutoff: Rank, convention: Options) -> Floats | None:
        """Return the mean of a measure over each query set; None if the convention means nothing here."""
        convention = seen_by(measure, convention)
        ranked, averaged = self.ranked(convention), convention["averaged"]
        if ranked is None or averaged not in self._groupings:
            return None
        options = with_rounding(options_for(measure, convention), convention)
        if not _knows_ties_for(options, convention):
            return None
        key = (id(ranked), measure, cutoff, averaged, *options.values())
        if key not in self._means:
            possible = (is_computable if self._complete else is_possible)(options, ranked.labels)
            sets = self.sets(ranked, cutoff, averaged)
            self._means[key] = means_of(measure, cutoff, options, ranked, sets) if possible else None
        return self._means[key]


def _ids_of_kept(rows: ScoredHits, position: Ints, places: Ints) -> list[str]:
    """Return the documents at places among those that are kept, which stand at these positions of all."""
    return rows.ids(position[places])


def _tells_ties(convention: Options) -> bool:
    """Return whether it is known which documents of its rankings are tied."""
    return convention["labels"] in _GRADED and convention["documents"] not in CONDENSED


def _knows_ties_for(options: Options, convention: Options) -> bool:
    """Return whether it is known which documents are tied, if options of a measure ask for that."""
    return options.get("tied", DEFAULT["tied"]) == DEFAULT["tied"] or _tells_ties(convention)


def may_be(measure: str, convention: Options) -> bool:
    """Return whether a convention means something for a measure on any run, which no other one does."""
    convention = seen_by(measure, convention)
    options = options_for(measure, convention)
    if not _knows_ties_for(options, convention):
        return False
    if is_micro(options) and convention["averaged"] != DEFAULT["averaged"]:
        return False
    return is_defined(options, convention["labels"])


def options_for(measure: str, convention: Options) -> Options:
    """Return the options of a measure by a convention, the community's where it has none for the measure."""
    convention = seen_by(measure, convention)
    return {
        option: _meant(measure, option, convention.get(option, DEFAULT[option]))
        for option in OPTIONS_OF.get(measure, ())
    }


@cache
def _meant(measure: str, option: str, value: Any) -> Any:
    measures = value_of(option, value).measures
    return value if not measures or measure in measures else DEFAULT[option]


def with_rounding(options: Options, convention: Options) -> Options:
    """Return options of a measure with the rounding that changes the values of queries."""
    rounding = convention.get("rounding")
    return {**options, "rounding": rounding} if rounding in ROUNDED else options
