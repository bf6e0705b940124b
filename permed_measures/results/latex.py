"""Texts and cells of tables in LaTeX, and what they need."""

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
"""Measures, a level of significance, the effect size and the p-value."""
_ANY_LATEX_HAS = "†‡—Δ±\u2013\u2018\u2019\u201c\u201d\u2026"
_NUMBER_OR_INTERVAL = re.compile(r"[-+]?[0-9][0-9.,]*|\[[-+0-9., ]+\]")  # or an interval
_HYPHEN_AS_MINUS = re.compile(r"(?<![0-9])([-+])(?=[0-9])")


def required_packages(texts: Iterable[str], packages: str = _OF_TABLES) -> str:
    """Say, as a comment, which packages these texts need, in a table, and whether they need another LaTeX."""
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
    for each in _MATH_WORDS.finditer(text):
        known = f"${each[0]}$" if each[0] in ("d_z", "p") else latex_measure(each[0])
        known = rf"$p<{each[1]}$" if each[1] else known
        parts += [as_latex(text[end : each.start()]), known]
        end = each.end()
    return "".join([*parts, as_latex(text[end:])])


def latex_heading(text: str) -> str:
    r"""Escape a heading, or a cell that names a measure, which may be one without a cutoff.

    Examples
    --------
    >>> print(latex_heading("AP"), latex_heading("p (adj.)"))
    \texttt{AP} $p$ (adj.)
    """
    return latex_measure(text) if text in registry else latex_text(text)


def latex_measure(name: str) -> str:
    """Write the name of a measure."""
    return rf"\texttt{{{as_latex(name)}}}"


def latex_cell(text: str, rank: int, mark: str) -> str:
    r"""Write a cell: a sign is a minus, no hyphen; a dagger takes no room, so that digits are aligned.

    Examples
    --------
    >>> print(latex_cell("-0.50", 1, "†"))
    \textbf{$-$0.50}\rlap{$^{\dagger}$}
    """
    shown = as_latex(text)
    if _NUMBER_OR_INTERVAL.fullmatch(text):
        shown = _HYPHEN_AS_MINUS.sub(r"$\1$", shown)
    styled = ("{}", r"\textbf{{{}}}", r"\underline{{{}}}")[rank].format(shown)
    if not mark:
        return styled
    if mark[:1].isalnum():
        return rf"{styled}\textsuperscript{{{as_latex(mark)}}}"
    return rf"{styled}\rlap{{{as_latex(mark)}}}"
