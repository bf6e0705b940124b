"""The rows of a TREC, CSV or TSV file as a frame, without a Python object per row.

Only what is beyond doubt is read here: lines of a TREC file with one blank between columns, rows of a table
without quotes, numbers as scores and integers as relevance. For anything else the answer is None, and the
lines are read one by one, which finds what is wrong and where.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from permed_measures.files.formats import Header
from permed_measures.files.sources import MARK

if TYPE_CHECKING:
    import polars as pl

_COLUMNS = {
    "TREC qrels": ["query_id", "iteration", "doc_id", "relevance"],
    "TREC run": ["query_id", "q0", "doc_id", "rank", "score", "tag"],
    "MS MARCO run": ["query_id", "doc_id", "rank"],
}
_TO_BLANKS = bytes.maketrans(b"\t\v\f\r", b" " * 4)
_BLOCK = 1 << 17
"""Bytes that are looked at together: they stay in the cache."""


def frame_of_rows(data: bytes, header: Header) -> pl.DataFrame | None:
    """Return query_id, doc_id, score and rank of whole rows of a table in their order, or None."""
    if b'"' in data or b"\n\n" in data or data.startswith((b"\n", MARK)):
        return None
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
        if b"\r" in data:
            return None
    wanted = ("query_id", "doc_id", "score", "rank")
    names = {place: name for name, place in header.columns.items() if name in wanted}
    columns = [names.get(place, f"column {place}") for place in range(len(header.names))]
    frame = _frame(data, header.delimiter, columns)
    # Each row has the last cell, so all of them; and with as many divisions as that needs, no row has more.
    divisions = np.count_nonzero(np.frombuffer(data, np.uint8) == ord(header.delimiter))
    return None if frame is None or divisions != (len(columns) - 1) * frame.height else frame


def frame_of_lines(data: bytes, format_name: str) -> pl.DataFrame | None:
    """Return query_id, doc_id and relevance, or score and rank, of whole lines in their order, or None."""
    if is_commented(data):
        return None
    if format_name == "MS MARCO run" and (b" +" in data or b" -" in data):
        return None  # perhaps a rank with a sign, which polars reads as a number
    columns = _COLUMNS[format_name]
    frame = _frame(data, " ", columns)
    # Each line has the last column, so all blanks; with so many per line in all, each has just these.
    return frame if frame is not None and _is_divided(data, frame.height, len(columns) - 1) else None


def is_commented(data: bytes) -> bool:
    """Return whether there are comments, or something before the first column."""
    if data[:1] <= b" " or data.startswith((b"#", MARK)):
        return True
    return b"#" in data and b"\n#" in data  # one byte is found much faster


def _frame(data: bytes, separator: str, columns: list[str], has_ranks: bool = True) -> pl.DataFrame | None:
    """Return what is known of each row; None if something but the rank is missing, or the last column is."""
    import polars as pl

    value = "relevance" if "relevance" in columns else "score"
    types = {"score": pl.Float64, "relevance": pl.Int64} | ({"rank": pl.Int64} if has_ranks else {})
    schema = {name: types.get(name, pl.String) for name in columns}
    rank = (pl.col if "rank" in columns else pl.lit)("rank").cast(pl.Int64, strict=False).alias("rank")
    number = pl.col(value) if value in columns else -rank.cast(pl.Float64).alias(value)
    try:
        rows = pl.scan_csv(data, separator=separator, has_header=False, quote_char=None, schema=schema)
        frame = rows.select("query_id", "doc_id", number, rank, last=columns[-1]).collect()
    except pl.exceptions.PolarsError:  # perhaps of the ranks, which may be any text
        return _frame(data, separator, columns, False) if has_ranks and "score" in columns else None
    if any(column.null_count() for column in frame.drop("rank")):
        return None
    if value == "score" and frame[value].is_nan().any():
        return None
    return frame.drop("last")


def _is_divided(data: bytes, n_lines: int, n_blanks: int) -> bool:
    """Return whether lines have so many blanks on average, none beside another or a line end, and no tabs."""
    view = np.frombuffer(data, np.uint8)
    divided, line_ends = 0, 0
    for start in range(0, len(view), _BLOCK):
        block = view[start : start + _BLOCK + 1]  # with the first byte of the next
        divides = block <= ord(" ")
        if (divides[1:] & divides[:-1]).any():
            return False
        divided += int(np.count_nonzero(divides[:_BLOCK]))
        line_ends += int(np.count_nonzero(block[:_BLOCK] < ord(" ")))
    blanks = divided - line_ends
    return blanks == n_blanks * n_lines and line_ends == n_lines - (not data.endswith(b"\n"))


def single_blanks(data: bytes) -> bytes:
    """Return the lines with one blank between columns, without comments and empty lines."""
    data = data.translate(_TO_BLANKS)
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    data = data.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")
    if data.startswith(b"#") or b"\n#" in data:
        data = re.sub(rb"(?m)^#.*$", b"", data)
    while b"\n\n" in data:
        data = data.replace(b"\n\n", b"\n")
    return data.lstrip(b"\n")
