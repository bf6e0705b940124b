"""The two entrances: calc_aggregate and its like, and the provider for ir_measures. They load no numpy."""

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
from permed_measures.measures.definitions import MEASURES
from permed_measures.measures.parsing import MeasureLike, MeasuresLike, measures_of, parse_measure

if TYPE_CHECKING:
    from permed_measures.engine.evaluator import PermedEvaluator
    from permed_measures.engine.groups import By


def evaluator(measures: MeasuresLike, qrels: QrelsLike, rel: float | None = None) -> PermedEvaluator:
    """Return an evaluator, which scores any number of runs by the same measures and qrels.

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
    """Return the mean of each measure over all queries of the qrels.

    Parameters
    ----------
    measures : iterable of Measure or str, or one of these, or a dict of name to measure
        The names that a dict gives, such as ``{"MAP@10": GradedAP @ 10}``, stand for the measures in the
        result.
    qrels : QrelsLike
    run : RunLike
        ``{query_id: {doc_id: number}}``; rows in any order with query_id, doc_id, and relevance or score; the
        path of a file; for qrels also the id of a data set. A query that is absent from the run, or has no
        relevant document, scores 0 and counts; a query without judgments is ignored. `RunLike` says which ids
        of a dict are looked at.
    rel : number, optional
        The lowest relevant grade, for each measure that takes one and does not name its own; not for NumRet,
        which counts all documents retrieved unless it names one.

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
    """Return an iterator over the value of each measure for each query of the qrels, by query id.

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
    """Return both: the means as ``aggregated``, and a list of the metrics as ``per_query``.

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
    """Return the evaluator, and the run; a file that is both qrels and run is read once."""
    if isinstance(qrels, (str, os.PathLike)) and isinstance(run, (str, os.PathLike)):
        measures = measures_of(measures, rel)  # before anything is read
        if os.fspath(qrels) == os.fspath(run):
            qrels = read(qrels, "relevance")
            run = read(run, "score", labels=qrels)
    return evaluator(measures, qrels, rel), run


def ceiling(measure: MeasureLike, qrels: QrelsLike) -> float:
    """Return the highest value of a measure that a run can have on these qrels.

    Parameters
    ----------
    measure : Measure or str
    qrels : any form of qrels

    Returns
    -------
    float
        The mean over all queries (of counts, the sum) of the best ranking: for most measures all judged
        documents, best grade first; for set precision the relevant ones alone. It is below 1 where queries
        have no relevant document, where a measure divides by more than there is to find, and for GradedAP
        where partly relevant documents exist; above 1 where weights are, and with ``negative='keep'``.

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
    """Return the means of the measures for each group of queries, or the mean of these means.

    Parameters
    ----------
    measures, rel
        As in `calc_aggregate`.
    qrels, run : any form of qrels and of a run
        The qrels may be a data set of ir_datasets, whose queries have fields.
    by : str, mapping or callable
        What the groups are: a field of the data set's queries (``turn_number``, ``conversation_id``,
        ``specificity``), or a regular expression with one group that is searched for in the query ids
        (``'_([0-9]+)$'``); or ``{query_id: group}``; or what returns the group of a query id. A query of
        group None is in none.
    macro : bool
        Whether to average over the groups, so that a conversation counts once, however many turns it has.

    Returns
    -------
    dict of group to dict of Measure (or name) to float
        Groups in ascending order. Each judged query counts in its group, as `calc_aggregate` counts it.
        With `macro` a dict of Measure to float: the mean of the groups' means (of counts, of their sums).

    Raises
    ------
    MeasureError, InputError
        As for an evaluation; also if `by` is neither a field nor a pattern with one group, or the pattern
        finds nothing in any id.

    Warns
    -----
    PermedWarning
        If a group has no judged query (it is left out: it has no mean), or a judged query is in no group.

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
    r"""Return the run with query ids as the qrels have them.

    Parameters
    ----------
    run : RunLike
    qrels : QrelsLike
    rewriting : str
        ``permed``: ``topic_001_turn_1`` and ``topic_001_1`` are one query (PerMed's baselines write the
        former, MedCorpus has the latter). ``litsearch``: ``litsearch_000`` is ``1``. Which side has which
        does not matter. Or ``s/PATTERN/TEXT/``: in the ids of the run what the regular expression finds
        becomes the text, in which ``\1`` is its first group.

    Returns
    -------
    mapping or Table
        A run for the functions of this package. Ids that meet no query of the qrels stay as they are. Those
        of a run in frames are rewritten, and checked, while it is evaluated.

    Raises
    ------
    InputError
        If no id meets the qrels, two ids of one side become the same, or `rewriting` is neither a name nor a
        substitution.

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
    """Our measures and the standard ones, in one pass over a run in any form.

    An ir_measures that finds providers by entry points imports this class while it is itself imported, and
    sorts by `PRIORITY`. So what this module imports may take names from ir_measures' submodules only.
    """

    NAME = "permed"
    PRIORITY = -3.5
    """Directly before gdeval, which has -3."""

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

        return PermedEvaluator(measures, qrels, read=read)


provider = PermedProvider()  # type: ignore[no-untyped-call]


def register() -> None:
    """Make measures and provider known to ir_measures; calling it again changes nothing.

    The provider stands directly before gdeval in ``ir_measures.DefaultPipeline``. So every measure that
    pytrec_eval and the other providers computed stays with them, and only exp-gain nDCG moves: gdeval rounds
    it to five digits and takes numeric query ids only. Where ir_measures imports us by our entry point it has
    no pipeline yet, and puts the provider there itself.
    """
    ir_measures.measures.registry.update(MEASURES)
    registry[provider.NAME] = provider
    if not hasattr(ir_measures, "DefaultPipeline"):
        return
    pipeline = ir_measures.DefaultPipeline.providers
    others = [each for each in pipeline if each.NAME != provider.NAME]
    names = [each.NAME for each in others]
    index = names.index("gdeval") if "gdeval" in names else len(names)
    pipeline[:] = [*others[:index], provider, *others[index:]]
    if "pyterrier.measures" in sys.modules:
        # PyTerrier copies the registry when it is imported; this is the case where it came first.
        vars(sys.modules["pyterrier.measures"]).update(MEASURES)
