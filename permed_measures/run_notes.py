"""Runs by name: errors and warnings that name them, and what is to be known beside their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.engine.judgments import Judgments
from permed_measures.engine.kernels.binary import judged
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.errors import InputError, warnings_about
from permed_measures.escaping import join_names, pluralize
from permed_measures.measures.headings import headings_of
from permed_measures.measures.parameters import cutoff_of, values_of
from permed_measures.provenance import OF_QRELS


@contextmanager
def errors_name_run(name: str) -> Iterator[None]:
    """Name the run in errors and warnings about it; the dict that a user gives cannot hold a name."""
    try:
        with warnings_about(name):
            yield
    except InputError as error:
        where = f"run {name!r}" + (f", {error.where}" if error.where else "")
        raise type(error)(error.problem, where=where, hint=error.hint) from error


def check_named(runs: Any) -> None:
    """Raise InputError unless runs are a mapping of name to run."""
    if not isinstance(runs, Mapping) or not all(isinstance(name, str) for name in runs):
        raise InputError(
            f"runs must be a dict {{name: run}} (found {type(runs).__name__} {str(runs)[:80]!r})",
            hint="Give each run a name: {'bm25': 'bm25.trec', ...}",
        )


def check_nonempty(
    judgments: Judgments, measures: Iterable[Measure], purpose: str, runs: Sized = ("at least one",)
) -> None:
    """Raise InputError unless there are queries, measures for a purpose such as ``compare by``, and runs."""
    if not judgments.n_queries:
        raise InputError("the qrels have no query")
    if not [*measures]:
        raise InputError(f"there is no measure to {purpose}", hint="Name one, such as 'nDCG@10'")
    if not len(runs):
        raise InputError("there is no run")


def notes_of(name: str, rankings: JudgedRankings, measures: Iterable[Measure] = ()) -> list[str]:
    """Note how many queries a run retrieves nothing for, how many have no judgments, and where lists end."""
    query_ids, lacking = rankings.judgments.query_ids, np.flatnonzero(rankings.retrieved == 0)
    notes = []
    if len(lacking):
        scores = scored_without_results(measures)
        notes.append(
            f"run {name!r} retrieves nothing for {len(lacking):,} of {pluralize(len(query_ids), 'query')} "
            f"(first: {query_ids[lacking[0]]!r}); {f'it {scores}' if len(lacking) == 1 else _of_many(scores)}"
        )
    if beyond := rankings.n_run_queries - rankings.n_shared:
        notes.append(f"run {name!r} has {pluralize(beyond, 'query')} without judgments (ignored)")
    return [*notes, *_deeper_than_lists(name, rankings, list(measures))]


def _deeper_than_lists(name: str, rankings: JudgedRankings, measures: Sequence[Measure]) -> Iterator[str]:
    """Say that lists were cut above the cutoff of measures."""
    cutoffs = [cutoff_of(each) or 0 for each in measures]
    if found := no_deeper(rankings.retrieved, dict(zip(headings_of(measures), cutoffs, strict=True))):
        yield f"run {name!r}: {found}"


def no_deeper(lengths: NDArray[np.int64], cutoffs: Mapping[str, int]) -> str:
    """Say that lists were cut above a cutoff: half of them or more have the same length; else nothing.

    Examples
    --------
    >>> no_deeper(np.array([100, 100, 7, 0]), {"R@1000": 1000, "P@10": 10})
    'its lists end at rank 100, and R@1000 sees no deeper'
    >>> no_deeper(np.array([100, 99, 7, 0]), {"R@1000": 1000})
    ''
    """
    longest = int(lengths.max(initial=0))
    n_cut = int((lengths == longest).sum())
    deeper = [name for name, cutoff in cutoffs.items() if cutoff > longest]
    if not deeper or longest < _SHORT_LIST or n_cut < (lengths > 0).sum() / 2:
        return ""
    sees = "sees" if len(deeper) == 1 else "see"
    return f"its lists end at rank {longest:,}, and {join_names(deeper)} {sees} no deeper"


_SHORT_LIST = 10
"""Lists that end above this rank are short, and not cut."""


def scored_without_results(measures: Iterable[Measure]) -> str:
    """Say what a query without results does: on most measures it scores 0, but some count the qrels.

    Examples
    --------
    >>> from ir_measures import NumRel, P
    >>> scored_without_results([P @ 1]), scored_without_results([P @ 1, NumRel])
    ('scores 0', 'scores 0, but counts in NumRel')
    """
    measures = list(measures)
    of_qrels = [measure for measure in measures if measure.NAME in OF_QRELS]
    said = ["scores 0"] if not of_qrels or len(of_qrels) < len(measures) else []
    said += [f"counts in {join_names(headings_of(of_qrels))}"] if of_qrels else []
    return ", but ".join(said)


def _of_many(said: str) -> str:
    """Return the same of several queries."""
    return f"they {said.replace('scores', 'score').replace('counts', 'count')}"


def every_label_is_relevant(measures: Iterable[Measure], judgments: Judgments) -> bool:
    """Return whether no label is below what a measure calls relevant: then Judged@k is P@k."""
    levels = [values_of(measure).get("rel") or 1 for measure in measures]
    return bool((judgments.grade >= max(levels)).all())


def judged_within(rankings: JudgedRankings, cutoff: int | None) -> NDArray[np.float64]:
    """Return Judged@k of each query; NaN where nothing is retrieved, of which there is nothing to judge."""
    return np.where(rankings.retrieved > 0, judged(replace(rankings), cutoff=cutoff), np.nan)


def mean_judged(shares: NDArray[np.float64]) -> float | None:
    """Return the mean of `judged_within` over the queries with an answer; None without any."""
    answered = shares[~np.isnan(shares)]
    return float(answered.mean()) if len(answered) else None


# --- what values do not tell ------------------------------------------------------------------------

_MAX_NAMED_QUERIES = 10
_HARDLY_ANY = 0.02
"""The share of judged documents below which ids may not be those of the qrels.

Of the public LitSearch runs, whose queries have one to two judged documents, the weakest retrieves one judged
document in six; a run whose query ids are off by one, one in 200.
"""

_ENOUGH_DOCS = 10
"""Documents from which on it is hardly by chance that none is judged."""


def run_notes(name: str, rankings: JudgedRankings) -> list[str]:
    """Return what should stand beside the values of a run: facts with their numbers, in sentences.

    Parameters
    ----------
    name : str
    rankings : JudgedRankings
        Of the run, all ranks.

    Returns
    -------
    list of str
        Where all scores of each judged query are equal; where hardly any document is judged.

    Examples
    --------
    >>> from permed_measures.engine.judgments import Judgments
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    >>> print(*run_notes("mine", JudgedRankings.of(Judgments.of(qrels), run)), sep="; ")
    run 'mine': all scores of each judged query are equal, so that documents are ranked by id, descending
    """
    said = [*_equal_scores(rankings), *_few_judged(rankings)]
    return [f"run {name!r}: {each}" for each in said]


def _equal_scores(rankings: JudgedRankings) -> Iterator[str]:
    if not rankings.scores_differ and (rankings.retrieved > 1).any():
        yield "all scores of each judged query are equal, so that documents are ranked by id, descending"


def _few_judged(rankings: JudgedRankings) -> Iterator[str]:
    """Say how few documents are judged; of queries for which something is retrieved."""
    n_first = int(np.minimum(rankings.retrieved, _MAX_NAMED_QUERIES).sum())
    n_judged = int((rankings.retrieved[rankings.judgments.query] > 0).sum())
    first, found = len(rankings.within(_MAX_NAMED_QUERIES).row), len(rankings.row)
    if n_first >= _ENOUGH_DOCS and first < _HARDLY_ANY * n_first and found < _HARDLY_ANY * n_judged:
        partly = n_judged < len(rankings.judgments.query)
        which = " of the queries with results" if partly else ""
        yield (
            f"of {pluralize(n_first, 'document')} within the first {_MAX_NAMED_QUERIES}, "
            f"{_are(first)} judged, and of "
            f"{pluralize(n_judged, 'judged document')}{which}, {_are(found)} retrieved; compare the "
            f"ids of run "
            "and qrels"
        )


def _are(n: int) -> str:
    return f"{n:,} {'is' if n == 1 else 'are'}"
