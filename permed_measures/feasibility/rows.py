"""Which conventions of published rows are refuted, and what the numbers can be by the usual ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from permed_measures.conventions.describe import measure_string
from permed_measures.conventions.named import NAMED, NamedConvention
from permed_measures.conventions.options import CUTOFF_OF, DEFAULT, Convention, Options, describe
from permed_measures.conventions.per_query import LabelPolicy
from permed_measures.conventions.ranking_variants import options_for
from permed_measures.conventions.records import LABELS, QUERY_SET
from permed_measures.feasibility.bounds import AttainableMeans, Interval, Rankings, depth_of
from permed_measures.feasibility.candidates import (
    allows,
    candidate_conventions,
    counted_by,
    formula_of,
    keeps_negative,
    key_of,
    leaves_out_what_a_run_lacks,
    named_of,
    shared_by_all,
    usual_conventions,
    where_none_is_lacking,
)
from permed_measures.feasibility.formulas import Formula, QueryClasses, total_of
from permed_measures.progress import step
from permed_measures.published_tables.claims import Claim, RoundingInterval

MOST_EFFORT = 140_000_000
"""The documents that are placed for a row: some seconds of a processor."""
_PREPARING = 15
"""As many weighted sums could be looked at in the time that it takes to prepare the rankings."""


_MOST_PARTS = 1023
"""How many parts of a row are looked at by themselves: all those of ten numbers."""


class ClaimRange(NamedTuple):
    """What one number of a row can be by a convention.

    Attributes
    ----------
    claim : Claim
        As it was read.
    measure : str
        As one would type it.
    total : int or None
        What it must be a whole number of, for a measure that counts.
    given : Interval or None
        Between which numbers it is if the others are as printed; empty if these are not possible together.
        None where it was not computed.
    """

    claim: Claim
    measure: str
    total: int | None
    given: Interval | None = None

    @property
    def counts(self) -> range:
        """The counts that may have become it: rounded once or twice, or cut off."""
        return self.claim.anyhow.counts(self.total or 1)

    @property
    def is_count(self) -> bool:
        """Whether it is a count, if it must be one."""
        return self.total is None or len(self.counts) > 0

    @property
    def possible(self) -> bool:
        """Whether the printed number lies in its range, as far as that is known; a count, if it must be."""
        return self.is_count and (self.given is None or self.given.meets(self.interval))

    @property
    def interval(self) -> Interval:
        """Where the mean lies that prints as the claim."""
        low, high = self.claim.anyhow.ends
        if self.total is None or not self.counts:
            return Interval(low, high)
        least, most = self.counts[0] / self.total, self.counts[-1] / self.total
        return Interval(float(np.nextafter(least, -np.inf)), float(np.nextafter(most, np.inf)))


@dataclass(frozen=True)
class ConventionLimits:
    """A convention of a row, and whether it is refuted.

    Attributes
    ----------
    convention : mapping
        By measure its options.
    ranges : list of ClaimRange
        For each claim.
    alike : list of such mappings
        Others of which the same is known.
    usual : bool
        Whether every measure is computed as it nearly always is; ranges are computed for these.
    refuted : bool or None
        Whether no run has the numbers, which is proved; None where that takes too much to be checked.
    names : list of str
        The conventions with a name that are this one, or alike.
    lacks_queries : bool
        Whether only a run that lacks queries, or has no results for some, may have the numbers, as the mean
        leaves these out: for every other run they are refuted.
    """

    convention: Convention
    ranges: list[ClaimRange]
    alike: list[Convention] = field(repr=False)
    usual: bool
    refuted: bool | None
    names: list[str] = field(default_factory=list)
    lacks_queries: bool = False

    @property
    def shared(self) -> Options:
        """The options that its measures have in common."""
        return shared_by_all(self.convention) or {}

    @property
    def measures(self) -> list[str]:
        """The measures as one would type them."""
        return [each.measure for each in self.ranges]


@dataclass(frozen=True)
class RowLimits:
    """The conventions of a row.

    Attributes
    ----------
    name : str
    claims : list of Claim
        Those that can be bounded.
    conventions : list of ConventionLimits
        Those that have bounds.
    n_skipped : int
        How many have none.
    skipped : list of str
        The names that some of those have.
    not_known : list of str
        The values of options that only those have, and whether measures differ in what all of them have.
    is_binary : bool
        Whether the qrels have one relevant grade, 1.
    topics : int or None
        Over how many queries the means are, if the table says so.
    """

    name: str
    claims: list[Claim]
    conventions: list[ConventionLimits]
    n_skipped: int
    skipped: list[str]
    not_known: list[str]
    is_binary: bool
    topics: int | None = None

    def named(self, refuted: bool | None) -> list[str]:
        """Return the conventions with a name that are refuted, that are not, or that were not checked."""
        return [name for each in self.said(refuted) for name in each.names]

    def said(self, refuted: bool | None) -> list[ConventionLimits]:
        """Return the conventions that are refuted, that are not, or that were not checked (None)."""
        return [each for each in self.conventions if each.refuted is refuted]

    @property
    def lacking(self) -> list[ConventionLimits]:
        """Those that are not refuted, but for every run that lacks no query."""
        return [each for each in self.conventions if each.lacks_queries]

    @property
    def usual(self) -> list[ConventionLimits]:
        """Those by which measures are computed nearly always."""
        return [each for each in self.conventions if each.usual]

    @property
    def ok(self) -> bool:
        """Whether any convention is not refuted."""
        return not all(each.refuted for each in self.conventions)


@dataclass(eq=False)
class EquivalentConventions:
    """Conventions that give the same numbers for every run with all queries, and what they are bounded by."""

    conventions: list[Convention]
    labels: LabelPolicy
    formulas: list[Formula]
    classes: QueryClasses
    usual: bool
    names: dict[str, Convention] = field(default_factory=dict)

    @cached_property
    def rankings(self) -> Rankings | None:
        """The best rankings; None if there are too many."""
        return Rankings.of(self.classes, self.formulas)

    def ranges(self, claims: list[Claim]) -> list[ClaimRange]:
        """Return what can be said of numbers without any programme: which counts they are."""
        first, found = self.conventions[0], []
        for claim, formula in zip(claims, self.formulas, strict=True):
            options = first[claim.measure]
            own = options_for(claim.measure, options)
            measure = measure_string(claim.measure, options[CUTOFF_OF + claim.name], own, self.labels)
            found.append(ClaimRange(claim, measure, total_of(formula, self.classes)))
        return found

    def part(self, of_run: bool) -> tuple[list[Convention], list[str]]:
        """Return the conventions that leave out what a run lacks, or all others, and the names of these."""

        def is_mine(convention: Convention) -> bool:
            queries = {options[QUERY_SET] for options in convention.values()}
            return any(map(leaves_out_what_a_run_lacks, queries)) == of_run

        mine = list(filter(is_mine, self.conventions))
        return mine, [name for name, each in self.names.items() if is_mine(each)]


_DIFFERENT = "one measure with another tie rule, other queries, documents or labels than the others"


def _values(convention: Convention) -> Iterator[tuple[str, object]]:
    """Yield the options of all measures, with their values."""
    return (each for options in convention.values() for each in options.items())


@lru_cache(maxsize=256)
def _fewest(counted: tuple[tuple[RoundingInterval, int], ...], numbers: range) -> int | None:
    """Return the first of some numbers of queries that numbers can be means of; None if they can be of none.

    Each is a number as it is printed, and how many equal steps there are from 0 to 1 for a query.
    """
    return next((n for n in numbers if all(each.counts(steps * n) for each, steps in counted)), None)


def _parts(n: int) -> list[tuple[int, ...]]:
    """Return the parts of n numbers: all, or the small ones where there are too many.

    >>> _parts(3), [len(_parts(n)) for n in (10, 11, 50, 500)]
    ([(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)], [1022, 1023, 50, 500])
    """
    numbers = range(n)
    found: list[tuple[int, ...]] = [*combinations(numbers, 1)]
    for size in numbers[2:]:
        if len(found) + comb(n, size) > _MOST_PARTS:
            break
        found += combinations(numbers, size)
    return found


def read_as(claims: Sequence[Claim], in_percent: bool) -> list[Claim]:
    """Read all numbers in percent, or none, where they can be read so."""
    return [claim.other if claim.other and claim.percent != in_percent else claim for claim in claims]


class RowBudget:
    """A row, and how much may still be computed for it.

    Parameters
    ----------
    claims : list of Claim
    topics : int, optional
        Over how many queries the means are, if that is said.
    """

    def __init__(self, claims: list[Claim], topics: int | None = None) -> None:
        self.topics = topics
        self.readings = [claims]
        self.readings += [each for each in (read_as(claims, False), read_as(claims, True)) if each != claims]
        self.effort: float = MOST_EFFORT
        self._has_prepared = False
        self._numbers: dict[object, int] = {}
        self._of_parts: dict[object, bool] = {}
        self._effort_of_parts: float = MOST_EFFORT

    def limits(self, group: EquivalentConventions) -> list[ConventionLimits]:
        """Find whether conventions are refuted, by every reading of the numbers: those of all queries first.

        Those that leave out what a run lacks are refuted if neither a run with all queries nor one with fewer
        has the numbers. If the row says of fewer queries that it is about them, any may be those.
        """
        self._has_prepared = False
        is_of_some = self.topics is not None and self.topics < group.classes.n_queries
        found = self._first(partial(self._of_some if is_of_some else self._of_all, group))
        (every, names), (of_run, names_of_run) = group.part(False), group.part(True)
        limits = [replace(found, convention=every[0], alike=every[1:], names=names)] if every else []
        if of_run:
            may_lack = found.refuted and self.topics is None
            some = self._first(partial(self._of_some, group)) if may_lack else found
            lacks = bool(found.refuted) and some.refuted is False
            ranges = [each._replace(given=None) for each in some.ranges]
            if self.topics is None:
                ranges = [each._replace(total=None) for each in ranges]
            some = replace(some, convention=of_run[0], alike=of_run[1:], ranges=ranges, usual=False)
            limits.append(replace(some, names=names_of_run, lacks_queries=lacks))
        return limits

    def _first(self, limits_of: Callable[[list[Claim]], ConventionLimits]) -> ConventionLimits:
        """Return what is found by the first reading that is not refuted; by the first, if all are."""
        found = []
        for claims in self.readings:
            found.append(limits_of(claims))
            if not found[-1].refuted:
                return found[-1]
        return found[0]

    def _of_all(self, group: EquivalentConventions, claims: list[Claim]) -> ConventionLimits:
        """Look at counts first, then whether the numbers are possible together, then between what each is."""
        ranges = group.ranges(claims)
        refuted = None if all(each.is_count for each in ranges) else True
        rankings = self._rankings(group) if group.usual or refuted is None else None
        if rankings is not None:
            search = AttainableMeans(rankings, [each.interval for each in ranges])
            if refuted is None:
                refuted = search.refuted(self.effort)
                self.effort = search.effort
            if group.usual:
                given = search.ranges([10.0**-claim.decimals for claim in claims], MOST_EFFORT / 8)
                ranges = [each._replace(given=one) for each, one in zip(ranges, given, strict=True)]
                refuted = True if not all(each.possible for each in ranges) else refuted
        if refuted is None:
            refuted = self._refuted_in_part(group, [each.interval for each in ranges], 1.0)
        return ConventionLimits(group.conventions[0], ranges, [], group.usual, refuted)

    def _of_some(self, group: EquivalentConventions, claims: list[Claim]) -> ConventionLimits:
        """Look at the means of some of the queries only.

        The fewer queries, the more each may count, and the more means there are: so that of as few as the
        counts allow says it for all.
        """
        ranges, n = group.ranges(claims), group.classes.n_queries
        steps = tuple((each.claim.anyhow, each.total // n) for each in ranges if each.total is not None)
        fewest = _fewest(steps, range(self.topics or 1, (self.topics or n - 1) + 1))
        if self.topics is not None:
            totals = (each.total and each.total // n * self.topics for each in ranges)
            ranges = [each._replace(total=total) for each, total in zip(ranges, totals, strict=True)]
        refuted = None if fewest is not None else True
        if fewest is not None:
            intervals = [Interval(*claim.anyhow.ends) for claim in claims]
            if (rankings := self._rankings(group)) is not None:
                search = AttainableMeans(rankings.of_at_least(fewest / n), intervals)
                refuted = search.refuted(self.effort)
                self.effort = search.effort
            if refuted is None:
                refuted = self._refuted_in_part(group, intervals, fewest / n)
        usual = group.usual and self.topics is not None
        return ConventionLimits(group.conventions[0], ranges, [], usual, refuted)

    def _refuted_in_part(
        self, group: EquivalentConventions, intervals: list[Interval], share: float
    ) -> bool | None:
        """Return whether some of the numbers are refuted by themselves: with more of them the row is too.

        Many conventions compute a few of the numbers alike, and few measures have few lists: those of the
        first ranks are looked at first.
        """
        known = [
            (each.essence(group.classes), within)
            for each, within in zip(group.formulas, intervals, strict=True)
        ]
        numbers = [self._numbers.setdefault(each, len(self._numbers)) for each in known]
        for part in sorted(_parts(len(known)), key=lambda some: depth_of([group.formulas[j] for j in some])):
            key = (id(group.classes), share, tuple(numbers[j] for j in part))
            if key not in self._of_parts and self._effort_of_parts > 0:
                formulas, within = [group.formulas[j] for j in part], [intervals[j] for j in part]
                rankings = Rankings.of(group.classes, formulas)
                if rankings is None:
                    self._of_parts[key] = False
                    continue
                search = AttainableMeans(rankings.of_at_least(share), within)
                self._effort_of_parts -= rankings.n_steps * _PREPARING
                self._of_parts[key] = bool(search.refuted(self._effort_of_parts))
                self._effort_of_parts = search.effort
            if self._of_parts.get(key):
                return True
        return None

    def _rankings(self, group: EquivalentConventions) -> Rankings | None:
        """Return the rankings of a group, which take some of the effort; None if too little is left."""
        if self.effort <= 0 or group.rankings is None:
            return None
        if not self._has_prepared:
            self._has_prepared = True
            self.effort -= group.rankings.n_steps * _PREPARING
        return group.rankings


class Conventions:
    """The conventions of rows on some qrels.

    Parameters
    ----------
    policies : list of Labels
    named : sequence of NamedConvention
        Those that have a name.
    """

    def __init__(self, policies: list[LabelPolicy], named: Sequence[NamedConvention] = NAMED) -> None:
        self.policies = {labels.policy: labels for labels in policies}
        self.named = named
        self._classes: dict[tuple[str, str, bool], QueryClasses] = {}
        self._topics: Mapping[str, int | None] = {}

    def limits(
        self, rows: Mapping[str, list[Claim]], topics: Mapping[str, int | None] | None = None
    ) -> list[RowLimits]:
        """Find which conventions the numbers of rows refute; rows with the same columns share the work.

        `topics` has over how many queries the means of a row are, where that is said.
        """
        self._topics = topics or {}
        of_columns: dict[object, dict[str, list[Claim]]] = {}
        for name, claims in rows.items():
            columns = tuple((claim.name, claim.measure, claim.cutoffs) for claim in claims)
            of_columns.setdefault(columns, {})[name] = claims
        found = {row.name: row for some in of_columns.values() for row in self._of_columns(some)}
        return [found[name] for name in rows]

    def _of_columns(self, rows: dict[str, list[Claim]]) -> Iterator[RowLimits]:
        claims = next(iter(rows.values()))
        groups, unknown = self.groups(claims)
        skipped = [name for name, each in self._names(claims).items() if each in unknown]
        known = {value for group in groups for each in group.conventions for value in _values(each)}
        not_known = dict.fromkeys(value for each in unknown for value in _values(each) if value not in known)
        texts = [describe(*value) for value in not_known]
        texts += [_DIFFERENT] * any(shared_by_all(each) is None for each in unknown)
        states = [RowBudget(claims, self._topics.get(name)) for name, claims in rows.items()]
        limits: list[list[ConventionLimits]] = [[] for _ in rows]
        with step("conventions of rows", len(groups) * len(rows)) as advance:
            while groups:  # the rankings of each take memory
                group = groups.pop(0)
                for state, of_row in zip(states, limits, strict=True):
                    of_row += state.limits(group)
                    advance(1)
        is_binary = self.policies[DEFAULT[LABELS]].grades == (1.0,)
        for (name, claims), of_row in zip(rows.items(), limits, strict=True):
            said = len(unknown), skipped, texts, is_binary, self._topics.get(name)
            yield RowLimits(name, claims, of_row, *said)

    def groups(self, claims: list[Claim]) -> tuple[list[EquivalentConventions], list[Convention]]:
        """Return the conventions that have bounds, and those that have none."""
        usual = usual_conventions(claims, self.policies[DEFAULT[LABELS]])
        found: dict[object, EquivalentConventions] = {}
        unknown: list[Convention] = []
        names: dict[object, list[str]] = {}
        for name, named in self._names(claims).items():
            names.setdefault(key_of(named), []).append(name)
        for convention in candidate_conventions(claims, list(self.policies.values()), self.named):
            group = self.group(convention, claims)
            if group is None:
                unknown.append(convention)
                continue
            key = (id(group.classes), *(each.essence(group.classes) for each in group.formulas))
            known = found.setdefault(key, group)
            if known is not group:
                known.conventions.append(convention)
            known.names |= dict.fromkeys(names.get(key_of(convention), []), convention)
            known.usual |= convention in usual
        return list(found.values()), unknown

    def _names(self, claims: list[Claim]) -> dict[str, Convention]:
        """Return the conventions with a name that have all claims."""
        return {
            name: convention
            for labels in self.policies.values()
            for name, convention in named_of(claims, labels, self.named)
        }

    def can_bound(self, claim: Claim) -> bool:
        """Return whether the usual convention has a formula for a claim."""
        return any(
            self.group(each, [claim]) for each in usual_conventions([claim], self.policies[DEFAULT[LABELS]])
        )

    def group(self, convention: Convention, claims: list[Claim]) -> EquivalentConventions | None:
        """Return a convention by itself; None if it has no bounds, or no query to count."""
        shared = shared_by_all(convention)
        if shared is None or not allows(shared):
            return None
        labels = self.policies[shared[LABELS]]
        classes = self._classes_of(shared, keeps_negative(claims, convention))
        if not classes.n_queries:
            return None
        formulas = [formula_of(claim, convention, labels, classes) for claim in claims]
        known = [each for each in formulas if each is not None]
        if len(known) < len(formulas):
            return None
        return EquivalentConventions([convention], labels, known, classes, False)

    def _classes_of(self, shared: Options, keep_negative: bool) -> QueryClasses:
        """Return the classes of the queries that a convention counts."""
        key = shared[LABELS], where_none_is_lacking(shared[QUERY_SET]), keep_negative
        if key not in self._classes:
            judgments = self.policies[key[0]].judgments
            classes = QueryClasses.of(judgments, counted_by(key[1], judgments), keep_negative=key[2])
            same = (each for each in self._classes.values() if each.equals(classes))
            self._classes[key] = next(same, classes)
        return self._classes[key]
