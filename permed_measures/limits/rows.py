"""Which conventions of published rows are refuted, and what the numbers can be by the usual ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from permed_measures.conventions.named import NAMED, NamedConvention
from permed_measures.conventions.names import typed
from permed_measures.conventions.options import CUTOFF, OPTIONS_OF, Options
from permed_measures.conventions.values import Labels
from permed_measures.limits.best_rankings import BestRankings
from permed_measures.limits.bounds import Effort, Interval, Search
from permed_measures.limits.counts import Counts, total_of
from permed_measures.limits.formulas import Formula
from permed_measures.limits.query_classes import QueryClasses
from permed_measures.limits.row_conventions import conventions_of, is_usual, named_left_out
from permed_measures.limits.row_formulas import formula_of, in_the_way, keeps_negative, unknown_shared
from permed_measures.papers.claims import Claim

MOST_EFFORT = 150_000_000
"""The documents that are placed for a row: some seconds of a processor."""
_PREPARING = 15
"""As many weighted sums could be looked at in the time that it takes to prepare the rankings."""


@dataclass(frozen=True)
class ClaimRange:
    """What one number of a row can be by a convention.

    Attributes
    ----------
    claim : Claim
        As it was read.
    measure : str
        As one would type it.
    counts : Counts or None
        The counts that print as it, for a measure that counts.
    alone : Interval or None
        Between which numbers it is, whatever the others are; the higher one is its ceiling. None where it was
        not computed.
    given : Interval or None
        Between which numbers it is if the others are as printed; empty if these are not possible together.
    """

    claim: Claim
    measure: str
    counts: Counts | None
    alone: Interval | None = None
    given: Interval | None = None

    @property
    def is_count(self) -> bool:
        """Whether it is a count, if it must be one."""
        return self.counts is None or len(self.counts.anyhow) > 0

    @property
    def possible(self) -> bool:
        """Whether the printed number lies in its range, as far as that is known; a count, if it must be."""
        return self.is_count and (self.given is None or self.given.meets(self.interval))

    @property
    def rounded(self) -> bool:
        """Whether a count is rounded to it, and not only cut off or rounded twice."""
        return self.counts is None or len(self.counts.rounded) > 0

    @property
    def interval(self) -> Interval:
        """Where the mean lies that prints as the claim."""
        if self.counts is not None and self.counts.anyhow:
            return self.counts.interval
        return Interval(*self.claim.anyhow.ends)


@dataclass(frozen=True)
class ConventionLimits:
    """A convention of a row, and whether it is refuted.

    Attributes
    ----------
    convention : mapping of str to str, number or cutoff
        By option.
    ranges : list of ClaimRange
        For each claim.
    alike : list of such mappings
        Others that give the same numbers on these qrels for every run.
    usual : bool
        Whether every measure is computed as it nearly always is; ranges are computed for these.
    refuted : bool or None
        Whether no run has the numbers, which is proved; None where that takes too much to be checked.
    """

    convention: Options
    ranges: list[ClaimRange]
    alike: list[Options] = field(repr=False)
    usual: bool
    refuted: bool | None

    @property
    def possible(self) -> bool:
        """Whether the numbers were checked and are not refuted."""
        return self.refuted is False

    @property
    def rounded(self) -> bool:
        """Whether that needs no number that was cut off or rounded twice."""
        return all(each.rounded for each in self.ranges)

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
    not_known : list of str
        The values of options for which there are none.
    """

    name: str
    claims: list[Claim]
    conventions: list[ConventionLimits]
    n_skipped: int
    not_known: list[str]

    @property
    def possible(self) -> list[ConventionLimits]:
        """The conventions for which these numbers are not refuted."""
        return [each for each in self.conventions if each.refuted is False]

    @property
    def impossible(self) -> list[ConventionLimits]:
        """The conventions by which no run has them, which is proved."""
        return [each for each in self.conventions if each.refuted]

    @property
    def not_checked(self) -> list[ConventionLimits]:
        """The conventions that would take too much."""
        return [each for each in self.conventions if each.refuted is None]

    @property
    def ok(self) -> bool:
        """Whether any convention is not refuted."""
        return not all(each.refuted for each in self.conventions)


@dataclass(eq=False)
class Group:
    """Conventions that give the same numbers for every run, and what their bounds are computed from."""

    conventions: list[Options]
    labels: Labels
    formulas: list[Formula]
    classes: QueryClasses
    usual: bool
    n_queries: int | None

    @cached_property
    def rankings(self) -> BestRankings | None:
        """The best rankings; None if there are too many."""
        return BestRankings.of(self.classes, self.formulas, self.n_queries)

    def ranges(self, claims: list[Claim]) -> list[ClaimRange]:
        """Return what can be said of numbers without any programme: which counts they are."""
        first, found = self.conventions[0], []
        for claim, formula in zip(claims, self.formulas, strict=True):
            options = {option: first[option] for option in OPTIONS_OF.get(claim.measure, ())}
            measure = typed(claim.measure, first[CUTOFF + claim.name], options, self.labels)
            total = total_of(formula, self.classes, self.n_queries)
            found.append(ClaimRange(claim, measure, None if total is None else Counts.of(claim, total)))
        return found


def _read(claims: list[Claim], in_percent: bool) -> list[Claim]:
    """Read all numbers in percent, or none, where they can be read so."""
    return [claim.other if claim.other and claim.percent != in_percent else claim for claim in claims]


class Row:
    """A row, and what was found out about it by the conventions before."""

    def __init__(self, claims: list[Claim]) -> None:
        self.claims = claims
        readings = [_read(claims, in_percent) for in_percent in (False, True)]
        self.readings = [each for each in readings if each != claims]
        self.effort = Effort(MOST_EFFORT)
        self.reaching = np.vstack([np.eye(len(claims)), -np.eye(len(claims))])
        self.refuting = self.reaching[:1]

    def limits(self, group: Group) -> ConventionLimits:
        """Find whether a group of conventions is refuted, by every reading of the numbers."""
        first = self._as_read(group, self.claims)
        others = (self._as_read(group, claims) for claims in self.readings) if first.refuted else ()
        return next((limits for limits in others if not limits.refuted), first)

    def _as_read(self, group: Group, claims: list[Claim]) -> ConventionLimits:
        ranges = group.ranges(claims)
        refuted = None if all(each.is_count for each in ranges) else True
        if (group.usual or refuted is None) and not self.effort.is_spent and group.rankings is not None:
            self.effort.left -= group.rankings.n_steps * _PREPARING
            search = Search(group.rankings, [each.interval for each in ranges])
            refuted = refuted or self._refuted(search)
            if group.usual:
                bounds = search.bounds([10.0**-claim.decimals for claim in claims], Effort(MOST_EFFORT / 8))
                ends = zip(ranges, bounds.alone, bounds.given, strict=True)
                ranges = [replace(each, alone=alone, given=given) for each, alone, given in ends]
                refuted = refuted or (None if refuted is None else not all(each.possible for each in ranges))
        first, *alike = group.conventions
        return ConventionLimits(first, ranges, alike, group.usual, refuted)

    def _refuted(self, search: Search) -> bool | None:
        """Begin with the weighted sums that refuted the last convention, then with those that did not."""
        refuted = search.refuted((self.refuting, self.reaching), self.effort)
        if refuted:
            self.refuting = np.vstack([search.telling, self.refuting[:1]])
        elif refuted is False:
            self.reaching = search.telling
        return refuted


class Conventions:
    """The conventions of rows on some qrels.

    Parameters
    ----------
    policies : list of Labels
    n_queries : int or None
        How many queries the means are taken over, if not over all.
    named : sequence of NamedConvention
        Those that have a name.
    """

    def __init__(
        self,
        policies: list[Labels],
        n_queries: int | None,
        named: Sequence[NamedConvention] = NAMED,
    ) -> None:
        self.policies = {labels.policy: labels for labels in policies}
        self.n_queries, self.named = n_queries, named
        self._classes: dict[tuple[str, bool, bool], QueryClasses] = {}

    def limits(self, rows: Mapping[str, list[Claim]]) -> list[RowLimits]:
        """Find which conventions the numbers of rows refute; rows with the same columns share the work."""
        of_columns: dict[object, dict[str, list[Claim]]] = {}
        for name, claims in rows.items():
            columns = tuple((claim.name, claim.measure, claim.cutoffs) for claim in claims)
            of_columns.setdefault(columns, {})[name] = claims
        found = {row.name: row for some in of_columns.values() for row in self._of_columns(some)}
        return [found[name] for name in rows]

    def _of_columns(self, rows: dict[str, list[Claim]]) -> Iterator[RowLimits]:
        groups, unknown = self.groups(next(iter(rows.values())))
        states = [Row(claims) for claims in rows.values()]
        limits: list[list[ConventionLimits]] = [[] for _ in rows]
        while groups:  # the rankings of each take memory
            group = groups.pop(0)
            for state, of_row in zip(states, limits, strict=True):
                of_row.append(state.limits(group))
        not_known = list(dict.fromkeys(text for texts in unknown for text in texts))
        for (name, claims), of_row in zip(rows.items(), limits, strict=True):
            yield RowLimits(name, claims, of_row, len(unknown), not_known)

    def groups(self, claims: list[Claim]) -> tuple[list[Group], list[list[str]]]:
        """Return the conventions that have bounds, and for each other one what has none."""
        unknown = named_left_out(claims, self.named)
        found: dict[object, Group] = {}
        for convention in conventions_of(claims, list(self.policies.values()), self.named):
            group = self.group(convention, claims)
            if group is None:
                unknown.append(self._in_the_way(convention, claims))
                continue
            cases = group.classes.cases
            key = (group.classes.essence, *(each.essence(cases) for each in group.formulas))
            known = found.setdefault(key, group)
            if known is not group:
                known.conventions.append(convention)
                known.usual |= group.usual
        return list(found.values()), unknown

    def group(self, convention: Options, claims: list[Claim]) -> Group | None:
        """Return a convention by itself; None if it has no bounds."""
        if unknown_shared(convention):
            return None
        labels, classes = self.policies[convention["labels"]], self._classes_of(convention, claims)
        formulas = [formula_of(claim, convention, labels, classes) for claim in claims]
        known = [each for each in formulas if each is not None]
        if len(known) < len(formulas) or (self.n_queries or 0) > classes.n_queries:
            return None
        return Group([convention], labels, known, classes, is_usual(convention, claims), self.n_queries)

    def _in_the_way(self, convention: Options, claims: list[Claim]) -> list[str]:
        labels, classes = self.policies[convention["labels"]], self._classes_of(convention, claims)
        return [text for claim in claims for text in in_the_way(claim, convention, labels, classes)]

    def _classes_of(self, convention: Options, claims: list[Claim]) -> QueryClasses:
        """Return the classes of the queries that a convention counts."""
        policy, only_relevant = convention["labels"], convention["queries"] == "with_relevant"
        key = (policy, only_relevant, keeps_negative(convention, claims))
        if key not in self._classes:
            judgments = self.policies[policy].judgments
            self._classes[key] = QueryClasses.of(judgments, only_relevant=only_relevant, negative=key[2])
        return self._classes[key]
