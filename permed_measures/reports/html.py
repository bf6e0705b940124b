"""Tables in HTML, for pages and notebooks."""

from __future__ import annotations

from permed_measures.markup import as_html
from permed_measures.reports.tables import Cell, PaperTable

_Rows = list[tuple[list[str], list[str]]]
"""The labels, which are text, and the cells, which are HTML, of each row."""


def html_table(
    labels: list[str], run: int, headings: list[str], blocks: list[_Rows], kind: str = "plain"
) -> str:
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
    name = as_html(", ".join([*labels, *headings][:4]))
    return f'<div class="wide" role="group" aria-label="{name}" tabindex="0">{table}</div>'


def _label_cells(labels: list[str], run: int, scope: str) -> str:
    return "".join(
        f'<th scope="{scope}" class="{"label run" if place == run else "label"}">{as_html(label)}</th>'
        for place, label in enumerate(labels)
    )


def html_means(table: PaperTable) -> str:
    """Write a table of means with its caption."""
    blocks = [
        [(row.labels, [_mean(cell, table.lettered) for cell in row.cells]) for row in block]
        for block in table.blocks
    ]
    kind = "lettered" if table.lettered else "plain"
    run = table.labels.index("run") if "run" in table.labels else len(table.labels) - 1
    shown = html_table(table.labels, run, table.headings, blocks, kind)
    return f"{shown}\n<p>{as_html(table.caption())}</p>"


def _mean(cell: Cell, lettered: bool) -> str:
    text = {0: "{}", 1: "<b>{}</b>", 2: '<u class="second">{}</u>'}[cell.place].format(cell.text)
    kind = "" if lettered else ' class="dagger"'
    return f"{text}<sup{kind}>{as_html(cell.mark)}</sup>" if cell.mark else text
