"""Query ids that are written in different ways: they are rewritten only if the user asks for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from functools import partial
from itertools import takewhile
from pathlib import Path
from shlex import quote

from permed_measures.engine.judgments import Judgments
from permed_measures.engine.tables import NamedDict, Nested, Rows, Table, file_of, with_string_ids
from permed_measures.errors import InputError, short_repr
from permed_measures.frames import pl

_ID_OF_TURN = r"(.+)_turn_([0-9]+)"
_LITSEARCH = r"litsearch_([0-9]{1,18})"


def _permed(query_id: str) -> str:
    """Return ``topic_001_1`` for ``topic_001_turn_1``."""
    match = re.fullmatch(_ID_OF_TURN, query_id)
    return f"{match[1]}_{match[2]}" if match else query_id


def _litsearch(query_id: str) -> str:
    """Return ``1`` for ``litsearch_000``: these count from 0."""
    match = re.fullmatch(_LITSEARCH, query_id)
    return str(int(match[1]) + 1) if match else query_id


_Form = Callable[[str], str]

REWRITINGS: dict[str, _Form] = {"permed": _permed, "litsearch": _litsearch}
"""Each returns the one form of an id; ids of run and qrels with the same form are one query."""


def _forms(rewriting: str) -> tuple[_Form, _Form]:
    """Return what is made of the ids of the run, and of those of the qrels: a substitution changes the run's.

    Raises
    ------
    InputError
        For what is neither a name nor a substitution, and for a pattern that is no regular expression.
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
        problem = f"{rewriting!r} is no substitution by a regular expression ({error})"
        raise InputError(problem, hint="What is no letter or digit may need a \\ before it") from None
    return form, str


_SUBSTITUTION = r"s([/|,:#!])((?:(?!\1).)+)\1((?:(?!\1).)*)\1g?"


class _Rewriting:
    """From the query ids of a run to those of the qrels; ids that meet none stay.

    Attributes
    ----------
    before : dict of str to str
        What the ids were that have been rewritten, and those that stayed.
    """

    def __init__(self, name: str, qrels_ids: list[str], path: Path | None = None) -> None:
        (self._form, of_qrels), self._name, self._path = _forms(name), name, path
        self.before: dict[str, str] = {}
        self._known: dict[str, str] = {}
        for query_id in qrels_ids:
            if (first := self._known.setdefault(of_qrels(query_id), query_id)) != query_id:
                raise self._same(first, query_id, "qrels")

    def __call__(self, run_ids: Iterable[str]) -> dict[str, str]:
        """Return what these ids become; two of a run cannot become one."""
        renaming = {query_id: self._known.get(self._form(query_id), query_id) for query_id in run_ids}
        for query_id, now in renaming.items():
            if (first := self.before.setdefault(now, query_id)) != query_id:
                raise self._same(first, query_id, "run")
        return renaming

    def check(self) -> None:
        """Refuse a run, once all of its ids were rewritten, that meets nothing or counts from 1."""
        known = set(self._known.values())
        if self.before and known and known.isdisjoint(self.before):
            raise self._error(
                f"no query id of the run meets the qrels when rewritten by {self._name!r} "
                f"(found {short_repr(next(iter(self.before)))} in the run, {short_repr(min(known))} "
                f"in the qrels)"
            )
        matches = [re.fullmatch(_LITSEARCH, query_id) for query_id in self.before.values()]
        numbers = [int(match[1]) for match in matches if match]
        beyond = [f"litsearch_{n:03}" for n in numbers if str(n) in known and str(n + 1) not in known]
        if beyond and 0 not in numbers:
            raise self._error(
                f"litsearch_000 is query 1, and {beyond[0]} would be beyond the last one",
                "If the run counts from 1, give it the ids of the qrels",
            )

    def _same(self, first: str, second: str, what: str) -> InputError:
        return self._error(
            f"two query ids of the {what} name one query when rewritten "
            f"(found {short_repr(first)} and {short_repr(second)})",
            "Remove one of the two, or leave the rewriting out",
        )

    def _error(self, problem: str, hint: str = "") -> InputError:
        return InputError(problem, where=str(self._path or ""), hint=hint)


def suggestion(run_ids: list[str], qrels_ids: list[str]) -> str:
    """Return a hint for a message: the rewriting by which the ids would meet; empty without one."""
    known = {*qrels_ids}
    for name in [*REWRITINGS, *_substitutions(run_ids, qrels_ids)]:
        try:
            rewriting = _Rewriting(name, qrels_ids)
            renaming = rewriting(run_ids)
            rewriting.check()
        except InputError:
            continue
        if name not in REWRITINGS and not all(theirs in known for theirs in renaming.values()):
            continue
        for ours, theirs in renaming.items():
            if ours != theirs:
                return (
                    f"{short_repr(ours)} is {short_repr(theirs)} if the ids are rewritten: "
                    f"--query-ids {quote(name)} "
                    f"on the command line, permed_measures.match_query_ids(run, qrels, {name!r}) in Python"
                )
    return ""


_ALIKE = 5
"""To how many ids of the qrels the first of the run is held."""
_SEARCHED = 1_000
"""Among how many."""


def _substitutions(run_ids: list[str], qrels_ids: list[str]) -> Iterator[str]:
    """Yield substitutions that make the first id of the run one of the qrels, the shortest first.

    They replace what stands before, between or behind what both ids have.

    >>> next(_substitutions(["q-07", "q-08"], ["7", "8"]))
    's/^q-0*//'
    >>> next(_substitutions(["a-turn2", "b-turn1"], ["a_2", "b_1"]))
    's/-turn/_/'
    """
    if len(run_ids) < 2:  # one id is like many others
        return
    ours, found = run_ids[0], []
    for theirs in get_close_matches(ours, qrels_ids[:_SEARCHED], _ALIKE, 0):
        n_before = _n_same(ours, theirs)
        n_after = _n_same(ours[n_before:][::-1], theirs[n_before:][::-1])
        old, new = (each[n_before : len(each) - n_after] for each in (ours, theirs))
        pattern = re.sub(r"[^\w\s/|,#-]", r"\\\g<0>", old)
        if not n_before:
            pattern = "^" + re.sub("0+$", "0*", pattern)  # of numbers with leading zeros
        if not n_after:
            pattern += "$"
        bar = next((each for each in "/|,#" if each not in old + new), "")
        if bar and n_before + n_after and pattern and "\\" not in new:
            found.append(f"s{bar}{pattern}{bar}{new}{bar}")
    yield from sorted(dict.fromkeys(found), key=len)


def _n_same(one: str, other: str) -> int:
    """Return how many characters are the same at the beginning of two texts."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def rewrite_query_ids(run: Nested | Table, qrels: Rows | Judgments, rewriting: str) -> NamedDict | Table:
    """Rewrite the query ids of a run; see `permed_measures.match_query_ids`."""
    rewrite = _Rewriting(rewriting, Judgments.of(qrels).query_ids, file_of(run))
    if isinstance(run, Table):
        return _renamed_table(run, rewrite)
    named = with_string_ids(run, "query ids")
    found = NamedDict(((now, named[query_id]) for query_id, now in rewrite(named).items()), file_of(run))
    rewrite.check()
    return found


def _renamed_table(run: Table, rewrite: _Rewriting) -> Table:
    """Return a table with other query ids; an error about a document names the id that the file has."""

    def parts() -> Iterator[pl.DataFrame]:
        rewrite.before.clear()
        for part in run:
            renaming = rewrite(part["query_id"].unique(maintain_order=True).to_list())
            yield part.with_columns(pl.col("query_id").replace(renaming))
        rewrite.check()

    def twice(query_id: str, doc_id: str) -> InputError:
        return run.twice(rewrite.before.get(query_id, query_id), doc_id)

    return Table(parts, run.column, run.name, twice)
