"""Plots of runs: by group, query by query, as a distribution, by cutoff.

Every plot is drawn on the Axes it is given, or on a new Figure: one of pyplot's where the user has imported
that, so that a notebook shows it, otherwise one that nothing else knows. Runs differ by colour, lightness,
line style and marker, so that a grey print reads as well. matplotlib is loaded when the first plot is drawn.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.comparisons.differences import naming
from permed_measures.comparisons.resampling import bootstrap_intervals
from permed_measures.comparisons.results import ComparisonResult
from permed_measures.comparisons.significance import Floats, zero_rounding_noise
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.groups import By, Groups
from permed_measures.errors import InputError, PermedWarning, nearest
from permed_measures.markup import plural
from permed_measures.measures.parsing import parse_measure
from permed_measures.plots.fonts import Lettering, on_one_line, shortened, width_of
from permed_measures.plots.style import (
    GAIN,
    LOSS,
    Estimates,
    add_legend,
    axes_for,
    draw_lines,
    draw_points,
    label_categories,
    label_numbers,
    set_title,
    styles_of,
    unshown,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "figures",
    "plot_by_group",
    "plot_cutoffs",
    "plot_differences",
    "plot_distribution",
]

# --- what a comparison shows ---------------------------------------------------------------------------


def plot_by_group(
    comparison: ComparisonResult,
    by: By | None = None,
    qrels: Any = None,
    measure: Measure | str | None = None,
    ax: Axes | None = None,
    *,
    runs: Iterable[str] | None = None,
    intervals: bool | None = None,
) -> Axes:
    """Plot the mean of each group of queries, such as each turn, by run.

    Parameters
    ----------
    comparison : Comparison
    by : str, mapping or callable
        What the groups are, as in `evaluate_by`: a field of the data set's queries (``turn_number``), a
        pattern with one group that is searched for in the query ids (``'_([0-9]+)$'``),
        ``{query_id: group}``, or a function of the query id. If left out, the groups of the comparison.
    qrels : data set of ir_datasets, optional
        Only for a field of its queries.
    measure : Measure or str, optional
        One of the comparison's; the first if left out.
    ax : matplotlib Axes, optional
        Where to draw; a new Figure if left out.
    runs : iterable of str, optional
        Which runs to draw; all if left out. A run looks the same in every plot of a comparison.
    intervals : bool, optional
        Whether to draw the intervals. If left out, bands of more than six runs, which would hide each other,
        are not drawn.

    Returns
    -------
    matplotlib Axes
        Where every group is a number, a line for each run over a band; otherwise a point for each run and
        group, side by side, with a bar. The number of queries stands below each group.

    Raises
    ------
    InputError
        If the comparison does not have the measure or a run, no query is in a group, the queries cannot be
        grouped by `by`, or matplotlib is missing.

    Warns
    -----
    PermedWarning
        If a group has no judged query, a judged query is in no group, or no installed font has a character.

    Notes
    -----
    The intervals are percentile bootstrap intervals of the mean, computed in each group by itself from whole
    clusters, with the resamples, seed and level of the comparison. They are of each run alone: that two of
    them overlap does not say that the paired difference of the runs may be 0. A group with a single cluster
    has none; those of fewer than ten clusters are too short.

    Examples
    --------
    >>> from permed_measures.comparisons.compare import compare
    >>> qrels = {"a_1": {"d": 1}, "a_2": {"d": 1}, "b_1": {"d": 1}, "b_2": {"d": 1}}
    >>> new = {query: {"d": 1.0} for query in qrels}
    >>> old = {**new, "a_2": {"d": 1.0, "e": 2.0}}
    >>> compared = compare(qrels, {"old": old, "new": new}, "RR", baseline="old", tests="bootstrap")
    >>> ax = plot_by_group(compared, "_([0-9]+)$")
    >>> ax.lines[0].get_xydata().tolist()
    [[1.0, 1.0], [2.0, 0.75]]
    """
    paired, index = comparison.paired, _row(comparison, measure)
    names = _runs(comparison, runs)
    groups = _groups(comparison, by, qrels)
    values = {name: paired.values[name][index] for name in names}
    numbers = _numbers(groups.values)
    labels = [f"{x:.10g}" for x in numbers] or [on_one_line(str(value)) for value in groups.values]
    shown = not numbers or len(names) <= _MOST_BANDS if intervals is None else intervals
    estimates = _group_estimates(comparison, groups, values, shown)
    note = _interval_note(comparison, bool(numbers), estimates) if shown else _NO_BANDS * (intervals is None)
    lettering = Lettering.of([*names, *labels, note, about := _about(groups)])
    ax, own = axes_for(ax)
    styles = styles_of(paired.values)
    drawn = draw_lines if numbers else draw_points
    handles = drawn(ax, numbers or list(range(len(labels))), estimates, styles)
    if numbers:
        label_numbers(ax, numbers, [f"{x}\nn={n:,}" for x, n in zip(labels, groups.sizes, strict=True)])
    else:
        label_categories(ax, lettering, labels, groups.sizes, len(names), own)
    ax.set_xlabel(lettering.shown(f"{about} (n: queries)"), **lettering.style)
    ax.set_ylabel(wrapped(f"mean {paired.measures[index]}"), **lettering.style)
    set_title(ax, lettering, note)
    add_legend(ax, handles, lettering, own)
    return ax


def plot_differences(
    comparison: ComparisonResult,
    measure: Measure | str | None = None,
    run: str | None = None,
    against: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the difference between two runs on each query, sorted from the greatest gain to the greatest loss.

    Parameters
    ----------
    comparison : Comparison
    measure : Measure or str, optional
        One of the comparison's; the first if left out.
    run : str, optional
        If left out, the first run that the comparison compares with `against`.
    against : str, optional
        If left out, the baseline; without a baseline the first run, or the second for the first.
    ax : matplotlib Axes, optional
        Where to draw; a new Figure if left out.

    Returns
    -------
    matplotlib Axes
        A step for each query; the title counts wins, ties and losses, and the dashed line is the mean.

    Raises
    ------
    InputError
        If the comparison does not have the measure or a run, the two runs are the same, or matplotlib is
        missing.

    Warns
    -----
    PermedWarning
        If no installed font has a character of a name.

    Notes
    -----
    Values that differ by no more than 1e-12 are equal, as in `compare`. The area is the mean difference times
    the number of queries.

    Examples
    --------
    >>> from permed_measures.comparisons.compare import compare
    >>> qrels = {f"q{i}": {"a": 1} for i in range(3)}
    >>> runs = {"old": {"q0": {"a": 1.0}}, "new": {"q1": {"a": 1.0}, "q2": {"b": 2.0, "a": 1.0}}}
    >>> ax = plot_differences(compare(qrels, runs, "RR", baseline="old", tests="bootstrap"))
    >>> print(ax.get_title(loc="left"))
    new minus old
    2 wins, 0 ties, 1 loss; mean +0.1667 (dashed)
    """
    paired, index = comparison.paired, _row(comparison, measure)
    run, against = _pair(comparison, run, against)
    differences = zero_rounding_noise(paired.values[run][index] - paired.values[against][index])
    descending = np.sort(differences)[::-1]
    n, mean = len(descending), float(differences.mean())
    lettering = Lettering.of([run, against])
    ax, _ = axes_for(ax)
    edges = np.arange(n + 1)
    for part, colour in ((np.maximum(descending, 0.0), GAIN), (np.minimum(descending, 0.0), LOSS)):
        ax.stairs(part, edges, fill=True, facecolor=colour, edgecolor=colour, linewidth=0.3)
    ax.axhline(0.0, color="black", linewidth=0.8)
    ax.axhline(mean, color="black", linewidth=1.2, linestyle=(0, (5, 2)))
    ax.set_xlim(0, n)
    ax.set_xlabel(f"queries, by difference (n={n:,})", **lettering.style)
    ax.set_ylabel(wrapped(f"difference in {paired.measures[index]}"), **lettering.style)
    names = lettering.name(run), lettering.name(against)
    between = " " if width_of("".join(names)) < 45 else "\n"
    counts = f"{_outcomes(differences)}; mean {mean + 0.0:+.4f} (dashed)"
    set_title(ax, lettering, f"{names[0]}{between}minus {names[1]}\n{counts}")
    return ax


def plot_distribution(
    comparison: ComparisonResult,
    measure: Measure | str | None = None,
    ax: Axes | None = None,
    *,
    runs: Iterable[str] | None = None,
) -> Axes:
    """Plot, for each value of the measure, the share of queries that reach it, by run.

    Parameters
    ----------
    comparison : Comparison
    measure : Measure or str, optional
        One of the comparison's; the first if left out.
    ax : matplotlib Axes, optional
        Where to draw; a new Figure if left out.
    runs : iterable of str, optional
        Which runs to draw; all if left out. A run looks the same in every plot of a comparison.

    Returns
    -------
    matplotlib Axes
        A line for each run, in steps: at x, the percentage of queries with a value of at least x.

    Raises
    ------
    InputError
        If the comparison does not have the measure or a run, or matplotlib is missing.

    Warns
    -----
    PermedWarning
        If no installed font has a character of a name.

    Notes
    -----
    This is one minus the empirical distribution function. Nothing is binned or smoothed: the queries that
    score 0 are the drop at 0, those that score 1 the height that is left at 1 (both stand in the legend), and
    a higher line is a better run. For a measure between 0 and 1 the area under a line is the mean.

    Examples
    --------
    >>> from permed_measures.comparisons.compare import compare
    >>> qrels = {f"q{i}": {"a": 1} for i in range(4)}
    >>> runs = {"old": {"q0": {"a": 1.0}}, "new": {"q1": {"a": 1.0}, "q2": {"b": 2.0, "a": 1.0}}}
    >>> ax = plot_distribution(compare(qrels, runs, "RR", baseline="old", tests="bootstrap"))
    >>> ax.lines[1].get_xydata().tolist()  # at least 0: 100 %; at least 0.5: 50 %; at least 1: 25 %
    [[0.0, 100.0], [0.5, 50.0], [1.0, 25.0]]
    """
    paired, index = comparison.paired, _row(comparison, measure)
    names = _runs(comparison, runs)
    values = {name: paired.values[name][index] for name in names}
    every = np.concatenate([*values.values()])
    low, high = min(0.0, float(every.min())), max(1.0, float(every.max()))
    lettering = Lettering.of(names)
    ax, own = axes_for(ax)
    styles = styles_of(paired.values)
    handles = {}
    for place, (name, scores) in enumerate(values.items()):
        x, y = _reaching(scores, low, high)
        marks = _marks(x, (place + 0.5) / len(values))
        drawn = ax.plot(x, y, drawstyle="steps-pre", markevery=marks, label=name, **styles[name])
        handles[name] = drawn[0]
    margin = 0.03 * (high - low)
    ax.set_xlim(low - margin, high + margin)
    ax.set_ylim(-2, 102)
    ax.set_xlabel(wrapped(f"{paired.measures[index]} of a query"), **lettering.style)
    ax.set_ylabel("queries with at least this value (%)", **lettering.style)
    notes, heading = _at_ends(values, low, high)
    add_legend(ax, handles, lettering, own, notes=notes, heading=heading)
    return ax


def plot_cutoffs(
    qrels: Any,
    runs: Mapping[str, Any],
    measure: Measure | str = "nDCG",
    cutoffs: Iterable[int] = (1, 3, 5, 10, 20, 50, 100),
    ax: Axes | None = None,
) -> Axes:
    """Plot a measure by its cutoff, a line for each run.

    Parameters
    ----------
    qrels : any form of qrels
    runs : mapping of str to any form of a run
        By name. Each is evaluated once, at all cutoffs.
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
        As for an evaluation, naming the run; also if no installed font has a character of a name.

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
    base, at = _cutoff_measures(measure, cutoffs)
    if not isinstance(runs, Mapping) or not runs or not all(isinstance(name, str) for name in runs):
        raise InputError(
            f"runs must be a dict {{name: run}} (found {type(runs).__name__} {str(runs)[:70]!r})"
        )
    evaluator = PermedEvaluator(list(at.values()), qrels)
    if not evaluator.judgments.query_ids:
        raise InputError("there must be a query in the qrels (found none)")
    means = {}
    for name, run in runs.items():
        with naming(name):
            means[name] = evaluator.evaluate(run).values.mean(axis=1)
    lettering = Lettering.of(runs)
    ax, own = axes_for(ax)
    styles, x = styles_of(runs), list(at)
    handles = {name: ax.plot(x, y, label=name, **styles[name])[0] for name, y in means.items()}
    ax.set_xscale("log")
    ax.minorticks_off()
    label_numbers(ax, x, [f"{cutoff:,}" for cutoff in x], np.log(x))
    ax.set_xlabel("cutoff k (logarithmic)", **lettering.style)
    ax.set_ylabel(wrapped(f"mean {base}@k"), **lettering.style)
    add_legend(ax, handles, lettering, own)
    return ax


def figures(comparison: ComparisonResult) -> Iterator[tuple[str, Axes]]:
    """Yield the plots of a comparison for a page, each with a title.

    Parameters
    ----------
    comparison : Comparison

    Yields
    ------
    (str, matplotlib Axes)
        For each measure, the means by group if the comparison has groups, and the distribution; for the first
        measure also the differences of each pair, of six pairs at most.

    Raises
    ------
    InputError
        If matplotlib is missing.

    Examples
    --------
    >>> from permed_measures.comparisons.compare import compare
    >>> qrels = {"a_1": {"d": 1}, "a_2": {"d": 1}}
    >>> runs = {"old": {"a_1": {"d": 1.0}}, "new": {query: {"d": 1.0} for query in qrels}}
    >>> for title, ax in figures(compare(qrels, runs, "RR", "old", tests="bootstrap", by="_([0-9]+)$")):
    ...     print(title)
    RR by _([0-9]+)$
    RR: how many queries reach each value
    RR: new minus old, query by query
    """
    for measure in comparison.paired.measures:
        if comparison.groups:
            yield f"{measure} by {comparison.by}", unshown(plot_by_group(comparison, measure=measure))
        title = f"{measure}: how many queries reach each value"
        yield title, unshown(plot_distribution(comparison, measure))
    first = comparison.paired.measures[0]
    for run, against in comparison.paired.pairs[:_MOST_PAIRS]:
        title = f"{first}: {run} minus {against}, query by query"
        yield title, unshown(plot_differences(comparison, first, run, against))


_MOST_PAIRS = 6
"""So many pairs have a plot on a page."""


def _row(comparison: ComparisonResult, measure: Measure | str | None) -> int:
    """Return which measure of the comparison is meant."""
    if measure is None:
        return 0
    measure, known = parse_measure(measure), comparison.paired.measures
    if measure not in known:
        names = [str(each) for each in known]
        raise InputError(
            f"measure must be one of the comparison's {', '.join(names)} (found {measure})",
            hint=nearest(str(measure), names),
        )
    return known.index(measure)


def _run(comparison: ComparisonResult, name: str) -> str:
    known = comparison.paired.values
    if name not in known:
        raise InputError(
            f"a run must be one of the comparison's {', '.join(map(repr, known))} (found {name!r})",
            hint=nearest(str(name), known),
        )
    return name


def _runs(comparison: ComparisonResult, runs: Iterable[str] | None) -> list[str]:
    """Return which runs are drawn, in their order in the comparison."""
    if runs is None:
        return list(comparison.paired.values)
    chosen = {_run(comparison, name) for name in ([runs] if isinstance(runs, str) else runs)}
    if not chosen:
        raise InputError("there must be a run to draw (found none)")
    return [name for name in comparison.paired.values if name in chosen]


def _pair(comparison: ComparisonResult, run: str | None, against: str | None) -> tuple[str, str]:
    """Return the two runs whose difference is drawn."""
    for name in (run, against):
        if name is not None:
            _run(comparison, name)
    names = list(comparison.paired.values)
    if against is None:
        against = comparison.baseline or next(name for name in names if name != run)
    if run is None:
        run = next(name for name in names if name != against)
    if run == against:
        raise InputError(f"a difference needs two runs (found {run!r} against itself)")
    return run, against


def _groups(comparison: ComparisonResult, by: By | None, qrels: Any) -> Groups:
    """Return the groups, and say what is not in them."""
    query_ids, name = comparison.paired.query_ids, ""
    if by is None:
        if not comparison.groups:
            raise InputError("by must say what the groups are (found none; the comparison has none either)")
        parts, name = comparison.groups.items(), comparison.by
        by = {query_id: value for value, part in parts for query_id in part.paired.query_ids}
    groups = Groups.of(query_ids, by, qrels)
    if name:
        return replace(groups, name=name)  # the comparison has its notes
    if not groups.values:
        raise InputError(
            f"by must put queries into groups (found none for the {len(query_ids):,} judged queries, such as "
            f"{query_ids[0]!r}; {len(groups.empty):,} groups without any)"
        )
    for note in groups.notes():
        warnings.warn(note, PermedWarning, stacklevel=3)
    return groups


def _group_estimates(
    comparison: ComparisonResult, groups: Groups, values: dict[str, Floats], intervals: bool
) -> dict[str, Estimates]:
    """Return the estimates of each run; the runs of a group share the draws of its clusters."""
    stacked = np.stack(list(values.values()), axis=1)
    found = np.full((3, len(groups.values), len(values)), np.nan)
    for index in range(len(groups.values)):
        here = groups.group == index
        found[0, index] = stacked[here].mean(axis=0)
        if intervals:
            found[1:, index] = _bounds(comparison, stacked[here], comparison.paired.cluster[here]).T
    return {name: Estimates(*found[:, :, column]) for column, name in enumerate(values)}


def _bounds(comparison: ComparisonResult, values: Floats, cluster: NDArray[np.int64]) -> Floats:
    """Return the interval of the mean of each column; shape (n_columns, 2)."""
    _, cluster = np.unique(cluster, return_inverse=True)
    estimates = bootstrap_intervals(values, cluster, comparison.resamples, comparison.seed, comparison.level)
    return np.array([each.value or (np.nan, np.nan) for each in estimates])


def _numbers(values: Sequence[Any]) -> list[float]:
    """Return the groups as numbers, if all are and no two are the same number."""
    numeric = all(
        (isinstance(value, Real) and not isinstance(value, bool)) or _NUMBER.fullmatch(str(value))
        for value in values
    )
    numbers = [float(value) for value in values] if numeric else []
    # One group makes no line.
    return numbers if 1 < len(set(numbers)) == len(values) and np.isfinite(numbers).all() else []


_MOST_BANDS = 6
_NO_BANDS = f"no intervals: bands of more than {_MOST_BANDS} runs would hide each other"
_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]+)?")


def _about(groups: Groups) -> str:
    """Return what the groups are, for the axis: a field, or the pattern that found them."""
    name = on_one_line(groups.name)
    return name if re.fullmatch(r"\w+", name) else f"{shortened(name)} in the query id"


def _interval_note(comparison: ComparisonResult, bands: bool, estimates: dict[str, Estimates]) -> str:
    """Return what the intervals are."""
    missing = np.isnan([each.low for each in estimates.values()])
    if missing.all():
        return f"no intervals: no group has two {plural(comparison.paired.unit)}"
    clusters = comparison.paired.clusters
    named = f" ({shortened(on_one_line(clusters))})" if clusters not in ("", "clusters") else ""
    units = f"whole clusters{named}" if clusters else "queries"
    alone = f"; none for one {comparison.paired.unit}" if missing.any() else ""
    what, level = "band" if bands else "bar", comparison.level_in_percent
    return (
        f"{what}: {level} interval by percentile bootstrap{alone},\n"
        f"{comparison.resamples:,} resamples of {units}, seed {comparison.seed}"
    )


def _outcomes(differences: Floats) -> str:
    counts = [
        ("win", "wins", (differences > 0).sum()),
        ("tie", "ties", (differences == 0).sum()),
        ("loss", "losses", (differences < 0).sum()),
    ]
    return ", ".join(f"{n:,} {one if n == 1 else many}" for one, many, n in counts)


def _reaching(values: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Return the values that occur, and the percentage of queries with at least that; from low to high."""
    at, counts = np.unique(values, return_counts=True)
    share = 100 * counts[::-1].cumsum()[::-1] / len(values)
    start, end = [low] * bool(at[0] > low), [high] * bool(at[-1] < high)
    return np.array([*start, *at, *end]), np.array([*(100.0 for _ in start), *share, *(0.0 for _ in end)])


def _marks(x: Floats, shift: float) -> list[int]:
    """Return which points get a marker: spread over the axis, elsewhere for each run, and at the end."""
    targets = x[0] + (x[-1] - x[0]) * (np.arange(4) + shift) / 4
    nearest_to = np.abs(x - targets[:, None]).argmin(axis=1)
    return sorted({*nearest_to.tolist(), len(x) - 1} - {0})


def _at_ends(values: dict[str, Floats], low: float, high: float) -> tuple[dict[str, str], str]:
    """Return the shares of queries at 0 and at 1, and what they are; nothing for other scales."""
    if low < 0 or high > 1:
        return {}, ""
    shares = {name: (np.mean(scores == 0), np.mean(scores == 1)) for name, scores in values.items()}
    return {name: f"{zero:.1%} | {one:.1%}" for name, (zero, one) in shares.items()}, "queries at 0 | at 1"


def _cutoff_measures(measure: Measure | str, cutoffs: Iterable[int]) -> tuple[Measure, dict[int, Measure]]:
    """Return the measure, and at each cutoff, ascending."""
    base = parse_measure(measure)
    if "cutoff" in base.params:
        raise InputError(
            f"measure must have no cutoff, since cutoffs={tuple(cutoffs)} are drawn (found {base})"
        )
    if "cutoff" not in base.SUPPORTED_PARAMS:
        raise InputError(f"measure must take a cutoff (found {base}, which takes none)")
    given = list(cutoffs)
    if not given or not all(isinstance(k, Integral) and not isinstance(k, bool) and k > 0 for k in given):
        raise InputError(f"cutoffs must be whole numbers from 1 (found {given})")
    return base, {cutoff: base @ cutoff for cutoff in sorted({int(cutoff) for cutoff in given})}
