"""Plot one run against another, a point for each query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures import Measure

from permed_measures.errors import InputError
from permed_measures.markup import counted
from permed_measures.plots.arguments import group_word, measure_of, pair_of
from permed_measures.plots.by_query import outcomes_of
from permed_measures.plots.fonts import PlotText, on_one_line
from permed_measures.plots.style import GAIN, LOSS, add_legend, axes_for, set_title, styles_of, wrapped
from permed_measures.statistics.results import ComparisonResult
from permed_measures.statistics.significance import Floats, Ints, zero_rounding_noise

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_scatter(
    comparison: ComparisonResult,
    measure: Measure | str | None = None,
    run: str | None = None,
    against: str | None = None,
    ax: Axes | None = None,
    *,
    groups: bool = False,
) -> Axes:
    """Plot the value of one run against that of another on each query.

    Parameters
    ----------
    comparison, measure, run, against, ax
        As in `plot_differences`.
    groups : bool, default False
        Whether to colour the queries by the groups of the comparison, of which there may be eight.

    Returns
    -------
    matplotlib Axes
        A circle for each pair of values, its area by the number of queries that have them: those above the
        diagonal are wins of `run`. The title counts wins, ties and losses. With groups a circle has a ring
        for each group, the area of each by its number of queries.

    Raises
    ------
    InputError
        As in `plot_differences`; also if `groups` is asked for and the comparison has none, or more than
        eight.

    Warns
    -----
    PermedWarning
        If no installed font has a character of a name.

    Notes
    -----
    Values that differ by no more than 1e-12 are equal, as in `compare`. A circle is never smaller than can be
    seen, so that the area of one query among very many is too large.

    Examples
    --------
    >>> from permed_measures.comparisons.compare import compare
    >>> qrels = {f"q{i}": {"a": 1} for i in range(3)}
    >>> runs = {"old": {"q0": {"a": 1.0}}, "new": {"q1": {"a": 1.0}, "q2": {"a": 1.0}}}
    >>> ax = plot_scatter(compare(qrels, runs, "RR", baseline="old", tests="bootstrap"))
    >>> ax.get_title(loc="left"), ax.get_xlabel(), ax.get_ylabel()
    ('2 wins, 0 ties, 1 loss', 'RR of old', 'RR of new')
    """
    (index, title), paired = measure_of(comparison, measure), comparison.paired
    run, against = pair_of(comparison, run, against)
    x, y = paired.values[against][index], paired.values[run][index]
    differences = zero_rounding_noise(y - x)
    colours, part = _by_group(comparison) if groups else _by_outcome(differences)
    ax, own = axes_for(ax)
    if own:
        ax.figure.set_size_inches(_SIDE, _SIDE)  # type: ignore[union-attr]
    at, counts = _places(x, y, part, len(colours))
    share = _LARGEST[len(at) > _FEW_PLACES]
    unit, key = _areas(counts, ax, share)
    heading = group_word(comparison) if groups else ""
    texts = PlotText.of([run, against, title, heading, *colours, *key])
    low, high = _limits(np.concatenate([x, y]))
    ax.plot([low, high], [low, high], color="0.6", linewidth=0.8, zorder=1)
    _draw(ax, at, counts, unit, colours)
    ax.set_aspect("equal")
    margin = (0.01 + share / 2 / (1 - share)) * (high - low)  # so that circles at an end fit
    ax.set(xlim=(low - margin, high + margin), ylim=(low - margin, high + margin))
    for set_label, name in ((ax.set_xlabel, against), (ax.set_ylabel, run)):
        set_label(wrapped(texts.shown(f"{title} of {texts.names[name]}")), **texts.style)
    set_title(ax, texts, outcomes_of(differences))
    add_legend(ax, _handles(ax, colours, unit, key), texts, own, heading=texts.names[heading])
    return ax


_MOST_GROUPS = 8  # colours that can be told apart
_SIDE = 3.8  # inches
_LARGEST, _FEW_PLACES = (0.22, 0.09), 9
"""The diameter of the largest circle, as a share of the side, where there are few places and otherwise."""


def _by_outcome(differences: Floats) -> tuple[dict[str, str], Ints]:
    """Return the colour of each outcome, and the number of that of each query."""
    return {"win": GAIN, "tie": "0.45", "loss": LOSS}, 1 - np.sign(differences).astype(np.int64)


def _by_group(comparison: ComparisonResult) -> tuple[dict[str, str], Ints]:
    """Return the colour of each group, and the number of that of each query."""
    part, n = comparison.paired.group, len(comparison.groups)
    if part is None or not 0 < n <= _MOST_GROUPS:
        raise InputError(
            f"groups=True needs a comparison with 1 to {_MOST_GROUPS} groups (found {n})",
            hint="Leave it out, or compare with by= and so many groups",
        )
    labels = [on_one_line(str(value)) for value in comparison.groups]
    colours = {label: str(style["color"]) for label, style in styles_of(labels).items()}
    if (part < 0).any():
        colours["in no group"] = "0.6"
    return colours, np.where(part < 0, n, part)


def _places(x: Floats, y: Floats, part: Ints, n_parts: int) -> tuple[Floats, Ints]:
    """Return the pairs of values that occur, and how many queries of each part have them."""
    pairs: Floats = np.stack([x, y], axis=1).round(10)
    at, place = np.unique(pairs, axis=0, return_inverse=True)
    counts = np.bincount(place.ravel() * n_parts + part, minlength=len(at) * n_parts)
    return at, counts.reshape(len(at), n_parts).astype(np.int64)


def _areas(counts: Ints, ax: Axes, share: float) -> tuple[float, dict[str, int]]:
    """Return the area of a query in square points, and how many queries the legend explains it by."""
    figure: Any = ax.figure
    most, box = int(counts.sum(axis=1).max()), ax.get_window_extent()
    side = 72 * min(box.width, box.height) / figure.dpi
    unit = min(16.0, (share * side) ** 2 / most)
    steps = [step * 10**power for power in range(7) for step in (1, 2, 5)]
    number = max((n for n in steps if n <= most and n * unit <= 150), default=1)
    return unit, {counted(number, "query"): number} if most > 1 else {}


def _draw(ax: Axes, at: Floats, counts: Ints, unit: float, colours: dict[str, str]) -> None:
    """Draw a circle for each place, the largest first, with a ring for each part."""
    total = counts.sum(axis=1)
    larger = np.maximum(1.0, _LEAST / (unit * total))
    order, rest = np.argsort(-total, kind="stable"), total
    alone = (counts > 0).sum() == len(at)
    for number, (label, colour) in enumerate(colours.items()):
        here = order[counts[order, number] > 0]
        look: dict[str, Any] = {"color": colour, "alpha": 0.65 if alone else None, "label": label}
        size = (unit * rest * larger)[here]
        # Rings of a later part lie on those of an earlier one.
        ax.scatter(
            at[here, 0], at[here, 1], size, linewidth=0, clip_on=False, zorder=2 + number / 100, **look
        )
        rest = rest - counts[:, number]


_LEAST = 8.0
"""Square points of a circle that can be seen."""


def _handles(ax: Axes, colours: dict[str, str], unit: float, key: dict[str, int]) -> dict[str, Any]:
    """Return what the legend shows: the colours, and a circle of so many queries."""
    looks: dict[str, dict[str, Any]] = {label: {"color": each} for label, each in colours.items()}
    for text, number in key.items():
        size = np.sqrt(max(unit * number, _LEAST))
        looks[text] = {"color": "0.3", "markerfacecolor": "none", "markersize": size}
    return {text: ax.plot([], [], marker="o", linestyle="none", **look)[0] for text, look in looks.items()}


def _limits(values: Floats) -> tuple[float, float]:
    """Return the ends of both axes: what occurs, and 0."""
    low, high = min(0.0, float(values.min())), float(values.max())
    return low, high if high > low else low + 1.0
