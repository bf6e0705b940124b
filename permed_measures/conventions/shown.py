"""Check whether a small collection can show a difference between the values of an option."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Protocol

NOT_FOUND = "queries without a relevant document within the cutoff"
"""The feature of a collection with a query that has no relevant document within the cutoff."""


class Collection(Protocol):
    """Qrels and a run, with their unusual features."""

    @property
    def qrels(self) -> Mapping[str, Mapping[str, float]]:
        """The grade of each judged document."""

    @property
    def run(self) -> Mapping[str, Mapping[str, float]]:
        """The score of each retrieved document."""

    @property
    def traits(self) -> Sequence[str]:
        """The unusual features, by name."""


def has_unjudged_or_low(case: Collection) -> bool:
    """Check whether a list has an unjudged document, a negative grade, or a score of 0 or less."""
    unjudged = (case.qrels.get(query, {}).get(doc, -1) < 0 for query in case.run for doc in case.run[query])
    return any(unjudged) or has_low_scores(case)


def has_low_scores(case: Collection) -> bool:
    """Check whether any score is 0 or less."""
    return any(score <= 0 for docs in case.run.values() for score in docs.values())


def is_longer_than(case: Collection, depth: int) -> bool:
    """Check whether any list has more than `depth` documents."""
    return any(len(docs) > depth for docs in case.run.values())


def has_ties(case: Collection) -> bool:
    """Check whether any two scores of a list are equal in single precision."""
    return any(len(set(map(_as_single, docs.values()))) < len(docs) for docs in case.run.values())


def _as_single(score: float) -> bytes:
    return struct.pack("f", score)


def may_leave_out(case: Collection) -> bool:
    """Check whether any rule can leave out a query.

    It can if there are several queries, or if the only query lacks relevant or other documents.
    """
    are_relevant = {
        case.qrels.get(query, {}).get(doc, 0) >= 1 for query in case.run for doc in case.run[query]
    }
    return has_several_queries(case) or len(are_relevant) < 2 or NOT_FOUND in case.traits


def has_several_queries(case: Collection) -> bool:
    """Check whether qrels and run have several queries together."""
    return len({*case.qrels, *case.run}) > 1


def has_query_as_document(case: Collection) -> bool:
    """Check whether any list has a document with the id of its query."""
    return any(query in docs for query, docs in case.run.items())


def has_negative(case: Collection) -> bool:
    """Check whether any grade is below 0."""
    return any(grade < 0 for docs in case.qrels.values() for grade in docs.values())
