"""The lines of a TREC run as a frame, without a Python object per row.

Only what is beyond doubt is read here: lines of six columns whose score is a number. For anything else the
answer is None, and the lines are read one by one, which finds out what is wrong and where.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from permed_measures.files.sources import MARK

if TYPE_CHECKING:
    import polars as pl

_COLUMNS = ["query_id", "q0", "doc_id", "rank", "score", "tag"]
_TO_BLANKS = bytes.maketrans(b"\t\v\f\r", b" " * 4)
_BLOCK = 1 << 17
"""Bytes that are looked at together: they stay in the cache."""


def frame_of_lines(data: bytes) -> pl.DataFrame | None:
    """Return query_id, doc_id and score of whole lines of a TREC run in their order.

    None if not each line has six columns with one blank between them and a number as score.
    """
    import polars as pl

    if data[:1] <= b" " or data.startswith((b"#", MARK)):
        return None
    if b"#" in data and b"\n#" in data:  # one byte is found much faster
        return None
    schema = {name: pl.Float64 if name == "score" else pl.String for name in _COLUMNS}
    try:
        lines = pl.scan_csv(data, separator=" ", has_header=False, quote_char=None, schema=schema)
        frame = lines.select("query_id", "doc_id", "score", "tag").collect()
    except pl.exceptions.PolarsError:
        return None
    # Each line has a tag, so at least five blanks; with five per line in all, each has just these.
    if frame["tag"].null_count() or not _is_divided(data, frame.height):
        return None
    return None if frame["score"].null_count() or frame["score"].is_nan().any() else frame.drop("tag")


def _is_divided(data: bytes, n_lines: int) -> bool:
    """Return whether each line has five blanks on average, none beside another or a line end, and no tabs."""
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
    return blanks == (len(_COLUMNS) - 1) * n_lines and line_ends == n_lines - (not data.endswith(b"\n"))


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
