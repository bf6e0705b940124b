"""Headings of measures: short, and never the same for two measures."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import Any

from ir_measures.measures import Measure

from permed_measures.errors import InputError
from permed_measures.measures.parameters import CheckedMeasure, own_name

_WORDS = {
    ("dcg", "exp-log2"): "exp",
    ("gain", "linear"): "linear",
    ("discount", "jk"): "jk",
    ("discount", "zipf"): "zipf",
    ("norm", "min"): "min",
    ("norm", "ideal"): "ideal",
}
"""Values that say by themselves what they are."""


def heading(measure: Measure) -> str:
    """Return the short name that heads a measure in every table and plot, and no other measure.

    It is the measure as it prints where its parameters are the defaults; others follow the name.

    Examples
    --------
    >>> from permed_measures.measures.parsing import parse_measure
    >>> for text in ("nDCG@10", "nDCG(dcg='exp-log2')@10", "GradedAP(norm='ideal',rel=2)", "RBP(p=0.9)@5"):
    ...     print(heading(parse_measure(text)))
    nDCG@10
    nDCG-exp@10
    GradedAP-rel2-ideal
    RBP-p0.9@5
    """
    parts = [str(measure.NAME)]
    for name, param in measure.SUPPORTED_PARAMS.items():
        value = measure.params.get(name, param.default)
        if isinstance(value, dict) and not isinstance(measure, CheckedMeasure):
            # A measure of ir_measures takes the grade itself as the gain where none is given.
            value = {grade: gain for grade, gain in value.items() if grade != gain} or param.default
        if name != measure.AT_PARAM and value != param.default:
            parts.append(_part(name, value))
    at = f"@{measure.params[measure.AT_PARAM]}" if measure.AT_PARAM in measure.params else ""
    return "-".join(parts) + at


def _part(name: str, value: Any) -> str:
    """Shorten a parameter; its first letter tells the hyphen before it from the sign of a number."""
    if value is True:
        return name
    if isinstance(value, dict):
        return f"{name}=" + ",".join(f"{grade}:{gain}" for grade, gain in sorted(value.items()))
    if isinstance(value, (bool, str)) or not name[-1].isalpha():
        return _WORDS.get((name, value), f"{name}={value}")
    return f"{name}{value}"


_PART = re.compile(r"-(?=[A-Za-z])")
"""Where a part of a heading begins; a hyphen before a digit is the sign of a number."""


def split_heading(text: str, name: str, known: Measure) -> tuple[dict[str, Any], Any] | None:
    """Return the parameters and the cutoff (or None) of a heading that begins with a name of this measure.

    It is None where the text is no heading.

    Examples
    --------
    >>> from ir_measures import AP, nDCG
    >>> split_heading("nDCG-exp@10", "nDCG", nDCG), split_heading("AP-rel2-x", "AP", AP)
    (({'dcg': 'exp-log2'}, 10), None)
    """
    whole, _, at = text.removeprefix(name).partition("@")
    first, *parts = _PART.split(whole)
    params = dict(found for part in parts if (found := _parameter(part, known)))
    cutoff = _literal(at) if at else None
    if first or not parts or len(params) < len(parts) or (at and cutoff is None):
        return None
    return params, cutoff


def _parameter(part: str, measure: Measure) -> tuple[str, Any] | None:
    """Return the name and the value that a part of a heading stands for."""
    for (name, value), word in _WORDS.items():
        if part == word and name in measure.SUPPORTED_PARAMS:
            return name, value
    name, equals, text = part.partition("=")
    if equals and name in measure.SUPPORTED_PARAMS:
        pairs = ":" in text
        value = _literal(f"{{{text}}}" if pairs else text)
        return (name, text if value is None and not pairs else value)
    for name in sorted(measure.SUPPORTED_PARAMS, key=len, reverse=True):
        if part.startswith(name) and name != measure.AT_PARAM:
            given = True if part == name else _literal(part.removeprefix(name))
            return None if given is None else (name, given)
    return None


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def headings_of(measures: Iterable[Measure]) -> list[str]:
    """Return the heading of each measure: the user's own, or the short name.

    Raises
    ------
    InputError
        If two measures would have the same heading.
    """
    owners: dict[str, Measure] = {}
    found = [(own_name(measure) or heading(measure), measure) for measure in measures]
    for text, measure in found:
        other = owners.setdefault(text, measure)
        if other != measure and heading(other) != heading(measure):
            raise InputError(
                f"two measures are headed {text!r}: {other} and {measure}",
                hint="Give one of them another name: NAME=MEASURE",
            )
    return [text for text, _ in found]


def check_headings(labels: Iterable[str], measures: Iterable[Measure]) -> None:
    """Raise InputError for a measure with the heading of another column of its table."""
    taken = set(labels)
    for measure in measures:
        if (name := own_name(measure)) in taken:
            hint = "Give the measure another name: NAME=MEASURE"
            raise InputError(f"two columns would be named {name!r}", hint=hint)


def explained(measures: Iterable[Measure]) -> list[str]:
    """Say what each heading stands for that is not the measure as it prints."""
    measures = list(measures)
    pairs = zip(headings_of(measures), map(str, measures), strict=True)
    return [f"{text} is {whole}" for text, whole in dict.fromkeys(pairs) if text != whole]


def name_of(measure: Measure) -> str:
    """Return the name of a measure in JSON, CSV and TSV: the user's own, or the measure as it prints."""
    return own_name(measure) or str(measure)
