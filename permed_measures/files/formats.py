"""The text formats: how each is recognised, and how an entry of it is read."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Literal, NamedTuple

from permed_measures.engine.tables import columns_of
from permed_measures.errors import InputError
from permed_measures.files import entries
from permed_measures.files.entries import Parse, divided

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


class Header(NamedTuple):
    """The column names at the top of a table, and the delimiter between them."""

    names: list[str]
    delimiter: str = ""

    def columns(self, value: str) -> dict[str, int]:
        """Return the positions of ids and of this column of numbers, by our names; none if one lacks."""
        try:
            theirs = columns_of(self.names, value)
        except InputError:
            return {}
        theirs = theirs | {"rank": "rank"} if self.names.count("rank") == 1 else theirs
        is_once = all(self.names.count(name) == 1 for name in theirs.values())
        return {ours: self.names.index(name) for ours, name in theirs.items()} if is_once else {}


class Format(NamedTuple):
    """A file format: how it is recognised, and how an entry of it is read."""

    name: str
    kind: Kind
    layout: Layout
    shape: str  # what a line looks like, for messages
    fits: Callable[[Any], Any]  # whether the first line is such: a JSON object, text or a Header
    parse: Parse
    lists: bool = False  # an entry holds all documents of its query
    columns: tuple[str, ...] = ()  # of a file that polars can read as a whole
    if_asked: bool = False  # a file of another format is read so only if this kind is asked for

    @property
    def with_article(self) -> str:
        """The name within a sentence: a TREC run, TREC qrels."""
        return f"a {self.name}" if self.name.endswith("run") else self.name


def _has(*keys: str) -> Callable[[dict[str, Any]], bool]:
    return lambda first: set(keys) <= first.keys()


_JSON: tuple[tuple[Kind, Parse], ...] = (("run", entries.json_scores), ("qrels", entries.json_grades))

FORMATS = (
    Format(
        "MedCorpus labels",
        "qrels",
        Layout.JSON_LINES,
        '{"conversation_id": ..., "turn_id": ..., "doc_id": ..., "rel": ...}',
        _has("conversation_id", "turn_id", "doc_id", "rel"),
        entries.medcorpus,
    ),
    Format(
        "PerMed ground truth or LitSearch labels",
        "qrels",
        Layout.JSON_LINES,
        '{"query_id": ..., "relevant_texts": [ids]}',
        _has("query_id", "relevant_texts"),
        entries.listed("relevant_texts", 1, numbered=False),
        lists=True,
    ),
    Format(
        "PerMed results",
        "run",
        Layout.JSON_LINES,
        '{"query_id": ..., "ranked_results" or "results": [{"text_id": ..., "score": ...}]}',
        lambda first: "query_id" in first and ("ranked_results" in first or "results" in first),
        entries.permed_results,
        lists=True,
    ),
    Format(
        "LitSearch results",
        "run",
        Layout.JSON_LINES,
        '{"query_id": ..., "query": ..., "corpusids": [ids], "retrieved": [ids]}',
        _has("retrieved"),
        entries.listed("retrieved", None),
        lists=True,
    ),
    Format(
        "LitSearch results",
        "qrels",
        Layout.JSON_LINES,
        '{"query_id": ..., "query": ..., "corpusids": [ids], "retrieved": [ids]}',
        _has("retrieved", "corpusids"),
        entries.listed("corpusids", 1),
        lists=True,
        if_asked=True,
    ),
    Format(
        "TREC qrels",
        "qrels",
        Layout.COLUMNS,
        "query iteration document relevance",
        lambda text: len(divided(text)) == 4,
        entries.trec_qrels,
    ),
    Format(
        "TREC run",
        "run",
        Layout.COLUMNS,
        "query Q0 document rank score tag",
        lambda text: len(divided(text)) >= 6,
        entries.trec_run,
        columns=("query_id", "q0", "doc_id", "rank", "score", "tag"),
    ),
    Format(
        "CSV or TSV qrels",
        "qrels",
        Layout.TABLE,
        "query_id, doc_id, relevance (or qid, docno, label; query-id, corpus-id, score) under a header",
        lambda header: header.columns("relevance"),
        entries.table_qrels,
    ),
    Format(
        "CSV or TSV run",
        "run",
        Layout.TABLE,
        "query_id, doc_id, score (or qid, docno, score) under a header",
        lambda header: header.columns("score"),
        entries.table_run,
    ),
    *(
        Format(
            "BEIR or MTEB JSON",
            kind,
            Layout.JSON,
            "{query_id: {doc_id: number}}",
            lambda _: True,
            parse,
            lists=True,
        )
        for kind, parse in _JSON
    ),
)
"""The text formats, recognised by the first line that is neither empty nor a comment.

If several fit, one of the kind that is asked for is taken, and of several such the first.
"""
