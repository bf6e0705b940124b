"""Match the rows of a printed table to runs, by their names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import combinations
from typing import NamedTuple

from permed_measures.errors import InputError
from permed_measures.published_tables.cells import letters_and_digits
from permed_measures.published_tables.claims import Claim
from permed_measures.published_tables.tables import SHOWN, ClaimRow, PrintedClaims
from permed_measures.wording import join_names, pluralize

_MOST_BRACKETS = 4
_CHOOSE = "Choose the columns about these qrels: --columns NAME, or columns='NAME' in Python"
_RENAME = "Give one of the rows another name"
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


class Assigned(NamedTuple):
    """The claims of a printed table by run.

    Attributes
    ----------
    claims : dict of str to dict of str to Claim
        The claims of each run, by the name of the measure.
    rows : list of ClaimRow
        All rows of the parts in which any row has a run, also rows without a run.
    notes : list of str
        What was left out, one sentence each.
    """

    claims: dict[str, dict[str, Claim]]
    rows: list[ClaimRow]
    notes: list[str]


def assigned(printed: PrintedClaims, runs: list[str]) -> Assigned:
    """Match each row to a run by its name; case, punctuation and text in brackets are ignored.

    Raises
    ------
    InputError
        If no row has the name of a run, or rows have different numbers for one run.
    """
    rows = [row for row in printed.rows if row.claims]
    run_of = runs_of([row.labels for row in rows], runs)
    by_run: dict[str, dict[str, Claim]] = {}
    names: dict[str, set[str]] = {}
    for row, run in zip(rows, run_of, strict=True):
        if run is not None:
            claims = by_run.setdefault(run, {})
            _check_same(claims, row, run, names.setdefault(run, set()))
            claims.update(row.claims)
            names[run].update(row.names)
    left = [row.label for row, run in zip(rows, run_of, strict=True) if run is None]
    if not by_run:
        raise InputError(
            f"no row is named like a run (runs: {join_names(runs, SHOWN)}; rows: {join_names(left, SHOWN)})",
            where=printed.path,
            hint="Name the runs as the table does: NAME=FILE",
        )
    parts = {row.part for row, run in zip(rows, run_of, strict=True) if run is not None}
    notes = [*printed.notes, *_left_out(left, [run for run in runs if run not in by_run])]
    return Assigned(by_run, [row for row in rows if row.part in parts], notes)


def runs_of(rows: Iterable[list[str]], runs: list[str]) -> list[str | None]:
    """Match rows to runs; None for a row without a run. Rows with the most similar name get the run.

    Examples
    --------
    >>> runs_of([["ScholarLoop A"], ["BM25 (ours)"], ["RM3"]], ["bm25", "scholarloop_a"])
    ['scholarloop_a', 'bm25', None]
    >>> runs_of([["BM25 (ours)"], ["BM25"]], ["bm25"])
    [None, 'bm25']
    """
    rows = list(rows)
    matches: list[str | None] = [None] * len(rows)
    for spell_run, spell_row in _SPELLINGS_OF_NAMES:
        taken = set(filter(None, matches))
        names = Counter(map(spell_run, runs))
        free = {name: run for run in runs if names[name := spell_run(run)] == 1 and name and run not in taken}
        for index, labels in enumerate(rows):
            names_of_row = (name for label in labels for name in spell_row(label))
            same = next(filter(None, map(free.get, names_of_row)), None)
            matches[index] = matches[index] or same
    return matches


def _without_brackets(name: str, n: int) -> Iterator[str]:
    """Yield the letters and digits of a name without n of its texts in brackets."""
    spans = [match.span() for match in _IN_BRACKETS.finditer(name)][-_MOST_BRACKETS:]
    for chosen in combinations(spans, n):
        ends = [0, *(end for span in chosen for end in span), len(name)]
        yield letters_and_digits("".join(name[a:b] for a, b in zip(ends[::2], ends[1::2], strict=True)))


def _without_any(name: str) -> str:
    return letters_and_digits(_IN_BRACKETS.sub("", name))


_SPELLINGS_OF_NAMES: tuple[tuple[Callable[[str], str], Callable[[str], Iterable[str]]], ...] = (
    (str, lambda label: [label]),
    *((letters_and_digits, partial(_without_brackets, n=n)) for n in range(_MOST_BRACKETS + 1)),
    (_without_any, lambda label: [_without_any(label)]),
)
"""Spellings under which the names of a run and of a row are compared, the strictest first."""


def _check_same(claims: dict[str, Claim], row: ClaimRow, run: str, known: set[str]) -> None:
    other = next((name for name, claim in row.claims.items() if claims.get(name, claim) != claim), None)
    if other is not None:
        part = f" of {row.part}" if row.part else ""
        raise InputError(
            f"the run {run} has two numbers for {other}: {claims[other].text} and, in the row "
            f"{row.label!r}{part}, {row.claims[other].text}",
            where=row.where,
            hint=_CHOOSE if {*row.names} - known else _RENAME,
        )


def _left_out(rows: list[str], runs: list[str]) -> Iterator[str]:
    """Note the rows without a run, and the runs without a row."""
    for names, noun, other in ((rows, "row", "run"), (runs, "run", "row")):
        if names:
            named = join_names(dict.fromkeys(names), SHOWN)
            yield f"{pluralize(len(names), noun)} without a {other} left out: {named}"
