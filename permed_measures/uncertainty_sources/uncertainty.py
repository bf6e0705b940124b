"""Evaluate runs with the uncertainty of their means: `uncertainty`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from permed_measures.arrays import Floats
from permed_measures.engine.evaluator import evaluated
from permed_measures.engine.groups import By
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ties import OverTies, over_ties
from permed_measures.errors import InputError, check_int
from permed_measures.experiment import Experiment
from permed_measures.human_labels.agreement import relabelled
from permed_measures.human_labels.corrected import Corrected, People
from permed_measures.inputs.columns import QrelsLike, RunLike
from permed_measures.inputs.door import read
from permed_measures.intervals import Estimate, check_level, coverage_notes, measure_intervals
from permed_measures.measures.headings import check_headings
from permed_measures.measures.parameters import cutoff_of
from permed_measures.measures.parsing import MeasuresLike
from permed_measures.measures.specs import spec_of
from permed_measures.run_notes import (
    every_label_is_relevant,
    judged_within,
    mean_judged,
    notes_of,
)
from permed_measures.uncertainty_sources.labels import LabelErrors, check_scale, over_gradings, scale_of
from permed_measures.uncertainty_sources.results import MaybeLowHigh, Uncertainty, UncertaintyRow


def uncertainty(
    qrels: QrelsLike,
    run: RunLike | Mapping[str, RunLike],
    measures: MeasuresLike,
    clusters: By | None = None,
    label_error: float | None = None,
    draws: int = 1000,
    seed: int = 0,
    grades: Iterable[float] | None = None,
    level: float = 0.95,
    rel: float | None = None,
    human: QrelsLike | None = None,
) -> Uncertainty:
    r"""Bound the mean of each run by topics, ties, unjudged documents and wrong labels.

    Parameters
    ----------
    qrels : QrelsLike
        Judgments in any form. A data set of ir_datasets knows the conversation of each query.
    run : RunLike, or mapping of str to RunLike
        A run in any form, or several by name.
    measures : Measure or str, or an iterable of them, or a dict of name to measure
    clusters : str, mapping or callable, optional
        The cluster of each query, as in `compare`: by default its conversation, if the data set has them.
    label_error : float, optional
        The probability that a label is wrong: the document then has a neighbouring grade.
    draws : int, at least 1
        Number of draws of the labels; each draw evaluates all runs again.
    seed : int, at least 0
        Seed of numpy.random.default_rng.
    grades : iterable of number, optional
        The grades that an unjudged document may have; the whole numbers from 0 to the highest if left out.
    level : float, between 0 and 1
        Level of the intervals of `interval` and `labels`.
    rel : number, optional
        The lowest relevant grade, for each measure that takes one and does not name its own.
    human : QrelsLike, optional
        People's labels of a random sample of the queries or documents that a model labelled in the qrels.

    Returns
    -------
    Uncertainty
        A row for each run and measure, with ``value`` and four pairs (low, high).

    Raises
    ------
    MeasureError, InputError
        As for an evaluation, with the name of the run; also for an invalid `label_error` or `grades`.

    Warns
    -----
    PermedWarning
        As for an evaluation, with the name of the run.

    Notes
    -----
    ``interval`` is a confidence interval for other topics, by queries or by whole clusters: Student's t with
    a cluster-robust standard error, cut to the range of the measure. If all values are 0 or 1, as for P@1, it
    is Clopper and Pearson's, with clusters Korn and Graubard's (see `intervals.proportion_interval`). Other
    values that are all the same have no interval.

    ``ties`` is the minimum and the maximum over the orders of equal scores; ``ties_expected`` is the mean
    over all these orders, each equally likely, so that document ids do not matter (McSherry and Najork).

    ``unjudged`` is the minimum and the maximum over the grades of the unjudged documents within the cutoff
    (without a cutoff, of all retrieved documents). A document that becomes relevant counts in R and the ideal
    list too. For RBP the length of this range is the residual, :math:`(1-p) \sum_i p^{i-1}` over the ranks of
    these documents.

    Some order, and some grading, gives each end of these ranges. ``exact`` tells whether they are proved to
    be the bounds: they are for most measures, which rank best with the better document first, but not for
    GradedAP and others (`engine.ties.best_first_is_most`). The ranges have no probability, and they are of
    one run alone: `compare` tests pairs of runs.

    ``labels`` is the interval of the values on labels that are drawn anew, each document by itself. The rates
    are the probabilities of the true grade given the label. The interval need not contain the value itself:
    errors lower a nearly ideal ranking more often than they raise it.

    ``people``, with `human`, estimates the mean over the same queries if people had judged all documents that
    the qrels judge, with an interval, by prediction-powered inference. If people judged all documents or none
    of each query, this assumes a simple random sample of the queries, and holds for every measure. Otherwise
    it assumes a simple random sample of the documents, and only P@k can be estimated without bias.
    `human_labels.corrected` gives the formula.

    References
    ----------
    Moffat & Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 27(1), 2008 (the
    residual).

    McSherry & Najork, Computing information retrieval performance measures efficiently in the presence of
    tied scores, ECIR 2008 (the expected value over ties).

    Examples
    --------
    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1, "c": 1}}
    >>> run = {"q1": {"x": 2.0, "a": 1.0}, "q2": {"b": 1.0, "y": 1.0}}
    >>> [row] = uncertainty(qrels, run, "AP@2").rows
    >>> row.value, row.ties, row.unjudged
    (0.375, (0.375, 0.5), (0.375, 0.8333333333333333))
    >>> row.ties_expected
    0.4375
    """
    draws, seed = check_int("draws", draws, 1), check_int("seed", seed, 0)
    _check(level, label_error, human)
    experiment = Experiment.of(qrels, run, measures, rel)
    judgments, asked = experiment.judgments, experiment.measures
    check_headings(["run", "measure"], asked)
    experiment.check_nonempty("look at")
    scale = scale_of(judgments, grades)
    people = None if human is None else People.of(read(human, "relevance"), judgments)
    errors = _label_errors(label_error, judgments, asked, scale)
    clustered_by, cluster, notes = experiment.clusters(clusters)
    notes += [*experiment.evaluator.notes(), *(people.notes if people else ())]
    rows: list[UncertaintyRow] = []
    of_proportions: set[bool] = set()
    for name, run_values in experiment.apply(partial(_EvaluatedRun.of, asked, judgments)):
        intervals = measure_intervals(asked, run_values.values.T, cluster, level)
        of_proportions.update(interval.of_proportion for interval in intervals if interval.value)
        labels = _label_intervals(run_values, errors, draws, seed, level)
        corrected = _ppi_estimates(run_values, people, level)
        rows += _rows(name, run_values, intervals, scale, labels, corrected)
        notes += notes_of(name, run_values.rankings, asked)
    n_clusters, agreement = int(cluster.max()) + 1, people.agreement if people else None
    if any(row.interval for row in rows):
        notes += coverage_notes(n_clusters, "cluster" if clustered_by else "query", level, "values")
    how = n_clusters, clustered_by, level, draws, seed, scale, errors, notes, experiment.origin, agreement
    kinds = every_label_is_relevant(asked, judgments), frozenset(of_proportions)
    return Uncertainty(rows, asked, judgments.n_queries, *how, *kinds)


def _check(level: float, label_error: Any, human: Any) -> None:
    """Raise InputError for an invalid level, and for two sources of label errors."""
    check_level(level)
    if human is not None and label_error is not None:
        raise InputError(
            "give human or label_error, not both: people's labels say how often labels are wrong"
        )


def _label_errors(
    label_error: Any, judgments: Judgments, measures: list[Measure], scale: Floats
) -> LabelErrors | None:
    """Build the label errors, if there are any; check that the measures accept each possible grade."""
    errors = None if label_error is None else LabelErrors.of(label_error, judgments, scale)
    for measure in measures:
        for grades in (scale, *([errors.levels] if errors else [])):
            check_scale(measure, grades)
    return errors


# --- the numbers of a run ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _EvaluatedRun:
    """The values of a run, shape (n_measures, n_queries), and their ranges over ties."""

    measures: list[Measure]
    rankings: JudgedRankings
    values: Floats
    ties: OverTies

    @classmethod
    def of(cls, measures: list[Measure], judgments: Judgments, run: Any) -> _EvaluatedRun:
        """Evaluate a run, a dict or a table."""
        rankings = JudgedRankings.of(judgments, run)
        values = evaluated(measures, rankings).values
        return cls(measures, rankings, values, over_ties(measures, judgments, run, values))


def _label_intervals(
    run: _EvaluatedRun, errors: LabelErrors | None, draws: int, seed: int, level: float
) -> list[MaybeLowHigh]:
    """Compute the middle range of the means on redrawn labels, the same draws for each run."""
    if errors is None:
        return [None] * len(run.measures)
    means = [
        evaluated(run.measures, relabelled(run.rankings, grade)).values.mean(axis=1)
        for grade in errors.draws(run.rankings.judgments, draws, seed)
    ]
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0).tolist()
    return [*zip(low, high, strict=True)]


def _ppi_estimates(run: _EvaluatedRun, people: People | None, level: float) -> Iterable[Corrected | None]:
    """Correct each mean by people's labels, if there are any."""
    if people is None:
        return [None] * len(run.measures)
    return people.ppi_estimates(people.evaluate_both(run.measures, run.rankings, run.values), level)


def _rows(
    name: str,
    run: _EvaluatedRun,
    intervals: list[Estimate],
    scale: Floats,
    labels: list[MaybeLowHigh],
    estimates: Iterable[Corrected | None],
) -> Iterator[UncertaintyRow]:
    """Yield a row for each measure."""
    for i, (measure, corrected) in enumerate(zip(run.measures, estimates, strict=True)):
        reasons = {"interval": intervals[i].reason} if intervals[i].reason else {}
        ties = run.ties
        exact, unjudged = {"ties": ties.exact[i]}, None
        expected = ties.expected[i]
        if spec_of(measure).about_labels:
            reasons["unjudged"] = "Judged says itself what is judged"
        else:
            low, high, exact["unjudged"] = over_gradings(measure, run.rankings, scale)
            unjudged = float(low.mean()), float(high.mean())
        yield UncertaintyRow(
            name,
            measure,
            float(run.values[i].mean()),
            intervals[i].value,
            (float(ties.minimum[i].mean()), float(ties.maximum[i].mean())),
            unjudged,
            labels[i],
            exact,
            mean_judged(judged_within(run.rankings, cutoff_of(measure))),
            reasons,
            corrected,
            None if expected is None else float(expected.mean()),
        )
