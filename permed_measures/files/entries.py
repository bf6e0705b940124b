"""How an entry of each text format is read: a JSON object, columns, or the row of a table."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import chain, compress
from typing import Any

from permed_measures.engine.inputs import number, string_id
from permed_measures.errors import shown

Number = float | int | None
"""A relevance or score; None where a list has no scores, and for a document of a list that is not judged."""
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


def columns_of(text: str) -> list[str]:
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


def _rank(text: str) -> int:
    """Return the number in a column of ranks; NO_RANK if it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else NO_RANK


def _score_of_rank(rank: str) -> float:
    if not (rank.isascii() and rank.isdigit()):
        raise ValueError(f"a rank must be a whole number (found {shown(rank)})")
    return -float(rank)


def _uneven(columns: list[str]) -> ValueError:
    return ValueError(f"{len(columns)} columns")


def trec_qrels(columns: list[str], _: int) -> Row:
    """Read query, iteration, document and relevance."""
    if len(columns) != 4:
        raise _uneven(columns)
    query_id, _iteration, doc_id, relevance = columns
    return query_id, doc_id, _grade(relevance), NO_RANK


def trec_run(columns: list[str], _: int) -> Row:
    """Read query, Q0, document, rank, score and tag; the rank may be any text."""
    if len(columns) < 6:  # trec_eval too ignores what follows the sixth
        raise _uneven(columns)
    query_id, _q0, doc_id, rank, score = columns[:5]
    return query_id, doc_id, _score(score), _rank(rank)


def ms_marco(columns: list[str], _: int) -> Row:
    """Read query, document and rank."""
    if len(columns) != 3:
        raise _uneven(columns)
    query_id, doc_id, rank = columns
    return query_id, doc_id, _score_of_rank(rank), _rank(rank)


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


def _json_number(value: Any, name: str) -> float | int:
    """Return a number of a JSON file; not NaN, nor a text or a truth value."""
    if isinstance(value, bool):
        raise ValueError(f"a {name} must be a number (found {value!r})")
    return number(value, name, where="")


def _json_score(value: Any) -> float:
    return value if type(value) is float and value == value else float(_json_number(value, "score"))


def _json_grade(value: Any) -> float | int:
    return value if type(value) is int and -100 < value < 100 else _json_number(value, "relevance")


def medcorpus(content: dict[str, Any], _: int) -> Row:
    """Read a label of MedCorpus: the query is conversation and turn."""
    conversation, turn, doc_id = content["conversation_id"], content["turn_id"], content["doc_id"]
    grade = content["rel"]
    is_usual = type(conversation) is type(doc_id) is str and type(turn) is type(grade) is int
    if not is_usual or not -100 < grade < 100:  # what is usual is told at once
        conversation, turn, doc_id = _text(conversation), _text(turn), _text(doc_id)
        grade = _json_grade(grade)
    return f"{conversation}_{turn}", doc_id, grade, NO_RANK


def _line_number(line: int) -> str:
    if not line:
        raise ValueError("no query_id, and an empty line above (line numbers are the query ids)")
    return str(line)


def listed(key: str, grade: int | None, numbered: bool = True) -> Parse:
    """Return how a list of ids is read: as relevant documents, or without a grade as a ranking.

    If it is `numbered`, a query without an id has the number of its line.
    """

    def parse(content: dict[str, Any], line: int) -> List:
        by_line = numbered and "query_id" not in content
        query_id = _line_number(line) if by_line else _text(content["query_id"])
        ids = _texts(list_of(content, key))
        return query_id, ids, [grade] * len(ids)

    return parse


def _texts(ids: list[Any]) -> list[str]:
    """Return ids as texts; where all are of the types that ids have, that is told at once."""
    kinds = set(map(type, ids))
    return ids if kinds == {str} else list(map(str if kinds == {int} else _text, ids))


def list_of(content: dict[str, Any], key: str) -> list[Any]:
    """Return a list that stands in an object."""
    items = content[key]
    if not isinstance(items, list):
        raise ValueError(f"{key} must be a list (found {shown(items)})")
    return items


LEVELS = {"highly_relevant": 2, "relevant": 1, "not_relevant": 0}


def levels(content: dict[str, Any], _: int) -> List:
    """Read lists of documents by level."""
    lists = {grade: _texts(list_of(content, key)) for key, grade in LEVELS.items() if key in content}
    grades = [grade for grade, ids in lists.items() for _ in ids]
    return _text(content["query_id"]), list(chain.from_iterable(lists.values())), grades


def relevance_list(content: dict[str, Any], _: int) -> List:
    """Name the documents of a list by their positions; one without a grade is not judged."""
    grades = list_of(content, "relevance")
    checked = [grade if grade is None else _json_grade(grade) for grade in grades]
    return _text(content["query_id"]), _positions(checked), checked


def judged_list(content: dict[str, Any], line: int) -> List:
    """Read the documents of a list that are judged."""
    query_id, ids, grades = relevance_list(content, line)
    is_judged = [grade is not None for grade in grades]
    return query_id, list(compress(ids, is_judged)), list(compress(grades, is_judged))


def relevance_row(columns: list[str], line: int) -> List:
    """Read the grades of a line, whose number is the query."""
    return _line_number(line), _positions(columns), list(map(_grade, columns))


def _positions(grades: list[Any]) -> list[str]:
    return [f"d{position}" for position in range(1, len(grades) + 1)]


def permed_results(content: dict[str, Any], _: int) -> List:
    """Read ranked documents, as ids or as objects that may have a score."""
    items = list_of(content, "ranked_results" if "ranked_results" in content else "results")
    query_id = _text(content["query_id"])
    if set(map(type, items)) == {dict}:  # as in most files: ids that are texts, scores that are floats
        ids, scores = ([item.get(key) for item in items] for key in ("text_id", "score"))
        are_usual = set(map(type, ids)) == {str} and set(map(type, scores)) == {float}
        if are_usual and not any(map(math.isnan, scores)):
            return query_id, ids, scores
    results = list(map(_result, items))
    return query_id, [doc_id for doc_id, _ in results], [score for _, score in results]


def _result(item: Any) -> tuple[str, float | None]:
    if type(item) is not dict:
        return _text(item), None
    score = item.get("score")
    return _text(item["text_id"]), None if score is None else _json_score(score)


def json_scores(entry: tuple[str, Any], _: int) -> List:
    """Read a query that has its documents as a tuple of pairs, with scores."""
    return entry[0], [doc_id for doc_id, _ in _pairs(entry)], [_json_score(each) for _, each in entry[1]]


def json_grades(entry: tuple[str, Any], _: int) -> List:
    """Read a query that has its documents as a tuple of pairs, with grades."""
    return entry[0], [doc_id for doc_id, _ in _pairs(entry)], [_json_grade(each) for _, each in entry[1]]


def _pairs(entry: tuple[str, Any]) -> tuple[tuple[str, Any], ...]:
    query_id, documents = entry
    if not isinstance(documents, tuple):
        raise ValueError(f"query {shown(query_id)} must have an object of documents")
    return documents
