"""Lay out tables and texts to fit the terminal or a width; without a terminal, lines have no limit."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import NamedTuple, TextIO

from permed_measures.escaping import Styled, one_line

_WIDTH = 100  # the maximum for lines of text
NO_LIMIT = sys.maxsize
"""The width of a line without a terminal."""

_NARROWEST = 12  # the minimum width of a folded label
_COLUMN_GAP = "  "
_CODES = {"bold": "1", "dim": "2", "underline": "4"}


def display_width(text: str) -> int:
    """Count the terminal columns that a text takes: two for a Chinese character."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # it has the widths of Unicode characters

    return cell_len(text)


class _Column:
    def __init__(self, heading: str, cells: list[Styled], is_label: bool) -> None:
        self.heading, self.cells, self.is_label = heading, cells, is_label

    @cached_property
    def widest_cell(self) -> int:
        return max((display_width(cell.text + cell.after) for cell in self.cells), default=0)

    @property
    def natural(self) -> int:
        """The width without folding."""
        return max(display_width(self.heading), self.widest_cell)

    @cached_property
    def minimum(self) -> int:
        """The width with a folded heading and whole cells."""
        return max(*(display_width(piece.strip()) for piece in _pieces(self.heading)), self.widest_cell)

    def minimum_of_label(self, limit: int) -> int:
        """Return the width of a folded label: its widest part of a word, but at most `limit`."""
        texts = (piece for cell in self.cells for piece in _parts_of_words(cell.text + cell.after))
        widest = max((display_width(text.strip()) for text in texts), default=0)
        return min(self.minimum, max(_NARROWEST, min(widest, limit)))


def terminal_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str | Styled]],
    n_labels: int,
    starts: Collection[int] = (),
    droppable: Collection[str] = (),
    width: int | None = None,
) -> str:
    """Lay out a table with a line below its headings; values are never cut or folded.

    If the width is too small, the table changes in this order: headings are folded between words; droppable
    columns are left out, and the last line names them; further columns go into a second table below, beside
    the same labels; labels are folded between parts of words.

    Parameters
    ----------
    headings : sequence of str
    rows : sequence of sequences of str or Styled
    n_labels : int
        The number of columns at the left that hold text; the others hold numbers.
    starts : collection of int
        Indices of the rows that follow an empty line.
    droppable : collection of str
        The headings of columns of numbers that can be left out, in this order.
    width : int, optional
        The columns of the table, as plain text; if left out, those of the terminal, in bold where it can.
    """
    medium = _Medium.of(width)
    columns = [
        _Column(one_line(heading), [_cell(row[index]) for row in rows], index < n_labels)
        for index, heading in enumerate(headings)
    ]
    kept = _drop_columns(columns, droppable, medium.width)
    lines: list[str] = []
    for part in _split_columns(kept, medium.width):
        lines += [""] if lines else []
        lines += _table_lines(part, starts, medium)
    dropped = ", ".join(column.heading for column in columns if column not in kept)
    note = f"\n{paragraph(f'hidden (terminal too narrow): {dropped}', width=width)}\n" if dropped else ""
    return "".join(f"{line.rstrip()}\n" for line in lines) + note


def _table_lines(columns: Sequence[_Column], starts: Collection[int], medium: _Medium) -> Iterator[str]:
    """Yield the lines of a table."""
    widths = _widths(columns, medium.width)
    is_left = [column.is_label for column in columns]
    yield from _row_lines([Styled(column.heading, "bold") for column in columns], widths, is_left, medium)
    yield medium.rule * _total(widths)
    with_space = {*starts} - {0}
    for index, row in enumerate(zip(*(column.cells for column in columns), strict=True)):
        if index in with_space:
            yield ""
        yield from _row_lines(row, widths, is_left, medium)


def paragraph(text: str, hang: int = 0, stream: TextIO | None = None, width: int | None = None) -> str:
    """Break a text into lines that fit the terminal or a width; indent all but the first by `hang` blanks."""
    start, rest = one_line(text)[:hang], one_line(text)[hang:]
    columns = _width(stream or sys.stdout) if width is None else width
    return start + f"\n{' ' * hang}".join(
        _fold(re.split("(?<= )", rest), max(min(columns, _WIDTH) - hang, 1))
    )


def section(heading: str, texts: Iterable[str], width: int | None = None) -> str:
    """Lay out a bold heading and the paragraphs below it, indented by two blanks, later lines by four."""
    medium = _Medium.of(width)
    columns = medium.width if medium.width == NO_LIMIT else min(medium.width, _WIDTH)
    lines = [medium.styled(line, "bold") for line in _fold(re.split("(?<= )", one_line(heading)), columns)]
    lines += [paragraph(f"  {one_line(text)}", hang=4, width=width) for text in texts]
    return "".join(f"{line}\n" for line in lines)


class _Medium(NamedTuple):
    """The properties of a terminal or a text that a table depends on.

    Attributes
    ----------
    width : int
        In columns.
    has_styles : bool
        Whether codes for bold and underlined text are understood.
    rule : str
        The character for a horizontal line.
    """

    width: int
    has_styles: bool = False
    rule: str = "─"

    @classmethod
    def of(cls, width: int | None) -> _Medium:
        """Describe plain text of a width; without a width, describe stdout."""
        return (
            cls(_width(sys.stdout), _understands_styles(sys.stdout), _rule()) if width is None else cls(width)
        )

    def styled(self, text: str, style: str) -> str:
        """Add the terminal codes of a style to a text, if they are understood."""
        if not style or not self.has_styles:
            return text
        return f"\x1b[{';'.join(_CODES[name] for name in style.split())}m{text}\x1b[0m"


def _understands_styles(stream: TextIO) -> bool:
    """Check whether a stream is a terminal that understands codes, and its user wants them."""
    is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") in ("dumb", "unknown")
    return stream.isatty() and not is_plain


def _rule() -> str:
    """Return the character for a horizontal line: a hyphen if stdout's encoding has no ``─``."""
    try:
        "─".encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return "-"
    return "─"


def _cell(cell: str | Styled) -> Styled:
    if isinstance(cell, str):
        return Styled(one_line(cell), "")
    return Styled(one_line(cell.text), cell.style, cell.after)


def _width(stream: TextIO) -> int:
    """Return the width of a line in characters; in memory or in a file there is no limit."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns) and (stream.isatty() or not isinstance(stream, io.StringIO)):
        return int(columns)
    try:
        # A terminal that a program opens for another one may have 0 columns.
        return (os.get_terminal_size(stream.fileno()).columns or 80) if stream.isatty() else NO_LIMIT
    except OSError:
        return 80


def _row_lines(
    cells: Sequence[Styled], widths: Sequence[int], is_left: Sequence[bool], medium: _Medium
) -> Iterator[str]:
    """Yield the lines of a row; fold a cell that is too wide for its column."""
    columns = [_cell_lines(*aligned, medium) for aligned in zip(cells, widths, is_left, strict=True)]
    blanks = [" " * width for width in widths]
    for parts in zip_longest(*columns):
        yield _COLUMN_GAP.join(part or blank for part, blank in zip(parts, blanks, strict=True))


def _cell_lines(cell: Styled, width: int, is_left: bool, medium: _Medium) -> list[str]:
    """Return the lines of a cell, each padded to the width of its column."""
    whole = cell.text + cell.after
    if display_width(whole) <= width:
        parts = [(cell.text, cell.after)]
    else:
        parts = [(line, "") for line in _fold(_parts_of_words(whole), width)]
    lines = []
    for text, after in parts:
        blanks = " " * (width - display_width(text + after))
        styled = medium.styled(text, cell.style) + after
        lines.append(styled + blanks if is_left else blanks + styled)
    return lines


def _pieces(heading: str) -> list[str]:
    """Split a heading at the places where it may be folded."""
    return re.split(r"(?=[ @(])|(?<=[-,])", heading)


def _parts_of_words(text: str) -> list[str]:
    """Split a wide text between words and within names such as ``neural_embedding_v2``, not in numbers."""
    return re.split(r"(?=[ @(])|(?<=[-,])|(?<=[_/])(?=\w)|(?<=\D\.)(?=\w)|(?<=\.)(?=[^\W\d])", text)


def _fold(pieces: Iterable[str], width: int) -> list[str]:
    """Join pieces of a text into lines; cut a piece that is wider than a line."""
    lines = [""]
    for piece in pieces:
        if display_width((lines[-1] + piece).rstrip()) > width:
            lines.append("")
        line = lines[-1] + (piece if lines[-1] or len(lines) == 1 else piece.lstrip())
        lines[-1:] = _cut(line, width) if display_width(line.rstrip()) > width else [line]
    return [line.rstrip() for line in lines if line.strip()] or [""]


def _cut(text: str, width: int) -> list[str]:
    from rich.cells import chop_cells

    return chop_cells(text, width)


# --- widths ------------------------------------------------------------------------------------------


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_COLUMN_GAP) * (len(widths) - 1)


def _minimum_widths(columns: Sequence[_Column], available: int) -> list[int]:
    """Return the minimum width of each column, with labels folded."""
    limit = available // (1 + sum(column.is_label for column in columns))
    return [column.minimum_of_label(limit) if column.is_label else column.minimum for column in columns]


def _drop_columns(columns: list[_Column], droppable: Collection[str], available: int) -> list[_Column]:
    """Drop droppable columns until the others fit; labels may be folded to a third of the available width."""
    for name in droppable:
        folded = zip(columns, _minimum_widths(columns, available), strict=True)
        minimum = [min(column.minimum, max(width, available // 3)) for column, width in folded]
        if _total(minimum) <= available:
            break
        columns = [column for column in columns if column.is_label or column.heading != name]
    return columns


def _split_columns(columns: list[_Column], available: int) -> list[list[_Column]]:
    """Split the columns of numbers into tables that fit, each with the labels, folded if necessary."""
    labels = [column for column in columns if column.is_label]
    numbers = [column for column in columns if not column.is_label]
    widest = max((column.minimum for column in numbers), default=0)
    for label_widths in ([column.minimum for column in labels], _minimum_widths(labels, available)):
        if _total([*label_widths, widest]) <= available:
            break
    parts: list[list[_Column]] = [[]]
    for column in numbers:
        part_widths = [previous.minimum for previous in parts[-1]]
        if parts[-1] and _total([*label_widths, *part_widths, column.minimum]) > available:
            parts.append([])
        parts[-1].append(column)
    return [[*labels, *part] for part in parts]


def _widths(columns: Sequence[_Column], available: int) -> list[int]:
    """Compute the column widths: fold headings between words, then labels, then headings within words."""
    widths = [column.natural for column in columns]
    between_words = [column.minimum for column in columns]
    labels = _minimum_widths(columns, available)
    words = [
        min(max(column.widest_cell, _NARROWEST // 2), width)
        for column, width in zip(columns, labels, strict=True)
    ]
    for minimum in (between_words, labels, words):
        while _total(widths) > available:
            reducible = [width if width > floor else 0 for width, floor in zip(widths, minimum, strict=True)]
            if not any(reducible):
                break
            widths[reducible.index(max(reducible))] -= 1
    return widths
