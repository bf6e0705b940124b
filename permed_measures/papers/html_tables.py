"""Tables in HTML."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from permed_measures.papers.grids import Cell, Grid, spread
from permed_measures.papers.latex import text_of

_AROUND = {"sup": ("^{", "}"), "sub": ("_{", "}"), **dict.fromkeys(("br", "p", "div", "li"), (" ", ""))}
_SILENT = ("script", "style", "annotation", "annotation-xml")
"""Elements whose text is not shown."""
_CELLS = ("td", "th")
_ENDS_A_CELL = (*_CELLS, "tr", "thead", "tbody", "table")
_MATHS = re.compile(r"\$([^$]*)\$")
_MOST_ROWS = 10_000


def html_tables(text: str, first_line: int = 1) -> list[Grid]:
    """Return the tables of an HTML page, those in a cell of another one too; maths as it prints."""
    parser = _Reader(first_line)
    parser.feed(text)
    parser.close()
    for table in parser.tables:
        table.end_cell()
    return [spread(table.rows) for table in parser.tables]


class _Table:
    """A table while it is read."""

    def __init__(self) -> None:
        self.rows: Grid = []
        self.parts: list[str] | None = None

    def end_cell(self) -> None:
        """Add the open cell to its row."""
        if self.parts is None:
            return
        if not self.rows:
            self.rows.append([])
        text = _MATHS.sub(lambda maths: text_of(maths[1]), "".join(self.parts))
        text = " ".join((text_of(text) if "\\" in text else text).split())
        self.rows[-1].append(self.cell._replace(text=text))
        self.parts = None

    def start_cell(self, line: int, given: dict[str, str | None]) -> None:
        """Open a cell."""
        line = _number(given.get("data-line"), line)
        self.cell = Cell("", line, _number(given.get("colspan")), _number(given.get("rowspan")))
        self.parts = []


class _Reader(HTMLParser):
    def __init__(self, first_line: int) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[_Table] = []
        self.open: list[_Table] = []
        self.silent = 0
        self.first_line = first_line

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open a table, a row or a cell; each ends what is open without its end."""
        self.silent += tag in _SILENT
        if tag == "table":
            self.tables.append(_Table())
            self.open.append(self.tables[-1])
        if not self.open:
            return
        table = self.open[-1]
        if tag in _ENDS_A_CELL:
            table.end_cell()
        if tag == "tr":
            table.rows.append([])
        elif tag in _CELLS:
            table.start_cell(self.getpos()[0] + self.first_line - 1, dict(attrs))
        else:
            self._add(_AROUND.get(tag, ("", ""))[0])

    def handle_endtag(self, tag: str) -> None:
        """End a cell or a table."""
        self.silent = max(self.silent - (tag in _SILENT), 0)
        if self.open and tag in _ENDS_A_CELL:
            self.open[-1].end_cell()
            if tag == "table":
                self.open.pop()
        else:
            self._add(_AROUND.get(tag, ("", ""))[1])

    def handle_data(self, data: str) -> None:
        """Add text to the open cell."""
        if not self.silent:
            self._add(data)

    def _add(self, text: str) -> None:
        if self.open and self.open[-1].parts is not None:
            self.open[-1].parts.append(text)


def _number(text: str | None, default: int = 1) -> int:
    digits = (text or "").strip()
    return min(int(digits), _MOST_ROWS) if digits.isdecimal() and len(digits) < 9 else default
