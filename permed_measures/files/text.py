"""Text files: recognise the format, read the entries, name the line that is wrong."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from permed_measures.engine.inputs import STDIN
from permed_measures.errors import InputError, RepeatedDocumentError, shown
from permed_measures.files.entries import BLANKS, NO_RANK, Parse, Row, columns_of
from permed_measures.files.formats import FORMATS, Format, Header, Kind, Layout
from permed_measures.files.json_text import json_object, json_queries, usual_objects
from permed_measures.files.sources import Source

_WRONG = (KeyError, TypeError, ValueError, OverflowError, RecursionError, csv.Error)
"""What is raised for an entry that cannot be read."""

_TOGETHER = 1 << 13
"""Characters of JSON lines that are decoded together, which is faster; about, by the first line."""

Lines = Iterable[tuple[int, str]]
Entries = Iterator[tuple[int | None, Any]]
"""The number of a line (None in a JSON file), and what `Format.parse` returns of it."""


@dataclass(frozen=True)
class TextFile:
    """A text file of a known format."""

    source: Source
    format: Format
    kind: Kind  # what it is read as
    parse: Parse  # reads an entry
    first_line: str  # the first that is neither empty nor a comment
    is_certain: bool  # it can be read as this kind only

    @classmethod
    def recognised(cls, source: Source, kind: Kind | None = None) -> TextFile:
        """Recognise the format by the first line; without `kind` the file is read as what it holds."""
        number, line = next((each for each in source.head() if not _is_skipped(each[1])), (1, ""))
        layout, content = _layout_of(line)
        fitting = [each for each in FORMATS if each.layout is layout and each.fits(content)]
        fitting.sort(key=lambda each: each.kind != (kind or each.kind))  # stable
        for each in fitting:
            if parse := each.parse_as(kind or each.kind, content):
                is_certain = len({each.kind for each in fitting}) == 1
                return cls(source, each, kind or each.kind, parse, line, is_certain)
        if not fitting:
            raise _unknown_format(source, number, line.strip(BLANKS), kind)
        holds = f"{fitting[0].with_article} ({fitting[0].shape})"
        raise InputError(
            f"expected {_WANTED[kind]}, but this file holds {holds}",
            where=str(source.path),
            hint="The qrels come first, then the runs",
        )

    @property
    def is_scannable(self) -> bool:
        """Whether this is a run with a row for each document, which can be read in parts."""
        return not self.format.is_whole and self.format.kind == "run"

    @property
    def is_labels(self) -> bool:
        """Whether these are qrels whose order is read as a run."""
        return self.kind == "run" and self.format.kind == "qrels"

    # --- entries, rows, and a table of them ----------------------------------------------------------

    def entries(self, lines: Lines | None = None) -> Entries:
        """Yield the entries of the file, or of a part that has these lines."""
        lines = self.source.lines() if lines is None else lines
        found = _ENTRIES[self.format.layout](self, lines)
        return self._of_different_queries(found) if self.format.is_whole else found

    def rows(self, lines: Lines | None = None) -> Iterator[Row]:
        """Yield a row for each document."""
        if not self.format.is_whole:
            return (row for _, row in self.entries(lines))
        lists = (each for _, each in self.entries(lines))
        return (
            (query_id, *pair, NO_RANK)
            for query_id, ids, numbers in lists
            for pair in zip(ids, numbers, strict=True)
        )

    def table(self) -> tuple[dict[str, dict[str, Any]], dict[str, list[int]]]:
        """Return ``{query_id: {doc_id: number or None}}`` in the order of the file, and the ranks."""
        if not self.format.is_whole:
            return table_of(self.entries(), self.duplicate_error)
        table = {}
        for _, (query_id, ids, numbers) in self.entries():
            table[query_id] = dict(zip(ids, numbers, strict=True))
            if len(table[query_id]) < len(ids):
                again = next(doc_id for place, doc_id in enumerate(ids) if doc_id in ids[:place])
                raise self.duplicate_error(query_id, again)
        return table, {}

    def duplicate_error(self, query_id: str, doc_id: str) -> InputError:
        """Return the error for a document that is in the file twice.

        The file is read again up to the second time, as line numbers are not kept.
        """
        lines = (
            line for line, entry in self.entries() for each in self._ids(entry) if each == (query_id, doc_id)
        )
        first, second = next(lines), next(lines)
        return twice_error(
            query_id, doc_id, "" if first is None else f"on line {first}", self.source.location(second)
        )

    def _ids(self, entry: Any) -> list[tuple[str, str]]:
        """Return query and document of each row of an entry."""
        return [(entry[0], doc_id) for doc_id in entry[1]] if self.format.is_whole else [entry[:2]]

    def _of_different_queries(self, entries: Entries) -> Entries:
        """Yield the lists of the queries, each of which may have one."""
        seen: dict[str, int | None] = {}
        for line, entry in entries:
            if entry[0] in seen:
                first = "" if line is None else f"on line {seen[entry[0]]}"
                raise twice_error(entry[0], None, first, self.source.location(line))
            seen[entry[0]] = line
            yield line, entry

    # --- each layout ---------------------------------------------------------------------------------

    def _of_lines(self, lines: Lines) -> Entries:
        """Read JSON objects or columns, one in each line that is not empty."""
        is_json, lines = self.format.layout is Layout.JSON_LINES, iter(lines)
        is_first = True  # no line above was left out
        n_lines = 1 + _TOGETHER // max(len(self.first_line), 80)
        while some := list(islice(lines, n_lines)):
            texts = [line.strip(BLANKS) for _, line in some]
            contents = usual_objects(texts) if is_json else map(columns_of, texts)
            for (number, _), text, content in zip(some, texts, contents, strict=True):
                if not text or (text[0] == "#" and not is_json):
                    is_first = False
                    continue
                try:
                    yield number, self.parse(content or json_object(text), number if is_first else 0)
                except _WRONG as error:
                    raise self._error_for(error, number, text) from None

    def _of_table(self, lines: Lines) -> Entries:
        """Read the rows of a table under the header, as dicts by our names; a cell may hold line ends."""
        consumed: list[tuple[int, str]] = []  # the lines that the CSV reader read for the current row

        def recorded() -> Iterator[str]:
            for line in lines:
                consumed.append(line)
                yield line[1] + "\n"

        text = recorded()
        header = cast(Header, next(_header_of(line) for line in text if not _is_skipped(line[:-1])))
        rows = csv.reader(text, delimiter=header.delimiter, strict=True)
        indices = list(header.columns.items())
        while True:
            consumed.clear()
            try:
                row = next(rows, None)
                if row and len(row) != len(header.names):
                    raise ValueError(f"{len(row)} columns instead of {len(header.names)}")
                entry = self.parse({ours: row[index] for ours, index in indices}, 0) if row else None
            except _WRONG as error:
                wrong = "\n".join(text for _, text in consumed)
                raise self._error_for(error, consumed[0][0], wrong) from None
            if row is None:
                return
            if row:
                yield consumed[0][0], entry

    def _of_json(self, lines: Lines) -> Entries:
        """Read the queries of a JSON file, with their documents as pairs, so that no repeated key is lost."""
        text = "\n".join(line for _, line in lines)
        line, wrong = None, text[:100]
        try:
            for query in json_queries(text):
                line, wrong = None, str(query[0])
                yield None, self.parse(query, 0)
        except _WRONG as error:
            if isinstance(error, json.JSONDecodeError):
                line, wrong = error.lineno, text.split("\n")[error.lineno - 1]
            raise self._error_for(error, line, wrong) from None

    def _error_for(self, error: Exception, number: int | None, text: str) -> InputError:
        """Return the error for an entry that cannot be read."""
        reason = error.problem if isinstance(error, InputError) else str(error)
        if isinstance(error, KeyError):
            reason = f"{error} is missing"
        elif isinstance(error, json.JSONDecodeError):
            reason = f"not valid JSON ({error})"
        line = "" if self.format.layout is Layout.JSON else "a line of "
        text = text.strip(BLANKS)
        advice = "correct this file" if number is None else "correct or remove this line"
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
    """Return numbered rows as ``{query_id: {doc_id: number or None}}`` in their order, and the ranks."""
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


def twice_error(query_id: str, doc_id: str | None, first: str, second: str) -> InputError:
    """Return the error for a document, or without `doc_id` a query, that is listed twice."""
    document = "" if doc_id is None else f"document {shown(doc_id)} of "
    kind = InputError if doc_id is None else RepeatedDocumentError
    return kind(
        f"{document}query {shown(query_id)} is listed twice{first and f', first {first}'}",
        where=second,
        hint="Remove one of the two",
    )


# --- what the first line says ------------------------------------------------------------------------


def _is_skipped(line: str) -> bool:
    """Return whether a line is empty or a comment."""
    text = line.strip(BLANKS)
    return not text or text[0] == "#"


def _layout_of(line: str) -> tuple[Layout | None, Any]:
    """Return the layout that the first line shows, and what the line holds: keys, a header or columns."""
    text = line.strip(BLANKS)
    if text.startswith("{"):
        return _json_layout(text)
    header = _header_of(line)
    return (Layout.TABLE, header) if header else (Layout.COLUMNS, text)


def _json_layout(text: str) -> tuple[Layout | None, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        fields = ("query_id", "conversation_id", "retrieved", "corpusids")
        is_cut = any(f'"{key}"' in text[:200] for key in fields)  # of JSON lines, not a longer JSON text
        return (None if is_cut else Layout.JSON), None
    is_nested = all(isinstance(value, dict) for value in content.values())
    return Layout.JSON if is_nested else Layout.JSON_LINES, content


_DELIMITERS = "\t,;"
_VALUES = ("score", "relevance", "rank")
"""The columns of which a table needs one, beside those of ids."""


def _header_of(line: str) -> Header | None:
    """Return the header if the line names the columns of a table of queries and documents."""
    for delimiter in (each for each in _DELIMITERS if each in line):
        with suppress(csv.Error):
            header = Header(next(csv.reader([line], delimiter=delimiter, strict=True), []), delimiter)
            if header.has("query_id", "doc_id") and not header.columns.keys().isdisjoint(_VALUES):
                return header
    return None


_WANTED: dict[Kind | None, str] = {"qrels": "qrels", "run": "a run", None: "qrels or a run"}
_WORDS = re.compile(r"\w[\w-]*")


def _unknown_format(source: Source, number: int, text: str, kind: Kind | None) -> InputError:
    """Return the error for a file whose first line fits no format, with those that are nearest."""
    if not text and source.path == STDIN:
        hint = "Only one of qrels and runs can come from it"
        return InputError("standard input is empty", where=str(STDIN), hint=hint)
    if not text:
        return InputError("the file is empty", where=str(source.path))
    layouts = {Layout.TABLE} if any(delimiter in text for delimiter in _DELIMITERS) else {Layout.COLUMNS}
    layouts = {Layout.JSON_LINES, Layout.JSON} if text[0] in "{[" else layouts
    near = [each for each in FORMATS if each.layout in layouts and each.kind == (kind or each.kind)]
    words = set(_WORDS.findall(text[:1000]))
    near.sort(key=lambda each: len(words & set(_WORDS.findall(each.shape))), reverse=True)
    shapes = " or ".join(f"{each.with_article} ({each.shape})" for each in near[:2])
    return InputError(
        f"unknown format: expected {_WANTED[kind]} (found {shown(text)})",
        where=source.location(number),
        hint=f"Nearest to it: {shapes}. The guide lists all: Files and frames",
    )
