"""Read the named conventions: those of the package, and those of the user's own file."""

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
from permed_measures.measures.parameters import Cutoff
from permed_measures.tolerances import MAX_NUMBER
from permed_measures.wording import pluralize


class MeasureWithCutoffs(Protocol):
    """A named measure with the cutoffs to try, the usual one first."""

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
    name : str
    source : str
        Where one can look it up.
    measures : tuple of str
        The measures that it covers.
    convention : mapping
        The options of each measure.
    shared : mapping
        The values that a measure has unless the convention sets its own.
    """

    name: str
    source: str
    measures: tuple[str, ...]
    convention: Convention
    shared: Options

    def has(self, measure: str) -> bool:
        """Check whether it covers a measure; a measure written with its parameters is always covered."""
        return measure in self.measures or measure not in CONVENTION_MEASURES

    def of(self, measure: str) -> Options:
        """Return the options of a measure."""
        return self.convention.get(measure) or {option: self.shared[option] for option in SHARED}

    def is_shared(self, measure: str, option: str, value: Any) -> bool:
        """Check whether a measure shares its value of an option with others; a cutoff counts as shared."""
        return option not in self.shared or value == meant(measure, option, self.shared[option])

    def with_cutoffs(
        self, claims: Iterable[MeasureWithCutoffs], cutoffs: Mapping[str, Cutoff] | None = None
    ) -> Convention:
        """Return the options and the cutoff for each claim.

        `cutoffs` has the cutoff of each claim by its name; if left out, each claim gets its first one.
        """
        convention: dict[str, dict[str, Any]] = {}
        for claim in claims:
            cutoff = claim.cutoffs[0] if cutoffs is None else cutoffs[claim.name]
            convention.setdefault(claim.measure, {**self.of(claim.measure)})[CUTOFF_OF + claim.name] = cutoff
        return convention

    def with_changes(self, n: int) -> str:
        """Write its name and a number of changes, if there are any."""
        return f"{self.name} with {pluralize(n, 'change')}" if n else self.name


def read_conventions(path: str | os.PathLike[str]) -> tuple[NamedConvention, ...]:
    """Read the conventions of a TOML file in the form of the package's ``conventions.toml``.

    Raises
    ------
    InputError
        If the file is not TOML, or a key or value is unknown. The message names the convention and the key.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        table = tomllib.loads(text)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=str(path)) from None
    except (ValueError, RecursionError) as error:  # also bytes that are not text, and too many digits
        raise InputError(f"is not TOML ({error})", where=str(path)) from None
    return _conventions(table, str(path))


def _conventions(table: dict[str, Any], path: str) -> tuple[NamedConvention, ...]:
    tables = table.get("convention")
    if not isinstance(tables, list) or not tables or not all(isinstance(each, dict) for each in tables):
        example = '[[convention]], with name = "...", source = "..." and options = {...}'
        raise InputError("there is no convention", where=path, hint=f"Write {example}")
    conventions: list[NamedConvention] = []
    for number, block in enumerate(tables, start=1):
        name = block.get("name")
        where = f"{path}: convention {name!r}" if isinstance(name, str) else f"{path}: convention {number}"
        conventions.append(_convention(block, where))
        if conventions[-1].name in [other.name for other in conventions[:-1]]:
            raise InputError("two conventions have this name", where=where)
    return tuple(conventions)


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
    shared = {**DEFAULT, **dict(_options("options", table.get("options", {}), None, where))}
    convention: dict[str, Options] = {}
    for measure in CONVENTION_MEASURES:
        own = {}
        if measure in table:
            if measure not in measures:
                raise _not_one_of("measures", measure, measures, where)
            own = dict(_options(measure, table[measure], measure, f"{where}, {measure}"))
        options = (*SHARED, *OPTIONS_OF[measure])
        convention[measure] = {each: meant(measure, each, {**shared, **own}[each]) for each in options}
    return NamedConvention(table["name"], table["source"], tuple(measures), convention, shared)


def _options(key: str, table: Any, measure: str | None, where: str) -> Iterator[tuple[str, str | float]]:
    """Check and yield the options of a table, which is about one measure or about all (None)."""
    if not isinstance(table, dict):
        example = "{ ties = 'input' }" if measure else "{ gain = 'exp' }"
        raise InputError(f"{key} must be a table such as {example} (found {table!r})", where=where)
    known = OPTIONS if measure is None else (*SHARED, *OPTIONS_OF[measure])
    for option, value in table.items():
        if option not in known:
            raise _not_one_of("option", option, known, where)
        yield option, _value(option, value, CONVENTION_MEASURES if measure is None else (measure,), where)


def _value(option: str, value: Any, measures: Sequence[str], where: str) -> str | float:
    """Check and return the value of an option."""
    if OPTIONS[option].of_table is not None and isinstance(value, dict):
        gains = [_gain(option, grade, gain, where) for grade, gain in value.items()]
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
    """Check and return a grade and its gain in a table of grades."""
    if not _is_number(gain) or not grade.replace(".", "", 1).isdecimal():
        problem = f"option {option} as a table must have a number for each grade (found {grade!r}: {gain!r})"
        raise InputError(problem, where=where, hint='Write { 1 = 1, "1.5" = 10 }')
    return float(grade), float(gain)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= MAX_NUMBER


def _not_one_of(kind: str, value: Any, known: Iterable[str], where: str) -> InputError:
    near = get_close_matches(str(value), list(known), 1)
    is_value = kind.startswith("option ")
    other = next((option for option in SHARED if is_value and value in [*OPTIONS[option].values]), "")
    hint = f"Did you mean {near[0]}?" if near else f'Write {other} = "{value}"' if other else ""
    return InputError(f"{kind} must be one of {', '.join(known)} (found {value!r})", where=where, hint=hint)


NAMED = _conventions(OWN_FILE, "conventions.toml")
"""The named conventions of the package; the community's comes first."""
COMMUNITY = NAMED[0]
"""The community's default."""


def conventions_with(path: str | os.PathLike[str] | None) -> tuple[NamedConvention, ...]:
    """Return the named conventions: the community's, those of a user's file, then the others of the package.

    A user's convention replaces one of the package with the same name.
    """
    if path is None:
        return NAMED
    own = read_conventions(path)
    by_name = {each.name: each for each in (COMMUNITY, *own, *NAMED)}  # fixes the order
    return tuple((by_name | {each.name: each for each in own}).values())
