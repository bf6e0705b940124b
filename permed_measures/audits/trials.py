"""Claims about runs, each computed by any convention and compared with what was printed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.conventions.named import NAMED
from permed_measures.conventions.options import FIRST_DIGITS, Options
from permed_measures.conventions.runs import RunVariants
from permed_measures.conventions.spaces import Codes, Quantity, Space
from permed_measures.papers.claims import Claim

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

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


class Trial(Quantity):
    """A claim about a run.

    Attributes
    ----------
    row : str
        The name of the run.
    claim : Claim
        Read as percent or not as a named convention prints it, or else as it is nearer to one.
    """

    def __init__(self, row: str, claim: Claim, run: RunVariants) -> None:
        super().__init__(claim.name, claim.measure, claim.cutoffs, run)
        self.row, self.claim = row, claim
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

    def prints(self, convention: Options) -> bool:
        """Return whether a convention prints the claim."""
        value = np.array([self.value(convention)])
        return bool(self.are_printed(self.codes(value, FIRST_DIGITS[self.own(convention)["rounding"]]))[0])

    def are_printed(self, codes: Floats) -> Bools:
        """Return for each row of codes whether the claim is among them."""
        low, high = codes[:, ::2], codes[:, 1::2]
        return np.asarray(((low <= self.window.code) & (self.window.code <= high)).any(axis=1))

    def shown(self, convention: Options) -> str:
        """Return what a convention prints."""
        if self.prints(convention):
            return self.claim.text
        digits = FIRST_DIGITS[self.own(convention)["rounding"]]
        value = self.value(convention)
        return self.claim.prints(value if digits is None else round(value, digits))

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

    @classmethod
    def of(cls, space: Space[Trial], trial: Trial, near: Codes) -> Tried:
        """Compute a claim by conventions."""
        values = space.computed(trial, near)
        codes = trial.codes(values, None)
        for way, digits in FIRST_DIGITS.items():
            if digits is not None:
                twice = space.has(trial, "rounding", way, near)
                codes[twice] = trial.codes(values[twice], digits)
        return cls(values, codes, trial.are_printed(codes))
