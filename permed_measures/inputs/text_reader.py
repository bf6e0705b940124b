"""Read the entries of a text file of a known format; errors name the wrong line."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import islice
from typing import Any, NamedTuple

from permed_measures.errors import InputError, short_repr
from permed_measures.inputs.formats import (
    BLANKS,
    NO_RANK,
    PLAIN_FORMATS,
    Format,
    Header,
    InputRow,
    Kind,
    Layout,
    check_tag,
    second_line,
    split_columns,
)
from permed_measures.inputs.sources import Source

WRONG = (KeyError, TypeError, ValueError, OverflowError, RecursionError, csv.Error)
"""The exceptions for an invalid entry."""

Lines = Iterable[tuple[int, str]]
Entries = Iterator[tuple[int | None, Any]]
"""The number of a line (None in a JSON file), and the result of `Format.parse` for it."""


class TextFile(NamedTuple):
    """A text file of a known format.

    Attributes
    ----------
    kind : {'qrels', 'run'}
        The kind that the file is read as; labels in JSON lines may also be read as a run, by their order.
    kinds : frozenset
        All kinds that the file can be read as.
    first : sequence of str
        The columns of the first row, in a file without a header.
    content : list
        The queries of a JSON object, with their documents as pairs, or the objects of an array.
    """

    source: Source
    format: Format
    kind: Kind
    kinds: frozenset[Kind] = frozenset()
    first: Sequence[str] = ()
    content: Any = None

    @property
    def notes(self) -> list[str]:
        """Notes for the user on assumptions about the file."""
        return [f"{self.source.path}: {self.format.note}"] if self.format.note else []

    def head(self) -> tuple[list[str], str]:
        """Return the comment lines above the first row, and the tag of a TREC run, with _ between words."""
        comments: list[str] = []
        for _, line in self.source.lines():
            text = line.strip(BLANKS)
            if text and (text[0] != "#" or self._is_row(text)):
                break
            comments += [text] if text else []
        return comments, "_".join(self.first[5:]) if self.format.name == PLAIN_FORMATS[
            "TREC run"
        ].name else ""

    # --- entries, rows, and nested dicts -------------------------------------------------------------

    def entries(self, lines: Lines | None = None) -> Entries:
        """Yield the entries of the file, or only of these lines."""
        return _ENTRIES[self.format.layout](self, self.source.lines() if lines is None else lines)

    def rows(self, lines: Lines | None = None) -> Iterator[tuple[str, str | None, Any, int]]:
        """Yield a row for each document, ranked by its list; an empty list gives a row without a document."""
        seen = set()
        for _, entry in self.entries(lines):
            if not self.format.lists:
                yield entry
                continue
            query_id, ids, numbers = entry
            if query_id in seen:
                raise self.duplicate_error(query_id, None)
            seen.add(query_id)
            for rank, (doc_id, value) in enumerate(zip(ids or [None], numbers or [None], strict=True), 1):
                yield query_id, doc_id, value, rank if self.format.in_order else NO_RANK

    def table(self) -> tuple[dict[str, dict[str, Any]], dict[str, list[float]]]:
        """Read the file as ``{query_id: {doc_id: number or None}}`` in its order; return the ranks too."""
        with closing(self.source.lines()) as lines:  # an error would keep the file open as long as it lives
            return self._table(lines)

    def _table(self, lines: Lines) -> tuple[dict[str, dict[str, Any]], dict[str, list[float]]]:
        if not self.format.lists:
            return table_of(self.entries(lines), self.duplicate_error)
        table: dict[str, dict[str, Any]] = {}
        for _, (query_id, ids, numbers) in self.entries(lines):
            if query_id in table:
                raise self.duplicate_error(query_id, None)
            documents = table[query_id] = dict(zip(ids, numbers, strict=True))
            if len(documents) < len(ids):
                [(duplicate, _)] = Counter(ids).most_common(1)
                raise self.duplicate_error(query_id, duplicate)
        return table, {}

    def duplicate_error(self, query_id: str, doc_id: str | None) -> InputError:
        """Build the error for a document that is listed twice; without `doc_id`, for such a query.

        Line numbers are not kept, so the file is read again up to the second line.
        """
        is_trec_qrels = self.format.name == "TREC qrels" and doc_id is not None
        lines = (
            line
            for line, (query, documents, *_) in self.entries()
            if query == query_id
            for document in (documents if self.format.lists and doc_id is not None else [documents])
            if doc_id in (None, document)
        )
        first, second = next(lines), next(lines)
        where, is_choice = self.source.location(second), self.kind == "run" and doc_id is not None
        if is_trec_qrels and (error := self._subtopic_error(query_id, str(doc_id), first, second, where)):
            return error
        return twice_error(query_id, doc_id, "" if first is None else f"on line {first}", where, is_choice)

    def place_of_row(self, n: int) -> tuple[str, str]:
        """Return file and line of row `n` (from 0), and the text of the line, for an error message."""
        number, _ = next(islice(self.entries(), n, None))
        text = next((line for line_number, line in self.source.lines() if line_number == number), "")
        return self.source.location(number), f", in {short_repr(text.strip(BLANKS))}" if text else ""

    def _subtopic_error(
        self, query_id: str, doc_id: str, first: int | None, second: int | None, where: str
    ) -> InputError | None:
        """Build the error for a document that is judged twice, for two subtopics; None for one subtopic."""
        numbered = ((number, line) for number, line in self.source.lines() if number in (first, second))
        one, other = (self._columns_of(line.strip(BLANKS))[1] for _, line in numbered)
        if one == other:
            return None
        return InputError(
            f"document {short_repr(doc_id)} of query {short_repr(query_id)} is listed twice, with "
            f"{short_repr(one)} and "
            f"{short_repr(other)} in column 2: these are judgments of subtopics",
            where=where,
            hint=f"Keep the highest grade of each document, such as by {TAKE_HIGHEST}; or use pyndeval for "
            "measures of diversity",
        )

    # --- each layout ---------------------------------------------------------------------------------

    def _of_json_lines(self, lines: Lines) -> Entries:
        """Parse JSON objects, one in each line that is not empty."""
        is_complete = True  # no empty line so far
        for number, line in lines:
            text = line.strip(BLANKS)
            if not text:
                is_complete = False
                continue
            try:
                yield number, self.format.parse(json_object(text), number if is_complete else 0)
            except WRONG as error:
                raise self._error_for(error, number, text) from None

    def _of_columns(self, lines: Lines) -> Entries:
        """Parse columns, in each line that is neither empty nor a comment."""
        parse, n_first, tag = self.format.parse, len(self.first), self.first[5:]
        has_tag = self.format.name == PLAIN_FORMATS["TREC run"].name
        for number, line in lines:
            text = line.strip(BLANKS)
            if "\r" in text:
                raise return_error(self.source.location(number))
            if not text or (text[0] == "#" and not self._is_row(text)):
                continue
            try:
                columns = self._columns_of(text)
                # A line with the same sixth and later columns as the first line has the same tag: it is fine.
                is_suspicious = has_tag and (n_first > 6 or len(columns) != n_first) and columns[5:] != tag
                if is_suspicious and len(columns) > 6 and (index := second_line(columns, self.first[1])):
                    raise two_lines_error(columns, index, self.source.location(number))
                entry = parse(columns, number)
                if is_suspicious:
                    check_tag(columns, self.first)
                yield number, entry
            except WRONG as error:
                raise self._error_for(error, number, text) from None

    def _columns_of(self, text: str) -> list[str]:
        return cells_of(text, self.format.delimiter) if self.format.delimiter else split_columns(text)

    def _is_row(self, text: str) -> bool:
        """Check whether a line that begins with # is a row rather than a comment: it has a row's columns."""
        columns = self._columns_of(text)
        if text[1:2] in ("", " ", "\t") or len(columns) != len(self.first):
            return False
        return is_row(columns, self.first, self.format)

    def _of_table(self, lines: Lines) -> Entries:
        """Parse the rows of a table under its header; cells between commas may contain line ends."""
        lines = iter(lines)
        above, header = next(
            (n, header) for n, line in lines if not is_skipped(line) and (header := header_of(line))
        )
        has_quotes = header.delimiter in (",", ";")
        rows = _quoted_rows(lines, header, above) if has_quotes else _plain_rows(lines, header)
        while True:
            row: list[str] = []
            number: int | None = None
            try:
                number, row, wrong = next(rows, (None, [], None))
                if number is None:
                    return
                if wrong is not None:
                    raise wrong
                yield number, self.format.parse(row, number)
            except WRONG as error:
                names = [row[0].lstrip("\ufeff"), *row[1:]] if row else []
                if names and Header(names).formats():
                    raise header_again_error(names == header.names, self.source.location(number)) from None
                raise self._error_for(error, number, (header.delimiter or " ").join(row)) from None

    def _of_json(self, _: Lines) -> Entries:
        """Parse the queries of a JSON file; their documents are pairs, so that no repeated key is lost."""
        for query in self.content:
            try:
                yield None, self.format.parse(query, 0)
            except WRONG as error:
                raise self._error_for(error, None, str(query[0])) from None

    def _of_array(self, _: Lines) -> Entries:
        """Parse the objects of a JSON array; their numbers serve as line numbers."""
        for number, pairs in enumerate(self.content, start=1):
            try:
                content = as_object(pairs)
                if not isinstance(content, dict):
                    raise ValueError(f"item {number} is not an object")
                yield None, self.format.parse(content, number)
            except WRONG as error:
                raise self._error_for(error, None, short_repr(as_object(pairs, check=False))) from None

    def _error_for(self, error: Exception, number: int | None, text: str) -> InputError:
        """Build the error for an invalid entry; an InputError that names a place is returned unchanged."""
        if isinstance(error, InputError) and error.where:
            return error
        reason = error.problem if isinstance(error, InputError) else str(error)
        if isinstance(error, KeyError):
            reason = f"{error} is missing"
        elif isinstance(error, json.JSONDecodeError):
            reason = f"not valid JSON ({error})"
        line = "" if self.format.layout in (Layout.JSON, Layout.ARRAY) else "a line of "
        text = text.strip(BLANKS)
        advice = "correct this file" if number is None else "correct or remove this line"
        if isinstance(error, csv.Error) and "limit" in reason:
            advice = "leave out columns of long texts"
        return InputError(
            f"not {line}{self.format.with_article}: {reason}{f' in {short_repr(text)}' if text else ''}",
            where=self.source.location(number),
            hint=f"Expected {self.format.shape}; {advice}",
        )


_ENTRIES = {
    Layout.JSON_LINES: TextFile._of_json_lines,
    Layout.COLUMNS: TextFile._of_columns,
    Layout.TABLE: TextFile._of_table,
    Layout.JSON: TextFile._of_json,
    Layout.ARRAY: TextFile._of_array,
}

TAKE_HIGHEST = (
    """awk '{k=$1" 0 "$3; if (!(k in m) || $4>m[k]) m[k]=$4} END {for (k in m) print k, m[k]}' IN > OUT"""
)


def table_of(
    rows: Iterable[tuple[object, InputRow]], duplicate_error: Callable[[str, str], InputError]
) -> tuple[dict[str, dict[str, Any]], dict[str, list[float]]]:
    """Collect numbered rows in ``{query_id: {doc_id: number}}``, in their order; return the ranks too."""
    table: dict[str, dict[str, Any]] = {}
    ranks: dict[str, list[float]] = {}
    for _, (query_id, doc_id, value, rank) in rows:
        documents = table.get(query_id)
        if documents is None:
            documents = table[query_id] = {}
        elif doc_id in documents:
            raise duplicate_error(query_id, doc_id)
        documents[doc_id] = value
        if rank >= 0:
            ranks.setdefault(query_id, []).append(rank)
    return table, ranks


def twice_error(query_id: str, doc_id: str | None, first: str, second: str, is_run: bool) -> InputError:
    """Build the error for a document that is listed twice; without `doc_id`, for such a query."""
    document = "" if doc_id is None else f"document {short_repr(doc_id)} of "
    return InputError(
        f"{document}query {short_repr(query_id)} is listed twice{first and f', first {first}'}",
        where=second,
        hint="Remove one of the two" + (", or keep one: --duplicates first or best" if is_run else ""),
    )


# --- rows of columns and tables ----------------------------------------------------------------------


def is_skipped(line: str) -> bool:
    """Check whether a line is empty or a comment; a comment with a carriage return is neither."""
    text = line.strip(BLANKS)
    return not text or (text[0] == "#" and "\r" not in text)


def is_row(columns: Sequence[str], first: Sequence[str], form: Format) -> bool:
    """Check whether a line with as many columns as the first row is a row.

    In TREC files, column 2 must equal that of the first row.
    """
    if (
        form.name in (PLAIN_FORMATS["TREC qrels"].name, PLAIN_FORMATS["TREC run"].name)
        and columns[1] != first[1]
    ):
        return False
    try:
        form.parse(columns, 1)
    except WRONG:
        return False
    return True


DELIMITERS = "\t,;"


def header_of(line: str) -> Header | None:
    """Parse the header of a table of queries and documents; None if the line is not one."""
    for delimiter in (character for character in DELIMITERS if character in line):
        header = Header(cells_of(line.removesuffix("\r"), delimiter), delimiter)
        if header.formats():
            return header
    header = Header(split_columns(line.strip(BLANKS)))
    return header if header.formats() else None


def cells_of(line: str, delimiter: str) -> list[str]:
    """Split a line into cells; between tabs, remove the quotes around a whole cell."""
    if delimiter == "\t" and '"' not in line:
        return line.split("\t")
    if delimiter == "\t":
        return [
            cell[1:-1].replace('""', '"') if QUOTED.fullmatch(cell) else cell for cell in line.split("\t")
        ]
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return []


QUOTED = re.compile('"(?:[^"]|"")*"')

_TableRow = tuple[int | None, list[str], Exception | None]
"""The number of the line, the cells, and their error (None if they are valid)."""


def _plain_rows(lines: Iterator[tuple[int, str]], header: Header) -> Iterator[_TableRow]:
    """Split lines at tabs, where a quote within a cell is an ordinary character, or at white space."""
    for number, line in lines:
        text = line.removesuffix("\r")
        if not text:
            continue
        wrong = ValueError("a carriage return (\\r) within the line") if "\r" in text else None
        yield (
            number,
            cells_of(text, "\t") if header.delimiter or "\t" in text else split_columns(text.strip()),
            wrong,
        )


def _quoted_rows(lines: Iterator[tuple[int, str]], header: Header, above: int) -> Iterator[_TableRow]:
    """Parse rows between commas or semicolons; a quoted cell may contain line ends, but not whole rows."""
    rows = csv.reader((line + "\n" for _, line in lines), delimiter=header.delimiter, strict=True)
    while True:
        number = above + 1 + rows.line_num
        wrong: Exception | None = None
        row: list[str] | None = []
        try:
            row = next(rows, None)
        except csv.Error as error:
            wrong = error
        if row is None:
            return
        if above + rows.line_num > number and wrong is None and _has_rows(row, header):
            wrong = ValueError("a quote that ends in another line, with whole rows within it,")
        if row or wrong:
            yield number, row, wrong


def _has_rows(row: list[str], header: Header) -> bool:
    """Check whether a cell contains a line that would be a row itself."""
    formats = header.formats()
    for line in (line for cell in row for line in cell.split("\n")[1:-1]):
        cells = cells_of(line.removesuffix("\r"), header.delimiter)
        for form in formats:
            with suppress(ValueError):
                return bool(form.parse(cells, 1))
    return False


def two_lines_error(columns: Sequence[str], index: int, where: str) -> InputError:
    """Build the error for two lines of a TREC run without a line end between; `index` is the second Q0."""
    blank = "" if columns[1] == columns[index] or index > 4 else " (or a query id with a blank?)"
    return InputError(
        f"not a line of a TREC run: two lines in one, as a line end is missing{blank}, in "
        f"{short_repr(' '.join(columns))}",
        where=where,
        hint="Begin a new line at the query id before "
        f"{short_repr(' '.join(columns[index:]))}; "
        "complete or remove the line above it",
    )


def header_again_error(is_same: bool, where: str) -> InputError:
    """Build the error for a second header among the rows, as after two files were joined."""
    return InputError(
        "the header is repeated here" if is_same else "there is another header among the rows",
        where=where,
        hint="Remove this line"
        if is_same
        else "Write the columns of the rows below in the order of the first header, and remove this line",
    )


def return_error(where: str) -> InputError:
    """Build the error for a line with a carriage return in it."""
    return InputError(
        "a carriage return (\\r) within the line",
        where=where,
        hint="If \\r alone ends the lines, write them with \\n: tr '\\r' '\\n' < IN > OUT",
    )


# --- JSON without repeated keys ----------------------------------------------------------------------


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        [(repeated, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"{short_repr(repeated)} is listed twice")
    return content


_DECODE = json.JSONDecoder(object_pairs_hook=_object).decode


def json_object(text: str) -> dict[str, Any]:
    """Parse a JSON object; raise ValueError for anything else, and for a repeated key."""
    content = _DECODE(text)
    if type(content) is not dict:
        raise ValueError("not a JSON object")
    if "\\" in text:
        _check_characters(text, content)
    return content


def _check_characters(text: str, content: Any) -> None:
    if "\\ud" in text.lower():  # a surrogate, perhaps without the other one of its pair
        try:
            json.dumps(content, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("a string contains an unpaired surrogate") from None


def json_of(text: str) -> Any:
    """Parse JSON; objects become tuples of pairs (so that repeated keys are kept), arrays lists."""
    content = json.loads(text, object_pairs_hook=tuple)
    _check_characters(text, content)
    return content


def as_object(content: Any, check: bool = True) -> Any:
    """Convert the tuples in the result of `json_of` to dicts; with `check`, refuse repeated keys."""
    if isinstance(content, list):
        return [as_object(item, check) for item in content]
    if not isinstance(content, tuple):
        return content
    pairs = [(key, as_object(value, check)) for key, value in content]
    return _object(pairs) if check else dict(pairs)
