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
from permed_measures.papers.columns import Column, Kind, columns_of, is_change_row
from permed_measures.papers.grids import PrintedTable
from permed_measures.papers.read import read_tables

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
    unread: list[tuple[PrintedTable, Column]] = []
    any_measure = False
    for table in tables:
        turned, columns = _turned(table)
        if any(each.kind is Kind.MEASURE or (each.kind is not Kind.LABEL and each.name) for each in columns):
            any_measure = True
            found, told = _Reader(turned, columns, path).read()
            rows += found
            notes += told
        else:
            unread.append((table, next((each for each in columns[1:] if each.why), columns[0])))
    if not rows and unread:
        table, column = unread[0]
        problem = column.why or "the headings name no measure"
        raise MeasureError(problem, where=f"{path}:{table.first_line}")
    if not rows and any_measure:
        raise InputError("no row has a claim", where=path)
    if not rows:
        what = "there is no table whose header names the runs and then the measures, with a row below"
        raise InputError(what, where=path)
    notes += [f"{table.name} is left out: its headings name no measure" for table, _ in unread]
    return PrintedClaims(path, rows, notes)


def _turned(table: PrintedTable) -> tuple[PrintedTable, list[Column]]:
    """Return a table with its measures as columns."""
    columns, turned = columns_of(table), table.transposed()
    others = columns_of(turned)
    n, n_turned = (sum(each.kind is Kind.MEASURE for each in found) for found in (columns, others))
    return (turned, others) if n_turned > n else (table, columns)


class _Reader:
    """Reads the rows of a table; what it leaves out is kept by what it is."""

    def __init__(self, table: PrintedTable, columns: list[Column], path: str) -> None:
        self.table, self.path = table, path
        self.labels = [each.number for each in columns if each.kind is Kind.LABEL]
        self.skipped = [each.title for each in columns if each.kind is Kind.OTHER and self._has_numbers(each)]
        self.columns = [each for each in columns if each.kind not in (Kind.LABEL, Kind.OTHER)]
        for each in self.columns.copy():
            if each.kind is Kind.MEASURE and not self._can_be(each):
                self.columns.remove(each)
                self.skipped.append(each.title)
        measures = [each for each in self.columns if each.kind is Kind.MEASURE] or self.columns
        self.groups = list(dict.fromkeys(each.group for each in measures))
        self.texts: list[str] = []

    def read(self) -> tuple[list[ClaimRow], list[str]]:
        """Return the rows with a claim, and what is to be said."""
        rows = [row for number in range(len(self.table.rows)) for row in self._rows(number)]
        start = f"{self.table.name}: " if self.table.name else ""
        notes = []
        if self.skipped:
            n = len(self.skipped)
            what = "a column that is no measure" if n == 1 else f"{n} columns that are no measures"
            notes.append(f"{start}{what} left out: {', '.join(self.skipped)}")
        if self.texts:
            more = ", ..." if len(self.texts) > _SHOWN else ""
            notes.append(f"{start}no value, left out: {', '.join(self.texts[:_SHOWN])}{more}")
        return rows, notes

    def _has_numbers(self, column: Column) -> bool:
        return any(printed_in(row[column.number]) for row in self.table.rows)

    def _can_be(self, column: Column) -> bool:
        """Return whether any number of a column can be a value of its measure."""
        numbers = [printed_in(row[column.number]) for row in self.table.rows]
        texts = [each.number for each in numbers if each is not None and each.number]
        return not texts or any(_is_claim(column.name, text) for text in texts)

    def _rows(self, number: int) -> Iterator[ClaimRow]:
        cells, lines = self.table.rows[number], self.table.lines
        labels = [label_of(cells[each]) for each in self.labels]
        labels = list(dict.fromkeys(filter(None, [*labels, " ".join(labels)])))
        where = f"{self.path}:{lines[number] if lines else self.table.first_line}"
        for group in self.groups:
            part = ", ".join(filter(None, [self.table.name, group if len(self.groups) > 1 else ""]))
            row = ClaimRow(labels or [""], where, part)
            for column in self.columns:
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
