"""A table of means as it stands in a paper: Markdown, LaTeX, and what a terminal shows."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from permed_measures.errors import InputError, nearest
from permed_measures.markup import Styled, as_latex, as_markdown, one_line

ENDINGS = {
    ".txt": "table",
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
}
"""The format that the ending of a file means."""


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
    """

    labels: list[str]
    headings: list[str]
    blocks: list[list[TableRow]]
    about: str
    explanations: list[str] = field(default_factory=list)
    lettered: bool = False

    @property
    def rows(self) -> list[TableRow]:
        """The rows of all blocks."""
        return [row for block in self.blocks for row in block]

    def caption(self, styled: bool = True) -> str:
        """Write the caption; `styled` says whether there are bold and underlined cells."""
        places = {cell.place for row in self.rows for cell in row.cells}
        emphasis = "; best in bold, second best underlined" if styled and places & {1, 2} else ""
        return ". ".join([f"{self.about}{emphasis}", *self.explanations]) + "."


Texts = Mapping[str, Mapping[str, str]]
"""The cells of the user's own columns, by run and heading."""


def headings_of_texts(texts: Texts) -> list[str]:
    """Return the headings of the user's own columns."""
    return list(dict.fromkeys(heading for cells in texts.values() for heading in cells))


def texts_of(texts: Texts, run: str) -> list[str]:
    """Return the user's own cells of a run; empty where it has none."""
    return [texts.get(run, {}).get(heading, "") for heading in headings_of_texts(texts)]


def check_texts(texts: Texts, runs: Collection[str]) -> None:
    """Raise InputError for cells of a run that is not here."""
    for run in texts:
        if run not in runs:
            raise InputError(f"there are texts for {run!r}, which is no run here", hint=nearest(run, runs))


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


def markdown(table: PaperTable, texts: Sequence[str] = ()) -> str:
    """Write a table in Markdown, its caption and other paragraphs."""
    forms = ("{}", "**{}**", "<u>{}</u>")
    mark = "<sup>{}</sup>" if table.lettered else "{}"
    lines = [[*map(as_markdown, [*table.labels, *table.headings])]]
    lines += [["---"] * len(table.labels) + ["---:"] * len(table.headings)]
    for row in table.rows:
        cells = [
            forms[cell.place].format(cell.text) + (mark.format(cell.mark) if cell.mark else "")
            for cell in row.cells
        ]
        lines.append([*map(as_markdown, row.labels), *cells])
    rows = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([*rows, *(f"\n{as_markdown(text)}" for text in [table.caption(), *texts]), ""])


def latex(table: PaperTable, notes: Sequence[str] = (), sentences: Sequence[str] = ()) -> str:
    """Write a table for the LaTeX package booktabs; notes, and sentences for the text, follow as comments."""
    column, heading = ("r@{ }l", r"\multicolumn{{2}}{{c}}{{{}}}") if table.lettered else ("r", "{}")
    headings = [*map(as_latex, table.labels), *(heading.format(as_latex(each)) for each in table.headings)]
    lines = [
        f"% needs \\usepackage{{booktabs}}{_encoding_packages(table)}",
        r"\begin{table}[t]",
        r"\centering",
        rf"\caption{{{as_latex(table.caption())}}}",
        rf"\begin{{tabular}}{{{'l' * len(table.labels)}{column * len(table.headings)}}}",
        r"\toprule",
        rf"{' & '.join(headings)} \\",
    ]
    for block in table.blocks:
        lines.append(r"\midrule")
        for row in block:
            cells = [_latex_cell(cell, table.lettered) for cell in row.cells]
            lines.append(rf"{' & '.join([*map(as_latex, row.labels), *cells])} \\")
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    comments = [*map(one_line, notes), *map(as_latex, sentences)]
    return "\n".join([*lines, *(f"% {text}" for text in comments), ""])


def _latex_cell(cell: Cell, lettered: bool) -> str:
    """Write a mean and its mark so that the digits of a column are aligned."""
    text = ("{}", r"\textbf{{{}}}", r"\underline{{{}}}")[cell.place].format(as_latex(cell.text))
    if lettered:
        return rf"{text} & \textsuperscript{{{cell.mark}}}" if cell.mark else f"{text} &"
    return rf"{text}\rlap{{{as_latex(cell.mark)}}}" if cell.mark else text


def _encoding_packages(table: PaperTable) -> str:
    """Say what LaTeX needs for letters beyond ASCII: T1 fonts have all of Latin-1."""
    labels = (label for row in table.rows for label in row.labels)
    texts = [table.caption(), *table.labels, *table.headings, *labels]
    last = max({*one_line("".join(texts))} - {*"†‡—Δ"}, default="")
    if last > "\xff":
        return ", and xelatex or lualatex with a font that has the letters (such as ctex for Chinese)"
    return r", \usepackage[T1]{fontenc}" if last > "\x7f" else ""
