"""A comparison as one HTML page that needs no other file: tables, plots, and how they were made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from permed_measures import __version__
from permed_measures.errors import InputError
from permed_measures.markup import as_html, counted
from permed_measures.reports.differences import differences_table, headings_of, legend
from permed_measures.reports.paper_table import Cell, PaperTable, deciding_tests, paper_table, sentences
from permed_measures.statistics.results import ComparisonResult

_STYLE = """
:root { color-scheme: light dark; --line: #8886; --soft: #8882; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1rem; max-width: 80rem; }
h1 { font-size: 1.5rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin-top: 2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .25rem .5rem; text-align: right; white-space: nowrap; }
thead th { border-bottom: 1px solid; vertical-align: bottom; white-space: normal; }
th.label { text-align: left; }
tbody th { font-weight: normal; }
.run { position: sticky; left: 0; background: Canvas; }
.lettered td, .lettered thead th { text-align: left; }
table { border-block: 2px solid; }
tbody + tbody tr:first-child > * { border-top: 1px solid var(--line); }
tbody tr:hover { background: var(--soft); }
p { overflow-wrap: anywhere; }
.dagger { display: inline-block; width: 0; }
.legend { font-size: .9rem; list-style: none; padding: 0; overflow-wrap: anywhere; }
.second { text-decoration: underline; text-underline-offset: .2em; }
figure { margin: 1rem 0; background: #fff; color: #000; overflow-x: auto; }
figure svg { display: block; width: 100%; min-width: 32rem; max-width: 44rem; height: auto; }
figcaption { padding: .25rem .5rem .5rem; }
footer { margin-top: 3rem; font-size: .85rem; border-top: 1px solid var(--line); }
@media (min-width: 60rem) { .plots { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; } }
@media (max-width: 40rem) {
  .run { white-space: normal; min-width: 8rem; max-width: 40vw; overflow-wrap: anywhere; }
}
@media print { .wide { overflow: visible; } }
"""


def page(result: ComparisonResult) -> str:
    """Write a comparison as an HTML page.

    Parameters
    ----------
    result : ComparisonResult

    Returns
    -------
    str
        An HTML document without scripts and without anything that is loaded. The plots need matplotlib
        (extra ``plot``); where it is missing the page says so in their place.
    """
    runs = list(result.paired.values)
    title = as_html(f"{counted(len(runs), 'run')}, {counted(result.n_queries, 'query')}")
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title><style>{_STYLE}</style></head>",
        f"<body><main><h1>{title}</h1>",
        _means(paper_table(result)),
        "<h2>In words</h2>",
        *(f"<p>{as_html(sentence)}</p>" for sentence in sentences(result)),
        "<h2>Differences</h2>",
        _differences(result),
        f'<ul class="legend">{"".join(f"<li>{as_html(line)}</li>" for line in legend(result))}</ul>',
        "<h2>Plots</h2>",
        *_plots(result),
        f"</main><footer><p>permed-measures {as_html(__version__)}</p></footer></body></html>\n",
    ]
    return "\n".join(parts)


class _Table(NamedTuple):
    """A table: labels are text, cells are HTML.

    Attributes
    ----------
    labels : list of str
        The headings of the labels.
    run : int
        The index of the label that stays in view.
    headings : list of str
        Those of the cells.
    blocks : list of list of (list of str, list of str)
        The labels and cells of each row.
    """

    labels: list[str]
    run: int
    headings: list[str]
    blocks: list[list[tuple[list[str], list[str]]]]

    def html(self, kind: str = "plain") -> str:
        """Write the table; it scrolls by itself where the page is narrower."""
        head = self._head(self.labels, "col") + "".join(
            f'<th scope="col">{as_html(name)}</th>' for name in self.headings
        )
        bodies = [
            "".join(
                f"<tr>{self._head(labels, 'row')}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
                for labels, cells in block
            )
            for block in self.blocks
        ]
        body = "".join(f"<tbody>{rows}</tbody>" for rows in bodies)
        table = f'<table class="{kind}"><thead><tr>{head}</tr></thead>{body}</table>'
        return f'<div class="wide" tabindex="0">{table}</div>'

    def _head(self, labels: list[str], scope: str) -> str:
        kinds = ["label run" if place == self.run else "label" for place in range(len(labels))]
        return "".join(
            f'<th scope="{scope}" class="{kind}">{as_html(label)}</th>'
            for kind, label in zip(kinds, labels, strict=True)
        )


def _means(table: PaperTable) -> str:
    blocks = [
        [(row.labels, [_mean(cell, table.lettered) for cell in row.cells]) for row in block]
        for block in table.blocks
    ]
    shown = _Table(table.labels, len(table.labels) - 1, list(table.measures), blocks)
    return f"{shown.html('lettered' if table.lettered else 'plain')}\n<p>{as_html(table.caption())}</p>"


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
    return _Table(headings[:n], run, headings[n:], blocks).html()


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
