"""The tables of a file: Markdown, LaTeX, HTML, CSV, or text whose columns blanks separate."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from permed_measures.errors import InputError
from permed_measures.escaping import pluralize
from permed_measures.inputs.sources import Source
from permed_measures.published_tables.cells import (
    MOST_COLUMNS,
    Grid,
    PrintedTable,
    TableCell,
    count_in,
    expand_spans,
    tables_of,
)
from permed_measures.published_tables.latex import latex_tables, printed_text

# --- HTML ------------------------------------------------------------------------------------------

_AROUND = {"sup": ("^{", "}"), "sub": ("_{", "}"), **dict.fromkeys(("br", "p", "div", "li"), (" ", ""))}
_HIDDEN = ("script", "style", "template", "annotation", "annotation-xml", "table")
"""Elements in a cell whose text is not its own: what is not shown, and other tables."""
_LINE_ATTRIBUTE = "data-line-of-the-file"
"""The attribute that has the line of a cell: that of the parser ends at 65,535."""
_CELL = re.compile(rf"<t[dh](?=[\s>/]|$)(?! {_LINE_ATTRIBUTE})", re.IGNORECASE)
_BOGUS = re.compile(r"<!\[[^>]*>")
"""What browsers take for a comment, and parsers before libxml2 2.14 for text."""
_MATHS = re.compile(r"\$([^$]*)\$")


def html_tables(text: str, first_line: int = 1) -> list[Grid]:
    """Return the tables of an HTML page, those in a cell of another one too; maths as it prints."""
    from lxml import etree

    lines = _BOGUS.sub(lambda found: "\n" * found[0].count("\n"), text).split("\n")
    text = "\n".join(
        _CELL.sub(rf"\g<0> {_LINE_ATTRIBUTE}={n}", line) for n, line in enumerate(lines, first_line)
    )
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    page = etree.HTML(text.encode(), parser)
    if limit := next((each for each in parser.error_log if each.type_name == "ERR_RESOURCE_LIMIT"), None):
        raise InputError(f"the HTML cannot be read ({limit.message})", where=f"line {limit.line}")
    tables: dict[Any, Grid] = {}
    for element in page.iter("table", "tr", "td", "th") if page is not None else ():
        if element.tag == "table":
            tables[element] = []
        elif (table := next(element.iterancestors("table"), None)) is not None:
            _add_to(tables[table], element)
    return [expand_spans(rows) for rows in tables.values()]


def _add_to(rows: Grid, element: Any) -> None:
    """Add a row to a table, or a cell to its last row; the first one may lack its tag."""
    if element.tag == "tr" or not rows:
        rows.append([])
    if element.tag != "tr":
        columns, n_rows = count_in(element.get("colspan")), count_in(element.get("rowspan"))
        line = count_in(element.get(_LINE_ATTRIBUTE))
        rows[-1].append(TableCell(_html_text(element), line, min(columns, MOST_COLUMNS), n_rows))


def _html_text(cell: Any) -> str:
    """Return what a cell shows, raised and lowered text in braces."""
    from lxml import etree

    parts: list[str] = []
    walk = etree.iterwalk(cell, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        before, after = _AROUND.get(element.tag, ("", ""))
        if event == "start":
            if element is not cell and element.tag in _HIDDEN:
                walk.skip_subtree()
            else:
                parts += [before, element.text or ""]
        else:
            parts.append(after if event == "end" else "")
            parts.append(element.tail or "" if element is not cell else "")
    text = _MATHS.sub(lambda maths: printed_text(maths[1]), "".join(parts))
    return " ".join((printed_text(text) if "\\" in text else text).split())


# --- Markdown --------------------------------------------------------------------------------------


def markdown_tables(text: str) -> list[Grid]:
    """Return the tables of a Markdown document: they are read as the HTML that they stand for."""
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark").enable("table")
    found: list[Grid] = []
    tokens = markdown.parse(text)
    start = line = 0
    for number, token in enumerate(tokens):
        line = token.map[0] + 1 if token.map is not None else line
        if token.type == "table_open":
            start = number
        elif token.type in ("th_open", "td_open"):
            token.attrSet(_LINE_ATTRIBUTE, str(line))
        elif token.type == "table_close":
            found += html_tables(markdown.renderer.render(tokens[start : number + 1], markdown.options, {}))
        elif token.type == "html_block":
            found += html_tables(token.content, line)
    return found


# --- CSV -------------------------------------------------------------------------------------------

_DELIMITERS = ",;\t|:^~!#&"


def delimited_tables(text: str, where: str) -> list[Grid]:
    """Return the table of a CSV file; blank lines are left out.

    Raises
    ------
    InputError
        For a row with more or fewer cells than the first one, and a quotation without its end.
    """
    delimiter = _delimiter_of(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: Grid = []
    try:
        for row in reader:
            cells = [TableCell(cell.strip(), reader.line_num) for cell in row]
            if rows and cells and len(cells) != len(rows[0]):
                problem = f"the row has {pluralize(len(cells), 'cell')}, but the header has {len(rows[0])}"
                raise InputError(problem, where=f"{where}:{reader.line_num}")
            if cells:
                rows.append(cells)
    except csv.Error as error:
        raise InputError(f"cannot be read as CSV ({error})", where=where) from None
    return [rows]


def _delimiter_of(text: str) -> str:
    """Return the delimiter that makes the most cells of the first line, if one can be with as many in all."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    even = [each for each in _DELIMITERS if each in first and _is_even(text, each)]
    return max(even or _DELIMITERS, key=first.count)


def _is_even(text: str, delimiter: str) -> bool:
    """Return whether a delimiter makes as many cells of each row."""
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        return len({len(row) for row in rows if row}) == 1
    except csv.Error:
        return False


# --- columns that blanks separate ------------------------------------------------------------------

_RULE = re.compile(r"[-=_+ \u2500-\u257f]+")
"""A line between rows."""
_CAPTION = re.compile(r"(?:Table|Tab\.|Figure) *[0-9A-Z]+(?:\.[0-9]+)*[:.]", re.IGNORECASE)
_BLANK_GAP = re.compile(r" {2,}")
_NO_NUMBER = ("-", "\N{EN DASH}", "\N{EM DASH}")


def aligned_tables(text: str, where: str) -> list[Grid]:
    """Return the table of a text as it is pasted from a PDF: the first line has the headings.

    Columns are what at least two blanks separate in each line; else words, if each line has as many and
    numbers stand below numbers; else the words of the first line, and of each row the numbers at its end and
    the name before them.

    Raises
    ------
    InputError
        Where neither is so in each line; the message names the line.
    """
    lines = [(number, line.rstrip()) for number, line in enumerate(text.expandtabs().splitlines(), 1)]
    lines = [(n, line) for n, line in lines if not (_RULE.fullmatch(line) or _CAPTION.match(line.strip()))]
    lines = [(n, line) for n, line in lines if line]
    if len(lines) < 2:
        raise InputError("there is no table below a line of headings", where=where)
    first, heading = lines[0]
    if number := next(filter(_is_decimal, _words(heading)), None):
        problem = f"the first line has the headings of columns, which blanks separate (found {number!r})"
        hint = "Write them above, such as: run MAP@10 P@1"
        raise InputError(problem, where=f"{where}:{first}", hint=hint)
    found = _between_gaps([line for _, line in lines]) or _before_numbers(lines, where)
    return [[[TableCell(text, n) for text in row] for (n, _), row in zip(lines, found, strict=True)]]


def _between_gaps(lines: list[str]) -> list[list[str]] | None:
    """Return the cells between the gaps that all lines have; None if numbers do not stand alone in them."""
    width = max(map(len, lines))
    used = "".join("x" if any(line[at : at + 1].strip() for line in lines) else " " for at in range(width))
    ends = [0, *(gap.end() for gap in _BLANK_GAP.finditer(used.rstrip()) if gap.start()), width]
    rows = [[line[start:end].strip() for start, end in pairwise(ends)] for line in lines]
    cells = [_words(cell) for row in rows[1:] for cell in row[1:]]
    with_number = [words for words in cells if any(map(_is_printed, words))]
    return rows if with_number and all(len(words) == 1 for words in with_number) else None


def _before_numbers(lines: list[tuple[int, str]], where: str) -> list[list[str]]:
    """Return the words of the heading, and of each row its name and the numbers at its end.

    Whole numbers count only where rows are not clear without them: names may end in one.
    """
    (first, heading), *others = lines
    words, problems = heading.split(), []
    rows = [_words(line) for _, line in others]
    if {*map(len, rows)} == {len(words)} and all(map(_is_of_one_kind, zip(*rows, strict=True))):
        return [words, *rows]
    for may_be_whole in (False, True):
        rows = [["", *words]]
        for number, line in others:
            cells = _words(line)
            n = _n_at_end(line, may_be_whole)
            rows.append([" ".join(cells[: len(cells) - n]), *cells[len(cells) - n :]])
            if not n or len(words) not in (n, n + 1) or len(rows[-1]) != len(rows[1]):
                problems.append((number, n))
                break
        else:
            return [words if len(words) == len(rows[-1]) else rows[0], *rows[1:]]
    number, n = problems[0]
    problem = (
        f"the columns, which blanks separate, are not clear: the line has {pluralize(n, 'number')} at "
        f"its end, and the heading (line {first}) has {pluralize(len(words), 'word')}"
    )
    hint = "Put two blanks between columns in every line, or write the table in Markdown or CSV"
    raise InputError(problem, where=f"{where}:{number}", hint=hint)


def _is_of_one_kind(column: Sequence[str]) -> bool:
    """Return whether the words of a column are all numbers, or none is."""
    return len({_is_printed(word, may_be_whole=True) for word in column}) == 1


def _is_printed(text: str, may_be_whole: bool = False) -> bool:
    """Return whether a word is a number as papers print it, or stands for none."""
    return _is_decimal(text) or (may_be_whole and text.isdecimal()) or text in _NO_NUMBER


def _is_decimal(text: str) -> bool:
    return _PRINTED_NUMBER.fullmatch(text) is not None


def _words(line: str) -> list[str]:
    """Return the words of a line; a deviation stands in one word with its number.

    >>> _words("BM25 (2009) .453 ± .02 0.33 (0.01)")
    ['BM25', '(2009)', '.453 ± .02', '0.33 (0.01)']
    """
    found: list[str] = []
    for word in line.split():
        before = found[-1] if found else ""
        is_spread = (
            word[0] in "±(" and _is_decimal(before) and (word == "±" or _is_decimal(f"{before} {word}"))
        )
        if is_spread or before.endswith("±"):
            found[-1] += f" {word}"
        else:
            found.append(word)
    return found


def _has_blanks_only(text: str) -> bool:
    """Return whether blanks separate the columns of a text: lines end in numbers, without a comma or tab."""
    lines = [line for line in text.splitlines() if line.strip()]
    several = sum("\t" not in line and _n_at_end(line) > 1 for line in lines)
    plain = lines and "\t" not in text and not any(each in lines[0] for each in _DELIMITERS)
    return several > 1 or bool(
        plain and len(lines[0].split()) > 1 and any(_n_at_end(line, may_be_whole=True) for line in lines[1:])
    )


def _n_at_end(line: str, may_be_whole: bool = False) -> int:
    """Return how many numbers as papers print them stand at the end of a line, behind a name."""
    name, *others = _words(line) or [""]
    if name.isdecimal():
        return 0
    n_before = (n for n, each in enumerate(reversed(others)) if not _is_printed(each, may_be_whole))
    return next(n_before, len(others))


# --- files -----------------------------------------------------------------------------------------

_READERS: dict[str, Callable[[str], list[Grid]]] = {
    "Markdown": markdown_tables,
    "LaTeX": latex_tables,
    "HTML": html_tables,
}
_SUFFIXES = {
    **dict.fromkeys((".md", ".markdown", ".rmd", ".qmd"), "Markdown"),
    **dict.fromkeys((".tex", ".latex", ".ltx"), "LaTeX"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "HTML"),
    **dict.fromkeys((".csv", ".tsv", ".tab"), "CSV"),
}
_CONTENT = {
    "LaTeX": re.compile(r"\\begin *\{(?:tabular|longtable|array|NiceTabular|tblr)|&.*\\\\ *$", re.MULTILINE),
    "Markdown": re.compile(r"^[ >]*\|?[ ]*:?-+:?[ ]*(?:\|[ ]*:?-+:?[ ]*)+\|?[ ]*$", re.MULTILINE),
    "HTML": re.compile(r"<table", re.IGNORECASE),
}
_DECIMAL = r"(?:[0-9]{0,9}\.|[0-9]{1,9},)[0-9]{1,9}"
_PRINTED_NUMBER = re.compile(rf"{_DECIMAL}[*†‡%]?(?: ?(?:± ?{_DECIMAL}|\([±+-]?{_DECIMAL}%?\)))*%?")
_PACKED = (".gz", ".zst")


def read_tables(path: Path) -> list[PrintedTable]:
    """Read the tables of a file; its format is told by its name, else by its content.

    Raises
    ------
    InputError
        If the file is no text in UTF-8.
    """
    try:
        data = Source(path).read()
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"cannot be read as text in UTF-8 ({error})", where=str(path)) from None
    name = path.with_suffix("") if path.suffix in _PACKED else path
    form = _SUFFIXES.get(name.suffix.lower()) or _form_of(text)
    if form == "CSV":
        read = aligned_tables if _has_blanks_only(text) else delimited_tables
        return list(tables_of(read(text, str(path))))
    return list(tables_of(_READERS[form](text)))


def _form_of(text: str) -> str:
    return next((form for form, pattern in _CONTENT.items() if pattern.search(text)), "CSV")
