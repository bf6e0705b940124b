"""Tables and texts for a terminal: as wide as it is, or as wide as they need to be where there is none."""

from __future__ import annotations

import io
import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from permed_measures.markup import one_line

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Styled", "aligned", "paragraph", "terminal_table"]

_WIDTH = 100
"""So wide are lines of text at most."""

_NARROWEST = 12
"""Labels are not folded to less than this."""


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


def terminal_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str | tuple[str, ...]]],
    n_labels: int,
    block: int = 0,
    spare: Collection[str] = (),
) -> str:
    """Return a table: no value is cut or folded.

    Where the terminal is too narrow, headings are folded first; then columns that can be spared are left out,
    and the last line says which; then labels are folded.

    Parameters
    ----------
    headings : sequence of str
    rows : sequence of sequences of str, (str, str) or Styled
        The cells: a text, perhaps with its style, perhaps with what follows.
    n_labels : int
        So many columns at the left hold texts; the others hold numbers.
    block : int
        After so many rows comes a line; after none if 0.
    spare : collection of str
        The headings of columns of numbers that can be left out, the first first.
    """
    console = _console()
    headings = [one_line(heading) for heading in headings]
    cells = [[_styled(cell) for cell in row] for row in rows]
    columns = _kept(headings, cells, n_labels, spare, console.width)
    widths = _widths(*_sizes(headings, cells, columns), n_labels, console.width)
    console.width = max(console.width, _total(widths))
    shown = [[row[number] for number in columns] for row in cells]
    console.print(_table([headings[number] for number in columns], shown, widths, n_labels, block))
    lines = [line.rstrip() for line in _printed(console).strip("\n").split("\n")]
    gone = [name for number, name in enumerate(headings) if number not in columns]
    lines += ["", paragraph(f"too wide for this terminal: {', '.join(gone)}")] if gone else []
    return "\n".join([*lines, ""])


def aligned(rows: Sequence[Sequence[str]], left: Collection[str]) -> list[str]:
    """Return rows as lines without style: the columns named in `left` to the left, numbers to the right."""
    columns = []
    for header, *cells in zip(*rows, strict=True):
        width = max(map(len, [header, *cells]))
        text = header in left
        columns.append([cell.ljust(width) if text else cell.rjust(width) for cell in (header, *cells)])
    return ["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]


def paragraph(text: str) -> str:
    """Return a text in lines that are no wider than the terminal."""
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


def _printed(console: Console) -> str:
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return text


def _table(
    headings: list[str], rows: list[list[Styled]], widths: list[int], n_labels: int, block: int
) -> object:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    for number, (heading, width) in enumerate(zip(headings, widths, strict=True)):
        side = "left" if number < n_labels else "right"
        table.add_column(Text(heading), justify=side, overflow="fold", width=width)  # type: ignore[arg-type]
    for number, row in enumerate(rows, start=1):
        texts = (Text.assemble((cell.text, cell.style), cell.after) for cell in row)
        table.add_row(*texts, end_section=bool(block) and number % block == 0)
    return table


# --- widths ------------------------------------------------------------------------------------------


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def _kept(
    headings: Sequence[str],
    cells: Sequence[Sequence[Styled]],
    n_labels: int,
    spare: Collection[str],
    available: int,
) -> list[int]:
    """Return which columns are shown."""
    columns = list(range(len(headings)))
    for name in spare:
        if _total(_folded(*_sizes(headings, cells, columns), available, least=8)) <= available:
            break
        columns = [number for number in columns if number < n_labels or headings[number] != name]
    return columns


def _sizes(
    headings: Sequence[str], cells: Sequence[Sequence[Styled]], columns: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Return how wide the headings and the cells of each column are."""
    from rich.cells import cell_len

    values = [
        max((cell_len(row[number].text + row[number].after) for row in cells), default=0)
        for number in columns
    ]
    return [cell_len(headings[number]) for number in columns], values


def _folded(headings: list[int], needed: list[int], available: int, least: int = 6) -> list[int]:
    """Return the width of each column, the headings folded as far as must be, to `least` at most."""
    natural = [max(heading, width) for heading, width in zip(headings, needed, strict=True)]
    widths = natural
    for most in range(max(natural), least - 1, -1):
        widths = [max(width, min(full, most)) for width, full in zip(needed, natural, strict=True)]
        if _total(widths) <= available:
            break
    return widths


def _widths(headings: list[int], needed: list[int], n_labels: int, available: int) -> list[int]:
    """Return the width of each column, the widest labels folded too if they must be."""
    widths = _folded(headings, needed, available)
    while n_labels and _total(widths) > available and max(widths[:n_labels]) > _NARROWEST:
        widths[widths.index(max(widths[:n_labels]))] -= 1
    return widths
