"""What the columns of a printed table hold: a measure, a change, names, or other things."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

from permed_measures.papers.cells import is_blank, printed_in, title_of
from permed_measures.papers.grids import PrintedTable
from permed_measures.papers.names import heading_of
from permed_measures.papers.titles import (
    bare,
    is_change,
    is_cutoff,
    is_no_measure,
    measure_in,
    why_no_measure,
    without_change,
)


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


class Part(NamedTuple):
    """Rows of a table that are headed alike, by their numbers, and what each column holds in them."""

    rows: list[int]
    columns: list[Column]


_CUTOFF_HEADING = re.compile(r"@?k|@|cut-?offs?|top-?k|截断", re.IGNORECASE)
_MEASURE_HEADING = re.compile(r"metrics?|measures?|评价指标|指标", re.IGNORECASE)
_GROUP_HEADING = re.compile(r"data[ -]?sets?|corpus|collection|benchmark|数据集", re.IGNORECASE)
_RUN_HEADING = re.compile(r"(?:run|system|model|method|retriever|ranker|模型|系统|方法)", re.IGNORECASE)
_SIGN = re.compile(r"[(\[]? *(?:in )?% *[)\]]?")
_VALUE = re.compile(r"values?|scores?|means?|results?|avg\.?|average|得分|结果|值", re.IGNORECASE)


def oriented(table: PrintedTable) -> PrintedTable:
    """Return a table with its runs as rows, and of what stands between them only cutoffs and measures."""
    table = replace(_filled_down(table), sections=list(_sections(table)))
    headings = [n for n in _headings(table) if not _GROUP_HEADING.fullmatch(_lowest(table, n))]
    n_leading = next(n for n in range(len(headings) + 1) if n not in headings)
    turned = table.transposed(max(n_leading, 1))
    if any(_MEASURE_HEADING.fullmatch(_lowest(table, n)) for n in headings):
        has_names = any(_is_text(n, table) for n in range(len(table.titles)) if n not in headings)
        return table if has_names else turned
    n, n_turned = (
        sum(column.kind is Kind.MEASURE for part in parts_of(each)[:1] for column in part.columns)
        for each in (table, turned)
    )
    return turned if n_turned > n else table


def parts_of(table: PrintedTable) -> list[Part]:
    """Return the rows of a table by what heads them, in columns such as ``k`` or between the rows."""
    headings = _headings(table)
    columns = [n for n in range(len(table.titles)) if n not in headings]
    labels = _labels(table, columns)
    titles = _titles(table, [n for n in columns if n not in labels])
    values = [n for n in columns if n not in labels]
    if any(_MEASURE_HEADING.fullmatch(_lowest(table, n)) for n in headings):
        titled = [n for n in values if _VALUE.fullmatch(" ".join(titles[n]))]
        titles |= dict.fromkeys(titled, ())
        values = titled or values
    fixed = [
        *(Column(n, Kind.LABEL, "") for n in labels),
        *(Column(n, Kind.OTHER, " ".join(titles[n])) for n in columns if n not in labels + values),
    ]
    rows: dict[tuple[str, ...], list[int]] = {}
    for number, heads in enumerate(_heads(table, headings)):
        rows.setdefault(heads, []).append(number)
    return [
        Part(found, [*fixed, *_with_names([_column(n, (*heads, *titles[n])) for n in values])])
        for heads, found in rows.items()
    ]


def _labels(table: PrintedTable, columns: list[int]) -> list[int]:
    """Return the columns that name the rows: text left of the first measure, that of the run first."""
    named = [n for n in columns if _column(n, table.titles[n]).kind is not Kind.OTHER]
    text = [n for n in columns if _is_text(n, table)]
    first = min(named or [n for n in columns if n not in text], default=len(table.titles))
    labels = [n for n in text if n < first] or columns[:1]
    return sorted(labels, key=lambda n: not _RUN_HEADING.match(_lowest(table, n)))


def _titles(table: PrintedTable, columns: list[int]) -> dict[int, tuple[str, ...]]:
    """Return the titles of columns; a measure may stand above the first of its cutoffs only."""
    titles = {n: table.titles[n] for n in columns}
    for before, n in pairwise(columns):
        if titles[n] and titles[before][1:] and all(map(is_cutoff, (titles[before][-1], *titles[n]))):
            titles[n] = (*titles[before][:-1], *titles[n])
    return titles


def _lowest(table: PrintedTable, column: int) -> str:
    """Return the lowest title of a column."""
    return table.titles[column][-1] if table.titles[column] else ""


def _headings(table: PrintedTable) -> list[int]:
    """Return the columns that head the rest of their row: cutoffs, measures, and data sets beside names."""
    lowest = [_lowest(table, n) for n in range(len(table.titles))]
    found = [n for n, title in enumerate(lowest) if _MEASURE_HEADING.fullmatch(title)]
    found += [
        n
        for n, title in enumerate(lowest)
        if _CUTOFF_HEADING.fullmatch(title)
        and all(is_cutoff(title_of(row[n])) for row in table.rows if row[n].strip())
    ]
    groups = [n for n, title in enumerate(lowest) if _GROUP_HEADING.fullmatch(title)]
    if any(_is_text(n, table) for n in range(len(lowest)) if n not in found + groups):
        found += groups
    return sorted(found)


def _filled_down(table: PrintedTable) -> PrintedTable:
    """Write names and headings into the rows below that leave them out, in a table with such headings."""
    headings = _headings(table)
    rows = [list(row) for row in table.rows]
    for n in (n for n in range(len(table.titles)) if headings and (n in headings or _is_text(n, table))):
        for above, row in pairwise(rows):
            row[n] = row[n] if row[n].strip() else above[n]
    return replace(table, rows=rows)


def _sections(table: PrintedTable) -> Iterator[str]:
    """Yield the cutoff or measure that stands above each row."""
    section = ""
    for text in table.sections:
        if is_cutoff(text) or not (why_no_measure(text) and why_no_measure(f"{bare(text)}@1")):
            section = text
        yield section


def _heads(table: PrintedTable, headings: list[int]) -> Iterator[tuple[str, ...]]:
    """Yield what heads each row."""
    for section, row in zip(table.sections, table.rows, strict=True):
        cells = [title_of(row[n]) for n in headings]
        cells = [f"@{cell}" if cell.isdecimal() else cell for cell in cells]
        yield tuple(filter(None, [section, *cells]))


def _with_names(columns: list[Column]) -> Iterator[Column]:
    """Yield the columns: a change without a name is one of the measure before it, and no two are alike."""
    last = Column(0, Kind.LABEL, "")
    seen: dict[tuple[str, str], int] = {}
    for each in columns:
        if each.name:
            last = each
        elif each.kind is Kind.CHANGE:
            each = each._replace(name=last.name, group=last.group)
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
    if is_no_measure(last):
        return Column(number, Kind.OTHER, title, why="a p-value, an interval or a deviation is no measure")
    if any(map(is_change, titles)):
        return Column(number, Kind.CHANGE, title, *measure_in(tuple(map(without_change, titles)))[:2])
    in_percent = any(_SIGN.fullmatch(each) or heading_of(each)[1] for each in titles)
    name, group, why = measure_in(tuple(each for each in titles if not _SIGN.fullmatch(each)))
    if not name:
        return Column(number, Kind.OTHER, title, why=why)
    if in_percent and not heading_of(name)[1]:
        name += " (%)"
    return Column(number, Kind.MEASURE, title, name, group)
