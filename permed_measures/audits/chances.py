"""What a match is worth: how easily conventions print numbers that have nothing to do with the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.audits.conventions import NAMED, NamedConvention, differences
from permed_measures.audits.matches import ClaimAudit
from permed_measures.audits.near_numbers import (
    NONE,
    Window,
    changes_of,
    codes_of,
    places_of,
    values_near,
)
from permed_measures.audits.options import Rank
from permed_measures.audits.tried import Changes, changes_from

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_MOST_ROWS = 10**15
"""Claims are taken together until so many rows could be printed; with more the chance is smaller still."""
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


# --- one claim ---------------------------------------------------------------------------------------


def chance_of_claim(
    claim: ClaimAudit,
    most: int | None = None,
    others: Floats | None = None,
    bases: Sequence[NamedConvention] = NAMED,
    usual: dict[str, Rank] | None = None,
) -> Chance:
    """Count the numbers near a claim that conventions print with so many changes from a base.

    Parameters
    ----------
    claim : ClaimAudit
    most : int, optional
        If left out, as few as print the claim.
    others : ndarray, optional
        The means that other runs would have.
    bases : sequence of NamedConvention
    usual : dict of str to Rank, optional
        By the name of the claim the cutoff that is no change; those that the names say if left out.
    """
    if most is None:
        changes = changes_of(claim, bases, usual).min(axis=0)
        printed = claim.prints[:, claim.run.of_setting] & claim.tried
        most = int(changes[printed].min(initial=int(changes.max())))
    values, n_printable = values_near(claim, most, bases, usual), Window.of(claim.claim).size
    if others is None:
        return Chance(len(values), n_printable, most)
    n_others = int(np.isin(places_of(claim, others), values).sum())
    return Chance(len(values), n_printable, most, n_others=n_others, n_drawn=len(others))


# --- several claims ----------------------------------------------------------------------------------


class Counting(NamedTuple):
    """What is counted: conventions with so many changes from one of the bases.

    Attributes
    ----------
    most_changes : int
    bases : sequence of NamedConvention
    usual : dict of str to Rank or None
        By the name of the claim the cutoff that is no change; those that the names say if None.
    """

    most_changes: int
    bases: Sequence[NamedConvention] = NAMED
    usual: dict[str, Rank] | None = None

    def near(self, claim: ClaimAudit) -> Ints:
        """Return the places of the numbers near a claim that these conventions print."""
        return values_near(claim, *self)


def joint_chance(
    claims: Sequence[ClaimAudit],
    most_changes: int,
    bases: Sequence[NamedConvention] = NAMED,
    usual: dict[str, Rank] | None = None,
    n_selections: int = 1,
) -> Chance:
    """Count the rows of numbers near claims that one convention prints with so many changes from a base.

    Of many claims some are counted; each of the others makes the share smaller by its own chance at least.
    In `n_selections` ways so many claims can be chosen.
    """
    counting = Counting(most_changes, bases, usual)
    return rows_near(claims, counting).chance(counting, n_selections)


class Rows(NamedTuple):
    """The rows of numbers near claims that conventions print.

    Attributes
    ----------
    claims : list of ClaimAudit
        Those that are counted.
    rest : sequence of ClaimAudit
    values : ndarray of int64
        The rows, each as one number.
    n_more : int
        How many more there are at most.
    n_printable : int
        How many could be printed.
    """

    claims: list[ClaimAudit]
    rest: Sequence[ClaimAudit]
    values: Ints
    n_more: int
    n_printable: int

    def chance(self, counting: Counting, n_selections: int) -> Chance:
        """Return the chance of arbitrary numbers."""
        of_the_rest = 1.0
        for claim in self.rest:
            of_the_rest *= chance_of_claim(claim, counting.most_changes, None, *counting[1:]).value
            if of_the_rest * n_selections < _ENOUGH:
                break
        n_values = len(self.values) + self.n_more
        return Chance(n_values, self.n_printable, counting.most_changes, n_selections, of_the_rest)

    def have(self, drawn: Floats) -> Bools:
        """Return which rows of other numbers are among these, where all rows are known."""
        if self.n_more:
            return np.ones(len(drawn), np.bool_)
        total, radix = np.zeros(len(drawn), np.int64), 1
        for claim, values in zip(self.claims, drawn.T, strict=False):
            places = places_of(claim, values)
            total = np.where((total == NONE) | (places == NONE), NONE, total + places * radix)
            radix *= Window.of(claim.claim).size
        return np.isin(total, self.values)


def rows_near(claims: Sequence[ClaimAudit], counting: Counting) -> Rows:
    """Find the rows of numbers near claims that one convention prints."""
    most, usual = counting.most_changes, counting.usual
    taken, n_printable = _some_of(claims)
    bases = [base for base in counting.bases if all(base.has(claim.claim.family) for claim in taken)]
    changes = np.stack([changes_from(base.setting) for base in bases])
    n_ways = max(2 if claim.claim.other is None else 4 for claim in taken)
    changes = np.tile(changes.reshape(len(bases), -1), n_ways)
    families = _families(taken, n_ways, bases, usual)
    found, more = [np.zeros(0, np.int64)], 0
    for setting, digits in _alike(changes, families, most):
        tables = [_least(row, family.changes) for row, family in zip(digits, families, strict=True)]
        if len(bases) * prod(len(rows) for rows, _ in tables) > _MOST_CELLS:
            more += prod(len(rows) for rows, _ in tables)
        else:
            found.append(_with_few_changes(setting, tables, most))
    return Rows(taken, claims[len(taken) :], np.unique(np.concatenate(found)), more, n_printable)


def _with_few_changes(setting: Changes, tables: list[tuple[Ints, Changes]], most: int) -> Ints:
    """Return the rows of all families that have few changes together with a setting."""
    rows, total = np.zeros(1, np.int64), setting[:, None]
    for numbers, extra in tables:
        rows = (rows[:, None] + numbers).ravel()
        total = (total[:, :, None] + extra[:, None]).reshape(len(setting), -1)
        few = (total <= most).any(axis=0)
        rows, total = rows[few], total[:, few]
    return rows


def with_others(
    chance: Chance,
    claims: Sequence[ClaimAudit],
    counting: Counting,
    drawn: Floats,
    n_explained: int,
    rows: Rows | None,
) -> Chance:
    """Return a chance with the other runs of which as many claims are explained, whichever these are.

    `rows` are those of all claims, if all are explained.
    """
    columns = [
        np.isin(places_of(claim, means), counting.near(claim))
        for claim, means in zip(claims, drawn.T, strict=True)
    ]
    explained = np.column_stack(columns).sum(axis=1) >= n_explained
    if rows is not None:
        explained &= rows.have(drawn)
    return chance._replace(n_others=int(explained.sum()), n_drawn=len(drawn))


def _some_of(claims: Sequence[ClaimAudit]) -> tuple[list[ClaimAudit], int]:
    """Return the first claims, and how many rows could be printed near them."""
    taken: list[ClaimAudit] = []
    n_printable = 1
    for claim in claims:
        n_printable *= Window.of(claim.claim).size
        if taken and n_printable > _MOST_ROWS:
            n_printable //= Window.of(claim.claim).size
            break
        taken.append(claim)
    return taken, n_printable


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
        codes = codes_of(claim, window)
        codes = np.concatenate([codes] * (n_ways // len(codes))).transpose(0, 1, 2, 5, 3, 4)
        place = np.where(codes == NONE, NONE, (codes - window.low) * radix)
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
            known = np.logical_and.reduce([part != NONE for part in parts])
            rows.append(np.where(known, sum(parts), NONE))
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
        if all((each != NONE).any() for each in rows):
            groups.setdefault(b"".join(each.tobytes() for each in rows), []).append(number)
    for alike in groups.values():
        yield changes[:, alike].min(axis=1), [family.rows[alike[0]] for family in families]


def _least(rows: Ints, changes: Changes) -> tuple[Ints, Changes]:
    """Return the different rows that are near, and the fewest changes of each by base."""
    order = np.argsort(rows, kind="stable")
    order = order[np.searchsorted(rows[order], 0) :]
    found, starts = np.unique(rows[order], return_index=True)
    return found, np.minimum.reduceat(changes[:, order], starts, axis=1)
