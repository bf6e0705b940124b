"""The cells of a table as its file has them, and what the rows of headings say of each column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from permed_measures.papers.cells import is_blank, label_of, printed_in, title_of

MOST_COLUMNS = 1000
"""Cells that span more columns are cut there."""
_MOST_ROWS_OF_HEADINGS = 4
_CUTOFFS = re.compile(r"@?[0-9]{1,4}")
_CORNER = re.compile(
    r"@?k|cutoff|top-?k|rank|(?:run|system|model|method|approach|algorithm|retriever|ranker|metric|measure)s?"
    r"(?:[ _-]?(?:name|id|tag))?|name|模型|系统|方法|指标",
    re.IGNORECASE,
)
"""What stands left of the last row of headings."""


class Cell(NamedTuple):
    """A cell: its text, its line in the file, and how many columns and rows it spans."""

    text: str
    line: int
    columns: int = 1
    rows: int = 1


Grid = list[list[Cell]]
"""The cells of each row of a table."""


class Row(NamedTuple):
    """The cells of a row as texts, what stands alone in a row above, such as ``k = 5``, and its line."""

    cells: list[str]
    section: str
    line: int


class PrintedTable(NamedTuple):
    """A table: the titles of each column, from the top row of headings to the lowest, and its rows.

    Attributes
    ----------
    name : str
        Such as ``table 2``; empty for the only one of a file.
    titles : list of tuple of str
    rows : list of Row
    line : int
        Where it begins.
    """

    name: str
    titles: list[tuple[str, ...]]
    rows: list[Row]
    line: int

    def transposed(self, n: int = 1) -> PrintedTable:
        """Return the table with its rows as columns; their first n cells are the titles."""
        titles = [tuple(filter(None, (row.section, *map(label_of, row.cells[:n])))) for row in self.rows]
        columns = list(zip(*(row.cells for row in self.rows), strict=True))[n:]
        rows = [
            Row([" ".join(title), *cells], "", self.line)
            for title, cells in zip(self.titles[n:], columns, strict=True)
        ]
        return self._replace(titles=[(), *titles], rows=rows)


def spread(rows: Grid) -> Grid:
    """Repeat each cell in all columns and rows that it spans."""
    below: dict[int, tuple[Cell, int]] = {}
    whole = []
    for row in rows:
        cells: list[Cell] = []
        for cell in row:
            _fill(cells, below)
            for _ in range(min(max(cell.columns, 1), MOST_COLUMNS)):
                if cell.rows > 1:
                    below[len(cells)] = (cell, cell.rows - 1)
                cells.append(cell)
        _fill(cells, below)
        whole.append(cells)
    return whole


def _fill(cells: list[Cell], below: dict[int, tuple[Cell, int]]) -> None:
    """Add the cells that reach down to the next columns of a row."""
    while len(cells) in below:
        cell, left = below.pop(len(cells))
        if left > 1:
            below[len(cells)] = (cell, left - 1)
        cells.append(cell)


def tables_of(found: list[Grid]) -> Iterator[PrintedTable]:
    """Return the tables that have a row below their headings, and two columns."""
    whole = [each for each in map(_table, found) if each is not None]
    for number, table in enumerate(whole, start=1):
        yield table._replace(name=f"table {number}" if len(whole) > 1 else "")


def _table(grid: Grid) -> PrintedTable | None:
    width = max(map(len, grid), default=0)
    if width < 2:
        return None
    rows, sections, section = [], [], ""
    for row in grid:
        if _is_section(row, width):
            section = title_of(row[0].text)
        elif any(cell.text.strip() for cell in row):
            rows.append([*row, *[Cell("", row[0].line)] * (width - len(row))])
            sections.append(section)
    n = 1
    while n < min(len(rows), _MOST_ROWS_OF_HEADINGS) and _goes_on(rows, n):
        n += 1
    columns = zip(*rows[:n], strict=True)
    titles = [tuple(dict.fromkeys(filter(None, (title_of(cell.text) for cell in each)))) for each in columns]
    body = [
        Row([cell.text for cell in row], section, max(cell.line for cell in row))
        for row, section in zip(rows[n:], sections[n:], strict=True)
    ]
    return PrintedTable("", titles, body, rows[0][0].line) if body else None


def _is_section(row: list[Cell], width: int) -> bool:
    """Return whether a row is one cell, as a heading between rows is."""
    spans_all = len(row) == width and row[0].columns >= width
    return bool(row and row[0].text.strip()) and (spans_all or not any(cell.text.strip() for cell in row[1:]))


def _goes_on(rows: Grid, n: int) -> bool:
    """Return whether row n goes on with the headings above it."""
    first, above = label_of(rows[n][0].text), label_of(rows[n - 1][0].text)
    cells = [cell.text for cell in rows[n][1:] if not is_blank(cell.text)]
    is_label = not first or first == above or bool(_CORNER.fullmatch(first))
    if not cells or (above and not is_label):
        return False
    if all(_CUTOFFS.fullmatch(title_of(text)) for text in cells) and (not first or first != above or n == 1):
        body = [cell.text for row in rows[n + 1 :] for cell in row[1:]]
        return is_label and any("." in text and printed_in(text) for text in body)
    return not any(printed_in(text) for text in cells)
