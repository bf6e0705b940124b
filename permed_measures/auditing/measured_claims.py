"""Claims about runs, each computed by any convention and compared with what was printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.arrays import Bools, Floats
from permed_measures.conventions.aggregate import QueryFacts
from permed_measures.conventions.evaluate import values_of_queries
from permed_measures.conventions.named import NAMED
from permed_measures.conventions.options import (
    CUTOFF_OF,
    DEFAULT,
    Convention,
    Options,
    place,
    query_sets,
    rounding_of,
)
from permed_measures.conventions.ranking_variants import RunVariants, of_queries
from permed_measures.conventions.records import AVERAGED, LABELS, OPTIONS, QUERY_SET, ROUNDING
from permed_measures.conventions.search_space import Codes, ConventionSpace, Measurement
from permed_measures.published_tables.claims import EXACT, Claim
from permed_measures.tolerances import SUM_NOISE

_NEARBY_DISTANCE = 0.03
"""How far from a claim the numbers are that somebody might have printed in its place."""
_MIN_UNITS_AWAY = 3
"""By how many units of the last digit they differ at least."""


class NearbyNumbers(NamedTuple):
    """The numbers near a claim, in units of its last digit."""

    code: int
    low: int
    high: int

    @classmethod
    def of(cls, claim: Claim) -> NearbyNumbers:
        """Return the numbers within 0.03, or within half of a small one."""
        unit, value = 10**claim.decimals, abs(float(claim.value))
        code = int(EXACT.multiply(claim.value, unit))
        reach = max(int(min(_NEARBY_DISTANCE * max(value, 1), value / 2) * unit), _MIN_UNITS_AWAY)
        highest = unit if code <= unit else code + reach
        return cls(code, max(code - reach, min(code, 0)), min(code + reach, highest))

    @property
    def size(self) -> int:
        """How many they are."""
        return self.high - self.low + 1


class MeasuredClaim(Measurement):
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
        self.row, self.claim, self.cell = row, claim, claim.text
        if claim.other is not None:
            bases = [named.at([claim]) for named in NAMED if named.has(claim.measure)]
            self.claim = _nearer_reading(claim, np.array([self.value(base) for base in bases]))
        self.nearby = NearbyNumbers.of(self.claim)
        self._of_any_run: dict[object, bool] = {}

    def with_claim(self, claim: Claim) -> MeasuredClaim:
        """Return the trial of another claim of the same measure."""
        return MeasuredClaim(self.row, claim, self.run)

    def in_nearer_reading(self, convention: Convention) -> MeasuredClaim:
        """Return the trial with the claim in percent or not, as is nearer to what a convention gives."""
        claim = _nearer_reading(self.claim, np.array([self.value(convention)]))
        if claim is self.claim:
            return self
        found = copy(self)
        found.claim, found.nearby = claim, NearbyNumbers.of(claim)
        return found

    def prints(self, convention: Convention) -> bool:
        """Return whether a convention prints the claim, and not for any run."""
        return self.would_print(convention) and not self.is_of_any_run(convention)

    def would_print(self, convention: Convention) -> bool:
        """Return whether a convention prints the claim, maybe for any run."""
        codes = self.printed_units(np.array([self.value(convention)]), self._digits_of_mean(convention))
        return bool(self.include_claim(codes)[0])

    def _digits_of_mean(self, convention: Convention) -> int | None:
        """Return to how many digits a convention rounds means before they are printed."""
        return rounding_of(convention[self.measure][ROUNDING]).of_mean

    def is_of_any_run(self, convention: Convention) -> bool:
        """Return whether a run has the same value in any order of its lists, as the convention makes it so.

        Each query that counts has this value then. The convention makes it so if it sees only what was found,
        or if the order matters without its options.
        """
        own = convention[self.measure]
        key = tuple(own[option] for option in self.options)
        if key not in self._of_any_run:
            self._of_any_run[key] = self._has_one_value(own) and (
                any(own[option] in values for option, values in _ONLY_FOUND.items())
                or self._depends_on_order(
                    {option: _plain_value(option, value) for option, value in own.items()}
                )
            )
        return self._of_any_run[key]

    def _has_one_value(self, own: Options) -> bool:
        """Return whether all queries that count have one value, in any order of the lists."""
        known = np.array([])
        for values in self._values_in_orders(own):
            counted = values[~np.isnan(values)]
            known = known if len(known) else counted[:1]
            if not len(known) or (np.abs(counted - known) > SUM_NOISE).any():
                return False
        return bool(len(known))

    def _depends_on_order(self, own: Options) -> bool:
        """Return whether any query has another value in another order of its list."""
        first, *others = self._values_in_orders(own)
        return not all(np.allclose(first, each, rtol=0, atol=SUM_NOISE, equal_nan=True) for each in others)

    def _values_in_orders(self, own: Options) -> Iterator[Floats]:
        """Yield the value of each query, NaN if it does not count: as ranked, then in other orders."""
        cutoff, at = own[CUTOFF_OF + self.name], place(own[QUERY_SET])
        options = of_queries(self.measure, own)
        for run in self.run.with_shuffled_scores():
            if (ranked := run.ranked(own)) is not None:
                sets = run.query_sets_of(ranked, cutoff, DEFAULT[AVERAGED])
                values = values_of_queries(self.measure, cutoff, options, ranked) + sets.added[at]
                yield np.where(sets.weights[at] > 0, values, np.nan)

    def include_claim(self, codes: Floats) -> Bools:
        """Return for each row of codes whether the claim is among them."""
        low, high, code = codes[:, ::2], codes[:, 1::2], float(self.nearby.code)
        return np.asarray(((low <= code) & (code <= high)).any(axis=1))

    def printed_value(self, convention: Convention) -> str:
        """Return what a convention prints."""
        if self.would_print(convention):
            return self.claim.text
        digits, value = self._digits_of_mean(convention), self.value(convention)
        return self.in_nearer_reading(convention).claim.prints(
            value if digits is None else round(value, digits)
        )

    def printed_units(self, values: Floats, first_to: int | None) -> Floats:
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
        readings = [self.claim, *filter(None, [self.claim.other])]
        ends = [end for each in readings for end in _printed(values, each.decimals, first_to)]
        return np.column_stack(ends)


def _nearer_reading(claim: Claim, values: Floats) -> Claim:
    """Return a claim, or its other reading where that is nearer to one of the values."""
    other = claim.other
    if other is None or np.isnan(values).all() or claim.distance(values) <= other.distance(values):
        return claim
    return other._replace(other=claim._replace(other=None))


def _printed(values: Floats, decimals: int, first_to: int | None) -> tuple[Floats, Floats]:
    """Return the digits of values that are rounded half down and half up, perhaps to some digits first."""
    units, step, reach = values * 10.0**decimals, 1.0, 0.5
    if first_to is not None:
        reach += 0.5 * 10.0 ** (decimals - first_to) if decimals < first_to else 0
        step = 10.0 ** max(decimals - first_to, 0)
    reach += SUM_NOISE * 10.0**decimals / step
    return np.ceil(units / step - reach) * step, np.floor(units / step + reach) * step


_LARGE_TABLE, _ENOUGH_CLAIMS = 100, 40
"""A table with more claims is large: about so many of them are looked at where all would say no more."""


def sample_rows(trials: Sequence[MeasuredClaim]) -> list[MeasuredClaim]:
    """Return the claims of some rows of a large table, spread evenly over their names; of others all."""
    rows = sorted({trial.row for trial in trials})
    n_kept = max(_ENOUGH_CLAIMS * len(rows) // len(trials), 1) if len(trials) > _LARGE_TABLE else len(rows)
    kept = {rows[place * len(rows) // n_kept] for place in range(n_kept)}
    return [trial for trial in trials if trial.row in kept]


class ClaimValues(NamedTuple):
    """A claim by each of many conventions.

    Attributes
    ----------
    values : ndarray, shape (n,)
        NaN where a convention means nothing.
    printed : ndarray, shape (n, 2 times the number of readings)
        What they are printed as.
    prints : ndarray of bool, shape (n,)
        Whether that is the claim.
    """

    values: Floats
    printed: Floats
    prints: Bools

    @classmethod
    def of(cls, space: ConventionSpace[MeasuredClaim], trial: MeasuredClaim, near: Codes) -> ClaimValues:
        """Compute a claim by conventions, once by those that are the same to it."""
        numbers = space.measure_keys(trial, trial.options, near)
        _, first, which = np.unique(numbers, return_index=True, return_inverse=True)
        return cls._by_each(space, trial, near[first]).take(which)

    def take(self, rows: NDArray[np.integer[Any]]) -> ClaimValues:
        """Return it by some of the conventions."""
        return ClaimValues(self.values[rows], self.printed[rows], self.prints[rows])

    @classmethod
    def _by_each(
        cls, space: ConventionSpace[MeasuredClaim], trial: MeasuredClaim, near: Codes
    ) -> ClaimValues:
        values = space.compute(trial, near)
        codes = trial.printed_units(values, None)
        for way in OPTIONS[ROUNDING].values:
            if (digits := rounding_of(way).of_mean) is not None:
                twice = space.has(trial, ROUNDING, way, near)
                codes[twice] = trial.printed_units(values[twice], digits)
        prints = trial.include_claim(codes)
        prints[_of_any_run(space, trial, near, prints)] = False
        return cls(values, codes, prints)


def _of_any_run(
    space: ConventionSpace[MeasuredClaim], trial: MeasuredClaim, near: Codes, prints: Bools
) -> NDArray[np.int64]:
    """Return which of the conventions that print a claim have it for any run."""
    printing = np.flatnonzero(prints)
    found = [trial.is_of_any_run(space.convention(near[each])) for each in printing]
    return np.asarray(printing[np.array(found, bool)])


# --- what any run has ----------------------------------------------------------------------------------


def _query_sets_by_hits() -> Iterator[str]:
    """Yield the query sets that leave queries out by their hits, or give those without relevant ones a 1."""
    every = QueryFacts(*np.ones((len(QueryFacts._fields), 1), bool))
    none = np.zeros(1, bool)
    not_found = every._replace(hit=none, found=none, other=none)
    for queries, rule in zip(OPTIONS[QUERY_SET].values, query_sets(), strict=True):
        if (rule.counted(every) != rule.counted(not_found)).any() or rule.nothing_is_one:
            yield queries


_ONLY_FOUND = {
    QUERY_SET: (*_query_sets_by_hits(),),
    LABELS: tuple(value for value, each in OPTIONS[LABELS].values.items() if each.only_found),
}
"""The values of options by which only what was found counts."""


def _plain_value(option: str, value: Any) -> Any:
    """Return the community's value of an option; query sets stay that see more than what was found."""
    stays = option not in OPTIONS or (option == QUERY_SET and value not in _ONLY_FOUND[option])
    return value if stays else DEFAULT[option]
