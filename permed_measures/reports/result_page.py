"""Results as pages of one kind: a finding, tables, notes, and how they were made."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ir_measures.measures import Measure

from permed_measures.files.provenance import Origin, provenance
from permed_measures.markup import as_html, counted
from permed_measures.measures.headings import headings_of
from permed_measures.pages import charts
from permed_measures.pages.bundle import as_markup, drawn, page
from permed_measures.pages.words import page_words
from permed_measures.reports.html import html_table
from permed_measures.reports.tables import PaperTable, as_table, separated

Texts = Sequence[Sequence[str]]


@dataclass(frozen=True)
class PageTable:
    """A table of a page.

    Attributes
    ----------
    html : str
    about : str
        A heading.
    folded : bool
        Whether it is shown only when one opens it by its heading.
    copies : mapping of str to str
        What can be copied: ``latex``, ``markdown``, ``csv``; a table that has them can be shaded too.
    """

    html: str
    about: str = ""
    folded: bool = False
    copies: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """A section of a page: a note, plots, tables, a list, lists with headings, and lines of code."""

    heading: str
    note: str = ""
    plots: Sequence[charts.Spec] = ()
    tables: Sequence[PageTable] = ()
    lines: Sequence[str] = ()
    lists: Sequence[tuple[str, Sequence[str]]] = ()
    code: Sequence[str] = ()


def text_table(
    headings: Sequence[str], rows: Texts, n_labels: int, run: int = 0, about: str = "", folded: bool = False
) -> PageTable:
    """Return a table of texts; the label at `run` stays in view."""
    cells = [(list(row[:n_labels]), [as_html(cell) for cell in row[n_labels:]]) for row in rows]
    table = html_table(list(headings[:n_labels]), run, list(headings[n_labels:]), [cells])
    return PageTable(table, about, folded)


def copies_of(table: PaperTable, label: str) -> dict[str, str]:
    """Return the table of a paper as one pastes it elsewhere."""
    rows = [[*row.labels, *(cell.text for cell in row.cells)] for row in table.rows]
    return {
        "latex": as_table(table, label).to("latex"),
        "markdown": as_table(table).to("markdown"),
        "csv": separated([[*table.labels, *table.headings], *rows]),
    }


def result_page(
    title: str,
    finding: Sequence[str],
    parts: Iterable[Part],
    how: dict[str, Any],
    notes: Sequence[str] = (),
) -> str:
    """Write the page.

    Parameters
    ----------
    title : str
    finding : sequence of str
        Sentences.
    parts : iterable of Part
    how : dict
        What `how_made` returns.
    notes : sequence of str

    Raises
    ------
    InputError
        If Jinja2 is missing, or vl-convert where there are plots.
    """
    words = page_words()
    shown = [*parts, *([Part(words["notes"], lines=notes)] if notes else [])]
    named = {f"part{number}": part for number, part in enumerate(shown, 1)}
    copies = [table.copies for part in shown for table in part.tables if table.copies]
    content = {
        "finding": finding,
        "sections": [*((name, part.heading) for name, part in named.items()), ("how", words["how"])],
        "parts": {name: _shown(part, copies) for name, part in named.items()},
        "how": how,
    }
    data = {"copies": {str(number): each for number, each in enumerate(copies, 1)}}
    return page("result.html", title, content, data, ["result.js"], plots=False)


def _shown(part: Part, copies: list[dict[str, str]]) -> dict[str, Any]:
    """Return what the template shows of a section; a table that can be copied has the number of its texts."""
    return {
        "note": part.note,
        "plots": [(spec["description"], as_markup(drawn(spec))) for spec in part.plots],
        "tables": [
            {
                "html": as_markup(each.html),
                "about": each.about,
                "folded": each.folded,
                "number": 1 + copies.index(each.copies) if each.copies else 0,
            }
            for each in part.tables
        ],
        "lists": [*([("", part.lines)] if part.lines else []), *part.lists],
        "code": part.code,
    }


def titled(origin: Origin | None, n_runs: int, n_queries: int, words: dict[str, str]) -> str:
    """Write a title: the name of the qrels, where they have one, and how much there is."""
    qrels = Path(origin.qrels).name if origin else ""
    return words["title"].format(
        where=f"{qrels}: " if qrels else "",
        runs=counted(n_runs, "run"),
        queries=counted(n_queries, "query"),
        n_runs=n_runs,
        n_queries=n_queries,
    )


def _without_folder(word: str) -> str:
    """Return a word of a command, of an absolute path its name alone: ``PATH`` or ``NAME=PATH``."""
    name, equals, path = word.rpartition("=")
    return f"{name}{equals}{Path(path).name}" if Path(path).is_absolute() else word


def how_made(
    measures: Sequence[Measure],
    origin: Origin | None,
    seed: int | None = None,
    packages: Iterable[str] = (),
) -> dict[str, Any]:
    """Say how to make it again: command, measures, conventions, files with hashes, versions, seed.

    A page is for others: of a file in a folder that only this machine has, it says the name.
    """
    found = provenance(measures, origin, seed, packages)
    line = shlex.join(map(_without_folder, shlex.split(origin.line))) if origin else ""
    return {
        "again": f"{line} --format html" if line else "",
        "measures": [
            {"heading": heading, "measure": each["measure"], "description": each["description"]}
            for heading, each in zip(headings_of(measures), found["measures"], strict=True)
        ],
        "conventions": found["conventions"],
        "inputs": [
            {**each, "path": _without_folder(each.get("path", ""))} for each in found.get("inputs", [])
        ],
        "versions": found["versions"],
        "seed": found.get("seed"),
    }
