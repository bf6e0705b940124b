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
        "padding": {"left": 5, "right": 14, "top": 5, "bottom": 5},  # half of the last label of an axis
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
        "axis": {"title": None, "domain": False, "ticks": False, "labelPadding": 8, **_SHORT},
    }
    ticks = {"tickCount": {"expr": "clamp(width / 70, 2, 8)"}, "labelFlush": False}
    x = {"type": "quantitative", "axis": {"title": axis, **ticks}, "scale": {"zero": zero}}
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
            "mark": {"type": "point", "filled": False, "size": 80, "strokeWidth": 2, "opacity": 1},
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
    layers = layers if any(row["low"] is not None for row in rows) else layers[1:]
    if zero:
        line = {"mark": {"type": "rule", "strokeDash": [3, 3]}, "encoding": {"x": {"datum": 0, **x}}}
        layers.insert(0, {"data": {"values": [{}]}, **line})
    return chart(
        title,
        about,
        data={"values": list(rows)},
        height=(24 if len(rows) <= 12 else 18) * len(rows),
        layer=layers,
    )


_SHORT = {
    "labelLimit": 210,
    "labelExpr": "length(datum.label) > 30 ? slice(datum.label, 0, 13) + '…' + slice(datum.label, -16) "
    ": datum.label",
}
"""Long names lose their middle: those of related runs often begin alike."""


def line_styles(runs: Sequence[str]) -> list[dict[str, Any]]:
    """Give each run a colour and dashes; runs of the same colour differ in their dashes."""
    n = len(CATEGORIES)
    return [
        {"run": run, "colour": CATEGORIES[number % n], "dash": DASHES[number // n % len(DASHES)]}
        for number, run in enumerate(runs)
    ]


def ranges(title: str, about: str, rows: Sequence[dict[str, Any]], kinds: Sequence[str], axis: str) -> Spec:
    """Return a point for each label, and below each other its ranges of several kinds, in their colours.

    A row has ``label``, ``kind``, ``value``, ``low``, ``high`` and ``shown``.
    """
    labels = list(dict.fromkeys(row["label"] for row in rows))
    colours = {"domain": list(kinds), "range": CATEGORIES[: len(kinds)]}
    places: Spec = {
        "y": {
            "field": "label",
            "type": "nominal",
            "sort": labels,
            "axis": {"title": None, "domain": False, "ticks": False, "labelPadding": 8, **_SHORT},
        },
        "yOffset": {"field": "kind", "type": "nominal", "sort": list(kinds)},
        "color": {
            "field": "kind",
            "type": "nominal",
            "scale": colours,
            "legend": {**_LEGEND, "columns": len(kinds)},
        },
    }
    x = {"type": "quantitative", "axis": {"title": axis, "tickCount": 6}, "scale": {"zero": False}}
    rule = {"x": {**x, "field": "low"}, "x2": {"field": "high"}}
    point = {"x": {**x, "field": "value"}, "description": {"field": "shown", "type": "nominal"}}
    layers: list[Spec] = [
        {"mark": {"type": "rule", "strokeWidth": 2, "aria": False}, "encoding": {**rule, **places}},
        {
            "mark": {"type": "point", "filled": True, "size": 30, "opacity": 1},
            "encoding": {**point, **places},
        },
    ]
    height = (10 * len(kinds) + 8) * len(labels)
    return chart(title, about, data={"values": list(rows)}, height=height, layer=layers)


_LEGEND = {
    "title": None,
    "orient": "bottom",
    "columns": 2,
    "labelLimit": 170,
    "labelColor": INK,
    "labelFontSize": 12,
    "symbolType": "stroke",
    "symbolStrokeWidth": 3,
    "symbolOpacity": 1,
}


def by_group(
    title: str,
    about: str,
    rows: Sequence[dict[str, Any]],
    styles: Sequence[dict[str, Any]],
    groups: Sequence[str],
    axis: str,
    legend: bool = False,
) -> Spec:
    """Return a line for each run over the groups, with bands of the intervals.

    A row has ``run``, ``group``, ``value``, ``low`` and ``high`` (perhaps None) and ``shown``; `styles` is
    what `line_styles` returns. The parameter ``picked`` of the plot is a list of runs: others fade. A page
    with several plots has one legend for all.
    """
    few = len(styles) <= 6
    picked = "indexof(picked, datum.run) >= 0"
    axis_of_groups = {
        "title": axis,
        "labelAngle": 0,
        "labelExpr": "split(datum.value, '\\n')",
        "labelOverlap": True,
    }
    x = {"field": "group", "type": "ordinal", "sort": list(groups), "axis": axis_of_groups}
    run = {"field": "run", "type": "nominal", "legend": _LEGEND if legend else None}
    domain = [each["run"] for each in styles]
    colour = {**run, "scale": {"domain": domain, "range": [each["colour"] for each in styles]}}
    dash = {**run, "scale": {"domain": domain, "range": [each["dash"] for each in styles]}}
    y = {"type": "quantitative", "axis": {"title": None, "tickCount": 6}, "scale": _scale(rows)}
    band = f"length(picked) ? {picked} : {str(few).lower()}"
    line = f"!length(picked) || {picked}"
    layers: list[Spec] = [
        {
            "mark": {"type": "area", "aria": False, "clip": True},
            "encoding": {
                "x": x,
                "y": {**y, "field": "low"},
                "y2": {"field": "high"},
                "color": colour,
                "opacity": {"condition": {"test": band, "value": 0.16}, "value": 0},
            },
        },
        {
            "mark": {"type": "line", "point": {"size": 45, "filled": True}},
            "encoding": {
                "x": x,
                "y": {**y, "field": "value"},
                "color": colour,
                **({"strokeDash": dash} if len(styles) > len(CATEGORIES) else {}),
                "opacity": {"condition": {"test": line, "value": 1}, "value": 0.15},
                "tooltip": {"field": "shown", "type": "nominal"},
                "description": {"field": "shown", "type": "nominal"},
            },
        },
    ]
    layers = layers if any(row["low"] is not None for row in rows) else layers[1:]
    params = [{"name": "picked", "value": []}]
    return chart(title, about, data={"values": list(rows)}, params=params, height=240, layer=layers)


def _scale(rows: Sequence[dict[str, Any]]) -> Spec:
    """Cut bands at 0 and at 1, where no value is beyond: an interval may be, though no mean can."""
    scale: Spec = {"zero": False}
    values = [row["value"] for row in rows]
    bounds = [row[name] for row in rows for name in ("low", "high") if row[name] is not None]
    if min(values) >= 0 > min(bounds, default=0):
        scale["domainMin"] = 0
    if max(values) <= 1 < max(bounds, default=1):
        scale["domainMax"] = 1
    return scale


def scatter() -> Spec:
    """Return a scatter of run against baseline; the page's script gives it points, names and limits.

    The data sets are ``diagonal`` (two corners), ``points`` (rows of x, y, area, outcome, shown and
    number) and ``picked`` (those that are marked, by a circle of the area ring).
    """
    scale = {"zero": False, "nice": False}
    x, y = (
        {
            "field": each,
            "type": "quantitative",
            "scale": scale,
            "axis": {"tickCount": 5, "titleLimit": {"expr": length}},
        }
        for each, length in (("x", "width"), ("y", "height"))
    )
    outcomes = {"win": CATEGORIES[0], "tie": CATEGORIES[-1], "loss": CATEGORIES[1]}
    colour = {
        "field": "outcome",
        "type": "nominal",
        "scale": {"domain": list(outcomes), "range": list(outcomes.values())},
        "legend": None,
    }
    size = {"field": "area", "type": "quantitative", "scale": None}
    shown = {"field": "shown", "type": "nominal"}
    point = {"type": "point", "filled": True, "opacity": 0.75, "cursor": "pointer", "clip": False}
    layers: list[Spec] = [
        {
            "data": {"name": "diagonal"},
            "mark": {"type": "line", "color": INK, "strokeDash": [3, 3], "strokeWidth": 1, "aria": False},
            "encoding": {"x": x, "y": y},
        },
        {
            "data": {"name": "points"},
            "mark": point,
            "encoding": {
                "x": x,
                "y": y,
                "color": colour,
                "size": size,
                "tooltip": shown,
                "description": shown,
            },
        },
        {
            "data": {"name": "picked"},
            "mark": {"type": "point", "filled": False, "stroke": INK, "strokeWidth": 2.5, "aria": False},
            "encoding": {"x": x, "y": y, "size": {**size, "field": "ring"}},
        },
    ]
    return chart("", "", height=320, layer=layers)
