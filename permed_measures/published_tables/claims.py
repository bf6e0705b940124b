"""Parse published numbers, and find the values that print as them."""

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
    is_package_measure,
    meaning_of,
    strip_heading,
)
from permed_measures.tolerances import SUM_NOISE

EXACT = Context(prec=60)
"""The decimal context of claims: it keeps all digits, whatever the context of the process is."""
_FIRST_TO = 5
"""Number of digits to which some tools round means before they print them."""


class RoundingInterval(NamedTuple):
    """The values that print as a number: an interval in exact arithmetic.

    Attributes
    ----------
    low, high : Fraction
    without_low, without_high : bool
        Whether an end is outside of the interval. The ends of rounding are inside: a value halfway between
        two numbers prints as either, depending on the rounding rule and on its floating-point value.

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
        """Find the values that round to a number, half up or half to even.

        Parameters
        ----------
        number : Decimal
        decimals : int
            The digits of the number after the point.
        first_to : int, optional
            The digits to which values are rounded first. If the number has more digits, it may also be a
            value that was not rounded first.
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
    def rounding_or_truncation(cls, number: Decimal, decimals: int) -> RoundingInterval:
        """Find the values that print as a number if they are rounded once or twice, or cut off."""
        rounded, cut = cls.rounded(number, decimals, _FIRST_TO), cls.cut(number, decimals)
        low, high = min(rounded.low, cut.low), max(rounded.high, cut.high)
        return cls(low, high, low < rounded.low and cut.without_low, high > rounded.high and cut.without_high)

    @classmethod
    def cut(cls, number: Decimal, decimals: int) -> RoundingInterval:
        """Find the values that print as a number if they are cut off towards 0."""
        unit, exact = Fraction(1, 10**decimals), Fraction(number)
        down, up = exact <= 0, exact >= 0
        return cls(exact - unit * down, exact + unit * up, without_low=down, without_high=up)

    def holds(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Mark the values in the interval, with a tolerance for the rounding error of sums."""
        whole = floor(self.low)  # subtracted first, so that large numbers keep the digits after the point
        low, high = float(self.low - whole), float(self.high - whole)
        above = values - whole
        is_above = above > low + SUM_NOISE if self.without_low else above >= low - SUM_NOISE
        is_below = above < high - SUM_NOISE if self.without_high else above <= high + SUM_NOISE
        return np.asarray(is_above & is_below)

    def __contains__(self, value: object) -> bool:
        """Check whether a value is in the interval."""
        return isinstance(value, float) and bool(self.holds(np.array(value)))

    def counts(self, total: int) -> range:
        """Find the numbers of hits, of `total` possible ones, whose share prints as the number."""
        low, high = self.low * total, self.high * total
        first = floor(low) + 1 if self.without_low else ceil(low)
        last = ceil(high) - 1 if self.without_high else floor(high)
        return range(max(first, 0), last + 1)

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends as floats, rounded outwards."""
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
        The name of the measure as it was printed.
    text : str
        The number as it was printed.
    measure : {'AP', 'nDCG', 'P', 'R', 'RR', 'Success', 'F1'} or str
        The family that a loose name means; any other measure as a user would type it.
    cutoffs : tuple
        The cutoffs to try, first the cutoff in the name.
    value : Decimal
        The number as a fraction of 1, or as it is if the measure counts documents.
    decimals : int
        The digits of `value` after the point.
    percent : bool
        Whether the number is read as percent.
    other : Claim or None
        The other reading of a number without a percent sign: not as percent, if it is above 1 and its measure
        can be; or as percent, if another number of the table is.
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
    def is_fully_specified(self) -> bool:
        """Whether the name specifies how the measure is computed."""
        return self.measure not in LOOSE_MEASURES

    @property
    def says_percent(self) -> bool:
        """Whether the number or its name has a percent sign."""
        return self.text.endswith("%") or strip_heading(self.name)[1]

    @property
    def is_package_measure(self) -> bool:
        """Whether the name is the full name of a measure of this package."""
        return self.is_fully_specified and is_package_measure(self.measure)

    def prints(self, value: float) -> str:
        """Print a value with as many digits as the claim."""
        shown = value * 100 if self.percent else value
        digits = self.decimals - 2 if self.percent else self.decimals
        return f"{shown:.{max(digits, 0)}f}{'%' if self.text.endswith('%') else ''}"

    def printed(self, first_to: int | None = None) -> RoundingInterval:
        """Find the values that round to the claim, optionally after rounding to `first_to` digits."""
        return RoundingInterval.rounded(self.value, self.decimals, first_to)

    @property
    def rounding_or_truncation(self) -> RoundingInterval:
        """The values that print as the claim if they are rounded once or twice, or cut off."""
        return RoundingInterval.rounding_or_truncation(self.value, self.decimals)

    def distance(self, values: NDArray[np.float64]) -> float:
        """Compute the smallest relative distance of values from the claim; not all may be NaN."""
        error, value = np.abs(values - float(self.value)), float(self.value)
        larger = np.maximum(np.abs(values), abs(value))
        return float(np.nanmin(np.divide(error, larger, out=np.zeros_like(error), where=larger != 0)))

    def printed_as(self, text: str) -> Claim:
        """Replace the printed number."""
        number = Decimal(text.rstrip("%"))
        return self._replace(
            text=text, value=EXACT.scaleb(number, -2) if self.percent else number, other=None
        )

    def in_percent(self) -> Claim:
        """Read the number as percent."""
        return self._replace(value=EXACT.scaleb(self.value, -2), decimals=self.decimals + 2, percent=True)

    def with_percent_reading(self) -> Claim:
        """Add percent as the other reading, unless the claim is read so already, or is a count."""
        if self.percent or self.measure.startswith("Num"):
            return self
        return self._replace(other=self.in_percent())

    def rounding_error_kind(self, value: float) -> str:
        """Name the rounding error that turns a value into the claim; empty if none does."""
        unit = EXACT.scaleb(Decimal(1), -self.decimals)
        size = EXACT.add(Decimal(abs(value)), Decimal(SUM_NOISE))  # a sum may be just below its exact value
        if EXACT.copy_sign(size.quantize(unit, ROUND_DOWN, EXACT), Decimal(value)) == self.value:
            return f"cut off, not rounded, this gives {self.text}"
        if value in self.printed(first_to=self.decimals + 1):
            return f"rounded twice, this gives {self.text}"
        return ""


_LARGEST_COUNT = 10**12
MOST_DIGITS = 15
"""Maximum number of digits after the point of a claim."""


def claims_by_row(claims: Any, one: str) -> dict[str, Any]:
    """Arrange a mapping of claims by row; a single row, which has no name, gets the name `one`."""
    if not isinstance(claims, Mapping):
        example = "such as {'MAP@10': 0.5357}, or a path"
        raise InputError(f"claims must be a mapping, {example} (found {type(claims).__name__})")
    several = bool(claims) and all(isinstance(row, Mapping) for row in claims.values())
    return dict(claims) if several else {one: claims}


def parse_claims(rows: Iterable[Mapping[str, Any]]) -> list[list[Claim]]:
    """Parse the claims of each row. Strings keep their digits; all Python numbers get those of the longest.

    Claims that are parsed already, such as those of a file, stay as they are.
    """
    rows = list(rows)
    if not all(rows):
        raise InputError("there are no claims; give them as {'MAP@10': 0.5357}")
    numbers = (item for row in rows for item in row.items() if not isinstance(item[1], (str, Claim)))
    longest = max((_digits(_number(*item).value.normalize(EXACT)) for item in numbers), default=0)
    table = [[_claim(name, value, longest) for name, value in row.items()] for row in rows]
    table = [_with_cutoffs_of_others(row) for row in table]
    if any(claim.percent for row in table for claim in row):  # then numbers without a sign may be too
        return [[claim.with_percent_reading() for claim in row] for row in table]
    return table


def _with_cutoffs_of_others(row: list[Claim]) -> list[Claim]:
    """Add the cutoffs of P and R in the row to those of F1: some papers print F1 of P@10 and R@20."""
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


def claim_of(name: str, number: CellNumber, shown: Any, digits: int | None = None) -> Claim:
    """Make a claim of a number, with its own digits or the given ones; errors show it as `found`."""
    heading, in_percent = strip_heading(name)
    measure, cutoffs = meaning_of(heading)
    value, counts, sign = number.value, measure.startswith("Num"), "%" * number.number.endswith("%")
    says_percent = bool(sign) or in_percent
    may_be_large = counts or (measure == "nDCG" and not says_percent)  # a DCG has no upper end
    percent = says_percent or (not counts and 1 < value.copy_abs() <= 100)
    if value.copy_abs() > (_LARGEST_COUNT if may_be_large else 100):
        limit = f"a count is at most {_LARGEST_COUNT:,}" if counts else "a value is at most 1, or 100 percent"
        raise InputError(f"{limit} (found {shown!r})", where=f"claim {name!r}")
    digits = _digits(value) if digits is None else digits
    if digits > MOST_DIGITS:
        problem = f"a claim can have at most {MOST_DIGITS} digits after the point (found {shown!r})"
        raise InputError(problem, where=f"claim {name!r}")
    value = value.quantize(EXACT.scaleb(Decimal(1), -digits), context=EXACT)
    plain = Claim(name, f"{value:f}{sign}", measure, cutoffs, value, digits, False)
    if not percent:
        return plain
    may_be_above_1 = not says_percent and (measure in ABOVE_1 or plain.is_fully_specified)
    return plain.in_percent()._replace(other=plain if may_be_above_1 else None)


def _number(name: str, value: Any) -> CellNumber:
    """Parse a number, which may have the form of a cell of a table."""
    number = None if isinstance(value, bool) else printed_in(str(value))
    if number is None or not number.number:
        problem, hint = f"a claim must be a number (found {value!r})", "Write it as 0.5357 or 53.57%"
        raise InputError(problem, where=f"claim {name!r}", hint=hint)
    return number
