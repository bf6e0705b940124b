"""The conventions that give the numbers of a function: all others are ruled out, case by case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.conventions.named import NamedConvention
from permed_measures.conventions.options import (
    DEFAULT,
    FIRST_DIGITS,
    OF_ALL,
    OPTIONS,
    SHARED,
    Options,
    seen_by,
    value_of,
)
from permed_measures.conventions.runs import RunVariants
from permed_measures.conventions.spaces import Codes, Quantity, Space
from permed_measures.conventions.values import label_policies
from permed_measures.engine.judgments import Judgments
from permed_measures.errors import warnings_about
from permed_measures.identities.cases import DOMAINS, Case
from permed_measures.papers.names import MEANT, Rank

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Claimed(NamedTuple):
    """What a function is said to compute: a name, and the measure and cutoffs that it may mean."""

    name: str
    measure: str
    cutoffs: tuple[Rank, ...]

    def of(self, case: Case) -> Quantity:
        """Return the measure of a case, which any convention computes."""
        with warnings_about(None):
            policies = label_policies(Judgments.of(case.qrels))
            run = RunVariants(policies, case.run, all_ties=self.measure not in MEANT)
        return Quantity(*self, run)


class Asked(NamedTuple):
    """A case, its measure by any convention, and what the function says: a number, or how it raises."""

    case: Case
    quantity: Quantity
    value: float = np.nan
    error: Exception | None = None


class Reading(NamedTuple):
    """How numbers of a function are read: over what, how far from ours they may be, and what that is."""

    over: float = 1.0
    reach: float = 1e-9
    note: str = ""

    def same(self, ours: float, theirs: float) -> bool:
        """Return whether a number of the function is one of ours."""
        return abs(ours - theirs / self.over) <= self.reach


def readings(asked: Sequence[Asked]) -> Iterator[Reading]:
    """Yield how numbers may be read: as they are; if they look so, in single precision, rounded, percent."""
    values = np.array([each.value for each in asked])
    of_one = np.array([each.value for each in asked if len(each.case.run) == 1])
    for over, percent in (1.0, ""), (100.0, "in percent"):
        if over == 1 or values.max() > 1:
            yield Reading(over, note=percent)
            if (of_one == of_one.astype(np.float32)).all():
                yield Reading(over, 1e-6, ", ".join(filter(None, [percent, "in single precision"])))
            if (digits := next((n for n in range(1, 8) if _have(of_one, n)), None)) is not None:
                note = ", ".join(filter(None, [percent, f"rounded to {digits} digits"]))
                yield Reading(over, 0.5 / 10**digits / over + 1e-9, note)


def _have(values: Floats, digits: int) -> bool:
    """Return whether numbers have so many digits."""
    units = values * 10**digits
    return bool((np.abs(units - np.round(units)) < 1e-6).all())


def number(quantity: Quantity, convention: Options) -> float:
    """Return what a convention gives, rounded as it says; NaN if it means nothing."""
    digits, value = FIRST_DIGITS[convention["rounding"]], quantity.value(convention)
    return value if digits is None else round(value, digits)


def space_of(claimed: Claimed, asked: Sequence[Asked], named: Sequence[NamedConvention]) -> Space[Quantity]:
    """Return all conventions of a measure; what it has for itself takes the place of what all have."""
    own = [
        each._replace(
            options={
                option: value if _has(claimed.measure, option, value) else DEFAULT[option]
                for option, value in seen_by(claimed.measure, each.options).items()
                if option not in OF_ALL
            }
        )
        for each in named
    ]
    quantities = sorted((each.quantity for each in asked), key=lambda each: -len(each.run.labels.levels))
    return Space(quantities, own)


def _has(measure: str, option: str, value: object) -> bool:
    """Return whether a measure has a value; a convention may have it for others."""
    measures = value_of(option, value).measures
    return not measures or measure in measures


_OFTEN = 10
"""An answer gives a number on one of so many cases at least."""
_FIRST = 2
"""A convention that gives none on the first cases, with highest grades 3 and 2, never does."""
_SOON = 8
"""Nor does one that gives none on the first of the cases on which values of an option differ."""
OF_QUERIES = ("queries", "averaged")
"""The options that make no difference to a query that is alone."""


class Search:
    """Conventions that give the numbers of a function.

    Parameters
    ----------
    space : Space
        All conventions that are tried.
    asked : sequence of Asked
        Cases on which the function has a number.
    reading : Reading
    """

    def __init__(self, space: Space[Quantity], asked: Sequence[Asked], reading: Reading) -> None:
        self.space, self.asked, self.reading = space, asked, reading

    def agree(self, each: Asked, near: Codes) -> tuple[Bools, Bools]:
        """Return which conventions give no other number, and which give one at all."""
        off = self._off(each, near)
        return ~(off > self.reading.reach), ~np.isnan(off)

    def _off(self, each: Asked, near: Codes) -> Floats:
        """Return how far off the number of the function is; NaN where a convention means nothing."""
        at, ways = self.space.options.index("rounding"), self.space.numbered("rounding")
        digits = np.array([FIRST_DIGITS[way] or 0 for way in ways])[near[:, at]]
        exact = near.copy()
        exact[digits > 0, at] = ways.index("exact")
        values, theirs = self.space.computed(each.quantity, exact), each.value / self.reading.over
        off = np.abs(values - theirs)
        for n in set(digits[digits > 0].tolist()):
            rows, unit = digits == n, 10.0**-n
            if abs(theirs / unit - round(theirs / unit)) < 1e-4:  # half a unit may be rounded up or down
                off[rows] = np.maximum(off[rows] - unit / 2, 0)
            else:
                off[rows] = np.abs(np.round(values[rows], n) - theirs)
        return off

    def survivors(self) -> tuple[Codes, list[str]]:
        """Return all conventions that never give another number, and in which domains they do."""
        near = self._survivors([each for each in self.asked if not {*each.case.traits} & {*DOMAINS}])
        differ = []
        for domain in DOMAINS if len(near) else ():
            inside = [each for each in self.asked if domain in each.case.traits]
            agree = np.logical_and.reduce(
                [self.agree(each, near)[0] for each in inside] or [np.ones(len(near), bool)]
            )
            if agree.any():
                near = near[agree]
            else:
                differ.append(domain)
        return near, differ

    def _survivors(self, asked: Sequence[Asked]) -> Codes:
        """Return the conventions that give no other number, and numbers where their values can differ.

        Of values that surely are the same on the cases so far, the first stands for all; a value is crossed
        with the others when a case tells it apart. A number is to the credit of an option only where its
        values can differ: on a tenth of these cases at least a convention must give one.
        """
        near, merged = self._crossed(asked[0])
        groups, known = dict(merged), np.zeros_like(near)
        n_differ = np.zeros(known.shape[1], np.int64)
        soon = np.array([_SOON if at in groups else _FIRST for at in range(len(n_differ))])
        for each in asked:
            alike = {at: self._alike(each, at) for at in groups}
            for at in [at for at in merged if not alike[at] >= merged[at]]:
                rest = merged[at] & alike[at]
                near, known = _split(near, known, at, merged.pop(at), rest)
                if len(rest) > 1:
                    merged[at] = rest
            agree, computed = self.agree(each, near)
            differ = np.array([at not in groups or not alike[at] >= groups[at] for at in range(len(soon))])
            known, n_differ = known + (computed[:, None] & differ), n_differ + differ
            kept: Bools = agree & (known[:, n_differ >= soon] > 0).all(axis=1)
            near, known = near[kept], known[kept]
            if not len(near):
                return near
        for at, group in merged.items():
            near, known = _split(near, known, at, group, set())
        least = np.where(n_differ, np.maximum(n_differ / _OFTEN, 1), 0)
        return np.asarray(near[(known >= least).all(axis=1)])

    def _crossed(self, first: Asked) -> tuple[Codes, dict[int, set[int]]]:
        """Cross the values of all options; of those that are alike on a case, the first stands for all."""
        merged = {
            at: group for at in range(len(self.space.options)) if len(group := self._alike(first, at)) > 1
        }
        values = []
        for at, option in enumerate(self.space.options):
            others = sorted(merged.get(at, ()))[1:]
            values.append([n for n in range(len(self.space.numbered(option))) if n not in others])
        if not _have(np.array([each.value / self.reading.over for each in self.asked if each.case.alone]), 5):
            values[self.space.options.index("rounding")] = [self.space.numbered("rounding").index("exact")]
        return np.stack(np.meshgrid(*values, indexing="ij"), -1).reshape(-1, len(values)), merged

    def _alike(self, each: Asked, at: int) -> set[int]:
        """Return the numbers of the values of an option that surely are the same on a case."""
        option = self.space.options[at]
        values, run = self.space.numbered(option), each.quantity.run
        if option in OF_QUERIES and each.case.alone:
            return {*range(len(values))}
        if option == "level" and not any(0 < grade < 1 for grade in run.labels.grades):
            return {n for n, value in enumerate(values) if value <= 1}
        alike = {*run.alike(option)}
        if option in SHARED and option not in (*OF_QUERIES, "labels", "rounding"):
            every = [{**DEFAULT, "labels": labels} for labels in OPTIONS["labels"].values]
            alike |= {v for v in values if all(run.ranked({**e, option: v}) is run.ranked(e) for e in every)}
        return {n for n, value in enumerate(values) if value in alike}

    def nearest(self) -> tuple[Codes, int]:
        """Return a convention that agrees on the most cases, and on how many: from a named one uphill."""
        near = np.unique([self.space.codes(base) for _, base in self.space.bases], axis=0)
        best, most = near[0], -1
        while int((scores := self._scored(near)).max()) > most:
            best, most = near[scores.argmax()], int(scores.max())
            others = self.space.neighbours(self.space.convention(best))
            near = np.array([self.space.codes(other) for _, _, other in others])
        return best, most

    def _scored(self, near: Codes) -> Floats:
        """Return on how many cases each convention gives the number, and as a fraction how nearly."""
        scores = np.zeros(len(near))
        for each in self.asked:
            off = self._off(each, near)
            off = np.where(np.isnan(off), 1, np.minimum(off, 1))
            scores += (off <= self.reading.reach) - off / (len(self.asked) + 1)
        return scores + len(self.asked) / (len(self.asked) + 1)


def _split(near: Codes, known: Codes, at: int, group: set[int], rest: set[int]) -> tuple[Codes, Codes]:
    """Cross conventions with the values of an option for which the first stood, but for the rest.

    For the rest the first of them stands from here on.
    """
    first, *others = sorted(group)
    others = [each for each in others if each not in rest or (first not in rest and each == min(rest))]
    rows = near[:, at] == first
    copies = np.tile(near[rows], (len(others), 1))
    copies[:, at] = np.repeat(others, rows.sum())
    return np.concatenate([near, copies]), np.concatenate([known, np.tile(known[rows], (len(others), 1))])
