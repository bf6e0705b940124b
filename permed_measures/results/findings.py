"""Which runs are the highest, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from permed_measures.markup import listed

_MOST_RUNS = 10
"""How many runs with equal means are named; the others are counted."""


def highest(headings: Sequence[str], means: Mapping[str, Sequence[str]]) -> list[str]:
    """Say which runs have the highest first measure, and which are highest on the others.

    Parameters
    ----------
    headings : sequence of str
        Of the measures.
    means : mapping of str to sequence of str
        The mean of each measure by run, as it is printed.

    Examples
    --------
    >>> highest(["RR", "P@1", "P@2"], {"a": ["0.5", "1", "1"], "b": ["0.4", "0", "1"]})
    ['a has the highest RR: 0.5.', 'Highest on P@1: a; on P@2: a and b.']
    """
    best = [best_of(means, number) for number in range(len(headings))]
    if not any(best):
        return []
    verb = "has" if len(best[0]) == 1 else "have"
    said = [f"{listed(best[0], _MOST_RUNS)} {verb} the highest {headings[0]}: {means[best[0][0]][0]}."]
    measures = grouped(zip(map(tuple, best[1:]), headings[1:], strict=True))  # of which runs
    on = [f"on {listed(names)}: {listed(runs, _MOST_RUNS)}" for runs, names in measures.items()]
    return [*said, *([f"Highest {'; '.join(on)}."] if on else [])]


def best_of(means: Mapping[str, Sequence[str]], number: int) -> list[str]:
    """Return the runs with the highest mean of a measure, as it is printed."""
    values = {run: float(texts[number].replace(",", "")) for run, texts in means.items()}
    return [run for run, value in values.items() if value == max(values.values())]


_K = TypeVar("_K")
_V = TypeVar("_V")


def grouped(pairs: Iterable[tuple[_K, _V]]) -> dict[_K, list[_V]]:
    """Collect what has the same key."""
    groups: dict[_K, list[_V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
