"""Write a measure as computed by a convention: as one would type it, and as a paper would put it."""

from __future__ import annotations

from typing import Any, cast

import ir_measures
from ir_measures.measures import Measure

from permed_measures.conventions.evaluate import is_worth_trying
from permed_measures.conventions.options import (
    CONVENTION_MEASURES,
    DEFAULT,
    OPTIONS_OF,
    SHARED,
    Options,
    computed_by,
    value_of,
)
from permed_measures.conventions.per_query import (
    DENOMINATOR,
    DISCOUNT,
    GAIN,
    IDEAL,
    LEVEL,
    NEGATIVE,
    WEIGHTS,
    LabelPolicy,
    weights_of,
)
from permed_measures.conventions.records import QUERY_SET, GainTable
from permed_measures.errors import MeasureError
from permed_measures.measures.definitions import Coverage, GradedAP, VariantNDCG
from permed_measures.measures.parameters import Cutoff, precision_recall_cutoffs
from permed_measures.measures.parsing import parse_measure


def measure_of(measure: str, cutoff: Cutoff, options: Options, labels: LabelPolicy) -> Measure | None:
    """Return the measure that one would type; None if neither ir_measures nor this package has it."""
    if measure not in CONVENTION_MEASURES:
        return parse_measure(measure)
    with_params = _TYPED[measure](options, labels) if measure in _TYPED else _with_level(measure, options)
    if with_params is None:
        return None
    base, params = with_params
    typed = cast(Measure, base(**params)) if params else base
    return typed if cutoff is None else typed @ cutoff


def measure_string(measure: str, cutoff: Cutoff, options: Options, labels: LabelPolicy) -> str:
    """Write a measure as one would type it; if that is not possible, describe it in words."""
    typed = measure_of(measure, cutoff, options, labels) if is_worth_trying(options, labels) else None
    return str(typed) if typed is not None else methods_phrase([with_cutoff(measure, cutoff)], options)


GAIN_OF_DCG = {"log2": "linear", "exp-log2": "exp"}
"""The gain for each value of the parameter `dcg` of nDCG in ir_measures."""

_Typed = tuple[Measure, dict[str, Any]] | None


def _ap(options: Options, labels: LabelPolicy) -> _Typed:
    """Choose AP or GradedAP with its parameters; None for AP that neither can compute."""
    level, norm = _plain(options[LEVEL]), options[DENOMINATOR]
    if not _takes(GradedAP, norm=norm) or _has_unusual("AP", options, LEVEL, WEIGHTS, DENOMINATOR):
        return None
    params: dict[str, Any] = {} if level == 1 else {"rel": level}
    if not _changed(options, WEIGHTS, DENOMINATOR) and isinstance(level, int):  # AP takes whole levels only
        return ir_measures.AP, params
    if _changed(options, DENOMINATOR):
        params["norm"] = norm
    top = _plain(labels.top)
    weights = weights_of(computed_by(WEIGHTS, options[WEIGHTS]), labels)
    weight = {_plain(g): weights[g] for g in labels.grades if g >= level}
    scales = (s for s in (2, top) if all(w == g / s and g <= s for g, w in weight.items()))
    scale = next(scales, None)
    if scale is None:
        params["gains"] = {grade: _plain(gain) for grade, gain in weight.items()}
    elif scale != 2:
        params["max_rel"] = scale
    return GradedAP, params


def _ndcg(options: Options, labels: LabelPolicy) -> _Typed:
    """Choose nDCG or VariantNDCG with its parameters; None for nDCG that neither can compute."""
    gain, grades = options[GAIN], [_plain(grade) for grade in labels.grades]
    params = {name: options[name] for name in (GAIN, DISCOUNT, IDEAL, NEGATIVE)}
    if _has_unusual("nDCG", options, *params):
        return None
    if gain == "binary" and grades == [1]:
        gain = params[GAIN] = DEFAULT[GAIN]
    plain = not _changed(options, DISCOUNT, IDEAL)
    if gain == "binary" or isinstance(gain, GainTable):
        return _ndcg_by_table(gain, grades) if plain else None
    dcg = next((name for name, its_gain in GAIN_OF_DCG.items() if its_gain == gain), None)
    if plain and dcg and not _changed(options, NEGATIVE):
        return ir_measures.nDCG, {"dcg": dcg} if gain != DEFAULT[GAIN] else {}
    if not _takes(VariantNDCG, **params):
        return None
    default = {name: info.default for name, info in VariantNDCG.SUPPORTED_PARAMS.items()}
    return VariantNDCG, {
        name: params[name] for name in default if name in params and params[name] != default[name]
    }


def _ndcg_by_table(gain: str, grades: list[float | int]) -> _Typed:
    """Choose nDCG with a gain for each grade; None unless grades and gains are whole numbers."""
    gains = gain.gains if isinstance(gain, GainTable) else dict.fromkeys(grades, 1.0)
    if not all(isinstance(each, int) for each in (*grades, *map(_plain, gains.values()))):
        return None
    # nDCG uses a grade without an entry as its own gain.
    changed = {grade: _plain(gains[grade]) for grade in grades if gains[grade] != grade}
    return ir_measures.nDCG, {"gains": changed} if changed else {}


def _takes(measure: Measure, **params: Any) -> bool:
    """Check whether a measure accepts these parameters."""
    try:
        measure(**params)
    except (MeasureError, ValueError):
        return False
    return True


def _has_unusual(measure: str, options: Options, *allowed: str) -> bool:
    """Check whether any option of a measure is changed from its default, except the allowed ones."""
    return _changed(options, *(option for option in OPTIONS_OF[measure] if option not in allowed))


def _changed(options: Options, *names: str) -> bool:
    """Check whether any of these options is changed from its default."""
    return any(options[name] != DEFAULT[name] for name in names)


_TYPED = {"AP": _ap, "nDCG": _ndcg}
_BASES = {"P": ir_measures.P, "R": ir_measures.R, "RR": ir_measures.RR, "Success": Coverage}


def _with_level(measure: str, options: Options) -> _Typed:
    """Choose P, R, RR or Coverage with its level; None for other denominators and fractional levels."""
    level = _plain(options[LEVEL])
    unusual = _has_unusual(measure, options, LEVEL)
    if measure == "F1" or unusual or (measure != "Success" and not isinstance(level, int)):
        return None
    return _BASES[measure], {} if level == 1 else {"rel": level}


def _plain(value: float) -> float | int:
    """Convert a whole number to an int."""
    return int(value) if value == int(value) else value


def with_cutoff(measure: str, cutoff: Cutoff) -> str:
    """Write the name of a measure with its cutoff; F1 may have two."""
    precision, recall = precision_recall_cutoffs(cutoff)
    if precision != recall:
        return f"F1 of P@{precision} and R@{recall}"
    return measure if precision is None else f"{measure}@{precision}"


def methods_phrase(names: list[str], options: Options) -> str:
    """Describe measures as a methods section does: nDCG@10 with linear gains, log2 discount."""
    phrases = list(filter(None, (value_of(option, value).phrase for option, value in options.items())))
    joined = "with " if {WEIGHTS, GAIN} & options.keys() else ""
    measures = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return f"{measures} {joined}{', '.join(phrases)}" if phrases else measures


def sentence_of(measures: list[str], over: str, convention: Options) -> str:
    """Join the descriptions of measures, the queries that they are averaged over, and shared options."""
    shared = [value_of(option, convention[option]).phrase for option in SHARED if option != QUERY_SET]
    return "; ".join([*measures, *([f"averaged over {over}"] if over else []), *filter(None, shared)])
