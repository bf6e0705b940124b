"""Text files: recognise the format, parse the lines, name the line that is wrong."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from permed_measures.engine.inputs import STDIN
from permed_measures.errors import InputError, RepeatedDocumentError, shown
from permed_measures.files.formats import Format, Header, Kind, Layout, Line, ParsedLine
from permed_measures.files.order import rank_of
from permed_measures.files.sources import HEAD, LongLineError, Source
from permed_measures.files.text_formats import BLANKS, TEXT_FORMATS, RunAsQrelsError, columns_of

_DELIMITERS = "\t,;"

Lines = Iterable[tuple[int, str]]


@dataclass(frozen=True)
class TextFile:
    """A text file of a known format."""

    source: Source
    format: Format
    kind: Kind  # what it is read as
    first_row: int
    first_line: str  # the first that is neither empty nor a comment
    is_certain: bool  # it can be read as this kind only

    @classmethod
    def recognised(cls, source: Source, kind: Kind | None = None) -> TextFile:
        """Recognise the format by the first line; without `kind` the file is read as what it holds."""
        first_row, first_line = _first_line(source)
        layout, content = _layout_of(first_line)
        fitting = [each for each in TEXT_FORMATS if each.layout is layout and each.fits(content)]
        if not fitting:
            raise _unknown(source, first_row, first_line.strip(BLANKS), kind)
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
        return cls(source, taken, kind or taken.kind, first_row, first_line, is_certain)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the index and the text of each line; JSON may be one long line."""
        return self.source.lines(whole=self.format.layout is Layout.JSON)

    def table(self, ranks: dict[str, list[int]] | None = None) -> dict[str, dict[str, Any]]:
        """Read the file into ``{query_id: {doc_id: number or None}}``, in its order, and the ranks."""
        table: dict[str, dict[str, Any]] = {}
        one_entry_per_query = self.format.lists or self.format.layout is Layout.JSON
        for _, line in self.parse(self.lines()):
            if one_entry_per_query and line.query_id in table:
                raise self.duplicate_error(line.query_id, None)
            documents = table.setdefault(line.query_id, {})
            for doc_id, value in line.documents:
                if doc_id in documents:
                    raise self.duplicate_error(line.query_id, doc_id)
                documents[doc_id] = value
            if ranks is not None:
                ranks.setdefault(line.query_id, []).extend(rank_of(line.rank) for _ in line.documents)
        return table

    def parse(self, lines: Lines) -> Iterator[tuple[int | None, ParsedLine]]:
        """Yield the parsed lines with their indices; a JSON file is one text, without line indices."""
        for n_before, entry in enumerate(_ENTRIES[self.format.layout](lines)):
            try:
                if isinstance(entry.content, Exception):
                    raise entry.content
                yield entry.row, self.format.read(Line(entry.content, entry.row or 0, self.kind, n_before))
            except (KeyError, TypeError, ValueError, OverflowError, RecursionError, csv.Error) as error:
                self._refuse(entry, error)

    def _refuse(self, entry: _Entry, error: Exception) -> NoReturn:
        """Raise the error for an entry that cannot be read."""
        if isinstance(error, RunAsQrelsError):
            raise InputError(error.problem, where=str(self.source.path), hint=error.hint) from None
        if isinstance(error, InputError):
            reason = error.problem
        elif isinstance(error, KeyError):
            reason = f"{error} is missing"
        elif isinstance(error, json.JSONDecodeError):
            reason = f"not valid JSON ({error})"
        elif "unpack" in str(error):
            reason = f"{len(columns_of(entry.text))} columns"
        else:
            reason = str(error)
        line = "" if self.format.layout is Layout.JSON else "a line of "
        text = entry.text.strip(BLANKS)
        advice = "correct this file" if entry.row is None else "correct or remove this line"
        raise InputError(
            f"not {line}{self.format.with_article}: {reason}{f' in {shown(text)}' if text else ''}",
            where=self.source.place(entry.row),
            hint=f"Expected {self.format.shape}; {advice}",
        ) from None

    def duplicate_error(self, query_id: str, doc_id: str | None) -> InputError:
        """Return the error for a document, or without `doc_id` a query, that is in the file twice.

        The file is read again up to the second time, as line numbers are not kept.
        """
        lines: Lines = self.lines()
        if self.format.layout is Layout.COLUMNS:  # in the others, an id may be written in several ways
            lines = ((index, text) for index, text in lines if (doc_id or query_id) in text)
        indices = (
            index
            for index, line in self.parse(lines)
            if line.query_id == query_id
            for name in ([doc_id] if doc_id is None else (name for name, _ in line.documents))
            if name == doc_id
        )
        first, second = next(indices), next(indices)
        return twice_error(
            query_id, doc_id, "" if first is None else f"on line {first + 1}", self.source.place(second)
        )


def twice_error(query_id: str, doc_id: str | None, first: str, second: str) -> InputError:
    """Return the error for a document, or without `doc_id` a query, that is listed at two places."""
    document = "" if doc_id is None else f"document {shown(doc_id)} of "
    kind = InputError if doc_id is None else RepeatedDocumentError
    return kind(
        f"{document}query {shown(query_id)} is listed twice{first and f', first {first}'}",
        where=second,
        hint="Remove one of the two",
    )


# --- the first line ----------------------------------------------------------------------------------


def _first_line(source: Source) -> tuple[int, str]:
    """Return the first line that is neither empty nor a comment; of a long JSON text its beginning."""
    lines = source.lines(HEAD)
    try:
        return next((line for line in lines if not _is_skipped(line[1], comments=True)), (0, ""))
    except LongLineError as error:
        beginning = error.beginning.decode(errors="replace")
        if _layout_of(beginning)[0] is not Layout.JSON:
            raise
        return 0, beginning


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


def _unknown(source: Source, row: int, text: str, kind: Kind | None) -> InputError:
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
        where=source.place(row),
        hint=f"Nearest to it: {shapes}. The guide lists all: Files and frames",
    )


def _wanted(kind: Kind | None) -> str:
    return {"qrels": "qrels", "run": "a run", None: "qrels or a run"}[kind]


_WORDS = re.compile(r"\w[\w-]*")


def header_of(line: str) -> Header | None:
    """Return the header if the line names the columns of a table of queries and documents."""
    for delimiter in _DELIMITERS:
        with suppress(csv.Error):
            header = Header(next(csv.reader([line], delimiter=delimiter, strict=True), []), delimiter)
            if header.has("query_id", "doc_id") and (header.has("score") or header.has("relevance")):
                return header
    return None


# --- the entries of each layout ----------------------------------------------------------------------


class _Entry(NamedTuple):
    """An entry of a file: the index of its line, its text, and its content or the error in it."""

    row: int | None
    text: str
    content: Any


def _is_skipped(line: str, comments: bool) -> bool:
    text = line.strip(BLANKS)
    return not text or (comments and text.startswith("#"))


def _texts(lines: Lines, comments: bool) -> Iterator[tuple[int, str]]:
    return ((index, line.strip(BLANKS)) for index, line in lines if not _is_skipped(line, comments))


def _columns_of_lines(lines: Lines) -> Iterator[_Entry]:
    for index, text in _texts(lines, comments=True):
        yield _Entry(index, text, columns_of(text))


def _json_lines(lines: Lines) -> Iterator[_Entry]:
    for index, text in _texts(lines, comments=False):
        yield _Entry(index, text, _json(text, _object))


def _json(text: str, make_object: Callable[[list[tuple[str, Any]]], Any]) -> Any:
    """Parse a JSON text whose objects are made by a function; return the error if that fails."""
    try:
        content = json.loads(text, object_pairs_hook=make_object)
        if "\\ud" in text.lower():  # half of a character, perhaps without the other
            json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return ValueError("half of a Unicode character")
    except (ValueError, RecursionError) as error:
        return error
    return content if isinstance(content, dict | tuple) else ValueError("no JSON object")


def json_object(text: str) -> dict[str, Any]:
    """Return the JSON object that a line holds, or raise ValueError."""
    content = _json(text, _object)
    if not isinstance(content, dict):
        raise ValueError(str(content))
    return content


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        repeated, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"{shown(repeated)} is listed twice")
    return content


def _table_rows(lines: Lines) -> Iterator[_Entry]:
    """Yield each row under the header as a dict by our names; a quoted cell may hold line ends."""
    taken: list[tuple[int, str]] = []  # the lines that the CSV reader took for the current row

    def recorded() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield line[1] + "\n"

    def entry(content: Any) -> _Entry:
        return _Entry(taken[0][0], "\n".join(text for _, text in taken), content)

    text = recorded()
    header = next((header_of(line) for line in text if not _is_skipped(line[:-1], comments=True)), None)
    if header is None:
        return
    rows = csv.reader(text, delimiter=header.delimiter, strict=True)
    while True:
        taken.clear()
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield entry(error)
            return
        if len(row) == len(header.names):
            yield entry({ours: row[place] for ours, place in header.columns.items()})
        elif row:
            yield entry(ValueError(f"{len(row)} columns instead of {len(header.names)}"))


def _json_entries(lines: Lines) -> Iterator[_Entry]:
    """Yield the queries of a JSON file, with their documents as pairs, so that no repeated key is lost."""
    text = "\n".join(line for _, line in lines)
    content = _json(text, tuple)  # arrays are lists, so tuples are objects
    if isinstance(content, json.JSONDecodeError):
        index = content.lineno - 1
        yield _Entry(index, text.split("\n")[index], content)
    elif isinstance(content, Exception):
        yield _Entry(None, text[:100], content)
    else:
        for pair in _queries(content):
            yield _Entry(None, str(pair[0]) if isinstance(pair, tuple) else "", pair)


def _queries(content: tuple[Any, ...]) -> Iterable[Any]:
    """Return the queries; MTEB has them under subset and split, beside a description of the model."""
    if not any(key == "mteb_model_meta" for key, _ in content):
        return content
    subsets = [value for key, value in content if key != "mteb_model_meta"]
    splits = [split for subset in subsets if isinstance(subset, tuple) for _, split in subset]
    if len(splits) == 1 and isinstance(splits[0], tuple):
        return splits[0]
    return [ValueError(f"{len(splits)} subsets and splits of MTEB, of which one can be read")]


_ENTRIES: dict[Layout, Callable[[Lines], Iterator[_Entry]]] = {
    Layout.JSON_LINES: _json_lines,
    Layout.COLUMNS: _columns_of_lines,
    Layout.TABLE: _table_rows,
    Layout.JSON: _json_entries,
}
