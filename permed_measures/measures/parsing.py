"""Measures as text: from ``"GradedAP(norm='ideal')@10"`` to the measure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from typing import Any

import ir_measures
from ir_measures.measures import Measure

from permed_measures.errors import MeasureError, short_repr
from permed_measures.measures.aliases import resolve_alias, suggestion_for, unsupported_hint
from permed_measures.measures.definitions import MEASURES, PRESETS
from permed_measures.measures.headings import EXP_NDCG, SHORT
from permed_measures.measures.parameters import alias_of, check_parameters, with_alias, with_rel

MeasureLike = Measure | str
"""A measure of ir_measures or of ours, or its name: ``GradedAP@10`` or ``"GradedAP@10"``."""

MeasuresLike = Mapping[str, MeasureLike] | Iterable[MeasureLike] | MeasureLike
"""Any number of measures, or one; a mapping gives them names of one's own: ``{"MAP@10": GradedAP @ 10}``."""


def measures_of(measures: MeasuresLike, rel: float | None = None) -> list[Measure]:
    """Return measures given in any form, each once; `rel` is set where a measure takes it and has none."""
    if isinstance(measures, (str, Measure)) or not isinstance(measures, Iterable):
        measures = [measures]
    if not isinstance(measures, Mapping) or all(isinstance(each, Measure) for each in measures):
        # A dict of measure to value is what calc_aggregate returns: its measures are meant.
        found: list[Measure] = []
        for given in measures:
            found += [given] if isinstance(given, Measure) else _preset(given) or [parse_measure(given)]
    else:
        for name in measures:
            if not isinstance(name, str) or not name.strip():
                problem = f"a dict of measures must have names (found {short_repr(name)})"
                raise MeasureError(problem, hint="{'MAP@10': GradedAP @ 10}")
        found = [with_alias(parse_measure(each), name) for name, each in measures.items()]
    return deduplicate(found if rel is None else [with_rel(measure, rel) for measure in found])


def _preset(name: MeasureLike) -> Iterable[Measure]:
    """Return the measures that a name of `PRESETS` stands for; none for anything else."""
    return PRESETS.get(name.strip().lower(), ()) if isinstance(name, str) else ()


def parse_measure_args(text: str) -> list[Measure]:
    """Return the measure of ``MEASURE`` or ``NAME=MEASURE``, or those of a preset."""
    return [*_preset(text)] or [parse_named_measure(text)]


_NAMED_MEASURE = r"(?s)((?:[^=()]|\([^()]*\))*)=(.*)"  # a = in brackets belongs to a parameter


def parse_named_measure(text: str) -> Measure:
    """Return the measure of ``MEASURE`` or ``NAME=MEASURE``."""
    found = re.fullmatch(_NAMED_MEASURE, text)
    if found is None or re.fullmatch(_GAINS, text.strip()):
        return parse_measure(text)
    name, measure = found[1].strip(), found[2].strip()
    if not name or not measure:
        raise MeasureError(f"a measure is MEASURE or NAME=MEASURE (found {short_repr(text)})")
    return with_alias(parse_measure(measure), name)


def deduplicate(measures: Iterable[Measure]) -> list[Measure]:
    """Return each measure once, with its name if it has one; two cannot have one name, nor one two."""
    found: dict[Measure, Measure] = {}
    owners: dict[str, Measure] = {}
    for measure in measures:
        own, same = alias_of(measure), found.setdefault(measure, measure)
        name = own or str(measure)
        owner = owners.setdefault(name.replace(EXP_NDCG, SHORT), measure)  # as a table heads it
        if owner is not measure and owner != measure:  # measures are compared as text, which takes long
            raise MeasureError(
                f"two measures are named {name!r}: {owner} and {measure}",
                hint="Give one of them another name: NAME=MEASURE",
            )
        if own and alias_of(same) not in (None, own):
            both = f"{alias_of(same)!r} and {own!r}"
            raise MeasureError(f"one measure has two names: {both} are both {measure}")
        if own:
            found[measure] = measure
    return list(found.values())


def parse_measure(text: MeasureLike) -> Measure:
    """Return the measure that a text such as ``"GradedAP(norm='ideal')@10"`` names.

    Parameters
    ----------
    text : str or Measure
        ``Name``, ``Name@cutoff``, ``Name(parameter=value, ...)`` or ``Name(parameter=value, ...)@cutoff``,
        the values Python literals or bare words; any measure that ir_measures has, or one of ours; the
        heading ``nDCG-exp@10``, which is also called MSnDCG; or what people call one: ``map``,
        ``NDCG_cut_10``, ``mrr@10``, ``hit@10``. A measure is returned as it is.

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
    Unlike ``ir_measures.parse_measure`` it takes negative numbers, and works on every Python version. A name
    that papers use for several measures has trec_eval's meaning, without a warning: ``map`` is AP, also on
    graded labels, where ``GradedAP`` may be meant.

    Examples
    --------
    >>> parse_measure("GradedAP(gains={1: 0.25, 2: 1}, norm=gain)@5")
    GradedAP(gains={1:0.25,2:1},norm='gain')@5
    >>> parse_measure("ndcg_cut_10")
    nDCG@10
    """
    if isinstance(text, Measure):
        return text
    if not isinstance(text, str):
        raise MeasureError(
            f"a measure is an object of ir_measures or a string (found {short_repr(text)})",
            hint="calc_aggregate takes measures, qrels and a run, compare takes qrels, runs and measures",
        )
    registry = {**ir_measures.measures.registry, **MEASURES}
    parsed = _parse(re.sub(rf"^\s*({SHORT}|MSnDCG)(?=\s*(@|$))", EXP_NDCG, text, flags=re.IGNORECASE))
    if parsed is None or parsed[0] not in registry:
        parsed = _as_people_write(text, parsed)
    name, params, at = parsed
    measure: Measure = registry[name]
    if at is not None:
        params[measure.AT_PARAM] = at
    measure = measure(**params)
    check_parameters(measure)
    return measure


_Parsed = tuple[str, dict[str, Any], Any]
"""A name, the parameters in brackets, and the value after the @ (None without one)."""


_WARNED_OF = r"\\|(?<!\w)[0-9][\w.]*(and|else|for|if|in|is|or|not)"
"""What Python would warn of: an escape, a number that runs into a keyword as in 10and. No measure has it."""


def _parse(text: str) -> _Parsed | None:
    """Split a text in the syntax of measures; None if it is in another."""
    if re.search(_WARNED_OF, text):
        return None
    try:
        node = ast.parse(text.strip(), mode="eval").body
        at = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            at, node = ast.literal_eval(node.right), node.left
        params = {}
        if isinstance(node, ast.Call) and not node.args:
            params = {str(each.arg): _value(each.value, text.strip()) for each in node.keywords}
            node = node.func
        if isinstance(node, ast.Name):
            return node.id, params, at
    except (SyntaxError, ValueError, TypeError, AttributeError, RecursionError, MemoryError):
        pass  # not only bad syntax: thousands of nested brackets or signs
    return None


def _value(node: ast.expr, text: str) -> Any:
    """Return a literal, or a string without quotes, which shells would have taken away."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        word = ast.get_source_segment(text, node) or ""
        return {"true": True, "false": False}.get(word, word)


_GAINS = r"(?i)ndcg\w*\.((?:-?[0-9.]+=-?[0-9.]+,?)+)"
"""How trec_eval is told the gains of grades."""


def _as_people_write(text: str, parsed: _Parsed | None) -> _Parsed:
    name, params, at = parsed or (text, {}, None)
    if gains := re.fullmatch(_GAINS, text.strip()):
        hint = f"Write nDCG(gains={{{gains[1].replace('=', ':')}}})"
        raise MeasureError(
            f"gains are a parameter (found {short_repr(text)}, as trec_eval has it)", hint=hint
        )
    found = resolve_alias(name)
    if found and (at is None or found[1] is None):
        return found[0], params, found[1] if at is None else at
    if parsed:
        raise MeasureError(f"there is no measure {short_repr(name)}", hint=suggestion_for(name))
    examples = "Examples: P@1, GradedAP(norm='ideal')@10, nDCG(dcg='exp-log2')@10"
    one = "Name one at a time: -m P@5 -m P@10, or in Python ['P@5', 'P@10']"
    problem = f"a measure is written Name(parameter=value,...)@cutoff (found {short_repr(text)})"
    raise MeasureError(problem, hint=unsupported_hint(text) or (one if "," in name else examples))
