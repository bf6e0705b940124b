"""Query ids that are written in different ways: they are rewritten only if the user asks for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING

from permed_measures.engine.forms import as_mapping_or_batches, with_string_ids
from permed_measures.engine.inputs import Batches, Nested, QrelsLike, RunLike
from permed_measures.engine.judgments import Judgments
from permed_measures.errors import InputError, shown

if TYPE_CHECKING:
    import polars as pl

_TURN = r"(.+)_turn_([0-9]+)"
_LITSEARCH = r"litsearch_([0-9]{1,18})"


def _permed(query_id: str) -> str:
    """Return ``topic_001_1`` for ``topic_001_turn_1``."""
    match = re.fullmatch(_TURN, query_id)
    return f"{match[1]}_{match[2]}" if match else query_id


def _litsearch(query_id: str) -> str:
    """Return ``1`` for ``litsearch_000``: these count from 0."""
    match = re.fullmatch(_LITSEARCH, query_id)
    return str(int(match[1]) + 1) if match else query_id


_Join = Callable[[list[str], list[str]], dict[str, str]]


def _by_form(form: Callable[[str], str]) -> _Join:
    """Join the ids of run and qrels that have the same form."""

    def join(run_ids: list[str], qrels_ids: list[str]) -> dict[str, str]:
        known: dict[str, str] = {}
        for query_id in qrels_ids:
            if known.setdefault(form(query_id), query_id) != query_id:
                raise _same(known[form(query_id)], query_id, "qrels")
        return {query_id: known[form(query_id)] for query_id in run_ids if form(query_id) in known}

    return join


def _litsearch_ids(run_ids: list[str], qrels_ids: list[str]) -> dict[str, str]:
    """Join ids that count from 0 with those that count from 1; refuse what counts from 1 on both sides."""
    joined = _by_form(_litsearch)(run_ids, qrels_ids)
    numbers = [int(match[1]) for query_id in run_ids if (match := re.fullmatch(_LITSEARCH, query_id))]
    known = set(qrels_ids)
    beyond = [f"litsearch_{n:03}" for n in numbers if str(n + 1) not in known and str(n) in known]
    if beyond and 0 not in numbers:
        raise InputError(
            f"litsearch_000 is query 1, and {beyond[0]} would be beyond the last one",
            hint="If the run counts from 1, give it the ids of the qrels",
        )
    return joined


REWRITINGS: dict[str, _Join] = {
    "permed": _by_form(_permed),
    "litsearch": _litsearch_ids,
}
"""Each returns ``{id in the run: id in the qrels}`` for the ids that both have once rewritten."""


def _same(first: str, second: str, what: str) -> InputError:
    return InputError(
        f"two query ids of the {what} name one query when rewritten "
        f"(found {shown(first)} and {shown(second)})",
        hint="Remove one of the two, or leave the rewriting out",
    )


def suggestion(run_ids: list[str], qrels_ids: list[str]) -> str:
    """Return a hint for a message: the rewriting by which the ids would meet; empty without one."""
    for name, join in REWRITINGS.items():
        try:
            joined = join(run_ids, qrels_ids)
        except InputError:
            continue
        if len({joined.get(each, each) for each in run_ids}) < len(run_ids):
            continue  # two would become one
        for ours, theirs in joined.items():
            return (
                f"{shown(ours)} is {shown(theirs)} if the ids are rewritten: --query-ids {name} "
                f"on the command line, permed_measures.match_query_ids(run, qrels, {name!r}) in Python"
            )
    return ""


def renamed(run: RunLike, qrels: QrelsLike | Judgments, rewriting: str) -> Nested | Batches:
    """Rewrite the query ids of a run; see `permed_measures.match_query_ids`."""
    if rewriting not in REWRITINGS:
        raise InputError(f"a rewriting must be one of {', '.join(REWRITINGS)} (found {shown(rewriting)})")
    table, qrels_ids = as_mapping_or_batches(run, "score"), Judgments.of(qrels).query_ids
    if isinstance(table, Mapping):
        table = with_string_ids(table, "query ids")
        renaming = _renaming(list(table), qrels_ids, rewriting)
        return {renaming.get(each, each): docs for each, docs in table.items()}
    run_ids = dict.fromkeys(chain.from_iterable(map(_query_ids, table)))
    renaming = _renaming(list(run_ids), qrels_ids, rewriting)
    return _RenamedBatches(table, renaming)


def _renaming(run_ids: list[str], qrels_ids: list[str], rewriting: str) -> dict[str, str]:
    """Return what the ids of a run are rewritten to; refuse two that become one, and what meets nothing."""
    renaming = REWRITINGS[rewriting](run_ids, qrels_ids)
    before: dict[str, str] = {}
    for query_id in run_ids:
        now = renaming.get(query_id, query_id)
        if before.setdefault(now, query_id) != query_id:
            raise _same(before[now], query_id, "run")
    if run_ids and qrels_ids and not renaming:
        raise InputError(
            f"no query id of the run meets the qrels when rewritten by {rewriting!r} "
            f"(found {shown(run_ids[0])} in the run, {shown(qrels_ids[0])} in the qrels)"
        )
    return renaming


class _RenamedBatches(Batches):
    """Batches with other query ids; an error about a duplicate names the id of the file."""

    def __init__(self, batches: Batches, renaming: dict[str, str]) -> None:
        super().__init__(path=batches.path)
        self._batches, self._renaming = batches, renaming

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield the frames."""
        import polars as pl

        for frame in self._batches:
            yield frame.with_columns(pl.col("query_id").replace(self._renaming))

    def duplicate_error(self, query_id: str, doc_id: str) -> InputError:
        """Return the error of the batches."""
        before = {now: each for each, now in self._renaming.items()}
        return self._batches.duplicate_error(before.get(query_id, query_id), doc_id)


def _query_ids(frame: pl.DataFrame) -> list[str]:
    return frame["query_id"].unique(maintain_order=True).to_list()
