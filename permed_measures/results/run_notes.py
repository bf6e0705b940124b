"""What the values of a run do not tell: equal scores, ids that hardly meet."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from permed_measures.engine.rankings import JudgedRankings

_FIRST = 10
_FEW = 0.02
"""The share of judged documents below which ids may not be those of the qrels.

Of the public LitSearch runs, whose queries have one to two judged documents, the weakest retrieves one judged
document in six; a run whose query ids are off by one, one in 200.
"""

_ENOUGH = 10
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
    n_first = int(np.minimum(rankings.retrieved, _FIRST).sum())
    n_judged = int((rankings.retrieved[rankings.judgments.query] > 0).sum())
    first, found = len(rankings.within(_FIRST).row), len(rankings.row)
    if n_first >= _ENOUGH and first < _FEW * n_first and found < _FEW * n_judged:
        yield (
            f"of {n_first:,} documents within the first {_FIRST}, {_are(first)} judged, and of {n_judged:,} "
            f"judged documents, {_are(found)} retrieved; compare the ids of run and qrels"
        )


def _are(n: int) -> str:
    return f"{n:,} {'is' if n == 1 else 'are'}"
