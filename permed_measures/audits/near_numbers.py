"""The numbers near a claim, and those of them that conventions print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.audits.conventions import NAMED, NamedConvention, differences
from permed_measures.audits.matches import ClaimAudit
from permed_measures.audits.options import Rank, Rounding
from permed_measures.audits.tried import Changes, changes_from
from permed_measures.papers.claims import Claim

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_NEAR = 0.03
"""How far from a claim the numbers are that somebody might have printed in its place."""
_FEWEST = 3
"""By how many units of the last digit they differ at least."""
_NOISE = 1e-12
NONE = -1
"""The code of a number that is not near, or not tried."""


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


def reaches_of(claims: Sequence[ClaimAudit]) -> Floats:
    """Return how far the numbers near each claim are from it."""
    windows = (Window.of(claim.claim) for claim in claims)
    codes = [max(each.high - each.code, each.code - each.low) for each in windows]
    return np.array([code / 10**claim.claim.decimals for code, claim in zip(codes, claims, strict=True)])


def n_values_near(claim: ClaimAudit) -> int:
    """Count the numbers near a claim that any convention prints."""
    codes = codes_of(claim, Window.of(claim.claim))
    return len(np.unique(codes[codes != NONE]))


def values_near(
    claim: ClaimAudit,
    most: int,
    bases: Sequence[NamedConvention] = NAMED,
    usual: dict[str, Rank] | None = None,
) -> Ints:
    """Return the places of the numbers near a claim that are printed with so many changes from a base."""
    window = Window.of(claim.claim)
    codes = codes_of(claim, window)[:, changes_of(claim, bases, usual).min(axis=0) <= most]
    values = np.unique(codes[codes != NONE])
    return np.asarray(values - window.low, np.int64)


def places_of(claim: ClaimAudit, values: Floats) -> Ints:
    """Return the place of each value, as printed, among the numbers near a claim; -1 if it is not near."""
    window = Window.of(claim.claim)
    printed = np.nan_to_num(_printed(values, claim.claim.decimals, None, up=True), nan=window.high + 1)
    near = (printed >= window.low) & (printed <= window.high)
    return np.where(near, printed - window.low, NONE).astype(np.int64)


def changes_of(
    claim: ClaimAudit, bases: Sequence[NamedConvention], usual: dict[str, Rank] | None = None
) -> Changes:
    """Count the changes from each base: by base, rounding, setting, cutoff, choice and query set."""
    family, cutoffs = claim.claim.family, claim.claim.cutoffs
    first = cutoffs[0] if usual is None else usual[claim.claim.name]
    cutoff = np.array([rank != first for rank in cutoffs], np.int8)
    found = []
    for base in (base for base in bases if base.has(family)):
        choice = [differences(each, base.choice(family)) for each in claim.choices]
        of_both = cutoff[:, None] + np.array(choice, np.int8)
        setting = changes_from(base.setting)
        found.append(setting[:, :, None, None, :] + of_both[:, :, None])
    return np.stack(found)


def codes_of(claim: ClaimAudit, window: Window) -> Ints:
    """Return what is printed near a claim: by reading and way of rounding, then as `changes_of`."""
    known = np.where(claim.tried, claim.means[claim.run.of_setting], np.nan)
    readings = [claim.claim, *filter(None, [claim.claim.other])]  # which have the same digits
    ways = [
        np.stack([_printed(known, reading.decimals, rounding.value, up) for rounding in Rounding])
        for reading in readings
        for up in (False, True)
    ]
    found = np.stack(ways)
    near = (found >= window.low) & (found <= window.high)  # no NaN is
    return np.where(near, found, NONE).astype(np.int64)


def _printed(values: Floats, decimals: int, first_to: int | None, up: bool) -> Floats:
    """Return the digits of values that are rounded half up or half down, perhaps to some digits first."""
    units, step, reach = values * 10.0**decimals, 1.0, 0.5
    if first_to is not None:
        reach += 0.5 * 10.0 ** (decimals - first_to) if decimals < first_to else 0
        step = 10.0 ** max(decimals - first_to, 0)
    reach += _NOISE * 10.0**decimals / step
    rounded: Floats = np.floor(units / step + reach) if up else np.ceil(units / step - reach)
    return rounded * step
