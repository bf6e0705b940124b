"""Other columns for tables of runs: a CSV file with a line for each run."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from permed_measures.errors import InputError


def read_columns(path: Path) -> dict[str, dict[str, str]]:
    """Read the cells of each run: the first column has the names of the runs, the first line the headings.

    Raises
    ------
    InputError
        If a line has another number of cells than the first, or a run or a heading stands twice.
    OSError
        If the file cannot be opened.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text ({error.reason})", where=str(path)) from None
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    if not rows or len(rows[0][1]) < 2:
        raise InputError("expected a line of headings: run, then other columns", where=str(path))
    headings = [cell.strip() for cell in rows[0][1]]
    if len(set(headings)) < len(headings):
        raise InputError("two columns have the same heading", where=f"{path}:{rows[0][0]}")
    found: dict[str, dict[str, str]] = {}
    for line, row in rows[1:]:
        if len(row) != len(headings):
            raise InputError(f"expected {len(headings)} cells (found {len(row)})", where=f"{path}:{line}")
        run, *cells = [cell.strip() for cell in row]
        if run in found:
            raise InputError(f"the run {run!r} stands here twice", where=f"{path}:{line}")
        found[run] = dict(zip(headings[1:], cells, strict=True))
    return found
