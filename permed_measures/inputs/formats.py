"""A file is a layout times names: how its entries are laid out, and what their parts are called.

`COLUMN_NAMES` of ``columns.py`` has the names of columns and keys, `LISTS` those of lists,
`PLAIN_FORMATS` the columns of files without a header. A new format is a name in one of them.
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
from permed_measures.escaping import pluralize
from permed_measures.inputs.columns import BEIR_COLUMNS, COLUMN_NAMES, called, find_columns

InputNumber = float | int | None
"""A relevance or score; None where there is none, as in a list without scores."""
NO_RANK = -1
"""Where a file has no column of ranks, or none is given in a row: there is nothing, a dash, -1 or NaN."""
NOT_A_RANK = -2
"""Where something else stands in a column of ranks that is not a number from 0 on."""
InputRow = tuple[str, str, InputNumber, float]
"""Query, document, number and rank."""
List = tuple[str, list[str], list[Any]]
"""A query, its documents and their numbers."""
Parse = Callable[[Any, int], Any]
"""Reads an entry: a JSON object, columns, the row of a table as a dict, or a query of a JSON file.

It gets the number of the line, which is 0 where an empty line or a comment stands above. It returns an
`InputRow`, or of a format that has all documents of a query together a `List`. It raises KeyError, TypeError
or ValueError for what it cannot read.
"""
Kind = Literal["qrels", "run"]
"""What a file holds, or is read as."""
KINDS: tuple[Kind, ...] = ("qrels", "run")
VALUE_COLUMNS: dict[Kind, str] = {"qrels": "relevance", "run": "score"}
"""The column of numbers in a frame, by the kind of a file."""


class Layout(Enum):
    """How a text file is divided into entries."""

    JSON_LINES = "a JSON object per line"
    ARRAY = "a JSON array of objects"
    COLUMNS = "columns without a header"
    TABLE = "columns divided by commas, tabs or semicolons, under a header"
    JSON = "one JSON object"


class Format(NamedTuple):
    """A layout with names: how an entry of the file is read."""

    name: str
    kind: Kind
    layout: Layout
    shape: str  # what a line looks like, for messages
    parse: Parse
    lists: bool = False  # an entry holds all documents of its query
    in_order: bool = True  # lists are rankings; the documents of an object have no order
    columns: tuple[str, ...] = ()  # of a file that polars can read as a whole
    if_asked: bool = False  # a file of another format is read so only if this kind is asked for
    delimiter: str = ""  # between columns; white space if empty
    note: str = ""  # what was assumed

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
    """Return whether a text is a number, and not NaN."""
    with suppress(ValueError):
        return _score(text) is not None
    return False


def _score(text: str) -> float:
    """Return the score that a text is; not NaN, nor 1_0, which Python reads as 10."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if value != value or "_" in text:
        raise ValueError(f"a score must be a number (found {short_repr(text)})")
    return value


NTCIR_GRADE = re.compile("L([0-9]{1,2})")
"""A grade as NTCIR writes it."""


def _grade(text: str) -> float | int:
    """Return the relevance that a text is, an integer if it is written as one."""
    for kind in () if "_" in text else (int, float):
        try:
            return check_number(kind(text), "relevance", where="")
        except ValueError:
            continue
    if level := NTCIR_GRADE.fullmatch(text):
        return int(level[1])
    raise ValueError(f"a relevance must be a number (found {short_repr(text)})")


def parse_rank(value: Any) -> float:
    """Return the rank that stands in a column of ranks as number or text; else NO_RANK or NOT_A_RANK."""
    is_text = isinstance(value, str)
    if is_text and value.isascii() and value.isdigit() and len(value) < 10:  # as in most files
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
    """Return an id as text; the two types that ids have are told at once."""
    kind = type(value)
    return value if kind is str else str(value) if kind is int else string_id(value)


def _number(value: Any, column: str) -> float | int:
    """Return a number of a JSON file; not NaN, nor a text or a truth value."""
    if isinstance(value, bool):
        raise ValueError(f"a {column} must be a number (found {value!r})")
    return check_number(value, column, where="")


# --- columns and tables ------------------------------------------------------------------------------


def trec_qrels(columns: Sequence[str], _: int) -> InputRow:
    """Read query, iteration, document and relevance."""
    if len(columns) != 4:
        more = " (an id with a blank?)" if len(columns) > 4 else ""
        raise ValueError(f"{pluralize(len(columns), 'column')}{more}")
    query_id, _iteration, doc_id, relevance = columns
    return query_id, doc_id, _grade(relevance), NO_RANK


def trec_run(columns: Sequence[str], _: int) -> InputRow:
    """Read query, Q0, document, rank, score and tag; the rank may be any text."""
    if len(columns) < 6:  # trec_eval too ignores what follows the sixth
        raise ValueError(pluralize(len(columns), "column"))
    query_id, _q0, doc_id, rank, score = columns[:5]
    if len(columns) > 6 and not RANK.fullmatch(rank):
        raise ValueError(f"column 4 is no rank (found {short_repr(rank)}; a document id with a blank?)")
    return query_id, doc_id, _score(score), parse_rank(rank)


RANK = re.compile(r"[-+]?[0-9.]*")
"""What stands for a rank in a column of ranks."""


Q0 = ("Q0", "q0")
"""What most runs have as their second column."""


def second_line(columns: Sequence[str], q0: str, is_first: bool = False) -> int:
    """Return where a second line begins in a line of a run, by the place of its Q0; 0 if none does.

    The first of the two may have been cut anywhere, and the second before its score, unless the line is the
    first of the file: Q0 may be a word of its tag. `q0` is the second column of other lines.
    """
    others = {q0} if is_first and columns[1] in Q0 else {q0, columns[1], "0"}
    for place in range(2, len(columns)):
        says_q0 = columns[place] in Q0
        if len(columns) < place + 4:
            if says_q0 and not is_first:
                return place
        elif _is_float(columns[place + 3]):
            # Another text than Q0 may be a document, a rank, a score or a word of a tag as well.
            has_rank = RANK.fullmatch(columns[place + 2]) and len(columns) > place + 4
            if says_q0 or (columns[place] in others and (place > 5 or has_rank)):
                return place
    return 0


def _is_float(text: str) -> bool:
    """Return whether a text is a number, or NaN, which no score may be."""
    with suppress(ValueError):
        return float(text) is not None
    return False


def check_tag(columns: Sequence[str], first: Sequence[str]) -> None:
    """Raise ValueError if a line has other columns than the first one, though the end of its tag is the same.

    The two differ from the sixth column on. Then no tag of several words explains it, but an id with a blank.
    """
    if columns[-1] == first[-1] and (len(columns) != len(first) or is_number(columns[5])):
        raise ValueError(
            f"{pluralize(len(columns), 'column')}, in the first line {len(first)}, with the same tag "
            "(a document id with a blank?),"
        )


_NAMES_OF_COLUMN = {column: {*chain.from_iterable(names)} for column, names in COLUMN_NAMES.items()}


def _bare(cell: str) -> str:
    """Return a cell as a name of a column, without the byte order mark of a file that was joined."""
    return cell.strip(BLANKS + "\ufeff").lower()


def read_cells(cells: Mapping[str, str], kind: Kind) -> InputRow:
    """Read a row by our names: a pair without a relevance is relevant, a rank may stand for the score."""
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
        """Return the format of a file with these columns."""
        parse = _PARSE.get(self.names) or partial(_read_columns, self.names, self.kind)
        columns = self.names if self.kind == "run" and not delimiter else ()
        shape = " ".join(_SHORT_COLUMN_NAMES.get(name, name) for name in self.names)
        said = self.note or note
        return Format(
            self.name,
            self.kind,
            Layout.COLUMNS,
            shape,
            parse,
            columns=columns,
            delimiter=delimiter,
            note=said,
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
"""What files without a header have in their columns."""


class Header(NamedTuple):
    """The column names at the top of a table, and the delimiter between them."""

    names: list[str]
    delimiter: str = ""

    def columns(self, kind: Kind) -> dict[int, str]:
        """Return the columns that a file of this kind needs, by their positions; none if one lacks."""
        try:
            found = find_columns(self.names, VALUE_COLUMNS[kind])
        except InputError:
            if kind == "run" or len(self.names) != 2:
                return {}
            try:  # two ids without a number
                found = find_columns([*self.names, "relevance"], "relevance")
            except InputError:
                return {}
            found.pop("relevance")
        ranks = called("rank", self.names) if kind == "run" else []
        found |= {name: "rank" for name in ranks if self.names.count(name) == 1 and name not in found}
        return {place: found[name] for place, name in enumerate(self.names) if name in found}

    @property
    def is_padded(self) -> bool:
        """Whether blanks stand beside a delimiter; then they are no part of cells either."""
        return any(name != name.strip(BLANKS) for name in self.names)

    def formats(self) -> list[Format]:
        """Return how a table under this header can be read."""
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
    places: list[tuple[int, str]], names: list[str], kind: Kind, strip: bool, row: Sequence[str], _: int
) -> InputRow:
    if len(row) != len(names):
        raise ValueError(f"{pluralize(len(row), 'column')} instead of {len(names)}")
    cells: dict[str, str] = {}
    for place, ours in places:
        cell = row[place].strip(BLANKS) if strip else row[place]
        if cells.setdefault(ours, cell) != cell and ours != "rank":
            used = next(names[other] for other, name in places if name == ours)
            raise ValueError(_differ(used, names[place], cells[ours], cell))
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
"""What keys of a list of documents are called, in small letters, and what a file of such lines is."""
NUMBERED = ("retrieved", "corpusids")
"""The lists of LitSearch: a query without an id has the number of its line there."""


def medcorpus(content: dict[str, Any], _: int) -> InputRow:
    """Read a label of MedCorpus: the query is conversation and turn."""
    query_id = f"{_text(content['conversation_id'])}_{_text(content['turn_id'])}"
    return query_id, _text(content["doc_id"]), _number(content["rel"], "relevance"), NO_RANK


@lru_cache(4096)
def _keys(column: str, keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(called(column, keys))


def _value(column: str, content: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """Return the value that a column has in an object; all of its names must have the same. None: no name."""
    names = _keys(column, keys)
    for name in names[1:]:
        if content[name] != content[names[0]]:
            raise ValueError(_differ(names[0], name, content[names[0]], content[name]))
    return content[names[0]] if names else None


def read_list(kind: Kind, content: dict[str, Any], line: int) -> List:
    """Read a query with a list of documents, which are ids or objects that may have a number."""
    key = _list_key(kind, content)
    items = content[key]
    if not isinstance(items, list):
        raise ValueError(f"{key} must be a list (found {short_repr(items)})")
    column, query_id = VALUE_COLUMNS[kind], _query_of(content, key, items, line)
    missing = 1 if kind == "qrels" else None
    types = {*map(type, items)}
    if dict not in types:
        return query_id, list(map(_text, items)), [missing] * len(items)
    shapes = {*map(tuple, items)} if types == {dict} else set()
    if kind == "run" and len(shapes) == 1:  # as in most files
        names, values = _keys("doc_id", *shapes), _keys(column, *shapes)
        if len(names) == len(values) == 1:
            ids = [_text(item[names[0]]) for item in items]
            scores = [item[values[0]] for item in items]
            return query_id, ids, [None if each is None else float(_number(each, column)) for each in scores]
    documents = [_document(item, column) if isinstance(item, dict) else (_text(item), None) for item in items]
    numbers = [missing if value is None else value for _, value in documents]
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
    """Return the id and the number of a document that is an object."""
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
    """Return the query id of an object with a list; LitSearch counts the lines that have none."""
    keys = tuple(key for key in content if key != list_key)
    numbered = list_key.lower() in NUMBERED
    names = _keys("query_id", keys)
    is_text = names and names[0].lower() == "query"
    if is_text and isinstance(content[names[0]], dict):
        inside = content[names[0]]
        return _text(_value("query_id", inside, tuple(inside)))
    if names and not (is_text and numbered) and not (is_text and _are_of_a_query(items)):
        return _text(_value("query_id", content, keys))
    if {"conversation_id", "turn_id"} <= content.keys():
        return f"{_text(content['conversation_id'])}_{_text(content['turn_id'])}"
    if _are_of_a_query(items):
        found = {_text(item[_keys("query_id", tuple(item))[0]]) for item in items}
        if len(found) == 1:
            return found.pop()
        raise ValueError(f"the documents of a list belong to {len(found)} queries")
    if other := next((key for key in keys if re.search("(?i)id$", key)), ""):
        raise ValueError(f"no query id (if it is {other!r}, call that query_id)")
    if not numbered:
        raise ValueError(f"no query id stands in it (known are {', '.join(COLUMN_NAMES['query_id'][0])}, id)")
    if not line:
        raise ValueError("no query_id, and an empty line above (line numbers are the query ids)")
    return str(line)


def _are_of_a_query(items: list[Any]) -> bool:
    """Return whether each document of a list has the id of its query."""
    return bool(items) and all(
        isinstance(item, dict) and set(_keys("query_id", tuple(item))) & set(COLUMN_NAMES["query_id"][0])
        for item in items
    )


def read_object_row(kind: Kind, content: dict[str, Any], _: int) -> InputRow:
    """Read an object that has a query and a document."""
    keys, column = tuple(content), VALUE_COLUMNS[kind]
    names = _row_columns(keys, kind)
    cells: dict[str, Any] = {}
    for theirs, ours in names:
        if cells.setdefault(ours, content[theirs]) != content[theirs]:
            used = next(other for other, name in names if name == ours)
            raise ValueError(_differ(used, theirs, cells[ours], content[theirs]))
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
    """Return what the keys of an object are, with those of its rank; raise KeyError if one lacks."""
    header = Header(list(keys))
    found = header.columns(kind)
    if not found:
        for ours in ("query_id", "doc_id", VALUE_COLUMNS[kind]):
            if not called(ours, keys):
                raise KeyError(ours)
        raise KeyError(VALUE_COLUMNS[kind])
    return [(keys[place], ours) for place, ours in found.items()]


def formats_of_object(content: Mapping[str, Any], layout: Layout = Layout.JSON_LINES) -> list[Format]:
    """Return how objects like this one can be read: the first format is what the file holds."""
    if {"conversation_id", "turn_id", "doc_id", "rel"} <= content.keys():
        shape = '{"conversation_id": ..., "turn_id": ..., "doc_id": ..., "rel": ...}'
        return [Format("MedCorpus labels", "qrels", layout, shape, medcorpus)]
    found = [
        _list_format(kind, key, layout)
        for kind in ("run", "qrels")
        for key in content
        if key.lower() in LISTS[kind] and not _has_lists(content[key])
    ]
    if found:
        first = {each.kind: each for each in reversed(found)}
        run, qrels = first.get("run"), first.get("qrels")
        if run and qrels:
            return [run, qrels._replace(if_asked=True)]
        return [each for each in (run, qrels) if each]
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
    """Return whether a value is an object of lists: those of all queries."""
    return isinstance(value, dict) and bool(value) and all(isinstance(each, list) for each in value.values())


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
    """Read a query that has its documents as a tuple of pairs, with scores."""
    query_id, ids, numbers = read_grades(entry, _, "score")
    return query_id, ids, list(map(float, numbers))


def read_grades(entry: tuple[str, Any], _: int, column: str = "relevance") -> List:
    """Read a query that has its documents as a tuple of pairs, with grades or other numbers."""
    query_id, documents = entry
    if not isinstance(documents, tuple):
        raise ValueError(
            f"query {short_repr(query_id)} must have an object of documents (found {short_repr(documents)})"
        )
    return query_id, [doc_id for doc_id, _ in documents], [_number(value, column) for _, value in documents]


def read_document_lists(kind: Kind, entry: tuple[str, Any], line: int) -> List:
    """Read a query that has a list of documents."""
    query_id, items = entry
    key = "retrieved" if kind == "run" else "relevant_docs"
    _, ids, numbers = read_list(kind, {"query_id": query_id, key: items}, line)
    return query_id, ids, numbers


def read_graded_list(kind: Kind, entry: tuple[str, Any], _: int) -> List:
    """Read a query that has the grades of its ranked documents, None where one is not judged."""
    query_id, grades = entry
    ids = [f"d{place}" for place in range(1, len(grades) + 1)]
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
    """Return how the queries of one JSON object can be read: each has an object, or each has a list."""
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
    """Return whether lists hold grades, and not ids; raise ValueError where integers may be both."""
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
"""Integers above it are ids of documents."""

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
            f"{each.format().with_article} ({each.format().shape})"
            for each in PLAIN_FORMATS.values()
            if each.kind == kind
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
"""What is known of each layout, for messages."""
KNOWN[Layout.ARRAY] = KNOWN[Layout.JSON_LINES]
