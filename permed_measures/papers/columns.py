"""Which columns of a printed table name its rows, which head them, and which hold numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from permed_measures.papers.cells import is_blank, printed_in, title_of
from permed_measures.papers.grids import PrintedTable, Row
from permed_measures.papers.headings import Heading, heading_in, is_cutoff, names_a_measure

_CUTOFF_HEADING = re.compile(r"@?k|@|cut-?offs?|top-?k|截断", re.IGNORECASE)
_MEASURE_HEADING = re.compile(r"metrics?|measures?|评价指标|指标", re.IGNORECASE)
_GROUP_HEADING = re.compile(r"data[ -]?sets?|corpus|collection|benchmark|数据集", re.IGNORECASE)
_RUN_HEADING = re.compile(r"(?:run|system|model|method|retriever|ranker|模型|系统|方法)", re.IGNORECASE)
_VALUE = re.compile(r"values?|scores?|means?|results?|avg\.?|average|得分|结果|值", re.IGNORECASE)


class Columns(NamedTuple):
    """The columns of a table, by their numbers.

    Attributes
    ----------
    labels : list of int
        Those that name the rows.
    heads : list of int
        Those that head the rest of their row: measures, cutoffs and data sets.
    values : dict of int to tuple of str
        Those that hold values, with their titles.
    others : dict of int to str
        Those that hold something else in a table with a column of values.
    """

    labels: list[int]
    heads: list[int]
    values: dict[int, tuple[str, ...]]
    others: dict[int, str]

    @classmethod
    def of(cls, table: PrintedTable) -> Columns:
        """Tell the columns of a table apart."""
        heads = _heads(table)
        rest = [n for n in range(len(table.titles)) if n not in heads]
        labels = _labels(table, rest)
        values, others = _titles(table, [n for n in rest if n not in labels]), {}
        titled = [n for n, titles in values.items() if _VALUE.fullmatch(" ".join(titles))]
        if titled and _has_measures(table, heads):
            others = {n: " ".join(titles) for n, titles in values.items() if n not in titled}
            values = dict.fromkeys(titled, ())
        return cls(labels, heads, values, others)

    def headings(self, row: Row) -> dict[int, Heading]:
        """Return what heads each number of a row; a change is of the measure before it, if it names none."""
        cells = [title_of(row.cells[n]) for n in self.heads]
        heads = tuple(
            filter(None, [row.section, *(f"@{each}" if each.isdecimal() else each for each in cells)])
        )
        found = {n: Heading(title) for n, title in self.others.items()}
        last = Heading("")
        for n, titles in self.values.items():
            heading = heading_in((*heads, *titles))
            if heading.is_change:
                heading = heading._replace(name=heading.name or last.name, group=heading.group or last.group)
            last = heading if heading.name else last
            found[n] = heading
        return found


def oriented(table: PrintedTable) -> PrintedTable:
    """Return a table with its runs as rows, and of what stands between them only cutoffs and measures."""
    table = _filled_down(table._replace(rows=list(_with_sections(table.rows))))
    heads = _heads(table)
    leading = [n for n in heads if not _GROUP_HEADING.fullmatch(_lowest(table, n))]
    n_leading = next(n for n in range(len(leading) + 1) if n not in leading)
    turned = table.transposed(max(n_leading, 1))
    if _has_measures(table, heads):
        has_names = any(_is_text(n, table) for n in range(len(table.titles)) if n not in leading)
        return table if has_names else turned
    return max(table, turned, key=_n_measures)


def _n_measures(table: PrintedTable) -> int:
    """Count the measures of the first row."""
    headings = Columns.of(table).headings(table.rows[0]).values()
    return sum(bool(each.name) and not each.is_change for each in headings)


def _has_measures(table: PrintedTable, heads: list[int]) -> bool:
    return any(_MEASURE_HEADING.fullmatch(_lowest(table, n)) for n in heads)


def _labels(table: PrintedTable, columns: list[int]) -> list[int]:
    """Return the columns that name the rows: text left of the first measure, that of the run first."""
    text = [n for n in columns if _is_text(n, table)]
    headings = {n: heading_in(table.titles[n]) for n in columns}
    named = [n for n, each in headings.items() if each.name or each.is_change]
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


def _heads(table: PrintedTable) -> list[int]:
    """Return the columns that head the rest of their row: cutoffs, measures, and data sets beside names."""
    lowest = [_lowest(table, n) for n in range(len(table.titles))]
    found = [n for n, title in enumerate(lowest) if _MEASURE_HEADING.fullmatch(title)]
    found += [
        n
        for n, title in enumerate(lowest)
        if _CUTOFF_HEADING.fullmatch(title)
        and all(is_cutoff(title_of(row.cells[n])) for row in table.rows if row.cells[n].strip())
    ]
    groups = [n for n, title in enumerate(lowest) if _GROUP_HEADING.fullmatch(title)]
    if any(_is_text(n, table) for n in range(len(lowest)) if n not in found + groups):
        found += groups
    return sorted(found)


def _filled_down(table: PrintedTable) -> PrintedTable:
    """Write names and headings into the rows below that leave them out, in a table with such headings."""
    heads = _heads(table)
    rows = [row._replace(cells=list(row.cells)) for row in table.rows]
    for n in (n for n in range(len(table.titles)) if heads and (n in heads or _is_text(n, table))):
        for above, row in pairwise(rows):
            row.cells[n] = row.cells[n] if row.cells[n].strip() else above.cells[n]
    return table._replace(rows=rows)


def _with_sections(rows: list[Row]) -> Iterator[Row]:
    """Yield the rows with the cutoff or measure that stands above each."""
    section = ""
    for row in rows:
        if is_cutoff(row.section) or names_a_measure(row.section):
            section = row.section
        yield row._replace(section=section)


def _is_text(number: int, table: PrintedTable) -> bool:
    """Return whether a column holds names rather than numbers."""
    cells = [row.cells[number] for row in table.rows if not is_blank(row.cells[number])]
    return 2 * sum(printed_in(cell) is None for cell in cells) > len(cells)
