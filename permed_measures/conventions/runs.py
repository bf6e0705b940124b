"""The rankings of a run by each tie rule, label policy and choice of documents, and means over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permed_measures.conventions.means import ROUNDED, is_possible, means_of
from permed_measures.conventions.options import DEFAULT, OPTIONS, OPTIONS_OF, Options, seen_by, value_of
from permed_measures.conventions.query_sets import Known, QuerySets, groupings_of
from permed_measures.conventions.values import Labels, Ranked, Spans
from permed_measures.engine.forms import as_mapping_or_frames, with_string_ids
from permed_measures.engine.inputs import RunLike
from permed_measures.engine.judgments import Judgments, position_in_query
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import TieBreak
from permed_measures.errors import warnings_about
from permed_measures.papers.names import Rank

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Lists = Mapping[str, Mapping[str, float]]
_BOUNDS = (TieBreak.OPTIMISTIC, TieBreak.PESSIMISTIC)
"""The rules that look at grades; the others rank every tie between these two."""
_GRADED = ("grades", "listed")
"""The labels under which tied documents may gain differently."""
TIES = {each.value: each for each in TieBreak}
"""The tie rules."""
KEPT: dict[str, Callable[[str, str, float], bool]] = {
    "positive": lambda _, __, score: score > 0,
    "removed": lambda query, doc, _: doc != query,
}
"""Which documents of a query stay in its list, by the values of options that leave some out."""
DEPTHS: dict[str, int | None] = {
    "whole": None,
    **{f"first_{n}": n for n in (10, 20, 50, 100, 1000)},
}
"""To how many documents lists are cut."""
_OF_RANKINGS = ("ties", "labels", "self_match", "documents", "depth")
"""The options that rankings depend on."""


class RankedLists:
    """Lists of scores, and their rankings.

    Rules that do not look at grades rank all label policies alike.
    """

    def __init__(self, judgments: Judgments, lists: Lists) -> None:
        self.lists = lists
        self._judgments = judgments
        self._found: dict[tuple[TieBreak, str | None], JudgedRankings] = {}

    def rankings(self, labels: Labels, ties: TieBreak) -> JudgedRankings:
        """Rank the lists by a rule."""
        if ties in _BOUNDS:
            return self._ranked(labels.judgments, ties, labels.policy)
        return replace(self._ranked(self._judgments, ties, None), judgments=labels.judgments)

    def ties_matter(self, labels: Labels) -> bool:
        """Return whether any two tied documents have different grades."""
        first, last = (self.rankings(labels, ties) for ties in _BOUNDS)
        return bool((first.rank != last.rank).any() or (first.grade != last.grade).any())

    @property
    def has_ties(self) -> bool:
        """Whether any judged document has the score of another one."""
        first, last = self._spans_of_rows
        return bool((first != last).any())

    def spans(self, rankings: JudgedRankings) -> Spans:
        """Return the ranks that each hit could have among the documents with its score."""
        return Spans(*(each[rankings.row] for each in self._spans_of_rows))

    @cached_property
    def _spans_of_rows(self) -> Spans:
        """The first and the last rank by row of the judgments."""
        judgments = self._judgments
        found = self._ranked(judgments, TieBreak.OPTIMISTIC, "grades")
        first, last = np.ones(len(judgments.query), np.int64), np.ones(len(judgments.query), np.int64)
        for number in np.unique(found.query).tolist():
            scores = self.lists[judgments.query_ids[number]]
            rising = np.sort(np.fromiter(scores.values(), np.float64, len(scores)))
            rows = found.row[found.offsets[number] : found.offsets[number + 1]]
            ours = np.array([scores[doc] for doc in judgments.ids(rows)], np.float64)
            first[rows] = 1 + len(rising) - np.searchsorted(rising, ours, "right")
            last[rows] = len(rising) - np.searchsorted(rising, ours, "left")
        return Spans(first, last)

    def _ranked(self, judgments: Judgments, ties: TieBreak, policy: str | None) -> JudgedRankings:
        if (ties, policy) not in self._found:
            with warnings_about(None):  # which come once for the run
                self._found[ties, policy] = JudgedRankings.of(judgments, self.lists, ties)
        return self._found[ties, policy]


def judged_by_list(rankings: JudgedRankings, whole: JudgedRankings) -> JudgedRankings:
    """Return rankings as if only the documents were judged that the whole lists have."""
    judgments = rankings.judgments
    listed = np.zeros(len(judgments.query), bool)
    listed[whole.row] = True
    number = np.cumsum(listed) - 1
    kept = replace(
        judgments,
        query=judgments.query[listed],
        grade=judgments.grade[listed],
        order=np.arange(listed.sum()),
        given=judgments.ids(np.flatnonzero(listed)),
    )
    return replace(rankings, judgments=kept, row=number[rankings.row])


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
    ) -> None:
        self.labels, self.judgments = policies[0], policies[0].judgments
        table = as_mapping_or_frames(run, "score")
        table = table if isinstance(table, Mapping) else table.nested()
        JudgedRankings.of(self.judgments, table)  # which says what is wrong with it
        lists = {
            query: with_string_ids(docs, "document ids", query_id=query)
            for query, docs in with_string_ids(table, "query ids").items()
        }
        self.in_run = np.array([query_id in lists for query_id in self.judgments.query_ids], bool)
        self.in_all_runs: Bools | None = None
        self._all_ties, self._longest = all_ties, max(map(len, lists.values()), default=0)
        known = {*self.judgments.query_ids}
        others = [query for query in lists if query not in known]
        groupings = groupings_of(self.judgments.query_ids, others)
        self._n_others, self._groupings = len(others), {DEFAULT["averaged"]: None, **groupings}
        self._policies = {labels.policy: labels for labels in policies}
        self._found: dict[object, Ranked | None] = {}
        self._known: dict[object, Ranked] = {}
        self._sets: dict[object, QuerySets] = {}
        self._sets_of: dict[object, QuerySets] = {}
        self._means: dict[object, Floats | None] = {}
        self._parts: dict[tuple[str, ...], RankedLists] = {}
        self._whole = RankedLists(self.judgments, lists)

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
        binary = set(self.labels.grades) == {1}
        ties = any(self._whole.ties_matter(each) for each in self._policies.values())
        are_alike = {
            "ties": not (ties or self._all_ties),
            "tied": not (ties or self._whole.has_ties),
            "self_match": self._part("whole", "removed") is self._whole,
            "negative": not (self.judgments.grade < 0).any(),
            "gain": binary,
        }
        if option == "weights" and binary:
            return "binary", "linear", "exp"
        if option == "documents" and self._part("whole", "positive") is self._whole:
            return "all", "positive"
        return tuple(OPTIONS[option].values) if are_alike.get(option) else ()

    # --- rankings --------------------------------------------------------------------------------------

    def ranked(self, convention: Options) -> Ranked | None:
        """Return the ranking by a convention as a measure sees it; None if there is none."""
        key = tuple(convention[option] for option in _OF_RANKINGS)
        if key not in self._found:
            found = self._ranked(TIES[convention["ties"]], convention)
            self._found[key] = found and self._kept(found)
        return self._found[key]

    def _ranked(self, ties: TieBreak, convention: Options) -> Ranked | None:
        policy, depth = convention["labels"], convention["depth"]
        listed = policy == "listed"
        labels = self._policies.get("grades" if listed else policy)
        if labels is None:
            return None
        part = self._part(depth, convention["documents"], convention["self_match"])
        ties = ties if part.ties_matter(labels) or self._all_ties else TieBreak.OPTIMISTIC
        rankings = part.rankings(labels, ties)
        if convention["documents"] in CONDENSED:
            rankings = CONDENSED[convention["documents"]](rankings)
        spans = part.spans(rankings) if part.has_ties and not self._is_unspanned(convention) else None
        if listed:
            rankings = judged_by_list(rankings, self._part(depth).rankings(labels, ties))
            labels = Labels.of("listed", rankings.judgments)
        return Ranked(labels, rankings, spans)

    def _kept(self, ranked: Ranked) -> Ranked:
        """Return a ranking, or an old one that has the same grades at the same ranks."""
        each = ranked.rankings
        arrays = (each.query, each.rank, each.grade, each.retrieved, *(ranked.spans or ()))
        key = (ranked.labels.policy, *(array.tobytes() for array in arrays))
        return self._known.setdefault(key, ranked)

    def _part(self, depth: str, *left_out: str) -> RankedLists:
        """Return the part of the run that is ranked; the whole where nothing is left out."""
        rules = (depth, *(value for value in left_out if value in KEPT))
        if rules not in self._parts:
            lists = {
                query: {
                    doc: score
                    for doc, score in self._first(query, DEPTHS[depth])
                    if all(KEPT[rule](query, doc, score) for rule in rules[1:])
                }
                for query in self._whole.lists
                if len(rules) > 1 or DEPTHS[depth] is not None
            }
            same = all(len(docs) == len(self._whole.lists[query]) for query, docs in lists.items())
            self._parts[rules] = self._whole if same else RankedLists(self.judgments, lists)
        return self._parts[rules]

    def _first(self, query: str, depth: int | None) -> Iterable[tuple[str, float]]:
        """Return the first documents of a list; those with the same score as they stand."""
        docs = self._whole.lists[query]
        if depth is None or len(docs) <= depth:
            return docs.items()
        kept = {*sorted(docs, key=docs.__getitem__, reverse=True)[:depth]}
        return [(doc, score) for doc, score in docs.items() if doc in kept]

    # --- means -----------------------------------------------------------------------------------------

    def sets(self, ranked: Ranked, cutoff: Rank, averaged: str = "queries") -> QuerySets:
        """Return the query sets of a ranking; a cutoff says which queries have a hit."""
        key = (id(ranked), cutoff, averaged)
        if key not in self._sets:
            known = self.known_queries(ranked, cutoff)
            ours = (averaged, *(each.tobytes() for each in known))  # many rankings have the same hits
            if ours not in self._sets_of:
                self._sets_of[ours] = QuerySets.of(known, self._groupings[averaged])
            self._sets[key] = self._sets_of[ours]
        return self._sets[key]

    def known_queries(self, ranked: Ranked, cutoff: Rank) -> Known:
        """Return what is known of the queries, those without judgments last."""
        rank = cutoff[0] if isinstance(cutoff, tuple) else cutoff
        rankings, n = ranked.rankings, self.judgments.n_queries
        hit, found = (np.bincount(rankings.relevant(1, each).query, minlength=n) > 0 for each in (rank, None))
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
        if options.get("tied", "in_order") != "in_order" and self._is_unspanned(convention):
            return None
        key = (id(ranked), measure, cutoff, averaged, *options.values())
        if key not in self._means:
            possible = is_possible(options, ranked.labels)
            sets = self.sets(ranked, cutoff, averaged)
            self._means[key] = means_of(measure, cutoff, options, ranked, sets) if possible else None
        return self._means[key]

    @staticmethod
    def _is_unspanned(convention: Options) -> bool:
        """Return whether tied scores are not known to be that, or not all of them gain what they are."""
        return convention["labels"] not in _GRADED or convention["documents"] in CONDENSED


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
