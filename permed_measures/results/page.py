"""Write a report as a page for a browser: one file with style, script and data that loads nothing else."""

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
"""The formats for copying a table of a page."""


def page_of(report: Any) -> str:
    """Write the page of a `Report`: finding, cautions, sections, queries, notes, and how it was made."""
    template, queries, made = _environment().get_template("page.html"), report.queries(), report.provenance()
    numbers = count()
    sections = [
        _for_template(section, f"section{index}", numbers)
        for index, section in enumerate(report.html_sections)
    ]
    contents = [(part["id"], part["name"]) for part in sections if part["name"] and not part["collapsed"]]
    others = {
        "queries": ("Queries", queries),
        "notes": ("Notes", report.notes),
        "how": ("How it was made", made),
    }
    tables = [table for section in report.html_sections for table in section.tables]
    data = {
        "copies": [_copies(by_value(table)) for table in tables],
        "queries": queries or None,
    }
    style, script = _file("page.css"), _file("page.js")
    return template.render(
        policy=_markup(_policy(style, script)),
        report=report,
        sections=sections,
        contents=[*contents, *((id_, name) for id_, (name, content) in others.items() if content)],
        queries=bool(queries),
        how=made,
        style=_markup(style),
        script=_markup(script),
        data=_packed(data),
        version=__version__,
    )


def _policy(style: str, script: str) -> str:
    """Write the content security policy: a page runs this script with this style, and loads nothing.

    Style attributes are allowed, because plots have them; they load nothing either.
    """
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in (style, script)]
    rules = {
        "default-src": "'none'",
        "script-src": f"'sha256-{hashes[1]}'",
        "style-src": "'unsafe-inline'",  # for browsers that do not know the next two rules
        "style-src-elem": f"'sha256-{hashes[0]}'",
        "style-src-attr": "'unsafe-inline'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


_FIRST_ROW = {"markdown": 2, "csv": 1}
"""The line number of the first row in a format; in LaTeX the rows of a block follow its rule."""


def _copies(table: Table) -> dict[str, dict[str, list[Any]]]:
    """Return the lines of a table in each format, with the line number of each row.

    With them a page copies a table in the order on the screen.
    """
    copies: dict[str, dict[str, list[Any]]] = {}
    for form in map(str.lower, COPIED):
        lines, n_rows = table.to(form).split("\n"), len(table.rows)
        if form == "latex":
            rules = (index for index, line in enumerate(lines) if line == r"\midrule")
            rows = [
                rule + 1 + index
                for rule, block in zip(rules, table.blocks, strict=True)
                for index in range(len(block))
            ]
        else:
            rows = [_FIRST_ROW[form] + index for index in range(n_rows)]
        copies[form] = {"lines": lines, "rows": rows}
    return copies


_OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")


def with_options(text: str) -> Any:
    """Write a text in HTML, without line breaks at the hyphens of options such as ``--max-drop``.

    >>> str(with_options("Leave out --by <b>"))
    'Leave out <span class="option">--by</span> &lt;b&gt;'
    """
    return _markup(_OPTION.sub(r'<span class="option">\g<0></span>', as_html(text)))


def html_section(section: Any, heading: str, tables: Iterable[str]) -> str:
    """Write a section in HTML for notebooks and pages; `heading` is an element, `tables` are HTML."""
    parts = [f'<p class="note">{with_options(section.note)}</p>'] if section.note else []
    plots = [
        f'<figure role="img" aria-label="{as_html(plot.about)}">{plot.svg()}</figure>'
        for plot in section.plots
    ]
    parts += [f'<div class="plots">{"".join(plots)}</div>'] if plots else []
    parts += tables
    items = "".join(f"<li>{with_options(text)}</li>" for text in section.texts)
    parts += [f"<ul>{items}</ul>"] if items else []
    lines = "".join(f"{with_options(line)}\n" for line in section.code)
    parts += [f'<pre tabindex="0"><code>{lines}</code></pre>'] if lines else []
    name = as_html(section.heading)
    if section.collapsed:
        return f"<details><summary>{name}</summary>{''.join(parts)}</details>"
    return "".join([f"<{heading}>{name}</{heading}>" if name else "", *parts])


def by_value(table: Table) -> Table:
    """Sort the runs of each block of a table by the first column with a marked best value.

    Rows without a value in it stay below, such as the row of an ideal ranking.
    """
    marked = [column for row in table.rows for column, cell in enumerate(row) if cell.rank]
    if not marked:
        return table

    def value(row: list[Cell]) -> float:
        number = row[min(marked)].value
        return inf if number is None or isnan(number) else -round(number, 12)  # equal up to rounding

    return table._replace(blocks=[sorted(block, key=value) for block in table.blocks])


def _for_template(section: Any, id_: str, numbers: Iterator[int]) -> dict[str, Any]:
    """Prepare a section for the template; its tables get the next numbers."""
    named = section._replace(heading=section.heading or "Table" * bool(section.tables))
    tables = [_sortable(table, number) for table, number in zip(section.tables, numbers, strict=False)]
    html = _markup(html_section(named, "h2", tables))
    return {"id": id_, "name": named.heading, "collapsed": section.collapsed, "html": html}


def _sortable(table: Table, number: int) -> str:
    """Write a table, sorted by value, below buttons that copy it in the order on the screen."""
    buttons = "".join(
        f'<button type="button" data-table="{number}" data-form="{form.lower()}">{form}</button>\n'
        for form in COPIED
    )
    tools = f'<p class="tools" hidden>Copy as {buttons}<span role="status"></span></p>'
    return f'<div class="sortable">\n{tools}\n{by_value(table).to("html")}\n</div>\n'


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_file),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: one_line(value) if type(value) is str else value,
    )
    environment.filters["with_options"] = with_options
    return environment


def _file(name: str) -> str:
    return files("permed_measures.results").joinpath("web", name).read_text(encoding="utf-8")


def _markup(html: str) -> Any:
    """Mark our own HTML as safe, so that a template does not escape it."""
    from markupsafe import Markup  # a dependency of Jinja2

    return Markup(html)


def _packed(data: Any) -> str:
    """Pack JSON data for a script element: deflated, in base64, which has no markup."""
    text = as_json(data, allow_nan=False, separators=(",", ":"))
    return b64encode(zlib.compress(text.encode(errors="backslashreplace"), 9)).decode()
