"""Tables and texts that fit the terminal, or are as wide as they need to be where there is none."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from permed_measures.markup import Styled, one_line

_WIDTH = 100  # the largest, of lines of text
_NO_LIMIT = 10_000  # the width where there is no terminal
_NARROWEST = 12  # the smallest width that labels are folded to
_GAP = "  "  # between columns


_Line = str | Text
"""What a line or a cell is: a text of rich is slow, and only those with a style need to be one."""


@dataclass(frozen=True, eq=False)
class _Column:
    heading: str
    cells: list[_Line]
    is_label: bool

    @cached_property
    def widest_cell(self) -> int:
        return max(map(_width, self.cells), default=0)

    @property
    def natural(self) -> int:
        """The width without any folding."""
        return max(cell_len(self.heading), self.widest_cell)

    @cached_property
    def least(self) -> int:
        """The width with a folded heading."""
        return max(*(cell_len(piece.strip()) for piece in _pieces(self.heading)), self.widest_cell)


def terminal_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str | Styled]],
    n_labels: int,
    block: int = 0,
    spare: Collection[str] = (),
    hint: str = "",
    goes_on: bool = False,
) -> str:
    """Lay out a table with a line below its headings; values are never cut or folded.

    Where the terminal is too narrow, headings are folded first, but not within words;
    then columns that can be spared are left out, and the last line says which;
    then the table goes on below, if it may; then labels are folded.

    Parameters
    ----------
    headings : sequence of str
    rows : sequence of sequences of str or Styled
    n_labels : int
        The number of columns at the left that hold text; the others hold numbers.
    block : int
        The number of rows after which there is an empty line; 0 for none.
    spare : collection of str
        The headings of columns of numbers that can be left out, in this order.
    hint : str
        What follows the names of the columns that were left out.
    goes_on : bool
        Whether columns of numbers that do not fit stand in a second table below, beside the same labels.
    """
    console = _console()
    columns = [
        _Column(one_line(heading), [_line_of(row[number]) for row in rows], number < n_labels)
        for number, heading in enumerate(headings)
    ]
    kept = _kept(columns, spare, console.width)
    lines: list[_Line] = []
    for part in _parts(kept, console.width) if goes_on else [kept]:
        lines += [""] if lines else []
        lines += _laid_out(part, block, console.width)
    gone = ", ".join(column.heading for column in columns if column not in kept)
    note = f"\n{paragraph(f'too wide for this terminal: {gone}{hint}')}\n" if gone else ""
    return _printed(console, lines) + note


def _laid_out(columns: Sequence[_Column], block: int, available: int) -> Iterator[_Line]:
    """Yield the lines of a table."""
    widths = _widths(columns, available)
    left = [column.is_label for column in columns]
    headings = [_folded_heading(column.heading, width) for column, width in zip(columns, widths, strict=True)]
    yield from _lines([Text(heading, "bold") for heading in headings], widths, left)
    yield _rule() * _total(widths)
    for number, row in enumerate(zip(*(column.cells for column in columns), strict=True)):
        if block and number and number % block == 0:
            yield ""
        yield from _lines(row, widths, left)


def aligned(rows: Sequence[Sequence[str]], left: Collection[str]) -> list[str]:
    """Lay out rows in lines, without a limit or styles; the columns with these headings are at the left."""
    texts = [[*map(one_line, row)] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*texts, strict=True)]
    at_left = [heading in left for heading in rows[0]]
    return [str(line).rstrip() for row in texts for line in _lines(row, widths, at_left)]


def paragraph(text: str, hang: int = 0, stream: TextIO | None = None) -> str:
    """Break a text into lines that fit the terminal; all but the first are indented by `hang` blanks."""
    console = _console(stream)
    start, rest = one_line(text)[:hang], Text(one_line(text)[hang:])
    lines = rest.wrap(console, max(min(console.width, _WIDTH) - hang, 1))
    return start + f"\n{' ' * hang}".join(line.plain.rstrip() for line in lines)


def section(heading: str, texts: Iterable[str]) -> str:
    """Lay out a heading in bold and paragraphs below it, indented by two blanks and hanging by two more."""
    console = _console()
    width = console.width if console.width == _NO_LIMIT else min(console.width, _WIDTH)
    lines = _folded_cell(Text(one_line(heading), "bold"), width)
    below = [paragraph(f"  {one_line(text)}", hang=4) for text in texts]
    return _printed(console, lines) + "".join(f"{text}\n" for text in below)


def _rule() -> str:
    """Return the character of a line, which not every encoding has."""
    try:
        "─".encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return "-"
    return "─"


def _line_of(cell: str | Styled) -> _Line:
    if isinstance(cell, str):
        return one_line(cell)
    return Text.assemble((one_line(cell.text), cell.style), cell.after)


def _width(line: _Line) -> int:
    return cell_len(line) if isinstance(line, str) else line.cell_len


def _console(stream: TextIO | None = None) -> Console:
    stream = stream or sys.stdout
    terminal, in_memory = stream.isatty(), isinstance(stream, io.StringIO)
    return Console(
        file=io.StringIO(),
        width=None if terminal or (os.environ.get("COLUMNS") and not in_memory) else _NO_LIMIT,
        force_terminal=terminal,
        force_jupyter=False,  # where rich would show each line as HTML too
        color_system=None if os.environ.get("NO_COLOR") else "auto",  # rich would still print bold letters
        highlight=False,
    )


def _printed(console: Console, lines: Sequence[_Line]) -> str:
    """Return lines with the codes of the terminal for their styles."""
    if not console.is_terminal:  # there are no codes
        return "".join(f"{str(line).rstrip()}\n" for line in lines)
    with console.capture() as captured:
        for line in lines:
            console.print(Text(line) if isinstance(line, str) else line, soft_wrap=True)
    return captured.get()


def _lines(cells: Sequence[_Line], widths: Sequence[int], left: Sequence[bool]) -> Iterator[_Line]:
    """Yield the lines of a row; a cell that is too wide for its column is folded."""
    columns = [_folded_cell(cell, width) for cell, width in zip(cells, widths, strict=True)]
    for parts in zip_longest(*columns, fillvalue=""):
        yield _joined([_padded(*each) for each in zip(parts, widths, left, strict=True)])


def _padded(part: _Line, width: int, at_left: bool) -> _Line:
    blanks = " " * (width - _width(part))
    if at_left:
        return part + blanks
    return blanks + part if isinstance(part, str) else Text(blanks) + part


def _joined(parts: Sequence[_Line]) -> _Line:
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) == len(parts):
        return _GAP.join(texts)
    return Text(_GAP).join(Text(part) if isinstance(part, str) else part for part in parts)


def _folded_cell(cell: _Line, width: int) -> Sequence[_Line]:
    if _width(cell) <= width and "\n" not in str(cell):
        return [cell]
    cell = Text(cell) if isinstance(cell, str) else cell
    if "\n" not in cell.plain:
        cell = Text(_folded_heading(cell.plain, width), cell.spans[0].style if cell.spans else cell.style)
    lines = cell.wrap(_console(), width, overflow="fold")
    for line in lines:
        line.rstrip()
    return list(lines)


def _pieces(heading: str) -> list[str]:
    """Divide a heading or a label where it may be folded."""
    return re.split(r"(?=[ @(])|(?<=[-,])", heading)


def _folded_heading(heading: str, width: int) -> str:
    lines = [""]
    for piece in _pieces(heading):
        lines += [""] if cell_len(lines[-1] + piece) > width else []
        lines[-1] = (lines[-1] + piece).lstrip()
    return "\n".join(filter(None, lines))


# --- widths ------------------------------------------------------------------------------------------


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _kept(columns: list[_Column], spare: Collection[str], available: int) -> list[_Column]:
    """Leave out columns that can be spared until the others fit, labels folded to a third of the width."""
    label = max(available // 3, _NARROWEST)
    for name in spare:
        least = [min(column.least, label) if column.is_label else column.least for column in columns]
        if _total(least) <= available:
            break
        columns = [column for column in columns if column.is_label or column.heading != name]
    return columns


def _parts(columns: list[_Column], available: int) -> list[list[_Column]]:
    """Divide the columns of numbers into tables that fit; the labels, folded if they must be, are in each."""
    labels = [column for column in columns if column.is_label]
    numbers = [column for column in columns if not column.is_label]
    widest = max((column.least for column in numbers), default=0)
    for most in (available, available // 3, _NARROWEST):
        beside = [min(column.least, most) for column in labels]
        if _total([*beside, widest]) <= available:
            break
    parts: list[list[_Column]] = [[]]
    for column in numbers:
        if parts[-1] and _total([*beside, *(each.least for each in parts[-1]), column.least]) > available:
            parts.append([])
        parts[-1].append(column)
    return [[*labels, *part] for part in parts]


def _widths(columns: Sequence[_Column], available: int) -> list[int]:
    """Return the width of each column: headings are folded between words, then labels, then words."""
    widths = [column.natural for column in columns]
    between_words = [column.least for column in columns]
    labels = [min(column.least, _NARROWEST) if column.is_label else column.least for column in columns]
    words = [
        min(max(column.widest_cell, _NARROWEST // 2), width)
        for column, width in zip(columns, labels, strict=True)
    ]
    for least in (between_words, labels, words):
        while _total(widths) > available:
            reducible = [width if width > floor else 0 for width, floor in zip(widths, least, strict=True)]
            if not any(reducible):
                break
            widths[reducible.index(max(reducible))] -= 1
    return widths
