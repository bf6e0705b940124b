"""Find the conventions that give a function's numbers, by ruling out those that give another number."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from permed_measures.arrays import Floats
from permed_measures.conventions.aggregate import HALVES, ROUNDED_DIGITS, rounded
from permed_measures.conventions.evaluate import sees_unjudged
from permed_measures.conventions.named import NamedConvention
from permed_measures.conventions.options import (
    CUTOFF_OF,
    DEFAULT,
    OF_QUERIES,
    OPTIONS_OF,
    SHARED,
    Convention,
    counts_nothing_as_one,
    default_of,
    rounding_of,
    value_record,
    with_value,
)
from permed_measures.conventions.per_query import NEGATIVE, TIED
from permed_measures.conventions.ranking_variants import RunVariants, is_consistent_for, label_policies
from permed_measures.conventions.records import AVERAGED, DEPTH, OPTIONS, QUERY_SET, ROUNDING, TIES, Value
from permed_measures.conventions.search_space import Codes, ConventionSpace, Measurement
from permed_measures.engine.judgments import Judgments
from permed_measures.errors import InputError
from permed_measures.identification.cases import (
    NEGATIVE_GRADES,
    SKIPPABLE_TRAITS,
    TIED_SCORES,
    Case,
    as_seen,
    cases,
    cutoffs_of,
    fresh_cases,
    joined,
    lengthened,
    minimised,
    random_case,
)
from permed_measures.identification.files import PROGRAM_FILES
from permed_measures.identification.forms import SIGNATURES, Function, FunctionSignature
from permed_measures.identification.program import Program
from permed_measures.identification.script import ENDED, Script
from permed_measures.identification.user_function import (
    ScriptError,
    error_location,
    error_text,
    returned_by,
    written_call,
)
from permed_measures.measures.parameters import Cutoff
from permed_measures.progress import tracked
from permed_measures.tolerances import NUMBER_OF_FUNCTION, SINGLE_PRECISION, SUM_NOISE
from permed_measures.wording import pluralize


class TargetMeasure(NamedTuple):
    """The measure that a function should compute: a name, and the measure and cutoffs that it may mean."""

    name: str
    measure: str
    cutoffs: tuple[Cutoff, ...]

    @property
    def default(self) -> Convention:
        """The convention of ir_measures for it."""
        return {self.measure: {**default_of(self.measure), CUTOFF_OF + self.name: self.cutoffs[0]}}

    def of(self, case: Case) -> Measurement:
        """Prepare the measure on a case, so that any convention can compute it."""
        policies = label_policies(Judgments.of(case.qrels), complete=True)
        all_ties = sees_unjudged(self.measure)
        return Measurement(
            *self, RunVariants(policies, case.run, all_ties=all_ties, complete=True, warns=False)
        )


class _Rounded(Measurement):
    """A measure whose value for each query is rounded, to a number of digits and with a rule for halves."""

    def __init__(self, exact: Measurement, way: tuple[int, str]) -> None:
        super().__init__(exact.name, exact.measure, exact.cutoffs, exact.run)
        self._way = way

    def means(self, convention: Convention) -> Floats:
        return super().means(with_value(convention, ROUNDING, self._way))


@dataclass(frozen=True, eq=False)
class FunctionCall:
    """A call of the function on a case, with its result: a number, or the error that it raised.

    Attributes
    ----------
    case : Case
    target : TargetMeasure
    value : float
        The number; NaN if the function raised.
    error : BaseException or None
    note : str
        How the number was read from what the function returned.
    warned : tuple of str
        The floating-point warnings of NumPy.
    """

    case: Case
    target: TargetMeasure
    value: float = np.nan
    error: BaseException | None = None
    note: str = ""
    warned: tuple[str, ...] = ()

    @cached_property
    def measurement(self) -> Measurement:
        """The measure on the case, for any convention."""
        return self.target.of(self.case)

    @cached_property
    def _rounded(self) -> dict[tuple[int, str], Measurement]:
        return {}

    def rounded(self, digits: int, way: str) -> Measurement:
        """Return the measure on the case, with the value of each query rounded."""
        if (digits, way) not in self._rounded:
            self._rounded[digits, way] = _Rounded(self.measurement, (digits, way))
        return self._rounded[digits, way]

    @property
    def raised(self) -> tuple[str, str]:
        """The type of the error and its line; empty texts if the function did not raise."""
        if self.error is None:
            return "", ""
        kind = self.error.kind if isinstance(self.error, ScriptError) else type(self.error).__name__
        return kind, error_location(self.error)

    @property
    def has_one_query(self) -> bool:
        """Whether qrels and run together have one query."""
        return len({*self.case.qrels, *self.case.run}) == 1


def call_function(
    function: Function | Script, form: FunctionSignature, case: Case, target: TargetMeasure
) -> FunctionCall:
    """Call a function on the part of a case that its form shows, and keep its number or its error."""
    case = as_seen(case, form)
    returned_to = function.returned if isinstance(function, Script) else partial(returned_by, function)
    try:
        returned = returned_to(form, case, target.name)
    except (KeyboardInterrupt, GeneratorExit):  # Ctrl-C here; one in a script's process is its error
        raise
    except BaseException as error:
        return FunctionCall(case, target, error=error)
    return FunctionCall(case, target, returned.value, note=returned.note, warned=returned.warned)


# --- how numbers are read ------------------------------------------------------------------------------


class OutputScale(NamedTuple):
    """The scale of a function's numbers: fractions or percent, exact or rounded.

    Attributes
    ----------
    divisor : float
        The number to divide by: 100 for percent, else 1.
    tolerance : float
        The largest difference from the value of a convention that counts as equal.
    digits : int or None
        The number of digits after rounding, once divided; None if the numbers are not rounded.
    per_query : bool
        Whether the value of each query is rounded, and not the mean.
    note : str
        The scale in words; empty for exact fractions.
    """

    divisor: float = 1.0
    tolerance: float = NUMBER_OF_FUNCTION
    digits: int | None = None
    per_query: bool = False
    note: str = ""

    @property
    def rounding(self) -> str:
        """The value of the option `rounding` that rounds like this; the default if none does."""
        exact = str(DEFAULT[ROUNDING])
        known: dict[int | None, str] = {}
        for name in OPTIONS[ROUNDING].values:
            of_mean, of_queries = rounding_of(name)
            if of_queries is not None and self.per_query:
                known[of_queries[0]] = name
            elif of_queries is None and not self.per_query:
                known[of_mean] = name
        return known.get(self.digits, exact) if self.divisor == 1 and self.digits else exact


def output_scales(calls: Sequence[FunctionCall], one_query: bool = False) -> Iterator[OutputScale]:
    """Yield the scales that fit all numbers: exact, rounded means or values of queries, also in percent."""
    values = np.array([each.value for each in calls])
    is_one = np.array([each.has_one_query for each in calls])
    is_single_precision = (values[is_one] == values[is_one].astype(np.float32)).all()
    tolerance = SINGLE_PRECISION if is_single_precision else OutputScale().tolerance
    for divisor, percent in (1.0, ""), (100.0, "in percent"):
        if divisor != 1 and not values.max() > 1:
            continue
        yield OutputScale(divisor, tolerance, note=percent)
        for per_query, rows in (False, np.ones_like(is_one)), (True, is_one):
            digits = _digits(values[rows] / divisor)
            if digits is None or (per_query != one_query and rows.all()):
                continue
            n = pluralize(digits - 2 * (divisor != 1), "digit")
            text = f"rounded to {n}, query by query" if per_query and not one_query else f"rounded to {n}"
            note = ", ".join(filter(None, [percent, text]))
            yield OutputScale(divisor, OutputScale().tolerance, digits, per_query, note)


def _digits(values: Floats) -> int | None:
    """Find the smallest number of digits that all numbers are rounded to; None if they are not rounded."""
    return next((n for n in ROUNDED_DIGITS if (np.abs(np.round(values, n) - values) < SUM_NOISE).all()), None)


def convention_value(quantity: Measurement, convention: Convention) -> float:
    """Compute a measure by a convention, rounded by its own rule; NaN where it is not defined."""
    return rounded_mean(quantity.value(convention), quantity.measure, convention)


def rounded_mean(value: float, measure: str, convention: Convention) -> float:
    """Round a mean by the rule of a convention."""
    digits = rounding_of(convention[measure][ROUNDING]).of_mean
    return value if digits is None else round(value, digits)


# --- the search ----------------------------------------------------------------------------------------

_IN_A_ROW = 10
"""After this many errors in a row, the function is not called on further cases of the same kind."""
_MAX_CONVENTIONS_LEFT = 500_000
"""The largest number of conventions that the search keeps at once."""
GRADES = Case({"c_1": {"a": 3, "b": 2, "c": 1}}, {"c_1": {"a": 1.0}})
"""A case with each grade that can be the lowest relevant one."""


class FunctionSearch:
    """Call a function on all cases, and search the conventions that give its numbers.

    Parameters
    ----------
    function : callable
    form : FunctionSignature
    target : TargetMeasure
        If the function returns several numbers, its name chooses one.
    named : sequence of NamedConvention

    Attributes
    ----------
    calls : list of FunctionCall
    answered : list of FunctionCall
        The calls that returned a number.
    space : ConventionSpace
        The conventions to try: all values of all options, crossed.
    observable : list of str
        The options whose values differ on some case where the function gives a number.
    scale : OutputScale
    skipped_traits : list of str
        Traits whose cases are skipped, because every convention that fits the other cases fails on them.
    not_crossed : list of str
        Options whose values agree on every case where the function gives a number.
    contradiction : FunctionCall or None
        A random case that rules out the last conventions which fit all other cases.

    Raises
    ------
    InputError
        If the function gives no number on most cases.
    """

    def __init__(
        self,
        function: Function | Script,
        form: FunctionSignature,
        target: TargetMeasure,
        named: Sequence[NamedConvention],
    ) -> None:
        self.function, self.form, self.target, self.scale = function, form, target, OutputScale()
        self.skipped_traits: list[str] = []
        self.contradiction: FunctionCall | None = None
        self.not_crossed: list[str] = []
        self._nearest: Codes | None = None
        self.calls = self._call_on_all()
        self.answered = [each for each in self.calls if each.error is None]
        quantities = [target.of(GRADES), *(each.measurement for each in self.calls)]
        self.space = ConventionSpace(quantities, named)
        self.observable = [option for option in self.space.options if self._is_observable(option)]

    def _is_observable(self, option: str, used: bool = True) -> bool:
        """Check whether the values of an option can differ on a case: on an answered one, or on any."""
        of_grades = option in OPTIONS and OPTIONS[option].of_grades
        if (option in OF_QUERIES and not self.form.queries) or (of_grades and not self.form.grades):
            return False
        calls = self.answered if used else self.calls
        return any(_may_distinguish(call.case, option) for call in calls)

    def form_observes(self, option: str) -> bool:
        """Check whether the function's form shows what an option depends on."""
        return self._is_observable(option, used=False)

    @property
    def is_constant(self) -> bool:
        """Whether the function gives the same number on every case, unlike any measure."""
        return bool(np.ptp([each.value for each in self.answered]) < SUM_NOISE)

    # --- calling the function --------------------------------------------------------------------------

    def call(self, case: Case) -> FunctionCall:
        """Call the function on a case."""
        return call_function(self.function, self.form, case, self.target)

    def _call_on_all(self) -> list[FunctionCall]:
        """Call the function on all cases; if it raises on most, add longer lists or more queries."""
        all_cases = list(cases(self.form, self.target.cutoffs))
        k = max(cutoffs_of(self.target.cutoffs))
        more = random_case(random.Random("more"), k, 2, 3)
        variants: list[Callable[[Case], Case]] = [
            lambda case: case,
            partial(lengthened, n=max(_LENGTH_OF_LONG_LISTS, 2 * k)),
        ]
        if not self.form.one_query:
            variants += [
                partial(joined, other=more),
                lambda case: lengthened(joined(case, more), max(_LENGTH_OF_LONG_LISTS, 2 * k)),
            ]
        calls: list[FunctionCall] = []
        for variant in variants:
            new_calls = self._call_on_some([variant(case) for case in all_cases])
            calls += new_calls
            if _gives_numbers(new_calls):
                return calls
        raise self._error(calls)

    def _call_on_some(self, cases: list[Case]) -> list[FunctionCall]:
        """Call the function on cases in mixed order, until it raises on many in a row."""
        answers: dict[int, FunctionCall] = {}
        in_a_row = 0
        order = [index for first in range(_STEP) for index in range(first, len(cases), _STEP)]
        for number_asked, index in enumerate(tracked(order, "calling the function")):
            if number_asked == _IN_A_ROW and isinstance(self.function, Program):
                self.function.prepare(cases)
            answers[index] = self.call(cases[index])
            in_a_row = in_a_row + 1 if answers[index].error else 0
            if in_a_row == _IN_A_ROW:
                break
        self._check_answers()
        return [answers[index] for index in sorted(answers)]

    def _check_answers(self) -> None:
        """Raise the reason if a script was given up: cases that were not tried are not evidence."""
        if isinstance(self.function, Script) and self.function.gave_up:
            raise self.function.gave_up

    def _error(self, calls: list[FunctionCall]) -> InputError:
        """Make the error for a function that raises on most cases: on how many, where and on what input."""
        raising = sorted((each for each in calls if each.error), key=lambda call: call.case.size)
        error = raising[0].error or ValueError()
        if isinstance(error, InputError) and len(raising) == len(calls):
            return error
        on = f"on {len(raising)} of {pluralize(len(calls), 'case')}"
        no_number = "gives no number on any case" if len(raising) == len(calls) else f"gives no number {on}"
        if isinstance(self.function, Program):
            others = ", ".join(each for each in PROGRAM_FILES if each != self.function.files)
            hint = (
                f"It was given {self.form.taken}: see that it takes them, or name others with --files "
                f"({others}): {self.function.line}"
            )
            return InputError(f"the program {no_number}: {error_text(error)}", hint=hint)
        called = self.written_call(raising[0].case)
        return InputError(
            f"the function {no_number}: {error_text(error)}",
            where=error_location(error),
            hint=f"It was called as {called}, with {self.form.taken}. If it takes something else, name its "
            f"form ({', '.join(SIGNATURES)}), or call it in a function of three lines",
        )

    def written_call(self, case: Case) -> str:
        """Write how the function is called with a case, shortened."""
        if isinstance(self.function, Script):
            return self.function.written_call(self.form, case)
        return written_call(self.function, self.form, case)

    # --- ruling out conventions ------------------------------------------------------------------------

    def consistent_conventions(self) -> Codes:
        """Find the conventions that give the number of every case, those nearest to a named one first."""
        if self.is_constant:
            return self.space.codes(self.target.default)[None][:0]
        for scale in output_scales(self.answered, self.form.one_query):
            self.scale, self.skipped_traits = scale, []
            candidates = self._ruled_out()
            while len(candidates):
                left = self._checked(self._in_order(candidates))
                trait = _last_trait(self.contradiction.case) if self.contradiction else None
                if trait is None:
                    return left
                self.skipped_traits.append(trait)
                self.contradiction = None
                candidates = self._ruled_out()
        self.scale, self.skipped_traits = OutputScale(), []
        return candidates

    def _in_order(self, candidates: Codes) -> Codes:
        """Sort conventions by their distance from a named one."""
        candidates[:, self.space.options.index(ROUNDING)] = self._code_of_rounding(self.scale.rounding)
        from_default = (candidates != self.space.codes(self.target.default)).sum(axis=1)
        cut = candidates[:, self.space.options.index(DEPTH)]  # on a tie, prefer the cutoff to a depth
        return np.asarray(candidates[np.lexsort((cut, from_default, self.distances(candidates).min(axis=1)))])

    def _code_of_rounding(self, rounding: str) -> int:
        return self.space.coded_values(ROUNDING).index(rounding)

    def _ruled_out(self) -> Codes:
        """Rule out conventions case by case; cases with skippable traits come last.

        An option keeps its default until a case comes on which its values can differ. Then all its values
        are crossed with the conventions that are left.
        """
        candidates, not_crossed = self.space.codes(self.target.default)[None], [*self.space.options]
        not_crossed.remove(ROUNDING)
        for trait in (None, *(trait for trait in SKIPPABLE_TRAITS if trait not in self.skipped_traits)):
            group = [each for each in self.counted(self.answered) if _last_trait(each.case) == trait]
            left, still_not_crossed = self._narrowed(candidates, not_crossed, group)
            if len(left) or trait is None:
                candidates, not_crossed = left, still_not_crossed
            else:
                self.skipped_traits.append(trait)
            if not len(candidates):
                break
        self.not_crossed = not_crossed
        return candidates

    def counted(self, calls: Iterable[FunctionCall]) -> list[FunctionCall]:
        """Return the calls whose cases are not skipped."""
        return [each for each in calls if not {*each.case.traits} & {*self.skipped_traits}]

    def _narrowed(
        self, candidates: Codes, not_crossed: list[str], calls: list[FunctionCall]
    ) -> tuple[Codes, list[str]]:
        """Keep the conventions that give the numbers of these calls; return what is not crossed yet, too."""
        for call in calls:
            if new := [option for option in not_crossed if _may_distinguish(call.case, option)]:
                not_crossed = [option for option in not_crossed if option not in new]
                candidates = self._crossed(candidates, new)
            errors = self._abs_error(call, self._as_shown_by(call.case, candidates))
            candidates = candidates[errors <= self.scale.tolerance]
            if not len(candidates):
                break
        return candidates, not_crossed

    def _crossed(self, candidates: Codes, options: Sequence[str]) -> Codes:
        """Cross conventions with all values of some options; keep those that are not duplicates."""
        for option in options:
            tried = self.values_tried(option)
            n_before, candidates = len(candidates), np.repeat(candidates, len(tried), axis=0)
            if len(candidates) > _MAX_CONVENTIONS_LEFT:
                problem = "too few cases tell conventions apart: the function gives a number on "
                raise InputError(f"{problem}{len(self.answered)} of {pluralize(len(self.calls), 'case')}")
            candidates[:, self.space.options.index(option)] = np.tile(tried, n_before)
        measure = self.target.measure
        relevant_options = (
            *(option for option in SHARED if _decides_meaning(option)),
            *OPTIONS_OF.get(measure, ()),
        )
        numbers = self.space.measure_keys(self.answered[0].measurement, relevant_options, candidates)
        _, first, which = np.unique(numbers, return_index=True, return_inverse=True)
        of_measure = (self.space.options_of(measure, codes) for codes in candidates[first])
        kept = [is_consistent_for(measure, options) for options in of_measure]
        return np.asarray(candidates[np.array(kept, bool)[which]])

    def values_tried(self, option: str) -> list[int]:
        """Return the codes of the values to try for an option: those that differ on some case."""
        values = self.space.coded_values(option)
        if self.form.one_query and option in OF_QUERIES:  # a function of one query does not choose queries
            default = DEFAULT[option]
            values = [v for v in values if v == default or (option == QUERY_SET and counts_nothing_as_one(v))]
        records = ((value, value_record(option, value)) for value in values)
        shown = [value for value, record in records if record is None or self._is_observable_value(record)]
        return [self.space.coded_values(option).index(value) for value in shown]

    @cached_property
    def bases(self) -> list[tuple[NamedConvention, Convention]]:
        """The named conventions, with the default in place of each value that no case can reveal."""
        measure = self.target.measure
        bases: list[tuple[NamedConvention, Convention]] = []
        for named, base in self.space.bases:
            options = {
                option: self._observable_value(option, value) for option, value in base[measure].items()
            }
            bases.append((named, {measure: options}))
        return bases

    def _observable_value(self, option: str, value: Any) -> Any:
        record = value_record(option, value)
        return value if record is None or self._is_observable_value(record) else DEFAULT[option]

    def _is_observable_value(self, record: Value) -> bool:
        return any(record.shown_by(each.case) for each in self.calls)

    def _as_shown_by(self, case: Case, candidates: Codes, are_defined: bool = True) -> Codes:
        """Give the options that a case does not show their default, so that equal numbers are computed once.

        The query set stays: whether a query counts can depend on the labels and on the documents that are
        left out. If not all conventions are defined, options that decide whether they are stay too.
        """
        if len(candidates) == 1:
            return candidates
        hidden = [
            column
            for column, option in enumerate(self.space.options)
            if option != QUERY_SET
            and not _may_distinguish(case, option)
            and (are_defined or not _decides_meaning(option))
        ]
        shown = candidates.copy()
        shown[:, hidden] = self.space.codes(self.target.default)[hidden]
        return shown

    def _abs_error(self, call: FunctionCall, candidates: Codes) -> Floats:
        """Compute how far each convention is from the function's number; infinity where it is not defined."""
        number, digits = call.value / self.scale.divisor, self.scale.digits
        if digits is None:
            errors = np.abs(self._computed(call.measurement, candidates) - number)
        else:
            if self.scale.per_query:
                low, high = (self._computed(call.rounded(digits, way), candidates) for way in HALVES)
            else:
                values = self._computed(call.measurement, candidates)
                low, high = (rounded(values, digits, half) for half in HALVES.values())
            errors = np.maximum(np.maximum(low - number, number - high), 0.0)
        return np.asarray(np.nan_to_num(errors, nan=np.inf))

    def _computed(self, quantity: Measurement, candidates: Codes) -> Floats:
        """Compute a measure by each convention; NaN where it is not defined."""
        if len(candidates) > 1:
            return self.space.compute(quantity, candidates)
        return np.array([quantity.value(self.space.convention(codes)) for codes in candidates])

    def agrees(self, call: FunctionCall, convention: Convention) -> bool:
        """Check whether a convention gives the function's number on a case, at the scale found."""
        exact = with_value(convention, ROUNDING, DEFAULT[ROUNDING])
        return bool(self._abs_error(call, self.space.codes(exact)[None])[0] <= self.scale.tolerance)

    def differ_where_it_raises(self, conventions: Sequence[Convention]) -> bool:
        """Check whether conventions differ on some case where the function raises."""
        candidates = np.array([self.space.codes(each) for each in conventions])
        raising = (self.space.compute(each.measurement, candidates) for each in self.calls if each.error)
        return any(
            np.nanmax(values) - np.nanmin(values) > SINGLE_PRECISION
            for values in raising
            if not np.isnan(values).all()
        )

    @cached_property
    def fresh(self) -> list[FunctionCall]:
        """The calls on random cases that check an answer; only those with a number."""
        cases = list(fresh_cases(self.form, self.target.cutoffs))
        if isinstance(self.function, Program):
            cases = cases[:_FRESH_OF_PROGRAMS]
            self.function.prepare(cases)
        calls = [self.call(case) for case in tracked(cases, "checking the answer")]
        self._check_answers()
        return [each for each in calls if each.error is None]

    # --- the last step ---------------------------------------------------------------------------------

    def _checked(self, candidates: Codes) -> Codes:
        """Keep the conventions that also give the numbers of the random cases."""
        exact = candidates.copy()
        exact[:, self.space.options.index(ROUNDING)] = self._code_of_rounding(DEFAULT[ROUNDING])
        fresh = self.counted(self.fresh)
        left = np.arange(len(candidates))
        for call in fresh[:_N_CHECK_ALL]:
            left, before = self._agreeing(call, exact, left), left
            if not len(left):
                return self._contradicted(call, exact[before[0]])
        rest = fresh[_N_CHECK_ALL:]
        while wrong := next((call for call in rest if not len(self._agreeing(call, exact, left[:1]))), None):
            left, before = self._agreeing(wrong, exact, left), left
            if not len(left):
                return self._contradicted(wrong, exact[before[0]])
        return candidates[left]

    def _agreeing(self, call: FunctionCall, candidates: Codes, left: Codes) -> Codes:
        """Keep the remaining conventions that agree on a call; `left` has their row numbers."""
        errors = self._abs_error(call, self._as_shown_by(call.case, candidates[left]))
        self.space.forget(call.measurement)
        return np.asarray(left[errors <= self.scale.tolerance])

    def _contradicted(self, call: FunctionCall, nearest: Codes) -> Codes:
        """Remember the call that rules out the last convention, and return no convention."""
        self.contradiction, self._nearest = call, nearest
        return nearest[None][:0]

    # --- the nearest convention ------------------------------------------------------------------------

    def is_skipped(self, option: str) -> bool:
        """Check whether the cases that reveal an option are skipped."""
        trait = {TIES: TIED_SCORES, TIED: TIED_SCORES, NEGATIVE: NEGATIVE_GRADES}.get(option)
        return trait in self.skipped_traits

    @property
    def compared(self) -> list[str]:
        """The options that count in the distance from a named convention: observable and not skipped."""
        return [option for option in self.observable if not self.is_skipped(option)]

    def distances(self, candidates: Codes) -> Codes:
        """Count the compared options in which each convention differs from each named one."""
        bases = np.array([self.space.codes(base) for _, base in self.bases])
        columns = [self.space.options.index(option) for option in self.compared]
        return np.asarray((candidates[:, None, columns] != bases[None, :, columns]).sum(axis=2))

    def nearest(self) -> Codes:
        """Search a convention that agrees on the most cases, by hill climbing from the best named one.

        For a function that returns a constant, return the first named convention.
        """
        if self._nearest is not None:
            return self._nearest
        candidates = np.array([self.space.codes(base) for _, base in self.bases])
        best, n_agreeing = np.asarray(candidates[0]), -1
        while not self.is_constant and (scores := self._scored(candidates)).max() >= n_agreeing + 1:
            best, n_agreeing = np.asarray(candidates[scores.argmax()]), int(scores.max())
            others = self.space.changed_once(self.space.convention(best))
            candidates = np.array([self.space.codes(other) for _, _, other in others])
        return best

    def _scored(self, candidates: Codes) -> Floats:
        """Score conventions: the number of calls that agree, plus a fraction below 1 for the closeness."""
        shown = (self._as_shown_by(call.case, candidates, are_defined=False) for call in self.answered)
        pairs = zip(self.answered, shown, strict=True)
        errors = np.array([np.minimum(self._abs_error(*pair), 1.0) for pair in pairs])
        n_agreeing, closeness = (errors <= self.scale.tolerance).sum(axis=0), (1 - errors).sum(axis=0)
        return np.asarray(n_agreeing + closeness / (len(self.answered) + 1))

    def smallest(self, holds: Callable[[FunctionCall], bool]) -> FunctionCall | None:
        """Return the smallest call found for which a condition holds; None if it holds for no call."""

        def holds_on(case: Case) -> bool:
            return self.form.takes(case.qrels, case.run) and holds(self.call(case))

        counted = self.counted([*self.calls, *([self.contradiction] if self.contradiction else [])])
        first = next(filter(holds, sorted(counted, key=lambda call: call.case.size)), None)
        if first is None or (isinstance(first.error, ScriptError) and first.error.kind == ENDED):
            return first  # each attempt at a smaller case could take as long
        smaller = self.call(minimised(first.case, holds_on))
        return smaller if holds(smaller) else first  # a script that was given up returns no number


_FRESH_OF_PROGRAMS = 60
"""The number of random cases that check a program's answer; fewer, as it starts anew for each."""
_LENGTH_OF_LONG_LISTS = 30
"""The smallest number of documents in a long list."""
_N_CHECK_ALL = 60
"""The number of random cases that check all remaining conventions; further cases check the first one."""
_STEP = 7
"""The first round calls every 7th case, because neighbouring cases have the same trait."""
_MAX_SHARE_RAISING = 0.5


def _may_distinguish(case: Case, option: str) -> bool:
    """Check whether the values of an option can differ on a case; those of a cutoff can on any."""
    return option not in OPTIONS or OPTIONS[option].shown_by(case)


def _decides_meaning(option: str) -> bool:
    """Check whether an option decides if a convention is defined, alone or with options of the measure."""
    known = OPTIONS[option].values.values()
    return option == AVERAGED or any(
        not each.has_grades or not each.tells_ties or each.needs_ties for each in known
    )


def _gives_numbers(calls: list[FunctionCall]) -> bool:
    """Check whether a function gave a number on most calls."""
    n_raising = sum(each.error is not None for each in calls)
    return bool(calls) and n_raising <= _MAX_SHARE_RAISING * len(calls)


def _last_trait(case: Case) -> str | None:
    """Return the last skippable trait of a case; None if it has none."""
    return next((trait for trait in reversed(SKIPPABLE_TRAITS) if trait in case.traits), None)
