"""The documents that runs rank first, their grades, and the relevant documents that are not among them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permed_measures.comparisons.results import ComparisonResult
from permed_measures.engine.first_documents import first_documents
from permed_measures.engine.forms import is_spark_frame
from permed_measures.engine.inputs import STDIN
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings


class Documents:
    """Documents in the order in which they were first seen."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}

    def places(self, doc_ids: list[str | None]) -> list[int]:
        """Return the place of each; -1 for one that is not known."""
        ids = self.ids
        return [-1 if each is None else ids.setdefault(each, len(ids)) for each in doc_ids]


def shown_rankings(result: ComparisonResult, run: str, depth: int) -> tuple[list[list[str | None]], str]:
    """Return the first documents of each query, and why those that are not judged are not known, if so."""
    ranked = result.paired.rankings[run]
    read, reason = _read(result, run, depth)
    shown = None if read is None else _with_judged(ranked, read, depth)
    return (_judged_only(ranked, depth), reason or "changed") if shown is None else (shown, "")


def _read(result: ComparisonResult, run: str, depth: int) -> tuple[list[list[str]] | None, str]:
    """Return the first documents of each query, or why they are not known."""
    path = result.origin.runs.get(run) if result.origin else None
    is_pipe = path is not None and (path in _PIPES or (path.exists() and not path.is_file()))
    if run not in result.runs or is_pipe:
        return None, "once"
    with warnings.catch_warnings():  # they were shown when the run was evaluated
        warnings.simplefilter("ignore")
        try:
            given = result.runs[run]
            if isinstance(given, Iterator):
                return None, "once"
            if is_spark_frame(given):
                return None, "spark"
            return first_documents(given, result.paired.query_ids, depth), ""
        except Exception:  # of any library that reads it: the page is worth having without
            return None, "failed"


_PIPES = (STDIN, Path("-"))


def _judged_only(ranked: JudgedRankings, depth: int) -> list[list[str | None]]:
    """Return the first documents of each query, those that are judged with their ids."""
    shown: list[list[str | None]] = [[None] * min(depth, n) for n in ranked.retrieved.tolist()]
    near = ranked.within(depth)
    doc_ids = ranked.judgments.ids(near.row) if len(near.row) else []
    for query, rank, doc_id in zip(near.query.tolist(), near.rank.tolist(), doc_ids, strict=True):
        shown[query][rank - 1] = doc_id
    return shown


def _with_judged(ranked: JudgedRankings, read: list[list[str]], depth: int) -> list[list[str | None]] | None:
    """Return what was read, if its judged documents are where they were when the run was evaluated."""
    for known, found in zip(_judged_only(ranked, depth), read, strict=True):
        if len(known) != len(found) or any(
            a is not None and a != b for a, b in zip(known, found, strict=True)
        ):
            return None
    return [list(each) for each in read]


_LISTED = 10
"""Documents of a query that are listed besides the rankings: the best."""

_FEW_GRADES = 8
"""Grades that are explained."""
_Graded = list[list[list[Any]]]


def graded(
    judgments: Judgments, rankings: Mapping[str, JudgedRankings], documents: Documents, depth: int
) -> dict[str, Any]:
    """Return grades of what is shown, what runs have further down, and what all of them miss."""
    best = np.full(len(judgments.query), _NOWHERE)
    for ranked in rankings.values():
        np.minimum.at(best, ranked.row, ranked.rank)
    rows = np.flatnonzero(best <= depth)
    places = np.full(len(best), -1)
    places[rows] = documents.places(list(judgments.ids(rows)) if len(rows) else [])
    grades = _by_query(judgments, rows, [places[rows].tolist(), whole(judgments.grade[rows])])
    deeper = []
    for ranked in rankings.values():
        here = ranked.keep((ranked.rank > depth) & (places[ranked.row] >= 0))
        deeper.append(_by_query(judgments, here.row, [places[here.row].tolist(), here.rank.tolist()]))
    all_grades = whole(np.unique(judgments.grade)[::-1][:_FEW_GRADES])
    missed = _missed(judgments, best, documents, depth)
    return {"grades": grades, "all_grades": all_grades, "deeper": deeper, **missed}


def _missed(
    judgments: Judgments, best: NDArray[np.int64], documents: Documents, depth: int
) -> dict[str, Any]:
    """List the relevant documents that no run has within the depth; their number, and the best of them."""
    rows = np.flatnonzero((best > depth) & (judgments.grade > 0))  # by query, the best grades first
    numbers = np.bincount(judgments.query[rows], minlength=judgments.n_queries)
    position = np.arange(len(rows)) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    rows = rows[position < _LISTED]
    places = documents.places(list(judgments.ids(rows)) if len(rows) else [])
    ranks = [None if rank == _NOWHERE else rank for rank in best[rows].tolist()]
    missed = _by_query(judgments, rows, [places, whole(judgments.grade[rows]), ranks])
    return {"missed": missed, "n_missed": numbers.tolist()}


def _by_query(judgments: Judgments, rows: NDArray[np.int64], columns: list[list[Any]]) -> _Graded:
    """Return for each query the cells of its rows."""
    found: _Graded = [[] for _ in judgments.query_ids]
    for query, *cells in zip(judgments.query[rows].tolist(), *columns, strict=True):
        found[query].append(cells)
    return found


def whole(numbers: NDArray[np.float64]) -> list[float]:
    """Return Python numbers, whole ones as such."""
    return [int(number) if number == int(number) else number for number in numbers.tolist()]


_NOWHERE = np.iinfo(np.int32).max
"""The best rank of a document that no run has."""
