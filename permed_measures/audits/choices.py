"""How each family of measures is computed: the choices, their names as measures, sentences and formulas."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
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
    Rank,
    TiedGains,
    Weights,
    describe,
    n_rare,
    text_of,
)
from permed_measures.conventions.query_sets import QuerySets
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.kernels import KERNELS
from permed_measures.engine.kernels.graded import Spans
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.measures.definitions import GradedAP, VariantNDCG
from permed_measures.measures.parameters import values_of
from permed_measures.measures.parsing import parse_measure

Floats = NDArray[np.float64]


class Labels(NamedTuple):
    """Judgments under a label policy, and their relevant grades."""

    policy: LabelPolicy
    judgments: Judgments
    grades: tuple[float, ...]

    @classmethod
    def of(cls, policy: LabelPolicy, judgments: Judgments) -> Labels:
        """Find the relevant grades."""
        return cls(policy, judgments, tuple(np.unique(judgments.grade[judgments.grade > 0]).tolist()))

    @property
    def top(self) -> float:
        """The highest relevant grade."""
        return max(self.grades, default=1.0)


_STRICT = 2
"""The lowest grade that is relevant where partly relevant documents are not."""


def label_policies(judgments: Judgments) -> list[Labels]:
    """Return the judgments under each label policy that needs no run, as they are first."""
    pool = replace(judgments, grade=np.ones_like(judgments.grade))
    policies = {LabelPolicy.GRADES: judgments, LabelPolicy.POOL: pool}
    if judgments.num_rel(_STRICT).any():
        kept = np.where(judgments.grade >= _STRICT, 1, np.minimum(judgments.grade, 0))
        policies[LabelPolicy.STRICT] = replace(judgments, grade=kept.astype(np.float64))
    return [Labels.of(policy, each) for policy, each in policies.items()]


class MeasureSpec(NamedTuple):
    """The measure to compute or to name, by its name within its family, and the labels."""

    name: str
    cutoff: Rank
    labels: Labels
    spans: Spans | None = None

    @property
    def rank(self) -> int | None:
        """The cutoff of a measure that has one: all but F1."""
        return cast(int | None, self.cutoff)


@dataclass(frozen=True)
class Choice(ABC):
    """How a family of measures is computed: a value for each of its options."""

    @abstractmethod
    def measure(self, spec: MeasureSpec) -> Measure | None:
        """Return the measure as one would type it; None if there is none."""

    @abstractmethod
    def values(self, rankings: JudgedRankings, spec: MeasureSpec) -> Floats:
        """Compute the value of each query."""

    def means(self, rankings: JudgedRankings, spec: MeasureSpec, sets: QuerySets) -> Floats:
        """Compute the mean over each query set."""
        return sets.means(self.values(rankings, spec))

    @abstractmethod
    def sentence(self, measures: set[str], pooled: bool) -> str:
        """Describe the choice for a paper that reports these measures; pooled: all judged are relevant."""

    def latex(self) -> str:
        """Return the formula; empty where there is nothing to choose."""
        return ""


def measure_at(base: Measure, params: dict[str, Any], cutoff: int | None) -> Measure:
    """Return a measure with these parameters and this cutoff."""
    measure = cast(Measure, base(**params)) if params else base
    return measure if cutoff is None else measure @ cutoff


def plain_number(value: float) -> float | int:
    """Return a whole number as an integer."""
    return int(value) if value == int(value) else value


WEIGHTS: dict[Weights, Callable[[float, float], float]] = {
    Weights.BINARY: lambda _, __: 1.0,
    Weights.LINEAR: lambda grade, top: grade / top,
    Weights.HALF: lambda grade, _: grade / 2,
    Weights.CAPPED: lambda grade, _: min(grade / 2, 1.0),
    Weights.EXP: lambda grade, top: float((2**grade - 1) / (2**top - 1)),
}
"""The weight of a grade, given the highest one."""


@dataclass(frozen=True)
class APChoice(Choice):
    """Average precision: 1/N times the sum of precision times weight at each relevant document."""

    denominator: Denominator = Denominator.NUM_REL
    weights: Weights = Weights.BINARY
    ap_level: float = 1

    def measure(self, spec: MeasureSpec) -> Measure | None:
        """Return AP where it is that, GradedAP otherwise; AP over the cutoff has none."""
        if self.denominator is Denominator.CUTOFF:
            return None
        level = plain_number(self.ap_level)
        params: dict[str, Any] = {} if level == 1 else {"rel": level}
        plain = self.weights is Weights.BINARY and self.denominator is Denominator.NUM_REL
        if plain and isinstance(level, int):  # AP takes no other
            return measure_at(ir_measures.AP, params, spec.rank)
        if self.denominator is not Denominator.NUM_REL:
            params["norm"] = self.denominator.value
        top, weigh = plain_number(spec.labels.top), WEIGHTS[self.weights]
        weight = {plain_number(g): weigh(g, top) for g in spec.labels.grades if g >= level}
        scales = (s for s in (2, top) if all(w == g / s and g <= s for g, w in weight.items()))
        scale = next(scales, None)
        if scale is None:
            params["gains"] = {grade: plain_number(each) for grade, each in weight.items()}
        elif scale != 2:
            params["max_rel"] = scale
        return measure_at(GradedAP, params, spec.rank)

    def values(self, rankings: JudgedRankings, spec: MeasureSpec) -> Floats:
        """Compute AP for each query."""
        if self.denominator is Denominator.CUTOFF:
            total = replace(self, denominator=Denominator.NONE).values(rankings, spec)
            return total / (spec.rank or np.maximum(rankings.retrieved, 1))
        weigh, top = WEIGHTS[self.weights], spec.labels.top
        return KERNELS["GradedAP"](
            rankings,
            cutoff=spec.rank,
            rel=self.ap_level,
            max_rel=top,
            gains={grade: weigh(grade, top) for grade in spec.labels.grades},
            norm=self.denominator.value,
            judged_only=False,
        )

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
    tied: TiedGains = TiedGains.IN_ORDER

    def measure(self, spec: MeasureSpec) -> Measure | None:
        """Return nDCG where it is that, VariantNDCG otherwise; what is rare may have none."""
        if self._is_rare:
            return None
        plain = (self.discount, self.ideal) == (Discount.LOG2, Ideal.QRELS)
        if self.gain is Gain.BINARY and set(spec.labels.grades) == {1}:
            return replace(self, gain=Gain.LINEAR).measure(spec)
        if self.gain is Gain.BINARY:
            grades = [plain_number(grade) for grade in spec.labels.grades]
            if not plain or not all(isinstance(grade, int) for grade in grades):
                return None
            gains = {grade: 1 for grade in grades if grade != 1}  # a grade that is left out is its own gain
            return measure_at(ir_measures.nDCG, {"gains": gains} if gains else {}, spec.rank)
        if plain and self.negative is Negative.ZERO:
            exp = {"dcg": "exp-log2"} if self.gain is Gain.EXP else {}
            return measure_at(ir_measures.nDCG, exp, spec.rank)
        default = {name: info.default for name, info in VariantNDCG.SUPPORTED_PARAMS.items()}
        params = {name: value for name, value in self._params().items() if value != default[name]}
        return measure_at(VariantNDCG, params, spec.rank)

    def values(self, rankings: JudgedRankings, spec: MeasureSpec) -> Floats:
        """Compute nDCG for each query."""
        spans = spec.spans if self.tied is TiedGains.AVERAGED else None
        return KERNELS["VariantNDCG"](
            rankings, cutoff=spec.rank, judged_only=False, spans=spans, **self._params()
        )

    @property
    def _is_rare(self) -> bool:
        """Whether VariantNDCG does not have it."""
        return n_rare(self) > 0

    def _params(self) -> dict[str, str]:
        return {each.name: getattr(self, each.name).value for each in fields(self) if each.name != "tied"}

    def sentence(self, measures: set[str], pooled: bool) -> str:  # noqa: ARG002 (the interface)
        """Describe nDCG for a paper."""
        negative = "" if pooled or self.gain is Gain.BINARY else f"; {describe('negative', self.negative)}"
        gain, discount, ideal = (
            describe(each, getattr(self, each)) for each in ("gain", "discount", "ideal")
        )
        tied = f"; {describe('tied', self.tied)}" if self.tied is TiedGains.AVERAGED else ""
        return f"nDCG has {gain}, {discount} and {ideal}{negative}{tied}"

    def latex(self) -> str:
        """Return the formula of nDCG."""
        grade = r"\max(g_i, 0)" if self.negative is Negative.ZERO else "g_i"
        gain = {Gain.EXP: f"2^{{{grade}}} - 1", Gain.LINEAR: grade, Gain.BINARY: "[g_i \\ge 1]"}[self.gain]
        discount = text_of("discount", self.discount, "latex")
        ideal = text_of("ideal", self.ideal, "latex")
        if self.tied is TiedGains.AVERAGED:
            gain = rf"\overline{{{gain}}}"
        dcg = rf"\mathrm{{DCG}}@k = \sum_{{i \le k}} \frac{{{gain}}}{{{discount}}}"
        return (
            rf"{dcg}, \quad \mathrm{{nDCG}} = \mathrm{{DCG}} / \mathrm{{DCG}}_{{\mathrm{{ideal: {ideal}}}}}"
        )


@dataclass(frozen=True)
class FixedChoice(Choice):
    """A measure that was written out, with its parameters."""

    fixed: str

    def measure(self, spec: MeasureSpec) -> Measure:  # noqa: ARG002 (the measure is complete)
        """Return the measure."""
        return parse_measure(self.fixed)

    def values(self, rankings: JudgedRankings, spec: MeasureSpec) -> Floats:
        """Compute the measure for each query."""
        measure = self.measure(spec)
        return KERNELS[str(measure.NAME)](rankings, **values_of(measure))

    def sentence(self, measures: set[str], pooled: bool) -> str:  # noqa: ARG002 (the interface)
        """Describe the measure for a paper."""
        return f"{self.fixed} is computed as defined"
