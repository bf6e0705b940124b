"""The rows of a CSV or TSV run as a frame, without a Python object per row.

Only what is beyond doubt is read here: rows without quotes, with as many cells as the header, none of them
empty at the end. For anything else the answer is None, and the rows are read one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from permed_measures.files.formats import Header
from permed_measures.files.sources import MARK

if TYPE_CHECKING:
    import polars as pl


def frame_of_rows(data: bytes, header: Header) -> pl.DataFrame | None:
    """Return query_id, doc_id and score of whole rows in their order, or None."""
    import polars as pl

    if b'"' in data or b"\n\n" in data or data.startswith((b"\n", MARK)):
        return None
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
        if b"\r" in data:
            return None
    wanted = ("query_id", "doc_id", "score")
    names = {place: name for name, place in header.columns.items() if name in wanted}
    columns = [names.get(place, f"column {place}") for place in range(len(header.names))]
    schema = {name: pl.Float64 if name == "score" else pl.String for name in columns}
    try:
        rows = pl.scan_csv(data, separator=header.delimiter, has_header=False, quote_char=None, schema=schema)
        frame = rows.select("query_id", "doc_id", "score", last=columns[-1]).collect()
    except pl.exceptions.PolarsError:
        return None
    # Each row has the last cell, so all of them; and with as many divisions as that needs, no row has more.
    divisions = np.count_nonzero(np.frombuffer(data, np.uint8) == ord(header.delimiter))
    if divisions != (len(header.names) - 1) * frame.height:
        return None
    if any(frame[name].null_count() for name in frame.columns) or frame["score"].is_nan().any():
        return None
    return frame.drop("last")
