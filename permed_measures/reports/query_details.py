"""What one looks at query by query: texts, values, and the documents that the runs rank first."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.comparisons.results import ComparisonResult
from permed_measures.datasets.titles import titles_of
from permed_measures.engine.groups import Groups
from permed_measures.errors import InputError
from permed_measures.intervals import zero_rounding_noise
from permed_measures.markup import one_line
from permed_measures.measures.headings import headings_of
from permed_measures.reports.ranked_documents import Documents, graded, shown_rankings

DEPTH = 10
"""Documents of each ranking that are shown."""


def query_details(result: ComparisonResult, depth: int = DEPTH) -> dict[str, Any]:
    """Return what JSON can hold of the queries of a comparison.

    Runs that can be read again are read for the ids of their unjudged documents; the others are known by
    their judged documents alone.

    Returns
    -------
    dict
        - ``ids``, ``texts``: of the queries, then of turns without judgments; a text may be None.
        - ``n``: how many of them are the queries of the comparison, in the order of ``paired.query_ids``.
        - ``turns``: for each query the places, in ``ids``, of the turns before it.
        - ``fields``: name to a label for each query.
        - ``runs``, ``measures``, ``baseline``: names, and the place of the first baseline (perhaps None).
        - ``values``: for each run, measure and query; ``digits``: how many decimals are shown.
        - ``depth``; ``rankings``: for each run and query places in ``documents``; -1 is an unjudged document
          that is not known.
        - ``deeper``: for each run and query the judged documents of other rankings that it has further down:
          [document, rank].
        - ``documents``: ``ids``, and ``texts`` (None where the data set has none here).
        - ``grades``: for each query its judged documents among these: [document, grade].
        - ``all_grades``: the grades of the qrels, descending, at most eight of them.
        - ``missed``: for each query its best-graded documents that are in none of the rankings:
          [document, grade, the best rank in any run or None]; and ``n_missed``, how many there are.
        - ``unread``: for each run why it was not read again, ``once``, ``spark``, ``changed`` or ``failed``;
          empty if it was.
    """
    rankings = result.paired.rankings
    judgments = next(iter(rankings.values())).judgments
    documents = Documents()
    placed, unread = [], []
    for run in rankings:
        shown, reason = shown_rankings(result, run, depth)
        unread.append(reason)
        placed.append([documents.places(each) for each in shown])
    grades = graded(judgments, rankings, documents, depth)
    texts = titles_of(result.qrels, documents.ids.keys())
    return {
        **_queries(result),
        "runs": list(map(one_line, rankings)),
        "measures": headings_of(result.measures),
        "baseline": list(rankings).index(result.baselines[0]) if result.baselines else None,
        "digits": 4 if result.digits is None else result.digits,
        "values": _rounded(np.array(list(result.paired.values.values()))),
        "depth": depth,
        "rankings": placed,
        "documents": {
            "ids": list(map(one_line, documents.ids)),
            "texts": [texts.get(doc_id) for doc_id in documents.ids] if texts else None,
        },
        **grades,
        "unread": unread,
    }


# --- values ------------------------------------------------------------------------------------------


def _rounded(values: NDArray[np.float64]) -> list[Any]:
    """Round values of shape (n_runs, ...) to as few decimals as leave every win, tie and loss what it is.

    Values that differ by rounding noise only become equal.
    """
    order = np.argsort(values, axis=0)
    ranked = np.take_along_axis(values, order, axis=0)
    for number in range(1, len(ranked)):
        is_tie = zero_rounding_noise(ranked[number] - ranked[number - 1]) == 0
        ranked[number] = np.where(is_tie, ranked[number - 1], ranked[number])
    steps = np.diff(ranked, axis=0) > 0
    for decimals in (6, 8, 10, 12, 17):
        rounded = ranked.round(decimals)
        if ((np.diff(rounded, axis=0) > 0) == steps).all():
            break
    np.put_along_axis(ranked, order, rounded + 0.0, axis=0)
    listed: list[Any] = ranked.tolist()
    return listed


# --- queries -----------------------------------------------------------------------------------------


class _Turn(NamedTuple):
    """A query of a data set."""

    id: str
    text: str | None


def _queries(result: ComparisonResult) -> dict[str, Any]:
    """Return ids, texts, fields of the queries, and the turns before each."""
    query_ids = result.paired.query_ids
    asked = _of_dataset(result.qrels)
    by_id = {query.query_id: query for query in asked}
    seen = {_Turn(each, _text(by_id.get(each))): place for place, each in enumerate(query_ids)}
    before = _turns_before(asked)
    turns = [
        [seen.setdefault(turn, len(seen)) for turn in before.get(query_id, ())] for query_id in query_ids
    ]
    return {
        "n": len(query_ids),
        "ids": [one_line(turn.id) for turn in seen],
        "texts": [turn.text for turn in seen] if asked else None,
        "turns": turns if any(turns) else None,
        "fields": _fields(result, [by_id.get(each) for each in query_ids]),
    }


def _of_dataset(qrels: Any) -> list[Any]:
    """Return the queries of a data set; none if it has none, or they cannot be read."""
    dataset = qrels.irds_ref() if hasattr(qrels, "irds_ref") else qrels
    try:
        return list(dataset.queries_iter()) if hasattr(dataset, "queries_iter") else []
    except Exception:  # of any data set of ir_datasets: the page is worth having without
        return []


def _text(query: Any) -> str | None:
    """Return the text of a query of ir_datasets, some of which have several fields of text."""
    if query is None:
        return None
    text = query.default_text() if hasattr(query, "default_text") else getattr(query, "text", "")
    return " ".join(str(text or "").split()) or None


_CONVERSATIONS = ("conversation_id", "topic_number")
"""What a query with a turn_number may call its conversation: ours, and TREC CAsT."""


def _turns_before(queries: list[Any]) -> dict[str, list[_Turn]]:
    """Return the turns before each query of a conversation; without ids if only their texts are known."""
    name = next((each for each in _CONVERSATIONS if queries and hasattr(queries[0], each)), "")
    if not name or not hasattr(queries[0], "turn_number"):
        return {}
    of_conversation: dict[Any, list[Any]] = {}
    for query in queries:
        of_conversation.setdefault(getattr(query, name), []).append(query)
    found = {}
    for turns in of_conversation.values():
        turns.sort(key=lambda query: int(query.turn_number))
        for query in turns:
            earlier = [each for each in turns if int(each.turn_number) < int(query.turn_number)]
            before = [_Turn(each.query_id, _text(each)) for each in earlier]
            told = [_Turn("", " ".join(text.split())) for text in getattr(query, "history", ())]
            found[query.query_id] = told if len(told) > len(before) else before
    return found


_LONGEST_LABEL = 40


def _fields(result: ComparisonResult, queries: list[Any]) -> dict[str, list[str]]:
    """Return what queries can be chosen by: groups, clusters and the short fields of the data set."""
    paired, fields = result.paired, {}
    if result.by and paired.group is not None:
        labels = [*map(str, result.groups), ""]  # the last is -1: in no group
        fields[result.by] = [labels[group] for group in paired.group.tolist()]
    names = queries[0]._fields if queries and hasattr(queries[0], "_fields") else ()
    for name in names:
        values = [getattr(query, name, None) for query in queries]
        labels = ["" if value is None else str(value) for value in values]
        short = all(isinstance(value, (str, int, type(None))) for value in values)
        if name not in _NO_LABELS and short and max(map(len, labels)) <= _LONGEST_LABEL:
            fields.setdefault(name, labels)
    if paired.clusters and paired.clusters not in fields:
        try:
            groups = Groups.of(paired.query_ids, paired.clusters, result.qrels)
        except InputError:  # a mapping or a function, which is not known by its name
            pass
        else:
            labels = [*map(str, groups.values), ""]
            fields[paired.clusters] = [labels[group] for group in groups.group.tolist()]
    return {name: labels for name, labels in fields.items() if 1 < len(set(labels)) < len(labels)}


_NO_LABELS = ("query_id", "text", "history")
