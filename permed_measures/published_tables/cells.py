"""Parse the cells of a printed table: the number in each, and the headings of columns and rows.

The readers of all formats write superscripts as ``^{...}`` and subscripts as ``_{...}``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from itertools import chain
from typing import NamedTuple

_NO_CLAIM = frozenset(("", "-", "--", "---", "−", "–", "—", "/", "\\", "n/a", "n.a.", "na", "nan", "none"))
"""Texts of cells without a number."""

_NUMBER_PATTERN = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?"
_UP, _DOWN = "↑▲△⬆↗", "↓▼▽⬇↘"
_MARKS_OF_NUMBERS = " *_†‡§¶⋆★☆✱∗•◦∙'\"′″\u200b\ufeff~≈🥇🥈🥉🏅🏆🔥⭐🌟✅✔✓\ufe0f"
_SCRIPTS = re.compile(r"[\^_]\{[^{}]*\}")
_RAISED = re.compile(r"\^\{[^{}]*\}")
_LOWERED = re.compile(r"_\{([^{}]*)\}")
_MINUS = str.maketrans(dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\uff0d", "-"))
_THOUSANDS = re.compile(r"(?<![0-9.,])[1-9][0-9]{0,2}(?:,[0-9]{3})+(?![0-9,])")
_DECIMAL_COMMA = re.compile(r"(?<![0-9.,])(?:0?,[0-9]+|[0-9]{1,3},(?:[0-9]{1,2}|[0-9]{4,}))(?![0-9,])")
_SIGNED_COMMA = re.compile(r"(?<=[±+-])( *[0-9]{1,3}),(?=[0-9])")
"""The decimal comma of a deviation or change in brackets; others may separate the ends of an interval."""
_FIRST_NUMBER = re.compile(rf"(?P<sign>[+-]?) *(?P<number>{_NUMBER_PATTERN})(?P<percent> *%)?")
_INTERVAL_PATTERN = (
    rf"[\[(] *[+-]?{_NUMBER_PATTERN}(?: *%)? *(?:,|;|--?| to ) *[+-]?{_NUMBER_PATTERN}(?: *%)? *[\])]"
)
_SPREAD = r"(?:±|\+/-|\+-|sd ?=?|std ?=?|Δ ?=?)"
_REST = re.compile(
    rf"(?:[{re.escape(_MARKS_OF_NUMBERS + _UP + _DOWN)}]|{_INTERVAL_PATTERN}|"
    rf"(?:{_SPREAD}|[{_UP}{_DOWN}+-]) *{_NUMBER_PATTERN}(?: *%)?"
    rf"|[(\[] *{_SPREAD}? *[{_UP}{_DOWN}+-]? *{_NUMBER_PATTERN}(?: *%)? *[)\]]|\(\)|\[\])*"
)
"""Text that may follow a number: marks, an interval, a deviation or a change."""
_LONGEST_NAME = 200
_BETWEEN_NUMBERS = ("/", "|", ";", ", ")


class CellNumber(NamedTuple):
    """The number in a cell.

    Attributes
    ----------
    number : str
        The number with its percent sign; empty if the cell has only an interval.
    signed : bool
        Whether the number has a sign or an arrow, as differences have.
    """

    number: str
    signed: bool = False

    @property
    def value(self) -> Decimal:
        """The number without its percent sign."""
        return Decimal(self.number.rstrip("%"))


def plain(text: str) -> str:
    """Normalize a text to one line with characters of normal width, and superscript digits as ``^{...}``.

    Examples
    --------
    >>> plain("0.53²")
    '0.53^{2}'
    """
    parts = []
    for character in text:
        if unicodedata.decomposition(character).startswith("<super>"):
            parts.append(f"^{{{unicodedata.normalize('NFKC', character)}}}")
        else:
            parts.append(character)
    return " ".join(unicodedata.normalize("NFKC", "".join(parts)).split())


def is_blank(text: str) -> bool:
    """Check whether a text stands for a missing number."""
    return plain(text).strip(_MARKS_OF_NUMBERS).lower() in _NO_CLAIM


def title_of(text: str) -> str:
    """Remove superscripts from a title, and write subscripts in line: ``nDCG_{10}`` as ``nDCG_10``."""
    return " ".join(_LOWERED.sub(r"_\1", _RAISED.sub("", plain(text))).split())


def label_of(text: str) -> str:
    """Remove marks and superscripts from the name of a row."""
    return title_of(text).strip(_MARKS_OF_NUMBERS + "↑↓")


def letters_and_digits(name: str) -> str:
    """Return the letters and digits of a name, in lower case."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", name).casefold()))


def printed_in(text: str) -> CellNumber | None:
    """Parse the number in a cell; None without a number, or with other text than may follow one.

    Examples
    --------
    >>> printed_in("**0.5357**^{†} ± 0.012").number, printed_in("53.57 %*").number, printed_in("5 of 7")
    ('0.5357', '53.57%', None)
    >>> printed_in("0.5357 (+1.2%)").number, printed_in("0.53 [0.51, 0.55]").number, printed_in("↓1.2%")
    ('0.5357', '0.53', CellNumber(number='-1.2%', signed=True))
    """
    cell = _simplified(text)
    if re.fullmatch(_INTERVAL_PATTERN, cell):
        return CellNumber("")
    match = _FIRST_NUMBER.match(cell.lstrip(_UP + _DOWN + _MARKS_OF_NUMBERS))
    if match is None or not _REST.fullmatch(match.string, match.end()):
        return None
    sign = "-" if cell[0] in _DOWN else match["sign"]
    number = sign.replace("+", "") + match["number"] + ("%" if match["percent"] else "")
    return CellNumber(number, bool(sign) or cell[0] in _UP)


def numbers_in(text: str, n: int = 0) -> list[str]:
    """Split a cell into several numbers or blanks, exactly n if n is not 0; empty if it cannot be split.

    Examples
    --------
    >>> numbers_in("0.5 / 0.4"), numbers_in("0,5; -; 0,3"), numbers_in("0.5 / 0.4", 3), numbers_in("a / b")
    (['0.5', '0.4'], ['0,5', '-', '0,3'], [], [])
    """
    for sign in _BETWEEN_NUMBERS:
        parts = [part.strip() for part in text[:_LONGEST_NAME].split(sign)]
        are_numbers = any(map(printed_in, parts)) and all(
            printed_in(part) or is_blank(part) for part in parts
        )
        if are_numbers and len(parts) > 1 and n in (0, len(parts)):
            return parts
    return []


def holds_numbers(text: str) -> bool:
    """Check whether a cell holds a number, or several."""
    return printed_in(text) is not None or bool(numbers_in(text))


def _simplified(text: str) -> str:
    """Remove marks, superscripts and subscripts from a cell; write decimal points and plain minus signs."""
    cell = _SCRIPTS.sub("", plain(text[:_LONGEST_NAME])).translate(_MINUS)
    cell = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), cell)
    start = min((index for sign in "[(" if (index := cell.find(sign)) >= 0), default=len(cell))
    before = _DECIMAL_COMMA.sub(lambda match: match[0].replace(",", "."), cell[:start])
    cell = before + _SIGNED_COMMA.sub(r"\1.", cell[start:])
    return cell.strip(_MARKS_OF_NUMBERS)


# --- rows and headings -----------------------------------------------------------------------------

MOST_COLUMNS = 1000
"""Maximum number of columns that a cell spans."""
_MOST_ROWS_OF_HEADINGS = 4
_CUTOFF_PATTERN = re.compile(r"@?[0-9]{1,4}")
_CORNER = re.compile(
    r"@?k|cutoff|top-?k|rank|(?:run|system|model|method|approach|algorithm|retriever|ranker|metric|measure)s?"
    r"(?:[ _-]?(?:name|id|tag))?|name|模型|系统|方法|指标",
    re.IGNORECASE,
)
"""Text of the first cell in the last row of headings."""


class TableCell(NamedTuple):
    """A cell: its text, its line in the file, and the number of columns and rows that it spans."""

    text: str
    line: int
    columns: int = 1
    rows: int = 1


Grid = list[list[TableCell]]
"""The cells of each row of a table."""


class NumberCell(NamedTuple):
    """A cell below the headings: its text, and the number in it."""

    text: str
    number: CellNumber | None = None

    @classmethod
    def of(cls, text: str) -> NumberCell:
        """Make a cell of a text, with its number if it holds one."""
        return cls(text, printed_in(text))

    @property
    def is_blank(self) -> bool:
        """Whether the text of the cell stands for a missing number."""
        return self.number is None and is_blank(self.text)


class TableRow(NamedTuple):
    """The cells of a row, and the section headings above it: texts alone in their row.

    Attributes
    ----------
    cells : list of NumberCell
    sections : tuple of str
        The headings that belong to the numbers of the row, such as ``DL19`` and ``k = 5``.
    line : int
    block : str
        The heading that is not a measure or cutoff, such as ``DL19``, also if it is not in `sections`.
    """

    cells: list[NumberCell]
    sections: tuple[str, ...]
    line: int
    block: str = ""


class PrintedTable(NamedTuple):
    """A table: the titles of each column, and the rows below them.

    Attributes
    ----------
    name : str
        A name such as ``table 2``; empty for the only table of a file.
    titles : list of tuple of str
        The titles of each column, from the top heading to the lowest.
    rows : list of TableRow
    line : int
        The first line of the table.
    is_turned : bool
        Whether its rows were columns in the file.
    """

    name: str
    titles: list[tuple[str, ...]]
    rows: list[TableRow]
    line: int
    is_turned: bool = False

    def arranged(self, columns: list[int]) -> PrintedTable:
        """Reorder the columns of the table."""
        rows = [row._replace(cells=[row.cells[n] for n in columns]) for row in self.rows]
        return self._replace(titles=[self.titles[n] for n in columns], rows=rows)

    def transposed(self, n: int) -> PrintedTable:
        """Turn rows into columns; the first n cells of a row become the titles of its column."""
        labels = [(*row.sections, *(label_of(cell.text) for cell in row.cells[:n])) for row in self.rows]
        titles = [tuple(filter(None, texts)) for texts in labels]
        columns = list(zip(*(row.cells for row in self.rows), strict=True))[n:]
        rows = [
            TableRow([NumberCell.of(" ".join(title)), *cells], (), self.line)
            for title, cells in zip(self.titles[n:], columns, strict=True)
        ]
        return self._replace(titles=[(), *titles], rows=rows, is_turned=True)


def count_in(text: str | None) -> int:
    """Parse a count, such as the columns that a cell spans; 1 if the text is not a count."""
    digits = (text or "").strip()
    return int(digits) if digits.isdecimal() and len(digits) < 9 else 1


def expand_spans(rows: Grid) -> Grid:
    """Repeat each cell in all columns and rows that it spans."""
    below: dict[int, TableCell] = {}
    whole = []
    for row in rows:
        cells: list[TableCell] = []
        new = chain.from_iterable([cell] * max(cell.columns, 1) for cell in row)
        while (cell := below.pop(len(cells), None) or next(new, None)) is not None:
            if cell.rows > 1:
                below[len(cells)] = cell._replace(rows=cell.rows - 1)
            cells.append(cell)
        whole.append(cells)
    return whole


def tables_of(grids: list[Grid]) -> Iterator[PrintedTable]:
    """Yield the tables that have at least two columns, and a row below their headings."""
    tables = [table for table in map(_table, grids) if table is not None]
    for number, table in enumerate(tables, start=1):
        yield table._replace(name=f"table {number}" if len(tables) > 1 else "")


def _table(grid: Grid) -> PrintedTable | None:
    """Separate the headings of a table from its rows; None without a row or a second column."""
    width = max(map(len, grid), default=0)
    if width < 2:
        return None
    rows, sections = _with_sections(grid, width)
    n = 1
    while n < min(len(rows), _MOST_ROWS_OF_HEADINGS) and _is_heading_row(rows, n):
        n += 1
    columns = zip(*_forward_fill_headings(rows[:n]), strict=True)
    texts = ((title_of(cell.text) for cell in column) for column in columns)
    titles = [tuple(dict.fromkeys(filter(None, column))) for column in texts]
    body = [
        TableRow([NumberCell.of(cell.text) for cell in row], above, max(cell.line for cell in row))
        for row, above in zip(rows[n:], sections[n:], strict=True)
    ]
    return PrintedTable("", titles, body, rows[0][0].line) if body else None


def _with_sections(grid: Grid, width: int) -> tuple[Grid, list[tuple[str, ...]]]:
    """Separate section headings from rows; pad each row to the width of the table.

    A section heading is a text alone in its row, in the first cell. It may be in another cell too, if there
    is such a row below one with numbers. Rows that repeat the headings of the table are left out.
    """
    rows: Grid = []
    sections: list[tuple[str, ...]] = []
    above: tuple[str, ...] = ()
    numbers = (n for n, row in enumerate(grid) if any(holds_numbers(cell.text) for cell in row[1:]))
    anywhere = any(map(_is_one_text, grid[next(numbers, len(grid)) :]))
    for row in grid:
        is_repeated = bool(rows) and width > 2 and _is_repeated(row, width)
        if is_repeated or _is_section(row, width) or (anywhere and _is_one_text(row)):
            above = (*above, title_of(next(cell.text for cell in row if cell.text.strip())))
        elif any(cell.text.strip() for cell in row) and not _repeats(row, rows[:_MOST_ROWS_OF_HEADINGS]):
            rows.append([*row, *[TableCell("", row[0].line)] * (width - len(row))])
            sections.append(above)
            above = ()
    return rows, sections


def _repeats(row: list[TableCell], headings: Grid) -> bool:
    """Check whether a row without numbers repeats one of the first rows."""
    texts = [cell.text for cell in row]
    heading_texts = ([cell.text for cell in heading] for heading in headings)
    return texts in heading_texts and not any(map(holds_numbers, texts))


def _is_repeated(row: list[TableCell], width: int) -> bool:
    """Check whether all cells of a row have the same words, as in formats that repeat a spanning text."""
    texts = {cell.text for cell in row}
    return (
        len(row) == width
        and len(texts) == 1
        and not any(is_blank(text) or holds_numbers(text) for text in texts)
    )


def _is_one_text(row: list[TableCell]) -> bool:
    """Check whether a row has nothing but one text, outside of its first cell."""
    texts = {cell.text for cell in row if cell.text.strip()}
    return len(texts) == 1 and not row[0].text.strip() and not any(map(printed_in, texts))


def _forward_fill_headings(headings: Grid) -> Grid:
    """Repeat a heading over the empty cells right of it, for formats or authors that use no spans."""
    rows = [list(row) for row in headings]
    for n, row in enumerate(rows, start=1):
        below = [any(cell.text.strip() for cell in cells) for cells in zip(*rows[n:], strict=True)]
        for right in range(2, len(below)) if all(cell.columns == 1 for cell in row) else ():
            if below[right] and below[right - 1] and not row[right].text.strip():
                row[right] = row[right - 1]
    return rows


def _is_section(row: list[TableCell], width: int) -> bool:
    """Check whether a row has only its first cell, or one cell that spans the table."""
    spans_all = len(row) == width and row[0].columns >= width
    return bool(row and row[0].text.strip()) and (spans_all or not any(cell.text.strip() for cell in row[1:]))


def _is_heading_row(rows: Grid, n: int) -> bool:
    """Check whether row n belongs to the headings above it."""
    first, above = label_of(rows[n][0].text), label_of(rows[n - 1][0].text)
    cells = [cell.text for cell in rows[n][1:] if not is_blank(cell.text)]
    is_label = not first or first == above or bool(_CORNER.fullmatch(first))
    if not cells or (above and not is_label):
        return False
    if all(_CUTOFF_PATTERN.fullmatch(title_of(text)) for text in cells) and (
        not first or first != above or n == 1
    ):
        body = [cell.text for row in rows[n + 1 :] for cell in row[1:]]
        return is_label and any("." in text and printed_in(text) for text in body)
    return not any(map(holds_numbers, cells))
