"""How sure a number is, and the order of several runs: `uncertainty`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from permed_measures.budgets import orders
from permed_measures.budgets.gradings import Floats, Unjudged
from permed_measures.budgets.label_errors import LabelErrors, is_label_error, relabelled
from permed_measures.budgets.page import BUDGET_FORMATS
from permed_measures.budgets.reports import budget_records, budget_table, legend
from permed_measures.budgets.results import BudgetResult, BudgetRow, Order, Pair, Place
from permed_measures.budgets.unjudged import check_scale, joint_bounds, scale_of, unjudged_bounds
from permed_measures.datasets.loading import loaded_qrels, loaded_runs
from permed_measures.engine.evaluator import PermedEvaluator, evaluated
from permed_measures.engine.forms import as_run, is_spark_frame
from permed_measures.engine.groups import By
from permed_measures.engine.inputs import FileRun, QrelsLike, RunLike
from permed_measures.engine.judgments import Ints, Judgments
from permed_measures.engine.kernels.binary import judged
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import TieBreak
from permed_measures.errors import InputError, check_choice, check_whole_number
from permed_measures.files.provenance import Origin
from permed_measures.frames import Tabular
from permed_measures.markup import counted, one_line
from permed_measures.measures.headings import check_headings, headings_of
from permed_measures.measures.parameters import cutoff_of
from permed_measures.measures.parsing import MeasuresLike, measures_of
from permed_measures.pages.display import Shown
from permed_measures.statistics.differences import clusters_of, naming, notes_of
from permed_measures.statistics.intervals import mean_intervals
from permed_measures.statistics.resampling import resampled_means
from permed_measures.statistics.significance import Estimate
from permed_measures.terminal import aligned

_LABEL_DRAWS = 1000
"""Most draws of labels: each evaluates all runs again."""


class Uncertainty(BudgetResult, Tabular, Shown):
    """The error budget of numbers; ``print`` shows it as a table.

    ``to_polars`` and ``to_pandas`` give a row for each run and measure.
    """

    def to(self, form: str, digits: int | None = None) -> str:
        """Write it in a form for a paper, a browser or another program.

        Parameters
        ----------
        form : {'table', 'markdown', 'csv', 'json', 'html'}
        digits : int, optional
            Number of decimals. If left out, four in tables, and all in CSV; JSON always has all.

        Raises
        ------
        InputError
            For another form, or digits below 0; for ``html`` if Jinja2 or vl-convert is missing.
        """
        check_choice("form", form, BUDGET_FORMATS)
        if digits is not None:
            check_whole_number("digits", digits, 0)
        asked: dict[str, Any] = {} if digits is None else {"digits": digits}
        return BUDGET_FORMATS[form](replace(self, **asked))

    def __str__(self) -> str:
        """Return the table, and how it was computed."""
        headings, rows, n_labels = budget_table(self)
        table = aligned([headings, *rows], tuple(headings[:n_labels]))
        return "\n".join(map(one_line, [*table, "", *legend(self)]))

    def __repr__(self) -> str:
        """Name the runs and the measures."""
        return f"<Uncertainty of {', '.join(self.runs)}: {', '.join(headings_of(self.measures))}>"

    def _repr_html_(self) -> str:
        from permed_measures.markup import as_html, html_table

        lines = "".join(f"<li>{as_html(line)}</li>" for line in legend(self))
        return f"{html_table(*budget_table(self))}\n<ul>{lines}</ul>"

    def _records(self) -> list[dict[str, Any]]:
        return budget_records(self)


@dataclass(frozen=True, eq=False)
class _Numbers:
    """What the queries of a run score.

    Attributes
    ----------
    rankings : JudgedRankings
    values : ndarray, shape (n_measures, n_queries)
    ranges : dict of str to (ndarray, ndarray), each of shape (n_measures,)
        The means of the least and the most: ``ties``, ``unjudged``.
    exact : ndarray of bool, shape (n_measures,)
    judged : list of float
    """

    rankings: JudgedRankings
    values: Floats
    ranges: dict[str, tuple[Floats, Floats]]
    exact: list[bool]
    judged: list[float]


def uncertainty(
    qrels: QrelsLike,
    run: RunLike | Mapping[str, RunLike],
    measures: MeasuresLike,
    clusters: By | None = None,
    label_error: float | QrelsLike | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    grades: Iterable[float] | None = None,
    level: float = 0.95,
    rel: float | None = None,
) -> Uncertainty:
    r"""Say how sure a number is: the topics, ties, unjudged documents and wrong labels it depends on.

    Parameters
    ----------
    qrels : QrelsLike
        Judgments in any form. A data set of ir_datasets knows the conversation of each query.
    run : RunLike, or mapping of str to RunLike
        A run in any form, or several by name.
    measures : Measure or str, or an iterable of them, or a dict of name to measure
    clusters : str, mapping or callable, optional
        Which queries belong together, as in `compare`: by default the conversations of a data set that has
        them.
    label_error : float or QrelsLike, optional
        The probability that a label is wrong: the document then has a neighbouring grade. Or other qrels,
        such as a person's labels of a part: rates come from the documents that both judge.
    resamples : int, at least 1
        Number of resamples of topics, for the order of runs; labels are drawn as often, but 1,000 times at
        most.
    seed : int, at least 0
        Seed of numpy.random.default_rng.
    grades : iterable of number, optional
        The grades that an unjudged document may have; the whole numbers from 0 to the highest if left out.
    level : float, between 0 and 1
        Level of the intervals of `interval` and `labels`.
    rel : number, optional
        The lowest relevant grade, for each measure that takes one and does not name its own.

    Returns
    -------
    Uncertainty
        A row for each run and measure, with ``value`` and four pairs (low, high); with several runs also the
        ``order``: pairs, places and Kendall's tau.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation, naming the run; also for a label_error or grades that cannot be.

    Warns
    -----
    PermedWarning
        As for an evaluation, naming the run.

    Notes
    -----
    ``interval``: other topics, by queries or by whole clusters (see `intervals`); it is not cut at 0 or 1.
    How often pairs keep their order, and the places, come from a bootstrap of the same units.

    ``ties``: the least and the most over the orders of equal scores, relevant documents last or first.

    ``unjudged``: the least and the most over all assignments of `grades` to the unjudged documents within the
    cutoff (without one, all that were retrieved). What becomes relevant counts in R and the ideal list too.
    Of RBP its length is the residual, :math:`(1-p) \sum_{i \text{ unjudged}} p^{i-1}`. Nothing is said of how
    likely any of it is.

    ``labels``: the labels are drawn anew, each document by itself, by the rates, which are taken as those of
    the true grade given the label. It is the interval of the values on these labels, and need not hold the
    value itself: errors lower a ranking that is nearly ideal more often than they raise it.

    References
    ----------
    Moffat & Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 27(1), 2008 (the
    residual); Sakai, Alternatives to Bpref, SIGIR 2007 (condensed lists); Dinkelbach, On Nonlinear Fractional
    Programming, Management Science 13, 1967; Cohen 1960 (kappa); Kendall 1938 (tau).

    Examples
    --------
    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1, "c": 1}}
    >>> run = {"q1": {"x": 2.0, "a": 1.0}, "q2": {"b": 1.0, "y": 1.0}}
    >>> [row] = uncertainty(qrels, run, "AP@2").rows
    >>> row.value, row.ties, row.unjudged
    (0.375, (0.375, 0.5), (0.375, 0.8333333333333333))
    """
    check_whole_number("resamples", resamples, 1)
    check_whole_number("seed", seed, 0)
    if not isinstance(level, (int, float)) or not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1 (found {level!r})", hint="95 percent is 0.95")
    runs: Mapping[str, Any] = run if _are_several(run) else {_name_of(run): run}  # type: ignore[assignment]
    origin, qrels, runs = Origin.of(qrels, runs), loaded_qrels(qrels), loaded_runs(runs)
    evaluator = PermedEvaluator(measures_of(measures, rel), qrels)
    judgments, asked = evaluator.judgments, list(evaluator.measures)
    check_headings(["run", "measure"], asked)
    if not judgments.n_queries or not asked or not len(runs):
        raise InputError(
            f"there is no {'query' if not judgments.n_queries else 'measure' if not asked else 'run'}"
        )
    scale = scale_of(judgments, grades)
    errors = LabelErrors.of(_loaded(label_error), judgments, scale) if is_label_error(label_error) else None
    for measure in asked:
        for each in (scale, *([errors.levels] if errors else [])):
            check_scale(measure, each)
    name, cluster, notes = clusters_of(judgments.query_ids, clusters, qrels)
    notes += [*evaluator.notes(), *(errors.notes if errors else []), *_few(cluster, level)]
    numbers = {}
    for run_name in runs:
        with naming(run_name):
            numbers[run_name] = _numbers(asked, judgments, runs[run_name], scale)
        notes += notes_of(run_name, numbers[run_name].rankings)
    draws = {"interval": _topics(numbers, cluster, resamples, seed)}
    n_draws = min(resamples, _LABEL_DRAWS)
    if errors:
        draws["labels"] = _labels(numbers, asked, errors, n_draws, seed)
    return Uncertainty(
        list(_rows(asked, numbers, cluster, draws, level)),
        asked,
        _order(asked, numbers, draws, level, scale) if len(numbers) > 1 else None,
        judgments.n_queries,
        int(cluster.max()) + 1,
        name,
        level,
        resamples,
        n_draws,
        seed,
        scale,
        errors,
        notes,
        origin,
    )


_FEW = 20
"""Of fewer units an interval of skewed values may be too short."""


def _few(cluster: Ints, level: float) -> list[str]:
    """Note that there are few independent units."""
    n_units = int(cluster.max()) + 1
    if not 1 < n_units < _FEW:
        return []
    units = counted(n_units, "query" if n_units == len(cluster) else "cluster")
    return [f"interval: with {units} it holds less often than {100 * level:.10g}% where values are skewed"]


def _are_several(run: Any) -> bool:
    """Return whether these are runs by name: then what a name stands for is no dict of scores."""
    if not isinstance(run, Mapping) or isinstance(run, FileRun):
        return False
    first = next(iter(run.values()), None) if isinstance(run, dict) else None
    if isinstance(first, Mapping):
        return isinstance(next(iter(first.values()), None), Mapping)
    return not isinstance(run, dict) or first is not None


def _name_of(run: Any) -> str:
    return Path(run).name if isinstance(run, (str, os.PathLike)) else "run"


def _loaded(label_error: Any) -> Any:
    return label_error if isinstance(label_error, (int, float)) else loaded_qrels(label_error)


# --- the numbers of a run ------------------------------------------------------------------------------


def _numbers(measures: list[Measure], judgments: Judgments, run: Any, scale: Floats) -> _Numbers:
    table = run if is_spark_frame(run) else as_run(run)
    rankings = JudgedRankings.of(judgments, table)
    values = evaluated(measures, rankings).values
    means, n = values.mean(axis=1), values.shape[1]
    least, most = means, means
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of this run they were given
        for ties in (TieBreak.PESSIMISTIC, TieBreak.OPTIMISTIC):
            other = evaluated(measures, JudgedRankings.of(judgments, table, ties)).values.mean(axis=1)
            least, most = np.minimum(least, other), np.maximum(most, other)
    bounds = [unjudged_bounds(measure, rankings, scale) for measure in measures]
    unjudged = np.array([(each.low.sum() / n, each.high.sum() / n) for each in bounds]).T
    shares = [float(judged(rankings, cutoff=cutoff_of(measure)).mean()) for measure in measures]
    ranges = {"ties": (least, most), "unjudged": (unjudged[0], unjudged[1])}
    return _Numbers(rankings, values, ranges, [bool(each.exact.all()) for each in bounds], shares)


def _topics(numbers: Mapping[str, _Numbers], cluster: Ints, resamples: int, seed: int) -> Floats:
    """Return the means on resampled topics; shape (resamples, n_runs, n_measures)."""
    values = np.stack([each.values for each in numbers.values()])
    drawn = resampled_means(values.reshape(-1, values.shape[2]).T, cluster, resamples, seed)
    return drawn.reshape(resamples, *values.shape[:2])


def _labels(
    numbers: Mapping[str, _Numbers], measures: list[Measure], errors: LabelErrors, n_draws: int, seed: int
) -> Floats:
    """Return the means on redrawn labels, which all runs share; shape (n_draws, n_runs, n_measures)."""
    rankings = [each.rankings for each in numbers.values()]
    return np.array(
        [
            [evaluated(measures, relabelled(each, grade)).values.mean(axis=1) for each in rankings]
            for grade in errors.draws(rankings[0].judgments, n_draws, seed)
        ]
    )


def _rows(
    measures: list[Measure],
    numbers: Mapping[str, _Numbers],
    cluster: Ints,
    draws: Mapping[str, Floats],
    level: float,
) -> Iterable[BudgetRow]:
    for place, (name, each) in enumerate(numbers.items()):
        intervals = _intervals(each.values, cluster, level)
        for number, measure in enumerate(measures):
            reasons = {"interval": intervals[number].reason} if intervals[number].reason else {}
            ties, unjudged = (_pair(*each.ranges[source], number) for source in ("ties", "unjudged"))
            if unjudged is None:
                reasons["unjudged"] = "Judged says itself what is judged"
            labels = None
            if "labels" in draws:
                ends = np.quantile(draws["labels"][:, place, number], [(1 - level) / 2, (1 + level) / 2])
                labels = (float(ends[0]), float(ends[1]))
            value, found = (
                float(each.values[number].mean()),
                (intervals[number].value, ties, unjudged, labels),
            )
            yield BudgetRow(name, measure, value, *found, each.exact[number], each.judged[number], reasons)


def _intervals(values: Floats, cluster: Ints, level: float) -> list[Estimate]:
    try:
        return mean_intervals(values.T, cluster, level)
    except ImportError:
        return [Estimate(None, "an interval needs scipy")] * len(values)


def _pair(low: Floats, high: Floats, number: int) -> tuple[float, float] | None:
    ends = float(low[number]), float(high[number])
    return None if np.isnan(ends).any() else ends


# --- the order of runs ---------------------------------------------------------------------------------


def _order(
    measures: list[Measure],
    numbers: Mapping[str, _Numbers],
    draws: Mapping[str, Floats],
    level: float,
    scale: Floats,
) -> Order:
    """Say how sure the order of the runs is, measure by measure."""
    names, pairs, places, taus = list(numbers), [], [], {}
    for number, measure in enumerate(measures):
        values = np.array([each.values[number].mean() for each in numbers.values()])
        compared = orders.pairs_of(values)
        kept: dict[str, Sequence[float | None]] = {}
        ranks, tau = {}, {}
        for source, drawn in draws.items():
            kept[source] = orders.kept_by_draws(drawn[:, :, number], compared)
            ranks[source] = orders.ranks_by_draws(drawn[:, :, number], level)
            tau[source] = orders.tau_of_draws(values, drawn[:, :, number])
        ties = np.array([[end[number] for end in each.ranges["ties"]] for each in numbers.values()])
        unjudged = _joint([each.rankings for each in numbers.values()], measure, scale)
        for source, (low, high) in (("ties", ties.T), ("unjudged", unjudged.T)):
            kept[source] = orders.kept_by_ranges(low, high, compared)
            ranks[source] = orders.ranks_by_ranges(low, high)
            tau[source] = orders.least_tau(values, kept[source])
        taus[measure] = tau
        for index, (a, b) in enumerate(compared):
            shares = {source: each[index] for source, each in kept.items()}
            pairs.append(Pair(measure, names[a], names[b], float(values[a] - values[b]), shares))
        for index, place in enumerate(orders.places(values).tolist()):
            places.append(Place(measure, names[index], place, {s: each[index] for s, each in ranks.items()}))
    return Order(pairs, places, taus)


def _joint(rankings: list[JudgedRankings], measure: Measure, scale: Floats) -> Floats:
    """Return bounds of the means where what any other run retrieved may be relevant too: (n_runs, 2)."""
    number = np.array([Unjudged.numbers(each, cutoff_of(measure)) for each in rankings])
    found = []
    for place, ranked in enumerate(rankings):
        others = np.delete(number, place, axis=0).max(axis=0)
        bounds = joint_bounds(measure, ranked, others, scale)
        found.append((bounds.low.mean(), bounds.high.mean()))
    return np.array(found)
