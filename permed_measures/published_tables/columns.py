"""Columns of a printed table: which name its rows, which head them, and which hold numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from permed_measures.published_tables.cells import NumberCell, PrintedTable, TableRow, label_of, title_of
from permed_measures.published_tables.headings import BESIDE, Heading, heading_in, is_cutoff, names_a_measure

_CUTOFF_HEADING = re.compile(r"@?k|@|cut-?offs?|top-?k|截断", re.IGNORECASE)
_MEASURE_HEADING = re.compile(r"metrics?|measures?|评价指标|指标", re.IGNORECASE)
_GROUP_HEADING = re.compile(
    r"(?:test |eval\w* )?(?:data[ -]?sets?|corpus|corpora|collections?|benchmarks?)|test sets?|数据集",
    re.IGNORECASE,
)
_RUN_PATTERN = r"(?:run|system|model|method|approach|algorithm|retriever|ranker|模型|系统|方法)"
_RUN_HEADING = re.compile(_RUN_PATTERN, re.IGNORECASE)
_NAME_HEADING = re.compile(rf"{_RUN_PATTERN}s?(?:[ _-]?(?:name|id|tag))?", re.IGNORECASE)
_VALUE = re.compile(r"values?|scores?|means?|results?|avg\.?|average|得分|结果|值", re.IGNORECASE)
_TOPICS_HEADING = re.compile(
    r"[nN]|# ?[qQ]s?|\|[qQ]\||(?:#|(?:no\.?|num(?:ber)?\.?|n|count)(?: of|_)?)? ?(?:test |eval\w* )?"
    r"(?:queries|topics|questions)(?: ?[(\[]?(?:#|n|count)[)\]]?)?|(?:查询|主题|问题)数量?",
    re.IGNORECASE,
)
"""What heads counts of queries."""
_LETTER_AND_NUMBER = re.compile(r"[A-Za-z][0-9]+")
_SIZE = re.compile(r"[0-9][0-9.,]* ?[kmb]\b.*", re.IGNORECASE)
"""A size such as ``7B``: it names a row only if nothing else does."""


class HeadedNumber(NamedTuple):
    """A cell below the headings, and what it is about.

    Attributes
    ----------
    labels : list of str
        What its row may be called, the whole of it last.
    section : str
        What stands above its row, where that is no measure or cutoff.
    heading : Heading
    entry : Entry
        The text with the number in it, if it holds one.
    line : int
    column : int
    topics : int or None
        Over how many queries the table says that the mean is.
    """

    labels: list[str]
    section: str
    heading: Heading
    entry: NumberCell
    line: int
    column: int
    topics: int | None


class Columns(NamedTuple):
    """The columns of a table, by their numbers.

    Attributes
    ----------
    labels : list of int
        Those that name the rows, best first; empty if none does.
    heads : list of int
        Those that head the rest of their row: measures and cutoffs.
    groups : list of int
        Those that say of which data set or the like it is.
    values : dict of int to tuple of str
        Those that hold values, with their titles.
    others : dict of int to str
        Those that hold something else in a table with a column of values.
    topics : dict of tuple of str to int
        Those with counts of queries, by what stands above them.
    """

    labels: list[int]
    heads: list[int]
    groups: list[int]
    values: dict[int, tuple[str, ...]]
    others: dict[int, str]
    topics: dict[tuple[str, ...], int]

    @classmethod
    def of(cls, table: PrintedTable) -> Columns:
        """Tell the columns of a table apart."""
        heads = heads_of(table)
        topics = {
            table.titles[n][:-1]: n
            for n in range(len(table.titles))
            if n not in heads and _TOPICS_HEADING.fullmatch(lowest(table, n)) and _are_counts(table, n)
        }
        rest = [n for n in range(len(table.titles)) if n not in (*heads, *topics.values())]
        labels = _labels(table, rest)
        values, others = {n: table.titles[n] for n in rest if n not in labels}, {}
        titled = [n for n, titles in values.items() if _VALUE.fullmatch(" ".join(titles))]
        if titled and has_measures(table, heads):
            others = {n: " ".join(titles) for n, titles in values.items() if n not in titled}
            values = dict.fromkeys(titled, ())
        of_groups = [n for n in heads if _GROUP_HEADING.fullmatch(lowest(table, n))]
        groups = [*_groups(table, labels, heads), *of_groups]
        heads = [n for n in heads if n not in of_groups]
        return cls(labels, heads, groups, values, others, topics)

    def cells(self, table: PrintedTable) -> Iterator[HeadedNumber]:
        """Yield the cells of a table below its headings, row by row."""
        of_columns: dict[int, int | None] = {}
        rows = []
        for row in table.rows:
            texts = [label_of(row.cells[n].text) for n in self.labels]
            labels = list(dict.fromkeys(filter(None, [*texts, " ".join(filter(None, texts))]))) or [""]
            counts = {n: _count_in(row.cells[n]) for n in self.values if not row.cells[n].is_blank}
            if _TOPICS_HEADING.fullmatch(labels[0]) and counts and all(counts.values()):
                of_columns = counts
            else:
                rows.append((labels, row))
        for labels, row in rows:
            for n, heading in self._headings(row).items():
                topics = of_columns.get(n) or self._topics(row, n)
                yield HeadedNumber(labels, row.block, heading, row.cells[n], row.line, n, topics)

    def _topics(self, row: TableRow, column: int) -> int | None:
        """Return over how many queries the mean in a column is, if a column of counts is about it."""
        titles = self.values.get(column, ())
        counts = self.topics.get(titles[:-1], self.topics.get(()))
        return None if counts is None else _count_in(row.cells[counts])

    def _headings(self, row: TableRow) -> dict[int, Heading]:
        """Return what heads each number of a row; a change is of the measure before it, if it names none."""
        groups = [title_of(row.cells[n].text) for n in self.groups]
        groups += [each for each in row.sections if each == row.block]
        cells = [title_of(row.cells[n].text) for n in self.heads]
        cells = [f"@{each}" if each.isdecimal() and is_cutoff(each) else each for each in cells]
        heads = [each for each in (*row.sections, *cells) if each and each != row.block]
        found = {n: Heading(title) for n, title in self.others.items()}
        last = Heading("")
        for n, titles in self.values.items():
            heading = heading_in((*filter(None, groups), *heads, *titles))
            heading = heading._replace(title=" ".join([*heads, *titles]))
            if heading.is_change:
                heading = heading._replace(name=heading.name or last.name, group=heading.group or last.group)
            last = heading if heading.name else last
            found[n] = heading
        return found


def lowest(table: PrintedTable, column: int) -> str:
    """Return the lowest title of a column."""
    return table.titles[column][-1] if table.titles[column] else ""


def heads_of(table: PrintedTable) -> list[int]:
    """Return the columns that head the rest of their row: cutoffs, measures, and data sets beside names.

    They are told by the titles of their columns, measures and cutoffs also by the cells of these, unless the
    rows of the table were columns.
    """
    titles = [lowest(table, n) for n in range(len(table.titles))]
    found = [n for n, title in enumerate(titles) if _is_head(title, entries_of(table, n), table.is_turned)]
    beside = [n + 1 for n in found if n + 1 < len(titles) and not table.is_turned and _has_measures(table, n)]
    found += [n for n in beside if n not in found and not titles[n] and _are_cutoffs(table, n)]
    groups = [n for n, title in enumerate(titles) if _GROUP_HEADING.fullmatch(title)]
    if any(holds_names(n, table) for n in range(len(titles)) if n not in found + groups):
        found += groups
    return sorted(found)


def _are_cutoffs(table: PrintedTable, column: int) -> bool:
    return all(is_cutoff(title_of(entry.text)) for entry in entries_of(table, column))


def _is_head(title: str, entries: list[NumberCell], by_title: bool) -> bool:
    """Return whether a column is one of measures or cutoffs."""
    texts = [title_of(entry.text) for entry in entries]
    if _MEASURE_HEADING.fullmatch(title):
        return True
    if _CUTOFF_HEADING.fullmatch(title):
        return all(map(is_cutoff, texts))
    if by_title or _RUN_HEADING.match(title) or any(entry.number for entry in entries) or not texts:
        return False
    return all(map(is_cutoff, texts)) or _are_measures(texts)


def has_measures(table: PrintedTable, heads: Iterable[int]) -> bool:
    """Return whether one of the columns that head rows is one of measures."""
    return any(_MEASURE_HEADING.fullmatch(lowest(table, n)) or _has_measures(table, n) for n in heads)


def _has_measures(table: PrintedTable, column: int) -> bool:
    return _are_measures([title_of(entry.text) for entry in entries_of(table, column)])


def _are_measures(texts: list[str]) -> bool:
    """Return whether more than half of some texts name measures; P1 and R2 may be anything."""
    measures = (
        names_a_measure(text) for text in texts if not (is_cutoff(text) or _LETTER_AND_NUMBER.fullmatch(text))
    )
    return 2 * sum(measures) > len(texts)


def entries_of(table: PrintedTable, column: int) -> list[NumberCell]:
    """Return the cells of a column that are not empty."""
    return [row.cells[column] for row in table.rows if not row.cells[column].is_blank]


def holds_names(column: int, table: PrintedTable) -> bool:
    """Return whether a column holds names, rather than numbers or cutoffs."""
    entries = entries_of(table, column)
    return 2 * sum(map(_is_name, entries)) > len(entries)


def _is_name(entry: NumberCell) -> bool:
    return entry.number is None and any(map(str.isalpha, entry.text)) and not is_cutoff(title_of(entry.text))


def has_run_heading(table: PrintedTable, column: int) -> bool:
    """Return whether a title says that its column names runs."""
    return bool(_NAME_HEADING.fullmatch(lowest(table, column)))


def is_of_groups(table: PrintedTable, column: int) -> bool:
    """Return whether a title says that its column has data sets, or texts of the column repeat."""
    texts = _texts(table, column)
    return bool(_GROUP_HEADING.fullmatch(lowest(table, column))) or len({*texts}) < len(texts)


def is_value(title: str) -> bool:
    """Return whether a title says that its column has the values of any measure."""
    return bool(_VALUE.fullmatch(title))


def _are_counts(table: PrintedTable, column: int) -> bool:
    return all(map(_count_in, entries_of(table, column)))


def _count_in(entry: NumberCell) -> int | None:
    """Return the whole number in a cell, from 1 on."""
    text = entry.number.number if entry.number is not None and not entry.number.signed else ""
    return (int(text) or None) if text.isdecimal() else None


# --- names of rows ---------------------------------------------------------------------------------


def _labels(table: PrintedTable, columns: list[int]) -> list[int]:
    """Return the columns that name the rows, best first: a column of numbers only below ``run`` or the like.

    They are those of text left of the first measure, and those that their title says to name runs; where
    there are none, the only one with another text in each row.
    """
    columns = [n for n in columns if not _TOPICS_HEADING.fullmatch(lowest(table, n))]
    text = [
        n
        for n in columns
        if holds_names(n, table) and (has_run_heading(table, n) or not _has_measures(table, n))
    ]
    headings = {n: heading_in(table.titles[n]) for n in columns}
    named = [n for n, each in headings.items() if each.name or each.is_change]
    first = min(named or [n for n in columns if n not in text], default=len(table.titles))
    labels = [n for n in text if n < first or has_run_heading(table, n)]
    labels = labels or [n for n in columns if has_run_heading(table, n)]
    if not labels:
        free = [n for n in text if n not in named and headings[n].why != BESIDE]
        labels = [n for n in free if len({*_texts(table, n)} - {""}) == len(table.rows)]
        labels = labels if len(free) == 1 else []

    def place(column: int) -> tuple[bool, bool, int]:
        texts = _texts(table, column)
        is_size = 2 * sum(map(bool, map(_SIZE.fullmatch, texts))) > len(texts)
        n_changes = sum(above != below for above, below in pairwise(texts))
        return not _RUN_HEADING.match(lowest(table, column)), is_size, -n_changes

    return sorted(labels, key=place)


def _groups(table: PrintedTable, labels: list[int], heads: list[int]) -> list[int]:
    """Return the columns left of names that say of which of several data sets, or the like, each row is."""
    groups = [n for n in labels if n < labels[0]]
    several = [row.sections for row in table.rows], *(_texts(table, n) for n in (*heads, *labels[:1]))
    names = [*zip(*several, strict=True)]
    whole = [*zip(names, *(_texts(table, n) for n in groups), strict=True)]
    return groups if len({*names}) < len({*whole}) == len(whole) else []


def _texts(table: PrintedTable, column: int) -> list[str]:
    return [label_of(row.cells[column].text) for row in table.rows]
