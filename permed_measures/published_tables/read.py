"""Read the tables of a file: Markdown, LaTeX, HTML, CSV, or text with columns separated by blanks."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from permed_measures.errors import InputError
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
from permed_measures.wording import pluralize

# --- HTML ------------------------------------------------------------------------------------------

_AROUND = {"sup": ("^{", "}"), "sub": ("_{", "}"), **dict.fromkeys(("br", "p", "div", "li"), (" ", ""))}
_HIDDEN = ("script", "style", "template", "annotation", "annotation-xml", "table")
"""Elements whose text does not belong to the cell around them: invisible text, and nested tables."""
_LINE_ATTRIBUTE = "data-line-of-the-file"
"""The attribute for the line of a cell: the parser's own line numbers end at 65,535."""
_CELL = re.compile(rf"<t[dh](?=[\s>/]|$)(?! {_LINE_ATTRIBUTE})", re.IGNORECASE)
_BOGUS = re.compile(r"<!\[[^>]*>")
"""Text that browsers read as a comment, but parsers before libxml2 2.14 as text."""
_MATHS = re.compile(r"\$([^$]*)\$")


def html_tables(text: str, first_line: int = 1) -> list[Grid]:
    """Read the tables of an HTML page, also nested ones; mathematics becomes the text that it prints."""
    from lxml import etree

    lines = _BOGUS.sub(lambda match: "\n" * match[0].count("\n"), text).split("\n")
    text = "\n".join(
        _CELL.sub(rf"\g<0> {_LINE_ATTRIBUTE}={n}", line) for n, line in enumerate(lines, first_line)
    )
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    page = etree.HTML(text.encode(), parser)
    limits = (error for error in parser.error_log if error.type_name == "ERR_RESOURCE_LIMIT")
    if limit := next(limits, None):
        raise InputError(f"the HTML cannot be read ({limit.message})", where=f"line {limit.line}")
    tables: dict[Any, Grid] = {}
    for element in page.iter("table", "tr", "td", "th") if page is not None else ():
        if element.tag == "table":
            tables[element] = []
        elif (table := next(element.iterancestors("table"), None)) is not None:
            _add_to(tables[table], element)
    return [expand_spans(rows) for rows in tables.values()]


def _add_to(rows: Grid, element: Any) -> None:
    """Add a row to a table, or a cell to its last row; the tag of the first row may be missing."""
    if element.tag == "tr" or not rows:
        rows.append([])
    if element.tag != "tr":
        columns, n_rows = count_in(element.get("colspan")), count_in(element.get("rowspan"))
        line = count_in(element.get(_LINE_ATTRIBUTE))
        rows[-1].append(TableCell(_html_text(element), line, min(columns, MOST_COLUMNS), n_rows))


def _html_text(cell: Any) -> str:
    """Extract the visible text of a cell, with superscripts and subscripts in braces."""
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
    """Read the tables of a Markdown document, by rendering them as HTML."""
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark").enable("table")
    tables: list[Grid] = []
    tokens = markdown.parse(text)
    start = line = 0
    for number, token in enumerate(tokens):
        line = token.map[0] + 1 if token.map is not None else line
        if token.type == "table_open":
            start = number
        elif token.type in ("th_open", "td_open"):
            token.attrSet(_LINE_ATTRIBUTE, str(line))
        elif token.type == "table_close":
            tables += html_tables(markdown.renderer.render(tokens[start : number + 1], markdown.options, {}))
        elif token.type == "html_block":
            tables += html_tables(token.content, line)
    return tables


# --- CSV -------------------------------------------------------------------------------------------

_DELIMITERS = ",;\t|:^~!#&"


def delimited_tables(text: str, where: str) -> list[Grid]:
    """Read the table of a CSV file; blank lines are skipped.

    Raises
    ------
    InputError
        If a row has more or fewer cells than the first one, or a quotation does not end.
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
    """Find the delimiter that is most frequent in the first line.

    Delimiters that split all rows into the same number of cells are preferred.
    """
    first = next((line for line in text.splitlines() if line.strip()), "")
    even = [delimiter for delimiter in _DELIMITERS if delimiter in first and _is_even(text, delimiter)]
    return max(even or _DELIMITERS, key=first.count)


def _is_even(text: str, delimiter: str) -> bool:
    """Check whether a delimiter splits all rows into the same number of cells."""
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        return len({len(row) for row in rows if row}) == 1
    except csv.Error:
        return False


# --- columns separated by blanks -------------------------------------------------------------------

_RULE = re.compile(r"[-=_+ \u2500-\u257f]+")
"""A line between rows."""
_CAPTION = re.compile(r"(?:Table|Tab\.|Figure) *[0-9A-Z]+(?:\.[0-9]+)*[:.]", re.IGNORECASE)
_BLANK_GAP = re.compile(r" {2,}")
_NO_NUMBER = ("-", "\N{EN DASH}", "\N{EM DASH}")


def aligned_tables(text: str, where: str) -> list[Grid]:
    """Read the table of a text that was pasted from a PDF; the first line has the headings.

    Three layouts are tried. Columns may be separated by at least two blanks in each line. Each word may be a
    cell, if all lines have the same number of words and numbers are below numbers. Or the words of the first
    line are headings, and each row is a name with numbers at its end.

    Raises
    ------
    InputError
        If no layout fits all lines; the message names the line.
    """
    lines = [(number, line.rstrip()) for number, line in enumerate(text.expandtabs().splitlines(), 1)]
    lines = [(n, line) for n, line in lines if not (_RULE.fullmatch(line) or _CAPTION.match(line.strip()))]
    lines = [(n, line) for n, line in lines if line]
    if len(lines) < 2:
        raise InputError("there is no table below a line of headings", where=where)
    first, heading = lines[0]
    if number := next(filter(_is_decimal, _words(heading)), None):
        problem = f"the first line must have headings, separated by blanks (found {number!r})"
        hint = "Write a line of headings above, such as: run MAP@10 P@1"
        raise InputError(problem, where=f"{where}:{first}", hint=hint)
    rows = _between_gaps([line for _, line in lines]) or _before_numbers(lines, where)
    return [[[TableCell(text, n) for text in row] for (n, _), row in zip(lines, rows, strict=True)]]


def _between_gaps(lines: list[str]) -> list[list[str]] | None:
    """Split lines at the gaps that they have in common; None if numbers do not have cells of their own."""
    width = max(map(len, lines))
    used = "".join("x" if any(line[i : i + 1].strip() for line in lines) else " " for i in range(width))
    ends = [0, *(gap.end() for gap in _BLANK_GAP.finditer(used.rstrip()) if gap.start()), width]
    rows = [[line[start:end].strip() for start, end in pairwise(ends)] for line in lines]
    cells = [_words(cell) for row in rows[1:] for cell in row[1:]]
    with_number = [words for words in cells if any(map(_is_printed, words))]
    return rows if with_number and all(len(words) == 1 for words in with_number) else None


def _before_numbers(lines: list[tuple[int, str]], where: str) -> list[list[str]]:
    """Split the heading into words, and each row into its name and the numbers at its end.

    Whole numbers count only if the rows are not clear without them, because names may end in a number.
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
        f"the columns separated by blanks are not clear: the line has {pluralize(n, 'number')} at "
        f"its end, and the heading (line {first}) has {pluralize(len(words), 'word')}"
    )
    hint = "Put two blanks between columns in every line, or write the table in Markdown or CSV"
    raise InputError(problem, where=f"{where}:{number}", hint=hint)


def _is_of_one_kind(column: Sequence[str]) -> bool:
    """Check whether the words of a column are all numbers, or none is."""
    return len({_is_printed(word, may_be_whole=True) for word in column}) == 1


def _is_printed(text: str, may_be_whole: bool = False) -> bool:
    """Check whether a word is a number as papers print it, or a dash for a missing one."""
    return _is_decimal(text) or (may_be_whole and text.isdecimal()) or text in _NO_NUMBER


def _is_decimal(text: str) -> bool:
    return _PRINTED_NUMBER.fullmatch(text) is not None


def _words(line: str) -> list[str]:
    """Split a line into words; a deviation and its number are one word.

    >>> _words("BM25 (2009) .453 ± .02 0.33 (0.01)")
    ['BM25', '(2009)', '.453 ± .02', '0.33 (0.01)']
    """
    words: list[str] = []
    for word in line.split():
        before = words[-1] if words else ""
        is_spread = (
            word[0] in "±(" and _is_decimal(before) and (word == "±" or _is_decimal(f"{before} {word}"))
        )
        if is_spread or before.endswith("±"):
            words[-1] += f" {word}"
        else:
            words.append(word)
    return words


def _has_blanks_only(text: str) -> bool:
    """Check whether blanks separate the columns of a text: lines end in numbers, without a comma or tab."""
    lines = [line for line in text.splitlines() if line.strip()]
    several = sum("\t" not in line and _n_at_end(line) > 1 for line in lines)
    plain = lines and "\t" not in text and not any(delimiter in lines[0] for delimiter in _DELIMITERS)
    return several > 1 or bool(
        plain and len(lines[0].split()) > 1 and any(_n_at_end(line, may_be_whole=True) for line in lines[1:])
    )


def _n_at_end(line: str, may_be_whole: bool = False) -> int:
    """Count the numbers at the end of a line, after its name."""
    name, *others = _words(line) or [""]
    if name.isdecimal():
        return 0
    n_after = (n for n, word in enumerate(reversed(others)) if not _is_printed(word, may_be_whole))
    return next(n_after, len(others))


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
    """Read the tables of a file; its format follows from its name, else from its content.

    Raises
    ------
    InputError
        If the file is not text in UTF-8.
    """
    try:
        data = Source(path).read()
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"cannot be read as text in UTF-8 ({error})", where=str(path)) from None
    name = path.with_suffix("") if path.suffix in _PACKED else path
    table_format = _SUFFIXES.get(name.suffix.lower()) or _guess_format(text)
    if table_format == "CSV":
        read = aligned_tables if _has_blanks_only(text) else delimited_tables
        return list(tables_of(read(text, str(path))))
    return list(tables_of(_READERS[table_format](text)))


def _guess_format(text: str) -> str:
    return next((name for name, pattern in _CONTENT.items() if pattern.search(text)), "CSV")
