"""Measures of runs by each of many conventions: those near the ones that have a name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from math import prod
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from permed_measures.arrays import Floats
from permed_measures.conventions.describe import measure_string
from permed_measures.conventions.named import NamedConvention
from permed_measures.conventions.options import (
    CUTOFF_OF,
    DEFAULT,
    OF_RANKINGS,
    OPTIONS_OF,
    SHARED,
    Convention,
    Setting,
    meant,
    measures_by_value,
    place,
    query_sets,
    settings,
    with_value,
)
from permed_measures.conventions.ranking_variants import RunVariants, options_for
from permed_measures.conventions.records import DEPTH, OPTIONS, QUERY_SET
from permed_measures.measures.parameters import Cutoff

Codes = NDArray[np.int64]
"""Conventions: a row for each, a column for each option of each measure, in it the number of a value."""


class Measurement:
    """A measure of a run, which any convention computes.

    Attributes
    ----------
    name : str
        What it is called; ``cutoff of NAME`` is the option that is its cutoff.
    measure : {'AP', 'nDCG', 'P', 'R', 'RR', 'Success', 'F1'} or str
        Another measure as one would type it, which has no options of its own.
    cutoffs : tuple
        The cutoffs to try, the usual one first.
    run : RunVariants
    options : tuple of str
        Those that its value depends on.
    """

    def __init__(self, name: str, measure: str, cutoffs: tuple[Cutoff, ...], run: RunVariants) -> None:
        self.name, self.measure, self.cutoffs, self.run = name, measure, cutoffs, run
        first = (each for each in SHARED if each != DEPTH)
        # Lists that are cut come last: to many measures that is no other than their cutoff.
        self.options = (*first, *OPTIONS_OF.get(measure, ()), CUTOFF_OF + name, DEPTH)

    def cutoff(self, convention: Convention) -> Cutoff:
        """Return the cutoff that a convention has for it."""
        rank: Cutoff = convention[self.measure][CUTOFF_OF + self.name]
        return rank

    def means(self, convention: Convention) -> Floats:
        """Compute it by a convention over each query set; NaN where that means nothing."""
        found = self.run.means(self.measure, self.cutoff(convention), convention[self.measure])
        return np.full(len(query_sets()), np.nan) if found is None else found

    def value(self, convention: Convention) -> float:
        """Compute it by a convention; NaN if that means nothing here."""
        return float(self.means(convention)[place(convention[self.measure][QUERY_SET])])

    def typed(self, convention: Convention) -> str:
        """Write the measure by a convention as one would type it."""
        options = convention[self.measure]
        ranked = self.run.ranked(options)
        labels = self.run.labels if ranked is None else ranked.labels
        return measure_string(
            self.measure, self.cutoff(convention), options_for(self.measure, options), labels
        )


Q = TypeVar("Q", bound=Measurement)
T = TypeVar("T")
_ROWS_AT_ONCE = 50_000
"""About how many conventions are looked at together."""
_KEEPS, _JOINS = -1, -2
"""In place of the number of a value: it stays, or becomes that of the other measures."""


class Neighbourhood(NamedTuple):
    """Conventions that are so many changes from one of the bases of a space.

    Attributes
    ----------
    n_changes : int
    codes : ndarray of int64, shape (n, number of columns)
    base : ndarray of int64, shape (n,)
        The number of the base that each is near to, ascending.
    """

    n_changes: int
    codes: Codes
    base: Codes


class _Change(NamedTuple):
    """A change of an option: its columns, the values that it may get there, and whether of one measure alone.

    Attributes
    ----------
    columns : list of int
    codes : ndarray of int64, shape (number of values, number of columns)
        `_JOINS` for a measure that gets the value of the others, whatever that is.
    is_apart : bool
    """

    columns: list[int]
    codes: Codes
    is_apart: bool


_Sharing = dict[str, list[str]]
"""By option the measures that share a value of it in a base."""


class _Ways(NamedTuple):
    """All ways to change some options of a base.

    Attributes
    ----------
    codes : ndarray of int64, shape (number of ways, number of columns)
        What each column becomes.
    column, code : ndarray of int64, shape (number of ways, number of changes)
        A column of each change, and what it becomes: where the base has that, it is not a change.
    """

    codes: Codes
    column: Codes
    code: Codes


class ConventionSpace(Generic[Q]):
    """The conventions near some named ones, for some measures of runs.

    A change gives another value of an option to the measures that share one in a named convention, or to a
    measure that has another one that of the others.

    Parameters
    ----------
    measurements : sequence of Quantity
    conventions : sequence of NamedConvention
        Those that have all the measures are the bases.
    base_cutoffs : dict of str to Cutoff, optional
        By the name of a quantity the cutoff that is no change; the first that it has if left out.
    per_measure : collection of str
        The options that one measure may change alone; one at most does.

    Attributes
    ----------
    options : list of str
    values : dict of str to list
        By option the values to change to.
    bases : list of tuple
        The named conventions, and how each computes the measures.
    """

    def __init__(
        self,
        measurements: Sequence[Q],
        conventions: Sequence[NamedConvention],
        base_cutoffs: dict[str, Cutoff] | None = None,
        per_measure: Collection[str] = (),
    ) -> None:
        self.measurements, self.conventions, self._per_measure = measurements, conventions, per_measure
        self.base_cutoffs = (
            {measurement.name: measurement.cutoffs[0] for measurement in measurements}
            if base_cutoffs is None
            else base_cutoffs
        )
        named = [
            each for each in conventions if all(each.has(measurement.measure) for measurement in measurements)
        ]
        had = {
            option for measurement in measurements for option in measurement.options
        }  # in an order that is not theirs
        last = had & {DEPTH}  # after the cutoffs, as in each quantity
        self.options = [option for option in OPTIONS if option in had - last]
        self.options += [*sorted(had - {*OPTIONS}), *last]
        self.values = {option: list(self._values(option)) for option in self.options}
        self.bases = [(each, each.at(measurements, self.base_cutoffs)) for each in named]
        self._number_values()

    def _number_values(self) -> None:
        """Give numbers to the values of each option, first to those to change to; write the bases in them."""
        self._coded_values: dict[str, list[Any]] = {
            option: list(dict.fromkeys([*values, *self._others(option)]))
            for option, values in self.values.items()
        }
        options_of: dict[str, set[str]] = {}
        for measurement in self.measurements:
            options_of.setdefault(measurement.measure, set()).update(measurement.options)
        columns = [
            (measure, option)
            for option in self.options
            for measure, options in options_of.items()
            if option in options
        ]
        self._column = {each: number for number, each in enumerate(columns)}
        self._sharing = [self._sharing_in(*base) for base in self.bases]
        rows = [self.codes(base) for _, base in self.bases]
        self._bases = np.array(rows, np.int64).reshape(len(rows), len(columns))
        self._means: dict[Q, dict[int, Floats]] = {}
        self._rankings: dict[RunVariants, dict[int, int]] = {}

    def _others(self, option: str) -> Iterator[object]:
        """Yield the values that bases have of an option, and the community's."""
        for _, base in self.bases:
            yield from measures_by_value(base, option)
        if option in OPTIONS:
            yield DEFAULT[option]

    def _values(self, option: str) -> Iterator[object]:
        """Yield the values of an option that can be computed."""
        if option.startswith(CUTOFF_OF):
            measurement = next(each for each in self.measurements if CUTOFF_OF + each.name == option)
            yield from dict.fromkeys([*measurement.cutoffs, self.base_cutoffs[measurement.name]])
        elif option in SHARED:
            offered = {
                value
                for measurement in self.measurements
                for value in measurement.run.applicable_values(option)
            }
            yield from (value for value in OPTIONS[option].values if value in offered)
        else:
            measures = [measurement.measure for measurement in self.measurements]
            yield from OPTIONS[option].values_for(measures, self.measurements[0].run.labels.levels)

    # --- what is near ----------------------------------------------------------------------------------

    def neighbours(self, max_changes: int) -> Iterator[Neighbourhood]:
        """Yield the conventions with up to so many changes from one of the bases, those with fewer first.

        One near several bases comes several times.
        """
        yield Neighbourhood(0, self._bases, np.arange(len(self._bases)))
        alike = groupby(range(len(self.bases)), lambda number: self._sharing[number])
        bases = [(sharing, np.array([*numbers])) for sharing, numbers in alike]
        changes = {str(sharing): self._changes(sharing) for sharing, _ in bases if max_changes}
        for n in range(1, max_changes + 1):
            ways = {key: _ways(some, n, len(self._column)) for key, some in changes.items()}
            for sharing, numbers in bases:
                yield from self._near(n, ways[str(sharing)], numbers, sharing)

    def _near(self, n: int, ways: _Ways, bases: Codes, sharing: _Sharing) -> Iterator[Neighbourhood]:
        """Yield the bases changed in each of some ways, some bases at a time."""
        n_at_once = max(_ROWS_AT_ONCE // max(len(ways.codes), 1), 1)
        for start in range(0, len(bases), n_at_once):
            base = np.repeat(bases[start : start + n_at_once], len(ways.codes))
            codes, column, code = (np.tile(each, (len(base) // max(len(each), 1), 1)) for each in ways)
            before = self._bases[base]
            changed = (np.take_along_axis(before, column, axis=1) != code).all(axis=1)
            after = self._joined(codes, np.where(codes == _KEEPS, before, codes), sharing)
            changed &= ~((codes == _JOINS) & (after == before)).any(axis=1)
            yield Neighbourhood(n, after[changed], base[changed])

    def _joined(self, codes: Codes, after: Codes, sharing: _Sharing) -> Codes:
        """Give measures that join the others the value that these have."""
        for (measure, option), at in self._column.items():
            joins = np.flatnonzero(codes[:, at] == _JOINS)
            if len(joins):
                known = (meant(measure, option, each) for each in self._coded_values[option])
                number = np.array([self._code(option, each) for each in known])
                after[joins, at] = number[after[joins, self._column[sharing[option][0], option]]]
        return after

    def _changes(self, sharing: _Sharing) -> list[_Change]:
        """Return what can be changed in a base: an option of the measures that share its value, or of one."""
        every, alone = list[_Change](), list[_Change]()
        for option in self.options:
            measures = [measure for measure, other in self._column if other == option]
            every.append(self._change(option, sharing[option]))
            is_apart = option in self._per_measure
            alone += [
                _Change([self._column[measure, option]], np.array([[_JOINS]]), is_apart)
                for measure in measures
                if measure not in sharing[option]
            ]
            if is_apart and len(measures) > 1:
                alone += [self._change(option, [measure], is_apart) for measure in measures]
        return [*every, *alone]

    def _sharing_in(self, named: NamedConvention, base: Convention) -> _Sharing:
        """Return the measures that share a value of each option; all if each has one for itself."""
        found = {}
        for option in self.options:
            measures = [measure for measure in base if option in base[measure]]
            shared = [each for each in measures if named.is_shared(each, option, base[each][option])]
            found[option] = shared or measures
        return found

    def _code(self, option: str, value: Any) -> int:
        return self._coded_values[option].index(value)

    def _change(self, option: str, measures: list[str], is_apart: bool = False) -> _Change:
        known = OPTIONS[option].values if option in OPTIONS else {}
        values = [
            value
            for value in self.values[option]
            if value not in known or not known[value].measures or {*known[value].measures} & {*measures}
        ]
        codes = [
            [self._code(option, meant(measure, option, value)) for measure in measures] for value in values
        ]
        columns = [self._column[measure, option] for measure in measures]
        return _Change(columns, np.array(codes, np.int64).reshape(len(values), len(measures)), is_apart)

    def changed_once(self, convention: Convention) -> Iterator[tuple[Setting, object, Convention]]:
        """Yield each convention that differs in one setting, after the setting and its new value."""
        for setting in settings(convention):
            for value in self.values[setting.option]:
                other = with_value(convention, setting.option, value, setting.measures)
                if other != convention:
                    yield setting, value, other

    # --- conventions as numbers ------------------------------------------------------------------------

    def convention(self, codes: Codes) -> Convention:
        """Return the convention of a row of codes."""
        found: dict[str, dict[str, Any]] = {}
        for (measure, option), code in zip(self._column, codes.tolist(), strict=True):
            found.setdefault(measure, {})[option] = self._coded_values[option][code]
        return found

    def coded_values(self, option: str) -> list[Any]:
        """Return the values of an option, each at its number in codes."""
        return self._coded_values[option]

    def codes(self, convention: Convention) -> Codes:
        """Return the row of a convention."""
        return np.array(
            [
                self._coded_values[option].index(convention[measure][option])
                for measure, option in self._column
            ]
        )

    def option_codes(self, measurement: Q, option: str, near: Codes) -> NDArray[np.int64]:
        """Return the number of the value that an option has for a measure, by conventions."""
        found: NDArray[np.int64] = near[:, self._column[measurement.measure, option]]
        return found

    def measure_keys(self, measurement: Q, options: Sequence[str], near: Codes) -> NDArray[np.int64]:
        """Return a number for each convention: one for all that have the same options for a measure."""
        found, size = np.zeros(len(near), np.int64), 1
        for option in options:
            found += size * self.option_codes(measurement, option, near)
            size *= len(self._coded_values[option])
        return found

    def has(self, measurement: Q, option: str, value: object, near: Codes) -> NDArray[np.bool_]:
        """Return which conventions have a value of an option for a measure."""
        has_value = np.array([each == value for each in self._coded_values[option]])
        return np.asarray(has_value[self.option_codes(measurement, option, near)])

    def compute(self, measurement: Q, near: Codes) -> Floats:
        """Compute a measure by conventions; NaN where one means nothing."""
        places = np.array([place(each) for each in self._coded_values[QUERY_SET]])
        queries = places[self.option_codes(measurement, QUERY_SET, near)]
        found: Floats = self._means_of(measurement, near)[np.arange(len(near)), queries]
        return found

    def forget(self, measurement: Q) -> None:
        """Drop what was computed of a measure that is not asked for again."""
        self._means.pop(measurement, None)
        self._rankings.pop(measurement.run, None)

    def _means_of(self, measurement: Q, near: Codes) -> Floats:
        """Return the means of a measure over each query set: one row for each convention."""
        options = [each for each in measurement.options if each not in (QUERY_SET, *OF_RANKINGS)]
        size = prod(len(self.coded_values(option)) for option in options)
        numbers = self.measure_keys(measurement, options, near) + size * self._rankings_of(measurement, near)
        known = self._means.setdefault(measurement, {})
        return self._compute_unique(known, numbers, near, measurement.means).reshape(-1, len(query_sets()))

    def _rankings_of(self, measurement: Q, near: Codes) -> NDArray[np.int64]:
        """Return the number of the ranking by each convention, as a measure sees it."""
        numbers, known = (
            self.measure_keys(measurement, OF_RANKINGS, near),
            self._rankings.setdefault(measurement.run, {}),
        )
        found = self._compute_unique(
            known, numbers, near, lambda each: measurement.run.ranking_number(each[measurement.measure])
        )
        return found.astype(np.int64)

    def _compute_unique(
        self, known: dict[int, T], numbers: NDArray[np.int64], near: Codes, compute: Callable[[Convention], T]
    ) -> NDArray[Any]:
        """Compute something by conventions, once by those with the same number; `known` keeps it."""
        keys, first, which = np.unique(numbers, return_index=True, return_inverse=True)
        for key, row in zip(keys.tolist(), first.tolist(), strict=True):
            if key not in known:
                known[key] = compute(self.convention(near[row]))
        return np.array([known[key] for key in keys.tolist()])[which]


def _ways(changes: Sequence[_Change], n: int, n_columns: int) -> _Ways:
    """Return all ways to make `n` changes, of one measure alone one at most.

    One that follows another in the same column takes its place there.
    """
    sizes = [len(each.codes) for each in changes]
    number = np.repeat(np.arange(len(changes)), sizes)
    alone = np.repeat(np.array([each.is_apart for each in changes], np.int64), sizes)
    single = np.full((len(number), n_columns), _KEEPS)
    for at, change in enumerate(changes):
        single[np.ix_(number == at, change.columns)] = change.codes
    first = np.repeat([each.columns[0] for each in changes], sizes)
    code = single[np.arange(len(first)), first]
    chosen = np.zeros((1, 0), np.int64)
    for _ in range(n):
        pairs = np.repeat(chosen, len(number), axis=0), np.tile(np.arange(len(number)), len(chosen))
        chosen = np.column_stack(pairs)
        in_order = (np.diff(number[chosen], axis=1) > 0).all(axis=1)
        chosen = chosen[in_order & (alone[chosen].sum(axis=1) <= 1)]
    chosen = chosen[np.lexsort([*chosen.T[::-1], *number[chosen].T[::-1]])]  # by change, then by value
    codes, replaced = np.full((len(chosen), n_columns), _KEEPS), np.zeros_like(chosen)
    for at in range(n):
        each = chosen[:, at]
        replaced[:, at] = codes[np.arange(len(each)), first[each]]
        codes = np.where(single[each] == _KEEPS, codes, single[each])
    changed = (replaced != code[chosen]).all(axis=1)
    column, becomes = first[chosen], np.where(replaced == _KEEPS, code[chosen], _KEEPS)
    return _Ways(codes[changed], column[changed], becomes[changed])
