"""The known file formats. A format combines a layout with the names of its columns or keys.

`COLUMN_NAMES` in ``columns.py`` has the names of columns and keys, `LISTS` the names of lists, and
`PLAIN_FORMATS` the columns of files without a header. To add a format, add a name to one of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from functools import lru_cache, partial
from itertools import chain
from typing import Any, Literal, NamedTuple

from permed_measures.engine.tables import check_number, string_id
from permed_measures.errors import InputError, short_repr
from permed_measures.inputs.columns import BEIR_COLUMNS, COLUMN_NAMES, called, find_columns
from permed_measures.wording import pluralize

InputNumber = float | int | None
"""A relevance or score; None if it is missing, as in a list without scores."""
NO_RANK = -1
"""The rank if a file has no column of ranks, or a row no rank (an empty cell, a dash, -1 or NaN)."""
NOT_A_RANK = -2
"""The rank if the column of ranks has anything else that is not a number of at least 0."""
InputRow = tuple[str, str, InputNumber, float]
"""Query, document, number and rank."""
List = tuple[str, list[str], list[Any]]
"""A query, its documents and their numbers."""
Parse = Callable[[Any, int], Any]
"""Parses an entry: a JSON object, columns, the row of a table as a dict, or a query of a JSON file.

The second argument is the line number; it is 0 below an empty line or a comment. The result is an `InputRow`,
or a `List` in formats that keep all documents of a query together. Raises KeyError, TypeError or ValueError
for an invalid entry.
"""
Kind = Literal["qrels", "run"]
"""The content of a file, or the way to read it."""
KINDS: tuple[Kind, ...] = ("qrels", "run")
VALUE_COLUMNS: dict[Kind, str] = {"qrels": "relevance", "run": "score"}
"""The column of numbers in a frame, by the kind of a file."""


class Layout(Enum):
    """The division of a text file into entries."""

    JSON_LINES = "a JSON object per line"
    ARRAY = "a JSON array of objects"
    COLUMNS = "columns without a header"
    TABLE = "columns divided by commas, tabs or semicolons, under a header"
    JSON = "one JSON object"


class Format(NamedTuple):
    """A layout with names, and the function that parses an entry."""

    name: str
    kind: Kind
    layout: Layout
    shape: str  # an example of a line, for messages
    parse: Parse
    lists: bool = False  # an entry holds all documents of its query
    in_order: bool = True  # lists are rankings; the documents of an object have no order
    columns: tuple[str, ...] = ()  # the columns, if polars can read the whole file
    only_if_requested: bool = False  # the file mainly holds the other kind
    delimiter: str = ""  # between columns; white space if empty
    note: str = ""  # an assumption about the file, for the user

    @property
    def with_article(self) -> str:
        """The name within a sentence: a TREC run, TREC qrels."""
        article = "an" if self.name.startswith("MS") else "a"
        return f"{article} {self.name}" if self.name.endswith("run") else self.name


# --- numbers and ids ---------------------------------------------------------------------------------

BLANKS = " \t\v\f\r"
_BLANK_RUN = re.compile(f"[{BLANKS}]+")


def split_columns(text: str) -> list[str]:
    """Split a line at blanks and tabs, and at no other character."""
    plain = text.replace("\t", " ")
    return plain.split() if plain.isprintable() else _BLANK_RUN.split(text)


def is_number(text: str) -> bool:
    """Check that a text is a number, and not NaN."""
    with suppress(ValueError):
        return _score(text) is not None
    return False


def _score(text: str) -> float:
    """Parse a score; refuse NaN, and 1_0, which Python reads as 10."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if value != value or "_" in text:
        raise ValueError(f"a score must be a number (found {short_repr(text)})")
    return value


NTCIR_GRADE = re.compile("L([0-9]{1,2})")
"""A grade in NTCIR's notation."""


def _grade(text: str) -> float | int:
    """Parse a relevance; the result is an integer if the text has no decimals."""
    for number_type in () if "_" in text else (int, float):
        try:
            return check_number(number_type(text), "relevance", where="")
        except ValueError:
            continue
    if level := NTCIR_GRADE.fullmatch(text):
        return int(level[1])
    raise ValueError(f"a relevance must be a number (found {short_repr(text)})")


def parse_rank(value: Any) -> float:
    """Parse the value of a column of ranks, a number or text; return NO_RANK or NOT_A_RANK if it is none."""
    is_text = isinstance(value, str)
    if is_text and value.isascii() and value.isdigit() and len(value) < 10:  # the usual case, which is fast
        return int(value)
    if value is None or (is_text and value.strip() in EMPTY_RANKS):
        return NO_RANK
    if isinstance(value, bool) or (is_text and ("_" in value or not value.isascii())):
        return NOT_A_RANK
    try:
        rank = float(value)
    except (TypeError, ValueError, OverflowError):
        return NOT_A_RANK
    if rank == NO_RANK or math.isnan(rank):
        return NO_RANK
    return rank if 0 <= rank < math.inf else NOT_A_RANK


EMPTY_RANKS = ("", "-")


def _text(value: Any) -> str:
    """Convert an id to text; the two usual types come first, which is fast."""
    id_type = type(value)
    return value if id_type is str else str(value) if id_type is int else string_id(value)


def _number(value: Any, column: str) -> float | int:
    """Check a number in a JSON file; refuse NaN, texts and booleans."""
    if isinstance(value, bool):
        raise ValueError(f"a {column} must be a number (found {value!r})")
    return check_number(value, column, where="")


# --- columns and tables ------------------------------------------------------------------------------


def trec_qrels(columns: Sequence[str], _: int) -> InputRow:
    """Parse query, iteration, document and relevance."""
    if len(columns) != 4:
        more = " (an id with a blank?)" if len(columns) > 4 else ""
        raise ValueError(f"{pluralize(len(columns), 'column')}{more}")
    query_id, _iteration, doc_id, relevance = columns
    return query_id, doc_id, _grade(relevance), NO_RANK


def trec_run(columns: Sequence[str], _: int) -> InputRow:
    """Parse query, Q0, document, rank, score and tag; the rank may be any text."""
    if len(columns) < 6:  # more than six are allowed: trec_eval ignores them too
        raise ValueError(pluralize(len(columns), "column"))
    query_id, _q0, doc_id, rank, score = columns[:5]
    if len(columns) > 6 and not RANK.fullmatch(rank):
        raise ValueError(f"column 4 is not a rank (found {short_repr(rank)}; a document id with a blank?)")
    return query_id, doc_id, _score(score), parse_rank(rank)


RANK = re.compile(r"[-+]?[0-9.]*")
"""The accepted texts in a column of ranks."""


Q0 = ("Q0", "q0")
"""The usual text in the second column of a run."""


def second_line(columns: Sequence[str], q0: str, is_first: bool = False) -> int:
    """Find a second line within a line of a run (a missing line end); return the index of its Q0, or 0.

    The first of the two lines may be cut anywhere, and the second before its score. In the first line of the
    file (`is_first`) the second must have a score, since Q0 may be a word of the tag. `q0` is the second
    column of other lines.
    """
    others = {q0} if is_first and columns[1] in Q0 else {q0, columns[1], "0"}
    for index in range(2, len(columns)):
        is_q0 = columns[index] in Q0
        if len(columns) < index + 4:
            if is_q0 and not is_first:
                return index
        elif _is_float(columns[index + 3]):
            # A text other than Q0 may also be a document, a rank, a score or a word of a tag.
            has_rank = RANK.fullmatch(columns[index + 2]) and len(columns) > index + 4
            if is_q0 or (columns[index] in others and (index > 5 or has_rank)):
                return index
    return 0


def _is_float(text: str) -> bool:
    """Check whether a text is a number, including NaN."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_tag(columns: Sequence[str], first: Sequence[str]) -> None:
    """Raise ValueError if a line ends like the first line, but its sixth and later columns differ.

    A tag of several words cannot explain this difference; a document id with a blank can.
    """
    if columns[-1] == first[-1] and (len(columns) != len(first) or is_number(columns[5])):
        raise ValueError(
            f"{pluralize(len(columns), 'column')}, in the first line {len(first)}, with the same tag "
            "(a document id with a blank?),"
        )


_NAMES_OF_COLUMN = {column: {*chain.from_iterable(names)} for column, names in COLUMN_NAMES.items()}


def _bare(cell: str) -> str:
    """Normalise a cell that may be a column's name; joined files can have a byte order mark in it."""
    return cell.strip(BLANKS + "\ufeff").lower()


def read_cells(cells: Mapping[str, str], kind: Kind) -> InputRow:
    """Parse the cells of a row: a pair without a relevance has grade 1, a rank may replace the score."""
    query_id, doc_id = cells["query_id"], cells["doc_id"]
    if kind == "qrels" and "relevance" not in cells:
        if _bare(doc_id) in _NAMES_OF_COLUMN["doc_id"] and _bare(query_id) in _NAMES_OF_COLUMN["query_id"]:
            raise ValueError("a header among the rows")
        return query_id, doc_id, 1, NO_RANK
    if kind == "qrels":
        return query_id, doc_id, _grade(cells["relevance"]), NO_RANK
    rank = parse_rank(cells.get("rank"))
    if "score" in cells:
        return query_id, doc_id, _score(cells["score"]), rank
    if rank < 0:
        raise ValueError(f"a rank must be a number from 0 or 1 (found {short_repr(cells['rank'])})")
    return query_id, doc_id, -float(rank), rank


class Plain(NamedTuple):
    """The columns of a file without a header."""

    name: str
    kind: Kind
    names: tuple[str, ...]
    note: str = ""

    def format(self, delimiter: str = "", note: str = "") -> Format:
        """Build the format of a file with these columns."""
        parse = _PARSE.get(self.names) or partial(_read_columns, self.names, self.kind)
        columns = self.names if self.kind == "run" and not delimiter else ()
        shape = " ".join(_SHORT_COLUMN_NAMES.get(name, name) for name in self.names)
        return Format(
            self.name,
            self.kind,
            Layout.COLUMNS,
            shape,
            parse,
            columns=columns,
            delimiter=delimiter,
            note=self.note or note,
        )


def _read_columns(names: tuple[str, ...], kind: Kind, columns: Sequence[str], _: int) -> InputRow:
    if len(columns) != len(names):
        raise ValueError(f"{pluralize(len(columns), 'column')} instead of {len(names)}")
    return read_cells(dict(zip(names, columns, strict=True)), kind)


_SHORT_COLUMN_NAMES = {"query_id": "query", "doc_id": "document", "q0": "Q0"}
_PARSE: dict[tuple[str, ...], Parse] = {
    ("query_id", "iteration", "doc_id", "relevance"): trec_qrels,
    ("query_id", "q0", "doc_id", "rank", "score", "tag"): trec_run,
}

PLAIN_FORMATS = {
    "TREC qrels": Plain("TREC qrels", "qrels", ("query_id", "iteration", "doc_id", "relevance")),
    "TREC run": Plain("TREC run", "run", ("query_id", "q0", "doc_id", "rank", "score", "tag")),
    "pairs": Plain(
        "relevant pairs",
        "qrels",
        ("query_id", "doc_id"),
        "pairs of query and document are taken as relevant, with grade 1",
    ),
    "grades": Plain(
        "qrels in three columns",
        "qrels",
        ("query_id", "doc_id", "relevance"),
        "there is no header; column 3 is taken as the relevance",
    ),
    "levels": Plain(
        "NTCIR qrels",
        "qrels",
        ("query_id", "doc_id", "relevance"),
        "the levels L0, L1, L2, … are taken as the grades 0, 1, 2, …",
    ),
    "ranks": Plain(
        "MS MARCO run",
        "run",
        ("query_id", "doc_id", "rank"),
        "there is no header; column 3 counts within each query, and is taken as the rank",
    ),
    "scores": Plain(
        "three-column run",
        "run",
        ("query_id", "doc_id", "score"),
        "there is no header; column 3 is taken as the score (the highest ranks first)",
    ),
    "ranks and scores": Plain("ColBERT run", "run", ("query_id", "doc_id", "rank", "score")),
}
"""The known columns of files without a header."""


class Header(NamedTuple):
    """The column names at the top of a table, and the delimiter between them."""

    names: list[str]
    delimiter: str = ""

    def columns(self, kind: Kind) -> dict[int, str]:
        """Map the indices of the columns that this kind needs to their meanings; empty if one is missing."""
        try:
            meaning_of = find_columns(self.names, VALUE_COLUMNS[kind])
        except InputError:
            if kind == "run" or len(self.names) != 2:
                return {}
            try:  # pairs of ids without a number
                meaning_of = find_columns([*self.names, "relevance"], "relevance")
            except InputError:
                return {}
            meaning_of.pop("relevance")
        ranks = called("rank", self.names) if kind == "run" else []
        meaning_of |= {
            name: "rank" for name in ranks if self.names.count(name) == 1 and name not in meaning_of
        }
        return {index: meaning_of[name] for index, name in enumerate(self.names) if name in meaning_of}

    @property
    def is_padded(self) -> bool:
        """Whether the header has blanks beside delimiters; then they are stripped from all cells."""
        return any(name != name.strip(BLANKS) for name in self.names)

    def formats(self) -> list[Format]:
        """List the formats in which a table under this header can be read."""
        return [self._format(kind) for kind in KINDS if self.columns(kind)]

    def _format(self, kind: Kind) -> Format:
        shape = {
            "qrels": "query_id, doc_id, relevance (or qid, docno, label; query-id, corpus-id, score)",
            "run": "query_id, doc_id, score (or qid, docno, score) or rank",
        }[kind]
        parse = partial(_read_table_row, list(self.columns(kind).items()), self.names, kind, self.is_padded)
        pairs = PLAIN_FORMATS["pairs"].note if kind == "qrels" and len(self.names) == 2 else ""
        return Format(f"CSV or TSV {kind}", kind, Layout.TABLE, f"{shape} under a header", parse, note=pairs)


def _read_table_row(
    columns: list[tuple[int, str]], names: list[str], kind: Kind, strip: bool, row: Sequence[str], _: int
) -> InputRow:
    if len(row) != len(names):
        raise ValueError(f"{pluralize(len(row), 'column')} instead of {len(names)}")
    cells: dict[str, str] = {}
    for index, meaning in columns:
        cell = row[index].strip(BLANKS) if strip else row[index]
        if cells.setdefault(meaning, cell) != cell and meaning != "rank":
            used = next(names[other] for other, same in columns if same == meaning)
            raise ValueError(_differ(used, names[index], cells[meaning], cell))
    return read_cells(cells, kind)


def _differ(used: str, other: str, value: object, differs: object) -> str:
    return (
        f"{used} and {other} may both be meant, and differ (found {short_repr(value)} and "
        f"{short_repr(differs)})"
    )


# --- JSON objects ------------------------------------------------------------------------------------

LISTS: dict[Kind, dict[str, str]] = {
    "run": {
        "ranked_results": "PerMed results",
        "reranked_results": "PerMed results",
        "results": "PerMed results",
        "retrieved": "LitSearch results",
        "retrieved_ids": "ranked lists",
        "retrievedcorpusids": "ranked lists",
        "ranking": "ranked lists",
        "hits": "ranked lists",
        "candidates": "ranked lists",
        "ctxs": "ranked lists",
    },
    "qrels": {
        "relevant_texts": "PerMed ground truth or LitSearch labels",
        "corpusids": "LitSearch results",
        "ground_truth": "relevant documents",
        "relevant_docs": "relevant documents",
        "positive_passages": "relevant documents",
        "ratings": "rated documents",
    },
}
"""The accepted keys of a list of documents, in lower case, each with the name of such a file."""
NUMBERED = ("retrieved", "corpusids")
"""The lists of LitSearch, where a query without an id has its line number as id."""


def medcorpus(content: dict[str, Any], _: int) -> InputRow:
    """Parse a label of MedCorpus; the query id consists of conversation and turn."""
    query_id = f"{_text(content['conversation_id'])}_{_text(content['turn_id'])}"
    return query_id, _text(content["doc_id"]), _number(content["rel"], "relevance"), NO_RANK


@lru_cache(4096)
def _keys(column: str, keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(called(column, keys))


def _value(column: str, content: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """Get the value of a column in an object, None without one; keys of the same meaning must agree."""
    names = _keys(column, keys)
    for name in names[1:]:
        if content[name] != content[names[0]]:
            raise ValueError(_differ(names[0], name, content[names[0]], content[name]))
    return content[names[0]] if names else None


def read_list(kind: Kind, content: dict[str, Any], line: int) -> List:
    """Parse a query with a list of documents, which are ids or objects with an optional number."""
    key = _list_key(kind, content)
    items = content[key]
    if not isinstance(items, list):
        raise ValueError(f"{key} must be a list (found {short_repr(items)})")
    column, query_id = VALUE_COLUMNS[kind], _query_of(content, key, items, line)
    default = 1 if kind == "qrels" else None
    types = {*map(type, items)}
    if dict not in types:
        return query_id, list(map(_text, items)), [default] * len(items)
    shapes = {*map(tuple, items)} if types == {dict} else set()
    if kind == "run" and len(shapes) == 1:  # the usual case, which is fast
        names, values = _keys("doc_id", *shapes), _keys(column, *shapes)
        if len(names) == len(values) == 1:
            ids = [_text(item[names[0]]) for item in items]
            scores = [item[values[0]] for item in items]
            numbers = [None if score is None else float(_number(score, column)) for score in scores]
            return query_id, ids, numbers
    documents = [_document(item, column) if isinstance(item, dict) else (_text(item), None) for item in items]
    numbers = [default if value is None else value for _, value in documents]
    return query_id, [doc_id for doc_id, _ in documents], numbers


def _list_key(kind: Kind, content: Mapping[str, Any]) -> str:
    keys = [key for key in content if key.lower() in LISTS[kind]]
    lists = [key for key in keys if isinstance(content[key], list)] or keys
    if not lists:
        known = " or ".join(map(repr, list(LISTS[kind])[:3]))
        raise ValueError(f"{known} is missing")
    for key in lists[1:]:
        if content[key] != content[lists[0]]:
            raise ValueError(_differ(lists[0], key, content[lists[0]], content[key]))
    return lists[0]


def _document(item: Mapping[str, Any], column: str) -> tuple[str, InputNumber]:
    """Parse a document that is an object; return its id and number."""
    keys = tuple(item)
    doc_id = _value("doc_id", item, keys)
    if doc_id is None:
        known = ", ".join(name for group in COLUMN_NAMES["doc_id"] for name in group)
        raise ValueError(f"a document has no id (found the keys {', '.join(keys)}; known are {known})")
    value = _value(column, item, keys)
    if value is None and column == "score" and (rank := _value("rank", item, keys)) is not None:
        return _text(doc_id), -float(_number(rank, "rank"))
    if value is None:
        return _text(doc_id), None
    checked = _number(value, column)
    return _text(doc_id), float(checked) if column == "score" else checked


def _query_of(content: Mapping[str, Any], list_key: str, items: list[Any], line: int) -> str:
    """Find the query id of an object with a list; LitSearch queries without one have their line number."""
    keys = tuple(key for key in content if key != list_key)
    is_numbered = list_key.lower() in NUMBERED
    names = _keys("query_id", keys)
    is_text = names and names[0].lower() == "query"
    if is_text and isinstance(content[names[0]], dict):
        query = content[names[0]]
        return _text(_value("query_id", query, tuple(query)))
    if names and not (is_text and is_numbered) and not (is_text and _have_query_ids(items)):
        return _text(_value("query_id", content, keys))
    if {"conversation_id", "turn_id"} <= content.keys():
        return f"{_text(content['conversation_id'])}_{_text(content['turn_id'])}"
    if _have_query_ids(items):
        query_ids = {_text(item[_keys("query_id", tuple(item))[0]]) for item in items}
        if len(query_ids) == 1:
            return query_ids.pop()
        raise ValueError(f"the documents of a list belong to {len(query_ids)} queries")
    if other := next((key for key in keys if re.search("(?i)id$", key)), ""):
        raise ValueError(f"no query id (if it is {other!r}, rename it to query_id)")
    if not is_numbered:
        raise ValueError(f"no query id (known keys are {', '.join(COLUMN_NAMES['query_id'][0])}, id)")
    if not line:
        raise ValueError("no query_id, and an empty line above (line numbers are the query ids)")
    return str(line)


def _have_query_ids(items: list[Any]) -> bool:
    """Check whether each document of a list has a query id."""
    return bool(items) and all(
        isinstance(item, dict) and set(_keys("query_id", tuple(item))) & set(COLUMN_NAMES["query_id"][0])
        for item in items
    )


def read_object_row(kind: Kind, content: dict[str, Any], _: int) -> InputRow:
    """Parse an object that has a query and a document."""
    keys, column = tuple(content), VALUE_COLUMNS[kind]
    columns = _row_columns(keys, kind)
    cells: dict[str, Any] = {}
    for key, meaning in columns:
        if cells.setdefault(meaning, content[key]) != content[key]:
            used = next(other for other, same in columns if same == meaning)
            raise ValueError(_differ(used, key, cells[meaning], content[key]))
    query_id, doc_id = _text(cells["query_id"]), _text(cells["doc_id"])
    rank = parse_rank(cells.get("rank"))
    if column in cells:
        value = _number(cells[column], column)
        return query_id, doc_id, float(value) if kind == "run" else value, rank if kind == "run" else NO_RANK
    if kind == "qrels":
        return query_id, doc_id, 1, NO_RANK
    if rank < 0:
        raise ValueError(f"a rank must be a number from 0 or 1 (found {short_repr(cells['rank'])})")
    return query_id, doc_id, -float(rank), rank


@lru_cache(4096)
def _row_columns(keys: tuple[str, ...], kind: Kind) -> list[tuple[str, str]]:
    """Pair the keys of an object with their meanings; raise KeyError if one is missing."""
    columns = Header(list(keys)).columns(kind)
    if not columns:
        for meaning in ("query_id", "doc_id", VALUE_COLUMNS[kind]):
            if not called(meaning, keys):
                raise KeyError(meaning)
        raise KeyError(VALUE_COLUMNS[kind])
    return [(keys[index], meaning) for index, meaning in columns.items()]


def formats_of_object(content: Mapping[str, Any], layout: Layout = Layout.JSON_LINES) -> list[Format]:
    """List the formats in which objects like this one can be read, the most likely one first."""
    if {"conversation_id", "turn_id", "doc_id", "rel"} <= content.keys():
        shape = '{"conversation_id": ..., "turn_id": ..., "doc_id": ..., "rel": ...}'
        return [Format("MedCorpus labels", "qrels", layout, shape, medcorpus)]
    list_formats = [
        _list_format(kind, key, layout)
        for kind in ("run", "qrels")
        for key in content
        if key.lower() in LISTS[kind] and not _has_lists(content[key])
    ]
    if list_formats:
        first = {form.kind: form for form in reversed(list_formats)}
        run, qrels = first.get("run"), first.get("qrels")
        if run and qrels:
            return [run, qrels._replace(only_if_requested=True)]
        return [form for form in (run, qrels) if form]
    formats = []
    for kind in KINDS:
        with suppress(KeyError):
            names = dict(_row_columns(tuple(content), kind))
            shape = "{" + ", ".join(f'"{name}": ...' for name in names) + "}"
            note = PLAIN_FORMATS["pairs"].note if kind == "qrels" and len(names) == 2 else ""
            parse = partial(read_object_row, kind)
            formats.append(Format(f"JSON {kind}", kind, layout, shape, parse, note=note))
    return formats


def _has_lists(value: Any) -> bool:
    """Check whether a value is an object of lists, one for each query."""
    return isinstance(value, dict) and bool(value) and all(isinstance(item, list) for item in value.values())


def _list_format(kind: Kind, key: str, layout: Layout) -> Format:
    name, shape = LISTS[kind][key.lower()], f'{{"query_id": ..., "{key}": [ids]}}'
    if name == "PerMed results":
        shape = '{"query_id": ..., "ranked_results" or "results": [{"text_id": ..., "score": ...}]}'
    elif name == "LitSearch results":
        shape = '{"query_id": ..., "query": ..., "corpusids": [ids], "retrieved": [ids]}'
    elif name in ("ranked lists", "rated documents"):
        number_key = "score" if kind == "run" else "rating"
        shape = f'{{"query_id": ..., "{key}": [ids, or {{"doc_id": ..., "{number_key}": ...}}]}}'
    return Format(name, kind, layout, shape, partial(read_list, kind), lists=True)


# --- one JSON object ---------------------------------------------------------------------------------


def read_scores(entry: tuple[str, Any], _: int) -> List:
    """Parse a query whose documents are a tuple of pairs with scores."""
    query_id, ids, numbers = read_grades(entry, _, "score")
    return query_id, ids, list(map(float, numbers))


def read_grades(entry: tuple[str, Any], _: int, column: str = "relevance") -> List:
    """Parse a query whose documents are a tuple of pairs with grades, or with numbers of `column`."""
    query_id, documents = entry
    if not isinstance(documents, tuple):
        raise ValueError(
            f"query {short_repr(query_id)} must have an object of documents (found {short_repr(documents)})"
        )
    return query_id, [doc_id for doc_id, _ in documents], [_number(value, column) for _, value in documents]


def read_document_lists(kind: Kind, entry: tuple[str, Any], line: int) -> List:
    """Parse a query that has a list of documents."""
    query_id, items = entry
    key = "retrieved" if kind == "run" else "relevant_docs"
    _, ids, numbers = read_list(kind, {"query_id": query_id, key: items}, line)
    return query_id, ids, numbers


def read_graded_list(kind: Kind, entry: tuple[str, Any], _: int) -> List:
    """Parse a query that has the grades of its ranked documents; None means unjudged."""
    query_id, grades = entry
    ids = [f"d{rank}" for rank in range(1, len(grades) + 1)]
    if kind == "run":
        return query_id, ids, [None] * len(ids)
    judged = [(doc_id, grade) for doc_id, grade in zip(ids, grades, strict=True) if grade is not None]
    return (
        query_id,
        [doc_id for doc_id, _ in judged],
        [int(grade) if isinstance(grade, bool) else _number(grade, "relevance") for _, grade in judged],
    )


_SCORED = "{query_id: {doc_id: number}}"
_LISTED = "{query_id: [doc_ids]}"
_GRADED_LISTS = "{query_id: [grades in ranked order]}"
_OTHER_KIND: dict[Kind, Kind] = {"run": "qrels", "qrels": "run"}
_TAKEN: dict[Kind, str] = {
    "qrels": "the documents of each list are taken as relevant, with grade 1",
    "run": "the documents of each list are taken as a ranking",
}


def formats_of_queries(queries: Sequence[tuple[str, Any]], kinds: Sequence[Kind] = KINDS) -> list[Format]:
    """List the formats in which the queries of one JSON object can be read, by their objects or lists."""
    if not queries or not all(isinstance(items, list) for _, items in queries):
        parses: dict[Kind, Parse] = {"run": read_scores, "qrels": read_grades}
        return [
            Format("BEIR or MTEB JSON", kind, Layout.JSON, _SCORED, parse, lists=True, in_order=False)
            for kind, parse in parses.items()
            if kind in kinds
        ]
    if _are_grades([items for _, items in queries]):
        note = "lists of grades in ranked order are qrels and run; what was not retrieved is not known"
        graded = partial(Format, "lists of grades", layout=Layout.JSON, shape=_GRADED_LISTS, lists=True)
        run = graded(kind="run", parse=partial(read_graded_list, "run"))
        return [graded(kind="qrels", parse=partial(read_graded_list, "qrels"), note=note), run]
    item = next((item for _, items in queries for item in items), None)
    keys = tuple(item) if isinstance(item, dict) else ()
    kinds = [kind for kind in kinds if not _keys(VALUE_COLUMNS[_OTHER_KIND[kind]], keys)]
    return [
        Format(
            "lists of documents",
            kind,
            Layout.JSON,
            _LISTED,
            partial(read_document_lists, kind),
            lists=True,
            note="" if _keys(VALUE_COLUMNS[kind], keys) else _TAKEN[kind],
        )
        for kind in kinds
    ]


def _are_grades(lists: list[list[Any]]) -> bool:
    """Check whether lists hold grades rather than ids; raise ValueError if integers may be both."""
    values = [value for items in lists for value in items]
    if not values or not all(value is None or isinstance(value, int | float) for value in values):
        return False
    numbers = {value for value in values if value is not None}
    if None in values or any(isinstance(value, bool | float) for value in values) or numbers <= {0, 1}:
        return True
    if max(numbers) > _MOST_GRADE:
        return False
    if any(len(set(items)) < len(items) for items in lists):
        return True
    raise ValueError(
        "the lists may hold grades in ranked order or ids of documents (found "
        f"{short_repr(next(items for items in lists if items))}): write ids as texts, or use "
        "permed_measures.from_relevance_lists"
    )


_MOST_GRADE = 10
"""The maximum grade; larger integers are document ids."""

KNOWN: dict[Layout, dict[Kind, tuple[str, ...]]] = {
    Layout.JSON_LINES: {
        "qrels": (
            'MedCorpus labels ({"conversation_id": ..., "turn_id": ..., "doc_id": ..., "rel": ...})',
            'PerMed ground truth or LitSearch labels ({"query_id": ..., "relevant_texts": [ids]})',
            'rows ({"query_id": ..., "doc_id": ..., "relevance": ...})',
        ),
        "run": (
            'PerMed results ({"query_id": ..., "results": [{"doc_id": ..., "score": ...}]})',
            'LitSearch results ({"query_id": ..., "retrieved": [ids]})',
            'rows ({"query_id": ..., "doc_id": ..., "score": ...})',
        ),
    },
    Layout.COLUMNS: {
        kind: tuple(
            f"{plain.format().with_article} ({plain.format().shape})"
            for plain in PLAIN_FORMATS.values()
            if plain.kind == kind
        )
        for kind in KINDS
    },
    Layout.TABLE: {
        "qrels": (
            "CSV or TSV qrels (query_id, doc_id, relevance (or qid, docno, label; "
            f"{', '.join(BEIR_COLUMNS.values())}) under a header)",
        ),
        "run": ("a CSV or TSV run (query_id, doc_id, score (or qid, docno, score) or rank under a header)",),
    },
    Layout.JSON: {
        "qrels": (f"grades ({_SCORED})", f"relevant documents ({_LISTED})"),
        "run": (f"scores ({_SCORED})", f"ranked documents ({_LISTED})"),
    },
}
"""The known formats of each layout, for messages."""
KNOWN[Layout.ARRAY] = KNOWN[Layout.JSON_LINES]
