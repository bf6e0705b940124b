"""Group queries by a field of a data set or by a pattern in their ids; compute means per group."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.engine.evaluator import Evaluation, aggregated
from permed_measures.engine.tables import string_id
from permed_measures.errors import InputError, did_you_mean, short_repr
from permed_measures.wording import join_names, pluralize

By = str | Mapping[str, Any] | Callable[[str], Any]


class Groups(NamedTuple):
    """The assignment of judged queries to groups.

    Attributes
    ----------
    name : str
        The name of the grouping, such as ``turn_number``.
    values, empty : list
        The groups with judged queries, and the groups without, ascending.
    group : ndarray of int64, shape (n_queries,)
        The group of each query of the qrels, as an index into `values`; -1 if it belongs to none.
    """

    name: str
    values: list[Any]
    group: NDArray[np.int64]
    empty: list[Any]

    @classmethod
    def of(cls, query_ids: list[str], by: By, dataset: Any = None) -> Groups:
        """Group judged queries by `by`, which may be a field of the data set's queries; see `evaluate_by`."""
        group_of = _groups(query_ids, by, dataset)
        for query_id, value in group_of.items():
            if not isinstance(value, Hashable):
                where = f"query {short_repr(query_id)}"
                raise InputError(
                    f"a group must be a string or a number (found {short_repr(value)})", where=where
                )
        group_of = {
            query_id: value for query_id, value in group_of.items() if value is not None and _is_group(value)
        }
        judged = dict.fromkeys(group_of[query_id] for query_id in query_ids if query_id in group_of)
        values = sorted(judged, key=_sort_key)  # the sort is stable: groups of equal keys keep their order
        index_of = {value: index for index, value in enumerate(values)}
        group = np.array([index_of.get(group_of.get(query_id), -1) for query_id in query_ids], np.int64)
        not_judged = dict.fromkeys(value for value in group_of.values() if value not in judged)
        empty = sorted(not_judged, key=_sort_key)
        return cls(by if isinstance(by, str) else "group", values, group, empty)

    @property
    def sizes(self) -> list[int]:
        """The number of judged queries in each group."""
        sizes: list[int] = np.bincount(self.group[self.group >= 0], minlength=len(self.values)).tolist()
        return sizes

    @property
    def n_outside(self) -> int:
        """The number of judged queries that belong to no group."""
        return int((self.group < 0).sum())

    def notes(self) -> list[str]:
        """Describe groups without judged queries, and queries without a group."""
        notes = []
        if self.empty:
            have, are = ("has", "is") if len(self.empty) == 1 else ("have", "are")
            empty, names = pluralize(len(self.empty), "group"), join_names(map(str, self.empty), 5)
            notes.append(f"{self.name}: {empty} {have} no judged query and {are} left out: {names}")
        if self.n_outside:
            belong, are = ("belongs", "is") if self.n_outside == 1 else ("belong", "are")
            outside = pluralize(self.n_outside, "judged query")
            notes.append(f"{self.name}: {outside} {belong} to no group and {are} left out")
        return notes

    def means(self, evaluation: Evaluation) -> dict[Any, dict[Measure, float]]:
        """Compute the means of each group, bit by bit as in an evaluation of its queries alone."""
        by_group = np.take(evaluation.values, np.argsort(self.group, kind="stable"), axis=1)
        ends = self.n_outside + np.cumsum(self.sizes, dtype=np.int64)  # queries without a group come first
        return {
            value: aggregated(evaluation.measures, by_group[:, end - size : end])
            for value, size, end in zip(self.values, self.sizes, ends.tolist(), strict=True)
        }

    def macro(self, evaluation: Evaluation) -> dict[Measure, float]:
        """Average the groups' means, each group counting once; NaN without groups."""
        means = np.array([list(row.values()) for row in self.means(evaluation).values()])
        values = means.mean(axis=0) if len(means) else np.full(len(evaluation.measures), np.nan)
        return dict(zip(evaluation.measures, values.tolist(), strict=True))


def _is_group(value: Any) -> bool:
    """Check whether a value names a group: NaN, and pandas' NA, do not."""
    try:
        return bool(value == value)
    except (TypeError, ValueError):
        return False


def _sort_key(value: Any) -> tuple[Any, ...]:
    """Build a sort key: strings before numbers, and numerals within strings by size."""
    if isinstance(value, Real):
        return (1, value)
    parts = enumerate(_DIGITS.split(str(value)))
    numbered = ((index % 2, part.lstrip("0") if index % 2 else part) for index, part in parts)
    return (0, *((number, number * len(part), part) for number, part in numbered))


_DIGITS = re.compile(r"([0-9]+)")


def _groups(query_ids: list[str], by: Any, dataset: Any) -> dict[str, Any]:
    """Assign a group to each query; with a data set, also to queries that are not judged."""
    if isinstance(by, Mapping) or hasattr(by, "to_dict"):  # pandas' Series has to_dict
        return _by_pairs(by.items())
    if isinstance(by, str):
        return _by_text(query_ids, by, dataset)
    if callable(by):
        return {query_id: by(query_id) for query_id in query_ids}
    raise InputError(f"by must be a field, a pattern, a mapping or a function (found {short_repr(by)})")


def _by_pairs(pairs: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    """Collect the groups by query id; a query may occur several times with the same group."""
    groups: dict[str, Any] = {}
    for query_id, value in pairs:
        first = groups.setdefault(string_id(query_id), value)
        if _is_group(first) and _is_group(value) and first != value:
            problem = f"a query can be in one group only (found {short_repr(first)} and {short_repr(value)})"
            raise InputError(problem, where=f"query {short_repr(query_id)}")
    return groups


def _by_text(query_ids: list[str], by: str, dataset: Any) -> dict[str, Any]:
    fields = [name for name in _fields_of(dataset) if name not in ("query_id", "text", "history")]
    if by not in fields:
        return _by_pattern(query_ids, by, fields)
    complete = hasattr(dataset, "queries_complete")
    queries = dataset.queries_complete() if complete else dataset.queries_iter()
    return {query.query_id: getattr(query, by) for query in queries}


def _fields_of(dataset: Any) -> tuple[str, ...]:
    """List the fields of a data set's queries; empty if it has none."""
    names: tuple[str, ...] = dataset.queries_cls()._fields if hasattr(dataset, "queries_cls") else ()
    return names


def _by_pattern(query_ids: list[str], pattern: str, fields: list[str]) -> dict[str, Any]:
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise _grouping_error(pattern, f"not a pattern: {error}", fields) from None
    if compiled.groups != 1:
        raise _grouping_error(pattern, f"a pattern with {compiled.groups} groups", fields)
    matches = {query_id: compiled.search(query_id) for query_id in query_ids}
    groups = {query_id: match[1] for query_id, match in matches.items() if match and match[1] is not None}
    if query_ids and not groups:
        problem = f"the pattern {short_repr(pattern)} finds nothing in any query id"
        raise InputError(f"{problem} (such as {short_repr(query_ids[0])})")
    return groups


def _grouping_error(by: str, reason: str, fields: list[str]) -> InputError:
    choices = f"one of {', '.join(fields)}, or " if fields else ""
    return InputError(
        f"queries can be grouped by {choices}a pattern with one group for the query ids, such as "
        f"'_([0-9]+)$' (found {short_repr(by)}, {reason})",
        hint=did_you_mean(by, fields) if fields else "Fields such as turn_number need a data set as qrels",
    )


# --- clusters ------------------------------------------------------------------------------------------


def clusters_of(
    query_ids: list[str], by: By | None, dataset: Any
) -> tuple[str, NDArray[np.int64], list[str]]:
    """Assign a cluster to each query; return the clusters' name, the assignment, and notes."""
    n = len(query_ids)
    if by is None:
        if "conversation_id" not in _fields_of(dataset):
            return "", np.arange(n), _notes_on_turns(query_ids)
        by = "conversation_id"
    if isinstance(by, str) and by == "none":
        return "", np.arange(n), []
    groups = Groups.of(query_ids, by, dataset)
    name = "clusters" if groups.name == "group" else groups.name
    notes = []
    if groups.n_outside:
        outside = (
            f"{groups.n_outside:,} of {pluralize(n, 'query')} {'is' if groups.n_outside == 1 else 'are'}"
        )
        notes.append(f"{name}: {outside} in no cluster; each forms its own cluster")
    cluster = factorized(np.where(groups.group < 0, len(groups.values) + np.arange(n), groups.group))
    if cluster.max() + 1 == n:
        notes.append(f"{name}: no cluster has two queries; queries are treated as independent")
        return "", np.arange(n), notes
    return name, cluster, notes


_NUMBERED_TURN = r"(.+)_[0-9]+$"


def _notes_on_turns(query_ids: list[str]) -> list[str]:
    """Note that ids of queries treated as independent look like turns, as in MedCorpus and TREC CAsT."""
    conversations: dict[str, list[str]] = {}
    for query_id in query_ids:
        match = re.match(_NUMBERED_TURN, query_id)
        conversations.setdefault(match[1] if match else "", []).append(query_id)
    if "" in conversations or not 1 < len(conversations) < len(query_ids):
        return []
    first, second = next(turns for turns in conversations.values() if len(turns) > 1)[:2]
    turns = f"if {short_repr(first)} and {short_repr(second)} are turns of one conversation"
    return [f"queries are treated as independent; {turns}, set clusters to '{_NUMBERED_TURN}'"]


def factorized(label: NDArray[np.int64]) -> NDArray[np.int64]:
    """Renumber the labels from 0 by first appearance, so that clusters of one are in query order."""
    codes: dict[int, int] = {}
    return np.array([codes.setdefault(old, len(codes)) for old in label.tolist()], np.int64)
