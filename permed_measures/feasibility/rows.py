"""Refute conventions of published rows, and bound the numbers under the usual conventions."""

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
from permed_measures.feasibility.bounds import (
    AttainableMeans,
    Interval,
    KnownMeans,
    Rankings,
    RankRange,
    depth_of,
)
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

BUDGET = 140_000_000
"""Maximum number of documents to place for a row: some seconds of processor time."""
_PREPARING = 15
"""Effort of preparing the rankings, in weighted sums that could be maximized in that time."""


_MOST_PARTS = 1023
"""Maximum number of parts of a row to search separately: all parts of ten numbers."""
MOST_TOGETHER = 50
"""Maximum number of numbers of a row to search together: they take some ten seconds of processor time."""
_MOST_KEPT = 10_000_000
"""Maximum number of values of rankings that are kept for other rows."""


class ClaimRange(NamedTuple):
    """The range of one number of a row under a convention.

    Attributes
    ----------
    claim : Claim
        The number as it was read.
    measure : str
        The measure as a user would type it.
    total : int or None
        For a measure that counts hits: the mean is a whole number divided by this total.
    given : Interval or None
        The range of the mean given the other printed numbers; empty if they are not possible together, None
        if it was not computed.
    """

    claim: Claim
    measure: str
    total: int | None
    given: Interval | None = None

    @property
    def counts(self) -> range:
        """The counts that print as the claim if they are rounded once or twice, or cut off."""
        return _counts(self.claim, self.total or 1)

    @property
    def is_count(self) -> bool:
        """Whether the number is a count, if it must be one."""
        return self.total is None or len(self.counts) > 0

    @property
    def possible(self) -> bool:
        """Whether the printed number lies in its range, if that is known, and is a count, if it must be."""
        return self.is_count and (self.given is None or self.given.meets(self.interval))

    @property
    def interval(self) -> Interval:
        """The interval of the means that print as the claim."""
        return _interval(self.claim, self.total)


@lru_cache(maxsize=8192)
def _counts(claim: Claim, total: int) -> range:
    """Find the counts, of `total` possible ones, that print as a claim."""
    return claim.rounding_or_truncation.counts(total)


@lru_cache(maxsize=8192)
def _interval(claim: Claim, total: int | None) -> Interval:
    """Find the interval of the means that print as a claim; they are counts divided by the total, if any."""
    low, high = claim.rounding_or_truncation.ends
    if total is not None and (counts := _counts(claim, total)):
        low = float(np.nextafter(counts[0] / total, -np.inf))
        high = float(np.nextafter(counts[-1] / total, np.inf))
    return Interval(low, high)


@dataclass(frozen=True)
class ConventionLimits:
    """A convention of a row, and whether it is refuted.

    Attributes
    ----------
    convention : mapping
        The options of each measure.
    ranges : list of ClaimRange
        One range for each claim.
    alike : list of such mappings
        Other conventions with the same result.
    usual : bool
        Whether every measure is computed in a usual way; ranges are computed for these conventions.
    refuted : bool or None
        Whether it is proved that no run has the numbers; None if the check takes too much effort.
    names : list of str
        The named conventions that are this one, or one of `alike`.
    lacks_queries : bool
        Whether only a run that lacks queries, or has no results for some, may have the numbers: the mean
        leaves these queries out. For every other run the numbers are refuted.
    """

    convention: Convention
    ranges: list[ClaimRange]
    alike: list[Convention] = field(repr=False)
    usual: bool
    refuted: bool | None
    names: list[str] = field(default_factory=list)
    lacks_queries: bool = False

    @cached_property
    def shared(self) -> Options:
        """The options that its measures have in common."""
        return shared_by_all(self.convention) or {}

    @property
    def measures(self) -> list[str]:
        """The measures as a user would type them."""
        return [claim_range.measure for claim_range in self.ranges]


@dataclass(frozen=True)
class RowLimits:
    """The conventions of a row.

    Attributes
    ----------
    name : str
    claims : list of Claim
        The claims that can be bounded.
    conventions : list of ConventionLimits
        The conventions that have bounds.
    n_skipped : int
        The number of conventions without bounds.
    skipped : list of str
        The named conventions without bounds.
    not_known : list of str
        The option values that only conventions without bounds have, and whether one of these conventions
        has different shared options for its measures.
    is_binary : bool
        Whether the only relevant grade of the qrels is 1.
    topics : int or None
        The number of queries that the means are over, if the table says it.
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
        """Name the conventions that are refuted (True), not refuted (False), or not checked (None)."""
        return [name for limits in self.with_status(refuted) for name in limits.names]

    def with_status(self, refuted: bool | None) -> list[ConventionLimits]:
        """List the conventions that are refuted (True), not refuted (False), or not checked (None)."""
        return [limits for limits in self.conventions if limits.refuted is refuted]

    @property
    def lacking(self) -> list[ConventionLimits]:
        """The conventions that are refuted for runs with all queries, but not for runs that lack some."""
        return [limits for limits in self.conventions if limits.lacks_queries]

    @property
    def usual(self) -> list[ConventionLimits]:
        """The usual conventions."""
        return [limits for limits in self.conventions if limits.usual]

    @property
    def ok(self) -> bool:
        """Whether any convention is not refuted."""
        return not all(limits.refuted for limits in self.conventions)


class Column(NamedTuple):
    """A column of a table under a convention; all rows share it.

    Attributes
    ----------
    formula : Formula
    number : int
        Columns with equal values on these qrels have the same number.
    measure : str
        The measure as a user would type it.
    total : int or None
        For a measure that counts hits: the mean is a whole number divided by this total.
    """

    formula: Formula
    number: int
    measure: str
    total: int | None


@dataclass(eq=False)
class EquivalentConventions:
    """Conventions that give the same numbers for every run with all queries.

    What is computed here depends on the columns and the qrels alone: all rows share it.
    """

    conventions: list[Convention]
    labels: LabelPolicy
    columns: list[Column]
    classes: QueryClasses
    usual: bool
    names: dict[str, Convention] = field(default_factory=dict)
    _of_parts: dict[tuple[int, ...], Rankings | None] = field(default_factory=dict, init=False)
    _known: dict[tuple[tuple[int, ...], float], KnownMeans | None] = field(default_factory=dict, init=False)
    _n_kept: int = field(default=0, init=False)

    @cached_property
    def formulas(self) -> list[Formula]:
        """The formula of each column."""
        return [column.formula for column in self.columns]

    @property
    def all_columns(self) -> tuple[int, ...]:
        """The indices of all columns."""
        return tuple(range(len(self.columns)))

    @cached_property
    def rankings(self) -> Rankings | None:
        """The rankings by these formulas; None if there are too many of either."""
        if len(self.columns) > MOST_TOGETHER:
            return None
        return Rankings.of(self.classes, self.formulas)

    @cached_property
    def parts(self) -> list[tuple[int, ...]]:
        """The parts of the columns to search separately."""
        return _parts_by_depth(tuple(RankRange.of(formula) for formula in self.formulas))

    def ranges(self, claims: list[Claim]) -> list[ClaimRange]:
        """Find the counts that the numbers can be; this needs no programme."""
        return [
            ClaimRange(claim, column.measure, column.total)
            for claim, column in zip(claims, self.columns, strict=True)
        ]

    def known_means(self, part: tuple[int, ...], share: float) -> KnownMeans | None:
        """Return what is known of the means of some columns, over at least a share of the queries.

        It is None if there are too many rankings. It is kept for other rows while that takes little memory.
        """
        if (part, share) not in self._known:
            rankings = self._rankings_of(part)
            known = None if rankings is None else KnownMeans(rankings.with_share(share))
            if part not in self._of_parts:
                return known
            self._known[part, share] = known
        return self._known[part, share]

    def _rankings_of(self, part: tuple[int, ...]) -> Rankings | None:
        if len(part) == len(self.formulas):
            self._of_parts[part] = self.rankings
        elif part not in self._of_parts:
            rankings = Rankings.of(self.classes, [self.formulas[j] for j in part])
            n_values = 0 if rankings is None else rankings.n_steps * len(part)
            if self._n_kept + n_values > _MOST_KEPT:
                return rankings
            self._n_kept += n_values
            self._of_parts[part] = rankings
        return self._of_parts[part]

    @cached_property
    def of_runs(self) -> tuple[list[Convention], list[str]]:
        """The conventions that leave out what a run lacks, and their names."""
        return self._part(True)

    @cached_property
    def of_all_queries(self) -> tuple[list[Convention], list[str]]:
        """The other conventions, and their names."""
        return self._part(False)

    def _part(self, of_run: bool) -> tuple[list[Convention], list[str]]:
        def is_selected(convention: Convention) -> bool:
            queries = {options[QUERY_SET] for options in convention.values()}
            return any(map(leaves_out_what_a_run_lacks, queries)) == of_run

        selected = list(filter(is_selected, self.conventions))
        return selected, [name for name, convention in self.names.items() if is_selected(convention)]


_DIFFERENT = "one measure with another tie rule, other queries, documents or labels than the others"


def _values(convention: Convention) -> Iterator[tuple[str, object]]:
    """Yield the options of all measures, with their values."""
    return (option for options in convention.values() for option in options.items())


@lru_cache(maxsize=256)
def _min_queries(counted: tuple[tuple[RoundingInterval, int], ...], numbers: range) -> int | None:
    """Find the smallest number of queries over which all printed numbers can be means; None if there is none.

    Each item of `counted` has the values that print as a number, and the equal steps from 0 to 1 for a query.
    """
    return next((n for n in numbers if all(values.counts(steps * n) for values, steps in counted)), None)


def _parts(n: int) -> list[tuple[int, ...]]:
    """List the parts of n numbers: all, or the small ones if there are too many.

    >>> _parts(3), [len(_parts(n)) for n in (10, 11, 50, 500)]
    ([(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)], [1022, 1023, 50, 500])
    """
    numbers = range(n)
    parts: list[tuple[int, ...]] = [*combinations(numbers, 1)]
    for size in numbers[2:]:
        if len(parts) + comb(n, size) > _MOST_PARTS:
            break
        parts += combinations(numbers, size)
    return parts


@lru_cache(maxsize=16)
def _parts_by_depth(columns: tuple[RankRange, ...]) -> list[tuple[int, ...]]:
    """List the parts of some columns: measures of the first ranks have few rankings and come first."""
    return sorted(_parts(len(columns)), key=lambda part: depth_of([columns[j] for j in part]))


def read_as(claims: Sequence[Claim], in_percent: bool) -> list[Claim]:
    """Read all numbers that have two readings in percent, or none."""
    return [claim.other if claim.other and claim.percent != in_percent else claim for claim in claims]


class RowBudget:
    """A row, and the effort that is left for it.

    Parameters
    ----------
    claims : list of Claim
    topics : int, optional
        The number of queries that the means are over, if the table says it.
    """

    def __init__(self, claims: list[Claim], topics: int | None = None) -> None:
        self.topics = topics
        self.readings = [claims]
        others = read_as(claims, False), read_as(claims, True)
        self.readings += [reading for reading in others if reading != claims]
        self.effort: float = BUDGET
        self._has_prepared = False
        self._numbers: dict[object, int] = {}
        self._of_parts: dict[object, bool] = {}
        self._effort_of_parts: float = BUDGET

    def limits(self, group: EquivalentConventions) -> list[ConventionLimits]:
        """Find whether conventions are refuted in every reading of the numbers.

        Conventions that leave out what a run lacks are refuted only if no run with all queries has the
        numbers, and no run with fewer. If the row says that it is over fewer queries, these may be any.
        """
        self._has_prepared = False
        has_fewer = self.topics is not None and self.topics < group.classes.n_queries
        result = self._first(partial(self._over_some if has_fewer else self._over_all, group))
        (every, names), (of_run, names_of_run) = group.of_all_queries, group.of_runs
        limits = [replace(result, convention=every[0], alike=every[1:], names=names)] if every else []
        if of_run:
            may_lack = result.refuted and self.topics is None
            some = self._first(partial(self._over_some, group)) if may_lack else result
            lacks = bool(result.refuted) and some.refuted is False
            ranges = [claim_range._replace(given=None) for claim_range in some.ranges]
            if self.topics is None:
                ranges = [claim_range._replace(total=None) for claim_range in ranges]
            some = replace(some, convention=of_run[0], alike=of_run[1:], ranges=ranges, usual=False)
            limits.append(replace(some, names=names_of_run, lacks_queries=lacks))
        return limits

    def _first(self, limits_of: Callable[[list[Claim]], ConventionLimits]) -> ConventionLimits:
        """Return the limits of the first reading that is not refuted, or of the first if all are."""
        results = []
        for claims in self.readings:
            results.append(limits_of(claims))
            if not results[-1].refuted:
                return results[-1]
        return results[0]

    def _over_all(self, group: EquivalentConventions, claims: list[Claim]) -> ConventionLimits:
        """Check means over all queries: first the counts, then all numbers together, then each range."""
        ranges = group.ranges(claims)
        refuted = None if all(claim_range.is_count for claim_range in ranges) else True
        rankings = self._rankings(group) if group.usual or refuted is None else None
        if rankings is not None:
            # The ends of ranges depend on the runs seen before: they are searched for each row by itself.
            known = None if group.usual else group.known_means(group.all_columns, 1.0)
            search = AttainableMeans(rankings, [claim_range.interval for claim_range in ranges], known)
            if refuted is None:
                refuted = search.refuted(self.effort)
                self.effort = search.effort
            if group.usual:
                intervals = search.ranges([10.0**-claim.decimals for claim in claims], BUDGET / 8)
                ranges = [
                    claim_range._replace(given=interval)
                    for claim_range, interval in zip(ranges, intervals, strict=True)
                ]
                refuted = True if not all(claim_range.possible for claim_range in ranges) else refuted
        if refuted is None:
            refuted = self._refuted_in_part(group, [claim_range.interval for claim_range in ranges], 1.0)
        return ConventionLimits(group.conventions[0], ranges, [], group.usual, refuted)

    def _over_some(self, group: EquivalentConventions, claims: list[Claim]) -> ConventionLimits:
        """Check means over a subset of the queries.

        With fewer queries each may weigh more, so more means are possible. The smallest number of queries
        that the counts allow therefore decides for all.
        """
        ranges, n = group.ranges(claims), group.classes.n_queries
        steps = tuple(
            (claim_range.claim.rounding_or_truncation, claim_range.total // n)
            for claim_range in ranges
            if claim_range.total is not None
        )
        min_queries = _min_queries(steps, range(self.topics or 1, (self.topics or n - 1) + 1))
        if self.topics is not None:
            totals = (claim_range.total and claim_range.total // n * self.topics for claim_range in ranges)
            ranges = [
                claim_range._replace(total=total) for claim_range, total in zip(ranges, totals, strict=True)
            ]
        refuted = None if min_queries is not None else True
        if min_queries is not None:
            intervals = [Interval(*claim.rounding_or_truncation.ends) for claim in claims]
            if (rankings := self._rankings(group)) is not None:
                share = min_queries / n
                known = group.known_means(group.all_columns, share)
                search = AttainableMeans(rankings.with_share(share), intervals, known)
                refuted = search.refuted(self.effort)
                self.effort = search.effort
            if refuted is None:
                refuted = self._refuted_in_part(group, intervals, min_queries / n)
        usual = group.usual and self.topics is not None
        return ConventionLimits(group.conventions[0], ranges, [], usual, refuted)

    def _refuted_in_part(
        self, group: EquivalentConventions, intervals: list[Interval], share: float
    ) -> bool | None:
        """Check whether some of the numbers are refuted by themselves: this refutes the row.

        Many conventions compute some of the numbers in the same way, so results are kept for all of them. Few
        measures have few rankings, and the measures of the first ranks are checked first.
        """
        numbers = [
            self._numbers.setdefault(key, len(self._numbers))
            for key in zip((column.number for column in group.columns), intervals, strict=True)
        ]
        for part in group.parts:
            key = (share, *(numbers[j] for j in part))
            if key not in self._of_parts and self._effort_of_parts > 0:
                known = group.known_means(part, share)
                if known is None:
                    self._of_parts[key] = False
                    continue
                search = AttainableMeans(known.rankings, [intervals[j] for j in part], known)
                self._effort_of_parts -= known.rankings.n_steps * _PREPARING
                self._of_parts[key] = bool(search.refuted(self._effort_of_parts))
                self._effort_of_parts = search.effort
            if self._of_parts.get(key):
                return True
        return None

    def _rankings(self, group: EquivalentConventions) -> Rankings | None:
        """Return the rankings of a group and charge their effort; None if no effort is left."""
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
    policies : list of LabelPolicy
    named : sequence of NamedConvention
    """

    def __init__(self, policies: list[LabelPolicy], named: Sequence[NamedConvention] = NAMED) -> None:
        self.policies = {labels.policy: labels for labels in policies}
        self.named = named
        self._classes: dict[tuple[str, str, bool], QueryClasses] = {}
        self._topics: Mapping[str, int | None] = {}
        self._columns: dict[object, Column | None] = {}
        self._numbers: dict[object, int] = {}

    def limits(
        self, rows: Mapping[str, list[Claim]], topics: Mapping[str, int | None] | None = None
    ) -> list[RowLimits]:
        """Find which conventions the numbers of rows refute; rows with the same columns share the work.

        `topics` has the number of queries behind the means of a row, if the table says it.
        """
        self._topics = topics or {}
        by_columns: dict[object, dict[str, list[Claim]]] = {}
        for name, claims in rows.items():
            columns = tuple((claim.name, claim.measure, claim.cutoffs) for claim in claims)
            by_columns.setdefault(columns, {})[name] = claims
        limits = {row.name: row for same in by_columns.values() for row in self._same_columns(same)}
        return [limits[name] for name in rows]

    def _same_columns(self, rows: dict[str, list[Claim]]) -> Iterator[RowLimits]:
        """Find the limits of rows with the same columns."""
        claims = next(iter(rows.values()))
        groups, unknown = self.groups(claims)
        skipped = [name for name, convention in self._names(claims).items() if convention in unknown]
        known = {
            value for group in groups for convention in group.conventions for value in _values(convention)
        }
        not_known = dict.fromkeys(
            value for convention in unknown for value in _values(convention) if value not in known
        )
        texts = [describe(*value) for value in not_known]
        texts += [_DIFFERENT] * any(shared_by_all(convention) is None for convention in unknown)
        budgets = [RowBudget(claims, self._topics.get(name)) for name, claims in rows.items()]
        limits: list[list[ConventionLimits]] = [[] for _ in rows]
        with step("conventions of rows", len(groups) * len(rows)) as advance:
            while groups:  # each group is dropped when done: its rankings take memory
                group = groups.pop(0)
                for budget, row_limits in zip(budgets, limits, strict=True):
                    row_limits += budget.limits(group)
                    advance(1)
        is_binary = self.policies[DEFAULT[LABELS]].grades == (1.0,)
        for (name, claims), row_limits in zip(rows.items(), limits, strict=True):
            facts = len(unknown), skipped, texts, is_binary, self._topics.get(name)
            yield RowLimits(name, claims, row_limits, *facts)

    def groups(self, claims: list[Claim]) -> tuple[list[EquivalentConventions], list[Convention]]:
        """Group the conventions that have bounds, and list those that have none."""
        usual = {key_of(each) for each in usual_conventions(claims, self.policies[DEFAULT[LABELS]])}
        groups: dict[object, EquivalentConventions] = {}
        unknown: list[Convention] = []
        names: dict[object, list[str]] = {}
        for name, named in self._names(claims).items():
            names.setdefault(key_of(named), []).append(name)
        for convention in candidate_conventions(claims, list(self.policies.values()), self.named):
            group = self.group(convention, claims)
            if group is None:
                unknown.append(convention)
                continue
            same = groups.setdefault(tuple(column.number for column in group.columns), group)
            if same is not group:
                same.conventions.append(convention)
            key = key_of(convention)
            same.names |= dict.fromkeys(names.get(key, []), convention)
            same.usual |= key in usual
        return list(groups.values()), unknown

    def _names(self, claims: list[Claim]) -> dict[str, Convention]:
        """Return the named conventions that define all claimed measures."""
        return {
            name: convention
            for labels in self.policies.values()
            for name, convention in named_of(claims, labels, self.named)
        }

    def can_bound(self, claim: Claim) -> bool:
        """Check whether a usual convention has a formula for a claim."""
        usual = usual_conventions([claim], self.policies[DEFAULT[LABELS]])
        return any(self.group(convention, [claim]) for convention in usual)

    def group(self, convention: Convention, claims: list[Claim]) -> EquivalentConventions | None:
        """Make a group of one convention; None if it has no bounds, or no query counts."""
        shared = shared_by_all(convention)
        if shared is None or not allows(shared):
            return None
        labels = self.policies[shared[LABELS]]
        classes = self._classes_of(shared, keeps_negative(claims, convention))
        if not classes.n_queries:
            return None
        own = {measure: options_for(measure, options) for measure, options in convention.items()}
        keys = {measure: (measure, *options.items()) for measure, options in own.items()}
        columns = []
        for claim in claims:
            cutoff = convention[claim.measure][CUTOFF_OF + claim.name]
            key = labels.policy, id(classes), cutoff, keys[claim.measure]
            if key not in self._columns:
                text = measure_string(claim.measure, cutoff, own[claim.measure], labels)
                formula = formula_of(claim, convention, labels, classes)
                self._columns[key] = None if formula is None else self._column(formula, classes, text)
            if (column := self._columns[key]) is None:
                return None
            columns.append(column)
        return EquivalentConventions([convention], labels, columns, classes, False)

    def _column(self, formula: Formula, classes: QueryClasses, measure: str) -> Column:
        key = (id(classes), *formula.equivalence_key(classes))
        number = self._numbers.setdefault(key, len(self._numbers))
        return Column(formula, number, measure, total_of(formula, classes))

    def _classes_of(self, shared: Options, keep_negative: bool) -> QueryClasses:
        """Group the queries that a convention counts into classes."""
        key = shared[LABELS], where_none_is_lacking(shared[QUERY_SET]), keep_negative
        if key not in self._classes:
            judgments = self.policies[key[0]].judgments
            classes = QueryClasses.of(judgments, counted_by(key[1], judgments), keep_negative=key[2])
            same = (known for known in self._classes.values() if known.equals(classes))
            self._classes[key] = next(same, classes)
        return self._classes[key]
