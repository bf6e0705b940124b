"""A user's function: found in its file, asked for numbers, and compared with all conventions, crossed."""

from __future__ import annotations

import ast
import importlib.util
import math
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.conventions.means import sees_unjudged
from permed_measures.conventions.named import NamedConvention
from permed_measures.conventions.options import CUTOFF, DEFAULT, FIRST_DIGITS, OPTIONS_OF, Options, seen_by
from permed_measures.conventions.runs import RunVariants, may_be, options_for
from permed_measures.conventions.spaces import Codes, Quantity, Space
from permed_measures.conventions.values import label_policies
from permed_measures.engine.judgments import Judgments
from permed_measures.errors import PACKAGE, InputError, PermedError, nearest, shown, warnings_about
from permed_measures.identities.cases import FRACTIONS, SHOWN_BY, Case, Form, Function, cases, shrunk
from permed_measures.markup import counted
from permed_measures.papers.names import Rank
from permed_measures.progress import tracked

Floats = NDArray[np.float64]


def load_function(text: str) -> Function:
    """Return the function that ``FILE.py:NAME`` names; the file is run as Python imports it.

    Raises
    ------
    InputError
        If there is no such file or function, or if the file raises; the message names its line.
    """
    place, _, name = text.rpartition(":")
    path = Path(place or text)
    if not path.is_file():
        raise InputError("No such file", where=str(path), hint="Write FILE.py:FUNCTION")
    if not place:
        raise InputError("the function is missing", where=text, hint=_functions_of(path))
    module_name = f"script {path.stem}"  # no module that may be imported has such a name
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise InputError("is no Python file", where=str(path), hint="Its name must end in .py")
    module = sys.modules[module_name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise InputError(f"the script raises {said(error)}", where=line_of(error) or str(path)) from error
    function = getattr(module, name, None)
    if not callable(function):
        hint = nearest(name, [each for each, value in vars(module).items() if callable(value)])
        raise InputError(f"there is no function {name!r}", where=str(path), hint=hint or _functions_of(path))
    return function  # type: ignore[no-any-return]


def _functions_of(path: Path) -> str:
    """Name the functions of a file."""
    with suppress(SyntaxError, ValueError):
        body = ast.parse(path.read_bytes()).body
        if names := [node.name for node in body if isinstance(node, ast.FunctionDef)]:
            return f"It has {', '.join(names)}: write {path}:{names[0]}"
    return f"Write {path}:FUNCTION"


class NoNumberError(ArithmeticError):
    """The function returns NaN, or infinity."""


def said(error: BaseException) -> str:
    """Write an error as Python does; what the function returns in place of a number as it is."""
    if isinstance(error, NoNumberError):
        return str(error)
    return traceback.format_exception_only(error)[-1].strip()


def line_of(error: BaseException) -> str:
    """Return the file and line of the script that an error comes from; of a library, which called it."""
    lines = [(each.filename, each.lineno) for each in traceback.extract_tb(error.__traceback__)]
    lines = [each for each in lines if not each[0].startswith((PACKAGE, "<frozen "))]
    if isinstance(error, SyntaxError) and error.filename:
        lines.append((error.filename, error.lineno))
    of_script = [f"{_as_typed(file)}:{line}" for file, line in lines if file == lines[0][0]]
    return of_script[-1] if of_script else ""


def _as_typed(path: str) -> str:
    """Return the path of a file below the working directory as one types it."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else path


# --- what it says on cases -----------------------------------------------------------------------------

OF_QUERIES = ("queries", "averaged")
"""The options that make no difference to a function of one query."""
APART = 1e-6
"""How far apart numbers are that single precision tells apart."""
_ROUNDED = 0.005
"""How far from its exact value the value of a query is that is rounded by a convention, at most."""
_NOISE = 1e-12


class Claimed(NamedTuple):
    """What a function is said to compute: a name, and the measure and cutoffs that it may mean."""

    name: str
    measure: str
    cutoffs: tuple[Rank, ...]

    @property
    def default(self) -> Options:
        """What it is by ir_measures."""
        return {**DEFAULT, CUTOFF + self.name: self.cutoffs[0]}

    def of(self, case: Case) -> Quantity:
        """Return the measure of a case, which any convention computes."""
        with warnings_about(None):
            policies = label_policies(Judgments.of(case.qrels))
            run = RunVariants(policies, case.run, all_ties=sees_unjudged(self.measure))
        return Quantity(*self, run)

    def by(self, named: NamedConvention) -> NamedConvention:
        """Return a convention, with what it has for this measure in place of what it has for all."""
        options = {**seen_by(self.measure, named.options), **options_for(self.measure, named.options)}
        return named._replace(options=options)


@dataclass(frozen=True, eq=False)
class Asked:
    """A case, its measure by any convention, and what the function says: a number, or how it raises."""

    case: Case
    claimed: Claimed
    value: float = np.nan
    error: BaseException | None = None

    @cached_property
    def quantity(self) -> Quantity:
        """The measure of the case."""
        return self.claimed.of(self.case)

    @property
    def raised(self) -> tuple[str, str]:
        """The error and its line; empty if there is none."""
        return (said(self.error), line_of(self.error)) if self.error else ("", "")


class Reading(NamedTuple):
    """How numbers of a function are read: over what, how far from ours they may be, and what that is."""

    over: float = 1.0
    reach: float = 1e-9
    note: str = ""


def readings(asked: Sequence[Asked]) -> Iterator[Reading]:
    """Yield how numbers may be read: as they are, as rounded to three or four digits, in percent."""
    values = np.array([each.value for each in asked])
    of_one = np.array([each.value for each in asked if len(each.case.run) == 1])
    reach = APART if (of_one == of_one.astype(np.float32)).all() else Reading().reach
    for over, percent in (1.0, ""), (100.0, "in percent, "):
        if over == 1 or values.max() > 1:
            yield Reading(over, reach, percent[:-2])
            off = (np.abs(np.round(values / over, n) - values / over).max() for n in range(1, 5))
            digits = next((n for n, each in enumerate(off, 1) if each < _NOISE), 0)
            if digits > 2:
                note = f"{percent}rounded to {counted(digits - 2 * bool(percent), 'digit')}"
                yield Reading(over, reach + 0.5 / 10**digits, note)


def number(quantity: Quantity, convention: Options) -> float:
    """Return what a convention gives, rounded as it says; NaN if it means nothing."""
    digits, value = FIRST_DIGITS[convention["rounding"]], quantity.value(convention)
    return value if digits is None else round(value, digits)


class Search:
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
        The options whose values some case may tell apart.
    reading : Reading
    odd : list of Asked
        Cases left out: few conventions define what grades are that are no whole numbers, and none fits.

    Raises
    ------
    InputError
        If there is no number.
    """

    def __init__(
        self, function: Function, form: Form, claimed: Claimed, named: Sequence[NamedConvention]
    ) -> None:
        self.function, self.form, self.claimed, self.reading = function, form, claimed, Reading()
        self.odd: list[Asked] = []
        every = list(cases(form, claimed.cutoffs))
        self.asked = [self.ask(case) for case in tracked(every, "asking the function")]
        self.used = [each for each in self.asked if each.error is None]
        if not self.used:
            error = self.asked[0].error or ValueError()
            if isinstance(error, PermedError):
                raise error
            problem = f"the function gives no number on any case: {said(error)}"
            raise InputError(problem, where=line_of(error)) from error
        self.space = Space([each.quantity for each in self.asked], list(map(claimed.by, named)))
        self.shown = [
            option
            for option in self.space.options
            if (form.queries or option not in OF_QUERIES)
            and (option not in SHOWN_BY or any(map(SHOWN_BY[option], every)))
        ]

    def ask(self, case: Case) -> Asked:
        """Ask the function for its number."""
        try:
            return Asked(case, self.claimed, self._value(case))
        except (Exception, SystemExit) as error:
            return Asked(case, self.claimed, error=error)

    def _value(self, case: Case) -> float:
        """Return the mean that the function computes; NoNumberError if it is none."""
        found, name = self.form.call(self.function, case.qrels, case.run), self.claimed.name
        if isinstance(found, Mapping) and name in found:
            found = found[name]
        if isinstance(found, Mapping):
            others = [key for key in found if key not in case.qrels and key not in case.run]
            if others and len(found) > 1:  # one alone is meant, whatever its name
                problem = f"of what the function returns none is {name!r}, and {shown(others[0])} is no query"
                raise InputError(problem, hint=f"Return a number, or one by the name {name!r}")
            found = list(found.values())
        try:
            values = np.asarray(found)  # a number, or those of the queries; numpy's too
            value = float(values.mean()) if values.size else math.nan
            if isinstance(found, tuple):  # which mostly has the mean beside something else
                raise TypeError
        except (TypeError, ValueError):
            problem = f"the function must return a number, or {{query: number}} (found {shown(found)})"
            raise InputError(problem) from None
        if not math.isfinite(value):
            raise NoNumberError(f"the function returns {value}")
        return value

    def survivors(self) -> Codes:
        """Return the conventions that never give another number, the nearest to a named one first."""
        for reading in readings(self.used):
            self.reading = reading
            near = self._survivors()
            n_silent = np.sum([np.isnan(self._off(each, near)) for each in self.used], axis=0)
            near, n_silent = (each[n_silent < len(self.used)] for each in (near, n_silent))
            if len(near):
                from_default = (near != self.space.codes(self.claimed.default)).sum(axis=1)
                cut = near[:, self.space.options.index("depth")]  # rather by the cutoff, if that is all
                order = np.lexsort((cut, from_default, n_silent, self.distances(near).min(axis=1)))
                return np.asarray(near[order])
        self.reading, self.odd = Reading(), []
        return near

    def _survivors(self) -> Codes:
        """Rule out what gives another number on a case.

        The values of an option are crossed with those of the others when a case comes that may tell them
        apart; before, the default stands for all of them.
        """
        near, heard = self.space.codes(self.claimed.default)[None], np.ones(1, bool)
        self.odd, hidden = [], [*self.space.options]
        for each in self.asked:
            if new := [o for o in hidden if o not in SHOWN_BY or SHOWN_BY[o](each.case)]:
                hidden = [option for option in hidden if option not in new]
                near = self._crossed(near[heard | ~heard.any()], new)
                heard = np.zeros(len(near), bool)  # what never means anything is no answer
            if each.error is None:
                off = self._off(each, near)
                kept = ~(off > self.reading.reach + _ROUNDED * ("rounding" in hidden))
                if FRACTIONS in each.case.traits and not kept.any():
                    self.odd.append(each)
                else:
                    near, heard = near[kept], (heard | ~np.isnan(off))[kept]
        return near

    def _crossed(self, near: Codes, options: Sequence[str]) -> Codes:
        """Return conventions with each value of some options, but those that can mean nothing."""
        for option in options:
            n = len(self.space.numbered(option))
            n_before, near = len(near), np.repeat(near, n, axis=0)
            near[:, self.space.options.index(option)] = np.tile(np.arange(n), n_before)
        measure = self.claimed.measure
        told = ("labels", "documents", "averaged", *OPTIONS_OF.get(measure, ()))
        numbers = self.space.as_seen(self.asked[0].quantity, told, near)
        _, first, which = np.unique(numbers, return_index=True, return_inverse=True)
        kept = [may_be(measure, self.space.convention(codes)) for codes in near[first]]
        return np.asarray(near[np.array(kept, bool)[which]])

    def _off(self, each: Asked, near: Codes) -> Floats:
        """Return how far off the number of the function is; NaN where a convention means nothing."""
        values, theirs = self.space.computed(each.quantity, near), each.value / self.reading.over
        off: Floats = np.abs(values - theirs)
        for way, digits in FIRST_DIGITS.items():
            if digits is not None:
                twice = self.space.has(each.quantity, "rounding", way, near)
                ends = values[twice] + [[-_NOISE], [_NOISE]]  # half a unit may be rounded up or down
                off[twice] = np.abs(np.round(ends, digits) - theirs).min(axis=0)
        return off

    def distances(self, near: Codes) -> Codes:
        """Return how many options of each convention differ from each named one, of those that are shown."""
        bases = np.array([self.space.codes(base) for _, base in self.space.bases])
        at = [self.space.options.index(option) for option in self.shown]
        return np.asarray((near[:, None, at] != bases[None, :, at]).sum(axis=2))

    def nearest(self) -> tuple[Codes, int]:
        """Return a convention that agrees on the most cases, and on how many: from a named one uphill."""
        near = np.unique([self.space.codes(base) for _, base in self.space.bases], axis=0)
        best, most = near[0], -1
        while (scores := self._scored(near)).max() >= most + 1:
            best, most = near[scores.argmax()], int(scores.max())
            others = self.space.neighbours(self.space.convention(best))
            near = np.array([self.space.codes(other) for _, _, other in others])
        return best, most

    def _scored(self, near: Codes) -> Floats:
        """Return on how many cases each convention gives the number, and as a fraction how nearly."""
        off = np.array(
            [np.fmin(self._off(each, near), 1.0) for each in self.used]
        )  # 1 where it means nothing
        agree, nearly = (off <= self.reading.reach).sum(axis=0), (1 - off).sum(axis=0)
        return np.asarray(agree + nearly / (len(self.used) + 1))

    def smallest(self, holds: Callable[[Asked], bool]) -> Asked | None:
        """Return the smallest case that is found on which something holds; None if it does on none."""

        def on(case: Case) -> bool:
            return self.form.takes(case.qrels, case.run) and holds(self.ask(case))

        first = next(filter(holds, sorted(self.asked, key=lambda each: each.case.size)), None)
        return first and self.ask(shrunk(first.case, on))

    def same(self, ours: float, each: Asked) -> bool:
        """Return whether a number of the function is one of ours."""
        return abs(ours - each.value / self.reading.over) <= self.reading.reach
