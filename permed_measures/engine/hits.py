"""What is found of the judged documents in a run: the records that lookups, joins and ranks pass on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

Ints = NDArray[np.int64]


class Rows(NamedTuple):
    """The scores of a run, or of a part of it, grouped by query.

    Attributes
    ----------
    score : ndarray, shape (n_rows,)
    starts : ndarray of int64, shape (n_groups + 1,)
        Where each group begins.
    ids : callable
        Returns the document ids of the rows at these positions.
    """

    score: NDArray[Any]
    starts: Ints
    ids: Callable[[Ints], list[str] | pl.Series]


class Hits(NamedTuple):
    """Judged documents that were retrieved.

    Attributes
    ----------
    group, row : ndarray of int64, shape (n_hits,)
        The group of rows that each belongs to, and its judgment.
    score : ndarray, shape (n_hits,)
    part : ndarray of int64, shape (n_hits,)
        0 if the document is among the rows; -1 or 1 if it stands in a part of the run before or after them.
    """

    group: Ints
    row: Ints
    score: NDArray[Any]
    part: Ints


class RunHits(NamedTuple):
    """The hits of a whole run, in any order.

    Attributes
    ----------
    row, rank : ndarray of int64, shape (n_hits,)
        The judgment that each is, and its rank.
    retrieved : ndarray of int64, shape (n_queries,)
        How many documents were retrieved for each query of the qrels.
    n_run_queries, n_answered : int
        Queries of the run, and those of the qrels that the run has.
    some_ids : list of str
        Two ids of the run for a warning: of documents, or of queries where none is judged.
    """

    row: Ints
    rank: Ints
    retrieved: Ints
    n_run_queries: int
    n_answered: int
    some_ids: list[str]
