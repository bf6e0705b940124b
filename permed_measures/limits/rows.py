"""Which conventions of published rows are refuted, and what the numbers can be by the usual ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from permed_measures.conventions.named import NAMED, NamedConvention
from permed_measures.conventions.names import typed
from permed_measures.conventions.options import CUTOFF, OPTIONS_OF, Options, describe
from permed_measures.conventions.values import Labels
from permed_measures.limits.bounds import Interval, Rankings, Search
from permed_measures.limits.formulas import Formula, QueryClasses, total_of
from permed_measures.limits.row_conventions import (
    allows,
    conventions_of,
    formula_of,
    keeps_negative,
    named_of,
    usual_conventions,
)
from permed_measures.papers.claims import Claim
from permed_measures.progress import step

MOST_EFFORT = 140_000_000
"""The documents that are placed for a row: some seconds of a processor."""
_PREPARING = 15
"""As many weighted sums could be looked at in the time that it takes to prepare the rankings."""


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
    names : list of str
        The conventions with a name that are this one, or alike.
    """

    convention: Options
    ranges: list[ClaimRange]
    alike: list[Options] = field(repr=False)
    usual: bool
    refuted: bool | None
    names: list[str] = field(default_factory=list)

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
        The values of options that only those have.
    is_binary : bool
        Whether the qrels have one relevant grade, 1.
    """

    name: str
    claims: list[Claim]
    conventions: list[ConventionLimits]
    n_skipped: int
    not_known: list[str]
    is_binary: bool

    def named(self, refuted: bool | None) -> list[str]:
        """Return the conventions with a name that are refuted, that are not, or that were not checked."""
        return [name for each in self.said(refuted) for name in each.names]

    def said(self, refuted: bool | None) -> list[ConventionLimits]:
        """Return the conventions that are refuted, that are not, or that were not checked (None)."""
        return [each for each in self.conventions if each.refuted is refuted]

    @property
    def usual(self) -> list[ConventionLimits]:
        """Those by which measures are computed nearly always."""
        return [each for each in self.conventions if each.usual]

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
    names: list[str] = field(default_factory=list)

    @cached_property
    def rankings(self) -> Rankings | None:
        """The best rankings; None if there are too many."""
        return Rankings.of(self.classes, self.formulas)

    def ranges(self, claims: list[Claim]) -> list[ClaimRange]:
        """Return what can be said of numbers without any programme: which counts they are."""
        first, found = self.conventions[0], []
        for claim, formula in zip(claims, self.formulas, strict=True):
            options = {option: first[option] for option in OPTIONS_OF.get(claim.measure, ())}
            measure = typed(claim.measure, first[CUTOFF + claim.name], options, self.labels)
            found.append(ClaimRange(claim, measure, total_of(formula, self.classes)))
        return found


def _read(claims: list[Claim], in_percent: bool) -> list[Claim]:
    """Read all numbers in percent, or none, where they can be read so."""
    return [claim.other if claim.other and claim.percent != in_percent else claim for claim in claims]


class Row:
    """A row, and how much may still be computed for it."""

    def __init__(self, claims: list[Claim]) -> None:
        self.readings = [claims]
        self.readings += [each for each in (_read(claims, False), _read(claims, True)) if each != claims]
        self.effort: float = MOST_EFFORT

    def limits(self, group: Group) -> ConventionLimits:
        """Find whether a group of conventions is refuted, by every reading of the numbers."""
        found = []
        for claims in self.readings:
            found.append(self._as_read(group, claims))
            if not found[-1].refuted:
                return found[-1]
        return found[0]

    def _as_read(self, group: Group, claims: list[Claim]) -> ConventionLimits:
        """Look at counts first, then whether the numbers are possible together, then between what each is."""
        ranges = group.ranges(claims)
        refuted = None if all(each.is_count for each in ranges) else True
        if (group.usual or refuted is None) and self.effort > 0 and group.rankings is not None:
            self.effort -= group.rankings.n_steps * _PREPARING
            search = Search(group.rankings, [each.interval for each in ranges])
            if refuted is None:
                refuted = search.refuted(self.effort)
                self.effort = search.effort
            if group.usual:
                given = search.ranges([10.0**-claim.decimals for claim in claims], MOST_EFFORT / 8)
                ranges = [each._replace(given=one) for each, one in zip(ranges, given, strict=True)]
                refuted = True if not all(each.possible for each in ranges) else refuted
        first, *alike = group.conventions
        return ConventionLimits(first, ranges, alike, group.usual, refuted, group.names)


class Conventions:
    """The conventions of rows on some qrels.

    Parameters
    ----------
    policies : list of Labels
    named : sequence of NamedConvention
        Those that have a name.
    """

    def __init__(self, policies: list[Labels], named: Sequence[NamedConvention] = NAMED) -> None:
        self.policies = {labels.policy: labels for labels in policies}
        self.named = named
        self._classes: dict[tuple[object, bool, bool], QueryClasses] = {}

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
        known = {value for group in groups for each in group.conventions for value in each.items()}
        not_known = dict.fromkeys(value for each in unknown for value in each.items() if value not in known)
        texts = [describe(*value) for value in not_known]
        states = [Row(claims) for claims in rows.values()]
        limits: list[list[ConventionLimits]] = [[] for _ in rows]
        with step("conventions of rows", len(groups) * len(rows)) as advance:
            while groups:  # the rankings of each take memory
                group = groups.pop(0)
                for state, of_row in zip(states, limits, strict=True):
                    of_row.append(state.limits(group))
                    advance(1)
        is_binary = self.policies["grades"].grades == (1.0,)
        for (name, claims), of_row in zip(rows.items(), limits, strict=True):
            yield RowLimits(name, claims, of_row, len(unknown), texts, is_binary)

    def groups(self, claims: list[Claim]) -> tuple[list[Group], list[Options]]:
        """Return the conventions that have bounds, and those that have none."""
        usual = usual_conventions(claims, self.policies["grades"])
        found: dict[object, Group] = {}
        unknown: list[Options] = []
        names: dict[object, list[str]] = {}
        for labels in self.policies.values():
            for name, named in named_of(claims, labels, self.named):
                names.setdefault(tuple(named.items()), []).append(name)
        for convention in conventions_of(claims, list(self.policies.values()), self.named):
            group = self.group(convention, claims)
            if group is None:
                unknown.append(convention)
                continue
            key = (id(group.classes), *(each.essence(group.classes) for each in group.formulas))
            known = found.setdefault(key, group)
            if known is not group:
                known.conventions.append(convention)
            known.names += names.get(tuple(convention.items()), [])
            known.usual |= convention in usual
        return list(found.values()), unknown

    def can_bound(self, claim: Claim) -> bool:
        """Return whether the usual convention has a formula for a claim."""
        return any(self.group(each, [claim]) for each in usual_conventions([claim], self.policies["grades"]))

    def group(self, convention: Options, claims: list[Claim]) -> Group | None:
        """Return a convention by itself; None if it has no bounds, or no query to count."""
        if not allows(convention):
            return None
        labels, classes = self.policies[convention["labels"]], self._classes_of(convention, claims)
        if not classes.n_queries:
            return None
        formulas = [formula_of(claim, convention, labels, classes) for claim in claims]
        known = [each for each in formulas if each is not None]
        if len(known) < len(formulas):
            return None
        return Group([convention], labels, known, classes, False)

    def _classes_of(self, convention: Options, claims: list[Claim]) -> QueryClasses:
        """Return the classes of the queries that a convention counts for claims."""
        key = (
            convention["labels"],
            convention["queries"] == "with_relevant",
            keeps_negative(claims, convention),
        )
        if key not in self._classes:
            judgments = self.policies[key[0]].judgments
            classes = QueryClasses.of(judgments, only_relevant=key[1], keep_negative=key[2])
            same = (each for each in self._classes.values() if each.equals(classes))
            self._classes[key] = next(same, classes)
        return self._classes[key]
