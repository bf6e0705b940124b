"""Text files: recognise the format, read the entries, name the line that is wrong."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any, cast

from permed_measures.engine.inputs import STDIN
from permed_measures.errors import InputError, RepeatedDocumentError, shown
from permed_measures.files.formats import NO_RANK, Format, Header, Kind, Layout, Number, Parse
from permed_measures.files.sources import Source
from permed_measures.files.text_formats import BLANKS, TEXT_FORMATS, columns_of

_DELIMITERS = "\t,;"
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
        number, line = next((each for each in source.head() if not _is_skipped(each[1])), (1, ""))
        layout, content = _layout_of(line)
        fitting = [each for each in TEXT_FORMATS if each.layout is layout and each.fits(content)]
        if not fitting:
            raise _unknown(source, number, line.strip(BLANKS), kind)
        fitting.sort(key=lambda each: each.kind != (kind or each.kind))  # stable
        taken = next((each for each in fitting if each.can_be(kind or each.kind, content)), None)
        if taken is None:
            holds = f"{fitting[0].with_article} ({fitting[0].shape})"
            raise InputError(
                f"expected {_wanted(kind)}, but this file holds {holds}",
                where=str(source.path),
                hint="The qrels come first, then the runs",
            )
        is_certain = len({each.kind for each in fitting}) == 1
        parse = cast(Parse, taken.parse(kind or taken.kind))  # it can be this kind
        return cls(source, taken, kind or taken.kind, parse, line, is_certain)

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
                raise self._refused(error, number, text) from None
            yield number, *entry

    def _entries_of_table(self, lines: Lines) -> Entries:
        """Read the rows of a table under the header, as dicts by our names; a cell may hold line ends."""
        taken: list[tuple[int, str]] = []  # the lines that the CSV reader took for the current row

        def recorded() -> Iterator[str]:
            for line in lines:
                taken.append(line)
                yield line[1] + "\n"

        text = recorded()
        header = cast(Header, next(header_of(line) for line in text if not _is_skipped(line[:-1])))
        rows = csv.reader(text, delimiter=header.delimiter, strict=True)
        places = list(header.columns.items())
        while True:
            taken.clear()
            try:
                row = next(rows, None)
                if row and len(row) != len(header.names):
                    raise ValueError(f"{len(row)} columns instead of {len(header.names)}")
                entry = self.parse({ours: row[place] for ours, place in places}, 0) if row else ()
            except _WRONG as error:
                raise self._refused(error, taken[0][0], "\n".join(text for _, text in taken)) from None
            if row is None:
                return
            if row:
                yield taken[0][0], *entry

    def _entries_of_json(self, lines: Lines) -> Entries:
        """Read the queries of a JSON file, with their documents as pairs, so that no repeated key is lost."""
        text = "\n".join(line for _, line in lines)
        line, wrong = None, text[:100]
        try:
            for query in _json_queries(text):
                line, wrong = None, str(query[0])
                yield None, *self.parse(query, 0)
        except _WRONG as error:
            if isinstance(error, json.JSONDecodeError):
                line, wrong = error.lineno, text.split("\n")[error.lineno - 1]
            raise self._refused(error, line, wrong) from None

    def _refused(self, error: Exception, number: int | None, text: str) -> InputError:
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
    """Return the error for a document, or without `doc_id` a query, that is listed at two places."""
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


# --- the first line ----------------------------------------------------------------------------------


def _is_skipped(line: str) -> bool:
    text = line.strip(BLANKS)
    return not text or text[0] == "#"


def _layout_of(line: str) -> tuple[Layout | None, Any]:
    """Return the layout that the first line shows, and what the line holds: keys, a header or columns."""
    text = line.strip(BLANKS)
    if text.startswith("{"):
        return _json_layout(text)
    header = header_of(line)
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


def header_of(line: str) -> Header | None:
    """Return the header if the line names the columns of a table of queries and documents."""
    for delimiter in _DELIMITERS:
        with suppress(csv.Error):
            header = Header(next(csv.reader([line], delimiter=delimiter, strict=True), []), delimiter)
            if header.has("query_id", "doc_id") and not header.columns.keys().isdisjoint(_VALUES):
                return header
    return None


_VALUES = ("score", "relevance", "rank")
"""The columns of which a table needs one, beside those of ids."""


def _unknown(source: Source, number: int, text: str, kind: Kind | None) -> InputError:
    """Return the error for a file whose first line fits no format, with those that are nearest."""
    if not text and source.path == STDIN:
        hint = "Only one of qrels and runs can come from it"
        return InputError("standard input is empty", where=str(STDIN), hint=hint)
    if not text:
        return InputError("the file is empty", where=str(source.path))
    layouts = {Layout.TABLE} if any(delimiter in text for delimiter in _DELIMITERS) else {Layout.COLUMNS}
    layouts = {Layout.JSON_LINES, Layout.JSON} if text[0] in "{[" else layouts
    near = [each for each in TEXT_FORMATS if each.layout in layouts and each.kind == (kind or each.kind)]
    words = set(_WORDS.findall(text[:1000]))
    near.sort(key=lambda each: len(words & set(_WORDS.findall(each.shape))), reverse=True)
    shapes = " or ".join(f"{each.with_article} ({each.shape})" for each in near[:2])
    return InputError(
        f"unknown format: expected {_wanted(kind)} (found {shown(text)})",
        where=source.location(number),
        hint=f"Nearest to it: {shapes}. The guide lists all: Files and frames",
    )


def _wanted(kind: Kind | None) -> str:
    return {"qrels": "qrels", "run": "a run", None: "qrels or a run"}[kind]


_WORDS = re.compile(r"\w[\w-]*")


# --- JSON --------------------------------------------------------------------------------------------


_DECODE = json.JSONDecoder().raw_decode


def json_object(text: str) -> dict[str, Any]:
    """Return the JSON object that a text is, or raise ValueError; no key may stand in it twice.

    There are no more keys than colons. Where there are as many, none was lost; else each object is looked at.
    """
    content: dict[str, Any]
    content, end = _DECODE(text)
    if end < len(text):
        json.loads(text)  # which says what is wrong
    if type(content) is not dict:
        raise ValueError("no JSON object")
    n_colons = text.count(":")
    if n_colons != len(content) and n_colons != _n_keys(content):
        content = json.loads(text, object_pairs_hook=_object)
    if "\\u" in text:
        _check_characters(text, content)
    return content


def _n_keys(content: dict[str, Any]) -> int:
    """Count the keys of an object, and of the objects in its lists."""
    lists = (value for value in content.values() if type(value) is list)
    return len(content) + sum(len(each) for each in chain.from_iterable(lists) if type(each) is dict)


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        repeated, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"{shown(repeated)} is listed twice")
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
