"""Count, list, shorten and group names for sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar


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


def shortened(text: str, n: int) -> str:
    """Cut a text to n characters.

    >>> shortened("benefit in old age", 10), shortened("老年患者的获益是否相同", 6)
    ('benefit i…', '老年患者的…')
    """
    return text if len(text) <= n else f"{text[: n - 1].rstrip()}…"


_K = TypeVar("_K")
_V = TypeVar("_V")


def grouped(pairs: Iterable[tuple[_K, _V]]) -> dict[_K, list[_V]]:
    """Collect the values of each key in a list."""
    groups: dict[_K, list[_V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
