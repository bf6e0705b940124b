"""Tables in Markdown, and HTML tables in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from permed_measures.papers.grids import Cell, Found
from permed_measures.papers.html_tables import html_tables
from permed_measures.papers.latex import text_of

if TYPE_CHECKING:
    from markdown_it.token import Token

_TAGS = {"<sup>": "^{", "<sub>": "_{", "</sup>": "}", "</sub>": "}"}
_BREAK = re.compile(r"<br */?>", re.IGNORECASE)
_MATHS = re.compile(r"\$([^$]*)\$")


def markdown_tables(text: str) -> list[Found]:
    """Return the tables of a Markdown document."""
    from markdown_it import MarkdownIt

    found: list[Found] = []
    line = n_headings = 0
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.map is not None:
            line = token.map[0] + 1
        if token.type == "table_open":
            found.append(Found([], 1))
        elif token.type == "tr_open" and found:
            found[-1].rows.append([])
        elif token.type == "inline" and found and n_headings:
            found[-1].rows[-1].append(Cell(_text(token), line))
        elif token.type == "html_block":
            found += html_tables(token.content, line)
        n_headings += {"th_open": 1, "td_open": 1, "th_close": -1, "td_close": -1}.get(token.type, 0)
    return found


def _text(token: Token) -> str:
    """Return the text of a cell, maths as it prints."""
    parts = []
    for child in token.children or []:
        if child.type == "html_inline":
            parts.append(" " if _BREAK.fullmatch(child.content) else _TAGS.get(child.content.lower(), ""))
        else:
            parts.append(" " if child.type in ("softbreak", "hardbreak") else child.content)
    text = _MATHS.sub(lambda maths: text_of(maths[1]), "".join(parts))
    return " ".join((text_of(text) if "\\" in text else text).split())
