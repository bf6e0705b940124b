"""A table, and a function for each of its formats."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from permed_measures.escaping import Styled, as_cell, as_html, as_markdown, one_line
from permed_measures.terminal import paragraph, terminal_table
from permed_measures.tolerances import SUM_NOISE

NONE = "—"
"""The text of a cell without a value."""

MEASURE = "measure"
"""The heading of a column that names measures."""


def as_text(value: float | None, form: str) -> str:
    """Format a number; None is a dash, and a value that prints as 0 has no minus.

    >>> as_text(-0.00001, "+.4f"), as_text(-0.1, ".1f"), as_text(None, ".1f")
    ('+0.0000', '-0.1', '—')
    """
    if value is None:
        return NONE
    text = format(value, form)
    return format(0.0, form) if not text.strip("+-0.,") else text


class Style(NamedTuple):
    """The format of means.

    Attributes
    ----------
    decimals : int
        Number of decimals.
    in_percent : bool
        Whether 0.5 prints as 50.

    Examples
    --------
    >>> Style.of(None).text(0.53571), Style.of(None, in_percent=True).text(0.53571), Style(1, True).unit
    ('0.5357', '53.57', ' in percent')
    """

    decimals: int = 4
    in_percent: bool = False

    @classmethod
    def of(cls, digits: int | None, in_percent: bool = False) -> Style:
        """Build a style with this number of decimals; by default four, or two in percent."""
        default = 2 if in_percent else 4
        return cls(default if digits is None else digits, in_percent)

    @property
    def scale(self) -> int:
        """The factor of printed values."""
        return 100 if self.in_percent else 1

    @property
    def unit(self) -> str:
        """The unit in a caption: ``in percent``, or empty."""
        return " in percent" * self.in_percent

    @property
    def sign(self) -> str:
        """The sign after a number in a sentence: a percent sign, or empty."""
        return "%" * self.in_percent

    def text(self, value: float | None, plus: str = "") -> str:
        """Format a value, or a difference if `plus` is ``+``; a dash for None."""
        return as_text(None if value is None else value * self.scale, f"{plus}.{self.decimals}f")


class Cell(NamedTuple):
    """A cell: its text, and the value behind it.

    Attributes
    ----------
    text : str
    rank : int
        The rank of the value in its column: 1 for the best, 2 for the second best, 0 for all others.
    mark : str
        A mark of significance: a dagger, or letters or numbers that name runs.
    value : float or None
        The number to sort, rank, compare or sum by, never the text. For an interval it is the lower end, for
        ``3 of 5`` the first number. None in a cell of text, and in rows that stay below the others, such as
        the row of an ideal ranking.
    """

    text: str
    rank: int = 0
    mark: str = ""
    value: float | None = None


class Table(NamedTuple):
    r"""A table of text, independent of its format.

    Attributes
    ----------
    headings : list of str
    blocks : list of list of list of Cell
        The rows of each block; a rule separates blocks.
    n_labels : int
        The number of columns at the left that hold text; the others hold numbers.
    caption : str
        A description of the numbers, without a full stop at its end.
    notes : list of str
        Notes below the caption that explain marks and short headings. Without full stops.
    droppable : sequence of str
        Headings of columns of numbers that a narrow terminal may leave out, in this order.
    label : str
        The label in LaTeX; a label without a colon gets the prefix ``tab:``.
    own_caption : str
        A caption for LaTeX in place of `caption`, before the notes; with a backslash or ``$`` it is LaTeX.

    Examples
    --------
    >>> table = Table.of(["run", "P@1"], [["bm25", Cell("0.50", 1, "†")], ["tf|idf", "0.25"]])
    >>> print(table.to("markdown"))
    | run | P@1 |
    | --- | ---: |
    | bm25 | **0.50**† |
    | tf\|idf | 0.25 |
    <BLANKLINE>
    Best in bold.
    <BLANKLINE>
    """

    headings: list[str]
    blocks: list[list[list[Cell]]]
    n_labels: int = 1
    caption: str = ""
    notes: Sequence[str] = ()
    droppable: Sequence[str] = ()
    label: str = "results"
    own_caption: str = ""

    @classmethod
    def of(
        cls, headings: Sequence[str], rows: Iterable[Sequence[str | Cell]], n_labels: int = 1, **others: Any
    ) -> Table:
        """Build a table of one block from texts and cells."""
        block = [[Cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
        return cls(list(headings), [block] if block else [], n_labels, **others)

    @classmethod
    def by_heading(cls, rows: Sequence[Mapping[str, str | Cell]], n_labels: int = 1, **others: Any) -> Table:
        r"""Build a table of one block from rows with the same headings; another heading is a ValueError.

        >>> Table.by_heading([{"run": "bm25", "P@1": Cell("0.50", value=0.5)}]).to("csv")
        'run,P@1\nbm25,0.50\n'
        """
        headings = list(rows[0]) if rows else []
        if wrong := next((row for row in rows if row.keys() != rows[0].keys()), None):
            raise ValueError(f"rows must have the headings {headings} (found {list(wrong)})")
        return cls.of(headings, [[row[heading] for heading in headings] for row in rows], n_labels, **others)

    @property
    def rows(self) -> list[list[Cell]]:
        """The rows of all blocks."""
        return [row for block in self.blocks for row in block]

    def sentences(self, styled: bool = True) -> list[str]:
        """Return the caption and the notes; `styled` tells whether readers see bold and underlined text."""
        ranks = {cell.rank for row in self.rows for cell in row} if styled else set()
        emphasis = [text for rank, text in _EMPHASIS.items() if rank in ranks]
        emphasis += [_FINER] if emphasis and self._has_finer_ranks() else []
        first = "; ".join([*filter(None, [self.caption]), *([", ".join(emphasis)] if emphasis else [])])
        first = first if self.caption else first.capitalize()
        return [f"{text.rstrip('.')}." for text in [first, *self.notes] if text]

    def _has_finer_ranks(self) -> bool:
        """Check whether values of different rank print alike."""
        columns = (column for block in self.blocks for column in zip(*block, strict=True))
        pairs = ({(cell.text, cell.rank) for cell in column if cell.value is not None} for column in columns)
        return any(len(of_column) > len({text for text, _ in of_column}) for of_column in pairs)

    def to(self, form: str, width: int | None = None) -> str:
        """Write the table in one of `TABLE_FORMATS`; the width of a ``table`` is as in `Report.to`."""
        return _terminal(self, width) if form == "table" else TABLE_FORMATS[form](self)


_EMPHASIS = {1: "best in bold", 2: "second best underlined"}
_FINER = "by all digits"


def isclose(one: float, other: float) -> bool:
    """Check whether two values are equal up to rounding."""
    return math.isclose(one, other, rel_tol=SUM_NOISE, abs_tol=SUM_NOISE)


def competition_rank(value: float, values: Iterable[float]) -> int:
    """Rank a value among others: one plus the number of higher values."""
    return 1 + sum(other > value and not isclose(other, value) for other in values)


def best_two(values: Sequence[float]) -> list[int]:
    """Mark the best value of a column by 1 and the second best by 2; all others are 0.

    Equal values share a rank, and no rank is skipped. If all values are equal, all are 0.

    Examples
    --------
    >>> best_two([0.50, 0.25, 0.50, 0.10]), best_two([1, 1]), best_two([float("nan"), 1])
    ([1, 2, 1, 0], [0, 0], [0, 0])
    """
    if any(map(math.isnan, values)):
        return [0] * len(values)
    steps: list[float] = []
    for value in sorted(values, reverse=True):
        if not steps or not isclose(value, steps[-1]):
            steps.append(value)
    ranks = [competition_rank(value, steps) for value in values]
    return [rank if rank <= 2 and len(steps) > 1 else 0 for rank in ranks]


# --- terminal --------------------------------------------------------------------------------------


def _terminal(table: Table, width: int | None = None) -> str:
    """Lay out the table in the width of the terminal, or in this width, without cutting numbers."""
    starts = [*accumulate(map(len, table.blocks))]
    text = terminal_table(table.headings, _aligned(table), table.n_labels, starts, table.droppable, width)
    styled = "\x1b[" in text  # a file has no bold and underlined cells
    sentences = [paragraph(sentence, 2, width=width) for sentence in table.sentences(styled)]
    return "\n".join([text, *sentences, ""])


def _aligned(table: Table) -> list[list[str | Styled]]:
    """Pad the marks of each column, so that digits are aligned."""
    styles = ("", "bold", "underline")
    marks = [max(len(cell.mark) for cell in column) for column in zip(*table.rows, strict=True)]
    return [
        [
            Styled(cell.text, styles[cell.rank], f"{_gap(table)}{cell.mark.ljust(width)}" if width else "")
            for cell, width in zip(row, marks, strict=True)
        ]
        for row in table.rows
    ]


def _gap(table: Table) -> str:
    """Return a blank if marks are letters or numbers of runs, which look like digits of the value."""
    return " " if any(cell.mark[:1].isalnum() for row in table.rows for cell in row) else ""


# --- Markdown and HTML -----------------------------------------------------------------------------


def _markdown(table: Table) -> str:
    sides = ["---" if column < table.n_labels else "---:" for column in range(len(table.headings))]
    lines = [[*map(as_markdown, table.headings)], sides]
    lines += [[*map(_markdown_cell, row)] for row in table.rows]
    caption = " ".join(map(as_markdown, table.sentences()))
    rows = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"{rows}\n{caption}\n" if caption else rows


_NUMBER_TO_ALIGN = re.compile(r"[-+]?[0-9][0-9.,]*")


def _markdown_cell(cell: Cell) -> str:
    escaped = cell.text if _NUMBER_TO_ALIGN.fullmatch(cell.text) else as_markdown(cell.text)
    text = ("{}", "**{}**", "<u>{}</u>")[cell.rank].format(escaped)
    return f"{text}<sup>{cell.mark}</sup>" if cell.mark[:1].isalnum() else text + cell.mark


def _html(table: Table) -> str:
    """Write a table that scrolls if the page is narrower; the first label stays in view."""
    kind = "lettered" if _gap(table) else "plain"
    bodies = (
        "".join(
            f"<tr>{''.join(_html_cell(cell, column, table.n_labels) for column, cell in enumerate(row))}</tr>"
            for row in block
        )
        for block in table.blocks
    )
    head = "".join(
        f'<th scope="col"{_label_class(column, table.n_labels)}>{as_html(text)}</th>'
        for column, text in enumerate(table.headings)
    )
    body = "".join(f"<tbody>{rows}</tbody>" for rows in bodies)
    name = as_html(", ".join(table.headings[:4]))
    caption = "".join(f"<p>{as_html(text)}</p>" for text in [" ".join(table.sentences())] if text)
    return (
        f'<div class="wide" role="group" aria-label="{name}" tabindex="0"><table class="{kind}">'
        f"<thead><tr>{head}</tr></thead>{body}</table></div>\n{caption}"
    )


def _label_class(column: int, n_labels: int) -> str:
    """Return the class of a label column; the last label is usually the run."""
    if column >= n_labels:
        return ""
    return f' class="{"label run" if column == n_labels - 1 else "label"}"'


def _html_cell(cell: Cell, column: int, n_labels: int) -> str:
    text = ("{}", "<b>{}</b>", '<u class="second">{}</u>')[cell.rank].format(as_html(cell.text))
    if cell.mark:
        kind = "" if cell.mark[:1].isalnum() else ' class="dagger"'
        text += f"<sup{kind}>{as_html(cell.mark)}</sup>"
    value = "" if cell.value is None else f' data-value="{json.dumps(float(cell.value))}"'
    if column < n_labels:
        return f'<th scope="row"{_label_class(column, n_labels)}{value}>{text}</th>'
    return f"<td{value}>{text}</td>"


# --- LaTeX -----------------------------------------------------------------------------------------

_LATEX_MAX_SIZE = r"max width=\linewidth,max totalheight=.8\textheight"


def _latex(table: Table) -> str:
    r"""Write a table with booktabs; it shrinks to the width of its column."""
    from permed_measures.results.latex import latex_cell, latex_heading, required_packages

    kinds = "l" * table.n_labels + "r" * (len(table.headings) - table.n_labels)
    label = table.label if ":" in table.label else f"tab:{table.label}"
    texts = [
        *table.headings,
        *table.sentences(),
        table.own_caption,
        *(cell.text for row in table.rows for cell in row),
    ]
    lines = [
        required_packages(texts),
        r"\begin{table}[t]",
        r"\centering",
        rf"\caption{{{_latex_caption(table)}}}",
        rf"\label{{{label}}}",
        rf"\begin{{adjustbox}}{{{_LATEX_MAX_SIZE}}}",
        rf"\begin{{tabular}}{{@{{}}{kinds}@{{}}}}",
        r"\toprule",
        rf"{' & '.join(map(latex_heading, table.headings))} \\",
    ]
    for block in table.blocks:
        rows = (
            [
                latex_heading(cell.text)
                if heading == MEASURE
                else latex_cell(cell.text, cell.rank, cell.mark)
                for heading, cell in zip(table.headings, row, strict=True)
            ]
            for row in block
        )
        lines += [r"\midrule", *(rf"{' & '.join(cells)} \\" for cells in rows)]
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{adjustbox}", r"\end{table}"]
    return "".join(f"{line}\n" for line in lines)


def _latex_caption(table: Table) -> str:
    """Write the caption and the notes; a user's LaTeX stays unchanged."""
    from permed_measures.results.latex import latex_text

    own = one_line(table.own_caption).strip()
    if not own:
        return " ".join(map(latex_text, table.sentences()))
    own = own if own[-1] in ".!?" else f"{own}."
    own = own if re.search(r"[\\$]", own) else latex_text(own)
    return " ".join([own, *map(latex_text, table._replace(caption="").sentences())])


# --- CSV -------------------------------------------------------------------------------------------


def separated(rows: Iterable[Sequence[Any]], delimiter: str = ",") -> str:
    """Write rows as CSV, or with another delimiter; escape texts that a spreadsheet would run as formulas."""
    import csv

    text = io.StringIO()
    cells = ([as_cell(value) if isinstance(value, str) else value for value in row] for row in rows)
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(cells)
    return text.getvalue()


def _separated(table: Table, delimiter: str = ",") -> str:
    rows = [[one_line(cell.text) for cell in row] for row in table.rows]
    return separated([table.headings, *rows], delimiter)


TABLE_FORMATS: dict[str, Callable[[Table], str]] = {
    "table": _terminal,
    "markdown": _markdown,
    "latex": _latex,
    "html": _html,
    "csv": _separated,
    "tsv": lambda table: _separated(table, "\t"),
}
"""The formats of a table; ``table`` is the format of a terminal."""
