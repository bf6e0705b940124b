"""What a file format is: how a file is divided, what an entry says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, Literal

from permed_measures.engine.inputs import BEIR_COLUMNS, COLUMNS

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


Number = float | int | None
"""A relevance or score; None where a list has no scores."""
NO_RANK = -1
"""Where a file has no column of ranks, or no number in it."""
Parse = Callable[[Any, int], tuple[Any, ...]]
"""Reads an entry: a JSON object, columns, the row of a table as a dict, or a query of a JSON file.

It gets the number of the line, which is 0 where an empty line or a comment stands above. It returns query,
document, number and rank; of a format that has all documents of a query together the query, and pairs of
document and number. It raises KeyError, TypeError or ValueError for what it cannot
read.
"""


@dataclass(frozen=True)
class Format:
    """A file format: how it is recognised, and how an entry of it is read."""

    name: str
    layout: Layout
    kind: Kind  # what it holds
    shape: str  # what a line looks like, for messages
    fits: Callable[[Any], bool]  # whether the first line is such: a JSON object, text or a Header
    as_qrels: Parse | None = None  # None if it cannot be read as qrels
    as_run: Parse | None = None
    lists: bool = False  # a line holds the whole list of its query, best first
    columns: tuple[str, ...] = ()  # of a file that polars can read as a whole
    qrels_key: str = ""  # under which a run lists the relevant documents
    before_reranking: Parse | None = None  # how the lists are read that a reranking began with
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

    def parse(self, kind: Kind) -> Parse | None:
        """Return how an entry is read as this kind; None if it cannot be."""
        return self.as_qrels if kind == "qrels" else self.as_run

    def can_be(self, kind: Kind, first: Any) -> bool:
        """Return whether a file with this first line can be read as this kind."""
        lacks_qrels = kind == "qrels" and self.qrels_key and self.qrels_key not in first
        return self.parse(kind) is not None and not lacks_qrels
