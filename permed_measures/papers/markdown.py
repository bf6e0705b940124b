"""Tables in Markdown, and HTML tables in it."""

from __future__ import annotations

from permed_measures.papers.grids import Grid
from permed_measures.papers.html_tables import html_tables


def markdown_tables(text: str) -> list[Grid]:
    """Return the tables of a Markdown document: they are read as the HTML that they stand for."""
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark").enable("table")
    found: list[Grid] = []
    tokens = markdown.parse(text)
    start = line = 0
    for number, token in enumerate(tokens):
        line = token.map[0] + 1 if token.map is not None else line
        if token.type == "table_open":
            start = number
        elif token.type in ("th_open", "td_open"):
            token.attrSet("data-line", str(line))
        elif token.type == "table_close":
            found += html_tables(markdown.renderer.render(tokens[start : number + 1], markdown.options, {}))
        elif token.type == "html_block":
            found += html_tables(token.content, line)
    return found
