"""Claims as a paper prints them in a file, or as one types them: of which measure and run each number is."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from permed_measures.errors import InputError, MeasureError
from permed_measures.markup import counted, listed
from permed_measures.measures.names import share_of_list
from permed_measures.papers.cells import Number, PrintedTable, Row, is_blank, label_of, letters_of, printed_in
from permed_measures.papers.claims import parse_claims
from permed_measures.papers.columns import Columns, Heading, is_change_row, oriented
from permed_measures.papers.read import read_tables

_OF_TREC_EVAL = "all"
"""What trec_eval writes in the place of a query, beside a mean."""
_SHOWN = 10
"""How many names a message has."""


class Change(NamedTuple):
    """A number that is a change from another row.

    Attributes
    ----------
    title : str
        What heads it.
    name : str
        The measure that it is about.
    number : Number
        As printed.
    """

    title: str
    name: str
    number: Number


@dataclass(frozen=True)
class ClaimRow:
    """A row of a printed table, or the part of it below one heading such as a data set.

    Attributes
    ----------
    labels : list of str
        What the row may be called, the whole of it last.
    where : str
        File and line.
    part : str
        The table and the heading, where there are several.
    claims : dict of str to str
        The numbers by the name of the measure.
    changes : list of Change
    """

    labels: list[str]
    where: str
    part: str
    claims: dict[str, str] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The name of the row."""
        return self.labels[0]


@dataclass(frozen=True)
class PrintedClaims:
    """The claims of a file: its rows, and what was left out, each in a line."""

    path: str
    rows: list[ClaimRow]
    notes: list[str]


def read_claims(
    path: Path | None, texts: list[str], runs: list[str], columns: str | None = None
) -> PrintedClaims | dict[str, dict[str, str]]:
    """Read the claims about runs: the tables of a file, or ``NAME=VALUE`` for a single run."""
    if bool(texts) == bool(path):
        raise InputError("give the published numbers with either --claim or --claims")
    if path is not None:
        return read_claims_file(path, columns)
    if columns is not None:
        raise InputError("--columns chooses those of --claims FILE (found --claim)")
    if len(runs) > 1:
        raise InputError(
            f"--claim is for one run, but there are {len(runs)}",
            hint="Use --claims with a row for each run",
        )
    return {runs[0]: _one_by_one(texts)}


def read_claims_file(path: str | os.PathLike[str], columns: str | None = None) -> PrintedClaims:
    """Read the claims in the tables of a Markdown, LaTeX, HTML or CSV file.

    Parameters
    ----------
    path : path
    columns : str, optional
        What stands above the columns that are meant, such as a data set, or the name of a table.

    Raises
    ------
    MeasureError
        If no column of any table is a measure.
    InputError
        If there is no table or no such column, or a number is beyond what its measure can be.
    """
    path = os.fspath(path)
    readers = [_Reader(table, path, columns is not None) for table in read_tables(Path(path))]
    rows = [row for reader in readers for row in reader.rows]
    if columns is not None and rows:
        rows = _chosen(rows, columns, path)
    notes = [note for reader in readers for note in reader.notes()]
    if not rows and any(reader.measures for reader in readers):
        raise InputError("no row has a claim", where=path)
    if not rows and readers:
        why = next((each.why for each in readers[0].left_out if each.why), "the headings name no measure")
        raise MeasureError(why, where=f"{path}:{readers[0].table.line}")
    if not rows:
        what = "there is no table whose header names the runs and then the measures, with a row below"
        raise InputError(what, where=path)
    return PrintedClaims(path, rows, notes)


def claims_of(
    claims: Mapping[str, Any] | str | os.PathLike[str] | PrintedClaims, columns: str | None = None
) -> Mapping[str, Any] | PrintedClaims:
    """Return claims, those of a file if they are its path; `columns` chooses some of them."""
    if isinstance(claims, (str, os.PathLike)):
        return read_claims_file(claims, columns)
    if columns is not None:
        raise InputError(f"columns chooses those of a file (found {type(claims).__name__} for claims)")
    return claims


def _one_by_one(texts: list[str]) -> dict[str, str]:
    claims: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not equals or name in claims:
            raise InputError(f"a claim must be NAME=VALUE, each name once (found {text!r})")
        claims[name] = value
    return claims


def _chosen(rows: list[ClaimRow], columns: str, path: str) -> list[ClaimRow]:
    """Return the rows below a heading; those that have it as a part of theirs if none has it alone."""
    wanted = letters_of(columns)
    parts = {row.part: [letters_of(each) for each in row.part.split(", ")] for row in rows}
    same = {part for part, names in parts.items() if wanted in (*names, letters_of(part))}
    within = same or {part for part, names in parts.items() if any(wanted in each for each in names)}
    if not wanted or not within:
        found = listed(filter(None, parts), _SHOWN) or "nothing above the measures"
        raise InputError(f"no columns are below {columns!r} (found {found})", where=path)
    return [row for row in rows if row.part in within]


class _Reader:
    """Reads the rows of a table; what it leaves out is kept by what it is."""

    def __init__(self, table: PrintedTable, path: str, with_groups: bool) -> None:
        self.table, self.path = oriented(table), path
        self.columns = Columns.of(self.table)
        self.rows: list[ClaimRow] = []
        self.texts: list[str] = []
        cells = [
            (number, heading, row)
            for row in self.table.rows
            for number, heading in self.columns.headings(row).items()
        ]
        self.measures = {heading for _, heading, _ in cells if heading.name}
        self.left_out = [
            heading
            for number, heading, row in sorted(cells, key=lambda cell: cell[0])
            if not heading.name and printed_in(row.cells[number])
        ]
        groups = {each.group for each in self.measures if not each.is_change}
        self.has_groups = with_groups or len(groups) > 1
        last: dict[tuple[str, ...], ClaimRow] = {}
        for number, heading, row in cells:
            if heading.name and not is_blank(row.cells[number]):
                self._add(row, heading, row.cells[number], last)

    def _add(self, row: Row, heading: Heading, text: str, last: dict[tuple[str, ...], ClaimRow]) -> None:
        """Add a number to the row of its name; that of a measure it has already begins another one."""
        labels = [label_of(row.cells[number]) for number in self.columns.labels]
        labels = list(dict.fromkeys(filter(None, [*labels, " ".join(labels)]))) or [""]
        group = heading.group if self.has_groups else ""
        part = ", ".join(filter(None, [self.table.name, group]))
        printed, name, is_claim = printed_in(text), heading.name, not heading.is_change
        if labels[0].lower() == text.lower() == _OF_TREC_EVAL:
            return
        is_change = printed is not None and (printed.signed or is_change_row(labels[0]))
        if printed is None or not printed.number or (is_claim and is_change):
            self.texts.append(f"{text} ({labels[0]}, {name if is_claim else heading.title})")
            return
        found = last.get((part, *labels))
        if found is None or (is_claim and name in found.claims):
            found = last[part, *labels] = ClaimRow(labels, f"{self.path}:{row.line}", part)
            self.rows.append(found)
        if is_claim:
            _check(name, printed.number, found.where)
            found.claims[name] = printed.number
        else:
            found.changes.append(Change(heading.title, name, printed))

    def notes(self) -> Iterator[str]:
        """Yield what is to be said of what was left out."""
        start = f"{self.table.name}: " if self.table.name else ""
        if not self.measures:
            yield f"{self.table.name} is left out: its headings name no measure"
            return
        if titles := list(dict.fromkeys(each.title or "(no title)" for each in self.left_out)):
            n = len(titles)
            what = "a column that is no measure" if n == 1 else f"{n} columns that are no measures"
            yield f"{start}{what} left out: {', '.join(titles)}"
        asked = dict.fromkeys(each.why for each in self.left_out if share_of_list(each.title))
        yield from (f"{start}{why}" for why in asked)
        if self.texts:
            more = ", ..." if len(self.texts) > _SHOWN else ""
            yield f"{start}no value, left out: {', '.join(self.texts[:_SHOWN])}{more}"


def _check(name: str, text: str, where: str) -> None:
    try:
        parse_claims([{name: text}])
    except InputError as error:
        raise InputError(error.problem, where=f"{where}, {error.where}", hint=error.hint) from None


# --- runs ------------------------------------------------------------------------------------------

_MOST_BRACKETS = 4
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


class Assigned(NamedTuple):
    """The claims of a printed table by run, the rows of its parts, and what was left out, each in a line.

    Attributes
    ----------
    claims : dict of str to dict of str to str
    rows : list of ClaimRow
        Those of the parts that are about any run, also those without one.
    notes : list of str
    """

    claims: dict[str, dict[str, str]]
    rows: list[ClaimRow]
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
            f"no row is about one of the runs {listed(runs, _SHOWN)} (found {listed(left, _SHOWN)})",
            where=printed.path,
            hint="Name the runs as the table does: NAME=FILE",
        )
    parts = {row.part for row, run in zip(rows, run_of, strict=True) if run is not None}
    notes = [*printed.notes, *_left_out(left, [run for run in runs if run not in found])]
    return Assigned(found, [row for row in rows if row.part in parts], notes)


def runs_of(rows: Iterable[list[str]], runs: list[str]) -> list[str | None]:
    """Return the run of each row, None without one; the rows that write it most alike are its rows.

    Examples
    --------
    >>> runs_of([["ScholarLoop A"], ["BM25 (ours)"], ["RM3"]], ["bm25", "scholarloop_a"])
    ['scholarloop_a', 'bm25', None]
    >>> runs_of([["BM25 (ours)"], ["BM25"]], ["bm25"])
    [None, 'bm25']
    """
    rows = list(rows)
    found: list[str | None] = [None] * len(rows)
    for written, written_in_row in _WRITTEN:
        taken = set(filter(None, found))
        names = Counter(map(written, runs))
        known = {name: run for run in runs if names[name := written(run)] == 1 and name and run not in taken}
        for number, labels in enumerate(rows):
            names_of_row = (name for label in labels for name in written_in_row(label))
            same = next(filter(None, map(known.get, names_of_row)), None)
            found[number] = found[number] or same
    return found


def _without_brackets(name: str, n: int) -> Iterator[str]:
    """Yield the letters of a name without n of the texts in its brackets."""
    spans = [found.span() for found in _IN_BRACKETS.finditer(name)][-_MOST_BRACKETS:]
    for chosen in combinations(spans, n):
        ends = [0, *(end for span in chosen for end in span), len(name)]
        yield letters_of("".join(name[a:b] for a, b in zip(ends[::2], ends[1::2], strict=True)))


def _without_any(name: str) -> str:
    return letters_of(_IN_BRACKETS.sub("", name))


_WRITTEN: tuple[tuple[Callable[[str], str], Callable[[str], Iterable[str]]], ...] = (
    (str, lambda label: [label]),
    *((letters_of, partial(_without_brackets, n=n)) for n in range(_MOST_BRACKETS + 1)),
    (_without_any, lambda label: [_without_any(label)]),
)
"""How the names of runs and of rows are compared, the strictest way first."""


def _check_same(claims: dict[str, str], row: ClaimRow, run: str) -> None:
    other = next((name for name, text in row.claims.items() if claims.get(name, text) != text), None)
    if other is not None:
        part = f" of {row.part}" if row.part else ""
        raise InputError(
            f"the run {run} has two numbers for {other}: {claims[other]} and, in the row "
            f"{row.label!r}{part}, {row.claims[other]}",
            where=row.where,
            hint="Choose the columns about these qrels: --columns NAME, or columns='NAME' in Python",
        )


def _left_out(rows: list[str], runs: list[str]) -> Iterator[str]:
    """Say which rows have no run, and which runs no row."""
    for names, noun, other in ((rows, "row", "run"), (runs, "run", "row")):
        if names:
            named = listed(dict.fromkeys(names), _SHOWN)
            yield f"{counted(len(names), noun)} without a {other} left out: {named}"
