"""Plot the means of runs with their intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from ir_measures.measures import Measure

from permed_measures.datasets.loading import loaded_qrels, loaded_runs
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.groups import By, clusters_of
from permed_measures.engine.inputs import QrelsLike, RunLike
from permed_measures.errors import InputError
from permed_measures.intervals import FEW, Floats, Ints, measure_intervals, no_variance
from permed_measures.measures.headings import headings_of
from permed_measures.measures.parsing import MeasuresLike, measures_of
from permed_measures.named_runs import naming
from permed_measures.plots.panels import Point, draw_panel, explain, labelled, rows_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_means(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    measures: MeasuresLike,
    clusters: By | None = None,
    level: float = 0.95,
    rel: float | None = None,
    ax: Axes | Iterable[Axes] | None = None,
) -> list[Axes]:
    """Plot the mean of each run with its interval, the highest on top.

    Parameters
    ----------
    qrels : QrelsLike
        Judgments in any form. A data set of ir_datasets knows the conversation of each query.
    runs : mapping of str to RunLike
    measures : Measure or str, or an iterable of them, or a dict of name to measure
        Each has its own Axes; the runs are in the order of the first.
    clusters : str, mapping or callable, optional
        Which queries belong together, as in `compare`: by default the conversations of a data set that has
        them.
    level : float, between 0 and 1
        Of the intervals.
    rel : number, optional
        The lowest relevant grade, for each measure that takes one and does not name its own.
    ax : matplotlib Axes, or an iterable of them, optional
        Where to draw, one for each measure; a new Figure if left out, 3.3 inches wide for one measure and 7
        for more.

    Returns
    -------
    list of matplotlib Axes
        One for each measure, of one figure.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation, naming the run; if there are more or fewer Axes than measures, or matplotlib is
        missing.

    Notes
    -----
    The intervals are those of `uncertainty` for other topics, each of one run alone: that two of them overlap
    does not say that the runs do not differ. `plot_forest` has the differences.

    Examples
    --------
    >>> qrels = {f"q{i}": {"a": 1} for i in range(8)}
    >>> runs = {"half": {q: {"a": 1.0} for q in [*qrels][:4]}, "all": {q: {"a": 1.0} for q in qrels}}
    >>> [ax] = plot_means(qrels, runs, "RR")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['all', 'half']
    """
    if not isinstance(level, (int, float)) or not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1 (found {level!r})", hint="95 percent is 0.95")
    found, values = loaded_runs(runs), {}
    evaluator = PermedEvaluator(measures_of(measures, rel), loaded_qrels(qrels))
    query_ids = evaluator.judgments.query_ids
    if not query_ids or not evaluator.measures or not found:
        problem = "query" if not query_ids else "measure" if not evaluator.measures else "run"
        raise InputError(f"there is no {problem}")
    for name in found:
        with naming(name):
            values[name] = evaluator.evaluate(found[name]).values
    name, cluster, _ = clusters_of(query_ids, clusters, qrels)
    return draw_means(list(evaluator.measures), values, cluster, name, level, ax)


def draw_means(
    measures: Sequence[Measure],
    values: Mapping[str, Floats],
    cluster: Ints,
    clusters: str = "",
    level: float = 0.95,
    ax: Axes | Iterable[Axes] | None = None,
) -> list[Axes]:
    """Plot means; see `plot_means`.

    Parameters
    ----------
    measures : sequence of Measure
    values : mapping of str to ndarray, shape (n_measures, n_queries)
        Of each run.
    cluster : ndarray of int64, shape (n_queries,)
        The cluster of each query.
    clusters : str
        What the clusters are; empty without any.
    level, ax
        As in `plot_means`.
    """
    n_units, unit = int(cluster.max()) + 1, "cluster" if clusters else "query"
    points: dict[str, list[Point]] = {}
    for run, each in values.items():
        found = measure_intervals(measures, each.T, cluster, level)
        ends = [None if n_units < FEW else estimate.value for estimate in found]
        means = zip(each.mean(axis=1).tolist(), ends, strict=True)
        points[run] = [Point(run, "", mean, interval, "mean") for mean, interval in means]
    order = sorted(points, key=lambda run: -points[run][0].value)
    panels = [[points[run][number] for run in order] for number in range(len(measures))]
    axes = rows_axes(ax, panels)
    for each_ax, panel, heading in zip(axes, panels, headings_of(measures), strict=True):
        draw_panel(each_ax, panel, labelled(axes, ax, f"mean {heading}", order))
    explain(axes, ax, _about_bars(panels, n_units, unit, clusters, level))
    return axes


def _about_bars(panels: list[list[Point]], n_units: int, unit: str, clusters: str, level: float) -> list[str]:
    """Say what bars are, and why there are none."""
    bars = {point.interval is not None for point in chain(*panels)}
    whole = f", by {clusters}" if clusters else ""
    said = [f"bar: {100 * level:.10g}% CI of the mean{whole}"] * (True in bars)
    units = {"query": "queries", "cluster": "clusters"}[unit]
    why = f"fewer than {FEW} {units}" if n_units < FEW else no_variance(n_units, unit)
    return [*said, *[f"no {'bar' if said else 'CI'}: {why}"] * (False in bars)]
