"""Text files: recognise the format, read the entries, name the line that is wrong."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from permed_measures.engine.inputs import STDIN
from permed_measures.errors import InputError, shown
from permed_measures.inputs.formats import (
    BLANKS,
    FORMATS,
    NO_RANK,
    VALUE_COLUMNS,
    Format,
    Header,
    Kind,
    Layout,
    Row,
    divided,
)
from permed_measures.inputs.sources import Source
from permed_measures.markup import counted

_WRONG = (KeyError, TypeError, ValueError, OverflowError, RecursionError, csv.Error)
"""What is raised for an entry that cannot be read."""

Lines = Iterable[tuple[int, str]]
Entries = Iterator[tuple[int | None, Any]]
"""The number of a line (None in a JSON file), and what `Format.parse` returns of it."""


class TextFile(NamedTuple):
    """A text file of a known format."""

    source: Source
    format: Format
    kind: Kind  # what it is read as; of labels in JSON lines the order is a run
    kinds: frozenset[Kind] = frozenset()  # what it could be read as

    @classmethod
    def recognised(cls, source: Source, kind: Kind | None = None, by_list: bool = False) -> TextFile:
        """Recognise the format by the first line; without `kind` the file is read as what it holds.

        With `by_list` the order of any qrels can be a run, without it that of labels in JSON lines.
        """
        number, line = next((each for each in source.lines() if not _is_skipped(each[1])), (1, ""))
        layout, first = _layout_of(line)
        fitting = [each for each in FORMATS if each.layout is layout and each.fits(first)]
        if not fitting or (layout is Layout.COLUMNS and _is_no_table(first, fitting[0])):
            raise _unknown_format(source, number, line.strip(BLANKS), layout, kind)
        found = next((each for each in fitting if each.kind == kind), fitting[0])
        is_ranked = kind == "run" and (by_list or layout is Layout.JSON_LINES) and layout is not Layout.JSON
        if kind not in (None, found.kind) and not is_ranked:
            raise InputError(
                f"expected {_WANTED[kind]}, but this file holds {found.with_article} ({found.shape})",
                where=str(source.path),
                hint=f"The qrels come first, then the runs{_BY_LIST if kind == 'run' else ''}",
            )
        kinds = frozenset(each.kind for each in fitting if not each.if_asked)
        return cls(source, found, kind or found.kind, kinds)

    def head(self) -> tuple[list[str], str]:
        """Return the comment lines above the first row, and its tag in a TREC run, with _ between words."""
        texts = (line.strip(BLANKS) for _, line in self.source.lines())
        comments: list[str] = []
        while (text := next(texts))[:1] in ("", "#"):
            comments += [text] if text else []
        return comments, "_".join(divided(text)[5:]) if self.format.columns else ""

    # --- entries, rows, and a table of them ----------------------------------------------------------

    def entries(self, lines: Lines | None = None) -> Entries:
        """Yield the entries of the file, or of a part that has these lines."""
        return _ENTRIES[self.format.layout](self, self.source.lines() if lines is None else lines)

    def rows(self, lines: Lines | None = None) -> Iterator[tuple[str, str | None, Any, int]]:
        """Yield a row for each document, with its place in a list as rank; for an empty list one without."""
        seen = set()
        for _, entry in self.entries(lines):
            if not self.format.lists:
                yield entry
                continue
            query_id, ids, numbers = entry
            if query_id in seen:
                raise self.duplicate_error(query_id, None)
            seen.add(query_id)
            first = NO_RANK if self.format.layout is Layout.JSON else 1  # an object has no order
            for place, (doc_id, value) in enumerate(zip(ids or [None], numbers or [None], strict=True)):
                yield query_id, doc_id, value, first * (place + 1)

    def table(self) -> tuple[dict[str, dict[str, Any]], dict[str, list[int]]]:
        """Return ``{query_id: {doc_id: number or None}}`` in the order of the file, and the ranks."""
        if not self.format.lists:
            return table_of(self.entries(), self.duplicate_error)
        table: dict[str, dict[str, Any]] = {}
        for _, (query_id, ids, numbers) in self.entries():
            if query_id in table:
                raise self.duplicate_error(query_id, None)
            documents = table[query_id] = dict(zip(ids, numbers, strict=True))
            if len(documents) < len(ids):
                [(again, _)] = Counter(ids).most_common(1)
                raise self.duplicate_error(query_id, again)
        return table, {}

    def duplicate_error(self, query_id: str, doc_id: str | None) -> InputError:
        """Return the error for a document, or without `doc_id` a query, that is in the file twice.

        The file is read again up to the second time, as line numbers are not kept.
        """
        places = (
            line
            for line, (query, documents, *_) in self.entries()
            if query == query_id
            for each in (documents if self.format.lists and doc_id is not None else [documents])
            if doc_id in (None, each)
        )
        first, second = next(places), next(places)
        where, is_choice = self.source.location(second), self.kind == "run" and doc_id is not None
        return twice_error(query_id, doc_id, "" if first is None else f"on line {first}", where, is_choice)

    # --- each layout ---------------------------------------------------------------------------------

    def _of_lines(self, lines: Lines) -> Entries:
        """Read JSON objects or columns, one in each line that is not empty."""
        is_json, parse = self.format.layout is Layout.JSON_LINES, self.format.parse
        decode: Callable[[str], Any] = _json_object if is_json else divided
        is_first = True  # no line above was left out
        for number, line in lines:
            text = line.strip(BLANKS)
            if "\r" in text and not is_json:
                raise _return_error(self.source.location(number))
            if not text or (text[0] == "#" and not is_json):
                is_first = False
                continue
            try:
                yield number, parse(decode(text), number if is_first else 0)
            except _WRONG as error:
                raise self._error_for(error, number, text) from None

    def _of_table(self, lines: Lines) -> Entries:
        """Read the rows of a table under the header, as dicts by our names; a cell may hold line ends."""
        lines = iter(lines)
        above, header = next(
            (n, header) for n, line in lines if not _is_skipped(line) and (header := _header_of(line))
        )
        places = header.columns(VALUE_COLUMNS[self.format.kind]).items()
        rows = csv.reader((line + "\n" for _, line in lines), delimiter=header.delimiter, strict=True)
        while True:
            number, row = above + 1 + rows.line_num, None
            try:
                row = next(rows, None)
                if row is None:
                    return
                if row and len(row) != len(header.names):
                    raise ValueError(f"{counted(len(row), 'column')} instead of {len(header.names)}")
                if row:
                    cells = {ours: row[place] for ours, place in places}
                    yield number, self.format.parse(cells, number)
            except _WRONG as error:
                raise self._error_for(error, number, header.delimiter.join(row or ())) from None

    def _of_json(self, lines: Lines) -> Entries:
        """Read the queries of a JSON file, with their documents as pairs, so that no repeated key is lost."""
        text = "\n".join(line for _, line in lines)
        line, wrong = None, text
        try:
            for query in _json_queries(text):
                line, wrong = None, str(query[0])
                yield None, self.format.parse(query, 0)
        except _WRONG as error:
            if isinstance(error, json.JSONDecodeError):
                line, wrong = error.lineno, text.split("\n")[error.lineno - 1]
            raise self._error_for(error, line, wrong) from None

    def _error_for(self, error: Exception, number: int | None, text: str) -> InputError:
        """Return the error for an entry that cannot be read; of the file itself it is known already."""
        if isinstance(error, InputError) and error.where:
            return error
        reason = error.problem if isinstance(error, InputError) else str(error)
        if isinstance(error, KeyError):
            reason = f"{error} is missing"
        elif isinstance(error, json.JSONDecodeError):
            reason = f"not valid JSON ({error})"
        line = "" if self.format.layout is Layout.JSON else "a line of "
        text = text.strip(BLANKS)
        advice = "correct this file" if number is None else "correct or remove this line"
        if isinstance(error, csv.Error) and "limit" in reason:
            advice = "leave out columns of long texts"
        return InputError(
            f"not {line}{self.format.with_article}: {reason}{f' in {shown(text)}' if text else ''}",
            where=self.source.location(number),
            hint=f"Expected {self.format.shape}; {advice}",
        )


_ENTRIES = {
    Layout.JSON_LINES: TextFile._of_lines,
    Layout.COLUMNS: TextFile._of_lines,
    Layout.TABLE: TextFile._of_table,
    Layout.JSON: TextFile._of_json,
}


def table_of(
    rows: Iterable[tuple[object, Row]], duplicate_error: Callable[[str, str], InputError]
) -> tuple[dict[str, dict[str, Any]], dict[str, list[int]]]:
    """Return numbered rows as ``{query_id: {doc_id: number}}`` in their order, and the ranks."""
    table: dict[str, dict[str, Any]] = {}
    ranks: dict[str, list[int]] = {}
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
    """Return the error for a document, or without `doc_id` a query, that is listed twice."""
    document = "" if doc_id is None else f"document {shown(doc_id)} of "
    return InputError(
        f"{document}query {shown(query_id)} is listed twice{first and f', first {first}'}",
        where=second,
        hint="Remove one of the two" + (", or keep one: --duplicates first or best" if is_run else ""),
    )


# --- what the first line says ------------------------------------------------------------------------


def _is_skipped(line: str) -> bool:
    """Return whether a line is empty or a comment; not whether rows follow in it."""
    text = line.strip(BLANKS)
    return not text or (text[0] == "#" and "\r" not in text)


def _layout_of(line: str) -> tuple[Layout, Any]:
    """Return the layout that the first line shows, and what the line holds: keys, a header or columns."""
    text = line.strip(BLANKS)
    if not text.startswith("{"):
        header = _header_of(line)
        return (Layout.TABLE, header) if header else (Layout.COLUMNS, text)
    try:
        content, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        # The first value of a file that is one object is an object; of a line that was cut, hardly.
        is_cut = re.match(r'\{\s*"[^"]*"\s*:\s*[^\s{]', text)
        return (Layout.JSON_LINES, dict.fromkeys(_KEY.findall(text))) if is_cut else (Layout.JSON, None)
    is_nested = all(isinstance(value, dict) for value in content.values())
    return (Layout.JSON if is_nested else Layout.JSON_LINES), content


_KEY = re.compile(r'"([^"\\]*)"\s*:')


def _is_no_table(text: str, form: Format) -> bool:
    """Return whether a first line is no TREC file's, though it has as many columns: of HTML, or an array."""
    if text[0] not in "<[":
        return "\r" in text
    try:
        form.parse(divided(text), 1)
    except ValueError:
        return True
    return False


_DELIMITERS = "\t,;"


def _header_of(line: str) -> Header | None:
    """Return the header if the line names the columns of a table of queries and documents."""
    for delimiter in (each for each in _DELIMITERS if each in line):
        with suppress(csv.Error):
            header = Header(next(csv.reader([line], delimiter=delimiter, strict=True), []), delimiter)
            if header.columns("relevance") or header.columns("score"):
                return header
    return None


_BY_LIST = (
    "; if its rows are ranked, --order list takes their order as the run on the command line, "
    "permed_measures.read_run(path, order='list') in Python"
)
_WANTED: dict[Kind | None, str] = {"qrels": "qrels", "run": "a run", None: "qrels or a run"}


def _unknown_format(source: Source, number: int, text: str, layout: Layout, kind: Kind | None) -> InputError:
    """Return the error for a file whose first line fits no format, with those of the same layout."""
    if not text:
        what, hint = "the file", ""
        if source.path == STDIN:
            what, hint = "standard input", "Only one of qrels and runs can come from it"
        lacks = "is empty" if not source.size else "has no rows"
        return InputError(f"{what} {lacks}", where=str(source.path), hint=hint)
    where = source.location(number)
    if "\r" in text:
        return _return_error(where)
    for beginning, (problem, advice) in _OTHERS.items():
        if re.match(beginning, text, re.IGNORECASE):
            problem = f"expected {_WANTED[kind]}, but this is {problem} ({shown(text)})"
            return InputError(problem, where=where, hint=advice)
    header = ""
    if layout is Layout.COLUMNS and (delimiter := next((each for each in _DELIMITERS if each in text), "")):
        layout, header = Layout.TABLE, _missing_header(text.split(delimiter), delimiter, kind or "run")
    elif layout is Layout.JSON_LINES and (reason := _not_json(text)):
        header = f"The line is not valid JSON ({reason}). "
    near = [each for each in FORMATS if each.layout is layout and each.kind == (kind or each.kind)]
    shapes = " or ".join(f"{each.with_article} ({each.shape})" for each in near)
    return InputError(
        f"unknown format: expected {_WANTED[kind]} (found {shown(text)})",
        where=where,
        hint=f"{header}Known with {layout.value}: {shapes}",
    )


def _missing_header(cells: list[str], delimiter: str, kind: Kind) -> str:
    """Return what to do where a table begins with a row, which has a number, in place of a header.

    Or with a header whose names are written in another way.
    """
    plain = Header([cell.strip().lower() for cell in cells])
    if plain.columns(VALUE_COLUMNS[kind]):
        names = delimiter.join(plain.names)
        return (
            f"Write no blanks beside {delimiter!r}, and the names of its columns in small letters: {names}. "
        )
    if not any(re.fullmatch(r"\s*[-+]?[0-9.]+(e[-+]?[0-9]+)?\s*", cell) for cell in cells[1:]):
        return ""
    names = delimiter.join(("query_id", "doc_id", VALUE_COLUMNS[kind]))
    if len(cells) == 3:
        return f"The names of its columns are missing: add the line {names} at the top. "
    return f"The names of its columns are missing: add a line with them at the top, such as {names}. "


def _not_json(text: str) -> str:
    """Return why a line is not valid JSON; empty if it is."""
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        return str(error)
    return ""


_OTHERS = {
    r"<(!doctype|html|head|body|\?xml)": (
        "an HTML or XML page",
        "It may be an error page in place of a file: look at it, and download the file again",
    ),
    r"\[\s*([{\[\"]|$)": (
        "a JSON array",
        "Write one JSON object per line, such as by jq -c '.[]' IN > OUT",
    ),
}
"""What is met in place of qrels and runs, by how it begins; and what to do."""


def _return_error(where: str) -> InputError:
    return InputError(
        "a carriage return (\\r) within the line",
        where=where,
        hint="Where \\r alone ends the lines, write them with \\n: tr '\\r' '\\n' < IN > OUT",
    )


# --- JSON in which no key may stand twice ------------------------------------------------------------


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        [(again, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"{shown(again)} is listed twice")
    return content


_DECODE = json.JSONDecoder(object_pairs_hook=_object).decode


def _json_object(text: str) -> dict[str, Any]:
    """Return the JSON object that a text is, or raise ValueError."""
    content = _DECODE(text)
    if type(content) is not dict:
        raise ValueError("no JSON object")
    if "\\" in text:
        _check_characters(text, content)
    return content


def _check_characters(text: str, content: Any) -> None:
    if "\\ud" in text.lower():  # half of a character, perhaps without the other
        try:
            json.dumps(content, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("half of a Unicode character") from None


def _json_queries(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the queries; MTEB has them under subset and split, beside a description of the model."""
    content = json.loads(text, object_pairs_hook=tuple)  # arrays are lists, so tuples are objects
    _check_characters(text, content)
    if not isinstance(content, tuple):
        raise ValueError("no JSON object")
    if all(key != "mteb_model_meta" for key, _ in content):
        return iter(content)
    subsets = [value for key, value in content if key != "mteb_model_meta"]
    splits = [split for subset in subsets if isinstance(subset, tuple) for _, split in subset]
    if len(splits) != 1 or not isinstance(splits[0], tuple):
        raise ValueError(f"{len(splits)} subsets and splits of MTEB, of which one can be read")
    return iter(splits[0])
