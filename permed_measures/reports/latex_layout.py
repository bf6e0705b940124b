"""What fits a column of a two-column paper, or else the text of an article: sizes, lines and pages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from typing import NamedTuple

from permed_measures.markup import one_line
from permed_measures.reports.tables import PaperTable, TableRow

_WIDTHS = {"table": 224.0, "table*": 340.0}
"""A little less than a column has, and the text of ``article``, in points.

In a document of one column both environments are as wide as its text.
"""


class _Layout(NamedTuple):
    """The size of the letters by name, the points of an em and a little more, the space between columns."""

    size: str
    points: float
    space: float


_LAYOUTS = (_Layout("small", 9.25, 10), _Layout("small", 9.25, 6), _Layout("footnotesize", 8.5, 6))
"""What is tried, the most readable first."""
_NARROW = _Layout("footnotesize", 8.5, 4)
"""Tried last with letters, which keep numbers apart."""
_LONG, NARROWEST = 10.5, 4.7
"""Em that a label gets if it needs them, enough for 20 letters, or for 10; the rest is wrapped."""
_TRIES = [
    (environment, whole, width)
    for environment in _WIDTHS
    for whole, width in ((True, _LONG), (False, _LONG), (False, NARROWEST))
]
"""The environment, whether all columns stand there, and the width of a label."""
_FEW, _MOST = 12, 8.0
"""With more rows than this, labels get so many em in a column: further lines make a table too high."""
_HEIGHT = 385.0
"""Points that a page has for rows, beside the caption and the headings."""
FLOATS = 10
"""Pages of floats that LaTeX can surely hold back."""


class Plan(NamedTuple):
    """A table as it is set.

    The labels `wrapped`, and with `marks` the marks, share the room that is left: each has `width` em.
    """

    table: PaperTable
    environment: str
    layout: _Layout
    wrapped: list[int]
    width: float
    marks: bool = False
    fits: bool = True


# --- layouts ----------------------------------------------------------------------------------------


def plan_of(table: PaperTable) -> Plan:
    """Return the first way that fits: in a column, without the columns that may be left out, in the text."""
    less = _without(table)
    for environment, whole, least in _TRIES:
        shown, room = table if whole else less, _WIDTHS[environment]
        name = max(least, _MOST) if environment == "table" and len(table.rows) > _FEW else least
        labels, numbers = _label_widths(shown), sum(_number_widths(shown))
        columns = len(labels) + len(shown.headings) - 0.5  # there is no space at the left, half at the right
        for layout in _LAYOUTS if name == _LONG else (_LAYOUTS[-1], *([_NARROW] * table.lettered)):
            free = (room - layout.space * columns) / layout.points - numbers
            if sum(min(width, name) for width in labels) <= free:
                wrapped, width = _wrapped(labels, name, free, 0.1 * room / layout.points)
                return Plan(shown, environment, layout, wrapped, width)
    return _squeezed(less)


def _wrapped(labels: list[float], name: float, free: float, spare: float) -> tuple[list[int], float]:
    """Return the labels that get what others leave, and what each gets; none where there is room to spare."""
    if sum(labels) + spare <= free:
        return [], 0.0
    widest, rest = labels.index(max(labels)), sum(labels) - max(labels)
    if rest + min(max(labels), name) <= free:
        return [widest], free - rest
    wide = [place for place, width in enumerate(labels) if width > name]
    return wide, (free - sum(labels) + sum(labels[place] for place in wide)) / len(wide)


def _squeezed(table: PaperTable) -> Plan:
    """Return a table whose long labels, and letters if it has them, share the room as well as they can."""
    layout, labels = _LAYOUTS[-1], _label_widths(table)
    wrapped = [place for place, width in enumerate(labels) if width > NARROWEST]
    wrapped = wrapped or [labels.index(max(labels))]
    fixed = sum(_number_widths(_unmarked(table)))
    fixed += sum(width for place, width in enumerate(labels) if place not in wrapped)
    columns = len(labels) + len(table.headings) * (1.5 if table.lettered else 1)
    free = (_WIDTHS["table*"] - layout.space * columns) / layout.points - fixed
    width = free / (len(wrapped) + table.lettered * len(table.headings))
    enough = width >= max(3.0, min(NARROWEST, *(labels[place] for place in wrapped)))
    return Plan(table, "table*", layout, wrapped, width, table.lettered, enough)


def _unmarked(table: PaperTable) -> PaperTable:
    blocks = [[row._replace(cells=[cell._replace(mark="") for cell in row.cells]) for row in table.rows]]
    return replace(table, blocks=blocks)


def pages_of(plan: Plan) -> list[list[list[TableRow]]]:
    """Split the blocks where a page is full, between two blocks if it can be."""
    pages: list[list[list[TableRow]]] = [[]]
    room = _HEIGHT
    for block in plan.table.blocks:
        heights = [1.2 * plan.layout.points * _lines(row, plan) for row in block]
        if pages[-1] and room < min(sum(heights), _HEIGHT):
            pages.append([])
            room = _HEIGHT
        pages[-1].append([])
        for row, height in zip(block, heights, strict=True):
            if room < height and pages[-1][-1]:
                pages.append([[]])
                room = _HEIGHT
            pages[-1][-1].append(row)
            room -= height
    return pages


def _lines(row: TableRow, plan: Plan) -> int:
    """Return about how many lines a row has."""
    widths = [em(row.labels[place]) for place in plan.wrapped]
    widths += [0.8 * em(cell.mark) for cell in row.cells if plan.marks]
    return max([1, *(ceil(width / max(plan.width - 1, 1)) for width in widths if width > plan.width)])


# --- columns that may be left out ---------------------------------------------------------------------


def _without(table: PaperTable) -> PaperTable:
    """Leave out the columns that may be, and say in the caption between what their values are."""
    kept = [number for number, heading in enumerate(table.headings) if heading not in table.spare]
    if len(kept) in (0, len(table.headings)):
        return table
    blocks = [
        [row._replace(cells=[row.cells[number] for number in kept]) for row in block]
        for block in table.blocks
    ]
    ranges = []
    for heading in table.spare:
        texts = sorted((text for text in _column(table, heading) if text), key=float)
        ranges.append(f"{heading} {' to '.join(dict.fromkeys([texts[0], texts[-1]]))}")
    return replace(
        table,
        headings=[table.headings[number] for number in kept],
        blocks=blocks,
        explanations=[*table.explanations, ", ".join(ranges)],
    )


def left_out(table: PaperTable, shown: PaperTable) -> Iterator[str]:
    """Yield the values of the columns that were left out."""
    for heading in table.headings:
        if heading not in shown.headings:
            pairs = zip(table.rows, _column(table, heading), strict=True)
            yield f"{heading}: {', '.join(' '.join([*row.labels, text]) for row, text in pairs if text)}"


def _column(table: PaperTable, heading: str) -> list[str]:
    place = table.headings.index(heading)
    return [row.cells[place].text for row in table.rows]


# --- widths --------------------------------------------------------------------------------------------


def _label_widths(table: PaperTable) -> list[float]:
    """Return the width of each column of labels, in em."""
    columns = zip(*(row.labels for row in table.rows), strict=True)
    cells = [max(map(em, texts)) for texts in columns]
    return [
        max(width, *(em(line.strip()) for line in stacked(heading, width)))
        for width, heading in zip(cells, table.labels, strict=True)
    ]


def _number_widths(table: PaperTable) -> list[float]:
    """Return the width of each column of numbers, in em."""
    cells = _cell_widths(table)
    return [
        max(width, *(em(line.strip()) for line in stacked(heading, width)))
        for width, heading in zip(cells, table.headings, strict=True)
    ]


def widths_of_cells(plan: Plan) -> list[float]:
    """Return the width of the cells of each column of numbers, marks included, in em."""
    if plan.marks:
        return [width + plan.width for width in _cell_widths(_unmarked(plan.table))]
    return _cell_widths(plan.table)


def _cell_widths(table: PaperTable) -> list[float]:
    """Return the width of the cells of each column, some of which are bold, with their letters."""
    columns = zip(*(row.cells for row in table.rows), strict=True)
    marks = 0.82 if table.lettered else 0.0  # daggers stand in the space between columns
    return [
        max(1.15 * em(cell.text) for cell in cells) + marks * max(em(cell.mark) for cell in cells)
        for cells in columns
    ]


def em(text: str) -> float:
    """Return about how wide a text is in Computer Modern."""
    return sum(map(_em_of_letter, one_line(text)))


def _em_of_letter(letter: str) -> float:
    if letter in "MW" or unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if letter in "ijl.,:;!'|":
        return 0.28
    if letter in "frt()[]-/Is_ ":
        return 0.39
    return 0.75 if letter.isupper() or letter in "mw@%+=<>&" else 0.5


_PART = re.compile(r"(?=@)|(?<=[-_=, ])|(?<=[a-z]{2})(?=[A-Z])")
"""Where a heading may go on in the next line."""


def stacked(heading: str, width: float) -> list[str]:
    """Split a heading into lines that are hardly wider than the cells below it, or than its longest part."""
    lines = [""]
    parts = _PART.split(one_line(heading))
    most = 1.1 * max(width, *(em(part.strip()) for part in parts))
    for part in parts:
        if em((lines[-1] + part).strip()) <= most:
            lines[-1] += part
        else:
            lines.append(part)
    return lines
