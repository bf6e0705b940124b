"""What the fields of a record, or of a file of rules, may be: JSON schemas, and their check."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from permed_measures.errors import InputError, nearest, shown

Key = tuple[str | int, ...]

_DEEPEST = 20
"""How deep lists and objects may stand in each other; those of a record have 10 levels at most."""

_LARGEST = 10**20
"""What whole numbers must be below: larger ones are none of ours, and take time and memory."""


@cache
def schema() -> dict[str, Any]:
    """Return the JSON schema of a record (draft 2020-12)."""
    found: dict[str, Any] = json.loads((files("permed_measures.records") / "schema.json").read_text("utf-8"))
    return found


def check_fields(content: Any, rules: Mapping[str, Any], where: str = "") -> None:
    """Raise InputError for the first field that does not fit a JSON schema.

    Parameters
    ----------
    content : what JSON or TOML can hold
    rules : mapping
        The schema, of the keywords that `schema` uses. It is read more strictly than JSON Schema has it: 1.0
        is no integer, numbers are finite, whole numbers are below 10^20, and objects and lists stand in at
        most 20 others.
    where : str
        The file, for messages.

    Examples
    --------
    >>> check_fields({"seed": "0"}, {"properties": {"seed": {"type": "integer"}}}, "rules.toml")
    Traceback (most recent call last):
    permed_measures.errors.InputError: rules.toml: seed must be a whole number (found '0')
    """
    misfit = next(_misfits(content, rules, ()), None)
    if misfit is not None:
        key, problem, hint = misfit
        raise InputError(f"{dotted(key) or 'the content'} {problem}", where=where, hint=hint)


def dotted(key: Key) -> str:
    """Return the place of a field as messages have it: ``runs.0.values``."""
    return ".".join(map(str, key))


def _is_whole(value: Any) -> bool:
    return type(value) is int and abs(value) < _LARGEST


def _is_number(value: Any) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


_TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "object": ("an object", lambda value: isinstance(value, dict)),
    "array": ("a list", lambda value: isinstance(value, list)),
    "string": ("a text", lambda value: isinstance(value, str)),
    "integer": ("a whole number", _is_whole),
    "number": ("a number", _is_number),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "null": ("null", lambda value: value is None),
}

_LIMITS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "const": ("be {}", lambda value, limit: value == limit),
    "enum": ("be one of {}", lambda value, limit: value in limit),
    "minimum": ("be at least {}", lambda value, limit: not _is_number(value) or value >= limit),
    "maximum": ("be at most {}", lambda value, limit: not _is_number(value) or value <= limit),
    "pattern": ("match {}", lambda value, limit: not isinstance(value, str) or bool(re.search(limit, value))),
    "minItems": ("have {} or more", lambda value, limit: not isinstance(value, list) or len(value) >= limit),
    "uniqueItems": ("have each only once", lambda value, _: len(set(value)) == len(value)),
}


def _misfits(value: Any, rules: Mapping[str, Any], key: Key) -> Iterator[tuple[Key, str, str]]:
    """Yield the place of each field that does not fit, what is wrong, and a hint."""
    given = rules.get("type", list(_TYPES))
    allowed = [given] if isinstance(given, str) else given
    if len(key) > _DEEPEST:
        yield key, f"stands deeper than {_DEEPEST} levels", ""
    elif not any(_TYPES[each][1](value) for each in allowed):
        expected = " or ".join(_TYPES[each][0] for each in allowed) if "type" in rules else "a finite number"
        yield key, f"must be {expected} (found {shown(value)})", ""
    elif isinstance(value, dict):
        yield from _misfits_of_object(value, rules, key)
    elif isinstance(value, list) and not _are_floats(value, rules.get("items", {})):
        for number, each in enumerate(value):
            yield from _misfits(each, rules.get("items", {}), (*key, number))
    for name, (expected, fits) in _LIMITS.items():
        if name in rules and not fits(value, rules[name]):
            yield key, f"must {expected.format(rules[name])} (found {shown(value)})", ""


def _are_floats(values: list[Any], rules: Mapping[str, Any]) -> bool:
    """Return whether these are finite numbers as they should be: millions are checked at once."""
    return (
        rules == {"type": "number"} and set(map(type, values)) <= {float} and all(map(math.isfinite, values))
    )


def _misfits_of_object(
    value: dict[str, Any], rules: Mapping[str, Any], key: Key
) -> Iterator[tuple[Key, str, str]]:
    known, others = rules.get("properties", {}), rules.get("additionalProperties", {})
    for name in rules.get("required", ()):
        if name not in value:
            yield (*key, name), "is missing", ""
    for name, each in value.items():
        if name not in known and others is False:
            yield (*key, name), "is no field that is known here", nearest(name, known)
        else:
            yield from _misfits(each, known.get(name, others), (*key, name))
