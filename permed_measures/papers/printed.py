"""The values that print as a number."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_NOISE = 1e-12
"""What a sum of some thousand values may be off by."""
_FIRST_TO = 5
"""Digits that some tools round means to before these are printed."""


class Printed(NamedTuple):
    """The values that print as a number: those between two ends, both included.

    Examples
    --------
    >>> printed = Printed.rounded(Decimal("0.0687"), 4)
    >>> 41 / 597 in printed, list(printed.counts(597)), list(printed.counts(500))
    (True, [41], [])
    """

    low: Fraction
    high: Fraction

    @classmethod
    def rounded(cls, number: Decimal, decimals: int, first_to: int | None = None) -> Printed:
        """Return the values that are rounded to a number, half up or half to even.

        Parameters
        ----------
        number : Decimal
        decimals : int
            How many digits it has after the point.
        first_to : int, optional
            The values were rounded to so many digits before. If the number has more digits, it may also be
            the value as it is.
        """
        half = Fraction(1, 2 * 10**decimals)
        if first_to is not None:
            first = Fraction(1, 2 * 10**first_to)
            if decimals < first_to:  # both roundings may go the same way
                half += first
            elif number == round(number, first_to):
                half = first
        return cls(Fraction(number) - half, Fraction(number) + half)

    @classmethod
    def anyhow(cls, number: Decimal, decimals: int) -> Printed:
        """Return the values that may have become a number: rounded once or twice, or cut off."""
        low, high = cls.rounded(number, decimals, _FIRST_TO)
        cut = Fraction(number) + Fraction(-1 if number < 0 else 1, 10**decimals)
        return cls(min(low, cut), max(high, cut))

    def holds(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which values are between the ends, or off by what a sum may be."""
        whole = floor(self.low)  # apart, so that large numbers keep the digits after their point
        low, high = (float(end - whole) for end in self)
        above = values - whole
        return np.asarray((above >= low - _NOISE) & (above <= high + _NOISE))

    def __contains__(self, value: object) -> bool:
        """Return whether a value is between the ends."""
        return isinstance(value, float) and bool(self.holds(np.array(value)))

    def counts(self, total: int) -> range:
        """Return the numbers of hits among `total` whose share prints so."""
        return range(max(ceil(self.low * total), 0), floor(self.high * total) + 1)

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends as floats, not within them."""
        return (
            float(np.nextafter(float(self.low), -np.inf)),
            float(np.nextafter(float(self.high), np.inf)),
        )
