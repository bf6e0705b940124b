"""What a match is worth: how easily conventions print numbers that have nothing to do with the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.audits.claims import Claim
from permed_measures.audits.conventions import NAMED, NamedConvention, differences
from permed_measures.audits.matches import ClaimAudit
from permed_measures.audits.options import Rank, Rounding
from permed_measures.audits.tried import Changes, changes_from

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_NEAR = 0.03
"""How far from a claim the numbers are that somebody might have printed in its place."""
_FEWEST = 3
"""By how many units of the last digit they differ at least."""
_NOISE = 1e-12
_NONE = -1
"""The code of a number that is not near, or not tried."""
_MOST_ROWS = 10**15
"""Claims are taken together until so many rows could be printed; with more the chance is smaller still."""
HOPELESS = 0.05
"""Where more arbitrary numbers would be explained, what other runs would have is no matter."""
_ENOUGH = 1e-12
"""A chance that need not be known better."""
_MOST_CELLS = 2 * 10**7
"""How many rows are looked at one by one; of more, it is counted how many conventions give them."""


class Chance(NamedTuple):
    """How often arbitrary numbers near the claims, and those of other runs, would be explained as these are.

    Attributes
    ----------
    n_values : int
        How many different numbers, or rows of numbers, conventions print near the claims.
    n_printable : int
        How many can be printed there.
    most_changes : int
        Conventions with more changes are not counted.
    n_selections : int
        In how many ways as many of the claims can be chosen as are explained.
    of_the_rest : float
        At most this share of the numbers near the claims that were not counted is explained too.
    n_others : int
        Of how many of `n_drawn` rows that other runs would have at least as many numbers are explained.
    n_drawn : int
    """

    n_values: int
    n_printable: int
    most_changes: int
    n_selections: int = 1
    of_the_rest: float = 1.0
    n_others: int = 0
    n_drawn: int = 0

    @property
    def of_numbers(self) -> float:
        """The chance of arbitrary numbers, from 0 to 1."""
        return min(self.n_values / self.n_printable * self.of_the_rest * self.n_selections, 1.0)

    @property
    def of_other_runs(self) -> float:
        """The chance of the numbers of other runs, from 0 to 1; 0 if none were drawn."""
        return self.n_others / self.n_drawn if self.n_drawn else 0.0

    @property
    def value(self) -> float:
        """The higher of both."""
        return max(self.of_numbers, self.of_other_runs)


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


# --- one claim ---------------------------------------------------------------------------------------


def chance_of_claim(claim: ClaimAudit, most: int | None = None, others: Floats | None = None) -> Chance:
    """Count the numbers near a claim that named conventions print with so many changes.

    Parameters
    ----------
    claim : ClaimAudit
    most : int, optional
        If left out, as few as print the claim.
    others : ndarray, optional
        The means that other runs would have.
    """
    if most is None:
        changes = _changes(claim, NAMED).min(axis=0)
        printed = claim.prints[:, claim.run.of_setting] & claim.tried
        most = int(changes[printed].min(initial=int(changes.max())))
    values, n_printable = _values_near(claim, most), Window.of(claim.claim).size
    if others is None:
        return Chance(len(values), n_printable, most)
    n_others = int(np.isin(_places(claim, others), values).sum())
    return Chance(len(values), n_printable, most, n_others=n_others, n_drawn=len(others))


def _values_near(claim: ClaimAudit, most: int) -> Ints:
    """Return the places of the numbers near a claim that named conventions print with so many changes."""
    window = Window.of(claim.claim)
    codes = _codes(claim, window)[:, _changes(claim, NAMED).min(axis=0) <= most]
    values = np.unique(codes[codes != _NONE])
    return np.asarray(values - window.low, np.int64)


def n_values_near(claim: ClaimAudit) -> int:
    """Count the numbers near a claim that any convention prints."""
    codes = _codes(claim, Window.of(claim.claim))
    return len(np.unique(codes[codes != _NONE]))


def _changes(claim: ClaimAudit, bases: Sequence[NamedConvention]) -> Changes:
    """Count the changes from each base: by base, rounding, setting, cutoff, choice and query set."""
    family, cutoffs = claim.claim.family, claim.claim.cutoffs
    cutoff = np.array([rank != cutoffs[0] for rank in cutoffs], np.int8)
    found = []
    for base in (base for base in bases if base.has(family)):
        choice = [differences(each, base.choice(family)) for each in claim.choices]
        of_both = cutoff[:, None] + np.array(choice, np.int8)
        setting = changes_from(base.setting)
        found.append(setting[:, :, None, None, :] + of_both[:, :, None])
    return np.stack(found)


def _codes(claim: ClaimAudit, window: Window) -> Ints:
    """Return what is printed near a claim: by reading and way of rounding, then as `_changes`."""
    known = np.where(claim.tried, claim.means[claim.run.of_setting], np.nan)
    readings = [claim.claim, *filter(None, [claim.claim.other])]  # which have the same digits
    ways = [
        np.stack([_printed(known, reading.decimals, rounding.value, up) for rounding in Rounding])
        for reading in readings
        for up in (False, True)
    ]
    found = np.stack(ways)
    near = (found >= window.low) & (found <= window.high)  # no NaN is
    return np.where(near, found, _NONE).astype(np.int64)


def _places(claim: ClaimAudit, values: Floats) -> Ints:
    """Return the place of each value, as printed, among the numbers near a claim; -1 if it is not near."""
    window = Window.of(claim.claim)
    printed = np.nan_to_num(_printed(values, claim.claim.decimals, None, up=True), nan=window.high + 1)
    near = (printed >= window.low) & (printed <= window.high)
    return np.where(near, printed - window.low, _NONE).astype(np.int64)


def _printed(values: Floats, decimals: int, first_to: int | None, up: bool) -> Floats:
    """Return the digits of values that are rounded half up or half down, perhaps to some digits first."""
    units, step, reach = values * 10.0**decimals, 1.0, 0.5
    if first_to is not None:
        reach += 0.5 * 10.0 ** (decimals - first_to) if decimals < first_to else 0
        step = 10.0 ** max(decimals - first_to, 0)
    reach += _NOISE * 10.0**decimals / step
    rounded: Floats = np.floor(units / step + reach) if up else np.ceil(units / step - reach)
    return rounded * step


# --- several claims ----------------------------------------------------------------------------------


def joint_chance(
    claims: Sequence[ClaimAudit],
    most_changes: int,
    bases: Sequence[NamedConvention] = NAMED,
    usual: dict[str, Rank] | None = None,
    n_selections: int = 1,
    draw: Callable[[], Floats] | None = None,
) -> Chance:
    """Count the rows of numbers near claims that one convention prints with so many changes from a base.

    Of many claims some are counted; each of the others makes the share smaller by its own chance at least.

    Parameters
    ----------
    claims : sequence of ClaimAudit
    most_changes : int
    bases : sequence of NamedConvention
        From which changes are counted.
    usual : dict of str to Rank, optional
        By the name of the claim the cutoff that is no change; those that the names say if left out.
    n_selections : int
        In how many ways so many claims can be chosen.
    draw : callable, optional
        Returns the means of the claims that other runs would have; it is called if the chance is not large
        anyway.
    """
    every = claims
    claims, rest, n_printable = _some_of(claims)
    bases = [base for base in bases if all(base.has(claim.claim.family) for claim in claims)]
    changes = np.stack([changes_from(base.setting) for base in bases])
    n_ways = max(2 if claim.claim.other is None else 4 for claim in claims)
    changes = np.tile(changes.reshape(len(bases), -1), n_ways)
    families = _families(claims, n_ways, bases, usual)
    found, more = [np.zeros(0, np.int64)], 0
    for setting, digits in _alike(changes, families, most_changes):
        tables = [_least(row, family.changes) for row, family in zip(digits, families, strict=True)]
        if len(bases) * prod(len(rows) for rows, _ in tables) > _MOST_CELLS:
            more += prod(len(rows) for rows, _ in tables)
            continue
        rows, total = np.zeros(1, np.int64), setting[:, None]
        for numbers, extra in tables:
            rows = (rows[:, None] + numbers).ravel()
            total = (total[:, :, None] + extra[:, None]).reshape(len(bases), -1)
            few = (total <= most_changes).any(axis=0)
            rows, total = rows[few], total[:, few]
        found.append(rows)
    values = np.unique(np.concatenate(found))
    of_the_rest = _of_the_rest(rest, most_changes, n_selections)
    chance = Chance(len(values) + more, n_printable, most_changes, n_selections, of_the_rest)
    if draw is None or chance.value > HOPELESS:
        return chance
    drawn = draw()
    explained = _matched(every, drawn, most_changes).all(axis=1)
    if not more:
        explained &= np.isin(_joined(claims, drawn), values)
    return chance._replace(n_others=int(explained.sum()), n_drawn=len(drawn))


def with_others(chance: Chance, claims: Sequence[ClaimAudit], drawn: Floats, n_explained: int) -> Chance:
    """Return a chance with the other runs of which as many claims are explained, whichever these are."""
    matched = _matched(claims, drawn, chance.most_changes).sum(axis=1)
    return chance._replace(n_others=int((matched >= n_explained).sum()), n_drawn=len(drawn))


def _matched(claims: Sequence[ClaimAudit], drawn: Floats, most_changes: int) -> Bools:
    """Return which numbers of other runs conventions print near each claim, each alone."""
    columns = [
        np.isin(_places(claim, means), _values_near(claim, most_changes))
        for claim, means in zip(claims, drawn.T, strict=True)
    ]
    return np.column_stack(columns)


def _of_the_rest(claims: Sequence[ClaimAudit], most_changes: int, n_selections: int) -> float:
    """Return the product of the chances of claims, or of as many as matter."""
    found = 1.0
    for claim in claims:
        found *= chance_of_claim(claim, most_changes).value
        if found * n_selections < _ENOUGH:
            break
    return found


def reaches_of(claims: Sequence[ClaimAudit]) -> Floats:
    """Return how far the numbers near each claim are from it."""
    windows = (Window.of(claim.claim) for claim in claims)
    codes = [max(each.high - each.code, each.code - each.low) for each in windows]
    return np.array([code / 10**claim.claim.decimals for code, claim in zip(codes, claims, strict=True)])


def _joined(claims: Sequence[ClaimAudit], drawn: Floats) -> Ints:
    """Return the numbers of the first claims that other runs would have as one; -1 where one is not near."""
    total, radix = np.zeros(len(drawn), np.int64), 1
    for claim, values in zip(claims, drawn.T, strict=False):
        places = _places(claim, values)
        total = np.where((total == _NONE) | (places == _NONE), _NONE, total + places * radix)
        radix *= Window.of(claim.claim).size
    return total


def _some_of(claims: Sequence[ClaimAudit]) -> tuple[list[ClaimAudit], Sequence[ClaimAudit], int]:
    """Return the first claims, the rest, and how many rows could be printed near the first."""
    taken: list[ClaimAudit] = []
    n_printable = 1
    for claim in claims:
        n_printable *= Window.of(claim.claim).size
        if taken and n_printable > _MOST_ROWS:
            n_printable //= Window.of(claim.claim).size
            break
        taken.append(claim)
    return taken, claims[len(taken) :], n_printable


class _Family(NamedTuple):
    """The rows of numbers that one family of claims adds.

    Attributes
    ----------
    rows : ndarray of int64
        By setting, then by choice and cutoffs: the numbers as one, -1 if any is not near its claim.
    changes : ndarray of int8
        By base and by choice and cutoffs.
    """

    rows: Ints
    changes: Changes


def _families(
    claims: list[ClaimAudit], n_ways: int, bases: Sequence[NamedConvention], usual: dict[str, Rank] | None
) -> list[_Family]:
    found, radix = [], 1
    of_family: dict[str, list[tuple[ClaimAudit, Ints]]] = {}
    for claim in claims:
        window = Window.of(claim.claim)
        codes = _codes(claim, window)
        codes = np.concatenate([codes] * (n_ways // len(codes))).transpose(0, 1, 2, 5, 3, 4)
        place = np.where(codes == _NONE, _NONE, (codes - window.low) * radix)
        of_family.setdefault(claim.claim.family, []).append((claim, place.reshape(-1, *codes.shape[4:])))
        radix *= window.size
    for family, placed in of_family.items():
        names = {claim.claim.name: claim.claim.cutoffs for claim, _ in placed}
        choices = np.array(
            [[differences(each, base.choice(family)) for each in placed[0][0].choices] for base in bases]
        )
        rows, changes = [], []
        for cutoffs in product(*(range(len(ranks)) for ranks in names.values())):
            at = dict(zip(names, cutoffs, strict=True))
            parts = [place[:, at[claim.claim.name]] for claim, place in placed]
            known = np.logical_and.reduce([part != _NONE for part in parts])
            rows.append(np.where(known, sum(parts), _NONE))
            first = {name: ranks[0] if usual is None else usual[name] for name, ranks in names.items()}
            changed = sum(names[name][place] != first[name] for name, place in at.items())
            changes.append(choices + changed)
        found.append(_Family(np.concatenate(rows, axis=1), np.concatenate(changes, axis=1).astype(np.int8)))
    return found


def _alike(changes: Changes, families: list[_Family], most: int) -> Iterator[tuple[Changes, list[Ints]]]:
    """Yield the rows of each family under settings that print the same, and the fewest changes by base."""
    groups: dict[bytes, list[int]] = {}
    for number in np.flatnonzero(changes.min(axis=0) <= most).tolist():
        rows = [family.rows[number] for family in families]
        if all((each != _NONE).any() for each in rows):
            groups.setdefault(b"".join(each.tobytes() for each in rows), []).append(number)
    for alike in groups.values():
        yield changes[:, alike].min(axis=1), [family.rows[alike[0]] for family in families]


def _least(rows: Ints, changes: Changes) -> tuple[Ints, Changes]:
    """Return the different rows that are near, and the fewest changes of each by base."""
    order = np.argsort(rows, kind="stable")
    order = order[np.searchsorted(rows[order], 0) :]
    found, starts = np.unique(rows[order], return_index=True)
    return found, np.minimum.reduceat(changes[:, order], starts, axis=1)
