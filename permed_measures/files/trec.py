"""Large regular TREC runs as frames, without a Python object per row.

Only what is beyond doubt is read here: lines with one blank or tab between columns, and numbers as scores.
For anything else the answer is None, and the lines are read one by one, which finds what is wrong and where.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from permed_measures.files.sources import MARK

if TYPE_CHECKING:
    import polars as pl

_BLOCK = 1 << 17
"""Bytes that are looked at together: they stay in the cache."""


def frame_of_lines(data: bytes, columns: tuple[str, ...]) -> pl.DataFrame | None:
    """Return query_id, doc_id, score and rank of whole lines in their order, or None."""
    for found, wanted in ((b"\r\n", b"\n"), (b"\t", b" ")):
        data = data.replace(found, wanted) if found[:1] in data else data  # one byte is found much faster
    if data[:1] <= b" " or data.startswith((b"#", MARK)) or (b"#" in data and b"\n#" in data):
        return None  # polars takes any mark away
    if columns[-1] == "rank" and (b" +" in data or b" -" in data):
        return None  # perhaps a rank with a sign, which polars reads as a number
    frame = _frame(data, columns)
    # Each line has the last column, so all blanks; with so many per line in all, each has just these.
    return frame if frame is not None and _is_divided(data, frame.height, len(columns) - 1) else None


def _frame(data: bytes, columns: tuple[str, ...], has_ranks: bool = True) -> pl.DataFrame | None:
    """Return what is known of each row; None if something but the rank is missing, or the last column is."""
    import polars as pl

    types = {"score": pl.Float64} | ({"rank": pl.Int64} if has_ranks else {})
    schema = {name: types.get(name, pl.String) for name in columns}
    rank = pl.col("rank").cast(pl.Int64, strict=False)
    score = pl.col("score") if "score" in columns else -rank.cast(pl.Float64).alias("score")
    try:
        rows = pl.scan_csv(data, separator=" ", has_header=False, quote_char=None, schema=schema)
        frame = rows.select("query_id", "doc_id", score, rank, last=columns[-1]).collect()
    except pl.exceptions.PolarsError:  # perhaps of the ranks, which may be any text
        return _frame(data, columns, False) if has_ranks and "score" in columns else None
    if any(column.null_count() for column in frame.drop("rank")) or frame["score"].is_nan().any():
        return None
    return frame.drop("last")


def _is_divided(data: bytes, n_lines: int, n_blanks: int) -> bool:
    """Return whether lines have so many blanks on average, none beside another or a line end."""
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
