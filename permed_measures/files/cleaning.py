"""Runs that rank a document twice, parts of documents, or the query itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from permed_measures.errors import InputError, check_choice
from permed_measures.files.formats import NO_RANK

DUPLICATES = ("refuse", "first", "best")

Row = tuple[str, str | None, Any, int]
"""Query, document (None for an empty list), score if there is one, and rank or `NO_RANK`."""


class Cleaning(NamedTuple):
    """What is made of a run while it is read.

    Attributes
    ----------
    duplicates : {'refuse', 'first', 'best'}
        Of a document that is listed twice for a query the first row is kept, or the one that ranks best.
    max_passage : str
        Documents are named by the part of the id before this text, such as ``#``, as Pyserini's
        ``--max-passage-delimiter`` has it; the best part of a document is kept. Empty: ids are whole.
    ignore_self : bool
        Leave out a document whose id is that of the query, as BEIR does for ArguAna and Quora.
    """

    duplicates: str = "refuse"
    max_passage: str = ""
    ignore_self: bool = False

    def __bool__(self) -> bool:
        """Whether anything is changed."""
        return self != Cleaning()


def cleaned(
    rows: Iterable[Row], how: Cleaning, by_list: bool, duplicate_error: Callable[[str, str], InputError]
) -> tuple[dict[str, dict[str, Any]], dict[str, list[int]]]:
    """Return ``{query_id: {doc_id: score or None}}`` in the order of the rows, and the ranks.

    With `by_list` the row with the smallest rank is the best, otherwise that with the highest score; where
    there is neither, the first.
    """
    check_choice("duplicates", how.duplicates, DUPLICATES)
    listed: dict[str, dict[str, tuple[Any, int]]] = {}
    for query_id, given, score, rank in rows:
        kept = listed.setdefault(query_id, {})
        if given is None:
            continue
        if given in kept and how.duplicates == "refuse":
            raise duplicate_error(query_id, given)
        better = (
            given in kept and how.duplicates == "best" and _is_better((score, rank), kept[given], by_list)
        )
        if given not in kept or better:
            kept[given] = (score, rank)
    run = {query_id: _documents(query_id, kept, how, by_list) for query_id, kept in listed.items()}
    table = {query_id: {doc_id: row[0] for doc_id, row in kept.items()} for query_id, kept in run.items()}
    ranks = {query_id: [rank for _, rank in kept.values() if rank >= 0] for query_id, kept in run.items()}
    return table, ranks


def _documents(
    query_id: str, passages: dict[str, tuple[Any, int]], how: Cleaning, by_list: bool
) -> dict[str, tuple[Any, int]]:
    """Return the best passage of each document, without the query itself if it is to be left out."""
    found: dict[str, tuple[Any, int]] = {}
    for given, row in passages.items():
        doc_id = given.partition(how.max_passage)[0] if how.max_passage else given
        if how.ignore_self and doc_id == query_id:
            continue
        if doc_id not in found or _is_better(row, found[doc_id], by_list):
            found[doc_id] = row
    return found


def _is_better(new: tuple[Any, int], old: tuple[Any, int], by_list: bool) -> bool:
    (score, rank), (old_score, old_rank) = new, old
    if by_list or score is None or old_score is None:
        return NO_RANK < rank < old_rank
    return bool(score > old_score)
