"""The file formats: how each is recognised, and how a line of it is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, Literal, NamedTuple

from permed_measures.engine.inputs import BEIR_COLUMNS, COLUMNS, number, text_id
from permed_measures.errors import shown

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


class Line(NamedTuple):
    """An entry of a file, to be read as qrels or as a run.

    Its content is a JSON object, columns, the row of a table as a dict, or an entry of a JSON file.
    """

    content: Any
    row: int  # the index of its line
    kind: Kind
    n_before: int  # entries before it


@dataclass(frozen=True)
class Header:
    """The column names at the top of a table, and the delimiter between them."""

    names: list[str]
    delimiter: str

    @cached_property
    def columns(self) -> dict[str, int]:
        """The positions of our columns, by our names; without those that are missing or there twice."""
        beir = {ours: (name,) for ours, name in BEIR_COLUMNS.items()}
        found = {}
        for ours, names in (beir if self.is_beir else COLUMNS).items():
            name = next((name for name in names if name in self.names), None)
            if name is not None and self.names.count(name) == 1:
                found[ours] = self.names.index(name)
        return found

    @property
    def is_beir(self) -> bool:
        """Whether these are the columns of BEIR qrels."""
        return set(BEIR_COLUMNS.values()) <= set(self.names)

    def has(self, *ours: str) -> bool:
        """Return whether the table has these of our columns."""
        return set(ours) <= self.columns.keys()


class ParsedLine(NamedTuple):
    """The documents of a query that a line lists, with their numbers (None: the list has no scores)."""

    query_id: str
    documents: list[tuple[str, float | int | None]]


@dataclass(frozen=True)
class Format:
    """A file format: how it is recognised, and how a line of it is read."""

    name: str
    layout: Layout
    kind: Kind  # what it holds
    shape: str  # what a line looks like, for messages
    fits: Callable[[Any], bool]  # whether the first line is such: a JSON object, columns or a Header
    read: Callable[[Line], ParsedLine]  # KeyError, TypeError or ValueError if it cannot parse the line
    lists: bool = False  # a line holds the whole list of its query, best first
    both_kinds: bool = False  # labels whose order is a run, or a run that lists the relevant documents

    @property
    def with_article(self) -> str:
        """The name within a sentence: a TREC run, TREC qrels."""
        return f"a {self.name}" if self.name.endswith("run") else self.name

    def can_be(self, kind: Kind) -> bool:
        """Return whether the file can be read as this kind."""
        return self.kind == kind or self.both_kinds


# --- how a line of each format is read ---------------------------------------------------------------


def _read_trec_qrels(line: Line) -> ParsedLine:
    query_id, _, doc_id, relevance = line.content
    return ParsedLine(query_id, [(doc_id, _parse_number(relevance, "qrels"))])


def _read_trec_run(line: Line) -> ParsedLine:
    query_id, _, doc_id, _, score, _, *_ = line.content  # trec_eval too ignores what follows the sixth column
    return ParsedLine(query_id, [(doc_id, _parse_number(score, "run"))])


def _parse_number(text: str, kind: Kind) -> float | int:
    name, types = VALUE_COLUMNS[kind], (int, float) if kind == "qrels" else (float,)
    if "_" not in text:  # Python would read 1_0 as 10
        for type_ in types:
            try:
                return number(type_(text), name, place="")
            except ValueError:
                continue
    raise ValueError(f"a {name} must be a number (found {shown(text)})")


def _read_medcorpus(line: Line) -> ParsedLine:
    query_id = f"{text_id(line.content['conversation_id'])}_{text_id(line.content['turn_id'])}"
    relevance = _json_number(line.content["rel"], "relevance") if line.kind == "qrels" else None
    return ParsedLine(query_id, [(text_id(line.content["doc_id"]), relevance)])


def _read_ground_truth(line: Line) -> ParsedLine:
    return ParsedLine(text_id(line.content["query_id"]), _listed(line.content, "relevant_texts", 1))


def _read_permed_results(line: Line) -> ParsedLine:
    key = "ranked_results" if "ranked_results" in line.content else "results"
    return ParsedLine(text_id(line.content["query_id"]), [_result(item) for item in _list(line.content, key)])


def _result(item: Any) -> tuple[str, float | None]:
    if not isinstance(item, dict):
        return text_id(item), None
    score = item.get("score")
    return text_id(item["text_id"]), None if score is None else _json_score(score)


def _read_litsearch(line: Line) -> ParsedLine:
    if "query_id" not in line.content and line.row != line.n_before:
        raise ValueError("no query_id, and an empty line above (line numbers are the query ids)")
    query_id = text_id(line.content.get("query_id", line.row + 1))
    key, value = ("corpusids", 1) if line.kind == "qrels" else ("retrieved", None)
    return ParsedLine(query_id, _listed(line.content, key, value))


def _listed(content: dict[str, Any], key: str, value: int | None) -> list[tuple[str, float | int | None]]:
    return [(text_id(doc_id), value) for doc_id in _list(content, key)]


def _read_table_row(line: Line) -> ParsedLine:
    value = _parse_number(line.content[VALUE_COLUMNS[line.kind]], line.kind)
    return ParsedLine(line.content["query_id"], [(line.content["doc_id"], value)])


def _read_json_entry(line: Line) -> ParsedLine:
    query_id, documents = line.content
    if not isinstance(documents, tuple):
        raise ValueError(f"query {shown(query_id)} must have an object of documents")
    parse = _json_score if line.kind == "run" else _json_grade
    return ParsedLine(query_id, [(doc_id, parse(value)) for doc_id, value in documents])


def _json_score(value: Any) -> float:
    return float(_json_number(value, "score"))


def _json_grade(value: Any) -> float | int:
    """Return an integer; without this check a run given as qrels by mistake would be read as such."""
    grade = _json_number(value, "relevance")
    if grade != int(grade):
        raise ValueError(
            f"the relevance in a JSON file must be an integer (found {shown(value)}; is this a "
            "run, or should the qrels be TREC, CSV or Parquet?)"
        )
    return grade


def _json_number(value: Any, name: str) -> float | int:
    if isinstance(value, bool):
        raise ValueError(f"a {name} must be a number (found {value!r})")
    return number(value, name, place="")


def _list(content: dict[str, Any], key: str) -> list[Any]:
    items = content[key]
    if not isinstance(items, list):
        raise ValueError(f"{key} must be a list (found {shown(items)})")
    return items


def _has(*keys: str) -> Callable[[dict[str, Any]], bool]:
    return lambda first: set(keys) <= first.keys()


def _is_table(value: str, beir: bool = False) -> Callable[[Header], bool]:
    return lambda header: header.has(value) and header.is_beir == beir


TEXT_FORMATS = (
    Format(
        "MedCorpus labels",
        Layout.JSON_LINES,
        "qrels",
        '{"conversation_id": ..., "turn_id": ..., "doc_id": ..., "rel": ...}',
        _has("conversation_id", "turn_id", "doc_id", "rel"),
        _read_medcorpus,
        both_kinds=True,
    ),
    Format(
        "PerMed ground truth or LitSearch labels",
        Layout.JSON_LINES,
        "qrels",
        '{"query_id": ..., "relevant_texts": [ids]}',
        _has("query_id", "relevant_texts"),
        _read_ground_truth,
        lists=True,
    ),
    Format(
        "PerMed results",
        Layout.JSON_LINES,
        "run",
        '{"query_id": ..., "ranked_results" or "results": [{"text_id": ..., "score": ...}]}',
        lambda first: "query_id" in first and ("ranked_results" in first or "results" in first),
        _read_permed_results,
        lists=True,
    ),
    Format(
        "LitSearch results",
        Layout.JSON_LINES,
        "run",
        '{"query_id": ..., "query": ..., "corpusids": [ids], "retrieved": [ids]}',
        _has("retrieved"),
        _read_litsearch,
        lists=True,
        both_kinds=True,
    ),
    Format(
        "TREC qrels",
        Layout.COLUMNS,
        "qrels",
        "query iteration document relevance",
        lambda columns: len(columns) == 4,
        _read_trec_qrels,
    ),
    Format(
        "TREC run",
        Layout.COLUMNS,
        "run",
        "query Q0 document rank score tag",
        lambda columns: len(columns) >= 6,
        _read_trec_run,
    ),
    Format(
        "BEIR qrels",
        Layout.TABLE,
        "qrels",
        "query-id, corpus-id, score under a header",
        _is_table("relevance", beir=True),
        _read_table_row,
    ),
    Format(
        "CSV or TSV qrels",
        Layout.TABLE,
        "qrels",
        "query_id, doc_id, relevance (or qid, docno, label) under a header",
        _is_table("relevance"),
        _read_table_row,
    ),
    Format(
        "CSV or TSV run",
        Layout.TABLE,
        "run",
        "query_id, doc_id, score (or qid, docno, score) under a header",
        _is_table("score"),
        _read_table_row,
    ),
    Format(
        "BEIR or MTEB JSON",
        Layout.JSON,
        "run",
        "{query_id: {doc_id: number}}",
        lambda _: True,
        _read_json_entry,
        both_kinds=True,
    ),
)
"""The text formats, recognised by the first line that is neither empty nor a comment.

If several fit, one of the kind that is asked for is taken, and of several such the first.
"""
