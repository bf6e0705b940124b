"""Every convention tried on a run: the rankings under each setting, and the means of each claim."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import SumAgg
from numpy.typing import NDArray

from permed_measures.claims import Claim
from permed_measures.conventions import (
    NAMED,
    APChoice,
    Choice,
    Denominator,
    Discount,
    FixedChoice,
    Gain,
    Ideal,
    Labels,
    LevelChoice,
    NamedConvention,
    NDCGChoice,
    Negative,
    QuerySet,
    RecallBase,
    SelfMatch,
    Setting,
    Weights,
)
from permed_measures.inputs import Batches, as_mapping_or_frame, with_text_ids
from permed_measures.judgments import Judgments
from permed_measures.kernels import KERNELS
from permed_measures.kernels.checks import MAX_EXPONENT
from permed_measures.kernels.shared import divide
from permed_measures.parameters import values_of
from permed_measures.parsing import parse_measure
from permed_measures.rankings import JudgedRankings
from permed_measures.ranks import TieBreak

__all__ = [
    "COMMUNITY",
    "SAME",
    "SETTINGS",
    "ClaimAudit",
    "Labelled",
    "Match",
    "Table",
    "TriedRun",
    "choices_of",
    "differences",
    "label_policies",
    "named_choice",
    "place_of",
    "tabulate",
]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

SAME = 1e-12
"""Means that differ by no more than this are one number."""


# --- the rankings of a run under each setting ------------------------------------------------------


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

    labelled: Labelled
    rankings: JudgedRankings
    sets: list[tuple[Bools, int]]


class TriedRun:
    """The rankings of a run under each setting, each different one once.

    Attributes
    ----------
    ranked : list of RankedRun
    of_setting : list of int
        Which of them belongs to each of SETTINGS.
    """

    def __init__(self, policies: dict[Labels, Labelled], run: Any) -> None:
        table = as_mapping_or_frame(_in_memory(run), "score")
        if isinstance(table, Mapping):
            table = with_text_ids(table, "query ids")
        ids = set(table) if isinstance(table, Mapping) else set(table["query_id"].unique().to_list())
        judgments = policies[Labels.GRADES].judgments
        self._in_run = np.array([query_id in ids for query_id in judgments.query_ids], bool)
        self._n_run_queries = len(ids)
        self._policies = policies
        self.ranked: list[RankedRun] = []
        self._places: dict[tuple[object, ...], int] = {}
        JudgedRankings.of(judgments, table)  # which warns if nothing meets
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
                if first == last:  # no tie matters, so no rule does
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
            self.ranked.append(RankedRun(labelled, rankings, self._sets(labelled.judgments)))
        return self._places[key]

    def _sets(self, judgments: Judgments) -> list[tuple[Bools, int]]:
        """Return for each query set which queries are summed up, and what the sum is divided by."""
        relevant = judgments.num_rel(1) > 0
        counted = {
            QuerySet.QRELS: (np.ones_like(self._in_run), judgments.n_queries),
            QuerySet.BOTH: (self._in_run, int(self._in_run.sum())),
            QuerySet.WITH_RELEVANT: (relevant, int(relevant.sum())),
            QuerySet.RUN: (self._in_run, self._n_run_queries),
        }
        return [counted[queries] for queries in QuerySet]


_BOUNDS = (TieBreak.OPTIMISTIC, TieBreak.PESSIMISTIC)
"""The rules that look at grades, and between which all others are."""


def _relabelled(rankings: JudgedRankings, labels: Labels, labelled: Labelled) -> JudgedRankings:
    """Return rankings by a rule that does not look at grades, under another label policy."""
    if labels is Labels.GRADES:
        return rankings
    return replace(rankings, judgments=labelled.judgments, grade=np.ones_like(rankings.grade))


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


# --- the choices of each family, and their values --------------------------------------------------


def choices_of(family: str, levels: tuple[float, ...]) -> list[Choice]:
    """Return everything that a family of measures may be computed by."""
    if family == "ap":
        weighted = [(Weights.BINARY, level) for level in levels]
        weighted += [(weights, 1.0) for weights in (Weights.LINEAR, Weights.HALF, Weights.EXP)]
        return [APChoice(denominator, *each) for denominator in Denominator for each in weighted]
    if family == "ndcg":
        return [NDCGChoice(*each) for each in product(Gain, Discount, Ideal, Negative)]
    if family == "level":
        return [LevelChoice(level, base) for level in levels for base in RecallBase]
    return [FixedChoice(family)]


def _possible(choice: Choice, labelled: Labelled) -> bool:
    """Return whether a choice means something on these labels: g/2 does not, where grades are above 2."""
    if isinstance(choice, APChoice) and choice.weights is Weights.HALF:
        return labelled.top <= 2
    exponential = Weights.EXP in vars(choice).values() or Gain.EXP in vars(choice).values()
    return not exponential or labelled.top <= MAX_EXPONENT


def _values(ranked: RankedRun, claim: Claim, choice: Choice, cutoff: int | None) -> Floats:
    """Return the value of each query."""
    rankings, (_, top, grades) = ranked.rankings, ranked.labelled
    if isinstance(choice, LevelChoice):
        return _by_level(rankings, claim.measure, choice, cutoff)
    measure = choice.measure(claim.measure, cutoff, top, grades)
    assert measure is not None
    return KERNELS[str(measure.NAME)](rankings, **values_of(measure))


def _by_level(rankings: JudgedRankings, name: str, choice: LevelChoice, cutoff: int | None) -> Floats:
    """Return P, R, RR or Success: these take a level that ir_measures does not, and R its own denominator."""
    level = {"cutoff": cutoff, "rel": choice.level, "judged_only": False}
    if name != "R" or choice.base is RecallBase.NUM_REL:
        return KERNELS[name](rankings, **level)
    assert cutoff is not None
    found = cutoff * KERNELS["P"](rankings, **level)
    return divide(found, np.minimum(rankings.judgments.num_rel(choice.level), cutoff))


class Table(NamedTuple):
    """The means of a claim: by ranking, cutoff, choice and query set; and which of them print as it."""

    claim: Claim
    choices: list[Choice]
    means: Floats
    prints: Bools


def tabulate(run: TriedRun, claim: Claim, choices: list[Choice]) -> Table:
    """Compute a claim by every choice, under every setting."""
    shape = (len(run.ranked), len(claim.cutoffs), len(choices), len(QuerySet))
    means = np.full(shape, np.nan)
    summed = claim.is_fixed and isinstance(parse_measure(claim.measure).aggregator(), SumAgg)
    for r, ranked in enumerate(run.ranked):
        for o, cutoff in enumerate(claim.cutoffs):
            for c, choice in enumerate(choices):
                if not _possible(choice, ranked.labelled):
                    continue
                values = _values(ranked, claim, choice, cutoff)
                for q, (counts, size) in enumerate(ranked.sets):  # as the engine: the sum first
                    divisor = 1 if summed else size
                    means[r, o, c, q] = values[counts].sum() / divisor if size else np.nan
    return Table(claim, choices, means, claim.matches(means))


# --- what gives a claim ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Match:
    """A convention, and what it gives.

    Attributes
    ----------
    claim : Claim
    setting : Setting
    choice : Choice
    cutoff : int or None
    measure : Measure or None
        As one would type it; None where there is no such measure.
    value : float
    printed : str
        As the claim was printed.
    """

    claim: Claim
    setting: Setting
    choice: Choice
    cutoff: int | None
    measure: Any
    value: float
    printed: str


@dataclass(frozen=True)
class ClaimAudit:
    """What gives a claim, each claim by itself.

    Attributes
    ----------
    claim : Claim
    n_tried : int
        How many conventions were computed.
    table : Table
    run : TriedRun
    """

    claim: Claim
    n_tried: int
    table: Table = field(repr=False)
    run: TriedRun = field(repr=False)

    @cached_property
    def matches(self) -> list[Match]:
        """All conventions that print the same digits."""
        return list(self._where(self.table.prints))

    @property
    def explained(self) -> bool:
        """Whether any convention prints the same digits."""
        return bool(self.table.prints.any())

    @property
    def n_matches(self) -> int:
        """How many conventions print the same digits."""
        return int(self.table.prints[self.run.of_setting].sum())

    @cached_property
    def nearest(self) -> list[Match]:
        """The three nearest values that print otherwise, each with its simplest convention."""
        means = np.where(self.table.prints, np.nan, self.table.means)
        off = np.abs(means - float(self.claim.value))
        found: dict[str, Match] = {}
        for flat in np.argsort(off, axis=None, kind="stable"):
            index = np.unravel_index(flat, off.shape)
            if len(found) == 3 or np.isnan(off[index]):
                break
            printed = self.claim.prints(float(means[index]))
            if printed not in found:
                here = np.abs(means - means[index]) <= SAME
                found[printed] = min(self._where(here), key=_distance_to_default)
        return list(found.values())

    @property
    def simplest(self) -> Match | None:
        """The match that differs least from the community's default."""
        return min(self._where(self.table.prints), key=_distance_to_default, default=None)

    def _where(self, mask: Bools) -> Iterator[Match]:
        for s, setting in enumerate(SETTINGS):
            r = self.run.of_setting[s]
            for o, c, q in np.argwhere(mask[r]):
                yield self.at(replace(setting, queries=list(QuerySet)[q]), int(c), int(o))

    def at(self, setting: Setting, c: int, o: int) -> Match:
        """Return what a convention gives."""
        r, q = place_of(self.run, setting)
        choice, cutoff = self.table.choices[c], self.claim.cutoffs[o]
        value = float(self.table.means[r, o, c, q])
        _, top, grades = self.run.ranked[r].labelled
        measure = choice.measure(self.claim.measure, cutoff, top, grades)
        printed = self.claim.text if self.table.prints[r, o, c, q] else self.claim.prints(value)
        return Match(self.claim, setting, choice, cutoff, measure, value, printed)


def place_of(run: TriedRun, setting: Setting) -> tuple[int, int]:
    """Return the ranking and the query set of a setting."""
    s = SETTINGS.index(replace(setting, queries=QuerySet.QRELS))
    return run.of_setting[s], list(QuerySet).index(setting.queries)


COMMUNITY = NAMED[0]
"""The community's default: ir_measures."""


def _distance_to_default(match: Match) -> int:
    family = match.claim.family
    return differences(match.setting, COMMUNITY.setting) + differences(
        match.choice, named_choice(COMMUNITY, family)
    )


def named_choice(convention: NamedConvention, family: str) -> Choice:
    """Return how a convention computes a family; a measure that is written out is as it is."""
    return {"ap": convention.ap, "ndcg": convention.ndcg, "level": convention.level}.get(
        family, FixedChoice(family)
    )


def differences(a: Any, b: Any) -> int:
    """Return in how many axes two settings, or two choices of a family, differ."""
    return sum(getattr(a, each.name) != getattr(b, each.name) for each in fields(a))
