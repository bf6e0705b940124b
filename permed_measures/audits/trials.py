"""Claims about runs, each computed by any convention and compared with what was printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.conventions.means import QUERIES, place, values_of_queries
from permed_measures.conventions.named import NAMED
from permed_measures.conventions.options import FIRST_DIGITS, Options
from permed_measures.conventions.runs import RunVariants, options_for
from permed_measures.conventions.spaces import Codes, Near, Quantity, Space
from permed_measures.conventions.values import Ranked
from permed_measures.papers.claims import EXACT, Claim

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
        code = int(EXACT.multiply(claim.value, unit))
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
        Read as percent or not, as it is nearer to what a named convention gives.
    cell : str
        The number that is printed there; another one is claimed after it was exchanged.
    """

    def __init__(self, row: str, claim: Claim, run: RunVariants) -> None:
        super().__init__(claim.name, claim.measure, claim.cutoffs, run)
        self.row, self.claim, self.cell = row, self._read(claim), claim.text
        self.window = Window.of(self.claim)
        self._readings = [self.claim, *filter(None, [self.claim.other])]
        self._of_any_run: dict[object, bool] = {}

    def about(self, claim: Claim) -> Trial:
        """Return the trial of another claim of the same measure."""
        return Trial(self.row, claim, self.run)

    def _read(self, claim: Claim) -> Claim:
        """Return a claim that may be in percent as it is read; what is printed is the nearer one."""
        if (other := claim.other) is None:
            return claim
        bases = [named.at({claim.name: claim.cutoffs[0]}) for named in NAMED if named.has(claim.measure)]
        values = np.array([self.value(base) for base in bases])
        is_nearer = other.distance(values) < claim.distance(values)
        return other._replace(other=claim._replace(other=None)) if is_nearer else claim

    def prints(self, convention: Options) -> bool:
        """Return whether a convention prints the claim, and not for any run."""
        value = np.array([self.value(convention)])
        printed = self.are_printed(self.codes(value, FIRST_DIGITS[self.own(convention)["rounding"]]))[0]
        return bool(printed) and not self.is_of_any_run(convention)

    def is_of_any_run(self, convention: Options) -> bool:
        """Return whether any run has the same value, as what counts is chosen by hits or judgments.

        Then each query that counts has it, and so it is if the lists are turned upside down.
        """
        own, cutoff = self.own(convention), self.cutoff(convention)
        chosen = any(own[option] == value for option, value in _CHOSEN)
        ranked = self.run.ranked(own) if chosen else None
        if ranked is None:
            return False
        options = options_for(self.measure, own)
        key = (id(ranked), cutoff, own["queries"], *options.values())  # the run keeps the ranking
        if key not in self._of_any_run:
            sets = self.run.sets(ranked, cutoff)
            counts = sets.weights[place(own["queries"])] > 0
            values = values_of_queries(self.measure, cutoff, options, ranked)[counts]
            alike = bool(len(values)) and bool(np.ptp(values) <= NOISE)
            self._of_any_run[key] = alike and self._is_turned(own, ranked, values[0])
        return self._of_any_run[key]

    def _is_turned(self, own: Options, ranked: Ranked, value: float) -> bool:
        """Return whether each query that counts has a value if the lists are turned upside down."""
        turned, cutoff = ranked.upside_down, self.cutoff(own)
        options = options_for(self.measure, own)
        options = {**options, "tied": "in_order"} if "tied" in options else options
        values = values_of_queries(self.measure, cutoff, options, turned)
        counts = QUERIES[own["queries"]](self.run.known_queries(turned, cutoff))[: len(values)]
        return bool((np.abs(values[counts] - value) <= NOISE).all())

    def are_printed(self, codes: Floats) -> Bools:
        """Return for each row of codes whether the claim is among them."""
        low, high, code = codes[:, ::2], codes[:, 1::2], float(self.window.code)
        return np.asarray(((low <= code) & (code <= high)).any(axis=1))

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


_LARGE, _ENOUGH = 100, 40
"""A table with more claims is large: about so many of them are looked at where all would say no more."""


def of_some_rows(trials: Sequence[Trial]) -> list[Trial]:
    """Return the claims of some rows of a large table, spread evenly over their names; of others all."""
    rows = sorted({trial.row for trial in trials})
    n_kept = max(_ENOUGH * len(rows) // len(trials), 1) if len(trials) > _LARGE else len(rows)
    kept = {rows[place * len(rows) // n_kept] for place in range(n_kept)}
    return [trial for trial in trials if trial.row in kept]


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
        """Compute a claim by conventions, once by those that are the same to it."""
        numbers = space.as_seen(trial, trial.options, near)
        _, first, which = np.unique(numbers, return_index=True, return_inverse=True)
        return cls._by_each(space, trial, near[first]).at(which)

    def at(self, rows: NDArray[np.integer[Any]]) -> Tried:
        """Return it by some of the conventions."""
        return Tried(self.values[rows], self.codes[rows], self.prints[rows])

    @classmethod
    def _by_each(cls, space: Space[Trial], trial: Trial, near: Codes) -> Tried:
        values = space.computed(trial, near)
        codes = trial.codes(values, None)
        for way, digits in FIRST_DIGITS.items():
            if digits is not None:
                twice = space.has(trial, "rounding", way, near)
                codes[twice] = trial.codes(values[twice], digits)
        prints = trial.are_printed(codes)
        prints[_of_any_run(space, trial, near, prints)] = False
        return cls(values, codes, prints)


class Tries:
    """Claims by the conventions of a space, near ones after near ones.

    What a measure has for itself changes no claim of another one, so that these are computed once.
    """

    def __init__(self, space: Space[Trial]) -> None:
        self._space = space
        self._plain: Codes | None = None
        self._known: dict[Trial, Tried] = {}

    def of(self, trial: Trial, near: Near) -> Tried:
        """Compute a claim by conventions."""
        if near.plain is None or near.measure == trial.measure:
            return Tried.of(self._space, trial, near.codes)
        if near.plain.codes is not self._plain:
            self._plain, self._known = near.plain.codes, {}
        if trial not in self._known:
            self._known[trial] = Tried.of(self._space, trial, near.plain.codes)
        return self._known[trial]


def _of_any_run(space: Space[Trial], trial: Trial, near: Codes, prints: Bools) -> NDArray[np.int64]:
    """Return which of the conventions that print a claim have it for any run."""
    chosen = [space.has(trial, option, value, near) for option, value in _CHOSEN]
    suspects = np.flatnonzero(prints & np.logical_or.reduce(chosen))
    found = [trial.is_of_any_run(space.convention(near[each])) for each in suspects]
    return np.asarray(suspects[np.array(found, bool)])


_CHOSEN = (
    *(("queries", "with_hit"), ("queries", "with_found")),
    *(("labels", "listed"), ("documents", "judged")),
)
"""Where queries or documents are left out by what was retrieved or judged."""
