"""Read the files of the data sets as records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from permed_measures.datasets.records import ConversationQuery, LitSearchDoc, Specificity, TitledDoc
from permed_measures.engine.inputs import Nested, string_id
from permed_measures.errors import InputError
from permed_measures.files.read import read_qrels
from permed_measures.files.sources import Source
from permed_measures.files.text import json_object, twice_error

T = TypeVar("T")

_BATCH = 1000
"""Papers that are held in memory at a time, each with its full text."""


def cached(read: Callable[[Path], T]) -> Callable[[Path], T]:
    """Let a function of a file read it again only if it has changed."""
    read_version = lru_cache(maxsize=16)(lambda path, *_: read(path))

    def read_cached(path: Path) -> T:
        status = path.stat()
        return read_version(path, status.st_mtime_ns, status.st_size, status.st_ino)

    return read_cached


def _objects(path: Path, shape: str, read: Callable[[dict[str, Any]], T]) -> Iterator[T]:
    """Yield `read(object)` of each line of a JSONL file; errors name the line."""
    source = Source(path)
    for number, line in source.lines():
        if not line.strip():
            continue
        try:
            yield read(json_object(line))
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise InputError(
                f"{reason} in {line!r:.80}; expected {shape}",
                where=source.location(number),
                hint="Correct or remove this line",
            ) from None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.40} is not a text")
    return value


# --- queries ---------------------------------------------------------------------------------------

_TURN = re.compile(r"(.+)_turn_([0-9]+)")
_TURNS = '{"conversation_id": ..., "turns": [{"turn_id": ..., "text": ...}]}'
_QUERY = '{"query_id": ..., "query": ..., "history": [texts]}'


_Judged = tuple[ConversationQuery, dict[str, float] | None]
"""A query, and its ground truth if that stands beside it."""


@cached
def _read_queries(path: Path) -> list[_Judged]:
    def read_line(content: dict[str, Any]) -> list[_Judged]:
        return _conversation(content) if "turns" in content else [_single(content)]

    queries = list(chain.from_iterable(_objects(path, f"{_TURNS} or {_QUERY}", read_line)))
    seen: set[str] = set()
    for query, _ in queries:
        if query.query_id in seen:
            raise twice_error(query.query_id, None, "", str(path))
        seen.add(query.query_id)
    return queries


def _conversation(content: dict[str, Any]) -> list[_Judged]:
    """Read a conversation as MedCorpus has it."""
    conversation_id = string_id(content["conversation_id"])
    texts = [_text(turn["text"]) for turn in content["turns"]]
    numbers = [_turn_number(turn["turn_id"]) for turn in content["turns"]]
    return [
        (ConversationQuery(f"{conversation_id}_{n}", text, conversation_id, n, tuple(texts[:index])), None)
        for index, (n, text) in enumerate(zip(numbers, texts, strict=True))
    ]


def _turn_number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"turn_id {value!r:.40} is not an integer")
    return value


def _single(content: dict[str, Any]) -> _Judged:
    """Read a query as PerMed's baselines have it."""
    query_id = string_id(content["query_id"])
    history = tuple(map(_text, _list(content, "history")))
    turn = _TURN.fullmatch(query_id)
    conversation, number = content.get("conversation_id"), content.get("turn_id")
    if conversation is None:
        conversation = turn[1] if turn else query_id
    if number is None:
        number = int(turn[2]) if turn else len(history) + 1
    text = _text(content["query"] if "query" in content else content["text"])
    query = ConversationQuery(query_id, text, string_id(conversation), _turn_number(number), history)
    if "ground_truth" not in content:
        return query, None
    grades: dict[str, float] = {}
    for doc_id in map(string_id, _list(content, "ground_truth")):
        if doc_id in grades:
            raise ValueError(f"document {doc_id!r} is listed twice in ground_truth")
        grades[doc_id] = 1
    return query, grades


def _list(content: dict[str, Any], key: str) -> list[Any]:
    items = content.get(key)
    if items is not None and not isinstance(items, list):
        raise ValueError(f"{key} is not a list")
    return items or []


def read_turns(path: Path) -> list[ConversationQuery]:
    """Return the queries of a file in MedCorpus' layout, or with a query per line."""
    return [query for query, _ in _read_queries(path)]


def read_labels(labels: Path | None, queries: Path) -> Nested:
    """Return the labels of a file, or the ground truth that stands beside the queries."""
    if labels:
        qrels = _read_labels(labels)
    else:
        qrels = {query.query_id: grades for query, grades in _read_queries(queries) if grades is not None}
    if not qrels and labels is None:
        raise InputError(
            "there are no labels: neither a file query_to_texts.jsonl nor ground_truth beside the queries",
            where=str(queries),
            hint="Add the labels",
        )
    known = dict.fromkeys(query.query_id for query in read_turns(queries))
    unknown = [query_id for query_id in qrels if query_id not in known]
    if unknown:
        raise InputError(
            f"{len(unknown)} of {len(qrels)} judged queries are not among the queries, such as {unknown[0]!r}"
            + (f" (the first query is {next(iter(known))!r})" if known else ""),
            where=str(labels or queries),
            hint=f"Use the labels that belong to {queries}",
        )
    return qrels


_read_labels = cached(read_qrels)


# --- documents -------------------------------------------------------------------------------------


def read_documents(paths: Iterable[Path]) -> Iterator[TitledDoc]:
    """Yield the documents of files such as corpus.jsonl."""
    for path in paths:
        yield from _objects(path, '{"text_id" or "doc_id": ..., "title": ..., "text": ...}', _document)


def _document(content: dict[str, Any]) -> TitledDoc:
    key = next((key for key in ("text_id", "doc_id", "_id") if key in content), "text_id")
    return TitledDoc(string_id(content[key]), _text(content.get("title", "")), _text(content["text"]))


# --- LitSearch's Parquet files ---------------------------------------------------------------------


_Attributes = tuple[str, Specificity, int]
"""What the official query file adds to the text of a question: query_set, specificity and quality."""


def read_attributes(path: Path, texts: Iterable[str]) -> dict[str, _Attributes]:
    """Return the attributes of each text; the file must have these texts and no others."""
    found: dict[str, _Attributes] = {}
    for row in _parquet_rows(path, ("query", "query_set", "specificity", "quality")):
        text = row.pop("query")
        if text in found:
            raise InputError(f"the query {text!r:.80} is listed twice", where=str(path))
        try:
            found[text] = (_text(row["query_set"]), Specificity(row["specificity"]), int(row["quality"]))
        except (TypeError, ValueError):
            raise InputError(
                f"a query needs a query_set (text), a specificity of 0 or 1 and a quality, not {row}",
                where=str(path),
            ) from None
    wanted = dict.fromkeys(texts)
    differences = [f"lacks {text!r:.100}" for text in wanted if text not in found]
    differences += [f"has another query, {text!r:.100}" for text in found if text not in wanted]
    if differences:
        n_shared = len(found.keys() & wanted)
        shared = f"{n_shared} of the {len(wanted)} queries of LitSearch are in this file"
        raise _unofficial(path, f"{shared}; it {differences[0]}")
    return found


def read_papers(paths: Iterable[Path]) -> Iterator[LitSearchDoc]:
    """Yield the papers of the official corpus files."""
    for path in paths:
        for row in _parquet_rows(path, ("corpusid", "title", "abstract", "citations", "full_paper")):
            yield LitSearchDoc(
                string_id(row["corpusid"], where=str(path)),
                row["title"] or "",
                row["abstract"] or "",
                tuple(map(str, row["citations"] or ())),
                row["full_paper"] or "",
            )


def read_titles(paths: Iterable[Path]) -> Iterator[tuple[str, str, str]]:
    """Yield id, title and abstract of the papers of the official corpus files."""
    for path in paths:
        for row in _parquet_rows(path, ("corpusid", "title", "abstract")):
            yield string_id(row["corpusid"], where=str(path)), row["title"] or "", row["abstract"] or ""


def _parquet_rows(path: Path, columns: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    import polars as pl

    try:
        lazy = pl.scan_parquet(path, glob=False)
        names = lazy.collect_schema().names()
        missing = [name for name in columns if name not in names]
        if missing:
            raise _unofficial(path, f"there is no column {', '.join(missing)} (there are {', '.join(names)})")
        n_rows = lazy.select(pl.len()).collect().item()
        for start in range(0, n_rows, _BATCH):
            yield from lazy.select(columns).slice(start, _BATCH).collect().iter_rows(named=True)
    except pl.exceptions.PolarsError as error:
        reason = str(error).partition("\n")[0]
        raise _unofficial(path, f"cannot be read as Parquet ({reason})") from None


def _unofficial(path: Path, problem: str) -> InputError:
    return InputError(problem, where=str(path), hint="Use the files of the data set princeton-nlp/LitSearch")
