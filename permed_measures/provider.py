"""The ir_measures provider, and its registration. Loads numpy only when something is computed."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import ir_measures
from ir_measures import CalcResults, Evaluator, Metric, Provider
from ir_measures.measures import Measure

from permed_measures.engine.inputs import QrelsLike, RunLike
from permed_measures.measures.definitions import GAP, MEASURES, Coverage, GradedAP, QMeasure, VariantNDCG
from permed_measures.measures.parsing import MeasuresLike

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
        GAP,
        QMeasure,
        ir_measures.nDCG,
        ir_measures.ERR,
        ir_measures.RBP,
        ir_measures.P,
        ir_measures.R,
        ir_measures.RR,
        ir_measures.AP,
        ir_measures.Success,
        ir_measures.Judged,
        ir_measures.Rprec,
        ir_measures.IPrec,
        ir_measures.Bpref,
        ir_measures.infAP,
        ir_measures.SetP,
        ir_measures.SetR,
        ir_measures.SetF,
        ir_measures.SetAP,
        ir_measures.NumQ,
        ir_measures.NumRet,
        ir_measures.NumRel,
    ]

    def supports(self, measure: Measure) -> bool:
        """Return whether a pipeline should give this measure to us.

        ERR is computed when asked of this provider, but left to gdeval in a pipeline where Perl is, so that
        importing the package changes no number.
        """
        if measure.NAME == "ERR" and ir_measures.gdeval.is_available():
            return bool(not ir_measures.gdeval.supports(measure))
        return bool(super().supports(measure))

    def evaluator(self, measures: MeasuresLike, qrels: QrelsLike) -> Evaluator:
        """Return an evaluator, which scores any number of runs by the same measures and judgments.

        Parameters
        ----------
        measures : iterable of Measure or str
        qrels : mapping, iterable of namedtuples, or pandas, polars or pyarrow frame
            ``{query_id: {doc_id: relevance}}``, or rows with query_id, doc_id and relevance.

        Returns
        -------
        Evaluator
            With ``calc_aggregate(run)``, ``iter_calc(run)`` and ``calc(run)``.

        Raises
        ------
        MeasureError
            For a measure that is not supported, or a parameter that is not allowed on these judgments.
        InputError
            For judgments that cannot be read; the message names query and document.

        Examples
        --------
        >>> evaluator = provider.evaluator(["P@1", "RR"], {"q": {"a": 1}})
        >>> evaluator.calc_aggregate({"q": {"a": 1.0, "b": 2.0}})
        {P@1: 0.0, RR: 0.5}
        """
        from permed_measures.engine.evaluator import PermedEvaluator

        return PermedEvaluator(measures, qrels)

    def calc_aggregate(
        self, measures: MeasuresLike, qrels: QrelsLike, run: RunLike
    ) -> dict[Measure, float | int]:
        """Return the mean of each measure over all queries of the qrels.

        Parameters
        ----------
        measures : iterable of Measure or str
        qrels, run : mapping, iterable of namedtuples, or pandas, polars or pyarrow frame
            Rows in any order. A query that is absent from the run, or has no relevant document, scores 0 and
            counts; a query without judgments is ignored.

        Returns
        -------
        dict of Measure to float
            NaN where the qrels have no query.

        Raises
        ------
        MeasureError
            For a measure that is not supported, or a parameter that is not allowed on these judgments.
        InputError
            For qrels or a run that cannot be read; the message names query and document.

        Warns
        -----
        PermedWarning
            If the run is not empty, but has no query of the qrels, or no judged document.

        Examples
        --------
        >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
        >>> provider.calc_aggregate(["Coverage@10"], qrels, {"q1": {"a": 1.0}})
        {Coverage@10: 0.5}
        """
        return dict(self.evaluator(measures, qrels).calc_aggregate(run))

    def iter_calc(self, measures: MeasuresLike, qrels: QrelsLike, run: RunLike) -> Iterator[Metric]:
        """Return an iterator over the value of each measure for each query of the qrels, by query id.

        Parameters, errors and conventions are those of `calc_aggregate`.

        Examples
        --------
        >>> qrels = {"q2": {"b": 1}, "q1": {"a": 1}}
        >>> for metric in provider.iter_calc(["RR"], qrels, {"q1": {"a": 1.0}}):
        ...     print(metric)
        Metric(query_id='q1', measure=RR, value=1.0)
        Metric(query_id='q2', measure=RR, value=0.0)
        """
        return self.evaluator(measures, qrels).iter_calc(run)

    def calc(self, measures: MeasuresLike, qrels: QrelsLike, run: RunLike) -> CalcResults:
        """Return both: the means as ``aggregated``, and a list of the metrics as ``per_query``.

        Parameters, errors and conventions are those of `calc_aggregate`.

        Examples
        --------
        >>> provider.calc(["RR"], {"q": {"a": 1}}, {"q": {"a": 1.0}})
        CalcResults(aggregated={RR: 1.0}, per_query=[Metric(query_id='q', measure=RR, value=1.0)])
        """
        return self.evaluator(measures, qrels).calc(run)


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
