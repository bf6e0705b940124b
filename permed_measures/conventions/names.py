"""What a measure is called by a convention: as one would type it, and as a paper would say it."""

from __future__ import annotations

from typing import Any, cast

import ir_measures
from ir_measures.measures import Measure

from permed_measures.conventions.options import DEFAULT, MEASURES, OPTIONS, OPTIONS_OF, Options, value_of
from permed_measures.conventions.values import WEIGHTS, Labels, is_possible
from permed_measures.measures.definitions import Coverage, GradedAP, VariantNDCG
from permed_measures.measures.parsing import parse_measure
from permed_measures.papers.names import Rank


def measure_of(measure: str, cutoff: Rank, options: Options, labels: Labels) -> Measure | None:
    """Return the measure as one would type it; None if ir_measures and we have none."""
    if measure not in MEASURES:
        return parse_measure(measure)
    found = _TYPED[measure](options, labels) if measure in _TYPED else _level(measure, options)
    if found is None:
        return None
    base, params = found
    typed = cast(Measure, base(**params)) if params else base
    return typed if cutoff is None else typed @ cutoff


def typed(measure: str, cutoff: Rank, options: Options, labels: Labels) -> str:
    """Write a measure as one would type it, or what is unusual of it in words."""
    found = measure_of(measure, cutoff, options, labels) if is_possible(options, labels) else None
    return str(found) if found is not None else in_a_paper([with_cutoff(measure, cutoff)], measure, options)


_Typed = tuple[Measure, dict[str, Any]] | None


def _ap(options: Options, labels: Labels) -> _Typed:
    """Return AP where it is that, GradedAP otherwise; AP over the cutoff has none."""
    level, weights, norm = _plain(options["level"]), options["weights"], options["denominator"]
    if norm == "cutoff" or options["per_hit"] != "precision":
        return None
    params: dict[str, Any] = {} if level == 1 else {"rel": level}
    if weights == "binary" and norm == "num_rel" and isinstance(level, int):  # AP takes no other
        return ir_measures.AP, params
    if norm != "num_rel":
        params["norm"] = norm
    top = _plain(labels.top)
    weight = {_plain(g): WEIGHTS[weights](g, top) for g in labels.grades if g >= level}
    scales = (s for s in (2, top) if all(w == g / s and g <= s for g, w in weight.items()))
    scale = next(scales, None)
    if scale is None:
        params["gains"] = {grade: _plain(each) for grade, each in weight.items()}
    elif scale != 2:
        params["max_rel"] = scale
    return GradedAP, params


def _ndcg(options: Options, labels: Labels) -> _Typed:
    """Return nDCG where it is that, VariantNDCG otherwise; what few compute has neither."""
    gain, grades = options["gain"], [_plain(grade) for grade in labels.grades]
    plain = (options["discount"], options["ideal"]) == ("log2", "qrels")
    if options["tied"] != "in_order" or options["ideal"] not in ("qrels", "run", "cutoff"):
        return None
    if gain == "binary" and grades == [1]:
        gain = "linear"
    if gain == "binary":
        if not plain or not all(isinstance(grade, int) for grade in grades):
            return None
        gains = {grade: 1 for grade in grades if grade != 1}  # a grade that is left out is its own gain
        return ir_measures.nDCG, {"gains": gains} if gains else {}
    if plain and options["negative"] == "zero":
        return ir_measures.nDCG, {"dcg": "exp-log2"} if gain == "exp" else {}
    given = {**{each: options[each] for each in ("discount", "ideal", "negative")}, "gain": gain}
    params = {name: given.get(name) for name in VariantNDCG.SUPPORTED_PARAMS if name in given}
    default = {name: info.default for name, info in VariantNDCG.SUPPORTED_PARAMS.items()}
    return VariantNDCG, {name: value for name, value in params.items() if value != default[name]}


_TYPED = {"AP": _ap, "nDCG": _ndcg}
_BASES = {"P": ir_measures.P, "R": ir_measures.R, "RR": ir_measures.RR, "Success": Coverage}


def _level(measure: str, options: Options) -> _Typed:
    """Return P, R, RR or Coverage; other denominators have none, nor have levels between whole grades."""
    level = _plain(options["level"])
    unusual = any(options[each] != DEFAULT[each] for each in OPTIONS_OF[measure] if each != "level")
    if measure == "F1" or unusual or (measure != "Success" and not isinstance(level, int)):
        return None
    return _BASES[measure], {} if level == 1 else {"rel": level}


def _plain(value: float) -> float | int:
    """Return a whole number as an integer."""
    return int(value) if value == int(value) else value


def with_cutoff(measure: str, rank: Rank) -> str:
    """Write the name of a measure with its cutoff, or with both that it has."""
    if isinstance(rank, tuple):
        if rank[0] != rank[1]:
            return f"F1 of P@{rank[0]} and R@{rank[1]}"
        rank = rank[0]
    return measure + ("" if rank is None else f"@{rank}")


def in_a_paper(names: list[str], measure: str, options: Options) -> str:
    """Write measures as a paper says how they are computed: nDCG@10 with linear gains, log2 discount."""
    phrases = [
        value_of(option, value).phrase
        or (f"relevant from grade {value:g} on" if _is_level(option, value) else "")
        for option, value in options.items()
    ]
    said = [each for each in phrases if each]
    what = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return f"{what} {_JOINED.get(measure, '')}{', '.join(said)}" if said else what


_JOINED = {"AP": "with ", "nDCG": "with "}


def _is_level(option: str, value: Any) -> bool:
    return not OPTIONS[option].values and value != 1
