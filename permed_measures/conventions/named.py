"""The conventions that people know by a name: those of the package, and those of the user's own file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from permed_measures.conventions.options import (
    CONVENTION_MEASURES,
    CUTOFF_OF,
    DEFAULT,
    OPTIONS_OF,
    OWN_FILE,
    SHARED,
    Convention,
    Options,
    meant,
)
from permed_measures.conventions.records import OPTIONS, GainTable
from permed_measures.errors import InputError
from permed_measures.escaping import pluralize
from permed_measures.measures.parameters import Cutoff
from permed_measures.tolerances import MAX_NUMBER


class MeasureWithCutoffs(Protocol):
    """What is said to be a measure: what it is called, the measure, and its cutoffs, the usual one first."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def measure(self) -> str: ...  # noqa: D102
    @property
    def cutoffs(self) -> tuple[Cutoff, ...]: ...  # noqa: D102


class NamedConvention(NamedTuple):
    """A convention that people know by a name.

    Attributes
    ----------
    name, source : str
    measures : tuple of str
        Those that it says how to compute.
    convention : mapping
        The options of each measure.
    shared : mapping
        The value of each option of a measure that has none for itself.
    """

    name: str
    source: str
    measures: tuple[str, ...]
    convention: Convention
    shared: Options

    def has(self, measure: str) -> bool:
        """Return whether it covers a measure; one that is written out says itself how it is computed."""
        return measure in self.measures or measure not in CONVENTION_MEASURES

    def of(self, measure: str) -> Options:
        """Return the options of a measure."""
        return self.convention.get(measure) or {option: self.shared[option] for option in SHARED}

    def is_shared(self, measure: str, option: str, value: Any) -> bool:
        """Return whether a value is that of the other measures, or the cutoff of a claim."""
        return option not in self.shared or value == meant(measure, option, self.shared[option])

    def at(
        self, claims: Iterable[MeasureWithCutoffs], usual: Mapping[str, Cutoff] | None = None
    ) -> Convention:
        """Return how it computes the measures of claims, with their cutoffs.

        By the name of a claim `usual` has another cutoff than the first.
        """
        found: dict[str, dict[str, Any]] = {}
        for claim in claims:
            cutoff = claim.cutoffs[0] if usual is None else usual[claim.name]
            found.setdefault(claim.measure, {**self.of(claim.measure)})[CUTOFF_OF + claim.name] = cutoff
        return found

    def with_changes(self, n: int) -> str:
        """Return its name, and a number of changes from it if there are any."""
        return f"{self.name} with {pluralize(n, 'change')}" if n else self.name


def read_conventions(path: str | os.PathLike[str]) -> tuple[NamedConvention, ...]:
    """Read the conventions of a TOML file, as those of the package stand in ``conventions.toml``.

    Raises
    ------
    InputError
        For a file that is no such TOML; the message says in which convention, and which key.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        table = tomllib.loads(text)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=str(path)) from None
    except (
        ValueError,
        RecursionError,
    ) as error:  # of bytes that are no text, of too many digits
        raise InputError(f"is no TOML ({error})", where=str(path)) from None
    return _conventions(table, str(path))


def _conventions(table: dict[str, Any], path: str) -> tuple[NamedConvention, ...]:
    given = table.get("convention")
    if not isinstance(given, list) or not given or not all(isinstance(each, dict) for each in given):
        example = '[[convention]], with name = "...", source = "..." and options = {...}'
        raise InputError("there is no convention", where=path, hint=f"Write {example}")
    found: list[NamedConvention] = []
    for number, each in enumerate(given, start=1):
        name = each.get("name")
        where = f"{path}: convention {name!r}" if isinstance(name, str) else f"{path}: convention {number}"
        found.append(_convention(each, where))
        if found[-1].name in [other.name for other in found[:-1]]:
            raise InputError("there are two of this name", where=where)
    return tuple(found)


_KEYS = ("name", "source", "measures", "options", *CONVENTION_MEASURES)


def _convention(table: dict[str, Any], where: str) -> NamedConvention:
    unknown = next((key for key in table if key not in _KEYS), None)
    if unknown is not None:
        raise _not_one_of("key", unknown, _KEYS, where)
    for key in ("name", "source"):
        if not isinstance(table.get(key), str) or not table[key].strip():
            raise InputError(f"{key} must be a text (found {table.get(key)!r})", where=where)
    measures = table.get("measures", list(CONVENTION_MEASURES))
    if not isinstance(measures, list) or not measures:
        raise InputError(f"measures must be a list (found {measures!r})", where=where)
    for measure in measures:
        if measure not in CONVENTION_MEASURES:
            raise _not_one_of("measures", measure, CONVENTION_MEASURES, where)
    of_all = {**DEFAULT, **dict(_options("options", table.get("options", {}), None, where))}
    convention: dict[str, Options] = {}
    for measure in CONVENTION_MEASURES:
        own = {}
        if measure in table:
            if measure not in measures:
                raise _not_one_of("measures", measure, measures, where)
            own = dict(_options(measure, table[measure], measure, f"{where}, {measure}"))
        options = (*SHARED, *OPTIONS_OF[measure])
        convention[measure] = {each: meant(measure, each, {**of_all, **own}[each]) for each in options}
    return NamedConvention(table["name"], table["source"], tuple(measures), convention, of_all)


def _options(key: str, table: Any, measure: str | None, where: str) -> Iterator[tuple[str, str | float]]:
    """Yield the options of a table, checked; those of one measure if it is that of one."""
    if not isinstance(table, dict):
        example = "{ ties = 'input' }" if measure else "{ gain = 'exp' }"
        raise InputError(f"{key} must be a table such as {example} (found {table!r})", where=where)
    known = OPTIONS if measure is None else (*SHARED, *OPTIONS_OF[measure])
    for option, value in table.items():
        if option not in known:
            raise _not_one_of("option", option, known, where)
        yield option, _value(option, value, CONVENTION_MEASURES if measure is None else (measure,), where)


def _value(option: str, value: Any, measures: Sequence[str], where: str) -> str | float:
    """Return the value of an option, checked."""
    if OPTIONS[option].of_table is not None and isinstance(value, dict):
        gains = [_gain(option, *each, where) for each in value.items()]
        if len(dict(gains)) < len(gains):
            raise InputError(f"option {option} has two numbers for one grade (found {value!r})", where=where)
        return GainTable.of(dict(gains))
    if OPTIONS[option].values:
        known = list(map(str, OPTIONS[option].values_for(measures, ())))
        if value not in known:
            raise _not_one_of(f"option {option}", value, known, where)
        return str(value)
    if not _is_number(value) or not value > 0:
        raise InputError(f"option {option} must be a grade above 0 (found {value!r})", where=where)
    return float(value)


def _gain(option: str, grade: str, gain: Any, where: str) -> tuple[float, float]:
    """Return a grade and its gain in a table of grades, checked."""
    if not _is_number(gain) or not grade.replace(".", "", 1).isdecimal():
        problem = f"option {option} as a table must have a number for each grade (found {grade!r}: {gain!r})"
        raise InputError(problem, where=where, hint='Write { 1 = 1, "1.5" = 10 }')
    return float(grade), float(gain)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= MAX_NUMBER


def _not_one_of(what: str, found: Any, known: Iterable[str], where: str) -> InputError:
    near = get_close_matches(str(found), list(known), 1)
    is_value = what.startswith("option ")
    other = next((each for each in SHARED if is_value and found in [*OPTIONS[each].values]), "")
    hint = f"Did you mean {near[0]}?" if near else f'Write {other} = "{found}"' if other else ""
    return InputError(f"{what} must be one of {', '.join(known)} (found {found!r})", where=where, hint=hint)


NAMED = _conventions(OWN_FILE, "conventions.toml")
"""The named conventions of the package, the community's first."""
COMMUNITY = NAMED[0]
"""The community's default."""


def conventions_with(path: str | os.PathLike[str] | None) -> tuple[NamedConvention, ...]:
    """Return the conventions of the package, and before all but the community's those of a user's file."""
    if path is None:
        return NAMED
    own = read_conventions(path)
    found = {each.name: each for each in (COMMUNITY, *own, *NAMED)}  # in this order
    return tuple((found | {each.name: each for each in own}).values())
