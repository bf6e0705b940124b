"""Rearrange a printed table so that its runs are rows, with one number in each cell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from permed_measures.published_tables.cells import NumberCell, PrintedTable, TableRow, numbers_in, title_of
from permed_measures.published_tables.columns import (
    Columns,
    has_measures,
    has_run_heading,
    holds_names,
    is_of_groups,
    is_value,
    key_columns_of,
    lowest,
)
from permed_measures.published_tables.headings import is_cutoff, names_a_measure
from permed_measures.published_tables.measure_names import meaning_of, split, strip_heading, without_cutoff


def oriented(table: PrintedTable) -> PrintedTable:
    """Turn a table so that its runs are rows, and add section headings if they tell rows apart."""
    table = _forward_fill(_with_sections(_split_cutoffs(table)))
    heads = key_columns_of(table)
    if not has_measures(table, heads):
        return max(table, _turned(table, 1), key=_n_measures)
    rest = [n for n in range(len(table.titles)) if n not in heads]
    text = [n for n in rest if holds_names(n, table)]
    numbers = [n for n in rest if n not in text]
    titles = [lowest(table, n) for n in numbers]
    of_values = any(is_value(title) or is_cutoff(title) or names_a_measure(title) for title in titles)
    if any(has_run_heading(table, n) for n in text) or (text and of_values):
        return table
    first = min(numbers, default=0)
    before = [n for n in text if n < first and (is_of_groups(table, n) or not lowest(table, n))]
    leading = [*before, *heads]
    return _turned(table.arranged([*leading, *(n for n in rest if n not in before)]), len(leading))


def _turned(table: PrintedTable, n: int) -> PrintedTable:
    """Turn rows into columns; cutoffs, or measures if the new titles are cutoffs, become headings of rows."""
    turned = table.transposed(n)
    are_cutoffs = all(titles and all(map(is_cutoff, titles)) for titles in turned.titles[1:])
    is_head = names_a_measure if are_cutoffs else is_cutoff
    rows = []
    for titles, row in zip(table.titles[n:], turned.rows, strict=True):
        heads = [title for title in titles if is_head(title)]
        name = " ".join(title for title in titles if title not in heads)
        cells = [NumberCell.of(name), *row.cells[1:]]
        rows.append(row._replace(cells=cells, sections=tuple(heads)) if name and heads else row)
    return turned._replace(rows=rows)


def _n_measures(table: PrintedTable) -> int:
    """Count the measures of the first row, if it has a name."""
    columns = Columns.of(table)
    headings = [cell.heading for cell in columns.cells(table._replace(rows=table.rows[:1]))]
    n_measures = sum(bool(heading.name) and not heading.is_change for heading in headings)
    return n_measures if columns.labels else 0


def _forward_fill(table: PrintedTable) -> PrintedTable:
    """Copy names and key cells into rows below that leave them blank but have another name or key.

    A key ends where a key column to its left has a new value.
    """
    heads = key_columns_of(table)
    rows = [row._replace(cells=list(row.cells)) for row in table.rows]
    names = [n for n in range(len(table.titles)) if holds_names(n, table)]
    first = next((n for n in range(len(table.titles)) if n not in (*heads, *names)), len(table.titles))
    columns = [*heads, *(n for n in names if n not in heads and (n < first or has_run_heading(table, n)))]
    spanning = [n for n in heads if not all(row.cells[n].text.strip() for row in rows)]
    for above, row in pairwise(rows):
        if heads or any(row.cells[n].text.strip() for n in columns):
            begins = min((n for n in spanning if row.cells[n].text.strip()), default=len(table.titles))
            for n in columns:
                if not row.cells[n].text.strip() and not (n in heads and n > begins):
                    row.cells[n] = above.cells[n]
    return table._replace(rows=rows)


def _with_sections(table: PrintedTable) -> PrintedTable:
    """Keep the cutoff or measure above each row; keep the data set too if names repeat below it."""
    block = measure = ""
    rows = []
    for row in table.rows:
        for title in row.sections:
            if is_cutoff(title) or names_a_measure(title):
                measure = title
            else:
                block = title
        rows.append(row._replace(sections=(measure,) if measure else (), block=block))
    if _repeat(table, rows):
        rows = [row._replace(sections=tuple(filter(None, (row.block, *row.sections)))) for row in rows]
    return table._replace(rows=rows)


def _repeat(table: PrintedTable, rows: list[TableRow]) -> bool:
    """Check whether rows below different headings have the same name."""
    text = [n for n in range(len(table.titles)) if holds_names(n, table)]
    names = [tuple(row.cells[n].text for n in text) for row in rows]
    with_block = {(row.block, row.sections, *name) for row, name in zip(rows, names, strict=True)}
    with_measure = {(row.sections, *name) for row, name in zip(rows, names, strict=True)}
    return len(with_measure) < len(with_block)


# --- several cutoffs in a cell ---------------------------------------------------------------------

_BETWEEN_VALUES = re.compile(r" *[/|;,] *")


def _split_cutoffs(table: PrintedTable) -> PrintedTable:
    """Split ``MAP@{1,3}`` into two columns, or two rows, if its cells hold two numbers each."""
    rows = [part for row in table.rows for part in _rows_of(row)]
    titles: list[tuple[str, ...]] = []
    columns: list[list[NumberCell]] = []
    for above, column in zip(table.titles, zip(*(row.cells for row in rows), strict=True), strict=True):
        names = _names_in(above[-1]) if above else []
        if above and not names and (names := _with_one_in_brackets(above[-1])):
            column = tuple(map(_without_brackets, column))
        if names and (parts := _in_parts(column, len(names))):
            titles += [(*above[:-1], name) for name in names]
            columns += map(list, zip(*parts, strict=True))
        else:
            titles.append(above)
            columns.append(list(column))
    cells = map(list, zip(*columns, strict=True))
    new_rows = [row._replace(cells=row_cells) for row, row_cells in zip(rows, cells, strict=True)]
    return table._replace(titles=titles, rows=new_rows)


def _rows_of(row: TableRow) -> Iterator[TableRow]:
    """Yield a row; if one of its cells names several measures, yield one row for each."""
    for index, entry in enumerate(row.cells[:-1]):
        names = _names_in(title_of(entry.text)) if entry.number is None else []
        if names and (parts := _in_parts(row.cells[index + 1 :], len(names))):
            for name, *cells in zip(names, *parts, strict=True):
                yield row._replace(cells=[*row.cells[:index], NumberCell(name), *cells])
            return
    yield row


def _names_in(title: str) -> list[str]:
    """List the measures or cutoffs of a title that has several; empty for any other title.

    >>> _names_in("MAP@{1,3,5}"), _names_in("P@1/5 (%)"), _names_in("@1 / @3"), _names_in("P@1")
    (['MAP@1', 'MAP@3', 'MAP@5'], ['P@1 (%)', 'P@5 (%)'], ['@1', '@3'], [])
    """
    name, in_percent = strip_heading(title)
    first, *others = _BETWEEN_VALUES.split(re.sub(r"[][{}()]", "", name))
    word = without_cutoff(first)[0] if without_cutoff(first)[1] else split(first)[0]
    names = [first]
    for other in others:
        digits = other.lstrip("@kK= ")
        names.append(f"{word}@{digits}" if digits.isdecimal() else other)
    if not others or not all(is_cutoff(part) or names_a_measure(part) for part in names):
        return []
    return [f"{part} (%)" if in_percent else part for part in names]


_SECOND_IN_BRACKETS = re.compile(r"([^()]+?) *\(([^()]+)\)")


def _with_one_in_brackets(title: str) -> list[str]:
    """List the two measures of a title that has the second in brackets; empty for any other title.

    Another name of the same measure explains the first: numbers in brackets are deviations then.

    >>> _with_one_in_brackets("P@10 (R@10)"), _with_one_in_brackets("Recall@10 (R@10)")
    (['P@10', 'R@10'], [])
    """
    match = _SECOND_IN_BRACKETS.fullmatch(title.strip())
    if not match or not all(map(names_a_measure, match.groups())):
        return []
    names = match.groups()
    have_cutoffs = all(split(name)[1] for name in names)
    first, second = (meaning_of(name if split(name)[1] else f"{name}@1") for name in names)
    is_other = first != second if have_cutoffs else first[0] != second[0]
    return [*names] if is_other else []


def _without_brackets(entry: NumberCell) -> NumberCell:
    match = _SECOND_IN_BRACKETS.fullmatch(entry.text.strip())
    return NumberCell(" / ".join(match.groups())) if match else entry


def _in_parts(entries: Sequence[NumberCell], n: int) -> list[list[NumberCell]]:
    """Split each cell into n numbers; empty if no cell has n. Cells without n numbers become text."""
    if not any(numbers_in(entry.text, n) for entry in entries):
        return []
    return [_parts_of(entry, n) for entry in entries]


def _parts_of(entry: NumberCell, n: int) -> list[NumberCell]:
    parts = numbers_in(entry.text, n)
    return [NumberCell.of(part) for part in parts] if parts else [NumberCell(entry.text)] * n
