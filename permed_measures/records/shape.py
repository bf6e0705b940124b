"""What the fields of a record are, and their check."""

from __future__ import annotations

import math
from typing import Any

from permed_measures.errors import InputError, nearest, shown

Shape = Any
"""A type, several of them, a list of one shape, or an object.

The fields of an object are named; where one of its names is ``str``, it may have any others of that shape.
"""

_MAYBE_TEXT = (str, type(None))

RECORD: Shape = {
    "record": str,
    "created": _MAYBE_TEXT,
    "sha256": str,
    "versions": {"permed-measures": str, str: str},
    "options": {"order": str, "query_ids": _MAYBE_TEXT},
    "qrels": {"path": _MAYBE_TEXT, "dataset": _MAYBE_TEXT, "judgments": str},
    "measures": {str: str},
    "query_ids": [str],
    "runs": {
        str: {"path": _MAYBE_TEXT, "sha256": _MAYBE_TEXT, "means": {str: float}, "values": {str: [float]}}
    },
}
"""The fields of a record."""

_WORDS = {str: "a text", _MAYBE_TEXT: "a text or null", float: "a finite number"}


def check_shape(content: Any, shape: Shape, where: str, key: str = "") -> None:
    """Raise InputError for the first field of JSON content that does not fit, with its name.

    Examples
    --------
    >>> check_shape({"qrels": {"path": 1}}, {"qrels": {"path": str}}, "base.json")
    Traceback (most recent call last):
    permed_measures.errors.InputError: base.json: qrels.path must be a text (found 1)
    """
    expected = "an object" if isinstance(shape, dict) else "a list" if isinstance(shape, list) else ""
    expected = expected or _WORDS[shape]
    if not _fits(content, shape):
        raise InputError(f"{key} must be {expected} (found {shown(content)})", where=where)
    inside = f"{key}." if key else ""
    if isinstance(shape, list):
        for number, each in enumerate(content):
            check_shape(each, shape[0], where, f"{inside}{number}")
    if isinstance(shape, dict):
        for name in shape.keys() - {str} - content.keys():
            raise InputError(f"{inside}{name} is missing", where=where)
        for name, each in content.items():
            if name not in shape and str not in shape:
                known = nearest(name, list(shape))
                raise InputError(f"{inside}{name} is no field of a record", where=where, hint=known)
            check_shape(each, shape.get(name, shape.get(str)), where, f"{inside}{name}")


def _fits(value: Any, shape: Shape) -> bool:
    if shape is float:
        return isinstance(value, float) and math.isfinite(value)
    return isinstance(value, type(shape) if isinstance(shape, (dict, list)) else shape)
