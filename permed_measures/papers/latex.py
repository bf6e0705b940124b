"""Tables in LaTeX: ``tabular`` and its like, with booktabs, multirow and multicolumn."""

from __future__ import annotations

import re
from bisect import bisect_right
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
_MACRO = re.compile(r"\\(?:re)?newcommand\*? *\{?\\([A-Za-z]+)\}? *(?=\{)|\\def *\\([A-Za-z]+) *(?=\{)")
_DEEPEST = 20


def latex_tables(text: str) -> list[Found]:
    """Return the tables of a LaTeX document."""
    source = Source.of(text)
    found, place = [], 0
    while (begin := source.text.find("\\begin", place)) >= 0:
        name, start = source.argument(begin + len("\\begin"))
        place = start
        if name in _TABLES:
            for _ in range(_ARGUMENTS.get(name, 1)):
                start = source.argument(source.after_optional(start))[1]
            place = source.end_of(name, start)
            found.append(_table(source, start, place))
    return found


class Source(NamedTuple):
    """A document without comments: which brace closes each, where lines begin, and its own commands."""

    text: str
    closing: dict[int, int]
    line_starts: list[int]
    macros: dict[str, str]

    @classmethod
    def of(cls, text: str) -> Source:
        """Find the braces and commands of a document."""
        text = _COMMENT.sub(r"\1", text)
        closing, stack, place = {}, [], 0
        for found in re.finditer(r"\\.|[{}]", text, re.DOTALL):
            place = found.start()
            if found[0] == "{":
                stack.append(place)
            elif found[0] == "}" and stack:
                closing[stack.pop()] = place
        starts = [0, *(found.end() for found in re.finditer("\n", text))]
        source = cls(text, closing, starts, {})
        for found in _MACRO.finditer(text):
            content, _ = source.argument(found.end())
            if "#" not in content:
                source.macros[found[1] or found[2]] = text_of(content)
        return source

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


def _rows(source: Source, start: int, end: int) -> list[tuple[list[Cell], bool]]:
    """Return the cells of each row, and whether there is a rule over the whole table before it."""
    rows: list[tuple[list[Cell], bool]] = [([], False)]
    cell_start, place, depth, text = start, start, 0, source.text
    pattern = re.compile(r"\\begin *\{|\\end *\{|\\tabularnewline|\\.|[{}&]", re.DOTALL)

    def end_cell(stop: int) -> None:
        cell, has_rule = _cell(source, cell_start, stop)
        cells, before = rows[-1]
        rows[-1] = ([*cells, cell], before or (has_rule and not cells))

    while (found := pattern.search(text, place, end)) is not None:
        token, place = found[0], found.end()
        if token in ("{", "}"):
            depth += 1 if token == "{" else -1
        elif token.startswith(("\\begin", "\\end")) and token.endswith("{"):
            depth += 1 if token.startswith("\\begin") else -1
            place = source.closing.get(place - 1, place - 1) + 1
        elif depth == 0 and token in ("&", "\\\\", "\\tabularnewline"):
            end_cell(found.start())
            if token != "&":
                if text[place : place + 1] == "*":
                    place += 1
                after = source.after_optional(place) if text[place : place + 1] == "[" else place
                place = after
                rows.append(([], False))
            cell_start = place
    end_cell(end)
    return [(cells, rule) for cells, rule in rows if len(cells) > 1 or cells[0].text or rule]


_SPAN = re.compile(r"\\(multicolumn|multirow) *(?:\[[^\]]*\])? *\{ *(-?[0-9]+) *\}")


def _cell(source: Source, start: int, stop: int) -> tuple[Cell, bool]:
    raw = source.text[start:stop]
    commands = {found[1] for found in _COMMAND.finditer(raw)}
    columns = rows = 1
    for found in _SPAN.finditer(raw):
        if found[1] == "multicolumn":
            columns = max(int(found[2]), 1)
        else:
            rows = int(found[2])
    text = " ".join(text_of(raw, source.macros).split())
    line = source.line(min(_skip_blanks(source.text, start), max(stop - 1, start)))
    return Cell(text, line, columns, rows), bool(commands & _RULES)


# --- text --------------------------------------------------------------------------------------------


def text_of(latex: str, macros: dict[str, str] | None = None, depth: int = 0) -> str:
    r"""Return what LaTeX prints, raised text as ``^{...}`` and lowered text as ``_{...}``.

    Examples
    --------
    >>> text_of(r"\textbf{0.5357}$^{\dagger}$~\% \cellcolor{gray!20}")
    '0.5357^{†} % '
    """
    source = Source(latex, _closing(latex), [0], macros or {})
    parts: list[str] = []
    place = 0
    while (found := _SPECIAL.search(latex, place)) is not None:
        parts.append(latex[place : found.start()])
        character, place = found[0], found.end()
        if character == "\\":
            text, place = _command(source, found.start(), depth)
            parts.append(text)
        elif character in "^_":
            inside, place = _script(source, place)
            parts.append(f"{character}{{{_inner(inside, source, depth)}}}")
        elif character not in "{}$" or latex[place - 1 : place + 1] == "}{":
            parts.append(" ")
    parts.append(latex[place:])
    return "".join(parts)


def _closing(latex: str) -> dict[int, int]:
    closing, stack = {}, []
    for found in re.finditer(r"\\.|[{}]", latex, re.DOTALL):
        if found[0] == "{":
            stack.append(found.start())
        elif found[0] == "}" and stack:
            closing[stack.pop()] = found.start()
    return closing


def _script(source: Source, place: int) -> tuple[str, int]:
    """Return what is raised or lowered: an argument, or a command."""
    if found := _COMMAND.match(source.text, place):
        return found[0], found.end()
    return source.argument(place)


def _inner(latex: str, source: Source, depth: int) -> str:
    inside = text_of(latex, source.macros, depth + 1) if depth < _DEEPEST else ""
    return inside.replace("^", "").replace("_", "").replace("{", "").replace("}", "")


def _command(source: Source, place: int, depth: int) -> tuple[str, int]:
    """Return what a command prints, and the place behind what was used of its arguments."""
    found = _COMMAND.match(source.text, place)
    name = "" if found is None else (found[1] or found[2] or "")
    place = place + 1 if found is None else found.end()
    bare = name.rstrip("*") or name
    if name in source.macros:
        return source.macros[name], place
    if bare in _SYMBOLS:
        return _SYMBOLS[bare], place
    if bare in _SCRIPTS:
        inside, place = source.argument(source.after_optional(place))
        return f"{_SCRIPTS[bare]}{{{_inner(inside, source, depth)}}}", place
    if bare in _DROPPED or bare in _LEADING:
        place = source.after_optional(place)
        for _ in range(_DROPPED.get(bare, 0) + _LEADING.get(bare, 0)):
            place = source.after_optional(source.argument(place)[1])
        return "", place
    if bare in ("begin", "end"):
        environment, place = source.argument(place)
        if bare == "begin" and environment in _TABLES:
            for _ in range(_ARGUMENTS.get(environment, 1)):
                place = source.argument(source.after_optional(place))[1]
        return " ", place
    if source.text.startswith(r"\\*", place - 2):  # goes on in the next line, with the same word
        return "", place + 1
    if not name or not name[0].isalpha():
        return " " if name in ("\\", " ", ",", ";", ":", "") else "", place
    after = source.after_optional(place)
    return "", after if source.text[after : after + 1] == "{" else _skip_blanks(source.text, place)
