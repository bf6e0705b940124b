"""Tables in LaTeX that fit a column of a two-column paper, or else the text of an article."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil
from typing import NamedTuple

from permed_measures.markup import as_latex, one_line
from permed_measures.reports.tables import Cell, PaperTable, TableRow

_WIDTHS = {"table": 224.0, "table*": 340.0}
"""A little less than a column has, and the text of ``article``, in points.

In a document of one column both environments are as wide as its text.
"""


class _Layout(NamedTuple):
    """The size of the letters by name, the points of an em and a little more, the space between columns."""

    size: str
    points: float
    space: float


_LAYOUTS = (_Layout("small", 9.25, 10), _Layout("small", 9.25, 6), _Layout("footnotesize", 8.5, 6))
"""What is tried, the most readable first."""
_NARROW = _Layout("footnotesize", 8.5, 4)
"""Tried last with letters, which keep numbers apart."""
_LONG, _SHORT = 10.5, 5.0
"""Em that a label gets if it needs them, enough for 20 letters, or for 10; the rest is wrapped."""
_TRIES = [
    (environment, whole, width)
    for environment in _WIDTHS
    for whole, width in ((True, _LONG), (False, _LONG), (False, _SHORT))
]
"""The environment, whether all columns stand there, and the width of a label."""
_HEIGHT = 420.0
"""Points that a page has for rows, beside the caption and the headings."""
_LIMIT = 10
"""Pages of floats that LaTeX can surely hold back."""


class _Plan(NamedTuple):
    """A table as it is set.

    The labels `wrapped`, and with `marks` the marks, share the room that is left: each has `width` em.
    """

    table: PaperTable
    environment: str
    layout: _Layout
    wrapped: list[int]
    width: float
    marks: bool = False
    fits: bool = True


def latex(table: PaperTable, name: str, notes: Sequence[str] = (), sentences: Sequence[str] = ()) -> str:
    """Write a table, its label from its title or this name; notes and sentences follow as comments."""
    plan = _plan(table)
    shown, pages = plan.table, _pages(plan)
    lines = [f"% {text}" for text in _remarks(plan)]
    for number, page in enumerate(pages):
        lines += [rf"\begin{{{plan.environment}}}[t]", r"\centering"]
        if number:
            lines += [r"\addtocounter{table}{-1}\caption{(continued)}"]
        else:
            label = _label_of(shown.title) or name
            lines += [rf"\caption{{{_breakable(shown.caption(), 12)}}}", rf"\label{{tab:{label}}}"]
        lines += [*_tabular(plan, page), rf"\end{{{plan.environment}}}"]
        lines += [r"\clearpage"] * (len(pages) > _LIMIT)
    comments = [*map(one_line, notes), *map(as_latex, [*_left_out(table, shown), *sentences])]
    return "\n".join([*lines, *(f"% {text}" for text in comments), ""])


def _tabular(plan: _Plan, blocks: list[list[TableRow]]) -> Iterator[str]:
    """Yield the lines of the rows of a page, between their headings and the last rule."""
    table, layout = plan.table, plan.layout
    piece = max(0.75 * _SHORT, 0.6 * plan.width)
    number = "r" if not table.lettered else f"r{_MARKS if plan.marks else '@{}l'}"
    kinds = [_LABELS if place in plan.wrapped else "l" for place in range(len(table.labels))]
    kinds += [number] * len(table.headings)
    daggers = not table.lettered and any(row.cells[-1].mark for row in table.rows)
    columns = f"@{{}}{''.join(kinds)}{'' if daggers else '@{}'}"  # daggers stand in the space at the right
    tabular, width = ("tabularx", r"{\linewidth}") if plan.wrapped else ("tabular", "")
    lengths = {"tabcolsep": layout.space / 2, "abovetopsep": 6}
    yield rf"\{layout.size}" + "".join(rf"\setlength{{\{name}}}{{{pt:g}pt}}" for name, pt in lengths.items())
    yield rf"\begin{{{tabular}}}{width}{{{columns}}}"
    yield r"\toprule"
    yield rf"{' & '.join(_headings(table, plan.wrapped))} \\"
    for block in blocks:
        yield r"\midrule"
        for row in block:
            labels = [
                _breakable(text, piece) if place in plan.wrapped else as_latex(text)
                for place, text in enumerate(row.labels)
            ]
            cells = [_cell(cell, table.lettered, plan.marks) for cell in row.cells]
            yield rf"{' & '.join([*labels, *cells])} \\"
    yield r"\bottomrule"
    yield rf"\end{{{tabular}}}"


_LABELS = r">{\raggedright\hangindent=0.5em\arraybackslash}X"
_MARKS = r"@{\ }>{\raggedright\scriptsize\arraybackslash}X"


# --- what fits -------------------------------------------------------------------------------------


def _plan(table: PaperTable) -> _Plan:
    """Return the first way that fits: in a column, without the columns that may be left out, in the text."""
    less = _without(table)
    for environment, whole, name in _TRIES:
        shown, room = table if whole else less, _WIDTHS[environment]
        labels, numbers = _label_widths(shown), sum(_number_widths(shown))
        columns = len(labels) + len(shown.headings) - 0.5  # there is no space at the left, half at the right
        for layout in _LAYOUTS if name == _LONG else (_LAYOUTS[-1], *([_NARROW] * table.lettered)):
            free = (room - layout.space * columns) / layout.points - numbers
            if sum(min(width, name) for width in labels) <= free:
                wrapped, width = _wrapped(labels, name, free, 0.1 * room / layout.points)
                return _Plan(shown, environment, layout, wrapped, width)
    return _squeezed(less)


def _wrapped(labels: list[float], name: float, free: float, spare: float) -> tuple[list[int], float]:
    """Return the labels that get what others leave, and what each gets; none where there is room to spare."""
    if sum(labels) + spare <= free:
        return [], 0.0
    widest, rest = labels.index(max(labels)), sum(labels) - max(labels)
    if rest + min(max(labels), name) <= free:
        return [widest], free - rest
    wide = [place for place, width in enumerate(labels) if width > name]
    return wide, (free - sum(labels) + sum(labels[place] for place in wide)) / len(wide)


def _squeezed(table: PaperTable) -> _Plan:
    """Return a table whose long labels, and letters if it has them, share the room as well as they can."""
    layout, labels = _LAYOUTS[-1], _label_widths(table)
    wrapped = [place for place, width in enumerate(labels) if width > _SHORT]
    wrapped = wrapped or [labels.index(max(labels))]
    unmarked = [[row._replace(cells=[cell._replace(mark="") for cell in row.cells]) for row in table.rows]]
    fixed = sum(_number_widths(replace(table, blocks=unmarked)))
    fixed += sum(width for place, width in enumerate(labels) if place not in wrapped)
    columns = len(labels) + len(table.headings) * (1.5 if table.lettered else 1)
    free = (_WIDTHS["table*"] - layout.space * columns) / layout.points - fixed
    width = free / (len(wrapped) + table.lettered * len(table.headings))
    enough = width >= max(3.0, min(_SHORT, *(labels[place] for place in wrapped)))
    return _Plan(table, "table*", layout, wrapped, width, table.lettered, enough)


def _pages(plan: _Plan) -> list[list[list[TableRow]]]:
    """Split the blocks where a page is full, between two blocks if it can be."""
    pages: list[list[list[TableRow]]] = [[]]
    room = _HEIGHT
    for block in plan.table.blocks:
        heights = [1.2 * plan.layout.points * _lines(row, plan) for row in block]
        if pages[-1] and room < min(sum(heights), _HEIGHT):
            pages.append([])
            room = _HEIGHT
        pages[-1].append([])
        for row, height in zip(block, heights, strict=True):
            if room < height and pages[-1][-1]:
                pages.append([[]])
                room = _HEIGHT
            pages[-1][-1].append(row)
            room -= height
    return pages


def _lines(row: TableRow, plan: _Plan) -> int:
    """Return about how many lines a row has."""
    widths = [_em(row.labels[place]) for place in plan.wrapped]
    widths += [0.8 * _em(cell.mark) for cell in row.cells if plan.marks]
    return max([1, *(ceil(width / max(plan.width - 1, 1)) for width in widths if width > plan.width)])


def _label_widths(table: PaperTable) -> list[float]:
    """Return the width of each column of labels, in em."""
    columns = zip(*(row.labels for row in table.rows), strict=True)
    cells = [max(map(_em, texts)) for texts in columns]
    return [
        max(width, *(_em(line.strip()) for line in _stacked(heading, width)))
        for width, heading in zip(cells, table.labels, strict=True)
    ]


def _number_widths(table: PaperTable) -> list[float]:
    """Return the width of each column of numbers, in em."""
    cells = _cell_widths(table)
    return [
        max(width, *(_em(line.strip()) for line in _stacked(heading, width)))
        for width, heading in zip(cells, table.headings, strict=True)
    ]


def _cell_widths(table: PaperTable) -> list[float]:
    """Return the width of the cells of each column, some of which are bold, with their letters."""
    columns = zip(*(row.cells for row in table.rows), strict=True)
    marks = 0.7 if table.lettered else 0.0  # daggers stand in the space between columns
    return [
        max(1.15 * _em(cell.text) for cell in cells) + marks * max(_em(cell.mark) for cell in cells)
        for cells in columns
    ]


def _em(text: str) -> float:
    """Return about how wide a text is in Computer Modern."""
    return sum(map(_em_of_letter, one_line(text)))


def _em_of_letter(letter: str) -> float:
    if letter in "MW" or unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if letter in "ijl.,:;!'|":
        return 0.28
    if letter in "frt()[]-/Is_ ":
        return 0.39
    return 0.75 if letter.isupper() or letter in "mw@%+=<>&" else 0.5


_PART = re.compile(r"(?=@)|(?<=[-_=, ])|(?<=[a-z]{2})(?=[A-Z])")
"""Where a heading may go on in the next line."""


def _stacked(heading: str, width: float) -> list[str]:
    """Split a heading into lines that are hardly wider than the cells below it, or than its longest part."""
    lines = [""]
    parts = _PART.split(one_line(heading))
    most = 1.1 * max(width, *(_em(part.strip()) for part in parts))
    for part in parts:
        if _em((lines[-1] + part).strip()) <= most:
            lines[-1] += part
        else:
            lines.append(part)
    return lines


def _without(table: PaperTable) -> PaperTable:
    """Leave out the columns that may be, and say in the caption between what their values are."""
    kept = [number for number, heading in enumerate(table.headings) if heading not in table.spare]
    if len(kept) in (0, len(table.headings)):
        return table
    blocks = [
        [row._replace(cells=[row.cells[number] for number in kept]) for row in block]
        for block in table.blocks
    ]
    ranges = []
    for heading in table.spare:
        texts = sorted((text for text in _column(table, heading) if text), key=float)
        ranges.append(f"{heading} {' to '.join(dict.fromkeys([texts[0], texts[-1]]))}")
    return replace(
        table,
        headings=[table.headings[number] for number in kept],
        blocks=blocks,
        explanations=[*table.explanations, ", ".join(ranges)],
    )


def _left_out(table: PaperTable, shown: PaperTable) -> Iterator[str]:
    """Yield the values of the columns that were left out."""
    for heading in table.headings:
        if heading not in shown.headings:
            pairs = zip(table.rows, _column(table, heading), strict=True)
            yield f"{heading}: {', '.join(' '.join([*row.labels, text]) for row, text in pairs if text)}"


def _column(table: PaperTable, heading: str) -> list[str]:
    place = table.headings.index(heading)
    return [row.cells[place].text for row in table.rows]


# --- what stands before it -------------------------------------------------------------------------


def _remarks(plan: _Plan) -> Iterator[str]:
    """Yield what the table needs, and what is too much."""
    table = plan.table
    labels = (label for row in table.rows for label in row.labels)
    letters = {*one_line("".join([table.caption(), *table.labels, *table.headings, *labels]))} - {*"†‡—Δ"}
    beyond = sorted(letter for letter in letters if letter > "\xff")
    packages = [r"\usepackage{booktabs}", *([r"\usepackage{tabularx}"] if plan.wrapped else [])]
    if letters and not beyond and max(letters) > "\x7f":
        packages.append(r"\usepackage[T1]{fontenc}")  # which has all of Latin-1
    chinese = [letter for letter in beyond if _is_chinese(letter)]
    packages += [r"\usepackage[scheme=plain]{ctex}"] * bool(chinese)
    yield f"needs {', '.join(packages)}"
    if beyond:
        yield "compile it with XeLaTeX or LuaLaTeX: pdfLaTeX does not have all of its letters"
    if others := [letter for letter in beyond if letter not in chinese]:
        yield rf"a font that has {' '.join(others[:10])}: \usepackage{{fontspec}}, \setmainfont{{its name}}"
    if not plan.fits:
        yield "wider than the text of an article: leave out measures or columns"


def _is_chinese(letter: str) -> bool:
    """Say whether a font for Chinese has the letter: ideographs, their punctuation, wide forms."""
    return (
        "\u2e80" <= letter <= "\u303f"
        or "\u3400" <= letter <= "\u9fff"
        or "\uf900" <= letter <= "\ufaff"
        or "\uff00" <= letter <= "\uffef"
        or letter >= "\U00020000"
    )


def _label_of(title: str) -> str:
    """Return the first words of a title, so that two tables of a paper have different labels."""
    return "-".join(re.findall(r"[^\W_]+", title.lower())[:6])


# --- cells -----------------------------------------------------------------------------------------


def _headings(table: PaperTable, wrapped: list[int]) -> Iterator[str]:
    """Yield the heading of each column, in lines."""
    widths = [max(_em(row.labels[number]) for row in table.rows) for number in range(len(table.labels))]
    for number, (text, width) in enumerate(zip(table.labels, widths, strict=True)):
        yield as_latex(text) if number in wrapped else _in_lines(_stacked(text, width), "l")
    for text, width in zip(table.headings, _cell_widths(table), strict=True):
        lines = _in_lines(_stacked(text, width), "c" if table.lettered else "r")
        yield rf"\multicolumn{{2}}{{c}}{{{lines}}}" if table.lettered else lines


def _in_lines(lines: list[str], side: str) -> str:
    r"""Write lines that stand in one cell; ``\\*`` is within a word, so that a reader can join it again."""
    text = as_latex(lines[0].strip())
    for before, line in pairwise(lines):
        text += ("\\\\" if before.endswith(" ") else r"\\*") + as_latex(line.strip())
    return rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{text}\end{{tabular}}" if len(lines) > 1 else text


def _breakable(text: str, width: float) -> str:
    """Let LaTeX break words that are longer than this, in em, best after a hyphen or the like."""
    words = one_line(text).split(" ")
    return " ".join(as_latex(word) if _em(word) <= width else _in_pieces(word, width) for word in words)


def _in_pieces(word: str, width: float) -> str:
    """Write a word with places where it may be broken, none of them close to another."""
    pieces = [""]
    for letter in word:
        joined = pieces[-1][-1:] in _JOINTS and letter not in _JOINTS
        if pieces[-1] and (_em(pieces[-1] + letter) > width or (joined and _em(pieces[-1]) > 2)):
            pieces.append("")
        pieces[-1] += letter
    ends = [r"\allowbreak{}" if piece[-1:] in _JOINTS else r"\nolinebreak[2]{}" for piece in pieces[:-1]]
    return "".join(as_latex(piece) + end for piece, end in zip(pieces, [*ends, ""], strict=True))


_JOINTS = "_-./+@=,:;"


def _cell(cell: Cell, lettered: bool, wrapped: bool) -> str:
    """Write a mean and its mark so that the digits of a column are aligned."""
    text = ("{}", r"\textbf{{{}}}", r"\underline{{{}}}")[cell.place].format(as_latex(cell.text))
    if lettered and wrapped:
        marks = re.findall("[a-z]|[0-9-]+,?", cell.mark)
        return " & ".join([text, r"\allowbreak{}".join(marks)])
    if lettered:
        return rf"{text} & \textsuperscript{{{cell.mark}}}" if cell.mark else f"{text} &"
    return rf"{text}\rlap{{{as_latex(cell.mark)}}}" if cell.mark else text
