"""A report as a page for a browser: template, style, script and data in one file that loads nothing else."""

from __future__ import annotations

import base64
import gzip
from functools import cache
from importlib.resources import files
from math import inf, isnan
from typing import TYPE_CHECKING, Any

from permed_measures import __version__
from permed_measures.errors import InputError
from permed_measures.markup import as_json, one_line
from permed_measures.results.table import Cell, Table

if TYPE_CHECKING:
    from jinja2 import Environment

COPIED = ("latex", "markdown", "csv")
"""The formats in which a table of a page can be copied."""


def page_of(report: Any) -> str:
    """Write the page of a `Report`: finding and what weakens it, sections, queries, notes, how it was made.

    Raises
    ------
    InputError
        If Jinja2 is missing.
    """
    environment, queries = _environment(), report.queries()
    tables = [by_value(table) for section in report.sections for table in section.tables]
    sections = [_shown(section, number) for number, section in enumerate(report.sections)]
    start = 0
    for section, shown in zip(report.sections, sections, strict=True):
        end = start + len(section.tables)
        shown["tables"] = [(place, _markup(tables[place].to("html"))) for place in range(start, end)]
        start = end
    how = report.how()
    contents = [(each["id"], each["heading"]) for each in sections if each["heading"] and not each["folded"]]
    others = {"queries": queries, "notes": report.notes, "how": how}
    names = {"queries": "Queries", "notes": "Notes", "how": "How it was made"}
    contents += [(name, names[name]) for name, there in others.items() if there]
    data = {
        "copies": [
            {form: table.to(form) for form in COPIED} for each in report.sections for table in each.tables
        ],
        "queries": queries or None,
    }
    return environment.get_template("page.html").render(
        report=report,
        sections=sections,
        contents=contents,
        queries=bool(queries),
        how=how,
        style=_markup(_file("page.css")),
        script=_markup(_file("page.js")),
        data=_packed(data),
        version=__version__,
    )


def by_value(table: Table) -> Table:
    """Order the runs of each block of a table of means by the first measure in which the best is marked.

    Rows without a value of it stay below: an ideal ranking is no run.
    """
    marked = [place for row in table.rows for place, cell in enumerate(row) if cell.rank]
    if not marked:
        return table

    def value(row: list[Cell]) -> float:
        found = row[min(marked)].value
        return inf if found is None or isnan(found) else -found

    return table._replace(blocks=[sorted(block, key=value) for block in table.blocks])


def check_installed() -> None:
    """Raise InputError if Jinja2 is missing, without which there is no page."""
    _environment()


def _shown(section: Any, number: int) -> dict[str, Any]:
    """Return what the template shows of a section."""
    return {
        "id": f"section{number}",
        "heading": section.heading or "Table" * bool(section.tables),
        "folded": section.folded,
        "note": section.note,
        "plots": [(plot.about, _markup(plot.svg())) for plot in section.plots],
        "texts": section.texts,
        "code": section.code,
    }


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ImportError:
        raise InputError(
            "an HTML page needs Jinja2",
            hint="pip install jinja2 matplotlib (in a checkout: pip install '.[report]')",
        ) from None
    return Environment(
        loader=FunctionLoader(_file),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: one_line(value) if type(value) is str else value,
    )


def _file(name: str) -> str:
    return files("permed_measures.results").joinpath("web", name).read_text(encoding="utf-8")


def _markup(html: str) -> Any:
    """Return HTML of our own as what a template shows without escaping it."""
    from markupsafe import Markup  # which Jinja2 brings

    return Markup(html)


def _packed(data: Any) -> str:
    """Pack what JSON can hold for a script element: gzip in base64, which has no markup."""
    text = as_json(data, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(errors="backslashreplace"), mtime=0)).decode()
