"""Rules of a gate: what they may be, and where they stand in a file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from permed_measures.errors import InputError
from permed_measures.records.fields import check_fields

RULES: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "min": {"type": "object", "additionalProperties": {"type": "number"}},
        "max-drop": {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}},
        "baseline": {"type": "string"},
        "significant": {"type": "boolean"},
        "non-inferior": {"type": "boolean"},
        "clusters": {"type": "string"},
        "resamples": {"type": "integer", "minimum": 1},
        "seed": {"type": "integer", "minimum": 0},
    },
}
"""The rules of a file, as a JSON schema."""

_TABLE = ("tool", "permed-measures", "gate")


def read_rules(path: Path) -> dict[str, Any]:
    """Read the rules of a TOML file: the table ``tool.permed-measures.gate`` if it has it, or all of it.

    Raises
    ------
    InputError
        If it is no TOML, or a key or a value is no rule; the message names file and key.
    """
    try:
        content: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"this is no TOML file ({error})", where=str(path)) from None
    rules = content
    for number, name in enumerate(_TABLE):
        if isinstance(rules, Mapping) and name not in rules:
            rules = None if number or path.name == "pyproject.toml" else content
            break
        check_fields(rules, {"properties": {name: {"type": "object"}}}, str(path))
        rules = rules[name]
    if rules is None:
        raise InputError(f"there is no table [{'.'.join(_TABLE)}]", where=str(path))
    check_fields(rules, RULES, str(path))
    if "baseline" in rules and not Path(rules["baseline"]).is_absolute():
        rules["baseline"] = str(path.parent / rules["baseline"])
    return dict(rules)
