"""What the columns of a printed table hold: a measure, a change, names, or other things."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import NamedTuple

from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.errors import MeasureError
from permed_measures.papers.cells import is_blank, printed_in
from permed_measures.papers.grids import PrintedTable
from permed_measures.papers.names import MEANT, heading_of, meaning_of


class Kind(Enum):
    """What a column holds."""

    MEASURE = "measure"
    CHANGE = "change"
    LABEL = "label"
    OTHER = "other"


class Column(NamedTuple):
    """A column of a printed table.

    Attributes
    ----------
    number : int
    kind : Kind
    title : str
        All that heads it.
    name : str
        The measure in the title; for a change the one that it is about, empty if none is.
    group : str
        What else the headings say, such as a data set.
    why : str
        Why it is no measure.
    """

    number: int
    kind: Kind
    title: str
    name: str = ""
    group: str = ""
    why: str = ""


_P = re.compile(r"p(?: *[(\[].*)?|(?i:p[ _-]?val(?:ue)?s?(?: *[(\[].*)?|p值|显著性.*|sig(?:nificance|\.)?)")
_INTERVAL = re.compile(r"\bci\b|confidence|\binterval|置信区间|\bci9[059]", re.IGNORECASE)
_CHANGE = re.compile(
    r"[Δ∆δ]|\bdelta\b|\bdiff(?:erence)?\b|\bimpr(?:ov)?\w*|\bgains?\b|\blift\b|\bchange\b|提升|提高|增幅|变化|差值|差异",
    re.IGNORECASE,
)
_CHANGE_ROW = re.compile(
    r"(?:(?:abs|rel)\w*\.? *)?"
    r"(?:[Δ∆δ]|delta|diff(?:erence)?|impr(?:ov)?\w*|gain|lift|change|提升|提高|增幅|变化|差值)\.? *"
    r"(?:%|[(\[].*|(?:vs|over|to|from|against|相对|比|对).*)?",
    re.IGNORECASE,
)
_BASE = re.compile(
    r"\b(?:vs|versus|over|against|from|to)\b\.? *.*|\b(?:rel|abs)(?:ative|olute)?\b\.?|[%+-]", re.IGNORECASE
)
_SIGN = re.compile(r"[(\[]? *(?:in )?% *[)\]]?")
_EDGES = " .,:;_/"


def is_change(title: str) -> bool:
    """Return whether a title means a difference from another row."""
    return bool(_CHANGE.search(title)) and why_no_measure(title) != ""


def is_change_row(label: str) -> bool:
    """Return whether the name of a row means differences of others."""
    return bool(_CHANGE_ROW.fullmatch(label.strip()))


def columns_of(table: PrintedTable) -> list[Column]:
    """Return what each column of a table holds; the labels are those left of the first measure."""
    found = [_column(number, titles) for number, titles in enumerate(table.titles)]
    first = next((each.number for each in found if each.kind is not Kind.OTHER), len(found))
    labels = [each.number for each in found[:first] if _is_text(each.number, table)] or [0]
    found = [each._replace(kind=Kind.LABEL) if each.number in labels else each for each in found]
    found = [*_apart(found)]
    last = Column(0, Kind.LABEL, "")
    for each in found:  # a change without a name is one of the measure before it
        if each.name:
            last = each
        elif each.kind is not Kind.OTHER and not each.name:
            found[each.number] = each._replace(name=last.name, group=last.group)
    return found


def _apart(columns: list[Column]) -> Iterator[Column]:
    """Give a column whose measure has one before it a group of its own."""
    seen: dict[tuple[str, str], int] = {}
    for each in columns:
        n = seen[each.name, each.group] = seen.get((each.name, each.group), 0) + 1
        again = each.kind is Kind.MEASURE and n > 1
        yield each._replace(group=f"{each.group} (column {each.number + 1})".strip()) if again else each


def _is_text(number: int, table: PrintedTable) -> bool:
    """Return whether a column holds names rather than numbers."""
    cells = [row[number] for row in table.rows if not is_blank(row[number])]
    return 2 * sum(printed_in(cell) is None for cell in cells) > len(cells)


def _column(number: int, titles: tuple[str, ...]) -> Column:
    """Read the titles of a column."""
    title, last = " ".join(titles), titles[-1] if titles else ""
    if _P.fullmatch(last) or _INTERVAL.search(last):  # below the name of a measure, perhaps
        return Column(number, Kind.OTHER, title, why="a p-value or an interval is no measure")
    if any(map(is_change, titles)):
        return Column(number, Kind.CHANGE, title, *_named_in(tuple(map(_without_change, titles))))
    in_percent = any(_SIGN.fullmatch(each) or heading_of(each)[1] for each in titles)
    name, group = _named_in(tuple(each for each in titles if not _SIGN.fullmatch(each)))
    if not name:
        return Column(number, Kind.OTHER, title, why=why_no_measure(last))
    if in_percent and not heading_of(name)[1]:
        name += " (%)"
    return Column(number, Kind.MEASURE, title, name, group)


def _without_change(title: str) -> str:
    """Return what is left of a title such as ``Δ nDCG@10 vs BM25 (%)``."""
    return _BASE.sub("", _CHANGE.sub(" ", title)).strip(_EDGES + "()[]") if is_change(title) else title


def _named_in(titles: tuple[str, ...]) -> tuple[str, str]:
    """Return the measure that titles name, the top one first, and what else they say; empty if none does."""
    titles = tuple(" ".join(each.split()) for each in titles)
    titles = tuple(filter(None, (_bare(each) if why_no_measure(each) else each for each in titles)))
    if not titles:
        return "", ""
    *upper, last = titles
    tried = [(" ".join(titles), titles), (last, (last,))]
    tried += [(f"{_bare(each)}@{last.lstrip('@ ')}", (each, last)) for each in reversed(upper)]
    tried += [(each, (each,)) for each in reversed(upper)]
    for name, used in tried:
        if not why_no_measure(name):
            return name, " ".join(each for each in titles if each not in used)
    return "", ""


def _bare(title: str) -> str:
    """Return a title without a percent sign, the letter k for a cutoff, and marks at its ends."""
    name = heading_of(title)[0].strip(_EDGES)
    name = name[1:-1] if name[:1] + name[-1:] in ("()", "[]") else name
    return name.removesuffix("@k").removesuffix("@K")


@cache
def why_no_measure(title: str) -> str:
    """Return why a title names no measure that is computed; empty if it names one."""
    try:
        measure = meaning_of(heading_of(title)[0])[0]
        if measure not in MEANT:
            PermedEvaluator([measure], {})
    except MeasureError as error:
        return str(error)
    return ""
