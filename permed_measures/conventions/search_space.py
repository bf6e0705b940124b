"""Compute measures by many conventions at once: the named ones, and those a few changes away."""

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
    Options,
    Setting,
    meant,
    measures_by_value,
    query_set_index,
    query_sets,
    rounding_of,
    settings,
    with_value,
)
from permed_measures.conventions.ranking_variants import RunVariants, options_for
from permed_measures.conventions.records import DEPTH, OPTIONS, QUERY_SET, ROUNDING
from permed_measures.measures.parameters import Cutoff

Codes = NDArray[np.signedinteger[Any]]
"""Conventions as integers: a row each, and a column for each option of each measure."""


class Measurement:
    """A measure of a run, to be computed by any convention.

    Attributes
    ----------
    name : str
        Its name. The option ``cutoff of NAME`` is its cutoff.
    measure : {'AP', 'nDCG', 'P', 'R', 'RR', 'Success', 'F1'} or str
        Any other measure is written as one would type it, and has no options of its own.
    cutoffs : tuple
        The cutoffs to try, the usual one first.
    run : RunVariants
    options : tuple of str
        The options that its value depends on.
    """

    def __init__(self, name: str, measure: str, cutoffs: tuple[Cutoff, ...], run: RunVariants) -> None:
        self.name, self.measure, self.cutoffs, self.run = name, measure, cutoffs, run
        first = (option for option in SHARED if option != DEPTH)
        # The length of lists comes last: for many measures it has the same effect as the cutoff.
        self.options = (*first, *OPTIONS_OF.get(measure, ()), CUTOFF_OF + name, DEPTH)

    def cutoff(self, convention: Convention) -> Cutoff:
        """Return its cutoff in a convention."""
        cutoff: Cutoff = convention[self.measure][CUTOFF_OF + self.name]
        return cutoff

    def means(self, convention: Convention) -> Floats:
        """Compute its mean by a convention over each query set; NaN where it is not defined."""
        means = self.run.means(self.measure, self.cutoff(convention), convention[self.measure])
        return np.full(len(query_sets()), np.nan) if means is None else means

    def value(self, convention: Convention) -> float:
        """Compute its mean by a convention; NaN if it is not defined."""
        return float(self.means(convention)[query_set_index(convention[self.measure][QUERY_SET])])

    def measure_string(self, convention: Convention) -> str:
        """Write the measure as one would type it to compute it by a convention."""
        options = convention[self.measure]
        ranked = self.run.ranked(options)
        labels = self.run.labels if ranked is None else ranked.labels
        return measure_string(
            self.measure, self.cutoff(convention), options_for(self.measure, options), labels
        )


Q = TypeVar("Q", bound=Measurement)
T = TypeVar("T")
_ROWS_AT_ONCE = 50_000
"""About how many conventions one array holds."""
_KEEP, _LIKE_OTHERS = -1, -2
"""In place of the code of a value: the column keeps its value, or takes that of the other measures."""


class Neighbourhood(NamedTuple):
    """Conventions with the same number of changes from a base of a space.

    Attributes
    ----------
    codes : ndarray of int16, shape (n, number of columns)
    base : ndarray of int64, shape (n,)
        The index of the base of each convention, ascending.
    """

    codes: Codes
    base: Codes


class _Change(NamedTuple):
    """A change of one option, with each value that it may get.

    Attributes
    ----------
    columns : list of int
        The columns of the measures that change.
    codes : ndarray of int16, shape (number of values, number of columns)
        The new value in each column. `_LIKE_OTHERS` gives a measure the value that the others have.
    sets_apart : bool
        Whether one measure gets a value for itself.
    """

    columns: list[int]
    codes: Codes
    sets_apart: bool


_Sharing = dict[str, list[str]]
"""The measures that share a value of each option in a base."""


class _CombinedChanges(NamedTuple):
    """All combinations of n changes.

    Attributes
    ----------
    codes : ndarray of int16, shape (number of combinations, number of columns)
        The new value in each column; `_KEEP` where nothing changes.
    column, code : ndarray of int, shape (number of combinations, number of changes)
        One column of each change, and its new value there. A base that has this value already is not changed.
    """

    codes: Codes
    column: Codes
    code: Codes


class ConventionSpace(Generic[Q]):
    """The named conventions and their neighbours, for some measures of runs.

    A change gives another value of an option to all measures that share a value in a named convention. If a
    measure has a value of its own there, giving it the value of the others is a change too.

    Parameters
    ----------
    measurements : sequence of Measurement
    conventions : sequence of NamedConvention
        The conventions that cover all measures are the bases.
    base_cutoffs : dict of str to Cutoff, optional
        The cutoff of each measurement in the bases, by its name. If left out, its first cutoff.
    per_measure : collection of str
        The options that may change for one measure alone. A neighbour has at most one such change.

    Attributes
    ----------
    options : list of str
    values : dict of str to list
        The values to try of each option.
    bases : list of tuple
        The named conventions, each with its options of the measures.
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
            {each.name: each.cutoffs[0] for each in measurements} if base_cutoffs is None else base_cutoffs
        )
        covering = [named for named in conventions if all(named.has(each.measure) for each in measurements)]
        options = {option for each in measurements for option in each.options}
        last = options & {DEPTH}  # after the cutoffs, as in each measurement
        self.options = [option for option in OPTIONS if option in options - last]
        self.options += [*sorted(options - {*OPTIONS}), *last]
        self.values = {option: list(self._values(option)) for option in self.options}
        self.bases = [(named, named.with_cutoffs(measurements, self.base_cutoffs)) for named in covering]
        self._encode()

    def _encode(self) -> None:
        """Give a code to each value of each option, first to those to try, and encode the bases."""
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
        self._column = {column: index for index, column in enumerate(columns)}
        self._columns_of: dict[str, list[tuple[str, int]]] = {measure: [] for measure in options_of}
        for index, (measure, option) in enumerate(columns):
            self._columns_of[measure].append((option, index))
        self._sharing = [self._sharing_in(*base) for base in self.bases]
        rows = [self.codes(base) for _, base in self.bases]
        self._bases = np.array(rows, np.int16).reshape(len(rows), len(columns))
        self._means: dict[Q, dict[int, Floats]] = {}
        self._rankings: dict[RunVariants, dict[int, int]] = {}

    def _others(self, option: str) -> Iterator[object]:
        """Yield the values of an option in the bases, and the community's value."""
        for _, base in self.bases:
            yield from measures_by_value(base, option)
        if option in OPTIONS:
            yield DEFAULT[option]

    def _values(self, option: str) -> Iterator[object]:
        """Yield the values of an option that are worth trying."""
        if option.startswith(CUTOFF_OF):
            measurement = next(each for each in self.measurements if CUTOFF_OF + each.name == option)
            yield from dict.fromkeys([*measurement.cutoffs, self.base_cutoffs[measurement.name]])
        elif option in SHARED:
            applicable = {value for each in self.measurements for value in each.run.applicable_values(option)}
            yield from (value for value in OPTIONS[option].values if value in applicable)
        else:
            measures = [each.measure for each in self.measurements]
            yield from OPTIONS[option].values_for(measures, self.measurements[0].run.labels.levels)

    # --- neighbours ------------------------------------------------------------------------------------

    def neighbours(self, n_changes: int) -> Iterator[Neighbourhood]:
        """Yield the conventions with `n_changes` changes from a base, some at a time.

        A neighbour of several bases comes once for each of them.
        """
        if not n_changes:
            yield Neighbourhood(self._bases, np.arange(len(self._bases)))
            return
        combined: dict[str, _CombinedChanges] = {}
        for sharing, bases in groupby(range(len(self.bases)), lambda index: self._sharing[index]):
            if str(sharing) not in combined:
                combined[str(sharing)] = _combine(self._changes(sharing), n_changes, len(self._column))
            yield from self._change_bases(combined[str(sharing)], np.array([*bases]), sharing)

    def _change_bases(
        self, changes: _CombinedChanges, bases: Codes, sharing: _Sharing
    ) -> Iterator[Neighbourhood]:
        """Apply each combination of changes to each base, some bases at a time."""
        n_at_once = max(_ROWS_AT_ONCE // max(len(changes.codes), 1), 1)
        for start in range(0, len(bases), n_at_once):
            base = np.repeat(bases[start : start + n_at_once], len(changes.codes))
            codes, column, code = (np.tile(each, (len(base) // max(len(each), 1), 1)) for each in changes)
            before = self._bases[base]
            changed = (np.take_along_axis(before, column, axis=1) != code).all(axis=1)
            after = self._like_others(codes, np.where(codes == _KEEP, before, codes), sharing)
            changed &= ~((codes == _LIKE_OTHERS) & (after == before)).any(axis=1)
            yield Neighbourhood(after[changed], base[changed])

    def _like_others(self, codes: Codes, after: Codes, sharing: _Sharing) -> Codes:
        """Replace `_LIKE_OTHERS` by the value of the measures that share one."""
        for (measure, option), column in self._column.items():
            rows = np.flatnonzero(codes[:, column] == _LIKE_OTHERS)
            if len(rows):
                values = (meant(measure, option, value) for value in self._coded_values[option])
                new_code = np.array([self._code(option, value) for value in values])
                after[rows, column] = new_code[after[rows, self._column[sharing[option][0], option]]]
        return after

    def _changes(self, sharing: _Sharing) -> list[_Change]:
        """List the changes of a base: first those of the measures that share a value, then those of one."""
        shared, single = list[_Change](), list[_Change]()
        for option in self.options:
            measures = [measure for measure, other in self._column if other == option]
            shared.append(self._change(option, sharing[option]))
            sets_apart = option in self._per_measure
            single += [
                _Change([self._column[measure, option]], np.array([[_LIKE_OTHERS]], np.int16), sets_apart)
                for measure in measures
                if measure not in sharing[option]
            ]
            if sets_apart and len(measures) > 1:
                single += [self._change(option, [measure], sets_apart) for measure in measures]
        return [*shared, *single]

    def _sharing_in(self, named: NamedConvention, base: Convention) -> _Sharing:
        """List the measures that share a value of each option; all measures if none shares it."""
        sharing = {}
        for option in self.options:
            measures = [measure for measure in base if option in base[measure]]
            shared = [each for each in measures if named.is_shared(each, option, base[each][option])]
            sharing[option] = shared or measures
        return sharing

    def _code(self, option: str, value: Any) -> int:
        return self._coded_values[option].index(value)

    def _change(self, option: str, measures: list[str], sets_apart: bool = False) -> _Change:
        records = OPTIONS[option].values if option in OPTIONS else {}
        values = [
            value
            for value in self.values[option]
            if value not in records or not records[value].measures or {*records[value].measures} & {*measures}
        ]
        codes = [
            [self._code(option, meant(measure, option, value)) for measure in measures] for value in values
        ]
        columns = [self._column[measure, option] for measure in measures]
        return _Change(columns, np.array(codes, np.int16).reshape(len(values), len(measures)), sets_apart)

    def changed_once(self, convention: Convention) -> Iterator[tuple[Setting, object, Convention]]:
        """Yield each convention that differs in one setting, with the setting and its new value."""
        for setting in settings(convention):
            for value in self.values[setting.option]:
                other = with_value(convention, setting.option, value, setting.measures)
                if other != convention:
                    yield setting, value, other

    # --- conventions as integers -----------------------------------------------------------------------

    def convention(self, codes: Codes) -> Convention:
        """Decode a row of codes."""
        return {measure: self.options_of(measure, codes) for measure in self._columns_of}

    def options_of(self, measure: str, codes: Codes) -> Options:
        """Decode the options of one measure in a row of codes."""
        row, columns = codes.tolist(), self._columns_of[measure]
        return {option: self._coded_values[option][row[column]] for option, column in columns}

    def coded_values(self, option: str) -> list[Any]:
        """Return the values of an option; the index of a value is its code."""
        return self._coded_values[option]

    def codes(self, convention: Convention) -> Codes:
        """Encode a convention as a row."""
        return np.array([self._code(option, convention[measure][option]) for measure, option in self._column])

    def option_codes(self, measurement: Q, option: str, codes: Codes) -> NDArray[np.int64]:
        """Return the code of an option of a measurement, for each convention."""
        return np.asarray(codes[:, self._column[measurement.measure, option]], np.int64)

    def measure_keys(self, measurement: Q, options: Sequence[str], codes: Codes) -> NDArray[np.int64]:
        """Return an integer for each convention, equal where these options of a measurement are equal."""
        keys, size = np.zeros(len(codes), np.int64), 1
        for option in options:
            keys += size * self.option_codes(measurement, option, codes)
            size *= len(self._coded_values[option])
        return keys

    def has(self, measurement: Q, option: str, value: object, codes: Codes) -> NDArray[np.bool_]:
        """Check which conventions have a value of an option for a measurement."""
        is_value = np.array([each == value for each in self._coded_values[option]])
        return np.asarray(is_value[self.option_codes(measurement, option, codes)])

    def compute(self, measurement: Q, codes: Codes) -> Floats:
        """Compute the mean of a measurement by each convention; NaN where it is not defined."""
        cache = self._means.setdefault(measurement, {})
        return self.in_own_sets(measurement, codes, cache, measurement.means)

    def forget(self, measurement: Q) -> None:
        """Free the means of a measurement that is not needed again."""
        self._means.pop(measurement, None)
        self._rankings.pop(measurement.run, None)

    def in_own_sets(
        self,
        measurement: Q,
        codes: Codes,
        cache: dict[int, NDArray[Any]],
        compute: Callable[[Convention], NDArray[Any]],
        without_effect: Collection[str] = (),
    ) -> NDArray[Any]:
        """Compute something for all query sets at once, and take that of the query set of each convention.

        Parameters
        ----------
        measurement : Measurement
        codes : ndarray
        cache : dict
            The results by the rankings and the other options.
        compute : callable
            A convention to an array with an entry for each query set.
        without_effect : collection of str
            Further options without an effect on the result. How means are rounded never has one.
        """
        apart = (QUERY_SET, ROUNDING, *OF_RANKINGS, *without_effect)
        options = [option for option in measurement.options if option not in apart]
        size = prod(len(self.coded_values(option)) for option in options)
        keys = self.measure_keys(measurement, options, codes)
        roundings = [rounding_of(value).of_queries for value in self._coded_values[ROUNDING]]
        same_rounding = np.array([roundings.index(each) for each in roundings])
        keys += size * same_rounding[self.option_codes(measurement, ROUNDING, codes)]
        keys += size * len(roundings) * self._rankings_of(measurement, codes)
        results = self._compute_unique(cache, keys, codes, measurement, compute)
        set_of_code = np.array([query_set_index(queries) for queries in self._coded_values[QUERY_SET]])
        query_set = set_of_code[self.option_codes(measurement, QUERY_SET, codes)]
        return np.asarray(results.reshape(-1, len(query_sets()))[np.arange(len(codes)), query_set])

    def _rankings_of(self, measurement: Q, codes: Codes) -> NDArray[np.int64]:
        """Return the number of the ranking of a measurement by each convention."""

        def ranking_number(convention: Convention) -> int:
            return measurement.run.ranking_number(convention[measurement.measure])

        keys = self.measure_keys(measurement, OF_RANKINGS, codes)
        cache = self._rankings.setdefault(measurement.run, {})
        return self._compute_unique(cache, keys, codes, measurement, ranking_number).astype(np.int64)

    def _compute_unique(
        self,
        cache: dict[int, T],
        keys: NDArray[np.int64],
        codes: Codes,
        measurement: Q,
        compute: Callable[[Convention], T],
    ) -> NDArray[Any]:
        """Compute a result of a measurement by each convention, once for each key that the cache lacks."""
        unique, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        for key, row in zip(unique.tolist(), first.tolist(), strict=True):
            if key not in cache:
                options = self.options_of(measurement.measure, codes[row])
                cache[key] = compute({measurement.measure: options})
        return np.array([cache[key] for key in unique.tolist()])[inverse]


def _combine(changes: Sequence[_Change], n: int, n_columns: int) -> _CombinedChanges:
    """Combine `n` changes in all ways; at most one of them sets a measure apart.

    If two changes have a column in common, the later one counts there.
    """
    sizes = [len(change.codes) for change in changes]
    change_of = np.repeat(np.arange(len(changes)), sizes)
    sets_apart = np.repeat(np.array([change.sets_apart for change in changes], np.int64), sizes)
    single = np.full((len(change_of), n_columns), _KEEP, np.int16)
    for index, change in enumerate(changes):
        single[np.ix_(change_of == index, change.columns)] = change.codes
    first = np.repeat([change.columns[0] for change in changes], sizes)
    code = single[np.arange(len(first)), first]
    chosen = np.zeros((1, 0), np.int64)
    for _ in range(n):
        pairs = np.repeat(chosen, len(change_of), axis=0), np.tile(np.arange(len(change_of)), len(chosen))
        chosen = np.column_stack(pairs)
        in_order = (np.diff(change_of[chosen], axis=1) > 0).all(axis=1)
        chosen = chosen[in_order & (sets_apart[chosen].sum(axis=1) <= 1)]
    by_change_then_value = np.lexsort([*chosen.T[::-1], *change_of[chosen].T[::-1]])
    chosen = chosen[by_change_then_value]
    codes = np.full((len(chosen), n_columns), _KEEP, np.int16)
    replaced = np.zeros(chosen.shape, np.int16)
    for step in range(n):
        rows = chosen[:, step]
        replaced[:, step] = codes[np.arange(len(rows)), first[rows]]
        codes = np.where(single[rows] == _KEEP, codes, single[rows])
    changed = (replaced != code[chosen]).all(axis=1)
    column, new_code = first[chosen], np.where(replaced == _KEEP, code[chosen], _KEEP)
    return _CombinedChanges(codes[changed], column[changed], new_code[changed])
