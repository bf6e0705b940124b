"""Vega-Lite specifications of the plots; their colours are the page's, so that they are dark where it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Spec = dict[str, Any]

INK, SOFT, ACCENT = "var(--ink, #1c1c1c)", "var(--grid, #d9d9d9)", "var(--accent, #0b57a4)"
PAPER = "var(--paper, #fff)"
_FALLBACKS = ("#0b57a4", "#b3440b", "#00735c", "#9c3a86", "#7a6200", "#0a7598", "#a03030", "#555555")
CATEGORIES = [f"var(--c{number}, {colour})" for number, colour in enumerate(_FALLBACKS, 1)]
"""Colours of runs, distinct for those who do not see red or green; those of more runs begin again."""
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]

CONFIG: Spec = {
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK,
        "titleColor": INK,
        "domainColor": SOFT,
        "tickColor": SOFT,
        "gridColor": SOFT,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    "title": {"color": INK, "fontSize": 14, "anchor": "start", "fontWeight": 600},
    "legend": {
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": 12,
        "labelLimit": 260,
        "orient": "bottom",
    },
    "rule": {"color": INK},
    "text": {"color": INK},
}


def chart(title: str, about: str, **parts: Any) -> Spec:
    """Return a specification as wide as its place on the page; `about` is read to those who do not see it."""
    return {
        "title": title,
        "description": about,
        "width": "container",
        "autosize": {"type": "fit-x", "contains": "padding"},
        "config": CONFIG,
        **parts,
    }


def forest(title: str, about: str, rows: Sequence[dict[str, Any]], axis: str, zero: bool) -> Spec:
    """Return a forest plot: a point with its interval for each row, in the order of the rows.

    A row has ``label``, ``value``, ``low`` and ``high`` (perhaps None), ``filled``, and ``shown``: the text
    of a tooltip. With `zero` a line marks 0.
    """
    order = [row["label"] for row in rows]
    y = {
        "field": "label",
        "type": "nominal",
        "sort": order,
        "axis": {"title": None, "labelLimit": 190, "domain": False, "ticks": False, "grid": False},
    }
    x = {"type": "quantitative", "axis": {"title": axis, "tickCount": 6}, "scale": {"zero": zero}}
    tooltip = {"field": "shown", "type": "nominal"}
    filled = {"test": "datum.filled", "value": ACCENT}
    layers: list[Spec] = [
        {
            "mark": {"type": "rule", "strokeWidth": 2, "aria": False},
            "encoding": {
                "x": {**x, "field": "low"},
                "x2": {"field": "high"},
                "y": y,
                "color": {"value": ACCENT},
                "tooltip": tooltip,
            },
        },
        {
            "mark": {"type": "point", "filled": False, "size": 80, "strokeWidth": 2},
            "encoding": {
                "x": {**x, "field": "value"},
                "y": y,
                "stroke": {"value": ACCENT},
                "fill": {"condition": filled, "value": PAPER},
                "tooltip": tooltip,
                "description": tooltip,
            },
        },
    ]
    if zero:
        line = {"mark": {"type": "rule", "strokeDash": [3, 3]}, "encoding": {"x": {"datum": 0, **x}}}
        layers.insert(0, line)
    return chart(
        title,
        about,
        data={"values": list(rows)},
        height=(24 if len(rows) <= 12 else 18) * len(rows),
        layer=layers,
    )


def by_group(
    title: str,
    about: str,
    rows: Sequence[dict[str, Any]],
    runs: Sequence[str],
    groups: Sequence[str],
    axis: str,
) -> Spec:
    """Return a line for each run over the groups, with bands of the intervals; the legend picks runs.

    A row has ``run``, ``group``, ``value``, ``low`` and ``high`` (perhaps None) and ``shown``.
    """
    n = len(runs)
    picked = {"param": "picked", "empty": n <= 6}
    axis_of_groups = {
        "title": axis,
        "labelAngle": 0,
        "labelExpr": "split(datum.value, '\\n')",
        "labelOverlap": True,
    }
    x = {"field": "group", "type": "ordinal", "sort": list(groups), "axis": axis_of_groups}
    colour = {
        "field": "run",
        "type": "nominal",
        "sort": list(runs),
        "scale": {"domain": list(runs), "range": cycled(CATEGORIES, n)},
        "legend": _LEGEND,
    }
    y = {"type": "quantitative", "axis": {"title": None, "tickCount": 6}, "scale": {"zero": False}}
    seen = {"condition": {"param": "picked", "value": 1}, "value": 0.15}
    layers: list[Spec] = [
        {
            "mark": {"type": "area", "aria": False},
            "encoding": {
                "x": x,
                "y": {**y, "field": "low"},
                "y2": {"field": "high"},
                "color": colour,
                "opacity": {"condition": {**picked, "value": 0.16}, "value": 0},
            },
        },
        {
            "params": [{"name": "picked", "select": {"type": "point", "fields": ["run"]}, "bind": "legend"}],
            "mark": {"type": "line", "point": {"size": 45, "filled": True}},
            "encoding": {
                "x": x,
                "y": {**y, "field": "value"},
                "color": colour,
                **({"strokeDash": _dashes(runs)} if n > len(CATEGORIES) else {}),
                "opacity": seen,
                "tooltip": {"field": "shown", "type": "nominal"},
            },
        },
    ]
    return chart(title, about, data={"values": list(rows)}, height=240, layer=layers)


_LEGEND = {"title": None, "columns": 2, "symbolOpacity": 1, "symbolType": "stroke", "symbolStrokeWidth": 3}


def _dashes(runs: Sequence[str]) -> Spec:
    """Tell runs of the same colour by their dashes."""
    dashes = [DASHES[number // len(CATEGORIES) % len(DASHES)] for number in range(len(runs))]
    return {
        "field": "run",
        "type": "nominal",
        "scale": {"domain": list(runs), "range": dashes},
        "legend": _LEGEND,
    }


def cycled(values: Sequence[Any], n: int) -> list[Any]:
    """Return n of the values, which begin again where there are fewer."""
    return [values[number % len(values)] for number in range(n)]
