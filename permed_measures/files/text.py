"""Text files: which format a file is of, what it says, and which line is wrong."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from permed_measures.engine.inputs import where
from permed_measures.errors import InputError
from permed_measures.files.formats import FORMATS, Document, Format, Header, Kind, Line, Pairs, Said
from permed_measures.files.sources import HEAD, Source

__all__ = ["FirstLine", "TextFile", "header_of", "json_object"]

_BLANKS = " \t\v\f\r"
_BETWEEN = re.compile(f"[{_BLANKS}]+")
_SEPARATORS = re.compile("[\x1c-\x1f]")  # which divide for str.split
_DELIMITERS = "\t,;"

Lines = Iterable[tuple[int, str]]


class FirstLine(NamedTuple):
    """The index and the text of a line."""

    row: int
    text: str


@dataclass(frozen=True)
class TextFile:
    """A text file and what it is.

    Attributes
    ----------
    source : Source
    format : Format
    wanted : {'qrels', 'run'}
        What it is read as.
    first_line : FirstLine
        The first line that says something.
    is_certain : bool
        Whether it holds one of qrels and run, not both.
    """

    source: Source
    format: Format
    wanted: str
    first_line: FirstLine
    is_certain: bool

    @classmethod
    def recognised(cls, source: Source, wanted: str | None = None) -> TextFile:
        """Return the file with its format, which the first line that says something tells.

        Without `wanted` it is read as what it holds.
        """
        index, line = head = _first(source.lines(HEAD))
        first = _seen(line)
        found = [format_ for format_ in FORMATS if format_.recognise(first)]
        if not found:
            known = "; ".join(f"{f.name}: {f.shape}" for f in FORMATS if f.can_be(wanted or f.holds))
            problem = (
                f"unknown format: expected {wanted or 'qrels or a run'} (found {line.strip(_BLANKS)!r:.80})"
                if line
                else "the file is empty"
            )
            hint = f"Known formats of {wanted or 'qrels and runs'} are {known}"
            raise InputError(problem, where=source.place(index), hint=hint)
        fitting = next((format_ for format_ in found if format_.can_be(wanted or format_.holds)), None)
        if fitting is None:
            raise InputError(
                f"expected {wanted}, but this is a file of {found[0].name} ({found[0].shape})",
                where=str(source.path),
                hint="The qrels come first, then the runs",
            )
        certain = len({format_.holds for format_ in found}) == 1
        return cls(source, fitting, wanted or fitting.holds, head, certain)

    def table(self) -> dict[str, dict[str, Any]]:
        """Return what the file says as ``{query_id: {doc_id: number or None}}``, in its order."""
        table: dict[str, dict[str, Any]] = {}
        for _, line in self.said(self.source.lines()):
            if self.format.whole and line.query_id in table:
                self.refuse_repeated(line.query_id, None)
            documents = table.setdefault(line.query_id, {})
            for doc_id, value in line.documents:
                if doc_id in documents:
                    self.refuse_repeated(line.query_id, doc_id)
                documents[doc_id] = value
        return table

    def said(self, lines: Lines) -> Iterator[tuple[int | None, Said]]:
        """Yield what the lines say, with the index of each; a JSON file as a whole has no index."""
        for place, entry in enumerate(_ENTRIES[self.format.kind](lines)):
            try:
                if isinstance(entry.content, Exception):
                    raise entry.content
                yield entry.row, self.format.read(Line(entry.content, entry.row or 0, self.wanted, place))
            except (KeyError, TypeError, ValueError, OverflowError, RecursionError, csv.Error) as error:
                self._refuse(entry, error)

    def _refuse(self, entry: _Entry, error: Exception) -> NoReturn:
        """Raise the error for what is not of the file's format."""
        if isinstance(error, InputError):
            reason = error.problem
        elif isinstance(error, KeyError):
            reason = f"{error} is missing"
        elif isinstance(error, json.JSONDecodeError):
            reason = f"not valid JSON ({error})"
        elif "unpack" in str(error):
            reason = f"{len(_columns(entry.text))} columns"
        else:
            reason = str(error)
        raise InputError(
            f"{'' if self.format.kind is Kind.JSON else 'a line of '}{self.format.name} reads "
            f"{self.format.shape} (found {reason}: {entry.text.strip(_BLANKS)!r:.100})",
            where=self.source.place(entry.row),
            hint="Correct this file" if entry.row is None else "Correct or remove this line",
        ) from None

    def refuse_repeated(self, query_id: str, doc_id: str | None) -> NoReturn:
        """Raise the error for a query (without `doc_id`), or a document, that stands twice in the file.

        The file is read again up to the second: where the first was had not been kept.
        """
        lines = self.source.lines()
        if self.format.kind is Kind.COLUMNS:  # in the others, an id may be written in several ways
            lines = ((index, text) for index, text in lines if (doc_id or query_id) in text)
        indices = (
            index
            for index, line in self.said(lines)
            if line.query_id == query_id
            for name in ([doc_id] if doc_id is None else (name for name, _ in line.documents))
            if name == doc_id
        )
        first, second = next(indices), next(indices)
        what = f"query {query_id!r}" if doc_id is None else where(query_id, doc_id)
        raise InputError(
            f"each {'query' if doc_id is None else 'document of a query'} may stand once "
            f"(found {what} again{'' if first is None else f', first on line {first + 1}'})",
            where=self.source.place(second),
            hint="Remove one of the two",
        )


# --- what the first line is ------------------------------------------------------------------------


def _first(lines: Lines) -> FirstLine:
    """Return the first line that is neither empty nor a comment."""
    found = (FirstLine(i, line) for i, line in lines if not _says_nothing(line, comments=True))
    return next(found, FirstLine(0, ""))


def _seen(line: str) -> Any:
    """Return the first line as what it looks like: a JSON object or document, a header, or columns."""
    text = line.strip(_BLANKS)
    if text.startswith("{"):
        return _json_object_or_document(text)
    return header_of(line) or _columns(text)


def _json_object_or_document(text: str) -> Any:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None if _names_a_field(text) else Document()
    return Document(content) if all(isinstance(value, dict) for value in content.values()) else content


def _names_a_field(text: str) -> bool:
    """Return whether this is the beginning of a line of JSON lines, cut off: not a document."""
    return any(f'"{key}"' in text[:200] for key in ("query_id", "conversation_id", "retrieved", "corpusids"))


def header_of(line: str) -> Header | None:
    """Return the names of the columns, if these are the names of a table of queries and documents."""
    for delimiter in _DELIMITERS:
        names = _table_row(line, delimiter)
        header = Header(names)
        if header.has("query_id", "doc_id") and (header.has("score") or header.has("relevance")):
            header.delimiter = delimiter
            return header
    return None


def _table_row(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return []


# --- the parts of each kind of file ----------------------------------------------------------------


class _Entry(NamedTuple):
    """A part of a file: the index of its line, its text, and its content or why it has none."""

    row: int | None
    text: str
    content: Any


def _says_nothing(line: str, comments: bool) -> bool:
    text = line.strip(_BLANKS)
    return not text or (comments and text.startswith("#"))


def _columns_of_lines(lines: Lines) -> Iterator[_Entry]:
    for index, line in lines:
        if not _says_nothing(line, comments=True):
            text = line.strip(_BLANKS)
            yield _Entry(index, text, _columns(text))


def _columns(text: str) -> list[str]:
    """Return the columns of a line: blanks and tabs divide them, and no other character does."""
    plain = text.isascii() and not _SEPARATORS.search(text)
    return text.split() if plain else _BETWEEN.split(text)


def _json_lines(lines: Lines) -> Iterator[_Entry]:
    for index, line in lines:
        if not _says_nothing(line, comments=False):
            text = line.strip(_BLANKS)
            content = _json(text, _object)
            if not isinstance(content, dict | Exception):
                content = ValueError("no JSON object")
            yield _Entry(index, text, content)


def _json(text: str, make_object: Callable[[list[tuple[str, Any]]], Any]) -> Any:
    """Return what a JSON text says, or why it says nothing."""
    try:
        content = json.loads(text, object_pairs_hook=make_object)
        if "\\ud" in text.lower():  # half of a character, perhaps without the other
            json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return ValueError("half of a character: ids must be Unicode text")
    except (ValueError, RecursionError) as error:
        return error
    return content


def json_object(text: str) -> dict[str, Any]:
    """Return the JSON object that a line holds, or raise ValueError."""
    content = _json(text, _object)
    if isinstance(content, Exception):
        raise ValueError(str(content))
    if not isinstance(content, dict):
        raise ValueError("no JSON object")
    return content


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} stands twice")
    return content


def _table_rows(lines: Lines) -> Iterator[_Entry]:
    """Yield each row under the header as a dict by our names; a quoted cell may hold line ends."""
    taken = _Taken(lines)
    header = next((header_of(line) for line in taken if not _says_nothing(line[:-1], comments=True)), None)
    if header is None:
        return
    places = header.places
    rows = csv.reader(taken, delimiter=header.delimiter, strict=True)
    while True:
        taken.of_row.clear()
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield taken.entry(error)
            return
        if len(row) == len(header):
            yield taken.entry({ours: row[place] for ours, place in places.items()})
        elif row:
            yield taken.entry(ValueError(f"{len(row)} columns, {len(header)} in the header"))


class _Taken:
    """Lines with their ends for the reader of a table, and those that it took for a row."""

    def __init__(self, lines: Lines) -> None:
        self._lines = iter(lines)
        self.of_row: list[tuple[int, str]] = []

    def __iter__(self) -> Iterator[str]:
        for index, line in self._lines:
            self.of_row.append((index, line))
            yield line + "\n"

    def entry(self, content: Any) -> _Entry:
        """Return what is said by the lines of the row."""
        return _Entry(self.of_row[0][0], "\n".join(line for _, line in self.of_row), content)


def _json_entries(lines: Lines) -> Iterator[_Entry]:
    """Yield the queries of a JSON file, with their documents as pairs."""
    text = "\n".join(line for _, line in lines)
    content = _json(text, Pairs)
    if isinstance(content, json.JSONDecodeError):
        index = content.lineno - 1
        yield _Entry(index, text.split("\n")[index], content)
    elif isinstance(content, Exception):
        yield _Entry(None, text[:100], content)
    else:
        for pair in _queries(content):
            yield _Entry(None, str(pair)[:100], pair)


def _queries(content: Pairs) -> Iterable[Any]:
    """Return the queries; beside a description of the model, MTEB puts them under subset and split."""
    if not any(key == "mteb_model_meta" for key, _ in content):
        return content
    subsets = [value for key, value in content if key != "mteb_model_meta"]
    splits = [split for subset in subsets if isinstance(subset, Pairs) for _, split in subset]
    if len(splits) == 1 and isinstance(splits[0], Pairs):
        return splits[0]
    return [ValueError(f"{len(splits)} subsets and splits of MTEB; one can be read")]


_ENTRIES: dict[Kind, Callable[[Lines], Iterator[_Entry]]] = {
    Kind.JSON_LINES: _json_lines,
    Kind.COLUMNS: _columns_of_lines,
    Kind.TABLE: _table_rows,
    Kind.JSON: _json_entries,
}
