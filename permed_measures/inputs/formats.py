"""The text formats: how each is recognised, and how an entry of it is read."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from typing import Any, Literal, NamedTuple

from permed_measures.engine.inputs import columns_of, number, string_id
from permed_measures.errors import InputError, shown
from permed_measures.markup import counted

Number = float | int | None
"""A relevance or score; None where there is none, as in a list without scores."""
NO_RANK = -1
"""Where a file has no column of ranks, or no number in it."""
Row = tuple[str, str, Number, int]
"""Query, document, number and rank."""
List = tuple[str, list[str], list[Any]]
"""A query, its documents and their numbers."""
Parse = Callable[[Any, int], Any]
"""Reads an entry: a JSON object, columns, the row of a table as a dict, or a query of a JSON file.

It gets the number of the line, which is 0 where an empty line or a comment stands above. It returns a `Row`,
or of a format that has all documents of a query together a `List`. It raises KeyError, TypeError or
ValueError for what it cannot read.
"""

# --- columns and tables ------------------------------------------------------------------------------

BLANKS = " \t\v\f\r"
_BETWEEN = re.compile(f"[{BLANKS}]+")


def divided(text: str) -> list[str]:
    """Split a line at blanks and tabs, and at no other character."""
    plain = text.replace("\t", " ")
    return plain.split() if plain.isprintable() else _BETWEEN.split(text)


def _score(text: str) -> float:
    """Return the score that a text is; not NaN, nor 1_0, which Python reads as 10."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if value != value or "_" in text:
        raise ValueError(f"a score must be a number (found {shown(text)})")
    return value


def _grade(text: str) -> float | int:
    """Return the relevance that a text is, an integer if it is written as one."""
    for kind in () if "_" in text else (int, float):
        try:
            return number(kind(text), "relevance", where="")
        except ValueError:
            continue
    raise ValueError(f"a relevance must be a number (found {shown(text)})")


def _rank(text: str) -> int:
    """Return the number in a column of ranks; NO_RANK if it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else NO_RANK


def trec_qrels(columns: list[str], _: int) -> Row:
    """Read query, iteration, document and relevance."""
    if len(columns) != 4:
        raise ValueError(counted(len(columns), "column"))
    query_id, _iteration, doc_id, relevance = columns
    return query_id, doc_id, _grade(relevance), NO_RANK


def trec_run(columns: list[str], _: int) -> Row:
    """Read query, Q0, document, rank, score and tag; the rank may be any text."""
    if len(columns) < 6:  # trec_eval too ignores what follows the sixth
        raise ValueError(counted(len(columns), "column"))
    query_id, q0, doc_id, rank, score = columns[:5]
    if len(columns) > 9 and _has_another(columns, q0):  # else they are a tag of several words
        raise ValueError("two lines of a run in one, for a line end is missing,")
    return query_id, doc_id, _score(score), _rank(rank)


def _has_another(columns: list[str], q0: str) -> bool:
    """Return whether a line of a run begins again: after a query there is Q0, and then a score."""
    for place in range(6, len(columns) - 3):
        with suppress(ValueError):
            if columns[place] in (q0, "Q0", "q0", "0") and _score(columns[place + 3]) is not None:
                return True
    return False


def table_qrels(row: dict[str, str], _: int) -> Row:
    """Read a row with a relevance."""
    return row["query_id"], row["doc_id"], _grade(row["relevance"]), NO_RANK


def table_run(row: dict[str, str], _: int) -> Row:
    """Read a row with a score, and perhaps a rank."""
    return row["query_id"], row["doc_id"], _score(row["score"]), _rank(row.get("rank", ""))


# --- JSON --------------------------------------------------------------------------------------------


def _text(value: Any) -> str:
    """Return an id as text; the two types that ids have are told at once."""
    kind = type(value)
    return value if kind is str else str(value) if kind is int else string_id(value)


def _number(value: Any, column: str) -> float | int:
    """Return a number of a JSON file; not NaN, nor a text or a truth value."""
    if isinstance(value, bool):
        raise ValueError(f"a {column} must be a number (found {value!r})")
    return number(value, column, where="")


def medcorpus(content: dict[str, Any], _: int) -> Row:
    """Read a label of MedCorpus: the query is conversation and turn."""
    query_id = f"{_text(content['conversation_id'])}_{_text(content['turn_id'])}"
    return query_id, _text(content["doc_id"]), _number(content["rel"], "relevance"), NO_RANK


def listed(key: str, grade: int | None, numbered: bool = True) -> Parse:
    """Return how a list of ids is read: as relevant documents, or without a grade as a ranking.

    If it is `numbered`, a query without an id has the number of its line.
    """

    def parse(content: dict[str, Any], line: int) -> List:
        if numbered and "query_id" not in content:
            if not line:
                raise ValueError("no query_id, and an empty line above (line numbers are the query ids)")
            content["query_id"] = line
        ids = list(map(_text, _list_of(content, key)))
        return _text(content["query_id"]), ids, [grade] * len(ids)

    return parse


def _list_of(content: dict[str, Any], key: str) -> list[Any]:
    items = content[key]
    if not isinstance(items, list):
        raise ValueError(f"{key} must be a list (found {shown(items)})")
    return items


def permed_results(content: dict[str, Any], _: int) -> List:
    """Read ranked documents, as ids or as objects that may have a score."""
    items = _list_of(content, "ranked_results" if "ranked_results" in content else "results")
    items = [item if isinstance(item, dict) else {"text_id": item} for item in items]
    scores = (item.get("score") for item in items)
    numbers = [None if score is None else float(_number(score, "score")) for score in scores]
    return _text(content["query_id"]), [_text(item["text_id"]) for item in items], numbers


def json_scores(entry: tuple[str, Any], _: int) -> List:
    """Read a query that has its documents as a tuple of pairs, with scores."""
    query_id, ids, numbers = json_grades(entry, _, "score")
    return query_id, ids, list(map(float, numbers))


def json_grades(entry: tuple[str, Any], _: int, column: str = "relevance") -> List:
    """Read a query that has its documents as a tuple of pairs, with grades or other numbers."""
    query_id, documents = entry
    if not isinstance(documents, tuple):
        raise ValueError(
            f"query {shown(query_id)} must have an object of documents (found {shown(documents)})"
        )
    return query_id, [doc_id for doc_id, _ in documents], [_number(value, column) for _, value in documents]


# --- formats ------------------------------------------------------------------------------------------

Kind = Literal["qrels", "run"]
"""What a file holds, or is read as."""
VALUE_COLUMNS: dict[Kind, str] = {"qrels": "relevance", "run": "score"}
"""The column of numbers in a frame, by the kind of a file."""


class Layout(Enum):
    """How a text file is divided into entries."""

    JSON_LINES = "a JSON object per line"
    COLUMNS = "columns divided by white space"
    TABLE = "columns divided by commas, tabs or semicolons, under a header"
    JSON = "one JSON object"


class Header(NamedTuple):
    """The column names at the top of a table, and the delimiter between them."""

    names: list[str]
    delimiter: str = ""

    def columns(self, value: str) -> dict[str, int]:
        """Return the positions of ids and of this column of numbers, by our names; none if one lacks."""
        try:
            theirs = columns_of(self.names, value)
        except InputError:
            return {}
        theirs = theirs | {"rank": "rank"} if self.names.count("rank") == 1 else theirs
        is_once = all(self.names.count(name) == 1 for name in theirs.values())
        return {ours: self.names.index(name) for ours, name in theirs.items()} if is_once else {}


class Format(NamedTuple):
    """A file format: how it is recognised, and how an entry of it is read."""

    name: str
    kind: Kind
    layout: Layout
    shape: str  # what a line looks like, for messages
    fits: Callable[[Any], Any]  # whether the first line is such: a JSON object, text or a Header
    parse: Parse
    lists: bool = False  # an entry holds all documents of its query
    columns: tuple[str, ...] = ()  # of a file that polars can read as a whole
    if_asked: bool = False  # a file of another format is read so only if this kind is asked for

    @property
    def with_article(self) -> str:
        """The name within a sentence: a TREC run, TREC qrels."""
        return f"a {self.name}" if self.name.endswith("run") else self.name


def _has(*keys: str) -> Callable[[dict[str, Any]], bool]:
    return lambda first: set(keys) <= first.keys()


_JSON: tuple[tuple[Kind, Parse], ...] = (("run", json_scores), ("qrels", json_grades))

FORMATS = (
    Format(
        "MedCorpus labels",
        "qrels",
        Layout.JSON_LINES,
        '{"conversation_id": ..., "turn_id": ..., "doc_id": ..., "rel": ...}',
        _has("conversation_id", "turn_id", "doc_id", "rel"),
        medcorpus,
    ),
    Format(
        "PerMed ground truth or LitSearch labels",
        "qrels",
        Layout.JSON_LINES,
        '{"query_id": ..., "relevant_texts": [ids]}',
        _has("query_id", "relevant_texts"),
        listed("relevant_texts", 1, numbered=False),
        lists=True,
    ),
    Format(
        "PerMed results",
        "run",
        Layout.JSON_LINES,
        '{"query_id": ..., "ranked_results" or "results": [{"text_id": ..., "score": ...}]}',
        lambda first: "query_id" in first and ("ranked_results" in first or "results" in first),
        permed_results,
        lists=True,
    ),
    Format(
        "LitSearch results",
        "run",
        Layout.JSON_LINES,
        '{"query_id": ..., "query": ..., "corpusids": [ids], "retrieved": [ids]}',
        _has("retrieved"),
        listed("retrieved", None),
        lists=True,
    ),
    Format(
        "LitSearch results",
        "qrels",
        Layout.JSON_LINES,
        '{"query_id": ..., "query": ..., "corpusids": [ids], "retrieved": [ids]}',
        _has("retrieved", "corpusids"),
        listed("corpusids", 1),
        lists=True,
        if_asked=True,
    ),
    Format(
        "TREC qrels",
        "qrels",
        Layout.COLUMNS,
        "query iteration document relevance",
        lambda text: len(divided(text)) == 4,
        trec_qrels,
    ),
    Format(
        "TREC run",
        "run",
        Layout.COLUMNS,
        "query Q0 document rank score tag",
        lambda text: len(divided(text)) >= 6,
        trec_run,
        columns=("query_id", "q0", "doc_id", "rank", "score", "tag"),
    ),
    Format(
        "CSV or TSV qrels",
        "qrels",
        Layout.TABLE,
        "query_id, doc_id, relevance (or qid, docno, label; query-id, corpus-id, score) under a header",
        lambda header: header.columns("relevance"),
        table_qrels,
    ),
    Format(
        "CSV or TSV run",
        "run",
        Layout.TABLE,
        "query_id, doc_id, score (or qid, docno, score) under a header",
        lambda header: header.columns("score"),
        table_run,
    ),
    *(
        Format(
            "BEIR or MTEB JSON",
            kind,
            Layout.JSON,
            "{query_id: {doc_id: number}}",
            lambda _: True,
            parse,
            lists=True,
        )
        for kind, parse in _JSON
    ),
)
"""The text formats, recognised by the first line that is neither empty nor a comment.

If several fit, one of the kind that is asked for is taken, and of several such the first.
"""
