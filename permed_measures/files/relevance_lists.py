"""Qrels and a run from lists of grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from permed_measures.engine.inputs import location, number, string_id
from permed_measures.errors import InputError
from permed_measures.files.order import scores_by_order

Qrels = dict[str, dict[str, float | int]]
Run = dict[str, dict[str, float]]


def from_relevance_lists(lists: Mapping[str, Sequence[float | int | None]]) -> tuple[Qrels, Run]:
    """Return qrels and run for rankings of which only the grades are known.

    Parameters
    ----------
    lists : mapping of str to sequence of number or None
        For each query the grade of each retrieved document in the order of the ranking; None for one that
        is not judged. Relevant documents that were not retrieved are not known, so what is divided by
        their number (recall, AP) is computed as if there were none.

    Returns
    -------
    qrels : dict
        ``{query_id: {doc_id: relevance}}`` with documents ``d1``, ``d2``, … of each list.
    run : dict
        ``{query_id: {doc_id: score}}``, the score minus the position.

    Raises
    ------
    InputError
        For lists without query ids, or a grade that is no finite number.

    Examples
    --------
    >>> from_relevance_lists({"q1": [1, 0, None]})
    ({'q1': {'d1': 1, 'd2': 0}}, {'q1': {'d1': -1.0, 'd2': -2.0, 'd3': -3.0}})
    """
    if not isinstance(lists, Mapping):
        raise InputError(
            f"lists must be a dict {{query_id: grades}} (found {type(lists).__name__})",
            hint="Give each list a query id: {'q1': [1, 0, 1]}",
        )
    qrels: Qrels = {}
    run: Run = {}
    for query, grades in lists.items():
        query_id = string_id(query)
        named = [(f"d{position}", grade) for position, grade in enumerate(grades, start=1)]
        qrels[query_id] = {
            doc_id: number(grade, "relevance", where=location(query_id, doc_id))
            for doc_id, grade in named
            if grade is not None
        }
        run[query_id] = scores_by_order(doc_id for doc_id, _ in named)
    return qrels, run
