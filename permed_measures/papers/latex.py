"""Tables in LaTeX: ``tabular`` and its like, with booktabs, multirow and multicolumn."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from permed_measures.papers.grids import MOST_COLUMNS, Cell, Found, Grid

_ARGUMENTS = {"tabular*": 2, "tabularx": 2, "tabulary": 2, "xltabular": 2, "NiceTabular*": 2}
"""How many arguments a table has before its cells; others have one."""
_TABLES = {"tabular", "longtable", "supertabular", "array", "NiceTabular", "tblr", "longtblr", *_ARGUMENTS}
_SYMBOLS_BY_NAME = """
dagger † ddagger ‡ textdagger † textdaggerdbl ‡ ast * star * textasteriskcentered * S § P ¶ textsection §
textparagraph ¶ pm ± textpm ± uparrow ↑ downarrow ↓ textuparrow ↑ textdownarrow ↓ Uparrow ↑ Downarrow ↓
rightarrow → to → triangle △ blacktriangle ▲ triangledown ▽ blacktriangledown ▼ bigtriangleup △
bigtriangledown ▽ Delta Δ alpha α beta β lambda λ times × cdot · checkmark ✓ ldots … dots …
minus - textminus - textendash – textemdash — textless < textgreater > textbar | textasciitilde ~ sim ~
approx ≈ textbackslash \\ % % _ _ & & # # $ $ { { } }
"""
_WORDS = iter(_SYMBOLS_BY_NAME.split())
_SYMBOLS = dict(zip(_WORDS, _WORDS, strict=True))
_SCRIPTS = {"textsuperscript": "^", "textsubscript": "_", "tnote": "^"}
_WITH_ARGUMENTS = {
    0: "toprule midrule bottomrule hline hdashline endhead endfoot addlinespace footnotemark",
    1: "cite citep citet citealp ref cref Cref label footnote tablefootnote footnotetext url caption noalign "
    "vspace hspace color rowcolor cellcolor columncolor arrayrulecolor cmidrule cline cdashline Xhline "
    "phantom hphantom vphantom setlength",
    2: "rule",
    3: "specialrule",
}
_DROPPED = {name: n for n, names in _WITH_ARGUMENTS.items() for name in names.split()}
"""Commands that print nothing in a cell, with the number of their arguments."""
_BEFORE_LAST = {
    1: "textcolor colorbox href rotatebox scalebox parbox adjustbox raisebox",
    2: "multicolumn multirow resizebox fcolorbox",
}
_LEADING = {name: n for n, names in _BEFORE_LAST.items() for name in names.split()}
"""Commands that print their last argument only, with the number of those before it."""
_RULES = frozenset(("midrule", "hline", "Xhline", "specialrule", "hdashline"))
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*")
_COMMAND = re.compile(r"\\(?:([A-Za-z]+\*?)|(.)|$)", re.DOTALL)
_BLANKS = re.compile(r"\s*")
_SPECIAL = re.compile(r"[\\{}$~^_\s]")
_SPAN = re.compile(r"\\(multicolumn|multirow) *(?:\[[^\]]*\])? *\{ *(-?[0-9]+) *\}")
_END_OF_CELL = re.compile(r"\\begin *\{|\\tabularnewline|\\.|[{&]", re.DOTALL)
_MACRO = re.compile(r"\\(?:re)?newcommand\*? *\{?\\([A-Za-z]+)\}? *(?=\{)|\\def *\\([A-Za-z]+) *(?=\{)")
_DEEPEST = 20
_LONGEST_MACRO = 200


def latex_tables(text: str) -> list[Found]:
    """Return the tables of a LaTeX document."""
    source = Source.of(_with_macros(_COMMENT.sub(r"\1", text)))
    found, place = [], 0
    while (begin := source.text.find("\\begin", place)) >= 0:
        name, place = source.argument(begin + len("\\begin"))
        if name in _TABLES:
            start = source.after_arguments(place, _ARGUMENTS.get(name, 1))
            place = source.end_of(name, start)
            found.append(_table(source, start, place))
    return found


def _with_macros(text: str) -> str:
    """Write what commands without arguments stand for, if that is short, in their places."""
    source = Source.of(text)
    contents = {found[1] or found[2]: source.argument(found.end())[0] for found in _MACRO.finditer(text)}
    short = {name: each for name, each in contents.items() if "#" not in each and len(each) < _LONGEST_MACRO}
    if not short:
        return text
    used = re.compile(rf"\\({'|'.join(map(re.escape, short))})(?![A-Za-z])")
    return used.sub(lambda found: f"{{{short[found[1]]}}}", text)


class Source(NamedTuple):
    """A text with the places of its lines, and of the brace that closes each."""

    text: str
    closing: dict[int, int]
    line_starts: list[int]

    @classmethod
    def of(cls, text: str) -> Source:
        """Find the braces and lines of a text."""
        closing, stack = {}, []
        for found in re.finditer(r"\\.|[{}]", text, re.DOTALL):
            if found[0] == "{":
                stack.append(found.start())
            elif found[0] == "}" and stack:
                closing[stack.pop()] = found.start()
        return cls(text, closing, [0, *(found.end() for found in re.finditer("\n", text))])

    def line(self, place: int) -> int:
        """Return the number of a line."""
        return bisect_right(self.line_starts, place)

    def argument(self, place: int) -> tuple[str, int]:
        """Return the argument at a place and what follows it; an argument without braces is one character."""
        start = _skip_blanks(self.text, place)
        if start in self.closing:
            return self.text[start + 1 : self.closing[start]], self.closing[start] + 1
        return self.text[start : start + 1], min(start + 1, len(self.text))

    def after_optional(self, place: int) -> int:
        """Return the place behind optional arguments in square or round brackets."""
        while self.text[place : place + 1] in ("[", "("):
            end = self.text.find("]" if self.text[place] == "[" else ")", place)
            if end < 0:
                break
            place = end + 1
        return place

    def after_arguments(self, place: int, n: int) -> int:
        """Return the place behind some arguments and the optional ones before and after them."""
        for _ in range(n):
            place = self.argument(self.after_optional(place))[1]
        return place

    def end_of(self, name: str, start: int) -> int:
        """Return where an environment ends; that of its own kind may be inside it."""
        depth = 1
        pattern = re.compile(r"\\(begin|end) *\{" + re.escape(name) + r"\}")
        for found in pattern.finditer(self.text, start):
            depth += 1 if found[1] == "begin" else -1
            if depth == 0:
                return found.start()
        return len(self.text)


def _skip_blanks(text: str, place: int) -> int:
    found = _BLANKS.match(text, place)
    return found.end() if found else place


# --- rows and cells ------------------------------------------------------------------------------------


def _table(source: Source, start: int, end: int) -> Found:
    rows: Grid = []
    n_headings = 0
    for cells, has_rule in _rows(source, start, end):
        if has_rule and not n_headings and any(cell.text for row in rows for cell in row):
            n_headings = len(rows)
        rows.append([cell for cell in cells for _ in range(min(cell.columns, MOST_COLUMNS))])
    _fill(rows)
    return Found(rows, n_headings)


def _fill(rows: Grid) -> None:
    """Write a cell over several rows into the empty cells that they have for it."""
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            step = 1 if cell.rows > 0 else -1
            for distance in range(1, min(abs(cell.rows), len(rows))):
                place = number + step * distance
                other = rows[place] if 0 <= place < len(rows) else []
                if column < len(other) and not other[column].text:
                    other[column] = other[column]._replace(text=cell.text)


def _rows(source: Source, start: int, end: int) -> Iterator[tuple[list[Cell], bool]]:
    """Yield the cells of each row, and whether there is a rule over the whole table before it."""
    cells: list[Cell] = []
    has_rule = False
    for first, last, ends_row in _places_of_cells(source, start, end):
        cell, ruled = _cell(source, first, last)
        has_rule = has_rule or (ruled and not cells)
        cells.append(cell)
        if ends_row:
            if len(cells) > 1 or cell.text or has_rule:
                yield cells, has_rule
            cells, has_rule = [], False


def _places_of_cells(source: Source, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Yield where each cell begins and ends, and whether it is the last of its row."""
    place = start
    while (found := _END_OF_CELL.search(source.text, place, end)) is not None:
        token, place = found[0], found.end()
        if token == "{":
            place = source.closing.get(place - 1, place - 1) + 1
        elif token.startswith("\\begin") and token.endswith("{"):
            name, place = source.argument(place - 1)
            place = source.end_of(name, place)
        elif token in ("&", "\\\\", "\\tabularnewline"):
            yield start, found.start(), token != "&"
            if token != "&":
                place += source.text.startswith("*", place)
                place = source.after_optional(place) if source.text.startswith("[", place) else place
            start = place
    yield start, end, True


def _cell(source: Source, start: int, stop: int) -> tuple[Cell, bool]:
    raw = source.text[start:stop]
    spans = {"multicolumn": 1, "multirow": 1} | {found[1]: int(found[2]) for found in _SPAN.finditer(raw)}
    line = source.line(min(_skip_blanks(source.text, start), max(stop - 1, start)))
    cell = Cell(" ".join(text_of(raw).split()), line, max(spans["multicolumn"], 1), spans["multirow"])
    return cell, any(found[1] in _RULES for found in _COMMAND.finditer(raw))


# --- text --------------------------------------------------------------------------------------------


def text_of(latex: str, depth: int = 0) -> str:
    r"""Return what LaTeX prints, raised text as ``^{...}`` and lowered text as ``_{...}``.

    Examples
    --------
    >>> text_of(r"\textbf{0.5357}$^{\dagger}$~\% \cellcolor{gray!20}")
    '0.5357^{†} % '
    """
    source = Source.of(latex)
    parts: list[str] = []
    place = 0
    while (found := _SPECIAL.search(latex, place)) is not None:
        parts.append(latex[place : found.start()])
        character, place = found[0], found.end()
        if character == "\\":
            text, place = _command(source, found.start(), depth)
            parts.append(text)
        elif character in "^_":
            command = _COMMAND.match(latex, place)
            inside, place = (command[0], command.end()) if command else source.argument(place)
            parts.append(f"{character}{{{_inner(inside, depth)}}}")
        elif character not in "{}$" or latex[place - 1 : place + 1] == "}{":
            parts.append(" ")
    return "".join([*parts, latex[place:]])


def _inner(latex: str, depth: int) -> str:
    inside = text_of(latex, depth + 1) if depth < _DEEPEST else ""
    return re.sub(r"[\^_{}]", "", inside)


def _command(source: Source, place: int, depth: int) -> tuple[str, int]:
    """Return what a command prints, and the place behind what was used of its arguments."""
    found = _COMMAND.match(source.text, place)
    name = "" if found is None else (found[1] or found[2] or "")
    place = place + 1 if found is None else found.end()
    bare = name.rstrip("*") or name
    if bare in _SYMBOLS:
        return _SYMBOLS[bare], place
    if bare in _SCRIPTS:
        inside, place = source.argument(source.after_optional(place))
        return f"{_SCRIPTS[bare]}{{{_inner(inside, depth)}}}", place
    if bare in _DROPPED or bare in _LEADING:
        n = _DROPPED.get(bare, 0) + _LEADING.get(bare, 0)
        return "", source.after_optional(source.after_arguments(place, n))
    if bare in ("begin", "end"):
        environment, place = source.argument(place)
        if bare == "begin" and environment in _TABLES:
            place = source.after_arguments(place, _ARGUMENTS.get(environment, 1))
        return " ", place
    if source.text.startswith(r"\\*", place - 2):  # goes on in the next line, with the same word
        return "", place + 1
    if not name or not name[0].isalpha():
        return " " if name in ("\\", " ", ",", ";", ":", "") else "", place
    after = source.after_optional(place)
    return "", after if source.text[after : after + 1] == "{" else _skip_blanks(source.text, place)
