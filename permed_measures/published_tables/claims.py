"""Published numbers: how many digits they have, and the values that print as them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import ROUND_DOWN, Context, Decimal
from fractions import Fraction
from itertools import product
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.errors import InputError
from permed_measures.measures.parameters import Cutoff
from permed_measures.published_tables.cells import CellNumber, printed_in
from permed_measures.published_tables.measure_names import (
    ABOVE_1,
    LOOSE_MEASURES,
    is_ours,
    meaning_of,
    strip_heading,
)
from permed_measures.tolerances import SUM_NOISE

EXACT = Context(prec=60)
"""In which claims keep all their digits, whatever context of decimals the process has."""
_FIRST_TO = 5
"""Digits that some tools round means to before these are printed."""


class RoundingInterval(NamedTuple):
    """The values that print as a number: those between two ends, in exact arithmetic.

    Attributes
    ----------
    low, high : Fraction
    without_low, without_high : bool
        Whether an end prints as another number. The ends of rounding belong to it: a value halfway between
        two numbers prints as either, by half up, half to even, or as its float happens to be.

    Examples
    --------
    >>> printed = RoundingInterval.rounded(Decimal("0.0687"), 4)
    >>> 41 / 597 in printed, list(printed.counts(597)), list(printed.counts(500))
    (True, [41], [])
    >>> list(RoundingInterval.cut(Decimal("0.30"), 2).counts(200))  # 62 of 200 is 0.31
    [60, 61]
    """

    low: Fraction
    high: Fraction
    without_low: bool = False
    without_high: bool = False

    @classmethod
    def rounded(cls, number: Decimal, decimals: int, first_to: int | None = None) -> RoundingInterval:
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
            elif Fraction(number) == round(Fraction(number), first_to):
                half = first
        return cls(Fraction(number) - half, Fraction(number) + half)

    @classmethod
    def anyhow(cls, number: Decimal, decimals: int) -> RoundingInterval:
        """Return the values that may have become a number: rounded once or twice, or cut off."""
        rounded, cut = cls.rounded(number, decimals, _FIRST_TO), cls.cut(number, decimals)
        low, high = min(rounded.low, cut.low), max(rounded.high, cut.high)
        return cls(low, high, low < rounded.low and cut.without_low, high > rounded.high and cut.without_high)

    @classmethod
    def cut(cls, number: Decimal, decimals: int) -> RoundingInterval:
        """Return the values that are cut off after the last digit of a number, towards 0."""
        unit, exact = Fraction(1, 10**decimals), Fraction(number)
        down, up = exact <= 0, exact >= 0
        return cls(exact - unit * down, exact + unit * up, without_low=down, without_high=up)

    def holds(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which values are between the ends, or off by what a sum may be."""
        whole = floor(self.low)  # apart, so that large numbers keep the digits after their point
        low, high = float(self.low - whole), float(self.high - whole)
        above = values - whole
        is_above = above > low + SUM_NOISE if self.without_low else above >= low - SUM_NOISE
        is_below = above < high - SUM_NOISE if self.without_high else above <= high + SUM_NOISE
        return np.asarray(is_above & is_below)

    def __contains__(self, value: object) -> bool:
        """Return whether a value is between the ends."""
        return isinstance(value, float) and bool(self.holds(np.array(value)))

    def counts(self, total: int) -> range:
        """Return the numbers of hits among `total` whose share prints so."""
        low, high = self.low * total, self.high * total
        first = floor(low) + 1 if self.without_low else ceil(low)
        last = ceil(high) - 1 if self.without_high else floor(high)
        return range(max(first, 0), last + 1)

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends as floats, not within them."""
        return (
            float(np.nextafter(float(self.low), -np.inf)),
            float(np.nextafter(float(self.high), np.inf)),
        )


# --- claims ----------------------------------------------------------------------------------------


class Claim(NamedTuple):
    """A published number.

    Attributes
    ----------
    name : str
        What it was called.
    text : str
        The number as it was printed.
    measure : {'AP', 'nDCG', 'P', 'R', 'RR', 'Success', 'F1'} or str
        What the name means; another measure as one would type it.
    cutoffs : tuple
        The cutoffs to try, the one in the name first.
    value : Decimal
        The number as a fraction of 1, unless the measure counts.
    decimals : int
        Its digits after the point, as a fraction.
    percent : bool
        Whether it was printed in percent.
    other : Claim or None
        The other reading of a number that has no percent sign: as it stands if it is above 1 and the measure
        may be so; in percent if another number of the table is.
    """

    name: str
    text: str
    measure: str
    cutoffs: tuple[Cutoff, ...]
    value: Decimal
    decimals: int
    percent: bool
    other: Claim | None = None

    @property
    def is_fixed(self) -> bool:
        """Whether the measure was written out."""
        return self.measure not in LOOSE_MEASURES

    @property
    def says_percent(self) -> bool:
        """Whether the number or its name has a percent sign."""
        return self.text.endswith("%") or strip_heading(self.name)[1]

    @property
    def is_ours(self) -> bool:
        """Whether it was written as a measure of ours prints, which says how it is computed."""
        return self.is_fixed and is_ours(self.measure)

    def prints(self, value: float) -> str:
        """Print a value with as many digits as the claim."""
        shown = value * 100 if self.percent else value
        digits = self.decimals - 2 if self.percent else self.decimals
        return f"{shown:.{max(digits, 0)}f}{'%' if self.text.endswith('%') else ''}"

    def printed(self, first_to: int | None = None) -> RoundingInterval:
        """Return the values that are rounded to the claim, perhaps to so many digits first."""
        return RoundingInterval.rounded(self.value, self.decimals, first_to)

    @property
    def anyhow(self) -> RoundingInterval:
        """The values that may have become the claim, by a cut or a second rounding too."""
        return RoundingInterval.anyhow(self.value, self.decimals)

    def distance(self, values: NDArray[np.float64]) -> float:
        """Return how far the nearest value is from the claim, over the larger of both; not all are NaN."""
        apart, value = np.abs(values - float(self.value)), float(self.value)
        larger = np.maximum(np.abs(values), abs(value))
        return float(np.nanmin(np.divide(apart, larger, out=np.zeros_like(apart), where=larger != 0)))

    def printed_as(self, text: str) -> Claim:
        """Return the claim that would have been printed so."""
        number = Decimal(text.rstrip("%"))
        return self._replace(
            text=text, value=EXACT.scaleb(number, -2) if self.percent else number, other=None
        )

    def in_percent(self) -> Claim:
        """Return the same number as percent."""
        return self._replace(value=EXACT.scaleb(self.value, -2), decimals=self.decimals + 2, percent=True)

    def or_in_percent(self) -> Claim:
        """Return the claim with percent as its other reading, unless it is that or a count."""
        if self.percent or self.measure.startswith("Num"):
            return self
        return self._replace(other=self.in_percent())

    def rounding_error_kind(self, value: float) -> str:
        """Return which slip of rounding turns a value into the claim; empty if none does."""
        unit = EXACT.scaleb(Decimal(1), -self.decimals)
        reached = EXACT.add(Decimal(abs(value)), Decimal(SUM_NOISE))  # a sum may be just below its number
        if EXACT.copy_sign(reached.quantize(unit, ROUND_DOWN, EXACT), Decimal(value)) == self.value:
            return f"cut off, not rounded, this gives {self.text}"
        if value in self.printed(first_to=self.decimals + 1):
            return f"rounded twice, this gives {self.text}"
        return ""


_LARGEST_COUNT = 10**12
MOST_DIGITS = 15
"""How many digits after the point a claim may have."""


def claims_by_row(claims: Any, one: str) -> dict[str, Any]:
    """Return claims that are no file by row; those of a single row, which have no name, by `one`."""
    if not isinstance(claims, Mapping):
        example = "such as {'MAP@10': 0.5357}, or a path"
        raise InputError(f"claims must be a mapping, {example} (found {type(claims).__name__})")
    several = bool(claims) and all(isinstance(row, Mapping) for row in claims.values())
    return dict(claims) if several else {one: claims}


def parse_claims(rows: Iterable[Mapping[str, Any]]) -> list[list[Claim]]:
    """Return the claims of each row of a table; numbers have the digits of the longest, texts their own.

    Claims that are parsed already, as those of a file, stay as they are.
    """
    rows = list(rows)
    if not all(rows):
        raise InputError("there are no claims; give them as {'MAP@10': 0.5357}")
    typed = (each for row in rows for each in row.items() if not isinstance(each[1], (str, Claim)))
    longest = max((_digits(_number(*each).value.normalize(EXACT)) for each in typed), default=0)
    table = [[_claim(name, value, longest) for name, value in row.items()] for row in rows]
    table = [_with_cutoffs_of_others(row) for row in table]
    if any(claim.percent for row in table for claim in row):  # so those without a sign may be too
        return [[claim.or_in_percent() for claim in row] for row in table]
    return table


def _with_cutoffs_of_others(row: list[Claim]) -> list[Claim]:
    """Add to the cutoffs of F1 those that P and R have in the row: papers have F1 of P@10 and R@20."""
    precision, recall = (
        [rank for claim in row if claim.measure == name and isinstance(rank := claim.cutoffs[0], int)]
        for name in "PR"
    )
    return [
        claim._replace(cutoffs=tuple(dict.fromkeys([*claim.cutoffs, *product(precision, recall)])))
        if claim.measure == "F1"
        else claim
        for claim in row
    ]


def _digits(number: Decimal) -> int:
    return max(-int(number.as_tuple().exponent), 0)


def _claim(name: str, value: Any, digits: int) -> Claim:
    if isinstance(value, Claim):
        return value
    if not isinstance(name, str):
        raise InputError(f"the name of a claim must be a string (found {name!r})")
    return claim_of(name, _number(name, value), value, None if isinstance(value, str) else digits)


def claim_of(name: str, number: CellNumber, found: Any, digits: int | None = None) -> Claim:
    """Return the claim of a number that was found as something, with its own digits or so many."""
    heading, in_percent = strip_heading(name)
    measure, cutoffs = meaning_of(heading)
    value, counts, sign = number.value, measure.startswith("Num"), "%" * number.number.endswith("%")
    says_percent = bool(sign) or in_percent
    may_be_large = counts or (measure == "nDCG" and not says_percent)  # a DCG has no upper end
    percent = says_percent or (not counts and 1 < value.copy_abs() <= 100)
    if value.copy_abs() > (_LARGEST_COUNT if may_be_large else 100):
        most = f"a count is at most {_LARGEST_COUNT:,}" if counts else "a value is at most 1, or 100 percent"
        raise InputError(f"{most} (found {found!r})", where=f"claim {name!r}")
    digits = _digits(value) if digits is None else digits
    if digits > MOST_DIGITS:
        problem = f"a claim can have at most {MOST_DIGITS} digits after the point (found {found!r})"
        raise InputError(problem, where=f"claim {name!r}")
    value = value.quantize(EXACT.scaleb(Decimal(1), -digits), context=EXACT)
    plain = Claim(name, f"{value:f}{sign}", measure, cutoffs, value, digits, False)
    if not percent:
        return plain
    may_be_above_1 = not says_percent and (measure in ABOVE_1 or plain.is_fixed)
    return plain.in_percent()._replace(other=plain if may_be_above_1 else None)


def _number(name: str, value: Any) -> CellNumber:
    """Return a number, which may be printed as in a cell of a table."""
    number = None if isinstance(value, bool) else printed_in(str(value))
    if number is None or not number.number:
        problem, hint = f"a claim must be a number (found {value!r})", "Write it as 0.5357 or 53.57%"
        raise InputError(problem, where=f"claim {name!r}", hint=hint)
    return number
