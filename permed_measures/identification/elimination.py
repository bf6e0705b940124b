"""The conventions that give a function's numbers: those with another number are ruled out."""

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
from permed_measures.conventions.ranking_variants import RunVariants, label_policies, may_be
from permed_measures.conventions.records import AVERAGED, DEPTH, OPTIONS, QUERY_SET, ROUNDING, TIES, Value
from permed_measures.conventions.search_space import Codes, ConventionSpace, Measurement
from permed_measures.engine.judgments import Judgments
from permed_measures.errors import InputError, warnings_about
from permed_measures.escaping import pluralize
from permed_measures.identification.cases import (
    EXCUSED,
    NEGATIVE_GRADES,
    TIED_SCORES,
    Case,
    as_seen,
    cases,
    cutoffs_of,
    fresh_cases,
    joined,
    lengthened,
    random_case,
    shrunk,
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


class Claimed(NamedTuple):
    """What a function is said to compute: a name, and the measure and cutoffs that it may mean."""

    name: str
    measure: str
    cutoffs: tuple[Cutoff, ...]

    @property
    def default(self) -> Convention:
        """What it is by ir_measures."""
        return {self.measure: {**default_of(self.measure), CUTOFF_OF + self.name: self.cutoffs[0]}}

    def of(self, case: Case) -> Measurement:
        """Return the measure of a case, which any convention computes."""
        with warnings_about(None):
            policies = label_policies(Judgments.of(case.qrels), complete=True)
            run = RunVariants(policies, case.run, all_ties=sees_unjudged(self.measure), complete=True)
        return Measurement(*self, run)


class _Rounded(Measurement):
    """A measure whose value of each query is rounded, to so many digits in one of two ways."""

    def __init__(self, exact: Measurement, way: tuple[int, str]) -> None:
        super().__init__(exact.name, exact.measure, exact.cutoffs, exact.run)
        self._way = way

    def means(self, convention: Convention) -> Floats:
        return super().means(with_value(convention, ROUNDING, self._way))


@dataclass(frozen=True, eq=False)
class Asked:
    """A case, its measure by any convention, and what the function says: a number, or how it raises.

    The note says how the number was read, `warned` of what NumPy warned.
    """

    case: Case
    claimed: Claimed
    value: float = np.nan
    error: BaseException | None = None
    note: str = ""
    warned: tuple[str, ...] = ()

    @cached_property
    def quantity(self) -> Measurement:
        """The measure of the case."""
        return self.claimed.of(self.case)

    @cached_property
    def _rounded(self) -> dict[tuple[int, str], Measurement]:
        return {}

    def rounded(self, digits: int, way: str) -> Measurement:
        """Return the measure of the case with each query's value rounded."""
        if (digits, way) not in self._rounded:
            self._rounded[digits, way] = _Rounded(self.quantity, (digits, way))
        return self._rounded[digits, way]

    @property
    def raised(self) -> tuple[str, str]:
        """The type of the error and its line; empty if there is none."""
        if self.error is None:
            return "", ""
        kind = self.error.kind if isinstance(self.error, ScriptError) else type(self.error).__name__
        return kind, error_location(self.error)

    @property
    def is_of_one_query(self) -> bool:
        """Whether there is one query in all."""
        return len({*self.case.qrels, *self.case.run}) == 1


def ask(function: Function | Script, form: FunctionSignature, case: Case, claimed: Claimed) -> Asked:
    """Ask a function for its number, of what it sees of a case."""
    case = as_seen(case, form)
    returned_to = function.returned if isinstance(function, Script) else partial(returned_by, function)
    try:
        found = returned_to(form, case, claimed.name)
    except (KeyboardInterrupt, GeneratorExit):  # Ctrl-C; that of a script comes as its error
        raise
    except BaseException as error:
        return Asked(case, claimed, error=error)
    return Asked(case, claimed, *found[:1], note=found.note, warned=found.warned)


# --- how numbers are read ------------------------------------------------------------------------------


class Reading(NamedTuple):
    """How the numbers of a function are read.

    Attributes
    ----------
    over : float
        What they are divided by: 100 of percent.
    reach : float
        How far from ours they may be.
    digits : int or None
        To how many digits they are rounded, after the division.
    of_queries : bool
        Whether it is the value of each query that is rounded, and not the mean.
    note : str
    """

    over: float = 1.0
    reach: float = NUMBER_OF_FUNCTION
    digits: int | None = None
    of_queries: bool = False
    note: str = ""

    @property
    def rounding(self) -> str:
        """The value of the option rounding that says this; the default where none does."""
        exact = str(DEFAULT[ROUNDING])
        known: dict[int | None, str] = {}
        for name in OPTIONS[ROUNDING].values:
            of_mean, of_queries = rounding_of(name)
            if of_queries is not None and self.of_queries:
                known[of_queries[0]] = name
            elif of_queries is None and not self.of_queries:
                known[of_mean] = name
        return known.get(self.digits, exact) if self.over == 1 and self.digits else exact


def readings(asked: Sequence[Asked], one_query: bool = False) -> Iterator[Reading]:
    """Yield how numbers may be read: as they are, as rounded means or values of queries, in percent."""
    values = np.array([each.value for each in asked])
    is_one = np.array([each.is_of_one_query for each in asked])
    reach = (
        SINGLE_PRECISION if (values[is_one] == values[is_one].astype(np.float32)).all() else Reading().reach
    )
    for over, percent in (1.0, ""), (100.0, "in percent"):
        if over != 1 and not values.max() > 1:
            continue
        yield Reading(over, reach, note=percent)
        for of_queries, some in (False, np.ones_like(is_one)), (True, is_one):
            digits = _digits(values[some] / over)
            if digits is None or (of_queries != one_query and some.all()):
                continue
            n = pluralize(digits - 2 * (over != 1), "digit")
            text = f"rounded to {n}, query by query" if of_queries and not one_query else f"rounded to {n}"
            yield Reading(over, Reading().reach, digits, of_queries, ", ".join(filter(None, [percent, text])))


def _digits(values: Floats) -> int | None:
    """Return to how many digits all numbers may be rounded, the fewest; None if they are not."""
    return next((n for n in ROUNDED_DIGITS if (np.abs(np.round(values, n) - values) < SUM_NOISE).all()), None)


def convention_value(quantity: Measurement, convention: Convention) -> float:
    """Return what a convention gives, rounded as it says; NaN where it is not defined."""
    digits = rounding_of(convention[quantity.measure][ROUNDING]).of_mean
    value = quantity.value(convention)
    return value if digits is None else round(value, digits)


# --- the search ----------------------------------------------------------------------------------------

_IN_A_ROW = 10
"""How many cases in a row a function may raise on until it is asked no more of their kind."""
_MAX_CONVENTIONS_LEFT = 500_000
"""How many conventions may be left at once."""
GRADES = Case({"c_1": {"a": 3, "b": 2, "c": 1}}, {"c_1": {"a": 1.0}})
"""A case with each grade from which documents may be relevant."""


class FunctionSearch:
    """A function, asked on all cases, and the conventions that give its numbers.

    Parameters
    ----------
    function : callable
    form : Form
    claimed : Claimed
        Of several numbers that the function returns, the one of this name is taken.
    named : sequence of NamedConvention

    Attributes
    ----------
    asked : list of Asked
    used : list of Asked
        Those with a number.
    space : Space
        The conventions that are tried: the values of all options, crossed.
    shown : list of str
        The options whose values some case may tell apart on which the function gives a number.
    reading : Reading
    excused : list of str
        Traits whose cases are left out: no convention that fits the others gives the numbers there.
    not_crossed : list of str
        Options that no case shows on which the function gives a number.
    contradiction : Asked or None
        A random case that rules out the last conventions which give the numbers of all others.

    Raises
    ------
    InputError
        If the function gives no number on most cases.
    """

    def __init__(
        self,
        function: Function | Script,
        form: FunctionSignature,
        claimed: Claimed,
        named: Sequence[NamedConvention],
    ) -> None:
        self.function, self.form, self.claimed, self.reading = function, form, claimed, Reading()
        self.excused: list[str] = []
        self.contradiction: Asked | None = None
        self.not_crossed: list[str] = []
        self._nearest: Codes | None = None
        self.asked = self._ask_all()
        self.used = [each for each in self.asked if each.error is None]
        quantities = [claimed.of(GRADES), *(each.quantity for each in self.asked)]
        self.space = ConventionSpace(quantities, named)
        self.shown = [option for option in self.space.options if self._may_show(option)]

    def _may_show(self, option: str, used: bool = True) -> bool:
        """Return whether a case may tell values of an option apart, of those with a number or of all."""
        of_grades = option in OPTIONS and OPTIONS[option].of_grades
        if (option in OF_QUERIES and not self.form.queries) or (of_grades and not self.form.grades):
            return False
        every = self.used if used else self.asked
        return any(_shows(each.case, option) for each in every)

    def form_shows(self, option: str) -> bool:
        """Return whether the function may see what an option is about."""
        return self._may_show(option, used=False)

    @property
    def is_constant(self) -> bool:
        """Whether the function gives the same number on every case, as no measure does."""
        return bool(np.ptp([each.value for each in self.used]) < SUM_NOISE)

    # --- asking ----------------------------------------------------------------------------------------

    def ask(self, case: Case) -> Asked:
        """Ask the function for its number."""
        return ask(self.function, self.form, case, self.claimed)

    def _ask_all(self) -> list[Asked]:
        """Ask the function on all cases; if it raises on most, with longer lists or more queries too."""
        every = list(cases(self.form, self.claimed.cutoffs))
        k = max(cutoffs_of(self.claimed.cutoffs))
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
        asked: list[Asked] = []
        for variant in variants:
            some = self._ask_some([variant(case) for case in every])
            asked += some
            if _gives_numbers(some):
                return asked
        raise self._error(asked)

    def _ask_some(self, every: list[Case]) -> list[Asked]:
        """Ask on cases until the function raises on many in a row, in an order that mixes them."""
        answers: dict[int, Asked] = {}
        in_a_row = 0
        order = [at for first in range(_STEP) for at in range(first, len(every), _STEP)]
        for number_asked, at in enumerate(tracked(order, "asking the function")):
            if number_asked == _IN_A_ROW and isinstance(self.function, Program):
                self.function.prepare(every)
            answers[at] = self.ask(every[at])
            in_a_row = in_a_row + 1 if answers[at].error else 0
            if in_a_row == _IN_A_ROW:
                break
        self._check_answers()
        return [answers[at] for at in sorted(answers)]

    def _check_answers(self) -> None:
        """Raise why a script is asked no more, if so: what is not asked is no evidence."""
        if isinstance(self.function, Script) and self.function.gave_up:
            raise self.function.gave_up

    def _error(self, asked: list[Asked]) -> InputError:
        """Return the error for a function that raises on most cases: how many, where, on what."""
        raising = sorted((each for each in asked if each.error), key=lambda each: each.case.size)
        error = raising[0].error or ValueError()
        if isinstance(error, InputError) and len(raising) == len(asked):
            return error
        on = f"on {len(raising)} of {pluralize(len(asked), 'case')}"
        no_number = "gives no number on any case" if len(raising) == len(asked) else f"gives no number {on}"
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

    # --- what is ruled out -----------------------------------------------------------------------------

    def survivors(self) -> Codes:
        """Return the conventions that never give another number, the nearest to a named one first."""
        if self.is_constant:
            return self.space.codes(self.claimed.default)[None][:0]
        for reading in readings(self.used, self.form.one_query):
            self.reading, self.excused = reading, []
            near = self._ruled_out()
            while len(near):
                left = self._checked(self._in_order(near))
                trait = _last_trait(self.contradiction.case) if self.contradiction else None
                if trait is None:
                    return left
                self.excused.append(trait)
                self.contradiction = None
                near = self._ruled_out()
        self.reading, self.excused = Reading(), []
        return near

    def _in_order(self, near: Codes) -> Codes:
        """Sort conventions by their distance from a named one."""
        near[:, self.space.options.index(ROUNDING)] = self._code_of_rounding(self.reading.rounding)
        from_default = (near != self.space.codes(self.claimed.default)).sum(axis=1)
        cut = near[:, self.space.options.index(DEPTH)]  # rather by the cutoff, if that is all
        return np.asarray(near[np.lexsort((cut, from_default, self.distances(near).min(axis=1)))])

    def _code_of_rounding(self, rounding: str) -> int:
        return self.space.coded_values(ROUNDING).index(rounding)

    def _ruled_out(self) -> Codes:
        """Return what gives the number of each case, those with some traits last.

        The values of an option are crossed with those of the others when a case comes that may tell them
        apart; before, the default stands for all of them.
        """
        near, hidden = self.space.codes(self.claimed.default)[None], [*self.space.options]
        hidden.remove(ROUNDING)
        for trait in (None, *(trait for trait in EXCUSED if trait not in self.excused)):
            group = [each for each in self.counted(self.used) if _last_trait(each.case) == trait]
            left, still_hidden = self._narrowed(near, hidden, group)
            if len(left) or trait is None:
                near, hidden = left, still_hidden
            else:
                self.excused.append(trait)
            if not len(near):
                break
        self.not_crossed = hidden
        return near

    def counted(self, asked: Iterable[Asked]) -> list[Asked]:
        """Return the cases that are not left out."""
        return [each for each in asked if not {*each.case.traits} & {*self.excused}]

    def _narrowed(self, near: Codes, hidden: list[str], asked: list[Asked]) -> tuple[Codes, list[str]]:
        """Return the conventions that give the numbers of some cases, and the options not crossed yet."""
        for each in asked:
            if new := [option for option in hidden if _shows(each.case, option)]:
                hidden = [option for option in hidden if option not in new]
                near = self._crossed(near, new)
            near = near[self._off(each, near) <= self.reading.reach]
            if not len(near):
                break
        return near, hidden

    def _crossed(self, near: Codes, options: Sequence[str]) -> Codes:
        """Return conventions with each value of some options, each once."""
        for option in options:
            tried = self.tried(option)
            n_before, near = len(near), np.repeat(near, len(tried), axis=0)
            if len(near) > _MAX_CONVENTIONS_LEFT:
                problem = "too few cases tell conventions apart: the function gives a number on "
                raise InputError(f"{problem}{len(self.used)} of {pluralize(len(self.asked), 'case')}")
            near[:, self.space.options.index(option)] = np.tile(tried, n_before)
        measure = self.claimed.measure
        told = (*(option for option in SHARED if _decides_meaning(option)), *OPTIONS_OF.get(measure, ()))
        numbers = self.space.measure_keys(self.used[0].quantity, told, near)
        _, first, which = np.unique(numbers, return_index=True, return_inverse=True)
        kept = [may_be(measure, self.space.convention(codes)[measure]) for codes in near[first]]
        return np.asarray(near[np.array(kept, bool)[which]])

    def tried(self, option: str) -> list[int]:
        """Return the numbers of the values of an option that are tried: those that some case may show."""
        values = self.space.coded_values(option)
        if self.form.one_query and option in OF_QUERIES:  # which query counts is not the function's to say
            default = DEFAULT[option]
            values = [v for v in values if v == default or (option == QUERY_SET and counts_nothing_as_one(v))]
        records = ((value, value_record(option, value)) for value in values)
        shown = [value for value, record in records if record is None or self._is_shown(record)]
        return [self.space.coded_values(option).index(value) for value in shown]

    @cached_property
    def bases(self) -> list[tuple[NamedConvention, Convention]]:
        """The named conventions, with the default in place of each value that no case may show."""
        measure = self.claimed.measure
        return [
            (named, {measure: {each: self._as_shown(each, value) for each, value in base[measure].items()}})
            for named, base in self.space.bases
        ]

    def _as_shown(self, option: str, value: Any) -> Any:
        record = value_record(option, value)
        return value if record is None or self._is_shown(record) else DEFAULT[option]

    def _is_shown(self, record: Value) -> bool:
        return any(record.shown_by(each.case) for each in self.asked)

    def _off(self, each: Asked, near: Codes) -> Floats:
        """Return how far off the number of the function is; infinity where a convention is not defined."""
        theirs, digits = each.value / self.reading.over, self.reading.digits
        if digits is None:
            off = np.abs(self._computed(each.quantity, near) - theirs)
        else:
            if self.reading.of_queries:
                ends = [self._computed(each.rounded(digits, way), near) for way in HALVES]
            else:
                values = self._computed(each.quantity, near)
                ends = [rounded(values, digits, half) for half in HALVES.values()]
            off = np.maximum(np.maximum(ends[0] - theirs, theirs - ends[1]), 0.0)
        return np.asarray(np.nan_to_num(off, nan=np.inf))

    def _computed(self, quantity: Measurement, near: Codes) -> Floats:
        """Compute a measure by conventions; NaN where one is not defined."""
        if len(near) > 1:
            return self.space.compute(quantity, near)
        return np.array([quantity.value(self.space.convention(codes)) for codes in near])

    def agrees(self, each: Asked, convention: Convention) -> bool:
        """Return whether a convention gives the number of a case, as it is read."""
        exact = with_value(convention, ROUNDING, DEFAULT[ROUNDING])
        return bool(self._off(each, self.space.codes(exact)[None])[0] <= self.reading.reach)

    def differ_where_it_raises(self, conventions: Sequence[Convention]) -> bool:
        """Return whether conventions give different numbers on a case on which the function raises."""
        near = np.array([self.space.codes(each) for each in conventions])
        raising = (self.space.compute(each.quantity, near) for each in self.asked if each.error)
        return any(
            np.nanmax(each) - np.nanmin(each) > SINGLE_PRECISION
            for each in raising
            if not np.isnan(each).all()
        )

    @cached_property
    def fresh(self) -> list[Asked]:
        """The random cases with a number on which an answer is checked."""
        every = list(fresh_cases(self.form, self.claimed.cutoffs))
        if isinstance(self.function, Program):
            every = every[:_FRESH_OF_PROGRAMS]
            self.function.prepare(every)
        asked = [self.ask(case) for case in tracked(every, "checking the answer")]
        self._check_answers()
        return [each for each in asked if each.error is None]

    # --- the last step ---------------------------------------------------------------------------------

    def _checked(self, near: Codes) -> Codes:
        """Return the conventions that give the numbers of many random cases too, of those that are left."""
        exact = near.copy()
        exact[:, self.space.options.index(ROUNDING)] = self._code_of_rounding(DEFAULT[ROUNDING])
        fresh = self.counted(self.fresh)
        left = np.arange(len(near))
        for each in fresh[:_N_CHECK_ALL]:
            left, before = self._agreeing(each, exact, left), left
            if not len(left):
                return self._contradicted(each, exact[before[0]])
        rest = fresh[_N_CHECK_ALL:]
        while wrong := next((each for each in rest if not len(self._agreeing(each, exact, left[:1]))), None):
            left, before = self._agreeing(wrong, exact, left), left
            if not len(left):
                return self._contradicted(wrong, exact[before[0]])
        return near[left]

    def _agreeing(self, each: Asked, near: Codes, left: Codes) -> Codes:
        """Return which of the conventions that are left agree on a case."""
        off = self._off(each, near[left])
        self.space.forget(each.quantity)
        return np.asarray(left[off <= self.reading.reach])

    def _contradicted(self, each: Asked, nearest: Codes) -> Codes:
        """Keep the case that rules out the last convention, and return none."""
        self.contradiction, self._nearest = each, nearest
        return nearest[None][:0]

    # --- what is near ----------------------------------------------------------------------------------

    def is_excused(self, option: str) -> bool:
        """Return whether the cases that show an option are left out."""
        trait = {TIES: TIED_SCORES, TIED: TIED_SCORES, NEGATIVE: NEGATIVE_GRADES}.get(option)
        return trait in self.excused

    @property
    def compared(self) -> list[str]:
        """The options by which conventions are told from those with a name: shown, by cases that count."""
        return [option for option in self.shown if not self.is_excused(option)]

    def distances(self, near: Codes) -> Codes:
        """Return how many options of each convention differ from each named one, of those compared."""
        bases = np.array([self.space.codes(base) for _, base in self.bases])
        at = [self.space.options.index(option) for option in self.compared]
        return np.asarray((near[:, None, at] != bases[None, :, at]).sum(axis=2))

    def nearest(self) -> Codes:
        """Return a convention that agrees on the most cases: from a named one uphill.

        A constant is near to none: the first is returned.
        """
        if self._nearest is not None:
            return self._nearest
        near = np.array([self.space.codes(base) for _, base in self.bases])
        best, most = np.asarray(near[0]), -1
        while not self.is_constant and (scores := self._scored(near)).max() >= most + 1:
            best, most = np.asarray(near[scores.argmax()]), int(scores.max())
            others = self.space.changed_once(self.space.convention(best))
            near = np.array([self.space.codes(other) for _, _, other in others])
        return best

    def _scored(self, near: Codes) -> Floats:
        """Return on how many cases each convention gives the number, and as a fraction how nearly."""
        off = np.array([np.minimum(self._off(each, near), 1.0) for each in self.used])
        agree, nearly = (off <= self.reading.reach).sum(axis=0), (1 - off).sum(axis=0)
        return np.asarray(agree + nearly / (len(self.used) + 1))

    def smallest(self, holds: Callable[[Asked], bool]) -> Asked | None:
        """Return the smallest case that is found on which something holds; None if it does on none."""

        def on(case: Case) -> bool:
            return self.form.takes(case.qrels, case.run) and holds(self.ask(case))

        every = self.counted([*self.asked, *([self.contradiction] if self.contradiction else [])])
        first = next(filter(holds, sorted(every, key=lambda each: each.case.size)), None)
        if first is None or (isinstance(first.error, ScriptError) and first.error.kind == ENDED):
            return first  # each smaller case that is tried could take as long
        smaller = self.ask(shrunk(first.case, on))
        return smaller if holds(smaller) else first  # a script that is asked no more gives no number


_FRESH_OF_PROGRAMS = 60
"""On how many random cases the answer of a program is checked, which is started anew for each."""
_LENGTH_OF_LONG_LISTS = 30
"""How many documents long lists have at least."""
_N_CHECK_ALL = 60
"""On how many random cases all that is left is checked; the first of it is on all of them."""
_STEP = 7
"""Every how manieth case is asked in a first round: neighbours have the same trait."""
_MOST_RAISING = 0.5


def _shows(case: Case, option: str) -> bool:
    """Return whether a case may tell the values of an option apart; each may show a cutoff."""
    return option not in OPTIONS or OPTIONS[option].shown_by(case)


def _decides_meaning(option: str) -> bool:
    """Return whether it depends on an option that all measures share whether a convention is defined."""
    known = OPTIONS[option].values.values()
    return option == AVERAGED or not all(each.has_grades and each.tells_ties for each in known)


def _gives_numbers(asked: list[Asked]) -> bool:
    """Return whether a function gives a number on most cases."""
    n_raising = sum(each.error is not None for each in asked)
    return bool(asked) and n_raising <= _MOST_RAISING * len(asked)


def _last_trait(case: Case) -> str | None:
    """Return the last of the traits of a case whose cases may be left out; None if it has none."""
    return next((trait for trait in reversed(EXCUSED) if trait in case.traits), None)
