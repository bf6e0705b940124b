"""What a measure is called by a convention: as one would type it, and as a paper would say it."""

from __future__ import annotations

from typing import Any, cast

import ir_measures
from ir_measures.measures import Measure

from permed_measures.conventions.evaluate import is_possible
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
    """Return the measure as one would type it; None if ir_measures and we have none."""
    if measure not in CONVENTION_MEASURES:
        return parse_measure(measure)
    found = _TYPED[measure](options, labels) if measure in _TYPED else _level(measure, options)
    if found is None:
        return None
    base, params = found
    typed = cast(Measure, base(**params)) if params else base
    return typed if cutoff is None else typed @ cutoff


def measure_string(measure: str, cutoff: Cutoff, options: Options, labels: LabelPolicy) -> str:
    """Write a measure as one would type it, or what is unusual of it in words."""
    found = measure_of(measure, cutoff, options, labels) if is_possible(options, labels) else None
    return str(found) if found is not None else methods_phrase([with_cutoff(measure, cutoff)], options)


GAIN_OF_DCG = {"log2": "linear", "exp-log2": "exp"}
"""The gain that ir_measures' nDCG has by its parameter `dcg`."""

_Typed = tuple[Measure, dict[str, Any]] | None


def _ap(options: Options, labels: LabelPolicy) -> _Typed:
    """Return AP where it is that, GradedAP otherwise; AP over the cutoff has none."""
    level, norm = _plain(options[LEVEL]), options[DENOMINATOR]
    if not _writes(GradedAP, norm=norm) or _has_unusual("AP", options, LEVEL, WEIGHTS, DENOMINATOR):
        return None
    params: dict[str, Any] = {} if level == 1 else {"rel": level}
    if not _changed(options, WEIGHTS, DENOMINATOR) and isinstance(level, int):  # AP takes no other
        return ir_measures.AP, params
    if _changed(options, DENOMINATOR):
        params["norm"] = norm
    top = _plain(labels.top)
    weights = weights_of(computed_by(WEIGHTS, options[WEIGHTS]), labels)
    weight = {_plain(g): weights[g] for g in labels.grades if g >= level}
    scales = (s for s in (2, top) if all(w == g / s and g <= s for g, w in weight.items()))
    scale = next(scales, None)
    if scale is None:
        params["gains"] = {grade: _plain(each) for grade, each in weight.items()}
    elif scale != 2:
        params["max_rel"] = scale
    return GradedAP, params


def _ndcg(options: Options, labels: LabelPolicy) -> _Typed:
    """Return nDCG where it is that, VariantNDCG otherwise; what few compute has neither."""
    gain, grades = options[GAIN], [_plain(grade) for grade in labels.grades]
    given = {name: options[name] for name in (GAIN, DISCOUNT, IDEAL, NEGATIVE)}
    if _has_unusual("nDCG", options, *given):
        return None
    if gain == "binary" and grades == [1]:
        gain = given[GAIN] = DEFAULT[GAIN]
    plain = not _changed(options, DISCOUNT, IDEAL)
    if gain == "binary" or isinstance(gain, GainTable):
        return _ndcg_by_table(gain, grades) if plain else None
    dcg = next((dcg for dcg, each in GAIN_OF_DCG.items() if each == gain), None)
    if plain and dcg and not _changed(options, NEGATIVE):
        return ir_measures.nDCG, {"dcg": dcg} if gain != DEFAULT[GAIN] else {}
    if not _writes(VariantNDCG, **given):
        return None
    default = {name: info.default for name, info in VariantNDCG.SUPPORTED_PARAMS.items()}
    return VariantNDCG, {
        name: given[name] for name in default if name in given and given[name] != default[name]
    }


def _ndcg_by_table(gain: str, grades: list[float | int]) -> _Typed:
    """Return nDCG with a gain for each grade; it takes whole ones."""
    gains = gain.gains if isinstance(gain, GainTable) else dict.fromkeys(grades, 1.0)
    if not all(isinstance(each, int) for each in (*grades, *map(_plain, gains.values()))):
        return None
    # A grade that is left out is its own gain.
    changed = {grade: _plain(gains[grade]) for grade in grades if gains[grade] != grade}
    return ir_measures.nDCG, {"gains": changed} if changed else {}


def _writes(measure: Measure, **given: Any) -> bool:
    """Return whether a measure can be written with these values of its parameters."""
    try:
        measure(**given)
    except (MeasureError, ValueError):
        return False
    return True


def _has_unusual(measure: str, options: Options, *usual: str) -> bool:
    """Return whether a measure has other than the default of any other option than these."""
    return _changed(options, *(each for each in OPTIONS_OF[measure] if each not in usual))


def _changed(options: Options, *names: str) -> bool:
    """Return whether one of these options has another value than the default."""
    return any(options[each] != DEFAULT[each] for each in names)


_TYPED = {"AP": _ap, "nDCG": _ndcg}
_BASES = {"P": ir_measures.P, "R": ir_measures.R, "RR": ir_measures.RR, "Success": Coverage}


def _level(measure: str, options: Options) -> _Typed:
    """Return P, R, RR or Coverage; other denominators have none, nor have levels between whole grades."""
    level = _plain(options[LEVEL])
    unusual = _has_unusual(measure, options, LEVEL)
    if measure == "F1" or unusual or (measure != "Success" and not isinstance(level, int)):
        return None
    return _BASES[measure], {} if level == 1 else {"rel": level}


def _plain(value: float) -> float | int:
    """Return a whole number as an integer."""
    return int(value) if value == int(value) else value


def with_cutoff(measure: str, rank: Cutoff) -> str:
    """Write the name of a measure with its cutoff, or with both that it has."""
    precision, recall = precision_recall_cutoffs(rank)
    if precision != recall:
        return f"F1 of P@{precision} and R@{recall}"
    return measure if precision is None else f"{measure}@{precision}"


def methods_phrase(names: list[str], options: Options) -> str:
    """Write measures as a paper says how they are computed: nDCG@10 with linear gains, log2 discount."""
    said = list(filter(None, (value_of(option, value).phrase for option, value in options.items())))
    joined = "with " if {WEIGHTS, GAIN} & options.keys() else ""
    what = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return f"{what} {joined}{', '.join(said)}" if said else what


def sentence_of(measures: list[str], over: str, convention: Options) -> str:
    """Say of measures what they are averaged over, if that is told, and what they share."""
    shared = [value_of(option, convention[option]).phrase for option in SHARED if option != QUERY_SET]
    return "; ".join([*measures, *([f"averaged over {over}"] if over else []), *filter(None, shared)])
