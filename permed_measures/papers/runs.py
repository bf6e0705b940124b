"""Which run each row of a printed table is about: the one with its name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import NamedTuple

from permed_measures.errors import InputError
from permed_measures.markup import counted
from permed_measures.papers.tables import ClaimRow, PrintedClaims

_NAMED = 10
"""How many names a message has."""
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


class Assigned(NamedTuple):
    """The claims of a printed table by run, and what was left out, each in a line."""

    claims: dict[str, dict[str, str]]
    notes: list[str]


def assigned(printed: PrintedClaims, runs: list[str]) -> Assigned:
    """Find the run of each row by its name: case, punctuation and what stands in brackets do not count.

    Raises
    ------
    InputError
        If no row is about a run, or if rows have different numbers for one.
    """
    rows = [row for row in printed.rows if row.claims]
    run_of = runs_of([row.labels for row in rows], runs)
    found: dict[str, dict[str, str]] = {}
    for row, run in zip(rows, run_of, strict=True):
        if run is not None:
            claims = found.setdefault(run, {})
            _check_same(claims, row, run)
            claims.update(row.claims)
    left = [row.label for row, run in zip(rows, run_of, strict=True) if run is None]
    if not found:
        raise InputError(
            f"no row is about one of the runs {_listed(runs)} (found {_listed(left)})",
            where=printed.path,
            hint="Name the runs as the table does: NAME=FILE",
        )
    return Assigned(found, [*printed.notes, *_left_out(left, [run for run in runs if run not in found])])


def runs_of(rows: Iterable[list[str]], runs: list[str]) -> list[str | None]:
    """Return the run of each row, None without one; the rows that write it most alike are its rows.

    Examples
    --------
    >>> runs_of([["ScholarLoop A"], ["BM25 (ours)"], ["RM3"]], ["bm25", "scholarloop_a"])
    ['scholarloop_a', 'bm25', None]
    >>> runs_of([["BM25 (ours)"], ["BM25"]], ["bm25"])
    [None, 'bm25']
    """
    found = [_named(labels, runs) for labels in rows]
    nearest: dict[str, int] = {}
    for run, distance in filter(None, found):
        nearest[run] = min(distance, nearest.get(run, distance))
    return [each[0] if each is not None and each[1] == nearest[each[0]] else None for each in found]


def _letters(name: str) -> str:
    """Return the letters and digits of a name, in lower case."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", name).casefold()))


def _without_brackets(name: str) -> str:
    return _letters(_IN_BRACKETS.sub("", name))


_WRITTEN: tuple[Callable[[str], str], ...] = (str, _letters, _without_brackets)
"""How names are compared, the strictest way first."""


def _named(labels: list[str], runs: list[str]) -> tuple[str, int] | None:
    """Return the run that has one of these names, and by which way; None without one, or with several."""
    for distance, written in enumerate(_WRITTEN):
        for label in labels:
            wanted = written(label)
            same = [run for run in runs if wanted and written(run) == wanted]
            if len(same) == 1:
                return same[0], distance
    return None


def _check_same(claims: dict[str, str], row: ClaimRow, run: str) -> None:
    other = next((name for name, text in row.claims.items() if claims.get(name, text) != text), None)
    if other is not None:
        part = f" of {row.part}" if row.part else ""
        raise InputError(
            f"the run {run} has two numbers for {other}: {claims[other]} and, in the row "
            f"{row.label!r}{part}, {row.claims[other]}",
            where=row.where,
            hint="Leave only the rows and columns about these qrels in the file",
        )


def _left_out(rows: list[str], runs: list[str]) -> list[str]:
    """Say which rows have no run, and which runs no row."""
    found = []
    if rows:
        found.append(f"{counted(len(rows), 'row')} without a run left out: {_listed(dict.fromkeys(rows))}")
    if runs:
        found.append(f"{counted(len(runs), 'run')} without a row left out: {_listed(runs)}")
    return found


def _listed(names: Iterable[str]) -> str:
    """List names, some of them if there are many."""
    every = list(names)
    return ", ".join(every[:_NAMED]) + (", ..." if len(every) > _NAMED else "")
