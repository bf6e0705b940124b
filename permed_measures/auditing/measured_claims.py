"""Compute claims about runs by any convention, and compare them with the published numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from itertools import islice
from typing import NamedTuple

import numpy as np

from permed_measures.arrays import Bools, Floats
from permed_measures.conventions.aggregate import QueryFacts
from permed_measures.conventions.evaluate import values_of_queries
from permed_measures.conventions.named import NAMED
from permed_measures.conventions.options import (
    CUTOFF_OF,
    DEFAULT,
    Convention,
    Options,
    query_set_index,
    query_sets,
    rounding_of,
)
from permed_measures.conventions.ranking_variants import RunVariants, of_queries
from permed_measures.conventions.records import AVERAGED, LABELS, OPTIONS, QUERY_SET, ROUNDING
from permed_measures.conventions.search_space import Measurement
from permed_measures.measures.parameters import Cutoff
from permed_measures.published_tables.claims import EXACT, Claim
from permed_measures.tolerances import SUM_NOISE

_NEARBY_DISTANCE = 0.03
"""The distance from a claim within which random numbers are compared with it."""
_MIN_UNITS_AWAY = 3
"""The same distance in units of the last digit, at least."""


class NearbyNumbers(NamedTuple):
    """The range of numbers near a claim, in units of its last digit.

    Attributes
    ----------
    claimed : int
        The claim itself.
    low, high : int
        The ends of the range, included.
    """

    claimed: int
    low: int
    high: int

    @classmethod
    def of(cls, claim: Claim) -> NearbyNumbers:
        """Take the numbers within 0.03 of a claim, or within half of a small claim."""
        units_per_1, value = 10**claim.decimals, abs(float(claim.value))
        claimed = int(EXACT.multiply(claim.value, units_per_1))
        radius = max(int(min(_NEARBY_DISTANCE * max(value, 1), value / 2) * units_per_1), _MIN_UNITS_AWAY)
        highest = units_per_1 if claimed <= units_per_1 else claimed + radius
        return cls(claimed, max(claimed - radius, min(claimed, 0)), min(claimed + radius, highest))

    @property
    def size(self) -> int:
        """The number of numbers in the range."""
        return self.high - self.low + 1


class MeasuredClaim(Measurement):
    """A claim about a run, which is tried under conventions.

    Attributes
    ----------
    row : str
        The name of the run.
    claim : Claim
        The published number. If it may be percent or not, the reading nearer to a named convention.
    cell : str
        The number as printed in the table. It differs from the claim if swapped columns were exchanged.
    nearby : NearbyNumbers
        The range in which random numbers are compared with the claim.
    """

    def __init__(self, row: str, claim: Claim, run: RunVariants) -> None:
        super().__init__(claim.name, claim.measure, claim.cutoffs, run)
        self.row, self.claim, self.cell = row, claim, claim.text
        if claim.other is not None:
            bases = [named.with_cutoffs([claim]) for named in NAMED if named.has(claim.measure)]
            self.claim = _nearer_reading(claim, np.array([self.value(base) for base in bases]))
        self.nearby = NearbyNumbers.of(self.claim)
        self._one_value_as_ranked: dict[object, Bools] = {}
        self._one_value: dict[object, Bools] = {}
        self._order_matters_at: dict[Cutoff, Bools] = {}

    def with_claim(self, claim: Claim) -> MeasuredClaim:
        """Make a claim with another number for the same measure and run."""
        return MeasuredClaim(self.row, claim, self.run)

    def in_nearer_reading(self, convention: Convention) -> MeasuredClaim:
        """Read the claim as percent or not, whichever is nearer to its value by a convention."""
        claim = _nearer_reading(self.claim, np.array([self.value(convention)]))
        if claim is self.claim:
            return self
        other = copy(self)
        other.claim, other.nearby = claim, NearbyNumbers.of(claim)
        return other

    def prints(self, convention: Convention) -> bool:
        """Check whether a convention explains the claim: it prints the number, and not for every run."""
        return self.would_print(convention) and not self.is_of_any_run(convention)

    def would_print(self, convention: Convention) -> bool:
        """Check whether a convention prints the number, even if it does so for every run."""
        printed = self.printed_units(np.array([self.value(convention)]), self._digits_of_mean(convention))
        return bool(self.include_claim(printed)[0])

    def has_number(self, value: float, convention: Convention) -> bool:
        """Check whether a value prints as the claim, with the rounding of a convention."""
        return value in self.claim.printed(self._digits_of_mean(convention))

    def _digits_of_mean(self, convention: Convention) -> int | None:
        """Return the digits to which a convention first rounds means; None for no rounding."""
        return rounding_of(convention[self.measure][ROUNDING]).of_mean

    def is_of_any_run(self, convention: Convention) -> bool:
        """Check whether the value is trivial: the convention gives it for every order of the lists.

        Every query that counts then has this value, also after the lists are shuffled. The convention is the
        reason if it selects queries or judgments by what was retrieved, or if the order matters under the
        community's options.
        """
        own = convention[self.measure]
        query_set = query_set_index(own[QUERY_SET])
        if not self.sets_with_one_value(convention)[query_set]:  # as for most conventions
            return False
        key = (
            *(own[option] for option in self.options if option not in _OF_MEANS),
            rounding_of(own[ROUNDING]).of_queries,
        )
        if key not in self._one_value:
            self._one_value[key] = _with_one_value(self._values_in_orders(own))
        selects_by_hits = any(own[option] in values for option, values in _ONLY_FOUND.items())
        return bool(self._one_value[key][query_set]) and (selects_by_hits or self._order_matters(own))

    def sets_with_one_value(self, convention: Convention) -> Bools:
        """Find the query sets in which all queries that count have the same value as ranked."""
        own = convention[self.measure]
        ranked, cutoff = self.run.ranked(own), self.cutoff(convention)
        key = (id(ranked), cutoff, *of_queries(self.measure, own).values())
        if key not in self._one_value_as_ranked:
            self._one_value_as_ranked[key] = _with_one_value(islice(self._values_in_orders(own), 1))
        return self._one_value_as_ranked[key]

    def _order_matters(self, own: Options) -> bool:
        """Check whether the value of any query changes with the order of its list under usual options."""
        cutoff = own[CUTOFF_OF + self.name]
        if cutoff not in self._order_matters_at:
            plain = {option: DEFAULT.get(option, value) for option, value in own.items()}
            first, *others = self._values_in_orders(plain)
            same = [np.isclose(first, each, rtol=0, atol=SUM_NOISE, equal_nan=True) for each in others]
            self._order_matters_at[cutoff] = ~np.all(same, axis=(0, 2))
        return bool(self._order_matters_at[cutoff][query_set_index(own[QUERY_SET])])

    def _values_in_orders(self, own: Options) -> Iterator[Floats]:
        """Yield the value of each query in each query set: as ranked, then in shuffled orders.

        A query that does not count in a set has NaN there.
        """
        cutoff, options = own[CUTOFF_OF + self.name], of_queries(self.measure, own)
        for run in self.run.with_shuffled_scores():
            if (ranked := run.ranked(own)) is not None:
                sets = run.query_sets_of(ranked, cutoff, DEFAULT[AVERAGED])
                values = values_of_queries(self.measure, cutoff, options, ranked) + sets.added
                yield np.where(sets.weights > 0, values, np.nan)

    def include_claim(self, printed: Floats) -> Bools:
        """Check for each row of `printed_units` whether the claim is within it."""
        low, high, claimed = printed[:, ::2], printed[:, 1::2], float(self.nearby.claimed)
        return np.asarray(((low <= claimed) & (claimed <= high)).any(axis=1))

    def printed_value(self, convention: Convention) -> str:
        """Print the value by a convention with the digits of the claim."""
        if self.would_print(convention):
            return self.claim.text
        digits, value = self._digits_of_mean(convention), self.value(convention)
        return self.in_nearer_reading(convention).claim.prints(
            value if digits is None else round(value, digits)
        )

    def printed_units(self, values: Floats, first_to: int | None) -> Floats:
        """Round values as they would be printed, in units of the last digit.

        Parameters
        ----------
        values : ndarray, shape (n,)
        first_to : int or None
            The digits to which they are rounded first; None for no first rounding.

        Returns
        -------
        ndarray, shape (n, 2 times the number of readings)
            For each reading of the claim, rounded half down and half up.
        """
        readings = [self.claim, *filter(None, [self.claim.other])]
        ends = [end for reading in readings for end in _rounded_units(values, reading.decimals, first_to)]
        return np.column_stack(ends)


def _nearer_reading(claim: Claim, values: Floats) -> Claim:
    """Choose the reading of a claim that is nearer to one of the values."""
    other = claim.other
    if other is None or np.isnan(values).all() or claim.distance(values) <= other.distance(values):
        return claim
    return other._replace(other=claim._replace(other=None))


def _rounded_units(values: Floats, decimals: int, first_to: int | None) -> tuple[Floats, Floats]:
    """Round values half down and half up, in units of the last digit; round to `first_to` digits before."""
    units, step, half = values * 10.0**decimals, 1.0, 0.5
    if first_to is not None:  # both roundings may go the same way
        half += 0.5 * 10.0 ** (decimals - first_to) if decimals < first_to else 0
        step = 10.0 ** max(decimals - first_to, 0)
    half += SUM_NOISE * 10.0**decimals / step
    return np.ceil(units / step - half) * step, np.floor(units / step + half) * step


_LARGE_TABLE, _ENOUGH_CLAIMS = 100, 40
"""A table with more than 100 claims is large. About 40 of its claims are searched."""


def sample_rows(trials: Sequence[MeasuredClaim]) -> list[MeasuredClaim]:
    """Sample rows of a large table, spread evenly over their names; take all rows of a smaller one."""
    rows = sorted({trial.row for trial in trials})
    n_kept = max(_ENOUGH_CLAIMS * len(rows) // len(trials), 1) if len(trials) > _LARGE_TABLE else len(rows)
    kept = {rows[index * len(rows) // n_kept] for index in range(n_kept)}
    return [trial for trial in trials if trial.row in kept]


# --- conventions that print a number for every run -----------------------------------------------------


def _query_sets_by_hits() -> Iterator[str]:
    """Yield the query sets that select queries by the hits, or score 1 without relevant documents."""
    with_all = QueryFacts(*np.ones((len(QueryFacts._fields), 1), bool))
    no = np.zeros(1, bool)
    without_hits = with_all._replace(hit=no, relevant_retrieved=no, other=no)
    for queries, rule in zip(OPTIONS[QUERY_SET].values, query_sets(), strict=True):
        if (rule.counted(with_all) != rule.counted(without_hits)).any() or rule.nothing_is_one:
            yield queries


_OF_MEANS = (QUERY_SET, AVERAGED, ROUNDING)
"""The options that change means, but no value of a query."""
_ONLY_FOUND = {
    QUERY_SET: (*_query_sets_by_hits(),),
    LABELS: tuple(value for value, each in OPTIONS[LABELS].values.items() if each.only_found),
}
"""The values that select queries or judgments by what was retrieved."""


def _with_one_value(orders: Iterable[Floats]) -> Bools:
    """Find the query sets in which all queries have the same value in each of some orders.

    Parameters
    ----------
    orders : iterable of ndarray, shape (number of query sets, number of queries)
        The values in each order; NaN for a query that does not count.
    """
    first, same = np.full((len(query_sets()), 1), np.nan), np.zeros(len(query_sets()), bool)
    for number, values in enumerate(orders):
        if not number:
            first = np.take_along_axis(values, np.argmin(np.isnan(values), axis=1)[:, None], axis=1)
            same = ~np.isnan(first[:, 0])
        same &= ~(np.abs(values - first) > SUM_NOISE).any(axis=1)
        if not same.any():
            break
    return same
