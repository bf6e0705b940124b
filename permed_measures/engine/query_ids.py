"""Rewrite the query ids of a run to match those of the qrels, if the user asks for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from functools import partial
from itertools import takewhile
from pathlib import Path
from shlex import quote

from permed_measures.engine.judgments import Judgments
from permed_measures.engine.tables import NamedDict, Nested, Rows, Table, file_of, stringify_keys
from permed_measures.errors import InputError, short_repr
from permed_measures.frames import pl

_ID_OF_TURN = r"(.+)_turn_([0-9]+)"
_LITSEARCH = r"litsearch_([0-9]{1,18})"


def _permed(query_id: str) -> str:
    """Turn ``topic_001_turn_1`` into ``topic_001_1``."""
    match = re.fullmatch(_ID_OF_TURN, query_id)
    return f"{match[1]}_{match[2]}" if match else query_id


def _litsearch(query_id: str) -> str:
    """Turn ``litsearch_000`` into ``1``: the former counts from 0, the latter from 1."""
    match = re.fullmatch(_LITSEARCH, query_id)
    return str(int(match[1]) + 1) if match else query_id


_Form = Callable[[str], str]

REWRITINGS: dict[str, _Form] = {"permed": _permed, "litsearch": _litsearch}
"""Functions that normalise an id; ids of run and qrels with the same normal form are one query."""


def _normalisers(rewriting: str) -> tuple[_Form, _Form]:
    """Return the functions that normalise ids of the run and of the qrels.

    A substitution changes only the ids of the run.

    Raises
    ------
    InputError
        If `rewriting` is neither a name nor a substitution, or its pattern is not a regular expression.
    """
    is_text = isinstance(rewriting, str)
    if is_text and rewriting in REWRITINGS:
        return REWRITINGS[rewriting], REWRITINGS[rewriting]
    if not is_text or not (parts := re.fullmatch(_SUBSTITUTION, rewriting, re.DOTALL)):
        raise InputError(
            f"a rewriting must be one of {', '.join(REWRITINGS)}, or s/PATTERN/TEXT/ (found {rewriting!r})",
            hint="Such as s/-turn/_/, where the run has topic_1-turn2 and the qrels have topic_1_2",
        )
    _, pattern, text = parts.groups()
    try:
        form = partial(re.compile(pattern).sub, re.sub(r"\\([0-9])", r"\\g<\1>", text))
        form("")
    except (re.error, IndexError) as error:
        problem = f"{rewriting!r} is not a substitution by a regular expression ({error})"
        hint = "Characters other than letters and digits may need a \\ before them"
        raise InputError(problem, hint=hint) from None
    return form, str


_SUBSTITUTION = r"s([/|,:#!])((?:(?!\1).)+)\1((?:(?!\1).)*)\1g?"


class _Rewriting:
    """Rewrite the query ids of a run to those of the qrels; ids that match none do not change.

    Attributes
    ----------
    before : dict of str to str
        The original id of each id of the run, rewritten or not.
    """

    def __init__(self, name: str, qrels_ids: list[str], path: Path | None = None) -> None:
        (self._normalise, normalise_qrels_id), self._name, self._path = _normalisers(name), name, path
        self.before: dict[str, str] = {}
        self._qrels_id_of: dict[str, str] = {}
        for query_id in qrels_ids:
            if (first := self._qrels_id_of.setdefault(normalise_qrels_id(query_id), query_id)) != query_id:
                raise self._collision(first, query_id, "qrels")

    def __call__(self, run_ids: Iterable[str]) -> dict[str, str]:
        """Map these ids to the rewritten ones; raise InputError if two of them become the same."""
        renaming = {
            query_id: self._qrels_id_of.get(self._normalise(query_id), query_id) for query_id in run_ids
        }
        for query_id, new_id in renaming.items():
            if (first := self.before.setdefault(new_id, query_id)) != query_id:
                raise self._collision(first, query_id, "run")
        return renaming

    def check(self) -> None:
        """Raise InputError if no rewritten id matches the qrels, or the run counts litsearch ids from 1."""
        qrels_ids = set(self._qrels_id_of.values())
        if self.before and qrels_ids and qrels_ids.isdisjoint(self.before):
            raise self._error(
                f"no query id of the run matches the qrels when rewritten by {self._name!r} "
                f"(found {short_repr(next(iter(self.before)))} in the run, {short_repr(min(qrels_ids))} "
                f"in the qrels)"
            )
        matches = [re.fullmatch(_LITSEARCH, query_id) for query_id in self.before.values()]
        numbers = [int(match[1]) for match in matches if match]
        beyond = [f"litsearch_{n:03}" for n in numbers if str(n) in qrels_ids and str(n + 1) not in qrels_ids]
        if beyond and 0 not in numbers:
            raise self._error(
                f"litsearch_000 is query 1, and {beyond[0]} would be beyond the last one",
                "If the run counts from 1, give it the ids of the qrels",
            )

    def _collision(self, first: str, second: str, what: str) -> InputError:
        return self._error(
            f"two query ids of the {what} become one query when rewritten "
            f"(found {short_repr(first)} and {short_repr(second)})",
            "Remove one of the two, or leave the rewriting out",
        )

    def _error(self, problem: str, hint: str = "") -> InputError:
        return InputError(problem, where=str(self._path or ""), hint=hint)


def suggestion(run_ids: list[str], qrels_ids: list[str]) -> str:
    """Suggest a rewriting that makes the ids match; empty if none is found."""
    judged = {*qrels_ids}
    for name in [*REWRITINGS, *_substitutions(run_ids, qrels_ids)]:
        try:
            rewriting = _Rewriting(name, qrels_ids)
            renaming = rewriting(run_ids)
            rewriting.check()
        except InputError:
            continue
        if name not in REWRITINGS and not all(new_id in judged for new_id in renaming.values()):
            continue
        for run_id, new_id in renaming.items():
            if run_id != new_id:
                return (
                    f"{short_repr(run_id)} is {short_repr(new_id)} if the ids are rewritten: "
                    f"--query-ids {quote(name)} "
                    f"on the command line, permed_measures.match_query_ids(run, qrels, {name!r}) in Python"
                )
    return ""


_ALIKE = 5
"""Number of similar qrels ids that are compared with the first id of the run."""
_SEARCHED = 1_000
"""Number of qrels ids among which similar ones are searched."""


def _substitutions(run_ids: list[str], qrels_ids: list[str]) -> Iterator[str]:
    """Yield substitutions that turn the first id of the run into one of the qrels, the shortest first.

    They replace the part of the id outside the common prefix and suffix.

    >>> next(_substitutions(["q-07", "q-08"], ["7", "8"]))
    's/^q-0*//'
    >>> next(_substitutions(["a-turn2", "b-turn1"], ["a_2", "b_1"]))
    's/-turn/_/'
    """
    if len(run_ids) < 2:  # a single id is similar to many others
        return
    run_id, substitutions = run_ids[0], []
    for qrels_id in get_close_matches(run_id, qrels_ids[:_SEARCHED], _ALIKE, 0):
        n_before = _len_common_prefix(run_id, qrels_id)
        n_after = _len_common_prefix(run_id[n_before:][::-1], qrels_id[n_before:][::-1])
        old, new = (query_id[n_before : len(query_id) - n_after] for query_id in (run_id, qrels_id))
        pattern = re.sub(r"[^\w\s/|,#-]", r"\\\g<0>", old)
        if not n_before:
            pattern = "^" + re.sub("0+$", "0*", pattern)  # numbers may have leading zeros
        if not n_after:
            pattern += "$"
        bar = next((character for character in "/|,#" if character not in old + new), "")
        if bar and n_before + n_after and pattern and "\\" not in new:
            substitutions.append(f"s{bar}{pattern}{bar}{new}{bar}")
    yield from sorted(dict.fromkeys(substitutions), key=len)


def _len_common_prefix(one: str, other: str) -> int:
    """Count the characters of the common prefix of two strings."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def rewrite_query_ids(run: Nested | Table, qrels: Rows | Judgments, rewriting: str) -> NamedDict | Table:
    """Rewrite the query ids of a run; see `permed_measures.match_query_ids`."""
    rewrite = _Rewriting(rewriting, Judgments.of(qrels).query_ids, file_of(run))
    if isinstance(run, Table):
        return _renamed_table(run, rewrite)
    named = stringify_keys(run, "query ids")
    rows = ((new_id, named[query_id]) for query_id, new_id in rewrite(named).items())
    renamed = NamedDict(rows, file_of(run))
    rewrite.check()
    return renamed


def _renamed_table(run: Table, rewrite: _Rewriting) -> Table:
    """Rewrite the query ids of a table; errors about a document name the id in the file."""

    def parts() -> Iterator[pl.DataFrame]:
        rewrite.before.clear()
        for part in run:
            renaming = rewrite(part["query_id"].unique(maintain_order=True).to_list())
            yield part.with_columns(pl.col("query_id").replace(renaming))
        rewrite.check()

    def twice(query_id: str, doc_id: str) -> InputError:
        return run.twice(rewrite.before.get(query_id, query_id), doc_id)

    return Table(parts, run.column, run.name, twice)
