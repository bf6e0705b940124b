"""Which run each row of a printed table is about: by its name, by its numbers, or by a similar name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from permed_measures.audits.claim_columns import Kind
from permed_measures.audits.claim_tables import VERSUS, ClaimRow, Derived, PrintedClaims
from permed_measures.audits.claims import parse_claims
from permed_measures.audits.fits import best_fits
from permed_measures.audits.run_names import run_named, runs_like
from permed_measures.errors import InputError
from permed_measures.markup import counted

Fits = Callable[[list[ClaimRow], list[str]], NDArray[np.int64]]
"""Returns how many claims of each row come out of each run."""
_ENOUGH_DIGITS = 4
"""A single number that has fewer is no evidence that a row is about a run."""
_NAMED = 10
"""How many names a message has."""


@dataclass(frozen=True)
class Assigned:
    """The claims of a printed table by run.

    Attributes
    ----------
    claims : dict of str to dict of str to str
    derived : list of (ClaimRow, str or None, str or None)
        The rows with numbers that come from others, the run of each, and the run that it is compared with
        if its name says so.
    notes : list of str
    run_of : dict of int to str
        The run of each row, by its id.
    """

    claims: dict[str, dict[str, str]]
    derived: list[tuple[ClaimRow, str | None, str | None]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    run_of: dict[int, str] = field(default_factory=dict)


def assigned(printed: PrintedClaims, runs: list[str], fits: Fits) -> Assigned:
    """Find the run of each row.

    Parameters
    ----------
    printed : PrintedClaims
    runs : list of str
    fits : callable
        It is called only if names do not say all.

    Raises
    ------
    InputError
        If no row is about a run.
    """
    pairs = [_pair(row, runs) for row in printed.rows]
    rows = [row for row, pair in zip(printed.rows, pairs, strict=True) if pair is None and row.claims]
    names: list[str | None] = [run_named(row.labels, runs) for row in rows]
    notes = list(printed.notes)
    _keep_one_row_of_each_part(rows, names, fits, notes)
    _by_numbers(rows, names, runs, fits, notes)
    _by_likeness(rows, names, runs, notes)
    found: dict[str, dict[str, str]] = {}
    for row, name in zip(rows, names, strict=True):
        if name is not None:
            found.setdefault(name, {}).update(row.claims)
    left = [row for row, name in zip(rows, names, strict=True) if name is None]
    if not found:
        raise InputError(
            f"no row is about one of the runs {_listed(runs)} (found {_listed(row.label for row in left)})",
            where=printed.path,
            hint="Name the runs as the table does: NAME=FILE",
        )
    notes += _left_out(left, [name for name in runs if name not in found])
    name_of = {id(row): name for row, name in zip(rows, names, strict=True) if name is not None}
    derived: list[tuple[ClaimRow, str | None, str | None]] = []
    for row, pair in zip(printed.rows, pairs, strict=True):
        name = name_of.get(id(row)) or run_named(row.labels, runs)
        if pair is not None:
            derived.append((_as_changes(row), *pair))
        elif row.derived:
            derived.append((row, name, None))
    return Assigned(found, derived, notes, name_of)


def _pair(row: ClaimRow, runs: list[str]) -> tuple[str, str] | None:
    """Return the two runs that a row such as ``A vs B`` compares; None if it compares none."""
    if run_named(row.labels, runs) is not None:
        return None
    for label in row.labels:
        parts = VERSUS.split(label)
        if len(parts) == 2:
            names = [run_named([part], runs) for part in parts]
            names = [
                each or like for each, like in zip(names, runs_like([[p] for p in parts], runs), strict=True)
            ]
            if names[0] is not None and names[1] is not None and names[0] != names[1]:
                return names[0], names[1]
    return None


def _as_changes(row: ClaimRow) -> ClaimRow:
    """Return a row that compares two runs: its numbers are differences."""
    changes = [Derived(Kind.CHANGE, name, name, text) for name, text in row.claims.items()]
    return ClaimRow(row.labels, row.where, row.part, {}, [*changes, *row.derived])


def _keep_one_row_of_each_part(
    rows: list[ClaimRow], names: list[str | None], fits: Fits, notes: list[str]
) -> None:
    """Leave out rows with other numbers for the same measure of the same run: those that fit less."""
    for name in dict.fromkeys(filter(None, names)):
        same = [number for number, each in enumerate(names) if each == name]
        if not _differ(rows[number] for number in same):
            continue
        fitting = fits([rows[number] for number in same], [name])[:, 0] / [len(rows[n].claims) for n in same]
        kept: dict[str, str] = {}
        for number in [same[place] for place in np.argsort(-fitting, kind="stable")]:
            if any(kept.get(title, text) != text for title, text in rows[number].claims.items()):
                names[number] = None
                notes.append(f"{_shown(rows[number])} is left out: other numbers of {name} are there")
                rows[number].claims.clear()
            kept |= rows[number].claims


def _differ(rows: Iterable[ClaimRow]) -> bool:
    seen: dict[str, str] = {}
    return any(seen.setdefault(name, text) != text for row in rows for name, text in row.claims.items())


def _by_numbers(
    rows: list[ClaimRow], names: list[str | None], runs: list[str], fits: Fits, notes: list[str]
) -> None:
    """Find the runs whose numbers rows without a run have."""
    free = [name for name in runs if name not in names]
    open_rows = [number for number, name in enumerate(names) if name is None and _is_evidence(rows[number])]
    if not free or not open_rows:
        return
    of_rows = [rows[number] for number in open_rows]
    found = fits(of_rows, free)
    columns = best_fits(found, np.array([len(row.claims) for row in of_rows]))
    for number, column in zip(open_rows, columns, strict=True):
        if column is not None and columns.count(column) == 1:
            names[number] = free[column]
            notes.append(f"{_shown(rows[number])} is taken as the run {free[column]}: it has its numbers")


def _is_evidence(row: ClaimRow) -> bool:
    claims = parse_claims([row.claims])[0] if row.claims else []
    return len(claims) > 1 or any(claim.decimals >= _ENOUGH_DIGITS for claim in claims)


def _by_likeness(rows: list[ClaimRow], names: list[str | None], runs: list[str], notes: list[str]) -> None:
    """Find runs with similar names; a single row is about a single run."""
    free = [name for name in runs if name not in names]
    open_rows = [number for number, name in enumerate(names) if name is None and rows[number].claims]
    found = runs_like([rows[number].labels for number in open_rows], free)
    why = "its name is the most like"
    if len(rows) == len(runs) == len(open_rows) == 1:
        found, why = [*free], "there is no other"
    for number, name in zip(open_rows, found, strict=True):
        if name is not None:
            names[number] = name
            notes.append(f"{_shown(rows[number])} is taken as the run {name}: {why}")


def _left_out(rows: list[ClaimRow], runs: list[str]) -> list[str]:
    """Say which rows have no run, and which runs no row."""
    found = []
    rows = [row for row in rows if row.claims]
    if rows:
        n = counted(len(rows), "row") + " without a run"
        found.append(f"{n} left out: {_listed(dict.fromkeys(row.label for row in rows))}")
    if runs:
        found.append(f"{counted(len(runs), 'run')} without a row left out: {_listed(runs)}")
    return found


def _shown(row: ClaimRow) -> str:
    return f"the row {row.label!r}" + (f" of {row.part}" if row.part else "")


def _listed(names: Iterable[str]) -> str:
    """List names, some of them if there are many."""
    every = list(names)
    return ", ".join(every[:_NAMED]) + (", ..." if len(every) > _NAMED else "")
