"""Read claims from the tables of a file or from the command line: each number with its measure and row."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from permed_measures.errors import InputError, MeasureError
from permed_measures.measures.aliases import has_percent_cutoff
from permed_measures.published_tables.cells import CellNumber, PrintedTable, letters_and_digits
from permed_measures.published_tables.claims import Claim, claim_of
from permed_measures.published_tables.columns import Columns, HeadedNumber
from permed_measures.published_tables.headings import is_change_row
from permed_measures.published_tables.layout import oriented
from permed_measures.published_tables.read import read_tables
from permed_measures.wording import join_names

_OF_TREC_EVAL = "all"
"""The word that trec_eval writes instead of a query id, for a mean."""
SHOWN = 10
"""Maximum number of names in a message."""
_LONGEST = 80
"""Maximum length of a title or cell in a message."""
_WITH_UNIT = re.compile(r"\W*[0-9].*")
"""A number with more text, such as ``110M``, or several numbers."""
_NAME_ROWS_HINT = 'Write names with letters, such as "run 40", or the title run above the column of names'


class Change(NamedTuple):
    """A number that is a change from another row.

    Attributes
    ----------
    title : str
        Its heading.
    name : str
        The measure that changes.
    number : CellNumber
        The number as printed.
    """

    title: str
    name: str
    number: CellNumber


@dataclass(frozen=True)
class ClaimRow:
    """A row of a printed table, or its part below one heading such as a data set.

    Attributes
    ----------
    labels : list of str
        The possible names of the row, the complete one last.
    where : str
        File and line.
    part : str
        The table and the heading, if there are several.
    claims : dict of str to Claim
        The numbers, by the name of the measure.
    changes : list of Change
    section : str
        The section heading above the row, such as a data set.
    topics : int or None
        The number of queries that the means are over, if the table says it.
    """

    labels: list[str]
    where: str
    part: str
    claims: dict[str, Claim] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    section: str = ""
    topics: int | None = None

    @property
    def label(self) -> str:
        """The name of the row."""
        return self.labels[0]

    @property
    def names(self) -> list[str]:
        """The names that can select the row: its part, its section heading, and its own names."""
        return [self.part, self.section, *self.labels]


@dataclass(frozen=True)
class PrintedClaims:
    """The claims of a file: its rows, and notes on what was left out."""

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
        raise InputError("--columns chooses columns of --claims FILE (found --claim)")
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
        The heading above the columns to read, such as a data set, or the name of a table.

    Raises
    ------
    MeasureError
        If no column of any table is a measure.
    InputError
        If there is no table or no such column, or a number is outside of the range of its measure.
    """
    path = os.fspath(path)
    readers = [_RowReader(table, path, columns is not None) for table in read_tables(Path(path))]
    rows = [row for reader in readers for row in reader.rows]
    if columns is not None and rows:
        rows = _select(rows, columns, path)
    notes = [note for reader in readers for note in reader.notes()]
    if not rows:
        raise _no_rows_error(readers, path, notes)
    return PrintedClaims(path, rows, notes)


def _no_rows_error(readers: list[_RowReader], path: str, notes: list[str]) -> InputError | MeasureError:
    """Make the error for a file without a row of claims."""
    if not readers:
        problem = "there is no table whose header names the runs and then the measures, with a row below"
        return InputError(problem, where=path)
    if not any(reader.measures for reader in readers):
        whys = (heading.why for heading in readers[0].left_out if heading.why)
        why = next(whys, "the headings name no measure")
        return MeasureError(why, where=f"{path}:{readers[0].table.line}")
    nameless = next((reader.table for reader in readers if reader.measures and not reader.has_names), None)
    if nameless is None:
        return InputError("; ".join(["no row has a claim", *notes]), where=path)
    first = join_names((row.cells[0].text for row in nameless.rows), SHOWN)
    problem = f"no text names the rows; numbers and cutoffs are not names (found {first})"
    return InputError(problem, where=f"{path}:{nameless.line}", hint=_NAME_ROWS_HINT)


def claims_of(
    claims: Mapping[str, Any] | str | os.PathLike[str] | PrintedClaims, columns: str | None = None
) -> Mapping[str, Any] | PrintedClaims:
    """Read claims if they are the path of a file, and select `columns`; return others as they are."""
    if isinstance(claims, (str, os.PathLike)):
        return read_claims_file(claims, columns)
    if columns is not None:
        raise InputError(f"columns chooses columns of a file (found {type(claims).__name__} for claims)")
    return claims


def _one_by_one(texts: list[str]) -> dict[str, str]:
    """Split texts such as ``P@1=0.5`` into names and values."""
    claims: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not equals or name in claims:
            raise InputError(f"a claim must be NAME=VALUE, each name once (found {text!r})")
        claims[name] = value
    return claims


def _select(rows: list[ClaimRow], columns: str, path: str) -> list[ClaimRow]:
    """Select the rows with a heading equal to `columns`, or else with one that contains it."""
    wanted = letters_and_digits(columns)
    for parts_only in (True, False):
        headings = [
            [
                letters_and_digits(name)
                for name in ([row.part, *row.part.split(", ")] if parts_only else row.names)
            ]
            for row in rows
        ]
        same = [row for row, names in zip(rows, headings, strict=True) if wanted in names]
        within = (any(wanted in name for name in names) for names in headings)
        selected = same or [row for row, is_within in zip(rows, within, strict=True) if is_within]
        if wanted and selected:
            return selected
    parts = join_names(dict.fromkeys(filter(None, (row.part or row.section for row in rows))), SHOWN)
    above = parts or "nothing above the measures"
    raise InputError(f"no columns are below {columns!r} (found {above})", where=path)


class _RowReader:
    """Reads the rows of a table, and collects what it leaves out."""

    def __init__(self, table: PrintedTable, path: str, with_groups: bool) -> None:
        self.table, self.path = oriented(table), path
        columns = Columns.of(self.table)
        cells = list(columns.cells(self.table))
        self.rows: list[ClaimRow] = []
        self.texts: list[str] = []
        self.measures = {cell.heading for cell in cells if cell.heading.name}
        self.has_names = bool(columns.labels)
        self.left_out = [
            cell.heading
            for cell in sorted(cells, key=lambda cell: cell.column)
            if not cell.heading.name and (cell.entry.number or _WITH_UNIT.fullmatch(cell.entry.text))
        ]
        groups = {heading.group for heading in self.measures if not heading.is_change}
        self.has_groups = with_groups or len(groups) > 1
        last: dict[tuple[str, ...], ClaimRow] = {}
        for cell in cells if self.has_names else ():
            if cell.heading.name and not cell.entry.is_blank:
                self._add(cell, last)

    def _add(self, cell: HeadedNumber, last: dict[tuple[str, ...], ClaimRow]) -> None:
        """Add a number to the row of its name; start a new row if that row has the measure already."""
        labels, heading, (text, printed) = cell.labels, cell.heading, cell.entry
        group = heading.group if self.has_groups else ""
        part = ", ".join(filter(None, [self.table.name, group]))
        name, is_claim = heading.name, not heading.is_change
        if labels[0].lower() == text.lower() == _OF_TREC_EVAL:
            return
        is_change = printed is not None and (printed.signed or is_change_row(labels[0]))
        if printed is None or not printed.number or (is_claim and is_change):
            self.texts.append(f"{text} ({labels[0]}, {name if is_claim else heading.title})")
            return
        row = last.get((part, *labels))
        if row is None or (is_claim and (name in row.claims or row.topics != cell.topics)):
            where = f"{self.path}:{cell.line}"
            row = ClaimRow(labels, where, part, section=cell.section, topics=cell.topics)
            last[part, *labels] = row
            self.rows.append(row)
        if is_claim:
            row.claims[name] = _claim(name, printed, row.where)
        else:
            row.changes.append(Change(heading.title, name, printed))

    @property
    def why(self) -> str:
        """Why no row is read; empty if rows may be read."""
        if not self.measures:
            return "its headings name no measure"
        return "" if self.has_names else "no text names its rows"

    def notes(self) -> Iterator[str]:
        """Yield a sentence for each kind of thing that was left out."""
        start = f"{self.table.name}: " if self.table.name else ""
        if self.why:
            yield f"{self.table.name} is left out: {self.why}"
            return
        if titles := list(dict.fromkeys(heading.title or "(no title)" for heading in self.left_out)):
            n = len(titles)
            what = "1 column left out, not a measure" if n == 1 else f"{n} columns left out, not measures"
            yield f"{start}{what}: {_first(titles)}"
        unclear = dict.fromkeys(heading.why for heading in self.left_out if has_percent_cutoff(heading.title))
        yield from (f"{start}{why}" for why in unclear)
        if self.texts:
            yield f"{start}cells left out, not values: {_first(self.texts)}"


def _first(texts: list[str]) -> str:
    """Join the first texts, and shorten long ones."""
    more = ["..."] if len(texts) > SHOWN else []
    return ", ".join(
        [text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…" for text in texts[:SHOWN]] + more
    )


def _claim(name: str, number: CellNumber, where: str) -> Claim:
    try:
        return claim_of(name, number, number.number)
    except InputError as error:
        raise InputError(error.problem, where=f"{where}, {error.where}", hint=error.hint) from None
