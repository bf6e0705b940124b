"""Tables and texts that fit the terminal, or are as wide as they need to be where there is none."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import TextIO

from permed_measures.escaping import Styled, one_line

_WIDTH = 100  # the largest, of lines of text
_NO_LIMIT = sys.maxsize  # the width where there is no terminal
_NARROWEST = 12  # the smallest width that labels are folded to
_COLUMN_GAP = "  "  # between columns
_CODES = {"bold": "1", "dim": "2", "underline": "4"}


def display_width(text: str) -> int:
    """Return how many columns of the terminal a text takes: two for a Chinese character."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # which has a table of Unicode

    return cell_len(text)


class _Column:
    def __init__(self, heading: str, cells: list[Styled], is_label: bool) -> None:
        self.heading, self.cells, self.is_label = heading, cells, is_label

    @cached_property
    def widest_cell(self) -> int:
        return max((display_width(cell.text + cell.after) for cell in self.cells), default=0)

    @property
    def natural(self) -> int:
        """The width without any folding."""
        return max(display_width(self.heading), self.widest_cell)

    @cached_property
    def least(self) -> int:
        """The width with a folded heading."""
        return max(*(display_width(piece.strip()) for piece in _pieces(self.heading)), self.widest_cell)

    def narrowest(self, most: int) -> int:
        """Return the width down to which a label is folded: its parts of words are whole, up to `most`."""
        texts = (piece for cell in self.cells for piece in _parts_of_words(cell.text + cell.after))
        widest = max((display_width(text.strip()) for text in texts), default=0)
        return min(self.least, max(_NARROWEST, min(widest, most)))


def terminal_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str | Styled]],
    n_labels: int,
    starts: Collection[int] = (),
    spare: Collection[str] = (),
) -> str:
    """Lay out a table with a line below its headings; values are never cut or folded.

    Where the terminal is too narrow, headings are folded first, but not within words;
    then columns that can be spared are left out, and the last line says which;
    then the table goes on below, beside the same labels; then labels are folded, between parts of words.

    Parameters
    ----------
    headings : sequence of str
    rows : sequence of sequences of str or Styled
    n_labels : int
        The number of columns at the left that hold text; the others hold numbers.
    starts : collection of int
        The rows that an empty line stands before.
    spare : collection of str
        The headings of columns of numbers that can be left out, in this order.
    """
    width = _width(sys.stdout)
    columns = [
        _Column(one_line(heading), [_cell(row[number]) for row in rows], number < n_labels)
        for number, heading in enumerate(headings)
    ]
    kept = _kept(columns, spare, width)
    lines: list[str] = []
    for part in _parts(kept, width):
        lines += [""] if lines else []
        lines += _laid_out(part, starts, width)
    gone = ", ".join(column.heading for column in columns if column not in kept)
    note = f"\n{paragraph(f'hidden (terminal too narrow): {gone}')}\n" if gone else ""
    return "".join(f"{line.rstrip()}\n" for line in lines) + note


def _laid_out(columns: Sequence[_Column], starts: Collection[int], available: int) -> Iterator[str]:
    """Yield the lines of a table."""
    widths = _widths(columns, available)
    left = [column.is_label for column in columns]
    yield from _lines([Styled(column.heading, "bold") for column in columns], widths, left)
    yield _rule() * _total(widths)
    with_space = {*starts} - {0}
    for number, row in enumerate(zip(*(column.cells for column in columns), strict=True)):
        if number in with_space:
            yield ""
        yield from _lines(row, widths, left)


def paragraph(text: str, hang: int = 0, stream: TextIO | None = None) -> str:
    """Break a text into lines that fit the terminal; all but the first are indented by `hang` blanks."""
    start, rest = one_line(text)[:hang], one_line(text)[hang:]
    width = max(min(_width(stream or sys.stdout), _WIDTH) - hang, 1)
    return start + f"\n{' ' * hang}".join(_folded(re.split("(?<= )", rest), width))


def section(heading: str, texts: Iterable[str]) -> str:
    """Lay out a heading in bold and paragraphs below it, indented by two blanks and hanging by two more."""
    width = _width(sys.stdout)
    width = width if width == _NO_LIMIT else min(width, _WIDTH)
    lines = [_styled(line, "bold") for line in _folded(re.split("(?<= )", one_line(heading)), width)]
    lines += [paragraph(f"  {one_line(text)}", hang=4) for text in texts]
    return "".join(f"{line}\n" for line in lines)


def _rule() -> str:
    """Return the character of a line, which not every encoding has."""
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
    """Return how many characters a line has: what is written to memory or a file has no limit."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns) and (stream.isatty() or not isinstance(stream, io.StringIO)):
        return int(columns)
    try:
        # A terminal that a program opens for another one may have 0 columns.
        return (os.get_terminal_size(stream.fileno()).columns or 80) if stream.isatty() else _NO_LIMIT
    except OSError:
        return 80


def _styled(text: str, style: str) -> str:
    """Return a text with the codes of the terminal for its style, if there is a terminal that has them."""
    if not style or not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    if os.environ.get("TERM") in ("dumb", "unknown"):
        return text
    return f"\x1b[{';'.join(_CODES[each] for each in style.split())}m{text}\x1b[0m"


def _lines(cells: Sequence[Styled], widths: Sequence[int], left: Sequence[bool]) -> Iterator[str]:
    """Yield the lines of a row; a cell that is too wide for its column is folded."""
    columns = [_fitted(*each) for each in zip(cells, widths, left, strict=True)]
    blanks = [" " * width for width in widths]
    for parts in zip_longest(*columns):
        yield _COLUMN_GAP.join(part or blank for part, blank in zip(parts, blanks, strict=True))


def _fitted(cell: Styled, width: int, at_left: bool) -> list[str]:
    """Return the lines of a cell, as wide as its column."""
    whole = cell.text + cell.after
    if display_width(whole) <= width:
        parts = [(cell.text, cell.after)]
    else:
        parts = [(line, "") for line in _folded(_parts_of_words(whole), width)]
    lines = []
    for text, after in parts:
        blanks = " " * (width - display_width(text + after))
        shown = _styled(text, cell.style) + after
        lines.append(shown + blanks if at_left else blanks + shown)
    return lines


def _pieces(heading: str) -> list[str]:
    """Divide a heading where it may be folded."""
    return re.split(r"(?=[ @(])|(?<=[-,])", heading)


def _parts_of_words(text: str) -> list[str]:
    """Divide a text that is wider than its column, such as ``neural_embedding_v2``, but not a number."""
    return re.split(r"(?=[ @(])|(?<=[-,])|(?<=[_/])(?=\w)|(?<=\D\.)(?=\w)|(?<=\.)(?=[^\W\d])", text)


def _folded(pieces: Iterable[str], width: int) -> list[str]:
    """Put pieces of a text into lines; a piece that is wider than a line is cut."""
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


def _folded_labels(columns: Sequence[_Column], available: int) -> list[int]:
    """Return the least widths, labels folded as far as they may be."""
    most = available // (1 + sum(column.is_label for column in columns))
    return [column.narrowest(most) if column.is_label else column.least for column in columns]


def _kept(columns: list[_Column], spare: Collection[str], available: int) -> list[_Column]:
    """Leave out columns that can be spared until the others fit, labels folded to a third of the width."""
    for name in spare:
        folded = zip(columns, _folded_labels(columns, available), strict=True)
        least = [min(column.least, max(width, available // 3)) for column, width in folded]
        if _total(least) <= available:
            break
        columns = [column for column in columns if column.is_label or column.heading != name]
    return columns


def _parts(columns: list[_Column], available: int) -> list[list[_Column]]:
    """Divide the columns of numbers into tables that fit; the labels, folded if they must be, are in each."""
    labels = [column for column in columns if column.is_label]
    numbers = [column for column in columns if not column.is_label]
    widest = max((column.least for column in numbers), default=0)
    for beside in ([column.least for column in labels], _folded_labels(labels, available)):
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
    labels = _folded_labels(columns, available)
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
