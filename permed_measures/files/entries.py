"""How an entry of each text format is read: a JSON object, columns, or the row of a table."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from permed_measures.engine.inputs import number, string_id
from permed_measures.errors import shown
from permed_measures.files.formats import NO_RANK, Number, Parse

BLANKS = " \t\v\f\r"
_BETWEEN = re.compile(f"[{BLANKS}]+")

Row = tuple[str, str, Number, int]
List = tuple[str, list[tuple[str, Number]]]


def columns_of(text: str) -> list[str]:
    """Split a line at blanks and tabs, and at no other character."""
    plain = text.replace("\t", " ")
    return plain.split() if plain.isprintable() else _BETWEEN.split(text)


def row_order(parse: Parse) -> Parse:
    """Return how qrels with a document per entry are read as a run: the order counts, not the relevance."""

    def parsed(entry: Any, line: int) -> Row:
        query_id, doc_id, *_ = parse(entry, line)
        return query_id, doc_id, None, NO_RANK

    return parsed


def list_order(parse: Parse) -> Parse:
    """Return how qrels with all documents of a query in an entry are read as a run."""

    def parsed(entry: Any, line: int) -> List:
        query_id, documents = parse(entry, line)
        return query_id, [(doc_id, None) for doc_id, _ in documents]

    return parsed


# --- numbers -----------------------------------------------------------------------------------------


def _score(text: str) -> float:
    """Return the score that a text is; not NaN, nor 1_0, which Python reads as 10."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if value != value or "_" in text:
        raise ValueError(f"a score must be a number (found {shown(text)})")
    return value


_GRADES = {str(grade): grade for grade in range(-100, 101)}


def _grade(text: str) -> float | int:
    """Return the relevance that a text is, an integer if it is written as one."""
    if text in _GRADES:
        return _GRADES[text]
    for type_ in () if "_" in text else (int, float):
        try:
            return number(type_(text), "relevance", where="")
        except ValueError:
            continue
    raise ValueError(f"a relevance must be a number (found {shown(text)})")


def json_score(value: Any) -> float:
    """Return a score of a JSON file; not NaN, nor a text or a truth value."""
    return value if type(value) is float and value == value else float(_json_number(value, "score"))


def json_relevance(value: Any) -> float | int:
    """Return a relevance of a JSON file, finite and neither a text nor a truth value."""
    return value if type(value) is int and -100 < value < 100 else _json_number(value, "relevance")


def _json_number(value: Any, name: str) -> float | int:
    if isinstance(value, bool):
        raise ValueError(f"a {name} must be a number (found {value!r})")
    return number(value, name, where="")


def _rank(text: str) -> int:
    """Return the number in a column of ranks; NO_RANK if it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else NO_RANK


# --- columns and tables ------------------------------------------------------------------------------


def trec_qrels(columns: list[str], _: int) -> Row:
    """Read query, iteration, document and relevance."""
    _check_columns(columns, len(columns) == 4)
    query_id, _iteration, doc_id, relevance = columns
    return query_id, doc_id, _grade(relevance), NO_RANK


def trec_run(columns: list[str], _: int) -> Row:
    """Read query, Q0, document, rank, score and tag; the rank may be any text."""
    _check_columns(columns, len(columns) > 5)  # trec_eval too ignores what follows the sixth
    query_id, _q0, doc_id, rank, score = columns[:5]
    return query_id, doc_id, _score(score), _rank(rank)


def ms_marco(columns: list[str], _: int) -> Row:
    """Read query, document and rank."""
    _check_columns(columns, len(columns) == 3)
    query_id, doc_id, rank = columns
    return query_id, doc_id, _score_of_rank(rank), _rank(rank)


def _score_of_rank(rank: str) -> float:
    if not (rank.isascii() and rank.isdigit()):
        raise ValueError(f"a rank must be a whole number (found {shown(rank)})")
    return -float(rank)


def _check_columns(columns: list[str], fits: bool) -> None:
    if not fits:
        raise ValueError(f"{len(columns)} columns")


def table_qrels(row: dict[str, str], _: int) -> Row:
    """Read a row with a relevance."""
    return row["query_id"], row["doc_id"], _grade(row["relevance"]), NO_RANK


def table_qrels_as_run(row: dict[str, str], _: int) -> Row:
    """Read a row of qrels of which the order counts; a fraction looks like a score, and is refused."""
    if _grade(row["relevance"]) % 1:
        problem = "the relevance must be an integer where qrels are read as a run"
        raise ValueError(f"{problem} (found {shown(row['relevance'])}; are these scores?)")
    return row["query_id"], row["doc_id"], None, NO_RANK


def table_run(row: dict[str, str], _: int) -> Row:
    """Read a row with a score, and perhaps a rank."""
    return row["query_id"], row["doc_id"], _score(row["score"]), _rank(row.get("rank", ""))


def table_ranks(row: dict[str, str], _: int) -> Row:
    """Read a row with a rank and no score."""
    return row["query_id"], row["doc_id"], _score_of_rank(row["rank"]), _rank(row["rank"])


# --- JSON --------------------------------------------------------------------------------------------


def _text(value: Any) -> str:
    """Return an id as text; the two types that ids have are told at once."""
    kind = type(value)
    return value if kind is str else str(value) if kind is int else string_id(value)


def medcorpus(content: dict[str, Any], _: int) -> Row:
    """Read a label of MedCorpus: the query is conversation and turn."""
    return _turn(content), _text(content["doc_id"]), json_relevance(content["rel"]), NO_RANK


def _turn(content: dict[str, Any]) -> str:
    return f"{_text(content['conversation_id'])}_{_text(content['turn_id'])}"


def query_id_of(content: dict[str, Any], _: int) -> str:
    """Return the id of a query."""
    return _text(content["query_id"])


def _query_id_or_line(content: dict[str, Any], line: int) -> str:
    """Return the id of a query, or without one the number of its line."""
    if "query_id" in content:
        return _text(content["query_id"])
    return _line_number(line)


def _line_number(line: int) -> str:
    if not line:
        raise ValueError("no query_id, and an empty line above (line numbers are the query ids)")
    return str(line)


def listed(
    key: str, grade: int | None, query_id: Callable[[dict[str, Any], int], str] = _query_id_or_line
) -> Parse:
    """Return how a list of ids is read: as relevant documents, or without a grade as a ranking."""

    def parse(content: dict[str, Any], line: int) -> List:
        return query_id(content, line), _ids(content, key, grade)

    return parse


def _ids(content: dict[str, Any], key: str, grade: int | None) -> list[tuple[str, Number]]:
    return [(_text(doc_id), grade) for doc_id in _list(content, key)]


def _list(content: dict[str, Any], key: str) -> list[Any]:
    items = content[key]
    if not isinstance(items, list):
        raise ValueError(f"{key} must be a list (found {shown(items)})")
    return items


LEVELS = {"highly_relevant": 2, "relevant": 1, "not_relevant": 0}


def levels(content: dict[str, Any], _: int) -> List:
    """Read lists of documents by level."""
    documents = [
        each for key, grade in LEVELS.items() if key in content for each in _ids(content, key, grade)
    ]
    return _text(content["query_id"]), documents


def relevance_list(content: dict[str, Any], _: int) -> List:
    """Name the documents of a list by their positions; one without a grade is not judged."""
    grades = [grade if grade is None else json_relevance(grade) for grade in _list(content, "relevance")]
    return _text(content["query_id"]), [(f"d{position}", grade) for position, grade in enumerate(grades, 1)]


def judged_list(content: dict[str, Any], line: int) -> List:
    """Read the documents of a list that are judged."""
    query_id, documents = relevance_list(content, line)
    return query_id, [(doc_id, grade) for doc_id, grade in documents if grade is not None]


def relevance_row(columns: list[str], line: int) -> List:
    """Read the grades of a line, whose number is the query."""
    return _line_number(line), [(f"d{rank}", _grade(text)) for rank, text in enumerate(columns, 1)]


def permed_results(content: dict[str, Any], _: int) -> List:
    """Read ranked documents, as ids or as objects that may have a score."""
    key = "ranked_results" if "ranked_results" in content else "results"
    return _text(content["query_id"]), list(map(_result, _list(content, key)))


def _result(item: Any) -> tuple[str, float | None]:
    if not isinstance(item, dict):
        return _text(item), None
    score = item.get("score")
    return _text(item["text_id"]), None if score is None else json_score(score)


def json_query(read: Callable[[Any], Number]) -> Parse:
    """Return how a query is read that has its documents as a tuple of pairs."""

    def parse(entry: tuple[str, Any], _: int) -> List:
        query_id, documents = entry
        if not isinstance(documents, tuple):
            raise ValueError(f"query {shown(query_id)} must have an object of documents")
        return query_id, [(doc_id, read(value)) for doc_id, value in documents]

    return parse
