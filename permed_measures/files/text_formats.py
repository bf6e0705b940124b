"""The known text formats: how each is recognised, and how a line of it is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from permed_measures.engine.inputs import number, text_id
from permed_measures.errors import InputError, shown
from permed_measures.files.formats import (
    VALUE_COLUMNS,
    Documents,
    Format,
    Header,
    Kind,
    Layout,
    Line,
    ParsedLine,
)

BLANKS = " \t\v\f\r"
_BETWEEN = re.compile(f"[{BLANKS}]+")
_SEPARATORS = re.compile("[\x1c-\x1f]")  # which divide for str.split


def columns_of(text: str) -> list[str]:
    """Split a line at blanks and tabs, and at no other character."""
    plain = text.isascii() and not _SEPARATORS.search(text)
    return text.split() if plain else _BETWEEN.split(text)


# --- how a line of each format is read ---------------------------------------------------------------


def _read_trec_qrels(line: Line) -> ParsedLine:
    query_id, _, doc_id, relevance = line.content
    grade = _parse_number(relevance, "qrels")
    return ParsedLine(query_id, [(doc_id, grade if line.kind == "qrels" else None)])


def _read_trec_run(line: Line) -> ParsedLine:
    query_id, _, doc_id, rank, score, _, *_ = line.content  # trec_eval too ignores what follows the sixth
    return ParsedLine(query_id, [(doc_id, _parse_number(score, "run"))], rank)


def _read_ms_marco(line: Line) -> ParsedLine:
    query_id, doc_id, rank = line.content
    if not (rank.isascii() and rank.isdigit()):
        raise ValueError(f"a rank must be a whole number (found {shown(rank)})")
    return ParsedLine(query_id, [(doc_id, -_parse_number(rank, "run"))], rank)


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
    return ParsedLine(text_id(line.content["query_id"]), _listed(line, "relevant_texts", 1))


_LEVELS = {"highly_relevant": 2, "relevant": 1, "not_relevant": 0}


def _read_levels(line: Line) -> ParsedLine:
    documents = [each for key in _LEVELS if key in line.content for each in _listed(line, key, _LEVELS[key])]
    return ParsedLine(text_id(line.content["query_id"]), documents)


def _read_relevance_list(line: Line) -> ParsedLine:
    grades = _list(line, "relevance")
    numbers = [None if grade is None else _json_number(grade, "relevance") for grade in grades]
    return ParsedLine(text_id(line.content["query_id"]), _graded(line, numbers))


def _read_relevance_row(line: Line) -> ParsedLine:
    grades = [_parse_number(grade, "qrels") for grade in line.content]
    return ParsedLine(_line_number(line), _graded(line, grades))


def _graded(line: Line, grades: Iterable[float | int | None]) -> Documents:
    """Name the documents of a list by their positions; one without a grade is not judged."""
    named = [(f"d{position}", grade) for position, grade in enumerate(grades, start=1)]
    if line.kind == "run":
        return [(doc_id, None) for doc_id, _ in named]
    return [(doc_id, grade) for doc_id, grade in named if grade is not None]


def _read_permed_results(line: Line) -> ParsedLine:
    key = "ranked_results" if "ranked_results" in line.content else "results"
    return ParsedLine(text_id(line.content["query_id"]), [_result(item) for item in _list(line, key)])


def _result(item: Any) -> tuple[str, float | None]:
    if not isinstance(item, dict):
        return text_id(item), None
    score = item.get("score")
    return text_id(item["text_id"]), None if score is None else _json_score(score)


def _read_litsearch(line: Line) -> ParsedLine:
    query_id = text_id(line.content["query_id"]) if "query_id" in line.content else _line_number(line)
    return ParsedLine(query_id, _listed(line, "corpusids" if line.kind == "qrels" else "retrieved", 1))


def _read_pre_reranked(line: Line) -> ParsedLine:
    query_id = text_id(line.content["query_id"]) if "query_id" in line.content else _line_number(line)
    return ParsedLine(query_id, _listed(line, "pre_reranked", 1))


def _line_number(line: Line) -> str:
    if line.row != line.n_before:
        raise ValueError("no query_id, and an empty line above (line numbers are the query ids)")
    return str(line.row + 1)


def _listed(line: Line, key: str, grade: int) -> Documents:
    """Return the ids of a list, as relevant documents or as a ranking."""
    return [(text_id(doc_id), grade if line.kind == "qrels" else None) for doc_id in _list(line, key)]


def _read_table_row(line: Line) -> ParsedLine:
    row, name = line.content, VALUE_COLUMNS[line.kind]
    if name in row:
        return ParsedLine(
            row["query_id"], [(row["doc_id"], _parse_number(row[name], line.kind))], row.get("rank", "")
        )
    if _parse_number(row["relevance"], "qrels") % 1:
        problem = "the relevance must be an integer where qrels are read as a run"
        raise ValueError(f"{problem} (found {shown(row['relevance'])}; are these scores?)")
    return ParsedLine(row["query_id"], [(row["doc_id"], None)])


def _read_json_entry(line: Line) -> ParsedLine:
    query_id, documents = line.content
    if not isinstance(documents, tuple):
        raise ValueError(f"query {shown(query_id)} must have an object of documents")
    parse = _json_score if line.kind == "run" else _json_grade
    return ParsedLine(query_id, [(doc_id, parse(value)) for doc_id, value in documents])


def _json_score(value: Any) -> float:
    return float(_json_number(value, "score"))


class RunAsQrelsError(InputError):
    """A file that is read as qrels, and seems to be a run."""


def _json_grade(value: Any) -> float | int:
    """Return an integer; without this check a run given as qrels by mistake would be read as such."""
    grade = _json_number(value, "relevance")
    if grade != int(grade):
        raise RunAsQrelsError(
            "expected qrels, but this file seems to hold a run: grades in JSON are integers "
            f"(found {shown(value)})",
            hint="The qrels come first, then the runs; qrels with such grades can be TREC, CSV or Parquet",
        )
    return grade


def _json_number(value: Any, name: str) -> float | int:
    if isinstance(value, bool):
        raise ValueError(f"a {name} must be a number (found {value!r})")
    return number(value, name, place="")


def _list(line: Line, key: str) -> list[Any]:
    items = line.content[key]
    if not isinstance(items, list):
        raise ValueError(f"{key} must be a list (found {shown(items)})")
    return items


def _is_relevance_row(text: str) -> bool:
    """Return whether a line has nothing but grades, and so many that it is no line of TREC or MS MARCO."""
    columns = columns_of(text)
    is_other = len(columns) in (0, 1, 4, 6) or (len(columns) == 3 and "\t" in text)
    return not is_other and all(re.fullmatch("-?[0-9]", column) for column in columns)


def _has(*keys: str) -> Callable[[dict[str, Any]], bool]:
    return lambda first: set(keys) <= first.keys()


def _is_table(value: str, beir: bool = False) -> Callable[[Header], bool]:
    return lambda header: header.has(value) and header.is_beir == beir


BEFORE_RERANKING = Format(
    "LitSearch results",
    Layout.JSON_LINES,
    "run",
    '{"query_id": ..., "query": ..., "pre_reranked": [ids], "retrieved": [ids]}',
    _has("pre_reranked", "retrieved"),
    _read_pre_reranked,
    lists=True,
)
"""The lists before a reranking, which LitSearch results may have beside those after it."""

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
        both_kinds=True,
    ),
    Format(
        "relevant documents by level",
        Layout.JSON_LINES,
        "qrels",
        '{"query_id": ..., "highly_relevant": [ids], "relevant": [ids]}',
        lambda first: "query_id" in first and not _LEVELS.keys().isdisjoint(first),
        _read_levels,
        lists=True,
    ),
    Format(
        "relevance lists",
        Layout.JSON_LINES,
        "qrels",
        '{"query_id": ..., "relevance": [grades in the order of the ranking]}',
        _has("query_id", "relevance"),
        _read_relevance_list,
        lists=True,
        both_kinds=True,
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
        qrels_key="corpusids",
    ),
    Format(
        "TREC qrels",
        Layout.COLUMNS,
        "qrels",
        "query iteration document relevance",
        lambda text: len(columns_of(text)) == 4,
        _read_trec_qrels,
        both_kinds=True,
    ),
    Format(
        "TREC run",
        Layout.COLUMNS,
        "run",
        "query Q0 document rank score tag",
        lambda text: len(columns_of(text)) >= 6 and not _is_relevance_row(text),
        _read_trec_run,
    ),
    Format(
        "MS MARCO run",
        Layout.COLUMNS,
        "run",
        "query document rank, with tabs between",
        lambda text: bool(re.fullmatch("[^\t]+\t[^\t]+\t[0-9]+", text)) and len(columns_of(text)) == 3,
        _read_ms_marco,
    ),
    Format(
        "relevance lists",
        Layout.COLUMNS,
        "qrels",
        "grades in the order of the ranking",
        _is_relevance_row,
        _read_relevance_row,
        lists=True,
        both_kinds=True,
    ),
    Format(
        "BEIR qrels",
        Layout.TABLE,
        "qrels",
        "query-id, corpus-id, score under a header",
        _is_table("relevance", beir=True),
        _read_table_row,
        both_kinds=True,
    ),
    Format(
        "CSV or TSV qrels",
        Layout.TABLE,
        "qrels",
        "query_id, doc_id, relevance (or qid, docno, label) under a header",
        _is_table("relevance"),
        _read_table_row,
        both_kinds=True,
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

If several fit, one of the kind that is asked for is taken before one that can be read as it, and of several
such the first.
"""
