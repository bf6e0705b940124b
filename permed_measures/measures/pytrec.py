"""Translate measures to pytrec_eval: the measure there with the same values, and what must change.

Each function takes a measure of ours, its parameters, the grades of the qrels and the length of the longest
list. It returns the same measure of pytrec_eval, or the reason why there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import ir_measures
from ir_measures.measures import Measure

from permed_measures.measures.parameters import Params
from permed_measures.tolerances import SUM_NOISE

HIGHEST_GRADE = 2_000
"""The highest grade that is passed to pytrec_eval; its nDCG then takes a millisecond per query."""
ABSENT = "pytrec_eval does not have it"


class Same(NamedTuple):
    """A measure of pytrec_eval, with the changes that make it identical to one of ours.

    `gains` replaces grades; values below `threshold` become 0. With `recall` the value is the harmonic mean
    of both measures. `has_decimals`: a parameter has decimals, which C's strtod reads by the locale.
    `rel_near_grades`: a relevance level more than one above the highest grade of a query crashes.
    """

    measure: Measure
    gains: Mapping[int, int] = {}
    threshold: float = 0.0
    recall: Measure | None = None
    has_decimals: bool = False
    rel_near_grades: bool = False


ToPytrec = Callable[[Measure, Params, set[float], int], Same | str]


def as_itself(measure: Measure, *_: object) -> Same | str:
    """Keep a measure, if pytrec_eval has it with these parameters."""
    return Same(measure) if ir_measures.pytrec_eval.supports(measure) else ABSENT


def as_success(_: Measure, params: Params, __: set[float], longest: int) -> Same:
    """Map Coverage to Success, without a cutoff at the length of the longest list."""
    return Same(ir_measures.Success(**{**params, "cutoff": params["cutoff"] or max(longest, 1)}))


def as_precision_and_recall(_: Measure, params: Params, *__: object) -> Same:
    """Map F1@k to the harmonic mean of P@k and R@k."""
    return Same(ir_measures.P(**params), recall=ir_measures.R(**params))


def as_cut_reciprocal_rank(_: Measure, params: Params, *__: object) -> Same:
    """Map RR@k to RR, with 0 where the first relevant document is below rank k."""
    cutoff, others = params["cutoff"], {name: value for name, value in params.items() if name != "cutoff"}
    return Same(ir_measures.RR(**others), threshold=(1 - SUM_NOISE) / cutoff if cutoff else 0.0)


def as_iprec(measure: Measure, params: Params, *_: object) -> Same | str:
    """Keep IPrec, whose recall has two digits in pytrec_eval."""
    two_digits = round(params["recall"], 2) == params["recall"]
    return Same(measure, has_decimals=True) if two_digits else "pytrec_eval takes two digits"


def as_bpref(measure: Measure, *_: object) -> Same | str:
    """Keep Bpref, which crashes with a high relevance level."""
    same = as_itself(measure)
    return same if isinstance(same, str) else same._replace(rel_near_grades=True)


def as_set_f(measure: Measure, params: Params, *_: object) -> Same | str:
    """Keep SetF, whose beta may have decimals."""
    same = as_itself(measure)
    is_whole = params["beta"] == int(params["beta"])
    return same if isinstance(same, str) else same._replace(has_decimals=not is_whole)


def as_ndcg(_: Measure, params: Params, grades: set[float], __: int) -> Same | str:
    """Map exp-gain nDCG to nDCG on grades 2^g - 1; negative grades stay the same."""
    gains = params.get("gains") or {}
    if not all(isinstance(gain, int) for gain in gains.values()):
        return "pytrec_eval takes whole gains only"
    if params["dcg"] == "exp-log2":
        # a grade above the highest one gets a gain that is refused too
        gains = {int(grade): 2 ** min(int(grade), HIGHEST_GRADE) - 1 for grade in grades if grade >= 0}
    cutoff = {"cutoff": params["cutoff"]} if params["cutoff"] else {}
    return Same(ir_measures.nDCG(judged_only=params["judged_only"], **cutoff), gains)


def as_variant_ndcg(measure: Measure, params: Params, grades: set[float], longest: int) -> Same | str:
    """Map VariantNDCG to nDCG, which has one discount and one ideal list."""
    if (params["discount"], params["ideal"], params["negative"]) != ("log2", "qrels", "zero"):
        return ABSENT
    dcg = {"exp": "exp-log2", "linear": "log2"}[params["gain"]]
    return as_ndcg(measure, {**params, "dcg": dcg}, grades, longest)
