"""On which small collections the values of an option may give different numbers."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Protocol

NOT_FOUND = "queries without a relevant document within the cutoff"
"""What is unusual of a collection in which a query has relevant documents below the cutoff, if any."""


class Collection(Protocol):
    """Qrels and a run, and what is unusual of them."""

    @property
    def qrels(self) -> Mapping[str, Mapping[str, float]]:
        """The grade of each judged document."""

    @property
    def run(self) -> Mapping[str, Mapping[str, float]]:
        """The score of each retrieved document."""

    @property
    def traits(self) -> Sequence[str]:
        """What is unusual."""


def has_unjudged_or_low(case: Collection) -> bool:
    """Return whether a list has a document without a grade from 0 on, or with a score of 0 or less."""
    unjudged = (case.qrels.get(query, {}).get(doc, -1) < 0 for query in case.run for doc in case.run[query])
    return any(unjudged) or has_low_scores(case)


def has_low_scores(case: Collection) -> bool:
    """Return whether a score is 0 or less."""
    return any(score <= 0 for docs in case.run.values() for score in docs.values())


def is_longer_than(case: Collection, depth: int) -> bool:
    """Return whether a list has more documents than so many."""
    return any(len(docs) > depth for docs in case.run.values())


def has_ties(case: Collection) -> bool:
    """Return whether two scores of a list are equal in single precision."""
    return any(len(set(map(_as_single, docs.values()))) < len(docs) for docs in case.run.values())


def _as_single(score: float) -> bytes:
    return struct.pack("f", score)


def may_leave_out(case: Collection) -> bool:
    """Return whether a query may be left out: there are several, or one without hits or without others."""
    grades = [case.qrels.get(query, {}).get(doc, 0) >= 1 for query in case.run for doc in case.run[query]]
    return has_several_queries(case) or len({*grades}) < 2 or NOT_FOUND in case.traits


def has_several_queries(case: Collection) -> bool:
    """Return whether there are several queries in all."""
    return len({*case.qrels, *case.run}) > 1


def has_query_as_document(case: Collection) -> bool:
    """Return whether a list has a document with the id of its query."""
    return any(query in docs for query, docs in case.run.items())


def has_negative(case: Collection) -> bool:
    """Return whether a grade is below 0."""
    return any(grade < 0 for docs in case.qrels.values() for grade in docs.values())
