"""Check the parameters of measures; the base class of the package's own measures."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

from ir_measures.measures import Measure, ParamInfo
from ir_measures.providers.base import NOT_PROVIDED

from permed_measures.errors import MeasureError, did_you_mean, short_repr
from permed_measures.tolerances import AGREEMENT, MAX_NUMBER

Params = Mapping[str, Any]
"""The values of the parameters of a measure, by name."""
Cutoff = int | tuple[int, int] | None
"""A cutoff; None for the whole ranking; a pair for F1 with different cutoffs of precision and recall."""


def precision_recall_cutoffs(cutoff: Cutoff) -> tuple[int | None, int | None]:
    """Return the cutoffs of precision and recall; they are equal unless `cutoff` is a pair."""
    return cutoff if isinstance(cutoff, tuple) else (cutoff, cutoff)


class Param(ParamInfo):
    """A parameter that checks its values and brings equal ones into one form.

    Parameters
    ----------
    convert : callable
        Converts a value to its normal form; raises ValueError for a value that is not allowed.
    allowed : str
        A description of the allowed values, for the error message.
    default, desc
        As in ``ir_measures.ParamInfo``.
    """

    def __init__(
        self, convert: Callable[[Any], Any], allowed: str, *, default: Any = NOT_PROVIDED, desc: str = ""
    ) -> None:
        super().__init__(default=default, desc=desc)  # type: ignore[no-untyped-call]
        self.convert = convert
        self.allowed = allowed
        self.meanings: dict[str, str] = {}


def number_in_range(
    low: float = -math.inf, high: float = math.inf, *, above: float = -math.inf
) -> Callable[[Any], float | int]:
    """Build a validator for finite numbers in a range; it converts 2.0 to 2, so that equal values are one."""

    def convert(value: Any) -> float | int:
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or not math.isfinite(value):
            raise ValueError(value)
        number = float(value)
        if not low <= number <= high or number <= above:
            raise ValueError(value)
        return int(number) if number.is_integer() and abs(number) < 2**53 else number

    return convert


def nonnegative(*, default: Any = NOT_PROVIDED, desc: str = "") -> Param:
    """Build a parameter for numbers from 0 to 1e100."""
    return Param(number_in_range(0, MAX_NUMBER), "a number from 0 to 1e100", default=default, desc=desc)


def positive_int(maximum: int, *, default: Any = NOT_PROVIDED, desc: str) -> Param:
    """Build a parameter for whole numbers from 1 to `maximum`."""

    def convert(value: Any) -> int:
        if (
            isinstance(value, bool)
            or not isinstance(value, numbers.Integral)
            or not 1 <= int(value) <= maximum
        ):
            raise ValueError(value)
        return int(value)

    return Param(convert, f"a whole number from 1 to {maximum}", default=default, desc=desc)


def choice(*, desc: str, **meanings: str) -> Param:
    """Build a parameter for one of several strings, given with their meanings; the first is the default."""

    def convert(value: Any) -> str:
        if not isinstance(value, str) or value not in meanings:
            raise ValueError(value)
        return value

    choices = list(meanings)
    param = Param(convert, f"one of {', '.join(map(repr, choices))}", default=choices[0], desc=desc)
    param.meanings = meanings
    return param


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(value)
    return value


def _gains(value: Any, low: float = -MAX_NUMBER) -> dict[float | int, float | int]:
    if not isinstance(value, Mapping):
        raise ValueError(value)
    return {
        number_in_range()(grade): number_in_range(low, MAX_NUMBER)(gain)
        for grade, gain in sorted(value.items())
    }


def _weights(value: Any) -> dict[float | int, float | int]:
    if not value:
        raise ValueError(value)
    return _gains(value, low=0)


def gain_table(what: str, *, desc: str) -> Param:
    """Build a parameter for a mapping from grades to numbers from 0 to 1e100."""
    allowed = f"a mapping from each relevant grade to its {what} (numbers from 0 to 1e100)"
    return Param(_weights, allowed, default=None, desc=desc)


def probabilities(value: Any) -> dict[float | int, float | int]:
    """Check a mapping from numbers above 0 to probabilities; a list has those of 1, 2, and so on."""
    mapping = _weights(dict(enumerate(value, start=1)) if isinstance(value, (list, tuple)) else value)
    if min(mapping) <= 0 or abs(math.fsum(mapping.values()) - 1) > AGREEMENT:
        raise ValueError(value)
    return mapping


NEEDED_CUTOFF = positive_int(2**31 - 1, desc="ranks that count")
NEEDED_CUTOFF.required = True
CUTOFF = positive_int(2**31 - 1, desc="ranks that count; all if left out")  # ranks are 32-bit integers
REL = Param(
    number_in_range(0),
    "a number of at least 0 (negative grades are never relevant)",
    default=1,
    desc="lowest relevant grade",
)
JUDGED_ONLY = Param(_flag, "True or False", default=False, desc="leave unjudged documents out of the ranking")


class CheckedMeasure(Measure):
    """Base class of the package's own measures: it checks parameters at once, and has a complete text form.

    ``params`` holds the parameters that differ from their defaults, in the order of ``SUPPORTED_PARAMS``, so
    that measures with the same meaning are equal. ``given`` holds the names of all parameters that were
    given, also of those with the default value.
    """

    given: frozenset[str] = frozenset()

    def __init__(self, **params: Any) -> None:
        checked = {}
        for name, value in params.items():
            param = self.SUPPORTED_PARAMS.get(name)
            if not isinstance(param, Param):
                raise _unknown_parameter(self, name)
            if value is not None and value is not NOT_PROVIDED:
                checked[name] = converted(self, name, param, value)
        ordered = {name: checked[name] for name in self.SUPPORTED_PARAMS if name in checked}
        changed = {
            name: value for name, value in ordered.items() if value != self.SUPPORTED_PARAMS[name].default
        }
        super().__init__(**changed)  # type: ignore[no-untyped-call]
        self.validated = True  # ir_measures' own validation only asserts
        self.given = frozenset(params)

    def __call__(self, *unnamed: Any, **params: Any) -> Measure:
        """Return the measure with other parameters."""
        if unnamed:
            hint = f"Write {self.NAME} @ {unnamed[0]}" if isinstance(unnamed[0], int) else "Write name=value"
            problem = f"{self.NAME} takes parameters by their names (found {short_repr(unnamed[0])})"
            raise MeasureError(problem, hint=hint)
        changed: CheckedMeasure = super().__call__(**params)  # type: ignore[no-untyped-call]
        changed.given = self.given | set(params)
        return changed

    def __repr__(self) -> str:
        """Format the measure as a user types it; `parse_measure` reads it back."""
        named = ",".join(f"{name}={value!r}" for name, value in self.params.items() if name != self.AT_PARAM)
        cutoff = f"@{self.params[self.AT_PARAM]}" if self.AT_PARAM in self.params else ""
        return f"{self.NAME}({named}){cutoff}".replace("()", "").replace(" ", "")


def converted(measure: Measure, name: str, param: Param, value: Any) -> Any:
    """Convert the value of a parameter; raise MeasureError if it is not allowed."""
    try:
        return param.convert(value)
    except (TypeError, ValueError, OverflowError):
        raise MeasureError(
            f"{measure.NAME}: {name} must be {param.allowed} (found {short_repr(value)})"
        ) from None


def values_of(measure: Measure) -> dict[str, Any]:
    """Return the value of each parameter of a measure; None if it was not given and has no default."""
    values = ((name, measure[name]) for name in measure.SUPPORTED_PARAMS)
    return {name: None if value is NOT_PROVIDED else value for name, value in values}


def cutoff_of(measure: Measure) -> int | None:
    """Return the cutoff of a measure, or None."""
    cutoff: int | None = values_of(measure).get("cutoff")
    return cutoff


_STANDARD = {
    "cutoff": CUTOFF,
    "rel": REL,
    "gains": Param(_gains, "a mapping from grades to gains, numbers up to 1e100"),
    "beta": nonnegative(),
    "recall": Param(number_in_range(0, 1), "a number from 0 to 1"),
    "p": Param(number_in_range(0, 1), "a number from 0 to 1"),
}
"""Stricter checks for the parameters of ir_measures' own measures, which check only types."""


def check_parameters(measure: Measure, *, complete: bool = False) -> None:
    """Raise MeasureError for an unknown or invalid parameter; if `complete`, also for a missing one.

    ir_measures itself only asserts, and passes a cutoff of 0 to C code that ends the process.
    """
    for name, value in measure.params.items():
        if name not in measure.SUPPORTED_PARAMS:
            raise _unknown_parameter(measure, name)
        param = measure.SUPPORTED_PARAMS[name]
        if isinstance(param, Param):  # the measure is a CheckedMeasure, which has checked it
            continue
        if name in _STANDARD:
            converted(measure, name, _STANDARD[name], value)
        is_checked = name in ("cutoff", "rel")  # ir_measures' own check would refuse a fractional grade
        if not is_checked and not param.validate(value):  # type: ignore[no-untyped-call]
            raise MeasureError(f"{measure.NAME}: {name} must be {allowed(param)} (found {short_repr(value)})")
    for name, param in measure.SUPPORTED_PARAMS.items():
        if complete and param.required and name not in measure.params:
            example = {"cutoff": 10, "recall": 0.5}.get(name)
            whole = measure(**{name: example}) if example else f"{measure.NAME}({name}=...)"
            raise MeasureError(f"{measure.NAME} needs a {name}", hint=f"Write {whole}")


_TYPE_NAMES = {bool: "True or False", int: "a whole number", float: "a decimal number", str: "a string"}


def allowed(param: ParamInfo) -> str:
    """Describe the allowed values of a parameter."""
    if isinstance(param, Param):
        return param.allowed
    if param.choices is not NOT_PROVIDED:
        return "one of " + ", ".join(map(repr, param.choices))
    return _TYPE_NAMES.get(param.dtype) or f"of type {getattr(param.dtype, '__name__', param.dtype)}"


def _unknown_parameter(measure: Measure, name: str) -> MeasureError:
    known = measure.SUPPORTED_PARAMS
    problem = f"{measure.NAME} has no parameter {short_repr(name)} (it has: {', '.join(known) or 'none'})"
    return MeasureError(problem, hint=did_you_mean(name, known))


def with_alias(measure: Measure, name: str | None) -> Measure:
    """Copy the measure and set the user's name for it (its heading in tables and plots); None removes it."""
    measure = copy(measure)
    vars(measure)["alias"] = name
    return measure


def alias_of(measure: Measure) -> str | None:
    """Return the name that the user gave the measure."""
    name: str | None = vars(measure).get("alias")
    return name
