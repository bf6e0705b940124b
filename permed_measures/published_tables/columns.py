"""Classify the columns of a printed table: names of rows, headings of rows, and numbers."""

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
"""Titles above numbers of queries."""
_LETTER_AND_NUMBER = re.compile(r"[A-Za-z][0-9]+")
_SIZE = re.compile(r"[0-9][0-9.,]* ?[kmb]\b.*", re.IGNORECASE)
"""A size such as ``7B``: it names a row only if nothing else does."""


class HeadedNumber(NamedTuple):
    """A cell below the headings, with the names of its row and its heading.

    Attributes
    ----------
    labels : list of str
        The possible names of its row, the complete one last.
    section : str
        The section heading above its row, if it is not a measure or cutoff.
    heading : Heading
    entry : NumberCell
        The text, and the number in it if it holds one.
    line : int
    column : int
    topics : int or None
        The number of queries that the mean is over, if the table says it.
    """

    labels: list[str]
    section: str
    heading: Heading
    entry: NumberCell
    line: int
    column: int
    topics: int | None


class Columns(NamedTuple):
    """The columns of a table, as indices.

    Attributes
    ----------
    labels : list of int
        Columns that name the rows, best first; empty if none does.
    key_columns : list of int
        Key columns: measures and cutoffs that belong to the other cells of their row.
    groups : list of int
        Columns of data sets or other groups.
    values : dict of int to tuple of str
        Columns of values, with their titles.
    others : dict of int to str
        Other columns with their titles, in a table that has a column titled "value" or the like.
    topics : dict of tuple of str to int
        Columns of numbers of queries, by the titles above their own.
    """

    labels: list[int]
    key_columns: list[int]
    groups: list[int]
    values: dict[int, tuple[str, ...]]
    others: dict[int, str]
    topics: dict[tuple[str, ...], int]

    @classmethod
    def of(cls, table: PrintedTable) -> Columns:
        """Classify the columns of a table."""
        key_columns = key_columns_of(table)
        topics = {
            table.titles[n][:-1]: n
            for n in range(len(table.titles))
            if n not in key_columns and _TOPICS_HEADING.fullmatch(lowest(table, n)) and _are_counts(table, n)
        }
        rest = [n for n in range(len(table.titles)) if n not in (*key_columns, *topics.values())]
        labels = _labels(table, rest)
        values, others = {n: table.titles[n] for n in rest if n not in labels}, {}
        titled = [n for n, titles in values.items() if _VALUE.fullmatch(" ".join(titles))]
        if titled and has_measures(table, key_columns):
            others = {n: " ".join(titles) for n, titles in values.items() if n not in titled}
            values = dict.fromkeys(titled, ())
        group_heads = [n for n in key_columns if _GROUP_HEADING.fullmatch(lowest(table, n))]
        groups = [*_groups(table, labels, key_columns), *group_heads]
        key_columns = [n for n in key_columns if n not in group_heads]
        return cls(labels, key_columns, groups, values, others, topics)

    def cells(self, table: PrintedTable) -> Iterator[HeadedNumber]:
        """Yield the cells of a table below its headings, row by row."""
        column_topics: dict[int, int | None] = {}
        rows = []
        for row in table.rows:
            texts = [label_of(row.cells[n].text) for n in self.labels]
            labels = list(dict.fromkeys(filter(None, [*texts, " ".join(filter(None, texts))]))) or [""]
            counts = {n: _count_in(row.cells[n]) for n in self.values if not row.cells[n].is_blank}
            if _TOPICS_HEADING.fullmatch(labels[0]) and counts and all(counts.values()):
                column_topics = counts
            else:
                rows.append((labels, row))
        for labels, row in rows:
            for n, heading in self._headings(row).items():
                topics = column_topics.get(n) or self._topics(row, n)
                yield HeadedNumber(labels, row.block, heading, row.cells[n], row.line, n, topics)

    def _topics(self, row: TableRow, column: int) -> int | None:
        """Look up the number of queries for a column; None if no column of counts belongs to it."""
        titles = self.values.get(column, ())
        counts = self.topics.get(titles[:-1], self.topics.get(()))
        return None if counts is None else _count_in(row.cells[counts])

    def _headings(self, row: TableRow) -> dict[int, Heading]:
        """Find the heading of each number in a row; a change without a measure gets the measure before it."""
        groups = [title_of(row.cells[n].text) for n in self.groups]
        groups += [title for title in row.sections if title == row.block]
        cells = [title_of(row.cells[n].text) for n in self.key_columns]
        cells = [f"@{text}" if text.isdecimal() and is_cutoff(text) else text for text in cells]
        key_titles = [title for title in (*row.sections, *cells) if title and title != row.block]
        headings = {n: Heading(title) for n, title in self.others.items()}
        last = Heading("")
        for n, titles in self.values.items():
            heading = heading_in((*filter(None, groups), *key_titles, *titles))
            heading = heading._replace(title=" ".join([*key_titles, *titles]))
            if heading.is_change:
                heading = heading._replace(name=heading.name or last.name, group=heading.group or last.group)
            last = heading if heading.name else last
            headings[n] = heading
        return headings


def lowest(table: PrintedTable, column: int) -> str:
    """Return the lowest title of a column."""
    return table.titles[column][-1] if table.titles[column] else ""


def key_columns_of(table: PrintedTable) -> list[int]:
    """Find the key columns: measures and cutoffs, and data sets if another column has names.

    Their titles show them. Measures and cutoffs are also recognized by their cells, unless the rows of the
    table were columns.
    """
    titles = [lowest(table, n) for n in range(len(table.titles))]
    keys = [n for n, title in enumerate(titles) if _is_head(title, entries_of(table, n), table.is_turned)]
    beside = [n + 1 for n in keys if n + 1 < len(titles) and not table.is_turned and _has_measures(table, n)]
    keys += [n for n in beside if n not in keys and not titles[n] and _are_cutoffs(table, n)]
    groups = [n for n, title in enumerate(titles) if _GROUP_HEADING.fullmatch(title)]
    if any(holds_names(n, table) for n in range(len(titles)) if n not in keys + groups):
        keys += groups
    return sorted(keys)


def _are_cutoffs(table: PrintedTable, column: int) -> bool:
    return all(is_cutoff(title_of(entry.text)) for entry in entries_of(table, column))


def _is_head(title: str, entries: list[NumberCell], by_title: bool) -> bool:
    """Check whether a column has measures or cutoffs."""
    texts = [title_of(entry.text) for entry in entries]
    if _MEASURE_HEADING.fullmatch(title):
        return True
    if _CUTOFF_HEADING.fullmatch(title):
        return all(map(is_cutoff, texts))
    if by_title or _RUN_HEADING.match(title) or any(entry.number for entry in entries) or not texts:
        return False
    return all(map(is_cutoff, texts)) or _are_measures(texts)


def has_measures(table: PrintedTable, key_columns: Iterable[int]) -> bool:
    """Check whether one of the key columns has measures."""
    return any(_MEASURE_HEADING.fullmatch(lowest(table, n)) or _has_measures(table, n) for n in key_columns)


def _has_measures(table: PrintedTable, column: int) -> bool:
    return _are_measures([title_of(entry.text) for entry in entries_of(table, column)])


def _are_measures(texts: list[str]) -> bool:
    """Check whether more than half of some texts name measures; P1 and R2 are ambiguous and do not count."""
    measures = (
        names_a_measure(text) for text in texts if not (is_cutoff(text) or _LETTER_AND_NUMBER.fullmatch(text))
    )
    return 2 * sum(measures) > len(texts)


def entries_of(table: PrintedTable, column: int) -> list[NumberCell]:
    """List the cells of a column that are not blank."""
    return [row.cells[column] for row in table.rows if not row.cells[column].is_blank]


def holds_names(column: int, table: PrintedTable) -> bool:
    """Check whether a column holds names rather than numbers or cutoffs."""
    entries = entries_of(table, column)
    return 2 * sum(map(_is_name, entries)) > len(entries)


def _is_name(entry: NumberCell) -> bool:
    return entry.number is None and any(map(str.isalpha, entry.text)) and not is_cutoff(title_of(entry.text))


def has_run_heading(table: PrintedTable, column: int) -> bool:
    """Check whether the title of a column says that it names runs."""
    return bool(_NAME_HEADING.fullmatch(lowest(table, column)))


def is_of_groups(table: PrintedTable, column: int) -> bool:
    """Check whether the title of a column says that it has data sets, or its texts repeat."""
    texts = _texts(table, column)
    return bool(_GROUP_HEADING.fullmatch(lowest(table, column))) or len({*texts}) < len(texts)


def is_value(title: str) -> bool:
    """Check whether a title such as "value" is above the values of any measure."""
    return bool(_VALUE.fullmatch(title))


def _are_counts(table: PrintedTable, column: int) -> bool:
    return all(map(_count_in, entries_of(table, column)))


def _count_in(entry: NumberCell) -> int | None:
    """Parse a positive integer in a cell; None for anything else."""
    text = entry.number.number if entry.number is not None and not entry.number.signed else ""
    return (int(text) or None) if text.isdecimal() else None


# --- names of rows ---------------------------------------------------------------------------------


def _labels(table: PrintedTable, columns: list[int]) -> list[int]:
    """Find the columns that name the rows, best first.

    These are the text columns left of the first measure, and text columns with a title such as ``run``. If
    there are none, a column of numbers with such a title, or the only text column if its texts are unique.
    """
    columns = [n for n in columns if not _TOPICS_HEADING.fullmatch(lowest(table, n))]
    text = [
        n
        for n in columns
        if holds_names(n, table) and (has_run_heading(table, n) or not _has_measures(table, n))
    ]
    headings = {n: heading_in(table.titles[n]) for n in columns}
    named = [n for n, heading in headings.items() if heading.name or heading.is_change]
    first = min(named or [n for n in columns if n not in text], default=len(table.titles))
    labels = [n for n in text if n < first or has_run_heading(table, n)]
    labels = labels or [n for n in columns if has_run_heading(table, n)]
    if not labels:
        free = [n for n in text if n not in named and headings[n].why != BESIDE]
        labels = [n for n in free if len({*_texts(table, n)} - {""}) == len(table.rows)]
        labels = labels if len(free) == 1 else []

    def priority(column: int) -> tuple[bool, bool, int]:
        texts = _texts(table, column)
        is_size = 2 * sum(map(bool, map(_SIZE.fullmatch, texts))) > len(texts)
        n_changes = sum(above != below for above, below in pairwise(texts))
        return not _RUN_HEADING.match(lowest(table, column)), is_size, -n_changes

    return sorted(labels, key=priority)


def _groups(table: PrintedTable, labels: list[int], key_columns: list[int]) -> list[int]:
    """Find columns left of the names that have data sets or other groups: they make the names unique."""
    groups = [n for n in labels if n < labels[0]]
    parts = [row.sections for row in table.rows], *(_texts(table, n) for n in (*key_columns, *labels[:1]))
    names = [*zip(*parts, strict=True)]
    with_groups = [*zip(names, *(_texts(table, n) for n in groups), strict=True)]
    return groups if len({*names}) < len({*with_groups}) == len(with_groups) else []


def _texts(table: PrintedTable, column: int) -> list[str]:
    return [label_of(row.cells[column].text) for row in table.rows]
