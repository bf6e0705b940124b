"""Measures as text: from ``"GradedAP(norm='ideal')@10"`` to the measure."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import ir_measures
from ir_measures.measures import Measure

from permed_measures.errors import MeasureError, nearest, shown
from permed_measures.measures.definitions import MEASURES
from permed_measures.measures.parameters import check_given

MeasureLike = Measure | str
"""A measure of ir_measures or of ours, or its name: ``GradedAP@10`` or ``"GradedAP@10"``."""

MeasuresLike = Iterable[MeasureLike] | MeasureLike
"""Any number of measures, or one."""


def parse_measure(text: MeasureLike) -> Measure:
    """Return the measure that a text such as ``"GradedAP(norm='ideal')@10"`` names.

    Parameters
    ----------
    text : str or Measure
        ``Name``, ``Name@cutoff``, ``Name(parameter=value, ...)`` or ``Name(parameter=value, ...)@cutoff``,
        the values Python literals; any measure that ir_measures has, or one of ours. A measure is returned
        as it is.

    Returns
    -------
    Measure
        ``parse_measure(str(measure)) == measure`` holds for every measure of this package.

    Raises
    ------
    MeasureError
        If the text is no measure (with the nearest name), or a parameter is not allowed.

    Notes
    -----
    Unlike ``ir_measures.parse_measure`` it takes negative numbers, and works on every Python version.

    Examples
    --------
    >>> parse_measure("GradedAP(gains={1: 0.25, 2: 1}, norm='gain')@5")
    GradedAP(gains={1:0.25,2:1},norm='gain')@5
    """
    if isinstance(text, Measure):
        return text
    name, params, at = _parse(text)
    registry: Mapping[str, Measure] = {**ir_measures.measures.registry, **MEASURES}
    if name not in registry:
        raise MeasureError(f"there is no measure {shown(name)}", hint=_other_name(text, name, registry))
    measure: Measure = registry[name]
    if at is not None:
        params[measure.AT_PARAM] = at
    measure = measure(**params)
    check_given(measure)
    return measure


def _parse(text: str) -> tuple[str, dict[str, Any], Any]:
    """Split the text into name, parameters and the value after the @ (None without one)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns of 10and: a number that runs into a keyword
            node = ast.parse(text.strip(), mode="eval").body
        at = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            at, node = ast.literal_eval(node.right), node.left
        params = {}
        if isinstance(node, ast.Call) and not node.args:
            params = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
            node = node.func
        if isinstance(node, ast.Name):
            return node.id, params, at
    except (SyntaxError, ValueError, TypeError, AttributeError, RecursionError, MemoryError):
        pass  # not only bad syntax: another type than str, or thousands of nested brackets or signs
    raise MeasureError(
        f"a measure reads Name(parameter=value,...)@cutoff with literal values (found {shown(text)})",
        hint="Examples: P@1, GradedAP(norm='ideal')@10, nDCG(dcg='exp-log2')@10",
    )


def _other_name(text: str, name: str, registry: Mapping[str, Measure]) -> str:
    """Return advice for a name that is no measure: trec_eval's own names first, then spelling."""
    try:
        same = ir_measures.parse_trec_measure(text)
    except (ValueError, KeyError, TypeError):
        return nearest(name, registry)
    return f"trec_eval's {text} is {same[0]} here"
