"""Compute the values of measures from judged rankings, and their means over the queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from ir_measures import CalcResults, Evaluator, Metric
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.engine.judgments import Judgments, map_gains
from permed_measures.engine.kernels import CHECKS, KERNELS, notes_on
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import TieBreak
from permed_measures.engine.tables import Rows
from permed_measures.errors import MeasureError, short_repr, warn
from permed_measures.measures.parameters import (
    CheckedMeasure,
    alias_of,
    check_parameters,
    values_of,
)
from permed_measures.measures.parsing import MeasureLike, MeasuresLike, measures_of
from permed_measures.measures.specs import MEASURES, SPECS, counts_all, lowest_relevant, spec_of


class Evaluation(NamedTuple):
    """The values of some measures on one run.

    Attributes
    ----------
    measures : list of Measure
    values : ndarray of float64, shape (n_measures, n_queries)
        Queries in the order of ``rankings.judgments.query_ids``.
    rankings : JudgedRankings
        The rankings that the values were computed from.
    """

    measures: list[Measure]
    values: NDArray[np.float64]
    rankings: JudgedRankings

    @property
    def aggregated(self) -> dict[Measure, float]:
        """The mean of each measure over all queries of the qrels (NaN without any); for counts, the sum."""
        return aggregated(self.measures, self.values)

    def per_query(self) -> Iterator[tuple[str, list[float]]]:
        """Yield each query id with its values, in the order of the measures."""
        yield from zip(self.rankings.judgments.query_ids, self.values.T.tolist(), strict=True)

    def metrics(self) -> Iterator[Metric]:
        """Yield ir_measures' metrics, query by query."""
        names: list[Any] = [alias_of(measure) or measure for measure in self.measures]
        for query_id, values in self.per_query():
            for name, value in zip(names, values, strict=True):
                yield Metric(query_id, name, value)


def aggregated(measures: list[Measure], values: NDArray[np.float64]) -> dict[Measure, float]:
    """Average each measure over the queries (the columns of `values`); sum up counts."""
    return dict(zip(measures, _means(values, list(map(_computation, measures))), strict=True))


class _Computation(NamedTuple):
    """The kernel of a measure with its parameters, and whether its values are counts."""

    kernel: Callable[[JudgedRankings], NDArray[np.float64]]
    is_count: bool


def _computation(measure: Measure) -> _Computation:
    name = str(measure.NAME)
    return _Computation(partial(KERNELS[name], **values_of(measure)), SPECS[name].is_count)


def _means(values: NDArray[np.float64], computations: list[_Computation]) -> list[float]:
    """Average like `aggregated`, but return a list: a dict of measures would hash their names."""
    n_queries, totals = values.shape[1] or math.nan, values.sum(axis=1).tolist()
    pairs = zip(totals, computations, strict=True)
    return [total if is_count else total / n_queries for total, (_, is_count) in pairs]


class PermedEvaluator(Evaluator):
    """Score any number of runs with the same measures and qrels; raise the errors of `calc_aggregate`.

    Parameters
    ----------
    measures : iterable of Measure or str, or one of these, or a dict of name to measure
    qrels : Judgments, nested dicts or Table; with `read`, all that it accepts
    ties : TieBreak, default TieBreak.TREC
    rel : number, optional
        As in `calc_aggregate`.
    read : callable, optional
        Converts qrels or a run that is not a dict to nested dicts or a table; the second argument is
        ``relevance`` or ``score``.

    Attributes
    ----------
    names : list
        The name that the user gave each measure, or the measure.
    """

    def __init__(
        self,
        measures: MeasuresLike,
        qrels: Any,
        ties: TieBreak = TieBreak.TREC,
        rel: float | None = None,
        read: Callable[[Any, str], Rows] | None = None,
    ) -> None:
        checked = [supported(measure) for measure in measures_of(measures, rel)]
        self._read = read
        if read and not isinstance(qrels, (dict, Judgments)):
            qrels = read(qrels, "relevance")
        self.judgments = Judgments.of(qrels)
        self.ties = ties
        for measure in checked:
            if measure.NAME in CHECKS:
                CHECKS[measure.NAME](self.judgments, values_of(measure))
        depths = [depth for measure in checked if (depth := _depth_of(measure)) is not None]
        self._depth = max(depths) if depths and len(depths) == len(checked) else None
        self.names: list[Any] = [alias_of(measure) or measure for measure in checked]
        self._computations = list(map(_computation, checked))
        super().__init__(checked, self.judgments.query_ids)

    def notes(self) -> list[str]:
        """Describe what may surprise a user about the measures on these qrels.

        These notes are not warnings: PyTerrier evaluates in batches, and the labels of a batch may be binary
        by chance.
        """
        return notes_on(list(self.measures), self.judgments)

    def evaluate(self, run: Any, depth: int | None = None) -> Evaluation:
        """Compute all measures on a run, as arrays; `depth` cuts its rankings."""
        if self._read and not isinstance(run, dict):
            run = self._read(run, "score")
        rankings = JudgedRankings.of(self.judgments, run, self.ties, depth)
        return evaluated(list(self.measures), rankings, self._computations)

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        """Iterate over the values of each query of the qrels."""
        return self.evaluate(run, self._depth).metrics()

    def calc_aggregate(self, run: Any) -> dict[Any, float]:
        """Compute the mean of each measure over all queries of the qrels."""
        return self.named(_means(self.evaluate(run, self._depth).values, self._computations))

    def calc(self, run: Any) -> CalcResults:
        """Compute the means, and the values of each query."""
        evaluation = self.evaluate(run, self._depth)
        means = self.named(_means(evaluation.values, self._computations))
        return CalcResults(means, list(evaluation.metrics()))

    def named(self, means: Iterable[float]) -> dict[Any, float]:
        """Key the means by the names that the user gave; warn if the qrels have no query."""
        if not self.judgments.n_queries:
            warn("the qrels have no query; every mean is NaN")
        return dict(zip(self.names, means, strict=True))


_NEAREST = {"SDCG": "nDCG@10", **dict.fromkeys(("NERR8", "NERR9", "NERR10", "NERR11"), "ERR@10")}
"""For measures of ir_measures that are not supported here: a supported measure of the same family."""


def supported(measure: Measure) -> Measure:
    """Raise MeasureError unless the measure is supported with its parameters; return it."""
    name = str(measure.NAME)
    if name not in KERNELS or (name in MEASURES and not isinstance(measure, CheckedMeasure)):
        near = f"The nearest is {_NEAREST[name]}; " if name in _NEAREST else ""
        hint = f"{near}ir_measures.calc_aggregate may have another provider for it"
        raise MeasureError(f"permed-measures does not compute {measure}", hint=hint)
    check_parameters(measure, complete=True)
    spec = SPECS[name]
    if spec.needs_rel and "rel" not in measure.params:
        problem = f"{name} needs rel (found {measure}): {spec.needs_rel}"
        raise MeasureError(problem, hint=f"The nearest is {measure(rel=1)}")
    if spec.gains_replace and "gains" in measure.params:
        replaced, example = spec.gains_replace
        default = measure.SUPPORTED_PARAMS[replaced].default
        if measure[replaced] != default:
            problem = f"{name} takes gains with {replaced}={default!r} only (found {measure})"
            raise MeasureError(problem, hint=f"Give the gains themselves: {example}")
    return measure


def _depth_of(measure: Measure) -> int | None:
    """Return the largest rank that a measure needs; None if it needs all ranks.

    This is the cutoff, unless the measure removes unjudged documents or sorts the whole list.
    """
    parameters = measure.params
    needs_all = parameters.get("judged_only") or parameters.get("ideal") == "run"
    cutoff: int | None = None if needs_all else parameters.get("cutoff")
    return cutoff


def evaluated(
    measures: list[Measure], rankings: JudgedRankings, computations: list[_Computation] | None = None
) -> Evaluation:
    """Compute measures, which must be checked on the judgments of these rankings."""
    values = np.empty((len(measures), rankings.n_queries))
    with np.errstate(over="ignore", invalid="ignore"):
        for row, (kernel, _) in enumerate(computations or map(_computation, measures)):
            values[row] = kernel(rankings)
    if np.count_nonzero(np.isfinite(values)) < values.size:
        row, query = np.argwhere(~np.isfinite(values))[0].tolist()
        raise MeasureError(
            f"{short_repr(measures[row])} is beyond all floating-point numbers here",
            where=f"query {short_repr(rankings.judgments.query_ids[query])}",
            hint="Give the measure smaller parameters, or map the grades to smaller ones",
        )
    return Evaluation(measures, values, rankings)


def ideal_evaluation(measure: MeasureLike, qrels: Rows | Judgments) -> Evaluation:
    """Compute the highest value of a measure that any run can reach, query by query.

    Raises
    ------
    MeasureError
        For NumRet, which has no highest value; and as for an evaluation.
    """
    evaluator = PermedEvaluator([measure], qrels)
    [checked] = evaluator.measures
    if not has_ceiling(checked):
        hint = "With rel it counts relevant documents: NumRet(rel=1)"
        raise MeasureError("NumRet has no ceiling: a run can retrieve any number of documents", hint=hint)
    return evaluated([checked], _best_rankings(checked, evaluator.judgments))


def has_ceiling(measure: Measure) -> bool:
    """Check whether the measure has a highest value."""
    return not counts_all(measure)


def _best_rankings(measure: Measure, judgments: Judgments) -> JudgedRankings:
    """Build rankings that reach the highest value: the useful documents, by gain descending.

    The value can only fall if a document with a smaller gain stands above one with a larger gain. Set
    measures and ``norm='num_rel_ret'`` divide by the number of retrieved documents, and ``negative='keep'``
    adds negative gains: the best rankings leave out the documents that would lower the value in these ways.
    """
    parameters = values_of(measure)
    best = JudgedRankings.ideal(judgments, gains_of(measure, judgments.grade))
    if parameters.get("norm") == "num_rel_ret":  # a mean over the retrieved ones: highest for the best alone
        return best.take(best.rank == 1)
    if parameters.get("negative") == "keep":
        return best.take(best.grade >= 0)
    if spec_of(measure).ignores_order and (rel := parameters.get("rel")) is not None:
        return replace(best.take(best.grade >= rel), retrieved=judgments.num_rel(rel))
    return best


def gains_of(measure: Measure, grade: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the gains by which a measure orders the grades; with `gains`, -inf for grades not relevant."""
    parameters = values_of(measure)
    if not parameters.get("gains"):
        return grade
    level = lowest_relevant(measure)
    relevant = grade >= (-np.inf if level is None else level)
    return np.where(relevant, map_gains(grade, parameters["gains"]), -np.inf)
