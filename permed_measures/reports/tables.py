"""A table of means as it stands in a paper: Markdown, and what a terminal shows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from permed_measures.markup import Styled
from permed_measures.results import table as results
from permed_measures.results.table import Table

_ENDS = (".", "!", "?", "\u3002", "\uff01", "\uff1f")
"""How a sentence may end, in English and in Chinese."""


class Cell(NamedTuple):
    """A mean: its text, its place among those of its column, and a mark of significance.

    The best has place 1 and the second 2, by what is printed; all others 0.
    """

    text: str
    place: int = 0
    mark: str = ""


class TableRow(NamedTuple):
    """A run, or a run on a group of queries."""

    labels: list[str]
    cells: list[Cell]


@dataclass(frozen=True)
class PaperTable:
    """A table for a paper.

    Attributes
    ----------
    labels, headings : list of str
        The headings of the labels and of the cells.
    blocks : list of list of TableRow
        A block for each group of queries.
    about : str
        What the numbers mean.
    explanations : list of str
        Where the marks come from, and what short headings stand for.
    lettered : bool
        Whether the marks are letters or numbers of runs, and not daggers.
    title : str
        What the user's caption says; the rest of the caption follows it.
    spare : list of str
        Headings of what stands beside the measures: the first to go where there is no room.
    """

    labels: list[str]
    headings: list[str]
    blocks: list[list[TableRow]]
    about: str
    explanations: list[str] = field(default_factory=list)
    lettered: bool = False
    title: str = ""
    spare: list[str] = field(default_factory=list)

    @property
    def rows(self) -> list[TableRow]:
        """The rows of all blocks."""
        return [row for block in self.blocks for row in block]

    def caption(self, styled: bool = True) -> str:
        """Write the caption; `styled` says whether there are bold and underlined cells."""
        places = {cell.place for row in self.rows for cell in row.cells}
        emphasis = "; best in bold, second best underlined" if styled and places & {1, 2} else ""
        text = ". ".join([f"{self.about}{emphasis}", *self.explanations]) + "."
        title = self.title.strip()
        end = "" if title.endswith(_ENDS) else "."
        return f"{title}{end} {text}" if title else text


def placed(texts: Sequence[str]) -> list[int]:
    """Return 1 for the best of a column, 2 for the second, 0 for the others and where all are the same."""
    if "nan" in texts:
        return [0] * len(texts)
    printed = sorted(map(float, {*texts}), reverse=True)
    places = {text: printed.index(float(text)) + 1 for text in texts}
    return [places[text] if places[text] <= 2 and len(printed) > 1 else 0 for text in texts]


def styled_rows(table: PaperTable) -> list[list[str | Styled]]:
    """Return the rows for a terminal, with digits aligned whatever the marks."""
    apart = " " if table.lettered else ""
    marks = [max(len(row.cells[column].mark) for row in table.rows) for column in range(len(table.headings))]
    styles = ("", "bold", "underline")
    return [
        [
            *row.labels,
            *(
                Styled(cell.text, styles[cell.place], (apart + cell.mark.ljust(width)) if width else "")
                for cell, width in zip(row.cells, marks, strict=True)
            ),
        ]
        for row in table.rows
    ]


def separated(rows: Iterable[Sequence[Any]], delimiter: str = ",") -> str:
    """Write rows as CSV, or with another delimiter."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue()


def as_table(table: PaperTable, label: str = "results") -> Table:
    """Return the same as a `Table`."""
    blocks = [
        [[*map(results.Cell, row.labels), *(results.Cell(*cell) for cell in row.cells)] for row in block]
        for block in table.blocks
    ]
    caption = results.captioned(table.title, table.about)
    headings = [*table.labels, *table.headings]
    return Table(headings, blocks, len(table.labels), caption, table.explanations, table.spare, label)
