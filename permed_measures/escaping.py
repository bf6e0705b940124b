"""Escape text for a terminal, JSON, spreadsheets, Markdown, LaTeX and HTML."""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from typing import Any, NamedTuple

# Characters that move the cursor, end a line or change the writing direction.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")
_CONTROL_IN_JSON = r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last four are the wide forms
_MARKDOWN = r"([\\`*_|\[\]$~#!{}]|^[-+=])"
_NUMBERED = r"^([0-9]{1,9})(?=[.)](\s|$))"
_LATEX_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "`": r"\textasciigrave{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"{\char34}",
        **{character: f"\\{character}" for character in "{}$&#_%"},
        **{character: f"{{{character}}}" for character in "[]*"},  # after \\ they would be its arguments
        "†": r"$^{\dagger}$",
        "‡": r"$^{\ddagger}$",
        "—": r"\textemdash{}",
        "Δ": r"$\Delta$",
    }
)
_LIGATURE = "-(?=-)|'(?=')|,(?=,)"
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


class Styled(NamedTuple):
    """The text of a cell with its style, such as ``bold``, and unstyled text after it."""

    text: str
    style: str
    after: str = ""


def one_line(text: str) -> str:
    """Replace line breaks, terminal controls and changes of writing direction by blanks.

    Bytes of a file name that cannot be decoded become escapes.
    """
    return _CONTROL.sub(" ", text).encode(errors="backslashreplace").decode()


def as_cell(text: str) -> str:
    """Escape a cell of a CSV or TSV table, so that a spreadsheet does not run it as a formula.

    A cell that begins like a formula gets an apostrophe in front, as OWASP recommends; numbers do not change.

    Examples
    --------
    >>> as_cell("=1+1"), as_cell("-0.5"), as_cell("bm25")
    ("'=1+1", '-0.5', 'bm25')
    """
    cell = one_line(text)
    with suppress(ValueError):
        float(cell)
        return cell
    return f"'{cell}" if cell.lstrip().startswith(_FORMULA) else cell


def as_json(content: Any, **options: Any) -> str:
    r"""Write JSON, readable in any script; characters that control a terminal are escaped.

    Examples
    --------
    >>> print(as_json({"name": "\u7814\u7a76\u202e"}))
    {"name": "研究\u202e"}
    """
    text = json.dumps(content, ensure_ascii=False, **options)
    return re.sub(_CONTROL_IN_JSON, lambda match: f"\\u{ord(match[0]):04x}", text)


def nonfinite_to_str(value: Any) -> Any:
    """Replace infinities and NaN, which JSON does not have, by strings."""
    if isinstance(value, dict):
        return {key: nonfinite_to_str(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [nonfinite_to_str(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def as_markdown(text: str) -> str:
    r"""Escape a text for Markdown, cells of tables included.

    Examples
    --------
    >>> print(as_markdown("a|b_c <i>"))
    a\|b\_c &lt;i&gt;
    """
    escaped = re.sub(_NUMBERED, r"\1\\", re.sub(_MARKDOWN, r"\\\1", one_line(text).strip()))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def as_latex(text: str) -> str:
    r"""Escape a text for LaTeX, cells of tables included.

    Examples
    --------
    >>> print(as_latex("[a_b] 5%"))
    {[}a\_b{]} 5\%
    """
    return re.sub(_LIGATURE, r"\g<0>{}", one_line(text).translate(_LATEX_ESCAPES))


def as_html(text: str) -> str:
    """Escape a text for HTML, attributes included.

    Examples
    --------
    >>> print(as_html("<b> & 'c'"))
    &lt;b&gt; &amp; &#x27;c&#x27;
    """
    return one_line(text).translate(_HTML)
