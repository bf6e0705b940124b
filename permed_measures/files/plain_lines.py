"""Small TREC files whose lines are all alike: read column by column, many times as fast as line by line.

For any other the answer is None, and the lines are read one by one, which finds what is wrong and where.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from permed_measures.files.fast_rows import is_commented, single_blanks
from permed_measures.files.order import rank_of
from permed_measures.files.sources import MARK, Source

Qrels = dict[str, dict[str, float | int]]
Run = dict[str, dict[str, float]]
T = TypeVar("T")

_GRADES = {str(grade): grade for grade in range(-100, 101)}


def plain_qrels(source: Source) -> Qrels | None:
    """Return the judgments of a TREC file, or None."""
    if (columns := _columns(source, 4)) is None:
        return None
    query_ids, _, doc_ids, grades = columns
    try:
        return _nested(query_ids, doc_ids, list(map(_GRADES.__getitem__, grades)))
    except KeyError:
        return None


def plain_run(source: Source, ranks: dict[str, list[int]]) -> Run | None:
    """Return the scores of a TREC file and add its ranks, or return None."""
    if (columns := _columns(source, 6)) is None:
        return None
    query_ids, _, doc_ids, rank_texts, score_texts, _ = columns
    try:
        scores = list(map(float, score_texts))
    except ValueError:
        return None
    if any(map(math.isnan, scores)) or "_" in "".join(score_texts):  # Python reads 1_0 as 10
        return None
    run = _nested(query_ids, doc_ids, scores)
    if run is not None:
        for query_id, text in zip(query_ids, rank_texts, strict=True):
            ranks.setdefault(query_id, []).append(rank_of(text))
    return run


def _nested(
    query_ids: Sequence[str], doc_ids: Sequence[str], values: Sequence[T]
) -> dict[str, dict[str, T]] | None:
    """Return the values by query and document; None if a document is listed twice."""
    nested: dict[str, dict[str, T]] = {}
    for query_id, doc_id, value in zip(query_ids, doc_ids, values, strict=True):
        nested.setdefault(query_id, {})[doc_id] = value
    return nested if sum(map(len, nested.values())) == len(values) else None


def _columns(source: Source, n_columns: int) -> list[list[str]] | None:
    data = b"".join(chunk.data for chunk in source.chunks()).removeprefix(MARK)
    return _divided(data, n_columns) or _divided(single_blanks(data), n_columns)


def _divided(data: bytes, n_columns: int) -> list[list[str]] | None:
    """Return the columns of whole lines with one blank between them, or None."""
    if is_commented(data):
        return None
    data = data.removesuffix(b"\n") + b"\n"
    view = np.frombuffer(data, np.uint8)
    place = np.flatnonzero(view <= ord(" "))
    if len(place) % n_columns or (np.diff(place) == 1).any():
        return None
    divides = view[place].reshape(-1, n_columns)
    if (divides[:, :-1] != ord(" ")).any() or (divides[:, -1] != ord("\n")).any():
        return None
    try:
        cells = data.decode().replace("\n", " ").split(" ")
    except UnicodeDecodeError:
        return None
    return [cells[column:-1:n_columns] for column in range(n_columns)]
