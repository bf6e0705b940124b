"""Escape text for a terminal, JSON, spreadsheets, Markdown, LaTeX and HTML; list, count and group names."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

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


def shortened(text: str, n: int) -> str:
    """Cut a text to n characters.

    >>> shortened("benefit in old age", 10), shortened("老年患者的获益是否相同", 6)
    ('benefit i…', '老年患者的…')
    """
    return text if len(text) <= n else f"{text[: n - 1].rstrip()}…"


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


def plural(noun: str) -> str:
    """Form the plural of a noun.

    Examples
    --------
    >>> plural("query"), plural("loss"), plural("run")
    ('queries', 'losses', 'runs')
    """
    if noun.endswith("y"):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith("s") else f"{noun}s"


def pluralize(n: int, noun: str) -> str:
    """Write a number with its noun, in the singular or plural.

    Examples
    --------
    >>> pluralize(1, "judged query"), pluralize(3440, "judged query"), pluralize(0, "p-value")
    ('1 judged query', '3,440 judged queries', '0 p-values')
    """
    return f"{n:,} {noun if n == 1 else plural(noun)}"


def join_names(names: Iterable[str], n_shown: int | None = None) -> str:
    """Join names for a sentence; with more than `n_shown` + 1, show the first `n_shown` and count the rest.

    Examples
    --------
    >>> join_names(["a", "b", "c"]), join_names("abcde", 3), join_names("abcd", 3)
    ('a, b and c', 'a, b, c and 2 more', 'a, b, c and d')
    """
    items = list(names)
    if n_shown is not None and len(items) > n_shown + 1:
        items = [*items[:n_shown], f"{len(items) - n_shown:,} more"]
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


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


_K = TypeVar("_K")
_V = TypeVar("_V")


def grouped(pairs: Iterable[tuple[_K, _V]]) -> dict[_K, list[_V]]:
    """Collect the values of each key in a list."""
    groups: dict[_K, list[_V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
