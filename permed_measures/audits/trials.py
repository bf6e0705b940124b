"""Claims about runs, each computed by any convention and compared with what was printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
)
from permed_measures.conventions.query_sets import place
from permed_measures.papers.claims import Claim
from permed_measures.papers.names import Rank

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Codes = NDArray[np.int64]
"""Conventions: a row for each, a column for each option of a space, in it the number of a value."""

NOTHING: Floats = np.full(len(OPTIONS["queries"].values), np.nan)
"""The means of what cannot be computed."""
NOISE = 1e-12
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

    @property
    def size(self) -> int:
        """How many they are."""
        return self.high - self.low + 1


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
        self._set_ends()
        if claim.other is not None:
            self._read(claim, claim.other)

    def printed_as(self, text: str) -> Trial:
        """Return the trial of a claim that was printed otherwise, in as many digits."""
        return self.about(self.claim.printed_as(text))

    def about(self, claim: Claim) -> Trial:
        """Return the trial of another claim of the same measure."""
        return Trial(self.row, claim, self.run)

    def _set_ends(self) -> None:
        self.window = Window.of(self.claim)
        self._readings = [self.claim, *filter(None, [self.claim.other])]

    def _read(self, claim: Claim, other: Claim) -> None:
        """Choose the reading of a claim that may be in percent."""
        bases = [named.at({claim.name: claim.cutoffs[0]}) for named in NAMED if named.has(claim.measure)]
        values = np.array([self.value(base) for base in bases])
        printed = [bool(each.printed().holds(values).any()) for each in (claim, other)]
        nearer = other.distance(values) < claim.distance(values)
        if nearer if printed[0] == printed[1] else printed[1]:
            self.claim = other._replace(other=claim._replace(other=None))
            self._set_ends()

    def means(self, convention: Options) -> Floats:
        """Compute the claim by a convention over each query set; NaN where that means nothing."""
        found = self.run.means(self.claim.measure, self.cutoff(convention), convention)
        return NOTHING if found is None else found

    def value(self, convention: Options) -> float:
        """Compute the claim by a convention; NaN if that means nothing here."""
        return float(self.means(convention)[place(convention["queries"])])

    def cutoff(self, convention: Options) -> Rank:
        """Return the cutoff that a convention has for the claim."""
        rank: Rank = convention[CUTOFF + self.claim.name]
        return rank

    def prints(self, convention: Options) -> bool:
        """Return whether a convention prints the claim."""
        value = np.array([self.value(convention)])
        return bool(self.are_printed(self.codes(value, FIRST_DIGITS[convention["rounding"]]))[0])

    def are_printed(self, codes: Floats) -> Bools:
        """Return for each row of codes whether the claim is among them."""
        low, high = codes[:, ::2], codes[:, 1::2]
        return np.asarray(((low <= self.window.code) & (self.window.code <= high)).any(axis=1))

    def shown(self, convention: Options) -> str:
        """Return what a convention prints."""
        if self.prints(convention):
            return self.claim.text
        digits = FIRST_DIGITS[convention["rounding"]]
        value = self.value(convention)
        return self.claim.prints(value if digits is None else round(value, digits))

    def measure(self, convention: Options) -> str:
        """Write the measure by a convention as one would type it."""
        cutoff, ranked = self.cutoff(convention), self.run.ranked(convention)
        labels = self.run.labels if ranked is None else ranked.labels
        return typed(self.claim.measure, cutoff, options_for(self.claim.measure, convention), labels)

    def codes(self, values: Floats, first_to: int | None) -> Floats:
        """Return what values are printed as, rounded half down and half up, by each reading.

        Parameters
        ----------
        values : ndarray, shape (n,)
        first_to : int or None
            To how many digits they are rounded first.

        Returns
        -------
        ndarray, shape (n, 2 times the number of readings)
        """
        ends = [end for each in self._readings for end in _printed(values, each.decimals, first_to)]
        return np.column_stack(ends)


def _printed(values: Floats, decimals: int, first_to: int | None) -> tuple[Floats, Floats]:
    """Return the digits of values that are rounded half down and half up, perhaps to some digits first."""
    units, step, reach = values * 10.0**decimals, 1.0, 0.5
    if first_to is not None:
        reach += 0.5 * 10.0 ** (decimals - first_to) if decimals < first_to else 0
        step = 10.0 ** max(decimals - first_to, 0)
    reach += NOISE * 10.0**decimals / step
    return np.ceil(units / step - reach) * step, np.floor(units / step + reach) * step


# --- conventions near the named ones -----------------------------------------------------------------


class Tried(NamedTuple):
    """A claim by each of many conventions.

    Attributes
    ----------
    values : ndarray, shape (n,)
        NaN where a convention means nothing.
    codes : ndarray, shape (n, 2 times the number of readings)
        What they are printed as.
    prints : ndarray of bool, shape (n,)
        Whether that is the claim.
    """

    values: Floats
    codes: Floats
    prints: Bools


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
        self.options = list(dict.fromkeys(option for trial in trials for option in trial.options))
        self.values = {option: list(self._values(option)) for option in self.options}
        self.bases = [
            (named, {option: named.at(self.usual)[option] for option in self.options})
            for named in conventions
            if all(named.has(claim.measure) for claim in claims)
        ]
        runs = {id(trial.run): trial.run for trial in trials}.values()
        self._alike = {
            option: [v for v in self.values[option] if all(v in run.alike(option) for run in runs)]
            for option in self.options
        }
        self._number_values()

    def _number_values(self) -> None:
        """Give numbers to the values of each option, first to those to change to; write the bases in them."""
        bases = [self.first(base) for _, base in self.bases]
        changed = [dict.fromkeys(self._first(each, v) for v in self.values[each]) for each in self.options]
        self._n_tried = [len(values) for values in changed]
        self._numbered: list[list[Any]] = [
            list(values | dict.fromkeys(base[option] for base in bases))
            for option, values in zip(self.options, changed, strict=True)
        ]
        rows = dict.fromkeys(
            tuple(values.index(base[each]) for each, values in zip(self.options, self._numbered, strict=True))
            for base in bases
        )
        self._bases = np.array(list(rows), np.int64).reshape(len(rows), len(self.options))
        self._means: dict[Trial, dict[int, Floats]] = {}

    def _first(self, option: str, value: object) -> object:
        alike = self._alike[option]
        return alike[0] if value in alike else value

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

    def within(self, most: int) -> Iterator[tuple[int, Codes]]:
        """Yield how many changes there are, and all conventions with as many from one of the bases.

        Of those that are surely the same, one: the `first`. One near several bases comes several times.
        """
        for n in range(most + 1):
            changes = [
                (options, values)
                for options in combinations(range(len(self.options)), n)
                for values in product(*(range(self._n_tried[each]) for each in options))
            ]
            where, values = np.array(changes, int).reshape(len(changes), 2, n).swapaxes(0, 1)
            for base in self._bases:
                found = np.repeat(base[None], len(where), axis=0)
                np.put_along_axis(found, where, values, axis=1)
                yield n, found[(found != base).sum(axis=1) == n]

    def convention(self, codes: Codes) -> Options:
        """Return the convention of a row of codes."""
        return {
            option: values[code]
            for option, values, code in zip(self.options, self._numbered, codes.tolist(), strict=True)
        }

    def tried(self, trial: Trial, near: Codes) -> Tried:
        """Compute a claim by conventions."""
        queries, rounding = (self.options.index(each) for each in ("queries", "rounding"))
        places = np.array([place(each) for each in self._numbered[queries]])
        values = self._means_of(trial, near)[np.arange(len(near)), places[near[:, queries]]]
        codes = trial.codes(values, None)
        for number, way in enumerate(self._numbered[rounding]):
            if FIRST_DIGITS[way] is not None:
                twice = near[:, rounding] == number
                codes[twice] = trial.codes(values[twice], FIRST_DIGITS[way])
        return Tried(values, codes, trial.are_printed(codes))

    def _means_of(self, trial: Trial, near: Codes) -> Floats:
        """Return the means of a claim over each query set: one row for each convention."""
        columns = [self.options.index(each) for each in trial.options if each != "queries"]
        sizes = [len(self._numbered[each]) for each in columns]
        numbers = near[:, columns] @ np.cumprod([1, *sizes[:-1]])  # one for all values that matter to it
        keys, first, which = np.unique(numbers, return_index=True, return_inverse=True)
        known = self._means.setdefault(trial, {})
        for key, row in zip(keys.tolist(), first.tolist(), strict=True):
            if key not in known:
                known[key] = trial.means(self.convention(near[row]))
        return np.array([known[key] for key in keys.tolist()]).reshape(-1, len(NOTHING))[which]

    def neighbours(self, convention: Options) -> Iterator[tuple[str, object, Options]]:
        """Yield each convention that differs in one option, after the option and its new value."""
        for option, values in self.values.items():
            for value in values:
                if value != convention[option]:
                    yield option, value, {**convention, option: value}
