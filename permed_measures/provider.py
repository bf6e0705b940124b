"""The ir_measures provider, and its registration. Loads numpy only when something is computed."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import ir_measures
from ir_measures import Evaluator, Provider
from ir_measures.measures import Measure

from permed_measures.measures import MEASURES, Coverage, GradedAP, VariantNDCG

__all__ = ["PermedProvider", "calc", "calc_aggregate", "evaluator", "iter_calc", "provider", "register"]


class PermedProvider(Provider):
    """Graded MAP, Coverage, nDCG with every choice, and the standard measures, in one pass over a run.

    It takes judgments and runs as dicts of dicts, iterables of namedtuples, pandas, polars or pyarrow frames.
    """

    NAME = "permed"
    SUPPORTED_MEASURES = [
        GradedAP,
        Coverage,
        VariantNDCG,
        ir_measures.nDCG,
        ir_measures.P,
        ir_measures.R,
        ir_measures.RR,
        ir_measures.AP,
        ir_measures.Success,
        ir_measures.Judged,
    ]

    def _evaluator(self, measures: Iterable[Measure], qrels: Any) -> Evaluator:
        from permed_measures.engine import PermedEvaluator

        return PermedEvaluator(measures, qrels)


provider = PermedProvider()  # type: ignore[no-untyped-call]
calc = provider.calc
calc_aggregate = provider.calc_aggregate
evaluator = provider.evaluator
iter_calc = provider.iter_calc


def register() -> None:
    """Make measures and provider known to ir_measures; calling it again changes nothing.

    The provider stands directly before gdeval in ``ir_measures.DefaultPipeline``. So every measure that
    pytrec_eval and the other providers computed stays with them, and only exp-gain nDCG moves: gdeval rounds
    it to five digits and takes numeric query ids only.
    """
    ir_measures.measures.registry.update(MEASURES)
    ir_measures.providers.registry[provider.NAME] = provider
    pipeline = ir_measures.DefaultPipeline.providers
    others = [each for each in pipeline if each.NAME != provider.NAME]
    names = [each.NAME for each in others]
    place = names.index("gdeval") if "gdeval" in names else len(names)
    pipeline[:] = [*others[:place], provider, *others[place:]]
    if "pyterrier.measures" in sys.modules:
        # PyTerrier copies the registry when it is imported; this is the case where it came first.
        vars(sys.modules["pyterrier.measures"]).update(MEASURES)
