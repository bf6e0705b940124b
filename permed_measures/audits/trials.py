"""Claims about runs, each computed by any convention and compared with what was printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, floor
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from permed_measures.audits.runs import RunVariants, options_for
from permed_measures.conventions.named import NAMED, NamedConvention
from permed_measures.conventions.names import typed
from permed_measures.conventions.options import (
    CUTOFF,
    FIRST_DIGITS,
    OPTIONS,
    OPTIONS_OF,
    SHARED,
    Options,
    differing,
)
from permed_measures.conventions.query_sets import place
from permed_measures.papers.claims import Claim
from permed_measures.papers.names import Rank

_NOISE = 1e-12
"""What a sum of some thousand values may be off by."""
_NEAR = 0.03
"""How far from a claim the numbers are that somebody might have printed in its place."""
_FEWEST = 3
"""By how many units of the last digit they differ at least."""


class Window(NamedTuple):
    """The numbers near a claim, in units of its last digit."""

    code: int
    low: int
    high: int

    @classmethod
    def of(cls, claim: Claim) -> Window:
        """Return the numbers within 0.03, or within half of a small one."""
        unit, value = 10**claim.decimals, abs(float(claim.value))
        code = int(claim.value * unit)
        reach = max(int(min(_NEAR * max(value, 1), value / 2) * unit), _FEWEST)
        highest = unit if code <= unit else code + reach
        return cls(code, max(code - reach, min(code, 0)), min(code + reach, highest))

    def holds(self, code: float) -> bool:
        """Return whether a number is one of them."""
        return self.low <= code <= self.high

    @property
    def size(self) -> int:
        """How many they are."""
        return self.high - self.low + 1

    def code_of(self, value: float, decimals: int) -> int | None:
        """Return what a value is printed as, None if that is not near."""
        code = None if np.isnan(value) else floor(value * 10**decimals + 0.5 + _NOISE * 10**decimals)
        return code if code is not None and self.low <= code <= self.high else None


class Trial:
    """A claim about a run.

    Attributes
    ----------
    row : str
        The name of the run.
    claim : Claim
        Read as percent or not as a named convention prints it, or else as it is nearer to one.
    run : RunVariants
    options : tuple of str
        Those that its value depends on.
    """

    def __init__(self, row: str, claim: Claim, run: RunVariants) -> None:
        self.row, self.claim, self.run = row, claim, run
        self.options = (*SHARED, *OPTIONS_OF.get(claim.measure, ()), CUTOFF + claim.name)
        self._key = itemgetter(*self.options)
        self._values: dict[object, float] = {}
        self._set_ends()
        if claim.other is not None:
            self._read(claim, claim.other)

    def printed_as(self, text: str) -> Trial:
        """Return the trial of a claim that was printed otherwise, in as many digits."""
        return self.about(self.claim.printed_as(text))

    def about(self, claim: Claim) -> Trial:
        """Return the trial of another claim of the same measure, with what has been computed."""
        other = Trial(self.row, claim, self.run)
        other._values = self._values
        return other

    def _set_ends(self) -> None:
        self.window = Window.of(self.claim)
        self._readings = [self.claim, *filter(None, [self.claim.other])]
        self._codes: dict[object, tuple[list[tuple[float, float]], bool]] = {}

    def _read(self, claim: Claim, other: Claim) -> None:
        """Choose the reading of a claim that may be in percent."""
        bases = [named.at({claim.name: claim.cutoffs[0]}) for named in NAMED if named.has(claim.measure)]
        values = np.array([self.value(base) for base in bases])
        printed = [bool(each.printed().holds(values).any()) for each in (claim, other)]
        nearer = other.distance(values) < claim.distance(values)
        if nearer if printed[0] == printed[1] else printed[1]:
            self.claim = other._replace(other=claim._replace(other=None))
            self._set_ends()

    def value(self, convention: Options) -> float:
        """Compute the claim by a convention; NaN if that means nothing here."""
        key = self._key(convention)
        if key not in self._values:
            means = self.run.means(self.claim.measure, self.cutoff(convention), convention)
            self._values[key] = np.nan if means is None else float(means[place(convention["queries"])])
        return self._values[key]

    def cutoff(self, convention: Options) -> Rank:
        """Return the cutoff that a convention has for the claim."""
        rank: Rank = convention[CUTOFF + self.claim.name]
        return rank

    def prints(self, convention: Options) -> bool:
        """Return whether a convention prints the claim."""
        return self._printed(convention)[1]

    def shown(self, convention: Options) -> str:
        """Return what a convention prints."""
        if self.prints(convention):
            return self.claim.text
        digits = FIRST_DIGITS[convention["rounding"]]
        value = self.value(convention)
        return self.claim.prints(value if digits is None else round(value, digits))

    def measure(self, convention: Options) -> str:
        """Write the measure by a convention as one would type it."""
        cutoff, ranked = self.cutoff(convention), self.run.ranked(convention, self.cutoff(convention))
        labels = self.run.labels if ranked is None else ranked.labels
        return typed(self.claim.measure, cutoff, options_for(self.claim.measure, convention), labels)

    def codes(self, convention: Options) -> list[tuple[float, float]]:
        """Return what a convention prints, rounded half down and half up, by each reading."""
        return self._printed(convention)[0]

    def _printed(self, convention: Options) -> tuple[list[tuple[float, float]], bool]:
        """Return what a convention prints, and whether the claim is among it."""
        key = self._key(convention)
        if key not in self._codes:
            digits, value = FIRST_DIGITS[convention["rounding"]], self.value(convention)
            codes = [_printed(value, each.decimals, digits) for each in self._readings]
            self._codes[key] = codes, any(low <= self.window.code <= high for low, high in codes)
        return self._codes[key]


def _printed(value: float, decimals: int, first_to: int | None) -> tuple[float, float]:
    """Return the digits of a value that is rounded half down and half up, perhaps to some digits first."""
    if np.isnan(value):
        return value, value
    units, step, reach = value * 10.0**decimals, 1.0, 0.5
    if first_to is not None:
        reach += 0.5 * 10.0 ** (decimals - first_to) if decimals < first_to else 0
        step = 10.0 ** max(decimals - first_to, 0)
    reach += _NOISE * 10.0**decimals / step
    return ceil(units / step - reach) * step, floor(units / step + reach) * step


# --- conventions near the named ones -----------------------------------------------------------------


class Space:
    """The conventions near some named ones, for some claims.

    Parameters
    ----------
    trials : sequence of Trial
    conventions : sequence of NamedConvention
        Those that have all measures of the claims are the bases.
    usual : dict of str to Rank, optional
        By the name of the claim the cutoff that is no change; those that the names say if left out.
    """

    def __init__(
        self,
        trials: Sequence[Trial],
        conventions: Sequence[NamedConvention],
        usual: dict[str, Rank] | None = None,
    ) -> None:
        self.trials, self.conventions = trials, conventions
        claims = [trial.claim for trial in trials]
        self.usual = {claim.name: claim.cutoffs[0] for claim in claims} if usual is None else usual
        options = list(dict.fromkeys(option for trial in trials for option in trial.options))
        self.values = {option: list(self._values(option)) for option in options}
        self.bases = [
            (named, {option: named.at(self.usual)[option] for option in options})
            for named in conventions
            if all(named.has(claim.measure) for claim in claims)
        ]
        self._alike = {option: self._alike_of(option) for option in options if option in OPTIONS}
        self._different = {
            option: list(dict.fromkeys(self._first(option, value) for value in values))
            for option, values in self.values.items()
        }

    def _alike_of(self, option: str) -> dict[object, object]:
        """Return for each value the first that surely gives the same numbers for all runs."""
        runs = {id(trial.run): trial.run for trial in self.trials}.values()
        of_runs = [run.alike(option) for run in runs]
        first: dict[object, object] = {}
        return {
            value: first.setdefault(tuple(each.get(value, value) for each in of_runs), value)
            for value in self.values[option]
        }

    def _first(self, option: str, value: object) -> object:
        return self._alike.get(option, {}).get(value, value)

    def first(self, convention: Options) -> Options:
        """Return a convention with the first of the values of each option that surely are the same."""
        return {option: self._first(option, value) for option, value in convention.items()}

    def _values(self, option: str) -> Iterator[object]:
        """Yield the values of an option that can be computed."""
        if option.startswith(CUTOFF):
            claim = next(t.claim for t in self.trials if CUTOFF + t.claim.name == option)
            yield from dict.fromkeys([*claim.cutoffs, self.usual[claim.name]])
        elif option in SHARED:
            offered = [value for trial in self.trials for value in trial.run.offers(option)]
            yield from (value for value in OPTIONS[option].values if value in offered)
        else:
            measures = [trial.claim.measure for trial in self.trials]
            yield from OPTIONS[option].values_for(measures, self.trials[0].run.labels.levels)

    def within(self, most: int) -> Iterator[tuple[int, Options]]:
        """Yield each convention with up to so many changes from a base, and how many it has.

        Of those that are surely the same, one: the `first`.
        """
        seen: set[object] = set()
        bases = {tuple(base.values()): base for base in (self.first(base) for _, base in self.bases)}
        for changes in range(most + 1):
            for base in bases.values():
                for convention in differing(base, self._different, changes):
                    key = tuple(convention.values())
                    if key not in seen:
                        seen.add(key)
                        yield changes, convention

    def neighbours(self, convention: Options) -> Iterator[tuple[str, object, Options]]:
        """Yield each convention that differs in one option, after the option and its new value."""
        for option, values in self.values.items():
            for value in values:
                if value != convention[option]:
                    yield option, value, {**convention, option: value}
