"""Claims as a paper prints them in a file, or as one types them: which cell is a number of which measure."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from permed_measures.errors import InputError, MeasureError
from permed_measures.papers.cells import is_blank, label_of, printed_in
from permed_measures.papers.claims import parse_claims
from permed_measures.papers.columns import Column, Kind, Part, oriented, parts_of
from permed_measures.papers.grids import PrintedTable
from permed_measures.papers.read import read_tables
from permed_measures.papers.titles import is_change_row

_SHOWN = 10
"""How many cells without a number are named."""


class Change(NamedTuple):
    """A number that is a change from another row.

    Attributes
    ----------
    title : str
        What heads it.
    name : str
        The measure that it is about; empty if the table does not say.
    text : str
        As printed.
    """

    title: str
    name: str
    text: str


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
    path: Path | None, texts: list[str], runs: list[str]
) -> PrintedClaims | dict[str, dict[str, str]]:
    """Read the claims about runs: the tables of a file, or ``NAME=VALUE`` for a single run."""
    if bool(texts) == bool(path):
        raise InputError("give the published numbers with either --claim or --claims")
    if path is not None:
        return read_claims_file(path)
    if len(runs) > 1:
        raise InputError(
            f"--claim is for one run, but there are {len(runs)}",
            hint="Use --claims with a row for each run",
        )
    return {runs[0]: _one_by_one(texts)}


def read_claims_file(path: str | os.PathLike[str]) -> PrintedClaims:
    """Read the claims in the tables of a Markdown, LaTeX, HTML or CSV file."""
    return claims_in(read_tables(Path(path)), os.fspath(path))


def _one_by_one(texts: list[str]) -> dict[str, str]:
    claims: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not equals or name in claims:
            raise InputError(f"a claim must be NAME=VALUE, each name once (found {text!r})")
        claims[name] = value
    return claims


def claims_in(tables: Iterable[PrintedTable], path: str) -> PrintedClaims:
    """Return the claims of printed tables.

    Raises
    ------
    MeasureError
        If no column of any table is a measure.
    InputError
        If there is no table, or a number is beyond what its measure can be.
    """
    rows: list[ClaimRow] = []
    notes: list[str] = []
    unread: list[tuple[PrintedTable, list[Column]]] = []
    any_measure = False
    for table in tables:
        reader = _Reader(oriented(table), path)
        if reader.columns:
            any_measure = True
            rows += reader.rows()
            notes += reader.notes()
        else:
            unread.append((table, reader.unread))
    if not rows and unread:
        table, columns = unread[0]
        problem = next((each.why for each in columns if each.why), "the headings name no measure")
        raise MeasureError(problem, where=f"{path}:{table.first_line}")
    if not rows and any_measure:
        raise InputError("no row has a claim", where=path)
    if not rows:
        what = "there is no table whose header names the runs and then the measures, with a row below"
        raise InputError(what, where=path)
    notes += [f"{table.name} is left out: its headings name no measure" for table, _ in unread]
    return PrintedClaims(path, rows, notes)


class _Reader:
    """Reads the rows of a table; what it leaves out is kept by what it is."""

    def __init__(self, table: PrintedTable, path: str) -> None:
        self.table, self.path = table, path
        self.parts = parts_of(table)
        found = [(each, part) for part in self.parts for each in part.columns if each.kind is not Kind.LABEL]
        texts: dict[str, list[str]] = {}
        for each, part in found:
            if each.kind is Kind.MEASURE:
                texts.setdefault(each.name, []).extend(self._numbers(each, part.rows))
        no_value = {
            name for name, those in texts.items() if those and not any(_is_claim(name, x) for x in those)
        }
        self.columns = [
            each
            for each, _ in found
            if each.name
            and (each.kind is Kind.CHANGE or (each.kind is Kind.MEASURE and each.name not in no_value))
        ]
        self.unread = [
            each
            for each, part in found
            if each not in self.columns and any(printed_in(table.rows[n][each.number]) for n in part.rows)
        ]
        measures = [each for each in self.columns if each.kind is Kind.MEASURE] or self.columns
        self.groups = list(dict.fromkeys(each.group for each in measures))
        self.texts: list[str] = []

    def _numbers(self, column: Column, rows: list[int]) -> list[str]:
        """Return the numbers of a column in some rows."""
        cells = [printed_in(self.table.rows[number][column.number]) for number in rows]
        return [each.number for each in cells if each is not None and each.number]

    def rows(self) -> list[ClaimRow]:
        """Return the rows with a claim; those of one name are one, unless it has two numbers of a measure."""
        found: list[ClaimRow] = []
        last: dict[tuple[str, ...], ClaimRow] = {}
        for row in (row for part in self.parts for number in part.rows for row in self._rows(part, number)):
            same = last.get((row.part, *row.labels))
            if same is None or not same.claims.keys().isdisjoint(row.claims):
                found.append(row)
                last[row.part, *row.labels] = row
            else:
                same.claims.update(row.claims)
                same.changes.extend(row.changes)
        return found

    def notes(self) -> list[str]:
        """Return what is to be said of what was left out."""
        start = f"{self.table.name}: " if self.table.name else ""
        notes = []
        if unread := list(dict.fromkeys(each.title for each in self.unread)):
            n = len(unread)
            what = "a column that is no measure" if n == 1 else f"{n} columns that are no measures"
            notes.append(f"{start}{what} left out: {', '.join(unread)}")
        if self.texts:
            more = ", ..." if len(self.texts) > _SHOWN else ""
            notes.append(f"{start}no value, left out: {', '.join(self.texts[:_SHOWN])}{more}")
        return notes

    def _rows(self, part: Part, number: int) -> Iterator[ClaimRow]:
        cells, lines = self.table.rows[number], self.table.lines
        labels = [label_of(cells[each.number]) for each in part.columns if each.kind is Kind.LABEL]
        labels = list(dict.fromkeys(filter(None, [*labels, " ".join(labels)])))
        where = f"{self.path}:{lines[number] if lines else self.table.first_line}"
        for group in self.groups:
            name = ", ".join(filter(None, [self.table.name, group if len(self.groups) > 1 else ""]))
            row = ClaimRow(labels or [""], where, name)
            for column in (each for each in part.columns if each in self.columns):
                if column.group == group or (
                    column.kind is not Kind.MEASURE and column.group not in self.groups
                ):
                    self._add(row, column, cells[column.number])
            if row.claims or row.changes:
                yield row

    def _add(self, row: ClaimRow, column: Column, text: str) -> None:
        """Add a cell to a row, unless it holds nothing."""
        if is_blank(text):
            return
        printed, name = printed_in(text), column.name
        if column.kind is Kind.CHANGE:
            row.changes.append(Change(column.title, name, text))
        elif printed is None or not printed.number or printed.signed or is_change_row(row.label):
            self.texts.append(f"{text} ({row.label}, {name})")
        else:
            if printed.change:
                row.changes.append(Change(name, name, printed.change))
            row.claims[name] = printed.number
            _check(name, printed.number, row.where)


def _is_claim(name: str, text: str) -> bool:
    try:
        parse_claims([{name: text}])
    except InputError:
        return False
    return True


def _check(name: str, text: str, where: str) -> None:
    try:
        parse_claims([{name: text}])
    except InputError as error:
        raise InputError(error.problem, where=f"{where}, {error.where}", hint=error.hint) from None
