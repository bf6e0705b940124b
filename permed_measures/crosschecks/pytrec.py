"""Values of pytrec_eval, for the queries that it can take.

It is C code that checks little. With pytrec-eval-terrier 0.5.11 each of these ends the process, hangs it or
gives values from memory that is not its own (``tests/fuzz_pytrec_eval.py`` finds them): a cutoff of 0; a
query with negative grades only, or with nothing retrieved; the query ids ``no query`` and ``no_query``,
which it uses itself; an id with a NUL, or that is no valid Unicode; large grades (its memory grows with the
highest grade, its time with the square); bpref at a relevance level more than one above the highest grade.
Numbers other than Python's own are a TypeError.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import ir_measures
from ir_measures.measures import Measure

from permed_measures.measures.parameters import values_of

HIGHEST_GRADE = 2_000
"""Grades above this are not given to pytrec_eval; here its nDCG takes a millisecond per query."""

HIGHEST_REL = 2**31 - 1
"""A relevance level is a C int."""

Labels = Mapping[str, int]
Scores = Mapping[str, float]


def pytrec_values(
    measure: Measure, qrels: Mapping[str, Labels], run: Mapping[str, Scores]
) -> dict[str, float]:
    """Return pytrec_eval's value for each query that it can take and where it does not divide 0 by 0.

    ``ir_measures.pytrec_eval`` must support the measure, with a cutoff of at least 1 and a rel up to
    HIGHEST_REL; no score may be NaN.
    """
    level = values_of(measure).get("rel") or 1
    safe = [
        query_id
        for query_id, labels in qrels.items()
        if can_take(labels, run.get(query_id, {}))
        and (measure.NAME != "Bpref" or level <= max(labels.values()) + 1)
    ]
    names = {f"q{number}": query_id for number, query_id in enumerate(safe)}
    # Negative grades are alike to trec_eval; as -1 they fit its integers.
    labels = {name: {d: max(g, -1) for d, g in qrels[q].items()} for name, q in names.items()}
    scores = {name: {d: float(s) for d, s in run[q].items()} for name, q in names.items()}
    metrics = ir_measures.pytrec_eval.iter_calc([measure], labels, scores)
    return {names[m.query_id]: m.value for m in metrics if m.value == m.value}


def can_take(labels: Labels, scores: Scores) -> bool:
    """Return whether a query can be given to pytrec_eval."""
    highest = max(labels.values(), default=-1)
    return bool(scores) and 0 <= highest <= HIGHEST_GRADE and _is_text(labels) and _is_text(scores)


def _is_text(ids: Iterable[str]) -> bool:
    text = "".join(ids)
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text
