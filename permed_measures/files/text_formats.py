"""The known text formats: how each is recognised, and how an entry of it is read."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from permed_measures.engine.inputs import number, string_id
from permed_measures.errors import shown
from permed_measures.files.formats import NO_RANK, Format, Header, Layout, Number, Parse

BLANKS = " \t\v\f\r"
_BETWEEN = re.compile(f"[{BLANKS}]+")

Row = tuple[str, str, Number, int]
List = tuple[str, list[tuple[str, Number]]]


def columns_of(text: str) -> list[str]:
    """Split a line at blanks and tabs, and at no other character."""
    plain = text.replace("\t", " ")
    return plain.split() if plain.isprintable() else _BETWEEN.split(text)


def _row_order(parse: Parse) -> Parse:
    """Return how qrels with a document per entry are read as a run: the order counts, not the relevance."""

    def parsed(entry: Any, line: int) -> Row:
        query_id, doc_id, *_ = parse(entry, line)
        return query_id, doc_id, None, NO_RANK

    return parsed


def _list_order(parse: Parse) -> Parse:
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


def _json_score(value: Any) -> float:
    return value if type(value) is float and value == value else float(_json_number(value, "score"))


def _json_relevance(value: Any) -> float | int:
    return value if type(value) is int and -100 < value < 100 else _json_number(value, "relevance")


def _json_number(value: Any, name: str) -> float | int:
    if isinstance(value, bool):
        raise ValueError(f"a {name} must be a number (found {value!r})")
    return number(value, name, where="")


def _rank(text: str) -> int:
    """Return the number in a column of ranks; NO_RANK if it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else NO_RANK


# --- columns and tables ------------------------------------------------------------------------------


def _trec_qrels(columns: list[str], _: int) -> Row:
    _check_columns(columns, len(columns) == 4)
    query_id, _iteration, doc_id, relevance = columns
    return query_id, doc_id, _grade(relevance), NO_RANK


def _trec_run(columns: list[str], _: int) -> Row:
    _check_columns(columns, len(columns) > 5)  # trec_eval too ignores what follows the sixth
    query_id, _q0, doc_id, rank, score = columns[:5]
    return query_id, doc_id, _score(score), _rank(rank)


def _ms_marco(columns: list[str], _: int) -> Row:
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


def _table_qrels(row: dict[str, str], _: int) -> Row:
    return row["query_id"], row["doc_id"], _grade(row["relevance"]), NO_RANK


def _table_qrels_as_run(row: dict[str, str], _: int) -> Row:
    if _grade(row["relevance"]) % 1:
        problem = "the relevance must be an integer where qrels are read as a run"
        raise ValueError(f"{problem} (found {shown(row['relevance'])}; are these scores?)")
    return row["query_id"], row["doc_id"], None, NO_RANK


def _table_run(row: dict[str, str], _: int) -> Row:
    return row["query_id"], row["doc_id"], _score(row["score"]), _rank(row.get("rank", ""))


def _table_ranks(row: dict[str, str], _: int) -> Row:
    return row["query_id"], row["doc_id"], _score_of_rank(row["rank"]), _rank(row["rank"])


# --- JSON --------------------------------------------------------------------------------------------


def _text(value: Any) -> str:
    """Return an id as text; the two types that ids have are told at once."""
    kind = type(value)
    return value if kind is str else str(value) if kind is int else string_id(value)


def _medcorpus(content: dict[str, Any], _: int) -> Row:
    return _turn(content), _text(content["doc_id"]), _json_relevance(content["rel"]), NO_RANK


def _turn(content: dict[str, Any]) -> str:
    return f"{_text(content['conversation_id'])}_{_text(content['turn_id'])}"


def _named(content: dict[str, Any], _: int) -> str:
    return _text(content["query_id"])


def _named_or_numbered(content: dict[str, Any], line: int) -> str:
    """Return the id of a query, or without one the number of its line."""
    if "query_id" in content:
        return _text(content["query_id"])
    return _line_number(line)


def _line_number(line: int) -> str:
    if not line:
        raise ValueError("no query_id, and an empty line above (line numbers are the query ids)")
    return str(line)


def _listed(
    key: str, grade: int | None, query_id: Callable[[dict[str, Any], int], str] = _named_or_numbered
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


_LEVELS = {"highly_relevant": 2, "relevant": 1, "not_relevant": 0}


def _levels(content: dict[str, Any], _: int) -> List:
    documents = [
        each for key, grade in _LEVELS.items() if key in content for each in _ids(content, key, grade)
    ]
    return _text(content["query_id"]), documents


def _relevance_list(content: dict[str, Any], _: int) -> List:
    """Name the documents of a list by their positions; one without a grade is not judged."""
    grades = [grade if grade is None else _json_relevance(grade) for grade in _list(content, "relevance")]
    return _text(content["query_id"]), [(f"d{position}", grade) for position, grade in enumerate(grades, 1)]


def _judged_list(content: dict[str, Any], line: int) -> List:
    query_id, documents = _relevance_list(content, line)
    return query_id, [(doc_id, grade) for doc_id, grade in documents if grade is not None]


def _relevance_row(columns: list[str], line: int) -> List:
    return _line_number(line), [(f"d{rank}", _grade(text)) for rank, text in enumerate(columns, 1)]


def _permed_results(content: dict[str, Any], _: int) -> List:
    key = "ranked_results" if "ranked_results" in content else "results"
    return _text(content["query_id"]), list(map(_result, _list(content, key)))


def _result(item: Any) -> tuple[str, float | None]:
    if not isinstance(item, dict):
        return _text(item), None
    score = item.get("score")
    return _text(item["text_id"]), None if score is None else _json_score(score)


def _json_query(read: Callable[[Any], Number]) -> Parse:
    """Return how a query is read that has its documents as a tuple of pairs."""

    def parse(entry: tuple[str, Any], _: int) -> List:
        query_id, documents = entry
        if not isinstance(documents, tuple):
            raise ValueError(f"query {shown(query_id)} must have an object of documents")
        return query_id, [(doc_id, read(value)) for doc_id, value in documents]

    return parse


# --- how each is recognised --------------------------------------------------------------------------


def _is_relevance_row(text: str) -> bool:
    """Return whether a line has nothing but grades, and so many that it is no line of TREC or MS MARCO."""
    columns = columns_of(text)
    is_other = len(columns) in (0, 1, 4, 6) or (len(columns) == 3 and "\t" in text)
    return not is_other and all(re.fullmatch("-?[0-9]", column) for column in columns)


def _has(*keys: str) -> Callable[[dict[str, Any]], bool]:
    return lambda first: set(keys) <= first.keys()


def _is_table(*columns: str, beir: bool = False) -> Callable[[Header], bool]:
    return lambda header: header.has(*columns) and header.is_beir == beir


RANKS_ONLY = "there are no scores: documents are ranked by the column rank"

TEXT_FORMATS = (
    Format(
        "MedCorpus labels",
        Layout.JSON_LINES,
        "qrels",
        '{"conversation_id": ..., "turn_id": ..., "doc_id": ..., "rel": ...}',
        _has("conversation_id", "turn_id", "doc_id", "rel"),
        as_qrels=_medcorpus,
        as_run=_row_order(_medcorpus),
    ),
    Format(
        "PerMed ground truth or LitSearch labels",
        Layout.JSON_LINES,
        "qrels",
        '{"query_id": ..., "relevant_texts": [ids]}',
        _has("query_id", "relevant_texts"),
        as_qrels=_listed("relevant_texts", 1, _named),
        as_run=_list_order(_listed("relevant_texts", 1, _named)),
        lists=True,
    ),
    Format(
        "relevant documents by level",
        Layout.JSON_LINES,
        "qrels",
        '{"query_id": ..., "highly_relevant": [ids], "relevant": [ids]}',
        lambda first: "query_id" in first and not _LEVELS.keys().isdisjoint(first),
        as_qrels=_levels,
        lists=True,
    ),
    Format(
        "relevance lists",
        Layout.JSON_LINES,
        "qrels",
        '{"query_id": ..., "relevance": [grades in the order of the ranking]}',
        _has("query_id", "relevance"),
        as_qrels=_judged_list,
        as_run=_list_order(_relevance_list),
        lists=True,
    ),
    Format(
        "PerMed results",
        Layout.JSON_LINES,
        "run",
        '{"query_id": ..., "ranked_results" or "results": [{"text_id": ..., "score": ...}]}',
        lambda first: "query_id" in first and ("ranked_results" in first or "results" in first),
        as_run=_permed_results,
        lists=True,
    ),
    Format(
        "LitSearch results",
        Layout.JSON_LINES,
        "run",
        '{"query_id": ..., "query": ..., "corpusids": [ids], "retrieved": [ids]}',
        _has("retrieved"),
        as_qrels=_listed("corpusids", 1),
        as_run=_listed("retrieved", None),
        lists=True,
        qrels_key="corpusids",
        before_reranking=_listed("pre_reranked", None),
    ),
    Format(
        "TREC qrels",
        Layout.COLUMNS,
        "qrels",
        "query iteration document relevance",
        lambda text: len(columns_of(text)) == 4,
        as_qrels=_trec_qrels,
        as_run=_row_order(_trec_qrels),
    ),
    Format(
        "TREC run",
        Layout.COLUMNS,
        "run",
        "query Q0 document rank score tag",
        lambda text: len(columns_of(text)) >= 6 and not _is_relevance_row(text),
        as_run=_trec_run,
        columns=("query_id", "q0", "doc_id", "rank", "score", "tag"),
    ),
    Format(
        "MS MARCO run",
        Layout.COLUMNS,
        "run",
        "query document rank, with tabs between",
        lambda text: bool(re.fullmatch("[^\t]+\t[^\t]+\t[0-9]+", text)) and len(columns_of(text)) == 3,
        as_run=_ms_marco,
        columns=("query_id", "doc_id", "rank"),
    ),
    Format(
        "relevance lists",
        Layout.COLUMNS,
        "qrels",
        "grades in the order of the ranking",
        _is_relevance_row,
        as_qrels=_relevance_row,
        as_run=_list_order(_relevance_row),
        lists=True,
    ),
    Format(
        "BEIR qrels",
        Layout.TABLE,
        "qrels",
        "query-id, corpus-id, score under a header",
        _is_table("relevance", beir=True),
        as_qrels=_table_qrels,
        as_run=_table_qrels_as_run,
    ),
    Format(
        "CSV or TSV qrels",
        Layout.TABLE,
        "qrels",
        "query_id, doc_id, relevance (or qid, docno, label) under a header",
        _is_table("relevance"),
        as_qrels=_table_qrels,
        as_run=_table_qrels_as_run,
    ),
    Format(
        "CSV or TSV run",
        Layout.TABLE,
        "run",
        "query_id, doc_id, score (or qid, docno, score) under a header",
        _is_table("score"),
        as_run=_table_run,
    ),
    Format(
        "CSV or TSV run",
        Layout.TABLE,
        "run",
        "query_id, doc_id, rank under a header",
        lambda header: header.has_ranks_only,
        as_run=_table_ranks,
        note=RANKS_ONLY,
    ),
    Format(
        "BEIR or MTEB JSON",
        Layout.JSON,
        "run",
        "{query_id: {doc_id: number}}",
        lambda _: True,
        as_qrels=_json_query(_json_relevance),
        as_run=_json_query(_json_score),
    ),
)
"""The text formats, recognised by the first line that is neither empty nor a comment.

If several fit, one of the kind that is asked for is taken before one that can be read as it, and of several
such the first.
"""
