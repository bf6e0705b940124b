"""What the first line of a text file says of its format."""

from __future__ import annotations

import csv
import json
import re
from contextlib import suppress
from typing import Any

from permed_measures.engine.inputs import STDIN
from permed_measures.errors import InputError, shown
from permed_measures.files.entries import BLANKS
from permed_measures.files.formats import Header, Kind, Layout
from permed_measures.files.sources import Source
from permed_measures.files.text_formats import TEXT_FORMATS

_DELIMITERS = "\t,;"


def is_skipped(line: str) -> bool:
    """Return whether a line is empty or a comment."""
    text = line.strip(BLANKS)
    return not text or text[0] == "#"


def layout_of(line: str) -> tuple[Layout | None, Any]:
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


def unknown_format(source: Source, number: int, text: str, kind: Kind | None) -> InputError:
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
        f"unknown format: expected {wanted(kind)} (found {shown(text)})",
        where=source.location(number),
        hint=f"Nearest to it: {shapes}. The guide lists all: Files and frames",
    )


def wanted(kind: Kind | None) -> str:
    """Return what was asked for, for a message."""
    return {"qrels": "qrels", "run": "a run", None: "qrels or a run"}[kind]


_WORDS = re.compile(r"\w[\w-]*")
