"""Text files: recognise the format, read the entries, name the line that is wrong."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from permed_measures.errors import InputError, RepeatedDocumentError, shown
from permed_measures.files.entries import BLANKS, columns_of
from permed_measures.files.first_line import header_of, is_skipped, layout_of, unknown_format, wanted
from permed_measures.files.formats import NO_RANK, Format, Header, Kind, Layout, Number, Parse
from permed_measures.files.json_text import json_object, json_queries
from permed_measures.files.sources import Source
from permed_measures.files.text_formats import TEXT_FORMATS

_WRONG = (KeyError, TypeError, ValueError, OverflowError, RecursionError, csv.Error)
"""What is raised for an entry that cannot be read."""

Lines = Iterable[tuple[int, str]]
Entries = Iterator[tuple[Any, ...]]
"""The number of a line (None in a JSON file), and what `Format.parse` returns of it."""
Rows = Iterator[tuple[int | None, str, Any, Number, int]]
"""The number of a line (None in a JSON file), query, document (None if the query has none), number, rank."""


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
        number, line = next((each for each in source.head() if not is_skipped(each[1])), (1, ""))
        layout, content = layout_of(line)
        fitting = [each for each in TEXT_FORMATS if each.layout is layout and each.fits(content)]
        if not fitting:
            raise unknown_format(source, number, line.strip(BLANKS), kind)
        fitting.sort(key=lambda each: each.kind != (kind or each.kind))  # stable
        matched = next((each for each in fitting if each.can_be(kind or each.kind, content)), None)
        if matched is None:
            holds = f"{fitting[0].with_article} ({fitting[0].shape})"
            raise InputError(
                f"expected {wanted(kind)}, but this file holds {holds}",
                where=str(source.path),
                hint="The qrels come first, then the runs",
            )
        is_certain = len({each.kind for each in fitting}) == 1
        parse = cast(Parse, matched.parse(kind or matched.kind))  # it can be this kind
        return cls(source, matched, kind or matched.kind, parse, line, is_certain)

    @property
    def is_scannable(self) -> bool:
        """Whether this is a run with a row for each document, which can be read in parts."""
        return not self.format.is_whole and self.format.kind == "run"

    def rows(self, lines: Lines | None = None) -> Rows:
        """Yield the rows of the file, or of a part that has these lines."""
        lines = self.source.lines() if lines is None else lines
        entries = _ENTRIES[self.format.layout](self, lines)
        return self._rows_of_lists(entries) if self.format.is_whole else entries

    def _rows_of_lists(self, entries: Entries) -> Rows:
        """Yield a row for each document of a list, or for the query if it is empty."""
        seen: dict[str, int | None] = {}
        for line, query_id, documents in entries:
            if query_id in seen:
                first = "" if line is None else f"on line {seen[query_id]}"
                raise twice_error(query_id, None, first, self.source.location(line))
            seen[query_id] = line
            for doc_id, value in documents or [(None, None)]:
                yield line, query_id, doc_id, value, NO_RANK

    def _entries_of_lines(self, lines: Lines) -> Entries:
        """Read JSON objects or columns, one in each line that is not empty."""
        is_json = self.format.layout is Layout.JSON_LINES
        content_of, parse = json_object if is_json else columns_of, self.parse
        is_first = True  # no line above was left out
        for number, line in lines:
            text = line.strip(BLANKS)
            if not text or (text[0] == "#" and not is_json):
                is_first = False
                continue
            try:
                entry = parse(content_of(text), number if is_first else 0)
            except _WRONG as error:
                raise self._error_for(error, number, text) from None
            yield number, *entry

    def _entries_of_table(self, lines: Lines) -> Entries:
        """Read the rows of a table under the header, as dicts by our names; a cell may hold line ends."""
        consumed: list[tuple[int, str]] = []  # the lines that the CSV reader read for the current row

        def recorded() -> Iterator[str]:
            for line in lines:
                consumed.append(line)
                yield line[1] + "\n"

        text = recorded()
        header = cast(Header, next(header_of(line) for line in text if not is_skipped(line[:-1])))
        rows = csv.reader(text, delimiter=header.delimiter, strict=True)
        indices = list(header.columns.items())
        while True:
            consumed.clear()
            try:
                row = next(rows, None)
                if row and len(row) != len(header.names):
                    raise ValueError(f"{len(row)} columns instead of {len(header.names)}")
                entry = self.parse({ours: row[index] for ours, index in indices}, 0) if row else ()
            except _WRONG as error:
                raise self._error_for(
                    error, consumed[0][0], "\n".join(text for _, text in consumed)
                ) from None
            if row is None:
                return
            if row:
                yield consumed[0][0], *entry

    def _entries_of_json(self, lines: Lines) -> Entries:
        """Read the queries of a JSON file, with their documents as pairs, so that no repeated key is lost."""
        text = "\n".join(line for _, line in lines)
        line, wrong = None, text[:100]
        try:
            for query in json_queries(text):
                line, wrong = None, str(query[0])
                yield None, *self.parse(query, 0)
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

    def table(self) -> tuple[dict[str, dict[str, Any]], dict[str, list[int]]]:
        """Return ``{query_id: {doc_id: number or None}}`` in the order of the file, and the ranks."""
        return table_of(self.rows(), self.duplicate_error)

    def duplicate_error(self, query_id: str, doc_id: str) -> InputError:
        """Return the error for a document that is in the file twice.

        The file is read again up to the second time, as line numbers are not kept.
        """
        lines = (row[0] for row in self.rows() if row[1:3] == (query_id, doc_id))
        first, second = next(lines), next(lines)
        return twice_error(
            query_id, doc_id, "" if first is None else f"on line {first}", self.source.location(second)
        )


def table_of(
    rows: Rows, duplicate_error: Callable[[str, str], InputError]
) -> tuple[dict[str, dict[str, Any]], dict[str, list[int]]]:
    """Return rows as ``{query_id: {doc_id: number or None}}`` in their order, and the ranks by query.

    A row without a document is a query without documents.
    """
    table: dict[str, dict[str, Any]] = {}
    ranks: dict[str, list[int]] = {}
    for _, query_id, doc_id, value, rank in rows:
        documents = table.get(query_id)
        if documents is None:
            documents = table[query_id] = {}
            ranks[query_id] = []
        if doc_id in documents:
            raise duplicate_error(query_id, doc_id)
        if doc_id is not None:
            documents[doc_id] = value
            ranks[query_id].append(rank)
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


_ENTRIES = {
    Layout.JSON_LINES: TextFile._entries_of_lines,
    Layout.COLUMNS: TextFile._entries_of_lines,
    Layout.TABLE: TextFile._entries_of_table,
    Layout.JSON: TextFile._entries_of_json,
}
