"""Measures as sums over the ranks of a list: what a document adds where it stands.

A document of grade g at rank i adds `gains`, given the documents before it, times a scale that the query has.
What stands below the ranks that are looked at one by one adds something between two bounds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.judgments import Ints
from permed_measures.engine.kernels.graded import DISCOUNTS
from permed_measures.limits.query_classes import Cases

Floats = NDArray[np.float64]
_Terms = Callable[[int], Floats]
"""What returns the first n terms of a sum."""


class States(NamedTuple):
    """How far a list has come: the documents that are used, and those that are left, by grade."""

    grades: Floats
    used: Ints
    left: Ints

    def n_relevant(self, level: float) -> Ints:
        """Return how many relevant documents were used."""
        found: Ints = self.used[:, self.grades >= level].sum(axis=1)
        return found

    def n_left(self, level: float) -> Ints:
        """Return how many relevant documents are left."""
        found: Ints = self.left[:, self.grades >= level].sum(axis=1)
        return found


@dataclass(frozen=True)
class Formula(ABC):
    """A measure as a sum over ranks.

    Attributes
    ----------
    cutoff : int or None
    level : float
        The lowest relevant grade, -inf if all grades count.
    over : str
        What the sum is divided by; for nDCG, which list is the ideal one.
    weights : tuple of float
        Of the documents of each grade; empty if only their level counts.
    """

    cutoff: int | None
    level: float
    over: str = ""
    weights: tuple[float, ...] = ()

    @property
    def needs_found(self) -> bool:
        """Whether the scale depends on the documents within the cutoff."""
        return self.over in ("num_rel_ret", "all")

    def scales(self, cases: Cases) -> list[Floats]:
        """Return what the sum is multiplied by in each case: one number, or two that it may be between."""
        return [_inverse(_denominator(self, cases))]

    def essence(self, cases: Cases) -> tuple[object, ...]:
        """Return what tells it from other formulas on the same queries; equal ones have equal values."""
        if self.needs_found:
            return (self,)
        relevant = cases.grades >= self.level
        [scale] = self.scales(cases)
        added = np.outer(scale, np.where(relevant, self.weights or 1.0, 0.0)).round(12).tobytes()
        return (type(self), self.cutoff, self.kind, relevant.tobytes(), added)

    @property
    def kind(self) -> object:
        """What else makes a difference to what documents add."""
        return None

    @abstractmethod
    def gains(self, states: States, rank: int) -> Floats:
        """Return what a document of each grade adds at a rank, by state and grade."""

    @abstractmethod
    def beyond(self, states: States, depth: int) -> tuple[Floats, Floats]:
        """Return the least and the most that ranks below `depth` add to the sum."""


@dataclass(frozen=True)
class HitCount(Formula):
    """Relevant documents within the cutoff, divided: precision, recall and F1.

    `mean` is the mean number of relevant documents, for a micro average.
    """

    mean: float = 1.0

    def gains(self, states: States, rank: int) -> Floats:  # noqa: ARG002 (the interface)
        """Return 1 for relevant documents."""
        return np.tile((states.grades >= self.level).astype(np.float64), (len(states.used), 1))

    def beyond(self, states: States, depth: int) -> tuple[Floats, Floats]:
        """Return 0, and all that are left and have a place."""
        most = np.minimum(states.n_left(self.level), slots_below(depth, self.cutoff))
        return _zeros(states), most.astype(np.float64)


@dataclass(frozen=True)
class FirstHit(Formula):
    """Something for the first relevant document: RR, Success, or 1 only where all are found."""

    reciprocal: bool = False

    @property
    def kind(self) -> object:
        """Whether the rank counts."""
        return self.reciprocal

    def gains(self, states: States, rank: int) -> Floats:
        """Return the value of the first relevant document."""
        first = states.n_relevant(self.level) == 0
        value = 1 / rank if self.reciprocal else 1.0
        gained: Floats = value * (first[:, None] & (states.grades >= self.level))
        return gained

    def beyond(self, states: States, depth: int) -> tuple[Floats, Floats]:
        """Return 0, and the value of a relevant document at the next rank, if there is none yet."""
        may = (states.n_relevant(self.level) == 0) & (states.n_left(self.level) > 0)
        may &= slots_below(depth, self.cutoff) > 0
        return _zeros(states), may * (1 / (depth + 1) if self.reciprocal else 1.0)


class WeightedPrecisions(Formula):
    """Average precision: precision times weight at each relevant document, divided."""

    def gains(self, states: States, rank: int) -> Floats:
        """Return the precision at the rank, times the weight."""
        precision: Floats = (states.n_relevant(self.level) + 1) / rank
        return precision[:, None] * np.where(states.grades >= self.level, self.weights, 0.0)

    def beyond(self, states: States, depth: int) -> tuple[Floats, Floats]:
        """Return 0, and what the others add one after the other, the heaviest last, as precision rises."""
        weights = np.where(states.grades >= self.level, self.weights, 0.0)
        order = [g for g in np.argsort(weights, kind="stable").tolist() if states.grades[g] >= self.level]
        taken = _taken(states.left, reversed(order), slots_below(depth, self.cutoff))
        harmonic = _cumulated(lambda n: 1 / np.arange(1, n + 1), depth + _longest(taken))
        before, total = states.n_relevant(self.level), _zeros(states)
        for g, start, end in _one_after_another(taken, order):
            # (before + j) / (depth + j) is 1 + (before - depth) / (depth + j)
            rest = harmonic[depth + end] - harmonic[depth + start]
            total += weights[g] * (end - start + (before - depth) * rest)
        return _zeros(states), total


@dataclass(frozen=True)
class DiscountedGains(Formula):
    """nDCG; its weights are gains."""

    discount: str = "log2"

    @property
    def needs_found(self) -> bool:
        """Whether the ideal list is made of the retrieved documents."""
        return self.over in ("cutoff", "run")

    @property
    def kind(self) -> object:
        """The discount."""
        return self.discount

    def scales(self, cases: Cases) -> list[Floats]:
        """Return one over the ideal; that of a run is between those of the first k and of all judged."""
        gain = np.array(self.weights)
        k = None if self.over == "uncut" else self.cutoff
        whole = _inverse(_ideal_sum(cases.counts, gain, self._discounts, k, cases.zeros))
        if not self.needs_found:
            return [whole]
        first = _inverse(_ideal_sum(cases.found, gain, self._discounts, k))
        return [first] if self.over == "cutoff" else [first, whole]

    def _discounts(self, n: int) -> Floats:
        return DISCOUNTS[self.discount](np.arange(1, n + 1, dtype=np.int32))

    def gains(self, states: States, rank: int) -> Floats:
        """Return the gain, discounted."""
        return np.tile(np.array(self.weights) * self._discounts(rank)[-1], (len(states.used), 1))

    def beyond(self, states: States, depth: int) -> tuple[Floats, Floats]:
        """Return what the negative ones add one after the other, and what the others add."""
        slots = slots_below(depth, self.cutoff)
        up = np.argsort(self.weights, kind="stable").tolist()
        low, high = _zeros(states), _zeros(states)
        for order, total in (
            ([g for g in up if self.weights[g] < 0], low),
            ([g for g in reversed(up) if self.weights[g] > 0], high),
        ):
            taken = _taken(states.left, order, slots)
            cumulated = _cumulated(self._discounts, depth + _longest(taken))
            for g, start, end in _one_after_another(taken, order):
                total += self.weights[g] * (cumulated[depth + end] - cumulated[depth + start])
        return low, high


# --- sums --------------------------------------------------------------------------------------------


def _denominator(formula: Formula, cases: Cases) -> Floats:
    """Return what the sum of a formula is divided by; 0 where the measure is 0."""
    relevant = cases.grades >= formula.level
    num_rel, found = (counts[:, relevant].sum(axis=1) for counts in (cases.counts, cases.found))
    k = np.inf if formula.cutoff is None else formula.cutoff
    weights = np.where(relevant, formula.weights or 1.0, 0.0)
    of: dict[str, Callable[[], Floats | Ints]] = {
        "": lambda: np.ones(len(num_rel)),
        "none": lambda: np.ones(len(num_rel)),
        "cutoff": lambda: np.full(len(num_rel), k),
        "num_rel": lambda: num_rel,
        "min": lambda: np.minimum(num_rel, k),
        "mean": lambda: np.full(len(num_rel), getattr(formula, "mean", 1.0)),
        "both": lambda: (num_rel + k) / 2,  # F1 at one cutoff is 2 hits / (k + R)
        "num_rel_ret": lambda: found,
        "all": lambda: found == num_rel,
        "gain": lambda: cases.counts @ weights,
        "ideal": lambda: _ideal_sum(cases.counts, weights, np.ones, formula.cutoff),
    }
    return np.asarray(of[formula.over](), np.float64)


def _inverse(denominator: Floats) -> Floats:
    """Return one over the denominator, and 0 where that is not above 0."""
    return np.divide(1.0, denominator, out=np.zeros(len(denominator)), where=denominator > 0)


def _zeros(states: States) -> Floats:
    return np.zeros(len(states.used))


def slots_below(depth: int, cutoff: int | None) -> int:
    """Return how many ranks there are from `depth` to the cutoff."""
    return np.iinfo(np.int32).max if cutoff is None else max(cutoff - depth, 0)


def _taken(left: Ints, order: Iterable[int], slots: int) -> Ints:
    """Return how many documents of each grade have a place; the first in the order take theirs first."""
    taken, free = np.zeros_like(left), np.full(len(left), slots, np.int64)
    for g in order:
        taken[:, g] = np.minimum(left[:, g], free)
        free -= taken[:, g]
    return taken


def _longest(taken: Ints) -> int:
    return int(taken.sum(axis=1).max(initial=0))


def _one_after_another(taken: Ints, order: Iterable[int]) -> Iterator[tuple[int, Ints, Ints]]:
    """Yield each grade with the places before its first document and at its last."""
    end = np.zeros(len(taken), np.int64)
    for g in order:
        start, end = end, end + taken[:, g]
        yield g, start, end


def _cumulated(terms: _Terms, n: int) -> Floats:
    return np.concatenate([[0.0], np.cumsum(terms(n))])


def _ideal_sum(
    counts: Ints, gain: Floats, discounts: _Terms, cutoff: int | None, zeros: Ints | None = None
) -> Floats:
    """Return the discounted gains of the ideal list; documents of grade 0 stand before those that lose."""
    if zeros is not None and (gain < 0).any():
        counts = np.column_stack([counts, zeros])
        gain = np.append(gain, 0.0)
    order = np.argsort(-gain, kind="stable").tolist()
    taken = _taken(counts, order, slots_below(0, cutoff))
    cumulated = _cumulated(discounts, _longest(taken))
    total = np.zeros(len(counts))
    for g, start, end in _one_after_another(taken, order):
        total += gain[g] * (cumulated[end] - cumulated[start])
    return total
