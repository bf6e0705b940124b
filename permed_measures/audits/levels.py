"""How P, R, RR, Success and F1 are computed: relevance level and denominators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ir_measures
import numpy as np
from ir_measures.measures import Measure

from permed_measures.audits.choices import Choice, Floats, MeasureSpec, measure_at, plain_number
from permed_measures.audits.options import FMean, PrecisionBase, RecallBase, describe
from permed_measures.conventions.query_sets import QuerySets
from permed_measures.engine.kernels import KERNELS
from permed_measures.engine.kernels.shared import divide
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.measures.definitions import Coverage

_MEASURES: dict[str, Any] = {
    "P": ir_measures.P,
    "R": ir_measures.R,
    "RR": ir_measures.RR,
    "Success": Coverage,
}


@dataclass(frozen=True)
class LevelChoice(Choice):
    """P, R, RR and Success: from which grade on a document is relevant, what P and R are divided by."""

    level: float = 1
    base: RecallBase = RecallBase.NUM_REL
    over: PrecisionBase = PrecisionBase.CUTOFF

    def measure(self, spec: MeasureSpec) -> Measure | None:
        """Return the measure; other denominators have none, nor have levels between whole grades."""
        whole = self.level == int(self.level) or spec.name == "Success"
        if not whole or self.divisor(spec.name) is not None:
            return None
        params = {} if self.level == 1 else {"rel": plain_number(self.level)}
        return measure_at(_MEASURES[spec.name], params, spec.rank)

    def divisor(self, name: str) -> RecallBase | PrecisionBase | None:
        """Return what this measure is divided by, if it is not the usual."""
        if name == "R" and self.base is not RecallBase.NUM_REL:
            return self.base
        return self.over if name == "P" and self.over is not PrecisionBase.CUTOFF else None

    def values(self, rankings: JudgedRankings, spec: MeasureSpec) -> Floats:
        """Compute them for each query, with levels and denominators that ir_measures does not have."""
        unusual = self.divisor(spec.name)
        if unusual is None:
            return KERNELS[spec.name](rankings, cutoff=spec.rank, rel=self.level, judged_only=False)
        found, num_rel = self._found(rankings, spec), rankings.judgments.num_rel(self.level)
        if unusual is RecallBase.ANY:
            return np.where(found > 0, 1.0, 0.0)
        if unusual is RecallBase.ALL:
            return np.where((found == num_rel) & (num_rel > 0), 1.0, 0.0)
        if unusual in (RecallBase.MIN, PrecisionBase.MIN):
            return divide(found, np.minimum(num_rel, spec.rank or num_rel))
        return divide(found, _returned(rankings, spec))

    def means(self, rankings: JudgedRankings, spec: MeasureSpec, sets: QuerySets) -> Floats:
        """Compute the mean over each query set, or the micro average."""
        unusual = self.divisor(spec.name)
        if unusual not in (RecallBase.MICRO, PrecisionBase.MICRO):
            return super().means(rankings, spec, sets)
        recall = unusual is RecallBase.MICRO
        total = rankings.judgments.num_rel(self.level) if recall else _returned(rankings, spec)
        return sets.ratios(self._found(rankings, spec), total.astype(np.float64))

    def _found(self, rankings: JudgedRankings, spec: MeasureSpec) -> Floats:
        return rankings.num_rel_ret(self.level, spec.rank)

    def sentence(self, measures: set[str], pooled: bool) -> str:
        """Describe these measures for a paper."""
        names = [name for name in ("P", "R", "RR", "Success") if name in measures]
        relevant = f"documents of grade {self.level:g} or more are relevant for {' and '.join(names)}"
        parts = [] if pooled else [relevant]
        if "R" in names:
            parts.append(describe("base", self.base))
        if "P" in names and self.over is not PrecisionBase.CUTOFF:
            parts.append(describe("over", self.over))
        return ", ".join(parts)


def _returned(rankings: JudgedRankings, spec: MeasureSpec) -> Floats:
    """Return how many documents each query has within the cutoff."""
    limit = np.iinfo(np.int64).max if spec.rank is None else spec.rank
    return np.minimum(rankings.retrieved, limit).astype(np.float64)


@dataclass(frozen=True)
class FChoice(Choice):
    """F1, the harmonic mean of P and R: from which grade on a document is relevant, what is averaged.

    Precision and recall may have different cutoffs.
    """

    f_level: float = 1
    f_mean: FMean = FMean.QUERIES

    def measure(self, spec: MeasureSpec) -> Measure | None:  # noqa: ARG002 (the interface)
        """Return None: ir_measures has F1 of the whole list only."""
        return None

    def values(self, rankings: JudgedRankings, spec: MeasureSpec) -> Floats:
        """Compute F1 of each query."""
        return _harmonic(*(choice.values(rankings, each) for choice, each in self._parts(spec)))

    def means(self, rankings: JudgedRankings, spec: MeasureSpec, sets: QuerySets) -> Floats:
        """Compute the mean of F1, F1 of the means, or F1 of the micro averages."""
        if self.f_mean is FMean.QUERIES:
            return super().means(rankings, spec, sets)
        return _harmonic(*(choice.means(rankings, each, sets) for choice, each in self._parts(spec)))

    def _parts(self, spec: MeasureSpec) -> list[tuple[LevelChoice, MeasureSpec]]:
        ranks = spec.cutoff if isinstance(spec.cutoff, tuple) else (spec.cutoff, spec.cutoff)
        micro = self.f_mean is FMean.MICRO
        level = LevelChoice(self.f_level, *((RecallBase.MICRO, PrecisionBase.MICRO) if micro else ()))
        names = zip("PR", ranks, strict=True)
        return [(level, spec._replace(name=name, cutoff=rank)) for name, rank in names]

    def sentence(self, measures: set[str], pooled: bool) -> str:  # noqa: ARG002 (the interface)
        """Describe F1 for a paper."""
        level = "" if pooled else f" (relevant from grade {self.f_level:g} on)"
        return f"F1 is the harmonic mean of precision and recall{level}: {describe('f_mean', self.f_mean)}"

    def latex(self) -> str:
        """Return the formula of F1."""
        form = {FMean.MEANS: r"\overline{%s}", FMean.MICRO: r"%s_{\mathrm{micro}}"}.get(self.f_mean, "%s")
        p, r = (form % x for x in "PR")
        return rf"\mathrm{{F1}} = \frac{{2\, {p}\, {r}}}{{{p} + {r}}}"


def _harmonic(precision: Floats, recall: Floats) -> Floats:
    total = precision + recall
    empty = np.where(np.isnan(total), np.nan, 0.0)
    found: Floats = np.divide(2 * precision * recall, total, out=empty, where=total > 0)
    return found
