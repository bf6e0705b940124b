"""Query ids that name the same queries in different ways: found and said, applied only if asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from permed_measures.engine.inputs import Batches, QrelsLike, RunLike, as_mapping_or_frame, with_text_ids
from permed_measures.engine.judgments import Judgments
from permed_measures.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["REWRITINGS", "Renamed", "match_query_ids", "renamed", "suggestion"]

_TURN = re.compile(r"(.+)_turn_([0-9]+)")
_LITSEARCH = re.compile(r"litsearch_([0-9]{1,18})")


def _permed(query_id: str) -> str:
    """Return ``topic_001_1`` for ``topic_001_turn_1``."""
    match = _TURN.fullmatch(query_id)
    return f"{match[1]}_{match[2]}" if match else query_id


def _litsearch(query_id: str) -> str:
    """Return ``1`` for ``litsearch_000``: these count from 0."""
    match = _LITSEARCH.fullmatch(query_id)
    return str(int(match[1]) + 1) if match else query_id


def _by_form(form: Callable[[str], str]) -> Callable[[list[str], list[str]], dict[str, str]]:
    """Return what joins the ids of run and qrels that have the same form."""

    def join(run_ids: list[str], qrels_ids: list[str]) -> dict[str, str]:
        known: dict[str, str] = {}
        for query_id in qrels_ids:
            if known.setdefault(form(query_id), query_id) != query_id:
                raise _same(known[form(query_id)], query_id, "qrels")
        return {query_id: known[form(query_id)] for query_id in run_ids if form(query_id) in known}

    return join


def _by_prefix(run_ids: list[str], qrels_ids: list[str]) -> dict[str, str]:
    """Join ids of which those of one side all have one prefix more."""
    known, candidates = set(qrels_ids), {""}
    same = {query_id: query_id for query_id in run_ids if query_id in known}
    for query_id in run_ids[:3]:
        candidates |= {query_id[:place] for place in _joints(query_id) if query_id[place:] in known}
    joined = [
        {query_id: query_id[len(prefix) :] for query_id in run_ids if query_id[len(prefix) :] in known}
        for prefix in sorted(candidates)
        if prefix and all(query_id.startswith(prefix) for query_id in run_ids)
    ]
    joined.insert(0, same)
    wanted = set(run_ids)
    for prefix in sorted({q[:place] for q in qrels_ids[:3] for place in _joints(q)}):
        if all(query_id.startswith(prefix) for query_id in qrels_ids):
            joined.append({q[len(prefix) :]: q for q in qrels_ids if q[len(prefix) :] in wanted})
    return max(joined, key=len, default={})


def _joints(query_id: str) -> list[int]:
    """Return where a prefix may end: never between two digits or two letters."""
    return [
        place
        for place, (a, b) in enumerate(pairwise(query_id), start=1)
        if not (a.isdigit() and b.isdigit()) and not (a.isalpha() and b.isalpha())
    ]


def _litsearch_ids(run_ids: list[str], qrels_ids: list[str]) -> dict[str, str]:
    """Join ids that count from 0 with those that count from 1; refuse what counts from 1 on both sides."""
    joined = _by_form(_litsearch)(run_ids, qrels_ids)
    numbers = [int(match[1]) for query_id in run_ids if (match := _LITSEARCH.fullmatch(query_id))]
    beyond = [f"litsearch_{n:03}" for n in numbers if str(n + 1) not in qrels_ids and str(n) in qrels_ids]
    if beyond and 0 not in numbers:
        raise InputError(
            f"litsearch_000 must be query 1 (found no such id in the run, and {beyond[0]!r}, which would be "
            "beyond the last one: do they count from 1?)",
            hint="Give the run the ids of the qrels",
        )
    return joined


REWRITINGS: dict[str, Callable[[list[str], list[str]], dict[str, str]]] = {
    "permed": _by_form(_permed),
    "litsearch": _litsearch_ids,
    "prefix": _by_prefix,
}
"""Returns ``{id in the run: id in the qrels}`` of the ids that meet, by the name of the rewriting."""


def _same(first: str, second: str, what: str) -> InputError:
    return InputError(
        f"two query ids of the {what} name one query when rewritten (found {first!r} and {second!r})",
        hint="Remove one of the two, or leave the rewriting out",
    )


def suggestion(run_ids: list[str], qrels_ids: list[str]) -> str:
    """Return what would make the ids meet, as a sentence for a message; empty if nothing is known."""
    for name, join in REWRITINGS.items():
        try:
            joined = join(run_ids, qrels_ids)
        except InputError:
            continue
        for ours, theirs in joined.items():
            return (
                f"{ours!r} is {theirs!r} if the ids are rewritten: --query-ids {name} on the command line, "
                f"permed_measures.match_query_ids(run, qrels, {name!r}) in Python"
            )
    return ""


class Renamed(NamedTuple):
    """A run whose query ids were rewritten, and ``{id before: id now}`` of those that meet the qrels."""

    run: RunLike
    renaming: dict[str, str]


def renamed(run: RunLike, qrels: QrelsLike | Judgments, rewriting: str) -> Renamed:
    """Rewrite the query ids of a run; see `match_query_ids`."""
    if rewriting not in REWRITINGS:
        raise InputError(f"a rewriting must be one of {', '.join(REWRITINGS)} (found {rewriting!r})")
    table = run if isinstance(run, Batches) else as_mapping_or_frame(run, "score")
    if isinstance(table, Mapping):
        table = with_text_ids(table, "query ids")
    run_ids = _query_ids(table)
    qrels_ids = Judgments.of(qrels).query_ids
    renaming = REWRITINGS[rewriting](run_ids, qrels_ids)
    if run_ids and qrels_ids and not renaming:
        raise InputError(
            f"no query id of the run meets the qrels when rewritten by {rewriting!r} "
            f"(found {run_ids[0]!r} in the run, {qrels_ids[0]!r} in the qrels)"
        )
    before = {query_id: query_id for query_id in run_ids if query_id not in renaming}
    for ours, theirs in renaming.items():
        if before.setdefault(theirs, ours) != ours:
            raise _same(before[theirs], ours, "run")
    return Renamed(_with_ids(table, renaming), renaming)


def _query_ids(table: Any) -> list[str]:
    if isinstance(table, Mapping):
        return list(table)
    frames = table if isinstance(table, Batches) else [table]
    ids: dict[str, None] = {}
    for frame in frames:
        ids.update(dict.fromkeys(frame["query_id"].unique(maintain_order=True).to_list()))
    return list(ids)


def _with_ids(table: Any, renaming: dict[str, str]) -> Any:
    if isinstance(table, Mapping):
        return {renaming.get(query_id, query_id): documents for query_id, documents in table.items()}
    if isinstance(table, Batches):
        return _RenamedBatches(table, renaming)
    return _with_new_ids(table, renaming)


def _with_new_ids(frame: pl.DataFrame, renaming: dict[str, str]) -> pl.DataFrame:
    import polars as pl

    return frame.with_columns(pl.col("query_id").replace(renaming))


class _RenamedBatches(Batches):
    """Batches with other query ids; what stands twice is told by the ids of the file."""

    def __init__(self, batches: Batches, renaming: dict[str, str]) -> None:
        super().__init__()
        self._batches, self._renaming = batches, renaming
        self._before = {new: old for old, new in renaming.items()}

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield the frames."""
        return (_with_new_ids(frame, self._renaming) for frame in self._batches)

    def duplicate_error(self, query_id: str, doc_id: str) -> InputError:
        """Return the error of the batches."""
        return self._batches.duplicate_error(self._before.get(query_id, query_id), doc_id)


def match_query_ids(run: RunLike, qrels: QrelsLike, rewriting: str) -> Any:
    """Return the run with query ids as the qrels have them.

    Parameters
    ----------
    run : mapping, iterable of namedtuples, or pandas, polars or pyarrow frame
    qrels : any form of qrels
    rewriting : {'permed', 'litsearch', 'prefix'}
        ``permed``: ``topic_001_turn_1`` and ``topic_001_1`` are one query (PerMed's baselines write the
        former, MedCorpus has the latter). ``litsearch``: ``litsearch_000`` is ``1``. ``prefix``: all ids of
        one side have the same prefix more. Which side has which does not matter.

    Returns
    -------
    mapping, polars.DataFrame or Batches
        A run for the functions of this package. Ids that meet no query of the qrels stay as they are.

    Raises
    ------
    InputError
        If no id meets the qrels, or two ids of one side become the same.

    Examples
    --------
    >>> match_query_ids({"topic_001_turn_1": {"a": 1.0}}, {"topic_001_1": {"a": 2}}, "permed")
    {'topic_001_1': {'a': 1.0}}
    """
    return renamed(run, qrels, rewriting).run
