"""The tables of a file: Markdown, LaTeX, HTML or CSV."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from permed_measures.errors import InputError
from permed_measures.files.sources import Source
from permed_measures.papers.delimited import delimited_tables
from permed_measures.papers.grids import Grid, PrintedTable, tables_of
from permed_measures.papers.html_tables import html_tables
from permed_measures.papers.latex import latex_tables
from permed_measures.papers.markdown import markdown_tables

_READERS: dict[str, Callable[[str], list[Grid]]] = {
    "Markdown": markdown_tables,
    "LaTeX": latex_tables,
    "HTML": html_tables,
}
_SUFFIXES = {
    **dict.fromkeys((".md", ".markdown", ".rmd", ".qmd"), "Markdown"),
    **dict.fromkeys((".tex", ".latex", ".ltx"), "LaTeX"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "HTML"),
    **dict.fromkeys((".csv", ".tsv", ".tab"), "CSV"),
}
_CONTENT = {
    "LaTeX": re.compile(r"\\begin *\{(?:tabular|longtable|array|NiceTabular|tblr)"),
    "Markdown": re.compile(r"^[ >]*\|?[ ]*:?-+:?[ ]*(?:\|[ ]*:?-+:?[ ]*)+\|?[ ]*$", re.MULTILINE),
    "HTML": re.compile(r"<table", re.IGNORECASE),
}
_PASTED = re.compile(
    r"^[^,;\t|:&\n]*[^\W0-9][^,;\t|:&\n]*(?: +[0-9]*\.[0-9]+[*†‡%]?){2,} *\r?$", re.MULTILINE
)
"""A line with numbers and no delimiter."""
_PACKED = (".gz", ".zst")


def read_tables(path: Path) -> list[PrintedTable]:
    """Read the tables of a file; its format is told by its name, else by its content.

    Raises
    ------
    InputError
        If the file is no text in UTF-8.
    """
    try:
        data = Source(path).read()
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"cannot be read as text in UTF-8 ({error})", where=str(path)) from None
    name = path.with_suffix("") if path.suffix in _PACKED else path
    form = _SUFFIXES.get(name.suffix.lower()) or _form_of(text)
    if form == "CSV" and len(_PASTED.findall(text)) > 1:
        problem = "columns that only blanks separate, as in text pasted from a PDF, are not read"
        raise InputError(problem, where=str(path), hint="Write the table in Markdown or CSV")
    found = delimited_tables(text, str(path)) if form == "CSV" else _READERS[form](text)
    return list(tables_of(found))


def _form_of(text: str) -> str:
    return next((form for form, pattern in _CONTENT.items() if pattern.search(text)), "CSV")
