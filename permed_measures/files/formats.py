"""The text formats: how each is recognised, and how an entry of it is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, Literal

from permed_measures.engine.inputs import BEIR_COLUMNS, COLUMNS
from permed_measures.files import entries
from permed_measures.files.entries import Parse, columns_of

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
        for ours, names in (beir if self.is_beir else {**COLUMNS, "rank": ("rank",)}).items():
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

    @property
    def has_ranks_only(self) -> bool:
        """Whether documents are ranked by the column rank, as there are neither scores nor labels."""
        return self.has("rank") and not self.has("score") and not self.has("relevance")


@dataclass(frozen=True)
class Format:
    """A file format: how it is recognised, and how an entry of it is read."""

    name: str
    layout: Layout
    kind: Kind  # what it holds
    shape: str  # what a line looks like, for messages
    fits: Callable[[Any], bool]  # whether the first line is such: a JSON object, text or a Header
    parse: Parse
    lists: bool = False  # a line holds the whole list of its query, best first
    columns: tuple[str, ...] = ()  # of a file that polars can read as a whole
    other: Parse | None = None  # how it is read as the other kind, if not as itself
    other_key: str = ""  # which the first line must have for that
    is_ordered: bool = True  # the order of qrels is a run
    note: str = ""  # to be said when it is read as a run

    @property
    def is_whole(self) -> bool:
        """Whether an entry holds all documents of its query."""
        return self.lists or self.layout is Layout.JSON

    @property
    def with_article(self) -> str:
        """The name within a sentence: a TREC run, an MS MARCO run, TREC qrels."""
        article = "an" if self.name.startswith("MS ") else "a"
        return f"{article} {self.name}" if self.name.endswith("run") else self.name

    def parse_as(self, kind: Kind, first: Any) -> Parse | None:
        """Return how an entry is read as this kind; None if a file with this first line cannot be."""
        if kind == self.kind:
            return self.parse
        if self.other is not None:
            return self.other if not self.other_key or self.other_key in first else None
        return self.parse if kind == "run" and self.is_ordered else None


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

FORMATS = (
    Format(
        "MedCorpus labels",
        Layout.JSON_LINES,
        "qrels",
        '{"conversation_id": ..., "turn_id": ..., "doc_id": ..., "rel": ...}',
        _has("conversation_id", "turn_id", "doc_id", "rel"),
        entries.medcorpus,
    ),
    Format(
        "PerMed ground truth or LitSearch labels",
        Layout.JSON_LINES,
        "qrels",
        '{"query_id": ..., "relevant_texts": [ids]}',
        _has("query_id", "relevant_texts"),
        entries.listed("relevant_texts", 1, numbered=False),
        lists=True,
    ),
    Format(
        "relevant documents by level",
        Layout.JSON_LINES,
        "qrels",
        '{"query_id": ..., "highly_relevant": [ids], "relevant": [ids]}',
        lambda first: "query_id" in first and not entries.LEVELS.keys().isdisjoint(first),
        entries.levels,
        lists=True,
        is_ordered=False,
    ),
    Format(
        "relevance lists",
        Layout.JSON_LINES,
        "qrels",
        '{"query_id": ..., "relevance": [grades in the order of the ranking]}',
        _has("query_id", "relevance"),
        entries.judged_list,
        lists=True,
        other=entries.relevance_list,
    ),
    Format(
        "PerMed results",
        Layout.JSON_LINES,
        "run",
        '{"query_id": ..., "ranked_results" or "results": [{"text_id": ..., "score": ...}]}',
        lambda first: "query_id" in first and ("ranked_results" in first or "results" in first),
        entries.permed_results,
        lists=True,
    ),
    Format(
        "LitSearch results",
        Layout.JSON_LINES,
        "run",
        '{"query_id": ..., "query": ..., "corpusids": [ids], "retrieved": [ids]}',
        _has("retrieved"),
        entries.listed("retrieved", None),
        lists=True,
        other=entries.listed("corpusids", 1),
        other_key="corpusids",
    ),
    Format(
        "TREC qrels",
        Layout.COLUMNS,
        "qrels",
        "query iteration document relevance",
        lambda text: len(columns_of(text)) == 4,
        entries.trec_qrels,
    ),
    Format(
        "TREC run",
        Layout.COLUMNS,
        "run",
        "query Q0 document rank score tag",
        lambda text: len(columns_of(text)) >= 6 and not _is_relevance_row(text),
        entries.trec_run,
        columns=("query_id", "q0", "doc_id", "rank", "score", "tag"),
    ),
    Format(
        "MS MARCO run",
        Layout.COLUMNS,
        "run",
        "query document rank, with tabs between",
        lambda text: bool(re.fullmatch("[^\t]+\t[^\t]+\t[0-9]+", text)) and len(columns_of(text)) == 3,
        entries.ms_marco,
        columns=("query_id", "doc_id", "rank"),
    ),
    Format(
        "relevance lists",
        Layout.COLUMNS,
        "qrels",
        "grades in the order of the ranking",
        _is_relevance_row,
        entries.relevance_row,
        lists=True,
    ),
    Format(
        "BEIR qrels",
        Layout.TABLE,
        "qrels",
        "query-id, corpus-id, score under a header",
        _is_table("relevance", beir=True),
        entries.table_qrels,
        other=entries.table_qrels_as_run,
    ),
    Format(
        "CSV or TSV qrels",
        Layout.TABLE,
        "qrels",
        "query_id, doc_id, relevance (or qid, docno, label) under a header",
        _is_table("relevance"),
        entries.table_qrels,
        other=entries.table_qrels_as_run,
    ),
    Format(
        "CSV or TSV run",
        Layout.TABLE,
        "run",
        "query_id, doc_id, score (or qid, docno, score) under a header",
        _is_table("score"),
        entries.table_run,
    ),
    Format(
        "CSV or TSV run",
        Layout.TABLE,
        "run",
        "query_id, doc_id, rank under a header",
        lambda header: header.has_ranks_only,
        entries.table_ranks,
        note=RANKS_ONLY,
    ),
    Format(
        "BEIR or MTEB JSON",
        Layout.JSON,
        "run",
        "{query_id: {doc_id: number}}",
        lambda _: True,
        entries.json_scores,
        other=entries.json_grades,
    ),
)
"""The text formats, recognised by the first line that is neither empty nor a comment.

If several fit, one of the kind that is asked for is taken before one that can be read as it, and of several
such the first.
"""
