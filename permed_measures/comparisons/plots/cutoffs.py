"""Plot a measure by its cutoff."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from ir_measures.measures import Measure

from permed_measures.comparisons.plots.style import (
    AS_WRITTEN,
    add_legend,
    axes_for,
    label_numbers,
    styles_of,
    wrapped,
)
from permed_measures.comparisons.results import ComparisonResult
from permed_measures.datasets.loading import loaded_qrels, loaded_runs
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.inputs import QrelsLike, RunLike
from permed_measures.errors import InputError
from permed_measures.measures.headings import heading
from permed_measures.measures.parsing import MeasureLike, parse_measure
from permed_measures.named_runs import naming

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_cutoffs(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    measure: MeasureLike = "nDCG",
    cutoffs: Iterable[int] = (1, 3, 5, 10, 20, 50, 100),
    ax: Axes | None = None,
) -> Axes:
    """Plot a measure by its cutoff, a line for each run.

    Parameters
    ----------
    qrels : QrelsLike
        Judgments in any form.
    runs : mapping of str to RunLike
        Runs by name. Each is evaluated once, at all cutoffs.
    measure : Measure or str, default 'nDCG'
        Without a cutoff.
    cutoffs : iterable of int, at least 1
    ax : matplotlib Axes, optional
        Where to draw; a new Figure if left out.

    Returns
    -------
    matplotlib Axes
        The means over all queries of the qrels, on a logarithmic axis of cutoffs.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation, naming the run; also if the measure has a cutoff already or takes none, there is
        no run, no cutoff or no query, or matplotlib is missing.

    Warns
    -----
    PermedWarning
        As for an evaluation, naming the run.

    Notes
    -----
    A run with fewer documents than a cutoff is flat, or falls, from there on: it is not told apart from one
    that found nothing more.

    Examples
    --------
    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> ax = plot_cutoffs(qrels, {"mine": {"q": {"a": 3.0, "c": 2.0, "b": 1.0}}}, "R", cutoffs=(1, 3))
    >>> ax.lines[0].get_xydata().tolist()
    [[1.0, 0.5], [3.0, 1.0]]
    """
    if isinstance(qrels, ComparisonResult):
        raise InputError(
            "the first argument must be qrels (found a comparison)",
            hint="A comparison keeps values at its own cutoffs only: plot_cutoffs(qrels, runs, measure)",
        )
    base, at = _cutoff_measures(measure, cutoffs)
    if not isinstance(runs, Mapping) or not runs or not all(isinstance(name, str) for name in runs):
        raise InputError(
            f"runs must be a dict {{name: run}}, not empty (found {type(runs).__name__} {str(runs)[:70]!r})"
        )
    runs = loaded_runs(runs)
    evaluator = PermedEvaluator(list(at.values()), loaded_qrels(qrels))
    if not evaluator.judgments.query_ids:
        raise InputError("the qrels have no query")
    means = {}
    for name, run in runs.items():
        with naming(name):
            means[name] = evaluator.evaluate(run).values.mean(axis=1)
    ax = axes_for(ax)
    styles, x = styles_of(runs), list(at)
    handles = {name: ax.plot(x, y, label=name, **styles[name])[0] for name, y in means.items()}
    ax.set_xscale("log")
    ax.minorticks_off()
    ax.set_xlabel("cutoff k (logarithmic)")
    ax.set_ylabel(wrapped(f"mean {heading(base)}@k"), **AS_WRITTEN)
    add_legend(ax, handles)
    label_numbers(ax, x, [f"{cutoff:,}" for cutoff in x], np.log(x))
    return ax


def _cutoff_measures(measure: Measure | str, cutoffs: Iterable[int]) -> tuple[Measure, dict[int, Measure]]:
    """Return the measure without a cutoff, and at each cutoff, ascending."""
    base = parse_measure(measure)
    if "cutoff" in base.params:
        raise InputError(
            f"measure must have no cutoff, since cutoffs={tuple(cutoffs)} are drawn (found {base})"
        )
    if "cutoff" not in base.SUPPORTED_PARAMS:
        raise InputError(f"measure must take a cutoff (found {base}, which takes none)")
    given = list(cutoffs)
    if not given or not all(isinstance(k, Integral) and not isinstance(k, bool) and k > 0 for k in given):
        raise InputError(f"cutoffs must be whole numbers of at least 1 (found {given})")
    return base, {cutoff: base @ cutoff for cutoff in sorted({int(cutoff) for cutoff in given})}
