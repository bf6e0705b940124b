"""Notes on what the values of a run do not show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.engine.judgments import Judgments
from permed_measures.engine.kernels.binary import judged
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.measures.headings import headings_of
from permed_measures.measures.parameters import cutoff_of, values_of
from permed_measures.measures.specs import spec_of
from permed_measures.wording import join_names, pluralize


def notes_of(name: str, rankings: JudgedRankings, measures: Iterable[Measure] = ()) -> list[str]:
    """Note the queries without results, the queries without judgments, and lists that end above a cutoff."""
    query_ids, lacking = rankings.judgments.query_ids, np.flatnonzero(rankings.retrieved == 0)
    notes = []
    if len(lacking):
        scores = scored_without_results(measures)
        notes.append(
            f"run {name!r} retrieves nothing for {len(lacking):,} of {pluralize(len(query_ids), 'query')} "
            f"(first: {query_ids[lacking[0]]!r}); "
            f"{f'it {scores}' if len(lacking) == 1 else _in_plural(scores)}"
        )
    if beyond := rankings.n_run_queries - rankings.n_shared:
        notes.append(f"run {name!r} has {pluralize(beyond, 'query')} without judgments (ignored)")
    return [*notes, *_deeper_than_lists(name, rankings, list(measures))]


def _deeper_than_lists(name: str, rankings: JudgedRankings, measures: Sequence[Measure]) -> Iterator[str]:
    """Note that the lists of a run were cut above the cutoff of measures."""
    cutoffs = [cutoff_of(measure) or 0 for measure in measures]
    if note := no_deeper(rankings.retrieved, dict(zip(headings_of(measures), cutoffs, strict=True))):
        yield f"run {name!r}: {note}"


def no_deeper(lengths: NDArray[np.int64], cutoffs: Mapping[str, int]) -> str:
    """Note that lists were cut above a cutoff: at least half of them have the same length; else empty.

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
"""Lists that end above this rank count as short, not as cut."""


def scored_without_results(measures: Iterable[Measure]) -> str:
    """Describe a query without results: it scores 0 on most measures, but some measures count the qrels.

    Examples
    --------
    >>> from ir_measures import NumRel, P
    >>> scored_without_results([P @ 1]), scored_without_results([P @ 1, NumRel])
    ('scores 0', 'scores 0, but counts in NumRel')
    """
    measures = list(measures)
    of_qrels = [measure for measure in measures if spec_of(measure).of_qrels]
    parts = ["scores 0"] if not of_qrels or len(of_qrels) < len(measures) else []
    parts += [f"counts in {join_names(headings_of(of_qrels))}"] if of_qrels else []
    return ", but ".join(parts)


def _in_plural(text: str) -> str:
    """Change the verbs of `scored_without_results` to the plural."""
    return f"they {text.replace('scores', 'score').replace('counts', 'count')}"


def every_label_is_relevant(measures: Iterable[Measure], judgments: Judgments) -> bool:
    """Check whether all labels are relevant to each measure: then Judged@k equals P@k."""
    levels = [values_of(measure).get("rel") or 1 for measure in measures]
    return bool((judgments.grade >= max(levels)).all())


def judged_within(rankings: JudgedRankings, cutoff: int | None) -> NDArray[np.float64]:
    """Compute Judged@k of each query; NaN for a query without results."""
    return np.where(rankings.retrieved > 0, judged(replace(rankings), cutoff=cutoff), np.nan)


def mean_judged(shares: NDArray[np.float64]) -> float | None:
    """Average `judged_within` over the queries with results; None without any."""
    answered = shares[~np.isnan(shares)]
    return float(answered.mean()) if len(answered) else None


# --- what the values of a run do not show -----------------------------------------------------------

_FIRST_RANKS = 10
"""The ranks whose documents are counted as judged or not."""
_HARDLY_ANY = 0.02
"""The share of judged documents below which a note asks to compare the ids of run and qrels.

In LitSearch a query has one or two judged documents. The weakest of its public runs retrieves one in six of
all judged documents; a run whose query ids are off by one retrieves one in 200.
"""

_ENOUGH_DOCS = 10
"""The number of documents from which a share near 0 is hardly chance."""


def run_notes(name: str, rankings: JudgedRankings) -> list[str]:
    """Note facts that belong beside the values of a run: equal scores, and few judged documents.

    Parameters
    ----------
    name : str
    rankings : JudgedRankings
        The rankings of the run, to all ranks.

    Returns
    -------
    list of str
        A note if all scores of each judged query are equal, and a note if hardly any document is judged.

    Examples
    --------
    >>> from permed_measures.engine.judgments import Judgments
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    >>> print(*run_notes("mine", JudgedRankings.of(Judgments.of(qrels), run)), sep="; ")
    run 'mine': all scores of each judged query are equal, so that documents are ranked by id, descending
    """
    return [f"run {name!r}: {note}" for note in [*_equal_scores(rankings), *_few_judged(rankings)]]


def _equal_scores(rankings: JudgedRankings) -> Iterator[str]:
    if not rankings.scores_differ and (rankings.retrieved > 1).any():
        yield "all scores of each judged query are equal, so that documents are ranked by id, descending"


def _few_judged(rankings: JudgedRankings) -> Iterator[str]:
    """Note that hardly any document is judged, over the queries with results."""
    n_first = int(np.minimum(rankings.retrieved, _FIRST_RANKS).sum())
    n_judged = int((rankings.retrieved[rankings.judgments.query] > 0).sum())
    first, matched = len(rankings.within(_FIRST_RANKS).row), len(rankings.row)
    if n_first >= _ENOUGH_DOCS and first < _HARDLY_ANY * n_first and matched < _HARDLY_ANY * n_judged:
        partly = n_judged < len(rankings.judgments.query)
        which = " of the queries with results" if partly else ""
        yield (
            f"of {pluralize(n_first, 'document')} within the first {_FIRST_RANKS}, {_are(first)} judged, and "
            f"of {pluralize(n_judged, 'judged document')}{which}, {_are(matched)} retrieved; compare the ids "
            "of run and qrels"
        )


def _are(n: int) -> str:
    return f"{n:,} {'is' if n == 1 else 'are'}"
