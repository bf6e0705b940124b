"""Runs by name: errors and warnings that name them, and notes on them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from permed_measures.engine.rankings import JudgedRankings
from permed_measures.errors import InputError, warnings_about
from permed_measures.markup import counted


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Name the run in errors and warnings about it."""
    try:
        with warnings_about(name):
            yield
    except InputError as error:
        where = f"run {name!r}" + (f", {error.where}" if error.where else "")
        raise InputError(error.problem, where=where, hint=error.hint) from error


def notes_of(name: str, rankings: JudgedRankings) -> list[str]:
    """Note how many queries a run retrieves nothing for, and how many have no judgments."""
    query_ids, lacking = rankings.judgments.query_ids, np.flatnonzero(rankings.retrieved == 0)
    notes = []
    if len(lacking):
        notes.append(
            f"run {name!r} retrieves nothing for {len(lacking):,} of {counted(len(query_ids), 'query')} "
            f"(first: {query_ids[lacking[0]]!r}); {'it scores' if len(lacking) == 1 else 'they score'} 0"
        )
    if beyond := rankings.n_run_queries - rankings.n_shared:
        notes.append(f"run {name!r} has {counted(beyond, 'query')} without judgments (ignored)")
    return notes
