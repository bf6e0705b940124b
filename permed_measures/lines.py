"""Files that are read line by line: which format a file is of, what it says, and which line is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from permed_measures.errors import InputError
from permed_measures.formats import FORMATS, Format, Line, Said
from permed_measures.inputs import where
from permed_measures.sources import HEAD, Source

__all__ = ["LineFile"]

_BLANKS = " \t\v\f\r"
_BETWEEN = re.compile(f"[{_BLANKS}]+")


@dataclass(frozen=True)
class LineFile:
    """A file of which each line says something.

    Attributes
    ----------
    source : Source
    format : Format
    wanted : {'qrels', 'run'}
        What it is read as.
    """

    source: Source
    format: Format
    wanted: str

    @classmethod
    def recognised(cls, source: Source, wanted: str) -> LineFile:
        """Return the file with its format, which the first line that says something tells."""
        index, first = next(_content(source.lines(HEAD), comments=True), (0, ""))
        content = _json_or_columns(first)
        found = next((format_ for format_ in FORMATS if format_.recognise(content)), None)
        if found is None:
            known = "; ".join(f"{f.name}: {f.shape}" for f in FORMATS if wanted == f.holds or f.doubles)
            problem = (
                f"unknown format: expected {wanted} (found {first!r:.80})" if first else "the file is empty"
            )
            hint = f"Known formats of {wanted} are {known}"
            raise InputError(problem, where=source.place(index), hint=hint)
        if found.holds != wanted and not found.doubles:
            raise InputError(
                f"expected {wanted}, but this is a file of {found.name} ({found.shape})",
                where=str(source.path),
                hint="The qrels come first, then the runs",
            )
        return cls(source, found, wanted)

    def table(self) -> dict[str, dict[str, Any]]:
        """Return what the file says as ``{query_id: {doc_id: number or None}}``, in its order."""
        table: dict[str, dict[str, Any]] = {}
        for _, line in self.said(self.source.lines()):
            if self.format.lists and line.query_id in table:
                self.refuse_repeated(line.query_id, None)
            documents = table.setdefault(line.query_id, {})
            for doc_id, value in line.documents:
                if doc_id in documents:
                    self.refuse_repeated(line.query_id, doc_id)
                documents[doc_id] = value
        return table

    def said(self, lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, Said]]:
        """Yield the index of each line that says something, and what it says."""
        for index, text in _content(lines, comments=not self.format.is_json):
            try:
                content = json.loads(text) if self.format.is_json else _columns(text)
                yield index, self.format.read(Line(content, index, self.wanted))
            except (KeyError, TypeError, ValueError) as error:
                self._refuse_line(index, text, error)

    def _refuse_line(self, index: int, text: str, error: Exception) -> NoReturn:
        """Raise the error for a line that is not of the file's format."""
        if isinstance(error, InputError):
            reason = error.problem
        elif isinstance(error, KeyError):
            reason = f"{error} is missing"
        elif isinstance(error, json.JSONDecodeError):
            reason = f"not valid JSON ({error})"
        elif "unpack" in str(error):
            reason = f"{len(_columns(text))} columns"
        else:
            reason = str(error)
        raise InputError(
            f"a line of {self.format.name} reads {self.format.shape} (found {reason}: {text!r:.100})",
            where=self.source.place(index),
            hint="Correct or remove this line",
        ) from None

    def refuse_repeated(self, query_id: str, doc_id: str | None) -> NoReturn:
        """Raise the error for a query (without `doc_id`), or a document, that stands twice in the file.

        The file is read again up to the second: where the first was had not been kept.
        """
        lines = self.source.lines()
        if not self.format.is_json:  # in JSON, an id may be written in several ways
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
            f"(found {what} again, first on line {first + 1})",
            where=self.source.place(second),
            hint="Remove one of the two",
        )


def _content(lines: Iterable[tuple[int, str]], comments: bool) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, nor comments if there may be any, without blanks around them."""
    for index, line in lines:
        text = line.strip(_BLANKS)
        if text and not (comments and text.startswith("#")):
            yield index, text


def _columns(text: str) -> list[str]:
    """Return the columns of a line: blanks and tabs divide them, and no other character does."""
    return text.split() if text.isascii() else _BETWEEN.split(text)


def _json_or_columns(text: str) -> Any:
    if not text.startswith("{"):
        return _columns(text)
    try:
        return json.loads(text)
    except ValueError:
        return None
