"""Read LaTeX tables: ``tabular`` and its variants, with booktabs, multirow and multicolumn."""

from __future__ import annotations

import re

from permed_measures.published_tables.cells import MOST_COLUMNS, Grid, TableCell, count_in

_ARGUMENTS = {"tabular*": 2, "tabularx": 2, "tabulary": 2, "xltabular": 2, "NiceTabular*": 2}
"""Number of arguments of an environment before its cells; others have one."""
_TABLES = {"tabular", "longtable", "supertabular", "array", "NiceTabular", "tblr", "longtblr", *_ARGUMENTS}
_SYMBOLS_BY_NAME = """
dagger † ddagger ‡ textdagger † textdaggerdbl ‡ ast * star * textasteriskcentered * S § P ¶ pm ± textpm ±
uparrow ↑ downarrow ↓ textuparrow ↑ textdownarrow ↓ rightarrow → to → triangle △ blacktriangle ▲
triangledown ▽ blacktriangledown ▼ Delta Δ alpha α beta β lambda λ times × cdot · ldots … dots …
textminus - textendash – textemdash — textless < textgreater > textbar | textasciitilde ~ sim ~ approx ≈
% % _ _ & & # # $ $ { { } }
"""
_SYMBOL_WORDS = iter(_SYMBOLS_BY_NAME.split())
_SYMBOLS = dict(zip(_SYMBOL_WORDS, _SYMBOL_WORDS, strict=True))
_REWRITES = (
    (re.compile(r"\\tabularnewline(?![A-Za-z])"), r"\\\\"),
    (re.compile(r"\\(?:textsuperscript|tnote) *(?=\{)"), "^"),
    (re.compile(r"\\textsubscript *(?=\{)"), "_"),
    (re.compile(r"(?<!\\)([\^_]) *(\\[A-Za-z]+|[^\s{}\\&])"), r"\1{\2}"),
)
"""Rewrites of variants: the end of a row, superscripts and subscripts."""
_SKIPPED_ARGUMENTS = {
    1: "cite citep citet citealp ref cref Cref label footnote tablefootnote footnotetext url caption noalign "
    "vspace hspace color rowcolor cellcolor columncolor arrayrulecolor cmidrule cline cdashline Xhline "
    "phantom hphantom vphantom textcolor colorbox href rotatebox scalebox parbox raisebox",
    2: "rule multirow setlength resizebox fcolorbox",
    3: "specialrule",
}
_SKIPPED = {name: n for n, names in _SKIPPED_ARGUMENTS.items() for name in names.split()}
"""Number of arguments of a command that do not print."""
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*")
_TOKEN = re.compile(r"\\(?:(?P<name>[A-Za-z]+)\*?|(?P<sign>.?))|[{}&$^_~]|[^\\{}&$^_~]+", re.DOTALL)
_BLANKS = re.compile(r"\s*")


def latex_tables(text: str) -> list[Grid]:
    """Read the tables of a LaTeX document, or the rows of a file that another document inputs."""
    text = _COMMENT.sub(r"\1", text)
    is_rows = "&" in text and "\\begin" not in text
    return _LatexReader(f"\\begin{{tabular}}{{}}{text}" if is_rows else text).tables


def printed_text(latex: str) -> str:
    r"""Convert LaTeX to the text that it prints, superscripts as ``^{...}`` and subscripts as ``_{...}``.

    Examples
    --------
    >>> printed_text(r"\textbf{0.5357}$^{\dagger}$~\% \cellcolor{gray!20}")
    '0.5357^{†} % '
    """
    return "".join(_LatexReader(latex).parts)


class _LatexReader:
    """Reads LaTeX from start to end into `tables`; text outside of tables is in `parts`."""

    def __init__(self, latex: str) -> None:
        for pattern, text in _REWRITES:
            latex = pattern.sub(text, latex)
        self.text = latex
        self.closing = _closing_braces(self.text)
        self.tables: list[Grid] = []
        self.depth = -1
        """The depth of environments within a cell; -1 is outside of a table."""
        self.position = self.counted = 0
        """The next character, and the character up to which lines are counted."""
        self.line = 1
        self.ends: list[str] = []
        """The text that the end of each open group prints."""
        self.row: list[TableCell] = []
        self.parts: list[str] = []
        self.columns = 1
        while (token := _TOKEN.match(self.text, self.position)) is not None:
            self.position = token.end()
            name, sign = token["name"], token["sign"]
            if name:
                self._command(name)
            elif sign is not None:
                self._sign(sign)
            else:
                self._character(token[0])
        if self.depth >= 0:
            self._end_table()

    def _character(self, text: str) -> None:
        if text == "{" and self.position - 1 in self.closing:
            self._open(" " if self.text.startswith("}", self.position - 2) else "")
        elif text == "}" and self.ends:
            self.parts.append(self.ends.pop())
        elif text in ("^", "_") and self.text.startswith("{", self.position):
            self.position += 1
            self._open(f"{text}{{")
        elif text == "&" and self._is_between_cells():
            self._end_cell()
        elif text not in "{}$^_":
            self.parts.append(" " if text == "~" else text)

    def _open(self, start: str) -> None:
        """Begin a group, a superscript or a subscript."""
        self.parts.append(start)
        self.ends.append("}" if start.endswith("{") else "")

    def _sign(self, sign: str) -> None:
        """Print the sign after a backslash, or end a row."""
        if sign == "\\" and self._is_between_cells():
            self._end_row()
        else:
            self.parts.append(_SYMBOLS.get(sign, " " if sign in "\\ ,;:" else ""))

    def _command(self, name: str) -> None:
        if name in _SYMBOLS:
            self.parts.append(_SYMBOLS[name])
        elif name in ("begin", "end"):
            self._environment(name)
        elif name == "multicolumn":
            self.columns = min(count_in(self._argument()), MOST_COLUMNS)
            self._argument()
        else:
            for _ in range(_SKIPPED.get(name, 0)):
                self._argument()
            after = self._after_options()
            self.position = after if self.text.startswith("{", after) else self._after_blanks()

    def _environment(self, which: str) -> None:
        """Begin or end a table; a table within a cell is text."""
        name = self._argument()
        self.parts.append(" ")
        if which == "begin" and name in _TABLES:
            for _ in range(_ARGUMENTS.get(name, 1)):
                self._argument()
        if self.depth >= 0:
            self.depth += 1 if which == "begin" else -1
            if self.depth < 0:
                self._end_table()
        elif which == "begin" and name in _TABLES:
            self.tables.append([])
            self.depth, self.ends, self.parts = 0, [], []

    # --- rows ----------------------------------------------------------------------------------------

    def _is_between_cells(self) -> bool:
        return self.depth == 0 and not self.ends

    def _end_cell(self) -> None:
        text = " ".join("".join(self.parts).split())
        self.row += [TableCell(text, self.line, self.columns)] * self.columns
        self.line += self.text.count("\n", self.counted, self.position)
        self.counted = self.position
        self.parts, self.columns = [], 1

    def _end_row(self) -> None:
        """Add a row, unless it is empty."""
        self.position += self.text.startswith("*", self.position)
        self.position = self._after_options() if self.text.startswith("[", self.position) else self.position
        self._end_cell()
        if self.row[1:] or self.row[0].text:
            self.tables[-1].append(self.row)
        self.row = []

    def _end_table(self) -> None:
        self._end_row()
        self.depth, self.ends, self.parts = -1, [], []

    # --- arguments -----------------------------------------------------------------------------------

    def _argument(self) -> str:
        """Return the next argument, after optional ones, and move past it."""
        self.position = self._after_options()
        start = self._after_blanks()
        end = self.closing.get(start, start)
        self.position = min(end + 1, len(self.text))
        return self.text[start + 1 : end]

    def _after_options(self) -> int:
        """Return the position after optional arguments in square or round brackets."""
        position = self.position
        while self.text[position : position + 1] in ("[", "("):
            end = self.text.find("]" if self.text[position] == "[" else ")", position)
            if end < 0:
                break
            position = end + 1
        return position

    def _after_blanks(self) -> int:
        match = _BLANKS.match(self.text, self.position)
        return match.end() if match else self.position


def _closing_braces(text: str) -> dict[int, int]:
    """Map the position of each opening brace to that of its closing brace."""
    closing, opened = {}, []
    for match in re.finditer(r"\\.|[{}]", text, re.DOTALL):
        if match[0] == "{":
            opened.append(match.start())
        elif match[0] == "}" and opened:
            closing[opened.pop()] = match.start()
    return closing
