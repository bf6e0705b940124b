"""Tables in CSV, with any delimiter."""

from __future__ import annotations

import csv
import io

from permed_measures.errors import InputError
from permed_measures.papers.grids import Cell, Grid

_DELIMITERS = ",;\t|:^~!#&"


def delimited_tables(text: str, where: str) -> list[Grid]:
    """Return the table of a CSV file; blank lines are left out.

    Raises
    ------
    InputError
        For a row with more or fewer cells than the first one, and a quotation without its end.
    """
    delimiter = _delimiter_of(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: Grid = []
    try:
        for row in reader:
            cells = [Cell(cell.strip(), reader.line_num) for cell in row]
            if rows and cells and len(cells) != len(rows[0]):
                problem = f"the row has {len(cells)} cells, but the header has {len(rows[0])}"
                raise InputError(problem, where=f"{where}:{reader.line_num}")
            if cells:
                rows.append(cells)
    except csv.Error as error:
        raise InputError(f"cannot be read as CSV ({error})", where=where) from None
    return [rows]


def _delimiter_of(text: str) -> str:
    """Return the delimiter that makes the most cells of the first line; a comma if none makes two."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return max(_DELIMITERS, key=first.count)
