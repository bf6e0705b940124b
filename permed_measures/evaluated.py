"""Evaluate runs in Python: `evaluate` and its result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from permed_measures.arrays import Ints
from permed_measures.engine.groups import By
from permed_measures.errors import InputError
from permed_measures.experiment import Experiment, check_nonempty
from permed_measures.inputs.columns import QrelsLike, RunLike
from permed_measures.intervals import check_level
from permed_measures.measures.parsing import MeasuresLike, measures_of
from permed_measures.plots.panels import draw_means
from permed_measures.records.record import Record, make_record
from permed_measures.results.evaluation_report import evaluation_report
from permed_measures.results.evaluations import Evaluations, with_judged
from permed_measures.results.report import DescribedResult, Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Evaluated(Evaluations, DescribedResult):
    """Evaluations of runs; ``print`` shows the output of the command.

    ``to_polars`` and ``to_pandas`` give a row for each run, or for each query or group of a run if requested,
    with a column for each measure.

    Attributes
    ----------
    clusters : (str, ndarray)
        The name of the data set's conversations (empty without any), and the conversation of each query.
    """

    clusters: tuple[str, Ints] | None = field(default=None, repr=False)

    def report(self, digits: int | None = None, in_percent: bool = False) -> Report:
        """Build the report: the means, or the values of each query, and the highest runs.

        `digits` is the number of decimals; if left out four, or two in percent.
        """
        return evaluation_report(self, digits, in_percent)

    def by_query(self) -> Evaluated:
        """Give the values of each query instead of the means; nothing is computed again.

        Returns
        -------
        Evaluated
            ``print``, ``to``, ``to_polars`` and ``to_pandas`` have a row for each run and query.

        Examples
        --------
        >>> result = evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, {"one": {"q1": {"a": 1.0}}}, "RR")
        >>> result.by_query().to_polars().select("run", "query_id", "RR").rows()
        [('one', 'q1', 1.0), ('one', 'q2', 0.0)]
        """
        return replace(self, of_queries=True, groups=None, macro=False)

    def plot(self, level: float = 0.95, ax: Axes | Iterable[Axes] | None = None) -> list[Axes]:
        """Plot the mean of each run with its interval, the highest on top, as `plot_means` does.

        Parameters
        ----------
        level : float, between 0 and 1
            Level of the intervals, which are by conversations if the data set has them.
        ax : matplotlib Axes, or an iterable of them, optional
            The Axes to draw on, one for each measure; a new Figure if left out.

        Returns
        -------
        list of matplotlib Axes
            One for each measure; `save_plot` writes their figure.

        Raises
        ------
        InputError
            For values by query or by group; if there are more or fewer Axes than measures, or matplotlib is
            missing.

        Examples
        --------
        >>> qrels = {f"q{i}": {"a": 1} for i in range(8)}
        >>> runs = {"half": {q: {"a": 1.0} for q in [*qrels][:4]}, "all": {q: {"a": 1.0} for q in qrels}}
        >>> [ax] = evaluate(qrels, runs, "RR").plot()
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['all', 'half']
        """
        if self.of_queries or self.groups:
            raise InputError("a plot has the means over all queries", hint="Leave out by_query and by")
        check_level(level)
        judgments = next(iter(self.evaluations.values())).rankings.judgments
        check_nonempty(judgments, self.measures, "plot", self.evaluations)
        n = len(self.measures)  # Judged comes after the requested measures
        values = {run: evaluation.values[:n] for run, evaluation in self.evaluations.items()}
        name, cluster = self.clusters or ("", np.arange(judgments.n_queries))
        return draw_means(self.measures, values, cluster, name, level, ax)

    def record(self, *, created: bool = True) -> Record:
        """Make the record of this evaluation, with the values of all queries, like `pm.record`.

        Parameters
        ----------
        created : bool
            Whether the record holds its date. Without the date, the same inputs give the same bytes.

        Returns
        -------
        Record
            ``write(path)`` writes it as JSON; `verify` computes the values again.

        Raises
        ------
        InputError
            If the qrels have no query.

        Examples
        --------
        >>> record = evaluate({"q": {"a": 1}}, {"mine": {"q": {"b": 2.0, "a": 1.0}}}, "RR").record()
        >>> record["runs"]["mine"]["means"]
        {'RR': 0.5}
        """
        return make_record(self, "score", None, created)


def evaluate(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    measures: MeasuresLike,
    *,
    by_query: bool = False,
    by: By | None = None,
    macro: bool = False,
    rel: float | None = None,
) -> Evaluated:
    """Evaluate runs by the same measures, like the command of this name.

    Parameters
    ----------
    qrels : QrelsLike
        Judgments in any form. A data set of ir_datasets knows the fields of its queries.
    runs : mapping of str to RunLike
        At least one run, by name.
    measures : Measure or str, or an iterable of them, or a dict of name to measure
    by_query : bool
        Whether to give the values of each query instead of the means.
    by : str, mapping or callable, optional
        Compute the mean of each group of queries. The groups come from a field of the data set's queries, a
        regular expression for their ids, or a mapping or function of the query id.
    macro : bool
        Compute the mean of the groups' means instead.
    rel : number, optional
        The lowest relevant grade, for each measure that takes one and does not name its own.

    Returns
    -------
    Evaluated
        ``evaluations[name]`` has the values of each query; ``print``, ``to``, ``to_polars`` and ``to_pandas``
        give tables, with Judged@k if a run has unjudged documents; ``by_query`` gives the values of each
        query; ``plot`` draws the means; ``methods`` describes them for a paper; ``record`` keeps the values
        with everything they depend on.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation, with the name of the run; for `macro` without `by`, and `by` with `by_query`.

    Examples
    --------
    >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1, "b": 1}}
    >>> runs = {"one": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}}}
    >>> result = evaluate(qrels, runs, ["P@1", "RR"])
    >>> result.to_polars().select("run", "P@1", "RR").rows()
    [('one', 0.5, 0.5)]
    """
    if macro and by is None:
        raise InputError("macro needs by", hint="Name the groups, such as by='conversation_id'")
    if by_query and by is not None:
        raise InputError("by and by_query exclude each other", hint="Leave out one of them")
    asked = measures_of(measures, rel)
    experiment = Experiment.of(qrels, runs, with_judged(asked))
    groups = experiment.groups(by)
    evaluations, notes = experiment.evaluate_all()
    name, cluster, _ = experiment.clusters()
    view, origin = (by_query, groups, macro), experiment.origin
    return Evaluated(asked, evaluations, *view, origin=origin, notes=notes, clusters=(name, cluster))
