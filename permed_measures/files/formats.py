"""What a file format is: how a file is divided, what an entry says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, Literal, NamedTuple

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


class Line(NamedTuple):
    """An entry of a file, to be read as qrels or as a run.

    Its content is a JSON object, columns, the row of a table as a dict, or an entry of a JSON file.
    """

    content: Any
    row: int  # the index of its line
    kind: Kind
    n_before: int  # entries before it


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


Documents = list[tuple[str, float | int | None]]
"""Documents with their numbers; None where a list has no scores."""


class ParsedLine(NamedTuple):
    """The documents of a query that a line lists."""

    query_id: str
    documents: Documents
    rank: str = ""  # what a column of ranks says of a document


@dataclass(frozen=True)
class Format:
    """A file format: how it is recognised, and how a line of it is read."""

    name: str
    layout: Layout
    kind: Kind  # what it holds
    shape: str  # what a line looks like, for messages
    fits: Callable[[Any], bool]  # whether the first line is such: a JSON object, text or a Header
    read: Callable[[Line], ParsedLine]  # KeyError, TypeError or ValueError if it cannot parse the line
    lists: bool = False  # a line holds the whole list of its query, best first
    both_kinds: bool = False  # qrels whose order is a run, or a run that lists the relevant documents
    qrels_key: str = ""  # under which a run lists them

    @property
    def with_article(self) -> str:
        """The name within a sentence: a TREC run, an MS MARCO run, TREC qrels."""
        article = "an" if self.name.startswith("MS ") else "a"
        return f"{article} {self.name}" if self.name.endswith("run") else self.name

    def can_be(self, kind: Kind, first: Any) -> bool:
        """Return whether a file with this first line can be read as this kind."""
        lacks_qrels = kind == "qrels" and self.qrels_key and self.qrels_key not in first
        return self.kind == kind or (self.both_kinds and not lacks_qrels)
