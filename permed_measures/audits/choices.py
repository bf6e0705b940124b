"""How each family of measures is computed: the choices, their names as measures, sentences and formulas."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any, NamedTuple, cast

import ir_measures
import numpy as np
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.audits.options import (
    Denominator,
    Discount,
    Gain,
    Ideal,
    LabelPolicy,
    Negative,
    RecallBase,
    Weights,
    describe,
    text_of,
)
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.kernels import KERNELS
from permed_measures.engine.kernels.checks import MAX_EXPONENT
from permed_measures.engine.kernels.shared import count, divide
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.measures.definitions import Coverage, GradedAP, VariantNDCG
from permed_measures.measures.parameters import values_of
from permed_measures.measures.parsing import parse_measure

Floats = NDArray[np.float64]


class Labels(NamedTuple):
    """Judgments under a label policy, and their relevant grades."""

    policy: LabelPolicy
    judgments: Judgments
    grades: tuple[float, ...]

    @property
    def top(self) -> float:
        """The highest relevant grade."""
        return max(self.grades, default=1.0)


def label_policies(judgments: Judgments) -> list[Labels]:
    """Return the judgments under each label policy, as they are first."""
    pool = replace(judgments, grade=np.ones_like(judgments.grade))
    return [
        Labels(policy, each, tuple(np.unique(each.grade[each.grade > 0]).tolist()))
        for policy, each in [(LabelPolicy.GRADES, judgments), (LabelPolicy.POOL, pool)]
    ]


class MeasureSpec(NamedTuple):
    """The measure to compute or to name, by its name within its family, and the labels."""

    name: str
    cutoff: int | None
    labels: Labels


@dataclass(frozen=True)
class Choice(ABC):
    """How a family of measures is computed: a value for each of its options."""

    @abstractmethod
    def measure(self, spec: MeasureSpec) -> Measure | None:
        """Return the measure as one would type it; None if there is none."""

    @abstractmethod
    def values(self, rankings: JudgedRankings, spec: MeasureSpec) -> Floats:
        """Compute the value of each query."""

    @abstractmethod
    def sentence(self, measures: set[str], pooled: bool) -> str:
        """Describe the choice for a paper that reports these measures; pooled: all judged are relevant."""

    def latex(self) -> str:
        """Return the formula; empty where there is nothing to choose."""
        return ""


def _measure(base: Measure, params: dict[str, Any], cutoff: int | None) -> Measure:
    measure = cast(Measure, base(**params)) if params else base
    return measure if cutoff is None else measure @ cutoff


def _values(measure: Measure, rankings: JudgedRankings) -> Floats:
    return KERNELS[str(measure.NAME)](rankings, **values_of(measure))


def _number(value: float) -> float | int:
    return int(value) if value == int(value) else value


_WEIGHTS: dict[Weights, Callable[[float, float], float]] = {
    Weights.BINARY: lambda _, __: 1.0,
    Weights.LINEAR: lambda grade, top: grade / top,
    Weights.HALF: lambda grade, _: grade / 2,
    Weights.EXP: lambda grade, top: float((2**grade - 1) / (2**top - 1)),
}
"""The weight of a grade, given the highest one."""


@dataclass(frozen=True)
class APChoice(Choice):
    """Average precision: 1/N times the sum of precision times weight at each relevant document."""

    denominator: Denominator = Denominator.NUM_REL
    weights: Weights = Weights.BINARY
    ap_level: float = 1

    def measure(self, spec: MeasureSpec) -> Measure:
        """Return AP where it is that, GradedAP otherwise."""
        level = _number(self.ap_level)
        params: dict[str, Any] = {} if level == 1 else {"rel": level}
        plain = self.weights is Weights.BINARY and self.denominator is Denominator.NUM_REL
        if plain and isinstance(level, int):  # AP takes no other
            return _measure(ir_measures.AP, params, spec.cutoff)
        if self.denominator is not Denominator.NUM_REL:
            params["norm"] = self.denominator.value
        top, weigh = _number(spec.labels.top), _WEIGHTS[self.weights]
        weight = {_number(g): weigh(g, top) for g in spec.labels.grades if g >= level}
        scales = (s for s in (2, top) if all(w == g / s and g <= s for g, w in weight.items()))
        scale = next(scales, None)
        if scale is None:
            params["gains"] = {grade: _number(each) for grade, each in weight.items()}
        elif scale != 2:
            params["max_rel"] = scale
        return _measure(GradedAP, params, spec.cutoff)

    def values(self, rankings: JudgedRankings, spec: MeasureSpec) -> Floats:
        """Compute AP for each query."""
        return _values(self.measure(spec), rankings)

    def sentence(self, measures: set[str], pooled: bool) -> str:  # noqa: ARG002 (the interface)
        """Describe AP for a paper."""
        level = "" if pooled or self.ap_level == 1 else f" (relevant from grade {self.ap_level:g} on)"
        ratio = text_of("weights", self.weights, "ratio")
        weighted = f"weighted by relevance ({ratio})" if ratio else "binary"
        by = describe("denominator", self.denominator)
        divided = "not divided" if self.denominator is Denominator.NONE else f"divided by {by}"
        return f"AP is {weighted}{level} and {divided}"

    def latex(self) -> str:
        """Return the formula of AP."""
        n = text_of("denominator", self.denominator, "latex")
        over = rf"\frac{{1}}{{{n}}} " if n else ""
        total = r"\sum_{i \le k,\, g_i \ge \ell} P(i)\, w(g_i)"
        w = text_of("weights", self.weights, "latex")
        return rf"\mathrm{{AP}}@k = {over}{total}, \quad w(g) = {w}, \quad \ell = {self.ap_level:g}"


@dataclass(frozen=True)
class NDCGChoice(Choice):
    """nDCG with gain, discount, ideal list and negative grades."""

    gain: Gain = Gain.LINEAR
    discount: Discount = Discount.LOG2
    ideal: Ideal = Ideal.QRELS
    negative: Negative = Negative.ZERO

    def measure(self, spec: MeasureSpec) -> Measure | None:
        """Return nDCG where it is that, VariantNDCG otherwise; binary gains may have none."""
        plain = (self.discount, self.ideal) == (Discount.LOG2, Ideal.QRELS)
        if self.gain is Gain.BINARY and set(spec.labels.grades) == {1}:
            return replace(self, gain=Gain.LINEAR).measure(spec)
        if self.gain is Gain.BINARY:
            grades = [_number(grade) for grade in spec.labels.grades]
            if not plain or not all(isinstance(grade, int) for grade in grades):
                return None
            gains = {grade: 1 for grade in grades if grade != 1}  # a grade that is left out is its own gain
            return _measure(ir_measures.nDCG, {"gains": gains} if gains else {}, spec.cutoff)
        if plain and self.negative is Negative.ZERO:
            exp = {"dcg": "exp-log2"} if self.gain is Gain.EXP else {}
            return _measure(ir_measures.nDCG, exp, spec.cutoff)
        default = {name: info.default for name, info in VariantNDCG.SUPPORTED_PARAMS.items()}
        params = {name: value for name, value in self._params().items() if value != default[name]}
        return _measure(VariantNDCG, params, spec.cutoff)

    def values(self, rankings: JudgedRankings, spec: MeasureSpec) -> Floats:
        """Compute nDCG for each query."""
        if self.gain is Gain.BINARY:
            grade = (rankings.judgments.grade >= 1).astype(np.float64)
            binary = replace(rankings, judgments=replace(rankings.judgments, grade=grade))
            return replace(self, gain=Gain.LINEAR).values(binary, spec)
        return _values(_measure(VariantNDCG, self._params(), spec.cutoff), rankings)

    def _params(self) -> dict[str, str]:
        return {each.name: getattr(self, each.name).value for each in fields(self)}

    def sentence(self, measures: set[str], pooled: bool) -> str:  # noqa: ARG002 (the interface)
        """Describe nDCG for a paper."""
        negative = "" if pooled or self.gain is Gain.BINARY else f"; {describe('negative', self.negative)}"
        gain, discount, ideal = (
            describe(each, getattr(self, each)) for each in ("gain", "discount", "ideal")
        )
        return f"nDCG has {gain}, {discount} and {ideal}{negative}"

    def latex(self) -> str:
        """Return the formula of nDCG."""
        grade = r"\max(g_i, 0)" if self.negative is Negative.ZERO else "g_i"
        gain = {Gain.EXP: f"2^{{{grade}}} - 1", Gain.LINEAR: grade, Gain.BINARY: "[g_i \\ge 1]"}[self.gain]
        discount = text_of("discount", self.discount, "latex")
        ideal = text_of("ideal", self.ideal, "latex")
        dcg = rf"\mathrm{{DCG}}@k = \sum_{{i \le k}} \frac{{{gain}}}{{{discount}}}"
        return (
            rf"{dcg}, \quad \mathrm{{nDCG}} = \mathrm{{DCG}} / \mathrm{{DCG}}_{{\mathrm{{ideal: {ideal}}}}}"
        )


@dataclass(frozen=True)
class LevelChoice(Choice):
    """P, R, RR and Success: from which grade on a document is relevant, and what recall is divided by."""

    level: float = 1
    base: RecallBase = RecallBase.NUM_REL

    def measure(self, spec: MeasureSpec) -> Measure | None:
        """Return the measure; recall over min(R, k) has none, nor have levels between whole grades."""
        whole = self.level == int(self.level) or spec.name == "Success"
        if not whole or (spec.name == "R" and self.base is RecallBase.MIN):
            return None
        measures = {"P": ir_measures.P, "R": ir_measures.R, "RR": ir_measures.RR, "Success": Coverage}
        params = {} if self.level == 1 else {"rel": _number(self.level)}
        return _measure(measures[spec.name], params, spec.cutoff)

    def values(self, rankings: JudgedRankings, spec: MeasureSpec) -> Floats:
        """Compute them for each query, with levels and a denominator of R that ir_measures does not have."""
        if spec.name == "R" and self.base is RecallBase.MIN:
            num_rel = rankings.judgments.num_rel(self.level)
            found = count(rankings, rankings.relevant(self.level, spec.cutoff))
            return divide(found, np.minimum(num_rel, spec.cutoff or num_rel))
        return KERNELS[spec.name](rankings, cutoff=spec.cutoff, rel=self.level, judged_only=False)

    def sentence(self, measures: set[str], pooled: bool) -> str:
        """Describe these measures for a paper."""
        names = [name for name in ("P", "R", "RR", "Success") if name in measures]
        relevant = f"documents of grade {self.level:g} or more are relevant for {' and '.join(names)}"
        parts = [] if pooled else [relevant]
        return ", ".join([*parts, *([describe("base", self.base)] if "R" in names else [])])


@dataclass(frozen=True)
class FixedChoice(Choice):
    """A measure that was written out, with its parameters."""

    fixed: str

    def measure(self, spec: MeasureSpec) -> Measure:  # noqa: ARG002 (the measure is complete)
        """Return the measure."""
        return parse_measure(self.fixed)

    def values(self, rankings: JudgedRankings, spec: MeasureSpec) -> Floats:
        """Compute the measure for each query."""
        return _values(self.measure(spec), rankings)

    def sentence(self, measures: set[str], pooled: bool) -> str:  # noqa: ARG002 (the interface)
        """Describe the measure for a paper."""
        return f"{self.fixed} is computed as defined"


def choices_of(family: str, levels: tuple[float, ...]) -> list[Choice]:
    """Return all ways to compute a family of measures."""
    if family == "ap":
        weighted = [(Weights.BINARY, level) for level in levels]
        weighted += [(weights, 1.0) for weights in (Weights.LINEAR, Weights.HALF, Weights.EXP)]
        return [APChoice(denominator, *each) for denominator in Denominator for each in weighted]
    if family == "ndcg":
        every = (NDCGChoice(*each) for each in product(Gain, Discount, Ideal, Negative))
        # where each relevant document gains 1, negative grades gain nothing anyway
        return [each for each in every if (each.gain, each.negative) != (Gain.BINARY, Negative.KEEP)]
    if family == "level":
        return [LevelChoice(level, base) for level in levels for base in RecallBase]
    return [FixedChoice(family)]


def possible(choice: Choice, labels: Labels) -> bool:
    """Return whether a choice can be computed on these labels."""
    levels = {vars(choice).get(option, 1) for option in ("ap_level", "level")}
    if labels.policy is LabelPolicy.POOL and levels != {1}:
        return False  # where all are relevant, there is one grade
    if isinstance(choice, APChoice) and choice.weights is Weights.HALF:
        return labels.top <= 2
    exponential = Weights.EXP in vars(choice).values() or Gain.EXP in vars(choice).values()
    return not exponential or labels.top <= MAX_EXPONENT
