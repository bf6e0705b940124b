"""Parse measures from text, such as ``"GradedAP(norm='ideal')@10"``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from typing import Any

import ir_measures
from ir_measures.measures import Measure

from permed_measures.errors import MeasureError, short_repr
from permed_measures.measures.aliases import resolve_alias, suggestion_for, unsupported_hint
from permed_measures.measures.definitions import PRESETS
from permed_measures.measures.headings import EXP_NDCG, SHORT
from permed_measures.measures.parameters import alias_of, check_parameters, with_alias
from permed_measures.measures.specs import MEASURES, with_rel

MeasureLike = Measure | str
"""A measure of ir_measures or of this package, or its name: ``GradedAP@10`` or ``"GradedAP@10"``."""

MeasuresLike = Mapping[str, MeasureLike] | Iterable[MeasureLike] | MeasureLike
"""Any number of measures, or one; a mapping gives them the user's names: ``{"MAP@10": GradedAP @ 10}``."""


def measures_of(measures: MeasuresLike, rel: float | None = None) -> list[Measure]:
    """Parse measures in any form, each once; set `rel` in measures that take it and do not set their own."""
    if isinstance(measures, (str, Measure)) or not isinstance(measures, Iterable):
        measures = [measures]
    if not isinstance(measures, Mapping) or all(isinstance(key, Measure) for key in measures):
        # calc_aggregate returns a dict of measure to value; given such a dict, its keys are used.
        parsed: list[Measure] = []
        for item in measures:
            parsed += [item] if isinstance(item, Measure) else _preset(item) or [parse_measure(item)]
    else:
        for name in measures:
            if not isinstance(name, str) or not name.strip():
                problem = f"a dict of measures must have names (found {short_repr(name)})"
                raise MeasureError(problem, hint="{'MAP@10': GradedAP @ 10}")
        parsed = [with_alias(parse_measure(measure), name) for name, measure in measures.items()]
    return deduplicate(parsed if rel is None else [with_rel(measure, rel) for measure in parsed])


def _preset(name: MeasureLike) -> Iterable[Measure]:
    """Return the measures of a benchmark in `PRESETS`; empty for anything else."""
    return PRESETS.get(name.strip().lower(), ()) if isinstance(name, str) else ()


def parse_measure_args(text: str) -> list[Measure]:
    """Parse ``MEASURE``, ``NAME=MEASURE``, or the name of a benchmark in `PRESETS`."""
    return [*_preset(text)] or [parse_named_measure(text)]


_NAMED_MEASURE = r"(?s)((?:[^=()]|\([^()]*\))*)=(.*)"  # a = in brackets belongs to a parameter


def parse_named_measure(text: str) -> Measure:
    """Parse ``MEASURE`` or ``NAME=MEASURE``."""
    match = re.fullmatch(_NAMED_MEASURE, text)
    if match is None or re.fullmatch(_GAINS, text.strip()):
        return parse_measure(text)
    name, measure = match[1].strip(), match[2].strip()
    if not name or not measure:
        raise MeasureError(f"a measure is MEASURE or NAME=MEASURE (found {short_repr(text)})")
    return with_alias(parse_measure(measure), name)


def deduplicate(measures: Iterable[Measure]) -> list[Measure]:
    """Keep each measure once; raise MeasureError if two have one name, or one has two names."""
    kept: dict[Measure, Measure] = {}
    owners: dict[str, Measure] = {}
    for measure in measures:
        alias, same = alias_of(measure), kept.setdefault(measure, measure)
        name = alias or str(measure)
        owner = owners.setdefault(name.replace(EXP_NDCG, SHORT), measure)  # by the heading in tables
        if owner is not measure and owner != measure:  # != compares text forms, which is slow
            raise MeasureError(
                f"two measures are named {name!r}: {owner} and {measure}",
                hint="Give one of them another name: NAME=MEASURE",
            )
        if alias and alias_of(same) not in (None, alias):
            both = f"{alias_of(same)!r} and {alias!r}"
            raise MeasureError(f"one measure has two names: {both} are both {measure}")
        if alias:
            kept[measure] = measure
    return list(kept.values())


def parse_measure(text: MeasureLike) -> Measure:
    """Parse a measure from text, such as ``"GradedAP(norm='ideal')@10"``.

    Parameters
    ----------
    text : str or Measure
        ``Name``, ``Name@cutoff``, ``Name(parameter=value, ...)`` or ``Name(parameter=value, ...)@cutoff``,
        with values that are Python literals or bare words, for any measure of ir_measures or of this package;
        the heading ``nDCG-exp@10``, also called MSnDCG; or a common name: ``map``, ``NDCG_cut_10``,
        ``mrr@10``, ``hit@10``. A measure is returned unchanged.

    Returns
    -------
    Measure
        ``parse_measure(str(measure)) == measure`` holds for every measure of this package.

    Raises
    ------
    MeasureError
        If the text is not a measure (the message suggests the most similar name), or a parameter is not
        allowed.

    Notes
    -----
    Unlike ``ir_measures.parse_measure`` it accepts negative numbers, and works on every Python version. A
    name that papers use for several measures has trec_eval's meaning, without a warning: ``map`` is AP, also
    on graded labels, where papers may mean ``GradedAP``.

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
        parsed = _parse_alias(text, parsed)
    name, params, cutoff = parsed
    measure: Measure = registry[name]
    if cutoff is not None:
        params[measure.AT_PARAM] = cutoff
    measure = measure(**params)
    check_parameters(measure)
    return measure


_Parsed = tuple[str, dict[str, Any], Any]
"""The name of a measure, its parameters in brackets, and the value after the @ (None without one)."""


_WARNED_OF = r"\\|(?<!\w)[0-9][\w.]*(and|else|for|if|in|is|or|not)"
"""Text for which Python's parser would warn: an escape, or a number before a keyword (10and)."""


def _parse(text: str) -> _Parsed | None:
    """Parse a text in the syntax of measures; None if it has another syntax."""
    if re.search(_WARNED_OF, text):
        return None
    try:
        node = ast.parse(text.strip(), mode="eval").body
        cutoff = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            cutoff, node = ast.literal_eval(node.right), node.left
        params = {}
        if isinstance(node, ast.Call) and not node.args:
            params = {str(keyword.arg): _value(keyword.value, text.strip()) for keyword in node.keywords}
            node = node.func
        if isinstance(node, ast.Name):
            return node.id, params, cutoff
    except (SyntaxError, ValueError, TypeError, AttributeError, RecursionError, MemoryError):
        pass  # the last two: thousands of nested brackets or signs
    return None


def _value(node: ast.expr, text: str) -> Any:
    """Evaluate a literal; a bare word is a string, since shells remove quotes."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        word = ast.get_source_segment(text, node) or ""
        return {"true": True, "false": False}.get(word, word)


_GAINS = r"(?i)ndcg\w*\.((?:-?[0-9.]+=-?[0-9.]+,?)+)"
"""trec_eval's syntax for the gains of grades."""


def _parse_alias(text: str, parsed: _Parsed | None) -> _Parsed:
    """Resolve a common name of a measure; raise MeasureError with a hint if there is none."""
    name, params, cutoff = parsed or (text, {}, None)
    if gains := re.fullmatch(_GAINS, text.strip()):
        hint = f"Write nDCG(gains={{{gains[1].replace('=', ':')}}})"
        raise MeasureError(
            f"gains are a parameter (found {short_repr(text)}, as trec_eval has it)", hint=hint
        )
    resolved = resolve_alias(name)
    if resolved and (cutoff is None or resolved[1] is None):
        return resolved[0], params, resolved[1] if cutoff is None else cutoff
    if parsed:
        raise MeasureError(f"there is no measure {short_repr(name)}", hint=suggestion_for(name))
    examples = "Examples: P@1, GradedAP(norm='ideal')@10, nDCG(dcg='exp-log2')@10"
    one = "Name one at a time: -m P@5 -m P@10, or in Python ['P@5', 'P@10']"
    problem = f"a measure is written Name(parameter=value,...)@cutoff (found {short_repr(text)})"
    raise MeasureError(problem, hint=unsupported_hint(text) or (one if "," in name else examples))
