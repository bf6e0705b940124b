"""Every convention computed for a claim, and those that print it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from ir_measures.measures import SumAgg
from numpy.typing import NDArray

from permed_measures.audits.choices import Choice, MeasureSpec
from permed_measures.audits.conventions import COMMUNITY, Convention, Setting, differences
from permed_measures.audits.levels import LevelChoice
from permed_measures.audits.options import QuerySet, Rank, Rounding
from permed_measures.audits.run_variants import RunVariants
from permed_measures.audits.tried import SETTINGS, number_of, possible, tried_with
from permed_measures.conventions.query_sets import place
from permed_measures.measures.parsing import parse_measure
from permed_measures.papers.claims import Claim

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def audit_claim(row: str, claim: Claim, run: RunVariants, choices: list[Choice]) -> ClaimAudit:
    """Compute a claim by every choice that is tried, under every setting."""
    tried = tried_with(claim, choices) & run.available[:, None, None, None]
    means = np.full((len(run.ranked), len(claim.cutoffs), len(choices), len(QuerySet)), np.nan)
    summed = claim.is_fixed and isinstance(parse_measure(claim.measure).aggregator(), SumAgg)
    for r, ranked in enumerate(run.ranked):
        wanted = tried[run.of_setting == r].any(axis=0)
        for o, c in np.argwhere(wanted.any(axis=-1)).tolist():
            choice, cutoff = choices[c], claim.cutoffs[o]
            if possible(choice, ranked.labels):
                spec = MeasureSpec(claim.measure, cutoff, ranked.labels, ranked.spans)
                rankings, sets = ranked.at(cutoff), run.sets_at(r, cutoff)
                found = (
                    sets.sums(choice.values(rankings, spec)) if summed else choice.means(rankings, spec, sets)
                )
                means[r, o, c] = np.where(wanted[o, c], found, np.nan)
    read, prints = _read(claim, means)
    return ClaimAudit(row, read, run, choices, tried, means, prints)


def _read(claim: Claim, means: Floats) -> tuple[Claim, Bools]:
    """Return the claim, read as percent or not, and the means that print as it by either reading."""
    prints = _prints(claim, means)
    if claim.other is None:
        return claim, prints
    other = _prints(claim.other, means)
    if prints.any() == other.any():  # the reading that is nearer, each by its own measure
        read = min((claim, claim.other), key=lambda reading: reading.distance(means))
    else:
        read = claim if prints.any() else claim.other
    read = claim if read is claim else read._replace(other=claim._replace(other=None))
    return read, prints | other


def _prints(claim: Claim, means: Floats) -> Bools:
    return np.stack([claim.printed(rounding.value).holds(means) for rounding in Rounding])


# --- matches of a claim ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Match:
    """A convention, and the value it gives.

    Attributes
    ----------
    claim : Claim
    setting : Setting
    choice : Choice
    cutoff : Rank
    measure : Measure or None
        As one would type it; None where there is no such measure.
    value : float
    printed : str
        As the claim was printed.
    prints_claim : bool
        Whether that is the claim.
    """

    claim: Claim
    setting: Setting
    choice: Choice
    cutoff: Rank
    measure: Any
    value: float
    printed: str
    prints_claim: bool

    def changes_from_default(self) -> list[str]:
        """Return the differences from the community's default."""
        choices, cutoffs = {self.claim.family: self.choice}, {self.claim.name: self.cutoff}
        return Convention(self.setting, choices, cutoffs).changes_from(COMMUNITY.of([self.claim]))


@dataclass(frozen=True, eq=False)
class ClaimAudit:
    """A claim and the conventions that print it, apart from all other claims.

    Attributes
    ----------
    row : str
        The name of the run that it is about.
    claim : Claim
        As it was read.
    run : RunVariants
    choices : list of Choice
        All ways to compute it.
    tried : ndarray of bool
        Which conventions are tried: by setting, cutoff, choice and query set.
    means : ndarray of float64
        By ranking, cutoff, choice and query set.
    prints : ndarray of bool
        Whether the mean prints as the claim: by rounding, and then as the means.
    """

    row: str
    claim: Claim
    run: RunVariants = field(repr=False)
    choices: list[Choice] = field(repr=False)
    tried: Bools = field(repr=False)
    means: Floats = field(repr=False)
    prints: Bools = field(repr=False)

    @cached_property
    def n_tried(self) -> int:
        """How many conventions were computed."""
        return int((self._once & self.tried & ~np.isnan(self.means)[self.run.of_setting]).sum())

    @property
    def n_matches(self) -> int:
        """How many conventions print the same digits."""
        return int((self._prints[self.run.of_setting] & self.tried).sum())

    @property
    def _prints(self) -> Bools:
        """The conventions that print the same digits, whether or not they round the mean first."""
        return np.asarray(self.prints.any(axis=0) & self._once)

    @cached_property
    def _once(self) -> Bools:
        """The choices to count: those with another denominator of P or R are the same for other measures."""
        first: dict[object, int] = {}
        for number, choice in enumerate(self.choices):
            key: object = number
            if isinstance(choice, LevelChoice):
                key = (choice.level, choice.divisor(self.claim.measure))
            first.setdefault(key, number)
        return np.array([each in first.values() for each in range(len(self.choices))])[:, None]

    @cached_property
    def matches(self) -> list[Match]:
        """All conventions that print the same digits."""
        return list(self._where(self._prints))

    def printed_as(self, text: str) -> ClaimAudit:
        """Return the audit of a claim that was printed otherwise, in as many digits."""
        claim = self.claim.printed_as(text)
        return replace(self, claim=claim, prints=_prints(claim, self.means))

    @property
    def explained(self) -> bool:
        """Whether any convention prints the same digits."""
        return bool(self.prints.any())

    @cached_property
    def nearest(self) -> list[Match]:
        """The three nearest values that print otherwise, each with its simplest convention."""
        means = np.where(self.prints.any(axis=0), np.nan, self.means)
        values = np.unique(means[~np.isnan(means)])
        values = values[np.argsort(np.abs(values - float(self.claim.value)), kind="stable")]
        found: dict[str, Match] = {}
        for value in values.tolist():
            printed = self.claim.prints(value)
            if printed not in found:
                same = self.claim.printed_as(printed).printed().holds(means) & self._once
                found[printed] = min(self._where(same), key=_distance_to_default)
            if len(found) == _NEAREST:
                break
        return list(found.values())

    @property
    def simplest(self) -> Match | None:
        """The match that differs least from the community's default."""
        return min(self._where(np.any(self.prints, axis=0)), key=_distance_to_default, default=None)

    def _where(self, mask: Bools) -> Iterator[Match]:
        """Yield the conventions with these means; rounding only where the claim needs it."""
        for s, setting in enumerate(SETTINGS):
            r = self.run.of_setting[s]
            for o, c, q in np.argwhere(mask[r] & self.tried[s]).tolist():
                printing = (d for d in Rounding if self.prints[_ROUNDINGS.index(d), r, o, c, q])
                rounding = next(printing, Rounding.EXACT)
                convention = replace(setting, queries=_QUERY_SETS[q], rounding=rounding)
                yield self.at(convention, self.choices[c], self.claim.cutoffs[o])

    def at(self, setting: Setting, choice: Choice, cutoff: Rank) -> Match:
        """Compute the claim by a convention; NaN if it is not tried."""
        number = number_of(setting)
        r, q = int(self.run.of_setting[number or 0]), place(setting.queries.value)
        o, c = self.claim.cutoffs.index(cutoff), self.choices.index(choice)
        tried = number is not None and bool(self.tried[number, o, c, q])
        value = float(self.means[r, o, c, q]) if tried else np.nan
        labels = self.run.ranked[r].labels
        spec = MeasureSpec(self.claim.measure, cutoff, labels)
        measure = choice.measure(spec) if possible(choice, labels) else None
        prints = bool(tried and self.prints[_ROUNDINGS.index(setting.rounding), r, o, c, q])
        first = value if setting.rounding.value is None else round(value, setting.rounding.value)
        printed = self.claim.text if prints else self.claim.prints(first)
        return Match(self.claim, setting, choice, cutoff, measure, value, printed, prints)


_NEAREST = 3
_QUERY_SETS, _ROUNDINGS = list(QuerySet), list(Rounding)


def _distance_to_default(match: Match) -> int:
    """Count the options in which a match differs from the community's default."""
    default = COMMUNITY.choice(match.claim.family)
    n = differences(match.setting, COMMUNITY.setting) + differences(match.choice, default)
    return n + (match.cutoff != match.claim.cutoffs[0])
