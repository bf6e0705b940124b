"""A report as a page for a browser: template, style, script and data in one file that loads nothing else."""

from __future__ import annotations

import re
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import count
from math import inf, isnan
from typing import TYPE_CHECKING, Any

from permed_measures import __version__
from permed_measures.escaping import as_html, as_json, one_line
from permed_measures.results.table import Cell, Table

if TYPE_CHECKING:
    from jinja2 import Environment

COPIED = ("LaTeX", "Markdown", "CSV")
"""The formats in which a table of a page can be copied."""


def page_of(report: Any) -> str:
    """Write the page of a `Report`: finding, what weakens it, sections, queries, notes, how it was made."""
    template, queries, how = _environment().get_template("page.html"), report.queries(), report.how()
    numbers = count()
    sections = [_shown(section, f"section{place}", numbers) for place, section in enumerate(report.shown)]
    contents = [(each["id"], each["name"]) for each in sections if each["name"] and not each["folded"]]
    others = {
        "queries": ("Queries", queries),
        "notes": ("Notes", report.notes),
        "how": ("How it was made", how),
    }
    tables = [table for section in report.shown for table in section.tables]
    data = {
        "copies": [_copies(by_value(table)) for table in tables],
        "queries": queries or None,
    }
    style, script = _file("page.css"), _file("page.js")
    return template.render(
        policy=_markup(_policy(style, script)),
        report=report,
        sections=sections,
        contents=[*contents, *((id_, name) for id_, (name, there) in others.items() if there)],
        queries=bool(queries),
        how=how,
        style=_markup(style),
        script=_markup(script),
        data=_packed(data),
        version=__version__,
    )


def _policy(style: str, script: str) -> str:
    """Return what a browser lets a page do: it runs this script, with this style, and loads nothing.

    Style attributes are allowed, as plots have them; they load nothing either.
    """
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in (style, script)]
    rules = {
        "default-src": "'none'",
        "script-src": f"'sha256-{hashes[1]}'",
        "style-src": "'unsafe-inline'",  # of browsers that do not know the next two
        "style-src-elem": f"'sha256-{hashes[0]}'",
        "style-src-attr": "'unsafe-inline'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


_FIRST_ROW = {"markdown": 2, "csv": 1}
"""In which line of a format the first row stands; in LaTeX the rows of a block follow its rule."""


def _copies(table: Table) -> dict[str, dict[str, list[Any]]]:
    """Return by format the lines of a table, and in which of them each of its rows stands.

    So a page can copy a table in the order in which it shows it.
    """
    found: dict[str, dict[str, list[Any]]] = {}
    for form in map(str.lower, COPIED):
        lines, n_rows = table.to(form).split("\n"), len(table.rows)
        if form == "latex":
            rules = (place for place, line in enumerate(lines) if line == r"\midrule")
            rows = [
                rule + 1 + number
                for rule, block in zip(rules, table.blocks, strict=True)
                for number in range(len(block))
            ]
        else:
            rows = [_FIRST_ROW[form] + number for number in range(n_rows)]
        found[form] = {"lines": lines, "rows": rows}
    return found


_OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")


def with_options(text: str) -> Any:
    """Write a text in HTML; an option such as ``--max-drop`` is not broken at a hyphen.

    >>> str(with_options("Leave out --by <b>"))
    'Leave out <span class="option">--by</span> &lt;b&gt;'
    """
    return _markup(_OPTION.sub(r'<span class="option">\g<0></span>', as_html(text)))


def html_section(each: Any, heading: str, tables: Iterable[str]) -> str:
    """Write a section in HTML, for notebooks and pages: its heading in this element, its tables as given."""
    parts = [f'<p class="note">{with_options(each.note)}</p>'] if each.note else []
    plots = [
        f'<figure role="img" aria-label="{as_html(plot.about)}">{plot.svg()}</figure>' for plot in each.plots
    ]
    parts += [f'<div class="plots">{"".join(plots)}</div>'] if plots else []
    parts += tables
    items = "".join(f"<li>{with_options(text)}</li>" for text in each.texts)
    parts += [f"<ul>{items}</ul>"] if items else []
    lines = "".join(f"{with_options(line)}\n" for line in each.code)
    parts += [f'<pre tabindex="0"><code>{lines}</code></pre>'] if lines else []
    name = as_html(each.heading)
    if each.folded:
        return f"<details><summary>{name}</summary>{''.join(parts)}</details>"
    return "".join([f"<{heading}>{name}</{heading}>" if name else "", *parts])


def by_value(table: Table) -> Table:
    """Order the runs of each block of a table of means by the first measure in which the best is marked.

    Rows without a value of it stay below: an ideal ranking is no run.
    """
    marked = [place for row in table.rows for place, cell in enumerate(row) if cell.rank]
    if not marked:
        return table

    def value(row: list[Cell]) -> float:
        found = row[min(marked)].value
        return inf if found is None or isnan(found) else -round(found, 12)  # rounding orders nothing

    return table._replace(blocks=[sorted(block, key=value) for block in table.blocks])


def _shown(section: Any, id_: str, numbers: Iterator[int]) -> dict[str, Any]:
    """Return what the template shows of a section; its tables have the next numbers."""
    named = section._replace(heading=section.heading or "Table" * bool(section.tables))
    tables = [_sortable(table, number) for table, number in zip(section.tables, numbers, strict=False)]
    html = _markup(html_section(named, "h2", tables))
    return {"id": id_, "name": named.heading, "folded": section.folded, "html": html}


def _sortable(table: Table, number: int) -> str:
    """Write a table by value, below buttons that copy it in the order in which it is shown."""
    buttons = "".join(
        f'<button type="button" data-table="{number}" data-form="{form.lower()}">{form}</button>\n'
        for form in COPIED
    )
    tools = f'<p class="tools" hidden>Copy as {buttons}<span role="status"></span></p>'
    return f'<div class="sortable">\n{tools}\n{by_value(table).to("html")}\n</div>\n'


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        loader=FunctionLoader(_file),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: one_line(value) if type(value) is str else value,
    )
    made.filters["with_options"] = with_options
    return made


def _file(name: str) -> str:
    return files("permed_measures.results").joinpath("web", name).read_text(encoding="utf-8")


def _markup(html: str) -> Any:
    """Return HTML of our own as what a template shows without escaping it."""
    from markupsafe import Markup  # which Jinja2 brings

    return Markup(html)


def _packed(data: Any) -> str:
    """Pack what JSON can hold for a script element: deflated, in base64, which has no markup."""
    text = as_json(data, allow_nan=False, separators=(",", ":"))
    return b64encode(zlib.compress(text.encode(errors="backslashreplace"), 9)).decode()
