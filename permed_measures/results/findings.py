"""Which runs are the highest, in sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from permed_measures.markup import listed
from permed_measures.results.table import is_same

_MOST_RUNS = 10
"""How many runs with equal means are named; the others are counted."""


def highest(
    headings: Sequence[str],
    means: Mapping[str, Sequence[float]],
    decimals: int,
    whole: Collection[str] = (),
) -> list[str]:
    """Say which runs have the highest first measure, and which are highest on the others.

    Parameters
    ----------
    headings : sequence of str
        Of the measures.
    means : mapping of str to sequence of float
        The mean of each measure by run.
    decimals : int
        Of the means in tables. The highest mean is said with more where a lower one would print like it.
    whole : collection of str
        The headings of measures that are whole numbers.

    Examples
    --------
    >>> highest(["RR", "P@1", "P@2"], {"a": [0.5, 1, 1], "b": [0.4, 0, 1]}, 1)
    ['a has the highest RR: 0.5.', 'Highest on P@1: a; on P@2: a and b.']
    >>> highest(["RR", "P@1"], {"a": [0.504, 0.2], "b": [0.498, 0.21]}, 1)
    ['a has the highest RR: 0.504.', 'Highest on P@1 (0.21): b.']
    """
    best = [best_of(means, number) for number in range(len(headings))]
    if not all(best):
        return []
    places = [0 if heading in whole else decimals for heading in headings]
    values = [apart(each, n) for each, n in zip(zip(*means.values(), strict=True), places, strict=True)]
    usual = [f"{means[runs[0]][number]:,.{places[number]}f}" for number, runs in enumerate(best)]
    verb = "has" if len(best[0]) == 1 else "have"
    said = [f"{listed(best[0], _MOST_RUNS)} {verb} the highest {headings[0]}: {values[0]}."]
    named = [
        text if value == shown else f"{text} ({value})"
        for text, value, shown in zip(headings, values, usual, strict=True)
    ]
    measures = grouped(zip(map(tuple, best[1:]), named[1:], strict=True))  # of which runs
    on = [f"on {listed(names)}: {listed(runs, _MOST_RUNS)}" for runs, names in measures.items()]
    return [*said, *([f"Highest {'; '.join(on)}."] if on else [])]


def best_of(means: Mapping[str, Sequence[float]], number: int) -> list[str]:
    """Return the runs with the highest mean of a measure; none where that is NaN."""
    values = {run: each[number] for run, each in means.items()}
    return [run for run, value in values.items() if is_same(value, max(values.values()))]


def apart(values: Sequence[float], decimals: int) -> str:
    """Write the highest of some values, with more decimals where a lower one would print like it.

    Examples
    --------
    >>> apart([0.504, 0.498, 0.504], 1), apart([0.504, 0.504], 1)
    ('0.504', '0.5')
    """
    best = max(values)
    lower = [value for value in values if not is_same(value, best)]
    for places in range(decimals, max(decimals, 13) + 1):
        text = f"{best:,.{places}f}"
        if all(f"{value:,.{places}f}" != text for value in lower):
            break
    return text


_K = TypeVar("_K")
_V = TypeVar("_V")


def grouped(pairs: Iterable[tuple[_K, _V]]) -> dict[_K, list[_V]]:
    """Collect what has the same key."""
    groups: dict[_K, list[_V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
