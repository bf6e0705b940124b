"""Texts in a terminal, Markdown, LaTeX and HTML, where their characters mean nothing; counted nouns."""

from __future__ import annotations

import html
import re

__all__ = ["as_html", "as_latex", "as_markdown", "counted", "one_line", "plural"]

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")
_MARKDOWN = re.compile(r"([\\`*_|\[\]$~#!{}]|^[-+=])")
_NUMBERED = re.compile(r"^([0-9]{1,9})(?=[.)](\s|$))")
_LATEX = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "`": r"\textasciigrave{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",
    **{character: f"\\{character}" for character in "{}$&#_%"},
    **{character: f"{{{character}}}" for character in "[]*"},  # which mean something after \\
    "†": r"$^{\dagger}$",
    "‡": r"$^{\ddagger}$",
    "—": r"\textemdash{}",
    "Δ": r"$\Delta$",
}
_IN_LATEX = re.compile("|".join(map(re.escape, _LATEX)))
_LIGATURE = re.compile("-(?=-)|'(?=')|,(?=,)")


def one_line(text: str) -> str:
    """Return a text without line breaks and what else controls a terminal or the direction of writing.

    Bytes of a file name that are no text are written as escapes.
    """
    return _CONTROL.sub(" ", text).encode(errors="backslashreplace").decode()


def plural(noun: str) -> str:
    """Return the plural of a noun."""
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def counted(n: int, noun: str) -> str:
    """Return how many there are, in words that fit the number.

    Examples
    --------
    >>> counted(1, "judged query"), counted(3440, "judged query"), counted(0, "p-value")
    ('1 judged query', '3,440 judged queries', '0 p-values')
    """
    return f"{n:,} {noun if n == 1 else plural(noun)}"


def as_markdown(text: str) -> str:
    r"""Return a text for Markdown, cells of tables included.

    Examples
    --------
    >>> print(as_markdown("a|b_c <i>"))
    a\|b\_c &lt;i&gt;
    """
    escaped = _NUMBERED.sub(r"\1\\", _MARKDOWN.sub(r"\\\1", one_line(text).strip()))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def as_latex(text: str) -> str:
    r"""Return a text for LaTeX, cells of tables included.

    Examples
    --------
    >>> print(as_latex("[a_b] 5%"))
    {[}a\_b{]} 5\%
    """
    return _LIGATURE.sub(r"\g<0>{}", _IN_LATEX.sub(lambda found: _LATEX[found[0]], one_line(text)))


def as_html(text: str) -> str:
    """Return a text for HTML, attributes included.

    Examples
    --------
    >>> print(as_html("<b> & 'c'"))
    &lt;b&gt; &amp; &#x27;c&#x27;
    """
    return html.escape(one_line(text))
