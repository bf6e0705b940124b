"""A comparison as one HTML page that needs no other file: tables, plots, and how they were made."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from string import Template

from permed_measures import __version__
from permed_measures.errors import InputError
from permed_measures.markup import as_html, counted
from permed_measures.reports.differences import differences_table, headings_of, legend
from permed_measures.reports.paper_table import Cell, PaperTable, deciding_tests, paper_table, sentences
from permed_measures.statistics.results import ComparisonResult

_Rows = list[tuple[list[str], list[str]]]
"""The labels, which are text, and the cells, which are HTML, of each row."""


def page(result: ComparisonResult) -> str:
    """Write a comparison as an HTML page.

    It has no scripts and loads nothing. The plots need matplotlib (extra ``plot``); where it is missing the
    page says so in their place.
    """
    title = as_html(f"{counted(len(result.paired.values), 'run')}, {counted(result.n_queries, 'query')}")
    parts = [
        _means(paper_table(result)),
        "<h2>In words</h2>",
        *(f"<p>{as_html(sentence)}</p>" for sentence in sentences(result)),
        "<h2>Differences</h2>",
        _differences(result),
        f'<ul class="legend">{"".join(f"<li>{as_html(line)}</li>" for line in legend(result))}</ul>',
        "<h2>Plots</h2>",
        *_plots(result),
    ]
    template = files("permed_measures.reports").joinpath("page.html").read_text(encoding="utf-8")
    return Template(template).substitute(title=title, content="\n".join(parts), version=as_html(__version__))


def _table(labels: list[str], run: int, headings: list[str], blocks: list[_Rows], kind: str = "plain") -> str:
    """Write a table that scrolls by itself where the page is narrower; the label at `run` stays in view."""
    head = _label_cells(labels, run, "col") + "".join(
        f'<th scope="col">{as_html(name)}</th>' for name in headings
    )
    bodies = []
    for block in blocks:
        rows = (
            f"<tr>{_label_cells(texts, run, 'row')}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
            for texts, cells in block
        )
        bodies.append(f"<tbody>{''.join(rows)}</tbody>")
    table = f'<table class="{kind}"><thead><tr>{head}</tr></thead>{"".join(bodies)}</table>'
    return f'<div class="wide" tabindex="0">{table}</div>'


def _label_cells(labels: list[str], run: int, scope: str) -> str:
    return "".join(
        f'<th scope="{scope}" class="{"label run" if place == run else "label"}">{as_html(label)}</th>'
        for place, label in enumerate(labels)
    )


def _means(table: PaperTable) -> str:
    blocks = [
        [(row.labels, [_mean(cell, table.lettered) for cell in row.cells]) for row in block]
        for block in table.blocks
    ]
    kind = "lettered" if table.lettered else "plain"
    shown = _table(table.labels, len(table.labels) - 1, list(table.measures), blocks, kind)
    return f"{shown}\n<p>{as_html(table.caption())}</p>"


def _mean(cell: Cell, lettered: bool) -> str:
    text = {0: "{}", 1: "<b>{}</b>", 2: '<span class="second">{}</span>'}[cell.place].format(cell.text)
    kind = "" if lettered else ' class="dagger"'
    return f"{text}<sup{kind}>{as_html(cell.mark)}</sup>" if cell.mark else text


def _differences(result: ComparisonResult) -> str:
    first, others = deciding_tests(result)
    names = headings_of(result)
    headings, rows, n, size, _ = differences_table(result, {name: names[name] for name in (*first, *others)})
    cells = [(row[:n], [as_html(cell) for cell in row[n:]]) for row in rows]
    blocks = [cells[start : start + size] for start in range(0, len(cells), size)]
    run = n - 1 if result.baseline is not None else n - 2
    return _table(headings[:n], run, headings[n:], blocks)


def _plots(result: ComparisonResult) -> Iterator[str]:
    from permed_measures.plots.figures import figures
    from permed_measures.plots.save import as_svg

    try:
        drawn = list(figures(result))
    except InputError as error:  # without matplotlib the page is still worth having
        yield f"<p>{as_html(str(error))}</p>"
        return
    yield '<div class="plots">'
    for title, axes in drawn:
        yield f"<figure>{as_svg(axes)}<figcaption>{as_html(title)}</figcaption></figure>"
    yield "</div>"
