"""What differs between a record and the same evaluation made again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures import __version__
from permed_measures.engine.judgments import Judgments
from permed_measures.errors import InputError, MeasureError, nearest, shown
from permed_measures.files.provenance import provenance
from permed_measures.measures.headings import name_of
from permed_measures.records.fields import Key, dotted
from permed_measures.records.record import Record, hash_of

TOLERANCE = 1e-9
"""How far numbers of another version may be from ours."""

Floats = NDArray[np.float64]

NOTHING = object()
"""In the place of what one of the two lacks."""


class Difference(NamedTuple):
    """A field that differs.

    Attributes
    ----------
    key : str
        Where it stands: ``runs.bm25.metrics.P@1``, with the names of runs, measures and queries.
    recorded, computed : what JSON can hold
        Its values; NOTHING where there is none.
    """

    key: str
    recorded: Any
    computed: Any

    def __str__(self) -> str:
        """Say it in a line."""
        before, now = ("nothing" if each is NOTHING else shown(each) for each in self[1:])
        return f"{self.key}: {_MEANT.get(self.key, 'recorded {}, computed {}').format(before, now)}"


_MEANT = {
    "sha256": "it was edited after it was written, this is not the hash of its content",
    "qrels.judgments": "it was made with other labels",
    "query_ids": "it was made with other queries, {} are gone, {} are new",
}


def compared(recorded: Record, remade: Mapping[str, Any]) -> tuple[list[Difference], list[str]]:
    """Compare a record with the same evaluation made again, field by field.

    Parameters
    ----------
    recorded : Record
    remade : mapping
        The fields of a record.

    Returns
    -------
    list of Difference, list of str
        What differs, its own hash first; and the fields that cannot be compared: when and with what it was
        made, where the files were, and of another version's record texts and what is not computed any more.
    """
    found = []
    if recorded["sha256"] != recorded.seal:
        found.append(Difference("sha256", recorded["sha256"], recorded.seal))
    unchecked = [name for name in ("created", "versions") if name in recorded]
    other_version = recorded.version != __version__
    ids, new_ids = recorded["query_ids"], remade["query_ids"]
    if ids != new_ids:
        found.append(Difference("query_ids", sorted({*ids} - {*new_ids}), sorted({*new_ids} - {*ids})))
    before, after = ({part: each[part] for part in _COMPARED if part in each} for each in (recorded, remade))
    for key, value, now in _leaves(before, after, ()):
        if ids != new_ids and "values" in key:
            continue
        if _is_unknown(key, value, now) or (other_version and _is_wording(key, value, now)):
            of_list = isinstance(key[-1], int)  # one of several texts
            unchecked.append("paths" if key[-1] in _PLACES else dotted(key[:-1] if of_list else key))
        elif not _are_same(value, now, TOLERANCE if other_version else 0.0):
            of_query = key[0] == "runs" and key[2:3] == ("values",) and len(key) == 5
            place = (*key[:4], ids[int(key[4])]) if of_query else key
            found.append(Difference(dotted(place), value, now))
    return found, list(dict.fromkeys(unchecked))


_COMPARED = ("qrels", "inputs", "options", "measures", "conventions", "runs", "comparison")
"""The fields that can be computed again, besides ``query_ids``: what the numbers depend on first."""

_PLACES = ("path", "dataset")
"""Fields that say where a file was; its hash says whether it is the same."""


def _is_unknown(key: Key, before: Any, now: Any) -> bool:
    """Return whether a field about a file cannot be compared: it is a place, or there is no file."""
    return key[0] in ("qrels", "inputs") and (
        key[-1] in _PLACES or (key[0] == "inputs" and (before in (None, NOTHING) or now in (None, NOTHING)))
    )


def _is_wording(key: Key, before: Any, now: Any) -> bool:
    """Return whether versions with the same numbers may differ in this: texts, fields of a comparison."""
    is_text = isinstance(before, str) or isinstance(now, str)
    lacking = before is NOTHING or now is NOTHING
    return before != now and (
        (key[0] == "conventions")
        or (key[0] in ("measures", "inputs") and key[-1] in ("description", "format"))
        or (key[0] == "runs" and "notes" in key[2:4])
        or (key[0] == "comparison" and (is_text or lacking))
    )


def _are_same(before: Any, now: Any, tolerance: float) -> bool:
    if type(before) in (int, float) and type(now) in (int, float):
        return bool(before == now or abs(before - now) <= tolerance)
    return type(before) is type(now) and bool(before == now)


def _leaves(before: Any, now: Any, key: Key) -> Iterator[tuple[Key, Any, Any]]:
    """Yield the place of each value of two JSON contents, and both values."""
    if isinstance(before, list) and isinstance(now, list):
        if before == now and set(map(type, before)) <= {float}:  # as most values of queries are
            return
        before, now = _by_name(before), _by_name(now)
    if isinstance(before, dict) and isinstance(now, dict) and (before or now):
        for name in {**before, **now}:
            yield from _leaves(before.get(name, NOTHING), now.get(name, NOTHING), (*key, name))
    else:
        yield key, before, now


_NAMES = ("role", "name", "run", "baseline", "heading", "measure", "group")
"""Fields that objects of a list are known by."""


def _by_name(values: list[Any]) -> dict[str | int, Any]:
    """Return the values of a list by their names where each has its own, or by their numbers."""
    objects = all(isinstance(each, dict) for each in values)
    names = [" ".join(str(each[n]) for n in _NAMES if n in each) for each in values] if objects else []
    unique = all(names) and max(Counter(names).values(), default=2) == 1
    return dict(zip(names, values, strict=True)) if unique else dict(enumerate(values))


def values_to_compare(
    record: Record, measures: list[Measure], judgments: Judgments, order: str, query_ids: str | None
) -> dict[str, dict[Measure, Floats]]:
    """Return the values of the runs of a record, if they can be compared with an evaluation made here.

    Parameters
    ----------
    record : Record
    measures, judgments, order, query_ids
        Those of the evaluation.

    Returns
    -------
    dict of str to dict of Measure to ndarray of float64, shape (n_queries,)

    Raises
    ------
    InputError
        If the record was edited, or made with other labels, queries or options, or with measures that have
        other parameters now.
    MeasureError
        If it lacks a measure.
    """
    here = {
        **record,
        "query_ids": judgments.query_ids,
        "qrels": {**record["qrels"], "judgments": hash_of(judgments)},
        "options": {**record["options"], "order": order, "query_ids": query_ids},
        "measures": provenance(record.measures)["measures"],
    }
    differences, _ = compared(record, here)
    if differences:
        raise InputError(f"this record cannot be compared: {differences[0]}", where=record.source)
    names = list(map(name_of, record.measures))
    for measure in measures:
        if measure not in record.measures:
            problem = f"this record has no {measure} (it has {', '.join(names)})"
            raise MeasureError(problem, where=record.source, hint=nearest(str(measure), names))
    return {run: {measure: record.values_of(run, measure) for measure in measures} for run in record.runs}
