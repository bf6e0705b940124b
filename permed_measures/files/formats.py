"""The file formats that are known: how each is recognised, and what a line of it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from permed_measures.engine.inputs import BEIR_COLUMNS, COLUMNS, number, text_id

__all__ = ["FORMATS", "Document", "Format", "Header", "Kind", "Line", "Pairs", "Said"]


class Kind(Enum):
    """How a text file is divided into what a format reads."""

    JSON_LINES = "a JSON object per line"
    COLUMNS = "columns divided by white space"
    TABLE = "columns divided by commas, tabs or semicolons, under a header"
    JSON = "one JSON object"


class Line(NamedTuple):
    """A line to be read: the part of a file that says something of one query.

    Attributes
    ----------
    content : dict, list of str or tuple
        The JSON object, the columns, the row of a table by its header, or an entry of a JSON file.
    row : int
        Which line it is, from 0.
    wanted : {'qrels', 'run'}
        What the file is read as.
    place : int
        How many lines before say something.
    """

    content: Any
    row: int
    wanted: str
    place: int = 0


class Header(tuple[str, ...]):
    """The names of the columns of a table, with which a file begins.

    Attributes
    ----------
    delimiter : str
        What stands between the columns.
    """

    delimiter = ","

    @property
    def places(self) -> dict[str, int]:
        """Where our columns are; none that is missing, or there twice."""
        if self.is_beir:
            names = BEIR_COLUMNS.items()
        else:
            names = {
                ours: name for ours in COLUMNS for name in reversed(COLUMNS[ours]) if name in self
            }.items()
        return {ours: self.index(name) for ours, name in names if self.count(name) == 1}

    @property
    def is_beir(self) -> bool:
        """Whether these are the columns of BEIR's qrels."""
        return set(BEIR_COLUMNS.values()) <= set(self)

    def has(self, *ours: str) -> bool:
        """Return whether these columns are there."""
        return set(ours) <= self.places.keys()


class Document(dict[str, Any]):
    """A JSON file as a whole; empty if it does not end on its first line."""


class Pairs(list[tuple[str, Any]]):
    """A JSON object as pairs, so that a key that stands twice is not lost."""


class Said(NamedTuple):
    """What one line says: documents of a query, with their numbers (None: the list has no scores)."""

    query_id: str
    documents: list[tuple[str, float | int | None]]


@dataclass(frozen=True)
class Format:
    """A file format.

    Attributes
    ----------
    name : str
        What messages call it.
    kind : Kind
        How the file is divided.
    holds : {'qrels', 'run'}
        What it says; a format that `doubles` can be read as the other too.
    shape : str
        What a line looks like, for messages.
    recognise : callable
        Whether the first line (a JSON object, a list of columns, a Header or a Document) is of this format.
    read : callable
        Returns what a line says; raises KeyError, TypeError or ValueError if it cannot.
    lists : bool
        A line holds the whole list of its query, best first.
    doubles : bool
        Labels whose order is a run, or a run that lists the relevant documents.
    """

    name: str
    kind: Kind
    holds: str
    shape: str
    recognise: Callable[[Any], bool]
    read: Callable[[Line], Said]
    lists: bool = False
    doubles: bool = False

    def can_be(self, wanted: str) -> bool:
        """Return whether the file can be read as qrels, or as a run."""
        return self.holds == wanted or self.doubles

    @property
    def whole(self) -> bool:
        """Whether all that is said of a query stands in one place."""
        return self.lists or self.kind is Kind.JSON


# --- what a line of each format says ---------------------------------------------------------------


def _read_trec_qrels(line: Line) -> Said:
    query_id, _, doc_id, relevance = line.content
    return Said(query_id, [(doc_id, _parse_number(relevance, "relevance"))])


def _read_trec_run(line: Line) -> Said:
    query_id, _, doc_id, _, score, _, *_ = line.content  # trec_eval too ignores what follows the sixth column
    return Said(query_id, [(doc_id, _parse_number(score, "score", (float,)))])


def _parse_number(text: str, what: str, kinds: tuple[type[float], ...] = (int, float)) -> float | int:
    if "_" in text:  # Python would read 1_0 as 10
        raise ValueError(f"a {what} must be a number (found {text!r})")
    for kind in kinds:
        try:
            return number(kind(text), what, place="")
        except ValueError:
            continue
    raise ValueError(f"a {what} must be a number (found {text!r})")


def _read_medcorpus(line: Line) -> Said:
    query_id = f"{text_id(line.content['conversation_id'])}_{text_id(line.content['turn_id'])}"
    relevance = _json_number(line.content["rel"], "relevance") if line.wanted == "qrels" else None
    return Said(query_id, [(text_id(line.content["doc_id"]), relevance)])


def _read_ground_truth(line: Line) -> Said:
    return Said(
        text_id(line.content["query_id"]),
        [(text_id(doc_id), 1) for doc_id in _list(line.content, "relevant_texts")],
    )


def _read_permed_results(line: Line) -> Said:
    key = "ranked_results" if "ranked_results" in line.content else "results"
    return Said(text_id(line.content["query_id"]), [_result(item) for item in _list(line.content, key)])


def _result(item: Any) -> tuple[str, float | None]:
    if not isinstance(item, dict):
        return text_id(item), None
    score = item.get("score")
    return text_id(item["text_id"]), None if score is None else float(_json_number(score, "score"))


def _read_litsearch(line: Line) -> Said:
    if "query_id" not in line.content and line.row != line.place:
        raise ValueError("an empty line before, where the number of the line is the query id")
    query_id = text_id(line.content.get("query_id", line.row + 1))
    key, value = ("corpusids", 1) if line.wanted == "qrels" else ("retrieved", None)
    return Said(query_id, [(text_id(doc_id), value) for doc_id in _list(line.content, key)])


def _read_table_row(line: Line) -> Said:
    """Read a row, which is a dict by our names of the columns."""
    what = "relevance" if line.wanted == "qrels" else "score"
    kinds = (int, float) if line.wanted == "qrels" else (float,)
    row = line.content
    return Said(row["query_id"], [(row["doc_id"], _parse_number(row[what], what, kinds))])


def _read_json_entry(line: Line) -> Said:
    query_id, documents = line.content
    if not isinstance(documents, Pairs):
        raise ValueError(f"query {query_id!r} must have an object of documents")
    if line.wanted == "run":
        return Said(query_id, [(doc_id, float(_json_number(score, "score"))) for doc_id, score in documents])
    return Said(query_id, [(doc_id, _json_grade(grade)) for doc_id, grade in documents])


def _json_grade(value: Any) -> float | int:
    """Return an integer: a file of scores that is given as qrels by mistake looks the same otherwise."""
    grade = _json_number(value, "relevance")
    if grade != int(grade):
        raise ValueError(
            f"the relevance in a JSON file must be an integer (found {value!r}: is this a run? "
            "Grades that are no integers can be given as TREC, CSV or Parquet)"
        )
    return grade


def _json_number(value: Any, what: str) -> float | int:
    if isinstance(value, bool):
        raise ValueError(f"a {what} must be a number (found {value!r})")
    return number(value, what, place="")


def _list(content: dict[str, Any], key: str) -> list[Any]:
    items = content[key]
    if not isinstance(items, list):
        raise ValueError(f"{key} must be a list (found {items!r:.60})")
    return items


def _has(*keys: str) -> Callable[[Any], bool]:
    return lambda first: (
        isinstance(first, dict) and not isinstance(first, Document) and set(keys) <= first.keys()
    )


def _is_table(value: str, beir: bool = False) -> Callable[[Any], bool]:
    return lambda first: isinstance(first, Header) and first.has(value) and first.is_beir == beir


def _is_columns(first: Any, wanted: Callable[[int], bool]) -> bool:
    return isinstance(first, list) and wanted(len(first))


FORMATS = (
    Format(
        "MedCorpus labels",
        Kind.JSON_LINES,
        "qrels",
        '{"conversation_id": ..., "turn_id": ..., "doc_id": ..., "rel": ...}',
        _has("conversation_id", "turn_id", "doc_id", "rel"),
        _read_medcorpus,
        doubles=True,
    ),
    Format(
        "PerMed ground truth or LitSearch labels",
        Kind.JSON_LINES,
        "qrels",
        '{"query_id": ..., "relevant_texts": [ids]}',
        _has("query_id", "relevant_texts"),
        _read_ground_truth,
        lists=True,
    ),
    Format(
        "PerMed results",
        Kind.JSON_LINES,
        "run",
        '{"query_id": ..., "ranked_results" or "results": [{"text_id": ..., "score": ...}]}',
        lambda first: _has("query_id", "ranked_results")(first) or _has("query_id", "results")(first),
        _read_permed_results,
        lists=True,
    ),
    Format(
        "LitSearch results",
        Kind.JSON_LINES,
        "run",
        '{"query_id": ..., "query": ..., "corpusids": [ids], "retrieved": [ids]}',
        _has("retrieved"),
        _read_litsearch,
        lists=True,
        doubles=True,
    ),
    Format(
        "TREC qrels",
        Kind.COLUMNS,
        "qrels",
        "query iteration document relevance",
        lambda first: _is_columns(first, lambda n: n == 4),
        _read_trec_qrels,
    ),
    Format(
        "TREC run",
        Kind.COLUMNS,
        "run",
        "query Q0 document rank score tag",
        lambda first: _is_columns(first, lambda n: n >= 6),
        _read_trec_run,
    ),
    Format(
        "BEIR qrels",
        Kind.TABLE,
        "qrels",
        "query-id, corpus-id, score under a header",
        _is_table("relevance", beir=True),
        _read_table_row,
    ),
    Format(
        "CSV or TSV qrels",
        Kind.TABLE,
        "qrels",
        "query_id, doc_id, relevance (or qid, docno, label) under a header",
        _is_table("relevance"),
        _read_table_row,
    ),
    Format(
        "CSV or TSV run",
        Kind.TABLE,
        "run",
        "query_id, doc_id, score (or qid, docno, score) under a header",
        _is_table("score"),
        _read_table_row,
    ),
    Format(
        "BEIR or MTEB JSON",
        Kind.JSON,
        "run",
        "{query_id: {doc_id: number}}",
        lambda first: isinstance(first, Document),
        _read_json_entry,
        doubles=True,
    ),
)
"""The text formats that are told apart, by the first line that says something.

Of two that recognise it, the one that holds what is wanted counts, and of two of these the first.
"""
