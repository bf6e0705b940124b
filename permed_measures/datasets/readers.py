"""Read the files of the data sets as records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from permed_measures.datasets.records import ConversationQuery, LitSearchDoc, TitledDoc
from permed_measures.engine.inputs import Nested, string_id
from permed_measures.errors import InputError
from permed_measures.files.entries import Parse
from permed_measures.files.formats import Format, Layout
from permed_measures.files.read import read_qrels
from permed_measures.files.sources import Source, cached
from permed_measures.files.text import TextFile, twice_error

_BATCH = 1000
"""Papers that are held in memory at a time, each with its full text."""


def _file(path: Path, name: str, shape: str, parse: Parse, lists: bool = False) -> TextFile:
    """Return a file with a JSON object per line, which `parse` reads; errors name the line."""
    return TextFile(
        Source(path), Format(name, "qrels", Layout.JSON_LINES, shape, bool, parse, lists=lists), "qrels"
    )


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.40} is not a string")
    return value


# --- queries and labels ----------------------------------------------------------------------------

_TURN = re.compile(r"(.+)_turn_([0-9]+)")
_TURNS = '{"conversation_id": ..., "turns": [{"turn_id": ..., "text": ...}]}'
_QUERY = '{"query_id": ..., "query": ..., "history": [texts]}'


@cached
def read_queries(path: Path) -> list[ConversationQuery]:
    """Return the queries of a file in MedCorpus' layout, or with a query per line."""
    lines = _file(path, "queries", f"{_TURNS} or {_QUERY}", _queries).entries()
    queries = list(chain.from_iterable(queries for _, queries in lines))
    seen: set[str] = set()
    for query in queries:
        if query.query_id in seen:
            raise twice_error(query.query_id, None, "", str(path))
        seen.add(query.query_id)
    return queries


def _queries(content: dict[str, Any], _: int) -> tuple[ConversationQuery, ...]:
    return _conversation(content) if "turns" in content else (_single(content),)


def _conversation(content: dict[str, Any]) -> tuple[ConversationQuery, ...]:
    """Read a conversation as MedCorpus has it."""
    conversation_id = string_id(content["conversation_id"])
    texts = [_string(turn["text"]) for turn in content["turns"]]
    numbers = [_turn_number(turn["turn_id"]) for turn in content["turns"]]
    return tuple(
        ConversationQuery(f"{conversation_id}_{number}", text, conversation_id, number, tuple(texts[:index]))
        for index, (number, text) in enumerate(zip(numbers, texts, strict=True))
    )


def _turn_number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"turn_id {value!r:.40} is not an integer")
    return value


def _single(content: dict[str, Any]) -> ConversationQuery:
    """Read a query as PerMed's baselines have it."""
    query_id = string_id(content["query_id"])
    history = tuple(map(_string, _list(content, "history")))
    turn = _TURN.fullmatch(query_id)
    conversation, number = content.get("conversation_id"), content.get("turn_id")
    if conversation is None:
        conversation = turn[1] if turn else query_id
    if number is None:
        number = int(turn[2]) if turn else len(history) + 1
    text = _string(content["query"] if "query" in content else content["text"])
    return ConversationQuery(query_id, text, string_id(conversation), _turn_number(number), history)


def _list(content: dict[str, Any], key: str) -> list[Any]:
    items = content.get(key)
    if items is not None and not isinstance(items, list):
        raise ValueError(f"{key} is not a list")
    return items or []


read_labels = cached(read_qrels)
"""Return the labels of a file."""


@cached
def read_ground_truth(queries: Path) -> Nested:
    """Return the labels that stand beside the queries, as PerMed's baselines have them."""
    shape = '{"query_id": ..., "ground_truth": [ids]}, or a file query_to_texts.jsonl beside it'
    return _file(queries, "queries with ground truth", shape, _ground_truth, lists=True).table()[0]


def _ground_truth(content: dict[str, Any], _: int) -> tuple[str, list[str], list[int]]:
    if "ground_truth" not in content:
        raise KeyError("ground_truth")
    documents = list(map(string_id, _list(content, "ground_truth")))
    return string_id(content["query_id"]), documents, [1] * len(documents)


def check_labels(qrels: Nested, path: Path, queries: Path) -> Nested:
    """Return the labels of a file, or raise InputError if they are about other queries."""
    known = [query.query_id for query in read_queries(queries)]
    unknown = list(qrels.keys() - set(known))
    if unknown:
        raise InputError(
            f"{len(unknown)} of {len(qrels)} judged queries are not among the queries, such as "
            f"{min(unknown)!r}{f' (the first query is {known[0]!r})' if known else ''}",
            where=str(path),
            hint=f"Use the labels that belong to {queries}",
        )
    return qrels


# --- documents -------------------------------------------------------------------------------------


def read_documents(paths: Iterable[Path]) -> Iterator[TitledDoc]:
    """Yield the documents of files such as corpus.jsonl."""
    shape = '{"text_id" or "doc_id": ..., "title": ..., "text": ...}'
    for path in paths:
        yield from (document for _, document in _file(path, "documents", shape, _document).entries())


def _document(content: dict[str, Any], _: int) -> TitledDoc:
    key = next((key for key in ("text_id", "doc_id", "_id") if key in content), "text_id")
    return TitledDoc(string_id(content[key]), _string(content.get("title", "")), _string(content["text"]))


# --- LitSearch's Parquet files ---------------------------------------------------------------------


def _rows(path: Path, *columns: str) -> Iterator[tuple[Any, ...]]:
    import polars as pl

    rows = pl.scan_parquet(path, glob=False).select(*columns)
    for frame in rows.collect_batches(chunk_size=_BATCH, maintain_order=True):
        yield from frame.iter_rows()


def read_attributes(path: Path) -> dict[str, tuple[str, str, int]]:
    """Return query_set, specificity and quality of each question of LitSearch, by its text."""
    rows = _rows(path, "query", "query_set", "specificity", "quality")
    return {text: (query_set, _SPECIFICITY[number], quality) for text, query_set, number, quality in rows}


_SPECIFICITY = ("broad", "specific")


def read_papers(paths: Iterable[Path]) -> Iterator[LitSearchDoc]:
    """Yield the papers of the official corpus files."""
    for path in paths:
        for doc_id, title, abstract, citations, text in _rows(path, *_PAPER):
            yield LitSearchDoc(
                str(doc_id), title or "", abstract or "", tuple(map(str, citations or ())), text or ""
            )


_PAPER = ("corpusid", "title", "abstract", "citations", "full_paper")


def read_titles(paths: Iterable[Path]) -> Iterator[tuple[str, str, str]]:
    """Yield id, title and abstract of the papers of the official corpus files."""
    for path in paths:
        for doc_id, title, abstract in _rows(path, *_PAPER[:3]):
            yield str(doc_id), title or "", abstract or ""
