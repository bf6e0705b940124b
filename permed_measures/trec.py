"""TREC runs as frames, without a Python object per row.

Only what is beyond doubt is read here: every line of six columns, no pair of query and document twice. For
anything else the answer is None, and the file is read line by line, which finds out what is wrong and where.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl

__all__ = ["LARGE", "read_trec_run_frame"]

LARGE = 1 << 20
"""Bytes from which reading a file as a frame pays for loading polars."""

_COLUMNS = ["query_id", "q0", "doc_id", "rank", "score", "tag"]
_TABS = b"\t\v\f\r"


def read_trec_run_frame(data: bytes) -> pl.DataFrame | None:
    """Return query_id, doc_id and score of a TREC run in the order of its lines, or None.

    Parameters
    ----------
    data : bytes
        The file, decompressed. Columns may be divided by any blanks and tabs; lines may be comments or empty.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    frame = None if any(blank in data for blank in _TABS) else _parsed(data)
    return _parsed(_single_blanks(data)) if frame is None else frame


def _single_blanks(data: bytes) -> bytes:
    """Return the lines with one blank between columns, without comments and empty lines."""
    data = re.sub(rb" {2,}", b" ", data.translate(bytes.maketrans(_TABS, b" " * len(_TABS))))
    data = re.sub(rb"(?m)^ | $", b"", data)
    return re.sub(rb"(?m)^(#.*)?\n", b"", data)


def _parsed(data: bytes) -> pl.DataFrame | None:
    """Return the frame if every line has six columns with one blank between them, and is sound."""
    import polars as pl

    schema = {name: pl.Float64 if name == "score" else pl.String for name in _COLUMNS}
    try:
        lines = pl.scan_csv(data, separator=" ", has_header=False, quote_char=None, schema=schema)
        frame = lines.select("query_id", "doc_id", "score", "tag").collect()
    except pl.exceptions.PolarsError:
        return None
    # With a tag in every line, and five blanks per line in all, each line has just these.
    blanks = np.count_nonzero(np.frombuffer(data, np.uint8) == ord(" "))
    if blanks != (len(_COLUMNS) - 1) * frame.height or sum(frame.null_count().row(0)):
        return None
    return frame.drop("tag") if _is_sound(frame) else None


def _is_sound(frame: pl.DataFrame) -> bool:
    """Return whether scores are numbers, and no document stands twice in a query."""
    # Equal pairs have equal hashes. Where different ones have too, reading line by line sorts it out.
    hashes = np.sort(frame.select("query_id", "doc_id").hash_rows().to_numpy())
    twice = bool((hashes[1:] == hashes[:-1]).any())
    return not twice and not bool(np.isnan(frame["score"].to_numpy()).any())
