"""Which run a row of a printed table is about, by its name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_PARTS = re.compile(r"[^\W\d_]+|[0-9]+")
_LIKE = 0.5
"""How much of two names must be the same parts."""
_CLEAR = 0.15
"""How much less of every other name may be."""


def run_named(labels: Iterable[str], runs: Iterable[str]) -> str | None:
    """Return the run with one of these names, however it is written; None without one, or with several.

    Examples
    --------
    >>> run_named(["ScholarLoop A"], ["bm25", "scholarloop_a"]), run_named(["BM25 (ours)"], ["bm25"])
    ('scholarloop_a', 'bm25')
    """
    runs = list(runs)
    for label in labels:
        for written in (str, _letters, lambda name: _letters(_IN_BRACKETS.sub("", name))):
            wanted = written(label)
            found = [run for run in runs if wanted and written(run) == wanted]
            if len(found) == 1:
                return found[0]
    return None


def runs_like(rows: Iterable[list[str]], runs: Iterable[str]) -> list[str | None]:
    """Return for each row the run with a similar name, if each is clearly more like the other than the rest.

    Examples
    --------
    >>> runs_like([["Our A-v2"], ["Sparse"]], ["scholarloop_a_v2", "scholarloop_a_v2_no_rerank", "bm25"])
    ['scholarloop_a_v2', None]
    """
    rows, runs = list(rows), list(runs)
    likeness = [[max(_likeness(label, run) for label in labels) for run in runs] for labels in rows]
    found: list[str | None] = []
    for of_row in likeness:
        best = max(range(len(runs)), key=of_row.__getitem__, default=None)
        found.append(None)
        if best is not None:
            others = [*of_row[:best], *of_row[best + 1 :]]
            others += [each[best] for each in likeness if each is not of_row]
            if of_row[best] >= _LIKE and of_row[best] >= max(others, default=0) + _CLEAR:
                found[-1] = runs[best]
    return found


def _letters(name: str) -> str:
    """Return the letters and digits of a name, in lower case."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", name).casefold()))


def _likeness(one: str, other: str) -> float:
    """Return the share of the parts of two names that are the same, letters and digits apart."""
    first, second = (
        {*_PARTS.findall(unicodedata.normalize("NFKC", each).casefold())} for each in (one, other)
    )
    return len(first & second) / max(len(first | second), 1)
