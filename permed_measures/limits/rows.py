"""Which conventions of a row are refuted, and what each of its numbers can be given the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from permed_measures.conventions.options import CUTOFF, Options
from permed_measures.conventions.values import Labels, typed
from permed_measures.limits.best_rankings import BestRankings
from permed_measures.limits.bounds import Interval, Problem, bounds_of
from permed_measures.limits.counts import Counts, total_of
from permed_measures.limits.formulas import Formula
from permed_measures.limits.query_classes import QueryClasses
from permed_measures.limits.row_conventions import conventions_of, is_usual, named_left_out
from permed_measures.limits.row_formulas import formulas_of, keeps_negative, options_for, unknown_values
from permed_measures.papers.claims import Claim
from permed_measures.papers.names import Rank


@dataclass(frozen=True)
class ClaimRange:
    """What one number of a row can be by a convention.

    Attributes
    ----------
    claim : Claim
        As it was read.
    measure : str
        As one would type it.
    alone : Interval
        Between which numbers it is, whatever the others are; the higher one is its ceiling.
    given : Interval
        Between which numbers it is if the others are as printed; empty if these are not possible together.
    counts : Counts or None
        The counts that print as it, for a measure that counts.
    """

    claim: Claim
    measure: str
    alone: Interval
    given: Interval
    counts: Counts | None

    @property
    def possible(self) -> bool:
        """Whether the printed number lies in the range, and is a count if it must be."""
        is_count = self.counts is None or len(self.counts.anyhow) > 0
        return is_count and self.given.meets(Interval(*self.claim.anyhow.ends))

    @property
    def rounded(self) -> bool:
        """Whether a count is rounded to it, and not only cut off or rounded twice."""
        return self.counts is None or len(self.counts.rounded) > 0


@dataclass(frozen=True)
class ConventionLimits:
    """A convention of a row, and what its numbers can be.

    Attributes
    ----------
    convention : mapping of str to str or number
        By option
    ranges : list of ClaimRange
        For each claim.
    alike : list of such mappings
        Others that give the same numbers on these qrels for every run.
    usual : bool
        Whether every family of measures is computed as it nearly always is.
    """

    convention: Options
    ranges: list[ClaimRange]
    alike: list[Options] = field(repr=False)
    usual: bool

    @property
    def possible(self) -> bool:
        """Whether the numbers are not refuted; that no run has those that are is proved."""
        return all(each.possible for each in self.ranges)

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
        Those that were computed.
    n_skipped : int
        How many have no bounds, or too many cases to compute them.
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
        return [each for each in self.conventions if each.possible]

    @property
    def impossible(self) -> list[ConventionLimits]:
        """The conventions by which no run has them, which is proved."""
        return [each for each in self.conventions if not each.possible]

    @property
    def ok(self) -> bool:
        """Whether any convention is not refuted."""
        return bool(self.possible)


class _Prepared(NamedTuple):
    """A convention, with what its bounds are computed from."""

    convention: Options
    labels: Labels
    formulas: list[Formula]
    classes: QueryClasses
    rankings: BestRankings


class _Tried(NamedTuple):
    """The conventions of a row: those with bounds, those alike together, and what has none."""

    groups: list[list[_Prepared]]
    n_skipped: int
    not_known: list[str]


_Columns = tuple[tuple[str, str, tuple[Rank, ...]], ...]


class Conventions:
    """The conventions of rows on some qrels, those alike together; rows with the same columns share them.

    Parameters
    ----------
    policies : list of Labels
    n_queries : int or None
        How many queries the means are taken over, if not over all.
    """

    def __init__(self, policies: list[Labels], n_queries: int | None) -> None:
        self.policies = {labels.policy: labels for labels in policies}
        self.n_queries = n_queries
        self._classes: dict[tuple[str, bool, bool], QueryClasses] = {}
        self._rankings: dict[object, BestRankings | None] = {}
        self._of_columns: dict[_Columns, _Tried] = {}

    def of(self, claims: list[Claim]) -> _Tried:
        """Return the conventions of a row that have bounds, those alike together, and what has none."""
        columns = tuple((claim.name, claim.measure, claim.cutoffs) for claim in claims)
        if columns not in self._of_columns:
            self._of_columns[columns] = self._prepared(claims)
        return self._of_columns[columns]

    def _prepared(self, claims: list[Claim]) -> _Tried:
        found: dict[bytes, list[_Prepared]] = {}
        unknown = named_left_out(claims)
        n_skipped = len(unknown)
        for convention in conventions_of(claims, list(self.policies.values())):
            if prepared := self.prepared(convention, claims):
                found.setdefault(prepared.rankings.signature, []).append(prepared)
            else:
                n_skipped += 1
                unknown += [unknown_values(options_for(convention, c), c.measure) for c in claims]
        not_known = dict.fromkeys(text for texts in unknown for text in texts)
        return _Tried(list(found.values()), n_skipped, list(not_known))

    def prepared(self, convention: Options, claims: list[Claim]) -> _Prepared | None:
        """Prepare a convention; None if it has no bounds, or there would be too many cases."""
        labels, classes = self.policies[convention["labels"]], self.classes(convention, claims)
        formulas = formulas_of(convention, claims, labels, classes)
        if formulas is None or (self.n_queries or 0) > classes.n_queries:
            return None
        cases = classes.cases
        key = (classes.essence, *(each.essence(cases) for each in formulas))
        if key not in self._rankings:
            self._rankings[key] = BestRankings.of(classes, formulas, self.n_queries)
        rankings = self._rankings[key]
        return None if rankings is None else _Prepared(convention, labels, formulas, classes, rankings)

    def classes(self, convention: Options, claims: list[Claim]) -> QueryClasses:
        """Return the classes of the queries that a convention counts."""
        policy = convention["labels"]
        only_relevant = convention["queries"] == "with_relevant"
        key = (policy, only_relevant, keeps_negative(convention, claims))
        if key not in self._classes:
            judgments = self.policies[policy].judgments
            self._classes[key] = QueryClasses.of(judgments, only_relevant=only_relevant, negative=key[2])
        return self._classes[key]


def limits_of_row(name: str, claims: list[Claim], conventions: Conventions) -> RowLimits:
    """Find which conventions the numbers of a row refute."""
    tried = conventions.of(claims)
    limits = _limits(tried.groups, claims, conventions.n_queries)
    return RowLimits(name, claims, limits, tried.n_skipped, tried.not_known)


def limits_of(convention: Options, claims: list[Claim], conventions: Conventions) -> ConventionLimits | None:
    """Bound the numbers of a row by one convention; None if that has no bounds."""
    prepared = conventions.prepared(convention, claims)
    return prepared and _limits([[prepared]], claims, conventions.n_queries)[0]


def _limits(
    groups: list[list[_Prepared]], claims: list[Claim], n_queries: int | None
) -> list[ConventionLimits]:
    """Bound the numbers of each convention; by the other reading of numbers too if they are not possible."""
    found = _read_as(groups, claims, n_queries)
    if any(claim.other for claim in claims):
        impossible = [place for place, each in enumerate(found) if not each.possible]
        others = [claim.other or claim for claim in claims]
        again = _read_as([groups[place] for place in impossible], others, n_queries)
        for place, other in zip(impossible, again, strict=True):
            found[place] = other if other.possible else found[place]
    return found


def _read_as(
    groups: list[list[_Prepared]], claims: list[Claim], n_queries: int | None
) -> list[ConventionLimits]:
    counts = [_counts(alike[0], claims, n_queries) for alike in groups]
    units = [10.0**-claim.decimals for claim in claims]
    problems = [
        Problem(alike[0].rankings, _intervals(claims, of_group), units)
        for alike, of_group in zip(groups, counts, strict=True)
    ]
    return [
        ConventionLimits(
            alike[0].convention,
            list(map(ClaimRange, claims, _measures(alike[0], claims), bounds.alone, bounds.given, of_group)),
            [each.convention for each in alike[1:]],
            any(is_usual(each.convention, claims) for each in alike),
        )
        for alike, of_group, bounds in zip(groups, counts, bounds_of(problems), strict=True)
    ]


def _counts(prepared: _Prepared, claims: list[Claim], n_queries: int | None) -> list[Counts | None]:
    totals = [total_of(formula, prepared.classes, n_queries) for formula in prepared.formulas]
    return [
        None if total is None else Counts.of(claim, total)
        for claim, total in zip(claims, totals, strict=True)
    ]


def _intervals(claims: list[Claim], counts: list[Counts | None]) -> list[Interval]:
    """Return where each mean lies that prints as its claim."""
    return [
        each.interval if each is not None and each.anyhow else Interval(*claim.anyhow.ends)
        for claim, each in zip(claims, counts, strict=True)
    ]


def _measures(prepared: _Prepared, claims: list[Claim]) -> Iterator[str]:
    """Yield the measure of each claim as one would type it."""
    convention = prepared.convention
    for claim in claims:
        options = options_for(convention, claim)
        yield typed(claim.measure, convention[CUTOFF + claim.name], options, prepared.labels)
