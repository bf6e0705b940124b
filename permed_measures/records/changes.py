"""What differs between a record and the same record made again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from permed_measures.errors import shown
from permed_measures.markup import counted
from permed_measures.measures.headings import name_of
from permed_measures.records.record import Record


def differences(recorded: Record, remade: Record, tolerance: float) -> Iterator[tuple[str, str]]:
    """Yield what differs between two records, apart from the files: what it is, and how."""
    parts = {
        "options": _plain,
        "conventions": _plain,
        "measures": _by("measure"),
        "runs": _by("run"),
        "comparison": _plain,
    }
    for part, arranged in parts.items():
        pair = arranged(recorded.get(part, {})), arranged(remade.get(part, {}))
        for place, before, after in _leaves(*pair, ()):
            if not _same(before, after, tolerance):
                text = f"recorded {_told(before)}, computed {_told(after)}"
                yield _WHAT.get(part, "number"), f"{_place(part, place, remade)}: {text}"
    before, after = recorded["query_ids"], remade["query_ids"]
    if before == after:
        yield from _values(recorded, remade, tolerance)
        return
    gone, new = (sorted({*a} - {*b}) for a, b in ((before, after), (after, before)))
    names = [f"{shown(each[0])} is {which}" for each, which in ((gone, "gone"), (new, "new")) if each]
    yield "query", f"the qrels have other queries than the record ({', '.join(names) or 'in another order'})"


_WHAT = {"options": "convention", "conventions": "convention", "measures": "convention"}
_NOTHING = object()  # in the place of what one record lacks


def _plain(content: Any) -> Any:
    return content


def _by(key: str) -> Callable[[list[dict[str, Any]]], dict[str, Any]]:
    """Arrange a list of objects by a field; the values of all queries are compared apart."""

    def arranged(content: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            str(each[key]): {name: value for name, value in each.items() if name not in (key, "values")}
            for each in content
        }

    return arranged


def _leaves(before: Any, after: Any, place: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    """Yield the place of each value of two JSON contents, and both values."""
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        before, after = dict(enumerate(before)), dict(enumerate(after))
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            yield from _leaves(before.get(key, _NOTHING), after.get(key, _NOTHING), (*place, key))
    else:
        yield place, before, after


def _same(before: Any, after: Any, tolerance: float) -> bool:
    """Return whether two values are the same; the texts and fields of another version may be others."""
    if type(before) in (int, float) and type(after) in (int, float):
        return bool(before == after or abs(before - after) <= tolerance)
    if tolerance and type(before) not in (int, float):
        return True
    return type(before) is type(after) and not _differ(before, after)


def _differ(before: object, after: object) -> bool:
    return before != after


def _told(value: Any) -> str:
    return "nothing" if value is _NOTHING else shown(value)


def _place(part: str, place: tuple[Any, ...], remade: Record) -> str:
    """Say where a value stands in a record."""
    if part == "runs" and place[1:2] in (("metrics",), ("judged",)) and len(place) == 3:
        return f"{place[2]} of {place[0]}"
    if part == "runs" and place[1:2] == ("groups",) and len(place) == 5:
        [run] = [each for each in remade["runs"] if each["run"] == place[0]]
        return f"{place[4]} of {place[0]}, {run['by']} {run['groups'][place[2]]['group']}"
    if part == "comparison" and place[:1] == ("rows",) and len(place) > 2:
        row = remade["comparison"]["rows"][place[1]]
        pair = f"{row['measure']}, {row['run']} against {row['baseline']}"
        return f"{pair}, {' '.join(map(str, place[2:]))}"
    return " ".join(map(str, place if part in ("measures", "runs") else (part, *place)))


def _values(recorded: Record, remade: Record, tolerance: float) -> Iterator[tuple[str, str]]:
    """Yield what differs in the values of the queries."""
    ids = remade["query_ids"]
    for run in remade.runs if recorded.runs == remade.runs else ():
        for measure in map(name_of, remade.measures):
            before, after = recorded.values(run, measure), remade.values(run, measure)
            wrong = np.flatnonzero(~(np.abs(before - after) <= tolerance))
            if len(wrong):
                q = wrong[0]
                first = f"{shown(ids[q])}: recorded {before[q]!s}, computed {after[q]!s}"
                n_wrong = f"{len(wrong):,} of {counted(len(ids), 'query')} differ"
                yield "query", f"{measure} of {run}: {n_wrong} (first {first})"
