"""Tables in HTML."""

from __future__ import annotations

from html.parser import HTMLParser

from permed_measures.papers.grids import Cell, Found, Grid, spread

_AROUND = {"sup": ("^{", "}"), "sub": ("_{", "}")}
_BREAKS = ("br", "p", "div", "li")
_SILENT = ("script", "style", "annotation", "annotation-xml")
"""Elements whose text is not shown."""
_ENDS = {"td": ("td", "th"), "th": ("td", "th"), "tr": ("td", "th", "tr")}
_MOST_ROWS = 10_000


def html_tables(text: str, first_line: int = 1) -> list[Found]:
    """Return the tables of an HTML page, those in a cell of another one too."""
    parser = _Tables(first_line)
    parser.feed(text)
    parser.close()
    return [each.found() for each in parser.tables]


class _Table:
    """A table while it is read."""

    def __init__(self) -> None:
        self.rows: Grid = []
        self.n_headings = 0
        self.in_head = False
        self.parts: list[str] | None = None
        self.start = (0, 1, 1, "td")

    def found(self) -> Found:
        """Return the table as read so far, with all its cells in place."""
        self.end_cell()
        return Found(spread(self.rows), self.n_headings)

    def end_cell(self) -> None:
        """Add the open cell to its row."""
        if self.parts is not None:
            line, columns, rows, tag = self.start
            if not self.rows:
                self.rows.append([])
            self.rows[-1].append(Cell(" ".join("".join(self.parts).split()), line, columns, rows))
            self.parts = None
            if self.in_head or (
                tag == "th" and len(self.rows[-1]) > 1 and self.n_headings >= len(self.rows) - 1
            ):
                self.n_headings = len(self.rows)


class _Tables(HTMLParser):
    def __init__(self, first_line: int) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[_Table] = []
        self.open: list[_Table] = []
        self.silent = 0
        self.first_line = first_line

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open a table, a row or a cell; each ends what is open without its end."""
        if tag in _SILENT:
            self.silent += 1
        if tag == "table":
            self.tables.append(_Table())
            self.open.append(self.tables[-1])
        if not self.open:
            return
        table = self.open[-1]
        if tag in _ENDS:
            table.end_cell()
        if tag == "thead":
            table.in_head = True
        elif tag == "tbody":
            table.end_cell()
            table.in_head = False
        elif tag == "tr":
            table.rows.append([])
        elif tag in ("td", "th"):
            given = dict(attrs)
            line = self.getpos()[0] + self.first_line - 1
            table.start = (line, _span(given.get("colspan")), _span(given.get("rowspan")), tag)
            table.parts = []
        elif table.parts is not None:
            table.parts.append(_AROUND.get(tag, (" " if tag in _BREAKS else "", ""))[0])

    def handle_endtag(self, tag: str) -> None:
        """End a cell, the head of a table, or a table."""
        if tag in _SILENT:
            self.silent = max(self.silent - 1, 0)
        if not self.open:
            return
        table = self.open[-1]
        if tag in (*_ENDS, "thead", "table"):
            table.end_cell()
        if tag == "thead":
            table.in_head = False
        elif tag == "table":
            self.open.pop()
        elif tag in _AROUND and table.parts is not None:
            table.parts.append(_AROUND[tag][1])

    def handle_data(self, data: str) -> None:
        """Add text to the open cell."""
        if self.open and self.open[-1].parts is not None and not self.silent:
            self.open[-1].parts.append(data)


def _span(text: str | None) -> int:
    digits = (text or "").strip()
    return min(int(digits), _MOST_ROWS) if digits.isdecimal() and len(digits) < 9 else 1
