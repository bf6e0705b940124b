"""Write texts and cells of tables in LaTeX, and name the packages they need."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ir_measures.measures import registry

from permed_measures.escaping import as_latex, one_line

_OF_TABLES = r"\usepackage{booktabs}, \usepackage{adjustbox}"
_LATIN = r", \usepackage[T1]{fontenc}"
_NEEDS_UNICODE_FONT = "% compile it with XeLaTeX or LuaLaTeX and a font that has its letters"
_MATH_WORDS = re.compile(
    r"\b[A-Za-z]+(?:-[a-z]+)?(?:\([^()]*\))?@[0-9]+|\b[A-Za-z]+\([a-z_]+=[^()]*\)"
    r"|\bp < ([0-9.]*[0-9])|\bd_z\b|\bp(?=: | \(adj\.\)|$)"
)
"""Matches measures, a level of significance, the effect size and the p-value."""
_ANY_LATEX_HAS = "†‡—Δ±\u2013\u2018\u2019\u201c\u201d\u2026"
_NUMBER_OR_INTERVAL = re.compile(r"[-+]?[0-9][0-9.,]*|\[[-+0-9., ]+\]")
_HYPHEN_AS_MINUS = re.compile(r"(?<![0-9])([-+])(?=[0-9])")


def required_packages(texts: Iterable[str], packages: str = _OF_TABLES) -> str:
    """Name, in a comment, the packages that these texts need, and another LaTeX engine if they need one."""
    letters = {*one_line("".join(texts))} - {*_ANY_LATEX_HAS}
    if any(letter > "\xff" for letter in letters):
        return f"% needs {packages}\n{_NEEDS_UNICODE_FONT}"
    return f"% needs {packages}" + _LATIN * any(letter > "\x7f" for letter in letters)


def latex_text(text: str) -> str:
    r"""Escape a caption or a heading: measures in ``\texttt``, a level of significance as a formula.

    Examples
    --------
    >>> print(latex_text("† p < 0.05 on nDCG@10, 5%"))
    $^{\dagger}$ $p<0.05$ on \texttt{nDCG@10}, 5\%
    """
    parts, end = [], 0
    for match in _MATH_WORDS.finditer(text):
        word = f"${match[0]}$" if match[0] in ("d_z", "p") else latex_measure(match[0])
        word = rf"$p<{match[1]}$" if match[1] else word
        parts += [as_latex(text[end : match.start()]), word]
        end = match.end()
    return "".join([*parts, as_latex(text[end:])])


def latex_heading(text: str) -> str:
    r"""Escape a heading, or a cell that names a measure, also a measure without a cutoff.

    Examples
    --------
    >>> print(latex_heading("AP"), latex_heading("p (adj.)"))
    \texttt{AP} $p$ (adj.)
    """
    return latex_measure(text) if text in registry else latex_text(text)


def latex_measure(name: str) -> str:
    """Write the name of a measure in typewriter type."""
    return rf"\texttt{{{as_latex(name)}}}"


def latex_cell(text: str, rank: int, mark: str) -> str:
    r"""Write a cell, with minus signs instead of hyphens, and a dagger without width to align the digits.

    Examples
    --------
    >>> print(latex_cell("-0.50", 1, "†"))
    \textbf{$-$0.50}\rlap{$^{\dagger}$}
    """
    escaped = as_latex(text)
    if _NUMBER_OR_INTERVAL.fullmatch(text):
        escaped = _HYPHEN_AS_MINUS.sub(r"$\1$", escaped)
    styled = ("{}", r"\textbf{{{}}}", r"\underline{{{}}}")[rank].format(escaped)
    if not mark:
        return styled
    if mark[:1].isalnum():
        return rf"{styled}\textsuperscript{{{as_latex(mark)}}}"
    return rf"{styled}\rlap{{{as_latex(mark)}}}"
