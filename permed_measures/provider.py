"""The ir_measures provider and its registration. Loads numpy only when something is computed."""

from __future__ import annotations

import sys

import ir_measures
from ir_measures import Evaluator, Provider
from ir_measures.measures import Measure

from permed_measures.engine.inputs import QrelsLike
from permed_measures.measures.definitions import MEASURES
from permed_measures.measures.parsing import MeasuresLike


class PermedProvider(Provider):
    """Our measures and the standard ones, in one pass over a run in any form."""

    NAME = "permed"

    @property
    def SUPPORTED_MEASURES(self) -> list[Measure]:  # type: ignore[override]  # noqa: N802 - ir_measures' name
        """Return the measures of the kernels, which load numpy."""
        from permed_measures.engine.kernels import SUPPORTED

        return [each.measure for each in SUPPORTED]

    def supports(self, measure: Measure) -> bool:
        """Return whether a pipeline should give this measure to us.

        ERR is computed when asked of this provider, but left to gdeval in a pipeline where Perl is, so that
        importing the package changes no number.
        """
        if measure.NAME == "ERR" and ir_measures.gdeval.is_available():
            return bool(not ir_measures.gdeval.supports(measure))
        return bool(super().supports(measure))

    def _evaluator(self, measures: MeasuresLike, qrels: QrelsLike) -> Evaluator:
        from permed_measures.engine.evaluator import PermedEvaluator

        return PermedEvaluator(measures, qrels)


provider = PermedProvider()  # type: ignore[no-untyped-call]


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
    index = names.index("gdeval") if "gdeval" in names else len(names)
    pipeline[:] = [*others[:index], provider, *others[index:]]
    if "pyterrier.measures" in sys.modules:
        # PyTerrier copies the registry when it is imported; this is the case where it came first.
        vars(sys.modules["pyterrier.measures"]).update(MEASURES)
