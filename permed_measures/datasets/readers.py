"""Read the queries, labels and documents of the data sets from files."""

# No `from __future__ import annotations` here: ir_datasets and PyTerrier look for fields whose type is str.

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from permed_measures.engine.tables import string_id
from permed_measures.frames import pl
from permed_measures.inputs.formats import Format, Layout
from permed_measures.inputs.read import read_file
from permed_measures.inputs.sources import Source, cache_by_mtime
from permed_measures.inputs.text_reader import TextFile


class ConversationQuery(NamedTuple):
    """A turn of a conversation; turns of one conversation are not independent of each other.

    ``query_id`` is ``<conversation_id>_<turn_number>`` in MedCorpus, with turns numbered from 1. ``history``
    has the texts of the previous turns.
    """

    query_id: str
    text: str
    conversation_id: str
    turn_number: int
    history: tuple[str, ...]

    def default_text(self) -> str:
        """Return the text of the turn."""
        return self.text


class LitSearchQuery(NamedTuple):
    """A question of LitSearch; the attributes are None without the official query file.

    ``query_id`` is ``1`` to ``597``. ``query_set`` is ``inline_acl`` or ``inline_nonacl`` (written by a model
    from a citation), ``manual_acl`` or ``manual_iclr`` (written by an author of the paper).
    ``specificity`` is ``broad`` (some twenty papers answer the question) or ``specific`` (a few do).
    ``quality`` is 1 or 2, annotated by an expert.
    """

    query_id: str
    text: str
    query_set: str | None = None
    specificity: str | None = None
    quality: int | None = None

    def default_text(self) -> str:
        """Return the text of the question."""
        return self.text


class TitledDoc(NamedTuple):
    """A document with a title."""

    doc_id: str
    title: str
    text: str

    def default_text(self) -> str:
        """Return title and text."""
        return f"{self.title} {self.text}"


class LitSearchDoc(NamedTuple):
    """A paper of LitSearch.

    ``doc_id`` is its corpus id in Semantic Scholar; ``citations`` has the ids of the papers that it cites.
    """

    doc_id: str
    title: str
    abstract: str
    citations: tuple[str, ...]
    full_paper: str

    def default_text(self) -> str:
        """Return title and abstract."""
        return f"{self.title} {self.abstract}"


_BATCH = 1000
"""Number of papers that are in memory at the same time, each with its full text."""


# --- queries and labels ----------------------------------------------------------------------------


@cache_by_mtime
def read_queries(path: Path) -> list[ConversationQuery]:
    """Read the queries of a file in MedCorpus' layout, or with one query per line.

    The content needs no checks: the files are packaged, or checked by their hashes.
    """
    contents = map(json.loads, path.read_text("utf-8").strip().split("\n"))
    return list(chain.from_iterable(map(_queries, contents)))


def _queries(content: dict[str, Any]) -> Iterator[ConversationQuery]:
    """Yield the turns of a conversation, or a single question."""
    if "turns" not in content:
        query_id = str(content["query_id"])
        yield ConversationQuery(query_id, content["query"], query_id, 1, ())
        return
    conversation_id, history = content["conversation_id"], list[str]()
    for turn in content["turns"]:
        query_id = f"{conversation_id}_{turn['turn_id']}"
        yield ConversationQuery(query_id, turn["text"], conversation_id, turn["turn_id"], tuple(history))
        history.append(turn["text"])


@cache_by_mtime
def read_labels(path: Path) -> dict[str, dict[str, Any]]:
    """Read the labels of a file as nested dicts."""
    labels = read_file(path, "qrels")
    return labels if isinstance(labels, dict) else labels.nested()


# --- documents -------------------------------------------------------------------------------------


def read_documents(paths: Iterable[Path]) -> Iterator[TitledDoc]:
    """Read the documents of files such as corpus.jsonl."""
    shape = '{"text_id" or "doc_id": ..., "title": ..., "text": ...}'
    documents = Format("documents", "qrels", Layout.JSON_LINES, shape, _document)
    for path in paths:
        yield from (document for _, document in TextFile(Source(path), documents, "qrels").entries())


def _document(content: dict[str, Any], _: int) -> TitledDoc:
    doc_id = content["doc_id"] if "doc_id" in content else content["text_id"]
    return TitledDoc(string_id(doc_id), content.get("title", ""), content["text"])


# --- LitSearch's Parquet files ---------------------------------------------------------------------


def _rows(path: Path, *columns: str) -> Iterator[tuple[Any, ...]]:
    rows = pl.scan_parquet(path, glob=False).select(*columns)
    for frame in rows.collect_batches(chunk_size=_BATCH, maintain_order=True):
        yield from frame.iter_rows()


def read_attributes(path: Path) -> dict[str, tuple[str, str, int]]:
    """Read query_set, specificity and quality of each question of LitSearch, by its text."""
    rows = _rows(path, "query", "query_set", "specificity", "quality")
    return {text: (query_set, _SPECIFICITY[number], quality) for text, query_set, number, quality in rows}


_SPECIFICITY = ("broad", "specific")


def read_papers(paths: Iterable[Path]) -> Iterator[LitSearchDoc]:
    """Read the papers of the official corpus files."""
    for path in paths:
        for doc_id, title, abstract, citations, text in _rows(path, *_PAPER_FIELDS):
            yield LitSearchDoc(
                str(doc_id), title or "", abstract or "", tuple(map(str, citations or ())), text or ""
            )


_PAPER_FIELDS = ("corpusid", "title", "abstract", "citations", "full_paper")


def read_titles(paths: Iterable[Path]) -> Iterator[tuple[str, str, str]]:
    """Read id, title and abstract of the papers of the official corpus files."""
    for path in paths:
        for doc_id, title, abstract in _rows(path, *_PAPER_FIELDS[:3]):
            yield str(doc_id), title or "", abstract or ""
