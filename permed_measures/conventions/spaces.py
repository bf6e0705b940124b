"""Measures of runs by each of many conventions: those near the ones that have a name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import combinations, product
from math import prod
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from permed_measures.conventions.named import NamedConvention
from permed_measures.conventions.names import typed
from permed_measures.conventions.options import (
    CUTOFF,
    OF_ALL,
    OF_RANKINGS,
    OPTIONS_OF,
    OWN,
    SAME,
    SHARED,
    Options,
    differing,
    place,
    query_sets,
    seen_by,
)
from permed_measures.conventions.records import OPTIONS
from permed_measures.conventions.runs import RunVariants, options_for
from permed_measures.measures.parameters import Cutoff

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
"""Conventions: a row for each, a column for each option of a space, in it the number of a value."""


class Quantity:
    """A measure of a run, which any convention computes.

    Attributes
    ----------
    name : str
        What it is called; ``cutoff of NAME`` is the option that is its cutoff.
    measure : {'AP', 'nDCG', 'P', 'R', 'RR', 'Success', 'F1'} or str
        Another measure as one would type it, which has no options.
    cutoffs : tuple
        The cutoffs to try, the usual one first.
    run : RunVariants
    options : tuple of str
        Those that its value depends on.
    """

    def __init__(self, name: str, measure: str, cutoffs: tuple[Cutoff, ...], run: RunVariants) -> None:
        self.name, self.measure, self.cutoffs, self.run = name, measure, cutoffs, run
        first = (each for each in SHARED if each != "depth")
        # Lists that are cut come last: to many measures that is no other than their cutoff.
        self.options = (*first, *OPTIONS_OF.get(measure, ()), CUTOFF + name, "depth")

    def cutoff(self, convention: Options) -> Cutoff:
        """Return the cutoff that a convention has for it."""
        rank: Cutoff = convention[CUTOFF + self.name]
        return rank

    def means(self, convention: Options) -> Floats:
        """Compute it by a convention over each query set; NaN where that means nothing."""
        found = self.run.means(self.measure, self.cutoff(convention), convention)
        return np.full(len(query_sets()), np.nan) if found is None else found

    def value(self, convention: Options) -> float:
        """Compute it by a convention; NaN if that means nothing here."""
        return float(self.means(convention)[place(self.own(convention)["queries"])])

    def own(self, convention: Options) -> Options:
        """Return a convention as the measure sees it, without the options that others have for themselves."""
        return seen_by(self.measure, convention)

    def depends_on(self, option: str) -> bool:
        """Return whether its value depends on an option, which may be that of one measure."""
        return option in self.options or option in OWN.get(self.measure, {})

    def typed(self, convention: Options) -> str:
        """Write the measure by a convention as one would type it."""
        ranked = self.run.ranked(self.own(convention))
        labels = self.run.labels if ranked is None else ranked.labels
        return typed(self.measure, self.cutoff(convention), options_for(self.measure, convention), labels)


Q = TypeVar("Q", bound=Quantity)
T = TypeVar("T")
_AT_ONCE = 50_000
"""About how many conventions are looked at together."""


class Near(NamedTuple):
    """Conventions that are so many changes from one of the bases of a space.

    Attributes
    ----------
    n_changes : int
    codes : ndarray of int64, shape (n, number of options)
    base : ndarray of int64, shape (n,)
        The number of the base that each is near to, ascending.
    """

    n_changes: int
    codes: Codes
    base: Codes


class Space(Generic[Q]):
    """The conventions near some named ones, for some measures of runs.

    Parameters
    ----------
    trials : sequence of Quantity
    conventions : sequence of NamedConvention
        Those that have all the measures are the bases.
    usual : dict of str to Cutoff, optional
        By the name of a quantity the cutoff that is no change; the first that it has if left out.
    apart : collection of str
        The options that one measure may have for itself, which is one change; one at most is made.
    """

    def __init__(
        self,
        trials: Sequence[Q],
        conventions: Sequence[NamedConvention],
        usual: dict[str, Cutoff] | None = None,
        apart: Collection[str] = (),
    ) -> None:
        self.trials, self.conventions = trials, conventions
        self.usual = {trial.name: trial.cutoffs[0] for trial in trials} if usual is None else usual
        named = [each for each in conventions if all(each.has(trial.measure) for trial in trials)]
        had = {option for trial in trials for option in trial.options}  # in an order that is not theirs
        last = had & {"depth"}  # after the cutoffs, as in each quantity
        self.options = [option for option in OPTIONS if option in had - last]
        self.options += [*sorted(had - {*OPTIONS}), *last]
        self.options += self._own_options(named, apart)
        self.values = {option: list(self._values(option, apart)) for option in self.options}
        self.bases = [
            (each, {option: each.at(self.usual).get(option, SAME) for option in self.options})
            for each in named
        ]
        self._is_apart = np.array([OF_ALL.get(option) in apart for option in self.options])
        self._number_values()

    def _own_options(self, named: Sequence[NamedConvention], apart: Collection[str]) -> Iterator[str]:
        """Yield the options that a measure may have for itself, or has by a named convention."""
        options_of = {trial.measure: trial.options for trial in self.trials}
        for measure in sorted(options_of):
            for own, option in OWN.get(measure, {}).items():
                several = sum(option in options for options in options_of.values()) > 1
                if (several and option in apart) or any(own in each.options for each in named):
                    yield own

    def _number_values(self) -> None:
        """Give numbers to the values of each option, first to those to change to; write the bases in them."""
        self._numbered: dict[str, list[Any]] = {
            option: list(dict.fromkeys([*values, *(base[option] for _, base in self.bases)]))
            for option, values in self.values.items()
        }
        for own in (each for each in self.options if each in OF_ALL):
            of_all = self._numbered[OF_ALL[own]]
            of_all += [value for value in self._numbered[own] if value not in (SAME, *of_all)]
        rows = [self.codes(base) for _, base in self.bases]
        self._bases = np.array(rows, np.int64).reshape(len(rows), len(self.options))
        self._means: dict[Q, dict[int, Floats]] = {}
        self._rankings: dict[RunVariants, dict[int, int]] = {}

    def _values(self, option: str, apart: Collection[str]) -> Iterator[object]:
        """Yield the values of an option that can be computed."""
        if option.startswith(CUTOFF):
            trial = next(each for each in self.trials if CUTOFF + each.name == option)
            yield from dict.fromkeys([*trial.cutoffs, self.usual[trial.name]])
            return
        of_all, trials = OF_ALL.get(option, option), self.trials
        if option in OF_ALL:
            yield SAME
            measure = option.rpartition(" ")[2]
            trials = [trial for trial in trials if trial.measure == measure and of_all in apart]
        if of_all in SHARED:
            offered = {value for trial in trials for value in trial.run.offers(of_all)}
            yield from (value for value in OPTIONS[of_all].values if value in offered)
        elif trials:
            measures = [trial.measure for trial in trials]
            yield from OPTIONS[of_all].values_for(measures, trials[0].run.labels.levels)

    def within(self, most: int) -> Iterator[Near]:
        """Yield the conventions with up to so many changes from one of the bases, those with fewer first.

        One near several bases comes several times.
        """
        sizes = list(map(len, self.values.values()))
        for n in range(most + 1):
            where, values = _changes(sizes, n, self._is_apart)
            n_at_once = max(_AT_ONCE // max(len(where), 1), 1)
            for start in range(0, len(self._bases), n_at_once):
                bases = np.arange(start, min(start + n_at_once, len(self._bases)))
                base = np.repeat(bases, len(where))
                codes = self._bases[base]
                np.put_along_axis(
                    codes, np.tile(where, (len(bases), 1)), np.tile(values, (len(bases), 1)), axis=1
                )
                changed = (codes != self._bases[base]).sum(axis=1) == n
                yield Near(n, codes[changed], base[changed])

    def convention(self, codes: Codes) -> Options:
        """Return the convention of a row of codes."""
        return {
            option: values[code]
            for (option, values), code in zip(self._numbered.items(), codes.tolist(), strict=True)
        }

    def numbered(self, option: str) -> list[Any]:
        """Return the values of an option, each at its number in codes."""
        return self._numbered[option]

    def codes(self, convention: Options) -> Codes:
        """Return the row of a convention."""
        return np.array([self.numbered(option).index(convention[option]) for option in self.options])

    def numbers(self, trial: Q, option: str, near: Codes) -> NDArray[np.int64]:
        """Return the number of the value that an option has for a measure, by conventions."""
        at = self.options.index(option)
        found: NDArray[np.int64] = near[:, at]
        own = f"{option} of {trial.measure}"
        if own in self.options:
            of_own, of_all = self._numbered[own], self._numbered[option]
            number = np.array([-1 if value == SAME else of_all.index(value) for value in of_own])
            ours = number[near[:, self.options.index(own)]]
            found = np.where(ours < 0, found, ours)
        return found

    def as_seen(self, trial: Q, options: Sequence[str], near: Codes) -> NDArray[np.int64]:
        """Return a number for each convention: one for all that have the same options for a measure."""
        found, size = np.zeros(len(near), np.int64), 1
        for option in options:
            found += size * self.numbers(trial, option, near)
            size *= len(self._numbered[option])
        return found

    def has(self, trial: Q, option: str, value: object, near: Codes) -> NDArray[np.bool_]:
        """Return which conventions have a value of an option for a measure."""
        has_value = np.array([each == value for each in self._numbered[option]])
        return np.asarray(has_value[self.numbers(trial, option, near)])

    def computed(self, trial: Q, near: Codes) -> Floats:
        """Compute a measure by conventions; NaN where one means nothing."""
        places = np.array([place(each) for each in self._numbered["queries"]])
        queries = places[self.numbers(trial, "queries", near)]
        found: Floats = self._means_of(trial, near)[np.arange(len(near)), queries]
        return found

    def forget(self, trial: Q) -> None:
        """Drop what was computed of a measure that is not asked for again."""
        self._means.pop(trial, None)
        self._rankings.pop(trial.run, None)

    def _means_of(self, trial: Q, near: Codes) -> Floats:
        """Return the means of a measure over each query set: one row for each convention."""
        options = [each for each in trial.options if each not in ("queries", *OF_RANKINGS)]
        size = prod(len(self.numbered(option)) for option in options)
        numbers = self.as_seen(trial, options, near) + size * self._rankings_of(trial, near)
        known = self._means.setdefault(trial, {})
        return self._once(known, numbers, near, trial.means).reshape(-1, len(query_sets()))

    def _rankings_of(self, trial: Q, near: Codes) -> NDArray[np.int64]:
        """Return the number of the ranking by each convention, as a measure sees it."""
        numbers, known = self.as_seen(trial, OF_RANKINGS, near), self._rankings.setdefault(trial.run, {})
        found = self._once(known, numbers, near, lambda each: trial.run.number_of(trial.own(each)))
        return found.astype(np.int64)

    def _once(
        self, known: dict[int, T], numbers: NDArray[np.int64], near: Codes, compute: Callable[[Options], T]
    ) -> NDArray[Any]:
        """Compute something by conventions, once by those with the same number; `known` keeps it."""
        keys, first, which = np.unique(numbers, return_index=True, return_inverse=True)
        for key, row in zip(keys.tolist(), first.tolist(), strict=True):
            if key not in known:
                known[key] = compute(self.convention(near[row]))
        return np.array([known[key] for key in keys.tolist()])[which]

    def neighbours(self, convention: Options) -> Iterator[tuple[str, object, Options]]:
        """Yield each convention that differs in one option, after the option and its new value."""
        for other in differing(convention, self.values, 1):
            [option] = [each for each, value in other.items() if value != convention[each]]
            yield option, other[option], other


def _changes(sizes: Sequence[int], n: int, is_apart: NDArray[np.bool_]) -> tuple[Codes, Codes]:
    """Return all ways to change `n` options that have so many values, of those apart one at most.

    Returns
    -------
    options, values : ndarray of int64, shape (number of ways, n)
        The numbers of the options that are changed, and those of their new values.
    """
    ways = [
        (options, values)
        for options in combinations(range(len(sizes)), n)
        if is_apart[[*options]].sum() <= 1
        for values in product(*(range(sizes[option]) for option in options))
    ]
    options, values = np.array(ways, np.int64).reshape(len(ways), 2, n).swapaxes(0, 1)
    return options, values
