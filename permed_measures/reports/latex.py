"""Tables in LaTeX, for a paper to take as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from permed_measures.markup import as_latex, one_line
from permed_measures.reports.latex_layout import (
    FLOATS,
    NARROWEST,
    Plan,
    em,
    left_out,
    pages_of,
    plan_of,
    stacked,
    widths_of_cells,
)
from permed_measures.reports.tables import Cell, PaperTable, TableRow


def latex(table: PaperTable, name: str, notes: Sequence[str] = (), sentences: Sequence[str] = ()) -> str:
    """Write a table, its label from its title or this name; notes and sentences follow as comments."""
    plan = plan_of(table)
    shown, pages = plan.table, pages_of(plan)
    lines = [f"% {text}" for text in _remarks(plan)]
    for number, page in enumerate(pages):
        lines += [rf"\begin{{{plan.environment}}}[t]", r"\centering"]
        if number:
            lines += [r"\addtocounter{table}{-1}\caption{(continued)}"]
        else:
            label = _label_of(shown.title) or name
            lines += [rf"\caption{{{_breakable(shown.caption(), 12)}}}", rf"\label{{tab:{label}}}"]
        lines += [*_tabular(plan, page), rf"\end{{{plan.environment}}}"]
        lines += [r"\clearpage"] * (len(pages) > FLOATS)
    comments = [*map(one_line, notes), *map(as_latex, [*left_out(table, shown), *sentences])]
    return "\n".join([*lines, *(f"% {text}" for text in comments), ""])


def _tabular(plan: Plan, blocks: list[list[TableRow]]) -> Iterator[str]:
    """Yield the lines of the rows of a page, between their headings and the last rule."""
    table, layout = plan.table, plan.layout
    piece = max(0.75 * NARROWEST, 0.6 * plan.width)
    tabular, width = ("tabularx", r"{\linewidth}") if plan.wrapped else ("tabular", "")
    lengths = {"tabcolsep": layout.space / 2, "abovetopsep": 6}
    yield rf"\{layout.size}" + "".join(rf"\setlength{{\{name}}}{{{pt:g}pt}}" for name, pt in lengths.items())
    yield rf"\begin{{{tabular}}}{width}{{{_columns(plan)}}}"
    yield r"\toprule"
    yield rf"{' & '.join(_headings(plan, piece))} \\"
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


def _columns(plan: Plan) -> str:
    """Return the kinds of the columns; daggers stand in the space at the right of theirs."""
    table = plan.table
    number = "r" if not table.lettered else f"r{_MARKS if plan.marks else '@{}l'}"
    kinds = [_LABELS if place in plan.wrapped else "l" for place in range(len(table.labels))]
    daggers = not table.lettered and any(cell.mark for row in table.rows for cell in row.cells[-1:])
    return f"@{{}}{''.join([*kinds, *[number] * len(table.headings)])}{'' if daggers else '@{}'}"


_LABELS = r">{\raggedright\hangindent=0.5em\arraybackslash}X"
_MARKS = r"@{\ }>{\raggedright\scriptsize\arraybackslash}X"


# --- what stands before it -------------------------------------------------------------------------


_KNOWN = {*"†‡—Δ\u2013\u2018\u2019\u201c\u201d\u2026"}
"""Letters beyond Latin-1 that any LaTeX has."""


def _remarks(plan: Plan) -> Iterator[str]:
    """Yield what the table needs, and what is too much."""
    table = plan.table
    labels = (label for row in table.rows for label in row.labels)
    letters = {*one_line("".join([table.caption(), *table.labels, *table.headings, *labels]))} - _KNOWN
    beyond = sorted(letter for letter in letters if letter > "\xff")
    packages = [r"\usepackage{booktabs}", *([r"\usepackage{tabularx}"] if plan.wrapped else [])]
    if letters and not beyond and max(letters) > "\x7f":
        packages.append(r"\usepackage[T1]{fontenc}")  # which has all of Latin-1
    chinese = [letter for letter in beyond if _is_chinese(letter)]
    packages += [r"\usepackage[scheme=plain]{ctex}"] * bool(chinese)
    yield f"needs {', '.join(packages)}"
    if beyond:
        yield "compile it with XeLaTeX: pdfLaTeX does not have all of its letters"
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


def _headings(plan: Plan, piece: float) -> Iterator[str]:
    """Yield the heading of each column, in lines."""
    table = plan.table
    for place, text in enumerate(table.labels):
        width = max(em(row.labels[place]) for row in table.rows)
        yield _breakable(text, piece) if place in plan.wrapped else _in_lines(stacked(text, width), "l")
    for text, width in zip(table.headings, widths_of_cells(plan), strict=True):
        lines = _in_lines(stacked(text, width), "c" if table.lettered else "r")
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
    return " ".join(as_latex(word) if em(word) <= width else _in_pieces(word, width) for word in words)


def _in_pieces(word: str, width: float) -> str:
    """Write a word with places where it may be broken, none of them close to another."""
    pieces = [""]
    for letter in word:
        joined = pieces[-1][-1:] in _JOINTS and letter not in _JOINTS
        if pieces[-1] and (em(pieces[-1] + letter) > width or (joined and em(pieces[-1]) > 2)):
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
