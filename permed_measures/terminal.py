"""Tables and texts that fit the terminal, or are as wide as they need to be where there is none."""

from __future__ import annotations

import io
import sys
from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from permed_measures.markup import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_WIDTH = 100
"""The largest width of lines of text."""

_NARROWEST = 12
"""The smallest width that labels are folded to."""

_GAP = 2
"""Blanks between columns."""


class Styled(NamedTuple):
    """A cell with a style.

    Attributes
    ----------
    text : str
    style : str
        Such as ``bold``.
    after : str
        What follows in the cell without the style.
    """

    text: str
    style: str
    after: str = ""

    def rendered(self) -> Text:
        """Return the cell as rich prints it."""
        from rich.text import Text

        return Text.assemble((self.text, self.style), self.after)


def terminal_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str | tuple[str, ...]]],
    n_labels: int,
    block: int = 0,
    spare: Collection[str] = (),
) -> str:
    """Lay out a table with a line below its headings; values are never cut or folded.

    Where the terminal is too narrow, headings are folded first; then columns that can be spared are left out,
    and the last line says which; then labels are folded.

    Parameters
    ----------
    headings : sequence of str
    rows : sequence of sequences of str, (str, str) or Styled
        The cells: a text, perhaps with its style, perhaps with what follows.
    n_labels : int
        The number of columns at the left that hold text; the others hold numbers.
    block : int
        The number of rows after which there is an empty line; 0 for none.
    spare : collection of str
        The headings of columns of numbers that can be left out, in this order.
    """
    from rich.text import Text

    console = _console()
    headings = [one_line(heading) for heading in headings]
    cells = [[_styled(cell) for cell in row] for row in rows]
    columns = _kept(headings, cells, n_labels, spare, console.width)
    widths = _widths(*_sizes(headings, cells, columns), n_labels, console.width)
    left = [number < n_labels for number in columns]
    shown = [Text(headings[number], "bold") for number in columns]
    lines = [*_lines(shown, widths, left), Text("─" * _total(widths))]
    for number, row in enumerate(cells):
        lines += [Text()] if block and number and number % block == 0 else []
        lines += _lines([row[column].rendered() for column in columns], widths, left)
    gone = [name for number, name in enumerate(headings) if number not in columns]
    text = _printed(console, lines)
    if not gone:
        return text
    note = paragraph(f"too wide for this terminal: {', '.join(gone)}")
    return f"{text}\n{note}\n"


def aligned(rows: Sequence[Sequence[str]], left: Collection[str]) -> list[str]:
    """Lay out rows in lines, without a limit or styles; the columns with these headings are at the left."""
    from rich.text import Text

    texts = [[Text(one_line(cell)) for cell in row] for row in rows]
    widths = [max(text.cell_len for text in column) for column in zip(*texts, strict=True)]
    at_left = [heading in left for heading in rows[0]]
    return [line.plain.rstrip() for row in texts for line in _lines(row, widths, at_left)]


def paragraph(text: str) -> str:
    """Break a text into lines that are no wider than the terminal."""
    from rich.text import Text

    console = _console()
    lines = Text(one_line(text)).wrap(console, min(console.width, _WIDTH))
    return "\n".join(line.plain.rstrip() for line in lines)


def _styled(cell: str | tuple[str, ...]) -> Styled:
    text, *others = (cell,) if isinstance(cell, str) else cell
    return Styled(one_line(text), *others) if others else Styled(one_line(text), "")


def _console() -> Console:
    from rich.console import Console

    terminal = sys.stdout.isatty()
    return Console(
        file=io.StringIO(), width=None if terminal else 10_000, force_terminal=terminal, highlight=False
    )


def _printed(console: Console, lines: Sequence[Text]) -> str:
    """Return lines with the codes of the terminal for their styles."""
    with console.capture() as captured:
        for line in lines:
            console.print(line, soft_wrap=True)
    text = captured.get()
    return text if console.is_terminal else "".join(f"{line.rstrip()}\n" for line in text.split("\n")[:-1])


def _lines(cells: Sequence[Text], widths: Sequence[int], left: Sequence[bool]) -> Iterator[Text]:
    """Yield the lines of a row; a cell that is too wide for its column is folded."""
    from rich.text import Text

    columns = [_folded_cell(cell, width) for cell, width in zip(cells, widths, strict=True)]
    for parts in zip_longest(*columns, fillvalue=Text()):
        padded = []
        for part, width, at_left in zip(parts, widths, left, strict=True):
            blanks = " " * (width - part.cell_len)
            padded.append(part + blanks if at_left else Text(blanks) + part)
        yield Text(" " * _GAP).join(padded)


def _folded_cell(cell: Text, width: int) -> Sequence[Text]:
    if cell.cell_len <= width:
        return [cell]
    lines = cell.wrap(_console(), width, overflow="fold")
    for line in lines:
        line.rstrip()
    return list(lines)


# --- widths ------------------------------------------------------------------------------------------


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _kept(
    headings: Sequence[str],
    cells: Sequence[Sequence[Styled]],
    n_labels: int,
    spare: Collection[str],
    available: int,
) -> list[int]:
    """Return the numbers of the columns that are shown."""
    columns = list(range(len(headings)))
    for name in spare:
        if _total(_folded(*_sizes(headings, cells, columns), available, least=8)) <= available:
            break
        columns = [number for number in columns if number < n_labels or headings[number] != name]
    return columns


def _sizes(
    headings: Sequence[str], cells: Sequence[Sequence[Styled]], columns: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Return the width of the heading and of the widest cell of each column."""
    from rich.cells import cell_len

    values = [
        max((cell_len(row[number].text + row[number].after) for row in cells), default=0)
        for number in columns
    ]
    return [cell_len(headings[number]) for number in columns], values


def _folded(headings: list[int], needed: list[int], available: int, least: int = 6) -> list[int]:
    """Return the width of each column; headings are folded as far as needed, but not below `least`."""
    natural = [max(heading, width) for heading, width in zip(headings, needed, strict=True)]
    widths = natural
    for most in range(max(natural), least - 1, -1):
        widths = [max(width, min(full, most)) for width, full in zip(needed, natural, strict=True)]
        if _total(widths) <= available:
            break
    return widths


def _widths(headings: list[int], needed: list[int], n_labels: int, available: int) -> list[int]:
    """Return the width of each column; the widest labels are folded too if needed."""
    widths = _folded(headings, needed, available)
    while n_labels and _total(widths) > available and max(widths[:n_labels]) > _NARROWEST:
        widths[widths.index(max(widths[:n_labels]))] -= 1
    return widths
