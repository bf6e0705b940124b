"""The two ways to evaluate: `calc_aggregate` and its relatives, and the provider for ir_measures.

This module does not import numpy, so that importing the package stays fast.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import ir_measures
from ir_measures.measures import Measure
from ir_measures.providers.base import Evaluator, Provider, registry
from ir_measures.util import CalcResults, Metric

from permed_measures.engine.tables import dataset_of
from permed_measures.errors import warn
from permed_measures.inputs.columns import QrelsLike, RunLike
from permed_measures.inputs.door import read
from permed_measures.measures.parsing import MeasureLike, MeasuresLike, measures_of, parse_measure
from permed_measures.measures.specs import MEASURES, SPECS

if TYPE_CHECKING:
    from permed_measures.engine.evaluator import PermedEvaluator
    from permed_measures.engine.groups import By


def evaluator(measures: MeasuresLike, qrels: QrelsLike, rel: float | None = None) -> PermedEvaluator:
    """Create an evaluator, which scores any number of runs with the same measures and qrels.

    It has ``calc_aggregate(run)``, ``iter_calc(run)`` and ``calc(run)``. Parameters, errors and conventions
    are those of `calc_aggregate`.

    Examples
    --------
    >>> scorer = evaluator(["P@1", "RR"], {"q": {"a": 1}})
    >>> scorer.calc_aggregate({"q": {"a": 1.0, "b": 2.0}})
    {P@1: 0.0, RR: 0.5}
    """
    from permed_measures.engine.evaluator import PermedEvaluator

    return PermedEvaluator(measures, qrels, rel=rel, read=read)


def calc_aggregate(
    measures: MeasuresLike, qrels: QrelsLike, run: RunLike, rel: float | None = None
) -> dict[Any, float]:
    """Compute the mean of each measure over all queries of the qrels.

    Parameters
    ----------
    measures : iterable of Measure or str, or one of these, or a dict of name to measure
        The names of a dict, such as ``{"MAP@10": GradedAP @ 10}``, replace the measures in the result.
    qrels : QrelsLike
    run : RunLike
        ``{query_id: {doc_id: number}}``; rows in any order with query_id, doc_id, and relevance or score; the
        path of a file; for qrels also the id of a data set. A query that is absent from the run, or has no
        relevant document, scores 0 and counts; a query without judgments is ignored. `RunLike` describes
        which ids of a dict are checked.
    rel : number, optional
        The lowest relevant grade, for each measure that takes one and does not set its own. NumRet counts all
        retrieved documents unless it sets its own.

    Returns
    -------
    dict of Measure (or name) to float
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
    >>> calc_aggregate(["Coverage@10"], qrels, {"q1": {"a": 1.0}})
    {Coverage@10: 0.5}
    """
    scorer, run = _scorer_and_run(measures, qrels, run, rel)
    return scorer.calc_aggregate(run)


def iter_calc(
    measures: MeasuresLike, qrels: QrelsLike, run: RunLike, rel: float | None = None
) -> Iterator[Metric]:
    """Iterate over the value of each measure for each query of the qrels, sorted by query id.

    Parameters, errors and conventions are those of `calc_aggregate`.

    Examples
    --------
    >>> qrels = {"q2": {"b": 1}, "q1": {"a": 1}}
    >>> for metric in iter_calc(["RR"], qrels, {"q1": {"a": 1.0}}):
    ...     print(metric)
    Metric(query_id='q1', measure=RR, value=1.0)
    Metric(query_id='q2', measure=RR, value=0.0)
    """
    scorer, run = _scorer_and_run(measures, qrels, run, rel)
    return scorer.iter_calc(run)


def calc(measures: MeasuresLike, qrels: QrelsLike, run: RunLike, rel: float | None = None) -> CalcResults:
    """Compute both the means (``aggregated``) and the list of values per query (``per_query``).

    Parameters, errors and conventions are those of `calc_aggregate`.

    Examples
    --------
    >>> both = calc(["RR"], {"q": {"a": 1}}, {"q": {"a": 1.0}})
    >>> both.aggregated, both.per_query
    ({RR: 1.0}, [Metric(query_id='q', measure=RR, value=1.0)])
    """
    scorer, run = _scorer_and_run(measures, qrels, run, rel)
    return scorer.calc(run)


def _scorer_and_run(
    measures: MeasuresLike, qrels: QrelsLike, run: RunLike, rel: float | None
) -> tuple[PermedEvaluator, RunLike]:
    """Create the evaluator and return the run too; read a file that is both qrels and run once."""
    if isinstance(qrels, (str, os.PathLike)) and isinstance(run, (str, os.PathLike)):
        measures = measures_of(measures, rel)  # a wrong measure is reported before a long file is read
        if os.fspath(qrels) == os.fspath(run):
            qrels = read(qrels, "relevance")
            run = read(run, "score", labels=qrels)
    return evaluator(measures, qrels, rel), run


def ceiling(measure: MeasureLike, qrels: QrelsLike) -> float:
    """Compute the highest value of a measure that any run can reach on these qrels.

    Parameters
    ----------
    measure : Measure or str
    qrels : any form of qrels

    Returns
    -------
    float
        The mean over all queries (for counts, the sum) of the best ranking. For most measures the best
        ranking has all judged documents, best grade first; for set precision only the relevant ones. The
        ceiling is below 1 where queries have no relevant document, where a measure divides by more than can
        be found, and for GradedAP where partly relevant documents exist. It is above 1 with weights above 1,
        and may be with ``negative='keep'``.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation; also for NumRet, which has no ceiling.

    Examples
    --------
    >>> import permed_measures as pm
    >>> pm.ceiling(pm.GradedAP @ 10, {"q": {"a": 2, "b": 1, "c": 0, "d": 1}})
    0.6666666666666666
    """
    from permed_measures.engine.evaluator import ideal_evaluation

    [value] = ideal_evaluation(parse_measure(measure), read(qrels, "relevance")).aggregated.values()
    return value


def evaluate_by(
    measures: MeasuresLike,
    qrels: QrelsLike,
    run: RunLike,
    by: By,
    rel: float | None = None,
    macro: bool = False,
) -> dict[Any, Any]:
    """Compute the means of the measures for each group of queries, or the mean of these means.

    Parameters
    ----------
    measures, rel
        As in `calc_aggregate`.
    qrels, run : any form of qrels and of a run
        The qrels may be a data set of ir_datasets, whose queries have fields.
    by : str, mapping or callable
        How to group the queries: a field of the data set's queries (``turn_number``, ``conversation_id``,
        ``specificity``); a regular expression with one group, which is searched for in the query ids
        (``'_([0-9]+)$'``); ``{query_id: group}``; or a function that returns the group of a query id. A query
        whose group is None belongs to no group.
    macro : bool
        Average over the groups, so that each conversation counts once, whatever its number of turns.

    Returns
    -------
    dict of group to dict of Measure (or name) to float
        Groups in ascending order. Each judged query counts in its group, as in `calc_aggregate`. With
        `macro`, a dict of Measure to float: the mean of the groups' means (for counts, of their sums).

    Raises
    ------
    MeasureError, InputError
        As for an evaluation; also if `by` is neither a field nor a pattern with one group, or the pattern
        finds nothing in any id.

    Warns
    -----
    PermedWarning
        If a group has no judged query (it is left out, as it has no mean), or a judged query belongs to no
        group.

    Examples
    --------
    >>> qrels = {"a_1": {"d": 1}, "a_2": {"d": 1}, "b_1": {"d": 1}}
    >>> run = {"a_1": {"d": 1.0}, "a_2": {"d": 1.0, "e": 2.0}}
    >>> evaluate_by("RR", qrels, run, by="_([0-9]+)$")
    {'1': {RR: 0.5}, '2': {RR: 0.5}}
    >>> evaluate_by("RR", qrels, run, by="^([a-z])_", macro=True)
    {RR: 0.375}
    """
    from permed_measures.engine.groups import Groups

    qrels = read(qrels, "relevance")
    scorer = evaluator(measures, qrels, rel)
    groups = Groups.of(scorer.judgments.query_ids, by, dataset_of(qrels))
    evaluation = scorer.evaluate(run)
    for note in groups.notes():
        warn(note)
    if macro:
        return scorer.named(groups.macro(evaluation).values())
    return {group: scorer.named(means.values()) for group, means in groups.means(evaluation).items()}


def match_query_ids(run: RunLike, qrels: QrelsLike, rewriting: str) -> Any:
    r"""Rewrite the query ids of a run to match those of the qrels.

    Parameters
    ----------
    run : RunLike
    qrels : QrelsLike
    rewriting : str
        ``permed``: ``topic_001_turn_1`` and ``topic_001_1`` are one query (PerMed's baselines write the
        former, MedCorpus has the latter). ``litsearch``: ``litsearch_000`` is ``1``. Either form may be in
        the run or in the qrels. Or ``s/PATTERN/TEXT/``: in the ids of the run, the text replaces each match
        of the regular expression; ``\1`` in the text is its first group.

    Returns
    -------
    mapping or Table
        A run for the functions of this package. Ids that match no query of the qrels do not change. The ids
        of a run in frames are rewritten, and checked, during evaluation.

    Raises
    ------
    InputError
        If no id matches the qrels, two ids of one side become the same, or `rewriting` is neither a name nor
        a substitution.

    Examples
    --------
    >>> match_query_ids({"topic_001_turn_1": {"a": 1.0}}, {"topic_001_1": {"a": 2}}, "permed")
    {'topic_001_1': {'a': 1.0}}
    >>> match_query_ids({"q07": {"a": 1.0}}, {"7": {"a": 2}}, "s/^q0*//")
    {'7': {'a': 1.0}}
    """
    rows = read(run, "score")
    return read(rows, "score", rewriting, read(qrels, "relevance"))


# --- for ir_measures itself --------------------------------------------------------------------------


class PermedProvider(Provider):
    """Compute the package's measures and the standard ones in one pass over a run in any form.

    Versions of ir_measures that find providers by entry points import this class during their own import, and
    sort by `PRIORITY`. So this module, and all it imports, may use names of ir_measures' submodules only.
    """

    NAME = "permed"
    PRIORITY = -3.5
    """Directly before gdeval, which has -3."""

    SUPPORTED_MEASURES = [spec.measure for spec in SPECS.values()]  # noqa: RUF012 - as in ir_measures

    def supports(self, measure: Measure) -> bool:
        """Check whether a pipeline of ir_measures should use this provider for a measure.

        This provider computes ERR if called directly. In a pipeline it leaves ERR to gdeval where Perl is
        installed, so that importing the package changes no number.
        """
        if measure.NAME == "ERR" and ir_measures.gdeval.is_available():
            return bool(not ir_measures.gdeval.supports(measure))
        return bool(super().supports(measure))

    def _evaluator(self, measures: MeasuresLike, qrels: QrelsLike) -> Evaluator:
        from permed_measures.engine.evaluator import PermedEvaluator

        return PermedEvaluator(measures, qrels, read=read)


provider = PermedProvider()  # type: ignore[no-untyped-call]


def register() -> None:
    """Register the measures and the provider with ir_measures; a second call changes nothing.

    The provider stands directly before gdeval in ``ir_measures.DefaultPipeline``. So pytrec_eval and the
    other providers keep every measure that they compute; only exp-gain nDCG moves here, since gdeval rounds
    it to five digits and accepts numeric query ids only. If ir_measures imports this module by its entry
    point, the pipeline does not exist yet, and ir_measures adds the provider itself.
    """
    ir_measures.measures.registry.update(MEASURES)
    registry[provider.NAME] = provider
    if not hasattr(ir_measures, "DefaultPipeline"):
        return
    pipeline = ir_measures.DefaultPipeline.providers
    others = [other for other in pipeline if other.NAME != provider.NAME]
    names = [other.NAME for other in others]
    index = names.index("gdeval") if "gdeval" in names else len(names)
    pipeline[:] = [*others[:index], provider, *others[index:]]
    if "pyterrier.measures" in sys.modules:
        # PyTerrier copies the registry on import; here it was imported before this package.
        vars(sys.modules["pyterrier.measures"]).update(MEASURES)
